"""The commands of the stand-in cluster, by name. A node runs them in processes of its own, at a client's request."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys

from graph.verification.simulator.cluster import inner, launch, options, wrapping
from graph.verification.simulator.cluster.hostlist import compress, expand
from graph.verification.simulator.cluster.options import LAUNCHERS
from graph.verification.simulator.cluster.wrapping import (
    Tool,
    binding,
    chmod,
    container,
    pbsdsh,
    pdsh,
    recorded,
    shifter,
    ssh,
)
from graph.verification.simulator.config import StandIn
from graph.verification.simulator.site import SimulatedSite
from knowledge.launcher_options import option_set

PYTHONS = ("python", "python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13")
OF_MPI = ("mpiexec", "mpirun", "mpiexec.hydra", "orterun", "prterun")


def names() -> list[str]:
    """Every command that the stand-in folder holds."""
    launchers = [name for name in LAUNCHERS if " " not in name]
    return sorted({*launchers, *OF_MPI, *PYTHONS, *inner.MODULES, *TOOLS, *NOT_RUN})


def run(name: str, words: list[str], site: SimulatedSite) -> int:
    """Be that command. Gives its exit code; a failure of ours is recorded as one."""
    try:
        return command(name, words, site)
    except Exception as error:
        site.record("crashed", name=name, says=f"{type(error).__name__}: {error}")
        raise


def command(name: str, words: list[str], site: SimulatedSite) -> int:
    if name == ".missing" and words:
        return wrapping.missing(words[0])(words[1:], site)
    if name in OF_MPI:  # both names are the site's one MPI, or that which the script puts before it
        own = re.search(r"(?i)open-?mpi|ompi|hpcx", os.environ.get("PATH", ""))
        name = "mpirun" if site.job.mpi == "openmpi" or own else "mpiexec"
    if name in LAUNCHERS:
        return launch.run(name, words, site)
    if name in PYTHONS:
        return inner.python(words, site)
    if name in inner.MODULES:
        return inner.in_node(site, "inner", inner.MODULES[name], words)
    known = wrapping.recorded(name) if name in NOT_RUN else wrapping.missing(name)
    return TOOLS.get(name, known)(words, site)


# The cluster's other commands: names and addresses, schedulers' queries, GPUs, containers, remote shells.
#
# What would act outside the job (submit, download, install, copy away) is recorded and not run.


NOT_RUN_NAMES = """
    sbatch qsub bsub qdel scancel bkill salloc squeue sinfo sacct sstat sattach sbcast qstat bjobs bhosts bpeek jutil
    curl wget git rsync scp sftp pip pip3 uv mamba micromamba aws gsutil rclone globus huggingface-cli hf wandb
    docker podman sudo su doas mail sendmail lfs myquota nvidia-cuda-mps-control nsys ncu dcgmi rocprof vtune
    spack shutdown reboot systemctl crontab at mount umount nc ncat telnet ftp tensorboard azcopy
