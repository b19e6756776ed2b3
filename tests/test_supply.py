"""What is installed, against the advisories that are known; and that Chroma never listens."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from tests.supply import advisories, installed, within

LISTENS = """
import os, sys
from pathlib import Path
import numpy as np
bound = []
sys.addaudithook(lambda event, args: bound.append(args[1]) if event == "socket.bind" else None)
from knowledge.store import open_folder
vectors = open_folder(Path(sys.argv[1]))
vectors.add(["1"], np.ones((1, 4), np.float32), [{}])
assert vectors.near(np.ones(4, np.float32), 1) == ["1"]
links = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/dev/fd/{fd}")}
tables = [Path(f"/proc/self/net/{name}").read_text() for name in ("tcp", "tcp6")]
rows = [line.split() for table in tables for line in table.splitlines()[1:]]
print([row for row in rows if row and row[3] == "0A" and f"socket:[{row[9]}]" in links], bound)
"""


def test_no_installed_package_is_older_than_the_fix_of_a_known_advisory() -> None:
    ours = installed()
    assert len(ours) > 60
    for one in advisories():
        package = ours.get(one["package"])
        if package and one["fixed"] != "none":
            assert Version(package.version) >= Version(str(one["fixed"])), one
            if package.bound:
                assert Version(package.bound) >= Version(str(one["fixed"])), f"raise the lower bound: {one}"
        assert one["fixed"] != "none" or one["concerns"].startswith("no")


def test_every_licence_is_told_and_none_asks_for_our_source() -> None:
    told = {package.name: package.licence for package in installed().values()}
    assert [name for name, licence in told.items() if licence == "not told"] == []
    # docutils: only a file for Emacs is under the GPL; the rest is public domain or BSD.
    copyleft = [name for name, words in told.items() if "AGPL" in words or ("GPL" in words and "LGPL" not in words)]
    assert copyleft == ["docutils"]


@pytest.mark.parametrize(
    ("version", "inside"), [("1.0", True), ("2.0", False), ("2.5", True), ("3.0", False), ("0.9", False)]
)
def test_ranges_of_the_database(version: str, inside: bool) -> None:
    events = [{"introduced": "1.0"}, {"fixed": "2.0"}, {"introduced": "2.1"}, {"fixed": "3.0"}]
    assert within(version, events) == inside


def test_chroma_never_listens(tmp_path: Path) -> None:
    """Embedded as we open it: nothing is bound, no socket of the process listens."""
    root = Path(__file__).parent.parent
    command = [sys.executable, "-c", LISTENS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, timeout=120, check=False)
    assert done.stdout.strip() == "[] []", done.stdout + done.stderr[-2000:]
