"""Whether a file system keeps two programs apart; NFS without its lock daemon and some parallel ones do not."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path


def has_locks(folder: Path) -> bool:
    """Both kinds: flock(2), which holds a thread of a conversation, and fcntl(2), which SQLite needs for each read."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
