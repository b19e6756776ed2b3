# ruff: noqa: E501
"""What a step reads or is handed that the script meant for others: the input of a loop, variables over ssh, host lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from graph.extraction.shell_tree import parse, text_of
from graph.verification.checks import sources
from graph.verification.checks.rule import Edit, Hit, Rule
from graph.verification.checks.shell_nodes import (
    LOOPS,
    ancestors,
    found,
    in_background,
    is_within,
    lines_of,
    program_of,
    redirects_of,
    takes_input,
    words_of,
)
from graph.verification.checks.subject import Subject

# What reads its standard input to the end and hands it on (ssh(1), srun(1) --input, mpirun(1) --stdin) -> the words
# that keep it from doing so.
READS = {
    "ssh": re.compile(r"-(?!o)\w*[nf]\w*|StdinNull=yes"),
    "srun": re.compile(r"--input(=.*)?|-i.*"),
    "mpirun": re.compile(r"-{1,2}stdin"),
    "mpiexec": re.compile(r"-{1,2}stdin"),
}
WRITES_JOBS = ("cat", "tee", "sbatch", "qsub", "bsub")
OF_JOB = re.compile(r"(SLURM|PBS|LSB|FLUX)_\w+")
NAME = re.compile(r"(?<!\\)\$\{?([A-Za-z_]\w*)")
LISTS_SLOTS = re.compile(r"\bcat\s+\"?\$\{?PBS_NODEFILE|<\s*\"?\$\{?PBS_NODEFILE")
ONCE_EACH = re.compile(r"\buniq\b|\bsort\s+-\w*u")


def eaten_input(s: Subject) -> Iterator[Hit]:
    """`while read ...; do srun ...; done < list`: the step reads the rest of the list."""
    root = parse(s.script.text).root_node
    functions = {
        text_of(own): one
        for one in found(root, "function_definition")
        if (own := one.child_by_field_name("name")) is not None
    }
    for loop in found(root, "while_statement"):
        reads = [one for one in loop.children if program_of(one) == "read"]
        if not any(plain_read(one) for one in reads) or not has_input(loop):
            continue
        body = loop.child_by_field_name("body")
        eaters = [one for one in found(body, "command") if eats(one, body, functions)] if body is not None else []
        for one in eaters[:1]:
            name, line = reader_of(one, functions), lines_of(one)[0]
            more = f" (line {lines_of(eaters[-1])[0]}, too)" if len(eaters) > 1 else ""
            says = f"{name} reads the rest of the list that the loop on line {lines_of(loop)[0]} goes over{more}"
            alone = len(eaters) == 1 and name == program_of(one) and s.line(line).endswith(text_of(one))
            edit = Edit(line, line, (f"{s.line(line)} < /dev/null",)) if alone else None
            yield Hit(line, says, f"the loop ends after its first turn: give {name} its own input, `{name} ... < /dev/null`",
                      sources.SRUN if name == "srun" else sources.SSH if name == "ssh" else sources.OPEN_MPI, edit=edit)  # fmt: skip


def plain_read(node: Node) -> bool:
    """Whether a `read` takes standard input: not another descriptor, and not a file of its own."""
    own = takes_input(node) or "<" in "".join(text_of(one) for one in node.children if "redirect" in one.type)
    return not own and not any(re.match(r"-\w*u", word) for word in words_of(node)[1:])


def has_input(loop: Node) -> bool:
    """Whether a loop reads a file, a text or a pipe."""
    outer = loop.parent
    if outer is not None and outer.type == "redirected_statement" and takes_input(outer):
        return True
    part = outer if outer is not None and outer.type == "redirected_statement" else loop
    pipe = part.parent
    return pipe is not None and pipe.type == "pipeline" and pipe.named_children[0] != part


def reader_of(node: Node, functions: dict[str, Node]) -> str:
    """What reads the input at a command: itself, or what the function that it calls runs; empty for nothing."""
    name = program_of(node)
    if name in functions:
        body = functions[name]
        inner = (one for one in found(body, "command") if program_of(one) not in functions and eats(one, body, {}))
        return next((program_of(one) for one in inner), "")
    closed = READS.get(name)
    return "" if closed is None or any(closed.fullmatch(word) for word in words_of(node)) or takes_input(node) else name


def eats(node: Node, body: Node, functions: dict[str, Node]) -> bool:
    """Whether a command inside a loop's body reads what the loop reads."""
    if not reader_of(node, functions) or takes_input(node):
        return False
    inner = node
    for outer in ancestors(node):
        if in_background(inner):
            return False
        if outer == body:
            return True
        if outer.type == "function_definition":
            return False
        if takes_input(outer) or (outer.type in LOOPS and has_input(outer)):
            return False
        if outer.type == "pipeline" and not is_within(node, outer.named_children[0]):
            return False
        inner = outer
    return False


