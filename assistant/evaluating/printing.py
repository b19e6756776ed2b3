"""A run in words: the table, the misses, what changed, and the page of docs/accuracy.md."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from assistant.errors import InputError
from assistant.evaluating.cases import text_of
from assistant.evaluating.figures import Compared, Judged, Share, calibration, expected_error, groups, measures
from assistant.evaluating.runs import RunResult
from knowledge.data_file import parse_yaml
from knowledge.errors import FactsError

MOST_FLIPS, MOST_WHY = 40, 400
HISTORY = "history.yaml"
# What a group of a type is, where figures by group tell something.
GROUPED = {"log": "cause", "pending": "class"}
BY_COMMAND = "maple-chat eval bench/accuracy --markdown"
PARTS = {
    "blind": (
        "Written and labelled before the program was tried on them, and kept out of the fitting. The date is that of "
        "their first use; whoever mends a miss of these has made them development cases."
    ),
    "development": (
        "Used while building: these show that nothing was lost, not how well new ones do, so they have no interval."
    ),
    "fitted": "The reader was trained on these: they show what it kept, not what it learnt.",
}


def shown(share: Share) -> str:
    low, high = share.interval
    return f"{share.right}/{share.of}  {share.percent:.1f} %  ({low:.1f} to {high:.1f})"


def table_text(run: RunResult) -> str:
    """A row for each set and mark."""
    rows = [
        (name, kind if mark == "right" else f"{kind}: {mark}", shown(share))
        for name, kind, mark, share in measures(run.cases)
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)] if rows else [0, 0]
    lines = [f"{name:<{widths[0]}}  {kind:<{widths[1]}}  {figure}" for name, kind, figure in rows]
    lines += [f"{name}: {count} without a label, not judged" for name, count in run.unlabelled]
    return "\n".join(lines) or "no labelled case"


def misses_text(run: RunResult) -> str:
    """Each case that came out wrong."""
    missed = [case for case in run.cases if not case.right]
    return "".join(f"\n{case.set} {case.id}: {case.verdict.why[:MOST_WHY]}" for case in missed) + "\n" if missed else ""


def compared_text(found: Compared) -> str:
    """What was gained, what was lost, and whether that can be chance."""
    cases = f"{found.both} case{'' if found.both == 1 else 's'}"
    head = f"\n{cases} in both runs: {len(found.gained)} gained, {len(found.lost)} lost"
    if found.gained or found.lost:
        head += f"; so uneven a split by chance: p = {found.chance:.3f} (McNemar, exact)"
    if found.only_before or found.only_now:
        head += f"; {found.only_before} only before, {found.only_now} only now"
    return "\n".join([head, *flips("lost", found.lost), *flips("gained", found.gained), ""])


def flips(word: str, keys: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from (f"  {word}: {name} {case}" for name, case in keys[:MOST_FLIPS])
    if len(keys) > MOST_FLIPS:
        yield f"  and {len(keys) - MOST_FLIPS} more {word}; --json has them all"


class PastFigure(BaseModel):
    """The first try on a blind set. by: who wrote and labelled it; note: what else must be known to read it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    date: datetime.date
    what: str
    right: int | None = None
    of: int
    figure: str = ""
    note: str = ""


class History(BaseModel):
    """What cannot be measured again: first tries, and what is known to fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    first_tries: tuple[PastFigure, ...] = ()
    known_to_fail: tuple[str, ...] = ()


def read_history(folder: Path) -> History:
    """`history.yaml` of the folder; empty where there is none. Raises InputError."""
    path = folder / HISTORY
    if not path.is_file():
        return History()
    try:
        return TypeAdapter(History).validate_python(parse_yaml(text_of(path)))
    except (FactsError, ValidationError) as error:
        raise InputError(f"{path}: {error}") from error


def page(run: RunResult, folder: Path) -> str:
    """The page: sets by part, groups, calibration, first tries of the past, what fails. The same run, the same page."""
    history = read_history(folder)
    parts = [
        "# How often it is right\n",
        f"Made by `{BY_COMMAND}`; a test compares this page with what the command prints. [eval.md](eval.md) tells how "
        "to run it on cases of your own, [bench/accuracy](../bench/accuracy/README.md) how each case was written and "
        "labelled. Without a language model. Intervals are Wilson's, 95 %.\n",
        *(section(run, part) for part in PARTS if any(one.part == part for one in run.sets)),
        "\n".join(past(history.first_tries)),
        "\n".join(calibrated(run)),
        *("\n".join(grouped(run, kind, word)) for kind, word in GROUPED.items()),
        "\n".join(failing(run, history.known_to_fail)),
    ]
    return "\n".join(part for part in parts if part).rstrip("\n") + "\n"


def section(run: RunResult, part: str) -> str:
    """A part's sets, each measure in a row."""
    dates, fresh = {one.name: one.date for one in run.sets}, part == "blind"
    rows = [
        f"| {name} | {kind if mark == 'right' else f'{kind}: {mark}'} | {dates[name]} | {cells(share, fresh)} |"
        for name, kind, mark, share in measures([case for case in run.cases if case.part == part])
    ]
    title = {"blind": "Blind", "development": "Development", "fitted": "Fitted on"}[part]
    head = ["| set | what | date | right | % | 95 % |", "|---|---|---|---|---|---|"]
    abouts = [f"- {one.name}: {one.about}" for one in run.sets if one.part == part and one.about]
    return "\n".join([f"## {title} sets\n", f"{PARTS[part]}\n", *head, *rows, "", *abouts, ""])


