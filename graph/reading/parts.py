"""The parts of a job beyond its size (mail, arrays, modules, precision, ...) as edits, read from words by one table.

A part claims the words that it was read from; what is left goes to the reader of sizes and names, so that "a signal 5
minutes before the end" is no walltime. A row of PARTS is one field: a pattern, and what makes edits of a match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from graph.reading import served
from graph.reading.edits import Add, Edit, Remove, Set, apply_edits
from graph.reading.frame import NO_NAME, SMALL_WORD
from graph.reading.grids import GRID, axes_of
from graph.reading.kv_reuse import WORDS as WORDS_OF_KV_REUSE
from graph.reading.kv_reuse import kv_reuse
from graph.reading.scope import obeyed, sensible
from knowledge.data_file import read_data
from knowledge.job_parts import ArrayAxis, Dependency, JobArray, LimitSignal, Mail, MailEvent, Program
from knowledge.types import Heard, JobRequest, Variable

Built = Sequence[Edit]
Builder = Callable[[re.Match[str], JobRequest], Built]

# Scheduler's and launcher's own options are no arguments of the program.
JOBS = re.compile(
    r"--(?:nodes|ntasks[\w-]*|gpus[\w-]*|gres|time|account|partition|qos|constraint|mem|exclusive|requeue"
    r"|signal|array"
    r"|cpus-per-task|mail-\w+|nproc[_-]per[_-]node|nnodes|rdzv\w*|standalone|exclude|reservation|begin"
    r"|dependency)\b"
    r"|-[NnACqptcJ]$"
)
NUMBERS = {
    **{
        word: n
        for n, word in enumerate(
            ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
        )
    },
    **{"twelve": 12, "sixteen": 16, "ein": 1, "eine": 1, "zwei": 2, "drei": 3, "vier": 4, "un": 1, "deux": 2},
    **{"trois": 3, "quatre": 4, "dos": 2, "tres": 3, "cuatro": 4, "due": 2, "tre": 3, "quattro": 4, "twice": 2},
}
N = r"(?:\d{1,5}|" + "|".join(NUMBERS) + ")"
ADDRESS = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
SECONDS = {"s": 1, "m": 60, "h": 3600}
EVENTS: tuple[tuple[MailEvent, str], ...] = (
    ("begin", r"\b(?:start|begin|begins|starts|anfang|d[ée]but|inicio|inizio)\b"),
    ("end", r"\b(?:end|ends|finish\w*|done|over|complete\w*|ready|ende|fertig|fin|final|fine|termina\w*|finit)\b"),
    (
        "fail",
        r"\b(?:fail\w*|crash\w*|abort\w*|error\w*|dies|breaks?|goes wrong|fehl\w*|abst[uü]rz\w*|[ée]chou\w*|falla"
        r"|fallisce)\b",
    ),
    ("limit", r"\b(?:time ?limit|limit)\b"),
)


def count(word: str) -> int:
    """A number in digits or as a word."""
    return int(word) if word.isdigit() else NUMBERS[word.lower()]


def _named(field: str, group: str = "v") -> Builder:
    return lambda m, r: (Set(field, m[group], m[0].strip()),)


def _number(field: str) -> Builder:
    return lambda m, r: (Set(field, count(m["v"]), m[0].strip()),)


# What another start is for, where it is not a failed node or a preemption.
AT_LIMIT = re.compile(r"(?i)\blimit|\btime\b|\brun(?:s|ning)? out\b|\bthe end\b")


KEEPS_RUNS = Variable("WANDB_MODE", "offline", "runs are kept on disk; `wandb sync` sends them from a login node")
ONLY_WANDB = re.compile(r"(?!.*\b(?:hugging|hf|hub|pip|datasets|internet)).*(?:wandb|w&b|weights).*", re.I | re.S)


def _flag(field: str, value: bool = True) -> Builder:
    return lambda m, r: (Set(field, value if not m.groupdict().get("no") else not value, m[0].strip()),)


def _again(match: re.Match[str], request: JobRequest) -> Built:
    """Another start; at the time limit it takes the signal before it, with which the job puts itself back."""
    at_limit = AT_LIMIT.search(match[0]) is not None and not match.groupdict().get("no")
    signal = (Set("signal", LimitSignal(), match[0].strip()),) if at_limit and not request.signal else ()
    return (*_flag("requeue")(match, request), *signal)


def _offline(match: re.Match[str], request: JobRequest) -> Built:
    return offline_edits(match[0].strip(), request)


def offline_edits(words: str, request: JobRequest) -> Built:
    """All offline, or where only Weights & Biases is named its variable, in the place of another value of it."""
    if not ONLY_WANDB.fullmatch(words):
        return (Set("offline", True, words),)
    old = tuple(Remove("variables", one, words) for one in request.variables if one.name == KEEPS_RUNS.name)
    return (*old, Add("variables", KEEPS_RUNS, words))


STARTS = ("python", "python3", "torchrun", "srun", "mpirun", "mpiexec", "accelerate", "deepspeed")


def _listed(field: str, kind: type[Add] | type[Remove] = Add) -> Builder:
    return lambda m, r: tuple(kind(field, v, m[0].strip()) for v in _items(m["v"]) if not _starts_program(v, m))


def _starts_program(word: str, match: re.Match[str]) -> bool:
    """`module pytorch/2.6, python train.py`: the last word begins the program's line."""
    behind = match.string[match.end("v") :]
    return match["v"].endswith(word) and word in STARTS and re.match(r"\s+\S+\.py\b", behind) is not None


