"""The program's arguments in the new script: what each task or job is told at run time finds its new place.

A batch script's own list of arguments is written before the first node is known, and no task's rank is known in it.
So what tells the first node or the world size is added behind the rendezvous (`late`), and what tells a rank falls
away with its option: every launch here puts RANK, LOCAL_RANK and WORLD_SIZE into the environment.
"""

from __future__ import annotations

import re

from graph.extraction.amounts import arithmetic
from graph.extraction.shell_words import Field, Piece, plain
from graph.porting.collector import Collector
from graph.porting.guards import SCHEDULERS_OWN
from graph.porting.own_names import JOB_ID_NAMES, PLAIN_VARIABLE

RANKS = re.compile(
    r"SLURM_(PROCID|LOCALID|NODEID)|((LOCAL|NODE|GLOBAL|GROUP)_)?RANK|OMPI_COMM_WORLD_((LOCAL|NODE)_)?RANK|PMIX?_(LOCAL_)?RANK"
    r"|PALS_(LOCAL_)?RANKID|MPI_LOCALRANKID|MV2_COMM_WORLD_(LOCAL_)?RANK|FLUX_TASK_(LOCAL_ID|RANK)"
    r"|JSM_NAMESPACE_(LOCAL_)?RANK"
)
WORLD = re.compile(r"WORLD_SIZE|SLURM_(NTASKS|NPROCS)|(OMPI_COMM_WORLD|PMI|JSM_NAMESPACE)_SIZE|N(TOT)?RANKS")
HOSTS = re.compile(
    r"scontrol\s+show\s+host|\bhostname\b|NODEFILE|HOSTFILE|NODELIST|LSB_(MCPU_)?HOSTS|flux hostlist", re.I
)
LATE = re.compile(r"\$(MASTER_ADDR|MASTER_PORT|WORLD_SIZE)\b")


def arguments(args: tuple[Field, ...], collector: Collector) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(arguments for the top of the script, arguments behind the rendezvous), as words with plain variables."""
    made: list[str] = []
    for one in args:
        if not any(piece.open and falls_away(piece, collector) for piece in one):
            made += collector.words(tuple(job_fact(piece, collector) for piece in one))
            continue
        # An option without its value would take the next word for it.
        alone = not plain(one).startswith("-") and bool(made) and re.match(r"-{1,2}[A-Za-z]", made[-1]) is not None
        if alone and "=" not in made[-1]:
            made.pop()
    return split_late(made)


def falls_away(piece: Piece, collector: Collector) -> bool:
    """Whether a word with this piece cannot stay: it is a task's rank, or what the old scheduler alone tells."""
    name = name_of(piece)
    if RANKS.fullmatch(name):
        return True
    known = arithmetic(piece.amount, collector.facts) if piece.amount else None
    own = SCHEDULERS_OWN.match(name) and name not in JOB_ID_NAMES and not WORLD.fullmatch(name)
    return bool(own) and known is None and collector.assigned(name) is None


def job_fact(piece: Piece, collector: Collector) -> Piece:
    """The first node and the world size by the names that the new script gives them."""
    if not piece.open:
        return piece
    name = name_of(piece)
    found = collector.assigned(name) if name else None
    value = found.value if found else piece.text
    if name == "MASTER_ADDR" or HOSTS.search(value):
        return Piece("$MASTER_ADDR", True, True)
    if name == "MASTER_PORT":
        return Piece("$MASTER_PORT", True, True)
    return Piece("$WORLD_SIZE", True, True) if WORLD.fullmatch(name) else piece


def name_of(piece: Piece) -> str:
    found = PLAIN_VARIABLE.fullmatch(piece.text) if piece.open else None
    return (found[1] or found[2]) if found else ""


def split_late(words: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words that name what the rendezvous sets go last, each with its option."""
    early: list[str] = []
    late: list[str] = []
    for word in words:
        if not LATE.search(word):
            early.append(word)
            continue
        if not word.startswith("-") and early and early[-1].startswith("-") and "=" not in early[-1]:
            late.append(early.pop())
        late.append(word)
    return tuple(early), tuple(late)
