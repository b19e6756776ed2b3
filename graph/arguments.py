"""The program's arguments and precision, as people say them of a script that they have."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from graph.extraction.sentences.choose import DEGREE
from graph.planning.gpus import kinds_named, mixed_precision
from knowledge.cluster import Cluster
from knowledge.types import JobRequest

Read = tuple[JobRequest, str] | None
GIVEN = re.compile(
    r"\b(?:args?|arguments?|flags?|(?:program|command[- ]line) options?)\s*(?:are|is|should be|to|=|:|with)?\s*"
    r"[`\"']?(?P<args>--?[A-Za-z][^`\n]*)",
    re.I,
)
CHANGED = re.compile(
    r"\b(?:change|set|make|put|increase|raise|lower|reduce)\s+(?:the\s+)?(?P<name>[A-Za-z][\w.-]*(?: [a-z]+)?)\s+"
    r"(?:to|=|be)\s*(?P<value>[\w.+-]+)",
    re.I,
)
SHORT = {"learning rate": "lr", "batch size": "batch-size", "number epochs": "epochs"}
PRECISION = re.compile(r"\b(?P<which>bf16|bfloat16|fp16|float16|half precision|fp32|tf32|mixed precision)\b", re.I)
FILES = {"deepspeed": "the DeepSpeed file beside the script", "accelerate": "accelerate.yaml beside the script"}
NAMES = {"t": "TENSOR_PARALLEL", "p": "PIPELINE_PARALLEL"}
LONGEST = 200


def given(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """`args are --epochs 10`: taken as the whole of them."""
    found = GIVEN.search(words)
    if not found or now.args != before.args or len(found["args"]) > LONGEST:
        return None
    args = found["args"].strip(" .,'\"")
    return replace(now, args=args), f"The program's arguments are now `{args}`."


def changed(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """`change lr to 1e-3`, where the program has such an option."""
    found = CHANGED.search(words)
    parts = split(now.args)
    if not found or not parts:
        return None
    wanted = SHORT.get(found["name"].lower(), found["name"]).replace("_", "-").replace(" ", "-").lower()
    for at, part in enumerate(parts):
        name, equals, _ = part.partition("=")
        if name.startswith("-") and name.lstrip("-").replace("_", "-").lower() == wanted:
            if equals:
                parts[at] = f"{name}={found['value']}"
            elif at + 1 < len(parts):
                parts[at + 1] = found["value"]
            return replace(now, args=shlex.join(parts)), f"I set {name} to {found['value']}."
    return None


def split(args: str | None) -> list[str]:
    try:
        return shlex.split(args or "")
    except ValueError:
        return []


def precision(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """`bf16 please`: where it is set, and whether these GPUs have it."""
    found = PRECISION.search(words)
    if not found or cluster is None:
        return None
    kinds = kinds_named(now.node_type or "", cluster.node_types) if now.node_type else []
    node = kinds[0] if kinds else cluster.node_type(cluster.default_queue.node_types[0])
    place = FILES.get(now.framework or "", "your program")
    told = f"The precision is set in {place}, not in the script"
    if mixed_precision(node) == "fp16" and found["which"].lower() in ("bf16", "bfloat16"):
        return now, f"{told}; and the {node.gpus.model} of {cluster.title} has no bf16: take fp16."
    if now.framework in FILES:
        return now, f"{told}: I write {mixed_precision(node)} there; change it in that file."
    return now, f"{told}."


def sizes(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """`TP=8 PP=16`: where the degrees stand."""
    said = {match["kind"].lower()[0]: match["degree"] for match in DEGREE.finditer(words.lower())}
    named = [f"{NAMES[kind]} to {degree}" for kind, degree in said.items() if kind in NAMES]
    if not named or now.strategy not in ("tp", "pp", "3d"):
        return None
    if now.framework == "pytorch":
        return now, "Your program sets the degrees of parallelism: the launch is the same."
    return now, f"Check the degrees at the top of the script, and set {' and '.join(named)} there."
