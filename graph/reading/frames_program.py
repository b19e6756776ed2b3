"""Frames of what stands around a program: its environment, container, data, further programs, and a first run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from graph.reading.edits import Add, Edit, Remove, Set
from graph.reading.frame import PATH, SMALL_WORD, Got, words
from graph.reading.parts import N, count
from knowledge.job_parts import ArgumentEdit, Program
from knowledge.types import JobRequest, Variable

FILE = r"(?<![\w./$-])[\w./${}~+-]*\w\.(?:tar(?:\.\w+)?|tgz|zip|sqsh|sqfs|h5|hdf5|lmdb|npy|npz|parquet|bin|pt|sif)\b"
STOPS = (
    r"in|on|at|and|with|for|once|first|before|after|as|of|to|by|then|which|that|side|from|each|but|when|beside|using|has"
    r"|have|must|should|is|are"
)
ARGUMENTS = (
    r"(?P<args>(?:\s+--?[A-Za-z][\w.-]*(?:=\S*[^\s,.;]"
    rf"|\s+(?!--?[A-Za-z]|(?:{STOPS})\b)[\w./~${{}}:@%+-]*[\w}}])?)*)"
)
COMMAND = re.compile(
    rf"(?<![\w./$-])(?:(?P<by>python3?|bash|sh)\s+)?(?P<file>(?:\./)?[\w./~${{}}-]*\w\.(?:py|sh)){ARGUMENTS}", re.I
)
SIDE = (
    r"\b(?:side by side|in parallel|at the same time|simultaneously|alongside|concurrently|next to (?:it|each other)"
    r"|beside (?:it|the training|that|each other))\b"
)
SHARE = (
    rf"\b(?:each\s+)?(?:on|with|gets?|takes?)\s+(?P<n>{N}|half|one|a)\s+(?:of\s+)?(?:the\s+)?(?:{N}\s+)?"
    r"(?P<what>nodes?|gpus?)\b"
)
SERVES = r",?\s*\b(?:it |which |that )?(?:serves?|listens|answers|is a server)\b[^.]*?\bport (?P<port>\d{4,5})\b"
IT = r"(?: (?:it|that|this|training|the training|the run))?"
BEFORE = (
    rf"\b(?:before{IT}|first|beforehand|prior to \w+|zuerst|vorher|davor|d'abord|avant|primero|antes|prima|primeiro)\b"
)
AFTER = (
    rf"\b(?:after(?:wards?)?{IT}|then|finally|at the (?:very )?end|when (?:it'?s |that'?s )?done"
    r"|once (?:it|training|that)(?:'s| is)? (?:done|finished)|danach|nachher|anschlie[sß]+end|puis|ensuite|apr[eè]s"
    r"|luego|despu[eé]s|poi|dopo|depois)\b"
)
ONCE = r"\b(?:once|one process|single process|post-?process|on a single node|on one node|only on rank 0)\b"
OWN_SIZE = (
    rf",?\s*\b(?:(?:with|on|in|for)\s+)?(?P<nodes>{N})\s+nodes?\b",
    rf",?\s*\b(?:(?:with|on|in|for)\s+)?(?P<time>{N})\s*(?P<unit>min(?:ute)?s?|h(?:ours?)?)\b",
)
VERSION = r"v?\d+(?:\.\d+)+(?:[\w.-]*\w)?"
MODULE = rf"(?<![\w/.$~-])(?P<mod>[A-Za-z][\w+-]*/{VERSION})(?![\w/:])"
MODULE_APART = (
    rf"\b(?:the )?(?P<name>[A-Za-z][\w+-]*) modules?(?: version)? (?:to |at |is |= ?)?(?P<version>{VERSION})"
    rf"|\bversion (?P<version2>{VERSION}) of (?:the )?(?P<name2>[\w+-]+)(?: module)?"
)
# `module load gcc and cuda/12.4`: a list that the table of parts reads.
UNVERSIONED = r"\bload\s+(?:the\s+)?(?:modules?\s+)?[a-z][\w+-]*(?:\s*,|\s+and\s)"
LOADS = r"\b(?:modules?|load|switch|swap|change|use|take|upgrade|downgrade|bump|need|update)\b"
OF_MODULES = (
    r"\b(?:module load|load|switch(?: to)?|swap|change|upgrade(?: to)?|modules?)\b",
    r"\bbefore anything(?: else)?\b",
    r"\b(?:as well|too)\b",
)
ENTERED = re.compile(
    rf"\b(?:conda|mamba) activate (?P<conda>[\w./~${{}}-]*[\w}}])|\bsource (?P<venv>(?:{PATH}|[\w./-]+))/bin/activate"
)
KIND = (
    r"\b(?:my |the |a |an )?(?P<kind>conda|mamba|virtual ?env(?:ironment)?|venv|uv)(?: (?:env(?:ironment)?|project))*\b"
)
KIND_NAME = re.compile(
    r"(?:(?:\s+(?:too|as well|also|please))?\s*,\s+(?:(?:it'?s|it is|which is|that'?s)\s+)?(?=called|named))?\s*(?<=\s)"
    r"(?:(?:is|was|are|called|named|name|hei[sß]+t|s'appelle|se llama|si chiama)[\s:=]+)*"
    rf"(?P<name>(?!{SMALL_WORD}\b)[A-Za-z][\w.-]*)",
    re.I,
)
OF_ENVIRONMENT = (
    r"\b(?:i|we) use\b",
    r"\bmy environment is\b",
    r"\bthe project (?:is|lies|lives)? ?(?:in|at)\b",
    r"\b(?:use|activate|load|take)\b",
)
RUNTIME = r"\b(?P<runtime>apptainer|singularity|podman-hpc|shifter|pyxis|enroot)\b"
IMAGE = (
    r"\b(?:image|container|apptainer|singularity|podman-hpc|shifter|pyxis|enroot)s?\s+"
    r"(?:(?:is|called|from|with|and|using|file|the|my|image)\s+)*[\"'`]?"
    r"(?P<v>[\w./-]+#[\w./-]+(?::[\w.-]*\w)?|[\w./-]+:[\w.-]*\w|[\w$~./{}-]+\.(?:sif|sqsh|simg))"
)
BIND = rf"\b(?:bind|mount|map)\s+(?P<src>{PATH})(?:\s*(?::|->|to|at|as|on|into|in)\s+(?P<dst>/[\w./-]*\w))?"
COPIES = r"\b(?:copy|stage|move|put|unpack|untar|extract|broadcast)\b"
DISK = (
    r"\b(?:to|on|onto|into|in)\s+(?:the\s+|a\s+|each\s+|every\s+)?(?:nodes?(?:'s)?[- ]?)?"
    r"(?:own\s+|local\s+|node-local\s+)*"
    r"(?:disks?|nvmes?|ssds?|/tmp|burst buffers?|\$TMPDIR|storage|scratch)(?: (?:of|on) (?:each|every|all) nodes?)?"
)
LOCAL_FOLDER = (
    r"\b(?:to|on|onto|into|in)\s+(?:/local\w*|/tmp|/dev/shm|/mnt/(?:bb|nvme|local)|/raid|\$\{?TMPDIR\}?)[\w/$.{}-]*"
)
OF_STAGING = (
    r"\b(?:on )?each node\b",
    r"\b(?:first|before training|at (?:the )?start)\b",
    r"\band (?:untar|unpack|extract)(?: it)?(?: there)?\b",
)
PASSED = (
    r"\b(?:pass|hand|give)\w*(?: (?:it|that|this|them|the (?:path|folder|directory)))?(?: over)?"
    r" (?:as|with|by|via) (?P<option>--?[A-Za-z](?:[\w.-]*\w)?)"
    r"|\(?(?:\S+\.py|it|the program|the script)(?: takes| has| reads| wants)(?: it as| that as)?"
    r" (?P<takes>--?[A-Za-z](?:[\w.-]*\w)?)\)?"
)
WRITTEN = r"\b(?:outputs?|results?|checkpoints?|runs?|save|write|written|logs?)\b"
GO_TO = (
    r"\b(?:the )?(?:outputs?|results?|checkpoints?) (?:go(?:es)?|are written|should go|land) (?:to|into|in)\b"
    r"|\b(?:write|save|put) (?:the |all )?(?:outputs?|results?|checkpoints?) (?:to|into|in|under)\b"
)
NCCL_TALKS = (
    r"\b(?:turn on |enable |with |set |switch on )?(?:the )?nccl[ -]debug\w*(?: (?:on|info|output|logging))*(?![=\w])"
)
FIRST_RUN = (
    r"\b(?:do |make |run )?(?:an?\s+)?(?:first,?\s+)?(?:an?\s+)?(?:(?:short|quick|brief|small|first)\s+)+"
    r"(?:debug |test |trial |smoke )*(?:test|run|try|debug|trial)\b(?: (?:run|job|first))*"
    r"(?:\s+(?:in|on|with) the (?:debug|test|dev\w*|short) (?:queue|partition|qos))?(?: (?:first|please))*"
)
DEEPSPEED_FILE = (
    r"\b(?:with |and |using )?(?:my |the |a |our )?deepspeed(?:'s)? (?:json|config\w*)(?: file)?(?: is| in| from|:)?"
    r"\s+(?P<file>[\w./~${}-]*\w\.json)"
)


def environment(text: str, request: JobRequest) -> Got | None:
    """A Python environment by its kind and its place or name, or by the line that enters it."""
    entered = ENTERED.search(text)
    if entered:
        kind, value = ("conda", entered["conda"]) if entered["conda"] else ("venv", entered["venv"])
        edits = (Set("environment_kind", kind, entered[0]), Set("environment", value, entered[0]))
        return Got(edits, [entered.span()])
    kinds, place = re.search(KIND, text, re.I), re.search(PATH, text)
    if kinds is None or re.search(r"\b(?:swap|replace|copy|stage|module load|bind|mount)\b", text, re.I):
        return None
    called = None if place else KIND_NAME.match(text[kinds.end() :])
    if place is None and called is None:
        return None
    kind = {"mamba": "conda", "conda": "conda", "uv": "uv"}.get(kinds["kind"].lower(), "venv")
    value = place[0] if place else called["name"] if called else ""
    spot = place.span() if place else (kinds.end(), kinds.end() + (called.end() if called else 0))
    edits = (Set("environment_kind", kind, kinds[0]), Set("environment", value, text.strip()))
    return Got(edits, [kinds.span(), spot, *words(text, *OF_ENVIRONMENT)])


def modules(text: str, request: JobRequest) -> Got | None:
    """Modules with their versions, in the order of the sentence: `switch to rocm/6.4.1`, `the rocm module to 6.2.4`."""
    if not re.search(LOADS, text, re.I) or re.search(UNVERSIONED, text, re.I):
        return None
    found = [(match.start(), match["mod"], match.span()) for match in re.finditer(MODULE, text)]
    for match in re.finditer(MODULE_APART, text, re.I):
        name = f"{match['name'] or match['name2']}/{match['version'] or match['version2']}"
        found.append((match.start(), name, match.span()))
    if not found:
        return None
    wanted = {name.split("/")[0]: name for _, name, _ in sorted(found)}  # `from rocm/6.2 to rocm/6.4.1`: the last one
    old = [Remove("modules", one) for one in request.modules if one.split("/")[0] in wanted]
    spans = [*(span for *_, span in found), *words(text, *OF_MODULES)]
    return Got((*old, *(Add("modules", one, one) for one in wanted.values())), spans)


def binds(text: str, request: JobRequest) -> Got | None:
    """A folder seen in the container, at its own place or at another."""
    found = re.search(BIND, text, re.I)
    if found is None:
        return None
    bind = f"{found['src']}:{found['dst']}" if found["dst"] else found["src"]
    return Got((Add("binds", bind, found[0]),), [found.span()])


def image(text: str, request: JobRequest) -> Got | None:
    """A container image by its name in a registry or its file, and the runtime where that is named with it."""
    found, runtime = re.search(IMAGE, text, re.I), re.search(RUNTIME, text, re.I)
    if found is None:
        return None
    edits = [Set("container", found["v"], found[0])]
    edits += [Set("container_runtime", runtime["runtime"].lower(), runtime[0])] if runtime else []
    return Got(
        edits, [found.span(), *([runtime.span()] if runtime else []), *words(text, r"\b(?:use|run it in) the\b")]
    )


def staging(text: str, request: JobRequest) -> Got | None:
    """Data copied to each node's own disk."""
    verb = re.search(COPIES, text, re.I)
    disk = re.search(DISK, text, re.I) or re.search(LOCAL_FOLDER, text, re.I)
    if verb is None or disk is None or not re.search(r"local|node|nvme|ssd|/tmp|burst|TMPDIR|disk", disk[0], re.I):
        return None
    path = re.search(FILE, text) or re.search(PATH, text[: disk.start()])
    if path is None:
        return None
    spans = [verb.span(), path.span(), disk.span(), *words(text, *OF_STAGING)]
    return Got((Add("stage_in", path[0], text.strip()),), spans)


