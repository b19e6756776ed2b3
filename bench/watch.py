"""What `maple-chat watch` costs on a log that grows, and how well it tells the end of a run of two ranks.

    .venv/bin/python bench/watch.py [--megabytes 200] [--minutes 2] [--steps 1200]

Growing: the processor time of the whole command, its start included, as a share of the time it watched (under 2 % is
wanted). End: two ranks under torchrun take uneven steps with pauses; what is told after two minutes beside what was.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WATCH = (sys.executable, "-c", "from assistant.cli import main; raise SystemExit(main())", "watch")
LINE = "[rank0] 2026-11-22 10:00:00 step {}/9999999 loss 2.3145 tokens/s 51234 lr 3.0e-4 grad_norm 0.83\n"
RANKS = """\
import os, random, time
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank, total = int(os.environ["RANK"]), int(os.environ["STEPS"])
random.seed(7)
for step in range(1, total + 1):
    time.sleep(random.uniform(0.1, 0.3) + (3.0 if step % 100 == 0 else 0.0))
    loss = torch.ones(1)
    dist.all_reduce(loss)
    print(f"[rank{rank}] step {step}/{total} loss {2.5 - step / total:.4f}", flush=True)
"""


def growing(folder: Path, megabytes: int, minutes: float) -> float:
    """The share of one core, in percent, that watching a file takes which grows by so much in that time."""
    log = folder / "growing.log"
    log.write_text("")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    watch = subprocess.Popen([*WATCH, str(log), "--for", str(minutes)], stdout=subprocess.DEVNULL)
    began, number, looks = time.monotonic(), 0, int(minutes * 60)
    each = megabytes * 1024 * 1024 // looks // len(LINE.format(10**6))
    for look in range(looks):
        with log.open("a") as stream:
            stream.writelines(LINE.format(number + n) for n in range(each))
        number += each
        time.sleep(max(0.0, began + look + 1 - time.monotonic()))
    watch.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 100 * used / (time.monotonic() - began)


def end_told(folder: Path, steps: int) -> tuple[float, float]:
    """Seconds of a run of two ranks as told after two minutes, and as they were, from when it was first watched."""
    log, program = folder / "ranks.log", folder / "ranks.py"
    program.write_text(RANKS)
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(program)]
    environment = {**os.environ, "STEPS": str(steps), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    from assistant.watching import LOOK, Watching
    from graph.watching.run_watch import RunWatch
    from graph.watching.tail import FileTail

    with log.open("wb") as stream:
        run = subprocess.Popen(words, stdout=stream, stderr=subprocess.STDOUT, env=environment)
    watching, began, told = Watching([FileTail(log)], RunWatch()), time.monotonic(), 0.0
    while run.poll() is None:
        now = time.monotonic()
        watching.look(now)
        left = watching.run.end_in()
        if not told and now - began >= 120 and left is not None and watching.run.at is not None:
            told = watching.run.at + left - began
        time.sleep(LOOK)
    return told, time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--steps", type=int, default=1200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        share = growing(Path(name), options.megabytes, options.minutes)
        told, was = end_told(Path(name), options.steps)
    figures = {"percent_of_a_core": round(share, 2), "end_told_s": round(told), "end_was_s": round(was)}
    print(json.dumps(figures | {"off_percent": round(100 * abs(told - was) / was, 1)}))


if __name__ == "__main__":
    main()
