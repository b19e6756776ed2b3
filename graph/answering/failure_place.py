"""Where a cure against a failure is set in the program: the file that the log shows, the framework that it runs in, and
that framework's own option or lines, with the values that were said."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from graph.answering.ask import Ask
from graph.answering.failure_steps import step_meant, words_meant
from graph.answering.log import FRAME, after_failure, frames_of, framework_of_logs, rows
from graph.answering.situation import cite, write_document
from graph.answering.techniques import written
from knowledge.document import Code, Document, Part, Quote
from knowledge.techniques import Technique, find_framework, find_techniques, technique_table
from knowledge.types import Diagnosis

INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python3|<frozen|^<")
# The steps that a cause is cured by, where the words name none.
USUAL = {
    "gpu-oom": ("micro-batch", "gradient-accumulation"),
    "sched-host-oom": ("loader-workers",),
    "fw-dataloader": (),
}
# Steps that change a line of the model, where it failed, and no setting.
OF_THE_LINE = ("flash-attention",)
MOST_STEPS = 2
NEW_BATCH = re.compile(r"(?i)\b(?:batch(?:[ _-]?size)?|bs|micro[- ]?batch)\b\D{0,28}?(\d{1,4})\b(?! ?(?:gpu|node|x))")
OLD_BATCH = re.compile(r"(?i)\b(?:batch(?:[ _-]?size)?|bs|micro[- ]?batch)\b\W{0,3}(?:of |is |= ?)?(\d{1,4})\b")
STOCK = re.compile(r"run_\w+\.py")
BATCH, STEPS = "per_device_train_batch_size", "gradient_accumulation_steps"


def place_of_cure(ask: Ask, report: Diagnosis) -> Document | None:
    """File and option of what was advised; None where the log shows no program of a framework that is known."""
    frames, framework = list(frames_of(ask.logs)), find_framework(ask.text) or framework_of_logs(ask.logs)
    own = [(PurePosixPath(path).name, line) for path, line in frames if not INSTALLED.search(path)]
    steps = steps_meant(ask, report)
    if not steps or not (own or framework):
        return None
    line_of = [one for one in steps if one.id in OF_THE_LINE]
    if line_of and own:
        file, line = own[-1]
        places, page = after_failure()["places"], cite([line_of[0].source], technique_table().as_of)
        now = Code(places["line-code"], "python")
        told = places["line"].format(file=file, line=line)
        return write_document(told, code_below(ask, file, line), now, places["function"], page)
    if framework == "trainer" and all(one.id in USUAL["gpu-oom"] for one in steps):
        return write_document(*of_trainer(ask, report, own[0][0] if own else "train.py"))
    files = " or ".join(f"`{name}`" for name in dict.fromkeys(name for name, _ in own[:1]))
    place = after_failure()["places"]["program"].format(file=files or "the program")
    parts: list[Part | str] = [place]
    for one in steps[:MOST_STEPS]:
        parts += written(one, framework).parts
    return write_document(*parts)


def steps_meant(ask: Ask, report: Diagnosis) -> list[Technique]:
    """The steps that the words name, else the first of the cure's step that they mean, else those that cure it."""
    of_step = find_techniques(step_meant(ask, report))[:1]
    named = list({one.id: one for _, _, one in find_techniques(words_meant(ask, report)) or of_step}.values())
    return named or [one for one in technique_table().techniques if one.id in USUAL.get(report.cause, ())]


def code_below(ask: Ask, file: str, line: str) -> Quote | None:
    """The line of code that the log shows below a frame."""
    for log in ask.logs:
        told = list(rows(log))
        for at, row in enumerate(told[:-1]):
            if (found := FRAME.search(row)) and found["path"].endswith(file) and found["line"] == line:
                return Quote(re.sub(r"^\s*\[?\w*\d*\]?:\s*", "", told[at + 1]).strip(), f"{file}:{line}")
    return None


def of_trainer(ask: Ask, report: Diagnosis, file: str) -> tuple[str, ...]:
    """As options of its command line, where it takes them, or where it makes its arguments."""
    before, now, steps = batches(ask, report)
    values = {BATCH: now or "N", STEPS: steps or "M"}
    flags = " ".join(f"--{name} {value}" for name, value in values.items())
    fields = ", ".join(f"{name}={value}" for name, value in values.items())
    places = after_failure()["places"]
    told = places["stock"] if STOCK.fullmatch(file) else places["trainer"]
    same = places["same"].format(before=before, now=now, steps=steps) if before and now and steps else places["open"]
    return told.format(file=file, flags=flags, fields=fields), same


def batches(ask: Ask, report: Diagnosis) -> tuple[int | None, int | None, int | None]:
    """(the batch of a GPU so far, the one that is wanted, the accumulation that keeps their product)."""
    known = dict(report.facts)
    told = [int(one[1]) for one in OLD_BATCH.finditer(ask.since)]
    before = int(known["batch"]) if known.get("batch", "").isdigit() else told[0] if told else None
    said = [int(one[1]) for text in (ask.since, ask.text) for one in NEW_BATCH.finditer(text) if int(one[1]) != before]
    now = said[-1] if said else None
    steps = before // now if before and now and before % now == 0 else None
    return before, now, steps
