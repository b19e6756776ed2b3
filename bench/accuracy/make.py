"""Makes the cases that are made from other files: `python bench/accuracy/make.py [logs [NAME ...]]`.

development/defects.jsonl: the scripts of tests/golden with one defect each (tests/graph/verification), and the good
ones. blind/logs.jsonl: the labels of blind/provoke.yaml; with `logs` what that describes is run too, all or the cases
named, and what it prints is kept in blind/logs/.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

HERE = Path(__file__).parent
TESTS = HERE.parents[1] / "tests"
DEFECTS = HERE / "development" / "defects.jsonl"
PROVOKED, LABELS = HERE / "blind" / "provoke.yaml", HERE / "blind" / "logs.jsonl"
REHEARSAL = "rehearsal"


def module_at(path: Path) -> ModuleType:
    """A module of the tests, by its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def defect_cases() -> Iterator[dict[str, Any]]:
    """The mutated scripts that a check must find, and the good scripts they come from."""
    pages = module_at(TESTS / "graph" / "verification" / "make_pages.py")
    mutations = pages.mutations()
    for one in mutations:
        if one.rule != REHEARSAL:
            name = f"{one.of}: {one.name}"
            yield {"id": name, "type": "check", "machine": one.cluster.id, "rules": [one.rule], "script": one.text}
    for of in sorted({one.of for one in mutations}):
        yield {"id": of, "type": "check", "machine": pages.machine(of).id, "rules": [], "script": pages.good(of)}
    for row in pages.planted():
        case = {"id": row["id"], "type": "check", "rules": [row["rule"]], "script": row["script"]}
        yield from (case, case | {"id": f"{row['id']}: mended", "rules": [], "script": pages.mended(row)})


def lines_of(cases: Iterator[dict[str, Any]]) -> str:
    return "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)


def provoke_logs(names: list[str]) -> None:
    """Run the cases, all or those named, and keep what they print."""
    provoke = module_at(TESTS / "logs" / "provoke.py")
    for case in yaml.safe_load(PROVOKED.read_text(encoding="utf-8")):
        if (not names or case["name"] in names) and provoke.available(case.get("needs")):
            print(case["cause"], case["name"], flush=True)
            path = HERE / "blind" / "logs" / f"{case['name']}.out"
            path.parent.mkdir(exist_ok=True)
            path.write_text(provoke.provoke(case), encoding="utf-8")


def label_cases() -> Iterator[dict[str, Any]]:
    """The labels of the provoked logs."""
    for case in yaml.safe_load(PROVOKED.read_text(encoding="utf-8")):
        label = {"id": case["name"], "file": f"logs/{case['name']}.out", "cause": case["cause"]}
        more = {"also_accept": case.get("also"), "evidence": case.get("evidence")}
        yield label | {name: value for name, value in more.items() if value}


def main(words: list[str]) -> None:
    if words[:1] == ["logs"]:
        provoke_logs(words[1:])
    DEFECTS.write_text(lines_of(defect_cases()), encoding="utf-8")
    LABELS.write_text(lines_of(label_cases()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
