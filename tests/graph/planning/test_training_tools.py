"""Orders for training tools: the tool's own command, its launch and its configuration."""

from __future__ import annotations

import json
from functools import reduce

import pytest

from graph.extraction.request import understand
from graph.planning.plan import plan
from graph.planning.questions import still_missing
from knowledge.catalogue import catalogue
from knowledge.training_tools import tool_of, tools_named, training_tools
from knowledge.types import JobRequest, LaunchPlan, Refusal, Understood
from templates.configs import accelerate_config, deepspeed_config
from templates.render import render


def heard(*texts: str) -> Understood:
    """What stands after these messages, one after another."""
    first = understand(texts[0], None, None, None)
    return reduce(lambda read, text: understand(text, read.request, None, None), texts[1:], first)


def planned(*texts: str) -> LaunchPlan:
    request = heard(*texts).request
    cluster = catalogue().clusters[str(request.machine)]
    assert still_missing(request, cluster) == ()  # nothing is left to guess from the model's size
    made = plan(request, cluster)
    assert isinstance(made, LaunchPlan), made
    return made


def program(made: LaunchPlan) -> str:
    return " ".join((*(("-m",) if made.entry_kind == "module" else ()), made.entry, *made.args))


@pytest.mark.parametrize(
    ("order", "started", "launch"),
    [
        (
            "sbatch for axolotl qwen2.5 7b lora config.yml, snellius, 1 node h100",
            "-m axolotl.cli.train config.yml",
            "pytorch torchrun",
        ),
        (
            "llama factory sft qwen3 8b on 2 nodes delta, examples/sft.yaml",
            "-m llamafactory.launcher examples/sft.yaml",
            "pytorch torchrun",
        ),
        (
            "delta 2 nodes: llamafactory-cli train sft.yaml, 4h",
            "-m llamafactory.launcher sft.yaml",
            "pytorch torchrun",
        ),
        (
            "llama-factory, sft.yaml, --learning_rate 1e-5, delta 1 node",
            "-m llamafactory.launcher sft.yaml learning_rate=1e-5",
            "pytorch torchrun",
        ),
        (
            "torchtune full finetune distributed llama3 8b on vista, 4 nodes",
            "full_finetune_distributed.py --config YOUR_CONFIG.yaml",
            "pytorch torchrun",
        ),
        (
            "torchtune qlora llama3 8b on vista, 4 nodes, my.yaml",
            "lora_finetune_distributed.py --config my.yaml",
            "pytorch torchrun",
        ),
        (
            "trl grpo of qwen2.5 7b with grpo.yaml on 2 nodes of perlmutter",
            "-m trl.scripts.grpo --config grpo.yaml",
            "accelerate accelerate",
        ),
        (
            "NeMo 2 pretrain of llama3 8b on 16 nodes leonardo",
            "YOUR_RECIPE.py",
            "lightning ranks",
        ),
        (
            "open_clip ViT-L-14 on 2 nodes of juwels booster, --train-data /p/x",
            "-m open_clip_train.main --train-data /p/x --model ViT-L-14",
            "pytorch torchrun",
        ),
        (
            "lm-eval of meta-llama/Llama-3.1-8B on delta 1 node, tasks mmlu,gsm8k",
            "-m lm_eval --model hf --model_args pretrained=meta-llama/Llama-3.1-8B --tasks mmlu,gsm8k",
            "accelerate accelerate",
        ),
        (
            "mmdetection configs/rtmdet/rtmdet_s.py on 2 nodes jean zay",
            "tools/train.py configs/rtmdet/rtmdet_s.py --launcher pytorch",
            "pytorch ranks",
        ),
        (
            "litgpt pretrain with pretrain.yaml on 4 nodes of polaris",
            "litgpt pretrain --config pretrain.yaml --devices 4 --num_nodes 4",
            "lightning torchrun",
        ),
        (
            "nanogpt on 2 nodes of perlmutter with config/train_gpt2.py",
            "train.py config/train_gpt2.py",
            "pytorch torchrun",
        ),
        (
            "nnunet training dataset 101 3d_lowres fold 2 on delta 1 node",
            "nnUNetv2_train 101 3d_lowres 2 -num_gpus 1",
            "pytorch single",
        ),
        (
            "yolo detect train data=coco.yaml model=yolo11n.pt epochs=10 on perlmutter, 1 node",
            "yolo detect train model=yolo11n.pt data=coco.yaml epochs=10 device=0,1,2,3",
            "pytorch single",
        ),
        (
            "kohya sdxl lora, config.toml, snellius 1 node",
            "sdxl_train_network.py --config_file config.toml",
            "accelerate accelerate",
        ),
        (
            "detectron2 rcnn.yaml on 1 node of delta",
            "tools/train_net.py --config-file rcnn.yaml --num-gpus 4",
            "pytorch single",
        ),
        (
            "fairseq wmt training on 2 nodes of anvil",
            "fairseq-train YOUR_DATA",
            "pytorch torchrun",
        ),
    ],
)
def test_a_tool_is_started_by_its_own_command(order: str, started: str, launch: str) -> None:
    made = planned(order)
    assert (program(made), f"{made.framework} {made.launch.workers}") == (started, launch)
    assert made.strategy == "none" and made.nodes * made.ranks_per_node == made.ranks
    assert "The launch itself reads no" not in " ".join(made.notes)
    tool = next(one for one, _ in tools_named(order))
    assert any(f"Needed for {tool.title}" in note for note in made.notes)
    assert bool(tool.program[:5] != "YOUR_") == any(one.source == tool.source for one in made.assumptions)


