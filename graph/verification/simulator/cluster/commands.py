"""The commands of the stand-in cluster, by name. A node runs them in processes of its own, at a client's request."""

from __future__ import annotations

import os
import re

from graph.verification.simulator.cluster import inner, launch, tools, wrapping
from graph.verification.simulator.cluster.launcher_options import LAUNCHERS
from graph.verification.simulator.site import SimulatedSite

PYTHONS = ("python", "python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13")
OF_MPI = ("mpiexec", "mpirun", "mpiexec.hydra", "orterun", "prterun")


def names() -> list[str]:
    """Every command that the stand-in folder holds."""
    launchers = [name for name in LAUNCHERS if " " not in name]
    return sorted({*launchers, *OF_MPI, *PYTHONS, *inner.MODULES, *tools.TOOLS, *tools.NOT_RUN})


def run(name: str, words: list[str], site: SimulatedSite) -> int:
    """Be that command. Gives its exit code; a failure of ours is recorded as one."""
    try:
        return command(name, words, site)
    except Exception as error:
        site.record("crashed", name=name, says=f"{type(error).__name__}: {error}")
        raise


def command(name: str, words: list[str], site: SimulatedSite) -> int:
    if name == ".missing" and words:
        return wrapping.missing(words[0])(words[1:], site)
    if name in OF_MPI:  # both names are the site's one MPI, or that which the script puts before it
        own = re.search(r"(?i)open-?mpi|ompi|hpcx", os.environ.get("PATH", ""))
        name = "mpirun" if site.job.mpi == "openmpi" or own else "mpiexec"
    if name in LAUNCHERS:
        return launch.run(name, words, site)
    if name in PYTHONS:
        return inner.python(words, site)
    if name in inner.MODULES:
        return inner.in_node(site, "inner", inner.MODULES[name], words)
    known = wrapping.recorded(name) if name in tools.NOT_RUN else wrapping.missing(name)
    return tools.TOOLS.get(name, known)(words, site)
