"""Functions as tools of a model: a small schema out of a signature, arguments checked, the answer as short text.

The functions are those of the MCP server's table and the thread's own; what the thread fills in (the script in hand,
the attached log) is left out of the schema.
"""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from graph.modelling.model import Schema, Tool
from knowledge.errors import InputError

PLAIN: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
UNIONS = (Union, types.UnionType)
# Cursors are for clients that page; here an answer is cut, and asked for more narrowly.
NEVER_OFFERED = frozenset({"cursor"})
UNTOLD = frozenset({"notice", "more"})


class Swap(TypedDict, total=False):
    """A piece of the script as it stands there, or the number of its first line, and what takes its place."""

    old: str
    line: int
    new: str


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool with the function behind it. filled: arguments that the thread gives where the model leaves them out."""

    tool: Tool
    run: Callable[..., object]
    filled: Mapping[str, object]


def deed(function: Callable[..., object], says: str = "", filled: Mapping[str, object] | None = None) -> BoundTool:
    """The function as a tool; what is filled is not offered."""
    given = filled or {}
    hints = get_type_hints(function, include_extras=True)
    properties: dict[str, Any] = {}
    required = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in NEVER_OFFERED or name in given:
            continue
        properties[name] = schema_of(hints[name])
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    first = (function.__doc__ or "").strip().partition("\n\n")[0]
    return BoundTool(Tool(function.__name__, says or " ".join(first.split()), schema), function, given)


def schema_of(hint: Any) -> dict[str, Any]:
    """JSON Schema of a type, without what no model needs (titles, defaults, what is checked anyway, long words)."""
    if get_origin(hint) is Annotated:
        return schema_of(get_args(hint)[0])
    if get_origin(hint) in UNIONS:
        return schema_of(next(one for one in get_args(hint) if one is not types.NoneType))
    if get_origin(hint) is Literal:
        return {"type": PLAIN[type(get_args(hint)[0])], "enum": list(get_args(hint))}
    if get_origin(hint) in (tuple, list, Sequence):
        return {"type": "array", "items": schema_of(get_args(hint)[0])}
    if get_origin(hint) in (dict, Mapping):
        return {"type": "object"}
    if is_typeddict(hint):
        inner = {name: schema_of(one) for name, one in get_type_hints(hint).items()}
        return {"type": "object", "properties": inner}
    return {"type": PLAIN[hint]}


# Arguments that hold fields by name; each field that is not known is refused there, by itself.
FREE = ("more_fields", "fields")


def checked(schema: Schema, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments as the schema wants them; what models send in a near form (a number as text, one value for a list,
    null for nothing, a field beside the object of fields, or one object of them in the other) is taken. Raises
    InputError with what is wrong."""
    if arguments is None:
        raise InputError("the arguments were no JSON object")
    offered = schema["properties"]
    unknown = [name for name in arguments if name not in offered]
    free = next((name for name in FREE if name in offered), None)
    if unknown and free and isinstance(arguments.get(free) or {}, Mapping):  # a field that was given one level too high
        within = {**(arguments.get(free) or {}), **{name: arguments[name] for name in unknown}}
        arguments = {**{name: value for name, value in arguments.items() if name in offered}, free: within}
        unknown = []
    inner = arguments.get(free) if free else None
    if free and isinstance(inner, Mapping) and any(isinstance(inner.get(one), Mapping) for one in FREE):
        nested = {one: value for one, value in inner.items() if one in FREE and isinstance(value, Mapping)}
        beside = {name: value for one in nested.values() for name, value in one.items()}
        arguments = {**arguments, free: {**{name: inner[name] for name in inner if name not in nested}, **beside}}
    if unknown:
        raise InputError(f"no argument {', '.join(unknown)}; there are {', '.join(offered) or 'none'}")
    given = {name: fitted(offered[name], value, name) for name, value in arguments.items() if value is not None}
    missing = [name for name in schema.get("required", ()) if name not in given]
    if missing:
        raise InputError(f"missing: {', '.join(missing)}")
    return given


def fitted(schema: Mapping[str, Any], value: Any, name: str) -> Any:
    """One value in the schema's type. Raises InputError."""
    kind = schema["type"]
    try:
        if kind == "string":
            made: Any = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
        elif kind in ("integer", "number"):
            made = None if isinstance(value, bool) else int(value) if kind == "integer" else float(value)
        elif kind == "boolean":
            made = value if isinstance(value, bool) else None
        elif kind == "array":
            items = value if isinstance(value, list) else [value]
            made = tuple(fitted(schema["items"], one, name) for one in items)
        else:
            made = of_object(schema, value, name)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: '{str(value)[:40]}' is no {kind}") from error
    if made is None or ("enum" in schema and made not in schema["enum"]):
        wanted = ", ".join(map(str, schema["enum"])) if "enum" in schema else kind
        raise InputError(f"{name}: '{str(value)[:40]}' is none of: {wanted}")
    return made


def of_object(schema: Mapping[str, Any], value: Any, name: str) -> dict[str, Any] | None:
    if isinstance(value, str) and "properties" not in schema:  # an object that came as its text
        with suppress(ValueError):
            value = json.loads(value)
    if not isinstance(value, dict):
        return None
    if "properties" in schema:
        return checked(schema, value)
    return {str(key): "" if one is None else as_word(one) for key, one in value.items()}


def as_word(value: Any) -> str | tuple[str, ...]:
    """A field's value as `FIELD=VALUE` has it; of a list or an object each part by itself."""
    if isinstance(value, list):
        return tuple(in_one(one) for one in value)
    if isinstance(value, dict):
        return tuple(str(name) if one is None else f"{name}={in_one(one)}" for name, one in value.items())
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def in_one(value: Any) -> str:
    """A part of a value, in one text."""
    made = as_word(value)
    return made if isinstance(made, str) else ",".join(made)


def as_text(value: object, depth: int = 0) -> str:
    """An answer as short indented text: what is empty is left out, texts of several lines stand as they are."""
    pad = "  " * depth
    if is_dataclass(value) and not isinstance(value, type):
        rows = []
        for one in fields(value):
            item = getattr(value, one.name)
            if (item in ("", (), None, False) and item != 0) or one.name in UNTOLD:
                continue
            text = as_text(item, depth + 1)
            rows.append(f"{pad}{one.name}:{' ' if chr(10) not in text else chr(10)}{text}")
        return "\n".join(rows)
    if isinstance(value, tuple | list):
        return "\n".join(f"{pad}- {as_text(one, depth + 1).strip()}" for one in value)
    if isinstance(value, Mapping):
        return "; ".join(f"{name}={one}" for name, one in value.items())
    return str(value)
