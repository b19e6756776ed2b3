"""The launchers inside a task (torchrun, accelerate, deepspeed) and python itself.

The real ones run, in a process forked from the node's, so that torch is imported once a cluster. The training program
is replaced by the mini-app. Where only part of the job has processes, node and process counts that equal the whole
job's are cut to that part; any other count goes through as written and fails as it would.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path

from graph.verification.simulator.cluster import program
from graph.verification.simulator.config import StandIn
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


# Cuts the counts that inner launchers are given to the part of the job that has processes.
#
# A count is cut only where it equals the whole job's, or the step's where that was started on fewer nodes: any other
# goes through as written, and fails as it would.


NODE_COUNTS = ("--nnodes", "--num_machines", "--num_nodes")
PER_NODE_COUNTS = ("--nproc-per-node", "--num_gpus")
WORLD_COUNTS = ("--num_processes",)


def cut_to_sample(program: str, words: list[str], job: StandIn) -> list[str]:
    """Cut counts that say the whole job to the part that has processes."""
    whole_nodes = int(os.environ.get("SLURM_STEP_NUM_NODES") or len(job.nodes))
    nodes = min(whole_nodes, job.running)
    per_node = job.gpus_per_node or 1
    here = min(per_node, job.sampled or per_node)
    cuts = {
        **{name: {str(whole_nodes): str(nodes)} for name in NODE_COUNTS},
        **{name: {str(per_node): str(here)} for name in PER_NODE_COUNTS},
        **{name: {str(whole_nodes * per_node): str(nodes * here)} for name in WORLD_COUNTS},
    }
    result: list[str] = []
    for word in said_elsewhere(program, words, job):
        name, equals, value = word.partition("=")
        previous = result[-1] if result else ""
        if equals and spelt(name) in cuts:
            result.append(f"{name}={cuts[spelt(name)].get(value, value)}")
        elif spelt(previous) in cuts and not word.startswith("-"):
            result.append(cuts[spelt(previous)].get(word, word))
        else:
            result.append(word)
    return result


def said_elsewhere(program: str, words: list[str], job: StandIn) -> list[str]:
    """The words, with counts of accelerate's file, or those for deepspeed's hostfile, written out as options."""
    if job.running == len(job.nodes) and not job.sampled:
        return words
    given = {word.partition("=")[0] for word in words}
    if program == "deepspeed.launcher.runner" and not given & {"--num_nodes", "--include", "--exclude"}:
        return ["--num_nodes", str(len(job.nodes)), *words]
    path = next((following(words, n) for n, word in enumerate(words) if word.startswith("--config_file")), "")
    if not program.startswith("accelerate") or not Path(path).is_file():
        return words
    found = re.findall(r"^(num_processes|num_machines):\s*(\d+)", Path(path).read_text(errors="replace"), re.M)
    added = [part for name, value in found if f"--{name}" not in given for part in (f"--{name}", value)]
    return [*words[:1], *added, *words[1:]] if words[:1] == ["launch"] else [*added, *words]


def following(words: list[str], index: int) -> str:
    """The value of the option at that place, attached or next."""
    _, equals, value = words[index].partition("=")
    return value if equals else words[index + 1] if index + 1 < len(words) else ""


def spelt(name: str) -> str:
    """torchrun takes its options with hyphens or underscores."""
    hyphens = name.replace("_", "-")
    return hyphens if hyphens in PER_NODE_COUNTS else name
