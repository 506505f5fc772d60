"""Questions, right options and wrong options of the multiple-choice domain."""

from __future__ import annotations

from .base import ChoiceRow

Rows = list[ChoiceRow]
Block = tuple[str, str, Rows]

EASY: list[Block] = [
    (
        "animals",
        "Answer with the letter only.",
        [
            ("Which of these is a bird?", "sparrow", ["shark", "rabbit", "frog"]),
            ("Which of these animals can fly?", "bat", ["cow", "pig", "goat"]),
            ("Which animal gives us wool?", "sheep", ["hen", "trout", "bee"]),
            ("Which animal lays eggs?", "duck", ["dog", "horse", "cat"]),
            ("Which animal lives in water all its life?", "tuna", ["lion", "camel", "eagle"]),
        ],
    ),
    (
        "objects",
        "Give the letter of the best option.",
        [
            ("What do you use to cut paper?", "scissors", ["spoon", "pillow", "cup"]),
            ("What do you use to sweep the floor?", "broom", ["kettle", "clock", "sock"]),
            ("What keeps you dry in the rain?", "umbrella", ["ladder", "fork", "mirror"]),
            ("What tells you the time?", "clock", ["shoe", "plate", "comb"]),
            ("What opens a locked door?", "key", ["leaf", "brush", "coin"]),
        ],
    ),
    (
        "food",
        "Write just the letter.",
        [
            ("Pick the fruit.", "pear", ["cheese", "bread", "rice"]),
            ("Pick the vegetable.", "cabbage", ["milk", "beef", "honey"]),
            ("Pick the drink.", "tea", ["carrot", "toast", "butter"]),
            ("Pick the food made from milk.", "cheese", ["rice", "olive", "ham"]),
            ("Pick the food that bees make.", "honey", ["flour", "salt", "pasta"]),
        ],
    ),
    (
        "opposites",
        "Reply with one letter.",
        [
            ('Choose the opposite of "fast".', "slow", ["quick", "red", "tall"]),
            ('Choose the opposite of "empty".', "full", ["blank", "light", "old"]),
            ('Choose the opposite of "happy".', "sad", ["glad", "round", "early"]),
            ('Choose the opposite of "begin".', "end", ["start", "open", "walk"]),
            ('Choose the opposite of "dark".', "bright", ["black", "heavy", "deep"]),
        ],
    ),
    (
        "body",
        "Letter, please.",
        [
            ("Which part of the body do we hear with?", "ears", ["knees", "hair", "elbows"]),
            ("Which part of the body do we smell with?", "nose", ["chin", "thumb", "back"]),
            ("Which part of the body pumps blood?", "heart", ["skin", "teeth", "nails"]),
            ("Which part of the body joins hand and arm?", "wrist", ["ankle", "neck", "hip"]),
            ("Which part of the body do we chew with?", "teeth", ["eyes", "toes", "lungs"]),
        ],
    ),
]

