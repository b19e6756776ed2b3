"""Which nodes of a job are fit to train? Pairs of nodes compute and talk; a bad pair is taken apart and tried again.

    python3 node_test.py --keep 8 --hosts 'n1 n2 ... n9' -- \
        srun --nodes=2 ... --nodelist={nodes} python node_test.py --member

Prints the nodes to use, joined by commas; a line a node goes to stderr. Exit code 42: fewer than --keep are fit; the
last line then names the others as an `--exclude=` for the next submission. Two rounds, as in DLRover's network check
and MegaScale's start: https://github.com/intelligent-machine-learning/dlrover, https://arxiv.org/abs/2402.15627. Only
a member needs PyTorch; any Python from 3.6 on runs the rest.
"""
# rehearsal: run as it is

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from typing import Any

NOT_ENOUGH = 42
ROUND_S = 120
"""A pair that says nothing for so long has failed."""
SLOW = 2.0
"""A node is slow from this multiple of the median on."""
SMALLEST_S = 0.2
"""Below this many seconds differences are noise."""
TURNS = 10
"""Sums, or products on each device, that are timed one by one."""
MOST_BATCHES = 5
"""So often the turns are repeated where they differ much."""
PLAYED = 2
"""Nodes that have processes where a job is rehearsed on one computer."""


def member() -> None:
    """One node of a pair: every device computes, then both sum 64 MB. Prints one JSON line."""
    from datetime import timedelta

    import torch
    import torch.distributed as dist

    rank, size = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
    on_cpu = os.environ.get("MAPLE_REHEARSAL_DEVICES") is not None
    kind = "cuda" if torch.cuda.is_available() else "xpu" if hasattr(torch, "xpu") and torch.xpu.is_available() else ""
    kind = "cpu" if on_cpu or not kind else kind
    count = 1 if kind == "cpu" else getattr(torch, kind).device_count()
    compute = 0.0
    for number in range(count):
        device = torch.device(kind) if kind == "cpu" else torch.device(kind, number)
        edge = 256 if kind == "cpu" else 8192
        matrix = torch.ones(edge, edge, device=device)

        def multiply(matrix: "torch.Tensor" = matrix, edge: int = edge, number: int = number) -> None:
            if float((matrix @ matrix)[0, 0]) != edge:
                raise ArithmeticError(f"device {number} multiplies wrongly")

        multiply()
        compute += seconds_of(multiply, repeat=differ)
    if kind != "cpu":
        getattr(torch, kind).set_device(0)
    address = f"tcp://{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    backend = {"cuda": "nccl", "xpu": "xccl", "cpu": "gloo"}[kind]
    limit = timedelta(seconds=ROUND_S / 2)
    dist.init_process_group(backend, init_method=address, rank=rank, world_size=size, timeout=limit)
    part = torch.ones(2**14 if kind == "cpu" else 2**24, device=torch.device(kind, 0) if kind != "cpu" else "cpu")

    def add_up() -> None:
        part.fill_(1.0)
        dist.all_reduce(part)
        if float(part[0]) != size:
            raise ArithmeticError("the sum over the nodes is wrong")

    def either_differs(times: "list[float]") -> bool:
        wish = torch.tensor([float(differ(times))], device=part.device)
        dist.all_reduce(wish)
        return bool(wish.item())

    add_up()
    network = seconds_of(add_up, repeat=either_differs)
    dist.barrier()
    seconds = {"compute": compute, "network": network}
    sys.stdout.write("NODE " + json.dumps({"rank": rank, "seconds": seconds}) + "\n")  # one write: lines stay whole
    sys.stdout.flush()
    dist.destroy_process_group()


def seconds_of(turn: Any, repeat: Any) -> float:
    """Seconds for TURNS turns, by the quicker of them: work beside the test only ever makes a turn longer.

    turn: one of them; repeat: whether the times so far are too uneven, so that ten more are taken.
    """
    times: list[float] = []
    for _ in range(MOST_BATCHES):
        for _ in range(TURNS):
            began = time.perf_counter()
            turn()
            times.append(time.perf_counter() - began)
        if not repeat(times):
            break
    return TURNS * lower_quartile(times)


