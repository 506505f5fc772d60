"""General knowledge with one undisputed short answer."""

from __future__ import annotations

from collections.abc import Iterable

from .base import Template, easy, hard, medium, numbers, words

CAPITALS = [("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Japan", "Tokyo"), ("Germany", "Berlin")]
MORE_CAPITALS = [
    ("Canada", "Ottawa"),
    ("Australia", "Canberra"),
    ("Egypt", "Cairo"),
    ("Norway", "Oslo"),
    ("Peru", "Lima"),
]
RARE_CAPITALS = [
    ("Mongolia", "Ulaanbaatar", "Ulan Bator"),
    ("New Zealand", "Wellington"),
    ("Slovenia", "Ljubljana"),
    ("Uruguay", "Montevideo"),
    ("Iceland", "Reykjavik", "Reykjavík"),
]
YOUNG = [("dog", "puppy", "pup"), ("cat", "kitten"), ("cow", "calf"), ("sheep", "lamb"), ("horse", "foal")]
OPPOSITES = [("hot", "cold"), ("big", "small", "little"), ("up", "down"), ("day", "night"), ("rich", "poor")]
SYMBOLS = [("Fe", "iron"), ("Na", "sodium"), ("Au", "gold"), ("Ag", "silver"), ("He", "helium")]
BOOKS = [
    ("Romeo and Juliet", "Shakespeare"),
    ("Pride and Prejudice", "Austen"),
    ("Animal Farm", "Orwell"),
    ("Don Quixote", "Cervantes"),
    ("War and Peace", "Tolstoy"),
]
MONEY = [
    ("Japan", "yen"),
    ("the United Kingdom", "pound", "pounds", "sterling"),
    ("India", "rupee", "rupees"),
    ("Mexico", "peso", "pesos"),
    ("Ireland", "euro", "euros"),
]
CONTINENTS = [
    ("Kenya", "Africa"),
    ("Argentina", "South America"),
    ("Vietnam", "Asia"),
    ("Portugal", "Europe"),
    ("Canada", "North America"),
]
LANGUAGES = [
    ("Lisbon", "Portuguese"),
    ("Vienna", "German"),
    ("Athens", "Greek"),
    ("Warsaw", "Polish"),
    ("Budapest", "Hungarian"),
]
ATOMS = [("carbon", 6), ("oxygen", 8), ("nitrogen", 7), ("sodium", 11), ("iron", 26)]
RIVERS = [("Cairo", "Nile"), ("London", "Thames"), ("Paris", "Seine"), ("Budapest", "Danube"), ("Rome", "Tiber")]
PAINTINGS = [
    ("the Mona Lisa", "Leonardo", "da Vinci"),
    ("The Starry Night", "van Gogh"),
    ("Guernica", "Picasso"),
    ("The Scream", "Munch"),
    ("the ceiling of the Sistine Chapel", "Michelangelo"),
]

COLOURS = [
    ("What colour is fresh snow?", "white"),
    ("What colour is the peel of a ripe banana?", "yellow"),
    ("What colour is healthy grass?", "green"),
    ("What colour is blood?", "red"),
    ("What colour is coal?", "black"),
]
CALENDAR = [
    ("Which day of the week follows Monday?", "Tuesday"),
    ("Which day of the week follows Friday?", "Saturday"),
    ("Which month follows March?", "April"),
    ("Which month follows November?", "December"),
    ("Which month follows June?", "July"),
]
COUNTS = [
    ("How many legs does a spider have?", 8),
    ("How many days are in one week?", 7),
    ("How many months make a year?", 12),
    ("How many wheels does a tricycle have?", 3),
    ("How many hours are in one day?", 24),
    ("How many sides does a square have?", 4),
]
PLANETS = [
    ("Which planet of our Solar System is called the Red Planet?", "Mars"),
    ("Which planet of our Solar System is the largest?", "Jupiter"),
    ("Which planet of our Solar System is nearest to the Sun?", "Mercury"),
    ("Which planet of our Solar System is the farthest from the Sun?", "Neptune"),
    ("Which planet of our Solar System do we live on?", "Earth"),
]
QUANTITIES = [
    ("At how many degrees Celsius does pure water boil at sea level?", 100),
    ("How many planets orbit the Sun, by today's official count?", 8),
    ("How many bones does a typical adult human skeleton have?", 206),
    ("How many teeth are in a full adult human set, wisdom teeth included?", 32),
    ("How many players of one football (soccer) team start a match?", 11),
]
YEARS = [
    ("In what year did the Second World War end?", 1945),
    ("In what year did people first walk on the Moon?", 1969),
    ("In what year did the Titanic sink?", 1912),
    ("In what year did the Berlin Wall come down?", 1989),
    ("In what year did the French Revolution begin?", 1789),
    ("In what year did Columbus first reach the Americas?", 1492),
]
SCIENTISTS = [
    ("Which scientist stated the law of universal gravitation?", "Newton"),
    ("Which scientist developed the general theory of relativity?", "Einstein"),
    ("Which scientist discovered penicillin in 1928?", "Fleming"),
    ("Which scientist published a Sun-centred model of the heavens in 1543?", "Copernicus"),
    ("Which scientist published a periodic table in 1869?", "Mendeleev", "Mendeleyev"),
]
TR_CAPITALS = [
    ("Türkiye'nin başkenti neresidir?", "Ankara"),
    ("Fransa'nın başkenti neresidir?", "Paris"),
    ("Almanya'nın başkenti neresidir?", "Berlin"),
    ("Rusya'nın başkenti neresidir?", "Moskova"),
    ("İngiltere'nin başkenti neresidir?", "Londra"),
]
TR_OPPOSITES = [
    ('"Sıcak" sözcüğünün zıt anlamlısı nedir?', "soğuk", "soguk"),
    ('"Büyük" sözcüğünün zıt anlamlısı nedir?', "küçük", "kucuk"),
    ('"Uzun" sözcüğünün zıt anlamlısı nedir?', "kısa", "kisa"),
    ('"Gece" sözcüğünün zıt anlamlısı nedir?', "gündüz", "gunduz"),
]
TR_PLACES = [
    ("Türkiye'nin nüfusu en kalabalık şehri hangisidir?", "İstanbul", "Istanbul"),
    ("Türkiye'nin en büyük gölü hangisidir?", "Van"),
    ("Türkiye'nin en yüksek dağı hangisidir?", "Ağrı", "Agri"),
    ("Mevlana Müzesi Türkiye'nin hangi şehrindedir?", "Konya"),
    ("Efes antik kenti Türkiye'nin hangi ilindedir?", "İzmir", "Izmir"),
]
TR_YEARS = [
    ("İstanbul hangi yılda fethedildi?", 1453),
    ("Türkiye Cumhuriyeti hangi yılda ilan edildi?", 1923),
    ("Türkiye Büyük Millet Meclisi hangi yılda açıldı?", 1920),
    ("Malazgirt Savaşı hangi yılda yapıldı?", 1071),
]


