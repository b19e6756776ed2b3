"""The template library: what is shipped, what people save, and which comes first."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from graph.planning.strategies import RUNS as PLANNED
from knowledge.catalogue import catalogue
from knowledge.errors import InputError, UnavailableError
from knowledge.retrieval import Index
from knowledge.types import LaunchPlan
from templates.library import Library
from templates.nearest import Undescribed, questions, same_model, vendor_of
from templates.records import RUNS, CatalogueRecord, Saved, Template, shipped
from templates.saved import SavingWish, launcher_of, scheduler_of
from tests.golden.coverage import covered

SCRIPT = """#!/bin/bash
#SBATCH --nodes=4
#SBATCH --account=m0000_g
# srun is not called in this line
export MASTER_PORT=29500
---
srun torchrun train.py
"""


def no_index() -> None:
    raise AssertionError("the index was asked for")


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One index folder for all tests: each finds or makes its own generation, and embeds only what is new."""
    return tmp_path_factory.mktemp("index")


@pytest.fixture
def library(tmp_path: Path, vectors: Path) -> Library:
    return Library(folder=tmp_path / "templates", index=Index("templates", folder=vectors))


def save(library: Library, evidence: str = "", when: str = "2026-11-02", text: str = SCRIPT, **more: str) -> Template:
    told = {"machine": "perlmutter", "framework": "pytorch", "strategy": "fsdp", "who": "anna", **more}
    return library.add(SavingWish(evidence=evidence, when=date.fromisoformat(when), **told), text)  # type: ignore[arg-type]


def ids(library: Library, **asked: object) -> list[str]:
    return [match.template.id for match in library.find(**asked)]  # type: ignore[arg-type]


CELL = {"cluster": "Perlmutter", "framework": "pytorch", "strategy": "fsdp"}


def test_every_cell_that_planning_offers_is_shipped_and_no_other() -> None:
    records = {(*one.cell, one.node_type) for one in shipped(catalogue())}
    cells = {one.cell for one in shipped(catalogue())}
    for cell in covered(list(catalogue().clusters.values())):
        name = (cell.cluster.id, cell.framework, cell.strategy)
        if isinstance(cell.outcome, LaunchPlan):
            assert (*name, cell.outcome.node_type) in records
        else:
            assert name not in cells
    assert {framework: set(runs) for framework, runs in RUNS.items()} == {
        k: set(v) for k, v in PLANNED.items() if k in RUNS
    }


def test_shipped_launcher_is_what_planning_takes() -> None:
    launchers = {(*one.cell, one.node_type): one.launcher for one in shipped(catalogue())}
    for cell in covered(list(catalogue().clusters.values())):
        if isinstance(cell.outcome, LaunchPlan):
            name = (cell.cluster.id, cell.framework, cell.strategy, cell.outcome.node_type)
            assert launchers[name] == cell.outcome.launch.launcher


def test_every_shipped_record_has_date_and_source() -> None:
    for one in shipped(catalogue()):
        assert isinstance(one.provenance, CatalogueRecord)
        assert one.provenance.as_of
        assert one.provenance.sources


def test_an_exact_cell_needs_no_index(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library.index, "refresh", lambda entries: no_index())
    found = library.find(**CELL)  # type: ignore[arg-type]
    assert {match.template.cell for match in found} == {("perlmutter", "pytorch", "fsdp")}
    assert all(match.exact and match.verified and not match.questions for match in found)


LIGHT = """
import sys
from templates.library import Library
assert Library().find(cluster="perlmutter", framework="pytorch", strategy="fsdp")
assert Library().find(cluster="hal", framework="pytorch", strategy="fsdp", gpu="A100")
print(*{"chromadb", "onnxruntime", "numpy", "bm25s", "tokenizers"} & set(sys.modules))
"""


