"""A one-minute job on a node: what only a node can tell (GPU memory, links, interfaces, NUMA, internet, modules)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.discovery.found import MachineFound, NodeKind, QueueFound

# Each part is asked of whatever tool is there; what is not there prints nothing, and stays unknown.
PROBE = r"""
part() { echo "== $1"; }
part gpus
nvidia-smi --query-gpu=name,memory.total --format=csv,noheader,nounits 2>/dev/null
rocm-smi --showproductname --showmeminfo vram --csv 2>/dev/null
part links
nvidia-smi topo -m 2>/dev/null || rocm-smi --showtopotype 2>/dev/null
part interfaces
for i in /sys/class/net/*; do
  [ -e "$i/device" ] && echo "${i##*/} $(cat "$i/operstate" 2>/dev/null) $(cat "$i/speed" 2>/dev/null)"
done
part fabric
for i in /sys/class/infiniband/*/ports/*; do
  grep -q ACTIVE "$i/state" 2>/dev/null && echo "$i $(cat "$i/link_layer") $(cat "$i/rate")"
done
ls -d /sys/class/cxi/* 2>/dev/null
part numa
lscpu 2>/dev/null | grep -E '^NUMA node'
part internet
timeout 10 bash -c 'exec 3<>/dev/tcp/example.org/443' 2>/dev/null && echo reached || echo "not reached"
env | grep -iE '^https?_proxy=' | sed 's/=.*/ is set/'
part modules
timeout 15 bash -lc 'module -t avail 2>&1' | grep -iE 'torch|conda|anaconda' | head -n 20
part folders
for v in SCRATCH WORK PROJECT TMPDIR HOME; do
  eval "p=\$$v"; [ -n "$p" ] && echo "$v $(df -PT "$p" 2>/dev/null | tail -n 1)"
done
part end
"""
PART = re.compile(r"^== (\w+)\n((?:(?!== ).*\n?)*)", re.MULTILINE)
CUDA_GPU = re.compile(r"^(?:NVIDIA )?([^,\n]+), (\d+)\s*$", re.MULTILINE)
ROCM_MEMORY = re.compile(r"^card\d+,(\d{9,}),", re.MULTILINE)
RATE = re.compile(r"/(\w+)/ports/\d+ (\w+) (\d+) Gb/sec")


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a node told; empty and None: it did not."""

    gpu: str = ""
    gpu_gb: float | None = None
    links: str = ""
    fabric: str = ""
    fabric_ports: int = 0
    fabric_gbps: float | None = None
    interfaces: tuple[str, ...] = ()
    numa: tuple[str, ...] = ()
    internet: bool | None = None
    proxies: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def probe_script(machine: MachineFound, queue: QueueFound, account: str, output: str) -> str:
    """The job: one node of the queue with all its GPUs, one minute. The door checks the words."""
    kind = next(kind for kind, _ in queue.kinds if kind.gpus)
    lines = DIRECTIVES[machine.scheduler](queue.name, account, kind, output)
    return "\n".join(
        ["#!/bin/bash", *lines, "", *(['cd "$PBS_O_WORKDIR"'] if machine.scheduler == "pbs" else []), PROBE]
    )


def slurm_lines(queue: str, account: str, kind: NodeKind, output: str) -> list[str]:
    gpus = f"--gpus-per-node={kind.gpu + ':' if kind.gpu else ''}{kind.gpus}"
    wanted = [f"--partition={queue}", "--nodes=1", "--ntasks=1", gpus, "--time=00:01:00", f"--output={output}"]
    return [f"#SBATCH {word}" for word in [*wanted, *([f"--account={account}"] if account else [])]]


def pbs_lines(queue: str, account: str, kind: NodeKind, output: str) -> list[str]:
    wanted = [f"-q {queue}", f"-l select=1:ncpus=1:ngpus={kind.gpus}", "-l walltime=00:01:00", "-j oe", f"-o {output}"]
    return [f"#PBS {word}" for word in [*wanted, *([f"-A {account}"] if account else [])]]


