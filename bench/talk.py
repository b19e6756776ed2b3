"""Runs conversations through the program as a person would have them, and keeps the transcripts for marking.

    python bench/talk.py CONVERSATIONS.jsonl FOLDER [--only GROUP] [--ids ID,ID]

A line of the first file: {"id", "group", "turns": [{"say": words, ...}]}. FOLDER gets one transcript a conversation
(ID.md) and answers.jsonl ({"id", "group", "turns": [{"say", "answer", "exit", "seconds", "calls", "tokens_in",
"tokens_out"}]}). Each conversation has data of its own; a turn is fed in as written, whatever was answered before. A
language model is used if one is set (MAPLE_CHAT_MODEL_LARGE, OPENAI_BASE_URL; MAPLE_CHAT_MODEL_LEADS=always for one
that was not tested), and what each turn asked of it is counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from assistant.commands.ask import exit_code
from assistant.drawing import markdown
from assistant.events import Error, Event, Known
from assistant.session import Session
from assistant.settings import Settings

Case = dict[str, Any]


def read_cases(path: Path, group: str, ids: set[str]) -> Iterator[Case]:
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if (not group or case.get("group") == group) and (not ids or case["id"] in ids):
            yield case


async def take_turn(session: Session, words: str) -> list[Event]:
    return [event async for event in session.send(words)]


def as_shown(events: list[Event]) -> str:
    """The Markdown that the terminal UI and Slack render, problems included."""
    problems = [f"maple-chat: {event.text}" for event in events if isinstance(event, Error)]
    told = [markdown(event) for event in events if not isinstance(event, Error | Known)]
    return "\n\n".join([*problems, *filter(None, told)])


def converse(case: Case, data: Path) -> Case:
    """All turns of one conversation, on a thread of its own."""
    (data / "pasted").mkdir(parents=True)
    session = Session(Settings(data=data), "default")
    told = []
    for turn in case["turns"]:
        began = time.perf_counter()
        events = asyncio.run(take_turn(session, turn["say"]))
        took = time.perf_counter() - began
        printed = {"say": turn["say"], "answer": as_shown(events), "exit": exit_code(events), "seconds": took}
        told.append({**printed, **asked_of_model(session)})
    return {"id": case["id"], "group": case.get("group", ""), "turns": told}


def asked_of_model(session: Session) -> dict[str, int]:
    """Calls and tokens of the turn that was just taken."""
    models = session.engine.context.model
    uses = list(models.uses) if models else []
    if models:
        models.uses.clear()
    tokens_in, tokens_out = sum(use.tokens_in for use in uses), sum(use.tokens_out for use in uses)
    return {"calls": len(uses), "tokens_in": tokens_in, "tokens_out": tokens_out}


def transcript(case: Case, answers: Case) -> str:
    """For a reader: what was said, what came, and what the case calls good and bad."""
    parts = [f"# {case['id']} ({case.get('group', '')}): {case.get('persona', '')}"]
    for number, (turn, answer) in enumerate(zip(case["turns"], answers["turns"], strict=True), 1):
        parts += [
            f"## {number}. says",
            turn["say"],
            f"### answer (exit {answer['exit']}, {answer['calls']} calls)",
            answer["answer"],
        ]
        parts += [f"### good\n{turn['good']}"] if turn.get("good") else []
        parts += ["### bad\n" + "\n".join(turn["bad"])] if turn.get("bad") else []
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", metavar="GROUP")
    parser.add_argument("--ids", default="", metavar="ID,ID", help="only these conversations")
    options = parser.parse_args()
    ids = {one for one in options.ids.split(",") if one}
    turns: list[Case] = []
    options.folder.mkdir(parents=True, exist_ok=True)
    with (options.folder / "answers.jsonl").open("w", encoding="utf-8") as out:
        for case in read_cases(options.cases, options.only, ids):
            with tempfile.TemporaryDirectory() as data:
                answers = converse(case, Path(data) / "data")
            out.write(json.dumps(answers, ensure_ascii=False) + "\n")
            (options.folder / f"{case['id']}.md").write_text(transcript(case, answers), encoding="utf-8")
            took = " ".join(format(turn["seconds"], ".2f") for turn in answers["turns"])
            print(f"{case['id']} {took}", flush=True)
            turns += answers["turns"]
    if any(turn["calls"] for turn in turns):
        calls = sorted(turn["calls"] for turn in turns)
        sent, back = (sum(turn[name] for turn in turns) / len(turns) for name in ("tokens_in", "tokens_out"))
        print(f"calls a turn: median {median(calls)}, most {calls[-1]}; tokens a turn: {sent:.0f} in, {back:.0f} out")


if __name__ == "__main__":
    main()
