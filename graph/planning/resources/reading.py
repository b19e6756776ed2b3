"""What a message asks of resources, out of its mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import cast

from graph.planning.resources.pace import read_pace
from graph.planning.resources.parameters import find_model, read_layers, read_size
from graph.planning.resources.saves_said import read_saves
from graph.reading.gpu_words import NODE, GpuWords, count_nodes, find_gpu_words
from graph.reading.scope import denied
from graph.reading.training_words import every_training_word, find_training_words
from graph.reading.utterance import Mention, Utterance
from knowledge.catalogue import catalogue
from knowledge.data_file import read_data
from knowledge.gpu_facts import gpu_table
from knowledge.model_shapes import find_shape, model_shapes
from knowledge.resource_question import Aim, ResourceQuestion

# "takes 70GB", "needs 62 GB", "used 38 GiB": seen, not a card's size.
SEEN = re.compile(
    r"(?i)(?<!\bi )(?<!\bwe )"
    r"\b(?:oom\w*|out of memory|takes?|needs?|uses?|used|using|eats|peaks? at|allocat\w+|requires?)\b[^.;?]{0,20}$"
)
# "the 80 GB ones", "40 GB nodes": a card's size.
A_CARD = re.compile(r"(?i)\s*(?:ones?|nodes?|cards?|gpus?|version|variant|partition)\b")
# Images of data sets that are named without their size.
DATA_SETS = ((re.compile(r"(?i)\bimage-?net-?21k\b"), 14_197_122), (re.compile(r"(?i)\bimage-?net\b"), 1_281_167))
# `scaling efficiency is about 70% from 4 to 16`: what more GPUs keep of the ideal.
KEPT = re.compile(
    r"(?i)\b(?:scal\w+|efficien\w+|effizien\w+|efficacit\w+)[^.?%]{0,20}?\b(\d{2})\s?%(?: from \d+ to \d+)?"
    r"|\b(\d{2})\s?%\s*(?:parallel |scaling )?(?:efficien\w+|effizien\w+|scaling)"
)
# `4x80GB`: GPUs by their memory alone.
CARDS = re.compile(r"(?i)(?<![\w.,])(\d{1,2})\s?[x\u00d7]\s?(\d{2,3})\s?GB?\b(?!\s*(?:nodes?|of))")
NODES = re.compile(rf"(?i)\b{NODE}\b")
STRATEGIES = ("ddp", "zero1", "zero2", "zero3", "fsdp", "tp", "pp", "3d")
DEGREE = re.compile(
    r"(?i)\b(tp|pp)\s?[=:]?\s?(\d{1,3})\b|\b(tensor|pipeline)(?:[- ]parallel\w*)?\s?(?:of|=|:)?\s?(\d{1,3})\b"
)
# Fewer tokens than this are the length of a sequence: nobody trains on so few.
FEW_TOKENS = 1_000_000
LENGTHS = frozenset(1 << power for power in range(9, 21))
LENGTH = re.compile(r"(?i)(?<![\w.$-])(?P<k>\d{1,4})\s?k(?![\w-])|(?<![\w.$-])(?P<n>\d{3,7})(?![\w.,-]*\w)")
# A batch above it, over several GPUs, is that of all of them together.
LARGE_BATCH = 64
SIZED = re.compile(r"(?<![\w.])(\d{2,4})\s?M(?![\w/])(?!\s*(?:d[ei] |an )?(?:tokens?|images?|samples?))")
# A Hugging Face configuration in the message.
CONFIG = re.compile(r"\{[^{}]*\"num_hidden_layers\"[^{}]*\}")
# A speed told without its unit: `I get 5,700 per gpu`, where tokens a second are spoken of.
OF_SPEED = re.compile(r"(?i)\btokens?\s*(?:/|per|a)\s*s|\bthroughput\b|\btok/s")
BARE_SPEED = re.compile(r"(?i)(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d{2,6})\s*(?=(?:per|a|each|/)\s*(?:gpu|device|card|gcd))")
PER_JOB = re.compile(r"(?i)\bjobs\b")
EACH_OF_NODES = re.compile(rf"(?i)^\s*(?:per|an?|each|/|pro|je|par|por)\s*{NODE}\b")
EACH_GPU = re.compile(r"(?i)^\s*(?:per|a|each|/)\s*(?:gpu|device|card|gcd)")
TIMES = (
    ("twice", 2.0),
    ("double", 2.0),
    ("half", 0.5),
    ("halve", 0.5),
    ("halving", 0.5),
    ("three times", 3.0),
    ("four times", 4.0),
)
SCALED = re.compile(
    rf"(?i)\b({'|'.join(word for word, _ in TIMES)})\b[^.?]{{0,16}}"
    r"\b(nodes?|gpus?|tokens?|hours?|batch|sequence|context|steps?|epochs?)\b(?: (?:size|length)\b)?"
)
AMOUNTS = {"epoch": "epochs", "global_batch": "global_batch", "micro_batch": "micro_batch", "node_hour": "node_hours",
           "gpu_hour": "gpu_hours", "user": "users", "sample": "samples", "sequence": "sequence",
           "step": "steps", "second": "save_s"}  # fmt: skip
# `Batches of 4M tokens`, `4M tokens a step`; `512 sequences` of a step are its batch.
OF_BATCH = re.compile(r"(?i)\b(?:batch\w*|steps?|iterations?)(?: size)?(?: (?:of|with))?\s*$")
BATCH_BEHIND = re.compile(
    r"(?i)^\s*(?:(?:(?:per|an?|each|/|in (?:a|each|one))\s*)?(?:global[- ]?)?batch"
    r"|(?:per|an?|each|/)\s*(?:step|update|iteration))\b"
)
STEPS_OF = re.compile(
    r"(?i)\b(?:batch\w*|steps?|iterations?)(?: size)? (?:of|with)\s+(\d[\d,]*)\s*(?:sequences?|samples?|images?)\b"
)
# `64 of them`, `auf 64 davon`: of the GPUs or nodes that are spoken of.
OF_THEM = re.compile(
    r"(?i)(?<![\w.,/:-])(\d{1,5})\s+"
    r"(?:of (?:them|those|these)|davon|von ihnen|d'entre (?:eux|elles)|de (?:ellos|ellas))\b"
)
ACCUMULATION = re.compile(
    r"(?i)\baccumul\w*(?:[ _-]steps?)?\s*(?:of|=|:|is)?\s*(\d{1,4})\b"
    r"|\b(\d{1,4})\s+(?:gradient[ -])?accumul\w*(?:\s+steps?)?"
)
# A number alone in what goes on from a question: `and 512?`, `4 of them`.
BARE = re.compile(r"(?<![\w.,/:-])(\d{1,5})(?![\w.,:]*\w)(?!\s*(?:%|-|s\b|sec))", re.A)
OF_HOST = re.compile(r"(?i)\s*(?:of )?(?:host|cpu|main|system|node)?[ -]?(?:memory|ram)\b")
# `1T with 32B active`, `235B-A22B`: a mixture of experts.
ACTIVE = re.compile(
    r"(?i)\b(\d+(?:[.,]\d+)?)\s?b\w*(?: parameters?)? (?:active|activated|aktiv\w*|actifs|activos)\b"
    r"|(?<=\d[bB]-)A(\d+(?:\.\d+)?)B\b"
)
# A store's room, and no card's memory; no card is larger.
OF_DISK = re.compile(
    r"(?i)\b(?:quotas?|disk|storage|scratch|file ?system|platte|speicherplatz|almacenamiento|stockage)\b"
)
LARGEST_CARD_GB = 300
GPU_OPTION = re.compile(r"--(?:gpus(?:-per-node)?|gres=gpu(?::\w+)?)[=: ](\d{1,4})\b")
WHOLE = ("nodes", "gpus", "each", "accumulation", "sequence", "micro_batch", "global_batch", "users")
# Units of amounts that are told: in `a sequence length of 8192` no length is asked for.
TOLD = ("sequence", "batch", "global_batch", "micro_batch", "GB", "TB")
# Where one part of a message may end and the next thing be asked.
PART = re.compile(
    r"(?i)[?!;\n\u3002\uff1f\uff1b\uff0c\u3001]|,(?!\d)|\.(?=\s|$)"
    r"|\b(?:and|und|et|y|e|plus|as well as|sowie|ainsi que)\b|以及|还有|和"
)
# Aims that one part of an answer serves, and what an answer of its own tells besides.
KINDS: dict[str, str] = {
    "fit": "memory", "nodes": "memory", "memory": "memory", "hours": "work", "cost": "work", "jobs": "work",
    "budget": "work", "fastest": "choice", "cheapest": "choice", "machine": "choice",
}  # fmt: skip
TELLS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("why_not", "largest", "ways", "split", "batch", "sequence"), ("memory",)),
    **dict.fromkeys(("fastest", "cheapest", "machine"), ("memory", "work")),
}


@dataclass(slots=True)
class Draft:
    """The question while it is read. values: its fields; taken: the places in the text that they were read
    from; words: what stands there."""

    utterance: Utterance
    values: dict[str, object] = field(default_factory=dict)
    taken: list[tuple[int, int]] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)

    def set(self, name: str, value: object, start: int, end: int) -> None:
        self.values[name] = value
        self.words[name] = self.utterance.text[start:end].strip()
        self.taken.append((start, end))

    def add(self, name: str, value: object, start: int, end: int) -> None:
        """As set, where nothing was said of it before."""
        if name in self.values:
            self.taken.append((start, end))
        else:
            self.set(name, value, start, end)

    def is_free(self, start: int, end: int) -> bool:
        return all(end <= first or last <= start for first, last in self.taken)


def read_question(utterance: Utterance) -> ResourceQuestion:
    """The question in an utterance."""
    return ResourceQuestion(**_draft(utterance).values)  # type: ignore[arg-type]


def words_of(utterance: Utterance) -> dict[str, str]:
    """The words of each field that the message says something of."""
    draft = _draft(utterance)
    return {name: text for name, text in draft.words.items() if name in draft.values}


def unread(utterance: Utterance) -> tuple[str, ...]:
    """Amounts and methods of the message that no field of the question took, in its words."""
    draft = _draft(utterance)
    open_to_it = [m for m in utterance.of_kind("Quantity", "Duration", "Method") if m.unit or m.kind != "Quantity"]
    free = (m.text for m in open_to_it if draft.is_free(m.start, m.end))
    return tuple(dict.fromkeys(text for text in free if any(letter.isdigit() for letter in text)))


def residue(utterance: Utterance) -> str:
    """The message's words without what the question took of it."""
    text = utterance.text
    every = [(aim[1] + at, aim[2] + at) for at, part in parts_of(text) if (aim := find_aim(part))]
    whole = find_aim(text)
    return blanked(text, [*_draft(utterance).taken, *every, *([whole[1:]] if whole else [])])


