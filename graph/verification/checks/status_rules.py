# ruff: noqa: E501
"""Codes and signals: whose code `$?` is, what `set -e` ends, which process a signal reaches, and when."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from graph.extraction.commands import Command
from graph.extraction.shell_tree import descendants, parse, text_of
from graph.verification.checks import sources
from graph.verification.checks.rendezvous_rules import activates_only
from graph.verification.checks.rule import Hit, Rule
from graph.verification.checks.shell_nodes import (
    BLOCKS,
    ancestors,
    before,
    found,
    in_background,
    lines_of,
    program_of,
    words_of,
)
from graph.verification.checks.subject import Subject, walk

STATUS = re.compile(r"\$\?|\$\{\?\}")
# What as good as never fails: its code is no news.
ALWAYS_WELL = frozenset({"echo", "printf", "date", "sleep", "true", ":", "set", "shopt"})
# What stands at a pipe's end to show or keep what comes through.
PASSES_ON = frozenset({"tee", "cat", "ts", "sed", "awk", "tail", "head", "tr"})
# `if [ $? -ne 0 ]`: asks whether something failed.
FAILED = re.compile(r"(-ne|!=|-gt)\s*[\"']?0|\(\(\s*\$\?\s*(!=|>)\s*0|\(\(\s*\$\?\s*\)\)")
ERREXIT = re.compile(r"\s*set\s+(-\w*e\w*\b|-o\s+errexit|-\w+\s+-o\s+errexit)")
RELAXED = re.compile(r"\s*set\s+(\+\w*e|\+o\s+errexit)")
SIGNALS = {"10": "USR1", "12": "USR2", "15": "TERM", "2": "INT", "1": "HUP"}
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def strict_lines(s: Subject) -> list[int]:
    """For each line, from 0: the line of the `set -e` that holds there; 0 for none."""
    holds = 1 if re.match(r"#!.*\bbash\s+-\w*e", s.script.text) else 0
    code, found = dict(s.code_lines), [holds]
    for number in range(1, len(s.lines) + 2):
        found.append(holds)
        text = code.get(number, "")
        holds = number if ERREXIT.match(text) else 0 if RELAXED.match(text) else holds
    return found


def statements(s: Subject) -> Iterator[Node]:
    """Every statement: the parents are walked, for a node finds its own only from the root down."""
    for block in walk(parse(s.script.text).root_node):
        if block.type in BLOCKS:
            yield from block.children


def in_function(node: Node) -> bool:
    return any(one.type == "function_definition" for one in ancestors(node))


def asks_status(node: Node) -> str:
    """The part of a statement that reads `$?` before anything else in it runs; empty where none does."""
    match node.type:
        case "if_statement":
            head = next((one for one in node.named_children if one.type not in ("comment",)), None)
            text = text_of(head) if head is not None else ""
        case "command" | "test_command" | "variable_assignment" | "list" | "case_statement" | "declaration_command":
            first = node.named_children[0] if node.type == "list" else node
            text = text_of(first).split("\n")[0]
        case "compound_statement":
            text = text_of(node) if text_of(node).startswith("((") else ""
        case _:
            text = ""
    return text if STATUS.search(text.split("$(")[0]) else ""


def status_of_other(s: Subject) -> Iterator[Hit]:
    """`$?` behind echo, an assignment, `export X=$(...)` or a pipe to tee: the code of those."""
    for node in statements(s):
        if not asks_status(node):
            continue
        last = before(node)
        who = whose(s, last) if last is not None else ""
        if last is not None and who:
            piped = "`set -o pipefail`, or ${PIPESTATUS[0]}, tells of the pipe's first command"
            kept = "it holds the code of the command right before it alone: keep it at once (`code=$?`)"
            says = f"`$?` is here the code of {who} on line {lines_of(last)[0]}"
            yield Hit(lines_of(node)[0], says, piped if "tee" in who or "pipe" in who else kept)


def whose(s: Subject, last: Node) -> str:
    """The command that hides another's code; empty where the code is that of real work."""
    body = last.child_by_field_name("body") if last.type == "redirected_statement" else last
    earlier = before(last)
    real = (
        earlier is not None
        and earlier.type in ("command", "redirected_statement", "pipeline", "list")
        and program_of(earlier) not in ALWAYS_WELL
    )
    if body is None or in_background(last):
        return ""
    if body.type == "pipeline":
        end = program_of(body.named_children[-1])
        return (
            f"{end}, the pipe's last command," if end in PASSES_ON and not re.search(r"pipefail", s.script.text) else ""
        )
    if body.type == "declaration_command" and next(descendants(body, "command_substitution"), None) is not None:
        return f"`{words_of(body)[0]}`"
    if (
        body.type == "command"
        and program_of(body) in ALWAYS_WELL
        and real
        and not STATUS.search(text_of(earlier) if earlier is not None else "")
    ):
        return f"`{program_of(body)}`"
    return ""


