"""What one paste costs: a warm diagnosis of 200 lines, and `maple-chat why` from a cold process.

    .venv/bin/python bench/why_small.py [--runs 15]

Prints medians; the first warm call, which compiles the patterns that its lines need, is told apart.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from graph.debugging.diagnosis import diagnose

LINES = 200
FAILURE = """\
[rank3]: Traceback (most recent call last):
[rank3]:   File "/scratch/ada/run/train.py", line 41, in main
[rank3]:     loss = model(batch["input_ids"])
[rank3]: KeyError: 'input_ids'
srun: error: gpu04: task 3: Exited with exit code 1
"""


def paste() -> str:
    steps = "".join(f"[rank{n % 4}]: step {n} loss {9 / (n + 1):.3f} lr 1e-4\n" for n in range(LINES - 5))
    return steps + FAILURE


def milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    text = paste()
    print(f"first, {LINES} lines: {milliseconds(lambda: diagnose(text)):.1f} ms")
    warm = statistics.median(milliseconds(lambda: diagnose(text)) for _ in range(runs))
    print(f"warm, {LINES} lines : {warm:.1f} ms")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "job.log"
        log.write_text(text)
        command = [str(Path(sys.executable).parent / "maple-chat"), "why", str(log)]
        cold = statistics.median(
            milliseconds(lambda: subprocess.run(command, capture_output=True, check=False)) for _ in range(runs)
        )
    print(f"cold process     : {cold:.0f} ms")


if __name__ == "__main__":
    main()
