"""Words that change a person's own script, and the script with that change alone: every other line stays.

What can be changed is what the text sets: a directive, a variable, an option of the program. A name is known by the
script itself ("epochs 12" where it says `--epochs 10`), so no list of options is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from graph.debugging.remedies import request_of
from graph.extraction.batch_numbers import on_other_ranks
from graph.extraction.directive_tables import BY_SCHEDULER
from graph.extraction.directives import DirectiveLine, option_of
from graph.extraction.request import understand as read
from graph.extraction.script import ReadScript, read_script
from graph.extraction.script_record import record_of
from graph.extraction.shell_words import plain
from graph.planning.directives import (
    FORMS,
    PREFIX,
    REPLACES,
    Forms,
    Word,
    asked,
    dependency,
    mail_options,
    signal_options,
)
from graph.planning.environment import opens_others
from graph.planning.extras import in_words_of
from graph.planning.fields import check_directive
from graph.planning.gpus import kinds_named
from graph.planning.queues import told_of
from graph.reading.account import apart, places, unplaced
from graph.reading.argument_edits import NO_VALUES
from graph.reading.commands import spoken_words
from graph.reading.edits import Add, Set
from graph.reading.request_edits import read_request_edits
from graph.reading.scope import ScopeStretch, denials, wanted
from graph.reading.wishes.left import SURE, to_account_for
from graph.reading.wishes.tagger import Wishes, read_wishes
from graph.reading.wishes.taking import LONGEST
from graph.usecases.launch_counts import Nodes, unsure, with_nodes
from graph.usecases.script_lines import (
    bring_back,
    changed_lines,
    content,
    does_without,
    named_lines,
    unaccounted,
    values_of,
    without_lines,
)
from graph.usecases.started import OneCommand, changes, places_of, started
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.job_parts import MAIL_EVENTS, Dependency, JobArray, LimitSignal, Mail
from knowledge.site import site_of
from knowledge.slurm_options import slurm_options
from knowledge.types import JobRequest, Scheduler
from knowledge.word_lists import word_set
from templates.quoting import shell_word

# Field -> the directives that may hold it, by their names in all dialects.
DIRECTIVES = {
    "nodes": ("nodes", "nnodes", "select"),
    "walltime": ("time", "walltime", "time-limit", "W"),
    "account": ("account", "group", "bank", "project", "A"),
    "queue": ("qos", "partition", "queue"),
    "gpus_per_node": ("gpus-per-node", "gres", "select"),
}
# What is read off words here; GPUs are counted by the launch too, which words alone do not tell.
BY_WORDS = ("nodes", "walltime", "account", "queue")
# Errors in the same file as the output, which only PBS has to be told.
JOINS = re.compile(
    r"\b(?:stderr|errors?)\b.{0,25}\b(?:stdout|output|same file|join\w*)\b"
    r"|\bjoin\w*.{0,20}\b(?:stderr|errors?)\b",
    re.I,
)
NO_MAIL = (
    "Not done: {} sends no mail (--mail-type and --mail-user are taken there, and nothing comes of them). "
    "What tells of the start and the end: `squeue --me` and `sacct -X -j JOBID` on a login node, or a line before and "
    "behind the launch that writes a file."
)
# Said of a change of nodes whose consequences the launch has.
FOLLOWS = ", and the launch line's own counts with it"
RESUMES = (
    " (the program has to go on from its newest checkpoint by itself; a node's failure or a preemption puts the job "
    "back, its time limit does so only with a signal that a handler acts on: give signal=USR1@SECONDS too)"
)
# Layers of a launch that hand a signal on.
SILENT = frozenset(("apptainer", "singularity", "shifter", "numactl", "env", "exec"))
MAKES_FOLDER = " (make the folder first: mkdir -p {})"
OUTPUT: Forms = {
    "slurm": lambda name: Word("--output=", name),
    "pbs": lambda name: Word("-o ", in_words_of("pbs", name)),
    "lsf": lambda name: Word("-o ", in_words_of("lsf", name)),
    "flux": lambda name: Word("--output=", in_words_of("flux", name)),
}
# Directives that a new script writes in its template's place.
OWN_FORMS: Mapping[str, Forms] = {
    "output": OUTPUT,
    "job_name": {
        "slurm": lambda name: Word("--job-name=", name),
        "pbs": lambda name: Word("-N ", name),
        "lsf": lambda name: Word("-J ", name),
        "flux": lambda name: Word("--job-name=", name),
    },
    "signal": {"slurm": lambda signal: Word("--signal=B:", signal)},
    "cpus_per_task": {"slurm": lambda cpus: Word("--cpus-per-task=", cpus), "flux": lambda cpus: Word("-c ", cpus)},
    "array": {"slurm": lambda tasks: Word("--array=", tasks), "pbs": lambda tasks: Word("-J ", tasks)},
}
OFFLINE = "WANDB_MODE=offline HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1"
NUMBER_WORDS = dict(
    zip(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
        ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"],
        strict=True,
    )
)
VALUE = r"(?P<value>'[^']*'|\"[^\"]*\"|\$?[\w./:@%+$({})-]*[\w})/])"
# Between a name and its value: "epochs from 10 to 12", "epochs to 12", "epochs=12", "epochs 12".
JOINED = (
    r"(?:\s*(?:=|:)\s*|\s*(?:从\s*\S+?\s*)?(?:改成|改为|设为|设成|换成|增加到|减到|を|は)\s*(?:\S+?から\s*)?"
    r"|\s+(?:(?:from|von|de|da|z|\u0441|из)\s+\S+\s+)?(?:back\s+)?"
    r"(?:(?:should be|becomes|to|=|is|as|at|auf|a|à|sur|para|por|na|do|op|на|до|в)\s+)?)"
)
# A count in front of a name sets it where the two are all that is ordered: not `every 500 steps`, `patience 3 epochs`.
ORDERED = (
    r"(?:^|[,;:.!]|\b(?:use|set|make|it|do|run|train|want|need|take|go|for|to|with|and|und|et|y|e|only|just|but|now"
    r"|please|bitte|auf|f[üu]r|pour|para|per|pon|mets|metti|setze|nimm|usa|ustaw|con|avec|mit))\s*"
)
ALONE = r"(?=\s*(?:$|[,;.!?)]|(?:and|und|et|y|e|then|please|bitte|on|for|now|instead|but|too|also|as|again)\b))"
TASK_ID = re.compile(r"\$\{?(?:SLURM_ARRAY_TASK_ID|PBS_ARRAY_INDEX|LSB_JOBINDEX)\b")
MODULES = re.compile(r"\bmodules?\b", re.I)
# Words that say whose an option is, and options of sbatch that programs have too.
OF_PROGRAM = re.compile(
    r"(?i)\.py\b|\b(?:to|into|in) (?:(?:the|my|our) )?(?:program(?:me?)?|code|launch|trainer|python)\b"
)
BETWEEN = re.compile(r"[,;!?\n]|\.\s|\s(?:and|und|et|y|e|then)\s", re.I)
BOTH = re.compile(
    "batch|context|distribution|error|export|extra|hint|input|network|output|priority|profile|quiet|resources|segment"
    "|tmp|verbose|version|wait"
)
# torchrun's own options, which stand before the program.
OF_TORCHRUN = re.compile(r"--(?:rdzv|nproc|nnodes|max[_-]restarts|standalone|tee|redirects|log[_-]dir|monitor)[\w-]*")
# A program with what is given to it, up to the end of the clause.
OTHER_COMMAND = re.compile(
    r"(?<![\w/.-])(?:\S*python3? )?(?:\S*/)?(?P<program>[\w-]+\.(?:py|sh))\b(?: (?!and\b|then\b|und\b)[^\s,;]+)*"
)
OPTION = re.compile(r"(?<![\w/-])(?P<name>--[A-Za-z][\w.-]*)(?:[= ](?P<value>'[^']*'|\"[^\"]*\"|[^\s,;-][^\s,;]*))?")
PAIR = re.compile(r"(?<![\w$/.-])(?P<name>[a-z][\w]*(?:[._][\w]+)+)=(?P<value>[^\s,;]*[^\s,;.?!])")
EPOCHS = ("epochen", "épocas", "époques", "epoche", "epok", "эпох", "epoch")
# Arguments that programs call differently and people by either name; the longer first.
SYNONYMS = (
    ("per device train batch size", "train batch size", "batch size", "batchsize", "batch", "bsz", "bs"),
    ("learning rate", "lr"),
    ("num train epochs", "number of epochs", "max epochs", "num epochs", "epochs", *EPOCHS),
    ("max steps", "total steps", "train steps", "steps"),
    ("max seq length", "sequence length", "seq length", "seq len", "seq"),
    ("num workers", "workers"),
    ("weight decay", "wd"),
    ("ranks per node", "processes per node", "nranks", "ranks", "nranks per node"),
)
# A text of one line that is a launch, and not the arguments alone.
DIRECTIVE_OR_LAUNCH = re.compile(r"\s*(?:#|srun|mpi|torchrun|python|jsrun|flux|accelerate|deepspeed)")
# Values that the reader of wishes tells and no line holds as they are said: a time, an amount of tasks, what is gone.
OTHERWISE_HELD = word_set("walltime array array_count array_at_once sweep_value chain signal begin")
# How it is started: in a script of theirs it is a line, or it is told.
OF_THE_LAUNCH = word_set("launcher framework strategy container_runtime")
SHORTEST = 2  # `de`, `no`: a language's short name is a value, though a small word too
# Places of an option at which it is looked whether it is a program's: each costs a reading of the script.
MOST_PLACES = 30
LINE = re.compile(r"\bline (?P<line>\d{1,4})\b", re.I)
NEW_VALUE = re.compile(r"\b(?:to|=|:)?\s*(?P<value>\d[\w.:-]*)\b")


@dataclass(frozen=True, slots=True)
class Edited:
    """The text after the change; what was changed, a clause each; words that this answers; lines that nodes changed;
    sentences of what was not done, and why; doubtful: two readers differ, so that it is said before it is done."""

    text: str
    says: tuple[str, ...]
    placed: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class ScriptSetting:
    """Something that the script sets: its name, its value, and where the value stands in the text."""

    name: str
    value: str
    start: int
    end: int


def edit_script(text: str, words: str, cluster: Cluster | None) -> Edited | None:
    """The script as the words want it; None where they change nothing that it sets. Raises InputError on no script."""
    from graph.usecases.own_orders import weigh_scripts

    return weigh_scripts(text, words, cluster, by_patterns(text, words, cluster))


def by_patterns(text: str, words: str, cluster: Cluster | None) -> Edited | None:
    """The change that the rules find in the words; None where they find none."""
    others = OTHER_COMMAND.sub(lambda found: found[0] if found["program"] in text else " ", words)
    edited, asked_for, own_denials = Edited(text, ()), wanted(others), wanted(others, "negated")
    from graph.usecases import own_words

    edited = own_words.by_script(own_words.without_parts(edited, words), wanted(others, "negated"), cluster)
    asked_for, own_denials, words = (without_placed(one, edited) for one in (asked_for, own_denials, words))
    for change in (change_line, change_settings, change_options):
        edited = change(edited, asked_for)
    edited = own_words.change_modules(edited, own_denials)
    edited = add_directives(change_fields(edited, asked_for, cluster), own_denials, cluster)
    edited = edited if edited.text != text else own_words.change_corrected(edited, words)
    edited = own_words.without_replaced(leave_out(edited, text, words), words)
    if edited.text == text or left_open(text, edited, words):
        from graph.usecases.own_fields import put_read

        edited = put_read(edited, words, cluster)
    edited = own_words.sources_first(own_words.mailed_at(edited, words), text, words)
    for one in denials(words):
        gone = content(one.text) & content(text) - content(edited.text)
        edited = replace(edited, text=bring_back(edited.text, text, one.text)) if one.keeps and gone else edited
    return edited if edited.text != text or edited.told else None


def without_placed(words: str, edited: Edited) -> str:
    """The words without those that a change was made of already."""
    for one in sorted(edited.placed, key=len, reverse=True):
        words = words.replace(one, " " * len(one))
    return words


def leave_out(now: Edited, before: str, words: str) -> Edited:
    """What the words say is to go: an option of the launch, else the lines that they name."""
    for one in filter(does_without, denials(words)):
        said = content(OPTION.sub("", one.text))
        options = [found["name"] for found in OPTION.finditer(one.text)]
        options += [name for name in bare_options(now.text) if name.lstrip("-").lower() in said]
        told = now
        for name in options:
            now = take_out(now, name)
        lines = named_lines(now.text, one.text) if now == told else []
        if lines and not (MODULES.search(one.text) and now.text != before):
            gone = "`, `".join(now.text.splitlines()[at].strip() for at in lines)
            now = replace(now, text=without_lines(now.text, lines), says=(*now.says, f"taken out: `{gone}`"))
            if "array" in gone and (used := TASK_ID.search(now.text)):
                now = replace(now, says=(*now.says, f"`{used[0]}` is still used in it, and will be empty"))
        now = replace(now, placed=(*now.placed, one.text)) if now != told else now
    return now


def bare_options(text: str) -> list[str]:
    """The options of the launch, as they are written."""
    command = read_script(text).training
    return [one for one in command.argv if one.startswith("--") and "=" not in one] if command else []


def add_directives(now: Edited, words: str, cluster: Cluster | None) -> Edited:
    """Requeue, memory, mail, output and the like: the words that a new script would have, one directive each."""
    record = record_of(read_script(now.text))
    scheduler = next((name for name in PREFIX if name == record.scheduler), None)
    if scheduler is None:
        return now
    for edit in read_request_edits(words, request_of(record)).edits:
        before = now
        if edit == Set("offline", True, edit.words):
            sets = "WANDB_MODE=offline" if re.search(r"wandb|w&b", edit.words, re.I) else OFFLINE
            for name, _, value in (one.partition("=") for one in sets.split()):
                now = set_variable(now, name, value)
        elif isinstance(edit, Add) and edit.field == "extra_directives" and scheduler == "slurm":
            name, sign, value = str(edit.value).partition("=")
            text = with_directive(now.text, Word(f"{name}{sign}", value), PREFIX[scheduler])
            now = replace(now, text=text, says=(*now.says, f"{edit.value} set")) if text != now.text else now
        elif isinstance(edit, Set) and isinstance(edit.value, Mail):
            now = set_directives(now, replace(edit, value=with_events(edit.value, words)), scheduler, cluster)
        elif isinstance(edit, Set) and edit.value:
            now = set_directives(now, edit, scheduler, cluster)
        now = replace(now, placed=(*before.placed, edit.words)) if now != before else now
    if scheduler == "pbs" and JOINS.search(words):
        text = with_directive(now.text, Word("-j ", "oe"), PREFIX["pbs"])
        now = replace(now, text=text, says=(*now.says, "-j oe set")) if text != now.text else now
    return now


def set_directives(now: Edited, edit: Set, scheduler: Scheduler, cluster: Cluster | None) -> Edited:
    """The script with the directives of one wish."""
    if edit.field == "mail" and cluster and (site := site_of(cluster.id)) and site.sends_no_mail:
        return replace(now, told=tuple(dict.fromkeys((*now.told, NO_MAIL.format(cluster.title)))))
    for word in directive_words(edit, scheduler, cluster):
        if edit.field == "signal" and scheduler == "slurm" and not traps(now.text, str(edit.value.name)):
            if not steps_hear(now.text):
                continue  # it would end the shell, or torchrun, and no program hears it
            word = Word("--signal=", word.value)
        text = with_directive(now.text, word, PREFIX[scheduler])
        alone = edit.field == "requeue" and "signal" not in read_script(now.text).active
        first = MAKES_FOLDER.format(folder(edit)) if folder(edit) else RESUMES if alone else ""
        told = f"{word.value if word.join else word.text} set{first}"
        earlier = tuple(one for one in now.says if word.join or not one.startswith(word.key))
        now = replace(now, text=text, says=(*earlier, told)) if text != now.text else now
    return now


def with_events(mail: Mail, words: str) -> Mail:
    """The mail with the events that its sentence names, in whatever tongue."""
    from graph.usecases.own_words import said

    about = [re.sub(r"\S+@\S+", "@", one) for one in re.split(r"[;\n\u3002]|[.!?]\s", words)]
    about = [one for one in about if "@" in one or said("mail").search(one)]
    named = tuple(event for event in MAIL_EVENTS[:3] if any(said(f"mail_{event}").search(one) for one in about))
    return replace(mail, events=(*named, *(one for one in mail.events if one == "limit"))) if named else mail


def traps(text: str, signal: str) -> bool:
    """Whether the script itself acts on the signal."""
    return re.search(rf"^[^\S\n]*trap\b[^\n]*\b(?:SIG)?{re.escape(signal)}\b", text, re.M) is not None


def steps_hear(text: str) -> bool:
    """Whether a signal to the job's steps reaches the program itself: srun starts it, and nothing in between."""
    names = [one.name for one in read_script(text).layers if one.name not in SILENT]
    return names in (["srun"], ["time", "srun"])


