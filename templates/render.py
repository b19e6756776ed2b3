"""From a decided plan to the script and the files beside it, in one call."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from knowledge.types import LaunchBundle, LaunchPlan
from templates.configs import brings_own_sizes, program_words, side_files, strategy_variables
from templates.quoting import shell_word, variable_value

FOLDER = Path(__file__).parent
IN_WORDS = {
    "ranks": "each task is one rank, and tells PyTorch so",
    "torchrun": "one torchrun a node starts the ranks",
    "accelerate": "one accelerate a node starts the ranks",
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
}
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
    )
    env.filters["sh"] = shell_word
    env.filters["value"] = variable_value
    env.filters["comment"] = comment
    return env


def render(plan: LaunchPlan) -> LaunchBundle:
    """The script, the files beside it, and the command that submits it."""
    name = f"{plan.cluster}-{plan.framework}-{plan.strategy}{SUFFIX}"
    submit = SUBMIT.get(plan.scheduler, "{submit} {name}").format(submit=plan.submit, name=name)
    files = side_files(plan)
    extra = strategy_variables(plan)
    tasks = '"$RANKS_PER_NODE"' if plan.launch.workers == "ranks" else "1"
    script = (
        environment()
        .get_template(f"schedulers/{plan.scheduler}.sh.j2")
        .render(
            plan=plan,
            headline=headline(plan),
            submit=submit,
            program=folded(program_words(plan)),
            strategy_variables=extra,
            tasks=tasks,
            total_tasks='"$WORLD_SIZE"' if plan.launch.workers == "ranks" else '"$NNODES"',
            exported=exported(plan),
            own_sizes=brings_own_sizes(plan),
            launch_in_words=IN_WORDS[plan.launch.workers],
        )
    )
    return LaunchBundle(name, script, files, submit)


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
    count = f"{plan.nodes} x {plan.ranks_per_node} = {plan.ranks} ranks ({plan.counting})"
    return f"{plan.title}: {in_words(plan)}, {count}."


def in_words(plan: LaunchPlan) -> str:
    strategy = STYLE.get(plan.strategy, f"ZeRO-{plan.stage}")
    return f"{FRAMEWORK[plan.framework]} {strategy}"


def exported(plan: LaunchPlan) -> str:
    """Options for the variables that Open MPI must be told to hand on, folded and indented."""
    own = (*plan.settings, *plan.user_variables, *plan.variables, *strategy_variables(plan))
    fixed = ("PATH", "LD_LIBRARY_PATH", "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "NNODES", "RANKS_PER_NODE")
    names = dict.fromkeys((*fixed, *(variable.name for variable in own)))
    words = " ".join(f"-x{GLUE}{name}" for name in names)
    folded = textwrap.wrap(words, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return " \\\n".join(folded).replace(GLUE, " ")
