"""From the names in a line to one value a field: what is taken back is left out, the last word wins."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graph.extraction.sentences.asides import aside
from graph.extraction.sentences.context import is_later, is_negated, is_past
from graph.extraction.sentences.line import Line, NameSpan
from graph.extraction.sentences.methods import hints, is_horovod
from graph.extraction.sentences.patterns import pattern
from knowledge.types import SERVERS

PARALLEL = {"tp", "pp", "3d"}
ZERO = {"zero1", "zero2", "zero3"}
# Where several frameworks are named, one that wraps another is the one that starts the job.
WRAPPERS = (
    *("megatron", "lightning", "accelerate", "jax", "tensorflow", "tgi", "other"),
    *("hf-trainer", "torchtitan", "ray", "vllm", "sglang"),
)
CHOSEN = {"S": "strategy", "F": "framework", "M": "machine", "Q": "queue"}
IMPLIED = {"ddp": "pytorch", "fsdp": "pytorch", "zero1": "deepspeed", "zero2": "deepspeed", "zero3": "deepspeed"}


@dataclass(frozen=True, slots=True)
class SaidValue:
    """A value and the words that it came from."""

    value: str | int
    words: str


Picked = tuple[int, NameSpan]


def meant(line: Line, kind: str) -> list[Picked]:
    """The names of a kind that count: not negated; those of other runs only where nothing else is said."""
    said = [(i, m) for i, m in line.mentions(kind) if not is_negated(line, i)]
    now = [(i, m) for i, m in said if not _of_another_run(line, i)]
    return now or said


def _of_another_run(line: Line, token: int) -> bool:
    return is_past(line, token) or is_later(line, token) or aside(line, token) is not None


def denied(line: Line, kind: str) -> set[str]:
    return {m.value for i, m in line.mentions(kind) if is_negated(line, i)}


def last(line: Line, picked: Sequence[Picked]) -> SaidValue | None:
    """The last that is not weak, else the last."""
    strong = [p for p in picked if not p[1].weak] or list(picked)
    return SaidValue(strong[-1][1].value, line.words(strong[-1][0], strong[-1][0])) if strong else None


def undecided(line: Line, asks: bool) -> set[str]:
    """The fields of which two values are named, one or the other, and none is settled on afterwards.

    asks: a question may be about two machines.
    """
    several = None if asks else pattern("grammar.yaml", "asking", "machines").search(line.canon)
    found = several or pattern("grammar.yaml", "asking", "either").search(line.canon)
    kind = "machine" if several else CHOSEN.get(found["kind"]) if found else None
    if not found or kind is None or re.search(r" not $", line.canon[: found.start() + 1]):
        return set()
    settled = any(line.starts[i] >= found.end() - 1 for i, _ in line.mentions(kind))
    return set() if settled or len({m.value for _, m in meant(line, kind)}) < 2 else {kind}


def strategy(line: Line, before: str | None = None) -> SaidValue | None:
    """The strategy; tensor and pipeline parallel together, or either with ZeRO, are 3D."""
    picked = meant(line, "strategy")
    if not picked:
        return None
    values = {m.value for _, m in picked}
    words = line.words(picked[0][0], picked[-1][0]) if len(picked) > 1 else line.words(picked[0][0], picked[0][0])
    if values & PARALLEL:
        split = values & {"tp", "pp"}
        added = before in ("tp", "pp") and split and before not in split and _adds(line, picked[0][0])
        if "3d" in values or len(split) == 2 or values & ZERO or added:
            return SaidValue("3d", words)
        if "fsdp" in values or "ddp" in values:
            return _beside(line, picked)
    return SaidValue(picked[-1][1].value, line.words(picked[-1][0], picked[-1][0]))


def _adds(line: Line, token: int) -> bool:
    return bool(re.search(r" (?:more|and|with)(?: (?:some|a|un))? $", line.left(token)))


DEGREE = re.compile(
    r"(?<![a-z])(?P<kind>tp|pp|dp|tensor|pipeline|data)[\s_-]*(?:model[\s_-]*)?(?:parallel\w*)?[\s_-]*(?:size|degree)?[\s=:_-]*(?:of\s+)?(?P<degree>\d{1,4})(?![\d.]|\s*(?:gpu|node))"
)


def world_size(folded: str) -> int | None:
    """Tensor x pipeline x data parallel, where the data-parallel degree is said too."""
    degrees = {match["kind"][0]: int(match["degree"]) for match in DEGREE.finditer(folded)}
    return math.prod(degrees.values()) if "d" in degrees and len(degrees) > 1 else None


def _beside(line: Line, picked: list[Picked]) -> SaidValue:
    """`tensor parallel 4, data parallel 2` is tensor parallel; `tensor parallel, no, DDP` is DDP."""
    token, mention = picked[-1]
    between = line.canon[line.starts[picked[0][0]] : line.starts[token]]
    joined = not re.search(r" (?:but|oops|no|or|\.|;|instead|then|will) ", between) and len(between) < 60
    split = [(i, m) for i, m in picked if m.value in PARALLEL]
    numbered = any(re.search(r"\d", m_words) for m_words in (line.words(i, i) for i, _ in split))
    if mention.value == "ddp" and joined and numbered:
        return SaidValue(split[-1][1].value, line.words(split[-1][0], split[-1][0]))
    return SaidValue(mention.value, line.words(token, token))


def framework(line: Line) -> SaidValue | None:
    """The framework named: one that wraps another before the wrapped, DeepSpeed before PyTorch."""
    picked = meant(line, "framework")
    if not picked:
        return None
    wrapping = [p for p in picked if p[1].value in WRAPPERS]
    # What Ray carries over the nodes is the server, with which its own launch starts Ray.
    wrapping = [p for p in wrapping if p[1].value in SERVERS] or wrapping
    if wrapping:
        return SaidValue(wrapping[-1][1].value, line.words(wrapping[-1][0], wrapping[-1][0]))
    return last(line, [p for p in picked if p[1].value == "deepspeed"] or picked)


def is_replaced(line: Line, framework: SaidValue | None, strategy: SaidValue | None) -> bool:
    """Whether the framework is only one of before, and the strategy of now brings another."""
    brought = implied(strategy)
    if framework is None or brought is None or {framework.value, brought.value} != {"deepspeed", "pytorch"}:
        return False
    now, named = ([i for i, _ in meant(line, kind)] for kind in ("strategy", "framework"))
    return all(_of_another_run(line, i) for i in named) and not all(_of_another_run(line, i) for i in now)


def implied(said: SaidValue | None) -> SaidValue | None:
    """The framework that a strategy brings; Horovod serves several and brings none."""
    if said is None or str(said.value) not in IMPLIED or is_horovod(said.words):
        return None
    return SaidValue(IMPLIED[str(said.value)], said.words)


def horovod(strategy: SaidValue | None) -> SaidValue | None:
    """Horovod as the framework, where only its name tells that the job is data parallel."""
    return SaidValue("horovod", strategy.words) if strategy and is_horovod(strategy.words) else None


# What orders a server where none is named; beside a word of training it is told of later.
ORDERS_SERVER = re.compile(
    r"\bserv(?:e|es|ing)\b|\b(?:inference|llm|openai\S*) (?:server|endpoint)\b|\bopenai[ -]compatible\b"
)
TRAINS = re.compile(r"\b(?:(?:pre-?)?train(?:ing|s)?|fine-?tun(?:e|es|ing)|lora|qlora|epochs?|sft|dpo|rlhf|grpo)\b")
SERVES = re.compile(
    r"\b(?:serv(?:e|es|ing|er|ir|idor|eur)|host(?:ing)?|deploy\w*|endpoint|api|bereitstell\w*|desplegar)\b"
)


def trains_beside(folded: str, framework: SaidValue | None, program: SaidValue | None) -> bool:
    """Whether a server is only what a training's program uses: `sft.py, with vllm for generation`."""
    asked = framework and framework.value in SERVERS and program
    return bool(asked and TRAINS.search(folded) and not SERVES.search(folded))


