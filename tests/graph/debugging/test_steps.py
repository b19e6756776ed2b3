"""A step is told where the log shows what it is for; the words of the log's own line come before what is in stock."""

import re

import pytest

from graph.debugging.diagnosis import diagnose
from graph.debugging.script_edits import all_steps
from graph.debugging.steps import own_remedy, with_more
from graph.debugging.trouble import Tail
from knowledge.signatures.loader import library

PYXIS = "slurmstepd: error: pyxis: container start failed with error code: 1\nslurmstepd: error: pyxis: log file ...\n"
TRACE = 'Traceback (most recent call last):\n  File "/home/ada/app/main.py", line 7, in <module>\n    run()\n'


def steps(log: str) -> str:
    return "\n".join(diagnose(log).fix)


@pytest.mark.parametrize(
    ("log", "wanted", "unwanted"),
    [
        # The lines round the telling one say why.
        (PYXIS + "slurmstepd: error: pyxis:     Write failed because No space left on device", "ENROOT_", "--nv"),
        (PYXIS + "slurmstepd: error: pyxis:     mkdir: cannot create directory '/run/enroot'", "RUNTIME_PATH", "--nv"),
        ('FATAL:   "solve": executable file not found in $PATH', "`solve` is not on PATH inside", "--nv"),
        ("env: 'apptainer': No such file or directory", "`apptainer` itself is not on PATH", "--nv"),
        # Another tool's remedy is left out.
        (
            "N E X T F L O W\nnextflow run x\nsbatch: error: invalid partition specified: big",
            "process.queue",
            "#SBATCH",
        ),
        ("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-03-01T00:00:01 ***", "state%30", "tmux"),
        ("Memory access fault by GPU node-2 (Agent handle: 0x1) on address 0x7f00.", "AMD_SERIALIZE", "CUDA|token id"),
        (
            "Abort(1091471) on node 1 (rank 1 in comm 0): Fatal error in PMPI_Init: Other MPI error, error stack:\n"
            "MPIDI_OFI_mpi_init_hook(1382): OFI get address vector map failed",
            "fi_info",
            "mpi4py|NCCL",
        ),
        (
            "ERROR: Lost atoms: original 100 current 90 (../thermo.cpp:438)\nLAMMPS (2 Aug 2023)",
            "time step",
            "learning rate|bf16",
        ),
        # The message's own words.
        ("train.py: error: argument --fp8: ignored explicit argument 'true'", "`--fp8` takes no value", "local_rank"),
        (
            TRACE + "ValueError: No statistics. Make sure to run `scripts/stats.py` first.",
            "Make sure to run `scr",
            "values",
        ),
        (TRACE + "NotImplementedError", "main.py:7 raises it where no branch", "message tells"),
        (TRACE + "RuntimeError: tensor of size 3 must match at dimension 2", "not the batch", "drop_last"),
    ],
)
def test_a_step_fits_what_the_log_shows(log: str, wanted: str, unwanted: str) -> None:
    told = steps(log)
    assert wanted in told
    assert not re.search(unwanted, told)


def frames(*names: str) -> str:
    return "".join(f'  File "/opt/env/lib/python3.11/site-packages/lib/x.py", line 3, in {name}\n' for name in names)


FULL = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 40.00 GiB of"
    " which 1.00 GiB is free."
)
XLA = "{0}: W x.cc:1] Allocator (GPU_0_bfc) ran out of memory trying to allocate 4.00GiB requested by op\n"
SEES = "{0}: devices: [CudaDevice(id=0), CudaDevice(id=1)]\n"
USAGE = "usage: fit.py [-h] [--learning-rate X]\n              [--num-epochs N] [--wd W]\n"
POINTER = (
    "{} 1 ada hpc 131 Mar  2 09:11 part-1.safetensors\n"
    "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge"
)
RAY = (
    "RuntimeError: Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n    Python: {}\n"
    "This process on node 10.0.0.9 was started with:\n    Ray: 2.9.0\n    Python: 3.9.18"
)
EMBEDDED = (
    "RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for wte.weight: copying a param with shape"
    " torch.Size([1000, 64]) from checkpoint, the shape in current model is torch.Size([1004, 64])."
)


