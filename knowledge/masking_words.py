"""The words by which a secret is announced, and how a value is told from a word, a number or a variable."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise

FIRST_LETTER = re.compile(r"(^|\||\(\?:)([a-z])(?![^\[\]]*\])")


def by_first_letter(names: str) -> str:
    """The same alternatives, for patterns that ignore case. Python tries each of them at each character unless its
    first sign is a set that does not depend on case: so written, it takes a third of the time.
    """
    return FIRST_LETTER.sub(lambda found: f"{found[1]}(?-i:[{found[2]}{found[2].upper()}])", names)


# In the languages that people write to us in. Short ones count as whole words (or at a capital) only.
PASSWORD_NAMES = by_first_letter(
    r"pass[-_ ]?(?:word|wd|phrase|code)|(?<![a-z])(?:pwd|pw|mdp|passw)"
    r"|(?-i:[a-z]Pass|(?<!BY)(?<!COM)(?<=[A-Z0-9_])PASS)(?![A-Za-z])"
    r"|(?<!forward)(?<!backward)(?<!first)(?<!second)(?<!one)(?<!two)(?<!multi)(?<!single)(?<!num)(?<!max)(?<!per)"
    r"(?<!last)[-_.]pass(?![a-z])|_pwd|userpass|dbpass"
    r"|requirepass|storepass|keypass|rootpw|bindpw"
    r"|passwort|kennwort|zugangscode|geheimnis|geheimwort|mot[ _]de[ _]passe|contrase(?:ñ|n)a|clave de acceso|senha"
    r"|palavra[- ](?:passe|chave)|parola (?:d'ordine|chiave)|wachtwoord|парол[ья]|密码|密碼|口令|パスワード|暗証番号"
    r"|비밀번호|암호"
    r"|has(?:ł|l)o|hes(?:l|ľ)o|l(?:ö|o)senord(?:et)?|passord(?:et)?|adgangskoden?|salasana(?:ni)?|(?:ş|s)ifrem?"
    r"|jelsz(?:ó|avam)|parol(?:ă|a mea)|κωδικ(?:ός|ό)"
)
KEY_NAMES = by_first_letter(
    r"(?:api|access|private|auth|account|license|licence|client|encryption|signing|shared|subscription|master|deploy"
    r"|storage|service|consumer|hmac|jwt|webhook|app|application|munge|admin|root|preshared"
    r"|authentication|openai|wandb)"
    r"[-_. ]?key(?:[-_ ]?id\b)?(?:[-_]?(?:data|b64|base64|id_secret))?|client-certificate-data|key"
    r"[-_]data|(?-i:[a-z])(?-i:Key)"
    r"|(?:api|access|auth|secret|personal|bot|hub|hf|wandb|github|session|refresh|bearer)[-_ ]token"
    r"|(?:authori[sz]ation|one-time|activation|device|pairing|invit(?:e|ation)) code"
    r"|api[- _]?(?:schl(?:ü|ue)ssel|secret)|zugriffsschl(?:ü|ue)ssel|cl(?:é|e) (?:api|secr(?:è|e)te|d'acc"
    r"(?:è|e)s|priv(?:é|e)e)"
    r"|clave (?:secreta|privada|api)|chave (?:secreta|de acesso|api|privada)|chiave (?:segreta|api|privata|di accesso)"
    r"|geheime[nrms]? schl(?:ü|ue)ssel|密钥|私钥|密鑰|私鑰|令牌|ключ api|api ключ|apiキー|秘密鍵|秘密キー|アクセスキー"
)
SECRET_NAMES = by_first_letter(
    r"secret(?:[-_ ]?(?:access)?[-_ ]?(?:key|token|value|string))?|credentials?(?:_(?:b64|base64|json))?"
    r"|connection[-_]?string"
    r"|client[-_]?secret"
)
# `pad_token: <pad>` is no secret, nor is `num_tokens`.
OF_TEXT = (
    *(
        "pad",
        "eos",
        "bos",
        "sep",
        "cls",
        "mask",
        "unk",
        "special",
        "end",
        "start",
        "stop",
        "image",
        "num",
        "max",
        "min",
    ),
    *("per", "next", "prev", "last", "first", "new", "input", "output", "prompt", "batch", "text", "audio", "video"),
    *(
        "total",
        "think",
        "tool",
        "begin",
        "prefix",
        "suffix",
        "middle",
        "unexpected",
        "invalid",
        "bad",
        "class",
        "space",
    ),
)
TOKEN_NAMES = (
    "(?=(?-i:[ajtAJT_тТト토]))"  # before the words that it may not follow: they are looked for at few places then
    + "".join(f"(?<!{word}[-_ ])(?<!{word})" for word in OF_TEXT)
    + by_first_letter(
        r"(?:token(?:[-_]?secret)?|(?-i:_PAT)(?![A-Za-z])"
        r"|authtoken|_authtoken|jeton(?: d'acc(?:è|e)s)?|токен|トークン|토큰)"
    )
)
WEAK_NAMES = by_first_letter(
    r"(?<![a-z])(?<!cache[-_ ])(?:pass|pin|key|auth|_auth|cookie"
    r"|session(?:[-_]?id)?(?![\"']?\s?[:=]\s?[\"']?[0-9a-f]{8}-[0-9a-f]{4}-)"
    r"|jwt|bearer|signature"
    r"|sig|clave|schl(?:ü|ue)ssel"
    r"|cl(?:é|e)|chave|chiave|ключ|creds?|id_rsa|tls\.key|tls\.crt|apikey|dsn)|(?<!cache)(?<!sort)(?<!primary)(?<!foreign)(?<!partition)[-_]key|[-_.]auth|"
    r"[-_]creds?|[-_]cookie|[-_]token"
)
NAMES = f"{PASSWORD_NAMES}|{KEY_NAMES}|{SECRET_NAMES}|{TOKEN_NAMES}"
IS = "is|should be|was|are|be|wäre|serait|sería|sarebbe|seria|ist|war|lautet"
IS += "|hei(?:ß|ss)t|sind|est|sera|sont|es|era|son|é|è|sono|=|:"
IS += "|\uff1a|は|是|为|為|는|은|es:"
# From a name to its value: the rest of the name, what closes it, a type, a separator; then a value, quoted or not.
SUFFIX = (
    r"(?:s|\d{1,3}|[-_](?:\d+|prod|dev|test|staging|old|new|value|text|plain|raw|b64|base64|string|env"
    r"|default|current|main|primary|secondary|live))?"
)
CLOSED = r"(?: here| below)?(?:\+\w{1,12})?[\"'\]\)}]{0,3}(?:\s?\([^()\n]{1,40}\))?[ \t.]{0,40}"
TYPED = r"(?::\s?[\w\[\]|., ]{1,40}?=\s?(?=[rbfu]?[\"']))"
# A bar only where it parts two words of a line, as in a table.
BAR = r"\|(?=\s{0,20}[^\s|]{1,200}\s{0,20}(?:\||$))"
SEPARATOR = rf"(?:{TYPED}|(?:=>|->|<-|→|:=|={{1,2}}|[:\uff1a\uff1d]|>(?!@)|{BAR})(?![=:/]))\*{{0,2}}\s{{0,3}}"
WRAPPED_IN = r"(?:\(\s?)?(?:\w{0,12}(?:Secret\w{0,6}|quote(?:_plus)?|b64decode|str|bytes)\(\s?)?"
QUOTED = WRAPPED_IN + r"(?:raw|[rbfu]{0,2})(?P<q>[\"'`])(?P<w>(?:(?!(?P=q))[^\n\\]|\\.){1,300}?)(?P=q)"
BARE = r"[\"'`]?(?P<v>(?:[^\s\"'`,;&|<>]+|[,;&|<>](?![\s,;&|<>\"']|$|[\w. -]{1,40}[=:]|/))+)"
# `<your api key>` is to be filled in; three quotes are Python's and TOML's.
GAP = r"&[\w-]+=|[\"'`]?<[^<>\n]{1,60}>(?=[\s\"'`,;)]|$)"
ASSIGNED = rf"{SUFFIX}{CLOSED}{SEPARATOR}(?!{GAP})(?:&\w{{1,20}} )?(?:\"\"(?=\")|''(?='))?(?:{QUOTED}|{BARE})"
# What may stand before a value in a sentence.
OPENING = r"(?:(?:now|then|still|just|dann|jetzt|ahora|adesso|agora)\s)?[\"'`*«“„「『]{0,2}\s?"

NO_SECRET = re.compile(
    r"(?i)[\d.,]+(?:e[+-]?\d+)?[kmgtb]?i?b?|\w*(?:Error|Exception|Warning)|none|null|nil|true|false|yes"
    r"|no|on|off|auto|str|int|bool|bytes|string|any|dict|list|optional\S*|type\S*"
    r"|<[^>]*>|\([a-z]*\)?|\$[\w{(].*|\*+|\.+|-+|x{3,}|%\w|%\(\w+\)\w|\{\w*\}?|\{\{.*|\[\w*\]?|[a-z_]+(?:\.[a-z_]+){1,2}|[a-z_]+(?:\.[a-z_]+)+(?:key|pass\w*|token|secret)|"
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
TO_ASK = "your my our for enter is was are please the a an of to in on file wrong not no"
ASKING = frozenset(TO_ASK.split())
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

WORDS = re.compile(r"[a-z]+\d{0,3}(?:[-_.][a-z]+\d{0,3})*")
GROUPS = re.compile(r"(?=.*\d)[a-z0-9]{4,8}(?:-[a-z0-9]{4,8})+")
CHOSEN = re.compile(r"[A-Za-z]{3,}(?:[-_.][A-Za-z]{3,}){1,4}[-_.]?\d{1,4}")
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


def is_said(value: str) -> bool:
    """A value after `is`, of a password: any word that is not said of one, such as `required`."""
    return is_password(value) and not re.search(r"(?i)(?:ed|ing|ly|able|ible)$", value.strip(".,;:!?)]}"))


def is_told(value: str) -> bool:
    """A value in a sentence: no plain word, but one with a digit, a sign or a capital in it."""
    bare = value.strip(".,;:!?)]}(").lstrip("=")
    if not is_secret(bare) or len(bare) < 4 or UNIT.fullmatch(bare):
        return False
    return bool(
        re.search(r"\d|[!@#$%^&*+=~]|.[_-].|[a-z][A-Z]", bare) and re.search(r"[^\W\d_]", bare)
    ) and not is_identifier(bare)


def is_chosen(value: str) -> bool:
    """A value in a sentence about a password, which people also make of words: purple-giraffe-88."""
    bare = value.strip(".,;:!?)]}(")
    return is_told(value) or bool(CHOSEN.fullmatch(bare))


def is_given(value: str) -> bool:
    """A value that a command takes as a password: also two words and a dot, which elsewhere are a module."""
    return is_secret(value) or bool(re.fullmatch(r"[a-z]{3,}\.[a-z]{3,}", value))


def is_made(value: str) -> bool:
    """No example of a maker's key: sk-xxxxxxxx, AKIA...EXAMPLE."""
    return not re.search(r"(.)\1{6}|EXAMPLE|\*{3}", value)


