# ruff: noqa: E501
"""What bash does with the text and nobody means: words swallowed by a line above, values that are gone or never there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from graph.extraction.launch_shape import LaunchShape
from graph.extraction.shell_tree import parse, text_of
from graph.extraction.shell_words import plain
from graph.verification.checks import sources
from graph.verification.checks.flow_rules import set_in
from graph.verification.checks.rule import Hit, Rule, launch_rule
from graph.verification.checks.shell_nodes import ancestors, found
from graph.verification.checks.subject import Subject
from graph.verification.checks.words import WORDS
from knowledge.word_lists import word_set

NAME = re.compile(r"\$\{?([A-Za-z_]\w*)")
WHOLE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
SETTING = re.compile(r"[A-Za-z_]\w*=\S*\s+\S")
STATEMENTS = word_set("wait exit export echo cd module unset rm cp mkdir fi done trap source")
PROGRAM_FILE = re.compile(r"\.(py|sh)\b")
PATHS = word_set("LD_LIBRARY_PATH PATH PYTHONPATH CPATH LIBRARY_PATH")
CONFIGURES = re.compile(r"\.(ya?ml|json|toml|ini|cfg|conf|config|txt|env|hosts?)\b|hostfile", re.I)
SCHEDULERS = frozenset(str(WORDS["scheduler_variables"]).split())
# Where a command that fails ends the script.
STRICT = re.compile(r"(?m)^[^\S\n]*set\s+-\w*e|^[^\S\n]*set\s+-o\s+errexit|^#!\S+.*\s-\w*e")


def functions_of(s: Subject) -> dict[str, Node]:
    root = parse(s.script.text).root_node
    named = ((one.child_by_field_name("name"), one) for one in found(root, "function_definition"))
    return {text_of(name): one for name, one in named if name is not None}


def swallowed(s: Subject) -> Iterator[Hit]:
    """A command that a backslash on the line above made a word of another one."""
    functions = functions_of(s)
    for command in found(parse(s.script.text).root_node, "command"):
        program, one_line = False, command.start_point[0] == command.end_point[0]
        for before, word in () if one_line else pairwise(command.named_children):
            program = program or PROGRAM_FILE.search(text_of(before)) is not None
            row = word.start_point[0]
            if not program or row == before.end_point[0] or s.line(row + 1)[: word.start_point[1]].strip():
                continue
            name = text_of(word)
            if (name in functions or name in STATEMENTS) and s.line(row).rstrip().endswith("\\"):
                says = f"`{name}` is an argument of the command above, whose last line ends in a backslash"
                yield Hit(row + 1, says, f"leave out the backslash at the end of line {row}")


def assignment_run(s: Subject) -> Iterator[Hit]:
    """A variable run as a command whose text begins with `NAME=value`."""
    for command in found(parse(s.script.text).root_node, "command"):
        words = [one for one in command.named_children if "redirect" not in one.type]
        name = WHOLE.fullmatch(text_of(words[0])) if words else None
        values = [one.value for one in s.set_to(name[1])] if name else []
        if values and all(SETTING.match(value) for value in values):
            first = values[-1].split()[0]
            says = f"bash looks for a command called {first[:40]}"
            why = "an assignment in front of a command is one only where it stands itself: put `env` before it, or export it"
            yield Hit(command.start_point[0] + 1, says, why)


def trapped_early(s: Subject) -> Iterator[Hit]:
    """A trap in double quotes that holds a variable which is set further down."""
    for command in found(parse(s.script.text).root_node, "command"):
        words = command.named_children
        if not words or text_of(words[0]) != "trap" or len(words) < 3 or not text_of(words[1]).startswith('"'):
            continue
        line = command.start_point[0] + 1
        for name in dict.fromkeys(re.findall(r"(?<!\\)\$\{?([A-Za-z_]\w*)", text_of(words[1]))):
            told = [one.line for one in s.set_to(name)]
            if told and min(told) > line:
                says = f"{name} is put in when the trap is set, and is empty then: it is set on line {min(told)}"
                yield Hit(line, says, "single quotes keep it for when the signal comes")


def lost_in_pipe(s: Subject) -> Iterator[Hit]:
    """A function that sets what is read below, called in a pipe."""
    functions = functions_of(s)
    text = s.script.text
    for pipe in found(parse(text).root_node, "pipeline") if functions else ():
        for command in found(pipe, "command"):
            name = text_of(command.named_children[0]) if command.named_children else ""
            if name not in functions or any(one.type == "function_definition" for one in ancestors(pipe)):
                continue
            body = text_of(functions[name])
            rest = "\n".join(s.lines[pipe.end_point[0] + 1 :])
            outside = text.replace(body, "", 1)
            called = len(
                re.findall(rf"(?m)(?:^|[;&|(]|\bthen\b|\bdo\b)\s*{re.escape(name)}(?![\w-])(?!\s*\()", outside)
            )
            lost = [
                one
                for one in set_in(functions[name], read=False)
                if re.search(rf"\$\{{?{one}\b", rest)
                and not re.search(rf"\b{one}\+?=", outside)
                and not re.search(rf"\blocal\s[^\n;]*\b{one}\b", body)
            ]
            if lost and called < 2:
                says = f"{name} runs in a pipe: {', '.join(lost[:3])} set there {'is' if len(lost) == 1 else 'are'} gone behind it"
                yield Hit(
                    pipe.start_point[0] + 1,
                    says,
                    "each part of a pipe is a shell of its own: write to a file, then read that",
                )


def exit_in_brackets(s: Subject) -> Iterator[Hit]:
    """`test || (echo ...; exit 1)`: the exit ends the brackets alone."""
    if STRICT.search(s.script.text):
        return
    for node in found(parse(s.script.text).root_node, "subshell"):
        inside = [one for one in node.named_children if one.type != "comment"]
        last = text_of(inside[-1]).split() if inside else []
        guards = node.parent is not None and node.parent.type == "list" and node.parent.named_children[-1] == node
        above = node.parent.parent if guards and node.parent is not None else None
        if (
            guards
            and last[:1] == ["exit"]
            and (above is None or above.type in ("program", "compound_statement", "do_group"))
        ):
            yield Hit(node.end_point[0] + 1, "`exit` in brackets ends the brackets alone: the script goes on")


def kept_in_document(s: Subject) -> Iterator[Hit]:
    """`<<'EOF'` around `${NAME}` in a configuration file."""
    for redirect in found(parse(s.script.text).root_node, "heredoc_redirect"):
        row = redirect.start_point[0]
        quoted = re.search(r"<<-?\s*(['\"])(\w+)\1", s.line(row + 1))
        if quoted is None or not CONFIGURES.search(s.line(row + 1).replace(quoted[0], "")):
            continue
        end = next((n for n in range(row + 1, len(s.lines)) if s.lines[n].strip() == quoted[2]), len(s.lines))
        names = dict.fromkeys(NAME.findall("\n".join(s.lines[row + 1 : end])))
        own = [name for name in names if name in s.names]
        if own:
            says = f"${own[0]} is written into the file as these letters: quotes around {quoted[2]} keep the shell from replacing it"
            yield Hit(row + 1, says, "leave the quotes out")


def separators(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """IFS set for the whole script: a variable with several words stays one."""
    for one in s.set_to("IFS"):
        line = s.line(one.line)
        whole = re.fullmatch(r"\s*(export\s+)?IFS=(\S*|'[^']*'|\"[^\"]*\"|\$'[^']*')\s*(#.*)?", line)
        again = [other.line for other in s.set_to("IFS") if other.line > one.line] or re.search(
            r"(?m)^[^\S\n]*unset IFS", s.script.text
        )
        if not whole or one.inside or again or " " in one.value or one.line > launch.line:
            continue
        root = launch.root
        for word in root.written:
            name = WHOLE.fullmatch(word)
            values = [set_.value for set_ in s.set_to(name[1])] if name else []
            if values and re.search(r"\S[ \n]+\S", values[-1].replace("\\\n", " ")):
                says = f"IFS is changed on line {one.line}: {word} is one word here, blanks and all"
                yield Hit(
                    root.line,
                    says,
                    "put IFS back, or change it for one command alone (`IFS=, read ...`, `$(IFS=,; echo ...)`)",
                )
                return


def unbraced(s: Subject) -> Iterator[Hit]:
    """`$SLURM_JOB_ID_x`: the name goes on over what was meant to stand behind it."""
    told, seen = s.names, set[str]()
    looped = set(re.findall(r"\b(?:for|read(?:\s+-\w+)*|local|declare)\s+([A-Za-z_]\w*)", s.script.text))
    for number, line in s.code_lines:
        for name in re.findall(r"(?<![\\$])\$([A-Za-z_]\w*)", re.sub(r"'[^']*'", "", line)):
            if name in told or name in looped or name in SCHEDULERS or name in seen:
                continue
            starts = [name[:at] for at in range(len(name) - 1, 1, -1) if name[at] == "_"]
            meant = next((one for one in starts if one in SCHEDULERS or (one in told and one.isupper())), "")
            rest = name[len(meant) :]
            if meant and (re.search(r"[a-z]", rest) or (meant in SCHEDULERS and not name.startswith("SLURM_JOB_"))):
                seen.add(name)
                yield Hit(
                    number,
                    f"${name} is a name that nothing sets: for {meant} with {rest} behind it write ${{{meant}}}{rest}",
                )


def torque_array(s: Subject) -> Iterator[Hit]:
    """The index of PBS Pro in an array of Torque, or the other way round."""
    for option, other, meant in (("t", "PBS_ARRAY_INDEX", "PBS_ARRAYID"), ("J", "PBS_ARRAYID", "PBS_ARRAY_INDEX")):
        line = next((n for n, row in enumerate(s.lines, 1) if re.match(rf"#PBS\s+-{option}\s+\d", row)), 0)
        reads = next((n for n, row in s.code_lines if re.search(rf"\$\{{?{other}\b", row)), 0)
        both = re.search(rf"\$\{{?{meant}\b", s.script.text)
        if line and reads and not both:
            system = "Torque" if option == "t" else "PBS Pro"
            says = f"{other} is not set in an array by -{option}: {system} calls the task's number {meant}"
            yield Hit(reads, says, "all tasks do the same else")


def set_gpus(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A resource set of jsrun with fewer GPUs than what the spawner starts in it."""
    layer = launch.parallel
    if layer is None or layer.name != "jsrun" or launch.procs is None:
        return
    gpus = launch.number(layer, "set_gpus")
    if gpus is not None and gpus < launch.procs:
        says = f"a resource set has {gpus} GPU{'s' if gpus != 1 else ''}, and {launch.procs} processes start in it"
        yield Hit(launch.line, says, f"give it as many: -g {launch.procs}")


