"""What does this person want? A message, and what was said before, become an intent and a request."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from graph.extraction.sentences import choose, reading
from graph.extraction.sentences.dialogue import DialogueInput, reply
from graph.extraction.sentences.flags import find_flags
from graph.extraction.sentences.forms import spoken_form
from graph.extraction.sentences.intents import has
from graph.extraction.sentences.lexicon import fold
from graph.extraction.sentences.merge import is_foreign
from graph.extraction.sentences.spelling import normal_form
from graph.extraction.tools import with_config, with_tool, without_placed
from graph.extraction.training import TRAINS
from graph.extraction.weighing import weigh
from graph.reading.account import COMMON, DIRECTIVE, HeldWords, apart, lone_account, places, unplaced
from graph.reading.argument_edits import find_argument_edits, known_arguments, spelled_out, spelling
from graph.reading.commands import SpokenCommand, choose_main, find_commands
from graph.reading.edits import FIELDS, Add, Edit, Remove, Set, apply_edits
from graph.reading.frame import NO_NAME
from graph.reading.frames import Framed, find_frames
from graph.reading.mentions import find_mentions
from graph.reading.reader import read_as_one
from graph.reading.request_edits import SMALL, RequestEdits, edits_by_rules, is_change, without
from graph.reading.scope import NAMED, stretch_at, wanted, without_corrected, words
from graph.reading.utterance import LONGEST_MESSAGE, LONGEST_WORD, ThreadView, bounded
from graph.reading.wishes.left import left_wishes
from graph.reading.wishes.settling import orders_change, settle
from graph.reading.wishes.taking import (
    COMPLETED,
    TakenWishes,
    completed,
    fields_of,
    further_edits,
    is_the_job,
    meant_spans,
    meant_wishes,
    orders_of,
    take_wishes,
)
from graph.reading.wishes.values import SURELY_SIGNAL
from knowledge.job_parts import ArrayAxis, JobArray, Program
from knowledge.served_models import SERVED_ENTRY, server_of
from knowledge.training_tools import tool_of
from knowledge.types import SERVERS, Heard, Intent, JobRequest, Understood
from knowledge.word_lists import word_set

SURE = 0.85  # probability from which the trained reader goes before the rules
LONGEST_QUESTION = 1500  # characters; a longer text is a paste
FEW_WORDS = 3  # an answer to what was asked: nothing in it is left over
# How sure it must be that a first message orders, and of a tag: sizes stand in many ways, any name may be an account.
ORDERED, LEAST, LEAST_OF_SLOT = 0.9, 0.5, {"account": 0.9, "nodes": 0.8, "gpus_per_node": 0.8}
# Of a first request: fields that only rules infer, fields that the tagger reads better, and edits that are a request.
NEVER_COMPLETED = word_set(
    "heard args strategy framework model total_gpus node_type modules_removed machine source_machine"
)
OVERRULED, FEWEST = ("mail", "modules"), 5
STAND_IN = "program.py"  # in the place of a program that is no Python file, for the reader of names
ASSIGNED = re.compile(r"[`(\"']*[A-Za-z_]\w*=")
# Options of a program that tell how it is spread, or the model that is trained.
TELLING = re.compile(r"(?<!\S)--?(?:\w*(?:fsdp|ddp|deepspeed|zero)\w*(?:[= ][\w./-]+\.json)?|model\w*[= ]\S+)", re.I)
TYPED = re.compile(r"(?<!\S)(?P<name>--[A-Za-z][\w-]*)(?:[= ](?P<value>(?!-)[^\s,;]+))?")
STANDS_IN = r"(?:[A-Z][A-Z_]*|[$<{][\w{}<>]+)"
NOTEBOOK = re.compile(r"(?<![\w/.-])[\w./~-]+\.ipynb\b")
RANGED = re.compile(r"(?<!\S)(?P<name>--?[A-Za-z][\w-]*)[= ](?P<low>\d{1,4})(?P<dots>-|\.\.\.?)(?P<high>\d{1,4})(?!\S)")
MOST_TASKS = 100  # of an array whose values are listed
SAID_RANGE = re.compile(r"(?<![\w-])(?P<name>[A-Za-z]\w{1,20}) (?P<low>\d{1,4})\.\.(?P<high>\d{1,4})(?![\w.])")
LOOPED = re.compile(
    r"\bfor (?P<name>[A-Z]\w{0,20}) in (?P<values>[\w.-]{1,60}(?:(?:, (?:and )?| and )[\w.-]{1,60}){1,60})"
)
IS_TOLD = re.compile(r"\s+(?:is|are|was|were|ist|sind|war|waren|est|sont|[ée]tait|es|son|eran)\b", re.I)
ARRAYED = re.compile(r"\b(?:arrays?|sweep\w*)\b", re.I)
FILE = re.compile(r"\.(?:ya?ml|json|toml|cfg)$|/")
NOT_READ = f"what follows the first {LONGEST_MESSAGE:,} characters, or the first {LONGEST_WORD} of a word"
TAKEN_ACCOUNT = "I take *{}* for the account; say *account NAME* if it is another."
TOLD_BY_WORDS = ("nodes", "gpus_per_node", "entry")
# `Takes 5 hours on my laptop`, and what follows from it.
OWN_COMPUTER = re.compile(
    r"(?i)(?P<whole>\b(?:(?:it |which )?"
    r"(?:takes?|took|needs?|needed|ran|runs?|dauert\w*|braucht\w*|prend|tarda|impiega) )?"
    r"(?:(?:like|about|around|roughly|some|ca\.?|etwa|rund|environ|unas?|circa) )?\d+(?:[.,]\d+)? ?"
    r"(?P<unit>h|hrs?|hours?|days?|min(?:ute)?s?|stunden|std|tage?|heures?|jours?|horas|d[ií]as?|ore|giorni) "
    r"(?:on|auf|sur|en|su|at) (?:(?:my|our|a|the|mein\w*|unser\w*|mon|ma|mi|il mio) )?(?:\w+ )?"
    r"(?:laptop|mac(?:book)?|pc|desktop|workstation|notebook|computer|colab|rechner|ordinateur|ordenador|port[aá]til\w*)\b)"
)
# `My notebook runs on my laptop and takes 4 days`.
COMPUTER_FIRST = re.compile(
    r"(?i)\b(?:on|auf|sur|en|su) (?:my|our|mein\w*|unser\w*|mon|ma|mi|il mio)(?: own)? (?:\w+ )?"
    r"(?:laptop|mac(?:book)?|pc|desktop|workstation|computer|rechner|ordinateur|ordenador|port[aá]til\w*)\b[^.?!;\n]{0,80}?"
    r"(?P<told>\b(?:takes?|took|needs?|needed|ran|runs?|dauert\w*|braucht\w*|prend|tarda|impiega) (?:\w+ ){0,2}?"
    r"\d+(?:[.,]\d+)? ?"
    r"(?P<unit>h|hrs?|hours?|days?|min(?:ute)?s?|stunden|std|tage?|heures?|jours?|horas|d[ií]as?|ore|giorni))\b"
)
# A short run is ordered, whatever time was spoken of before.
FOR_A_TEST = re.compile(
    r"(?i)\b(?:(?:for|as|just) an?(?: \w+)? (?:test(?! (?:set|data|split|suite))|trial|try)\b"
    r"|(?:short|quick|small|little|first) (?:test|trial)\b|test (?:run|script|job)\b"
    r"|zum (?:testen|probieren|test)|(?:für|fuer|als)(?: einen?)? test\b|testlauf"
    r"|pour (?:un )?(?:test|essai|essayer|tester)\b"
    r"|para (?:una? )?(?:prueba|probar|teste?|testar)\b|per (?:un test|una prova|provare)\b)"
)
FOLLOWS = re.compile(
    r"(?i)^\W*(?:so|also|dann|donc|as[ií] que|quindi) \d+(?=[\s,.;]*(?:$|(?:should|would|will|is|sollt\w*|reich\w*)\b))"
)
# Settings of Lightning's Trainer, as code: those that a job has no line for.
TRAINER = re.compile(r"\bTrainer\((?P<inside>[^()\n]*)\)")
WHOLE_SETTING = re.compile(r"\w+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^,'\"]+),?")
OWN_SETTING = re.compile(rf"\b(?!devices\b|num_nodes\b|strategy\b|precision\b){WHOLE_SETTING.pattern}")
SIZES = ("nodes", "gpus_per_node", "total_gpus")
HEARD = ("walltime", "queue", "account", "environment", "container")  # of which is kept where they were said
ASKED_FOR = ("machine", "framework", "strategy", "nodes", "gpus_per_node")


def as_corrected(text: str) -> str:
    """The text with what its own words take back blanked, up to the name that takes its place."""
    if not words("corrects").search(text):
        return text
    mentions = find_mentions(text)[1]
    kept = without_corrected(text, mentions)
    for gone in (one for one in mentions if one not in kept):
        behind = min(one.start for one in kept if one.kind == gone.kind and one.start > gone.start)
        text = f"{text[: gone.start]}{' ' * (behind - gone.start)}{text[behind:]}"
    return text


def without_elsewhere(text: str) -> str:
    """The text without the time that the program takes on a computer of one's own: none of the job's. A bare number
    that follows from it (`so 4 should do`) is counted in its unit."""
    told, group = COMPUTER_FIRST.search(text), "told"
    if told is None:
        told, group = OWN_COMPUTER.search(text), "whole"
    if told is None:
        return text
    start, end = told.span(group)
    rest = FOLLOWS.sub(rf"\g<0> {told['unit']}", text[end:], 1)
    return f"{text[:start]}{' ' * (end - start)}{rest}"


def without_trainer(text: str, before: JobRequest | None) -> str:
    """The text with what a Trainer(...) in it says of the job's size alone: the rest is the program's own and no
    argument of it. In a question beside a script the whole call is only shown."""
    shown = "?" in text and before not in (None, JobRequest())
    for call in reversed([*TRAINER.finditer(text)]):
        own = WHOLE_SETTING if shown else OWN_SETTING
        inside = own.sub(lambda one: " " * len(one[0]), call["inside"]).replace("num_nodes", "    nodes")
        text = f"{text[: call.start('inside')]}{inside}{text[call.end('inside') :]}"
    return text


def understand(
    text: str,
    before: JobRequest | None,
    asked: str | None,
    options: Sequence[str] | None,
    *,
    weighed: bool = True,
    stands: bool = True,
) -> Understood:
    """Read one message of a conversation. Pure; never raises on any text; the work is bounded for any length.
    Of a text that is too long (`bounded`) the beginning is read, and the rest named as left.

    before: the request so far (None: a first message). asked, options: the field that was just asked for and the
    choices that were offered, or None. weighed: whether a change is held against the tagger's reading. stands: whether
    a script was written for `before`; else only questions filled it. Understood.left names every word of weight that
    found no place.
    """
    if (shown := bounded(text)) != text:
        read = understand(shown, before, asked, options, weighed=weighed, stands=stands)
        return replace(read, left=(*read.left, NOT_READ))
    text = without_trainer(without_elsewhere(as_corrected(spoken_form(normal_form(text)))), before)
    if not stands and before and before.walltime and FOR_A_TEST.search(text):
        heard = tuple(one for one in before.heard if one.field != "walltime")  # of the whole work, not of the test
        before = replace(before, walltime=None, heard=heard)
    begun = (
        None if stands or asked is not None or before in (None, JobRequest()) else read_whole(text, None, None, None)
    )
    if begun and before and begun.intent == "generate" and begun.request.entry not in (None, before.entry):
        return without_small_words(on_top_of(text, begun, before), before)  # a job named in full is none of a change
    return without_small_words(read_whole(text, before, asked, options, weighed), before)


def on_top_of(text: str, begun: Understood, before: JobRequest) -> Understood:
    """A first order with what was spoken of before it, where it does not say otherwise itself."""
    bare, now = JobRequest(), begun.request
    alone = lone_account(text, replace(now, machine=now.machine or before.machine, account=None))
    if alone and now.account in (None, alone[0]):
        now = replace(now, account=alone[0], heard=(*now.heard, Heard("account", "said", alone[0])))
        begun = replace(begun, notes=(*begun.notes, TAKEN_ACCOUNT.format(alone[0])))
    new: dict[str, Any] = {one.name: getattr(now, one.name) for one in fields(JobRequest)}
    new = {name: value for name, value in new.items() if value != getattr(bare, name) and name != "heard"}
    sizes: dict[str, Any] = dict.fromkeys(SIZES if any(name in new for name in SIZES) else ())
    before = replace(before, **sizes)
    if before.queue and "queue" not in new and now.machine and is_foreign(before.queue, now.machine, before.machine):
        new["queue"] = None  # of a machine that was only compared
    request = replace(before, **new, heard=(*(one for one in before.heard if one.field not in new), *now.heard))
    held = HeldWords(request, ())  # a piece whose name stands in the job found its place
    left = [one for one in begun.left if not any(held.says(w) for w in one.split() if w.lower() not in COMMON)]
    return replace(begun, request=request, missing=missing(request), left=tuple(left))


def without_small_words(read: Understood, before: JobRequest | None) -> Understood:
    """What was read, but for names that are small words: whatever reader took them, nothing is called `there`; and the
    program's own folder is no environment."""
    was = before or JobRequest()
    wrong = {name: getattr(was, name) for name in NAMED if NO_NAME.fullmatch(str(getattr(read.request, name) or ""))}
    folder, entry = (read.request.environment or "").rstrip("/"), read.request.entry or ""
    of_path = any(one.field == "environment" and one.words.rstrip("/") == folder for one in read.request.heard)
    if folder and of_path and folder != was.environment and entry == f"{folder}/{entry.rpartition('/')[2]}":
        wrong |= {"environment": was.environment, "environment_kind": was.environment_kind}
    if not wrong:
        return read
    heard = tuple(one for one in read.request.heard if one.field not in wrong)
    request = replace(read.request, heard=heard, **wrong)
    return replace(read, request=request, missing=missing(request) if read.missing else read.missing)


