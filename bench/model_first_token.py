"""Time to the first token of an answer: instructions evaluated, or their state loaded from disk.

`python bench/model_first_token.py [--model FILE.gguf] [--kv q8_0]`. Without a file one of random weights is made, of
20 M parameters (`--large`: in the shape of 1 B). Prints seconds, their ratio and the size of the state.

Measured on 2 cores shared with other work, 20 M parameters, 4,051 tokens of which 3,836 are fixed (the made vocabulary
has nearly a token a letter; a real one takes a quarter): 36.8 s evaluated, 7.0 s loaded; state 47 MB, 25 MB with q8_0.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from assistant.models.llama_cpp import load
from assistant.settings import Settings
from graph.modelling.diagnosing import INSTRUCTIONS, causes
from graph.modelling.model import ModelMessage

sys.path.insert(0, str(Path(__file__).parent.parent / "tests/assistant/models"))
QUESTION = (
    "Lines of the log. The log is complete.\n<<<\n" + "\n".join(f"#{n} worker {n} stopped" for n in range(9)) + "\n>>>"
)


def made(folder: Path, large: bool) -> Path:
    import tiny_model
    from gguf import GGMLQuantizationType

    shape = {"width": 512, "heads": 8, "layers": 6, "inner": 1408}
    if large:
        shape = {"width": 2048, "heads": 32, "layers": 16, "inner": 8192}
    return tiny_model.make(folder / "made.gguf", kind=GGMLQuantizationType.Q8_0, **shape)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--kv", default="f16")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    asked = [ModelMessage("system", INSTRUCTIONS.format(causes=causes())), ModelMessage("user", QUESTION)]
    with tempfile.TemporaryDirectory() as name:
        path = options.model or made(Path(name), options.large)
        settings = Settings(
            data=Path(name), model_kv=options.kv, model_threads=options.threads, model_timeout_s=600, model_context=8192
        )
        seconds = []
        for _ in range(2):
            done = load(str(path), settings).complete(asked, max_tokens=1, timeout=600)
            seconds.append(done.first_token_s)
            print(f"{done.tokens_in} tokens in, {done.reused} from disk: first token after {done.first_token_s:.2f} s")
        size = sum(file.stat().st_size for file in settings.models.rglob("*.state"))
        print(f"state {size / 1e6:.1f} MB (KV {options.kv}), ratio {seconds[0] / seconds[1]:.1f}")


if __name__ == "__main__":
    main()
