"""Paths as people type them. What cannot be a path is one that is not there, never an error of ours."""

from __future__ import annotations

from pathlib import Path


def expanded(typed: str) -> Path:
    """With the home folder in the place of ~; the ~ of nobody stays as it is, where pathlib raises RuntimeError."""
    try:
        return Path(typed).expanduser()
    except RuntimeError:
        return Path(typed)


def exists(path: Path) -> bool:
    """False also for a name that is too long for a file, where pathlib raises OSError."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
