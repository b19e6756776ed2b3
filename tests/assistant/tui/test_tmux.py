"""The real program in a real terminal: from `help me run my training` to a saved script."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
WAIT_S = 60.0


class Terminal:
    """A tmux server of its own, 80x24."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "tmux"
        self.folder = folder

    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-S", str(self.socket), *words], capture_output=True, text=True, check=True)
        return done.stdout

    def start(self, data: Path) -> None:
        program = f"{sys.executable} -P -c 'import sys; from assistant.cli import main; sys.exit(main())'"
        settings = ["-e", f"MAPLE_CHAT_DATA={data}", "-e", f"PYTHONPATH={os.pathsep.join(sys.path)}"]
        self.tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", *settings, "-c", str(self.folder), program
        )

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def say(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)
        self.until(lambda screen: text in screen)
        self.tmux("send-keys", "Enter")

    def ended(self) -> None:
        """Wait until the server has gone: it goes with its last program."""
        deadline = time.monotonic() + WAIT_S
        while subprocess.run(["tmux", "-S", str(self.socket), "ls"], capture_output=True).returncode == 0:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def until(self, holds: Callable[[str], bool]) -> str:
        deadline = time.monotonic() + WAIT_S
        while not holds(screen := self.screen()):
            assert time.monotonic() < deadline, screen
            time.sleep(0.1)
        return screen


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path)
    yield terminal
    subprocess.run(["tmux", "-S", str(terminal.socket), "kill-server"], capture_output=True)


def test_from_help_to_a_saved_script(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start(tmp_path / "data")
    terminal.until(lambda screen: "Three things to try" in screen)
    terminal.say("help me run my training")
    terminal.until(lambda screen: "Which machine" in screen)
    terminal.say("perlmutter")
    terminal.until(lambda screen: "Which framework" in screen)
    terminal.say("pytorch")
    terminal.until(lambda screen: "How is the model spread" in screen)
    terminal.say("fsdp")
    terminal.until(lambda screen: "How many nodes" in screen)
    terminal.say("4")
    terminal.until(lambda screen: "The script is ready" in screen)
    terminal.tmux("send-keys", "C-s")
    terminal.until(lambda screen: "Saved" in screen)
    script = (tmp_path / "perlmutter-pytorch-fsdp.sh").read_text()
    assert "#SBATCH --nodes=4" in script
    assert subprocess.run(["bash", "-n", str(tmp_path / "perlmutter-pytorch-fsdp.sh")]).returncode == 0


def test_a_killed_program_comes_back_where_it_was(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start(tmp_path / "data")
    terminal.until(lambda screen: "Three things to try" in screen)
    terminal.say("I need a script for Perlmutter")
    terminal.until(lambda screen: "Which framework" in screen)
    pid = int(terminal.tmux("display-message", "-p", "#{pane_pid}"))
    os.kill(pid, signal.SIGKILL)
    terminal.ended()
    terminal.start(tmp_path / "data")
    screen = terminal.until(lambda screen: "Which framework" in screen)
    assert "I need a script for Perlmutter" in screen
    terminal.say("pytorch")
    terminal.until(lambda screen: "How is the model spread" in screen)


def test_a_paste_of_fifty_megabytes_is_attached_and_diagnosed(terminal: Terminal, tmp_path: Path) -> None:
    line = "[rank0]: step 1 loss 0.5 tokens/s 31000 lr 1e-4 grad norm 0.7 memory 30.1 GiB\n"
    lines = 50_000_000 // len(line)
    log = tmp_path / "job.log"
    failure = "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    log.write_text(line * lines + failure)
    terminal.start(tmp_path / "data")
    terminal.until(lambda screen: "Three things to try" in screen)
    terminal.tmux("load-buffer", str(log))
    terminal.tmux("paste-buffer", "-p")
    terminal.until(lambda screen: f"pasted, {lines + 1:,} lines" in screen)
    (kept,) = (tmp_path / "data" / "pasted").glob("*.log")
    assert kept.read_bytes() == log.read_bytes()
    terminal.tmux("send-keys", "Enter")
    terminal.until(lambda screen: f"line {lines + 1}, rank 0: torch.OutOfMemoryError" in screen)
