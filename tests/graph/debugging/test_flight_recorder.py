"""Dumps of a hang: which rank stands behind. One is provoked here, with gloo on the CPU."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import main
from graph.debugging.flight_recorder import find_hang, read_dump, take_dumps


def write_dump(folder: Path, rank: int, calls: list[tuple[str, list[int]]], ranks: int, pickled: bool = True) -> None:
    entries: list[dict[str, Any]] = [
        {
            "collective_seq_id": number,
            "is_p2p": False,
            "process_group": ("0", "default_pg"),
            "profiling_name": f"nccl:{name}",
            "input_sizes": [sizes],
            "state": "scheduled",
            "time_discovered_completed_ns": None,
        }
        for number, (name, sizes) in enumerate(calls, 1)
    ]
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(ranks)))}}
    data = {"version": "2.10", "entries": entries, "pg_config": config}
    (folder / f"rank_{rank}").write_bytes(pickle.dumps(data) if pickled else json.dumps(data).encode())


@pytest.mark.parametrize("pickled", [True, False])
def test_the_rank_behind_is_named_with_what_the_others_wait_in(tmp_path: Path, pickled: bool) -> None:
    calls = [("all_reduce", [4]), ("all_gather", [8]), ("all_reduce", [16])]
    for rank in range(4):
        write_dump(tmp_path, rank, calls[: 1 if rank == 3 else 3], 5, pickled)
    dumps, rest = take_dumps([tmp_path])
    found = find_hang(dumps)
    assert found and not rest and dict(found.behind) == {3: 2} and found.without == (4,)
    assert "Rank 3 is 2 collectives behind" in found.says[0] and "all_reduce number 3" in found.says[0]


def test_ranks_that_call_different_things_are_told(tmp_path: Path) -> None:
    for rank in range(2):
        write_dump(tmp_path, rank, [("all_reduce", [4]), ("broadcast" if rank else "all_reduce", [4])], 2)
    found = find_hang(take_dumps([tmp_path])[0])
    assert found and "different collectives as number 2" in found.says[0]


def test_ranks_at_the_same_place_are_not_blamed(tmp_path: Path) -> None:
    for rank in range(2):
        write_dump(tmp_path, rank, [("all_reduce", [4])], 2)
    found = find_hang(take_dumps([tmp_path])[0])
    assert found and not found.behind and "same collective" in found.says[0]


def test_a_file_that_would_run_something_is_refused(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, tuple[str]]:
            return os.system, (f"touch {tmp_path}/ran",)

    (tmp_path / "rank_0").write_bytes(pickle.dumps({"entries": [Evil()], "pg_config": {}}))
    assert read_dump(tmp_path / "rank_0") is None and not (tmp_path / "ran").exists()


@pytest.mark.parametrize("raw", [b"", b"{", b"\x80", b"\x80\x04K", b"[1]", b'{"entries": []}'])
def test_what_is_no_dump_is_none(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "rank_0").write_bytes(raw)
    assert read_dump(tmp_path / "rank_0") is None


HANG = """
import datetime, os, sys, time
import torch
import torch.distributed as dist
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=2))
rank, ones = dist.get_rank(), torch.ones(4)
dist.all_reduce(ones)
try:
    time.sleep(3) if rank == 1 else dist.all_reduce(ones)
except RuntimeError:
    pass
with open(f"{sys.argv[1]}/rank_{rank}", "wb") as file:
    dumped = torch._C._distributed_c10d._dump_fr_trace_json()
    file.write(dumped.encode() if isinstance(dumped, str) else dumped)
os._exit(0)
"""


def test_a_provoked_hang_is_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    (tmp_path / "hang.py").write_text(HANG)
    (tmp_path / "dumps").mkdir()
    words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=3", "hang.py", str(tmp_path / "dumps")]
    environment = {**os.environ, "TORCH_FR_BUFFER_SIZE": "100", "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=120
    )
    assert main(["why", str(tmp_path / "dumps")]) == 1
    told = capsys.readouterr().out
    assert "Rank 1 is 1 collective behind" in told and "all_reduce number 2" in told and "ranks 0, 2" in told
