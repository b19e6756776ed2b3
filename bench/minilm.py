"""MiniLM here against sentence-transformers' own output on the 200 texts of the tests, where it is installed.

    python bench/minilm.py [OUT.npy]

Says the lowest cosine; with OUT.npy writes what sentence-transformers gave, in float16, as the tests keep it. Needs
`pip install sentence-transformers` in an environment of its own and the model's files (the package's folder will do).
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from knowledge.embedding import embedder, weights_file

TEXTS = Path(__file__).parent.parent / "tests" / "knowledge" / "embedding_texts.json"


def main() -> None:
    if find_spec("sentence_transformers") is None:
        print("sentence-transformers is not installed: nothing to compare with")
        return
    from sentence_transformers import SentenceTransformer

    texts = json.loads(TEXTS.read_text(encoding="utf-8"))
    theirs = SentenceTransformer(str(weights_file().parent), device="cpu").encode(texts, normalize_embeddings=True)
    cosine = (np.asarray(theirs, dtype=np.float32) * embedder().embed(texts)).sum(axis=1)
    print(f"{len(texts)} texts: cosine {cosine.min():.7f} at the lowest, {cosine.mean():.7f} on average")
    if len(sys.argv) > 1:
        np.save(sys.argv[1], np.asarray(theirs, dtype=np.float16))


if __name__ == "__main__":
    main()