def lsf_lines(queue: str, account: str, kind: NodeKind, output: str) -> list[str]:
    wanted = [f"-q {queue}", "-n 1", f'-gpu "num={kind.gpus}"', "-W 0:01", f"-o {output}"]
    return [f"#BSUB {word}" for word in [*wanted, *([f"-P {account}"] if account else [])]]


def flux_lines(queue: str, account: str, kind: NodeKind, output: str) -> list[str]:
    wanted = [f"--queue={queue}", "--nodes=1", "--exclusive", "--time-limit=1m", f"--output={output}"]
    return [f"# flux: {word}" for word in [*wanted, *([f"--bank={account}"] if account else [])]]


DIRECTIVES = {"slurm": slurm_lines, "pbs": pbs_lines, "lsf": lsf_lines, "flux": flux_lines}
SUBMIT = {"slurm": ("sbatch",), "pbs": ("qsub",), "lsf": ("bsub",), "flux": ("flux", "batch")}


def complete(text: str) -> bool:
    """Whether the job came to its end."""
    return "== end" in text


def read_node(text: str) -> NodeFacts:
    """What the job printed."""
    parts = {found[1]: found[2].strip() for found in PART.finditer(text)}
    gpu, size = gpu_of(parts.get("gpus", ""))
    rates = RATE.findall(parts.get("fabric", ""))
    fastest = max((int(rate) for _, _, rate in rates), default=0)
    rates = [one for one in rates if int(one[2]) == fastest]  # slower ones are for storage or management
    cxi = parts.get("fabric", "").count("/sys/class/cxi/")
    internet = parts.get("internet", "").splitlines()
    return NodeFacts(
        gpu=gpu,
        gpu_gb=size,
        links=links_of(parts.get("links", "")),
        fabric=("Slingshot" if cxi else "") or (rates[0][1] if rates else ""),
        fabric_ports=cxi or len({device for device, _, _ in rates}),
        fabric_gbps=float(max(int(rate) for _, _, rate in rates)) if rates else None,
        interfaces=tuple(line.split()[0] for line in parts.get("interfaces", "").splitlines() if " up" in line),
        numa=tuple(" ".join(line.split()) for line in parts.get("numa", "").splitlines()),
        internet={"reached": True, "not reached": False}.get(internet[0]) if internet else None,
        proxies=tuple(line.split()[0] for line in internet[1:]),
        modules=tuple(line.strip() for line in parts.get("modules", "").splitlines() if not line.endswith(":")),
        folders=tuple(folders_of(parts.get("folders", ""))),
    )


def gpu_of(text: str) -> tuple[str, float | None]:
    """Name and memory in GB of the first GPU."""
    if found := CUDA_GPU.search(text):
        return found[1].strip(), round(int(found[2]) / 1024)
    if found := ROCM_MEMORY.search(text):
        series = re.search(r"(MI\d+\w*)", text)
        return (series[1] if series else ""), round(int(found[1]) / 2**30)
    return "", None


def links_of(text: str) -> str:
    """The kinds of links between the GPUs, as the vendor's tool calls them: `NV12`, `PIX`, `XGMI`."""
    lines = (line.split() for line in text.splitlines())
    # A GPU's row has an X where it meets itself; the head has none.
    rows = [cells for cells in lines if cells and cells[0].startswith("GPU") and "X" in cells]
    cells = (word for row in rows for word in row[1 : len(rows) + 1])
    kinds = {word for word in cells if re.fullmatch(r"NV\d+|PIX|PXB|PHB|NODE|SYS|XGMI", word)}
    return ", ".join(sorted(kinds))


def folders_of(text: str) -> list[str]:
    """`SCRATCH is lustre, 120 TB`."""
    found = []
    for line in text.splitlines():
        cells = line.split()
        if len(cells) >= 4 and cells[3].isdigit():
            found.append(f"${cells[0]} is {cells[2]}, {int(cells[3]) / 2**30:,.1f} TB")
    return found
