"""The shell reader: variables followed, branches decided, text in other shells read, what is open named as such."""

from __future__ import annotations

import pytest

from graph.extraction.script import ReadScript, read_script
from graph.extraction.shell_words import plain, to_shell
from knowledge.errors import InputError


def launch(text: str) -> str:
    """The training program and its arguments as one line."""
    program = read_script(text).program
    assert program is not None
    return " ".join(to_shell(one) for one in (program.entry, *program.args))


def program_name(script: ReadScript) -> str:
    assert script.program is not None
    return plain(script.program.entry)


def names(script: ReadScript) -> list[str]:
    return [layer.name for layer in script.layers]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LR=0.1\npython a.py --lr $LR", "a.py --lr 0.1"),
        ("python a.py --n ${N:-4} --m ${M:=5} --again $M", "a.py --n 4 --m 5 --again 5"),
        ("A=6\nB=$((A * 7))\npython a.py --b $B", "a.py --b 42"),
        ('A=$\'a\\tb\'\npython a.py "$A" x\\ y "q\\"r"', "a.py 'a\tb' 'x y' 'q\"r'"),
        ('export A="--x=(1)" B=2\npython a.py $A $B', "a.py '--x=(1)' 2"),
        ("O='--x 1'\nO+=' --y 2'\npython a.py $O", "a.py --x 1 --y 2"),
        ('L=(--x "a b")\nL+=(--z)\npython a.py "${L[@]}"', "a.py --x 'a b' --z"),
        ("declare -A T=([big]=--deep [small]=--flat)\nM=big\npython a.py ${T[$M]}", "a.py --deep"),
        ("F=run_v2.json\npython a.py ${F%.json} ${F#run_} ${F/v2/v3}", "a.py run_v2 v2.json run_v3.json"),
        ("X=$(cat <<EOF\n--one\nEOF\n)\npython a.py $X", "a.py --one"),
        ("D=$SCRATCH/data\npython a.py --d $D", "a.py --d $SCRATCH/data"),
        ("T=$(date +%F)\npython a.py --t $T", "a.py --t $T"),
        ('python a.py "$@"', 'a.py "$@"'),
        ("f() { python a.py --n $1 ; }\nf 3", "a.py --n 3"),
        ("for i in 5; do python a.py --i $i; done", "a.py --i 5"),
        ("for i in 5 6; do python a.py --i $i; done", "a.py --i $i"),
        ("if [ -z $D ]; then D=/tmp; fi\npython a.py $D", "a.py /tmp"),
        ("if [[ ${K:-a} == b ]]; then S=one; else S=two; fi\npython a.py $S", "a.py two"),
        ("M=x\ncase $M in y) S=1 ;; x|z) S=2 ;; esac\npython a.py $S", "a.py 2"),
        ("while [ $# -gt 0 ]; do case $1 in -n) N=9; shift;; esac; done\npython a.py --n ${N}", "a.py --n ${N}"),
        ("bash -c 'python a.py \"$@\"' _ --x 1", "a.py --x 1"),
        ("C='python a.py --x'\neval $C", "a.py --x"),
        ("cat > go.sh <<'EOF'\npython a.py --h $HOST_ID\nEOF\nbash go.sh", "a.py --h $HOST_ID"),
        ("read -r -d '' C <<EOF\npython a.py --x\nEOF\n$C", "a.py --x"),
        ('C="python ${D}/a.py $@ ${E}"\neval ${C}', "${D}/a.py $@ ${E}"),
        ("python a.py --x \\ \n  --y", "a.py --x --y"),
        ("W=$PWD/w-$ID.sh\n{\n  echo '#!/bin/bash'\n  cat <<'EOF'\npython a.py --x\nEOF\n} > $W\nbash $W", "a.py --x"),
        ('sbatch -N 2 --wrap="python a.py --x"', "a.py --x"),
        ("ssh node1 'cd /x && python a.py'", "a.py"),
        ("python a.py --x > log 2>&1 | tee out &", "a.py --x"),
    ],
)
def test_variables_are_followed(text: str, expected: str) -> None:
    assert launch(text) == expected


def test_a_decided_branch_hides_the_other_one() -> None:
    script = read_script("MODE=fast\nif [ $MODE = slow ]; then python slow_train.py; else python fast_train.py; fi\n")
    assert [c.chain.program.args for c in script.commands if c.chain.program] == [()]
    assert program_name(script) == "fast_train.py"


