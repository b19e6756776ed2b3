"""Orders that the person's own script itself explains, in whatever language they are said.

What stands in the script tells what a word of the order is: another tag of its image, another version of a module that
it loads, a sibling of its environment's folder, an option of its program. The words between are of no weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise, takewhile
from pathlib import Path

from graph.debugging.remedies import request_of
from graph.extraction.script import read_script
from graph.extraction.script_record import record_of
from graph.reading.argument_edits import known_arguments
from graph.reading.commands import spoken_words
from graph.reading.edits import Add
from graph.reading.request_edits import read_request_edits
from graph.reading.wishes.values import number
from graph.usecases.edit_script import (
    JOINS,
    MODULE,
    OPTION,
    SHORTEST,
    Edited,
    ScriptSetting,
    bare_options,
    base,
    change_options,
    is_value,
    put,
    settings,
    swap_module,
    take_out,
    with_directive,
)
from graph.usecases.own_arrays import put_array
from graph.usecases.own_fields import ACTIVATES, IMAGE, SOURCES_VENV, put_binds, put_container, put_environment
from graph.usecases.own_lines import scheduler_of
from graph.usecases.own_signals import statement
from knowledge.cluster import Cluster
from knowledge.data_file import read_data
from knowledge.errors import InputError
from knowledge.job_parts import ArrayAxis, JobArray
from knowledge.types import JobRequest
from templates.parts import RESUMES, SUBMITTED

SWAPS = re.compile(
    r"\b(?:swap|replace|change|switch|use|load)\b.{0,25}\bmodules?\b\s*(?:for|with|by|to|against)?\s*(?P<new>[A-Za-z][\w.+-]*/[\w.+-]*\w)"
    r"|\b(?:swap|replace|change|switch)\b\s+(?:the\s+)?(?P<old>[A-Za-z][\w.+-]*(?:/[\w.+-]*\w)?)\s+(?:module\s+)?(?:for|with|by|to)\s+"
    r"(?P<to>[A-Za-z][\w.+-]*/[\w.+-]*\w)",
    re.I,
)
CLAUSE = re.compile(
    r"[,;\u3001\u3002\uff0c\uff1b\n]|[.!?](?=\s|$)|\s(?:and|und|et|y|e|then|dann|puis|luego|poi|i|oraz|potem|\u0438|\u043f\u043e\u0442\u043e\u043c)\s",
    re.I,
)
PATH = r"(?<![\w./$:~-])(?:~|\$\{?\w+\}?)?/[\w./${}%+-]*[\w}]"
IMAGE_NAME = re.compile(
    r"(?<![\w./${}~-])(?![$~/][^\s:]{0,200}:/)(?:\w{1,12}://)?[\w./${}-]{0,200}\w"
    r"(?::[\w][\w.+-]{0,80}\w|\.(?:sif|sqsh|simg|img))(?![\w/])"
)
PORT = re.compile(r"[^/:]+:\d{2,5}")  # `host:8080`
TWO_PLACES = re.compile(
    rf"(?P<host>{PATH})(?P<between>[^,;\n\u3001\u3002\uff0c]{{1,25}}?)(?P<place>(?<![\w$}}/.~-])/[\w./-]*\w)"
)
MEMBER = r"[\w./+-]*\w"
NUMBER = re.compile(r"-?[\d.]+(?:e-?\d+)?")
SIDE_BY_SIDE = (
    "Not done: *{}*: runs side by side in one job need their own GPUs, logs and a `wait`, and I put these only into a "
    "plain torchrun on one node. Ways: an array, one job for each run (*array over {} with these values*), or paste "
    "the launch lines."
)
AND = r"(?:and|und|et|y|e|i|oraz|\u0438|\u548c|\u3068)"
LISTED = rf"{MEMBER}(?:\s*[,\u3001]\s*{MEMBER})*\s*(?:[,\u3001]?\s*{AND}\s+|[,\u3001]\s*){MEMBER}"
COUNTED = re.compile(
    rf"\s+(?!{AND}\b|(?:in|as|for|each|with|at|over|als|en|mit|con|avec)\b)[^\W\d_]{{2,}}"
)  # `5 seeds`
OF_VALUES = re.compile(r"\s(?:in|over|of|from|auf|aus|parmi|entre|en|tra|em|из|по)\s", re.I)
# Between the name of an argument and its values.
OVER = (
    r"(?:\s*(?:=|:|\uff1a)\s*|\s+(?:(?:in|over|of|from|auf|aus|parmi|entre|en|tra|em|из|по)\s+)?|\s*[\u4ece\u4e3a]\s*)"
)
EACH_GPUS = re.compile(
    r"(?i)\b\w+ gpus? (?:each|per run|for each)\b|\b(?:je|jeweils) \w+ gpus?\b|\b\w+ gpus? (?:chacun|cada)\w*"
)
FOLDER = re.compile(r"(?<![\w./$-])(?P<name>[\w.-]+(?:/[\w.-]+)*)/(?![\w/$])")
SENT = (
    "`{name}` (put your file's name here) stays as it is; it is sent {count} times, each starting after the one before "
    "{when}:\n\n"
    "```bash\n{lines}\n```"
)
ENDED = {
    "afterok": "ended without an error",
    "afterany": "ended, however it ended",
}
WELL_ONLY = (
    "One that fails, or is cut off at its time limit, ended with an error: the ones behind it then never start (say "
    "*whatever happened* for a chain that goes on all the same)."
)


@cache
def said(name: str) -> re.Pattern[str]:
    """A list of own_words.yaml as one pattern."""
    lists: dict[str, list[str]] = read_data(Path(__file__).with_suffix(".yaml"))
    return re.compile("|".join(lists[name]), re.I)


def by_script(now: Edited, words: str, cluster: Cluster | None) -> Edited:
    """The script with what its own text explains of the words; `placed` has the words that were used."""
    words = ordered(words)
    for change in (change_image, change_versions, change_folder, change_binds, take_named_out, join_outputs):
        try:
            now = change(now, words)
        except InputError as error:
            now = replace(now, told=(*now.told, f"Not done: {error}."))
    return change_grid(now, words, cluster)


def ordered(words: str) -> str:
    """The words without clauses that forbid a change or tell of what was: nothing is read in them."""
    for start, end in clauses(words):
        forbids = said("forbids").search(words, start, end)
        if forbids:  # `don't put A and B in one file` goes on behind the "and"
            end = (
                next(
                    (one.start() for one in re.finditer(r"[,;.!?\n\u3001\u3002\uff0c]", words[end:])), len(words) - end
                )
                + end
            )
        if forbids or said("tells").search(words, start, end):
            words = f"{words[:start]}{' ' * (end - start)}{words[end:]}"
    return words


def clauses(words: str) -> list[tuple[int, int]]:
    """Start and end of each clause."""
    cuts = [(0, 0), *(one.span() for one in CLAUSE.finditer(words)), (len(words), len(words))]
    return [(a[1], b[0]) for a, b in pairwise(cuts)]


def change_image(now: Edited, words: str) -> Edited:
    """Another tag of the image that the script has, or one that is called an image."""
    held = {one["name"] for one in IMAGE.finditer(now.text)}
    for found in IMAGE_NAME.finditer(words):
        start = next(a for a, b in clauses(words) if a <= found.start() <= b)
        of_it = any(of_image(one) == of_image(found[0]) for one in held)
        if PORT.fullmatch(found[0]):
            continue
        if held and found[0] not in held and (of_it or said("image").search(words, start, found.start())):
            scheme = next((one.rpartition("://")[0] for one in held if "://" in one), "")
            name = (
                f"{scheme}://{found[0]}" if scheme and "://" not in found[0] and found[0][0] not in "/$" else found[0]
            )
            now = put_container(now, JobRequest(container=name))
            now = replace(now, placed=(*now.placed, words[start : found.end()].strip()))
    if held:
        return now
    for found in IMAGE_NAME.finditer(words):  # named in a variable that the launch uses
        own = [one for one in settings(now.text) if IMAGE_NAME.fullmatch(one.value) and not one.name.startswith("-")]
        start = next(a for a, b in clauses(words) if a <= found.start() <= b)
        if len(own) == 1 and said("image").search(words, start, found.start()):
            now = put(now, own[0], found[0])
            now = replace(now, placed=(*now.placed, words[start : found.end()].strip()))
    return now


def without_parts(now: Edited, words: str) -> Edited:
    """Two runs side by side in one job: written where the launch has room for them, else said with what can be done."""
    words = ordered(words)
    for start, end in ((one.start(), one.end()) for one in re.finditer(r"[^.;\n]+", words)):
        listed = re.findall(r"(?<![\w-])(?:--)?([A-Za-z][\w-]*)[ =]\d+", words[start:end])
        twice = {name for name in listed if listed.count(name) > 1}
        own = [one for one in settings(now.text) if one.name.lstrip("-") in twice and are_joined(one, words[start:end])]
        if own and said("at_the_same_time").search(words, start, end) and not said("array").search(words):
            values = re.findall(rf"(?<![\w-])(?:--)?{re.escape(own[0].name.lstrip('-'))}[ =](\d+)", words[start:end])
            made = side_by_side(now, own[0].name, values)
            told = () if made else (SIDE_BY_SIDE.format(words[start:end].strip(), own[0].name),)
            sizes = EACH_GPUS.findall(words) if made else ()
            now = made or replace(now, told=(*now.told, *told))
            now = replace(now, placed=(*now.placed, words[start:end].strip(), *sizes))
    return now


def are_joined(setting: ScriptSetting, sentence: str) -> bool:
    """Whether a sentence joins two values of it: `seed 1 and seed 2`."""
    one = rf"(?:--)?{re.escape(setting.name.lstrip('-'))}[ =]\d+"
    return re.search(rf"(?<![\w-]){one}\s*(?:[,\u3001]|{AND})\s*{AND}?\s*{one}", sentence, re.I) is not None


def side_by_side(now: Edited, option: str, values: Sequence[str]) -> Edited | None:
    """One launch of torchrun on one node as several of them, each with its part of the GPUs, a log and a `wait`; None
    where the launch is no such one."""
    script, count = read_script(now.text), len(values)
    record, (first, last) = record_of(script), statement(script)
    launch, gpus = now.text[first:last], record.gpus_per_node or 0
    start = re.match(r"(?:srun\s+(?:-\S+\s+)*)?(?=torchrun\s[^|>&]*--standalone)", launch)
    per_node = re.search(r"--nproc[_-]per[_-]node[= ](\d+)", launch)
    if not start or ">" in launch or not per_node or record.nodes != 1 or count < 2 or not gpus or gpus % count:
        return None
    each, lines = gpus // count, list[str]()
    for at, value in enumerate(values):
        run = f"{launch[: per_node.start(1)]}{each}{launch[per_node.end(1) :]}"[start.end() :]
        run, changed = re.subn(rf"(?<=\s){re.escape(option)}[= ]\S+", f"{option} {value}", run)
        if changed != 1:
            return None
        devices = ",".join(str(one) for one in range(at * each, (at + 1) * each))
        lines.append(f"CUDA_VISIBLE_DEVICES={devices} {run} > {option.lstrip('-')}-{value}.log 2>&1 &")
    text = "\n".join([*lines, "wait"])
    which = ", ".join(map(str, range(gpus)))
    told = f"{count} runs side by side, {option} {' and '.join(values)}, on {each} of the GPUs {which} each, with a log"
    told += " each and a `wait`"
    why = "`wait` ends well whatever the runs did: their logs tell whether one failed."
    return replace(
        now, text=f"{now.text[:first]}{text}{now.text[last:]}", says=(*now.says, told), told=(*now.told, why)
    )


def of_image(name: str) -> str:
    """An image's name without its registry's scheme and its tag."""
    return name.rpartition("://")[2].partition(":")[0]


def change_versions(now: Edited, words: str) -> Edited:
    """`cuda has to be 12.2`: another version of a module that is loaded, by its name and the number alone."""
    loaded = [name for line in MODULE.finditer(now.text) for name in line["names"].split() if "/" in name]
    for name in loaded:
        head, _, version = name.rpartition("/")
        named = re.compile(
            rf"(?<![\w/$.-]){re.escape(base(name))}(?![\w/-])(?:[^,;\n\d]{{0,30}}?(?<![\w.]){re.escape(version)})?"
            r"[^,;\n\d]{0,30}?(?<![\w./-])v?(?P<new>\d+(?:\.\d+)*[\w.-]*\w|\d+)(?![\w%/])",
            re.I,
        )
        found = named.search(words)
        others = "|".join(re.escape(base(one)) for one in loaded if one != name)
        if found and re.search(
            rf"(?i)\b(?:{AND}|{others or AND})\b", found[0][len(base(name)) : found.start("new") - found.start()]
        ):
            continue  # the number behind another name, or behind an "and"
        if found and re.match(r"\d", version) and found["new"] != version and "." in found["new"] + version:
            lines = list(MODULE.finditer(now.text))
            now = swap_module(now, lines, f"{head}/{found['new']}", name)
            now = replace(now, placed=(*now.placed, found[0]))
    return now


def change_modules(now: Edited, words: str) -> Edited:
    """A module swapped for another, one more, or one less, in the lines that load them."""
    lines = list(MODULE.finditer(now.text))
    if not lines:
        return now
    if found := SWAPS.search(words):
        return swap_module(now, lines, found["new"] or found["to"], found["old"] or "")
    for edit in read_request_edits(words, JobRequest(nodes=1)).edits:
        if isinstance(edit, Add) and edit.field == "modules":
            now = swap_module(now, list(MODULE.finditer(now.text)), str(edit.value), base(str(edit.value)))
        elif isinstance(edit, Add) and edit.field == "modules_removed":
            now = swap_module(now, list(MODULE.finditer(now.text)), "", str(edit.value))
    return now


def change_folder(now: Edited, words: str) -> Edited:
    """Another environment, by a path that lies beside the present one or is called one; of several the last."""
    own = next((found for one in (ACTIVATES, SOURCES_VENV) if (found := one.search(now.text))), None)
    paths = [one for one in re.finditer(PATH, words) if "." not in one[0].rpartition("/")[2]]
    called = re.search(
        rf"(?:{said('environment').pattern})(?:\s+(?:to|auf|a|en|na|на|is|ist|est|es|[eè]))?\s+(?P<name>[A-Za-z][\w.-]*\w)(?![\w/])",
        words,
        re.I,
    )
    new = called["name"] if called and own and "/" not in own["name"] and is_value(called["name"]) else ""
    if called and own and new not in ("", own["name"]) and (re.search(r"[\d_.-]", new) or new.startswith(own["name"])):
        return replace(put_environment(now, JobRequest(environment=new)), placed=(*now.placed, called[0]))
    if own is None or "/" not in own["name"] or not paths:
        return now
    beside = [one for one in paths if one[0].rpartition("/")[0] == own["name"].rpartition("/")[0]]
    named = said("environment").search(words, next(a for a, b in clauses(words) if a <= paths[-1].start() <= b))
    meant = beside or ([paths[-1]] if named and not said("binds").search(words) else [])
    if not meant or meant[-1][0] == own["name"]:
        return now
    new = meant[-1][0].removesuffix("/bin/activate")
    now = put_environment(now, JobRequest(environment=new))
    return replace(now, placed=(*now.placed, *(one[0] for one in paths)))


def change_binds(now: Edited, words: str) -> Edited:
    """Folders for the container of the launch: `A as /b`, each read-only where the words say so of it."""
    if not said("binds").search(words):
        return now
    found = [one for one in TWO_PLACES.finditer(words) if not said("joins").search(one["between"])]
    parts = [(a, b) for a, b in clauses(words) if said("read_only").search(words, a, b)]
    only = {one[0] for a, b in parts for one in re.finditer(PATH, words[a:b])}
    for one in found:
        inside = any(a <= one.start() < b for a, b in parts)
        named = inside or bool(only & {one["host"], one["place"]}) or (parts and not only and len(found) == 1)
        written = words[one.end() : one.end() + 3] == ":ro"
        now = put_binds(now, JobRequest(binds=(f"{one['host']}:{one['place']}{':ro' if named or written else ''}",)))
        now = replace(now, placed=(*now.placed, f"{one[0]}{':ro' if written else ''}"))
    if len(found) < 2 or only:
        now = replace(now, placed=(*now.placed, *(words[a:b].strip() for a, b in parts)))
    return now


def take_named_out(now: Edited, words: str) -> Edited:
    """What a clause names that says of nothing else that it is to go: options of the launch, modules."""
    for start, end in clauses(words):
        clause = words[start:end]
        if not said("removes").search(clause) or re.search(r"(?<![\w-])\d|(?i:error|fehler|erreur|warn|bug)", clause):
            continue
        before = now
        told = re.sub(r"[-_\s]+", " ", clause.lower())
        for name in bare_options(now.text):
            if re.search(rf"(?<!\w){re.escape(re.sub(r'[-_]+', ' ', name.lower()).strip())}(?!\w)", told):
                now = take_out(now, name)
        for name in [one for line in MODULE.finditer(now.text) for one in line["names"].split()]:
            if re.search(rf"(?<![\w/]){re.escape(name.partition('/')[0])}(?![\w-])", clause, re.I):
                now = swap_module(now, list(MODULE.finditer(now.text)), "", name)
        now = replace(now, placed=(*now.placed, clause.strip())) if now is not before else now
    return now


def join_outputs(now: Edited, words: str) -> Edited:
    """Output and errors in one file, in the folder that is named: no directive of its own is left for the errors."""
    same = said("same_file").search(words) or JOINS.search(words)
    script = read_script(now.text)
    held, scheduler = script.active.get("error"), scheduler_of(now.text, "") if script.directives else ""
    sentence = next(
        (one for one in re.finditer(r"[^.;\n]+", words) if same and one.start() <= same.start() < one.end()), None
    )
    if not sentence or not said("outputs").search(sentence[0]) or scheduler != "slurm" or held is None:
        return now
    rows = now.text.splitlines(keepends=True)
    told = f"taken out: `{rows.pop(held.line - 1).strip()}`"
    now = replace(now, text="".join(rows), says=(*now.says, f"{told}, so errors go to the output's file"))
    now = replace(now, placed=(*now.placed, sentence[0].strip()))
    folder = FOLDER.search(words)
    if folder is None:
        return now
    from graph.planning.directives import PREFIX, Word
    from graph.usecases.edit_script import MAKES_FOLDER

    name = f"{folder['name']}/%x-%j.out"
    text = with_directive(now.text, Word("--output=", name), PREFIX["slurm"])
    return replace(now, text=text, says=(*now.says, f"--output={name} set{MAKES_FOLDER.format(folder['name'])}"))


def change_grid(now: Edited, words: str, cluster: Cluster | None) -> Edited:
    """`lang = fr, de and es and seed = 0, 1, 2`: a task for each pair, where the words say that all are meant."""
    request = request_of(record_of(read_script(now.text)))
    known = known_arguments(request) or bare_options(now.text)
    axes, spans = list[ArrayAxis](), list[str]()
    for option in dict.fromkeys([*known, *(one.name for one in settings(now.text) if one.name.startswith("-"))]):
        called = re.sub(r"[-_]+", "[-_ ]?", re.escape(option.lstrip("-").rstrip("=")).replace("\\-", "-"))
        found = re.search(
            rf"(?<![\w-])-{{0,2}}{called}s?{OVER}[\[({{]?(?P<values>{LISTED}|\d+\s*(?:-|\.\.+)\s*\d+)", words, re.I
        )
        values = values_of(found["values"], words) if found else ()
        bare = found and re.fullmatch(r"[\w\s-]*\s", found[0][: found.start("values") - found.start()]) is not None
        if (
            found
            and len(values) > 1
            and alike(values)
            and (not bare or said("array").search(words) or OF_VALUES.search(found[0]))
        ):
            axes.append(ArrayAxis(option.rstrip("="), values))
            spans.append(found[0])
    if not axes or not said("all_of_them").search(words):
        return now
    most = said("at_once").search(words)
    at_once = int(next(filter(None, most.groups()))) if most else None
    try:
        made = put_array(now, JobArray(tuple(axes), None, at_once), cluster, "the script")
    except InputError as error:
        return replace(now, told=(*now.told, f"Not done: {error}."), placed=(*now.placed, *spans))
    arrayed = [one[0] for one in re.finditer(rf"(?:\S{{1,20}}\s+)?(?:{said('all_of_them').pattern})\S*", words, re.I)]
    return replace(with_own_logs(made), placed=(*now.placed, *spans, *arrayed, *([most[0]] if most else [])))


def values_of(listed: str, words: str) -> tuple[str, ...]:
    """The members of a list, without the name of the next axis that its last comma or `and` leads to."""
    bounds = re.fullmatch(r"(\d+)\s*(?:-|\.\.+)\s*(\d+)", listed.strip())
    if bounds:
        return tuple(map(str, range(int(bounds[1]), int(bounds[2]) + 1)))
    parts = re.split(rf"\s*[,\u3001]\s*(?:{AND}\s+)?|\s+{AND}\s+", listed)
    numbers = list(takewhile(NUMBER.fullmatch, parts))
    parts = numbers or [one for one in parts if one.lower() not in spoken_words("prose") or len(one) <= SHORTEST]
    after = "" if numbers else words[words.find(listed) + len(listed) :]
    end = words.find(listed) + len(listed)
    counted = numbers and listed.endswith(numbers[-1]) and COUNTED.match(words, end)
    return tuple(parts[:-1] if counted or re.match(r"\s*(?:=|:|\uff1a)|\s+(?:in|over)\s", after) else parts)


def alike(values: tuple[str, ...]) -> bool:
    """Whether values are of one kind: numbers, or words."""
    return len({NUMBER.fullmatch(one) is not None for one in values}) == 1


def with_own_logs(now: Edited) -> Edited:
    """An array's logs with the task in their names, where they had the job's number alone."""
    text = re.sub(r"(?m)^(#SBATCH\s+(?:--output|--error|-o|-e)[= ]?\S*?)%j", r"\1%A_%a", now.text)
    return replace(now, text=text, says=(*now.says, "a log for each task (%A_%a)")) if text != now.text else now


def sources_first(now: Edited, before: str, words: str) -> Edited:
    """A `source` line that was put in, right behind the directives where it is to come before everything."""
    rows, old = now.text.split("\n"), before.split("\n")
    new = [row for row in rows if row.startswith("source ") and row not in old]
    if not new or not said("first_of_all").search(words):
        return now
    kept = [row for row in rows if row not in new]
    at = max((one.line for one in read_script("\n".join(kept)).directives if one.active), default=1)
    told = tuple(one for one in now.says if not any(row in one for row in new))
    says = (*told, *(f"`{row}` before everything else" for row in new))
    return replace(now, text="\n".join([*kept[:at], *new, *kept[at:]]), says=says)


def mailed_at(now: Edited, words: str) -> Edited:
    """Mail at the share of the time limit that is said, which Slurm has for 50, 80 and 90 %."""
    words = ordered(words)
    found = said("share_of_time").search(words)
    if found and not said("of_time").search(words[max(0, found.start() - 30) : found.end() + 30]):
        return now
    line = re.search(r"(?m)^#SBATCH --mail-type=(?P<events>\S+)", now.text)
    if found is None or line is None:
        return now
    event = f"TIME_LIMIT_{found['share']}"
    events = [one for one in line["events"].split(",") if not one.startswith("TIME_LIMIT")]
    told = ",".join([*events, event])
    text = f"{now.text[: line.start('events')]}{told}{now.text[line.end('events') :]}"
    says = tuple(one for one in now.says if not one.startswith("--mail-type"))
    return replace(now, text=text, says=(*says, f"--mail-type={told} set"), placed=(*now.placed, found[0]))


def sent_in_a_row(text: str, words: str, name: str) -> str:
    """How a script is sent several times, each after the one before; empty where the words want no such thing.

    Raises InputError where the file asks no scheduler for anything.
    """
    words = ordered(words)
    counted = said("times").search(words)
    if not counted or not said("in_a_row").search(words):
        return ""
    count = number(counted["count"]) or 0
    if count < 2:
        return ""
    scheduler, kind = scheduler_of(text, name), "afterok" if said("only_well").search(words) else "afterany"
    command, option = SUBMITTED[scheduler]
    of_lsf = {"afterok": "done", "afterany": "ended"}
    cut = {"slurm": "; JOB=${JOB%%;*}", "lsf": "; JOB=${JOB#*<}; JOB=${JOB%%>*}"}.get(scheduler, "")
    waits = option.format(kind=of_lsf[kind] if scheduler == "lsf" else kind).replace("$before", "$JOB")
    waits = f'-w "{waits.removeprefix("-w ")}"' if scheduler == "lsf" else waits
    file = f"< {name}" if scheduler == "lsf" else name
    rest = " ".join(map(str, range(2, count + 1)))
    again = f'do JOB=$({command} {waits} {file}){cut}; echo "job $n: $JOB"; done'
    lines = f"JOB=$({command} {file}){cut}\nfor n in {rest}; {again}"
    told = SENT.format(name=name, count=count, when=ENDED[kind], lines=lines)
    return "\n\n".join([told, *([WELL_ONLY] if kind == "afterok" else []), *goes_on_by(text)])


def goes_on_by(text: str) -> Iterator[str]:
    """The option by which the program goes on with a run, where it has one."""
    command = read_script(text).training
    argv = command.argv if command else ()
    for name, value in zip(argv, [*argv[1:], ""], strict=True):
        if name.startswith("--") and set(re.split(r"[-_=]", name.lower().lstrip("-"))) & RESUMES:
            shown = f"{name} {value}".strip() if not value.startswith("-") else name
            yield f"Each goes on with the run by `{shown}`."
            return


REPLACED = re.compile(
    r"(?i)\b(?:instead of|rather than|in place of|anstatt|anstelle von|statt|au lieu de|en (?:vez|lugar) de|invece di"
    r"|(?:replace|swap|change|switch|ersetze?|remplace[rz]?|reemplaza|sostituisci)(?= (?:\w+ )?--\S+(?: [^\s,;-]\S*)?"
    r" (?:by|with|for|to|durch|par|por|con) --[a-z])) (?:the |das |den |le |la |el |lo |il )?(?P<name>--[a-z][\w.-]*)"
)


def without_replaced(now: Edited, words: str) -> Edited:
    """`--bf16 instead of --fp16`: the script without the option that another takes the place of."""
    for name in (found["name"] for found in REPLACED.finditer(words)):
        others = [found for found in OPTION.finditer(words) if found["name"] != name]
        if others and len(re.findall(rf"{re.escape(name)}(?![\w-])", words)) == 1:
            missing = (found[0] for found in others if found["name"] not in now.text)
            now = take_out(change_options(now, " ".join(missing)), name)
    return now


NOT_BUT = re.compile(
    r"(?i)\b(?:not|nicht|pas|no)\s+(?P<old>[\w./:-]+)\s*(?:[,;]|but|sondern|sino|mais)\s*(?P<new>[\w./:-]*\w)\W*$"
)


def change_corrected(now: Edited, words: str) -> Edited:
    """`Not auto, latest`: a value that stands once in the script, and is no number of an array's tasks."""
    found = NOT_BUT.search(words)
    if not found:
        return now
    old = [one for one in settings(now.text) if one.value == found["old"]]
    last = rf"|0-{int(found['old']) - 1}" if found["old"].isdecimal() else ""
    stands = re.findall(rf"(?<![\w.-])(?:{re.escape(found['old'])}{last})(?![\w.-])", now.text)
    return put(now, old[0], found["new"]) if len(old) == len(stands) == 1 else now
