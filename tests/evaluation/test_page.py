from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from fugu_lite.evaluation import baselines, evaluate, page
from fugu_lite.evaluation.results import Evaluation
from fugu_lite.rewards.matrix import RewardMatrix

FACTS = {"guard": "full", "domain_given": False, "guarded_share": 0.25, "reasons": {"head": 3, "novel": 1}}


class Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(html: str) -> Balance:
    found = Balance()
    found.feed(html)
    found.close()
    assert not found.open
    return found


@pytest.fixture
def judged(worked: RewardMatrix) -> Evaluation:
    policy, others = baselines.fixed(worked, "c", "my router"), baselines.standard(worked, None, "a")
    return evaluate(policy, worked, "a", np.random.default_rng(0), fit=worked, others=others, looks=3)


def test_the_page_is_balanced_and_has_every_section(judged: Evaluation) -> None:
    html = page.to_html(judged, {**FACTS, "condition_mismatches": ["max_tokens differs"]})
    assert parsed(html).ids == ["verdict", "remarks", "baselines", "shares", "slices", "metrics"]
    assert "Guard full: 25.0%" in html
    assert "max_tokens differs" in html
    assert "looked at 3 times" in html
    assert html.index("my router", html.index('id="baselines"')) < html.index("(n = 4)")


def test_it_asks_the_network_for_nothing(judged: Evaluation) -> None:
    html = page.to_html(judged, FACTS)
    assert not {"script", "link", "img", "iframe"} & set(parsed(html).seen)
    assert all(part not in html for part in ("http:", "https:", "url(", "@import", "src="))


def test_names_are_escaped(judged: Evaluation) -> None:
    bad = "<script>alert(1)</script>"
    workers = (replace(judged.workers[0], worker=bad), *judged.workers[1:])
    html = page.to_html(replace(judged, policy=bad, workers=workers), {})
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    parsed(html)


def test_missing_intervals_are_unknown(judged: Evaluation) -> None:
    found = replace(judged.comparison, gain_low=None, gain_high=None)
    html = page.to_html(replace(judged, comparison=found), {})
    assert "+0.1250 (interval unknown)" in html
    lost = replace(judged.baselines[0], gain=None, gain_low=None, gain_high=None)
    assert ">unknown</text>" in page.to_html(replace(judged, baselines=(lost,)), {})
