"""What a line is before how strong it is: an advisory, a repetition, another exception's wrapping, or the error."""

from __future__ import annotations

import pytest

from graph.debugging.diagnosis import diagnose

STEPS = "\n".join(f"step {n} loss {9 / (n + 1):.3f}" for n in range(12))
FRAME = '[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File "{file}", line 3, in {name}\n'
ASSERTION = FRAME.format(rank=0, file="/scratch/a/train.py", name="f") + "[rank0]: AssertionError: odd sizes"


@pytest.mark.parametrize(
    "advice",
    [
        "/opt/x/norm.py:12: UserWarning: apex is not installed, please install it: No module named 'apex'",
        "To use the fast path please install apex: No module named 'apex'",
        "/etc/profile.d/site.sh: line 4: /opt/site/bin/motd: Permission denied",
        "WARNING:root:no accelerator was found: CUDA out of reach, no CUDA GPUs are available",
    ],
)
def test_an_advisory_does_not_outrank_the_exception(advice: str) -> None:
    assert diagnose(f"{advice}\nstarting\n{ASSERTION}\n").cause == "user-code"


def test_an_advisory_alone_is_mentioned_and_decides_nothing() -> None:
    found = diagnose("WARNING:root:ModuleNotFoundError: No module named 'apex', using native layer norm\nloading\n")
    assert found.cause in ("no-failure", "unknown") and found.confidence < 0.6


def test_an_exception_that_a_data_worker_passes_on_is_judged_itself() -> None:
    log = (
        'Traceback (most recent call last):\n  File "/scratch/a/train.py", line 9, in main\n'
        "IndexError: Caught IndexError in DataLoader worker process 0.\n"
        'Original Traceback (most recent call last):\n  File "/scratch/a/data.py", line 17, in __getitem__\n'
        "IndexError: list index out of range\n"
    )
    found = diagnose(log)
    assert found.cause == "user-code" and "out of range" in found.evidence[0].text


def test_a_variable_that_one_rank_lacks_was_not_handed_on() -> None:
    lacking = FRAME.format(rank=3, file="<frozen os>", name="__getitem__") + "[rank3]: KeyError: 'DATA_DIR'\n"
    other = (
        FRAME.format(rank=0, file="/scratch/a/train.py", name="f") + "[rank0]: RuntimeError: Connection closed by peer"
    )
    assert diagnose(lacking + other).cause == "env-not-propagated"
    assert diagnose(lacking).cause == "user-code"


def test_a_compiler_that_is_missing_explains_the_extension_that_was_not_built() -> None:
    log = (
        'Traceback (most recent call last):\n  File "/opt/x/torch/utils/cpp_extension.py", line 9, in _run\n'
        "RuntimeError: Error building extension 'fast': [1/2] g++-13 -c main.cpp\nFAILED: main.o\n"
        "/bin/sh: 1: g++-13: not found\nninja: build stopped: subcommand failed.\n"
    )
    assert diagnose(log).cause == "env-compiler"


def test_a_frame_in_a_library_of_the_network_is_no_network_where_the_words_are_others() -> None:
    frame = 'Traceback (most recent call last):\n  File "/x/site-packages/wandb/sdk/init.py", line 9, in start\n'
    assert diagnose(frame + "ValueError: the name of a run has 128 letters at most\n").cause != "env-no-internet"
    assert diagnose(frame + "RuntimeError: could not connect\n").cause == "env-no-internet"


def test_what_cannot_be_opened_while_saving_was_not_loaded() -> None:
    frame = 'Traceback (most recent call last):\n  File "/x/site-packages/torch/serialization.py", line 9, in {}\n'
    words = "RuntimeError: File /scratch/out/model.pt cannot be opened.\n"
    assert "written" in diagnose(frame.format("save") + words).says
    assert diagnose(frame.format("load") + words).cause in ("fw-checkpoint", "env-file-missing")


def test_a_message_goes_on_where_its_line_was_broken() -> None:
    log = "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Resource exhausted: Out\nof memory here\n"
    assert diagnose(f"{STEPS}\n{log}").cause == "gpu-oom"
