"""Counts of parameters, against the model cards."""

from __future__ import annotations

import json

import pytest

from graph.planning.resources.parameters import find_model, read_config, read_size, scale_model
from knowledge.model_shapes import find_shape

CARDS = {
    "GPT-2": 124_439_808,
    "GPT-3": 174_604_259_328,
    "BLOOM": 176_247_271_424,
    "Llama-2-7B": 6_738_415_616,
    "Llama-2-70B": 68_976_648_192,
    "meta-llama/Llama-3.1-8B-Instruct": 8_030_261_248,
    "Llama-70B": 70_553_706_496,
    "Llama-3.1-405B": 405_853_388_800,
    "Llama-3.2-1B": 1_235_814_400,
    "Qwen2.5-7B": 7_615_616_512,
    "Qwen2.5-0.5B": 494_032_768,
    "Qwen3-30B-A3B": 30_532_122_624,
    "Gemma-2-9B": 9_241_705_984,
    "Mistral-7B": 7_241_732_096,
    "Mixtral-8x7B": 46_702_792_704,
    "Mixtral-8x22B": 140_630_071_296,
}


@pytest.mark.parametrize(("name", "parameters"), CARDS.items())
def test_counts_are_those_of_the_model_card(name: str, parameters: int) -> None:
    model = find_model(name)
    assert model and model.exact and model.parameters == parameters


def test_experts_that_do_not_work_on_a_token_are_not_active() -> None:
    model = find_model("Mixtral-8x7B")
    assert model and model.active == 12_879_925_248


@pytest.mark.parametrize(
    ("text", "billions"),
    [("13b?", 13), ("a 1.3B parameter model", 1.3), ("350M params", 0.35), ("1T", 1000), ("で70Bモデルの", 70)],
)
def test_a_size_is_read_from_words(text: str, billions: float) -> None:
    assert read_size(text) == billions


@pytest.mark.parametrize("text", ["26B tokens", "8 GPUs", "80GB", "v1.2b3", ""])
def test_what_is_no_size_of_a_model_is_not_read(text: str) -> None:
    assert read_size(text) is None


def test_a_size_without_a_name_keeps_its_count() -> None:
    assert scale_model(22).parameters == 22_000_000_000
    assert find_model("Falcon-40B") and not find_model("my_model")


def test_a_config_file_gives_the_count() -> None:
    config = {
        "model_type": "llama",
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
        "vocab_size": 128256,
        "hidden_act": "silu",
        "tie_word_embeddings": False,
    }
    assert read_config(json.dumps(config)).parameters == 8_030_261_248
    with pytest.raises(ValueError, match="vocab_size"):
        read_config(json.dumps({key: value for key, value in config.items() if key != "vocab_size"}))
    with pytest.raises(ValueError, match="not JSON"):
        read_config("{")


# Elements that all convolutions of one 224 x 224 image put out, layer by layer: (blocks of each stage, bottleneck).
@pytest.mark.parametrize(
    ("name", "blocks", "bottleneck"),
    [
        ("ResNet-18", (2, 2, 2, 2), False),
        ("ResNet-50", (3, 4, 6, 3), True),
        ("ResNet-101", (3, 4, 23, 3), True),
        ("ResNet-152", (3, 8, 36, 3), True),
    ],
)
def test_activations_of_resnets_are_their_convolutions_outputs_twice(
    name: str, blocks: tuple[int, ...], bottleneck: bool
) -> None:
    elements = 64 * 112 * 112
    for stage, count in enumerate(blocks):
        width, side = 64 << stage, 56 >> stage
        for block in range(count):
            first = block == 0
            # In the first block of a later stage the 1 x 1 before the stride still works on the larger picture.
            before = 2 * side if first and stage and bottleneck else side
            if bottleneck:
                elements += width * before**2 + width * side**2 + 4 * width * side**2
                elements += 4 * width * side**2 if first else 0
            else:
                elements += 2 * width * side**2 + (width * side**2 if first and stage else 0)
    shape = find_shape(name)
    assert shape and shape.activation_mb == pytest.approx(elements * 2 * 2 / 1e6, rel=0.03)


def test_a_mixture_of_experts_of_unknown_shape_has_experts_and_its_active_size() -> None:
    model = find_model("100B-A10B")
    assert model and model.shape.experts == 10
    assert (model.parameters, model.active) == (100_000_000_000, 10_000_000_000)
    known = find_model("Qwen3-235B-A22B")
    assert known and known.exact
    assert known.parameters == pytest.approx(235e9, rel=0.005) and known.active == pytest.approx(22e9, rel=0.01)


def test_a_size_of_a_family_has_its_shape() -> None:
    """Not that of a language model: images of 197 or 257 pieces, and no words to choose from."""
    large = find_model("vision transformer 600M")
    assert large and large.parameters == 600_000_000 and (large.shape.kind, large.shape.name) == ("vision", "ViT-H")
    plain = find_model("600M")
    assert plain and plain.shape.kind == "decoder"