def folder(wish: Set) -> str:
    """The folder that an output goes to, which has to be there."""
    head, sign, tail = str(wish.value).rpartition("/")
    if wish.field != "output":
        return ""
    return head if sign else "" if re.search(r"[.%]", tail) else tail


def left_open(before: str, edited: Edited, words: str) -> tuple[str, ...]:
    """The pieces and values of the words that no changed line holds anything of."""
    known = set(before.splitlines())
    new = [line for line in edited.text.splitlines() if line not in known]
    request = request_of(record_of(read_script(edited.text)))
    placed = [span for words_of in edited.placed for span in places(words, words_of)]
    lines = (*changed_lines(before, edited.text), *edited.says, *edited.placed, *edited.told)
    named = unplaced(words, request, placed, (*new, *edited.says))
    open_pieces = [one for one in named if not any(True for _ in values_of(one)) or unaccounted(one, lines)]
    gone = content(" ".join(one.text for one in denials(words) if does_without(one)))
    taken = content(" ".join(one for one in edited.says if "taken out" in one))
    held = " ".join(lines).lower()
    wishes = read_wishes(words, ("stands",)) if len(words) <= LONGEST else None
    spans = list(to_account_for(words, wishes)) if wishes else []
    launches = launches_told(wishes, " ".join((edited.text, *edited.says, *edited.told)).lower()) if wishes else []
    open_pieces += [
        one.text
        for one in spans
        if one.slot not in OTHERWISE_HELD and not one.sign and one.text.lower() not in f"{held} {before.lower()}"
    ]
    open_pieces += [one.text for one in denials(words) if stays(one, before, edited) and not content(one.text) & taken]
    total = f"{request.nodes * request.gpus_per_node}" if request.nodes and request.gpus_per_node else ""
    open_pieces += unaccounted(words, (*lines, total))
    open_pieces = [one for one in open_pieces if " " in one or not content(one) & gone]  # `A_B... no, forget A`
    return apart((*open_pieces, *launches))


