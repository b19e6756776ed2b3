"""Frames of what a job asks of its scheduler: arrays, waiting, signals, mail, whole nodes, directives word for word."""

from __future__ import annotations

import re
from functools import cache
from typing import get_args

from graph.reading.argument_edits import known_arguments, new_name, spelling
from graph.reading.edits import Add, Edit, Set
from graph.reading.frame import Got, Span, words
from graph.reading.grids import GRID
from graph.reading.parts import ADDRESS, EVENTS, JOBS, SECONDS, N, count, grid_array, one_a_task
from knowledge.job_parts import ArgumentEdit, ArrayAxis, Dependency, DependencyKind, JobArray, LimitSignal, Mail
from knowledge.slurm_options import slurm_options
from knowledge.types import JobRequest
from knowledge.word_lists import word_set

SEPARATOR = r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|und|et)\s+|\s+"
NUMBER = r"(?<![\w.-])[+-]?\d[\d.]*(?:e[+-]?\d+)?(?![\w%]|\.\d)"
ITEM = rf"(?:[\w.+-]*/[\w./+-]*\w|[\w-]+\.(?:ya?ml|json|toml|txt|csv|pt|jsonl|npz|cfg)|{NUMBER})"
ITEMS = re.compile(rf"{ITEM}(?:(?:{SEPARATOR}){ITEM})+", re.I)
GLOB = re.compile(r"(?<!\S)[\w./+-]*[*?\[][\w./*?\[\]+-]*[\w*\]]")
MANY = (
    r"\b(?:job )?arrays?\b|\bsweep\w*|\b(?:one|a|1) (?:job|task|run) (?:per|for (?:each|every))\b"
    r"|\bonce (?:per|for (?:each|every))\b|\b(?:two|three|four|five|\d+) times\b(?=.*--)"
)
AT_ONCE = (
    rf"\b(?:at most|max(?:imum)?|no more than|only)\s+(?P<n>{N})(?:\s+(?:jobs|tasks|runs))?"
    r"\s+(?:at (?:a time|once|the same time)|together|in parallel)"
)
OF_ARRAY = (
    r"\brun it \w+ times\b",
    r"\bas an? (?:job )?array\b",
    r"\b(?:passed?|handed?|hand) (?:\w+ ){0,3}(?:as|with|over with|over)\b",
    r"\b(?:can you )?(?:turn|make) (?:this|it) into (?:an? )?\d* ?(?:array )?(?:tasks|jobs)?",
)
OPTION = re.compile(r"(?<!\S)--?[A-Za-z](?:[\w.-]*\w)?")
FOLDER = re.compile(
    r"\b(?:each|every|all(?: the| of the)?)\s+(?:\w+ )?(?P<kind>ya?ml|json|toml|csv|txt|config|file|pt|sh)s?"
    r"(?: files?)? (?:in|of|under|from) (?:the (?:folder |dir\w* )?)?"
    r"(?P<folder>[\w.$~{}-]*/[\w./${}-]*"
    r"|(?!(?:the|this|that|my|our|an?|one|same|its?|your|each|every)\b)[\w-]+(?= (?:folder|dir)))",
    re.I,
)
OF_SO_MANY = (
    rf"\b(?:array(?: jobs?)?|job array)\s+(?:of|with)\s+(?P<n>{N})\b(?: (?:jobs|tasks|runs|elements))?"
    r"(?! (?:at (?:a time|once)|in parallel|together))"
    rf"|(?<!most )(?<!than )(?<!only )(?<!max )\b(?P<m>{N})\s+(?:times|runs|tasks|copies|jobs)\b"
    r"(?! (?:at (?:a time|once)|in parallel|together))"
)
LOW_TO_HIGH = re.compile(r"\b\d+\s*(?:-|to|\.\.+|bis|a|until)\s*\d+\b", re.I)  # a range is read by the table of parts
GETS_INDEX = r"\b(?:the )?(?:task )?(?:index|number|id) (?:goes|is (?:passed|handed)|should go|given) (?:to|as|with)?"
GONE = (
    r"(?<!is )(?<!has )(?<!have )(?<!takes )(?<!are )(?<!runs )"
    r"\b(?:remove|drop|delete|lose|take out|leave out|get rid of|kill|without|no)\s+(?:the\s+|its\s+|my\s+)?"
    r"[`'\"]?(?P<name>--?[\w.-]*\w|[a-z]\w*(?:[ _-]\w+)?)[`'\"]?\s+(?:option|argument|arg|flag|parameter)\b"
)
NO_NAMES = frozenset(("over", "files", "array", "each", "values", "per", "in", "of", "for", "the", "yaml", "file"))
# A job's id stands behind a word that leads to one, so that a number of steps is none.
LEADS = (
    r"(?<=job )|(?<=jobs )|(?<=id )|(?<=on )|(?<=for )|(?<=after )|(?<=until )|(?<=once )|(?<=when )|(?<=behind )"
    r"|(?<=if )|(?<=and )"
)
JOB_ID = (
    rf"(?<![\w./:$-])(?:{LEADS}|(?<=, ))(?:\d{{4,}}(?:\[\])?(?:\.[a-z][\w-]*)*"
    r"|[f\u0192](?=\w*[A-Z0-9])(?=\w*[A-Za-z])\w{5,12})(?![\w:/-])"
)
WAITS = (
    r"\b(?:depend\w*|after|until|once|when|waits?|behind|even if|(?:only )?(?:start|run|begin)s?(?: only)?"
    r"|not before)\b"
)
HOW_ENDED = (
    r"\b(?:has |have |is |being |to )?(?:finished|finishes|finish|ended|ends?|done|succeeded|failed|completed?)\b"
    r"(?: (?:ok|fine|well))?",
    r"\bbut not before it (?:ended|is done|finished)\b",
    r"\b(?:make|let) (?:it|this)\b",
)
ANYHOW = r"even if|whatever|either way|in any case|regardless|whether|\b(?:to )?ends?\b|\bended\b|\bis over\b"
WELL = r"\bok\b|success|succeed|\bfine\b|\bwell\b|\bgood\b"
BEFORE_END = (
    rf"\b(?P<n>{N})\s*(?P<unit>m(?:in\w*)?|s(?:ec\w*|ek\w*|eg\w*)?|h(?:ours?)?)\s+(?:before|antes|vor|avant|prima)\s+"
    r"(?:(?:the|its?|del?|el|la|le|dem|der|des|che)\s+)*"
    r"(?:end\w*|limit\w*|l[ií]mite|fin\w*|ende|zeitlimit|time ?limit|wall ?time|time (?:is|runs) (?:over|out|up)"
    r"|job ends|kill\w*)"
)
SIGNAL = r"\b(?:SIG)?(?P<name>USR1|USR2|TERM|INT|HUP|CONT|QUIT)\b"
OF_SIGNAL = (
    r"\b(?:send|give)\b(?: \w+){0,2} (?=(?:SIG)?[A-Z]{3,4}\d?\b)",
    r"\bsignal\b",
    r"\b(?:to )?the (?:batch shell|shell|program|script)\b",
    r"\bso (?:that )?it (?:can |may )?(?:re)?(?:starts?|save|go on)\w*(?: from \w+ \w+)?",
)
NO_REQUEUE = (
    r"\b(?:no|not|don'?t|do not|never|without)\b[^.,;]{0,25}\bre-?queue\w*(?: (?:it|this|the job))?"
    r"(?: (?:if|when|after) a node \w+)?"
)
OF_MAIL = r"\b(?:e-?mails?|mail|notif\w+|alert|inform|write to|tell)\b"
EVERYTHING = r"\b(?:all|every|any) (?:events?|changes?|states?)|\beverything\b|\balways\b"
ALONE = (
    r"\b(?:the )?(?:whole )?(?:nodes?|machines?) (?:all |only |just )?(?:to|for) (?:my|our|it|them)sel(?:f|ves)\b"
    r"|\b(?:alone|nobody else|no one else) on (?:the|its|my) nodes?"
    r"|\b(?:not|don'?t|no|without) shar(?:e|ing) (?:the |my )?nodes?"
)
DIRECTIVE = re.compile(r"(?<!\S)(?P<name>--[a-z][\w-]*)(?:[= ](?!-)[^\s,`\"']+|(?=[\s,.]|$))")
MARKED = (
    r"(?:\b(?:add|put|insert|set)\b)?(?: (?:the|a|this))?(?: line| directive)?\s*[`\"']?"
    r"#\s?(?:SBATCH|PBS|BSUB|flux:)\s*(?P<v>-(?:(?!\s(?:and|und|et|y|e)\s)[^`\"'\n])*[^`\"'\s.,])"
)
CALLED = (
    r"\b(?:(?:as|in|to)(?: an?| the)? )?"
    r"(?:(?:two|three|extra|more|further|these|this|sbatch|slurm|pbs|lsf|flux|scheduler)\s)*"
    r"(?:directives?|header|(?:sbatch|slurm|scheduler) options?)\b:?"
)
# Long options of schedulers in one word that hardly any program has.
ONE_WORD = word_set(
    "--switches --nodelist --licenses --gres --hint --contiguous --wckey --propagate --overcommit "
    "--oversubscribe --distribution --deadline --setattr --requires"
)


