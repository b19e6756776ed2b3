"""Jobs of training tools: the launch that each takes, its counts, and what has to agree with its configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graph.planning.programs import edited, place
from knowledge.job_parts import ArgumentEdit
from knowledge.training_tools import OPEN_MODEL, STANDS_OPEN, TrainingTool, named, tool_of
from knowledge.types import Alternative, Assumption, Framework, JobRequest, LaunchPlan, Refusal, Strategy

BY_ITSELF = "{} takes {} from its configuration, not from the launch: set it there."
NO_STAGE = (
    "DeepSpeed was named without its stage: say *zero2* or *zero3*, and its file is written; until then it is DDP."
)
OF_CONFIG = ("fsdp", "zero1", "zero2", "zero3", "tp", "pp", "3d", "deepspeed")
IN_ITS_CONFIG = "{}: set it in the configuration or the arguments of {}; the launch does not carry it."
# What an open word of a tool's command is.
OPEN = {
    "CONFIG": "not said; put the name of your configuration of {} here, or tell me",
    OPEN_MODEL.removeprefix("YOUR_"): "put its name on the hub, ORGANISATION/NAME, or its folder here",
}
OPEN_ELSE = "not said; {} needs it, put yours here"


def tool_style(request: JobRequest, tool: TrainingTool) -> tuple[Framework, Strategy]:
    """The launch that a tool takes; no strategy where its configuration says how the model is spread."""
    framework = next((one for one in tool.frameworks if one == request.framework), tool.frameworks[0])
    ours = tool.spread == "launcher" and framework == "accelerate"
    return framework, (request.strategy if ours and request.strategy in OURS else None) or "none"


# What Accelerate's file can say.
OURS: tuple[Strategy, ...] = ("ddp", "fsdp", "zero1", "zero2", "zero3")


def with_tools_gpus(request: JobRequest) -> JobRequest:
    """The request with the GPUs a node that its tool usually takes, where nobody said."""
    tool = tool_of(request)
    if tool is None or tool.gpus is None or request.gpus_per_node or request.total_gpus:
        return request
    return replace(request, gpus_per_node=tool.gpus)


def on_one_node(request: JobRequest, nodes: int) -> Refusal | None:
    """A tool that is started on one node alone, and was ordered on several."""
    tool = tool_of(request)
    if tool is None or not tool.one_node or nodes == 1:
        return None
    ways = (Alternative("1 node", (("nodes", 1), ("total_gpus", None))),)
    return Refusal(f"{tool.title} is started on one node.", f"{tool.one_node}.", tool.source, ways)


def tool_counts(decided: LaunchPlan, request: JobRequest) -> list[ArgumentEdit]:
    """The job's sizes as the tool's arguments, which follow every change of them."""
    tool = tool_of(request)
    changed = {one.name for one in request.argument_edits}
    counts = tool.counts.items() if tool else ()
    return [ArgumentEdit("set", name, filled(text, decided)) for name, text in counts if name not in changed]


def tool_args(args: tuple[str, ...], request: JobRequest) -> tuple[str, ...]:
    """A program's arguments after the changes of them; a new one as NAME=VALUE where its tool takes it so."""
    tool = tool_of(request)
    for edit in request.argument_edits:
        new = edit.name and edit.kind != "remove" and place(args, edit.name) is None
        if tool and tool.assigns and new:
            edit = ArgumentEdit("add", "", f"{edit.name.lstrip('-')}={edit.value or 'true'}")
        args = edited(args, (edit,))
    return args


def in_its_configuration(decided: LaunchPlan, request: JobRequest, names: Sequence[str]) -> LaunchPlan:
    """The plan that tells which of the values that were said only the tool's own configuration can take."""
    tool = tool_of(request)
    if tool is None or not names:
        return decided
    said = ", ".join(f"{name.replace('_', ' ')} {plain(getattr(request, name))}".strip() for name in names)
    return replace(decided, notes=(*decided.notes, IN_ITS_CONFIG.format(said, tool.title)))


def plain(value: object) -> str:
    return "" if value is True else str(value)


def filled(text: str, decided: LaunchPlan) -> str:
    devices = ",".join(map(str, range(decided.ranks_per_node)))
    return text.format(nodes=decided.nodes, gpus=decided.ranks_per_node, ranks=decided.ranks, devices=devices)


def with_tool_told(decided: LaunchPlan, request: JobRequest) -> LaunchPlan:
    """The plan with what is taken of the tool's command, and what has to agree with it."""
    tool = tool_of(request)
    if tool is None:
        return decided
    own: tuple[Assumption, ...] = ()
    brings = not STANDS_OPEN.match(tool.program)
    if brings and any(one.field == "entry" and named(tool.names, one.words) for one in request.heard):
        command = ("-m " if decided.entry_kind == "module" else "") + decided.entry
        own = (Assumption("entry", command, f"{tool.title}'s own command", tool.source),)
    if with_tools_gpus(request) != request:
        own = (*own, Assumption("gpus_per_node", str(tool.gpus), f"what {tool.title} usually takes", tool.source))
    kept = tuple(one for one in decided.assumptions if one.field != "entry")
    notes = tuple(filled(one, decided) for one in tool.notes)
    return replace(
        decided,
        assumptions=(*kept, *own, *open_words(decided, tool)),
        notes=(*decided.notes, *notes, *told_spread(decided, request, tool), *environment(request, tool)),
    )


def open_words(decided: LaunchPlan, tool: TrainingTool) -> tuple[Assumption, ...]:
    """The words of the command that nobody said."""
    words = (found for word in (decided.entry, *decided.args) for found in STANDS_OPEN.findall(word))
    return tuple(Assumption(name_of(word), word, why_open(word, tool)) for word in dict.fromkeys(words))


def name_of(word: str) -> str:
    return word.removeprefix("YOUR_").partition(".")[0].partition("/")[0].lower()


def why_open(word: str, tool: TrainingTool) -> str:
    return OPEN.get(name_of(word).upper(), OPEN_ELSE).format(tool.title)


def told_spread(decided: LaunchPlan, request: JobRequest, tool: TrainingTool) -> tuple[str, ...]:
    """A strategy or framework that was said and that the launch of the tool does not carry."""
    if request.strategy == decided.strategy != "none":
        return ()
    if tool.spread == "launcher" and request.framework == "deepspeed":
        return (NO_STAGE,)
    said = [one for one in (request.strategy, request.framework) if one in OF_CONFIG]
    return (BY_ITSELF.format(tool.title, " and ".join(f"*{one}*" for one in said)),) if said else ()


def environment(request: JobRequest, tool: TrainingTool) -> tuple[str, ...]:
    """What has to be installed, where no environment of the person's was named."""
    if request.environment or request.container:
        return ()
    return (f"Needed for {tool.title}: {tool.needs}. Say which environment or image has that.",)
