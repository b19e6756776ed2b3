"""Shell text of what people add to a job: arrays, steps on every node, parts of the job, chains of jobs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from knowledge.job_parts import ArrayAxis, JobArray
from knowledge.types import LaunchPlan, PlannedProgram, Scheduler, SideFile
from templates.quoting import shell_word

# A task's number from 0; a script that is run without its array is task 0. LSF counts from 1, and is 0 without one.
TASK: Mapping[Scheduler, str] = {
    "slurm": "${SLURM_ARRAY_TASK_ID:-0}",
    "pbs": "${PBS_ARRAY_INDEX:-0}",
    "lsf": "$((${LSB_JOBINDEX:-0} ? LSB_JOBINDEX - 1 : 0))",
    "flux": "${ARRAY_TASK:-0}",
}
# How a job is submitted so that only its id is printed, and how it is told to wait for another ($before).
SUBMITTED: Mapping[Scheduler, tuple[str, str]] = {
    "slurm": ("sbatch --parsable", "--dependency={kind}:$before"),
    "pbs": ("qsub", "-W depend={kind}:$before"),
    "lsf": ("bsub", "-w {kind}($before)"),
    "flux": ("flux batch", "--dependency={kind}:$before"),
}
# The words of an option that tells a program to go on with a run (`--resume-from`, `trainer.ckpt_path`), and what may
# stand beside them: not `--gradient-checkpoint`, `--load-best-model-at-end`.
RESUMES = frozenset(("resume", "restart", "continue", "restore", "load", "checkpoint", "ckpt"))
BESIDE_RESUMES = RESUMES | frozenset(
    ("from", "path", "dir", "file", "auto", "trainer", "training", "run", "last", "latest")
)
LSF_KINDS = {"afterok": "done", "afterany": "ended"}
# One task on each node, for copies and other steps.
EACH_NODE: Mapping[str, str] = {
    "srun": 'srun --ntasks="$NNODES" --ntasks-per-node=1',
    "none": 'srun --ntasks="$NNODES" --ntasks-per-node=1',
    "ibrun": 'srun --ntasks="$NNODES" --ntasks-per-node=1',
    "mpiexec": 'mpiexec -n "$NNODES" --ppn 1 --hostfile "$PBS_NODEFILE"',
    "mpirun": 'mpirun -np "$NNODES" --map-by ppr:1:node',
    "jsrun": 'jsrun --nrs "$NNODES" --rs_per_host 1 --tasks_per_rs 1',
    "flux": 'flux run --nodes="$NNODES" --ntasks="$NNODES"',
}
# The job's nodes, one a line, in the order of the launcher's tasks.
HOSTS: Mapping[Scheduler, str] = {
    "slurm": 'scontrol show hostnames "$SLURM_JOB_NODELIST"',
    "pbs": "awk '!seen[$0]++' \"$PBS_NODEFILE\"",
    "lsf": "cut -d ' ' -f 3- <<< \"$LSB_MCPU_HOSTS\" | xargs -n 2 | cut -d ' ' -f 1",
    "flux": "flux hostlist --expand --delimiter='\\n' local",
}
DEVICES = {"cuda": "CUDA_VISIBLE_DEVICES", "rocm": "ROCR_VISIBLE_DEVICES", "xpu": "ZE_AFFINITY_MASK"}


def array_lines(plan: LaunchPlan) -> tuple[str, ...]:
    """The values of each axis."""
    return task_values(plan.array, plan.scheduler)[0] if plan.array else ()


def task_words(plan: LaunchPlan) -> str:
    """The arguments of this task of an array, as the shell reads them."""
    return " ".join(task_values(plan.array, plan.scheduler)[1]) if plan.array else ""


def task_values(array: JobArray, scheduler: Scheduler) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines that hold the values of each axis, and the arguments of this task."""
    lines, words = [f"TASK={TASK[scheduler]}"], list[str]()
    step = array.tasks // (array.count or 1)
    for axis in array.axes:
        step //= len(axis.values)
        name = axis_name(axis)
        values = array.files or " ".join(shell_word(value) for value in axis.values)
        lines.append(f"{name}=({values})")
        index = "TASK" if step == 1 else f"TASK / {step}"
        alone = len(array.axes) == 1 and not array.count
        inner = index if alone else f"{index} % {len(axis.values)}"
        words.append(argument(axis, f"${{{name}[{inner}]}}"))
    return (*lines, "export TASK"), tuple(words)


def axis_name(axis: ArrayAxis) -> str:
    """A name for the shell's array of its values."""
    return re.sub(r"[^A-Z0-9]+", "_", axis.option.upper()).strip("_") + "_VALUES" if axis.option else "ARRAY_VALUES"


