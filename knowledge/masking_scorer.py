"""How much speaks for a word being a secret: its own form, where it stands, what is said around it, added up.

One sum decides for every notation: `features` names what is seen of a candidate, masking_weights.json says what each of
that is worth. `python -m tests.knowledge.fit_secrets` fits the weights to the labelled texts; what a word tells stands
in masking_evidence.yaml.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import re2

from knowledge.data_file import read_data
from knowledge.masking_form import line_end
from knowledge.masking_names import HARDWARE, OF_FIELD
from knowledge.masking_words import KNOWN_PUBLIC, MACHINE_WORD, is_identifier, is_password

WEIGHTS = Path(__file__).with_name("masking_weights.json")
EVIDENCE = Path(__file__).with_name("masking_evidence.yaml")
# Characters of a line before a candidate that are looked at, and behind it.
BEFORE, BEHIND = 120, 60
# Characters at the end of a line in which a word must stand that tells of those beside it.
TAIL = 72
# Lines below one that tells of a secret in which it may stand, and how long such a line is.
REACH, LONGEST_LINE = 3, 200
# Words before a candidate that count.
MOST_WORDS = 9
TELLING = "PNKSTWL"
ANNOUNCING = frozenset("PNKSTWL-")
QUOTES = "\"'`“„«「"
# A line without any of these has no candidates.
LOOKS = (
    r"pass|pwd|\bpw|pw\b|_pw|mdp|kennw|contrase|\bclave|senha|parol|wachtwoord|\bww\b|парол|has[łl]o"
    r"|hes[lľ]|l[öo]senord|adgangskod|salasana|[şs]ifre|jelsz|κωδικ|slapta|lozink|geheim|losungs|pword"
    r"|mnemonic|authtok|key|schl(?:ü|ue)ssel|\bcl(?:é|e|ef)\b|llave|chave|chiave|klucz|sleutel|klíč|ключ"
    r"|psk|secret|segret|segred|credential|\bcreds?\b|_creds?|zugang|identifiant|credencial|credenzial"
    r"|token|jeton|_pat\b|\bpat\b|jwt|bearer|токен|cookie|auth|\bpin\b|otp|\bcode|código|codigo|codice"
    r"|\bsid\b|\bsig=|licen[cs]e|lizenz|dsn|community|webhook|recovery|backup|2fa|mfa|unlock|phrase|login"
    r"|log in|log on|\buser|root/|benutzer|kennung|usuario|utente|utilisateur|anmeld|einlog|melde|connecte"
    r"|acceder|bmc|vpn|wlan|denied|tried|\baccount|setuser|\becho\b|printf|expired|refused|reject"
    r"|unauthorized|forbidden|\b40[13]\b|\bsms\b|\btan\b|serial|activat|\bseed|console|idrac|wi-?fi"
    r"|[/ ]u(?:ser)?:|\bconnect|\bsudo|\btype|tippe|tapé|entro\b|answer|unseal|hmac|fernet"
    r"|[a-z]{3,}\d*[!#?*&%+$][a-z0-9]"
    r"|client\(|\s-[pPwa]\s?[\"']?\S|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|密钥|密鑰|私钥|私鑰|令牌|秘密|アクセスキー|トークン|토큰|验证码|账号|用户|登录"
)
TRIGGER = re2.compile(f"(?i){LOOKS}")
EAST = r"\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[^\W{EAST}](?:['\u2019]?[\w.-]*[^\W{EAST}])?|[{EAST}]+|(?<!\S)--?[A-Za-z]\b")
PART = re.compile(r"[A-Z]+(?![a-zà-ÿ])|[A-Z]?[a-zà-ÿ]+|[^\W\d_A-Za-zÀ-ÿ]+|[A-ZÀ-Ý][a-zà-ÿ]*")
# A candidate is what quotes hold, or a run of other signs; what is assigned within one is looked at by itself.
QUOTED = re.compile(r"([\"'`])((?:(?!\1)[^\n\\]|\\.){3,120}?)\1|[“„«「]\s?([^\n“”„«»「」]{3,120}?)\s?[”“»」]")
RUN = re.compile(r"[^\s\"'`,;|<>(){}\[\]\u3000-\u303f\uff00-\uff65\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af“”„«»]{3,400}")
CODE = re.compile(r"(?<![\w.:/-])\d{3,4}[ -]\d{3,4}(?![\w.:/-])")
INNER = re.compile(
    r"(?:[^\s=:/@%?&#+-][\w.\[\]*-]{0,60}?|--?[\w.-]{1,40}|-[A-Za-z])??(?::=|==|=>|->|[=:])(?=[^=:/\s])"
    r"|[A-Za-z][\w.\\-]{1,23}[/%](?=[^=:/\s])"
)
SHORT_OPTION = re.compile(r"-[A-Za-z](?=[^\s-])")
ADDRESS = re.compile(r"^[A-Za-z][\w+.-]{1,20}://")
CLOSING = ")]}.,;:!?*\\"
SIGNS = re.compile(r"[^\w]*$")
# What stands between a candidate and the word before it, by its signs; others count as `~`.
GAPS = {
    **{one: one for one in ("=", ":", ">", "|", ",", "(", "/", "@", "%", "-", "&", "$", "#", "+", "*", ".")},
    **{"": "0", " ": "_", "->": ">", "=>": ">", "→": ">", ">": "x", "\t": "t", ";": ",", "[": "(", "{": "(", "?": "&"},
    **{"<<<": "h", "://": "u", "\uff1a": ":", "\uff0c": ",", "--": "-", "「": "q", ":=": "=", "==": "=", "\\": "b"},
    **{"${": "$"},
}
# A job's options for its scheduler hold no secrets, but accounts and queues.
DIRECTIVE = re.compile(r"\s*#(?:SBATCH|PBS|BSUB|COBALT|flux:|PJM|\$)\s")
# Numbered as computers are: gpu01, frontier01234.
PADDED = re.compile(r"[a-z-]+0\d+")
# Forms that no password has; whatever is said beside them.
NEVER = frozenset(("address", "file", "var", "option", "assign", "call", "mail", "login", "date", "place"))
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
# Letters of the longest part of a name that may end in a telling word.
LONGEST_NAME = 24


@cache
def evidence() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in read_data(EVIDENCE)["words"].items()}


@cache
def forms() -> re.Pattern[str]:
    """All forms in one: the first that a value matches whole is the last group of the match."""
    return re.compile("|".join(f"(?P<_{name}>{pattern})" for name, pattern in read_data(EVIDENCE)["forms"].items()))


KINDS = {"P": "password", "N": "number", "K": "key", "S": "secret", "T": "token", "W": "weak", "L": "login"}


@cache
def kinds_of_words() -> Mapping[str, str]:
    return {word: kind for kind in reversed(KINDS) for word in evidence()[KINDS[kind]]}


@cache
def endings() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """What ends a telling name: its kind, the kinds that come before it, and the endings."""
    return tuple(
        (kind, "".join(KINDS)[: list(KINDS).index(kind) + 1], tuple(evidence()[f"ends_{KINDS[kind]}"])) for kind in "PK"
    )


@lru_cache(8192)
def kind_of(part: str) -> str:
    """The kind of secret that a part of a name tells of, as one of TELLING; or nothing."""
    whole = kinds_of_words().get(part, "")
    for kind, first, ends in endings():
        if whole and whole in first:
            return whole
        ended = part.endswith(ends) and len(part) < LONGEST_NAME
        if ended and any(part.endswith(end) and len(part) > len(end) + 1 for end in ends):
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
    if word[0] >= "\u3040":
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


class KindsOfLetters(dict[int, str]):
    """Each character's kind: a small letter, a capital, a digit or another; for str.translate."""

    def __missing__(self, code: int) -> str:
        one = chr(code)
        self[code] = "a" if one.islower() else "A" if one.isupper() else "0" if one.isdigit() else "-"
        return self[code]


