"""Nodes on a real Slurm: tried in pairs with the slow one left out, and a job that goes on when a node's agent dies."""

from __future__ import annotations

from pathlib import Path

from test_added_parts import bundle_in
from test_runs import have, printed, run_job
from virtual_site import environment
from virtual_slurm import small

from knowledge.catalogue import catalogue

# The test of nodes as it is, but on one node each sum takes a tenth of a second longer.
SLOW_NODE = """\
import os, sys, time
if os.environ.get("SLURMD_NODENAME") == "127.0.1.2" and "--member" in sys.argv:
    import torch.distributed as dist
    fast = dist.all_reduce
    def slow(*words, **named):
        time.sleep(0.1)
        return fast(*words, **named)
    dist.all_reduce = slow
"""
WORLD = """\
import os
if os.environ["LOCAL_RANK"] == "0":
    open("world-" + os.environ["SLURMD_NODENAME"], "w").write(os.environ["WORLD_SIZE"])
"""
# The agent that does not hold the store dies, as its node's death would end it; the other's rank sums until the
# first is missed. (Both nodes are this computer, so either agent may hold it; on a machine it is the first node's.)
DIES = """\
import os, signal
import torch, torch.distributed as dist
agent = os.getppid()
started = dict(entry.split("=", 1) for entry in open(f"/proc/{agent}/environ").read().split("\\0") if "=" in entry)
port = f"{int(started['MASTER_PORT']):04X}"
rows = [line.split() for name in ("tcp", "tcp6") for line in list(open(f"/proc/net/{name}"))[1:]]
listens = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(":" + port) and row[3] == "0A"}
links = (f"/proc/{agent}/fd/{name}" for name in os.listdir(f"/proc/{agent}/fd"))
holds_store = any(os.readlink(link) in listens for link in links if os.path.lexists(link))
dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1))
if os.environ["WORLD_SIZE"] == "2":
    if not holds_store:
        os.kill(agent, signal.SIGKILL)
        os._exit(1)
    dist.all_reduce(torch.ones(1))
open("ended", "w").write(os.environ["WORLD_SIZE"])
"""


@have("torch")
def test_a_slow_node_is_named_and_left_out(tmp_path: Path) -> None:
    script = bundle_in(tmp_path, WORLD, strategy="ddp", nodes=3, gpus_per_node=1, spare_nodes=1, queue="regular")
    (tmp_path / "customised").mkdir()
    (tmp_path / "customised" / "sitecustomize.py").write_text(SLOW_NODE)
    extra = environment(tmp_path, 1) | {"PYTHONPATH": str(tmp_path / "customised")}
    with small(catalogue().clusters["perlmutter"], 4) as slurm:
        state = run_job(slurm, script, extra)
    assert state == "COMPLETED", printed(tmp_path)
    assert "node test: 127.0.1.2 slow" in printed(tmp_path)
    worlds = {path.name: path.read_text() for path in tmp_path.glob("world-*")}
    assert worlds == {f"world-127.0.1.{node}": "3" for node in (1, 3, 4)}


@have("torch")
def test_a_job_goes_on_with_the_nodes_that_are_left(small_slurm, tmp_path) -> None:  # type: ignore[no-untyped-def]
    script = bundle_in(tmp_path, DIES, strategy="ddp", nodes=2, gpus_per_node=1, least_nodes=1, queue="regular")
    # A person waits a minute for nodes that may come back; this test need not.
    script.write_text(script.read_text().replace("last_call_timeout=60", "last_call_timeout=3"))
    state = run_job(small_slurm("perlmutter"), script, environment(tmp_path, 1))
    assert (tmp_path / "ended").read_text() == "1", printed(tmp_path)
    assert state in ("COMPLETED", "FAILED"), printed(tmp_path)
