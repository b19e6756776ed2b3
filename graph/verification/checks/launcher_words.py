"""Which batch systems a launcher belongs to. Those of MPI libraries run under any."""

from __future__ import annotations

LAUNCHERS_OF: dict[str, tuple[tuple[str, ...], str]] = {
    "srun": (("slurm",), "Slurm's"),
    "jsrun": (("lsf",), "LSF's on IBM machines"),
    "lrun": (("lsf",), "LLNL's for LSF"),
    "ibrun": (("slurm",), "TACC's"),
    "flux": (("flux",), "Flux's"),
    "aprun": ((), "of Cray's ALPS, which no machine here runs any more"),
}
