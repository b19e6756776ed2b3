"""A model in this process: a GGUF file run by llama.cpp.

The fixed part of a prompt (our instructions) is evaluated once and its state kept on disk (prefix_states.py). What a
person or a log says is tokenised as plain text: a chat template's marks in it stay words.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from assistant.models.prefix_states import PrefixStates
from assistant.settings import Settings
from graph.modelling.model import Completion, ModelError, ModelMessage, NoToolsError, Schema, Stopped, Tool
from knowledge.opening import open_plain

KV_TYPES = {"f16": 1, "q8_0": 8, "q4_0": 2}
# Takes the place of a message's text while the template is filled in.
MARK = "\x01{}\x01"
PLAIN_TEMPLATE = (
    "{% for message in messages %}### {{ message['role'] }}:\n{{ message['content'] }}\n{% endfor %}### assistant:\n"
)


def load(name: str, settings: Settings) -> LlamaCpp:
    """The model of that file, once it was seen to load in a process of its own. Raises ModelError."""
    path = Path(name).expanduser()
    check_file(path)
    check_memory(path)
    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelError("llama-cpp-python is not installed; install maple-chat[llm] (needs a C++ compiler)") from error
    options = options_of(settings)
    probe(path, options, settings.models)
    try:
        llama = llama_cpp.Llama(str(path), **options)
    except (ValueError, RuntimeError, MemoryError, OSError) as error:
        raise ModelError(f"{path.name} does not load: {str(error)[:120]}") from error
    return LlamaCpp(path, llama, PrefixStates(settings.models / "states", key(path, options)))


def options_of(settings: Settings) -> dict[str, Any]:
    """What a model is loaded with. A quantised KV cache needs flash attention."""
    kv = KV_TYPES[settings.model_kv]
    threads = settings.model_threads or len(os.sched_getaffinity(0))
    options = {
        "n_ctx": settings.model_context,
        "n_threads": threads,
        "n_threads_batch": threads,
        "n_gpu_layers": settings.model_gpu_layers,
        "verbose": False,
    }
    return options | ({"type_k": kv, "type_v": kv, "flash_attn": True} if settings.model_kv != "f16" else {})


def key(path: Path, options: dict[str, Any]) -> str:
    """What a stored state depends on: the file and how it is loaded."""
    from importlib.metadata import version

    stat = path.stat()
    kept = {name: options.get(name) for name in ("n_ctx", "type_k", "type_v", "n_gpu_layers")}
    return json.dumps([str(path.resolve()), stat.st_size, stat.st_mtime_ns, kept, version("llama-cpp-python")])


class LlamaCpp:
    """One loaded model; one question at a time."""

    leaves, takes_tools = False, False

    def __init__(self, path: Path, llama: Any, states: PrefixStates) -> None:
        import llama_cpp
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        self.name, self.llama, self.states = path.stem, llama, states
        self.context: int = llama.n_ctx()
        self._alone = Lock()
        self._end = 0.0
        self._cpp = llama_cpp
        self._vocabulary = llama_cpp.llama_model_get_vocab(llama.model)
        marks = {name: self._mark(token) for name, token in (("bos", llama.token_bos()), ("eos", llama.token_eos()))}
        template = llama.metadata.get("tokenizer.chat_template", PLAIN_TEMPLATE)
        self._format = Jinja2ChatFormatter(template, eos_token=marks["eos"], bos_token=marks["bos"])
        # Kept alive here: llama.cpp calls it while it evaluates.
        self._too_late = llama_cpp.ggml_abort_callback(lambda _: time.monotonic() > self._end)
        llama_cpp.llama_set_abort_callback(llama.ctx, self._too_late, ctypes.c_void_p(None))

    def tokens(self, text: str) -> int:
        return len(self.llama.tokenize(text.encode(), add_bos=False, special=False))

    def complete(
        self,
        messages: Sequence[ModelMessage],
        *,
        schema: Schema | None = None,
        tools: Sequence[Tool] = (),
        max_tokens: int = 256,
        timeout: float = 60.0,
        on_text: Callable[[str], bool] | None = None,
    ) -> Completion:
        """One answer, decoded under a grammar where a schema is given. Raises ModelError."""
        if tools:
            raise NoToolsError(f"{self.name} takes no tool calls")
        started = time.monotonic()
        if not self._alone.acquire(timeout=timeout):
            raise ModelError(f"{self.name} is busy with another question")
        try:
            self._end = started + timeout
            fixed, rest = self.tokenised(messages)
            if len(fixed) + len(rest) + max_tokens > self.context:
                raise ModelError(f"the text is too long for {self.name} ({len(fixed) + len(rest)} tokens)")
            reused = self.states.ready(self.llama, fixed)
            return self._decoded(fixed + rest, schema, max_tokens, started, reused, on_text)
        except RuntimeError as error:
            self.llama.reset()
            late = time.monotonic() > self._end
            raise ModelError(f"{self.name} {'took too long' if late else 'failed'}") from error
        finally:
            self._alone.release()

    def tokenised(self, messages: Sequence[ModelMessage]) -> tuple[list[int], list[int]]:
        """The prompt's tokens: the fixed part (all before the first user text), and the rest."""
        marked = [{"role": m.role, "content": MARK.format(n)} for n, m in enumerate(messages)]
        try:
            prompt = self._format(messages=marked, enable_thinking=False).prompt
        except Exception:  # a template that knows no system role
            joined = "\n\n".join(str(one["content"]) for one in marked)
            prompt = self._format(messages=[{"role": "user", "content": joined}], enable_thinking=False).prompt
        fixed: list[int] = []
        tokens: list[int] = []
        for n, part in enumerate(prompt.split("\x01")):
            text, plain = (messages[int(part)].text, True) if n % 2 else (part, False)
            if plain and messages[int(part)].role == "user" and not fixed:
                fixed, tokens = tokens, []
            if text:
                first = not fixed and not tokens
                start = first and not plain and not text.startswith(self._mark(self.llama.token_bos()))
                tokens = tokens + self.llama.tokenize(text.encode(), add_bos=start, special=not plain)
        return fixed, tokens

    def _mark(self, token: int) -> str:
        """How a special token is written in a template; a letter that no text starts with where there is none."""
        if token < 0:
            return "\x00"
        return str(self.llama.detokenize([token], special=True).decode("utf-8", "replace")) or "\x00"

    def _decoded(
        self,
        tokens: list[int],
        schema: Schema | None,
        max_tokens: int,
        started: float,
        reused: int,
        on_text: Callable[[str], bool] | None,
    ) -> Completion:
        grammar = self._grammar(schema)
        out: list[int] = []
        text, first, stopped = "", 0.0, "length"
        for token in self.llama.generate(tokens, temp=0.0, grammar=grammar):
            first = first or time.monotonic() - started
            if self._cpp.llama_vocab_is_eog(self._vocabulary, token):
                stopped = "end"
                break
            out.append(token)
            whole = self.llama.detokenize(out).decode("utf-8", "ignore")
            piece, text = whole[len(text) :], whole
            if on_text and piece and not on_text(piece):
                stopped = "stop"
                break
            if time.monotonic() > self._end:
                stopped = "time"
                break
            if len(out) >= max_tokens:
                break
        why: Stopped = stopped  # type: ignore[assignment]
        return Completion(text, len(tokens), len(out), why, time.monotonic() - started, first, reused)

    def _grammar(self, schema: Schema | None) -> Any:
        if schema is None:
            return None
        from llama_cpp import LlamaGrammar

        return LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)


# Whether a model file may be loaded: it is one, it fits into memory, and a process of its own survives loading it.


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
