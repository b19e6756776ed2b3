"""Questions about the script in hand, ours or the person's own: what it does, a line, its launch, files, counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from graph.answering.ask import Ask
from graph.answering.fact_answer import TAIL, as_sentence, spell
from graph.answering.in_hand import InHand, in_hand, no_script
from graph.answering.script_checks import check_counts, start_of, tell_place, verdict
from graph.answering.script_parts import (
    DIRECTIVE,
    ScriptLine,
    explain_briefly,
    explain_line,
    line_at,
    lines,
    lines_meant,
    telling_words,
)
from graph.answering.situation import cite, write_document
from graph.planning.queues import plural
from knowledge.cluster import LaunchForm
from knowledge.document import Document
from knowledge.general_facts import framework_launches
from knowledge.options import options_named
from knowledge.site import site_of
from knowledge.types import Assumption

# Words of a question -> the field of an assumption that answers it.
FIELDS = (
    (r"\b(?:tensor|pipeline|tp|pp|stages?)\b", "parallel sizes"),
    (r"\b(?:queue|partition|qos)\b", "queue"),
    (r"\b(?:walltime|wall time|time limit|hours?|minutes?|\d\d:\d\d)\b", "walltime"),
    (r"\b(?:account|project|bank)\b", "account"),
    (r"\b(?:kind of nodes?|node type|which nodes?)\b", "node type"),
    (r"\b(?:framework|pytorch|deepspeed)\b", "framework"),
    (r"\b(?:strategy|ddp|fsdp|zero[- ]?\d)\b", "strategy"),
    (r"\b(?:program|train\.py|entry)\b", "entry"),
)
WHY = re.compile(r"\bwhy\b|\bhow come\b|\breason\b|\bwarum\b|\bpourquoi\b|\bpor ?qu[eé]\b|\bperch[eé]\b", re.I)
RIGHT = re.compile(  # not the `ok` that takes note of what was said
    r"\b(?:right|correct|enough|too (?:much|many|few|little)|ok(?:ay)?(?=\W*(?:$|\?|for|like|with|here|there|as)))\b",
    re.I,
)
RESULTS = re.compile(r"\b(?:results?|model|models|checkpoints?|weights|saved?|trained)\b", re.I)
NAMED_LAUNCHERS = ("torchrun", "mpirun", "mpiexec", "srun", "accelerate", "deepspeed", "jsrun", "ibrun", "flux run")
OUTPUT_OPTION = re.compile(
    r"--?(?:output[-_]dir|out(?:put)?|save(?:[-_]dir)?|log[-_]dir|checkpoint[-_]dir|ckpt[-_]?dir|results?)[= ](\S+)"
)
COUNTING = re.compile(
    r"^(?:#\s?(?:SBATCH|PBS|BSUB|flux:)|\s*(?:srun|mpiexec|mpirun|jsrun|flux run|torchrun)\b).*?"
    r"(?:--?(?:nodes|nnodes|ntasks|ntasks-per-node|tasks-per-node|gpus|gres|gpus-per-node|gpus-per-task"
    r"|nproc[-_]per[-_]node|ppn)\b|(?<!\S)-[NnGgr]\s?=?\d|select=|--num_(?:machines|processes))|RANKS_PER_NODE=",
    re.S,
)
OWN_GPU = re.compile(r"\b(?:own|separate|different|same|its) gpus?\b|\bwhich gpu\b", re.I)
COUNTED = ("gpu", "rank", "node")  # units of what a script counts
MOST_SHOWN = 110
WHICH = "Which line? Say its number, as in *what does line 12 do?*, or paste it."
# `Why one launch per node and not 16`: one launcher a node is held against one a GPU.
NOT_EACH = re.compile(
    r"(?i)\b(?:not|instead of|rather than|nicht|statt|pas|no|en vez de|invece di)\s+"
    r"(?:\d+|one (?:per|for each|a) (?:gpu|rank)|eine?n? (?:pro|je) gpu"
    r"|un par gpu|uno por gpu)\b"
)
# Where no fact of the machine forbids it: why a script that starts its ranks one way does not start them the other.
OTHER_WAYS = {
    "torchrun": "{outer} already starts one process for each rank and tells it who it is; torchrun would do the same a "
    "second time. It would work as well with one task a node: `torchrun --nnodes --nproc-per-node --rdzv-endpoint`.",
    "mpirun": "{outer} is the scheduler's own launcher and knows the job's nodes; mpirun has to be told them, and "
    "comes with whatever MPI is loaded. PyTorch itself needs no MPI.",
    "deepspeed": "the deepspeed launcher goes to other nodes by ssh, which clusters often do not allow; with {outer} "
    "the program finds its rank in the environment, and DeepSpeed works the same.",
    "accelerate": "{outer} starts the ranks; `accelerate launch` would do it as well, with one task a node.",
    "srun": "{outer} starts the ranks here; under Slurm srun could start them too, one task for each GPU.",
}


def explain_script(ask: Ask) -> Document | None:
    """What it asks for, how it starts the ranks, and what each line does."""
    hand = in_hand(ask)
    if hand is None:
        return no_script()
    rows = [line for line in lines(hand.text) if not line.text.startswith("#!")]
    asked = [
        f"`{after_mark(one)}`: {says}"
        for one in rows
        if DIRECTIVE.match(one.text) and (says := explain_briefly(one, hand))
    ]
    done = [tell_line(one, [explain_briefly(one, hand)]) for one in rows if not DIRECTIVE.match(one.text)]
    return write_document(summary(hand), start_of(hand), " ".join(asked), *done)


def after_mark(line: ScriptLine) -> str:
    """A directive without its `#SBATCH`."""
    return DIRECTIVE.sub("", line.shown).strip()


def summary(hand: InHand) -> str:
    """The job in a sentence."""
    title = hand.cluster.title if hand.cluster else "the machine"
    size = f"{plural(hand.nodes, 'node')}" if hand.nodes else "nodes that its text does not tell"
    if hand.nodes and hand.per_node:
        size += f" with {plural(hand.per_node, 'GPU')} each ({hand.gpus} in all)"
    record = hand.record
    parts = [
        f"for at most {hours(hand.hours)}" if hand.hours else "",
        f"in {record.queue}" if record.queue else "",
        f"charged to {record.account}" if record.account else "",
    ]
    return f"It asks {title} for {size} {', '.join(part for part in parts if part)}, and runs `{hand.entry}`."


def hours(number: float) -> str:
    whole = round(number * 60)
    return spell(f"{whole // 60}:{whole % 60:02d}:00")


def crop(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]} ..."


def tell_line(line: ScriptLine, says: Sequence[str]) -> str:
    """`Line 3, `...`: what it does`; empty where nothing is known of it."""
    told = " ".join(as_sentence(one) for one in (line.comment, *says) if one)
    return f"Line {line.number}, `{line.shown}`: {told}" if told else ""


def explain_part(ask: Ask) -> Document | None:
    """What a line, an option, a variable or a value of it does, whether it fits there, and why it is so."""
    hand = in_hand(ask)
    if hand is None:
        return None
    words, why, right = telling_words(ask.text), WHY.search(ask.text), RIGHT.search(ask.text)
    meant, _ = lines_meant(ask.text, lines(hand.text))
    if place := tell_place(ask):
        return place
    told = [*reasons(ask, hand), *numbered(ask, hand)] or of_lines(ask, hand)
    fits = check_counts(ask, hand, words, told)
    if not told and not fits and any(m.unit in COUNTED for m in ask.utterance.within(ask.clause)):
        return tell_counts(ask)  # `why 8 processes a node, it has only 4 cards`
    judged = fits.replace("It adds up", "Yes, it adds up") if right else fits
    judged = judged or (verdict(hand, meant, words) if right else "")
    page = cite([hand.cluster.node_types[0].source or ""], hand.cluster.as_of) if fits and hand.cluster else ""
    return write_document(*((judged, *told) if why or right else (*told, judged)), page)


def numbered(ask: Ask, hand: InHand) -> list[str]:
    """The lines whose numbers are said."""
    found = [int(m.value) for m in ask.utterance.within(ask.clause) if m.kind == "LineNumber"]
    told = []
    for number in found:
        line = line_at(number, hand.text)
        says = explain_line(line, hand) if line else []
        plain = f"Line {number} says `{line.text.strip()}`." if line and line.text.strip() else ""
        end = f"The script has {len(hand.text.splitlines())} lines." if line is None else f"Line {number} is empty."
        told.append((tell_line(line, says) if line else "") or plain or end)
    return told


def of_lines(ask: Ask, hand: InHand) -> list[str]:
    """The lines that the words mean; nothing is told twice."""
    found, word = lines_meant(ask.text, lines(hand.text))
    told: dict[tuple[str, ...], str] = {}
    for line in found:
        part = line.part(word)
        says = tuple(explain_line(part, hand, word)) or tuple(explain_line(line, hand, word))
        told.setdefault((part.comment, *says), tell_line(part, says) or f"Line {part.number} is `{part.shown}`.")
    unknown = re.search(r"\b(?:this|that|the|which) line\b", ask.text, re.I)
    known = any(options_named(word) for word in telling_words(ask.text))
    return list(told.values()) or ([WHICH] if unknown and not known else [])


def reasons(ask: Ask, hand: InHand) -> list[str]:
    """Who chose it: the person, or we and why."""
    if hand.plan is None or not WHY.search(ask.text):
        return []
    fields = {field for pattern, field in FIELDS if re.search(pattern, ask.text, re.I)}
    words = {word.lower() for word in re.findall(r"[\w.:-]{3,}", ask.text)}
    ours: Iterable[Assumption] = (
        one for one in hand.plan.assumptions if one.field in fields or one.value.lower() in words
    )
    ours = tuple(ours)
    said = [h for h in ask.request.heard if h.field in fields and not any(h.field == one.field for one in ours)]
    return [
        *(f"I took {one.field} {one.value}: {one.why}." for one in ours),
        *(f"The {one.field} comes from your words: *{one.words}*." for one in said),
    ]


def explain_launch(ask: Ask) -> Document | None:
    """Why the ranks are started this way and not the other that is named; without a script, how the framework that is
    named is started."""
    hand = in_hand(ask)
    if hand is None:
        return of_framework(ask.text)
    machine = hand.cluster or ask.machine
    named = other_launcher(ask.text, hand)
    forbidden = [ban for ban in machine.forbidden if ban.option == named] if machine else []
    now = start_of(hand)
    if forbidden and machine:
        ban = forbidden[0]
        return write_document(
            f"Because on {machine.title} {named} goes wrong: {ban.why}.", now, cite([ban.source or ""], machine.as_of)
        )
    if named in hand.layers or NOT_EACH.search(ask.text):
        return write_document(now, doubled(hand, ask.text), *(of_lines(ask, hand)))
    forms = [form for form in machine.launch["pytorch"] if named in (form.launcher, form.workers)] if machine else []
    outer = f"`{hand.layers[0]}`" if hand.layers else "the launcher"
    other = OTHER_WAYS.get(named, "").format(outer=outer)
    notes = [text for text in (machine.gotchas if machine else ()) if named and named in text.lower()][:1]
    works = f"{named} works on {machine.title} too." if forms and machine and named else ""
    pages = [form.source or "" for form in chosen(hand, ask)]
    told = [as_sentence(TAIL.sub("", text)) for text in notes]
    return write_document(as_sentence(other), now, works, *told, cite(pages, machine.as_of if machine else ""))


def of_framework(text: str) -> Document | None:
    """Whether a launcher that a text names belongs before programs of the framework in it."""
    if not re.search(r"(?i)\b(?:torchrun|srun|mpirun|mpiexec)\b", text):
        return None
    found = next((one for one in framework_launches() if re.search(rf"(?i)\b(?:{one.names})\b", text)), None)
    return write_document(found.says, cite([found.source], found.as_of)) if found else None


def doubled(hand: InHand, text: str) -> str:
    """What as many launchers as GPUs would do, where each of them starts a node's ranks."""
    each, inner = hand.per_node, hand.layers[-1] if len(hand.layers) > 1 else ""
    if not NOT_EACH.search(text) or not each or each < 2 or inner not in ("torchrun", "accelerate", "deepspeed"):
        return ""
    ranks = f"each with {each} ranks of its own: {each * each} on {each} GPUs"
    return f"One {inner} for each GPU would be {each} on a node, {ranks}."


