"""Questions with four options, told by their letter."""

from __future__ import annotations

from random import Random

from .base import Item, Template, choice, choices, drawn, easy, hard, medium
from .multiple_choice_rows import EASY, HARD, MEDIUM, TURKISH

TR_LETTER = "Yalnızca harfi yaz."


def _small_sum(rng: Random) -> Item:
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    wrong = [str(a + b + shift) for shift in rng.sample([-3, -2, -1, 1, 2, 3], 3)]
    return choice(rng, f"Pick the value of {a} + {b}.", str(a + b), wrong, "Letter only.")


def _largest(rng: Random) -> Item:
    base = rng.randint(2, 9) * 1000
    *wrong, largest = sorted(base + value for value in rng.sample(range(1, 999), 4))
    question = f"All options lie above {base}. Which is the largest number?"
    options = [str(value) for value in wrong]
    return choice(rng, question, str(largest), options, "Reply with its letter.")


def _percent(rng: Random) -> Item:
    percent, whole = rng.choice([15, 20, 25, 30, 40]), rng.choice(range(80, 400, 20))
    right = percent * whole // 100
    wrong = [str(right + shift) for shift in rng.sample([-8, -5, 4, 6, 10, 12], 3)]
    question = f"A shop takes {percent} % off a price of {whole} euros. How many euros are saved?"
    return choice(rng, question, str(right), wrong, "State the letter.")


def _is_prime(value: int) -> bool:
    return value > 1 and all(value % divisor for divisor in range(2, value))


def _prime(rng: Random) -> Item:
    right = rng.choice([value for value in range(31, 120) if _is_prime(value)])
    odd = [v for v in range(right - 14, right + 14) if v % 2 and v % 5 and not _is_prime(v)]
    wrong = [str(value) for value in rng.sample(odd, 3)]
    question = "Exactly one of these is a prime number. Which one?"
    return choice(rng, question, str(right), wrong, "Just its letter.")


def templates() -> list[Template]:
    """The 24 multiple-choice templates."""
    easies = [easy(tags, choices(ending, rows)) for tags, ending, rows in EASY]
    mediums = [medium(tags, choices(ending, rows)) for tags, ending, rows in MEDIUM]
    hards = [hard(tags, choices(ending, rows)) for tags, ending, rows in HARD]
    return [
        *easies,
        easy("arithmetic", drawn(_small_sum, 6)),
        easy("nature", choices(TR_LETTER, TURKISH["nature"]), "tr"),
        easy("vocabulary", choices(TR_LETTER, TURKISH["vocabulary"]), "tr"),
        *mediums,
        medium("comparison", drawn(_largest)),
        medium("general", choices(TR_LETTER, TURKISH["general"]), "tr"),
        *hards,
        hard("percent", drawn(_percent, 6)),
        hard("primes", drawn(_prime)),
        hard("science", choices("Doğru seçeneğin harfini ver.", TURKISH["science"]), "tr"),
    ]
