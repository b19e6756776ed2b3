"""How a diagnosis carries to messages that no signature knows: each labelled log without the signature that decided it.

    python bench/unseen.py LOGS.jsonl [FOLDER ...] [--wrong]

The signature whose line won is taken away, and with it every other of the same cause that matches that line; the log is
read again. Prints how often the cause is still right, by the confidence with which it is said, and how often a failing
log is then called healthy. The same logs as for bench/ablate.py.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from ablate import Case, labelled

from graph.debugging.diagnosis import diagnose, judge
from graph.debugging.log import from_text
from graph.debugging.scan import Scanner
from knowledge.signatures.loader import library
from knowledge.signatures.matcher import Matcher, matcher
from knowledge.types import Diagnosis

KEPT = ("python-exception", "python-traceback")


def without_its_signature(case: Case) -> Diagnosis | None:
    """The diagnosis by all signatures but those that name the cause on the telling line; None: none did, or wrongly."""
    found = diagnose(case.log)
    if found.cause not in case.causes or not found.evidence or found.cause in ("unknown", "no-failure"):
        return None
    line = found.evidence[0].text.encode()
    gone = {s.id for s in matcher().match(line) if s.cause == found.cause and s.id not in KEPT}
    if not gone:
        return None
    use = Matcher([s for s in library().signatures if s.id not in gone])
    return judge(Scanner(use).read([from_text(case.log)]), use)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+", type=Path)
    parser.add_argument("--wrong", action="store_true")
    options = parser.parse_args()
    said: dict[float, list[bool]] = defaultdict(list)
    unknown = healthy = 0
    for case in (c for path in options.cases for c in labelled(path)):
        found = without_its_signature(case)
        if found is None:
            continue
        unknown += found.cause == "unknown"
        healthy += found.cause == "no-failure"
        if found.cause not in ("unknown", "no-failure"):
            said[round(found.confidence, 1)].append(found.cause in case.causes)
        if options.wrong and found.cause not in case.causes:
            line = found.evidence[0].text[:90] if found.evidence else ""
            print(f"{case.name}: {case.causes[0]}: said {found.cause} {found.confidence:.2f}: {line}")
    for confidence, right in sorted(said.items(), reverse=True):
        print(f"said at {confidence:.1f}: {len(right)}, right {sum(right)} ({sum(right) / len(right):.0%})")
    print(f"unknown {unknown}, called healthy {healthy}")


if __name__ == "__main__":
    main()
