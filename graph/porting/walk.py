"""What of an old script stays on another machine, and what is the machine's: found statement by statement.

Modules and environments, settings of network, ranks and nodes, and the launcher before a program are the machine's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from graph.extraction.commands import Assignment, Command
from graph.extraction.launch_shape import root_of
from graph.extraction.places import (
    ASSIGNMENTS,
    HOLDERS,
    Change,
    Node,
    bodies,
    gone,
    line_of,
    tree_of,
    within,
    words_of,
)
from graph.extraction.script import ReadScript, read_script
from graph.extraction.shell_words import plain
from graph.extraction.training import layers_of
from graph.porting.arguments import HOSTS
from graph.porting.own_names import same_launch
from graph.porting.ownership import is_machine_variable
from graph.porting.parts import is_launch
from knowledge.cluster import Cluster
from knowledge.masking import hide
from knowledge.word_lists import word_set

# What `conda init` writes into a shell's start file, and people into their jobs.
CONDA_INIT = "__conda_setup"
SOFTWARE = word_set("module ml conda mamba micromamba spack deactivate")
ENTERS = re.compile(r"\bactivate\b|(lmod|modules)[\w./-]*/init|profile\.d/|conda\.sh|setvars\.sh|\bconda\b.*\bhook\b")
# What may stand beside them in a block that goes with them.
BESIDE = word_set("[ [[ test echo printf true false : exit set which source .")
# Names that the new script sets itself, and what others like them stand for there.
OURS = word_set("MASTER_ADDR MASTER_PORT WORLD_SIZE NNODES RANKS_PER_NODE")
COUNTS = word_set("NNODES WORLD_SIZE RANKS_PER_NODE")
TOLD_COUNTS = word_set(
    "SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE SLURM_GPUS_PER_NODE SLURM_GPUS_ON_NODE SLURM_GPUS"
)
RUNS_SOFTWARE = re.compile(
    r"(^|[;&|(`]|\b(if|while|then|do|else|!))[ \t]*"
    r"(python[\d.]*|pip[\d.]*|uv|nvcc|ray|vllm|wandb|huggingface-cli|hf)[ \t]",
    re.M,
)
READS = word_set("read mapfile readarray")
LOOPS = frozenset({"for_statement", "while_statement", "c_style_for_statement"})
REACHES = re.compile(r"(?<![\w/-])(/\S+/)?(ssh|rsh|pbsdsh|blaunch|pdsh)\s")
# A step on the one node that a loop's variable names.
ON_NODE = r"\bsrun\b[^\n;&|]*(-w|--nodelist)[= ]?[\"']?\$\{{?{}\b"
FIRST_ONE = re.compile(r"head -(n ?)?1\b|sed -n 1p|\bhostname\b(?!s)|NR ?== ?1")
MADE_OF_HOSTS = re.compile(r"[\"'(]*(\$\(|`|\$\{?(SLURM_(JOB_)?NODELIST|PBS_NODEFILE|LSB_\w*HOST\w*)\b)")
LEADS = "(master|head|main|primary|rank0|first|rdzv)"
ROLES = tuple(
    (re.compile(pattern, re.I), name)
    for pattern, name in (
        (r"(n|num|number)_?nodes|slurm_nnodes|nnodes", "NNODES"),
        (r"world_?size|n(tot|_?total)?_?ranks|total_(gpus|ranks|procs)|n(um)?_?proc(esse)?s|n_?tasks", "WORLD_SIZE"),
        (r"(n|num)?_?(gpus?|ranks?|procs?|devices)(_?per_?(node|host))", "RANKS_PER_NODE"),
        (r"n(um)?_?gpus?|nproc\w*|gpus", "RANKS_PER_NODE"),
        (rf"{LEADS}\w*port", "MASTER_PORT"),
        (rf"{LEADS}\w*(addr\w*|ip|host\w*|node\w*)|nodes?_?ip|host_?addr", "MASTER_ADDR"),
    )
)
WHOLE_VALUE = re.compile(r"\"?\$\{?([A-Za-z_]\w*)(?:\[[@*]\])?\}?\"?")
SHELLS = word_set("bash sh")
# Options that choose among the job's nodes, and values that mean all of them.
SOME_NODES = word_set("--hostfile -hostfile -f --hosts -H --host --hostlist")
SOME_OF_SRUN = word_set("-w --nodelist -x --exclude -r --relative -N --nodes")
COUNTED = word_set("-N --nodes")
ALL_NODES = re.compile(r"NODEFILE|HOSTFILE|NODELIST|^\$\{?(NODES|HOSTS|hostfile)\}?$")
WHOLE_KINDS = frozenset({"array", "string", "raw_string"})
MOST_SHOWN, MOST_NESTED = 5, 3
# A command's line and first word.
Place = tuple[int, str]
NAMED = re.compile(r"(?<!\\)\$\{?[#!]?([A-Za-z_]\w*)")
SITE_PATH = re.compile(
    r"(?<![\w$}./])/(?!tmp\b|dev\b|proc\b|etc\b|usr\b|bin\b|opt\b|root\b|workspace\b)[\w.@-]+/[\w./@{}$-]*"
)


@dataclass
class Placing:
    """What the walk over the old script gathers."""

    script: ReadScript
    source: Cluster | None
    target: Cluster
    counts: tuple[int | None, int | None]
    """GPUs a node and in all, as the old script asks for them."""
    removed: list[tuple[Node, str, str]] = field(default_factory=list)
    """(statement, software | setting | launcher, what takes its place)"""
    started: list[tuple[Node, Node, Command]] = field(default_factory=list)
    """(command, the outermost statement that holds it, the launch as it was read)"""
    steps: list[tuple[Node, Command]] = field(default_factory=list)
    kept: list[Node] = field(default_factory=list)
    workers: set[str] = field(default_factory=set)
    """Files that the old launcher starts, as they are written to."""
    blocks: list[Node] = field(default_factory=list)
    """Those that hold something of the machine's: their heads and ends stay while their bodies do."""
    loops: dict[int, Node] = field(default_factory=dict)
    """A launch's command, by its id -> the loop over the job's nodes that starts it on each, which it takes the place
    of."""
    fillers: list[Change] = field(default_factory=list)
    first: int = -1
    """Where the first statement stands that the machine's own lines take the place of, outside of any block."""

    @property
    def text(self) -> str:
        return self.script.text

    @property
    def moves(self) -> bool:
        """Whether the script is written for another machine than it was for."""
        return self.source is None or self.source.id != self.target.id

    @cached_property
    def launches(self) -> dict[Place, Command]:
        return launch_commands(self.script)

    @cached_property
    def launches_at(self) -> dict[int, Command]:
        """By the line alone."""
        return {line: one for (line, _), one in reversed(self.launches.items())}

    @cached_property
    def started_beside(self) -> dict[Place, Command]:
        """The commands of the script's own text that the old machine's launcher starts."""
        outer = [one for one in self.script.commands if one.outer is None and one.chain.layers]
        return {place(one): one for one in reversed(outer) if one.chain.layers[0].kind == "parallel"}

    @cached_property
    def lists(self) -> dict[str, list[Change]]:
        """The variables that hold launcher and program (`CMD=(torchrun ... train.py)`, `CMD="torchrun ..."`) and stand
        as such in the launch, with the launcher taken out."""
        found = dict[str, list[Change]]()
        for launch in self.launches.values():
            names = [one[1] for word in launch.written if (one := WHOLE_VALUE.fullmatch(word))]
            # Redirections and pipes of an evaluated text are no words.
            names += [name for name in self.evaluated.get(launch.line, ()) if not self.has_signs(name)]
            for name in names if launch.outer is None else ():
                changes = program_alone(name, launch, self.script)
                if changes is not None:
                    found[name] = changes
        return found

    def has_signs(self, name: str) -> bool:
        return any(re.search(r"[<>|&;]", one.written) for one in self.script.assignments if one.name == name)

    @cached_property
    def evaluated(self) -> dict[int, tuple[str, ...]]:
        """Line -> the variable whose text `eval` runs there."""
        found = dict[int, tuple[str, ...]]()
        for node in within(tree_of(self.text), ("command",)):
            words = [source_of(one, self.text) for one in words_of(node)]
            if words[:1] == ["eval"] and len(words) == 2 and (name := WHOLE_VALUE.fullmatch(words[1])):
                found[line_of(node)] = (name[1],)
        return found

    @cached_property
    def named_anew(self) -> frozenset[str]:
        """The names by which the new script calls environments and images."""
        kinds = self.target.software.values()
        facts = (fact.name for one in kinds for fact in one.settings if fact.environment)
        return frozenset((*facts, "ENVIRONMENT", "IMAGE")) if self.source is not self.target else frozenset()

    @cached_property
    def values(self) -> dict[str, Assignment]:
        """The last value that each variable is given."""
        return {one.name: one for one in self.script.assignments}

    @cached_property
    def named(self) -> ReadScript:
        """The script read again, the person's variables as names; as it was where that changes the launch."""
        names = frozenset(one.name for one in self.script.assignments if not is_launch(one.value))
        named = read_script(self.text, kept=names)
        same = named.training is not None and same_launch(self.script, named, names)
        return named if same else self.script