"""
NOT_RUN = tuple(NOT_RUN_NAMES.split())


def say(text: str) -> int:
    """The text in one write: a `head -n 1` that ends after the first line must not end the command under pipefail."""
    sys.stdout.write(f"{text}\n")
    return 0


def node_address(name: str) -> str | None:
    with contextlib.suppress(OSError):
        return socket.gethostbyname(name)
    return None


def hostname(words: list[str], site: SimulatedSite) -> int:
    name = site.node
    if {"-i", "-I", "--ip-address", "--all-ip-addresses"} & set(words):
        return say(node_address(name) or "127.0.0.1")
    return say(name)


def scontrol(words: list[str], site: SimulatedSite) -> int:
    """show hostnames, show job; the rest is recorded."""
    if len(words) > 1 and words[0] == "show" and words[1].startswith("hostname"):
        listed = words[2] if len(words) > 2 else os.environ.get("SLURM_JOB_NODELIST", "")
        if not listed:
            print("scontrol: error: host list is empty", file=sys.stderr)
            return 1
        return say("\n".join(expand(listed)))
    if words[:2] == ["show", "job"] or words[:2] == ["show", "jobid"]:
        job = site.job
        return say(f"JobId={job.job_id} JobName={job.job_name} NumNodes={len(job.nodes)} BatchHost={job.nodes[0]}")
    return recorded("scontrol")(words, site)


def nslookup(words: list[str], site: SimulatedSite) -> int:
    name = next((word for word in words if not word.startswith("-")), "")
    found = node_address(name) or node_address(name.removesuffix("i"))
    if not found:
        print(f"** server can't find {name}: NXDOMAIN")
        return 1
    return say(f"Server:\t\t127.0.0.53\nAddress:\t127.0.0.53#53\n\nName:\t{name}\nAddress: {found}\n")


def getent(words: list[str], site: SimulatedSite) -> int:
    if len(words) < 2 or words[0] not in ("hosts", "ahosts", "ahostsv4"):
        return recorded("getent")(words, site)
    found = node_address(words[1])
    return say(f"{found}     {words[1]}") if found else 2


def resolve_short(words: list[str], site: SimulatedSite) -> int:
    name = next((word for word in words if not word.startswith(("-", "+", "@"))), "")
    found = node_address(name)
    return say(found or f"Host {name} not found: 3(NXDOMAIN)") if found else 1


def gpu_query(words: list[str], site: SimulatedSite) -> int:
    """nvidia-smi, rocm-smi, xpu-smi: one line a device, which is what scripts count."""
    job = site.job
    model = {"nvidia": "NVIDIA stand-in", "amd": "AMD stand-in", "intel": "Intel stand-in"}[job.vendor]
    query = next((word for word in words if word.startswith("--query-gpu=")), "")
    for number in range(job.gpus_per_node):
        if query:
            cells = {"index": str(number), "name": model, "gpu_name": model, "count": str(job.gpus_per_node)}
            print(", ".join(cells.get(cell, "0") for cell in query.partition("=")[2].split(",")))
        else:
            print(f"GPU {number}: {model} (UUID: GPU-{number:08d})")
    return 0


def flux(words: list[str], site: SimulatedSite) -> int:
    """run, and the queries that scripts make; the rest is recorded."""
    job = site.job
    command, rest = (words[0], words[1:]) if words else ("", [])
    if command == "run":
        return launch.run("flux run", rest, site)
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
    return recorded("flux")(words, site)


def flux_hostlist(words: list[str], job: StandIn) -> int:
    """-e expands, -c counts, -n I takes one host, -d is the delimiter, -L limits: flux-hostlist(1)."""
    found = options.parse("flux-hostlist", HOSTLIST, words)
    hosts = list(job.nodes)
    nth, limit = found.last("nth"), found.last("limit")
    if nth is not None:
        hosts = [hosts[int(nth)]]
    if limit is not None:
        hosts = hosts[: int(limit)]
    if {"c", "count"} & set(found.options):
        return say(str(len(hosts)))
    if nth is None and not {"e", "expand"} & set(found.options):
        return say(compress(tuple(hosts)))
    return say((found.last("delimiter") or " ").encode().decode("unicode_escape").join(hosts))


HOSTLIST = option_set(
    {
        "means": {"nth": "-n --nth", "limit": "-L --limit", "delimiter": "-d --delimiter"},
        "values": "-x --exclude",
        "flags": "-e --expand -c --count -u --union -q --quiet -f --fallback -S --sort",
    }
)


def note(words: list[str], site: SimulatedSite) -> int:
    """Called by the shell functions: `.note KIND WORDS...`."""
    if len(words) < 2 and words[:1] != ["module"]:
        return 0
    if words[0] == "unknown" and not wrapping.is_slip(words[1]):
        return wrapping.missing(words[1])(words[2:], site)
    site.record("shell", what=words[0], words=words[1:])
    return 127 if words[0] == "unknown" else 0


TOOLS: dict[str, Tool] = {
    "hostname": hostname, "scontrol": scontrol, "nslookup": nslookup, "getent": getent, "host": resolve_short,
    "dig": resolve_short, "nvidia-smi": gpu_query, "rocm-smi": gpu_query, "amd-smi": gpu_query, "xpu-smi": gpu_query,
    "flux": flux, "ssh": ssh, "pdsh": pdsh, "clush": pdsh, "pbsdsh": pbsdsh, "singularity": container,
    "apptainer": container, "podman-hpc": container, "shifter": shifter, "numactl": binding, "taskset": binding,
    "chmod": chmod, ".note": note,
}  # fmt: skip
