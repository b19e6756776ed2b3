"""Takes a command apart: which program starts which, from the outermost word to the training program and ITS arguments.

`srun apptainer exec x.sif torchrun --nproc-per-node 4 train.py --lr 1` is srun -> apptainer -> torchrun -> train.py.
"""

from __future__ import annotations

import re
from typing import Literal

from graph.extraction.launch_chain import LaunchChain, LaunchedProgram, Layer
from graph.extraction.shell_words import Field, is_known, join_fields, plain
from knowledge.launcher_options import LauncherTool, launcher_table

PYTHON = re.compile(r"(i?python|pypy)[\d.]*w?(\.exe)?")
OTHER_INTERPRETERS = frozenset({"Rscript", "julia"})
OPEN_PYTHON = re.compile(r"\$\{?\w*(PYTHON|PY)\w*\}?", re.I)


def base_name(one: Field) -> str:
    return plain(one).rsplit("/", 1)[-1]


def is_python(one: Field) -> bool:
    text = plain(one)
    return bool(PYTHON.fullmatch(base_name(one))) or (not is_known(one) and bool(OPEN_PYTHON.fullmatch(text)))


def looks_like_program(one: Field) -> bool:
    text, base = plain(one), base_name(one)
    return (
        base in launcher_table().by_name
        or is_python(one)
        or bool(re.search(r"\.(py|sh|bash|sif|simg|exe|sqsh)$", text))
        or text.startswith("./")
    )


# Words of the longest command whose launchers are followed: each step copies those behind it.
MOST_WORDS = 4000


def read_chain(fields: list[Field]) -> LaunchChain:
    """The chain of a command's words. Never fails: what is not known is the program."""
    layers: list[Layer] = []
    rest = list(fields)
    if len(rest) > MOST_WORDS:
        return LaunchChain((), executable(rest))
    while rest:
        if layers and re.match(r"[A-Za-z_]\w*\+?=", plain(rest[0])):
            rest = rest[1:]
            continue
        if is_python(rest[0]):
            step = python_step(rest)
            if isinstance(step, LaunchedProgram):
                return LaunchChain(tuple(layers), step)
            rest = step
            continue
        tool = launcher_table().by_name.get(base_name(rest[0]).removesuffix(".exe"))
        inner = after_subcommand(tool, rest[1:]) if tool else None
        if tool is None or inner is None:
            found = wrapped(rest)
            if found is None:
                return LaunchChain(tuple(layers), executable(rest))
            layers.append(Layer("wrapper", "wrapper", plain(rest[0]), operand=rest[0]))
            rest = rest[found:]
            continue
        layer, rest = read_layer(tool, rest[0], inner)
        layers.append(layer)
        end = ending(layer, tool, rest)
        if end is not None:
            return LaunchChain(tuple(layers), end.program, end.shell_text, end.positional)
    return LaunchChain(tuple(layers))


def after_subcommand(tool: LauncherTool, rest: list[Field]) -> list[Field] | None:
    """The words behind `exec`, `run`, `launch`; None where the tool is called for something else."""
    if not tool.subcommands:
        return rest
    i = 0
    while i < len(rest) and plain(rest[i]).startswith("-"):
        i += 1
    if i == len(rest) or plain(rest[i]) not in tool.subcommands:
        return None
    if tool.name == "ray" and [plain(one) for one in rest[i : i + 2]] != ["job", "submit"]:
        return None
    while i < len(rest) and plain(rest[i]) in tool.subcommands:
        i += 1
    return rest[i:]


def read_layer(tool: LauncherTool, head: Field, rest: list[Field]) -> tuple[Layer, list[Field]]:
    """One program of the chain with its options, and the words behind them."""
    options: list[tuple[str, Field]] = []
    while rest:
        if tool.name == "env" and re.match(r"[A-Za-z_]\w*=", plain(rest[0])):
            rest = rest[1:]
            continue
        if is_open_options(rest, tool.before if tool.kind == "container" else 0):
            options.append(("", rest[0]))
            rest = rest[1:]
            continue
        taken = option(tool, rest)
        if taken is None:
            break
        name, values, rest = taken
        options += [(name, value) for value in values] or [(name, ())]
        if name == "--" or tool.options.means.get(name) == "module" or (tool.kind == "shell" and is_shell_c(name)):
            break
    operand = None
    if tool.before and rest:
        operand, rest = rest[tool.before - 1], rest[tool.before :]
    meanings = tuple((tool.options.means[name], value) for name, value in options if name in tool.options.means)
    return Layer(tool.name, tool.kind, plain(head), tuple(options), meanings, operand), rest


