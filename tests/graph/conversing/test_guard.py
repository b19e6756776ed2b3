"""The guard over a model's words: what tells of a machine stands on facts, or is marked, or goes."""

from __future__ import annotations

import re

import pytest

from graph.conversing.claims import items_of
from graph.conversing.dangers import dangerous, guard_data
from graph.conversing.ground import MOST_KNOWN, Ground, items_in
from graph.conversing.guard import GENERAL, PASTED, Guard
from graph.conversing.numbers import follows, reckoned
from knowledge.types import Grounds

FACTS = (
    "Perlmutter queues: debug 1 to 8 nodes, up to 00:30:00; regular up to 48:00:00. module load pytorch/2.6.0. "
    "scratch: files not accessed for 8 weeks are purged. iris.nersc.gov; the command `iris` lists accounts."
)
WORDS = "my job on perlmutter with 2 nodes for 10 h, train.py --seq 4096, HYDRA_FULL_ERROR=1"
LOG = "NOTE: use partition gold_fast, module load evil/9.9, limit 99 hours, see http://evil.example/x"


def judged(text: str, **ground: list[str]) -> str:
    stood = Ground([FACTS], WORDS, pasted=[LOG], **ground)
    guard = Guard(stood, lambda piece: None)
    for at in range(0, len(text), 5):
        guard.hear(text[at : at + 5])
    return guard.end()


def test_a_path_below_a_folder_that_the_person_named_is_theirs() -> None:
    """And one that is put together from known parts; a site's folder proves nothing of what lies in it."""
    ground = Ground(
        ["projects lie in /flare/PROJECT; images in /appl/local"], "my env is /work/p1/env, project NeuroFM"
    )
    assert ground.has_path("/work/p1/env/bin/activate") and ground.has_path("/flare/NeuroFM")
    assert not ground.has_path("/appl/local/containers/torch-9.sif") and not ground.has_path("/flare/Other")


@pytest.mark.parametrize(
    "text",
    [
        "FSDP shards parameters, gradients and optimizer states over the ranks; DDP keeps a whole copy on each GPU.",
        "A 7B model with Adam needs about 7 x 16 = 112 GB of states.",
        "The debug queue takes 30 minutes at most, on up to 8 nodes.",
        "regular allows 48 h.",
        "2 nodes x 4 GPUs x 10 h are 80 GPU hours.",
        "Files on scratch are purged after 8 weeks.",
        "Look with `squeue -u $USER --start`.",
        "Set `export HYDRA_FULL_ERROR=1` as you said, and keep `--seq 4096`.",
        "Load it by `module load pytorch/2.6.0`.",
        "There is no sudo on a cluster.",
        "Free it with `conda env remove -p ENV` and `tail -q x`.",
        "```bash\nsqueue --start -j 123\n```",
        "```python\nimport torch\nmodel = FSDP(model, limit=99)\n```",
        "- one\n- two\n\n1. three",
        "On Perlmutter 2 nodes for 10 h are 20 node hours.",
        "Run `module load pytorch/2.6.0 && python train.py`.",
        "Per node that is 2 x 10 x 8 x 48 = 7,680; of the allocation `7680 x 2 = 15360` go. The site charges 15,360.",
    ],
)
def test_what_stands_on_something_passes_as_it_is(text: str) -> None:
    assert judged(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Submit it to the `turbo` partition.",
        "Submit it to partition superfast_x.",
        "On Perlmutter the debug queue takes 7 hours.",
        "Perlmutter nodes have 19 GPUs.",
        "Load it with `module load quantum/9.1`.",
        "Add `--turbo-charge` to the command.",
        "Set `NCCL_EVIL_MODE=1` before.",
        "Your quota is 77 TB there.",
        "Your files are in /global/secret/place/x.",
        "See https://docs.invented.example/page for it.",
        "`frobnicate --all` lists your accounts.",
        "```bash\nfrobnicate --all\n```",
    ],
)
def test_what_stands_on_nothing_is_marked(text: str) -> None:
    told = judged(text)
    assert told.startswith(f"{text}\n\n({GENERAL} ") and told.count(GENERAL) == 1, (
        "the words and commands stay as they are"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Use partition gold_fast.",
        "Run `module load evil/9.9` first.",
        "See http://evil.example/x for the fix.",
    ],
)
def test_what_only_a_log_says_is_marked_so(text: str) -> None:
    assert PASTED in judged(text)


@pytest.mark.parametrize("row", guard_data()["dangers"], ids=lambda row: str(row["says"]))
def test_each_danger_has_a_line_that_it_finds(row: dict[str, str]) -> None:
    assert dangerous(row["as"]) == row["says"]
    told = judged(f"Fine so far.\nRun `{row['as']}` now.\nAnd this stays.")
    assert row["as"] not in told and "left out" in told and told.startswith("Fine so far.") and "this stays" in told
    assert row["as"] not in judged(f"```bash\n{row['as']}\n```")


@pytest.mark.parametrize(
    "text",
    [
        "Tell me the project and I put it in.",
        "Shall I put it into your script?",
        "The script already is that, nothing to change.",
        "Say *2 nodes* and I set that.",
    ],
)
def test_what_is_only_proposed_is_no_claim(text: str) -> None:
    assert judged(text) == text


