# ruff: noqa: E501
"""What a job leaves behind when its script ends: work in the background, lines never reached, results on a node's disk."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.extraction.commands import Command
from graph.extraction.launch_shape import LaunchShape
from graph.extraction.shell_tree import descendants, parse, text_of
from graph.extraction.shell_words import plain
from graph.extraction.training import TRAINS
from graph.verification.checks import sources
from graph.verification.checks.flow_rules import LOCAL, activates
from graph.verification.checks.rule import Hit, Rule, launch_rule
from graph.verification.checks.shell_nodes import LOOPS, found, in_background, later, lines_of, program_of, words_of
from graph.verification.checks.subject import Subject
from graph.verification.checks.tasks import option_pairs
from knowledge.word_lists import in_order

# What may follow work in the background without keeping the job alive.
SHORT_LIVED = in_order("echo date printf exit true : sleep disown jobs pwd unset cd ls")
# What keeps it alive; of the sleeps only those without an end or of hours.
WAITS = re.compile(r"(^|[;&\s])(wait|fg|tail -f|sleep (inf\w*|\d{4,}|[\d.]+[hd]))\b")
LAST_ALONE = re.compile(r"\s*wait\s+\"?\$!\"?\s*(#.*)?")
SERVES = re.compile(
    r"(^|[/._-])(serve|server|\w+[-_]server|mongod|serve_\w+|launch_server|api_server|start-server)(\.py)?$"
)
HERE = re.compile(r"\b(localhost|127\.0\.0\.1|0\.0\.0\.0)\b")
# A client that waits by itself.
PATIENT = re.compile(r"--retry|wait|ready|sleep|timeout|while|until", re.I)
RESULTS = re.compile(r"--?((output|out|save|ckpt|checkpoint|checkpoints|results?)([_-]?(dir|path|folder|root))?)")
COPIES = re.compile(
    r"\b(cp|rsync|mv|tar|scp|rclone|gsutil|aws|zip|sgather|dcp|globus|azcopy|gcloud|mc|install|s3cmd|cat|copyq)\b"
)
CALLED_HERE = re.compile(r"(python[\d.]*|torchrun|accelerate|deepspeed|srun|mpirun|mpiexec)$")


def ends_too_soon(s: Subject) -> Iterator[Hit]:
    """Work in the background that nobody waits for."""
    launch = s.launch
    commands = [one for one in s.script.commands if one.argv and one.outer is None]
    left = [one for one in commands if one.background and one.name not in SHORT_LIVED and s.job.asked]
    if launch is not None and launch.root.background:
        left = [launch.root, *(one for one in left if one.line > launch.line)]
    for one in left if not s.script.jobs else ():
        if any("loop" not in where for where in one.inside) or kept_alive(s, commands, one.line):
            continue
        what = (
            "the launch goes on"
            if launch is not None and one is launch.root
            else f"{one.name.rsplit('/', 1)[-1][:30]} goes on"
        )
        yield Hit(one.line, f"{what} in the background and nothing waits for it")
        return
    yield from last_alone(s)


def kept_alive(s: Subject, commands: list[Command], line: int) -> bool:
    """Whether something below a line goes on for as long as work of its own, or waits."""
    if any(one.line > line and one.name not in SHORT_LIVED and not one.background for one in commands):
        return True
    # `until` is a while_statement of the parser, too.
    loops = [node for node in parse(s.script.text).root_node.children if node.type == "while_statement"]
    if any("sleep" in text_of(node) and node.start_point[0] >= line for node in loops):
        return True
    return any(WAITS.search(text) for number, text in s.code_lines if number >= line)


def last_alone(s: Subject) -> Iterator[Hit]:
    """A loop that starts several in the background, and `wait $!` below it."""
    waits = [(number, text) for number, text in s.code_lines if re.search(r"\bwait\b", text)]
    if len(waits) != 1 or not LAST_ALONE.fullmatch(waits[0][1]):
        return
    number = waits[0][0]
    for loop in found(parse(s.script.text).root_node, *LOOPS):
        body = loop.child_by_field_name("body")
        started = [one for one in body.named_children if in_background(one)] if body is not None else []
        between = range(lines_of(loop)[1] + 1, number)
        if started and lines_of(loop)[1] < number and not any("&" in s.line(line) for line in between):
            yield Hit(number, f"of all that the loop on line {lines_of(loop)[0]} starts, only the last is waited for",
                      "a job ends with its script, and what still runs is killed: `wait` alone waits for all", sources.BASH)  # fmt: skip


def behind_exec(s: Subject) -> Iterator[Hit]:
    """`exec program`: the shell is gone, with its traps and all lines below."""
    for node in parse(s.script.text).root_node.children:
        words = words_of(node)
        if words[:1] != ["exec"] or not words[1:] or words[1].startswith(("{", "-")):
            continue
        line = lines_of(node)[0]
        rest = [one for one in later(node) if one.type != "function_definition"]
        if any(program_of(one) not in SHORT_LIVED for one in rest):
            first = next(one for one in rest if program_of(one) not in SHORT_LIVED)
            says = f"this line never runs: `exec` on line {line} puts {words[1][:30]} in the place of the shell"
            yield Hit(lines_of(first)[0], says, "call the program without `exec` where something is to follow")
        trap = next(
            (
                one
                for one in s.script.commands
                if one.name == "trap" and "EXIT" in one.argv and one.line < line and one.outer is None
            ),
            None,
        )
        if trap is not None:
            says = f"this trap never runs: `exec` on line {line} takes the shell away, and its traps with it"
            yield Hit(trap.line, says, "call the program without `exec`")
        return


def early_client(s: Subject) -> Iterator[Hit]:
    """A server in the background, and at once a client that connects to it."""
    commands = [one for one in s.script.commands if one.argv and one.outer is None]
    for at, one in enumerate(commands):
        if not one.background or one.inside:
            continue
        asides = ("echo", "printf", "date", "trap")
        client = next((two for two in commands[at + 1 :] if two.name not in asides), None)
        trains = s.launch is not None and client is s.launch.root and TRAINS.search(plain(s.launch.program.entry))
        if client is None or client.inside or client.background or trains:
            continue  # a training takes its time, too, before it reports to a server
        text = " ".join(client.argv)
        named = any(SERVES.search(word) for word in one.argv[:8] if not word.startswith("-"))
        ports = {found[1] for found in re.finditer(r"--?\w*port[= ](\d{4,5})\b", " ".join(one.argv))}
        same = any(re.search(rf"{HERE.pattern}:{port}\b", text) for port in ports)
        if (same or (named and HERE.search(text))) and not PATIENT.search(text) and "&&" not in s.line(client.line):
            says = f"{client.name} connects at once to the server started on line {one.line}, which is not up yet"
            yield Hit(client.line, says)
            return


def results_left(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """Results that the program writes to the node's own disk, and that nothing copies from there."""
    if not s.job.asked or s.script.jobs or launch.root.inside:
        return
    if any(re.search(r"hub|s3://|gs://|upload|sync", plain(word)) for word in launch.program.args):
        return
    folder = here_before(s, launch.root.line)
    for redirect in launch.root.redirects if folder is not None else ():
        target = re.match(r"1?>>?\s*([\w-][\w./-]*)\s*$", redirect)
        if target and folder is not None and not taken_away(s, launch.root, folder[1]):
            says = f"{target[1]} is written to {folder[1]}, the node's own disk, and nothing copies it from there"
            yield Hit(folder[0], says)
            return
    for option, value in option_pairs(launch):
        if not RESULTS.fullmatch(option) or not value or value.startswith("-"):
            continue
        local = LOCAL.fullmatch(value)
        relative = re.match(r"\.?/?[A-Za-z_]", value) and not value.startswith("/") and folder is not None
        if (local or relative) and not taken_away(s, launch.root, value if local else folder[1] if folder else ""):
            line = launch.line if local or folder is None else folder[0]
            says = f"{option} {value[:40]} lies on the node's own disk, and nothing copies it from there"
            yield Hit(line, says)
            return


