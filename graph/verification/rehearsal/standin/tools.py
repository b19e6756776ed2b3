"""The cluster's other commands: names and addresses, schedulers' queries, GPUs, containers, remote shells.

What would act outside the job (submit, download, install, copy away) is recorded and not run.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from graph.verification.rehearsal.standin import config, launch
from graph.verification.rehearsal.standin.layout import expand

Tool = Callable[[list[str], Path], int]
NOT_RUN = [
    "sbatch",
    "qsub",
    "bsub",
    "qdel",
    "scancel",
    "bkill",
    "salloc",
    "squeue",
    "sinfo",
    "sacct",
    "sstat",
    "sattach",
    "sbcast",
    "qstat",
    "bjobs",
    "bhosts",
    "bpeek",
    "jutil",
    "curl",
    "wget",
    "git",
    "rsync",
    "scp",
    "sftp",
    "pip",
    "pip3",
    "uv",
    "mamba",
    "micromamba",
    "aws",
    "gsutil",
    "rclone",
    "globus",
    "huggingface-cli",
    "hf",
    "wandb",
    "docker",
    "podman",
    "sudo",
    "su",
    "doas",
    "mail",
    "sendmail",
    "lfs",
    "myquota",
    "nvidia-cuda-mps-control",
    "nsys",
    "ncu",
    "dcgmi",
    "rocprof",
    "vtune",
    "spack",
    "shutdown",
    "reboot",
    "systemctl",
    "crontab",
    "at",
    "mount",
    "umount",
    "nc",
    "ncat",
    "telnet",
    "ftp",
    "tensorboard",
    "azcopy",
    "mpicc",
    "gcc_dummy",
]


def say(text: str) -> int:
    print(text)
    return 0


def node_address(name: str) -> str | None:
    with contextlib.suppress(OSError):
        return socket.gethostbyname(name)
    return None


def hostname(words: list[str], stage: Path) -> int:
    name = launch.current_node()
    if {"-i", "-I", "--ip-address", "--all-ip-addresses"} & set(words):
        return say(node_address(name) or "127.0.0.1")
    return say(name)


def scontrol(words: list[str], stage: Path) -> int:
    if len(words) > 1 and words[0] == "show" and words[1].startswith("hostname"):
        listed = words[2] if len(words) > 2 else os.environ.get("SLURM_JOB_NODELIST", "")
        if not listed:
            print("scontrol: error: host list is empty", file=sys.stderr)
            return 1
        return say("\n".join(expand(listed)))
    if words[:2] == ["show", "job"] or words[:2] == ["show", "jobid"]:
        job = config.read(stage)
        return say(f"JobId={job.job_id} JobName={job.job_name} NumNodes={len(job.nodes)} BatchHost={job.nodes[0]}")
    return recorded("scontrol")(words, stage)


def nslookup(words: list[str], stage: Path) -> int:
    name = next((word for word in words if not word.startswith("-")), "")
    found = node_address(name) or node_address(name.removesuffix("i"))
    if not found:
        print(f"** server can't find {name}: NXDOMAIN")
        return 1
    return say(f"Server:\t\t127.0.0.53\nAddress:\t127.0.0.53#53\n\nName:\t{name}\nAddress: {found}\n")


def getent(words: list[str], stage: Path) -> int:
    if len(words) < 2 or words[0] not in ("hosts", "ahosts", "ahostsv4"):
        return recorded("getent")(words, stage)
    found = node_address(words[1])
    return say(f"{found}     {words[1]}") if found else 2


def resolve_short(words: list[str], stage: Path) -> int:
    name = next((word for word in words if not word.startswith(("-", "+", "@"))), "")
    found = node_address(name)
    return say(found or f"Host {name} not found: 3(NXDOMAIN)") if found else 1


def gpu_query(words: list[str], stage: Path) -> int:
    """nvidia-smi, rocm-smi, xpu-smi: one line a device, which is what scripts count."""
    job = config.read(stage)
    model = {"nvidia": "NVIDIA stand-in", "amd": "AMD stand-in", "intel": "Intel stand-in"}[job.vendor]
    query = next((word for word in words if word.startswith("--query-gpu=")), "")
    for number in range(job.gpus_per_node):
        if query:
            cells = {"index": str(number), "name": model, "gpu_name": model, "count": str(job.gpus_per_node)}
            print(", ".join(cells.get(cell, "0") for cell in query.partition("=")[2].split(",")))
        else:
            print(f"GPU {number}: {model} (UUID: GPU-{number:08d})")
    return 0


def flux(words: list[str], stage: Path) -> int:
    job = config.read(stage)
    command, rest = (words[0], words[1:]) if words else ("", [])
    if command == "run":
        return launch.run("flux run", rest, stage)
    if command == "hostlist":
        return flux_hostlist(rest, job)
    if command == "resource":
        shown = {
            "{nnodes}": len(job.nodes),
            "{ngpus}": len(job.nodes) * job.gpus_per_node,
            "{nodelist}": ",".join(job.nodes),
        }
        text = next((word for word in rest if "{" in word), "{nnodes}")
        return say(re.sub(r"\{\w+\}", lambda m: str(shown.get(m[0], "")), text.removeprefix("-no").removeprefix("-o")))
    if command == "getattr":
        known = {"size": str(len(job.nodes)), "hostlist": ",".join(job.nodes), "rank": "0", "jobid": job.job_id}
        return say(known[rest[-1]]) if rest and rest[-1] in known else 1
    return recorded("flux")(words, stage)


def flux_hostlist(words: list[str], job: config.StandIn) -> int:
    """-e expands, -c counts, -n I takes the I-th host, -d gives the delimiter, -L limits."""
    chosen, picked, delimiter, count = list(job.nodes), False, " ", False
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        if name.startswith("-n") and not name.startswith("--"):
            value, picked = name[2:] or left.pop(0), True
            chosen = [chosen[int(value)]]
        elif name in ("--nth", "-L", "--limit", "-d", "--delimiter"):
            value = value if equals else left.pop(0)
            chosen = (
                [chosen[int(value)]]
                if name == "--nth"
                else chosen[: int(value)]
                if "L" in name or "limit" in name
                else chosen
            )
            delimiter = value if "d" in name and "limit" not in name.replace("delimiter", "") else delimiter
        elif name in ("-c", "--count"):
            count = True
        elif name in ("-e", "--expand", "-q", "--quiet", "-f", "-u") or not name.startswith("-"):
            continue
    from graph.verification.rehearsal.standin.layout import compress

    if count:
        return say(str(len(chosen)))
    expanded = picked or any(word in ("-e", "--expand") or re.match(r"^-\w*e", word) for word in words)
    return say(delimiter.encode().decode("unicode_escape").join(chosen) if expanded else compress(tuple(chosen)))


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
    job = config.read(stage)
    if host in ("localhost", "127.0.0.1"):
        host = launch.current_node()
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
CONTAINER_VALUES = set(
    [
        "-B",
        "--bind",
        "--env",
        "--env-file",
        "-H",
        "--home",
        "-W",
        "--workdir",
        "--pwd",
        "-S",
        "--scratch",
        "--overlay",
        "--nvccli-devices",
        "--app",
        "--hostname",
        "--network",
        "--network-args",
        "--dns",
        "--security",
        "--fakeroot-dir",
        "--add-caps",
        "--drop-caps",
        "--apply-cgroups",
        "--image",
        "-V",
        "--volume",
        "--module",
        "-v",
        "-e",
        "-w",
        "--name",
        "--user",
        "-u",
        "--mount",
        "--entrypoint",
        "--gpus",
        "--shm-size",
        "--ulimit",
        "--workdir",
        "--device",
    ]
)
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
    config.record(stage, "container", image=image, options=options, command=command)
    for name, value in list(os.environ.items()):
        for prefix in PREFIXES:
            if name.startswith(prefix):
                os.environ[name.removeprefix(prefix)] = value
    for flag, value in zip(options, [*options[1:], ""], strict=True):
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
    """numactl, taskset and the like: their options are dropped, the command runs."""
    left = list(words)
    while left and left[0].startswith("-"):
        option = left.pop(0)
        if option in ("-c", "-N", "-m", "-C", "-i", "--cpu-list") and left and not shutil.which(left[0]):
            left.pop(0)
    return become(left) if left else 0


def recorded(name: str) -> Tool:
    def note(words: list[str], stage: Path) -> int:
        config.record(stage, "not_run", name=name, words=words)
        return 0

    return note


def note(words: list[str], stage: Path) -> int:
    """Called by the shell functions: `.note KIND WORDS...`."""
    config.record(stage, "shell", what=words[0], words=words[1:], node=launch.current_node())
    return 0


TOOLS: dict[str, Tool] = {
    "hostname": hostname, "scontrol": scontrol, "nslookup": nslookup, "getent": getent, "host": resolve_short,
    "dig": resolve_short, "nvidia-smi": gpu_query, "rocm-smi": gpu_query, "amd-smi": gpu_query, "xpu-smi": gpu_query,
    "flux": flux, "ssh": ssh, "pdsh": pdsh, "clush": pdsh, "pbsdsh": pbsdsh, "singularity": container,
    "apptainer": container, "podman-hpc": container, "shifter": shifter, "numactl": binding, "taskset": binding,
    ".note": note,
}  # fmt: skip
