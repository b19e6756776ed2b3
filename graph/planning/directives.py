"""What people add to a job's directives, in each scheduler's words; what it has no word for is refused.

Sources: sbatch(1) of Slurm 25.05, PBS Professional's reference guide 2024 (qsub), LSF's bsub reference 10.1 and
flux-batch(1) of flux-core 0.7x.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from graph.planning.fields import check_directive, shown
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.job_parts import Dependency, LimitSignal, Mail
from knowledge.types import DIRECTIVE_MARKS, SCHEDULER_TITLES, Alternative, Directive, JobRequest, Refusal, Scheduler

PREFIX, SUBMITS = DIRECTIVE_MARKS, SCHEDULER_TITLES
# A job that nobody named yet: its id is given where the script is submitted.
LATER = "JOBID"


@dataclass(frozen=True, slots=True)
class Word:
    """One directive: the part that tells what it is, its value, and how it joins one that is there.

    join None: it takes that one's place; a text: the value is added behind it; "+": it stands beside any other.
    """

    key: str
    value: str = ""
    join: str | None = None

    @property
    def text(self) -> str:
        return self.key + self.value


Forms = Mapping[Scheduler, Callable[[str], Word]]
FORMS: Mapping[str, Forms] = {
    "exclusive": {
        "slurm": lambda _: Word("--exclusive"),
        "pbs": lambda _: Word("-l place=", "excl", ":"),
        "lsf": lambda _: Word("-x"),
        "flux": lambda _: Word("--exclusive"),
    },
    "reservation": {
        "slurm": lambda name: Word("--reservation=", name),
        "pbs": lambda name: Word("-q ", name),
        "lsf": lambda name: Word("-U ", name),
    },
    "constraint": {
        "slurm": lambda name: Word("--constraint=", name, "&"),
        "pbs": lambda name: Word("-l select=", name if "=" in name else f"{name}=True", ":"),
        "lsf": lambda name: Word("-R ", f'"select[{name}]"', "+"),
        "flux": lambda name: Word("--requires=", name, "+"),
    },
    "begin": {
        "slurm": lambda when: Word("--begin=", when),
        "pbs": lambda when: Word("-a ", "".join(date_and_time(when))),
        "lsf": lambda when: Word("-b ", ":".join(date_and_time(when))),
        "flux": lambda when: Word("--begin-time=", when),
    },
    "nodelist": {
        "slurm": lambda hosts: Word("--nodelist=", hosts),
        "lsf": lambda hosts: Word("-m ", f'"{hosts.replace(",", " ")}"'),
        "flux": lambda hosts: Word("--requires=", f"host:{hosts}", "+"),
    },
    "exclude_nodes": {
        "slurm": lambda hosts: Word("--exclude=", hosts),
        "lsf": lambda hosts: Word(
            "-R ", '"select[' + " && ".join(f"hname!='{host}'" for host in hosts.split(",")) + ']"', "+"
        ),
        "flux": lambda hosts: Word("--requires=", f"-host:{hosts}", "+"),
    },
    "memory_gb": {
        "slurm": lambda gb: Word("--mem=", "0" if gb == "0" else f"{gb}G"),
        "pbs": lambda gb: Word("-l select=", f"mem={gb}gb", ":"),
        "lsf": lambda gb: Word("-R ", f'"rusage[mem={gb}GB]"', "+"),
    },
    "requeue": {
        "slurm": lambda _: Word("--requeue"),
        "pbs": lambda _: Word("-r ", "y"),
        "lsf": lambda _: Word("-r"),
    },
}
# A job that is not to be started again; Flux starts none again by itself.
NO_REQUEUE: Mapping[Scheduler, Word] = {"slurm": Word("--no-requeue"), "pbs": Word("-r ", "n"), "lsf": Word("-rn")}
# What takes the place of a word that a scheduler does not have.
NEAREST = {
    "reservation": "Flux has no reservations: the site opens a queue for one, say its name as the queue",
    "nodelist": "the scheduler picks the nodes",
    "exclude_nodes": "tell support of the bad node, or send the job again: it lands on others",
    "memory_gb": "a whole node's memory, which Flux gives with the node",
    "requeue": "a chain of jobs: each goes on from the newest checkpoint",
}
# Another change that comes nearest, beside leaving the wish out.
CHANGES: Mapping[str, tuple[tuple[str, str | int | None], ...]] = {"requeue": (("chain", 2),)}
REPLACES = {"--mem=": ("--mem",), "--requeue": ("--no-requeue",), "--no-requeue": ("--requeue",)}
MAIL_SLURM = {"begin": "BEGIN", "end": "END", "fail": "FAIL", "limit": "TIME_LIMIT_80"}
MAIL_PBS = {"begin": "b", "end": "e", "fail": "a", "limit": "a"}
LSF_AFTER = {"afterok": "done", "afterany": "ended", "afternotok": "exit", "after": "started"}


def with_parts(
    written: tuple[Directive, ...], request: JobRequest, cluster: Cluster
) -> tuple[Directive, ...] | Refusal:
    """The site's directives with what the person added. Raises InputError on a bad word."""
    words: list[Word] = []
    for name, forms in FORMS.items():
        value = asked(request, name)
        if value is None:
            continue
        form = forms.get(cluster.scheduler)
        if form is None:
            return no_word(name, cluster)
        words.append(form(value))
    if request.requeue is False and cluster.scheduler in NO_REQUEUE:
        words.append(NO_REQUEUE[cluster.scheduler])
    for made in (mail_words(request.mail, cluster), dependency_words(request.dependency, request, cluster)):
        if isinstance(made, Refusal):
            return made
        words += made
    words += signal_options(request.signal, cluster.scheduler) if request.signal else []
    extra = extra_words(request.extra_directives, cluster)
    if isinstance(extra, Refusal):
        return extra
    words += extra
    for word in words:
        if (refused := site_refuses(word, cluster)) is not None:
            return refused
    lines = list(written)
    for word in words:
        lines = joined(lines, word)
    return tuple(lines)


