"""Each screen at 80x24 and 160x48, as text; `scenes/make.py` writes them anew."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SCENES = Path(__file__).parent / "scenes"
spec = importlib.util.spec_from_file_location("scenes_make", SCENES / "make.py")
assert spec and spec.loader
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)


# A scroll bar's end is drawn in eighths of a line, and moves by one of them with what came and went before.
BARS = str.maketrans(dict.fromkeys("▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▔", " "))


def without_bars(text: str) -> str:
    return "\n".join(line.translate(BARS).rstrip() for line in text.splitlines())


async def comes(it: Any, wanted: Path) -> bool:
    """Whether the screen becomes what is wanted; on a busy machine the last of it may come late."""
    for _ in range(100):
        if without_bars(make.plain(it.shown)) == without_bars(wanted.read_text()):
            return True
        await it.pilot.pause(0.1)
    return False


@pytest.mark.parametrize("size", make.SIZES)
async def test_screens_look_as_they_did(chat: Any, size: str) -> None:
    async with chat(make.SIZES[size]) as it:
        differing = [name async for name in make.walk(it) if not await comes(it, SCENES / f"{name}-{size}.txt")]
    assert not differing, "run tests/assistant/tui/scenes/make.py and read the diff"
