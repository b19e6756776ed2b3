# ruff: noqa: E501
"""What this machine forbids and what it wants: from its facts, with their pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.extraction.directives import is_placeholder
from graph.extraction.launch_shape import LaunchShape
from graph.verification.checks.count_edits import missing_tasks
from graph.verification.checks.directive_rules import own_lines
from graph.verification.checks.option_tables import MARKS
from graph.verification.checks.rule import Edit, Hit, Rule, launch_rule
from graph.verification.checks.subject import Subject
from graph.verification.checks.words import WORDS
from knowledge.cluster import Forbidden, Required
from knowledge.site import site_of
from knowledge.types import Severity

SATISFIES: dict[str, list[str]] = WORDS["satisfies"]
CALLED: dict[str, str] = WORDS["wanted"]
REFUSED = re.compile(r"answers|refuse|reject|violat|required", re.I)
# Left out, the job gets something else than asked for; it is not refused.
SOFT = frozenset({"place", "memory", "cpus"})


def forbidden_directive(s: Subject) -> Iterator[Hit]:
    if s.cluster is None:
        return
    for fact in s.cluster.forbidden:
        for one in own_lines(s):
            same = f"--{one.option}" == fact.option or one.written == fact.option
            undone = fact.option == "--gpus-per-task" and (
                s.job.value("gpu-bind") == "none" or s.job.tasks_per_node == 1 or s.job.ntasks == 1
            )
            if (
                one.active
                and same
                and not undone
                and not (fact.option == "--export" and one.value.upper() in ("ALL", "NONE"))
            ):
                edit = Edit(one.line, one.line, ()) if removable(s, one.line, fact) else None
                says = f"{one.written} is {effect(fact)} on {s.cluster.title}"
                yield Hit(one.line, says, fact.why, fact.source, severity_of(fact), edit=edit)


def effect(fact: Forbidden) -> str:
    return {"rejected": "refused", "deleted": "grounds to delete the job", "ignored": "ignored", "harmful": "harmful"}[
        fact.effect
    ]


def severity_of(fact: Forbidden) -> Severity:
    return "error" if fact.effect in ("rejected", "deleted") else "warning"


def removable(s: Subject, line: int, fact: Forbidden) -> bool:
    """Whether the line holds this option alone, and something else asks for the GPUs (or the queue decides them)."""
    alone = len({one.written for one in own_lines(s) if one.line == line}) == 1
    return alone and (fact.effect in ("rejected", "deleted") or fact.option == "-V")


def forbidden_launch(s: Subject) -> Iterator[Hit]:
    """The same for what the launch line uses: an option of the launcher, or a launcher by name."""
    if s.cluster is None or s.launch is None:
        return
    for fact in s.cluster.forbidden:
        names = {layer.name for layer in s.launch.layers}
        option = (
            s.launch.parallel is not None
            and fact.option.startswith("--gpus-per-task")
            and s.launch.parallel.has(fact.option)
        )
        if fact.option in names or option:
            says = f"{fact.option} is {effect(fact)} on {s.cluster.title}"
            yield Hit(s.launch.line, says, fact.why, fact.source, severity_of(fact))


def own_torchrun(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """Machines whose network needs a torchrun of their own."""
    layer = launch.spawner
    if s.cluster is None or layer is None or layer.name != "torchrun" or not s.several_nodes:
        return
    forms = [form for form in s.cluster.launch.get("pytorch", ()) if form.workers == "torchrun"]
    other = [form for form in forms if re.match(r"torchrun_\w+|.*\btorchrun_", form.torchrun)]
    if (
        other
        and layer.written.rsplit("/", 1)[-1] == "torchrun"
        and not layer.has("--rdzv-conf")
        and not layer.has("--local-addr")
    ):
        name = re.search(r"torchrun_\w+", other[0].torchrun)
        yield Hit(launch.line, f"{s.cluster.title} has its own {name[0] if name else 'torchrun'}; plain torchrun is used",
                  other[0].note or "the plain one finds the nodes over the wrong network, or not at all", other[0].source)  # fmt: skip


def required_missing(s: Subject) -> Iterator[Hit]:
    """Only for scripts with directives: without any, the options stand on the submit command."""
    if s.cluster is None or s.scheduler != s.cluster.scheduler or s.script.jobs or not sized(s):
        return
    for fact in s.cluster.required:
        if not set(SATISFIES[fact.key]) & set(s.job.asked) and not moot(s, fact):
            line = max(one.line for one in s.job.asked.values())
            edit = missing_tasks(s, line) if fact.key == "tasks" else added(s, fact, line)
            says = f"{s.cluster.title} wants {CALLED[fact.key]}, and no directive asks for {'them' if fact.key in ('gpus', 'filesystems', 'cpus') else 'it'}"
            # "else ...": the default that the job gets, and may want.
            told = fact.key == "place" or (fact.why or "").startswith("else")
            hard = fact.key == "filesystems" or (fact.key not in SOFT and bool(REFUSED.search(fact.why or "")))
            yield Hit(line, says, fact.why or "a job without it is refused or gets a default that does not fit",
                      fact.source or s.cluster.docs, "error" if hard else "info" if told else "warning", edit=edit)  # fmt: skip


def sized(s: Subject) -> bool:
    """Whether the directives ask for the job; else its options stand on the submit command."""
    return bool({"nodes", "select", "ntasks", "time", "walltime", "time-limit"} & set(s.job.asked))


def moot(s: Subject, fact: Required) -> bool:
    if fact.key == "gpus" and s.queue is None and s.job.value("partition", "qos", "queue"):
        return True  # a queue that is not among the GPU queues: another rule says so
    touched = re.search(r"(/[a-z]\w+/\w+)", fact.why or "")
    return fact.key == "constraint" and bool(touched and touched[1] not in s.script.text)


def added(s: Subject, fact: Required, line: int) -> Edit | None:
    """The machine's own directive, where it has no gap to fill in."""
    if s.cluster is None:
        return None
    words = {"filesystems": "filesystems=", "place": "place=", "constraint": "constraint="}.get(fact.key)
    texts = [
        one.text
        for one in s.cluster.directives
        if words and words in one.text and "{" not in one.text and one.when == "always"
    ]
    return Edit(line + 1, line, (f"{MARKS[s.scheduler]} {texts[0]}",)) if len(texts) >= 1 else None