def date_and_time(text: str) -> tuple[str, ...]:
    """Year, month, day, hour and minute of `2026-11-24T08:00`. Raises InputError on anything else."""
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::\d\d)?", text)
    if found is None:
        raise InputError(f"begin {shown(text)} is no date and time; give it as 2026-11-24T08:00")
    return found.groups()


def asked(request: JobRequest, name: str) -> str | None:
    """The value as text where it was asked for; checked, because a directive cannot be quoted."""
    value = getattr(request, name)
    if value is None or value is False or value == ():
        return None
    text = ",".join(value) if isinstance(value, tuple) else str(value)
    check_directive(name, text)
    return text


def no_word(name: str, cluster: Cluster) -> Refusal:
    says = name.replace("_gb", "").replace("_", " ")
    nearest = NEAREST.get(name, "the same without it")
    ways = [Alternative(f"the same without {says}", ((name, None),))]
    if name in CHANGES:
        ways.insert(0, Alternative(nearest, ((name, None), *CHANGES[name])))
    return Refusal(
        f"{SUBMITS[cluster.scheduler]} on {cluster.title} has no option for {says}.",
        f"Nearest: {nearest}.",
        None,
        tuple(ways),
    )


def site_refuses(word: Word, cluster: Cluster) -> Refusal | None:
    """The site's own ban of an option, told before the scheduler does."""
    option = word.key.strip().rstrip("=")
    for fact in cluster.forbidden:
        if fact.option == option and fact.effect != "harmful":
            says = f"{cluster.title} does not take {option}: jobs with it are {fact.effect}."
            return Refusal(says, fact.why, fact.source, (Alternative(f"the same without {option}", ()),))
    return None


def joined(lines: list[Directive], word: Word) -> list[Directive]:
    """The lines with one word more: in the place of its like, behind it, or as a line of its own."""
    others = REPLACES.get(word.key, ())
    at = [n for n, line in enumerate(lines) if line.text.startswith((word.key, *others)) and word.join != "+"]
    if not at:
        return [*lines, Directive(word.text)]
    first = lines[at[0]]
    text = word.text if word.join is None else f"{first.text}{word.join}{word.value}"
    kept = [line for n, line in enumerate(lines) if n not in at[1:]]
    return [Directive(text, first.comment if word.join else "") if line is first else line for line in kept]


def mail_words(mail: Mail | None, cluster: Cluster) -> list[Word] | Refusal:
    words = [] if mail is None else mail_options(mail, cluster.scheduler)
    return (
        words
        if words is not None
        else Refusal(
            f"Flux on {cluster.title} writes no mail.",
            "flux-batch has no option for it; `flux job wait-event -t 0 JOBID clean && mail ...` on a login node does.",
            None,
            (Alternative("the same without mail", (("mail", None),)),),
        )
    )


