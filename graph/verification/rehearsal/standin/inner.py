"""The launchers inside a task (torchrun, accelerate, deepspeed) and python itself.

The real ones run, in a process forked from the node's, so that torch is imported once a cluster. The training program
is replaced by the mini-app. Where only part of the job has processes, node and process counts that equal the whole
job's are cut to that part; any other count goes through as written and fails as it would.
"""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

from graph.verification.rehearsal.standin import config, launch, wire
from graph.verification.rehearsal.standin.sampling import cut_to_sample

MODULES = {
    "torchrun": "torch.distributed.run", "torchrun_jsc": "torch.distributed.run",
    "accelerate": "accelerate.commands.accelerate_cli", "accelerate-launch": "accelerate.commands.launch",
    "deepspeed": "deepspeed.launcher.runner",
}  # fmt: skip
INNER = {*MODULES.values(), "torch.distributed.launch", "deepspeed.launcher.launch"}
ONLY_RECORDED = {"pip", "venv", "ensurepip", "virtualenv", "conda", "ipykernel"}
FLAGS_WITH_VALUE = {"-W", "-X", "--check-hash-based-pycs"}


def launcher(name: str, words: list[str], stage: Path) -> int:
    """torchrun, accelerate, deepspeed, by their command names."""
    return in_node(stage, "inner", MODULES[name], words)


def python(words: list[str], stage: Path) -> int:
    """python: code, a helper or a module of the library really runs; anything else is the training program."""
    left = list(words)
    while left and left[0].startswith("-") and left[0] not in ("-", "-c", "-m"):
        flag = left.pop(0)
        if flag in ("-V", "--version", "-VV"):
            return real_python(stage, words)
        if flag in FLAGS_WITH_VALUE and left:
            left.pop(0)
    if not left or left[0] == "-":
        return in_node(stage, "code", sys.stdin.read(), left[1:]) if not sys.stdin.isatty() else 0
    if left[0] == "-c":
        return in_node(stage, "code", left[1] if len(left) > 1 else "", left[2:])
    if left[0] == "-m" and len(left) > 1:
        return module(left[1], left[2:], words, stage)
    if is_helper(left[0], stage):
        return real_python(stage, words)
    return in_wrong_folder(left[0], stage) or in_node(stage, "program", left[0], left[1:])


def in_wrong_folder(path: str, stage: Path) -> int:
    """PBS starts a job in the home folder: a program named from there without `cd $PBS_O_WORKDIR` is not found."""
    job = config.read(stage)
    home = (stage / job.places["home"]).resolve() if job.places else None
    if job.scheduler != "pbs" or path.startswith("/") or Path.cwd().resolve() != home:
        return 0
    says = f"can't open file '{Path.cwd() / path}': [Errno 2] No such file or directory"
    config.record(stage, "lost", says=says)
    print(f"python: {says}", file=sys.stderr)
    return 2


def module(name: str, rest: list[str], words: list[str], stage: Path) -> int:
    if name in INNER:
        return in_node(stage, "inner", name, rest)
    if name.split(".")[0] in ONLY_RECORDED:
        config.record(stage, "not_run", name=f"python -m {name}", words=rest)
        return 0
    if name.split(".")[0] in sys.stdlib_module_names:
        return real_python(stage, words)
    return in_node(stage, "program", f"-m {name}", rest)


def is_helper(path: str, stage: Path) -> bool:
    """Whether this is a side file that needs the standard library alone: it cannot train, so it runs as it is."""
    if Path(path).name not in config.read(stage).side_files or not Path(path).is_file():
        return False
    try:
        tree = ast.parse(Path(path).read_text(errors="replace"))
    except SyntaxError:
        return False
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return all(name.split(".")[0] in sys.stdlib_module_names for name in names)


def real_python(stage: Path, words: list[str]) -> int:
    program = config.read(stage).python
    os.execv(program, [program, *words])


def in_node(stage: Path, kind: str, name: str, words: list[str]) -> int:
    """Have this node's daemon do it in a forked process, with our streams and environment."""
    job = config.read(stage)
    if kind == "inner":
        config.record(stage, "inner", program=name, words=words, node=launch.current_node())
        words = cut_to_sample(name, words, job)
    elif kind == "program":
        config.record(stage, "program", program=name, words=words, node=launch.current_node())
    task = wire.Task(0, (name, *words), dict(os.environ), str(Path.cwd()))
    try:
        connection = wire.ask(stage, launch.current_node(), kind, [task], (0, 1, 2))
    except OSError as error:
        print(f"{name}: this node does not answer ({error})", file=sys.stderr)
        return 1
    return next((code if code >= 0 else 128 - code for _, code in wire.answers(connection)), 137)