def _items(text: str) -> list[str]:
    return [part for part in re.split(r"\s*,\s*(?:and\s+)?|\s+(?:and|und|et|y|e|plus)\s+|\s+", text.strip()) if part]


def _mail(match: re.Match[str], request: JobRequest) -> Built:
    if match["no"] or match.groupdict().get("none"):
        return (Remove("mail", None, match[0].strip()),)
    address = re.search(ADDRESS, match[0])
    events = tuple(event for event, words in EVENTS if re.search(words, re.sub(ADDRESS, "", match[0]), re.I))
    before = request.mail or Mail()
    return (Set("mail", Mail(address[0] if address else before.address, events or before.events), match[0].strip()),)


def _signal(match: re.Match[str], request: JobRequest) -> Built:
    name = (match["name"] or match["late"] or (request.signal.name if request.signal else "USR1")).upper()
    seconds = count(match["n"]) * SECONDS[match["unit"][0].lower()]
    return (Set("signal", LimitSignal(name.removeprefix("SIG"), seconds), match[0].strip()),)


def _array(match: re.Match[str], request: JobRequest) -> Built:
    """An array over an argument's values, of so many tasks, or one axis more."""
    got = match.groupdict()
    before = request.array or JobArray()
    if got["count"]:
        new = replace(before, count=count(got["count"]))
    elif got["low"] and not got["option"]:
        low, high = int(got["low"]), int(got["high"])
        new = replace(before, axes=(*before.axes, ArrayAxis("", tuple(map(str, range(low, high + 1))))))
        new = replace(before, count=high - low + 1) if low in (0, 1) else new
    else:
        axis = ArrayAxis(_option(got["option"]), _values(got))
        kept = tuple(a for a in before.axes if a.option != axis.option)
        new = replace(before, axes=(*kept, axis), count=None)
    return (Set("array", new, match[0].strip()),)


def grid_array(match: re.Match[str], request: JobRequest) -> Built:
    """An array over several arguments, every combination of their values a task."""
    axes = tuple(replace(one, option=_option(one.option.lower())) for one in axes_of(match[0]))
    return (Set("array", JobArray(axes, at_once=request.array.at_once if request.array else None), match[0]),)


# What a task of an array has one of, though people speak of all: *over seeds* is one over --seed.
ONE_A_TASK = re.compile(r"(seed|lr|fold|trial|split|shard|rate|decay)s")


def one_a_task(name: str) -> str:
    """The option's name of which each task of an array gets one value."""
    found = ONE_A_TASK.fullmatch(name)
    return found[1] if found else name


def _option(name: str | None) -> str:
    """As it stands on the command line; none is named where the name was another reader's."""
    if not name:
        return ""
    name = one_a_task(name)
    return name if name.startswith("-") or "." in name else f"--{name}"


def _values(got: dict[str, str | None]) -> tuple[str, ...]:
    if got["low"]:
        return tuple(str(n) for n in range(int(got["low"] or 0), int(got["high"] or 0) + 1))
    return tuple(_items(got["values"] or ""))


def _at_once(match: re.Match[str], request: JobRequest) -> Built:
    most = count(match["v"] or match["w"] or match["x"])
    return (Set("array", replace(request.array, at_once=most), match[0]),) if request.array else ()