def read_followup(utterance: Utterance, before: ResourceQuestion | None) -> ResourceQuestion:
    """The question in an utterance, with what the one before it said: the same aim on other values, `twice the nodes`,
    or a number alone in the place of the one that it must be of."""
    said = read_question(utterance)
    if before is None:
        return said
    if told := bare_number(utterance, before):
        said = replace(said, sequence=None if said.sequence == told[1] else said.sequence)
        said = replace(said, **{told[0]: told[1]})  # type: ignore[arg-type]
    if said.aim is None and (said.gpu_hours or said.node_hours) and not before.tokens:
        said = replace(said, aim="budget")
    return said.after(scaled(utterance, before) or before)


def bare_number(utterance: Utterance, before: ResourceQuestion) -> tuple[str, float] | None:
    """The field of a number without a unit, with its value: the memory of a card that is sold so, else nodes or GPUs,
    whichever was counted before; None where there is none, or it could be of several fields."""
    draft = _draft(utterance)
    rest = {name: text for name, text in draft.words.items() if not text.isdigit()}
    found = [m for m in BARE.finditer(utterance.text) if not any(m[1] in text for text in rest.values())]
    if len(found) != 1:
        return None
    number = int(found[0][1])
    sold = {gb for gpu in gpu_table().gpus if gpu.model == before.gpu for gb in gpu.gb}
    if number in sold and (before.gpus or 1) == 1 and number != before.gpu_gb:
        return "gpu_gb", float(number)
    if before.sequence and number in LENGTHS and number >= 2048:
        return "sequence", number
    counted = "nodes" if before.nodes else "gpus" if before.gpus else ""
    return (counted, number) if counted else None


