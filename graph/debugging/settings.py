"""What a step holds for: the vendor, scheduler, kind of work or program whose tools and variables it names.

The words of a step are its condition, so none can lack it: a step that names `nvidia-smi` is for NVIDIA's GPUs. It is
shown where that is true or not known. The log tells some of it, the machine's facts the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from graph.debugging.events import Event, Scan
from knowledge.cluster import Cluster
from knowledge.signatures.loader import Cause
from knowledge.types import Diagnosis

# kind -> the names that are true there. A kind that is not known is not there.
Settings = Mapping[str, frozenset[str]]
PYTHON = r"\bpip\b|\bpython3?\b|PYTHON"
# The words by which a step shows what it is for. A step that names several holds for each of them.
NAMES: dict[str, dict[str, re.Pattern[str]]] = {
    "vendor": {
        "nvidia": re.compile(
            r"(?i:nvidia|(?<!torch\.)\bCUDA\b|cudnn|nvcc)|(?:\b|PYTORCH_)CUDA_\w+"
            r"|(?:\b|TORCH_)NCCL|`nccl`|\bnccl on|NVLS|\bMPS\b|--nv\b"
        ),
        "amd": re.compile(
            r"\bAMD\b|(?i:rocm)|\bHIP_|\bhip\b|\bHSA_|\bRCCL|(?:\b|TORCH_)NCCL(?!_NVLS)|`nccl`|\bnccl on"
        ),
        "intel": re.compile(r"\bIntel GPU|\boneAPI|\boneCCL|\bSYCL|\bLevel Zero|\bCCL_\w+|\bZE_\w+|\bxccl|\bxpu\b"),
    },
    "scheduler": {
        "slurm": re.compile(
            r"#SBATCH|\b(?:sbatch|srun|salloc|sinfo|sacct|sacctmgr|scontrol|squeue)\b|SLURM_|\bSlurm\b"
        ),
        "pbs": re.compile(r"#PBS|\b(?:qsub|qstat|qdel)\b|PBS_|\bPBS\b|\bselect=|\bmpiprocs="),
        "lsf": re.compile(r"#BSUB|\b(?:bsub|bqueues|bjobs|jsrun)\b|LSB_|\bLSF\b"),
        "flux": re.compile(r"# flux:|#flux|\bflux\b"),
    },
    "work": {
        "training": re.compile(
            r"(?i)\baccumulation\b|micro.?batch|activation checkpoint|\bDDP\b|\bFSDP\b|ZeRO|optimi[sz]er|gradient"
            r"|learning rate|num_workers|data workers|\b(?:for|in|multi-rank)(?: MPI)? training\b"
        ),
        "serving": re.compile(
            r"\bvLLM\b|\bSGLang\b|max[-_]model[-_]len|gpu[-_]memory[-_]utilization|max[-_]num[-_]seqs"
        ),
    },
    "program": {
        "torch": re.compile(rf"(?i:\bdeepspeed|\b\w*torch)|\bDDP\b|\bFSDP\b|ZeRO|{PYTHON}"),
        "jax": re.compile(rf"(?i:\bjax)|\bXLA_|{PYTHON}"),
        "tensorflow": re.compile(rf"(?i:tensorflow)|\bTF_|{PYTHON}"),
        "julia": re.compile(r"(?i:\bjulia)|\bPkg\b"),
        "r": re.compile(r"\bR\b"),
    },
    # Who writes the job's directives: a workflow tool takes them from its own configuration.
    "writer": {
        "person": re.compile(r"#SBATCH|\bsbatch\b|#PBS|#BSUB"),
        "nextflow": re.compile(r"(?i)nextflow"),
        "snakemake": re.compile(r"(?i)snakemake"),
    },
    "starter": {
        "ray": re.compile(r"\b[Rr]ay\b"),
        "launcher": re.compile(r"\btorchrun\b|\bsrun\b"),
    },
    "place": {"terminal": re.compile(r"\btmux\b|\bnohup\b")},
    "container": {
        "apptainer": re.compile(r"(?i)--nv\b|--rocm\b|\bapptainer|\bsingularity"),
        "pyxis": re.compile(r"(?i)\bpyxis\b|enroot"),
        "docker": re.compile(r"--shm-size|--ipc=host"),
    },
    "transport": {
        "nccl": re.compile(r"\b(?:TORCH_)?NCCL_\w+|GLOO_\w+"),
        "mpi": re.compile(r"\bMPI\b|\bmpi(?:run|exec)\b"),
    },
}
# What the log's lines show: of a vendor only what no other vendor's software prints.
SHOWN: dict[str, dict[str, re.Pattern[str]]] = {
    "vendor": {
        "amd": re.compile(
            r"\bMemory access fault by GPU|\bgfx\d|\bhip[A-Z]\w+"
            r"|\bHIP (?:error|out of memory)|\bMI[23]\d\d[AX]?\b|\bROCk\b"
        ),
        "intel": re.compile(
            r"\bZE_RESULT|\bxpu:\d|\bXPU out of memory|\boneCCL\b|\bCCL_(?:ERROR|WARN)|UR_RESULT_ERROR"
        ),
    },
    "work": {
        "serving": re.compile(r"\bEngineCore|/(?:vllm|sglang|lmdeploy)/|vLLM API server|\bmax_model_len\b|KV cache"),
        "training": re.compile(r"(?i)\btrain|\bloss\b|\bepoch\b|\bbackward\b"),
        "simulation": re.compile(
            r"\bLAMMPS\b|\blammps\b|thermo\.cpp|\bGROMACS\b|\bgmx\b|OpenFOAM|\bVASP\b|\bNAMD\b"
            r"|Quantum ESPRESSO|\bCP2K\b"
        ),
    },
    "program": {
        "torch": re.compile(r"\btorch(?:\.|run|/)|\[c10d\]|/torch/|\bProcessGroup[NGX]|\bDeepSpeed\b"),
        "jax": re.compile(r"\bjaxlib\b|/jax/|XlaRuntimeError|pjrt|\bJAX\b"),
        "tensorflow": re.compile(r"\btensorflow[./]|/keras/"),
        "julia": re.compile(r"\bERROR: LoadError\b|@ \S+\.jl:\d|import Pkg; Pkg"),
        "r": re.compile(r"(?m)^Error in \S+\(|\bExecution halted\b|there is no package called"),
    },
    "writer": {
        "nextflow": re.compile(r"(?i)nextflow|\.command\.(?:sh|run|stub)\b"),
        "snakemake": re.compile(r"(?i)snakemake|\bSnakefile\b"),
    },
    "starter": {"ray": re.compile(r"\(raylet\)|\bray::|/ray/|\bRayTaskError|\braylet\b|ray_init")},
    "place": {"batch": re.compile(r"\bslurmstepd: |\*\*\* (?:JOB|STEP) \d|/slurm_script\b|PBS: job killed")},
    "container": {
        "apptainer": re.compile(r"(?i)\bapptainer\b|\bsingularity\b"),
        "pyxis": re.compile(r"\bpyxis\b|\benroot\b"),
        "docker": re.compile(r"(?i)\bdocker\b(?! image)"),
    },
    "transport": {
        "nccl": re.compile(r"\bNCCL|ProcessGroup|\bc10d\b|(?i:\bgloo\b)|/torch/"),
        "mpi": re.compile(r"\bMPI(?:D|R|DI|II?)?_\w|\bPSM3\b|\bUCX\b|\bORTE\b"),
    },
    "binding": {"mpi4py": re.compile(r"\bmpi4py\b"), "deepspeed": re.compile(r"(?i)\bdeepspeed\b")},
}
BACKENDS = {"cuda": "nvidia", "rocm": "amd", "xpu": "intel"}
SCHEDULERS = {"slurm": ("slurm", "srun"), "pbs": ("pbs", "pals"), "lsf": ("lsf", "jsrun"), "flux": ("flux",)}


def holds(step: str, settings: Settings) -> bool:
    """Whether nothing that a step names is known to be absent."""
    for kind, here in settings.items():
        named = {name for name, words in NAMES.get(kind, {}).items() if words.search(step)}
        if named and not named & here:
            return False
    return True


def settings_of_log(winner: Event, scan: Scan) -> Settings:
    """What the telling line and its frames tell, else what else was found, else the log's end."""
    frames = winner.error.frames if winner.error else ()
    return settings_of_text([winner.text, *(frame.file for frame in frames)], scan, winner.file)


