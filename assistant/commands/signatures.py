"""`maple-chat signatures check`: verifies the failure signatures, ours and a site's."""

from __future__ import annotations

import argparse
from pathlib import Path

from knowledge.signatures.check import check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Verify signatures: the pattern compiles, the cause exists, the example is diagnosed by it."
    parser.add_argument("action", choices=["check"])
    parser.add_argument("file", nargs="*", type=Path, help="files to check beside the installed ones")


def run(options: argparse.Namespace) -> int:
    problems, count = check(options.file)
    print("\n".join(problems) if problems else f"{count} signatures, all fine")
    return 1 if problems else 0
