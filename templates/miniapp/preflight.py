"""Does a job's process group really form? One readable program for CUDA, ROCm, XPU and CPU. Needs only PyTorch.

    python preflight.py [--strategy ddp|fsdp|zero1|zero2|zero3|accelerate] [--out FILE]

Put it in the place of the training program in a launch script. Every rank joins the process group from the variables
that the script gave it, does one all-reduce, one all-gather and one training step of a tiny GPT-2 under the strategy,
and prints one JSON line. Exit code 0: all sums were right on this rank; 1: something was not, see "error".
"""

from __future__ import annotations

import argparse
import json
import math
import os
import socket
import sys
import time
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

STRATEGIES = ("ddp", "fsdp", "zero1", "zero2", "zero3", "accelerate", "none")
BACKENDS = {"cuda": "nccl", "xpu": "xccl", "cpu": "gloo"}
# Where a framework looks for its rank when RANK is not set: (rank, local rank, world size).
# Lightning: lightning.fabric.plugins.environments; DeepSpeed: comm.mpi_discovery; PyTorch itself reads RANK only.
LAUNCHER_VARIABLES = {
    "lightning": (("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
                  ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_SIZE")),
    "deepspeed": (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
                  ("PMI_RANK", "PMI_LOCAL_RANK", "PMI_SIZE")),
}  # fmt: skip
# What a training step gives: the loss, and the class that the strategy wrapped the model in.
Step = tuple[float, str]
VISIBLE = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")


@dataclass
class RankReport:
    """What one rank says. seconds: init is the time to join the group, step that of the training step."""

    rank: int = -1
    local_rank: int = -1
    world_size: int = -1
    host: str = ""
    node: str = ""
    strategy: str = ""
    backend: str = ""
    device: str = ""
    devices_seen: list[str] = field(default_factory=list)
    master: str = ""
    sums_right: bool = False
    loss: float | None = None
    wrapper: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    error: str = ""
    group: str = field(default_factory=lambda: os.environ.get("MAPLE_REHEARSAL_GROUP", ""))
    """Which processes were started together, where a rehearsal tells."""


class TinyGPT2(nn.Module):
    """GPT-2's shape at a size that any device holds: 80,000 parameters, 32 words at most."""

    def __init__(self, words: int = 256, length: int = 32, width: int = 48, heads: int = 2, depth: int = 2) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        block: dict[str, Any] = {"dropout": 0.0, "activation": "gelu", "norm_first": True, "batch_first": True}
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(width, heads, 4 * width, **block) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        length = ids.shape[1]
        x = self.tokens(ids) + self.places(torch.arange(length, device=ids.device))
        future = torch.full((length, length), -math.inf, device=x.device, dtype=x.dtype).triu(1)
        for block in self.blocks:
            x = block(x, src_mask=future)
        logits = self.head(self.norm(x))
        return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


def device_kind() -> str:
    """cuda (NVIDIA, and AMD under its CUDA names), xpu, or cpu. A rehearsal always runs on the CPU."""
    if os.environ.get("MAPLE_REHEARSAL_DEVICES") is not None:
        return "cpu"
    if torch.cuda.is_available():
        return "cuda"
    return "xpu" if hasattr(torch, "xpu") and torch.xpu.is_available() else "cpu"


def devices_seen(kind: str) -> list[str]:
    """The devices that this process may use, by their numbers on the node where that is known."""
    listed = next((os.environ[name] for name in VISIBLE if name in os.environ), None)
    rehearsed = os.environ.get("MAPLE_REHEARSAL_DEVICES")
    if rehearsed is not None:
        return [n for n in (listed.split(",") if listed is not None else rehearsed.split(",")) if n not in ("", "-1")]
    count = 0 if kind == "cpu" else getattr(torch, kind).device_count()
    names = listed.split(",") if listed else []
    return names[:count] if len(names) >= count else [str(n) for n in range(count)]


def adopt_launcher_variables(framework: str) -> None:
    """Do what a framework does by itself when RANK is not set and its launcher has variables of its own."""
    if "RANK" in os.environ:
        return
    for rank, local_rank, size in LAUNCHER_VARIABLES.get(framework, ()):
        if rank in os.environ:
            for name, value in (("RANK", rank), ("LOCAL_RANK", local_rank), ("WORLD_SIZE", size)):
                os.environ.setdefault(name, os.environ.get(value, "0"))
            return


def number(name: str) -> int:
    text = os.environ.get(name)
    if text is None or not text.strip().isdigit():
        found = "but not set" if text is None else f"a number, but it is '{text}'"
        raise ValueError(f"environment variable {name} expected, {found}")
    return int(text)


def choose_device(report: RankReport, kind: str) -> torch.device:
    """The device that LOCAL_RANK names, as training programs do it."""
    report.devices_seen = devices_seen(kind)
    index = report.local_rank
    seen = len(report.devices_seen)
    if (kind != "cpu" or seen) and index >= seen:
        raise ValueError(f"invalid device ordinal: LOCAL_RANK is {index}, this process sees {seen} device(s)")
    report.device = report.devices_seen[index] if seen else "cpu"
    if kind == "cpu":
        return torch.device("cpu")
    getattr(torch, kind).set_device(index)
    return torch.device(kind, index)


def join(report: RankReport, kind: str, timeout: float) -> None:
    """Form the process group from the environment: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT."""
    report.backend = BACKENDS[kind]
    host, port = os.environ.get("MASTER_ADDR"), number("MASTER_PORT")
    if not host:
        raise ValueError("environment variable MASTER_ADDR expected, but not set")
    report.master = f"{host}:{port}"
    try:
        socket.getaddrinfo(host, port)
    except OSError as error:  # torch would try again until the time is up
        raise ValueError(f"MASTER_ADDR '{host}' is no host: {error.strerror}") from error
    if report.rank >= report.world_size:
        raise ValueError(f"rank {report.rank} in a world of {report.world_size}")
    dist.init_process_group(report.backend, timeout=timedelta(seconds=timeout))


def sums_are_right(report: RankReport, device: torch.device) -> bool:
    """One all-reduce (the sum of 1..n) and one all-gather (everyone's rank, in order)."""
    size = report.world_size
    total = torch.full((4,), float(report.rank + 1), device=device)
    dist.all_reduce(total)
    parts = [torch.empty(1, device=device) for _ in range(size)]
    dist.all_gather(parts, torch.tensor([float(report.rank)], device=device))
    return bool((total == size * (size + 1) / 2).all()) and [int(p.item()) for p in parts] == list(range(size))


def plain_step(model: nn.Module, ids: torch.Tensor, accelerator: Any = None) -> Step:
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    if accelerator:
        model, optimiser = accelerator.prepare(model, optimiser)
    loss = model(ids)
    accelerator.backward(loss) if accelerator else loss.backward()
    optimiser.step()
    return float(loss.detach()), type(model).__name__


def ddp_step(model: nn.Module, ids: torch.Tensor, device: torch.device) -> Step:
    devices = [device.index] if device.type != "cpu" else None
    return plain_step(nn.parallel.DistributedDataParallel(model, device_ids=devices), ids)


def fsdp_step(model: TinyGPT2, ids: torch.Tensor) -> Step:
    """FSDP2 (fully_shard) where PyTorch has it, else FSDP1."""
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        from torch.distributed.fsdp import FullyShardedDataParallel

        return plain_step(FullyShardedDataParallel(model), ids)
    for part in (*model.blocks, model):
        fully_shard(part)
    return plain_step(model, ids)


def zero_step(model: nn.Module, ids: torch.Tensor, stage: int) -> Step:
    """One DeepSpeed step. torch_adam: DeepSpeed's own optimiser would compile C++ first."""
    import deepspeed

    optimiser = {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}}
    settings = {"train_micro_batch_size_per_gpu": ids.shape[0], "optimizer": optimiser}
    engine, *_ = deepspeed.initialize(model=model, config={**settings, "zero_optimization": {"stage": stage}})
    loss = engine(ids)
    engine.backward(loss)
    engine.step()
    return float(loss.detach()), f"{type(engine).__name__} ZeRO-{stage}"


def accelerate_step(model: TinyGPT2, ids: torch.Tensor, device: torch.device) -> Step:
    """Accelerate takes the strategy from the variables that `accelerate launch` set.

    On a CPU it leaves FSDP and DeepSpeed out: there, what it would call is called directly.
    """
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=device.type == "cpu")
    if device.type == "cpu" and os.environ.get("ACCELERATE_USE_DEEPSPEED") == "true":
        return zero_step(model, ids, int(os.environ.get("ACCELERATE_DEEPSPEED_ZERO_STAGE", "2")))
    if device.type == "cpu" and os.environ.get("ACCELERATE_USE_FSDP") == "true":
        return fsdp_step(model, ids)
    loss, wrapper = plain_step(model, ids.to(accelerator.device), accelerator)
    return loss, f"{wrapper} by Accelerate"


