"""The words by which a secret is announced, and how a value is told from a word, a number or a variable."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

FIRST_LETTER = re.compile(r"(^|\||\(\?:)([a-z])(?![^\[\]]*\])")


def by_first_letter(names: str) -> str:
    """The same alternatives, for patterns that ignore case. Python tries each of them at each character unless its
    first sign is a set that does not depend on case: so written, it takes a third of the time.
    """
    return FIRST_LETTER.sub(lambda found: f"{found[1]}(?-i:[{found[2]}{found[2].upper()}])", names)


# In the languages that people write to us in. Short ones count as whole words (or at a capital) only.
PASSWORD_NAMES = by_first_letter(
    r"pass[-_ ]?(?:word|wd|phrase|code)|(?<![a-z])(?:pwd|pw|mdp|passw)|[a-z0-9](?-i:_PASS)|(?-i:"
    r"[a-z]Pass)|_pwd|userpass|dbpass"
    r"|requirepass|storepass|keypass|rootpw|bindpw"
    r"|passwort|kennwort|zugangscode|geheimnis|geheimwort|mot[ _]de[ _]passe|contrase(?:ñ|n)a|clave de acceso|senha"
    r"|palavra[- ](?:passe|chave)|parola (?:d'ordine|chiave)|wachtwoord|парол[ья]|密码|密碼|口令|パスワード|暗証番号"
    r"|비밀번호|암호"
)
KEY_NAMES = by_first_letter(
    r"(?:api|access|private|auth|account|license|licence|client|encryption|signing|shared|subscription|master|deploy"
    r"|storage|service|consumer|hmac|jwt|webhook|app|application|munge|admin|root|preshared"
    r"|authentication|openai|wandb)"
    r"[-_. ]?key(?:[-_ ]?id\b)?(?:[-_]?(?:data|b64|base64|id_secret))?|client-certificate-data|key"
    r"[-_]data|(?-i:[a-z])(?-i:Key)"
    r"|(?:api|access|auth|secret|personal|bot|hub|hf|wandb|github|session|refresh|bearer)[-_ ]token"
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
    + by_first_letter(r"(?:token(?:[-_]?secret)?|authtoken|_authtoken|jeton(?: d'acc(?:è|e)s)?|токен|トークン|토큰)")
)
WEAK_NAMES = by_first_letter(
    r"(?<![a-z])(?<!cache[-_ ])(?:pass|pin|key|auth|_auth|cookie|session(?:[-_]?id)?|jwt|bearer|signature"
    r"|sig|clave|schl(?:ü|ue)ssel"
    r"|cl(?:é|e)|chave|chiave|ключ|creds?|id_rsa|tls\.key|tls\.crt|apikey|dsn)|[-_]key|[-_.]auth|"
    r"[-_]creds?|[-_]cookie|[-_]token"
)
NAMES = f"{PASSWORD_NAMES}|{KEY_NAMES}|{SECRET_NAMES}|{TOKEN_NAMES}"
IS = "is|was|are|ist|war|lautet|hei(?:ß|ss)t|sind|est|sera|sont|es|era|son|é|è|sono|=|:|\uff1a|は|是|为|為|는|은|es:"
# From a name to its value: the rest of the name, what closes it, a type, a separator; then a value, quoted or not.
SUFFIX = (
    r"(?:s|\d{1,3}|[-_](?:\d+|prod|dev|test|staging|old|new|value|text|plain|raw|b64|base64|string|env"
    r"|default|current|main|primary|secondary|live))?"
)
CLOSED = r"(?:\+\w{1,12})?[\"'\]\)}]{0,3}(?:\s?\([^()\n]{1,40}\))?[ \t.]{0,40}"
TYPED = r"(?::\s?[\w\[\]|., ]{1,40}?=\s?(?=[rbfu]?[\"']))"
SEPARATOR = rf"(?:{TYPED}|(?:=>|->|:=|={{1,2}}|[:\uff1a\uff1d|>])(?![=:/]))\s{{0,3}}"
QUOTED = r"[rbfu]{0,2}(?P<q>[\"'`])(?P<w>(?:(?!(?P=q))[^\n\\]|\\.){1,300}?)(?P=q)"
BARE = r"[\"'`]?(?P<v>(?:[^\s\"'`,;&|<>]+|[,;&|<>](?![\s,;&|<>\"']|$|[\w. -]{1,40}[=:]|/))+)"
# `<your api key>` is to be filled in; three quotes are Python's and TOML's.
GAP = r"[\"'`]?<[^<>\n]{1,60}>(?=[\s\"'`,;)]|$)"
ASSIGNED = rf"{SUFFIX}{CLOSED}{SEPARATOR}(?!{GAP})(?:\"\"(?=\")|''(?='))?(?:{QUOTED}|{BARE})"
# What may stand before a value in a sentence.
OPENING = r"[\"'`*«“„「『]{0,2}\s?"

NO_SECRET = re.compile(
    r"(?i)[\d.,]+(?:e[+-]?\d+)?[kmgtb]?i?b?|\w*(?:Error|Exception|Warning)|none|null|nil|true|false|yes"
    r"|no|on|off|auto|str|int|bool|bytes|string|any|dict|list|optional\S*|type\S*"
    r"|<[^>]*>|\$[\w{(].*|\*+|\.+|-+|x{3,}|%\w|%\(\w+\)\w|\{\w*\}?|\{\{.*|\[\w*\]?|[a-z_]+(?:\.[a-z_]+)+|"
    r"(?:self|args|config|os|settings|secrets|env|process)\.\S*"
    r"|\w[\w.]*\(.*|your[-_ ]?\S*|my[-_]?(?:token|key|password|secret)|\[?redacted\]?|hidden|example"
    r"|placeholder|changeme_?|todo"
    r"|[a-z]+(?-i:Token|Key|Password|Secret)|(?:[a-z]+[-_])*(?:tokens?|keys?|passwords?|secrets?"
    r"|credentials?|passwd|auth)(?:[-_][a-z]+)?|torch\..*|</?\w+/?>|&\w+;|\\.*"
)
# What is said of a secret rather than being one.
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
    incorrecte invalide expiré oublié vide requis nécessaire pas le les un une incorrecta inválida caducada
    olvidada vacía necesaria obligatoria no el los incorreta inválida expirada obrigatória errata sbagliata
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
    r"(?i)(?:sha\d+|md5|torch|nvcr|cuda|gpt|llama|bert|qwen|mistral|release|version|build|epoch|step"
    r"|layer|block|node|rank|gpu|cpu|job|python|commit)[-_.:/\d].*"
    r"|(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-(?:rsa|dss|ed25519|sha2-nistp\d+)\S*"
)

# Characters of the longest part of a key that some makers write with hyphens in it.
SCRAMBLED_FROM = 12


def is_secret(value: str) -> bool:
    """Not plainly something else: a number (max_tokens: 4096), a type, a variable, a word that speaks of one."""
    bare = value.strip(".,;:!?)]}")
    return (
        len(bare) > 2 and not NO_SECRET.fullmatch(bare) and bare.lower() not in SAYING and not PATHLIKE.fullmatch(bare)
    )


def is_password(value: str) -> bool:
    """The same for passwords, which may be digits alone."""
    return bool(re.fullmatch(r"\d{4,12}", value)) or is_secret(value)


def is_said(value: str) -> bool:
    """A value after `is`, of a password: any word that is not said of one, such as `required`."""
    return is_password(value) and not re.search(r"(?i)(?:ed|ing|ly|able|ible)$", value.strip(".,;:!?)]}"))


def is_told(value: str) -> bool:
    """A value in a sentence: no plain word, but one with a digit, a sign or a capital in it."""
    bare = value.strip(".,;:!?)]}(")
    if not is_secret(bare) or len(bare) < 4 or UNIT.fullmatch(bare):
        return False
    return bool(
        re.search(r"\d|[!@#$%^&*+=~]|.[_-].|[a-z][A-Z]", bare) and re.search(r"[^\W\d_]", bare)
    ) and not is_identifier(bare)


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


def is_scrambled(value: str) -> bool:
    """Capitals, small letters and digits that change places all the time: no word, name or hash is written so.

    Words joined by hyphens do, too, where the joint counts: the longest part tells.
    """
    part = max(re.split(r"[-_]", value), key=len)
    kinds = ["a" if one.islower() else "A" if one.isupper() else "0" if one.isdigit() else "-" for one in part]
    changes = sum(one != other for one, other in pairwise(kinds))
    if len(part) < SCRAMBLED_FROM or not {"a", "A", "0"} <= set(kinds) or changes <= 0.45 * len(part):
        return False
    return not value.startswith("AAAA") and not KNOWN_PUBLIC.fullmatch(value)


def is_phrase(value: str) -> bool:
    """Words that nobody says of a secret: none of them asks for one, or tells of one."""
    return ASKING.isdisjoint(value.split())
