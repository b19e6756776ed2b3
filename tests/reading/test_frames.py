"""Wishes for parts of a job in any order of words, and the words that docs/edits.md says for each edit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph.extraction.request import understand
from graph.reading.edits import apply_edits
from graph.reading.frames import find_frames
from graph.reading.reader import read_utterance
from graph.reading.utterance import ThreadView
from graph.wishes import wishes
from knowledge.catalogue import catalogue
from knowledge.job_parts import ArgumentEdit, ArrayAxis, Dependency, JobArray, LimitSignal, Mail, Program
from knowledge.types import JobRequest, Understood
from tests.golden.edits import BASE, EDITS, CoveredEdit

JOB = replace(BASE, machine="perlmutter", nodes=4, gpus_per_node=4)
OWN = ("JAX", "Ray", "vLLM", "TensorFlow", "Horovod", "one GPU")  # their strategy follows from the framework or size


def heard(text: str, before: JobRequest = JOB) -> Understood:
    read = understand(text, before, None, None)
    return wishes(text, before, read, catalogue().clusters["perlmutter"])[0]


def changed(text: str, before: JobRequest = JOB) -> dict[str, Any]:
    now = heard(text, before).request
    names = [name for name in JobRequest.__dataclass_fields__ if name != "heard"]
    return {name: getattr(now, name) for name in names if getattr(now, name) != getattr(before, name)}


@pytest.mark.parametrize("edit", EDITS, ids=[one.name for one in EDITS])
def test_the_words_of_the_page_ask_for_the_edit(edit: CoveredEdit) -> None:
    before = replace(BASE, machine="perlmutter")
    read = heard(edit.sentence, before)
    names = {name for name in JobRequest.__dataclass_fields__ if name != "heard"}
    names -= {"strategy", "args", "total_gpus", "model"} if edit.name in OWN else set()
    wanted = edit.change(before)
    assert {name: getattr(read.request, name) for name in names} == {name: getattr(wanted, name) for name in names}
    assert read.left == ()


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (
            "for each of the seeds 7, 8 and 9 one job, as an array, at most two at a time",
            {"array": JobArray((ArrayAxis("--seed", ("7", "8", "9")),), None, 2)},
        ),
        (
            "one task per file in conf/*.yaml as an array, handed over as --config",
            {"array": JobArray((ArrayAxis("--config", ("conf/*.yaml",)),))},
        ),
        ("wait until 4411223 has ended, whatever happened", {"dependency": Dependency("afterany", ("4411223",))}),
        ("it should run only if job 99123 fails", {"dependency": Dependency("afternotok", ("99123",))}),
        ("start behind job 12.pbs-01 please", {}),
        ("90 seconds before the limit it must get TERM", {"signal": LimitSignal("TERM", 90)}),
        ("never requeue this", {"requeue": False}),
        (
            "any change of state should be mailed: write to a@b.org on all events",
            {"mail": Mail("a@b.org", ("begin", "end", "fail", "limit"))},
        ),
        ("do not share nodes", {"exclusive": True}),
        ("put --gpu-bind=closest in there", {"extra_directives": ("--gpu-bind=closest",)}),
        ("mamba activate /p/envs/x before it", {"environment": "/p/envs/x", "environment_kind": "conda"}),
        ("go from rocm/6.2.4 to rocm/6.4.1, load those modules", {"modules": ("rocm/6.4.1",)}),
        ("mount $SCRATCH/x as /data", {"binds": ("$SCRATCH/x:/data",)}),
        (
            "add --grad-accum 8 and --fp16",
            {"argument_edits": (ArgumentEdit("add", "--grad-accum", "8"), ArgumentEdit("add", "--fp16"))},
        ),
        ("bash prep.sh --all has to run first", {"before": ("bash prep.sh --all",)}),
        (
            "afterwards eval.py --ckpt last.pt on one node for 20 min",
            {"then": (Program("eval.py", "--ckpt last.pt", 1, None, "00:20:00"),)},
        ),
        ("run b.py at the same time on half of the nodes", {"beside": (Program("b.py", nodes=2),)}),
        (
            "run sim.py beside it on one GPU, it serves port 5555",
            {"beside": (Program("sim.py", gpus_per_node=1, wait_port=5555, helper=True),)},
        ),
        ("turn on nccl debug output", {"variables": JobRequest().variables}),
    ],
)
def test_a_wish_is_read_in_any_order_of_words(text: str, changes: dict[str, Any]) -> None:
    got = changed(text)
    if changes == {}:
        assert "dependency" not in got  # a number of so few digits is no job
    elif "variables" in changes:
        assert [(one.name, one.value) for one in got["variables"]] == [("NCCL_DEBUG", "INFO")]
    else:
        assert got == changes


@pytest.mark.parametrize(
    "text",
    [
        "why did job 4411223 fail after 5 min before the limit?",
        "how do I use my conda env vit?",
        "my conda env is broken since yesterday",
        "it was requeued last night and crashed",
        "the rocm module to 6.2.4 did not load last week, why?",
    ],
)
def test_what_is_asked_or_told_changes_nothing(text: str) -> None:
    assert changed(text) == {}


def test_a_wish_for_a_part_is_no_question() -> None:
    view = ThreadView(has_script=True, last_act="write")
    assert read_utterance("we have a reservation called tut, use that", view).main.act == "edit"
    assert read_utterance("use my conda env torch26", view).main.act == "edit"


def test_another_framework_leaves_a_strategy_that_it_does_not_have() -> None:
    assert heard("serve mistralai/Mistral-7B with vLLM").request.strategy is None


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("my conda env is called llm25, activate it", "environment", "llm25"),
        ("tengo un venv en $WORK/envs/dl", "environment", "$WORK/envs/dl"),
        ("first prep.py (1 task, 1 node), then the training", "before", ("python prep.py",)),
        ("before training run ./unpack.sh, afterwards ./cleanup.sh", "after", ("bash ./cleanup.sh",)),
        ("2 nodes, 72h, and please run ./get_data.sh before", "before", ("bash ./get_data.sh",)),
        ("copy /eagle/p/set1 to /local/scratch on each node", "stage_in", ("/eagle/p/set1",)),
        ("use shifter with nersc/pytorch:25.06.01", "container_runtime", "shifter"),
        ("add two directives: --comment=paper2 and --nice=100", "extra_directives", ("--comment=paper2", "--nice=100")),
        ("add #SBATCH --nice=100 and --comment=x", "extra_directives", ("--nice=100", "--comment=x")),
    ],
)
def test_a_wish_is_read_without_a_verb_and_small_words_are_no_names(text: str, field: str, value: object) -> None:
    before = JobRequest(machine="perlmutter", nodes=4, entry="train.py", args="--epochs 10")
    assert getattr(apply_edits(before, find_frames(text, before).edits).request, field) == value


@pytest.mark.parametrize(
    "text", ["use accelerate launch instead of torchrun", "switch to accelerate", "start it with accelerate, not srun"]
)
def test_another_launcher_is_read_by_its_name(text: str) -> None:
    before = JobRequest(machine="perlmutter", nodes=4, entry="train.py", args="--epochs 10")
    request = understand(text, before, None, None).request
    assert (request.framework, request.entry, request.args) == ("accelerate", "train.py", "--epochs 10")


@pytest.mark.parametrize(
    "text", ["we use uv: run it with uv from the folder", "it copies the data to the local disk first"]
)
def test_what_names_nothing_or_only_tells_changes_nothing(text: str) -> None:
    before = JobRequest(machine="perlmutter", nodes=4, entry="train.py")
    changed = apply_edits(before, find_frames(text, before).edits).request
    assert (changed.environment, changed.stage_in) == (None, ())


def test_tasks_run_over_a_folder_or_a_number() -> None:
    before = JobRequest(machine="perlmutter", nodes=4, entry="train.py", args="--epochs 10")

    def array(text: str) -> JobArray | None:
        return apply_edits(before, find_frames(text, before).edits).request.array

    files = array("once for each yaml in configs/ as an array with --config")
    assert files is not None and files.axes == (ArrayAxis("--config", ("configs/*.yaml",)),)
    folds = array("turn it into an array job of 3, index goes to --fold")
    assert folds is not None and folds.axes == (ArrayAxis("--fold", ("0", "1", "2")),)
