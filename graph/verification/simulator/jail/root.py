"""The file system of the jail: a small writable root in memory, the system's programs read-only, nothing else."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from graph.verification.simulator.config import StandIn
from graph.verification.simulator.jail import kernel

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store")
FROM_ETC = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "localtime",
    "ssl",
    "ca-certificates",
)
READ_FROM_ETC = (
    *FROM_ETC, "hosts", "passwd", "group", "nsswitch.conf", "profile", "os-release", "bash.bashrc", "services",
    "protocols", "host.conf", "gai.conf", "timezone", "locale.alias", "mime.types", "inputrc", "profile.d",
)  # fmt: skip
"""What a shell and a look-up read, where there is no root of our own."""
DEVICE_FACTS = ("/sys/bus", "/sys/class", "/sys/devices")
CPU_FACTS = ("/sys/devices/system/cpu", "/sys/devices/system/node")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
STAGE = "/stand-in"
SIZE_IN_MEMORY = "512m"


def build(stage: str, stand_in: StandIn, hosts: str) -> None:
    """Make the root and step into it. Needs a mount namespace of our own."""
    new = f"{stage}/root"
    Path(new).mkdir(exist_ok=True)
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", new, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"size={SIZE_IN_MEMORY},mode=755")
    for path in (*SYSTEM, *CPU_FACTS, *stand_in.bound):
        show_read_only(path, new)
    make_etc(f"{new}/etc", hosts)
    make_devices(f"{new}/dev")
    make_proc(f"{new}/proc")
    for folder in ("tmp", "run", "var/tmp", "old", *(p.lstrip("/") for p in stand_in.places.values())):
        Path(new, folder).mkdir(parents=True, exist_ok=True)
    for path in stand_in.programs:
        stand_for(path, new)
    Path(new, STAGE[1:]).mkdir()
    kernel.mount(stage, new + STAGE, flags=kernel.MS_BIND)
    make_read_only(new + STAGE)
    for folder in ("run", "steps"):
        kernel.mount("tmpfs", f"{new}{STAGE}/{folder}", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=16m")
    os.chdir(new)
    kernel.pivot_root(new, f"{new}/old")
    os.chdir("/")
    kernel.unmount("/old")
    Path("/old").rmdir()
    shutil.copytree(f"{STAGE}/work", stand_in.places["work"], dirs_exist_ok=True)


def stand_for(path: str, new: str) -> None:
    """A Python or launcher that the script calls by its path on the cluster: our command lies there, too."""
    target = Path(new + path)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        name = "python" if target.name.startswith("python") else target.name
        if Path(f"{new.removesuffix('/root')}/bin/{name}").is_symlink():
            target.symlink_to(f"{STAGE}/bin/{name}")
            return
        # A file of its own: the script may write the program itself before it starts it.
        target.write_text(f'#!/bin/sh\nexec {STAGE}/bin/.missing {shlex.quote(path)} "$@"\n')
        target.chmod(0o755)


def show_read_only(path: str, new: str) -> None:
    """Bind one path, or copy the symbolic link that it is. Missing paths are left out."""
    place, target = Path(path), Path(new + path)
    if not place.exists() or target.exists() or target.is_symlink():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if place.is_symlink():
        target.symlink_to(place.readlink())
        return
    target.mkdir() if place.is_dir() else target.touch()
    kernel.mount(path, str(target), flags=kernel.MS_BIND | kernel.MS_REC)
    for mounted in mounts_below(str(target)):
        make_read_only(mounted)


def make_read_only(mounted: str) -> None:
    """A device stays writable by this; its mode and owner do not."""
    kernel.mount("none", mounted, flags=kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kept_flags(mounted))


def mounts_below(target: str) -> list[str]:
    rows = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    points = [row.replace("\\040", " ") for row in rows]
    return [point for point in points if point == target or point.startswith(target + "/")]


def kept_flags(mounted: str) -> int:
    """Flags that a user namespace must not take away (statvfs and mount number these four alike)."""
    return os.statvfs(mounted).f_flag & (kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC | 0x400)


def make_etc(etc: str, hosts: str) -> None:
    """The few files that name look-ups and shells read."""
    Path(etc).mkdir()
    for name in FROM_ETC:
        show_read_only(f"/etc/{name}", etc.removesuffix("/etc"))
    texts = {
        "hosts": hosts,
        "passwd": "root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/rehearsal/home:/bin/bash\n",
        "group": "root:x:0:\nuser:x:1000:\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "profile": '[ -n "$BASH_ENV" ] && . "$BASH_ENV"\n',
        "os-release": 'NAME="stand-in cluster"\n',
    }
    for name, text in texts.items():
        Path(etc, name).write_text(text)


def make_devices(dev: str) -> None:
    Path(dev, "shm").mkdir(parents=True)
    for name in DEVICES:
        Path(dev, name).touch()
        kernel.mount(f"/dev/{name}", f"{dev}/{name}", flags=kernel.MS_BIND)
        make_read_only(f"{dev}/{name}")
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        Path(dev, name).symlink_to("/proc/self/fd" + target)
    kernel.mount("tmpfs", f"{dev}/shm", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=256m")


def make_proc(proc: str) -> None:
    """Read-only: a superuser's /proc/sys stays writable without capabilities otherwise."""
    Path(proc).mkdir()
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC | kernel.MS_RDONLY
    try:
        kernel.mount("proc", proc, "proc", flags)
    except OSError:  # a container that masks /proc allows no new one
        kernel.mount("/proc", proc, flags=kernel.MS_BIND | kernel.MS_REC)
        kernel.mount("none", proc, flags=kernel.MS_REMOUNT | kernel.MS_BIND | flags)
