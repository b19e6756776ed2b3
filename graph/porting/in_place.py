"""A port in the person's own lines: their script stays as it is, but for what is the machine's.

Directives, modules and environments, network settings, the rendezvous and the launcher are the new machine's; every
other statement stands where it stood. So nothing can be lost: what is taken out is listed with what took its place.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from graph.extraction.batch_numbers import IN_FILE
from graph.extraction.commands import Command
from graph.extraction.places import (
    ASSIGNMENTS,
    Change,
    Node,
    bodies,
    changed,
    gone,
    line_of,
    tree_of,
    within,
    words_of,
)
from graph.extraction.script import ReadScript, read_script
from graph.extraction.training import layers_of
from graph.porting.account import AccountLine, PortNote
from graph.porting.arguments import RANKS
from graph.porting.guards import Guards
from graph.porting.header import SIGNS, Header
from graph.porting.inner import inner_steps
from graph.porting.left import Left
from graph.porting.own_names import JOB_ID
from graph.porting.ownership import is_machine_variable
from graph.porting.parts import UserPart
from graph.porting.walk import (
    NAMED,
    OURS,
    REACHES,
    SITE_PATH,
    Placing,
    entry_word,
    find,
    is_host_list,
    is_single,
    keep_used,
    listed,
    name_of,
    names_in,
    program_text,
    role_of,
    sets,
    some_nodes,
    source_of,
    used_names,
    visit,
)
from knowledge.cluster import Cluster
from knowledge.masking import hide
from knowledge.script_keys import all_keys_from_shell, keys_from_shell
from knowledge.types import LaunchPlan, Scheduler, Variable
from knowledge.word_lists import word_set
from templates.configs import program_words
from templates.parts import EACH_NODE, each_node
from templates.parts import HOSTS as HOST_LISTS
from templates.quoting import shell_word
from templates.render import folded, render

PROGRAM = '"${PROGRAM[@]}"'
# Where the steps stand that each task takes before the program.
INNER = "each-task-first"
# What the old scheduler tells a batch script, by what the new script has for it.
TOLD = {
    "SLURM_NTASKS": "WORLD_SIZE", "SLURM_NPROCS": "WORLD_SIZE", "SLURM_NTASKS_PER_NODE": "RANKS_PER_NODE",
    "SLURM_TASKS_PER_NODE": "RANKS_PER_NODE", "SLURM_GPUS_PER_NODE": "RANKS_PER_NODE",
    "SLURM_GPUS_ON_NODE": "RANKS_PER_NODE", "SLURM_GPUS": "WORLD_SIZE",
}  # fmt: skip
OF_SCHEDULER = re.compile(r"(SLURM|PBS|LSB|FLUX)_|scontrol|NODEFILE|NODELIST|HOSTFILE")
OF_ONE = word_set("MASTER_ADDR MASTER_PORT RANK LOCAL_RANK WORLD_SIZE")
NODE_FILES: dict[Scheduler, str] = {"pbs": "PBS_NODEFILE", "lsf": "LSB_DJOB_HOSTFILE"}
NODE_COUNTS = {"SLURM_NNODES": "NNODES", "SLURM_JOB_NUM_NODES": "NNODES"}
# One thing by each scheduler's name.
SAME = (
    JOB_ID,
    {"slurm": "SLURM_ARRAY_TASK_ID", "pbs": "PBS_ARRAY_INDEX", "lsf": "LSB_JOBINDEX"},
    {"slurm": "SLURM_SUBMIT_DIR", "pbs": "PBS_O_WORKDIR", "lsf": "LS_SUBCWD", "flux": "PWD"},
    {"slurm": "SLURM_JOB_NAME", "pbs": "PBS_JOBNAME", "lsf": "LSB_JOBNAME", "flux": "FLUX_JOB_NAME"},
)
SYNONYMS = {
    "SLURM_JOBID": "SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID": "SLURM_JOB_ID", "PBS_ARRAYID": "PBS_ARRAY_INDEX",
    "PBS_O_INITDIR": "PBS_O_WORKDIR",
}  # fmt: skip
MOST_PLACES = 15
IN_LOOPS = word_set("echo printf [ [[ test let sleep wait break continue true : hostname")
# An argument that names a task's rank, with its option.
OF_RANK = re.compile(rf"\s+(?:--?[\w-]+[\s=]+)?[^\s$]*\$\{{?(?:{RANKS.pattern})\b\S*")
ARITHMETIC = re.compile(r"\(\((?:[^()]|\([^()]*\))*\)\)")
CORES = re.compile(r"\$SLURM_CPUS_PER_TASK\b|\$\{SLURM_CPUS_PER_TASK\b[^}]*\}")


@dataclass(frozen=True, slots=True)
class Placed:
    """The new text, what became of each statement, and what to look at."""

    text: str
    account: tuple[AccountLine, ...]
    notes: tuple[PortNote, ...]


@dataclass(frozen=True, slots=True)
class OldScript:
    """The old script. plan: the new one, the program's words as the script has them. counts: GPUs a node, in all."""

    script: ReadScript
    source: Cluster | None
    part: UserPart
    plan: LaunchPlan
    counts: tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class NewPlan:
    """What was decided for the target. said: variables that were given beside the script; args: whether these were;
    boxed: whether the program runs in the old script's container; method_said: whether
    framework or strategy were given beside the script, so that the program needs their options; gpus: those of a node
    where one process takes them all, else 0."""

    plan: LaunchPlan
    target: Cluster
    said: tuple[Variable, ...] = ()
    args: bool = False
    boxed: bool = False
    method_said: bool = False
    gpus: int = 0


