"""The tagger's wishes as edits, the words that they take from the text, and sizes on which the rules are asked first.

Where the tagger is sure of a span, and its words have a value, the span and what leads to it belong to that slot: no
other reader sees them: a warning five minutes before the end is no walltime, whatever a pattern says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from graph.extraction.sentences.intents import is_question, sentences
from graph.reading.edits import Add, Edit, Remove, Scale, Set, apply_edits
from graph.reading.scope import stretch_at
from graph.reading.wishes.tagger import Span, Wishes, read_wishes
from graph.reading.wishes.values import ENVIRONMENTS, OWN_OPTIONS, SIGNAL, SURELY_SIGNAL, Meant, edits_of
from knowledge.masking_table import HIDDEN
from knowledge.types import JobRequest
from knowledge.word_lists import word_set

POLITE = 0.97  # from which a question is an order that is put politely: `can the log go to ..?`
INQUIRES = re.compile(
    r"\W*(?:what|why|how|which|who|where|when|is|are|does|do|did|will|should|wie|was|warum|welche\w*|wo|wann|pourquoi"
    r"|comment|quel\w*|est-ce|qu\S+|c[oó]mo|por qu\S+|cu[aá]l\w*|come|perch\S+|quale)\b",
    re.I,
)
LONGEST, MOST_LINES = 1500, 12  # a longer text is no wish but a paste
SURE = 0.75  # from which a span is taken, times how sure the order is: of unseen lines 9 of 10 such are right
ORDERS = 0.5  # probability that the whole orders something
# Slots that the rules read as well or better on lines that the tagger had not seen, or as parts of each other.
LEFT_TO_RULES = word_set(
    "nodes gpus_per_node total_gpus machine source_machine framework strategy model entry args node_type "
    "launcher tp pp cp seq_len port least_nodes array_count make_folder"
)
# Sizes and names that the tagger completes where the rules read none.
COMPLETED = frozenset(("walltime", "queue", "account"))
SURE_OF_SIZE = 0.85
# Of a first request: what the rules read from words around it, what an edit of another kind says, and what only a
# surer tag tells. All else may be completed by a tag that is likelier than not: nobody else saw it.
LIKELY, LIKELY_LAUNCHER = 0.5, 0.9
NOT_COMPLETED = word_set(
    "machine source_machine framework strategy nodes gpus_per_node total_gpus entry args arg node_type model seq_len "
    "precision port make_folder"
)
# Lists of plain names, of which the rules may read only some.
LISTS = frozenset(("modules", "binds", "source_files", "exclude_nodes", "nodelist"))
# Slots of one plain value, where the tagger goes before a pattern; elsewhere what patterns read is richer than a span.
FIRST = word_set("job_name memory cpus tasks_per_node reservation constraint spare_nodes")
# What runs beside or behind the program, and the value of an option that it ends in.
COMMANDS, OPTION_LAST = frozenset(("then", "beside", "after", "before")), re.compile(r"(?<!\S)--?[A-Za-z][\w-]*$")
LISTED = re.compile(r"\s*(?:,|\+|&|,?\s(?:and|und|et|y|e|en|i))\s*", re.I)
MEMBER = re.compile(r"\s*[,+]\s*(?P<name>[A-Za-z][\w+./-]*)\s*[,+]\s*")
CHANGES_FOLDER = re.compile(r"(?<!\S)cd (?:to |into )?$")
VALUE_BEHIND = re.compile(
    r" (?![-(]|(?:has|have|must|needs?|should|is|are|goes|runs?|at|as|to|in|on|before|after|when|first|and|then)\b)"
    r"[^\s,;]*[^\s,;.:!?)]"
)
PIECE = re.compile(r"[,;]\s+|(?<=[^\d\s])[.!?]\s+|\n|\s(?:and|und|et|y|e|then|plus|but)\s", re.I)
# Values that stand where another's name led to them.
LED = {"sweep_value": "sweep_name", "arg_value": "arg_name", "var_value": "var_name", "module_version": "module"}


OF_A_SCHEDULER = re.compile(r"-[A-Za-z]\b(?!-)")  # options of one letter are rather a scheduler's: the rules know them
# What a program writes is no log: `outputs go to /scratch/runs, pass it as --out`.
RESULTS = re.compile(r"\b(?:outputs|results|checkpoints|weights|models)\b[^.,;\n]{0,40}$", re.I)
# `80gb cards`: memory that a card has, and none that the job asks for.
OF_A_CARD = re.compile(r"[\s-]*(?:vram\b|hbm\b|gpus?\b|cards?\b|ones\b|versions?\b|[avhl]\d{2,3}s?\b|mi\d{3})", re.I)

CAPITAL_SIGNAL = re.compile(r"\b(?:SIG)?(?:USR1|USR2|TERM|INT|HUP|CONT)\b")
# A number that is added to what stands: `2 nodes more`.
COUNTED = word_set("nodes gpus_per_node cpus walltime memory")
MORE = re.compile(
    r"(?i)\s*(?:(?!(?:and|or|und|oder|et|ou|y|e|o)\b)\w+\s+)?"
    r"(?:more|mehr|longer|l[äa]nger|de plus|en plus|m[áa]s|in pi[ùu]|a mais|extra)\b"
    r"(?=\s*(?:$|[,.;!?)]|please\b|bitte\b))"
)
# What is copied when all is done is nothing that is brought ahead of it, nor is the place that it goes to.
AT_THE_END = re.compile(
    r"(?i)\b(?:after|at the end|at finish|when (?:it|all|that) \w+|back|am ende|danach|nachher|zur[üu]ck|[àa] la fin"
    r"|apr[èe]s|al final|despu[ée]s|alla fine|dopo|no fim|depois)\b"
)
# A folder of models or data, and no environment; a launcher that is given up.
OF_A_CACHE = re.compile(r"(?i)\b(?:cache|hf_home|hub|hugging ?face|wandb)\b")
DENIED = re.compile(
    r"(?i)(?:\b(?:not|no|without|instead of|rather than|replacing|nicht|kein\w*|statt|ohne|pas|plus|sans|au lieu de"
    r"|sin|en vez de|non|invece di|senza|n[ãa]o|sem|em vez de|niet|geen|nie)\s+|不用\s*)$"
)
SUBSTITUTED = re.compile(r"\$\([^)]*$")  # inside of `$(...)`
TO = re.compile(r"(?i)\b(?:to|nach|vers|a|para|su|in|into)\s+$")
# A port of what only looks on is none of the job's.
OF_A_VIEWER = re.compile(r"(?i)tensorboard|jupyter|dashboard|notebook")


def is_late(text: str, span: Span, start: int, end: int) -> bool:
    """Whether a path is copied when all is done, or is where another one goes to."""
    target = TO.search(text, start, span.start) and "/" in text[start : span.start]
    return bool(AT_THE_END.search(text, start, end) or target)


def is_bracketed(text: str, span: Span) -> bool:
    """Whether a span is a part of a list of hosts: `gpu[001-004]`."""
    return text[span.end : span.end + 1] == "[" or re.search(r"\w\[$", text[: span.start]) is not None


# Slot -> whether a span of it (the text, the span, and from where to where its piece goes) is another thing by what
# stands beside it.
ANOTHER_THING: Mapping[str, Callable[[str, Span, int, int], object]] = {
    "memory": lambda text, span, start, end: OF_A_CARD.match(text, span.end),
    "output": lambda text, span, start, end: RESULTS.search(text, 0, span.start),
    "arg": lambda text, span, start, end: OF_A_SCHEDULER.match(text, span.start),
    "port": lambda text, span, start, end: OF_A_VIEWER.search(text, start, end),
    "stage_in": is_late,
    "chain": lambda text, span, start, end: re.match(r"(?i) (?:again|nochmal|wieder)\b", text[span.end :]),
    "launcher": lambda text, span, start, end: DENIED.search(text, start, span.start),
    "queue": lambda text, span, start, end: is_bracketed(text, span) or re.search(r"\d\s*$", text[: span.start]),
    "array": lambda text, span, start, end: is_bracketed(text, span),
    **dict.fromkeys(ENVIRONMENTS, lambda text, span, start, end: OF_A_CACHE.search(text, start, end)),
    **dict.fromkeys(COMMANDS, lambda text, span, start, end: SUBSTITUTED.search(text, start, span.start)),
}


@dataclass(frozen=True, slots=True)
class TakenWishes:
    """edits in the order of the text; rest: the text with their words blanked; sizes: edits that only complete the
    rules' reading."""

    edits: tuple[Edit, ...]
    rest: str
    sizes: tuple[Edit, ...] = ()


