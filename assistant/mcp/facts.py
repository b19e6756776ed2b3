"""A machine's facts by what they are about: sections of its description, and daily life there with its pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from knowledge.cluster import Cluster

About = Literal[
    "nodes", "queues", "directives", "account", "software", "launch", "network", "internet", "containers", "storage",
    "login", "transfer", "interactive", "jobs", "charging", "support", "gotchas", "waiting",
]  # fmt: skip
# What it is about -> sections of the machine's facts, and parts of what is known of daily life there: PART whole, or
# one row of it as PART.ROW.
SECTIONS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "nodes": (("Nodes",), ()),
    "queues": (("Queues",), ("queue_wait.limits",)),
    "directives": (("Directives",), ()),
    "account": (("Account",), ("account",)),
    "software": (("Software",), ("software", "compile_on")),
    "launch": (("Launch, best form first", "What does not work", "Rank 0's address"), ()),
    "network": (("Variables that scripts set", "Variables to know of"), ()),
    "internet": (("Internet",), ()),
    "containers": (("Containers",), ()),
    "storage": (("File systems",), ("quota", "purge", "backup")),
    "login": ((), ("login", "login_node_rules", "web")),
    "transfer": ((), ("transfer",)),
    "interactive": ((), ("interactive", "jupyter")),
    "jobs": ((), ("watch", "email_notices")),
    "charging": ((), ("queue_wait.charge", "account.balance")),
    "support": ((), ("support", "status", "changes")),
    "gotchas": (("Gotchas", "Notes"), ()),
    "waiting": ((), ("queue_wait",)),
}


def facts_about(cluster: Cluster, about: Sequence[About], today: date) -> str:
    """What is known of that machine about these matters, each part with its pages and its date."""
    from assistant.cluster_text import SECTIONS as MAKERS
    from assistant.cluster_text import dated, folded
    from assistant.footnotes import Footnotes
    from knowledge.site import site_of

    notes, site = Footnotes(), site_of(cluster.id)
    titles = list(dict.fromkeys(title for one in about for title in SECTIONS[one][0]))
    made = {title: folded(MAKERS[title](cluster, notes)) for title in titles}
    texts = [f"{cluster.title} ({cluster.id}), {cluster.scheduler}; facts of {dated(cluster, today)}"]
    texts += ["\n".join([title, *rows]) for title, rows in made.items() if rows]
    parts = list(dict.fromkeys(part for one in about for part in SECTIONS[one][1])) if site else []
    parts = [part for part in parts if part.partition(".")[0] == part or part.partition(".")[0] not in parts]
    told = {part: told_of(*part_of(site, part)) for part in parts}
    texts += [
        f"{part.partition('.')[0].replace('_', ' ')} (read {site.as_of})\n{text}"
        for part, text in told.items()
        if text and site
    ]
    sources = notes.listed(())
    return "\n\n".join([*texts, *(["\n".join(["Sources", *folded(sources)])] if sources else [])])


def part_of(site: Any, name: str) -> tuple[Any, str]:
    """A part of daily life by its name, and the row of it that is meant (empty: all)."""
    part, _, row = name.partition(".")
    return getattr(site, part), row


def told_of(value: Any, row: str = "") -> str:
    """A part of daily life as indented lines; of one row that and its pages, nothing where it is not known."""
    if not value or (row and not getattr(value, row)):
        return ""
    if is_dataclass(value):
        names = [one.name for one in fields(value) if not row or one.name in (row, "sources")]
        rows = [(name.replace("_", " "), getattr(value, name)) for name in names]
        return "\n".join(f"  {name}: {inline(item)}" for name, item in rows if item)
    return "\n".join(f"  {inline(one)}" for one in value) if isinstance(value, tuple) else f"  {value}"


def inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {text}" for name, text in value.items())
    if isinstance(value, tuple):
        return " | ".join(inline(one) for one in value)
    return inline(value.text) if is_dataclass(value) and hasattr(value, "text") else str(value)
