"""`maple-chat models test`: the same small set with the rules alone and with the model, in figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.debugging.diagnosis import diagnose
from graph.debugging.log import from_text
from graph.extraction.request import understand
from graph.modelling.asking import Models
from graph.modelling.candidates import FIELDS
from graph.modelling.diagnosing import help_with
from graph.modelling.extracting import fill
from knowledge.catalogue import catalogue
from knowledge.data_file import read_data
from knowledge.types import Diagnosis, JobRequest

Case = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """One half of the set. missed, wrong: for requests fields, for logs causes; seconds: the whole half."""

    part: str
    by: str
    cases: int
    right: int
    missed: int
    wrong: int
    seconds: float
    questions: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    troubles: tuple[str, ...] = ()


def cases() -> Mapping[str, Sequence[Case]]:
    found: Mapping[str, Sequence[Case]] = read_data(Path(__file__).with_name("trial.yaml"))
    return found


def run(models: Models | None) -> list[Result]:
    """Each half by the rules, and with the model where there is one."""
    results = []
    for part, ask, judge in (("requests", request_of, fields), ("logs", diagnosis_of, cause)):
        for use in (None, models) if models else (None,):
            results.append(half(part, cases()[part], use, ask, judge))
    return results


def half(
    part: str,
    of: Sequence[Case],
    models: Models | None,
    ask: Callable[[Case, Models | None], tuple[Any, str]],
    judge: Callable[[Case, Any], tuple[int, int]],
) -> Result:
    started, asked = time.monotonic(), len(models.uses) if models else 0
    answers = [ask(case, models) for case in of]
    seconds = time.monotonic() - started
    judged = [judge(case, answer) for case, (answer, _) in zip(of, answers, strict=True)]
    uses = list(models.uses)[asked:] if models else []
    return Result(
        part,
        "with the model" if models else "rules alone",
        len(of),
        sum(pair == (0, 0) for pair in judged),
        sum(missed for missed, _ in judged),
        sum(wrong for _, wrong in judged),
        seconds,
        len(uses),
        sum(use.tokens_in for use in uses),
        sum(use.tokens_out for use in uses),
        tuple(dict.fromkeys(trouble for _, trouble in answers if trouble)),
    )


def request_of(case: Case, models: Models | None) -> tuple[JobRequest, str]:
    request = understand(case["text"], None, None, None).request
    if models is None:
        return request, ""
    filled = fill(case["text"], request, catalogue(), models)
    return filled.request, filled.trouble


def fields(case: Case, request: JobRequest) -> tuple[int, int]:
    """How many fields are missed, and how many are wrong or invented."""
    pairs = [(case["want"].get(name), getattr(request, name)) for name in FIELDS]
    return sum(w is not None and g is None for w, g in pairs), sum(g is not None and w != g for w, g in pairs)


def diagnosis_of(case: Case, models: Models | None) -> tuple[Diagnosis, str]:
    found = diagnose(case["log"])
    if models is None:
        return found, ""
    helped = help_with(found, [from_text(case["log"])], models)
    return helped.diagnosis, helped.trouble


def cause(case: Case, found: Diagnosis) -> tuple[int, int]:
    want, line = case["want"]["cause"], case["want"]["line"]
    missed = want != "unknown" and found.cause in ("unknown", "no-failure")
    shown = not line or any(e.line == line for e in found.evidence)
    return int(missed), int(not missed and (found.cause != want or not shown) and found.cause not in ("no-failure",))
