"""A short answer to the question just asked: a bare number, "the second one", "yes", a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from graph.extraction.sentences import choose
from graph.extraction.sentences.choose import SaidValue
from graph.extraction.sentences.counts import SaidCount, settle
from graph.extraction.sentences.durations import find_durations, hms
from graph.extraction.sentences.intents import is_question
from graph.extraction.sentences.lexicon import fold, lexicon, read_yaml
from graph.extraction.sentences.line import NUMBER, Line, make_line
from graph.extraction.sentences.machines import names, squeeze
from graph.extraction.sentences.names import find_names
from graph.extraction.sentences.reading import SentenceReading, read_command
from knowledge.catalogue import catalogue
from knowledge.types import STRATEGIES, JobRequest

COUNTED = ("nodes", "gpus_per_node", "total_gpus")
MOST_WORDS = 14
# Words of a sentence: with one of them an answer is no machine's name.
NO_NAMES = frozenset(
    ("it", "this", "that", "them", "me", "you", "again", "what", "why", "how", "save", "show", "stop", "quit")
)
MIDDLE_OF = 3  # options that have one in the middle
MOST_PLACED = 9  # options of which anybody means the last one
MOST_NUMBERED = 9  # a longer list of options is shown without numbers


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(pattern) for name, pattern in read_yaml("answers.yaml")["patterns"].items()}


@cache
def _ordinals() -> dict[str, int]:
    return {fold(str(word)): place for place, words in read_yaml("answers.yaml")["ordinals"].items() for word in words}


@cache
def _cardinals() -> dict[str, int]:
    words: dict[str, int] = read_yaml("answers.yaml")["cardinals"]
    return words


def is_yes(folded: str) -> bool:
    return bool(_patterns()["yes"].match(folded.strip()))


def is_open(folded: str) -> bool:
    """ "I don't know", "you choose": an answer that gives no value."""
    return bool(_patterns()["open"].search(folded))


def bare_numbers(reading: SentenceReading) -> list[tuple[float, int]]:
    """Numbers that belong to nothing, with their tokens."""
    line = reading.line
    used = {i for c in reading.counts for i in range(c.first, c.last + 1)}
    used |= {i for d in find_durations(line) for i in range(d.first, d.last + 1)}
    return [
        (float(t.key), i)
        for i, t in enumerate(line.tokens)
        if i not in used and t.mention is None and NUMBER.fullmatch(t.key)
    ]


def answer(reading: SentenceReading, before: JobRequest, asked: str, options: Sequence[str]) -> dict[str, SaidValue]:
    """The fields that a reply gives because of what was asked; fields that it names in words are not in here."""
    folded = fold(reading.message.said).strip()
    said = reading.message.said.strip()
    if len(said.split()) > MOST_WORDS or asked in reading.values or (asked in COUNTED and _counted(reading, asked)):
        return {}
    if any(is_question(part) for part in re.split(r"(?<=[?])", said)) and not options:
        return {}
    if picked := pick(folded, asked, options, reading, before):
        return {asked: SaidValue(picked, said[:80])}
    if is_yes(folded):
        return _agreed(before, asked, options, said)
    if asked in COUNTED:
        return _number(reading, before, asked, folded, said)
    return _named(reading, before, asked, folded, said)


def _counted(reading: SentenceReading, asked: str) -> bool:
    return any(c.field == asked for c in reading.counts)


def pick(
    folded: str, asked: str, options: Sequence[str], reading: SentenceReading, before: JobRequest
) -> str | int | None:
    """The option meant by its place, its own words, or what it is."""
    if not options:
        return None
    if len(options) > MOST_NUMBERED and re.search(r"\d", folded):
        return None
    if asked in COUNTED and not re.search(r"option|choice|#|opcion|wahl|nummer", folded):
        return None
    if _patterns()["both"].search(folded):
        values = {str(value_of(asked, option)) for option in options}
        return "3d" if values == {"tp", "pp"} else None
    place = _place(folded, len(options))
    if place is not None:
        return value_of(asked, options[place])
    same = [o for o in options if squeeze(o) == squeeze(folded)] or [
        o for o in options if len(o) > 2 and squeeze(o) in squeeze(folded)
    ]
    if len(same) == 1:
        return value_of(asked, same[0])
    kept = _by_kind(folded, asked, options, before)
    return value_of(asked, kept) if kept else None


def _by_kind(folded: str, asked: str, options: Sequence[str], before: JobRequest) -> str | None:
    """`the other one` of two, `the smaller one`, `the nvidia ones`: a queue by its most nodes and its GPUs' maker."""
    held = getattr(before, asked, None)
    if _patterns()["other"].search(folded):
        others = [one for one in options if value_of(asked, one) != held]
        return others[0] if held and len(others) == 1 else None
    cluster = catalogue().clusters.get(before.machine or "")
    queues = [cluster.queue(one) for one in options] if cluster and asked == "queue" else []
    known = [one for one in queues if one is not None]
    if cluster is None or len(known) != len(options) or not known:
        return None
    vendors = {n.id: n.gpus.vendor for n in cluster.node_types}
    if maker := _patterns()["maker"].search(folded):
        made = [o for o, q in zip(options, known, strict=True) if {vendors.get(n) for n in q.node_types} == {maker[0]}]
        return made[0] if len(made) == 1 else None
    sizes = [one.max_nodes for one in known]
    big, small = (_patterns()[name].search(folded) for name in ("bigger", "smaller"))
    if not (big or small) or None in sizes or len(set(sizes)) < len(sizes):
        return None
    ordered = sorted(zip(sizes, options, strict=True))
    return ordered[-1 if big else 0][1]


