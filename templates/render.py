"""From a decided plan to the script and the files beside it, in one call."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from knowledge.cluster import walltime_seconds
from knowledge.job_parts import MOST_STARTS, LimitSignal
from knowledge.types import LaunchBundle, LaunchPlan, PlannedProgram, SideFile
from templates.bytecode import KeptTemplates
from templates.configs import parallel_sizes, program_words, side_files, strategy_variables
from templates.parts import (
    DEVICES,
    HOSTS,
    array_lines,
    by_gpus,
    chain_files,
    chain_name,
    driver,
    each_node,
    lsf_name,
    part_lines,
    program_call,
    side_options,
    task_words,
)
from templates.quoting import shell_word, variable_value

FOLDER = Path(__file__).parent
IN_WORDS = {
    "ranks": "each task is one rank, and tells PyTorch so",
    "torchrun": "one torchrun a node starts the ranks",
    "accelerate": "one accelerate a node starts the ranks",
    "single": "one process, no launcher of ranks",
    "tensorflow": "one process a node, each told of the others by TF_CONFIG",
    "nodes": "one process a node, each told of the first",
    "ray": "a Ray head and workers, one a node, then the program",
}
STYLE = {
    "none": "one GPU",
    "ddp": "DDP",
    "fsdp": "FSDP",
    "tp": "tensor parallel",
    "pp": "pipeline parallel",
    "3d": "3D",
}
FRAMEWORK = {
    "pytorch": "PyTorch",
    "deepspeed": "DeepSpeed",
    "accelerate": "Accelerate",
    "lightning": "Lightning",
    "megatron": "Megatron",
    "hf-trainer": "HF Trainer",
    "torchtitan": "torchtitan",
    "jax": "JAX",
    "tensorflow": "TensorFlow",
    "horovod": "Horovod",
    "ray": "Ray",
    "vllm": "vLLM",
    "sglang": "SGLang",
}
# Their program or the framework itself spreads the model: no strategy is named.
SPREAD_THEMSELVES = ("jax", "tensorflow", "horovod", "ray", "vllm", "sglang")
SUBMIT = {"lsf": "{submit} < {name}"}
SUFFIX = ".sh"
WIDTH = 100
# Keeps an option and its value on one line while text is folded.
GLUE = "\u00a0"


@cache
def environment() -> SandboxedEnvironment:
    env = SandboxedEnvironment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        bytecode_cache=KeptTemplates(),
    )
    env.filters["sh"] = shell_word
    env.filters["value"] = variable_value
    env.filters["comment"] = comment
    return env


def render(plan: LaunchPlan) -> LaunchBundle:
    """The script, the files beside it, and the command that submits it."""
    name = script_name(plan)
    names = tuple(f"{number}-{script_name(job)}" for number, job in enumerate(plan.jobs, 2))
    firsts = tuple(
        f"first-{f'{number}-' if number > 1 else ''}{script_name(job)}"
        for number, job in enumerate(plan.jobs_before, 1)
    )
    chain = chain_files(plan, name, names, firsts)
    submit = f"{first_made(plan)}bash {chain_name(name)}" if chain else ""
    jobs = zip((*plan.jobs_before, *plan.jobs), (*firsts, *names), strict=True)
    others = tuple(render_job(job, one, submit) for job, one in jobs)
    own = render_job(plan, name, submit)
    more = (SideFile(one.name, one.script) for one in others)
    files = {file.name: file for file in (*own.files, *more, *(f for one in others for f in one.files), *chain)}
    return LaunchBundle(name, own.script, tuple(files.values()), own.submit)


def script_name(plan: LaunchPlan) -> str:
    strategy = "" if is_unnamed(plan) else f"-{plan.strategy}"
    return f"{plan.cluster}-{f'{plan.framework}{strategy}' if plan.on_gpus else 'cpu'}{SUFFIX}"


def is_unnamed(plan: LaunchPlan) -> bool:
    """Whether several ranks are started and nobody said how the program spreads over them."""
    return plan.strategy == "none" and plan.ranks > 1


def render_job(plan: LaunchPlan, name: str, submit: str = "") -> LaunchBundle:
    """One job's script with its own files. submit: the command that starts it, where that is none of its scheduler."""
    options = f"{plan.submit} {plan.submit_options}".rstrip()
    submit = submit or first_made(plan) + SUBMIT.get(plan.scheduler, "{submit} {name}").format(
        submit=options, name=name
    )
    script = (
        environment()
        .get_template(f"schedulers/{plan.scheduler}.sh.j2")
        .render(
            plan=plan,
            most_starts=MOST_STARTS,
            headline=headline(plan),
            submit=submit,
            program=folded(program_words(plan)),
            strategy_variables=strategy_variables(plan),
            tasks='"$RANKS_PER_NODE"' if plan.launch.workers == "ranks" else "1",
            total_tasks=total_tasks(plan),
            exported=exported(plan),
            parallel_sizes=parallel_sizes(plan),
            launch_in_words=launch_in_words(plan),
            array_lines=array_lines(plan),
            task_words=task_words(plan),
            each_node=each_node(plan),
            part_lines=part_lines,
            side_options=side_options,
            parts_by_gpus=by_gpus(plan),
            device_variable=DEVICES[plan.backend],
            lsf_name=lsf_name,
            host_list=HOSTS[plan.scheduler],
            handed_on=lambda *names: handed_on(plan, *names),
            launcher_options="".join(f" {option}" for option in plan.launch.options),
            driver=driver(plan),
            program_call=program_call(plan),
            walltime_s=walltime_seconds(plan.walltime),
            further_words=further_words,
            keeps_status=keeps_status(plan),
            clients=plan.asks_server,
            client_key=client_key(plan),
        )
    )
    return LaunchBundle(name, script, (*side_files(plan), *plan.files), submit)


