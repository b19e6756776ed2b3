"""Every field on a person's own script, on every scheduler: done or refused with what would be accepted, the same when
it is set twice, and gone to the letter when it is taken out again."""

from __future__ import annotations

import pytest

from graph.planning.request_fields import FIELDS, with_fields
from graph.usecases.edit_script import Edited
from graph.usecases.own_fields import put_field
from graph.usecases.own_removals import take_field_out
from knowledge.catalogue import catalogue
from knowledge.errors import InputError
from knowledge.types import JobRequest

SCRIPTS = {
    "slurm": """#!/bin/bash
#SBATCH -A bdxx-delta-gpu
#SBATCH -p gpuA100x4
#SBATCH -N 2
#SBATCH --gpus-per-node=4
#SBATCH -t 08:00:00
module load pytorch-conda/2.12
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR:29500 train.py --bs 8
""",
    "pbs": """#!/bin/bash -l
#PBS -l select=10:system=polaris
#PBS -l walltime=01:00:00
#PBS -q prod
#PBS -A datascience
cd ${PBS_O_WORKDIR}
module load conda; conda activate base
mpiexec -n 40 --ppn 4 --cpu-bind depth -d 8 python train.py --epochs 3
""",
    "lsf": """#!/bin/bash
#BSUB -P ABC123
#BSUB -nnodes 2
#BSUB -W 2:00
module load open-ce
jsrun -n 2 -r 1 -c 42 -g 6 ./launch.sh train.py --batch 32
""",
    "flux": """#!/bin/bash
# flux: -N 2
# flux: -t 2h
# flux: -q pbatch
# flux: --bank=wbank
module load rocm/6.0
flux run -N 2 -n 8 -c 8 -g 1 python train.py --bs 8
""",
}
# A value of each field that no script here has, and what to call it when it goes.
VALUES = {
    "account": "acc2", "queue": "other", "args": "--lr 3", "environment": "ownenv", "variables": "OWN_NAME=7",
    "job_name": "ownjob", "output": "own.txt", "memory_gb": "111", "cpus_per_task": "13", "processes_per_node": "2",
    "array": "5%2", "dependency": "afterok:99", "requeue": "yes", "signal": "USR2@120", "mail": "a@b.org:begin,end",
    "exclusive": "yes", "reservation": "ownres", "constraint": "ownfeat", "begin": "2027-01-01T00:00",
    "nodelist": "n001", "exclude_nodes": "n009", "extra_directives": "-z", "modules": "cuda/99.1",
    "source_files": "own.sh", "before": "echo one", "after": "echo two", "argument_edits": "--own='a;b, c=d \"e\"'",
    "offline": "yes", "container": "x.sif", "nodes": "3", "walltime": "05:00:00", "gpus_per_node": "2",
    "entry": "other.py", "modules_removed": "conda",
}  # fmt: skip
# Where a line held another value, which is not known any more.
CHANGED = {("account", ""), ("queue", ""), ("reservation", "pbs"), ("environment", "pbs")}


def value_of(name: str) -> str:
    return VALUES.get(name, "yes" if name in ("cpu_only", "first_run") else "")


@pytest.mark.parametrize("scheduler", SCRIPTS)
@pytest.mark.parametrize("name", sorted(VALUES))
def test_a_field_is_set_once_and_goes_to_the_letter(name: str, scheduler: str) -> None:
    before, value = Edited(SCRIPTS[scheduler], ()), VALUES[name]
    wanted = with_fields(JobRequest(), [f"{name}={value}"])
    try:
        once = put_field(before, name, wanted, None, "job.sh")
    except InputError as error:
        assert accepts(str(error)), error
        return
    assert once.text != before.text and once.says
    if name != "modules_removed":
        assert put_field(once, name, wanted, None, "job.sh").text == once.text
    try:
        gone = take_field_out(once, name, value, "job.sh").text
    except InputError as error:
        assert accepts(str(error)), error
        return
    was_other = any((name, one) in CHANGED for one in ("", scheduler)) and (name, scheduler) != ("queue", "lsf")
    assert gone == before.text or was_other, gone