def test_an_unset_number_counts_as_zero() -> None:
    script = read_script("I=a.sif\nif [[ $NEW -eq 1 ]]; then I=b.sif; fi\napptainer run $I python fit.py\n")
    assert plain(script.layers[0].operand or ()) == "a.sif"


def test_lines_of_nested_text_are_lines_of_the_file() -> None:
    script = read_script("#!/bin/bash\n\nsrun bash -c '\n  cd /x\n  python a.py\n'\n")
    assert script.training is not None
    assert script.training.line == 5
    assert script.training.inside == ("bash -c",)


@pytest.mark.parametrize(
    ("command", "chain"),
    [
        ("srun apptainer exec --nv x.sif torchrun --nproc-per-node 4 a.py", ["srun", "apptainer", "torchrun"]),
        ("python -m torch.distributed.run --standalone -m pkg.a", ["torchrun"]),
        ("python3 -u -m torch.distributed.launch --use_env --nproc_per_nod 2 a.py", ["torchrun"]),
        ("python `which torchrun` --nnodes 1 a.py", ["torchrun"]),
        ("mpiexec -n 8 --ppn 4 -genv A 1 ./pin.sh python a.py", ["mpiexec", "wrapper"]),
        ("mpirun -mca btl ^openib -x PATH -np 4 python -m mpi4py a.py", ["mpirun"]),
        ("jsrun -n4 -r1 -g6 -a6 -bpacked:7 python a.py", ["jsrun"]),
        ("ibrun python a.py", ["ibrun"]),
        ("flux run -N2 -n8 -g1 -o mpibind=off python a.py", ["flux"]),
        ("docker run --rm --gpus all -v /a:/b img:1 accelerate launch --multi_gpu a.py", ["docker", "accelerate"]),
        ("nohup env A=1 B=2 deepspeed --include localhost:0,1 a.py", ["wrapper", "env", "deepspeed"]),
        ("srun $OPTIONS python a.py", ["srun"]),
        ("timeout -k 5 1h numactl -N 0 python a.py", ["timeout", "numactl"]),
        ("shifter --image=x:1 python a.py", ["shifter"]),
    ],
)
def test_launch_chains(command: str, chain: list[str]) -> None:
    script = read_script(command)
    assert names(script) == chain
    assert program_name(script) in ("a.py", "pkg.a")


def test_the_training_step_among_others() -> None:
    script = read_script(
        "srun hostname\npython -c 'import torch'\nsrun -N1 -n1 python prepare_data.py\n"
        "srun torchrun --nproc_per_node 4 train.py --x\nsrun python evaluate.py\n"
    )
    assert program_name(script) == "train.py"


def test_helpers_and_dead_lines_are_not_the_training_step() -> None:
    assert read_script("#python old_train.py\nmodule load x\necho python no.py\n").training is None


def test_what_only_the_run_tells_is_named() -> None:
    script = read_script('J=$(pick_job)\npython a.py --j $J "$@"\n')
    assert script.unresolved == ("$J", "$@")


def test_a_job_inside_a_heredoc_takes_the_outer_variables() -> None:
    script = read_script(
        "N=3\nsbatch <<EOF\n#!/bin/bash\n#SBATCH --nodes=$N\nsrun python a.py --j \\$SLURM_JOB_ID\nEOF\n"
    )
    assert script.active["nodes"].value == "3"
    assert script.active["nodes"].line == 4
    assert program_name(script) == "a.py"


def test_a_sourced_file_is_read_where_the_script_writes_it() -> None:
    text = "source env.sh\npython a.py $EXTRA\n"
    assert read_script(text).unresolved == ("$EXTRA",)
    program = read_script(f"cat > env.sh <<'EOF'\nEXTRA=--deep\nEOF\n{text}").program
    assert program is not None
    assert [to_shell(a) for a in program.args] == ["--deep"]


def test_modules_with_their_lines() -> None:
    script = read_script("module purge\nmodule load gcc cuda/12\nml openmpi\nml use /x\n")
    assert script.modules == ((2, "gcc"), (2, "cuda/12"), (3, "openmpi"))


