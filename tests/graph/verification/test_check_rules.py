# ruff: noqa: E501
"""Rules, each by a bad script that it finds and a good one that it leaves alone, beyond those of mutations.yaml."""

from __future__ import annotations

import pytest

from graph.usecases.mend_script import mend_script
from graph.verification.checks import check
from graph.verification.checks.table import RULES
from knowledge.catalogue import catalogue
from knowledge.types import Finding

HEAD = (
    "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=4\n#SBATCH --time=01:00:00\n"
)
MASTER = "export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
TORCHRUN = "torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR:29500 train.py\n"
STATIC = "--nnodes=2 --nproc_per_node=4 --master_addr=$MASTER_ADDR --master_port=29500"
GOOD = f"{HEAD}source env/bin/activate\n{MASTER}srun {TORCHRUN}"


def found(text: str, machine: str | None = None) -> list[Finding]:
    return check(text, catalogue().clusters[machine] if machine else None)


def rules(text: str, machine: str | None = None) -> set[str]:
    return {one.rule for one in found(text, machine)}


def test_a_good_script_has_no_findings() -> None:
    assert found(GOOD) == []


def test_every_rule_has_a_row_of_its_own() -> None:
    ids = [rule.id for rule in RULES]
    assert len(ids) == len(set(ids))
    assert all(rule.id == rule.id.lower() and " " not in rule.id for rule in RULES)


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("--ntasks-per-node=1", "--ntasks-per-node=4", "launch-once-per-rank"),
        ("srun torchrun", "torchrun", "launch-first-node-only"),
        ("--nnodes=2", "--nnodes=1", "launch-machines"),
        ("srun torchrun", "mpiexec.hydra -n 2 -ppn 1 jsrun -n 2 torchrun", "launcher-foreign"),
        ("--nproc_per_node=4", "--nproc_per_node=8", "launch-processes"),
        ("export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)", "export MASTER_ADDR=127.0.0.1", "rendezvous-localhost"),
        ("#SBATCH --time=01:00:00\n", "#SBATCH --time=01:00:00\n#SBATCH --foo=3\n", "directive-unknown-option"),
        ("#!/bin/bash\n", "\n#!/bin/bash\n", "shell-shebang"),
        ("--nodes=2", "--nodes=$N", "directive-variable"),
        ("srun torchrun", "srun --export=NONE torchrun", "variable-export-only"),
        ("#SBATCH --nodes=2\n", "#SBATCH --nodes=2\n#SBATCH --export=NONE\n", "variable-export-none"),
        ("source env/bin/activate\n", "source env/bin/activate\nexport NCCL_DEBUG=TRACE\n", "debug-left-in"),
        ("source env/bin/activate\n", "source env/bin/activate\nNCCL_DEBUG=INFO\n", "variable-not-exported"),
        ("srun torchrun", "srun deepspeed --num_gpus 4 x.py #", "launch-deepspeed"),
    ],
)  # fmt: skip
def test_defects_without_a_machine(old: str, new: str, rule: str) -> None:
    assert old in GOOD
    assert rule in rules(GOOD.replace(old, new, 1))


def test_node_rank_by_each_node_is_fine_and_constant_is_not() -> None:
    inside = (
        f"{HEAD}source env/bin/activate\n{MASTER}srun bash -c 'torchrun {STATIC} --node_rank=$SLURM_NODEID train.py'\n"
    )
    assert found(inside) == []
    assert "rendezvous-node-rank" in rules(inside.replace("$SLURM_NODEID", "0"))
    assert "rendezvous-node-rank" in rules(inside.replace(" --node_rank=$SLURM_NODEID", ""))


@pytest.mark.parametrize(
    "launch",
    [
        'srun bash -c "torchrun {static} --node_rank=$SLURM_NODEID train.py"',
        "srun torchrun {static} --node_rank=$SLURM_PROCID train.py",
        "NODE_RANK=$SLURM_NODEID\nsrun torchrun {static} --node_rank=$NODE_RANK train.py",
    ],
)
def test_a_rank_that_the_batch_shell_expands(launch: str) -> None:
    text = f"{HEAD}source env/bin/activate\n{MASTER}{launch.format(static=STATIC)}\n"
    assert rules(text) & {"rank-expanded-early", "rank-set-in-batch"}


