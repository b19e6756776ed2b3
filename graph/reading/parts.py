"""The parts of a job beyond its size (mail, arrays, modules, precision, ...) as edits, read from words by one table.

A part claims the words that it was read from; what is left goes to the reader of sizes and names, so that "a signal 5
minutes before the end" is no walltime. A row of PARTS is one field: a pattern, and what makes edits of a match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from graph.reading.edits import Add, Edit, Remove, Set, apply_edits
from graph.reading.frame import NO_NAME, SMALL_WORD
from graph.reading.grids import GRID, axes_of
from graph.reading.kv_reuse import WORDS as WORDS_OF_KV_REUSE
from graph.reading.kv_reuse import kv_reuse
from graph.reading.scope import obeyed, sensible
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
NAME = r"[\w.+-]*\w"
PATH = r"[~$.\w{}/%-]*[\w}%]"
ADDRESS = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
# What may stand behind a comma or an "and" in a wish for mail: an event, an address, a small word before one.
EVENT = (
    r"(?:at|when|on|if|in case|to|the|it|or|and|upon|me|my|also (?:at|when|on|if)|begin\w*|end\w*|start\w*"
    r"|fail\w*|crash\w*|error\w*"
    r"|finish\w*|done|(?:time ?)?limit|abort\w*|complet\w*|die[sd]?|bei|am|wenn|ende|fehler\w*|abbruch|[àa] la"
    r"|en cas|fin|échec|erreur|al"
    r"|si|se|fallo|falla|errore|alla|fine|{ADDRESS})(?![\w-])"
)
NOT = (
    r"(?:no|not|don'?t|do not|without|never|stop|turn off|switch off|swich off|disable|remove|drop|ohne"
    r"|kein\w*|sans|sin|senza|pas de)"
)
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


def _flag(field: str, value: bool = True) -> Builder:
    return lambda m, r: (Set(field, value if not m.groupdict().get("no") else not value, m[0].strip()),)


def _again(match: re.Match[str], request: JobRequest) -> Built:
    """Another start; at the time limit it takes the signal before it, with which the job puts itself back."""
    at_limit = AT_LIMIT.search(match[0]) is not None and not match.groupdict().get("no")
    signal = (Set("signal", LimitSignal(), match[0].strip()),) if at_limit and not request.signal else ()
    return (*_flag("requeue")(match, request), *signal)


def _listed(field: str, kind: type[Add] | type[Remove] = Add) -> Builder:
    return lambda m, r: tuple(kind(field, v, m[0].strip()) for v in _items(m["v"]))


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


# Words that take back what was said, and what may be taken back by its name.
TAKES_BACK = (
    r"(?:remove|drop|clear|delete|reset|forget|unset|take out|leave out|leave away|scrap|undo|skip|strike|omit|cancel)"
)
NAMED = (
    r"(?:wall ?time|time limit|limit|runtime|duration|account|project|bank|budget|allocation|grant|queue|partition|qos"
    r"|program|entry|arguments?|args|environment|container|model|node type|gpu type|array|dependency|mail|signal|chain"
    r"|reservation|constraint|modules|nodes|node count|number of nodes|gpus|gpu count|number of gpus|strategy|method"
    r"|parallelism)"
)
CLAUSE = r"(?:^|(?<=[,;.!])\s*|\b(?:and|but|so|or)\s+)\W*(?:(?:please|ok|and|also|now|then|just|better)\W+)*"
ENDS = r"(?=\s*(?:[,;.!]|$|(?:please|again|for now|too|as well|entirely|altogether|then|and|i'll|we'll)\b))"


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
    """written: how a wish sounds; build: its edits; changing: read only where a job stands already."""

    written: str
    build: Builder
    changing: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled with the first request: questions and logs need none of them."""
        return re.compile(self.written, re.I)


DEGREES = ("tensor_parallel", "pipeline_parallel", "context_parallel")


def _row(pattern: str, build: Builder, changing: bool = False) -> WishPart:
    filled = pattern.replace("{N}", N).replace("{NAME}", NAME).replace("{PATH}", PATH).replace("{NOT}", NOT)
    filled = filled.replace("{EVENT}", EVENT).replace("{ADDRESS}", ADDRESS).replace("{SMALL_WORD}", SMALL_WORD)
    return WishPart(filled, build, changing)


