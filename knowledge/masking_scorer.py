"""How much speaks for a word being a secret: its own form, where it stands, what is said around it, added up.

One sum decides for every notation: `features` names what is seen of a candidate, masking_weights.json says what each of
that is worth. `python -m tests.knowledge.fit_secrets` fits the weights to the labelled texts; what a word tells stands
in masking_evidence.yaml.
"""

from __future__ import annotations

import json
import re
from binascii import a2b_base64
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from knowledge.data_file import read_data
from knowledge.masking_form import line_end
from knowledge.masking_names import HARDWARE, OF_FIELD
from knowledge.masking_words import KNOWN_PUBLIC, LETTERS, MACHINE_WORD, SCRAMBLED_FROM, is_given, is_identifier

WEIGHTS = Path(__file__).with_name("masking_weights.json")
EVIDENCE = Path(__file__).with_name("masking_evidence.yaml")
# Characters of a line before a candidate that are looked at, and behind it.
BEFORE, BEHIND = 120, 60
# Characters at the end of a line in which a word must stand that tells of those beside it.
TAIL, MOST_TOLD = 110, 16
# Lines below one that tells of a secret in which it may stand, and how long such a line is.
REACH, LONGEST_LINE = 3, 200
NOTHING: tuple[str, ...] = ()
# Characters of a candidate by which it is judged.
MOST_FORM = 400
# Lines of a list below one that ends in a colon, and what one of them is.
LISTED, LONE = 40, re.compile(r"[ \t]*(?:[-*•]|\d{1,2}[.)])?[ \t]*\S+[ \t\r]*")
# Words before a candidate that count.
MOST_WORDS, MOST_BEHIND = 9, 8
TELLING = "PNKSTWL"
ANNOUNCING = frozenset("PNKSTWL-")
QUOTES = frozenset("\"'`“„«「")
OPENING_SIGNS = "".join(QUOTES) + "*"
# What else than a word of a secret makes a line worth a look.
LOOKS_TOO = (
    r"auth|\bcode|c[oó]digo|codice|\bsid\b|\bsig\b|signature|licen[cs]e|lizenz|dsn|community|com2sec|webhook|recovery|backup"
    r"|reset|\broot\b"
    r"|2fa|mfa|unlock|phrase|login|log in|log on|\buser|root/|benutzer|kennung|usuario|utente|utilisateur|anmeld|einlog"
    r"|logge|melde|connecte|acceder|bmc|vpn|wlan|denied|tried|\baccount|setuser|\becho\b|printf|expired|refused|reject"
    r"|unauthorized|forbidden|\b40[13]\b|serial|activat|console|idrac|wi-?fi|[/ ]u(?:ser)?:|\bconnect|\bsudo|\btype"
    r"|tippe|tapé|entro\b|answer|unseal|hmac|fernet|[a-z]{3,}\d*[!#?*&%+$][a-z0-9]"
    r"|client\(|kinit|snmp|\s-[kKcWst]\s|\s-[pPwa]\s?[\"']?\S|账号|用户|登录"
)
EAST = r"\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[\u0900-\u0eff]+|[^\W{EAST}](?:['\u2019]?[\w.-]*[^\W{EAST}])?|[{EAST}]+|(?<!\S)--?[A-Za-z]\b")
PART = re.compile(r"[A-Z]+(?![a-zà-ÿ])|[A-Z]?[a-zà-ÿ]+|[^\W\d_A-Za-zÀ-ÿ]+|[A-ZÀ-Ý][a-zà-ÿ]*")
# A candidate is what quotes hold, or a run of other signs; what is assigned within one is looked at by itself.
QUOTED = re.compile(r"([\"'`])((?:(?!\1)[^\n\\]|\\.){3,120}?)\1|[“„«「]\s?([^\n“”„«»「」]{3,120}?)\s?[”“»」]")
RUN = re.compile(r"[^\s\"'`,;|<>(){}\[\]\u3000-\u303f\uff00-\uff65\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af“”„«»]{3,}")
CODE = re.compile(r"(?<![\w.:/-])(?:\d{3,4}[ -]\d{3,4}|\d\d \d\d \d\d)(?![\w:/-])")
# Words and a number joined by signs of equality, which assigns nothing.
CHAINED = re.compile(r"[A-Za-z]{3,15}=[A-Za-z]{3,15}=\d{1,4}(?![\w=])")
# What a name is given to the end of its line, brackets and signs of equality and all.
GIVEN = re.compile(
    r"[ \t]*(?:export |set )?[A-Za-z][\w.-]{2,40} ?[=:] ?"
    r"((?!\S*\$[({])[^\s\"'`=:][^\s\"'`]*[=()\[\]{}][^\s\"'`]*)[ \t]*$"
)
SETENV = re.compile(r"\bsetenv \w{1,40} [\"']$")
# What a prompt for a password asks for, and what is typed there, which is one as a whole.
ASKS = r"(?:password|passphrase|passwort|kennwort)[^:\n]{0,40}:\s"
PROMPTED = re.compile(rf"(?i)[^\n:]{{0,40}}?{ASKS}(\S{{3,30}}=\S{{1,30}})\s*$")
ASKED = re.compile(rf"(?i){ASKS}?$")
# An option for a password, with its value behind a blank.
OPTION_BEFORE, LONGEST_OPTION = re.compile(r"\s--?[\w-]{0,20}(?:password|passwd|passphrase) [\"']?$"), 50
# What quotes hold and no call looks like: it goes on behind its bracket.
ODD_CALL = re.compile(r"\w+\(\w*\)\w+")
# A command that prints a file: its lines follow.
SHOWS = re.compile(r"[^\n]{0,60}?[$#>%]\s?(?:sudo )?(?:cat|head|tail|more|less|type)\s(?:-\S+\s){0,2}\S+\s*$")
# Groups of four signs, as a key is shown that somebody shall type; some words behind a colon to the line's end.
FOURS = re.compile(r"\b[A-Za-z0-9]{4} [A-Za-z0-9]{4} [A-Za-z0-9]{4} [A-Za-z0-9]{4}\b")
GROUPS = re.compile(
    r"(?<![\w-])(?=[a-z ]*[0-9]|[A-Z ]*[0-9]|[a-z]{4}(?: [a-z]{4}){3}(?! ))"
    r"[A-Za-z0-9]{4}(?: [A-Za-z0-9]{4}){3,15}(?![\w-])"
)
SPOKEN = re.compile(r"[:=]\s([a-zà-ÿ]{3,15}(?: (?:[a-zà-ÿ]{3,15}|\d{1,4})){2,6})[ \t\r.]*$")
# A line of some small words and nothing else.
PHRASE = re.compile(r"[ \t>]*([a-zà-ÿ]{3,15}(?: [a-zà-ÿ]{3,15}){2,5})[ \t\r]*")
INNER = re.compile(
    r"(?:[^\s=:/@%?&#+-][\w.\[\]*-]{0,60}?|--?[\w.-]{1,40}|-[A-Za-z])??(?::=|==|=>|->|[=:])(?=[^=:/\s])"
    r"|[A-Za-z][\w.\\-]{1,23}[/%](?=[^=:/\s])"
)
SHORT_OPTION = re.compile(r"-[A-Za-z](?=[^\s-])")
ADDRESS = re.compile(r"[A-Za-z][\w+.-]{1,20}:?//")
CLOSING = ")]}.,;:!?*\\"
# What closes a name before the sign that parts it from its value.
CLOSED = " \"'`])}"
OF_SIGNS = re.compile(r"[^\w]*$")
# A run without any of these has no parts.
PARTING = frozenset("=:>/%-")
# What ends a run or parts it, but not what quotes hold.
PARTS_QUOTED = frozenset(" ,;|<>()") | PARTING
QUERY = re.compile(r"[?&#:/;][\w.-]{1,40}=([^&#]{3,})")
# What stands between a candidate and the word before it, by its signs; others count as `~`.
GAPS = {
    **{one: one for one in ("=", ":", ">", "|", ",", "(", "/", "@", "%", "-", "&", "$", "#", "+", "*", ".")},
    **{"": "0", " ": "_", "->": ">", "=>": ">", "→": ">", ">": "x", "\t": "t", ";": ",", "[": "(", "{": "(", "?": "&"},
    **{"<<<": "h", "://": "u", "\uff1a": ":", "\uff0c": ",", "--": "-", "「": "q", ":=": "=", "==": "=", "\\": "b"},
    **{"${": "$"},
}
# A job's options for its scheduler hold no secrets, but accounts and queues.
DIRECTIVE = re.compile(r"\s*(?:\d{1,4}\s|[+-])?\s*#(?:SBATCH|PBS|BSUB|COBALT|flux:|PJM|\$)\s")
# What stands before what somebody types, quotes or lists.
PROMPT = re.compile(
    r"(?:\[?[\w.-]{1,30}@[^\n$#%]{1,60}?[$#%]|\(\w+\)\s?[$#]?|[$#>%]|[\w-]{1,12}>|\d{1,2}[.)])?[ \t>*-]*[\"'`]?"
)
# Numbered as computers are: gpu01, frontier01234.
PADDED = re.compile(r"[a-z-]+0\d+")
# Forms that no password has; whatever is said beside them.
NEVER = frozenset(("address", "file", "var", "option", "assign", "call", "mail", "date", "place"))
# Those of letters and digits alone.
OF_WORDS = ("num", "unit", "hex40", "hex", "lower", "Title", "UPPER", "camel", "node", "Word1", "1word", "alnum")
PLAIN = frozenset(("lower", "Title", "UPPER", "snake", "kebab", "phrase", "dotted", "camel", "spaced"))


