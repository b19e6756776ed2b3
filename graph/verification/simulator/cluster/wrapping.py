"""Commands that run another command: remote shells, containers, CPU binding. And those that are only noted."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from graph.verification.simulator import config
from graph.verification.simulator.cluster import launch
from graph.verification.simulator.cluster.hostlist import expand
from graph.verification.simulator.site import SimulatedSite

STAGE = "/stand-in"
"""Where the rehearsal's folder is in namespaces (root.py)."""
Tool = Callable[[list[str], SimulatedSite], int]


def chmod(words: list[str], site: SimulatedSite) -> int:
    """The real chmod in namespaces. Under Landlock it does nothing, so what was made executable is written down."""
    if site.stage == Path(STAGE):
        os.execv("/bin/chmod", ["chmod", *words])
    modes = [word for word in words if "x" in word or re.fullmatch(r"[0-7]*[1357][0-7]*", word)]
    if modes:
        with (site.stage / "steps" / "executable").open("a") as marked:
            marked.writelines(f"{Path(word).resolve()}\n" for word in words if Path(word).is_file())
    return 0


def recorded(name: str) -> Tool:
    def noted(words: list[str], site: SimulatedSite) -> int:
        site.record("not_run", name=name, words=words)
        return 0

    return noted


# What a launch needs: a name that is nearly one of these is a slip of the pen, not a program of the user's.
NEEDED = (
    "python", "python3", "torchrun", "accelerate", "deepspeed", "srun", "mpirun", "mpiexec", "jsrun", "ibrun", "flux",
    "module", "source", "conda", "export", "scontrol", "hostname",
)  # fmt: skip


def is_slip(name: str) -> bool:
    return "/" not in name and bool(difflib.get_close_matches(name, NEEDED, 1, 0.75))


def missing(name: str) -> Tool:
    """A program of the user's or the site's that is not on this computer: noted; a wrapper starts what it wraps.

    In a step of a launcher it is the training program itself.
    """

    def stood_in(words: list[str], site: SimulatedSite) -> int:
        if is_slip(name):
            site.record("shell", what="unknown", words=[name, *words])
            print(f"{name}: No such file or directory", file=sys.stderr)
            return 127
        bases = [word.rsplit("/", 1)[-1] for word in words]
        at = next((n for n, base in enumerate(bases) if base in (*NEEDED[:5], "bash", "sh")), None)
        site.record("missing", name=name, words=words)
        if at is not None:
            return become(words[at:])
        return in_step(name, words, site) if "MAPLE_REHEARSAL_STEP" in os.environ else 0

    return stood_in


def in_step(name: str, words: list[str], site: SimulatedSite) -> int:
    from graph.verification.simulator.cluster import inner

    return inner.in_node(site, "program", name, words)


def ssh(words: list[str], site: SimulatedSite) -> int:
    """A command on another node of the job, with a fresh environment; other hosts are recorded only."""
    left = list(words)
    while left and left[0].startswith("-"):
        option = left.pop(0)
        if option in ("-o", "-p", "-i", "-l", "-F", "-L", "-R", "-D", "-b", "-c", "-E", "-J", "-m") and left:
            left.pop(0)
    if not left:
        return 255
    host = left[0].split("@")[-1].split(".")[0] if not left[0][:1].isdigit() else left[0]
    return remote(host, " ".join(left[1:]) or "true", site)


def remote(host: str, command: str, site: SimulatedSite) -> int:
    """Run a command line on a node of the job, named or by its address. Other hosts: noted only."""
    job = site.job
    by_address = {config.address(number, True): name for number, name in enumerate(job.hosts)}
    host = site.node if host in ("localhost", "127.0.0.1") else by_address.get(host, host)
    if host not in job.hosts:
        return 0
    given = launch.login_environment(site) | {"MAPLE_REHEARSAL_NODE": host, "MAPLE_REHEARSAL_GROUP": "remote"}
    return launch.on_node(site, host, ("bash", "-c", command), given, given["HOME"])


def pdsh(words: list[str], site: SimulatedSite) -> int:
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
            os._exit(remote(host, text, site))
        children.append(process)
    codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in children]
    return max((abs(code) for code in codes), default=0)


def pbsdsh(words: list[str], site: SimulatedSite) -> int:
    return pdsh(["-w", ",".join(site.job.nodes), *(w for w in words if w not in ("-u", "-v", "-s", "--"))], site)


# Options of container programs that take a value of their own.
VALUES_TEXT = """
    -B --bind --env --env-file -H --home -W --workdir --pwd -S --scratch --overlay --nvccli-devices --app --hostname
    --network --network-args --dns --security --fakeroot-dir --add-caps --drop-caps --apply-cgroups --image -V --volume
    --module -v -e -w --name --user -u --mount --entrypoint --gpus --shm-size --ulimit --device
"""
CONTAINER_VALUES = frozenset(VALUES_TEXT.split())
PREFIXES = ("SINGULARITYENV_", "APPTAINERENV_")


def container(words: list[str], site: SimulatedSite) -> int:
    """The command inside the image, run outside of it: what the image holds is not seen."""
    left = list(words)
    while left and left[0].startswith("-"):
        left.pop(0)
    verb = left.pop(0) if left else ""
    if verb not in ("exec", "run", "shell"):
        return recorded("container")(words, site)
    options: list[str] = []
    while left and left[0].startswith("-"):
        option = left.pop(0)
        options.append(option)
        if option in CONTAINER_VALUES and left:
            options.append(left.pop(0))
    image = left.pop(0) if left else ""
    return inside(image, options, left, site)


def shifter(words: list[str], site: SimulatedSite) -> int:
    left, options = list(words), []
    while left and left[0].startswith("-"):
        option = left.pop(0)
        options.append(option)
        if option in CONTAINER_VALUES and "=" not in option and left:
            options.append(left.pop(0))
    return inside("", options, left, site)


def inside(image: str, options: list[str], command: list[str], site: SimulatedSite) -> int:
    """The command of a container call, with the variables that the call hands in."""
    site.record("container", image=image)
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


def binding(words: list[str], site: SimulatedSite) -> int:
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
