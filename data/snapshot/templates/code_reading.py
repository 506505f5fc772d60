"""Short Python programs whose output has to be found by reading."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from random import Random

from .base import Item, Template, drawn, easy, exact, hard, medium, number, word

SYLLABLES = ["ha", "no", "go", "tick", "la", "bo"]
PAIRS = [
    ("sun", "set"),
    ("air", "port"),
    ("bed", "room"),
    ("note", "pad"),
    ("sea", "side"),
    ("tea", "cup"),
    ("rain", "coat"),
    ("key", "board"),
]
LONG_WORDS = ["window", "planet", "silver", "garden", "monkey", "basket", "castle", "winter"]


def _asked(question: str, code: Sequence[str], ending: str) -> str:
    """A prompt with the code between question and ending."""
    return "\n".join([question, "", *code, "", ending])


def _add_variables(rng: Random) -> Item:
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    code = [f"x = {a}", f"y = {b}", "print(x + y)"]
    return number(_asked("What does this Python code print?", code, "Answer with the number only."), a + b)


def _reassign(rng: Random) -> Item:
    a, b = rng.randint(8, 20), rng.randint(2, 6)
    code = [f"count = {a}", f"count = count - {b}", "print(count)"]
    return number(_asked("Read the program. Which value is shown?", code, "Reply with just the number."), a - b)


def _list_length(rng: Random) -> Item:
    values = [rng.randint(10, 99) for _ in range(rng.randint(2, 6))]
    return number(
        _asked("Python runs one line. Tell its output.", [f"print(len({values}))"], "Give only the number."),
        len(values),
    )


def _list_sum(rng: Random) -> Item:
    values = [rng.randint(1, 9) for _ in range(3)]
    code = [f"numbers = {values}", "print(sum(numbers))"]
    return number(_asked("What number appears on the screen?", code, "Write digits only."), sum(values))


def _repeat(rng: Random) -> Item:
    part, times = rng.choice(SYLLABLES), rng.randint(2, 4)
    return word(
        _asked("Here is a Python line. What text comes out?", [f'print("{part}" * {times})'], "Write the text only."),
        part * times,
    )


def _concatenate(rng: Random) -> Item:
    a, b = rng.choice(PAIRS)
    code = [f'left = "{a}"', f'right = "{b}"', "print(left + right)"]
    return word(_asked("Which word will be displayed?", code, "Answer with one word."), a + b)


def _tr_product(rng: Random) -> Item:
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    code = [f"a = {a}", f"b = {b}", "print(a * b)"]
    return number(_asked("Bu Python kodu ekrana ne yazar?", code, "Yalnızca sayıyı yaz."), a * b)


def _tr_length(rng: Random) -> Item:
    text = rng.choice(["elma", "kalem", "su", "bulut", "deniz", "portakal", "araba", "oda"])
    return number(
        _asked("Aşağıdaki satırın çıktısı kaçtır?", [f'print(len("{text}"))'], "Cevabı rakamla ver."), len(text)
    )


def _range_sum(rng: Random) -> Item:
    n = rng.randint(4, 11)
    code = ["total = 0", f"for i in range({n}):", "    total = total + i", "print(total)"]
    return number(_asked("Follow the loop. What is printed at the end?", code, "One number, please."), sum(range(n)))


def _branch(rng: Random) -> Item:
    x, limit = rng.randint(3, 30), rng.randint(8, 22)
    code = [f"x = {x}", f"if x > {limit}:", "    print(x * 2)", "else:", "    print(x + 5)"]
    return number(
        _asked("Which number does the branch below give?", code, "Number only."), x * 2 if x > limit else x + 5
    )


def _indexing(rng: Random) -> Item:
    values = [rng.randint(3, 30) for _ in range(4)]
    i, j = rng.sample(range(4), 2)
    code = [f"nums = {values}", f"print(nums[{i}] + nums[{j}])"]
    return number(
        _asked("Indexes start at zero. What is the output?", code, "Respond in digits."), values[i] + values[j]
    )


def _floor_and_rest(rng: Random) -> Item:
    a, b = rng.randint(20, 60), rng.randint(3, 9)
    code = [f"print({a} // {b} + {a} % {b})"]
    return number(_asked("Find the result of this Python expression.", code, "State the number alone."), a // b + a % b)


def _function(rng: Random) -> Item:
    factor, offset, n = rng.randint(2, 6), rng.randint(1, 9), rng.randint(3, 12)
    code = ["def f(n):", f"    return n * {factor} + {offset}", "", f"print(f({n}))"]
    return number(
        _asked("A function is called once. What is written out?", code, "Use a plain number."), n * factor + offset
    )


def _slice(rng: Random) -> Item:
    text, start = rng.choice(LONG_WORDS), rng.randint(0, 2)
    code = [f's = "{text}"', f"print(s[{start}:{start + 3}])"]
    return word(_asked("Which letters does this slice show?", code, "Give the letters only."), text[start : start + 3])


def _dictionary(rng: Random) -> Item:
    tea, cake, soup = (rng.randint(2, 9) for _ in range(3))
    code = [f'price = {{"tea": {tea}, "cake": {cake}, "soup": {soup}}}', 'print(price["soup"] + 2 * price["tea"])']
    return number(_asked("Look up the entries. What gets printed?", code, "Answer with a number."), soup + 2 * tea)


def _tr_loop(rng: Random) -> Item:
    step, times = rng.randint(3, 9), rng.randint(3, 7)
    code = ["toplam = 0", f"for i in range({times}):", f"    toplam = toplam + {step}", "print(toplam)"]
    return number(_asked("Döngü bitince hangi sayı yazdırılır?", code, "Sadece sayı yaz."), step * times)


def _nested_loops(rng: Random) -> Item:
    a, b = rng.randint(3, 5), rng.randint(3, 5)
    code = ["total = 0", f"for i in range({a}):", f"    for j in range({b}):", "        total += i * j", "print(total)"]
    result = sum(i * j for i in range(a) for j in range(b))
    return number(_asked("Two loops are nested. Determine the final output.", code, "Give the number."), result)


def _halving(rng: Random) -> Item:
    start = rng.randint(9, 130)
    code = [f"n = {start}", "steps = 0", "while n > 1:", "    n = n // 2", "    steps = steps + 1", "print(steps)"]
    return number(_asked("How many steps does the program report?", code, "Digits only."), start.bit_length() - 1)


def _even_squares(rng: Random) -> Item:
    low, high = rng.randint(1, 5), rng.randint(7, 12)
    code = [f"print(sum(x * x for x in range({low}, {high}) if x % 2 == 0))"]
    result = sum(x * x for x in range(low, high) if x % 2 == 0)
    return number(_asked("Only some squares are added. What is the sum?", code, "Write it as a number."), result)


def _recursion(rng: Random) -> Item:
    n, extra = rng.randint(3, 6), rng.randint(2, 9)
    code = ["def g(k):", "    if k < 2:", "        return 1", "    return k * g(k - 1)", "", f"print(g({n}) + {extra})"]
    return number(
        _asked("The function calls itself. Which number results?", code, "No words, just digits."), factorial(n) + extra
    )


def _reverse(rng: Random) -> Item:
    text, cut = rng.choice(LONG_WORDS), rng.randint(1, 2)
    code = [f't = "{text}"', f"t = t[{cut}:]", "print(t[::-1])"]
    return word(_asked("Trace the string. What is its last state?", code, "Output the string only."), text[cut:][::-1])


def _comprehension(rng: Random) -> Item:
    factor, limit = rng.randint(2, 5), rng.randint(4, 6)
    values = [rng.randint(1, 3), *(rng.randint(1, 9) for _ in range(2)), rng.randint(1, 3)]
    code = [f"data = {values}", f"print([v * {factor} for v in data if v < {limit}])"]
    answer = str([value * factor for value in values if value < limit])
    return exact(
        _asked("What list does the comprehension produce?", code, "Write the list as Python shows it."),
        answer,
        answer.replace(" ", ""),
    )


def _count_letters(rng: Random) -> Item:
    text = rng.choice(["banana", "pepper", "letters", "success", "balloon", "cocoa", "tomatoes"])
    char = rng.choice(sorted(set(text)))
    code = ["hits = 0", f'for c in "{text}":', f'    if c != "{char}":', "        hits += 2", "print(hits)"]
    return number(
        _asked("Go through the letters one by one. What is shown?", code, "A number is enough."),
        2 * (len(text) - text.count(char)),
    )


def _tr_function(rng: Random) -> Item:
    a, b, n = rng.randint(2, 5), rng.randint(1, 6), rng.randint(2, 6)
    code = ["def hesapla(s):", f"    return s * {a} - {b}", "", f"print(hesapla(hesapla({n})))"]
    return number(_asked("İç içe çağrının sonucu nedir?", code, "Yanıt tek bir sayı olsun."), (n * a - b) * a - b)


def templates() -> list[Template]:
    """The 24 code-reading templates."""
    return [
        easy("variables", drawn(_add_variables, 6)),
        easy("variables", drawn(_reassign)),
        easy("lists", drawn(_list_length)),
        easy("lists", drawn(_list_sum)),
        easy("strings", drawn(_repeat)),
        easy("strings", drawn(_concatenate)),
        easy("variables", drawn(_tr_product), "tr"),
        easy("strings", drawn(_tr_length, 4), "tr"),
        medium("loops", drawn(_range_sum)),
        medium("branches", drawn(_branch)),
        medium("lists indexing", drawn(_indexing)),
        medium("operators", drawn(_floor_and_rest)),
        medium("functions", drawn(_function)),
        medium("strings slicing", drawn(_slice)),
        medium("dictionaries", drawn(_dictionary)),
        medium("loops", drawn(_tr_loop), "tr"),
        hard("loops nested", drawn(_nested_loops, 6)),
        hard("loops while", drawn(_halving)),
        hard("comprehensions", drawn(_even_squares)),
        hard("recursion", drawn(_recursion)),
        hard("strings slicing", drawn(_reverse)),
        hard("comprehensions lists", drawn(_comprehension)),
        hard("loops strings", drawn(_count_letters)),
        hard("functions nested", drawn(_tr_function, 4), "tr"),
    ]