@dataclass(frozen=True, slots=True)
class FittedWeights:
    """In hundredths."""

    weights: Mapping[str, int]
    bias: int


@cache
def model() -> FittedWeights:
    return FittedWeights(**json.loads(WEIGHTS.read_text(encoding="utf-8")))


FAR = (("P", "far"), ("K", "far_key"), ("L", "far_login"))
# Endings from this length on tell behind one letter, too: `spassword`.
SHORTEST_CUT = 8
# Letters of the longest part of a name that may end in a telling word.
LONGEST_NAME = 24


@cache
def evidence() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in read_data(EVIDENCE)["words"].items()}


@cache
def forms(of_words: bool) -> re.Pattern[str]:
    """All forms in one: the first that a value matches whole is the last group of the match. of_words: those alone that
    a value of letters and digits can have."""
    every = read_data(EVIDENCE)["forms"].items()
    kept = [(name, pattern) for name, pattern in every if not of_words or name in OF_WORDS]
    return re.compile("|".join(f"(?P<_{name}>{pattern})" for name, pattern in kept))


@cache
def looks() -> str:
    """What a line with candidates holds: a word of a secret, whole where it is short, or what else is worth a look."""
    words = evidence()
    telling = {word for kind in "PNKST" for word in words[KINDS[kind]]} | words["far"] | words["far_key"]
    endings = "|".join(re.escape(end) + "(?:[^a-z]|$)" for end in words["ends_password"] | words["ends_key"])
    return "|".join(
        (
            *(re.escape(word) for word in telling if len(word) > 3 or word[0] >= "\u0900"),
            *(
                f"(?:[^a-z]|^){re.escape(word)}(?:[^a-z]|$)"
                for word in telling
                if len(word) <= 3 and word[0] < "\u0900"
            ),
            endings,
            LOOKS_TOO,
        )
    )