def mail_options(mail: Mail, scheduler: Scheduler) -> list[Word] | None:
    """A scheduler's words for the wish; None where it writes no mail. Raises InputError on an odd address."""
    if mail.address:
        check_directive("mail", mail.address)
    events = mail.events or ("end", "fail")
    if scheduler == "slurm":
        types = ",".join(dict.fromkeys(MAIL_SLURM[event] for event in events))
        return [*([Word("--mail-user=", mail.address)] if mail.address else []), Word("--mail-type=", types)]
    if scheduler == "pbs":
        letters = "".join(letter for letter in "abe" if letter in {MAIL_PBS[event] for event in events})
        return [*([Word("-M ", mail.address)] if mail.address else []), Word("-m ", letters)]
    if scheduler == "lsf":
        flags = [Word("-B")] if "begin" in events else []
        flags += [Word("-N")] if set(events) - {"begin"} else []
        return [*([Word("-u ", mail.address)] if mail.address else []), *flags]
    return None


def dependency_words(after: Dependency | None, request: JobRequest, cluster: Cluster) -> list[Word] | Refusal:
    """What the job waits for. Ids that are not known yet are given at submission (see `submission`)."""
    if after is None or (after.kind != "singleton" and not after.jobs):
        return []
    for job in after.jobs:
        check_directive("dependency", job)
    return dependency(after, cluster.scheduler, request.job_name or "the same name")


def dependency(after: Dependency, scheduler: Scheduler, name: str) -> list[Word] | Refusal:
    if after.kind == "singleton":
        if scheduler == "slurm":
            return [Word("--dependency=", "singleton")]
        says = f"{SUBMITS[scheduler]} has no `one of {name} at a time`."
        why = "It is Slurm's `--dependency=singleton`."
        return Refusal(says, why, None, (Alternative("after a job that you name by its id", (("dependency", None),)),))
    if scheduler == "slurm":
        return [Word("--dependency=", ":".join((after.kind, *after.jobs)))]
    if scheduler == "pbs":
        return [Word("-W ", "depend=" + ":".join((after.kind, *after.jobs)), "+")]
    if scheduler == "lsf":
        return [Word("-w ", '"' + " && ".join(f"{LSF_AFTER[after.kind]}({job})" for job in after.jobs) + '"')]
    return [Word("--dependency=", f"{after.kind}:{job}", "+") for job in after.jobs]


def signal_options(signal: LimitSignal, scheduler: Scheduler) -> list[Word]:
    """The scheduler's own signal before the limit. PBS and Flux scripts keep the time themselves (the frame does)."""
    check_directive("signal", signal.name)
    if scheduler == "slurm":
        return [Word("--signal=", f"B:{signal.name}@{signal.seconds}"), Word("--open-mode=", "append")]
    if scheduler == "lsf":
        return [Word("-wa ", f"'{signal.name}'"), Word("-wt ", str(-(-signal.seconds // 60)))]
    return []


# Options of Slurm alone that a person may have asked for in words.
OF_SLURM = ("--open-mode", "--kill-on-invalid-dep")


def extra_words(lines: Iterable[str], cluster: Cluster) -> list[Word] | Refusal:
    """Directives as the person wrote them, with or without the scheduler's prefix."""
    words = []
    own = PREFIX[cluster.scheduler]
    for line in dict.fromkeys(lines):
        text = re.sub(r"^\s*" + re.escape(own) + r"\s*", "", line).strip()
        other = next((name for name, prefix in PREFIX.items() if text.startswith(prefix)), None)
        foreign = text.startswith("--") and cluster.scheduler in ("pbs", "lsf")  # their options have one dash
        foreign = foreign or (text.startswith(OF_SLURM) and cluster.scheduler != "slurm")
        if other is not None or foreign or not text.startswith("-"):
            says = f"{shown(line)} is no directive of {SUBMITS[cluster.scheduler]}."
            why = f"On {cluster.title} a directive is `{own} {'-o value' if foreign else '--option'}`."
            return Refusal(says, why, None, (Alternative("the same without it", ()),))
        check_directive("extra_directives", text, free=True)
        words.append(Word(text, join="+"))
    return words