def array(text: str, request: JobRequest) -> Got | None:
    """An array over values or files that the sentence lists; the option that takes them is named in it."""
    if whole := re.search(GRID, text, re.I):
        return Got(grid_array(whole, request), [whole.span()])
    about = re.search(MANY, text, re.I)
    folder, listed = FOLDER.search(text), ITEMS.search(text) or GLOB.search(text)
    if about is None or not (listed or folder):
        return counted(text, about, request)
    if folder or listed is None:
        return over_files(text, about, request)
    values = tuple(part for part in re.split(SEPARATOR, listed[0]) if part)
    option = OPTION.search(text)
    name, named = (option[0], option.span()) if option else name_before(text[: listed.start()], request)
    before = request.array or JobArray()
    axes = (*(axis for axis in before.axes if axis.option != name), ArrayAxis(name, values))
    most = re.search(AT_ONCE, text)
    at_once = count(most["n"]) if most else before.at_once
    spans = [about.span(), listed.span(), named, *([most.span()] if most else []), *words(text, *OF_ARRAY)]
    return Got((Set("array", JobArray(axes, None, at_once), text.strip()),), spans)


def over_files(text: str, about: re.Match[str], request: JobRequest) -> Got | None:
    """An array over the files of a folder: `once for each yaml in configs/`."""
    folder, option = FOLDER.search(text), OPTION.search(text)
    if folder is None:
        return None
    ending = "" if folder["kind"].lower() in ("file", "config") else f".{folder['kind'].lower()}"
    axis = ArrayAxis(option[0] if option else "", (f"{folder['folder'].rstrip('/')}/*{ending}",))
    before = request.array or JobArray()
    spans = [about.span(), folder.span(), *([option.span()] if option else []), *words(text, *OF_ARRAY)]
    return Got((Set("array", JobArray((axis,), None, before.at_once), text.strip()),), spans)