def test_an_escaped_rank_is_left_to_the_tasks() -> None:
    text = f'{HEAD}source env/bin/activate\n{MASTER}srun bash -c "torchrun {STATIC} --node_rank=\\$SLURM_NODEID train.py"\n'
    assert found(text) == []


def test_ssh_loops_start_the_other_nodes() -> None:
    loop = "i=0\nfor h in $(scontrol show hostnames $SLURM_JOB_NODELIST); do\n  ssh $h torchrun {s} --node_rank=$i train.py &\n  i=$((i+1))\ndone\nwait\n"
    assert not rules(HEAD + "source x/bin/activate\n" + MASTER + loop.format(s=STATIC)) & {
        "launch-first-node-only",
        "rendezvous-node-rank",
    }


def test_directives_inside_a_here_document_belong_to_the_other_job() -> None:
    text = GOOD + "cat > next.sh <<'EOF'\n#!/bin/bash\n#SBATCH --nodes=7\nsrun hostname\nEOF\nsbatch next.sh\n"
    assert "directive-after-command" not in rules(text)


def test_another_batch_systems_mark_is_no_misspelt_one() -> None:
    other = GOOD.replace("#SBATCH", "#YBATCH")
    assert "directive-misspelt-mark" not in rules(other)
    assert "directive-misspelt-mark" in rules(GOOD.replace("#SBATCH --time", "#DBATCH --time"))


def test_a_comment_that_tells_how_to_submit_is_no_misspelt_directive() -> None:
    assert found(GOOD.replace("#!/bin/bash\n", "#!/bin/bash\n# sbatch -N 4 job.sh\n", 1)) == []


@pytest.mark.parametrize(
    ("machine", "old", "new", "rule"),
    [
        ("delta", "gpuA100x4", "gpuA100x9", "queue-unknown"),
        ("delta", "abcd-delta-gpu", "abcd", "account-suffix"),
        ("delta", "time=01:00:00", "time=49:00:00", "queue-walltime"),
        ("delta", "nodes=2", "nodes=200", "queue-nodes"),
        ("delta", "export NCCL_SOCKET_IFNAME=hsn\n", "", "network-missing"),
        ("delta", "mem=0", "mem=900G", "node-memory"),
    ],
)
def test_what_a_machine_gives(machine: str, old: str, new: str, rule: str) -> None:
    text = (
        "#!/bin/bash\n#SBATCH -A abcd-delta-gpu -p gpuA100x4 --nodes=2 --mem=0\n#SBATCH --ntasks-per-node=1 --gpus-per-node=4\n"
        f"#SBATCH --time=01:00:00\nsource env/bin/activate\nexport NCCL_SOCKET_IFNAME=hsn\n{MASTER}srun {TORCHRUN}"
    )
    assert found(text, machine) == []
    assert rule in rules(text.replace(old, new, 1), machine)


def test_a_finding_says_what_would_cure_it() -> None:
    text = GOOD.replace("#SBATCH --nodes=2", "#SBATCH -A x -p batch --nodes=2").replace(
        "time=01:00:00", "time=05:00:00"
    )
    limit = next(one for one in found(text, "frontier") if one.rule == "queue-walltime")
    assert limit.change == (("walltime", "02:00:00"),)
    assert limit.source and limit.source.startswith("https://docs.olcf.ornl.gov")
    assert limit.line == 5


@pytest.mark.parametrize("text", ["", " \n\t\n", "\x00\x01", "\x00ELF" * 50, "a" * 2_000_001])
def test_what_is_no_script_is_said_so(text: str) -> None:
    assert [one.rule for one in check(text, None)] == ["script-unread"]


def test_a_job_in_a_here_document_is_no_task_of_the_outer_script() -> None:
    text = f"#!/bin/bash\nsbatch <<'EOF'\n{HEAD}source env/bin/activate\nexport MASTER_ADDR=$(hostname)\nsrun {TORCHRUN}EOF\n"
    assert not rules(text) & {"rendezvous-host", "rank-expanded-early", "variable-not-exported"}