def other_launcher(text: str, hand: InHand) -> str:
    """The launcher that is named, of several one that the script does not use; empty where none is."""
    found = [name for name in NAMED_LAUNCHERS if re.search(rf"(?<![\w-]){name}(?![\w-])", text, re.I)]
    return next((name for name in found if name not in hand.layers), found[0] if found else "")


def chosen(hand: InHand | None, ask: Ask) -> Sequence[LaunchForm]:
    """The facts' form that the script's launch follows."""
    machine = hand.cluster if hand else ask.machine
    return machine.launch["pytorch"][:1] if machine else ()


def tell_output(ask: Ask) -> Document | None:
    """Where the job's output goes, and where the program's own results."""
    hand = in_hand(ask)
    if hand is None:
        return None
    results = RESULTS.search(ask.text) is not None and not re.search(r"\blogs?\b", ask.text, re.I)
    parts = [result_files(hand), log_files(hand)] if results else [log_files(hand), result_files(hand)]
    site = site_of(hand.cluster.id) if hand.cluster else None
    purge = (
        f"On {hand.cluster.title} scratch is cleaned: {site.purge.scratch}."
        if site and site.purge and hand.cluster
        else ""
    )
    pages = site.purge.sources if site and site.purge and results else ()
    return write_document(*parts, purge if results else "", cite(pages, site.as_of if site else ""))


