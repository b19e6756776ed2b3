"""`maple-chat watch`: follow a running job's output, and tell the first sign of trouble."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

from assistant.errors import InputError
from assistant.watching import LOOK, Watching, started
from graph.watching.run_watch import WatchNotice
from graph.watching.utilisation import Utilisation

# Seconds between status lines.
STATUS = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Follow a running job or growing log files: pace, loss, when it ends against its time "
        "limit, and the first sign "
        "of trouble, each once. Exit: 0 nothing was wrong, 1 trouble was told, 2 bad input."
    )
    parser.add_argument("job", nargs="+", help="a job id (on the cluster), or the log files of one run")
    parser.add_argument("--limit", metavar="HH:MM:SS", help="the time that is left until it is stopped")
    parser.add_argument("--for", dest="minutes", type=float, metavar="MINUTES", help="watch so long, then end")
    parser.add_argument("--model", metavar="NAME", help="with --machine: the speed as a share of the GPUs' peak (MFU)")
    parser.add_argument("--machine", metavar="M", help="the machine that it runs on")
    parser.add_argument("--gpu", metavar="NAME", help="which of the machine's kinds of GPUs (each is told)")
    parser.add_argument("--gpus", metavar="N", type=int, default=1, help="GPUs in all (1)")
    parser.add_argument("--sequence", metavar="N", type=int, default=4096, help="tokens of a sequence (4096)")
    parser.add_argument("--notify", action="store_true", help="ring the terminal's bell with each sign of trouble")
    parser.add_argument("--json", action="store_true", help="a JSON line for each thing told")


def run(options: argparse.Namespace) -> int:
    watching = started(options.job, options.limit)
    watching.run.utilisation = utilisation_of(options)
    until = time.monotonic() + options.minutes * 60 if options.minutes else None
    try:
        return follow(watching, lambda notice: tell(notice, options.json, options.notify), until, options.json)
    except KeyboardInterrupt:
        return int(bool(watching.run.told - {"over"}))


def utilisation_of(options: argparse.Namespace) -> Utilisation | None:
    """What MFU is worked out from; None where no model was said. Raises InputError on a name that is not known."""
    if not options.model:
        return None
    from graph.planning.resources.device import devices
    from graph.planning.resources.parameters import find_model
    from graph.watching.utilisation import Utilisation
    from knowledge.catalogue import catalogue

    model = find_model(options.model)
    cluster = catalogue().named(options.machine) if options.machine else None
    if model is None or cluster is None or options.gpus < 1 or options.sequence < 1:
        raise InputError("--model NAME or 7B wants --machine M, and how many --gpus there are")
    known = devices(cluster)
    if not known:
        raise InputError(f"the GPUs of {cluster.title} are not known well enough for --model; leave it out")
    kinds = {device.facts.model: device for device in reversed(known)}
    found = tuple(device for name, device in reversed(kinds.items()) if options.gpu in (None, name))
    if not found:
        raise InputError(f"{cluster.title} has no {options.gpu}: --gpu is one of {', '.join(reversed(kinds))}")
    return Utilisation(model, found, options.gpus, options.sequence)


def follow(watching: Watching, told: Callable[[WatchNotice], None], until: float | None, as_json: bool) -> int:
    """Look until the job is over, the time is up or somebody stops it; 1 where trouble was told."""
    shown = time.monotonic()
    for notice in watching.look(shown):
        told(notice)
    print_status(watching, as_json)
    while until is None or time.monotonic() < until:
        time.sleep(LOOK if until is None else min(LOOK, max(0.05, until - time.monotonic())))
        now = time.monotonic()
        for notice in watching.look(now):
            told(notice)
        if now - shown >= STATUS:
            print_status(watching, as_json)
            shown = now
        if over := watching.over(now):
            told(over)
            break
    print_status(watching, as_json)
    return int(bool(watching.run.told - {"over"}))


def tell(notice: WatchNotice, as_json: bool, bell: bool) -> None:
    at = time.strftime("%H:%M:%S")
    if as_json:
        print(json.dumps({"time": at, "key": notice.key, "says": notice.text}), flush=True)
    else:
        print(f"{at} ! {notice.text}", flush=True)
    if bell and sys.stderr.isatty():
        print("\a", end="", file=sys.stderr, flush=True)


def print_status(watching: Watching, as_json: bool) -> None:
    run = watching.run
    says = run.line(time.monotonic())
    if as_json:
        value = {"time": time.strftime("%H:%M:%S"), "key": "status", "says": says, "step": run.step, "total": run.total}
        print(json.dumps(value | {"loss": run.loss, "seconds_a_step": run.seconds_a_step}), flush=True)
    else:
        print(f"{time.strftime('%H:%M:%S')}   {says}", flush=True)