def programs(text: str, request: JobRequest) -> Got | None:
    """Programs before, after or beside the job's own."""
    found = [match for match in COMMAND.finditer(text) if not re.search(r"\bsource\s+$", text[: match.start()])]
    if not found or not request.entry:
        return None
    # What stands in brackets behind a program is of that program, and of no size of the job.
    bracketed = [
        (one.end(), one.end() + len(behind[0]))
        for one in found
        if (behind := re.match(r"\s*\([^)]*\)", text[one.end() :]))
    ]
    around = words(
        text,
        r"\b(?:run|start|execute|launch)\b",
        r"\b(?:das|the|le|el|il) (?:training|entra\w+|addestr\w+)\b",
        r"\bin the same (?:job|allocation|script)\b",
        ONCE,
    )
    spans = [*(match.span() for match in found), *bracketed, *around]
    if re.search(SIDE, text, re.I):
        return Got(beside(text, found, request), [*spans, *words(text, SIDE, SHARE, SERVES)])
    steps: list[Edit] = []
    for match in found:
        kind = place_of(text, match)
        if not kind or match["file"] == request.entry:
            return None
        steps.append(step(match, kind, text))
    sizes = OWN_SIZE if any(isinstance(one, Add) and one.field == "then" for one in steps) else ()
    return Got(steps, [*spans, *words(text, BEFORE, AFTER, *sizes)])


