"""What a message asks of resources, out of its mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import cast

from graph.planning.resources.pace import read_paces
from graph.planning.resources.parameters import find_model, find_size, read_layers, read_size
from graph.planning.resources.patterns import pattern
from graph.planning.resources.saves_said import read_saves
from graph.reading.gpu_words import NODE, NUMBERS, GpuWords, count_nodes, find_gpu_words, without_machines
from graph.reading.mentions import read_number
from graph.reading.scope import denied
from graph.reading.training_words import every_training_word, find_training_words
from graph.reading.utterance import Mention, Utterance
from knowledge.catalogue import catalogue
from knowledge.data_file import read_data
from knowledge.gpu_facts import gpu_table
from knowledge.model_shapes import find_shape, model_shapes
from knowledge.resource_question import PLACE, SIZE, Aim, ResourceQuestion
from knowledge.word_lists import in_order

# How amounts are told: lists of quantities.yaml.
matching = partial(pattern, "quantities")
# Images of data sets that are named without their size.
DATA_SETS = ((re.compile(r"(?i)\bimage-?net-?21k\b"), 14_197_122), (re.compile(r"(?i)\bimage-?net\b"), 1_281_167))
NODES = re.compile(rf"(?i)\b{NODE}\b")
STRATEGIES = ("ddp", "zero1", "zero2", "zero3", "fsdp", "tp", "pp", "3d")
# Fewer tokens than this are the length of a sequence: nobody trains on so few.
FEW_TOKENS = 1_000_000
# Nobody lets choose from more places.
MOST_PLACES = 8
# Words behind a number that are no unit of it.
NO_UNIT = frozenset(
    in_order(
        "and und et y e or oder ou o the for with from was are is not but per that this then im auf nodes node gpus "
        "gpu hours days year years bit bits reichen suffice should would will enough"
    )
)
# `~4M` beside `2^22`: the same number.
NEAR_POWER = 0.1
# Aims whose words, beside a quota and saves, ask whether it holds them.
OF_ROOM = (None, "fit", "hours", "saves")
# No batch has so many tokens.
LARGEST_BATCH = 5e8
LENGTHS = frozenset(1 << power for power in range(9, 21))
# Of a thing without a unit, what is counted from so many on beside epochs or tokens each is a data set's.
FEWEST_SAMPLES = 500
# A batch above it, over several GPUs, is that of all of them together.
LARGE_BATCH = 64
# What so many of are on each GPU.
PER_GPU = re.compile(r"(?i)\b(?:images?|samples?|sequences?|pictures?|batch(?: of \d+)?|batch[ -]?size)\s*$")
# `6 GPUs each`, of nodes.
EACH = re.compile(r"(?i)\s*(?:each|apiece)\b(?!\s+\w)")
OF_RECORDINGS = re.compile(
    r"(?i)\s*(?:of|de|d'|von|an|di|の)?\s*(?:\w+\s+)?(?:audio|speech|videos?|recordings?|sound|music|podcasts?|sprache"
    r"|aufnahmen|parole|enregistrements?|voz|grabaciones|音频|语音)\b"
)
# `Nodes of 8`: so many GPUs has each.
NODES_OF = re.compile(rf"(?i)\b{NODE}\s+(?:of|with|von|mit|de|con|di|à)\s+$")
EACH_OF_NODES = re.compile(rf"(?i)^\s*(?:per|an?|each|/|pro|je|par|por)\s*{NODE}\b")
TIMES = {"twice": 2.0, "double": 2.0, "half": 0.5, "halve": 0.5, "halving": 0.5, "three times": 3.0, "four times": 4.0,
         "mitad": 0.5, "metade": 0.5, "metà": 0.5, "moitié": 0.5, "hälfte": 0.5, "halb": 0.5, "doble": 2.0,
         "dobro": 2.0, "doppio": 2.0, "doppelt": 2.0, "doppelte": 2.0, "deux fois": 2.0}  # fmt: skip
SCALED = re.compile(
    rf"(?i)\b({'|'.join(TIMES)})\b[^.?]{{0,16}}"
    r"\b(nodes?|gpus?|tokens?|hours?|batch|sequence|context|steps?|epochs?|knoten|nod[oi]s?|n(?:œ|oe)uds?|stunden|horas"
    r"|heures|ore|data|daten|datos|dados|donn[ée]es|dati)\b(?: (?:size|length)\b)?"
)
# What a word of SCALED counts, by how it begins; data are tokens or samples, whichever were told.
COUNTED = {"batch": "global_batch", "sequence": "sequence", "context": "sequence", "kno": "nodes", "nod": "nodes",
           "nœud": "nodes", "noeud": "nodes", "st": "hours", "hora": "hours", "heure": "hours", "ore": "hours",
           "step": "steps", "da": "tokens", "donn": "tokens"}  # fmt: skip
AMOUNTS = {"epoch": "epochs", "global_batch": "global_batch", "micro_batch": "micro_batch", "node_hour": "node_hours",
           "gpu_hour": "gpu_hours", "user": "users", "sample": "samples", "sequence": "sequence",
           "step": "steps", "second": "save_s"}  # fmt: skip
LARGEST_CARD_GB = 300
GIGABYTES = {"GB": 1.0, "TB": 1000.0}
WHOLE = ("nodes", "gpus", "each", "accumulation", "sequence", "micro_batch", "global_batch", "users")
# Units of amounts that are told: in `a sequence length of 8192` no length is asked for.
TOLD = ("sequence", "batch", "global_batch", "micro_batch", "GB", "TB")
# Aims that one part of an answer serves, and what an answer of its own tells besides.
KINDS: dict[str, str] = {
    "fit": "memory", "nodes": "memory", "memory": "memory", "hours": "work", "cost": "work", "jobs": "work",
    "budget": "work", "fastest": "choice", "cheapest": "choice", "machine": "choice",
}  # fmt: skip
TELLS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "why_not",
            "largest",
            "ways",
            "split",
            "batch",
            "sequence",
            "card",
            "recompute",
            "speed",
            "accumulation",
            "hybrid",
        ),
        ("memory",),
    ),
    **dict.fromkeys(("fastest", "cheapest", "machine"), ("memory", "work")),
}


@dataclass(slots=True)
class Draft:
    """The question while it is read. values: its fields; taken: the places in the text that they were read
    from; words: what stands there; places: of each field."""

    utterance: Utterance
    values: dict[str, object] = field(default_factory=dict)
    taken: list[tuple[int, int]] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)
    places: list[tuple[str, tuple[int, int]]] = field(default_factory=list)

    def set(self, name: str, value: object, start: int, end: int) -> None:
        self.values[name] = value
        self.words[name] = self.utterance.text[start:end].strip()
        self.taken.append((start, end))
        self.places.append((name, (start, end)))

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


def loose_numbers(utterance: Utterance) -> tuple[str, ...]:
    """Numbers with the word behind them (`3 rounds`) that no field of the question took and no name holds."""
    draft, text = _draft(utterance), utterance.text
    named = [(m.start, m.end) for m in utterance.mentions if m.kind not in ("Quantity", "Duration")]
    found = []
    for match in matching("loose").finditer(text):
        free = draft.is_free(match.start("number"), match.end("number")) and match["word"]
        held = any(start <= match.start() < end or start == match.start("word") for start, end in named)
        if free and not held and match["word"].lower() not in NO_UNIT:
            found.append(f"{match['number']} {match['word']}")
    return tuple(dict.fromkeys(found))


def places_of(utterance: Utterance) -> tuple[ResourceQuestion, ...]:
    """What a message lets choose from, each with its own number or method: `2 nodes of X or 8 of Y`, `LoRA or QLoRA`;
    empty where there are not several."""
    text, at = utterance.text, 0
    found: list[ResourceQuestion] = []
    stops = list(islice(matching("alternative").finditer(text), MOST_PLACES + 1))
    for stop in [*stops, None] if len(stops) <= MOST_PLACES else ():
        end = stop.start() if stop else len(text)
        inside = tuple(one for one in utterance.mentions if at <= one.start and one.end <= end)
        said = read_question(replace(utterance, text=blanked(text, [(0, at), (end, len(text))]), mentions=inside))
        bare = [one for one in inside if one.kind == "Quantity" and not one.unit]
        if found and found[-1].nodes and not (said.nodes or said.gpus) and len(bare) == 1:  # `one node vs four`
            said = replace(said, nodes=int(float(bare[0].value)))
        if said.nodes or said.gpus or (said.task in ("train", "lora", "qlora") and not said.denied):
            found.append(said)
        at = stop.end() if stop else end
    return tuple(found) if len(found) > 1 else ()


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
    if ("budget" in (said.aim, before.aim) or before.tokens) and (tokens := bare_amount(utterance, said)):
        said = replace(said, model=None, tokens=tokens)
    there = [c for name in before.machines if (c := catalogue().find(name))]
    if said.gpu and not said.machines and any(said.gpu == node.gpus.model for c in there for node in c.node_types):
        said = replace(said, machines=before.machines)  # another kind of node of the same machine
    if not (said.queue or said.machines) and (queue := bare_queue(utterance.text, before.machines)):
        said = replace(said, queue=queue[0])
    if matching("same_place").search(utterance.text) and not (said.nodes or said.gpus):
        said = replace(said, **{name: getattr(before, name) for name in PLACE})
    if before.aim == "checkpoint" and said.kept and said.aim is None:
        said = replace(said, aim="checkpoint")
    if told := bare_number(utterance, before):
        said = replace(said, sequence=None if said.sequence == told[1] else said.sequence)
        said = replace(said, **{told[0]: told[1]})  # type: ignore[arg-type]
    if said.precision in ("int4", "int8") and before.task != "serve" and before.model:
        said = replace(said, task=said.task if "task" in words_of(utterance) else "qlora")  # `in 4 bit?`, of training
    if said.aim is None and (said.gpu_hours or said.node_hours) and not before.tokens:
        said = replace(said, aim="budget")
    return said.after(scaled(utterance, before) or before)


def bare_amount(utterance: Utterance, said: ResourceQuestion) -> float | None:
    """Tokens that a size without a unit (`we need 300B`) is, where tokens were counted before; None where no word says
    that so many are needed: `and for 13B?` is a model."""
    size, text = (said.model or "").strip(), utterance.text
    if not SIZE.fullmatch(size) or matching("of_model").search(text):
        return None
    return (read_size(size) or 0.0) * 1e9 if matching("needed").search(text[: max(0, text.find(size))]) else None


def bare_number(utterance: Utterance, before: ResourceQuestion) -> tuple[str, float] | None:
    """The field of a number without a unit, with its value: the memory of a card that is sold so, else nodes or GPUs,
    whichever was counted before; None where there is none, or it could be of several fields."""
    draft = _draft(utterance)
    rest = {name: text for name, text in draft.words.items() if not text.isdigit()}
    text = utterance.text
    found = [(int(m[1]), m.start(1)) for m in matching("bare").finditer(text)
             if not any(m[1] in said for said in rest.values())]  # fmt: skip
    words = [m for m in utterance.of_kind("Quantity") if not m.unit and not m.text[:1].isdigit()]
    found = found or [(int(float(m.value)), m.start) for m in words if matching("placed").search(text[: m.start])]
    if len(found) != 1:
        return None
    number, at = found[0]
    power = number & (number - 1) == 0
    placed = matching("placed").search(text[:at])
    sold = {gb for gpu in gpu_table().gpus if gpu.model == before.gpu for gb in gpu.gb}
    if number in sold and (before.gpus or 1) == 1 and number != before.gpu_gb and not (placed and power):
        return "gpu_gb", float(number)
    if before.sequence and number in LENGTHS and number >= 2048:
        return "sequence", number
    if before.aim == "batch" and number <= LARGE_BATCH and not placed:
        return "micro_batch", number
    counted = (
        "nodes" if before.nodes or before.node_hours else "gpus" if before.gpus or (placed and before.model) else ""
    )
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
    for stop in matching("part").finditer(text):
        yield at, text[at : stop.start()]
        at = stop.end()
    yield at, text[at:]


def scaled(utterance: Utterance, before: ResourceQuestion | None) -> ResourceQuestion | None:
    """`Twice the nodes`, `half the tokens`: the amount of the question before, so much larger; None without one."""
    found = SCALED.search(utterance.text)
    word = found[2].lower() if found else ""
    plain = next((COUNTED[start] for start in sorted(COUNTED, key=len, reverse=True) if word.startswith(start)), "")
    plain = plain or f"{word.rstrip('s')}s"
    if before and plain == "tokens" and not before.tokens and before.samples:
        plain = "samples"
    name = "micro_batch" if plain == "global_batch" and before and not before.global_batch else plain
    value = getattr(before, name, None) if found else None
    if not found or before is None or not value:
        return None
    amount = value * TIMES[found[1].lower()]
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
    told += [(m.start, m.end) for m in utterance.of_kind("Quantity") if m.unit in TOLD and not is_size(m)]
    told += [m.span() for m in matching("kept_weights").finditer(utterance.text)]
    told += [(m.start, m.end) for m in utterance.of_kind("Option")]  # `--max-model-len` asks for no largest model
    asked = blanked(utterance.text, told)
    between = [m.span() for m in matching("save_steps").finditer(utterance.text)]
    if (aim := find_aim(blanked(asked, between))) and aim[0] == "checkpoint":  # `saving every 500 steps` is told
        asked = blanked(asked, between)
    if aim := find_aim(asked):
        draft.values["aim"] = aim[0]
        if aim[0] == "ways":  # `ZeRO-1, 2 or 3` counts nothing
            draft.taken.append(aim[1:])
    if several := find_aims(asked):
        draft.values["aim"], draft.values["also"] = several[0], several[1:]
    for one in of_saves:
        draft.set(one.field, one.value, one.start, one.end)
        draft.taken += one.words
    for every in matching("save_every").finditer(utterance.text):
        if "saves" in (draft.values.get("aim"), *draft.values.get("also", ())) and draft.is_free(*every.span()):  # type: ignore[misc]
            per = 60.0 if every["unit"].lower() == "min" else 1.0
            draft.set("save_every_h", float(every["number"].replace(",", ".")) / per, *every.span())
    loading = [m.span() for name in ("worker_rate", "compute") for m in matching(name).finditer(utterance.text)]
    if computes := matching("compute").search(utterance.text):
        of_unit = 1e-3 if computes["unit"].lower() == "ms" else 1.0
        draft.set("compute_s", float(computes["number"]) * of_unit, *computes.span())
    paces = [
        one
        for one in read_paces(without_machines(utterance))
        if all(e <= one.start or one.end <= s for s, e in loading)
    ]
    for pace in paces:
        draft.values.update(pace.values if len(paces) == 1 else {"pace_of": pace.values.get("pace_of")})
        draft.words["pace_s" if len(paces) == 1 else "paces"] = utterance.text[pace.start : pace.end]
        draft.taken.append((pace.start, pace.end))
    if len(paces) > 1:
        sizes = [(one.values.get("pace_gpus", 0), one.values.get("pace_nodes", 0)) for one in paces]
        seconds = [one.values.get("pace_s", 0.0) for one in paces]
        draft.values["paces"] = tuple((s, *size) for s, size in zip(seconds, sizes, strict=True))
    _seen(draft)
    if weights := matching("kept_weights").search(utterance.text):
        draft.values["kept"] = "weights"
        draft.taken.append(weights.span())
        draft.words["kept"] = weights[0]
    _words(draft)
    if kept := matching("kept").search(utterance.text):
        draft.set("scaling", float(kept[1] or kept[2]) / 100, *kept.span())
    if cards := matching("cards").search(utterance.text):  # `one node (4x80GB)`: of that node
        draft.set("each" if NODES.search(utterance.text) else "gpus", int(cards[1]), *cards.span())
        draft.set("gpu_gb", float(cards[2]), *cards.span())
    _gpus(draft)
    draft.taken += [(m.start, m.end) for m in utterance.of_kind("Machine")]  # `a Perlmutter node` is read around them
    _amounts(draft)
    _times(draft)
    _samples(draft)
    _pixels(draft)
    _lengths(draft)
    _settle(draft)
    return draft


def _seen(draft: Draft) -> None:
    """Amounts of a kind of their own: the work as arithmetic, micro-batches with the memory that they took, what data
    loading delivers, and the steps between two saves."""
    text = draft.utterance.text
    if work := matching("flops").search(text):
        prefix = {"e": 18, "z": 21, "y": 24, "p": 15}.get((work["prefix"] or "")[:1].lower(), 0)
        power = int(work["exponent"] or prefix)
        draft.set("flops", float(work["mantissa"].replace(",", ".")) * 10.0**power, *work.span())
    points = [(float(m["batch"] or m["batch2"]), float((m["gb"] or m["gb2"]).replace(",", ".")), m.span())
              for m in matching("point").finditer(text)]  # fmt: skip
    if len({batch for batch, _, _ in points}) > 1:
        draft.values["points"] = tuple((batch, gb) for batch, gb, _ in points)
        draft.taken += [span for _, _, span in points]
        tried = [m for m in matching("tried").finditer(text) if draft.is_free(*m.span("batch"))]
        if tried:
            draft.set("micro_batch", int(tried[-1]["batch"]), *tried[-1].span("batch"))
    if units := matching("site_units").search(text):
        times = {"k": 1e3, "m": 1e6, "万": 1e4, "百": 1e6}.get((units["scale"] or "")[:1].lower(), 1.0)
        there = read_number(units["number"].rstrip(".,"), units["scale"], "site_units")
        draft.set("site_units", there * times, *units.span())
    if many := matching("sequences").search(text):
        scale = (many["scale"] or "").lower()
        times = 1e3 if scale == "mil" else {"k": 1e3, "m": 1e6, "b": 1e9}.get(scale[:1], 1.0)
        number = many["plain"].replace(",", "") if many["plain"] else many["number"].replace(",", ".")
        draft.set("samples", float(number) * times, *many.span())
    if sweep := matching("sweep").search(text):
        draft.set("runs", int(sweep["one"]) * int(sweep["two"]), *sweep.span())
    elif runs := matching("runs").search(text):
        draft.set("runs", int(runs["number"]), *runs.span())
    if rate := matching("rate").search(text):
        draft.set("learning_rate", (float(rate["rate"]), int(rate["batch"])), *rate.span())
    if kept := matching("kept_count").search(text):
        number = kept["count"].lower()
        draft.set("kept_count", int(number) if number.isdigit() else NUMBERS.get(number, 10), *kept.span())
    for name in ("worker_rate", "workers", "save_steps", "steps"):
        if found := next((m for m in matching(name).finditer(text) if draft.is_free(*m.span())), None):
            number = next(value for key, value in found.groupdict().items() if value and not key.startswith("k"))
            times = 1e3 if any(found.groupdict().get(key) for key in ("k", "k2")) else 1.0
            value = float(number.replace(",", "").rstrip(".")) * times
            draft.set(name, int(value) if name == "workers" else value, *found.span())


def _words(draft: Draft) -> None:
    """What is named: machines, the way of spreading, method, precision, optimizer and the rest of training's words."""
    utterance = draft.utterance
    machines, centre = utterance.machines(), named_centre(utterance)
    if machines:
        draft.values["machines"] = tuple(machines)
        draft.taken += [centre[1:]] if centre else []
    elif centre:
        draft.set("machines", *centre)
        machines = list(centre[0])
    if bare := bare_queue(utterance.text, machines):
        draft.set("queue", *bare)
    for queue in utterance.of_kind("Queue"):
        draft.values["queue"] = str(queue.value)
        draft.taken.append((queue.start, queue.end))
    if option := matching("gpu_option").search(utterance.text):
        draft.set("gpus", int(option[1]), *option.span())
    for match in matching("degree").finditer(utterance.text):
        name = (match[1] or match[3])[0].lower()
        draft.set("tensor" if name == "t" else "pipeline", int(match[2] or match[4]), *match.span())
    refused = _denials(draft)
    for one in utterance.of_kind("Method"):
        if one.value in STRATEGIES and (one.start, one.end) not in refused:
            draft.add("strategy", str(one.value), one.start, one.end)
    text = blanked(utterance.text, [*refused, *(place for name, place in draft.places if name == "model")])
    for word in sorted(find_training_words(text), key=lambda one: one.field == "precision" and one.start):
        chats = word.value == "serve" and word.text.lower().startswith("chat")
        if not draft.is_free(word.start, word.end) or (chats and matching("trains").search(text)):
            continue
        if word.field == "precision" and "precision" in draft.values:
            draft.words["or_precisions"] = word.text
            draft.values["or_precisions"] = (*draft.values.get("or_precisions", ()), word.value)  # type: ignore[misc]
            draft.taken.append((word.start, word.end))
        elif word.field == "strategy":
            draft.add(word.field, word.value, word.start, word.end)
        else:
            draft.set(word.field, word.value, word.start, word.end)
    if draft.values.get("task") in ("lora", "qlora") and (rank := matching("lora_rank").search(text)):
        draft.set("lora_rank", int(rank["rank"]), *rank.span())
    if ("task", "lora") in draft.values.get("denied", ()):  # type: ignore[operator]
        draft.values.setdefault("task", "train")


