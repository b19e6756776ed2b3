"""The numbers and names that a log tells, for the steps that cure it: memory, ranks, times, paths, nodes.

A fact is text under a name; what the log does not tell is not there. What a step needs and a log lacks, no step says.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import floor, gcd, prod
from pathlib import Path

from graph.debugging.events import Event, Scan
from graph.debugging.hosts import host_of, only_host
from graph.debugging.lines import PROGRESS, STAMP, clock
from graph.debugging.log import message, printable
from graph.debugging.rejected import facts_of_arguments
from graph.debugging.trouble import counting_lines
from knowledge.data_file import read_data

NUMBER = r"\d+(?:\.\d+)?"
SIZE = rf"(?P<{{}}>{NUMBER} ?[KMGT]i?B)"
# Read from the line that tells the cause, and from what else speaks for the same cause; from all that was found and
# from the end of the log; from the lines of its start that tell what was asked for.
OF_LINE, OF_LOG, OF_START = (
    tuple(re.compile(re.sub(r"\{size:(\w+)\}", lambda name: SIZE.format(name[1]), pattern)) for pattern in patterns)
    for patterns in read_data(Path(__file__).with_suffix(".yaml")).values()
)
SEQUENCE = re.compile(
    rb"[Rr]ank (?P<rank>\d{1,6})\]?.{0,200}?"
    rb"(?:SeqNum=(?P<seq>\d{1,18})|last completed (?:NCCL )?work: (?P<done>\d{1,18}))"
)
# Nodes that the launcher, or a library at work there, names in the end of a log. More than a few are the whole job.
ON_NODE = re.compile(
    r"^(?:\[?\w{0,8}\d+\]?:? )?(?:(?:srun|slurmstepd|jsrun|flux-job): (?:error: )?(?P<node>[a-z][\w.-]*\d): tasks?\b"
    r"|(?P<node2>[a-z][\w.-]*\d):\d+:\d+ \[\d+\] .{0,120}?NCCL WARN"
    r"|.{0,60}\bon node (?P<node3>[a-z][\w.-]*\d)\b)"
)
MOST_NODES = 8
# Causes of which the host of the rank that tells them is the place.
OF_A_NODE = ("gpu-hardware", "env-driver", "comm-nccl-system")
# A number and what is joined to it, each perhaps with its name: `(tensor 4 x pipeline 2)`, `(a=0 + b=8)`.
TERM = r"(?:(?:[A-Za-z_]\w* ){0,3}[A-Za-z_]\w*(?: ?[=:] ?| ?\(?))?\d+"
TERMS = re.compile(rf"(?<!\w){TERM}(?:\)? ?(?:[+*x]|times) ?{TERM})*(?!\w)")
# Functions in which a model is evaluated.
EVALUATING = re.compile(
    r"(?i)^_?(?:evaluat\w*|evaluation_loop|validat\w*|predict\w*|prediction_\w+|val_\w+|test_step|eval_\w+)$"
)
FULL_GPU = re.compile(r"GPU_(\d+)_bfc\) ran out of memory|out of memory.{0,80}\bGPU (\d+)\b")
# What a rank prints that sees more than one GPU.
SEVERAL_GPUS = re.compile(
    r"(?i)Device\(id=0.{0,40}Device\(id=1|device_count\(?\)?[ :=]+(?:[2-9]|1\d)\b|process \d+ has [\d.]+ [MG]iB"
)
# Each group of ranks counts its own collectives: two ranks alone that are so far apart may tell of two groups.
MOST_APART = 1000
# Collectives up to this number set a run up: barriers, the broadcast of parameters.
FIRST = 8
# A larger count of memory without a unit is one of bytes.
LARGEST_KB = 1_000_000_000
# A longer fact is no number and no name.
LONGEST_FACT = 200
# What of a source line is quoted in a step.
LONGEST_SOURCE = 100
# A job printed its progress steadily, and then nothing for so many seconds and so many times its usual pause: it hung.
STOOD_STILL, TIMES_USUAL, FEWEST_TIMES = 1200, 20, 4
# The time of a step and that of its data, as image trainings print both; most of it is waiting from here on.
LOADING = re.compile(rf"(?i)\btime[ :=]+(?P<time>{NUMBER})\b.{{0,40}}?\bdata(?:[ _]time)?[ :=]+(?P<data>{NUMBER})\b")
MOSTLY = 0.6
# What LSF reports below a job's output; a program that waits uses far less time of the processors than passes.
BUSY, RAN = (re.compile(rf"{name} time :\s{{1,40}}({NUMBER}) sec") for name in ("CPU", "Run"))
AT_WORK = 0.7
# No count of heads, layers or samples that people divide is larger.
LARGEST_WHOLE = 1_000_000
# Less of a GPU holds no model.
LEAST_SHARE = 0.1
# No layer is split over more GPUs than this.
MOST_PARALLEL = 64
# A run that would need more than so many times its time is to be continued, not prolonged.
MOST_TIMES = 12
# The package that holds a module, where they are called differently.
PACKAGES = {
    "cv2": "opencv-python-headless",
    "yaml": "pyyaml",
    "PIL": "pillow",
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "bs4": "beautifulsoup4",
    "flash_attn": "flash-attn",
    "Crypto": "pycryptodome",
    "dotenv": "python-dotenv",
    "google.protobuf": "protobuf",
    "pytorch_lightning": "pytorch-lightning",
    "faiss": "faiss-cpu",
    "attr": "attrs",
    "dateutil": "python-dateutil",
    "hydra": "hydra-core",
    "tensorboardX": "tensorboardx",
    "mpl_toolkits": "matplotlib",
}
# What builds a compiled part of a framework, by the beginning of its file's name; apex is no package of an index.
BUILT_BY = {
    "flash_attn": "flash-attn",
    "transformer_engine": "transformer-engine",
    "xformers": "xformers",
    "causal_conv1d": "causal-conv1d",
    "selective_scan": "mamba-ssm",
    "grouped_gemm": "grouped-gemm",
    "bitsandbytes": "bitsandbytes",
    "libbitsandbytes": "bitsandbytes",
}
# What people call folders of their own programs: a package of such a name is somebody else's, and no cure.
OWN_FOLDERS = (
    "src", "source", "lib", "libs", "core", "common", "utils", "util", "utilities", "helper", "helpers", "tools",
    "tool", "misc", "models", "model", "modules", "module", "nets", "network", "networks", "layers", "losses",
    "loss", "data", "dataset", "dataloader", "dataloaders", "config", "configs", "conf", "options", "opts", "args",
    "engine", "train", "training", "trainer", "trainers", "eval", "evaluation", "test", "tests", "scripts", "main",
    "run", "app",
)  # fmt: skip


def facts_of(winner: Event, events: Iterable[Event], scan: Scan) -> dict[str, str]:
    """What the log tells that its cure needs, by name. winner is the line that tells the cause."""
    near = [winner, *(e for e in events if e.signature.cause == winner.signature.cause)]
    lines = [e.text for e in near]
    tail = scan.tails.get(winner.file)
    end = printable_lines(tail.data) if tail else []
    found = first_matches(OF_LINE, lines)
    found |= {
        k: v for k, v in first_matches(OF_LOG, [*_frames(winner), *lines, *reversed(end)]).items() if k not in found
    }
    found |= {k: v for k, v in first_matches(OF_START, scan.noted.lines).items() if k not in found}
    found |= _of_frame(winner) | _of_ranks(tail.data if tail else b"", winner)
    found |= _of_nodes([*lines, *end]) | _of_epochs(found) | facts_of_arguments(winner.text, unranked(end))
    found |= _of_host(winner, found, "\n".join([*lines, *end])) | _of_stage(winner) | _of_shared_gpu(winner, end)
    data, counts = (tail.data, bool(counting_lines(tail))) if tail else (b"", False)
    found |= _of_work(winner, end, counts) | _of_silence(winner, data) | _of_loading(winner, end)
    if not _crowded_out(found, winner.text):
        found.pop("intruder", None)
    if found.get("holder") in sys.stdlib_module_names:
        found["standard"] = found["holder"]
    return {name: value for name, value in (found | _reckoned(found)).items() if name != "parts"}


def unranked(lines: Iterable[str]) -> str:
    """Lines without the ranks in front of them, as a text."""
    return "\n".join(message(line)[0] for line in lines)


def _of_host(winner: Event, found: Mapping[str, str], text: str) -> dict[str, str]:
    """The node that a fault of hardware is of: that of the rank, or the only one that the log names."""
    if "node" in found or winner.signature.cause not in OF_A_NODE:
        return {}
    node = host_of(winner, text) or only_host(text)
    return {"node": node} if node else {}


def _of_stage(winner: Event) -> dict[str, str]:
    """Whether an exception was raised while the model was evaluated."""
    names = [frame.name for frame in winner.error.frames] if winner.error else []
    return {"stage": "evaluation"} if any(EVALUATING.search(name) for name in names) else {}


def _of_shared_gpu(winner: Event, end: Iterable[str]) -> dict[str, str]:
    """The one GPU on which several ranks ran out of memory, where each of them could use more than that one."""
    if winner.signature.cause != "gpu-oom":
        return {}
    on: dict[str, set[int]] = {}
    several: set[int] = set()
    for line in end:
        text, rank = message(line)
        if rank is not None and SEVERAL_GPUS.search(text):
            several.add(rank)
        if rank is not None and (found := FULL_GPU.search(text)):
            on.setdefault(found[1] or found[2], set()).add(rank)
    gpu, ranks = next(iter(on.items()), ("", set()))
    if len(on) != 1 or len(ranks) < 2 or not ranks <= several:
        return {}
    return {"gpu": gpu, "sharing": ", ".join(map(str, sorted(ranks)))}


def divisor(parts: str) -> int:
    """The number that a message names by its terms (`encoder 0 + decoder 8`, `2 x 4`); 0 where it names none."""
    found = TERMS.search(parts)
    if found is None:
        return 0
    return sum(prod(int(number) for number in re.findall(r"(?<![\w.])\d+", term)) for term in found[0].split("+"))


def share_free(found: Mapping[str, str]) -> dict[str, str]:
    """How much of a GPU's memory is free, as the share that a server may be given; a little is left. Nothing where that
    is too little for any model."""
    free, total = (re.fullmatch(r"\d+(?:\.\d+)?", found.get(name, "")) for name in ("free", "total"))
    if not free or not total or not 0 < float(free[0]) < float(total[0]):
        return {}
    share = floor(100 * float(free[0]) / float(total[0]) - 1) / 100
    return {"share": f"{share:.2f}"} if share >= LEAST_SHARE else {}


def divisors_near(found: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """The numbers next to `part` that divide `whole`, as `divides`, where it does not itself; as `fitting` those that
    divide the heads of keys and the number of processes too, where the log tells them, and `alone` where only 1 does.

    known: the facts of the log.
    """
    if not found.get("whole", "").isdigit() or not found.get("part", "").isdigit():
        return {}
    whole, part = int(found["whole"]), int(found["part"])
    if not 0 < whole <= LARGEST_WHOLE or part < 1:
        return {}
    others = [int(known[name]) for name in ("key_heads", "world") if known.get(name, "").isdigit()]
    common = gcd(whole, *others)
    fitting = " or ".join(str(n) for n in range(min(common, MOST_PARALLEL), 1, -1) if common % n == 0)
    told = {"fitting": fitting} if fitting else {"alone": "1"} if others and common == 1 else {}
    if part < whole:
        below = next(n for n in range(part, 0, -1) if whole % n == 0)
        above = next(n for n in range(part, whole + 1) if whole % n == 0)
        told["divides"] = f"{below} or {above}"
    return told


def printable_lines(data: bytes) -> list[str]:
    """The lines of a log's end, pieces that carriage returns part one by one."""
    return [printable(line) for line in data.decode("utf-8", "replace").replace("\r", "\n").split("\n")]


