"""The account of a port: every line of the old script is carried, replaced or named, and says why."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.extraction.script import read_script
from graph.extraction.shell_tree import parse
from graph.porting.account import AccountLine
from graph.porting.port import Ported, port
from knowledge.catalogue import catalogue
from knowledge.errors import InputError

ROOT = Path(__file__).parents[3]
DEV = ROOT.parent / "shared" / "cases" / "scripts-dev.jsonl"
HEAD = """#!/bin/bash
#SBATCH -A m0042_g
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -N 2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH -t 00:50:00
"""
LAUNCH = "srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$(hostname):29 t.py --lr 1\n"


def scripts() -> Iterator[tuple[str, str]]:
    golden = ROOT / "tests" / "golden"
    for path in sorted([*golden.glob("*/pytorch-ddp.sh"), *(ROOT / "tests" / "ports" / "sources").glob("*.sh")]):
        yield str(path.relative_to(ROOT)), path.read_text()
    if DEV.exists():
        for line in DEV.read_text().splitlines():
            case = json.loads(line)
            yield case["id"], case["script"]


def ported(text: str, machine: str = "frontier") -> Ported:
    target = catalogue().find(machine)
    assert target is not None
    made = port(text, target)
    assert isinstance(made, Ported)
    return made


def of_lines(text: str, machine: str = "frontier") -> dict[int, AccountLine]:
    return {line: one for one in ported(HEAD + text, machine).account for line in range(one.first - 8, one.last - 7)}


def code_lines(text: str) -> set[int]:
    """The lines that hold code: no comment, no blank line, not the last line of a block."""
    tree, comments = parse(text).root_node, set()
    left = [tree]
    while left:
        node = left.pop()
        comments |= {node.start_point[0] + 1} if node.type == "comment" else set()
        left += node.children
    ends = {"fi", "done", "}", ")", "esac", ";;", "else", "do", "then", "{", *re.findall(r"<<-?\s*['\"]?(\w+)", text)}
    return {
        number
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#") and line.strip(" \t;&") not in ends
    } - comments


@pytest.mark.parametrize(("name", "text"), list(scripts()), ids=[name for name, _ in scripts()])
def test_no_line_is_lost_in_silence(name: str, text: str) -> None:
    target = catalogue().find("polaris")
    assert target is not None
    try:
        made = port(text, target)
    except InputError:
        return
    if not isinstance(made, Ported):
        return
    told = {line for one in made.account for line in range(one.first, one.last + 1)}
    told |= {one.line for one in made.source.directives}
    if read_script(text).language == "bash" and not made.source.errors:
        assert code_lines(text) - told == set()
    assert all(one.why for one in made.account)


@pytest.mark.parametrize(("name", "text"), list(scripts()), ids=[name for name, _ in scripts()])
def test_what_stays_stands_as_it_stood(name: str, text: str) -> None:
    """To the letter where the scheduler is the same one."""
    target = catalogue().named("perlmutter")
    try:
        made = port(text, target)
    except InputError:
        return
    if not isinstance(made, Ported) or made.record.scheduler != "slurm" or read_script(text).language != "bash":
        return
    there = made.bundle.script
    rows = made.source.text.split("\n")
    for one in made.account:
        if one.fate == "carried" and one.why == "as it stood" and not re.search(r"SLURM_|\bexport \w*KEY", one.text):
            stood = "\n".join(rows[one.first - 1 : one.last]).strip()
            assert stood in there or one.text.removesuffix("…")[:40] in there, one


def test_steps_blocks_and_files_go_along() -> None:
    found = of_lines(
        'DATA=data\nif [ ! -d "$DATA" ]; then\n  mkdir -p "$DATA"\n  unzip -q data.zip -d "$DATA"\nfi\n'
        "for part in a b; do cp $part.bin $DATA; done\n[ -f w.pt ] || wget https://example.org/w.pt\n"
        "cat > extra.yaml <<EOF\nlr: 1\nEOF\nulimit -n 4096\n" + LAUNCH
    )
    assert {one.fate for one in found.values()} == {"carried"}


@pytest.mark.parametrize(
    "text",
    [
        "python serve.py &\n",
        "python prepare.py\n",
        "for s in 1 2; do\n  echo $s\n",
        "if [ -f x ]; then LR=1; else LR=2; fi\n",
        "SEEDS=(3 4)\nSEED=${SEEDS[$SLURM_ARRAY_TASK_ID]}\n",
        "step() {\n  cat last\n}\n",
        "export LR=${LR:-3e-4}\n",
        "cat > a.yaml <<EOF\nlr: 1\nEOF\n",
    ],
)
def test_what_stands_round_the_training_stays(text: str) -> None:
    end = "done\n" if text.startswith("for") else ""
    assert text in ported(HEAD + text + LAUNCH + end).bundle.script


def test_what_follows_the_launch_stays_with_it() -> None:
    launch = LAUNCH.rstrip() + " 2>&1 | tee train.log || echo failed\nrsync -a out/ far:\n"
    made = ported(HEAD + launch).bundle.script
    assert "t.py --lr 1 2>&1 | tee train.log || echo failed\nrsync -a out/ far:\n" in made


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LAUNCH.replace("torchrun", "numactl --membind=0 torchrun"), "numactl"),
        ('srun bash -c "module load x; cd y; python train.py --lr 1"\n', "each task ran it"),
        ('srun bash -c "python train.py --lr 1; touch done"\n', "`touch done`: each task ran it behind the program"),
        ("module load ffmpeg\n" + LAUNCH, "`module load ffmpeg`: left out"),
        ("export MPICH_ENV_DISPLAY=1\n" + LAUNCH, "`MPICH_ENV_DISPLAY`: left out"),
    ],
)
def test_what_goes_is_named(text: str, says: str) -> None:
    assert says in " ".join(note.says for note in ported(HEAD + text).notes)


def test_counts_of_the_old_launch_are_the_new_ones_where_they_are_used() -> None:
    text = "GPUS=4\nNODES=$SLURM_NNODES\nTOTAL=$((GPUS * NODES))\necho $TOTAL\n"
    made = ported(HEAD + text + LAUNCH).bundle.script
    assert "GPUS=$RANKS_PER_NODE\nNODES=$SLURM_NNODES\nTOTAL=$((GPUS * NODES))\n" in made


def test_arguments_handed_through_a_shell_stay() -> None:
    launch = 'srun bash -c \'RANK=$SLURM_PROCID python t.py "$@"\' t \\\n    --lr 1 \\\n    --out "$OUT"\n'
    made = ported(HEAD + "OUT=a\n" + launch).bundle.script
    assert 't.py --lr 1 \\\n    --out "$OUT"\n' in made


def test_a_launch_held_in_a_variable_is_found() -> None:
    made = ported(HEAD + 'BS=8\nCMD="srun python t.py --ddp --bs $BS > log"\necho hi\neval $CMD\n').bundle.script
    assert "t.py --ddp --bs 8 > log" in made and "eval" not in made


def test_a_key_is_not_copied() -> None:
    made = ported(HEAD + "export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz12345678\n" + LAUNCH)
    assert "hf_abc" not in made.bundle.script + str(made.account) + str(made.notes)


@pytest.mark.parametrize("text", ["wandb login {}\n", "curl -H 'Authorization: Bearer {}' x\n", "# wandb login {}\n"])
def test_a_key_in_any_line_is_asked_of_the_shell(text: str) -> None:
    key = "0123456789abcdef0123456789abcdef01234567"
    made = ported(HEAD + text.format(key) + LAUNCH.rstrip() + f" --hf_token hf_{key[:30]}Ab\n")
    assert key[:30] not in made.bundle.script + str(made.account) + str(made.notes) + str(made.plan)
    assert "--hf_token ${KEY_" in made.bundle.script
    assert subprocess.run(["bash", "-n"], input=made.bundle.script, text=True, check=False).returncode == 0


def test_a_file_that_is_read_may_set_a_place() -> None:
    line = "cp $STORE_OF_MINE/x .\n"
    assert "STORE_OF_MINE:?" in ported(HEAD + line + LAUNCH).bundle.script
    assert "STORE_OF_MINE:?" not in ported(HEAD + "source ./places.sh\n" + line + LAUNCH).bundle.script
    assert "STORE_OF_MINE:?" in ported(HEAD + "source v/bin/activate\n" + line + LAUNCH).bundle.script


@pytest.mark.parametrize(
    "text",
    [
        "load() {\n  module load x\n}\nload\n",
        "if [ -d v ]; then\n  source v/bin/activate\nelse\n  pip install torch\nfi\n",
        "if [ -d v ]; then module load x; else echo none; fi\n",
        "if [ -d v ]; then\n  module load x\nfi\n",
        "case $X in\n  a) module load x ;;\n  b) echo b ;;\nesac\n",
        "module load a; echo b; module load c\n",
    ],
)
def test_what_is_taken_out_leaves_a_shell_that_can_be_read(text: str) -> None:
    made = ported(HEAD + text + LAUNCH).bundle.script
    assert "load x" not in made and "v/bin" not in made
    done = subprocess.run(["bash", "-n"], input=made, text=True, capture_output=True, check=False)
    assert done.stderr == ""


def test_directives_below_the_first_command_go_to_the_top() -> None:
    lsf = "#!/bin/bash\nset -x\n#BSUB -nnodes 1\n#BSUB -W 60\njsrun -n 6 python t.py --ddp\n"
    made = ported(lsf).bundle.script
    assert made.index("#SBATCH") < made.index("set -x")


def test_a_program_that_starts_its_own_processes_is_told_of() -> None:
    made = ported(HEAD + LAUNCH.rstrip() + " --multiprocessing-distributed\n")
    assert "take it out" in " ".join(note.says for note in made.notes)


def test_a_place_that_nothing_sets_stops_the_script() -> None:
    made = ported(HEAD + "DATA=$SCRATCH/data\n" + LAUNCH.replace("--lr 1", "--data $DATA"))
    assert ': "${SCRATCH:?' in made.bundle.script
    assert "$SCRATCH: nothing sets it on Frontier" in " ".join(note.says for note in made.notes)


def test_threads_follow_the_new_cores() -> None:
    made = ported(HEAD + "export OMP_NUM_THREADS=32\n" + LAUNCH)
    assert "export OMP_NUM_THREADS=8" in made.bundle.script


ALONE = """#!/bin/bash
#SBATCH -A m0042_g
#SBATCH -C gpu
#SBATCH -N 1
#SBATCH --ntasks=1
#SBATCH --gpus-per-node=4
#SBATCH -t 00:50:00
NUM_GPUS=4
echo $NUM_GPUS
srun python train.py --lr 1
"""


def test_a_program_that_is_started_once_stays_one_process() -> None:
    made = ported(ALONE, "polaris")
    assert made.plan.alone and "NUM_GPUS=4\necho $NUM_GPUS\n" in made.bundle.script
    assert "$NNODES" not in made.bundle.script and "mpiexec -n 1 " in made.bundle.script
    assert not ported(ALONE.replace("--ntasks=1", "--ntasks=4"), "polaris").plan.alone
    either = "if [ $NUM_GPUS -gt 1 ]; then torchrun --nproc_per_node=4 train.py; else python train.py; fi\n"
    assert not ported(ALONE.replace("srun python train.py --lr 1\n", either), "polaris").plan.alone


def test_an_array_goes_to_another_scheduler_with_its_index() -> None:
    made = ported(HEAD + "#SBATCH --array=1-3%2\nI=$((SLURM_ARRAY_TASK_ID - 1))\n" + LAUNCH, "polaris").bundle.script
    assert "#PBS -J 1-3%2\n" in made and "I=$((PBS_ARRAY_INDEX - 1))\n" in made
    lsf = "#!/bin/bash\n#BSUB -J run[1-4]\n#BSUB -nnodes 1\n#BSUB -W 60\necho $LSB_JOBINDEX\n"
    lsf += "jsrun -n 6 python t.py --ddp\n"
    made = ported(lsf).bundle.script
    assert (
        "#SBATCH --array=1-4\n" in made and "#SBATCH --job-name=run\n" in made and "echo $SLURM_ARRAY_TASK_ID" in made
    )
