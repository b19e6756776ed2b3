"""One program with many names: the commands of the stand-in cluster.

Run as `python -IS main.py STAGE NAME WORDS...` by the files of the folder that is first on PATH.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from graph.verification.rehearsal.standin import config, inner, launch, tools, wrapping
from graph.verification.rehearsal.standin.launcher_options import LAUNCHERS

PYTHONS = ("python", "python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13")
OF_MPI = ("mpiexec", "mpirun", "mpiexec.hydra", "orterun", "prterun")


def names() -> list[str]:
    """Every command that the stand-in folder holds."""
    launchers = [name for name in LAUNCHERS if " " not in name]
    return sorted({*launchers, *OF_MPI, *PYTHONS, *inner.MODULES, *tools.TOOLS, *tools.NOT_RUN})


def main(stage: Path, name: str, words: list[str]) -> int:
    if name in OF_MPI:  # both names are the site's one MPI
        name = "mpirun" if config.read(stage).mpi == "openmpi" else "mpiexec"
    if name in LAUNCHERS:
        return launch.run(name, words, stage)
    if name in PYTHONS:
        return inner.python(words, stage)
    if name in inner.MODULES:
        return inner.launcher(name, words, stage)
    return tools.TOOLS.get(name, wrapping.recorded(name))(words, stage)


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except Exception as error:
        config.record(Path(sys.argv[1]), "crashed", name=sys.argv[2], says=f"{type(error).__name__}: {error}")
        raise
