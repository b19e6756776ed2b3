"""The few Linux calls that a jail needs and that Python has no name for. All raise OSError when the kernel refuses."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
ALL_NAMESPACES = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20, 0x1000, 0x4000, 0x40000
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
SYS_LANDLOCK_CREATE, SYS_LANDLOCK_ADD, SYS_LANDLOCK_RESTRICT = 444, 445, 446
# x86-64 and AArch64 differ here; other machines fall back to Landlock.
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "ppc64le": 203}
SYS_CAPSET = {"x86_64": 126, "aarch64": 91, "ppc64le": 184}


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    _check(_LIBC.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    _check(_LIBC.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()), f"mount {target}")


def unmount(target: str) -> None:
    _check(_LIBC.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    number = SYS_PIVOT_ROOT[os.uname().machine]
    _check(_LIBC.syscall(number, new.encode(), old.encode()), "pivot_root")


def set_host_name(name: str) -> None:
    _check(_LIBC.sethostname(name.encode(), len(name)), "sethostname")


def die_with_parent(number: int = 9) -> None:
    """Get that signal when the parent is gone, however it ended."""
    _check(_LIBC.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0), "prctl")


def adopt_orphans() -> None:
    _check(_LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def close_to_others() -> None:
    """No other process of the person, and none of the script's, may look into this one or open what it holds."""
    _check(_LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")


def no_new_privileges() -> None:
    _check(_LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def drop_capabilities() -> None:
    """Empty all capability sets, so that nothing started from here can undo the mounts."""
    header = struct.pack("Ii", 0x20080522, 0)
    _check(_LIBC.syscall(SYS_CAPSET[os.uname().machine], header, struct.pack("6I", *[0] * 6)), "capset")


def enter_user_namespace(flags: int) -> None:
    """A user namespace and those in flags, as an ordinary user inside (never root: root could remount)."""
    user, group = os.getuid(), os.getgid()
    unshare(CLONE_NEWUSER | flags)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"1000 {user} 1")
    Path("/proc/self/gid_map").write_text(f"1000 {group} 1")


# Landlock: rights by ABI version. https://docs.kernel.org/userspace-api/landlock.html
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1, 1 << 1, 1 << 2, 1 << 3
_ALL_V1 = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEVICE, _MAKE_CHAR, _MAKE_BLOCK = 1 << 13, 1 << 14, 1 << 15, 1 << 6, 1 << 11
_SCOPE_ABSTRACT, _SCOPE_SIGNAL = 1, 2
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE


def landlock_version() -> int:
    """The Landlock ABI that the kernel offers; 0 where there is none."""
    return max(0, int(_LIBC.syscall(SYS_LANDLOCK_CREATE, None, 0, 1)))


def confine(listed: str, readable: Iterable[str], writable: Iterable[str], version: int) -> None:
    """Restrict this process and its children for good to those paths, as that ABI can; missing paths are left out.

    listed is a folder of which the names may be read, as Python's import does. Raises OSError.
    """
    handled = _ALL_V1 | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    handled |= _IOCTL_DEVICE if version >= 5 else 0
    scoped = _SCOPE_ABSTRACT | _SCOPE_SIGNAL
    attribute = struct.pack("QQQ", handled, 0, scoped) if version >= 6 else struct.pack("Q", handled)
    ruleset = _check(_LIBC.syscall(SYS_LANDLOCK_CREATE, attribute, len(attribute), 0), "landlock_create_ruleset")
    rights = {listed: _READ_FOLDER} | dict.fromkeys(readable, _EXECUTE | _READ_FILE | _READ_FOLDER)
    rights |= dict.fromkeys(writable, handled & ~(_MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEVICE))
    for path, right in rights.items():
        with contextlib.suppress(FileNotFoundError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            allowed = right if stat.S_ISDIR(os.fstat(place).st_mode) else right & _OF_FILES
            rule = struct.pack("=Qi", allowed, place)
            _check(_LIBC.syscall(SYS_LANDLOCK_ADD, ruleset, 1, rule, 0), f"landlock_add_rule {path}")
            os.close(place)
    no_new_privileges()
    _check(_LIBC.syscall(SYS_LANDLOCK_RESTRICT, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)
