"""How many parameters a model has: from its name, its config.json, or its layers and widths.

The formulas are those of decoder-only transformers: attention 2ha(d) + 2hk(d), MLP 2hf or gated 3hf, norms, embeddings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from graph.planning.resources.patterns import pattern
from knowledge.data_file import parse_json
from knowledge.model_shapes import ModelShape, find_shape, model_shapes

SIZE = re.compile(
    r"(?<![A-Za-z0-9_.,])(?:(?P<size>\d{1,4}(?:[.,]\d+)?)\s?-?(?P<unit>b|bn|g(?=\s+(?:de\s+)?param)|billions?|t|trillions?|mil\s?(?:millones|milh[õo]es)|bilh[õo]es|mill?iard\w*|mrd\.?|mld\.?)"
    r"|(?P<small>\d{2,4})\s?-?(?:milli?on\w*|milh[õo]es|m(?=[\s-]+(?:param|model)|$)))"
    r"(?![A-Za-z0-9_/])(?!(?:(?<=m[rl]d)\.)?\s*(?:de |di )?(?:tokens?|"
    r"amino|residues|nucleotides|base ?pairs|acides amin|images?|samples?|rows?|steps?|examples?|files?|/s))",
    re.I,
)
# Layers and width as people and configurations write them.
LAYERS = re.compile(
    r"(?i)(?<![\w.])(?P<n>\d{1,3})[ -]*layers?\b|\b(?:num_hidden_)?layers?\s*(?:of|=|:|is)\s*(?P<m>\d{1,3})\b"
)
WIDTH = re.compile(
    r"(?i)\b(?:hidden|width|d_?model|d(?=\s?=)|embedding)(?:[ _-]?(?:size|dim\w*))?"
    r"\s*(?:(?:of|=|:|is)\s*)?(?P<n>\d{3,5})\b"
    r"|(?<![\w.])(?P<m>\d{3,5})\s+(?:hidden|wide)\b"
)
HEADS = re.compile(r"(?i)(?<![\w.])(?P<n>\d{1,3})[ -]*(?:attention )?heads?\b")
WORDS = re.compile(
    r"(?i)\bvocab\w*(?:[ _-]?size)?\s*(?:(?:of|=|:|is)\s*)?(?P<n>\d{1,3}(?:,\d{3})+|\d{2,6}(?:\.\d)?)\s?(?P<k>k)?\b"
    r"|(?<![\w.,])(?P<m>\d{1,3}(?:,\d{3})+|\d{2,6}(?:\.\d)?)\s?(?P<k2>k)?[ -]vocab\w*"
)
LAYERED = re.compile(r"(?i)(\d{1,3})\s*(?:layers?)?\s*x\s*(\d{3,5})(?:, (\d{1,3}) heads)?(?:, (\d{3,6}) words)?")
# Between these shares of its size a shape stands in for a model with its layers as they are.
NEAR = (0.8, 1.25)


@dataclass(frozen=True, slots=True)
class SizedModel:
    """A model with its counts. parameters: all of them; active: those that work on one token (fewer with experts);
    exact: the shape is this model's own, else that of the nearest size."""

    name: str
    shape: ModelShape
    parameters: int
    active: int
    exact: bool = True

    @property
    def guessed_experts(self) -> bool:
        """Whether it is a mixture of experts of whose layers and widths nothing is known."""
        return not self.exact and bool(self.shape.experts)

    @property
    def unsure(self) -> bool:
        """Whether a part of its memory is not known, so that nothing is promised to hold it."""
        return self.guessed_experts or self.shape.kind == "other"

    @property
    def embedding(self) -> int:
        """Parameters of the input embedding, which does no arithmetic."""
        return self.shape.vocab * self.shape.hidden

    @property
    def layer(self) -> int:
        """Parameters of one layer."""
        heads = 1 if self.shape.tied else 2
        return max(1, (self.parameters - min(heads * self.embedding, self.parameters // 2)) // self.shape.layers)


def attention_parameters(shape: ModelShape) -> int:
    """Of one layer: query, key, value and output projections."""
    h, d = shape.hidden, shape.head_size
    qkv = (shape.heads + 2 * shape.kv_heads) * d
    biases = (qkv + h if shape.bias else 0) + (qkv if shape.qkv_bias else 0) + (2 * d if shape.qk_norm else 0)
    return h * qkv + shape.heads * d * h + biases


def mlp_parameters(shape: ModelShape, experts: int | None) -> int:
    """Of one layer, with that many experts (None: a dense MLP), and the router."""
    one = (3 if shape.gated else 2) * shape.hidden * shape.ffn + (shape.ffn + shape.hidden if shape.bias else 0)
    if experts is None:
        return one
    return experts * one + shape.hidden * (shape.experts or 0) + 3 * shape.hidden * shape.shared_ffn


def transformer_parameters(shape: ModelShape, experts: int | None) -> int:
    """Of the whole model with that many experts a layer."""
    norm = shape.hidden * (2 if shape.bias else 1)
    layer = attention_parameters(shape) + mlp_parameters(shape, experts) + shape.norms * norm
    tables = shape.vocab * shape.hidden * (1 if shape.tied else 2) + shape.positions * shape.hidden
    return shape.layers * layer + tables + norm * (2 if shape.embedding_norm else 1)


def count_parameters(shape: ModelShape) -> int:
    """All parameters of that shape."""
    return shape.fixed or transformer_parameters(shape, shape.experts)


def count_active(shape: ModelShape) -> int:
    """Parameters that work on one token."""
    return shape.active or (count_parameters(shape) if not shape.experts else _active(shape))


def _active(shape: ModelShape) -> int:
    return transformer_parameters(shape, shape.experts_used or 1)


def sized(shape: ModelShape, name: str = "") -> SizedModel:
    """That shape with its counts."""
    return SizedModel(name or shape.name, shape, count_parameters(shape), count_active(shape))


def read_size(text: str) -> float | None:
    """Billions of parameters that a text names: `7B`, `Llama-3.1-8B`, `350M`; None where it names none."""
    found = SIZE.search(text)
    if not found or found["small"]:
        return int(found["small"]) / 1000 if found else None
    return float(found["size"].replace(",", ".")) * (1000 if found["unit"][0] in "tT" else 1)


def find_size(text: str) -> re.Match[str] | None:
    """Where a text names its model's size."""
    return SIZE.search(text)


def read_layers(text: str) -> tuple[str, int, int] | None:
    """`24 layers x 2048` of a text that tells layers and width, with its place; None where it does not."""
    layers, width = LAYERS.search(text), WIDTH.search(text)
    if not layers or not width:
        return None
    places = [match for match in (layers, width, HEADS.search(text), WORDS.search(text)) if match]
    heads = f", {HEADS.search(text)['n']} heads" if HEADS.search(text) else ""  # type: ignore[index]
    words = WORDS.search(text)
    many = (words["n"] or words["m"]).replace(",", "") if words else "0"
    table = int(float(many) * (1000 if words and (words["k"] or words["k2"]) else 1))
    name = f"{int(layers['n'] or layers['m'])} layers x {int(width['n'] or width['m'])}{heads}"
    name += f", {table} words" if table else ""
    return name, min(m.start() for m in places), max(m.end() for m in places)


def layered(layers: int, hidden: int, heads: int | None = None, vocab: int | None = None) -> SizedModel:
    """A dense decoder of those layers and that width, with the usual rest: heads of 128, an MLP four times as wide."""
    heads = heads or max(1, hidden // 128)
    shape = ModelShape(
        name=f"{layers} layers x {hidden}", layers=layers, hidden=hidden, heads=heads, ffn=4 * hidden,
        d=None if hidden % heads == 0 else max(1, hidden // heads), vocab=vocab or 50304, gated=False,
    )  # fmt: skip
    return replace(sized(shape), exact=False)


# `235B-A22B`: 22 billion of them work on one token.
ACTIVE = re.compile(r"(?i)\bA(\d+(?:\.\d+)?)B\b")


def find_model(name: str) -> SizedModel | None:
    """The model of that name, of that many layers and that width (`24x2048`), or of the size that the name says; None
    where it says none of these."""
    if shape := find_shape(name):
        return sized(shape, name)
    if name.startswith("{"):
        return _of_config(name)
    if pattern("quantities", "no_sum").search(name):
        billions = read_size(name)
        return _of_no_sum(billions, name) if billions else None
    if told := LAYERED.fullmatch(name.strip()):
        return layered(*(int(one) if one else 0 for one in told.groups()))
    billions = read_size(name.rsplit("/", 1)[-1])
    active = ACTIVE.search(name)
    if billions and active:  # how many experts of which width is not known: as many as make up the size, one at work
        working = scale_model(float(active[1]), name)
        shape = replace(working.shape, experts=math.ceil(billions / float(active[1])), experts_used=1)
        return replace(working, shape=shape, parameters=round(billions * 1e9))
    return scale_model(billions, name) if billions else None


def _of_no_sum(billions: float, name: str) -> SizedModel:
    """A model of which only the number of parameters is known; layers and widths stand for nothing."""
    shape = ModelShape(name=name, kind="other", layers=24, hidden=1024, heads=16, ffn=4096)
    return SizedModel(name, shape, round(billions * 1e9), round(billions * 1e9))


def _of_config(text: str) -> SizedModel | None:
    try:
        return read_config(text, "that config.json")
    except ValueError:
        return None


def scale_model(billions: float, name: str = "") -> SizedModel:
    """A dense model of that size, in the shape of the nearest usual one; `vision transformer 400M`: of its kind."""
    wanted = max(1, round(billions * 1e9))
    family = find_shape(SIZE.sub("", name).strip())
    kind = family.kind if family else "decoder"
    plain = [one for one in model_shapes().shapes if (one.plain if kind == "decoder" else one.kind == kind)]
    near = min(plain, key=lambda shape: abs(math.log(count_parameters(shape) / wanted)))
    ratio = wanted / count_parameters(near)
    if not NEAR[0] <= ratio <= NEAR[1]:
        near = replace(near, layers=max(1, round(near.layers * ratio)))
    return SizedModel(name or f"{billions:g}B", near, wanted, wanted, exact=False)


def read_config(text: str, name: str = "") -> SizedModel:
    """The model of a Hugging Face `config.json`. Raises ValueError that names what is missing."""
    try:
        found = parse_json(text)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error
    config: Mapping[str, object] = found.get("text_config", found) if isinstance(found, dict) else {}
    needed = ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size")
    if missing := [key for key in needed if not isinstance(config.get(key), int)]:
        raise ValueError(f"no {', '.join(missing)} in it: is it a transformer's config.json?")
    return sized(_shape(config, name), name)


def _shape(config: Mapping[str, object], name: str) -> ModelShape:
    def number(*keys: str) -> int | None:
        return next((value for key in keys if isinstance(value := config.get(key), int) and value > 0), None)

    experts = number("num_local_experts", "n_routed_experts", "num_experts")
    family = str(config.get("model_type", ""))
    return ModelShape(
        name=name or family or "config.json",
        layers=number("num_hidden_layers") or 1,
        hidden=number("hidden_size") or 1,
        heads=number("num_attention_heads") or 1,
        kv=number("num_key_value_heads"),
        d=number("head_dim"),
        ffn=(number("moe_intermediate_size") if experts else None) or number("intermediate_size") or 1,
        vocab=number("vocab_size") or 0,
        gated=str(config.get("hidden_act", "silu")) in ("silu", "swish", "gelu_pytorch_tanh") and family != "gpt2",
        qkv_bias=family.startswith("qwen2") or bool(config.get("attention_bias")),
        tied=bool(config.get("tie_word_embeddings")),
        experts=experts,
        experts_used=number("num_experts_per_tok"),
        shared_ffn=(number("n_shared_experts") or 0) * (number("moe_intermediate_size") or 0),
    )
