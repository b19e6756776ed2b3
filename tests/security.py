"""What once got through, and the tests that hold it now: a table of docs/security.md.

`python -m tests.security [--write] [NAME ...]` runs the tests that are marked `@pytest.mark.broke(NAME, ...)`, all or
those of some names, and counts: each case of a test is an attempt, held where it passes. --write puts the rows into the
page. `--break [NAME ...]` takes the protections away as security_broken.yaml tells, one after another in a copy of the
tree, and fails where the tests of one do not.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

from tests import security_page as page

ROOT = Path(__file__).parent.parent
MAKER = "tests/security.py"
BROKEN = Path(__file__).with_name("security_broken.yaml")
# Seconds; an attack that is not held may never end.
BROKEN_S = 180
HEAD = "| what broke | how | attempts | held | not tried here | tests |\n|---|---|---|---|---|---|"
BROKE = {
    "Landlock fallback": {
        "path socket": "a socket with a path (tmux, docker, D-Bus) leads out",
        "prlimit": "`prlimit` on processes outside",
        "signals": "signals to processes outside",
        "System V": "shared memory and queues outlive the run",
        "not named": "what could not be closed was not told",
        "another user": "by a user who owns nothing, without user namespaces, at ABI 6, 5, 4, 3 and none",
    },
    "gz bomb in Slack": {
        "packed size": "the limit counted packed bytes",
        "others wait": "a few of them stopped the bot for everyone",
        "SIGTERM": "SIGTERM was not obeyed in the middle of a turn",
    },
    "`knowledge add`": {
        "shared stream": "a PDF of one stream that 300 pages share",
        "nested HTML": "HTML of nested tables; dense and unclosed HTML",
        "no time limit": "no limits for a file: time, memory, network",
        "linked settings": "`mkdocs.yml` or `conf.py` that leads to a device or a pipe",
    },
    "masking": {
        "secret forms": "options, escapes, encodings, wraps, sentences, other languages",
        "names": "people and hosts in a sentence",
    },
    "rehearsal records": {
        "forged records": "records that the script could write",
        "terminal codes": "OSC 52 and other codes reached the terminal",
        "odd records": "records of another form ended the rehearsal",
    },
    "disk and memory": {"disk": "files of 400 MB", "memory": "no limit of memory"},
    "paths": {
        "endless paths": "pipes, devices, the kernel's log, given to any command",
        "openers": "anything but the one opener opened a path",
    },
    "small": {
        "direction marks": "U+202E and isolates in a script",
        "corrupted database": "`doctor` called it well; an error's line held content of a row",
        "unsigned": "signed deep JSON, odd times and signatures gave 500",
        "commanding variables": "`LD_PRELOAD=`, `BASH_ENV=`, `PATH=` passed without a word",
    },
    "faults": {
        "full disk": "a full disk",
        "read-only home": "a home that cannot be written",
        "older database": "a database of an older version",
        "newer database": "a database of a newer version",
        "clock": "a clock that jumps, back and forth",
        "no locks": "a file system without locks (NFS)",
        "two programs": "two programs on one thread",
        "PostgreSQL": "PostgreSQL restarted in a turn",
        "cut socket": "Slack's socket cut in a turn",
        "killed worker": "a worker killed in a turn",
        "fifty threads": "fifty threads at once",
        "out of order": "events out of order, and twice",
    },
}  # fmt: skip


def marked(path: Path) -> dict[str, list[str]]:
    """The tests of a file by the names of their marks; also where the name is one that nobody knows."""
    found = defaultdict(list)
    for node in ast.walk(ast.parse(path.read_text())):
        for mark in node.decorator_list if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ():
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.broke":
                for name in mark.args:
                    found[ast.literal_eval(name)].append(node.name)
    return found


def tests_of() -> dict[str, dict[str, list[str]]]:
    """name -> file below tests/ -> tests, in the files' order."""
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name, tests in marked(path).items() if "mark.broke" in path.read_text() else ():
            found[name][str(path.relative_to(ROOT / "tests"))] = tests
    return found


class Counted:
    """Told by pytest of each case: how many were tried, held and skipped, by name."""

    def __init__(self) -> None:
        self.names: dict[str, tuple[str, ...]] = {}
        self.tried: dict[str, int] = defaultdict(int)
        self.held: dict[str, int] = defaultdict(int)
        self.skipped: dict[str, int] = defaultdict(int)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            self.names[item.nodeid] = tuple(str(name) for mark in item.iter_markers("broke") for name in mark.args)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name in self.names.get(report.nodeid, ()):
            self.skipped[name] += report.skipped
            self.tried[name] += report.failed or (report.when == "call" and report.passed)
            self.held[name] += report.when == "call" and report.passed


def tests_cell(found: dict[str, list[str]]) -> str:
    return "; ".join(f"`{file}`: {', '.join(f'`{one}`' for one in tests)}" for file, tests in found.items())


def as_rows(counted: Counted, old: dict[str, list[str]]) -> list[str]:
    """The table's lines; where a name was not run now, its counts of before."""
    where, lines = tests_of(), [HEAD]
    for row, items in BROKE.items():
        for name, how in items.items():
            counts = [str(one[name]) for one in (counted.tried, counted.held, counted.skipped)]
            if not counted.tried[name] and not counted.skipped[name]:
                counts = old.get(how, ["", "", "0", "0", "0"])[2:5]
            lines.append(f"| {' | '.join([row, how, *counts, tests_cell(where.get(name, {}))])} |")
    return lines


def broken(name: str, files: dict[str, list[str]], change: dict[str, str]) -> str:
    """What the tests of a name say where its protection was taken away: `red`, or `green`, which proves nothing."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        for part in ("assistant", "graph", "knowledge", "templates", "tests", "docs"):
            shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy2(ROOT / "pyproject.toml", tree)
        path = tree / change["file"]
        before, found, after = path.read_text().rpartition(change["old"])
        if not found:
            return f"{change['file']} has no such words any more"
        path.write_text(before + change["new"] + after)
        cases = [f"tests/{file}::{test}" for file, tests in files.items() for test in tests]
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *cases]
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        try:
            done = subprocess.run(
                command, cwd=tree, env=environment, capture_output=True, timeout=BROKEN_S, check=False
            )
        except subprocess.TimeoutExpired:
            return "red: no end"
        return {0: "green", 1: "red"}.get(done.returncode, f"pytest ended with {done.returncode}")


def break_each(names: list[str]) -> int:
    """Print what the tests of each name say without its protection; how many did not notice."""
    changes, where, unseen = yaml.safe_load(BROKEN.read_text()), tests_of(), 0
    for name in names or changes:
        said = broken(name, where[name], changes[name])
        unseen += not said.startswith("red")
        print(f"{name}: {said}", flush=True)
    return unseen


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="put the table into docs/security.md")
    parser.add_argument("--break", dest="breaks", action="store_true", help="see the tests fail without what they hold")
    parser.add_argument("names", nargs="*", help="these alone")
    told = parser.parse_args()
    if told.breaks:
        return break_each(told.names)
    chosen = {name: files for name, files in tests_of().items() if not told.names or name in told.names}
    cases = {f"tests/{file}::{test}" for files in chosen.values() for file, tests in files.items() for test in tests}
    counted = Counted()
    failed = pytest.main(["-q", "--rootdir", str(ROOT), *sorted(cases)], plugins=[counted])
    table = "\n".join(as_rows(counted, {cells[1]: cells for cells in page.rows(MAKER)}))
    print(table)
    if told.write:
        page.put(MAKER, table)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
