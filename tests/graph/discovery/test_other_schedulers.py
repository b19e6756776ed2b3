"""PBS, LSF and Flux described by stand-ins of their commands on the path; the file then works with every door."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from recorded import FLUX, LSF, OLD_PBS, PBS

from graph.discovery.found import MachineFound
from graph.discovery.machine_here import machine_here
from knowledge.cluster_file import read_cluster
from knowledge.schedulers.asking import CouldNotAsk, Printed
from knowledge.schedulers.records import Scheduler

ALL: dict[str, tuple[Scheduler, Mapping[str, str]]] = {
    "pbs": ("pbs", PBS),
    "pbs-text": ("pbs", OLD_PBS),
    "lsf": ("lsf", LSF),
    "flux": ("flux", FLUX),
}


def found(name: str, without: str = "") -> MachineFound | CouldNotAsk:
    scheduler, recorded = ALL[name]

    def ask(words: Sequence[str]) -> Printed | CouldNotAsk:
        line = " ".join(words)
        key = next((key for key in recorded if line == key or (key.endswith("-o") and line.startswith(key))), "")
        if not key or (without and key.startswith(without)):
            return CouldNotAsk(line, "unrecognized option")
        return Printed(recorded[key])

    return machine_here(scheduler, ask)


def machine(name: str) -> MachineFound:
    answer = found(name)
    assert isinstance(answer, MachineFound)
    return answer


@pytest.mark.parametrize("name", ["pbs", "pbs-text"])
def test_queues_of_pbs_have_their_limits_and_nodes(name: str) -> None:
    told = machine(name)
    assert told.name == "pbs01"
    queues = {queue.name: queue for queue in told.queues}
    assert list(queues) == ["main", "big", "viz"]
    main = queues["main"]
    assert (main.seconds, main.most_nodes, main.fewest_nodes, main.default, main.up) == (86400, 6, 1, True, True)
    assert [(s.fewest_nodes, s.most_nodes, s.seconds) for s in main.stretches] == [(1, 2, 21600), (3, 6, 86400)]
    assert [(kind.gpu, kind.gpus, kind.cpus, many) for kind, many in main.kinds] == [("a100", 4, 64, 6)]
    assert [(kind.gpu, kind.gpus, many) for kind, many in queues["big"].kinds] == [("h100", 8, 2)]
    assert (queues["big"].up, queues["big"].most_nodes) == (False, None)
    assert [(kind.gpu, many) for kind, many in queues["viz"].kinds] == [("l40s", 1)]


def test_queues_of_lsf_have_their_limits_and_hosts() -> None:
    told = machine("lsf")
    assert told.name == "heron"
    gpuq, short, cpuq = told.queues
    assert (gpuq.seconds, gpuq.most_nodes, gpuq.default, gpuq.up) == (86400, 3, True, True)
    assert [(kind.gpu, kind.gpus, kind.cpus, kind.memory_mb // 1024, many) for kind, many in gpuq.kinds] == [
        ("a100", 2, 32, 503, 2),
        ("v100", 1, 40, 376, 1),
    ]
    assert (short.seconds, short.up, short.default) == (1800, False, False)
    assert sorted(kind.gpu for kind, _ in short.kinds) == ["", "a100"]
    assert not cpuq.has_gpus


def test_queues_of_flux_have_their_limits_and_nodes() -> None:
    told = machine("flux")
    assert told.name == "wren"
    batch, debug, everything = told.queues
    assert (batch.seconds, batch.most_nodes, batch.default, batch.exclusive) == (86400, 64, True, True)
    assert [(kind.gpu, kind.gpus, kind.cpus, many) for kind, many in batch.kinds] == [("mi300a", 4, 96, 100)]
    assert (debug.seconds, debug.fewest_nodes, debug.default) == (3600, 1, False)
    assert (everything.seconds, everything.most_nodes, everything.up) == (None, None, False)
    assert everything.kinds[0][1] == 116


@pytest.mark.parametrize(
    ("name", "command"), [("pbs", "pbsnodes"), ("lsf", "bqueues"), ("lsf", "bhosts"), ("flux", "flux resource")]
)
def test_a_command_that_fails_is_told_and_not_taken_for_no_nodes(name: str, command: str) -> None:
    assert isinstance(found(name, command), CouldNotAsk)


STAND_IN = """\
#!{python}
import json, sys
recorded = json.load(open({recorded!r}))
line = " ".join([sys.argv[0].rsplit("/", 1)[-1], *sys.argv[1:]])
key = next((k for k in recorded if line == k or (k.endswith("-o") and line.startswith(k))), None)
if key is None:
    sys.exit("unknown option")