@cache
def _aims() -> tuple[tuple[Aim, re.Pattern[str]], ...]:
    rows = read_data(Path(__file__).parent / "aims.yaml")
    return tuple((cast(Aim, row["aim"]), re.compile("|".join(row["says"]), re.I | re.A)) for row in rows)


def find_aim(text: str) -> tuple[Aim, int, int] | None:
    """What a text asks of resources, with the place of the words that ask; None where it asks nothing of them."""
    return next(((aim, *found.span()) for aim, words in _aims() if (found := words.search(text))), None)


def find_aims(text: str) -> tuple[Aim, ...]:
    """What the parts of a text ask, in their order, where they ask of more than one thing; else empty. What one answer
    tells anyway (whether it fits, beside the largest batch) is no part."""
    found = [aim[0] for _, part in parts_of(text) if (aim := find_aim(part))]
    told = {kind for aim in found for kind in TELLS.get(aim, ())}
    several = {KINDS.get(aim, aim): aim for aim in reversed(found)}
    ordered = tuple(several[kind] for kind in reversed(several) if kind not in told)
    return ordered if len(ordered) > 1 else ()


def parts_of(text: str) -> Iterator[tuple[int, str]]:
    """The parts of a text that may each ask something, with their places."""
    at = 0
    for stop in PART.finditer(text):
        yield at, text[at : stop.start()]
        at = stop.end()
    yield at, text[at:]


