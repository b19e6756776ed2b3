"""`maple-chat signatures`: verifies the failure signatures, and reviews those that corrections propose."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.errors import InputError
from knowledge.signatures.check import check

if TYPE_CHECKING:
    from assistant.slack.feedback import Feedback, LabelledCase
    from graph.debugging.proposals import Labelled, Proposal, ProposalTrial

EXIT_FINE, EXIT_NO = 0, 1
MOST_NAMED = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "check: the pattern compiles, the cause exists, the example is diagnosed by it. review: what people's "
        "corrections would change, tried on all kept cases; nothing counts before it is accepted."
    )
    parser.add_argument("action", choices=["check", "review"])
    parser.add_argument(
        "file",
        nargs="*",
        type=Path,
        help="check: files beside the installed ones; review: further cases (docs/eval.md)",
    )
    parser.add_argument("--accept", metavar="ID", help="review: put it among the site's signatures")
    parser.add_argument("--reject", metavar="ID", help="review: never propose it again")
    parser.add_argument("--json", action="store_true", help="review: as JSON")


def run(options: argparse.Namespace) -> int:
    if options.action == "review":
        return review(options)
    problems, count = check(options.file)
    print("\n".join(problems) if problems else f"{count} signatures, all fine")
    return EXIT_NO if problems else EXIT_FINE


def review(options: argparse.Namespace) -> int:
    """Show what corrections propose, and take decisions: by option, or one by one where a person sits there."""
    from assistant.settings import read_settings
    from assistant.slack.database import open_store
    from assistant.slack.feedback import Feedback
    from graph.debugging.proposals import told_now, try_out

    feedback = Feedback(open_store(read_settings()))
    said = list(feedback.cases())
    decided = feedback.decided()
    proposals = [one for one in proposed(said) if one.id not in decided]
    chosen = options.accept or options.reject
    if chosen:
        proposals = [one for one in proposals if one.id == chosen]
        if not proposals:
            raise InputError(f"no open proposal '{chosen[:40]}'; `maple-chat signatures review` lists them")
    if options.reject:
        feedback.decide(options.reject, "rejected")
        print(f"{options.reject} is rejected")
        return EXIT_FINE
    cases = [*kept(said), *further(options.file)]
    now = cache(told_now)
    for number, one in enumerate(proposals, 1):
        trial = try_out(one, cases, now)
        if options.json:
            print(json.dumps(as_json(one, trial)))
            continue
        print(f"{number} of {len(proposals)}  {one.id}\n{as_text(one, trial)}")
        if options.accept:
            return settle(feedback, one, trial, "accept")
        if sys.stdin.isatty() and (answer := asked(trial, input)) != "skip":
            if answer == "quit":
                break
            settle(feedback, one, trial, answer)
    if not proposals and not options.json:
        print("no corrections to review")
    return EXIT_FINE


def proposed(said: Sequence[LabelledCase]) -> list[Proposal]:
    """What the corrections ask for."""
    from assistant.slack.feedback import OTHER
    from graph.debugging.proposals import merged, proposal_of

    asked_for = [
        proposal_of("" if case.expected == OTHER else case.expected, case.cause, case.fix, case.line, case.log)
        for case in said
        if case.expected or case.fix
    ]
    return merged([one for one in asked_for if one])


def kept(said: Sequence[LabelledCase]) -> list[Labelled]:
    """The cases with a log of which it is known what is right."""
    from assistant.slack.feedback import label_of
    from graph.debugging.proposals import Labelled

    labelled = [case for case in said if case.log and label_of(case)]
    return [Labelled(f"{case.at} #{n}", case.log, label_of(case)) for n, case in enumerate(labelled, 1)]


def further(paths: Sequence[Path]) -> list[Labelled]:
    """Labelled logs of files and folders in the form of `maple-chat eval`."""
    if not paths:
        return []
    from assistant.evaluating.case_types import LogCase
    from assistant.evaluating.cases import read_sets
    from graph.debugging.proposals import Labelled

    found = [(one.name, case) for one in read_sets(paths) for case in one.cases if isinstance(case, LogCase)]
    return [Labelled(f"{name}/{case.id}", case.log, case.cause) for name, case in found if case.cause and case.log]


def as_text(one: Proposal, trial: ProposalTrial) -> str:
    people = f"{one.said_by} people say" if one.said_by > 1 else "one person says"
    what = "what cured it" if one.cause == one.answered else f"it is {one.cause}"
    lines = [f"  line:     {one.line}", f"  answered: {one.answered or 'nothing'}; {people} {what}"]
    if one.fix:
        lines.append(f"  cured by: {one.fix}")
    if trial.signature:
        lines.append(f"  pattern:  {trial.signature.pattern}")
    if trial.problems:
        return "\n".join([*lines, *(f"  cannot be taken: {problem}" for problem in trial.problems)])
    cases = f"{trial.cases} kept case{'' if trial.cases == 1 else 's'}"
    lines.append(f"  on {cases}: right before {trial.before}, after {trial.after}")
    for word, ids in (("makes right", trial.mended), ("makes wrong", trial.broken)):
        if ids:
            more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
            lines.append(f"  {word}: {', '.join(ids[:MOST_NAMED])}{more}")
    return "\n".join(lines)


def as_json(one: Proposal, trial: ProposalTrial) -> dict[str, Any]:
    return {
        "id": one.id,
        "line": one.line,
        "answered": one.answered,
        "cause": one.cause,
        "fix": one.fix,
        "said_by": one.said_by,
        "pattern": trial.signature.pattern if trial.signature else None,
        "cases": trial.cases,
        "right_before": trial.before,
        "right_after": trial.after,
        "mended": list(trial.mended),
        "broken": list(trial.broken),
        "problems": list(trial.problems),
        "fit": trial.fit,
    }


def asked(trial: ProposalTrial, ask: Callable[[str], str]) -> str:
    """accept, reject, skip or quit."""
    ways = ["accept"] * trial.fit + ["reject", "skip", "quit"]
    while True:
        try:
            said = ask(f"{', '.join(ways[:-1])} or {ways[-1]}? ").strip().lower()
        except EOFError:
            return "quit"
        if hit := next((way for way in ways if said and way.startswith(said)), ""):
            return hit


def settle(feedback: Feedback, one: Proposal, trial: ProposalTrial, decision: str) -> int:
    """Take a decision; what is unsound or makes a case wrong is never accepted."""
    from graph.debugging.proposals import accept

    if decision == "reject":
        feedback.decide(one.id, "rejected")
        print(f"{one.id} is rejected")
        return EXIT_FINE
    if not trial.fit:
        print(f"maple-chat: {one.id} is not accepted: it {'makes cases wrong' if trial.broken else 'is not sound'}",
              file=sys.stderr)  # fmt: skip
        return EXIT_NO
    path = accept(one, trial)
    feedback.decide(one.id, "accepted")
    print(f"{one.id} is accepted into {path}; a running bot takes it at its next start")
    return EXIT_FINE