@pytest.mark.parametrize(
    ("shell", "text"),
    [
        (
            "csh",
            "#!/bin/tcsh\nset n = 4\nsetenv A b\nforeach x (1 2)\n  echo $x\nend\nmpirun -np $n python a.py --k $A\n",
        ),
        (
            "fish",
            "#!/usr/bin/env fish\nset n 4\nset -x A b\nfor x in 1 2\necho $x\nend\nmpirun -np $n python a.py --k $A\n",
        ),
        ("batch", "@echo off\nset A=b\nrem note\npython a.py --k %A%\n"),
    ],
)
def test_other_shells_are_read_too(shell: str, text: str) -> None:
    assert read_script(text).language == shell
    assert launch(text) == "a.py --k b"


def test_a_syntax_error_is_named_and_the_rest_read() -> None:
    script = read_script("if [ -z $A ]; then\n  A=1\nsrun python a.py $A\n")
    assert script.errors
    assert program_name(script) == "a.py"


@pytest.mark.parametrize("text", ["", "\n  \n", "\x7fELF\x00\x01\x02", "\x00" * 50])
def test_what_is_no_script_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as error:
        read_script(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "if true; then\n" * 400 + "fi\n" * 400,
        "A=x\n" + "A=$A$A\n" * 60 + "python a.py $A\n",
        "echo " + "$(" * 3000,
        "X=${A[" + "$((x))" * 60 + "\npython a.py\n",
        "f() { g; g; }\ng() { f; f; h; h; }\nh() { srun python a.py; }\n" + "f\n" * 500,
        "x=$((2**64**64**64))\n",
        "(" * 3000,
    ],
)
def test_hostile_text_ends(text: str) -> None:
    assert read_script(text).text == text


def test_a_script_that_prints_a_script() -> None:
    script = read_script("cat <<'EOF'\n#!/bin/bash\n#SBATCH -N 4\nsrun python a.py\nEOF\n")
    assert script.active["nodes"].value == "4"
    assert program_name(script) == "a.py"


@pytest.mark.parametrize(
    "text",
    [
        "cat > run.sh <<EOF\npython fit.py |& tee \\$RANK.log\n  \nEOF\nsrun bash run.sh\n",
        "cat > run.sh <<'EOF'\n$(hostname) x\npython fit.py\nEOF\nsrun bash run.sh\n",
        "while [ $i -le 5 ]\ndo\n  while [ $g -le 64 ]\n  do\n    srun python fit.py ${a} >> ./res/${g}.txt\n"
        "    g=`expr $g \\* 4`\n"
        "  done\ndone\n\nwhile [ $i -le 5 ]\ndo\n  while [ $g -le 64 ]\n  do\n    g=`expr $g \\* 4`\n  done\ndone\n",
        "DATA=<WHERE IT IS> (e.g., /data)\nMORE=<AND> \\\n   (e.g., /more)\nsrun python fit.py\n",
        "srun python fit.py \\\n  --lr 1 \\\n",
        "srun python fit.py \\\n  --lr 1 \\",
        "CMD=\"srun bash -c 'python fit.py $X'\"\nCMD=\"${CMD%\\'} --lr 1'\"\neval $CMD\n",
        "DATA=<a path (e.g. /data)>\nsrun python fit.py\n",
    ],
)
def test_what_the_grammar_stumbles_over_is_read(text: str) -> None:
    script = read_script("#!/bin/bash\n" + text)
    assert [layer.name for layer in script.layers][:1] == ["srun"]
    assert script.program is not None and plain(script.program.entry) == "fit.py"
    assert script.errors == ()


def test_a_heredoc_keeps_its_text() -> None:
    script = read_script("V=1\ncat > a.sh <<EOF\nx[0] $V \\$HOME \\\\ `b`\n\nEOF\n")
    assert script.documents[0].text == "x[0] 1 $HOME \\ `b`"


@pytest.mark.parametrize(
    "line", ["sbatch -W job.sh", "sbatch --wait -N 2 job.sh", "mpirun --pernode job.sh", "ibrun -ppn 4 job.sh"]
)
def test_a_launchers_options_are_those_of_the_one_table(line: str) -> None:
    programs = [one.chain.program for one in read_script(f"#!/bin/bash\n{line}\n").commands]
    assert [plain(one.entry) for one in programs if one] == ["job.sh"]