def scaled(utterance: Utterance, before: ResourceQuestion | None) -> ResourceQuestion | None:
    """`Twice the nodes`, `half the tokens`: the amount of the question before, so much larger; None without one."""
    found = SCALED.search(utterance.text)
    word = found[2].lower().rstrip("s") if found else ""
    plain = {"batch": "global_batch", "sequence": "sequence", "context": "sequence"}.get(word, f"{word}s")
    name = "micro_batch" if plain == "global_batch" and before and not before.global_batch else plain
    value = getattr(before, name, None) if found else None
    if not found or before is None or not value:
        return None
    amount = value * dict(TIMES)[found[1].lower()]
    return replace(before, **{name: max(1, int(amount)) if name in WHOLE else amount})  # type: ignore[arg-type]


def scaled_words(text: str) -> str:
    """`twice the nodes` of a text, in small letters; empty where it has none."""
    found = SCALED.search(text)
    return found[0].lower() if found else ""


@lru_cache(maxsize=16)
def _draft(utterance: Utterance) -> Draft:
    draft = Draft(utterance)
    _model(draft)
    of_saves = read_saves(utterance.text)
    told = [(one.start, one.end) for one in of_saves]
    told += [(m.start, m.end) for m in utterance.of_kind("Quantity") if m.unit in TOLD]
    asked = blanked(utterance.text, told)
    if aim := find_aim(asked):
        draft.values["aim"] = aim[0]
        if aim[0] == "ways":  # `ZeRO-1, 2 or 3` counts nothing
            draft.taken.append(aim[1:])
    if several := find_aims(asked):
        draft.values["aim"], draft.values["also"] = several[0], several[1:]
    for one in of_saves:
        draft.set(one.field, one.value, one.start, one.end)
        draft.taken += one.words
    if pace := read_pace(utterance.text):
        draft.values.update(pace.values)
        draft.words["pace_s"] = utterance.text[pace.start : pace.end]
        draft.taken.append((pace.start, pace.end))
    _words(draft)
    if kept := KEPT.search(utterance.text):
        draft.set("scaling", float(kept[1] or kept[2]) / 100, *kept.span())
    if cards := CARDS.search(utterance.text):  # `one node (4x80GB)`: of that node
        draft.set("each" if NODES.search(utterance.text) else "gpus", int(cards[1]), *cards.span())
        draft.set("gpu_gb", float(cards[2]), *cards.span())
    _gpus(draft)
    draft.taken += [(m.start, m.end) for m in utterance.of_kind("Machine")]  # `a Perlmutter node` is read around them
    _amounts(draft)
    _times(draft)
    _lengths(draft)
    _settle(draft)
    return draft


