# ruff: noqa: E501
"""How programs are called: words that do not reach them, options that they do not have, launches that end too soon."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from graph.extraction.commands import Command
from graph.extraction.launch_chain import Layer
from graph.extraction.launch_shape import LaunchShape
from graph.extraction.launchers import is_python
from graph.extraction.shell_tree import parse
from graph.extraction.shell_words import plain
from graph.extraction.training import layers_of
from graph.verification.checks import sources
from graph.verification.checks.rule import Edit, Hit, Rule, launch_rule
from graph.verification.checks.subject import Subject
from knowledge.launcher_options import LauncherTool, launcher_table
from knowledge.types import Severity

# What hands the words behind its options to the kernel, without a shell.
EXECUTES = ("parallel", "spawner")
# An option that takes no further word: `-N2`, `--nodes=2`.
STANDS_ALONE = re.compile(r"--[\w-]+=|-[A-Za-z]\d")
VARIABLE = re.compile(r"([A-Z_][A-Z0-9_]*)=(?!=)")
# A command goes on over so many lines at most.
LONGEST = 40
PAGES = {"torchrun": sources.TORCHRUN, "accelerate": sources.ACCELERATE, "deepspeed": sources.DEEPSPEED}
# Spawners whose parser knows every option that stands before the program, so that any other ends it.
STRICT = ("torchrun", "accelerate", "deepspeed")
# Options that their pages list and our reader of launches has no use for.
ALSO = {
    "torchrun": frozenset({"--help", "--rdzv-configs"}), "deepspeed": frozenset({"--help", "--version"}),
    "accelerate": frozenset({"--help"}),
}  # fmt: skip


def behind_shell_text(s: Subject) -> Iterator[Hit]:
    """`bash -c "python train.py" --lr 1`: what follows the text are the shell's own arguments."""
    command: Command | None = s.launch.command if s.launch else None
    while command is not None:
        text = command.chain.shell_text
        body = "".join(piece.text for piece in text) if text else ""
        words = [plain(word) for word in command.chain.positional]
        if words and not re.search(r"\$[@*0-9]|\$\{[@*0-9]", body):
            says = f"'{' '.join(words)[:40]}' stands behind the text of bash -c and does not reach the program"
            yield Hit(command.line, says)
        command = command.outer


def variable_as_program(s: Subject) -> Iterator[Hit]:
    """`srun DEBUG=1 python train.py`: only a shell sets a variable that stands before a program."""
    for command in s.script.commands:
        words = command.argv
        layers = [one for one in command.chain.layers if one.kind in EXECUTES and one.written in words]
        for layer in layers:
            at = words.index(layer.written) + 1
            while at < len(words) and words[at].startswith("-"):
                taken = not STANDS_ALONE.match(words[at]) and not "".join(words[at + 1 : at + 2]).startswith("-")
                at += 1 + taken
            if at < len(words) and (found := VARIABLE.match(words[at])):
                says = f"{layer.name} takes {words[at][:40]} for the program that it is to start"
                line = s.line(command.line)
                edit = Edit(command.line, command.line, (line.replace(words[at], f"env {words[at]}", 1),))
                yield Hit(command.line, f"{says}; set {found[1]} above, or with `env`", edit=edit if words[at] in line else None)  # fmt: skip
                break