def launch_commands(script: ReadScript) -> dict[Place, Command]:
    """The training and what is started like it, by the place of the statement that starts it."""
    training = script.training
    assert training is not None and training.chain.program is not None
    like = [layer.name for layer in layers_of(training)]
    found = {place(root_of(training)): training}
    for one in script.commands:
        program = one.chain.program
        same = program and program.kind == training.chain.program.kind and [la.name for la in layers_of(one)] == like
        if same and (like or plain(program.entry) == plain(training.chain.program.entry)) and not is_single(one):  # type: ignore[union-attr]
            found.setdefault(place(root_of(one)), one)
    return found


def is_single(command: Command) -> bool:
    """Whether a launcher is told to start one task."""
    told = [
        value
        for layer in layers_of(command)
        for role in ("tasks", "sets", "total_tasks")
        if (value := layer.role(role))
    ]
    return [plain(value) for value in told] == ["1"]


def place(command: Command) -> Place:
    return command.line, command.written[0] if command.written else ""


def visit(node: Node, walk: Placing, top: Node | None = None) -> int:
    """Looks at each statement of a body; how many of them stay."""
    kept, main, first = 0, 0, None
    for one in bodies(node):
        outer, before = top or one, len(walk.removed)
        stayed = look_at(one, outer, walk)
        kept += stayed
        main += stayed and one.type not in ("else_clause", "elif_clause")
        if len(walk.removed) > before:
            first = first or one
            if top is None and walk.first < 0:
                walk.first = one.start_byte
        used = top is None and walk.first < 0 and one.type != "function_definition"
        whole = source_of(one, walk.text)
        if used and (walk.started or (OURS | TOLD_COUNTS) & words_in(whole) or RUNS_SOFTWARE.search(whole)):
            walk.first = one.start_byte
    if first is not None and not main and (kept or node.type in ("compound_statement", "case_item")):
        fill(first, walk)
        return 1
    return kept


