"""All machines known here: shipped files, and the files that a site or a person adds.

Later folders win over earlier ones: shipped, /etc/xdg/maple-chat/clusters, $XDG_CONFIG_HOME/maple-chat/clusters.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.kept import keep, kept
from knowledge.printable import printable

SHIPPED = Path(__file__).parent / "clusters"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The machines by id, and the file each came from."""

    clusters: Mapping[str, Cluster]
    files: Mapping[str, Path]

    def find(self, name: str) -> Cluster | None:
        """The machine with that id or one of its names; case, blanks, hyphens and underscores do not matter."""
        wanted = squash(name)
        for cluster in self.clusters.values():
            if wanted in {squash(n) for n in (cluster.id, cluster.title, *cluster.names)}:
                return cluster
        return None

    def named(self, name: str, listed: str = "`maple-chat clusters`") -> Cluster:
        """The machine of that name. listed: what lists them all. Raises InputError with the nearest names."""
        cluster = self.find(name)
        if cluster is None:
            near = ", ".join(self.nearest(name))
            hint = f"did you mean {near}? " if near else ""
            raise InputError(
                f"no machine '{' '.join(printable(name[:40]).split())}' is known; {hint}{listed} lists them"
            )
        return cluster

    def nearest(self, name: str) -> tuple[str, ...]:
        """The ids of at most three machines with a name like that one, nearest first."""
        spellings = {squash(n): c.id for c in self.clusters.values() for n in (c.id, c.title, *c.names)}
        near = get_close_matches(squash(name), spellings, n=9, cutoff=0.6)
        return tuple(dict.fromkeys(spellings[spelling] for spelling in near))[:3]


def squash(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.lower())


def site_folders() -> tuple[Path, ...]:
    """Where a site or a person adds clusters; the last one wins."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return (Path("/etc/xdg/maple-chat/clusters"), config / "maple-chat" / "clusters")


@cache
def catalogue() -> Catalogue:
    """The machines, read once a process. Raises FactsError on a wrong file.

    What was validated is kept (kept.py) and read back while no file has changed.
    """
    files: dict[str, Path] = {}
    for folder in (SHIPPED, *site_folders()):
        files |= {path.stem: path for path in sorted(folder.glob("*.yaml"))} if folder.is_dir() else {}
    paths = tuple(files.values())
    clusters = kept("clusters", paths)
    if clusters is None:
        from knowledge.cluster_file import read_cluster  # loads pydantic: 0.2 s

        clusters = {path.stem: read_cluster(path) for path in paths}
        keep("clusters", paths, clusters)
    return Catalogue(clusters, files)