def test_an_ending_script_with_wide_characters_is_read() -> None:
    assert rules(GOOD.replace("source", "echo '\U0002d6ba \u4e2d'\n{\U0002d6ba\nsource", 1)) == set()


def test_a_fixed_port_on_a_shared_node() -> None:
    part = (
        "#!/bin/bash\n#SBATCH -A abcd-delta-gpu -p gpuA100x4 --nodes=1 --mem=50G\n#SBATCH --ntasks=1 --gpus-per-node=2 -t 01:00:00\n"
        "source env/bin/activate\nexport MASTER_PORT=29500\nsrun torchrun --nproc_per_node=2 --master_port=$MASTER_PORT train.py\n"
    )
    assert rules(part, "delta") == {"rendezvous-shared-port"}
    assert found(part.replace("=29500", "=$((20000 + SLURM_JOB_ID % 10000))"), "delta") == []


def test_fewer_ranks_than_gpus_by_the_total_alone() -> None:
    text = (
        "#!/bin/bash\n#SBATCH -p gpu-a100 -N 2 -n 6 -t 01:00:00 -A x\nsource env/bin/activate\n"
        "export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\nibrun python train.py\n"
    )
    assert "launch-ranks-total" not in rules(text, "lonestar6")
    assert "launch-ranks-total" in rules(text.replace("-n 6", "-n 4"), "lonestar6")


@pytest.mark.parametrize(
    ("line", "machine", "wrong"),
    [
        ("export NCCL_IB_RETRY_CNT=13", None, True),
        ("export NCCL_IB_RETRY_CNT=7", None, False),
        ("export NCCL_IB_QPS_PER_CONNECTION=256", None, True),
        ("export NCCL_IB_GID_INDEX=3", "leonardo", True),
        ("export NCCL_IB_GID_INDEX=3", None, False),
        ("export NCCL_IB_TIMEOUT=22", "leonardo", False),
    ],
)
def test_network_tuning_outside_of_what_nccl_takes(line: str, machine: str | None, wrong: bool) -> None:
    text = GOOD.replace("source env", f"{line}\nsource env")
    assert ("network-tuning" in rules(text, machine)) is wrong


CORES = """#!/bin/bash
#SBATCH --partition={}
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task={}
{}#SBATCH --time=02:00:00
srun python train.py
"""


@pytest.mark.parametrize(
    ("machine", "queue", "cpus", "line", "wrong"),
    [
        ("lumi", "standard-g", 8, "", True),
        ("lumi", "standard-g", 7, "", False),
        ("lumi", "standard-g", 14, "#SBATCH --hint=multithread\n", False),
        ("frontier", "batch", 8, "", True),
        ("frontier", "batch", 8, "#SBATCH --core-spec=0\n", False),
        ("perlmutter", "regular", 16, "", False),
        ("vista", "gh", 9, "", False),
    ],
)
def test_cores_that_a_site_keeps_are_for_no_job(machine: str, queue: str, cpus: int, line: str, wrong: bool) -> None:
    hits = [one for one in found(CORES.format(queue, cpus, line), machine) if one.rule == "node-cpus"]
    assert bool(hits) is wrong
    assert not wrong or "56 of a node's are for jobs" in hits[0].says
    mended = mend_script(CORES.format(queue, cpus, line), None, catalogue().clusters[machine], "job.sh").text
    assert ("--cpus-per-task=7\n" in mended) is (wrong or cpus == 7)


@pytest.mark.parametrize(("hours", "queue"), [("12", "capacity"), ("00", "capacity"), ("99", "capacity")])
def test_a_queue_that_is_named_instead_takes_size_and_time(hours: str, queue: str) -> None:
    job = f"#!/bin/bash\n#PBS -q prod\n#PBS -l select=4:system=polaris\n#PBS -l walltime={hours}:30:00\nmpiexec python x.py\n"
    hit = next(one for one in found(job, "polaris") if one.rule == "queue-nodes")
    assert f"'{queue}' takes them" in hit.says and hit.change == (("queue", queue),)
