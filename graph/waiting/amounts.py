"""What a job asks for, resource by resource, and such amounts as a person reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.waiting.case import WaitCase
from knowledge.cluster import Cluster, Queue
from knowledge.schedulers.accounting import gpus_of
from knowledge.schedulers.limit_words import RESOURCES
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import printed_seconds, spoken_time

# The words of limits for one resource each.
SAME = {"memory": "mem", "gres": "gpu", "unknown": "gpu", "submitjobs": "submit", "submitjob": "submit",
        "wallduration": "time", "wall": "time", "ncpus": "cpu", "ngpus": "gpu", "nodect": "node", "nodes": "node",
        "walltime": "time", "gres/gpu": "gpu", "ngpus_physical": "gpu", "ngpus_shared": "gpu", "slots": "slot",
        "proc": "cpu", "procs": "cpu", "job": "jobs", "license": "license", "licenses": "license"}  # fmt: skip
NOUNS = {**RESOURCES, "gpu": "GPUs", "slot": "slots", "billing": "billing units",
         "submit": RESOURCES["submitjobs"]}  # fmt: skip
SIZES = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "b": 1}
GPUS = re.compile(r"gpu(?::[\w.-]+)?[:=](\d+)")
# Of one node by Slurm's and Flux's options, of one host by LSF's `num=`, of one chunk by PBS's select.
ASKED_GPUS = re.compile(
    r"(?:--(?:gres=gpu|gpus-per-node=)(?::?[a-z][\w.-]*)?:?|-gpu [\"']?num=|Requested GPU <num=|select\S*:ngpus=)(\d+)"
)
# The first chunk of a select line, without its number.
PBS_CHUNK = re.compile(r"select *= *(?:\d+:)?([^\s+]+)")


HOURS = re.compile(
    r"(?i)(?<![A-Za-z.:\d])(\d+(?:\.\d+)?) ?(?:(?:h(?:ours?|rs?)?|stunden|heures|horas|ore|uur)\b|小时|時間|시간)"
)
OPTIONS = ("--mem", "--mem-per-cpu")


def resource_of(word: str) -> str:
    """The one name of a resource here: `gres` and `ngpus` are `gpu`."""
    return SAME.get(word.lower(), word.lower())


def size(text: str, bare: int = 2**20) -> float | None:
    """Bytes of `900G`, `512gb`, `4000Mn`; None where it is no size. `bare`: what a number without a unit counts."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgtb]?)(?:i?b|[nc])?\+?", text.strip().lower())
    return float(found[1]) * SIZES.get(found[2], bare) if found else None


def amount(of: str, text: str) -> float | None:
    """A printed amount of the resource, time in seconds and memory in bytes; None where it is none."""
    if of in ("mem", "core-mem"):
        return size(text)
    if of == "time":
        return printed_seconds(text, "h:m") or (float(text) * 60 if text.isdigit() else None)
    found = re.fullmatch(r"\d+(?:\.\d+)?", text.strip())
    return float(found[0]) if found else None


def spoken_amount(of: str, value: float) -> str:
    """`4 GPUs`, `1 node`, `900 GB of memory`, `2 days`."""
    if of == "time":
        return spoken_time(value)
    if of == "core-mem":  # set and printed in MB: rounded to GB, what is just above the limit looks equal to it
        return f"{value / 2**20:,.0f} MB of memory"
    if of == "mem":
        return f"{value / 2**30:.4g} GB of memory"
    noun = noun_of(of)
    return f"{value:,.10g} {noun.removesuffix('s') if value == 1 else noun}"


def noun_of(of: str) -> str:
    """`GPUs`, `nodes`, `memory`."""
    return "memory" if "mem" in of else NOUNS.get(of, of)


def bare_amount(of: str, value: float) -> str:
    """The amount without its noun, for a sentence that has named it."""
    return spoken_amount(of, value) if of in ("time", "mem", "core-mem") else f"{value:,.10g}"


def tres(text: str) -> dict[str, float]:
    """`cpu=64,mem=200G,gres/gpu:a100=4` by resource; typed GPUs are added up where no untyped number stands."""
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.rpartition("=")
        of = resource_of(name.split(":")[0])
        number = amount(of, value)
        if name and number is not None and not (":" in name and f"{name.split(':')[0]}=" in text):
            found[of] = found.get(of, 0) + number
    return found