# Several centres together, whose name stands for none of them.
NETWORKS = frozenset(("NHR", "LUMI"))
AT_CENTRE = re.compile(r"(?i)\b(?:at|of|in|from|by|bei|am|chez|au|en|del?|al?)\s+(?:the\s+)?([a-z]{3,})\b")


@cache
def centres() -> dict[str, tuple[str, ...]]:
    """The machines of each centre, by the short name that stands in their facts (`NCSA`)."""
    found: dict[str, list[str]] = {}
    for cluster in catalogue().clusters.values():
        for name in set(re.findall(r"\b[A-Z]{3,}\b", cluster.site)) - NETWORKS:
            found.setdefault(name.lower(), []).append(cluster.id)
    return {name: tuple(ids) for name, ids in found.items()}


def named_centre(utterance: Utterance) -> tuple[tuple[str, ...], int, int] | None:
    """`On a100s at ncsa`: the machines of a centre that is named, those with the GPU that is; with its place."""
    named = " ".join(one.text.lower() for one in utterance.of_kind("Gpu"))
    for found in AT_CENTRE.finditer(utterance.text):
        there = [one for name in centres().get(found[1].lower(), ()) if (one := catalogue().find(name))]
        fitting = [one for one in there if any(kind.gpus.model.lower() in named for kind in one.node_types)]
        if there:
            return tuple(one.id for one in fitting or there), found.start(1), found.end(1)
    return None