def place_of(text: str, match: re.Match[str]) -> str:
    """Whether a program runs before or after the job's own: by the last word before it that says so, else the next
    one behind it; empty where none does."""
    told = [
        (one.start() > match.start(), abs(one.start() - match.start()), kind)
        for kind, said in (("before", BEFORE), ("then", AFTER))
        for one in re.finditer(said, text, re.I)
    ]
    return min(told)[2] if told else ""


def step(match: re.Match[str], kind: str, text: str) -> Edit:
    """A step by itself, or a program that the launcher starts as it does the first one."""
    file, args = match["file"], " ".join((match["args"] or "").split())
    alone = match["by"] is not None or file.endswith(".sh") or re.search(ONCE, text, re.I)
    if kind == "then" and (not alone or own_size(text)[2]):
        return Add("then", Program(file, args or None, *own_size(text)), match[0])
    by = match["by"] or ("python" if file.endswith(".py") else "bash")
    return Add("after" if kind == "then" else "before", f"{by} {file} {args}".strip(), match[0])


def own_size(text: str) -> tuple[int | None, int | None, str | None]:
    """Nodes, GPUs a node (never said here) and time of a program that is a job of its own."""
    nodes, time = (re.search(one, text, re.I) for one in OWN_SIZE)
    minutes = count(time["time"]) * (60 if time["unit"].lower().startswith("h") else 1) if time else 0
    return (
        count(nodes["nodes"]) if nodes else None,
        None,
        f"{minutes // 60:02}:{minutes % 60:02}:00" if minutes else None,
    )