def read_whole(
    text: str, before: JobRequest | None, asked: str | None, options: Sequence[str] | None, weighed: bool = True
) -> Understood:
    """The reading of a text in its normal form, by the rules and the tagger of wishes."""
    if asked is not None:
        return by_rules(text, before, asked, options)
    if before is None or before == JobRequest():
        read = read_first(text, before)
    elif (named := with_config(before, text))[0] != before:
        return with_configured(*named, options, weighed)
    else:
        ruled = read_change(text, before, options)
        read = weigh(ruled, before, text) if weighed else ruled
        read = replace(read, missing=missing(read.request)) if read.request != ruled.request else read
    if read.intent not in ("generate", "port"):
        return of_its_tool(read, before, text)
    read = with_signal_named(without_empty(read, before or JobRequest()), before or JobRequest(), text)
    left = apart((*read.left, *left_wishes(text, before, read.request, read.left)))
    held = HeldWords(read.request, ())
    left = tuple(one for one in left if not any(only_starts(one, program) for program in read.request.then))
    read = replace(read, left=tuple(one for one in left if not (says_little(one) or held.says(one))))
    tooled = of_its_tool(read, before, text)
    return with_tools_options(tooled, text) if tooled.request.entry != read.request.entry else tooled


def with_configured(configured: JobRequest, rest: str, options: Sequence[str] | None, weighed: bool) -> Understood:
    """The job of a tool with its other configuration, and what the words beside that name change of it."""
    if says_little(SMALL.sub(" ", rest)):
        return Understood("generate", configured, missing(configured))
    read = read_whole(rest, configured, None, options, weighed)
    left = tuple(one for one in read.left if without_placed(one, []))
    intent: Intent = "port" if read.intent == "port" else "generate"
    return replace(read, intent=intent, missing=missing(read.request), left=left)