def held_by(job: QueuedJob) -> dict[str, float]:
    """What one job asks for or holds in all, as far as it is printed."""
    printed = job.printed
    fields = {
        "cpu": printed("NumCPUs") or printed("CPUS") or printed("Resource_List.ncpus") or printed("TSK"),
        "mem": printed("Resource_List.mem") or printed("Memory"),
        "billing": "",
    }
    found = {of: value for of, text in fields.items() if (value := amount(of, text)) is not None}
    # `TRES` is what older releases of Slurm print for both.
    found |= tres(printed("ReqTRES") or printed("AllocTRES") or printed("TRES") or printed("tres_req_str"))
    if "mem" not in found and (each := size(printed("MIN_MEMORY"))):
        found["mem"] = each * (job.nodes or 1)
    told = GPUS.search(printed("TresPerNode") or printed("TRES_PER_NODE") or printed("GRES"))
    if told and job.nodes:
        found.setdefault("gpu", job.nodes * int(told[1]))
    if (gpus := gpus_of(job)) is not None:
        found.setdefault("gpu", gpus)
    if job.nodes:
        found["node"] = job.nodes
    if job.limit:
        found["time"] = job.limit
    if job.tasks:
        found["slot"] = job.tasks
    if job.scheduler == "lsf" and job.phase == "running" and job.where:  # `16*h1:8*h2`
        parts = re.findall(r"(?:(\d+)\*)?[A-Za-z][\w.-]*", job.where)
        found["slot"] = sum(int(number or 1) for number in parts)
    return found | {"jobs": 1}


def held_in(case: WaitCase, job: QueuedJob) -> dict[str, float]:
    """What one job of the paste holds; GPUs also by what the person says that a node has."""
    from graph.waiting.limits_said import each_said, on_a_node_said

    found = held_by(job)
    if "gpu" not in found and job.nodes and (each := on_a_node_said(case, "gpu")):
        found["gpu"] = job.nodes * each
    if "gpu" not in found and job.phase == "running":  # `the three runs use 4 GPUs each`
        jobs, each = each_said(case, "gpu")
        found |= {"gpu": each} if jobs and jobs == sum(one.phase == "running" for one in case.others) else {}
    return found


def request_of(case: WaitCase) -> Mapping[str, float]:
    """What the job asks for in all; GPUs also by its script, its partition's name or the machine's facts."""
    from graph.waiting.limits_said import amounts_asked, on_a_node_said

    found, said = held_by(case.job), amounts_asked(case)
    if "gpu" not in found and (gpus := gpus_in_all(case, said)):
        found["gpu"] = gpus
    option = time_in_words(case.words, spoken=False)
    if "time" not in found and option:
        found["time"] = option
    for of, value in said.items():
        found.setdefault(of, value)
    if "slot" not in found and (slots := only_pending(case)):
        found["slot"] = slots
    if case.found.reason.word == "active-limit":  # Maui prints it in the reason itself
        found[resource_of(case.found.named["res"])] = float(case.found.named["asked"])
    budget = case.found.reason.kind == "limit-budget"
    if "time" not in found and budget and (time := time_in_words(case.words, spoken=True)):
        found["time"] = time
    if "billing" not in found and (each_node := on_a_node_said(case, "billing")):
        found["billing"] = each_node * found.get("node", 1)
    return found


def only_pending(case: WaitCase) -> float | None:
    """The slots of a job of LSF that is the only one shown of its user, who runs nothing, by busers.

    Where nothing runs and a limit of one user still holds the job, it is the job itself that is too large.
    """
    alone = not any(job.phase == "waiting" and job.user == case.job.user for job in case.others)
    rows = [row for row in case.rows("busers") if alone and case.job.user and row.get("USER/GROUP") == case.job.user]
    idle = len(rows) == 1 and not any(
        amount("slot", rows[0].get(name, "")) for name in ("RUN", "SSUSP", "USUSP", "RSV")
    )
    return amount("slot", rows[0].get("PEND", "")) if idle else None


def gpus_in_all(case: WaitCase, said: Mapping[str, float]) -> float | None:
    """GPUs of a job that prints none: the person's words go before a queue's name and a machine's facts."""
    from graph.waiting.limits_said import on_a_node_said

    nodes = case.job.nodes or 0
    if nodes and (each_said := on_a_node_said(case, "gpu")):
        return nodes * each_said
    if "gpu" in said:
        return said["gpu"]
    if nodes and (each := gpus_each(case)):
        return nodes * each
    one_host = case.job.scheduler == "lsf" and re.search(r"span *\[ *hosts *= *1|(?<!\S)-n 1(?!\d|,\d)", case.text)
    return on_one_node(case).get("gpu") if one_host else None