def argument(axis: ArrayAxis, value: str) -> str:
    """`--lr VALUE`, `lr=VALUE` or the value alone."""
    if not axis.option:
        return f'"{value}"'
    if axis.option.startswith("-"):
        return f'{shell_word(axis.option)} "{value}"'
    return f'{shell_word(axis.option + "=")}"{value}"'


def each_node(plan: LaunchPlan) -> str:
    return EACH_NODE[plan.launch.launcher]


def driver(plan: LaunchPlan) -> str:
    """What stands before a program of the first node alone: nothing in the batch script's own shell, which is there."""
    wrapper = f"{plan.launch.wrapper} " if plan.launch.wrapper else ""
    inside = [option for option in plan.launch.options if option.startswith(("--environment", "--container"))]
    return f"srun --overlap --nodes=1 --ntasks=1 {' '.join(inside)} {wrapper}" if inside else wrapper


def program_call(plan: LaunchPlan) -> str:
    return ("" if plan.entry_kind == "program" else f"{plan.launch.python} -u ") + '"${PROGRAM[@]}"'


def part_lines(plan: LaunchPlan, part: PlannedProgram, number: int) -> tuple[str, ...]:
    """What a program finds that has a part of the job: its nodes or GPUs, its first node, a port of its own."""
    lines = [f"export MASTER_PORT=$((MASTER_PORT + {number}))"] if number else []
    lines.append(f"export RANKS_PER_NODE={part.ranks_per_node}")
    if part.devices:
        lines.append(f"export PART_DEVICES={part.devices}")
    else:
        lines += nodes_of_part(plan, part, number)
    return (*lines, f"export WORLD_SIZE={part.nodes * part.ranks_per_node}")


def side_options(plan: LaunchPlan, part: PlannedProgram) -> str:
    """What the launcher is told so that a program stays on its part, and lets the others start."""
    if plan.launch.launcher != "srun":
        return ""
    return " --overlap" if part.devices else ' "${PART[@]}"'


def by_gpus(plan: LaunchPlan) -> bool:
    """Whether programs share the GPUs of each node."""
    return any(part.devices for part in plan.beside)


def lsf_name(plan: LaunchPlan) -> str:
    """LSF's name of a job holds the array's indices."""
    if plan.array is None or plan.array.files:
        return plan.job_name
    most = f"%{plan.array.at_once}" if plan.array.at_once else ""
    return f'"{plan.job_name}[1-{plan.array.tasks}]{most}"'


def nodes_of_part(plan: LaunchPlan, part: PlannedProgram, number: int) -> list[str]:
    """The part's own nodes: the main program has the first ones, the others follow in their order."""
    first = 0 if number == 0 else sum(one.nodes for one in plan.beside[:number])
    cut = f"sed -n '{first + 1},{first + part.nodes}p'"
    if plan.scheduler == "slurm":
        return [
            f"export NNODES={part.nodes}",
            f'HOSTS=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | {cut})',
            "MASTER_ADDR=${HOSTS%%$'\\n'*}",
            'PART=(--nodes="$NNODES" --nodelist="${HOSTS//$\'\\n\'/,}")',
        ]
    return [
        f"export NNODES={part.nodes}",
        f'sort -u "$PBS_NODEFILE" | {cut} > "nodes-${{PBS_JOBID%%.*}}-{number}"',
        f'export PBS_NODEFILE="$PWD/nodes-${{PBS_JOBID%%.*}}-{number}"',
        'MASTER_ADDR=$(sed -n 1p "$PBS_NODEFILE")',
    ]


def chain_files(
    plan: LaunchPlan, name: str, later: tuple[str, ...] = (), first: tuple[str, ...] = ()
) -> tuple[SideFile, ...]:
    """The script that submits several jobs: those before this one, this one so many times, then those that follow; or
    an array on Flux."""
    if plan.array is not None and plan.scheduler == "flux":
        return (SideFile(chain_name(name), flux_array(plan, name)),)
    if plan.chain == 1 and not later and not first:
        return ()
    ok, again = kind_of("afterok", plan.scheduler), plan.chain - bool(first)
    lines = [
        "#!/bin/bash",
        f"# Submits {', '.join(first)}{', then ' * bool(first)}{name} {plan.chain} time{'s' * (plan.chain > 1)}"
        + (f", then {', '.join(later)}." if later else "."),
        "set -euo pipefail",
        "before=",
        *submit_function(plan.scheduler),
        *(f"submit '{ok}' {other}" for other in first),
        *([f"submit '{kind_after(plan.jobs_before[-1], plan)}' {name}"] if first else []),
        *([f"for ((n = 1; n <= {again}; n++)); do"] if again else []),
        *([f"    submit '{kind_of(plan.chain_kind, plan.scheduler)}' {name}", "done"] if again else []),
        *(f"submit '{kind_after(*two)}' {name}" for two, name in zip(pairwise((plan, *plan.jobs)), later, strict=True)),
    ]
    return (SideFile(chain_name(name), "\n".join(lines) + "\n"),)