def orders_of(text: str, stands: bool, least: float = ORDERS) -> Wishes | None:
    """What the tagger reads of a text that orders something; None of a paste, a question and a remark.

    stands: whether there is a job that it may change; least: how sure the tagger must be that it is an order.
    """
    if len(text) > LONGEST or text.count("\n") > MOST_LINES or not text.strip():
        return None
    wishes = read_wishes(text, ("stands",) if stands else ("first",))
    return wishes if wishes.kind == "do" and wishes.sure >= least else None


def take_wishes(text: str, before: JobRequest | None, ruled: Callable[[], Collection[str]] = frozenset) -> TakenWishes:
    """What the tagger is sure of in a message.

    before: the job so far; ruled: the fields that the rules read something for, asked where it matters.
    """
    wishes = orders_of(text, before not in (None, JobRequest()))
    if wishes is None:
        return TakenWishes((), text)
    meant = meant_wishes(text, wishes, meant_spans(text, wishes), before or JobRequest())
    sizes = tuple(e for one in meant for e in one.edits if one.span.slot in COMPLETED and not isinstance(e, Remove))
    taken = [one for one in meant if one.edits and one.span.slot not in LEFT_TO_RULES | COMPLETED]
    if any(one.span.slot not in FIRST for one in taken):
        known = frozenset(ruled())
        taken = [one for one in taken if one.span.slot in FIRST or known.isdisjoint(fields_of(one.edits))]
    edits = tuple(edit for one in taken for edit in one.edits)
    return TakenWishes(edits, blanked(text, wishes.spans, taken) if taken else text, sizes)