def _whole_node(match: re.Match[str], request: JobRequest) -> Built:
    """All GPUs of a node, for this job alone."""
    less = [Remove(name, None, match[0]) for name in ("gpus_per_node", "total_gpus") if getattr(request, name)]
    return (*less, Set("exclusive", True, match[0].strip()))


def _dropped_value(match: re.Match[str], request: JobRequest) -> Built:
    """`drop 1e-3`, where an array runs over it."""
    if request.array is None:
        return ()
    axes = tuple(replace(a, values=tuple(v for v in a.values if v != match["v"])) for a in request.array.axes)
    return (Set("array", replace(request.array, axes=axes), match[0]),) if axes != request.array.axes else ()


def _dependency(match: re.Match[str], request: JobRequest) -> Built:
    said = match[0].lower()
    named = re.search(r"after(?:ok|any|notok)", said)
    kind: Any = named[0] if named else "afternotok" if re.search(r"\bfail", said) else "afterok"
    kind = "afterany" if re.search(r"whatever|either way|in any case", said) else kind
    return (Set("dependency", Dependency(kind, tuple(re.findall(r"\d{2,}", said))), match[0].strip()),)


def _errors_apart(match: re.Match[str], request: JobRequest) -> Built:
    """The errors in a file beside that of the output."""
    name = re.sub(r"\.\w+$", "", request.output or "%x-%j.out")
    return (Add("extra_directives", f"--error={name}.err", match[0].strip()),)


def _output(match: re.Match[str], request: JobRequest) -> tuple[Edit, ...]:
    """The file of what a job prints; of a folder alone, the usual name in it."""
    name = match["v"].removeprefix("./")
    return (Set("output", f"{name}/%x-%j.out" if match["folder"] else name, match[0]),)


def _threads(number: int, words: str, request: JobRequest) -> Built:
    old = [Remove("variables", one) for one in request.variables if one.name == "OMP_NUM_THREADS"]
    return (*old, Add("variables", Variable("OMP_NUM_THREADS", str(number), "as you said"), words))


def _memory(match: re.Match[str], request: JobRequest) -> Built:
    size = float(match["v"]) * (1024 if match["unit"].lower().startswith("t") else 1) if match["v"] else 0
    return (Set("memory_gb", round(size), match[0].strip()),)


def _cores(match: re.Match[str], request: JobRequest) -> Built:
    """Cores, with the memory that is named beside them."""
    edits: list[Edit] = [Set("cpus_per_task", count(match["v"] or match["w"]), match[0].strip())]
    size, unit = match["gb"] or match["first"], match["unit"] or match["before"]
    if size:
        edits.append(Set("memory_gb", round(float(size) * (1024 if unit[0] in "tT" else 1)), match[0].strip()))
    return edits


def _no_gpus(match: re.Match[str], request: JobRequest) -> Built:
    """What was said of GPUs before holds no longer."""
    gone = (name for name in ("gpus_per_node", "total_gpus", "node_type") if getattr(request, name) is not None)
    return (Set("cpu_only", True, match[0].strip()), *(Remove(name, None, match[0].strip()) for name in gone))


SHELL = re.compile(r"[|;&<>`]|\$\(")


def _data_command(match: re.Match[str], request: JobRequest) -> Built:
    """A command that moves or packs data is the job's program where no other is named; it wants no GPU."""
    if request.entry is not None or re.search(r"\.py\b|\b(?:torchrun|accelerate|deepspeed)\b", match.string):
        return ()
    command = match["v"] or f"rsync -a {match['source']} {match['target']}"
    if SHELL.search(command):  # a line of shell is more than one program
        return ()
    return (Set("entry", command.strip(" .`"), match[0].strip()), Set("cpu_only", True, match[0].strip()))


def _environment(match: re.Match[str], request: JobRequest) -> Built:
    kind = {"virtualenv": "venv", "mamba": "conda"}.get(match["kind"].lower(), match["kind"].lower())
    edits: list[Edit] = [Set("environment_kind", kind, match[0].strip())]
    return (*edits, Set("environment", match["v"], match[0].strip())) if match["v"] else edits


def _image(match: re.Match[str], request: JobRequest) -> Built:
    """A container image or what defines one, by its file or its name in a registry."""
    told = Heard("container", "said", match["v"])
    return (Set("container", match["v"], match[0].strip()), Add("heard", told, match[0]))


