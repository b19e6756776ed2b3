"""Cold processes side by side: `maple-chat script` and `--help` against TorchX's dry run for Slurm.

    uv run python bench/cold_start.py [--runs 9] [--torchx 'uvx torchx']

The commands take turns, so that a machine that slows down slows both; medians and their ratios are printed.
Without --torchx, only our own commands are timed.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

MAPLE = str(Path(sys.executable).parent / "maple-chat")
SCRIPT = [MAPLE, "script", "--machine", "perlmutter", "--strategy", "ddp", "--nodes", "2", "--account", "m1234"]
TORCHX = ["run", "--dryrun", "-s", "slurm", "dist.ddp", "-j", "2x4", "--script", "train.py"]


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True)
    took = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{shlex.join(command)} exited {done.returncode}: {done.stderr.decode()[-300:]}")
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--torchx", help="how TorchX is started here")
    options = parser.parse_args()
    commands = {"maple-chat script": SCRIPT, "maple-chat --help": [MAPLE, "--help"]}
    if options.torchx:
        commands["torchx run --dryrun"] = [*shlex.split(options.torchx), *TORCHX]
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(options.runs + 1):
        for name, command in commands.items():
            took = seconds(command)
            if turn:
                times[name].append(took)
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, each in times.items():
        print(f"{name:<22} median {medians[name]:.3f} s  (min {min(each):.3f}, max {max(each):.3f}, {len(each)} runs)")
    if options.torchx:
        print(f"ratio script / torchx  {medians['maple-chat script'] / medians['torchx run --dryrun']:.2f}")


if __name__ == "__main__":
    main()
