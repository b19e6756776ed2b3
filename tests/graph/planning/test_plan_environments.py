"""What a script enters before its program."""

from __future__ import annotations

import pytest

from graph.planning.extras import in_words_of
from graph.planning.plan import plan
from graph.planning.request_fields import array_of
from knowledge.catalogue import catalogue
from knowledge.errors import InputError
from knowledge.types import JobRequest, LaunchPlan


def test_conda_is_set_up_by_the_persons_own_file_before_it_is_used() -> None:
    request = JobRequest(
        machine="lonestar6",
        framework="pytorch",
        strategy="none",
        nodes=1,
        account="X",
        environment="esm",
        environment_kind="conda",
        source_files=("/work/me/miniconda3/etc/profile.d/conda.sh", "vars.sh"),
    )
    made = plan(request, catalogue().clusters["lonestar6"])
    assert isinstance(made, LaunchPlan)
    lines = [*made.setup, *made.user_setup]
    assert lines.index("source /work/me/miniconda3/etc/profile.d/conda.sh") < lines.index('conda activate "$VENV"')
    assert "source vars.sh" in made.user_setup and not any("shell.bash hook" in line for line in lines)
    assert not any("Which module brings conda" in note for note in made.notes)


@pytest.mark.parametrize(
    ("scheduler", "output", "written"),
    [
        ("slurm", "logs/%x-%j.out", "logs/%x-%j.out"),
        ("pbs", "/p/logs/%x-%j.out", "/p/logs/"),
        ("pbs", "%x-%j.out", "./"),
        ("lsf", "logs/%x-%A_%a.out", "logs/train-%J_%I.out"),
        ("flux", "logs/%x-%A_%a.out", "logs/{{name}}-{{id}}.out"),
        ("flux", "plain.out", "plain.out"),
    ],
)
def test_marks_of_an_output_are_the_schedulers_own(scheduler: str, output: str, written: str) -> None:
    assert in_words_of(scheduler, output, "train") == written


def test_a_range_is_counted() -> None:
    array = array_of(["fold=01-10"])
    assert array is not None and array.axes[0].values[:2] == ("01", "02") and len(array.axes[0].values) == 10
    with pytest.raises(InputError, match="range"):
        array_of(["seed=5-1"])