def meant_wishes(text: str, wishes: Wishes, spans: Sequence[Span], before: JobRequest) -> list[Meant]:
    """The spans with what belongs to each: arguments to a command, a list's members, an environment's folder."""
    spans = [with_signal(text, span) if span.slot == "signal" else span for span in spans]
    whole = with_members(text, with_whole_environment(with_arguments(text, spans, wishes.spans)))
    return with_targets(text, edits_of([whole_command(text, span) for span in whole], before))


def with_arguments(text: str, spans: Sequence[Span], tagged: Sequence[Span]) -> list[Span]:
    """Further commands with the arguments right behind each, however sure these are by themselves."""
    out = list[Span]()
    for span in spans:
        if out and span.start < out[-1].end:
            continue
        for one in tagged if span.slot in COMMANDS else ():
            if one.slot in ("arg", "args") and one.start >= span.end and not text[span.end : one.start].strip():
                span = replace(span, end=one.end, text=text[span.start : one.end])
        out.append(span)
    return out


def with_signal(text: str, span: Span) -> Span:
    """A lead time with the signal's name, which stands in its piece: `SIGUSR2 to the ranks ten minutes before`."""
    start, end = next(((a, b) for a, b in pieces(text) if a <= span.start < b), (0, len(text)))
    named = SURELY_SIGNAL.search(text, start, span.start) or CAPITAL_SIGNAL.search(text, start, end)
    return replace(span, text=f"{named[0]} {span.text}") if named and not SIGNAL.search(span.text) else span


def with_members(text: str, spans: Sequence[Span]) -> list[Span]:
    """A list of modules with the name between two of them that no tag holds."""
    out = list[Span]()
    for span in spans:
        last = out[-1] if out else None
        if last and last.slot == span.slot == "module":
            between = MEMBER.fullmatch(text[last.end : span.start])
            if between:
                start = last.end + between.start("name")
                out.append(replace(span, start=start, end=start + len(between["name"]), text=between["name"]))
        out.append(span)
    return out


