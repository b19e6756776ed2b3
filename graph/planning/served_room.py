"""Whether a server's GPUs hold its model, how long a sequence they leave room for, and what else holds it there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from graph.planning.charging import amount, charge_of, is_whole
from graph.planning.programs import edited, place
from graph.planning.resources.device import Device, devices, make_device
from graph.planning.resources.limits import ON_REQUEST, takes
from graph.planning.resources.parameters import SizedModel, find_model, scale_model
from graph.planning.resources.serving import (
    RUNTIME_GIB,
    SERVED_SHARE,
    ServingEstimate,
    estimate_serving,
    fewest_gpus_to_serve,
)
from knowledge.cluster import Cluster, NodeType, Queue
from knowledge.job_parts import ArgumentEdit
from knowledge.served_models import ServingEngine, family_of, lighter_name, weights_of
from knowledge.types import Alternative, Assumption, JobRequest, LaunchPlan, Refusal

# A server needs room for one whole sequence of its longest length: a shorter one than this is of little use.
SHORTEST, USUAL_LENGTH = 2048, 8192
MOST_WAYS = 3
HELD = (
    "{0} on {1} x {2}: {3:.0f} GiB of weights on each of {4:.0f} that {5} takes ({6:g}) leave about {7:.0f} GiB for "
    "keys and values{8}."
)


def with_room(
    decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType, engine: ServingEngine, name: str
) -> LaunchPlan | Refusal:
    """The plan with the longest sequence that fits; a refusal where the weights leave room for none."""
    device, model = make_device(node, cluster), sized_model(name)
    option = engine.options["sequence_length"]
    if device is None or model is None or place(decided.args, "--cpu-offload-gb") is not None:
        return decided
    said = value_of(decided.args, option) or str(request.sequence_length or "")
    length = int(said) if said.isdigit() else None
    found = estimate(decided, device, model, name, length or SHORTEST, engine)
    if found.free <= 0 or (model.exact and not found.sequences):
        return too_large_to_serve(decided, request, cluster, device, model, name, length, engine)
    family = family_of(name)
    own = family.context if family else None
    if length and own and length > own and not any("rope" in word or "overrides" in word for word in decided.args):
        return too_long(name, length, own, engine)
    if length is None and own and model.exact and decided.serves_model:
        length = longest(decided, device, model, name, own, engine)
        if length < own:
            why = f"{engine.title} wants room for one whole sequence, and {own:,} tokens do not fit beside the weights"
            decided = replace(
                decided,
                args=edited(decided.args, (ArgumentEdit("set", option, str(length)),)),
                assumptions=(*decided.assumptions, Assumption("context", f"{length} tokens", why, engine.source)),
            )
    notes = (
        held_in_words(decided, device, model, name, length or own or USUAL_LENGTH, engine),
        *fewer_are_enough(request, decided, device, model, name, cluster),
    )
    return replace(decided, notes=(*decided.notes, *notes))


def too_long(name: str, length: int, own: int, engine: ServingEngine) -> Refusal:
    """A context beyond what the model was made for: its server does not start."""
    return Refusal(
        f"{name.rsplit('/', 1)[-1]} is made for {own:,} tokens, not {length:,}: {engine.title} ends at its start.",
        "A longer context takes the model's own RoPE scaling, if its card has any: give that as an option as well.",
        engine.source,
        (Alternative(f"context {own}, the model's own", (("sequence_length", own),)),),
    )


def longest(decided: LaunchPlan, device: Device, model: SizedModel, name: str, own: int, engine: ServingEngine) -> int:
    """The model's own length where one such sequence fits, else the largest of 2048, 4096, ... that does."""
    lengths = [own, *(1 << power for power in range(20, 10, -1) if 1 << power < own)]
    fitting = (one for one in lengths if estimate(decided, device, model, name, one, engine).sequences)
    return next(fitting, SHORTEST)


