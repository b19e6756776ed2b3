"""GPUs as words count them: `8xH200`, `4 A100 80GB nodes`, `one Perlmutter A100-40 node`, `a single 24 GB card`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from graph.reading.utterance import Utterance
from knowledge.gpu_facts import gpu_table, unknown_gpus

NUMBERS = {"a": 1, "an": 1, "one": 1, "single": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
           "eight": 8, "twelve": 12, "sixteen": 16, "ein": 1, "eine": 1, "einem": 1, "einer": 1, "einen": 1,
           "un": 1, "une": 1, "uno": 1, "una": 1, "numa": 1, "один": 1, "одна": 1, "одной": 1,
           "одном": 1, "одну": 1, "jednej": 1, "jednym": 1, "jeden": 1}  # fmt: skip
# Cards that a framework counts as two devices, where a person counts modules.
HALVED = ("MI250X", "Data Center GPU Max 1550")
# `My RTX 3090` is one card, `my A100s` are not.
MINE = ("my", "mein", "meine", "meiner", "meinem", "meinen", "ma", "mon", "mi", "mia", "mio")
COUNT = rf"(?P<count>(?<![\d,])\d{{1,5}}|{'|'.join(NUMBERS)})(?:\s+(?:single|lone|einzelne[nrs]?|seule?|sol[oa]))?"
# `A laptop GPU` is one, `a larger GPU` counts none.
ANY_ONE = r"(?:(?<=[a-z])\s+(?!\w+er\b|different|other|multi|new)[a-z]+(?=\s+(?:gpu|card)\b))?"
NODE = (
    r"(?:nodes?|knoten|nodos?|n(?:oe|œ)uds?|nodi|w[eę]z(?:e[lł]|[lł])\w*|уз(?:ел|л)\w*"
    r"|servers?|pcs?|workstations?|desktops?|[dh]gx)"
)
ONE_NODE = re.compile(
    rf"(?i)(?<![\w-])(?:{COUNT}|the(?=\s+(?:whole|full|entire)\s)|(?<=\bon )the(?=\s+[a-z]+\d+\w*\s+node\b))[\s-]+"
    rf"(?:(?:whole|entire|full|gpu|single|gaming|old|lab"
    rf"|plain|usual|regular|normal|ordinary|standard|[a-z]+\d+\w*)\s+)?{NODE}\b(?![ -]*(?:hours?|hrs?|h)\b)"
)
# `a 4 x A100 node` is one node of four; `4 x A100 nodes` are four.
ONE_OF_THEM = re.compile(r"(?i)node|nodo|n(?:oe|œ)ud|server")
# `the 4x A100 nodes` are those of four, and `one of the 4x A100 nodes` is one of them.
THOSE = re.compile(r"(?i)(?:\b(?P<one>one|1|a single|una?|uno|eine[mnr]?) (?:of|de|dei|von|d'entre) )?"
                   r"\b(?:the|those|these|your|their|our|den|der|die|les|los|las)\s+$")  # fmt: skip
# `4 GPUs a node` counts no node.
EACH_NODE = re.compile(r"(?i)(?:gpus?|cards?|ranks?|gcds?|tiles?|per|\d)\s*$")
GENERIC = (
    r"(?:gpus?|apus?|cards?|gcds?|tiles?|karten?|cartes?|tarjetas?|schede)"
    r"(?![ -]*(?:(?:nodes?[ -]*)?(?:hours?|hrs?|h|stunden|heures?|horas?|ore)\b|小时|時間))"
)


@dataclass(frozen=True, slots=True)
class GpuWords:
    """model: the GPU's name as the facts write it, empty for a bare `card`; gb: the memory beside it; count: of devices
    or, where is_nodes, of nodes; each: GPUs of one of these nodes (`A100 x4`)."""

    start: int
    end: int
    model: str = ""
    gb: float | None = None
    count: int | None = None
    is_nodes: bool = False
    each: int | None = None


@cache
def _pattern() -> re.Pattern[str]:
    names = sorted({g.model for g in gpu_table().gpus} | set(unknown_gpus()), key=len, reverse=True)
    models = "|".join(re.escape(name).replace(r"\ ", r"[ -]?") for name in names) + "|PVC|3090|4090"
    return re.compile(
        rf"(?<![\w./-])(?:(?:{COUNT}{ANY_ONE}|(?P<mine>{'|'.join(MINE)})(?=\s+\D))\s*"
        rf"(?:(?P<times>[x\u00d7*])\s*)?(?:of (?:the )?)?-?)?"
        rf"(?:(?P<before>\d{{2,3}})\s?-?(?:gi?b|gigs?)\s+)?(?:(?:nvidia|amd|intel|geforce|tesla)\s+)*"
        rf"(?:(?P<gpu>{models})s?(?![A-WYZa-wyz0-9]|x(?!\d))|(?P<card>{GENERIC})\b)"
        rf"(?:\s*(?:sxm\d?|pcie))?"
        rf"(?:-(?P<tied>\d{{2,3}})(?:\s?gi?b|g)?s?(?!\w|\.\w)|\s*\(?(?:(?:mit|with|con|avec)\s+)?(?P<after>\d{{2,3}})\s?-?(?:gi?b|g(?!\w)|gigs?)\b\)?"
        rf"|\s+(?P<eight>\d{{1,2}})\s?[x\u00d7]\s?(?P<of>\d{{2,3}})(?:\s?gi?b)?(?!\w)"
        rf"|(?(count)\s+(?P<sized>40|80|94|96|141)(?=\s+{NODE}\b)|(?!))"
        rf"|\s+(?P<bare>\d{{2,3}})s?(?![\w.,-]*\w|\s*(?:{GENERIC}|{NODE}|x|h\b|hours?)))?"
        rf"(?:\s*[x\u00d7]\s*(?P<each>\d{{1,2}})(?!\w))?(?:\s*(?:gpus?|apus?|(?P<whole>cards?|karten?)|gcds?|tiles?)\b)?"
        rf"(?:\s+(?P<unit>modules?|{NODE})\b)?",
        re.I | re.A,  # Chinese and Japanese write no blanks
    )


def find_gpu_words(utterance: Utterance) -> Iterator[GpuWords]:
    """Every GPU that is named or counted, those with a name first; a machine's name between number and GPU is looked
    through."""
    found = [_read(match) for match in _pattern().finditer(without_machines(utterance))]
    yield from sorted(found, key=lambda one: not one.model)


def gpu_of(text: str) -> GpuWords | None:
    """The card that a value by itself names: `A100-80`, `H100 80GB`, `mi250x`."""
    match = _pattern().fullmatch(text.strip())
    return _read(match) if match else None


def without_machines(utterance: Utterance) -> str:
    """The text with blanks for machines' names; as long as it was."""
    text = utterance.text
    for one in utterance.of_kind("Machine"):
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text