def first_matches(patterns: Iterable[re.Pattern[str]], lines: Iterable[str]) -> dict[str, str]:
    """The named groups of each pattern in the first line that it matches; name2 is another way to write name."""
    found: dict[str, str] = {}
    lines = list(lines)
    for pattern in patterns:
        hit = next((match for line in lines if (match := pattern.search(line))), None)
        for name, value in (hit.groupdict() if hit else {}).items():
            if value and len(value) <= LONGEST_FACT:
                found.setdefault(name.rstrip("0123456789"), value.strip())
    return found


def _frames(event: Event) -> list[str]:
    return [frame.file for frame in reversed(event.error.frames)] if event.error else []


def _of_frame(event: Event) -> dict[str, str]:
    """Where the person's own code stood, and the words of the exception."""
    if event.error is None:
        return {}
    found = {"exception": f"{event.error.type}: {event.error.text}".rstrip(": ")}
    own, last = event.error.own_frame, next(reversed(event.error.frames), None)
    if own and last and not last.own and event.error.text.strip("'\"") not in own.source:
        found["inside"] = f"{'/'.join(Path(last.file).parts[-2:])}:{last.at}"
    if own:
        found["frame"] = f"{own.file}:{own.at}"
        found["place"] = found["frame"] + (f" (`{own.source[:LONGEST_SOURCE]}`)" if own.source else "")
    return found


