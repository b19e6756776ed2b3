"""What a message asks of resources, out of its mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from graph.planning.resources.parameters import find_model, read_size
from graph.reading.utterance import Mention, Utterance
from knowledge.gpu_facts import gpu_table
from knowledge.resource_question import ResourceQuestion, Task
from knowledge.types import JobRequest

TASKS: tuple[tuple[Task, re.Pattern[str]], ...] = (
    ("qlora", re.compile(r"(?i)\bq-?lora\b|qlora|\b4[- ]?bit\b.{0,30}\b(?:fine|adapter|lora)")),
    ("lora", re.compile(r"(?i)(?<![a-z])d?lora(?![a-z])|\badapters?\b|\bpeft\b")),
    ("serve", re.compile(r"(?i)\b(?:serv(?:e|ing)|inference|infer|vllm|deploy\w*|host it|kv[- ]?cache)\b")),
    (
        "train",
        re.compile(
            r"(?i)\b(?:full(?:y|[- ]param\w*)?[- ]?(?:fine\w*|ft|param\w*)|from scratch|pre-?train\w*|full ft)\b"
        ),
    ),
)
OFFLOAD = re.compile(r"(?i)\b(?:cpu[- ])?offload\w*|\boptimi[sz]er (?:on|to) (?:the )?cpu\b")
PRECISION = re.compile(r"(?i)\b(?:(bf16|bfloat16)|(fp32|float32)|(fp8)|(int8|8[- ]bit)|(int4|4[- ]bit|awq|gptq))\b")
PRECISIONS = ("bf16", "fp32", "fp8", "int8", "int4")
DEGREE = re.compile(r"(?i)\b(tp|pp)\s?[=:]?\s?(\d{1,3})\b")
# "takes 70GB", "needs 62 GB", "used 38 GiB": seen, not a card's size.
SEEN = re.compile(
    r"(?i)\b(?:oom\w*|out of memory|takes?|needs?|uses?|used|using|eats|peaks? at|allocat\w+|requires?)\b[^.;?]{0,20}$"
)
# "on a single H100", "one 24GB GPU": the count stands as a word.
ONE = re.compile(r"(?i)\b(?:one|single|an?|1)\s+(?:single\s+)?(?:nvidia |amd )?(?:\d+\s?gi?b\s+)?$")
LABEL = re.compile(r"[- ](\d{2,3})(?:\s?gi?b?)?(?![\w.])(?!\s*(?:nodes?|gpus?|x))", re.I)
# Images of data sets that are named without their size.
DATA_SETS = ((re.compile(r"(?i)\bimage-?net-?21k\b"), 14_197_122), (re.compile(r"(?i)\bimage-?net\b"), 1_281_167))
STRATEGIES = ("ddp", "zero1", "zero2", "zero3", "fsdp", "tp", "pp", "3d")
UNIT_FIELDS = {
    "token": "tokens",
    "sample": "samples",
    "epoch": "epochs",
    "sequence": "sequence",
    "micro_batch": "micro_batch",
    "global_batch": "global_batch",
    "node_hour": "node_hours",
    "user": "users",
}


def read_question(utterance: Utterance, request: JobRequest | None = None) -> ResourceQuestion:
    """The question in an utterance. request gives what the conversation already knows of the job and was not said."""
    text = utterance.text
    said = ResourceQuestion(
        model=_model(utterance),
        task=next((task for task, words in TASKS if words.search(text)), None),
        machines=tuple(utterance.machines()),
        strategy=next((str(m.value) for m in utterance.of_kind("Method") if m.value in STRATEGIES), None),
        precision=_precision(text),
        offload=bool(OFFLOAD.search(text)),
    )
    said = _degrees(_amounts(said, utterance), text)
    said = _gpu(said, utterance)
    known = next((size for name, size in DATA_SETS if name.search(text)), None)
    said = replace(said, samples=said.samples or (known if said.epochs else None))
    hours = [float(m.value) / 3600 for m in utterance.of_kind("Duration")]
    said = replace(said, hours=hours[-1] if hours else None)
    return said.after(_known(request, said)) if request else said


def _model(utterance: Utterance) -> str | None:
    """The model that says most: a name with a shape, else a name with a size, else a size in the text."""
    names = [str(m.value) for m in utterance.of_kind("Model")]
    for name in reversed(names):
        found = find_model(name)
        if found and found.exact:
            return name
    sized = [name for name in names if find_model(name)]
    if sized:
        return sized[-1]
    billions = read_size(utterance.text)
    return f"{billions:g}B" if billions else (names[-1] if names else None)


def _precision(text: str) -> str | None:
    found = PRECISION.search(text)
    return (
        next((name for name, group in zip(PRECISIONS, found.groups(), strict=True) if group), None) if found else None
    )


def _degrees(said: ResourceQuestion, text: str) -> ResourceQuestion:
    degrees = {name.lower(): int(number) for name, number in DEGREE.findall(text)}
    return replace(said, tensor=degrees.get("tp"), pipeline=degrees.get("pp"))


def _amounts(said: ResourceQuestion, utterance: Utterance) -> ResourceQuestion:
    """Quantities with a unit; of two with the same unit the last counts."""
    values: dict[str, float | int] = {}
    for mention in utterance.of_kind("Quantity"):
        number = float(mention.value)
        if utterance.text[max(0, mention.start - 1) : mention.start] == "-":
            continue  # the 40 of A100-40
        if mention.unit == "node":
            values["nodes"] = int(number)
        elif mention.unit in ("gpu", "rank", "g"):
            values["gpus"] = int(number)
        elif mention.unit == "batch":
            values.setdefault("micro_batch", int(number))
        elif mention.unit == "token/parameter" and said.model and (model := find_model(said.model)):
            values["tokens"] = number * model.parameters
        elif mention.unit in UNIT_FIELDS:
            values[UNIT_FIELDS[mention.unit]] = (
                number if mention.unit in ("token", "sample", "node_hour") else int(number)
            )
    good = {name: value for name, value in values.items() if value > 0}
    return replace(said, **good)  # type: ignore[arg-type]


def _gpu(said: ResourceQuestion, utterance: Utterance) -> ResourceQuestion:
    """The GPU that is named, the memory that stands by it, and what the person saw a job take."""
    named = utterance.of_kind("Gpu") or _gpus_by_name(utterance.text)
    sizes = [m for m in utterance.of_kind("Quantity") if m.unit == "GB"]
    seen = [m for m in sizes if SEEN.search(utterance.text[: m.start])]
    cards = [m for m in sizes if m not in seen]
    model = _singular(named[-1].text) if named else None
    model = None if model and model.lower() in ("gpu", "gpus", "card", "cards") else model
    beside = _nearest(cards, named[-1]) if named else (cards[-1] if cards else None)
    count = next(
        (int(m.value) for m in utterance.of_kind("Quantity") if named and _counts(m, named[-1], utterance)), None
    )
    if count is None and named and _is_one(utterance.text, named[-1]):
        count = 1
    label = LABEL.match(utterance.text, named[-1].end) if named else None
    said = replace(said, gpu_gb=float(label[1])) if label and beside is None else said
    return replace(
        said,
        gpus=said.gpus or (None if said.nodes else count),
        gpu=model.upper() if model else None,
        gpu_gb=float(beside.value) if beside else said.gpu_gb,
        measured_gb=float(seen[-1].value) if seen else None,
    )


def _singular(name: str) -> str:
    """`A100s` is several A100; an L40S is a card of its own."""
    known = {gpu.model.upper() for gpu in gpu_table().gpus}
    return name if name.upper() in known else re.sub(r"(?i)(?<=[\du])s$", "", name)


def _is_one(text: str, gpu: Mention) -> bool:
    """`on an A100`, `a single 24GB GPU`; not `one A100 node`."""
    return bool(ONE.search(text[: gpu.start])) and not re.match(r"[^.?!]{0,12}\bnodes?\b", text[gpu.end :])


def _counts(number: Mention, gpu: Mention, utterance: Utterance) -> bool:
    """Whether a bare number stands right before the GPU: `8 A100`, `8 x 40 GB A100`."""
    between = utterance.text[number.end : gpu.start]
    return (
        not number.unit
        and number.end <= gpu.start
        and bool(re.fullmatch(r"\s*x?\s*(?:\d+\s*gi?b\s*)?(?:nvidia |amd )?", between, re.I))
    )


def _gpus_by_name(text: str) -> list[Mention]:
    """GPU models that the table knows, where the mention was part of something longer (`A100 80GB`)."""
    models = "|".join(sorted((re.escape(g.model) for g in gpu_table().gpus), key=len, reverse=True)) + "|GPU|card"
    found = re.finditer(rf"(?i)(?<![\w-])(?:{models})s?(?![A-Za-z0-9])", text)
    return [Mention("Gpu", m.start(), m.end(), m[0], m[0].upper()) for m in found]


def _nearest(sizes: Iterable[Mention], to: Mention) -> Mention | None:
    near = sorted(sizes, key=lambda m: min(abs(m.end - to.start), abs(to.end - m.start)))
    return near[0] if near else None


def _known(request: JobRequest, said: ResourceQuestion) -> ResourceQuestion:
    """What the conversation's request says; a model that only it names counts where the message names none."""
    machine = (request.machine,) if request.machine else ()
    strategy = request.strategy if request.strategy in STRATEGIES else None
    return ResourceQuestion(
        model=request.model,
        machines=machine,
        nodes=request.nodes,
        gpus=request.total_gpus,
        strategy=None if said.model else strategy,
    )
