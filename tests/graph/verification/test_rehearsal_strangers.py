"""The rehearsal plays the user's program: its ranks, what lies on the cluster alone, which of several trains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.extraction.script import read_script
from graph.verification.rehearsal import judge, rehearsing
from graph.verification.rehearsal.judge import of_training
from graph.verification.rehearsal.types import Rank
from graph.verification.rehearsal.unknown_machine import unknown_machine
from graph.verification.simulator import stage
from graph.verification.simulator.allocation import allocation
from graph.verification.simulator.cluster import inner, own_ranks
from graph.verification.simulator.cluster.options import LAUNCHERS, LayoutRefusedError, parse
from graph.verification.simulator.cluster.wrapping import is_slip
from graph.verification.simulator.config import StandIn
from graph.verification.simulator.guards import arguments_wanted, commands_wanted, guards, outside
from graph.verification.simulator.isolation import available
from graph.verification.simulator.running import Ran, folder, run
from knowledge.catalogue import catalogue
from knowledge.errors import InputError

JOB = StandIn(cluster="x", scheduler="slurm", nodes=("n1", "n2"), running=2, gpus_per_node=4)


@pytest.mark.parametrize(
    "given",
    [
        {"SLURM_PROCID": "5", "SLURM_LOCALID": "1", "SLURM_NTASKS": "8"},
        {"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_SIZE": "8"},
        {"PALS_RANKID": "5", "PALS_LOCAL_RANKID": "1", "PMI_SIZE": "8", "PMI_RANK": "5"},
        {"PMI_RANK": "5", "PMI_LOCAL_RANK": "1", "PMI_SIZE": "8"},
        {"PMIX_RANK": "5", "PMIX_LOCAL_RANK": "1", "PMIX_SIZE": "8"},
    ],
)
def test_ranks_are_found_by_the_launchers_own_variables(given: dict[str, str]) -> None:
    found = own_ranks.own_ranks(given, JOB, True)
    assert (found["RANK"], found["LOCAL_RANK"], found["WORLD_SIZE"]) == ("5", "1", "8")
    assert (found["MASTER_ADDR"], found["MASTER_PORT"]) == ("n1", "29500")


def test_a_program_that_no_launcher_started_is_alone() -> None:
    given = {"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NTASKS": "8", "WORLD_SIZE": "8"}
    found = own_ranks.own_ranks(given, JOB, False)
    assert (found["RANK"], found["WORLD_SIZE"]) == ("0", "1")


@pytest.mark.parametrize("told", ["RANK", "LOCAL_RANK"])
def test_what_a_script_tells_by_halves_is_missed(told: str) -> None:
    assert own_ranks.own_ranks({told: "0", "SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, JOB, True) == {}


def rank(number: int, size: int, group: str) -> Rank:
    return Rank(number, number, size, "n1", str(number), (), "n1:1", "gloo", "ddp", True, 1.0, "", 1.0, "", group)


def test_the_training_is_the_largest_group_or_what_did_not_form() -> None:
    alone, training = (rank(0, 1, "a"),), tuple(rank(n, 4, "b") for n in range(4))
    assert of_training((*alone, *training)) == training
    broken = tuple(rank(n, 8, "c") for n in range(4))
    assert of_training((*alone, *broken)) == broken
    halves = (*(rank(n, 4, "d") for n in range(2)), *(rank(n, 4, "e") for n in range(2, 4)))
    assert of_training((*alone, *halves)) == halves


def test_a_plug_ins_option_is_not_modelled_and_a_slip_is_refused() -> None:
    found = parse("srun", LAUNCHERS["srun"], ["--site-plugin=x", "-n2", "true"])
    assert (found.not_modelled, found.command) == (("--site-plugin=x",), ("true",))
    real = parse("srun", LAUNCHERS["srun"], ["--accel-bind=gn", "true"], ("--accel-bind",))
    assert real.not_modelled == ("--accel-bind=gn",)
    with pytest.raises(LayoutRefusedError):
        parse("srun", LAUNCHERS["srun"], ["--ntask-per-node=2", "true"])


def test_a_misspelt_launcher_is_no_program_of_the_cluster() -> None:
    assert is_slip("torchrn") and is_slip("pyton")
    assert not is_slip("likwid-pin") and not is_slip("./bind.sh")


def test_an_unknown_machine_is_made_of_what_the_script_tells() -> None:
    text = "#!/bin/bash\n#PBS -l select=2:ngpus=4\nmpiexec -n 8 --ppn 4 python train.py\n"
    made = unknown_machine(text, None)
    assert (made.scheduler, made.node_types[0].gpus.per_node, made.launch["pytorch"][0].launcher) == (
        "pbs",
        4,
        "mpiexec",
    )
    assert unknown_machine(text, 8).node_types[0].gpus.per_node == 8
    assert not unknown_machine("#!/bin/bash\n#SBATCH -n 4\nsrun ./solver\n", None).node_types[0].gpus.model
    with pytest.raises(InputError, match="--gpus-per-node"):
        unknown_machine("#!/bin/bash\ntorchrun --nproc-per-node=gpu train.py\n", None)


GUARDED = """set -eu
VENV=$SCRATCH/envs/foo
[ -d "$VENV" ] || { echo no env; exit 1; }
if [[ ! -f /proj/data/train.bin ]]; then
  echo "no data" >&2
  exit 2
