"""What people add to a job: on every scheduler its own words, or a refusal with the nearest thing."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from graph import planning
from graph.planning.plan import plan
from graph.planning.request_fields import mail
from knowledge.catalogue import SHIPPED
from knowledge.cluster_file import read_cluster
from knowledge.errors import InputError
from knowledge.job_parts import (
    MAIL_EVENTS,
    ArrayAxis,
    Dependency,
    JobArray,
    LimitSignal,
    Mail,
    Program,
)
from knowledge.types import JobRequest, LaunchPlan, Refusal
from templates.render import render

CLUSTERS = {path.stem: read_cluster(path) for path in SHIPPED.glob("*.yaml")}
BASE = JobRequest(framework="pytorch", strategy="ddp", nodes=2, account="m1", entry="train.py")
SLURM, PBS, LSF, FLUX = "perlmutter", "polaris", "lassen", "tuolumne"


def planned(machine: str, **fields: object) -> LaunchPlan:
    made = plan(replace(BASE, **fields), CLUSTERS[machine])  # type: ignore[arg-type]
    assert isinstance(made, LaunchPlan), made
    return made


def script(machine: str, **fields: object) -> str:
    return render(planned(machine, **fields)).script


def refused(machine: str, **fields: object) -> Refusal:
    made = plan(replace(BASE, **fields), CLUSTERS[machine])  # type: ignore[arg-type]
    assert isinstance(made, Refusal)
    assert made.instead
    return made


LRS = JobArray((ArrayAxis("--lr", ("1e-3", "1e-4", "3e-4")),), None, 2)
AFTER = Dependency("afterok", ("12", "13"))
MAIL = Mail("a@b.org", ("end", "fail"))


@pytest.mark.parametrize(
    ("machine", "fields", "line"),
    [
        (SLURM, {"requeue": False}, "#SBATCH --no-requeue"),
        (PBS, {"requeue": False}, "#PBS -r n"),
        (LSF, {"requeue": False}, "#BSUB -rn"),
        (SLURM, {"array": LRS}, "#SBATCH --array=0-2%2"),
        (PBS, {"array": LRS}, "#PBS -J 0-2%2"),
        (LSF, {"array": LRS}, '#BSUB -J "train[1-3]%2"'),
        (SLURM, {"dependency": AFTER}, "#SBATCH --dependency=afterok:12:13"),
        (PBS, {"dependency": AFTER}, "#PBS -W depend=afterok:12:13"),
        (LSF, {"dependency": AFTER}, '#BSUB -w "done(12) && done(13)"'),
        (FLUX, {"dependency": AFTER}, "# flux: --dependency=afterok:13"),
        (SLURM, {"mail": MAIL}, "#SBATCH --mail-type=END,FAIL"),
        (PBS, {"mail": MAIL}, "#PBS -m ae"),
        (LSF, {"mail": MAIL}, "#BSUB -u a@b.org"),
        (SLURM, {"exclusive": True}, "#SBATCH --exclusive"),
        (PBS, {"exclusive": True}, "#PBS -l place=scatter:excl"),
        (LSF, {"exclusive": True}, "#BSUB -x"),
        (SLURM, {"reservation": "hack"}, "#SBATCH --reservation=hack"),
        (PBS, {"reservation": "R12"}, "#PBS -q R12"),
        (LSF, {"reservation": "hack"}, "#BSUB -U hack"),
        (SLURM, {"constraint": "nvme"}, "#SBATCH --constraint=gpu&nvme"),
        (PBS, {"constraint": "nvme"}, "#PBS -l select=2:system=polaris:nvme=True"),
        (FLUX, {"constraint": "nvme"}, "# flux: --requires=nvme"),
        (SLURM, {"exclude_nodes": ("nid1", "nid2")}, "#SBATCH --exclude=nid1,nid2"),
        (FLUX, {"exclude_nodes": ("t1",)}, "# flux: --requires=-host:t1"),
        (SLURM, {"signal": LimitSignal("USR2", 120)}, "#SBATCH --signal=B:USR2@120"),
        (LSF, {"signal": LimitSignal()}, "#BSUB -wt 5"),
        (SLURM, {"requeue": True}, "#SBATCH --requeue"),
        (PBS, {"requeue": True}, "#PBS -r y"),
        (LSF, {"requeue": True}, "#BSUB -r"),
        (LSF, {"requeue": True, "signal": LimitSignal()}, '#BSUB -Q "99"'),
        (SLURM, {"requeue": True, "signal": LimitSignal()}, "    put_back"),
        (SLURM, {"memory_gb": 0}, "#SBATCH --mem=0"),
        (SLURM, {"begin": "now+2hours"}, "#SBATCH --begin=now+2hours"),
        (SLURM, {"extra_directives": ("#SBATCH --nice=100",)}, "#SBATCH --nice=100"),
        (SLURM, {"output": "logs/x.out"}, "#SBATCH --output=logs/x.out"),
        (SLURM, {"output": "x.out", "array": LRS}, "#SBATCH --output=x-%A_%a.out"),
        (SLURM, {"job_name": "vit"}, "#SBATCH --job-name=vit"),
    ],
)
def test_each_scheduler_has_its_own_words(machine: str, fields: dict[str, object], line: str) -> None:
    assert line in script(machine, **fields).splitlines()


@pytest.mark.parametrize("machine", [SLURM, PBS, LSF])
def test_requeue_alone_is_one_line_more(machine: str) -> None:
    without, asked = (script(machine, **more).splitlines() for more in ({}, {"requeue": True}))
    assert len(asked) == len(without) + 1 and "trap" not in "\n".join(asked)


@pytest.mark.parametrize(
    ("machine", "fields"),
    [
        (PBS, {"extra_directives": ("--switches=1",)}),
        (FLUX, {"mail": MAIL}),
        (FLUX, {"reservation": "x"}),
        (FLUX, {"requeue": True}),
        (FLUX, {"memory_gb": 100}),
        (PBS, {"nodelist": ("x1",)}),
        (PBS, {"dependency": Dependency("singleton")}),
        (SLURM, {"extra_directives": ("#PBS -l x",)}),
        ("lonestar6", {"exclude_nodes": ("c1",)}),
        ("vista", {"memory_gb": 100}),
        (LSF, {"beside": (Program("b.py"),)}),
        (SLURM, {"container": "a/b:1", "container_runtime": "pyxis"}),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_nearest_thing(machine: str, fields: dict[str, object]) -> None:
    refused(machine, **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"constraint": "a b"},
        {"mail": Mail("a b@c")},
        {"output": "a\nb"},
        {"job_name": "a b"},
        {"binds": ("/x$(id)",)},
        {"modules": ("x; id",)},
        {"before": ("for i in 1 2; do echo $i",)},
        {"before": ("cat <<EOF",)},
        {"after": ("fi",)},
        {"array": JobArray((ArrayAxis("--lr", ()),))},
        {"stage_in": ("a b",)},
        {"chain": 0},
    ],
)
def test_what_cannot_stand_in_a_script_is_one_line(fields: dict[str, object]) -> None:
    with pytest.raises(InputError):
        planned(SLURM, **fields)


def test_what_only_the_sites_image_needed_goes_with_it() -> None:
    """Snellius' container binds a project folder; with a person's own environment nothing asks for it."""
    script, chosen = {}, {}
    for name in (None, "ft"):
        decided = plan(replace(BASE, machine="snellius", environment=name), CLUSTERS["snellius"])
        assert isinstance(decided, LaunchPlan)
        script[name], chosen[name] = render(decided).script, {one.field for one in decided.assumptions}
    assert "PROJECT_SPACE" in script[None] and "PROJECT_SPACE" in chosen[None]
    assert "PROJECT_SPACE" not in script["ft"] and "PROJECT_SPACE" not in chosen["ft"]


def test_an_array_gives_each_task_its_arguments() -> None:
    made = script(SLURM, array=JobArray((ArrayAxis("--lr", ("1", "2")), ArrayAxis("seed", ("7", "8", "9")))))
    assert "#SBATCH --array=0-5" in made
    assert 'PROGRAM+=(--lr "${LR_VALUES[TASK / 3 % 2]}" seed="${SEED_VALUES[TASK % 3]}")' in made


def test_an_array_on_flux_is_submitted_task_by_task() -> None:
    bundle = render(planned(FLUX, array=JobArray((ArrayAxis("--lr", ("1", "2")),))))
    assert "--env=ARRAY_TASK" in bundle.files[0].text
    assert bundle.submit == f"bash {bundle.files[0].name}"


def test_tasks_of_an_array_wait_their_turn_on_flux() -> None:
    text = render(planned(FLUX, array=LRS)).files[0].text
    assert 'waits=(--dependency="afterany:${jobs[task - 2]}")' in text


@pytest.mark.parametrize(
    ("machine", "submitted"),
    [
        (SLURM, "sbatch --array=0-$(($(ls conf/*.yaml | wc -l) - 1))%2 "),
        (PBS, "qsub -J 0-$(($(ls conf/*.yaml | wc -l) - 1))%2 "),
        (LSF, 'bsub -J "train[1-$(ls conf/*.yaml | wc -l)]%2" < '),
    ],
)
def test_an_array_over_files_is_counted_where_it_is_submitted(machine: str, submitted: str) -> None:
    bundle = render(planned(machine, array=JobArray((ArrayAxis("--config", ("conf/*.yaml",)),), None, 2)))
    assert bundle.submit.startswith(submitted)
    assert "CONFIG_VALUES=(conf/*.yaml)\n" in bundle.script


def test_an_array_over_files_takes_a_pattern_only() -> None:
    with pytest.raises(InputError):
        planned(SLURM, array=JobArray((ArrayAxis("--config", ("$(id)*.yaml",)),)))


def test_the_folder_of_the_output_is_made_before_the_job_is_submitted() -> None:
    assert render(planned(SLURM, output="logs/%j.out")).submit.startswith("mkdir -p logs && sbatch ")
    assert render(planned(SLURM, output="logs/%j.out", chain=2)).submit.startswith("mkdir -p logs && bash ")


@pytest.mark.parametrize("machine", [SLURM, PBS, LSF, FLUX])
def test_a_chain_is_submitted_by_a_script_of_its_own(machine: str) -> None:
    bundle = render(planned(machine, chain=3))
    assert "n <= 3" in bundle.files[-1].text
    assert bundle.submit.startswith("bash ")


@pytest.mark.parametrize(("machine", "kind"), [(SLURM, "afterok"), (PBS, "afterok"), (LSF, "done"), (FLUX, "afterok")])
def test_a_chain_may_go_on_only_while_its_jobs_end_well(machine: str, kind: str) -> None:
    made = planned(machine, chain=3, dependency=Dependency("afterok"))
    bundle = render(made)
    assert f"submit '{kind}' " in bundle.files[-1].text and "JOBID" not in bundle.submit
    assert any("only if that ended well" in note for note in made.notes)


@pytest.mark.parametrize(
    ("machine", "command"),
    [
        (SLURM, 'mkdir -p "$SCRATCH/logs" && sbatch --output="$SCRATCH/logs/a.out" '),
        (PBS, 'mkdir -p "$SCRATCH/logs" && qsub -o "$SCRATCH/logs/a.out" '),
        (LSF, 'mkdir -p "$SCRATCH/logs" && bsub -o "$SCRATCH/logs/a.out" '),
        (FLUX, 'mkdir -p "$SCRATCH/logs" && flux batch --output="$SCRATCH/logs/a.out" '),
    ],
)
def test_an_output_with_a_variable_stands_where_a_shell_expands_it(machine: str, command: str) -> None:
    made = planned(machine, output="$SCRATCH/logs/a.out")
    assert render(made).submit.startswith(command)
    assert "$SCRATCH/logs" not in "\n".join(one.text for one in made.directives)
    assert any("expands no variable" in note for note in made.notes)


def test_an_output_with_a_variable_is_refused_where_a_script_submits() -> None:
    with pytest.raises(InputError, match="expands no variable"):
        planned(SLURM, output="$SCRATCH/a.out", chain=2)


@pytest.mark.parametrize("text", ["end", "END", ":end", ":END"])
def test_mail_may_be_events_alone(text: str) -> None:
    assert mail(text) == Mail(None, ("end",))


def test_mail_takes_an_address_all_events_and_no_unknown_one() -> None:
    assert mail("a@b.org:end,begin") == Mail("a@b.org", ("begin", "end"))
    assert mail("all").events == MAIL_EVENTS and mail("all").address is None
    assert mail("a@b.org") == Mail("a@b.org")
    with pytest.raises(InputError, match="'sometimes'"):
        mail("a@b.org:sometimes")


def test_a_job_id_that_is_not_known_yet_is_given_at_submission() -> None:
    assert render(planned(SLURM, dependency=Dependency())).submit.startswith("sbatch --dependency=afterok:JOBID ")


def test_a_first_run_takes_the_debug_queue_and_looks_at_the_network() -> None:
    made = planned(SLURM, first_run=True, walltime="10:00:00")
    assert (made.queue, made.walltime) == ("debug", "00:15:00")
    assert "Using network Socket" in render(made).script
    assert 'TORCH_FR_DUMP_TEMP_FILE="$PWD/first-run-fr-rank-"' in render(made).script


def test_offline_keeps_libraries_off_the_network() -> None:
    made = script(SLURM, offline=True)
    assert "export WANDB_MODE=offline" in made
    assert "export HF_HUB_OFFLINE=1" in made


def test_steps_stand_before_and_after_the_program() -> None:
    made = script(SLURM, before=("python prep.py --x 1",), after=("python eval.py",))
    assert made.index("python prep.py --x 1") < made.index("srun ") < made.index("python eval.py")


def test_a_further_program_follows_or_runs_beside() -> None:
    made = script(SLURM, then=(Program("eval.py"),))
    assert made.count("torchrun") == made.count("PROGRAM=(") + 1 == 3
    side = script(SLURM, nodes=1, beside=(Program("sim.py", gpus_per_node=1, wait_port=5555, helper=True),))
    assert "export PART_DEVICES=0\n" in side
    assert "export PART_DEVICES=1,2,3" in side
    assert "/dev/tcp/" in side


def test_a_program_with_its_own_size_is_a_job_of_its_own() -> None:
    made = planned(SLURM, then=(Program("eval.py", nodes=1, walltime="00:20:00"),), chain=2)
    bundle = render(made)
    names = [file.name for file in bundle.files]
    submits = next(file.text for file in bundle.files if file.name.endswith("-submit.sh"))
    assert f"submit 'afterok' {names[0]}" in submits
    assert "n <= 2" in submits
    assert "--time=00:20:00" in bundle.files[0].text


def test_one_process_a_node_has_all_its_gpus() -> None:
    made = script(SLURM, framework="jax", strategy=None, processes_per_node=1)
    assert "#SBATCH --ntasks-per-node=1" in made
    assert "#SBATCH --gpus-per-node=4" in made
    assert "export JAX_LOCAL_DEVICE_IDS=0,1,2,3" in made
    assert "--gpus-per-task=1" not in script("frontier", framework="jax", strategy=None, processes_per_node=1)


def test_nodes_without_gpus_are_not_guessed() -> None:
    refused(PBS, cpu_only=True)


def test_no_part_of_a_request_is_dropped_in_silence() -> None:
    """Each field is read somewhere in planning."""
    folder = Path(planning.__file__).parent
    text = "\n".join(path.read_text() for path in folder.glob("*.py"))
    told_elsewhere = {"source_machine", "heard", "machine", "site_words"}
    missing = [
        one.name for one in fields(JobRequest) if f"request.{one.name}" not in text and f'"{one.name}"' not in text
    ]
    assert set(missing) <= told_elsewhere


@pytest.mark.parametrize(
    ("fields", "has", "lacks"),
    [
        ({"environment": "torchenv"}, 'conda activate "$ENVIRONMENT"', "EDF"),
        ({"environment": "/x/venv", "environment_kind": "venv"}, '"$ENVIRONMENT/bin/python" -u', "EDF=/x"),
        ({"environment": "pytorch/v2.9", "environment_kind": "uenv"}, "--uenv=pytorch/v2.9", "--environment="),
        ({"environment": "ngc.toml"}, "EDF=ngc.toml", "conda"),
    ],
)
def test_an_environment_stands_beside_the_container_that_a_file_names(
    fields: dict[str, object], has: str, lacks: str
) -> None:
    text = script("alps-clariden", **fields)
    assert has in text and lacks not in text


def test_a_conda_environment_with_its_path_is_entered_by_the_conda_that_made_it() -> None:
    made = script("isambard-ai", environment="/projects/u/miniforge3/envs/sft", environment_kind="conda")
    assert "${VENV%/envs/*}/bin/conda" in made and 'eval "$(conda shell.bash hook)"' not in made
    bare = script("isambard-ai", environment="sft", environment_kind="conda")
    assert 'eval "$(conda shell.bash hook)"' in bare


def test_a_bare_name_is_a_virtual_environment_where_nothing_knows_conda() -> None:
    assert 'VENV="$HOME/envs/mine"' in script("fir", environment="mine")
    assert "conda activate" in script("fir", environment="mine", environment_kind="conda")
    assert "conda activate" in script("perlmutter", environment="mine")
    assert "x.sif" in script("fir", environment="mine", container="x.sif")


@pytest.mark.parametrize(
    ("machine", "fields", "binding"),
    [
        ("polaris", {"gpus_per_node": 2}, "--cpu-bind=list:24-31:16-23 "),
        ("aurora", {"gpus_per_node": 4}, "--cpu-bind=list:4-7:8-11:12-15:16-19 "),
        ("lumi", {"gpus_per_node": 2, "queue": "small-g"}, ""),
    ],
)
def test_fewer_ranks_keep_the_first_cores_of_the_list(machine: str, fields: dict[str, object], binding: str) -> None:
    made = planned(machine, nodes=1, **fields)
    assert binding in script(machine, nodes=1, **fields) if binding else "--cpu-bind" not in script(machine, **fields)
    assert any("list" in note for note in made.notes)


def test_devices_are_those_of_the_job() -> None:
    assert "CUDA_VISIBLE_DEVICES=0\n" in script("jupiter", nodes=1, gpus_per_node=1, strategy="none")


def test_what_is_fetched_comes_from_where_there_is_internet() -> None:
    notes = "\n".join(planned("marenostrum5", offline=True).notes)
    assert "on a login node" not in notes and "no login node there has it" in notes
    assert "on a login node" in "\n".join(planned("leonardo", offline=True).notes)


@pytest.mark.parametrize(("asked", "each"), [(8, 7), (64, 7), (56, 7), (4, 4), (7, 7)])
def test_more_cores_than_a_task_can_have_are_as_many_as_it_can(asked: int, each: int) -> None:
    assert f"#SBATCH --cpus-per-task={each}" in script("lumi", cpus_per_task=asked).splitlines()


def test_a_feature_that_was_asked_for_is_not_asked_for_twice() -> None:
    text = script("frontier", stage_in=("data.tar",), constraint="nvme")
    assert [row for row in text.splitlines() if "nvme" in row and row.startswith("#SBATCH")] == [
        "#SBATCH --constraint=nvme"
    ]
