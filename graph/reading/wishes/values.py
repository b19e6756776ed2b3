"""From tagged words to edits of a request: the one table of what each slot's words become.

A value that its reader refuses makes no edit; its words are handed back as left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, get_args

from graph.extraction.sentences.durations import find_durations, hms
from graph.extraction.sentences.line import NUMBER, make_line
from graph.reading.argument_edits import known_arguments, new_name, spelling
from graph.reading.edits import Add, Edit, Remove, Scale, Set, apply_edits
from graph.reading.frame import NO_NAME
from graph.reading.mentions import find_mentions
from graph.reading.parts import offline_edits, one_a_task
from graph.reading.wishes.tagger import Span
from knowledge.job_parts import (
    ArgumentEdit,
    ArrayAxis,
    ContainerRuntime,
    Dependency,
    JobArray,
    LimitSignal,
    Mail,
    Program,
    Starter,
)
from knowledge.types import Heard, JobRequest, Variable
from knowledge.word_lists import in_order

Value = Callable[[str, JobRequest], Any]
Built = Sequence[Edit]

FILE = re.compile(r"[\w.$@{}~/+%=*-]*[\w}*/%]")
NO_COMMAND = re.compile(r"(?i)(?:to|the|a|an|my|of|on|in|for|with|it)\b")
ALL_EVENTS = re.compile(r"(?i)\b(?:all|any|every|alle[ns]?|jede\w*|tou[st]\w*|tod[oa]s|tutt[ie])\b")
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
SIZE = re.compile(r"(\d+(?:[.,]\d+)?)\s*-?(g|t|m)", re.I)
RANGE = re.compile(r"(\d{1,6})\s*(?:-|to|\.\.+|bis|until|through|a|\u2013)\s*(\d{1,6})(?:\s*%\s*(\d+))?", re.I)
MOST_VALUES = 1000  # of an argument, one a task
HOST = re.compile(r"[A-Za-z][\w-]*\d[\w.-]*(?:\[[\d,-]+\])?")
JOB = re.compile(r"\d{3,}(?:_\d+|\[\d*\])?(?:\.[a-z][\w-]*)*|[f\u0192](?=\w*\d)\w{5,12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?|now\+\d+\w+|\d{1,2}:\d\d")
MODULE = re.compile(r"[A-Za-z][\w+-]*(?:/[\w.+-]*\w)?")
VERSION = re.compile(r"v?\d[\w.+-]*")
OPTION = re.compile(r"(?P<name>--?[A-Za-z][\w.-]*|\+{0,2}[A-Za-z_][\w.]*(?==))(?:[= ]\s*(?P<value>\S.*))?", re.S)
IMAGE = re.compile(r"\S*(?:[:#]\S+|\.(?:sif|sqsh|simg|toml|img|def)|/\S+)")
TOGETHER = re.compile(r"(?i)\b(?:combin\w*|join\w*|merg\w*|together|zusammen\w*|ensemble|juntos|insieme)\b")
APART = re.compile(r"(?i)\b(?:separate\w*|apart|own|two|getrennt\w*|eigene\w*|s[ée]par\w*|aparte|sep)\b")
SIGNAL = re.compile(r"\b(?:SIG)?(USR1|USR2|TERM|INT|HUP|CONT)\b", re.I)
# The same outside of a tagged value, where `in the long term` is no signal.
SURELY_SIGNAL = re.compile(r"\b(?:SIG|(?=USR))(USR1|USR2|TERM|INT|HUP|CONT)\b", re.I)
ONE_A_NODE = re.compile(
    r"\b(?:one|1|single|ein\w*|un\w*) (?:\S+ )?(?:pro[cz]\w*|task\w*|tarea|t[âa]che|rank\w*) "
    r"(?:per|a|each|on each|pro|par|por|auf jedem) (?:n\w+|knoten)",
    re.I,
)
WATCHES = re.compile(r"monitor|watch|meter|usage|stats|sampler|power|logger", re.I)
PRECISIONS = {"bf": "bf16", "bfloat": "bf16", "brain": "bf16", "fp8": "fp8", "fp16": "fp16", "half": "fp16"}
PRECISIONS |= {"float16": "fp16", "fp32": "fp32", "full": "fp32", "float32": "fp32", "single": "fp32"}
ONE = re.compile(
    r"(?i)(?:(?:a|an|une?|una|ein\w*|uma?|een|één|just|only)\s+)?(?:one|single|un[eao]?|sol[oa]|seule?|ein\w*|uma?|só|[úu]nic[oa]"
    r"|één|een|enkele?|jed\w*|од\w+)(?:\s+(?:single|sol[oa]|seule?|einzig\w*|só|[úu]nic[oa]|enkele?))?"
)
FACTOR_WORDS = (
    (r"half|halv|h\u00e4lfte|halb|moiti\u00e9|mitad|met\u00e0|metade|dimezz|dividi\w* par 2|/ ?2", 0.5),
    (r"triple|three ?(?:times|fold)|thrice|dreifach|tripl\w*", 3.0),
    (r"quadrupl\w*|four ?(?:times|fold)", 4.0),
    (r"doubl\w*|twice|verdopp\w*|doppelt\w*|dobl\w*|dobr\w*|raddopp\w*|doppi\w*|two ?fold|x ?2|2 ?x|two times", 2.0),
    (r"third", 1 / 3),
    (r"quarter", 0.25),
)


def number(words: str, request: JobRequest | None = None) -> int | None:
    """A whole number in digits or words of any language known here; None where there is none or more than one."""
    found = [token.key for token in make_line(words, []).tokens if NUMBER.fullmatch(token.key)]
    scaled = re.fullmatch(r"(\d+(?:\.\d+)?)\s?([kKmM])", words.strip())
    if scaled:
        return round(float(scaled[1]) * (1024 if scaled[2] in "kK" else 1e6))
    if not found and (grouped := re.fullmatch(r"\d{1,3}(?:[., ]\d{3})+", words.strip())):
        return int(re.sub(r"\D", "", grouped[0]))
    whole = [one for one in found if float(one).is_integer() and float(one) >= 0]
    if not found and ONE.fullmatch(words.strip()):
        return 1
    return int(float(whole[0])) if len(found) == len(whole) == 1 else None


def duration(words: str, request: JobRequest | None = None) -> str | None:
    """HH:MM:SS; a number alone is hours as a request reads it."""
    plain = re.sub(r"\b(?:more|less|extra|longer|another|additional|further)\b", " ", words, flags=re.I)
    shaped = [float(one.value) for one in find_mentions(plain)[1] if one.kind == "Duration"]
    found = shaped or [one.seconds for one in find_durations(make_line(plain, []))]
    return hms(found[0]) if found else None


def mentioned(*kinds: str) -> Value:
    """What the recognisers call it."""

    def read(words: str, request: JobRequest) -> str | None:
        found = [m for m in find_mentions(words)[1] if m.kind in kinds]
        return str(found[0].value) if found else None

    return read


def fitting(form: re.Pattern[str]) -> Value:
    """The words themselves where they have the form, and are no small word."""

    def read(words: str, request: JobRequest) -> str | None:
        plain = words.strip("\"'`.,;!? ")
        return plain if form.fullmatch(plain) and not NO_NAME.fullmatch(plain) else None

    return read


def gigabytes(words: str, request: JobRequest) -> int | None:
    """Memory in GB; 0 for all of it."""
    found = SIZE.search(words)
    if found is None:
        return 0 if re.search(r"\b(?:all|whole|full|entire|everything)\b", words, re.I) else None
    share = {"g": 1.0, "t": 1024.0, "m": 1 / 1024}[found[2].lower()]
    return max(1, round(float(found[1].replace(",", ".")) * share))


def model(words: str, request: JobRequest) -> str | None:
    """A model by its usual name, else as it was written."""
    found = mentioned("Model")(words, request)
    return found if found else None


def precision(words: str, request: JobRequest) -> str | None:
    """bf16, fp16, fp8 or fp32."""
    said = words.lower().replace("-", "").replace(" ", "")
    return next((name for start, name in PRECISIONS.items() if start in said), None)


def one_of(names: Sequence[str]) -> Value:
    return lambda words, request: next(
        (one for one in names if re.search(rf"\b{re.escape(one)}\b", words.lower())), None
    )


def queue(words: str, request: JobRequest) -> str | None:
    """A queue as it is written; words about queues in general name none."""
    name = fitting(re.compile(r"[A-Za-z][\w.:@-]{0,60}"))(words, request)
    if name and mentioned("Machine")(name, request):
        return None
    return None if name and name.lower() in ("queue", "partition", "qos", "default", "gpu queue") else name


# Slot -> field and reader, where one value fills one field.
SINGLE: Mapping[str, tuple[str, Value]] = {
    "machine": ("machine", mentioned("Machine")),
    "source_machine": ("source_machine", mentioned("Machine")),
    "nodes": ("nodes", number),
    "gpus_per_node": ("gpus_per_node", number),
    "total_gpus": ("total_gpus", number),
    "walltime": ("walltime", duration),
    "queue": ("queue", queue),
    "account": ("account", fitting(re.compile(r"[\w][\w.:/-]{1,60}"))),
    "framework": ("framework", mentioned("Framework")),
    "strategy": ("strategy", mentioned("Method")),
    "model": ("model", model),
    "entry": ("entry", fitting(re.compile(r"[\w.$@{}~/+-]+\.(?:py|sh|jl|ipynb)"))),
    "job_name": ("job_name", fitting(re.compile(r"[A-Za-z0-9][\w.+-]{0,60}"))),
    "memory": ("memory_gb", gigabytes),
    "cpus": ("cpus_per_task", number),
    "tasks_per_node": ("processes_per_node", number),
    "reservation": ("reservation", fitting(re.compile(r"[A-Za-z][\w.-]{1,60}"))),
    "constraint": ("constraint", fitting(re.compile(r"[A-Za-z][\w&|.-]{0,60}"))),
    "begin": ("begin", fitting(MOMENT)),
    "chain": ("chain", number),
    "container_runtime": ("container_runtime", one_of(get_args(ContainerRuntime))),
    "launcher": ("launcher", one_of(get_args(Starter))),
    "port": ("port", number),
    "spare_nodes": ("spare_nodes", number),
    "least_nodes": ("least_nodes", number),
    "tp": ("tensor_parallel", number),
    "pp": ("pipeline_parallel", number),
    "cp": ("context_parallel", number),
    "micro_batch": ("micro_batch", number),
    "global_batch": ("global_batch", number),
    "grad_acc": ("gradient_accumulation", number),
    "precision": ("precision", precision),
    "seq_len": ("sequence_length", number),
    "framework_config": ("config_file", fitting(re.compile(r"[\w.$@{}~/+-]+\.(?:ya?ml|json)"))),
    "edf": ("container", fitting(IMAGE)),
    "container": ("container", fitting(IMAGE)),
    "args": ("args", fitting(re.compile(r"-.*|\S+=.*", re.S))),
}
# Slots that a program may have an option of its own for, and how that is spelled: then it is that which changes.
OWN_OPTIONS = {
    "seq_len": in_order("seqlen seqlength seq maxseqlen maxlength maxseqlength contextlength sequencelength"),
    "micro_batch": in_order("microbatchsize microbatch mbs perdevicetrainbatchsize trainmicrobatchsizepergpu"),
    "global_batch": in_order("globalbatchsize gbs trainbatchsize"),
    "grad_acc": in_order("gradaccum gradientaccumulationsteps gradaccumsteps accumulationsteps accumsteps"),
    "precision": in_order("precision mixedprecision dtype"),
    "tp": in_order("tensormodelparallelsize tensorparallelsize tensorparallel tpsize tp"),
    "pp": in_order("pipelinemodelparallelsize pipelineparallelsize pipelineparallel ppsize pp"),
    "cp": in_order("contextparallelsize contextparallel cpsize cp"),
}
# Slot -> the field that it switches on, and off with `-`.
FLAGS: Mapping[str, tuple[str, ...]] = {
    "exclusive": ("exclusive",),
    "requeue": ("requeue",),
    "offline": ("offline",),
    "stage_env": ("stage_environment",),
    "first_run": ("first_run",),
    "cpu_only": ("cpu_only",),
    "act_ckpt": ("activation_checkpointing",),
}
EVENTS = {"mail_begin": "begin", "mail_end": "end", "mail_fail": "fail", "mail_limit": "limit"}
WAITS = {"after_ok": "afterok", "after_any": "afterany", "after_fail": "afternotok", "after_start": "after"}
ENVIRONMENTS = ("conda", "venv", "uv")
# Slot -> the field of several values, and the form of one.
SEVERAL: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "nodelist": ("nodelist", HOST),
    "exclude": ("exclude_nodes", HOST),
    "bind": ("binds", re.compile(r"[$~/][\w./${}~:-]*\w")),
    "source_file": ("source_files", re.compile(r"[\w~$./{}-]*[/.][\w~$./{}-]*\w")),
    "stage_in": ("stage_in", re.compile(r"[\w.$@{}~/+%*-]*[/.$][\w.$@{}~/+%*-]*")),
}


@dataclass(frozen=True, slots=True)
class Meant:
    """One span's edits; no edits: its value was refused, or there is nothing to set for its slot."""

    span: Span
    edits: tuple[Edit, ...]