def _variable(match: re.Match[str], request: JobRequest) -> Built:
    """A variable that the script sets; one of the same name gives way."""
    name, value = match["name"], match["v"].rstrip(".!?").strip("'\"")
    old = [Remove("variables", v) for v in request.variables if v.name == name]
    return (*old, Add("variables", Variable(name, value, "as you said"), match[0].strip()))


def _on_scratch(match: re.Match[str], request: JobRequest) -> Built:
    """`put HF_HOME on scratch`: a folder there, named after the variable."""
    folder = match["name"].lower().removesuffix("_home").removesuffix("_dir").removesuffix("_cache")
    old = [Remove("variables", v) for v in request.variables if v.name == match["name"]]
    value = f"${match['place'].upper()}/{folder}"
    return (*old, Add("variables", Variable(match["name"], value, "as you said", expand=True), match[0].strip()))


def _said_variable(match: re.Match[str], request: JobRequest) -> Built:
    """A dictated one: names of variables are in capitals, values are often said as words."""
    name, word = match["name"].upper(), match["v"].lower()
    return (Add("variables", Variable(name, str(NUMBERS.get(word, match["v"])), "as you said"), match[0].strip()),)


CLEARED = {
    **dict.fromkeys(("walltime", "wall time", "time limit", "limit", "runtime", "duration"), "walltime"),
    **dict.fromkeys(("account", "project", "bank", "budget", "allocation", "grant"), "account"),
    **dict.fromkeys(("nodes", "node count", "number of nodes"), "nodes"),
    **dict.fromkeys(("gpus", "gpu count", "number of gpus"), "gpus_per_node"),
    **dict.fromkeys(("strategy", "method", "parallelism"), "strategy"),
    **dict.fromkeys(("queue", "partition", "qos"), "queue"),
    **dict.fromkeys(("program", "entry"), "entry"),
    **dict.fromkeys(("argument", "arguments", "args"), "args"),
    **dict.fromkeys(("node type", "gpu type"), "node_type"),
}


def _cleared(match: re.Match[str], request: JobRequest) -> Built:
    what = match["v"].lower()
    return (Remove(CLEARED.get(what, what), None, match[0].strip()),)


def _left_open(match: re.Match[str], request: JobRequest) -> Built:
    """As `_cleared`, where the job has it."""
    what = match["v"].lower()
    field = CLEARED.get(what, what)
    return (Remove(field, None, match[0].strip()),) if getattr(request, field, None) else ()


def _value_cleared(match: re.Match[str], request: JobRequest) -> Built:
    """`undo the 6 nodes`, `drop the 2h`: the value that stands, named by itself."""
    if not (match["n"].isdigit() or match["n"].lower() in NUMBERS):
        return ()  # `remove the excluded node`
    number, unit = count(match["n"]), match["unit"].lower()
    seconds = next((size for start, size in (("h", 3600), ("m", 60), ("d", 86400)) if unit.startswith(start)), 0)
    field = "walltime" if seconds else "nodes" if unit.startswith("n") else "gpus_per_node"
    whole = number * seconds
    said = f"{whole // 3600:02}:{whole % 3600 // 60:02}:00" if seconds else number
    return (Remove(field, None, match[0].strip()),) if getattr(request, field) == said else ()


def _then(match: re.Match[str], request: JobRequest) -> Built:
    walltime = (
        f"{count(match['h']):02}:00:00" if match["h"] else f"00:{count(match['min']):02}:00" if match["min"] else None
    )
    nodes = count(match["nodes"]) if match["nodes"] else None
    return (Add("then", Program(match["v"], nodes=nodes, walltime=walltime), match[0].strip()),)


def _degree(match: re.Match[str], request: JobRequest) -> Built:
    field = {"t": "tensor_parallel", "p": "pipeline_parallel", "c": "context_parallel"}[match["kind"][0].lower()]
    return (Set(field, count(match["v"]), match[0].strip()),)


def _precision(match: re.Match[str], request: JobRequest) -> Built:
    name = {"bfloat16": "bf16", "float16": "fp16", "half precision": "fp16", "bf sixteen": "bf16"}
    return (Set("precision", name.get(match["v"].lower(), match["v"].lower()), match[0].strip()),)


