"""Whether a value was said by the person: a number in digits or as a word, a time, a name, an amount of change."""

from __future__ import annotations

import re

from graph.conversing.numbers import COUNTED, TIME_UNITS, values_in

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: E501, SIM905
TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))  # noqa: SIM905
SPOKEN = (
    {word: at for at, word in enumerate(ONES)}
    | TENS
    | {"dozen": 12, "couple": 2, "pair": 2, "single": 1, "hundred": 100}
    | dict.fromkeys(("zwei", "deux", "dos", "due"), 2)
    | dict.fromkeys(("drei", "trois", "tres", "tre"), 3)
    | dict.fromkeys(("vier", "quatre", "cuatro", "quattro"), 4)
    | dict.fromkeys(("sechs", "seis", "sei"), 6)
    | dict.fromkeys(("acht", "huit", "ocho", "otto"), 8)
    | dict.fromkeys(("zwölf", "douze", "doce", "dodici"), 12)
    | dict.fromkeys(("sechzehn", "seize", "dieciséis", "sedici"), 16)
)
SPOKEN_TENS = re.compile(rf"\b({'|'.join(TENS)})[ -]({'|'.join(ONES[1:10])})\b")
SPELLED = re.compile(
    rf"\b(?P<word>{'|'.join(word for word, value in SPOKEN.items() if value > 1)})"
    rf"(?=[ -](?:{TIME_UNITS})\b|{COUNTED.pattern})",
    re.I,
)
# What an account is called.
OF_ACCOUNT = re.compile(
    r"\b(?:accounts?|projects?|allocations?|bank|grant|Konto|Projekt|Kontingent|comptes?|projet|cuenta|proyecto)\b",
    re.I,
)
CLOCK = re.compile(r"(\d+):(\d\d)(?::(\d\d))?")
# `A day`, `half an hour`: a number without a numeral.
SPOKEN_ONE = re.compile(r"\b(half )?an? (?=day|hour|week|night|node|gpu|card)", re.I)
# A change by an amount: the number that comes of it was not said, and yet is meant.
MORE = re.compile(
    r"\b(?:doubl\w*|twice|tripl\w*|quadrupl\w*|more|longer|bigger|larger|as (?:many|much)|max\w*|longest|most|all|whole"
    r"|fits?|times|extend|as before|same|back|add|plus|extra|another|overnight|weekend"
    r"|mehr|l[äa]ng(?:er|ste[nr]?)|h[öo]chst\w*|verdoppel\w*|verdreifach\w*|zus[äa]tzlich\w*|davantage|plus long\w*"
    r"|m[áa]s|m[áa]xim\w*|dobl\w*|pi[uù]|il massimo|massima|raddoppi\w*|dobr(?:o|ar|e))\b"
    r"|最[长大多久]|更[长多大]|加倍|翻倍|延长|增加|一样",
    re.I,
)
LESS = re.compile(
    r"\b(?:half|halve|less|fewer|shorter|smaller|min(?:imum)?|as before|same|back|minus|halbier\w*|weniger|k[üu]rzer"
    r"|moins|moitié|menos|mitad|meno|metà|metade)\b|一半|减半|最[短少小]|更[短少小]|减少|缩短",
    re.I,
)
HALF_MORE = re.compile(r"\b(\w+)(?: \w+)? and a half\b", re.I)


def is_said(value: str, words: str, *, grows: bool = True) -> bool:
    """Whether the value, or an amount of change in its direction, stands in the person's words."""
    amount = MORE if grows else LESS
    if found := CLOCK.fullmatch(value):
        hours, minutes = int(found[1]), int(found[2])
        numbers = numbers_in(words)
        parts = {hours, hours / 24, hours + minutes / 60, 60 * hours + minutes} - {0}
        return value in words or bool(parts & numbers) or bool(amount.search(words))
    if value.isdigit():
        return int(value) in numbers_in(words) or bool(amount.search(words))
    # `preemptable` orders a queue gpu-preempt: a long piece of its name begins a word.
    pieces = [rf"\b{piece}" for piece in re.findall(r"[a-z]{6,}", value.lower())]
    begun = re.search("|".join(pieces), words.lower()) if pieces else None
    return plain(value) in plain(words) or begun is not None or any(token in plain(value) for token in telling(words))


def telling(words: str) -> list[str]:
    """Words that may be a piece of a longer name: `h200` of gpuH200x8, `regular` of gpu_regular."""
    found = re.findall(r"[a-z0-9]+", words.lower())
    return [
        one for one in found if len(one) > 5 or (len(one) > 2 and re.search(r"[a-z]", one) and re.search(r"\d", one))
    ]


def plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def numbers_in(text: str) -> frozenset[float]:
    """Every number of the text: digits as any country writes them, number words, numbers with a unit at them (6h)."""
    text = SPOKEN_ONE.sub(lambda one: "0.5 " if one[1] else "1 ", text)
    found = set(values_in(text))
    found |= {float(SPOKEN[word]) for word in re.findall(r"[^\W\d_]+", text.lower()) if word in SPOKEN}
    found |= {one + 0.5 for word in HALF_MORE.findall(text) for one in numbers_in(word)}
    found |= {float(TENS[ten] + ONES.index(one)) for ten, one in SPOKEN_TENS.findall(text.lower())}
    return frozenset(found)


def in_digits(text: str) -> str:
    """The text with the number words that count something, or a length of time, in digits."""
    return SPELLED.sub(lambda found: str(SPOKEN[found["word"].lower()]), text)
