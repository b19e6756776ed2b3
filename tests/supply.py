"""What we install: each package's licence, and whether a known advisory concerns it.

`python -m tests.supply [FOLDER]` prints docs/supply.md. FOLDER: a checkout of github.com/pypa/advisory-database, whose
advisories are compared, too. Without it, those of advisories.yaml, next to this file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, requires
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

KNOWN = Path(__file__).with_name("advisories.yaml")
# Extras that a user may install; what only tests need is not shipped to anybody.
EXTRAS = ("minilm", "slack", "postgres", "openai", "mcp", "serve")
HEAD = """# What is installed, and whether it may be trusted

Made by `python -m tests.supply` from the packages that are installed; a test holds the advisories to them.

- **Advisories**: {advisories}. No tool asked a registry about every package; a newer advisory may be missing here.
- **Chroma** has advisories without a fixed version. All of them need its HTTP server, which this program never starts:
  it opens Chroma in its own process, and a test looks whether anything listens. Whoever runs a Chroma server of their
  own (`MAPLE_CHAT_CHROMA`) should let only this program reach it.
- **Checkpoints** give back values of our own types alone, whatever their database holds.
- Pages, PDFs and settings of strangers are read in a process without network (docs/security.md).

| package | version | licence | lower bound | advisories |
|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Package:
    """One installed distribution. bound: the lowest version that we ask for; empty for what only others ask for."""

    name: str
    version: str
    licence: str
    bound: str


def installed(root: str = "maple-chat") -> dict[str, Package]:
    """All that comes with us and our extras, by canonical name."""
    bounds = {}
    for line in requires(root) or ():
        wanted = Requirement(line)
        bounds[canonicalize_name(wanted.name)] = next((s.version for s in wanted.specifier if s.operator == ">="), "")
    found: dict[str, Package] = {}
    waiting = [(root, frozenset(EXTRAS))]
    while waiting:
        name, extras = waiting.pop()
        for line in requires(name) or ():
            wanted = Requirement(line)
            key = canonicalize_name(wanted.name)
            if wanted.marker and not any(wanted.marker.evaluate({"extra": extra}) for extra in (*extras, "")):
                continue
            try:
                one = distribution(key)
            except PackageNotFoundError:
                continue
            if key not in found:
                found[key] = Package(key, one.version, licence(one), bounds.get(key, ""))
                waiting.append((key, frozenset(wanted.extras)))
    return dict(sorted(found.items()))


def licence(one: Distribution) -> str:
    """By its own words: the SPDX expression, else the classifier, else the first line of the text."""
    told = one.metadata
    classified = [c.split(" :: ")[-1] for c in told.get_all("Classifier") or () if c.startswith("License ::")]
    words = told.get("License-Expression") or ", ".join(classified) or (told.get("License") or "").split("\n")[0]
    return re.sub(r"\s+", " ", words or "not told")[:60].replace("|", "/")


def advisories() -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = yaml.safe_load(KNOWN.read_text())
    return listed


def of_database(folder: Path, package: Package) -> Iterator[str]:
    """Ids of the advisories in a checkout of the PyPA's database that name this very version."""
    for path in sorted((folder / "vulns" / package.name).glob("*.yaml")):
        told = yaml.safe_load(path.read_text())
        if told.get("withdrawn"):
            continue
        for one in told.get("affected", ()):
            ranges = [span["events"] for span in one.get("ranges", ()) if span["type"] == "ECOSYSTEM"]
            if package.version in one.get("versions", ()) or any(within(package.version, span) for span in ranges):
                yield str(told["id"])


def within(version: str, events: list[dict[str, str]]) -> bool:
    """Whether a version lies between `introduced` and `fixed`."""
    inside = False
    try:
        for event in events:
            (kind, at), *_ = event.items()
            if kind == "introduced" and (at == "0" or Version(version) >= Version(at)):
                inside = True
            if kind == "fixed" and Version(version) >= Version(at):
                inside = False
    except InvalidVersion:
        return True
    return inside


def told_of(package: Package, folder: Path | None) -> str:
    """What the table says of a package's advisories."""
    known = [one for one in advisories() if one["package"] == package.name]
    words = [f"{one['id']}: {one.get('concerns') or 'fixed in ' + str(one['fixed'])}" for one in known]
    words += [f"**{found}**" for found in (of_database(folder, package) if folder else ())]
    return "; ".join(words)


def page(folder: Path | None) -> str:
    rows = installed()
    count = len(advisories())
    source = f"{count} were looked up in public pages for the packages that read strangers' input or listen"
    source += "; the PyPA's advisory database, as of 2024-10-10, was compared for all packages" if folder else ""
    lines = [f"| {p.name} | {p.version} | {p.licence} | {p.bound} | {told_of(p, folder)} |" for p in rows.values()]
    return HEAD.format(advisories=source) + "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(Path(sys.argv[1]) if len(sys.argv) > 1 else None), end="")
