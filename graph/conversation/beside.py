"""Files that came beside the words: what they tell of the job is taken over, and what they tell beyond that is named.

A file is known by its own keys: a container's definition (EDF), an Accelerate configuration, a DeepSpeed one.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph.conversation.turn import TurnContext
from graph.reading.edits import Add, Edit, Set, apply_edits
from knowledge.job_parts import ArgumentEdit
from knowledge.types import JobRequest, Paste, Understood
from knowledge.word_lists import word_set

DISTRIBUTED = {"FSDP": "fsdp", "MULTI_GPU": "ddp", "MULTI_XPU": "ddp", "NO": "none"}
# What the launch line or the file that is written says by itself.
OF_LAUNCH = word_set(
    "compute_environment distributed_type mixed_precision machine_rank main_process_ip main_process_port num_machines "
    "num_processes rdzv_backend same_network use_cpu debug downcast_bf16 enable_cpu_affinity main_training_function "
    "fsdp_version fsdp_auto_wrap_policy fsdp_state_dict_type fsdp_cpu_ram_efficient_loading zero_stage "
    "zero3_init_flag deepspeed_multinode_launcher fsdp_config deepspeed_config gpu_ids tpu_env"
)
UNREAD = "`{}` I read as no configuration that I know: put it beside the script; nothing is changed by it."
AS_IT_IS = "`{}` is taken as it is, under that name: put it beside the script."
NO_EDF = "`{}` defines a container as CSCS has it; {} reads no such file, so it is left out."
READ_ACCELERATE = "From your Accelerate configuration: {}. The launch line counts nodes and processes by itself."
NOT_TAKEN = "Not taken over from {}: {}. Write these into the accelerate.yaml beside the script."
MOST_NAMED = 8
# The words that only hand a file over.
HANDS = re.compile(r"(?i)\b(?:edf|toml|ya?ml|json|config\w*|file|this|it|here)\b")


@dataclass(frozen=True, slots=True)
class Told:
    """What a file tells: edits of the request, and one sentence or two."""

    edits: tuple[Edit, ...]
    says: tuple[str, ...]


def with_files(turn: TurnContext, heard: Understood) -> tuple[Understood, tuple[str, ...]]:
    """What was heard, with what the files tell; words that only hand these over are no wish that found no place."""
    if not turn.message.files:
        return heard, ()
    request, said, read = heard.request, list[str](), False
    for one in turn.message.files:
        told = tell(one, turn, request)
        request, said, read = apply_edits(request, told.edits).request, [*said, *told.says], read or bool(told.edits)
    wants = heard.intent in ("generate", "port") or (read and turn.state.get("bundle") is not None)
    if not wants:
        return heard, ()
    left = tuple(piece for piece in heard.left if not HANDS.search(piece))
    return replace(heard, intent=heard.intent if heard.intent == "port" else "generate", request=request, left=left), (
        *said,
    )


def tell(file: Paste, turn: TurnContext, request: JobRequest) -> Told:
    for read, reader in READERS:
        found = read(file.text)
        told = reader(file.name, found, turn, request) if isinstance(found, dict) else None
        if told:
            return told
    return Told((), (UNREAD.format(file.name),))


def container(name: str, found: Mapping[str, Any], turn: TurnContext, request: JobRequest) -> Told | None:
    if not isinstance(found.get("image"), str):
        return None
    cluster = turn.context.cluster(request)
    edf = cluster and any(fact.name == "EDF" for one in cluster.software.values() for fact in one.settings)
    if cluster and not edf:
        return Told((), (NO_EDF.format(name, cluster.title),))
    return Told((Set("container", f"$PWD/{name}", name),), (AS_IT_IS.format(name),))


def deepspeed(name: str, found: Mapping[str, Any], turn: TurnContext, request: JobRequest) -> Told | None:
    zero = found.get("zero_optimization")
    if not isinstance(zero, dict):
        return None
    edits = stage(zero.get("stage"), request)
    trainer = request.framework == "hf-trainer"
    edits += [] if trainer else [Add("argument_edits", ArgumentEdit("add", "--deepspeed"))]
    edits.append(Add("argument_edits", ArgumentEdit("set", "--deepspeed" if trainer else "--deepspeed_config", name)))
    edits += [] if request.framework else [Set("framework", "deepspeed", name)]
    return Told(tuple(edits), (AS_IT_IS.format(name),))


def accelerate(name: str, found: Mapping[str, Any], turn: TurnContext, request: JobRequest) -> Told | None:
    kind = str(found.get("distributed_type", ""))
    if not kind:
        return None
    inner = [one for one in found.values() if isinstance(one, dict)]
    zero = next((one["zero_stage"] for one in inner if "zero_stage" in one), None)
    precision = found.get("mixed_precision")
    edits = (
        stage(zero, request) if kind == "DEEPSPEED" else [Set("strategy", DISTRIBUTED[kind])] * (kind in DISTRIBUTED)
    )
    edits += [Set("framework", "accelerate")]
    edits += [Set("precision", precision)] if precision in ("bf16", "fp16") else []
    values = [str(one.value) for one in edits if isinstance(one, Set)]
    flat = {key: value for one in (found, *inner) for key, value in one.items() if key not in OF_LAUNCH}
    more = [f"{key}: {value}" for key, value in flat.items() if not isinstance(value, dict)][:MOST_NAMED]
    left = (NOT_TAKEN.format(name if "." in name else "it", "; ".join(f"`{one}`" for one in more)),) if more else ()
    return Told(tuple(edits), (READ_ACCELERATE.format(", ".join(values)), *left))


def stage(number: object, request: JobRequest) -> list[Edit]:
    """ZeRO's stage, where a file names one."""
    return [Set("strategy", f"zero{number}")] if number in (1, 2, 3) else []


def of_toml(text: str) -> object:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def of_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def of_yaml(text: str) -> object:
    import yaml  # 30 ms that most messages need not pay

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


Reader = Callable[[str, Mapping[str, Any], TurnContext, JobRequest], Told | None]
READERS: tuple[tuple[Callable[[str], object], Reader], ...] = (
    (of_toml, container),
    (of_json, deepspeed),
    (of_yaml, accelerate),
)