def edits_of(spans: Sequence[Span], request: JobRequest) -> list[Meant]:
    """The edits of the spans, in the order of the text, each against the request as the ones before left it."""
    out = []
    for i, span in enumerate(spans):
        edits = tuple(_edits(span, spans, i, request))
        request = apply_edits(request, edits).request
        out.append(Meant(span, edits))
    return out


def _edits(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    slot = span.slot
    if slot in SINGLE:
        return _single(span, request)
    if slot == "exclusive" and span.sign == "-" and request.exclusive is None:
        return ()
    if slot in FLAGS:
        return tuple(Set(field, span.sign != "-", span.text) for field in FLAGS[slot])
    if slot in SEVERAL:
        return _several(span, request)
    if slot in WAITS:
        return _waits(span, request)
    if slot.startswith("mail"):
        # `When it is preempted` is of no mail where none stands and none is named.
        named = sum(one.slot.startswith("mail") for one in spans) > (slot not in ("mail", "mail_to"))
        told = any(one.slot in EVENTS and one.sign != "-" for one in spans)
        return _mail(span, request, told) if named or request.mail else ()
    if slot in ENVIRONMENTS:
        return _environment(span)
    builder = OTHERS.get(slot)
    return builder(span, spans, at, request) if builder else ()


def _single(span: Span, request: JobRequest) -> Built:
    field, read = SINGLE[span.slot]
    if span.sign in ("-", "!"):
        return (Remove(field, None, span.text),) if getattr(request, field) is not None else ()
    if span.sign in ("+", "~", "*", "^"):
        return _relative(span, field, request)
    value = read(span.text, request)
    if field == "account" and mentioned("Model")(span.text, request):
        return ()  # a model's name by its look
    known = known_arguments(request) if value else []
    own = next((found for one in OWN_OPTIONS.get(span.slot, ()) if (found := spelling(one, known))), None)
    if own:
        return (Add("argument_edits", ArgumentEdit("set", own, str(value)), span.text),)
    if value is None or (value == 0 and field not in ("memory_gb", "spare_nodes")):
        return ()
    told = (Add("heard", Heard("container", "said", str(value)), span.text),) if field == "container" else ()
    return (Set(field, value, span.text), *told)


def _relative(span: Span, field: str, request: JobRequest) -> Built:
    """More or less by so much, or a share of what stands."""
    before = getattr(request, field)
    if before is None or span.sign == "^":
        return ()
    if span.sign == "*":
        factor = next((share for words, share in FACTOR_WORDS if re.search(rf"\b(?:{words})", span.text, re.I)), None)
        broken = isinstance(before, int) and factor and before * factor % 1 > 0
        return (Scale(field, factor, span.text),) if factor and not broken else ()
    less = -1 if span.sign == "~" else 1
    if field == "walltime":
        by = duration(span.text)
        whole = _seconds(before) + less * _seconds(by) if by else 0
        return (Set(field, hms(whole), span.text),) if by and whole > 0 else ()
    count = (gigabytes if field == "memory_gb" else number)(span.text, request)
    return (Set(field, before + less * count, span.text),) if count and before + less * count > 0 else ()


def _seconds(time: str) -> float:
    hours, minutes, seconds = map(int, time.split(":"))
    return hours * 3600.0 + minutes * 60 + seconds


def _several(span: Span, request: JobRequest) -> Built:
    field, form = SEVERAL[span.slot]
    held = getattr(request, field)
    values = [one.strip("\"'`.,;") for one in re.split(r"\s*,\s*|\s+(?:and|or|und|et|y|e)\s+|\s+", span.text)]
    values = [one for one in values if form.fullmatch(one)]
    if span.sign == "-":
        return tuple(Remove(field, one, span.text) for one in (values or held) if one in held)
    return tuple(Add(field, one, span.text) for one in values if one not in held)


def _waits(span: Span, request: JobRequest) -> Built:
    if span.sign == "-":
        return (Remove("dependency", None, span.text),) if request.dependency else ()
    kind, jobs = WAITS[span.slot], tuple(JOB.findall(span.text))
    before = request.dependency
    if not jobs:
        return ()
    kept = (
        before.jobs
        if before and before.kind == kind and set(before.jobs).isdisjoint(jobs) and len(span.text) < 12
        else ()
    )
    made: Any = kind
    return (Set("dependency", Dependency(made, (*kept, *jobs)), span.text),)


def _mail(span: Span, request: JobRequest, told: bool) -> Built:
    """told: whether the message names an event, so that the usual ones are not meant."""
    before, new = request.mail, Mail(events=()) if told else Mail()
    if span.slot == "mail":
        if span.sign == "-":
            return (Remove("mail", None, span.text),)
        if ALL_EVENTS.search(span.text):
            events: Any = tuple(EVENTS.values())
            return (Set("mail", replace(before or new, events=events), span.text),)
        return () if before else (Set("mail", new, span.text),)
    if span.slot == "mail_to":
        address = ADDRESS.search(span.text)
        return (Set("mail", replace(before or new, address=address[0]), span.text),) if address else ()
    event: Any = EVENTS[span.slot]
    had = before.events if before else ()
    if span.sign == "-":
        kept = tuple(one for one in had if one != event)
        return (Set("mail", replace(before, events=kept), span.text) if kept else Remove("mail"),) if before else ()
    return (Set("mail", replace(before or new, events=(*(e for e in had if e != event), event)), span.text),)


def _environment(span: Span) -> Built:
    if span.sign == "-":
        return (Remove("environment", None, span.text), Remove("environment_kind", None, span.text))
    name = fitting(re.compile(r"[\w.$@{}~/+-]+"))(span.text, JobRequest())
    if name is None or name.lower() in (*ENVIRONMENTS, "env", "environment"):
        return ()
    return (Set("environment_kind", span.slot, span.text), Set("environment", name, span.text))


def _module(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """One module or several, each in the place of another version of it."""
    names = [one for one in re.split(r"\s*,\s*|\s+(?:and|und|et|y|e)\s+|\s+", span.text) if MODULE.fullmatch(one)]
    beside = spans[at + 1] if at + 1 < len(spans) else None
    if len(names) == 1 and beside and beside.slot == "module_version" and VERSION.fullmatch(beside.text):
        names = [f"{names[0].partition('/')[0]}/{beside.text}"]
    if span.sign == "-":
        held = [one for one in request.modules for name in names if one.split("/")[0] == name.split("/")[0]]
        return tuple(Remove("modules", one, span.text) for one in held) or tuple(
            Add("modules_removed", one, span.text) for one in names
        )
    versions = {one.split("/")[0] for one in request.modules if "/" in one}
    names = [one for one in names if "/" in one or one not in versions]  # it stands, in the version that it has
    old = [one for one in request.modules for name in names if one.split("/")[0] == name.split("/")[0]]
    return (
        *(Remove("modules", one) for one in old if one not in names),
        *(Add("modules", n, span.text) for n in names),
    )


def _variable(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """NAME=VALUE, or a name and the value that is tagged behind it."""
    name, sign, value = span.text.partition("=")
    beside = next((one for one in spans[at + 1 : at + 3] if one.slot == "var_value"), None)
    name, value = name.strip(), value.strip("\"'`") if sign else beside.text.strip("\"'`") if beside else ""
    old = tuple(Remove("variables", one, span.text) for one in request.variables if one.name == name)
    if not re.fullmatch(r"[A-Za-z_]\w*", name) or (span.sign != "-" and not value):
        return ()
    if span.sign == "-":
        return old
    return (*old, Add("variables", Variable(name, value, "as you said"), span.text))


def _argument(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """An option as it is typed."""
    found, known = OPTION.fullmatch(span.text.strip("\"'`")), known_arguments(request)
    if found is None:
        return ()
    name, value = found["name"], (found["value"] or "").strip("\"'`") or None
    there = name in known or f"{name}=" in known
    given = re.search(rf"(?<!\S){re.escape(name)}[= ](?!-)\S", request.args or "")
    swept = any(one.slot == "sweep_files" for one in spans)
    if span.sign != "-" and value is None and ((there and given) or swept):
        return ()  # its value is told otherwise
    if span.sign == "-":
        return (Add("argument_edits", ArgumentEdit("remove", name), span.text),) if there else ()
    return (Add("argument_edits", ArgumentEdit("set" if there else "add", name, value), span.text),)


def _named_argument(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """An argument by what people call it, with the value that is tagged next to it."""
    known = known_arguments(request)
    ahead = spans[max(0, at - 1) : at] if at < 2 or spans[at - 2].slot != "arg_name" else ()  # `patience 3 epochs`
    beside = [one for one in (*spans[at + 1 : at + 3], *ahead) if one.slot == "arg_value"]
    said = re.sub(r"^(?:the|la|el|las|los|les|die|der|das)\s+", "", span.text.lower().strip("`'\""))
    written = spelling(said, known)
    if span.sign == "-":
        return (Add("argument_edits", ArgumentEdit("remove", written), span.text),) if written else ()
    if not beside or len(said.split()) > 3:
        return ()
    value = beside[0].text.strip("\"'`")
    if beside[0].sign == "*" or not re.fullmatch(r"\S+", value):
        return ()
    spoken = number(value) if value.isalpha() else None
    name = written or (said if said.startswith("-") else new_name(said, known))
    edit = ArgumentEdit("set" if written else "add", name, str(spoken or value))
    return (Add("argument_edits", edit, span.text),)


def _array(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    if span.sign == "-":
        return (Remove("array", None, span.text),) if request.array else ()
    found = RANGE.fullmatch(span.text.strip())
    if not found or int(found[2]) < int(found[1]) or any(one.slot == "sweep_name" for one in spans):
        return ()  # with the name of an argument it counts that one's values
    low, high = int(found[1]), int(found[2])
    before = request.array or JobArray()
    most = int(found[3]) if found[3] else before.at_once
    return (Set("array", replace(before, axes=(), count=high - low + 1, at_once=most, first=low), span.text),)


def _array_size(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    count, before = number(span.text), request.array or JobArray()
    if span.slot == "array_at_once":
        return (Set("array", replace(before, at_once=count), span.text),) if count and request.array else ()
    return (Set("array", replace(before, axes=(), count=count), span.text),) if count and count > 1 else ()


def _sweep(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """One argument over the values that are tagged behind its name, else ahead of it."""
    behind = takewhile(lambda one: one.slot in ("sweep_value", "array"), spans[at + 1 :])
    ahead = takewhile(lambda one: one.slot in ("sweep_value", "array"), reversed(spans[:at]))
    listed = list(behind) or list(ahead)[::-1]
    values = [value for one in listed for value in counted(one.text)]
    name = one_a_task(span.text.lower().strip("`'\""))
    if len(values) < 2 or len(name.split()) > 2:
        return ()
    known = known_arguments(request)
    option = name if name.startswith("-") else spelling(name, known) or new_name(name, known)
    before = request.array or JobArray()
    axes = (*(axis for axis in before.axes if axis.option != option), ArrayAxis(option, tuple(values)))
    return (Set("array", JobArray(axes, None, before.at_once), span.text),)


def counted(text: str) -> list[str]:
    """The values of a list, or all numbers of a range: `1, 2 and 4`, `1 to 5`."""
    if (found := RANGE.fullmatch(text.strip())) and int(found[1]) <= int(found[2]) < int(found[1]) + MOST_VALUES:
        return [str(n) for n in range(int(found[1]), int(found[2]) + 1)]
    return [v for v in re.split(r"\s*,\s*|\s+(?:and|und|et|y|e)\s+|\s+", text) if v]


def is_bare(span: Span) -> bool:
    """Whether a span is an option without a value."""
    return span.slot == "arg" and re.fullmatch(r"--?[A-Za-z][\w-]*", span.text) is not None


def _sweep_files(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """A task a file: by the option that is tagged beside it, else the file alone."""
    pattern = span.text.strip("\"'`")
    name = next((one.text.strip("`'\"") for one in spans if one.slot == "sweep_name" or is_bare(one)), "")
    if not re.search(r"[*?\[]", pattern) or (name and not name.startswith("-")):
        return ()
    before = request.array or JobArray()
    return (Set("array", JobArray((ArrayAxis(name, (pattern,)),), None, before.at_once), span.text),)


def _signal(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    if span.sign == "-":
        return (Remove("signal", None, span.text),) if request.signal else ()
    time, name = duration(span.text), SIGNAL.search(span.text)
    before = request.signal or LimitSignal()
    if time is None and name is None:
        return ()
    told = LimitSignal(name[1].upper() if name else before.name, int(_seconds(time)) if time else before.seconds)
    return (Set("signal", told, span.text),) if told.seconds > 0 else ()


def _output(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    name = span.text.strip("\"'`").removeprefix("./")
    if not FILE.fullmatch(name):
        return ()
    if span.slot == "error_output":
        errors = any(one.startswith(("--error=", "-e ")) for one in request.extra_directives)
        return () if errors else (Add("extra_directives", f"--error={name}", span.text),)
    folder = name.endswith("/") or not re.search(r"[.%]", name.rsplit("/", 1)[-1])
    return (Set("output", f"{name.rstrip('/')}/%x-%j.out" if folder else name, span.text),)


def _joined_output(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """Both outputs in one file, as they are where no other is named, or errors in one of their own."""
    held = [one for one in request.extra_directives if one.startswith(("--error=", "-e "))]
    apart = (span.sign == "-" or APART.search(span.text)) and not TOGETHER.search(span.text)
    if not apart:
        return tuple(Remove("extra_directives", one, span.text) for one in held)
    if held or not request.output:
        return ()
    name = re.sub(r"\.(?:out|log|txt)$", "", request.output)
    return (Add("extra_directives", f"--error={name}.err", span.text),)


def _copy_out(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """A path that is copied to another one when the program has ended."""
    ahead = sum(1 for _ in takewhile(lambda one: one.slot == "copy_out", reversed(spans[:at])))
    beside = spans[at + 1] if at + 1 < len(spans) and ahead % 2 == 0 else None  # a second one is where it goes to
    paths = [one.text.strip("\"'`") for one in (span, beside) if one and one.slot == "copy_out"]
    plain = [one for one in paths if FILE.fullmatch(one) and re.search(r"[/.$*]", one)]
    if len(plain) != 2 or span.sign == "-" or "/" not in plain[1]:
        return ()
    command = f"mkdir -p {plain[1]} && cp -r {plain[0]} {plain[1]}"
    return (Add("after", command, span.text),) if command not in request.after else ()


def _extra(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """A directive word for word."""
    written = re.sub(r"^#\s?(?:SBATCH|PBS|BSUB|flux:)\s*", "", span.text.strip("\"'`")).strip()
    if not re.match(r"-", written) or "\n" in written:
        return ()
    if span.sign == "-":
        return (Remove("extra_directives", written, span.text),) if written in request.extra_directives else ()
    return (Add("extra_directives", written, span.text),)


def _step(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """A command ahead of the program or behind it."""
    command = re.sub(r"^cd (?:to|into|in) ", "cd ", span.text.strip("\"'`"))
    if NO_COMMAND.match(command):
        return ()
    if span.slot == "make_folder":
        command = f"mkdir -p {command}" if FILE.fullmatch(command) and "/" in command else ""
    elif command.split()[0].endswith(".py"):
        command = f"python {command}"
    elif command.split()[0].endswith(".sh") and not command.startswith(("./", "/")):
        command = f"bash {command}"
    field = "after" if span.slot == "after" else "before"
    held = getattr(request, field)
    if span.sign == "-":
        gone = [one for one in held if command and command in (one, one.split()[-1])]
        return tuple(Remove(field, one, span.text) for one in gone)
    shell = re.search(r"[\s/]|\.(?:py|sh)$|\w-(?:smi|list|info)$", command) is not None
    return (Add(field, command, span.text),) if command and shell and command not in held else ()


def _program(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """A further program of the job."""
    words = re.sub(r"^(?:python3?|bash|sh)\s+", "", span.text.strip("\"'`")).split()
    if not words or not re.search(r"\.(?:py|sh)$", words[0]) or words[0] == request.entry:
        return ()
    program = Program(words[0], " ".join(words[1:]) or None)
    if span.slot == "beside" and span.sign != "-" and WATCHES.search(words[0]):
        # What only looks on has no part of the nodes: it runs on the first one, and ends with the job.
        return (Add("before", f"python {' '.join(words)} &" if words[0].endswith(".py") else f"{' '.join(words)} &"),)
    held: tuple[Program, ...] = getattr(request, span.slot)
    if span.sign == "-":
        return tuple(Remove(span.slot, one, span.text) for one in held if one.entry == words[0])
    return (Add(span.slot, program, span.text),) if all(one.entry != words[0] for one in held) else ()


def _offload(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    said = span.text.lower()
    both = not re.search(r"param|optim|adam", said)
    names = [
        n
        for n, w in (("offload_optimizer", r"optim|adam"), ("offload_parameters", "param"))
        if both or re.search(w, said)
    ]
    return tuple(Set(name, span.sign != "-", span.text) for name in names)


def _switch(field: str, value: Any) -> Callable[[Span, Sequence[Span], int, JobRequest], Built]:
    def build(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
        off = span.sign == "-"
        return (
            (Set(field, None if off else value, span.text),) if not off or getattr(request, field) is not None else ()
        )

    return build


def _ranks(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """One process a node, as programs have it that drive all of its devices."""
    return (Set("processes_per_node", 1, span.text),) if ONE_A_NODE.search(span.text) else ()


def _wandb(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    """Weights & Biases without its server, or with it again."""
    if "=" in span.text:
        return _variable(span, spans, at, request)
    if span.sign != "-":
        return offline_edits(span.text, request)
    old = tuple(Remove("variables", one, span.text) for one in request.variables if one.name == "WANDB_MODE")
    return old or ((Set("offline", False, span.text),) if request.offline else ())


def _nccl(span: Span, spans: Sequence[Span], at: int, request: JobRequest) -> Built:
    old = tuple(Remove("variables", one, span.text) for one in request.variables if one.name == "NCCL_DEBUG")
    return (
        old if span.sign == "-" else (*old, Add("variables", Variable("NCCL_DEBUG", "INFO", "as you said"), span.text))
    )


OTHERS: Mapping[str, Callable[[Span, Sequence[Span], int, JobRequest], Built]] = {
    "module": _module,
    "var": _variable,
    "var_name": _variable,
    "arg": _argument,
    "arg_name": _named_argument,
    "array": _array,
    "array_count": _array_size,
    "array_at_once": _array_size,
    "sweep_name": _sweep,
    "sweep_files": _sweep_files,
    "signal": _signal,
    "output": _output,
    "error_output": _output,
    "joined_output": _joined_output,
    "copy_out": _copy_out,
    "extra": _extra,
    "before": _step,
    "after": _step,
    "make_folder": _step,
    "then": _program,
    "beside": _program,
    "offload": _offload,
    "shared": _switch("exclusive", False),
    "preflight": _switch("spare_nodes", 0),
    "nccl_debug": _nccl,
    "rank_setup": _ranks,
    "wandb_offline": _wandb,
}
