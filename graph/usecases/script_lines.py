"""The lines of a person's own script by what people call them: taken out, brought back, and accounted for.

A line is known by what it sets (`the time`, `the OMP line`, `mail`), so that no list of lines is needed. After an edit
every value in the words must stand in a line that changed, or be named as not placed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from graph.extraction.script import ReadScript, read_script
from graph.reading.mentions import find_mentions
from graph.reading.parts import NUMBERS
from graph.reading.scope import ScopeStretch, stretches
from knowledge.errors import InputError

# A directive's long name -> what people call it beside that.
CALLED = {
    "time": "hour hours walltime limit wall laufzeit zeit temps tiempo tempo stunden heures horas",
    "walltime": "hour hours time limit wall laufzeit zeit temps tiempo",
    "nodes": "node knoten nodos noeuds nodi",
    "select": "node nodes knoten nodos",
    "account": "project konto compte cuenta allocation",
    "qos": "queue warteschlange cola",
    "partition": "queue cola",
    "queue": "qos partition cola",
    "output": "log logs stdout",
    "error": "stderr",
    "job-name": "name",
    "mail-user": "mails email emails notification correo courriel",
    "mail-type": "mails email emails notification correo courriel",
    "gres": "gpu gpus cards",
    "gpus-per-node": "gpu gpus cards",
    "mem": "memory ram",
}
SMALL_WORDS = """
the that this line lines and not don dont use add set put back please pls for from with was were there have has want
need any more job script remove drop delete leave out take get rid off turn actually wait again before keep but only
also one option flag directive setting part thing its you your just now then as it to in of per ohne kein keine nicht
wieder zurück bitte sans sin senza what which how why did
"""
SMALL = frozenset(SMALL_WORDS.split())
# A denial that does without a thing; `not X` alone corrects what was said.
DOES_WITHOUT = re.compile(
    r"(?i)(?:no|without|remove|delete|take out|leave out|get rid of|turn off|switch off|disable|drop|kein\w*|ohne"
    r"|sans|sin|senza|quita|entfern\w*|l[öo]sch\w*|enl[eè]ve\w*|togli|rimuovi)\b"
    r"|.*\b(?:use|add|want|need|load|include|have|ask|pass|export|send|usar?)\b"
)
# A denial of so much of a thing, which is a limit and leaves the thing; a number behind an option is its value.
AMOUNT = re.compile(
    r"(?i)\b(?:more|less|fewer|longer|mehr|weniger|plus de|moins de|m[áa]s de|pi[uù] di)\b"
    r"|\b(?:so|that|too|as|this|zu) (?:much|many|long|big|large|high|viele?|lange?)\b"
    r"|\bat (?:most|least)\b|(?<![\w./=-])\d"
)
TYPED = re.compile(r"(?<!\S)--?[A-Za-z]\S*(?:\s+\d\S*)?")
LIMITS = "*{}*: I take that for a limit and take nothing out for it; say the value that it shall have."
NAMES = re.compile(r"(?:export\s+|declare\s+-x\s+)?([A-Za-z_]\w*)=|(?<!\S)(--?[A-Za-z][\w-]*)")
# A word of a name; what a thing is counted by (`--gpus-per-node`) names no line.
PIECE = re.compile(r"(?<!-per-)(?<![^\W_])[^\W_]+")
MOST_LINES = 6
# What carries a value in words: an option, a variable, a path, an address, a number with what is joined to it.
VALUED = re.compile(
    r"(?P<option>(?<![\w/.-])--?[A-Za-z][\w.-]*)|(?P<name>\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|[\w.+-]+@[\w.-]+\w"
    r"|(?<![\w/])[~$.]?[\w.{}-]*/[\w./${}@-]*\w|\b[a-z]\w*(?:[._]\w+)+\b|\b[a-z]\w* = [^\s,;.][^,;.]*)"
    r"|(?P<number>(?<![\w.$/-])-?\d[\w.:%+-]*)"
)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE]-?\d+)?")
CLOCK = re.compile(r"(?:(\d+)-)?(\d+)[:h](\d\d)(?::(\d\d))?")


def name_pieces(script: ReadScript, lines: list[str]) -> list[set[str]]:
    """For each line the words that its name is made of: a directive's, a variable's, a command's and its options'."""
    out: list[set[str]] = []
    for line in lines:
        names = [found for match in NAMES.finditer(line) for found in match.groups() if found]
        bare = line.strip()
        first = [] if bare.startswith("#") else bare.split()[:2]
        out.append({piece.lower() for name in (*names, *first) for piece in PIECE.findall(name)})
    for one in script.directives:
        if one.active and one.line <= len(out):
            called = CALLED.get(one.option, "").split()
            out[one.line - 1] |= {piece.lower() for piece in PIECE.findall(one.option)} | set(called)
    return out


def content(words: str) -> set[str]:
    """The words that may name a line, each as it is and without its plural."""
    found = {one.lower() for one in PIECE.findall(words) if len(one) > 1 and one.lower() not in SMALL}
    return found | {one.removesuffix("s") for one in found}


def named_lines(text: str, words: str) -> list[int]:
    """The indexes of the lines that the words name best; none where they name no line, or too many."""
    lines, said = text.splitlines(), content(words)
    try:
        script = read_script(text)
    except (InputError, RecursionError):
        return []
    scores = [len(said & pieces) for pieces in name_pieces(script, lines)]
    whole = [at for at, line in enumerate(lines) if not line.startswith("#!") and at not in joined(script, lines)]
    best = max((scores[at] for at in whole), default=0)
    found = [at for at in whole if scores[at] == best]
    return found if best and len(found) <= MOST_LINES else []


def joined(script: ReadScript, lines: list[str]) -> set[int]:
    """The launch, and every line that is only a part of a command: none of them goes by itself."""
    ends = [at for at, line in enumerate(lines) if line.rstrip().endswith("\\")]
    launch = {script.training.line - 1} if script.training else set()
    return launch | set(ends) | {at + 1 for at in ends}


def without_lines(text: str, at: Iterable[int]) -> str:
    gone = set(at)
    return "".join(line for number, line in enumerate(text.splitlines(keepends=True)) if number not in gone)


def changed_lines(before: str, after: str) -> tuple[str, ...]:
    """The lines that only one of the two texts has."""
    a, b = before.splitlines(), after.splitlines()
    changes = [one for one in SequenceMatcher(None, a, b, False).get_opcodes() if one[0] != "equal"]
    return tuple(line for _, i, j, k, m in changes for line in (*a[i:j], *b[k:m]))


def changed_words(before: str, after: str) -> set[str]:
    """The words that only one of the two texts has, in the lines that changed."""
    a, b = (" ".join(one.splitlines()).split() for one in (before, after))
    return content(" ".join(set(a) ^ set(b)))


def bring_back(now: str, before: str, words: str) -> str:
    """The text with those of its changes undone whose lines the words name."""
    a, b = before.splitlines(keepends=True), now.splitlines(keepends=True)
    said, out = content(words), list[str]()
    try:
        pieces = name_pieces(read_script(before), a), name_pieces(read_script(now), b)
    except (InputError, RecursionError):
        return now
    for tag, i, j, k, m in SequenceMatcher(None, a, b, False).get_opcodes():
        if tag == "equal" or j - i != m - k:
            named = tag != "equal" and any(said & one for one in (*pieces[0][i:j], *pieces[1][k:m]))
            out += a[i:j] if named else b[k:m]
            continue
        out += [a[i + n] if said & (pieces[0][i + n] | pieces[1][k + n]) else b[k + n] for n in range(j - i)]
    return "".join(out)


def does_without(one: ScopeStretch) -> bool:
    return not one.keeps and DOES_WITHOUT.match(one.text) is not None and not is_limit(one)


def is_limit(one: ScopeStretch) -> bool:
    return AMOUNT.search(TYPED.sub("", one.text)) is not None


def scope_notes(text: str, words: str) -> tuple[str, ...]:
    """A sentence for each thing that is denied and not there, that is to stay, or that somebody else says."""
    out = []
    for one in stretches(words):
        said, denied = " ".join(one.text.split()).strip(" ,."), one.scope == "negated"
        if not content(said):
            continue
        if one.keeps:
            out.append(f"*{said}*: it stays as it is.")
        elif denied and DOES_WITHOUT.match(said) and is_limit(one):
            out.append(LIMITS.format(said))
        elif denied and does_without(one) and not (content(said) & content(text) or named_lines(text, said)):
            out.append(f"*{said}*: the script has no such thing, and gets none.")
        elif one.scope in ("others", "hypothetical") and any(True for _ in VALUED.finditer(said)):
            out.append(f"*{said}*: I take that for what others say or what may be, and change nothing by it.")
    return tuple(out)


def values_of(words: str) -> Iterator[tuple[str, str]]:
    """What in the words has to end up somewhere: (kind, text)."""
    for found in VALUED.finditer(words):
        before = words[: found.start()]
        inside = next((one for one in stretches(words) if one.start <= found.start() < one.end), None)
        if inside and (inside.scope != "negated" or inside.keeps or found.lastgroup != "number"):
            continue  # a number that is denied stands in a line that changed, or was no denial's
        if not re.search(r"(?i)\b(?:line|step|rank|from|keep|leave)\s+(?:the |my |it at )?$", before):
            yield found.lastgroup or "", found[0].rstrip(".,:;!?-")


def unaccounted(words: str, lines: Iterable[str]) -> tuple[str, ...]:
    """The values in the words that no line holds. lines: those that changed, and what was said of the change."""
    lines = tuple(lines)
    held = " ".join(lines)
    low = held.lower().replace("_", "-")
    numbers = {float(one) for one in NUMBER.findall(held)}
    counts = {float(one) + 1 for line in lines if "array" in line or "-J " in line for one in NUMBER.findall(line)}
    seconds = {clock_seconds(one) for one in CLOCK.finditer(held)} | numbers | {60 * one for one in numbers}
    times = [one for one in find_mentions(words)[1] if one.kind == "Duration"]
    out = []
    for kind, text in values_of(words):
        said = [float(one.value) for one in times if text in one.text or one.text in text]
        if kind != "number":
            placed = text.lower().replace("_", "-").lstrip("-") in low
        elif CLOCK.fullmatch(text) or (said and not NUMBER.fullmatch(text)):
            found = CLOCK.fullmatch(text)
            placed = bool({clock_seconds(found) if found else said[0], *said} & seconds) or text in held
        else:
            number = NUMBER.match(text.lstrip("-"))
            value = float(number[0]) if number else -1.0
            placed = (
                value in numbers | counts
                or bool(set(said) & seconds)
                or re.search(rf"(?<![\w.]){re.escape(text.lower())}(?![\w.])", low) is not None
            )
        if not placed:
            out.append(text)
    return tuple(dict.fromkeys(out))


def clock_seconds(found: re.Match[str]) -> float:
    days, hours, minutes, rest = (int(part or 0) for part in found.groups())
    return float(((24 * days + hours) * 60 + minutes) * 60 + rest)


def unsaid(before: str, after: str, words: str, told: Iterable[str]) -> tuple[str, ...]:
    """The new lines that hold a number that neither the words, nor what is said, nor the old text has."""
    a = before.splitlines()
    known = {float(one) for text in (*a, words, *told) for one in NUMBER.findall(text)}
    known |= {float(n) for word, n in NUMBERS.items() if re.search(rf"(?i)\b{word}\b", words)}
    known |= {float(one.value) for one in find_mentions(words)[1] if one.kind == "Duration"}
    new = [line for line in after.splitlines() if line not in a]
    return tuple(line for line in new if not {float(one) for one in NUMBER.findall(CLOCK.sub("", line))} <= known)
