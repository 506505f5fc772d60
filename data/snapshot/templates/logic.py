"""Sequences, orderings, calendars and small deductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from .base import (
    Item,
    Template,
    choice_in_order,
    choices,
    drawn,
    easy,
    hard,
    letter,
    listed,
    medium,
    number,
    opening,
    word,
    words,
)

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
TR_DAYS = ["Pazartesi", "Salı", "Çarşamba", "Perşembe", "Cuma", "Cumartesi", "Pazar"]
NAMES = ["Tom", "Ann", "Leo", "Mia", "Sam", "Zoe", "Kim", "Ray"]
TR_NAMES = ["Ali", "Oya", "Can", "Ece", "Mert", "Selin"]
RELATIONS = [("taller", "tallest"), ("older", "oldest"), ("faster", "fastest"), ("stronger", "strongest")]
REVERSED = {"taller": "shorter", "older": "younger", "faster": "slower", "stronger": "weaker"}
BOXES = "ABC"
Label = tuple[str, Callable[[str], bool]]

ODD_ONES = [
    ("Which one does not belong with the others?", "chair", ["apple", "pear", "plum"]),
    ("Which one does not belong with the others?", "hammer", ["dog", "horse", "rabbit"]),
    ("Which one does not belong with the others?", "carrot", ["red", "blue", "green"]),
    ("Which one does not belong with the others?", "spoon", ["bus", "car", "train"]),
    ("Which one does not belong with the others?", "Friday", ["June", "March", "August"]),
]
SIMPLE_CLAIMS = [
    ("All cats are animals. Milo is a cat. Is Milo an animal?", "yes"),
    ("A fish never sings. Bubbles is a fish. Can Bubbles sing?", "no"),
    ("Every rose is a flower. This plant is a rose. Is it a flower?", "yes"),
    ("A stone is never alive. This thing is a stone. Is it alive?", "no"),
    ("All buses have wheels. Number 12 is a bus. Does it have wheels?", "yes"),
]
ANALOGIES = [
    ("Puppy is to dog as kitten is to what?", "cat", "cats"),
    ("Day is to sun as night is to what?", "moon"),
    ("Hot is to cold as wet is to what?", "dry"),
    ("Bee is to hive as bird is to what?", "nest"),
    ("Eye is to see as ear is to what?", "hear", "hearing"),
]
VERDICTS = ("true", "false", "cannot be known")
SYLLOGISMS = [
    ("All poets are dreamers. Ines is a poet. Claim: Ines is a dreamer.", "true"),
    ("All swans are birds. Toto is a bird. Claim: Toto is a swan.", "cannot be known"),
    ("No robot is tired. Rex is a robot. Claim: Rex is tired.", "false"),
    ("Some pupils wear hats. Lea is a pupil. Claim: Lea wears a hat.", "cannot be known"),
    ("All squares are rectangles. Shape Q is not a rectangle. Claim: Q is a square.", "false"),
]
FAMILY = [
    ("Ada is the mother of Bob. Bob is the father of Cleo. What is Ada to Cleo?", "grandmother", "grandma"),
    ("Ivo is the father of Jan. Jan is the mother of Kai. What is Ivo to Kai?", "grandfather", "grandpa"),
    ("Eva and Finn have the same parents. Finn has a child, Gus. What is Eva to Gus?", "aunt", "auntie"),
    ("Lou and Max are brothers. Max has a daughter, Nia. What is Lou to Nia?", "uncle"),
    (
        "Pia and Rob are sister and brother. Each has one child. What are the two children to each other?",
        "cousins",
        "cousin",
    ),
]
CONDITIONALS = [
    (
        "If it rains, the match is cancelled. The match was not cancelled.",
        "It did not rain.",
        ["It rained.", "The match was short.", "Nobody played."],
    ),
    (
        "If the alarm is on, the lamp glows. The lamp is dark.",
        "The alarm is off.",
        ["The alarm is on.", "The lamp glows.", "The alarm is loud."],
    ),
    (
        "If Kim studies, she passes. Kim studied.",
        "Kim passed.",
        ["Kim failed.", "Kim did not study.", "Kim left school."],
    ),
    (
        "Either the key is in the drawer or in the bag. It is not in the bag.",
        "The key is in the drawer.",
        ["The key is lost.", "The key is in the bag.", "There is no key."],
    ),
    (
        "Only members may vote. Lee may vote.",
        "Lee is a member.",
        ["Lee is not a member.", "Lee voted.", "All members vote."],
    ),
]


def _joined(values: Sequence[object]) -> str:
    return ", ".join(str(value) for value in values)


def _arithmetic_sequence(rng: Random) -> Item:
    start, step = rng.randint(1, 9), rng.randint(2, 6)
    values = [start + step * i for i in range(5)]
    text = f"Which number comes next: {_joined(values[:4])}, ...? Answer with the number only."
    return number(text, values[4])


def _compare_two(rng: Random) -> Item:
    first, second = rng.sample(NAMES, 2)
    more = rng.choice(sorted(REVERSED))
    asked, right = rng.choice([(more, first), (REVERSED[more], second)])
    question = f"{first} is {more} than {second}. Who is {asked}?"
    options = rng.sample([first, second], 2)
    return choice_in_order(question, options, right, "Answer with the letter only.")


def _yesterday(rng: Random) -> Item:
    day = rng.randrange(7)
    text = f"Yesterday was {DAYS[day]}. What day is it today? Answer with one word."
    return word(text, DAYS[(day + 1) % 7])


def _tr_sequence(rng: Random) -> Item:
    start, step = rng.randint(1, 12), rng.choice([2, 3, 5, 10])
    values = [start + step * i for i in range(5)]
    text = f"{_joined(values[:4])} dizisinde sıradaki sayı kaçtır? Yalnızca sayıyı yaz."
    return number(text, values[4])


def _tr_compare(rng: Random) -> Item:
    kisi, diger = rng.sample(TR_NAMES, 2)
    options = rng.sample([kisi, diger], 2)
    question = f"İki arkadaş boy ölçüyor: {kisi} 1,{rng.randint(70, 85)} m, "
    question += f"{diger} 1,{rng.randint(50, 65)} m. Hangisi daha kısadır?"
    return choice_in_order(question, options, diger, "Yalnızca harfi yaz.")


def _order_three(rng: Random) -> Item:
    top, middle, low = rng.sample(NAMES, 3)
    more, most = rng.choice(RELATIONS)
    facts = [f"{top} is {more} than {middle}.", f"{middle} is {more} than {low}."]
    rng.shuffle(facts)
    options = rng.sample([top, middle, low], 3)
    question = f"{' '.join(facts)} Who of the three is the {most}?"
    return choice_in_order(question, options, top, "Reply with the letter only.")


def _doubling(rng: Random) -> Item:
    start, factor = rng.randint(1, 7), rng.choice([2, 3])
    values = [start * factor**i for i in range(5)]
    text = f"Continue the series {_joined(values[:4])} by one more term. Write that number only."
    return number(text, values[4])


def _days_ahead(rng: Random) -> Item:
    day, ahead = rng.randrange(7), rng.randint(2, 6)
    text = f"Today is {DAYS[day]}. Name the weekday {ahead} days from now. One word."
    return word(text, DAYS[(day + ahead) % 7])


def _letter_sequence(rng: Random) -> Item:
    start, step = rng.randint(0, 9), rng.randint(2, 3)
    marks = [chr(ord("A") + start + step * i) for i in range(5)]
    text = f"Find the letter after {_joined(marks[:4])} in this pattern. Give one letter."
    return letter(text, marks[4])


def _queue(rng: Random) -> Item:
    name, front, back = rng.choice(NAMES), rng.randint(3, 12), rng.randint(3, 12)
    text = f"In a queue {name} has {front} people ahead and {back} people behind."
    return number(f"{text} How long is the queue, {name} included? Number only.", front + back + 1)


def _tr_order(rng: Random) -> Item:
    top, middle, low = rng.sample(TR_NAMES, 3)
    question = f"{top}, {middle} adlı kişiden yaşlı; {middle} ise {low} adlı kişiden yaşlıdır. "
    question += "Üçünün en genci kimdir?"
    options = rng.sample([top, middle, low], 3)
    return choice_in_order(question, options, low, "Sadece harfle yanıtla.")


def _growing(rng: Random) -> Item:
    start, step, growth = rng.randint(1, 9), rng.randint(1, 4), rng.randint(1, 3)
    values = [start]
    for i in range(5):
        values.append(values[-1] + step + growth * i)
    text = f"The gaps grow steadily in {_joined(values[:5])}. State the number that follows."
    return number(text, values[5])


def _days_far(rng: Random) -> Item:
    day, ahead = rng.randrange(7), rng.randint(15, 80)
    text = f"A parcel is sent on a {DAYS[day]} and arrives exactly {ahead} days later."
    return word(f"{text} On which weekday? Write the day.", DAYS[(day + ahead) % 7])


def _order_four(rng: Random) -> Item:
    a, b, c, d = rng.sample(NAMES, 4)
    facts = [f"{b} finished right after {a}.", f"{d} was last.", f"{c} beat {a}."]
    rng.shuffle(facts)
    place, right = rng.choice([("first", c), ("second", a), ("third", b)])
    question = f"Four people ran a race. {' '.join(facts)} Who came {place}?"
    options = rng.sample([a, b, c, d], 4)
    return choice_in_order(question, options, right, "Give the letter only.")


def _handshakes(rng: Random) -> Item:
    people = rng.randint(5, 14)
    text = f"{people} guests meet and everyone shakes hands once with everyone else."
    return number(f"{text} How many handshakes is that? Digits only.", people * (people - 1) // 2)


def _labels(rng: Random) -> list[Label]:
    """One claim per box about the place of the coin, with its truth for every place."""
    labels: list[Label] = []
    for _ in BOXES:
        box, inside = rng.choice(BOXES), rng.random() < 0.5
        verb = "is" if inside else "is not"
        labels.append((f"the coin {verb} in {box}", _claim(box, inside)))
    return labels


def _claim(box: str, inside: bool) -> Callable[[str], bool]:
    return lambda place: (place == box) == inside


def _coin_boxes(rng: Random) -> Item:
    while True:
        labels = _labels(rng)
        places = [p for p in BOXES if sum(holds(p) for _, holds in labels) == 1]
        if len(places) == 1 and len({text for text, _ in labels}) == 3:
            break
    told = "; ".join(f"{box} says {text}" for box, (text, _) in zip(BOXES, labels, strict=True))
    question = f"One of three boxes holds a coin. {told}. Exactly one label is true. Which box?"
    options = [f"box {box}" for box in BOXES]
    return choice_in_order(question, options, f"box {places[0]}", "Just the letter, please.")


def _hidden_number(rng: Random) -> Item:
    ones, more = rng.randint(0, 5), rng.randint(1, 4)
    tens = ones + more
    text = f"The digits of a two-digit number add up to {tens + ones}. Its tens digit is {more} "
    return number(f"{text}larger than its ones digit. Write that number.", 10 * tens + ones)


def _tr_days(rng: Random) -> Item:
    day, ahead = rng.randrange(7), rng.randint(9, 40)
    text = f"Bugün günlerden {TR_DAYS[day]}. {ahead} gün sonra hangi gün olur? Gün adını yaz."
    return word(text, TR_DAYS[(day + ahead) % 7])


def _verdicts() -> list[Item]:
    ending = "What follows about the claim? Answer A, B or C."
    return [choice_in_order(text, VERDICTS, right, ending) for text, right in SYLLOGISMS]


def templates() -> list[Template]:
    """The 24 logic templates."""
    yes_no = [opening(f"{text} Begin with yes or no.", right) for text, right in SIMPLE_CLAIMS]
    conclusions = [(f"{text} What must be true?", right, wrong) for text, right, wrong in CONDITIONALS]
    return [
        easy("sequences", drawn(_arithmetic_sequence, 6)),
        easy("odd-one-out", choices("Answer with the letter only.", ODD_ONES)),
        easy("ordering", drawn(_compare_two)),
        easy("deduction", listed(yes_no)),
        easy("calendar", drawn(_yesterday)),
        easy("analogy", words("Reply with one word.", ANALOGIES)),
        easy("sequences", drawn(_tr_sequence), "tr"),
        easy("ordering", drawn(_tr_compare, 4), "tr"),
        medium("ordering", drawn(_order_three)),
        medium("sequences", drawn(_doubling)),
        medium("deduction", listed(_verdicts())),
        medium("calendar", drawn(_days_ahead)),
        medium("sequences letters", drawn(_letter_sequence)),
        medium("counting", drawn(_queue)),
        medium("deduction", choices("Write only the letter.", conclusions)),
        medium("ordering", drawn(_tr_order), "tr"),
        hard("sequences", drawn(_growing, 6)),
        hard("calendar", drawn(_days_far)),
        hard("ordering", drawn(_order_four)),
        hard("combinatorics", drawn(_handshakes)),
        hard("family", words("Answer with one word.", FAMILY)),
        hard("deduction labels", drawn(_coin_boxes)),
        hard("constraints", drawn(_hidden_number)),
        hard("calendar", drawn(_tr_days, 4), "tr"),
    ]