def test_counts_of_a_tool_follow_the_nodes() -> None:
    order = "verl grpo qwen2.5 7b on 4 nodes of lumi, account project_465000001"
    assert {"trainer.nnodes=4", "trainer.n_gpus_per_node=8", "algorithm.adv_estimator=grpo"} <= {*planned(order).args}
    assert "trainer.nnodes=8" in planned(order, "make it 8 nodes").args


@pytest.mark.parametrize(("method", "asks"), [("ppo", "critic.model.path=Qwen/"), ("grpo", "rollout.n=5")])
def test_verl_gets_what_it_does_not_start_without(method: str, asks: str) -> None:
    args = program(planned(f"verl {method} of Qwen/Qwen2.5-7B-Instruct on 1 node of Delta"))
    assert asks in args and "rollout.name=vllm" in args and "use_dynamic_bsz=True" in args


@pytest.mark.parametrize(
    ("change", "args", "nodes"),
    [
        ("use lora.yml instead", "lora.yml", 1),
        ("the config is configs/lora.yml", "configs/lora.yml", 1),
        ("use lora.yml and make it 2 nodes", "lora.yml", 2),
        ("make it 2 nodes", "config.yml", 2),
        ("should i use lora.yml?", "config.yml", 1),
    ],
)
def test_another_configuration_takes_the_place_of_the_first(change: str, args: str, nodes: int) -> None:
    read = heard("axolotl with config.yml on snellius, 1 node", change)
    assert (read.request.args, read.request.nodes, read.left) == (args, nodes, ())
    assert read.request.config_file is None and read.rival is None


def test_another_tool_takes_the_place_of_the_first() -> None:
    request = heard("axolotl with config.yml on snellius, 1 node", "not axolotl, use llama-factory").request
    assert (request.entry, request.args) == ("-m llamafactory.launcher", "YOUR_CONFIG.yaml")


def test_a_program_that_stands_open_is_named_later() -> None:
    made = planned("NeMo 2 pretrain of llama3 8b on 4 nodes of leonardo", "my recipe is pretrain.py")
    assert program(made) == "pretrain.py" and made.framework == "lightning"
    assert program(planned("NeMo 2 with pretrain.py on 4 nodes of leonardo")) == "pretrain.py"


@pytest.mark.parametrize(
    "text",
    [
        "what is axolotl?",
        "how do i run axolotl on perlmutter?",
        "should I use torchtune or axolotl for llama 8b lora?",
        "perlmutter 2 nodes fsdp my train_axolotl.py 4 h account m1234",
        "perlmutter 1 node ddp train.py in conda env axolotl, 2h account m1",
        "mistral nemo 12b with my ft.py fsdp on delta 2 nodes",
        "fsdp on delta, 2 nodes, 4h, environment trl",
    ],
)
def test_a_question_and_a_program_of_ones_own_are_left_alone(text: str) -> None:
    request = understand(text, None, None, None).request
    assert tool_of(request) is None and "YOUR_" not in f"{request.entry} {request.args}"


