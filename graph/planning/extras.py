"""What people add to a job beyond its size: arrays, restarts, further programs, staged data, a first run, offline.

Each function takes the plan as the machine's facts give it, and gives it back with the part, or a refusal with the
nearest thing. How a part is written is the templates' matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from graph.planning.directives import LATER, SUBMITS
from graph.planning.fields import check_directive, check_path, shown
from graph.planning.programs import edited, take_apart
from graph.planning.serving import with_serving
from graph.planning.steps import shell_line
from knowledge.cluster import Cluster, NodeType, walltime_seconds
from knowledge.errors import InputError
from knowledge.job_parts import ArgumentEdit, ArrayAxis, Dependency, JobArray, Program
from knowledge.types import (
    Alternative,
    Assumption,
    Directive,
    JobRequest,
    LaunchPlan,
    PlannedProgram,
    Refusal,
    Variable,
)
from templates.parts import array_options

FIRST_RUN, FIRST_LONGEST = "00:15:00", "00:30:00"
MOST_TASKS = 10_000
# An argument that stands for a number of its own in each task.
PLACEHOLDER = re.compile(
    r"(--?[\w-]*(?:seed|ind(?:e)?x|idx|task|trial|fold|run|split|part|shard)[\w-]*)[= ]"
    r"(?:[NnXxIiKk]|SEED|<\w+>|\$\{?i\}?)(?=\s|$)"
)
MOST_CHAINED = 100
STOPS_AT_LIMIT = (
    "A job that runs into its time limit did not end well, so this chain stops there: for a run that is cut off and "
    "goes on, let each start however the one before ended (dependency=afterany)."
)
# What a library needs to hear to stay off the network: Weights & Biases, Hugging Face's hub, pip.
OFFLINE = (
    Variable("WANDB_MODE", "offline", "no network: runs are kept beside the script, `wandb sync` sends them later"),
    Variable("HF_HUB_OFFLINE", "1", "no network: models and data come from the cache"),
    Variable("HF_DATASETS_OFFLINE", "1", "no network: models and data come from the cache"),
    Variable("TRANSFORMERS_OFFLINE", "1", "no network: models and data come from the cache"),
    Variable("PIP_NO_INDEX", "1", "pip fails at once instead of waiting for the network"),
)
PREFETCH = (
    "Offline: fetch on a login node first, into the same HF_HOME: `hf download MODEL` and "
    "`hf download --repo-type dataset DATA`; afterwards `wandb sync wandb/offline-run-*` sends the runs."
)
SIDE_BY_SIDE = (("srun", "slurm"), ("mpiexec", "pbs"), ("mpirun", "pbs"))
# A pattern of files stands in the script unquoted: nothing but a path with wildcards.
FILES = re.compile(r"(?!-)[\w./*?\[\]+-]+")
LINE = {"slurm": "%x-%A_%a.out", "lsf": "{name}-%J_%I.out"}


def with_extras(decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType) -> LaunchPlan | Refusal:
    """The plan with every part that was asked for."""
    steps: tuple[Callable[[LaunchPlan, JobRequest, Cluster, NodeType], LaunchPlan | Refusal], ...] = (
        with_array,
        with_restart,
        with_output,
        with_steps,
        with_programs,
        with_staging,
        with_offline,
        with_serving,
        with_first_run,
        with_node_test,
        with_fewer_nodes,
    )
    for step in steps:
        made = step(decided, request, cluster, node)
        if isinstance(made, Refusal):
            return made
        decided = made
    return decided


def first_run(request: JobRequest, cluster: Cluster) -> JobRequest:
    """The request of a short try: the debug queue that takes it, a quarter of an hour unless less was said."""
    if not request.first_run:
        return request
    longest = request.walltime or FIRST_RUN
    walltime = longest if walltime_seconds(longest) <= walltime_seconds(FIRST_LONGEST) else FIRST_RUN
    nodes = request.nodes or 1
    debug = [one for one in cluster.queues if one.purpose == "debug" and one.node_types]
    debug.sort(key=lambda one: (cluster.default_queue.node_types[0] not in one.node_types, one.max_nodes or MOST_TASKS))
    takes = (one for one in debug if one.min_nodes <= nodes and (one.max_nodes is None or nodes <= one.max_nodes))
    queue = next(takes, None)
    return replace(request, walltime=walltime, queue=queue.id if queue else request.queue)


def added(decided: LaunchPlan, *texts: str) -> tuple[Directive, ...]:
    return (*decided.directives, *(Directive(text) for text in texts))


def with_array(decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType) -> LaunchPlan | Refusal:
    array = request.array
    if array is None:
        return decided
    check_array(array)
    queue = cluster.queue(decided.queue)
    if queue and queue.max_submitted and array.tasks > queue.max_submitted:
        return Refusal(
            f"{cluster.title}'s queue {queue.id} holds {queue.max_submitted} jobs of a user at a time, each task of an "
            f"array counted: one of {array.tasks} is refused.",
            "Send it in parts, or let a task do several runs, one after the other.",
            queue.source,
        )
    if array.first and decided.scheduler not in ("slurm", "pbs"):
        raise InputError("its tasks are counted from 0 there: give their number alone")
    first, last, most = array.first, array.first + array.tasks - 1, f"%{array.at_once}" if array.at_once else ""
    # LSF's index is part of the name, which the frame writes; files are counted by the shell that submits.
    own = {"slurm": f"--array={first}-{last}{most}", "pbs": f"-J {first}-{max(first + 1, last)}{most}"}.get(
        decided.scheduler
    )
    written = added(decided, own) if own and not array.files else decided.directives
    array = with_placeholder(array, decided.args)
    # What the tasks vary is not given a second time.
    args = edited(decided.args, (ArgumentEdit("remove", axis.option) for axis in array.axes if axis.option))
    return replace(decided, array=array, directives=written, args=args)


def with_placeholder(array: JobArray, args: Sequence[str]) -> JobArray:
    """`--seed N` in an array that varies nothing else: N is the task's number."""
    found = PLACEHOLDER.search(" ".join(args))
    if found is None or array.axes or not array.count:
        return array
    indices = range(array.first, array.first + array.count)
    return replace(array, axes=(ArrayAxis(found[1], tuple(map(str, indices))),), count=None, first=0)


