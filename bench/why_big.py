"""A log of 64 ranks, as large as asked: `maple-chat why` beside `rg -c` with the same patterns, in one run.

    .venv/bin/python bench/why_big.py [MEGABYTES] [--one-line] [--tracebacks]

Prints wall time and peak memory of a cold process each. ripgrep is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from knowledge.signatures.loader import library

RANKS = 64
CHUNK_LINES = 20_000
TRACEBACK = """\
[rank17]: Traceback (most recent call last):
[rank17]:   File "/scratch/ada/run/train.py", line 88, in <module>
[rank17]:     main()
[rank17]:   File "/scratch/ada/run/train.py", line 41, in main
[rank17]:     shard = open(paths[step])
[rank17]: FileNotFoundError: [Errno 2] No such file or directory: '/scratch/ada/shard-17.bin'
"""
WATCHDOG = (
    "[rank{rank}]:[E1121 10:00:00.000000000 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective"
    " operation timeout: WorkNCCL(SeqNum=71, OpType=ALLREDUCE) ran for 600000 milliseconds before timing out.\n"
)


def lines(count: int, seed: int) -> Iterator[str]:
    """Lines as a training run prints them: steps, warnings that mean nothing, now and then a remark."""
    draw = random.Random(seed)
    for step in range(count):
        rank, kind = draw.randrange(RANKS), draw.random()
        stamp = f"2026-11-21 10:{step // 60 % 60:02}:{step % 60:02},{rank:03}"
        if kind < 0.97:
            numbers = f"loss {draw.random() * 4:.4f} lr {draw.random():.2e} grad_norm {draw.random():.3f}"
            yield f"[rank{rank}]: {stamp} step {step} {numbers} tokens/s {draw.randrange(9000)}\n"
        elif kind < 0.99:
            yield f"[rank{rank}]: /opt/x/c10d_logger.py:83: FutureWarning: this call is deprecated (step {step})\n"
        else:
            yield f"gpu{rank:03}:4711:4802 [{rank % 8}] NCCL INFO Channel {step % 32:02}/0 : {rank}[0] via P2P/IPC\n"


def write_log(path: Path, megabytes: int) -> None:
    """Steps, one rank's traceback at 9/10 of the file, and the watchdogs of the others at its end."""
    chunks = ["".join(lines(CHUNK_LINES, seed)).encode() for seed in range(4)]
    wanted, written, failed, turn = megabytes << 20, 0, False, 0
    with path.open("wb") as out:
        while written < wanted:
            written += out.write(chunks[turn % len(chunks)])
            turn += 1
            if not failed and written > wanted * 9 // 10:
                written, failed = written + out.write(TRACEBACK.encode()), True
        for rank in range(RANKS):
            out.write(WATCHDOG.format(rank=rank).encode() if rank != 17 else b"")


def write_one_line(path: Path, megabytes: int) -> None:
    """The whole log in one line, as a progress bar without line feeds leaves it."""
    piece = b"".join(b"step %d loss 3.1 | " % n for n in range(50_000))
    with path.open("wb") as out:
        for _ in range((megabytes << 20) // len(piece)):
            out.write(piece)
        out.write(b"slurmstepd: error: *** JOB 9 ON gpu04 CANCELLED AT 2026-11-21T10:00:00 DUE TO TIME LIMIT ***")


def write_tracebacks(path: Path, megabytes: int) -> None:
    with path.open("wb") as out:
        for n in range((megabytes << 20) // len(TRACEBACK)):
            out.write(TRACEBACK.replace("rank17", f"rank{n % RANKS}").replace("shard-17", f"shard-{n}").encode())


def measure(command: list[str]) -> tuple[float, int, str]:
    """Wall seconds, peak memory in MiB, first line of the output. Linux: /usr/bin/time is not needed."""
    script = (
        "import resource,subprocess,sys;r=subprocess.run(sys.argv[1:],stdout=subprocess.PIPE,stderr=subprocess.PIPE);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss//1024);sys.stdout.buffer.write(r.stdout+r.stderr)"
    )
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True, errors="replace")
    peak, _, rest = done.stdout.partition("\n")
    return time.perf_counter() - began, int(peak), rest.partition("\n")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("megabytes", nargs="?", type=int, default=1024)
    parser.add_argument("--one-line", action="store_true")
    parser.add_argument("--tracebacks", action="store_true")
    options = parser.parse_args()
    write = write_one_line if options.one_line else write_tracebacks if options.tracebacks else write_log
    with tempfile.TemporaryDirectory() as folder:
        log, patterns = Path(folder) / "train.log", Path(folder) / "patterns"
        write(log, options.megabytes)
        sought = [s.pattern for s in library().signatures if s.kind not in ("frame", "harmless")]
        patterns.write_text("\n".join(re.sub(r"\?P<\w+>", "?:", pattern) for pattern in sought))
        why = str(Path(sys.executable).parent / "maple-chat")
        print("maple-chat why: {:.1f} s, {} MiB: {}".format(*measure([why, "why", str(log)])))
        if shutil.which("rg"):
            print(
                "rg -c         : {:.1f} s, {} MiB: {}".format(
                    *measure(["rg", "--regex-size-limit=1G", "-c", "-f", str(patterns), str(log)])
                )
            )


if __name__ == "__main__":
    main()