fi
check() { if ! test -x /sw/tool; then return 3; fi; }
[ -s ./config.yaml ] && echo HAVE
if [ -d "$SCRATCH/ckpt" ]; then echo RESUME; else echo FRESH; fi
if [ -r "$HOME/.token" ]; then echo TOKEN; else exit 9; fi
[ -d "$(mktemp -u)" ] || exit 4
"""


def test_only_what_ends_a_script_is_a_guard() -> None:
    assert guards(GUARDED) == (
        '-d "$VENV"', "-f /proj/data/train.bin", "-x /sw/tool", '-r "$HOME/.token"',
    )  # fmt: skip


@pytest.mark.skipif(available() != "namespaces", reason="no namespaces on this computer")
def test_what_a_script_insists_on_is_stood_in_for_and_named() -> None:
    machine = catalogue().find("perlmutter")
    assert machine
    text = "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -C gpu\n#SBATCH --gpus-per-node=4\n" + GUARDED.replace(
        '[ -d "$(mktemp -u)" ] || exit 4\n', "echo ALL\n"
    )
    script = read_script(text)
    job = allocation(script, machine)
    facts = stage.stand_in(machine, script, job, "pytorch", "ddp", 2, None, "namespaces", (), frozenset())
    with folder() as place:
        stage.fill(place, stage.IN_NAMESPACES, text, "job.sh", (), replace(facts, preload=()))
        ran = run(place, "namespaces", 30, lambda _: None)
    assert ran.output == "FRESH\nTOKEN\nALL\n"
    outcome = judge.rehearsal(ran, facts, job, script, text, "namespaces", 1.0)
    named = [one for one in outcome.unseen if "the script ends without it" in one]
    assert [one.split(":")[0] for one in named] == [
        "/rehearsal/scratch/envs/foo", "/proj/data/train.bin", "/rehearsal/home/.token",
    ]  # fmt: skip


WITHOUT_GPUS = """#!/bin/sh
#SBATCH -N 2
#SBATCH --ntasks-per-node=2
#SBATCH --array=3-7
module is-avail gcc && module -q load gcc/12
STEPS=(one two)
while read -r name rest; do
  echo "$name $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_MAX"
