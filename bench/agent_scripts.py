"""The paper's 36 and 45 scripts, written by an agent's recorded calls, each rehearsed with all its ranks.

    uv run python bench/agent_scripts.py [--only 36-vista ...]

Needs torch and the extra `rehearse`; some ten minutes on two cores. Exit 1 where one has errors or does not pass.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from pathlib import Path

from mcp.client.client import Client

from assistant.mcp.server import make_server

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.assistant.mcp.transcripts import replay, transcripts


async def run(only: list[str]) -> int:
    chosen = [one for one in transcripts() if not only or any(one["id"].startswith(start) for start in only)]
    passed, seconds = 0, []
    async with Client(make_server([])) as client:
        for one in chosen:
            began = time.perf_counter()
            _, checked, outcome = await replay(client, one, rehearsed=True)
            seconds.append(time.perf_counter() - began)
            fine = outcome["passed"] and checked["errors"] == 0
            passed += fine
            told = one["calls"][-1]["arguments"]
            ranks = told["nodes"] * told.get("gpus_per_node", one["script"]["gpus_per_node"])
            verdict = "passed" if fine else f"NOT: {outcome['report'].strip()[-300:]}"
            print(f"{one['id']:<28} {ranks:>3} ranks asked  {seconds[-1]:5.1f} s  {verdict}", flush=True)
    print(f"{passed} of {len(chosen)} passed, {statistics.median(seconds):.1f} s each (median)")
    return 0 if passed == len(chosen) else 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="only cases whose id begins so")
    sys.exit(asyncio.run(run(parser.parse_args().only)))


if __name__ == "__main__":
    main()
