"""`maple-chat doctor`: what is installed, configured, reachable, and what to do about the rest."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from assistant.health import Check, examine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """0 when the main job works, whatever else is missing."""
    checks = examine()
    works = not any(check.needed and check.state != "ok" for check in checks)
    if options.json:
        print(json.dumps({"works": works, "checks": [asdict(check) for check in checks]}, ensure_ascii=False))
        return 0 if works else 1
    for check in checks:
        print(line(check))
    print("\nScripts can be written here." if works else "\nScripts cannot be written here: see 'wrong' above.")
    return 0 if works else 1


def line(check: Check) -> str:
    todo = f"\n{'':22}-> {check.do}" if check.do and check.state != "ok" else ""
    return f"{check.name:<13}{check.state:<9}{check.says}{todo}"