def log_files(hand: InHand) -> str:
    """By the output directives of the script, else by the scheduler's habit."""
    active, scheduler = hand.script.active, hand.record.scheduler
    joins, by_name = active.get("join"), scheduler in ("pbs", "sge")
    apart = by_name and (joins is None or joins.value == "n")
    found = [one for name in ("output", "error") if (one := active.get(name))]
    if found:
        told = " and ".join(f"`{named_file(one.value, hand)}` (line {one.line}, `{one.raw.strip()}`)" for one in found)
        other = f", {'errors' if found[0].option == 'output' else 'output'} to a file of their own" if apart else ""
        both = "" if len(found) > 1 else other or ", output and errors together"
        return f"What the job prints goes to {told}{both}; a relative name counts from the folder where you submit it."
    usual = {
        "slurm": "`slurm-JOBID.out` in the folder where you submit it, output and errors together",
        "lsf": "a mail to you, unless `#BSUB -o FILE` names a file",
        "flux": "`flux-JOBID.out` in the folder where you submit it",
    }
    told = by_job_name(hand, apart) if by_name else usual.get(scheduler, "a file that its scheduler names")
    return f"The script names no output file, so what the job prints goes to {told}."


def by_job_name(hand: InHand, apart: bool) -> str:
    """Where PBS and Grid Engine put what a job prints; apart: nothing joins its errors to its output."""
    active, pbs = hand.script.active, hand.record.scheduler == "pbs"
    name = active["job-name"].value if "job-name" in active else "NAME"
    joins, keeps = active.get("join"), active["keep"].value if "keep" in active else ""
    letter = "e" if joins and joins.value == "eo" else "o"
    files = f"`{name}.oJOBID` (output) and `{name}.eJOBID` (errors)" if apart else f"`{name}.{letter}JOBID`"
    both = "" if apart or joins is None else f", output and errors together (line {joins.line}, `{joins.raw.strip()}`)"
    if pbs and "d" in keeps:
        when = f", written there while it runs (line {active['keep'].line}, `{active['keep'].raw.strip()}`)"
    else:
        when = ", copied there when the job has ended" if pbs else ", written while it runs"
    home = (pbs and keeps and "d" not in keeps and keeps != "n") or not (pbs or "chdir" in active)
    return f"{files}{both}, in {'your home folder' if home else 'the folder of qsub'}{'' if home and pbs else when}"


