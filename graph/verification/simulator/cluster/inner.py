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

from graph.verification.simulator.cluster import program
from graph.verification.simulator.cluster.sampling import cut_to_sample
from graph.verification.simulator.site import SimulatedSite

MODULES = {
    "torchrun": "torch.distributed.run", "torchrun_jsc": "torch.distributed.run",
    "accelerate": "accelerate.commands.accelerate_cli", "accelerate-launch": "accelerate.commands.launch",
    "deepspeed": "deepspeed.launcher.runner",
}  # fmt: skip
INNER = {*MODULES.values(), "torch.distributed.launch", "deepspeed.launcher.launch"}
ONLY_RECORDED = {"pip", "venv", "ensurepip", "virtualenv", "conda", "ipykernel"}
# A line by which a Python file beside the script says that it is no training program.
HELPER = "# rehearsal: run as it is"
FLAGS_WITH_VALUE = {"-W", "-X", "--check-hash-based-pycs"}


def python(words: list[str], site: SimulatedSite) -> int:
    """python: code, a helper or a module of the library really runs; anything else is the training program."""
    left = list(words)
    while left and left[0].startswith("-") and left[0] not in ("-", "-c", "-m"):
        flag = left.pop(0)
        if flag in ("-V", "--version", "-VV"):
            return real_python(site, words)
        if flag in FLAGS_WITH_VALUE and left:
            left.pop(0)
    if not left or left[0] == "-":
        return in_node(site, "code", sys.stdin.read(), left[1:]) if not sys.stdin.isatty() else 0
    if left[0] == "-c":
        return in_node(site, "code", left[1] if len(left) > 1 else "", left[2:])
    if left[0] == "-m" and len(left) > 1:
        return module(left[1], left[2:], words, site)
    if is_helper(left[0], site):
        return real_python(site, words)
    return in_wrong_folder(left[0], site) or in_node(site, "program", left[0], left[1:])


def in_wrong_folder(path: str, site: SimulatedSite) -> int:
    """PBS starts a job in the home folder: a program named from there without `cd $PBS_O_WORKDIR` is not found."""
    job = site.job
    home = (site.stage / job.places["home"]).resolve() if job.places else None
    if job.scheduler != "pbs" or path.startswith("/") or Path.cwd().resolve() != home:
        return 0
    says = f"can't open file '{Path.cwd() / path}': [Errno 2] No such file or directory"
    site.record("lost", says=says)
    print(f"python: {says}", file=sys.stderr)
    return 2


def module(name: str, rest: list[str], words: list[str], site: SimulatedSite) -> int:
    if name in INNER:
        return in_node(site, "inner", name, rest)
    if name.split(".")[0] in ONLY_RECORDED:
        site.record("not_run", name=f"python -m {name}", words=rest)
        return 0
    if name.split(".")[0] in sys.stdlib_module_names:
        return real_python(site, words)
    return in_node(site, "program", f"-m {name}", rest)


def is_helper(path: str, site: SimulatedSite) -> bool:
    """Whether this is a side file that says so, or needs the standard library alone: then it runs as it is."""
    if Path(path).name not in site.job.side_files or not Path(path).is_file():
        return False
    text = Path(path).read_text(errors="replace")
    if HELPER in text.splitlines():
        return True
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return all(name.split(".")[0] in sys.stdlib_module_names for name in names)


def real_python(site: SimulatedSite, words: list[str]) -> int:
    os.execv(site.job.python, [site.job.python, *words])


def without_config(words: list[str], site: SimulatedSite) -> list[str]:
    """A call without the launcher's configuration file where that lies on the cluster alone: noted."""
    for at, word in enumerate(words):
        name, joined, value = word.partition("=")
        file = value if joined else (words[at + 1] if at + 1 < len(words) else "")
        if name in ("--config_file", "--config-file") and file and not Path(file).exists():
            site.record("missing", name=file, words=[])
            # What accelerate's own default of that file says, and nothing else does.
            given = [] if "machine_rank" in " ".join(words).replace("-", "_") else ["--machine_rank", "0"]
            return [*words[:at], *given, *words[at + (1 if joined else 2) :]]
        if not word.startswith("-") and word.endswith(".py"):
            break
    return words


def in_node(site: SimulatedSite, kind: str, name: str, words: list[str]) -> int:
    """Do it in this process, which the node forked: torch is imported here already."""
    if kind == "code":
        return program.run_code(site, name, words)
    site.record(kind, program=name, words=words)
    if kind == "inner":
        return program.run_inner(site, name, cut_to_sample(name, without_config(words, site), site.job))
    return program.run_miniapp(site)
