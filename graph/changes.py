"""What differs between a script and the one before it."""

from __future__ import annotations

from difflib import unified_diff

from knowledge.types import LaunchBundle, LaunchPlan

# Field of the plan -> what a person calls it.
TOLD = {
    "title": "machine",
    "framework": "framework",
    "strategy": "strategy",
    "nodes": "nodes",
    "ranks_per_node": "ranks per node",
    "node_type": "node type",
    "queue": "queue",
    "walltime": "walltime",
    "account": "account",
    "entry": "program",
    "args": "arguments",
}


def changes(before: LaunchPlan | None, after: LaunchPlan) -> tuple[str, ...]:
    """One line a field that is now different; empty where there was no script before."""
    if before is None:
        return ()
    pairs = ((name, getattr(before, field), getattr(after, field)) for field, name in TOLD.items())
    return tuple(f"{name}: {worded(old)} → {worded(new)}" for name, old, new in pairs if old != new)


def worded(value: object) -> str:
    text = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return text or "none"


def diff(before: LaunchBundle | None, after: LaunchBundle) -> str:
    """A unified diff of the script and of the files beside it; empty where nothing, or nearly all, differs."""
    if before is None:
        return ""
    parts = lines_of(before.name, before.script, after.name, after.script)
    if sum(line[:1] in "+-" for line in parts) > len(after.script.splitlines()):
        return ""
    old = {file.name: file.text for file in before.files}
    for file in after.files:
        parts += lines_of(file.name, old.get(file.name, ""), file.name, file.text)
    return "\n".join(parts)


def lines_of(name: str, text: str, new_name: str, new_text: str) -> list[str]:
    marks = (f"{name} (before)", f"{new_name} (now)")
    return list(unified_diff(text.splitlines(), new_text.splitlines(), *marks, n=1, lineterm=""))