def of_its_tool(read: Understood, before: JobRequest | None, text: str) -> Understood:
    """What was read, with the command of the training tool that is named; a script's lines start what they start."""
    stands = before is not None and before != JobRequest()
    return read if DIRECTIVE.search(text) else with_tool(read, text, stands)


def with_tools_options(read: Understood, text: str) -> Understood:
    """The command of a tool with the options that were typed beside its name."""
    tool, args = tool_of(read.request), read.request.args or ""
    typed = own_options(text, (), replace(read.request, args=None))
    spare = [one for one in typed if f"{one.value.name} {one.value.value}" not in args]
    known = " ".join(
        (*(one.words for one in spare), *(text[one.start : one.end] for one in find_flags(text, prose=True)))
    )
    open_ones = tuple(
        one[0] for one in TYPED.finditer(text) if one["name"] not in known and (one["value"] or one["name"]) not in args
    )
    if tool is None or not (spare or open_ones):
        return read
    left = tuple(one for one in read.left if not any(edit.words in one for edit in spare))
    left = apart((*left, *(one for one in open_ones if not any(one in piece for piece in left))))
    return replace(read, request=apply_edits(read.request, spare).request, left=left)


def without_empty(read: Understood, before: JobRequest) -> Understood:
    """What was read without arguments that are to be set to nothing, though they have a value: these are named."""
    args = (before.args or "").split()
    valued = {name for name, value in itertools.pairwise(args) if name.startswith("-") and not value.startswith("-")}
    edits = read.request.argument_edits
    empty = [
        e for e in edits if e not in before.argument_edits and e.kind == "set" and not e.value and e.name in valued
    ]
    kept = tuple(one for one in edits if one not in empty)
    return replace(
        read,
        request=replace(read.request, argument_edits=kept) if empty else read.request,
        left=(*read.left, *(one.name for one in empty)),
    )