def served(
    folded: str, framework: SaidValue | None, model: SaidValue | None, program: SaidValue | None
) -> SaidValue | None:
    """What a server serves: the model is the program then, and a Python file is one of its clients."""
    if model is None:
        return None
    if framework is None and program is None and ORDERS_SERVER.search(folded) and not TRAINS.search(folded):
        return SaidValue(f"{SERVERS[0]} serve {model.words}", model.words)
    if framework is None or framework.value not in SERVERS:
        return None
    if program is not None and not SERVES.search(folded):
        return None
    return SaidValue(f"{framework.value} serve {model.words}", model.words)


def model(line: Line) -> SaidValue | None:
    return last(line, meant(line, "model"))


def entry(line: Line, port: bool) -> SaidValue | None:
    """The program to run. A shell script counts only where no Python program is named and no job is moved."""
    picked = [(i, m) for i, m in meant(line, "entry") if not _is_argument(line, i)]
    if port or any(not m.weak for _, m in picked):
        picked = [p for p in picked if not p[1].weak]
    return last(line, picked)


def _is_argument(line: Line, token: int) -> bool:
    """Whether a file stands right behind another program: `train.py configs/small.py`."""
    before = line.tokens[token - 1] if token else None
    if before is None or before.mention is None or before.mention.kind != "entry":
        return False
    return line.text[before.end : line.tokens[token].start].isspace()


def by_file_names(line: Line, pick: Callable[[str], bool]) -> SaidValue | None:
    """A strategy or framework that only a file's name tells: train_fsdp.py."""
    for kind in ("entry", "noise"):
        for token, mention in line.mentions(kind):
            for hint in hints(mention.value):
                if pick(hint.kind) and not is_negated(line, token):
                    return SaidValue(hint.value, line.words(token, token))
    return None
