"""A fix fits the machine, the scheduler, the work and the program: no step for what is known to be elsewhere."""

import re

import pytest

from graph.debugging.advice import for_cluster
from graph.debugging.diagnosis import diagnose
from graph.usecases.mend_script import mend_script
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.signatures.loader import library
from knowledge.types import Diagnosis

NVIDIA_ONLY = re.compile(r"nvidia-smi|CUDA_VISIBLE|CUDA_LAUNCH|CUDA_HOME|CUDA (?:build|toolkit|module)|cuDNN|NVLS")
ONLY = {
    "lumi": NVIDIA_ONLY,
    "aurora": re.compile(NVIDIA_ONLY.pattern + r"|NCCL_[A-Z]|rocm-smi|HIP_"),
    "perlmutter": re.compile(r"rocm-smi|\bHIP_|\bCCL_[A-Z]|sycl-ls|ZE_"),
}
KV = (
    "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, "
    "which is larger than the available KV cache memory (7.11 GiB). Try increasing `gpu_memory_utilization`."
)


def machine(name: str) -> Cluster:
    found = catalogue().find(name)
    assert found is not None
    return found


def steps(log: str, name: str = "") -> str:
    found = diagnose(log)
    return "\n".join((for_cluster(found, machine(name)) if name else found).fix)


@pytest.mark.parametrize("name", sorted(ONLY))
def test_no_step_of_the_library_names_another_vendors_tool_on_a_machine(name: str) -> None:
    """Every signature and every cause: what is shown there, and that something is left to be done."""
    cluster, causes = machine(name), library().causes
    each = [(one.id, one.cause, one.fix) for one in library().signatures if one.cause in causes]
    for id_, cause, fix in [*each, *(("", name_, ()) for name_ in causes)]:
        told = (*(one.step for one in causes[cause].specific), *(fix or causes[cause].fix))
        shown = for_cluster(Diagnosis(cause, "", 0.9, fix=told, signature=id_), cluster).fix
        wrong = [s for s in shown if (n := ONLY[name].search(s)) and cluster.title not in s and not is_for_all(s, n[0])]
        assert not wrong, (id_, wrong)
        assert shown or not fix or id_.startswith(("slurm", "srun")), id_
        general = for_cluster(Diagnosis(cause, "", 0.9, fix=causes[cause].fix), cluster).fix
        assert general or not causes[cause].fix, cause


def is_for_all(step: str, name: str) -> bool:
    """Whether a step names what each vendor has for it."""
    return name in step and re.search(r"\(ROCm|AMD|or ROCm|ROCm build|Intel GPU|not set|SYCL", step) is not None


def test_a_program_built_for_cuda_is_told_of_rocm_on_amd() -> None:
    log = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"
    told = steps(log, "lumi")
    assert "ROCm build" in told
    assert "lumi-aif-singularity-bindings" in told
    assert "nvidia-smi" not in told
    assert "nvidia-smi" in steps(log, "perlmutter")


