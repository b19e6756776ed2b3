"""What a person gives by fields stands in the script as it was meant, and once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.conversing.orders import parts_of
from graph.extraction.request import understand
from graph.planning.plan import plan
from graph.planning.request_fields import with_fields
from knowledge.catalogue import catalogue
from knowledge.errors import InputError
from knowledge.types import JobRequest, LaunchBundle, LaunchPlan
from templates.render import render

BASE = JobRequest(framework="pytorch", strategy="ddp", nodes=2, account="m1", entry="train.py", walltime="01:00:00")


def planned(machine: str, *fields: str, **more: object) -> LaunchPlan:
    request = with_fields(replace(BASE, **more), fields)  # type: ignore[arg-type]
    made = plan(request, catalogue().clusters[machine])
    assert isinstance(made, LaunchPlan), made
    return made


def bundle(machine: str, *fields: str, **more: object) -> LaunchBundle:
    return render(planned(machine, *fields, **more))


def script(machine: str, *fields: str, **more: object) -> str:
    return bundle(machine, *fields, **more).script


@pytest.mark.parametrize(
    ("machine", "name"),
    [("frontier", "MIOPEN_USER_DB_PATH"), ("tuolumne", "MIOPEN_USER_DB_PATH"), ("frontier", "https_proxy")],
)
def test_a_variable_of_the_person_stands_alone(machine: str, name: str) -> None:
    text = script(machine, f"variables={name}=/dev/shm/own")
    assert [row for row in text.splitlines() if row.startswith(f"export {name}=")] == [f"export {name}=/dev/shm/own"]


def test_a_variable_of_the_person_takes_the_place_of_a_setting_and_of_what_was_taken_for_it() -> None:
    decided = planned("frontier", "variables=CONDA_ENV=/own/env")
    assert render(decided).script.count("export CONDA_ENV=") == 1
    assert "CONDA_ENV" not in {one.field for one in decided.assumptions}
    made = script("perlmutter", "variables=ACCELERATE_MIXED_PRECISION=no", framework="accelerate")
    assert made.count("export ACCELERATE_MIXED_PRECISION=") == 1


def test_a_value_that_goes_on_from_the_one_before_keeps_it() -> None:
    name = next(one.name for one in planned("frontier").variables)
    assert script("frontier", f"variables={name}=${name},own").count(f"export {name}=") == 2


BINDS = (
    *("/proj/data:/mnt/in", "/proj/data at /mnt/in", "/proj/data=/mnt/in", "source=/proj/data,target=/mnt/in"),
    "dst=/mnt/in,src=/proj/data,type=bind",
)


def test_mounts_are_read_in_any_order_and_kept_apart() -> None:
    def read(text: str) -> tuple[str, ...]:
        return with_fields(JobRequest(), [f"binds={text}"]).binds

    assert read("type=bind,source=/a,target=/b,readonly") == ("/a:/b:ro",)
    assert read("readonly=true,target=/b,source=/a,source=/c,target=/d") == ("/a:/b:ro", "/c:/d")
    assert read("/a -> /b and /c -> /d, /alone") == ("/a:/b", "/c:/d", "/alone")
    assert parts_of("binds", ("source=/a", "target=/b")) == ("source=/a,target=/b",)
    for wrong in ("target=/b", "type=tmpfs,target=/b,source=x"):
        with pytest.raises(InputError, match="binds takes folders"):
            read(wrong)


@pytest.mark.parametrize("given", BINDS)
@pytest.mark.parametrize(
    ("machine", "image", "stands"),
    [
        ("delta", "x.sif", '--bind "/proj/data:/mnt/in"'),
        ("perlmutter", "nvcr.io/a/b:1", "/proj/data:/mnt/in"),
    ],
)
def test_a_folder_is_seen_where_it_was_said(given: str, machine: str, image: str, stands: str) -> None:
    assert stands in script(machine, f"binds={given}", container=image)


def test_a_mounted_folder_is_one_bind_in_words_too() -> None:
    said = "delta, fsdp, 2 nodes, account bdxx, pre.py in the image /work/t/own.sif with /work/t/shards mounted at /in"
    heard = understand(said, None, None, None)
    assert heard.request.binds == ("/work/t/shards:/in",)
    two = understand(said.replace("mounted at /in", "and /work/u/labels bound in"), None, None, None)
    assert not any(":" in one for one in two.request.binds)


def test_each_runtime_has_its_own_form_of_a_bind() -> None:
    seen = set()
    for cluster in catalogue().clusters.values():
        for fact in cluster.container_runtimes:
            files = fact.runtime in ("apptainer", "singularity", "pyxis", "enroot")
            image = "/own/x.sqsh" if fact.runtime in ("pyxis", "enroot") else "x.sif" if files else "a/b:1"
            request = replace(BASE, container=image, container_runtime=fact.runtime, binds=("/one:/two", "/alone"))
            made = plan(request, cluster)
            if isinstance(made, LaunchPlan):
                out = render(made)
                text = out.script + "".join(one.text for one in out.files)
                assert "/one:/two" in text and "/one,/two" not in text, (cluster.id, fact.runtime)
                seen.add(fact.runtime)
    assert {"apptainer", "podman-hpc", "shifter"} <= seen and seen & {"pyxis", "enroot", "edf"}


@pytest.mark.parametrize("folder", ["/home/me/proj", "/home/me/proj/.venv", "/home/me/proj/.venv/"])
def test_a_uv_project_is_entered_by_its_folder(folder: str) -> None:
    decided = planned("perlmutter", f"environment={folder}", "environment_kind=uv")
    text = render(decided).script
    assert "export ENVIRONMENT=/home/me/proj\n" in text and text.count(".venv") == 1
    assert any("cd /home/me/proj && uv sync" in note for note in decided.notes)


@pytest.mark.parametrize(
    ("given", "project"), [(".venv", "."), ("./.venv/", "."), ("proj/.venv", "proj"), ("/.venv", "/"), ("proj", "proj")]
)
def test_a_project_is_the_folder_of_its_environment(given: str, project: str) -> None:
    text = script("frontier", f"environment={given}", "environment_kind=uv")
    assert f"={project}\n" in text and text.count(".venv") == 1


def test_python_of_modules_enters_no_example_environment() -> None:
    text = script("juwels-booster", "environment_kind=module", "modules=GCC,Python,Stages/2026")
    assert "activate" not in text and "VENV" not in text
    rows = [row for row in text.splitlines() if row.startswith("module load")]
    assert rows == ["module load Stages/2026", "module load GCC Python"]


def test_what_opens_a_hierarchy_of_modules_is_loaded_first() -> None:
    text = script("jupiter", "modules=Stages/2026,NCCL")
    rows = [row for row in text.splitlines() if row.startswith("module load")]
    assert rows[0] == "module load Stages/2026" and "NCCL" in rows[-1]
    again = script("fir", "modules=StdEnv/2099")
    assert "module load StdEnv/2099 python/3.12 cuda" in again  # in its old place


def test_a_folder_is_no_file_to_broadcast() -> None:
    text = script(
        "frontier", "stage_in=/lus/set/pictures,/lus/set/labels.tar.gz", args="--data=/lus/set/pictures/train"
    )
    assert "sbcast -pf /lus/set/labels.tar.gz" in text and "sbcast -pf /lus/set/pictures" not in text
    assert """cp -r "$@" "$LOCAL_DATA"' stage /lus/set/pictures\n""" in text
    assert '"--data=$LOCAL_DATA/pictures/train"' in text