def look_at(one: Node, top: Node, walk: Placing) -> bool:
    """Whether a statement stays, at least in part."""
    if CONDA_INIT in source_of(one, walk.text):
        walk.removed.append((one, "software", f"modules and environments are {walk.target.title}'s own"))
        return False
    if one.type in LOOPS and (started := over_hosts(one, walk)):
        node, launch = started
        walk.loops[node.id] = one
        walk.started.append((node, top, launch))
        return True
    if one.type not in HOLDERS or not is_mixed(one, walk):
        return stays(one, top, walk)
    before = len(walk.removed)
    inner = visit(one, walk, top)
    walk.blocks.append(one)
    if not inner and one.type not in ("do_group", "compound_statement", "case_item"):
        del walk.removed[before:]
        walk.removed.append((one, *why_removed(one, walk)))
    return bool(inner)


def over_hosts(loop: Node, walk: Placing) -> tuple[Node, Command] | None:
    """The launch of a loop that starts it on each of the job's nodes by ssh and the like; None for any other loop."""
    text = source_of(loop, walk.text)
    variable = loop.child_by_field_name("variable")
    name = source_of(variable, walk.text) if variable is not None else ""
    if not REACHES.search(text) and not (name and re.search(ON_NODE.format(re.escape(name)), text)):
        return None
    found = [(node, launch) for node in within(loop, ("command",)) if (launch := find(node, walk))]
    itself = [one for one in found if one[1] is walk.script.training]
    return next(iter(itself or found), None)


def fill(first: Node, walk: Placing) -> None:
    """A body may not be empty: `:` stands where its first statement stood."""
    at = gone(walk.text, first).start
    walk.fillers.append(Change(at, at, ":\n" if at < first.start_byte or walk.text[at - 1 : at] == "\n" else ": ; "))


