"""When an answer by the rules is given, and what is said where it is not: what was understood, the words that were not,
and a next step. A wrong answer costs more than none, so none is the rule where the reading leaves words over."""

from __future__ import annotations

import re

from graph.answering.ask import Ask
from graph.answering.gate import WEIGHTS, ThreadHeld, gate_features
from graph.answering.logistic import chance
from graph.reading.coverage import content_words, described, held_in, is_value, left_over, values_left
from graph.reading.reader import acts
from graph.reading.utterance import Clause, Utterance
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster

# From this probability on that it is about what it was read as (gate.py) a question is answered; a verdict turns round
# by a single word; where the reading and the answer have none of its words it has to be PLAIN, where they have all a
# reader's POSSIBLE is enough. CERTAIN: of a beginning.
SURE, VERDICT_SURE, PLAIN, POSSIBLE, CERTAIN = 0.5, 0.6, 0.85, 0.25, 0.8
VERDICTS = frozenset(
    ("plan", "script.whatif", "script.cost", "script.batch", "method.gpus", "method.memory", "method.checkpoint")
)
ORDERS = ("write", "edit", "port", "mend", "reply")
# What a question without words of its own names that says what is asked.
NAMES = frozenset(("Queue", "Framework", "Method", "Option", "Variable", "Machine", "LineNumber", "Rank", "JobId"))
# What tells of places, limits and commands is the same for every amount.
OF_PLACES = ("site.", "job.", "machine.")
# Asked by people who tell their story first.
COMPARING = ("machine.which", "machine.compare")
BEGINNINGS = ("next", "site.start")
# Under these a word of the script in hand is what is asked about.
OF_SCRIPT = ("script.line", "script.explain", "option")
# Amounts that the answer holds: were one left over, this would not be asked.
AMOUNTS = frozenset(("Quantity", "Duration", "Gpu"))
MOST_QUOTED, MOST_NAMED = 160, 6
LIKELY = 0.2
# A topic so many times likelier than the next is what is asked, however its probability is spread over rare ones.
AHEAD, AT_LEAST = 4, 0.45
NO_ANSWER = "so I do not guess"
READ_AS = "I read that as a question about {}, but I cannot place *{}* in it, " + NO_ANSWER + "."
NOT_READ = "I have no answer to *{}* that I can stand behind, " + NO_ANSWER + "."
NOT_PLANNED = "I cannot place *{}* in that; the answer is to the rest."
NOT_COUNTED = (
    "**What *{}* counts I cannot place, so it is not in the sum**: say it by its unit (epochs, nodes, GPUs, tokens, "
    "hours, a batch) and I reckon with it. Without it:"
)
NEXT = "If you mean {}, ask it as in *{}*."
ELSEWHERE = "{}With a language model set (`maple-chat models`) such questions are answered too."
SAME = (
    "What I know to *{}* is what the answer above says; more would be a guess. Say what is missing in it, or name one "
    "thing: a file, a number, an option."
)
PAGES = "{}'s own pages: {}. "


