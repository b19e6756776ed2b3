# ruff: noqa: E501
"""Does each rank get a number of its own, and the right one? And the names of the scheduler's variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import product

from graph.extraction.launch_shape import LaunchShape, text_of
from graph.verification.checks import sources
from graph.verification.checks.option_tables import MARKS
from graph.verification.checks.rank_rules import RANK_NAMES
from graph.verification.checks.rule import Edit, Hit, Rule, launch_rule
from graph.verification.checks.site_rules import sized
from graph.verification.checks.subject import Subject, number_of
from graph.verification.checks.tasks import EACH_TASK, are_alone, in_tasks
from graph.verification.checks.words import WORDS
from knowledge.word_lists import in_order

FAMILIES = {"slurm": "SLURM_", "pbs": "PBS_", "lsf": "LSB_", "flux": "FLUX_"}
KNOWN: tuple[str, ...] = in_order(WORDS["scheduler_variables"])
ONLY_WITH: dict[str, str] = WORDS["only_with"]
# Tasks times the variables that each sets.
MOST_VALUES = 20_000
FAMILY = re.compile(r"(SLURM|PBS|LSB|FLUX|OMPI_COMM|PMI|PALS|JSM|MPI_LOCAL)\w*")


def constant(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """RANK=0 for all tasks, or LOCAL_RANK=0 where every task sees all devices."""
    if launch.parallel is None or launch.spawner is not None or (launch.tasks or 0) < 2 or are_alone(s):
        return
    chosen = {one.line for one in s.script.assignments if "branch" in " ".join(one.inside)}
    own = {name: told for name, told in in_tasks(s, RANK_NAMES).items() if told[0] not in chosen}
    rank = own.get("RANK")
    if rank and rank[1].strip("'\"").isdigit():
        why = "each rank needs a number of its own, or the group never forms"
        yield Hit(rank[0], f"RANK is {rank[1]} for all {launch.tasks} tasks", why, sources.TORCH_DISTRIBUTED)
    local = own.get("LOCAL_RANK")
    one_each = sees_one(s, launch)
    if local and local[1].strip("'\"") == "0" and not one_each and (launch.per_node or 0) > 1 and not limited(s):
        says = (
            f"LOCAL_RANK is 0 for all {launch.per_node} tasks of a node, and each sees all devices: they share one GPU"
        )
        why = "cuda:LOCAL_RANK is the same device for all: 'Duplicate GPU detected'"
        yield Hit(local[0], says, why, sources.TORCH_DISTRIBUTED)
    if local and EACH_TASK.search(local[1]) and one_each and (launch.per_node or 0) > 1 and "LOCAL" in local[1]:
        says = "each task sees one device, number 0, and LOCAL_RANK counts up: 'invalid device ordinal' on all but the first"
        why = "with one GPU bound to each task LOCAL_RANK is 0, or leave all visible (--gpu-bind=none)"
        yield Hit(local[0], says, why, sources.SRUN, "warning")


def limited(s: Subject) -> bool:
    """Whether the tasks choose their device by themselves."""
    return bool(
        re.search(r"(CUDA|HIP|ROCR)_VISIBLE_DEVICES|ZE_AFFINITY_MASK|gpu_tile|set_affinity|select_gpu", s.script.text)
    )


def sees_one(s: Subject, launch: LaunchShape) -> bool:
    """Whether the launcher binds one device to each task."""
    layer = launch.parallel
    if layer is None:
        return False
    bind = text_of(layer, "--gpu-bind") or s.job.value("gpu-bind")
    each = launch.number(layer, "gpus_per_task") or (s.job.gpus_per_task if layer.name == "srun" else None)
    if layer.name == "srun":
        return bind != "none" and (
            each == 1 or bind.startswith(("single:1", "per_task:1", "map_gpu")) or layer.has("--ntasks-per-gpu")
        )
    if layer.name == "flux":
        return each == 1
    if layer.name == "mpiexec" and layer.has("--gpu-bind"):
        return True
    gpus, tasks = launch.number(layer, "set_gpus"), launch.number(layer, "set_tasks") or 1
    return layer.name == "jsrun" and gpus == 1 and tasks == 1


def mixed_up(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A number on the node where the number in the job is wanted, or the reverse."""
    if launch.parallel is None or not s.several_nodes or (launch.tasks or 2) < 2:
        return
    own = in_tasks(s, RANK_NAMES)
    spawner = launch.spawner
    if "RANK" in own and spawner is None:
        yield from worked_out(s, launch)
    told: list[tuple[int, str, str]] = [
        (own[name][0], name, own[name][1])
        for name in ("RANK", "LOCAL_RANK", "NODE_RANK")
        if name in own and spawner is None
    ]
    if spawner is not None and (text_of(spawner, "--rdzv-backend") or "static") == "static":
        value = text_of(spawner, "--node-rank", "--machine-rank")
        told += [(launch.line, "the node's rank", value)] if value else []
    for line, name, value in told:
        variable = re.fullmatch(r"[\"']?\$\{?(\w+)\}?[\"']?", value)
        if not variable or not EACH_TASK.fullmatch(variable[1]):
            continue
        local = bool(re.search(r"LOCAL", variable[1]))
        if name != "LOCAL_RANK" and local:
            says = f"{name} is {variable[1]}, which begins at 0 on every node"
            yield Hit(line, says, "two nodes then claim the same numbers")
        elif (
            name == "LOCAL_RANK"
            and re.search(r"PROCID|(?<!LOCAL_)RANK(ID)?$", variable[1])
            and not local
            and (launch.per_node or 2) > 1
        ):
            says = f"{name} is {variable[1]}, which counts over all nodes"
            yield Hit(line, says, "'invalid device ordinal' on every node but the first")


