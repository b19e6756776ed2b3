"""What differs between a script and the one before it."""

from __future__ import annotations

from graph.changes import diff
from knowledge.types import LaunchBundle, SideFile

LONG = "".join(f"line {n}\n" for n in range(30))


def bundle(script: str, name: str = "a.sh", *files: SideFile) -> LaunchBundle:
    return LaunchBundle(name, script, files, f"sbatch {name}")


def test_the_first_script_has_no_diff() -> None:
    assert diff(None, bundle(LONG)) == ""


def test_a_script_under_another_name_is_still_compared() -> None:
    text = diff(bundle(LONG), bundle(LONG.replace("line 7", "LINE 7"), "b.sh"))
    assert text.splitlines()[:2] == ["--- a.sh (before)", "+++ b.sh (now)"]
    assert "-line 7\n+LINE 7" in text and "line 20" not in text


def test_files_beside_the_script_count() -> None:
    before, after = SideFile("ds.json", "{}\n"), SideFile("ds.json", "{1}\n")
    assert "+{1}" in diff(bundle(LONG, "a.sh", before), bundle(LONG, "a.sh", after))


def test_a_script_that_is_another_one_altogether_has_no_diff() -> None:
    assert diff(bundle(LONG), bundle(LONG.upper())) == ""
