"""shellcheck, where it is installed: only those of its codes that break a job, in our words."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from graph.verification.checks.template_rules import gap_lines
from graph.verification.checks.words import WORDS
from knowledge.data_file import parse_json
from knowledge.types import Finding

SECONDS = 20
PAGE = "https://www.shellcheck.net/wiki/SC{}"
CODES: dict[int, list[str]] = WORDS["shellcheck"]

# A brace alone; stars in a value, which is arithmetic where the name is declared a number.
BRACE, STARS = 1083, 2125


def program() -> str | None:
    """shellcheck on the PATH, or beside this Python."""
    return shutil.which("shellcheck") or shutil.which("shellcheck", path=str(Path(sys.executable).parent))


def lint(text: str) -> list[Finding]:
    """Findings of shellcheck; none where it is not installed, takes too long, or is not meant for this shell."""
    found = program()
    if found is None:
        return []
    codes = ",".join(f"SC{code}" for code in CODES)
    try:
        done = subprocess.run(
            [found, "--shell=bash", "--format=json", f"--include={codes}", "--norc", "-"],
            input=text.encode("utf-8", "replace"), capture_output=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        rows = parse_json(done.stdout or b"[]")
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []
    lines = text.split("\n")
    lines_of: dict[int, list[int]] = {}
    for row in rows:
        line = int(row["line"])
        if row.get("code") in CODES and row["level"] in ("error", "warning") and hurts(row, lines[line - 1]):
            lines_of.setdefault(int(row["code"]), []).append(line)
    gaps = gap_lines(tuple(lines), False, every=True)
    return [made(code, kept) for code, told in lines_of.items() if (kept := sorted(set(told) - set(gaps)))]


def hurts(row: dict[str, int | str], line: str) -> bool:
    """Whether the shell does something else than what stands there: a word with a brace in it is only a word."""
    if row["code"] == BRACE:
        return bool(re.fullmatch(r"\s?[{}]\s?", line[max(int(row["column"]) - 2, 0) : int(row["column"]) + 1]))
    return not (row["code"] == STARS and re.search(r"\b(declare|typeset|local)\s+-\w*i|\blet\b", line))


def made(code: int, lines: list[int]) -> Finding:
    says, why = CODES[code]
    says += f", and on {len(lines) - 1} more lines" if len(lines) > 1 else ""
    return Finding(f"shellcheck-{code}", "warning", lines[0], says, why, PAGE.format(code))