def launches_told(wishes: Wishes, held: str) -> list[str]:
    """What no line starts it by, wherever it is said: `drop --x and start it by mpiexec` denies only the option."""
    spans = (one for one in wishes.spans if one.slot in OF_THE_LAUNCH and not one.sign and one.sure >= SURE)
    return [one.text for one in spans if one.text.lower() not in held]


def stays(one: ScopeStretch, before: str, edited: Edited) -> bool:
    """Whether something is to go that the script has, and no reader took out."""
    return does_without(one) and one.text not in edited.placed and bool(content(one.text) & content(before))


def directive_words(wish: Set, scheduler: Scheduler, cluster: Cluster | None) -> list[Word]:
    """What a scheduler calls a wish; nothing where it has no word for it, or would not take it."""
    if isinstance(wish.value, Mail):
        return mail_options(wish.value, scheduler) or []
    if isinstance(wish.value, Dependency):
        after = dependency(wish.value, scheduler, "the same name")
        return after if isinstance(after, list) and (wish.value.jobs or wish.value.kind == "singleton") else []
    if folder(wish) == wish.value and scheduler != "pbs":
        wish = replace(wish, value=f"{wish.value}/job-{'%j' if scheduler == 'slurm' else '%J'}.out")
    if isinstance(wish.value, LimitSignal) and scheduler != "slurm":  # there, the program's own output stays as it is
        return signal_options(wish.value, scheduler)
    form = {**FORMS, **OWN_FORMS}.get(wish.field, {}).get(scheduler)
    try:
        fields: dict[str, Any] = {wish.field: wish.value}
        value = plain_value(wish.value) if wish.field in OWN_FORMS and form else None
        if value:
            check_directive(wish.field, value)
        value = value or (asked(replace(JobRequest(), **fields), wish.field) if form else None)
    except InputError:
        return []
    return [form(value)] if form and value else []