def here_before(s: Subject, line: int) -> tuple[int, str] | None:
    """(line, folder) of the node-local folder that the script is in at a line."""
    moves = [
        one
        for one in s.script.commands
        if one.name in ("cd", "pushd", "popd") and one.line < line and one.outer is None and not one.inside
    ]
    bracketed = found(parse(s.script.text).root_node, "subshell")
    moves = [one for one in moves if not any(lines_of(node)[0] <= one.line <= lines_of(node)[1] for node in bracketed)]
    target = moves[-1].argv[1] if moves and len(moves[-1].argv) > 1 else ""
    return (moves[-1].line, target) if LOCAL.fullmatch(target) and "&&" not in s.line(moves[-1].line) else None


def taken_away(s: Subject, root: Command, path: str) -> bool:
    """Whether anything below the launch copies, or anything anywhere takes that path for more than a target."""
    parts = path.split("/")
    top = "/".join(parts[:3]) if path.startswith("/") else parts[0]
    last = root.line + sum(word.count("\n") for word in root.written)
    while s.line(last).endswith("\\"):
        last += 1
    for number, line in s.code_lines:
        if number == last and re.search(rf"(;|&&)\s*{COPIES.pattern}", line):
            return True
        if number > last and (COPIES.search(line) or top in line or re.match(r"\s*(source|\.|bash|sh|\./)\s*\S", line)):
            return True
        copied = re.search(rf"{COPIES.pattern}.*{re.escape(top)}\S*\s+\S", line)
        if number < root.line and copied and not line.rstrip().endswith(top):
            return True
    return bool(
        re.search(r"\btrap\b", s.script.text)
        and any(
            COPIES.search(text_of(one)) for one in descendants(parse(s.script.text).root_node, "function_definition")
        )
    )


