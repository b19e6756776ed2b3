"""Which of a script's commands is the training step. Warm-ups, copies, checks and evaluations stand beside it."""

from __future__ import annotations

import re

from graph.extraction.commands import Command
from graph.extraction.launch_chain import Layer
from graph.extraction.launcher_table import HOUSEKEEPING
from graph.extraction.launchers import base_name
from graph.extraction.shell_words import plain

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
    outer = layers_of(command.outer) if command.outer else ()
    return (*outer, *command.chain.layers)


def training_command(commands: tuple[Command, ...]) -> Command | None:
    """The most likely training step; the first of equals, but the one of most ranks where a program is started often.

    None where nothing starts a program.
    """
    best: Command | None = None
    best_weight = 0
    for command in commands:
        weight = weigh(command)
        if weight > best_weight:
            best, best_weight = command, weight
    return max((c for c in commands if same_program(c, best) and weigh(c) >= best_weight), key=ranks, default=best)


def same_program(one: Command, other: Command | None) -> bool:
    program, wanted = one.chain.program, other.chain.program if other else None
    return program is not None and wanted is not None and program.entry == wanted.entry


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
        unknown_name = base_name(program.entry) in HOUSEKEEPING or not (
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


def name_weight(name: str) -> int:
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
