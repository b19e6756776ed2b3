"""A person's own script is changed in its own forms, wherever the options stand."""

from __future__ import annotations

import re
import subprocess

import pytest

from graph.conversing.orders import parts_of
from graph.planning.request_fields import with_fields
from graph.usecases.edit_script import Edited, take_out
from graph.usecases.own_fields import put_field
from graph.usecases.own_removals import take_field_out
from graph.usecases.own_signals import with_handler
from knowledge.catalogue import catalogue
from knowledge.errors import InputError
from knowledge.job_parts import LimitSignal
from knowledge.types import JobRequest

HEAD = "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --compile-like=no\n"


def put(text: str, *fields: str, machine: str = "") -> Edited:
    """The script with these fields, one after the other."""
    wanted, now = with_fields(JobRequest(), fields), Edited(text, ())
    for name in dict.fromkeys(one.partition("=")[0] for one in fields):
        now = put_field(now, name, wanted, catalogue().clusters.get(machine), "own.sh")
    return now


@pytest.mark.parametrize("last", ["--steps 50", "--steps=50", "--steps $(wc -l <n)"])
def test_the_last_argument_of_a_list_is_changed_within_it(last: str) -> None:
    text = f'PROGRAM=(t.py --lr 3 {last})\nsrun -N 1 python "${{PROGRAM[@]}}"\n'
    now = put(f"#!/bin/bash\n#SBATCH -N 1\n{text}", "argument_edits=--steps=20").text
    assert re.search(r"PROGRAM=\(t.py --lr 3 --steps[ =]20\)\n", now)


RUN = "srun -N 1 --exact python train.py"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f'ARGS="--amp --lr 3e-4 --tf32"\nNAME="x"\n{RUN} $ARGS\n', f'ARGS="--lr 3e-4"\nNAME="x"\n{RUN} $ARGS\n'),
        (
            f'ARGS=(\n  --amp\n--tf32\n  --lr 3e-4\n)\n{RUN} "${{ARGS[@]}}"\n',
            f'ARGS=(\n  --lr 3e-4\n)\n{RUN} "${{ARGS[@]}}"\n',
        ),
        (f'ARGS=( --tf32 --amp )\n{RUN} "${{ARGS[@]}}"\n', f'ARGS=( )\n{RUN} "${{ARGS[@]}}"\n'),
        ("python a.py \\\n  --amp \\\n  --lr 3e-4 --tf32\n", "python a.py \\\n  --lr 3e-4\n"),
        ("# --amp\npython a.py --amp --tf32 | tee log\n", "# --amp\npython a.py | tee log\n"),
        ("python a.py --lr 3 \\\n  --amp \\\n  --tf32\necho done\n", "python a.py --lr 3\necho done\n"),
        ("python a.py --tf32 --amp 2>&1 | tee log\n", "python a.py 2>&1 | tee log\n"),
        ('python a.py --tf32 --amp "$@"\n', 'python a.py "$@"\n'),
        ("srun bash -c 'python a.py --amp --tf32 --lr 3'\n", "srun bash -c 'python a.py --lr 3'\n"),
    ],
)
def test_flags_go_out_of_where_they_stand(before: str, after: str) -> None:
    assert take_out(take_out(Edited(HEAD + before, ()), "--amp"), "--tf32").text == HEAD + after


@pytest.mark.parametrize(
    "elsewhere",
    [
        'echo "with --amp this time"',
        "cat > note.txt << END\n  --amp\nEND",
        'NOTE="--amp"\necho "$NOTE"',
        "# with --amp",
        "python tokenize_data.py --amp",
    ],
)
def test_a_flag_goes_out_of_the_launch_alone(elsewhere: str) -> None:
    text = f"{HEAD}{elsewhere}\n{RUN} --lr 3"
    assert take_out(Edited(f"{text} --amp\n", ()), "--amp").text == f"{text}\n"


def test_several_options_given_at_once_all_go() -> None:
    now = take_field_out(Edited(f"{HEAD}{RUN} --lr 3 --amp --bs 4\n", ()), "args", "--lr 3 --amp", "own.sh")
    assert now.text == f"{HEAD}{RUN} --bs 4\n"


def test_an_option_that_the_program_does_not_get_is_told() -> None:
    text = f'{HEAD}echo "no --amp"\n{RUN} --lr 3\n'
    for name in ("--amp", "--exact"):
        assert take_out(Edited(text, ()), name).text == text
        with pytest.raises(InputError, match="no program that the script starts is seen to get"):
            take_field_out(Edited(text, ()), "args", name, "own.sh")