def plain_value(value: object) -> str:
    """A value as its directive takes it; empty for an array over arguments, which a directive alone does not make."""
    match value:
        case JobArray():
            last = value.first + value.tasks - 1
            tasks = f"{value.first}-{last}" + (f"%{value.at_once}" if value.at_once else "")
            return "" if value.axes else tasks
        case LimitSignal():
            return f"{value.name}@{value.seconds}"
    return str(value)


def with_directive(text: str, word: Word, sign: str) -> str:
    """The text with a directive in the place of its like, joined to it, or behind the last of all."""
    script, scheduler = read_script(text), next(name for name, one in PREFIX.items() if one == sign)
    sign = mark_of(script, scheduler)
    lines = (text if text.endswith("\n") else f"{text}\n").splitlines(keepends=True)
    if f"{sign} {word.text}" in (one.strip() for one in lines):
        return text
    own = script.active.get(option_of(word.key.strip(" ="), BY_SCHEDULER[scheduler])[1])
    if own and own.scheduler == scheduler and word.join is None and has_company(script, own):
        return in_its_line(lines, own, word)
    keys = "|".join(map(re.escape, (word.key.strip(), *REPLACES.get(word.key, ()))))
    start = re.compile(rf"{re.escape(sign)}\s+(?:{keys})")
    at = own.line - 1 if own else next((n for n, line in enumerate(lines) if start.match(line)), None)
    if at is None or word.join == "+":
        last = max((one.line for one in script.directives if one.active), default=1)
        return "".join([*lines[:last], f"{sign} {word.text}\n", *lines[last:]])
    kept = lines[at].rstrip()
    parts = word.value.split(word.join) if word.join else []
    missing = [one for one in parts if one not in re.split(r"[\s&|:=,]", kept) and f":{one}" not in kept]
    if word.join and not missing:
        return text
    changed = f"{kept}{word.join}{word.join.join(missing)}" if word.join else f"{sign} {word.text}"
    return "".join([*lines[:at], f"{changed}\n", *lines[at + 1 :]])


def mark_of(script: ReadScript, scheduler: Scheduler) -> str:
    """What begins a directive: as the script has it (`#flux:`), since flux batch takes one form in a file and no other
    (https://flux-framework.readthedocs.io/projects/flux-rfc/en/latest/spec_36.html)."""
    raw = (one.raw for one in script.directives if one.active and one.scheduler == scheduler == "flux")
    found = (re.match(r"#\W*flux:", one, re.I) for one in raw)
    return next((one[0] for one in found if one), PREFIX[scheduler])


def has_company(script: ReadScript, own: DirectiveLine) -> bool:
    """Whether other options stand in the line of a directive."""
    return any(one.line == own.line and one.option != own.option for one in script.directives)


def in_its_line(lines: list[str], own: DirectiveLine, word: Word) -> str:
    """The lines with one option's value changed, beside others in its line."""
    row = lines[own.line - 1]
    value = (
        rf"[= ]\s*{re.escape(own.value)}"
        if own.value and f"{own.written}{own.value}" not in row
        else re.escape(own.value)
    )
    option = re.compile(rf"(?<!\S){re.escape(own.written)}{value}(?!\S)")
    row = option.sub(lambda _: word.text, row, count=1)
    return "".join([*lines[: own.line - 1], row, *lines[own.line :]])


def change_fields(now: Edited, words: str, cluster: Cluster | None) -> Edited:
    """Nodes, time, account, queue and GPUs of a node, as a request would be read; a queue by the machine's own name
    for it."""
    before = request_of(record_of(read_script(now.text)))
    after = read(words, before, None, None).request
    changed = put_fields(now, {name: getattr(after, name) for name in BY_WORDS}, cluster)
    if after.processes_per_node and after.processes_per_node != before.processes_per_node:
        changed = put_ranks(changed, after)
    old, each, total = before.gpus_per_node, after.gpus_per_node, after.total_gpus
    if total and total != before.total_gpus:
        each = total if before.nodes == after.nodes == 1 and each in (old, total, None) else None
    if not old or not each or old == each:
        return changed
    held = put_fields(changed, {"gpus_per_node": each}, cluster)
    if held is changed:
        return changed
    from graph.usecases.own_fields import with_share
    from graph.usecases.own_words import said

    fewer = with_share(held, old, each, cluster, said("in_proportion").search(words) is not None)
    return replace(fewer, follows=(*fewer.follows, *changed_lines(held.text, fewer.text)))


