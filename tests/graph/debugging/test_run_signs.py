"""What a log tells of a run beside its cause: network, step times, use of the GPUs, hits of a cache."""

from __future__ import annotations

import pytest

from graph.debugging.diagnosis import diagnose
from graph.debugging.run_signs import with_signs
from knowledge.catalogue import catalogue

HEAD = "jwb01:71:90 [0] NCCL INFO "
ALL = HEAD + "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB [RO]; OOB ib0:10.0.0.1<0>"
ONE = HEAD + "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:10.0.0.1<0>"
DIRECT = HEAD + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/3/GDRDMA"
COPIED = HEAD + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/3"
SOCKET = HEAD + "Using network Socket"
BUSY = "\n".join(["96 %, 70000 MiB, 81920 MiB"] * 6)
IDLE = "\n".join(["12 %, 3021 MiB, 81920 MiB"] * 6)


def steps(times: list[float], rank: int | None = None) -> str:
    mark = "" if rank is None else f"[rank{rank}]: "
    return "\n".join(f"{mark}step {n} loss 2.1 step_time: {seconds:.3f} s" for n, seconds in enumerate(times))


STEADY = [0.5 + 0.01 * (n % 3) for n in range(60)]
SAVING = [3.0 if n % 10 == 9 else one for n, one in enumerate(STEADY)]
UNEVEN = [0.5 if n % 2 else 0.85 for n in range(60)]


@pytest.mark.parametrize(
    ("log", "machine", "says"),
    [
        (SOCKET, "perlmutter", "TCP sockets"),
        (ONE, "juwels-booster", "1 of 4 network cards"),
        (ALL, "juwels-booster", ""),
        (ONE, "", ""),
        (COPIED, "leonardo", "without GPU direct"),
        (DIRECT, "leonardo", ""),
        (steps(SAVING), "", "Every 10 steps"),
        (steps(STEADY), "", ""),
        (steps(UNEVEN), "", "spread by"),
        (steps([*STEADY[:10]]), "", ""),
        (
            "\n".join(steps([t * (1.4 if r == 2 else 1) for t in STEADY], r) for r in range(4)),
            "",
            "Rank 2 is always slow",
        ),
        (IDLE, "", "share one"),
        (BUSY, "", ""),
        ("LMCache INFO: Reqid: 1, Total tokens 4000, LMCache hit tokens: 3000, need", "", "75 % of the tokens"),
    ],
)
def test_a_sign_is_told_and_no_other(log: str, machine: str, says: str) -> None:
    found = with_signs(diagnose(f"start\n{log}\nend\n"), catalogue().find(machine) if machine else None)
    assert len(found.noticed) == bool(says), found.noticed
    assert not says or says in found.noticed[0]


def test_a_failed_run_keeps_its_cause_beside_the_sign() -> None:
    found = diagnose(f"{SOCKET}\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    assert found.cause == "gpu-oom" and "TCP sockets" in found.noticed[0]