def with_signal_named(read: Understood, before: JobRequest, text: str) -> Understood:
    """A signal before the limit by the name that the message gives, where it gives one."""
    signal, names = read.request.signal, {found[1].upper() for found in SURELY_SIGNAL.finditer(text)}
    if signal is None or signal == before.signal or len(names) != 1 or signal.name in names:
        return read
    return replace(read, request=replace(read.request, signal=replace(signal, name=names.pop())))


def says_little(piece: str) -> bool:
    """Whether a piece has no words but those that every request has."""
    return all(word in COMMON for word in piece.lower().split())


def read_first(text: str, before: JobRequest | None) -> Understood:
    """The reading of a message that no job stands before."""
    read = by_rules(text, before, None, None)
    if read.intent == "diagnose" and "?" not in text:
        # `Requeue it when it hits the limit` is a wish, and no failure: what is left without it tells the intent.
        again = by_rules(take_wishes(text, None).rest, before, None, None)
        read = again if again.intent == "generate" and again.request.entry else read
    wanted_one = read.intent in ("generate", "port")
    edits = tagged_edits(text) if wanted_one or "?" not in text else ()  # the tagger costs a question's time
    whole = len(edits) >= FEWEST and any(isinstance(one, Set) and one.field == "entry" for one in edits)
    if not wanted_one and not whole:
        return read
    read = completed_by(read, before, TakenWishes(further_edits(text), text))
    return read if read.intent == "port" else with_tagged(read, edits)  # of a port a queue may be the old machine's


def tagged_edits(text: str) -> tuple[Edit, ...]:
    """What the tagger reads of a first message that surely orders something, in the order of the text."""
    wishes = orders_of(text, stands=False, least=ORDERED)
    if wishes is None or ("\n" in text and DIRECTIVE.search(text)):  # lines of a script, for who reads those
        return ()
    spans = meant_spans(text, wishes, lambda slot: LEAST_OF_SLOT.get(slot, LEAST))
    spans = [one for one in spans if one.slot != "make_folder"]
    return tuple(edit for one in meant_wishes(text, wishes, spans, JobRequest()) for edit in one.edits)