def _words(draft: Draft) -> None:
    """What is named: machines, the way of spreading, method, precision, optimizer and the rest of training's words."""
    utterance = draft.utterance
    if machines := utterance.machines():
        draft.values["machines"] = tuple(machines)
    queues = [q for name in machines if (c := catalogue().find(name)) for q in c.queues]
    for one_queue in queues:  # `in shared?`: an id of the machine's own, where no word says that it is a queue
        if bare := re.search(rf"(?i)\b(?:in|on|to) {re.escape(one_queue.id)}(?=\s*(?:[?.,;!]|$))", utterance.text):
            draft.set("queue", one_queue.id, *bare.span())
    for queue in utterance.of_kind("Queue"):
        draft.values["queue"] = str(queue.value)
        draft.taken.append((queue.start, queue.end))
    if option := GPU_OPTION.search(utterance.text):
        draft.set("gpus", int(option[1]), *option.span())
    for match in DEGREE.finditer(utterance.text):
        name = (match[1] or match[3])[0].lower()
        draft.set("tensor" if name == "t" else "pipeline", int(match[2] or match[4]), *match.span())
    refused = _denials(draft)
    for one in utterance.of_kind("Method"):
        if one.value in STRATEGIES and (one.start, one.end) not in refused:
            draft.add("strategy", str(one.value), one.start, one.end)
    text = blanked(utterance.text, refused)
    for word in sorted(find_training_words(text), key=lambda one: one.field == "precision" and one.start):
        if not draft.is_free(word.start, word.end):
            continue
        if word.field == "precision" and "precision" in draft.values:
            draft.values["or_precisions"] = (*draft.values.get("or_precisions", ()), word.value)  # type: ignore[misc]
            draft.taken.append((word.start, word.end))
        elif word.field == "strategy":
            draft.add(word.field, word.value, word.start, word.end)
        else:
            draft.set(word.field, word.value, word.start, word.end)
    if ("task", "lora") in draft.values.get("denied", ()):  # type: ignore[operator]
        draft.values.setdefault("task", "train")


def _denials(draft: Draft) -> tuple[tuple[int, int], ...]:
    """The places of the ways, methods and settings that the message denies, which the question then holds as such."""
    utterance = draft.utterance
    named = [(word.field, word.value, (word.start, word.end)) for word in every_training_word(utterance.text)]
    named += [
        ("strategy", str(m.value), (m.start, m.end)) for m in utterance.of_kind("Method") if m.value in STRATEGIES
    ]
    found = denied(utterance.text, [place for _, _, place in named])
    for name, value, place in named:
        if place not in found:
            continue
        draft.taken.append(place)
        draft.words["denied"] = utterance.text[place[0] : place[1]]
        draft.values["denied"] = tuple(dict.fromkeys((*draft.values.get("denied", ()), (name, value))))  # type: ignore[misc]
        if (name, value) == ("recompute", "full"):
            draft.values["recompute"] = "none"
    return found


