"""A virtual Slurm made from a machine's facts, discovered: the facts that a scheduler can tell come back equal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from virtual_slurm import VirtualSlurm

from assistant.cli import main
from graph.discovery.drift import drift_of
from graph.discovery.slurm_machine import slurm_machine
from knowledge.catalogue import catalogue
from knowledge.cluster_file import read_cluster
from knowledge.schedulers.asking import CouldNotAsk, ask_command


def program(*words: str, config: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from assistant.cli import main; raise SystemExit(main())", *words]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(config), "XDG_CACHE_HOME": str(config)}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


@pytest.mark.parametrize("name", ["delta"])
def test_facts_come_back_and_a_script_from_them_passes_check(
    name: str,
    whole_slurm: Callable[[str], VirtualSlurm],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for key, value in whole_slurm(name).environment.items():
        monkeypatch.setenv(key, value)
    folder = tmp_path / "maple-chat" / "clusters"
    folder.mkdir(parents=True)
    assert main(["clusters", "discover", "-o", str(folder / f"{name}.yaml")]) == 0
    assert "not told by any command" in capsys.readouterr().err
    told, known = read_cluster(folder / f"{name}.yaml"), catalogue().clusters[name]
    for queue in known.queues:
        here = told.queue(queue.id)
        assert here is not None
        assert (here.max_walltime, here.max_nodes) == (queue.max_walltime, queue.max_nodes)
        kinds = [(known.node_type(k).count, known.node_type(k).gpus.per_node) for k in queue.node_types]
        assert [(told.node_type(k).count, told.node_type(k).gpus.per_node) for k in here.node_types] == kinds
    found = slurm_machine(ask_command)
    assert not isinstance(found, CouldNotAsk)
    assert drift_of(known, found.queues) == ()
    (folder / f"{name}.yaml").rename(folder / "newmachine.yaml")
    text = (folder / "newmachine.yaml").read_text().replace(f"id: {name}\n", "id: newmachine\n", 1)
    (folder / "newmachine.yaml").write_text(text.replace(f"- {name}\n", "- newmachine\n", 1))
    wanted = ["--machine", "newmachine", "--framework", "pytorch", "--strategy", "ddp", "--nodes", "2"]
    script = program(
        "script", *wanted, "--gpus-per-node", "4", "--entry", "train.py", "--walltime", "01:00:00", config=tmp_path
    )
    assert script.returncode == 0, script.stderr
    (tmp_path / "job.sh").write_text(script.stdout)
    checked = program("check", str(tmp_path / "job.sh"), "--machine", "newmachine", "--json", config=tmp_path)
    assert '"severity": "error"' not in checked.stdout, checked.stdout
