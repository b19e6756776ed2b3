"""What a shell's own commands and redirections do to the reader: export, set, eval, source, heredocs, written files."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tree_sitter import Node

from graph.extraction.commands import Command, InnerJob, Place, WrittenFile
from graph.extraction.expansion import Environment
from graph.extraction.launch_chain import LaunchChain
from graph.extraction.launchers import read_chain
from graph.extraction.shell_tree import adjacent_words, text_of
from graph.extraction.shell_values import Array, BranchValue, Scalar
from graph.extraction.shell_words import Piece, join_fields, literal, plain

if TYPE_CHECKING:
    from graph.extraction.shell import ShellReader

Run = Callable[[Environment, Place], None]
SUBMIT = frozenset({"sbatch", "qsub", "bsub", "msub"})
ARRAY = re.compile(r"[A-Za-z_]\w*\+?=\(")
PRINTS = ("echo", "printf")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^]]*\])?\+?=")
SHELLS = frozenset({"bash", "sh", "zsh", "ksh", "dash"})


def simple(
    reader: ShellReader,
    node: Node,
    env: Environment,
    place: Place,
    background: bool = False,
    redirects: tuple[str, ...] = (),
    more_words: tuple[str, ...] = (),
) -> Command | None:
    """One simple command: expanded, recorded, and where it carries text for a shell, that text is read too."""
    line = place.first_line + node.start_point[0]
    redirects = (*redirects, *(text_of(c) for c in node.children if c.type.endswith("_redirect")))
    parts = [c for c in node.children if c.type != "comment" and not c.type.endswith("_redirect")]
    words = (*adjacent_words(reader.afforded(parts, line), node), *more_words)
    leading = len(list(itertools.takewhile(ASSIGNMENT.match, words)))
    if leading == len(words):
        for word in words:
            reader.assign_text(word, line, env, place)
        return None
    before = [
        (name, plain(env.expand_whole(written))) for name, _, written in (w.partition("=") for w in words[:leading])
    ]
    words = words[leading:]
    fields = tuple(env.expand_words(list(words)))
    if not fields:
        return None
    inner = env
    if before:
        inner = env.copy()
        inner.values |= {name: Scalar(literal(value)) for name, value in before}
    command = Command(
        line, fields, words, read_chain(list(fields)), tuple(before), redirects, place.inside, background, place.outer
    )
    perform(reader, command, inner, place)
    return command


def perform(reader: ShellReader, command: Command, env: Environment, place: Place) -> None:
    name = command.name
    if name in reader.functions:
        reader.call(name, command.fields, env, place)
        return
    builtin = BUILTINS.get(name)
    if builtin:
        builtin(reader, command, env, place)
        return
    reader.commands.append(command)
    follow(reader, command, env, place)


def follow(reader: ShellReader, command: Command, env: Environment, place: Place) -> None:
    """Read what the command hands to another shell, and the files it runs that the script itself has written."""
    chain = command.chain
    if chain.shell_text is not None:
        nested = env.copy()
        nested.positional = chain.positional or None
        what = next((f"{layer.name} -c" for layer in chain.layers[::-1] if layer.kind == "shell"), "")
        what = what or next((layer.name for layer in chain.layers[::-1] if layer.kind == "remote"), "submitted")
        reader.read(plain(chain.shell_text), nested, Place((*place.inside, what), command, command.line))
        return
    program = chain.program
    if program is None or not program.entry:
        return
    entry = plain(program.entry)
    if entry in reader.functions and chain.layers:
        reader.call(entry, (program.entry, *program.args), env, Place(place.inside, command, place.first_line))
        return
    document = reader.documents.get(entry) or reader.documents.get(entry.removeprefix("./"))
    if document is None or entry.endswith(".py"):
        return
    if any(layer.kind == "submit" for layer in chain.layers):
        reader.jobs.append(InnerJob(command.name, document.text, document.line))
    nested = env.copy()
    nested.positional = (program.entry, *program.args)
    reader.read(document.text, nested, Place((*place.inside, f"heredoc {document.name}"), command, document.line))


# -- builtins ------------------------------------------------------------------------------------------------------


def builtin_eval(reader: ShellReader, command: Command, env: Environment, place: Place) -> None:
    text = plain(join_fields(list(command.fields[1:])))
    if not text.startswith(("$(", "`")):
        reader.read(text, env, Place((*place.inside, "eval"), place.outer, command.line))


def builtin_source(reader: ShellReader, command: Command, env: Environment, place: Place) -> None:
    name = command.argv[1] if len(command.argv) > 1 else ""
    reader.commands.append(command)
    reader.sourced.append((command.line, name))
    if document := reader.documents.get(name):
        reader.read(document.text, env, Place((*place.inside, f"source {name}"), place.outer, command.line))


def builtin_set(reader: ShellReader, command: Command, env: Environment, place: Place) -> None:
    if "--" in command.argv:
        env.positional = (literal("sh"), *command.fields[command.argv.index("--") + 1 :])
    reader.commands.append(command)


def builtin_shift(reader: ShellReader, command: Command, env: Environment, place: Place) -> None:
    if env.positional:
        count = int(command.argv[1]) if len(command.argv) > 1 and command.argv[1].isdigit() else 1
        env.positional = (env.positional[0], *env.positional[1 + count :])


def builtin_exit(reader: ShellReader, command: Command, env: Environment, place: Place) -> None:
    reader.commands.append(command)
    reader.stopped = True


def builtin_read(reader: ShellReader, command: Command, env: Environment, place: Place) -> None:
    """read, mapfile, readarray: names whose values come from outside; a host list stays known as one."""
    source = " ".join(command.redirects)
    names = [a for a in command.argv[1:] if re.fullmatch(r"[A-Za-z_]\w*", a)]
    for name in names:
        if command.name != "read" or "-a" in command.argv:
            env.values[name] = Array(((Piece(f"$({source.lstrip('< (').rstrip(')')})", True),),))
        else:
            env.values[name] = BranchValue(((Piece(f"${name}", True),),), loop=True)


def builtin_nothing(reader: ShellReader, command: Command, env: Environment, place: Place) -> None:
    """Recorded only; inside a group whose output goes to a file, what it prints is kept."""
    reader.commands.append(command)
    if reader.group_target and command.name in PRINTS:
        keep_printed(reader, command, reader.group_target, more=True)


def builtin_trap(reader: ShellReader, command: Command, env: Environment, place: Place) -> None:
    reader.commands.append(command)


BUILTINS: dict[str, Callable[[ShellReader, Command, Environment, Place], None]] = {
    "eval": builtin_eval,
    "source": builtin_source,
    ".": builtin_source,
    "set": builtin_set,
    "shift": builtin_shift,
    "exit": builtin_exit,
    "return": builtin_exit,
    "read": builtin_read,
    "mapfile": builtin_read,
    "readarray": builtin_read,
    "trap": builtin_trap,
    ":": builtin_nothing,
    "echo": builtin_nothing,
    "printf": builtin_nothing,
}


# -- redirections --------------------------------------------------------------------------------------------------


def redirected(
    reader: ShellReader, body: Node | None, redirects: list[Node], env: Environment, place: Place, background: bool
) -> None:
    """A command with redirections: heredocs become files, jobs or text for a shell."""
    texts = tuple(text_of(r).split("\n")[0] for r in redirects)
    target = next((t for r in redirects if (t := written_file(r, env))), "")
    more = tuple(word for r in redirects if r.type == "file_redirect" for word in later_words(r))
    heredoc = next((r for r in redirects if r.type == "heredoc_redirect"), None)
    command = None
    group = body is not None and body.type in ("compound_statement", "subshell")
    if group and target and body is not None:
        outer, reader.group_target = reader.group_target, target
        reader.documents.pop(target, None)
        reader.statement(body, env, place, background)
        reader.group_target = outer
    elif body is not None and body.type == "command":
        command = simple(reader, body, env, place, background, texts, more)
    elif body is not None:
        reader.statement(body, env, place, background)
    if heredoc is not None:
        use_heredoc(reader, command, heredoc, target, env, place)
    elif command is not None and command.name in PRINTS and target:
        keep_printed(reader, command, target, any(t.startswith(">>") for t in texts))


def written_file(redirect: Node, env: Environment) -> str:
    """The file that a redirection (or one nested in a heredoc's line) writes to."""
    if redirect.type == "heredoc_redirect":
        return next((t for c in redirect.named_children if (t := written_file(c, env))), "")
    text = text_of(redirect)
    found = re.match(r"1?(>>?\|?)\s*(\S+)", text)
    return plain(env.resolved().expand_whole(found[2])) if redirect.type == "file_redirect" and found else ""


def later_words(redirect: Node) -> list[str]:
    """Words behind the file name that tree-sitter counts to the redirection: they are arguments of the command."""
    return adjacent_words(redirect.children_by_field_name("destination"))[1:]


def heredoc_text(redirect: Node, env: Environment) -> str:
    start = next((text_of(c) for c in redirect.children if c.type == "heredoc_start"), "")
    body = next((text_of(c) for c in redirect.children if c.type == "heredoc_body"), "")
    if any(c.type == "<<-" for c in redirect.children):
        body = re.sub(r"(?m)^\t+", "", body)
    return body if re.search(r"['\"\\]", start) else plain(env.expand_whole(body, heredoc=True))


def use_heredoc(
    reader: ShellReader, command: Command | None, redirect: Node, target: str, env: Environment, place: Place
) -> None:
    """What becomes of a heredoc: a variable, a file, a job that is submitted, or text for a shell."""
    text = heredoc_text(redirect, env)
    first = next((c.start_point[0] for c in redirect.children if c.type == "heredoc_body"), redirect.start_point[0] + 1)
    line = place.first_line + first
    piped = [c for c in redirect.named_children if c.type in ("pipeline", "command")]
    names = [command.name.rsplit("/", 1)[-1] if command else ""]
    names += [text_of(n).strip("| ").split(" ")[0] for n in piped]
    if command is not None and names[0] == "read" and "-d" in command.argv:
        env.values[command.argv[-1]] = Scalar(literal(text, True))
        return
    if command is not None and names[0] == "tee" and not target:
        target = next((a for a in command.argv[1:] if not a.startswith("-")), "")
    if not target and names == ["cat"]:
        target = reader.group_target or f"printed at line {line}"
    if target:
        keep_text(reader, target, text.rstrip("\n"), line, more=target == reader.group_target)
    for name in names:
        if name in SUBMIT or (command is not None and name == "flux" and "batch" in command.argv):
            reader.jobs.append(InnerJob(name, text, line))
            reader.read(text, env.copy(), Place((*place.inside, f"heredoc for {name}"), None, line))
        elif name in SHELLS or (command is not None and name == names[0] and takes_shell_text(command.chain)):
            reader.read(text, env.copy(), Place((*place.inside, f"heredoc for {name}"), command, line))


def takes_shell_text(chain: LaunchChain) -> bool:
    """Whether a command reads shell text from its input (`ssh host <<EOF`, `srun bash <<EOF`)."""
    last = chain.layers[-1] if chain.layers else None
    return last is not None and last.name in ("ssh", "bash") and chain.program is None and chain.shell_text is None


def keep_printed(reader: ShellReader, command: Command, target: str, more: bool) -> None:
    text = plain(join_fields([f for f in command.fields[1:] if plain(f) not in ("-e", "-n")]))
    if command.name == "echo" and "-e" in command.argv:
        text = text.replace("\\n", "\n")
    keep_text(reader, target, text, command.line, more)


def keep_text(reader: ShellReader, target: str, text: str, line: int, more: bool) -> None:
    """Remember what a file holds; `more` appends to what it held."""
    old = reader.documents.get(target) if more else None
    before = f"{old.text}\n" if old else ""
    reader.documents[target] = WrittenFile(target, before + text, old.line if old else line)
