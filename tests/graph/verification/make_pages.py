"""Writes docs/checks.md and docs/mutations.md anew: `uv run python tests/graph/verification/make_pages.py`."""

from __future__ import annotations

import difflib
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from graph.verification.checks import check
from graph.verification.checks.table import RULES
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.types import Finding
from tests.golden import make as golden

ROOT = Path(__file__).parents[3]

CHECKS, MUTATIONS = ROOT / "docs" / "checks.md", ROOT / "docs" / "mutations.md"
LIST = Path(__file__).parent / "mutations.yaml"
PLANTED = Path(__file__).parent / "planted.yaml"
REHEARSAL = "rehearsal"
WIDEST = 150
spec = importlib.util.spec_from_file_location("check_recall", Path(__file__).with_name("test_check_recall.py"))
assert spec and spec.loader
recall = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recall)
DEFECTS = recall.DEFECTS
FAMILIES = {
    "directives": "Directives", "limits": "Limits", "launch": "Launch", "rendezvous": "Rendezvous and ranks",
    "environment": "Environment", "shell": "Shell",
}  # fmt: skip
HEAD = """# Checks

`maple-chat check FILE` reads a job script's text and says what would be refused, what would not start, and why. Nothing
is run. `--machine M` adds a machine's facts. Without it the machine is taken from the script where a strong mark tells
it (a path, a queue, a module that one site alone has), and the answer says which mark; on weaker marks only the rules
that hold everywhere are applied. `--machine any` applies those alone. Exit code: 0 no errors, 1 errors, 2 bad input.

| option | does |
|---|---|
| `--fix` | writes the script with all that can be cured to `FILE.fixed` (or `-o OUT`), shows the diff, checks again |
| `--dry-run` | asks this computer's `sbatch --test-only` too; PBS, LSF and Flux have nothing like it |
| `--json` | the same as JSON |

error: the job will be refused or fail, by the scheduler's, the launcher's or the shell's own word. warning: it will
likely hurt. info: good to know. A rule that cannot know says nothing: what is computed when the job runs is left alone.
One defect is one finding: what only follows from it is left out. A template (`{{ nodes }}`) is said once, and lines
that hold its gaps are not checked. Where no page is named, the finding names the machine's own.
This page is made from the table of rules by `tests/graph/verification/make_pages.py`; its examples are tests.
"""
MUTATION_HEAD = """# Which rung finds which defect

Each line is a good script of `tests/golden/` with one defect put into it. `check` reads the text; `rehearsal` stands
for what only a run can show. The untouched scripts (with an account filled in) give no finding at all.
This page is made by `tests/graph/verification/make_pages.py` from `mutations.yaml` beside it.
"""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One defect: the good script, the defect's text, and the rule that must find it."""

    name: str
    of: str
    text: str
    rule: str

    @property
    def cluster(self) -> Cluster:
        return machine(self.of)


def machine(of: str) -> Cluster:
    return catalogue().clusters[of.split("/")[0]]


def good(of: str) -> str:
    """A golden script with the account filled in: a placeholder is a finding of its own."""
    text = golden.scripts()[of].script
    return re.sub(r"YOUR_ACCOUNT(-delta-gpu|-dtai-gh)", r"abcd\1", text).replace("YOUR_ACCOUNT", "abc123")


def mutations() -> list[Mutation]:
    """All of mutations.yaml. Raises ValueError where a text to replace is not there."""
    found = []
    for row in yaml.safe_load(LIST.read_text(encoding="utf-8")):
        text = good(row["of"])
        for step in (row, *row.get("then", ())):
            if step["old"] not in text:
                raise ValueError(f"{row['id']}: '{step['old']}' is not in {row['of']}")
            text = text.replace(step["old"], step["new"], -1 if row.get("all") else 1)
        found.append(Mutation(row["id"], row["of"], text, row["rule"]))
    return found


def caught(one: Mutation) -> list[Finding]:
    """What check says of the defect: the rule that is meant first."""
    found = check(one.text, one.cluster)
    return sorted(found, key=lambda finding: finding.rule != one.rule)


def checks_page() -> str:
    parts, shown = [HEAD], examples()
    for family, title in FAMILIES.items():
        own = [rule for rule in RULES if rule.family == family]
        rows = [f"| `{one.id}` | {one.severity} | {one.finds} | {page_of(one.source)} |" for one in own]
        pairs = [f"# {one.id}\n- {shown[one.id][0]}\n+ {shown[one.id][1]}" for one in own if one.id in shown]
        table = ["| rule | level | finds | source |", "|---|---|---|---|", *rows]
        code = ["", "Wrong (-) and right (+):", "", "```diff", *pairs, "```"] if pairs else []
        parts.append("\n".join([f"## {title}", "", *table, *code, ""]))
    return "\n".join(parts)


def page_of(source: str | None) -> str:
    """A link that is called after its page."""
    return f"[{source.split('//')[1].split('/')[0]}]({source})" if source else ""


def examples() -> dict[str, tuple[str, str]]:
    """Rule -> (a wrong line, the right one), from the defects that the tests put into good scripts."""
    found = [(one.rule, good(one.of), one.text) for one in mutations()]
    found += [(rule, text, text.replace(old, new)) for rule, text, old, new in DEFECTS]
    found += [(row["rule"], mended(row), row["script"]) for row in planted()]
    shown: dict[str, tuple[str, str]] = {}
    for rule, right, wrong in found:
        lines = list(difflib.unified_diff(right.splitlines(), wrong.splitlines(), n=0, lineterm=""))[3:]
        bad = next((line[1:] for line in lines if line.startswith("+")), "(nothing)")
        fine = next((line[1:] for line in lines if line.startswith("-")), "(nothing)")
        shown.setdefault(rule, (bad.strip()[:WIDEST] or "(an empty line)", fine.strip()[:WIDEST] or "(an empty line)"))
    return shown


def planted() -> list[dict[str, Any]]:
    """Whole scripts with a defect each, of planted.yaml."""
    rows: list[dict[str, Any]] = yaml.safe_load(PLANTED.read_text(encoding="utf-8"))
    return rows


def mended(row: dict[str, Any]) -> str:
    text: str = row["script"]
    for old, new in row["mend"]:
        text = text.replace(old, new)
    return text


def mutations_page() -> str:
    rows, by_check = [], 0
    for one in mutations():
        found = caught(one)
        hit = found[0] if found and found[0].rule == one.rule else None
        by_check += hit is not None
        rung = f"check: `{hit.rule}` ({hit.severity})" if hit else one.rule if one.rule == REHEARSAL else "nothing"
        rows.append(f"| {one.name} | {one.of} | {rung} |")
    total = f"{by_check} of {len(rows)} are found by `check`.\n"
    return "\n".join([MUTATION_HEAD, total, "| defect | put into | found by |", "|---|---|---|", *rows, ""])


if __name__ == "__main__":
    CHECKS.write_text(checks_page())
    MUTATIONS.write_text(mutations_page())
    print(f"{len(RULES)} rules, {len(mutations())} mutations: {CHECKS}, {MUTATIONS}")
