import pytest
from hypothesis import given
from hypothesis import strategies as st

from fugu_lite.workers._sse import Event, Parser

texts = st.text(st.characters(blacklist_characters="\r\n\0", blacklist_categories=["Cs"]), max_size=12)
events = st.lists(st.lists(texts, min_size=1, max_size=3), max_size=5)


def read(parts: list[bytes]) -> list[Event]:
    parser = Parser()
    return [event for part in parts for event in parser.feed(part)] + parser.close()


@given(events, st.sampled_from(["\n", "\r", "\r\n"]), st.data())
def test_the_split_never_matters(lines: list[list[str]], end: str, data: st.DataObject) -> None:
    blocks = ("".join(f"data: {line}{end}" for line in block) + end for block in lines)
    raw = f": comment{end}{''.join(blocks)}".encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=20)))
    parts = [raw[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    expected = [Event("message", "\n".join(block)) for block in lines]
    assert read([raw]) == read(parts) == read([bytes([byte]) for byte in raw]) == expected


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"data: a\n\n", ["a"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data\n\n", [""]),
        (b": ping\n\ndata: a\n\n", ["a"]),
        (b"id: 7\nretry: 10\ndata: a\n\n", ["a"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"data: a", ["a"]),
        (b"data: a\n", ["a"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\x0cb\xe2\x80\xa8c\n\n", ["a\x0cb\u2028c"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b"", []),
        (b"\n\n\n", []),
        (b"event: x\n\n", []),
    ],
)
def test_lines(raw: bytes, found: list[str]) -> None:
    assert [event.data for event in read([raw])] == found


def test_names_belong_to_one_event() -> None:
    assert read([b"event: error\ndata: a\n\ndata: b\n\n"]) == [Event("error", "a"), Event("message", "b")]


def test_a_long_line_in_single_bytes_takes_linear_time() -> None:
    line = b"data: " + b"x" * 300_000 + b"\n\n"
    assert len(read([line[i : i + 1] for i in range(len(line))])[0].data) == 300_000
