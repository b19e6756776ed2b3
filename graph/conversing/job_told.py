"""The job as a model is told of it: once there is a script, by what the script says and no more by what was asked.

Our own script is rendered from a request, and then patches change its text: of what they changed the text holds, read
by the reader that reads a person's script, and what was decided before holds no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from graph.conversing.ground import stands
from graph.conversing.hand import cut, in_short
from graph.extraction.script_record import ScriptRecord, understand_script
from graph.planning.patches import patched
from graph.state import State
from knowledge.errors import InputError
from knowledge.job_parts import Patch
from knowledge.types import JobRequest

NOTHING = "nothing said yet"
UNTOLD = frozenset({"heard", "setup", "variables", "patches"})
# Of what was told of a machine that nobody described.
MOST_TOLD = 200
# What a script does not say in the words of a request, or not surely.
ELSEWHERE = frozenset({"machine", "framework", "strategy", "total_gpus"})
READ = tuple(one.name for one in fields(JobRequest) if one.name in ScriptRecord.__annotations__)


def told_request(request: JobRequest | None, beside: JobRequest | None = None) -> str:
    """The fields that were said, as FIELD=VALUE. beside: only those that have another value than there."""
    if request is None:
        return NOTHING
    names = [one.name for one in fields(JobRequest) if one.name not in UNTOLD]
    pairs = {name: value for name in names if (value := getattr(request, name)) not in (None, (), "")}
    new = {name: value for name, value in pairs.items() if beside is None or value != getattr(beside, name)}
    if words := new.get("site_words"):
        new["site_words"] = cut(" ".join(words.split()), MOST_TOLD)
    told = (f"{name}={in_short(value)}" for name, value in new.items())
    return "; ".join(told) or NOTHING


def job_in_hand(state: State) -> JobRequest:
    """The request as the script in hand bears it out; a person's own was read when it came, and at each change."""
    request = state.get("request") or JobRequest()
    values = {one.name: getattr(request, one.name) for one in fields(JobRequest) if one.name not in UNTOLD | ELSEWHERE}
    gone: dict[str, Any] = {
        name: tuple(one for one in value if not is_gone(state, one)) if isinstance(value, tuple) else None
        for name, value in values.items()
        if any(is_gone(state, one) for one in (value if isinstance(value, tuple) else (value,)))
    }
    return replace(request, **{**gone, **changed_by_patches(state)})


def decided(state: State, most: int) -> str:
    """What was taken where nothing was said, as far as our script bears it out: neither a placeholder that was filled
    in, nor what a patch changed."""
    plan, bundle = state.get("plan"), state.get("bundle")
    if plan is None or bundle is None or state.get("own"):
        return ""
    now = changed_by_patches(state)
    held = [
        one
        for one in plan.assumptions
        if one.field not in now
        and not is_gone(state, one.value)
        and not (one.value.startswith("YOUR_") and one.value not in bundle.script)
    ]
    told = [f"- {one.field} = {one.value}: {one.why}" for one in held]
    return cut("\n".join([f"DECIDED for {plan.title}, {plan.nodes} x {plan.ranks_per_node} ranks", *told]), most)


def changed_by_patches(state: State) -> Mapping[str, Any]:
    """The fields of which the patches of our script made something else, with what the script says now."""
    bundle, patches = state.get("bundle"), (state.get("request") or JobRequest()).patches
    if bundle is None or state.get("own") or not patches:
        return {}
    back = (Patch(one.new, one.old, one.above, one.below) for one in reversed(patches))
    try:
        was, now = (understand_script(text) for text in (patched(bundle.script, back)[0], bundle.script))
    except InputError:
        return {}
    names = (name for name in READ if name not in ELSEWHERE)
    return {name: getattr(now, name) for name in names if getattr(now, name) != getattr(was, name)}


def is_gone(state: State, value: object) -> bool:
    """Whether a patch took a name out of our script, and no line has it now; a number tells nothing."""
    bundle, patches = state.get("bundle"), (state.get("request") or JobRequest()).patches
    if bundle is None or state.get("own") or not patches or value is None:
        return False
    was, now = ("\n".join(rows).lower() for rows in ([row for one in patches for row in one.old], [bundle.script]))
    words = (one for one in in_short(value).lower().split() if not one.isdigit())
    return any(stands(one, was) and not stands(one, now) for one in words)