LIST = (
    r"(?P<v>[\w./+-]*\w(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s+und\s+|\s+et\s+|\s+y\s+|\s+e\s+)"
    r"(?!\w+ing\b|\d)[\w./+-]*\w)*)"
)
PARTS: tuple[WishPart, ...] = (
    _row(
        r"\bif [^,.\n]{0,40}(?:fails?|crashes|dies|ends"
        r"|finishes)[^,.\n]{0,20}\b(?:an?\s+)?(?:e-?)?mail\b(?:(?![.;\n]\s)[^;\n])*(?P<no>\b\B)?",
        _mail,
    ),
    _row(
        r"(?:\b(?P<no>{NOT})\s+(?:more\s+)?)?\b(?:(?:send|write|schick\w*|envoie\w*|manda\w*"
        r"|env[ií]a\w*)[\s-]+(?:me\s+|mir\s+|moi\s+|mi\s+)?(?:an?\s+|eine?\s+|un\s+)?(?:e-?)?mails?"
        r"|(?:e-?)?mails?\s+(?:(?:me|to|at|when|on|if|an|[àa]|bei|wenn)\b|(?={ADDRESS}))|(?:notify|alert|inform"
        r"|email) (?:me|us|{ADDRESS})|tell me by (?:e-?)?mail"
        r"|(?:i )?want an? (?:e-?)?mail|mail-user)(?:{ADDRESS}|(?!(?:,|\b(?:and|plus|also|then|und|et|y"
        r"|e)\b)\s*(?!\s|{EVENT}))(?:[^.;\n]|\.(?=\w)))*"
        r"|\b(?P<none>no|without|stop the) (?:more )?(?:e-?)?mails?\b",
        _mail,
    ),
    _row(
        r"\b(?:send\s+(?:it\s+|me\s+|a\s+)*)?(?:signal\s*)?(?P<name>(?:SIG)?(?:USR1|USR2|TERM|INT"
        r"|HUP))?\s*(?:signal\s*)?(?P<n>{N})\s*(?P<unit>m(?:in)?(?:ute)?s?|s(?:ec)?(?:ond)?s?"
        r"|h(?:ours?)?)\s+before\s+(?:the\s+|it\s+)?(?:end\w*|limit|time ?limit|walltime|time (?:is|runs) (?:over"
        r"|out)|job ends|kill)(?:\s+(?:with|send)\s+(?P<late>(?:SIG)?USR\d"
        r"|(?:SIG)?TERM))?(?:\s+so (?:that )?it can save)?",
        _signal,
    ),
    _row(
        r"\bappend\b(?!\s+-)(?:\s+(?:to\s+)?(?:the\s+|my\s+)?(?:logs?|output)(?:\s+files?)?)?"
        r"(?:[,;]?\s+(?:and\s+)?(?:don'?t|do not|not|never|instead of)\s+overwrit\w+(?:\s+(?:it|the (?:logs?|output)))?"
        r"|(?<=logs)|(?<=log)|(?<=output)|(?<=file)|(?<=files))"
        r"|\bopen[- ]mode(?:\s*=\s*|\s+(?:to\s+)?)append\b(?:\s+for\s+the\s+(?:logs?|output)(?:\s+files?)?)?"
        r"|\b(?:don'?t|do not|never)\s+overwrite\s+(?:the\s+|my\s+)?(?:old\s+)?(?:logs?|output)\b(?:\s+files?)?",
        lambda m, r: (Add("extra_directives", "--open-mode=append", m[0].strip()),),
        True,
    ),
    _row(
        r"\bif\s+(?:that|it|this|the (?:first|other|earlier))\b(?:\s+(?:one|job))?\s+(?:fails?|dies|crashes)\b[^.;]*"
        r"\b(?:hang|wait|sit|stay|remain|stick)\w*\b[^.;]*\b(?:queue|forever|pending)\b(?:\s+in\s+the\s+queue)?"
        r"|\bkill[- ]on[- ]invalid[- ]dep\w*(?:=yes)?",
        lambda m, r: (Add("extra_directives", "--kill-on-invalid-dep=yes", m[0].strip()),),
        True,
    ),
    _row(
        r"\bsingleton\b(?!\s+(?:mean|do)\w*)(?:\s+is\s+\w+)?(?:,?\s+use\s+(?:that|it))?"
        r"|\bonly\s+one\s+(?:(?:job|run|of them)\s+)?(?:with|of)\s+(?:this|that|the same|its)\s+name"
        r"(?:\s+at\s+a\s+time)?",
        lambda m, r: (Set("dependency", Dependency("singleton"), m[0].strip()),),
        True,
    ),
    _row(
        r"(?:\b(?P<no>{NOT})\s+)?(?:\b(?:--)?requeue\b|\bre-?queued\b|\b(?:put|goes?)\s+back(?=\s+"
        r"(?:when|if|after|at)\b))(?:\s+(?:it|in(?:to)? the queue))*(?:\s+(?:when|if|after"
        r"|at)\s+[^.,;\n]*(?:preempt\w*|limit|killed|fails?|time)\b)?",
        _again,
    ),
    _row(
        r"\b(?:restart|resubmit|start) (?:it |itself )?(?:again )?(?:automatically|by itself)(?: when| after"
        r"| at)?[^.,;\n]{0,40}",
        _again,
        True,
    ),
    _row(
        r"\b(?:(?:and|also|please)\s+)*(?P<v>pip3? install(?: -[\w-]+)*(?: (?!first\b|before)[\w.\[\]=<>~+-]+){1,5})"
        r"\s+(?:first|before(?:hand)?(?: (?:it|that|the training|training))?|at the start)\b",
        lambda m, r: (Add("before", m["v"], m[0].strip()),),
    ),
    _row(GRID, grid_array),
    _row(
        r"\b(?:(?:an? )?(?:job )?array (?:over|of|with|for|from)?|also over|and over|over|sweep(?:ing)? over"
        r"|for each)\s*(?:the\s+)?(?:(?:(?<=array of )|(?<=array with )|(?<=array )"
        r"|(?<=array for ))(?P<count>{N})(?! ?(?:-|to|\.\.))\s*(?:jobs|tasks|runs|elements)?\b"
        r"|(?P<option>--?[\w.-]+|[a-z][\w.]*)?\s*[=:]?\s*(?:values?\s+)?(?:in\s+)?[({\[]?(?:(?P<low>\d{1,4})\s*"
        r"(?:\.\.\.?|-|to)\s*(?P<high>\d{1,4})(?![\w.])|(?P<values>(?:[\d.]+(?:e-?\d+)?"
        r"|[\w./-]*\d[\w./-]*)(?:(?:\s*,\s*|\s+and\s+|\s+)(?:[\d.]+(?:e-?\d+)?)(?![\w%]))+)))[)}\]]?",
        _array,
    ),
    _row(
        r"\b(?:make it |as |run )?(?:an? )?(?P<count>{N})(?:[- ](?:task|element|job))? (?:array (?:tasks|jobs"
        r"|runs|elements)|(?:task|element)?[ -]?(?:job )?array)"
        r"(?P<option>\b\B)?(?P<low>\b\B)?(?P<high>\b\B)?(?P<values>\b\B)?",
        _array,
    ),
    _row(r"\b(?P<count>{N}) copies\b(?P<option>\b\B)?(?P<low>\b\B)?(?P<high>\b\B)?(?P<values>\b\B)?", _array),
    _row(
        r"(?:,\s*)?\b(?:(?:at most|max(?:imum)?|no more than|only)\s+(?P<v>{N})\s+"
        r"(?:at (?:a time|once|the same time)|together|in parallel|concurrently|simultaneously)"
        r"|(?P<w>{N}) at (?:a time|once|the same time))|(?<![\w%])%\s?(?P<x>\d{1,4})\b",
        _at_once,
    ),
    _row(
        r"\b(?:drop|remove|without|leave out|skip|not)\s+(?:seed\s+|lr\s+|value\s+"
        r"|the\s+)*(?P<v>[\d.]+(?:e-?\d+)?)(?![\w.%])",
        _dropped_value,
        True,
    ),
    _row(
        r"\b(?:start|run|begin|wait)?\s*(?:it\s+)?(?:only\s+)?(?:(?:after|until|once|when)\s+(?:job\s+"
        r"|jobs\s+)?(?:id\s+)?\d{4,}(?:\s*(?:,|and|:)\s*\d{4,})*(?:\s+(?:has\s+|have\s+|is\s+)?(?:finished"
        r"|finishes|ends?|done|succeed\w*|works?|worked|fails?|failed|completed?)(?:\s+(?:fine|ok|well))?)?"
        r"|(?:dependency\s+)?after(?:ok|any|notok)[: ]\s*\d+(?:[:, ]\d+)*)",
        _dependency,
    ),
    _row(
        r"\b(?:(?:chain|link) (?P<v>{N})(?: of them| jobs| runs| times)?|(?P<w>{N}) times chained"
        r"|(?:a )?chain of (?P<x>{N})(?: jobs)?|(?P<y>{N}) (?:jobs?|runs?|of them) (?:chained|in a chain"
        r"|one after (?:the other|another)|back to back|(?:that |which )?follow(?:ing)? (?:each other|one another))"
        r"|jobs (?:that |which )?follow(?:ing)? (?:each other|one another),? (?P<u>{N})(?: of them)?"
        r"|(?P<z>{N}) (?:jobs?|runs?)(?= of \S+(?: ?hours?)?,? (?:chained|in a chain|one after|back to back)))\b",
        lambda m, r: (Set("chain", count(m["v"] or m["w"] or m["x"] or m["y"] or m["z"] or m["u"]), m[0]),),
    ),
    _row(
        r"\b(?:call|name|rename)\s+(?:it|(?:the |this |my )?job|this)\s+(?:to\s+"
        r"|as\s+)?[\"'`]?(?P<v>[A-Za-z][\w.-]{0,60}\w)[\"'`]?|\b(?:job[ -]?name|name of (?:the )?job)\s*:?\s*"
        r"(?:is\s+|to\s+|should be\s+"
        r"|=\s*)?[\"'`]?(?P<w>[A-Za-z][\w.-]{0,60}\w)",
        lambda m, r: () if NO_NAME.fullmatch(m["v"] or m["w"]) else (Set("job_name", m["v"] or m["w"], m[0]),),
    ),
    _row(
        r"\b(?:(?:save|keep|put)\s+(?:(?:the|my)\s+)?)?(?:log|logs|output|stdout|stderr|write (?:the )?"
        r"(?:output|logs?))(?:\s+(?:and|&|,)\s+"
        r"(?:stdout|stderr|errors?|output))?\s+(?:both\s+)?(?:go(?:es)?\s+)?(?:to|into|in|as|nach|vers"
        r"|a|en)\s+(?:the\s+)?(?P<v>(?=[\w~$./%{}-]*[/%.])[~$.\w{}/%-]*[\w}%])(?P<folder>/|\s+(?:folder|dir))?",
        _output,
    ),
    _row(
        r"\b(?:errors?|stderr)\s+(?:separate(?:ly)?|apart|(?:go |goes )?(?:in|to|into) (?:an?|its|their|another)"
        r"(?: (?:own|separate|extra|other))? file)\b",
        _errors_apart,
        True,
    ),
    _row(
        r"\b(?:(?:OMP|openmp)(?:[ _]num)?[ _]threads?\s*(?:=|:|to)?\s*(?P<v>{N})|(?P<w>{N})\s+"
        r"(?:OMP|openmp)\s+threads?)\b",
        lambda m, r: _threads(count(m["v"] or m["w"]), m[0], r),
        True,
    ),
    _row(
        r"\bcd\s+(?:in)?(?:to\s+)?(?P<v>(?=\S*[/$~])[~$.\w{}/-]*\w)(?:\s+(?:first|before\w*(?: "
        r"(?:it|that|the run))?))?",
        lambda m, r: (Add("setup", f"cd {m['v']}", m[0].strip()),),
        True,
    ),
    _row(
        rf"\b(?:use|take|give me|on|i want)\s+(?:an?\s+|the\s+)?(?:whole|full|entire)\s+nodes?(?:\s+instead)?{ENDS}",
        _whole_node,
        True,
    ),
    _row(
        r"(?<![\w.-])(?:(?P<first>\d{1,5}(?:\.\d+)?)\s*(?P<before>GB|GiB|TB)(?:\s+(?:of\s+)?(?:RAM|mem(?:ory)?))?"
        r"[\s,;/+&]*(?:and\s+|with\s+)?)?(?P<v>{N})(?:[- ](?:physical|cpu))?[- ]?(?:cores?|v?cpus?|kerne|c(?:œ|oe)urs"
        r"|n[uú]cleos)\b(?!-|\s*(?:nodes?|jobs?|only|queue|partition|hours?|h|time)\b)"
        r"(?:\s*(?:per|an?|on (?:each|the|one|every)|/|each|of (?:the|a|each))\s*node)?"
        r"(?P<w>\b\B)?(?:[\s,;/+&]*(?:and\s+|with\s+)?(?P<gb>\d{1,5}(?:\.\d+)?)\s*(?P<unit>GB?|GiB|TB?)\b"
        r"(?:\s+(?:of\s+)?(?:RAM|mem(?:ory)?))?)?",
        _cores,
    ),
    _row(
        r"\b(?:give it |with |use |ask for |needs? |request |add )?(?:(?P<v>\d{1,4}(?:\.\d+)?)\s*(?P<unit>GB?|GiB"
        r"|TB?)\s+(?:of\s+)?(?:host\s+|cpu\s+|main\s+|system\s+)?(?:RAM|host memory|main memory|memory (?:per"
        r"|a) node)|--mem[= ](?P<w>\d+)\s*(?:G|GB))\b",
        lambda m, r: _memory(m, r) if m["v"] else (Set("memory_gb", int(m["w"]), m[0]),),
    ),
    _row(
        r"\b(?P<v>{N})\s+(?:process(?:es)?|tasks?|ranks?)\s+(?:per|a|on each|on every|for each|/)\s*node\b",
        _number("processes_per_node"),
        True,
    ),
    _row(
        r"\b(?:(?:make (?:it|this|that) (?:an? )?)?cpus?[- ]only(?: jobs?)?|only cpus?"
        r"|(?:needs? |uses? |with )?(?:no|0|zero) gpus?(?! (?:found|detected|available|visible|seen|is|are|was|were)\b)"
        r"(?: (?:at all|needed|required))?"
        r"|without (?:any |a |using )?gpus?|gpus? (?:is |are )?n(?:o|')t (?:needed|required|used)"
        r"|(?:do(?:es)?n'?t|do(?:es)? not) (?:need|use|require|want) (?:any |a |the )?gpus?|gpu-?(?:less|free)"
        r"|cpu(?=(?:[- ]only)?[- ](?:batch )?(?:jobs?|nodes?|queue|partition|script|task|work)\b)"
        r"|ohne gpus?|sans gpu|sin gpu|senza gpu)(?![\w-])",
        _no_gpus,
    ),
    _row(
        r"(?<![\w.-])(?P<v>\d{1,5}(?:\.\d+)?)\s*(?P<unit>GB|GiB|TB)\b(?:\s+(?:of\s+)?mem(?:ory)?\b)?"
        r"(?!\s*(?:of\s+)?(?:data\w*|files?|text|corpus|corpora|images?|model|shards?|per|/))",
        lambda m, r: _memory(m, r) if r.cpu_only else (),
    ),
    _row(
        r"\b(?P<v>{N})\s+(?:(?:mpi|worker)\s+)?(?:process(?:es)?|tasks?|ranks?|workers?)\s+"
        r"(?:per|a|on each|on every|for each|/)\s*node\b",
        lambda m, r: _number("processes_per_node")(m, r) if r.cpu_only else (),
    ),
    _row(
        r"\b(?P<no>not |non-?)?(?:--)?exclusive(?:ly)?\b(?: nodes?)?|\bwhole nodes? for (?:myself|me|itself)\b",
        _flag("exclusive"),
    ),
    _row(
        r"\b(?:use |with |in |under )?(?:the )?(?:--)?reservation(?: called| named| should be"
        r"|=)?\s*[=:]?\s*[\"'`]?(?P<v>(?!for\b|on\b|is\b|to\b|please\b)[A-Za-z][\w.-]*\w)",
        _named("reservation"),
    ),
    _row(
        r"\b(?:--)?constraint[=: ]+[\"'`]?(?P<v>(?!please\b|pls\b|for\b|is\b|on\b)[A-Za-z][\w&|-]*\w)"
        r"|\bonly (?:on )?nodes? (?:with|that have) (?:the )?(?:feature )?(?P<w>[A-Za-z][\w-]*\w)",
        lambda m, r: (Set("constraint", m["v"] or m["w"], m[0]),),
    ),
    _row(
        r"\b(?:not before|begin at|start at|--begin[= ])\s*(?P<v>\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?"
        r"|now\+\d+\w+|\d{1,2}:\d\d)",
        _named("begin"),
    ),
    _row(
        r"\b(?:node|host)s?\s+(?P<v>[a-z]{1,8}[a-z-]*\d{2,}[\w-]*(?:"
        r"(?:\s*,\s*|\s+and\s+)[a-z]{1,8}[a-z-]*\d{2,}[\w-]*)*)"
        r"\s+(?:is|are|has|have|keeps?|looks?|seems?)\b[^,;.\n]{0,25}[,;:]\s*(?:please\s+)?"
        r"(?:avoid|exclude|skip|leave out)\s+"
        r"(?:it|them|that|those)\b(?:\s+and\s+(?P<w>[a-z]{1,8}[a-z-]*\d{2,}[\w-]*))?",
        lambda m, r: tuple(Add("exclude_nodes", one, m[0].strip()) for one in (*_items(m["v"]), *_items(m["w"] or ""))),
    ),
    _row(
        r"\b(?:avoid|exclude|not on|(?:don'?t|do not|never)\s+(?:run|start|go)\s+on|skip|stay "
        r"(?:away from|off)|without|--exclude[= ])\s*(?:the\s+)?(?:nodes?\s+"
        r"|hosts?\s+)?(?P<v>[a-z]{1,8}[a-z-]*\d{2,}[\w-]*(?:(?:\s*,\s*|\s+and\s+)[a-z]{1,8}[a-z-]*\d{2,}[\w-]*)*)",
        _listed("exclude_nodes"),
    ),
    _row(
        r"\b(?:swap|replace|exchange)\s+(?:conda|venv|uv|virtualenv|mamba|modules?)\s+(?:for|with|by"
        r"|against)\s+(?:a\s+)?(?P<kind>conda|venv|uv|virtualenv|mamba)(?:,?\s+(?:(?:project|env(?:ironment)?"
        r"|dir(?:ectory)?|in|at|called|named|path)\s+)+(?P<v>{PATH}))?",
        _environment,
    ),
    _row(
        r"(?:\b(?:in|with|using|by|via|under|use|take|meant?|want)\s+)"
        r"(?:a\s+)?(?P<v>apptainer|singularity|podman-hpc|shifter|pyxis"
        r"|enroot)\b",
        lambda m, r: (Set("container_runtime", m["v"].lower(), m[0]),),
    ),
    _row(
        r"\b(?:(?:my|the|our)\s+)?(?:(?:container )?image|edf|environment definition file)\s+"
        r"(?:is\s+|from\s+|at\s+)?[\"'`]?(?P<v>[\w./-]+(?::[\w.-]*\w)|[\w./$~-]+\.(?:sif|sqsh"
        r"|toml))",
        _image,
    ),
    _row(
        r"\b(?:bind|mount)\s+(?P<v>[$~/][\w./${}~:-]*\w)(?:\s+(?:into|in|inside)\s+(?:the\s+)?container)?",
        lambda m, r: (Add("binds", m["v"], m[0]),),
    ),
    _row(
        r"\b(?:load\s+)?(?:the\s+)?(?:module\s+)?(?:called\s+)?(?:load\s+)?(?:the\s+)?(?:module\s+)?(?:called\s+"
        r"|named\s+)?(?P<v>[\w.+-]+(?:/[\w.+-]+)?)\s+(?:module\s+)?instead of (?:whatever is there|the (?:site'?s"
        r"|default|standard) (?:ones?|modules?)|everything else|all (?:the )?others?)",
        _modules_only,
        True,
    ),
    _row(
        r"\b(?:(?:also\s+|please\s+)?(?:load|add|use|needs?)\s+)?(?:the\s+|an?\s+)?(?:module load"
        r"|modules?(?:\s+called|\s+named)?)\s+"
        + LIST.replace(
            r"(?P<v>",
            r"(?P<v>(?!load\b|for\b|is\b|please\b|instead\b|as\b|that\b|with\b|lines?\b"
            r"|commands?\b|files?\b|version\b)",
            1,
        )
        + r"(?:\s+(?:as well|too|also|please))?",
        _listed("modules"),
    ),
    _row(
        r"(?<![\w/.-])(?P<v>(?:rsync|rclone|scp|cp|mv|tar|zstd|pigz|unzip|azcopy|dd|aws s3|gsutil"
        r"|(?:hf|huggingface-cli) download)\s+(?=\S*[-/$~.:])"
        r"(?:(?![.,;]\s|[.,;]$|\s(?:on|for|with|using|in|under)\s)[^\n`])+)"
        r"|\b(?:cop(?:y|ies|ying)|transfers?|moves?|syncs?)\s+(?:[a-z]+\s+){0,3}?(?:from\s+)?"
        r"(?P<source>[/$~][\w./$~{}-]*\w/?)\s+(?:in)?to\s+(?P<target>[/$~][\w./$~{}-]*\w/?)",
        _data_command,
    ),
    _row(
        r"\b(?:and\s+)?(?:then|afterwards|after that|when done)\s+(?:run\s+"
        r"|start\s+)?(?P<v>[\w./-]+\.py)(?:\s+(?:on\s+|with\s+)?(?P<nodes>{N})\s+nodes?)?(?:\s+(?:for\s+)?(?:"
        r"(?P<h>\d{1,2})\s*h(?:ours?)?|(?P<min>\d{1,2})\s*min(?:utes)?)\b)?",
        _then,
    ),
    _row(
        r"\b(?:do |make |run )?(?:an?\s+)?(?:(?:short|quick|brief|first)\s+"
        r"|\d+[- ]?(?:min(?:ute)?s?)\s+)*(?:debug|test|trial|smoke)[- ]?(?:run|test)(?: (?:of )?(?:that|it"
        r"|this))?(?: first)?\b",
        _flag("first_run"),
        True,
    ),
    _row(
        r"(?:\b(?P<no>{NOT})\s+)?\b(?P<v>{N})\s+(?:spare|reserve|standby)(?:\s+nodes?\b|(?=\W*$))",
        lambda m, r: (Set("spare_nodes", None if m["no"] else count(m["v"]), m[0]),),
    ),
    _row(
        r"\b(?:test|try|check|probe)\s+(?:all\s+|each of\s+)?(?:the\s+|my\s+)?nodes?\s+(?:in pairs\s*)?"
        r"(?:first|before|up ?front)\b"
        r"|\b(?:leave|sort) out (?:the )?(?:bad|slow|broken)(?: (?:and|or) (?:bad|slow|broken))? nodes?\b",
        lambda m, r: (Set("spare_nodes", r.spare_nodes or 0, m[0]),),
    ),
    _row(
        r"\b(?:go on|keep going|continue|carry on)\s+with\s+(?:at least\s+|as few as\s+)?(?P<v>{N})\s+nodes?"
        r"(?:[^.,;\n]{0,30}\b(?:dies?|fails?|lost|drops?|goes down))?",
        lambda m, r: (Set("least_nodes", count(m["v"]), m[0]),),
    ),
    _row(WORDS_OF_KV_REUSE, kv_reuse),
    _row(
        r"\b(?:back to the real (?:one|run|thing|job)|now the real (?:one|run|thing)|the full run again)\b",
        _real_one,
        True,
    ),
    _row(
        r"\b(?:(?:turn|switch|swich|put|set)\s+)?(?:off|disable)\s+(?:the\s+)?(?:wandb|w&b)(?:\s+(?:online|mode"
        r"|syncing|sync))*|\b(?:set |put )?wandb (?:(?:to |in )?off(?:line)?|online mode off)(?: mode)?\b"
        r"|\b(?:(?:make|set|put|keep) )?(?:(?:wandb|w&b|hugging ?face|hf|the hub|pip|datasets),? (?:and )?)*"
        r"(?:go |run |work )?\boffline(?: mode"
        r"| please)?\b|\b(?:no|don'?t use|without) (?:internet|wandb online|wandb)\b",
        _flag("offline"),
    ),
    _row(
        r"(?<![\w-])(?P<kind>tp|pp|cp|tensor[ -]parallel(?:ism)?|pipeline[ -]parallel(?:ism)?"
        r"|context[ -]parallel(?:ism)?)\s*(?:size|degree)?\s*(?:=|:|to|of|is)?\s*(?P<v>{N})(?!\w|\.\d)",
        _degree,
    ),
    _row(r"\bglobal[ -]batch(?:[ -]size)?\s*(?:=|:|to|of|is)?\s*(?P<v>\d{1,6})\b", _number("global_batch")),
    _row(
        r"(?:\b(?P<no>{NOT})\s+)?\b(?:(?:use|turn on|enable|add|with|switch on)\s+)?(?:activation|gradient)"
        r"[ -]checkpointing(?:\s+on)?\b",
        _flag("activation_checkpointing"),
    ),
    _row(r"\b(?:micro[ -]?(?:batch)?(?:[ -]size)?|mbs)\s*(?:=|:|to|of|is)?\s*(?P<v>{N})\b", _number("micro_batch")),
    _row(
        r"\b(?:gradient|grad)[ -]accum(?:ulation)?(?:[ -]steps)?\s*(?:=|:|to|of|is)?\s*(?P<v>{N})\b"
        r"|\baccumulat(?:e|ing|ion)(?: over| of)? (?P<w>{N})(?: steps| batches| micro[- ]?batches)?\b"
        r"|\b(?P<x>{N}) (?:gradient|grad)[ -]accum\w*(?:[ -]steps)?\b",
        lambda m, r: (Set("gradient_accumulation", count(m["v"] or m["w"] or m["x"]), m[0]),),
    ),
    _row(
        r"(?<![\w-])(?:in |use |with |to |and |et |y |e |und )?(?P<v>bf16|bfloat16|fp16|float16|half precision"
        r"|fp8|fp32)(?:\s+(?:precision|please|instead|mixed precision))?(?![\w-])",
        _precision,
    ),
    _row(
        r"\b(?:offload (?:the )?)?(?:optimi[sz]er|adam)(?:'?s)?(?:[ -]states?)?(?: offload(?:ed|ing)?)?\s*(?:to"
        r"|on|onto|auf|sur|a)\s*(?:the\s+)?cpus?(?: memory)?\b|\b(?:cpu[- ]offload(?:ing)?|offload (?:to"
        r"|onto) (?:the )?cpu|offload (?:the )?(?:optimi[sz]er|param\w*)(?: states)?)(?: on)?(?: (?:to"
        r"|onto) (?:the )?cpu)?\b|\bparam(?:eter)?s?\s+(?:to|on|onto)\s+(?:the\s+)?cpu\b",
        _offload,
    ),
    _row(r"^\W*(?:and\s+)?(?:the\s+)?param(?:eter)?s?\s+(?:too|as well|also)\b", _parameters_too, True),
    _row(
        r"(?:\b(?:master|rendezvous|serving|rdzv)[ _-]|^\W*|[,;]\s*|\b(?:use|set|change)\s+(?:the\s+"
        r"|another\s+)?)port\s*(?:=|:|to|number|is)?\s*(?P<v>\d{4,5})\b",
        lambda m, r: (Set("port", int(m["v"]), m[0]),),
    ),
    _row(
        r"\b(?:add |set |use )?(?:an? |the )?environment variable (?:called "
        r"|named )?(?P<name>[a-z]\w*_\w+) (?:equals|is|to|=) (?P<v>\w+)(?: all caps)?",
        _said_variable,
    ),
    _row(
        r"\b(?:the\s+|my\s+)?(?:program\s+)?(?:args?|arguments?|flags|options)\s*(?:are|is|should be|="
        r"|:)\s*[`\"']?(?P<v>--?[A-Za-z][^`\n]*[^`\n\s.,\"'])",
        lambda m, r: (Set("args", m["v"], m[0]), Set("argument_edits", (), m[0])),
        True,
    ),
    _row(
        rf"{CLAUSE}{TAKES_BACK}\s+(?:about\s+)?(?:(?:the|my|that|this|any)\s+)?(?P<v>{NAMED}){ENDS}",
        _cleared,
        True,
    ),
    _row(
        rf"(?:\btake\s+)?(?:\b(?:the|my|that|this)\s+)?\b(?P<v>{NAMED})\s+(?:out|away|off)\b(?:\s+again)?{ENDS}",
        _left_open,
        True,
    ),
    _row(
        rf"\b(?:leave|keep)\s+(?:(?:the|my|that)\s+)?(?P<v>{NAMED})\s+"
        rf"(?:open|out|empty|blank|unset|undecided|free|away)\b",
        _left_open,
        True,
    ),
    _row(
        rf"\bno\s+(?P<v>{NAMED})(?=\s+(?:from\s+(?:me|us)|for now|at all|either|needed|any ?more)\b)",
        _left_open,
        True,
    ),
    _row(
        rf"{CLAUSE}{TAKES_BACK}\s+(?:the|my|those|that)\s+(?P<n>\d+|[a-z]+)[ -]?"
        rf"(?P<unit>nodes?|gpus?|hours?|hrs?|h|min(?:ute)?s?|days?){ENDS}",
        _value_cleared,
        True,
    ),
    _row(
        r"\b(?:put|set|move|point)\s+(?P<name>[A-Z][A-Z0-9_]{2,})\s+(?:to|on|onto|in)\s+(?:the\s+"
        r"|my\s+)?\$?(?P<place>scratch|work|project|home)\b",
        _on_scratch,
    ),
    _row(
        r"\b(?:(?:and|also|add|set|export|define|change|with|put|use|an?|the|env(?:ironment)?"
        r"|variable)\s+)*(?-i:(?<![\w$-])(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+))(?:=|\s+(?:to|="
        r"|equals)\s+)(?P<v>'[^']*'|\"[^\"]*\"|[^\s,;()]+)",
        _variable,
    ),
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
