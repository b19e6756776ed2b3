"""How long the test of nodes takes before a training: four local nodes in pairs, twice, one slowed by sleep.

`python bench/node_test.py`. Bound: 20 seconds; exit 1 above it, or where the slow node is not the one named. Each
"node" is a process of this computer with gloo, so that all share its cores: on a machine each has its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from templates.miniapp import node_test

BOUND_S = 20.0
SLOW = """\
import os, sys, time
if os.environ.get("TRIED_NODE") == "127.0.1.3":
    import torch.distributed as dist
    fast = dist.all_reduce
    def slow(*words, **named):
        time.sleep(0.1)
        return fast(*words, **named)
    dist.all_reduce = slow
"""
START = """\
import os, subprocess, sys
nodes = sys.argv[2].split(",")
run = [sys.executable, sys.argv[1], "--member"]
ranks = [
    subprocess.Popen(run, env=dict(os.environ, SLURM_PROCID=str(n), SLURM_NTASKS=str(len(nodes)), TRIED_NODE=node))
    for n, node in enumerate(nodes)
]
sys.exit(max(rank.wait() for rank in ranks))
"""


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(SLOW)
        os.environ |= {"PYTHONPATH": folder, "MAPLE_REHEARSAL_DEVICES": "0", "GLOO_SOCKET_IFNAME": "lo"}
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "OMP_NUM_THREADS": "1"}
        began = time.perf_counter()
        verdict = node_test.judge(
            [f"127.0.1.{n}" for n in (1, 2, 3, 4)], [sys.executable, "-c", START, node_test.__file__, "{nodes}"], 29600
        )
        took = time.perf_counter() - began
    bad = [node for node, wrong in verdict.items() if wrong]
    print(f"{took:.1f} s for 4 nodes in pairs (bound {BOUND_S:g}); left out: {', '.join(bad) or 'none'}")
    return int(took > BOUND_S or bad != ["127.0.1.3"])


if __name__ == "__main__":
    sys.exit(main())
