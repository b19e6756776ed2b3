"""What comes after a diagnosis that did not help, and lines that are shown in the middle of a sentence."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.build import build
from graph.checkpoints import Serializer
from graph.context import Context
from graph.conversation.fix_followup import UNHELPED, go_on
from graph.state import State, new_turn
from knowledge.document import Document
from knowledge.types import AskField, Considered, Diagnosis, JobRequest, LogEvidence, Said, Say

LOG = "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
FOUND = Diagnosis(
    "comm-interface",
    "The ranks use an interface that does not reach the other nodes.",
    0.9,
    evidence=(LogEvidence(7, "no route to host", None, None),),
    fix=("Set NCCL_SOCKET_IFNAME to the fast interface.", "Look at the firewall of the nodes.", "Ask your site."),
    considered=(Considered("comm-rendezvous", "it came later", LogEvidence(9, "timed out", None, None)),),
    send_next=("the output with NCCL_DEBUG=INFO",),
)


class Talk:
    """A conversation on the real graph."""

    def __init__(self) -> None:
        self.graph = build(InMemorySaver(serde=Serializer()))
        self.state = State()

    def say(self, text: str) -> tuple[Said, ...]:
        entry, config = new_turn(1, text), {"configurable": {"thread_id": "t"}}
        self.state = self.graph.invoke(entry, config, context=Context())  # type: ignore[call-overload]
        return tuple(self.state["said"])


def words(said: tuple[Said, ...]) -> str:
    return "\n".join(
        part.text if isinstance(part, Say) else str(part) for part in said if isinstance(part, Say | Document)
    )


def test_the_next_step_is_said_and_then_the_next() -> None:
    talk = Talk()
    steps = next(part for part in talk.say(LOG) if isinstance(part, Diagnosis)).fix
    assert steps[1] in words(talk.say("that didn't help")) and "CUDA out of memory" in words(talk.say("still the same"))
    further = [words(talk.say("no luck either")) for _ in steps]
    ended = ["none of the steps" in one for one in further]
    assert ended == sorted(ended) and ended[-1], "each step is said once, then that none is left"


def test_without_a_diagnosis_the_log_is_asked_for() -> None:
    assert "Show me the log" in words(Talk().say("that didn't help"))


def test_a_new_log_starts_anew() -> None:
    talk = Talk()
    talk.say(LOG)
    talk.say("that didn't help")
    talk.say("ModuleNotFoundError: No module named 'foo'")
    assert talk.state["unhelped"] == () and "foo" in words(talk.say("did not work"))


def test_a_change_that_comes_with_it_is_made() -> None:
    talk = Talk()
    talk.say("Train with PyTorch FSDP on Perlmutter, 4 nodes, account m1")
    talk.say(LOG)
    talk.say("that didn't help, use 2 hours")
    assert talk.state["request"].walltime == "02:00:00"


def test_the_step_that_is_named_is_put_aside() -> None:
    said, tried = go_on(FOUND, (), "the firewall is open, that was not it; still hangs")
    assert tried == (FOUND.fix[1],) and f"Next: {FOUND.fix[0]}" in said.text and "no route to host" in said.text
    said, tried = go_on(FOUND, tried, "I set NCCL_SOCKET_IFNAME=hsn0, no change")
    assert tried[1] == FOUND.fix[0] and f"Next: {FOUND.fix[2]}" in said.text
    said, _ = go_on(FOUND, tried, "no luck")
    assert "comm-rendezvous" in said.text and "NCCL_DEBUG=INFO" in said.text


@pytest.mark.parametrize(
    "text",
    [
        "that didn't help",
        "did not change anything",
        "same error",
        "still crashes",
        "no luck",
        "it still fails",
        "no change",
    ],
)
def test_ways_to_say_it(text: str) -> None:
    assert UNHELPED.search(text)


@pytest.mark.parametrize("text", ["that helped, thanks", "it works now", "what is the same on Delta?", "no, 4 nodes"])
def test_what_says_something_else(text: str) -> None:
    assert not UNHELPED.search(text)


@pytest.mark.parametrize("text", ["now it says KeyError: 'foo'", "and now I get ValueError: bad shape"])
def test_a_line_inside_a_sentence_is_read(text: str) -> None:
    found = next(part for part in Talk().say(text) if isinstance(part, Diagnosis))
    assert found.cause == "user-code" and "now" not in found.evidence[0].text


def test_the_machines_own_steps_come_without_a_script_too() -> None:
    talk = Talk()
    talk.say("my job on Aurora fails:\nOSError: We couldn't connect to 'https://huggingface.co' to load the files")
    found = next(part for part in talk.state["said"] if isinstance(part, Diagnosis))
    assert talk.state["request"] == JobRequest(machine="aurora", heard=talk.state["request"].heard)
    assert "proxy" in found.fix[0]


def test_the_machine_named_after_a_diagnosis_adds_its_steps() -> None:
    talk = Talk()
    talk.say("sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified")
    found = next(part for part in talk.say("i'm on perlmutter") if isinstance(part, Diagnosis))
    assert "Perlmutter" in found.fix[0] and not isinstance(talk.state.get("pending"), AskField)
    assert "Perlmutter" not in words(talk.say("that did not help")).partition("Next")[2]


def test_a_reason_of_the_queue_in_a_sentence_is_read() -> None:
    said = Talk().say("my job on Delta is pending for 2 days, reason QOSMaxGRESPerUser")
    assert "QOSMaxGRESPerUser" in words(said)


def test_the_machine_of_a_failure_without_a_log_asks_for_the_log_alone() -> None:
    talk = Talk()
    talk.say("my job got killed")
    said = talk.say("it's on frontier")
    assert "Show me the log" in words(said) and len(said) == 1 and talk.state["request"].machine == "frontier"


def test_a_wish_for_a_job_after_a_diagnosis_is_no_place_of_the_failure() -> None:
    talk = Talk()
    talk.say(LOG)
    said = talk.say("help me train on Perlmutter")
    assert not any(isinstance(part, Diagnosis) for part in said)
    pending = talk.state["pending"]
    assert isinstance(pending, AskField) and pending.question.field == "framework"


def test_a_kill_where_no_job_ran_is_told_of_the_login_node() -> None:
    talk = Talk()
    (found,) = talk.say("i logged in to perlmutter and just ran python train.py, then\n\nstep 118/984\nKilled")
    assert isinstance(found, Diagnosis) and "login node" in found.says and "salloc" in found.fix[0]
    (found, *_) = talk.say("i logged in and ran sbatch\n\nslurmstepd: error: Detected 1 oom_kill event in StepId=8.0.")
    assert isinstance(found, Diagnosis) and "login node" not in found.says


def test_the_machine_that_is_meant_is_not_the_one_where_it_ran_well() -> None:
    talk = Talk()
    talk.say("same script runs on perlmutter!! this is lonestar6\n\nRuntimeError: CUDA error: invalid device ordinal")
    assert talk.state["request"].machine == "lonestar6" and "3 x A100" in talk.state["diagnosed"].fix[0]  # type: ignore[union-attr]
    assert "Not the node" in words(talk.say("so is that me or is their node broken"))


def test_a_lesser_job_of_two_numbers_that_disagree_is_not_advised() -> None:
    line = "ValueError: You set `devices=4` in Lightning, but the number of tasks per node configured in SLURM"
    (found, *_) = Talk().say(f"{line} `--ntasks-per-node=1` does not match. HINT: Set `devices=1`.")
    assert isinstance(found, Diagnosis) and found.fix[0].startswith(
        "Lightning under Slurm wants a task for each device"
    )


def test_a_suspect_is_a_thing_that_is_named() -> None:
    talk = Talk()
    talk.say("gpua047: RuntimeError: CUDA error: uncorrectable ECC error encountered")
    assert "Rather the node" in words(talk.say("she wants to know if its something in her code"))


def test_the_pace_of_the_log_tells_the_time() -> None:
    rows = "\n".join(f"2025-10-13 {11 + 2 * n}:00:00 INFO epoch {n} done" for n in range(5))
    talk = Talk()
    talk.say(f"training for 10 epochs\n{rows}\nslurmstepd: error: *** STEP 1.0 ON n1 CANCELLED DUE TO TIME LIMIT ***")
    assert "all of it takes about 20.0 h, the rest about 10.0 h" in words(talk.say("what time should i have asked for"))
