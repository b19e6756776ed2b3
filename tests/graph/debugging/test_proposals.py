"""A correction as a signature: its pattern, the trial on kept cases, and what keeps it from counting."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from graph.debugging.diagnosis import diagnose
from graph.debugging.proposals import (
    Labelled,
    Proposal,
    accept,
    judged,
    merged,
    pattern_of,
    proposal_of,
    telling,
    try_out,
)
from knowledge.signatures.loader import library
from knowledge.signatures.matcher import Matcher, compiled

LINE = "frobnicator: fatal: license server lic01 answers no more (code 17), giving up"
LOG = f"step 10 loss 2.1\n{LINE}\nsrun: error: nid001234: task 3: Exited with exit code 1\n"


def made(cause: str = "user-auth", fix: str = "", line: str = LINE, log: str = LOG) -> Proposal:
    found = proposal_of(cause, "unknown", fix, line, log)
    assert found
    return found


@pytest.mark.parametrize(
    ("line", "like", "unlike"),
    [
        (LINE, LINE.replace("17", "3").replace("lic01", "lic22"), "frobnicator: fatal: no disk"),
        ("cannot open '/scratch/a/b.pt' (0x7f3a)", "cannot open '/lustre/x/y/z' (0x11)", "cannot open x"),
        ("user <USER_1>: quota [5] exceeded*", "user alice: quota [77] exceeded*", "user alice: quota"),
    ],
)
def test_what_differs_from_job_to_job_matches_any_such_thing(line: str, like: str, unlike: str) -> None:
    pattern = compiled(pattern_of(line))
    assert pattern.search(line.encode()) and pattern.search(like.encode()) and not pattern.search(unlike.encode())


def test_it_mends_its_case_and_leaves_the_others() -> None:
    cases = [Labelled("own", LOG, "user-auth"), Labelled("like", LOG.replace("17", "4"), "user-auth"),
             Labelled("oom", "torch.OutOfMemoryError: CUDA out of memory.\n", "gpu-oom")]  # fmt: skip
    trial = try_out(made(), cases)
    assert trial.fit and (trial.before, trial.after) == (1, 3)
    assert trial.mended == ("own", "like") and trial.broken == ()


def test_advice_on_a_known_line_comes_before_its_steps_and_changes_nothing_else() -> None:
    line = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    known = diagnose(line)
    advice = proposal_of("", "gpu-oom", "switched the validation images off", line, f"{line}\n")
    assert advice
    trial = try_out(advice, [Labelled("own", f"{line}\n", "gpu-oom")])
    assert trial.fit and trial.signature
    told = judged(f"{line}\n", Matcher((*library().signatures, trial.signature)))
    assert (told.says, told.sources, told.facts) == (known.says, known.sources, known.facts)
    assert "2.00 GiB" in told.says and told.fix == ("switched the validation images off", *known.fix)


def test_one_that_makes_a_kept_case_wrong_does_not_fit() -> None:
    """Who corrects it sees this line; elsewhere it was something else."""
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    line = "worker lost while it held the lock, retrying never helps"
    other = Labelled("other", f"{oom}{line}\n", "gpu-oom")
    trial = try_out(
        made("env-disk", line=line, log=f"{line}\n{oom}"), [other, Labelled("x", f"{line}\n{oom}", "gpu-oom")]
    )
    assert not trial.fit and "x" in trial.broken


def test_what_another_signature_knows_better_or_every_log_says_is_not_taken() -> None:
    assert "fixed" in " ".join(try_out(made(line="loss 12 step 3", log="loss 12 step 3\n"), []).problems)
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    trial = try_out(made("env-disk", line=oom, log=oom), [])
    assert not trial.fit and trial.problems


def test_a_cure_alone_comes_before_the_usual_steps() -> None:
    oom = "CUDA out of memory in the fused frob kernel. Tried to allocate 2.00 GiB."
    found = proposal_of("", "gpu-oom", "Set FROB_WORKSPACE=0.", oom, f"RuntimeError: {oom}\n")
    assert found
    trial = try_out(found, [Labelled("own", f"RuntimeError: {oom}\n", "gpu-oom")])
    assert (
        trial.fit
        and trial.signature
        and trial.signature.fix[0] == "Set FROB_WORKSPACE=0."
        and len(trial.signature.fix) > 1
    )


def test_nothing_is_proposed_without_a_line_or_a_cause() -> None:
    assert proposal_of("user-auth", "unknown", "", "", "") is None
    assert proposal_of("", "unknown", "do this", LINE, LOG) is None
    assert proposal_of("no-such-cause", "unknown", "", LINE, LOG) is None
    assert proposal_of("gpu-oom", "gpu-oom", "", LINE, LOG) is None
    assert telling("\n[rank3]: \x1b[31mboom happened here\x1b[0m\nmore") == "boom happened here"


def test_several_people_make_one_proposal() -> None:
    (one,) = merged([made(), made(log=LOG.replace("step 10", "step 99"))])
    assert one.said_by == 2


def test_accepted_ones_stand_in_the_site_s_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    trial = try_out(made(), [])
    path = accept(made(), trial)
    accept(made(), trial)
    other = made(line="gribbler: no socket for channel 5 at all", log="")
    accept(other, try_out(other, []))
    entries = yaml.safe_load(path.read_text())["signatures"]
    assert [one["example"] for one in entries] == [LINE, "gribbler: no socket for channel 5 at all"]