def test_serving_is_told_from_training() -> None:
    served = steps(f"(EngineCore_0 pid=4512) {KV}")
    assert "--max-model-len" in served
    assert not re.search(r"accumulation|DDP|ZeRO|PYTORCH", served)
    trained = steps("step 4 loss 2.1\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
    assert "accumulation" in trained
    assert "--max-model-len" not in trained


@pytest.mark.parametrize(
    ("log", "wanted", "unwanted"),
    [
        ("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory", "jax.checkpoint", "DDP"),
        ("ERROR: LoadError: ArgumentError: Package CUDA not found in current path.", "Pkg", "pip"),
        ("Error in library(torch) : there is no package called 'torch'\nExecution halted", "install.packages", "pip"),
        ("(raylet) gcs_rpc_client.h:179: Failed to connect to GCS within 60 seconds", "ray start --head", "torchrun"),
        ("HIP error: invalid device function, gfx90a", "PYTORCH_ROCM_ARCH", "TORCH_CUDA_ARCH_LIST"),
    ],
)
def test_the_program_and_the_vendor_are_read_from_the_log(log: str, wanted: str, unwanted: str) -> None:
    assert wanted in steps(log)
    assert unwanted not in steps(log)


def test_a_step_that_sets_what_the_machine_sets_otherwise_is_not_shown() -> None:
    shown = ("Try `export CCL_PROCESS_LAUNCHER=none`.", "Try `export CCL_PROCESS_LAUNCHER=pmix`.", "Look at the ranks.")
    told = for_cluster(Diagnosis("comm-oneccl", "", 0.9, fix=shown), machine("aurora")).fix
    assert shown[0] not in told
    assert set(shown[1:]) <= set(told)


def test_what_training_must_set_is_not_told_to_serving() -> None:
    died = "RuntimeError: oneCCL: topo_manager.cpp:640 init_base: EXCEPTION: unexpected ranks"
    log = f"(EngineCore_0 pid=1) INFO started\n(EngineCore_0 pid=1) {died}"
    assert "export CCL_KVS_MODE" not in steps(log, "aurora")
    assert "leave the module's settings alone" in steps(log, "aurora")


def test_a_refusal_is_held_against_the_machines_facts_first() -> None:
    refused = "sbatch: error: Batch script is missing a QOS or constraint"
    found = for_cluster(diagnose(refused), machine("perlmutter"))
    assert found.fix[0].startswith("Perlmutter wants it said in the script: `#SBATCH --constraint=gpu`")
    assert "No -q: the job goes to debug and is refused or cut at 30 minutes." in found.fix
    assert "typo" not in " ".join(found.fix)
    script = "#!/bin/bash\n#SBATCH -N 1\n#SBATCH -t 10\nsrun python train.py\n"
    assert "+#SBATCH --constraint=gpu\n" in f"{mend_script(script, found, machine('perlmutter')).diff}\n"
    both = script.replace("-N 1", "-N 1\n#SBATCH -C gpu")
    assert "--constraint" not in mend_script(both, found, machine("perlmutter")).diff


def test_too_many_jobs_are_no_job_that_is_too_large() -> None:
    told = steps("sbatch: error: QOSMaxSubmitJobPerUserLimit", "perlmutter")
    assert told.startswith("Wait until jobs of yours have ended")
    assert "Queues of" not in told
    assert "maxwall" not in told


TORCHRUN = (
    "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -C gpu\n#SBATCH -q regular\nexport MASTER_ADDR=$(hostname)\n"
    "srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=localhost:29500 train.py\n"
)
LOST = "[c10d] The client socket has timed out after 60000ms while trying to connect to (localhost, 29500)."


def test_the_address_is_mended_where_the_launcher_reads_it() -> None:
    changed = mend_script(TORCHRUN, diagnose(LOST), machine("perlmutter")).diff
    assert "-export MASTER_ADDR" not in changed
    added = [line for line in changed.splitlines() if line.startswith("+srun")]
    assert added and "localhost" not in added[0] and ":29500 train.py" in added[0]


def test_no_variable_is_offered_that_an_option_of_the_launcher_overrides() -> None:
    script = TORCHRUN.replace("localhost:", "$HEAD:").replace("export MASTER_ADDR=$(hostname)\n", "")
    mended = mend_script(script, diagnose(LOST), machine("perlmutter"))
    assert "MASTER_ADDR" not in mended.diff + "".join(offer.script for offer in mended.offers)


@pytest.mark.parametrize(
    ("line", "log"),
    [
        (
            "export CCL_KVS_IFACE=hsn9\n",
            "|CCL_ERROR| internal_kvs.cpp:510 fill_local_host_ip: can't find interface hsn9",
        ),
        ("export CUDA_VISIBLE_DEVICES=0\n", "RuntimeError: CUDA error: invalid device ordinal"),
    ],
)
def test_the_line_that_sets_what_the_log_complains_of_is_offered_for_removal(line: str, log: str) -> None:
    script = f"#!/bin/bash\n#SBATCH -N 1\n{line}srun python train.py\n"
    mended = mend_script(script, diagnose(log), None)
    assert [offer.script for offer in mended.offers][:1] == [script.replace(line, "")]
    kept = script.replace(line, "export WANDB_PROJECT=my-run\n")
    assert not any("WANDB" not in offer.script for offer in mend_script(kept, diagnose(log), None).offers)
