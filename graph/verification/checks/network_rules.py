# ruff: noqa: E501
"""Does the traffic between nodes take the machine's network, and is there a way out of it?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from graph.extraction.launch_shape import LaunchShape
from graph.verification.checks import sources
from graph.verification.checks.environment_rules import module_names
from graph.verification.checks.rule import Edit, Hit, Rule, launch_rule
from graph.verification.checks.subject import Subject
from knowledge.cluster import EnvironmentFact

DOWNLOADS = re.compile(
    r"^\s*(?:pip3? install|python3? -m pip install|git clone|wget|curl|huggingface-cli download|hf download|conda install|mamba install|uv pip install|gdown|aws s3)\b"
)


def network_module(s: Subject) -> Iterator[Hit]:
    """A script that follows the site's recipe, without its plug-in for the network."""
    if (
        s.cluster is None
        or not s.several_nodes
        or s.script.sourced
        or (len(s.script.modules) < 2 and s.cluster.scheduler != "slurm")
    ):
        return
    plugins = [name for name in module_names(s) if re.search(r"ofi|rccl-net|nccl", name)]
    loaded = [module.split("/")[0] for _, module in s.script.modules]
    recipe = [name for name in loaded if name in module_names(s) and name not in plugins]
    container = s.launch is not None and any(layer.kind == "container" for layer in s.launch.layers)
    text = "\n".join(line for _, line in s.code_lines)
    for plugin in plugins:
        if (
            recipe
            and plugin not in loaded
            and plugin not in text
            and not container
            and not re.search(r"NCCL_NET_PLUGIN|aws-ofi|libnccl-net|librccl-net", text)
        ):
            line = max(number for number, module in s.script.modules if module.split("/")[0] in recipe)
            says = f"the module '{plugin}' is not loaded: NCCL finds no plug-in for this machine's network"
            edit = Edit(line + 1, line, (f"module load {plugin}",))
            yield Hit(line, says, source=s.cluster.software["default"].source, edit=edit)


def facts_of(s: Subject) -> list[EnvironmentFact]:
    """The variables that every job of several nodes sets there."""
    if s.cluster is None:
        return []
    kinds = {kind.id for kind in s.node_types}
    return [
        fact for fact in s.cluster.environment
        if fact.apply in ("always", "multi_node") and (not fact.node_types or kinds <= set(fact.node_types)) and not fact.frameworks
        and (not fact.workers or (s.launch is not None and worker_kind(s) in fact.workers)) and fact.name not in ("PATH", "LD_LIBRARY_PATH")
    ]  # fmt: skip


def worker_kind(s: Subject) -> str:
    layer = s.launch.spawner if s.launch else None
    return layer.name if layer is not None and layer.name in ("torchrun", "accelerate") else "ranks"


