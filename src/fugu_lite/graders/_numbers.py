"""Numbers in free text, read exactly (as fractions), with the conventions written down here.

* A comma followed by exactly three digits groups thousands (`1,234` is 1234); any other single comma is a decimal
  comma (`3,5` is 3.5, `0,125` is 0.125). A point is decimal unless points and comma together, or several points,
  show grouping (`1.234,5` and `1.234.567`); a lone `1.234` stays 1.234.
* Currency signs, percent signs and units are dropped: `$18.90`, `18 %` and `5km` are 18.9, 18 and 5.
* `1/2`, `2 1/2`, `1e3`, `3 x 10^4` and small powers are one number. `3rd` counts only where no other number stands.
* Not numbers: parts of names (`gpt-4-731b`, `Q3`, `x_1`), dates, clock times, version numbers, list and step numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

MAX_DIGITS = 60
MAX_EXPONENT = 300

_THIN = "\u00a0\u2007\u2009\u202f"
_SIGNS = str.maketrans(
    {"\u2212": "-", "\ufe63": "-", "\uff0d": "-", "\u2044": "/", "\u00d7": "*", "\u22c5": "*", "\u00b7": "*"}
    | {0xFF10 + n: str(n) for n in range(10)}
    | dict.fromkeys("$€£¥₺₹", "")
)
_VULGAR = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅛": "1/8"}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")

_MARKUP: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\(?=[$%#&_])", ""),
        (r"\{,\}", ","),
        (r"\\[,;:! ]", "\u2009"),
        (r"\\(?:left|right|displaystyle|quad|qquad)(?![A-Za-z])", " "),
        (r"\\[dtc]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r" \1/\2 "),
        (r"\\[dtc]?frac\s*(\d)\s*(\d)", r" \1/\2 "),
        (r"\\(?:text|mathrm|mathbf|mathit|mathsf|textbf|operatorname|boxed|fbox)\s*\{([^{}]*)\}", r" \1 "),
        (r"\\(?:times|cdot)(?![A-Za-z])", "*"),
        (r"\\[()\[\]]", " "),
        (r"\^\s*\{\s*([+-]?\d+)\s*\}", r"^\1"),
        (r"</?[A-Za-z][^<>]{0,60}>", " "),
        (r"\*\*|~~|`", ""),
        (r"(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)", ""),
    )
)

_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|"
    r"ekim|kasım|aralık)[a-zı]{0,7}\.?"
)
_NOISE = re.compile(
    rf"""
      (?<!\w)[A-Za-z][\w.]{{0,40}}(?:-[\w.]*\w)+          # slugs: gpt-4-731b, covid-19
    | (?<![\d/.-])\d{{4}}-\d\d?-\d\d?(?![\d-])           # 2024-05-01
    | (?<![\d/.-])\d\d?/\d\d?/\d{{2,4}}(?![\d/])         # 1/5/2024
    | (?<![\d/.-])\d\d?\.\d\d?\.\d{{4}}(?!\d)            # 1.5.2024
    | (?<!\w){_MONTH}[ ]\d\d?(?:st|nd|rd|th)?(?:,?[ ]\d{{4}})?(?![\w,.]\d)   # May 5, 2024
    | (?<![\w.])\d\d?[ ]{_MONTH}(?:[ ]\d{{4}})?(?!\w)    # 5 May 2024
    | (?<![\d:])\d\d?:\d\d(?::\d\d)?(?![\d:])            # 10:30
    | (?<=\S)\[\d{{1,3}}\]                               # cited[1]
    | (?<!\w)(?:step|adım|problem|question|soru|equation|eq\.|figure|table|case|part|section)[ ]*\#?\d+(?!\w)(?![.,]\d)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ITEM = re.compile(r"(?m)^[ \t]*\(?(\d{1,2})[.)][ \t]+(?=\S)")

