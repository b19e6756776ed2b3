"""A system call filter, assembled here: what Landlock and namespaces leave open, closed in the kernel.

Three verdicts beside "allowed": refused, pretended (nothing is done, success is reported), and asked (the warden looks
at the call's arguments and does it itself, or refuses: warden.py). Numbers are those of the kernel's asm/unistd.h;
linux/seccomp.h and linux/filter.h for the rest.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Sequence
from itertools import chain

NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {
        "connect": 42, "listen": 50, "socket": 41, "socketpair": 53, "sendto": 44, "sendmsg": 46, "sendmmsg": 307,
        "kill": 62, "tkill": 200, "tgkill": 234, "prlimit64": 302, "fcntl": 72, "ioctl": 16, "prctl": 157,
        "setpriority": 141, "ioprio_set": 251, "sched_setaffinity": 203, "sched_setparam": 142,
        "sched_setscheduler": 144, "sched_setattr": 314, "seccomp": 317, "process_vm_readv": 310,
    },
    "aarch64": {
        "connect": 203, "listen": 201, "socket": 198, "socketpair": 199, "sendto": 206, "sendmsg": 211,
        "sendmmsg": 269, "kill": 129, "tkill": 130, "tgkill": 131, "prlimit64": 261, "fcntl": 25, "ioctl": 29,
        "prctl": 167, "setpriority": 140, "ioprio_set": 30, "sched_setaffinity": 122, "sched_setparam": 118,
        "sched_setscheduler": 119, "sched_setattr": 274, "seccomp": 277, "process_vm_readv": 270,
    },
}  # fmt: skip
PIDFD_GETFD = 438
FORBIDDEN: dict[str, tuple[int, ...]] = {
    "x86_64": (
        101, 310, 311, 438, 312, 440, 256, 279,  # ptrace, process_vm_*, pidfd_getfd, kcmp, others' memory
        425, 426, 427, 321, 298, 323, 304,  # io_uring (it goes round filters), bpf, perf, userfaultfd, file handles
        129, 297, 424,  # queued signals, signals by pidfd
        29, 30, 31, 67, 64, 65, 66, 220, 68, 69, 70, 71, 240, 241,  # System V memory, semaphores, queues; POSIX queues
        248, 249, 250,  # keyrings
        272, 308, 155, 165, 166, 428, 429, 430, 431, 432, 433,  # namespaces and mounts
    ),
    "aarch64": (
        117, 270, 271, 438, 272, 440, 238, 239,
        425, 426, 427, 280, 241, 282, 265,
        138, 240, 424,
        194, 196, 195, 197, 190, 193, 191, 192, 186, 189, 188, 187, 180, 181,
        217, 218, 219,
        97, 268, 41, 40, 39, 428, 429, 430, 431, 432, 433,
    ),
}  # fmt: skip
"""Refused in every jail: what reaches other processes, outlives the rehearsal, or goes round the rest."""
PRETENDED: dict[str, tuple[int, ...]] = {
    "x86_64": (90, 91, 92, 93, 94, 132, 188, 189, 190, 197, 198, 199, 235, 260, 261, 268, 280, 452, 463, 466),
    "aarch64": (5, 6, 7, 14, 15, 16, 52, 53, 54, 55, 88, 452, 463, 466),
}
"""Under Landlock, a change of mode, owner, time or attribute outside the folder cannot be told from one inside."""
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000

LOAD, AND, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_SET, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
ALLOW, END, ASK, ERROR = 0x7FFF0000, 0x80000000, 0x7FC00000, 0x00050000
PRETEND, REFUSE = ERROR, ERROR | errno.EPERM
NO_FAMILY, NO_ACCESS = ERROR | errno.EAFNOSUPPORT, ERROR | errno.EACCES
AT_NUMBER, AT_ARCHITECTURE, AT_ARGUMENTS = 0, 4, 16
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
STREAM, DATAGRAM, TYPE_BITS, TCP, FAST_OPEN = 1, 2, 0xF, 6, 0x20000000
SET_OWNER = (8, 10, 15)
"""fcntl's F_SETOWN, F_SETSIG, F_SETOWN_EX: a signal of one's choice to another process."""
SET_OWNER_OR_TYPE = (0x8901, 0x8902, 0x5412, 0x541C)
"""ioctl's FIOSETOWN, SIOCSPGRP (the same), TIOCSTI and TIOCLINUX (keys typed into a terminal)."""
PR_SET_DUMPABLE = 4
SET_FILTER, NEW_LISTENER, WAIT_KILLABLE = 1, 1 << 3, 1 << 5