def settings_of_text(said: Iterable[str], scan: Scan, file: str | None = None) -> Settings:
    """What a text tells, and of what it tells nothing the other lines that were noted, then the end of the log."""
    tail = scan.tails.get(file)
    texts = (
        "\n".join(said),
        "\n".join(e.raw.decode("utf-8", "replace") for e in scan.events),
        tail.data.decode("utf-8", "replace") if tail else "",
    )
    found = {kind: _first_shown(kind, texts[:2] if kind == "vendor" else texts) for kind in SHOWN}
    ids = [event.signature.id for event in scan.events]
    named = (name for name, starts in SCHEDULERS.items() if any(one.startswith(starts) for one in ids))
    found["scheduler"] = frozenset([next(named, "")]) - {""}
    return {kind: names for kind, names in found.items() if names}


def _first_shown(kind: str, texts: Iterable[str]) -> frozenset[str]:
    """The names that the first of the texts shows that shows any."""
    each = (frozenset(n for n, words in SHOWN[kind].items() if words.search(text)) for text in texts)
    return next(filter(None, each), frozenset())


def settings_told(diagnosis: Diagnosis) -> dict[str, frozenset[str]]:
    """What a diagnosis knows of it from its log."""
    return {name: frozenset([value]) for name, value in diagnosis.facts if name in NAMES or name in SHOWN}


def settings_of_machine(cluster: Cluster) -> dict[str, frozenset[str]]:
    """The vendors of a machine's GPUs and its scheduler."""
    vendors = frozenset(BACKENDS[node.gpus.backend] for node in cluster.node_types if node.gpus.backend in BACKENDS)
    found = {"scheduler": frozenset([cluster.scheduler])}
    return found | ({"vendor": vendors} if vendors else {})


def steps_of(cause: Cause, settings: Settings, kinds: Iterable[str]) -> list[str]:
    """The cause's own steps for what is the one thing known of these kinds."""
    known = [next(iter(settings[kind])) for kind in kinds if len(settings.get(kind, ())) == 1]
    return [step for name in known for step in cause.by.get(name, ())]