def test_a_program_that_does_not_name_what_is_staged_is_told_of() -> None:
    decided = planned("frontier", "stage_in=/lus/set/pictures", args="--bs 8")
    assert any("$LOCAL_DATA/pictures" in note for note in decided.notes)
    decided = planned("frontier", "stage_in=/lus/set/pictures/", args="--data /lus/set/pictures")
    assert not any("$LOCAL_DATA/pictures" in note for note in decided.notes)
    assert "$LOCAL_DATA/pictures" in decided.args


def test_programs_side_by_side_share_alike_and_fail_apart() -> None:
    text = script("perlmutter", "beside=eval.py", nodes=1)
    assert "PART_DEVICES=0,1" in text and "PART_DEVICES=2,3" in text
    assert 'kill "$PART_0"' not in text and 'wait "$part" || STATUS=$?' in text
    three = script("perlmutter", "beside=a.py", "beside=b.py", nodes=1)
    assert [row.strip() for row in three.splitlines() if "PART_DEVICES=" in row] == [
        "export PART_DEVICES=2,3",
        "export PART_DEVICES=0",
        "export PART_DEVICES=1",
    ]
    served = script("perlmutter", "beside=serve.py;port=5555", nodes=1)
    assert 'kill "$PART_0"' in served


def test_a_share_that_nobody_said_is_told() -> None:
    def told(*fields: str, nodes: int) -> list[str]:
        return [one.value for one in planned("perlmutter", *fields, nodes=nodes).assumptions if "eval.py" in one.field]

    assert told("beside=eval.py", nodes=8) == ["4 of the 8 nodes"]
    assert told("beside=eval.py", nodes=1) == ["2 of the 4 GPUs a node"]
    assert told("beside=eval.py;helper", nodes=8) == ["1 of the 8 nodes"]
    assert not told("beside=eval.py;nodes=2", nodes=8) and not told("beside=eval.py;gpus=1", nodes=1)


