"""What scripts of strangers do rightly, and what is said of what they do wrong: one finding for one defect."""

from __future__ import annotations

import pytest

from assistant.commands.check import judge
from graph.verification.checks import check
from graph.verification.script_machine import script_machine
from knowledge.catalogue import catalogue
from knowledge.types import Finding

HEAD = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:4\n#SBATCH --time=2:00:00\n"


def of(text: str, *severities: str) -> list[Finding]:
    return [one for one in check(text, None) if one.severity in (severities or ("error", "warning"))]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "export MASTER_ADDR=$(srun --ntasks=1 hostname 2>&1 | tail -n1)\nsrun python train.py\n",
        HEAD + "#SBATCH --mail-type=BEGIN,END,ABORT\nsrun python train.py\n",
        HEAD + "srun python train.py\nexit\n\nsrun python old.py\n",
        HEAD.replace("node=1", "node=4") + "srun bash -c 'export CUDA_VISIBLE_DEVICES=$SLURM_LOCALID RANK=0 "
        "WORLD_SIZE=1 LOCAL_RANK=0 MASTER_ADDR=localhost MASTER_PORT=$((29600 + SLURM_PROCID)); python alone.py'\n",
        HEAD + "#SBATCH--output=%x-%j.log\nsrun python train.py\n",
        "#!/bin/bash\n#YBATCH -r dgx-a100_8\n#SBATCH --time=1:00:00\npython train.py\n",
        "#!/bin/bash\n#PBS --group=jh220009\n#PBS -q gpu\n#PBS -l elapstim_req=1:00:00\npython train.py\n",
        "#!/bin/bash\n#SBATCH --time=0-168:00:00\npython train.py\n",
        "#!/bin/bash\n#SBATCH --time=20:00:00   # temps d\u2019ex\u00e9cution\npython train.py\n",
        "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gres=gpu:1\nmpirun -n 6 python x.py\n#sbatch --dependency=a b.sh\n",
        HEAD + "NODE_RANK=$SLURM_NODEID\nsrun torchrun --nnodes=2 --nproc_per_node=4 --node_rank $NODE_RANK "
        "--rdzv_backend=c10d --rdzv_endpoint=$HOST:29500 train.py\n",
        HEAD + 'CMD="python t.py"\nLOG=l\necho start > $LOG\necho x >> $LOG\nsrun bash -c "X=\\$SLURM_PROCID $CMD"\n',
    ],
)  # fmt: skip
def test_what_the_scheduler_takes_is_no_error(text: str) -> None:
    assert of(text, "error") == []


def test_a_template_is_said_once() -> None:
    text = (
        "#!/bin/bash\n#SBATCH --nodes={{ nodes }}\n#SBATCH --time {{ time }}\n{% if gpu %}\n#SBATCH --gres=gpu:{{ n }}"
        "\n{% endif %}\nsrun -n {{ tasks }} python {{ script }}\n"
    )
    assert [(one.rule, one.line, one.severity) for one in of(text)] == [("script-template", 2, "warning")]


def test_placeholders_are_one_finding() -> None:
    text = "#!/bin/bash\n#SBATCH -A <account>\n#SBATCH --nodes=<N>\n#SBATCH -c <CPU NUMBER>\npython train.py\n"
    found = of(text)
    assert [one.rule for one in found] == ["directive-placeholder"]
    assert "lines 3, 4" in found[0].says


def test_a_fluxs_own_braces_are_no_template() -> None:
    text = "#!/bin/bash\n# flux: -N 2\n# flux: -t 60m\n# flux: --output=job-{{id}}.out\nflux run -N 2 -n 2 ./a.out\n"
    assert "script-template" not in {one.rule for one in of(text)}


def test_late_directives_are_one_finding_with_one_cure() -> None:
    text = "#!/bin/bash\nset -e\n#SBATCH --nodes=2\n#SBATCH --time=1:00:00\npython train.py\n"
    found = of(text)
    assert [one.rule for one in found] == ["directive-after-command"]
    assert "1 more (to line 4)" in found[0].says


