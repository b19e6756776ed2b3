"""The small parts under the session: turns on disk, attachments, drawing, saving, line mode's text."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from assistant.attachments import attach, clean, is_long, keep, named_files, worded
from assistant.drawing import markdown
from assistant.errors import InputError
from assistant.events import Asked, Diagnosed, Refused, Script, Text
from assistant.known import known
from assistant.printing.plain import emphasis
from assistant.saving import in_the_way, save
from assistant.slack.text import mrkdwn
from assistant.storage.sqlite import Sqlite
from assistant.turns import Turn, Turns
from graph.changes import changes
from graph.planning.plan import plan
from knowledge.catalogue import catalogue
from knowledge.types import (
    Alternative,
    Assumption,
    Diagnosis,
    JobRequest,
    LaunchBundle,
    LaunchPlan,
    LogEvidence,
    Made,
    Question,
    Refusal,
    SideFile,
)

BUNDLE = LaunchBundle("job.sh", "#!/bin/bash\nsrun x\n", (SideFile("ds.json", "{}\n"),), "sbatch job.sh")


def close(turns: Turns, thread: str, turn: Turn) -> None:
    with turns.database.transaction() as talk:
        assert turns.close(talk, thread, turn, [Text("hi")])


def test_turns_are_numbered_closed_and_listed(tmp_path: Path) -> None:
    turns = Turns(Sqlite(tmp_path / "c.sqlite"))
    first = turns.begin("a", "hello", [])
    assert turns.unfinished("a") == first
    close(turns, "a", first)
    assert turns.unfinished("a") is None
    turns.begin("b", "later", [])
    assert turns.begin("a", "again", []).number == 2
    assert [(t.name, t.turns, t.begins) for t in turns.threads()] == [("a", 2, "hello"), ("b", 1, "later")]


def test_an_answer_of_another_version_does_not_stop_the_program(tmp_path: Path) -> None:
    turns = Turns(Sqlite(tmp_path / "c.sqlite"))
    close(turns, "a", turns.begin("a", "hello", []))
    with sqlite3.connect(tmp_path / "c.sqlite") as database:
        database.execute("""UPDATE turns SET answer = '[{"type": "hologram"}]'""")
    assert "another version" in str(turns.history("a")[0].answer)


def test_long_text_is_what_does_not_belong_into_a_box() -> None:
    assert is_long("x\n" * 60) and is_long("x" * 9000)
    assert not is_long("train ViT\non Perlmutter")


def test_kept_text_is_whole(tmp_path: Path) -> None:
    kept = keep("a\nb\nc", tmp_path)
    assert kept.lines == 3 and Path(kept.path).read_text() == "a\nb\nc"
    assert worded(kept) == "pasted, 3 lines"


def test_an_attached_file_stays_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_bytes(b"a\n\xff\n")
    attached = attach(tmp_path / "job.log")
    assert attached.lines == 2 and attached.path == str(tmp_path / "job.log")
    with pytest.raises(InputError):
        attach(tmp_path)


def test_files_named_in_a_message(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x\n")
    path = str(tmp_path / "a.log")
    assert [a.name for a in named_files(f"why? @{path}")] == ["a.log"]
    assert [a.name for a in named_files(f" '{path}' ")] == ["a.log"]
    assert named_files(f"see {path}") == () and named_files("mail me@example.org") == ()


def test_a_file_is_found_behind_a_path_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x\n")
    assert [a.name for a in named_files(f"/gone/train.py failed, see @{tmp_path}/a.log")] == ["a.log"]


@pytest.mark.parametrize(
    "text",
    ["/usr/bin/python: " + "x" * 300, "@" + "y" * 300, "@torch.no_grad()", "~nosuch/x", "a\n  @jax.jit\ndef f():"],
)
def test_what_only_looks_like_a_file_is_said_as_it_is(text: str) -> None:
    assert named_files(text) == ()


@pytest.mark.parametrize("text", ["why? @gone.log", "see @~nosuch/x.log"])
def test_a_file_that_is_not_there_is_said(text: str) -> None:
    with pytest.raises(InputError, match="correct the name"):
        named_files(text)


def test_what_is_read_only_once_is_not_attached() -> None:
    with pytest.raises(InputError, match="give a file"):
        attach(Path("/dev/zero"))


@given(some.text())
def test_cleaned_text_moves_no_cursor(text: str) -> None:
    assert not any(c < " " and c not in "\n\t" for c in clean(text)) and "\x7f" not in clean(text)


def test_saving_overwrites_nothing_unasked(tmp_path: Path) -> None:
    paths = save(BUNDLE, tmp_path)
    assert [p.name for p in paths] == ["job.sh", "ds.json"]
    assert paths[0].stat().st_mode & 0o100
    assert in_the_way(BUNDLE, tmp_path) == () and save(BUNDLE, tmp_path)
    (tmp_path / "ds.json").write_text("mine")
    with pytest.raises(InputError, match=r"ds\.json"):
        save(BUNDLE, tmp_path)
    save(BUNDLE, tmp_path, overwrite=True)
    assert (tmp_path / "ds.json").read_text() == "{}\n"


def test_the_placeholder_account_is_pointed_out_first() -> None:
    queue = Assumption("queue", "gh", "the usual one", "https://docs.tacc.utexas.edu/x")
    made = Made(BUNDLE, "Vista", (Assumption("account", "YOUR_ACCOUNT", "not said"), queue))
    text = markdown(Script(made))
    assert text.startswith("**Before you submit:** replace `YOUR_ACCOUNT`") and "- account" not in text
    for part in ("sbatch job.sh", "srun x", "ds.json", "[docs.tacc.utexas.edu](https://docs.tacc.utexas.edu/x)"):
        assert part in text
    assert "srun x" not in markdown(Script(made), whole_script=False)


def test_a_fence_inside_a_script_does_not_end_the_block() -> None:
    text = markdown(Script(Made(LaunchBundle("a.sh", "cat <<E\n```\nE\n", (), "sbatch a.sh"), "Vista")))
    assert "````bash\ncat <<E\n```\nE\n````" in text


def test_questions_refusals_and_diagnoses_say_what_to_do() -> None:
    assert "2. fsdp" in markdown(Asked(Question("strategy", "Which?", ("ddp", "fsdp"))))
    assert "a, b, c" in markdown(Asked(Question("machine", "Which?", tuple("abcdefghijk"))))
    assert "1. take 32" in markdown(Refused(Refusal("No.", "Because.", None, (Alternative("take 32"),))))
    text = markdown(Diagnosed(Diagnosis("oom-gpu", "Out of memory.", 0.9, (LogEvidence(7, "boom", 3),), ("halve it",))))
    assert "line 7, rank 3: `boom`" in text and "1. halve it" in text and "`oom-gpu`" in text


@pytest.mark.parametrize(
    "line",
    [
        "du -sh ~/.[!.]* ~/* 2>/dev/null",
        "rm -rf logs/* old/*",
        "ls *.log *.txt",
        "cp -r $SCRATCH/* /work/*",
        "2**3 and 4**5 make 1032",
        "find . -path **/*.py -o -path **/*.sh",
        "2 * 4 GPUs * 10 h",
    ],
)
def test_stars_of_paths_and_sums_are_no_emphasis(line: str) -> None:
    assert emphasis(line, bold=False) == line
    assert mrkdwn(line) == line.replace(">", "&gt;")


def test_line_mode_drops_marks_and_keeps_code() -> None:
    text = "**Bold** and `code`, see [docs](https://x.org/a).\n\n```bash\necho `date` **x**\n```\n\nSay *yes*."
    assert emphasis(text, bold=False) == "Bold and `code`, see https://x.org/a.\n\necho `date` **x**\n\nSay 'yes'."
    assert (
        emphasis("cause: `oom`\n- `sbatch a.sh`\nRun `squeue`:", bold=False)
        == "cause: oom\n- sbatch a.sh\nRun `squeue`:"
    )
    assert emphasis("- 7: `` a `b` **c** `` x", bold=False) == "- 7: a `b` **c** x"
    assert "\x1b[1mBold\x1b[0m" in emphasis(text, bold=True)


def test_a_choice_that_was_left_to_us_shows_as_assumed() -> None:
    chips = known(JobRequest(strategy="ddp"), None, (Assumption("strategy", "ddp", "left to me"),)).chips
    assert [(c.field, c.state) for c in chips if c.value] == [("strategy", "assumed")]


def test_a_kind_of_node_shows_where_it_was_asked_for() -> None:
    cluster = catalogue().clusters["perlmutter"]
    usual = JobRequest(machine="perlmutter", framework="pytorch", strategy="fsdp", nodes=2)
    larger = replace(usual, node_type="gpu-a100-80")
    before, after = plan(usual, cluster), plan(larger, cluster)
    assert isinstance(before, LaunchPlan) and isinstance(after, LaunchPlan)
    assert "node_type" not in {chip.field for chip in known(usual, before, ()).chips}
    assert ("node_type", "gpu-a100-80", "known") in {
        (c.field, c.value, c.state) for c in known(larger, after, ()).chips
    }
    assert changes(before, after) == ("node type: gpu-a100-40 → gpu-a100-80",)
