"""An order for a training tool (`axolotl, config.yml`): the tool's own command is the job's program."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from knowledge.job_parts import ArgumentEdit
from knowledge.training_tools import ORGANISATION_AND_NAME, STANDS_OPEN, TrainingTool, other_tool, tool_of, tools_named
from knowledge.types import Heard, JobRequest, Understood

FILE = re.compile(r"(?<![\w./~$-])(?P<name>[\w./~$-]*\w\.(?:ya?ml|json|toml|py))(?![\w/])")
# The launcher's own configuration (Accelerate's YAML, DeepSpeed's JSON), by its name.
OF_LAUNCHER = re.compile(r"accelerate|fsdp|deepspeed|zero|(?<![a-z])ds[_-]|multi_gpu", re.I)
OF_OPTION = re.compile(r"(?<![\w-])-{1,2}(?!-)(?!(?:config(?:[-_](?:file|name))?|cfg|c|f)[= ])[\w-]+[= ]$")
ASSIGNED = re.compile(
    r"(?<!\S)(?P<name>(?!(?:nodes|gpus|time|walltime|account|queue|partition|qos)=)[a-z_][\w.]*)=(?P<value>[^\s,;]+)"
)
# `My recipe is pretrain.py`: the program that stands open, where nothing else is said.
OWN_PROGRAM = re.compile(r"(?:(?!first|then|before|after)[A-Za-z']+ ){0,5}(?P<name>[\w./~$-]*\w\.py)[.! ]*", re.I)
FILES = ("config_file", "environment", "container")
CONFIG_FOLDER = re.compile(r"(?:^|/)configs?/", re.I)
# What stands before a tool's name that is not wanted, or before a name that is something else's.
NOT_WANTED = re.compile(
    r"\b(?:not|no|without|instead of|rather than|nicht|kein\w*|pas|sans|statt|ohne|sin|senza)\s+$"
    r"|\b(?:env|environment|venv|image|container|module|account|project|partition|queue|name[d:]?|called|folder)[\s:=]+$",
    re.I,
)


def with_tool(read: Understood, text: str, stands: bool) -> Understood:
    """An order as it was read, with the command of the tool that it names where it gives no program of its own.

    stands: whether a job was spoken of before.
    """
    found = next((one for one in tools_named(text) if not NOT_WANTED.search(text[: one[1].start()])), None)
    if found is None:
        return with_other_told(read, text)
    tool, match = found
    request = read.request
    if read.intent not in ("generate", "port") and not (stands and read.intent == "other" and config_named(tool, text)):
        return read
    own = bool(request.entry) and not is_its_config(tool, request.entry or "") and tool_of(request) in (None, tool)
    if own:
        return with_its_library(read, tool, match[0])
    return with_command(read, text, tool, match[0])


def with_command(read: Understood, text: str, tool: TrainingTool, name: str) -> Understood:
    """The order with the command of that tool, filled in from its words, and nothing of another program's."""
    request, config = read.request, config_named(tool, text)
    template, variant = tool.chosen(text, config)
    command = tool.command(template, config, hub_name(request.model, text), text)
    assigned = tuple(ASSIGNED.finditer(text)) if tool.assigns else ()
    args, edits = (None, ()) if request.entry else (request.args, request.argument_edits)
    now: dict[str, Any] = {one: None for one in FILES if config and config.endswith(getattr(request, one) or "\n")}
    now |= {
        "entry": command.entry,
        "args": " ".join(filter(None, (command.args, args))) or None,
        "framework": request.framework or tool.frameworks[0],
        "argument_edits": (*edits, *(as_argument(one, command.args or "") for one in assigned)),
    }
    heard = [one for one in request.heard if one.field == "framework" or one.field not in now]
    heard += [Heard(field, "said", words) for field, words in (("entry", name), ("args", config or name)) if now[field]]
    placed = [one for one in (name, variant, *(one[0] for one in assigned), config or "", *command.told) if one]
    return replace(
        read,
        intent="port" if read.intent == "port" else "generate",
        request=replace(request, **now, heard=tuple(heard)),
        missing=tuple(one for one in read.missing if one not in ("framework", "strategy", "entry")),
        left=(
            *filter(None, (without_placed(one, placed) for one in read.left)),
            *further_configs(tool, config, read, text),
        ),
        rival=None,
        doubtful=False,
    )


