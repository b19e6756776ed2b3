"""What the filter asks about, where there are no namespaces: connections, listening, signals. From the kernel's
seccomp_unotify(2).

The warden reads a call's arguments, decides on its own copy of them, and makes the call itself with its own duplicate
of the caller's socket: what the script changes meanwhile has no effect.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from graph.verification.simulator.jail import seccomp

RECEIVE, SEND = 0xC0502100, 0xC0182101
NOTICE, ANSWER = "QIIiIQ6Q", "=QqiI"
LONGEST_ADDRESS = 128
MOST_AT_ONCE = 200
"""Calls under way at once; a program that keeps more of them waiting is refused."""
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class SystemCall:
    """One call that waits for an answer: of which thread of which process, its name and its arguments."""

    id: int
    thread: int
    process: int
    name: str
    arguments: tuple[int, ...]


@dataclass(slots=True)
class Listener:
    """descriptor is the filter's; stage the folder whose sockets may be reached; inside tells our processes apart."""

    descriptor: int
    stage: str
    inside: Callable[[int], bool]
    ports: set[int] = field(default_factory=set)
    under_way: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(MOST_AT_ONCE))

    def answer_next(self) -> None:
        """Take one waiting call and answer it, in a thread of its own: to connect may take long."""
        notice = bytearray(struct.calcsize(NOTICE))
        try:
            fcntl.ioctl(self.descriptor, RECEIVE, notice)
        except OSError:  # the caller is gone
            return
        number, thread, _, call, _, _, *arguments = struct.unpack(NOTICE, notice)
        names = {n: name for name, n in seccomp.NUMBERS[os.uname().machine].items()}
        one = SystemCall(number, thread, process_of(thread), names.get(call, ""), tuple(arguments))
        if self.under_way.acquire(blocking=False):
            threading.Thread(target=self.answer, args=(one,), daemon=True).start()
        else:
            self.say(one, errno.EAGAIN)

    def answer(self, call: SystemCall) -> None:
        try:
            CALLS[call.name](self, call)
            said = 0
        except OSError as error:
            said = error.errno or errno.EPERM
        except (KeyError, ValueError, struct.error):
            said = errno.EPERM
        finally:
            self.under_way.release()
        self.say(call, said)

    def say(self, call: SystemCall, error: int) -> None:
        with contextlib.suppress(OSError):  # the caller is gone
            fcntl.ioctl(self.descriptor, SEND, struct.pack(ANSWER, call.id, 0, -error, 0))


def process_of(thread: int) -> int:
    """The process that a thread belongs to; 0 where it is gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{thread}/status").read_text().splitlines():
            if line.startswith("Tgid:"):
                return int(line.split()[1])
    return 0


def checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def memory_of(thread: int, address: int, size: int) -> bytes:
    """That part of a thread's memory, copied. Raises OSError."""
    buffer = ctypes.create_string_buffer(size)
    here, there = struct.pack("QQ", ctypes.addressof(buffer), size), struct.pack("QQ", address, size)
    number = seccomp.NUMBERS[os.uname().machine]["process_vm_readv"]
    copied = checked(_LIBC.syscall(number, thread, here, 1, there, 1, ctypes.c_long(0)))
    return buffer.raw[:copied]


def socket_of(call: SystemCall) -> socket.socket:
    """Our own duplicate of the socket that the call names. Raises OSError, also where it is none."""
    process = os.pidfd_open(call.process)
    try:
        return socket.socket(fileno=checked(_LIBC.syscall(seccomp.PIDFD_GETFD, process, call.arguments[0], 0)))
    finally:
        os.close(process)


