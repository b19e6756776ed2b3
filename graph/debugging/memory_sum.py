"""The planner's arithmetic for a log of a GPU out of memory: the log's numbers, the model and its spread where log or
script tell them, and which remedy fits by the sum. What cannot be known is not said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph.debugging.facts import bytes_of
from graph.extraction.script_record import ScriptRecord, understand_script
from graph.planning.resources.layout import Layout, Spread
from graph.planning.resources.memory import GIB, SOURCES, estimate_memory
from graph.planning.resources.options import BESIDE, OPTIMIZERS, SPREADS
from graph.planning.resources.parameters import SizedModel, find_model
from graph.planning.resources.shortfall import OutOfMemory, RemedyOutcome, fixed_gib, weigh
from graph.reading.training_words import find_training_words
from knowledge.errors import InputError
from knowledge.types import BY_NUMBERS, Diagnosis, JobRequest

CAUSE = "gpu-oom"
OLD_WORDS = re.compile(r"\(GPU \d+; ")
# A step that begins so is a sum and nothing to do.
ALLOCATOR = "expandable_segments"
# A remedy for what grows with the tokens, or for what lies unused.
OF_TOKENS = re.compile(rf"(?i)micro-batch|smaller batch|batch of a GPU|half the batch|^activation checkp|{ALLOCATOR}")
# Weights that are loaded in 16 bit, and trained so: no copy in 32 bit.
IN_16_BIT = re.compile(r"(?i)\b(?:torch[_ ])?dtype['\"]?[\s=:]{1,3}['\"]?(?:torch\.)?(?:bfloat16|bf16)\b")
# Steps that stand before the log's own sum, which is nothing to do.
MOST_BEFORE = 3
UNKNOWN = "From these alone how much a smaller batch, checkpointing or sharding saves cannot be told: {}say {}."
# Values that programs and their arguments tell of a training.
BATCH = re.compile(
    r"(?:per_device_train_batch_size|train_micro_batch_size_per_gpu|micro[-_]batch[-_]size|local[-_]batch[-_]size"
    r"|(?<!global[-_ ])batch(?:[-_ ]size)?|--bs)['\"]?\s*[=: ]\s*(\d{1,5})\b"
)
LENGTH = re.compile(
    r"(?:max[-_]seq(?:uence)?[-_]len(?:gth)?|max[-_]length|block[-_]size|seq(?:uence)?[-_]len(?:gth)?|model[-_]max[-_]length"
    r"|cutoff[-_]len)['\"]?\s*[=: ]\s*(\d{3,7})\b"
)
ZERO_STAGE = re.compile(
    r"(?i)(?<![\w-])(?:--)?zero[-_ ]?(?:stage|optimization)?['\"]?[-\s=:{'\"]{0,4}(?:stage['\"]?\s*[:=]\s*)?([123])\b"
    r"(?! ?(?:gpu|node))"
)


def with_sum(found: Diagnosis, script: str = "", words: str = "", said: JobRequest | None = None) -> Diagnosis:
    """The diagnosis with what the sum says, first of its steps; as it is where the log tells no numbers.

    script: the job's, whose model and spread count; words: what the person said of the run, said: as a request.
    """
    elsewhere = dict(found.facts).get("stage") is not None  # the sum is of a training step
    log = out_of_memory(found) if found.cause == CAUSE and not elsewhere else None
    if log is None:
        return found
    known = model_and_layout(found, script, words, said or JobRequest())
    crowded = "intruder" in dict(found.facts)  # another process holds what is lacking: its own sum decides nothing
    # Before 2.1, the first torch with that setting, the message named the GPU as `(GPU 0; ...`.
    old = dict(found.facts).get("age") == "old" or any(OLD_WORDS.search(e.text) for e in found.evidence)
    own = () if crowded else (unused_words(log, old), by_sum(log, *known) if known else "")
    first = tuple(filter(None, own))
    useless = known is not None and states_alone(log, *known)
    steps = (without_setting(step) if log.unused is not None else step for step in found.fix
             if not (useless and OF_TOKENS.search(step)))  # fmt: skip
    kept = tuple(step for step in steps if step and not step.startswith(BY_NUMBERS))
    told = open_parts(found, script, words, said or JobRequest())
    open_ = "" if known else UNKNOWN.format("" if script else "give the script (`--script`), or ", told)
    sources = dict.fromkeys((*found.sources, *(SOURCES if known else ())))
    last = f"{what_was_short(log)} {open_}".strip()
    return replace(found, fix=(*(*first, *kept)[:MOST_BEFORE], last), sources=tuple(sources))


def states_alone(log: OutOfMemory, model: SizedModel, layout: Layout) -> bool:
    """Whether what does not depend on the batch is more than the card holds: neither a smaller one nor the allocator's
    setting helps."""
    return fixed_gib(estimate_memory(model, layout)) > (log.room or 0.0)


def without_setting(step: str) -> str:
    """A step without the sentences on the allocator's setting, which the log's own sum tells."""
    return ". ".join(one for one in step.split(". ") if ALLOCATOR not in one)


def out_of_memory(found: Diagnosis) -> OutOfMemory | None:
    """The numbers of the line in GiB; None where it does not tell what was asked for and what there is."""
    facts = dict(found.facts) | dict(found.captured)

    def gib(name: str) -> float | None:
        return bytes_of(facts[name]) / GIB if name in facts else None

    asked = gib("asked") or gib("size")
    reserved, allocated, unused = gib("reserved"), gib("allocated"), gib("unallocated")
    if unused is None and reserved is not None and allocated is not None:
        unused = max(0.0, reserved - allocated)  # as PyTorch told it before 2.0
    log = OutOfMemory(asked or 0.0, gib("free"), gib("total"), allocated, unused, gib("held"), gib("allowed"))
    return log if asked and log.needed is not None and log.room is not None else None


def what_was_short(log: OutOfMemory) -> str:
    """The log's own sum."""
    return (
        f"{BY_NUMBERS} the process held {log.held:.1f} GiB and wanted {log.asked:.2f} more: at least "
        f"{log.needed:.1f} GiB of {log.room:.1f} that it can have there ({log.total:.1f} less what lies outside its "
        f"allocator{', and no more than it is allowed' if log.room == log.allowed else ''}); later steps may want more."
    )