def counted(text: str, about: re.Match[str] | None, request: JobRequest) -> Got | None:
    """An array of so many tasks; an option that is named gets the task's number."""
    many, option = re.search(OF_SO_MANY, text, re.I), OPTION.search(text)
    if about is None or many is None or LOW_TO_HIGH.search(text):
        return None
    number = count(many["n"] or many["m"])
    axes = (ArrayAxis(option[0], tuple(map(str, range(number)))),) if option else ()
    most = re.search(AT_ONCE, text)
    at_once = count(most["n"]) if most else None
    spans = [about.span(), many.span(), *([option.span()] if option else []), *words(text, *OF_ARRAY, GETS_INDEX)]
    return Got((Set("array", JobArray(axes, None if axes else number, at_once), text.strip()),), spans)


def argument_gone(text: str, request: JobRequest) -> Got | None:
    """An argument that is named as one and goes: `drop the epochs option`."""
    found = re.search(GONE, text, re.I)
    known = known_arguments(request)
    written = (spelling(found["name"].lower(), known) or found["name"]) if found else ""
    if found is None or written not in known:
        return None
    return Got((Add("argument_edits", ArgumentEdit("remove", written), found[0]),), [found.span()])


def name_before(text: str, request: JobRequest) -> tuple[str, Span]:
    """The argument whose name stands before its values, as the program writes it; the values alone without one."""
    known = known_arguments(request)
    found = re.search(r"((?:[a-z]+ )?[a-z][\w.-]*)\s*(?::|=|,|values?|in|of|to)?\s*$", text, re.I)
    for said in (found[1], found[1].split()[-1]) if found else ():
        if found and (written := spelling(said.lower(), known)):
            return written, found.span()
    last = re.search(r"(batch size|learning rate|[a-z][\w.]*)\W*$", text, re.I)
    if last is None or last[1].lower() in NO_NAMES:
        return "", (0, 0)
    return new_name(one_a_task(last[1].lower()), known), last.span()


