"""Logs and scripts beside a message are told apart by their beginning."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.attached import is_script, read_head, split_script
from knowledge.types import Attachment


@pytest.mark.parametrize(
    "head", ["#!/bin/bash\nsrun x", "#!/usr/bin/env bash\n", "#SBATCH -N 2\n", "  #PBS -q prod\n", "# flux: -N 2\n"]
)
def test_scripts(head: str) -> None:
    assert is_script(head)


@pytest.mark.parametrize(
    "head",
    ["", "Traceback (most recent call last):\n", "epoch 1\n" * 500 + "#SBATCH -N 2\n", "#!/usr/bin/env python\n"],
)
def test_logs(head: str) -> None:
    assert not is_script(head)


def test_a_file_that_has_gone_reads_as_empty(tmp_path: Path) -> None:
    assert read_head(Attachment("x", str(tmp_path / "gone"), 1)) == ""


def test_a_pasted_script_is_taken_out_of_the_words() -> None:
    assert split_script("port this to lumi:\n#SBATCH -N 2\n\nsrun x\n") == (
        "port this to lumi:",
        "#SBATCH -N 2\n\nsrun x\n",
    )


def test_a_directive_in_a_sentence_is_no_script() -> None:
    assert split_script("is this right?\n#SBATCH --gres=gpu:4") == ("is this right?\n#SBATCH --gres=gpu:4", "")
