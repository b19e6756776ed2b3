"""Cold starts against their bounds: each command's processor time beside that of two yardsticks, in one run.

    uv run python bench/start.py [--runs 5]

`ask` stands beside a bare `import langgraph.graph`, which it cannot do without; the light commands have a bound in
seconds on a quiet machine, and stand beside `import json, re, dataclasses` for one that is not. The commands take
turns, so that a machine that slows down slows all; the least of the runs counts, after one that fills what is kept.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

MAPLE = str(Path(sys.executable).parent / "maple-chat")
LANGGRAPH, PYTHON = "import langgraph.graph", "import json, re, dataclasses"
SCRIPT = "#!/bin/bash\n#SBATCH -A m1 -C gpu -q regular -N 2 --gpus-per-node=4 -t 01:00:00\nsrun python train.py\n"
LOG = "RuntimeError: CUDA out of memory. Tried to allocate 20 GiB\n"
WAITING = "JobId=12 JobName=x\n   UserId=me(1) JobState=PENDING Reason=Priority Partition=gpu\n   NumNodes=2\n"
# What is asked, and the most that it may cost: times a bare `import langgraph.graph`.
ASK = 1.25
# And seconds of processor time, for commands that load no LangGraph.
LIGHT_S = 0.35


def seconds(command: Sequence[str], surroundings: Mapping[str, str]) -> float:
    """Processor seconds of one process, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, env=surroundings)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} exited {done.returncode}: {done.stderr.decode()[-300:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(folder: Path) -> dict[str, list[str]]:
    """What is timed, by name; the files that they read are written into the folder."""
    for name, text in (("job.sh", SCRIPT), ("job.log", LOG), ("job.txt", WAITING)):
        (folder / name).write_text(text)
    job = ["--machine", "perlmutter", "--strategy", "ddp", "--nodes", "2", "--account", "m1234"]
    return {
        LANGGRAPH: [sys.executable, "-c", LANGGRAPH],
        PYTHON: [sys.executable, "-c", PYTHON],
        "ask (a fact)": [MAPLE, "ask", "--new", "How many GPUs has a Perlmutter node?"],
        "ask (a script)": [MAPLE, "ask", "--new", "Train ViT with FSDP on Perlmutter, 4 nodes, account m1234"],
        "why": [MAPLE, "why", str(folder / "job.log")],
        "check": [MAPLE, "check", str(folder / "job.sh"), "--machine", "perlmutter"],
        "script": [MAPLE, "script", *job],
        "pending": [MAPLE, "pending", str(folder / "job.txt")],
        "clusters": [MAPLE, "clusters", "perlmutter"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("CACHE", "DATA", "CONFIG")}
        surroundings = {**os.environ, **own, "PYTHONPYCACHEPREFIX": str(folder / "code"), "PYTHONDONTWRITEBYTECODE": ""}
        timed = commands(folder)
        least = dict.fromkeys(timed, float("inf"))
        for turn in range(options.runs + 1):
            for what, command in timed.items():
                took = seconds(command, surroundings)
                least[what] = min(least[what], took) if turn else float("inf")
    for what, took in least.items():
        line = f"{what:<28} {took:6.2f} s  {took / least[PYTHON]:5.1f} x python"
        if what.startswith("ask"):
            ratio = took / least[LANGGRAPH]
            line += f"  {ratio:.2f} x langgraph of {ASK}: {'within' if ratio <= ASK else 'over'}"
        elif what not in (LANGGRAPH, PYTHON):
            line += f"  of {LIGHT_S} s: {'within' if took <= LIGHT_S else 'over'}"
        print(line)


if __name__ == "__main__":
    main()