LETTERS = KindsOfLetters()
CHANGE = re.compile(r"(.)(?!\1|$)")
SIGNED = frozenset("!#$%^&*?")
LENGTHS = (*range(9), 12, 20, 39)


@lru_cache(4096)
def form(value: str) -> tuple[str, tuple[str, ...]]:
    """The name of a value's form, and what else is seen of it."""
    matched = forms().fullmatch(value)
    name = (matched.lastgroup or "")[1:] if matched else "signs"
    kinds = value.translate(LETTERS)
    digits, capitals, smalls, others = map(kinds.count, "0Aa-")
    changes = len(CHANGE.findall(kinds)) / len(value)
    more = [
        f"len{next((most for most in LENGTHS if len(value) <= most), 99)}",
        f"kinds{(digits > 0) + (capitals > 0) + (smalls > 0) + (others > 0)}",
        f"change{int(changes * 5)}",
        f"distinct{int(4 * len(set(value)) / min(len(value), 24))}",
    ]
    if not SIGNED.isdisjoint(value):
        more.append("sign")
    if digits and smalls + capitals:
        more.append("letters+digits")
    if PADDED.fullmatch(value):
        more.append("padded")
    if MACHINE_WORD.match(value):
        more.append("machine")
    if KNOWN_PUBLIC.fullmatch(value):
        more.append("known")
    if is_identifier(value):
        more.append("identifier")
    if HARDWARE.fullmatch(value) or OF_FIELD.fullmatch(value):
        more.append("field")
    if name in ("lower", "Title"):
        more.append(f"={value.lower()}")
    if told_by(value):
        more.append(f"word:{told_by(value)[0]}")
    return name, tuple(more)


