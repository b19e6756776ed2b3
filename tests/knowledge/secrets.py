"""How many secrets masking finds, and how many harmless lines it touches.

`python -m tests.knowledge.secrets [FILE.jsonl ...]`: lines of {"text", "secret"} and, if it pleases, "shape"; where the
secret is empty, the text has none and must stay as it is. Without a file, the corpus beside this one; with --write, its
figures go into docs/security.md. Prints each
secret that was left in sight, and each line without any, there and in goldens and logs, of which a part was taken for a
credential.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from knowledge.masking import Masker, hide
from knowledge.masking_form import plain_form
from tests import security_page as page
from tests.golden import make as golden

TESTS = Path(__file__).parent.parent
CORPUS = Path(__file__).with_suffix(".jsonl")
# Harder than life, on both sides: passwords without a telling word, harmless values behind an option for one.
HARD = CORPUS.with_name("secrets_hard.jsonl")
HARMLESS = ("logs/*/*", "ports/sources/*", "graph/debugging/harmless.txt")
SHORTEST = 6
MAKER = "tests/knowledge/secrets.py"
# Of secrets that were written without a look at the rules, what the first try found: it cannot be measured again.
FIRST_TRIES = (
    ("blind, 114 shapes, first try", "267 of 291", "9 of 320"),
    ("blind, 139 shapes, 2026-11-22, first try", "127 of 139", "0 of 60"),
    ("by one who had read the rules, 94 shapes, 2026-11-23, first try", "190 of 200", "3 of 200"),
    ("the same after mending, 34 other shapes, 2026-11-23, first try", "99 of 102", "4 of 100"),
    ("before a look at the rules, 49 groups of shapes, 2026-11-23, first try", "264 of 312", "14 of 278"),
    ("by the same after mending, 72 other groups, 2026-11-23, first try", "107 of 148", "12 of 144"),
    ("by the same after mending again, 52 other groups, 2026-11-23, first try", "73 of 86", "9 of 113"),
    ("by the same after mending again, 18 other groups, 2026-11-23, first try", "28 of 32", "1 of 30"),
    ("before a look at the rules, 197 shapes, 2026-11-23, before persons and public shapes", "251 of 264", "31 of 142"),
    ("the same texts, what a model reads, first try after that", "253 of 264", "6 of 142"),
    ("by one who had read the rules, in 28 persons' manners, 2026-11-23, first try", "113 of 157", "2 of 163"),
    ("the half of these that was kept unseen, when signs were added up", "67 of 79", "1 of 81"),
    ("blind, 260 shapes, 2026-11-23, first try", "167 of 179", "3 of 100"),
    ("blind, 766 shapes, 2026-11-23, first try", "435 of 506", "24 of 337"),
    ("blind, 219 shapes as in life, 2026-11-29, first try", "213 of 220", "5 of 120"),
    ("blind, 220 shapes of a European centre, 2026-11-29, first try", "206 of 220", "4 of 120"),
    ("blind, 349 shapes harder than life, 2026-11-29, first try", "310 of 350", "58 of 250"),
    (
        "blind, 208 shapes of a security engineer, after mending on these, 2026-11-29, first try",
        "214 of 220",
        "3 of 120",
    ),
    ("blind, 199 shapes of a help desk, after mending on all, 2026-11-29, first try", "212 of 220", "1 of 150"),
    ("blind, 227 shapes of several groups, after mending on that too, 2026-11-29, first try", "226 of 230", "6 of 150"),
    ("blind, 250 texts of a US centre, after mending on those too, 2026-11-29, first try", "247 of 250", "7 of 150"),
    (
        "blind, 420 shapes, a third of them less usual, after mending on all, 2026-11-29, first try",
        "322 of 332",
        "1 of 150",
    ),
    (
        "blind, 500 shapes of a year's tickets, after mending on that too, 2026-11-29, first try",
        "326 of 335",
        "9 of 200",
    ),
    ("blind, what a centre's users paste, after mending on that too, 2026-11-29, first try", "324 of 330", "8 of 200"),
    (
        "blind, two centres, one in seven odd, after mending on that too, 2026-11-29, first try",
        "320 of 331",
        "16 of 200",
    ),
    ("blind, 330 shapes of a help desk overseas, 2026-11-29, first try", "318 of 349", "10 of 200"),
    ("blind, 330 shapes of research engineers, 2026-11-29, first try", "350 of 371", "21 of 200"),
)


class Secret(NamedTuple):
    text: str
    secret: str
    shape: str


def read(path: Path) -> list[Secret]:
    lines = path.read_text(encoding="utf-8").split("\n")
    cases = [json.loads(line) for line in lines if line.strip()]
    return [Secret(case["text"], case["secret"], case.get("shape", "")) for case in cases]


def flat(text: str) -> str:
    """Without colours, escapes, blanks and line ends: what a reader could put together again."""
    form = plain_form(text)
    return "".join((form.text if form else text).split())


def is_shown(secret: str, text: str) -> bool:
    """Whether the secret, or a half of it that is no mere syllable, can still be read."""
    whole, left = flat(secret), flat(text)
    halves = (whole[: len(whole) // 2], whole[len(whole) // 2 :])
    return secret in text or whole in left or any(len(half) >= SHORTEST and half in left for half in halves)


def missed(cases: Iterable[Secret]) -> Iterator[Secret]:
    """Those that show after `mask`, which guards what leaves the process, or after `hide`, which guards a screen."""
    for case in cases:
        if is_shown(case.secret, Masker().mask(case.text).text) or is_shown(case.secret, hide(case.text)):
            yield case


def parted(cases: Iterable[Secret]) -> tuple[list[Secret], list[str]]:
    """The cases with a secret, and the texts without any."""
    every = list(cases)
    return [one for one in every if one.secret], [one.text for one in every if not one.secret]


def spoilt(harmless: Iterable[str]) -> list[str]:
    """Those of which something was hidden."""
    return [text for text in harmless if hide(text) != text]


def touched() -> tuple[int, list[tuple[str, str]]]:
    """Lines of goldens, logs and scripts in all, and those of which something was hidden: (file, line after it)."""
    lines, wrong = 0, []
    paths = sorted(path for pattern in HARMLESS for path in TESTS.glob(pattern) if path.is_file())
    texts = {str(path.relative_to(TESTS)): path.read_text(errors="replace") for path in paths}
    for name, text in (texts | {str(path): text for path, text in golden.files(set(golden.scripts())).items()}).items():
        lines += text.count("\n") + 1
        pairs = zip(text.split("\n"), hide(text).split("\n"), strict=False)
        wrong += [(name, after) for before, after in pairs if before != after]
    return lines, wrong


def told() -> str:
    """The figures of docs/security.md."""
    cases, harmless = parted(read(CORPUS))
    found, shapes = len(cases) - len(list(missed(cases))), len({case.shape for case in cases})
    _, wrong = touched()
    rows = [f"| {' | '.join(map(str, row))} |" for row in FIRST_TRIES]
    now = f"| the corpus, by which the rules were mended | {found} of {len(cases)}, {shapes} shapes |"
    return "\n".join(
        [
            "| lines | secrets found | lines without any that were touched |\n|---|---|---|",
            *rows,
            f"{now} {len(spoilt(harmless))} of {len(harmless)} |",
            f"| golden scripts, logs, strangers' scripts | | {len(wrong)} of more than 10,000 |",
        ]
    )


def main() -> None:
    if sys.argv[1:] == ["--write"]:
        page.put(MAKER, told())
        return
    for path in [Path(name) for name in sys.argv[1:]] or [CORPUS]:
        cases, harmless = parted(read(path))
        left = list(missed(cases))
        for case in left:
            print(f"shown: {case.shape or '-'}: {case.text!r}: {case.secret!r}")
        found = len(cases) - len(left)
        print(f"{path.name}: {found} of {len(cases)} found ({100 * found / max(1, len(cases)):.1f} %)")
        for text in (changed := spoilt(harmless)):
            print(f"taken for a secret: {text!r}: {hide(text)!r}")
        print(f"{path.name}: {len(changed)} of {len(harmless)} lines without a secret touched")
    lines, wrong = touched()
    for name, line in wrong:
        print(f"hidden in {name}: {line[:160]}")
    print(f"goldens, logs, scripts: {len(wrong)} of {lines} lines touched ({100 * len(wrong) / lines:.2f} %)")


if __name__ == "__main__":
    main()
