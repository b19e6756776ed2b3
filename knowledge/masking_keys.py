"""What is secret in a text: credentials, by their makers' shapes, by what commands and addresses hold, by what is said.

Each rule has a loose pattern, too, which RE2 looks for in all lines at once: only where it stands is the exact one
tried. Each has an example with the secret between « and »; a test holds both patterns to it. The rules see a text in
its plain form (masking_form.py) as well as it stands. What stands beside a telling word no rule foresees: all that
speaks for it is added up (masking_scorer.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from knowledge.masking_commands import IN_COMMANDS
from knowledge.masking_form import line_end
from knowledge.masking_makers import IN_ADDRESSES, IN_HEADERS, MAKERS
from knowledge.masking_rule import MaskingRule
from knowledge.masking_scorer import looks, secrets, told_by
from knowledge.masking_words import is_password, is_phrase, is_scrambled, is_secret, is_seed, is_token

OF_SPELLING = """
    alfa alpha bravo charlie delta echo foxtrot golf hotel india juliett? kilo lima mike november oscar papa quebec
    romeo sierra tango uniform victor whiskey x-?ray yankee zulu zero one two three four five six seven eight nine
    capital uppercase lowercase underscore hyphen dash dot bang hash star slash
"""
SPELT = "|".join(rf"\b{word}\b" for word in OF_SPELLING.split())
BY_FORM = (
    MaskingRule(
        "KEY",
        r"phrase|mnemonic",
        r"(?i)(?:passphrase|(?:recovery|seed) phrase|mnemonic)(?: (?:for|of|on)[^\n:=]{1,80})?\s?[:=]\s{0,3}"
        r"(?P<v>[a-z]+(?: [a-z]+){1,23})(?=\s*$|[.;])",
        is_phrase,
        example="passphrase: «correct horse battery staple»",
    ),
    # The words of a wallet are a number of short ones that no sentence is made of.
    MaskingRule(
        "KEY",
        r"(?:[a-z]{3,8} ){11}[a-z]{3,8}",
        r"(?<![^\s\"':])(?P<v>[a-z]{3,8}(?: [a-z]{3,8}){11,23})(?![^\s\"'.,;])",
        is_seed,
        example="seed: «ribbon gather velvet orphan cactus theory mimic dwarf unveil lottery spike answer»",
    ),
    # Spelt aloud: letters by their names, digits in words, signs by what they are called.
    MaskingRule(
        "KEY",
        rf"(?:pass|pw|code|pin|token|key|secret).*(?:{SPELT})[ ,-]+(?:{SPELT})",
        rf"(?i)(?:pass\w*|\bpw|code|pin|token|key|secret)\b[^\n]{{0,80}}?\s(?P<v>(?:[^\W\d_]{{3,12}}[ ,-]+)?(?:{SPELT})"
        rf"(?:[ ,-]+(?:then )?(?:{SPELT}|[A-Za-z\d]\b|[a-z]{{3,12}}(?=[ ,-]+(?:{SPELT})\b))){{2,40}})\b",
        example="the temporary password is «Foxtrot Lima seven seven Oscar dash Zulu»",
    ),
    # What a variable that is called so is set to: a long word with digits in it, whatever words stand in that.
    MaskingRule(
        "KEY",
        r"(?:api_?key|access_?key|secret_?key|token|secret|password|passwd)=[\"']?[\w.+/-]{16,}",
        r"(?:^|[\s;&|])(?:export\s+)?[A-Z][A-Z0-9_]*(?:API_?KEY|ACCESS_?KEY|SECRET_?KEY|TOKEN|SECRET|PASSWORD|PASSWD)="
        r"[\"']?(?P<v>(?=[A-Za-z0-9_.+-]*\d)(?=[A-Za-z0-9_.+-]*[A-Za-z])[A-Za-z0-9_.+-]{16,})(?=[\s\"';&|]|$)",
        is_secret,
        example="export WANDB_API_KEY=«d41f77e0sample0key0not0real09b3c8a6e52»",
    ),
    # Codes for one use each, in the lines below the word for them.
    MaskingRule(
        "KEY",
        r"(?:recovery|backup|scratch|notfall|wiederherstellungs).?codes?",
        r"(?i)(?:recovery|backup|scratch|notfall|wiederherstellungs)[ -]?codes?\b[^\n]{0,80}\n"
        r"(?P<v>(?:[ \t]*(?:\d{8}|(?=[a-z-]*\d)[0-9a-z]{4,6}(?:-[0-9a-z]{4,6}){1,3})[ \t]*(?:\n|$)){1,12})",
        example="your recovery codes:\n«4f1a9-c07be\n93d2c-18ffa»",
        reach=12,
    ),
    # A word of its own that only a machine writes, with no word beside it at all.
    MaskingRule(
        "KEY",
        r"(?:^|[\s\"'=])[\w+/-]{26,}={0,2}(?:[\s\"',;]|$)",
        r"(?:(?<=[\s\"'=])(?<![Ii][Dd]: )|^)(?P<v>[A-Za-z0-9+/_-]{26,}={0,2})(?=[\s\"',;]|$)",
        is_scrambled,
        example="set store https://a «f6fBya9qqyEomUAmc8lisQlpRNH4RGlgL5Pz3637»",
    ),
)
CELLS = re.compile(r"(?:[^,|;\t ]| (?! ))+")
# The cells of a table that is drawn with bars, whatever blanks fill them.
BARRED = re.compile(r"[^|\n]+")
# What the name of a column of secrets tells.
NAMING = ("P", "K", "S", "T", "N")
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
        head = CELLS.search(text, start, stop)
        if not count and not (head and HEAD_CELL.fullmatch(head[0])):  # most lines with a telling word begin no table
            break
        drawn = text.count("|", start, stop) > 1
        cells = list((BARRED if drawn else CELLS).finditer(text, start, stop))
        if len(cells) < 2 or len(cells) != (count or len(cells)):
            break
        found += (value for at in sorted(named) if (value := value_of(cells[at], named[at])))
        if all(HEAD_CELL.fullmatch(cell[0]) for cell in cells):
            heads = ((at, told_by(cell[0].strip(" \"'`") or "-")) for at, cell in enumerate(cells))
            named |= {at: told != "P" for at, told in heads if told and told in NAMING}
        if not named:
            break
        count, start = len(cells), stop + 1
    return found, max(start, line_end(text, first))


def in_tables(text: str, parts: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The secret values in tables whose columns one of these parts names, and in `(names) VALUES (values)`."""
    table = 0
    for start, end in parts:
        if start >= table:
            below, table = cells_below(text, start)
            yield from below
        for pair in ROW.finditer(text, start, end) if text.find("(", start, end) >= 0 else ():
            for name, cell in zip(CELLS.finditer(pair[1]), CELLS.finditer(text, *pair.span(2)), strict=False):
                if told_by(name[0].strip(" \"'`") or "-") in NAMING and (value := value_of(cell)):
                    yield value


def value_of(cell: re.Match[str], token: bool = False) -> tuple[int, int] | None:
    """Where the bare value of a cell stands, where it may be a secret; of a column of tokens, no word."""
    bare = cell[0].strip(" \"'`")
    if not (is_token if token else is_password)(bare) or bare.startswith("--"):
        return None
    begin = cell.start() + cell[0].index(bare)
    return begin, begin + len(bare)


OF_CELLS = r"(?:pass|pwd|pw|kennwort|clave|senha|has[łl]o|secret|token|key)"
TABLES = MaskingRule(
    "KEY",
    rf"{OF_CELLS}\w*[\"']?(?:\s*[,|;)\t]|  )|(?:[,|;\t]|  )\s*[\"']?\w*{OF_CELLS}",
    "",
    example="| user | password |\n| ada | «tiger» |",
    finds=in_tables,
)
ADDED_UP = MaskingRule("KEY", looks(), "", example="ldap_default_authtok = «kestrel-Bind-41»", finds=secrets)
CREDENTIALS: tuple[MaskingRule, ...] = (*MAKERS, *IN_ADDRESSES, *IN_HEADERS, *IN_COMMANDS, *BY_FORM, TABLES, ADDED_UP)