def with_tagged(read: Understood, edits: Sequence[Edit]) -> Understood:
    """A first request with what its tagged words tell of fields that the rules left empty, or read worse."""
    ruled = read.request
    edits = [one for one in edits if not is_the_job(getattr(one, "value", None), ruled)]
    now = apply_edits(JobRequest(), edits).request
    names = [one for one in FIELDS if getattr(now, one) not in (None, ()) and one not in NEVER_COMPLETED]
    new = {one: getattr(now, one) for one in names if one in OVERRULED or getattr(ruled, one) in (None, ())}
    if ruled.args or ruled.argument_edits:
        new.pop("argument_edits", None)
    if len(now.modules) < len(ruled.modules):
        new.pop("modules", None)
    if ruled.total_gpus and ruled.gpus_per_node is None:
        new = {name: value for name, value in new.items() if name not in ("nodes", "gpus_per_node")}
    if not new:
        return read
    words = {one.field: one.words for one in edits if isinstance(one, Set | Add) and one.field in new and one.words}
    told = tuple(Heard(name, "said", words[name]) for name in words if name in (*HEARD, *TOLD_BY_WORDS))
    kept = tuple(one for one in ruled.heard if one.field not in words)
    request = replace(ruled, **{**new, "heard": (*kept, *told)})
    left = tuple(one for one in read.left if not any(word in one for word in words.values()))
    return replace(read, intent="generate", request=request, missing=missing(request), left=left)


def read_change(text: str, before: JobRequest, options: Sequence[str] | None) -> Understood:
    """The reading of a message about the job that stands."""
    if (swept := with_said_range(before, text)) != before:
        read = read_change(SAID_RANGE.sub(lambda found: " " * len(found[0]), text), swept, options)
        return replace(read, intent="port" if read.intent == "port" else "generate", missing=missing(read.request))
    taken = take_wishes(text, before, lambda: ruled_fields(text, before))
    if taken.edits:
        read = with_frames(Framed(taken.edits, taken.rest), before, None, options)
    else:
        read = by_rules(text, before, None, options)
    orders = "?" not in text
    if read.intent in ("diagnose", "other") and orders and (alone := take_wishes(text, before)).edits:
        # `They are broken: exclude both` is an order, and no failure.
        read = with_frames(Framed(alone.edits, alone.rest), before, None, options)
    framed = find_frames(text, before).edits  # a time beside a further program is that one's
    read = completed_by(read, before, TakenWishes((), text, () if framed else taken.sizes))
    further = [one for one in further_edits(text, before) if not framed or fields_of([one]).isdisjoint(COMPLETED)]
    read = completed_by(read, before, TakenWishes(tuple(further), text)) if orders or orders_change(text) else read
    return settle(read, before, text) if read.intent in ("generate", "port") else read


def ruled_fields(text: str, before: JobRequest) -> frozenset[str]:
    """The fields of parts that frames and the table of parts read something for."""
    edits = (*find_frames(text, before).edits, *edits_by_rules(text, before).edits)
    return fields_of(edits)


def completed_by(read: Understood, before: JobRequest | None, taken: TakenWishes) -> Understood:
    """What was read, with what only the tagger of wishes saw."""
    request = completed(read.request, before, (*taken.edits, *taken.sizes))
    if request == read.request:
        return read
    new = [one for one in (*taken.edits, *taken.sizes) if isinstance(one, Set) and one.field in HEARD]
    told = (Heard(e.field, "said", e.words) for e in new if getattr(request, e.field) != getattr(read.request, e.field))
    request = replace(request, heard=(*request.heard, *told))
    said = [edit.words for edit in (*taken.edits, *taken.sizes) if edit.words]
    left = tuple(one for one in read.left if not any(word in one for word in said))
    intent: Intent = "port" if read.intent == "port" else "generate"
    return replace(read, intent=intent, request=request, missing=missing(request), left=left)


def by_rules(text: str, before: JobRequest | None, asked: str | None, options: Sequence[str] | None) -> Understood:
    """What the frames, the table of parts and the reader of sizes and names find in a text."""
    if before and before != JobRequest():
        # What is told or said by others is no wish, but may answer (`he says 20`); a denial may take away.
        text = wanted(text, "negated", *(("others",) if asked else ()))
    if before and before != JobRequest() and (framed := find_frames(text, before)).edits:
        return with_frames(framed, before, asked, options)
    text = spelled_out(text) if before else text
    commands = [] if len(text) > LONGEST_QUESTION or DIRECTIVE.search(text) else find_commands(text)
    words, spoken = without_commands(text, commands)
    turn = DialogueInput(words, before, asked, tuple(options or ()))
    wishes = edits_by_rules(words, before, answering=asked is not None)
    intent, request = with_edits(turn, wishes) if wishes.edits else reply(replace(turn, text=wishes.rest))
    if intent == "other" and before is None and asks_for_sure(text):
        intent = "question"
    if wishes.left and intent == "smalltalk":
        intent = "other"
    goes_on = intent in ("generate", "port") or (before is not None and before != JobRequest())
    request = with_main_first(with_commands(request, commands, before)) if goes_on else request
    if goes_on and not before and request.entry and intent in ("generate", "port"):
        varied = {one.option for one in request.array.axes} if request.array else set()
        spare = [one for one in own_options(words, spoken, request) if one.value.name not in varied]
        request = apply_edits(request, spare).request
    request = without_axes(with_notebook(with_ranges(request, text), text)) if goes_on else request
    first = before is None or not (before.entry or before.nodes or before.strategy)  # a machine alone is no job yet
    account = lone_account(wishes.rest, request) if intent in ("generate", "port") and first and asked is None else None
    notes: tuple[str, ...] = ()
    if account:
        request = replace(request, account=account[0], heard=(*request.heard, Heard("account", "said", account[0])))
        notes = (TAKEN_ACCOUNT.format(account[0]),)
    left = wishes.left
    if before in (None, JobRequest()):
        request = with_served_folder(request, text)
    if before in (None, JobRequest()) and (server := server_of(request.entry)):
        request = with_clients(replace(request, framework=request.framework or server), text, commands)
        left = (*left, *unknown_clients(request, text))
    elif before in (None, JobRequest()) and request.framework not in SERVERS:
        left = (*left, *(found[0] for found in USES_SERVER.finditer(text)))
    left = apart((*left, *open_words(words, request, wishes, commands, spoken, asked, before))) if goes_on else left
    return Understood(intent, request, missing(request) if goes_on else (), left, notes)


