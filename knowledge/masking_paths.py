"""Which folder of a path is called by a person: below home, a letter, scratch, or a project's folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from knowledge.masking_names import COMMON, HARDWARE, OF_FIELD, is_placeholder

PATH = re.compile(r"(?<![\w.~@)}\]-])/(?:(?:[\w.+@%~-]|\$\w|\$\{\w+\})+/)*(?:[\w.+@%~-]|\$\w|\$\{\w+\})*")
# The first folder of paths that hold people's and projects' files, on the machines described here and others like them.
ROOTS = re.compile(
    r"(?i)/(?:home|homes|users?|u|scratch|pscratch|global|gpfs|lus|lustre|eagle|flare|grand|ocean|anvil|projects?|proj"
    r"|nobackup|capstor|iopsstor|cluster|p|work|mnt|media|nfs|export|vast|beegfs|ceph|storage|dss|nlsas|afs|cephfs|groups?"
    r"|expanse|leonardo(?:_work|_scratch)?|flash|weka|fsx|panfs|hpc|mmfs|usr/workspace|data|netscratch|bigdata|ccs|ccsopen|raid|local/scratch|localscratch|lscratch|pfs|cfs|sps|g/data|autofs)\d*/."
)
OF_HOME = "home homes home1 home2 users jusers workspace userexternal bb"
HOMES = frozenset(OF_HOME.split())
# A person's folder stands below these too, or one behind a group's; `/p/scratch` holds projects alone.
SCRATCH = re.compile(r"(?i)(?:net|local|l|p)?scratch\d*|work\d|raid|iopsstor")

# Below these a project's folder is expected, and below that a person's.
BELOW = """
    project projects project1 project2 proj group groups cdirs orion hdd nvme eagle grand
"""
PROJECTS = frozenset(BELOW.split())
# A project's folder that shows by its form: project_465000123, EUHPC_D12_034, csc618, 09123.
PROJECT = re.compile(r"[A-Za-z]{2,10}_[A-Z\d]\w*|\d+")
# And one below a folder of projects' homes (/project/home/p200491).
NUMBERED = re.compile(r"[a-z]\d{5,7}")
VARIABLE = re.compile(r"[$%{}]|^\d+$|^[a-z]$")
FILE = re.compile(r"\.?[\w+@%~-]+(?:\.[\w+-]+)*\.[A-Za-z]\w{0,14}|\.\w+")
LETTERS = re.compile(r"[^\W\d_]+")
# Folders that hold the same on every machine.
FOLDERS = """
    bin lib lib64 libs src source sources include share shared public common data dataset datasets corpus
    corpora raw processed train training trainer val valid validation test tests eval evaluation results result
    run runs job jobs log logs output outputs out err stdout stderr tmp temp cache caches checkpoint checkpoints
    ckpt ckpts model models weights config configs conf configuration scripts script slurm sbatch pbs code codes
    repo repos git github build builds install installs software sw apps app modules modulefiles env envs venv
    venvs virtualenv conda miniconda mamba miniforge anaconda micromamba pip pkgs packages site python torch hub
    huggingface hf home homes work scratch project projects proj group groups user users archive backup old new
    latest current default images image sif sifs containers container apptainer singularity docker enroot pyxis
    experiments experiment exp examples example tutorials tutorial benchmarks benchmark bench profiles profile
    traces trace nccl wandb tensorboard mlflow lightning megatron deepspeed llama mistral qwen gemma bert gpt
    resnet vit whisper imagenet cifar mnist wikitext tokenizer tokenizers transformers diffusers download
    downloads upload uploads staging stage final best last step epoch iter global rank node part shard shards v
    version versions test tests desktop documents notebooks notebook jupyter local snapshots blobs refs spool
    nodespecific img imgs salida salidas resultados ergebnisse sortie sorties resultats risultati
"""
KNOWN_FOLDERS = frozenset(FOLDERS.split())
# Paths in the facts, without what stands in an address or for a name there.
FACT_ADDRESS = re.compile(r"https?://\S+")
FACT_PATH = re.compile(r"(?<![\w<>$./])/[a-z][\w./-]*")


@cache
def fact_folders() -> frozenset[str]:
    """The names of folders that our pages tell of, in lower case; none that an example made up."""
    from knowledge.public import shipped  # which reads this module's neighbours

    paths = FACT_PATH.findall(FACT_ADDRESS.sub(" ", shipped()))
    named = {part for path in paths for part in path.split("/")}
    return frozenset(part for part in named if len(part) > 1 and sum(map(str.isdigit, part)) < 3 and "." not in part)


def private_folders(text: str) -> Iterator[tuple[int, int]]:
    """Where in paths the names of persons stand."""
    for found in PATH.finditer(text):
        if ROOTS.match(found[0]):
            yield from ((found.start() + start, found.start() + end) for start, end in persons_of(found[0]))


def persons_of(path: str) -> Iterator[tuple[int, int]]:
    """The parts of a path that are a person's name: the first that can be one behind each place for such names; none in
    an example, which holds a placeholder."""
    place, before = "", ""
    parts = [(part.start(), part[0]) for part in re.finditer(r"[^/]+", path.rstrip("./"))]
    if any(is_placeholder(name) for _, name in parts):
        return
    for number, (at, name) in enumerate(parts):
        last = number + 1 == len(parts)
        holder, _, tail = name.rpartition(".")
        if holder and number > 1 and tail == before:  # <user>.<project> below the project's own folder
            yield at, at + len(holder)
            return
        of_project = number > 1 and parts[number - 2][1] in PROJECTS and NUMBERED.fullmatch(name)
        if place == "user" and not (of_project or is_open(name) or (last and FILE.fullmatch(name))):
            following = parts[number + 1][1] if not last else ""
            if not following.endswith(f".{name}"):
                yield at, at + len(name)
                return
        place, before = "user" if of_project else place_behind(place, before, name, number), name


def place_behind(place: str, above: str, name: str, number: int) -> str:
    """What is expected below a folder: a person, a project, or neither."""
    plain = name.lower()
    if (
        plain in HOMES
        or (number == 0 and re.fullmatch(r"u\d?", plain))
        or (len(plain) == 1 and number and plain != "u")
    ):
        return "user"
    if SCRATCH.fullmatch(plain):
        return "project" if above == "p" else "user"
    if plain in PROJECTS:
        return "project"
    if place == "project":
        return "user"
    # Behind a group's or a file system's folder a person's may come.
    passed = place == "user" and (PROJECT.fullmatch(name) or (plain in fact_folders() and plain not in KNOWN_FOLDERS))
    return place if passed else ""


def is_open(name: str) -> bool:
    """Whether a folder's name is everybody's, or a project's by its form."""
    plain = name.lower()
    if (
        VARIABLE.search(name)
        or name.startswith(".")
        or plain in COMMON
        or plain in fact_folders()
        or OF_FIELD.fullmatch(name)
    ):
        return True
    words = [word for word in LETTERS.findall(plain) if word != "v"]
    known = all(word in KNOWN_FOLDERS for word in words)
    return bool(PROJECT.fullmatch(name) or HARDWARE.fullmatch(plain)) or known
