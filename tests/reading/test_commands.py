"""Commands in sentences: what starts, with which arguments, and where the sentence goes on."""

import pytest

from graph.extraction.request import understand
from graph.reading.commands import find_commands

SENTENCES = {
    "perlmutter: python3 -m pkg.train --config c/b.yaml --lr 3e-4, ddp, 2 nodes": (
        "-m pkg.train",
        "--config c/b.yaml --lr 3e-4",
    ),
    "delta, lightning: python main.py fit --config exp/v.yaml --trainer.max_epochs 90, 10h": (
        "main.py",
        "fit --config exp/v.yaml --trainer.max_epochs 90",
    ),
    "frontier: OMP_NUM_THREADS=7 python train.py data=imagenet lr=0.1, ddp, 8 nodes": (
        "train.py",
        "data=imagenet lr=0.1",
    ),
    "polaris, `python -u -m ref.train model=vit optim.lr=1e-3`, project Vis": (
        "-m ref.train",
        "model=vit optim.lr=1e-3",
    ),
    "accelerate launch --config_file a.yaml --num_processes 8 ft.py --bf16, 2 nodes": ("ft.py", "--bf16"),
    "vista: vllm serve Qwen/Qwen2.5-72B-Instruct --max-model-len 8192, 8h": (
        "vllm serve Qwen/Qwen2.5-72B-Instruct",
        "--max-model-len 8192",
    ),
    "run ./bin/lbm --nx 512 on perlmutter with 2 nodes": ("./bin/lbm", "--nx 512"),
    "julia script train.jl on perlmutter, 1 node": ("julia train.jl", ""),
    "entry is scripts/pre.sh conf/7b.env, 12h": ("scripts/pre.sh", "conf/7b.env"),
    "train.py --amp 4 nodes on delta": ("train.py", "--amp"),
    "train.py --seeds 1 2 3, 4 nodes": ("train.py", "--seeds 1 2 3"),
    '(python fit.py --grid (1) --x "a b") on lumi': ("fit.py", '--grid (1) --x "a b"'),
    "fit.py --lr 1e-4. Then we see": ("fit.py", "--lr 1e-4"),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_command_ends_where_the_sentence_goes_on(sentence: str) -> None:
    command = find_commands(sentence)[0]
    assert (command.entry, command.args) == SENTENCES[sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "use deepspeed zero3 on 4 nodes",
        "python and pytorch on delta",
        "should I use torchrun or accelerate launch on one node?",
        "train.py, ddp, 4 nodes",
        "serve it with vllm",
    ],
)
def test_words_about_programs_are_no_commands(sentence: str) -> None:
    assert find_commands(sentence) == []


def test_variables_before_a_command_are_the_jobs() -> None:
    heard = understand("polaris: NCCL_DEBUG=INFO python t.py --x 1, 1 node, ddp, project P", None, None, None)
    assert [(one.name, one.value) for one in heard.request.variables] == [("NCCL_DEBUG", "INFO")]
    assert (heard.request.entry, heard.request.args) == ("t.py", "--x 1")


def test_of_two_commands_the_training_is_the_job_and_the_other_a_step_before_it() -> None:
    words = "delta: first python prep.py --in raw then torchrun train.py --in clean, ddp, 1 node, bbka-delta-gpu"
    request = understand(words, None, None, None).request
    assert (request.entry, request.args, request.before) == ("train.py", "--in clean", ("python prep.py --in raw",))


def test_programs_with_sizes_of_their_own_are_jobs_of_a_chain() -> None:
    words = "frontier: prep.py on 1 node 30min, then train.py on 16 nodes 2h, then eval.py 1 node 20 min, proj MAT271"
    request = understand(words, None, None, None).request
    assert (request.entry, request.nodes, request.walltime) == ("train.py", 16, "02:00:00")
    assert request.before == ("python prep.py",)
    assert [(one.entry, one.nodes, one.walltime) for one in request.then] == [("eval.py", 1, "00:20:00")]


def test_an_option_that_stands_apart_is_the_programs() -> None:
    heard = understand("vista fsdp 8 nodes train.py 12h AST22010 --seq 4096", None, None, None)
    assert [(one.name, one.value) for one in heard.request.argument_edits] == [("--seq", "4096")]
    assert heard.left == ()
