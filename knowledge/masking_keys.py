"""What is secret in a text: credentials, by their makers' shapes, by the names before them, and by what is said.

Each rule has a loose pattern, too, which RE2 looks for in all lines at once: only where it stands is the exact one
tried. Each has an example with the secret between « and »; a test holds both patterns to it. The rules see a text in
its plain form (masking_form.py) as well as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.masking_commands import IN_COMMANDS
from knowledge.masking_form import line_end
from knowledge.masking_makers import IN_ADDRESSES, IN_HEADERS, MAKERS
from knowledge.masking_rule import MaskingRule
from knowledge.masking_words import (
    ASSIGNED,
    IS,
    KEY_NAMES,
    NAMES,
    OPENING,
    PASSWORD_NAMES,
    SECRET_NAMES,
    TOKEN_NAMES,
    WEAK_NAMES,
    is_mixed,
    is_password,
    is_phrase,
    is_random,
    is_said,
    is_scrambled,
    is_secret,
    is_token,
    is_told,
)

STEMS = (
    "(?:pass|pwd|pw|mdp|kennwort|contrase|clave|senha|palavra|parola|wachtwoord|парол|密码|密碼|口令|密钥|令牌|パスワード|暗証番号"
    "|비밀번호|암호|秘密|私钥|私鑰|アクセスキー|トークン|토큰|secret|credential|cred|key|token|токен|ключ|zugang|geheim|schl(?:ü|ue)ssel|cl(?:é|e)|chave|chiave|jeton"
    "|auth|pin|cookie|session|sid|jwt|bearer|sig|salt|hash|dsn|id_rsa|requirepass|rootpw|bindpw|tls.crt"
    "|client-certificate)"
)
# Loose forms of ASSIGNED by kinds of names (a line with one kind is worth the rules of that kind alone), of options, of
# lines that end in a value, and of sentences.
PASSWORD_STEMS = (
    "(?:pass|pwd|pw|mdp|kennwort|zugang|geheim|contrase|clave|senha|palavra|parola|wachtwoord|парол|密码|密碼|口令"
    "|パスワード|暗証番号|비밀번호|암호|rootpw|bindpw)"
)
KEY_STEMS = (
    "(?:key|token|secret|credential|schl(?:ü|ue)ssel|cl(?:é|e)|chave|chiave|密钥|密鑰|私钥|私鑰|令牌|秘密|ключ|キー"
    "|client-certificate|connection)"
)
TOKEN_STEMS = "(?:token|jeton|токен|トークン|토큰)"
WEAK_STEMS = (
    "(?:pass|pin|key|auth|cookie|session|jwt|bearer|sig|clave|schl(?:ü|ue)ssel|cl(?:é|e)|chave|chiave|ключ|cred|id_rsa"
    "|tls.crt|dsn|token)"
)


def assigned(stems: str) -> str:
    """What a line with a name of these stems and a value behind it looks like."""
    return (
        stems + r"[^\n=:>|\s\x{ff1a}\x{ff1d}]{0,24}(?: (?:d|api|se[cg]|pri|acc?es)\S{0,12}){0,2}(?: ?\([^()\n]*\))?"
        r"[ \t.\"'\])}]*(?:[=:>|\x{ff1a}\x{ff1d}]|->)"
    )


LOOKS_OPTION = rf"-[\w.-]*{STEMS}[\w-]*\s"
LOOKS_LAST = STEMS + r"\w*[ \t]+[^\s]{4,}\s*$"
SPOKEN = (
    "(?:pass(?:[-_ ]?(?:wor|wd|phr|cod)|e?\\b)|pwd|pw\\b|client-cert|\\bpin\\b|\\bcode\\b|mdp|kennwort"
    "|contrase|clave|senha|palavra|parola"
    "|wachtwoord|парол|密码|密碼|口令|密钥|令牌|パスワード|暗証番号|비밀번호|암호|秘密|私钥|私鑰|アクセスキー|トークン|토큰|secret|credential|key|token|токен|ключ|zugang|geheim"
    "|schl(?:ü|ue)ssel|cl(?:é|e) |chave|chiave|jeton)"
)
VERBS = rf"(?:{'|'.join(w for w in IS.split('|') if w.isalpha())}|[=:\x{{ff1a}}])"
LOOKS_IS = (
    rf"{SPOKEN}[^\s=:]{{0,16}}(?: (?:d|api|se[cg]|pri|acc?es)\S{{0,12}}){{0,2}}\s?{VERBS}"
    rf"|{SPOKEN}\w{{0,12}}['\x{{2019}}]s "
)
LOOKS_OF = rf"{SPOKEN}[^\s=:]{{0,16}}(?:[ \t][^\s=:]{{1,30}}){{1,7}}\s?{VERBS}"
LOOKS_SPOKEN = (
    rf"(?:{SPOKEN}|pass\b).{{0,60}}\s(?:to|as|type|typed|enter|entered|use|used|using|try|tried|put"
    rf"|gave|wrote|said|sent|à|auf|zu|a|en|su|para)\s"
)
LOOKS_BESIDE = (
    r"(?:\bapi|paste|\bcode|pass(?:w\w*|phrase|code|e)?|pwd|pw|mdp|kennwort|contrase\S*|senha|wachtwoord"
    r"|парол\S?|key|token|secret|credential|токен|密码|密碼|口令|密钥|令牌|パスワード|暗証番号|トークン|비밀번호|암호)s?\s[\"'`«]?\S*\d"
)
LOOKS_FAR = r"(?:api|key|log ?in|paste|secret|token|password|credentials?|auth).*[\w+/-]{24}"
BY_NAME = (
    # `name = value`, in any notation: shells, Python, JSON, YAML, INI, XML, options.
    MaskingRule(
        "KEY",
        r"\bpsk=",
        r"\bpsk=(?P<q>\"?)(?P<v>[^\"\s]{8,64})(?P=q)",
        example='psk="«tiger-77-moon»"',
    ),
    MaskingRule(
        "KEY",
        r"\bauth\W{1,3}:",
        r"\"auth\"\s?:\s?\"(?P<v>[A-Za-z0-9+/]{16,}={0,2})\"",
        example='{"auth":"«bGJyYXVuOkNvcHNlLkFudmlsNTU=»"}',
    ),
    MaskingRule(
        "KEY",
        assigned(PASSWORD_STEMS),
        rf"(?i)(?:{PASSWORD_NAMES}){ASSIGNED}",
        is_password,
        example="export MYSQL_PWD=«tiger»",
    ),
    MaskingRule(
        "KEY",
        assigned(KEY_STEMS),
        rf"(?i)(?:{KEY_NAMES}|{SECRET_NAMES}){ASSIGNED}",
        is_secret,
        example="api_key: «0123456789abcdef»",
    ),
    MaskingRule(
        "KEY",
        assigned(TOKEN_STEMS),
        rf"(?i)(?:{TOKEN_NAMES}){ASSIGNED}",
        is_token,
        example='os.environ["HF_TOKEN"] = "«abc123def456»"',
    ),
    MaskingRule(
        "KEY",
        assigned(WEAK_STEMS),
        rf"(?i)(?:{WEAK_NAMES}){ASSIGNED}",
        is_random,
        example='{"username":"ada","key":"«0123456789abcdef»"}',
    ),
    MaskingRule(
        "KEY",
        r"phrase|mnemonic",
        r"(?i)(?:passphrase|(?:recovery|seed) phrase|mnemonic)\s?[:=]\s{0,3}(?P<v>[a-z]+(?: [a-z]+){2,23})\s*$",
        example="passphrase: «correct horse battery staple»",
    ),
    MaskingRule(
        "KEY",
        r"(?:phrase|mnemonic).*[\"'«“`]",
        r"(?i)(?:passphrase|(?:recovery|seed) phrase|mnemonic)[^\n\"'«“`]{0,30}[\"'«“`]"
        r"(?P<v>[a-z]+(?: [a-z]+){2,23})[\"'»”`]",
        is_phrase,
        example='asked for the passphrase I type "«correct horse battery staple»"',
    ),
    # Options: what follows is the value, however short.
    MaskingRule(
        "KEY",
        LOOKS_OPTION,
        rf"(?i)(?<![\w-])--?(?:[a-z]{{1,20}}[._-]){{0,4}}(?:(?:{PASSWORD_NAMES}|{KEY_NAMES}|{SECRET_NAMES})s?|"
        rf"(?:[a-z]+[._-])?token|auth)\s{{1,3}}[\"']?(?P<v>[^\s\"'-][^\s\"']*)",
        is_secret,
        example="train.py --password «tiger» --epochs 3",
    ),
    # `setenv NAME value`, `requirepass value`, `password value`.
    MaskingRule(
        "KEY",
        LOOKS_LAST,
        rf"(?i)(?:^|\b(?:setenv|set(?:\s-\w+)?|env)\s|\b\w[\w.]*[._])[\w.]{{0,40}}?(?:{NAMES})(?:"
        rf"[ \t]{{1,60}})[\"']?(?P<v>[^\s\"']{{4,}})[\"']?\s*$",
        is_told,
        example="ENV DB_PASSWORD «tiger77»",
    ),
    MaskingRule(
        "KEY",
        r"<.*value",
        rf"(?i)<[\w:.-]{{0,40}}(?:{NAMES})[^<>\n]{{0,80}}?\svalue\s?=\s?[\"'](?P<v>[^\"'\n]{{3,200}})",
        is_secret,
        example='<password value="«tiger»"/>',
    ),
    # Name and value apart: a manifest's pairs, a call's arguments.
    MaskingRule(
        "KEY",
        r"\b(?:name|key|variable|id)[\"']?\s?[:=].*" + STEMS,
        rf"(?i)(?:\b(?:name|key|variable|id)[\"']?\s?[:=]\s?)[\"']?[\w.-]{{0,60}}?(?:{NAMES}|key)[\"']?\s?"
        rf"[,;]?\s{{0,20}}[^\n]{{0,30}}?\bvalue[\"']?\s?[:=]\s?[\"']?(?P<v>[^\s\"',}}>]{{3,}})",
        is_secret,
        example="- name: DB_PASSWORD\n  value: «tiger77»",
        reach=1,
    ),
    MaskingRule(
        "KEY",
        r"\([\"'][\w.-]*" + STEMS,
        rf"(?i)\([\"'][\w.-]{{0,60}}?(?:{NAMES})[\"']\s?,\s?[rbu]?[\"'](?P<v>[^\"'\n]{{3,200}})[\"']",
        is_secret,
        example='setenv("DB_PASSWORD", "«tiger77»")',
    ),
    MaskingRule(
        "KEY",
        r"identified|password",
        r"(?i)\b(?:identified\s(?:with\s\S+\s)?by|password(?:\sfor\s\S+)?)\s?(?:=\s?)?(?:password\s?)?\(?"
        r"[\"'](?P<v>[^\"'\n]{3,120})[\"']",
        is_password,
        example="CREATE USER a IDENTIFIED BY '«tiger»';",
    ),
)
SAID = (
    # `the password is hunter3`, `Passwort: x`; also of something, with what something between.
    MaskingRule(
        "KEY",
        LOOKS_IS,
        rf"(?i)(?:(?<!\w)clave|{PASSWORD_NAMES}|{KEY_NAMES}|{SECRET_NAMES}|{TOKEN_NAMES})(?:['\u2019]s\s|\s?"
        rf"(?:{IS})[\s:]{{0,3}}){OPENING}(?P<v>[^\s\"'`,;]{{4,}})",
        is_told,
        example="well, the password is «hunter3»",
    ),
    MaskingRule(
        "KEY",
        LOOKS_IS,
        rf"(?i)\b(?:my|our|your|the|mein|dein|unser|das|mon|ton|notre|votre|le|mi|tu|nuestra|la|minha|nossa|a|"
        rf"(?:la |il )?mi[ao]|il)"
        rf"\s(?:[\w-]{{1,20}}\s)?(?:{PASSWORD_NAMES})\s?(?:{IS})[\s:]{{0,3}}{OPENING}(?P<v>[^\s\"'`,;]{{4,}})"
        r"(?=[\"'`*]{0,2}(?:\s*$|[.,;!]|\s(?:and|but|for|on|und|aber|et|mais|y|e|pero|ma|mas)\b))",
        is_said,
        example="mein Passwort ist «tiger»",
    ),
    MaskingRule(
        "KEY",
        LOOKS_IS,
        rf"(?i)\b(?:key|schl(?:ü|ue)ssel|cl(?:é|e)|clave|chave|chiave|ключ|credentials?|pin)\b(?:['\u2019]s\s|\s?"
        rf"(?:{IS}))[\s:]{{0,3}}{OPENING}(?P<v>[^\s\"'`,;]{{16,}})",
        is_random,
        example="my wandb key's «0a1b2c3d4e0a1b2c3d4e»",
    ),
    MaskingRule(
        "KEY",
        LOOKS_OF,
        rf"(?i)(?:{PASSWORD_NAMES}|{KEY_NAMES}|{SECRET_NAMES})(?:[ \t][^\s=:]{{1,30}}){{1,5}}?\s?(?:(?:{IS})\s|:)"
        rf"[\s:]{{0,3}}{OPENING}(?P<v>[^\s\"'`,;]{{5,}})",
        is_told,
        example="the passphrase of my ssh key is «tiger-77»",
    ),
    MaskingRule(
        "KEY",
        LOOKS_OF,
        rf"(?i)(?:{PASSWORD_NAMES})\s(?:for|für|pour|para|per|di|de|von|of|von)\s\S{{1,80}}?\s?:\s{{1,3}}"
        rf"(?P<v>[^\s\"'`,;]{{4,}})",
        is_password,
        example="[sudo] password for ada: «tiger»",
    ),
    MaskingRule(
        "KEY",
        LOOKS_SPOKEN,
        rf"(?i)(?:{NAMES}|\bpass)[,;]?\s(?:[\w']{{1,12}}\s){{0,4}}?(?:to|as|type|typed|enter|entered|use|used"
        rf"|using|try|tried|put|gave|wrote|said|sent)\s[\"'`]?(?P<v>[^\s\"'`,;]{{5,}})",
        is_told,
        example="I set the password to «Tiger-77» yesterday",
    ),
    MaskingRule(
        "KEY",
        LOOKS_SPOKEN,
        rf"(?i)(?:{NAMES})\s(?:à|auf|zu|a|en|su|para)\s{OPENING}(?P<v>[^\s\"'`,;]{{5,}})",
        is_mixed,
        example="Ich habe das Passwort auf «Tiger77x» gesetzt",
    ),
    MaskingRule(
        "KEY",
        r"\s/\s.*(?:log|sign)[ -]?(?:in|on)|\s/\s.*(?:anmeld|einlogg|connect|iniciar)",
        r"(?i)\b[\w.@-]{2,40}\s/\s(?P<v>[^\s\"'`,;/]{4,})(?=[^\n]{0,40}?\b(?:(?:log|sign)[ -]?(?:in|on)\b|anmeld"
        r"|einlogg|connect|iniciar))",
        is_mixed,
        example="take ada / «tiger77X» to log in",
    ),
    MaskingRule(
        "KEY",
        LOOKS_BESIDE,
        rf"(?i)(?:{NAMES}|\bpass|\bpwd|\bpw|\bkey|\bpaste|\bapi|\bcode)\s[\"'`«]?(?P<v>[^\s\"'`,;:=]{{5,}})",
        is_random,
        example="log in as ada with password «tiger77x»",
    ),
    MaskingRule(
        "KEY",
        r"парол|密码|密碼|口令|パスワード|비밀번호|암호",
        rf"(?i)(?:пароль|密码|密碼|口令|パスワード|비밀번호|암호)\w?\s{{0,2}}(?:{IS}|[:\uff1a\uff1d=])?\s{{0,2}}(?P<v>[!-~]{{4,}})",
        is_secret,
        example="パスワードは«tiger77»です",
    ),
    MaskingRule(
        "KEY",
        r"credential|login|zugangsdaten|identifiants|credencial|credenzial|acc?ount|user",
        r"(?i)\b(?:credentials?|login(?:/password|/pass)?|user(?:name)?/pass(?:word)?|zugangsdaten"
        r"|identifiants?|credenciales|credenziali|log ?in with)\s?(?:are|is|sind|sont|son|sono|:|=)?\s{0,2}"
        r"[\w.@-]{2,40}\s?[/:]\s?(?P<v>[^\s\"'`,;/]{4,})",
        is_told,
        example="credentials are ada / «tiger77»",
    ),
    MaskingRule(
        "KEY",
        r"(?:otp|code|password|token|pin)\b.*\d{4}",
        r"(?i)\b(?:otp|totp|one-time (?:code|password)|(?:verification|security|login|auth\w*|backup|unlock"
        r"|access|entry|door) code|passcode|(?:2fa|mfa) (?:code|token)|(?:my|the|your) pin(?: code)?)\s{0,3}"
        r"(?:is|[:=])?\s{0,3}(?P<v>\d{4,8})\b",
        example="verification code: «123456»",
    ),
    MaskingRule(
        "KEY",
        r"(?:recovery|backup|totp|2fa|mfa|otp)",
        r"(?i)\b(?:(?:recovery|backup) codes?|(?:totp|2fa|mfa|otp) (?:secret|seed|key))\s{0,3}(?:is|are|"
        r"[:=])?\s{0,3}(?P<v>[a-z0-9]{4,8}(?:-[a-z0-9]{4,8})+|[A-Z2-7]{16,64})\b",
        example="recovery code «ab12c-d34ef»",
    ),
    # A key without a name of its own, beside a word that tells.
    MaskingRule(
        "KEY",
        LOOKS_FAR,
        r"(?i)\b(?:api|key|log ?in|paste|secret|token|password|credentials?|auth(?:entication)?)\b"
        r"[^\n]{0,60}?(?<![\w/.@:+-])(?P<v>[\w+/-]{24,200}={0,2})(?![\w./-])",
        is_random,
        example="use this secret here: it is «0123456789abcdefghijABCDEFGHIJ»",
    ),
    # A word of its own that only a machine writes, with no word beside it at all.
    MaskingRule(
        "KEY",
        r"(?:^|[\s\"'=])[\w+/-]{32,}={0,2}(?:[\s\"',;]|$)",
        r"(?:(?<=[\s\"'=])|^)(?P<v>[A-Za-z0-9+/_-]{32,}={0,2})(?=[\s\"',;]|$)",
        is_scrambled,
        example="set store https://a «f6fBya9qqyEomUAmc8lisQlpRNH4RGlgL5Pz3637»",
    ),
)
APART = (
    MaskingRule(
        "KEY",
        STEMS + r".{0,50}[:=\x{ff1a}?][ \t]*[|>]?-?\s*$",
        rf"(?i)(?:{NAMES})[^\n]{{0,40}}?[:=\uff1a?][ \t]*[|>]?-?[ \t\r]*$",
        is_told,
        example="Enter your password:\n«tiger77»",
        below=r"(?:[ \t]*\r?\n)?[ \t>$]*[\"']?(?P<v>[^\s\"'`,;:]{4,200})[\"']?[ \t\r]*(?:\n|$)",
    ),
    MaskingRule(
        "KEY",
        r"(?:pass|pwd|secret|token|key)\w*[\"']?\s*[,|;)\t]|[,|;\t]\s*[\"']?\w*(?:pass|pwd|secret|token|key)",
        "",
        is_password,
        example="| user | password |\n| ada | «tiger» |",
        cells=True,
    ),
)
CREDENTIALS: tuple[MaskingRule, ...] = (*MAKERS, *IN_ADDRESSES, *IN_HEADERS, *IN_COMMANDS, *BY_NAME, *SAID, *APART)

CELLS = re.compile(r"[^,|;\t]+")
NAMED_CELL = re.compile(
    rf"(?i)[\s\"'`]*[\w.-]{{0,40}}?(?:{PASSWORD_NAMES}|{KEY_NAMES}|{SECRET_NAMES}|{TOKEN_NAMES})[\s\"'`]*"
)
HEAD_CELL = re.compile(r"[\s\"'`]*[A-Za-z][\w .-]{0,30}[\s\"'`]*|\s*")
ROW = re.compile(r"(?i)\(([^()\n]{1,300})\)\s{0,3}values\s{0,3}\(([^()\n]{1,600})\)")


def cells_below(text: str, start: int) -> tuple[list[tuple[int, int]], int]:
    """The secret values in a table whose first line, at `start`, names its columns, and where the table ends.

    It goes on as long as its lines have as many cells, and names its columns anew where a line does. Each line is
    looked at once.
    """
    found: list[tuple[int, int]] = []
    named: set[int] = set()
    count = 0
    while start < len(text):
        stop = line_end(text, start)
        cells = list(CELLS.finditer(text, start, stop))
        if len(cells) < 2 or len(cells) != (count or len(cells)):
            break
        found += (value for at in sorted(named) if (value := value_of(cells[at])))
        if all(HEAD_CELL.fullmatch(cell[0]) for cell in cells):
            named |= {at for at, cell in enumerate(cells) if NAMED_CELL.fullmatch(cell[0])}
        if not named:
            break
        count, start = len(cells), stop + 1
    return found, start


def values_of_rows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The secret values of `(names) VALUES (values)`."""
    for pair in ROW.finditer(text, start, end):
        for name, cell in zip(CELLS.finditer(pair[1]), CELLS.finditer(text, *pair.span(2)), strict=False):
            if NAMED_CELL.fullmatch(name[0]) and (value := value_of(cell)):
                yield value


def value_of(cell: re.Match[str]) -> tuple[int, int] | None:
    """Where the bare value of a cell stands, where it may be a secret."""
    bare = cell[0].strip(" \"'`")
    if not is_password(bare) or bare.startswith("--"):
        return None
    begin = cell.start() + cell[0].index(bare)
    return begin, begin + len(bare)
