"""The machines that come with the program, a site's own, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml

from knowledge.catalogue import SHIPPED, Catalogue, catalogue
from knowledge.cluster import Cluster
from knowledge.cluster_file import read_cluster
from knowledge.errors import FactsError

SHIPPED_CLUSTERS = [read_cluster(path) for path in sorted(SHIPPED.glob("*.yaml"))]
EXAMPLE = (Path(__file__).parents[2] / "docs" / "add-a-cluster.md").read_text().split("```yaml\n")[1].split("```")[0]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person's own folder of machines, read by the next catalogue()."""
    folder = tmp_path / "maple-chat" / "clusters"
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    catalogue.cache_clear()
    yield folder
    catalogue.cache_clear()


def machine(name: str) -> Cluster:
    return next(cluster for cluster in SHIPPED_CLUSTERS if cluster.id == name)


def texts(name: str) -> list[str]:
    return [fact.text for fact in machine(name).directives]


def test_the_readme_names_every_machine() -> None:
    readme = " ".join((Path(__file__).parents[2] / "README.md").read_text().split())
    known = readme.split("Known machines: ")[1].split(". ")[0]
    missing = [c.title for c in SHIPPED_CLUSTERS if re.sub(r" \(.*\)", "", c.title) not in re.split(r", | and ", known)]
    assert not missing


@pytest.mark.parametrize("cluster", SHIPPED_CLUSTERS, ids=lambda c: c.id)
def test_each_machine_starts_three_frameworks_on_every_node_type_of_its_queues(cluster: Cluster) -> None:
    types = {name for queue in cluster.queues for name in queue.node_types}
    for framework in ("pytorch", "deepspeed", "accelerate"):
        forms = cluster.launch.get(framework, ())
        reached = {name for form in forms for name in (form.node_types or types)}
        refused = {
            name
            for fact in cluster.refusals
            if fact.framework in (None, framework)
            for name in (fact.node_types or types)
        }
        assert types <= reached | refused, (framework, types - reached)


@pytest.mark.parametrize("cluster", SHIPPED_CLUSTERS, ids=lambda c: c.id)
def test_what_decides_names_its_source_or_says_that_it_has_none(cluster: Cluster) -> None:
    assert all(f.source or (f.note and not f.documented) for forms in cluster.launch.values() for f in forms)
    assert all(fact.source for fact in cluster.environment if fact.apply != "advice")
    assert all(fact.source for fact in cluster.forbidden)
    assert all(queue.source or queue.note for queue in cluster.queues)
    assert all(node.source or node.notes for node in cluster.node_types)
    assert all(fact.source for fact in cluster.refusals)


@pytest.mark.parametrize("cluster", SHIPPED_CLUSTERS, ids=lambda c: c.id)
def test_a_variable_that_is_written_has_one_value_and_not_a_sentence(cluster: Cluster) -> None:
    for fact in cluster.environment:
        if fact.apply != "advice":
            assert not re.search(r" or |\(|^['\"]|, ", fact.value.replace("$((", "").replace("$(", "")), fact.name


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda p: p.stem)
def test_no_note_of_the_writing_is_left(path: Path) -> None:
    assert not re.search(r"FIXME|TODO|[Ss]eed summary|_note:", path.read_text())


def test_no_name_means_two_machines() -> None:
    known = Catalogue({c.id: c for c in SHIPPED_CLUSTERS}, {})
    for cluster in SHIPPED_CLUSTERS:
        for name in (cluster.id, cluster.title, *cluster.names):
            assert known.find(name) is cluster, name


@pytest.mark.parametrize(
    ("said", "meant"),
    [("Perlmutter", "perlmutter"), ("LS6", "lonestar6"), ("Bridges-2", "bridges2"), ("delta_ai", "deltaai")],
)
def test_a_machine_is_found_by_other_spellings(said: str, meant: str) -> None:
    found = Catalogue({c.id: c for c in SHIPPED_CLUSTERS}, {}).find(said)
    assert found is not None
    assert found.id == meant