def accepts(refusal: str) -> bool:
    """Whether a refusal says what would be accepted instead."""
    ways = ("give ", "takes a line", "port_script", "name what", "not by a line", "says ", "opens a queue", "tell ",
            "a chain", "the scheduler picks", "which Flux gives", "submit it", "take the GPU")  # fmt: skip
    return any(way in refusal for way in ways)


@pytest.mark.parametrize("scheduler", SCRIPTS)
@pytest.mark.parametrize("name", sorted(set(FIELDS) - set(VALUES)))
def test_a_field_that_only_a_new_script_has_is_refused_with_what_takes_its_place(name: str, scheduler: str) -> None:
    with pytest.raises(InputError) as refused:
        put_field(Edited(SCRIPTS[scheduler], ()), name, JobRequest(), None, "job.sh")
    assert accepts(str(refused.value)), refused.value


@pytest.mark.parametrize("scheduler", SCRIPTS)
def test_fields_beside_each_other_go_one_by_one(scheduler: str) -> None:
    names = ("job_name", "mail", "modules", "before", "variables", "args", "dependency", "constraint", "after")
    texts = [now := Edited(SCRIPTS[scheduler], ())]
    done = []
    for name in names:
        try:
            now = put_field(now, name, with_fields(JobRequest(), [f"{name}={VALUES[name]}"]), None, "job.sh")
        except InputError:
            continue
        done.append(name)
        texts.append(now)
    for name, before in zip(reversed(done), reversed(texts[:-1]), strict=True):
        now = take_field_out(now, name, VALUES[name], "job.sh")
        assert now.text == before.text, name


def test_a_constraint_beside_the_sites_own_goes_alone() -> None:
    own = SCRIPTS["slurm"].replace("#SBATCH -N 2", "#SBATCH -C gpu\n#SBATCH -N 2")
    both = put_field(Edited(own, ()), "constraint", JobRequest(constraint="hbm80g"), None, "job.sh")
    assert "gpu&hbm80g" in both.text
    assert "-C gpu\n" in take_field_out(both, "constraint", "hbm80g", "job.sh").text.replace("--constraint=", "-C ")
    assert "gpu&" not in (gone := take_field_out(both, "constraint", "", "job.sh").text) and "-C" not in gone


def test_ranks_a_node_are_those_of_the_launcher_that_counts_more() -> None:
    own = SCRIPTS["slurm"].replace("#SBATCH -N 2", "#SBATCH -N 2\n#SBATCH --ntasks-per-node=1")
    now = put_field(Edited(own, ()), "processes_per_node", JobRequest(processes_per_node=2), None, "job.sh")
    assert "--ntasks-per-node=1" in now.text and "--nproc_per_node=2" in now.text


@pytest.mark.parametrize(
    ("machine", "kind", "before", "after"),
    [
        ("jean-zay", "h100", "-C v100-32g", "-C h100"),
        ("bridges2", "h100-80", "--gpus=v100-32:4", "--gpus=h100-80:4"),
        ("alex", "a100-80", "--gres=gpu:a40:4", "--gres=gpu:a100:4"),
        ("jean-zay", "a100", "-t 1:00:00", "-t 1:00:00\n#SBATCH --constraint=a100"),
    ],
)
def test_another_kind_of_node_is_put_where_the_script_names_the_old_one(
    machine: str, kind: str, before: str, after: str
) -> None:
    text, there = f"#!/bin/bash\n#SBATCH -N 1\n#SBATCH {before}\nsrun python train.py\n", catalogue().find(machine)
    done = put_field(Edited(text, ()), "node_type", JobRequest(node_type=kind), there, "job.sh")
    assert f"#SBATCH {after}\n" in done.text and kind in done.says[-1]
    assert put_field(done, "node_type", JobRequest(node_type=kind), there, "job.sh") is done


def test_a_kind_of_node_that_is_not_there_is_refused() -> None:
    there = catalogue().find("bridges2")
    text = "#!/bin/bash\n#SBATCH --gpus=v100-32:4\nsrun python train.py\n"
    with pytest.raises(InputError, match="has no"):
        put_field(Edited(text, ()), "node_type", JobRequest(node_type="mi300"), there, "job.sh")