def is_mixed(node: Node, walk: Placing) -> bool:
    """Whether a block holds a launch or something of the machine's."""
    for one in within(node, ("command", *ASSIGNMENTS)):
        if one.type == "command":
            if find(one, walk) or is_software(one, walk) or step_of(one, walk):
                return True
        elif any(is_settings(name, value, walk) for name, value in sets(one, walk.text)):
            return True
    return False


def stays(one: Node, top: Node, walk: Placing) -> bool:
    """Whether a statement stays; what is to be done with it is noted."""
    commands = list(within(one, ("command",)))
    found = [(node, launch) for node in commands if (launch := find(node, walk))]
    if found:
        walk.started += [(node, top, launch) for node, launch in found]
        return True
    if is_worker_file(one, walk):
        walk.removed.append((one, "launcher", "the new launch needs no file of its own"))
        return False
    if one.type in ASSIGNMENTS:
        pairs = sets(one, walk.text)
        if pairs and all(is_settings(name, value, walk) for name, value in pairs):
            walk.removed.append((one, *why_removed(one, walk)))
            return False
    elif read_names(one, walk) and (HOSTS.search(source_of(one, walk.text)) or reads_gone(one, walk)):
        walk.removed.append((one, "setting", "nodes and ranks are found in the new scheduler's way"))
        return False
    elif any(is_software(node, walk) for node in commands) and all(
        is_software(node, walk) or name_of(node) in BESIDE for node in commands
    ):
        walk.removed.append((one, *why_removed(one, walk)))
        return False
    walk.steps += [(node, step) for node in commands if (step := step_of(node, walk))]
    walk.kept.append(one)
    return True


def is_worker_file(one: Node, walk: Placing) -> bool:
    """Whether a statement writes the file that a launcher starts the program by, or makes it fit to be started."""
    text = source_of(one, walk.text)
    for launch in walk.launches.values():
        if launch.outer is None or not any("heredoc" in where for where in launch.inside):
            continue
        if "<<" in text and line_of(one) <= launch.line <= one.end_point[0] + 1:
            found = re.search(r">\s*([^\s<&]+)", re.sub(r"(?s)<<.*?\n.*\n", " ", text) + text.split("\n")[0])
            walk.workers.add(found[1] if found else "")
            return True
    names = [name_of(node) for node in within(one, ("command",))]
    return names == ["chmod"] and any(name and name in text for name in walk.workers)


def why_removed(one: Node, walk: Placing) -> tuple[str, str]:
    title = walk.target.title
    if one.type not in ASSIGNMENTS and any(is_software(node, walk) for node in within(one, ("command",))):
        return "software", f"modules and environments are {title}'s own"
    names = [name for node in within(one, ASSIGNMENTS) for name, _ in sets(node, walk.text)]
    if any(is_launch(bare_text(value)) for node in within(one, ASSIGNMENTS) for _, value in sets(node, walk.text)):
        return "launcher", f"the launch is {title}'s own"
    known = any(name in OURS for name in names)
    return "setting", "set by the new script" if known else f"network, rank and machine settings are {title}'s own"


def find(command: Node, walk: Placing) -> Command | None:
    words = words_of(command)
    if not words:
        return None
    first, line = source_of(words[0], walk.text), line_of(command)
    if found := walk.launches.get((line, first)):
        return found
    held = first == "eval" or first.startswith(("$", '"$'))
    return walk.launches_at.get(line) if held else None


def source_of(node: Node, text: str) -> str:
    return text[node.start_byte : node.end_byte]


def name_of(command: Node) -> str:
    words = words_of(command)
    return (words[0].text or b"").decode().rsplit("/", 1)[-1] if words else ""


def is_software(command: Node, walk: Placing, text: str = "") -> bool:
    """Whether a command loads modules or enters an environment. text: where it stands, where that is not the script."""
    name, whole = name_of(command), source_of(command, text or walk.text)
    if name in SOFTWARE:
        return name not in ("conda", "mamba", "micromamba", "spack") or not re.search(
            r"\b(run|install|create)\b", whole
        )
    return name in ("source", ".", "eval") and bool(ENTERS.search(whole))


