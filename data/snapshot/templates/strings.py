"""Small operations on letters, words and sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .base import Item, Template, easy, exact, hard, letter, listed, medium, number, word

VOWELS = set("aeiou")
TR_VOWELS = set("aeıioöuü")
ORDINALS = {2: "second", 3: "third", 4: "fourth"}


def _each(text: str, build: Callable[..., Item], solve: Callable[[str], object], inputs: Sequence[str]) -> list[Item]:
    """One item per input: `text` asks about it and `solve` computes the answer."""
    return [build(text.format(value), solve(value)) for value in inputs]


def _vowels(text: str) -> int:
    return sum(char in VOWELS for char in text.lower())


def _tr_vowels(text: str) -> int:
    return sum(char in TR_VOWELS for char in text.lower())


def _next_letter(char: str) -> str:
    return chr(ord(char) + 1)


def _shifted(text: str) -> str:
    return "".join(_next_letter(char) for char in text)


def _swapped(text: str) -> str:
    return text[-1] + text[1:-1] + text[0]


def _initials(text: str) -> str:
    return "".join(part[0] for part in text.split())


def _plurals() -> list[Item]:
    rows = [("dog", "dogs"), ("box", "boxes"), ("tree", "trees"), ("baby", "babies"), ("bus", "buses")]
    return [word(f'Write the plural of "{one}". One word.', many) for one, many in rows]


def _compounds() -> list[Item]:
    rows = [("sun", "flower"), ("rain", "bow"), ("foot", "ball"), ("snow", "man"), ("book", "shop")]
    text = 'Join "{}" and "{}" without a space. Reply with the joined word.'
    return [word(text.format(*row), "".join(row)) for row in rows]


def _letter_counts() -> list[Item]:
    rows = [("a", "banana"), ("e", "elephant"), ("s", "grasses"), ("t", "letter"), ("p", "pepper")]
    text = 'How often does the letter "{}" occur in "{}"? Number only.'
    return [number(text.format(char, text_in), text_in.count(char)) for char, text_in in rows]


def _nth_letters() -> list[Item]:
    rows = [(3, "garden"), (2, "bottle"), (4, "window"), (3, "market"), (4, "orange")]
    text = 'Name the {} letter of "{}". A single letter, please.'
    return [letter(text.format(ORDINALS[place], name), name[place - 1]) for place, name in rows]


def _replacements() -> list[Item]:
    rows = [("cat", "a", "o"), ("pin", "i", "e"), ("bell", "e", "a"), ("lamp", "a", "u"), ("ship", "i", "o")]
    text = 'In "{}", change the letter {} to {}. Which word results? Write only that word.'
    return [word(text.format(*row), row[0].replace(row[1], row[2])) for row in rows]


def _easy() -> list[Template]:
    first = 'What is the first letter of the word "{}"? Answer with one letter.'
    last = 'Which letter does "{}" end with? Give the letter alone.'
    length = 'Count the letters in "{}". Answer with the number only.'
    after = "Which letter of the alphabet comes straight after {}? Reply with that letter."
    tr_length = '"{}" kelimesi kaç harflidir? Yalnızca sayıyı yaz.'
    tr_first = '"{}" sözcüğü hangi harfle başlar? Tek harf yaz.'
    return [
        easy(
            "letters first", listed(_each(first, letter, lambda w: w[0], ["table", "river", "cloud", "music", "horse"]))
        ),
        easy(
            "letters last", listed(_each(last, letter, lambda w: w[-1], ["bread", "chair", "ocean", "moon", "bridge"]))
        ),
        easy("length", listed(_each(length, number, len, ["cat", "lamp", "bread", "flower", "hello"]))),
        easy("plural", listed(_plurals())),
        easy("joining", listed(_compounds())),
        easy("alphabet", listed(_each(after, letter, _next_letter, list("CFLPSW")))),
        easy("length", listed(_each(tr_length, number, len, ["ev", "masa", "kitap", "bahçe", "pencere"])), "tr"),
        easy(
            "letters first", listed(_each(tr_first, letter, lambda w: w[0], ["kalem", "defter", "bulut", "yol"])), "tr"
        ),
    ]


def _medium() -> list[Template]:
    vowels = 'Count the vowels (a, e, i, o, u) of "{}". Write one number.'
    backwards = 'Spell "{}" backwards. Answer with the reversed letters only.'
    count = 'How many words are in this sentence: "{}" Reply with a number.'
    behead = 'Cross out the first letter of "{}" and write what remains, nothing else.'
    tr_backwards = '"{}" sözcüğünü tersten yaz. Yalnızca sonucu ver.'
    sentences = [
        "The dog sleeps.",
        "We like warm fresh bread.",
        "My little sister plays the piano well.",
        "Rain fell all day.",
        "They walked slowly along the old river path.",
    ]
    return [
        medium("counting letters", listed(_letter_counts())),
        medium(
            "counting vowels",
            listed(_each(vowels, number, _vowels, ["music", "orange", "planet", "education", "window"])),
        ),
        medium("letters position", listed(_nth_letters())),
        medium("reversal", listed(_each(backwards, word, lambda w: w[::-1], ["map", "fog", "lid", "sun", "tree"]))),
        medium("counting words", listed(_each(count, number, lambda s: len(s.split()), sentences))),
        medium("replacement", listed(_replacements())),
        medium("removal", listed(_each(behead, exact, lambda w: w[1:], ["plane", "clock", "stone", "bread", "swing"]))),
        medium(
            "reversal",
            listed(_each(tr_backwards, word, lambda w: w[::-1], ["masa", "kitap", "kalem", "deniz", "orman"])),
            "tr",
        ),
    ]


def _hard() -> list[Template]:
    mirror = 'Read the letters of "{}" from right to left and write them as one string.'
    second = 'Keep letters 1, 3, 5 and so on of "{}"; drop the others. Write the kept letters.'
    initials = "Put together the first letters of these words: {}. Write the word they form."
    shift = 'Replace every letter of "{}" by the next one in the alphabet. Give only the result.'
    ordered = 'Sort the letters of "{}" alphabetically. Output them without spaces.'
    different = 'How many different letters does "{}" have? Repeats count once. Number only.'
    swap = 'Let the first and the last letter of "{}" trade places. Write only the new string.'
    tr_vowels = '"{}" cümlesinde kaç ünlü (sesli) harf vardır? Sayıyla yanıtla.'
    phrases = [
        "red apples taste sweet",
        "big old red nuts",
        "many old ovens near",
        "some tall animals run",
        "frogs often run down",
        "cold autumn rain stops",
    ]
    tr_sentences = ["Kedi uyuyor", "Bugün hava çok güzel", "Annem ekmek aldı", "Okul yarın açılacak"]
    return [
        hard("initials", listed(_each(initials, word, _initials, phrases))),
        hard(
            "reversal",
            listed(_each(mirror, word, lambda w: w[::-1], ["blanket", "journey", "kitchen", "station", "morning"])),
        ),
        hard(
            "selection",
            listed(_each(second, word, lambda w: w[::2], ["planet", "bridge", "monkey", "captain", "picture"])),
        ),
        hard("shift", listed(_each(shift, word, _shifted, ["cat", "dog", "bird", "lamp", "home"]))),
        hard(
            "sorting",
            listed(_each(ordered, word, lambda w: "".join(sorted(w)), ["stone", "bread", "tiger", "cloud", "house"])),
        ),
        hard(
            "distinct letters",
            listed(
                _each(
                    different,
                    number,
                    lambda w: len(set(w)),
                    ["banana", "balloon", "committee", "mississippi", "pepper"],
                )
            ),
        ),
        hard("swap", listed(_each(swap, word, _swapped, ["bread", "garden", "plant", "silver", "doctor"]))),
        hard("counting vowels", listed(_each(tr_vowels, number, _tr_vowels, tr_sentences)), "tr"),
    ]


def templates() -> list[Template]:
    """The 24 string templates."""
    return [*_easy(), *_medium(), *_hard()]