def is_keylike(value: str) -> bool:
    """In a list of secrets: what no word, name, path or number is, or a code of eight digits."""
    long = len(value) >= SCRAMBLED_FROM or GROUPS.fullmatch(value)
    return bool(re.fullmatch(r"\d{8}", value) or (long and is_random(value) and not WORDS.fullmatch(value)))


def is_login(value: str) -> bool:
    """`name:password` of an address, no `user:password` of a manual; or a key before it."""
    name, _, word = value.partition(":")
    return is_password(word) or is_random(name)


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


def is_mixed(value: str) -> bool:
    """Random, and no machine's name with a number: login1, gpu-17."""
    return is_random(value) and not re.fullmatch(r"[a-z-]+\d{1,4}", value.strip(".,;:!?)"))


# A word of one's own and a number: where people speak of a login, that is a password.
HUMAN = re.compile(r"[A-Za-zÀ-ÿ]{4,20}(?:[-_.][A-Za-zÀ-ÿ]{3,20}){0,3}[-_.#@!%$&*+]?\d{2,4}[!?x*#]{0,2}")
MACHINE_WORD = re.compile(
    r"(?i)(?:gpu|cpu|node|login|host|nid|dtn|jump|rack|server|cluster|cuda|gcc|python|torch|llama|qwen|version|port|user"
    r"|run|job|step|epoch|rank|line|task|slurm|test|train|model|data|ckpt|check|iter|seed|layer|block|size|batch|error"
    r"|code|http|utf|sha|base|ubuntu|centos|rocky|debian|window|node|team|group|proj|course|class|acc|part|file)"
)
# A host, a release, an option, a setting, a path: what a digit or a sign makes no password.
OF_MACHINES = re.compile(
    r"[a-z]+[-_]?\d+(?:[-_.]\d+)*[a-z]?|\d.*|[-%+].*|(?:[A-Z]?[a-z]+|[A-Z]+)(?:[-_][A-Za-z]+)*[-_]?v?\d{1,3}(?:\.\d+)*|\S*[=/\\$]\S*"
    r"|[A-Z][A-Z\d_-]*|[\w.-]+@[\w.-]+|[A-Za-z]\w*(?:\.[A-Za-z]\w*)+"
)