def _offload(match: re.Match[str], request: JobRequest) -> Built:
    said = match[0].lower()
    both = not re.search(r"param|optim|adam", said)
    edits: list[Edit] = []
    if both or re.search(r"optim|adam", said):
        edits.append(Set("offload_optimizer", True, match[0].strip()))
    if both or "param" in said:
        edits.append(Set("offload_parameters", True, match[0].strip()))
    return edits


def _parameters_too(match: re.Match[str], request: JobRequest) -> Built:
    return (Set("offload_parameters", True, match[0].strip()),) if request.offload_optimizer else ()


def _modules_only(match: re.Match[str], request: JobRequest) -> Built:
    return (*_listed("modules")(match, request), Set("modules_only", True, match[0].strip()))


def _real_one(match: re.Match[str], request: JobRequest) -> Built:
    return (Set("first_run", None, match[0].strip()),) if request.first_run else ()


@dataclass(frozen=True)
class WishPart:
    """name: of its list of alternatives; build: its edits; changing: read only where a job stands already."""

    name: str
    build: Builder
    changing: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled with the first request: questions and logs need none of them."""
        lists: dict[str, list[str]] = read_data(Path(__file__).with_name("parts.yaml"))
        written = "|".join(lists[self.name]) if self.name in lists else FILLED[self.name]
        capitals = {name: words[0] for name, words in lists.items() if name.isupper()}
        for name, words in (capitals | FILLED).items():
            written = written.replace(f"{{{name}}}", words)
        return re.compile(written, re.I)


DEGREES = ("tensor_parallel", "pipeline_parallel", "context_parallel")


# What the names in parts.yaml stand for; an event may be an address.
FILLED = {"N": N, "ADDRESS": ADDRESS, "SMALL_WORD": SMALL_WORD, "GRID": GRID, "WORDS_OF_KV_REUSE": WORDS_OF_KV_REUSE}
PARTS: tuple[WishPart, ...] = (
    WishPart("mail", _mail),
    WishPart("mail_2", _mail),
    WishPart("signal", _signal),
    WishPart("open_mode", lambda m, r: (Add("extra_directives", "--open-mode=append", m[0].strip()),), True),
    WishPart(
        "kill_on_invalid_dep", lambda m, r: (Add("extra_directives", "--kill-on-invalid-dep=yes", m[0].strip()),), True
    ),
    WishPart("dependency", lambda m, r: (Set("dependency", Dependency("singleton"), m[0].strip()),), True),
    WishPart("again", _again),
    WishPart("again_2", _again, True),
    WishPart("before", lambda m, r: (Add("before", m["v"], m[0].strip()),)),
    WishPart("GRID", grid_array),
    WishPart("array", _array),
    WishPart("array_2", _array),
    WishPart("array_3", _array),
    WishPart("at_once", _at_once),
    WishPart("dropped_value", _dropped_value, True),
    WishPart("dependency_2", _dependency),
    WishPart(
        "chain", lambda m, r: (Set("chain", count(m["v"] or m["w"] or m["x"] or m["y"] or m["z"] or m["u"]), m[0]),)
    ),
    WishPart(
        "job_name",
        lambda m, r: () if NO_NAME.fullmatch(m["v"] or m["w"]) else (Set("job_name", m["v"] or m["w"], m[0]),),
    ),
    WishPart("output", _output),
    WishPart("errors_apart", _errors_apart, True),
    WishPart("threads", lambda m, r: _threads(count(m["v"] or m["w"]), m[0], r), True),
    WishPart("setup", lambda m, r: (Add("setup", f"cd {m['v']}", m[0].strip()),), True),
    WishPart("whole_node", _whole_node, True),
    WishPart("cores", _cores),
    WishPart("memory_gb", lambda m, r: _memory(m, r) if m["v"] else (Set("memory_gb", int(m["w"]), m[0]),)),
    WishPart("processes_per_node", _number("processes_per_node"), True),
    WishPart("no_gpus", _no_gpus),
    WishPart("memory_of_cpus", lambda m, r: _memory(m, r) if r.cpu_only else ()),
    WishPart("ranks_of_cpus", lambda m, r: _number("processes_per_node")(m, r) if r.cpu_only else ()),
    WishPart("exclusive", _flag("exclusive")),
    WishPart("reservation", _named("reservation")),
    WishPart("constraint", lambda m, r: (Set("constraint", m["v"] or m["w"], m[0]),)),
    WishPart("begin", _named("begin")),
    WishPart(
        "exclude_nodes",
        lambda m, r: tuple(Add("exclude_nodes", one, m[0].strip()) for one in (*_items(m["v"]), *_items(m["w"] or ""))),
    ),
    WishPart("exclude_nodes_2", _listed("exclude_nodes")),
    WishPart("environment", _environment),
    WishPart("container_runtime", lambda m, r: (Set("container_runtime", m["v"].lower(), m[0]),)),
    WishPart("image", _image),
    WishPart("binds", lambda m, r: (Add("binds", m["v"], m[0]),)),
    WishPart("modules_only", _modules_only, True),
    WishPart("modules", _listed("modules")),
    WishPart("data_command", _data_command),
    WishPart("then", _then),
    WishPart("first_run", _flag("first_run"), True),
    WishPart("spare_nodes", lambda m, r: (Set("spare_nodes", None if m["no"] else count(m["v"]), m[0]),)),
    WishPart("spare_nodes_2", lambda m, r: (Set("spare_nodes", r.spare_nodes or 0, m[0]),)),
    WishPart("least_nodes", lambda m, r: (Set("least_nodes", count(m["v"]), m[0]),)),
    WishPart("WORDS_OF_KV_REUSE", kv_reuse),
    WishPart("real_one", _real_one, True),
    WishPart("offline", _offline),
    WishPart("degree", _degree),
    WishPart("global_batch", _number("global_batch")),
    WishPart("activation_checkpointing", _flag("activation_checkpointing")),
    WishPart("micro_batch", _number("micro_batch")),
    WishPart(
        "gradient_accumulation", lambda m, r: (Set("gradient_accumulation", count(m["v"] or m["w"] or m["x"]), m[0]),)
    ),
    WishPart("precision", _precision),
    WishPart("offload", _offload),
    WishPart("parameters_too", _parameters_too, True),
    WishPart("served_context", served.context),
    WishPart("served_model", served.model, True),
    WishPart("served_weights", served.lighter),
    WishPart("served_key", served.key),
    WishPart("served_share", served.share),
    WishPart("served_host", served.host),
    WishPart("port", lambda m, r: (Set("port", int(m["v"]), m[0]),)),
    WishPart("said_variable", _said_variable),
    WishPart("args", lambda m, r: (Set("args", m["v"], m[0]), Set("argument_edits", (), m[0])), True),
    WishPart("cleared", _cleared, True),
    WishPart("left_open", _left_open, True),
    WishPart("left_open_2", _left_open, True),
    WishPart("left_open_3", _left_open, True),
    WishPart("value_cleared", _value_cleared, True),
    WishPart("on_scratch", _on_scratch),
    WishPart("variable", _variable),
)


Spans = list[tuple[int, int]]


def find_parts(text: str, request: JobRequest, changing: bool) -> tuple[list[Edit], Spans, Spans]:
    """The edits that a text makes to parts of the job, where their words stand, and which of these nobody else reads.

    request: the job so far; changing: whether a job stands already (some wishes are read only then).
    """
    found: list[tuple[int, Sequence[Edit]]] = []
    spans: Spans = []
    taken: Spans = []
    strategy = request.strategy
    for part in PARTS:
        if part.changing and not changing:
            continue
        for match in part.pattern.finditer(text):
            if any(a < match.end() and match.start() < b for a, b in taken) or in_own_option(text, match.start()):
                continue
            built = sensible(part.build(match, request))
            edits = obeyed(text, built, [match.span()], request)
            request = apply_edits(request, tuple(edits)).request
            if built:
                found.append((match.start(), edits))
                taken.append(match.span())
                if not _is_of_strategy(built, strategy):
                    spans.append(match.span())
    return [edit for _, edits in sorted(found, key=lambda f: f[0]) for edit in edits], taken, spans


def in_own_option(text: str, at: int) -> bool:
    """Whether a place is inside an option of the program's own: `--grad-accum 4` is its argument, and no field."""
    begun = re.search(r"(?<!\S)--?[\w-]*$", text[:at])
    return begun is not None and not JOBS.match(text, begun.start())


def _is_of_strategy(edits: Sequence[Edit], strategy: str | None) -> bool:
    """Whether a degree of parallelism also tells the strategy: where none that has degrees stands yet."""
    return isinstance(edits[0], Set) and edits[0].field in DEGREES and strategy not in ("tp", "pp", "3d")