def named_file(pattern: str, hand: InHand) -> str:
    """The file's name with the job's name filled in, and JOBID for its number."""
    name = hand.script.active.get("job-name")
    text = re.sub(r"%[jJA]|\{\{(?:id|jobid)\}\}", "JOBID", pattern)
    return re.sub(r"%x|\{\{name\}\}", name.value if name else "NAME", text)


def result_files(hand: InHand) -> str:
    """The program's own output argument, else that it decides."""
    found = OUTPUT_OPTION.search(hand.record.args or "")
    if found:
        return f"Models and results go to `{found[1]}`, by the argument `{found[0]}` of {hand.entry}."
    return (
        f"Models and results are not the script's matter: {hand.entry} saves them where its own code or arguments say; "
        "a relative path counts from the folder in which the job starts."
    )


def own_gpu(hand: InHand) -> str:
    """Whether each rank has a GPU to itself, by how the ranks are started."""
    text = hand.text
    if re.search(r"--gpus-per-task|--gpu-bind=(?!none)|-g ?1\b|CUDA_VISIBLE_DEVICES=\$|ZE_AFFINITY_MASK=\$", text):
        return "Yes: the launch gives each rank its own GPU; the rank sees it alone, as device 0."
    if {"torchrun", "accelerate", "deepspeed"} & {*hand.layers}:
        return (
            "Yes, if the program takes GPU LOCAL_RANK (`torch.cuda.set_device(int(os.environ['LOCAL_RANK']))`), as "
            "most do: "
            "each rank sees all GPUs of its node and has a LOCAL_RANK of its own."
        )
    local = {"pbs": "PMI_LOCAL_RANK", "slurm": "SLURM_LOCALID", "lsf": "OMPI_COMM_WORLD_LOCAL_RANK"}.get(
        hand.record.scheduler, "the launcher's local rank"
    )
    return (
        f"Not by itself: every rank sees all GPUs of its node, and the program has to take its own, by LOCAL_RANK or "
        f"here "
        f"{local}; else all of a node land on GPU 0. Or a small wrapper sets CUDA_VISIBLE_DEVICES from {local} for "
        f"each rank."
    )


