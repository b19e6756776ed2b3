"""`maple-chat models`: which language models are set, which fit, how to get one, and what one is worth here."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.errors import InputError
from assistant.models.table import backend, names, open_models
from assistant.models.trust import Record, keep, key, records
from assistant.settings import Settings, read_settings
from knowledge.data_file import read_data

if TYPE_CHECKING:
    from assistant.models.leading import Led
    from assistant.models.trial import Result
    from graph.modelling.asking import Trust

WORDS = {
    "leads": "it leads the conversation from now on",
    "reads": "it does not lead; it reads beside the rules",
    "off": "it stays off: it did harm or hardly answered",
}
HOW = """\
how to get one
  Nothing is downloaded by itself. Get the GGUF file where your site gets its models (a mirror, a shared folder), read
  its licence, then:
    export MAPLE_CHAT_MODEL_SMALL=/path/to/small.gguf MAPLE_CHAT_MODEL_LARGE=/path/to/large.gguf
  needs the extra `llm` (llama-cpp-python). For a server that speaks the OpenAI protocol:
    export OPENAI_BASE_URL=https://SERVER/v1 OPENAI_API_KEY=... MAPLE_CHAT_MODEL_SMALL=NAME
  needs the extra `openai`. What leaves this computer is masked; `maple-chat ask --show-prompt TEXT` shows it.
  `maple-chat models test` tells what the model is worth here, and lets one that can lead the conversation."""
NOTHING = "no language model is set: everything works by the rules alone"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Which language models are set, which are recommended, and what one is worth here."
    parser.add_argument("action", nargs="?", choices=("list", "test"), default="list")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    settings = read_settings()
    return run_test(settings, options.json) if options.action == "test" else run_list(settings, options.json)


def run_list(settings: Settings, as_json: bool) -> int:
    chosen, advice = described(settings), recommended()
    if as_json:
        print(json.dumps({"set": chosen, "recommended": advice["models"], "checked": advice["checked"]}, indent=2))
        return 0
    print(
        "set\n" + "\n".join(f"  {one['role']:<6} {one['model']} ({one['backend']}; {one['tested']})" for one in chosen)
    )
    if chosen:
        print(
            f"  context {settings.model_context}, KV cache {settings.model_kv}, time-out {settings.model_timeout_s:g} s"
        )
    else:
        print(f"  {NOTHING}")
    print(f"\nrecommended (looked up {advice['checked']})")
    for one in advice["models"]:
        print(f"  {one['role']:<6}{one['name']:<26}{one['quantisation']:<8}{one['gb']:>4} GB  {one['licence']}")
        print(f"{'':8}{one['why']}; {one['source']}")
    print(f"\n{HOW}")
    return 0


def described(settings: Settings) -> list[dict[str, str]]:
    tests, found = records(settings), []
    for role, name in names(settings).items():
        test = tests.get(key(name, backend(name, settings), settings))
        told = f"{test.trust}, tested {test.date}" if test else "not tested"
        found.append({"role": role, "model": name, "backend": backend(name, settings), "tested": told})
    return found


def recommended() -> Mapping[str, Any]:
    from assistant.models import table

    found: Mapping[str, Any] = read_data(Path(table.__file__).with_name("recommended.yaml"))
    return found


def run_test(settings: Settings, as_json: bool) -> int:
    """The built-in sets: does it lead, does it read without doing harm; kept. 1 where it may do neither."""
    from assistant.models import leading, trial

    models = open_models(settings, tested=True)
    if models is None:
        raise InputError("no language model is set; `maple-chat models` tells how to set one")
    led, reading = leading.run(models), trial.run(models)
    worse = any(b.wrong > a.wrong for a, b in zip(reading[::2], reading[1::2], strict=True))
    trust: Trust = led.trust if led.trust == "leads" else "off" if worse or led.trust == "off" else "reads"
    name = names(settings)["large"]
    keep(kept(name, trust, led), key(name, backend(name, settings), settings), settings)
    if as_json:
        value = {"trust": trust, "leading": asdict(led), "reading": [asdict(one) for one in reading]}
        print(json.dumps(value, indent=2))
    else:
        print_led(name, trust, led)
        print_reading(reading)
    return int(trust == "off")


def kept(name: str, trust: Trust, led: Led) -> Record:
    turns = max(1, led.turns)
    today = date.today().isoformat()
    return Record(name, trust, today, led.right, led.turns, led.harmful, led.calls / turns, led.seconds / turns)


def print_led(name: str, trust: Trust, led: Led) -> None:
    turns = max(1, led.turns)
    print(f"{name}: {WORDS[trust]}")
    each = [
        f"{value / turns:.{places}f}" for value, places in ((led.calls, 1), (led.tokens_in, 0), (led.tokens_out, 0))
    ]
    print(
        f"  conversations: {led.right} of {led.turns} turns right, {led.harmful} harmful; a turn: {each[0]} calls, "
        f"{each[1]} tokens in, {each[2]} out, {led.seconds / turns:.1f} s"
    )
    for fault in led.faults:
        print(f"    {fault}")


def print_reading(results: Sequence[Result]) -> None:
    print(f"{'':10}{'':16}{'right':>8}{'missed':>8}{'wrong':>7}{'seconds':>9}{'asked':>7}{'tokens in':>11}{'out':>7}")
    for one in results:
        right = f"{one.right}/{one.cases}"
        print(
            f"{one.part:<10}{one.by:<16}{right:>8}{one.missed:>8}{one.wrong:>7}{one.seconds:>9.1f}"
            f"{one.questions:>7}{one.tokens_in:>11}{one.tokens_out:>7}"
        )
        for trouble in one.troubles:
            print(f"  {trouble}")