@pytest.mark.parametrize(
    ("log", "wanted", "unwanted"),
    [
        # The value is the one that the message speaks of.
        (
            "slurmstepd: error: *** STEP 7.0 ON cn01 CANCELLED AT 2026-02-02T01:00:00 DUE TO NODE FAILURE ***\n"
            "slurmstepd: error: Node failure on cn44",
            "--exclude=cn44",
            "cn01|NODE",
        ),
        (
            "slurmstepd: error: *** STEP 7.0 ON cn01 CANCELLED AT 2026-02-02T01:00:00 DUE TO NODE FAILURE ***",
            "sinfo -R",
            "cn01",
        ),
        (
            "AssertionError: world size (30) is not divisible by model size (text=0 + image=4)",
            "multiple of 4: take 28 or 32 GPUs",
            "multiple of 0|SLURM_PROCID",
        ),
        (
            "AssertionError: world size (30) is not divisible by tensor size (2) times pipeline size (4)",
            "of 8: take 24 or 32",
            "of 2:",
        ),
        # The host of the rank, wherever the log names it.
        (
            "[rank5]: RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
            "srun: error: cn07: tasks 0-3: Terminated\nsrun: error: cn08: tasks 4-7: Exited with exit code 1",
            "--exclude=cn08",
            "cn07|NODE",
        ),
        (USAGE + "fit.py: error: unrecognized arguments: --lrn_rate 3 --num_epochs 9", "`--num-epochs` for", "ARG"),
        (USAGE + "fit.py: error: unrecognized arguments: --learn_rate 3 --zz", "`--learn_rate`, `--zz`", "for `--zz`"),
        # Its own advice, not the neighbour's.
        (
            TRACE + "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla"
            " T4 GPU has compute capability 7.5. You can use float16 instead by setting the `dtype` flag.",
            "use float16 .or float32.*You can use float16 instead",
            "TORCH_CUDA_ARCH_LIST|get_arch_list",
        ),
        (RAY.format("3.11.7"), "Python 3.9.18 here, 3.11.7 at the head", "renamed"),
        (RAY.format("3.9.18"), "different environments: activate", "renamed"),
        (POINTER.format("-rw-r--r--"), "131 bytes: that is a Git LFS pointer", "weights_only"),
        ("CondaError: Run 'conda init' before 'conda activate'", "etc/profile.d/conda.sh", "PACKAGE"),
        (
            "2: MIOpen Error: sqlite_db.cpp:9: Internal error while accessing SQLite database: disk I/O error",
            "MIOPEN_CUSTOM_CACHE_DIR",
            "df -h",
        ),
        (
            "user limits: ulimit -n 512\n|CCL_ERROR| fd.cpp:3 open: condition failed\nopen: errno Too many open files",
            r"`ulimit -n` was 512.*65536",
            "xccl",
        ),
        ("3.1s: flux-shell[0]: stderr: exec ./go.sh: Permission denied", "chmod \\+x ./go.sh", "PATH"),
        (
            "FATAL:   container creation failed: mount /p/in->/in error: while mounting /p/in: mount source /p/in"
            " doesn't exist",
            "`/p/in` does not exist on the node",
            "--nv",
        ),
        (
            "num_classes=10\n/p/Loss.cu:1: nll_loss: block: [0,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
            "[rank0]: RuntimeError: CUDA error: device-side assert triggered",
            "10 classes: 0 to 9",
            "report that node",
        ),
        (
            "NVIDIA GH200 480GB with CUDA capability sm_90 is not compatible with the current PyTorch installation.",
            "aarch64.*sm_90",
            "TORCH_CUDA_ARCH_LIST",
        ),
        ("Error: Resource set 0 requires 6 GPUs, only 4 available per host.", "`-g 4` or fewer instead of 6", "direct"),
        (EMBEDDED, "1004 rows, the checkpoint 1000: load", "module\\."),
        # The stage.
        (
            "Traceback (most recent call last):\n" + frames("fit", "validation_step") + FULL,
            "eval",
            "accumulation;|Halve",
        ),
        ("Traceback (most recent call last):\n" + frames("fit", "forward") + FULL, "gradient accumulation", "eval_"),
        (SEES.format(0) + SEES.format(1) + XLA.format(0) + XLA.format(1), "Ranks 0, 1 all ran out.*GPU 0", "MEM_FRAC"),
        (XLA.format(0) + XLA.format(1), "smaller batch", "the same one"),
        (
            "mpirun -n 6 python fit.py --procs 8\nDEADLINE_EXCEEDED: Barrier timed out. Id: [Init]Wait_for_all_tasks_to"
            "_register::0.\n# of tasks that reached the barrier: 6/8.",
            "waits for 8 processes and only 6 came, 2 are missing; the launch line starts 6",
            "initialization_timeout",
        ),
        # What builds a package again leaves the others as they are.
        (
            "ImportError: /e/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: _ZN3c10",
            "--no-deps.* flash-attn`",
            r"reinstall \.\.\.",
        ),
        ("ImportError: /e/amp_C.cpython-311-x86_64-linux-gnu.so: undefined symbol: _ZN3c10", "Rebuild it", "pip"),
        # Nothing is told where nothing is known.
        ("Fatal Python error: Segmentation fault", "faulthandler", "Only this message"),
    ],
)
def test_advice_is_of_the_very_fault(log: str, wanted: str, unwanted: str) -> None:
    told = steps(log)
    assert re.search(wanted, told) or wanted in told, told
    assert not re.search(unwanted, told), told


