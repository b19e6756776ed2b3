"""Characters of every width are read as themselves; some would end tree-sitter-bash's process as they are."""

from __future__ import annotations

import subprocess
import sys

import pytest

from graph.extraction.script_record import understand_script


@pytest.mark.parametrize("text", ["{\U0002d6ba", "a{\U0002d6ba}", "\U0002d6ba", "{ÿ", "$\U0010ffff{"])
def test_no_character_ends_the_process(text: str) -> None:
    code = f"from graph.extraction.script import read_script; read_script('#!/bin/bash\\npython ' + {text!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_wide_characters_come_back_as_they_were() -> None:
    record = understand_script('#!/bin/bash\nNAME="学习 ÿ é"\nsrun python train.py --name "$NAME" --out 結果/ÿff\n')
    assert record.args == "--name '学习 ÿ é' --out 結果/ÿff"