def around_launch(signal: LimitSignal, requeue: bool) -> tuple[str, str]:
    """What stands before and behind a launch of srun in the background that a signal before the limit reaches."""
    plan = {"signal": signal, "requeue": requeue, "scheduler": "slurm", "launch": {"launcher": "srun"}}
    before, after = (
        environment().get_template(f"launch/{name}.j2").render(plan=plan) for name in ("warned", "awaited")
    )
    starts = f"# A job that gets nowhere is not put back for ever.\nMOST_STARTS={MOST_STARTS}\n" if requeue else ""
    return starts + before.rstrip("\n") + "\n", f'{after.rstrip(chr(10))}\n(exit "$STATUS")\n'


def keeps_status(plan: LaunchPlan) -> bool:
    """Whether a step after the program asks how that ended, so that it runs after a failure too."""
    return any("$?" in line or "STATUS" in line for line in plan.after) and not plan.then


def client_key(plan: LaunchPlan) -> str:
    """What the programs that ask the job's own server send as their key: OpenAI's client wants one in any case."""
    names = {one.name for one in plan.user_variables}
    return next((f"${name}" for name in ("VLLM_API_KEY", "API_KEY") if name in names), "none")


def first_made(plan: LaunchPlan) -> str:
    """The folder of the output is made before the job is submitted: schedulers open the file before the script runs."""
    return f"mkdir -p {shell_word(plan.output_folder)} && " if plan.output_folder else ""


def launch_in_words(plan: LaunchPlan) -> str:
    """What the launcher starts, for the comment above it."""
    if plan.launch.workers == "ranks" and (plan.framework in SPREAD_THEMSELVES or not plan.on_gpus):
        return "each task is one process"
    if plan.launch.workers == "single" and plan.launch.launcher == "none":
        return "one process, on the first node"
    return IN_WORDS[plan.launch.workers]


def total_tasks(plan: LaunchPlan) -> str:
    """How many tasks the launcher starts, as a shell word."""
    return {"ranks": '"$WORLD_SIZE"', "single": "1"}.get(plan.launch.workers, '"$NNODES"')


def further_words(plan: LaunchPlan, part: PlannedProgram) -> str:
    """A further program's words for the shell's array."""
    if (part.entry, part.args) == (plan.entry, plan.args):
        return folded(program_words(plan))
    return folded((*(("-m", part.entry) if part.entry_kind == "module" else (part.entry,)), *part.args))


def folded(words: tuple[str, ...]) -> str:
    """The program and its arguments for an array: one line, or where that is long, a line for each option."""
    quoted = [shell_word(word) for word in words]
    if len(" ".join(quoted)) <= WIDTH:
        return " ".join(quoted)
    rows: list[str] = []
    for number, word in enumerate(quoted):
        starts = number == 0 or re.match(r"-(?![\d.])", word)
        rows = [*rows, word] if starts else [*rows[:-1], f"{rows[-1]} {word}"]
    return "".join(f"\n    {row}" for row in rows) + "\n"


def comment(text: str) -> str:
    """Text as comment lines of a script, each with its line end; nothing for no text."""
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, WIDTH))


def headline(plan: LaunchPlan) -> str:
    if plan.alone and plan.ranks > 1:
        return f"{plan.title}: {in_words(plan)}, one process with {plan.ranks} GPUs."
    size = f"{plan.nodes} x {plan.ranks_per_node} = {plan.ranks}"
    count = f"{size} {'ranks' if plan.on_gpus else 'processes'} ({plan.counting})"
    return f"{plan.title}: {in_words(plan)}, {count}."


def in_words(plan: LaunchPlan) -> str:
    if not plan.on_gpus:
        return "a job without GPUs"
    if plan.framework in SPREAD_THEMSELVES:
        return FRAMEWORK[plan.framework]
    if is_unnamed(plan):
        return FRAMEWORK[plan.framework]
    strategy = STYLE.get(plan.strategy, f"ZeRO-{plan.stage}")
    return f"{FRAMEWORK[plan.framework]} {strategy}"


def handed_on(plan: LaunchPlan, *more: str) -> str:
    """The variables that the launcher must be told to hand to its tasks, on lines of their own."""
    if plan.launch.launcher != "mpirun":
        return ""
    return f" \\\n{exported(plan)}" + "".join(f" -x {name}" for name in more)


def exported(plan: LaunchPlan) -> str:
    """Options for the variables that Open MPI must be told to hand on, folded and indented."""
    own = (*plan.settings, *plan.user_variables, *plan.variables, *strategy_variables(plan))
    fixed: tuple[str, ...] = ("PATH", "LD_LIBRARY_PATH")
    fixed += ("MASTER_ADDR", "MASTER_PORT") if plan.on_gpus and not plan.alone else ()
    fixed += () if plan.alone else ("WORLD_SIZE", "NNODES", "RANKS_PER_NODE")
    fixed += ("PART_DEVICES",) if by_gpus(plan) else ()
    names = dict.fromkeys((*fixed, *(variable.name for variable in own)))
    words = " ".join(f"-x{GLUE}{name}" for name in names)
    folded = textwrap.wrap(words, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return " \\\n".join(folded).replace(GLUE, " ")