KINDS = {"P": "password", "N": "number", "K": "key", "S": "secret", "T": "token", "W": "weak", "L": "login"}


@cache
def kinds_of_words() -> Mapping[str, str]:
    return {word: kind for kind in reversed(KINDS) for word in evidence()[KINDS[kind]]}


@cache
def endings() -> tuple[tuple[str, ...], tuple[tuple[str, str, tuple[str, ...]], ...]]:
    """What ends a telling name, and the same by kinds, each with the kinds that come before it."""
    ends = {kind: tuple(evidence()[f"ends_{KINDS[kind]}"]) for kind in "PK"}
    every = "".join(KINDS)
    return ends["P"] + ends["K"], tuple((kind, every[: every.index(kind) + 1], ends[kind]) for kind in "PK")


def kind_of(part: str) -> str:
    """The kind of secret that a part of a name tells of, as one of TELLING; or nothing."""
    whole, (every, kinds) = kinds_of_words().get(part, ""), endings()
    if len(part) < LONGEST_NAME and part.endswith(every) and part not in evidence()["no_secret"]:
        for kind, first, ends in kinds:
            if whole and whole in first:
                return whole
            if any(part.endswith(end) and len(part) > len(end) + (len(end) < SHORTEST_CUT) for end in ends):
                return kind
    return whole