def test_the_nearest_names_of_a_slip_of_the_pen() -> None:
    known = Catalogue({c.id: c for c in SHIPPED_CLUSTERS}, {})
    assert known.nearest("polarais")[0] == "polaris"
    assert known.nearest("frontiers")[0] == "frontier"
    assert known.nearest("zzzz") == ()


FACTS: dict[str, Callable[[], bool]] = {
    "Lonestar6 refuses --gres and --mem": lambda: (
        {"--gres", "--mem", "--gpus-per-task"} <= {ban.option for ban in machine("lonestar6").forbidden}
    ),
    "Lonestar6 has three GPUs a node": lambda: machine("lonestar6").node_type("a100").gpus.devices_per_node == 3,
    "Stampede3 and Vista refuse --gres and --mem": lambda: all(
        {"--gres", "--mem"} <= {ban.option for ban in machine(name).forbidden} for name in ("stampede3", "vista")
    ),
    "Stampede3's Intel nodes have 8 devices, and no torchrun": lambda: (
        machine("stampede3").node_type("pvc").gpus.devices_per_node == 8
        and {f.workers for forms in machine("stampede3").launch.values() for f in forms if "pvc" in f.node_types}
        == {"ranks"}
    ),
    "Vista has one GPU a node": lambda: machine("vista").node_type("gh").gpus.devices_per_node == 1,
    "Polaris names its file systems": lambda: "-l filesystems=home:eagle" in texts("polaris"),
    "Polaris: prod starts at 10 nodes, and its limit grows with the nodes": lambda: (
        (prod := machine("polaris").queue("prod")) is not None
        and prod.min_nodes == 10
        and [limit.max_walltime for limit in prod.limits] == ["03:00:00", "06:00:00", "24:00:00"]
    ),
    "Polaris goes out through a proxy": lambda: "https_proxy" in machine("polaris").internet.proxy,
    "Aurora has 12 devices a node": lambda: machine("aurora").node_type("aurora").gpus.devices_per_node == 12,
    "Frontier has 8 devices a node and 7 cores for each": lambda: (
        machine("frontier").node_type("mi250x").gpus.devices_per_node == 8
        and machine("frontier").node_type("mi250x").cpu.schedulable == 56
    ),
    "Frontier starts ranks by srun alone": lambda: (
        {(f.launcher, f.workers, f.visible_devices) for forms in machine("frontier").launch.values() for f in forms}
        == {("srun", "ranks", "one")}
    ),
    "Frontier: up to 91 nodes for 2 hours": lambda: (
        asdict(machine("frontier").default_queue.limits[0])
        == {"min_nodes": 1, "max_nodes": 91, "max_walltime": "02:00:00", "note": None}
    ),
    "Delta's account ends on -delta-gpu": lambda: machine("delta").account.suffix == "-delta-gpu",
    "Delta's H200 nodes are for one-node jobs": lambda: (
        (queue := machine("delta").queue("gpuH200x8")) is not None and queue.max_nodes == 1
    ),
    "DeltaAI's account ends on -dtai-gh": lambda: machine("deltaai").account.suffix == "-dtai-gh",
    "Anvil's account follows the node type": lambda: (
        [machine("anvil").account.suffix_for(node) for node in ("anvil-a100", "anvil-h100")] == ["-gpu", "-ai"]
    ),
    "Anvil: 12 GPUs a user": lambda: machine("anvil").default_queue.max_gpus == 12,
    "Bridges-2 counts GPUs for the whole job, with their type": lambda: (
        "--gpus={gpu_type}:{total_gpus}" in texts("bridges2")
    ),
    "Bridges-2 shares at most 4 GPUs": lambda: (
        (queue := machine("bridges2").queue("GPU-shared")) is not None and queue.max_gpus == 4
    ),
    "Expanse asks for lustre and for memory that fits a node": lambda: (
        "--constraint=lustre" in texts("expanse") and machine("expanse").node_type("expanse-v100").job_memory_gb == 368
    ),
}


@pytest.mark.parametrize("fact", FACTS)
def test_facts_that_matter(fact: str) -> None:
    assert FACTS[fact]()


def test_the_example_of_the_docs_is_read(own: Path) -> None:
    (own / "hill.yaml").write_text(EXAMPLE)
    found = catalogue().find("Hill Cluster")
    assert found is not None
    assert found.account.suffix_for("gpu") == "-gpu"
    assert len(catalogue().clusters) == len(SHIPPED_CLUSTERS) + 1


