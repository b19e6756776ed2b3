"""Two ranks under torchrun: rank 1 falls behind, then the loss is NaN, then rank 1 stops and rank 0 waits for it."""

from __future__ import annotations

import os
import time

import torch
import torch.distributed as dist

RANK = int(os.environ["RANK"])
TOTAL = 4000
# Steps on their own, in which rank 1 is slow; then steps together.
ALONE, TOGETHER = 50, 20


def step(number: int, loss: float) -> None:
    print(f"[rank{RANK}] step {number}/{TOTAL} loss {loss:.4f}", flush=True)


dist.init_process_group("gloo")
for number in range(ALONE):
    time.sleep(0.04 if RANK == 0 else 0.08)
    step(number, 2.0)
for number in range(ALONE, ALONE + TOGETHER):
    loss = torch.tensor(float("nan") if number == ALONE + 10 else 2.0)
    dist.all_reduce(loss)
    time.sleep(0.05)
    step(number, loss.item() / 2)
if RANK == 1:
    time.sleep(600)
dist.all_reduce(torch.zeros(1))
