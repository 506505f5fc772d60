"""Conversions between units; the factor has to be known."""

from __future__ import annotations

from random import Random

from .base import Draw, Item, Template, drawn, easy, hard, medium, number


def _scaled(text: str, factor: int, low: int, high: int) -> Draw:
    """A draw that puts a number into `text` and multiplies it by `factor`."""

    def make(rng: Random) -> Item:
        a = rng.randint(low, high)
        return number(text.format(a=a), a * factor)

    return make


def _divided(text: str, divisor: int, low: int, high: int) -> Draw:
    """A draw that puts a multiple of `divisor` into `text` and asks for the quotient."""

    def make(rng: Random) -> Item:
        a = rng.randint(low, high)
        return number(text.format(a=a * divisor), a)

    return make


def _mixed(text: str, factor: int, high: int, rest: range) -> Draw:
    """A draw with a large unit and a small one, to be told in the small one."""

    def make(rng: Random) -> Item:
        a, b = rng.randint(2, high), rng.choice(rest)
        return number(text.format(a=a, b=b), a * factor + b)

    return make


def _half_litres(rng: Random) -> Item:
    whole, tenth = rng.randint(1, 9), rng.choice([2, 4, 5, 6, 8])
    text = f"A jug holds {whole}.{tenth} litres. State its volume in millilitres, digits only."
    return number(text, 1000 * whole + 100 * tenth)


def _to_fahrenheit(rng: Random) -> Item:
    celsius = rng.choice(range(5, 100, 5))
    text = f"The thermometer shows {celsius} degrees Celsius. What is that in degrees Fahrenheit?"
    return number(f"{text} Only the number.", celsius * 9 // 5 + 32)


def _to_celsius(rng: Random) -> Item:
    celsius = rng.choice(range(10, 95, 5))
    text = f"Express {celsius * 9 // 5 + 32} °F in °C. Write the figure without the unit."
    return number(text, celsius)


def _tap(rng: Random) -> Item:
    rate, minutes = rng.choice([50, 100, 150, 200, 250]), rng.choice([5, 6, 8, 10, 12, 20])
    text = f"A tap gives {rate} millilitres per second. How many litres flow out in {minutes} "
    return number(f"{text}minutes? Reply with one number.", rate * 60 * minutes // 1000)


def _tr_travel(rng: Random) -> Item:
    speed, minutes = rng.choice([30, 60, 90, 120]), rng.choice([10, 20, 40, 50])
    text = f"Saatte {speed} kilometre hızla giden bir araç {minutes} dakikada kaç kilometre gider?"
    return number(f"{text} Yanıtı tek sayı olarak ver.", speed * minutes // 60)


def _easy() -> list[Template]:
    metres = "How many metres are {a} kilometres? Answer with the number only."
    minutes = "{a} hours last how many minutes? Reply with just the number."
    grams = "Convert {a} kilograms to grams. Give only the number."
    centimetres = "A rope is {a} metres long. What is its length in centimetres? Number only."
    days = "Count the days in {a} weeks. Write one number."
    eggs = "I bought {a} dozen eggs. How many single eggs is that? Use digits."
    tr_minutes = "{a} saat kaç dakikadır? Yalnızca sayıyı yaz."
    tr_centimetres = "{a} metre kaç santimetre eder? Cevabı rakamla ver."
    return [
        easy("length", drawn(_scaled(metres, 1000, 2, 9), 6)),
        easy("time", drawn(_scaled(minutes, 60, 2, 8))),
        easy("mass", drawn(_scaled(grams, 1000, 2, 12))),
        easy("length", drawn(_scaled(centimetres, 100, 2, 9))),
        easy("time", drawn(_scaled(days, 7, 2, 9))),
        easy("count", drawn(_scaled(eggs, 12, 2, 8))),
        easy("time", drawn(_scaled(tr_minutes, 60, 2, 9)), "tr"),
        easy("length", drawn(_scaled(tr_centimetres, 100, 2, 9), 4), "tr"),
    ]


def _medium() -> list[Template]:
    hours = "A trip takes {a} minutes. How long is it in hours? Just the number, please."
    millimetres = "Change {a} millimetres into centimetres. Respond with a bare number."
    grams = "A parcel weighs {a} kg and {b} g. Give its weight in grams without the unit."
    minutes = "A film runs for {a} hours and {b} minutes. How many minutes in total? Digits only."
    inches = "One board measures {a} feet. How many inches is it? The number alone is enough."
    cents = "Your purse holds {a} dollars and {b} cents. Turn it all into cents and tell the figure."
    tr_grams = "{a} kilogram {b} gram toplam kaç gramdır? Sadece sayı yaz."
    return [
        medium("time", drawn(_divided(hours, 60, 3, 15))),
        medium("length", drawn(_divided(millimetres, 10, 12, 90))),
        medium("volume decimals", drawn(_half_litres)),
        medium("mass mixed-units", drawn(_mixed(grams, 1000, 9, range(50, 950, 25)))),
        medium("time mixed-units", drawn(_mixed(minutes, 60, 4, range(5, 59)))),
        medium("length imperial", drawn(_scaled(inches, 12, 4, 15))),
        medium("money mixed-units", drawn(_mixed(cents, 100, 30, range(5, 95, 5)))),
        medium("mass mixed-units", drawn(_mixed(tr_grams, 1000, 9, range(50, 950, 50))), "tr"),
    ]


def _speed(rng: Random) -> Item:
    fives = rng.randint(2, 9)
    text = f"A train moves at {fives * 18} km/h. How many metres does it cover per second?"
    return number(f"{text} Answer in digits only.", fives * 5)


def _hard() -> list[Template]:
    day_minutes = "How many minutes are there in {a} full days? Write just that number."
    area = "A room has {a} square metres of floor. Give the area in square centimetres, as a number."
    seconds = "Find the number of seconds in {a} hours plus {b} minutes; state nothing else."

    def time_in_seconds(rng: Random) -> Item:
        a, b = rng.randint(1, 5), rng.randint(5, 55)
        return number(seconds.format(a=a, b=b), 3600 * a + 60 * b)

    return [
        hard("temperature", drawn(_to_fahrenheit, 6)),
        hard("speed", drawn(_speed)),
        hard("time", drawn(_scaled(day_minutes, 1440, 2, 9))),
        hard("area", drawn(_scaled(area, 10000, 6, 40))),
        hard("temperature", drawn(_to_celsius)),
        hard("time mixed-units", drawn(time_in_seconds)),
        hard("volume rates", drawn(_tap)),
        hard("speed", drawn(_tr_travel, 4), "tr"),
    ]


def templates() -> list[Template]:
    """The 24 unit-conversion templates."""
    return [*_easy(), *_medium(), *_hard()]
