"""One field of a request put into a person's own script: where the script holds it, else as a line in its place.

Every other line stays. What the text has no place for is refused with what works instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from graph.extraction.script import ReadScript, read_script
from graph.extraction.script_record import record_of
from graph.extraction.shell_tree import parse
from graph.extraction.shell_words import plain
from graph.planning.directives import FORMS, PREFIX, Word
from graph.planning.fields import check_directive, check_module, check_path, check_plain_word, shown
from graph.planning.programs import split_words
from graph.planning.steps import shell_line
from graph.reading.edits import Set
from graph.usecases.edit_script import (
    DIRECTIVES,
    MODULE,
    OFFLINE,
    OWN_FORMS,
    Edited,
    base,
    exported,
    give,
    put_fields,
    queue_of,
    set_directives,
    set_variable,
    swap_module,
    take_out,
    with_directive,
)
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.job_parts import ArgumentEdit
from knowledge.types import JobRequest, Scheduler
from templates.quoting import shell_word

AS_PATCH = "the script has no place for it that is sure: give it as a patch"
NOT_HERE = (
    "a script of the person's own has no such setting: it is the program's, or port_script to the machine it runs on "
    "writes the job anew by the templates"
)
OTHER_SCHEDULER = "a script for another scheduler is one for another machine: port_script with that machine writes it"
NO_SCHEDULER = "the file asks no scheduler for anything: write_script makes a job of it (entry: bash {})"
# The directive that a field becomes where no line holds it.
NEW: Mapping[str, Mapping[Scheduler, str]] = {
    "walltime": {"slurm": "--time=", "pbs": "-l walltime=", "lsf": "-W "},
    "account": {"slurm": "--account=", "pbs": "-A ", "lsf": "-P "},
    "queue": {"slurm": "--partition=", "pbs": "-q ", "lsf": "-q "},
    "nodes": {"slurm": "--nodes=", "lsf": "-nnodes "},
    "gpus_per_node": {"slurm": "--gpus-per-node="},
}
WISHES = ("mail", "dependency", *FORMS, *OWN_FORMS)
ACTIVATES = re.compile(
    r"^(?P<head>[^\n#]*?\b(?:(?:conda|mamba|micromamba) activate|source activate)\s+)(?P<name>[^\s;&|]+)", re.M
)
SOURCES_VENV = re.compile(r"^(?P<head>[^\n#]*?(?:\bsource|(?<!\S)\.)\s+)(?P<name>\S+)(?P<tail>/bin/activate\b)", re.M)
# The commands in front of another one in its line.
BESIDE = re.compile(r"(?:.*(?:;|&&))?")
IMAGE = re.compile(
    r"(?P<head>(?:--container-image|--image)[= ]|\b(?:apptainer|singularity)\s+(?:exec|run)\b[^\n]*?\s)"
    r"(?P<name>(?:docker|oras|library)://\S+|\$?[\w./${}:@-]+(?:\.(?:sif|sqsh|simg|img)|(?<=image[= ])[\w./:@-]+))"
)
PER_NODE = re.compile(
    r"(?P<head>(?<![\w-])(?:--ppn|-ppn|--npernode|-npernode|--ntasks-per-node|--tasks-per-node|--nproc[_-]per[_-]node"
    r"|-a|--tasks_per_rs)[= ])(?P<value>\d+)\b"
)
ALL_RANKS = re.compile(r"(?P<head>(?<![\w-])(?:-n|-np|--ntasks|--num[_-]processes)[= ])(?P<value>\d+)\b")
ENDS_AT_FAULT = re.compile(r"^\s*set\s+-\w*e|^\s*set\s+-o\s+errexit|^#!.*\s-\w*e", re.M)
STOPPED = "set +e in front of the launch, so that the step sees its status"


def put_field(now: Edited, name: str, wanted: JobRequest, cluster: Cluster | None, file: str) -> Edited:
    """The script with that field of the request. Raises InputError with what speaks against it and what works.

    wanted: the request that holds the value; file: the script's name, for what is said.
    """
    if name in DIRECTIVES:
        return put_directive(now, name, wanted, cluster, file)
    if name in WISHES:
        return put_wish(now, name, wanted, cluster, file)
    if name in HANDLERS:
        return HANDLERS[name](now, wanted)
    if name == "scheduler":
        raise InputError(OTHER_SCHEDULER)
    raise InputError(NOT_HERE)


def scheduler_of(text: str, file: str) -> Scheduler:
    """The scheduler whose directives the script has. Raises InputError where it has none."""
    record = record_of(read_script(text))
    found = next((name for name in PREFIX if name == record.scheduler), None)
    if found is None:
        raise InputError(NO_SCHEDULER.format(file))
    return found


def put_directive(now: Edited, name: str, wanted: JobRequest, cluster: Cluster | None, file: str) -> Edited:
    """Nodes, time, account, queue, GPUs: in the line that holds it, else in a line of its own."""
    value = getattr(wanted, name)
    if name in ("account", "queue"):
        check_plain_word(name, value)
    changed = put_fields(now, {name: value}, cluster)
    if changed is not now:
        old = record_of(read_script(now.text)).gpus_per_node if name == "gpus_per_node" else None
        return with_ranks(changed, old, value) if old else changed
    script, scheduler = read_script(now.text), scheduler_of(now.text, file)
    held = next((script.active[option] for option in DIRECTIVES[name] if option in script.active), None)
    read = record_of(script)
    if value in (
        queue_of(now.text, read.queue, cluster) if name == "queue" else getattr(read, name),
        held and held.value,
    ):
        return now
    if held is not None:
        raise InputError(f"line {held.line} says {held.value}: {AS_PATCH}")
    form = form_of_queue(cluster, scheduler) if name == "queue" else NEW[name].get(scheduler)
    if form is None or not script.directives:
        return refused(AS_PATCH if script.directives else NO_SCHEDULER.format(file))
    text = with_directive(now.text, Word(form, str(value)), PREFIX[scheduler])
    return now if text == now.text else replace(now, text=text, says=(*now.says, f"{form}{value} set"))


def form_of_queue(cluster: Cluster | None, scheduler: Scheduler) -> str | None:
    """The option that names a queue: as the machine's own scripts have it."""
    known = cluster.directives if cluster and cluster.scheduler == scheduler else ()
    own = (one.text.partition("{queue}")[0] for one in known if "{queue}" in one.text)
    return next(own, NEW["queue"].get(scheduler))


