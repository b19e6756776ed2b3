# ruff: noqa: E501
"""A script that a program or a person still has to fill in: said once, and nothing else is said of its gaps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from graph.verification.checks.rule import Hit, Rule
from graph.verification.checks.subject import Subject

# What template engines fill in: Jinja, Mustache, `@@NAME@@`, Python's `$$NAME`, and words that say what they stand for.
GAP = re.compile(
    r"\{\{-?\s*[A-Za-z_][\w.\[\]'\"|() -]*\}\}|\{%-?.*?%\}|@@?[A-Z][A-Z_0-9]*@@?|(?<=[=: ])@[A-Z][A-Z_0-9]+(?![\w@.])|\$\$[A-Za-z_]\w+|\b[A-Z_]+_PLACEHOLDER\b|<%=?.*?%>"
)
# A person's: `<account>` in a directive or as a word of the code, where the shell would read a redirection.
HOLE = re.compile(r"(?<![<\w$&\d])<[A-Za-z][\w .:/-]*>(?!\()")


# Python's `{nodes}`. The shell leaves it as it is, so it is a gap where a directive holds one of the same name.
FORMAT = r"(?<![$\w{{\\])\{{({})\}}(?!\}})"
ANY_NAME = re.compile(FORMAT.format(r"[A-Za-z_]\w*"))
DIRECTIVE = re.compile(r"#(SBATCH|PBS|BSUB|MSUB)\s")


@cache
def gap_lines(lines: tuple[str, ...], flux: bool, every: bool = False) -> tuple[int, ...]:
    """The lines that hold a gap of a template engine. Flux's own `{{id}}` in a directive is none."""
    gap = gap_of(lines, every)
    found = (number for number, line in enumerate(lines, 1) if gap.search(line) and not own_comment(line))
    return tuple(number for number in found if not (flux and lines[number - 1].lstrip().startswith("#")))


@cache
def gap_of(lines: tuple[str, ...], every: bool = False) -> re.Pattern[str]:
    """What a gap looks like in this script. every: with a name of Python's in a directive, each such name is one."""
    names = sorted({name for line in lines if DIRECTIVE.match(line) for name in ANY_NAME.findall(line)})
    own = ANY_NAME.pattern if every else FORMAT.format("|".join(names))
    return re.compile(f"{GAP.pattern}|{own}") if names else GAP


def own_comment(line: str) -> bool:
    """A comment that is no directive."""
    return bool(re.match(r"\s*#(?!(SBATCH|PBS|BSUB|flux:|FLUX:|MSUB))", line))


def gaps(s: Subject) -> tuple[int, ...]:
    return gap_lines(tuple(s.lines), s.scheduler == "flux")


def template(s: Subject) -> Iterator[Hit]:
    found = gaps(s)
    if found:
        gap = gap_of(tuple(s.lines)).search(s.line(found[0]))
        more = f", and {len(found) - 1} more lines" if len(found) > 1 else ""
        yield Hit(found[0], f"a template: {gap[0] if gap else 'a gap'} and its like are to be filled in first{more}")


RULES = (
    Rule("script-template", "shell", "warning", "a template (`{{ nodes }}`, `@@NAME@@`) that is still to be filled in: said once", template,
         why="the lines that hold gaps were not checked: check the script that comes out of it"),
)  # fmt: skip
