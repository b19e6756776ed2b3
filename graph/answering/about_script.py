"""Questions about the script that stands: `why 4 tasks a node?`, `what does this line do?`, `is that 2 nodes or 4?`"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.answering.fact_answer import FactAnswer, as_sentence
from graph.answering.script_lines import of_lines
from graph.planning.queues import plural
from knowledge.types import Assumption, JobRequest, LaunchBundle, LaunchPlan

WHY = re.compile(
    r"^\W*(?:(?:ok|but|and|so|hm+|wait)\W+)*(?:why(?!\s+not\b)|how come|what(?:'s| is) the (?:reason|point)"
    r"|what .{1,60} for)\b",
    re.I,
)
WHAT = re.compile(
    r"\bwhat(?:'s| is| are| do| does| did)?\b.{0,200}\b(?:do|does|for|mean\w*|here|line|about|script)\b"
    r"|\bexplain\b|\bline \d+\b"
    r"|\bmeaning of\b|\bwhat(?:'s| is| are) (?:the |that |this |these )?(?:[`\"'$-]|\w+[-_]\w)",
    re.I,
)
COUNTS = re.compile(
    r"\b(?:is|are) (?:that|this|it|those|these|they) (?:then |now |really |just |only )?(?:\d+|one|two|four|per|in)\b"
    r"|\bdoes (?:that|this|it|the script|the job) (?:use|take|run|ask|start|have|need)\b"
    r"|\b(?:in total|altogether|in all|world size)\b"
    r"|^\W*how many (?:ranks|tasks|processes|workers|gpus|nodes)\W*$"
    r"|\bhow many .{0,30}\b(?:this|that|it|script|job|total|i get|we get|i have|do i)\b",
    re.I,
)
LAYOUT = re.compile(
    r"(?<![-\w])(?:tasks?|ranks?|process(?:es)?|workers?|devices?|gpus?|cards?|gcds?|tiles?|nodes?"
    r"|world size)(?![-\w])",
    re.I,
)
OF_MACHINE = re.compile(r"\b(?:per|a|each|every|one) (?:\w+ )?node\b|\bnodes? (?:have|has)\b", re.I)
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z]")
# Words of a question -> the field of an assumption that answers it.
FIELDS = (
    (r"\b(?:tensor|pipeline|tp|pp|stages?)\b", "parallel sizes"),
    (r"\b(?:queue|partition|qos)\b", "queue"),
    (r"\b(?:walltime|wall time|time limit|hours?|minutes?|\d\d:\d\d)\b", "walltime"),
    (r"\b(?:account|project|bank)\b", "account"),
    (r"\b(?:kind of nodes?|node type|which nodes?)\b", "node type"),
    (r"\b(?:framework|pytorch|deepspeed)\b", "framework"),
    (r"\b(?:strategy|ddp|fsdp|zero[- ]?\d)\b", "strategy"),
    (r"\b(?:program|train\.py|entry)\b", "entry"),
)
ORIGIN = {"said": "your words", "answer": "your answer", "script": "your script"}


def about_script(
    question: str, request: JobRequest, plan: LaunchPlan | None, bundle: LaunchBundle | None
) -> FactAnswer | None:
    """What the plan and the script's own lines say to each of its sentences; None where it is about something else."""
    if plan is None or bundle is None:
        return None
    parts = [part for part in re.split(r"(?<=\?)\s+", question) if WHY.search(part)]
    asked = parts if len(parts) > 1 else [question]
    found = {part: of_part(part, request, plan, bundle) for part in asked}
    told = list(dict.fromkeys(one for says in found.values() for one in says))
    if told:
        told += [f"To *{part.strip(' ?')}* I find nothing in the script" for part, says in found.items() if not says]
    return FactAnswer(" ".join(map(as_sentence, told)), (f"the script {bundle.name}",), "") if told else None


def of_part(question: str, request: JobRequest, plan: LaunchPlan, bundle: LaunchBundle) -> list[str]:
    """What is said to one sentence: who chose it, the layout, or the lines meant."""
    why, what = WHY.search(question), WHAT.search(question)
    counts = COUNTS.search(question) and not OF_MACHINE.search(question)
    told = reasons(question, request, plan.assumptions) if why else []
    numbers = {int(number) for number in re.findall(r"(?<![\w.:-])\d{1,5}\b", question)}
    of_layout = LAYOUT.search(question) or numbers & {plan.nodes, plan.ranks_per_node, plan.ranks}
    if not told and (why or counts) and of_layout and not OPTION.search(question):
        told = [layout(plan)]
    if not told and (why or what):
        told = of_lines(question, bundle.script)
    return told


def layout(plan: LaunchPlan) -> str:
    """How many nodes and ranks, and who starts them."""
    whole = f"{plural(plan.nodes, 'node')} x {plural(plan.ranks_per_node, 'rank')} = {plan.ranks} ranks in all"
    launcher = "The script" if plan.launch.launcher == "none" else f"`{plan.launch.launcher}`"
    if plan.launch.workers == "ranks":
        how = f"{launcher} starts each rank as a task of its own"
    else:
        how = f"{launcher} starts one task a node, `{plan.launch.workers}`, which starts the ranks there"
    chosen = [
        f"{one.field} {one.value}: {one.why}" for one in plan.assumptions if one.field in ("nodes", "gpus_per_node")
    ]
    return ". ".join((f"The script has {whole} ({plan.counting})", how, *chosen))


def reasons(question: str, request: JobRequest, assumptions: Sequence[Assumption]) -> list[str]:
    """Who chose it: the person, or we and why."""
    fields = {field for pattern, field in FIELDS if re.search(pattern, question, re.I)}
    words = {word.lower() for word in re.findall(r"[\w.:-]{3,}", question)}
    ours = [one for one in assumptions if one.field in fields or one.value.lower() in words]
    said = [one for one in request.heard if one.field in fields and not any(one.field == a.field for a in ours)]
    return [
        *(f"I took {one.field} {one.value}: {one.why}" for one in ours),
        *(f"The {one.field} comes from {ORIGIN[one.origin]}: *{one.words}*" for one in said),
    ]