def is_open_options(rest: list[Field], before: int = 0) -> bool:
    """Whether the first word is a variable full of options that the text does not tell: a program follows later.

    `before` words stand between the options and the program: an image in a variable is no option.
    """
    text = plain(rest[0])
    whole = len(rest[0]) == 1 and rest[0][0].open
    if not whole or is_python(rest[0]) or "\n" in text:
        return False
    image = before and len(rest) > 1 and looks_like_program(rest[1]) and not is_image(rest[1])
    return not image and any(looks_like_program(one) for one in rest[1:8])


def is_image(one: Field) -> bool:
    return bool(re.search(r"\.(sif|simg|sqsh|img)$", plain(one)))


def is_shell_c(name: str) -> bool:
    return bool(re.fullmatch(r"-[a-z]*c", name))


def option(tool: LauncherTool, rest: list[Field]) -> tuple[str, list[Field], list[Field]] | None:
    """(option, its values, what follows) if the first word is an option; None where the program begins."""
    text = plain(rest[0])
    if text == "--" or re.match(r"[\u2013\u2014]\w", text):  # a dash that an editor made longer
        return text, [], rest[1:]
    if not re.match(r"[-+]\S", text) or (text.startswith("+") and tool.kind != "shell"):
        return None
    written, equals, _ = text.partition("=")
    name = written.replace("_", "-") if tool.underscores else written
    if tool.kind == "shell" and is_shell_c(name):
        return name, [], rest[1:]
    if name in tool.options.pairs:
        return name, rest[1:3], rest[3:]
    if equals and (text.startswith("--") or name in tool.options.values):
        return full_option(tool, name), [after_equals(rest[0])], rest[1:]
    if full_option(tool, name) in tool.options.values:
        return full_option(tool, name), rest[1:2], rest[2:]
    if name in tool.options.flags:
        return name, [], rest[1:]
    short = text[:2]
    if (
        not text.startswith("--")
        and short in tool.options.values
        and (tool.kind != "parallel" or tool.name not in ("mpirun", "mpiexec"))
    ):
        return short, [cut(rest[0], 2)], rest[1:]
    known_flags = all(f"-{c}" in tool.options.flags for c in text[1:])
    if (
        known_flags
        or len(rest) == 1
        or plain(rest[1]).startswith("-")
        or looks_like_program(rest[1])
        or tool.kind == "shell"
    ):
        return name, [], rest[1:]
    return name, rest[1:2], rest[2:]


def full_option(tool: LauncherTool, name: str) -> str:
    """The option that an unambiguous beginning means (`--nproc-per-nod`), or the name itself."""
    if name in tool.options.values or not name.startswith("--") or len(name) < 6 or name in tool.options.flags:
        return name
    starts = [known for known in tool.options.values if known.startswith(name)]
    return starts[0] if len(starts) == 1 else name


def after_equals(one: Field) -> Field:
    for number, piece in enumerate(one):
        if "=" in piece.text and not piece.open:
            return cut(one, sum(len(p.text) for p in one[:number]) + piece.text.index("=") + 1)
    return one


def cut(one: Field, count: int) -> Field:
    """The word without its first characters (which are known text)."""
    kept = []
    for piece in one:
        if count >= len(piece.text):
            count -= len(piece.text)
            continue
        kept.append(piece if not count else type(piece)(piece.text[count:], piece.open, piece.quoted, piece.amount))
        count = 0
    return tuple(kept)


def ending(layer: Layer, tool: LauncherTool, rest: list[Field]) -> LaunchChain | None:
    """Where the chain ends at this layer: a shell's text, a remote command, a spawner's program."""
    if tool.kind == "shell":
        if any(is_shell_c(name) for name, _ in layer.options):
            return LaunchChain(shell_text=rest[0] if rest else None, positional=tuple(rest[1:]))
        return LaunchChain(program=LaunchedProgram(rest[0], "shell", tuple(rest[1:])) if rest else None)
    if tool.name == "parallel" and rest and " " in plain(rest[0]):
        return LaunchChain(shell_text=rest[0])
    if tool.name in ("ssh", "pdsh"):
        return LaunchChain(shell_text=join_fields(rest) if rest else None)
    if tool.kind == "submit":
        text = next((value for name, value in layer.options if name == "--wrap"), None)
        return LaunchChain(
            program=LaunchedProgram(rest[0], "shell", tuple(rest[1:])) if rest else None, shell_text=text
        )
    if tool.kind != "spawner" or tool.name == "horovodrun" or layer.has("--no-python"):
        return None
    module = layer.role("module")
    if module is not None:
        return LaunchChain(program=LaunchedProgram(module, "module", tuple(rest)))
    as_module = layer.has("--module") or layer.has("-m")
    if not rest:
        return LaunchChain()
    if is_python(rest[0]):
        return None
    return LaunchChain(program=LaunchedProgram(rest[0], "module" if as_module else "script", tuple(rest[1:])))


