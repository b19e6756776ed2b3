"""Which framework and strategy the training program of a script stands for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.extraction.script import ReadScript
from knowledge.types import SideFile

STAGE = re.compile(r"\"stage\"\s*:\s*([123])|zero[_-]?stage[\s=:]+([123])|zero[_-]?([123])\b", re.I)

ACCELERATES_DEEPSPEED = re.compile(r"use_deepspeed|distributed_type: DEEPSPEED")


@dataclass(frozen=True, slots=True)
class Kind:
    """framework: whose way of finding ranks is followed; strategy: what the mini-app trains with; tools: packages."""

    framework: str
    strategy: str
    tools: frozenset[str]


def kind_of(
    script: ReadScript, text: str, side_files: tuple[SideFile, ...], framework: str | None, strategy: str | None
) -> Kind:
    """From what was said, else from the launch chain, the program's arguments and the files that the script names."""
    launchers = {word.split("/")[-1] for command in script.commands for word in command.argv[:40]}
    everything = "\n".join([text, *(file.text for file in side_files if file.name in text)])
    framework = framework or framework_of(launchers, everything)
    strategy = strategy or strategy_of(framework, everything)
    if framework == "accelerate" or "accelerate" in launchers:
        strategy = "accelerate"
    elif strategy not in ("fsdp", "zero1", "zero2", "zero3"):
        strategy = "ddp"
    tools = {"accelerate"} if strategy == "accelerate" else set()
    if strategy.startswith("zero") or "deepspeed" in launchers or ACCELERATES_DEEPSPEED.search(everything):
        tools.add("deepspeed")
    return Kind(framework, strategy, frozenset(tools))


def strategy_of(framework: str, everything: str) -> str:
    """A ZeRO stage where DeepSpeed is at work, FSDP where it is named, else DDP."""
    stage = STAGE.search(everything)
    if stage and framework != "accelerate" and "deepspeed" in everything.lower():
        return f"zero{next(filter(None, stage.groups()))}"
    return "fsdp" if "fsdp" in everything.lower() else "ddp"


def framework_of(launchers: set[str], everything: str) -> str:
    low = everything.lower()
    if "accelerate" in launchers or "accelerate launch" in low:
        return "accelerate"
    if "pytorch_lightning" in low or "lightning" in low:
        return "lightning"
    if "megatron" in low or "pretrain_gpt" in low:
        return "megatron"
    return "deepspeed" if "deepspeed" in low else "pytorch"