print(recorded[key], end="")
"""


@pytest.fixture
def login_node(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The environment of a login node whose commands print what was recorded."""
    _, recorded = ALL[request.param]
    store = tmp_path / "recorded.json"
    store.write_text(json.dumps(recorded))
    commands = tmp_path / "bin"
    commands.mkdir()
    shows = {"pbs": "qstat", "lsf": "bjobs", "flux": "flux"}[ALL[request.param][0]]
    for name in {shows, *(line.split()[0] for line in recorded)}:
        (commands / name).write_text(STAND_IN.format(python=sys.executable, recorded=str(store)))
        (commands / name).chmod(0o755)
    outside = [part for part in os.environ["PATH"].split(":") if not (Path(part) / "squeue").exists()]
    for tool in ("bash", "env", "cat", "sed", "sort", "head", "wc"):
        if not (commands / tool).exists() and (real := next(Path("/").glob(f"usr/bin/{tool}"), None)):
            (commands / tool).symlink_to(real)
    config = str(tmp_path / "config")
    own = {"XDG_CONFIG_HOME": config, "MAPLE_CHAT_DATA": str(tmp_path / "data")}
    return {**os.environ, "PATH": ":".join([str(commands), *outside]), **own}


def run(environment: dict[str, str], *words: str, status: int = 0) -> str:
    command = [sys.executable, "-c", "from assistant.cli import main; raise SystemExit(main())", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("login_node", "name", "closed", "asks"),
    [
        ("pbs", "pbs01", "big", ["#PBS -q main", "#PBS -l select=2:ncpus=64:ngpus=4:mpiprocs=1"]),
        ("lsf", "heron", "short", ["#BSUB -q gpuq", "#BSUB -n 64", '#BSUB -R "span[ptile=32]"', "#BSUB -W 1:00"]),
        ("flux", "wren", "pall", ["# flux: --queue=pbatch", "# flux: --nodes=2", "# flux: --time-limit=60m"]),
    ],
    indirect=["login_node"],
)
def test_a_discovered_machine_works_with_script_check_rehearse_and_drift(
    login_node: dict[str, str], name: str, closed: str, asks: list[str], tmp_path: Path
) -> None:
    folder = Path(login_node["XDG_CONFIG_HOME"]) / "maple-chat" / "clusters"
    folder.mkdir(parents=True)
    run(login_node, "clusters", "discover", "-o", str(folder / f"{name}.yaml"))
    cluster = read_cluster(folder / f"{name}.yaml")
    drifted = run(login_node, "clusters", "check", name, status=1)
    assert drifted == f"{closed}: is not open for starting jobs now\n"
    gpus = str(cluster.node_types[0].gpus.per_node)
    wanted = ["--machine", name, "--framework", "pytorch", "--strategy", "ddp", "--nodes", "2", "--gpus-per-node", gpus]
    script = run(login_node, "script", *wanted, "--entry", "train.py", "--walltime", "01:00:00")
    for line in asks:
        assert line in script
    (tmp_path / "job.sh").write_text(script)
    checked = run(login_node, "check", str(tmp_path / "job.sh"), "--machine", name, "--json")
    assert '"severity": "error"' not in checked, checked
    rehearsed = json.loads(run(login_node, "rehearse", str(tmp_path / "job.sh"), "--machine", name, "--json"))
    assert rehearsed["passed"], rehearsed
    answer = run(login_node, "ask", f"how long may a job run in {cluster.queues[0].id} on {name}?")
    assert "24" in answer, answer
