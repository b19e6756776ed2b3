"""The terminal program against an empty Textual app, and its keys while a large log is diagnosed.

    .venv/bin/python bench/chat.py [--runs 7] [--megabytes 100] [--turns 200]

Three figures, each from the real program in a pseudo-terminal:
first paint, taking turns with an empty app (median and ratio); the time from a key to its echo while a log is being
diagnosed; the resident memory of the program and its children with a conversation of many turns open.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from datetime import UTC, datetime
from pathlib import Path

EMPTY = "from textual.app import App\nApp().run()"
CHAT = "import sys; from assistant.cli import main; sys.exit(main())"
# What each has on the screen once it is painted: a blank line of the empty app, the box to type in of ours.
BLANK, BOX, WELCOME = b" " * 80, b"Say what to run", b"Three things"


class Program:
    """A Python program in a terminal of 80x24."""

    def __init__(self, code: str, data: Path, *words: str) -> None:
        self.began = time.perf_counter()
        self.seen = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            environment = {**os.environ, "MAPLE_CHAT_DATA": str(data), "TERM": "xterm-256color"}
            os.chdir(data.parent)
            os.execve(sys.executable, [sys.executable, "-P", "-c", code, *words], environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def until(self, text: bytes, limit: float = 120) -> float:
        """Seconds since the start (or the last `send`) until the text was drawn."""
        while text not in self.seen:
            if time.perf_counter() - self.began > limit:
                sys.exit(f"{text!r} was not drawn in {limit} s: {self.seen[-500:]!r}")
            self.read(1)
        return time.perf_counter() - self.began

    def read(self, wait: float) -> None:
        if select.select([self.terminal], [], [], wait)[0]:
            self.seen += os.read(self.terminal, 1 << 16)

    def send(self, keys: bytes) -> None:
        self.seen = b""
        self.began = time.perf_counter()
        os.write(self.terminal, keys)

    def rest(self, seconds: float) -> None:
        """Read on for so long."""
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            self.read(0.05)

    def end(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def first_paint(runs: int, folder: Path) -> None:
    """Until the box to type in is drawn, against an empty app's first frame; the first run of each is not counted."""
    times: dict[str, list[float]] = {"empty Textual app": [], "maple-chat": []}
    for turn in range(runs + 1):
        for name, code, text in (("empty Textual app", EMPTY, BLANK), ("maple-chat", CHAT, BOX)):
            program = Program(code, folder / f"data{turn}")
            took = program.until(text)
            program.end()
            if turn:
                times[name].append(took)
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, median in medians.items():
        print(f"first paint, {name:<18} median {median:.3f} s (min {min(times[name]):.3f}, {runs} runs)")
    print(f"ratio {medians['maple-chat'] / medians['empty Textual app']:.2f} (to be at most 1.5)")


def write_log(path: Path, megabytes: int) -> None:
    """A job of 64 ranks with colours, as trainers print them, that fails in the middle."""
    with path.open("w") as file:
        step = 0
        while file.tell() < megabytes * 1_000_000:
            file.writelines(
                f"[rank{rank}]: \x1b[32mINFO\x1b[0m step {step} loss {5 / (step + 1):.4f} lr 1e-4\n"
                for rank in range(64)
            )
            step += 1
            if step == 9_000:
                file.write("[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")


def echo(megabytes: int, folder: Path) -> None:
    """Keys one by one while a log is being diagnosed: in a file as /why, and as a turn."""
    log = folder / "big.log"
    write_log(log, megabytes)
    program = Program(CHAT, folder / "echo")
    program.until(WELCOME)
    program.rest(12)  # the engine loads
    idle = keys(program, 30)
    print(f"key echo, nothing running: median {statistics.median(idle):.1f} ms, slowest {max(idle):.1f} ms")
    for name, words in (("/why", b"/why big.log"), ("a turn", b"why did it fail @big.log")):
        program.send(words + b" \x15")  # typed and deleted: completions are loaded
        program.rest(1)
        program.send(words + b" ")
        program.rest(1)
        program.send(b"\r")
        program.until(b"Esc stops")
        began, times = time.perf_counter(), []
        while b"gpu-oom" not in program.seen and time.perf_counter() - began < 60:
            times += keys(program, 1, keep=True)
        took, last = time.perf_counter() - began, times.pop()
        print(
            f"key echo while {megabytes} MB are diagnosed by {name} ({took:.1f} s, {len(times)} keys): "
            f"median {statistics.median(times):.1f} ms, {over(times, 50)} over 50 ms, slowest {max(times):.1f} ms; "
            f"the key that came while the answer was drawn {last:.1f} ms"
        )
        program.send(b"\x15")
        program.rest(2)
    program.end()


def over(times: list[float], limit: float) -> int:
    return sum(one > limit for one in times)


def keys(program: Program, count: int, *, keep: bool = False) -> list[float]:
    """Milliseconds from each key to its letter on the screen. Letters that no other part of the screen changes."""
    times = []
    for number in range(count):
        letter = b"QXZJ"[number % 4 : number % 4 + 1] if not keep else b"Q"
        kept = program.seen if keep else b""
        program.send(letter)
        times.append(program.until(letter) * 1000)
        program.seen = kept[-4000:] + program.seen
        program.rest(0.03)
    return times


def memory(turns: int, folder: Path) -> None:
    """Resident megabytes with a conversation of so many turns open, children apart."""
    from assistant.events import Done, Text
    from assistant.session import Session
    from assistant.settings import Settings

    data = folder / "many"
    settings = Settings(data=data)
    settings.pasted.mkdir(parents=True, exist_ok=True)
    session = Session(settings, "chat")
    for number in range(turns):
        turn = session.turns.begin("chat", f"question {number} " + "word " * 40, (), datetime.now(UTC))
        answer = [Text(f"**Answer {number}.**\n\n" + "- a line of an answer\n" * 12), Done(turn.number)]
        with session.database.transaction() as talk:
            session.turns.close(talk, "chat", turn, answer)
    program = Program(CHAT, data)
    program.until(b"Answer")
    program.rest(15)
    children = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and parent(p) == program.pid]
    sizes = {"program": resident(program.pid), "engine": sum(resident(child) for child in children)}
    print(f"memory with {turns} turns: " + ", ".join(f"{name} {size:.0f} MB" for name, size in sizes.items()))
    program.end()


def parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--turns", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first_paint(options.runs, Path(folder))
        echo(options.megabytes, Path(folder))
        memory(options.turns, Path(folder))


if __name__ == "__main__":
    main()
