"""`maple-chat knowledge sync`."""

from __future__ import annotations

import argparse

from assistant.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    return []


def run(settings: Settings, options: argparse.Namespace) -> int:
    raise NotImplementedError
