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


@pytest.mark.parametrize("size", make.SIZES)
async def test_screens_look_as_they_did(chat: Any, size: str) -> None:
    async with chat(make.SIZES[size]) as it:
        differing = [name async for name, text in make.walk(it) if text != (SCENES / f"{name}-{size}.txt").read_text()]
    assert not differing, "run tests/assistant/tui/scenes/make.py and read the diff"