def with_frames(framed: Framed, before: JobRequest, asked: str | None, options: Sequence[str] | None) -> Understood:
    """What the frames read of a wish, and what the other readers find in the words that are left."""
    now = apply_edits(before, framed.edits).request
    if not SMALL.sub("", framed.rest):
        return Understood("generate", now, missing(now))
    heard = by_rules(framed.rest, now, asked, options)
    return heard if heard.intent == "port" else replace(heard, intent="generate", missing=missing(heard.request))


def with_notebook(request: JobRequest, text: str) -> JobRequest:
    """A notebook that is named is the program, where no other is."""
    found = NOTEBOOK.search(text)
    if found is None or request.entry:
        return request
    return replace(request, entry=found[0], heard=(*request.heard, Heard("entry", "said", found[0])))


def with_said_range(request: JobRequest, text: str) -> JobRequest:
    """The job as an array over an argument that it has: `seeds 1..20`."""
    known = known_arguments(request)
    for found in SAID_RANGE.finditer(text):
        option = spelling(found["name"].lower(), known) or spelling(found["name"].lower().removesuffix("s"), known)
        values = tuple(map(str, range(int(found["low"]), int(found["high"]) + 1)))
        told = stretch_at(text, found.start()) or IS_TOLD.match(text, found.end())
        if option and 2 <= len(values) <= MOST_TASKS and "?" not in text and not told:
            held = request.array or JobArray()
            axes = (*(axis for axis in held.axes if axis.option != option), ArrayAxis(option, values))
            return replace(request, array=replace(held, axes=axes, count=None))
    return request


def with_ranges(request: JobRequest, text: str) -> JobRequest:
    """Arguments over a range of numbers as the array that they are: `--fold 0..4`, `--fold 0-4` where one is said."""
    found = [m for m in RANGED.finditer(request.args or "") if m["dots"] != "-" or ARRAYED.search(text)]
    axes = tuple(ArrayAxis(m["name"], tuple(map(str, range(int(m["low"]), int(m["high"]) + 1)))) for m in found)
    for loop in LOOPED.finditer(text):  # `--data D for D in a, b, c`
        given = re.search(rf"(?<!\S)(--?[A-Za-z][\w-]*)[= ]{re.escape(loop['name'])}(?!\S)", request.args or "")
        if given:
            found.append(given)
            axes = (*axes, ArrayAxis(given[1], tuple(re.split(r",\s*(?:and\s+)?|\s+and\s+", loop["values"]))))
    if (
        not axes
        or any(not 2 <= len(axis.values) <= MOST_TASKS for axis in axes)
        or (request.array and request.array.axes)
    ):
        return request
    args = request.args or ""
    for one in sorted(found, key=lambda match: match.start(), reverse=True):
        args = args[: one.start()] + args[one.end() :]
    held = request.array or JobArray()
    return replace(request, args=" ".join(args.split()) or None, array=replace(held, axes=axes, count=None))


def without_axes(request: JobRequest) -> JobRequest:
    """Stand-ins (`--lr LR`) for what an array gives each task: the program gets the values alone."""
    args = request.args or ""
    for axis in request.array.axes if request.array else ():
        args = re.sub(rf"(?<!\S){re.escape(axis.option)}[= ][\"']?{STANDS_IN}[\"']?(?!\S)", "", args)
    kept = " ".join(args.split()) or None
    return replace(request, args=kept) if kept != request.args and args != request.args else request


def open_words(
    words: str,
    request: JobRequest,
    wishes: RequestEdits,
    commands: Sequence[SpokenCommand],
    spoken: Sequence[tuple[int, int]],
    asked: str | None,
    before: JobRequest | None,
) -> tuple[str, ...]:
    """What the account of the message leaves open; files that only a launcher was given are named with it."""
    if asked is not None and len(words.split()) <= FEW_WORDS:
        return ()
    stands = before is not None and before != JobRequest()
    started = {request.entry, *(one.entry for one in request.then), *request.before}
    idle = [one.name for one in commands if not {one.entry, shell_line(one)} & started]
    dropped = [
        f"{one.dropped[i - 1]} {word}" for one in commands for i, word in enumerate(one.dropped) if FILE.search(word)
    ]
    edits = [span for edit in wishes.edits for span in places(words, edit.words)]
    heard = [span for one in request.heard for span in places(words, one.words)]
    return (
        *idle,
        *dropped,
        *unplaced(words, request, [*edits, *heard, *spoken], before=before, changes=is_change if stands else None),
    )


