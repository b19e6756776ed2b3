"""Logs that mark the ranks: what one survived by its own later lines, what messages of several mean together."""

from __future__ import annotations

import pytest

from graph.debugging.diagnosis import diagnose

ERROR = (
    "[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "/scratch/ada/data.py", line 9, in fetch\n'
    "[rank3]:     shard = index[key]\n"
    "[rank3]: KeyError: 'shard-7'"
)
EXIT = "srun: error: gpu04: task 3: Exited with exit code 1"
DONE = "{'train_runtime': 9.1, 'train_loss': 0.3}"


def steps(first: int, last: int, *ranks: int) -> str:
    return "\n".join(f"[rank{r}]: step {n} loss {9 / (n + 1):.3f}" for n in range(first, last) for r in ranks)


def timed(first: int, last: int, *ranks: int) -> str:
    """Lines of srun -l with their own time, a second a step."""
    return "\n".join(
        f"{r}: 2026-03-02 10:{n // 60:02d}:{n % 60:02d},100 INFO step {n} loss 2.1"
        for n in range(first, last)
        for r in ranks
    )


@pytest.mark.parametrize(
    "log",
    [
        f"{steps(0, 5, 3)}\n{ERROR}\n{steps(5, 305, 3)}",
        f"{steps(0, 5, 0, 3)}\n{ERROR}\n{steps(5, 9, 0)}\n[rank3]: Training complete.",
        f"{timed(0, 9, 0, 3)}\n3: 2026-03-02 10:00:09,000 ERROR CUDA out of memory. Tried to allocate 2.00 GiB.\n"
        f"{timed(10, 20, 0, 3)}",
    ],
)
def test_what_a_rank_survived_is_no_failure(log: str) -> None:
    assert diagnose(log).cause == "no-failure"


@pytest.mark.parametrize(
    "log",
    [
        f"{steps(0, 5, 0, 3)}\n{ERROR}\n{steps(5, 305, 0)}",  # another rank went on
        f"{steps(0, 5, 3)}\n{ERROR}\n{steps(5, 60, 3)}",  # may be what the dead rank had not written yet
        f"{timed(0, 9, 3)}\n{ERROR.replace('[rank3]', '3')}\n{timed(4, 9, 3)}",  # printed later, but older
        f"{steps(0, 5, 3)}\n{ERROR}\n[rank0]: Training complete.",
        f"{steps(0, 5, 3)}\n{ERROR}\n[rank3]: Training complete.\n{EXIT}",
    ],
)
def test_what_may_have_ended_it_still_is_one(log: str) -> None:
    assert diagnose(log).cause == "user-code"


def watchdog(rank: int) -> str:
    return (
        f"[rank{rank}]:[E1121 10:00:00.1 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective operation"
        " timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE) ran for 600012 milliseconds before timing out."
    )


@pytest.mark.parametrize(
    ("reporting", "above", "silent"),
    [
        ([0, 1, 2, 3, 4, 6, 7], "", "rank 5"),
        ([1, 2, 3], "", "rank 0"),
        (range(7), "world size 8", "rank 7"),
        (range(7), "gpu04:47:99 [0] NCCL INFO comm 0x7f00 rank 0 nranks 8 cudaDev 0 - Init START", "rank 7"),
        (range(14), "WORLD_SIZE=16", "ranks 14, 15"),
        (range(8), "world size 8", ""),
        ([64, 65, 66, 67], "", ""),
        ([3], "", ""),
    ],
)
@pytest.mark.parametrize("prefixed", [True, False])
def test_a_hang_names_the_rank_that_says_nothing(reporting: list[int], above: str, silent: str, prefixed: bool) -> None:
    lines = [watchdog(rank) if prefixed else watchdog(rank).partition(":")[2] for rank in reporting]
    found = diagnose("\n".join([above, *lines]))
    assert found.cause == "comm-collective-timeout"
    assert dict(found.captured).get("silent", "") == silent
    assert (silent in found.says) and ("nothing" in found.says) == bool(silent)


TAKEN = (
    "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address."
    " port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use"
)


RENDEZVOUS = (
    'Traceback (most recent call last):\n  File "/opt/env/lib/site-packages/torch/distributed/rendezvous.py",'
    " line 199, in _create_c10d_store\n    return TCPStore("
)


