"""Several runs in one file, one after another: the last one counts."""

from __future__ import annotations

import pytest

from graph.debugging.diagnosis import diagnose
from knowledge.types import Diagnosis

LSF = "Sender: LSF System <lsfadmin@host>\nSubject: Job 4711: <a1> in cluster <c> Exited\nExited with exit code 1.\n"
ABOVE, FOLLOWS = "The output (if any) is above this job summary.\n", "The output (if any) follows:\n"


def missing(name: str) -> str:
    return (
        'Traceback (most recent call last):\n  File "/home/ada/main.py", line 4, in <module>\n    mkdir(folder)\n'
        f"FileNotFoundError: [Errno 2] No such file or directory: '{name}'\n"
    )


def key_error(name: str) -> str:
    return f'Traceback (most recent call last):\n  File "/home/ada/main.py", line 7, in <module>\nKeyError: "{name}"\n'


def told(found: Diagnosis) -> tuple[str, int]:
    return found.cause, found.evidence[0].line


def test_lsf_writes_its_report_below_the_output() -> None:
    first = missing("out/a1/") + f"\n{'-' * 60}\n{LSF}{ABOVE}"
    assert told(diagnose(first + missing("out/b2/") + LSF + ABOVE))[0] == "env-file-missing"
    assert told(diagnose(first + key_error("b2") + LSF + ABOVE)) == ("user-code", 13)


def test_in_a_mail_lsf_writes_its_report_above_the_output() -> None:
    found = diagnose(LSF + FOLLOWS + missing("out/a1/") + LSF + FOLLOWS + key_error("b2"))
    assert told(found) == ("user-code", 15)


@pytest.mark.parametrize(
    "line",
    [
        "training loss is: 0.3{n}",
        "Display results at (epoch {n}, total_steps 64{n})",
        'INFO:     10.0.0.4:50{n} - "POST /act HTTP/1.1" 200 OK',
    ],
)
def test_hours_of_headway_overcome_what_an_earlier_start_met(line: str) -> None:
    hours = "\n".join(line.replace("{n}", str(n)) for n in range(100, 400))
    assert diagnose(f"{missing('weights')}starting again\n{hours}\n").cause == "no-failure"


def test_an_answer_that_failed_is_no_headway() -> None:
    refused = '10.0.0.4:50 - "POST /act HTTP/1.1" 500 Internal Server Error\n'
    assert diagnose(missing("weights") + refused * 300).cause == "env-file-missing"


def test_done_is_said_of_what_was_survived_and_of_nothing_else() -> None:
    went_on = "".join(f"step {n} loss 0.{n}\n" for n in range(10, 30))
    end = "=" * 40 + "\n DONE\n" + "=" * 40 + "\n"
    assert diagnose(key_error("a") + went_on + end).cause == "no-failure"
    assert diagnose(went_on + key_error("a") + end).cause == "user-code"