def test_facts_alone_load_nothing_heavy(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", LIGHT],
        cwd=Path(__file__).parent.parent.parent,
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == ""


def test_saved_with_evidence_comes_first_without_comes_last(library: Library) -> None:
    bare = save(library)
    older = save(library, "ran on 4 nodes, job 17", "2026-10-01")
    newer = save(library, "ran on 8 nodes, job 23", "2026-11-01")
    found = ids(library, **CELL, limit=50)
    assert found[:2] == [newer.id, older.id]
    assert found[-1] == bare.id
    assert len(found) > 3


def test_wording_does_not_lift_a_script_nobody_vouches_for(library: Library) -> None:
    bare = save(library, words="protein folding with sharded data parallel")
    found = ids(library, **CELL, words="protein folding", limit=50)
    assert found[0] != bare.id
    assert bare.id in found


def test_evidence_leads_its_cell_whatever_its_wording(library: Library) -> None:
    added = save(library, "job 17", words="zzz")
    found = library.find(cluster="perlmutter", words="Perlmutter fully sharded")
    assert added.id in [match.template.id for match in found]
    assert ids(library, **CELL, words="Perlmutter fully sharded", limit=1) == [added.id]


def test_wording_ranks_cells(library: Library) -> None:
    first = library.find(words="ZeRO-3 on Frontier")[0].template
    assert (first.cluster, first.strategy) == ("frontier", "zero3")
    assert ids(library, cluster="aurora", words="pipeline parallel stages")[0].endswith("/pp")
    found = library.find(words="fsdp perlmutter")
    assert found[0].template.cell[0] == "perlmutter"
    assert found[0].template.strategy == "fsdp"
    assert len({match.template.cell for match in found}) == len(found)


def test_a_saved_script_is_found_by_its_own_words(library: Library) -> None:
    added = save(library, "ran on 4 nodes", words="weather forecasting with a graph network")
    assert ids(library, words="meteorology forecast")[0] == added.id
    library.remove(added.id)
    assert added.id not in ids(library, words="meteorology forecast", limit=50)


def test_what_no_template_has_is_let_go_and_said(library: Library) -> None:
    found = library.find(cluster="perlmutter", framework="deepspeed", strategy="tp")
    assert found
    assert {(match.template.cluster, match.template.framework) for match in found} == {("perlmutter", "deepspeed")}
    assert not found[0].exact
    assert "no template for tp" in found[0].why


def test_filters_by_gpu_and_scheduler(library: Library) -> None:
    pbs = library.find(scheduler="pbs", gpu="intel", limit=50)
    assert {match.template.cluster for match in pbs} == {"aurora"}
    assert {match.template.gpu_model for match in library.find(gpu="V100", limit=50)} == {"V100"}


@pytest.mark.parametrize(
    ("scheduler", "gpu", "wanted"),
    [("pbs", "NVIDIA A100 80GB", {"polaris"}), ("slurm", "MI250X", {"frontier", "lumi"}), ("flux", "", {"tuolumne"})],
)
def test_a_machine_nobody_described_borrows_the_nearest(
    library: Library, scheduler: str, gpu: str, wanted: set[str]
) -> None:
    found = library.find(
        cluster="hal",
        framework="pytorch",
        strategy="ddp",
        scheduler=scheduler,  # type: ignore[arg-type]
        gpu=gpu,
    )
    assert found[0].template.cluster in wanted
    assert found[0].template.cell[1:] == ("pytorch", "ddp")
    for match in found:
        assert not match.verified
        assert match.why.startswith("unverified: nobody described hal")
        assert {"queue", "account", "launcher", "setup", "interface"} <= {asked.field for asked in match.questions}
    assert len({match.template.cluster for match in found}) == len(found)


def test_a_hostile_machine_name_is_shown_plainly(library: Library) -> None:
    told = library.find(cluster="hal\x1b[31m\n" + "x" * 999, framework="pytorch", strategy="ddp")[0].why
    assert told.isprintable()
    assert len(told) < 250


def test_what_is_known_of_a_machine_is_not_asked() -> None:
    bare = [asked.field for asked in questions(Undescribed("hal"))]
    told = [asked.field for asked in questions(Undescribed("hal", "pbs", "A100", 4))]
    assert bare[:3] == ["scheduler", "gpu", "gpus_per_node"]
    assert told == bare[3:]


def test_a_script_saved_for_an_undescribed_machine_makes_it_known(library: Library) -> None:
    added = save(library, "ran on 2 nodes", machine="Our Cluster")
    found = library.find(cluster="our-cluster", framework="pytorch", strategy="fsdp")
    assert found[0].template == added
    assert found[0].verified


def test_script_comes_back_to_the_byte(library: Library, tmp_path: Path) -> None:
    for text in (SCRIPT, "#SBATCH -N 1\r\nsrun a\r\n", "#SBATCH -N 1\nno newline at the end", "---\n#PBS\n---\n"):
        if scheduler_of(text) == "slurm":
            added = save(library, text=text)
            again = Library(folder=library.folder, index=library.index)
            assert again.get(added.id) == added
            assert again.script(added) == text
    assert library.script(library.get("perlmutter/gpu-a100-40/pytorch/fsdp")) is None


def test_saved_files_are_private(library: Library) -> None:
    added = save(library)
    assert isinstance(added.provenance, Saved)
    assert added.provenance.path.stat().st_mode & 0o077 == 0
    assert library.folder.stat().st_mode & 0o077 == 0


def test_refused_with_one_line(library: Library) -> None:
    with pytest.raises(InputError, match="pbs directives"):
        save(library, text="#PBS -l select=1\nmpiexec a\n")
    with pytest.raises(InputError, match="--scheduler"):
        save(library, text="python train.py\n", machine="hal")
    with pytest.raises(InputError, match="no node type"):
        save(library, node_type="h900")
    with pytest.raises(InputError, match="one line"):
        save(library, "two\nlines")
    with pytest.raises(InputError, match="one line"):
        save(library, "\x1b]0;title\x07")
    with pytest.raises(InputError, match="one line"):
        save(library, "\udcff")
    with pytest.raises(InputError, match="cluster"):
        save(library, machine="///")
    save(library, "first")
    with pytest.raises(InputError, match="saved already"):
        save(library, "second")
    with pytest.raises(InputError, match="shipped"):
        library.remove("perlmutter/gpu-a100-40/pytorch/fsdp")
    with pytest.raises(InputError, match="no template"):
        library.remove("../../etc/passwd")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no facts at all", "belong at its top"),
        ("---\ncluster: perlmutter\n---\n", "framework"),
        ("---\n: [\n---\nx", "not YAML"),
        ("---\ncluster: p\nframework: pytorch\nstrategy: ddp\nscheduler: slurm\nwho: a\nwhen: x\n---\nx", "when"),
        ("---\nsurprise: 1\n---\nx", "cluster: Field required"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_out_and_named(library: Library, text: str, reason: str) -> None:
    good = save(library, "ran")
    (library.folder / "bad.template").write_text(text)
    assert good.id in ids(library, **CELL)
    assert len(library.file_notices) == 1
    assert "bad.template" in library.file_notices[0]
    assert reason in library.file_notices[0]
    assert "\n" not in library.file_notices[0]


def test_what_another_process_saved_is_noticed(library: Library, tmp_path: Path) -> None:
    save(library, "ran")
    before = ids(library, **CELL)
    other = Library(folder=library.folder, index=Index("templates", folder=tmp_path / "index"))
    added = save(other, "ran again", text=SCRIPT + "# another\n")
    os.utime(library.folder)
    assert set(ids(library, **CELL)) - set(before) == {added.id}


def test_without_weights_it_goes_by_words_and_says_so(tmp_path: Path) -> None:
    def missing() -> None:
        raise UnavailableError("the weights are not installed")

    index = Index("templates", folder=tmp_path / "index", embedder=missing)  # type: ignore[arg-type]
    library = Library(folder=tmp_path / "templates", index=index)
    assert ids(library, words="fsdp perlmutter")[0].startswith("perlmutter/")
    assert library.notices == ["searching by words alone: the weights are not installed"]


@pytest.mark.parametrize(
    ("said", "vendor"),
    [
        ("A100", "nvidia"),
        ("4x NVIDIA H100 80GB", "nvidia"),
        ("GH200", "nvidia"),
        ("V100", "nvidia"),
        ("L40S", "nvidia"),
        ("B200", "nvidia"),
        ("MI250X", "amd"),
        ("AMD Instinct", "amd"),
        ("MI300A", "amd"),
        ("Intel Data Center GPU Max 1550", "intel"),
        ("PVC", "intel"),
        ("a very fast card", ""),
        ("", ""),
    ],
)
def test_vendor_of_a_gpu(said: str, vendor: str) -> None:
    assert vendor_of(said) == vendor


def test_same_model_goes_by_the_telling_word() -> None:
    assert same_model("A100", "nvidia a100 80gb sxm")
    assert not same_model("A100", "A1000")
    assert not same_model("MI250X", "MI300A")


@pytest.mark.parametrize(
    ("script", "scheduler", "launcher"),
    [
        (SCRIPT, "slurm", "srun"),
        ("#PBS -A x\nmpiexec -n 4 ./a\n", "pbs", "mpiexec"),
        ("#BSUB -P x\njsrun -n 4 python a.py\n", "lsf", "jsrun"),
        ("# flux: -N 2\nflux run -n 8 python a.py\n", "flux", "flux run"),
        ("#SBATCH -N 1\n/opt/bin/mpirun a\ntorchrun a.py", "slurm", "torchrun"),
        ("echo hello\n", None, ""),
    ],
)
def test_scheduler_and_launcher_are_read_from_the_script(script: str, scheduler: str | None, launcher: str) -> None:
    assert scheduler_of(script) == scheduler
    assert launcher_of(script) == launcher
