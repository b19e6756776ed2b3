"""What of a script is the machine's and what is the user's: by names and kinds, and by the source machine's facts."""

from __future__ import annotations

import re
from functools import cache

from knowledge.cluster import Cluster

# Variables that network libraries, launchers, GPUs and schedulers read: they belong to the machine, or to this launch.
MACHINE_VARIABLE = (
    r"(?!NCCL_DEBUG)(NCCL|RCCL|FI|MPICH|UCX|OMPI|I_MPI|CCL|ZE|GLOO|SLURM|SRUN|SBATCH|PBS|LSB|LS|FLUX|PMI|PMIX|PALS|MIOPEN|HSA|CRAY|KMP"
    r"|GASNET|SINGULARITY\w*|APPTAINER\w*|COBALT|IBV|NVSHMEM|AWS_OFI|SHIFTER|PSM\d|ROCM|CUDA_HOME|CUDA_PATH|EBROOT\w*)_\w+"
    r"|(CUDA|HIP|ROCR|GPU)_VISIBLE_DEVICES|ZE_AFFINITY_MASK|CUDA_DEVICE_ORDER|MASTER_(ADDR|PORT)|HEAD_?NODE\w*|head_?node\w*"
    r"|(LOCAL_|NODE_|GLOBAL_|GROUP_)?RANK|(LOCAL_)?WORLD_SIZE|(N|NUM_?)NODES|nnodes|RANKS_PER_NODE|N(TOT)?RANKS\w*"
    r"|GPUS?_PER_NODE|(NUM|N)_?GPUS?\w*|NPROC\w*|[A-Za-z]*_?proxy|[A-Z]*_PROXY|LD_LIBRARY_PATH|LD_PRELOAD|PATH|CPATH|TMPDIR"
    r"|MODULEPATH|HOSTFILE|hostfile|NODEFILE|NODELIST|nodes|nodes_array|hosts|TORCH_NCCL_\w+|HPCX?_\w+|OMP_PLACES|OMP_PROC_BIND"
    r"|ENVIRONMENT|PROGRAM|TENSOR_PARALLEL|PIPELINE_PARALLEL|JOB_NAME"
    r"|ACCELERATE_\w+|FSDP_(VERSION|RESHARD_AFTER_FORWARD|AUTO_WRAP_POLICY|STATE_DICT_TYPE)"
)
# Variables that exist on one site only and name a place on its file systems.
SITE_VARIABLE = (
    r"\$\{?(P?SCRATCH\w*|CFS|WORK2?|WORKDIR|FAST|PROJECT\w*|PROJWORK|MEMBERWORK|WORLDWORK|STORE|DATA_?DIR|SCRATCHDIR|PROJECTDIR"
    r"|ALL_CCFR\w+|\w+_ALL_CCFR\w+|JOBSCRATCH|DSDIR|LUSTRE|STOCKYARD"
    r"|PBS_JOBFS|PBS_NCPUS|PBS_NGPUS)\b"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled with the first script: that takes 0.1 s."""
    return re.compile(pattern)


def is_machine_variable(name: str, source: Cluster | None) -> bool:
    """Whether a variable is the machine's: by its name, or because the source machine's facts set it."""
    if _compiled(MACHINE_VARIABLE).fullmatch(name):
        return True
    return source is not None and name in facts_variables(source)


def facts_variables(source: Cluster) -> frozenset[str]:
    """The variables that a script made from a machine's facts sets: its network's and its software's."""
    software = [*source.software.values(), *(node.software for node in source.node_types if node.software)]
    settings = {setting.name for one in software for setting in one.settings}
    return frozenset(settings | {fact.name for fact in source.environment if fact.apply != "advice"})


def is_site_path(text: str) -> bool:
    """Whether a word names a place on one site's file systems."""
    return bool(re.match(r"/(?!tmp/|dev/|proc/|etc/|usr/)[\w.@-]+/", text) or _compiled(SITE_VARIABLE).match(text))
