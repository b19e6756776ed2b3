"""The frameworks that scripts are written for and the accounts of known forms, as people name them."""

import pytest

from graph.extraction.request import understand
from knowledge.types import FRAMEWORKS, JobRequest


@pytest.mark.parametrize(
    ("words", "framework"),
    [
        ("train.py with flax on delta, 2 nodes", "jax"),
        ("keras fit.py on lumi, 2 nodes", "tensorflow"),
        ("horovod train.py on anvil, 2 nodes", "horovod"),
        ("a ray tune search with tune.py on anvil, 2 nodes", "ray"),
        ("tune.py with ray on vista, 4 nodes", "ray"),
        ("run the Hugging Face Trainer, ft.py, on delta", "hf-trainer"),
        ("HF trainer ft.py on delta, zero3", "hf-trainer"),
        ("torchtitan pretraining on 8 nodes of polaris", "torchtitan"),
        ("batch inference infer.py with vLLM on vista", "vllm"),
    ],
)
def test_a_framework_is_heard_where_it_is_named(words: str, framework: str) -> None:
    assert framework in FRAMEWORKS
    assert understand(words, None, None, None).request.framework == framework
    before = JobRequest(machine="delta", framework="pytorch", strategy="ddp", nodes=2, entry="train.py")
    assert understand(f"make it {framework} please", before, None, None).request.framework == framework


@pytest.mark.parametrize("words", ["classify x-ray images with ddp on delta", "ddp for gamma ray events on delta"])
def test_a_ray_of_light_is_no_framework(words: str) -> None:
    assert understand(words, None, None, None).request.framework == "pytorch"


def test_a_model_that_is_served_is_the_program() -> None:
    words = "serve mistralai/Mistral-7B-Instruct-v0.3 with vllm on delta, 1 node; client.py asks it"
    heard = understand(words, None, None, None)
    request = heard.request
    assert [one.entry for one in request.then] == ["client.py"]
    assert request.entry == "vllm serve mistralai/Mistral-7B-Instruct-v0.3"
    own = understand("vllm with infer.py and Llama-3.1-8B on delta, 1 node", None, None, None).request
    assert own.entry == "infer.py"


def test_a_framework_says_how_a_job_runs_as_a_strategy_does() -> None:
    words = "i have a jax search, 2 nodes on anvil, how do i start it inside slurm? allocation ees260011-gpu, tune.py"
    assert understand(words, None, None, None).intent == "generate"


@pytest.mark.parametrize(
    ("words", "account"),
    [
        ("vista, 4 nodes ddp, train.py, 10h, AST26007", "AST26007"),
        ("there is only the one project, called CHE24007", "CHE24007"),
        ("gcb51111", "gcb51111"),
        ("it fails on nid00341", None),
    ],
)
def test_an_account_is_heard_by_its_form(words: str, account: str | None) -> None:
    before = JobRequest(machine="vista", framework="pytorch", strategy="ddp", nodes=1, entry="a.py")
    assert understand(words, before, None, None).request.account == account


@pytest.mark.parametrize(
    ("words", "queue"),
    [
        ("the queue is crazy, 2 nodes ddp on perlmutter", None),
        ("a config file for accelerate on 2 nodes of delta", None),
        ("the queue is batch on frontier", "batch"),
        ("file d'attente debug sur perlmutter", "debug"),
    ],
)
def test_a_word_is_a_queue_where_it_stands_as_a_name(words: str, queue: str | None) -> None:
    assert understand(words, JobRequest(), None, None).request.queue == queue


@pytest.mark.parametrize(
    "account", ["def-smith", "rrg-bengio-ad", "def-liu_gpu", "abc@h100", "naiss2025-1-22", "brics.xyz", "TG-MCB1234"]
)
def test_an_account_is_known_by_the_form_that_its_site_gives(account: str) -> None:
    assert understand(f"ddp train.py on narval, {account}, 1 node", JobRequest(), None, None).request.account == account


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        ("train.py ddp on perlmutter, my conda env torchenv", "torchenv"),
        ("train.py ddp on perlmutter, conda env torchenv, 2 nodes", "torchenv"),
        ("train.py ddp on perlmutter, my conda environment is broken", None),
    ],
)
def test_an_environment_is_named_without_a_verb(words: str, environment: str | None) -> None:
    assert understand(words, JobRequest(), None, None).request.environment == environment


def test_tasks_of_an_array_have_one_seed_each() -> None:
    read = understand("train.py on fir as an array over seeds 1, 2 and 3", JobRequest(), None, None).request
    assert read.array and [one.option for one in read.array.axes] == ["--seed"]


def test_gpus_behind_a_number_are_no_queue() -> None:
    read = understand("4 A40 GPUs on alex, ddp train.py", JobRequest(), None, None).request
    assert read.queue is None and read.total_gpus == 4


def test_jobs_of_a_time_may_be_a_chain() -> None:
    read = understand("3 jobs of 12h chained, train.py ddp on frontier", JobRequest(), None, None).request
    assert (read.chain, read.walltime) == (3, "12:00:00")
