"""The jail: namespaces (or Landlock), the nodes inside, and the batch script on the first of them.

Run as a program: `python -I jail.py PROJECT ORDER`, ORDER being a JailOrder in JSON. Exits with the script's code.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv[1])

from graph.verification.simulator import config
from graph.verification.simulator.cluster import node, program, wire
from graph.verification.simulator.jail import kernel, limits, netlink, root, seccomp, warden
from graph.verification.simulator.jail.listener import Listener
from graph.verification.simulator.site import SimulatedSite

BRIDGE = "standin0"
WRITABLE = ("work", "home", "scratch", "tmp", "elsewhere", "steps", "run")
"""Folders of the rehearsal that the script may write in, where it is confined by Landlock."""


def main() -> int:
    """Shut the door behind us, then run the job. Gives the exit code."""
    order = config.JailOrder(**json.loads(sys.argv[2]))
    os.set_inheritable(order.channel, False)
    job = config.read(Path(order.stage))
    outside = warden.threads_running()
    if order.landlock:
        kernel.adopt_orphans()
        signal.signal(signal.SIGTERM, leave)
        kernel.die_with_parent(signal.SIGTERM)  # orphans are ended before this process does
        try:
            return guarded(order, SimulatedSite(Path(order.stage), job, "", False, order.channel), outside)
        finally:
            warden.end_descendants()
    kernel.die_with_parent()
    kernel.enter_user_namespace(kernel.ALL_NAMESPACES)
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    kernel.die_with_parent()
    networked = cable_works()
    root.build(order.stage, job, hosts_file(job, networked))
    kernel.close_to_others()
    os._exit(guarded(order, SimulatedSite(Path(root.STAGE), job, "", networked, order.channel), outside))


def leave(*_: object) -> None:
    """End once: the kernel tells of each thread of the parent that ends, and a second word would break this off."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(143)


def guarded(order: config.JailOrder, site: SimulatedSite, outside: int) -> int:
    """This process becomes the warden of another, which runs the job."""
    ours, theirs = socket.socketpair()
    runner = os.fork()
    if runner == 0:
        ours.close()
        code = 1
        try:
            kernel.die_with_parent()
            close_doors(order, site, theirs)
            code = run(order, site, outside)
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    theirs.close()
    listener = None
    if order.landlock:
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        if descriptors:
            listener = Listener(descriptors[0], order.stage, warden.is_descendant)
    watch = warden.Warden(
        runner, site.job.max_processes, order.most_memory, order.stage if order.landlock else "",
        lambda what, says: site.record("limit", what=what, says=says),
    )  # fmt: skip
    return watch.watch(listener)


def close_doors(order: config.JailOrder, site: SimulatedSite, warden_socket: socket.socket) -> None:
    """All that confines the runner and whatever it starts, as far as it does not need it itself any more."""
    limits.bound_each(order.most_memory)
    if not order.landlock:
        kernel.close_to_others()
        site.record("jail", isolation="namespaces", network="own" if site.networked else "loopback")
        return
    kernel.drop_capabilities()
    shown = [*root.SYSTEM, *root.DEVICE_FACTS, "/proc", *(f"/etc/{name}" for name in root.READ_FROM_ETC)]
    writable = [f"{order.stage}/{name}" for name in WRITABLE]
    devices = [f"/dev/{name}" for name in root.DEVICES]
    kernel.confine(
        site.job.project,
        [*shown, *site.job.bound, *devices, order.stage],
        [*writable, "/dev/null", "/dev/tty"],
        order.landlock,
    )
    asked = can_be_asked()
    listener = seccomp.install(landlocked=True, asked=asked)
    socket.send_fds(warden_socket, [b"."], [listener] if asked else [])
    if asked:
        os.close(listener)
    site.record("jail", isolation=f"landlock {order.landlock}", network="shared")


def can_be_asked() -> bool:
    """Whether a process here may look into its descendants, as the warden must to decide about their calls."""
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    return not scope.exists() or int(scope.read_text()) < 2


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


