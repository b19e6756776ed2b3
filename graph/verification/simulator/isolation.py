"""What can keep a script in its folder on this computer, what each way cannot do, and what it is tried against."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from graph.verification.simulator.jail import seccomp
from graph.verification.simulator.jail.kernel import landlock_version
from knowledge.errors import UnavailableError

Isolation = Literal["namespaces", "landlock"]
PROJECT = Path(__file__).parents[3]
# Tries the very calls that the jail makes first; a container's seccomp filter or AppArmor may forbid them.
PROBE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from graph.verification.simulator.jail import kernel
kernel.enter_user_namespace(kernel.ALL_NAMESPACES)
kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
kernel.mount("tmpfs", "/tmp", "tmpfs")
"""
LANDLOCK_NEEDED = 3
"""The first version that keeps files outside from being truncated (Linux 6.2)."""
LANDLOCK_KNOWN = 7
"""The newest version that this program was tried with; a newer kernel offers this one, too."""
LIMITS: dict[Isolation, tuple[str, ...]] = {
    "namespaces": (),
    "landlock": (
        "this computer allows no namespaces: the names, sizes and dates of your files and the command lines of your "
        "processes can be seen from the script, their contents cannot; chmod does nothing",
        "all nodes share this computer's network: a name that only one node answers to is not told apart",
    ),
}
"""What no attempt shows, since it cannot be closed there: always told."""
WAYS_OUT = {
    "write-outside": "write outside the rehearsal's folder",
    "read-outside": "read your files",
    "path-socket": "talk to programs of yours by their sockets (docker, tmux, D-Bus)",
    "network": "reach the network, or programs of yours that listen on this computer",
    "signals": "signal your other processes, and so end them",
    "other-processes": "look into your other processes or change their limits",
    "left-behind": "leave shared memory or message queues behind",
    "records": "forge what the rehearsal tells",
    "terminal": "type into your terminal",
    "unknown": "do anything: the jail could not be tried at all",
}
"""What each attempt of jail/attempts.py means for a person, where it got through."""


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


def landlock(wanted: int | None) -> int:
    """The version to use: the kernel's, or the one wanted where that is older. Raises UnavailableError below 3."""
    version = min(landlock_version(), LANDLOCK_KNOWN if wanted is None else wanted)
    if version < LANDLOCK_NEEDED or not seccomp.known():
        raise UnavailableError(
            f"Landlock {version} of this computer could not keep the script in its folder; {LANDLOCK_NEEDED} is needed"
        )
    return version


@contextlib.contextmanager
def targets(channel: int) -> Iterator[dict[str, Any]]:
    """What the jail tries to reach: files, sockets, a port, this process; gone afterwards."""
    abstract = f"maple-{secrets.token_hex(8)}"
    kept = ctypes.create_string_buffer(8)
    with contextlib.ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="maple-outside-")))
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            for place in (str(folder / "socket"), "\0" + abstract):
                one = opened.enter_context(socket.socket(socket.AF_UNIX, kind))
                with contextlib.suppress(OSError):  # both kinds cannot have one path
                    one.bind(place)
                    if kind == socket.SOCK_STREAM:
                        one.listen(8)
        server = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        for name in ("file", "secret"):
            (folder / name).write_text("outside")
        started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
        yield {
            "file": str(folder / "file"), "secret": str(folder / "secret"), "folder": str(folder),
            "socket": str(folder / "socket"), "abstract": abstract, "port": server.getsockname()[1],
            "process": os.getpid(), "started": started, "address": ctypes.addressof(kept),
            "ipc": str(Path("/proc/self/ns/ipc").readlink()), "descriptors": [channel],
        }  # fmt: skip
