"""LSF: queues and hosts, from `bqueues -l`, `bhosts -w`, `lshosts -w`, `lshosts -gpu -w` and `bmgroup -w`.

Forms: https://www.ibm.com/docs/en/spectrum-lsf/10.1.0 (bqueues, bhosts, lshosts, bmgroup; read 2026-11-22).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from graph.discovery.found import MachineFound, NodeKind, QueueFound, counted
from knowledge.schedulers.asking import CouldNotAsk, Printed
from knowledge.schedulers.live import Ask

QUEUES, SLOTS, HOSTS = ["bqueues", "-l"], ["bhosts", "-w"], ["lshosts", "-w"]
GPUS, GROUPS, CLUSTER = ["lshosts", "-gpu", "-w"], ["bmgroup", "-w"], ["lsid"]
# The model inside names such as TeslaV100_SXM2_16GB, NVIDIAA100_SXM4_40GB, AMDInstinctMI250X.
MODEL = re.compile(r"(?i)(?:nvidia|tesla|amd|instinct|geforce|quadro|[_ -])*((?:rtx|gtx)?[a-z]{0,3}\d{2,4}[a-z]?)")


def lsf_machine(ask: Ask) -> MachineFound | CouldNotAsk:
    """This machine's queues; why not, where the queues or the hosts could not be asked."""
    asked = [ask(command) for command in (QUEUES, SLOTS, HOSTS)]
    for answer in asked:
        if isinstance(answer, CouldNotAsk):
            return answer
    queues, slots, hosts = (answer.text for answer in asked if isinstance(answer, Printed))
    gpus, groups, cluster = (
        answer.text if isinstance(answer := ask(command), Printed) else "" for command in (GPUS, GROUPS, CLUSTER)
    )
    kinds = kinds_of(table(slots), table(hosts), gpus_by_host(gpus))
    members = {row.get("GROUP_NAME", ""): row for row in table(groups)}
    found = [queue_of(name, lines, kinds, groups_of(members)) for name, lines in queue_blocks(queues).items()]
    named = re.search(r"My cluster name is (\S+)", cluster)
    return MachineFound("lsf", named[1] if named else "", tuple(found), ("lshosts", "bqueues -l"))


def table(text: str) -> list[dict[str, str]]:
    """Rows under a header, cell by cell; the last column takes the rest of its line."""
    lines = [line for line in text.splitlines() if line.strip()]
    head = lines[0].split() if lines else []
    return [dict(zip(head, line.split(None, max(0, len(head) - 1)), strict=False)) for line in lines[1:]]


def gpus_by_host(text: str) -> dict[str, list[str]]:
    """The GPUs of each host by their models: a host's name stands in its first line only."""
    found: dict[str, list[str]] = {}
    host = ""
    for line in text.splitlines()[1:]:
        words = line.split()
        if not line[:1].isspace() and words:
            host, words = words[0], words[1:]
        if host and len(words) > 1 and words[0].isdigit():
            found.setdefault(host, []).append(words[1])
    return found


def kinds_of(
    slots: Sequence[Mapping[str, str]], hosts: Sequence[Mapping[str, str]], gpus: Mapping[str, Sequence[str]]
) -> dict[str, NodeKind]:
    """Each server host's kind: its slots are what a job's -n counts."""
    sizes = {row.get("HOST_NAME", ""): row for row in hosts}
    found = {}
    for row in slots:
        host = row.get("HOST_NAME", "")
        size = sizes.get(host, {})
        cpus = next((n for n in (row.get("MAX", ""), size.get("ncpus", "")) if n.isdigit()), "0")
        cards = gpus.get(host, ())
        found[host] = NodeKind(
            int(cpus), megabytes(size.get("maxmem", "")), model(cards[0]) if cards else "", len(cards)
        )
    return found


def megabytes(text: str) -> int:
    """`376.2G` or `512000M` in MB, to whole GB: hosts of one kind differ by some MB."""
    found = re.fullmatch(r"([\d.]+)([MGT])", text)
    size = float(found[1]) * {"M": 1, "G": 1024, "T": 1024**2}[found[2]] if found else 0
    return round(size / 1024) * 1024


def model(name: str) -> str:
    found = MODEL.match(name)
    return found[1].lower() if found else name.lower()


def groups_of(rows: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """The hosts of each host group."""
    return {name: row.get("HOSTS", "").split() for name, row in rows.items()}


def queue_blocks(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if head := re.match(r"QUEUE: *(\S+)", line):
            lines = found.setdefault(head[1], [])
        elif found:
            lines.append(line)
    return found


def queue_of(
    name: str, lines: Sequence[str], kinds: Mapping[str, NodeKind], groups: Mapping[str, Sequence[str]]
) -> QueueFound:
    text = "\n".join(lines)
    status = re.search(r"^PRIO NICE STATUS.*\n\s*\S+\s+\S+\s+(\S+)", text, re.MULTILINE)
    hosts = re.search(r"^HOSTS: *(.*)$", text, re.MULTILINE)
    mine = [kinds[host] for host in members(hosts[1] if hosts else "all", kinds, groups)]
    minutes = limit(lines, "RUNLIMIT")
    tasks = [int(float(n)) for n in limit(lines, "TASKLIMIT") or limit(lines, "PROCLIMIT") or limit(lines, "SLOTLIMIT")]
    each = max((kind.cpus for kind in mine), default=0) or 1
    return QueueFound(
        name,
        counted(mine),
        float(minutes[-1]) * 60 if minutes else None,
        max(1, tasks[-1] // each) if tasks else None,
        -(-tasks[0] // each) if len(tasks) > 1 else 1,
        "This is the default queue" in text,
        up=status is not None and status[1] == "Open:Active",
    )


def limit(lines: Sequence[str], name: str) -> list[str]:
    """The numbers below a limit's heading, of the maximum and not of the default limits; the last is the most."""
    part = ""
    for line, below in zip(lines, [*lines[1:], ""], strict=False):
        part = line.strip() if re.fullmatch(r"(?:DEFAULT|MAXIMUM) LIMITS:\s*", line) else part
        heads = re.split(r"\s{2,}|\s(?=[A-Z]+LIMIT)", line.strip())
        if name in heads and not part.startswith("DEFAULT"):
            cells = re.split(r"\s{2,}", below.strip())
            return re.findall(r"\d+(?:\.\d+)?", cells[min(heads.index(name), len(cells) - 1)].split(" of ")[0])
    return []


def members(text: str, kinds: Mapping[str, NodeKind], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The hosts of a HOSTS line: `all`, hosts with a preference (`hostA+2`), groups (`gpu/`), without those of `~`."""
    wanted: dict[str, None] = {}
    out: set[str] = set()
    for word in text.split():
        bare = re.sub(r"\+\d+$", "", word.lstrip("~")).rstrip("/")
        hosts = list(kinds) if bare in ("all", "others", "none") else groups.get(bare, [bare])
        if word.startswith("~"):
            out |= set(hosts)
        else:
            wanted |= dict.fromkeys(hosts)
    return [host for host in wanted if host in kinds and host not in out]
