"""Provokes the failures of cases.yaml for real and keeps what they print: tests/logs/CAUSE/NAME.log.

    .venv/bin/python tests/logs/provoke.py [CAUSE/NAME ...]

Paths, process numbers of no interest and the host's name are replaced, so that the logs read like a cluster's.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
LONGEST_RUN = 180


def available(needed: str | None) -> bool:
    return not needed or bool(shutil.which(needed)) or importlib.util.find_spec(needed) is not None


def provoke(case: dict[str, Any]) -> str:
    """What one case prints, both streams as they come."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (case.get("files") or {}).items():
            Path(folder, name).write_bytes(text.encode())
        programs = Path(sys.executable).parent
        environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", PYTHONUNBUFFERED="1", LC_ALL="C")
        done = subprocess.run(
            ["bash", "-c", case["run"]],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LONGEST_RUN,
            check=False,
        )
        return neutral(done.stdout.decode("utf-8", "replace"), folder, case["name"])


def neutral(text: str, folder: str, name: str) -> str:
    """The text with this computer's paths and name replaced."""
    text = text.replace(folder, f"/scratch/ada/{name}").replace(os.uname().nodename, "node1")
    text = text.replace(str(Path(sys.prefix)), "/home/ada/env").replace(sys.base_prefix, "/usr")
    return re.sub(r"/\S*?/python3\.(\d+)/", r"/home/ada/env/lib/python3.\1/", text)


def main(names: list[str]) -> None:
    for case in yaml.safe_load((HERE / "cases.yaml").read_text()):
        label = f"{case['cause']}/{case['name']}"
        if (names and label not in names) or not available(case.get("needs")):
            continue
        path = HERE / f"{label}.log"
        path.parent.mkdir(exist_ok=True)
        path.write_text(provoke(case))
        print(label, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