def candidates(part: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What could be a secret in a part of a line, each once."""
    seen = set()
    for found in QUOTED.finditer(part, start, end):
        group = 2 if found[2] is not None else 3
        if " " in found[group]:
            seen.add(found.span(group))
            yield found.span(group)
    for code in CODE.finditer(part, start, end):
        yield code.span()
    for run in RUN.finditer(part, start, end):
        for one in pieces(part, *run.span()):
            if one not in seen:
                seen.add(one)
                yield one


def pieces(part: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A run of signs as a whole, and what follows a name, a separator or a short option in it."""
    while end > start and part[end - 1] in CLOSING and part[end - 3 : end] != "...":
        end -= 1
    address = ADDRESS.match(part[start:end])
    if address:
        start += address.end()
        at = part.find("@", start, end)
        if at > 0 and part.find("/", start, at) < 0:
            colon = part.find(":", start, at)
            yield (colon + 1 if colon >= 0 else start), at
        for sign in re.finditer(r"[?&#][\w.-]{1,40}=([^&#]{3,})", part[start:end]):
            yield start + sign.start(1), start + sign.end(1)
        return
    if end - start > 2:
        yield start, end
    for _ in range(4):
        inner = INNER.match(part[start:end]) or SHORT_OPTION.match(part[start:end])
        if not inner or end - start - inner.end() < 3:
            return
        start += inner.end()
        yield start, end
        at = part.find("@", start, end)
        if at - start > 2:
            yield start, at
        and_ = part.find("&", start, end)
        if and_ - start > 2:
            yield start, and_


class Candidate(NamedTuple):
    """A word of a line that could be a secret, and what is seen of it wherever the line stands.

    own: what features() takes, and its worth. place: whether it is alone in its line, the first of it, or stands later.
    said: whether the line itself tells enough for it to be judged.
    """

    start: int
    end: int
    form: str
    place: str
    said: bool
    own: tuple[str, str, str, str, tuple[str, ...], tuple[str, ...], str, tuple[str, ...]]
    worth: int


@lru_cache(16)
def words_of(line: str) -> list[tuple[int, int, str]]:
    """The words of a line with what each tells; it is looked at for several lines."""
    return [(found.start(), found.end(), told_by(found[0])) for found in WORD.finditer(line)]


def announces(line: str) -> bool:
    """Whether a line has any word that tells of a secret."""
    return not {tell[0] for _, _, tell in words_of(line) if tell}.isdisjoint(ANNOUNCING)


@lru_cache(16)
def read_line(line: str) -> list[Candidate]:
    """What in a line could be a secret; it is read once for all lines that tell of it."""
    if DIRECTIVE.match(line):
        return []
    words, found = words_of(line), []
    telling = announces(line)
    begins = [one for one, _, _ in words]
    for one, other in candidates(line, 0, len(line)):
        value = line[one:other]
        name, more = form(value)
        closes = line[other : other + 1]
        if name in NEVER or closes == "(" or (len(value) < 4 and name != "lower"):
            continue
        at = bisect_left(begins, one)
        before = words[max(0, at - MOST_WORDS) : at]
        if before and before[-1][1] > one:  # a word that the candidate begins in
            before[-1] = (before[-1][0], one, told_by(line[before[-1][0] : one].rstrip(".-") or "x"))
        tells = tuple(tell for first, _, tell in reversed(before) if one - first < BEFORE)
        near = (tell for first, last, tell in words[at : at + 24] if first >= other and last < other + BEHIND)
        behind = tuple(islice(near, 6))
        said = (telling or "sign" in more) and (name not in PLAIN or announced(tells, behind))
        signs = SIGNS.search(line, max(0, one - 12), one)
        raw = signs[0] if signs else ""
        bare = raw.rstrip(QUOTES + "*")
        gap = "t" if "\t" in bare or "  " in bare else GAPS.get(bare.strip() or bare[:1], "~")
        place = "alone" if not (line[:one].strip() or closes.strip()) else "later" if tells else "first"
        quoted = "q" if raw and raw[-1] in QUOTES else ""
        own = (gap, quoted, closes, place, tells, behind, name, more)
        found.append(Candidate(one, other, name, place, said, own, worth(*own)))
    return found


def seen_in(text: str, start: int, end: int, above: str = "") -> Iterator[tuple[int, int, list[str]]]:
    """Each candidate of a part of a line, and what is seen of it. above: what the line before tells."""
    for one in read_line(text[start:end]):
        if (above or one.said) and may_be(text[start + one.start : start + one.end]):
            yield start + one.start, start + one.end, [*features(*one.own), *features_above(above, one.place, one.form)]


@lru_cache(256)
def may_be(value: str) -> bool:
    return is_password(value) or (" " in value and value[0].isalpha())


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
                *(f"{near}/{group}/{one}" for one in more if one.startswith(("len", "sign", "kinds"))),
            ]
        elif kind != found:
            seen += [f"also:{kind}", f"also:{kind}/{found}", f"also:{kind}/{group}"]
    if not found:
        seen += ["told:none", f"told:none/{name}", f"told:none/{gap}"]
        seen += ["told:none/sign"] if "sign" in more else []
    seen.append(f"closed:{closes if closes in ' $,;)@/:|&' else quoted or '~'}")
    after = next(((at, tell[0]) for at, tell in enumerate(behind) if tell and tell[0] in TELLING), None)
    if after:
        seen += [f"after:{after[1]}{min(after[0], 3)}", f"after:{after[1]}/{name}", f"after:{after[1]}/{group}/{found}"]
    if behind and behind[0][:1] in ("v", "p"):
        seen.append(f"then:{behind[0][0]}")
    if closes == "@":
        seen.append(f"userinfo/{name}")
    if place == "alone":
        seen += ["alone", f"alone/{name}"]
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
def worth(*own: Any) -> int:
    """The sum of what is seen of a candidate; the lines of a log have few that differ."""
    return model().bias + sum(map(weight, features(*own)))