def train(report: RankReport, device: torch.device) -> None:
    """One step of the tiny GPT-2 under the strategy; every rank has data of its own."""
    torch.manual_seed(0)
    model = TinyGPT2().to(device)
    torch.manual_seed(1 + report.rank)
    ids = torch.randint(0, 256, (2, 32), device=device)
    if report.strategy == "fsdp":
        step = fsdp_step(model, ids)
    elif report.strategy.startswith("zero"):
        step = zero_step(model, ids, int(report.strategy[-1]))
    elif report.strategy == "accelerate":
        step = accelerate_step(model, ids, device)
    else:
        step = ddp_step(model, ids, device)
    report.loss, report.wrapper = step
    if not math.isfinite(report.loss):
        raise ArithmeticError(f"the loss is {report.loss}")


def preflight(options: argparse.Namespace, report: RankReport) -> None:
    """Everything that one rank does; fills the report as it goes, so that an error leaves what was known."""
    adopt_launcher_variables(options.framework)
    kind = device_kind()
    alone = options.strategy == "accelerate" and "LOCAL_RANK" not in os.environ
    report.strategy = options.strategy
    report.rank, report.world_size = (0, 1) if alone else (number("RANK"), number("WORLD_SIZE"))
    report.local_rank = 0 if alone else number("LOCAL_RANK")
    device = choose_device(report, kind)
    if alone:
        report.sums_right = True
        return
    start = time.perf_counter()
    join(report, kind, options.timeout)
    joined = time.perf_counter()
    report.sums_right = sums_are_right(report, device)
    summed = time.perf_counter()
    train(report, device)
    dist.barrier()
    parts = {"init": joined - start, "collectives": summed - joined, "step": time.perf_counter() - summed}
    report.seconds |= {name: round(value, 3) for name, value in parts.items()}


