"""Fits the weights of graph/debugging/ordering.json: which candidate of a log is the root cause.

    python bench/fit_ordering.py LOGS.jsonl [FOLDER ...] [--check] [--wrong] [--held-out FILE]

The logs are those of bench/ablate.py, and lists of {log, cause} in YAML. Only weights of general features are kept, no
text. Prints in how many logs the first candidate is right: fitted on all, and on logs left out of the fit (ten folds,
the mean of five orders). --held-out: a set of labelled logs that the fit does not see. --check writes nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from ablate import labelled
from scipy.optimize import minimize

from graph.debugging.diagnosis import understood
from graph.debugging.log import from_text
from graph.debugging.ordering import candidates, eligible
from graph.debugging.ranking import WEIGHTS, features
from graph.debugging.scan import Scanner
from knowledge.signatures.loader import library
from knowledge.signatures.matcher import matcher

FOLDS, ORDERS = 10, 5
# How hard weights are drawn to 0, and what a cause that is only accepted counts beside the first label.
RIDGE, ACCEPTED = 0.05, 0.5
Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """The candidates of one log: their features, how right each is (0 to 1), their causes."""

    name: str
    tables: list[dict[str, float]]
    right: list[float]
    causes: list[str]


def read(path: Path) -> list[Labelled]:
    """The logs of a file or folder that hold candidates."""
    cases: list[tuple[str, str, tuple[str, ...]]]
    if path.suffix == ".yaml":
        cases = [(f"{path.stem}-{n}", c["log"], (c["cause"],)) for n, c in enumerate(yaml.safe_load(path.read_text()))]
    else:
        cases = [(case.name, case.log, case.causes) for case in labelled(path)]
    return [found for name, log, causes in cases if (found := of_log(name, log, causes)).causes]


def of_log(name: str, log: str, causes: Sequence[str]) -> Labelled:
    scan = understood(Scanner(matcher()).read([from_text(log)]), matcher())
    bad = eligible(candidates(scan)[0], library().causes)
    said = [event.signature.cause for event in bad]
    right = [1.0 if cause == causes[0] else ACCEPTED if cause in causes else 0.0 for cause in said]
    return Labelled(name, features(bad, scan.failed_first, library().causes), right, said)


def columns(logs: Sequence[Labelled], names: Sequence[str]) -> list[Array]:
    return [np.array([[table.get(name, 0.0) for name in names] for table in log.tables]) for log in logs]


def fit(logs: Sequence[Labelled], tables: Sequence[Array]) -> Array:
    """The weights under which the right candidates are likeliest (a softmax over each log's candidates, ridge)."""
    used = [(table, np.array(log.right)) for log, table in zip(logs, tables, strict=True) if len(set(log.right)) > 1]

    def cost(weights: Array) -> tuple[float, Array]:
        total, slope = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for table, right in used:
            sums = table @ weights
            chance = np.exp(sums - sums.max())
            chance /= chance.sum()
            share = chance * right
            total -= float(np.log(share.sum() + 1e-12))
            slope = slope - table.T @ (share / (share.sum() + 1e-12) - chance)
        return total, slope

    found: Array = minimize(cost, np.zeros(tables[0].shape[1]), jac=True, method="L-BFGS-B").x
    return found


def first_right(log: Labelled, table: Array, weights: Array) -> bool:
    return log.right[int(np.argmax(table @ weights))] > 0


def cross_validated(logs: Sequence[Labelled], tables: Sequence[Array]) -> float:
    """The mean number of logs whose first candidate is right, each by weights fitted without it."""
    right = 0
    for seed in range(ORDERS):
        for fold in np.array_split(np.random.default_rng(seed).permutation(len(logs)), FOLDS):
            out = set(fold.tolist())
            kept = [n for n in range(len(logs)) if n not in out]
            weights = fit([logs[n] for n in kept], [tables[n] for n in kept])
            right += sum(first_right(logs[n], tables[n], weights) for n in out)
    return right / ORDERS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--held-out", type=Path)
    options = parser.parse_args()
    logs = [log for path in options.cases for log in read(path)]
    names = sorted({name for log in logs for table in log.tables for name in table})
    tables = columns(logs, names)
    weights = fit(logs, tables)
    possible = sum(max(log.right) > 0 for log in logs)
    seen = sum(first_right(log, table, weights) for log, table in zip(logs, tables, strict=True))
    print(f"{len(logs)} logs with candidates, the right cause is among them in {possible}; {len(names)} features")
    print(f"right, fitted on all: {seen}; cross-validated: {cross_validated(logs, tables):.1f}")
    if options.held_out:
        other = read(options.held_out)
        right = sum(first_right(o, t, weights) for o, t in zip(other, columns(other, names), strict=True))
        print(f"held out: right {right} of {len(other)}")
    for log, table in zip(logs, tables, strict=True) if options.wrong else ():
        if max(log.right) > 0 and not first_right(log, table, weights):
            print(f"{log.name}: said {log.causes[int(np.argmax(table @ weights))]}")
    if not options.check:
        told = {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}
        told = dict(sorted(told.items(), key=lambda pair: -abs(pair[1])))
        WEIGHTS.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