def clients(joined: int, world: int) -> str:
    error = "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients."
    return f"{RENDEZVOUS}\n{error} {joined}/{world} clients joined."


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ([TAKEN, clients(2, 4)], "comm-world-size"),
        ([TAKEN], "comm-port-in-use"),
        ([clients(4, 8), "srun: error: gpu04: tasks 0-3: Exited with exit code 1"], "comm-world-size"),
        (
            [clients(4, 8), *(f"srun: error: gpu0{n // 2}: task {n}: Exited with exit code 1" for n in range(4))],
            "comm-world-size",
        ),
        ([clients(4, 8), "srun: error: gpu04: tasks 0-7: Exited with exit code 1"], "comm-rendezvous"),
        ([clients(3, 8), "srun: error: gpu04: tasks 0-3: Exited with exit code 1"], "comm-rendezvous"),
        ([clients(3, 4)], "comm-rendezvous"),
    ],
)
def test_who_came_to_the_store_tells_whether_ranks_and_world_agree(lines: list[str], cause: str) -> None:
    assert diagnose("\n".join(lines)).cause == cause


LOST = (
    'Traceback (most recent call last):\n  File "/opt/env/lib/site-packages/torch/distributed/elastic/rendezvous/'
    'dynamic_rendezvous.py", line 438, in sync\ntorch.distributed.elastic.rendezvous.api.RendezvousConnectionError:'
    " The connection to the C10d store has failed. See inner exception for details."
)
CLOSED = "torch.distributed.DistNetworkError: Failed to recv, got 0 bytes. Connection was likely closed."
NEVER = "torch.distributed.DistNetworkError: The client socket has timed out after 60s while trying to connect to (n,1)"


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ([CLOSED, LOST], "comm-remote-exit"),
        ([NEVER, LOST], "comm-rendezvous"),
        ([CLOSED, NEVER, LOST], "comm-rendezvous"),
        ([LOST], "comm-rendezvous"),
    ],
)
def test_a_store_that_had_answered_was_left_by_another_process(lines: list[str], cause: str) -> None:
    assert diagnose("\n".join(lines)).cause == cause


CRASH = "srun: error: nid01: task 3: Segmentation fault (core dumped)"
LOST = (
    "MPICH ERROR [Rank 0] [job id 42.0] [nid02] - Abort(405367823) (rank 0 in comm 0): Fatal error in PMPI_Wait:"
    " Other MPI error, error stack:\n"
    "MPIDI_OFI_handle_cq_error(1075): OFI poll failed (ofi_events.c:1077:MPIDI_OFI_handle_cq_error:Input/output error)"
)


@pytest.mark.parametrize(("log", "cause"), [(f"{CRASH}\n{LOST}", "user-code"), (f"{LOST}\n{CRASH}", "comm-mpi-init")])
def test_a_process_that_crashed_first_is_what_the_others_lost(log: str, cause: str) -> None:
    assert diagnose(log).cause == cause


STEP = "slurmstepd: error: *** STEP 42.0 ON nid01 CANCELLED AT 2026-03-02T10:00:12 ***"


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        (f"srun: error: nid02: task 9: Aborted\n{STEP}", "unknown"),
        (f"{STEP}\nsrun: error: nid02: task 9: Terminated", "sched-cancelled"),
    ],
)
def test_a_step_that_slurm_ends_after_a_task_was_not_cancelled_by_anybody(end: str, cause: str) -> None:
    assert diagnose(f"{steps(0, 9, 0, 1)}\n{end}\n").cause == cause


def test_the_advice_in_a_message_does_not_hide_that_the_worker_died() -> None:
    log = (
        "ray.exceptions.WorkerCrashedError: The worker died unexpectedly. There are some potential root causes. (1) The"
        " process is killed by the OOM killer due to high memory usage. (2) ray stop --force is called."
    )
    assert diagnose(log).cause == "unknown"


@pytest.mark.parametrize("line", ["The simulation crashed at time 3.2", "Job not submitted by the wrapper."])
def test_a_plain_word_of_failure_is_never_no_failure(line: str) -> None:
    assert diagnose(f"reading the mesh\n{line}\n").cause != "no-failure"


@pytest.mark.parametrize("line", ["0 tasks failed", "The job finished, no step failed", "tasks failed: 0", "STOP 0"])
def test_words_of_failure_that_deny_it_are_none(line: str) -> None:
    assert diagnose(f"reading the mesh\n{line}\n").cause == "no-failure"