def say(report: RankReport, out: str | None) -> None:
    """One line a rank, in one write, so that ranks do not mix."""
    line = json.dumps(asdict(report)) + "\n"
    if out:
        with Path(out).open("ab", buffering=0) as file:
            file.write(line.encode())
    else:
        print(line, end="", flush=True)


def read_options(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Checks that a job's process group forms and trains one step.")
    parser.add_argument("--strategy", choices=STRATEGIES, default="ddp")
    parser.add_argument("--framework", default="pytorch", help="whose way of finding ranks to follow (default pytorch)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds to wait for the other ranks")
    parser.add_argument("--out", help="append the JSON line to this file instead of printing it")
    return parser.parse_known_args(words)[0]  # the training program's own arguments are not ours


def main(words: list[str] | None = None) -> int:
    """Run the check, say one line, give the exit code."""
    options: Any = read_options(words)
    report = RankReport(host=socket.gethostname(), node=os.environ.get("MAPLE_REHEARSAL_NODE", socket.gethostname()))
    start = time.perf_counter()
    try:
        preflight(options, report)
    except Exception as error:
        report.error = f"{type(error).__name__}: {error}".split("\n")[0][:500]
        print(report.error, file=sys.stderr)
    report.seconds["all"] = round(time.perf_counter() - start, 3)
    say(report, options.out)
    if dist.is_initialized() and not report.error:
        dist.destroy_process_group()
    return 0 if report.sums_right and not report.error else 1


if __name__ == "__main__":
    sys.exit(main())