def check_array(array: JobArray) -> None:
    """Raises InputError on an empty, endless or oddly named array."""
    if array.files and not FILES.fullmatch(array.files):
        raise InputError(f"{shown(array.files)} is no pattern of files; give one such as configs/*.yaml")
    if any(not axis.values for axis in array.axes) or (array.count is not None and array.count < 1):
        raise InputError("the array has no tasks; say the values, such as `an array over lr 1e-3 and 1e-4`")
    if array.tasks > MOST_TASKS:
        raise InputError(f"the array has {array.tasks} tasks; give at most {MOST_TASKS}")
    if array.at_once is not None and array.at_once < 1:
        raise InputError(f"{array.at_once} tasks at once is none; give 1 or more")


def with_restart(decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType) -> LaunchPlan | Refusal:
    """Requeue, the signal before the limit, and chains of jobs. Requeue alone is the scheduler's own, after a failed
    node or a preemption; with the signal the job puts itself back before its limit."""
    chain = 1 if request.chain is None else request.chain
    if not 1 <= chain <= MOST_CHAINED:
        raise InputError(f"a chain of {chain} jobs; give 1 to {MOST_CHAINED}")
    signal, again = request.signal, bool(request.requeue and request.signal)
    if signal and signal.seconds <= 0:
        raise InputError(f"a signal {signal.seconds} s before the limit is none; give seconds, such as 300")
    notes = []
    if signal:
        unheard = (
            " One that does not is put back shortly before the limit." if again and decided.scheduler == "slurm" else ""
        )
        notes.append(
            f"Your program must act on SIG{signal.name}: its handler sets a flag, the training loop saves and ends "
            f"when it sees the flag, and the next start goes on from the newest checkpoint.{unheard}"
        )
    if again and decided.scheduler == "pbs":
        notes.append(
            "PBS starts the job again after a node failure (-r y), not at its limit: ask for a chain for that."
        )
    only_well = chain > 1 and is_of_chain(request.dependency)
    if chain > 1:
        how = "only if that ended well" if only_well else "however it ended"
        notes.append(f"{chain} jobs, each after the one before ({how}): your program loads its newest checkpoint.")
        notes += [STOPS_AT_LIMIT] if only_well and not signal else []
    directives = added(decided, '-Q "99"') if again and decided.scheduler == "lsf" else decided.directives
    return replace(
        decided,
        chain=chain,
        chain_kind="afterok" if only_well else "afterany",
        signal=signal,
        requeue=again and decided.scheduler in ("slurm", "lsf"),
        directives=directives,
        notes=(*decided.notes, *notes),
    )