@lru_cache(8192)
def told_by(word: str) -> str:
    """What a word tells of what stands behind it: a kind of TELLING, with `m` where it is of another (`token_type`),
    `o` where it is another's (`pad_token`); `n` of a public thing, `v` a verb, `p` one of putting, `h` of a part."""
    known = evidence()
    if word[0] == "-":
        bare = word.lstrip("-")
        return f"-{bare}" if len(bare) == 1 else told_by(bare or "x")
    if word[0] >= "\u3040" or "\u0900" <= word[0] <= "\u0eff":
        far = (kind for kind, group in FAR if any(one in word for one in known[group]))
        return next(far, "v" if word[-1] in "是为為はは는은" else "")
    plain = word.lower()
    whole = plain.isalpha() and (plain == word or word.istitle())
    parts = [plain] if whole else [part.lower() for part in PART.findall(word)] or [plain]
    found = ""
    for at, part in enumerate(parts):
        kind = kind_of(part)
        if kind and (not found or TELLING.index(kind) <= TELLING.index(found[0])):
            of = "o" if at and parts[at - 1] in known["of"] else ""
            found = kind + ("m" if not known["head"].isdisjoint(parts[at + 1 :]) else "") + of
    if found:
        return found
    if plain in known["verb"]:
        return "v"
    if plain in known["put"]:
        return "p"
    if plain in known["public"] or parts[-1] in known["public"]:
        return "n"
    return "h" if plain in known["head"] else ""


def told_there(line: str, start: int, tell: str) -> str:
    """What a word tells where it stands: a `UserWarning` and a variable such as `$USER` announce no login."""
    if tell == "Lm" or (tell[:1] == "L" and line[max(0, start - 2) : start].rstrip("{")[-1:] == "$"):
        return ""
    return tell


@cache
def vocabulary() -> frozenset[str]:
    from knowledge.public import vocabulary as ours  # which reads this module's neighbours

    return ours()


CHANGE = re.compile(r"(.)(?!\1|$)")
SIGNED = frozenset("!#$%^&*?")
BASE64 = re.compile(r"(?=.*[A-Z0-9])(?=.*[a-z])[A-Za-z0-9+/]{8,}={0,2}")
LENGTHS = (*range(9), 12, 20, 39)
LONG = [f"len{next(most for most in LENGTHS if size <= most)}" for size in range(40)]


def is_packed(value: str) -> object:
    """Whether a value is readable text in base64."""
    if not BASE64.fullmatch(value) or len(value) % 4:
        return False
    text = a2b_base64(value)
    return text.isascii() and text.decode().strip().isprintable()


# Two letters beside each other: less is no word.
SYLLABLE = re.compile(r"[^\W\d_]{2}")
LONGEST_CHOSEN, MOST_CHANGES = 40, 9
JOINTS = "-_.+!#*=&~"
DIGIT_WITHIN = re.compile(r"(?:.*[-_.+!#])?[A-Za-z]{1,8}[01345789][a-z]{2,12}(?:[-_.+!#=&*].*|\d{0,4}[!?#*]?)")
CAPITALS_JOINED = re.compile(rf"[A-ZÀ-Ý][a-zà-ÿ]+(?:[{JOINTS}][A-Za-zà-ÿ]+)*[{JOINTS}][A-ZÀ-Ý][a-zà-ÿ]+[{JOINTS}]?\d*")
# How people make a password out of words: a digit for a letter, a sign between words, capitals, a number behind.
CHOSEN: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("digit-within", DIGIT_WITHIN.fullmatch),
    ("sign-within", re.compile(r"[^\W\d_]{2,}[!#*+&%?$=~^][^\W_]{1,}").search),
    ("sign-behind", re.compile(r"[\w+&.-]{4,}[!#*?%$+]{1,2}").fullmatch),
    ("capitals-joined", CAPITALS_JOINED.fullmatch),
    ("mixed-joints", lambda value: len({*value} & {*JOINTS}) > 1),
    ("foreign", lambda value: not any(part.lower() in vocabulary() for part in PART.findall(value))),
)
# What else may be seen of a value.
SEEN: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("padded", PADDED.fullmatch),
    ("machine", MACHINE_WORD.match),
    ("known", KNOWN_PUBLIC.fullmatch),
    ("identifier", is_identifier),
    ("packed", is_packed),
    ("field", re.compile(f"{HARDWARE.pattern}|{OF_FIELD.pattern.removeprefix('(?i)')}").fullmatch),
)