def estimate(
    decided: LaunchPlan, device: Device, model: SizedModel, name: str, length: int, engine: ServingEngine
) -> ServingEstimate:
    """The room on each GPU of the plan for sequences of that length."""
    gpus = decided.nodes * decided.ranks_per_node
    share = share_of(decided, engine)
    return estimate_serving(
        model, device.gb, gpus, length, kept_as(decided, name), each=decided.ranks_per_node, share=share
    )


def share_of(decided: LaunchPlan, engine: ServingEngine) -> float:
    """How much of a GPU's memory the server takes: its usual share, or the one that it is told."""
    told = value_of(decided.args, engine.options["share"])
    return float(told) if re.fullmatch(r"0?\.\d+|1(?:\.0)?", told) else SERVED_SHARE


def kept_as(decided: LaunchPlan, name: str) -> str:
    """How the weights are kept: by the model's name, or in 8 bits where the server makes them so."""
    kind = weights_of(name)
    return "fp8" if kind == "bf16" and value_of(decided.args, "--quantization") == "fp8" else kind


def held_in_words(
    decided: LaunchPlan, device: Device, model: SizedModel, name: str, length: int, engine: ServingEngine
) -> str:
    """`33 GiB of weights on each ... leave 12 GiB for keys and values: 5 sequences of 8,192 tokens at once`."""
    found, share = estimate(decided, device, model, name, length, engine), share_of(decided, engine)
    many = (
        f": {found.sequences:,} sequence{'s' * (found.sequences != 1)} of {length:,} tokens at once"
        if model.exact
        else ""
    )
    gpus = decided.nodes * decided.ranks_per_node
    return HELD.format(
        name.rsplit("/", 1)[-1],
        gpus,
        device.name,
        found.weights,
        share * device.gb,
        engine.title,
        share,
        found.free,
        many,
    )


def fewer_are_enough(
    request: JobRequest, decided: LaunchPlan, device: Device, model: SizedModel, name: str, cluster: Cluster
) -> tuple[str, ...]:
    """That a part of the node holds the model, where nobody said how many GPUs and the rest may be left to others."""
    least = fewest_gpus_to_serve(model, device.gb, USUAL_LENGTH, kept_as(decided, name), each=device.per_node)
    queue = cluster.queue(decided.queue)
    whole = queue is None or is_whole(queue, cluster)
    gpus = decided.nodes * decided.ranks_per_node
    if request.gpus_per_node or request.total_gpus or least is None or least >= gpus or not decided.serves_model:
        return ()
    if decided.nodes > 1:
        alone = least <= decided.ranks_per_node
        return ("One node holds it too, and needs no network between its GPUs: *1 node*.",) if alone else ()
    if whole:
        return ()
    return (f"{least} x {device.name} hold it too: *{least} gpu{'s' * (least > 1)}* takes the others off the bill.",)


def too_large_to_serve(
    decided: LaunchPlan,
    request: JobRequest,
    cluster: Cluster,
    device: Device,
    model: SizedModel,
    name: str,
    length: int | None,
    engine: ServingEngine,
) -> Refusal:
    """Weights that leave no room for keys and values on these GPUs, with what holds them on that machine."""
    found = estimate(decided, device, model, name, length or SHORTEST, engine)
    kind, share = kept_as(decided, name), share_of(decided, engine)
    gpus = decided.nodes * decided.ranks_per_node
    left = (
        f"leave no room for a sequence of {length or SHORTEST:,} tokens"
        if found.free > 0
        else "leave nothing for keys and values"
    )
    short = name.rsplit("/", 1)[-1]
    return Refusal(
        f"{short} does not fit on {gpus} x {device.name}: its weights in {kind} take {found.weights:.0f} GiB of each, "
        f"and with {RUNTIME_GIB:g} for the runtime they {left}.",
        f"{engine.title} takes {share:g} of a GPU's memory ({share * device.gb:.0f} here), and ends at its start else.",
        engine.source,
        tuple(ways_to_serve(decided, request, cluster, device, model, name, length, engine)),
    )