def time_in_words(words: str, spoken: bool) -> float | None:
    """The seconds that a script beside the job asks for; `spoken`: also a sentence (else it may be a time waited)."""
    said = re.search(r"(?i)(?:\b(?:time|walltime)|(?<!\S)-t)(?: is)?[= ]+([\d:-]+\w?)", words) or re.search(
        r"(?m)#SBATCH +-t +(\S+)", words
    )
    from graph.waiting.limits_said import CLAUSE, STILL_LEFT

    clauses = [one for one in CLAUSE.split(words) if not STILL_LEFT.search(one)] if spoken else []
    hours = next(filter(None, map(HOURS.search, clauses)), None)
    return (printed_seconds(said[1]) if said else None) or (float(hours[1]) * 3600 if hours else None)


def on_one_node(case: WaitCase) -> dict[str, float]:
    """What the job asks for on each of its nodes, as far as that is printed and not only counted together."""
    printed = case.job.printed
    gpus = (
        GPUS.search(printed("TresPerNode") or printed("TRES_PER_NODE"))
        or ASKED_GPUS.search(case.text)
        or re.search(r"num=(\d+)", printed("Requested GPU"))
        or re.search(r"^(\d+)$", printed("GPU_NUM"))
    )
    script = {option: found[1] for option in OPTIONS if (found := re.search(rf"{option}[= ](\d[\w.]*)", case.text))}
    chunk = PBS_CHUNK.search(case.text) if case.job.scheduler == "pbs" else None
    chunk_of = dict(re.findall(r"(ncpus|mem)=(\w+)", chunk[1])) if chunk else {}
    reserved = re.search(r"rusage\[[^\]]*\bmem=(\d+(?:\.\d+)?[GMTK]B?)", case.text)
    texts = {
        "gpu": gpus[1] if gpus else "",
        "mem": printed("MinMemoryNode")
        or script.get("--mem", "")
        or chunk_of.get("mem", "")
        or (reserved[1] if reserved else ""),
        "core-mem": printed("MinMemoryCPU") or script.get("--mem-per-cpu", ""),
        "cpu": printed("MinCPUsNode") or chunk_of.get("ncpus", "") or cores_in_script(case),
    }
    asked = {of: value for of, text in texts.items() if (value := amount(of, text))}
    whole = held_by(case.job) if case.job.nodes == 1 else {}
    return with_a_core(case, {of: value for of, value in whole.items() if of in texts} | asked)


def with_a_core(case: WaitCase, asked: dict[str, float]) -> dict[str, float]:
    """Where it is memory that holds it, that of one core too: as the person tells it, else divided among its cores."""
    from graph.waiting.limits_said import on_a_core_said

    if "core-mem" in asked or (case.found.reason.of != "mem" and case.found.reason.kind != "client-error"):
        return asked
    whole = held_by(case.job)
    told = on_a_core_said(case) or (whole["mem"] / whole["cpu"] if whole.get("mem") and whole.get("cpu") else None)
    return {**asked, "core-mem": told} if told else asked


# A directive of Slurm, or the options of a command before its program: what stands behind that is the program's own.
SUBMITS = re.compile(r"#SBATCH\b.*|\b(?:sbatch|srun|salloc)((?:\s+-[\w-]+(?:[= ][^\s-]\S*)?)*)")
# Characters of the longest line of a script that is looked at.
LONGEST = 2_000


def cores_in_script(case: WaitCase) -> str:
    """The cores that options of Slurm ask for on one node; empty where they tell none, or more than the job has."""
    parts = (SUBMITS.search(line) for line in case.text.split("\n") if len(line) < LONGEST)
    lines = [part[1] or part[0] for part in parts if part]
    each, tasks = (
        next((found[1] for line in lines if (found := re.search(option, line))), "")
        for option in (r"(?:--cpus-per-task[= ]|\s-c ?)(\d+)", r"--ntasks-per-node[= ](\d+)")
    )
    cores, has = int(each or 1) * int(tasks or 1), case.job.printed("NumCPUs")
    return str(cores) if (each or tasks) and not (has.isdigit() and cores > int(has)) else ""


def queue_of(machine: Cluster, name: str) -> Queue | None:
    return next(
        (q for q in machine.queues if name and (name in (q.id, *q.names) or q.id.startswith(name.rstrip("+-")))), None
    )


def gpus_each(case: WaitCase) -> int | None:
    """GPUs on each node: from the request, the partition's name (gpuA100x4), or the machine's facts."""
    told = case.job.printed("TresPerNode") or case.job.printed("TRES_PER_NODE")
    asked = GPUS.search(told)
    named = re.search(r"x(\d)$", case.job.queue)
    if asked or named:
        return int((asked or named)[1])  # type: ignore[index]
    queue = queue_of(case.machine, case.job.queue) if case.machine else None
    nodes = [n for n in case.machine.node_types if queue and n.id in queue.node_types] if case.machine else []
    return nodes[0].gpus.per_node if nodes else None