def put_ranks(now: Edited, wanted: JobRequest) -> Edited:
    """The script with so many processes a node, where its launch or a directive counts them."""
    from graph.usecases.own_fields import put_processes
    from graph.usecases.own_lines import scheduler_of

    try:
        told = put_processes(now, wanted, scheduler_of(now.text, ""))
    except InputError:
        return now
    return replace(told, follows=(*told.follows, *changed_lines(now.text, told.text)))


def put_fields(now: Edited, values: Mapping[str, Any], cluster: Cluster | None) -> Edited:
    """The script with the fields' values (None: as it is) where its directives and its launch hold them."""
    before = request_of(record_of(read_script(now.text)))
    for name, new in values.items():
        old = queue_of(now.text, before.queue, cluster) if name == "queue" else getattr(before, name)
        if name == "queue" and new is not None and cluster is not None:
            new = queue_meant(cluster, str(new))
        if new is None or new == old:
            continue
        if name == "queue" and cluster is not None and queue_options(cluster, str(new)):
            text = set_queue(now.text, str(old or ""), str(new), cluster)
        else:
            text = set_field(now.text, name, old, new, cluster)
        if text != now.text:
            counts = FOLLOWS if name == "nodes" and launch_of(text) != launch_of(now.text) else ""
            counts += told_of(queue) if name == "queue" and cluster and (queue := cluster.queue(str(new))) else ""
            counts += besides(now.text, old, new) if name == "nodes" else ""
            told = f"{name.replace('_', ' ')} {old or 'not set'} → {new}{counts}"
            follows = changed_lines(now.text, text) if name == "nodes" else ()
            now = replace(now, text=text, says=(*now.says, told), follows=(*now.follows, *follows))
    return now


def besides(text: str, old: object, new: object) -> str:
    """What other nodes mean for the batch, and which counts nobody can tell whose they are."""
    script = read_script(text)
    each = ranks_of(script)
    if not (isinstance(old, int) and isinstance(new, int) and each):
        return ""
    batch = on_other_ranks(text, old * each[-1], new * each[-1])
    left = unsure(text, Nodes(old, new, each))
    open_ = f"; {', '.join(left)} left as it was (of one node, or of the job?)" if left else ""
    return f"{f'; {batch}' if batch else ''}{open_}"


def launch_of(text: str) -> str:
    """The line that starts the training, so that a change of its own counts is said."""
    command, lines = read_script(text).training, text.splitlines()
    return lines[command.line - 1] if command and command.line <= len(lines) else ""


def queue_of(text: str, read_so: str | None, cluster: Cluster | None) -> str | None:
    """The queue that the script names: of a partition and a quality of service the one that is a queue there."""
    named = [one.value for o in DIRECTIVES["queue"] if (one := read_script(text).active.get(o))]
    return next((one for one in named if cluster and one in {queue.id for queue in cluster.queues}), read_so)


def queue_options(cluster: Cluster, name: str) -> dict[str, str]:
    """Partition and quality of service by which a Slurm machine's own scripts ask for a queue; empty elsewhere."""
    queue = cluster.queue(name)
    if queue is None or cluster.scheduler != "slurm":
        return {}
    facts = (
        one
        for one in cluster.directives
        if one.when == "always"
        and (not one.queues or queue.id in one.queues)
        and (not one.node_types or set(one.node_types) & set(queue.node_types))
    )
    found = (re.fullmatch(r"--?(p|q|partition|qos)[= ](\S+)", one.text) for one in facts)
    called = {"p": "partition", "q": "qos"}
    return {called.get(one[1], one[1]): one[2].replace("{queue}", queue.id) for one in found if one}


def set_queue(text: str, old: str, new: str, cluster: Cluster) -> str:
    """The text with both options of a queue as the machine asks for it, and none left of the queue before."""
    if record_of(read_script(text)).scheduler != "slurm":
        return text
    wanted, before = queue_options(cluster, new), queue_options(cluster, old)
    for option in ("partition", "qos"):
        held, lines = read_script(text).active.get(option), text.splitlines(keepends=True)
        value = wanted.get(option)
        if held is not None and value:
            head, _, tail = lines[held.line - 1].rpartition(held.value)
            lines[held.line - 1] = f"{head}{value}{tail}"
        elif held is not None and held.value in (old, before.get(option)):
            del lines[held.line - 1]
        text = "".join(lines)
        if held is None and value and value != before.get(option):  # the same as before, it went without saying
            text = with_directive(text, Word(f"--{option}=", value), PREFIX["slurm"])
    return text


def queue_meant(cluster: Cluster, said: str) -> str:
    """The machine's queue that people call so: `dev` where there is a `gh-dev` and no other of that kind, and `A100`
    where the kind of GPU has a queue."""
    known = [queue.id for queue in cluster.queues]
    meant = [one for one in known if said.lower() in re.split(r"[-_.]", one.lower())]
    if said in known or len(meant) == 1:
        return said if said in known else meant[0]
    kinds = {node.id for node in kinds_named(said, cluster.node_types)}
    return next((one.id for one in cluster.gpu_queues if kinds.issuperset(one.node_types) and kinds), said)


def set_field(text: str, name: str, old: object, new: object, cluster: Cluster | None = None) -> str:
    """The text with a directive's value replaced, and the launch's own count of nodes with it."""
    script = read_script(text)
    found = next((script.active[o] for o in DIRECTIVES[name] if holds(script, o, name, old)), None)
    lines = text.splitlines(keepends=True)
    if found is not None:
        inside = found.option == "select" or name == "gpus_per_node" or (name == "nodes" and ":" in found.value)
        value = in_place(found.value, name, old, new) if inside else in_dialect(found, new)
        head, _, tail = lines[found.line - 1].rpartition(found.value)
        lines[found.line - 1] = head + value + tail
    if name == "nodes" and isinstance(old, int) and isinstance(new, int):
        lines = with_launch_on(lines, script, old, new, cluster)
    if name == "gpus_per_node" and found is None and isinstance(old, int):
        lines = [TOTAL_GPUS.sub(partial(as_total, old, new), line) for line in lines]
    return "".join(lines)