def same_process(s: Subject) -> Iterator[Hit]:
    """`$!` read twice, and nothing started in the background between."""
    last = 0
    for number, line in s.code_lines:
        code = re.sub(r"'[^']*'|\"[^\"$]*\"", "", line)
        taken = re.match(r"\s*(?:export\s+|local\s+)?([A-Za-z_]\w*)=\"?\$!\"?\s*(?:#.*|;.*)?$", code)
        if taken and last and taken[1] != s.line(last).split("=")[0].split()[-1]:
            yield Hit(number, f"$! is still the process of line {last}: nothing was put into the background since")
        last = (
            number
            if taken
            else 0
            if re.search(r"(?<![&>])&(?![&>\d])", code) or re.match(r"\s*(fi|done|else|}|then)\b", code)
            else last
        )


def replaced_path(s: Subject) -> Iterator[Hit]:
    """A search path that is set anew, and so loses what a line above put in front of it."""
    for name in sorted(PATHS):
        told = [one for one in s.set_to(name) if not one.inside]
        for before, one in pairwise(told):
            kept = re.search(rf"\$\{{?{name}\b", one.written)
            if (
                not kept
                and re.search(rf"\$\{{?{name}\b", before.written)
                and "/" in one.value
                and one.line > before.line
            ):
                says = f"{name} is set anew: what line {before.line} put into it is gone"
                yield Hit(one.line, says, f"put `:${name}` behind it")