def refused(why: str) -> Edited:
    """Raises InputError: for where a value is looked for."""
    raise InputError(why)


def put_wish(now: Edited, name: str, wanted: JobRequest, cluster: Cluster | None, file: str) -> Edited:
    """A directive that people add: array, mail, memory, requeue and the like."""
    scheduler = scheduler_of(now.text, file)
    changed = set_directives(now, Set(name, getattr(wanted, name)), scheduler, cluster)
    if changed is now and getattr(wanted, name) not in (False, None):
        form = {**FORMS, **OWN_FORMS}.get(name, {}).get(scheduler)
        if form is None and name not in ("mail", "dependency"):
            raise InputError(f"{scheduler} has no option for {name}")
        raise InputError("it stands so already, or its value is none that a directive takes")
    return changed


def put_variables(now: Edited, wanted: JobRequest) -> Edited:
    """Variables where the script sets them, else exported before the launch."""
    for one in wanted.variables:
        if one.expand:
            now = beside_launch(now, f'export {one.name}="{one.value}"')
            continue
        changed = set_variable(now, one.name, one.value)
        now = changed if changed is not now else beside_launch(now, exported(one.name, one.value).strip())
    return now


def put_arguments(now: Edited, wanted: JobRequest) -> Edited:
    """Options of the program: set where they stand, else behind the others."""
    edits = [*wanted.argument_edits, *edits_of(wanted.args or "")]
    for one in edits:
        changed = take_out(now, one.name) if one.kind == "remove" else give(
            now, one.name, one.value or "", not one.name.startswith("-"), True)  # fmt: skip
        if changed is now and not stands(now.text, one):
            raise InputError(f"{one.name}: {AS_PATCH}")
        now = changed
    return now


def stands(text: str, one: ArgumentEdit) -> bool:
    """Whether the argument is as it is wanted."""
    if one.kind == "remove":
        return one.name not in text
    return re.search(rf"{re.escape(one.name)}[= ]{re.escape(shell_word(one.value or ''))}(?!\S)", text) is not None


def edits_of(args: str) -> list[ArgumentEdit]:
    """`--lr 1e-4 --amp` as changes of single options. Raises InputError on words that belong to no option."""
    words, edits = list(split_words("args", args)), list[ArgumentEdit]()
    while words:
        word = words.pop(0)
        name, sign, value = word.partition("=")
        if sign and re.fullmatch(r"[-+]*[A-Za-z][\w.-]*", name):
            edits.append(ArgumentEdit("set", name, value))
        elif word.startswith("-") and not re.fullmatch(r"-[\d.]+", word):
            has_value = bool(words) and (not words[0].startswith("-") or re.fullmatch(r"-[\d.]+", words[0]) is not None)
            edits.append(ArgumentEdit("set", word, words.pop(0) if has_value else None))
        else:
            raise InputError(f"{shown(word)} belongs to no option: {AS_PATCH}")
    return edits


