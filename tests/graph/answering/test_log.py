"""Follow-ups about a log that was diagnosed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graph.answering.ask import Ask
from graph.answering.failure import after_words
from graph.answering.log import tell_cause, tell_line, tell_proof, tell_rank, tell_retry
from graph.debugging.diagnosis import diagnose
from knowledge.document import Document
from knowledge.types import Paste

MEMORY = """[rank0]: starting
[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 2 has a total capacity of 39.39 GiB
[rank3]:[E1120 10:22:41.120 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=4410, OpType=ALLREDUCE) ran for 600021 milliseconds before timing out.
srun: error: gpua061: task 2: Exited with exit code 1
"""
NODE = (
    "slurmstepd: error: *** JOB 5590123 ON nid001234 CANCELLED AT 2026-11-20T04:00:11 DUE TO NODE FAILURE, "
    "SEE SLURMCTLD LOG FOR DETAILS ***\n"
    "srun: error: Node failure on nid001299\n"
)
TIME = "slurmstepd: error: *** JOB 5590123 ON nid001234 CANCELLED AT 2026-11-20T04:00:11 DUE TO TIME LIMIT ***\n"

Asking = Callable[..., Ask]
Words = Callable[[Document | None], str]


@pytest.mark.parametrize(
    ("answer", "log", "question", "says"),
    [
        (tell_cause, MEMORY, "why did it fail", ["ran out of memory", "First: "]),
        (tell_line, MEMORY, "what does line 3 mean?", ["hung until the watchdog", "a consequence"]),
        (tell_line, MEMORY, "what does that watchdog line mean?", ["hung until the watchdog", "Watchdog caught"]),
        (tell_line, MEMORY, "what is on line 99?", ["The log has 4 lines"]),
        (tell_rank, MEMORY, "which rank died first?", ["Rank 2, by line 2", "0, 2, 3"]),
        (tell_rank, MEMORY, "is it the node?", ["Nothing points to the node"]),
        (tell_rank, NODE, "which node was it?", ["nid001299", "--exclude=nid001299"]),
        (tell_retry, MEMORY, "just resubmit?", ["No: the same job fails the same way"]),
        (tell_retry, NODE, "can I just retry?", ["Yes: A node", "newest checkpoint"]),
        (tell_retry, TIME, "retry?", ["Only from a checkpoint"]),
        (after_words, MEMORY, "will more GPUs help?", ["shared out over them"]),
        (after_words, MEMORY, "batch is already 1, it is a 3b model", ["48 GB of states"]),
        (tell_proof, MEMORY, "how do you know?", ["2 lines of the log", "line 2, rank 2"]),
    ],
)
def test_a_follow_up_is_answered_from_the_log(
    asking: Asking, words: Words, answer: Callable[[Ask], Document | None], log: str, question: str, says: list[str]
) -> None:
    told = words(answer(asking(question, report=diagnose(log), logs=(Paste("pasted log", log),))))
    assert all(one in told for one in says), told


def test_a_line_of_a_file_is_read_from_the_file(asking: Asking, words: Words, tmp_path: Path) -> None:
    file = tmp_path / "slurm-1.out"
    file.write_text("step 1\n\x1b[31mstep 2\x1b[0m\nCUDA error: device-side assert triggered\n")
    log = Paste(file.name, path=str(file))
    told = words(tell_line(asking("what does line 3 mean?", logs=(log,))))
    assert "device-side assert triggered" in told
    gone = Paste("gone.out", path=str(tmp_path / "gone.out"))
    assert "I have no log" in words(tell_line(asking("what does line 3 mean?", logs=(gone,))))


@pytest.mark.parametrize("answer", [tell_cause, tell_rank, tell_retry, tell_proof])
def test_without_a_log_it_is_asked_for(asking: Asking, words: Words, answer: Callable[[Ask], Document | None]) -> None:
    assert "I have no log in this conversation yet" in words(answer(asking("and now?")))
