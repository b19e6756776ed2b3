"""The typed facts of a machine that answer a topic: which side of it is asked, by the first pattern that fits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from graph.answering import directives, hardware, launching, limits, methods, surroundings
from graph.answering.ask import Ask
from graph.answering.asking import Inquiry, inquiry_of
from graph.answering.fact_answer import FactAnswer

Tell = Callable[[Inquiry], FactAnswer | None]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a topic: asked where the pattern is found in the lower-case words; tell may know no answer.

    Without tell the topic's own function answers.
    """

    pattern: str
    tell: Tell | None


SIDES: dict[str, tuple[Side, ...]] = {
    "site.limits": (
        Side(r"\bdiffer\w*|\bcompare|\bversus\b|\bvs\b|\bor\b|\bbetter\b|\bo\b|\bou\b|\boder\b", limits.compare),
        Side(r".", limits.fits),
        Side(r"\bjobs\b|at once|at the same time|simultan|\barrays?\b|\bruns\b|\bseeds\b|gleichzeitig|동시", None),
        Side(
            r"how long|longest|wall[ -]?time|wall ?clock|time limit|laufzeit|wie lange|temps|dur[eé]e|tiempo|시간",
            limits.how_long,
        ),
        Side(
            r"how many nodes|nodes? .{0,20}at (?:most|least)|(?:max\w*|min\w*|most|fewest|largest|biggest|smallest)\b"
            r".{0,20}\b(?:nodes|job|size)|node (?:limit|cap)|limit (?:on|of) nodes|how (?:big|large)|wie viele knoten"
            r"|combien de n(?:oe|œ)uds|cu[aá]ntos nodos|노드",
            limits.how_many_nodes,
        ),
        Side(
            r"wall[ -]?time|wall ?clock|\btime\b|longest|how long|hours?|days?|duration|run|laufzeit|wie lange|temps"
            r"|dur[eé]e|tiempo|durar|시간",
            limits.how_long,
        ),
        Side(r".", limits.which_queues),
    ),
    "site.hardware": (
        Side(r"network|interconnect|infiniband|slingshot|\bnics?\b|interface|ethernet|fabric|omni", hardware.network),
        Side(r"local (?:disk|ssd|storage|scratch)|node-?local|nvme|/tmp\b|\bssds?\b", hardware.local_disk),
        Side(r"x86|\barm\b|aarch64|ppc64|architecture|\bcpus?\b|\bcores?\b|threads|processor", hardware.cpus),
        Side(
            r"how many (?:\w+ ){0,2}nodes (?:does|are|has|is)\b|number of (?:\w+ )?nodes|how (?:big|large) is",
            hardware.node_count,
        ),
        Side(
            r"gpu (?:memory|ram)|vram|hbm|(?:memory|mem|ram)\b.{0,25}\b(?:gpus?(?! nodes?)|cards?|gcds?)|gcd",
            hardware.gpus,
        ),
        Side(r"memory|\bram\b|\bmem\b|speicher|m[eé]moire|memoria|메모리", hardware.memory),
        Side(r".", hardware.gpus),
    ),
    "site.directives": (
        Side(r"\d|[a-z]\d", lambda ask: hardware.gpus(ask) if ask.node_types else None),
        Side(
            r"(?:part|half|share|fraction) (?:of )?(?:a |the )?nodes?|(?:only|just) (?:one|1|a single|two|2) gpus?"
            r"|(?:single|one|1)[ -]gpu|nodes? (?:be )?shar\w+|whole nodes?|fewer gpus",
            directives.whole_nodes,
        ),
        Side(r"\baccount|suffix|\bbank\b", directives.account),
        Side(r".", directives.directives),
    ),
    "site.account": (Side(r"suffix|must|mandatory|need|end on|have to", directives.account),),
    "site.about": (
        Side(r"\bdocs?\b|documentation|user guide|manual|web ?page|website|link", surroundings.documentation),
        Side(
            r"scheduler|batch system|slurm|\bpbs\b|\blsf\b|\bflux\b|ordonnanceur|planificador", surroundings.scheduler
        ),
        Side(r".", surroundings.site),
    ),
    "machine.runs": (Side(r".", methods.method),),
    "method.precision": (Side(r"\b(?:bf16|bfloat16)\b", methods.method),),
    "script.launch": (
        Side(r"\bbind(?:ing)?\b|\bmasks?\b|affinity|pinning", launching.binding),
        Side(r".", launching.launcher),
    ),
    "option": (
        Side(r"[a-z]+_[a-z0-9_]+", surroundings.variable),
        Side(r"\bbind(?:ing)?\b|\bmasks?\b", launching.binding),
        Side(r"(?<![\w-])--?[a-z]|\bfilesystems\b|\b(?:gres|mem|constraint)\b", directives.option),
        Side(r"master|rendez-?vous|rdzv|head node", lambda ask: surroundings.rendezvous(ask.cluster)),
        Side(r"env(?:ironment)? ?var|variables|nccl|settings", surroundings.variables),
    ),
}


# A plan without a model asks for limits.
LIMITS_OF = {"plan": "site.limits"}


def compare_queues(ask: Ask) -> FactAnswer | None:
    """Two queues of the machine that the words set against each other; None where fewer are named."""
    inquiry = inquiry_of(ask)
    return limits.compare(inquiry) if inquiry else None


def answer_from_facts(ask: Ask) -> FactAnswer | None:
    """What the machine's typed facts say to the question's topic; None: nothing, or no machine is spoken of."""
    sides, inquiry = SIDES.get(ask.topic or LIMITS_OF.get(ask.clause.act, ""), ()), inquiry_of(ask)
    if inquiry is None:
        return None
    for side in sides:
        if not re.search(side.pattern, inquiry.text):
            continue
        if side.tell is None:
            return None
        told = side.tell(inquiry)
        if told and told.text:
            return told
    return None