def goes_on(before: LaunchPlan, after: LaunchPlan) -> bool:
    """Whether a job goes on with the run of the one before: the same program, but that it is told to resume."""
    (was, told), (now, told_now) = map(without_resume, (before.args, after.args))
    return (before.entry, was) == (after.entry, now) and bool(told_now - told)


def without_resume(words: tuple[str, ...]) -> tuple[list[str], frozenset[str]]:
    """A program's arguments without those that tell it to resume, and the names of these."""
    names = [word.partition("=")[0] for word in words]
    parts = [set(re.split(r"[-_.]+", name.lower().strip("-+"))) for name in names]
    at = [n for n, one in enumerate(parts) if one & RESUMES and one <= BESIDE_RESUMES]
    values = [n + 1 for n in at if "=" not in words[n] and n + 1 < len(words) and not words[n + 1].startswith("-")]
    return [word for n, word in enumerate(words) if n not in (*at, *values)], frozenset(names[n] for n in at)


def kind_after(before: LaunchPlan, after: LaunchPlan) -> str:
    """How a job waits for the one before: one that goes on with a run starts when that was cut off by its limit too."""
    return kind_of("afterany" if goes_on(before, after) else "afterok", after.scheduler)


def kind_of(kind: str, scheduler: Scheduler) -> str:
    return LSF_KINDS[kind] if scheduler == "lsf" else kind


def submit_function(scheduler: Scheduler) -> list[str]:
    """`submit KIND SCRIPT`: submits it behind the job before, whose id it keeps."""
    command, option = SUBMITTED[scheduler]
    after = option.format(kind="$1")
    script = '< "$2"' if scheduler == "lsf" else '"$2"'
    flag, _, value = after.partition(" ")
    words = f'{flag} "{value}"' if value else f'"{flag}"'
    cut = {"slurm": "before=${before%%;*}", "lsf": "before=${before#*<} before=${before%%>*}"}.get(scheduler)
    return [
        "submit() {",
        "    local waits=()",
        f'    [ -z "$before" ] || waits=({words})',
        f'    before=$({command} ${{waits[@]+"${{waits[@]}}"}} {script})',
        *([f"    {cut}"] if cut else []),
        '    echo "$2: $before"',
        "}",
    ]


def array_options(array: JobArray, scheduler: Scheduler, job_name: str) -> str:
    """What the submit command says of an array over files, which the shell counts then. Flux has its own script."""
    most = f"%{array.at_once}" if array.at_once else ""
    many = f"$(ls {array.files} | wc -l)"
    return {
        "slurm": f"--array=0-$(({many} - 1)){most}",
        "pbs": f"-J 0-$(({many} - 1)){most}",
        "lsf": f'-J "{job_name}[1-{many}]{most}"',
        "flux": "",
    }[scheduler]


def flux_array(plan: LaunchPlan, name: str) -> str:
    last = f"$(ls {plan.array.files} | wc -l) - 1" if plan.array and plan.array.files else str(tasks_of(plan) - 1)
    most = plan.array.at_once if plan.array else None
    lines = [
        "#!/bin/bash",
        f"# Flux has no job arrays: submits {name} once for each task, which reads ARRAY_TASK.",
        *([f"# At most {most} run at a time: each waits for the one {most} before it."] if most else []),
        "set -euo pipefail",
        "jobs=()",
        f"for ((task = 0; task <= {last}; task++)); do",
        "    waits=()",
        *([f'    [ "$task" -lt {most} ] || waits=(--dependency="afterany:${{jobs[task - {most}]}}")'] if most else []),
        f'    jobs+=("$(flux batch ${{waits[@]+"${{waits[@]}}"}} --env=ARRAY_TASK="$task" {name})")',
        '    echo "task $task: ${jobs[task]}"',
        "done",
    ]
    return "\n".join(lines) + "\n"


def tasks_of(plan: LaunchPlan) -> int:
    return plan.array.tasks if plan.array else 1


def chain_name(name: str) -> str:
    return name.removesuffix(".sh") + "-submit.sh"
