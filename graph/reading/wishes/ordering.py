"""An order as its tagged words read: each tagged value as an edit, and what follows from the edits.

graph/extraction/request.py puts it together with what the other readers find: where a word is tagged the tag counts,
where none is, they do. Of 541 annotated changes and 519 first requests that no reader had seen, the fields that came
out right rose so from 378 to 451 and from 3,084 to 3,571, those that nobody had asked for from 734 to 794.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from graph.extraction.sentences.choose import IMPLIED
from graph.extraction.sentences.durations import hms
from graph.reading.account import DIRECTIVE
from graph.reading.edits import Add, Edit, Set, apply_edits
from graph.reading.mentions import find_mentions
from graph.reading.parts import AT_LIMIT
from graph.reading.request_edits import edits_by_rules
from graph.reading.wishes.tagger import Span
from graph.reading.wishes.taking import fields_of, meant_spans, meant_wishes, orders_of, pieces
from graph.reading.wishes.values import ENVIRONMENTS, WATCHES, Meant, duration, number
from knowledge.job_parts import LimitSignal, Program
from knowledge.types import Heard, JobRequest
from knowledge.word_lists import word_set

# How sure it must be that the whole is an order, and of a span that it is meant.
ORDERED, LEAST, LEAST_OF_FIRST = 0.9, 0.3, 0.5
# Of a first message sizes stand in many ways, and any name may be an account.
LEAST_OF_NAMES = {"account": 0.9, "nodes": 0.8, "gpus_per_node": 0.8}
# Any number of a change may be a size by its look; what is taken away by mistake is not seen.
COUNTS = word_set("nodes gpus_per_node walltime tp pp cp spare_nodes queue chain")
LEAST_OF_CHANGE, GONE = dict.fromkeys(COUNTS, 0.6), 0.6
# Fields whose words are kept.
HEARD = word_set("walltime queue account environment container")
# Slots that only tell; slots whose value another one's edit takes.
TOLD = word_set("was given deadline show resume comment")
PARTNERS: Mapping[str, tuple[str, ...]] = {
    "arg_value": ("arg_name",),
    "var_value": ("var_name", "nccl_debug"),
    "sweep_value": ("sweep_name", "arg"),
    "module_version": ("module",),
    "sweep_name": ("sweep_files",),
    "copy_out": ("copy_out",),
    "joined_output": ("output", "error_output"),
}
# Words of a message that name no thing themselves, and how sure a tag must be there.
BARE, SURE_ALONE = 3, 0.6
# Sizes that a further program may have of its own.
OWN_SIZES = word_set("nodes gpus_per_node total_gpus walltime port given")
OF_THE_JOB = re.compile(
    r"(?i)\b(?:the|this|whole) (?:job|training|run|script)\b|\b(?:walltime|time limit)\b|[,;]\s|\band\b"
)
# An option with its value; how sure a list must be to take the place of all arguments.
ONE_OPTION, SURE_OF_ALL = re.compile(r"--?[A-Za-z][\w.-]*(?:[= ](?!-)\S+)?"), 0.8
# Fields that one word switches, in which the table of parts reads little that is not meant.
SWITCHES = word_set("requeue exclusive offline stage_environment modules_only")
OF_UNIT = {"node": "nodes", "gpu": "gpus_per_node"}
SERVED = word_set("vllm")


# A job on another machine and a job anew are no changes of what stands: their readers know what goes along.
ELSEWHERE = word_set("machine source_machine reset undo redo")
# Fields of further programs, of which frames read sizes and order too.
PROGRAMS = word_set("then beside")


@dataclass(frozen=True, slots=True)
class TaggedOrder:
    """edits in the order of the text, request with them; open: spans that no edit came of."""

    edits: tuple[Edit, ...]
    request: JobRequest
    meant: tuple[Meant, ...]
    open: tuple[Span, ...]


def read_order(text: str, before: JobRequest | None) -> TaggedOrder | None:
    """What the tagger reads of a message that surely orders something; None where it orders nothing of a request.

    before: the job that stands, or None of a first message. Pure.
    """
    stands = before not in (None, JobRequest())
    wishes = orders_of(text, stands, ORDERED)
    if wishes is None:
        return None
    was = before or JobRequest()
    if "\n" in text and DIRECTIVE.search(text):
        return None  # lines of a script, for who reads those
    least = LEAST_OF_CHANGE if stands else LEAST_OF_NAMES
    spans = meant_spans(text, wishes, lambda slot: least.get(slot, LEAST if stands else LEAST_OF_FIRST))
    spans = [one for one in spans if (stands or one.slot != "make_folder") and (one.sign != "-" or one.sure >= GONE)]
    if stands and any(one.slot in ELSEWHERE or one.text.lower() in SERVED for one in spans):
        return None
    spans = [part for one in spans for part in (single_options(text, one) if stands else (one,))]
    if len(text.split()) <= BARE and all(one.sure < SURE_ALONE for one in spans):
        return None  # `make it 16`: what was spoken of before says of what
    programs = programs_of(text, was) if stands else ()
    spans = [one for one in spans if not any(is_of_program(text, one, *program) for program in programs)]
    meant = with_sizes(text, meant_wishes(text, wishes, spans, was))
    edits = (*(edit for *_, edit in programs), *(edit for one in meant for edit in one.edits))
    unplaced = [one.span for one in meant if not one.edits and not stands_beside(one.span, meant)]
    ruled = ruled_edits(text, was, unplaced, fields_of(edits)) if unplaced and stands else {}
    edits = (*edits, *ruled.values())
    edits = (*edits, *switches(text, was, spans, fields_of(edits))) if stands else edits
    request = followed_up(apply_edits(was, edits).request, was)
    request, unplaced = with_kind(request, [one for one in unplaced if one not in ruled])
    if request.requeue and not (was.requeue or request.signal) and AT_LIMIT.search(text):
        request = replace(request, signal=LimitSignal())
    request = with_heard(request, was, edits)
    return TaggedOrder(edits, request, tuple(meant), tuple(unplaced)) if edits else None


def single_options(text: str, span: Span) -> tuple[Span, ...]:
    """A list of arguments as options one by one, but where it surely is the whole new list."""
    found = list(ONE_OPTION.finditer(span.text)) if span.slot == "args" else []
    if not found or (len(found) > 1 and span.sure >= SURE_OF_ALL):
        return (span,)
    at = span.start
    return tuple(
        replace(span, start=at + one.start(), end=at + one.end(), text=one[0], slot="arg", sign="") for one in found
    )


def stands_beside(span: Span, meant: Sequence[Meant]) -> bool:
    """Whether a span only belongs to another one's value: an old value, or one that its name's edit has taken."""
    if span.slot in TOLD:
        return True
    names, at = PARTNERS.get(span.slot, ()), next(i for i, one in enumerate(meant) if one.span == span)
    near = meant[max(0, at - 2) : at + 3] if span.slot in ("arg_value", "var_value") else meant
    return any(one.edits and one.span.slot in names and named_by(one, span) for one in near)


def named_by(one: Meant, span: Span) -> bool:
    """Whether an edit holds a value that is tagged beside its name."""
    if span.slot not in ("arg_value", "var_value"):
        return True
    return any(span.text.strip("\"'`") in str(getattr(edit, "value", "")) for edit in one.edits)


def ruled_edits(
    text: str, before: JobRequest, unplaced: Sequence[Span], changed: Collection[str]
) -> Mapping[Span, Edit]:
    """What the table of parts reads of words that are tagged, but of which no value came."""
    out = dict[Span, Edit]()
    for edit in edits_by_rules(text, before).edits:
        words = getattr(edit, "words", "")
        start = text.find(words) if words else -1
        spans = [one for one in unplaced if start >= 0 and one.start < start + len(words) and start < one.end]
        if spans and isinstance(edit, Set | Add) and edit.field not in changed and spans[0] not in out:
            out |= dict.fromkeys(spans, edit)
    return out


def switches(text: str, before: JobRequest, spans: Sequence[Span], changed: Collection[str]) -> Iterator[Edit]:
    """What the table of parts switches on or off by words that no tag holds: `to be put back when it is killed`."""
    for edit in edits_by_rules(text, before).edits:
        if not isinstance(edit, Set) or edit.field not in SWITCHES or edit.field in changed:
            continue
        start = text.find(edit.words) if edit.words else -1
        free = not any(one.start < start + len(edit.words) and start < one.end for one in spans)
        if (free and edit.field != "modules_only") or (edit.field == "modules_only" and "modules" in changed):
            yield edit


def with_sizes(text: str, meant: Sequence[Meant]) -> list[Meant]:
    """Further programs with the sizes that are tagged as theirs: `eval.py on one node for 20 min`."""
    out = list[Meant]()
    for i, one in enumerate(meant):
        edit = one.edits[0] if len(one.edits) == 1 else None
        if isinstance(edit, Add) and isinstance(edit.value, Program):
            given = [m.span for m in meant[i + 1 :]]
            given = [*takewhile(lambda span: span.slot == "given", given)]
            end = next((a for a, b in pieces(text) if a > given[-1].end), len(text)) if given else one.span.end
            found = find_mentions(text[one.span.end : end])[1] if given else ()
            sizes: dict[str, Any] = {
                OF_UNIT[m.unit]: int(float(m.value)) for m in found if m.kind == "Quantity" and m.unit in OF_UNIT
            }
            times = [hms(float(m.value)) for m in found if m.kind == "Duration"]
            sizes |= {"walltime": times[-1]} if times else {}
            if edit.field == "then" and sizes == {"gpus_per_node": 1} and edit.value.entry.endswith(".py"):
                # One process of the batch script: it does not join the ranks that the variables tell of.
                alone = " ".join(filter(None, ("env -u WORLD_SIZE python", edit.value.entry, edit.value.args)))
                one = replace(one, edits=(Add("after", alone, edit.words),))
            elif sizes:
                one = replace(one, edits=(replace(edit, value=replace(edit.value, **sizes)),))
        out.append(one)
    return out


def programs_of(text: str, before: JobRequest) -> tuple[tuple[int, int, Edit], ...]:
    """Further programs as the frames read them (from, to, edit), with sizes of their own."""
    from graph.reading.frames import find_frames

    found = [one for one in find_frames(text, before).edits if isinstance(one, Add) and one.field in PROGRAMS]
    found = [one for one in found if not (one.field == "beside" and WATCHES.search(one.value.entry))]
    return tuple((at, at + len(one.words), one) for one in found if one.words and (at := text.find(one.words)) >= 0)


def is_of_program(text: str, span: Span, start: int, end: int, edit: Edit) -> bool:
    """Whether a span is a further program's words, or a size that is told behind it as its own."""
    if start < span.end and span.start < end:
        return True
    program = edit.value if isinstance(edit, Add) and isinstance(edit.value, Program) else None
    if program is None or span.slot not in OWN_SIZES or span.start < end:
        return False
    own = (program.nodes, program.gpus_per_node, program.walltime, program.wait_port)
    between = text[end : span.start]
    same = re.search(r"(?i)\bjob\b", between) is None and (number(span.text) in own or duration(span.text) in own)
    return same or (re.search(r"[.;]\s", between) is None and OF_THE_JOB.search(between) is None)


