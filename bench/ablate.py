"""What a diagnosis makes of a labelled log whose telling line nobody knows, or is not there.

    python bench/ablate.py LOGS.jsonl [FOLDER ...] [--wrong]

LOGS.jsonl holds {"log", "cause", "evidence"} a line; a folder holds logs whose first line is `# cause: ID; ...`, or
folders of logs named by their cause. Prints three figures: an unknown error in the telling line's place is shown as the
trouble; another line that names the same cause is as good. The telling line is left out: never healthy at 0.6 or more.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graph.debugging.diagnosis import diagnose
from graph.debugging.log import message
from knowledge.types import Diagnosis

SURE = 0.6
NUMBER = re.compile(r"\d+")
EXCEPTION = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Timeout|Expired)\b")
# Errors of programs that nobody knows, as programs word them.
UNKNOWN = (
    "quolld: error: the brim of flimsel 7 is not level",
    "flimseld[4711]: cannot brim flimsel 7: giving up",
    "FATAL: quoll 7 left the brim",
    "[quoll] brimming failed (flimsel 7)",
)
RAISED = "quoll.errors.FlimselError: the brim of flimsel 7 is not level"


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled log and its telling line, empty where nobody wrote it down."""

    name: str
    log: str
    causes: tuple[str, ...]
    line: str


def labelled(path: Path) -> Iterator[Case]:
    """The failing logs of a file or folder."""
    if path.is_file():
        for text in path.read_text().splitlines():
            case = json.loads(text)
            causes = (case["cause"], *case.get("also_accept", ()))
            yield Case(case["id"], case["log"], causes, (case.get("evidence") or "").strip())
    for log in sorted(path.rglob("*.log")):
        head, _, rest = log.read_text(errors="replace").partition("\n")
        told = re.match(r"# cause: ([\w-]+)", head)
        whole = rest if told else f"{head}\n{rest}"
        yield Case(log.name, whole, (told[1] if told else log.parent.name,), "")


def telling(case: Case) -> str:
    """The labelled line without what marks its rank; else the line that a right diagnosis shows first."""
    if case.line:
        return message(case.line.splitlines()[0])[0].strip()
    found = diagnose(case.log)
    return found.evidence[0].text if found.cause in case.causes and found.evidence else ""


def changed(log: str, line: str, put: str | None) -> str:
    """The log with every line that tells the same, but for numbers, replaced; None: left out."""
    shape, kept = NUMBER.sub("0", line)[:120], []
    for text in log.split("\n"):
        at = NUMBER.sub("0", text).find(shape) if len(shape) > 12 or shape == text.strip() else -1
        if at < 0:
            kept.append(text)
        elif put is not None:
            kept.append(text[: text.find(line[:8])] + put if line[:8] in text else put)
    return "\n".join(kept)


def shown(found: Diagnosis, put: str) -> bool:
    return bool(found.evidence) and put in found.evidence[0].text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+", type=Path)
    parser.add_argument("--wrong", action="store_true")
    options = parser.parse_args()
    total = seen = healthy = 0
    for number, case in enumerate(c for path in options.cases for c in labelled(path)):
        line = "" if {"no-failure", "unknown"} & set(case.causes) else telling(case)
        if not line or (replaced := changed(case.log, line, "")) == case.log or not replaced.strip():
            continue
        put = RAISED if EXCEPTION.match(line) else UNKNOWN[number % len(UNKNOWN)]
        with_unknown, without = diagnose(changed(case.log, line, put)), diagnose(changed(case.log, line, None))
        right = shown(with_unknown, put) or with_unknown.cause in case.causes
        well = without.cause == "no-failure" and without.confidence >= SURE
        total, seen, healthy = total + 1, seen + right, healthy + well
        if options.wrong and not right:
            first = with_unknown.evidence[0].text[:90] if with_unknown.evidence else ""
            said = f"{with_unknown.cause} {with_unknown.confidence}"
            print(f"{case.name}: {case.causes[0]}: {put[:9]}: {said}: {first}")
        if options.wrong and well:
            print(f"{case.name}: {case.causes[0]}: said to be healthy without its telling line")
    share = 100 * seen / max(1, total)
    print(f"replaced: shown {seen} of {total} ({share:.1f} %); left out: healthy {healthy} of {total}")


if __name__ == "__main__":
    main()
