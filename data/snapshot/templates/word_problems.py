"""Short stories with numbers; the expression has to be understood first."""

from __future__ import annotations

from random import Random

from .base import Item, Template, drawn, easy, hard, medium, number

NAMES = ["Anna", "Ben", "Clara", "David", "Ella", "Felix", "Grace", "Hugo", "Maya", "Omar"]
THINGS = ["apples", "stickers", "shells", "coins", "stamps", "pencils", "cards"]
SHARES = [("half", 2), ("a third", 3), ("a quarter", 4), ("a fifth", 5)]


def _gets_more(rng: Random) -> Item:
    name, things = rng.choice(NAMES), rng.choice(THINGS)
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    text = f"{name} has {a} {things} and finds {b} more. How many {things} does {name} have now?"
    return number(f"{text} Answer with the number only.", a + b)


def _fly_away(rng: Random) -> Item:
    a = rng.randint(6, 15)
    b = rng.randint(2, a - 1)
    kind = rng.choice(["sparrows", "pigeons", "crows", "gulls", "swallows"])
    text = f"There are {a} {kind} on a roof. Then {b} of them fly off. How many stay?"
    return number(f"{text} Reply with just the number.", a - b)


def _bags(rng: Random) -> Item:
    a, b = rng.randint(2, 9), rng.randint(2, 6)
    things = rng.choice(["marbles", "oranges", "cookies", "lemons", "buttons"])
    text = f"Every bag holds {a} {things}. How many {things} are in {b} full bags?"
    return number(f"{text} Give only the number.", a * b)


def _share(rng: Random) -> Item:
    children, each = rng.randint(2, 6), rng.randint(2, 9)
    treat = rng.choice(["sweets", "cherries", "crackers", "grapes", "nuts"])
    text = f"{children} children divide {children * each} {treat} fairly among themselves."
    return number(f"{text} How many {treat} per child? Use digits only.", each)


def _bus(rng: Random) -> Item:
    a, b = rng.randint(10, 30), rng.randint(2, 9)
    vehicle = rng.choice(["bus", "tram", "ferry", "train"])
    text = f"A {vehicle} carries {a} people. At the next stop {b} people board and nobody leaves."
    return number(f"{text} How many people are aboard? Write one number.", a + b)


def _age(rng: Random) -> Item:
    name, a, b = rng.choice(NAMES), rng.randint(5, 14), rng.randint(2, 10)
    text = f"{name} is {a} years old today. What age will {name} reach {b} years from now?"
    return number(f"{text} A number is enough.", a + b)


def _tr_pens(rng: Random) -> Item:
    name = rng.choice(["Ayşe", "Zeynep", "Emre", "Elif", "Ece"])
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    text = f"{name} iki gün kalem topladı: ilk gün {a}, ertesi gün {b} tane."
    return number(f"{text} Toplam kaç kalem oldu? Yalnızca sayıyı yaz.", a + b)


def _tr_birds(rng: Random) -> Item:
    a = rng.randint(7, 18)
    b = rng.randint(2, a - 2)
    text = f"Bir ağaçta {a} kuş vardı, {b} tanesi uçup gitti. Ağaçta kaç kuş kaldı?"
    return number(f"{text} Cevabı rakamla ver.", a - b)


def _change(rng: Random) -> Item:
    name, price, count = rng.choice(NAMES), rng.randint(3, 9), rng.randint(2, 5)
    thing = rng.choice(["notebooks", "sandwiches", "tickets", "candles"])
    text = f"{name} buys {count} {thing} at {price} dollars each and pays with a 50 dollar note."
    return number(f"{text} How many dollars come back? Number only.", 50 - price * count)


def _wages(rng: Random) -> Item:
    a, b, c = rng.randint(11, 20), rng.randint(3, 8), rng.randint(2, 5)
    job = rng.choice(["gardener", "painter", "cleaner", "driver"])
    text = f"A {job} earns {a} dollars an hour and works {b} hours on each of {c} days."
    return number(f"{text} How many dollars is that in all? Just the amount in digits.", a * b * c)


def _chairs(rng: Random) -> Item:
    rows, seats = rng.randint(5, 12), rng.randint(6, 15)
    empty = rng.randint(4, 25)
    text = f"A hall has {rows} rows with {seats} seats in each row. {empty} seats are empty."
    return number(f"{text} How many are taken? Answer with a number.", rows * seats - empty)


def _reading(rng: Random) -> Item:
    name, pages, days = rng.choice(NAMES), rng.randint(8, 25), rng.randint(6, 14)
    text = f"A book has {pages * days} pages and {name} reads {pages} pages a day."
    return number(f"{text} After how many days is it finished? Digits, please.", days)


def _part_of_class(rng: Random) -> Item:
    (share, divisor), size = rng.choice(SHARES), rng.randint(4, 12)
    text = f"In a club with {divisor * size} members, {share} of them play chess."
    return number(f"{text} How many members do not? State the number.", (divisor - 1) * size)


def _two_runs(rng: Random) -> Item:
    name, a, b = rng.choice(NAMES), rng.randint(4, 15), rng.randint(2, 9)
    text = f"On Monday {name} ran {a} km. On Tuesday it was {b} km more than on Monday."
    return number(f"{text} How many km is that for both days? Only the figure.", 2 * a + b)