def further_configs(tool: TrainingTool, config: str | None, read: Understood, text: str) -> tuple[str, ...]:
    """Other configurations that are named beside the one that is taken: each is a job of its own."""
    names = (one["name"] for one in FILE.finditer(text) if not OF_OPTION.search(text[: one.start()]))
    told = f"{config} {read.request.config_file} {read.request.array} {' '.join(read.left)}"
    return tuple(
        dict.fromkeys(one for one in names if tool.is_config(one) and not one.endswith(".py") and one not in told)
    )


def with_other_told(read: Understood, text: str) -> Understood:
    """An order for a tool whose command is not known here: its name is told as open, where no program is given."""
    name = "" if read.intent != "generate" or read.request.entry else other_tool(text)
    return read if not name or any(name in one for one in read.left) else replace(read, left=(*read.left, name))


def with_its_library(read: Understood, tool: TrainingTool, name: str) -> Understood:
    """An order with a program of the person's own: of a tool that is a library, the launch is known all the same."""
    if not STANDS_OPEN.match(tool.program):
        return read
    heard = (*(one for one in read.request.heard if one.field != "entry"), Heard("entry", "said", name))
    framework = read.request.framework or tool.frameworks[0]
    left = tuple(filter(None, (without_placed(one, [name]) for one in read.left)))
    return replace(read, request=replace(read.request, framework=framework, heard=heard), left=left)


def as_argument(said: re.Match[str], args: str) -> ArgumentEdit:
    """NAME=VALUE in the place of the command's own, else behind it."""
    held = re.search(rf"(?<!\S){re.escape(said['name'])}=", args)
    return ArgumentEdit("set", said["name"], said["value"]) if held else ArgumentEdit("add", "", said[0])


def hub_name(model: str | None, text: str) -> str | None:
    """A model's name on the hub, as the text writes it: `meta-llama/Llama-3.1-8B`."""
    if model is None or ORGANISATION_AND_NAME.fullmatch(model):
        return model
    names = (one[0].rstrip(".") for one in ORGANISATION_AND_NAME.finditer(text))
    return next((one for one in names if letters(model) in letters(one)), None)


def letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def is_its_config(tool: TrainingTool, name: str) -> bool:
    """Whether a Python file is a configuration of the tool (`configs/rtmdet_s.py`) and no program."""
    return tool.is_config(name) and CONFIG_FOLDER.search(name) is not None


def config_named(tool: TrainingTool, text: str) -> str | None:
    """The configuration of the tool that a text names: no file that an option takes, and none of the launcher's."""
    for one in FILE.finditer(text):
        name = one["name"]
        python = name.endswith(".py") and not is_its_config(tool, name)
        launcher = tool.spread == "launcher" and OF_LAUNCHER.search(name)
        if tool.is_config(name) and not (python or launcher or OF_OPTION.search(text[: one.start()])):
            return name
    return None


def without_placed(piece: str, placed: list[str]) -> str:
    """A piece of the order that found no place, without what the tool's command has taken; empty where little stays."""
    for words in placed:
        piece = re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", " ", piece, flags=re.I)
    rest = " ".join(piece.split())
    return "" if SMALL.fullmatch(rest) else rest


# What people say of any training beside the tool's name.
SMALL = re.compile(
    r"(?i)[\W_]*(?:(?:a|an|the|my|our|of|for|on|with|using|config\w*|file|data|yaml|yml|train\w*|fine-?\s?tun\w*|finetun\w*"
    r"|pre-?\s?train\w*|it|it'?s|is|use|take|sft|lora|qlora|full|detect|distributed|recipe|run|job|script|sbatch|eval\w*|model|dataset|\d)[\W_]*)*"
)


def with_config(before: JobRequest, text: str) -> tuple[JobRequest, str]:
    """The job of a tool with the configuration that a change names in the place of its own, and the words left."""
    tool = tool_of(before)
    if tool and STANDS_OPEN.match(before.entry or "") and (named := OWN_PROGRAM.fullmatch(text.strip())):
        return replace(before, entry=named["name"]), ""
    config = config_named(tool, text) if tool and "?" not in text else None
    if tool is None or config is None or any(other is not tool for other, _ in tools_named(text)):
        return before, text
    words = (before.args or "").split()
    at = next((n for n, word in enumerate(words) if tool.is_config(word.rpartition("=")[2])), None)
    held = words[at].rpartition("=")[2] if at is not None else ""
    if at is None or held == config:
        return before, text
    words[at] = words[at].removesuffix(held) + config
    rest = re.sub(rf"(?<![\w./]){re.escape(config)}(?![\w/])", " ", text)
    rest = re.sub(rf"(?<![\w./]){re.escape(held)}(?![\w/])", " ", rest) if not STANDS_OPEN.match(held) else rest
    return replace(before, args=" ".join(words)), rest
