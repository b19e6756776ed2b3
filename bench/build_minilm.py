"""Writes knowledge/minilm/minilm.onnx: the graph of all-MiniLM-L6-v2 without its weights.

The official weights are a safetensors file, whose tensors lie raw at known offsets. The graph names them there as
external data, so ONNX Runtime maps that file as it stands: no torch, no conversion at first use, no second copy.
Needs the `onnx` package (a developer's dependency). Run it again only when the graph changes:

    python bench/build_minilm.py

Model: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (BERT, 6 layers, 384 wide, 12 heads; the mean over
the tokens, brought to length 1).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, helper

from knowledge.embedding import weights_file

LAYERS, WIDTH, HEADS = 6, 384, 12
EPSILON = 1e-12
OPSET, IR_VERSION = 20, 10
GRAPH = Path(__file__).parent.parent / "knowledge" / "minilm" / "minilm.onnx"


class Builder:
    """Collects nodes and weights. Each step returns the name of its output."""

    def __init__(self, weights: Path) -> None:
        with weights.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            self.tensors = json.loads(file.read(length))
        self.file = weights.name
        self.data_start = 8 + length
        self.nodes: list[NodeProto] = []
        self.initializers: dict[str, TensorProto] = {}

    def weight(self, name: str) -> str:
        """A tensor of the weight file, by its place there. Raises KeyError when the file lacks it."""
        facts = self.tensors[name]
        begin, end = facts["data_offsets"]
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=facts["shape"])
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", self.file), ("offset", self.data_start + begin), ("length", end - begin)):
            tensor.external_data.add(key=key, value=str(value))
        self.initializers[name] = tensor
        return name

    def whole(self, name: str, values: int | Sequence[int]) -> str:
        """An int64 constant: a number or a list."""
        listed = [values] if isinstance(values, int) else list(values)
        shape = [] if isinstance(values, int) else [len(listed)]
        self.initializers[name] = helper.make_tensor(name, TensorProto.INT64, shape, listed)
        return name

    def real(self, name: str, value: float) -> str:
        """A float32 number."""
        self.initializers[name] = helper.make_tensor(name, TensorProto.FLOAT, [], [value])
        return name

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
        return output

    def linear(self, value: str, name: str) -> str:
        return self.add("Gemm", value, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), transB=1)

    def norm(self, value: str, name: str) -> str:
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", value, scale, shift, axis=-1, epsilon=EPSILON)


def embedded(b: Builder) -> str:
    """Words + places + the one segment, a row a token: [texts x tokens, 384]."""
    zero, one = b.whole("zero", 0), b.whole("one", 1)
    words = b.add("Gather", b.weight("embeddings.word_embeddings.weight"), "ids")
    length = b.add("Gather", b.add("Shape", "ids"), one)
    places = b.add("Gather", b.weight("embeddings.position_embeddings.weight"), b.add("Range", zero, length, one))
    segment = b.add("Gather", b.weight("embeddings.token_type_embeddings.weight"), zero)
    total = b.add("Add", b.add("Add", words, segment), places)
    return b.norm(b.add("Reshape", total, b.whole("row_shape", [-1, WIDTH])), "embeddings.LayerNorm")


def heads(b: Builder, rows: str, name: str, order: Sequence[int], head_shape: str) -> str:
    """Rows through a projection, cut into heads; order [0, 2, 1, 3] gives [texts, heads, tokens, 32]."""
    return b.add("Transpose", b.add("Reshape", b.linear(rows, name), head_shape), perm=list(order))


def layer(b: Builder, rows: str, number: int, head_shape: str, hidden: str) -> str:
    """One block: attention over the text's own tokens, then the feed-forward part."""
    name = f"encoder.layer.{number}"
    query = heads(b, rows, f"{name}.attention.self.query", (0, 2, 1, 3), head_shape)
    key = heads(b, rows, f"{name}.attention.self.key", (0, 2, 3, 1), head_shape)
    value = heads(b, rows, f"{name}.attention.self.value", (0, 2, 1, 3), head_shape)
    weights = b.add("Add", b.add("Mul", b.add("MatMul", query, key), "scale"), hidden)
    mixed = b.add("MatMul", b.add("Softmax", weights, axis=-1), value)
    joined = b.add("Reshape", b.add("Transpose", mixed, perm=[0, 2, 1, 3]), "row_shape")
    attended = b.add("Add", b.linear(joined, f"{name}.attention.output.dense"), rows)
    attended = b.norm(attended, f"{name}.attention.output.LayerNorm")
    wide = b.add("Gelu", b.linear(attended, f"{name}.intermediate.dense"))
    return b.norm(b.add("Add", b.linear(wide, f"{name}.output.dense"), attended), f"{name}.output.LayerNorm")


def hidden_padding(b: Builder, present: str) -> str:
    """What is added to the attention: 0 at a token, a very low number at padding: [texts, 1, 1, tokens]."""
    absent = b.add("Sub", b.real("unit", 1.0), present)
    low = b.add("Mul", absent, b.real("low", -1e9))
    return b.add("Unsqueeze", low, b.whole("head_axes", [1, 2]))


def pooled(b: Builder, rows: str, present: str, shape: str) -> str:
    """The tokens' sum at length 1, which is the mean at length 1: [texts, 384]."""
    tokens = b.add("Reshape", rows, b.add("Concat", shape, b.whole("width", [WIDTH]), axis=0))
    kept = b.add("Mul", tokens, b.add("Unsqueeze", present, b.whole("last_axis", [2])))
    return b.add("LpNormalization", b.add("ReduceSum", kept, "one_axis", keepdims=0), axis=-1, p=2)


def model(weights: Path) -> ModelProto:
    """The whole graph: ids and mask [texts, tokens] of int64 to vectors [texts, 384] of float32."""
    b = Builder(weights)
    b.whole("one_axis", [1])
    b.real("scale", (WIDTH // HEADS) ** -0.5)
    shape = b.add("Shape", "ids")
    present = b.add("Cast", "mask", to=TensorProto.FLOAT)
    hidden = hidden_padding(b, present)
    head_shape = b.add("Concat", shape, b.whole("heads", [HEADS, WIDTH // HEADS]), axis=0)
    rows = embedded(b)
    for number in range(LAYERS):
        rows = layer(b, rows, number, head_shape, hidden)
    last = pooled(b, rows, present, shape)
    takes = [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in ("ids", "mask")]
    gives = helper.make_tensor_value_info(last, TensorProto.FLOAT, ["texts", WIDTH])
    graph = helper.make_graph(b.nodes, "all-MiniLM-L6-v2", takes, [gives], list(b.initializers.values()))
    opset = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION, producer_name="maple-chat")


if __name__ == "__main__":
    GRAPH.write_bytes(model(weights_file()).SerializeToString(deterministic=True))
