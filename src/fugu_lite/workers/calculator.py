"""The `calculator` function: finds one arithmetic expression in the last user text and works it out, exactly.

It sees the prompt and nothing else. What it cannot read as arithmetic it says so about.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction

from fugu_lite.chat import ChatRequest, Json

ARITHMETIC_ONLY = "I can only do arithmetic."
MAX_TOKENS, MAX_DEPTH, MAX_EXPONENT, MAX_BITS, DECIMALS = 100, 40, 64, 256, 6

WORDS = {
    "multiplied by": "*",
    "divided by": "/",
    "to the power of": "**",
    "squared": "**2",
    "cubed": "**3",
    "times": "*",
    "plus": "+",
    "minus": "-",
    "modulo": "%",
    "mod": "%",
    "artı": "+",
    "eksi": "-",
    "çarpı": "*",
    "bölü": "/",
}
SYMBOLS = {"x": "*", "×": "*", "·": "*", "÷": "/", "^": "**", "\u2212": "-", "**2": "**2", "**3": "**3"}
TOKEN = re.compile(
    r"""(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,]) | \d+,\d{1,2}(?![\d,]) | \d+(?:\.\d+)?)
      | (?P<percent>%\s*of\b)
      | (?P<word>\b(?:"""
    + "|".join(phrase.replace(" ", r"[ ]+") for phrase in WORDS)
    + r""")\b)
      | (?P<symbol>\*\* | // | [-+*/%^×·÷()\u2212] | (?<![^\W\d])x(?=\s*[\d(]))
      | (?P<space>[ \t]+)
      | (?P<stop>[^\W\d]\w* | .|\n)""",
    re.VERBOSE | re.IGNORECASE,
)
LEADING, TRAILING = {"+", "*", "/", "//", "%", "**", "**2", "**3"}, {"+", "-", "*", "/", "//", "%", "**"}


def calculator(messages: list[Json]) -> str:
    """Answer the arithmetic in the last user message as `Answer: 391`."""
    text = ChatRequest({"messages": messages}).last_user_text()
    for expression in expressions(text):
        try:
            return f"Answer: {shown(evaluate(expression))}"
        except ZeroDivisionError:
            return "That divides by zero, so it has no answer."
        except (ValueError, SyntaxError, RecursionError):
            continue
    return ARITHMETIC_ONLY


def expressions(text: str) -> list[str]:
    """Return what reads as arithmetic in `text`, in Python's notation, most operators first."""
    trimmed = [_trimmed(run) for run in _runs(text)]
    kept = [run for run in trimmed if len(run) <= MAX_TOKENS and any(_binary(run))]
    return [" ".join(run) for run in sorted(kept, key=lambda run: -sum(_binary(run)))]


def _runs(text: str) -> Iterator[list[str]]:
    """Yield maximal sequences of numbers, operators and brackets."""
    run: list[str] = []
    for match in TOKEN.finditer(text):
        kind, token = match.lastgroup, match.group().lower()
        if kind == "stop":
            yield run
            run = []
        elif kind == "number":
            run.append(_number(token))
        elif kind == "percent":
            run.extend(("/", "100", "*"))
        elif kind == "word":
            run.append(WORDS[re.sub(" +", " ", token)])
        elif kind == "symbol":
            run.append(SYMBOLS.get(token, token))
    yield run


def _number(token: str) -> str:
    """Drop thousands separators and leading zeros; a comma before one or two digits is a decimal comma."""
    decimal_comma = re.fullmatch(r"\d+,\d{1,2}", token)
    whole, point, fraction = token.replace(",", "." if decimal_comma else "").partition(".")
    return f"{whole.lstrip('0') or '0'}{point}{fraction}"


def _trimmed(run: list[str]) -> list[str]:
    """Drop operators and unmatched brackets at both ends."""
    run = list(run)
    while run:
        extra = run.count("(") - run.count(")")
        if run[0] in LEADING or run[0] == ")" or (run[0] == "(" and extra > 0):
            del run[0]
        elif run[-1] in TRAILING or run[-1] == "(" or (run[-1] == ")" and extra < 0):
            del run[-1]
        else:
            return run
    return run


def _binary(run: list[str]) -> list[bool]:
    """Say for every token whether it is an operator with something on its left."""
    operators = LEADING | TRAILING
    return [i > 0 and token in operators and run[i - 1] not in operators | {"("} for i, token in enumerate(run)]


def evaluate(expression: str) -> Fraction:
    """Work out an expression of numbers, brackets and `+ - * / // % **`, exactly.

    Raises:
        ValueError: for anything else, and for numbers beyond `MAX_BITS` bits or exponents beyond `MAX_EXPONENT`.
        SyntaxError: if it is no expression.
        ZeroDivisionError: if it divides by zero.
    """
    return _value(ast.parse(expression, mode="eval").body, MAX_DEPTH)


def _value(node: ast.expr, depth: int) -> Fraction:
    if depth == 0:
        raise ValueError("nested too deeply")
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _bounded(Fraction(str(node.value)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, depth - 1)
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, depth - 1), _value(node.right, depth - 1)
        if isinstance(node.op, ast.Pow):
            return _power(left, right)
        operation = OPERATIONS.get(type(node.op))
        if operation is not None:
            return _bounded(operation(left, right))
    raise ValueError(f"not arithmetic: {type(node).__name__}")


OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: lambda a, b: a % b,
}


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    """Raise to a whole power, refusing before the work is done."""
    if exponent.denominator != 1 or abs(exponent) > MAX_EXPONENT or _bits(base) * abs(exponent) > MAX_BITS:
        raise ValueError("exponent out of range")
    return Fraction(base ** int(exponent))


def _bounded(value: Fraction) -> Fraction:
    if _bits(value) > MAX_BITS:
        raise ValueError("number out of range")
    return value


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def shown(value: Fraction) -> str:
    """Write whole numbers exactly and others with up to six decimals."""
    if value.denominator == 1:
        return str(value.numerator)
    rounded = round(value * 10**DECIMALS)
    return format(Decimal(rounded).scaleb(-DECIMALS).normalize(), "f")
