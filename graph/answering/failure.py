"""After a diagnosis: would it help, what would it need, where does it go, how is it done, whose fault was it.

Answered from the facts of the log, the script in hand, and what was said since (`it was at epoch 7 of 10`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from graph.answering.ask import Ask
from graph.answering.fact_answer import as_sentence
from graph.answering.failure_place import batches, place_of_cure
from graph.answering.failure_steps import LAUNCHING, fetch_steps, place_of_variable
from graph.answering.in_hand import in_hand
from graph.answering.log import (
    OF_THE_NODE,
    PASSING,
    UNDECIDED,
    after_failure,
    means,
    quote,
    rows,
    send,
    tell_cause,
    tell_retry,
)  # fmt: skip
from graph.answering.method import choose_strategy
from graph.answering.model_size import billions_of
from graph.answering.resources import _larger, queue_words
from graph.answering.situation import list_steps, write_document
from graph.debugging.memory_sum import ALLOCATOR
from graph.extraction.walltime import clock
from graph.planning.resources.memory import usable_gib
from graph.reading.gpu_words import find_gpu_words
from graph.reading.scope import denials
from knowledge.document import Code, Document, Part
from knowledge.errors import InputError
from knowledge.general_facts import would_help
from knowledge.gpu_facts import find_gpu
from knowledge.techniques import find_techniques
from knowledge.types import BY_NUMBERS, Diagnosis
from knowledge.wording import stems

PROGRESS = re.compile(
    r"(?i)\b(?:epochs?|steps?|iter(?:ation)?s?|batch(?:es)?)\D{0,8}([\d.,]+k?)\s*(?:/|of|out of|von|sur|de)\s*"
    r"([\d.,]+k?)"
    r"|\b([\d.,]+k?)\s*(?:/|of|out of)\s*([\d.,]+k?)\s*(?:epochs?|steps?|iter\w*)"
)
LIMIT = re.compile(
    r"(?i)\b(?:limit|wall ?time|asked(?: for)?|gave it|it had|requested|-t|time)\b\D{0,16}(?:(\d{1,3}:\d\d:\d\d)"
    r"|(\d+(?:\.\d+)?)\s*(h|hours?|hrs?|min\w*|d|days?)\b)|\b(\d+(?:\.\d+)?)\s*(h|hours?|min\w*|d|days?) (?:limit|wall)"
)
# What asks whether a card would do: of what is done there, or of the card itself (`would an H100 help?`).
FITS = re.compile(
    r"(?i)\b(?:enough|fit\w*|suffi\w*|(?:would|will|can|could|does) (?:it|that|this) (?:\w+ )?(?:work|run|do|go)"
    r"|passt|reich\w*|basta|cabe)\b"
)
OF_THE_CARD = re.compile(r"(?i)\b(?:would|will|does|could|about)\s+(?:the\s+)?$")
# Of another run: its limit and progress are none of this one.
ELSEWHERE = re.compile(r"(?i)\b(?:other|another|old|previous|last (?:time|week|month|year)|before|used to|colleague)\b")
# Bytes a trained parameter in mixed precision with Adam: weights, gradients, fp32 copy and both moments.
STATES = 16
HOURS = {"h": 1.0, "m": 1 / 60, "d": 24.0}
SLACK = 1.15
GIB = {"K": 2**-20, "M": 2**-10, "G": 1.0, "T": 1024.0}
DIRECTIVE = {"slurm": "#SBATCH --time={}", "pbs": "#PBS -l walltime={}", "lsf": "#BSUB -W {}", "flux": "# flux: -t {}"}
EXPORT = re.compile(r"`?export [A-Z_]+=\S+?`?(?=[\s.,;]|$)")
NO_WORD = "That I cannot tell: the log does not speak of it. What it shows:"
# What is asked after by *whose fault was it?*; another word names a suspect.
BLAMED = stems(
    "could can might may would is was it be that this the my mine me i we our fault node nodes machine cluster system"
    " hardware code program script job so or and a an of with on not due to caused cause problem error broken bad just"
    " really did do something wrong"
)
# Whose it is, by the beginning of the cause.
OWN_TO_CHANGE = (
    ("sched-bad", "in the job script: a line that the scheduler did not take"),
    ("sched-over", "in the job script: it asks for more than the queue gives"),
    ("sched-time", "in the job script: its time was too short for the work, or nothing was saved before"),
    ("sched-", "in what the job asks for"),
    ("env-no-internet", "in the machine's way out: where it ran before, the nodes reached it or had the files already"),
    ("env-", "in the environment of the job, not in the model and not in the node"),
    ("gpu-oom", "in the training: it wants more memory than the GPU has"),
    ("comm-", "in how the processes find each other or in one rank that died first; rarely in the node"),
    ("fw-", "in the program or its framework's settings"),
    ("user-", "in the program or its arguments"),
    (
        "gpu-not-visible",
        "in how many GPUs the job asked for and how many processes it started on them; seldom in the node",
    ),
    ("gpu-", "in what was built or started, not in the node"),
)


# Under these a cure that somebody thinks of may be meant, rather than the thing itself.
OF_WORK = ("site.", "method.", "option", "log.next")
THOUGHT_OF = re.compile(
    r"\b(?:helps?|fix(?:es)?|solves?|cures?|enough|instead|should i|(?:can|could) i (?:just|simply|also)|would|still)\b"
    r"|\bhilft|\baide\b|\bayuda",
    re.I,
)
# That a step was done: the next is said. Other words only tell more.
TRIED = re.compile(
    r"\b(?:already|tried|did (?:that|it|this)|done that|have that|same|still|again"
    r"|no (?:change|difference|luck)|nothing|not that|else|next|other ideas?|did ?n[o']t"
    r"|does ?n[o']t|do(?:es)? not|nope)\b"
    r"|\bschon\b|\bimmer noch|\bdéjà|\btoujours|\bya lo|\bsigue|이미|똑같|여전히",
    re.I,
)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of the run: done, steps: how far it got; hours: its time limit. None: not said."""

    done: float | None = None
    steps: float | None = None
    hours: float | None = None

    @property
    def share(self) -> float | None:
        return self.done / self.steps if self.done and self.steps and self.done <= self.steps else None


