"""Values of assignments, and of variables after branches."""

from __future__ import annotations

from tree_sitter import Node

from graph.extraction.expansion import Environment
from graph.extraction.shell_tree import adjacent_words
from graph.extraction.shell_values import Array, AssociativeArray, BranchValue, Scalar, Value
from graph.extraction.shell_words import Field, Piece, plain

LONGEST_VALUE, MOST_PIECES = 100_000, 2_000
MOST_OPTIONS = 8


def bounded(value: Field, name: str) -> Field:
    """The value, or its name where it has grown beyond what an honest script holds (`A=$A$A` in a loop)."""
    too_long = len(value) > MOST_PIECES or sum(len(piece.text) for piece in value) > LONGEST_VALUE
    return (Piece(f"${name}", True),) if too_long else value


def bounded_value(value: Value, name: str) -> Value:
    """The same for any kind of value: an array, too, can take itself in twice on each line (`A+=("${A[@]}")`)."""
    if isinstance(value, Scalar):
        return Scalar(bounded(value.field, name))
    fields = value.fields if isinstance(value, Array) else ()
    fields = tuple(one for _, one in value.entries) if isinstance(value, AssociativeArray) else fields
    if len(fields) <= MOST_PIECES and sum(len(piece.text) for one in fields for piece in one) <= LONGEST_VALUE:
        return value
    return Scalar((Piece(f"${name}", True),))


def array_value(node: Node, env: Environment, table: bool) -> Value:
    words = adjacent_words((c for c in node.named_children if c.type != "comment"), node)
    if table:
        pairs = [w[1:].partition("]=") for w in words if w.startswith("[")]
        return AssociativeArray(tuple((plain(env.expand_whole(k)), env.expand_whole(v)) for k, _, v in pairs))
    return Array(tuple(env.expand_words(words)))


def merged_value(old: Value | None, new: Value, index: str, more: bool) -> Value:
    """The value after `+=` or an assignment to one element."""
    if index and isinstance(new, Scalar):
        if isinstance(old, AssociativeArray) or not index.isdigit():
            entries = dict(old.entries) if isinstance(old, AssociativeArray) else {}
            return AssociativeArray(tuple((entries | {index: new.field}).items()))
        fields = list(old.fields) if isinstance(old, Array) else []
        fields += [()] * (int(index) + 1 - len(fields)) if int(index) < 1000 else []
        fields[int(index) if int(index) < len(fields) else -1] = new.field
        return Array(tuple(fields))
    if not more or old is None:
        return new
    if isinstance(old, Array):
        return Array((*old.fields, *(new.fields if isinstance(new, Array) else (getattr(new, "field", ()),))))
    if isinstance(old, Scalar) and isinstance(new, Scalar):
        return Scalar((*old.field, *new.field))
    return new


def merge(env: Environment, outcomes: list[Environment]) -> None:
    """Values after branches: those that agree stay, the others become choices (arrays: the longest)."""
    if len(outcomes) == 1:
        env.values = outcomes[0].values
        return
    names = dict.fromkeys(name for outcome in outcomes for name in outcome.values)
    merged: dict[str, Value] = dict(outcomes[0].values)
    for name in names:
        first = outcomes[0].values.get(name)
        if first is not None and all(outcome.values.get(name) is first for outcome in outcomes):
            continue
        values = [outcome.values[name] for outcome in outcomes if name in outcome.values]
        distinct = list(dict.fromkeys(values))
        if len(distinct) == 1:
            merged[name] = distinct[0]
        elif all(isinstance(v, Scalar | BranchValue) for v in distinct):
            options = [
                f for v in distinct for f in (v.options if isinstance(v, BranchValue) else (getattr(v, "field", ()),))
            ]
            merged[name] = BranchValue(tuple(dict.fromkeys(options))[-MOST_OPTIONS:])
        else:
            merged[name] = max(distinct, key=lambda v: len(v.fields) if isinstance(v, Array) else 0)
    env.values = merged
