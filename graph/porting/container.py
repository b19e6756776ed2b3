"""The container around the old program: kept where its image runs on the target, else left out with the reason."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.extraction.script import ReadScript
from graph.extraction.script_record import ScriptRecord
from graph.extraction.shell_words import plain
from graph.planning.environment import IMAGE_NAME
from graph.porting.account import PortNote
from knowledge.cluster import Cluster, NodeType
from knowledge.masking import hide
from knowledge.types import JobRequest
from knowledge.word_lists import word_set
from templates.quoting import shell_word

SQUASH_FILE = re.compile(r"\.(sqsh|sqfs)$", re.I)
BIND_OPTIONS = word_set("--bind -B --mount -v --volume -V --container-mounts")
ARM = re.compile(r"\bGrace|aarch64|\barm64", re.I)
OF_VENDOR = {"amd": re.compile(r"rocm", re.I), "intel": re.compile(r"oneapi|intel|xpu", re.I)}
# Names that every shell sets.
EVERYWHERE = word_set("PWD HOME USER")


def own_container(
    script: ReadScript, record: ScriptRecord, places: tuple[Cluster | None, Cluster], request: JobRequest
) -> tuple[JobRequest, tuple[PortNote, ...]]:
    """The request with the old script's image and its folders, and what to look at; as it was where there is none or
    another environment was asked for. places: the old machine, as far as known, and the target."""
    boxes = [layer for layer in script.layers if layer.kind == "container"]
    image = record.container or next((plain(one.operand) for one in boxes if one.operand), "")
    source, target = places
    if not image or request.container or request.environment or is_sites_own(image, source):
        return request, ()
    layers = [layer for layer in script.layers if layer.kind in ("container", "parallel")]
    options = [(name, plain(value)) for layer in layers for name, value in layer.options if value]
    flags = {name for layer in layers for name, _ in layer.options}
    why = why_not(image, flags, source, target)
    if why:
        told = [f"{name} {value}" for name, value in options if name in BIND_OPTIONS]
        started = f" It was started with {hide(', '.join(told))}." if told else ""
        left = f"Container {hide(image)} is not carried over: {why}; {target.title}'s own software is loaded instead."
        return request, (PortNote(0, left + started),)
    binds, unknown = binds_of(options, {one.name for one in script.assignments})
    known = "/" if image.startswith("/") else ""
    where = f"copy it to {target.title} and name its place there in IMAGE" if known else "it has to be had there"
    notes = [PortNote(0, f"Container {hide(image)} is kept: {where}.")]
    old = [bind for bind in binds if bind.startswith("/")]
    if old:
        notes.append(PortNote(0, f"folders bound into the container are the old machine's: {hide(', '.join(old))}."))
    if unknown:
        shown = hide(", ".join(unknown))
        notes.append(PortNote(0, f"{shown}: not bound into the container, nothing in the script sets its place."))
    return replace(request, container=image, binds=(*request.binds, *binds)), tuple(notes)


def why_not(image: str, flags: set[str], source: Cluster | None, target: Cluster) -> str:
    """Why an image cannot run on the target as it is; empty where it can, as far as can be told."""
    node = first_node(target)
    if not target.container_runtimes:
        return f"how containers run on {target.title} is not known here"
    runtime = target.container_runtimes[0].runtime
    if "$" in image:
        return "its place is put together in the script"
    made_for = vendor_of(image, flags, source)
    if made_for != node.gpus.vendor:
        return f"it is made for {made_for.upper()} GPUs, {target.title} has {node.gpus.model}"
    arm = bool(ARM.search(image)) or (source is not None and is_arm(first_node(source)))
    if arm != is_arm(node):
        return f"it is made for {'ARM' if arm else 'x86'} processors, {target.title} has others"
    if IMAGE_NAME.search(image):
        return ""
    takers = ("pyxis", "edf") if SQUASH_FILE.search(image) else ("apptainer", "singularity")
    if runtime not in takers:
        return f"{runtime} there does not read {image.rsplit('/', 1)[-1]}"
    return ""


def is_sites_own(image: str, source: Cluster | None) -> bool:
    """Whether the image is what the old machine gives everybody: its own software, as its modules are."""
    kinds = source.software.values() if source else ()
    return any(fact.value and fact.value in image for one in kinds for fact in one.settings if fact.environment)


def first_node(cluster: Cluster) -> NodeType:
    """The kind of node that jobs get there where nothing else is asked."""
    return cluster.node_type(cluster.default_queue.node_types[0])


def is_arm(node: NodeType) -> bool:
    return ARM.search(f"{node.cpu.model} {node.gpus.model}") is not None or "GH200" in (node.gpus.model or "")


def vendor_of(image: str, flags: set[str], source: Cluster | None) -> str:
    """Whose GPUs an image was made for: by its name or the flag, else by the old machine's; NVIDIA's where unknown."""
    named = next((vendor for vendor, word in OF_VENDOR.items() if word.search(image)), "")
    if named or "--rocm" in flags:
        return named or "amd"
    return first_node(source).gpus.vendor if source is not None and "--nv" not in flags else "nvidia"


def own_options(script: ReadScript, runtime: str) -> str:
    """Options of the old container that are neither folders nor the GPU's flag (`--pwd /work --env A=b`), in words."""
    alike = ("apptainer", "singularity")
    words = []
    for layer in script.layers:
        if layer.kind != "container" or layer.name not in alike or runtime not in alike:
            continue
        for name, value in layer.options:
            if name not in BIND_OPTIONS and name not in ("--nv", "--rocm", "--nvccli"):
                words += [name, shell_word(plain(value))] if value else [name]
    return " ".join(words)


def binds_of(options: list[tuple[str, str]], own: set[str]) -> tuple[list[str], list[str]]:
    """The folders that were bound, and those whose place only the old site knew. own: names that the script sets."""
    words = [one.strip("\"'") for name, value in options if name in BIND_OPTIONS for one in value.split(",")]
    paths = [one for one in dict.fromkeys(words) if re.match(r"[/$~.]", one)]
    known = EVERYWHERE | own
    unknown = [one for one in paths if set(re.findall(r"\$\{?(\w+)", one)) - known or re.search(r"[`(]", one)]
    return [one for one in paths if one not in unknown], unknown