def ends_early(s: Subject) -> Iterator[Hit]:
    """Under `set -e`: a test of `$?` that never sees a failure, and `((i++))` at 0, which is one."""
    holding = strict_lines(s)
    for node in statements(s) if any(holding) else ():
        strict = holding[min(lines_of(node)[0], len(holding) - 1)]
        text = asks_status(node)
        if not strict or not (text or ends_by_itself(node) or counter_of(node)) or in_function(node):
            continue
        last = before(node)
        if (
            text
            and last is not None
            and last.type in ("command", "redirected_statement", "pipeline")
            and not in_background(last)
        ):
            other = node.type == "if_statement" and any(one.type == "else_clause" for one in node.children)
            relaxed = RELAXED.match(text_of(last)) or program_of(last) in ("wait", "set", *ALWAYS_WELL)
            if (FAILED.search(text) or (other and "$?" in text) or is_asked_later(s, node)) and not relaxed:
                yield Hit(lines_of(node)[0], f"a failure is never seen here: `set -e` (line {strict}) ends the script at line {lines_of(last)[0]} then",
                          "ask in one go: `if ! command; then`, or `command || code=$?`")  # fmt: skip
        if ends_by_itself(node):
            yield Hit(lines_of(node)[0], f"where {program_of(node)} finds {'nothing' if 'grep' in program_of(node) else 'a difference'}, `set -e` (line {strict}) ends the script here",
                      "its code is 1 then: add `|| true`")  # fmt: skip
        counted = counter_of(node)
        if counted and starts_at_zero(s, counted, lines_of(node)[0]):
            yield Hit(lines_of(node)[0], f"`{text_of(node).strip()[:40]}` counts from 0, and a result of 0 is a failure to `set -e` (line {strict}): the script ends here",
                      f"write {counted}=$(({counted} + 1))")  # fmt: skip


def is_asked_later(s: Subject, node: Node) -> bool:
    """Whether `code=$?` is kept for a test below that holds, or goes on, after a failure; `exit $code` needs none."""
    kept = re.fullmatch(r"(?:local\s+)?(\w+)=[\"']?\$\?[\"']?", text_of(node).strip())
    if kept is None:
        return False
    rest, name = "\n".join(s.lines[node.end_point[0] + 1 :]), kept[1]
    rest = re.split(rf"(?m)^[^\S\n]*{name}=", rest)[0]
    failed = rf"(?:\[|\(\(|\btest\b|\bcase\b)[^\n\])]*\b{name}\b(?![\"'}}]*\s*(?:-eq|==?|-lt|<)\s*[\"']?0)"
    return bool(re.search(rf"{failed}|\bif\b[^\n]*\b{name}\b(?:(?!\bfi\b).){{0,2000}}?\b(?:else|elif)\b", rest, re.S))


def ends_by_itself(node: Node) -> bool:
    """`grep x log > found.txt`, `diff a b > changes`: wanted for what they print, and 1 where that is the usual case."""
    kept = (
        [text_of(one) for one in node.children if one.type == "file_redirect"]
        if node.type == "redirected_statement"
        else []
    )
    printed = any(re.match(r"1?>>?(?!&)\s*(?!/dev/null)\S", one) for one in kept)
    body = node.child_by_field_name("body")
    alone = (
        printed
        and body is not None
        and body.type == "command"
        and program_of(body) in ("grep", "egrep", "fgrep", "diff", "cmp")
    )
    return alone and not is_condition(node)


def is_condition(node: Node) -> bool:
    """Whether a statement stands between `if` and `then`."""
    parent = node.parent
    return parent is not None and parent.type in ("if_statement", "elif_clause") and any(
        one.type == "then" and one.start_byte > node.start_byte for one in parent.children)  # fmt: skip


def counter_of(node: Node) -> str:
    """The variable of `((i++))` or `let i++`, as a statement of its own."""
    text = text_of(node).strip()
    match = re.fullmatch(r"\(\(\s*(\w+)\s*(?:\+\+|--)\s*\)\)|let\s+[\"']?(\w+)(?:\+\+|--)[\"']?", text)
    return (match[1] or match[2]) if match and not is_condition(node) else ""


def starts_at_zero(s: Subject, name: str, line: int) -> bool:
    above = [one for one in s.set_to(name) if one.line < line]
    return bool(above) and all(one.written.strip("\"'") == "0" for one in s.set_to(name))


