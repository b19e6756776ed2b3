# ruff: noqa: E501
"""What the program finds when it starts: modules, devices, the words for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from graph.extraction.launch_shape import LaunchShape
from graph.extraction.shell_words import plain
from graph.verification.checks import sources
from graph.verification.checks.rule import Edit, Hit, Rule, launch_rule
from graph.verification.checks.subject import Subject
from graph.verification.checks.tasks import option_pairs

# Slow on purpose: left in, they cost time or fill the disk.
DEBUG = {
    "CUDA_LAUNCH_BLOCKING": ("1", "every kernel is waited for"), "HIP_LAUNCH_BLOCKING": ("1", "every kernel is waited for"),
    "AMD_SERIALIZE_KERNEL": ("3", "every kernel is waited for"), "NCCL_DEBUG": ("TRACE", "every call is printed by every rank"),
    "TORCH_DISTRIBUTED_DEBUG": ("DETAIL", "every collective is checked on all ranks first"), "TORCH_CPP_LOG_LEVEL": ("INFO", "much is printed by every rank"),
    "CCL_LOG_LEVEL": ("trace", "every call is printed by every rank"),
}  # fmt: skip
VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
SETS_UP = re.compile(
    r"\b(module|ml|conda|mamba|micromamba|source|spack|guix|pixi|poetry|uv|singularity|apptainer|shifter|podman\S*|docker|enroot|sarus|ch-run|"
    r"setenv|jutil)\b|^[^\S\n]*\.\s|PATH=|--container-image|--environment|--uenv|--image|/bin/|venv|\.sif|\.sqsh", re.M)  # fmt: skip


def nothing_loaded(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A job starts with the system's Python, which has no PyTorch."""
    if s.cluster is None or not s.is_shell or s.script.sourced or s.script.modules or not s.job.asked:
        return
    if any(layer.kind == "container" for layer in launch.layers) or s.job.value(
        "image", "container-image", "environment", "edf", "uenv", "export"
    ):
        return
    text = "\n".join(line for _, line in s.code_lines)
    if (
        not SETS_UP.search(text)
        and launch.program.kind in ("script", "module")
        and "/" not in launch.program.interpreter
    ):
        software = s.cluster.software["default"]
        first = next((line for line in software.lines if "module load" in line), "")
        says = f"nothing loads a Python environment: no module, no conda, no virtual environment{', such as `' + first + '`' if first else ''}"
        if s.scheduler == "pbs":
            why = "PBS starts a job without the submitting shell's environment: the system's Python has no PyTorch"
            yield Hit(launch.line, says, why, software.source)
        else:
            why = "right only if the job is submitted from a shell where the environment is active"
            yield Hit(launch.line, says, why, software.source, "info")


def module_names(s: Subject) -> list[str]:
    """The modules of the machine's recipes, without versions."""
    if s.cluster is None:
        return []
    lines = [line for software in s.cluster.software.values() for line in software.lines]
    words = [
        word for line in lines for found in re.finditer(r"module load ([^;&|#]*)", line) for word in found[1].split()
    ]
    return sorted({word.split("/")[0] for word in words if re.match(r"[\w.+-]+", word)})


def misspelt_module(s: Subject) -> Iterator[Hit]:
    known = module_names(s)
    for line, module in s.script.modules:
        name = module.split("/")[0]
        near = get_close_matches(name, known, 1, 0.8)
        if (
            near
            and name not in known
            and len(name) > 4
            and not re.search(r"\d|\$", name)
            and name not in near[0]
            and near[0] not in name
        ):
            says = f"there is no module '{name}' in what is known of the machine; '{near[0]}' is nearest"
            edit = s.swapped(line, name, near[0])
            yield Hit(line, says, source=s.cluster.software["default"].source if s.cluster else None, edit=edit)


