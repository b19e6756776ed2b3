"""A job that was diagnosed, as reports and incidents count it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One job: why it failed, joined with what its scheduler tells. Empty text and None: not known.

    It names no person unless names were asked for: `user` is a pseudonym, `line` is masked.
    """

    job: str
    """The scheduler's id; the name by which its files were told apart; a thread's id where a person asked."""
    cause: str
    """An id of causes.yaml; `no-failure` where it did not fail."""
    confidence: float = 0.0
    """0 to 1, of the cause."""
    line: str = ""
    """The telling line, masked."""
    mark: str = ""
    """The telling line without its numbers, paths and names: jobs with the same mark said the same thing."""
    signature: str = ""
    """The id of the signature that told the cause; empty where none did."""
    nodes: tuple[str, ...] = ()
    """Where it ran."""
    blamed: tuple[str, ...] = ()
    """Of its nodes those that the log itself names for the failure."""
    ended_on: tuple[str, ...] = ()
    """Nodes where tasks ended, as the end of the log names them; not all on which it ran, and none is to blame."""
    module: str = ""
    """The Python or environment module that is missing or broken."""
    filesystem: str = ""
    """The mount point of the path that the telling line names: `/scratch`, `/lustre/orion`."""
    machine: str = ""
    queue: str = ""
    user: str = ""
    account: str = ""
    """The user's group, project or allocation."""
    framework: str = ""
    gpus: int | None = None
    """Of the whole job."""
    submitted: float | None = None
    """Seconds since 1970 (UTC), as the next two."""
    started: float | None = None
    ended: float | None = None
    state: str = ""
    """In Slurm's words (COMPLETED, FAILED, TIMEOUT, ...), whichever scheduler it was."""
    checks: tuple[str, ...] = ()
    """Rules of `check` that its script breaks with an error."""
    source: str = ""
    """Where to look: its files, or a thread's link."""

    @property
    def failed(self) -> bool:
        """Whether it failed; one that its owner cancelled did not."""
        return self.cause not in ("no-failure", "sched-cancelled")

    @property
    def seconds(self) -> float | None:
        """How long it ran."""
        return None if self.started is None or self.ended is None else max(0.0, self.ended - self.started)

    @property
    def gpu_hours(self) -> float:
        """GPUs times hours of the whole run; 0 where either is not known."""
        return (self.gpus or 0) * (self.seconds or 0.0) / 3600