@pytest.mark.parametrize("mark", ["#SBTACH", "#BATCH", "#SBATCG", "#DBATCH", "#SBAATCH"])
def test_a_mistyped_mark_is_found(mark: str) -> None:
    text = f"#!/bin/bash\n#SBATCH --nodes=2\n{mark} --time=1:00:00\nsrun python train.py\n"
    assert [one.rule for one in of(text, "error")] == ["directive-misspelt-mark"]


def test_ranks_of_mpi_may_share_a_gpu() -> None:
    text = "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gres=gpu:2\nmpirun -n 6 -npernode 6 python analyse.py\n"
    assert {one.severity for one in of(text)} == {"warning"}
    assert "error" in {one.severity for one in of(text.replace("mpirun", "export MASTER_ADDR=h\nmpirun"))}


SPAWN = "srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:29500 train.py\n"
PBS = "#!/bin/bash\n#PBS -l walltime=1:00:00\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + 'srun bash -c "composer --world_size 8 --node_rank \\$SLURM_NODEID --master_addr $H --master_port 29500 '
        '-n 4 train.py"\n',
        "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gres=gpu:1\n#SBATCH --exclusive\ntorchrun --nproc_per_node=4 train.py\n",
        PBS + "#PBS -l select=2:ngpus=4\ncd /work\naprun -n 8 -N 4 --cc depth -d 16 python train.py\n",
        "#!/bin/bash\n#SBATCH -N 1\n#SBATCH -c 8\n#SBATCH --gres=gpu:1\nMASTER_PORT=29500\nsrun bash -c \"torchrun "
        '--nproc_per_node=1 --nnodes=1 --node_rank=$SLURM_NODEID --master_addr=$H --master_port=$MASTER_PORT t.py"\n',
        "#!/bin/bash\n#SBATCH --partition=  # yours\n#SBATCH --gres=gpu:1\npython train.py\n",
        PBS + "#PBS -l select=1:ngpus=4\ncd /work\nmpirun -x NCCL_DEBUG=INFO -np 4 python train.py lr=1 SEED=3\n",
        "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gres=gpu:1\nsrun env SEED=3 python t.py\nSEED=4 srun python t.py\n",
        PBS + "#PBS -l select=@NODES:ncpus=@CORES\n#PBS -l walltime=@TIME\npython train.py\n",
    ],
)  # fmt: skip
def test_what_the_launchers_take_is_no_error(text: str) -> None:
    assert of(text, "error") == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (PBS + "#PBS -l ncpus=48\n#PBS -l ngpus=4\n#PBS -l wd\npython train.py\n", "environment-folder"),
        (
            HEAD.replace("nodes=2", "nodes=8") + "python ./deepy.py train.py -d configs a.yml\n",
            "launch-first-node-only",
        ),
        (HEAD + "#SBATCH --wait\n" + SPAWN, "directive-placeholder"),
        (
            "#!/bin/bash\n#BSUB -nnodes {{ n }}\njsrun \\\n -n {{ n }} \\\n --gpu_per_rs {{ g }} \\\n python t.py\n",
            "launch-no-gpus",
        ),
    ],
)
def test_what_is_right_is_not_warned_of(text: str, rule: str) -> None:
    assert rule not in {one.rule for one in of(text)}


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        (HEAD + "rank=$((SLURM_PROCID + 1))\nsrun python work.py --rank $rank\n", "rank-set-in-batch", 6),
        (HEAD + "srun python train.py --part $SLURM_TASK_ARRAY_ID\n", "variable-misspelt", 6),
        (HEAD + "srun --jobid=471100 python train.py\n", "launch-other-job", 6),
        (HEAD + "unset NCCL_IB_DISABLE=1\n" + SPAWN, "shell-export", 6),
        ("#!/bin/bash\n#SBATCH --partition=  # yours\n#SBATCH -A\npython train.py\n", "directive-placeholder", 2),
    ],
)
def test_what_is_wrong_is_told(text: str, rule: str, line: int) -> None:
    assert [(one.rule, one.line) for one in of(text) if one.rule == rule] == [(rule, line)]