def sets(node: Node, text: str) -> list[tuple[str, str]]:
    """(name, value as written) of each variable that a statement sets."""
    found = [node] if node.type == "variable_assignment" else list(within(node, ("variable_assignment",)))
    pairs = []
    for one in found:
        name = one.child_by_field_name("name")
        value = one.child_by_field_name("value")
        if name is not None:
            pairs.append((source_of(name, text), source_of(value, text) if value is not None else ""))
    if not pairs and node.type == "declaration_command":
        pairs = [(word, "") for word in source_of(node, text).split()[1:] if not word.startswith("-")]
    return pairs


def is_settings(name: str, value: str, walk: Placing) -> bool:
    """Whether a variable is the machine's or the old launch's."""
    if name in walk.lists:
        return False
    if name in walk.named_anew and is_place(value):
        return True
    if name in ("PATH", "LD_LIBRARY_PATH", "CPATH", "TMPDIR", "LD_PRELOAD"):
        return bool(walk.source and walk.source.id != walk.target.id and SITE_PATH.search(value))
    text = bare_text(value)
    return (
        is_machine_variable(name, walk.source) or is_host_list(value) or is_launch(text) or is_count(name, value, walk)
    )


def bare_text(value: str) -> str:
    """A value without its quotes, on one line."""
    return value.strip("\"'").replace("\\\n", " ")


def is_place(value: str) -> bool:
    """Whether a value is a path or a name, and not what a command prints."""
    return not re.search(r"\$\(|`", value)


def is_count(name: str, value: str, walk: Placing) -> bool:
    """Whether a variable holds the old job's nodes, GPUs or ranks, by its name and by what it is given."""
    bare = value.strip("\"'")
    told = bare in map(str, walk.counts) or re.fullmatch(r"\$\{?(SLURM|PBS|LSB|FLUX)_\w+\}?", bare) is not None
    return told and any(pattern.fullmatch(name) for pattern, _ in ROLES)


def is_host_list(value: str) -> bool:
    """Whether a value is the job's nodes or one of them, and not a path or a list of arguments that names them."""
    return HOSTS.search(value) is not None and MADE_OF_HOSTS.match(value) is not None


def step_of(command: Node, walk: Placing) -> Command | None:
    """A step that the old machine's launcher starts and that is no training."""
    words = words_of(command)
    if not words:
        return None
    return walk.started_beside.get((line_of(command), source_of(words[0], walk.text)))


def keep_used(walk: Placing) -> None:
    """Settings that what stays uses come back, but for those that the new script has a name for."""
    used = used_names(walk)
    open_ones = [(one, names_in(one[0], walk)) for one in walk.removed if one[1] == "setting"]
    ours = OURS | walk.named_anew
    open_ones = [(one, names) for one, names in open_ones if any(name not in ours for name in names)]
    again = {0}
    back = set[int]()
    while again:
        again = {
            one[0].id
            for one, names in open_ones
            if one[0].id not in back and any(n in used and n not in ours and not role_of(n, walk) for n in names)
        }
        back |= again
        came = [one[0] for one, _ in open_ones if one[0].id in again]
        walk.kept += came
        used |= words_in("\n".join(value for node in came for _, value in sets(node, walk.text)))
    walk.removed = [one for one in walk.removed if one[0].id not in back]


def read_names(node: Node, walk: Placing) -> list[str]:
    """The variables that a `read` or `mapfile` statement sets; none for any other."""
    commands = list(within(node, ("command",)))
    if node.type in HOLDERS or len(commands) != 1 or name_of(commands[0]) not in READS:
        return []
    words = [source_of(one, walk.text) for one in words_of(commands[0])[1:]]
    return [word for word in words if re.fullmatch(r"[A-Za-z_]\w*", word)]


def reads_gone(node: Node, walk: Placing) -> bool:
    """Whether a statement reads a list of nodes that went."""
    read = set(NAMED.findall(source_of(node, walk.text)))
    return any(name in read for one, *_ in walk.removed for name in names_in(one, walk))


def names_in(node: Node, walk: Placing) -> list[str]:
    """The variables that a statement sets."""
    if read := read_names(node, walk):
        return read
    found = [node] if node.type in ASSIGNMENTS else within(node, ASSIGNMENTS)
    return list(dict.fromkeys(name for one in found for name, _ in sets(one, walk.text)))


def words_in(text: str) -> set[str]:
    """The names in a text, with and without a sign before them; a part of a word with hyphens is none."""
    return set(re.findall(r"(?<![\w-])[A-Za-z_]\w*(?![\w-])", text))