_GROUPED = rf"\d{{1,3}}(?:[,'’_ {_THIN}]\d{{3}})+(?:\.\d+)?|\d{{1,2}}(?:,\d\d)+,\d{{3}}(?:\.\d+)?"
_POINTS = r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}"
_PLAIN = r"(?:\d++(?:[.,]\d++)?+|\.\d++)"
_TOKEN = re.compile(
    rf"""(?<![A-Za-z0-9_^\\])(?<!\d[.,'’])(?<![A-Za-z]-)
    (?P<sign>[+-](?<![\w)].))?
    (?P<body>
        (?:(?:{_POINTS}|(?<!\d)(?!0\d*,\d)(?:{_GROUPED}))(?!\d)(?![.,]\d)|{_PLAIN})
    )
    (?P<exponent>[eE][+-]?\d{{1,4}}(?!\w))?
    (?:[ ]?[*x][ ]?10\^(?P<ten>[+-]?\d{{1,3}}))?
    (?:\^(?P<power>[+-]?\d{{1,4}}))?
    (?:(?P<mixed>[ ]\d++/\d++)|[ ]?/[ ]?(?P<under>\d++(?:\.\d++)?+))?
    (?![.,]\d)(?![A-Za-z]{{0,9}}\d)
    (?P<ordinal>(?:st|nd|rd|th)(?!\w))?""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number found in a text: its exact value, how it was written, and where (in the cleaned text)."""

    value: Fraction
    text: str
    start: int
    end: int
    ordinal: bool = False


def strip_markup(text: str) -> str:
    """Return `text` without Markdown, HTML, LaTeX wrappers and currency signs, with plain minus signs and digits."""
    for sign, plain in _VULGAR.items():
        text = re.sub(rf"(?<=\d){sign}", f" {plain}", text).replace(sign, plain)
    text = re.sub(r"(?<=\w)[⁻⁰¹²³⁴-⁹]+", lambda m: "^" + m.group().translate(_RAISED), text)
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    text = text.translate(_SIGNS)
    return re.sub(r"(?<![\w)])(?<!\d )[–—](?=\d)", "-", text)


def numbers_in(cleaned: str) -> list[Number]:
    """Return the numbers of a text that `strip_markup` has cleaned, in order; names, dates and steps left out."""
    text = _NOISE.sub(lambda m: "#" * len(m.group()), cleaned)
    if any(item.group(1) == "1" for item in _ITEM.finditer(text)):  # a list starts at 1; a lone "18. So" is a number
        text = _ITEM.sub(lambda m: "#" * (len(m.group()) - 1) + " ", text)
    found = [number for match in _TOKEN.finditer(text) if (number := _number(match)) is not None]
    return [number for number in found if not number.ordinal] or found


def _number(match: re.Match[str]) -> Number | None:
    value = _value(match)
    if value is None:
        return None
    return Number(value, match.group().strip(), match.start(), match.end(), bool(match["ordinal"]))


def _value(match: re.Match[str]) -> Fraction | None:
    body = _point_decimal(match["body"])
    exponent = int((match["exponent"] or "e0")[1:]) + int(match["ten"] or 0)
    if len(body) > MAX_DIGITS or abs(exponent) > MAX_EXPONENT:
        return None
    value = Fraction(body) * Fraction(10) ** exponent
    if match["power"]:
        power = int(match["power"])
        if abs(power) > 64 or len(body) > 8 or (value == 0 and power < 0):
            return None
        value = value**power
    under = match["under"]
    if under:
        if len(under) > MAX_DIGITS or Fraction(under) == 0:
            return None
        value /= Fraction(under)
    if match["mixed"]:
        top, bottom = match["mixed"].split("/")
        if len(match["mixed"]) > MAX_DIGITS or int(bottom) == 0:
            return None
        value += Fraction(int(top), int(bottom))
    return -value if match["sign"] == "-" else value


def _point_decimal(body: str) -> str:
    """Rewrite a number with whatever separators as digits with at most one decimal point."""
    body = re.sub(rf"['’_ {_THIN}]", "", body)
    if body.count(".") > 1 or ("." in body and "," in body and body.rindex(",") > body.rindex(".")):
        return body.replace(".", "").replace(",", ".")
    grouped = re.fullmatch(r"(?!0)\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?", body)
    return body.replace(",", "") if grouped else body.replace(",", ".")