def beside(text: str, found: Sequence[re.Match[str]], request: JobRequest) -> list[Edit]:
    """Programs that share the job: of several the first takes the place of the job's own."""
    share = re.search(SHARE, text, re.I)
    size, what = (part(share["n"], request), share["what"].lower()) if share else (1, "nodes")
    nodes, gpus = (size, None) if what.startswith("node") else (None, size)
    made = [Program(one["file"], " ".join(one["args"].split()) or None, nodes, gpus) for one in found]
    if len(made) == 1:
        port = re.search(SERVES, text, re.I)
        helper = replace(made[0], helper=True, wait_port=int(port["port"])) if port else made[0]
        return [Add("beside", helper, found[0][0])]
    return [Set("entry", made[0].entry), Set("args", made[0].args), *(Add("beside", one) for one in made[1:])]


def part(word: str, request: JobRequest) -> int:
    """A share of the job: half of its nodes, or so many."""
    return max(1, (request.nodes or 2) // 2) if word.lower() == "half" else 1 if word.lower() == "a" else count(word)


def output_folder(text: str, request: JobRequest) -> Got | None:
    """A folder that the program is told of, made before it starts: `outputs go to X, pass it as --out`."""
    told, place = re.search(PASSED, text, re.I), re.search(PATH, text)
    if told is None or place is None:
        return None
    edits: list[Edit] = [
        Add("argument_edits", ArgumentEdit("set", told["option"] or told["takes"], place[0]), text.strip())
    ]
    if re.search(WRITTEN, text[: place.start()], re.I):
        edits.append(Add("before", f"mkdir -p {place[0]}", place[0]))
    return Got(edits, [told.span(), place.span(), *words(text, GO_TO)])


def nccl_talks(text: str, request: JobRequest) -> Got | None:
    """What NCCL says of itself, which is no queue of that name."""
    found = re.search(NCCL_TALKS, text, re.I)
    if found is None or "NCCL_DEBUG=" in text:
        return None
    old = [Remove("variables", one) for one in request.variables if one.name == "NCCL_DEBUG"]
    return Got((*old, Add("variables", Variable("NCCL_DEBUG", "INFO", "as you said"), found[0])), [found.span()])


def first_run(text: str, request: JobRequest) -> Got | None:
    """A short try, in the queue for such."""
    found = re.search(FIRST_RUN, text, re.I)
    return Got((Set("first_run", True, found[0]),), [found.span()]) if found else None


def deepspeed_file(text: str, request: JobRequest) -> Got | None:
    """The person's own DeepSpeed configuration, handed on in the framework's form: the stage is the file's."""
    found = re.search(DEEPSPEED_FILE, text, re.I)
    if found is None:
        return None
    own = request.framework == "deepspeed" and not re.search(r"\btrainer\b", text, re.I)
    option = "--deepspeed_config" if own else "--deepspeed"
    edits: list[Edit] = [Add("argument_edits", ArgumentEdit("add", "--deepspeed"))] if own else []
    edits.append(Add("argument_edits", ArgumentEdit("set", option, found["file"]), found[0]))
    if request.strategy not in ("zero1", "zero2", "zero3") and not own:
        edits += [Set("framework", "hf-trainer"), Set("strategy", None)]
    return Got(edits, [found.span()])
