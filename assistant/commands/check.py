"""`maple-chat check`: findings on any script, before a node hour is spent."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.errors import InputError
from assistant.reading import script_text
from graph.verification.checks import check, report
from graph.verification.checks.side_files import missing_files
from graph.verification.dry_run import DryRun, dry_run
from graph.verification.script_machine import ScriptMachine, script_machine
from graph.verification.shellcheck import lint
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.types import Finding

if TYPE_CHECKING:
    from graph.usecases.mend_script import Cured

ANY = "any"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Findings on a job script. Exit: 0 no errors, 1 errors found, 2 bad usage or input."
    parser.add_argument("file", metavar="FILE", help="the script; - reads standard input")
    parser.add_argument(
        "--machine", metavar="M", help=f"the machine it is for ({ANY}: none); default: what the script's marks tell"
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")
    parser.add_argument("--fix", action="store_true", help="write what can be cured to FILE.fixed, show the diff")
    parser.add_argument("-o", dest="output", metavar="OUT", help="where --fix writes to")
    parser.add_argument(
        "--dry-run", action="store_true", help="ask this computer's sbatch too (--test-only; nothing is submitted)"
    )


def run(options: argparse.Namespace) -> int:
    text = script_text(options.file)
    chosen = machine(options.machine, text)
    cluster = chosen.cluster
    target = fixed_path(options) if options.fix else None
    cured = cured_of(text, cluster) if target else None
    judged = cured.text if cured else text
    findings = judge(judged, options.file, cluster)
    asked = dry_run(judged, scheduler(judged, cluster)) if options.dry_run else None
    findings += list(asked.findings) if asked else []
    if cured and target:
        write(cured, text, options.file, target)
    (as_json if options.json else as_text)(judged, text, findings, chosen, cured, target, asked)
    return 1 if any(one.severity == "error" for one in findings) else 0


def cured_of(text: str, cluster: Cluster | None) -> Cured:
    """The script with all cured that can be. The repairs are loaded only here: they take as long as the rules."""
    from graph.usecases.mend_script import cure

    return cure(text, cluster)


def judge(text: str, file: str, cluster: Cluster | None) -> list[Finding]:
    """The rules, shellcheck where it is, and the files beside the script where it is a file."""
    findings = check(text, cluster)
    lines = {one.line for one in findings}
    findings += [one for one in lint(text) if one.line not in lines]
    return findings if file == "-" else findings + missing_files(text, Path(file).resolve().parent)


def as_text(
    text: str, original: str, findings: list[Finding], chosen: ScriptMachine,
    cured: Cured | None, target: Path | None, asked: DryRun | None,
) -> None:  # fmt: skip
    notes = [*([f"Dry run: {asked.says}."] if asked else []), *([f"{chosen.says}."] if chosen.says else [])]
    if cured and target and cured.text != original:
        print(report.diff(original, cured.text, "before", str(target)), end="\n\n")
        notes.insert(0, f"{len(cured.cured)} cured; the script is in {target}.")
    elif cured:
        notes.insert(0, "Nothing here can be cured without you; no file was written.")
    print(report.text_of(text, findings, chosen.cluster.title if chosen.cluster else None, notes))


def as_json(
    text: str, original: str, findings: list[Finding], chosen: ScriptMachine,
    cured: Cured | None, target: Path | None, asked: DryRun | None,
) -> None:  # fmt: skip
    more: dict[str, object] = {}
    if cured and target:
        changed = cured.text != original
        more["fixed"] = {
            "file": str(target) if changed else None,
            "cured": [one.rule for one in cured.cured],
            "diff": report.diff(original, cured.text, "before", str(target)),
        }
    if asked:
        more["dry_run"] = {"asked": asked.asked, "says": asked.says}
    if chosen.says:
        more["machine_by"] = chosen.says
    print(json.dumps(report.json_of(text, findings, chosen.cluster.id if chosen.cluster else None, more), indent=2))


def machine(name: str | None, text: str) -> ScriptMachine:
    """The machine named, or what the script's own marks tell. Raises InputError on a name that is not known."""
    if name is None:
        return script_machine(text)
    if name.lower() == ANY:
        return ScriptMachine(None)
    return ScriptMachine(catalogue().named(name))


def scheduler(text: str, cluster: Cluster | None) -> str:
    from graph.extraction.script_record import understand_script

    return cluster.scheduler if cluster else understand_script(text).scheduler


def fixed_path(options: argparse.Namespace) -> Path:
    """Where the cured script goes; never over the script itself. Raises InputError."""
    if options.output:
        target = Path(options.output)
    elif options.file == "-":
        raise InputError("standard input has no place beside it; give -o FILE")
    else:
        target = Path(f"{options.file}.fixed")
    if options.file != "-" and target.resolve() == Path(options.file).resolve():
        raise InputError("-o names the script itself; give another name")
    return target


def write(cured: Cured, original: str, file: str, target: Path) -> None:
    """Only where something was cured. Raises InputError where it cannot be written."""
    if cured.text == original:
        return
    try:
        target.write_bytes(cured.text.encode("utf-8", "surrogateescape"))
        if file != "-":
            shutil.copymode(file, target)
    except OSError as error:
        raise InputError(f"{target} cannot be written ({error.strerror}); give another place with -o") from error