def by_failure(ask: Ask) -> Document | None:
    """The answer from the failure that is spoken of; None where the question is another one."""
    report = ask.report
    if report is None or report.cause in UNDECIDED or is_other(ask):
        return None
    teller = TELLERS.get(ask.topic, helps if ask.topic.startswith(OF_WORK) and THOUGHT_OF.search(ask.text) else None)
    if ask.topic == "log.cause" and means("claim", ask.utterance.text):
        return fault(ask, report) if means("machine", ask.utterance.text) else denied(ask, report)
    told = on_card(ask, report) or (teller(ask, report) if teller else None)
    return told if told and told.parts else None


def only_follows(ask: Ask, report: Diagnosis) -> Document | None:
    """That what the words blame stands in the log and only follows; None where they name none of what follows."""
    own = " ".join((report.cause, report.says, *(one.text for one in report.evidence[:1]))).lower()
    words = {one for one in re.findall(r"[a-z]\w{3,}", ask.text.lower()) if not stems(one) <= BLAMED and one not in own}
    for other in report.considered:
        shown = other.evidence
        if shown and any(word in f"{other.cause} {shown.text}".lower() for word in words):
            verdict = "Right: that" if means("denies", ask.text) else "No: that"
            return write_document(
                f"{verdict} (line {shown.line}) is not the cause; {other.why_not}.",
                as_sentence(report.says),
                first(report),
            )
    return None


def denied(ask: Ask, report: Diagnosis) -> Document | None:
    """That it is not what the words claim, where the cause is known to lie elsewhere; None where it may."""
    verdict, _, why = would_help(report.cause, ask.utterance.text).partition(": ")
    if verdict not in ("No", "Hardly"):
        return None
    return write_document(
        f"{'Right' if means('denies', ask.utterance.text) else 'No'}: {why}",
        f"What helps: {report.fix[0]}" if report.fix else "",
    )