def cells(share: Share, fresh: bool = True) -> str:
    """fresh: drawn before anything was mended on them, so that an interval tells something of further cases."""
    return f"{share.right} of {share.of} | {share.percent:.1f} | {ends(share) if fresh else ''}"


def ends(share: Share) -> str:
    low, high = share.interval
    return f"{low:.1f} to {high:.1f}"


def past(figures: Sequence[PastFigure]) -> Iterator[str]:
    if not figures:
        return
    yield "## First tries on every blind set so far\n"
    yield (
        "Sets written, gathered and labelled before the program saw them; each figure is of its first run, with the "
        "program of that day. Most were used for mending afterwards, so they cannot be run again as blind ones.\n"
    )
    yield "| first run | what | right | % | 95 % | note |\n|---|---|---|---|---|---|"
    for one in figures:
        counted = cells(Share(one.right, one.of)) if one.right is not None else f"of {one.of} | {one.figure} | "
        yield f"| {one.date} | {one.what} | {counted} | {one.note} |"
    yield ""


def calibrated(run: RunResult) -> Iterator[str]:
    """How often it is right where it is so sure, for each type that has a confidence; not for what it was fitted on."""
    sure = [case for case in run.cases if case.verdict.confidence is not None and case.part != "fitted"]
    if not sure:
        return
    yield "## Whether its confidence can be believed\n"
    yield "Cases by the confidence that the program gave. On development sets it is righter than on new ones.\n"
    for (kind, part), cases in by_kind(sure):
        bins = calibration(cases)
        off = 100 * expected_error(bins)
        yield f"{kind}, {part}: off by {off:.1f} points on average (expected calibration error)\n"
        yield "| said | mean | cases | right | % | 95 % |\n|---|---|---|---|---|---|"
        for one in bins:
            yield (
                f"| {one.low:.2f} to {one.high:.2f} | {one.said:.2f} | {one.share.of} | {one.share.right} | "
                f"{one.share.percent:.1f} | {ends(one.share) if part == 'blind' else ''} |"
            )
        yield ""


def by_kind(cases: Iterable[Judged]) -> Iterator[tuple[tuple[str, str], list[Judged]]]:
    ordered = sorted(cases, key=lambda case: (case.type, case.part))
    for key, found in groupby(ordered, key=lambda case: (case.type, case.part)):
        yield key, list(found)


def grouped(run: RunResult, kind: str, word: str) -> Iterator[str]:
    """A type's figures by group, all sets together."""
    cases = [case for case in run.cases if case.type == kind and case.part != "fitted"]
    found, fresh = groups(cases), all(case.part == "blind" for case in cases)
    if found:
        yield f"## {kind.capitalize()}s, by {word}\n".replace("Pendings", "Waiting jobs")
        yield f"| {word} | right | % | 95 % |\n|---|---|---|---|"
        yield from (f"| `{name}` | {cells(share, fresh)} |" for name, share in found.items())
        yield ""


def failing(run: RunResult, known: Sequence[str]) -> Iterator[str]:
    missed = [case for case in run.cases if not case.right and case.part != "fitted"]
    if known or missed:
        yield "## What is known to fail\n"
        yield from (f"- {words}" for words in known)
        yield "\nThe cases here that come out wrong:\n" if missed else ""
        yield from (f"- {case.set}, {case.id}: {one_line(case.verdict.why)}" for case in missed)


def one_line(words: str) -> str:
    """Fit for a list: no line breaks, no marks of Markdown's tables or code."""
    return " ".join(words.replace("|", "/").replace("`", "'").split())[:MOST_WHY]