def test_a_strategy_that_the_configuration_decides_is_told_and_not_launched() -> None:
    made = planned("axolotl with deepspeed zero3, configs/qwen.yaml, 2 nodes snellius")
    assert made.framework == "pytorch" and made.stage is None
    assert any("*zero3*" in note and "set it there" in note for note in made.notes)
    assert not any("do not fit" in f"{one.why}" for one in made.assumptions)


def test_accelerates_own_file_carries_the_strategy_of_a_tool_and_leaves_it_its_optimizer() -> None:
    order = "trl sft with sft.yaml on 2 nodes of perlmutter, account m1, zero3"
    made = planned(order)
    assert made.framework == "accelerate" and accelerate_config(made)["distributed_type"] == "DEEPSPEED"
    assert "optimizer" not in deepspeed_config(made)
    assert deepspeed_config(made)["train_micro_batch_size_per_gpu"] == "auto"
    assert accelerate_config(planned(order, "use fsdp instead"))["distributed_type"] == "FSDP"
    both = planned("trl sft, config sft.yaml, accelerate config fsdp.yaml, 2 nodes of perlmutter, account m1")
    assert both.args == ("--config", "sft.yaml") and both.config_file == "fsdp.yaml"


def test_a_value_that_only_the_configuration_can_take_is_told() -> None:
    made = planned("axolotl with config.yml on snellius, 1 node", "micro batch 4")
    assert any(note.startswith("micro batch 4: set it in the configuration") for note in made.notes)
    assert not any(one.name == "MICRO_BATCH" for one in made.user_variables)


def test_nothing_beside_the_tool_is_dropped_in_silence() -> None:
    sweep = heard("axolotl over a.yml, b.yml and c.yml on perlmutter 1 node, account m1")
    assert sweep.request.args == "a.yml" and {"b.yml", "c.yml"} <= {*" ".join(sweep.left).replace(",", " ").split()}
    assert "openrlhf" in " ".join(heard("aurora 4 nodes openrlhf ppo llama 8b").left)
    later = planned("torchtune lora, config 70B_lora.yaml, 2 nodes vista", "batch_size=4", "make batch_size 8")
    assert later.args == ("--config", "70B_lora.yaml", "batch_size=8")
    ported = heard("port my axolotl job from perlmutter to leonardo, 2 nodes, config.yml")
    assert (ported.intent, ported.request.entry, ported.left) == ("port", "-m axolotl.cli.train", ())
    assert "yolov8m-seg.pt" in program(planned("yolov8m segmentation on perlmutter 1 node, data.yaml"))


def test_a_tool_of_one_node_is_refused_on_several() -> None:
    request = heard("yolo11n with ultralytics on perlmutter, data.yaml, account m1, 2 nodes").request
    refused = plan(request, catalogue().clusters["perlmutter"])
    assert isinstance(refused, Refusal) and refused.instead[0].change[0] == ("nodes", 1)


def test_a_tool_on_lightning_sees_all_gpus_of_its_node() -> None:
    made = render(planned("litgpt pretrain with p.yaml on 4 nodes of frontier, account abc123")).script
    assert "--gpus-per-task=1" not in made and "LOCAL_RANK=$SLURM_LOCALID" in made


def test_a_known_module_is_the_tools_however_it_was_given() -> None:
    made = planned("perlmutter, 1 node, python -m axolotl.cli.train config.yml, 4h, account m1234")
    assert made.strategy == "none" and made.launch.workers == "torchrun"
    assert tool_of(JobRequest(entry="train.py")) is None


def test_each_tool_is_found_by_its_name_and_its_templates_fill() -> None:
    for tool in training_tools():
        command = tool.command(tool.program, "given.x" if tool.configs else None, "org/name", "")
        assert "{" not in json.dumps((command.entry, command.args))
        assert [one for one, _ in tools_named(f"a script for {tool.title} on delta")] == [tool]