def late_timeout(s: Subject) -> Iterator[Hit]:
    """`timeout 4h` in a job of four hours: the job's own limit comes first."""
    limit = s.job.walltime
    commands = [one for one in s.script.commands if one.outer is None]
    for at, one in enumerate(commands if limit else ()):
        words = one.argv
        if "timeout" not in words[:12]:
            continue
        rest = list(words[words.index("timeout") + 1 :])
        while rest and rest[0].startswith("-"):
            rest = rest[2 if rest[0] in ("-k", "-s", "--signal", "--kill-after") else 1 :]
        amount = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", rest[0]) if rest else None
        follows = any(
            two.line > one.line and two.name not in ("echo", "date", "exit", "printf") for two in commands[at + 1 :]
        )
        if amount and limit and float(amount[1]) * SECONDS[amount[2]] >= limit and follows:
            yield Hit(one.line, f"timeout {rest[0]} never comes: the job ends after {limit / 3600:.4g} h, and the lines below do not run")  # fmt: skip


def signal_of(text: str) -> str:
    name = text.strip().upper().removeprefix("SIG")
    return SIGNALS.get(name, name)


def misled_signal(s: Subject) -> Iterator[Hit]:
    """`--signal` and `trap`: without B: only the steps get the signal; a shell that waits for a program traps late."""
    one = s.job.asked.get("signal")
    asked = (
        re.fullmatch(r"(?:([BR]{1,2}):)?(\w+)(?:@\d+)?", one.value.strip("\"'"))
        if one is not None and s.scheduler == "slurm"
        else None
    )
    if one is None or asked is None or s.script.jobs or s.script.language != "bash":
        return
    name, to_shell = signal_of(asked[2]), "B" in (asked[1] or "")
    traps = [
        trap
        for trap in s.script.commands
        if trap.name == "trap" and name in {signal_of(word) for word in trap.argv[2:]}
    ]
    own = [trap for trap in traps if trap.outer is None and trap.argv[1] not in ("", "-", ":", "true")]
    steps = [two for two in s.script.commands if two.outer is None and "srun" in two.argv[:4]]
    handed_on = re.search(rf"kill\s+.*{name}|scancel\s.*(-s|--signal)", s.script.text)
    # At its end a job is sent TERM besides.
    if (
        not to_shell
        and own
        and len(own) == len(traps)
        and not handed_on
        and name != "TERM"
        and "EXIT" not in own[0].argv
    ):
        says = f"{name} goes to the steps alone; the trap on line {own[0].line} is the batch shell's, and never runs"
        why = f"--signal=B:{one.value.strip()} sends it to the batch shell (the steps do not get it then)"
        yield Hit(one.line, says, why)
    elif to_shell and own:
        yield from waits_in_front(s, own[0], steps)
    elif (
        to_shell
        and not traps
        and name in ("USR1", "USR2", "HUP")
        and not re.search(r"\bexec\b|\btrap\b", s.script.text)
        and (not s.script.sourced or activates_only(s))
    ):
        says = f"{name} goes to the batch shell alone, which has no trap for it and ends"
        yield Hit(one.line, says, "leave out B: where the program itself takes the signal, or trap it here")


def waits_in_front(s: Subject, trap: Command, steps: list[Command]) -> Iterator[Hit]:
    """A launch in the foreground: bash runs a trap when that has ended."""
    launch = s.launch
    root = launch.root if launch is not None else steps[-1] if steps else None
    if root is None or root.background or root.line < trap.line or root.outer is not None:
        return
    node = next(
        (one for one in found(parse(s.script.text).root_node, "command") if lines_of(one)[0] == root.line), None
    )
    if node is None or any(in_background(one) for one in (node, *ancestors(node))) or words_of(node)[:1] == ["exec"]:
        return
    yield Hit(trap.line, f"this trap runs only when the command on line {root.line} has ended",
              "bash puts a trap off while a program runs in the foreground: start it with `&`, and `wait` below", sources.BASH + "#Signals")  # fmt: skip


RULES = (
    Rule("status-of-other", "shell", "warning", "`$?` behind echo, `export X=$(...)` or a pipe: not the code that is meant", status_of_other, sources.BASH + "#Special-Parameters"),
    Rule("errexit-status", "shell", "warning", "under `set -e`: a test of `$?` that never sees a failure, `((i++))` at 0, `grep` or `diff` for what they print", ends_early, sources.BASH + "#The-Set-Builtin"),
    Rule("timeout-late", "limits", "warning", "`timeout` for as long as the job's own limit, and lines below it", late_timeout,
         why="leave the job some minutes for what follows"),
    Rule("signal-trap", "directives", "warning", "a trap that --signal does not reach, or that a launch in the foreground puts off", misled_signal, sources.SBATCH),
)  # fmt: skip