def account_suffix(s: Subject) -> Iterator[Hit]:
    if s.cluster is None or s.scheduler != s.cluster.scheduler:
        return
    account, facts = s.job.value("account", "project"), s.cluster.account
    wanted = {facts.suffix_for(kind.id) for kind in s.node_types} - {None}
    if not account or not facts.suffix_required or not wanted or is_placeholder(account):
        return
    if not any(account.lower().endswith(str(suffix)) for suffix in wanted):
        suffix = sorted(str(one) for one in wanted)[0]
        says = f"the account '{account}' does not end on {' or '.join(sorted(map(str, wanted)))}: GPU jobs on {s.cluster.title} need that"
        change = (("account", f"{account}{suffix}"),) if len(wanted) == 1 and "-" not in account else ()
        why = facts.note or "the account of the project's GPU share has another name"
        yield Hit(s.job.line("account", "project"), says, why, facts.source, change=change)


def unsent_mail(s: Subject) -> Iterator[Hit]:
    """Options for mail on a machine that takes them and sends none."""
    site = site_of(s.cluster.id) if s.cluster and s.scheduler == s.cluster.scheduler else None
    line = s.job.line("mail-user", "mail-type", "mail")
    if site and site.sends_no_mail and site.email_notices and line and s.cluster:
        page = re.search(r"https?://\S+", site.email_notices.text)
        says = f"{s.cluster.title} takes this option and sends no mail"
        yield Hit(line, says, "the scheduler's own commands tell whether the job has ended", page[0] if page else None)


RULES = (
    Rule("site-forbidden-directive", "directives", "error", "an option that the machine's facts forbid", forbidden_directive),
    Rule("site-forbidden-launch", "launch", "warning", "a launcher or launch option that the machine's facts forbid", forbidden_launch),
    launch_rule("site-torchrun", "launch", "warning", "plain torchrun on a machine that has its own", own_torchrun),
    Rule("site-required-missing", "directives", "warning", "what the machine's facts require and no directive asks for", required_missing),
    Rule("site-no-mail", "directives", "warning", "mail asked for on a machine that sends none", unsent_mail),
    Rule("account-suffix", "limits", "error", "an account without the ending that GPU jobs need there", account_suffix),
)  # fmt: skip
