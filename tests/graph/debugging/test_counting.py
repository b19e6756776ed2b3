"""Reading with progress gives what reading gives, and ends where the person does not want to wait."""

from __future__ import annotations

import gzip
from pathlib import Path

from graph.debugging import counting
from graph.debugging.counting import counted
from graph.debugging.diagnosis import diagnose
from knowledge.types import Working

LOG = "step 1 loss 0.5\n" * 200_000 + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


def test_a_log_read_with_progress_is_the_same_log(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(counting, "PAUSE_S", -1)
    path, packed = tmp_path / "job.log", tmp_path / "job.log.gz"
    path.write_text(LOG)
    packed.write_bytes(gzip.compress(LOG.encode()))
    news: list[Working] = []
    assert diagnose(counted([path], news.append)) == diagnose(path)
    assert news[-1] == Working("reading job.log", len(LOG), len(LOG))
    assert diagnose(counted([packed], news.append)).cause == "gpu-oom"


def test_a_stopped_log_ends(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(LOG)
    assert diagnose(counted([path], lambda news: None, lambda: True)).cause != "gpu-oom"
