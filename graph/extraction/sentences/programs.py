"""Programs and files in a sentence: which one is to run, and which are only mentioned."""

from __future__ import annotations

import re

from graph.extraction.sentences.line import Mention

FILE = re.compile(
    r"(?<![\w/.~$@:-])(?:[~.$]{0,2}/)?[\w.${}~+-]*[\w}](?:/[\w.${}~+-]+)*\.(?P<ending>[a-z]\w{0,7})(?![\w/])"
)
PATH = re.compile(r"(?<![\w.:])(?:~|\$\w+|\$\{\w+\})?(?:/[\w.${}@+-]+){1,}/?(?=\s|[,.;:!?)\"']|$)")
ADDRESS = re.compile(r"\b(?:https?|s3|gs|ssh|docker|oras)://\S+|\b[\w.+-]+@[\w-]+\.[\w.]+")
MODULE = re.compile(
    r"(?<!\S)(?:python[\d.]*|torchrun|accelerate\s+launch|deepspeed)(?:\s+-[\w-]+(?:[= ][\w.:]+)?)*?\s+-m\s+(?P<name>[A-Za-z_][\w.]*)"
)
# Modules that start other programs.
STARTERS = ("torch.distributed", "accelerate", "deepspeed", "torch.utils", "pip", "venv", "http", "ipykernel", "conda")
SHELL_ENDINGS = frozenset(("sh", "bash", "jl", "r", "exe", "out"))
OTHER_ENDINGS = frozenset(
    "json yaml yml toml sif sqsh txt csv log err pt pth ckpt ipynb slurm sbatch pbs lsf cfg ini md tar gz zip whl h5 hdf5 "
    "parquet npz npy bin safetensors conf env def so pdf png jpg cpp c cu f90 sub job".split()
)
CALLED = re.compile(
    r"(?:\b(?:run|launch|start|execute|script is|program is|called|named|bash|entry(?: point)?(?: is)?)\b|[:=])[\s\"'`]*$"
)
CONTAINER = re.compile(r"(?<![\w/])[\w./~$-]+\.(?:sif|sqsh)\b|\bnvcr\.io/[\w./:-]+|\bdocker://\S+")
ENVIRONMENT = re.compile(
    r"\b(?:conda|mamba|micromamba|virtual|venv|uv)?[\s-]*(?:env|environment|venv|umgebung|entorno|environnement|ambiente)\s+"
    r"(?:is\s+)?(?:called|named|=|:|at|in|namens|llamado|appele)\s*[\"'`]?(?P<name>[\w./~$-]*[\w/])"
    r"|\bconda\s+activate\s+(?P<activated>[\w./~$-]+)|\bsource\s+(?P<sourced>[\w./~$-]+)/bin/activate"
)


def find_programs(text: str, folded: str) -> list[Mention]:
    """Python programs as entries (a shell script that is to be run as a weak one); every other file as noise."""
    found = [Mention("noise", "", *match.span()) for match in ADDRESS.finditer(folded)]
    for match in MODULE.finditer(folded):
        start, end = match.span("name")
        if not text[start:end].startswith(STARTERS):
            found.append(Mention("entry", text[start:end], start, end))
    for match in FILE.finditer(folded):
        ending = match["ending"]
        if ending == "py":
            found.append(Mention("entry", text[match.start() : match.end()], *match.span()))
        elif ending in SHELL_ENDINGS and CALLED.search(folded[max(0, match.start() - 30) : match.start()]):
            found.append(Mention("entry", text[match.start() : match.end()], *match.span(), weak=True))
        elif ending in OTHER_ENDINGS or ending in SHELL_ENDINGS:
            found.append(Mention("noise", text[match.start() : match.end()], *match.span()))
    found += [Mention("noise", "", *match.span()) for match in PATH.finditer(folded)]
    return found


def find_container(text: str, folded: str) -> str | None:
    match = CONTAINER.search(folded)
    return text[match.start() : match.end()] if match else None


def find_environment(text: str, folded: str) -> str | None:
    match = ENVIRONMENT.search(folded)
    if not match:
        return None
    group = match.lastgroup or "name"
    return text[match.start(group) : match.end(group)]


def find_arguments(command: str) -> str | None:
    """The program's own arguments in one command line: what follows the Python file or module, up to a pipe or `;`."""
    match = re.search(
        r"(?:\s|^)(?:-m\s+(?!torch\.|accelerate|deepspeed)[\w.]+|[\w./~${}-]+\.py)\s+(?P<rest>[^|;&><\n]+)", command
    )
    return " ".join(match["rest"].split()) or None if match else None
