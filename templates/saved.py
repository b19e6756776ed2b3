"""Templates that people saved: one plain file each, facts in front, the script as it was behind.

The files in $XDG_DATA_HOME/maple-chat/templates are the truth; the search index is made from them. A file that cannot
be read is left out with a notice that names file, key and reason; it never stands in the way of the others.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from knowledge.catalogue import Catalogue
from knowledge.checked_file import describe as describe_faults
from knowledge.cluster import Cluster, NodeType
from knowledge.data_file import parse_yaml
from knowledge.errors import FactsError, InputError
from knowledge.opening import LARGEST_SCRIPT, read_plain
from knowledge.types import SCHEDULER_TITLES, Framework, Scheduler, Strategy
from templates.records import FRAMEWORK_WORDS, STRATEGY_WORDS, Saved, Template

SUFFIX = ".template"
FENCE = "---"
MAX_BYTES = 1_000_000
Line = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f]*$", max_length=2000)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)]

# A scheduler's directives, and the launchers by the word that calls them; outermost first.
DIRECTIVES: tuple[tuple[Scheduler, str], ...] = (
    ("slurm", r"^#SBATCH\b"),
    ("pbs", r"^#PBS\b"),
    ("lsf", r"^#BSUB\b"),
    ("flux", r"^#\s*flux:"),
)
LAUNCHERS = ("srun", "ibrun", "jsrun", "lrun", "mpiexec", "mpirun", "aprun", "flux run", "deepspeed", "torchrun")


class Head(BaseModel):
    """The facts in front of a script."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cluster: Name
    framework: Framework
    strategy: Strategy
    node_type: Line = ""
    scheduler: Scheduler
    launcher: Line = ""
    gpu_vendor: Line = ""
    gpu_model: Line = ""
    gpus_per_node: Annotated[int, Field(gt=0)] | None = None
    who: Line
    when: date
    evidence: Line = ""
    words: Line = ""


def read(path: Path) -> Template:
    """One file. Raises FactsError."""
    head, _ = split(path)
    try:
        data = parse_yaml(head)
        facts = Head.model_validate(data)
    except FactsError as error:
        raise FactsError(f"{path}: {error}") from error
    except ValidationError as error:
        raise FactsError(f"{path}: {describe_faults(error)}") from error
    return template(facts, path)


def split(path: Path) -> tuple[str, str]:
    """The facts and the script. Raises FactsError."""
    try:
        text = read_plain(path, LARGEST_SCRIPT).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FactsError(f"{path}: cannot be read: {error}") from error
    before, fence, rest = text.partition(f"{FENCE}\n")
    head, end, script = rest.partition(f"\n{FENCE}\n")
    if before or not fence or not end:
        raise FactsError(f"{path}: facts between two lines of '{FENCE}' belong at its top")
    return head, script


def template(facts: Head, path: Path) -> Template:
    return Template(
        id=path.name.removesuffix(SUFFIX),
        cluster=facts.cluster,
        framework=facts.framework,
        strategy=facts.strategy,
        node_type=facts.node_type,
        scheduler=facts.scheduler,
        launcher=facts.launcher,
        gpu_vendor=facts.gpu_vendor,
        gpu_model=facts.gpu_model,
        gpus_per_node=facts.gpus_per_node,
        words=describe(facts),
        provenance=Saved(facts.who, facts.when.isoformat(), facts.evidence.strip(), path),
    )


def describe(facts: Head) -> str:
    """The sentence that search goes by: the person's own words, and the facts."""
    gpus = f" {facts.gpu_model} GPUs." if facts.gpu_model else ""
    return (
        f"{facts.words} {FRAMEWORK_WORDS[facts.framework]} {STRATEGY_WORDS[facts.strategy]}. {facts.cluster} "
        f"{facts.node_type}.{gpus} {SCHEDULER_TITLES[facts.scheduler]} {facts.launcher}. {facts.evidence}"
    ).strip()


