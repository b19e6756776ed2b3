"""The numbers that make the global batch, found in the text of a script or of a program's arguments.

global batch = samples a rank x gradient accumulation x data-parallel ranks. A number stands in the arguments, in a
variable that the arguments name, or in a DeepSpeed file that the script writes; it is changed where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Literal

from knowledge.word_lists import word_set

# What the number of an option counts: samples of one rank, of the whole job, accumulation steps, or that is not told.
Counts = Literal["rank", "whole", "steps", "unclear"]
BATCH = word_set("batch batches batchsize microbatch minibatch bs bsz mbs gbs b")
SAMPLES = word_set("samples sample images imgs ims sequences seqs examples sentences sents")
# Words that say nothing of what is counted.
PLAIN = BATCH | SAMPLES | word_set("size sz train training data loader dataloader input per n")
OF_RANK = word_set("rank ranks gpu gpus device devices card worker process proc replica core chip tile gcd")
IS_RANK = OF_RANK | {"micro", "microbatch", "mbs", "local"}
IS_WHOLE = word_set("global total effective overall whole gbs")
ACCUMULATES = re.compile(r"accum\w*|acc|ga|gas|update")
# Words beside it in a count of accumulation steps.
STEPPING = word_set("gradient gradients grad grads steps step iter iters batches batch freq num n train")
# Ways to spread one model over several ranks, which then take the same samples.
SPREADS = word_set("tensor pipeline context tp pp cp")
# Programs with this option take gradient_accumulation_steps too, 1 if not given (transformers' TrainingArguments).
TAKES_STEPS = re.compile(r"per_(device|gpu)_train_batch_size")
STEPS_OPTION = "--gradient_accumulation_steps"
# DeepSpeed's own name for all samples of a step.
WHOLE_IN_FILE = "train_batch_size"


def counts(name: str) -> Counts | None:
    """What an option or variable of that name counts, by its words; None where it is no number of the batch.

    `--batch-per-rank`, `trainer.local_batch_size` and `MICRO_BATCH` are of one rank, `gbs` is of all.
    """
    own = name.lstrip("-+").rsplit(".", 1)[-1]
    words = re.split(r"[-_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", own).lower())
    if any(map(ACCUMULATES.fullmatch, words)):
        more = {one for one in words if not ACCUMULATES.fullmatch(one)}
        needs = {"acc": {"grad", "gradient", "step", "steps"}, "update": {"freq"}}
        alone = any(one in words and not more & needs[one] for one in needs)
        return "steps" if more <= STEPPING and not alone else None
    behind = words[words.index("per") + 1 :] if "per" in words else []
    if not BATCH & set(words) and not (SAMPLES & set(words) and OF_RANK & set(behind)):
        return None
    if set(words) - PLAIN - IS_RANK - IS_WHOLE - {"node"}:
        return None  # of the evaluation, a norm, a sampler
    if IS_WHOLE & set(words) or (SAMPLES & set(words) and "batch" in behind):
        return "whole"
    return "rank" if IS_RANK & set(words) else "unclear"


# An option, or a setting as Hydra takes it: trainer.batch_size=8.
ARGUMENT = re.compile(
    r"(?<![\w.-])(?:(?P<dashes>--?)(?P<name>[A-Za-z][\w.-]*)(?:=|[ \t]+)|\+{0,2}(?P<key>[A-Za-z]\w*(?:\.\w+)+)=)[\"']?"
    r"(?:(?P<value>\d{1,12})|\$\{?(?P<variable>[A-Za-z_]\w*)\}?)[\"']?(?=[\s;&|)\\]|$)"
)
IN_FILE = re.compile(
    r"[\"'](?P<name>train_batch_size|train_micro_batch_size_per_gpu|gradient_accumulation_steps)[\"']\s*:\s*(?P<value>\d{1,12})(?!\d)"
)
SET = (
    r"(?m)^[ \t]*(?:export[ \t]+|declare[ \t]+(?:-\w+[ \t]+)*|local[ \t]+)?{name}=[\"']?"
    r"(?:\$\{{\w+:?[-=])?(?P<value>\d{{1,12}})(?=[\"'}}\s;]|$)"
)
EXPORTED = re.compile(
    r"(?m)^[ \t]*export[ \t]+(?P<name>[A-Za-z_]\w*)=[\"']?(?:\$\{\w+:?[-=])?(?P<value>\d{1,12})(?=[\"'}\s;]|$)"
)
COMMENT = re.compile(r"(?m)^[ \t]*#.*$")


@dataclass(frozen=True, slots=True)
class BatchNumber:
    """An option and its whole number; start and end: where the digits stand; after: where the option's words end."""

    option: str
    name: str
    value: int
    start: int
    end: int
    after: int


