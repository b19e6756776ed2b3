"""One field of a request put into a person's own script: where the script holds it, else as a line in its place.

Every other line stays. What the text has no place for is refused with what works instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from graph.debugging.remedies import request_of
from graph.extraction.request import understand
from graph.extraction.script import read_script
from graph.extraction.script_record import TYPED_GPUS, record_of
from graph.extraction.shell_words import plain
from graph.planning.directives import FORMS, NEAREST, NO_REQUEUE, PREFIX, Forms, Word
from graph.planning.fields import check_directive, check_module, check_path, check_plain_word, shown
from graph.planning.gpus import kinds_named
from graph.planning.programs import split_words
from graph.planning.request_fields import variable_of
from graph.planning.steps import shell_line
from graph.reading.edits import Set
from graph.usecases.edit_script import (
    DIRECTIVES,
    MODULE,
    OFFLINE,
    OWN_FORMS,
    Edited,
    base,
    directive_words,
    exported,
    give,
    put_fields,
    queue_of,
    set_directives,
    set_variable,
    swap_module,
    take_out,
    traps,
    with_directive,
    with_events,
)
from graph.usecases.launch_counts import OTHER_STARTER, with_gpus
from graph.usecases.own_arrays import put_array
from graph.usecases.own_lines import AS_PATCH, NO_SCHEDULER, beside_launch, scheduler_of
from graph.usecases.own_signals import held_signal, requeues, with_handler, without_handler
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.job_parts import ArgumentEdit, LimitSignal
from knowledge.types import JobRequest, Scheduler
from templates.quoting import shell_word

# What starts the processes that a directive counts.
STARTERS = frozenset(
    ("srun", "mpiexec", "mpirun", "ibrun", "aprun", "jsrun", "flux", "torchrun", "accelerate", "deepspeed")
)
# Ranks a node as a directive, where no line counts them.
RANKS: Forms = {
    "slurm": lambda each: Word("--ntasks-per-node=", each),
    "pbs": lambda each: Word("-l select=", f"mpiprocs={each}", ":"),
    "lsf": lambda each: Word("-R ", f'"span[ptile={each}]"', "+"),
    "flux": lambda each: Word("--tasks-per-node=", each),
}
NOT_HERE = (
    "a script of the person's own has no such setting: give the program's own option as argument_edits=--OPTION=VALUE, "
    "or port_script to the machine it runs on writes the job anew by the templates"
)
NO_ARGUMENT = "no program that the script starts is seen to get {}; of what else has it, give a patch"
OTHER_SCHEDULER = "a script for another scheduler is one for another machine: port_script with that machine writes it"
CHAINED = "not by a line of it, but as it is sent: {}; or give dependency=afterany:JOBID"
SENT: Mapping[str, str] = {
    "slurm": "JOB=$(sbatch --parsable FILE), then sbatch --dependency=afterany:$JOB FILE",
    "pbs": "JOB=$(qsub FILE), then qsub -W depend=afterany:$JOB FILE",
    "lsf": "bsub < FILE, then bsub -w 'ended(JOBID)' < FILE",
    "flux": "JOB=$(flux batch FILE), then flux batch --dependency=afterany:$JOB FILE",
}
# What takes the place of a field that only a new script has.
INSTEAD = {
    "chain": "not by a line of it: the next job is sent with the number of the one before",
    "beside": "give it as a patch: the line with & behind it, and `wait` at the end",
    "then": "give it as after=COMMAND",
    "stage_in": "give it as before=COMMAND that copies to the node's disk",
    "modules_only": "give modules_removed=NAME for each",
    "cpu_only": "take the GPU directives out as a patch",
    "launcher": "give the launch line as a patch",
    "port": "give variables=MASTER_PORT=NUMBER",
    "spare_nodes": "give nodes=NUMBER",
    "total_gpus": "give nodes and gpus_per_node",
    "node_type": "give constraint=FEATURE, or queue=NAME of that kind",
    "binds": "give the image's options in the launch line as a patch",
    "container_runtime": "give the launch line as a patch",
    "modules_removed": "give modules=NAME, which loads it again",
    "entry": "the launch needs a program: give another one",
}
# The directive that a field becomes where no line holds it.
NEW: Mapping[str, Mapping[Scheduler, str]] = {
    "walltime": {"slurm": "--time=", "pbs": "-l walltime=", "lsf": "-W "},
    "account": {"slurm": "--account=", "pbs": "-A ", "lsf": "-P "},
    "queue": {"slurm": "--partition=", "pbs": "-q ", "lsf": "-q "},
    "nodes": {"slurm": "--nodes=", "lsf": "-nnodes "},
    "gpus_per_node": {"slurm": "--gpus-per-node="},
}
WISHES = ("mail", "dependency", *FORMS, *OWN_FORMS)
OWN_HANDLER = "their own handler does not put the job back: it needs `scontrol requeue $SLURM_JOB_ID` at its end"
LEFT_OUT = "extra_directives takes a line as the scheduler has it"
SIGNALS = "give it as a patch: `timeout -s USR1 SECONDS` in front of the program"
CORES: Mapping[Scheduler, str] = {
    "pbs": "give the launch its cores, or ncpus= of the select line, as a patch",
    "lsf": "give the launch its cores (jsrun -c) as a patch",
}
ACTIVATES = re.compile(
    r"^(?P<head>[^\n#]*?\b(?:(?:conda|mamba|micromamba) activate|source activate)\s+)(?P<name>[^\s;&|]+)", re.M
)
SOURCES_VENV = re.compile(r"^(?P<head>[^\n#]*?(?:\bsource|(?<!\S)\.)\s+)(?P<name>\S+)(?P<tail>/bin/activate\b)", re.M)
# The commands in front of another one in its line.
BESIDE = re.compile(r"(?:.*(?:;|&&))?")
NO_IMAGE = "give the launch line as a patch, with `apptainer exec --nv IMAGE` (or the site's own) before the program"
IMAGE = re.compile(
    r"(?P<head>(?:--container-image|--image|--environment|--uenv)[= ]"
    r"|\b(?:apptainer|singularity)\s+(?:exec|run)\b[^\n]*?\s)"
    r"(?P<name>(?:docker|oras|library)://\S+"
    r"|(?<=(?:nment|image|-uenv)[= ])\$?[\w./${}:@-]+|\$?[\w./${}:@-]+\.(?:sif|sqsh|simg|img))"
)
# What starts a container, and how each is told of folders: as it may stand in the command, and as it is written anew.
STARTS_IMAGE = re.compile(
    r"^(?![^\S\n]*#)[^\n#]*?"
    r"(?P<by>\b(?:apptainer|singularity) +(?:exec|run)\b|\bshifter\b|\bpodman-hpc +run\b|--container-image[= ]\S+)",
    re.M,
)
BIND_FORMS = {
    "apptainer": ("--bind|-B", "--bind "),
    "singularity": ("--bind|-B", "--bind "),
    "shifter": ("--volume|-V", "--volume="),
    "podman-hpc": ("--volume|-v", "--volume "),
    "--container-image": ("--container-mounts", "--container-mounts="),
}
PER_NODE = re.compile(
    r"(?P<head>(?<![\w-])(?:--ppn|-ppn|--npernode|-npernode|--ntasks-per-node|--tasks-per-node|--nproc[_-]per[_-]node"
    r"|-a|--tasks_per_rs)[= ])(?P<value>\d+)\b"
)
LAUNCHER_COUNTS = re.compile(r"--(?:nproc[_-]per[_-]node|num[_-]processes)[= ]")
ALL_RANKS = re.compile(r"(?P<head>(?<![\w-])(?:-n|-np|--ntasks|--num[_-]processes)[= ])(?P<value>\d+)\b")
ENDS_AT_FAULT = re.compile(r"^[^\S\n]*set\s+-\w*e|^[^\S\n]*set\s+-o\s+errexit|^#!.*\s-\w*e", re.M)
STOPPED = "set +e in front of the launch, so that the step sees its status"
CHOOSES = "--constraint="
LEFT_FOR = "`--{}={}` is as it was for {}: say another number if it is to follow."
OTHER_KIND = "{} nodes; the queue, the account, the modules and the cores of a task may be the old kind's: look at them"


def put_field(now: Edited, name: str, wanted: JobRequest, cluster: Cluster | None, file: str) -> Edited:
    """The script with that field of the request. Raises InputError with what speaks against it and what works.

    wanted: the request that holds the value; file: the script's name, for what is said.
    """
    if name in DIRECTIVES:
        return put_directive(now, name, wanted, cluster, file)
    if wanted.array and name == "array":
        return put_array(now, wanted.array, cluster, file)
    if name in WISHES:
        return put_wish(now, name, wanted, cluster, file)
    if name == "processes_per_node":
        return put_processes(now, wanted, scheduler_of(now.text, file))
    if name == "node_type" and cluster is not None:
        return put_node_type(now, wanted.node_type or "", cluster)
    if name in HANDLERS:
        return HANDLERS[name](now, wanted)
    if name == "scheduler":
        raise InputError(OTHER_SCHEDULER)
    if name == "chain":
        raise InputError(CHAINED.format(SENT[scheduler_of(now.text, file)]))
    raise InputError(INSTEAD.get(name, NOT_HERE))


# What the words of an edit may set by name beside its size, which the script's own counts tell.
READ = (
    *(
        "array",
        "argument_edits",
        "environment",
        "container",
        "binds",
        "modules",
        "modules_removed",
        "variables",
        "source_files",
    ),
    *("offline", "before", "after", "mail", "dependency", "requeue", "signal", "output", "job_name", "memory_gb"),
    *("cpus_per_task", "constraint", "exclude_nodes", "nodelist", "reservation", "exclusive", "begin"),
    "extra_directives",
)


# Sizes that a change may not lose without a word.
COUNTS = ("nodes", "gpus_per_node", "walltime", "memory_gb", "cpus_per_task")
NO_PLACE = "Not done: {} {}: the script has no place for it that is sure; give it as a patch."


def put_read(now: Edited, words: str, cluster: Cluster | None) -> Edited:
    """The script with what the reader of requests finds in words: each field as its own scripts get it.

    What has no place in it is left, for the words that found none to be named.
    """
    before = request_of(record_of(read_script(now.text)))
    heard = understand(words, before, None, None, weighed=False)
    # A new option's name is the program's, and a number may count something else: words alone do not tell it.
    known = (
        one for one in heard.request.argument_edits if re.search(rf"(?<!\S){re.escape(one.name)}(?![\w-])", now.text)
    )
    done = " ".join(now.says)  # one order changes an option once
    known = (one for one in known if not re.search(rf"(?<!\S){re.escape(one.name)}(?![\w-])", done))
    named = tuple(one for one in known if one.kind == "remove" or not re.fullmatch(r"[\d.,e-]*", one.value or ""))
    mail = with_events(heard.request.mail, words) if heard.request.mail else None
    heard = replace(heard, request=replace(heard.request, args=None, argument_edits=named, mail=mail))
    changed = [name for name in READ if getattr(heard.request, name) != getattr(before, name)]
    was, failed = now, False
    for name in changed:
        held = now
        try:
            now = put_field(now, name, heard.request, cluster, "the script")
        except InputError:
            failed = True
        if now is held and name in COUNTS:
            value = getattr(heard.request, name)
            now = replace(now, told=(*now.told, NO_PLACE.format(name.replace("_", " "), value)))
    whole = now is not was and not failed and not heard.left
    return replace(now, placed=(*now.placed, words)) if whole else now


def put_directive(now: Edited, name: str, wanted: JobRequest, cluster: Cluster | None, file: str) -> Edited:
    """Nodes, time, account, queue, GPUs: in the line that holds it, else in a line of its own."""
    value = getattr(wanted, name)
    if name in ("account", "queue"):
        check_plain_word(name, value)
    changed = put_fields(now, {name: value}, cluster)
    if changed is not now:
        old = record_of(read_script(now.text)).gpus_per_node if name == "gpus_per_node" else None
        return with_share(changed, old, value, cluster) if old else changed
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


def put_node_type(now: Edited, name: str, cluster: Cluster) -> Edited:
    """Another kind of node: in the GPUs that are asked for by their type, and in the constraint that chooses it."""
    node = next(iter(kinds_named(name, cluster.node_types)), None)
    if node is None:
        raise InputError(f"{cluster.title} has no {shown(name)}: {', '.join(one.id for one in cluster.node_types)}")
    script, lines = read_script(now.text), now.text.splitlines(keepends=True)
    chosen = (f.text for f in cluster.directives if node.id in f.node_types and f.text.startswith(CHOOSES))
    feature = next(chosen, "").removeprefix(CHOOSES)
    wanted = {"constraint": feature} if feature else dict[str, str]()
    for option in ("gpus", "gpus-per-node", "gres", "gpus-per-task") if node.gpu_type else ():
        held = script.active.get(option)
        if held is not None and (typed := TYPED_GPUS.search(held.value)):
            wanted[option] = f"{held.value[: typed.start('kind')]}{node.gpu_type}{held.value[typed.end('kind') :]}"
    if not wanted:
        raise InputError(INSTEAD["node_type"])
    for option, value in wanted.items():
        held = script.active.get(option)
        if held is not None:
            head, _, tail = lines[held.line - 1].rpartition(held.value)
            lines[held.line - 1] = f"{head}{value}{tail}"
    text = "".join(lines)
    if feature and "constraint" not in script.active:
        text = with_directive(text, Word(CHOOSES, feature, "&"), PREFIX[cluster.scheduler])
    return now if text == now.text else replace(now, text=text, says=(*now.says, OTHER_KIND.format(node.id)))


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
    if name == "requeue" and wanted.requeue is False and scheduler in NO_REQUEUE:
        word = NO_REQUEUE[scheduler]
        text = with_directive(now.text, word, PREFIX[scheduler])
        return replace(now, text=text, says=(*now.says, f"{word.text} set")) if text != now.text else now
    value = getattr(wanted, name)
    bare = without_handler(now) if scheduler == "slurm" and name in ("signal", "requeue") else now
    changed = set_directives(bare, Set(name, value), scheduler, cluster)
    if scheduler == "slurm" and name in ("signal", "requeue") and value:
        changed = heard(now, bare, changed, value)
    words = directive_words(Set(name, value), scheduler, cluster)
    if changed is not now or value in (False, None) or any(word.value in now.text for word in words):
        return changed
    if words or scheduler in {**FORMS, **OWN_FORMS}.get(name, {}):
        raise InputError(f"{shown(str(value))} cannot stand in a directive; give it without blanks or quotes")
    near = {"signal": SIGNALS, "cpus_per_task": CORES.get(scheduler)}.get(name)
    raise InputError(f"{scheduler} has no option for {name}; {near or NEAREST.get(name, LEFT_OUT)}")


def heard(now: Edited, bare: Edited, changed: Edited, value: LimitSignal | bool) -> Edited:
    """The script in which the signal before the limit is acted on, and the job put back where that is asked for too.

    bare: the script without our handler, where it has one; changed: that with the field's directive. Raises InputError
    where nothing in the launch would hear the signal.
    """
    signal = value if isinstance(value, LimitSignal) else held_signal(changed.text)
    by_itself = bare is now and changed is not now and not requeues(changed.text)
    if signal is None or by_itself:
        return changed  # there is none, or Slurm itself brings it to the program
    if traps(changed.text, signal.name):
        puts_back = not requeues(changed.text) or "scontrol requeue" in changed.text
        return changed if puts_back or changed is now else replace(changed, says=(*changed.says, OWN_HANDLER))
    try:
        made = with_handler(changed, signal)
    except InputError as error:
        if changed is now:
            raise
        return replace(changed, says=(*changed.says, f"not done: the job is not put back at its limit: {error}"))
    return now if made.text == now.text else made


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
    edits = [*map(as_one_word, wanted.argument_edits), *edits_of(wanted.args or "")]
    for one in edits:
        changed = take_out(now, one.name) if one.kind == "remove" else give(
            now, one.name, one.value or "", not one.name.startswith("-"), True)  # fmt: skip
        if changed is now and not stands(now.text, one):
            raise InputError(NO_ARGUMENT.format(one.name) if one.kind == "remove" else f"{one.name}: {AS_PATCH}")
        now = changed
    return now


def as_one_word(one: ArgumentEdit) -> ArgumentEdit:
    """The change with its value as the program gets it, where it is one word."""
    words = split_words("argument_edits", one.value or "")
    return replace(one, value=words[0]) if len(words) == 1 else one


def stands(text: str, one: ArgumentEdit) -> bool:
    """Whether the argument is as it is wanted."""
    if one.kind == "remove":
        return False
    value = "" if one.value is None else f"[= ]{re.escape(shell_word(one.value))}"
    return re.search(rf"{re.escape(one.name)}{value}(?!\S)", text) is not None


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
        now = changed if changed is not now else refused(not_loaded(now.text, name))
    return now


def not_loaded(text: str, name: str) -> str:
    """That no line loads a module, and what is loaded."""
    loaded = [one for line in MODULE.finditer(text) for one in line["names"].split()]
    return f"no line loads {shown(name)}; {'give one of ' + ', '.join(loaded) if loaded else AS_PATCH}"


def put_environment(now: Edited, wanted: JobRequest) -> Edited:
    """Another conda or virtual environment in the line that enters one, else in a line of its own."""
    name, kind = wanted.environment or "", wanted.environment_kind
    if not name:
        raise InputError("it goes with its environment: give environment=NAME_OR_PATH")
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
    if not found:
        raise InputError(f"no image is named in the launch: {NO_IMAGE}")
    if len({one["name"] for one in found}) != 1:
        raise InputError(f"several images are named in the launch: {AS_PATCH}")
    text = IMAGE.sub(lambda one: one["head"] + name, now.text)
    return replace(now, text=text, says=(*now.says, f"image {found[0]['name']} → {name}"))


def put_binds(now: Edited, wanted: JobRequest) -> Edited:
    """Folders that the launch's container sees, in the form in which it has others; else behind what starts it."""
    for bind in wanted.binds or ("",):
        starts = list(STARTS_IMAGE.finditer(now.text))
        if len(starts) != 1:
            raise InputError(f"no one container is started in the script to bind {shown(bind)} into: {AS_PATCH}")
        check_path("binds", bind)
        if re.search(rf"[= ,]{re.escape(bind)}(?::r[ow])?(?![\w/])", now.text):
            continue
        names, written = BIND_FORMS[re.split(r"[= ]", starts[0]["by"])[0]]
        held = re.compile(rf"(?:\\\n|[^\n])*?\s(?P<option>{names})(?P<sign>[= ])(?P<value>\S+)")
        found = held.match(now.text, starts[0].start())
        more = f" {found['option']}{found['sign']}{bind}" if found else f" {written}{bind}"
        more = f",{bind}" if found and "mounts" in found["option"] else more
        at = found.end() if found else starts[0].end()
        text = f"{now.text[:at]}{more}{now.text[at:]}"
        now = replace(now, text=text, says=(*now.says, f"{bind} bound into the container"))
    return now