def kept_from_expanding(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """`--rdzv_endpoint='$HOST:29500'`: single quotes hand over the dollar sign itself."""
    if launch.command.outer is not None or "heredoc" in " ".join(launch.command.inside):
        return
    program = launch.program
    last = len(launch.command.written) - len(program.args)
    here = "\n".join(s.lines[launch.line - 1 : launch.line + LONGEST])
    for word in launch.command.written[:last]:
        found = re.fullmatch(r"(--?[\w-]+=)?'([^']*\$\{?[A-Za-z_]\w*[^']*)'", word)
        if found and word in here and launch.command.chain.shell_text is None:
            says = f"{found[2][:40]} stands in single quotes: {launch.layers[-1].name if launch.layers else 'the launcher'} gets the dollar sign, not the value"
            yield Hit(launch.line, says, edit=in_double_quotes(s, launch.line, word))


def in_double_quotes(s: Subject, line: int, word: str) -> Edit | None:
    return Edit(line, line, (s.line(line).replace(word, word.replace("'", '"')),)) if word in s.line(line) else None


def doubled_equals(s: Subject) -> Iterator[Hit]:
    """`--nodes==2`, `--nproc_per_node==4`: the value begins with `=`."""
    for one in s.script.directives:
        if one.active and one.value.startswith("=") and f"{one.written}==" in one.raw:
            yield Hit(one.line, f"{one.written} has two =: its value is '{one.value}'", "the scheduler refuses the value",
                      edit=s.swapped(one.line, "==", "="))  # fmt: skip
    launch = s.launch
    for layer in launch.layers if launch else ():
        for name, value in layer.options:
            if launch and name.startswith("--") and plain(value).startswith("="):
                says = f"{name} of {layer.name} has two =: its value is '{plain(value)}'"
                yield Hit(launch.line, says, f"{layer.name} refuses the value", PAGES.get(layer.name))


def spawner_of_python(s: Subject) -> Iterator[Hit]:
    """`torchrun python train.py`: the spawner starts Python itself, so `python` is taken for the program."""
    for command in s.script.commands:
        for at, word in enumerate(command.fields[:-1]):
            layer = next(
                (one for one in command.chain.layers if one.name in STRICT and one.written == plain(word)), None
            )
            if layer is None:
                continue
            first = next((one for one in command.fields[at + 1 :] if is_python(one)), None)
            program = command.chain.program
            direct = first is not None and program is not None and plain(program.entry).endswith(".py")
            if direct and not layer.has("--no-python") and not is_launcher_module(command, first):
                says = f"{layer.name} starts Python itself: '{plain(first or ())}' is taken for the program"
                yield Hit(command.line, says, source=PAGES[layer.name])


def is_launcher_module(command: Command, python: object) -> bool:
    """`python -m torch.distributed.run`: here Python carries the spawner."""
    words = [plain(one) for one in command.fields]
    at = next((i for i, one in enumerate(command.fields) if one is python), 0)
    return words[at + 1 : at + 2] == ["-m"] and "torch.distributed" in " ".join(words[at : at + 3])


def unknown_launcher_option(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """An option that torchrun, accelerate or deepspeed does not have: its parser stops there."""
    for layer in launch.layers:
        tool = launcher_table().by_name.get(layer.name)
        if tool is None or layer.name not in STRICT:
            continue
        known = sorted((tool.options.values | tool.options.flags | ALSO[layer.name]) - {"-"})
        for name, _ in layer.options:
            if name.startswith("--") and name != "--" and not has(name, known):
                yield from strange(s, launch.line, layer, tool, name, known)
            elif not name.startswith("--") and len(name) > 3 and f"-{name}" in known:
                says = f"{name} has one hyphen: {layer.name}'s option is -{name}"
                yield Hit(launch.line, says, "a word with one hyphen is read as short options", PAGES[layer.name])
        if launch.program.kind == "module" and plain(launch.program.entry).endswith(".py"):
            says = f"-m takes a module's name: {plain(launch.program.entry).removesuffix('.py')}, without .py"
            yield Hit(launch.line, says, "Python answers 'No module named ...'", sources.TORCHRUN)
            return


def has(name: str, known: list[str]) -> bool:
    """Whether a parser of Python's argparse takes the option: in full, or by a beginning."""
    return any(one == name or one.startswith(name) for one in known)


def strange(s: Subject, line: int, layer: Layer, tool: LauncherTool, name: str, known: list[str]) -> Iterator[Hit]:
    near = get_close_matches(name, known, 1, 0.8)
    if near:
        says = f"{layer.name} has no option {name}; the nearest is {near[0]}"
        yield Hit(line, says, f"{layer.name} stops at an option that it does not know", PAGES[layer.name])
    elif layer.name == "torchrun":
        says = f"{name} is none of torchrun's own options: one for the program stands behind it"
        yield Hit(line, says, "torchrun stops at an option that it does not know", PAGES[layer.name], "warning")


def no_program(s: Subject) -> Iterator[Hit]:
    """A spawner with nothing to start."""
    if s.script.training is not None:
        return
    for command in s.script.commands:
        layers = layers_of(command)
        bare = layers and layers[-1].name in STRICT and command.chain.program is None and not open_end(command)
        if (
            bare
            and command.chain.shell_text is None
            and launcher_table().by_name.get(layers[-1].written.rsplit("/", 1)[-1])
        ):
            yield Hit(command.line, f"{layers[-1].name} is given no program", source=PAGES[layers[-1].name])
            return


def open_end(command: Command) -> bool:
    """Whether the last word may hold the program: a variable that only the run fills in."""
    last = command.fields[-1]
    return len(last) == 1 and last[0].open


def below_exit(s: Subject) -> Iterator[Hit]:
    """An `exit` at the top level with a launch below it."""
    number = next((n for n, line in s.code_lines if re.match(r"exit\b(?!.*[|&])", line) and n not in in_blocks(s)), 0)
    starts = r"\s*(srun|mpirun|mpiexec|torchrun|accelerate|deepspeed|jsrun|ibrun|python3?)\s"
    launches = [n for n, line in s.code_lines if re.match(starts, line)]
    if number and s.job.asked and launches and launches[-1] > number:
        # Behind a launch that runs, the lines below may be switched off on purpose.
        weight: Severity | None = "warning" if launches[0] < number else None
        yield Hit(number, "the script ends here, above a launch", severity=weight)


def in_blocks(s: Subject) -> set[int]:
    """The lines that stand inside a condition, a loop or a function."""
    root = parse(s.script.text).root_node
    blocks = [node for node in root.children if node.type not in ("command", "comment", "variable_assignment")]
    return {line for node in blocks for line in range(node.start_point[0] + 1, node.end_point[0] + 2)}


def stale_hosts(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A host file that the job does not write names the nodes of an earlier job."""
    for layer in launch.layers:
        file = layer.role("hostfile")
        name = plain(file) if file is not None else ""
        base = name.rsplit("/", 1)[-1]
        if not base or re.search(r"[$*]|^<\(|NODEFILE|/dev/null", name):
            continue
        written = any(one.name.rsplit("/", 1)[-1] == base for one in s.script.documents)
        made = rf">>?\s*\S*{re.escape(base)}|(-o|tee|touch|cp|mv|rm)\b.*{re.escape(base)}"
        if s.job.asked and not written and not re.search(made, s.script.text):
            says = f"{layer.name} reads the host file {name[:40]}, which this job does not write"
            yield Hit(launch.line, says, severity="warning")


def excluding(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """deepspeed with counts beside a list of hosts or devices."""
    if launch.spawner is None or launch.spawner.name != "deepspeed":
        return
    argv = launch.command.argv
    until = next((at for at, word in enumerate(argv) if word.endswith(".py")), len(argv))
    own = [word.partition("=")[0].replace("_", "-") for word in argv[:until]]
    count = next((one for one in own if one in ("--num-gpus", "--num-nodes")), "")
    listed = next((one for one in own if one in ("--include", "--exclude")), "")
    if count and listed:
        yield Hit(launch.line, f"deepspeed is given {count.replace('-g', '_g').replace('-n', '_n')} beside {listed}")


RULES = (
    launch_rule("launch-excluding", "launch", "error", "deepspeed with `--num_gpus` or `--num_nodes` beside `--include` or `--exclude`", excluding, sources.DEEPSPEED,
                "deepspeed refuses both together: keep one of the two"),
    Rule("call-behind-text", "shell", "error", "words behind the text of `bash -c`, which do not reach the program", behind_shell_text, sources.BASH,
         why="the shell takes words behind its text as $0, $1, ...: put them inside the quotes"),
    launch_rule("call-single-quotes", "shell", "error", "a variable in single quotes that the launcher gets unexpanded", kept_from_expanding, sources.BASH + "#Single-Quotes",
                why="nothing expands what stands in single quotes"),
    Rule("call-doubled-equals", "shell", "error", "`--nodes==2`: a value that begins with =", doubled_equals),
    Rule("launch-variable", "launch", "error", "`srun DEBUG=1 python train.py`: a variable where the launcher wants a program", variable_as_program, sources.BASH + "#Simple-Command-Expansion",
         why="only a shell sets variables in front of a command: 'No such file or directory'"),
    Rule("launch-python", "launch", "error", "`torchrun python train.py`: the spawner starts Python itself", spawner_of_python,
         why="it looks for a script of that name: name the program alone, or give --no-python"),
    launch_rule("launch-option", "launch", "error", "an option that torchrun, accelerate or deepspeed does not have", unknown_launcher_option),
    Rule("launch-no-program", "launch", "error", "a spawner with no program to start", no_program,
         why="it stops: 'the following arguments are required: training_script'"),
    Rule("shell-exit", "shell", "error", "a launch below an `exit` at the top level", below_exit, sources.BASH,
         why="what follows an exit never runs"),
    launch_rule("launch-hostfile", "launch", "warning", "a host file that the job does not write", stale_hosts,
                why="the nodes change from job to job: write it from the scheduler's list of nodes"),
)  # fmt: skip