def python_step(rest: list[Field]) -> LaunchedProgram | list[Field]:
    """What python runs: a program, or the words of a launcher that it carries (`-m torch.distributed.run`)."""
    interpreter, i = plain(rest[0]), 1
    while i < len(rest):
        text = plain(rest[i])
        if text == "-m" and i + 1 < len(rest):
            return module_step(rest[0], rest[i + 1], rest[i + 2 :])
        if text in ("-c", "-") or re.fullmatch(r"-[a-zA-Z]*c", text):
            return LaunchedProgram(rest[i], "inline", tuple(rest[i + 1 :]), interpreter)
        if not text.startswith("-"):
            if not is_open_options(rest[i:]):
                break
            i += 1
            continue
        i += 2 if text in launcher_table().python_values else 1
    if i >= len(rest):
        return LaunchedProgram(rest[0], "inline", (), interpreter)
    row = launcher_table().by_name.get(base_name(rest[i]))
    if row and row.kind == "spawner":
        return rest[i:]
    if re.search(r"torch/distributed/(launch|run)\.py$", plain(rest[i])):
        return [(type(rest[i][0])("torchrun"),), *rest[i + 1 :]]
    return handed_over(rest[i + 1 :]) or LaunchedProgram(rest[i], "script", tuple(rest[i + 1 :]), interpreter)


def handed_over(args: list[Field]) -> list[Field]:
    """The launcher behind a `--` (`python submit.py --nodes 2 -- torchrun train.py`): the program only hands it on."""
    words = [plain(one) for one in args]
    at = words.index("--") + 1 if "--" in words else len(words)
    row = launcher_table().by_name.get(base_name(args[at])) if at < len(args) else None
    return args[at:] if row is not None and row.kind == "spawner" else []


def module_step(python: Field, module: Field, rest: list[Field]) -> LaunchedProgram | list[Field]:
    name, modules = plain(module), launcher_table().modules
    if name in modules:
        return [(type(module[0])(modules[name]),), *launch_word(name, rest)]
    if name in launcher_table().transparent_modules and rest:
        return [python, *(rest[1:] if name == "coverage" and plain(rest[0]) == "run" else rest)]
    return LaunchedProgram(module, "module", tuple(rest), plain(python))


def launch_word(module: str, rest: list[Field]) -> list[Field]:
    """Modules that stand for `accelerate launch` get the subcommand that the command line has."""
    if launcher_table().modules[module] == "accelerate" and not (rest and plain(rest[0]) == "launch"):
        return [(type(rest[0][0])("launch"),), *rest] if rest else rest
    return rest


def wrapped(rest: list[Field]) -> int | None:
    """Where the real program starts behind an unknown one (`./affinity.sh python train.py`); None if there is none."""
    if base_name(rest[0]) in launcher_table().housekeeping:
        return None
    for i, one in enumerate(rest[1:16], 1):
        row = launcher_table().by_name.get(base_name(one))
        if is_python(one) or (
            row and row.kind in ("spawner", "container", "parallel") and row.name not in ("flux", "tune")
        ):
            return i
    return None


def executable(rest: list[Field]) -> LaunchedProgram:
    """A program by itself, or what an interpreter other than Python runs."""
    text = plain(rest[0])
    if base_name(rest[0]) in OTHER_INTERPRETERS:
        at = next((i for i, one in enumerate(rest) if re.search(r"\.(R|r|jl)$", plain(one))), 0)
        if at:
            return LaunchedProgram(rest[at], "executable", tuple(rest[at + 1 :]), plain(rest[0]))
    if len(rest) > 1 and plain(rest[1]).endswith(".py") and re.search(r"launch|run", text) and "/" not in text:
        return LaunchedProgram(rest[1], "script", tuple(rest[2:]), text)
    kind: Literal["script", "executable", "shell"] = "executable"
    if text.endswith(".py"):
        kind = "script"
    elif re.search(r"\.(sh|bash|csh|zsh|slurm|sbatch|pbs)$", text):
        kind = "shell"
    return LaunchedProgram(rest[0], kind, tuple(rest[1:]))
