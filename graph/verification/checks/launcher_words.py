"""Which batch systems a launcher belongs to. Those of MPI libraries run under any."""

from __future__ import annotations

LAUNCHERS_OF: dict[str, tuple[tuple[str, ...], str]] = {
    "srun": (("slurm",), "Slurm's"),
    "jsrun": (("lsf",), "LSF's on IBM machines"),
    "lrun": (("lsf",), "LLNL's for LSF"),
    "ibrun": (("slurm",), "TACC's"),
    "flux": (("flux",), "Flux's"),
    # HPE PALS runs beside PBS and brings one (https://docs.open-mpi.org/en/v6.0.x/launching-apps/pals.html).
    "aprun": (("pbs",), "of Cray's ALPS and HPE's PALS, which run beside PBS"),
}
