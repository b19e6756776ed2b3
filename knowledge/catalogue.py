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

import yaml
from pydantic import ValidationError

from knowledge.cluster import Cluster
from knowledge.errors import FactsError

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


def read_cluster(path: Path) -> Cluster:
    """One file, checked. Raises FactsError with file, key and reason."""
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        cluster = Cluster.model_validate(data)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise FactsError(f"{path}: not YAML: {reason}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise FactsError(f"{path}: cannot be read: {error}") from error
    except ValidationError as error:
        raise FactsError(f"{path}: {describe(error)}") from error
    if cluster.id != path.stem:
        raise FactsError(f"{path}: id: is '{cluster.id}'; name the file {cluster.id}.yaml")
    return cluster


def describe(error: ValidationError) -> str:
    """The first few faults as `key: reason`, and how many more there are."""
    faults = [f"{'.'.join(str(part) for part in e['loc']) or 'file'}: {e['msg']}" for e in error.errors()]
    more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
    return "; ".join(faults[:3]) + more


@cache
def catalogue() -> Catalogue:
    """The machines, read once a process. Raises FactsError on a wrong file."""
    clusters: dict[str, Cluster] = {}
    files: dict[str, Path] = {}
    for folder in (SHIPPED, *site_folders()):
        for path in sorted(folder.glob("*.yaml")) if folder.is_dir() else ():
            cluster = read_cluster(path)
            clusters[cluster.id] = cluster
            files[cluster.id] = path
    return Catalogue(clusters, files)
