"""Questions about how ranks are started: whether a launcher may be used there, and which is usual."""

from __future__ import annotations

import re

from graph.answering.asking import Inquiry, framework, plain
from graph.answering.fact_answer import FactAnswer, say
from knowledge.cluster import LaunchForm

WORKERS = {
    "ranks": "each task is one rank",
    "torchrun": "one {torchrun} a node",
    "accelerate": "one accelerate launch a node",
}
LAUNCHERS = {
    "mpiexec": "mpiexec (HPE PALS)",
    "mpirun": "mpirun (Open MPI)",
    "flux": "flux run",
    "none": "no launcher but the workers' own",
}
# How people name a launcher -> the field of a launch form that would hold it.
NAMES = {
    "torchrun": "torchrun",
    "torch.distributed.run": "torchrun",
    "accelerate launch": "accelerate",
    "deepspeed launcher": "deepspeed",
    "srun": "srun",
    "mpiexec": "mpiexec",
    "mpirun": "mpirun",
    "ibrun": "ibrun",
    "jsrun": "jsrun",
    "flux run": "flux",
}
WHY = re.compile(r"\bwhy\b|\breason\b|what .{0,40}\bfor\b|do i (?:really )?need")
BINDING_WHY = (
    "Each GPU sits next to some of the node's cores: a rank that runs on far ones feeds its GPU more slowly, and ranks "
    "that are not bound may crowd onto the same cores"
)
OUR_READING = "No page of the site shows this: it is our reading of the facts"


def launcher(ask: Inquiry) -> FactAnswer:
    """The launcher that is named, or how ranks are started at all."""
    for word in NAMES:
        if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", ask.text):
            return one_launcher(ask, word)
    return usual_launcher(ask)


def one_launcher(ask: Inquiry, word: str) -> FactAnswer:
    cluster = ask.cluster
    for ban in cluster.forbidden:
        if ban.option == word:
            return say(cluster, [f"No, not {word} on {cluster.title}: {ban.why}", usual_form(ask)], [ban.source])
    forms = [form for form in forms_of(ask) if NAMES[word] in (form.launcher, form.workers)]
    if not forms:
        no = f"On {cluster.title} {word} is not how ranks are started"
        return say(cluster, [no, usual_form(ask), *about(ask, word)[:1]], [forms_of(ask)[0].source])
    form = forms[0]
    yes = f"Yes, {word} works on {cluster.title}: {in_words(form)}"
    return say(cluster, [yes, form.note or "", "" if form.documented else OUR_READING], [form.source])


def binding(ask: Inquiry) -> FactAnswer | None:
    """How ranks are bound to cores there: the launcher's options, and what the notes say."""
    options = [plain(text) for form in forms_of(ask)[:1] for text in (*form.options, *form.whole_node_options)]
    bound = [text for text in options if "bind" in text or "depth" in text]
    if not bound:
        return None
    said = f"Ranks on {ask.cluster.title} are bound with {' '.join(bound)}"
    notes = [*about(ask, "binding")[:1], *(about(ask, "numa") + about(ask, "masks") if WHY.search(ask.text) else ())]
    reason = BINDING_WHY if WHY.search(ask.text) else ""
    return say(ask.cluster, [reason, said, *dict.fromkeys(notes)], [forms_of(ask)[0].source])


def about(ask: Inquiry, word: str) -> list[str]:
    """What the gotchas and notes say of a launcher."""
    key = re.compile(rf"(?<![\w-]){re.escape(word.split()[0])}(?![\w-])")
    of_nodes = (note for node in ask.cluster.node_types for note in node.notes)
    return [text for text in (*ask.cluster.gotchas, *ask.cluster.notes, *of_nodes) if key.search(text.lower())]


def usual_launcher(ask: Inquiry) -> FactAnswer:
    first, *others = forms_of(ask)
    known = [text for text in dict.fromkeys(in_words(form) for form in others) if text != in_words(first)]
    also = f"Also known: {'; '.join(known[:2])}" if known else ""
    options = f"Options of the launcher: {' '.join(plain(text) for text in first.options)}" if first.options else ""
    doubt = "" if first.documented else OUR_READING
    return say(ask.cluster, [usual_form(ask), options, also, first.note or "", doubt], [first.source])


def forms_of(ask: Inquiry) -> list[LaunchForm]:
    """The forms of the framework named (of all of them else), best first."""
    wanted = framework(ask.text)
    forms = [form for name, found in ask.cluster.launch.items() if wanted in (None, name) for form in found]
    return forms or list(ask.cluster.launch["pytorch"])


def in_words(form: LaunchForm) -> str:
    return f"{LAUNCHERS.get(form.launcher, form.launcher)}, {WORKERS[form.workers].format(torchrun=form.torchrun)}"


def usual_form(ask: Inquiry) -> str:
    return f"Ranks on {ask.cluster.title} are started with {in_words(forms_of(ask)[0])}"
