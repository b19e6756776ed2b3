"""A change of a person's own script by its tagged words: each field of the order put into the text by itself.

What has no place in the script is told with the words that asked for it, and with the reason.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

from graph.debugging.remedies import request_of
from graph.extraction.script import read_script
from graph.extraction.script_record import record_of
from graph.extraction.weighing import DOUBTFUL, FEW_WORDS, SHORT, SURE_OF_WHOLE, TaggedChange, tagged_change
from graph.reading.edits import Edit, Remove, apply_edits
from graph.usecases.edit_script import Edited, change_options, left_open, with_events
from graph.usecases.own_fields import put_field
from graph.usecases.own_removals import take_field_out
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.job_parts import ArgumentEdit, Program
from knowledge.types import JobRequest

NOT_DONE = "Not done: *{}*: {}."
NO_PLACE = "the script has no place for it that is sure: put it in yourself, or paste the line as it shall be"
# What a tool's caller would do with a reason: a person has the script's lines.
OF_CALLERS = re.compile(r"\bpatch\b|\w+=[A-Z]|argument_edits|port_script")
FILE = "the script"
CONFIG = re.compile(r"(?<!\S)--?[\w-]*(?:conf|cfg|deepspeed)[\w-]*(?=[= ]\S+\.(?:ya?ml|json|toml)\b)")
# What goes with another field: an environment's kind, a total, where words were heard.
FOLLOWING = ("environment_kind", "total_gpus", "container_runtime", "heard", "strategy")


@dataclass(frozen=True, slots=True)
class FieldOrder:
    """One field of an order, for a person's own script. shown: the value as it was given; wanted: the request that
    holds what is set; gone: the values that are taken out, "" for all of it."""

    name: str
    shown: str
    wanted: JobRequest
    gone: tuple[str, ...] = ()

    @property
    def value(self) -> Any:
        return getattr(self.wanted, self.name, None)

    def put(self, now: Edited, cluster: Cluster | None, file: str) -> Edited:
        """The script with it. Raises InputError with what speaks against it and what works."""
        for one in self.gone:
            with suppress(*([InputError] if self.value not in (None, ()) else [])):  # what is replaced may be missing
                now = take_field_out(now, self.name, one, file)
        if self.value is False and self.name != "requeue":
            with suppress(InputError):
                now = take_field_out(now, self.name, "", file)
            return now
        return put_field(now, self.name, self.wanted, cluster, file) if self.value not in (None, ()) else now


def put_tagged(text: str, words: str, cluster: Cluster | None) -> tuple[Edited, float] | None:
    """The script as the tagged words want it, and how sure it is that all are read; None where they order nothing."""
    before = request_of(record_of(read_script(text)))
    change = tagged_change(words, before)
    if change is None or not change.edits or len(words.split()) <= FEW_WORDS:
        return None
    change = replace(change, edits=tuple(one for one in change.edits if not is_of_another_name(one)))
    now = Edited(text, ())
    for order in orders_of_change(change, before, words):
        held = now
        try:
            now = order.put(now, cluster, FILE)
        except InputError as error:
            now = with_option(held, order.shown) if order.name == "argument_edits" else held
            told = () if now is not held else (NOT_DONE.format(order.shown, for_a_person(str(error))),)
            now = replace(now, told=(*now.told, *told))
        if now.text != held.text:
            now = replace(now, placed=(*now.placed, order.shown))
    return now, change.whole


def with_option(now: Edited, words: str) -> Edited:
    """An option at the end of the program's own, where the launch is no plain command."""
    return change_options(now, f"add {words}") if words.startswith("-") else now


def for_a_person(why: str) -> str:
    """The reason without what only a caller of the tools can do."""
    kept = "; ".join(one for one in re.split(r"[;:] ", why) if not OF_CALLERS.search(one))
    return kept.rstrip(".") or NO_PLACE


def is_of_another_name(edit: Edit) -> bool:
    """Whether an edit brings an option that is not typed: what the program calls it, only the person knows."""
    held = getattr(edit, "value", None)
    return isinstance(held, ArgumentEdit) and held.kind == "add" and not getattr(edit, "words", "").startswith("-")


def orders_of_change(change: TaggedChange, before: JobRequest, words: str) -> list[FieldOrder]:
    """The fields that the change sets or takes out, in the order of the words."""
    wanted = with_new_parts(apply_edits(before, change.edits).request, before)
    if wanted.mail:
        wanted = replace(wanted, mail=with_events(wanted.mail, words))
    orders = list[FieldOrder]()
    for name in dict.fromkeys(str(getattr(edit, "field", "heard")) for edit in change.edits):
        own = [edit for edit in change.edits if getattr(edit, "field", "") == name]
        gone = tuple(str(edit.value or "") for edit in own if isinstance(edit, Remove))
        shown = ", ".join(dict.fromkeys(str(getattr(edit, "words", "")) for edit in own))
        if name == "then" and all(one.nodes is None and one.gpus_per_node is None for one in wanted.then):
            lines = tuple(command_of(one) for one in wanted.then)  # a second launch is the person's to write
            orders.append(FieldOrder("after", shown, replace(wanted, after=lines)))
        elif name == "config_file" and (option := CONFIG.search(before.args or "")):
            value = ArgumentEdit("set", option[0], str(wanted.config_file))
            orders.append(FieldOrder("argument_edits", shown, replace(wanted, argument_edits=(value,))))
        elif name not in FOLLOWING:
            orders.append(FieldOrder(name, shown, wanted, gone))
    return sorted(orders, key=lambda one: one.name == "signal")  # its handler also puts the job back


def command_of(program: Program) -> str:
    """A further program as a line of the batch script."""
    starter = {"py": "python ", "sh": "bash "}.get(program.entry.rpartition(".")[2], "")
    return " ".join(filter(None, (f"{starter}{program.entry}", program.args)))


def with_new_parts(now: JobRequest, before: JobRequest) -> JobRequest:
    """The request with only the new parts of fields that hold several: the script has the others."""
    new: dict[str, Any] = {}
    for name in (one.name for one in fields(JobRequest) if one.name != "heard"):
        value, held = getattr(now, name), getattr(before, name)
        if isinstance(value, tuple) and isinstance(held, tuple):
            new[name] = tuple(one for one in value if one not in held)
    return replace(now, args=now.args if now.args != before.args else None, **new)


def weigh_scripts(text: str, words: str, cluster: Cluster | None, ruled: Edited | None) -> Edited | None:
    """The script as the rules changed it where that holds all of the words, else as the tagged words want it.

    ruled: the rules' change, None where they found none. Doubtful where they differ and the tagger is not sure.
    """
    if ruled is not None and (ruled.text != text or ruled.told) and not left_open(text, ruled, words):
        return ruled  # every value of the words is in what they changed, or refused with its reason
    found = put_tagged(text, words, cluster)
    if found is None:
        return ruled
    tagged, whole = found
    if ruled is not None and (tagged.text == ruled.text or tagged.text == text):
        own = (one for one in ruled.told if not (tagged.told and one.startswith(NOT_DONE[:9])))
        return replace(ruled, told=(*own, *tagged.told))
    if tagged.text == text and not tagged.told:
        return ruled
    short = ruled is None and len(words.split()) <= SHORT and not left_open(text, tagged, words)
    return replace(tagged, doubtful=whole < (DOUBTFUL if short else SURE_OF_WHOLE))
