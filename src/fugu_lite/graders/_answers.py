"""Finding the answer in a response, in one published order.

1. a tagged answer, `<answer>42</answer>`; 2. boxed LaTeX, `\\boxed{42}`; 3. a labelled answer, `Answer: 42`;
4. the last number after stripping markup. In every step the last one in the text wins.

Source: the Fugu lesson (extraction order).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from fugu_lite.graders._numbers import Number, numbers_in, strip_markup

_THINK = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)answer\s*>", re.IGNORECASE)
_BRACE = re.compile(r"\\(?:boxed|fbox)\s*(\{)|\\[{}]|[{}]")

_BOLD = r"[*_`]{0,3}"
_LABEL = re.compile(
    rf"""(?<!\w){_BOLD}
    (?: (?:final[ ]|correct[ ])?answer(?:[ ]to[ ][^\n.:=]{{1,60}}?)?
      | (?:nihai[ ]|doğru[ ])?(?:cevap|cevabı|yanıt|yanıtı|sonuç) )
    {_BOLD}[ \t]*
    (?: [:=]{_BOLD} | (?:is|would[ ]be|should[ ]be|must[ ]be)(?!\w){_BOLD}[ \t]*:?{_BOLD} )
    [ \t]*(?P<value>[^\n]*)""",
    re.VERBOSE | re.IGNORECASE,
)
_SUFFIXED = re.compile(
    r"(?<!\w)(?:cevap|yanıt|sonuç)[ \t]+(?P<value>[^\s'’]{1,40})['’](?:[dt][ıiuü]r)(?!\w)", re.IGNORECASE
)
_CLAUSE = re.compile(r"[.!?;](?=\s|$)|(?<!\w)(?:because|since|çünkü)(?!\w)", re.IGNORECASE)
_HEDGES = {"or", "and", "veya", "ve", "ya da", "/", "|", "&", "to", "-", "–"}


@dataclass(frozen=True, slots=True)
class Extracted:
    """An answer and the step that found it: `tagged`, `boxed`, `labelled` or `number`."""

    text: str
    how: str


def visible(text: str) -> str:
    """Return what follows the model's `<think>` block; a block that never ends leaves only what stood before it."""
    marks = list(_THINK.finditer(text))
    if not marks:
        return text
    last = marks[-1]
    return text[last.end() :] if last.group().startswith("</") else text[: last.start()]


def tagged(text: str) -> str | None:
    """Return the last non-empty `<answer>` content; an unclosed tag (a stop sequence) counts when none is closed."""
    start, found = None, None
    for tag in _TAG.finditer(text):
        if not tag.group(1):
            start = tag.end()
        elif start is not None:
            found, start = text[start : tag.start()].strip() or found, None
    if found is None and start is not None:
        return text[start:].strip() or None
    return found


def boxed(text: str) -> str | None:
    """Return the content of the last `\\boxed{}` or `\\fbox{}` whose braces balance."""
    open_at: list[tuple[int, bool]] = []
    best: tuple[int, str] = (-1, "")
    for token in _BRACE.finditer(text):
        if token.group(1) or token.group() == "{":
            open_at.append((token.end(), token.group(1) is not None))
        elif token.group() == "}" and open_at:
            start, is_box = open_at.pop()
            content = text[start : token.start()].strip() if is_box else ""
            if content and start > best[0]:
                best = (start, content)
    return best[1] or None


def labelled(text: str) -> str | None:
    """Return what follows the last `Answer:`, `The answer is`, `Cevap:` on its line.

    A label at the end of its line takes the next line only if that line is the last one; a bare label is no answer.
    """
    found = [*_LABEL.finditer(text), *_SUFFIXED.finditer(text)]
    for match in sorted(found, key=lambda m: m.start(), reverse=True):
        value = _plain(match["value"]) or _only_line(text[match.end() :])
        if value and not re.match(r"(?:not|değil)(?!\w)", value, re.IGNORECASE):
            return value
    return None


def last_number(text: str) -> Number | None:
    """Return the last number of a text after stripping its markup."""
    found = numbers_in(strip_markup(text))
    return found[-1] if found else None


def explicit(text: str) -> Extracted | None:
    """Return the answer that the response itself marks as one: tagged, boxed or labelled."""
    for how, step in (("tagged", tagged), ("boxed", boxed), ("labelled", labelled)):
        answer = step(text)
        if answer:
            return Extracted(answer, how)
    return None


def extract(text: str) -> Extracted | None:
    """Return the answer by the published order; None when there is nothing to take."""
    shown = visible(text)
    marked = explicit(shown)
    if marked is not None:
        return marked
    number = last_number(shown)
    return Extracted(number.text, "number") if number else None


def stated_number(text: str) -> Number | None:
    """Return the one number that a short explicit answer states; None when it states none or hedges between two.

    Of `3 + 4 = 7 apples` it is what follows the last `=`; otherwise the first number of the first clause.
    """
    cleaned = strip_markup(text)
    clause = _CLAUSE.split(cleaned, maxsplit=1)[0]
    tail = clause.rsplit("=", 1)[-1]
    for part in (tail, clause, cleaned):
        found = numbers_in(part)
        if found:
            return None if len(found) > 1 and _hedged(part, found) else found[0]
    return None


def _hedged(text: str, found: list[Number]) -> bool:
    between = text[found[0].end : found[1].start].strip().casefold()
    return between in _HEDGES and found[0].value != found[1].value


def fold(text: str) -> str:
    """Return `text` for comparison: NFKC, caseless, white space collapsed.

    The four Turkish letters I, İ, ı, i count as one, because responses write İstanbul, Istanbul and istanbul alike.
    """
    text = unicodedata.normalize("NFKC", text).replace("İ", "i").replace("ı", "i").casefold()
    return " ".join(text.split())


def trim(text: str) -> str:
    """Drop outer white space, quotes, emphasis and final punctuation, unless nothing would be left."""
    inner = text.strip().strip("\"'“”‘’«»`*_ \t\n").rstrip(".!?,;:… ").strip("\"'“”‘’«»`*_ \t\n")
    return inner or text.strip()


def _plain(value: str) -> str:
    """Drop emphasis around a labelled value; a value without any letter or digit is none."""
    value = value.strip().strip("*_` \t")
    return value if re.search(r"\w", value) else ""


def _only_line(rest: str) -> str:
    lines = [line.strip() for line in rest.splitlines() if line.strip()]
    return _plain(lines[0]) if len(lines) == 1 else ""