def lower_quartile(times: "list[float]") -> float:
    return sorted(times)[len(times) // 4]


def differ(times: "list[float]") -> bool:
    """Whether a typical turn took twice as long as the quicker ones: then ten of them do not tell the node's speed."""
    return statistics.median(times) > SLOW * lower_quartile(times)


def try_pairs(
    pairs: "list[list[str]]", command: "list[str]", port: int, limit: float = ROUND_S
) -> "dict[str, dict[str, float] | None]":
    """All pairs at once, each on a port of its own. Node -> its seconds, or None where its pair failed."""
    running = []
    for number, pair in enumerate(pairs):
        words = [word.replace("{nodes}", ",".join(pair)) for word in command]
        place = dict(os.environ, MASTER_ADDR=pair[0], MASTER_PORT=str(port + number))
        running.append((pair, subprocess.Popen(words, stdout=subprocess.PIPE, env=place, universal_newlines=True)))
    deadline = time.monotonic() + limit
    found: dict[str, dict[str, float] | None] = {}
    for pair, process in running:
        try:
            text, _ = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
        said = [json.loads(one) for one in re.findall(r"NODE (\{.*?\}\})", text)]
        ok = process.returncode == 0 and len(said) == len(pair)
        for rank, node in enumerate(pair):
            found[node] = next(one["seconds"] for one in said if one["rank"] == rank) if ok else None
    return found


def suspects(found: "dict[str, dict[str, float] | None]") -> "list[str]":
    """Nodes whose pair failed or was slow in something, against the median of all."""
    fit = [one for one in found.values() if one]
    if not fit:
        return list(found)
    limits = {name: max(SLOW * statistics.median_low(one[name] for one in fit), SMALLEST_S) for name in fit[0]}
    return [node for node, one in found.items() if one is None or any(one[name] > limits[name] for name in limits)]


def judge(hosts: "list[str]", command: "list[str]", port: int) -> "dict[str, str]":
    """Node -> "" where it is fit, else what is wrong with it. An odd last node is tried with the first, afterwards."""
    found = try_pairs([hosts[at : at + 2] for at in range(0, len(hosts) - 1, 2)], command, port)
    if len(hosts) % 2:
        found[hosts[-1]] = try_pairs([[hosts[-1], hosts[0]]], command, port)[hosts[-1]]
    doubted = suspects(found)
    sound = [node for node in hosts if node not in doubted]
    if not sound:
        return dict.fromkeys(hosts, "no pair of nodes worked")
    again: dict[str, dict[str, float] | None] = {}
    for start in range(0, len(doubted), len(sound)):
        now = doubted[start : start + len(sound)]
        tried = try_pairs([list(pair) for pair in zip(now, sound)], command, port)  # noqa: B905, too new for 3.6
        again.update({node: tried[node] for node in now})
    bad = suspects({**{node: found[node] for node in sound}, **again})
    return {node: in_words(again[node]) if node in bad and node in again else "" for node in hosts}


def in_words(seconds: "dict[str, float] | None") -> str:
    if seconds is None:
        return "failed twice"
    return "slow: " + ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())


def main() -> int:
    parser = argparse.ArgumentParser(description="Leaves bad and slow nodes of a job out.")
    parser.add_argument("--member", action="store_true", help="be one node of a pair")
    parser.add_argument("--keep", type=int, help="so many nodes are needed")
    parser.add_argument("--hosts", default="", help="all nodes of the job")
    parser.add_argument("command", nargs="*", help="starts one pair; {nodes} is replaced by its two names")
    options = parser.parse_args()
    if options.member:
        member()
        return 0
    hosts = options.hosts.split()
    if "MAPLE_REHEARSAL_BIN" in os.environ and len(hosts) > PLAYED:
        print(f"node test: left out, a rehearsal plays {PLAYED} nodes", file=sys.stderr)
        print(",".join(hosts[: options.keep]))
        return 0
    began = time.monotonic()
    verdict = judge(hosts, options.command, int(os.environ.get("MASTER_PORT", "29500")))
    for node, wrong in verdict.items():
        print(f"node test: {node} {wrong or 'is fit'}", file=sys.stderr)
    fit = [node for node in hosts if not verdict[node]]
    left_out = ",".join(node for node in hosts if verdict[node])
    print(f"node test: {len(fit)} of {len(hosts)} nodes fit, {time.monotonic() - began:.0f} s", file=sys.stderr)
    if len(fit) < options.keep:
        print(f"node test: too few. Submit again with --exclude={left_out}", file=sys.stderr)
        return NOT_ENOUGH
    print(",".join(fit[: options.keep]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
