"""What a call did is not told as left undone, and what is told as done is."""

from __future__ import annotations

from player import Player, Thread, call


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
