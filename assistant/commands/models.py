"""`maple-chat models`: which language models are set, which fit, how to get one, and what one is worth here."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from assistant.errors import InputError
from assistant.models.table import backend, names, open_models
from assistant.settings import Settings, read_settings

HOW = """\
how to get one
  Nothing is downloaded by itself. Get the GGUF file where your site gets its models (a mirror, a shared folder), read
  its licence, then:
    export MAPLE_CHAT_MODEL_SMALL=/path/to/small.gguf MAPLE_CHAT_MODEL_LARGE=/path/to/large.gguf
  needs the extra `llm` (llama-cpp-python). For a server that speaks the OpenAI protocol:
    export OPENAI_BASE_URL=https://SERVER/v1 OPENAI_API_KEY=... MAPLE_CHAT_MODEL_SMALL=NAME
  needs the extra `openai`. What leaves this computer is masked; `maple-chat ask --show-prompt TEXT` shows it.
  `maple-chat models test` tells what the model is worth here."""
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
    print("set\n" + "\n".join(f"  {one['role']:<6} {one['model']} ({one['backend']})" for one in chosen))
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
    return [{"role": role, "model": name, "backend": backend(name, settings)} for role, name in names(settings).items()]


def recommended() -> Mapping[str, Any]:
    import yaml

    from assistant.models import table

    found: Mapping[str, Any] = yaml.safe_load(Path(table.__file__).with_name("recommended.yaml").read_text())
    return found


def run_test(settings: Settings, as_json: bool) -> int:
    """The built-in set with and without the model; 1 where the model made something worse."""
    from assistant.models.trial import run as run_trial

    models = open_models(settings)
    if models is None:
        raise InputError("no language model is set; `maple-chat models` tells how to set one")
    results = run_trial(models)
    if as_json:
        print(json.dumps([asdict(one) for one in results], indent=2))
    else:
        print(
            f"{'':10}{'':16}{'right':>8}{'missed':>8}{'wrong':>7}{'seconds':>9}{'asked':>7}{'tokens in':>11}{'out':>7}"
        )
        for one in results:
            right = f"{one.right}/{one.cases}"
            print(
                f"{one.part:<10}{one.by:<16}{right:>8}{one.missed:>8}{one.wrong:>7}{one.seconds:>9.1f}"
                f"{one.questions:>7}{one.tokens_in:>11}{one.tokens_out:>7}"
            )
            for trouble in one.troubles:
                print(f"  {trouble}")
    worse = any(b.wrong > a.wrong for a, b in zip(results[::2], results[1::2], strict=True))
    return int(worse)