def write(folder: Path, facts: Head, script: str) -> Template:
    """Save a script; whole or not at all. Raises InputError when the same one is there already."""
    mark = hashlib.sha256(script.encode()).hexdigest()[:8]
    name = f"{facts.cluster}-{facts.framework}-{facts.strategy}-{facts.when.isoformat()}-{mark}"
    path = folder / f"{name}{SUFFIX}"
    if path.exists():
        raise InputError(
            f"that script is saved already; `maple-chat templates remove {name}` first to change its facts"
        )
    head = yaml.safe_dump(facts.model_dump(mode="json", exclude_defaults=True), sort_keys=False, allow_unicode=True)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".", delete=False) as file:
            file.write(f"{FENCE}\n{head}{FENCE}\n{script}".encode())
        Path(file.name).replace(path)
    except OSError as error:
        raise InputError(f"cannot write in {folder}: {error.strerror or error}") from error
    return template(facts, path)


@dataclass(frozen=True, slots=True)
class SavingWish:
    """What a person says of a script that they save. node_type and scheduler: None where they leave it to us."""

    machine: str
    framework: Framework
    strategy: Strategy
    who: str
    when: date
    evidence: str = ""
    words: str = ""
    node_type: str | None = None
    scheduler: Scheduler | None = None


def head_for(wish: SavingWish, script: str, known: Catalogue) -> Head:
    """The facts in front of the script, completed from the machine's file and from the script. Raises InputError."""
    cluster = known.find(wish.machine)
    directives = scheduler_of(script)
    scheduler = cluster.scheduler if cluster else wish.scheduler or directives
    if scheduler is None:
        raise InputError("the script has no directives that tell its scheduler; give --scheduler")
    if directives and directives != scheduler:
        raise InputError(f"the script has {directives} directives, but {wish.machine} takes {scheduler}; correct one")
    node = node_of(cluster, wish.node_type) if cluster else None
    told = {
        "cluster": cluster.id if cluster else re.sub(r"[^a-z0-9._-]+", "-", wish.machine.lower()).strip("-._"),
        "node_type": node.id if node else wish.node_type or "",
        "gpu_vendor": node.gpus.vendor if node else "",
        "gpu_model": node.gpus.model if node else "",
        "gpus_per_node": node.gpus.devices_per_node if node else None,
        "scheduler": scheduler,
        "launcher": launcher_of(script),
        **{key: getattr(wish, key) for key in ("framework", "strategy", "who", "when", "evidence", "words")},
    }
    try:
        return Head.model_validate(told)
    except ValidationError as error:
        raise InputError(f"cannot save: {describe_faults(error)}; one line of plain text each") from error


def node_of(cluster: Cluster, name: str | None) -> NodeType | None:
    """The node type of that name; without one, the machine's only type, else None. Raises InputError."""
    if name is None:
        return cluster.node_types[0] if len(cluster.node_types) == 1 else None
    found = next((node for node in cluster.node_types if node.id.lower() == name.lower()), None)
    if found is None:
        types = ", ".join(node.id for node in cluster.node_types)
        raise InputError(f"{cluster.title} has no node type '{name[:40]}'; it has {types}")
    return found


def checked(data: bytes, name: str) -> str:
    """A script from a person, checked to be text of a sane size. Raises InputError."""
    if len(data) > MAX_BYTES:
        raise InputError(f"{name} is larger than {MAX_BYTES // 1000} kB; a job script is not")
    try:
        script = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not text (UTF-8); give a job script") from error
    if not script.strip() or "\0" in script:
        raise InputError(f"{name} holds no job script")
    return script


def scheduler_of(script: str) -> Scheduler | None:
    """The scheduler whose directives the script carries."""
    return next((name for name, pattern in DIRECTIVES if re.search(pattern, script, re.MULTILINE)), None)


def launcher_of(script: str) -> str:
    """The outermost launcher that a line of the script calls; "" when there is none."""
    lines = "\n".join(line for line in script.splitlines() if not line.lstrip().startswith("#"))
    return next((name for name in LAUNCHERS if re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w-])", lines)), "")
