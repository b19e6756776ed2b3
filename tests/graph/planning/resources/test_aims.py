"""What a question asks of resources, in several languages, and what a follow-up keeps and changes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import graph.planning.resources.reading as reading
from graph.planning.resources.reading import find_aim, read_followup, read_question
from graph.reading.reader import read_utterance
from graph.reading.utterance import ThreadView
from knowledge.data_file import read_data
from knowledge.resource_question import ResourceQuestion

ROWS = read_data(Path(reading.__file__).parent / "aims.yaml")


def follow(*texts: str) -> ResourceQuestion:
    """The question after those messages."""
    question: ResourceQuestion | None = None
    for text in texts:
        question = read_followup(read_utterance(text, ThreadView()), question)
    assert question
    return question


@pytest.mark.parametrize(("aim", "text"), [(row["aim"], text) for row in ROWS for text in row["examples"]])
def test_each_example_is_read_as_its_aim(aim: str, text: str) -> None:
    found = find_aim(text)
    assert found and found[0] == aim


@pytest.mark.parametrize("text", ["write the script", "how long is the queue?", "thanks", "who can access my files"])
def test_other_words_have_no_aim(text: str) -> None:
    assert find_aim(text) is None


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (("7B, 1T tokens, 256 H100, how many days?", "and 512?"), {"gpus": 512, "aim": "hours", "tokens": 1e12}),
        (("¿cabe un llama 70b en qlora en una A100 de 40GB?", "¿y en una de 80?"), {"gpu_gb": 80, "gpus": 1}),
        (("70B full on perlmutter?", "用40GB的卡呢"), {"gpu_gb": 40, "machines": ("perlmutter",), "gpus": None}),
        (("mistral 7b lora on 2x A40?", "and 4 of them, full again"), {"gpus": 4, "task": "train"}),
        (("8b full fine-tune on 2 nodes of polaris?", "how many nodes for 12 h then?"), {"nodes": None, "hours": 12}),
        (("how often should I save a 7B on 64 nodes of lumi?", "5 s (async)?"), {"save_s": 5, "nodes": 64}),
        (("13B modell auf leonardo", "wie lange für 2 Mrd. Tokens?"), {"tokens": 2e9, "aim": "hours"}),
        (("7B on delta?", "预算只有200 GPU小时"), {"gpu_hours": 200, "aim": "budget", "gpus": None}),
        (("largest batch size for 8b at 8k context on 4 h100", "4k context"), {"sequence": 4096, "aim": "batch"}),
    ],
)
def test_a_follow_up_changes_one_value_and_asks_the_same(texts: tuple[str, ...], wanted: dict[str, object]) -> None:
    question = follow(*texts)
    assert {name: getattr(question, name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("is 512 gb host memory enough to load 70b on 4 ranks of frontier?", {"host_gb": 512, "gpu_gb": None}),
        ("13B checkpoint size with a quota of 500GB?", {"disk_gb": 500, "gpu_gb": None, "aim": "checkpoint"}),
        ("100k steps of 512 batch x 1024 tokens on 8 A100", {"steps": 1e5, "global_batch": 512, "sequence": 1024}),
        ("1 trillion parameter moe with 32b active", {"model": "1000B-A32B"}),
        ("20.000 Knotenstunden, 7B mit 10^12 Tokens", {"node_hours": 20_000, "tokens": 1e12, "model": "7B"}),
        ("70B on a Delta node gpuA100x4 with DDP?", {"nodes": 1, "queue": "gpuA100x4", "strategy": "ddp"}),
        ("GPT-2 small (124M) on 1 node A100x4", {"hours": None, "each": 4, "gpu": "A100", "nodes": 1}),
        ("serve 34B on an 8x H100-80 server?", {"nodes": 1, "each": 8, "gpu": "H100", "gpu_gb": 80}),
        ("4 x H100 nodes for 34B", {"nodes": 4, "each": None}),
        ("H100s, 8 a node: FSDP with 34B?", {"nodes": None, "each": 8}),
        ("fits a 600M vision transformer on one L40S?", {"model": "vision transformer 600M"}),
        ("fits a ViT-L on one L40S?", {"model": "ViT-L"}),
        ("3B vit on the H100s of mn5?", {"model": "vit 3B"}),
        ("a vit with 2B parameters on Leonardo?", {"model": "ViT 2B"}),
        ("serve a 70B on one of the 4x A100 nodes of Delta", {"nodes": 1, "each": 4}),
        ("train a 70B on 4x A100 nodes of Delta", {"nodes": 4}),
        ("7B, e in 64 giga ci sta?", {"gpu_gb": 64, "aim": "fit"}),
        ("un 7B tient dans 64 Go ?", {"gpu_gb": 64, "aim": "fit"}),
        ("20 000 heures GPU, 7B", {"gpu_hours": 20_000}),
        ("数据120GB小文件很多, 放哪读最快", {"gpu_gb": None}),
        ("80 GB of images, 7B on one A100?", {"gpu_gb": None}),
        ("7B, 60k dialogues, roughly 1000 tokens each, 3 epochs", {"samples": 60_000, "sequence": 1000}),
        ("7B lora, 20 000 fiches de 500 tokens, 3 epochs", {"samples": 20_000, "sequence": 500}),
        ("7B, 3 epochs, port 8000, 2000 credits, 4 nodes", {"samples": None}),
        ("20 fine tuning runs of 9 h each on 4 A100, cost?", {"runs": 20, "hours": 9}),
        ("8 nodes for 3 runs of 7B", {"runs": 3, "nodes": 8}),
        ("7B at batch 64 per card, we sit at 31 GB", {"measured_gb": 31, "gpu_gb": None}),
        ("34B inference on LUMI with --gpus=1", {"gpus": 1, "task": "serve"}),
        ("perlmutter上跑10B tokens要多久", {"machines": ("perlmutter",), "tokens": 1e10, "aim": "hours"}),
    ],
)
def test_values_are_read_for_what_they_are(text: str, wanted: dict[str, object]) -> None:
    question = read_question(read_utterance(text, ThreadView()))
    assert {name: getattr(question, name) for name in wanted} == wanted
