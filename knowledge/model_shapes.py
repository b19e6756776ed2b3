"""Layers and widths of models by name: what their memory and speed are worked out from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from knowledge.data_file import read_facts
from knowledge.strict import Facts, Positive

FILE = Path(__file__).parent / "model_shapes.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape(Facts):
    """One model's architecture.

    kv: key/value heads (None: as many as heads); latent: numbers that a layer keeps for a token in place of keys and
    values (multi-head latent attention); d: size of a head (None: hidden/heads); ffn: inner width, of one
    expert where there are experts; fixed, active: parameters in all and those a token uses, where the transformer's
    formula does not give them; kind other: of its activations no sum is known; sequence: tokens of a sample where
    that is the model's; pixels: width of the image that these are of; kept: bytes a token and hidden unit that a layer
    keeps, where they are not a usual layer's; activation_mb: MB of activations of a sample in 16 bit (convolutions);
    gflops: of a forward pass (convolutions); plain: a size, no name.
    """

    name: str
    names: tuple[str, ...] = ()
    kind: Literal["decoder", "encoder", "vision", "convolution", "other"] = "decoder"
    layers: Positive
    hidden: Positive
    heads: Positive
    kv: Positive | None = None
    latent: Positive | None = None
    d: Positive | None = None
    ffn: Positive
    vocab: int = 0
    gated: bool = True
    bias: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    norms: Positive = 2
    tied: bool = False
    positions: int = 0
    embedding_norm: bool = False
    experts: Positive | None = None
    experts_used: Positive | None = None
    shared_ffn: int = 0
    sequence: Positive | None = None
    fixed: Positive | None = None
    active: Positive | None = None
    pixels: Positive = 224
    kept: float | None = None
    activation_mb: float | None = None
    gflops: float | None = None
    plain: bool = False

    @property
    def head_size(self) -> int:
        return self.d or self.hidden // self.heads

    @property
    def kv_heads(self) -> int:
        return self.kv or self.heads


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShapes(Facts):
    source: str
    as_of: str
    shapes: tuple[ModelShape, ...]


@cache
def model_shapes() -> ModelShapes:
    """The shapes shipped with us. Raises FactsError on a wrong file."""
    return read_facts(FILE, ModelShapes)


@cache
def _by_name() -> dict[str, ModelShape]:
    return {_squash(n): shape for shape in model_shapes().shapes if not shape.plain for n in (shape.name, *shape.names)}


def find_shape(name: str) -> ModelShape | None:
    """The shape of that name or another of its names; owner, case, blanks and words like `instruct` do not count."""
    plain = re.sub(r"(?i)[-_ ](?:instruct|chat|base(?=-)|hf|it|fp8|awq|gptq|v0\.\d)\b", "", name.rsplit("/", 1)[-1])
    known = _by_name()
    return known.get(_squash(name)) or known.get(_squash(plain))


def _squash(name: str) -> str:
    return re.sub(r"[\s_/-]+", "", name.lower())