def blanked(text: str, places: Iterable[tuple[int, int]]) -> str:
    """The text with blanks at these places; as long as it was."""
    for start, end in places:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _model(draft: Draft) -> None:
    """The model that says most: a name with a shape, else a name with a size, else layers and widths, else a size."""
    utterance = draft.utterance
    mentions = utterance.of_kind("Model")
    exact = [m for m in mentions if (found := find_model(str(m.value))) and found.exact]
    shape = named_shape(utterance.text)
    sizes = [m for m in mentions if re.fullmatch(r"\d+(?:[.,]\d+)?[bB]", str(m.value))]
    family = next((m for m in mentions if not find_model(str(m.value))), None)
    if family and sizes and (found := find_model(f"{family.value}-{sizes[0].value}")) and found.exact:
        return draft.set("model", f"{family.value}-{sizes[0].value}", sizes[0].start, sizes[0].end)
    if exact and not (shape and shape[2] - shape[1] > exact[-1].end - exact[-1].start):
        return draft.set("model", str(exact[-1].value), exact[-1].start, exact[-1].end)
    if config := CONFIG.search(utterance.text):
        return draft.set("model", config[0], *config.span())
    if shape and not any(m.start <= shape[1] and shape[2] < m.end and find_model(str(m.value)) for m in mentions):
        return draft.set("model", of_size(shape[0], utterance.text), *shape[1:])
    active = ACTIVE.search(utterance.text)
    if active and (whole := read_size(utterance.text[: active.start()])):
        return draft.set("model", f"{whole:g}B-A{(active[1] or active[2]).replace(',', '.')}B", *active.span())
    if layers := read_layers(utterance.text):
        return draft.set("model", *layers)
    sized = [m for m in mentions if find_model(str(m.value))]
    if sized:
        told = [m for m in sized if re.search(r"\d[BMbm]", m.text)] or sized  # `7B` before `1 billion`
        return draft.set("model", str(told[-1].value), told[-1].start, told[-1].end)
    if billions := read_size(utterance.text):
        return draft.set("model", f"{billions:g}B", 0, 0)
    if small := SIZED.search(utterance.text):
        return draft.set("model", f"{int(small[1])}M model", *small.span())
    if mentions:
        draft.set("model", str(mentions[-1].value), mentions[-1].start, mentions[-1].end)
    return None


def of_size(name: str, text: str) -> str:
    """`vision transformer 400M`: a family's name stands for one of its models only where the text names no size."""
    shape, size = find_shape(name), SIZED.search(text)
    whole_family = shape is not None and shape.kind != "decoder" and not re.search(r"\d", name)
    return f"{name} {int(size[1])}M" if whole_family and size else name


@cache
def _shape_names() -> re.Pattern[str]:
    names = {name for shape in model_shapes().shapes if not shape.plain for name in (shape.name, *shape.names)}
    like = (re.escape(name).replace(r"\-", "[-_ ]?").replace(r"\ ", "[-_ ]?") for name in names)
    return re.compile(rf"(?i)(?<![\w/.-])(?:{'|'.join(sorted(like, key=len, reverse=True))})(?![\w.]*\w)")


def named_shape(text: str) -> tuple[str, int, int] | None:
    """The longest name of a known shape in the text, with its place."""
    found = max(_shape_names().finditer(text), key=lambda m: m.end() - m.start(), default=None)
    return (found[0], *found.span()) if found else None


