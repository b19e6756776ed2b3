"""What the guide to training programs says of PyTorch holds: its lines run here on two gloo processes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

torch = pytest.importorskip("torch", reason="torch is not installed (extra: rehearse)")
GUIDE = Path(__file__).parents[2] / "knowledge" / "guides" / "training.yaml"
START = """\
import sys, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
rank = int(sys.argv[1])
dist.init_process_group("cpu:gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
torch.manual_seed(0)
"""
# Both are done before either goes; then without the clean-up of threads, which is not what is tried here.
END = """\
dist.barrier()
import os
os._exit(0)
"""
HOOKS = """\
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
for name in ("plain", "fp16", "power"):
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
    model = DistributedDataParallel(layers)
    sent = []
    if name == "fp16":
        def counted(state, bucket):
            sent.append(bucket.buffer().to(torch.float16).nbytes * 2 == bucket.buffer().nbytes)
            return default_hooks.fp16_compress_hook(None, bucket)
        model.register_comm_hook(None, counted)
    if name == "power":
        state = powerSGD_hook.PowerSGDState(process_group=None, matrix_approximation_rank=1, start_powerSGD_iter=2)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    steps = torch.optim.SGD(model.parameters(), lr=0.01)
    torch.manual_seed(rank)
    data = torch.randn(32, 64)
    losses = []
    for _ in range(20):
        steps.zero_grad()
        loss = (model(data) - data.mean(1, keepdim=True)).pow(2).mean()
        loss.backward()
        steps.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0], (name, losses)
    assert all(sent) and (name != "fp16" or sent)
"""
SAVES = """\
import pathlib, torch.distributed.checkpoint as dcp
folder = pathlib.Path(sys.argv[2] + "-saved")
state = {"weights": torch.full((1000,), 7.0)}
future = dcp.async_save(state, checkpoint_id=folder)
future.result()
assert (folder / ".metadata").is_file()
state["weights"].zero_()
dcp.load(state, checkpoint_id=folder)
assert float(state["weights"][0]) == 7.0
"""
TOWERS = """\
import torch.distributed.nn
weight = torch.ones(3, requires_grad=True)
mine = weight * (rank + 1)
theirs = torch.cat(torch.distributed.nn.all_gather(mine))
theirs.pow(2).sum().backward()
kept = weight.grad.clone()
# Both ranks' losses reach this rank's features: twice the gradient of its own part.
assert torch.allclose(kept, torch.full((3,), 2.0 * 2 * (rank + 1) ** 2)), kept
weight.grad = None
parts = [torch.empty(3), torch.empty(3)]
dist.all_gather(parts, weight * (rank + 1))
assert not torch.cat(parts).requires_grad
"""


@pytest.mark.parametrize("program", [HOOKS, SAVES, TOWERS], ids=["compression", "asynchronous saves", "two towers"])
def test_the_lines_run(program: str, tmp_path: Path) -> None:
    words = [sys.executable, "-c", START + program + END]
    ranks = [
        subprocess.Popen([*words, str(rank), str(tmp_path / "meet")], stderr=subprocess.PIPE, text=True)
        for rank in (0, 1)
    ]
    errors = [rank.communicate(timeout=120)[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], "\n".join(error[-2000:] for error in errors)


def test_the_names_are_pytorchs() -> None:
    text = " ".join(
        paragraph["text"] for guide in yaml.safe_load(GUIDE.read_text()) for paragraph in guide["paragraphs"]
    )
    named = set(re.findall(r"\btorch(?:\.\w+)+", text))
    assert len(named) >= 3
    for name in named:
        package, _, last = name.rpartition(".")
        module = __import__(package, fromlist=[last])
        assert hasattr(module, last) or __import__(name), name