def not_carried(s: Subject) -> Iterator[Hit]:
    """`ssh host '... $NAME'`: the shell on the other node expands it, and has no such variable."""
    given = {one.name for one in s.script.assignments if not any("ssh" in where for where in one.inside)}
    root = parse(s.script.text).root_node
    given |= {
        text_of(name)
        for loop in found(root, "for_statement")
        if (name := loop.child_by_field_name("variable")) is not None
    }
    for node in found(root, "command"):
        words = words_of(node)
        if program_of(node) in WRITES_JOBS:
            yield from left_to_job(s, node, given)
        if program_of(node) != "ssh" or any("SendEnv" in word for word in words):
            continue
        for word in (*(one for one in words if one.startswith("'")), *quoted_input(node)):
            for name in dict.fromkeys(NAME.findall(word)):
                own = re.search(rf"\b{name}=|\b(read|for)\b[^;\n]*\b{name}\b", word)
                sourced = re.search(r"(^|[;&\s'])(source|\.)\s", word) and not OF_JOB.fullmatch(name)
                if own or sourced or not (name in given or OF_JOB.fullmatch(name)):
                    continue
                whole = node.parent if node.parent is not None and node.parent.type == "redirected_statement" else node
                at = re.search(rf"\$\{{?{name}\b", text_of(whole))
                line = lines_of(node)[0] + text_of(whole)[: at.start() if at else 0].count("\n")
                yield Hit(line, f"{name} is left to the shell that ssh starts, where it is not set")
                break


def left_to_job(s: Subject, node: Node, given: set[str]) -> Iterator[Hit]:
    """`cat > job.sh <<'EOF'` with `$LR` of the loop around it: the job gets the name, and has no such variable."""
    for text in quoted_input(node):
        job = re.search(r"(?m)^#(SBATCH|PBS|BSUB| ?flux:)", text)
        for name in dict.fromkeys(NAME.findall(text)) if job else ():
            own = re.search(rf"\b{name}=|\b(read|for|local)\b[^;\n]*\b{name}\b|\$\{{{name}:?[-=+?]", text)
            handed = re.search(rf"(--export|-v|-V|--env)\b.*\b({name}|ALL)\b", s.script.text)
            if name in given - s.exported and not own and not handed:
                at = re.search(rf"\$\{{?{name}\b", text)
                line = lines_of(node)[0] + 1 + text[: at.start() if at else 0].count("\n")
                says = f"the here-document is quoted: {name} stands there as a name, and the job does not have it"
                yield Hit(
                    line,
                    says,
                    "without the quotes this shell fills it in; what the job is to expand takes a backslash",
                    sources.BASH,
                )
                return


def quoted_input(node: Node) -> Iterator[str]:
    """The text that a command reads from a here-document in which this shell expands nothing."""
    outer = node.parent
    for one in redirects_of(outer) if outer is not None and outer.type == "redirected_statement" else ():
        start = next((text_of(part) for part in one.children if part.type == "heredoc_start"), "")
        if start[:1] in ("'", '"', "\\"):
            yield next((text_of(part) for part in one.children if part.type == "heredoc_body"), "")


