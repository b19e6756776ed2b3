"""The MCP server as a client waits for it: its start and memory, then each tool over standard input and output.

    uv run python bench/mcp_server.py [--runs 20] [--starts 7]

Medians and the slowest; the limits that they are held to (milliseconds): start 1500 and 150 MB, write_script 60,
check_script 120, diagnose_log of 200 lines 60. Exit 1 where a median is over its limit. The start is counted from the
process's own start to the answer of `initialize`; a tool's first call, which loads what it needs, is told apart.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MAPLE = str(Path(sys.executable).parent / "maple-chat")
LIMITS = {"start": 1500.0, "write_script": 60.0, "check_script": 120.0, "diagnose_log": 60.0}
MOST_MEMORY_MB = 150.0
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
REQUEST = {"machine": "perlmutter", "framework": "pytorch", "strategy": "fsdp", "nodes": 4, "account": "m1234_g"}
QUEUE = "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n123 gpu train me PD 0:00 2 (AssocGrpGRES)\n"
LOG = "".join(f"[rank{n % 8}] step {n} loss {3 - n / 100:.3f} tokens/s 41000\n" for n in range(190)) + (
    "[rank3]: Traceback (most recent call last):\n[rank3]:   File \"train.py\", line 88, in <module>\n"
    "[rank3]:     loss.backward()\n[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.44 GiB. "
    "GPU 3 has a total capacity of 39.39 GiB of which 1.10 GiB is free.\n"
    + "[rank0]: torch.distributed.DistBackendError: Connection closed by remote peer\n" * 6
)  # fmt: skip


class Server:
    """One server process and its client's side of the pipe."""

    def __init__(self, data: str) -> None:
        self.began = time.perf_counter()
        environment = {"MAPLE_CHAT_DATA": data, "PATH": "/usr/bin:/bin"}
        self.process = subprocess.Popen(
            [MAPLE, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.asked = 0

    def ask(self, method: str, given: dict[str, Any]) -> Any:
        """The answer of one request. Exits where the server says no."""
        assert self.process.stdin and self.process.stdout
        self.asked += 1
        asked = {"jsonrpc": "2.0", "id": self.asked, "method": method, "params": given}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.asked:
                break
        if "error" in answer or answer["result"].get("isError"):
            sys.exit(f"{method}: {json.dumps(answer)[:400]}")
        return answer["result"]

    def start(self) -> float:
        """Milliseconds from the process's start to the answer of `initialize`."""
        self.ask("initialize", HELLO)
        took = 1000 * (time.perf_counter() - self.began)
        assert self.process.stdin
        self.process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        return took

    def memory(self) -> float:
        """The most memory that it held so far, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1000

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def timed(server: Server, tool: str, given: dict[str, Any]) -> float:
    began = time.perf_counter()
    server.ask("tools/call", {"name": tool, "arguments": given})
    return 1000 * (time.perf_counter() - began)


def told(name: str, times: list[float], first: float | None = None) -> bool:
    """Prints a row; whether the median is within its limit."""
    median, limit = statistics.median(times), LIMITS.get(name)
    fine = limit is None or median <= limit
    held = f"  limit {limit:.0f}{'' if fine else '  OVER'}" if limit else ""
    once = f"  first call {first:.0f}" if first is not None else ""
    print(f"{name:<16} median {median:7.1f} ms  slowest {max(times):7.1f}{once}{held}")
    return fine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--starts", type=int, default=7)
    options = parser.parse_args()
    fine = True
    with tempfile.TemporaryDirectory() as data:
        starts = []
        for _ in range(options.starts + 1):
            server = Server(data)
            starts.append(server.start())
            held = server.memory()
            server.end()
        fine &= told("start", starts[1:])
        fine &= held <= MOST_MEMORY_MB
        print(f"{'memory':<16} {held:.0f} MB at the start  limit {MOST_MEMORY_MB:.0f}")
        server = Server(data)
        server.start()
        script = server.ask("tools/call", {"name": "write_script", "arguments": REQUEST})["structuredContent"]["script"]
        server.end()
        server = Server(data)
        server.start()
        for tool, given in calls(script).items():
            first = timed(server, tool, given)
            fine &= told(tool, [timed(server, tool, given) for _ in range(options.runs)], first)
        print(f"{'memory':<16} {server.memory():.0f} MB after every tool")
        server.end()
    sys.exit(0 if fine else 1)


def calls(script: str) -> dict[str, dict[str, Any]]:
    return {
        "list_clusters": {},
        "cluster_facts": {"machine": "perlmutter"},
        "compare_clusters": {"machines": ["perlmutter", "delta"]},
        "write_script": REQUEST,
        "check_script": {"script": script, "machine": "perlmutter"},
        "mend_script": {"script": script.replace("--nodes=", "--node=", 1), "machine": "perlmutter"},
        "port_script": {"script": script, "machine": "frontier", "account": "abc123"},
        "diagnose_log": {"log": LOG},
        "explain_pending": {"output": QUEUE},
        "plan_resources": {"model": "7B", "machines": ["perlmutter"]},
        "search_knowledge": {"question": "NCCL timeout on Frontier"},
    }


if __name__ == "__main__":
    main()