def asks_for_sure(text: str) -> bool:
    """Whether the trained reader has no doubt that a text is a question of our field."""
    if len(text) > LONGEST_QUESTION:
        return False
    clause = read_as_one(text, ThreadView())
    return clause.act == "ask" and clause.share("ask") >= SURE


def with_edits(turn: DialogueInput, wishes: RequestEdits) -> tuple[Intent, JobRequest]:
    """Intent and request with what was read beside sizes and names."""
    stands = turn.before is not None and turn.before != JobRequest()
    intent, read = reply(replace(turn, text=wishes.rest))
    if not stands and intent not in ("generate", "port"):
        intent, read = reply(turn)
        return intent, apply_edits(read, wishes.edits).request if intent != "smalltalk" else read
    if stands and turn.before and wishes.is_all:
        read = turn.before
    elif stands and intent == "diagnose":
        return reply(turn)
    changed = apply_edits(read, [edit for edit in wishes.edits if not is_said_anew(edit, turn.before, read)]).request
    if changed.strategy in ("tp", "pp") and min(changed.tensor_parallel or 1, changed.pipeline_parallel or 1) > 1:
        changed = replace(changed, strategy="3d")
    return "port" if changed.source_machine else "generate", changed


def is_said_anew(edit: Edit, before: JobRequest | None, read: JobRequest) -> bool:
    """Whether a field is taken back and given anew in one message: `drop the project, use ab123`."""
    if not isinstance(edit, Remove) or edit.value is not None:
        return False
    held = getattr(read, edit.field, None)
    return held is not None and held != getattr(before, edit.field, None)


def own_options(words: str, spoken: Sequence[tuple[int, int]], request: JobRequest) -> list[Add]:
    """Options of the program that stand apart from it in a first message: `train.py, 12 h, --seq 4096`."""
    flags = [(one.start, one.end) for one in find_flags(words, prose=True)]
    edits, _ = find_argument_edits(without(words, [*spoken, *flags]), request)
    given = (request.args or "").replace("=", " ").split()
    added = [one for one in edits if isinstance(one, Add) and one.value.kind != "remove"]
    return [one for one in added if one.value.name.startswith("--") and one.value.name not in given]


def with_main_first(request: JobRequest) -> JobRequest:
    """`prep.py, then train.py on 16 nodes`: what trains is the job, what stands before it a step of it."""
    at = next((i for i, one in enumerate(request.then) if TRAINS.search(one.entry)), None)
    if at is None or request.entry is None or TRAINS.search(request.entry.rsplit("/", 1)[-1]):
        return request
    main, first = request.then[at], (request.entry, *(one.entry for one in request.then[:at]))
    steps = tuple(f"python {name}" if name.endswith(".py") else name for name in first)
    return replace(
        request,
        entry=main.entry,
        args=main.args,
        nodes=main.nodes or request.nodes,
        walltime=main.walltime or request.walltime,
        before=(*request.before, *steps),
        then=request.then[at + 1 :],
    )


def without_commands(text: str, commands: Sequence[SpokenCommand]) -> tuple[str, list[tuple[int, int]]]:
    """The text with each command as its launcher and program alone, where the reader of names finds them.

    And where these stand in it.
    """
    out, at = [], 0
    spans: list[tuple[int, int]] = []
    for one in commands:
        words = text[one.start : one.entry_at].split()
        launcher = " ".join(word for word in words if not ASSIGNED.match(word))
        own = one.entry.startswith(("-m ", "vllm ")) or one.name.endswith(".py")
        name = one.name.removeprefix("vllm serve ") if own else STAND_IN
        ticked = text[: one.start].endswith("`") and text[one.end :].startswith("`")
        out.append(text[at : one.start - ticked])
        start = sum(map(len, out))
        telling = " ".join(match[0] for match in TELLING.finditer(one.args))
        out.append(" ".join(filter(None, (launcher, name, telling))))
        spans.append((start, start + len(out[-1])))
        at = one.end + ticked
    return "".join([*out, text[at:]]), spans


def with_commands(request: JobRequest, commands: Sequence[SpokenCommand], before: JobRequest | None) -> JobRequest:
    """The request with the commands' programs, arguments and variables; one trains, the others run before or after."""
    was = before.entry if before else None
    named = [one for one in commands if request.entry in (one.name, one.entry, STAND_IN, was, None)]
    main = choose_main(commands if len(commands) > 1 and named and request.entry != was else named)
    if main is None:
        return request
    at = commands.index(main)
    others = [*commands[:at], *commands[at + 1 :]]
    if any(one.launched for one in others) and main.launched:
        others = []  # two trainings are two jobs: the one that is left out is named
    first = tuple(shell_line(one) for one in others if commands.index(one) < at)
    then = tuple(Program(one.entry, one.args or None) for one in others if commands.index(one) > at)
    kept = tuple(v for v in request.variables if v.name not in {new.name for new in main.variables})
    changes: dict[str, Any] = {"entry": main.entry, "args": main.args or (request.args if was == main.entry else None)}
    changes |= {"variables": (*kept, *main.variables)} if main.variables else {}
    changes |= {"before": (*request.before, *first)} if first else {}
    changes |= {"then": (*request.then, *then)} if then else {}
    heard = tuple(one for one in request.heard if one.field not in ("entry", "args"))
    heard += (Heard("entry", "said", main.name), *((Heard("args", "said", main.args),) if main.args else ()))
    return replace(request, **changes, heard=heard)