def put_processes(now: Edited, wanted: JobRequest, scheduler: Scheduler) -> Edited:
    """Ranks a node where the launch or a directive counts them, and their total with them; else as a directive.

    One task a node beside a launcher that counts more starts that launcher, and stays.
    """
    counts, each = {int(one["value"]) for one in PER_NODE.finditer(now.text)}, wanted.processes_per_node or 1
    own = counts - {1} or counts
    if not own:
        text = with_directive(now.text, RANKS[scheduler](str(each)), PREFIX[scheduler])
        return replace(now, text=text, says=(*now.says, f"{each} ranks a node set"))
    if len(own) > 1:
        raise InputError(
            f"the script counts {', '.join(map(str, sorted(own)))} ranks a node in several lines: {AS_PATCH}"
        )
    return now if each in own else with_ranks(now, own.pop(), each)


def with_ranks(now: Edited, old: int, each: int) -> Edited:
    """The script with another number of ranks a node: the counts that were the old one, and totals that follow."""
    nodes = record_of(read_script(now.text)).nodes or 1
    rows = now.text.splitlines(keepends=True)
    starts_one = old == 1 and LAUNCHER_COUNTS.search(now.text)  # one task a node, which starts that launcher
    for at, row in enumerate(rows):
        if starts_one and not LAUNCHER_COUNTS.search(row):
            continue
        if re.match(r"\s*#(?!SBATCH)", row) or not (PER_NODE.search(row) or ALL_RANKS.search(row)):
            continue
        rows[at] = PER_NODE.sub(lambda one: f"{one['head']}{each if int(one['value']) == old else one['value']}", row)
        if rows[at] != row or "--num" in row or OTHER_STARTER.search(row):
            rows[at] = ALL_RANKS.sub(lambda one: f"{one['head']}{total(one['value'], nodes, old, each)}", rows[at])
    text = with_gpus("".join(rows), nodes, old, each)
    return now if text == now.text else replace(now, text=text, says=(*now.says, f"{old} → {each} ranks a node"))