def ways_to_serve(
    decided: LaunchPlan,
    request: JobRequest,
    cluster: Cluster,
    present: Device,
    model: SizedModel,
    name: str,
    length: int | None,
    engine: ServingEngine,
) -> Iterator[Alternative]:
    """What holds the model: other GPUs of the machine, the cheapest first, then the same model in 4 bits."""
    kind, wanted = kept_as(decided, name), length or USUAL_LENGTH
    found: list[tuple[float, int, Alternative]] = []
    for device in devices(cluster):
        gpus = fewest_gpus_to_serve(model, device.gb, wanted, kind, each=device.per_node)
        if gpus is None or not runs_on(engine, device, cluster):
            continue
        queue = queue_for(cluster, device, gpus, decided.queue)
        if queue is None:
            continue
        nodes, each = max(device.nodes_for(gpus), queue.min_nodes), min(gpus, device.each)
        job = replace(
            request, queue=queue.id, node_type=device.node_type, nodes=nodes, gpus_per_node=each, walltime="01:00:00"
        )
        price = charge_of(job, cluster)
        unit = cluster.charge.unit if cluster.charge else ""
        says = f"{nodes} node{'s' * (nodes > 1)} with {each} x {device.name} in {queue.id}"
        says += f", {amount(price)} {unit} an hour" if price is not None else ""
        change = (
            *(("queue", queue.id), ("node_type", device.node_type), ("nodes", nodes), ("gpus_per_node", each)),
            *(("total_gpus", None), ("tensor_parallel", None), ("pipeline_parallel", None)),
        )
        found.append((price if price is not None else float("inf"), gpus, Alternative(says, change)))
    # Two kinds of node that differ in nothing told here are one way.
    cheapest = {way.says: way for _, _, way in sorted(found, key=lambda one: one[:2])}
    yield from list(cheapest.values())[:MOST_WAYS]
    lighter = lighter_name(name, "awq")
    gpus = decided.nodes * decided.ranks_per_node
    if (
        lighter
        and estimate_serving(
            model, present.gb, gpus, wanted, weights_of(lighter), each=decided.ranks_per_node
        ).sequences
    ):
        field, value = ("entry", f"{decided.framework} serve {lighter}") if decided.serves_model else ("model", lighter)
        yield Alternative(f"{lighter}, its weights in 4 bits, on the same GPUs", ((field, value),))


def runs_on(engine: ServingEngine, device: Device, cluster: Cluster) -> bool:
    """Whether the server has a build for that GPU."""
    node = cluster.node_type(device.node_type)
    return node.gpus.backend in engine.install and not any(model in node.gpus.model for model in engine.too_old)


def queue_for(cluster: Cluster, device: Device, gpus: int, usual: str) -> Queue | None:
    """A queue of usual work that takes a job on so many of these GPUs, the present one first."""
    nodes = device.nodes_for(gpus)
    there = [
        queue
        for queue in cluster.queues
        if device.node_type in queue.node_types
        and takes(queue, max(nodes, queue.min_nodes), gpus)
        and queue.purpose in ("production", "shared")
        and not ON_REQUEST.search(queue.note or "")
    ]
    return min(there, key=lambda queue: (queue.id != usual, queue.min_nodes > nodes, not queue.default), default=None)


def sized_model(name: str) -> SizedModel | None:
    """The model with its parameters; None where neither its name nor the table tells them."""
    family = family_of(name)
    if family and family.billions:
        return scale_model(family.billions, name)
    return find_model(name.rsplit("/", 1)[-1].removeprefix("Meta-"))


def value_of(args: tuple[str, ...], option: str) -> str:
    """What an option of the server is set to; empty where it is not there."""
    at = place(args, option) if option else None
    if at is None:
        return ""
    return args[at].partition("=")[2] or next(iter(args[at + 1 : at + 2]), "")