def worked_out(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """RANK as arithmetic, for each task: the tasks of a launch are 0 to n - 1, each once."""
    nodes, each = launch.nodes or 0, launch.per_node or 0
    own = in_tasks(s, frozenset(one.name for one in s.script.assignments) | RANK_NAMES)
    line, written = own["RANK"]
    unclear = {name for name in own if len(s.set_to(name)) > 1}
    whole = launch.tasks == nodes * each and 1 < nodes * each * len(own) <= MOST_VALUES
    if "((" not in written or "RANK" in unclear or not whole:
        return
    names = {name for _, value in own.values() for name in re.findall(r"[A-Z]\w+", value) if EACH_TASK.fullmatch(name)}
    numbers = [name for name in names if re.search(r"NODEID|LOCALID|LOCAL_?RANK|PROCID|(?<!NODE_)RANK", name)]
    ranks: list[int | None] = []
    for node, local in product(range(nodes), range(each)):
        known = {**launch.facts, "SLURM_NNODES": nodes, "SLURM_NTASKS": nodes * each}
        for name in numbers:
            known[name] = node if "NODEID" in name else local if "LOCAL" in name else node * each + local
        for name, (_, value) in own.items():
            number = number_of(value, known) if name not in unclear else None
            known.pop(name, None)
            if number is not None:
                known[name] = number
        ranks.append(known.get("RANK"))
    given = {one for one in ranks if one is not None}
    # Rank 0 may be a step of its own, beside this one.
    beside = len(given) == len(ranks) and any(one.background for one in s.script.commands)
    if None not in ranks and given != set(range(len(ranks))) and not beside:
        yield Hit(line, f"RANK takes {len(given)} values, {min(given)} to {max(given)}, in {nodes} nodes x {each} = {len(ranks)} tasks",
                  "each rank from 0 up is wanted once: the node's number times the tasks a node, plus the number on the node", sources.TORCH_DISTRIBUTED)  # fmt: skip


def misspelt(s: Subject) -> Iterator[Hit]:
    """A scheduler's variable that does not exist, and nearly does."""
    told: set[str] = set()
    set_here = s.names
    for number, line in s.code_lines:
        for found in re.finditer(r"\$\{?#?([A-Z][A-Z0-9_]+)", line):
            name = found[1]
            if name in KNOWN or name in told or name in set_here or not FAMILY.match(name):
                continue
            near = get_close_matches(name, KNOWN, 1, 0.84) or [one for one in KNOWN if same_words(one, name)]
            if near and not re.search(rf"\$\{{{name}:?[-+?]", line) and not optional(name):
                told.add(name)
                printed = re.match(r"\s*(echo|printf)\b", line) is not None
                says = f"{name} is set by nobody; the nearest is {near[0]}"
                edit = Edit(number, number, (line.replace(name, near[0]),))
                yield Hit(number, says, severity="warning" if printed else None, edit=edit)


def never_set(s: Subject) -> Iterator[Hit]:
    """SLURM_* in a job of PBS, and what Slurm sets only with an option that no directive gives."""
    own, text = FAMILIES.get(s.scheduler), s.script.text
    mixed = {one.scheduler for one in s.script.directives if one.active} != {s.scheduler} or "flux start" in text
    if own is None or mixed or s.script.jobs or not sized(s):
        return
    places = [(one.line, one.inside) for one in s.script.commands] + [
        (one.line, one.inside) for one in s.script.assignments
    ]
    apart = {line for line, inside in places if re.search("branch|function", " ".join(inside))}
    told = {one.name for one in s.script.assignments} | s.exported
    for number, line in s.code_lines:
        if number in apart or re.match(r"\s*(echo|printf|if|elif|while|\[)\b", line):
            continue
        for found in re.finditer(r"(\$\{?|\b)((?:SLURM|PBS|LSB|FLUX)_[A-Z_]+)\b(?!:?[-+=?])", line):
            name = found[2]
            if not found[1] and "((" not in line[: found.start()]:
                continue
            tried = re.search(rf"-[nzv]\s+\"?\$?\{{?{name}|\b{name}:?[-+=?]", text)
            if name in told or tried or EACH_TASK.fullmatch(name) or "ARRAY" in name:
                continue
            option = ONLY_WITH.get(name, "") if s.scheduler == "slurm" else ""
            if not name.startswith(own):
                says = f"{name} is another batch system's: {MARKS[s.scheduler].strip('#: ')} jobs do not have it"
                why = "it is empty here; the directives above are of this system"
            elif option and not {option, option[1:]} & set(s.job.asked):
                says, why = (
                    f"{name} is set only with --{option}, which no directive gives",
                    "an unset variable is empty, and 0 in arithmetic",
                )
            else:
                continue
            told.add(name)
            yield Hit(number, says, why, sources.SBATCH if option else None)


def same_words(known: str, name: str) -> bool:
    """Whether a name holds another's words in another order: SLURM_TASK_ARRAY_ID."""
    return sorted(known.split("_")) == sorted(name.split("_"))


def optional(name: str) -> bool:
    """Real variables that are set only now and then."""
    return bool(
        re.fullmatch(r"SLURM_(JOB|STEP|ARRAY|GPUS|MEM|CPUS|TRES|HET)\w*|PBS_O_\w+|PMI_\w+|SLURM_NTASKS_PER_\w+", name)
    ) and not re.fullmatch(
        r"SLURM_JOB_(NUM_NODE|NODE_LIST|NODELISTS|NUMNODES)|SLURM_NTASKS_PER_NODES|SLURM_CPUS_PER_TASKS", name
    )


RULES = (
    Rule("variable-never-set", "environment", "warning", "another batch system's variable; one of Slurm's that needs an option which is not given", never_set),
    launch_rule("rank-constant", "rendezvous", "error", "RANK or LOCAL_RANK the same for all, or LOCAL_RANK counting where one device is seen", constant),
    launch_rule("rank-mixed-up", "rendezvous", "error", "the rank on the node taken for the rank in the job, or the reverse; ranks that are not 0 to n - 1, each once", mixed_up, sources.TORCH_DISTRIBUTED),
    Rule("variable-misspelt", "shell", "error", "a scheduler's variable that does not exist, and nearly does", misspelt, sources.SRUN,
         why="an unset variable is empty, or ends the script under set -u"),
)  # fmt: skip


# The variables that batch systems, launchers and a rendezvous set: what a misspelt one is held against.