def _asked(question: str, rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [(question.format(row[0]), *row[1:]) for row in rows]


def _easy() -> list[Template]:
    return [
        easy("geography capitals", words("Answer with one word.", _asked("What is the capital of {}?", CAPITALS))),
        easy("colours", words("Reply with one word.", COLOURS)),
        easy("animals", words("Give one word.", _asked("What is a young {} called?", YOUNG))),
        easy("opposites", words("One word, please.", _asked('Say the opposite of the word "{}".', OPPOSITES))),
        easy("calendar", words("Write its name only.", CALENDAR)),
        easy("counting", numbers("Answer with the number only.", COUNTS)),
        easy("geography capitals", words("Tek kelimeyle yanıtla.", TR_CAPITALS), "tr"),
        easy("opposites", words("Yalnızca o sözcüğü yaz.", TR_OPPOSITES), "tr"),
    ]


def _medium() -> list[Template]:
    symbol = "Which chemical element has the symbol {}?"
    money = "Which currency do shops in {} use?"
    continent = "To which continent does {} belong?"
    return [
        medium(
            "geography capitals", words("Use a single word.", _asked("Name the capital city of {}.", MORE_CAPITALS))
        ),
        medium("chemistry", words("Answer with its English name.", _asked(symbol, SYMBOLS))),
        medium("astronomy", words("Just the name.", PLANETS)),
        medium("literature", words("The surname is enough.", _asked("Who wrote {}?", BOOKS))),
        medium("economy", words("Name only the currency.", _asked(money, MONEY))),
        medium("geography", words("Give its name only.", _asked(continent, CONTINENTS))),
        medium("science numbers", numbers("Reply with a number.", QUANTITIES)),
        medium("geography", words("Sadece adını yaz.", TR_PLACES), "tr"),
    ]


def _hard() -> list[Template]:
    language = "Take the country whose capital is {}. What is its official language?"
    atom = "What is the atomic number of {}?"
    river = "Which large river runs through the middle of {}?"
    capital = "{} is governed from which city?"
    return [
        hard("history years", numbers("Write the year in digits.", YEARS)),
        hard("geography capitals", words("Name that city only.", _asked(capital, RARE_CAPITALS))),
        hard("geography two-hops", words("One word will do.", _asked(language, LANGUAGES))),
        hard("science people", words("Give the surname.", SCIENTISTS)),
        hard("chemistry numbers", numbers("Digits only.", [(atom.format(name), value) for name, value in ATOMS])),
        hard("geography rivers", words("Answer by its name.", _asked(river, RIVERS))),
        hard("art", words("Tell the artist's name.", _asked("Who painted {}?", PAINTINGS))),
        hard("history years", numbers("Yılı rakamla yaz.", TR_YEARS), "tr"),
    ]


def templates() -> list[Template]:
    """The 24 fact templates."""
    return [*_easy(), *_medium(), *_hard()]
