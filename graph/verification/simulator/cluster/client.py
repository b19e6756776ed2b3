"""What the files of the folder that is first on PATH start: it hands its words, variables and streams to the node.

Run as `python -IS client.py STAGE NAME WORDS...`. The node does the work in a process of its own, out of reach of the
script, and records it; here only the exit code is waited for. Ending this program ends that work.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, __file__.rsplit("/", 5)[0])

from graph.verification.simulator.cluster import wire


def main(stage: str, words: list[str]) -> int:
    """Ask the node; gives the exit code, as a shell has it."""
    node = os.environ.get("MAPLE_REHEARSAL_NODE") or os.uname().nodename
    task = wire.Task(0, tuple(words), dict(os.environ), os.getcwd())  # noqa: PTH109  pathlib is slow to import
    try:
        connection = wire.ask(stage, node, "call", [task], (0, 1, 2))
    except OSError as error:
        print(f"{words[0]}: this node does not answer ({error})", file=sys.stderr)
        return 1
    return next((code if code >= 0 else 128 - code for _, code in wire.answers(connection)), 137)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except KeyboardInterrupt:
        sys.exit(130)
