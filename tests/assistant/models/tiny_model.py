"""A real GGUF file of the Llama architecture, small enough to be made for a test: random weights, own vocabulary."""

from __future__ import annotations

import string
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType
from gguf.quants import quantize

WIDTH, HEADS, LAYERS, INNER = 64, 2, 2, 96
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|turn|>{{ message['role'] }}\n{{ message['content'] }}<|over|>"
    "{% endfor %}<|turn|>assistant\n"
)


def vocabulary() -> list[tuple[bytes, float, TokenType]]:
    """Special tokens, all bytes, and a few pieces of words; scores as SentencePiece gives them."""
    tokens = [(b"<unk>", 0.0, TokenType.UNKNOWN), (b"<s>", 0.0, TokenType.CONTROL), (b"</s>", 0.0, TokenType.CONTROL)]
    tokens += [(b"<|turn|>", 0.0, TokenType.CONTROL), (b"<|over|>", 0.0, TokenType.CONTROL)]
    tokens += [(f"<0x{n:02X}>".encode(), 0.0, TokenType.BYTE) for n in range(256)]
    pieces = [*string.printable[:95], "\u2581", "er", "in", "no", "de", "th", "the", "\u2581the", "node", "or", "error"]
    return tokens + [(p.encode(), -float(n + 1), TokenType.NORMAL) for n, p in enumerate(dict.fromkeys(pieces))]


def make(
    path: Path,
    seed: int = 3,
    width: int = WIDTH,
    heads: int = HEADS,
    layers: int = LAYERS,
    inner: int = INNER,
    context: int = 4096,
    kind: GGMLQuantizationType = GGMLQuantizationType.F16,
) -> Path:
    """Write the file; under 1 MB at the usual width."""
    dice, tokens = np.random.default_rng(seed), vocabulary()
    writer = GGUFWriter(str(path), "llama")
    writer.add_name("tiny")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // heads)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([token for token, _, _ in tokens])
    writer.add_token_scores([score for _, score, _ in tokens])
    writer.add_token_types([kind for _, _, kind in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE)

    def add(name: str, *shape: int) -> None:
        if len(shape) == 1:
            writer.add_tensor(name, np.ones(shape, np.float32), raw_dtype=GGMLQuantizationType.F32)
            return
        weights = quantize(dice.normal(0, 0.08, shape).astype(np.float32), kind)
        writer.add_tensor(name, weights, raw_dtype=kind)

    add("token_embd.weight", len(tokens), width)
    add("output.weight", len(tokens), width)
    add("output_norm.weight", width)
    for n in range(layers):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{n}.{part}.weight", width, width)
        add(f"blk.{n}.ffn_gate.weight", inner, width)
        add(f"blk.{n}.ffn_up.weight", inner, width)
        add(f"blk.{n}.ffn_down.weight", width, inner)
        add(f"blk.{n}.attn_norm.weight", width)
        add(f"blk.{n}.ffn_norm.weight", width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
