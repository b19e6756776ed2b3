"""What can keep a script in its folder on this computer, and what each way cannot do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Literal

from graph.verification.rehearsal.standin import seccomp
from graph.verification.rehearsal.standin.kernel import landlock_version
from knowledge.errors import UnavailableError

Isolation = Literal["namespaces", "landlock"]
PROJECT = Path(__file__).parents[3]
# Tries the very calls that the jail makes first; a container's seccomp filter or AppArmor may forbid them.
PROBE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from graph.verification.rehearsal.standin import kernel
kernel.enter_user_namespace(kernel.ALL_NAMESPACES)
kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
kernel.mount("tmpfs", "/tmp", "tmpfs")
"""
LANDLOCK_NEEDED = 3
"""The first version that keeps files outside from being truncated (Linux 6.2)."""
LIMITS: dict[Isolation, tuple[str, ...]] = {
    "namespaces": (),
    "landlock": (
        "this computer allows no namespaces: Landlock confines writes to the rehearsal's folder, but the script can "
        "read your files, and a program of its own could reach the network; chmod does nothing",
        "all nodes share this computer's network: a name that only one node answers to is not told apart",
    ),
}


def available() -> Isolation | None:
    """The best way that works here; None where the script could write outside its folder."""
    if sys.platform != "linux":
        return None
    probe = subprocess.run([sys.executable, "-IS", "-c", PROBE, str(PROJECT)], capture_output=True, check=False)
    if probe.returncode == 0:
        return "namespaces"
    return "landlock" if landlock_version() >= LANDLOCK_NEEDED and seccomp.known() else None


def required() -> Isolation:
    """The same, for those who cannot do without. Raises UnavailableError."""
    found = available()
    if found is None:
        raise UnavailableError(
            "nothing here could keep the script in its folder; rehearse on Linux, where user namespaces or Landlock "
            "(6.2 and newer) are allowed"
        )
    return found
