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
from knowledge.masking_scorer import LOOKS, beside_line, in_line
from knowledge.masking_words import (
    ASSIGNED,
    IS,
    KEY_NAMES,
    NAMES,
    OPENING,
    PASSWORD_NAMES,
    QUOTED,
    SECRET_NAMES,
    SUFFIX,
    TOKEN_NAMES,
    WEAK_NAMES,
    is_chosen,
    is_given,
    is_keylike,
    is_mixed_word,
    is_password,
    is_phrase,
    is_random,
    is_said,
    is_scrambled,
    is_secret,
    is_token,
    is_told,
)

# What a password is called further north and east.
ABROAD = "hasło|haslo|heslo|hesľo|lösenord|losenord|adgangskode|salasana|şifre|sifre|jelsz|parolă|parola mea|κωδικ"
STEMS = (
    "(?:pass|pwd|pw|mdp|kennwort|contrase|clave|senha|palavra|parola|wachtwoord|парол|密码|密碼|口令|密钥|令牌|パスワード|暗証番号"
    "|비밀번호|암호|秘密|私钥|私鑰|アクセスキー|トークン|토큰|secret|credential|cred|key|token|токен|ключ|zugang|geheim|schl(?:ü|ue)ssel|cl(?:é|e)|chave|chiave|jeton"
    "|auth|pin|cookie|session|sid|_pat|jwt|bearer|sig|salt|hash|dsn|id_rsa|requirepass|rootpw|bindpw|tls.crt"
    "|client-certificate|" + ABROAD + ")"
)
# Loose forms of ASSIGNED by kinds of names (a line with one kind is worth the rules of that kind alone), of options, of
# lines that end in a value, and of sentences.
PASSWORD_STEMS = (
    "(?:pass|pwd|pw|mdp|kennwort|zugang|geheim|contrase|clave|senha|palavra|parola|wachtwoord|парол|密码|密碼|口令"
    "|パスワード|暗証番号|비밀번호|암호|rootpw|bindpw|" + ABROAD + ")"
)
WEAK_STEMS = (
    "(?:pass|pin|key|auth|cookie|session|jwt|bearer|sig|clave|schl(?:ü|ue)ssel|cl(?:é|e)|chave|chiave|ключ|cred|id_rsa"
    "|tls.crt|dsn|token)"
)


def assigned(stems: str) -> str:
    """What a line with a name of these stems and a value behind it looks like."""
    return (
        stems
        + r"[^\n=:>|\s\x{ff1a}\x{ff1d}]{0,24}(?: (?:d|api|se[cg]|pri|acc?es|phr|wor)\S{0,12}){0,2}(?: ?\([^()\n]*\))?"
        r"[ \t.\"'\])}]*(?:[=:>|→\x{ff1a}\x{ff1d}]|->|<-)"
    )


