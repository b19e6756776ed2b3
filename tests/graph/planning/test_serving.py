"""A model that is served: its name, whether its GPUs hold it, what asks it, and what its script is told afterwards."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from graph.extraction.request import understand
from graph.planning.plan import plan
from graph.planning.resources.parameters import find_model
from graph.verification.checks import check
from knowledge.catalogue import catalogue
from knowledge.served_models import family_of, full_name, likely_names, served_models, weights_of
from knowledge.types import JobRequest, LaunchPlan, Refusal
from templates.render import render


def ordered(*said: str) -> JobRequest:
    """What these messages, one after the other, ask for."""
    request: JobRequest | None = None
    for words in said:
        request = understand(words, request, None, None).request
    assert request is not None
    return request


def planned(*said: str) -> LaunchPlan | Refusal:
    request = ordered(*said)
    return plan(request, catalogue().clusters[request.machine or ""])


def made(*said: str) -> LaunchPlan:
    decided = planned(*said)
    assert isinstance(decided, LaunchPlan), decided
    return decided


def program(*said: str) -> str:
    return " ".join(made(*said).args)


def told(decided: LaunchPlan) -> str:
    return "\n".join((*decided.notes, *(f"{one.value} {one.why}" for one in decided.assumptions)))


def test_weights_that_leave_no_room_are_refused_with_what_holds_them() -> None:
    refused = planned("serve Llama-3.1-70B-Instruct with vllm on one node of Delta")
    assert isinstance(refused, Refusal)
    assert "does not fit on 4 x A100 40 GB" in refused.says and "33 GiB" in refused.says
    ways = {way.says: dict(way.change) for way in refused.instead}
    assert any("H200" in says and "SU an hour" in says for says in ways)
    assert not any("MI100" in says for says in ways)  # vLLM has no build for it
    prices = [float(says.split(", ")[1].split()[0]) for says in ways if " SU an hour" in says]
    assert prices == sorted(prices)


def test_each_way_out_of_it_gives_a_script_that_holds_the_model() -> None:
    request = ordered("serve Llama-3.1-70B-Instruct with vllm on one node of Delta")
    cluster = catalogue().clusters["delta"]
    refused = plan(request, cluster)
    assert isinstance(refused, Refusal) and len(refused.instead) >= 3
    from dataclasses import replace

    for way in refused.instead:
        assert isinstance(plan(replace(request, **dict(way.change)), cluster), LaunchPlan), way


@pytest.mark.parametrize(
    ("order", "holds"),
    [
        ("serve Qwen/Qwen2.5-72B-Instruct-AWQ with vllm on 2 GPUs of Delta", True),  # 4 bits by its name
        ("serve Qwen/Qwen2.5-72B-Instruct with vllm on 2 GPUs of Delta", False),
        ("serve openai/gpt-oss-120b with vllm on 4 GPUs of Delta", True),
        ("serve meta-llama/Llama-3.1-405B-Instruct with vllm on 2 nodes of Polaris", False),
        ("serve Llama-3.1-70B-Instruct with vllm on 4 A100 of Delta with --gpu-memory-utilization 0.97", True),
        ("serve meta-llama/Llama-3.1-8B-Instruct with vllm on 1 GPU of Delta", True),
    ],
)
def test_the_memory_goes_by_how_the_weights_are_kept(order: str, holds: bool) -> None:
    assert isinstance(planned(order), LaunchPlan) is holds


def test_a_context_that_does_not_fit_beside_the_weights_is_cut_and_said() -> None:
    decided = made("serve Llama-3.1-70B-Instruct with vllm on 4 A100 of Delta with --gpu-memory-utilization 0.97")
    assert "--max-model-len 16384" in " ".join(decided.args) and "16384 tokens" in told(decided)


@pytest.mark.parametrize(
    ("said", "served"),
    [
        ("Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        ("llama 3.1 8b instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        ("gemma-2-27b-it", "google/gemma-2-27b-it"),
        ("Qwen2.5-7B-Instruct-AWQ", "Qwen/Qwen2.5-7B-Instruct-AWQ"),
        ("Mistral-7B-Instruct-v0.3", "mistralai/Mistral-7B-Instruct-v0.3"),
        ("mistral 7b", "YOUR_MODEL"),
        ("someone/Own-Model-7B", "someone/Own-Model-7B"),
    ],
)
def test_the_name_is_that_of_the_hub(said: str, served: str) -> None:
    decided = made(f"serve {said} with vllm on Delta, 1 node")
    assert decided.args[1] == served
    assert ("what the hub calls" in told(decided)) is (served not in (said, "YOUR_MODEL"))


def test_a_name_that_several_have_is_left_open_with_the_likely_ones() -> None:
    decided = made("serve mistral 7b with vllm on Anvil, 1 node")
    assert "mistralai/Mistral-7B-Instruct-v0.3" in told(decided)
    assert program("serve mistral 7b with vllm on Anvil, 1 node", "use mistralai/Mistral-7B-Instruct-v0.3").startswith(
        "serve mistralai/Mistral-7B-Instruct-v0.3"
    )


@pytest.mark.parametrize(("model", "gated"), [("google/gemma-2-9b-it", True), ("Qwen/Qwen2.5-7B-Instruct", False)])
def test_a_licence_is_told_of_once_where_there_is_one(model: str, gated: bool) -> None:
    assert told(made(f"serve {model} with vllm on Delta, 1 node")).count("accepted its licence") == int(gated)


def test_nodes_without_internet_are_told_the_download_and_the_cache() -> None:
    decided = made("serve Qwen/Qwen2.5-14B-Instruct with vllm on Leonardo, 1 node")
    text = render(decided).script
    assert "export HF_HUB_OFFLINE=1" in text and 'export HF_HOME="$SCRATCH/huggingface"' in text
    assert "`HF_HOME=$SCRATCH/huggingface hf download Qwen/Qwen2.5-14B-Instruct`" in told(decided)


@pytest.mark.parametrize(
    ("machine", "gone", "there"),
    [
        ("Delta", "pytorch-conda", 'source "$ENVIRONMENT/bin/activate"'),
        ("Perlmutter", "module load pytorch", 'source "$ENVIRONMENT/bin/activate"'),
        ("Anvil", "envs/train", 'conda activate "$CONDA_ENV"'),
        ("JUWELS Booster", "activate.sh", 'source "$VENV/bin/activate"'),
    ],
)
def test_the_server_has_an_environment_of_its_own(machine: str, gone: str, there: str) -> None:
    decided = made(f"serve Qwen/Qwen2.5-7B-Instruct with vllm on {machine}, 1 node")
    text = render(decided).script
    assert gone not in text and there in text and "install vllm" in told(decided)
    own = render(made(f"serve Qwen/Qwen2.5-7B-Instruct with vllm on {machine}, 1 node, venv /work/me/env")).script
    assert "/work/me/env" in own and "envs/vllm" not in own


@pytest.mark.parametrize(
    ("server", "machine", "needs"),
    [("sglang", "Delta", "CUDA 13"), ("vllm", "Frontier", "glibc 2.35"), ("vllm", "Delta", "")],
)
def test_what_the_install_asks_of_the_system_is_told(server: str, machine: str, needs: str) -> None:
    said = told(made(f"serve Qwen/Qwen2.5-7B-Instruct with {server} on {machine}, 1 node"))
    assert needs in said.partition("; it needs ")[2] if needs else "it needs" not in said


def test_a_base_model_that_reaches_further_than_its_chat_model_may() -> None:
    base, chat = family_of("Qwen2.5-7B"), family_of("Qwen2.5-7B-Instruct")
    assert base and chat and (base.context, chat.context) == (131072, 32768)


@pytest.mark.parametrize(
    ("wish", "holds"),
    [
        ("context 32k", "--max-model-len 32768"),
        ("16k context", "--max-model-len 16384"),
        ("port 8001", "--port 8001"),
        ("use 2 gpus only", "--tensor-parallel-size 2"),
        ("use the awq version", "serve Qwen/Qwen2.5-7B-Instruct-AWQ"),
        ("raise the gpu memory utilization to 0.95", "--gpu-memory-utilization 0.95"),
        ("make it listen to all", "--host 0.0.0.0"),
        ("only on localhost", "--host 127.0.0.1"),
        ("use Qwen/Qwen2.5-14B-Instruct", "serve Qwen/Qwen2.5-14B-Instruct"),
    ],
)
def test_what_is_asked_of_a_server_afterwards(wish: str, holds: str) -> None:
    assert holds in program("serve Qwen/Qwen2.5-7B-Instruct with vllm on Delta, 1 node", wish)


def test_a_training_is_told_nothing_of_servers() -> None:
    before = ordered("train.py with ddp on delta, 1 node")
    for wish in ("context 32k", "add an api key", "make it listen to all", "use the awq version"):
        after = understand(wish, before, None, None).request
        assert (after.argument_edits, after.variables, after.sequence_length) == ((), (), None), wish


def test_a_key_is_read_from_a_file_and_never_written() -> None:
    serve = "serve Qwen/Qwen2.5-7B-Instruct with {} on Delta, 1 node"
    for engine, line in (("vllm", "export VLLM_API_KEY"), ("sglang", '--api-key "$API_KEY"')):
        decided = made(serve.format(engine), "add an api key")
        assert line in render(decided).script and "$(cat $HOME/.serving-key)" in render(decided).script
        assert "openssl rand" in told(decided)


def test_longer_than_the_model_was_made_for_is_refused() -> None:
    refused = planned("serve Qwen/Qwen2.5-7B-Instruct with vllm on Delta, 1 node", "context 128k")
    assert isinstance(refused, Refusal) and "32,768" in refused.says


def test_heads_divide_by_the_tensor_size() -> None:
    args = program("serve Qwen/Qwen2.5-7B-Instruct with vllm on Frontier, 1 node")  # 28 heads on 8 devices
    assert "--tensor-parallel-size 4 --pipeline-parallel-size 2" in args


@pytest.mark.parametrize(
    ("order", "holds"),
    [
        ("serve Qwen/Qwen2.5-7B-Instruct with sglang on Delta, 1 node", "Qwen/Qwen2.5-7B-Instruct --tp-size 4"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 4 on one Delta node", "--tp 4 --host"),
    ],
)
def test_sglang_is_a_server_like_vllm(order: str, holds: str) -> None:
    decided = made(order)
    assert holds in " ".join(decided.args) and "SGLang" in render(decided).script and not decided.then


def test_sglang_over_nodes_tells_each_its_place() -> None:
    text = render(made("serve Qwen/Qwen2.5-72B-Instruct with sglang on 2 nodes of Leonardo, account a")).script
    assert '--nnodes "$NNODES" --node-rank "$SLURM_PROCID" --dist-init-addr "$MASTER_ADDR:$MASTER_PORT"' in text
    assert "--tp-size 4" in text and "--pp-size 2" in text


def test_vllm_over_nodes_needs_ray_in_its_environment() -> None:
    decided = made("serve Qwen/Qwen2.5-72B-Instruct with vllm on 2 nodes of Delta")
    assert "ray[cgraph]" in told(decided) and "--distributed-executor-backend ray" in " ".join(decided.args)


def test_tgi_is_refused_with_the_servers_that_are_written() -> None:
    refused = planned("serve google/gemma-2-9b-it with TGI on Delta, 1 node")
    assert isinstance(refused, Refusal) and {"vllm", "sglang"} == {
        dict(way.change)["framework"] for way in refused.instead
    }


def test_no_server_named_is_one_all_the_same_and_a_training_is_none() -> None:
    assert made("serve Llama-3.1-8B-Instruct on 1 GPU of Delta").framework == "vllm"
    assert ordered("fine-tune Llama-3.1-8B with train.py on Delta, later we serve it, 1 node").entry == "train.py"


def test_a_program_that_makes_the_engine_is_told_its_call_and_stays_online() -> None:
    decided = made("offline batch inference with vllm, generate.py, Qwen/Qwen2.5-32B-Instruct, 4 GPUs on Perlmutter")
    assert 'LLM(model="Qwen/Qwen2.5-32B-Instruct", tensor_parallel_size=4)' in told(decided)
    assert "HF_HUB_OFFLINE" not in render(decided).script and decided.entry == "generate.py"


CLIENTS = "serve Qwen/Qwen2.5-7B-Instruct with vllm on 1 GPU of Delta, then run {}"


@pytest.mark.parametrize(
    ("words", "entries"),
    [
        ("eval.py against it", [("eval.py", ())]),
        ("python client.py --n 100 and after that summarise.py", [("client.py", ("--n", "100")), ("summarise.py", ())]),
    ],
)
def test_what_asks_the_server_is_placed(words: str, entries: list[tuple[str, tuple[str, ...]]]) -> None:
    heard = understand(CLIENTS.format(words), None, None, None)
    assert not heard.left
    assert [(one.entry, one.args) for one in made(CLIENTS.format(words)).then] == entries


def test_a_client_keeps_the_port_that_it_was_told() -> None:
    decided = made(CLIENTS.format("python bench.py --url http://localhost:8000"))
    assert "8000" in {one.value for one in decided.user_variables if one.name == "PORT"}


def test_a_folder_of_weights_is_served_and_none_is_left_open() -> None:
    args = program("serve my checkpoint /work/hdd/abc/out/checkpoint-500 with vllm on 1 gpu of Delta")
    assert args.startswith("serve /work/hdd/abc/out/checkpoint-500")
    assert program("a vllm server on Delta, 1 node").startswith("serve YOUR_MODEL")


def test_a_training_that_uses_vllm_is_a_training() -> None:
    asked = ordered("finetune Qwen2.5-7B with sft.py on 1 node of Delta and use vllm for generation")
    assert asked.framework != "vllm" and asked.entry == "sft.py"
    words = "finetune Qwen2.5-7B with sft.py on 1 node of Delta and use vllm for generation"
    assert "use vllm for generation" in " ".join(understand(words, None, None, None).left)
    assert ordered("serve my fine-tuned /work/a/run-7 with vllm on Delta, 1 gpu, then client.py").framework == "vllm"


def test_a_client_that_nothing_starts_is_named() -> None:
    assert "lm_eval" in " ".join(
        understand("run lm_eval against a vllm server of Qwen/Qwen2.5-7B-Instruct on Delta", None, None, None).left
    )


# A server that answers once its file is there, and a client that writes what it was told.
SERVER = """#!/bin/bash
echo "$@" > served
[ -z "$DIES" ] || exit 3
trap 'touch ended; exit 0' TERM
sleep 0.2; touch up
while :; do sleep 0.1; done
"""
STUBS = {
    "vllm": SERVER,
    "srun": '#!/bin/bash\nwhile [[ $1 == --* ]]; do shift; done\nexec "$@"\n',
    "curl": "#!/bin/bash\n[ -e up ]\n",
    "python": '#!/bin/bash\necho "$OPENAI_BASE_URL ${@: -1}" >> asked\nexit "${FAILS:-0}"\n',
    "scontrol": "#!/bin/bash\nhostname\n",
    "sleep": "#!/bin/bash\nexec /bin/sleep 0.1\n",
}


def run(folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """The script of a server that a program asks, with stand-ins for all that it calls."""
    text = render(made(CLIENTS.format("eval.py against it"))).script
    lines = [line for line in text.splitlines() if not line.startswith(("module", "if [", "source "))]
    kept = [line for line in text.splitlines() if line.strip().startswith(('if [ "$STATUS"', "if ! kill"))]
    assert kept  # what ends the script is not among the lines that load software
    body = "\n".join(line for line in text.splitlines() if line in lines or line in kept)
    tools = folder / "bin"
    tools.mkdir()
    for name, script in STUBS.items():
        (tools / name).write_text(script)
        (tools / name).chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(folder), "SLURM_JOB_ID": "77", "SLURM_JOB_NUM_NODES": "1", "DIES": "", **more}
    return subprocess.run(["bash", "-c", body], cwd=folder, env=env, capture_output=True, text=True, timeout=60)


def test_the_client_runs_once_the_server_answers_and_the_server_ends(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "asked").read_text() == "http://127.0.0.1:8377/v1 eval.py\n"
    assert "--port 8377 --host 127.0.0.1" in (tmp_path / "served").read_text()
    assert (tmp_path / "ended").exists()


def test_a_server_that_dies_fails_the_job_and_starts_no_client(tmp_path: Path) -> None:
    done = run(tmp_path, DIES="1")
    assert done.returncode == 1 and "ended before it answered" in done.stderr and not (tmp_path / "asked").exists()


def test_a_client_that_fails_fails_the_job_and_ends_the_server(tmp_path: Path) -> None:
    done = run(tmp_path, FAILS="7")
    assert done.returncode == 7 and (tmp_path / "ended").exists()


MACHINES = ["delta", "perlmutter", "frontier", "polaris", "aurora", "leonardo", "lumi", "vista", "anvil", "tuolumne"]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("more", ["", ", then run eval.py against it"])
def test_no_script_of_a_server_has_an_error(machine: str, more: str) -> None:
    decided = made(f"serve mistralai/Mistral-7B-Instruct-v0.3 with vllm on {machine}, 1 node{more}")
    assert not [one for one in check(render(decided).script, catalogue().clusters[machine]) if one.severity == "error"]


def test_every_name_of_the_table_has_a_size_and_is_found_again() -> None:
    for family in served_models().families:
        for name in family.names:
            assert full_name(name) == f"{family.organisation}/{name}" and (family.billions or find_model(name)), name
    assert weights_of("Qwen2.5-7B-Instruct-GPTQ-Int8") == "int8" and weights_of("X-FP8-dynamic") == "fp8"
    assert likely_names("qwen 7b")[0] == "Qwen/Qwen2.5-7B-Instruct" and not likely_names("mistral")