def further_edits(text: str, before: JobRequest | None = None) -> tuple[Edit, ...]:
    """What the tagger reads of an order, for what no rule reads."""
    stands = before not in (None, JobRequest())
    wishes = orders_of(text, stands, SURE if stands else ORDERS)
    if wishes is None:
        return ()
    meant = meant_wishes(text, wishes, meant_spans(text, wishes, least_of), before or JobRequest())
    left = NOT_COMPLETED | (frozenset((*OWN_OPTIONS, "framework_config")) if stands else frozenset())
    edits = [edit for one in meant if one.span.slot not in left for edit in one.edits]
    edits = [edit for edit in edits if not isinstance(edit, Add) or edit.field != "modules_removed"]
    seen = stands or any(isinstance(edit, Set) and edit.field == "container" for edit in edits)
    return tuple(edit for edit in edits if seen or not isinstance(edit, Add) or edit.field != "binds")


def least_of(slot: str) -> float:
    """How sure a tag must be to complete what the rules read."""
    if slot in COMPLETED:
        return SURE_OF_SIZE
    return {"launcher": LIKELY_LAUNCHER, "memory": SURE}.get(slot, LIKELY)


def with_whole_environment(spans: Sequence[Span]) -> list[Span]:
    """The spans with a conda environment and the folder that it lies in as one: `env asr in ~/miniforge3`."""
    out = list[Span]()
    for span in spans:
        last = out[-1] if out else None
        if last and (last.slot, span.slot) == ("conda", "venv") and "/" in span.text and "/" not in last.text:
            inside = span.text.rstrip("/")
            path = inside if inside.rsplit("/", 1)[-1] == last.text else f"{inside}/envs/{last.text}"
            out[-1] = replace(last, end=span.end, text=path)
        else:
            out.append(span)
    return out


def whole_command(text: str, span: Span) -> Span:
    """A span of a command that ends in an option, with the value behind it."""
    if span.slot == "arg" and (at := text.find(HIDDEN, span.start)) >= 0 and not text[span.end : at].strip(" ="):
        return replace(span, end=at + len(HIDDEN), text=text[span.start : at + len(HIDDEN)])
    if span.slot == "before" and (cd := CHANGES_FOLDER.search(text, 0, span.start)):
        span = replace(span, start=cd.start(), text=text[cd.start() : span.end])
    value = VALUE_BEHIND.match(text, span.end) if span.slot in COMMANDS and OPTION_LAST.search(span.text) else None
    return replace(span, end=value.end(), text=text[span.start : value.end()]) if value else span


def fields_of(edits: Iterable[Edit]) -> frozenset[str]:
    """The fields that edits change."""
    return frozenset(edit.field for edit in edits if isinstance(edit, Set | Add | Remove | Scale))


def least_of_all(slot: str) -> float:
    """How sure a tag must be to go before the rules."""
    return SURE_OF_SIZE if slot in COMPLETED else SURE