def count_nodes(utterance: Utterance) -> tuple[int, int, int] | None:
    """Nodes that an article or a word counts (`a node of Delta`), with their place; None where none does."""
    text = without_machines(utterance)
    for match in ONE_NODE.finditer(text):
        if not EACH_NODE.search(text[: match.start()]):
            return number(match["count"] or "a"), match.start(), match.end()
    return None


def number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS[word.lower()]


def _read(match: re.Match[str]) -> GpuWords:
    model = _as_known(match["gpu"] or "")
    sold = {f"{gb:g}" for gpu in gpu_table().gpus if gpu.model == model for gb in gpu.gb}
    bare = match["bare"] if match["bare"] in sold else None
    gb = next((match[name] for name in ("before", "tied", "after", "of", "sized") if match[name]), bare)
    count = number(match["count"]) if match["count"] else None
    if match["mine"] and not re.search(r"(?i)s(?:\s*\d+\s*gi?b)?$", match[0]):
        count = 1
    unit = (match["unit"] or "").lower()
    is_nodes = bool(unit) and not unit.startswith("module")
    if count and (unit.startswith("module") or match["whole"]) and model in HALVED:
        count *= 2
    each = next((int(match[name]) for name in ("each", "eight") if match[name]), None)
    if count and match["times"] and ONE_OF_THEM.fullmatch(unit):
        count, each = 1, count
    elif count and match["times"] and is_nodes and (those := THOSE.search(match.string[: match.start()])):
        count, each = 1 if those["one"] else None, count
    return GpuWords(*match.span(), model, float(gb) if gb else None, count or None, is_nodes, each)


def _as_known(name: str) -> str:
    plain = re.sub(r"[ -]", "", name).upper()
    plain = {"PVC": "DATACENTERGPUMAX1550", "3090": "RTX3090", "4090": "RTX4090"}.get(plain, plain)
    known = [*(g.model for g in gpu_table().gpus), *unknown_gpus()]
    return next((one for one in known if re.sub(r"[ -]", "", one).upper() == plain), name)