def run(order: config.JailOrder, site: SimulatedSite, outside: int) -> int:
    """Start the nodes, prove the jail, run the batch script on the first node, and give its exit code."""
    job = site.job
    sys.path += [path for path in job.packages if path not in sys.path]
    for module in job.preload:
        importlib.import_module(module)
    program.settle(job)
    batch = json.loads((site.stage / "batch.json").read_text())
    for number, name in enumerate(job.hosts):
        start_node(SimulatedSite(site.stage, job, name, site.networked, site.channel), number, not order.landlock)
    if not order.landlock:
        drop()
    limits.bound_threads(job.max_processes, outside)
    proved = attempt(order, site, batch)
    site.record("proved", **proved)
    if not set(proved["open"]) <= set(order.accepted):
        return config.UNPROVED
    task = wire.Task(0, tuple(batch["words"]), batch["variables"], batch["folder"])
    site.record("start", nodes=job.hosts)
    code = first_answer(wire.ask(site.stage, job.hosts[0], "exec", [task], (0, 1, 2)))
    site.record("end", code=code)
    return code if 0 <= code < 256 else 128 - code if code < 0 else 1


def attempt(order: config.JailOrder, site: SimulatedSite, batch: dict[str, object]) -> dict[str, Any]:
    """What a program that a node starts could and could not do. Where it cannot tell, that counts as open."""
    reading, writing = os.pipe()
    words = (site.job.python, "-IS", str(Path(__file__).parent / "attempts.py"), json.dumps(order.targets))
    task = wire.Task(0, words, {"PATH": "/usr/bin:/bin"}, str(batch["folder"]))
    connection = wire.ask(site.stage, site.job.hosts[0], "exec", [task], (0, writing, 2))
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        said = answers.read(65536)
    first_answer(connection)
    try:
        found = json.loads(said)
        return {"held": list(found["held"]), "open": list(found["open"]), "tried": int(found["tried"])}
    except (ValueError, KeyError, TypeError):
        return {"held": [], "open": ["unknown"], "tried": 0}


def first_answer(connection: socket.socket) -> int:
    return next((code for _, code in wire.answers(connection)), 1)


def start_node(site: SimulatedSite, number: int, own: bool) -> None:
    """Fork a node and give it its own network, host name and /tmp where the kernel lets us."""
    ready, go = os.pipe(), os.pipe()
    process = os.fork()
    if process == 0:
        try:
            kernel.die_with_parent()
            os.nice(5)  # the warden must get its turn when others multiply
            if own:
                own_namespaces(site, number, ready[1], go[0])
            for descriptor in (*ready, *go):
                os.close(descriptor)
            node.serve(site)
        finally:
            os._exit(1)
    if own and site.networked:
        os.read(ready[0], 1)
        netlink.add_cable(BRIDGE, f"node{number}", site.job.interface, process)
        os.write(go[1], b".")
    while not Path(wire.socket_path(site.stage, site.node)).exists():
        if os.waitpid(process, os.WNOHANG)[0]:
            raise RuntimeError(f"node {site.node} did not start")
        select.select([], [], [], 0.005)
    for descriptor in (*ready, *go):
        os.close(descriptor)


def own_namespaces(site: SimulatedSite, number: int, ready: int, go: int) -> None:
    """A node's own host name, network and /tmp; then no rights are left to change them."""
    kernel.unshare(kernel.CLONE_NEWUTS | kernel.CLONE_NEWNS | (kernel.CLONE_NEWNET if site.networked else 0))
    kernel.set_host_name(site.node)
    for folder, size in (("/tmp", "128m"), ("/dev/shm", "256m")):
        if any(path.startswith(f"{folder}/") for path in site.job.bound):
            continue  # Python or this program lies there
        kernel.mount("tmpfs", folder, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"size={size},mode=1777")
    if site.networked:
        os.write(ready, b".")
        os.read(go, 1)
        netlink.set_up("lo")
        netlink.add_address(site.job.interface, config.address(number, True), 16)
        netlink.set_up(site.job.interface)
    drop()


def drop() -> None:
    """Rights that a program could use to get out; without new privileges, a superuser's exec brings none back."""
    kernel.drop_capabilities()
    kernel.no_new_privileges()
    if seccomp.known():
        seccomp.install(landlocked=False, asked=False)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
