"""The account of a port: every line of the old script is carried, replaced or named, and says why."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.extraction.shell_tree import parse
from graph.porting.account import PRINTS, AccountLine
from graph.porting.port import Ported, port
from knowledge.catalogue import catalogue
from knowledge.errors import InputError

ROOT = Path(__file__).parents[3]
DEV = ROOT.parent / "shared" / "cases" / "scripts-dev.jsonl"
HEAD = """#!/bin/bash
#SBATCH -A m0042_g
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -N 2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH -t 00:50:00
"""
LAUNCH = "srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$(hostname):29 t.py --lr 1\n"


def scripts() -> Iterator[tuple[str, str]]:
    golden = ROOT / "tests" / "golden"
    for path in sorted([*golden.glob("*/pytorch-ddp.sh"), *(ROOT / "tests" / "ports" / "sources").glob("*.sh")]):
        yield str(path.relative_to(ROOT)), path.read_text()
    if DEV.exists():
        for line in DEV.read_text().splitlines():
            case = json.loads(line)
            yield case["id"], case["script"]


def ported(text: str, machine: str = "frontier") -> Ported:
    target = catalogue().find(machine)
    assert target is not None
    made = port(text, target)
    assert isinstance(made, Ported)
    return made


def of_lines(text: str, machine: str = "frontier") -> dict[int, AccountLine]:
    return {line: one for one in ported(HEAD + text, machine).account for line in range(one.first - 8, one.last - 7)}


def code_lines(text: str) -> set[int]:
    """The lines that hold code: no comment, no blank line, not the last line of a block."""
    tree, comments = parse(text).root_node, set()
    left = [tree]
    while left:
        node = left.pop()
        comments |= {node.start_point[0] + 1} if node.type == "comment" else set()
        left += node.children
    ends = {"fi", "done", "}", ")", "esac", ";;", "else", "do", "then", "{", *re.findall(r"<<-?\s*['\"]?(\w+)", text)}
    return {
        number
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#") and line.strip(" \t;&") not in ends
    } - comments


@pytest.mark.parametrize(("name", "text"), list(scripts()), ids=[name for name, _ in scripts()])
def test_no_line_is_lost_in_silence(name: str, text: str) -> None:
    target = catalogue().find("polaris")
    assert target is not None
    try:
        made = port(text, target)
    except InputError:
        return
    if not isinstance(made, Ported):
        return
    told = {line for one in made.account for line in range(one.first, one.last + 1)}
    if made.source.language == "bash" and not made.source.errors:
        assert code_lines(text) - told == set()
    said = " ".join(note.says for note in made.notes)
    for one in made.account:
        assert one.why
        mere = one.why == PRINTS or one.why.startswith(("nothing else in the script", "only what is not carried"))
        if one.fate == "named" and not mere:
            assert one.why in said or any(one.first <= note.line <= one.last for note in made.notes), one


def test_steps_blocks_and_files_go_along() -> None:
    found = of_lines(
        'DATA=data\nif [ ! -d "$DATA" ]; then\n  mkdir -p "$DATA"\n  unzip -q data.zip -d "$DATA"\nfi\n'
        "for part in a b; do cp $part.bin $DATA; done\n[ -f w.pt ] || wget https://example.org/w.pt\n"
        "cat > extra.yaml <<EOF\nlr: 1\nEOF\nulimit -n 4096\n" + LAUNCH
    )
    assert {one.fate for one in found.values()} == {"carried"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("python serve.py &\n" + LAUNCH, "runs beside the training"),
        ("python prepare.py\n" + LAUNCH, "ran before the training"),
        ("for s in 1 2; do\n" + LAUNCH + "done\n", "the training stands in a loop"),
        ("if [ -f x ]; then LR=1; else LR=2; fi\n" + LAUNCH, "what it decides"),
        (LAUNCH + "rsync -a out/ far:\n", "it runs after the training"),
        ("./bind.sh " + LAUNCH, ""),
        ("export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz12345678\n" + LAUNCH, "a key or token"),
        (LAUNCH.replace("torchrun", "numactl --membind=0 torchrun"), "numactl"),
        ('srun bash -c "module load x; cd y; python train.py --lr 1"\n', "each task ran it"),
    ],
)
def test_what_stays_behind_is_named(text: str, says: str) -> None:
    assert says in " ".join(note.says for note in ported(HEAD + text).notes)


def test_a_key_is_not_copied() -> None:
    made = ported(HEAD + "export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz12345678\n" + LAUNCH)
    assert "hf_abc" not in made.bundle.script + str(made.account) + str(made.notes)


def test_a_place_that_nothing_sets_stops_the_script() -> None:
    made = ported(HEAD + "DATA=$SCRATCH/data\n" + LAUNCH.replace("--lr 1", "--data $DATA"))
    assert ': "${SCRATCH:?' in made.bundle.script
    assert "$SCRATCH: nothing sets it on Frontier" in " ".join(note.says for note in made.notes)


def test_threads_follow_the_new_cores() -> None:
    made = ported(HEAD + "export OMP_NUM_THREADS=32\n" + LAUNCH)
    assert "export OMP_NUM_THREADS=8" in made.bundle.script
