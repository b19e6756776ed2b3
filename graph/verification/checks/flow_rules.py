# ruff: noqa: E501
"""Where values flow: what a variable is made of, which shell sets it, on which node a path lies, whose task it tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from graph.extraction.commands import Command
from graph.extraction.launch_chain import Layer
from graph.extraction.launch_shape import LaunchShape, root_of
from graph.extraction.launch_shape import text_of as text_of_option
from graph.extraction.shell_tree import descendants, parse, text_of
from graph.extraction.shell_words import plain
from graph.extraction.training import layers_of
from graph.verification.checks import sources
from graph.verification.checks.rule import Hit, Rule, launch_rule
from graph.verification.checks.subject import Subject

WRITES = re.compile(
    r"--?((output|out|save|ckpt|checkpoint|checkpoints|results?|logging|log|work|run|exp|default_root)([_-]?(dir|path|folder|root))?)"
)
LOCAL = re.compile(
    r"(/tmp|/var/tmp|/dev/shm|/local(?:_?scratch)?|/mnt/bb|\$\{?(?:TMPDIR|SLURM_TMPDIR|LOCAL_SCRATCH|JOBFS|NVME\w*)\}?)(/[^\s\"']*)?$"
)
PUTS = frozenset(("cp", "rsync", "tar", "unzip", "wget", "mkdir", "git", "scp"))
ELSEWHERE = re.compile(r"\b(srun|pdsh|clush|mpiexec|mpirun|pbsdsh|ssh|sbcast|jsrun|flux|ibrun)\b")
SETS_UP = re.compile(
    r"(^|/)(python|conda|anaconda\w*|miniconda\w*|miniforge\w*|mamba|pytorch|tensorflow)\d*([/.-]|$)", re.I
)
GPU_FLAGS = ("--nv", "--rocm", "--nvccli", "--gpus", "--runtime", "--device", "--gpu")
CLEANS = ("--cleanenv", "-e", "--containall", "-C")
LITTLE = 2000
"""MB of memory that a job with GPUs is not meant to have."""


def lost_scope(s: Subject) -> Iterator[Hit]:
    """A value set in brackets or at the end of a pipe: that shell ends, and the value with it."""
    root = parse(s.script.text).root_node
    for node in (*descendants(root, "subshell"), *descendants(root, "pipeline")):
        if node.parent is None or node.parent.type in ("command_substitution", "process_substitution"):
            continue
        part = node if node.type == "subshell" else node.children[-1]
        names = set_in(part, read=node.type == "pipeline")
        rest = "\n".join(s.lines[node.end_point[0] + 1 :])
        outside_of = "\n".join(s.lines[: node.start_point[0]]) + rest
        for name in names:
            used = re.search(rf"\$\{{?{name}\b|\bexport {name}\b(?!=)", rest)
            before = re.search(rf"\b{name}\+?=|\b(for|read)\b[^\n]*\b{name}\b", outside_of)
            # What counts or collects inside goes on from the value outside, and is meant to come back.
            grows = node.type == "pipeline" and re.search(
                rf"\b{name}=\S*\$\(?\(?\s*\{{?{name}\b|\b{name}=\"?\$\{{?{name}\b|\b{name}\+=|\(\(\s*{name}\+\+|\b{name}=\$\(\(\s*\$?{name}\b",
                text_of(part),
            )
            again = re.search(rf"(?m)\b{name}\+?=", rest) if grows else before
            if used and not again and not re.search(r"\blastpipe\b", s.script.text):
                where = "brackets" if node.type == "subshell" else "a pipe"
                says = f"{name} is set inside {where}, and what is used below does not have it"
                yield Hit(node.start_point[0] + 1, says, "that part runs in a shell of its own")
        only = [text_of(one) for one in descendants(part, "command_name")]
        if (
            node.type == "subshell"
            and only
            and set(only) <= {"cd", "module", "source", "."}
            and s.launch is not None
            and node.start_point[0] + 1 < s.launch.line
        ):
            says = f"`{only[0]}` in brackets ends with them"
            yield Hit(node.start_point[0] + 1, says, "brackets are a shell of their own: leave them out")


def set_in(part: Node, read: bool) -> list[str]:
    """Names that a part of the script sets."""
    found = [
        text_of(one).split("=")[0].rstrip("+")
        for one in descendants(part, "variable_assignment")
        if one.parent is not None and one.parent.type != "command"
    ]
    for command in (part, *descendants(part, "command")) if read else ():
        words = text_of(command).split()
        if command.type == "command" and words[:1] == ["read"]:
            found += [word for word in words[1:] if re.fullmatch(r"[A-Z_]\w*", word)]
    return list(dict.fromkeys(found))


def prefix_expanded(s: Subject) -> Iterator[Hit]:
    """`PORT=29500 srun ... $PORT`: the words are expanded before the value holds."""
    for command in s.script.commands:
        for name, _ in command.assignments:
            words = [
                word
                for word in command.written
                if not word.startswith("'") and re.search(rf"\$\{{?{name}\b(?!:?[-+=])", word)
            ]
            before = any(one.line < command.line for one in s.set_to(name))
            if (
                words
                and not before
                and command.outer is None
                and name not in s.exported
                and re.fullmatch(r"[A-Z]\w*", name)
            ):
                yield Hit(command.line, f"{name} is expanded on its own line before it is set")


def node_local(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A path on the first node's own disk that the ranks of all nodes are given."""
    if not s.several_nodes or launch.remote:
        return
    words = ["", *(plain(word) for word in launch.program.args)]
    handed = {
        found[0]: bool(WRITES.fullmatch(word.partition("=")[0]) or WRITES.fullmatch(before))
        for before, word in pairwise(words)
        if (found := LOCAL.search(word.rpartition("=")[2]))
    }
    for path, written in sorted(handed.items()):
        top = "/".join(path.split("/")[:3]) if path.startswith("/") else path
        for command in s.script.commands:
            here = any(top in word for word in command.argv[1:]) and command.line < launch.line
            if (
                here
                and command.name in PUTS
                and (written or command.name != "mkdir")
                and command.outer is None
                and not touched_by_all(s, top, written)
            ):
                says = f"{path[:40]} lies on the first node alone; the ranks of {s.job.nodes} nodes are given it"
                yield Hit(command.line, says)
                return


