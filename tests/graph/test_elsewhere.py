"""A machine that nobody described is never drafted for Slurm where it is known to run something else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assistant.drawing import markdown
from assistant.events import event_of
from graph.context import Context
from graph.nodes.converse import rules_graph
from graph.state import new_turn
from graph.undescribed import draft_scheduler, not_drafted

sys.path.insert(0, str(Path(__file__).parent / "conversing"))
from player import Player, Thread, call

SIZES = {"nodes": 2, "gpus_per_node": 4, "entry": "train.py", "strategy": "ddp", "walltime": "05:00:00"}
GRID_ENGINE = "#!/bin/bash\n#$ -cwd\n#$ -l node_f=2\n#$ -l h_rt=05:00:00\nmpirun -npernode 4 python train.py\n"


@pytest.mark.parametrize("name, runs", [("Gadi", "-l ngpus=8"), ("tsubame4", "Grid Engine"), ("Fugaku", "#PJM")])
def test_without_a_template_none_is_drafted_and_what_it_runs_is_said(name: str, runs: str) -> None:
    words = f"write me a script for {name}, 2 nodes x 4 GPUs, train.py, ddp, 5h"
    ended = rules_graph().invoke(new_turn(1, words), context=Context())  # type: ignore[arg-type]
    told = "\n".join(markdown(event_of(part)) for part in ended["said"])
    assert runs in told and "https://" in told and not ended.get("bundle")
    thread = Thread(Player(call("write_script", machine=name, **SIZES), "Done."))
    thread.say(words)
    assert "as text" in thread.player.asked[-1][-1].text and not thread.script


def test_a_whole_text_for_it_is_taken_and_its_lines_are_changed_as_they_are_given() -> None:
    edit = call("edit_script", fields={"walltime": "10:00:00"})
    thread = Thread(Player(call("write_script", machine="tsubame4", text=GRID_ENGINE), "Done.", edit, "Done."))
    thread.say("a script for tsubame4, 2 nodes")
    assert "#$ -l node_f=2" in thread.script and thread.state["bundle"].submit == "qsub -g YOUR_GROUP tsubame4.sh"
    thread.say("make it 10 hours")
    assert "as a patch" in thread.player.asked[-1][-1].text and "10:00:00" not in thread.script


def test_a_known_scheduler_is_drafted_unless_the_words_name_another() -> None:
    assert draft_scheduler("2 nodes", "Derecho") == "pbs" and not not_drafted("Derecho")
    assert draft_scheduler("it runs slurm now", "Derecho") == "slurm"
    assert draft_scheduler("2 nodes", "kestrel") is None