def is_of_chain(after: Dependency | None) -> bool:
    """Whether a dependency that names no job says how the jobs of a chain depend on each other."""
    return after is not None and after.kind == "afterok" and not after.jobs


def with_output(decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType) -> LaunchPlan | Refusal:
    """The output's file, and where a job waits for another whose id is not known yet: both at submission."""
    options = ""
    if decided.array is not None and decided.array.files:
        options = array_options(decided.array, decided.scheduler, decided.job_name)
    after = request.dependency
    if after is not None and after.kind != "singleton" and not after.jobs and decided.chain == 1:
        options = (
            f"{options} " * bool(options)
            + {
                "slurm": f"--dependency={after.kind}:{LATER}",
                "pbs": f"-W depend={after.kind}:{LATER}",
                "lsf": f'-w "ended({LATER})"',
                "flux": f"--dependency={after.kind}:{LATER}",
            }[decided.scheduler]
        )
    if request.output is not None:
        output = in_words_of(decided.scheduler, request.output, decided.job_name)
        if output != request.output:
            note = OTHER_MARKS.format(request.output, output)
            request, decided = replace(request, output=output), replace(decided, notes=(*decided.notes, note))
    if request.output is None:
        default = LINE.get(decided.scheduler, "") if decided.array else ""
        return replace(decided, output=default.format(name=decided.job_name), submit_options=options)
    if "$" in request.output:
        if request.then or decided.chain > 1:
            raise InputError(f"output {request.output}: the scheduler expands no variable; give the path written out")
        return with_output_of_shell(replace(decided, submit_options=options), request.output)
    check_directive("output", request.output)
    directives = decided.directives
    if decided.scheduler == "pbs":
        directives = added(decided, f"-o {request.output}")
    folder = request.output.rpartition("/")[0]
    notes = (f"The folder {folder} has to be there before the job starts.",) if "%" in folder or "{" in folder else ()
    output = "" if decided.scheduler == "pbs" else one_a_task(request.output, decided)
    return replace(
        decided,
        output=output,
        output_folder="" if notes else folder,
        directives=directives,
        submit_options=options,
        notes=(*decided.notes, *notes),
    )


# What Slurm's marks of a file's name are called elsewhere: the job's id, an array's id and index. Others have no word
# there and are left out with what joins them.
MARKS: Mapping[str, Mapping[str, str]] = {
    "lsf": {"j": "%J", "A": "%J", "a": "%I"},
    "flux": {"x": "{{name}}", "j": "{{id}}", "A": "{{id}}"},
}
OTHER_MARKS = "The output {} has Slurm's marks; here it is {}."
OF_SLURM = re.compile(r"[-_.]?%\d*([A-Za-z])")