def module_order(s: Subject) -> Iterator[Hit]:
    """`conda activate` above the module that brings conda."""
    brings = [line for line, module in s.script.modules if re.match(r"(ana|mini)?conda|miniforge|mamba", module, re.I)]
    for command in s.script.commands:
        if command.argv[:2] != ("conda", "activate") or command.inside or not brings:
            continue
        if min(brings) > command.line and not any(line < command.line for line, _ in s.script.sourced):
            says = f"conda is activated before line {min(brings)} loads the module that brings it"
            yield Hit(command.line, says)
            return


def debug_left(s: Subject) -> Iterator[Hit]:
    for one in s.script.assignments:
        value, cost = DEBUG.get(one.name, ("", ""))
        if value and one.value.upper() == value.upper() and not one.inside:
            yield Hit(one.line, f"{one.name}={one.value} is left in: {cost}")


def visible_devices(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A fixed list of devices against the processes that share it."""
    procs = launch.procs if launch.spawner is not None else launch.per_node
    for one in s.script.assignments:
        if (
            one.name not in VISIBLE
            or not re.fullmatch(r"\d+(,\d+)*", one.value)
            or one.inside
            or one.line > launch.line
        ):
            continue
        count = len(one.value.split(","))
        if procs and count < procs:
            says = f"{one.name} shows {count} device{'s' * (count > 1)}; {procs} processes of a node share {'them' if count > 1 else 'it'}"
            why = "processes beyond the list fail: 'invalid device ordinal'"
            yield Hit(one.line, says, why, edit=Edit(one.line, one.line, ()) if alone(s, one.line) else None)
        elif s.devices and max(int(number) for number in one.value.split(",")) >= s.devices:
            says = f"{one.name} names device {max(int(n) for n in one.value.split(','))}; the job has {s.devices}, numbered from 0"
            yield Hit(one.line, says, "devices that the job was not given do not exist for it", severity="warning")


def alone(s: Subject, line: int) -> bool:
    return bool(re.fullmatch(r"\s*export \w+=[\d,]+\s*", s.line(line)))


def backend_word(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """`--backend nccl` on Intel GPUs, `ccl` on the others; `--device cuda` where there is none."""
    backends = {kind.gpus.backend for kind in s.node_types}
    if s.cluster is None or len(backends) != 1:
        return
    backend = backends.pop()
    for name, value in option_pairs(launch):
        option = name.lstrip("-").replace("_", "-")
        if option in ("backend", "dist-backend", "distributed-backend", "ddp-backend", "process-group-backend"):
            wrong = value == "nccl" if backend == "xpu" else value in ("ccl", "xccl")
            right = "xccl" if backend == "xpu" else "nccl"
        elif option in ("device", "device-type", "accelerator"):
            wrong = (
                value.split(":")[0] in ("cuda", "gpu" if option != "accelerator" else "cuda")
                if backend == "xpu"
                else value.split(":")[0] == "xpu"
            )
            right = "xpu" if backend == "xpu" else "cuda"
        else:
            continue
        if wrong:
            says = f"{name} is {value}; the GPUs of {s.cluster.title} ({s.node_types[0].gpus.model}) take {right}"
            yield Hit(launch.line, says, source=s.cluster.software["default"].source)


# The first NVIDIA chip that computes in bf16, by its compute capability (CUDA C++ Programming Guide, "Arithmetic
# Instructions"), and the options by which programs are told of it.
BF16_FROM = 80
BF16_OPTION = re.compile(r"(?:.*[._-])?(?:precision|dtype|bf16|bfloat16)(?:-.*)?")


def bf16_word(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """`--precision bf16`, `--bf16`, `--dtype bfloat16` where no GPU of the job computes in it."""
    chips = [re.fullmatch(r"sm_(\d+)", kind.gpus.arch or "") for kind in s.node_types]
    if s.cluster is None or not chips or not all(one and int(one[1]) < BF16_FROM for one in chips):
        return
    of_launchers = [(name, plain(value)) for layer in launch.layers for name, value in layer.options]
    for name, value in (*of_launchers, *option_pairs(launch)):
        option = name.lstrip("-").replace("_", "-").lower()
        wanted = "on" if option.endswith(("bf16", "bfloat16")) and value.lower() not in ("false", "0", "no") else value
        if (
            name.startswith("-")
            and BF16_OPTION.fullmatch(option)
            and (wanted == "on" or wanted.lower().startswith("bf"))
        ):
            says = (
                f"{name} asks for bf16, which the {s.node_types[0].gpus.model} of {s.cluster.title} does not compute in"
            )
            yield Hit(launch.line, says, source=s.node_types[0].source)
            return


def purged(s: Subject) -> Iterator[Hit]:
    """`module purge` below the modules that the launch needs, and none loaded again."""
    launch = s.launch
    if launch is None:
        return
    above = [(at, line) for at, line in s.code_lines if at < launch.line]
    purges = [at for at, line in above if PURGES.match(line)]
    loads = [at for at, line in above if LOADS.match(line)]
    if not purges or not loads or min(loads) >= purges[-1]:
        return
    behind = "\n".join(PURGES.sub("", line) for at, line in above if at >= purges[-1])
    last = max(at for at in loads if at < purges[-1])
    if not BRINGS.search(behind):
        yield Hit(purges[-1], f"module purge takes away what is loaded up to line {last}")
        return
    lost = [
        (at, one[0]) for at, line in above if at in loads and at < purges[-1] for one in BRINGS_PYTHON.finditer(line)
    ]
    if lost and not BRINGS_PYTHON.search(behind) and not ENTERS.search(behind):
        at, word = lost[-1]
        yield Hit(
            purges[-1],
            f"module purge takes away {word} of line {at}, and no Python is loaded again",
            severity="warning",
        )


PURGES = re.compile(r"\s*(?:module|ml)(?:\s+--\w+)*\s+(?:purge|reset)\b")
LOADS = re.compile(
    r"\s*(?:module(?:\s+--?\w+)*\s+(?:load|add|restore|swap)\b|ml\s+(?!purge|reset|list|avail|spider|show|use)[^-\s])"
)
BRINGS_PYTHON = re.compile(r"\S*(?:torch|tensorflow|\bjax|\bpython|\b(?:ana|mini)?conda|forge|frameworks)\S*", re.I)
ENTERS = re.compile(r"\bsource\b|(?m:^[^\S\n]*\.\s)|\bactivate\b|\b(?:apptainer|singularity|shifter|podman-hpc)\b")
# What may bring software behind a purge: a load in any place, an environment, a file that is read.
BRINGS = re.compile(
    r"\b(?:module|ml)\s+(?!purge|reset|list|avail|show|spider)\w|\bsource\b|(?m:^[^\S\n]*\.\s)|\bactivate\b|\b(?:apptainer|singularity|shifter|podman-hpc)\b"
)


RULES = (
    Rule("module-purged", "environment", "error", "`module purge` below the modules that are loaded, and none loaded again", purged,
         sources.LMOD, "the launch runs without them: put the purge above the loads"),
    launch_rule("environment-none", "environment", "warning", "nothing loads a Python environment", nothing_loaded),
    Rule("module-misspelt", "environment", "warning", "a module whose name is nearly one of the machine's recipe", misspelt_module,
         why="`module load` of an unknown name fails"),
    Rule("module-order", "environment", "warning", "`conda activate` above the module that brings conda", module_order,
         why="'conda: command not found', or another environment than meant"),
    Rule("debug-left-in", "environment", "warning", "debug settings that slow training down", debug_left, sources.TORCH_DISTRIBUTED,
         why="for finding a fault, not for training"),
    launch_rule("devices-fixed", "environment", "warning", "CUDA_VISIBLE_DEVICES with fewer devices than processes, or with others than the job's", visible_devices, sources.CUDA),
    launch_rule("backend-device", "environment", "error", "a backend or device word of another kind of GPU", backend_word,
                why="PyTorch is built for one kind of GPU: 'not compiled with CUDA enabled', 'no NCCL'"),
    launch_rule("bf16-unsupported", "environment", "warning", "bf16 asked of GPUs that do not compute in it (before sm_80)", bf16_word,
                why="some programs refuse, others are much slower: fp16 with loss scaling is what such a GPU does"),
)  # fmt: skip
