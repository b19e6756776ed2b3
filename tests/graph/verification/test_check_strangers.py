"""What scripts of strangers do rightly, and what is said of what they do wrong: one finding for one defect."""

from __future__ import annotations

import pytest

from graph.verification.checks import check
from knowledge.types import Finding

HEAD = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:4\n#SBATCH --time=2:00:00\n"


def of(text: str, *severities: str) -> list[Finding]:
    return [one for one in check(text, None) if one.severity in (severities or ("error", "warning"))]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "export MASTER_ADDR=$(srun --ntasks=1 hostname 2>&1 | tail -n1)\nsrun python train.py\n",
        HEAD + "#SBATCH --mail-type=BEGIN,END,ABORT\nsrun python train.py\n",
        HEAD + "#SBATCH--output=%x-%j.log\nsrun python train.py\n",
        "#!/bin/bash\n#YBATCH -r dgx-a100_8\n#SBATCH --time=1:00:00\npython train.py\n",
        "#!/bin/bash\n#PBS --group=jh220009\n#PBS -q gpu\n#PBS -l elapstim_req=1:00:00\npython train.py\n",
        "#!/bin/bash\n#SBATCH --time=0-168:00:00\npython train.py\n",
        "#!/bin/bash\n#SBATCH --time=20:00:00   # temps d\u2019ex\u00e9cution\npython train.py\n",
        "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gres=gpu:1\nmpirun -n 6 python x.py\n#sbatch --dependency=a b.sh\n",
        HEAD + "NODE_RANK=$SLURM_NODEID\nsrun torchrun --nnodes=2 --nproc_per_node=4 --node_rank $NODE_RANK "
        "--rdzv_backend=c10d --rdzv_endpoint=$HOST:29500 train.py\n",
        HEAD + 'CMD="python t.py"\nLOG=l\necho start > $LOG\necho x >> $LOG\nsrun bash -c "X=\\$SLURM_PROCID $CMD"\n',
    ],
)  # fmt: skip
def test_what_the_scheduler_takes_is_no_error(text: str) -> None:
    assert of(text, "error") == []


def test_a_template_is_said_once() -> None:
    text = (
        "#!/bin/bash\n#SBATCH --nodes={{ nodes }}\n#SBATCH --time {{ time }}\n{% if gpu %}\n#SBATCH --gres=gpu:{{ n }}"
        "\n{% endif %}\nsrun -n {{ tasks }} python {{ script }}\n"
    )
    assert [(one.rule, one.line, one.severity) for one in of(text)] == [("script-template", 2, "warning")]


def test_placeholders_are_one_finding() -> None:
    text = "#!/bin/bash\n#SBATCH -A <account>\n#SBATCH --nodes=<N>\n#SBATCH -c <CPU NUMBER>\npython train.py\n"
    found = of(text)
    assert [one.rule for one in found] == ["directive-placeholder"]
    assert "lines 3, 4" in found[0].says


def test_a_fluxs_own_braces_are_no_template() -> None:
    text = "#!/bin/bash\n# flux: -N 2\n# flux: -t 60m\n# flux: --output=job-{{id}}.out\nflux run -N 2 -n 2 ./a.out\n"
    assert "script-template" not in {one.rule for one in of(text)}


def test_late_directives_are_one_finding_with_one_cure() -> None:
    text = "#!/bin/bash\nset -e\n#SBATCH --nodes=2\n#SBATCH --time=1:00:00\npython train.py\n"
    found = of(text)
    assert [one.rule for one in found] == ["directive-after-command"]
    assert "1 more (to line 4)" in found[0].says


@pytest.mark.parametrize("mark", ["#SBTACH", "#BATCH", "#SBATCG", "#DBATCH", "#SBAATCH"])
def test_a_mistyped_mark_is_found(mark: str) -> None:
    text = f"#!/bin/bash\n#SBATCH --nodes=2\n{mark} --time=1:00:00\nsrun python train.py\n"
    assert [one.rule for one in of(text, "error")] == ["directive-misspelt-mark"]


def test_ranks_of_mpi_may_share_a_gpu() -> None:
    text = "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gres=gpu:2\nmpirun -n 6 -npernode 6 python analyse.py\n"
    assert {one.severity for one in of(text)} == {"warning"}
    assert "error" in {one.severity for one in of(text.replace("mpirun", "export MASTER_ADDR=h\nmpirun"))}