def role_of(name: str, walk: Placing) -> str:
    """The new script's name for what a variable of the old launch held; empty where it held something else."""
    held = walk.values.get(name)
    told, written = (held.value, held.written) if held else ("", "")
    ours = next((ours for pattern, ours in ROLES if pattern.fullmatch(name)), "")
    if not ours and is_host_list(written) and FIRST_ONE.search(written):
        return "MASTER_ADDR"
    if ours == "RANKS_PER_NODE":
        number = int(told) if told.isdigit() else 0
        each, total = walk.counts
        return "WORLD_SIZE" if (number and total == number != each) or "*" in told or "NTASKS" in told else ours
    return ours


def used_names(walk: Placing) -> set[str]:
    """The names in the statements that stay, but for those that they only set, and in the programs' own words."""
    texts = [source_of(one, walk.text) for one in walk.kept if one.type not in ASSIGNMENTS]
    texts += [value for one in walk.kept if one.type in ASSIGNMENTS for _, value in sets(one, walk.text)]
    replaced = {one.id for one in walk.loops.values()}
    texts += [heads(one, walk.text) for one in blocks_of(walk) if one.id not in replaced]
    texts += [program_text(node, launch, walk) for node, _, launch in walk.started]
    texts += [some_nodes(launch) for *_, launch in walk.started]
    return words_in("\n".join(texts))


def some_nodes(launch: Command) -> str:
    """The options by which a launch takes some of the job's nodes (`-N 1 -w $MASTER`); empty where it takes all."""
    for layer in layers_of(launch):
        known = SOME_OF_SRUN if layer.name == "srun" else SOME_NODES
        told = [(name, plain(value)) for name, value in layer.options if value and name in known]
        chosen = any(name not in COUNTED and not ALL_NODES.search(value) for name, value in told)
        if layer.kind == "parallel" and chosen:
            return " ".join(f"{name} {value}" for name, value in told)
    return ""


def blocks_of(walk: Placing) -> Iterator[Node]:
    """Each block that holds something that stays, once."""
    seen = set[int]()
    for node in [*walk.kept, *(node for node, *_ in walk.started)]:
        above = node.parent
        while above is not None and above.id not in seen:
            seen.add(above.id)
            yield above
            above = above.parent


def heads(node: Node, text: str) -> str:
    """What stands in a block outside of its body."""
    inner = next(bodies(node), None) if node.type in HOLDERS else None
    return text[node.start_byte : inner.start_byte] if inner is not None and node.type != "function_definition" else ""


def program_text(command: Node, launch: Command, walk: Placing) -> str:
    """The program and its arguments as they stand; empty where they are not words of this command."""
    program = launch.chain.program
    if program is None:
        return ""
    words = words_of(command)
    listed = next((n for n, one in enumerate(words) if is_list_of(source_of(one, walk.text), walk)), None)
    if listed is not None:
        return walk.text[words[listed].start_byte : words[-1].end_byte]
    if launch.outer is not None and (inner := inner_text(launch, walk)):
        return with_arguments(inner, words, walk.text)
    at = entry_word([source_of(one, walk.text) for one in words], launch, walk.script)
    if at is None:
        return " ".join((inner_text(launch, walk), *launch.redirects)).strip()
    at -= at > 0 and source_of(words[at - 1], walk.text) in SHELLS
    return walk.text[words[at].start_byte : words[-1].end_byte]


def is_list_of(word: str, walk: Placing) -> bool:
    name = WHOLE_VALUE.fullmatch(word)
    return name is not None and name[1] in walk.lists


def program_alone(name: str, launch: Command, script: ReadScript) -> list[Change] | None:
    """What takes all words before the program out of a variable; None where its value does not tell it for certain."""
    program, changes, text = launch.chain.program, list[Change](), script.text
    entry = bare_word(plain(program.entry), script) if program else ""
    for one in within(tree_of(text), ("variable_assignment",)):
        held, value = one.child_by_field_name("name"), one.child_by_field_name("value")
        if held is None or value is None or source_of(held, text) != name or value.type not in WHOLE_KINDS:
            continue
        above = one.parent.parent if one.parent and one.parent.type == "declaration_command" else one.parent
        if above is None or above.type != "program":
            return None
        spans = words_at(value, text)
        told = [bare_word(text[start:end], script) for start, end in spans]
        if entry in told:
            at = told.index(entry)
            at -= at > 0 and told[at - 1] in SHELLS
            return [*changes, *([Change(spans[0][0], spans[at][0], "")] if at else ())]
        if value.type != "array":
            return None
        changes += [Change(spans[0][0], spans[-1][1], "")] if spans else []
    return None