def test_a_persons_file_takes_the_place_of_the_shipped_one(own: Path) -> None:
    (own / "polaris.yaml").write_text((SHIPPED / "polaris.yaml").read_text().replace("title: Polaris", "title: Ours"))
    assert catalogue().clusters["polaris"].title == "Ours"
    assert catalogue().files["polaris"] == own / "polaris.yaml"
    assert len(catalogue().clusters) == len(SHIPPED_CLUSTERS)


def wrong(**changes: object) -> str:
    """The docs' example with keys set anew; None takes a key away."""
    data = yaml.safe_load(EXAMPLE) | changes
    return yaml.safe_dump({key: value for key, value in data.items() if value is not None})


WRONG = {
    "a key that is not known": (wrong(gpu_count=4), "gpu_count: unknown key"),
    "a key that is missing": (wrong(scheduler=None), "scheduler: Field required"),
    "a scheduler that is none": (wrong(scheduler="sge"), "scheduler: Input should be"),
    "a placeholder that is none": (wrong(directives=[{"text": "--x={cores}"}]), "directives.0.text: .*cores"),
    "a queue on nodes that are not there": (
        wrong(queues=[{"id": "q", "node_types": ["big"], "max_walltime": None, "default": True}]),
        "queue q names node types that are not listed",
    ),
    "a walltime that is none": (
        wrong(queues=[{"id": "q", "node_types": ["gpu"], "max_walltime": "2 days", "default": True}]),
        "queues.0.max_walltime: ",
    ),
    "two usual queues": (
        wrong(queues=[{"id": q, "node_types": ["gpu"], "max_walltime": None, "default": True} for q in "ab"]),
        "exactly one queue",
    ),
    "another id than the file's name": (wrong(id="mount"), "id: is 'mount'; name the file mount.yaml"),
    "no YAML": ("id: [hill", "not YAML"),
    "no mapping": ("- hill", "file: Input should be"),
    "bytes that are no text": ("\ud800", "cannot be read"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_refused_with_file_key_and_reason(own: Path, case: str) -> None:
    text, reason = WRONG[case]
    (own / "hill.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(FactsError) as refused:
        catalogue()
    message = str(refused.value)
    assert message.startswith(f"{own / 'hill.yaml'}: ")
    assert re.search(reason, message)
    assert "\n" not in message


@pytest.mark.parametrize("cluster", catalogue().clusters.values(), ids=lambda cluster: cluster.id)
def test_no_queue_advises_what_the_machine_calls_wrong(cluster: Cluster) -> None:
    advised = [
        (queue.id, one.option)
        for queue in cluster.queues
        for one in cluster.forbidden
        if f"{one.option}=" in (queue.note or "")
    ]
    assert advised == []


def test_the_variable_for_srun_s_cpus_names_the_versions_that_read_it() -> None:
    """From 23.11 on srun does not read it: https://github.com/SchedMD/slurm/blob/master/CHANGELOG/slurm-23.11.md."""
    told = {
        cluster.id: fact.why for cluster in catalogue().clusters.values() for fact in cluster.environment
        if fact.name == "SRUN_CPUS_PER_TASK"
    }  # fmt: skip
    assert told
    assert [name for name, why in told.items() if "22.05 and 23.02" not in why or "23.11" not in why] == []


def test_limits_from_another_page_are_not_cited_as_the_site_s() -> None:
    perlmutter = catalogue().clusters["perlmutter"]
    unread = "https://docs.nersc.gov/jobs/policy"
    assert [queue.id for queue in perlmutter.queues if queue.as_of and queue.source == unread] == []
    small = next(queue for queue in catalogue().clusters["bridges2"].queues if queue.id == "GPU-small")
    assert "second-hand" in (small.note or "") and "wait" not in (small.note or "")


def test_who_runs_polaris_s_script_reads_why_its_module_may_be_missing() -> None:
    lines = catalogue().clusters["polaris"].software["default"].lines
    assert lines[lines.index("module load conda") - 1].startswith("#")
