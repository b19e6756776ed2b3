"""One cluster file, read and validated strictly."""

from __future__ import annotations

from pathlib import Path

from knowledge.checked_file import read_checked
from knowledge.cluster import Cluster
from knowledge.errors import FactsError


def read_cluster(path: Path) -> Cluster:
    """One file, checked. Raises FactsError with file, key and reason."""
    cluster = read_checked(path, Cluster)
    if cluster.id != path.stem:
        raise FactsError(f"{path}: id: is '{cluster.id}'; name the file {cluster.id}.yaml")
    return cluster