def after_words(ask: Ask) -> Document | None:
    """What words that tell more of the failure change: its progress or limit, the model's size, a cure thought of."""
    report = ask.report
    if report is None or report.cause in UNDECIDED:
        return None
    if report.cause == "gpu-oom" and billions_of(ask):
        return need_memory(ask, report)
    told = told_facts(ask, report) or (helps(ask, report) if THOUGHT_OF.search(ask.text) else None)
    if means("mine", ask.text):
        return fault(ask, report)
    return told or (None if TRIED.search(ask.text) else of_steps(ask, report))


def is_other(ask: Ask) -> bool:
    """Whether a model or a machine is named, which makes it a question of its own."""
    return not ask.topic.startswith("log.") and bool(ask.utterance.of_kind("Model", "Machine"))


def told_facts(ask: Ask, report: Diagnosis) -> Document | None:
    """The run's progress or limit in the words, after a job that ran out of time; a card, after one without memory."""
    said = facts_in(ask.text)
    ran_out = report.cause == "sched-time-limit" and said != RunFacts()
    return need_time(ask, report) if ran_out else on_card(ask, report)


def facts_in(text: str) -> RunFacts:
    if ELSEWHERE.search(text):
        return RunFacts()
    progress, limit = PROGRESS.search(text), LIMIT.search(text)
    pair = [one for one in progress.groups() if one] if progress else []
    hours = None
    if limit and limit[1]:
        h, m, s = map(int, limit[1].split(":"))
        hours = h + m / 60 + s / 3600
    elif limit:
        number, unit = (limit[2], limit[3]) if limit[2] else (limit[4], limit[5])
        hours = float(number) * HOURS[unit[0].lower()]
    return RunFacts(count(pair[0]), count(pair[1]), hours) if pair else RunFacts(hours=hours)


def count(text: str) -> float:
    number = text.lower().rstrip("k").replace(",", "").rstrip(".")
    return float(number or 0) * (1000 if text.lower().endswith("k") else 1)


def run_facts(ask: Ask, report: Diagnosis) -> RunFacts:
    """From these words, those since the diagnosis, the log, and the script."""
    known = dict(report.facts) | dict(report.captured)
    of_log = RunFacts(*(count(known[name]) if known.get(name) else None for name in ("done", "steps")))
    hand = in_hand(ask)
    found = [facts_in(ask.text), *map(facts_in, reversed(ask.since.split("\n"))), of_log]
    far = next((one for one in found if one.share), of_log)
    hours = next((one.hours for one in found if one.hours), None) or (hand.hours if hand else None)
    return RunFacts(far.done, far.steps, hours)


def need_time(ask: Ask, report: Diagnosis) -> Document | None:
    """How long all of it takes and how long the rest, with the line to write and the queues for it."""
    if report.cause != "sched-time-limit":
        return None
    run = run_facts(ask, report)
    if pace := pace_of(ask):
        done, every, hours = pace
        told = f"By the log an epoch took {hours:.2f} h, and {done} of {every} were done:"
        return time_for(ask, told, every * hours, (every - done) * hours)
    if run.share is None:
        more = f" It had {run.hours:g} h." if run.hours else ""
        return write_document(
            f"That follows from how far it had got:{more} which step or epoch, of how many? As in *epoch 7 of 10*."
        )
    far = f"{run.done:g} of {run.steps:g} were done ({run.share:.0%})"
    if run.hours is None:
        return write_document(
            f"{far}: all of it takes {1 / run.share:.1f} times the limit that it had, the rest from a checkpoint "
            f"{1 / run.share - 1:.1f} times. What was the limit? As in *limit was 12 h*; then I say what to write."
        )
    whole = run.hours / run.share
    return time_for(ask, f"{far} in {run.hours:g} h:", whole, whole - run.hours)


