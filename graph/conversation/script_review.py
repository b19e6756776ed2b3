"""A pasted script that is asked about, and not for another machine: `check this`, `what does this do?`"""

from __future__ import annotations

import re

from graph.answering.ask import Ask
from graph.conversation.turn import RATHER, SURE
from graph.reading.utterance import Utterance
from knowledge.cluster import Cluster
from knowledge.document import Document
from knowledge.types import Paste, Said, Say

CHECK = re.compile(
    r"\b(?:check|review|verify|validate|look (?:at|over)|proof-?read|lint"
    r"|is (?:this|it|that) (?:\w+ )?(?:ok|okay|right|correct|fine|valid|good)|what(?:'s| is) wrong"
    r"|(?:any|find|spot) (?:the )?(?:problems?|mistakes?|errors?|issues?|bugs?)"
    r"|will (?:this|it) (?:work|run)|does (?:this|it) look)\b",
    re.I,
)
EXPLAIN = re.compile(
    r"\bwhat (?:does|do|is|will)\b.{0,40}\b(?:do|does|mean|this|for|happen)\b|\bexplain\b"
    r"|\bwalk (?:me|us) thr(?:ough|u)\b|\berkl(?:ä|ae)r|\bexpli(?:ca|que)|\bspiega",
    re.I,
)
MOVES = re.compile(
    r"\b(?:port|move|convert|adapt|migrate|translate|rewrite|make (?:this|it)|run (?:this|it) on)\b", re.I
)
# Topics under which one thing of it is meant, and not the whole; others than a line only where nothing else is asked.
OF_A_LINE = ("script.line", "option")
OF_A_PART = ("script.launch", "script.counts", "script.output", "script.batch", "script.whatif")
NEXT = "Say *make it run on Frontier* (or another machine) and I write it anew from this."


def is_review(words: str, utterance: Utterance | None = None) -> bool:
    """Whether the script is only asked about, and not to be carried over."""
    return not MOVES.search(words) and bool(is_checked(words, utterance) or EXPLAIN.search(words))


def is_checked(words: str, utterance: Utterance | None) -> bool:
    """Whether what is asked is if the script is right."""
    main = utterance.main if utterance and words.strip() else None  # a script alone is none of its words
    judges = main is not None and not main.by_rule and main.act == "review" and main.share("review") >= SURE
    judges = judges and not EXPLAIN.search(words)
    return judges or bool(CHECK.search(words))


def reviewed(
    words: str,
    own: Paste,
    utterance: Utterance,
    machine: Cluster | None,
    *,
    known: bool = False,
    goal: Cluster | None = None,
) -> tuple[Said, ...]:
    """What is said of a script that is checked or explained; empty where it is neither. known: it was there before;
    goal: a machine that it is not for, and would be run on."""
    if not is_review(words, utterance):
        return ()
    ask = Ask(utterance.main, utterance, machine, script=own)
    from graph.answering.script import explain_script
    from graph.answering.script_sizes import review_script
    from graph.answering.table import answer_topic

    alone = ask.topic in OF_A_PART and len(utterance.clauses) == 1
    part = answer_topic(ask.topic, ask) if alone or ask.topic in OF_A_LINE else None
    if part and part.parts and utterance.main.confidence >= RATHER:
        return (part,)
    if is_checked(words, utterance):
        told = review_script(ask, goal)
    elif part and part.parts:
        return (part,)
    else:
        told = explain_script(ask)
    return (told or Document(()),) if known else (told or Document(()), Say(NEXT))