def with_launch_on(lines: list[str], script: ReadScript, old: int, new: int, cluster: Cluster | None) -> list[str]:
    """The lines with the launch's own counts, and the job's totals, for other nodes."""
    form = next(iter(cluster.launch.get("pytorch", ())), None) if cluster else None
    change = Nodes(old, new, ranks_of(script), record_of(script).scheduler or "", form.launcher if form else "")
    lines = "".join(with_nodes(lines, change)).splitlines(keepends=True)
    for option in ("ntasks", "gpus"):  # totals of the job, which follow its nodes
        total = script.active.get(option)
        count = re.search(r"(?<![\w-])\d+$", total.value) if total is not None else None
        if total is not None and count is not None and int(count[0]) % old == 0:
            head, _, tail = lines[total.line - 1].rpartition(total.value)
            lines[total.line - 1] = f"{head}{total.value[: count.start()]}{int(count[0]) // old * new}{tail}"
    return lines


def ranks_of(script: ReadScript) -> tuple[int, ...]:
    """How many ranks a node may have, by what the directives count."""
    tasks = script.active.get("ntasks-per-node")
    known = (int(tasks.value) if tasks and tasks.value.isdigit() else None, record_of(script).gpus_per_node)
    return tuple(one for one in known if one and one > 1)


# A value as a shell takes it: words and quoted pieces side by side; a number may be negative.
WRITTEN_VALUE = r"(?!-(?![\d.]))(?:\$\([^()\n]*\)|[^\s\\'\"|<>;&()]|\\.|'[^']*'|\"[^\"]*\")+"
TOTAL_GPUS = re.compile(r"^(?P<head>#SBATCH\s+(?:--gpus[= ]|-G\s?)(?:[\w.-]+:)?)(?P<total>\d+)\b")


def as_total(old: int, new: object, found: re.Match[str]) -> str:
    """The GPUs of the whole job where a node is to give another number of them."""
    total = int(found["total"])
    return f"{found['head']}{total // old * int(str(new))}" if total % old == 0 else found[0]


def in_place(value: str, name: str, old: object, new: object) -> str:
    """The value with one number in it changed: the nodes in front, the GPUs where they are counted."""
    if name == "nodes":
        return re.sub(rf"^{old}(?!\d)", str(new), value)
    return re.sub(rf"(?<=ngpus=){old}(?!\d)" if "ngpus=" in value else rf"(?:^|(?<=:)){old}$", str(new), value)


def holds(script: ReadScript, option: str, name: str, old: object) -> bool:
    """Whether that directive is the one; a queue may be a partition or a quality of service."""
    found = script.active.get(option)
    if found is None or (name == "gpus_per_node" and in_place(found.value, name, old, 0) == found.value):
        return False
    return name != "queue" or found.value == old or option == "queue"


def in_dialect(directive: DirectiveLine, new: object) -> str:
    """A time as the script writes it: LSF's -W and Flux's -t count in their own way."""
    text, old = str(new), directive.value
    if re.fullmatch(r"\d+:\d\d:\d\d", text):
        hours, minutes, _ = map(int, text.split(":"))
        if re.fullmatch(r"\d+", old):
            return text if directive.scheduler == "pbs" else str(60 * hours + minutes)
        if directive.scheduler == "lsf":
            return f"{hours}:{minutes:02}"
        if unit := re.fullmatch(r"[\d.]+([smhd])", old):
            return f"{hours}h" if not minutes and unit else f"{60 * hours + minutes}m"
    return text


def change_line(now: Edited, words: str) -> Edited:
    """`Change line 10 to 10 threads`: the value that the line sets, where it sets one."""
    found = LINE.search(words)
    lines = now.text.splitlines(keepends=True)
    if not found or not 1 <= int(found["line"]) <= len(lines):
        return now
    at = int(found["line"]) - 1
    start = sum(map(len, lines[:at]))
    inside = [one for one in settings(now.text) if start <= one.start < start + len(lines[at])]
    rest = words[found.end() :]
    named = [one for one in inside if names(one.name, rest)] or (inside if len(inside) == 1 else [])
    value = NEW_VALUE.search(rest)
    return put(now, named[0], value["value"]) if len(named) == 1 and value else now


def change_settings(now: Edited, words: str) -> Edited:
    """A name that the script sets, and a value behind it in the words."""
    done: set[str] = set()
    for setting in settings(now.text):
        for name in spoken(setting.name):
            plain = re.escape(name)
            found = re.search(rf"(?<![\w$./-])-{{0,2}}{plain}(?:e?s)?{JOINED}{VALUE}(?![\w/])", words, re.I)
            counted_so = (
                rf"{ORDERED}(?P<value>\d{{1,7}})\s+{plain}{ALONE}"
                if len(name) > 3 and is_lone(now.text, name)
                else "(?!)"
            )
            found = found if found and found["value"].lower() not in NO_VALUES else re.search(counted_so, words, re.I)
            value = found["value"].strip("'\"") if found else ""
            value = value.rstrip(")") if "(" not in value else value
            value = in_unit(setting.value, value, words[found.end() :]) if found else ""
            value = NUMBER_WORDS.get(value.lower(), value)
            fits = value and value.lower() not in NO_VALUES and alike(held_in(now.text, setting), value)
            if not fits or setting.name in done:
                continue
            done.add(setting.name)
            if value != setting.value:
                again = setting_of(now.text, setting.name)
                now = put(now, again, value) if again else now
                now = replace(now, placed=(*now.placed, found[0])) if found and found["value"] != value else now
            break
    return now


BYTES = re.compile(r"\s?(?P<unit>[KMG])i?B\b", re.I)
A_KILO = 1024


def in_unit(old: str, value: str, rest: str) -> str:
    """A size with its unit behind it as the setting counts: `128 MB` where it is in bytes."""
    unit = BYTES.match(rest)
    in_bytes = old.isdecimal() and int(old) >= A_KILO**2 and int(old) % A_KILO == 0
    if unit is None or not value.isdecimal() or not in_bytes:
        return value
    return str(int(value) * A_KILO ** (1 + "KMG".index(unit["unit"].upper())))


def is_lone(text: str, name: str) -> bool:
    """Whether no more than one setting has the last word of this name: not beside `--epochs` and `--warmup-epochs`."""
    word = name.lower().split()[-1].rsplit("_", 1)[-1]
    return len({one.name for one in settings(text) if word in re.split(r"[-_.]", one.name.lower())}) < 2


