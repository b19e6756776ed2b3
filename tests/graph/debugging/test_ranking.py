"""The order among candidates: the outlived, the remark and the verdict yield; folders and NaN."""

import json
from pathlib import Path

import pytest
import yaml

from graph.debugging.diagnosis import diagnose
from graph.debugging.ranking import WEIGHTS

RAISED = 'Traceback (most recent call last):\n  File "/scratch/a/train.py", line 9, in main\n    f()\n'
REMARK = "Checkpoint tracker file does not exist: /scratch/a/out/latest_checkpointed_iteration.txt\n"
BETWEEN = "".join(f"loading part {n} of the reward model\n" for n in range(14))


def test_a_remark_long_before_an_exception_of_the_program_is_not_its_cause() -> None:
    found = diagnose(REMARK + BETWEEN + RAISED + "NotImplementedError\n")
    assert found.cause == "user-code"
    assert found.considered[0].cause == "fw-checkpoint"


def test_a_time_limit_after_a_fault_is_told_as_what_followed() -> None:
    limit = "slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-11-21T10:00:00 DUE TO TIME LIMIT ***\n"
    found = diagnose(RAISED + "KeyError: 'loss'\n" + limit)
    assert found.cause == "user-code"
    assert limit.strip() in [each.evidence.text for each in found.considered if each.evidence]


@pytest.mark.parametrize("case", yaml.safe_load(Path("bench/ordering.yaml").read_text())[::4], ids=lambda c: c["cause"])
def test_short_logs_that_the_order_is_fitted_to(case: dict[str, str]) -> None:
    assert diagnose(case["log"]).cause == case["cause"]


def test_weights_are_readable_and_none_is_a_text_of_a_log() -> None:
    weights = json.loads(WEIGHTS.read_text())
    assert 20 < len(weights) < 60
    assert all(len(name) < 50 and isinstance(weight, float) for name, weight in weights.items())


@pytest.mark.parametrize(("module", "step"), [("utils.data", "PYTHONPATH"), ("einops", "pip install einops")])
def test_no_strangers_package_is_installed_for_a_folder_of_the_program(module: str, step: str) -> None:
    found = diagnose(RAISED + f"ModuleNotFoundError: No module named '{module}'\n")
    assert step in found.fix[0]
    assert ("pip install" in found.fix[0]) is (module == "einops")


def test_a_run_whose_gradient_is_no_number_is_not_going_well() -> None:
    def step(n: int, norm: str) -> str:
        return f"iteration {n:5}/ 900 | lm loss: 2.1 | grad norm: {norm} | skipped: 0\n"

    good, lost = "".join(step(n, "0.7") for n in range(9)), "".join(step(n, "nan") for n in range(9, 15))
    found = diagnose(good + lost)
    assert (found.cause, found.evidence[0].line) == ("user-numerics", 10)
    assert "checkpoint" in found.fix[0]
    assert diagnose(good + step(9, "nan") + step(10, "0.7")).cause == "no-failure"