def _of_ranks(data: bytes, winner: Event) -> dict[str, str]:
    """Of a collective that hung: the ranks that stand behind the others, and where."""
    if winner.signature.cause != "comm-collective-timeout":
        return {}
    at: dict[int, int] = {}
    for found in SEQUENCE.finditer(data):
        number = int(found["seq"] or found["done"])
        at[int(found["rank"])] = max(number, at.get(int(found["rank"]), 0))
    if len(set(at.values())) < 2:
        same = next(iter(at.values()), FIRST + 1)
        early = {"early": str(same)} if same <= FIRST else {}
        return {"sequence": str(same)} | early if at else {}
    usual = Counter(at.values()).most_common(1)[0][0]
    apart = MOST_APART if len(at) == 2 else usual
    behind = sorted(rank for rank, number in at.items() if usual - apart <= number < usual)
    if not behind or len(behind) > len(at) // 2:
        return {}
    ranks = ", ".join(map(str, behind[:8]))
    return {"behind": ranks, "behind_at": str(min(at[r] for r in behind)), "others_at": str(usual)}


def _of_nodes(lines: Iterable[str]) -> dict[str, str]:
    """The nodes on which it ended, as the log's last lines name them."""
    nodes = [next(filter(None, hit.groups())) for line in lines if (hit := ON_NODE.search(line))]
    named = list(dict.fromkeys(nodes))
    return {"ended_on": ", ".join(named)} if 0 < len(named) <= MOST_NODES else {}


