"""The numbers that make the global batch, found in the text of a script or of a program's arguments.

global batch = samples a rank x gradient accumulation x data-parallel ranks. A number stands in the arguments, in a
variable that the arguments name, or in a DeepSpeed file that the script writes; it is changed where it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Names without their dashes. transformers (and its example programs without Trainer), DeepSpeed, Megatron, litgpt.
A_RANK = re.compile(r"per_(device|gpu)_train_batch_size|train_micro_batch_size_per_gpu|micro[_-]batch([_-]size)?")
STEPS = re.compile(
    r"gradient[_-]accumulation[_-]steps|grad[_-]acc(um(ulation)?)?([_-]steps)?|accumulat(e|ion)([_-]steps)?"
    r"|(trainer\.)?accumulate_grad_batches|accum[_-]iter|update[_-]freq"
)
WHOLE = re.compile(r"global[_-](train[_-])?batch[_-]size|total[_-]batch[_-]size|train_batch_size")
# A rank's in some programs, the node's or the job's in others.
UNCLEAR = re.compile(r"(train[_-])?batch([_-]?size)?|bs|b")
# Programs with this option take gradient_accumulation_steps too, 1 if not given (transformers' TrainingArguments).
TAKES_STEPS = re.compile(r"per_(device|gpu)_train_batch_size")
STEPS_OPTION = "--gradient_accumulation_steps"

ARGUMENT = re.compile(
    r"(?<![\w-])(?P<dashes>--?)(?P<name>[A-Za-z][\w.-]*)(?:=|[ \t]+)[\"']?"
    r"(?:(?P<value>\d+)|\$\{?(?P<variable>[A-Za-z_]\w*)\}?)[\"']?(?=[\s;&|)\\]|$)"
)
IN_FILE = re.compile(
    r"[\"'](?P<name>train_batch_size|train_micro_batch_size_per_gpu|gradient_accumulation_steps)[\"']\s*:\s*(?P<value>\d+)"
)
SET = (
    r"(?m)^[ \t]*(?:export[ \t]+|declare[ \t]+(?:-\w+[ \t]+)*|local[ \t]+)?{name}=[\"']?"
    r"(?:\$\{{\w+:?[-=])?(?P<value>\d+)(?=[\"'}}\s;]|$)"
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
    """Every option of a program with a whole number, in the order of the text; one in a variable is followed to it."""
    bare = COMMENT.sub(lambda found: " " * len(found[0]), text)
    numbers = []
    for found in ARGUMENT.finditer(bare):
        value = found if found["value"] else last_set(bare, found["variable"], found.start())
        if value is not None:
            start, end = value.span("value")
            option = found["dashes"] + found["name"]
            numbers.append(BatchNumber(option, found["name"], int(text[start:end]), start, end, found.end()))
    for found in IN_FILE.finditer(bare):
        numbers.append(
            BatchNumber(found["name"], found["name"], int(found["value"]), *found.span("value"), found.end())
        )
    return tuple(numbers)


def last_set(text: str, variable: str, before: int) -> re.Match[str] | None:
    """Where a variable got its number last, above a place of the text."""
    found = list(re.finditer(SET.format(name=re.escape(variable)), text[:before]))
    return found[-1] if found else None


def named(numbers: tuple[BatchNumber, ...], names: re.Pattern[str]) -> BatchNumber | None:
    """The first number whose option is one of the names."""
    return next((one for one in numbers if names.fullmatch(one.name)), None)


def samples_of(args: str | None) -> int:
    """Samples a GPU as the arguments name them; 0 where they do not."""
    found = sizes(batch_numbers(args or ""))
    return found.value if found else 0


def sizes(numbers: tuple[BatchNumber, ...]) -> BatchNumber | None:
    return named(numbers, A_RANK) or named(numbers, UNCLEAR)


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
    steps = named(numbers, STEPS)
    changes = [(size.start, size.end, str(smaller))]
    says = f"`{size.option} {smaller}` instead of {size.value}"
    if steps:
        changes.append((steps.start, steps.end, str(steps.value * times)))
        says = f"`{size.option} {smaller}` with `{steps.option} {steps.value * times}`"
    elif TAKES_STEPS.fullmatch(size.name):
        joint = "=" if re.search(r"=\S*$", text[: size.after]) else " "
        changes.append((size.after, size.after, f" {STEPS_OPTION}{joint}{times}"))
        says = f"`{size.option} {smaller}` with `{STEPS_OPTION} {times}`"
    keeps = len(changes) > 1 or bool(named(numbers, WHOLE) and A_RANK.fullmatch(size.name))
    for start, end, value in sorted(changes, reverse=True):
        text = text[:start] + value + text[end:]
    return text, says + (": the same global batch" if keeps else "")