def activated_late(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """The launch stands above the line that activates the environment."""
    commands = [one for one in s.script.commands if one.outer is None and not one.inside]
    first = next((one for one in commands if activates(one)), None)
    if first is None or launch.root.line > first.line or launch.root.inside:
        return
    set_up = any(
        one.name in ("module", "ml", "spack")
        or (one.name in ("source", ".") and re.search(r"activate|env|setup", " ".join(one.argv[1:])))
        for one in commands
        if one.line < launch.line
    )
    path = any(one.name == "PATH" and one.line < launch.line for one in s.script.assignments)
    other = any(layer.kind in ("container", "wrapper") for layer in launch.layers) or re.search(
        r"\b(run|exec)\b", " ".join(launch.root.argv[:3])
    )
    if CALLED_HERE.fullmatch(launch.root.name) and not (set_up or path or other):
        yield Hit(first.line, f"the launch on line {launch.line} stands above this line, and runs in no environment")


RULES = (
    Rule("launch-ends-soon", "launch", "error", "work in the background that nothing waits for", ends_too_soon, sources.SBATCH,
         why="a job ends with its script, and what still runs is killed: add `wait`"),
    Rule("work-unreached", "shell", "error", "lines and traps below `exec program`", behind_exec, sources.BASH + "#Bourne-Shell-Builtins"),
    Rule("client-early", "launch", "warning", "a client that connects right behind its server's start", early_client,
         why="a model takes minutes to load: `until curl -sf http://localhost:PORT/health; do sleep 5; done` above it"),
    launch_rule("results-left", "environment", "warning", "results on the node's own disk that nothing copies away", results_left,
                why="that disk is emptied when the job ends: copy the results to a shared folder below the launch (or in a trap)"),
    launch_rule("environment-late", "environment", "warning", "a launch above the line that activates its environment", activated_late,
                why="a script runs from top to bottom: activate first"),
)  # fmt: skip
