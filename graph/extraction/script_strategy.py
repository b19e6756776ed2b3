"""The framework and the parallel strategy of a script: what is passed to the program last, never a job's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graph.extraction.launch_shape import number
from graph.extraction.script import ReadScript
from graph.extraction.script_counts import GPU_SIGNS, VISIBLE, Counts
from graph.extraction.script_files import configured, document_text
from graph.extraction.shell_words import Field, plain
from graph.extraction.training import TRAINS

TENSOR = re.compile(
    r"(tensor[_-]?(model[_-])?parallel([_-]?(size|degree))?|tp([_-]?(size|degree))?|tensor[_-]parallel[_-]size)$"
)
PIPELINE = re.compile(r"(pipeline[_-]?(model[_-])?parallel([_-]?(size|degree))?|pp([_-]?(size|degree))?)$")
STAGE = re.compile(r"((actor[_-])?zero([_-]?(stage|level|opt\w*))?|deepspeed[_-]stage|ds[_-]stage)$")
MEGATRON = re.compile(
    r"megatron|(^|/)pretrain_(gpt|bert|t5|llama|vlm|mamba|retro)\w*\.py\b|tensor-model-parallel-size"
    r"|--num-layers\b.*--hidden-size\b|--hidden-size\b.*--num-layers\b",
    re.I | re.S,
)
DATA_PATH = re.compile(r"(?<=[\s=])[~/$.][\w${}./~-]*/[\w${}./~-]*")  # a name in a path says where something came from
LIGHTNING = re.compile(
    r"lightning|(^|[/_.])(pl|lit)[_.]|_(pl|lit)\b|(^|\s)--trainer\.(devices|strategy|num_nodes|accelerator|precision|plugins|logger)\b|deepspeed_stage_\d"
    r"|ddp_find_unused_parameters_(true|false)|ddp_spawn",
    re.I,
)
HOROVOD = re.compile(r"horovod|(^|[/_.-])hvd", re.I)
JAX = re.compile(r"(^|[/_.\s-])(jax|flax|pmap|maxtext)|_jax\b|(?<![A-Za-z]_)XLA_FLAGS", re.I)
TENSORFLOW = re.compile(r"(^|[/_.\s-])(tensorflow|keras|tf_cnn|tf[12]\d?\b)|TF_CONFIG", re.I)
ZERO_NAME = re.compile(r"(?:zero|(?<![a-z])z|stage)[_-]?(?:dp|stage)?[_-]?([123])(?!\d)", re.I)
# A whole value that names a strategy (`--strategy fsdp`, `trainer=ddp`, `deepspeed_stage_2_offload`).
VALUES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(fsdp2?|hsdp|fully[_-]sharded(_data_parallel)?|full_shard|hybrid_shard)([_ -].*)?", re.I), "fsdp"),
    (re.compile(r"(?:deepspeed_|ds_)?(?:zero|stage|zero_?stage)[_-]?([123])([_-].*)?", re.I), "zero"),
    (re.compile(r"ddp([_-].*)?|distributed_?data_?parallel|horovod", re.I), "ddp"),
)
CHOICES = re.compile(
    r"(strategy|engine|parallel|distributed|dist|mode|wrap|sharding|dp[_-]?mode|trainer|backend|accelerator|plugin|ddp.*|fsdp.*)",
    re.I,
)
FLAGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(use[_-]?|enable[_-]?)?(fsdp2?|hsdp)([_-]\w+)*|(.*\.)?fsdp(_config)?\.\w+", re.I), "fsdp"),
    (re.compile(r"(use[_-]?|enable[_-]?)?ddp([_-]\w+)*|hvd|horovod", re.I), "ddp"),
)
# Options that tune DDP (of transformers' TrainingArguments) or FSDP: a False there switches something else off.
TUNES = re.compile(r"^ddp_(find_unused_parameters|broadcast_buffers|bucket_cap_mb|timeout|backend)$|fsdp_config\.")
# A part of the configuration that is for generating text during the training.
SERVES = re.compile(r"(^|[._-])(vllm|sglang|rollout|inference|infer|generation)[._-]", re.I)
OFF = frozenset({"false", "0", "no", "off", "none", "null", "''", '""', ""})


@dataclass(frozen=True, slots=True)
class Arguments:
    """The program's arguments as (name without dashes, value or empty), and all of them as text."""

    pairs: tuple[tuple[str, str], ...]
    text: str

    def numbers(self, names: re.Pattern[str]) -> int | None:
        """The last whole number given to an option whose last dotted part fits."""
        found = None
        for name, value in self.pairs:
            if names.fullmatch(name.rsplit(".", 1)[-1]) and value.isdigit() and not SERVES.search(name):
                found = int(value)
        return found


