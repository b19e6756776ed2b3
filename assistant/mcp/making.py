"""Our values turned into what the tools answer."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from assistant.mcp.answers import (
    LogAnswer,
    MendAnswer,
    OfferedCure,
    PlanAnswer,
    PlanOption,
    QuotedLine,
    ScriptAnswer,
)
from assistant.mcp.shaping import MOST_TEXT, cut, left_out, part_of_list, safe
from knowledge.types import Finding

if TYPE_CHECKING:
    from graph.usecases.mend_script import Mended
    from knowledge.cluster import Cluster
    from knowledge.types import Diagnosis, JobRequest, LaunchBundle, LaunchPlan, Refusal

FINDINGS_A_PART, OPTIONS_A_PART = 20, 6
LINES_GIVEN, CAUSES_GIVEN = 8, 5
BY_WHY = "`maple-chat why FILE` prints all"


def known(name: str) -> Cluster:
    """The machine of that name. Raises InputError with the nearest names."""
    from knowledge.catalogue import catalogue

    return catalogue().named(safe(name), "list_clusters")


def with_more(request: JobRequest, more_fields: dict[str, str] | None) -> JobRequest:
    """The request with its further fields. Raises InputError."""
    from graph.planning.request_fields import with_fields

    return with_fields(request, [f"{name}={value}" for name, value in (more_fields or {}).items()])


def refused(refusal: Refusal) -> ScriptAnswer:
    """What the machine cannot do, why, and what it can."""
    source = f" ({refusal.source})" if refusal.source else ""
    ways = tuple(way.says for way in refusal.instead)
    return ScriptAnswer(False, refusal=f"{refusal.says} {refusal.why}{source}", instead=ways)


def written(
    decided: LaunchPlan,
    bundle: LaunchBundle | None = None,
    notes: tuple[str, ...] = (),
    findings: tuple[Finding, ...] = (),
) -> ScriptAnswer:
    """The script of a plan, with what was assumed."""
    from templates.render import render

    made = bundle or render(decided)
    return ScriptAnswer(
        True,
        made.name,
        made.script,
        made.files,
        made.submit,
        assumptions=decided.assumptions,
        notes=(*decided.notes, *notes, *credentials_note(made.script)),
        findings=findings,
    )


def credentials_note(script: str) -> tuple[str, ...]:
    """Said where a credential of the script is not in the answer."""
    return (
        ("a credential stands as <hidden>: keep the line of the person's own file",) if safe(script) != script else ()
    )


def mend_answer(mended: Mended, before: str) -> MendAnswer:
    """What was cured, as a difference; the whole text too where it is short."""
    from graph.usecases.mend_script import difference

    offers = tuple(
        OfferedCure(one.says, one.price, difference(before, one.script, "script") if one.script else "")
        for one in mended.offers
    )
    whole = mended.text if mended.diff and len(mended.text) <= MOST_TEXT else ""
    notes = ("the whole text is too long for an answer: apply the diff",) if mended.diff and not whole else ()
    return MendAnswer(
        bool(mended.diff),
        mended.says or "nothing here can be cured without the person",
        mended.diff,
        whole,
        offers,
        mended.findings[:FINDINGS_A_PART],
        (
            *notes,
            *left_out(mended.findings, FINDINGS_A_PART, "finding", "check_script gives them in parts"),
            *credentials_note(mended.text),
        ),
    )


def log_answer(found: Diagnosis, mended: MendAnswer | None) -> LogAnswer:
    """A diagnosis in the tool's values, as `maple-chat why` judges it."""
    from assistant.commands.why import NO_FAILURE
    from graph.debugging.answer import as_json

    value = as_json(found)
    quoted = (
        QuotedLine(one.line, one.text, -1 if one.rank is None else one.rank, one.count)
        for one in found.evidence[:LINES_GIVEN]
    )
    return LogAnswer(
        found.cause != NO_FAILURE,
        found.cause,
        found.says,
        value["confidence"],
        tuple(quoted),
        found.fix,
        tuple(f"{one.cause}: {one.why_not}" for one in found.considered[:CAUSES_GIVEN]),
        tuple(value["send_next"]),
        found.sources,
        mended,
        (
            *left_out(found.evidence, LINES_GIVEN, "telling line", BY_WHY),
            *left_out(found.considered, CAUSES_GIVEN, "weighed cause", BY_WHY),
        ),
    )


def plan_answer(options: Namespace, cursor: str) -> PlanAnswer:
    """The plan of the command's options, in the tool's values."""
    from assistant.commands.plan import option_json, over_own, plan_of, question_of
    from assistant.printing.plain import print_plain
    from graph.answering.resources import plan_with_hours

    question = over_own(question_of(options))
    plan = plan_of(options, question)
    document, fits = plan_with_hours(plan), None if question.task == "serve" else plan.fits
    part, more = part_of_list(plan.options, cursor, OPTIONS_A_PART)
    rows = tuple(plan_option(option_json(plan.running(option)), dict(plan.change(option))) for option in part)
    return PlanAnswer(
        plan.model is not None, fits, cut(print_plain(document), "`maple-chat plan` prints all"), rows, more
    )


def plan_option(value: dict[str, Any], request: dict[str, str | int | None]) -> PlanOption:
    """An option as the command's JSON has it, without the sum's parts: the text tells those."""
    return PlanOption(
        value["machine"] or "",
        value["gpu"],
        value["nodes"],
        value["gpus"],
        value["strategy"],
        value["tensor"],
        value["pipeline"],
        value["micro_batch"],
        value["verdict"],
        value["memory_total_gib"]["expected"],
        value["memory_total_gib"]["worst"],
        value["hours"]["usual"] if value["hours"] else None,
        value["node_hours"]["usual"] if value["node_hours"] else None,
        value["queue"] or "",
        value["jobs"],
        {name: str(said) for name, said in request.items() if said is not None},
    )