def network_missing(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    if s.cluster is None or not s.several_nodes or s.scheduler != s.cluster.scheduler:
        return
    if sources_settings(s) or (launch.nodes or 2) < 2 or launch.remote:
        return
    given = (
        {one.name for one in s.script.assignments}
        | s.exported
        | {name for command in s.script.commands for name, _ in command.assignments}
    )
    absent = [fact for fact in facts_of(s) if fact.name not in given and fact.name not in s.script.text]
    if absent:
        names = ", ".join(fact.name for fact in absent)
        lines = tuple(f"export {fact.name}={quoted(fact)}" for fact in absent)
        says = f"{s.cluster.title}'s jobs of several nodes set {names}; this one does not"
        yield Hit(
            launch.line,
            says,
            absent[0].why,
            absent[0].source,
            edit=Edit(launch.line, launch.line - 1, lines)
            if not launch.command.inside and launch.line == launch.command.line
            else None,
        )


def quoted(fact: EnvironmentFact) -> str:
    if fact.expand:
        return f'"{fact.value}"'
    return shlex.quote(fact.value)


def sources_settings(s: Subject) -> bool:
    """Whether a file is read in that may set anything (not merely an environment's activate script)."""
    return any(
        not re.search(r"activate|profile\.d|bashrc|conda\.sh|modules\.sh|/etc/profile", name)
        for _, name in s.script.sourced
    )


def interface(s: Subject) -> Iterator[Hit]:
    """NCCL_SOCKET_IFNAME that names another network than the machine's."""
    if s.cluster is None or not s.several_nodes:
        return
    wanted = [
        fact.value for fact in s.cluster.environment if fact.name == "NCCL_SOCKET_IFNAME" and fact.apply != "advice"
    ]
    kinds = {letters(name) for value in wanted for name in value.split(",")} | {
        letters(k.nics.interface) for k in s.node_types if k.nics.interface
    }
    for one in s.script.assignments:
        if (
            one.name not in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME")
            or not one.value
            or "$" in one.value
            or one.value[0] in "^=!"
        ):
            continue
        if kinds and wanted and not {letters(name) for name in one.value.split(",")} & kinds:
            says = f"{one.name} is {one.value}; the network of {s.cluster.title} is {wanted[0]}"
            edit = s.swapped(one.line, one.value, wanted[0])
            yield Hit(one.line, says, edit=edit)


def letters(name: str) -> str:
    found = re.match(r"[a-z]+", name)
    return found[0] if found else name


def slow_network(s: Subject) -> Iterator[Hit]:
    for one in s.script.assignments:
        bad = (one.name == "NCCL_IB_DISABLE" and one.value == "1") or (
            one.name == "NCCL_NET" and one.value.lower() == "socket"
        )
        loop = one.name in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME") and one.value == "lo"
        if s.several_nodes and loop:
            says = f"{one.name}=lo: the loopback does not reach other nodes"
            yield Hit(one.line, says, "the group never forms on several nodes", severity="error")
        elif (
            s.several_nodes
            and bad
            and any(
                k.nics.kind and re.search(r"infiniband|hdr|edr|ndr|slingshot", k.nics.kind, re.I) for k in s.node_types
            )
        ):
            says = f"{one.name}={one.value} turns the fast network off"
            yield Hit(one.line, says, "NCCL goes over TCP sockets instead")


# What NCCL takes of these (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html): smallest and largest.
NCCL_RANGES = {
    "NCCL_IB_RETRY_CNT": (0, 7),
    "NCCL_IB_TIMEOUT": (1, 31),
    "NCCL_IB_QPS_PER_CONNECTION": (1, 128),
    "NCCL_IB_TC": (0, 255),
    "NCCL_IB_SL": (0, 15),
    "NCCL_CROSS_NIC": (0, 2),
}
# For Ethernet: a GID of RoCE. On InfiniBand, Slingshot and Omni-Path the default is right.
ROCE_ONLY = ("NCCL_IB_GID_INDEX", "NCCL_IB_ROCE_VERSION_NUM")


def network_tuning(s: Subject) -> Iterator[Hit]:
    """Values that NCCL does not take, and settings of RoCE on a network that is none."""
    fabric = " ".join(kind.nics.kind or "" for kind in s.node_types)
    roce = not fabric or re.search(r"roce|ethernet", fabric, re.I) is not None
    for one in s.script.assignments:
        low, high = NCCL_RANGES.get(one.name, (0, 0))
        if high and one.value.lstrip("-").isdigit() and not low <= int(one.value) <= high:
            says = f"{one.name}={one.value} is outside of what NCCL takes ({low} to {high})"
            yield Hit(one.line, says, "NCCL refuses it, or takes another value than meant")
        elif one.name in ROCE_ONLY and not roce:
            says = f"{one.name} is for Ethernet (RoCE); the network here is {fabric}"
            yield Hit(one.line, says, "a wrong index breaks connections: leave it unset")


def way_out(s: Subject) -> Iterator[Hit]:
    """Downloads inside the job where nodes reach no internet, or only through a proxy."""
    if s.cluster is None or s.cluster.internet.access not in ("no", "proxy"):
        return
    fact = s.cluster.internet
    names = {one.name.lower() for one in s.script.assignments} | {name.lower() for name in s.exported}
    for number, line in s.code_lines:
        if (
            DOWNLOADS.search(line)
            and (fact.access == "no" or not names & {"http_proxy", "https_proxy"})
            and not re.search(r"--no-index|localhost|proxy|file:", line)
        ):
            how = (
                f"reach no internet: {'do it on a login node' if fact.login_nodes else 'copy it to the machine before'}"
                if fact.access == "no"
                else "reach the internet only through a proxy, and none is set"
            )
            lines = tuple(f"export {name}={shlex.quote(value)}" for name, value in fact.proxy.items())
            says = f"compute nodes of {s.cluster.title} {how}"
            yield Hit(number, says, source=fact.source, edit=Edit(number, number - 1, lines) if lines else None)
            return


RULES = (
    Rule("module-network", "environment", "warning", "the recipe's plug-in module for the network left out", network_module,
         why="between nodes it falls back to TCP sockets: slow, and no error says so"),
    launch_rule("network-missing", "environment", "warning", "network variables that the machine's jobs of several nodes set", network_missing),
    Rule("network-interface", "environment", "warning", "NCCL_SOCKET_IFNAME names another network than the machine's", interface, sources.NCCL,
         why="no such interface, or the slow one: 'no socket interface found', or a hang"),
    Rule("network-slow", "environment", "warning", "settings that turn the fast network off, or use the loopback", slow_network, sources.NCCL),
    Rule("network-tuning", "environment", "warning", "NCCL values outside of their range, RoCE settings on another network", network_tuning, sources.NCCL),
    Rule("internet", "environment", "warning", "a download in the job where nodes have no way out", way_out,
         why="the download waits until it times out"),
)  # fmt: skip