LOOKS_OPTION = rf"-[\w.-]*{STEMS}[\w-]*\s"
SPOKEN = (
    "(?:pass(?:[-_ ]?(?:wor|wd|phr|cod)|e?\\b)|pwd|pw\\b|client-cert|\\bpin\\b|\\bcode\\b|mdp|kennwort"
    "|contrase|clave|senha|palavra|parola"
    "|wachtwoord|парол|密码|密碼|口令|密钥|令牌|パスワード|暗証番号|비밀번호|암호|秘密|私钥|私鑰|アクセスキー|トークン|토큰|secret|credential|key|token|токен|ключ|zugang|geheim"
    "|schl(?:ü|ue)ssel|cl(?:é|e) |chave|chiave|jeton|_pat|" + ABROAD + ")"
)
VERBS = rf"(?:{'|'.join(w for w in IS.split('|') if w.isalpha())}|[=:\x{{ff1a}}])"
LOOKS_IS = (
    rf"{SPOKEN}[^\s=:]{{0,16}}(?: (?:d|api|se[cg]|pri|acc?es)\S{{0,12}}){{0,2}}\s?{VERBS}"
    rf"|{SPOKEN}\w{{0,12}}['\x{{2019}}]s "
)
BY_NAME = (
    # `name = value`, in any notation: shells, Python, JSON, YAML, INI, XML, options.
    MaskingRule(
        "KEY",
        r"\bpsk\W",
        r"(?i)\bpsk\s?[=: ]\s?(?:(?P<q>[\"'])(?P<w>[^\"'\n]{6,64})(?P=q)|(?<==)(?P<v>[^\"'\s]{8,64}))",
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
        assigned(WEAK_STEMS),
        rf"(?i)(?:{WEAK_NAMES}){ASSIGNED}",
        is_random,
        example='{"username":"ada","key":"«0123456789abcdef»"}',
    ),
    MaskingRule(
        "KEY",
        r"phrase|mnemonic",
        r"(?i)(?:passphrase|(?:recovery|seed) phrase|mnemonic)(?: for[^\n:=]{1,80})?\s?[:=]\s{0,3}"
        r"(?P<v>[a-z]+(?: [a-z]+){1,23})\s*$",
        is_phrase,
        example="passphrase: «correct horse battery staple»",
    ),
    # Options: what follows is the value, however short.
    MaskingRule(
        "KEY",
        LOOKS_OPTION,
        rf"(?i)(?<![\w-])--?(?:[a-z]{{1,20}}[._-]){{0,4}}(?:(?:{PASSWORD_NAMES}|{KEY_NAMES}|{SECRET_NAMES})s?|"
        rf"(?:[a-z]+[._-])?token|auth|[a-z]{{2,12}}pass)\s{{1,3}}[\"']?(?P<v>[^\s\"'-][^\s\"']*)",
        is_secret,
        example="train.py --password «tiger» --epochs 3",
    ),
    # A command that sets a variable: what follows the name is its value.
    MaskingRule(
        "KEY",
        rf"\b(?:setenv|setx|set\s-\w+|env|arg|variable)\s+[\w.]*{STEMS}",
        rf"(?i)\b(?:setenv|setx|set(?:\s-\w{{1,8}}){{1,3}}|env|arg|variable)\s{{1,4}}[\w.]{{0,40}}?"
        rf"(?:{NAMES}){SUFFIX}[ \t]{{1,60}}"
        rf"(?!`)(?:{QUOTED}|(?P<v>[^\s\"'`=-][^\s\"'=]{{2,}})\s*(?:$|[;&]))",
        is_secret,
        example="setenv MY_PASSWORD «tundra»",
    ),
    # `user ada`, `password tiger`: lines of two words.
    MaskingRule(
        "KEY",
        r"^\s*(?:user|login|account|host|from|auth)\S*\s+\S+\s*$",
        r"(?i)^[ \t]*(?:user(?:name)?|login|account|host|from|auth\w*)[ \t]{1,20}\S{1,80}[ \t]*\n"
        r"[ \t]*(?:password|passwd|pass|passphrase|secret)[ \t]{1,20}[\"']?(?P<v>[^\s\"']{3,80})[\"']?[ \t]*$",
        is_secret,
        example="user ada\n  password «heron»",
        reach=1,
    ),
    # A setting's name that is no word of a sentence, and its value behind a blank.
    MaskingRule(
        "KEY",
        r"(?:pass|pw|secret|auth|passwd|password|phrase|community)\S{0,3}\s",
        r"(?i)(?:^|\s)(?:bindpw|rootpw|requirepass|masterauth|r[ow]community6?|(?-i:[A-Za-z]*[a-z](?:Pass(?:word|phrase)?|Secret))"
        r"|[a-z]{2,20}_(?:password|passphrase|passwd|pass|secret))[ \t]{1,20}(?:--?\w{1,16}[ \t])?(?![-=(<])"
        r"[\"']?(?P<v>[^\s\"'=]{3,120})[\"']?(?=\s*$|\s[\d./]+\s*$)",
        is_said,
        example='OIDCCryptoPassphrase "«hedgehog»"',
    ),
    # What code puts in quotes behind the name: braces, a call, what is taken where a variable is not set.
    MaskingRule(
        "KEY",
        STEMS + r"\w*[\"'\])}]{0,3}\s?(?:or\b|\|\||\?\?|\?:|[:=]\s?\{|\{|\().*[\"']",
        rf"(?i)(?:(?:{NAMES})\w{{0,12}}[\"'\])}}]{{0,3}}\s?(?:or|\|\||\?\?|\?:|\{{|[:=]\s?\{{[^\n{{}}]{{1,60}}:)|\.(?:{NAMES})\()\s{{0,3}}"
        rf"(?P<q>[\"'])(?P<w>[^\"'\n]{{3,200}})(?P=q)",
        is_secret,
        example='pw = os.getenv("PW") or "«vetch55»"',
    ),
    # Name and value apart: a manifest's pairs, a call's arguments.
    MaskingRule(
        "KEY",
        r"(?:\b(?:name|key|variable|id)[\"']?\s?[:=]|variable\s|[\"']--).*" + STEMS,
        rf"(?i)(?:\b(?:name|key|variable|id)[\"']?\s?[:=]\s?|\bvariable\s|(?=[\"']--))[\"']?[\w.-]{{0,60}}?(?:{NAMES}|key)[\"']?\s?"
        rf"\s?(?:[,;]|\{{(?:[^\n}}]{{0,80}}\n)?)?\s{{0,20}}[^\n]{{0,30}}?\b(?:value|default)[\"']?\s?[:=]\s?[\"']?(?P<v>[^\s\"',}}>]{{3,}})",
        is_secret,
        example="- name: DB_PASSWORD\n  value: «tiger77»",
        reach=1,
    ),
    MaskingRule(
        "KEY",
        r">[^<>]*" + STEMS + r"[^<>]*</",
        rf"(?i)>[\w\s.-]{{0,60}}?(?:{NAMES})[\w\s.:-]{{0,20}}</\w{{1,20}}>\s{{0,20}}<\w[^<>\n]{{0,60}}>\s?(?P<v>[^<>\n]{{3,300}}?)\s?</",
        is_secret,
        example="<tr><th>Password</th><td>«azalea»</td></tr>",
        reach=1,
    ),
    MaskingRule(
        "KEY",
        r"(?:identified|password).*[\"']",
        r"(?i)\b(?:identified\s(?:with\s\S+\s)?by|password(?:\sfor\s\S+)?)(?![\"']\s?[,:])\s?(?:=\s?)?(?:password\s?)?\(?"
        r"[\"'](?P<v>(?!, ?\w+=)[^\"'\n]{3,120})[\"']",
        is_password,
        example="CREATE USER a IDENTIFIED BY '«tiger»';",
    ),
)
# By what people tell that a word beside it is for a login.
OF_LOGIN = (
    r"\b(?:pass(?:word|wort|wd|phrase|code)?s?\b|pw\b|pwd\b|mdp\b|mot de passe|kennwort|contrase(?:ñ|n)a|wachtwoord"
    r"|ww\b|senha|clave|parola|zugang|credentials?|creds?\b|credenzial|identifiant|connexion|acc?esso"
    r"|log(?:ging|ged)?[ -]?(?:in|on)\b|unlock"
    r"|sign(?:ing)?[ -]?in|anmeld|einlogg|inlogg|aanmeld|acceder|entrar|secret\b|pin\b)"
)
SAID = (
    MaskingRule(
        "KEY",
        OF_LOGIN,
        f"(?i){OF_LOGIN}",
        is_mixed_word,
        example="on gpu3 just use «Marble-lamp.19» to log in",
        beside=80,
    ),
    # A number that a person tells as a PIN or got by SMS; a quoted passphrase some words after its name.
    MaskingRule(
        "KEY",
        r"\bpin\b|sms|\bduo\b|authenticator",
        r"(?i)(?:(?-i:\bPIN\b)[^\n]{0,60}?\b(?:is|ist|lautet|was|est|es|era)\s|\bcode\s"
        r"(?=\d{4,8}\b[^\n]{0,40}\b(?:sms|duo|authenticator)\b))(?P<v>\d{4,8})\b",
        is_password,
        example="Die PIN vom Generator ist «229671», danach",
    ),
    MaskingRule(
        "KEY",
        r"(?:passphrase|mot de passe|passwor|kennwort|wachtwoord|contrase|<<<).*[\"'«“„]",
        r"(?i)(?:(?:passphrase|password|passwort|kennwort|wachtwoord|mot de passe|contrase(?:ñ|n)a)\b"
        r"[^\n\"'=:{}()]{1,60}\s(?:is|ist|heißt|lautet|est|es|was)\s|\b(?:logon|login|init)\b[^\n]{0,80}<<<\s?)[\"'«“„](?P<v>[^\"'«»“”\n]{6,80})[\"'»”“]",
        is_password,
        example='The passphrase for the key on the stick is "«tiger lamp shadow»" without the quotes',
    ),
    # `the password is hunter3`, `Passwort: x`; also of something, with what something between.
    MaskingRule(
        "KEY",
        LOOKS_IS,
        rf"(?i)(?:(?<!\w)clave|{PASSWORD_NAMES}|{KEY_NAMES}|{SECRET_NAMES}|{TOKEN_NAMES})(?:['\u2019]s\s|\s?"
        rf"(?:{IS})[\s:]{{0,3}}){OPENING}(?P<v>(?:[^\s\"'`,;&]|&(?!\w+=)){{4,}})",
        is_chosen,
        example="well, the password is «hunter3»",
    ),
    MaskingRule(
        "KEY",
        LOOKS_IS,
        rf"(?i)\b(?:my|our|your|the|mein|dein|unser|das|mon|ton|notre|votre|le|mi|tu|nuestra|la|minha|nossa|a|"
        rf"(?:la |il )?mi[ao]|il)"
        rf"\s(?:[\w-]{{1,20}}\s)?(?:{PASSWORD_NAMES})\s?(?:{IS})[\s:]{{0,3}}{OPENING}(?P<v>[^\s\"'`,;]{{4,}})"
        r"(?=[\"'`*]{0,2}(?:\s*$|[.,;!]|\s(?:and|but|for|on|und|aber|et|mais|y|e|pero|ma|mas|I)\b))",
        is_said,
        example="mein Passwort ist «tiger»",
    ),
    MaskingRule(
        "KEY",
        r"(?:pass|pw|pwd|kennwort|contrase|senha)\S*\s(?:from|von|de|da)\s",
        rf"(?i)(?:{PASSWORD_NAMES}|\bpass)\s(?:from|von|de|da)\s(?P<v>[^\s\"'`,;]{{4,}})\s(?:to|auf|zu|in|à|a|para)\s",
        is_told,
        example="changed my pass from «Plover7!» to Plover8!",
    ),
    MaskingRule(
        "KEY",
        r"(?:credential|log ?in|(?:logge|melde) mich|me connecte|(?:entro|accedo) co[nm]|zugang"
        r"|identifiant|credencial|credenzial|user).*[/:]",
        r"(?i)\b(?:credentials?|login(?:/password|/pass)?|user(?:name)?/pass(?:word)?|zugang(?:sdaten)?"
        r"|identifiants?|credenciales|credenziali|log ?in with"
        r"|(?:logge|melde) mich mit|me connecte avec|(?:entro|accedo) co[nm])"
        r"\s?(?:are|is|sind|sont|son|sono|:|=)?\s{0,2}"
        r"[\w.@-]{2,40}\s?[/:]\s?(?P<v>[^\s\"'`,;/]{4,})",
        is_chosen,
        example="credentials are ada / «tiger77»",
    ),
    MaskingRule(
        "KEY",
        r"(?:otp|code|código|codice|password|passwort|passcode.*|token|pin|tan|zahl)\b.*\d{3}",
        r"(?i)\b(?:passcode[^\n:=]{1,30}(?=:)|(?:einmal|bestätigungs|sicherheits)(?:code|passwort|kennwort)"
        r"|code (?:à usage unique|de vérification|de sécurité)"
        r"|código (?:de un solo uso|de verificación|de verificação|único)"
        r"|codice (?:monouso|di verifica|di sicurezza)|(?:meine|die|deine) tan|otp|totp"
        r"|one-time (?:code|password)|(?:verification|security|login|auth\w*|backup|unlock"
        r"|access|entry|door) code|passcode|(?:2fa|mfa) (?:code|token)|(?:my|the|your) pin(?: code)?|code secret"
        r"|código secreto"
        r"|codice segreto|geheimzahl|(?-i:PIN)(?:-?[Cc]ode|-Nummer)?(?=\s?[:=]|\s(?:is|ist|lautet|est|es)\b))\s{0,3}"
        r"(?:is|ist|lautet|c'est|est|es|è|é|[:=])?\s{0,3}(?P<v>\d{3}[ -]\d{3}\b|\d{4,8})\b",
        example="verification code: «123456»",
    ),
    # A word of its own that only a machine writes, with no word beside it at all.
    MaskingRule(
        "KEY",
        r"(?:^|[\s\"'=])[\w+/-]{32,}={0,2}(?:[\s\"',;]|$)",
        r"(?:(?<=[\s\"'=])(?<![Ii][Dd]: )|^)(?P<v>[A-Za-z0-9+/_-]{32,}={0,2})(?=[\s\"',;]|$)",
        is_scrambled,
        example="set store https://a «f6fBya9qqyEomUAmc8lisQlpRNH4RGlgL5Pz3637»",
    ),
)
# A line of a talk that asks for a secret, and who speaks in the next one.
HEADING = r"\b(?:secrets?|stringdata|credentials|(?:recovery|backup|scratch) codes?(?: for \w{1,12})?|api keys?|tokens)"
APART = (
    MaskingRule(
        "KEY",
        STEMS + r".{0,50}[:=\x{ff1a}][ \t]*[|>]?-?\s*$",
        rf"(?i)(?:{NAMES})[^\n]{{0,40}}?[:=\uff1a][ \t]*[|>]?-?[ \t\r]*$",
        is_told,
        example="Enter your password:\n«tiger77»",
        below=r"(?:[ \t]*\r?\n)?[ \t>$]*[\"']?(?P<v>[^\s\"'`,;:]{4,200})[\"']?[ \t\r]*(?:\n|$)",
    ),
    # YAML's blocks.
    MaskingRule(
        "KEY",
        STEMS + r".{0,50}[:=][ \t]*[|>][-+]?\s*$",
        rf"(?i)(?:{NAMES})[^\n]{{0,40}}?[:=][ \t]*[|>][-+]?[ \t\r]*$",
        is_secret,
        example="password: |\n  «lighthouse»",
        below=r"[ \t]{1,40}[\"']?(?P<v>[^\s\"'`,;:]{3,400})[\"']?[ \t\r]*(?:\n|$)",
        block=True,
    ),
    MaskingRule(
        "KEY",
        STEMS + r".{0,60}\?\s*$",
        rf"(?i)(?:{PASSWORD_NAMES})[^\n]{{0,60}}?\?[ \t\r]*$",
        is_said,
        example="ada: pw?\nbob: it's «dandelion»",
        below=r"[>\[(]?[\d:. APMapm\])]{0,16}(?:[\w .@-]{1,24}[:>]\s{1,3})?"
        r"(?i:it's|its|it is|it was)\s[\"'`]?(?P<v>[^\s\"'`,;:]{4,200})[\"'`]?[ \t\r.]*(?:\n|$)",
    ),
    # What a file of secrets holds, as a command prints it.
    MaskingRule(
        "KEY",
        r"\b(?:cat|less|more|head|bat|type)\s+\S*(?:token|secret|passw|[._]pw|key|irodsa|cred)\S*\s*$",
        r"\b(?:cat|less|more|head|bat|type)\s+\S*(?i:token|secret|passw|[._]pw|key|irodsa|cred)[\w.-]*[ \t\r]*$",
        is_given,
        example="$ cat ~/.lab/api_token\n«winter.lamp»",
        below=r"(?P<v>\S{6,400})[ \t\r]*(?:\n|$)",
    ),
    # Below a heading of secrets, what no word can be.
    MaskingRule(
        "KEY",
        HEADING + r"[\"']?(?:\s*\([^()\n]*\)|\s*[:={\]])\s*[:{\[]?\s*$",
        rf"(?i){HEADING}[\"']?(?:\s*\([^()\n]*\)|\s*[:={{\]])\s*[:{{\[]?[ \t\r]*$",
        is_keylike,
        example="recovery codes:\n«no3ip-df14t»",
        below=r"[ \t]*(?:[-*\d.)]{1,3}[ \t]+)?(?:[\"']?[\w. -]{1,60}[\"']?\s?[:=]\s?)?[\"']?"
        r"(?P<v>[^\s\"'`,;:]{1,400})[\"']?,?[ \t\r]*(?:\n|$)",
        block=True,
    ),
    MaskingRule(
        "KEY",
        r"(?:pass|pwd|secret|token|key)\w*[\"']?(?:\s*[,|;)\t]|  )"
        r"|(?:[,|;\t]|  )\s*[\"']?\w*(?:pass|pwd|secret|token|key)",
        "",
        is_password,
        example="| user | password |\n| ada | «tiger» |",
        cells=True,
    ),
)
# What no table foresees: all that speaks for a word is added up.
ADDED_UP = (
    MaskingRule("KEY", LOOKS, "", example="ldap_default_authtok = «kestrel-Bind-41»", finds=in_line),
    MaskingRule("KEY", LOOKS, "", example="your new password is\n\n  «Kestrel-Bind-41»", reach=1, finds=beside_line),
)
CREDENTIALS: tuple[MaskingRule, ...] = (
    *MAKERS,
    *IN_ADDRESSES,
    *IN_HEADERS,
    *IN_COMMANDS,
    *BY_NAME,
    *SAID,
    *APART,
    *ADDED_UP,
)