@lru_cache(1 << 13)
def form(value: str) -> tuple[str, tuple[str, ...]]:
    """The name of a value's form, and what else is seen of it."""
    matched = forms(value.isalnum()).fullmatch(value)
    name = (matched.lastgroup or "")[1:] if matched else "signs"
    kinds = value.translate(LETTERS)
    size, several, changes = len(value), set(kinds), len(CHANGE.findall(kinds))
    more = [
        LONG[size] if size < len(LONG) else "len99",
        f"kinds{len(several)}",
        f"change{5 * changes // size}",
        f"distinct{4 * len(set(value)) // min(size, 24)}",
    ]
    if not SIGNED.isdisjoint(value):
        more.append("sign")
    if changes < MOST_CHANGES and size < LONGEST_CHOSEN and SYLLABLE.search(value):
        more += [f"chosen:{sign}" for sign, seen in CHOSEN if seen(value)]
    if "0" in several and len(several - {"0", "-"}):
        more.append("letters+digits")
    if size < SCRAMBLED_FROM or len(several) < 3 or name != "alnum":  # no word of a machine is written so
        more += [name for name, seen in SEEN if seen(value)]
    elif is_packed(value):
        more.append("packed")
    if name in ("lower", "Title"):
        more.append(f"={value.lower()}")
    if name in PLAIN and all(part.lower() in vocabulary() for part in PART.findall(value)):
        more.append("vocabulary")
    told = told_by(value)
    if told:
        more.append(f"word:{told[0]}")
    return name, tuple(more)


def candidates(line: str) -> Iterator[tuple[int, int]]:
    """What could be a secret in a line, each once."""
    seen = set()
    for found in QUOTED.finditer(line) if not QUOTES.isdisjoint(line) else ():
        group = 2 if found[2] is not None else 3
        if not PARTS_QUOTED.isdisjoint(found[group]):
            begin, end = found.span(group)
            inner = INNER.match(line, begin, end)
            parted = inner.end() if inner and line[inner.end() - 1] == "=" else begin
            for first in {begin, parted} if is_quoted_value(line, begin) else {parted}:
                seen.add((first, end))
                yield first, end
    for code in CODE.finditer(line):
        yield code.span()
    if FOURS.search(line):
        for groups in GROUPS.finditer(line):
            yield groups.start() + 5 * (groups[0][:4].lower() in vocabulary()), groups.end()
    spoken = SPOKEN.search(line) if line.rstrip(" \t\r.")[-1:].isalnum() and (": " in line or "= " in line) else None
    phrase = PHRASE.fullmatch(line, 0, min(len(line), LONGEST_LINE))
    yield from (one.span(1) for one in (spoken, phrase) if one)
    if "=" in line:
        yield from joined_by_equals(line)
    for run in RUN.finditer(line):
        start, end = run.span()
        parted = not PARTING.isdisjoint(run[0])
        for one in pieces(line, start, end) if parted else whole(line, start, end):
            if one not in seen:
                seen.add(one)
                yield one


def is_quoted_value(line: str, start: int) -> bool:
    """Whether what quotes hold is given to a name, and is its value as a whole."""
    return line[max(0, start - 2) : start - 1] == "=" or SETENV.search(line, max(0, start - 60), start) is not None


def joined_by_equals(line: str) -> Iterator[tuple[int, int]]:
    """What looks as if it assigned or called something and does not."""
    for chained in CHAINED.finditer(line) if line.count("=") > 1 else ():
        if not line[max(0, chained.start() - 1) : chained.start()].strip(" \"'") and is_foreign(chained[0]):
            yield chained.span()
    if ": " in line and (prompted := PROMPTED.match(line)):
        yield prompted.span(1)
    if given := GIVEN.match(line):
        yield given.span(1)