def remote_values(s: Subject) -> Iterator[tuple[int, str, str]]:
    """(line, name, whose shell) for names that only a shell of another command sets, and the script uses below."""
    outside = {one.name for one in s.script.assignments if not of_other_shell(one.inside)}
    for one in s.script.assignments:
        where = of_other_shell(one.inside)
        if not where or one.name in outside or OF_JOB.fullmatch(one.name):
            continue
        use = re.compile(rf"(?<!\\)\$\{{?{one.name}\b(?!:?[-+=?])")
        for command in s.script.commands:
            words = [word for word in command.written if not word.startswith("'")]
            used = command.outer is None and not of_other_shell(command.inside) and command.line > one.line
            # In double quotes the same text may be meant for the other shell again.
            if used and any(use.search(word) for word in words) and f"{one.name}=" not in " ".join(words):
                yield command.line, one.name, where
                break


def of_other_shell(inside: tuple[str, ...]) -> str:
    return next((one for one in inside if one.endswith(" -c") or one == "ssh"), "")


def lost_values(s: Subject) -> Iterator[Hit]:
    """`srun bash -c 'export X=1'` and `$X` below: that shell has ended, and its value with it."""
    for line, name, where in dict.fromkeys(remote_values(s)):
        yield Hit(line, f"{name} is set by the shell of `{where}` alone, and is empty here")


def slots_for_nodes(s: Subject) -> Iterator[Hit]:
    """PBS writes a node once for each of its mpiprocs: lines of the file are no nodes."""
    slots = s.job.tasks_per_node or 1
    if s.scheduler != "pbs" or slots < 2 or (s.job.nodes or 2) < 1:
        return
    why = f"with mpiprocs={slots} each node stands in the file {slots} times: take `sort -u $PBS_NODEFILE`"
    for one in s.script.assignments:
        counts = (
            re.search(r"\bwc\b", one.written) and "PBS_NODEFILE" in one.written and not ONCE_EACH.search(one.written)
        )
        asked = re.search(rf"--(nnodes|num[-_]machines|num[-_]nodes)[= ][\"']?\$\{{?{one.name}\b", s.script.text)
        if counts and (asked or re.search(r"NODES|HOSTS|MACHINES", one.name, re.I)):
            yield Hit(one.line, f"{one.name} counts the lines of the node file, and not the nodes", why)
    for loop in found(parse(s.script.text).root_node, "for_statement", "while_statement"):
        body = loop.child_by_field_name("body")
        whole = (
            loop.parent
            if loop.parent is not None and loop.parent.type in ("redirected_statement", "pipeline")
            else loop
        )
        head = text_of(whole).replace(text_of(body), "") if body is not None else ""
        names = {program_of(one) for one in found(body, "command")} if body is not None else set()
        if LISTS_SLOTS.search(head) and not ONCE_EACH.search(head) and {"ssh", "pdsh", "pbsdsh", "scp"} & names:
            yield Hit(lines_of(whole)[0], f"the loop goes to each node {slots} times", why)


RULES = (
    Rule("loop-stdin", "shell", "error", "`while read ...; do srun ...; done < list`: the step eats the list", eaten_input),
    Rule("variable-remote", "environment", "error", "a variable in single quotes behind ssh, or in the quoted text of a job: nobody sets it there", not_carried, sources.SSH,
         why="ssh carries no variables, and single quotes keep this shell from putting the value in: use double quotes"),
    Rule("variable-gone", "environment", "error", "a value that the shell of `srun bash -c '...'` or ssh sets, used below", lost_values, sources.BASH + "#Command-Execution-Environment",
         why="a shell's variables end with it: print the value there, and take it by NAME=$(...)"),
    Rule("nodefile-slots", "launch", "warning", "lines of PBS's node file taken for nodes where mpiprocs repeats them", slots_for_nodes, sources.PBS),
)  # fmt: skip