def in_words_of(scheduler: str, output: str, job_name: str = "") -> str:
    """An output's name with Slurm's marks as another scheduler has them; PBS has none and names the file by itself, in
    the folder that it is given (qsub(1B), -o)."""
    if scheduler == "slurm" or not OF_SLURM.search(output):
        return output
    if scheduler == "pbs":
        folder = output[: output.index("%")].rpartition("/")[0]
        return f"{folder or '.'}/"
    marks = {**({"x": job_name} if job_name else {}), **MARKS.get(scheduler, {})}

    def word(found: re.Match[str]) -> str:
        joint = found[0].partition("%")[0]
        return f"{joint}{marks[found[1]]}" if found[1] in marks else ""

    path, _, file = output.rpartition("/")
    named = OF_SLURM.sub(word, file).lstrip("-_.") or "job.out"
    return f"{OF_SLURM.sub(word, path)}/{named}" if path else named


# What names the output's file on the submitting command.
OUTPUT_OPTION = {"slurm": '--output="{}"', "pbs": '-o "{}"', "lsf": '-o "{}"', "flux": '--output="{}"'}


def with_output_of_shell(decided: LaunchPlan, output: str) -> LaunchPlan:
    """An output with a variable in it. No scheduler expands one in a directive (sbatch(1), "filename pattern"): the
    shell does, on the command that submits."""
    check_path("output", output)
    wanted = OUTPUT_OPTION[decided.scheduler].format(one_a_task(output, decided))
    note = "The scheduler expands no variable in a directive: the output's path stands on the submitting command."
    folder = output.rpartition("/")[0]
    return replace(
        decided,
        output="",
        output_folder="" if "%" in folder or "{" in folder.replace("${", "") else folder,
        submit_options=f"{decided.submit_options} {wanted}".strip(),
        notes=(*decided.notes, note),
    )


def one_a_task(output: str, decided: LaunchPlan) -> str:
    """A file's name with the task's number where tasks of an array would write over each other."""
    mark = {"slurm": "%A_%a", "lsf": "%J_%I"}.get(decided.scheduler, "")
    if decided.array is None or not mark or any(one in output for one in ("%a", "%j", "%A", "%J", "%I")):
        return output
    root, dot, end = output.rpartition(".")
    return f"{root}-{mark}.{end}" if dot else f"{output}-{mark}"


def with_steps(decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType) -> LaunchPlan | Refusal:
    """Commands before and after the program, as shell lines."""
    before = tuple(shell_line("before", text) for text in request.before)
    after = tuple(shell_line("after", text) for text in request.after)
    return replace(decided, before=before, after=after)


def with_programs(decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType) -> LaunchPlan | Refusal:
    """Further programs: after the main one with its whole size, or beside it on a part of the job."""
    then = tuple(
        planned(one, decided.nodes, decided.ranks_per_node)
        for one in request.then
        if not is_own_job(one, decided.nodes)
    )
    if not request.beside:
        return replace(decided, then=then)
    if (decided.launch.launcher, decided.scheduler) not in SIDE_BY_SIDE or one_device_each(decided):
        return Refusal(
            f"Two programs side by side in one job are not written for {decided.launch.launcher} ({cluster.title}).",
            f"{SUBMITS[decided.scheduler]} gives {decided.launch.launcher} the whole job.",
            None,
            (
                Alternative("one after the other", (("beside", None),)),
                Alternative("a job for each", (("beside", None),)),
            ),
        )
    if decided.signal:
        return Refusal(
            "A signal before the limit and programs side by side are not written in one job.",
            "Which of the programs should hear it?",
            None,
            (Alternative("side by side without the signal", (("signal", None), ("requeue", None))),),
        )
    parts = shares(request.beside, decided)
    if isinstance(parts, Refusal):
        return parts
    main, others = parts
    taken = tuple(
        Assumption(f"part of {part.entry}", size_in_words(part, decided), UNSAID_PART)
        for one, part in zip(request.beside, others, strict=True)
        if not (one.gpus_per_node if part.devices else one.nodes)
    )
    return replace(decided, then=then, beside=(main, *others), assumptions=(*decided.assumptions, *taken))


UNSAID_PART = "its size was not said (beside=PROGRAM;nodes=1 or ;gpus_per_node=1); the main program has the rest"


