"""What a call did is not told as left undone, and what is told as done is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from player import Player, Thread, call

from graph.conversing.swaps import swapped


def told(thread: Thread) -> str:
    return [one.text for one in thread.player.asked[-1] if one.role == "tool"][-1]


def after(first: str, words: str, *moves: object) -> Thread:
    thread = Thread(Player("Here.\n\n[[rules]]"))
    thread.say(first)
    thread.player.moves = [*moves, "Done."]  # type: ignore[list-item]
    thread.say(words)
    return thread


def test_cores_that_the_script_has_anyhow_are_done() -> None:
    first = "frontier, pytorch ddp, 2 nodes, own.py, account abc123, 1 hour"
    thread = after(first, "7 cores a task", call("edit_script", fields={"cpus_per_task": "7"}))
    assert "not done" not in told(thread)
    thread = after(first, "99 cores a task", call("edit_script", fields={"cpus_per_task": "99"}))
    assert "not done: cpus_per_task=99" in told(thread)


@pytest.mark.parametrize("count", [8, 99])
def test_a_number_that_another_line_has_is_no_sign_of_it(count: int) -> None:
    first = f"frontier, pytorch ddp, {count} nodes, own.py, account abc123, 1 hour"
    thread = after(first, f"{count} cores a task", call("edit_script", fields={"cpus_per_task": str(count)}))
    assert f"not done: cpus_per_task={count}" in told(thread)


def test_the_strategy_of_a_whole_text_is_the_programs() -> None:
    text = "#!/bin/bash\n#SBATCH -A abc123\n#SBATCH -N 1\n#SBATCH -t 01:00:00\nsrun python own.py\n"
    move = call("write_script", machine="frontier", strategy="ddp", nodes=1, account="abc123", text=text)
    thread = Thread(Player(move, "Done."))
    thread.say("frontier: a script of these lines, 1 node, account abc123, one hour, ddp")
    assert "not done" not in told(thread)


def test_a_queue_that_was_named_by_what_it_is_for_was_said() -> None:
    fields = {"framework": "pytorch", "strategy": "ddp", "nodes": 1, "walltime": "00:30:00", "account": "abc123"}
    move = call("write_script", machine="vista", entry="own.py", queue="gh-dev", **fields)
    thread = Thread(Player(move, "Done."))
    answer = thread.say("vista: own.py, ddp on 1 node in the development queue, 30 minutes, account abc123")
    assert "chosen for you" not in answer + told(thread)


def test_a_second_launch_is_put_behind_the_first() -> None:
    first = "polaris, pytorch ddp, 2 nodes, own.py --bs 8, account abc123, 1 hour, queue capacity"
    thread = Thread(Player("Here.\n\n[[rules]]"))
    thread.say(first)
    last = thread.script.rstrip().splitlines()[-1]
    second = 'mpiexec -n "$WORLD_SIZE" --ppn "$RANKS_PER_NODE" python score.py'
    thread.player.moves = [call("edit_script", patch=[{"old": last, "new": f"{last}\n\n{second}"}]), "Done."]
    thread.say("and score.py behind it")
    assert "nothing changed" not in told(thread) and thread.script.rstrip().endswith(f"{last}\n\n{second}")
    thread.player.moves = [call("edit_script", fields={"walltime": "00:50:00"}), "Done."]
    thread.say("50 minutes")
    assert thread.script.count(second) == 1 and "walltime=00:50:00" in thread.script


@pytest.mark.parametrize(
    "piece",
    [
        lambda row, at: {"old": row, "new": f"{row}\nexport HALF=1"},
        lambda row, at: {"old": row, "new": f"export HALF=1\n{row}"},
        lambda row, at: {"line": at, "old": row, "new": f"{row}\nexport HALF=1"},
        lambda row, at: {"old": "--bs 8", "new": "--bs 8 HALF=1"},
    ],
)
def test_a_patch_that_comes_again_is_put_in_once(piece: Callable[[str, int], dict[str, object]]) -> None:
    thread = after("polaris, pytorch ddp, 2 nodes, own.py --bs 8, account abc123, 1 hour, queue capacity", "go on")
    rows = thread.script.splitlines()
    at = next(n for n, row in enumerate(rows) if row.startswith("module load"))
    patch = [piece(rows[at], at + 1)]
    for fields in ({}, {}, {"job_name": "second"}):
        thread.player.moves = [call("edit_script", fields=fields, patch=patch), "Done."]
        thread.say("put that in")
    assert thread.script.count("HALF=1") == 1 and "#PBS -N second" in thread.script
    assert "the script has that already" in told(thread) and "not done" not in told(thread)


def test_a_line_that_stands_elsewhere_or_is_wanted_twice_is_put_in() -> None:
    again = {"old": "date\nrun a", "new": "date\nrun a\ndate"}
    assert swapped("date\nrun a\nrun b\n", [again])[0] == "date\nrun a\ndate\nrun b\n"
    assert swapped("run a\n", [{"old": "run a", "new": "run a\nrun a"}])[0] == "run a\nrun a\n"
    assert swapped("run --bs 8 --amp-level 2\n", [{"old": "--bs 8", "new": "--bs 8 --amp"}])[0] == (
        "run --bs 8 --amp --amp-level 2\n"
    )


OWN = """#!/bin/bash
#SBATCH -A bdxx-delta-gpu
#SBATCH -p gpuA100x4
#SBATCH -N 1
#SBATCH --gpus-per-node=4
#SBATCH -t 08:00:00
source ./paths_here.sh
srun python own.py --bs 128
"""


def test_a_script_is_not_called_as_a_file_that_it_sources() -> None:
    thread = Thread(Player("Read."))
    thread.say(f"this one reads /work/me/paths_here.sh first\n```bash\n{OWN}```")
    assert thread.state["own"].name != "paths_here.sh"
    named = Thread(Player("Read."))
    named.say(f"this is night.sh\n```bash\n{OWN}```")
    assert named.state["own"].name == "night.sh"


def test_a_patch_under_a_new_name_makes_a_copy() -> None:
    thread = Thread(Player("Read."))
    thread.say(f"this is night.sh\n```bash\n{OWN}```")
    patch = [{"old": "--bs 128", "new": "--bs 64"}]
    thread.player.moves = [call("edit_script", file="small.sh", patch=patch), "Done."]
    thread.say("please with 64 a step too")
    assert "small.sh" in told(thread) and "--bs 64" in thread.script
    thread.player.moves = [call("edit_script", file="nigth.sh", patch=patch), "Done."]
    thread.say("and 64 there")
    assert "no file 'nigth.sh'" in told(thread)


def test_a_machine_with_its_scheduler_behind_it_heads_a_request() -> None:
    thread = Thread(Player("Here.\n\n[[rules]]"))
    thread.say("Lassen (LSF). 8 nodes, pytorch ddp, own.py, account guests, 2 hours")
    assert "jsrun" in thread.script and "mpirun" not in thread.script
    thread.player.moves = [call("edit_script", fields={"launcher": "lrun"}), "Done."]
    thread.say("start it with lrun")
    assert "lrun only calls it" in told(thread) and "jsrun" in thread.script
