"""Cuts the counts that inner launchers are given to the part of the job that has processes.

A count is cut only where it equals the whole job's, or the step's where that was started on fewer nodes: any other goes
through as written, and fails as it would.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from graph.verification.simulator.config import StandIn

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