def bare_queue(text: str, machines: Iterable[str]) -> tuple[str, int, int] | None:
    """`In shared?`: a queue's id of these machines, where no word says that it is a queue, with its place."""
    found = None
    for queue in (q for name in machines if (c := catalogue().find(name)) for q in c.queues):
        said = re.search(rf"(?i)\b(?:in|on|to|im|en|dans|sur|w|na|в) {re.escape(queue.id)}(?=\s*(?:[?.,;!]|$))", text)
        found = (queue.id, *said.span()) if said else found
    return found


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
    draft.taken += [m.span() for m in matching("config_key").finditer(utterance.text)]
    kinds = list(matching("no_sum").finditer(utterance.text))
    mentions = [  # `CNN/DailyMail` is no CNN
        m
        for m in utterance.of_kind("Model")
        if not matching("no_sum").search(str(m.value))
        or any(one.start() < m.end and m.start < one.end() for one in kinds)
    ]
    exact = [m for m in mentions if (found := find_model(str(m.value))) and found.exact]
    shape = named_shape(utterance.text)
    other = next(iter(kinds), None)
    size = read_size(utterance.text) or _millions(utterance.text)
    if other and size and not (shape or exact):
        return draft.set("model", f"{other[0]} {size:g}B", *other.span())
    sizes = [m for m in mentions if re.fullmatch(r"\d+(?:[.,]\d+)?[bB]", str(m.value))]
    family = next((m for m in mentions if not find_model(str(m.value))), None)
    if family and sizes and (found := find_model(f"{family.value}-{sizes[0].value}")) and found.exact:
        return draft.set("model", f"{family.value}-{sizes[0].value}", sizes[0].start, sizes[0].end)
    if exact and not (shape and shape[2] - shape[1] > exact[-1].end - exact[-1].start):
        return draft.set("model", of_size(str(exact[-1].value), utterance.text), exact[-1].start, exact[-1].end)
    if config := matching("config").search(utterance.text):
        return draft.set("model", config[0], *config.span())
    if shape and not any(m.start <= shape[1] and shape[2] < m.end and find_model(str(m.value)) for m in mentions):
        return draft.set("model", of_size(shape[0], utterance.text), *shape[1:])
    active = matching("active").search(utterance.text)
    if active and (whole := read_size(utterance.text[: active.start()])):
        return draft.set("model", f"{whole:g}B-A{(active[1] or active[2]).replace(',', '.')}B", *active.span())
    if layers := read_layers(utterance.text):
        if not size:
            return draft.set("model", *layers)
        draft.taken.append(layers[1:])  # the size that is said decides
    sized = [m for m in mentions if find_model(str(m.value))]
    if sized:
        told = [m for m in sized if re.search(r"\d[BMbm]", m.text)] or sized  # `7B` before `1 billion`
        return draft.set("model", str(told[-1].value), told[-1].start, told[-1].end)
    if (billions := read_size(utterance.text)) and (written := find_size(utterance.text)):
        return draft.set("model", f"{billions:g}B", *written.span())
    if small := matching("sized").search(utterance.text):
        return draft.set("model", f"{int(small[1])}M model", *small.span())
    if mentions:
        draft.set("model", str(mentions[-1].value), mentions[-1].start, mentions[-1].end)
    return None


