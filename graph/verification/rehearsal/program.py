"""Which framework and strategy the training program of a script stands for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.extraction.script import Script
from knowledge.types import SideFile

STAGE = re.compile(r"\"stage\"\s*:\s*([123])|zero[_-]?stage[\s=:]+([123])|zero[_-]?([123])\b", re.I)


@dataclass(frozen=True, slots=True)
class Kind:
    """framework: whose way of finding ranks is followed; strategy: what the mini-app trains with; tools: packages."""

    framework: str
    strategy: str
    tools: frozenset[str]


def kind_of(
    script: Script, text: str, side_files: tuple[SideFile, ...], framework: str | None, strategy: str | None
) -> Kind:
    """From what was said, else from the launch chain, the program's arguments and the files that the script names."""
    launchers = {word.split("/")[-1] for command in script.commands for word in command.argv[:40]}
    everything = "\n".join([text, *(file.text for file in side_files if file.name in text)])
    if framework is None:
        framework = framework_of(launchers, everything)
    stage = STAGE.search(everything)
    if strategy is None:
        if (
            stage
            and framework in ("deepspeed", "megatron", "lightning", "pytorch")
            and "deepspeed" in everything.lower()
        ):
            strategy = "zero" + next(filter(None, stage.groups()))
        else:
            strategy = "fsdp" if re.search(r"fsdp", everything, re.I) else "ddp"
    tools = set()
    if framework == "accelerate" or "accelerate" in launchers:
        strategy = "accelerate"
        tools.add("accelerate")
    elif strategy not in ("fsdp", "zero1", "zero2", "zero3"):
        strategy = "ddp"
    if (
        strategy.startswith("zero")
        or "deepspeed" in launchers
        or re.search(r"use_deepspeed|distributed_type: DEEPSPEED", everything)
    ):
        tools.add("deepspeed")
    return Kind(framework, strategy, frozenset(tools))


def framework_of(launchers: set[str], everything: str) -> str:
    low = everything.lower()
    if "accelerate" in launchers or "accelerate launch" in low:
        return "accelerate"
    if "pytorch_lightning" in low or "lightning" in low:
        return "lightning"
    if "megatron" in low or "pretrain_gpt" in low:
        return "megatron"
    return "deepspeed" if "deepspeed" in low else "pytorch"