@lru_cache(1 << 12)
def worth_above(above: str, place: str, name: str) -> int:
    return sum(map(weight, features_above(above, place, name)))


def weight(name: str) -> int:
    return model().weights.get(name, 0)


def tells_beside(line: str) -> str:
    """What a line tells of those beside it: the strongest kind of its last words, and how it ends; or nothing."""
    end = line.rstrip()[-1:]
    kinds = [tell[:1] for first, _, tell in words_of(line)[-8:] if first >= len(line) - BEFORE]
    strongest = min((kind for kind in kinds if kind and kind in "PNKST"), key=TELLING.index, default="")
    last = kinds[-1] if kinds and kinds[-1] in TELLING else ""
    return f"{strongest}{last}{end if end in ':=?>|{[(,-' else '~'}" if strongest else ""


def in_line(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The secrets in a part of a line."""
    line = text[start:end]
    if announces(line) or not SIGNED.isdisjoint(line):
        yield from secrets_of(text, start, end, "")


def beside_line(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The secrets in the line before one and in those below it."""
    if TRIGGER.search(text[max(start, end - TAIL) : end]):
        for one, other, above in lines_beside(text, start, end):
            yield from secrets_of(text, one, other, above)


def lines_beside(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """The lines around one that tells of a secret (from, to, what is told of it)."""
    told = tells_beside(text[start:end])
    if not told:
        return
    before = text.rfind("\n", max(0, start - 1 - LONGEST_LINE), max(0, start - 1)) + 1
    if 0 < start - 1 - before < LONGEST_LINE and (before or start - 1 < LONGEST_LINE):
        yield before, start - 1, f"<{told}"
    for number in range(REACH):
        start = end + 1
        if start >= len(text):
            return
        end = line_end(text, start)
        if end - start < LONGEST_LINE:
            yield start, end, f"{told}{number}"


def secrets_of(text: str, start: int, end: int, above: str) -> Iterator[tuple[int, int]]:
    for one, other, name, place, said, _, own in read_line(text[start:end]):
        sure = own + worth_above(above, place, name) > 0 if above else said and own > 0
        if sure and may_be(text[start + one : start + other]):
            yield start + one, start + other
