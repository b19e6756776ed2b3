"""A machine that nobody described, led by a model: the tools work on its draft as on any other machine."""

from __future__ import annotations

from player import Player, Thread, call

from graph.conversing.guard import GENERAL
from graph.undescribed import is_stand_in

ASKED = "I need a pytorch ddp script on our cluster called Titania, slurm, 2 nodes with 4 A100 each, train.py, 2 hours"
SINFO = "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu_long*    up 3-00:00:00     12   idle g[001-012]\n"


def drafted(*moves: object) -> Thread:
    thread = Thread(Player("[[rules]]", *moves))  # type: ignore[arg-type]
    thread.say(ASKED)
    assert "--nodes=2" in thread.script
    return thread


def answers(thread: Thread) -> list[str]:
    return [one.text for one in thread.player.asked[-1] if one.role == "tool"]


def test_every_tool_works_on_the_draft() -> None:
    calls = [
        call("cluster_facts", machine="Titania", about=["queues"]),
        call("check_script"),
        call("edit_script", fields={"nodes": "3"}),
        call("mend_script"),
        call("plan_resources", model="7B", machines=["titania"]),
    ]
    thread = drafted(calls, "Done.")
    thread.say("make it 3 nodes; does a 7B model fit, and what is still open?")
    facts, checked, edited, mended, plan = answers(thread)
    assert "`sinfo -o '%P %l %D %G'`" in facts and "clusters discover" in facts
    assert "YOUR_ACCOUNT" in checked and "`sinfo" in checked
    assert "--nodes=3" in edited and "--nodes=3" in thread.script
    assert "placeholder" in mended and "A100" in plan
    assert not any("is known" in one for one in (facts, checked, edited, mended, plan))


def test_a_new_script_and_a_port_go_to_a_machine_that_was_only_told_of() -> None:
    asked = "deepspeed zero2 on Titania (our slurm cluster, 4 A100 a node), 2 nodes, a.py"
    written = call("write_script", machine="Titania", framework="deepspeed", strategy="zero2", nodes=2, entry="a.py")
    thread = Thread(Player(written, "Below."))
    told = thread.say(asked)
    assert "--nodes=2" in thread.script and "YOUR_PARTITION" in thread.script and "clusters discover" in told
    cluster = thread.context.cluster(thread.state["request"])
    assert cluster and is_stand_in(cluster) and cluster.title == "Titania"
    thread.player.moves = [call("port_script", machine="perlmutter"), "Ported."]
    thread.say("and the same on perlmutter")
    assert "--constraint=gpu" in thread.script and not thread.state["request"].site_words


def test_a_slip_of_a_known_name_and_an_invented_one_are_no_machines() -> None:
    calls = [call("cluster_facts", machine="perlmuter"), call("cluster_facts", machine="Oberon")]
    thread = drafted(calls, "No.")
    thread.say("and on perlmuter?")
    slip, invented = answers(thread)
    assert "near: perlmutter" in slip and "no machine 'Oberon' is known" in invented


def test_its_own_queues_are_named_without_a_mark() -> None:
    """Those that its scheduler printed or its person named; one that nobody named is still told as unproved."""
    thread = drafted("Take the queue `gpu_long`, 12 nodes for 3 days; the queue `golden` would be faster.")
    told = thread.say(f"which partition?\n```\n{SINFO}```")
    assert f"{GENERAL} `golden`)" in told