def _gpus(draft: Draft) -> None:
    """The GPU that is named with its memory and number, nodes by a word, and what the person saw a job take."""
    words = list(find_gpu_words(draft.utterance))
    measured = [one for one in words if "pace_s" in draft.values and not draft.is_free(one.start, one.end)]
    words = [one for one in words if one not in measured]
    if model := next((one.model for one in measured if one.model), ""):
        draft.values["gpu"] = model
    named = [one for one in words if one.model]
    if others := {one.model for one in named[:-1]} - {one.model for one in named[-1:]}:
        draft.values["or_gpus"] = tuple(sorted(others))
        draft.taken += [(one.start, one.end) for one in named[:-1]]
    for one in named[-1:] or words[:1]:
        _one_gpu(draft, one)
    for one in words:
        if one.count and not one.is_nodes and draft.is_free(one.start, one.end):
            draft.add("gpus", one.count, one.start, one.end)
    if (nodes := count_nodes(draft.utterance)) and draft.is_free(*nodes[1:]):
        draft.add("nodes", *nodes)
    sizes = [m for m in draft.utterance.of_kind("Quantity") if m.unit == "GB" and draft.is_free(m.start, m.end)]
    for one_size in sizes:
        text, gb = draft.utterance.text, float(one_size.value)
        near = text[max(0, one_size.start - 25) : one_size.end + 25]
        if OF_HOST.match(text[one_size.end :]):
            draft.add("host_gb", gb, one_size.start, one_size.end)
            continue
        if OF_DISK.search(near) or gb > LARGEST_CARD_GB:
            if OF_DISK.search(near) or draft.values.get("aim") == "checkpoint":
                draft.add("disk_gb", gb, one_size.start, one_size.end)
            continue
        seen = SEEN.search(draft.utterance.text[: one_size.start]) and not A_CARD.match(
            draft.utterance.text[one_size.end :]
        )
        draft.add("measured_gb" if seen else "gpu_gb", float(one_size.value), one_size.start, one_size.end)


def _one_gpu(draft: Draft, one: GpuWords) -> None:
    start, end = one.start, one.end
    if not (one.model or one.gb or one.count):
        return
    if one.model:
        draft.set("gpu", one.model, start, end)
    if one.gb and (one.model or not SEEN.search(draft.utterance.text[:start])):
        draft.set("gpu_gb", one.gb, start, end)
    if one.count:
        draft.set("nodes" if one.is_nodes else "gpus", one.count, start, end)
    if one.each:
        draft.set("each", one.each, start, end)


def _amounts(draft: Draft) -> None:
    """Quantities with a unit; of two with the same unit the last counts."""
    text = draft.utterance.text
    for pattern, field_name in ((STEPS_OF, "global_batch"), (ACCUMULATION, "accumulation")):
        if told := pattern.search(text):
            number_at = (told.start(told.lastindex or 1), told.end(told.lastindex or 1))
            draft.set(field_name, int(told[told.lastindex or 1].replace(",", "")), *number_at)
            draft.taken += [told.span()] if field_name == "accumulation" else []
    if (told := OF_THEM.search(text)) and draft.is_free(*told.span(1)):
        draft.set(
            "nodes" if "nodes" in draft.values and "gpu" not in draft.values else "gpus", int(told[1]), *told.span()
        )
    every = draft.utterance.of_kind("Quantity")
    for one in every:
        if any(o.start <= one.start and one.end <= o.end and len(o.text) > len(one.text) for o in every):
            continue  # `200 GPU` of `200 GPU hours`
        number = float(one.value)
        if not draft.is_free(one.start, one.end) or number <= 0:
            continue
        behind = text[one.end :]
        name = AMOUNTS.get(one.unit, "")
        if one.unit == "node":
            name = "each" if EACH_OF_NODES.match(behind) else "nodes"
        elif one.unit in ("gpu", "rank", "g"):
            name = "" if EACH_GPU.match(behind) else "gpus"
        elif one.unit == "batch":
            name = "micro_batch" if number <= LARGE_BATCH or EACH_GPU.match(behind) else "global_batch"
        elif one.unit == "speed":
            name = "speed"
            number *= -1 if EACH_GPU.match(behind) else 1
        elif one.unit == "token":
            name = _tokens_name(text, one, number)
        elif one.unit == "token/parameter" and (model := find_model(str(draft.values.get("model", "")))):
            name, number = "tokens", number * model.parameters
        if name:
            draft.set(name, int(number) if name in WHOLE else number, one.start, one.end)


