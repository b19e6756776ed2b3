"""Days of a support channel, made up: tickets as people bring them, with and without incidents among them.

The weeks before, a busy day and the incidents come from one seed. People are unequally active, come again with the same
trouble, and each kind of trouble has good and bad days of its own; nodes, queues and paths vary as in real logs.
"""

# ruff: noqa: E501  (lines of logs are as long as they are)
from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from assistant.storage.diagnoses import KeptFailure
from graph.debugging.diagnosis import diagnose
from graph.reporting.record import record_of
from knowledge.job_record import JobRecord
from knowledge.types import Diagnosis

DAY_S, HOUR_S = 86_400.0, 3_600.0
PEOPLE, NODES, HISTORY_DAYS = 300, 240, 28
ELSEWHERE = "nid000999"
QUEUES, QUEUE_WEIGHTS = ("gpu", "debug", "long", "highmem"), (60, 20, 15, 5)
FOLDERS = ("/home/{u}", "/scratch/{u}", "/lustre/orion/p{p}", "/project/p{p}", "/lustre/eagle/p{p}")
# How busy the hours of a working day are.
BUSY = (1, 1, 1, 1, 1, 2, 4, 8, 14, 20, 22, 20, 14, 18, 21, 20, 17, 12, 8, 6, 5, 4, 3, 2)
# What goes wrong on a usual day: how often, and the telling end of the log. {u}: user, {n}: number, {d}: folder.
USUAL: tuple[tuple[float, str], ...] = (
    (16, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {n}.00 GiB. GPU 1 has a total capacity of 79.15 GiB"),
    (12, "slurmstepd: error: *** JOB {n} ON {node} CANCELLED AT 2026-11-02T10:00:00 DUE TO TIME LIMIT ***"),
    (9, "ModuleNotFoundError: No module named 'lib{u}'"),
    (6, "ModuleNotFoundError: No module named 'flash_attn'"),
    (9, "FileNotFoundError: [Errno 2] No such file or directory: '{d}/data/train-{n}.bin'"),
    (6, "KeyError: 'label_{u}'"),
    (5, "RuntimeError: mat1 and mat2 shapes cannot be multiplied ({n}x768 and 1024x512)"),
    (5, "train.py: error: unrecognized arguments: --option-{u} 0.1"),
    (4, "PermissionError: [Errno 13] Permission denied: '{d}/out/{n}.pt'"),
    (4, "OSError: [Errno 122] Disk quota exceeded: '{d}/ckpt/{n}.pt'"),
    (3, "OSError: [Errno 28] No space left on device: '{d}/tmp/{n}'"),
    (4, "[rank{n}]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, unhandled system error\n"
        "{node}:4410:4460 [1] transport/net_ib.cc:1212 NCCL WARN NET/IB : Got completion from peer with status=12 error"),
    (4, "[E ProcessGroupNCCL.cpp:607] [Rank {n}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={n}, "
        "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 milliseconds before timing out."),
    (3, "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified"),
    (3, "sbatch: error: Batch job submission failed: Requested node configuration is not available"),
    (3, "slurmstepd: error: Detected 1 oom_kill event in StepId={n}.batch. Some of the step tasks have been OOM Killed."),
    (3, "ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory"),
    (3, "RuntimeError: CUDA error: device-side assert triggered"),
    (2, "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to "
        "({node}, 29500)."),
    (2, "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded"),
    (2, "RuntimeError: Error(s) in loading state_dict for Model{u}:\n\tsize mismatch for head.weight"),
    (2, "ValueError: optimizer got an empty parameter list"),
    (1, "RuntimeError: CUDA error: uncorrectable ECC error encountered"),
    (1, 'Lmod has detected the following error: The following module(s) are unknown: "cuda/{n}"'),
)  # fmt: skip
# Incidents: what all its tickets share, and their ways to say it.
INCIDENTS: dict[str, tuple[str, ...]] = {
    "node": (
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        "torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
        "[rank{n}]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, unhandled cuda error",
        "RuntimeError: CUDA error: unspecified launch failure",
    ),
    "filesystem": (
        "OSError: [Errno 5] Input/output error: '/lustre/eagle/p{p}/data/shard-{n}.tar'",
        "OSError: [Errno 5] Input/output error: '/lustre/eagle/p{p}/ckpt/step-{n}.pt'",
        "OSError: [Errno 108] Cannot send after transport endpoint shutdown: '/lustre/eagle/p{p}/{n}.log'",
        "OSError: [Errno 5] Input/output error: '/lustre/eagle/p{p}/{n}.idx'",
        "OSError: [Errno 5] Input/output error: '/lustre/eagle/p{p}/out/{n}'",
        "FileNotFoundError: [Errno 2] No such file or directory: '/lustre/eagle/p{p}/train/{n}.bin'",
    ),
    "library": ("ImportError: libnccl-ofi.so.{n}: cannot open shared object file: No such file or directory",),
    "internet": (
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='packages.example.org', port=443): Max retries exceeded",
        "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
        "requests.exceptions.ProxyError: HTTPSConnectionPool(host='huggingface.co', port=443): Unable to connect to proxy",
    ),
    "module": ('Lmod has detected the following error: The following module(s) are unknown: "nccl/2.27"',),
    "message": ("frobnicator: fatal: license server answers no more (code 17), giving up after {n} tries",),
}  # fmt: skip


