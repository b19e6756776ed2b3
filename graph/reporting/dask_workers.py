"""Reading on more than one processor: a local Dask cluster, a running one, or workers that are batch jobs.

A piece of work is a list of jobs; a piece whose worker dies is read by another. Only a job that has ended several
workers is given up, and its record says so. Needs the extra `report`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from graph.reporting.inputs import JobInput
from graph.reporting.reading import Reading, read_jobs
from knowledge.errors import InputError, UnavailableError
from knowledge.job_record import JobRecord
from knowledge.signatures.loader import rules_mark

# A worker that runs jobs' logs needs little; its job asks for so much where dask-jobqueue's own settings say nothing.
MEMORY, CORES, WALLTIME = "2GB", 1, "01:00:00"
LOCAL_MEMORY = "1GB"
# Pieces that are with the workers at one time, for each of them.
AHEAD = 4
# Seconds to wait for a running scheduler, and for the first worker of a queue.
CONNECT_S, PATIENCE_S = 15, 600
QUEUED = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster"}
HOW = "install the extra: pip install 'maple-chat[report]'"


@dataclass(frozen=True, slots=True)
class DaskWanted:
    """where: local, slurm, pbs, lsf, or the address of a running scheduler (tcp://HOST:8786).

    workers: how many, 0 for as many as there are processors (jobs: 4). queue, account and walltime are of the
    workers' jobs; whatever else their jobs need stands in dask-jobqueue's own file, ~/.config/dask/jobqueue.yaml.
    outputs: the folder of what their jobs print; None: the current one, as the scheduler has it.
    """

    where: str = "local"
    workers: int = 0
    queue: str = ""
    account: str = ""
    walltime: str = ""
    outputs: Path | None = None


def has_dask() -> bool:
    return find_spec("distributed") is not None


@contextmanager
def dask_client(wanted: DaskWanted) -> Iterator[Any]:
    """A connected distributed.Client; what was started for it ends with it. Raises UnavailableError, InputError."""
    if not has_dask():
        raise UnavailableError(f"Dask is not here; {HOW}, or leave --dask out")
    from distributed import Client

    with ExitStack() as stack:
        try:
            cluster = stack.enter_context(_cluster(wanted)) if wanted.where in ("local", *QUEUED) else wanted.where
            client = stack.enter_context(Client(cluster, timeout=CONNECT_S))
            client.wait_for_workers(1, timeout=PATIENCE_S)
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            raise UnavailableError(
                f"no Dask worker at {wanted.where} ({' '.join(str(error).split())[:200]}); check the address, the "
                "queue and the account of the workers' jobs"
            ) from error
        _same_rules(client)
        yield client


def _cluster(wanted: DaskWanted) -> AbstractContextManager[Any]:
    if wanted.where == "local":
        from distributed import LocalCluster

        count = wanted.workers or max(1, len(os.sched_getaffinity(0)))
        local: AbstractContextManager[Any] = LocalCluster(
            n_workers=count, threads_per_worker=1, memory_limit=LOCAL_MEMORY, dashboard_address=None
        )
        return local
    if find_spec("dask_jobqueue") is None:
        raise UnavailableError(f"dask-jobqueue is not here; {HOW}")
    import dask
    import dask_jobqueue

    set_there = dask.config.get(f"jobqueue.{wanted.where}", {})
    asked = {"queue": wanted.queue, "account": wanted.account, "walltime": wanted.walltime}
    usual: dict[str, Any] = {"cores": CORES, "memory": MEMORY, "processes": 1, "walltime": WALLTIME}
    if wanted.outputs:
        usual["log_directory"] = str(wanted.outputs)
    options = {name: value for name, value in usual.items() if not set_there.get(name.replace("_", "-"))}
    options |= {name: value for name, value in asked.items() if value}
    if wanted.where == "lsf":
        options["project"] = options.pop("account", None)
        options["walltime"] = re.sub(r"^(\d+:\d+):\d+$", r"\1", options.get("walltime", ""))  # bsub knows no seconds
        options = {name: value for name, value in options.items() if value}
    # No page of Dask's own is served from a login node.
    options["scheduler_options"] = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    cluster = getattr(dask_jobqueue, QUEUED[wanted.where])(**options)
    cluster.scale(jobs=wanted.workers or 4)
    made: AbstractContextManager[Any] = cluster
    return made


def _same_rules(client: Any) -> None:
    """Workers with other signatures would give other causes. Raises InputError."""
    here, others = rules_mark(), client.run(rules_mark)
    if different := [worker for worker, mark in others.items() if mark != here]:
        raise InputError(f"{len(different)} workers have other failure signatures than this computer; install the same")


@dataclass(frozen=True, slots=True)
class DaskReader:
    """Reads pieces by a client's workers; called as read_here is."""

    client: Any

    def __call__(self, pieces: Sequence[Sequence[JobInput]], how: Reading) -> Iterator[tuple[int, list[JobRecord]]]:
        from distributed import as_completed

        waiting = iter(enumerate(pieces))
        numbers: dict[str, int] = {}

        def send() -> list[Any]:
            number, piece = next(waiting, (-1, ()))
            if number < 0:
                return []
            future = self.client.submit(read_jobs, piece, how, pure=False, retries=2)
            numbers[future.key] = number
            return [future]

        first = [future for _ in range(AHEAD * max(1, len(self.client.nthreads()))) for future in send()]
        done = as_completed(first)
        for future in done:
            number = numbers.pop(future.key)
            lost = future.exception() if future.status == "error" else None
            yield number, self.one_by_one(pieces[number], how) if lost else future.result()
            for more in send():
                done.add(more)

    def one_by_one(self, piece: Sequence[JobInput], how: Reading) -> list[JobRecord]:
        """The jobs of a piece that could not be read together: only the one that ends its worker is lost.

        One at a time, as a worker that ends takes all that waits for it along.
        """
        found: list[JobRecord] = []
        for job in piece:
            future = self.client.submit(read_jobs, [job], how, pure=False)
            error = future.exception()
            found += [given_up(job, error)] if error else future.result()
        return found


def given_up(job: JobInput, error: BaseException) -> JobRecord:
    says = f"not read: the worker ended ({type(error).__name__})"
    return JobRecord(job.name, "unknown", line=says, mark="not read", source=job.shown)