def with_share(now: Edited, old: int, each: int, cluster: Cluster | None, asked: bool = False) -> Edited:
    """The script with the ranks of other GPUs of a node, and the cores and memory of one task that has them all.

    asked: the words want these in proportion; else they follow where they are the machine's own share of the GPUs, and
    what does not follow is told.
    """
    script = read_script(now.text)
    started = any(one.name in STARTERS for one in script.layers)
    ranked = with_ranks(now, old, each) if started else now
    tasks = [read_script(one.text).active.get("ntasks-per-node") for one in (now, ranked)]
    if tasks[0] != tasks[1] or "exclusive" in script.active:
        return ranked
    shares = set(cores_a_gpu(cluster)) if cluster else set[int]()
    for option in ("cpus-per-task", "mem"):
        held = script.active.get(option)
        size = re.fullmatch(r"(?P<count>\d+)(?P<unit>[KMGT]?)", held.value) if held else None
        if held is None or size is None or not int(size["count"]):
            continue
        wanted = int(size["count"]) * each / old
        is_share = option != "mem" and int(size["count"]) in {share * old for share in shares}
        if wanted.is_integer() and (asked or is_share):
            text = with_directive(ranked.text, Word(f"--{option}=", f"{wanted:g}{size['unit']}"), PREFIX["slurm"])
            told = f"--{option} {held.value} → {wanted:g}{size['unit']}, as many for each GPU as before"
            ranked = replace(
                ranked, text=text, says=(*ranked.says, told), follows=(*ranked.follows, *text.splitlines())
            )
        elif asked or (option != "mem" and shares and int(size["count"]) > max(shares) * each):
            left = LEFT_FOR.format(option, held.value, f"{old} GPU{'s' * (old > 1)}")
            ranked = replace(ranked, told=(*ranked.told, left))
    return ranked