def _of_silence(winner: Event, data: bytes) -> dict[str, str]:
    """How long a job that its time limit ended had printed nothing, where it had printed steadily before."""
    end = STAMP.search(winner.text.encode())
    if winner.signature.cause != "sched-time-limit" or end is None:
        return {}
    times = [clock(found) for line in data.split(b"\n") if (found := STAMP.search(line[:160]))]
    before = [at for at in times if at < clock(end)]
    if len(before) < FEWEST_TIMES:
        return {}
    usual = (before[-1] - before[0]) / (len(before) - 1)
    silent = clock(end) - before[-1]
    return {"silence": clock_time(silent)} if silent > max(STOOD_STILL, TIMES_USUAL * usual) else {}


def _of_work(winner: Event, lines: Sequence[str], counts: bool) -> dict[str, str]:
    """Of a job that ran out of time and prints no steps: how much the processors worked, as LSF reports it. counts:
    whether lines of the log's end count something up."""
    if winner.signature.cause != "sched-time-limit" or any(
        PROGRESS.search(line.encode()) and "***" not in line for line in lines
    ):
        return {}
    text = "\n".join(lines)
    used, ran = BUSY.search(text), RAN.search(text)
    if used and ran and float(used[1]) > AT_WORK * float(ran[1]):
        return {"worked": f"{float(used[1]):.0f} s of processor time in {float(ran[1]):.0f} s"}
    return {} if counts else {"no_steps": f"{len(lines)} lines were looked at"}


def _of_loading(winner: Event, lines: Iterable[str]) -> dict[str, str]:
    """The share of its steps that a job which ran out of time waited for data, where the log tells both and it is most
    of them."""
    if winner.signature.cause != "sched-time-limit":
        return {}
    pairs = [(float(hit["data"]), float(hit["time"])) for line in lines if (hit := LOADING.search(line))]
    share = sum(data for data, _ in pairs) / (sum(time for _, time in pairs) or 1.0)
    return {"loading": f"{min(share, 1.0):.0%}"} if len(pairs) >= FEWEST_TIMES and share > MOSTLY else {}


def _crowded_out(found: Mapping[str, str], text: str) -> bool:
    """Whether another process on the GPU held what this one lacked; without its own share told it may be itself."""
    if "intruder" not in found or "this process has" not in text:
        return False
    return bytes_of(found["held"]) >= bytes_of(found.get("asked", "")) - bytes_of(found.get("free", ""))