def options_read(s: Subject) -> Iterator[Hit]:
    """`getopts 'ab'` where the script takes an argument of b."""
    for found_ in re.finditer(r"getopts\s+([\"']?)([\w:]+)\1\s+(\w+)", s.script.text):
        letters, behind = found_[2].lstrip(":"), s.script.text[found_.end() :].split("done")[0]
        for letter in re.findall(r"[A-Za-z]", letters):
            arm = re.search(rf"(?m)^[^\S\n]*\(?{letter}[^\S\n]*\)([\s\S]*?);;", behind)
            if arm and "OPTARG" in arm[1] and f"{letter}:" not in letters:
                line = s.script.text[: found_.start()].count("\n") + 1
                yield Hit(
                    line, f"-{letter} takes no argument by '{found_[2]}', and OPTARG is read for it: write {letter}:"
                )


def split_value(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A value with quotes of its own and several lines, handed on without quotes: it comes as many words."""
    for word in launch.root.written:
        name = WHOLE.fullmatch(word)
        told = s.set_to(name[1]) if name else []
        if (
            told
            and "\n" in told[-1].value.strip()
            and re.search(r"\\\"|'", told[-1].written)
            and "\\\n" not in told[-1].written
        ):
            says = f"{word} has several lines and quotes of its own: without quotes around it, it comes as many words"
            yield Hit(launch.line, says, f'write "{word}"')


def shared_overlay(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A container's overlay that several tasks open for writing."""
    tasks = launch.tasks or (launch.nodes if launch.parallel is not None else 1) or 1
    for layer in launch.layers:
        if layer.kind != "container" or tasks < 2:
            continue
        for option, value in layer.options:
            text = plain(value) if value else ""
            if option in ("--overlay", "-o") and re.search(r"\.(ext3|img|sqf|squashfs)$", text):
                says = f"{tasks} tasks open the overlay {text.rsplit('/', 1)[-1]} for writing: one gets it, the others fail"
                yield Hit(launch.line, says, f"read-only for all: --overlay {text.rsplit('/', 1)[-1]}:ro")


def long_port(s: Subject) -> Iterator[Hit]:
    """A port put together of digits and the end of the job's number."""
    for one in s.set_to("MASTER_PORT"):
        made = re.fullmatch(r"[\"']?([1-9]\d*)\$\{\w+:\s*(?:0\s*)?(?:\(?-)(\d)\)?\}[\"']?", one.written)
        made = made or re.fullmatch(r"[\"']?([1-9]\d*)\$\(echo -n \$\{?\w+\}? \| tail -c (\d)\)[\"']?", one.written)
        if made and int(made[1]) * 10 ** int(made[2]) > 65535:
            least = int(made[1]) * 10 ** int(made[2])
            yield Hit(
                one.line,
                f"MASTER_PORT is {least} or more: a port lies below 65536",
                "take four digits of the job's number",
            )


RULES = (
    Rule(
        "shell-swallowed",
        "shell",
        "error",
        "a command that a backslash above makes an argument",
        swallowed,
        sources.BASH + "#Escape-Character",
    ),
    Rule(
        "shell-assignment-run",
        "shell",
        "error",
        "a variable run as a command that begins with an assignment",
        assignment_run,
        sources.BASH + "#Simple-Command-Expansion",
    ),
    Rule(
        "shell-trap-early",
        "shell",
        "warning",
        "a trap in double quotes around what is set later",
        trapped_early,
        sources.BASH + "#index-trap",
    ),
    Rule(
        "variable-lost-in-pipe",
        "environment",
        "warning",
        "a function that sets variables, called in a pipe",
        lost_in_pipe,
        sources.BASH + "#Pipelines",
    ),
    Rule(
        "shell-exit-in-brackets",
        "shell",
        "warning",
        "`exit` in brackets, meant for the script",
        exit_in_brackets,
        sources.BASH + "#Command-Grouping",
        why="write `{ ...; exit 1; }`",
    ),
    Rule(
        "shell-document-quoted",
        "shell",
        "warning",
        "variables in a configuration file that are never replaced",
        kept_in_document,
        sources.BASH + "#Here-Documents",
    ),
    launch_rule(
        "shell-separators",
        "shell",
        "error",
        "IFS changed for the whole script",
        separators,
        sources.BASH + "#Word-Splitting",
    ),
    Rule(
        "variable-unbraced",
        "environment",
        "error",
        "a name that goes on over what should stand behind it",
        unbraced,
        sources.BASH + "#Shell-Parameter-Expansion",
        why="nothing sets that name: it is empty",
    ),
    Rule("array-other-pbs", "directives", "error", "the array's variable of another PBS", torque_array, sources.PBS),
    launch_rule(
        "launch-set-gpus",
        "launch",
        "error",
        "a resource set with fewer GPUs than processes",
        set_gpus,
        sources.JSRUN,
        why="the others find no device of their number",
    ),
    Rule(
        "shell-same-process",
        "shell",
        "warning",
        "`$!` read twice for one process",
        same_process,
        sources.BASH + "#Special-Parameters",
        why="the line above ran in the foreground: put & behind it",
    ),
    Rule(
        "variable-path-replaced",
        "environment",
        "warning",
        "a search path that loses what was put into it",
        replaced_path,
        sources.BASH + "#Bourne-Shell-Variables",
    ),
    Rule(
        "shell-getopts",
        "shell",
        "error",
        "an option's argument that getopts does not take",
        options_read,
        sources.BASH + "#index-getopts",
        why="OPTARG stays empty, and the argument ends the options",
    ),
    launch_rule(
        "call-split-value",
        "shell",
        "warning",
        "a value of several lines handed on without quotes",
        split_value,
        sources.BASH + "#Word-Splitting",
    ),
    launch_rule(
        "container-overlay",
        "launch",
        "error",
        "an overlay that several tasks write to",
        shared_overlay,
        "https://apptainer.org/docs/user/main/persistent_overlays.html",
    ),
    Rule("rendezvous-port-long", "rendezvous", "error", "a port put together to more than 65535", long_port),
)