def waiting(text: str, request: JobRequest) -> Got | None:
    """What the job waits for: ids, and how those have to end."""
    ids, waits = [*re.finditer(JOB_ID, text)], words(text, WAITS)
    if not ids or not waits:
        return None
    value = Dependency(kind_of_end(text.lower()), tuple(match[0] for match in ids))
    spans = [*(match.span() for match in ids), *waits, *words(text, *HOW_ENDED, r"\bjobs?\b")]
    return Got((Set("dependency", value, text.strip()),), spans)


def kind_of_end(said: str) -> DependencyKind:
    """How the awaited job has to end: well, unless something else is said."""
    named = next(
        (kind for kind in get_args(DependencyKind) if re.search(rf"\b{kind}\b", said) and kind != "after"), None
    )
    if named:
        return named  # type: ignore[no-any-return]
    if re.search(ANYHOW, said):
        return "afterok" if re.search(WELL, said) else "afterany"
    return "afternotok" if re.search(r"\bfail", said) else "afterok"


def signal(text: str, request: JobRequest) -> Got | None:
    """A signal some minutes before the limit, named anywhere in the sentence."""
    when, name = re.search(BEFORE_END, text, re.I), re.search(SIGNAL, text)
    if when is None or not (name or re.search(r"\bsignal|\bsave|\bwarn", text, re.I)):
        return None
    seconds = count(when["n"]) * SECONDS[when["unit"][0].lower()]
    told = name["name"] if name else request.signal.name if request.signal else "USR1"
    return Got((Set("signal", LimitSignal(told, seconds), when[0]),), words(text, BEFORE_END, SIGNAL, *OF_SIGNAL))


def not_again(text: str, request: JobRequest) -> Got | None:
    """A job that the scheduler must not start again."""
    found = re.search(NO_REQUEUE, text, re.I)
    return Got((Set("requeue", False, found[0]),), [found.span()]) if found else None


def mail(text: str, request: JobRequest) -> Got | None:
    """Who gets mail of what: an address in a sentence of mail."""
    about, address = re.search(OF_MAIL, text, re.I), re.search(ADDRESS, text)
    if about is None or address is None or re.search(r"\bstop\b", text, re.I):
        return None
    rest = text.replace(address[0], " " * len(address[0]))
    everything = re.search(EVERYTHING, rest, re.I)
    events = tuple(event for event, said in EVENTS if everything or re.search(said, rest, re.I))
    before = request.mail or Mail()
    spans = [about.span(), address.span(), *words(rest, EVERYTHING, *(said for _, said in EVENTS))]
    return Got((Set("mail", Mail(address[0], events or before.events), text.strip()),), spans)


def alone(text: str, request: JobRequest) -> Got | None:
    """Whole nodes."""
    found = re.search(ALONE, text, re.I)
    return Got((Set("exclusive", True, found[0]),), [found.span()]) if found else None


def directives(text: str, request: JobRequest) -> Got | None:
    """Directives word for word: behind the scheduler's mark, called so, or options that only a scheduler has."""
    marked = re.search(MARKED, text, re.I)
    called = marked is not None or re.search(CALLED, text, re.I) is not None
    known = known_arguments(request)
    found = [
        one for one in DIRECTIVE.finditer(text) if one["name"] not in known and (called or is_schedulers(one["name"]))
    ]
    if marked:
        found = [one for one in found if one.start() >= marked.end()]
    edits: list[Edit] = [Add("extra_directives", marked["v"], marked[0])] if marked else []
    edits += [Add("extra_directives", one[0].rstrip(".,!?"), one[0]) for one in found]
    spans = [
        *([marked.span()] if marked else []),
        *(one.span() for one in found),
        *words(text, CALLED, r"\b(?:add|stick|put)\b", r"\bin there\b"),
    ]
    return Got(edits, spans) if edits else None


@cache
def options_of_slurm() -> frozenset[str]:
    """sbatch's long options that a program hardly has as well: those of two words."""
    return frozenset(f"--{name}" for name in slurm_options().of("sbatch") if "-" in name)


def is_schedulers(name: str) -> bool:
    """Whether an option is a scheduler's, and none that has a field of its own here."""
    return (name in ONE_WORD or name in options_of_slurm()) and not JOBS.match(name)