CELLS = re.compile(r"(?:[^,|;\t ]| (?! ))+")
NAMED_CELL = re.compile(
    rf"(?i)[\s\"'`]*[\w.-]{{0,40}}?(?:{PASSWORD_NAMES}|{KEY_NAMES}|{SECRET_NAMES}|(?P<token>{TOKEN_NAMES}))[\s\"'`]*"
)
HEAD_CELL = re.compile(r"[\s\"'`]*[A-Za-z][\w .-]{0,30}[\s\"'`]*|\s*")
ROW = re.compile(r"(?i)\(([^()\n]{1,300})\)\s{0,3}values\s{0,3}\(([^()\n]{1,600})\)")


def cells_below(text: str, start: int) -> tuple[list[tuple[int, int]], int]:
    """The secret values in a table whose first line, at `start`, names its columns, and where the table ends.

    It goes on as long as its lines have as many cells, and names its columns anew where a line does. Each line is
    looked at once.
    """
    found: list[tuple[int, int]] = []
    named: dict[int, bool] = {}
    count, first = 0, start
    while start < len(text):
        stop = line_end(text, start)
        cells = list(CELLS.finditer(text, start, stop))
        if len(cells) < 2 or len(cells) != (count or len(cells)):
            break
        found += (value for at in sorted(named) if (value := value_of(cells[at], named[at])))
        if all(HEAD_CELL.fullmatch(cell[0]) for cell in cells):
            heads = ((at, NAMED_CELL.fullmatch(cell[0])) for at, cell in enumerate(cells))
            named |= {at: bool(head["token"]) for at, head in heads if head}
        if not named:
            break
        count, start = len(cells), stop + 1
    return found, max(start, line_end(text, first))


def values_of_rows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The secret values of `(names) VALUES (values)`."""
    for pair in ROW.finditer(text, start, end):
        for name, cell in zip(CELLS.finditer(pair[1]), CELLS.finditer(text, *pair.span(2)), strict=False):
            if NAMED_CELL.fullmatch(name[0]) and (value := value_of(cell)):
                yield value


def value_of(cell: re.Match[str], token: bool = False) -> tuple[int, int] | None:
    """Where the bare value of a cell stands, where it may be a secret; of a column of tokens, no word."""
    bare = cell[0].strip(" \"'`")
    if not (is_token if token else is_password)(bare) or bare.startswith("--"):
        return None
    begin = cell.start() + cell[0].index(bare)
    return begin, begin + len(bare)
