"""What a report of 20,000 made-up jobs costs, and whether it finds what was planted in them.

    .venv/bin/python bench/report.py [--jobs 20000] [--seed 1] [--steps 220] [--dask local] [--workers 2] [--kill]
    .venv/bin/python bench/report.py --jobs 100000 --steps 40 --kill      # many small logs, ended on the way

Prints seconds, processor seconds, the peak memory of all its processes together (PSS, as shared pages count once), how
many causes are as planted, and the nodes and causes that were named. The second run reads nothing anew. --kill ends the
first run by SIGKILL when half of the jobs are read: the next one has to go on from there, with no worker left behind.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from job_logs import MOST_STEPS, make


def children_of(process: int) -> list[int]:
    """The process and all below it."""
    found = [process]
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in thread.read_text().split():
                found += children_of(int(child))
    return found


def memory_mb(process: int) -> float:
    total = 0
    for one in children_of(process):
        with contextlib.suppress(OSError, StopIteration):
            rows = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
            total += int(next(row for row in rows if row.startswith("Pss:")).split()[1])
    return total / 1024


def kept_in(data: Path) -> int:
    """How many jobs are read and kept."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(data / "report.sqlite")) as kept:
        return int(kept.execute("select count(*) from read").fetchone()[0])
    return 0


def end_of_all(processes: list[int], patience: float = 30) -> list[int]:
    """Those of the processes that still run after that many seconds."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and (processes := [one for one in processes if Path(f"/proc/{one}").exists()]):
        time.sleep(0.2)
    return processes


def measure(command: list[str], environment: dict[str, str], kill_at: int = 0) -> tuple[float, float, float, str]:
    """Seconds, processor seconds, peak MB, and what was printed. kill_at: ended when so many jobs are kept."""
    before, began, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0.0
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while child.poll() is None:
        with contextlib.suppress(OSError):
            peak = max(peak, memory_mb(child.pid))
        if kill_at and kept_in(Path(environment["MAPLE_CHAT_DATA"])) >= kill_at:
            below = children_of(child.pid)
            child.kill()
            child.wait()
            print(f"killed; {len(end_of_all(below))} of its {len(below)} processes were left")
        time.sleep(0.3)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert child.stdout is not None
    return took, used, peak, child.stdout.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dask", default="local")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--steps", type=int, default=MOST_STEPS, help="lines of a log at most")
    parser.add_argument("--kill", action="store_true", help="end the first run on the way")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planted = make(folder, options.jobs, options.seed, options.steps)
        command = [
            *(str(Path(sys.executable).parent / "maple-chat"), "report", str(folder / "logs"), "--json"),
            *("--accounting", str(folder / "accounting.txt"), "-o", str(folder / "page.html")),
            *("--table", str(folder / "all.csv"), "--dask", options.dask, "--workers", str(options.workers)),
        ]
        environment = os.environ | {"MAPLE_CHAT_DATA": str(folder / "data")}
        for run in ("killed   ", "first run", "second   ") if options.kill else ("first run", "second   "):
            at, kept = options.jobs // 2 if run == "killed   " else 0, kept_in(folder / "data")
            took, used, peak, printed = measure(command, environment, at)
            read = kept_in(folder / "data") - kept
            print(f"{run}: {read} jobs, {took:.0f} s, {used:.0f} s of processors, {peak:.0f} MB in all processes",
                  flush=True)  # fmt: skip
        told = json.loads(printed)
        with (folder / "all.csv").open(newline="") as file:
            right = sum(planted.causes[row["job"]] == row["cause"] for row in csv.DictReader(file))
        verdicts = {row[0]: row[-1] for row in told["tables"]["nodes"]["rows"]}
        named = sorted(node for node, verdict in verdicts.items() if verdict == "more than chance")
        print(
            f"causes as planted: {right} of {options.jobs}; page {(folder / 'page.html').stat().st_size / 1e6:.1f} MB"
        )
        print(f"bad nodes: planted {planted.bad}, named {named}; one user only {sorted(set(verdicts) - set(named))}")
        print(f"new: planted {planted.new_cause}, named {[row[:3] for row in told['tables']['new']['rows']]}")


if __name__ == "__main__":
    main()
