"""Files beside the script, and shellcheck's few codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.verification import shellcheck
from graph.verification.checks.side_files import missing_files

SCRIPT = "#!/bin/bash\n#SBATCH --nodes=1\nsrun python train.py --deepspeed --deepspeed_config ds.json\n"
ACCELERATE = "#!/bin/bash\naccelerate launch --config_file acc.yaml train.py\n"


def names(text: str, folder: Path) -> list[str]:
    return [one.says.split("'")[1] for one in missing_files(text, folder)]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert names(SCRIPT, tmp_path) == ["ds.json"]
    assert names(ACCELERATE, tmp_path) == ["acc.yaml"]
    assert names(SCRIPT.replace("config ds", "config=ds"), tmp_path) == ["ds.json"]


@pytest.mark.parametrize(
    ("edit", "severity"),
    [(("", ""), "info"), (("srun", 'cd "$SLURM_SUBMIT_DIR"\nsrun'), "warning"), (("conf/", ""), "warning")],
)
def test_of_a_copied_script_whole_folders_are_missing(tmp_path: Path, edit: tuple[str, str], severity: str) -> None:
    told = missing_files(SCRIPT.replace("config ds", "config conf/ds").replace(*edit, 1), tmp_path)
    assert [one.severity for one in told] == [severity]


def test_a_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "ds.json").write_text("{}")
    assert names(SCRIPT, tmp_path) == []


@pytest.mark.parametrize("before", ["cat > ds.json <<EOF\n{}\nEOF\n", "cd /work/run\n"])
def test_a_file_made_by_the_script_or_elsewhere(tmp_path: Path, before: str) -> None:
    assert names(SCRIPT.replace("srun", before + "srun"), tmp_path) == []


@pytest.mark.parametrize("name", ["$CONFIG", "/abs/ds.json", "ds_$SLURM_JOB_ID.json"])
def test_a_name_that_cannot_be_looked_up(tmp_path: Path, name: str) -> None:
    assert names(SCRIPT.replace("ds.json", name), tmp_path) == []


def test_shellcheck_in_our_words() -> None:
    if shellcheck.program() is None:
        pytest.skip("shellcheck is not installed")
    found = shellcheck.lint("#!/bin/bash\nx= 3\nsrun a\n  --nodes 2\nset x=1\necho $unset\n")
    assert [(one.rule, one.line) for one in found] == [
        ("shellcheck-1007", 2),
        ("shellcheck-2215", 4),
        ("shellcheck-2121", 5),
    ]


def test_no_shellcheck_no_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shellcheck, "program", lambda: None)
    assert shellcheck.lint("x= 3\n") == []