def words_at(value: Node, text: str) -> list[tuple[int, int]]:
    """Where the words of a list, or of a text in quotes, stand."""
    if value.type == "array":
        return [(word.start_byte, word.end_byte) for word in value.named_children if word.type != "comment"]
    inner = text[value.start_byte + 1 : value.end_byte - 1]
    return [
        (value.start_byte + 1 + one.start(), value.start_byte + 1 + one.end())
        for one in re.finditer(r"(?:[^\s\\]|\\(?!\n))+", inner)
    ]


def bare_word(word: str, script: ReadScript) -> str:
    """A word without quotes and braces, the variables that have one value replaced by it."""
    for _ in range(MOST_NESTED):
        word = re.sub(r"[\"'{}]", "", NAMED.sub(lambda had: script.value_of(had[1]) or had[0], word))
    return word


def with_arguments(inner: str, words: list[Node], text: str) -> str:
    """The inner words with what `bash -c 'text' name ARGUMENTS` hands to them (`"$@"`, `$1`), as it stands there."""
    at = next((n for n, one in enumerate(words) if re.fullmatch(r"-\w*c", source_of(one, text))), None)
    given = words[at + 3 :] if at is not None else []
    if not given:
        return inner
    inner = re.sub(r"\"?\$\{?[@*]\}?\"?", lambda _: text[given[0].start_byte : given[-1].end_byte], inner)

    def one(found: re.Match[str]) -> str:
        number = int(found[1]) - 1
        return source_of(given[number], text) if number < len(given) else found[0]

    return re.sub(r"\"?\$\{?([1-9])\}?\"?", one, inner)


def written_of(name: str, script: ReadScript) -> str:
    """The last value of a variable, a list's as it is written."""
    found = next((one for one in reversed(script.assignments) if one.name == name), None)
    return (found.value or found.written) if found else ""


def entry_word(words: list[str], launch: Command, script: ReadScript) -> int | None:
    """Which of the words is the program."""
    program = launch.chain.program
    assert program is not None
    entry = plain(program.entry)
    bare = [word.replace('"', "").replace("'", "") for word in words]
    if program.kind == "module" and (found := [n for n in range(1, len(bare)) if bare[n - 1 : n + 1] == ["-m", entry]]):
        return found[0]
    if entry in bare:
        return bare.index(entry)
    last = entry.rsplit("/", 1)[-1]
    for at, word in enumerate(bare):
        if re.search(r"\s", word) and words[at].startswith(('"', "'")):
            continue  # a text for another shell
        values = [written_of(name, script) for name in NAMED.findall(word)]
        told = NAMED.sub(lambda one: script.value_of(one[1]) or one[0], word).replace("}", "")
        if last and (
            told == entry
            or re.search(rf"{re.escape(last)}\b", word)
            or any(value.strip("()").split()[:1] == [entry] for value in values)
        ):
            return at
    return None


def inner_text(launch: Command, walk: Placing) -> str:
    """The program's words in a text that a shell of the launch runs, the person's variables as names."""
    script = walk.script
    if entry_word(list(launch.written), launch, script) is None:
        return ""
    named = walk.named if launch is script.training else script
    like = [one for one in script.commands if is_like(one, launch)]
    of_names = [one for one in named.commands if is_like(one, launch)]
    one = of_names[like.index(launch)] if len(of_names) == len(like) and launch in like else None
    at = entry_word(list(one.written), one, script) if one is not None else None
    return " ".join(one.written[at:]) if one is not None and at is not None else ""


def is_like(one: Command, launch: Command) -> bool:
    """Whether a command of the same line starts the same kind of program by the same programs."""
    program, other = one.chain.program, launch.chain.program
    if one.line != launch.line or program is None or other is None or program.kind != other.kind:
        return False
    return [layer.name for layer in layers_of(one)] == [layer.name for layer in layers_of(launch)]


def listed(texts: Iterable[str], most: int = MOST_SHOWN) -> str:
    """The first few, and how many more there are."""
    shown = [f"`{hide(' '.join(one.split())[:80])}`" for one in texts]
    more = f" and {len(shown) - most} more" if len(shown) > most + 1 else ""
    return ", ".join(shown[: most if more else None]) + more