MEDIUM: list[Block] = [
    (
        "synonyms",
        "Answer by letter.",
        [
            ('Which word means nearly the same as "huge"?', "enormous", ["tiny", "gentle", "sour"]),
            ('Which word means nearly the same as "silent"?', "quiet", ["noisy", "sharp", "warm"]),
            ('Which word means nearly the same as "brave"?', "courageous", ["afraid", "sleepy", "polite"]),
            ('Which word means nearly the same as "repair"?', "fix", ["break", "borrow", "paint"]),
            ('Which word means nearly the same as "angry"?', "furious", ["calm", "hungry", "shy"]),
        ],
    ),
    (
        "spelling",
        "Tell the letter only.",
        [
            ("Find the correct spelling.", "necessary", ["neccessary", "necesary", "neccesary"]),
            ("Find the correct spelling.", "beautiful", ["beutiful", "beautifull", "beatiful"]),
            ("Find the correct spelling.", "tomorrow", ["tommorow", "tomorow", "tommorrow"]),
            ("Find the correct spelling.", "separate", ["seperate", "seperete", "separete"]),
            ("Find the correct spelling.", "believe", ["beleive", "belive", "beleeve"]),
        ],
    ),
    (
        "measuring",
        "Name the letter.",
        [
            ("In what unit is electric current measured?", "ampere", ["litre", "metre", "gram"]),
            ("In what unit is force measured?", "newton", ["hertz", "volt", "second"]),
            ("In what unit is frequency measured?", "hertz", ["joule", "kilogram", "kelvin"]),
            ("In what unit is energy measured?", "joule", ["ohm", "metre", "ampere"]),
            ("In what unit is electrical resistance measured?", "ohm", ["watt", "pascal", "mole"]),
        ],
    ),
    (
        "geography",
        "Put down one letter.",
        [
            ("Which ocean lies between Europe and North America?", "Atlantic", ["Indian", "Pacific", "Southern"]),
            ("Which is the largest ocean?", "Pacific", ["Arctic", "Atlantic", "Indian"]),
            ("Which country has the shape of a boot?", "Italy", ["Norway", "Chad", "Poland"]),
            ("Which desert covers much of North Africa?", "Sahara", ["Gobi", "Atacama", "Mojave"]),
            ("Which mountain is the highest above sea level?", "Everest", ["Mont Blanc", "Kilimanjaro", "Denali"]),
        ],
    ),
    (
        "science",
        "Choose a letter.",
        [
            ("Which gas do plants take in for photosynthesis?", "carbon dioxide", ["helium", "neon", "methane"]),
            ("What is frozen water called?", "ice", ["steam", "fog", "dew"]),
            ("Which force pulls a dropped stone down?", "gravity", ["friction", "magnetism", "tension"]),
            ("What does a thermometer measure?", "temperature", ["weight", "speed", "length"]),
            ("Which metal is liquid at room temperature?", "mercury", ["iron", "copper", "zinc"]),
        ],
    ),
    (
        "grammar",
        "The letter will do.",
        [
            ("Complete: She ___ to school every day.", "goes", ["go", "going", "gone"]),
            ("Complete: They ___ dinner when I called.", "were having", ["was having", "has", "having"]),
            ("Complete: This is the ___ film of all.", "best", ["better", "good", "well"]),
            ("Complete: I have lived here ___ ten years.", "for", ["since", "at", "by"]),
            ("Complete: There isn't ___ milk left.", "any", ["some", "many", "few"]),
        ],
    ),
]

HARD: list[Block] = [
    (
        "chemistry",
        "Mark it by its letter.",
        [
            ("What is the chemical formula of table salt?", "NaCl", ["KOH", "CO2", "NH3"]),
            ("Which pH value belongs to a strong acid?", "1", ["7", "9", "13"]),
            ("Which of these is a noble gas?", "argon", ["chlorine", "nitrogen", "oxygen"]),
            ("Which particle has a negative charge?", "electron", ["proton", "neutron", "alpha"]),
            ("Which gas is most plentiful in air?", "nitrogen", ["oxygen", "argon", "hydrogen"]),
        ],
    ),
    (
        "history",
        "Respond with a letter.",
        [
            ("Who was the first emperor of Rome?", "Augustus", ["Nero", "Trajan", "Hadrian"]),
            ("Which people built Machu Picchu?", "Inca", ["Maya", "Aztec", "Olmec"]),
            ("Which ship carried the Pilgrims to America in 1620?", "Mayflower", ["Beagle", "Titanic", "Victory"]),
            ("Who led India's salt march of 1930?", "Gandhi", ["Nehru", "Tagore", "Patel"]),
            ("In which city was Franz Ferdinand shot in 1914?", "Sarajevo", ["Vienna", "Belgrade", "Prague"]),
        ],
    ),
    (
        "vocabulary",
        "Indicate the letter.",
        [
            ('A "frugal" person is ...', "careful with money", ["very tall", "often late", "ill"]),
            ('A "candid" reply is ...', "honest", ["hidden", "long", "sweet"]),
            ('A "futile" attempt is ...', "without success", ["brave", "secret", "early"]),
            ('An "arid" region is ...', "very dry", ["crowded", "cold", "hilly"]),
            ('A "transient" feeling is ...', "short-lived", ["strong", "shared", "painful"]),
        ],
    ),
    (
        "computing",
        "Choose by letter.",
        [
            ("What is binary 1010 in decimal?", "10", ["8", "12", "20"]),
            ("Which structure removes the last added item first?", "stack", ["queue", "tree", "graph"]),
            ("What is hexadecimal 1F in decimal?", "31", ["16", "25", "115"]),
            ("What does binary search need?", "sorted data", ["a network", "a printer", "equal items"]),
            ("Which Python type maps keys to values?", "dict", ["list", "tuple", "set"]),
        ],
    ),
    (
        "biology",
        "End with the letter only.",
        [
            ("Which organelle releases most of a cell's energy?", "mitochondrion", ["nucleus", "vacuole", "cell wall"]),
            ("Which blood cells carry oxygen?", "red cells", ["white cells", "platelets", "nerve cells"]),
            ("Which organ makes insulin?", "pancreas", ["lung", "bladder", "spleen"]),
            ("Which molecule stores hereditary information?", "DNA", ["glucose", "keratin", "water"]),
            ("Where in a flower is pollen made?", "anther", ["sepal", "ovary", "stigma"]),
        ],
    ),
]