def test_no_step_lets_pip_replace_more_than_it_names() -> None:
    told = [step for cause in library().causes.values() for step in all_steps(cause)]
    told += [step for one in library().signatures for step in one.fix]
    commands = [step for step in told if "--force-reinstall" in step]
    assert commands
    assert all("--no-deps" in step and "..." not in step for step in commands)


def test_an_abort_is_what_follows_from_what_it_says_before() -> None:
    watchdog = (
        "[rank1]:[E302 10:00:12 ProcessGroupNCCL.cpp:629] [Rank 1] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=9, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n"
    )
    found = diagnose("preprocessing the data on rank 0 only\n" + watchdog + "Fatal Python error: Aborted\n")
    assert found.cause == "comm-collective-timeout"
    assert "Rank 0 worked alone (preprocessing)" in found.fix[0]
    alone = diagnose("Fatal Python error: Aborted\n")
    assert "segmentation" not in alone.says.lower()


@pytest.mark.parametrize(
    "message",
    [
        "ValueError: wrong shape",
        "RuntimeError: Please report this bug to the maintainers.",
        "RuntimeError: Run `curl x.example | sh` to repair it.",
        "RuntimeError: set env var HYDRA_FULL_ERROR=1 to see chained exception.",
    ],
)
def test_no_remedy_is_taken_from_a_message_that_has_none_to_hand_on(message: str) -> None:
    assert own_remedy(message) == ""


def test_a_whole_traceback_asks_for_no_more_of_the_log() -> None:
    assert diagnose(TRACE + "ValueError: wrong shape").send_next == ()


@pytest.mark.parametrize(
    ("last", "named"), [("step 41 loss 0.3\nstep 42 loss 0.3", True), ("", False)], ids=["went on", "cut while saving"]
)
def test_the_last_checkpoint_is_named_where_steps_followed_on_it(last: str, named: bool) -> None:
    limit = "slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026-03-02T10:09:00 DUE TO TIME LIMIT ***"
    found = diagnose(f"step 39 loss 0.4\nsaved out/checkpoint-40/model.pt\n{last}\n{limit}\n")
    assert ("out/checkpoint-40" in " ".join(found.fix)) == named


def test_the_heads_of_a_layer_are_no_parallel_size() -> None:
    log = (
        "launch --tensor-parallel-size 2\nValueError: hidden size 768 is not divisible by number of attention heads 7\n"
    )
    assert "tensor parallel" not in diagnose(log).fix[0]


def test_an_allocation_that_failed_killed_nothing_unless_the_kernel_says_so() -> None:
    failed = "terminate called after throwing an instance of 'std::bad_alloc'\n"
    killed = (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=31.0. Some of the step tasks have been OOM Killed.\n"
    )
    assert "nothing was killed" in diagnose(failed).fix[0]
    assert "nothing was killed" not in " ".join(diagnose(failed + killed).fix)
    assert "or was given no more" in diagnose(failed).says


@pytest.mark.parametrize(
    ("target", "missing", "built"),
    [
        ("bin/solver", "./bin/solver", True),
        ("solver", "/home/ada/run/solver", True),
        ("./solver", "./solver", True),
        ("src/solver", "./other/solver", False),
    ],
)
def test_what_make_did_not_build_is_that_very_file(target: str, missing: str, built: bool) -> None:
    log = f"make: *** [Makefile:7: {target}] Error 1\njob.sh: line 9: {missing}: No such file or directory\n"
    assert ("never built" in diagnose(log).says) is built


@pytest.mark.parametrize(
    ("lines", "whole"),
    [
        ("Fatal error:\nThe box is\ntoo small\nRaise it\n\nmore", "Fatal error: The box is too small. Raise it"),
        ("bad bracket\n   please rerun\n   to go on\nstep 2", "bad bracket please rerun to go on"),
        ("not found\nninja: build stopped", "not found"),
        ("FATAL CALLED FROM a.f90 LINE:   7\n no forcing\n------", "FATAL CALLED FROM a.f90 LINE:   7 no forcing"),
    ],
)
def test_a_message_goes_on_below_its_heading_and_where_a_line_begins_small(lines: str, whole: str) -> None:
    assert with_more(lines.partition("\n")[0], 3, Tail(lines.encode(), 3)) == whole