Steps = list[bytes]


class FilterProgram(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def give(verdict: int) -> Steps:
    return [step(RETURN, verdict)]


def argument(number: int) -> Steps:
    """Load the low half of an argument: all that these calls use of theirs."""
    return [step(LOAD, AT_ARGUMENTS + 8 * number)]


def one_of(values: Sequence[int], then: Steps) -> Steps:
    """`if the loaded word is one of these: then`, which must end in a return."""
    return [part for value in values for part in (step(JUMP_EQUAL, value, 0, len(then)), *then)]


def not_zero(number: int, verdict: int) -> Steps:
    return [*argument(number), step(JUMP_EQUAL, 0, 1, 0), *give(verdict), *give(ALLOW)]


def filter_of(machine: str, landlocked: bool, asked: bool) -> bytes:
    """The filter; other architectures' calls end the process. asked: a warden listens."""
    numbers, ask = NUMBERS[machine], ASK if asked else ALLOW

    def on(name: str, *parts: Steps) -> Steps:
        return one_of([numbers[name]], list(chain(*parts)))

    steps = [
        step(LOAD, AT_ARCHITECTURE), step(JUMP_EQUAL, AUDIT_ARCH[machine], 1, 0), step(RETURN, END),
        step(LOAD, AT_NUMBER), step(JUMP_AT_LEAST, X32_BIT, 0, 1), step(RETURN, END),
        *one_of(FORBIDDEN[machine], give(REFUSE)),
        *on("ioctl", argument(1), one_of(SET_OWNER_OR_TYPE, give(REFUSE)), give(ALLOW)),
        *on("prctl", argument(0), one_of([PR_SET_DUMPABLE], give(REFUSE)), give(ALLOW)),
    ]  # fmt: skip
    if landlocked:
        stream = [step(AND, TYPE_BITS), step(JUMP_EQUAL, STREAM, 1, 0), *give(NO_ACCESS)]
        tcp = [*argument(2), *one_of([0, TCP], give(ALLOW)), *give(NO_ACCESS)]
        no_datagram = [step(AND, TYPE_BITS), *one_of([DATAGRAM], give(NO_ACCESS)), *give(ALLOW)]
        steps += [
            *one_of(PRETENDED[machine], give(PRETEND)),
            *on("kill", argument(0), one_of([0xFFFFFFFF], give(REFUSE)), give(ask)),
            *one_of([numbers[name] for name in ("tkill", "tgkill", "connect", "listen")], give(ask)),
            *on("prlimit64", not_zero(0, REFUSE)),
            *on("fcntl", argument(1), one_of(SET_OWNER, give(REFUSE)), give(ALLOW)),
            *chain(*(on(name, not_zero(0, PRETEND)) for name in numbers if name.startswith("sched_set"))),
            *on("setpriority", argument(0), [step(JUMP_EQUAL, 0, 1, 0)], give(PRETEND), not_zero(1, PRETEND)),
            *on("ioprio_set", argument(0), [step(JUMP_EQUAL, 1, 1, 0)], give(PRETEND), not_zero(1, PRETEND)),
            *on("socketpair", argument(1), no_datagram),
            *on("socket", argument(0),
                one_of([AF_UNIX], [*argument(1), *no_datagram]),
                one_of([AF_INET, AF_INET6], [*argument(1), *stream, *tcp]),
                one_of([AF_NETLINK], [*argument(2), *one_of([0], give(ALLOW)), *give(NO_FAMILY)]),
                give(NO_FAMILY)),
            *chain(*(
                on(name, argument(flags), [step(JUMP_SET, FAST_OPEN, 0, 1)], give(NO_ACCESS), give(ALLOW))
                for name, flags in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3))
            )),
        ]  # fmt: skip
    return b"".join([*steps, *give(ALLOW)])


def known() -> bool:
    return os.uname().machine in AUDIT_ARCH


def install(landlocked: bool, asked: bool) -> int:
    """For this process and all its children, for good; gives the number of the warden's listener, or -1.

    Needs no_new_privileges first. Raises OSError.
    """
    machine = os.uname().machine
    code = filter_of(machine, landlocked, asked)
    program = FilterProgram(len(code) // 8, code)
    flags = NEW_LISTENER | WAIT_KILLABLE if asked else 0
    libc = ctypes.CDLL(None, use_errno=True)
    found = int(libc.syscall(NUMBERS[machine]["seccomp"], SET_FILTER, flags, ctypes.byref(program)))
    if found < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")
    return found if asked else -1