def size_in_words(part: PlannedProgram, decided: LaunchPlan) -> str:
    """What a program beside the main one has of the job."""
    if part.devices:
        return f"{part.ranks_per_node} of the {decided.ranks_per_node} GPUs a node"
    return f"{part.nodes} of the {decided.nodes} nodes"


def is_own_job(one: Program, nodes: int) -> bool:
    """Whether a further program is a job of its own: it has its own time, queue or account, another number of nodes, or
    comes before the main one."""
    return bool(one.walltime or one.queue or one.account or one.first) or one.nodes not in (None, nodes)


def one_device_each(decided: LaunchPlan) -> bool:
    """Whether the launcher hands each task one GPU, number 0: programs cannot be given some of them then."""
    return decided.launch.workers == "ranks" and decided.launch.local_rank == "0"


def planned(one: Program, nodes: int, ranks: int, devices: str = "") -> PlannedProgram:
    started = take_apart(one.entry, one.args)
    return PlannedProgram(started.entry, started.kind, started.args, nodes, ranks, devices, one.helper, one.wait_port)


def shares(
    beside: tuple[Program, ...], decided: LaunchPlan
) -> tuple[PlannedProgram, tuple[PlannedProgram, ...]] | Refusal:
    """Each program's part: GPUs of every node where GPUs were said (the first ones first), else whole nodes."""
    by_gpus = any(one.gpus_per_node for one in beside) or decided.nodes == 1
    whole = decided.ranks_per_node if by_gpus else decided.nodes
    said = [(one.gpus_per_node if by_gpus else one.nodes) or (1 if one.helper else 0) for one in beside]
    # Where nothing is said, what is left is shared alike; the main program has what does not come out even.
    each = max(1, (whole - sum(said)) // (1 + said.count(0)))
    asked = [size or each for size in said]
    rest = whole - sum(asked)
    if rest < 1:
        what = "GPUs a node" if by_gpus else "nodes"
        says = f"The programs beside it take all {whole} {what}: none is left for {decided.entry}."
        why = "Every program needs its own part."
        return Refusal(says, why, None, (Alternative("one after the other", (("beside", None),)),))
    first = 0
    others = []
    for one, size in zip(beside, asked, strict=True):
        numbers = ",".join(str(n) for n in range(first, first + size)) if by_gpus else ""
        nodes, ranks = (decided.nodes, size) if by_gpus else (size, decided.ranks_per_node)
        others.append(planned(one, nodes, ranks, numbers))
        first += size
    numbers = ",".join(str(n) for n in range(first, whole)) if by_gpus else ""
    nodes, ranks = (decided.nodes, rest) if by_gpus else (rest, decided.ranks_per_node)
    waits = next((one.wait_port for one in beside if one.helper and one.wait_port), None)
    main = PlannedProgram(decided.entry, decided.entry_kind, decided.args, nodes, ranks, numbers, False, waits)
    return main, tuple(replace(one, wait_port=None) if one.helper else one for one in others)


# Endings that only a file has. sbcast copies one file (https://slurm.schedmd.com/sbcast.html); a folder goes by cp.
ONE_FILE = re.compile(
    r"\.(?:tar|tgz|tbz2|txz|gz|bz2|xz|zst|zip|7z|h5|hdf5|nc|npz|npy|pth?|ckpt|bin|safetensors|gguf|parquet|arrow|feather"
    r"|csv|tsv|jsonl?|txt|sif|simg|sqsh|sqfs|img|mdb|sqlite3?|tfrecords?|pkl|pickle|root|idx)$",
    re.I,
)
NOT_NAMED = "{} is copied to {} on each node; no argument of the program names it: tell the program to read it there."


def with_staging(decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType) -> LaunchPlan | Refusal:
    """Data copied to each node's own disk; arguments that name it follow it there."""
    paths = request.stage_in
    if request.stage_environment:
        packed = request.environment or ""
        if not packed.endswith((".tar.gz", ".tar", ".tgz")):
            return Refusal(
                "An environment is staged as one packed file, not as its thousands of small ones.",
                "Pack it once: `conda-pack -p ENVIRONMENT -o env.tar.gz` (or `tar czf` a venv made for that path).",
                "https://docs.olcf.ornl.gov/software/analytics/pytorch_frontier.html",
                (Alternative("the environment where it is", (("stage_environment", None),)),),
            )
        paths = (*paths, packed)
    if not paths:
        return decided
    for path in paths:
        check_path("stage_in", path)
    disk = cluster.node_disk
    where = disk.path if disk else "${TMPDIR:-/tmp}"
    there = {word for one in decided.directives for word in re.split(r"[=&,\s]", one.text)}
    # A feature of the node that was asked for already (`--constraint=nvme`) is not asked for twice.
    directives = added(decided, *(one for one in (disk.directives if disk else ()) if one.split()[-1] not in there))
    names = {path.rstrip("/"): f"$LOCAL_DATA/{path.rstrip('/').rpartition('/')[2]}" for path in paths}
    args = tuple(at_copy(word, names) for word in decided.args)
    others = [
        replace(one, args=tuple(at_copy(word, names) for word in one.args)) for one in (*decided.then, *decided.beside)
    ]
    read = [one for one in paths if one != request.environment]
    same = args == decided.args and others == [*decided.then, *decided.beside]
    notes = tuple(NOT_NAMED.format(one, names[one.rstrip("/")]) for one in read) if same else ()
    taken = Assumption(
        "node disk", where, "each node's own disk, empty at the start", disk.source if disk else node.source
    )
    return replace(
        decided,
        stage_in=paths,
        node_disk=where,
        broadcast=tuple(path for path in paths if disk and disk.broadcast and ONE_FILE.search(path)),
        directives=directives,
        args=args,
        then=tuple(others[: len(decided.then)]),
        beside=tuple(others[len(decided.then) :]),
        assumptions=(*decided.assumptions, taken),
        notes=(*decided.notes, *notes),
    )


def at_copy(word: str, names: Mapping[str, str]) -> str:
    """An argument with a path that was staged, or one below it, as its copy's: alone or behind `NAME=`."""
    head, sign, path = word.rpartition("=") if re.match(r"[-\w.]+=", word) else ("", "", word)
    for source, copy in names.items():
        if path.rstrip("/") == source or path.startswith(f"{source}/"):
            return f"{head}{sign}{copy}{path[len(source) :]}"
    return word


def with_offline(decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType) -> LaunchPlan | Refusal:
    """Libraries kept off the network where that was said."""
    if not request.offline:
        return decided
    own = {variable.name for variable in (*decided.user_variables, *decided.variables)}
    quiet = tuple(variable for variable in OFFLINE if variable.name not in own)
    return replace(
        decided, variables=(*decided.variables, *quiet), notes=(*decided.notes, cluster.internet.as_there(PREFETCH))
    )


# PyTorch's flight recorder: where each rank stood, written when a collective times out. The second name is that of
# PyTorch before 2.9. https://docs.pytorch.org/tutorials/intermediate/debug_hangs_with_flight_recorder.html
RECORDED = "a hang leaves a file a rank; `maple-chat why first-run-fr-rank-*` names the one that stands behind"
RECORDER = (
    Variable("TORCH_FR_BUFFER_SIZE", "2000", RECORDED),
    Variable("TORCH_NCCL_TRACE_BUFFER_SIZE", "2000", RECORDED),
    Variable("TORCH_NCCL_DUMP_ON_TIMEOUT", "1", RECORDED),
    Variable("TORCH_FR_DUMP_TEMP_FILE", "$PWD/first-run-fr-rank-", RECORDED, expand=True),
    Variable("TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "$PWD/first-run-fr-rank-", RECORDED, expand=True),
)


def with_first_run(decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType) -> LaunchPlan | Refusal:
    """What a first run shows: which network the processes found, and whether it is the fast one."""
    if not request.first_run:
        return decided
    kept = tuple(one for one in decided.variables if not one.name.startswith("NCCL_DEBUG"))
    shows = (
        Variable("NCCL_DEBUG", "INFO", "this first run shows the network that NCCL finds"),
        Variable("NCCL_DEBUG_SUBSYS", "INIT,NET", "this first run shows the network that NCCL finds"),
        Variable("NCCL_DEBUG_FILE", "$PWD/first-run-%h-%p.log", "this first run shows the network that NCCL finds"),
    )
    note = f"A first run in {decided.queue}, {decided.walltime}: say *the real one* for its own queue and time."
    network = decided.nodes > 1 and decided.backend != "xpu"
    variables = (*kept, *((*shows, *RECORDER) if network else ()))
    return replace(
        decided,
        variables=variables,
        first_run=network,
        network_cards=node.nics.count or 0,
        notes=(*decided.notes, note),
    )


MOST_SPARE = 100


def with_node_test(decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType) -> LaunchPlan | Refusal:
    """The nodes tried in pairs before the training, with spare ones for those that are bad or slow."""
    spare = request.spare_nodes
    if spare is None:
        return decided
    if not 0 <= spare <= MOST_SPARE:
        raise InputError(f"{spare} spare nodes; give 0 to {MOST_SPARE}")
    leave = (Alternative("without the test of nodes", (("spare_nodes", None),)),)
    if decided.launch.launcher != "srun" or decided.beside or decided.nodes == 1 or decided.launch.workers == "ray":
        why = "one node has nobody to be tried with" if decided.nodes == 1 else "it needs srun and the whole job"
        return Refusal(f"A test of nodes before the training is not written here: {why}.", "", None, leave)
    queue = cluster.queue(decided.queue)
    if queue is not None and queue.max_nodes is not None and decided.nodes + spare > queue.max_nodes:
        return Refusal(
            f"{decided.nodes} nodes and {spare} spare are more than {queue.id} takes ({queue.max_nodes}).",
            "Spare nodes count like any other.",
            queue.source,
            (Alternative("only the test, no spare node", (("spare_nodes", 0),)), *leave),
        )
    asked, total = f"--nodes={decided.nodes}", f"--nodes={decided.nodes + spare}"
    directives = tuple(replace(one, text=total) if one.text == asked else one for one in decided.directives)
    price = f" {spare} of {decided.nodes + spare} nodes are spare and are paid for as well." if spare else ""
    note = f"The nodes are tried in pairs first, in a minute or two: bad and slow ones are left out and named.{price}"
    return replace(
        decided,
        directives=directives,
        spare_nodes=spare,
        notes=(*decided.notes, note),
    )


def with_fewer_nodes(
    decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType
) -> LaunchPlan | Refusal:
    """Elastic restarts in the allocation: the job goes on when a node dies, down to least_nodes."""
    least = request.least_nodes
    if least is None:
        return decided
    if not 1 <= least <= decided.nodes:
        raise InputError(f"at least {least} of {decided.nodes} nodes; give 1 to {decided.nodes}")
    if (decided.launch.launcher, decided.launch.workers) != ("srun", "torchrun") or decided.tensor_parallel > 1:
        return Refusal(
            f"Going on with fewer nodes is not written for {decided.framework} {decided.strategy} on {cluster.title}.",
            "It is torchrun's, under srun, and the model must be spread alike over any number of nodes.",
            "https://docs.pytorch.org/docs/stable/elastic/run.html",
            (Alternative("requeue after a node failure", (("least_nodes", None), ("requeue", True))),),
        )
    note = (
        f"When a node dies, the others start again from your newest checkpoint, down to {least}; three times at most. "
        "The first node's death ends the job. Batch size or accumulation must follow WORLD_SIZE."
    )
    return replace(decided, least_nodes=least, directives=added(decided, "--no-kill"), notes=(*decided.notes, note))