def pace_of(ask: Ask) -> tuple[int, int, float] | None:
    """Epochs that the log tells to be done, of how many, and the hours of one: as printed, else between their lines."""
    told = [row for log in ask.logs for row in rows(log)]
    ended = [(one, means("clock", row)) for row in told if (one := means("epoch-done", row))]
    if not ended:
        return None
    first, last = int(ended[0][0]["n"]), ended[-1][0]
    every = last["of"] or next((one[1] or one[2] for row in told if (one := means("epochs", row))), "0")
    hours = float(last["took"]) * HOURS.get(last["unit"][0].lower(), 1 / 3600) if last["took"] else 0.0
    clocks = [sum(int(n) * s for n, s in zip(at.groups(), (3600, 60, 1), strict=True)) for _, at in ended if at]
    if not hours and len(clocks) == len(ended) and int(last["n"]) > first:
        hours = sum((b - a) % 86400 for a, b in pairwise(clocks)) / 3600 / (int(last["n"]) - first)
    done = int(last["n"]) + (first == 0)
    return (done, int(every), hours) if hours and 0 < done <= int(every) else None


def time_for(ask: Ask, told: str, whole: float, rest: float) -> Document:
    """The line to write for all of it and for the rest, with the queues that take it."""
    hand = in_hand(ask)
    machine = (hand.cluster if hand else None) or ask.machine
    line = DIRECTIVE[(hand.record.scheduler if hand else None) or (machine.scheduler if machine else "slurm")]
    nodes = (hand.nodes if hand else None) or 1
    queues = queue_words(machine, machine.default_queue.node_types[0], nodes, padded(whole)) if machine else ""
    where = f" (line {hand.script.active['time'].line})" if hand and "time" in hand.script.active else ""
    return write_document(
        f"{told} all of it takes about {whole:.1f} h, the rest about {rest:.1f} h.",
        list_steps(
            (f"from the newest checkpoint, with some room{where}", line.format(as_clock(padded(rest)))),
            ("started over", line.format(as_clock(padded(whole)))),
        ),
        f"{padded(whole):g} h on {machine.title}: {queues}" if machine and queues else "",
        "" if hand else "Which of the two depends on whether the program saves and loads checkpoints.",
    )