done < cases.csv
srun hostname
"""


@pytest.mark.skipif(available() != "namespaces", reason="no namespaces on this computer")
@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [("", "", []), ("srun hostname", "srun --ntask=4 hostname", ["rehearsal-refused"])],
)
def test_a_job_without_gpus_is_rehearsed_where_nobody_knows_the_machine(old: str, new: str, errors: list[str]) -> None:
    text = WITHOUT_GPUS.replace(old, new)
    machine, script = unknown_machine(text, None), read_script(text)
    job = allocation(script, machine)
    facts = stage.stand_in(machine, script, job, "pytorch", "ddp", 2, 8, "namespaces", (), frozenset())
    with folder() as place:
        stage.fill(place, stage.IN_NAMESPACES, text, "job.sh", (), replace(facts, preload=()))
        ran = run(place, "namespaces", 30, lambda _: None)
    outcome = judge.rehearsal(ran, facts, job, script, text, "namespaces", 1.0)
    assert [one.rule for one in outcome.findings if one.severity == "error"] == errors
    assert ran.output.startswith("1 3 7\n2 3 7\n")
    assert outcome.modules == ("gcc/12",)
    assert any(one.startswith("cases.csv: ") for one in outcome.unseen)
    assert [one.line for one in outcome.findings if one.rule == "rehearsal-shell-plain"] == [6]


def test_what_cannot_be_put_there_is_ours_to_say() -> None:
    machine = catalogue().find("perlmutter")
    assert machine
    text = "#!/bin/bash\n#SBATCH -N 2\n[ -f /proj/x ] || exit 2\n"
    script = read_script(text)
    note = {"kind": "shell", "what": "guard-missing", "words": ["/proj/x"]}
    ran = Ran(records=[note], code=2)
    outcome = judge.rehearsal(ran, JOB, allocation(script, machine), script, text, "landlock", 1.0)
    assert [(one.rule, one.line) for one in outcome.findings if one.severity == "error"] == [("rehearsal-guard", 3)]


def test_more_ranks_than_this_computer_takes_are_cut_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = catalogue().find("perlmutter")
    assert machine
    job = allocation(read_script("#!/bin/bash\n#SBATCH -N 64\n#SBATCH -C gpu\n#SBATCH --gpus-per-node=4\n"), machine)
    monkeypatch.setattr(rehearsing.limits, "most_memory", lambda: 8 << 30)
    assert rehearsing.runnable(job, 2, None) == (2, None)
    assert rehearsing.runnable(job, 32, None) == (32, 2)
    assert rehearsing.runnable(job, 500, None) == (64, 1)
    monkeypatch.setattr(rehearsing.limits, "most_memory", lambda: 0)
    assert rehearsing.runnable(job, 2, None) == (1, 1)


def test_commands_and_arguments_that_the_script_ends_without() -> None:
    text = (
        "#!/bin/bash\nif ! command -v site_tool >/dev/null; then exit 1; fi\nwhich other || exit 2\ntype third\n"
        'if [[ $# -lt 2 ]]; then echo usage; exit 1; fi\n[ -z "$3" ] && exit 1\npython train.py $1\n'
    )
    assert set(commands_wanted(text)) == {"site_tool", "other"}
    assert arguments_wanted(text) == ("argument-1", "argument-2", "argument-3")
    assert arguments_wanted("#!/bin/bash\nif [ $# -gt 2 ]; then exit 1; fi\npython train.py $1\n") == ()
    assert arguments_wanted("#!/bin/bash\nM=${1:?usage}\npython train.py $M\n") == ("argument-1",)
    assert arguments_wanted('#!/bin/bash\nM=${1:?usage}\ncase "$M" in a) ;; *) exit 1 ;; esac\npython t.py\n') == ()


def test_arguments_that_the_script_takes_and_does_not_look_for() -> None:
    assert arguments_wanted("#!/bin/bash\nsrun -N $1 python $2 --lr 1\n", 4) == ("4", "argument-2")
    assert arguments_wanted("#!/bin/bash\nR=$(( $1 * 2 ))\nf() { echo $2; }\nawk '{print $3}' x\n") == ("1",)
    assert arguments_wanted('#!/bin/bash\nsrun "$@"\n') == ()
    assert arguments_wanted('#!/bin/bash\n"$@"\n') == ("python", "train.py")
    text = '#!/bin/bash\ncase $1 in\n--model)\nMODEL="$2"\nshift 2;;\nesac\nif [ -z "$MODEL" ]; then exit 1; fi\n'
    assert arguments_wanted(text) == ("--model", "argument-model")


def test_folders_that_are_set_outside() -> None:
    text = (
        "#!/bin/bash\nDATA_ROOT=/x\ncat $work_SCRATCH/list\ncd $SITE_WORK/code\n"
        "ls $DATA_ROOT/a $DATA_ROOTT/b ${OPT:-/o}/c $SLURM_X/d\n"
        "apptainer exec --nv $IMAGE python train.py --lr $LR\n"
    )
    assert outside(read_script(text)) == ("IMAGE", "work_SCRATCH", "SITE_WORK")


@pytest.mark.skipif(available() != "namespaces", reason="no namespaces on this computer")
def test_what_lies_on_the_site_alone_does_not_end_a_script() -> None:
    machine = catalogue().find("polaris")
    assert machine
    text = (
        "#!/bin/zsh\n#PBS -l select=2:system=polaris\nset -eu\nmodule load tools\nLIST=$(cat $OUTER/list.txt)\n"
        "export PYTHONPATH=/x:$PYTHONPATH PATH=/sw/openmpi/bin:$PATH\n"
        'mpirun -n 2 -npernode 1 site_wrapper -q bash -c "echo ALL"\n'
    )
    script = read_script(text)
    job = allocation(script, machine)
    facts = stage.stand_in(machine, script, job, "pytorch", "ddp", 2, None, "namespaces", (), frozenset())
    with folder() as place:
        stage.fill(place, stage.IN_NAMESPACES, text, "job.sh", (), replace(facts, preload=()))
        ran = run(place, "namespaces", 30, lambda _: None)
    assert (ran.output, ran.code) == ("ALL\nALL\n", 0)
    told = " ".join(judge.rehearsal(ran, facts, job, script, text, "namespaces", 1.0).unseen)
    assert "$OUTER: set outside the script" in told
    assert "/list.txt: not on this computer" in told


def test_mpiruns_ranks_go_before_those_of_the_batch_script() -> None:
    given = {"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NTASKS": "8"}
    given |= {"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_SIZE": "8"}
    assert own_ranks.own_ranks(given, JOB, True)["RANK"] == "5"


@pytest.mark.skipif(available() != "namespaces", reason="no namespaces on this computer")
def test_what_a_site_has_and_a_person_gives_is_stood_in_for() -> None:
    machine = catalogue().find("perlmutter")
    assert machine
    text = (
        "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -C gpu\n#SBATCH --gpus-per-node=4\n#SBATCH -o logs/%j.out\n"
        "if ! command -v site_guard >/dev/null; then exit 3; fi\nsite_guard --check || exit 4\n"
        "if [ $# -lt 1 ]; then exit 5; fi\necho ALL $1 > logs/own.log || exit 6\ncat logs/own.log\n"
    )
    script = read_script(text)
    job = allocation(script, machine)
    facts = stage.stand_in(machine, script, job, "pytorch", "ddp", 2, None, "namespaces", (), frozenset())
    with folder() as place:
        stage.fill(place, stage.IN_NAMESPACES, text, "job.sh", (), replace(facts, preload=()))
        ran = run(place, "namespaces", 30, lambda _: None)
    assert (ran.output, ran.code) == ("ALL argument-1\n", 0)
    told = " ".join(judge.rehearsal(ran, facts, job, script, text, "namespaces", 1.0).unseen)
    assert "site_guard: not on this computer" in told
    assert "argument-1: in the place of" in told


def test_pals_counts_hardware_threads() -> None:
    machine = catalogue().find("polaris")
    assert machine
    script = read_script("#!/bin/bash\n#PBS -l select=1:system=polaris\nmpiexec -n 4 --ppn 4 -d 16 python train.py\n")
    job = allocation(script, machine)
    facts = stage.stand_in(machine, script, job, "pytorch", "ddp", 1, None, "namespaces", (), frozenset())
    assert facts.cpus_per_node == 64


def test_jsrun_hands_out_all_cores() -> None:
    machine = catalogue().find("lassen")
    assert machine
    script = read_script("#!/bin/bash\n#BSUB -nnodes 1\njsrun -r 4 -c 10 python train.py\n")
    job = allocation(script, machine)
    facts = stage.stand_in(machine, script, job, "pytorch", "ddp", 1, None, "namespaces", (), frozenset())
    assert facts.cpus_per_node == 44


@pytest.mark.skipif(available() != "namespaces", reason="no namespaces on this computer")
def test_a_script_for_sh_runs_as_on_clusters() -> None:
    machine = catalogue().find("perlmutter")
    assert machine
    text = (
        "#!/bin/sh\n#SBATCH -N 2\n#SBATCH -C gpu\n#SBATCH --gpus-per-node=4\nset -eo pipefail\n"
        "source /sw/env.sh\npushd /proj/code\nFIRST=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
        "popd\necho ALL ${FIRST:+there}\n"
    )
    script = read_script(text)
    job = allocation(script, machine)
    facts = stage.stand_in(machine, script, job, "pytorch", "ddp", 2, None, "namespaces", (), frozenset())
    with folder() as place:
        stage.fill(place, stage.IN_NAMESPACES, text, "job.sh", (), replace(facts, preload=()))
        ran = run(place, "namespaces", 30, lambda _: None)
    assert (ran.output.splitlines()[-1], ran.code) == ("ALL there", 0)


def test_a_launchers_configuration_on_the_cluster_is_left_out_and_noted() -> None:
    noted: list[str] = []

    class Site:
        def record(self, kind: str, name: str, words: list[str]) -> None:
            noted.append(f"{kind} {name}")

    words = [
        "launch",
        "--config_file",
        "/site/fsdp.yaml",
        "--num_machines",
        "2",
        "train.py",
        "--config_file",
        "own.yaml",
    ]
    made = inner.without_config(words, Site())  # type: ignore[arg-type]
    assert made == ["launch", "--machine_rank", "0", "--num_machines", "2", "train.py", "--config_file", "own.yaml"]
    assert noted == ["missing /site/fsdp.yaml"]
