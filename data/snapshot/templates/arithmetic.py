"""Pure arithmetic: the prompt holds the expression, in symbols or in words."""

from __future__ import annotations

from random import Random

from .base import Item, Template, drawn, easy, hard, medium, number

ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelled(value: int) -> str:
    """A number from 0 to 99 in English words."""
    if value < 20:
        return ONES[value]
    tens, ones = divmod(value, 10)
    return TENS[tens] if ones == 0 else f"{TENS[tens]}-{ONES[ones]}"


def _small_sum(rng: Random) -> Item:
    a, b = rng.randint(1, 9), rng.randint(1, 9)
    return number(f"What is {a} + {b}? Answer with the number only.", a + b)


def _small_difference(rng: Random) -> Item:
    a = rng.randint(6, 20)
    b = rng.randint(1, a - 1)
    return number(f"Work out {a} - {b}. Reply with just the number.", a - b)


def _small_product(rng: Random) -> Item:
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    return number(f"Compute {a} * {b}. Give nothing but the number.", a * b)


def _sum_in_words(rng: Random) -> Item:
    a, b = rng.randint(1, 9), rng.randint(1, 9)
    text = f"How much is {spelled(a)} plus {spelled(b)}? Write the answer in digits."
    return number(text, a + b)


def _sum_of_three(rng: Random) -> Item:
    a, b, c = (rng.randint(1, 9) for _ in range(3))
    return number(f"{a} + {b} + {c} = ? Finish the sum with one number.", a + b + c)


def _take_away(rng: Random) -> Item:
    a = rng.choice(range(20, 100, 10))
    b = rng.choice(range(10, a, 10))
    return number(f"Take {b} away from {a}. What is left? Use digits, no words.", a - b)


def _tr_sum(rng: Random) -> Item:
    a, b = rng.randint(1, 12), rng.randint(1, 12)
    return number(f"{a} + {b} kaç eder? Yalnızca sayıyı yaz.", a + b)


def _tr_product(rng: Random) -> Item:
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    return number(f"{a} çarpı {b} kaçtır? Sonucu rakamla ver.", a * b)


def _one_digit_factor(rng: Random) -> Item:
    a, b = rng.randint(13, 98), rng.randint(3, 9)
    return number(f"Find the product {a} * {b}. Only its value, please.", a * b)


def _times(rng: Random) -> Item:
    a, b = rng.randint(11, 29), rng.randint(11, 19)
    return number(f"What do you get for {a} times {b}? Respond in digits.", a * b)


def _precedence(rng: Random) -> Item:
    a, b, c = rng.randint(5, 40), rng.randint(3, 12), rng.randint(3, 9)
    return number(f"Evaluate {a} + {b} * {c}. Multiplication goes first. One number.", a + b * c)


def _quotient(rng: Random) -> Item:
    quotient, divisor = rng.randint(11, 39), rng.randint(3, 12)
    text = f"Divide {quotient * divisor} by {divisor}. It comes out even; write the quotient."
    return number(text, quotient)


def _bracket(rng: Random) -> Item:
    a, b, c = rng.randint(4, 30), rng.randint(4, 30), rng.randint(3, 9)
    return number(f"Calculate ({a} + {b}) * {c} and write the value alone.", (a + b) * c)


def _long_sum(rng: Random) -> Item:
    a, b, c = (rng.randint(100, 600) for _ in range(3))
    return number(f"Add up {a}, {b} and {c}. State just the total.", a + b + c)


def _remainder(rng: Random) -> Item:
    b = rng.randint(4, 12)
    a = rng.randint(30, 120)
    text = f"Which remainder does {a} leave when divided by {b}? Give the remainder only."
    return number(text, a % b)


def _tr_difference(rng: Random) -> Item:
    a = rng.randint(300, 900)
    b = rng.randint(101, a - 50)
    return number(f"{a} - {b} işleminin sonucu nedir? Tek bir sayı yaz.", a - b)


def _two_products(rng: Random) -> Item:
    a, b, c, d = (rng.randint(6, 25) for _ in range(4))
    text = f"Simplify {a} * {b} - {c} * {d} to a single number (it may be negative)."
    return number(text, a * b - c * d)


def _percent(rng: Random) -> Item:
    percent = rng.choice([5, 15, 20, 30, 35, 40, 60, 75])
    whole = rng.choice(range(120, 900, 20))
    text = f"What is {percent} percent of {whole}? Leave out the percent sign; number only."
    return number(text, percent * whole // 100)


def _add_then_multiply(rng: Random) -> Item:
    a, b, c = rng.randint(15, 60), rng.randint(15, 60), rng.randint(11, 19)
    text = f"Add {a} and {b}, then multiply the sum by {c}. Just tell the outcome."
    return number(text, (a + b) * c)


def _squares(rng: Random) -> Item:
    a = rng.randint(13, 30)
    b = rng.randint(5, a - 2)
    text = f"How large is {a} squared minus {b} squared? Answer using digits alone."
    return number(text, a * a - b * b)


def _product_in_words(rng: Random) -> Item:
    a, b = rng.randint(21, 79), rng.randint(11, 19)
    text = f"Multiply {spelled(a)} by {spelled(b)}. Write the result in digits, not in words."
    return number(text, a * b)


def _quotient_plus(rng: Random) -> Item:
    c, result = rng.randint(3, 9), rng.randint(7, 29)
    b, d = rng.randint(10, 60), rng.randint(12, 48)
    text = f"Determine ({b + c * result} - {b}) / {c} + {d}. The final number is all we need."
    return number(text, result + d)


def _big_product(rng: Random) -> Item:
    a, b = rng.randint(103, 489), rng.randint(23, 78)
    return number(f"{a} multiplied by {b} equals what? Put down the exact number.", a * b)


def _tr_steps(rng: Random) -> Item:
    a, b, c = rng.randint(12, 29), rng.randint(11, 19), rng.randint(25, 99)
    text = f"Önce {a} ile {b} sayısını çarp, sonra çıkan sayıya {c} ekle. Cevap olarak sayıyı ver."
    return number(text, a * b + c)


def templates() -> list[Template]:
    """The 24 arithmetic templates."""
    return [
        easy("addition", drawn(_small_sum, 6)),
        easy("subtraction", drawn(_small_difference)),
        easy("multiplication", drawn(_small_product)),
        easy("addition number-words", drawn(_sum_in_words)),
        easy("addition three-terms", drawn(_sum_of_three)),
        easy("subtraction tens", drawn(_take_away)),
        easy("addition", drawn(_tr_sum), "tr"),
        easy("multiplication", drawn(_tr_product, 4), "tr"),
        medium("multiplication", drawn(_one_digit_factor)),
        medium("multiplication", drawn(_times)),
        medium("precedence", drawn(_precedence)),
        medium("division", drawn(_quotient)),
        medium("brackets", drawn(_bracket)),
        medium("addition three-terms", drawn(_long_sum)),
        medium("remainder", drawn(_remainder)),
        medium("subtraction", drawn(_tr_difference), "tr"),
        hard("multiplication subtraction", drawn(_two_products, 6)),
        hard("percent", drawn(_percent)),
        hard("two-steps", drawn(_add_then_multiply)),
        hard("squares", drawn(_squares)),
        hard("multiplication number-words", drawn(_product_in_words)),
        hard("brackets division", drawn(_quotient_plus)),
        hard("multiplication", drawn(_big_product)),
        hard("two-steps", drawn(_tr_steps, 4), "tr"),
    ]