TURKISH: dict[str, Rows] = {
    "nature": [
        ("Aşağıdakilerden hangisi bir hayvandır?", "kedi", ["masa", "bardak", "kalem"]),
        ("Aşağıdakilerden hangisi bir meyvedir?", "elma", ["taş", "defter", "kapı"]),
        ("Aşağıdakilerden hangisi bir renktir?", "mavi", ["ekmek", "araba", "deniz"]),
        ("Aşağıdakilerden hangisi bir mevsimdir?", "kış", ["salı", "ocak", "akşam"]),
        ("Aşağıdakilerden hangisi uçabilir?", "serçe", ["inek", "balina", "koyun"]),
    ],
    "vocabulary": [
        ('"Hızlı" ile yakın anlamlı sözcük hangisidir?', "çabuk", ["yavaş", "soğuk", "boş"]),
        ('"Beyaz" ile yakın anlamlı sözcük hangisidir?', "ak", ["kara", "uzun", "dar"]),
        ('"Okul" ile yakın anlamlı sözcük hangisidir?', "mektep", ["bahçe", "sokak", "ev"]),
        ('"Cevap" ile yakın anlamlı sözcük hangisidir?', "yanıt", ["soru", "kitap", "ses"]),
    ],
    "general": [
        ("Bir deste kaç adettir?", "10", ["6", "12", "20"]),
        ("Güneş hangi yönden doğar?", "doğu", ["batı", "kuzey", "güney"]),
        ("Hangi kıta dünyanın en büyüğüdür?", "Asya", ["Avrupa", "Afrika", "Avustralya"]),
        ("İstiklal Marşı'nın şairi kimdir?", "Mehmet Akif Ersoy", ["Orhan Veli Kanık", "Yunus Emre", "Cemal Süreya"]),
        (
            "İstanbul Boğazı hangi iki denizi birleştirir?",
            "Karadeniz ve Marmara",
            ["Ege ve Akdeniz", "Marmara ve Ege", "Akdeniz ve Karadeniz"],
        ),
    ],
    "science": [
        ("Periyodik tabloda simgesi K olan element hangisidir?", "potasyum", ["kalsiyum", "karbon", "kobalt"]),
        ("İç açıları 50 ve 60 derece olan üçgenin üçüncü açısı kaç derecedir?", "70", ["60", "80", "110"]),
        ("Havada hangi gazın oranı en yüksektir?", "azot", ["oksijen", "argon", "karbondioksit"]),
        ("Kenarı 6 cm olan bir küpün hacmi kaç santimetreküptür?", "216", ["36", "72", "144"]),
    ],
}
