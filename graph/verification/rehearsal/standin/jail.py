"""The jail: namespaces (or Landlock), the nodes inside, and the batch script on the first of them.

Run as a program: `python -I jail.py PROJECT STAGE namespaces|landlock`. Exits with the batch script's code.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

from graph.verification.rehearsal.standin import config, kernel, netlink, node, program, root, seccomp, wire

BRIDGE = "standin0"
THREADS_EACH = 10
"""Threads that a rank of torch has, about."""


def main() -> int:
    """Shut the door behind us, then run the job. Gives the exit code."""
    stage, isolation = Path(sys.argv[2]), sys.argv[3]
    kernel.die_with_parent()
    stand_in = config.read(stage)
    outside = threads_running()
    if isolation == "landlock":
        kernel.adopt_orphans()
        version = kernel.allow_writes_only_in([str(stage)], ["/dev/null", "/dev/tty", "/dev/zero"])
        seccomp.install()
        kernel.drop_capabilities()
        config.record(stage, "jail", isolation=f"landlock {version}", network="shared")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            return run(stage, stand_in, False, outside)
        finally:
            end_descendants()
    kernel.enter_user_namespace(kernel.ALL_NAMESPACES)
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    kernel.die_with_parent()
    networked = cable_works()
    root.build(str(stage), stand_in, hosts_file(stand_in, networked))
    config.record(Path(root.STAGE), "jail", isolation="namespaces", network="own" if networked else "loopback")
    code = run(Path(root.STAGE), stand_in, networked, outside)
    os._exit(code)


def cable_works() -> bool:
    """Whether nodes can have networks of their own here; else they share the loopback range."""
    netlink.set_up("lo")
    try:
        netlink.add_bridge(BRIDGE)
    except OSError:
        return False
    return True


def hosts_file(stand_in: config.StandIn, networked: bool) -> str:
    """Names of all nodes. One without processes resolves and does not answer, as a node that is down."""
    rows = ["127.0.0.1 localhost"]
    for number, name in enumerate(stand_in.hosts):
        rows.append(" ".join([config.address(number, networked), name, *(name + end for end in stand_in.suffixes)]))
    for number, name in enumerate(stand_in.nodes[stand_in.running :], start=len(stand_in.hosts)):
        rows.append(f"{config.address(number, networked)} {name}")
    return "\n".join(rows) + "\n"


def run(stage: Path, stand_in: config.StandIn, networked: bool, outside: int) -> int:
    """Start the nodes, run the batch script on the first, and give its exit code. outside: the computer's threads."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 29, 1 << 29))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path += [path for path in stand_in.packages if path not in sys.path]
    for module in stand_in.preload:
        importlib.import_module(module)
    program.settle(stand_in)
    for number, name in enumerate(stand_in.hosts):
        start_node(stage, stand_in, number, name, networked)
    drop()
    threads = THREADS_EACH * stand_in.max_processes + outside
    resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
    batch = json.loads((stage / "batch.json").read_text())
    task = wire.Task(0, tuple(batch["words"]), batch["variables"], batch["folder"])
    config.record(stage, "start", nodes=stand_in.hosts)
    code = follow(wire.ask(stage, stand_in.hosts[0], "exec", [task], (0, 1, 2)), stand_in.max_processes)
    config.record(stage, "end", code=code)
    return code if 0 <= code < 256 else 128 - code if code < 0 else 1


def start_node(stage: Path, stand_in: config.StandIn, number: int, name: str, networked: bool) -> None:
    """Fork a node and give it its own network, host name and /tmp where the kernel lets us."""
    ready, go = os.pipe(), os.pipe()
    process = os.fork()
    if process == 0:
        try:
            kernel.die_with_parent()
            os.nice(5)  # the first process must get its turn when others multiply
            own_namespaces(stage, number, name, networked, ready[1], go[0], stand_in)
            node.serve(stage, name, program.programs(stage, stand_in, name, networked))
        finally:
            os._exit(1)
    if networked:
        os.read(ready[0], 1)
        netlink.add_cable(BRIDGE, f"node{number}", stand_in.interface, process)
        os.write(go[1], b".")
    while not Path(wire.socket_path(stage, name)).exists():
        if os.waitpid(process, os.WNOHANG)[0]:
            raise RuntimeError(f"node {name} did not start")
        select.select([], [], [], 0.005)


def own_namespaces(
    stage: Path, number: int, name: str, networked: bool, ready: int, go: int, stand_in: config.StandIn
) -> None:
    """A node's own host name, network and /tmp; then no rights are left to change them."""
    if str(stage) != root.STAGE:  # Landlock: nothing to unshare
        return
    kernel.unshare(kernel.CLONE_NEWUTS | kernel.CLONE_NEWNS | (kernel.CLONE_NEWNET if networked else 0))
    kernel.set_host_name(name)
    for folder, size in (("/tmp", "128m"), ("/dev/shm", "256m")):
        if any(path.startswith(f"{folder}/") for path in stand_in.bound):
            continue  # Python or this program lies there
        kernel.mount("tmpfs", folder, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"size={size},mode=1777")
    if networked:
        os.write(ready, b".")
        os.read(go, 1)
        netlink.set_up("lo")
        netlink.add_address(stand_in.interface, config.address(number, True), 16)
        netlink.set_up(stand_in.interface)
    drop()


def drop() -> None:
    """Rights that a program could use to get out; without new privileges, a superuser's exec brings none back."""
    kernel.drop_capabilities()
    kernel.no_new_privileges()


def follow(connection: socket.socket, limit: int) -> int:
    """Wait for the batch script; reap orphans; end everything when processes multiply without end."""
    while True:
        readable, _, _ = select.select([connection], [], [], 0.1)
        if readable:
            answer = connection.recv(256)
            return int(json.loads(answer)[1]) if answer else 1
        reap()
        if processes() > limit:
            return config.TOO_MANY


def processes() -> int:
    """How many processes the jail has. Where it has no space of its own, other people's stand beside them in /proc:
    then it is those that descend from it (an orphan comes back to it as the subreaper)."""
    if os.getpid() == 1:
        return sum(entry.name.isdigit() for entry in Path("/proc").iterdir())
    found, waiting = 0, [os.getpid()]
    while waiting:
        now = children(waiting.pop())
        found += len(now)
        waiting += now
    return found


def children(process: int) -> list[int]:
    """The processes that all threads of a process have started; none where it is gone."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def threads_running() -> int:
    """All threads of the computer: kernels before 5.14 count a person's other ones into the limit, too."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                found += len(list((entry / "task").iterdir()))
    return found


def end_descendants() -> None:
    """Without a process space of our own: kill children until none is left (orphans come to us as the subreaper)."""
    while True:
        left = children(os.getpid())
        if not left:
            return
        for child in left:
            os.kill(child, signal.SIGKILL)
        reap()


def reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
