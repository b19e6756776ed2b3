"""Commands that run another command: remote shells, containers, CPU binding. And those that are only noted."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from graph.verification.rehearsal.standin import config, launch
from graph.verification.rehearsal.standin.hostlist import expand

STAGE = "/stand-in"
"""Where the rehearsal's folder is in namespaces (root.py)."""
Tool = Callable[[list[str], Path], int]


def chmod(words: list[str], stage: Path) -> int:
    """The real chmod in namespaces. Under Landlock it does nothing, so what was made executable is written down."""
    if stage == Path(STAGE):
        os.execv("/bin/chmod", ["chmod", *words])
    modes = [word for word in words if "x" in word or re.fullmatch(r"[0-7]*[1357][0-7]*", word)]
    if modes:
        with (stage / "executable").open("a") as marked:
            marked.writelines(f"{Path(word).resolve()}\n" for word in words if Path(word).is_file())
    return 0


def recorded(name: str) -> Tool:
    def noted(words: list[str], stage: Path) -> int:
        config.record(stage, "not_run", name=name, words=words)
        return 0

    return noted


def ssh(words: list[str], stage: Path) -> int:
    """A command on another node of the job, with a fresh environment; other hosts are recorded only."""
    left = list(words)
    while left and left[0].startswith("-"):
        option = left.pop(0)
        if option in ("-o", "-p", "-i", "-l", "-F", "-L", "-R", "-D", "-b", "-c", "-E", "-J", "-m") and left:
            left.pop(0)
    if not left:
        return 255
    host = left[0].split("@")[-1].split(".")[0] if not left[0][:1].isdigit() else left[0]
    return remote(host, " ".join(left[1:]) or "true", stage)


def remote(host: str, command: str, stage: Path) -> int:
    """Run a command line on a node of the job, named or by its address. Other hosts: noted only."""
    job = config.read(stage)
    by_address = {config.address(number, True): name for number, name in enumerate(job.hosts)}
    host = launch.current_node() if host in ("localhost", "127.0.0.1") else by_address.get(host, host)
    config.record(stage, "remote", host=host, command=command, in_job=host in job.nodes)
    if host not in job.hosts:
        return 0
    given = launch.login_environment(stage) | {"MAPLE_REHEARSAL_NODE": host}
    return launch.on_node(stage, host, ("bash", "-c", command), given, given["HOME"])


def pdsh(words: list[str], stage: Path) -> int:
    """A command on several nodes at once; %n is the node's number, %h its name (pdsh's own words)."""
    hosts: list[str] = []
    left = list(words)
    while left and left[0].startswith("-"):
        option = left.pop(0)
        if option[:2] in ("-w", "-x", "-f", "-l", "-t", "-u", "-R"):
            value = option[2:] or (left.pop(0) if left else "")
            hosts = expand(value) if option[:2] == "-w" else hosts
    command = " ".join(left)
    children: list[int] = []
    for number, host in enumerate(hosts):
        process = os.fork()
        if process == 0:
            text = command.replace("%n", str(number)).replace("%h", host)
            os._exit(remote(host, text, stage))
        children.append(process)
    codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in children]
    return max((abs(code) for code in codes), default=0)


def pbsdsh(words: list[str], stage: Path) -> int:
    return pdsh(
        ["-w", ",".join(config.read(stage).nodes), *(w for w in words if w not in ("-u", "-v", "-s", "--"))], stage
    )


# Options of container programs that take a value of their own.
VALUES_TEXT = """
    -B --bind --env --env-file -H --home -W --workdir --pwd -S --scratch --overlay --nvccli-devices --app --hostname
    --network --network-args --dns --security --fakeroot-dir --add-caps --drop-caps --apply-cgroups --image -V --volume
    --module -v -e -w --name --user -u --mount --entrypoint --gpus --shm-size --ulimit --device
"""
CONTAINER_VALUES = frozenset(VALUES_TEXT.split())
PREFIXES = ("SINGULARITYENV_", "APPTAINERENV_")


def container(words: list[str], stage: Path) -> int:
    """The command inside the image, run outside of it: what the image holds is not seen."""
    left = list(words)
    while left and left[0].startswith("-"):
        left.pop(0)
    verb = left.pop(0) if left else ""
    if verb not in ("exec", "run", "shell"):
        return recorded("container")(words, stage)
    options: list[str] = []
    while left and left[0].startswith("-"):
        option = left.pop(0)
        options.append(option)
        if option in CONTAINER_VALUES and left:
            options.append(left.pop(0))
    image = left.pop(0) if left else ""
    return inside(image, options, left, stage)


def shifter(words: list[str], stage: Path) -> int:
    left, options = list(words), []
    while left and left[0].startswith("-"):
        option = left.pop(0)
        options.append(option)
        if option in CONTAINER_VALUES and "=" not in option and left:
            options.append(left.pop(0))
    return inside("", options, left, stage)


def inside(image: str, options: list[str], command: list[str], stage: Path) -> int:
    """The command of a container call, with the variables that the call hands in."""
    config.record(stage, "container", image=image, options=options, command=command)
    for name, value in list(os.environ.items()):
        for prefix in PREFIXES:
            if name.startswith(prefix):
                os.environ[name.removeprefix(prefix)] = value
    for flag, value in zip(options, [*options[1:], ""], strict=False):
        settings = value if flag in ("--env", "-e") else flag.partition("=")[2] if flag.startswith("--env=") else ""
        for setting in settings.split(",") if settings else ():
            name, _, text = setting.partition("=")
            os.environ[name] = text
    if not command:
        return 0
    return become(command)


def become(command: list[str]) -> int:
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127


def binding(words: list[str], stage: Path) -> int:
    """numactl, taskset and the like: their options and masks are dropped, the command runs."""
    left = list(words)
    if {"--hardware", "-H"} & set(left):
        print("available: 1 nodes (0)")
        return 0
    while left and left[0].startswith("-"):
        option = left.pop(0)
        if option in ("-c", "-N", "-m", "-C", "-i", "--cpu-list") and left and not shutil.which(left[0]):
            left.pop(0)
    if len(left) > 1 and re.fullmatch(r"(0x)?[0-9a-fA-F,-]+", left[0]) and not shutil.which(left[0]):
        left.pop(0)
    return become(left) if left else 0