def _tokens_name(text: str, one: Mention, number: float) -> str:
    """Which amount tokens are: of the whole, of one sequence, or of a batch."""
    if OF_BATCH.search(text[: one.start]) or BATCH_BEHIND.match(text[one.end :]):
        return "batch_tokens"
    return "sequence" if number < FEW_TOKENS else "tokens"


def _times(draft: Draft) -> None:
    text = draft.utterance.text
    for one in draft.utterance.of_kind("Duration"):
        if draft.is_free(one.start, one.end) and float(one.value) > 0 and not _of_model(draft, one):
            draft.set("hours", float(one.value) / 3600, one.start, one.end)
    if draft.values.get("aim") == "jobs":  # `12 h at most, my run takes 10 days`: the whole is the longer
        every = [float(one.value) / 3600 for one in draft.utterance.of_kind("Duration") if float(one.value) > 0]
        draft.values.update({"hours": max(every)} if every else {})
    elif "hours" in draft.values and PER_JOB.search(text):
        draft.values["per_job"] = True
    known = next(((size, m) for name, size in DATA_SETS if (m := name.search(text))), None)
    if known and "epochs" in draft.values:
        draft.add("samples", float(known[0]), *known[1].span())


def _of_model(draft: Draft, one: Mention) -> bool:
    """`124M` beside a model is its size, no minutes."""
    return "model" in draft.values and re.fullmatch(r"\d{2,4}\s?M", one.text) is not None


def _lengths(draft: Draft) -> None:
    """A bare `8k` or `2048` is the length of a sequence, where none is said."""
    if "sequence" in draft.values:
        return None
    for match in LENGTH.finditer(draft.utterance.text):
        tokens = int(match["k"]) * 1024 if match["k"] else int(match["n"])
        counted = any(m.unit and m.start <= match.start() < m.end for m in draft.utterance.of_kind("Quantity"))
        if tokens in LENGTHS and not counted and draft.is_free(*match.span()):
            return draft.set("sequence", tokens, *match.span())
    return None


def _settle(draft: Draft) -> None:
    """What follows from several values together."""
    values = draft.values
    if "pace_s" in values and not values.get("pace_gpus"):
        paced = {"pace_nodes": values.get("nodes"), "pace_gpus": None if values.get("nodes") else values.get("gpus")}
        values.update({name: value for name, value in paced.items() if value})
    asked = (values.get("aim"), *values.get("also", ()))  # type: ignore[misc]
    if values.get("hours") and "nodes" in asked and "hours" in asked:  # `in 24 h: how many nodes?`: the time is given
        values["aim"], values["also"] = "hours", tuple(one for one in asked if one not in ("hours", "nodes"))
    if tokens := values.pop("batch_tokens", None):
        values["global_batch"] = max(1, int(float(tokens) / float(values.get("sequence") or 4096)))  # type: ignore[arg-type]
    told = BARE_SPEED.search(draft.utterance.text)
    if told and "speed" not in values and OF_SPEED.search(draft.utterance.text):
        draft.set("speed", -float(told[1].replace(",", "")), *told.span())
    if values.get("aim") in ("ways", "split"):  # which one is asked: none is given
        values.pop("strategy", None)
    speed = float(values.get("speed") or 0)  # type: ignore[arg-type]
    if speed < 0:
        values["speed"], values["speed_each"] = -speed, True
    many = values.get("nodes") or int(values.get("gpus") or 1) > 1  # type: ignore[call-overload]
    if (batch := values.get("global_batch")) and not many and "micro_batch" not in values:
        values["micro_batch"] = batch
        del values["global_batch"]
    batch = values.get("micro_batch") or values.get("global_batch")
    if values.get("task") == "serve" and batch:
        values.setdefault("users", batch)
        values.pop("micro_batch", None), values.pop("global_batch", None)
    if values.get("precision") in ("int4", "int8") and values.get("task") == "train":
        values["task"] = "qlora"
    if values.get("precision") in ("int4", "int8") and "task" not in values:
        values["task"] = "serve"