@dataclass(frozen=True)
class Came:
    """A ticket of a day. planted: the incident that it belongs to; empty: usual trouble."""

    ticket: KeptFailure
    planted: str = ""


@cache
def judged(text: str) -> tuple[Diagnosis, JobRecord]:
    """Each shape of ticket is diagnosed once; whose it is and where it ran are put in afterwards."""
    found = diagnose(text)
    return found, record_of(found, "", machine="frontier")


class World:
    """A site with its people, nodes and habits."""

    def __init__(self, seed: int, start: float = 1_790_000_000.0 // (7 * DAY_S) * 7 * DAY_S) -> None:
        self.dice = random.Random(seed)
        self.start = start
        self.active = [1 / (rank + 3) for rank in range(PEOPLE)]
        self.numbers = 0

    def history(self, days: int = HISTORY_DAYS) -> Iterator[Came]:
        """The weeks before, at two thirds of the busy day's pace; quiet at the week's end."""
        for day in range(-days, 0):
            weekend = day % 7 in (2, 3)  # 1970 began on a Thursday
            yield from self.day(day, (60 if weekend else 270) * self.dice.lognormvariate(0, 0.25))

    def day(self, day: int, tickets: float, planted: tuple[str, ...] = ()) -> list[Came]:
        """So many tickets, and the incidents among them."""
        begins = self.start + day * DAY_S
        incidents = [came for name in planted for came in self.incident(name, begins)]
        bad = [weight * self.dice.gammavariate(8, 0.125) for weight, _ in USUAL]
        usual: list[Came] = []
        while len(usual) < tickets - len(incidents):
            usual += self.trouble(begins, bad)
        return sorted([*usual, *incidents], key=lambda came: came.ticket.record.ended or 0.0)

    def trouble(self, begins: float, weights: list[float]) -> list[Came]:
        """One person's trouble: one ticket, and sometimes the same again."""
        hour = self.dice.choices(range(24), BUSY)[0]
        at = begins + (hour + self.dice.random()) * HOUR_S
        user = self.dice.choices(range(PEOPLE), self.active)[0]
        text = self.dice.choices([text for _, text in USUAL], weights)[0]
        again = 1 + (self.dice.random() < 0.2) + (self.dice.random() < 0.05)
        times = [at + n * self.dice.uniform(300, 5_000) for n in range(again)]
        return [self.came(text, user, when, self.nodes()) for when in times if when < begins + DAY_S]

    def incident(self, name: str, begins: float) -> Iterator[Came]:
        """Some dozen people hit by one thing, from a working hour on."""
        at = begins + self.dice.uniform(8, 16) * HOUR_S
        node = f"nid{self.dice.randrange(NODES):06}"
        for user in self.dice.sample(range(PEOPLE), self.dice.randint(8, 16)):
            nodes = (node,) if name == "node" else self.nodes()
            yield self.came(self.dice.choice(INCIDENTS[name]), user, at, nodes, name)
            at += self.dice.expovariate(1 / (self.dice.uniform(5, 20) * 60))

    def nodes(self) -> tuple[str, ...]:
        """Named in six of ten logs."""
        return (f"nid{self.dice.randrange(NODES):06}",) if self.dice.random() < 0.6 else ()

    def came(self, text: str, user: int, at: float, nodes: tuple[str, ...], planted: str = "") -> Came:
        self.numbers += 1
        folder = self.dice.choice(FOLDERS).format(u="u7", p=3)
        line = text.format(u="u7", p=3, n=17, d=folder, node=ELSEWHERE)
        end = f"\nsrun: error: {ELSEWHERE}: task 2: Exited with exit code 1" if nodes else ""
        found, told = judged(f"{line}{end}")
        queue = self.dice.choices(QUEUES, QUEUE_WEIGHTS)[0] if self.dice.random() < 0.7 else ""
        thread = f"t{self.numbers}"
        nodes_told = {"ended_on": nodes if told.ended_on else (), "blamed": nodes if told.blamed else ()}
        record = replace(told, job=thread, user=f"u{user}", queue=queue, ended=at, **nodes_told)
        return Came(KeptFailure(f"{thread}:1:0", thread, "ticket", record, found.says, found.fix), planted)