def alike(old: str, new: str) -> bool:
    """Whether a value may stand in the place of another: a number for a number, a place for a place."""
    number = re.compile(r"[-+]?[\d.]+(?:e[-+]?\d+)?", re.I)
    place = "/" not in old or re.search(r"[/$~.]", new) is not None
    return is_value(new) and place and (not number.fullmatch(old) or bool(number.fullmatch(new)))


def is_value(word: str) -> bool:
    """Whether a word may be a value: no small word of any tongue, and of letters that are typed in a shell."""
    small = word.lower() in NO_VALUES or (word.lower() in spoken_words("prose") and len(word) > SHORTEST)
    return not small and re.search(r"[\w$]", word) is not None and (word.isascii() or not word.isalpha())


def put(now: Edited, setting: ScriptSetting, value: str) -> Edited:
    text = now.text[: setting.start] + shell_word(value) + now.text[setting.end :]
    return (
        replace(now, text=text, says=(*now.says, f"{setting.name} {setting.value} → {value}"))
        if text != now.text
        else now
    )


def spoken(name: str) -> Iterator[str]:
    """How people call it: `trainer.max_steps`, `max_steps`, `max steps`; of OMP_NUM_THREADS its last word too."""
    plain = name.lstrip("-")
    last = plain.rsplit(".", 1)[-1]
    alike = next((group for group in SYNONYMS if re.sub(r"[_-]", " ", last).lower() in group), ())
    yield from dict.fromkeys((plain, last, re.sub(r"[_-]", " ", last), *alike))
    if plain.isupper() and "_" in plain:
        yield plain.rsplit("_", 1)[-1].removesuffix("S")


def names(name: str, words: str) -> bool:
    return any(re.search(rf"\b{re.escape(one)}", words, re.I) for one in spoken(name))


SET = re.compile(
    rf"(?P<name>(?<![\w-])--[A-Za-z][\w.-]*)[= ](?P<value>{WRITTEN_VALUE})"
    r"|(?:(?<=\s)|(?<=^)|(?<=export ))(?P<key>[A-Za-z_][\w.]*)="
    r"(?P<given>'[^'\n]*'|\"[^\"\n]*\"|[^\s\\;'\"(][^\s\\;'\"]*)",
    re.M,
)


def settings(text: str) -> list[ScriptSetting]:
    """Everything that the text sets, in its order; directives are fields, and not among them."""
    found = []
    for match in SET.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if line.lstrip().startswith("#"):
            continue
        group = "value" if match["name"] else "given"
        found.append(ScriptSetting(match["name"] or match["key"], match[group], match.start(group), match.end(group)))
    return found


def change_options(now: Edited, words: str) -> Edited:
    """Options of the program that stand in the words as they are typed: taken, replaced, or taken out."""
    for pattern in (OPTION, PAIR):
        for found in pattern.finditer(words):
            value = re.split(r"[\u3001\u3002\uff09\uff0c\uff1b]", found["value"] or "")[0].rstrip(".!?")
            value = value.rstrip(")") if "(" not in value else value
            if not is_value(value):
                value = ""
            piece = f"{BETWEEN.split(words[: found.start()])[-1]} {BETWEEN.split(words[found.end() :])[0]}"
            now = give(now, found["name"], value, pattern is PAIR, OF_PROGRAM.search(piece) is not None)
    return now


def give(now: Edited, name: str, value: str, pair: bool, programs: bool = False) -> Edited:
    """The option with that value, where it stands already or behind the others. programs: the words say whose it is."""
    before, old = started(now.text), setting_of(now.text, name)
    if old is not None:
        return put(now, old, value) if value and old.value != value and alike(held_in(now.text, old), value) else now
    if any(places_of(one.argv, name) and not (value and places_of(one.words, name)) for one in before):
        return now  # of a program's own the last one counts
    if not pair and not value and name.startswith("--rdzv"):
        return now  # it takes a value, and none is said
    if f"{name} taken out" in now.says:
        return now
    option = name.lstrip("-")
    known = None if programs or pair or "#SBATCH" not in now.text else slurm_options().of("sbatch").get(option)
    if known and (BOTH.fullmatch(option) or (known.takes == "value" and not value)):
        return now
    if known:
        text = with_directive(now.text, Word(f"--{option}=" if value else f"--{option}", value), PREFIX["slurm"])
        return replace(now, text=text, says=(*now.says, f"{name}{f'={value}' if value else ''} set"))
    shown = f"{name}={shell_word(value)}" if pair else f"{name} {shell_word(value)}".strip() if value else name
    starter = re.search(r"\btorchrun\b|torch\.distributed\.(?:run|launch)\b", now.text)
    if OF_TORCHRUN.fullmatch(name):
        at = starter.end() if starter else 0
        shown = f"{name}={value}" if value else name
        now = replace(now, text=f"{now.text[:at]} {shown}{now.text[at:]}") if at else now
        return replace(now, says=(*now.says, f"{shown} added to torchrun")) if at else now
    at = end_of_launch(now.text) if "\n" in now.text or DIRECTIVE_OR_LAUNCH.match(now.text) else len(now.text)
    text = f"{now.text[:at]} {shown}{now.text[at:]}"
    if not at or (before and not all(was.goes_on(one) for was, one in changes(before, text))):
        return now
    return replace(now, text=text, says=(*now.says, f"{shown} added"))


def held_in(text: str, setting: ScriptSetting) -> str:
    """A setting's value, of a variable what the script sets it to."""
    named = re.fullmatch(r"\$\{?(\w+)\}?", setting.value.strip("\"'"))
    found = [one.value for one in settings(text) if named and one.name == named[1]]
    return found[0] if found else setting.value


def setting_of(text: str, name: str) -> ScriptSetting | None:
    """Where the script sets that name: for the training, else another program, a launcher, in a variable; not in what
    it prints or writes."""
    before = started(text)

    def rank(one: ScriptSetting) -> int:
        changed = changes(before, f"{text[: one.start]}1{text[one.start :]}")
        if not changed:
            return int(not (before and name.startswith("-")))
        own = [was for was, now in changed if was.words != now.words]
        most = 3 if any(was.is_training for was in own) else 2 if own else 1
        return most if all(was.argv for was, _ in changed) else 0

    found = [one for one in settings(text) if one.name == name][:MOST_PLACES]
    ranked = [(rank(one), one) for one in found]
    most, best = max(ranked, key=lambda two: two[0], default=(0, None))
    return best if most else None