@lru_cache(1024)
def is_mixed_word(value: str) -> bool:
    """kaffee789, Fiets-molen.54, t7K!q: a word that only a person or a machine makes up for a login."""
    word = value.rstrip("!?x*#0123456789")
    plain = word.isalpha() and word.islower()
    of_machine = (plain and (len(word) < 6 or MACHINE_WORD.match(word))) or (
        word.islower() and re.search(r"[-.]", word)
    )
    if HUMAN.fullmatch(value) and not (of_machine or MACHINE_WORD.fullmatch(word.strip("-_."))):
        return not KNOWN_PUBLIC.fullmatch(value)
    return not OF_MACHINES.fullmatch(value.rstrip(".,!?")) and is_mixed(value)


def is_scrambled(value: str) -> bool:
    """Capitals, small letters and digits that change places all the time: no word, name or hash is written so.

    Words joined by hyphens do, too, where the joint counts: the longest part tells.
    """
    part = max(re.split(r"[-_]", value), key=len)
    kinds = ["a" if one.islower() else "A" if one.isupper() else "0" if one.isdigit() else "-" for one in part]
    changes = sum(one != other for one, other in pairwise(kinds))
    if len(part) < SCRAMBLED_FROM or not {"a", "A", "0"} <= set(kinds) or changes <= 0.45 * len(part):
        return False
    return not (value.startswith("AAAA") or KNOWN_PUBLIC.fullmatch(value) or NO_SECRET.fullmatch(value))


def is_phrase(value: str) -> bool:
    """Words that nobody says of a secret: none of them asks for one, or tells of one."""
    return ASKING.isdisjoint(value.split())
