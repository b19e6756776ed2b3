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
    """A unified diff of the script and the files beside it; empty where nothing differs."""
    if before is None:
        return ""
    old, new = contents(before), contents(after)
    parts = []
    for name in sorted(old.keys() | new.keys(), key=lambda n: (n != after.name, n)):
        a, b = old.get(name, "").splitlines(), new.get(name, "").splitlines()
        parts += unified_diff(a, b, f"{name} (before)", f"{name} (now)", n=1, lineterm="")
    return "\n".join(parts)


def contents(bundle: LaunchBundle) -> dict[str, str]:
    return {bundle.name: bundle.script, **{file.name: file.text for file in bundle.files}}
