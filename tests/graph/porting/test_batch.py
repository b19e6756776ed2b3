"""The global batch on another number of ranks: kept where it comes out even, else said."""

from __future__ import annotations

import pytest

from graph.porting.port import Ported, port
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest

JOB = "#SBATCH -A m1_g -C gpu -q regular -N {nodes} --gpus-per-node=4 -t 30\n"
LAUNCH = "srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=4 fit.py --ddp {args}\n"


def moved(args: str, nodes: int = 4, to: int = 2, before: str = "") -> Ported:
    polaris = catalogue().find("polaris")
    assert polaris is not None
    text = JOB.format(nodes=nodes) + before + LAUNCH.format(args=args)
    made = port(text, polaris, JobRequest(nodes=to, gpus_per_node=4))
    assert isinstance(made, Ported)
    return made


def note(made: Ported) -> str:
    return next(one.says for one in made.notes if "ranks become" in one.says)


def option(made: Ported, name: str) -> str:
    return made.plan.args[made.plan.args.index(name) + 1]


def test_fewer_ranks_accumulate_more() -> None:
    made = moved("--per_device_train_batch_size 8 --gradient_accumulation_steps 3")
    assert option(made, "--gradient_accumulation_steps") == "6"
    assert note(made) == "16 ranks become 8: gradient accumulation 3 becomes 6, so the global batch stays 384."


def test_more_ranks_accumulate_less() -> None:
    made = moved("--per_device_train_batch_size=8 --gradient_accumulation_steps=4", 2, 4)
    assert "--gradient_accumulation_steps=2" in made.plan.args


def test_accumulation_is_added_where_the_program_is_known_to_take_it() -> None:
    assert option(moved("--per_device_train_batch_size 8"), "--gradient_accumulation_steps") == "2"
    assert "--gradient_accumulation_steps" not in moved("--micro-batch-size 8").plan.args


def test_more_ranks_without_accumulation_take_smaller_batches() -> None:
    made = moved("--per_device_train_batch_size 8", 2, 4)
    assert option(made, "--per_device_train_batch_size") == "4"
    assert "stays 64" in note(made)


def test_a_number_in_a_variable_changes_there() -> None:
    before = "STEPS=${STEPS:-4}\nSIZE=2\n"
    made = moved("--per_device_train_batch_size $SIZE --gradient_accumulation_steps $STEPS", before=before)
    assert "STEPS=${STEPS:-8}\n" in made.bundle.script
    assert option(made, "--gradient_accumulation_steps") == "$STEPS"


def test_what_does_not_come_out_even_is_said() -> None:
    made = moved("--per_device_train_batch_size 5 --gradient_accumulation_steps 1", 2, 3)
    assert note(made).startswith("8 ranks become 12: the global batch 40 becomes 60")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ("--global-batch-size 256 --micro-batch-size 4", "so the global batch stays"),
        ("--global-batch-size 100 --micro-batch-size 8", "choose a multiple of 64"),
        ("--batch-size 64", "if --batch-size 64 counts one rank, the global batch 1024 becomes 512"),
        ("--lr 1", "no batch size is among the arguments"),
    ],
)
def test_batches_of_the_whole_job_and_unclear_ones(args: str, expected: str) -> None:
    made = moved(args)
    assert expected in note(made)
    assert set(args.split()) <= set(made.plan.args)


FILE = 'cat > ds.json <<EOF\n{{"train_batch_size": {total}, {more}"zero_optimization": {{"stage": 2}}}}\nEOF\n'


def test_a_deepspeed_file_keeps_its_batch() -> None:
    more = '"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4, '
    made = moved("--deepspeed ds.json", before=FILE.format(total=128, more=more))
    assert '"gradient_accumulation_steps": 8, "zero' in made.bundle.script
    assert '"train_batch_size": 128' in made.bundle.script
    assert "stays" in note(moved("--deepspeed ds.json", before=FILE.format(total=128, more="")))
    assert "DeepSpeed may stop" in note(moved("--deepspeed ds.json", before=FILE.format(total=100, more="")))


def test_nothing_is_said_where_the_ranks_stay_or_the_arguments_were_given() -> None:
    assert not any("ranks become" in one.says for one in moved("--per_device_train_batch_size 8", 2, 2).notes)
    polaris = catalogue().find("polaris")
    assert polaris is not None
    made = port(JOB.format(nodes=4) + LAUNCH.format(args="--b 1"), polaris, JobRequest(nodes=2, args="--b 2"))
    assert isinstance(made, Ported)
    assert made.plan.args == ("--b", "2")