def in_place(old: OldScript, new: NewPlan) -> Placed | None:
    """The person's script for the target; None where the training is no statement of this text."""
    script = old.script
    if script.training is None:
        return None
    walk = Placing(script, old.source, new.target, old.counts)
    visit(tree_of(script.text), walk)
    if not any(one is script.training for *_, one in walk.started):
        return None
    keep_used(walk)
    return Writer(walk, old, new).written()


class Writer:
    """Puts the new machine's parts into the old text."""

    def __init__(self, walk: Placing, old: OldScript, new: NewPlan) -> None:
        self.walk, self.before, self.plan, self.said_args = walk, old.plan, new.plan, new.args
        self.text, plan, said = walk.text, new.plan, new.said
        self.entry, self.boxed, self.gpus = old.part.entry, new.boxed, new.gpus
        self.notes: list[PortNote] = []
        self.changes: list[Change] = []
        set_here = {one.name for one in walk.script.assignments}
        self.anew = {one.name: one for one in said if one.name in set_here}
        exported = [one.name for one in walk.script.assignments if one.exported and one.name not in OURS]
        gone_names = {name for node, *_ in walk.removed for name, _ in sets(node, self.text)}
        handed = [
            Variable(name, "", "") for name in dict.fromkeys(exported) if name not in gone_names | self.anew.keys()
        ]
        own = tuple(one for one in said if one.name not in set_here)
        drawn = replace(plan, user_variables=(*own, *handed), user_setup=(), late_args=())
        self.handed = {f"export {one.name}=''" for one in handed}
        wrapper = f"{plan.launch.wrapper or ''} {INNER}".strip()
        drawn = replace(drawn, launch=replace(plan.launch, wrapper=wrapper))
        self.parts = sections(render(drawn).script)
        bare = replace(drawn, args=(), entry="train.py", user_variables=own)
        self.machines_own = render(bare).script
        self.rendered = "\n".join(row for body in self.parts.values() for row in body)
        for name, body in self.parts.items():
            if not name.startswith("Launch"):
                self.parts[name] = [row.replace(f"{INNER} ", "") for row in body]
        more = program_words(plan)[len(program_words(replace(plan, framework="pytorch"))) :]
        self.extra = more if new.method_said else ()

    def note(self, line: int, says: str) -> None:
        if PortNote(line, says) not in self.notes:
            self.notes.append(PortNote(line, says))

    def written(self) -> Placed | None:
        walk = self.walk
        self.machine_lines()
        launched = [self.launched(*one) for one in walk.started]
        if not all(launched):
            return None
        header = Header(walk, self.plan, self.parts[""], self.scheduler)
        head = header.changes()
        for told in header.notes:
            self.note(told.line, told.says)
        self.changes += head
        used = used_names(walk)
        if self.plan.alone:
            walk.removed = [one for one in walk.removed if not self.stays_alone(one[0], one[1])]
        for node, kind, _ in walk.removed:
            self.changes.append(self.instead(node, used) if kind == "setting" else gone(self.text, node))
        self.changes += [*walk.fillers, *(one for changes in walk.lists.values() for one in changes)]
        self.values()
        self.hosts()
        self.files()
        for node, step in walk.steps:
            self.step(node, step)
        for told in Left(walk, self.plan, self.machines_own, self.scheduler, self.rendered).notes():
            self.note(told.line, told.says)
        self.side_by_side()
        text = self.guarded(changed(self.text, self.changes, self.translated))
        text, says = keys_from_shell(text)
        text, more = all_keys_from_shell(text)
        for one in (*says, *more):
            self.note(0, one)
        return Placed(re.sub(r"\n{3,}", "\n\n", text), tuple(self.account()), tuple(self.notes))

    def stays_alone(self, node: Node, kind: str) -> bool:
        """Whether a setting of one process's own rendezvous stays, which a launch of one process does not make."""
        pairs = sets(node, self.text) if node.type in ASSIGNMENTS else []
        return (
            kind == "setting"
            and bool(pairs)
            and all(
                (name in OF_ONE or role_of(name, self.walk) == "MASTER_ADDR") and not OF_SCHEDULER.search(value)
                for name, value in pairs
            )
        )

    def machine_lines(self) -> None:
        """Software, environment and rendezvous, before the first statement whose place they take."""
        wanted = (
            "Yours to change",
            "This task of the array",
            "Software",
            "Environment",
            "How many processes",
            "Rendezvous",
        )
        rows = [row for name in wanted for row in self.section(name)]
        strict = re.search(
            r"(?m)^[^\S\n]*set\s+-\w*u\w*|^[^\S\n]*set\s+-o\s+nounset", self.text[: max(self.walk.first, 0)]
        )
        if strict and any(row.startswith("# --- Software") for row in rows):
            rows = ["# Modules and environment scripts may read unset variables.", "set +u", *rows, "set -u"]
        rows += self.node_files()
        first = self.walk.first if self.walk.first >= 0 else self.walk.started[0][1].start_byte
        at = self.text.rfind("\n", 0, first) + 1
        before = [
            one
            for name, body in self.parts.items()
            if name.startswith(("Data to", "Nodes are", "Before it")) or "before the limit" in name
            for one in (f"# --- {name}", *body)
        ]
        self.changes.append(Change(at, at, "\n".join([*rows, *before]).strip("\n") + "\n"))

    def node_files(self) -> list[str]:
        """The file of the job's nodes that the old scheduler gives, made here where it is still read."""
        rows, used = list[str](), used_names(self.walk)
        for scheduler, name in NODE_FILES.items():
            if name in used and self.plan.scheduler != scheduler:
                made = f"$PWD/nodes-${JOB_ID[self.plan.scheduler]}"
                rows += ["# The job's nodes, one a line.", f'export {name}="{made}"']
                rows.append(f'{HOST_LISTS[self.plan.scheduler]} > "${name}"')
        return rows

    def section(self, wanted: str) -> list[str]:
        """The lines of a section, without those that only hand on a name, and without those that stop at unset ones."""
        for name, body in self.parts.items():
            if name.startswith(wanted):
                rows = [one for one in body if one not in self.handed] if wanted == "Yours to change" else body
                return [f"# --- {name}", *rows] if any(row.strip() for row in rows) else []
        return []

    def launched(self, command: Node, top: Node, launch: Command) -> bool:
        """The new launcher in front of the program's own words. False where those are not to be seen."""
        words = self.own_words(command, launch)
        if not words:
            return False
        steps = inner_steps(launch, self.walk, self.boxed, name_of(command) == "eval")
        for one in steps.notes:
            self.note(one.line, one.says)
        setup, written, lines = self.launch_lines(command, words, steps.first)
        lines = self.on_some_nodes(lines, launch)
        place = self.walk.loops.get(command.id, command)
        start = self.text.rfind("\n", 0, place.start_byte) + 1
        indent = re.match(r"[ \t]*", self.text[start:])
        pad = indent[0] if indent else ""
        lines = lines.replace("\n", f"\n{pad}")
        kept = [
            source_of(one, self.text)
            for one in command.named_children
            if one.type == "variable_assignment"
            and not is_machine_variable(source_of(one, self.text).partition("=")[0], self.walk.source)
        ]
        end = words_of(command)[-1].end_byte if place is command else place.end_byte
        self.changes.append(Change(place.start_byte, end, " ".join((*kept, lines))))
        if place is not command:
            self.instead_of_loop(place)
        if before := list(dict.fromkeys((*steps.rows, *setup))):
            self.changes.append(Change(start, start, "".join(f"{pad}{row}\n" for row in before)))
        if written:
            self.changes.append(Change(start, start, "\n".join(written) + "\n"))
        return True

    def own_words(self, command: Node, launch: Command) -> str:
        """The program and its arguments with what was said beside and what follows the new counts; empty where they
        are not to be seen."""
        words = program_text(command, launch, self.walk)
        fed = command.parent is not None and any("heredoc" in one.type for one in command.parent.children)
        if not words or (fed and launch.outer is not None and "heredoc" in " ".join(launch.inside)):
            return ""
        words = self.without_ranks(words, launch.line)
        outer = " ".join(launch.outer.written) if launch.outer is not None else ""
        frozen = self.walk.named is self.walk.script and not words.startswith(('"$', "$"))
        if frozen and any(name in self.walk.values for name in NAMED.findall(outer)):
            says = "the launch stood in a text of its own and is written out now: the variables above do not change it."
            self.note(launch.line, says)
        itself = launch is self.walk.script.training
        if itself and self.said_args:
            words = folded((self.plan.entry, *self.plan.args)).strip()
        elif itself and self.plan.entry not in (self.entry, "bash"):
            words = re.sub(r"^\S+", lambda _: shell_word(self.plan.entry), self.with_values(words))
        else:
            words = self.with_values(words)
        if self.plan.entry_kind == "module":
            words = f"-m {words}"
        return " ".join((self.translated(words), *map(shell_word, self.extra)))

    def launch_lines(self, command: Node, words: str, first: str) -> tuple[list[str], list[str], str]:
        """(lines before it, a worker file's lines, the launch) of the rendered script, with the person's words. first:
        what each task does before them."""
        sections = {name.partition(":")[0]: body for name, body in self.parts.items()}
        lines = "\n".join(next((body for name, body in sections.items() if name.startswith("Launch")), [])).strip("\n")
        lines = lines.replace(f"{INNER} ", first)
        rows = next((body for name, body in sections.items() if name.startswith("The program")), [])
        program = [row for row in rows if "PROGRAM+=" in row or "_PARALLEL=" in row]
        setup = list[str]()
        held = self.walk.evaluated.get(line_of(command), ("",))[0]
        if held in self.walk.lists:
            # What eval runs is words in quotes of their own.
            setup.append(f'eval "PROGRAM=(${held})"')
        elif lines.count(PROGRAM) != 1 or program or "declare -p PROGRAM" in lines:
            setup += [f"PROGRAM=({words})", *program]
        else:
            lines = lines.replace(PROGRAM, words)
        *written, lines = lines.split("\n") if "<<'EOF'" in lines else [lines]
        if re.search(r"(?m)^STATUS=|&$", lines):
            lines = "{\n" + lines + "\n}"
        return setup, written, lines

    def side_by_side(self) -> None:
        """Told where several launches run at a time: each new one takes the whole job."""
        ends = re.compile(r"[^\n]*?\s&\s*(#|\n|$)")
        behind = [node for node, *_ in self.walk.started if ends.match(self.text, node.end_byte)]
        if len(behind) > 1 and self.plan.launch.launcher == "srun":
            says = "run side by side, and each new launch takes all of the job: give each its part (`--exact`, counts)"
            self.note(line_of(behind[0]), f"{len(behind)} launches {says}, or they run one after the other.")

    def instead_of_loop(self, loop: Node) -> None:
        """Told: what a loop over the nodes did, which one launch on all of them does not."""
        first, last = line_of(loop), loop.end_point[0] + 1
        beside = [
            source_of(node, self.text)
            for node in within(loop, ("command",))
            if name_of(node) not in IN_LOOPS and not find(node, self.walk)
        ]
        beside = [text for text in beside if not REACHES.search(text)]
        also = f" Beside that it ran {listed(beside)}: left out." if beside else ""
        self.note(first, f"the loop over the nodes (to line {last}) is one launch on all of them now.{also}")

    def on_some_nodes(self, lines: str, launch: Command) -> str:
        """The launch on those of the job's nodes that the old one took, where both are Slurm's; else that is told."""
        chosen = some_nodes(launch)
        if not chosen:
            return lines
        count = re.compile(r'--ntasks="\$\w+" --ntasks-per-node=\S+')
        own = next(layer.name for layer in layers_of(launch) if layer.kind == "parallel")
        if own == self.plan.launch.launcher == "srun" and count.search(lines):
            return count.sub(
                lambda _: f"--overlap {chosen} --ntasks-per-node={self.plan.launch.tasks_per_node}", lines, 1
            )
        says = f"{own} {hide(chosen)}: the old launch took some of the nodes, the new one takes all"
        self.note(launch.line, f"{says}; put it back on these, or two launches wait for each other.")
        return lines

    def without_ranks(self, words: str, line: int) -> str:
        """The words without arguments that name a task's rank, which the batch script does not know."""
        for found in OF_RANK.finditer(words):
            tells = "the new launch tells RANK and LOCAL_RANK in the environment, read them there"
            self.note(line, f"{listed([found[0].strip()])} is left out: {tells}.")
        return OF_RANK.sub("", words)

    def with_values(self, words: str) -> str:
        """The words with the arguments that follow the new counts and batch."""
        old, new = self.before.args, self.plan.args
        for at, (one, other) in enumerate(zip(old, new, strict=False)):
            if one == other:
                continue
            option = old[at - 1] if at and old[at - 1].startswith("-") else ""
            text = self.replaced(words, option, one, other)
            if text is None:
                self.everywhere(option, one, other)
            words = text if text is not None else words
        more = new[len(old) :]
        return " ".join((words, *map(shell_word, more)))

    def replaced(self, text: str, option: str, old: str, new: str) -> str | None:
        head = rf"{re.escape(option)}[\s=\\]+[\"']?" if option else r"(?<!\S)[\"']?"
        found = re.search(rf"({head}){re.escape(old)}(?![\w.])", text)
        return f"{text[: found.end(1)]}{new}{text[found.end() :]}" if found else None

    def everywhere(self, option: str, old: str, new: str) -> None:
        """The same where the argument stands in a variable's text."""
        name, _, value = old.partition("=")
        head = rf"{re.escape(option)}[\s=]+[\"']?" if option else rf"(?<!\S){re.escape(name)}=" if value else ""
        held = value if value and not option else old
        found = list(re.finditer(rf"({head}){re.escape(held)}(?![\w.])", self.text)) if head else []
        if len(found) == 1:
            self.changes.append(Change(found[0].end(1), found[0].end(), new.partition("=")[2] if not option else new))
        else:
            self.note(0, f"`{option} {old}` is to become `{option} {new}`: change it where the script sets it.")

    def instead(self, node: Node, used: set[str]) -> Change:
        """The new script's own value for each name that what stays still reads."""
        names = [name for name in names_in(node, self.walk) if name in used]
        names = [name for name in names if self.plan.alone or name not in OURS]
        values = {name: self.value_for(name) for name in names}
        for name, value in sets(node, self.text):
            # What was given from outside goes on before the script's own.
            if values.get(name) and re.match(rf"[\"']?\$\{{{name}:?-", value):
                values[name] = f'"${{{name}:-{values[name]}}}"'
        if not any(values.values()):
            return gone(self.text, node)
        sign = "export " if source_of(node, self.text).startswith(("export", "declare -x")) else ""
        lines = "; ".join(f"{sign}{name}={value}" for name, value in values.items() if value)
        return Change(node.start_byte, node.start_byte + len(source_of(node, self.text).rstrip()), lines)

    def value_for(self, name: str) -> str:
        """What a variable of the old launch holds now; GPUs of a node are no ranks where one process takes them all."""
        ours = name if name in OURS else role_of(name, self.walk)
        if ours == "RANKS_PER_NODE" and self.gpus and re.search(r"gpu|device", name, re.I):
            return str(self.gpus)
        return self.value_of(ours)

    def value_of(self, ours: str) -> str:
        """What a name of the new script holds: itself, or in a script for one process, which sets none, the number."""
        plan = self.plan
        if not plan.alone:
            return f"${ours}" if ours else ""
        numbers = {"NNODES": plan.nodes, "WORLD_SIZE": plan.ranks, "RANKS_PER_NODE": plan.ranks_per_node}
        known = {name: str(number) for name, number in numbers.items()}
        return {**known, "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}.get(ours, "")

    def hosts(self) -> None:
        """Lists of the job's nodes that are still used, in the new scheduler's words."""
        for node in self.walk.kept if self.scheduler != self.plan.scheduler else ():
            pairs = sets(node, self.text) if node.type in ASSIGNMENTS else []
            if len(pairs) == 1 and is_host_list(pairs[0][1]) and not role_of(pairs[0][0], self.walk):
                name, value = pairs[0]
                new = f"$({HOST_LISTS[self.plan.scheduler]})"
                self.changes.append(
                    Change(
                        node.start_byte, node.end_byte, f"{name}=({new})" if value.startswith("(") else f"{name}={new}"
                    )
                )
                self.note(
                    line_of(node), f"{name} holds the job's nodes, one a line: look whether what uses it reads them so."
                )

    def values(self) -> None:
        """Variables whose value was given anew, or follows the new counts."""
        was = {one.name: one for one in self.before.user_variables}
        new = {one.name: one for one in self.plan.user_variables if one.name in was and was[one.name] != one}
        for name, one in {**new, **self.anew}.items():
            places = list(self.places_of(name))
            for start, end in places:
                old, value = self.text[start:end], f'"{one.value}"' if one.expand else shell_word(one.value)
                if name not in self.anew and (number := re.fullmatch(r"(\$\{\w+:?-)\d+(\})", old.strip('"'))):
                    value = f"{number[1]}{re.sub(r'.*[-=]|[^0-9]', '', one.value)}{number[2]}"
                self.changes.append(Change(start, end, value))
            if not places:
                self.note(0, f"{name} is to be {one.value}: change it where the script sets it.")

    def places_of(self, name: str) -> Iterator[tuple[int, int]]:
        """Where the values stand that a variable is given by the statements that stay."""
        for node in self.walk.kept:
            for one in within(node, ("variable_assignment",)):
                held, value = one.child_by_field_name("name"), one.child_by_field_name("value")
                if held is not None and value is not None and source_of(held, self.text) == name:
                    yield value.start_byte, value.end_byte

    def files(self) -> None:
        """Numbers in a file that the script writes, which follow the new counts."""
        for old, new in zip(self.before.user_setup, self.plan.user_setup, strict=False):
            for one, other in zip(IN_FILE.finditer(old), IN_FILE.finditer(new), strict=False):
                if one["value"] == other["value"]:
                    continue
                found = [
                    at for at in IN_FILE.finditer(self.text) if (at["name"], at["value"]) == (one["name"], one["value"])
                ]
                if len(found) == 1:
                    self.changes.append(Change(found[0].start("value"), found[0].end("value"), other["value"]))

    def step(self, node: Node, step: Command) -> None:
        """A step of the old launcher in the new one's words: the same where it is the same, else once a node."""
        layer = step.chain.layers[0]
        if layer.name in EACH_NODE[self.plan.launch.launcher].split()[0]:
            return
        program = step.chain.program
        words = words_of(node)
        at = entry_word([source_of(one, self.text) for one in words], step, self.walk.script) if program else None
        shown = hide(" ".join(source_of(node, self.text).split())[:70])
        if at is None or program is None:
            self.note(
                step.line,
                f"`{shown}` is started by {layer.name}, which is not there: start it in another way.",
            )
            return
        at -= program.kind == "module"
        if program.interpreter and at and source_of(words[at - 1], self.text).rsplit("/", 1)[-1].startswith("python"):
            at -= 1
        new = "" if is_single(step) or self.plan.alone else f"{each_node(self.plan)} "
        how = "on the first node" if is_single(step) or self.plan.alone else "once a node"
        self.note(step.line, f"`{shown}` runs {how} now: look whether that is what it needs.")
        self.changes.append(Change(node.start_byte, words[at].start_byte, new))

    @cached_property
    def names(self) -> dict[str, str]:
        """What the old scheduler tells a script -> the new script's name for it."""
        target, old = self.plan.scheduler, self.scheduler
        names = dict(TOLD) if not self.plan.alone else {}
        if old == target:
            return names
        names |= NODE_COUNTS if not self.plan.alone else {}
        for row in SAME:
            if old in row and target in row:
                names[row[old]] = row[target]
                names |= {other: row[target] for other, own in SYNONYMS.items() if own == row[old]}
        return names

    @cached_property
    def cores(self) -> int:
        """The cores of a rank, where the new script's directives do not ask for them; else 0."""
        if any(one.option == "cpus-per-task" for one in read_script("\n".join((*self.parts[""], "true"))).directives):
            return 0
        queue = self.walk.target.queue(self.plan.queue or "") or self.walk.target.default_queue
        return (self.walk.target.node_type(queue.node_types[0]).cpu.cores or 0) // max(1, self.plan.ranks_per_node)

    @property
    def scheduler(self) -> Scheduler:
        """The old script's; the new one's where it names none."""
        first = self.walk.script.directives[:1]
        return first[0].scheduler if first and first[0].scheduler in SIGNS else self.plan.scheduler

    def translated(self, text: str) -> str:
        """Text of the person's with what the scheduler tells by the new one's names. What each task reads for itself
        (`\\$SLURM_PROCID`) stays."""
        if self.cores:
            text = CORES.sub(str(self.cores), text)
        for name, new in self.names.items():
            text = re.sub(rf"(?<!\\)(\$\{{?){name}\b(?!\s*\()", rf"\g<1>{new}", text)
            text = ARITHMETIC.sub(lambda sum_, a=name, b=new: re.sub(rf"(?<![\w$]){a}\b", b, sum_[0]), text)  # type: ignore[misc]
        return text

    def guarded(self, text: str) -> str:
        """The text with lines that stop it where the new machine does not set a name, and notes on places."""
        walk = self.walk
        if not walk.moves:
            return text
        known = frozenset((*NAMED.findall(self.machines_own), *(one.name for one in read_script(text).assignments)))
        code = "\n".join(row for row in re.sub(r"'[^'\n]*'", "", text).split("\n") if not row.lstrip().startswith("#"))
        # A file that the script reads may set the names that its paths begin with.
        read = any(name_of(node) in ("source", ".") for one in walk.kept for node in within(one, ("command",)))
        lines, told = Guards(walk.script, walk.target, known, not read).lines(code)
        self.notes += told
        rows = text.split("\n")
        ours = set(SITE_PATH.findall(self.machines_own))
        places = dict[str, int]()
        for at, row in enumerate(rows, 1):
            if not row.lstrip().startswith("#") and at > 1:
                found = (one if "{" in one else one.rstrip("}") for one in SITE_PATH.findall(row))
                places |= {one: at for one in found if one not in ours and one not in places}
        if places:
            shown = ", ".join(f"`{hide(name)}` (line {at})" for name, at in list(places.items())[:MOST_PLACES])
            more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
            old = walk.source.title if walk.source else "the old machine"
            self.note(0, f"places on {old}: {shown}{more}: put those on {walk.target.title} there.")
        if not lines:
            return text
        at = next((n for n, row in enumerate(rows) if row and not row.startswith("#")), 0)
        return "\n".join((*rows[:at], *lines, *rows[at:]))

    def account(self) -> Iterator[AccountLine]:
        """What became of each statement, in the old script's order."""
        lines = []
        for node, _, why in self.walk.removed:
            lines.append((node, "replaced", why))
        why = "the program and its arguments; the launcher in front of them is new"
        for node, *_ in self.walk.started:
            lines.append((self.walk.loops.get(node.id, node), "carried", why))
        for node in self.walk.kept:
            lines.append((node, "carried", "as it stood"))
        spans = sorted((node.start_byte, node.end_byte) for node, *_ in self.walk.removed)
        for node in self.walk.blocks:
            before = bisect_right(spans, (node.start_byte, len(self.text) + 1))
            if not before or spans[before - 1][1] <= node.start_byte:
                lines.append((node, "carried", "around what stays in it"))
        for node, fate, why in sorted(lines, key=lambda one: one[0].start_byte):
            shown = " ".join(source_of(node, self.text).split())
            shown = shown if len(shown) <= 70 else shown[:69] + "…"
            inner = next(bodies(node), None) if node in self.walk.blocks else None
            last = max(line_of(node), line_of(inner) - 1) if inner is not None else node.end_point[0] + 1
            yield AccountLine(line_of(node), last, hide(shown), fate, why)  # type: ignore[arg-type]


def sections(text: str) -> dict[str, list[str]]:
    """A rendered script by its headings; what stands above the first has none."""
    found: dict[str, list[str]] = {"": []}
    now = ""
    for row in text.split("\n"):
        if row.startswith("# --- "):
            now = row.removeprefix("# --- ")
            found[now] = []
        else:
            found[now].append(row)
    return found