def test_an_exclusive_job_may_not_start_more_than_the_machines_nodes_have() -> None:
    text = (
        "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gpus-per-node=1\n#SBATCH --exclusive\ntorchrun --nproc_per_node=8 t.py\n"
    )
    found = check(text, catalogue().find("perlmutter"))
    assert "launch-processes" in {one.rule for one in found}


def test_a_file_name_with_a_rank_in_it_is_none() -> None:
    text = HEAD + "rank_log=out.$SLURM_PROCID\nsrun python train.py --log $rank_log\n"
    assert of(text, "error") == []


def test_a_reservation_is_no_unknown_queue() -> None:
    for queue, told in (("R4711", False), ("R4711.pbs-01", False), ("prodd", True)):
        text = f"#!/bin/bash\n#PBS -q {queue}\n#PBS -l select=2:system=polaris\ncd x\nmpiexec python t.py\n"
        found = {one.rule for one in check(text, catalogue().find("polaris"))}
        assert ("queue-unknown" in found) is told


def test_another_module_with_the_name_inside_is_no_misspelling() -> None:
    text = "#!/bin/bash\n#SBATCH -p standard-g\nmodule load singularity-bindings\nsrun python train.py\n"
    assert "module-misspelt" not in {one.rule for one in check(text, catalogue().find("lumi"))}


def test_pythons_braces_are_a_template() -> None:
    text = (
        "#!/bin/bash\n#SBATCH --account={account}\n#SBATCH --nodes={nodes}\n"
        'if [ "{fast}" = "True" ]; then\nX=1\nfi\nsrun python train.py --lr {lr}\n'
    )
    assert [(one.rule, one.line) for one in judge(text, "-", None) if one.severity != "info"] == [
        ("script-template", 2)
    ]
    whole = HEAD + "srun python train.py --out run-{best}.pt -o %q{SLURM_TASK_PID}.log\n"
    assert "script-template" not in {one.rule for one in of(whole)}


def test_a_variable_of_another_case_is_no_mark_of_a_machine() -> None:
    text = "#!/bin/bash\n#SBATCH -N 2\nfor cfs in 1 2; do python a.py --cfs ${cfs}; done\n"
    assert script_machine(text).cluster is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (HEAD + "#SBATCH --mem=200 GB\n" + SPAWN, "directive-loose-word"),
        (HEAD + "#SBATCH --exclusive user\n" + SPAWN, "directive-loose-word"),
        (HEAD.replace("gres=gpu:4", "gpus-per-node=4:a100") + SPAWN, "directive-value"),
        (HEAD.replace("gpu:4", "gpu4") + SPAWN, "directive-value"),
        (
            HEAD + "first=$(scontrol show hostnames $SLURM_JOB_NODELIST | tail -n 1)\nexport MASTER_ADDR=$first\n"
            "export MASTER_PORT=29500\nsrun python train.py\n",
            "rendezvous-host",
        ),
        (HEAD + "for n in 0 1; do\nsrun -N1 -n1 -r $n python train.py --node_rank $n &\ndone\n", "launch-ends-soon"),
        (HEAD.replace("=2", "=1") + "torchrun -standalone --nproc_per_node=4 train.py\n", "launch-option"),
        (HEAD.replace("=2", "=1") + "torchrun --standalone --nproc_per_node=4 -m train.py\n", "launch-option"),
        (HEAD + "srun -n 8 --ntasks-per-node=4 --gpus-per-task=2 python train.py\n", "launch-step-gpus"),
        (HEAD.replace("--time", "\u2013-time") + SPAWN, "shell-characters"),
        (
            HEAD + 'srun bash -c "torchrun --nnodes=2 --nproc_per_node=4 --rdzv_id=\\$RANDOM --rdzv_backend=c10d '
            '--rdzv_endpoint=$H:29500 train.py"\n',
            "rendezvous-backend",
        ),
    ],
)
def test_planted_defects_are_errors(text: str, rule: str) -> None:
    assert [one.rule for one in of(text, "error")] == [rule]