@pytest.mark.parametrize(
    ("before", "order", "after"),
    [
        (f"echo --lr 3\n{RUN} --lr 3\n", "--lr=4", f"echo --lr 3\n{RUN} --lr 4\n"),
        (f"echo --lr 3\n{RUN}\n", "--lr=4", f"echo --lr 3\n{RUN} --lr 4\n"),
        (f"cat << E\n--lr 3\nE\n{RUN} --lr 3\n", "--lr=4", f"cat << E\n--lr 3\nE\n{RUN} --lr 4\n"),
        ("srun --mem 4 python train.py --mem 8\n", "--mem=9", "srun --mem 4 python train.py --mem 9\n"),
        (f"python prep.py --seed 1\n{RUN} --seed 1\n", "--seed=2", f"python prep.py --seed 1\n{RUN} --seed 2\n"),
        (f"# --amp\n{RUN} # no --amp\n", "--amp", f"# --amp\n{RUN} --amp # no --amp\n"),
        ("srun torchrun --nproc-per-node 4 a.py\n", "--nproc-per-node=8", "srun torchrun --nproc-per-node 8 a.py\n"),
        (f'A="--lr 3"\n{RUN} $A\n', "--lr=4", f'A="--lr 3"\n{RUN} $A --lr 4\n'),
    ],
)
def test_an_option_is_set_where_the_launch_has_it(before: str, order: str, after: str) -> None:
    assert put(HEAD + before, f"argument_edits={order}").text == HEAD + after


def test_an_option_without_a_sure_place_is_refused() -> None:
    for launch in (f'{RUN} --name "run #1"\n', 'S="--mem 4"\nsrun $S python train.py --name "a > b"\n'):
        with pytest.raises(InputError, match="patch"):
            put(HEAD + launch, "argument_edits=--mem=9")


def test_a_value_goes_with_its_option_in_quotes_too() -> None:
    text = f'ARGS="--bs 4 --lr 3e-4"\nOTHER="--lr 7"\n{RUN} $ARGS\n'
    assert take_out(Edited(text, ()), "--lr").text == f'ARGS="--bs 4"\nOTHER="--lr 7"\n{RUN} $ARGS\n'


@pytest.mark.parametrize(
    ("given", "edits"),
    [
        ("!--amp --lr 3e-4", "remove --amp, set --lr 3e-4"),
        ("!--amp !--tf32", "remove --amp, remove --tf32"),
        ("--lr 3e-4, !--amp", "set --lr 3e-4, remove --amp"),
        ("!--amp --tf32", "remove --amp, set --tf32"),
    ],
)
def test_each_flag_says_by_itself_whether_it_goes(given: str, edits: str) -> None:
    one_text = with_fields(JobRequest(), [f"argument_edits={given}"]).argument_edits
    parts = with_fields(JobRequest(), [f"argument_edits={one}" for one in parts_of("argument_edits", given)])
    told = ", ".join(f"{one.kind} {one.name} {one.value or ''}".strip() for one in one_text)
    assert told == edits and parts.argument_edits == one_text


FLUX = "#!/bin/bash\n#flux: -N 2\n#flux: --job-name=old\n#flux: -t 2h\n\nflux run -N 2 -n 8 python a.py\n"


def test_a_flux_script_keeps_its_own_mark_and_one_name() -> None:
    now = put(FLUX, "job_name=new", "output=out.txt", "processes_per_node=4")
    assert "#flux: --job-name=new\n" in now.text and now.text.count("job-name") == 1
    assert "#flux: --output=out.txt\n" in now.text and "# flux:" not in now.text
    assert take_field_out(put(FLUX, "output=out.txt"), "output", "", "own.sh").text == FLUX
    spaced = put(FLUX.replace("#flux:", "# flux:"), "output=out.txt")
    assert "# flux: --output=out.txt\n" in spaced.text and "#flux:" not in spaced.text


def test_an_option_beside_others_in_its_line_leaves_them() -> None:
    text = "#!/bin/bash\n#SBATCH --job-name=old --output=o.txt -t 1:00:00\nsrun -n 2 python a.py\n"
    assert "#SBATCH --job-name=new --output=o.txt -t 1:00:00\n" in put(text, "job_name=new").text
    short = text.replace("--job-name=old", "-J old")
    assert "#SBATCH --job-name=new --output=o.txt -t 1:00:00\n" in put(short, "job_name=new").text


def test_what_opens_a_hierarchy_goes_before_the_modules_of_an_own_script() -> None:
    text = "#!/bin/bash\n#SBATCH -N 1\nmodule purge\nmodule load GCC OpenMPI\nsrun python a.py\n"
    assert "module purge\nmodule load Stages/2026\nmodule load GCC OpenMPI\n" in put(text, "modules=Stages/2026").text
    old = text.replace("load GCC", "load Stages/2024 GCC")
    assert "module load Stages/2026 GCC OpenMPI\n" in put(old, "modules=Stages/2026").text
    assert "module load GCC OpenMPI\nmodule load HDF5\n" in put(text, "modules=HDF5").text