def _millions(text: str) -> float | None:
    found = matching("sized").search(text)
    return int(found[1]) / 1000 if found else None


def of_size(name: str, text: str) -> str:
    """`vision transformer 400M`: a family's name stands for one of its models only where the text names no size."""
    told = re.search(rf"(?i)\d\s?bn?[\s-]+{re.escape(name)}\b|\bparam", text)  # `3B vit`, `vit with 3B parameters`
    shape, size = find_shape(name), _millions(text) or (read_size(text) if told else None)
    if size is None or shape is None or shape.kind == "decoder" or re.search(r"\d", name):
        return name
    return f"{name} {size:g}B" if size >= 1 else f"{name} {size * 1000:g}M"


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
    words, nodes = [own_count(draft, one) for one in find_gpu_words(draft.utterance)], count_nodes(draft.utterance)
    counted = nodes if nodes and draft.is_free(*nodes[1:]) else None
    measured = [one for one in words if "pace_s" in draft.values and not draft.is_free(one.start, one.end)]
    words = [one for one in words if one not in measured]
    if model := next((one.model for one in measured if one.model), ""):
        draft.values["gpu"] = model
    named = [one for one in words if one.model]
    if others := {one.model for one in named[:-1]} - {one.model for one in named[-1:]}:
        draft.values["or_gpus"] = tuple(sorted(others))
        draft.taken += [(one.start, one.end) for one in named[:-1]]
    for one in named[-1:] or [one for one in words[:1] if draft.is_free(one.start, one.end)]:
        _one_gpu(draft, one)
    for one in words:
        if one.count and not one.is_nodes and draft.is_free(one.start, one.end):
            name = "each" if not one.gb and EACH.match(draft.utterance.text[one.end :]) else "gpus"
            draft.add(name, one.count, one.start, one.end)
    if counted:
        draft.add("nodes", *counted)
    if grid := matching("grid").search(draft.utterance.text):
        draft.values.pop("gpus", None)
        draft.set("nodes", int(grid["nodes"]), *grid.span())
        draft.set("each", int(grid["each"]), *grid.span())
    sizes = [m for m in draft.utterance.of_kind("Quantity") if m.unit in GIGABYTES and draft.is_free(m.start, m.end)]
    for one_size in sizes:
        text, gb = draft.utterance.text, float(one_size.value) * GIGABYTES[one_size.unit]
        near = text[max(0, one_size.start - 25) : one_size.end + 25]
        if matching("of_host").match(text[one_size.end :]) or matching("host_is").search(text[: one_size.start]):
            draft.add("host_gb", gb, one_size.start, one_size.end)
            continue
        if matching("of_data").match(text[one_size.end :]) or matching("data_is").search(text[: one_size.start]):
            draft.taken.append((one_size.start, one_size.end))  # of the data: no memory
            continue
        disk = matching("of_disk").search(near)
        if disk or gb > LARGEST_CARD_GB:
            at = max(0, one_size.start - 25)
            draft.taken += [(at + disk.start(), at + disk.end())] if disk else []
            if disk or draft.values.get("aim") == "checkpoint":
                draft.add("disk_gb", gb, one_size.start, one_size.end)
            continue
        seen = matching("seen").search(draft.utterance.text[: one_size.start]) and not matching("a_card").match(
            draft.utterance.text[one_size.end :]
        )
        if seen or _is_card(draft, gb, text[one_size.end :]):
            draft.add("measured_gb" if seen else "gpu_gb", gb, one_size.start, one_size.end)


