"""The words by which a secret is announced, and how a value is told from a word, a number or a variable."""

from __future__ import annotations

import math
import re
from collections import Counter
from operator import ne

NO_SECRET = re.compile(
    r"(?i)[\d.,]+(?:e[+-]?\d+)?[kmgtb]?i?b?|\w*(?:Error|Exception|Warning)|none|null|nil|true|false|yes"
    r"|no|on|off|auto|str|int|bool|bytes|string|any|dict|list|optional\S*|type\S*"
    r"|<[^>]*>|\([a-z]*\)?|\$[\w{(].*|\*+|\.+|-+|x{3,}|%\w|%\(\w+\)\w|\{\w*\}?|\{\{.*|\[\w*\]?|(?-i:[a-z_]+(?:\.[a-z_]+){1,2})|(?-i:[a-z_]+)(?:\.[a-z_]+)+(?:key|pass\w*|token|secret)|"
    r"(?:self|args|config|os|settings|secrets|env|process)\.\S*"
    r"|\w[\w.]*[\[(].*|\S*\*{3,}\S*|(?-i:iVBORw0KGg|/9j/4|R0lGOD|UklGR|JVBERi)\S*|\w*(?-i:EXAMPLE)\w*"
    r"|(?-i:TEXT|STRING|PATH|FILE|VALUE|NAME|USER)|your[-_ ]?\S*"
    r"|my[-_]?(?:token|key|password|secret)|\[?redacted\]?|hidden|example"
    r"|placeholder|changeme_?|todo|--?[a-z][\w,]{0,6}|(?-i:(?:Get|Read|New|Import|ConvertTo|ConvertFrom)-[A-Z]\w+)"
    r"|[a-z]+(?-i:Token|Key|Password|Secret)|(?:[a-z]+[-_])*(?:tokens?|keys?|passwords?|secrets?"
    r"|credentials?|passwd|auth)(?:[-_][a-z]+)?|torch\..*|</?\w+/?>|&\w+;|\\.*"
)
# What is said of a secret rather than being one.
# What was cut short, and a tag of YAML.
ELIDED = re.compile(r"^\S{0,6}(?:\.{3}|\u2026)|(?:\.{3}|\u2026)\S|^![a-z]+$")
OF_SECRETS = """
    a an the not no in on at of for to from by with and or as is was be been it its this that these which what
    when where how why who required missing wrong invalid expired incorrect correct empty set unset stored
    saved needed used sent given provided supplied specified found unknown default rejected accepted refused
    denied weak strong long short too also never always only still now being asked case encrypted hashed valid
    revoked disabled enabled optional mandatory unavailable available undefined malformed bad good ok okay
    fine right same different changed reset lost forgotten please enter type prompt input output
    authentication auth file files path paths name names value values field fields login user users username
    admin account manager management policy policies prompt prompts protected based hint check checks failed
    fails failure error errors mismatch retry attempts attempt length lengths less free safe store vault
    unexpected expected got contact see use using must should may can cannot could would will has have had
    does did do are were if then than but because per via into over under out up down again once here there
    just all some any each ready known public private secret secrets password passwords token tokens key keys
    id ids type types limit limits count counts number numbers size sizes position positions index sequence
    stream streams generation embedding embeddings leider falsch nicht kein keine keinen mein dein ungültig
    abgelaufen vergessen fehlt leer richtig nötig erforderlich hier bekannt zu und oder der die das ein eine
    incorrecte invalide expiré oublié vide requis nécessaire pas le les un une incorrecta inválida caducada obligatoire
    current actuelle actual
    olvidada vacía necesaria obligatoria no el los incorreta inválida expirada obrigatória errata sbagliata
    line host hostname port database db group role url endpoint
    scaduta vuota necessaria obbligatoria non il lo gli неверный обязателен
"""
SAYING = frozenset(OF_SECRETS.split())
TO_ASK = (
    "your my our for enter is was are please an wrong not no from same usual one which what see ask stored must file"
)
ASKING = frozenset(TO_ASK.split())
TO_JOIN = """
    the and for that with was are not but from have has this then when will into out our its you can your all any
    use used
"""
JOINING = frozenset(TO_JOIN.split())
UNIT = re.compile(r"(?i)[\d.,:/+-]+\s?(?:[kmgtpx%]i?b?|[a-zµ]{1,4})?(?:/[a-z]+)?")
PATHLIKE = re.compile(
    r"(?:[~.]{0,2}/|[A-Za-z]:\\|https?://|file:|s3:).*|[\w./-]+\.(?:pem|key|crt|cer|json|ya?ml|txt|py|sh"
    r"|toml|cfg|ini|env|pub|jks|p12|pfx|csv|log|pt|bin|safetensors|so|h|c|cpp|cu)"
)
LICENSE = re.compile(r"(?=.*\d)(?:[A-Z0-9]{4,6}-){2,7}[A-Z0-9]{4,6}")
KNOWN_PUBLIC = re.compile(
    r"(?i)0x[0-9a-f]{1,40}|[0-9a-f]{7,12}|(?:chatcmpl|cmpl|req|resp|msg|run|trace|span|thread|asst|batch|raysubmit|ftjob)[-_]\w+"
    r"|(?:sha\d+|md5|torch|nvcr|cuda|gpt|llama|bert|qwen|mistral|release|version|build|epoch|step"
    r"|layer|block|node|rank|gpu|cpu|job|python|commit)[-_.:/\d].*"
    r"|(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-(?:rsa|dss|ed25519|sha2-nistp\d+)\S*"
)

# A word between hyphens is shorter than a part of a key.
LONGEST_WORD = 12
# Characters of the longest part of a key that some makers write with hyphens in it.
SCRAMBLED_FROM = 12