def whole(line: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A run of signs without those that open or close what stands around it."""
    while line.startswith("**", start, end):  # bold text of Markdown
        start += 2
    while end > start and line[end - 1] in CLOSING and line[end - 3 : end] != "...":
        end -= 1
    if end - start > 2:
        yield start, end


def pieces(line: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A run of signs as a whole, and what follows a name, a separator or a short option in it."""
    for begin, last in whole(line, start, end):
        if line.find("=", begin, last) > 0:
            yield from (sign.span(1) for sign in QUERY.finditer(line, begin, last))
        address = ADDRESS.match(line, begin, last)
        if address:
            at = line.find("@", address.end(), last)
            if at > 0 and line.find("/", address.end(), at) < 0:
                yield line.find(":", address.end(), at) + 1 or address.end(), at
            return
        for _ in range(5):
            inner = INNER.match(line, begin, last) or SHORT_OPTION.match(line, begin, last)
            if not inner or line[inner.end() - 1] != "=":  # an assignment is none as a whole
                yield begin, last
            if not inner or last - inner.end() < 3:
                return
            begin = inner.end()
            yield from ((begin, at) for at in (line.find(one, begin, last) for one in "@&") if at - begin > 2)


class Candidate(NamedTuple):
    """A word of a line that could be a secret, and what is seen of it wherever the line stands.

    own: what features() takes, and its worth. place: whether it is alone in its line, the first of it, stands later, or
    is given to an option that tells of no secret.
    said: whether the line itself tells enough for it to be judged. assigned: it is given to a password's name, and
    therefore one.
    """

    start: int
    end: int
    form: str
    place: str
    said: bool
    assigned: bool
    own: tuple[str, str, str, str, tuple[str, ...], tuple[str, ...], str, tuple[str, ...]]


class ReadLine(NamedTuple):
    """What could be a secret in a line, and what the line tells of those beside it: the strongest kind of its last
    words, and how it ends; or nothing."""

    candidates: tuple[Candidate, ...]
    told: str


@lru_cache(1 << 10)
def read_line(line: str) -> ReadLine:
    """A line read once for all lines that tell of it."""
    words = [(*found.span(), told_by(found[0])) for found in WORD.finditer(line)]
    if any(tell[:1] == "L" for _, _, tell in words):
        words = [(start, end, told_there(line, start, tell)) for start, end, tell in words]
    return ReadLine(tuple(candidates_of(line, words)), tells_beside(line, words))


def candidates_of(line: str, words: list[tuple[int, int, str]]) -> Iterator[Candidate]:
    """What in a line could be a secret, with what is seen of it. words: from, to, what each tells."""
    telling = not {tell[0] for _, _, tell in words if tell}.isdisjoint(ANNOUNCING)
    begins, names = [one for one, _, _ in words], kinds_of_words()
    directive, begun = DIRECTIVE.match(line), PROMPT.match(line).end()  # type: ignore[union-attr]
    for one, other in candidates(line):
        value = line[one:other]
        name, more = form(value[:MOST_FORM])
        name, closes = form_there(line, one, other, name), closing(line, other)
        if name in NEVER or closes == "(" or value.lower() in names or (other - one < 4 and name != "lower"):
            continue
        at = bisect_left(begins, one)
        before = words[max(0, at - MOST_WORDS) : at]
        raw = line[max(before[-1][1] if before else 0, one - 12) : one]
        if before and before[-1][1] > one:  # a word that the candidate begins in
            first = before[-1][0]
            raw = OF_SIGNS.search(line, max(first, one - 12), one)[0]  # type: ignore[index]
            before[-1] = (first, one, told_by(line[first:one].rstrip(".-") or "x"))
        tells = tuple([tell for first, _, tell in reversed(before) if one - first < BEFORE])
        near = words[at : at + MOST_BEHIND]
        behind = tuple([tell for first, last, tell in near if first >= other and last < other + BEHIND])
        said = (telling or "sign" in more) and (name not in PLAIN or announced(tells, behind))
        bare = raw.rstrip()
        opened = bare[-1:] if bare and bare[-1] in OPENING_SIGNS else ""
        bare = bare.rstrip(OPENING_SIGNS) if opened else raw
        gap = "t" if "\t" in bare or "  " in bare else GAPS.get(bare.strip(CLOSED) or bare[:1], "~")
        alone = one <= begun and not line[other:].strip(" \t\r")
        place = "alone" if alone else "later" if tells else "first"
        if gap in "_=" and before and not before[-1][2] and line[before[-1][0] - 2 : before[-1][0]] == "--":
            place = "optioned"
        place = "directive" if directive else place
        quoted = "q" if opened and opened in QUOTES else ""
        own = (gap, quoted, closes, place, tells, behind, name, more)
        assigned = False
        if tells[:1] == ("P",):
            if gap == "_":
                assigned = OPTION_BEFORE.search(line, max(0, one - LONGEST_OPTION), one) is not None
            elif gap == "=":
                assigned = name not in PLAIN or bare.endswith("=") or bool(quoted)
            else:
                assigned = gap == ":" and bool(quoted) and name not in PLAIN
        yield Candidate(one, other, name, place, said, assigned, own)


def form_there(line: str, start: int, end: int, name: str) -> str:
    """The form of a value where it stands: what a name is given in quotes, or what is typed at a prompt, assigns and
    calls nothing."""
    value = line[start:end]
    if value.count("=") > 1 and CHAINED.fullmatch(value) and is_foreign(value):
        return "tokenlike"
    if name not in ("assign", "call"):
        return name
    whole_value = GIVEN.match(line)
    given = is_quoted_value(line, start) and line[end : end + 1] in QUOTES
    given = given or (whole_value is not None and whole_value.span(1) == (start, end))
    return "signs" if given or ASKED.search(line, 0, start) else name


def closing(line: str, end: int) -> str:
    """The sign behind a value; `=` where the value is the name of what follows."""
    named = line.startswith((" =", " :"), end) and not line.startswith((" ==", " :-"), end)
    return "=" if named else line[end : end + 1]


@lru_cache(1 << 12)
def may_be(value: str) -> bool:
    several = " " in value and (value[0].isalpha() or GROUPS.fullmatch(value) is not None)
    return value.isdigit() or is_given(value) or several


def is_foreign(value: str) -> bool:
    """Words joined by signs, none of which our own pages say: no attribute of a module, no option of a program."""
    parts = [part.lower() for part in PART.findall(value)]
    return len(parts) > 1 and len(min(parts, key=len)) > 1 and not (told_by(value) or vocabulary().intersection(parts))


def announced(tells: tuple[str, ...], behind: tuple[str, ...]) -> bool:
    """Whether a word of a secret is near enough for a plain word to be one."""
    return any(tell and tell[0] in ANNOUNCING for tell in (*tells[:6], *behind[:3]))


def group_of(name: str) -> str:
    return "plain" if name in PLAIN else "num" if name in ("num", "nums", "unit") else "mixed"


def features(
    gap: str,
    quoted: str,
    closes: str,
    place: str,
    tells: tuple[str, ...],
    behind: tuple[str, ...],
    name: str,
    more: tuple[str, ...],
) -> list[str]:
    """What is seen of a candidate: its form, what stands between it and the words before it, what they tell."""
    group = group_of(name)
    seen = [f"form:{name}", f"gap:{gap}{quoted}", f"form:{name}/gap:{gap}{quoted}", *(f"is:{one}" for one in more)]
    how = found = ""
    for at, tell in enumerate(tells):
        kind = tell[:1]
        if not kind:
            continue
        if kind in "vp":
            how += "" if found or kind in how else kind
        elif kind == "n":
            if at < 2 and not found:
                seen += [f"public{at}", f"public{at}/{name}"]
        elif kind == "-":
            if at == 0:
                seen += [f"opt:{tell}", f"opt:{tell}/{name}", f"opt:{tell}/{group}"]
            elif at < 4:
                seen.append(f"opt-before:{tell}")
        elif kind == "h":
            if at < 2 and not found:
                seen.append(f"head{at}")
        elif not found:
            near = at if at < 3 else 4 if at < 5 else 8
            found = kind
            seen += [
                f"{tell}{near}",
                f"{tell}{near}/{gap}",
                f"{tell}/{name}",
                f"{kind}{near}/{group}/{gap}{quoted}",
                f"{kind}{near}/{group}/{how}",
                f"{near}/{group}/{gap}/{how}",
                f"{near}/{name}/{gap}",
                f"{kind}{near}/{name}/{gap}{quoted}",
                f"{kind}{near}/{gap}{quoted}/{closes}",
                *(f"{near}/{group}/{one}" for one in more if one.startswith(("len", "sign", "kinds"))),
                *(f"{kind}/{one}" for one in more if one.startswith("chosen")),
            ]
        elif kind != found:
            seen += [f"also:{kind}", f"also:{kind}/{found}", f"also:{kind}/{group}"]
    if not found:
        seen += ["told:none", f"told:none/{name}", f"told:none/{gap}"]
        seen += [f"told:none/{one}" for one in more if one == "sign" or one.startswith("chosen")]
    seen.append(f"closed:{closes if closes in ' $,;)@/:|&' else quoted or '~'}")
    after = next(((at, tell[0]) for at, tell in enumerate(behind) if tell and tell[0] in TELLING), None)
    if after and not (after[1] == "L" and group == "num"):  # a number is no password of the user behind it
        seen += [f"after:{after[1]}{min(after[0], 3)}", f"after:{after[1]}/{name}", f"after:{after[1]}/{group}/{found}"]
    if behind and behind[0][:1] in ("v", "p"):
        seen.append(f"then:{behind[0][0]}")
    if closes == "@":
        seen.append(f"userinfo/{name}")
    if place in ("alone", "directive", "optioned"):
        seen += [place, f"{place}/{name}"]
    chosen = [one for one in more if one.startswith("chosen:") and one != "chosen:foreign"]
    if chosen and "chosen:foreign" in more:
        seen += [f"{one}/foreign" for one in chosen]
    return seen


def features_above(above: str, place: str, name: str) -> list[str]:
    """What is seen of a candidate by a line beside its own that tells `above`."""
    group = group_of(name)
    return (
        [
            f"above:{above}",
            f"above:{above}/{name}",
            f"above:{above}/{place}",
            f"above/{place}/{name}",
            f"above:{above[:2]}/{place}/{group}",
            f"above:{above[-1]}/{place}/{group}",
        ]
        if above
        else []
    )


@lru_cache(1 << 14)
def worth(own: Any) -> int:
    """The sum of what is seen of a candidate; the lines of a log have few that differ."""
    return model().bias + sum(map(weight, features(*own)))


@lru_cache(1 << 12)
def worth_above(above: tuple[str, ...], place: str, name: str) -> int:
    """The most that one of the lines beside a candidate adds to its sum."""
    return max((sum(map(weight, features_above(told, place, name))) for told in above if told), default=-(1 << 30))


def weight(name: str) -> int:
    return model().weights.get(name, 0)


def tells_beside(line: str, words: list[tuple[int, int, str]]) -> str:
    """What a line tells of those beside it, by its last words."""
    kinds = [tell[:1] for first, _, tell in words[-MOST_TOLD:] if first >= len(line) - TAIL]
    strongest = min((kind for kind in kinds if kind and kind in TELLING), key=TELLING.index, default="")
    end = ":" if SHOWS.match(line) else line.rstrip()[-1:]
    if not strongest or strongest == "L" or (strongest == "W" and end != ":"):
        return ""
    last = kinds[-1] if kinds[-1] and kinds[-1] in TELLING else ""
    return f"{strongest}{last}{end if end in ':=?>|{[(,-' else '~'}"


def secrets(text: str, parts: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The secrets in these parts of lines, and in the lines beside those that tell of one."""
    for start, line, above in told_lines(text, parts):
        for one in read_line(line).candidates:
            own = worth(one.own)
            sure = "" in above and (one.assigned or (one.said and own > 0))
            sure = sure or own + worth_above(above, one.place, one.form) > 0
            value = line[one.start : one.end][:MOST_FORM]
            if sure and (may_be(value) or (one.assigned and (is_foreign(value) or ODD_CALL.fullmatch(value)))):
                yield start + one.start, start + one.end


def seen_in(text: str, parts: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, list[str]]]:
    """Each candidate that one of the lines beside it or its own lets be judged, and what is seen of it."""
    for start, line, above in told_lines(text, parts):
        for one in read_line(line).candidates:
            if may_be(line[one.start : one.end][:MOST_FORM]):
                for told in above:
                    if told or one.said:
                        seen = [*features(*one.own), *features_above(told, one.place, one.form)]
                        yield start + one.start, start + one.end, seen


def told_lines(text: str, parts: Iterable[tuple[int, int]]) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Each line in which a secret may stand, where it begins, and what is told of it: nothing by itself, the rest by
    the lines beside it."""
    told: dict[tuple[int, int], tuple[str, ...]] = {}
    for start, end in parts:
        told[start, end] = (*told.get((start, end), NOTHING), "")
        if tells := read_line(text[start:end]).told:
            names = told_beside(tells)
            for number, span in beside(text, start, end, ":" in tells):
                above = told.get(span, NOTHING)
                if names[number] not in above:
                    told[span] = (*above, names[number])
        while (first := next(iter(told)))[1] < start - 1 - LONGEST_LINE:  # no line reaches so far back
            yield first[0], text[slice(*first)], told.pop(first)
    for (start, end), above in told.items():
        yield start, text[start:end], above


@lru_cache(1 << 10)
def told_beside(tells: str) -> tuple[str, ...]:
    """What a line that tells so tells of those behind it by their number, and of the one before it as the last."""
    return (*(f"{tells}{number}" for number in range(REACH)), f"<{tells}")


def beside(text: str, start: int, end: int, heads: bool) -> Iterator[tuple[int, tuple[int, int]]]:
    """The short lines around one (from, to), with their number behind it; the one before it is -1. heads: whether it
    may stand above a list, whose lines all count."""
    before = text.rfind("\n", max(0, start - 1 - LONGEST_LINE), max(0, start - 1)) + 1
    if text[start - 1 : start] == "\n" and 0 < start - 1 - before < LONGEST_LINE and (before or start <= LONGEST_LINE):
        yield -1, (before, start - 1)
    for number in range(LISTED if heads else REACH):
        start = end + 1
        if start >= len(text) or text[end] != "\n":
            return
        end = line_end(text, start)
        if number >= REACH and not LONE.fullmatch(text, start, min(end, start + LONGEST_LINE)):
            return
        if end - start < LONGEST_LINE:
            yield min(number, REACH - 1), (start, end)