def own_count(draft: Draft, one: GpuWords) -> GpuWords:
    """Without a number that is another amount's: `seq 8192 A100` counts no GPUs."""
    text = draft.utterance.text
    if PER_GPU.search(text[: one.start]) and text[one.start : one.end].lower().startswith(("a ", "an ", "one ")):
        return replace(one, count=None)  # `64 images a GPU` counts none
    sizes = (m for m in draft.utterance.of_kind("Quantity") if m.unit in ("sequence", *TOLD) and m.start < one.start)
    other = next((m for m in sizes if one.start < m.end < one.end), None)
    return replace(one, start=other.end, count=None) if other and one.count else one


def _is_card(draft: Draft, gb: float, behind: str) -> bool:
    """Whether so many GB are those of a card: called one, or as many as the GPU that is named, or one of the machine
    that is named, is sold with. `Only 6 GB in half precision` is no V100's."""
    if matching("a_card").match(behind):
        return True
    clusters = [c for name in draft.values.get("machines", ()) if (c := catalogue().find(name))]  # type: ignore[attr-defined]
    there = {node.gpus.memory_gb for c in clusters for node in c.node_types}
    sold = {size for gpu in gpu_table().gpus if gpu.model == draft.values.get("gpu") for size in gpu.gb}
    known = there | {size / 2 for size in there if size} if clusters else sold
    return not known or any(size and abs(size - gb) < 2 for size in known)