def unused_words(log: OutOfMemory, old: bool) -> str:
    """That a setting of the allocator helps, where it does; old: a torch that does not know it yet."""
    if not log.unused_suffices or old:
        return ""
    return (
        f"{BY_NUMBERS} {log.unused:.2f} GiB lie reserved and unused, more than the {log.short:.2f} that were missing: "
        "`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` holds this request; of later ones the log does not tell."
    )


def by_sum(log: OutOfMemory, model: SizedModel, layout: Layout) -> str:
    """Which remedy fits, may fit and does not, with its range."""
    fixed = fixed_gib(estimate_memory(model, layout))
    outcomes = weigh(log, model, layout)
    way = {"none": "on one GPU", "ddp": "with DDP"}.get(layout.spread, f"with {layout.spread.upper()}")
    method = "" if layout.method == "full" else f", {layout.method}"
    over = f" over {layout.gpus} GPUs" if layout.gpus > 1 else ""
    told = f"{BY_NUMBERS} and the sum for {model.name}{method} {way}{over}: {fixed:.1f} GiB do not depend on the batch"
    if states_alone(log, model, layout):
        told += "; no smaller batch helps"
        outcomes = [one for one in outcomes if not OF_TOKENS.search(one.name)]
    lines = [_named(outcomes, "fits"), _named(outcomes, "tight"), _named(outcomes, "no")]
    return f"{told}. {' '.join(filter(None, lines))} An estimate, +-20 % of what grows with the tokens."


