# ruff: noqa: E501
"""What the program finds when it starts: modules, devices, the words for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from graph.extraction.shell_words import plain
from graph.verification.checks import sources
from graph.verification.checks.rule import Edit, Hit, Rule
from graph.verification.checks.subject import Subject

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


def nothing_loaded(s: Subject) -> Iterator[Hit]:
    """A job starts with the system's Python, which has no PyTorch."""
    launch = s.launch
    if s.cluster is None or launch is None or not s.is_shell or s.script.sourced or s.script.modules or not s.job.asked:
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
            yield Hit(
                launch.line,
                says,
                "PBS starts a job without the submitting shell's environment: the system's Python has no PyTorch",
                software.source,
            )
        else:
            yield Hit(
                launch.line,
                says,
                "right only if the job is submitted from a shell where the environment is active",
                software.source,
                "info",
            )


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
            yield Hit(line, says, "`module load` of an unknown name fails", s.cluster.software["default"].source if s.cluster else None,
                      edit=Edit(line, line, (s.line(line).replace(name, near[0], 1),)))  # fmt: skip


def module_order(s: Subject) -> Iterator[Hit]:
    """`conda activate` above the module that brings conda."""
    brings = [line for line, module in s.script.modules if re.match(r"(ana|mini)?conda|miniforge|mamba", module, re.I)]
    for command in s.script.commands:
        if command.argv[:2] != ("conda", "activate") or command.inside or not brings:
            continue
        if min(brings) > command.line and not any(line < command.line for line, _ in s.script.sourced):
            says = f"conda is activated before line {min(brings)} loads the module that brings it"
            yield Hit(command.line, says, "'conda: command not found', or another environment than meant")
            return


def debug_left(s: Subject) -> Iterator[Hit]:
    for one in s.script.assignments:
        value, cost = DEBUG.get(one.name, ("", ""))
        if value and one.value.upper() == value.upper() and not one.inside:
            yield Hit(
                one.line,
                f"{one.name}={one.value} is left in: {cost}",
                "for finding a fault, not for training",
                sources.TORCH_DISTRIBUTED,
            )


def visible_devices(s: Subject) -> Iterator[Hit]:
    """A fixed list of devices against the processes that share it."""
    launch = s.launch
    if launch is None:
        return
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
            yield Hit(
                one.line,
                says,
                "processes beyond the list fail: 'invalid device ordinal'",
                sources.CUDA,
                edit=Edit(one.line, one.line, ()) if alone(s, one.line) else None,
            )
        elif s.devices and max(int(number) for number in one.value.split(",")) >= s.devices:
            says = f"{one.name} names device {max(int(n) for n in one.value.split(','))}; the job has {s.devices}, numbered from 0"
            yield Hit(one.line, says, "devices that the job was not given do not exist for it", sources.CUDA, "warning")


def alone(s: Subject, line: int) -> bool:
    return bool(re.fullmatch(r"\s*export \w+=[\d,]+\s*", s.line(line)))


def backend_word(s: Subject) -> Iterator[Hit]:
    """`--backend nccl` on Intel GPUs, `ccl` on the others; `--device cuda` where there is none."""
    launch = s.launch
    backends = {kind.gpus.backend for kind in s.node_types}
    if s.cluster is None or launch is None or len(backends) != 1:
        return
    backend = backends.pop()
    words = [plain(word) for word in launch.program.args]
    pairs = [
        (w.partition("=")[0], w.partition("=")[2] or (words[i + 1] if i + 1 < len(words) else ""))
        for i, w in enumerate(words)
    ]
    for name, value in pairs:
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
            yield Hit(
                launch.line,
                says,
                "PyTorch is built for one kind of GPU: 'not compiled with CUDA enabled', 'no NCCL'",
                s.cluster.software["default"].source,
            )


RULES = (
    Rule("environment-none", "environment", "warning", "nothing loads a Python environment", nothing_loaded),
    Rule("module-misspelt", "environment", "warning", "a module whose name is nearly one of the machine's recipe", misspelt_module),
    Rule("module-order", "environment", "warning", "`conda activate` above the module that brings conda", module_order),
    Rule("debug-left-in", "environment", "warning", "debug settings that slow training down", debug_left),
    Rule("devices-fixed", "environment", "warning", "CUDA_VISIBLE_DEVICES with fewer devices than processes, or with others than the job's", visible_devices),
    Rule("backend-device", "environment", "error", "a backend or device word of another kind of GPU", backend_word),
)  # fmt: skip