def _one_gpu(draft: Draft, one: GpuWords) -> None:
    start, end = one.start, one.end
    if not (one.model or one.gb or one.count):
        return
    if one.model:
        draft.set("gpu", one.model, start, end)
    if one.gb and (one.model or not matching("seen").search(draft.utterance.text[:start])):
        draft.set("gpu_gb", one.gb, start, end)
    if one.count and not one.is_nodes and matching("node_has").search(draft.utterance.text[:start]):
        draft.set("each", one.count, start, end)
    elif one.count and (one.is_nodes or one.gb or not EACH.match(draft.utterance.text[end:])):
        draft.set("nodes" if one.is_nodes else "gpus", one.count, start, end)
    elif one.count:
        draft.set("each", one.count, start, end)
    if one.each:
        draft.set("each", one.each, start, end)


def _amounts(draft: Draft) -> None:
    """Quantities with a unit; of two with the same unit the last counts."""
    text = draft.utterance.text
    if done := matching("epochs_done").search(text):
        draft.set("epochs_done", int(next(filter(None, done.groups()))), *done.span())
    for name, field_name in (
        ("steps_of", "global_batch"), ("batch_of_all", "global_batch"), ("accumulation", "accumulation"),
    ):  # fmt: skip
        if told := matching(name).search(text):
            number_at = (told.start(told.lastindex or 1), told.end(told.lastindex or 1))
            draft.set(field_name, int(told[told.lastindex or 1].replace(",", "")), *number_at)
            draft.taken += [told.span()] if field_name == "accumulation" else []
    if (told := matching("of_them").search(text)) and draft.is_free(*told.span(1)):
        draft.set(
            "nodes" if "nodes" in draft.values and "gpu" not in draft.values else "gpus", int(told[1]), *told.span()
        )
    every = draft.utterance.of_kind("Quantity")
    for one in every:
        if any(o.start <= one.start and one.end <= o.end and len(o.text) > len(one.text) for o in every):
            continue  # `200 GPU` of `200 GPU hours`
        if re.search(r"\d[.,]$", text[: one.start]):
            draft.taken.append((one.start, one.end))  # `6 G` of `2,6 G`
            continue
        number = float(one.value)
        if not draft.is_free(one.start, one.end) or number <= 0 or is_size(one):
            continue
        behind = text[one.end :]
        name = AMOUNTS.get(one.unit, "")
        if one.unit == "node":
            of_nodes = EACH_OF_NODES.match(behind) or NODES_OF.search(text[: one.start])
            name = "each" if of_nodes else "nodes"
        elif one.unit in ("gpu", "rank", "g"):
            name = "each" if EACH.match(behind) else "" if matching("each_gpu").match(behind) else "gpus"
        elif one.unit == "batch":
            name = "micro_batch" if number <= LARGE_BATCH or matching("each_gpu").match(behind) else "global_batch"
        elif one.unit in ("sample", "sequence") and one.text[0].isdigit() and matching("each_gpu").match(behind):
            name = "micro_batch"  # `sequence of 4096` is a length
        elif one.unit == "speed":
            name = "speed"
            number *= -1 if matching("each_gpu").match(behind) else 1
        elif one.unit == "token":
            name = _tokens_name(text, one, number)
        elif one.unit == "token/parameter" and (model := find_model(str(draft.values.get("model", "")))):
            name, number = "tokens", number * model.parameters
        if name:
            draft.set(name, int(number) if name in WHOLE else number, one.start, one.end)