SAID = {"fits": "Fits", "tight": "May fit", "no": "Does not fit"}


def _named(outcomes: Sequence[RemedyOutcome], verdict: str) -> str:
    rows = [f"{one.name} ({one.gib:.0f} to {one.most:.0f} GiB)" for one in outcomes if one.verdict == verdict]
    return f"{SAID[verdict]}: {', '.join(rows)}." if rows else ""


def model_and_layout(found: Diagnosis, script: str, words: str, said: JobRequest) -> tuple[SizedModel, Layout] | None:
    """The model and how it was spread, where script, log or words tell both; None where one of them is open."""
    facts = dict(found.facts)
    record = _record(script)
    text = " ".join((script, words))
    name = (record.model if record else None) or facts.get("model") or words
    model = find_model(name) if name else None
    if model and name == words:  # a sentence is no name
        model = replace(model, name=f"a model of {model.parameters / 1e9:.3g} B")
    gpus = _gpus(record, facts) or said.total_gpus
    spread = _spread(record, text, gpus) or SPREADS.get(said.strategy or "")
    gpus = gpus or (2 if spread == "ddp" else None)  # of which each holds all of it, however many there are
    if model is None or spread is None or gpus is None:
        return None
    return model, replace(_trained(text, facts), spread=spread, gpus=gpus)


def open_parts(found: Diagnosis, script: str, words: str, said: JobRequest) -> str:
    """What the sum still wants to hear, in words: the model, its spread, the GPUs."""
    facts, record = dict(found.facts), _record(script)
    gpus = _gpus(record, facts) or said.total_gpus
    spread = _spread(record, " ".join((script, words)), gpus) or SPREADS.get(said.strategy or "")
    named = (record.model if record else None) or facts.get("model") or words
    parts = (
        ("the model", bool(named and find_model(named))),
        ("how it is spread", spread is not None),
        ("on how many GPUs", gpus is not None),
    )
    lacking = [name for name, known in parts if not known] or [parts[0][0]]
    return " and ".join(filter(None, (", ".join(lacking[:-1]), lacking[-1])))


def _record(script: str) -> ScriptRecord | None:
    try:
        return understand_script(script) if script else None
    except InputError:
        return None


def _gpus(record: ScriptRecord | None, facts: Mapping[str, str]) -> int | None:
    if record and record.gpus_per_node:
        return (record.nodes or 1) * record.gpus_per_node
    if record and record.total_gpus:
        return record.total_gpus
    return int(facts["world"]) or None if facts.get("world", "").isdigit() else None


def _spread(record: ScriptRecord | None, text: str, gpus: int | None) -> Spread | None:
    if record and record.strategy in SPREADS:
        return SPREADS[record.strategy]
    if stage := ZERO_STAGE.search(text):
        return SPREADS[f"zero{stage[1]}"]
    return "none" if gpus == 1 or (record and record.strategy == "none") else None


def _trained(text: str, facts: Mapping[str, str]) -> Layout:
    """Method, optimizer, precision, checkpointing and sizes as the texts say them."""
    plain = re.sub(r"[_=]+", " ", text)
    said = {word.field: word.value for word in find_training_words(plain)}
    batch, length = BATCH.search(text), LENGTH.search(text)
    method = said.get("task")
    return Layout(
        micro_batch=int(batch[1]) if batch else int(facts.get("batch", "1")),
        sequence=int(length[1]) if length else int(facts.get("length", "4096")),
        recompute="full" if said.get("recompute") == "full" else "none",
        precision="pure" if IN_16_BIT.search(text) else "fp32" if said.get("precision") == "fp32" else "mixed",
        optimizer=OPTIMIZERS.get(said.get("optimizer", ""), "adam"),
        method="qlora" if method == "qlora" else "lora" if method == "lora" else "full",
        beside=BESIDE.get(said.get("beside", ""), "none"),
        loss="fused" if "loss" in said else "plain",
        offload_optimizer="offload" in said,
    )