def cores_a_gpu(cluster: Cluster) -> Iterator[int]:
    """How many cores, or hardware threads where the scheduler counts these, go with a GPU on each kind of node."""
    for node in cluster.node_types:
        gpus = (node.gpus.per_node or 0) * (node.gpus.tiles_per_gpu if node.gpus.scheduler_counts == "tiles" else 1)
        yield from (cores // gpus for cores in (node.cpu.cores, node.cpu.schedulable) if cores and gpus)


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
    return put_variables(now, replace(JobRequest(), variables=tuple(map(variable_of, OFFLINE.split()))))


def put_extra(now: Edited, wanted: JobRequest) -> Edited:
    """Directives as the person wrote them."""
    scheduler = scheduler_of(now.text, "FILE")
    for line in wanted.extra_directives:
        text = line.strip().removeprefix(PREFIX[scheduler]).strip()
        check_directive("extra_directives", text, free=True)
        if not text.startswith("-") or (text.startswith("--") and scheduler in ("pbs", "lsf")):
            way = f"`{PREFIX[scheduler]} {'-o value' if scheduler in ('pbs', 'lsf') else '--option=value'}`"
            raise InputError(f"{shown(line)} is no directive of {scheduler}, which has them as {way}")
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


HANDLERS: Mapping[str, Callable[[Edited, JobRequest], Edited]] = {
    "variables": put_variables,
    "args": put_arguments,
    "argument_edits": put_arguments,
    "modules": put_modules,
    "modules_removed": put_modules,
    "environment": put_environment,
    "environment_kind": put_environment,
    "container": put_container,
    "binds": put_binds,
    "source_files": put_files,
    "offline": put_offline,
    "extra_directives": put_extra,
    "entry": put_entry,
    "before": put_before,
    "after": put_after,
}
