"""Templates as people read them, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from templates.library import Match
from templates.records import Saved, Template


def listing(templates: Sequence[Template]) -> str:
    """A table: id, launcher, GPU, and where each comes from."""
    rows = [("id", "launcher", "GPU", "from")]
    rows += [(one.id, one.launcher or "?", one.gpu_model or "?", origin(one)) for one in templates]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        "  ".join([*(f"{text:<{width}}" for text, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    )


def origin(template: Template) -> str:
    """Where it comes from, in a few words."""
    if isinstance(template.provenance, Saved):
        saved = template.provenance
        return f"{saved.who}, {saved.when}: {saved.evidence or 'no evidence'}"
    return f"facts of {template.provenance.as_of}" + ("" if template.provenance.documented else ", our reading")


def found(matches: Sequence[Match]) -> str:
    """Best first: id, why it is offered, and, for a machine that nobody described, what to find out."""
    lines = [f"{match.template.id}\n    {match.why}" for match in matches]
    if matches and matches[0].questions:
        lines.append("\nTo make it certain:")
        for question in matches[0].questions:
            choices = f" ({' / '.join(question.options)})" if question.options else ""
            lines.append(f"  - {question.text}{choices}")
    return "\n".join(lines)


def facts(template: Template) -> str:
    """All that is known of one template."""
    gpus = f"{template.gpus_per_node or '?'} x {template.gpu_model or '?'} a node"
    lines = [
        f"id         {template.id}",
        f"machine    {template.cluster}" + (f", node type {template.node_type}" if template.node_type else ""),
        f"runs       {template.framework} {template.strategy}",
        f"scheduler  {template.scheduler}",
        f"launcher   {template.launcher or 'not seen in the script'}",
        f"GPUs       {gpus}",
        f"from       {origin(template)}",
    ]
    if isinstance(template.provenance, Saved):
        return "\n".join([*lines, f"file       {template.provenance.path}"])
    return "\n".join([*lines, *(f"source     {source}" for source in template.provenance.sources)])


def how_to_write(template: Template) -> str:
    """The command that writes a shipped template's script."""
    return (
        f"maple-chat script --machine {template.cluster} --framework {template.framework} "
        f"--strategy {template.strategy} --nodes 2"
    )


def as_json(template: Template) -> dict[str, Any]:
    kind = "saved" if isinstance(template.provenance, Saved) else "shipped"
    names = [name for name in Template.__slots__ if name != "provenance"]
    origin_names = type(template.provenance).__slots__
    provenance = {name: getattr(template.provenance, name) for name in origin_names}
    return {
        **{name: getattr(template, name) for name in names},
        "provenance": {"kind": kind, **provenance, **({"path": str(provenance["path"])} if kind == "saved" else {})},
    }


def match_json(match: Match) -> dict[str, Any]:
    asked = [{"field": q.field, "text": q.text, "options": list(q.options)} for q in match.questions]
    return {
        "template": as_json(match.template),
        "exact": match.exact,
        "verified": match.verified,
        "score": match.score,
        "why": match.why,
        "questions": asked,
    }