def connect(listener: Listener, call: SystemCall) -> None:
    """To sockets in the rehearsal's folder, and to ports of this computer that a program of the jail listens on."""
    address = memory_of(call.thread, call.arguments[1], min(call.arguments[2] & 0xFFFFFFFF, LONGEST_ADDRESS))
    (family,) = struct.unpack_from("H", address)
    with socket_of(call) as own:
        if family == socket.AF_UNIX:
            connect_path(listener, call, own, address[2:].split(b"\0", 1)[0])
            return
        if family in (socket.AF_INET, socket.AF_INET6):
            (port,) = struct.unpack_from("!H", address, 2)
            if not is_loopback(family, address) or own.family != family:
                raise OSError(errno.ENETUNREACH, "outside")
            if port not in listener.ports:
                raise OSError(errno.ECONNREFUSED, "no port of the jail")
        elif family not in (socket.AF_UNSPEC, socket.AF_NETLINK):
            raise OSError(errno.EAFNOSUPPORT, "no such family")
        checked(_LIBC.connect(own.fileno(), address, len(address)))


def connect_path(listener: Listener, call: SystemCall, own: socket.socket, path: bytes) -> None:
    """The file is opened first and judged by where it really lies; then that very file is connected to."""
    if not path:
        raise OSError(errno.ECONNREFUSED, "abstract sockets lie outside")
    folder = os.open(f"/proc/{call.process}/cwd", os.O_PATH | os.O_CLOEXEC)
    place = -1
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC, dir_fd=folder)
        if not str(Path(f"/proc/self/fd/{place}").readlink()).startswith(listener.stage + "/"):
            raise OSError(errno.EACCES, "outside")
        target = f"/proc/self/fd/{place}".encode()
        checked(_LIBC.connect(own.fileno(), struct.pack("H", socket.AF_UNIX) + target + b"\0", len(target) + 3))
    finally:
        os.close(folder)
        if place >= 0:
            os.close(place)


def is_loopback(family: int, address: bytes) -> bool:
    if family == socket.AF_INET:
        return address[4] == 127
    host = address[8:24]
    return host == b"\0" * 15 + b"\1" or (host[:12] == b"\0" * 10 + b"\xff\xff" and host[12] == 127)


def listen(listener: Listener, call: SystemCall) -> None:
    """A port is opened to this computer alone: the socket is bound to its loopback interface, for good."""
    with socket_of(call) as own:
        if own.family != socket.AF_UNIX:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
        checked(_LIBC.listen(own.fileno(), min(call.arguments[1] & 0x7FFFFFFF, 4096)))
        if own.family != socket.AF_UNIX:
            listener.ports.add(own.getsockname()[1])


def kill(listener: Listener, call: SystemCall) -> None:
    """To processes of the jail alone; a group's members are taken one by one."""
    target, number = (ctypes.c_int(value).value for value in call.arguments[:2])
    if target > 0:
        signal_one(listener, target, number)
        return
    group = os.getpgid(call.process) if target == 0 else -target
    members = [one for one in everyone() if group_of(one) == group and listener.inside(one)]
    if not members:
        raise OSError(errno.ESRCH, "no such group in the jail")
    for one in members:
        with contextlib.suppress(ProcessLookupError):
            signal_one(listener, one, number)


def signal_one(listener: Listener, process: int, number: int) -> None:
    """By a descriptor that is opened before the process is judged: its number cannot be another's meanwhile."""
    descriptor = os.pidfd_open(process)
    try:
        if not listener.inside(process):
            raise OSError(errno.EPERM, "outside")
        signal.pidfd_send_signal(descriptor, number)
    finally:
        os.close(descriptor)


def signal_thread(listener: Listener, call: SystemCall) -> None:
    """tgkill and tkill: a thread of a process of the jail."""
    words = [ctypes.c_int(value).value for value in call.arguments[:3]]
    thread, number = words[1:] if call.name == "tgkill" else words[:2]
    process = process_of(thread)
    if not process or not listener.inside(process) or (call.name == "tgkill" and words[0] != process):
        raise OSError(errno.ESRCH, "no such thread in the jail")
    checked(_LIBC.syscall(seccomp.NUMBERS[os.uname().machine]["tgkill"], process, thread, number))


def everyone() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def group_of(process: int) -> int:
    try:
        return os.getpgid(process)
    except OSError:
        return -1


CALLS: dict[str, Callable[[Listener, SystemCall], None]] = {
    "connect": connect, "listen": listen, "kill": kill, "tkill": signal_thread, "tgkill": signal_thread,
}  # fmt: skip