def arguments(script: ReadScript, counts: Counts) -> Arguments:
    program = script.program
    args = list(program.args) if program else []
    return Arguments(tuple(pairs(args, counts.facts)), " ".join(plain(a) for a in args))


def pairs(args: list[Field], facts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    for i, one in enumerate(args):
        name, equals, value = plain(one).partition("=")
        if equals:
            yield name.lstrip("-+"), value
        elif name.startswith("-"):
            following = args[i + 1] if i + 1 < len(args) else None
            text = plain(following) if following is not None else ""
            known = number(following, facts) if following is not None and "$" in text else None
            yield name.lstrip("-"), "" if text.startswith("--") else str(known or text)
        elif i == 0 or not plain(args[i - 1]).startswith("-"):
            yield "", plain(one)


def strategy_of(script: ReadScript, counts: Counts) -> str | None:
    """The strategy, or None where a bare launcher does not tell it."""
    args = arguments(script, counts)
    stage = zero_stage(script, args)
    tensor, pipeline = args.numbers(TENSOR) or 1, args.numbers(PIPELINE) or 1
    if tensor > 1 or pipeline > 1:
        if (tensor > 1 and pipeline > 1) or stage:
            return "3d"
        return "tp" if tensor > 1 else "pp"
    said = said_strategy(args)
    if said:
        return said
    if stage:
        return f"zero{stage}"
    flagged = flagged_strategy(args)
    if flagged:
        return flagged
    return launcher_strategy(script) or named_strategy(script, args) or ("none" if alone(script, counts) else None)


def said_strategy(args: Arguments) -> str | None:
    """A strategy that an argument's value names (`--strategy fsdp`), the last one winning."""
    found = None
    for name, value in args.pairs:
        last = name.rsplit(".", 1)[-1]
        if re.search(r"shard", last, re.I) and re.fullmatch(r"full|hybrid|shard_grad_op", value, re.I):
            found = "fsdp"
        for pattern, strategy in VALUES:
            match = pattern.fullmatch(value.strip("'\"")) if CHOICES.search(last) or not name else None
            if match:
                found = f"zero{match[1]}" if strategy == "zero" else strategy
    return found


def flagged_strategy(args: Arguments) -> str | None:
    """A strategy that a flag's own name tells (`--use_fsdp`, `--ddp_timeout 600`); FSDP before DDP."""
    found = None
    for name, value in args.pairs:
        for pattern, strategy in FLAGS:
            named = pattern.fullmatch(name) or pattern.fullmatch(name.rsplit(".", 1)[-1])
            if named and (value.lower() not in OFF or value == "" or TUNES.search(name)):
                found = found if strategy == "ddp" and found == "fsdp" else strategy
    return found


def zero_stage(script: ReadScript, args: Arguments) -> int | None:
    """The ZeRO stage: said to the program, in the config that the script writes, or in the config's name."""
    said = [int(value) for name, value in args.pairs if value in ("1", "2", "3") and is_stage(name)]
    if said:
        return said[-1]
    for layer in script.layers:
        flag = layer.role("stage")
        if flag is not None and plain(flag) in ("1", "2", "3"):
            return int(plain(flag))
    for name in config_names(script, args):
        text = document_text(script, name)
        found = re.search(r"[\"']?(?:zero_)?stage[\"']?\s*[:=]\s*[\"']?([123])", text) if text else None
        if found:
            return int(found[1])
        if not text and (
            named := ZERO_NAME.search(name.rsplit("/", 1)[-1]) or re.search(r"zero[_-]?([123])", name, re.I)
        ):
            return int(named[1])
    return None


def is_stage(name: str) -> bool:
    """Whether an option is the ZeRO stage; a bare `--stage` is as often a stage of the training."""
    return bool(STAGE.fullmatch(name.rsplit(".", 1)[-1]) or re.search(r"(zero|deepspeed).*\.stage$", name, re.I))


def config_names(script: ReadScript, args: Arguments) -> Iterator[str]:
    """Files that may hold a DeepSpeed or accelerate configuration, the most telling first."""
    yield from (value for name, value in args.pairs if "deepspeed" in name.lower() or "ds_config" in name.lower())
    for layer in script.layers:
        for role in ("dsconfig", "config"):
            value = layer.role(role)
            if value is not None:
                yield plain(value)
    if uses_deepspeed(script, args):
        yield from (value for _, value in args.pairs if re.search(r"\.(json|ya?ml)$", value))


def uses_deepspeed(script: ReadScript, args: Arguments) -> bool:
    launcher = any(layer.name == "deepspeed" or layer.has("--use-deepspeed") for layer in script.layers)
    named = any("deepspeed" in name.lower() or name.lower() in ("ds_config", "zero-stage") for name, _ in args.pairs)
    return launcher or (named and "--no-deepspeed" not in args.text)


def launcher_strategy(script: ReadScript) -> str | None:
    """What accelerate, Fabric or Horovod are told."""
    for layer in script.layers:
        value = layer.role("strategy")
        for pattern, strategy in VALUES:
            match = pattern.fullmatch(plain(value)) if value is not None else None
            if match:
                return f"zero{match[1]}" if strategy == "zero" else strategy
        if layer.name == "horovodrun":
            return "ddp"
        if layer.has("--use-fsdp"):
            return "fsdp"
        settings = dict(configured(script, layer))
        kind = str(settings.get("distributed_type", "")).upper()
        if kind in ("FSDP", "MULTI_GPU", "MULTI_XPU"):
            return "fsdp" if kind == "FSDP" else "ddp"
        config = layer.role("config")
        name = plain(config).rsplit("/", 1)[-1] if config is not None else ""
        if re.search(r"fsdp", name, re.I) and not settings:
            return "fsdp"
        if layer.has("--multi-gpu") or re.search(r"ddp|multi_?gpu", name, re.I):
            return "ddp"
    return None


def named_strategy(script: ReadScript, args: Arguments) -> str | None:
    """A strategy in the program's own name or in the name of its configuration, Horovod anywhere near it."""
    program = script.program
    entry = plain(program.entry) if program else ""
    names = [entry.rsplit("/", 1)[-1], *(v.rsplit("/", 1)[-1] for n, v in args.pairs if "config" in n or "cfg" in n)]
    for name in names:
        if re.search(r"fsdp", name, re.I):
            return "fsdp"
        if re.search(r"(?<![a-z])ddp", name, re.I):
            return "ddp"
    containers = [plain(layer.operand) for layer in script.layers if layer.operand]
    modules = [name for _, name in script.modules]
    sourced = [name for _, name in script.sourced]
    if any(HOROVOD.search(text) for text in (entry, *containers, *modules)):
        return "ddp"
    by_name = any(re.search(r"_?ddp_?", name, re.I) for name in sourced)
    return "ddp" if by_name and not uses_deepspeed(script, args) else None


def alone(script: ReadScript, counts: Counts) -> bool:
    """Whether the program runs on one GPU: the only one of the job, or one of many independent runs."""
    if counts.nodes in (1, None) and counts.gpus_per_node == 1:
        return True
    layers = [layer for layer in script.layers if layer.kind in ("parallel", "spawner")]
    tasks = layers[-1].role("tasks") if layers else None
    training = script.training
    if training is None or not training.background:
        return False
    shown = [value for name, value in training.assignments if name in VISIBLE]
    if "loop" in training.inside and not layers and shown and "," not in shown[-1]:
        return True
    return tasks is not None and plain(tasks) == "1" and len(layers) == 1 and layers[0].name == "ibrun"


def framework_of(script: ReadScript, counts: Counts, strategy: str | None) -> str | None:
    """accelerate, lightning, deepspeed, megatron where named; pytorch where a program is started; jax by its name."""
    args = arguments(script, counts)
    program = script.program
    entry = plain(program.entry) if program else ""
    around = " ".join(f"{layer.name} {plain(layer.operand or ())}" for layer in script.layers)
    launched = {layer.name for layer in script.layers}
    if "accelerate" in launched:
        return "accelerate"
    if "lightning" in launched:
        return "lightning"
    zero = (strategy or "").startswith("zero")
    if MEGATRON.search(f"{entry} {DATA_PATH.sub(' ', args.text)}") and not zero:
        return "megatron"
    if LIGHTNING.search(f"{entry} {args.text}"):
        return "lightning"
    if zero or uses_deepspeed(script, args):
        return "deepspeed"
    variables = " ".join(a.name for a in script.assignments)
    if JAX.search(f"{entry} {args.text} {variables} {container_text(script)}"):
        return "jax"
    if program is None or program.kind in ("shell", "executable"):
        return None
    around = f"{around} {' '.join(environments(script))}"
    if HOROVOD.search(f"{entry} {around}") or TENSORFLOW.search(f"{entry} {args.text} {variables} {around}"):
        return "pytorch" if "torch" in f"{entry}{around}".lower() else None
    batch_job = any(one.active for one in script.directives)
    if batch_job and not counts.gpus_per_node and not GPU_SIGNS.search(script.text) and not TRAINS.search(entry):
        return None
    return "pytorch"


def environments(script: ReadScript) -> Iterator[str]:
    """The modules and the conda environments that are loaded, by name."""
    yield from (name for _, name in script.modules)
    yield from (
        one.argv[2].rsplit("/", 1)[-1] for one in script.commands if one.argv[1:2] == ("activate",) and one.argv[2:]
    )


def container_text(script: ReadScript) -> str:
    found = [one.value for one in script.active.values() if one.option in ("environment", "image", "container-image")]
    return " ".join([*found, *(plain(layer.operand or ()) for layer in script.layers)])
