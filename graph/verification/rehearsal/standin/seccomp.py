"""What Landlock leaves open, closed by a system call filter: modes, owners, times, tracing, signals to everyone.

A change of mode, owner, time or attribute outside the folder cannot be told from one inside, so all of them do nothing
and report success. Numbers are those of the kernel's asm/unistd.h; linux/seccomp.h and linux/filter.h for the rest.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence

PRETEND = {
    "x86_64": (90, 91, 92, 93, 94, 132, 188, 189, 190, 197, 198, 199, 235, 260, 261, 268, 280, 452, 463, 466),
    "aarch64": (5, 6, 7, 14, 15, 16, 52, 53, 54, 55, 88, 452, 463, 466),
}
FORBID = {"x86_64": (101, 310, 311, 425, 426, 427), "aarch64": (117, 270, 271, 425, 426, 427)}
"""ptrace, process_vm_readv and writev, and io_uring, which goes round filters."""
KILL = {"x86_64": 62, "aarch64": 129}
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, PRETENDED, REFUSED, ENDED = 0x7FFF0000, 0x00050000, 0x00050001, 0x80000000
AT_NUMBER, AT_ARCHITECTURE, AT_FIRST_ARGUMENT = 0, 4, 16
PR_SET_SECCOMP, FILTER = 22, 2


class Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def when_equal(numbers: Sequence[int], verdict: int) -> list[bytes]:
    """`if the loaded word is one of these: return verdict`, one pair of steps each."""
    return [part for n in numbers for part in (step(JUMP_EQUAL, n, 0, 1), step(RETURN, verdict))]


def filter_of(machine: str) -> bytes:
    """The filter: other architectures' calls end the process; kill(-1) is refused."""
    steps = [
        step(LOAD, AT_ARCHITECTURE),
        step(JUMP_EQUAL, AUDIT_ARCH[machine], 1, 0),
        step(RETURN, ENDED),
        step(LOAD, AT_NUMBER),
        step(JUMP_AT_LEAST, X32_BIT, 0, 1),
        step(RETURN, ENDED),
        *when_equal(PRETEND[machine], PRETENDED),
        *when_equal(FORBID[machine], REFUSED),
        step(JUMP_EQUAL, KILL[machine], 0, 3),
        step(LOAD, AT_FIRST_ARGUMENT),
        step(JUMP_EQUAL, 0xFFFFFFFF, 0, 1),
        step(RETURN, REFUSED),
        step(RETURN, ALLOW),
    ]
    return b"".join(steps)


def known() -> bool:
    return os.uname().machine in AUDIT_ARCH


def install() -> None:
    """For this process and all its children, for good. Needs no_new_privileges first. Raises OSError."""
    code = filter_of(os.uname().machine)
    program = Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")
