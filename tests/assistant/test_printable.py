"""What steers a terminal or turns letters round gets out of no door, whatever it came from."""

from __future__ import annotations

import ast
import io
import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from assistant import cli
from assistant.attachments import clean
from assistant.commands import rehearse as rehearse_command
from assistant.events import Answer, Text
from assistant.mcp.shaping import safe
from assistant.printing.terminal import BOLD, NORMAL, PrintableStream, overwrite
from assistant.running import EXACT
from assistant.slack.blocks import preformatted
from assistant.tui.widgets.log_view import shown
from graph.verification.checks.report import clean as clean_of_check
from graph.verification.rehearsal.types import Rehearsal
from knowledge.document import Document, Quote
from knowledge.printable import printable, printable_in
from knowledge.types import Finding, LaunchBundle, Made

ROOT = Path(__file__).parents[2]
PACKAGES = ("assistant", "graph", "knowledge", "templates")
# Clipboard, title, colours by C1, a link, the cursor, direction marks and isolates, a tag character, a bell.
HOSTILE = "\x1b]52;c;ZXZpbA==\x07A\x1b]0;title\x1b\\B\x9b31mC\x1b]8;;http://x\x1b\\D\x1b[2JE\u202eF\u2066G\U000e0041H\x07\x08\x7fI\rJ"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
# These read: they take text apart before it is understood, or hide secrets in it. None of them prints.
READERS = (
    "graph/debugging/log.py", "graph/extraction/", "graph/reading/", "knowledge/ingest/page.py",
    "knowledge/masking_form.py", "knowledge/schedulers/outputs.py", "graph/planning/", "templates/saved.py",
)  # fmt: skip


def test_it_takes_all_of_it_and_nothing_else() -> None:
    assert printable(HOSTILE) == "ABCDEFGHIJ"
    plain = "tab\tand\nline, \u00fcml, \u4e2d, \U0001f468\u200d\U0001f469, \u0645\u06cc\u200c\u0631\u0648\u062f [31m"
    assert printable(plain) == plain
    assert printable("a\r\nb") == "a\nb"
    assert printable("a\x00b", "?") == "a?b"


@pytest.mark.parametrize("door", [clean, safe, lambda text: shown(text.encode()), clean_of_check, printable])
@pytest.mark.broke("terminal codes")
def test_every_door_prints_through_it(door: object) -> None:
    assert not STEERING.search(door(HOSTILE))  # type: ignore[operator]


def test_slack_gets_nothing_that_steers() -> None:
    assert not STEERING.search(json.dumps(list(preformatted(HOSTILE)), ensure_ascii=False))


def test_what_a_session_says_is_printable_but_a_script_is_exact() -> None:
    events = [Text(HOSTILE), Answer(Document((Quote(HOSTILE, HOSTILE),)))]
    assert not any(STEERING.search(json.dumps(asdict(printable_in(one, EXACT)), ensure_ascii=False)) for one in events)
    made = Made(LaunchBundle("a.sh", "echo \u202e\r\n", (), "sbatch a.sh"), HOSTILE)
    told = printable_in(made, EXACT)
    assert (told.bundle, told.title) == (made.bundle, "ABCDEFGHIJ")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_stream_lets_only_our_own_codes_through() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        print(f"{BOLD}{HOSTILE}{NORMAL}\r\n\udcff", file=PrintableStream(stream))
    assert terminal.getvalue() == f"{BOLD}ABCDEFGHIJ{NORMAL}\n\n"
    assert pipe.getvalue() == f"{BOLD}ABCDEFGHIJ{NORMAL}\r\n\udcff\n"  # a script's own bytes


def test_progress_is_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", PrintableStream(terminal))
    overwrite(HOSTILE)
    assert terminal.getvalue() == "\r\x1b[KABCDEFGHIJ"


def hostile_rehearsal(*given: object, **options: object) -> Rehearsal:
    return Rehearsal(
        passed=False, findings=(Finding("rehearsal-x", "error", 1, HOSTILE, HOSTILE),), ranks=(), promised=8, nodes=2,
        nodes_of_job=2, framework="pytorch", strategy="ddp", calls=(), modules=(HOSTILE,), variables=(),
        not_run=(HOSTILE,), unseen=(HOSTILE,), isolation="namespaces", output=HOSTILE, exit_code=1, seconds=1.5,
    )  # fmt: skip


@pytest.mark.parametrize(
    "words", [["rehearse"], ["rehearse", "--json"], ["check"], ["check", "--json"], ["why"], ["extract", "--script"]]
)
@pytest.mark.broke("terminal codes")
def test_commands_print_nothing_that_steers(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rehearse_command, "rehearse", hostile_rehearsal)
    script = tmp_path / "job.sh"
    lines = f"#SBATCH -J {HOSTILE}\n#SBATCH --{HOSTILE}\nsrun {HOSTILE}\nRuntimeError: CUDA out of memory {HOSTILE}\n"
    script.write_bytes(b"#!/bin/bash\n" + lines.encode())
    machine = ["--machine", "perlmutter"] if words[0] in ("rehearse", "check") else []
    cli.main([*words, str(script), *machine])
    printed = capsys.readouterr()
    assert printed.out + printed.err
    assert not STEERING.search((printed.out + printed.err).replace("\\u", "").replace("\r\n", ""))


@pytest.mark.broke("terminal codes")
def test_nothing_else_cleans_or_goes_round_it() -> None:
    """No second set of control characters, and no way to the terminal beside the streams."""
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            name, text = str(path.relative_to(ROOT)), path.read_text()
            sets = [
                node.lineno for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
                and re.search(r"x7f-.{0,3}x9f|u202a|\x7f-\x9f|\u202a", node.value)
            ]  # fmt: skip
            round_it = re.findall(r"sys\.__std(?:out|err)__|os\.write\([12]\b|open\([\"\']/dev/tty", text)
            inside = name.startswith("graph/verification/simulator/")  # runs in the jail, where no terminal is
            if name != "knowledge/printable.py" and (
                (sets and not name.startswith(READERS)) or (round_it and not inside)
            ):
                found[name] = (sets, round_it)
    assert found == {}
