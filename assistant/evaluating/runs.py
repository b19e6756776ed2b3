"""A run over sets of cases: its results as JSON, and read back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assistant.errors import InputError
from assistant.evaluating.cases import CaseSet, text_of
from assistant.evaluating.figures import Judged, measures
from assistant.evaluating.judging import Bench, CaseVerdict, judge
from knowledge.data_file import parse_json

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class RunResult:
    """unlabelled: cases that nobody labelled yet, by set; they are not judged."""

    sets: tuple[CaseSet, ...]
    cases: tuple[Judged, ...]
    unlabelled: tuple[tuple[str, int], ...] = ()


def run_sets(sets: Sequence[CaseSet], bench: Bench, only: str, progress: Callable[[str], None]) -> RunResult:
    """Judge every labelled case of the type (empty: of all types), set after set."""
    judged: list[Judged] = []
    unlabelled = []
    for one in sets:
        wanted = [case for case in one.cases if only in ("", case.type)]
        labelled = [case for case in wanted if case.labelled]
        if len(labelled) < len(wanted):
            unlabelled.append((one.name, len(wanted) - len(labelled)))
        for number, case in enumerate(labelled, 1):
            progress(f"{one.name} {number}/{len(labelled)}")
            judged.append(Judged(one.name, one.part, case.type, case.id, judge(case, bench)))
    return RunResult(tuple(sets), tuple(judged), tuple(unlabelled))


def as_json(run: RunResult) -> dict[str, Any]:
    """Figures and every case, in plain values."""
    rows = [
        {
            "set": name,
            "type": kind,
            "mark": mark,
            "right": share.right,
            "of": share.of,
            "percent": round(share.percent, 1),
            "interval": [round(end, 1) for end in share.interval],
        }
        for name, kind, mark, share in measures(run.cases)
    ]
    cases = [
        {
            **{name: value for name, value in asdict(case).items() if name != "verdict"},
            "right": case.right,
            "marks": dict(case.verdict.marks),
            "why": case.verdict.why,
            "group": case.verdict.group,
            "confidence": case.verdict.confidence,
        }
        for case in run.cases
    ]
    return {"schema": SCHEMA_VERSION, "figures": rows, "unlabelled": dict(run.unlabelled), "cases": cases}


def read_run(path: Path) -> RunResult:
    """A run that `--json` printed. Raises InputError."""
    try:
        value = parse_json(text_of(path))
        if value["schema"] != SCHEMA_VERSION:
            raise ValueError(f"schema {value['schema']}")
        return RunResult((), tuple(read_cases(value["cases"])), tuple(value["unlabelled"].items()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is no run ({error}); `maple-chat eval CASES --json` prints one") from error


def read_cases(rows: Iterable[dict[str, Any]]) -> Iterable[Judged]:
    for row in rows:
        verdict = CaseVerdict(tuple(row["marks"].items()), row["why"], row["group"], row["confidence"])
        yield Judged(row["set"], row["part"], row["type"], row["id"], verdict)