def as_sure_as_their_list(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans, members of one list (`gpu04 and gpu17`) as sure as the surest of them."""
    out = list[Span]()
    for span in spans:
        last = out[-1] if out else None
        if last and (last.slot, last.sign) == (span.slot, span.sign) and LISTED.fullmatch(text[last.end : span.start]):
            sure = max(last.sure, span.sure)
            out[-1], span = replace(last, sure=sure), replace(span, sure=sure)
        out.append(span)
    return out


def meant_spans(text: str, wishes: Wishes, least: Callable[[str], float] = least_of_all) -> list[Span]:
    """The spans that are sure enough, outside of what is asked, told of others, of the past, or only supposed."""
    out = []
    polite = wishes.kind == "do" and wishes.sure >= POLITE and not INQUIRES.match(text)
    asked = [(a, b) for a, b in sentences(text) if is_question(text[a:b]) and not polite]
    for span in as_sure_as_their_list(text, wishes.spans):
        inside = stretch_at(text, span.start)
        # What is denied is taken away or left alone, never set.
        gone = span.sign == "-" or span.slot == "exclude"  # `don't run on gpu014`
        meant = inside is None or (inside.scope == "negated" and not inside.keeps and gone)
        meant = meant and not any(start <= span.start < end for start, end in asked)
        start, end = next(((a, b) for a, b in pieces(text) if a <= span.start < b), (0, len(text)))
        another = ANOTHER_THING.get(span.slot)
        meant = meant and not (another and another(text, span, start, end))
        if not span.sign and span.slot in COUNTED and MORE.match(text, span.end):
            span = replace(span, sign="+")
        if meant and span.sure * wishes.sure >= least(span.slot):
            out.append(span)
    return out


# Between a folder and its place in a container: `mounted at`, `->`; no comma and no `and`, which list several folders.
SEEN_AT = re.compile(
    r"(?!.*(?:[,;\n]|\b(?:and|und|et|plus|or)\b)).*(?:->|=>|→|:|\b(?:at|as|to|under|into|in|on|als|nach|en|sous|come)\b)",
    re.I,
)
LONGEST_BETWEEN = 40


def with_targets(text: str, meant: Sequence[Meant]) -> list[Meant]:
    """The values with a folder and the place at which a container sees it as the one bind that they are."""
    out = list[Meant]()
    for one in meant:
        last = out[-1] if out else None
        if last and last.span.slot == one.span.slot == "bind" and is_target(text, last, one):
            words = text[last.span.start : one.span.end]
            bind = ":".join(str(edit.value) for edit in (*last.edits, *one.edits) if isinstance(edit, Add))
            span = replace(last.span, end=one.span.end, text=words)
            out[-1] = Meant(span, (Add("binds", bind, words),))
        else:
            out.append(one)
    return out


def is_target(text: str, folder: Meant, place: Meant) -> bool:
    """Whether the second of two binds is where the first one is seen."""
    added = [edit for edit in (*folder.edits, *place.edits) if isinstance(edit, Add)]
    between = text[folder.span.end : place.span.start]
    plain = len(added) == len(folder.edits) + len(place.edits) == 2 and not any(":" in str(one.value) for one in added)
    return plain and len(between) <= LONGEST_BETWEEN and SEEN_AT.match(between) is not None


def blanked(text: str, spans: Sequence[Span], taken: Sequence[Meant]) -> str:
    """The text without the words of the spans that are taken, what leads to each, and what ends its piece."""
    own = {one.span.start for one in taken}
    own |= {span.start for span in spans if any(one.span.start < span.start < one.span.end for one in taken)}
    own |= {span.start for span in spans if LED.get(span.slot) in {one.span.slot for one in taken}}
    letters = list(text)
    for start, end in pieces(text):
        inside = [span for span in spans if start <= span.start < end]
        at = start
        for i, span in enumerate(inside):
            last = i + 1 == len(inside)
            stop = end if last and span.end <= end else span.end
            if span.start in own:
                letters[at:stop] = " " * (stop - at)
            at = stop
    return "".join(letters)


def pieces(text: str) -> list[tuple[int, int]]:
    """Start and end of each piece between stops and joining words."""
    out, at = list[tuple[int, int]](), 0
    for stop in PIECE.finditer(text):
        out.append((at, stop.start()))
        at = stop.end()
    return [*out, (at, len(text))]


def is_new(value: object, held: Iterable[object]) -> bool:
    """Whether no member of a list holds a name, by itself or as a part."""
    return not any(str(value) in str(one) for one in held)


def is_the_job(value: object, request: JobRequest) -> bool:
    """Whether a further program or step is the start of the job's own program again."""
    if not isinstance(value, str):
        return getattr(value, "entry", "") == (request.entry or "")
    said = re.sub(r"^python[\d.]*\s+", "", value)
    return bool(request.entry and f"{request.entry} {request.args or ''}".startswith(said) and request.entry in said)


def completed(request: JobRequest, before: JobRequest | None, edits: Sequence[Edit]) -> JobRequest:
    """The rules' request with the edits to fields that they left as they were."""
    was, untouched = before or JobRequest(), request
    for edit in edits:
        if not isinstance(edit, Set | Scale | Add | Remove) or edit.field in ("heard", "argument_edits"):
            continue
        if is_the_job(getattr(edit, "value", None), request):
            continue  # the program itself, and none beside it
        held, here = getattr(untouched, edit.field), getattr(was, edit.field)
        if held == here or (isinstance(edit, Add) and edit.field in LISTS and is_new(edit.value, held)):
            request = apply_edits(request, (edit,)).request
    return request