def _flower_beds(rng: Random) -> Item:
    beds, flowers, planted = rng.randint(4, 9), rng.randint(7, 15), rng.randint(5, 25)
    flower = rng.choice(["tulips", "roses", "lilies", "daisies"])
    text = f"{beds} beds need {flowers} {flower} each. So far {planted} {flower} are planted."
    return number(f"{text} How many are missing? Write a number.", beds * flowers - planted)


def _tr_eggs(rng: Random) -> Item:
    a, b, c = rng.choice([6, 10, 12, 15]), rng.randint(3, 8), rng.randint(2, 9)
    text = f"Bir kolide {a} yumurta var. {b} kolinin içinde {c} yumurta kırık çıktı."
    return number(f"{text} Kaç sağlam yumurta var? Sadece sayı yaz.", a * b - c)


def _discount(rng: Random) -> Item:
    price, percent = rng.choice(range(40, 400, 20)), rng.choice([10, 15, 20, 25, 30, 40])
    thing = rng.choice(["coat", "lamp", "bicycle", "watch", "chair"])
    text = f"A {thing} costs {price} dollars. In the sale its price falls by {percent} percent."
    return number(f"{text} What is the sale price in dollars? Number only.", _cut(price, percent))


def _cut(price: int, percent: int) -> int:
    return price - price * percent // 100


def _egg_boxes(rng: Random) -> Item:
    box, boxes, hens = rng.choice([4, 6, 8, 10]), rng.randint(5, 15), rng.choice([4, 5, 6, 8])
    eggs = box * boxes
    if eggs % hens:
        return _egg_boxes(rng)
    text = f"Each of {hens} hens lays {eggs // hens} eggs. The farmer packs {box} eggs in a box."
    return number(f"{text} How many full boxes does he get? Reply in digits.", boxes)


def _two_speeds(rng: Random) -> Item:
    v, w = rng.choice(range(40, 120, 10)), rng.choice(range(45, 125, 10))
    h, g = rng.randint(2, 4), rng.randint(2, 5)
    text = f"A car goes {v} km per hour for {h} hours and after that {w} km per hour for {g} hours."
    return number(f"{text} What distance in km is that? Give the number.", v * h + w * g)


def _ages(rng: Random) -> Item:
    old, young = rng.sample(NAMES, 2)
    factor, age = rng.randint(3, 6), rng.randint(4, 12)
    text = f"{old} is {factor} times as old as {young}, and their ages add up to "
    text += f"{(factor + 1) * age} years."
    return number(f"{text} How old is {young}? Answer in figures only.", age)


def _tank(rng: Random) -> Item:
    leak, gain, minutes = rng.randint(2, 6), rng.randint(5, 12), rng.randint(12, 40)
    text = f"An empty tank of {gain * minutes} litres is filled at {gain + leak} litres a minute, "
    text += f"but {leak} litres a minute leak out."
    return number(f"{text} How many minutes until it is full? Digits only.", minutes)


def _fence(rng: Random) -> Item:
    width, price = rng.randint(5, 20), rng.randint(3, 12)
    text = f"A garden is {width} m wide and twice as long. Fencing costs {price} dollars a metre."
    text += " How many dollars does a fence all the way round cost?"
    return number(f"{text} One number, please.", 6 * width * price)


def _legs(rng: Random) -> Item:
    hens, cows = rng.randint(5, 20), rng.randint(3, 15)
    text = f"A farm has only hens and cows: {hens + cows} heads and {2 * hens + 4 * cows} legs."
    return number(f"{text} How many cows live there? Write the number alone.", cows)


def _tr_shopping(rng: Random) -> Item:
    a, b, c, d = rng.randint(12, 30), rng.randint(2, 5), rng.randint(5, 11), rng.randint(2, 6)
    text = f"Can, tanesi {a} liradan {b} defter ve tanesi {c} liradan {d} silgi aldı. "
    text += "Kasaya 250 lira verdi. Kaç lira para üstü alır? Yanıt yalnızca sayı olsun."
    return number(text, 250 - a * b - c * d)


def templates() -> list[Template]:
    """The 24 word-problem templates."""
    return [
        easy("addition", drawn(_gets_more, 6)),
        easy("subtraction", drawn(_fly_away)),
        easy("multiplication", drawn(_bags)),
        easy("division", drawn(_share)),
        easy("addition", drawn(_bus)),
        easy("addition age", drawn(_age)),
        easy("addition", drawn(_tr_pens), "tr"),
        easy("subtraction", drawn(_tr_birds, 4), "tr"),
        medium("money two-steps", drawn(_change)),
        medium("money multiplication", drawn(_wages)),
        medium("multiplication subtraction", drawn(_chairs)),
        medium("division", drawn(_reading)),
        medium("fractions", drawn(_part_of_class)),
        medium("two-steps", drawn(_two_runs)),
        medium("multiplication subtraction", drawn(_flower_beds)),
        medium("multiplication subtraction", drawn(_tr_eggs), "tr"),
        hard("percent money", drawn(_discount, 6)),
        hard("multiplication division", drawn(_egg_boxes)),
        hard("speed", drawn(_two_speeds)),
        hard("equation age", drawn(_ages)),
        hard("rates", drawn(_tank)),
        hard("geometry money", drawn(_fence)),
        hard("equation", drawn(_legs)),
        hard("money three-steps", drawn(_tr_shopping, 4), "tr"),
    ]