def put_modules(now: Edited, wanted: JobRequest) -> Edited:
    """Modules in the place of another version of theirs, behind the last that is loaded, or taken out."""
    for name in wanted.modules:
        check_module(name)
        lines = list(MODULE.finditer(now.text))
        now = swap_module(now, lines, name, base(name)) if lines else beside_launch(now, f"module load {name}")
    for name in wanted.modules_removed:
        changed = swap_module(now, list(MODULE.finditer(now.text)), "", name)
        now = changed if changed is not now else refused(f"no line loads {name}")
    return now


def put_environment(now: Edited, wanted: JobRequest) -> Edited:
    """Another conda or virtual environment in the line that enters one, else in a line of its own."""
    name, kind = wanted.environment or "", wanted.environment_kind
    check_path("environment", name)
    own = [
        (found, kind) for kind, one in (("conda", ACTIVATES), ("venv", SOURCES_VENV)) if (found := one.search(now.text))
    ]
    if kind in ("uv", "edf", "container", "active", "module"):
        raise InputError(f"environment_kind {kind} on an own script: {AS_PATCH}")
    if own and kind in (None, own[0][1]):
        found = own[0][0]
        text = f"{now.text[: found.start('name')]}{name}{now.text[found.end('name') :]}"
        return replace(now, text=text, says=(*now.says, f"environment {found['name']} → {name}"))
    is_venv = kind == "venv" or (kind is None and "/" in name)
    enters = f"source {shell_word(name + '/bin/activate')}" if is_venv else f"conda activate {shell_word(name)}"
    if own:  # the command alone, whatever stands beside it in its line
        found = own[0][0]
        start = found.start() + len(BESIDE.match(found["head"])[0])  # type: ignore[index]
        old = now.text[start : found.end()]
        text = now.text[:start] + old[: len(old) - len(old.lstrip())] + enters + now.text[found.end() :]
        return replace(now, text=text, says=(*now.says, f"`{old.strip()}` → `{enters}`"))
    return beside_launch(now, enters)


def put_container(now: Edited, wanted: JobRequest) -> Edited:
    """Another image in the launch that has one."""
    name, found = wanted.container or "", list(IMAGE.finditer(now.text))
    check_path("container", name)
    if len({one["name"] for one in found}) != 1:
        raise InputError(f"{'several images are' if found else 'no image is'} named in the launch: {AS_PATCH}")
    text = IMAGE.sub(lambda one: one["head"] + name, now.text)
    return replace(now, text=text, says=(*now.says, f"image {found[0]['name']} → {name}"))


def put_processes(now: Edited, wanted: JobRequest) -> Edited:
    """Ranks a node where the launch or a directive counts them, and their total with them."""
    counts = {int(one["value"]) for one in PER_NODE.finditer(now.text)}
    changed = with_ranks(now, counts.pop(), wanted.processes_per_node or 1) if len(counts) == 1 else now
    return changed if changed is not now or wanted.processes_per_node in counts else refused(AS_PATCH)


def with_ranks(now: Edited, old: int, each: int) -> Edited:
    """The script with another number of ranks a node: the counts that were the old one, and totals that follow."""
    nodes = record_of(read_script(now.text)).nodes or 1
    rows = now.text.splitlines(keepends=True)
    for at, row in enumerate(rows):
        if re.match(r"\s*#(?!SBATCH)", row) or not (PER_NODE.search(row) or ALL_RANKS.search(row)):
            continue
        rows[at] = PER_NODE.sub(lambda one: f"{one['head']}{each if int(one['value']) == old else one['value']}", row)
        if rows[at] != row or "--num" in row:
            rows[at] = ALL_RANKS.sub(lambda one: f"{one['head']}{total(one['value'], nodes, old, each)}", rows[at])
    text = "".join(rows)
    return now if text == now.text else replace(now, text=text, says=(*now.says, f"{old} → {each} ranks a node"))


def total(value: str, nodes: int, old: int, each: int) -> int:
    """All ranks of the job where they were those of each node."""
    return nodes * each if int(value) == nodes * old else int(value)