def _of_epochs(found: Mapping[str, str]) -> dict[str, str]:
    """The progress of the whole run where a bar shows that of one epoch only."""
    if "epochs" not in found or int(found["epochs"]) < 2 or "elapsed" not in found:
        return {}
    before, left = int(found["epoch"]) - 1, int(found["epochs"]) - int(found["epoch"])
    steps, gone, rest = int(found["steps"]), seconds(found["elapsed"]), seconds(found["remaining"])
    return {
        "done": str(before * steps + int(found["done"])),
        "steps": str(steps * int(found["epochs"])),
        "elapsed": clock_time(before * (gone + rest) + gone),
        "remaining": clock_time(rest + left * (gone + rest)),
    }


def _reckoned(found: Mapping[str, str]) -> dict[str, str]:
    """What follows from the facts: half a batch, the time that the whole run needs, the package of a module."""
    more: dict[str, str] = {}
    if (batch := found.get("batch")) and int(batch) > 1:
        more["half_batch"] = str(int(batch) // 2)
    elif batch:
        more["batch_of_one"] = batch
    if "elapsed" in found and (needed := seconds(found["elapsed"]) + seconds(found["remaining"])):
        more["needed"] = clock_time(needed)
        more["ask_time"] = clock_time((needed * 5 // 4 // 1800 + 1) * 1800)
    if "steps" in found and 1 < (times := int(found["steps"]) / max(1, int(found["done"]))) < MOST_TIMES:
        more["times"] = f"{times * 1.1:.1f}"
    if "module" in found:
        more["name"] = found["module"].partition("/")[0]
    if "global_batch" in found:
        more["product"] = str(int(found["micro_batch"]) * int(found["accumulation"]) * int(found["world"]))
    of, world = divisor(found.get("parts", "")), int(found.get("world", 0))
    if of > 1:
        more["divisor"] = str(of)
        more["multiples"] = " or ".join(str(n * of) for n in (world // of, world // of + 1) if n)
    if "joined" in found and int(found["joined"]) < int(found["clients"]):
        more["absent"] = str(int(found["clients"]) - int(found["joined"]))
    if "classes" in found and int(found["classes"]) > 0:
        more["last_class"] = str(int(found["classes"]) - 1)
    memory = found.get("memory") or found.get("limit")
    if memory and (size := re.match(r"(\d+)(?:\.\d+)?(\D*)$", memory)):
        ask = max(int(size[1]) * 2, _and_a_quarter(found.get("used", ""), size[2]))
        more["ask_memory"] = f"{ask}{size[2].strip()}"
        if size[2] == "kb" or (not size[2] and int(size[1]) > LARGEST_KB):
            more["ask_size"] = f"{-(-ask // (1024**2 if size[2] else 1024**3))} GB"
    return more


def _and_a_quarter(used: str, unit: str) -> int:
    """What was used and a quarter more, where it is counted in this unit; else 0."""
    size = re.match(r"(\d+)(?:\.\d+)?(\D*)$", used)
    return int(size[1]) * 5 // 4 if size and size[2] == unit else 0


def seconds(text: str) -> int:
    """The seconds of `1 day, 02:03:04`, HH:MM:SS or MM:SS."""
    days, _, rest = text.rpartition(", ")
    total = 0
    for part in rest.split(":"):
        total = total * 60 + int(part)
    return total + 86_400 * int(days.split()[0] if days else 0)


def clock_time(total: int) -> str:
    """Seconds as HH:MM:SS, hours past 99 where there are as many."""
    return f"{total // 3600:02}:{total // 60 % 60:02}:{total % 60:02}"


def bytes_of(text: str) -> float:
    """The bytes of `2.00 GiB`; units of 1000 and 1024 are taken as one."""
    found = re.match(rf"({NUMBER}) ?([KMGT]?)", text)
    return float(found[1]) * 1024 ** " KMGT".index(found[2] or " ") if found else 0.0


def named_extension(file: str) -> dict[str, str]:
    """The package that builds a compiled part anew; none where it is built in another way."""
    name = file.rpartition("/")[2]
    found = next((package for start, package in BUILT_BY.items() if name.startswith(start)), "")
    return {"rebuilt": found} if found else {}


def named_module(module: str) -> dict[str, str]:
    """The package to install for a module that is missing, or that it is a folder of the person's own program."""
    first = module.partition(".")[0]
    return {"own_module": first} if first in OWN_FOLDERS else {"pip": package_of(module)}


def package_of(module: str) -> str:
    """The name under which pip knows a module."""
    return PACKAGES.get(module) or PACKAGES.get(module.partition(".")[0]) or module.partition(".")[0].replace("_", "-")