def shell_line(one: SpokenCommand) -> str:
    """A step before the training, as a shell runs it."""
    python = "python " if one.entry.endswith(".py") or one.entry.startswith("-m ") else ""
    return f"{python}{one.entry} {one.args}".strip()


def is_not_ours(text: str) -> bool:
    """Whether a message is an order to the assistant itself, or about something that is not done here."""
    return any(has(group, fold(text)) for group in ("orders", "off_topic", "other_work"))


def is_order(text: str) -> bool:
    """Whether a message orders an act that is not done here: to submit, to cancel, to delete."""
    return has("orders", fold(text))


def is_about_us(text: str) -> bool:
    """Whether a message asks what the assistant is or does."""
    return any(has(group, fold(text)) for group in ("about_you", "about_service")) and not machines_in(text)


# What a training's program uses: no part of a script of ours.
USES_SERVER = re.compile(rf"(?i)\b(?:use|using|with)\s+(?:{'|'.join(SERVERS)})\b[^,.;\n]*")
# `serve my checkpoint /work/me/run-7`.
SERVED_FOLDER = re.compile(
    r"(?i)\bserv(?:e|es|ing)\b[^.;\n]{0,40}?(?P<path>(?:~|\$\w+)?/[\w./${}~-]*\w)(?<!\.py)(?<!\.sh)"
)


def with_served_folder(request: JobRequest, text: str) -> JobRequest:
    """The request with the folder of weights that a server is to serve, where no model is named."""
    server = next((one for one in SERVERS if one == request.framework), None)
    found = SERVED_FOLDER.search(text) if server and request.entry is None and not request.model else None
    if found is None:
        return request
    heard = (*request.heard, Heard("entry", "said", found["path"]))
    return replace(request, entry=f"{server} serve {found['path']}", heard=heard)


def with_whole_name(request: JobRequest, text: str) -> JobRequest:
    """The served model's name as it is written: `gemma-2-27b` of `google/gemma-2-27b-it` is another model."""
    started = SERVED_ENTRY.fullmatch(request.entry or "")
    name = started["model"] if started else ""
    whole = re.search(rf"(?<![\w/.-])(?:[\w-]+/)?{re.escape(name)}[\w.-]*(?<![.-])(?!/)", text, re.I)
    if started is None or "/" in name or whole is None or whole[0] == name:
        return request
    return replace(request, entry=f"{started['engine']} serve {whole[0]}")


def with_clients(request: JobRequest, text: str, commands: Sequence[SpokenCommand]) -> JobRequest:
    """The request with the Python programs that are named beside a model that is served: they ask the server, in the
    order in which they are named."""
    request = with_whole_name(request, text)
    there = {word for one in (*request.then, *request.beside) for word in one.entry.split()} | set(request.stage_in)
    there |= set((request.entry or "").split())
    told = [Program(one.entry, one.args or None) for one in commands if server_of(one.entry) is None]
    there |= {word for one in told for word in one.entry.split()}
    named = dict.fromkeys(m.value for _, m in reading.read(text, JobRequest()).line.mentions("entry"))
    kept = [one for one in request.then if one.entry not in {other.entry for other in told}]
    every = [*kept, *told, *(Program(name) for name in named if name not in there)]
    return replace(request, then=tuple(sorted(every, key=lambda one: text.find(one.entry.split()[-1]))))


STARTING = re.compile(r"(?i)\b(?:and|then|after(?:wards)?|that|run|start|launch|python3?|against|it|the|server)\b|\W")


def only_starts(piece: str, program: Program) -> bool:
    """Whether words left over say no more than that this program is run."""
    told = f"{program.entry} {program.args or ''}".strip()
    return told in piece and not STARTING.sub("", piece.replace(told, ""))


# `run lm_eval against the server`: what is run there.
ASKS_IT = re.compile(r"(?i)\b(?:run|start|launch|use)\s+(?P<what>[\w./-]*\w)\b[^.;\n]{0,40}?\bagainst\b")


def unknown_clients(request: JobRequest, text: str) -> tuple[str, ...]:
    """What is to be run against the server and no program of the request does."""
    there = {one.entry.split()[-1] for one in (*request.then, *request.beside)}
    return tuple(found[0] for found in ASKS_IT.finditer(text) if found["what"] not in there and not there)


def machines_in(text: str) -> tuple[str, ...]:
    """The machines that a message names, in its order."""
    line = reading.read(text, JobRequest()).line
    return tuple(dict.fromkeys(m.value for _, m in choose.meant(line, "machine")))


def missing(request: JobRequest) -> tuple[str, ...]:
    """The fields that a careful assistant still asks for, most telling first."""
    return tuple(name for name in ASKED_FOR if getattr(request, name) is None)
