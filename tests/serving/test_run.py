"""Where the server may listen."""

from __future__ import annotations

import pytest

from fugu_lite.errors import SpecError
from fugu_lite.serving import check_bind, keys_from_environment

STRONG = frozenset({"0123456789abcdef"})


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "::1", "[::1]"])
def test_this_machine_needs_no_key(host: str) -> None:
    check_bind(host, frozenset())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.7", "box.example", "::ffff:8.8.8.8"])
def test_another_address_needs_a_key_or_the_word(host: str) -> None:
    with pytest.raises(SpecError, match=r"FUGU_LITE_API_KEYS .*--api-key-env.* --insecure"):
        check_bind(host, frozenset())
    check_bind(host, STRONG)
    check_bind(host, frozenset(), insecure=True)


def test_a_weak_key_is_no_key() -> None:
    with pytest.raises(SpecError, match="fewer than 16 characters") as caught:
        check_bind("0.0.0.0", STRONG | {"hunter2"})
    assert "hunter2" not in str(caught.value)
    check_bind("127.0.0.1", frozenset({"hunter2"}))


@pytest.mark.parametrize(
    ("value", "keys"), [(None, set()), ("", set()), (" , ", set()), ("a", {"a"}), (" a, b ,,a", {"a", "b"})]
)
def test_keys_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, value: str | None, keys: set[str]) -> None:
    monkeypatch.delenv("FUGU_LITE_API_KEYS", raising=False)
    if value is not None:
        monkeypatch.setenv("FUGU_LITE_API_KEYS", value)
    assert keys_from_environment() == keys
    monkeypatch.setenv("OTHER", "x")
    assert keys_from_environment("OTHER") == {"x"}