PLAIN = "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -t 04:00:00\n\nsrun -n 8 python run.py --bs 4 > log.txt\necho done\n"
RANKS = PLAIN.replace("python run.py", "torchrun --nnodes 2 run.py")


@pytest.mark.parametrize("text", [PLAIN, RANKS])
@pytest.mark.parametrize("order", [("requeue=yes", "signal=USR1@2min"), ("signal=USR1@120", "requeue=yes")])
def test_a_job_that_is_put_back_hears_its_signal(text: str, order: tuple[str, str]) -> None:
    now = put(text, *order)
    for line in ("#SBATCH --requeue", "#SBATCH --signal=B:USR1@120", "#SBATCH --open-mode=append", "trap warn USR1"):
        assert now.text.count(f"{line}\n") == 1, line
    assert "scontrol requeue" in now.text and now.text.index("put_back() {") < now.text.index("srun -n 8")
    assert "> log.txt &\nLAUNCHED=$!" in now.text and now.text.endswith('(exit "$STATUS")\necho done\n')
    assert ('trap "tell $!" USR1' in now.text) == (text == RANKS)
    assert subprocess.run(["bash", "-n"], input=now.text, text=True, capture_output=True).stderr == ""
    alone = take_field_out(now, "requeue", "", "own.sh")
    assert "scontrol requeue" not in alone.text and "trap warn USR1" in alone.text
    assert take_field_out(alone, "signal", "", "own.sh").text == text


def test_a_signal_of_torchrun_is_handed_on_and_another_lead_time_is_kept() -> None:
    now = put(RANKS, "signal=B:USR1@120", "requeue=yes")
    later = put(now.text, "signal=USR1@600")
    assert "--signal=B:USR1@600" in later.text and "(sleep 570; put_back)" in later.text


@pytest.mark.parametrize("remark", ["", "  # the second try", " # \u00fcbermorgen \u2014 \u7ec3"])
def test_what_stands_behind_a_launch_or_above_it_in_other_letters_is_no_hindrance(remark: str) -> None:
    text = PLAIN.replace("> log.txt", f"> log.txt{remark}").replace("\n\nsrun", "\necho \u7ec3 \u2014\nsrun")
    now = put(text, "signal=USR1@120", "requeue=yes")
    assert f"--bs 4 > log.txt &{remark}\nLAUNCHED=$!" in now.text
    assert take_field_out(take_field_out(now, "requeue", "", "own.sh"), "signal", "", "own.sh").text == text
    assert "> log.txt &\nLAUNCHED=$!" in put(PLAIN.replace("log.txt", "log.txt  "), "signal=USR1@9", "requeue=yes").text


@pytest.mark.parametrize(
    ("launch", "why"),
    [
        ("time srun -n 8 python train.py", "no plain `srun PROGRAM`"),
        ("srun -n 8 time python train.py", "no plain `srun PROGRAM`"),
        ("srun python train.py\nsrun python evaluate.py", "`srun python evaluate.py` stands behind it"),
    ],
)
def test_a_launch_that_would_be_wrapped_wrongly_is_refused_with_what_was_asked(launch: str, why: str) -> None:
    text = PLAIN.replace("srun -n 8 python run.py --bs 4 > log.txt", launch)
    for asked in (text, text.replace("#SBATCH -N 2", "#SBATCH -N 2\n#SBATCH --requeue")):
        with pytest.raises(InputError) as refused:
            with_handler(Edited(asked, ()), LimitSignal("USR2", 120))
        assert why in str(refused.value) and "trap 'kill -USR2 $PID' USR2" in str(refused.value)
        assert ("requeue" in str(refused.value)) is (asked is not text)
    if "-n 8 time" not in launch:
        assert "LAUNCHED" not in put(text, "requeue=yes", "signal=USR2@120").text


def test_steps_that_are_only_timed_hear_a_signal() -> None:
    timed = PLAIN.replace("srun -n 8", "time srun -n 8")
    assert "#SBATCH --signal=USR2@120\n" in put(timed, "signal=USR2@120").text


def test_a_launch_that_nobody_knows_is_told_of() -> None:
    text = PLAIN.replace(
        "srun -n 8 python run.py --bs 4 > log.txt", "for i in 1 2; do srun python run.py | tee l; done"
    )
    now = put(text, "signal=USR1@120", "requeue=yes")
    assert "trap" not in now.text and any("not put back at its limit" in one for one in now.says)
    with pytest.raises(InputError, match="patch"):
        put(RANKS.replace("srun -n 8 torchrun", "bash -c 'srun torchrun").replace(" > log.txt", "'"), "signal=USR1@120")
    assert any("time limit" in one for one in put(PLAIN, "requeue=yes").says)
