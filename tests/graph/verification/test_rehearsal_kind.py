"""Which framework and strategy a script stands for, and what the grid makes of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.extraction.script import read_script
from graph.verification.rehearsal.grid import scripts, side_files
from graph.verification.rehearsal.rehearsing import kind_of
from knowledge.errors import InputError
from knowledge.types import SideFile

ZERO2 = SideFile("ds.json", '{"zero_optimization": {"stage": 2}}')
FSDP = SideFile("a.yaml", "distributed_type: FSDP\n")


@pytest.mark.parametrize(
    ("line", "files", "kind"),
    [
        ("srun torchrun train.py", (), ("pytorch", "ddp")),
        ("srun torchrun train.py --use_fsdp", (), ("pytorch", "fsdp")),
        ("srun torchrun train.py --deepspeed ds.json", (ZERO2,), ("deepspeed", "zero2")),
        ("deepspeed --hostfile h train.py --deepspeed_config ds.json", (ZERO2,), ("deepspeed", "zero2")),
        ("srun torchrun train.py", (ZERO2, FSDP), ("pytorch", "ddp")),
        ("srun accelerate launch --config_file a.yaml train.py", (FSDP,), ("accelerate", "accelerate")),
        ("srun python train.py --trainer lightning", (), ("lightning", "ddp")),
        ("srun torchrun pretrain_gpt.py --tensor-model-parallel-size 4", (), ("megatron", "ddp")),
    ],
)
def test_what_a_script_stands_for(line: str, files: tuple[SideFile, ...], kind: tuple[str, str]) -> None:
    text = f"#!/bin/bash\n{line}\n"
    found = kind_of(read_script(text), text, files, None, None)
    assert (found.framework, found.strategy) == kind


def test_what_was_said_wins() -> None:
    text = "#!/bin/bash\nsrun torchrun train.py --use_fsdp\n"
    found = kind_of(read_script(text), text, (), "deepspeed", "zero3")
    assert (found.framework, found.strategy, found.tools) == ("deepspeed", "zero3", frozenset({"deepspeed"}))


def test_the_grid_takes_folders_that_bear_a_machines_name(tmp_path: Path) -> None:
    for folder in ("perlmutter", "nowhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.sh").write_text("#!/bin/bash\n")
    (tmp_path / "perlmutter" / "a.ds.json").write_text("{}")
    found = [(cluster.id, path.name) for cluster, path in scripts(tmp_path)]
    assert found == [("perlmutter", "a.sh")]
    assert side_files(tmp_path / "perlmutter" / "a.sh") == (SideFile("ds.json", "{}"),)


def test_a_folder_without_scripts_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no MACHINE"):
        list(scripts(tmp_path))