def test_megatron_is_told_the_sizes_that_were_given() -> None:
    own = script("perlmutter", framework="megatron", strategy="3d", args="--yaml-cfg run.yaml")
    assert "model-parallel-size" not in own
    decided = planned("perlmutter", framework="megatron", strategy="3d", args="--yaml-cfg run.yaml")
    assert [one.value for one in decided.assumptions if one.field == "parallel sizes"] == [
        "those of your configuration"
    ]
    given = script(
        "perlmutter",
        framework="megatron",
        strategy="tp",
        tensor_parallel=2,
        pipeline_parallel=1,
        args="--config a.yaml",
    )
    assert 'PROGRAM+=(--tensor-model-parallel-size "$TENSOR_PARALLEL")' in given and "pipeline-model" not in given
    assert "model-parallel-size" not in script("perlmutter", framework="megatron", strategy="ddp")


@pytest.mark.parametrize(
    ("args", "names"),
    [
        ("--config a.yaml", True),
        ("--config_file=a.cfg", True),
        ("--config-name big", True),
        ("conf/big.yaml", True),
        ("--lr=3e-4 big.yml", True),
        ("--deepspeed_config ds.yaml", False),
        ("--deepspeed_config=ds.yaml", False),
        ("--data-config mix.yaml", False),
        ("--tokenizer-config t.json --no-config-check", False),
        ("--seed 3 data=mix.yaml", False),
    ],
)
def test_only_a_configuration_of_the_program_keeps_sizes_from_megatron(args: str, names: bool) -> None:
    text = script("perlmutter", framework="megatron", strategy="3d", args=args)
    assert ("--tensor-model-parallel-size" not in text) is names


@pytest.mark.parametrize(
    ("first", "then", "kind"),
    [
        ("--epochs 9", "train.py --epochs 9 --resume last", "afterany"),
        ("--epochs 9", "train.py --epochs 9 trainer.ckpt_path=out/last", "afterany"),
        ("--epochs 9", "train.py --epochs 9 --resume_from_checkpoint=auto", "afterany"),
        ("--epochs 9", "train.py --epochs 9", "afterok"),
        ("--resume", "train.py --resume", "afterok"),
        ("--epochs 9", "train.py --epochs 9 --download", "afterok"),
        ("--epochs 9", "train.py --epochs 9 --dataloader-workers 4", "afterok"),
        ("--epochs 9", "train.py --epochs 9 --gradient-checkpointing", "afterok"),
        ("--epochs 9", "train.py --epochs 9 --load-best-model-at-end", "afterok"),
        ("--epochs 9", "eval.py --epochs 9 --resume last", "afterok"),
    ],
)
def test_only_a_job_that_is_told_to_go_on_does_not_wait_for_a_good_end(first: str, then: str, kind: str) -> None:
    sends = bundle("perlmutter", f"then={then};walltime=02:00:00", args=first)
    assert f"submit '{kind}' 2-" in sends.files[-1].text


def test_a_chain_that_only_goes_on_well_says_where_it_stops() -> None:
    assert any("time limit" in note for note in planned("perlmutter", "chain=3", "dependency=afterok").notes)
    assert not any("did not end well" in note for note in planned("perlmutter", "chain=3").notes)