def put_files(now: Edited, wanted: JobRequest) -> Edited:
    """Files to source, before the launch."""
    for path in wanted.source_files:
        check_path("source_files", path)
        now = beside_launch(now, f"source {shell_word(path)}")
    return now


def put_offline(now: Edited, _: JobRequest) -> Edited:
    """The variables that keep libraries off the network."""
    for pair in OFFLINE.split():
        now = set_variable(now, *pair.split("=", 1))
    return now


def put_extra(now: Edited, wanted: JobRequest) -> Edited:
    """Directives as the person wrote them."""
    scheduler = scheduler_of(now.text, "FILE")
    for line in wanted.extra_directives:
        text = line.strip().removeprefix(PREFIX[scheduler]).strip()
        check_directive("extra_directives", text, free=True)
        if not text.startswith("-"):
            raise InputError(f"{shown(line)} is no directive of {scheduler}")
        changed = with_directive(now.text, Word(text, join="+"), PREFIX[scheduler])
        now = replace(now, text=changed, says=(*now.says, f"{text} set"))
    return now


def put_entry(now: Edited, wanted: JobRequest) -> Edited:
    """Another program in the launch, where its name stands there once."""
    program, new = read_script(now.text).program, wanted.entry or ""
    old = plain(program.entry) if program else ""
    if not old or now.text.count(old) != 1 or len(split_words("entry", new)) != 1:
        raise InputError(AS_PATCH)
    return replace(now, text=now.text.replace(old, shell_word(new)), says=(*now.says, f"program {old} → {new}"))


def put_before(now: Edited, wanted: JobRequest) -> Edited:
    """Steps in front of the statement that holds the launch."""
    for text in wanted.before:
        now = beside_launch(now, shell_line("before", text))
    return now


def put_after(now: Edited, wanted: JobRequest) -> Edited:
    """Steps behind the statement that holds the launch; one that asks for its status runs whatever came."""
    for text in wanted.after:
        line = shell_line("after", text)
        if "$?" in line and ENDS_AT_FAULT.search(now.text) and "set +e" not in now.text:
            now = beside_launch(now, "set +e", STOPPED)
        now = beside_launch(now, line, after=True)
    return now


def beside_launch(now: Edited, line: str, says: str = "", *, after: bool = False) -> Edited:
    """The line before or after the whole statement (its loop too) in which the program is launched.

    Raises InputError where another program, a function or another job's text runs it.
    """
    rows = now.text.split("\n")
    if line in (row.strip() for row in rows) and not after:
        return now
    first, last = launch_rows(read_script(now.text), now.text)
    at = last if after else first
    text = "\n".join([*rows[:at], line, *rows[at:]])
    place = "after" if after else "before"
    return replace(now, text=text, says=(*now.says, says or f"`{line}` {place} the launch"))


def launch_rows(script: ReadScript, text: str) -> tuple[int, int]:
    """The first row (from 0) of the statement with the launch, and the row behind it; without one, of the last.

    Raises InputError where something else runs the launch.
    """
    nodes = [one for one in parse(text).root_node.children if one.type not in ("comment", "&", ";")]
    if not nodes or script.jobs or script.language != "bash":
        raise InputError(AS_PATCH)
    row = script.training.line - 1 if script.training else nodes[-1].start_point[0]
    at = next((n for n, one in enumerate(nodes) if one.start_point[0] <= row <= one.end_point[0]), None)
    if at is None or nodes[at].type == "function_definition":
        raise InputError(AS_PATCH)
    held = nodes[at].text or b""
    waits = [one for one in nodes[at + 1 :] if (one.text or b"").split()[:1] == [b"wait"]]
    end = (waits or [nodes[at]])[-1]
    if held.lstrip().startswith(b"exec "):
        raise InputError(f"line {row + 1} is `exec`: nothing runs after it; {AS_PATCH}")
    behind = end.end_point[0] + (1 if end.end_point[1] else 0)
    return nodes[at].start_point[0], behind


HANDLERS: Mapping[str, Callable[[Edited, JobRequest], Edited]] = {
    "variables": put_variables,
    "args": put_arguments,
    "argument_edits": put_arguments,
    "modules": put_modules,
    "modules_removed": put_modules,
    "environment": put_environment,
    "container": put_container,
    "processes_per_node": put_processes,
    "source_files": put_files,
    "offline": put_offline,
    "extra_directives": put_extra,
    "entry": put_entry,
    "before": put_before,
    "after": put_after,
}