def _place(folded: str, size: int) -> int | None:
    match = _patterns()["place"].search(folded)
    if match:
        word = match["word"] or match["number"] or ""
        place = int(word) if word.isdigit() else _cardinals().get(word, 0)
        return place - 1 if 1 <= place <= size else None
    match = _patterns()["letter"].match(folded)
    if match and ord(match[1]) - ord("a") < size:
        return ord(match[1]) - ord("a")
    if size == MIDDLE_OF and _patterns()["middle"].search(folded):
        return 1
    if size <= MOST_PLACED and _patterns()["last"].search(folded):
        return size - 1
    found = (
        [place for word, place in _ordinals().items() if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", folded)]
        if len(folded) < 60
        else []
    )
    return found[0] - 1 if len(set(found)) == 1 and found[0] <= size else None


def value_of(asked: str, option: str) -> str | int | None:
    """An option's text as the field's value: "ZeRO-3 (DeepSpeed)" is zero3. None where it is no such value."""
    if asked in COUNTED:
        number = re.search(r"\d+", option)
        return int(number[0]) or None if number else None
    line = make_line(option, find_names(option))
    if asked == "walltime":
        return next((hms(d.seconds) for d in find_durations(line)), None)
    if asked in ("strategy", "framework"):
        said = choose.strategy(line) if asked == "strategy" else choose.framework(line)
        return said.value if said else option if option in STRATEGIES else None
    if asked in ("machine", "source_machine"):
        said = choose.last(line, choose.meant(line, "machine"))
        return said.value if said else option.lower()
    return option


def _agreed(before: JobRequest, asked: str, options: Sequence[str], said: str) -> dict[str, SaidValue]:
    """Yes to what was proposed: the one option, or the nodes that a total makes on this machine."""
    if len(options) == 1:
        value = value_of(asked, options[0])
        return {asked: SaidValue(value, said)} if value is not None else {}
    per_node = devices(before)
    if asked not in ("nodes", "gpus_per_node") or per_node is None:
        return {}
    if before.total_gpus:
        nodes = -(-before.total_gpus // per_node)
        each = before.total_gpus // nodes
        return (
            {"nodes": SaidValue(nodes, said), "gpus_per_node": SaidValue(each, said)}
            if nodes * each == before.total_gpus
            else {}
        )
    return {"gpus_per_node": SaidValue(per_node, said)} if asked == "gpus_per_node" else {}


def devices(request: JobRequest) -> int | None:
    """GPUs of a node as a framework counts them, where all node types that are meant agree."""
    cluster = catalogue().clusters.get(request.machine or "")
    if cluster is None:
        return None
    queue = cluster.queue(request.queue) if request.queue else None
    types = [n for n in cluster.node_types if queue is None or n.id in queue.node_types]
    counts = {n.gpus.devices_per_node for n in types}
    return next(iter(counts)) if len(counts) == 1 else None


def most_devices(machine: str | None) -> int | None:
    """The devices of the machine's largest node; None for a machine that is not known."""
    cluster = catalogue().clusters.get(machine or "")
    return max((n.gpus.devices_per_node or 0 for n in cluster.node_types), default=0) or None if cluster else None


def _number(reading: SentenceReading, before: JobRequest, asked: str, folded: str, said: str) -> dict[str, SaidValue]:
    if asked == "gpus_per_node" and _patterns()["all"].search(folded) and not bare_numbers(reading):
        per_node = devices(before)
        return {asked: SaidValue(per_node, said[:80])} if per_node else {}
    numbers = [n for n, _ in bare_numbers(reading)]
    whole = [int(n) for n in numbers if n.is_integer() and n > 0]
    if not whole:
        article = re.fullmatch(r" (?:un|a|single)(?: single| so)?(?: please| [.!])? ", reading.line.canon)
        return {asked: SaidValue(1, said)} if article else {}
    if len(whole) > 1 and not re.search(r" (?:oops|no|so|not|but|then) ", reading.line.canon):
        return {}
    return {asked: SaidValue(whole[-1], said[:80])}


def _named(reading: SentenceReading, before: JobRequest, asked: str, folded: str, said: str) -> dict[str, SaidValue]:
    """A value that only the question makes one: an account, an unknown machine, a stage, hours."""
    if is_open(folded):
        return {}
    if asked == "walltime":
        return _hours(reading, said)
    if asked == "strategy":
        return _strategy(reading, before, folded, said)
    if asked == "framework":
        return {asked: SaidValue("pytorch", said)} if _patterns()["plain"].search(folded) else {}
    if asked == "entry":
        command = read_command(said)
        one = (
            {asked: SaidValue(said, said)} if re.fullmatch(r"[\w./~$-]+", said) and not lexicon().knows(folded) else {}
        )
        return {n: s for n, s in command.items() if n in ("entry", "args")} or one
    if asked == "machine":
        return _machine(reading, folded)
    if asked in ("account", "queue", "model", "environment", "container"):
        words = _patterns()["lead"].sub("", said).strip(" .!\"'`")
        fits = re.fullmatch(r"[\w.@/:~$+-]+(?: [\w.+-]+){0,2}" if asked == "model" else r"[\w.@/:~$+-]+", words)
        return (
            {asked: SaidValue(words, said)}
            if fits and not lexicon().knows(fold(words)) and not _patterns()["none"].match(folded)
            else {}
        )
    return {}


def _hours(reading: SentenceReading, said: str) -> dict[str, SaidValue]:
    """A bare number for a walltime: hours up to two days, minutes beyond."""
    numbers = [n for n, _ in bare_numbers(reading)] or [float(c.value) for c in reading.counts]
    if len(numbers) != 1 or numbers[0] <= 0:
        return {}
    return {"walltime": SaidValue(hms(numbers[0] * (3600 if numbers[0] <= 48 else 60)), said)}


def _strategy(reading: SentenceReading, before: JobRequest, folded: str, said: str) -> dict[str, SaidValue]:
    if _patterns()["none"].match(folded):
        return {"strategy": SaidValue("none", said)}
    if re.search(r"\b3\s?-?d\b", folded):
        return {"strategy": SaidValue("3d", said[:80])}
    stages = [int(n) for n, _ in bare_numbers(reading) if n in (1, 2, 3)]
    if before.framework == "deepspeed" and len(stages) == 1 and len(said) < 16:
        return {"strategy": SaidValue(f"zero{stages[0]}", said)}
    return {}


def _machine(reading: SentenceReading, folded: str) -> dict[str, SaidValue]:
    """A machine that nobody described: its name as said."""
    if reading.values or reading.counts or _patterns()["none"].match(folded):
        return {}
    words = _patterns()["lead"].sub("", folded).strip(" .!\"'`")
    words = re.sub(r"\s+(?:cluster|machine|system|supercomputer|please|bitte)$", "", words)
    if not re.fullmatch(r"[^\W\d_][\w-]{2,20}(?: [\w-]{1,12})?", words) or is_small_talk(words):
        return {}
    if any(lexicon().knows(w) or w in names().not_names or w in NO_NAMES for w in words.split()):
        return {}
    return {"machine": SaidValue(words, reading.message.said.strip()[:80])}


def is_small_talk(words: str) -> bool:
    from graph.extraction.sentences.intents import small_words

    return all(w in small_words() for w in words.split()) or bool(_patterns()["open"].search(words))


def _of_node(count: SaidCount, line: Line) -> bool:
    """Whether GPUs named in answer to "how many per node?" are of one node: no total is spoken of."""
    keys = {t.key for t in line.tokens[count.first : count.last + 1]}
    return count.field == "gpus" or (count.field == "total_gpus" and not keys & {"total", "over"})


def settle_counts(
    counts: Sequence[SaidCount],
    line: Line,
    before: JobRequest,
    machine: str | None,
    asked: str | None,
    articles: bool,
    unsharded: bool,
) -> dict[str, SaidValue]:
    """Counts as fields, each with its words. articles: "a node" is one. unsharded: no strategy is named."""
    if asked == "gpus_per_node":
        counts = [replace(c, field="gpus_per_node") if _of_node(c, line) else c for c in counts]
    layout = settle(list(counts), before.nodes, most_devices(machine), articles)
    if layout.gpus_per_node == 1 and not (layout.nodes or before.nodes or layout.total_gpus or asked) and unsharded:
        layout = replace(layout, one_gpu=True)
    words = {c.field: line.words(c.first, c.last) for c in counts}
    shown = words.get("gpus") or words.get("total_gpus") or next(iter(words.values()), "")
    out = {
        name: SaidValue(value, words.get(name, shown))
        for name, value in (
            ("nodes", layout.nodes),
            ("gpus_per_node", layout.gpus_per_node),
            ("total_gpus", layout.total_gpus),
        )
        if value
    }
    if layout.one_gpu and articles:
        out |= {name: SaidValue(1, shown) for name in COUNTED}
        out["strategy"] = SaidValue("none", shown)
    return out
