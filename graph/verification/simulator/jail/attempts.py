"""The jail tries to break itself, as the script could, before the script starts.

Run by a node, as the script will be: `python -IS attempts.py TARGETS`. TARGETS is JSON and names what the
rehearsal set up outside: a file that must not change, one that must not be read, a folder, a socket's path, an
abstract socket, a port, a process. Prints JSON: {"held": [names], "open": [names], "tried": how many times}.
"""

# ruff: noqa: PTH101,PTH102,PTH104,PTH108,PTH115,PTH116,PTH123,PTH208,PTH211,SIM115
# System calls by their names: it is the calls that are tried.

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

Targets = dict[str, Any]
_LIBC = ctypes.CDLL(None, use_errno=True)
SHMGET, SHMCTL, PROCESS_READ, MQ_OPEN = {
    "x86_64": (29, 31, 310, 240), "aarch64": (194, 195, 270, 180), "ppc64le": (395, 396, 351, 262),
}.get(os.uname().machine, (0, 0, 0, 0))  # fmt: skip
PIDFD_GETFD = 438


def is_seen(target: Targets) -> bool:
    """Whether the process outside is visible under its number; in a process space of our own, another may have it."""
    try:
        with open(f"/proc/{target['process']}/stat") as file:
            return bool(file.read().rpartition(")")[2].split()[19] == target["started"])
    except OSError:
        return False


def write_outside(target: Targets) -> bool:
    """Change, replace, rename or remove what lies outside, or put something beside it."""
    file, folder = target["file"], target["folder"]
    ways: list[Callable[[], object]] = [
        lambda: os.close(os.open(file, os.O_WRONLY | os.O_APPEND)),
        lambda: os.truncate(file, 0),
        lambda: os.rename(file, file + ".moved"),
        lambda: os.link(file, "linked-from-outside"),
        lambda: os.mkdir(f"{folder}/new"),
        lambda: os.symlink("/", f"{folder}/link"),
        lambda: os.mkfifo(f"{folder}/fifo"),
        lambda: os.unlink(file),
    ]
    through = [works(way) for way in ways]
    return any(through) or (works(lambda: os.chmod(file, 0)) and mode_is(file, 0))


def mode_is(path: str, mode: int) -> bool:
    return os.stat(path).st_mode & 0o777 == mode


def read_outside(target: Targets) -> bool:
    """Read the person's files or list their folders."""
    return works(lambda: open(target["secret"]).read()) or works(lambda: os.listdir(target["folder"]))


def path_socket(target: Targets) -> bool:
    """Talk to a program outside (docker, tmux, D-Bus) by its socket."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        for address in (target["socket"], "\0" + target["abstract"]):
            if works(lambda kind=kind, address=address: socket.socket(socket.AF_UNIX, kind).connect(address)):  # type: ignore[misc]
                return True
    os.symlink(target["socket"], "way-out")
    try:
        return works(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect("way-out"))
    finally:
        os.unlink("way-out")


def network(target: Targets) -> bool:
    """Reach a program on this computer, or send anything further."""

    def fast_open() -> None:
        with socket.socket() as own:
            own.sendto(b"x", 0x20000000, ("127.0.0.1", target["port"]))

    def datagram() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            own.connect(("192.0.2.1", 9))  # no packet leaves: only a way there is looked for

    return (
        works(lambda: socket.create_connection(("127.0.0.1", target["port"]), 1).close())
        or works(lambda: socket.create_connection(("::1", target["port"]), 1).close())
        or works(fast_open)
        or works(datagram)
    )


def signals(target: Targets) -> bool:
    """Signal a process outside. The signal is 0, which only asks whether one could."""
    if not is_seen(target):
        return False
    process = target["process"]

    def by_owner() -> None:
        one, other = socket.socketpair()
        with one, other:
            fcntl.fcntl(one, fcntl.F_SETOWN, process)

    def by_queue() -> None:
        descriptor = os.pidfd_open(process)
        import signal

        signal.pidfd_send_signal(descriptor, 0)

    return works(lambda: os.kill(process, 0)) or works(by_queue) or works(by_owner)


def other_processes(target: Targets) -> bool:
    """Change the limits of a process outside, read its memory or its environment."""
    if not is_seen(target):
        return False
    process = target["process"]
    buffer = ctypes.create_string_buffer(8)
    here = struct.pack("QQ", ctypes.addressof(buffer), 8)
    there = struct.pack("QQ", int(target["address"]), 8)
    return (
        works(lambda: resource.prlimit(process, resource.RLIMIT_CORE))
        or works(lambda: open(f"/proc/{process}/environ").read())
        or works(lambda: open(f"/proc/{process}/mem", "rb"))
        or (bool(PROCESS_READ) and _LIBC.syscall(PROCESS_READ, process, here, 1, there, 1, ctypes.c_long(0)) > 0)
    )


def left_behind(target: Targets) -> bool:
    """Make what outlives the rehearsal: shared memory, message queues."""
    if not SHMGET:
        return True
    own_space = os.readlink("/proc/self/ns/ipc") != target["ipc"]
    found = _LIBC.syscall(SHMGET, 0, 4096, 0o1600)
    if found >= 0:
        _LIBC.syscall(SHMCTL, found, 0, None)
    name = f"/maple-{os.getpid()}".encode()
    queue = _LIBC.syscall(MQ_OPEN, name[1:], os.O_CREAT | os.O_RDWR, 0o600, None)
    if queue >= 0:
        _LIBC.mq_unlink(name)
    if works(lambda: open(f"/dev/shm{name.decode()}", "x")):
        os.unlink(f"/dev/shm{name.decode()}")
        return not own_space
    return not own_space and (found >= 0 or queue >= 0)


def records(target: Targets) -> bool:
    """Write records in place of the jail: open what its processes hold, or take it out of them."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        if int(process) == os.getpid():
            continue
        for number in target["descriptors"]:
            if works(lambda process=process, number=number: os.open(f"/proc/{process}/fd/{number}", os.O_RDWR)):  # type: ignore[misc]
                return True
        try:
            descriptor = os.pidfd_open(int(process))
        except OSError:
            continue
        taken = any(_LIBC.syscall(PIDFD_GETFD, descriptor, number, 0) >= 0 for number in target["descriptors"])
        os.close(descriptor)
        if taken:
            return True
    return any(works(lambda n=n: os.write(n, b"{}")) for n in target["descriptors"])  # type: ignore[misc]


def terminal(target: Targets) -> bool:
    """Type into the person's terminal."""
    return works(lambda: fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), 0x5412, b"\n"))


TRIED: list[Callable[[], object]] = []


def works(way: Callable[[], object]) -> bool:
    TRIED.append(way)
    try:
        way()
    except (OSError, ValueError):
        return False
    return True


ATTEMPTS: dict[str, Callable[[Targets], bool]] = {
    "write-outside": write_outside, "read-outside": read_outside, "path-socket": path_socket, "network": network,
    "signals": signals, "other-processes": other_processes, "left-behind": left_behind, "records": records,
    "terminal": terminal,
}  # fmt: skip

if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    through = {name: attempt(given) for name, attempt in ATTEMPTS.items()}
    shut, wide = ([name for name, yes in through.items() if yes == out] for out in (False, True))
    print(json.dumps({"held": shut, "open": wide, "tried": len(TRIED)}))
