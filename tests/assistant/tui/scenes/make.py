"""Writes each screen of the chat anew: its text beside this file, pictures for the README to docs/screens.

    uv run python tests/assistant/tui/scenes/make.py

Read the diff. The test walks the same way and compares the texts.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PICTURES = HERE.parents[3] / "docs" / "screens"
SIZES = {"80x24": (80, 24), "160x48": (160, 48)}
# Scene -> theme of its picture, for those that the README or the docs show.
PICTURED = {"welcome": "dark", "script": "dark", "log": "dark", "picker": "light", "changes": "contrast"}
WHOLE = "Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node, account m1234"
NAME = "perlmutter-pytorch-fsdp.sh"
CLOCK = re.compile(r"\d\d [A-Z][a-z]{2} \d\d:\d\d")
Step = Callable[[Any], Awaitable[None]]


def log_text() -> str:
    """A job of eight ranks that runs out of memory on one, which the others wait for."""
    steps = [
        f"[rank{rank}]: step {step} loss {5 / (step + 1):.3f} tokens/s {31_000 + rank}"
        for step in range(400)
        for rank in range(8)
    ]
    failure = [
        "[rank3]: Traceback (most recent call last):",
        '[rank3]:   File "/home/me/train.py", line 12, in <module>',
        "[rank3]:     main()",
        "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity "
        "of 39.39 GiB of which 1.20 GiB is free.",
    ]
    waiting = [
        f"[rank{rank}]:[E ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=4112, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600029 "
        "milliseconds before timing out."
        for rank in (0, 1)
    ]
    return "\n".join([*steps, *failure, *steps[:300], *waiting]) + "\n"


async def commands(it: Any) -> None:
    await it.press("slash", "r", "e")


async def picker(it: Any) -> None:
    await it.press("escape", "ctrl+u", "f5")
    await it.press("enter")
    await it.until(lambda: it.app.screen is not it.screen)


async def question(it: Any) -> None:
    await it.press("escape")
    await it.say("help me run my training on Perlmutter")


async def answer(it: Any) -> None:
    await it.say(WHOLE)


async def script(it: Any) -> None:
    if it.screen.narrow:
        await it.press("f3")


async def changes(it: Any) -> None:
    await it.say("make it 8 nodes")
    await it.press("f6")


async def queues(it: Any) -> None:
    await it.press("f2", "f5", *["right"] * 6)
    await it.press("enter")
    await it.until(lambda: it.app.screen is not it.screen)


async def diagnosis(it: Any) -> None:
    await it.press("escape")
    await it.say("/why slurm-1.out")


async def log(it: Any) -> None:
    await it.press("f4")
    await it.until(lambda: it.screen.log_pane.view.log_file.indexed > 0 and not it.screen.log_pane.wanted)


async def sessions(it: Any) -> None:
    await it.press("f2")
    await it.send("/sessions")
    await it.until(lambda: bool(getattr(it.app.screen, "threads", ())))


async def help_(it: Any) -> None:
    await it.press("escape", "f1")


async def confirm(it: Any) -> None:
    await it.press("escape")
    Path(NAME).write_text("another one")
    await it.pilot.press("ctrl+s")
    await it.until(lambda: it.app.screen is not it.screen)


async def palette(it: Any) -> None:
    await it.press("n")
    await it.pilot.press("ctrl+p")
    await it.until(lambda: it.app.screen is not it.screen)
    await it.pilot.press("w", "h", "y")
    await it.until(lambda: "from its log files" in it.shown)


async def nothing(it: Any) -> None:
    """As it starts."""


SCENES: dict[str, Step] = {
    "welcome": nothing,
    "commands": commands,
    "picker": picker,
    "question": question,
    "answer": answer,
    "script": script,
    "changes": changes,
    "queues": queues,
    "diagnosis": diagnosis,
    "log": log,
    "sessions": sessions,
    "help": help_,
    "confirm": confirm,
    "palette": palette,
}


async def walk(it: Any) -> AsyncIterator[str]:
    """Each scene by its name, one after the other in the same program. The log lies in the current folder."""
    Path("slurm-1.out").write_text(log_text())
    for name, step in SCENES.items():
        await step(it)
        await it.settled()
        yield name


def plain(shown: str) -> str:
    """The text without blanks at the ends and without the time of day."""
    return CLOCK.sub("01 Jan 00:00", "\n".join(line.rstrip() for line in shown.splitlines())) + "\n"


async def at_rest(it: Any) -> str:
    """The screen's text once it has not changed for half a second: panes and bars are laid out one after the other."""
    text, same = "", 0
    while same < 5:
        await it.pilot.pause(0.1)
        same = same + 1 if plain(it.shown) == text else 0
        text = plain(it.shown)
    return text


async def make() -> None:
    from assistant.settings import read_settings
    from assistant.tui.app import MapleApp
    from assistant.tui.themes import NAMES
    from tests.assistant.tui.conftest import Chat

    for size, (width, height) in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            os.environ["MAPLE_CHAT_DATA"] = f"{folder}/data"
            os.chdir(folder)
            settings = read_settings()
            app = MapleApp(lambda settings=settings: (settings, "t"))
            async with app.run_test(size=(width, height)) as pilot:
                it = Chat(app, pilot)
                await it.started()
                async for name in walk(it):
                    (HERE / f"{name}-{size}.txt").write_text(await at_rest(it))
                    if name in PICTURED:
                        app.theme = NAMES[PICTURED[name]]
                        await pilot.pause(0.3)
                        (PICTURES / f"{name}-{size}.svg").write_text(app.export_screenshot(title="maple-chat"))
                        app.theme = NAMES["dark"]


if __name__ == "__main__":
    import sys

    sys.path.insert(0, str(HERE.parents[3]))
    asyncio.run(make())
