"""A node of the stand-in cluster: a daemon that starts processes on request, as slurmd, palsd or sshd do.

It forked from a process that had already imported torch, so a rank costs a fork and not an import.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import sys
import traceback
from pathlib import Path

from graph.verification.simulator.cluster import commands, wire
from graph.verification.simulator.jail import kernel
from graph.verification.simulator.site import SimulatedSite


def serve(site: SimulatedSite) -> None:
    """Answer requests for ever, each in a process of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        place = wire.socket_path(site.stage, site.node)
        door.bind(f"{place}~")
        door.listen(256)
        Path(f"{place}~").rename(place)  # who waits for its name may connect at once
        while True:
            connection, _ = door.accept()
            if os.fork() == 0:
                door.close()
                handle(connection, site)
            connection.close()


def handle(connection: socket.socket, site: SimulatedSite) -> None:
    """One request, from start to end. Never returns; dies with the node."""
    kernel.die_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        kind, tasks, descriptors = wire.receive(connection)
        running = {start(kind, task, descriptors, site, connection): task.number for task in tasks}
        for descriptor in descriptors:
            os.close(descriptor)
        watch(connection, running)
    except (OSError, ValueError, TypeError, KeyError):  # gone, or no request of ours
        pass
    finally:
        os._exit(0)


def start(kind: str, task: wire.Task, descriptors: list[int], site: SimulatedSite, connection: socket.socket) -> int:
    """Fork one task into a process group of its own; gives its process id."""
    process = os.fork()
    if process:
        with contextlib.suppress(OSError):
            os.setpgid(process, process)
        return process
    code = 127
    try:
        kernel.die_with_parent()
        os.setpgid(0, 0)
        connection.close()
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        for descriptor in descriptors:
            if descriptor > 2:
                os.close(descriptor)
        code = become(kind, task, site)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def become(kind: str, task: wire.Task, site: SimulatedSite) -> int:
    """Turn this process into the task: another program by exec, or a command of the cluster by a call."""
    os.chdir(task.folder if Path(task.folder).is_dir() else "/")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if kind == "call":
        os.environ.clear()
        os.environ.update(task.variables)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, m, 1, closefd=False) for n, m in enumerate("rww"))
        return commands.run(task.words[0], list(task.words[1:]), site)
    words = stood_in(task)
    try:
        os.execvpe(words[0], words, task.variables)
    except FileNotFoundError:
        print(f"{task.words[0]}: No such file or directory", file=sys.stderr)
        return 127
    except PermissionError:
        run_by_shebang(task)
        print(f"{task.words[0]}: Permission denied", file=sys.stderr)
        return 126
    return 127


def stood_in(task: wire.Task) -> tuple[str, ...]:
    """The task's words; a path that lies on the cluster alone, or a shell's missing script, by the stand-in."""
    words = task.words
    shell = words[0] in ("bash", "sh") and len(words) > 1 and not words[1].startswith("-")
    at = 1 if shell else 0
    if "/" in words[at] or shell:
        there = Path(words[at]).exists()
    else:
        there = shutil.which(words[at], path=task.variables.get("PATH")) is not None
    folder = task.variables.get("MAPLE_REHEARSAL_BIN")
    return words if there or not folder else (f"{folder}/.missing", *words[at:])


def run_by_shebang(task: wire.Task) -> None:
    """Start a script that the job made executable where chmod itself can do nothing (see wrapping.chmod)."""
    marked = Path(task.variables.get("MAPLE_REHEARSAL_BIN", "/"), "../steps/executable").resolve()
    path = str(Path(task.words[0]).resolve())
    if marked.is_file() and path in marked.read_text().splitlines():
        first = Path(path).read_text(errors="replace").split("\n", 1)[0]
        interpreter = first[2:].split() if first.startswith("#!") else ["/bin/sh"]
        os.execvpe(interpreter[0], [*interpreter, path, *task.words[1:]], task.variables)


def watch(connection: socket.socket, running: dict[int, int]) -> None:
    """Report tasks as they end; stop them all when the asker goes away."""
    with contextlib.closing(connection):
        while running:
            readable, _, _ = select.select([connection], [], [], 0.02)
            if readable and not connection.recv(1):
                stop(running)
                return
            for process in list(running):
                ended, status = os.waitpid(process, os.WNOHANG)
                if ended:
                    wire.answer(connection, running.pop(process), os.waitstatus_to_exitcode(status))


def stop(running: dict[int, int]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process, number)
        select.select([], [], [], 0.3)
