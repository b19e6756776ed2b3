"""What a port leaves to the person: what went with the old machine, and what of it still stands in the new script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from graph.extraction.commands import Command
from graph.extraction.places import Node, line_of, within
from graph.extraction.shell_words import plain
from graph.extraction.training import layers_of
from graph.porting.account import PortNote
from graph.porting.container import first_node
from graph.porting.guards import GIVEN
from graph.porting.ownership import facts_variables, is_machine_variable
from graph.porting.walk import COUNTS, Placing, listed, name_of, names_in, role_of, sets, source_of, words_in
from knowledge.cluster import Cluster, NodeType
from knowledge.errors import InputError
from knowledge.types import SCHEDULER_TITLES, LaunchPlan, Scheduler
from knowledge.word_lists import word_set

COMMANDS: dict[Scheduler, re.Pattern[str]] = {
    "slurm": re.compile(r"(srun|sbatch|scontrol|squeue|sacct|sbcast|scancel|sinfo|salloc)\b"),
    "pbs": re.compile(r"(qsub|qstat|qdel|qalter|pbsdsh|pbs_tmrsh)\b"),
    "lsf": re.compile(r"(jsrun|bsub|bjobs|bkill|blaunch)\b"),
    "flux": re.compile(r"flux\s+(run|submit|batch|alloc|job|hostlist|resource)\b"),
}
MOST_NAMED = 15
# What a person puts between launcher and program.
IN_FRONT = re.compile(r"\benv(?: \w+=\S+)+|\bstdbuf(?: -\w+)+|(?<=\s)-[A-Z]+(?: \w+)?(?=\s*$)|\bnice\b|\bstrace\b")
ONE_DEVICE = re.compile(r"--gpus-per-task[= ]1\b|--gpu-bind[= ](?!none)|VISIBLE_DEVICES=\$")
PYTHONS = re.compile(r"(python[\d.]*|pip[\d.]*|torchrun|accelerate|deepspeed|huggingface-cli|hf|wandb)")
TITLES = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel"}
# What is for one maker's GPUs alone: tools, builds of PyTorch, libraries.
OF_MAKER = {
    "nvidia": re.compile(r"\bnvidia-smi\b|\bnvcc\b|whl/cu\d+|\+cu1\d\d|cupy-cuda\w*|\b(pytorch-)?cuda=\d+"),
    "amd": re.compile(r"\brocm-smi\b|/opt/rocm[\w.-]*|whl/rocm[\d.]*|\+rocm[\d.]*"),
    "intel": re.compile(r"intel_extension_for_pytorch|torch\.xpu\b|\bxpu-smi\b|/oneapi/"),
}
# Variables of Grid Engine, Cobalt, PJM and of sites, which none of the schedulers here sets.
FOREIGN = re.compile(r"SGE_\w+|PE_HOSTFILE|NSLOTS|COBALT_\w+|PJM_\w+|SLURM_?TMPDIR|JOBFS")
OF_BASH = word_set("BASH_SOURCE BASHPID EUID GROUPS IFS LINENO OPTARG OPTIND PPID REPLY LANG LC_ALL PATH")
READ = re.compile(r"(?<!\\)\$\{?([A-Z][A-Z0-9_]+)\}?(?![:\w-])")
DEFAULTS = re.compile(r"(?m)^[^#\n]*?\$\{([A-Za-z_]\w*):-")
SHELLS_OWN = re.compile(r"(?<!\\)\$(\{?[1-9@*]\}?)(?!\w)")


def node_of(text: str, source: Cluster) -> NodeType:
    """The kind of node that the old script asks for: by its queue or the GPUs that it names, else the usual one."""
    from graph.verification.checks.subject import read_subject

    try:
        kinds = read_subject(text, source).node_types
    except (InputError, RecursionError):
        kinds = ()
    usual = first_node(source)
    return usual if usual in kinds or not kinds else kinds[0]


@dataclass(frozen=True)
class Left:
    """What is told of a port. lines: the new machine's own lines; old: the old script's scheduler; rendered: the new
    script of the plan alone."""

    walk: Placing
    plan: LaunchPlan
    lines: str
    old: Scheduler
    rendered: str

    @property
    def title(self) -> str:
        return self.walk.target.title

    @cached_property
    def kept_commands(self) -> list[Node]:
        return [node for one in self.walk.kept for node in within(one, ("command",))]

    @cached_property
    def node(self) -> NodeType:
        return self.walk.target.node_type(self.plan.node_type)

    @cached_property
    def kept_rows(self) -> list[str]:
        """The old script's rows, those empty that went or are remarks."""
        rows = self.walk.text.split("\n")
        for node, *_ in self.walk.removed:
            for at in range(node.start_point[0], node.end_point[0] + 1):
                rows[at] = ""
        return ["" if row.lstrip().startswith("#") else row for row in rows]

    def text_of(self, node: Node) -> str:
        return source_of(node, self.walk.text)

    def notes(self) -> Iterator[PortNote]:
        yield from self.ranks()
        yield from self.in_front()
        yield from self.software()
        yield from self.settings()
        if self.old != self.plan.scheduler:
            yield from self.old_commands()
            yield from self.shells_own()
        if self.walk.moves:
            yield from self.sourced()
            yield from self.other_gpus()
            yield from self.outside_container()
            yield from self.foreign()

    @cached_property
    def training(self) -> Command:
        training = self.walk.script.training
        assert training is not None
        return training

    def ranks(self) -> Iterator[PortNote]:
        """A program that was told its ranks, or saw its GPUs, otherwise."""
        layers = layers_of(self.training)
        old = next((layer.name for layer in layers if layer.kind == "parallel"), "")
        if not old or any(layer.kind == "spawner" for layer in layers):
            return
        new, workers = self.plan.launch.launcher, self.plan.launch.workers
        if workers == "ranks" and new != old:
            says = f"{new} starts the tasks in {old}'s place: a program that reads {old}'s rank variables has to read"
            yield PortNote(0, f"{says} RANK, LOCAL_RANK and WORLD_SIZE, which the launch sets.")
        if workers in ("torchrun", "accelerate"):
            says = f"{workers} tells RANK, LOCAL_RANK and WORLD_SIZE: a program that reads the old launcher's variables"
            yield PortNote(0, f"{says} has to read these.")
        outer = self.training.outer.written if self.training.outer else ()
        directives = (f"--{name}={one.value}" for name, one in self.walk.script.active.items())
        before = " ".join((*self.training.written, *outer, *directives))
        if ONE_DEVICE.search(before) and not ONE_DEVICE.search(self.rendered) and self.plan.ranks_per_node > 1:
            says = "each task saw one GPU before, as device 0; here it sees all of its node: LOCAL_RANK chooses."
            yield PortNote(self.training.line, says)

    def in_front(self) -> Iterator[PortNote]:
        """What stood between launcher and program, and programs of an environment that were called by their path."""
        line, program = self.training.line, self.training.chain.program
        paths = [program.interpreter if program else ""]
        paths += [layer.written for layer in layers_of(self.training) if layer.kind == "spawner"]
        own = [one for one in dict.fromkeys(paths) if "/" in one or "$" in one]
        if own:
            says = f"{listed(own)} ran the program: the new launch takes that of the environment above (`--env`)."
            yield PortNote(line, says)
        if "--multiprocessing-distributed" in self.plan.args:
            says = "--multiprocessing-distributed makes the program start a process a GPU itself: take it out, the new"
            yield PortNote(line, f"{says} launch starts them.")
        entry = (plain(program.entry) if program else "") or " "
        if front := IN_FRONT.findall(" ".join(self.training.written).partition(entry)[0]):
            yield PortNote(line, f"{listed(front)} in front of the program is left out.")

    def software(self) -> Iterator[PortNote]:
        gone = [self.text_of(one) for one, kind, _ in self.walk.removed if kind == "software"]
        if gone:
            loaded = f"{self.title}'s own are loaded; *environment NAME* (`--env`) takes yours."
            yield PortNote(0, f"{listed(gone, MOST_NAMED)}: left out, {loaded}")

    def settings(self) -> Iterator[PortNote]:
        """Variables of the old machine or launch, and sums that changed its counts."""
        gone = [one for one, kind, _ in self.walk.removed if kind == "setting"]
        for one in gone:
            updated = [name for name, value in sets(one, self.walk.text) if re.search(rf"\b{name}\b *[-+*/]", value)]
            if any(role_of(name, self.walk) in COUNTS for name in updated):
                shown = listed([self.text_of(one)])
                yield PortNote(line_of(one), f"{shown} changed the counts of the old launch: not carried over.")
        names = dict.fromkeys(name for one in gone for name in names_in(one, self.walk))
        known = facts_variables(self.walk.source) if self.walk.source else frozenset[str]()
        ours = words_in(self.lines)
        left = [name for name in names if name not in ours and name not in known and not role_of(name, self.walk)]
        if left:
            says = "left out as the old machine's or launch's; set again what your program reads."
            yield PortNote(0, f"{listed(left, MOST_NAMED)}: {says}")

    def old_commands(self) -> Iterator[PortNote]:
        """Commands of the old scheduler that are still called."""
        steps = {node.id for node, _ in self.walk.steps}
        runs, theirs = SCHEDULER_TITLES[self.plan.scheduler], SCHEDULER_TITLES[self.old]
        for node in self.kept_commands:
            whole = self.text_of(node)
            if node.id not in steps and COMMANDS[self.old].match(whole):
                yield PortNote(line_of(node), f"{listed([whole])} is {theirs}'s: {self.title} runs {runs}.")

    def shells_own(self) -> Iterator[PortNote]:
        """What the shell that submits hands on by itself under Slurm, and not elsewhere."""
        if self.plan.scheduler != "pbs":
            return
        code = self.code
        names = [name for name in dict.fromkeys(READ.findall(code)) if not self.is_set(name)]
        names = [name for name in names if not is_machine_variable(name, self.walk.source)]
        if names:
            says = f"nothing sets {'it' if len(names) == 1 else 'them'} here, and qsub hands on nothing of your shell"
            yield PortNote(0, f"{listed(names, MOST_NAMED)}: {says}: `qsub -v NAME=value`.")
        asked = dict.fromkeys(one for one in DEFAULTS.findall(self.walk.text) if not is_machine_variable(one, None))
        if self.old == "slurm" and asked:
            says = "given from the shell that submits, which qsub does not hand on: `qsub -v NAME=value`."
            yield PortNote(0, f"{listed(asked, MOST_NAMED)}: {says}")
        if given := SHELLS_OWN.search(code):
            says = "qsub hands no arguments to a script; set it, or give it by -v."
            yield PortNote(0, f"`${given[1].strip('{}')}`: {says}")

    @cached_property
    def code(self) -> str:
        """The lines of code that stay, texts in single quotes left out."""
        texts = [self.text_of(one) for one in self.walk.kept if one.type != "function_definition"]
        texts += [self.text_of(node) for node, *_ in self.walk.started]
        return re.sub(r"'[^'\n]*'", "", "\n".join(texts))

    def is_set(self, name: str) -> bool:
        told = name in self.walk.values or name in words_in(self.lines) or name in GIVEN or name in OF_BASH
        return told or re.match(r"(SLURMD?|PBS|LSB|FLUX)_", name) is not None or self.is_loops(name)

    def is_loops(self, name: str) -> bool:
        return re.search(rf"\b(for|read)\b[^\n;]*\b{name}\b", self.walk.text) is not None

    def sourced(self) -> Iterator[PortNote]:
        for node in self.kept_commands:
            if name_of(node) in ("source", "."):
                says = f"{listed([self.text_of(node)])} stays: take out what it loads or sets for the old machine."
                yield PortNote(line_of(node), says)

    def other_gpus(self) -> Iterator[PortNote]:
        """GPUs of another maker, another generation, or with less memory."""
        gpus, source = self.node.gpus, self.walk.source
        if not gpus.model or not self.plan.on_gpus:
            return
        for maker, words in OF_MAKER.items():
            found = [(n, one[0]) for n, row in enumerate(self.kept_rows, 1) if (one := words.search(row))]
            if maker != gpus.vendor and found:
                lines = ", ".join(str(n) for n, _ in found[:MOST_NAMED])
                shown = listed(dict.fromkeys(word for _, word in found))
                yield PortNote(0, f"{shown} (line {lines}): for {TITLES[maker]} GPUs, here are {gpus.model}.")
        before = node_of(self.walk.text, source) if source else None
        if gpus.vendor == "intel" and (before is None or before.gpus.vendor != "intel"):
            yield PortNote(0, "A program that names cuda or nccl has to name xpu and xccl on these GPUs.")
        theirs = before.gpus.memory_gb if before else None
        if theirs and gpus.memory_gb and gpus.memory_gb < theirs and before is not None:
            says = f"{gpus.model} GPUs here have {gpus.memory_gb:g} GB, the old {before.gpus.model} {theirs:g} GB"
            yield PortNote(0, f"{says}: look whether model and micro-batch still fit.")
        arch = self.walk.values.get("TORCH_CUDA_ARCH_LIST")
        if arch is not None and arch.line and gpus.vendor == "nvidia":
            yield PortNote(
                arch.line, f"TORCH_CUDA_ARCH_LIST={arch.value} is of the old GPUs: {gpus.model} needs its own."
            )

    def outside_container(self) -> Iterator[PortNote]:
        """Python that the script calls beside the launch, where the launch runs in a container."""
        wrapper = self.plan.launch.wrapper
        if not re.match(r"(apptainer|singularity|shifter|podman)", wrapper):
            return
        found = [node for node in self.kept_commands if PYTHONS.fullmatch(name_of(node))]
        if found:
            shown = listed([self.text_of(node) for node in found])
            says = f"{shown} runs outside of the container that the launch uses: put `{wrapper}` before it"
            yield PortNote(line_of(found[0]), f"{says}, or do it beforehand.")

    def foreign(self) -> Iterator[PortNote]:
        names = [one for one in dict.fromkeys(READ.findall(self.code)) if FOREIGN.fullmatch(one)]
        ours = words_in(self.lines)
        ours |= words_in(" ".join(self.walk.target.filesystems.values()))
        left = [one for one in names if one not in self.walk.values and one not in ours]
        if left:
            yield PortNote(0, f"{listed(left, MOST_NAMED)}: nothing sets that on {self.title}; put your own there.")