def take_out(now: Edited, name: str) -> Edited:
    """The script without that option of a program that it starts, with its value; also out of a variable or a quoted
    list that the launch uses. The same word elsewhere (a remark, echo, the launcher's own options) stays."""
    before = started(now.text)
    for found in islice(re.finditer(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", now.text), MOST_PLACES):
        head = now.text[now.text.rfind("\n", 0, found.start()) + 1 : found.start()]
        for last in dict.fromkeys((end_of_option(now.text, found.end(), head), found.end())):
            start, end = with_blanks(now.text, found.start(), last)
            text = now.text[:start] + now.text[end:]
            if loses(before, text, name):
                return replace(now, text=text, says=(*now.says, f"{name} taken out"))
    return now


def loses(before: Sequence[OneCommand], text: str, name: str) -> bool:
    """Whether programs lose this one option in the text, and nothing else changes. The training has to, where it has
    the option."""
    changed = changes(before, text)
    trains = any(one.is_training and places_of(one.words, name) for one in before)
    touched = any(was.is_training or not trains for was, _ in changed)
    return touched and all(was.without(name, now) for was, now in changed)


def end_of_option(text: str, at: int, head: str) -> int:
    """Where an option ends whose name ends there. head: its line before it, which tells whether a quote is open."""
    quote = next((one for one in ('"', "'") if head.count(one) % 2), "")
    value = rf"[= ](?!-(?![\d.]))[^\s{quote}\\]+" if quote else f"[= ]{WRITTEN_VALUE}"
    given = re.compile(value).match(text, at)
    return given.end() if given else at


def with_blanks(text: str, first: int, last: int) -> tuple[int, int]:
    """A stretch with the blanks that go with it; with its line, where that has nothing else."""
    start = len(text[:first].rstrip(" \t"))
    end = len(text) - len(text[last:].lstrip(" \t"))
    rest = re.compile(r"\\?(?=\n|\Z)").match(text, end)
    if text[start - 1 : start] == "\n" and rest:
        above = text[: start - 1]
        is_last = not rest[0] and above.endswith("\\")  # the line above would go on in the next command
        return len(above[:-1].rstrip(" \t")) if is_last else start - 1, rest.end()
    return (first, end) if text[start - 1 : start] in ("(", '"', "'", "\n") else (start, last)


def end_of_launch(text: str) -> int:
    """Where the arguments of the training program end in the text; 0 where no launch is to be seen."""
    script = read_script(text)
    command, program = script.training, script.program
    if command is None:
        return 0
    lines = text.splitlines(keepends=True)
    at = command.line - 1
    while at < len(lines) - 1 and lines[at].rstrip().endswith("\\"):
        at += 1
    line = lines[at].rstrip()
    last = re.search(r"(?:'[^']*'|\"[^\"]*\")$", line)
    is_value = last is not None and (program is None or plain(program.entry) not in last[0])  # no command in quotes
    tail = re.search(r"\s+(?:\d?>|\||&|2>&1|;|#).*$" + ("" if is_value else r"|[\"']\s*$"), line)
    return sum(map(len, lines[:at])) + (tail.start() if tail else len(line))


def base(name: str) -> str:
    return name.partition("/")[0].lower()


# What joins a command that goes to the next one, or the end of its line.
NOTHING_LEFT = re.compile(r"[ \t]*(?:(?:;|&&)[ \t]*|\n|\Z)?")
MODULE = re.compile(r"^(?P<head>\s*(?:module|ml)\s+(?:load|add)\s+)(?P<names>[^\n#;&|]+)", re.M)


def swap_module(now: Edited, lines: list[re.Match[str]], new: str, old: str) -> Edited:
    """The new module in the place of the old one, or of another version of it; else behind the last that is loaded."""
    loaded = [(line, name) for line in lines for name in line["names"].split()]
    alike = [(line, name) for line, name in loaded if base(name) == base(old or new)]
    if new and "/" not in new and base(new) == base(old or new) and any("/" in name for _, name in alike):
        return now  # it is loaded, in the version that it has
    alike = alike or (loaded if len(loaded) == 1 and not old else [])
    if alike:
        line, name = alike[-1]
        names = " ".join(filter(None, (new if one == name else one for one in line["names"].split())))
        behind = NOTHING_LEFT.match(now.text, line.end())
        changed, end = (f"{line['head']}{names}", line.end()) if names or not behind else ("", behind.end())
        told = f"module {name} → {new}" if new else f"module {name} taken out"
        return replace(now, text=f"{now.text[: line.start()]}{changed}{now.text[end:]}", says=(*now.says, told))
    if not new:
        return now
    if opens_others(new):
        at = lines[0].start()
        head = lines[0]["head"]
        text = f"{now.text[:at]}{head}{new}\n{now.text[at:]}"
        return replace(now, text=text, says=(*now.says, f"module {new} loaded before the others"))
    end = now.text.find("\n", lines[-1].end())
    at = lines[-1].end() if end < 0 or now.text[:end].endswith("\\") else end  # behind all that its line does
    text = f"{now.text[:at]}\n{lines[-1]['head'].strip()} {new}{now.text[at:]}"
    return replace(now, text=text, says=(*now.says, f"module {new} loaded"))


def set_variable(now: Edited, name: str, value: str) -> Edited:
    """The variable with that value where it is set, else exported before the launch."""
    old = next((one for one in settings(now.text) if one.name == name), None)
    if old is not None:
        return put(now, old, value) if old.value != value else now
    command = read_script(now.text).training
    if command is None:
        return now
    lines = now.text.splitlines(keepends=True)
    at = first_line_of(command.line, lines)
    text = "".join([*lines[:at], exported(name, value), *lines[at:]])
    return replace(now, text=text, says=(*now.says, f"{name}={value} exported"))


def exported(name: str, value: str) -> str:
    """The line that sets a variable for the programs behind it."""
    return f"export {name}={value if value.startswith('$') else shell_word(value)}\n"


def first_line_of(number: int, lines: list[str]) -> int:
    """The index of the line at which a command begins."""
    at = number - 1
    while at > 0 and lines[at - 1].rstrip().endswith("\\"):
        at -= 1
    return at
