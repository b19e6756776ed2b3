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
from itertools import pairwise
from pathlib import Path

from knowledge.data_file import read_data
from knowledge.masking_form import line_end
from knowledge.masking_names import HARDWARE, OF_FIELD
from knowledge.masking_words import KNOWN_PUBLIC, MACHINE_WORD, is_identifier, is_password

WEIGHTS = Path(__file__).with_name("masking_weights.json")
EVIDENCE = Path(__file__).with_name("masking_evidence.yaml")
# Characters of a line before a candidate that are looked at, and behind it.
BEFORE, BEHIND = 120, 60
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
LOOKS_BESIDE_LINE = f"(?:{LOOKS}).{{0,60}}$"
TRIGGER = re.compile(f"(?i){LOOKS}")
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
    weights: Mapping[str, float]
    bias: float


@cache
def model() -> FittedWeights:
    read = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return FittedWeights({name: weight / 100 for name, weight in read["weights"].items()}, read["bias"] / 100)


FAR = (("P", "far"), ("K", "far_key"), ("L", "far_login"))
# Letters of the longest part of a name that may end in a telling word.
LONGEST_NAME = 24


@cache
def evidence() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in read_data(EVIDENCE)["words"].items()}


@cache
def forms() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(pattern)) for name, pattern in read_data(EVIDENCE)["forms"].items())


KINDS = (
    ("P", "password"),
    ("N", "number"),
    ("K", "key"),
    ("S", "secret"),
    ("T", "token"),
    ("W", "weak"),
    ("L", "login"),
)


def kind_of(part: str, known: Mapping[str, frozenset[str]]) -> str:
    """The kind of secret that a part of a name tells of, as one of TELLING; or nothing."""
    for kind, group in KINDS:
        ends = known.get(f"ends_{group}", ()) if len(part) < LONGEST_NAME else ()
        if part in known[group] or any(part.endswith(end) and len(part) > len(end) + 1 for end in ends):
            return kind
    return ""


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
        kind = kind_of(part, known)
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


LENGTHS = (*range(9), 12, 20, 39)


@lru_cache(4096)
def form(value: str) -> tuple[str, tuple[str, ...]]:
    """The name of a value's form, and what else is seen of it."""
    name = next((name for name, pattern in forms() if pattern.fullmatch(value)), "signs")
    digits, capitals = sum(map(str.isdigit, value)), sum(map(str.isupper, value))
    smalls = sum(map(str.islower, value))
    others = len(value) - digits - capitals - smalls
    kinds = ["a" if c.islower() else "A" if c.isupper() else "0" if c.isdigit() else "-" for c in value]
    changes = sum(one != other for one, other in pairwise(kinds)) / len(value)
    more = [
        f"len{next((most for most in LENGTHS if len(value) <= most), 99)}",
        f"kinds{(digits > 0) + (capitals > 0) + (smalls > 0) + (others > 0)}",
        f"change{int(changes * 5)}",
        f"distinct{int(4 * len(set(value)) / min(len(value), 24))}",
    ]
    if any(c in "!#$%^&*?" for c in value):
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


@lru_cache(16)
def read_line(line: str) -> tuple[list[tuple[int, int, str]], list[tuple[int, int]]]:
    """The words of a line with what each tells, and the candidates in it; it is looked at for several lines."""
    words = [(found.start(), found.end(), told_by(found[0])) for found in WORD.finditer(line)]
    return words, list(candidates(line, 0, len(line)))


def seen_in(text: str, start: int, end: int, above: str = "") -> Iterator[tuple[int, int, list[str]]]:
    """Each candidate of a part of a line, and what is seen of it. above: what the line before tells."""
    if DIRECTIVE.match(text, start, end):
        return
    line = text[start:end]
    words, alone = read_line(line)
    kinds = {tell[0] for _, _, tell in words if tell}
    telling = above or not kinds.isdisjoint(ANNOUNCING)
    begins = [one for one, _, _ in words]
    for one, other in alone:
        value = line[one:other]
        name, more = form(value)
        if (
            name in NEVER
            or line[other : other + 1] == "("
            or (len(value) < 4 and name != "lower")
            or not (telling or "sign" in more)
        ):
            continue
        at = bisect_left(begins, one)
        before = words[max(0, at - MOST_WORDS) : at]
        if before and before[-1][1] > one:  # a word that the candidate begins in
            before[-1] = (before[-1][0], one, told_by(line[before[-1][0] : one].rstrip(".-") or "x"))
        tells = [tell for first, _, tell in reversed(before) if one - first < BEFORE]
        behind = [tell for first, last, tell in words[at : at + 24] if first >= other and last < other + BEHIND][:6]
        if name in PLAIN and not above and not announced(tells, behind):
            continue
        if is_password(value) or (" " in value and value[0].isalpha()):
            closes = line[other : other + 1]
            yield start + one, start + other, features(line[:one], closes, tells, behind, name, more, above)


def announced(tells: list[str], behind: list[str]) -> bool:
    """Whether a word of a secret is near enough for a plain word to be one."""
    return any(tell and tell[0] in ANNOUNCING for tell in (*tells[:6], *behind[:3]))


def features(
    left: str, closes: str, tells: list[str], behind: list[str], name: str, more: tuple[str, ...], above: str
) -> list[str]:
    """What is seen of a candidate: its form, what stands between it and the words before it, what they tell."""
    signs = SIGNS.search(left, max(0, len(left) - 12))
    raw = signs[0] if signs else ""
    quoted = "q" if raw and raw[-1] in QUOTES else ""
    bare = raw.rstrip(QUOTES + "*")
    gap = "t" if "\t" in bare or "  " in bare else GAPS.get(bare.strip() or bare[:1], "~")
    group = "plain" if name in PLAIN else "num" if name in ("num", "nums", "unit") else "mixed"
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
    alone = not left.strip() and not closes.strip()
    if alone:
        seen += ["alone", f"alone/{name}"]
    if above:
        first = "alone" if alone else "later" if tells else "first"
        seen += [
            f"above:{above}",
            f"above:{above}/{name}",
            f"above:{above}/{first}",
            f"above/{first}/{name}",
            f"above:{above[:2]}/{first}/{group}",
            f"above:{above[-1]}/{first}/{group}",
        ]
    return seen


def score(seen: list[str], known: FittedWeights) -> float:
    weights = known.weights
    return known.bias + sum(weights.get(one, 0.0) for one in seen)


def tells_beside(line: str) -> str:
    """What a line tells of those beside it: the strongest kind of its last words, and how it ends; or nothing."""
    end = line.rstrip()[-1:]
    kinds = [told_by(word[0])[:1] for word in WORD.finditer(line[-BEFORE:])][-8:]
    strongest = min((kind for kind in kinds if kind and kind in "PNKST"), key=TELLING.index, default="")
    last = kinds[-1] if kinds and kinds[-1] in TELLING else ""
    return f"{strongest}{last}{end if end in ':=?>|{[(,-' else '~'}" if strongest else ""


def in_line(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The secrets in a part of a line."""
    return secrets_of(text, start, end, "")


def beside_line(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The secrets in the line before one and in those below it."""
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
    known = model()
    for one, other, seen in seen_in(text, start, end, above):
        if score(seen, known) > 0:
            yield one, other
