"""Which folders are somebody's: below home, scratch and project roots, not those of libraries and the system."""

from __future__ import annotations

import re
from collections.abc import Iterator

PATH = re.compile(r"(?<![\w.~@)}\]-])/(?:[\w.+@%~-]+/)*[\w.+@%~-]*")
# The first folder of paths that hold people's and projects' files, on the machines described here and others like them.
ROOTS = re.compile(
    r"(?i)/(?:home|homes|users?|u|scratch|pscratch|global|gpfs|lus|lustre|eagle|flare|grand|ocean|anvil|projects?|proj"
    r"|nobackup|capstor|iopsstor|cluster|p|work|mnt|media|nfs|export|vast|beegfs|ceph|storage|dss|nlsas|afs|cephfs|groups?"
    r"|expanse|leonardo(?:_work|_scratch)?|flash|weka|fsx|panfs|hpc|mmfs|usr/workspace|data|netscratch|bigdata|ccs|ccsopen|raid|local/scratch|localscratch|lscratch|pfs|cfs|sps|g/data|autofs)\d*/."
)
# Roots below which these folders are everybody's: software, containers, shared data.
PUBLIC = re.compile(
    r"/global/common/(?!software/m\d)|/ocean/containers|/mnt/(?:nvme|ssd|data|scratch)\d*/?$|/(?:lus|lustre|gpfs|global)/?$"
    r"|/(?:anvil|cluster|hpc|work|global|mnt|data|storage|export|vast|p)/(?:apps?|software|modules?|sw|opt|spack|tools|easybuild)\b"
    r"|/scratch/?$|/work/?$|/data/?$|/global/tools|/lus/[a-z]+/projects/?$|/(?:lus|gpfs)/[^/]*/(?:apps?|software|sw)\b|/p/software"
)
# From one of these on, a path is a library's own.
LIBRARY = re.compile(r"/(?:lib\d*/python[\d.]+|lib\d*|site-packages|dist-packages|include)(?=/|$)|/bin(?=/[^/]+$)")
HOMES = frozenset({"home", "homes", "home1", "home2", "users", "u", "u1", "u2", "jusers", "workspace"})
NAME = re.compile(r"[A-Za-z][\w.-]{1,31}")
FILE = re.compile(r"\.?[\w+@%~-]+(?:\.[\w+-]+)*\.[A-Za-z]\w{0,9}|\.\w+")


def private_folders(text: str) -> Iterator[tuple[int, int]]:
    """Where the folders of a person or a project stand: from the slash to the last folder that tells of them.

    A file's own name stays, and so does what a library put below its folder.
    """
    for found in PATH.finditer(text):
        path = found[0]
        if not ROOTS.match(path) or PUBLIC.match(path):
            continue
        end = _end(path)
        if end:
            yield found.start(), found.start() + end


def _end(path: str) -> int:
    """Where the private part of a path ends; 0 where only variables stand below the root."""
    library = LIBRARY.search(path, path.index("/", 1))
    if library and library.start() > path.index("/", 1):
        return library.start()
    folder, _, name = path.rstrip("/").rpartition("/")
    return len(folder) if folder.count("/") > 1 and FILE.fullmatch(name) else len(path.rstrip("./"))


def owner(path: str) -> str:
    """The user whose home a path is in; empty where it does not tell."""
    parts = [part for part in path.split("/") if part]
    at = next((n for n, part in enumerate(parts) if part.lower() in HOMES), len(parts))
    letter = next(
        (n for n, part in enumerate(parts[1:], 1) if part.startswith(parts[n - 1]) and len(parts[n - 1]) == 1), 0
    )
    at = min(at, letter - 1) if letter else at
    named = [part for part in parts[at + 1 :] if len(part) > 1 and not part.isdigit() and part.lower() not in HOMES]
    return named[0] if named and NAME.fullmatch(named[0]) else ""
