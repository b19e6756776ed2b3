"""The evaluated state of a prompt's fixed part, kept on disk: the first answer need not wait for the instructions.

The idea is CacheGen's (SIGCOMM 2024): load a context's KV state instead of computing it. Only our own instructions are
stored, never what a person said.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

MOST_FILES = 12
MOST_BYTES = 2 << 30


class PrefixStates:
    """States of one model, one file for each fixed part. key: what a state depends on besides its tokens."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.key = folder, key

    def ready(self, llama: Any, tokens: list[int]) -> int:
        """Bring the model to where the tokens are evaluated; how many of them needed no evaluation."""
        if not tokens:
            return 0
        held = llama.input_ids[: llama.n_tokens].tolist()
        if held[: len(tokens)] == tokens:
            return len(tokens)
        path = self.path(tokens)
        if self._load(llama, path, tokens):
            return len(tokens)
        llama.reset()
        llama.eval(tokens)
        self._save(llama, path, tokens)
        return 0

    def path(self, tokens: list[int]) -> Path:
        digest = hashlib.blake2b(f"{self.key}\n{tokens}".encode(), digest_size=16)
        return self.folder / f"{digest.hexdigest()}.state"

    def _load(self, llama: Any, path: Path, tokens: list[int]) -> bool:
        """Load a stored state; a file that is not what it should be is removed."""
        import llama_cpp

        if not path.is_file():
            return False
        llama.reset()
        room = (ctypes.c_int32 * len(tokens))()
        count = ctypes.c_size_t(0)
        name = str(path).encode()
        read = llama_cpp.llama_state_seq_load_file(llama.ctx, name, 0, room, len(tokens), ctypes.byref(count))
        if not read or list(room[: count.value]) != tokens:
            path.unlink(missing_ok=True)
            llama.reset()
            return False
        llama.input_ids[: len(tokens)] = tokens
        llama.n_tokens = len(tokens)
        with suppress(OSError):
            os.utime(path)
        return True

    def _save(self, llama: Any, path: Path, tokens: list[int]) -> None:
        """Store the state; where that does not work it only costs time."""
        import llama_cpp

        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial = path.with_suffix(f".{os.getpid()}")
            stored = (ctypes.c_int32 * len(tokens))(*tokens)
            if llama_cpp.llama_state_seq_save_file(llama.ctx, str(partial).encode(), 0, stored, len(tokens)):
                partial.replace(path)
                self._prune(path)
        except OSError:
            return

    def _prune(self, newest: Path) -> None:
        """Keep the states used last, within a number and a size."""
        files = sorted(self.folder.glob("*.state"), key=lambda f: f.stat().st_mtime, reverse=True)
        size = 0
        for n, file in enumerate(files):
            size += file.stat().st_size
            if file != newest and (n >= MOST_FILES or size > MOST_BYTES):
                file.unlink(missing_ok=True)