def _samples(draft: Draft) -> None:
    """`60k dialogues of 1000 tokens each`, `40,000 chats, 3 epochs`: whatever is counted there is a data set's."""
    values, text = draft.values, draft.utterance.text
    each = "sequence" in values and matching("each_of_them").search(text)
    if "samples" in values or not (each or "epochs" in values):
        return
    named = [one for one in draft.utterance.mentions if one.unit or one.kind not in ("Quantity", "JobId")]
    for many in matching("counted").finditer(text):
        plain = re.sub(r"\s|[.,](?=\d{3})", "", many["number"]).replace(",", ".")
        number = float(plain) * {"k": 1e3, "m": 1e6}.get((many["scale"] or "")[:1].lower(), 1.0)
        other = any(one.start < many.end() and many.start() < one.end for one in named)
        if number >= FEWEST_SAMPLES and draft.is_free(*many.span()) and not other:
            draft.add("samples", number, *many.span())


def is_size(one: Mention) -> bool:
    """Whether a batch is the size of a model: `largest batch of 7B`."""
    return one.unit in ("batch", "global_batch", "micro_batch") and float(one.value) >= FEW_TOKENS


def _tokens_name(text: str, one: Mention, number: float) -> str:
    """Which amount tokens are: of the whole, of one sequence, or of a batch."""
    if number >= LARGEST_BATCH:
        return "tokens"
    if matching("of_batch").search(text[: one.start]) or matching("batch_behind").match(text[one.end :]):
        return "batch_tokens"
    return "sequence" if number < FEW_TOKENS else "tokens"


def _times(draft: Draft) -> None:
    text = draft.utterance.text
    every = []
    for one in draft.utterance.of_kind("Duration"):
        data = OF_RECORDINGS.match(text[one.end :])  # `500 h of audio` is data, and no time of a job
        if draft.is_free(one.start, one.end) and float(one.value) > 0 and not _of_model(draft, one) and not data:
            draft.set("hours", float(one.value) / 3600, one.start, one.end)
            every.append(float(one.value) / 3600)
    if "jobs" in (draft.values.get("aim"), *draft.values.get("also", ())):  # type: ignore[misc]  # `12 h at most, my run takes 10 days`: the whole is the longer
        draft.values.update({"hours": max(every)} if every else {})
        draft.values.update({"job_h": min(every)} if len(set(every)) > 1 else {})
        draft.values.update({"per_job": True} if len(set(every)) == 1 and matching("each_job").search(text) else {})
    elif (
        "hours" not in draft.values
        and (day := matching("same_day").search(text))
        and "hours"
        in (
            draft.values.get("aim"),
            *draft.values.get("also", ()),  # type: ignore[misc]
        )
    ):
        draft.set("hours", 24.0, *day.span())
    elif "hours" in draft.values and matching("per_job").search(text):
        draft.values["per_job"] = True
    known = next(((size, m) for name, size in DATA_SETS if (m := name.search(text))), None)
    if known and "epochs" in draft.values:
        draft.add("samples", float(known[0]), *known[1].span())


def _of_model(draft: Draft, one: Mention) -> bool:
    """`124M` is a model's size or a number of sequences, no minutes."""
    return re.fullmatch(r"\d{1,4}\s?M", one.text) is not None


def _pixels(draft: Draft) -> None:
    """The width of an image in pixels, of a model of images: as many patches as that makes."""
    model = find_model(str(draft.values.get("model", "")))
    found = matching("pixels").search(draft.utterance.text)
    if found and found["px2"] and matching("of_batch").search(draft.utterance.text[: found.start()]):
        return draft.add("global_batch", int(found["px2"]), *found.span("px2"))  # `batch at 256`
    if not found or model is None or model.shape.kind not in ("vision", "other", "convolution"):
        return None
    width, usual = int(found["px"] or found["px2"] or found["px3"]), model.shape.sequence or 0
    draft.taken.append(found.span())
    if usual and "sequence" not in draft.values:
        draft.set("sequence", round(usual * (width / model.shape.pixels) ** 2), *found.span())
    return None