def tell_counts(ask: Ask) -> Document | None:
    """Nodes x GPUs a node, with the lines that say so."""
    hand = in_hand(ask)
    if hand is None:
        return None
    if OWN_GPU.search(ask.text):
        return write_document(own_gpu(hand))
    if hand.nodes and hand.per_node:
        sum_of = f"{plural(hand.nodes, 'node')} x {plural(hand.per_node, 'GPU')} = **{hand.gpus} GPUs** in all"
        told = f"{sum_of}{f' ({hand.plan.counting})' if hand.plan else cards(hand)}. {start_of(hand)}"
    elif hand.gpus:
        told = f"{hand.gpus} GPUs in all."
    else:
        told = "The script's text does not tell how many GPUs it takes: its counts come from outside, at submission."
    by = [f"line {one.number}, `{crop(one.shown)}`" for one in lines(hand.text) if COUNTING.search(one.text)]
    return write_document(told, f"By {'; '.join(by[:4])}." if by else "")


def cards(hand: InHand) -> str:
    """How many cards the GPUs are, where a card is several."""
    kinds = hand.cluster.node_types if hand.cluster else ()
    tiles = {kind.gpus.tiles_per_gpu for kind in kinds}
    if len(tiles) != 1 or tiles == {1} or not hand.gpus:
        return ""
    gpus = kinds[0].gpus
    return f", {gpus.tile_name}s as the framework counts: {hand.gpus / gpus.tiles_per_gpu:g} {gpus.model} cards"
