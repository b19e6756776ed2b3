"""Which of a script's commands is the training step. Warm-ups, copies, checks and evaluations stand beside it."""

from __future__ import annotations

import re
from functools import lru_cache

from graph.extraction.commands import Command
from graph.extraction.launch_chain import Layer
from graph.extraction.launchers import base_name
from graph.extraction.shell_words import Field, plain
from knowledge.launcher_options import launcher_table

TRAINS = re.compile(r"train|tune|(?<![a-z])(sft|fit|ppo|dpo|grpo|distill|lora|rlhf|learn)", re.I)
SET_UP_MODULES = frozenset(
    ("venv", "pip", "ensurepip", "virtualenv", "site", "json.tool", "http.server", "zipfile", "pytest")
)
TRAINING_PROGRAMS = frozenset(("llamafactory-cli", "xtuner", "axolotl", "litgpt", "swift", "nemo", "llmtune", "dp"))
SYSTEM_PROGRAM = re.compile(r"/(usr/)?(local/)?s?bin/")
MAIN = re.compile(r"(^|[/_.-])(main|run|launch|cli)", re.I)
ASIDE = re.compile(
    r"(^|[/_.-])(eval|test|valid|infer|predict|preproc|prepare|process|download|setup|install|convert|check|warm|cache|plot|"
    r"report|merge|generat|tokeni[sz]|export|stage|copy|probe|monitor|visuali|build|split|submit|upload|clean|wait|"
    r"healthcheck|print|list|get_|make_|create|parse|dump|score|sample|serve|export|index|extract|collect)",
    re.I,
)


def layers_of(command: Command) -> tuple[Layer, ...]:
    """The whole chain: layers of the commands around this one, then its own."""
    return (*layers_of(command.outer), *command.chain.layers) if command.outer else command.chain.layers


def training_command(commands: tuple[Command, ...]) -> Command | None:
    """The most likely training step; the first of equals, but the one of most ranks where a program is started often.

    None where nothing starts a program.
    """
    weights = [weigh(command) for command in commands]
    most = max(weights, default=0)
    heaviest = [command for command, weight in zip(commands, weights, strict=True) if weight == most] if most else []
    return max((one for one in heaviest if entry(one) == entry(heaviest[0])), key=ranks, default=None)


def entry(command: Command) -> Field:
    """The program that a command starts in the end; empty where it starts none."""
    return command.chain.program.entry if command.chain.program else ()


def ranks(command: Command) -> int:
    """The ranks that a launch line names: of a scaling series the largest is what the job must hold."""
    told = [plain(value) for layer in layers_of(command) if (value := layer.role("tasks")) is not None]
    return max((int(text) for text in told if text.isdigit()), default=0)


def weigh(command: Command) -> int:
    """How much a command looks like the training step; 0 for what cannot be one."""
    program = command.chain.program
    if program is None or not program.entry or program.kind == "inline":
        return 0
    layers = layers_of(command)
    name = plain(program.entry)
    launched = [layer for layer in layers if layer.kind in ("spawner", "parallel")]
    if program.kind == "module" and name in SET_UP_MODULES:
        return 0
    if program.kind in ("executable", "shell"):
        own = bool(TRAINS.search(base_name(program.entry))) or base_name(program.entry) in TRAINING_PROGRAMS
        if program.kind == "executable" and own and not launched:
            return 20
        unknown_name = base_name(program.entry) in launcher_table().housekeeping or not (
            launched or program.interpreter or any(k.kind == "remote" for k in layers)
        )
        if unknown_name or any(layer.kind == "submit" for layer in layers) or SYSTEM_PROGRAM.match(name):
            return 0
    weight = 30
    weight += 40 if any(layer.kind == "spawner" for layer in layers) else 0
    weight += 20 if any(layer.kind == "parallel" for layer in layers) else 0
    weight += {"script": 12, "module": 12, "shell": 2}.get(program.kind, 0)
    weight += name_weight(name) or name_weight(" ".join(plain(a) for a in program.args[:2])) // 2
    weight -= 10 if single(launched) else 0
    inside = " ".join(command.inside)
    weight -= 60 if "on failure" in inside else 0
    weight -= 25 if "condition" in inside else 0
    weight -= 5 if "(not called)" in inside else 0
    weight -= 3 if "branch" in inside else 0
    return max(weight, 1)


@lru_cache(maxsize=256)
def name_weight(name: str) -> int:
    """How much a program's name, or its first words, speak for training: a script calls few of them often."""
    last = name.rsplit("/", 1)[-1]
    if TRAINS.search(last):
        return 15
    if ASIDE.search(last):
        return -25
    return 8 if MAIN.search(last) else 5 if TRAINS.search(name) else 0


def single(launched: list[Layer]) -> bool:
    """Whether the launcher starts one process on one node: a step beside the training, where there is another."""
    for layer in launched:
        tasks, nodes = layer.role("tasks"), layer.role("nodes")
        if layer.kind == "parallel" and tasks and plain(tasks) == "1" and (nodes is None or plain(nodes) == "1"):
            return True
    return False