def is_accounted_for(ask: Ask, told: str) -> bool:
    """Whether a reading is clear, and what it leaves of the question's words and values does not change the answer.

    told: the answer's text.
    """
    clause = ask.clause
    left = left_over(ask.utterance, clause, clause.label, told)
    words = content_words(ask.utterance, clause)
    if clause.topic.startswith(OF_PLACES):
        amounts = values_left(ask.utterance, clause, told)
        left = tuple(one for one in left if one not in amounts)
    if clause.topic in COMPARING and clause.confidence >= POSSIBLE and compared(ask, told):
        return True  # what the machines are for changes nothing of what sets them apart
    if clause.topic in BEGINNINGS and clause.confidence >= CERTAIN:
        return True  # what is told before it is how it came to that
    if ask.script and clause.topic.startswith(OF_SCRIPT):
        left = tuple(one for one in left if one.lower() not in ask.script.text.lower())
    if clause.by_rule:  # most often by the reader of resources, which says what it has no use for
        from graph.planning.resources.reading import unread

        passed = clause.topic in VERDICTS and uses_nothing(ask, told)
        return rests_on_model(ask, told) or not (passed or unread(ask.utterance))
    if clause.topic in VERDICTS and uses_nothing(ask, told):
        return False
    if clause.act == "plan" and is_sized(ask.utterance):
        return True  # the reader of resources took every amount of it
    named = {one.kind for one in ask.utterance.within(clause)}
    if not words and not left and named and named <= NAMES | AMOUNTS:
        return True
    if ask.report and clause.topic.startswith("log."):
        return clause.confidence >= POSSIBLE  # what is asked of a failure is answered from that failure
    sure = chance_of_reading(ask)
    few = len(left) <= max(1, len(words) // 2)  # one odd word changes no place
    tells_places = few and clause.topic.startswith(OF_PLACES) and is_decided(clause)
    if words and len(left) >= len(words):
        return sure >= (SURE if tells_places else PLAIN)
    held = (not left or tells_places) and clause.confidence >= POSSIBLE
    return held or sure >= (VERDICT_SURE if (clause.topic or clause.act) in VERDICTS else SURE)


def compared(ask: Ask, told: str) -> bool:
    """Whether an answer holds every one of the several machines that were named."""
    titles = [one.title for name in ask.utterance.machines() if (one := catalogue().find(name))]
    return len(titles) > 1 and all(one in told for one in titles)


def is_decided(clause: Clause) -> bool:
    """Whether what a clause asks of is likely, or stands far ahead of whatever else it might be."""
    second = next((share for topic, share in clause.topics if topic != clause.topic), 0.0)
    ahead = clause.scope == "asked" and clause.confidence >= POSSIBLE and clause.confidence >= AHEAD * second
    return clause.confidence >= AT_LEAST or ahead


def chance_of_reading(ask: Ask) -> float:
    """How probable it is that the question is about what it was read as, 0 to 1; 1 where a rule read it, unless the
    answer could only be to ask for a model."""
    if ask.clause.by_rule:
        of_nothing = ask.clause.act == "plan" and not is_sized(ask.utterance) and not ask.resources
        return 0.0 if of_nothing else 1.0
    alike = (one for one in ask.utterance.clauses if one.label == ask.clause.label and one.topics == ask.clause.topics)
    held = ThreadHeld(ask.script is not None, ask.report is not None, ask.last_topic)
    return chance(WEIGHTS, gate_features(ask.utterance, next(alike, ask.clause), held))


def is_sized(utterance: Utterance) -> bool:
    """Whether the reader of resources knows what is asked, of which model, and leaves no amount over."""
    from graph.planning.resources.reading import read_question, unread

    asked = read_question(utterance)
    return bool(asked.aim and asked.model) and not unread(utterance)


# Where one sentence ends, and what one that asks ends with.
SENTENCE, MARKS = re.compile(r"(?<=[.!?\uff1f\u3002])\s+"), ("?", "\uff1f")


def not_counted(utterance: Utterance, told: str) -> str:
    """The numbers of a plan's question of which no sum was made, in a sentence; empty: none."""
    from graph.planning.resources.reading import loose_numbers

    loose = [one for one in loose_numbers(utterance) if not all(part in told for part in one.split())]
    return NOT_COUNTED.format("*, *".join(loose[:MOST_NAMED])) if loose else ""


def not_planned(utterance: Utterance, clause: Clause, told: str) -> str:
    """The words of a plan's question that neither its reader nor its answer uses, in a sentence; empty: none. What is
    only told beside the question is not asked; in another language than English its small words are not known."""
    from graph.planning.resources.reading import residue
    from graph.waiting.languages import language_of

    if language_of(utterance.text):
        return ""

    rest = residue(utterance)
    asked = [part for part in SENTENCE.split(utterance.text) if part.rstrip().endswith(MARKS)]
    left = [
        one
        for one in left_over(utterance, clause, clause.label, told)
        if one in rest and not held_in(one, described("ask/method.memory")) and (
            not asked or any(one in part for part in asked)
        )
    ]  # fmt: skip
    return NOT_PLANNED.format(", ".join(left[:MOST_NAMED])) if left else ""


def uses_nothing(ask: Ask, told: str) -> bool:
    """Whether values were said, in the question or before it, and the answer rests on none of them."""
    clauses = [ask.clause, *(one for one in ask.utterance.clauses if one.scope != "asked" and one.act not in ORDERS)]
    said = {one.text for clause in clauses for one in ask.utterance.within(clause) if is_value(one)}
    left = {text for clause in clauses for text in values_left(ask.utterance, clause, told)}
    return bool(said) and said <= left and not rests_on_model(ask, told)


def rests_on_model(ask: Ask, told: str) -> bool:
    """Whether the answer is of the model that was named, here or in the question that this one goes on from."""
    words = [one.text.split() for one in ask.utterance.of_kind("Model")]  # `3B model` is 3B
    named = [next((word for word in each if any(map(str.isdigit, word))), each[-1]) for each in words]
    before = ask.resources.model if ask.resources and ask.resources.model else ""
    return any(one.lower() in told.lower() for one in named or filter(None, [before]))


def abstain(utterance: Utterance, clause: Clause, cluster: Cluster | None) -> str:
    """Two lines: what was understood and what not, and what can be asked instead."""
    topic, share = clause.topics[0] if clause.topics else ("", 0.0)
    about = acts()["topics"].get(topic) if share >= LIKELY else None
    left = left_over(utterance, clause, f"ask/{topic}")[:MOST_NAMED] if about else ()
    understood = (
        READ_AS.format(about["says"], ", ".join(left)) if about and left else NOT_READ.format(quoted(clause.text))
    )
    step = NEXT.format(about["says"], about["examples"][0]) if about else ""
    where = PAGES.format(cluster.title, cluster.docs) if cluster and cluster.docs else ""
    return f"{' '.join(filter(None, (understood, step)))}\n\n{ELSEWHERE.format(where)}"


def same_again(question: str) -> str:
    """Where another question would get the answer of the one before."""
    return SAME.format(quoted(question))


def quoted(text: str) -> str:
    words = " ".join(text.split()).replace("*", "")
    return words if len(words) <= MOST_QUOTED else f"{words[:MOST_QUOTED]} ..."