def followed_up(now: JobRequest, was: JobRequest) -> JobRequest:
    """The request with what follows from its changes: of counts that exclude each other the new ones stay."""
    if now.cpu_only and not was.cpu_only:
        return replace(now, gpus_per_node=None, total_gpus=None, node_type=None)
    sized = (now.nodes, now.gpus_per_node) != (was.nodes, was.gpus_per_node)
    if now.total_gpus != was.total_gpus and now.total_gpus and not sized:
        each = now.gpus_per_node if now.total_gpus % (now.gpus_per_node or 1) == 0 else None
        now = replace(now, nodes=None if now.nodes != 1 or each else 1, gpus_per_node=each)
    elif sized and now.total_gpus == was.total_gpus:
        now = replace(now, total_gpus=None)
    if now.strategy != was.strategy and now.framework == was.framework and was.framework in (None, *IMPLIED.values()):
        brought: Any = IMPLIED.get(str(now.strategy), now.framework)
        now = replace(now, framework=brought)
    split = min(now.tensor_parallel or 1, now.pipeline_parallel or 1) > 1
    return replace(now, strategy="3d") if split and now.strategy == was.strategy else now


def with_kind(now: JobRequest, unplaced: list[Span]) -> tuple[JobRequest, list[Span]]:
    """The environment with the tool that a word beside it names: `the uv env in ~/x`."""
    kinds = [one for one in unplaced if one.slot in ENVIRONMENTS and one.text.lower() == one.slot]
    if len(kinds) != 1 or not now.environment:
        return now, unplaced
    kind: Any = kinds[0].slot
    return replace(now, environment_kind=kind), [one for one in unplaced if one not in kinds]


def with_heard(request: JobRequest, before: JobRequest, edits: Sequence[Edit]) -> JobRequest:
    """The request with the words of what changed, where these are kept."""
    told = [one for one in edits if isinstance(one, Set) and one.field in HEARD and one.words]
    new = [Heard(e.field, "said", e.words) for e in told if getattr(request, e.field) != getattr(before, e.field)]
    kept = tuple(one for one in request.heard if one.field not in {e.field for e in new} or one not in before.heard)
    return replace(request, heard=(*kept, *new)) if new else request