def batch_numbers(text: str) -> tuple[BatchNumber, ...]:
    """Every option of a program with a whole number, in the order of the text, then those of a DeepSpeed file and what
    is exported to the program; one in a variable is followed to it."""
    bare = COMMENT.sub(lambda found: " " * len(found[0]), text)
    numbers = []
    for found in ARGUMENT.finditer(bare):
        value = found if found["value"] else last_set(bare, found["variable"], found.start())
        if value is not None:
            start, end = value.span("value")
            name = found["name"] or found["key"]
            numbers.append(
                BatchNumber((found["dashes"] or "") + name, name, int(text[start:end]), start, end, found.end())
            )
    known = {one.start for one in numbers}
    for found in (*IN_FILE.finditer(bare), *EXPORTED.finditer(bare)):
        if found.start("value") not in known:
            numbers.append(
                BatchNumber(found["name"], found["name"], int(found["value"]), *found.span("value"), found.end())
            )
    return tuple(numbers)


def last_set(text: str, variable: str, before: int) -> re.Match[str] | None:
    """Where a variable got its number last, above a place of the text."""
    found = list(re.finditer(SET.format(name=re.escape(variable)), text[:before]))
    return found[-1] if found else None


def named(numbers: Iterable[BatchNumber], what: Counts) -> BatchNumber | None:
    """The first number that counts this."""
    return next((one for one in numbers if counts_of(one) == what), None)


def counts_of(number: BatchNumber) -> Counts | None:
    """What a number counts; DeepSpeed's file has a name of its own for all samples."""
    return "whole" if number.option == WHOLE_IN_FILE else counts(number.name)


def samples_of(args: str | None) -> int:
    """Samples a GPU as the arguments name them; 0 where they do not."""
    found = sizes(batch_numbers(args or ""))
    return found.value if found else 0


def sizes(numbers: Iterable[BatchNumber]) -> BatchNumber | None:
    """The samples of one rank, or what may be those."""
    known = tuple(numbers)
    return named(known, "rank") or named(known, "unclear")


def ranks_of_a_model(numbers: Iterable[BatchNumber]) -> int:
    """How many ranks share one model, by the options of tensor, pipeline and context parallelism."""
    return prod({key: one.value for one in numbers if (key := spread_by(one.name))}.values()) or 1


def spread_by(name: str) -> str:
    """`tensor` for `--tensor-model-parallel-size`, `tp` for `--tp`; empty where it spreads no model."""
    words = re.split(r"[-_]+", name.rsplit(".", 1)[-1].lower())
    way = next((one for one in words if one in SPREADS), "")
    return way if way and (words == [way] or ("parallel" in words and words[-1] in ("size", "degree"))) else ""


def on_other_ranks(text: str, before: int, after: int) -> str:
    """What becomes of the global batch of a script on another number of ranks; empty where it does not tell."""
    found = batch_numbers(text)
    whole, rank, steps = (named(found, what) for what in ("whole", "rank", "steps"))
    if whole:
        return f"{whole.option} {whole.value} counts the whole job and stays"
    if rank is None or before == after:
        return ""
    each, shared = rank.value * (steps.value if steps else 1), ranks_of_a_model(found)
    if before % shared or after % shared:
        return ""
    sizes_of_all = (each * ranks // shared for ranks in (before, after))
    on = f"{after} ranks" + (f", {shared} to a model" if shared > 1 else "")
    return "the global batch {} becomes {} ({} {} on {})".format(*sizes_of_all, rank.option, rank.value, on)


def shrink_batch(text: str) -> tuple[str, str] | None:
    """Fewer samples a GPU at once, and as many more steps of accumulation where the program is known to take them.

    Returns:
        The text and what was done; None where no number of samples is to be seen, or it cannot be divided.
    """
    numbers = batch_numbers(text)
    size = sizes(numbers)
    if size is None or size.value < 2:
        return None
    times = next(factor for factor in range(2, size.value + 1) if size.value % factor == 0)
    smaller = size.value // times
    steps = named(numbers, "steps")
    changes = [(size.start, size.end, str(smaller))]
    says = f"`{size.option} {smaller}` instead of {size.value}"
    if steps:
        changes.append((steps.start, steps.end, str(steps.value * times)))
        says = f"`{size.option} {smaller}` with `{steps.option} {steps.value * times}`"
    elif TAKES_STEPS.fullmatch(size.name):
        joint = "=" if re.search(r"=\S*$", text[: size.after]) else " "
        changes.append((size.after, size.after, f" {STEPS_OPTION}{joint}{times}"))
        says = f"`{size.option} {smaller}` with `{STEPS_OPTION} {times}`"
    keeps = len(changes) > 1 or bool(named(numbers, "whole") and counts(size.name) == "rank")
    for start, end, value in sorted(changes, reverse=True):
        text = text[:start] + value + text[end:]
    return text, says + (": the same global batch" if keeps else "")
