"""Questions about what a job finds around it: software, variables, rendezvous, internet, containers, file systems."""

from __future__ import annotations

import re

from graph.answering.asking import Ask, framework
from graph.answering.fact_answer import FactAnswer, listed, say
from knowledge.cluster import Cluster, EnvironmentFact, Software

VARIABLE = re.compile(r"(?<![\w$])\$?([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?!\w)")
FABRIC = ("NCCL", "RCCL", "CCL", "FI_", "UCX", "MPICH")
SET_BY_US = {
    "always": "; the scripts here set it",
    "multi_node": "; the scripts here set it on several nodes",
    "advice": "",
}
# A container tool -> what its name is in a site's texts. An image's address may hold the word docker.
TOOLS = {
    "docker": r"\bdocker (?:run|pull|is|works)",
    "singularity": r"singularity|apptainer",
    "apptainer": r"singularity|apptainer",
    "podman": "podman",
    "shifter": "shifter",
    "enroot": "enroot|pyxis",
}
SCHEDULERS = {"slurm": "Slurm", "pbs": "PBS", "lsf": "LSF", "flux": "Flux"}


def software(ask: Ask) -> FactAnswer:
    """How a job gets its Python and framework there."""
    found, title = software_of(ask), ask.cluster.title
    lines = "; ".join(found.lines)
    settings = "; ".join(f"{one.name}={one.value}" + (f" ({one.why})" if one.why else "") for one in found.settings)
    first = "; ".join(ask.cluster.preamble)
    sentences = [
        f"First of all: `{first}`" if first else "",
        f"A job on {title} loads its software with `{lines}`" if lines else f"A job on {title} loads no module",
        f"To set: {settings}" if settings else "",
        f"Programs run inside `{found.wrapper}`" if found.wrapper else "",
        f"To make the environment: {found.create.strip()}" if found.create else "",
        found.note or "",
    ]
    return say(ask.cluster, sentences, [found.source])


def software_of(ask: Ask) -> Software:
    """That of the nodes named, of the framework named, or the usual one."""
    for node in ask.node_types:
        if node.software:
            return node.software
    wanted = framework(ask.text) or "pytorch"
    named = {str(name): found for name, found in ask.cluster.software.items()}
    return named.get(wanted) or named["default"]


def variable(ask: Ask) -> FactAnswer | None:
    """One environment variable that is named."""
    names = VARIABLE.findall(ask.raw)
    if {"MASTER_ADDR", "MASTER_PORT"} & set(names):
        return rendezvous(ask)
    facts = [fact for fact in ask.cluster.environment if fact.name in names]
    if not facts:
        return None
    return say(ask.cluster, [one_variable(fact, ask.cluster) for fact in facts], [fact.source for fact in facts])


def one_variable(fact: EnvironmentFact, cluster: Cluster) -> str:
    when = f" ({fact.when})" if fact.when else ""
    why = f". {fact.why[0].upper()}{fact.why[1:]}" if fact.why else ""
    return f"On {cluster.title}: {fact.name}={fact.value}{when}{SET_BY_US[fact.apply]}{why}"


def variables(ask: Ask) -> FactAnswer | None:
    """Those that scripts set, and those that are advice; of the fabric only, where NCCL is asked for."""
    facts = [fact for fact in ask.cluster.environment if "nccl" not in ask.text or fact.name.startswith(FABRIC)]
    ours = [f"{fact.name}={fact.value}" for fact in facts if fact.apply != "advice"]
    rest = [fact for fact in facts if fact.apply == "advice"]
    advice = [f"{fact.name}={fact.value}" + (f" ({fact.when})" if fact.when else "") for fact in rest[:8]]
    title = ask.cluster.title
    sentences = [
        f"Variables that the scripts for {title} set: {'; '.join(ours)}" if ours else "",
        f"Advice for {title}, where it applies: {'; '.join(advice)}" if advice else "",
    ]
    return say(ask.cluster, sentences, [fact.source for fact in facts]) if facts else None


def rendezvous(ask: Ask) -> FactAnswer:
    fact = ask.cluster.rendezvous
    lines = f"`MASTER_ADDR={fact.host}` and `MASTER_PORT={fact.port}`"
    return say(ask.cluster, [f"On {ask.cluster.title}, in the batch script: {lines}", fact.note or ""], [fact.source])


def internet(ask: Ask) -> FactAnswer:
    """Whether compute nodes reach the internet, and through which proxy."""
    fact, nodes = ask.cluster.internet, f"ompute nodes of {ask.cluster.title}"
    opening = {
        "yes": f"C{nodes} reach the internet, with no proxy",
        "no": f"C{nodes} have no internet",
        "proxy": f"C{nodes} reach the internet only through a proxy",
        "unknown": f"Whether c{nodes} reach the internet is not known",
    }[fact.access]
    exports = [f"export {name}={value}" for name, value in fact.proxy.items()]
    code = f"In the job: `{'; '.join(exports)}`" if exports else ""
    return say(ask.cluster, [opening, code, fact.note or ""], [fact.source])


def containers(ask: Ask) -> FactAnswer | None:
    """The site's ways, after a no to a tool that is asked for and is none of them."""
    texts, title = "; ".join(ask.cluster.containers), ask.cluster.title
    if not texts:
        return None
    missing = [tool for tool in TOOLS if tool in ask.text and not re.search(TOOLS[tool], texts, re.I)]
    no = f"No: {listed(missing, 'or')} is not among the ways of {title} to run a container" if missing else ""
    root = "Docker needs rights that users of a shared machine do not have; its images run there by another tool"
    return say(ask.cluster, [no, root if "docker" in missing else "", f"Containers on {title}: {texts}"])


def filesystems(ask: Ask) -> FactAnswer | None:
    """The areas named, or all of them."""
    areas = dict(ask.cluster.filesystems)
    note = areas.pop("note", "")
    named = {
        key: area for key, area in areas.items() if any(word in ask.text for word in re.findall(r"[a-z]{4,}", key))
    }
    rows = [f"{key}: {area}" for key, area in (named or areas).items()]
    return say(ask.cluster, [f"File systems of {ask.cluster.title}: {'; '.join(rows)}", note]) if rows else None


def scheduler(ask: Ask) -> FactAnswer:
    cluster = ask.cluster
    how = f"{cluster.submit}{' <' if cluster.submit == 'bsub' else ''} SCRIPT"
    return say(cluster, [f"{cluster.title} runs {SCHEDULERS[cluster.scheduler]}; a script is submitted with `{how}`"])


def documentation(ask: Ask) -> FactAnswer | None:
    docs = ask.cluster.docs
    return say(ask.cluster, [f"The site's pages on {ask.cluster.title} are the source below"], [docs]) if docs else None


def site(ask: Ask) -> FactAnswer:
    cluster = ask.cluster
    programmes = f"Programmes: {listed(cluster.programmes)}" if cluster.programmes else ""
    return say(cluster, [f"{cluster.title} is at {cluster.site}", programmes, cluster.status or ""])