def padded(hours: float) -> float:
    """With 15 % of room, up to the next half hour."""
    return max(0.5, -(-hours * SLACK * 2 // 1) / 2)


def as_clock(hours: float) -> str:
    return clock(round(hours * 3600))


def need_memory(ask: Ask, report: Diagnosis) -> Document | None:
    """The sum of what was held and wanted, what larger cards there are, and the model's own sum where it is known."""
    if report.cause != "gpu-oom":
        return None
    known = dict(report.facts) | dict(report.captured)
    size = {name: gib(known.get(name, "")) for name in ("asked", "free", "total", "allocated")}
    asked, free, total = size["asked"], size["free"], size["total"]
    sum_of = ""
    if asked and total:
        need = total - (free or 0) + asked
        sum_of = (
            f"At that moment at least {need:.1f} GiB: {total - (free or 0):.1f} were taken and {asked:.2f} more "
            f"wanted, of {total:.1f} GiB. It was {asked - (free or 0):.1f} GiB short; later steps may want more."
        )
    larger = _larger(ask.machine, total - (free or 0) + asked) if ask.machine and asked and total else ""
    sized = choose_strategy(ask) if billions_of(ask) else None
    unknown = "" if sized else "Say the model's size (*3B*) and how it is spread (*ddp*), and I work out the whole sum."
    return write_document(sum_of, larger, *(sized.parts if sized else ()), unknown)


def gib(text: str) -> float | None:
    found = re.match(r"([\d.]+) ?([KMGT])", text)
    return float(found[1]) * GIB[found[2]] if found else None


def helps(ask: Ask, report: Diagnosis) -> Document | None:
    """Yes or no to what is thought of, and where it is no what helps instead."""
    says = would_help(report.cause, ask.text)
    numbers = next((one for one in report.fix if one.startswith(BY_NUMBERS) and ALLOCATOR in one), "")
    if says and numbers and ALLOCATOR in says:
        return write_document(
            f"Perhaps. {numbers} It makes no memory, so a surer step beside it is wise.", first(report)
        )
    if report.cause == "gpu-oom" and (batch := of_batch(ask, report)):
        return batch
    if says and report.cause == "gpu-oom" and re.search(r"\b(?:gpus?|nodes?|cards?)\b", ask.text, re.I):
        if any(UNSHARDED in step for step in report.fix):
            return write_document(after_failure()["unsharded"], first(report))
        sized = choose_strategy(ask) if billions_of(ask) else None
        return write_document(says, *(sized.parts if sized else ()))
    if says and report.cause == "sched-time-limit" and not says.startswith("Only"):
        more = need_time(ask, report) if run_facts(ask, report).share else None
        return write_document(says, *(more.parts if more else ()))
    if says:
        instead = f"What helps: {report.fix[0]}" if says.startswith(("No", "Hardly")) and report.fix else ""
        first_step = report.fix[0] if report.fix else ""
        beside = (one for one in after_failure()["not-lessened"] if re.search(one["words"], ask.text))
        return write_document(says, instead, *(one["says"] for one in beside if one["step"] in first_step))
    if ask.topic != "log.helps":
        return None
    steps = steps_about(ask.text, report)
    todo = steps_of(report)
    return write_document(
        f"It is among what helps here: {steps[0]}" if steps else f"{NO_WORD} {as_sentence(report.says)}",
        "" if steps or not todo else f"What is known to help: {todo[0]}",
    )


# What a step says of memory that no sharding lessens.
UNSHARDED = "sharding does not touch"
TRAINED = re.compile(
    r"(?i)\b(?:trainable (?:params|parameters)|number of (?:trainable )?parameters|num params)\W{1,4}([\d,._]{5,})"
)


def of_batch(ask: Ask, report: Diagnosis) -> Document | None:
    """Whether another batch of a GPU would do, by what failed at the present one; None where one of the two is open."""
    before, now, steps = batches(ask, report)
    known = dict(report.facts) | dict(report.captured)
    asked, total = gib(known.get("asked", "")), gib(known.get("total", ""))
    if not (before and now and now < before and asked and total) or str(now) not in ask.text:
        return None
    telling = after_failure()["batch"]
    told = telling["piece"].format(asked=asked, before=before, now=now, less=asked * now / before)
    trained = next((one for log in ask.logs for row in rows(log) if (one := TRAINED.search(row))), None)
    states = int(re.sub(r"\D", "", trained[1])) * STATES / 2**30 if trained else 0.0
    if not states:
        verdict = telling["open"]
    else:
        left = usable_gib(total * 2**30 / 1e9) - states
        verdict = telling["never" if left <= 0 else "left"].format(states=states, left=max(0.0, left), total=total)
    same = telling["same"].format(steps=steps) if steps else ""
    return write_document(told, verdict, same)


def on_card(ask: Ask, report: Diagnosis) -> Document | None:
    """After a GPU ran out of memory: whether what it wanted then fits the cards that are asked about."""
    known = dict(report.facts) | dict(report.captured)
    asked, free, total = (gib(known.get(name, "")) for name in ("asked", "free", "total"))
    cards = [one for one in find_gpu_words(ask.utterance) if one.model]
    text = ask.utterance.text
    if not (FITS.search(text) or any(OF_THE_CARD.search(text[: one.start]) for one in cards)):
        return None
    facts = ((card, find_gpu(card.model)) for card in cards)
    sizes = [
        (card.model, gb)
        for card, known_of in facts
        for gb in ((card.gb,) if card.gb else known_of.gb if known_of else ())
    ]
    if report.cause != "gpu-oom" or not (asked and total and sizes):
        return None
    need = total - (free or 0) + asked
    told = [
        f"{model} with {gb:g} GB: about {usable_gib(gb):.0f} GiB can be used, so it "
        f"{'would have fitted' if usable_gib(gb) >= need else 'would not have fitted'}."
        for model, gb in dict.fromkeys(sizes)
    ]
    return write_document(f"At the failing moment {need:.1f} GiB were wanted; later steps may want more.", *told)


def steps_of(report: Diagnosis) -> list[str]:
    """What can be done, without the sums that stand among it."""
    return [one for one in report.fix if not one.startswith(BY_NUMBERS)]


def steps_about(text: str, report: Diagnosis) -> list[str]:
    """The steps of the cure that speak of what the words speak of, the nearest first; none that they refuse."""
    denied = (text[one.body : one.end] for one in denials(text))
    refused = stems(" ".join([*denied, *(one[1] for one in REFUSES.finditer(text))])) - TOO_COMMON
    if refused:
        left = [one for one in report.fix if not refused & stems(one)]
        left = left[1:] if left and left[0] == report.fix[0] else left
        return [one for one in left if not one.startswith(BY_NUMBERS)]
    words = stems(text)
    shared = [(len(words & stems(step)), step) for step in steps_of(report)]
    best = max((n for n, _ in shared), default=0)
    return [step for n, step in shared if n == best and n > 0]


# What cannot be done, or is to stay: it denies no words of a script, but steps that speak of it.
REFUSES = re.compile(r"(?i)\b(?:can(?:no|['\u2019])?t|cannot|keep|instead of|other than|no) ((?:\w+ ?){1,6})")
TOO_COMMON = stems("touch change the use make set a my it that this size same do more")


# What a data set's loader is given in the program, and no script has a line for.
OF_LOADER = re.compile(r"(?i)\bnum_?workers\b|\bprefetch\w*|\bpin_memory\b|\bdata ?loader")


def where(ask: Ask, report: Diagnosis) -> Document | None:
    """The line of the script that changes, before and after; or the place for a variable; or the program's own line."""
    hand = in_hand(ask)
    if of_variable := place_of_variable(ask, report):
        return of_variable
    named = report.cause == "gpu-oom" or bool(find_techniques(ask.text))
    if hand is None and named and (in_program := place_of_cure(ask, report)):
        return in_program
    if OF_LOADER.search(ask.text) or (hand is None and OF_LOADER.search(report.fix[0] if report.fix else "")):
        return write_document(after_failure()["in-loader"])
    if hand is None:
        place = "In the job script, above the line that starts the program (srun, mpiexec, torchrun)."
        file = next((one for one in report.evidence if re.search(r'File "[^"]+", line \d+', one.text)), None)
        if file and report.cause != "gpu-oom":  # memory runs out somewhere; what saves it is set elsewhere
            return write_document("In the program, where it failed:", quote(file), first(report))
        return write_document(after_failure()["in-program"] if report.cause == "gpu-oom" else place, paste_script())
    from graph.usecases.mend_script import mend_script

    try:
        mended = mend_script(hand.text, report, hand.cluster, hand.name)
    except InputError:
        return None
    texts = [mended.text, *(offer.script for offer in mended.offers)]
    changes = next((found for text in texts if text and (found := changed_lines(hand.text, text))), [])
    if changes:
        return write_document(*(f"Line {at} of `{hand.name}`:" for at, _, _ in changes[:1]), as_code(changes), do_it())
    export = next((m[0].strip("`") for step in report.fix if (m := EXPORT.search(step))), "")
    start = LAUNCHING.search(hand.text)
    line = hand.text[: start.start()].count("\n") + 1 if start else None
    if export and start and line:
        return write_document(
            f"Before line {line}, which starts the program:", Code(f"{export}\n{start[0].strip()} ...")
        )
    if named and (in_program := place_of_cure(ask, report)):
        return in_program
    return write_document(
        f"No line of `{hand.name}` is sure to cure this. {report.fix[0] if report.fix else as_sentence(report.says)}"
    )


def paste_script() -> str:
    return "Paste the job's script and I show you the line."


def do_it() -> str:
    return "Say *do it* and I change that and nothing else."


def changed_lines(before: str, after: str) -> list[tuple[int, str, str]]:
    """(line number, old lines, new lines) of each change."""
    old, new = before.splitlines(), after.splitlines()
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(a + 1, "\n".join(old[a:b]), "\n".join(new[c:d])) for tag, a, b, c, d in blocks if tag != "equal"]


def as_code(changes: Sequence[tuple[int, str, str]]) -> Part:
    rows = [f"- {row}" for _, old, _ in changes for row in old.splitlines()]
    rows += [f"+ {row}" for _, _, new in changes for row in new.splitlines()]
    return Code("\n".join(rows), "diff")


def how(ask: Ask, report: Diagnosis) -> Document | None:
    """The step that is spoken of, with its command and where it is run; else the first that was not tried."""
    if fetching := fetch_steps(ask, report):
        return fetching
    left = [step for step in report.fix if step not in ask.tried] or list(report.fix)
    steps = steps_about(ask.text, report) or left[:1]
    if not steps:
        return tell_cause(ask)
    package = next((m[1] for step in report.fix if (m := re.search(r"pip install ([\w.-]+)", step))), "")
    machine = ask.machine
    if package and machine and machine.software["default"].create:
        lines = machine.software["default"].lines
        return write_document(
            f"On a login node of {machine.title}, in the environment that the job uses (compute nodes often have no "
            "internet):",
            list_steps(
                ("the machine's software, as in the job", "\n".join(lines)),
                ("your environment", "source <env>/bin/activate"),
                ("the package", f"pip install {package}"),
                ("whether it is there", f"python -c 'import {package.replace('-', '_')}'"),
            ),
            "In the job script the same environment has to be activated before the launch line.",
        )
    place = "On a login node, in the environment that the job activates; compute nodes often have no internet."
    return write_document(*(as_sentence(step) for step in steps[:2]), place if package else "")


def fault(ask: Ask, report: Diagnosis) -> Document | None:
    """Whether it was the person's job, the machine, or another thing that is named."""
    named = stems(" ".join(re.findall(after_failure()["words"]["suspect"], ask.text))) - BLAMED
    if named and not named & stems(" ".join((report.says, *report.fix, *(one.text for one in report.evidence)))):
        return write_document(f"{NO_WORD} {as_sentence(report.says)}", send(report) or "")
    if report.cause in PASSING and report.cause != "sched-cancelled":
        return write_document(f"Not yours: {as_sentence(report.says)} Submit it again, from the newest checkpoint.")
    if report.cause in OF_THE_NODE:
        shown = report.evidence[0] if report.evidence else None
        return write_document(
            f"Rather the node than you: {as_sentence(report.says)} If it fails on another node as well, it was not the "
            "node.",
            quote(shown) if shown else None,
            f"So: {report.fix[0]}" if report.fix else "",
        )
    place = next((text for start, text in OWN_TO_CHANGE if report.cause.startswith(start)), "in the job")
    nothing = (
        "Nothing is broken by it." if report.cause.startswith(("sched-bad", "sched-over", "env-", "user-")) else ""
    )
    return write_document(f"Not the node: it lies {place}. {as_sentence(report.says)}", nothing, first(report))


def first(report: Diagnosis) -> str:
    todo = steps_of(report)
    return f"What to change: {todo[0]}" if todo else ""


def of_steps(ask: Ask, report: Diagnosis) -> Document | None:
    """Words to which nothing else is known: the steps that speak of the same; None where none does."""
    steps = steps_about(ask.text, report)
    return write_document(*(as_sentence(step) for step in steps[:2])) if steps else None


Teller = Callable[[Ask, Diagnosis], Document | None]
TELLERS: dict[str, Teller] = {
    "log.helps": helps,
    "log.where": where,
    "log.how": how,
    "log.fault": fault,
    "log.need": lambda ask, report: need_memory(ask, report) or need_time(ask, report) or of_steps(ask, report),
    "method.memory": need_memory,
    "method.gpus": helps,
    "method.scaling": helps,
    "script.whatif": helps,
    "job.runtime": need_time,
    "job.resubmit": lambda ask, report: None if means("how-to", ask.text) else tell_retry(ask),
}
