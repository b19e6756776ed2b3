"""Whether a model file may be loaded: it is one, it fits into memory, and a process of its own survives loading it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from graph.modelling.model import ModelError
from knowledge.opening import open_plain

MAGIC = b"GGUF"
PROBE_S = 600.0
# Beside the weights: KV cache, compute buffers.
BESIDE = 256 << 20
# The child is the first that the kernel ends when memory runs out, not the person's other work.
CHILD = """
import json, sys
try:
    open("/proc/self/oom_score_adj", "w").write("1000")
except OSError:
    pass
from llama_cpp import Llama
llama = Llama(sys.argv[1], **json.loads(sys.argv[2]))
llama.eval([llama.token_bos() if llama.token_bos() >= 0 else 0])
"""


def check_file(path: Path) -> None:
    """Raises ModelError where there is no GGUF file."""
    try:
        with open_plain(path) as stream:
            head = stream.read(4)
    except OSError as error:
        raise ModelError(f"cannot read {path} ({error.strerror}); set MAPLE_CHAT_MODEL_SMALL to a GGUF file") from error
    if head != MAGIC:
        raise ModelError(f"{path.name} is no GGUF file")


def check_memory(path: Path) -> None:
    """Raises ModelError where the weights alone do not fit into what is free."""
    needed, free = path.stat().st_size + BESIDE, available()
    if free is not None and needed > free:
        raise ModelError(
            f"{path.name} needs about {needed / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB are free; "
            "take a smaller model or quantisation"
        )


def available() -> int | None:
    """Bytes that a process may still take: the machine's, or its control group's where that is less."""
    found = [size for size in (_of_machine(), _of_group()) if size is not None]
    return min(found) if found else None


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError, IndexError):
        pass
    return None


def _of_group() -> int | None:
    """What cgroup v2 leaves; page cache counts as used there, so this errs on the safe side only for the limit."""
    try:
        most = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        stat = dict(line.split() for line in Path("/sys/fs/cgroup/memory.stat").read_text().splitlines())
        return None if most == "max" else int(most) - int(stat["anon"])
    except (OSError, ValueError, KeyError):
        return None


def probe(path: Path, options: dict[str, Any], folder: Path) -> None:
    """Load the model once in a process of its own; remembered, so that only the first load costs twice.

    Raises ModelError where that process ends badly: a broken file and a lack of memory can end a process at once.
    """
    stat = path.stat()
    seen = json.dumps([str(path.resolve()), stat.st_size, stat.st_mtime_ns, options], sort_keys=True)
    mark = folder / f"loads-{hashlib.blake2b(seen.encode(), digest_size=12).hexdigest()}"
    if mark.exists():
        return
    command = [sys.executable, "-P", "-c", CHILD, str(path), json.dumps(options)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PROBE_S, text=True, errors="replace")
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"{path.name} did not load within {PROBE_S:g} s") from error
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no message"])[-1][:120]
        killed = "it was killed, most likely for lack of memory" if done.returncode == -9 else why
        raise ModelError(f"{path.name} does not load: {killed}")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        mark.touch()
    except OSError:
        return