def is_secret(value: str) -> bool:
    """Not plainly something else: a number (max_tokens: 4096), a type, a variable, a word that speaks of one."""
    bare = value.strip(".,;:!?)]}")
    return (
        len(bare) > 2
        and not NO_SECRET.fullmatch(bare)
        and not ELIDED.search(value)
        and bare.lower() not in SAYING
        and not PATHLIKE.fullmatch(bare)
        and not (bare.count("/") > 1 and is_identifier(bare))
    )


def is_password(value: str) -> bool:
    """The same for passwords, which may be digits alone."""
    return bool(re.fullmatch(r"\d{4,20}", value)) or is_secret(value)


def is_told(value: str) -> bool:
    """A value in a sentence: no plain word, but one with a digit, a sign or a capital in it."""
    bare = value.strip(".,;:!?)]}(").lstrip("=")
    if not is_secret(bare) or len(bare) < 4 or UNIT.fullmatch(bare):
        return False
    return bool(
        re.search(r"\d|[!@#$%^&*+=~]|.[_-].|[a-z][A-Z]", bare) and re.search(r"[^\W\d_]", bare)
    ) and not is_identifier(bare)


def is_given(value: str) -> bool:
    """A value that a command takes as a password: also two words and a dot, which elsewhere are a module."""
    return is_secret(value) or bool(re.fullmatch(r"[a-z]{3,}\.[a-z]{3,}", value))


def is_typed(value: str) -> bool:
    """A password in a command that is typed: also three words and dots, which in code are a module's."""
    return is_given(value) or bool(re.fullmatch(r"[a-z]{2,}(?:\.[a-z]{2,}){2,3}", value))


def is_made(value: str) -> bool:
    """No example of a maker's key, nor a name that begins as one: sk-xxxxxxxx, AKIA...EXAMPLE, sk-learn-pipeline-v3."""
    words = value.startswith("sk-") and value.islower() and is_identifier(value)
    return not (
        re.search(r"(.)\1{6}|EXAMPLE|\*{3}", value) or (words and max(map(len, value.split("-"))) < LONGEST_WORD)
    )


def is_token(value: str) -> bool:
    """Of a token: with digits, or long and in both cases; not a word of a sentence or of a vocabulary."""
    if not is_secret(value) or len(value) < 6 or UNIT.fullmatch(value) or is_identifier(value.replace("-", "")):
        return False
    return bool(re.search(r"\d", value)) or (len(value) > 11 and value.lower() != value != value.upper())


def is_random(value: str) -> bool:
    """No word, name, path, version or number: letters and digits without an order, as only a machine writes them."""
    bare = value.strip(".,;:!?)]}(")
    if not is_secret(bare) or UNIT.fullmatch(bare) or is_identifier(bare):
        return False
    letters, digits = sum(map(str.isalpha, bare)), sum(map(str.isdigit, bare))
    if not (letters and digits) or len(bare) < 5 or KNOWN_PUBLIC.fullmatch(bare):
        return False
    return len(bare) < 12 or entropy(bare) > 2.5


def is_identifier(value: str) -> bool:
    """model.layers.0.weight, gpu-a100-80: three words or more, joined by signs, with short numbers after them."""
    parts = re.split(r"[./:_-]", value)
    if len(parts) < 3 or LICENSE.fullmatch(value):
        return False
    return all(re.fullmatch(r"[A-Za-z]{2,}\d{0,4}|v?\d{1,4}[a-z]{0,2}|[A-Za-z]|", part) for part in parts)


def entropy(value: str) -> float:
    """Bits a character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


MACHINE_WORD = re.compile(
    r"(?i)(?:gpu|cpu|node|login|host|nid|dtn|jump|rack|server|cluster|cuda|gcc|python|torch|llama|qwen|version|port|user"
    r"|run|job|step|epoch|rank|line|task|slurm|test|train|model|data|ckpt|check|iter|seed|layer|block|size|batch|error"
    r"|code|http|utf|sha|base|ubuntu|centos|rocky|debian|window|node|team|group|proj|course|class|acc|part|file)"
)


class KindsOfLetters(dict[int, str]):
    """Each character's kind: a small letter, a capital, a digit or another; for str.translate."""

    def __missing__(self, code: int) -> str:
        one = chr(code)
        self[code] = "a" if one.islower() else "A" if one.isupper() else "0" if one.isdigit() else "-"
        return self[code]


LETTERS = KindsOfLetters()


def is_scrambled(value: str) -> bool:
    """Capitals, small letters and digits that change places all the time: no word, name or hash is written so.

    Words joined by hyphens do, too, where the joint counts: the longest part tells.
    """
    part = max(re.split(r"[-_]", value), key=len)
    kinds = part.translate(LETTERS)
    changes = sum(map(ne, kinds, kinds[1:]))
    if len(part) < SCRAMBLED_FROM or not {"a", "A", "0"} <= set(kinds) or changes <= 0.45 * len(part):
        return False
    if value[0] == "/" and re.fullmatch(r"(?:/[\w-]{1,24}){3,}", value):
        return False  # folders
    return not (value.startswith("AAAA") or KNOWN_PUBLIC.fullmatch(value) or NO_SECRET.fullmatch(value))


def is_phrase(value: str) -> bool:
    """Words that nobody says of a secret: none of them asks for one, or tells of one."""
    return ASKING.isdisjoint(value.split())


def is_seed(value: str) -> bool:
    """Twelve words or more, hardly one twice, and none that joins others to a sentence."""
    words = value.split()
    return len({*words}) > 10 and JOINING.isdisjoint(words)