def _lengths(draft: Draft) -> None:
    """A bare `8k` or `2048` is the length of a sequence, where none is said."""
    model = find_model(str(draft.values.get("model", "")))
    if "sequence" in draft.values or (model and model.shape.kind not in ("decoder", "encoder")):
        return None  # an image has no length of its own
    for match in matching("length").finditer(draft.utterance.text):
        tokens = int(match["k"]) * 1024 if match["k"] else int(match["n"])
        counted = any(m.unit and m.start <= match.start() < m.end for m in draft.utterance.of_kind("Quantity"))
        if tokens in LENGTHS and not counted and draft.is_free(*match.span()):
            return draft.set("sequence", tokens, *match.span())
    return None


def _settle_aim(draft: Draft) -> None:
    """The aim where other values tell that the words ask of something else: a disk, one of several numbers."""
    values = draft.values
    asked = (values.get("aim"), *values.get("also", ()))  # type: ignore[misc]
    if values.get("disk_gb") and matching("of_saves").search(draft.utterance.text) and values.get("aim") in OF_ROOM:
        values["aim"], asked = "checkpoint", ("checkpoint",)
    told = "saves" in asked and values.get("save_steps")  # how often is said, whether they have room is asked
    if values.get("disk_gb") and ("checkpoint" in asked or told):  # `can I keep them all?`: of the disk
        others = tuple(one for one in asked if one not in (None, "fit", "checkpoint", "saves" if told else None))
        values["aim"], values["also"] = ("checkpoint", ("checkpoint", *others) if others else ())
    named = re.sub(r"[\s_-]+", "", str(values.get("model") or "?")).lower()
    names = (name for one in model_shapes().shapes for name in (one.name, *one.names))
    known = any(re.sub(r"[\s_-]+", "", name).lower().startswith(named) for name in names)
    if known and not find_model(str(values["model"])) and matching("of_family").search(draft.utterance.text):
        values["aim"], values["also"] = "largest", ()
    several = matching("several").search(draft.utterance.text)
    if several:  # `1, 2 or 4 nodes?`: how many is asked
        for name in ("nodes", "gpus") if NODES.search(several[0]) else ("gpus",):  # `1 GPU a node` counts none then
            values.pop(name, None)
        values["aim"] = "nodes" if values.get("aim") in (None, "fit", "memory") else values["aim"]


def _settle(draft: Draft) -> None:
    """What follows from several values together."""
    values = draft.values
    if "pace_s" in values and not values.get("pace_gpus") and not values.get("pace_nodes"):
        paced = {"pace_nodes": values.get("nodes"), "pace_gpus": None if values.get("nodes") else values.get("gpus")}
        values.update({name: value for name, value in paced.items() if value})
    if values.get("pace_gpus") and not (values.get("gpus") or values.get("nodes")):  # `2 min on 2 GPUs. ok with 4?`
        others = [m for m in matching("bare").finditer(draft.utterance.text) if draft.is_free(*m.span(1))]
        if len(others) == 1:
            draft.set("gpus", int(others[0][1]), *others[0].span(1))
    _settle_aim(draft)
    asked = (values.get("aim"), *values.get("also", ()))  # type: ignore[misc]
    if values.get("hours") and "nodes" in asked and "hours" in asked:  # `in 24 h: how many nodes?`: the time is given
        values["aim"], values["also"] = "hours", tuple(one for one in asked if one not in ("hours", "nodes"))
    if tokens := cast(float, values.pop("batch_tokens", None)):
        power = matching("batch_power").search(draft.utterance.text)
        if power and abs(2 ** int(power["power"]) / tokens - 1) < NEAR_POWER:
            draft.taken.append(power.span())
            tokens = float(2 ** int(power["power"]))
        values["global_batch"] = max(1, int(float(tokens) / float(values.get("sequence") or 4096)))  # type: ignore[arg-type]
    told = matching("bare_speed").search(draft.utterance.text)
    if told and "speed" not in values and matching("of_speed").search(draft.utterance.text):
        draft.set("speed", -float(told[1].replace(",", "")), *told.span())
    ways = {m.value for m in draft.utterance.of_kind("Method")} & set(STRATEGIES[:5])
    ways -= {way for _, way in values.get("denied", ())}  # type: ignore[attr-defined]
    if len(ways) > 1 and values.get("aim") in (None, "fit", "fastest"):  # `is FSDP faster than DDP?`
        values["aim"] = "ways"
    if values.get("aim") in ("ways", "split", "hybrid"):  # which one is asked: none is given
        values.pop("strategy", None)
    speed = float(values.get("speed") or 0)  # type: ignore[arg-type]
    if speed < 0:
        values["speed"], values["speed_each"] = -speed, True
    many = values.get("nodes") or int(values.get("gpus") or 1) > 1  # type: ignore[call-overload]
    counted = many or values.get("aim") == "accumulation" or matching("batch_of_all").search(draft.utterance.text)
    if (batch := values.get("global_batch")) and not counted and "micro_batch" not in values:
        values["micro_batch"] = batch
        del values["global_batch"]
    if values.get("aim") == "batch":  # the largest is asked: `64 works` gives none
        values.pop("micro_batch", None)
    batch = values.get("micro_batch") or values.get("global_batch")
    if values.get("task") == "serve" and batch:
        values.setdefault("users", batch)
        values.pop("micro_batch", None), values.pop("global_batch", None)
    if values.get("task") == "serve" and values.get("each") and not (values.get("nodes") or values.get("gpus")):
        values["nodes"] = 1  # `on the 4x A100 nodes`: whether one of them does is asked
    if values.get("precision") in ("int4", "int8") and values.get("task") == "train":
        values["task"] = "qlora"
    if values.get("precision") in ("int4", "int8") and "task" not in values:
        values["task"] = "serve"