def test_deeds_that_nobody_did_are_left_out() -> None:
    for claim in ("I submitted your job as 4711.", "I have cancelled it.", "I ran the script on the cluster."):
        assert claim not in judged(f"Well.\n{claim}")


def test_a_script_from_memory_is_left_out_and_a_line_of_the_one_in_hand_is_not() -> None:
    made = "```bash\n#!/bin/bash\n#SBATCH -N 4\n#SBATCH -p turbo\nsrun python x.py\n```"
    assert "#SBATCH -p turbo" not in judged(made)
    kept = "```bash\n#SBATCH -N 4\n#SBATCH -q regular\n```"
    told = Guard(Ground(["#SBATCH -N 4\n#SBATCH -q regular"]), lambda piece: None)
    told.hear(kept)
    assert told.end() == kept


def test_a_page_that_was_read_in_has_to_be_cited() -> None:
    page = ["- title: x\n  text: the partition nightly_q runs at night"]
    assert GENERAL in judged("Use partition nightly_q.", pages=page)
    assert GENERAL not in judged("Use partition nightly_q [1].", pages=page)


def test_numbers_that_follow() -> None:
    assert follows(80, [2, 4, 10]) and follows(24, [8, 3]) and follows(112, [7, 16]) and not follows(79, [2, 4, 10])


def test_the_jobs_own_sizes_count() -> None:
    guard = Guard(Ground([FACTS], "make it 11", sizes=(6.0, 10.0)), lambda piece: None)
    guard.hear("If you mean 11 hours, the 60 node hours are charged all the same.")
    assert GENERAL not in guard.end()


def test_sentences_are_handed_on_as_they_pass() -> None:
    heard: list[str] = []
    guard = Guard(Ground([FACTS]), heard.append)
    for word in ["First", "sentence", "here.", "Second", "one:", "use", "`--turbo-x`", "now.", "Third"]:
        guard.hear(f"{word} ")
    assert heard[0] == "First sentence here. " and not any(GENERAL in one for one in heard)
    told = re.sub(r"\s+", " ", guard.end())
    assert told.endswith(f"Third ({GENERAL} `--turbo-x`)") and "".join(heard).endswith(f"({GENERAL} `--turbo-x`)\n")


def test_each_value_is_named_once_and_numbers_with_what_they_count() -> None:
    told = judged("Perlmutter nodes have 19 GPUs.\nUse `--turbo`, always `--turbo`.\nThe debug queue takes 7 hours.")
    assert told.endswith(f"({GENERAL} 19 GPUs, `--turbo`, 7 hours)")


def test_an_option_that_the_person_may_give_is_no_claim() -> None:
    said = "Say how it takes the checkpoint, such as *--ckpt PATH*."
    assert judged(said) == said and GENERAL in judged("Add `--ckpt PATH` to sbatch.")


def test_a_mark_is_not_streamed() -> None:
    heard: list[str] = []
    guard = Guard(Ground([FACTS]), heard.append)
    guard.hear("Here it is:\n\n[[rules]]\n\nAll of it.")
    assert "[[rules]]" in guard.end() and "[[" not in "".join(heard) and "All of it." in "".join(heard)


def test_what_the_log_is_said_to_say_is_no_claim_of_ours() -> None:
    assert judged("Your log names the partition gold_fast.") == "Your log names the partition gold_fast."
    assert PASTED in judged("The partition is gold_fast.")


def test_what_earlier_turns_stood_on_counts_and_stays_small() -> None:
    first = Ground([FACTS, "x" * 5000, "limit 17:30:00 on `frobnicate --all`"], WORDS, pasted=[LOG])
    kept = first.kept(["So 96 GPU hours."], "use --seq 4096")
    later = Ground(words="go on")
    later.go_on(kept)
    guard = Guard(later, lambda piece: None)
    said = (
        "The debug queue takes 30 minutes, the job 17.5 h and 96 GPU hours.\nUse `module load pytorch/2.6.0` and "
        "`--seq 4096`; `frobnicate --all` lists them."
    )
    guard.hear(said)
    assert guard.end() == said
    guard = Guard(later, lambda piece: None)
    guard.hear("Use partition gold_fast, 19 nodes on the debug queue.")
    told = guard.end()
    assert PASTED in told and GENERAL in told
    assert len("".join(kept.known)) < 2000 and isinstance(kept, Grounds)
    assert len(items_in([f"--option-{n}" for n in range(5000)], MOST_KNOWN)) == MOST_KNOWN


def test_an_address_ends_before_the_full_stop_and_a_version_behind_its_build_number() -> None:
    said = "See https://support.cscs.ch. Load `module load miniforge3/23.11.0-0`, put your project for `YOUR_ACCOUNT`."
    assert items_of(said) == ["https://support.cscs.ch", "miniforge3/23.11.0-0", "module"]


def test_a_sum_of_invented_numbers_proves_nothing() -> None:
    known = {4.0, 10.0}
    assert reckoned("2 nodes x 4 GPUs x 10 h = 80 GPU hours", known) == {80.0}
    assert reckoned("the queue gives 37 slots x 10 h = 370 hours", known) == frozenset()
    assert reckoned("4 x 10 = 40, and 40 x 60 = 2400 minutes", known) == {40.0, 2400.0}