@pytest.mark.parametrize(
    "line",
    [
        "#SBATCH -J a -N 2 --exclusive -t 1:00:00  # a word",
        "#SBATCH --mail-user={YOUR EMAIL}",
        '#SBATCH --comment "two words" --requeue',
        "#SBATCH --wait --nice",
        "#SBATCH -n4 -c 8 --site-option value",
        "#SBATCH --gres=gpu:a100:4,nvme:1",
    ],
)
def test_words_that_options_take_are_not_loose(line: str) -> None:
    assert not {"directive-loose-word", "directive-value"} & {one.rule for one in of(HEAD + line + "\n" + SPAWN)}


@pytest.mark.parametrize(
    ("name", "argument", "severities"),
    [
        ("frank", "--franklog $frank", []),
        ("rank", "--out run_$rank", ["warning"]),
        ("MY_RANK", "--node-rank=${MY_RANK}", ["error"]),
        ("node_rank", "--machine_rank $node_rank", ["error"]),
    ],
)
def test_a_number_of_the_batch_shell_is_wrong_where_a_rank_is_read(
    name: str, argument: str, severities: list[str]
) -> None:
    text = HEAD + f"{name}=$SLURM_PROCID\nsrun python work.py {argument}\n"
    assert [one.severity for one in of(text) if one.rule == "rank-set-in-batch"] == severities


@pytest.mark.parametrize(
    ("gpus", "step", "severities"),
    [
        ("--gpus=4", "--ntasks-per-node=1 --gpus-per-task=3", ["warning"]),
        ("--gpus=4", "-n 1 --ntasks-per-node=1 --gpus-per-task=3", []),
        ("--gpus-per-node=2", "--ntasks-per-node=1 --gpus-per-task=3", ["error"]),
    ],
)
def test_gpus_of_a_whole_job_may_lie_unevenly(gpus: str, step: str, severities: list[str]) -> None:
    text = HEAD.replace("--gres=gpu:4", gpus) + f"srun {step} python train.py\n"
    assert [one.severity for one in of(text) if one.rule == "launch-step-gpus"] == severities


def test_what_old_and_new_sbatch_do_with_a_loose_word_is_told() -> None:
    told = next(one for one in of(HEAD + "#SBATCH --mem=200 GB\n" + SPAWN) if one.rule == "directive-loose-word")
    assert "19.05" in told.why and "ignore" in told.why
    assert told.source and "/master/" not in told.source


@pytest.mark.parametrize(
    ("below", "waited"),
    [
        ("sleep 5\n", False),
        ("while true; do sleep 60; done\n", True),
        ("while [ -d /proc/$pid ]; do\n  sleep 60\ndone\n", True),
        ("sleep infinity\n", True),
        ("echo started\nwait\n", True),
    ],
)
def test_a_short_sleep_waits_for_no_launch(below: str, waited: bool) -> None:
    for start in ("srun python train.py &\n", "for n in 0 1; do\n  srun -N1 -n1 python train.py &\n  sleep 5\ndone\n"):
        assert ("launch-ends-soon" in {one.rule for one in of(HEAD + start + below)}) is not waited


def test_a_format_s_name_in_a_directive_is_its_gap_alone() -> None:
    text = HEAD.replace("--nodes=2", "--nodes={nodes}")
    launch = "srun --ntasks={nodes} python train.py --ckpt run-{epoch}.pt --lr $SLURM_TASK_ARRAY_ID\n"
    assert [one.rule for one in of(text + launch)] == ["script-template"]
    found = of(text + launch.replace("--ntasks={nodes} ", ""))
    assert [(one.rule, one.line) for one in found] == [("variable-misspelt", 6), ("script-template", 2)]


@pytest.mark.parametrize("gap", ["{nodes}", "{{ nodes }}"])
def test_an_option_s_name_is_held_where_its_value_is_a_gap(gap: str) -> None:
    found = of(HEAD.replace("--nodes=2", f"--noeds={gap}") + "srun python train.py\n")
    assert ("directive-unknown-option", 2) in [(one.rule, one.line) for one in found]
    found = of(HEAD.replace("--nodes=2", "--{key}={nodes}") + "srun python train.py\n")
    assert "directive-unknown-option" not in {one.rule for one in found}
