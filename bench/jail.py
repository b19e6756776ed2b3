"""What the rehearsal's jail holds here, and what a rehearsal may take: the figures of docs/security.md.

    uv run python bench/jail.py [--write]

Starts the jail by namespaces and by Landlock at each ABI from 3 to the kernel's, lets it try to break itself, and then
runs scripts that fill disk, memory and the process table. --write puts the table into docs/security.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from graph.extraction.script import read_script  # noqa: E402
from graph.verification.simulator import isolation, stage  # noqa: E402
from graph.verification.simulator.allocation import allocation  # noqa: E402
from graph.verification.simulator.config import TOO_MANY  # noqa: E402
from graph.verification.simulator.isolation import WAYS_OUT, Isolation  # noqa: E402
from graph.verification.simulator.jail import limits  # noqa: E402
from graph.verification.simulator.jail.kernel import landlock_version  # noqa: E402
from graph.verification.simulator.running import Ran, folder, run  # noqa: E402
from knowledge.catalogue import catalogue  # noqa: E402

PAGE = ROOT / "docs" / "security.md"
BEGIN, END = "<!-- made by bench/jail.py -->", "<!-- end of what bench/jail.py makes -->"
HEAD = "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -C gpu\n#SBATCH --gpus-per-node=4\n"
FILL_DISK = """for n in $(seq 20); do
    for f in . $HOME $SCRATCH $TMPDIR /tmp; do dd if=/dev/zero of=$f/$n bs=1M count=200; done
done
"""
FILL_MEMORY = """for n in $(seq 10); do
    /usr/bin/python3 -c 'import time; kept = bytearray(b"x") * (300 << 20); time.sleep(20)' &
done
wait
"""
FILL_PROCESSES = "for n in $(seq 2000); do sleep 60 & done; wait\n"


def jailed(body: str, kind: Isolation, abi: int | None) -> tuple[Ran, float]:
    """A script of two nodes with nothing to train, and the seconds that it took."""
    cluster = catalogue().find("perlmutter")
    assert cluster
    script = read_script(HEAD + body)
    job = allocation(script, cluster)
    facts = stage.stand_in(cluster, script, job, "pytorch", "ddp", 2, None, kind, (), frozenset())
    with folder() as place:
        inside = stage.IN_NAMESPACES if kind == "namespaces" else str(place)
        stage.fill(place, inside, HEAD + body, "job.sh", (), replace(facts, preload=()))
        began = time.monotonic()
        return run(place, kind, 120, lambda _: None, abi=abi), time.monotonic() - began


def jails() -> list[tuple[str, Isolation, int | None]]:
    newest = min(landlock_version(), isolation.LANDLOCK_KNOWN)
    found: list[tuple[str, Isolation, int | None]] = [
        (f"Landlock, ABI {abi}", "landlock", abi) for abi in range(newest, isolation.LANDLOCK_NEEDED - 1, -1)
    ]
    return [("namespaces", "namespaces", None), *found] if isolation.available() == "namespaces" else found


def proof_row(title: str, kind: Isolation, abi: int | None) -> str:
    ran, took = jailed("true\n", kind, abi)
    (proved,) = [one for one in ran.records if one["kind"] == "proved"]
    held, through = proved["held"], proved["open"]
    counted = f"{len(held)} of {len(held) + len(through)}"
    return f"| {title} | {proved['tried']} | {counted} | {', '.join(through) or 'none'} | {took:.1f} s |"


def resource_row(title: str, kind: Isolation, abi: int | None, what: str, body: str) -> str:
    ran, took = jailed(body, kind, abi)
    ended = next((one["says"] for one in ran.records if one["kind"] == "limit"), "")
    if not ended:
        ended = "too many processes" if ran.code == TOO_MANY else "nothing: all that it can write in is full"
    return f"| {title} | {what} | {ended} | {took:.0f} s |"


def table() -> str:
    """Markdown: what was tried and held, and what was taken."""
    ways = "\n".join(f"- `{name}`: {says}" for name, says in WAYS_OUT.items() if name != "unknown")
    proofs = "\n".join(proof_row(*one) for one in jails())
    chosen = [one for one in jails() if one[2] in (None, 5)]
    limits.most_memory = lambda: 1 << 30
    fills = (
        ("disk: 20 GB in files of 200 MB", FILL_DISK),
        ("memory: 3 GB where 1 GB is allowed", FILL_MEMORY),
        ("2,000 processes", FILL_PROCESSES),
    )
    takes = "\n".join(resource_row(*jail, what, body) for jail in chosen for what, body in fills)
    where = f"Linux {platform.release().split('-')[0]}, {os.uname().machine}, {date.today().isoformat()}"
    return f"""{BEGIN}
Measured on {where}. Tried at the start of every rehearsal, from where the script will run:

{ways}

| jail | single tries | ways held | ways open | start to end of an empty script |
|---|---|---|---|---|
{proofs}

| jail | the script fills | ended by | after |
|---|---|---|---|
{takes}
{END}"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--write", action="store_true", help="put the table into docs/security.md")
    options = parser.parse_args()
    text = table()
    if not options.write:
        print(text)
        return 0
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(before + text + rest.partition(END)[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
