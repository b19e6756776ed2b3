"""What a traceback's last line says: the type, whether it did any harm, and whose it is."""

from __future__ import annotations

import pytest

from graph.debugging.diagnosis import diagnose

URLLIB = "/usr/lib/python3.11/urllib/request.py"


def traceback(*files: str, ends: str) -> str:
    frames = "".join(f'  File "{file}", line 9, in f\n    call()\n' for file in files)
    return f"Traceback (most recent call last):\n{frames}{ends}\n"


def test_a_host_that_a_download_cannot_resolve_is_no_master() -> None:
    ends = "socket.gaierror: [Errno -3] Temporary failure in name resolution"
    socket = "/usr/lib/python3.11/socket.py"
    assert diagnose(traceback("/home/ada/get.py", URLLIB, socket, ends=ends)).cause == "env-no-internet"
    assert diagnose(traceback("/home/ada/get.py", socket, ends=ends)).cause == "comm-rendezvous"


def test_what_python_fails_to_clean_up_at_an_exit_is_no_failure() -> None:
    ends = "OSError: [Errno 39] Directory not empty: '/tmp/pymp-ab12cd34'"
    noise = traceback("/usr/lib/python3.12/multiprocessing/util.py", "/usr/lib/python3.12/shutil.py", ends=ends)
    steps = ["Epoch 11/90 | train: 1.2 | val: 1.4\n", "Epoch 12/90 | train: 1.1 | val: 1.3\n"]
    assert diagnose(steps[0] + noise + steps[1]).cause == "no-failure"
    assert diagnose(steps[0] + noise + traceback("/home/ada/a.py", ends="KeyError: 'a'")).cause == "user-code"


NO_SPACE = "OSError: [Errno 28] No space left on device"
LOCK = "/opt/env/lib/python3.11/multiprocessing/synchronize.py"
LOADER = "/opt/env/lib/python3.11/site-packages/torch/utils/data/dataloader.py"


@pytest.mark.parametrize(
    ("log", "cause", "shared"),
    [
        (traceback("/home/ada/train.py", LOADER, LOCK, ends=NO_SPACE), "fw-dataloader", True),
        (traceback("/home/ada/train.py", LOCK, ends=NO_SPACE), "env-disk", True),
        ("unable to allocate shared memory(shm) for file </x_12>: No space left on device (28)\n", "env-disk", True),
        (traceback("/home/ada/train.py", ends=NO_SPACE), "env-disk", False),
    ],
)
def test_no_space_for_shared_memory_is_no_full_disk(log: str, cause: str, shared: bool) -> None:
    found = diagnose(log)
    assert found.cause == cause
    assert ("/dev/shm" in found.fix[0]) is shared


@pytest.mark.parametrize(
    ("file", "own"),
    [
        ("/home/ada/easybuild/fit.py", True),
        ("/scratch/ada/prologue/fit.py", True),
        ("/usr/share/ada/fit.py", True),
        ("/opt/apps/easybuild/hooks/node.py", False),
        ("/usr/local/prolog.d/node.py", False),
        ("/etc/slurm/check.py", False),
    ],
)
def test_a_script_round_the_job_lies_where_only_the_site_writes(file: str, own: bool) -> None:
    log = f"Traceback (most recent call last):\n  File \"{file}\", line 4, in <module>\n    f()\nKeyError: 'node'\n"
    assert (diagnose(log).cause == "user-code") is own


def test_a_rust_thread_with_its_number_panics_too() -> None:
    found = diagnose("thread 'main' (6112) panicked at src/read.rs:9:5:\nindex out of bounds: the len is 3\n")
    assert (found.cause, found.evidence[1].line) == ("user-code", 2)
    assert not found.sources  # none is the source of what another language prints
