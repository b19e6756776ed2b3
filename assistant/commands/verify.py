"""`maple-chat verify`: the mini-app as a real job on the machine. It asks before anything is sent."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from assistant.commands.rehearse import known_machine
from assistant.commands.script import refuse
from assistant.errors import InputError
from assistant.printing.plain import as_text
from assistant.reading import is_agreed, shown_script
from graph.debugging.answer import as_json
from graph.verification.jobs import PAUSES, UNSEEN, SubmittedJob, TrialOutcome, fetch, follow, judge, ready, submit
from graph.verification.on_machine.reach import Reach, reaching
from graph.verification.on_machine.schedulers import SCHEDULERS
from graph.verification.on_machine.trial import Trial, TrialWishes, trial_of
from knowledge.types import FRAMEWORKS, STRATEGIES, Refusal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Proves on the machine itself that a job like this one starts: a ten-minute job of two nodes at most, with a "
        "small program in the place of yours. Without --submit it shows what would be sent, and sends nothing."
    )
    parser.add_argument("file", help="the launch script; - reads it from standard input")
    parser.add_argument("--machine", help="a machine of `maple-chat clusters`; default: the script's own marks tell")
    parser.add_argument("--submit", action="store_true", help="send it, after asking")
    parser.add_argument("--yes", action="store_true", help="with --submit: do not ask")
    parser.add_argument("--host", help="a login node, reached by your own ssh; default: this computer")
    parser.add_argument("--folder", help="a folder that the nodes see, such as $SCRATCH; default: maple-chat here")
    parser.add_argument("--account", help="default: the script's")
    parser.add_argument("--queue", help="default: a debug queue, else the script's")
    parser.add_argument("--framework", choices=FRAMEWORKS, help="default: read from the script")
    parser.add_argument("--strategy", choices=STRATEGIES, help="default: read from the script")
    parser.add_argument("--env", metavar="PATH", help="your Python environment or container image, with PyTorch in it")
    parser.add_argument("--poll", type=float, metavar="SECONDS", help="between questions; default: 5, growing to 30")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    asked = TrialWishes(options.framework, options.strategy, options.account, options.queue, options.env)
    script = shown_script(options.file)
    cluster = known_machine(options.machine, script)
    if cluster is None:
        raise InputError("which machine is it for? Give --machine NAME (`maple-chat clusters` lists them)")
    trial = trial_of(script, cluster, asked)
    if isinstance(trial, Refusal):
        return refuse(trial, options.json)
    folder = f"{options.folder.rstrip('/')}/{trial.folder}" if options.folder else trial.folder
    if not options.submit:
        show(trial, Reach(folder, options.host), options.json)
        return 0
    ready(trial)
    with reaching(options.host, folder) as reach:
        if not options.yes and not agreed(trial, reach):
            say("nothing was sent")
            return 1
        return carry_out(trial, reach, options)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def show(trial: Trial, reach: Reach, as_json: bool) -> None:
    """What would be sent; nothing is."""
    if as_json:
        print(json.dumps({"sent": False, **about(trial, reach)}, ensure_ascii=False))
        return
    print(in_words(trial, reach))
    note = " Give --account first: the script holds none." if trial.account_open else ""
    say(f"note: nothing was sent; --submit sends it, after asking.{note}")


def about(trial: Trial, reach: Reach) -> dict[str, Any]:
    return {
        "host": reach.host,
        "folder": reach.folder,
        "command": command(trial, reach),
        "framework": trial.plan.framework,
        "strategy": trial.plan.strategy,
        "nodes": trial.plan.nodes,
        "ranks": trial.plan.ranks,
        "queue": trial.plan.queue,
        "walltime": trial.plan.walltime,
        "account": trial.plan.account,
        "files": [asdict(file) for file in trial.files],
        "assumptions": [asdict(one) for one in trial.plan.assumptions],
        "notes": list(trial.notes),
        "unseen": list(UNSEEN),
    }


def in_words(trial: Trial, reach: Reach) -> str:
    """The script in full, the other files by size, and the exact command."""
    plan = trial.plan
    script, *others = trial.files
    sizes = ", ".join(f"{file.name} ({len(file.text.encode())} bytes)" for file in others)
    rows = (
        script.text,
        f"job      {plan.framework} {plan.strategy}, {plan.nodes} x {plan.ranks_per_node} = {plan.ranks} ranks, "
        f"queue {plan.queue}, {plan.walltime}, account {plan.account or '(none)'}",
        f"files    {script.name} (above), {sizes}",
        f"sending  {reach.sending}",
        f"command  {command(trial, reach)}",
    )
    return "\n".join((*rows, *(f"note     {note}" for note in trial.notes)))


def command(trial: Trial, reach: Reach) -> str:
    """The exact line; for a batch system that is not followed, the one to type by hand."""
    return reach.shown(trial.submit) if trial.plan.scheduler in SCHEDULERS else trial.by_hand


def agreed(trial: Trial, reach: Reach) -> bool:
    """Shows all and asks. Anything but yes is a no; so is a closed input."""
    say(in_words(trial, reach))
    return is_agreed("Send and submit this?")


def carry_out(trial: Trial, reach: Reach, options: argparse.Namespace) -> int:
    job = submit(trial, reach)
    say(f"job {job.id}: {reach.shown(trial.submit)}")
    try:
        outcome = watch(trial, job, options.poll)
    except KeyboardInterrupt:
        say(f"\njob {job.id} goes on. See it: {job.watch}\nEnd it: {job.cancel}\nIts output: {reach.folder}")
        return 130
    kept = keep(outcome, reach)
    if options.json:
        told = as_json(outcome.diagnosis) if outcome.diagnosis else None
        print(json.dumps({"sent": True, **asdict(outcome), "diagnosis": told, "kept": kept}, ensure_ascii=False))
    else:
        tell(outcome, kept)
    return 0 if outcome.passed else 1


def watch(trial: Trial, job: SubmittedJob, poll: float | None) -> TrialOutcome:
    """A line for each change of state; then the output."""
    start = time.monotonic()
    for state in follow(job, (poll, poll) if poll else PAUSES):
        why = f" ({state.says})" if state.says else ""
        say(f"  {time.monotonic() - start:5.0f} s  {state.word}{why}")
    return judge(trial, job, state, fetch(job))


def keep(outcome: TrialOutcome, reach: Reach) -> str | None:
    """Where the output lies. From another computer it is written to the folder that we are in."""
    if reach.host is None or not outcome.output:
        return None
    path = Path(f"preflight-{outcome.job.split('.')[0]}.out")
    try:
        path.write_text(outcome.output, encoding="utf-8", errors="replace")
    except OSError as error:
        say(f"the job's output cannot be kept here ({error.strerror}); it lies in {reach.folder} on {reach.host}")
        return None
    return str(path)


def tell(outcome: TrialOutcome, kept: str | None) -> None:
    if outcome.passed:
        first = outcome.ranks[0]
        nodes = len({rank.get("node") for rank in outcome.ranks})
        print(
            f"passed: {outcome.expected} ranks on {nodes} node{'s' if nodes > 1 else ''} formed one group "
            f"({first.get('backend')}), all sums right, one training step ({first.get('wrapper')})"
        )
    else:
        print("\n".join(("failed:", *(f"  {line}" for line in outcome.says[:12]))))
        if outcome.diagnosis is not None:
            print("\n" + as_text(outcome.diagnosis))
    if kept:
        say(f"the job's output is in {kept}")
    say("not seen: " + "; ".join(outcome.unseen))