def touched_by_all(s: Subject, path: str, written: bool) -> bool:
    """Whether a launcher or a loop over hosts puts something there above the launch: an empty folder is for what is written."""
    root = s.launch.root if s.launch else None
    idle = {"rm", "rmdir", "ls", "df", "du", *(() if written else ("mkdir",))}
    return any(
        ELSEWHERE.search(one.name)
        and any(path in word for word in one.argv)
        and not idle & set(one.argv)
        and (root is None or one.line < root.line)
        for one in s.script.commands
        if one is not root and root_of(one) is not root
    )


def one_word(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """`ARGS="--lr 1 --wd 2"` handed over as `"$ARGS"`: one word to the program."""
    if launch.root.name in ("echo", "eval", "printf"):
        return
    for before, word in pairwise(launch.command.written):
        found = re.fullmatch(r"\"\$\{?(\w+)\}?\"", word)
        values = [one.value for one in s.set_to(found[1])] if found else []
        if found and values and not before.startswith("-") and re.match(r"\s*--?\w[\w-]*[= ]\S+\s+-", values[-1]):
            says = f'"${found[1]}" holds several options and is one word in its quotes'
            yield Hit(launch.line, says, 'leave the quotes out, or make it an array: "${' + found[1] + '[@]}"')


def nested_launch(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """`srun srun`, `mpirun srun`: the inner launcher starts all its ranks once for each of the outer's."""
    starters = (
        [one for one in launch.layers if one.kind == "parallel" and one.name not in ("salloc", "flux")]
        if launch
        else []
    )
    if len(starters) < 2:
        return
    outer, inner = starters[0], starters[-1]
    tasks = launch.number(outer, "tasks")
    if tasks != 1:
        yield Hit(launch.line, f"{outer.name} starts {inner.name} once for each of its tasks")


def closed_container(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A container without the option for GPUs, or with an environment that the launcher's variables do not reach."""
    layer: Layer | None = next((one for one in launch.layers if one.name in ("apptainer", "docker")), None)
    if layer is None or launch.open:
        return
    options = {name for name, _ in layer.options}
    other = any(kind.gpus.vendor != "nvidia" for kind in s.node_types) or re.search(
        r"rocm|\bhip|mi[23]\d\d|ROCR|\bxpu|lumi", s.script.text, re.I
    )
    if (
        s.devices
        and not options & set(GPU_FLAGS)
        and not other
        and not re.search(r"(APPTAINER|SINGULARITY)_NV\b", s.script.text)
    ):
        wanted = "--nv" if layer.name == "apptainer" else "--gpus all"
        says = f"the container is started without {wanted}: the program sees no GPU"
        why = "the drivers' libraries are not in the image"
        yield Hit(launch.line, says, why, "https://apptainer.org/docs/user/main/gpu.html")
    text = " ".join(word for word in launch.root.written if word.startswith("'"))
    named = any(re.search(rf"\$\{{?{name}\b", text) and f"{name}=" not in text for name in s.exported)
    needed = launch.parallel is not None or "MASTER_ADDR" in s.exported or named
    if (
        layer.name == "apptainer"
        and options & set(CLEANS)
        and needed
        and "--env" not in options
        and not re.search(r"(APPTAINER|SINGULARITY)ENV_|--env", s.script.text)
    ):
        flag = sorted(options & set(CLEANS))[0]
        says = f"{flag} keeps the job's variables out of the container"
        why = "ranks, addresses and settings do not reach the program: leave it out, or hand them in with --env"
        yield Hit(launch.line, says, why, "https://apptainer.org/docs/user/main/environment_and_metadata.html")


def outside_binds(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A path of the program on a file system of the project that is not bound, beside others that are."""
    layer = next((one for one in launch.layers if one.name == "apptainer"), None)
    bound = [plain(value) for name, value in layer.options if name in ("-B", "--bind")] if layer else []
    roots = [one.partition(":")[0].rstrip("/") for value in bound for one in value.split(",")]
    for word in launch.program.args:
        parts = plain(word).rpartition("=")[2].split("/")
        twin = len(parts) > 3 and not parts[0] and any(one.split("/")[2:3] == parts[2:3] for one in roots)
        if twin and not any("/".join(parts[:end]) in roots for end in range(2, len(parts) + 1)):
            says = f"/{parts[1]}/{parts[2]} is not bound into the container, as other folders of its name are"
            yield Hit(launch.line, says, severity="warning")
            return


def step_waits(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A step in the background that holds what the launch needs."""
    layer = launch.parallel
    if layer is None or layer.name != "srun" or launch.root.inside:
        return
    for command in s.script.commands:
        step = next((one for one in layers_of(command) if one.name == "srun"), None)
        before = command.line < launch.line and command.background and command.outer is None and not command.inside
        if step is None or not before or command is launch.root:
            continue
        shared = any(
            one.has(name)
            for one in (step, layer)
            for name in ("--overlap", "--oversubscribe", "-s", "-w", "--nodelist", "--exact", "-r", "--relative")
        )
        awaited = any(one.name == "wait" and command.line < one.line < launch.line for one in s.script.commands)
        # Components of a heterogeneous job have nodes of their own (srun(1), --het-group: the first where none is told).
        groups = {text_of_option(one, "--het-group", "--pack-group") or "0" for one in (step, layer)}
        if not shared and not awaited and len(groups) == 1 and not number_of_part(s, step, layer):
            yield Hit(command.line, "this step holds its CPUs and GPUs while the launch below waits for them")


def number_of_part(s: Subject, step: Layer, layer: Layer) -> bool:
    """Whether both steps say how many nodes they take: they may fit beside each other."""
    return all(one.role("nodes") is not None for one in (step, layer)) and s.several_nodes


def exit_lost(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """The exit code of the launch goes down in a pipe."""
    if re.search(r"pipefail|PIPESTATUS", s.script.text):
        return
    root = parse(s.script.text).root_node
    for node in descendants(root, "pipeline"):
        inside = node.start_point[0] < launch.line <= node.end_point[0] + 1
        if inside and re.match(r"\s*tee\b", text_of(node.children[-1])):
            yield Hit(launch.line, "the launch's exit code is lost in the pipe: tee's counts")
            return


def grep_ends(s: Subject) -> Iterator[Hit]:
    """`X=$(grep ...)` under `set -e`: nothing found ends the script without a word."""
    strict = next((n for n, line in s.code_lines if re.match(r"\s*set\s+(-\w*e\w*\b|-o errexit)", line)), 0)
    for one in s.script.assignments if strict else ():
        found = re.fullmatch(r"[\"']?\$\((.*)\)[\"']?", one.written, re.S)
        last = re.split(r"\|(?!\|)", found[1])[-1] if found else ""
        if (
            found
            and one.line > strict
            and not one.inside
            and re.match(r"\s*[ef]?grep\b", last)
            and not re.match(r"\s*[sqb](batch|sub)\b", found[1])
            and "||" not in found[1]
            and "||" not in s.line(one.line)
        ):
            says = f"where grep finds nothing for {one.name}, `set -e` (line {strict}) ends the script here"
            yield Hit(one.line, says)


def module_after(s: Subject) -> Iterator[Hit]:
    """Modules with a Python of their own, or a purge, behind the environment that was activated."""
    activated = next((one.line for one in s.script.commands if one.outer is None and activates(one)), 0)
    for one in s.script.commands if activated else ():
        late = one.line > activated and not one.inside and s.launch is not None and one.line < s.launch.line
        words = one.argv[2:] if one.name == "module" else one.argv[1:]
        verb = one.argv[1] if one.name == "module" and len(one.argv) > 1 else "load"
        if (
            late
            and one.name in ("module", "ml")
            and (verb == "purge" or (verb == "load" and any(SETS_UP.search(word) for word in words)))
        ):
            what = "purge" if verb == "purge" else f"load {' '.join(words)}"
            yield Hit(one.line, f"`module {what[:40]}` stands behind the environment activated on line {activated}")
            return


def activates(one: Command) -> bool:
    words = one.argv
    return words[:2] in (("conda", "activate"), ("mamba", "activate")) or (
        words[:1] in (("source",), (".",)) and len(words) > 1 and words[1].endswith("/bin/activate")
    )


def memory_twice(s: Subject) -> Iterator[Hit]:
    """Options of memory that Slurm takes one of, and memory in MB that was meant in GB."""
    told = [s.job.asked[name] for name in ("mem", "mem-per-cpu", "mem-per-gpu") if name in s.job.asked]
    if s.scheduler == "slurm" and len(told) > 1:
        says = f"--{told[0].option} and --{told[1].option} exclude each other"
        why = "sbatch ends: '--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.'"
        yield Hit(max(one.line for one in told), says, why)
    one = s.job.asked.get("mem")
    if (
        s.scheduler == "slurm"
        and one is not None
        and re.fullmatch(r"[1-9]\d{0,3}", one.value)
        and int(one.value) < LITTLE
        and s.job.gpu_option
    ):
        says = f"--mem={one.value} is {one.value} MB"
        why = f"a number without a unit is in MB: --mem={one.value}G where GB are meant"
        yield Hit(one.line, says, why, severity="warning")


RULES = (
    Rule("variable-lost", "environment", "warning", "a value set in brackets or at a pipe's end, and used outside", lost_scope, sources.BASH + "#Command-Execution-Environment"),
    Rule("variable-own-line", "environment", "error", "`PORT=1 srun ... $PORT`: expanded before it is set", prefix_expanded, sources.BASH + "#Simple-Command-Expansion",
         why="the shell expands the words first, and hands the value to the command alone: set it on a line above"),
    launch_rule("path-node-local", "environment", "warning", "files on the first node's own disk that all nodes are given", node_local,
                why="the batch script runs on one node: do it on each (srun --ntasks-per-node=1), or use the shared filesystem"),
    launch_rule("call-one-word", "shell", "warning", "several options in quotes, which are one word to the program", one_word, sources.BASH + "#Word-Splitting"),
    launch_rule("launch-nested", "launch", "warning", "a launcher that starts a launcher", nested_launch,
                why="each starts all ranks again, or waits for the nodes that the outer one holds: one launcher is enough"),
    launch_rule("container-closed", "launch", "warning", "a container without GPUs, or without the job's variables", closed_container),
    launch_rule("container-binds", "launch", "warning", "a path of the program that the container does not bind, beside one that it does", outside_binds, "https://apptainer.org/docs/user/main/bind_paths_and_mounts.html",
                why="the program finds no such folder, unless the site binds it by itself: add it behind -B"),
    launch_rule("launch-step-waits", "launch", "warning", "a step in the background that holds what the launch needs", step_waits, sources.SRUN,
                why="since Slurm 20.11 steps do not share: give both --overlap"),
    launch_rule("shell-exit-lost", "shell", "info", "the launch's exit code lost in a pipe", exit_lost, sources.BASH + "#Pipelines",
                why="`set -o pipefail` keeps it; a failed job is told as done else"),
    Rule("shell-grep-ends", "shell", "warning", "`X=$(grep ...)` under `set -e`", grep_ends, sources.BASH + "#The-Set-Builtin",
         why="grep's code is 1 then: add `|| true`"),
    Rule("environment-order", "environment", "warning", "modules loaded behind the environment that they change", module_after,
         why="modules put their own Python first on PATH, or take away what the environment was built on: load them first"),
    Rule("directive-memory", "directives", "error", "two options of memory that exclude each other; memory in MB", memory_twice, sources.SBATCH),
)  # fmt: skip
