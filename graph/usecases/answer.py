"""A question in, its answer out: by its topic's function, else from the machine's facts and the passages read in."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date

from graph.answering.abstaining import (
    AT_LEAST,
    OF_PLACES,
    chance_of_reading,
    is_accounted_for,
    is_decided,
    is_sized,
    not_counted,
    not_planned,
)
from graph.answering.ask import Ask
from graph.answering.facts import compare_queues
from graph.answering.grounds import SURE as NEAR
from graph.answering.grounds import AnswerContext, common_grounds, grounds
from graph.answering.log import UNDECIDED, tell_cause
from graph.answering.planned import as_planned
from graph.answering.script_sizes import allows, tell_own_time, tell_same_cost
from graph.answering.situation import write_document
from graph.answering.table import FACTS_FIRST, answer_topic, answerer
from graph.answering.techniques import tell_technique
from graph.answering.telling import answer_text
from graph.context import Context
from graph.extraction.sentences.intents import is_question
from graph.reading.coverage import content_words, left_over, values_left
from graph.reading.scope import denials
from graph.reading.utterance import Mention
from knowledge.catalogue import catalogue
from knowledge.document import Document, Paragraph, Steps
from knowledge.general_facts import topic_texts

EXAMPLE = "on Perlmutter"
CLEAR = 0.7  # of a topic
# What is known of the very thing that was spoken of goes before the answer of a topic from PLAIN on; all else that was
# said only where the topic itself is DOUBTED.
BEHIND, PLAIN, DOUBTED = "behind", 0.6, 0.5
# From it on a page is told to somebody who says that a job fails, with no log.
TELLS_FAILURES = 0.45
# What people ask when nothing is wrong but the reason is missing.
WHY = re.compile(
    r"\W*(?:(?:ok|okay|and|but|hm+|so)\W+)*"
    r"(?:why(?: (?:is (?:that|it|this)(?: so)?|that|so|not|that (?:often|many|much)))?"
    r"|why (?:is (?:it|that) )?so (?:short|long|few|many|much|little|low|high|small|big|large|slow|expensive|strict)"
    r"|how (?:did|do) you (?:get|compute|work out|arrive at|come (?:to|up with)) (?:that|this|it|those)(?: \w+)?"
    r"|how is (?:that|this|it) (?:computed|worked out|calculated)"
    r"|how come|what for|왜요?"
    r"|(?:warum|wieso|pourquoi|por qu[eé]|perch[eé])(?: eigentlich| denn| das| so| viele?| lange?| autant| tanto)*)\W*",
    re.I,
)
# How the sum behind a plan begins, and of how many statements.
SUM, NEWEST = "The sum", 14
# Whether the cause is that: the cause answers it.
IS_IT = re.compile(r"(?i)\W*(?:(?:so|and|but|ok|hm+)\W+)*(?:is|was|isn'?t|wasn'?t) (?:it|that|this)\b")
WHY_NOT = re.compile(r"\bwhy\b.{0,12}\bnot\b|\bwhat speaks against\b|\bpourquoi pas\b|\bwarum nicht\b", re.I)
# Under these two queues may be set against each other.
COMPARING = ("concept", "site.limits", "machine.compare", "method.strategy", "site.charging")
CHOICES = ("machine.which", "machine.compare")
BEGINNINGS, BEGINS = ("next", "site.start"), 0.35
UNSIZED = 0.2  # of a topic, from which on what names no model to plan for is a question of it
# Under these a server that a job runs may be meant, which its plan has a note of.
REACHED, SERVES = ("job.port", "site.jupyter", "site.login", "site.interactive"), "The server listens"
NOTEBOOK = re.compile(r"(?i)\b(?:jupyter\w*|notebooks?|ipynb)\b")
NOT_THERE = "No {1} on {0}: the GPUs there are {2}. Of these:"
OTHER_MATTER = "Of *{}* itself I know nothing here; the nearest, which may be another matter:"


@dataclass(frozen=True, slots=True)
class Answered:
    """document: the answer; found: the facts and passages behind it where it was put together from them; sure: whether
    it answers what was asked rather than what comes nearest; certain: it was found by the very words, whatever
    their topic is taken for."""

    document: Document
    found: AnswerContext | None = None
    text: str = ""
    sure: bool = True
    certain: bool = False

    @property
    def is_near(self) -> bool:
        """Whether a passage speaks of the very words."""
        return bool(self.found and is_near(self.found))


def is_near(found: AnswerContext) -> bool:
    """Whether a passage speaks of the very words."""
    return bool(found.passages and found.passages[0].score >= NEAR)


def answer(ask: Ask, context: Context) -> Answered | None:
    """The answer, or None: nothing here answers it. One that holds none of the things named says that first."""
    found = find_answer(ask, context)
    if found is None:
        return None
    first = not_there(ask) or other_matter(ask, found)
    return (
        replace(found, document=write_document(first) + found.document, text=f"{first}\n\n{found.text}")
        if first
        else found
    )


def clear_answer(ask: Ask, context: Context) -> Answered | None:
    """The answer, where the reading is clear and accounts for the question's words; else None, so that nobody is told
    what answers another question."""
    found = accounted(ask, context) or by_second(ask, context)
    if found is None or found.certain or found.is_near or not ask.statements or WHY.fullmatch(ask.text):
        return found
    told = recalled(ask, context)
    if told is None:
        return found
    sure = chance_of_reading(as_planned(as_question(ask)))
    behind = told.kind == BEHIND and told.sure >= PLAIN
    return told.answered if behind or (sure < DOUBTED and told.sure >= PLAIN) else found


def by_second(ask: Ask, context: Context) -> Answered | None:
    """The answer by the second topic, where that is nearly as likely and its answer has all of the question's words."""
    if ask.clause.by_rule or len(ask.clause.topics) < 2 or ask.clause.act != "ask":
        return None
    (_, first), (topic, second), *_ = ask.clause.topics
    if second < first / 2:
        return None
    read = with_topic(ask, topic)
    found = answer(read, context)
    told = f"{plain_text(found.document)} {found.text}" if found else ""
    left = set(left_over(read.utterance, read.clause, read.clause.label, told))
    if topic.startswith(OF_PLACES):
        left -= set(values_left(read.utterance, read.clause, told))
    return found if found and not left else None


@dataclass(frozen=True, slots=True)
class RecalledAnswer:
    """What was said before, or stands behind it, as an answer; sure: how probable it is that it is one."""

    answered: Answered
    sure: float
    kind: str


def recalled(ask: Ask, context: Context) -> RecalledAnswer | None:
    """What was said before, or stands behind it, where that answers; None where nothing of it does."""
    from graph.answering.recalling import recall

    asks = "?" in ask.text or is_question(ask.text)
    told = None if any(denials(ask.text)) or not asks else recall(as_planned(as_question(ask)), context)
    return RecalledAnswer(Answered(told.document, sure=False, certain=True), told.sure, told.kind) if told else None


def accounted(ask: Ask, context: Context) -> Answered | None:
    """The answer by topic, where the reading is clear and accounts for the question's words."""
    found = answer(ask, context)
    if found is None or found.is_near or found.certain or WHY.fullmatch(ask.text):
        return found
    read = as_planned(as_question(ask))
    told = f"{plain_text(found.document)} {found.text}"
    if not is_accounted_for(read, told):
        return None
    if read.clause.act != "plan":
        return found
    uncounted = not_counted(read.utterance, told)  # it changes the sum, so it is told before it
    left = "" if uncounted else not_planned(read.utterance, read.clause, told)
    return replace(found, document=write_document(uncounted) + found.document + write_document(left))


def not_there(ask: Ask) -> str:
    """A GPU that is asked about on a machine that has none of it."""
    named = [one for one in ask.utterance.of_kind("Gpu") if inside(ask, one)]
    if ask.machine is None or not named or ask.machine.id not in ask.utterance.machines():
        return ""
    there = [one for name in ask.utterance.machines() if (one := catalogue().find(name))]  # one of them may have it
    kinds = list(dict.fromkeys(node.gpus.model for one in there for node in one.node_types if node.gpus.model))
    missing = [one.text for one in named if not any(of_model(one, kind) for kind in kinds)]
    titles = " and ".join(one.title for one in there)
    return NOT_THERE.format(titles, " or ".join(missing), ", ".join(kinds)) if missing and kinds else ""


def of_model(mention: Mention, model: str) -> bool:
    """Whether a node's GPU has the name: A10 is no A100, MI250 is the MI250X."""
    names = re.findall(r"[a-z]*\d+[a-z]*?(?=s?\b)", mention.text.lower())
    return not names or any(re.search(rf"\b{one}(?!\d)", model.lower()) for one in names)


def other_matter(ask: Ask, found: Answered) -> str:
    """The options, variables and GPUs of a question, where an answer out of pages or a guess holds none of them."""
    if found.found is None and found.sure:
        return ""
    named = [one for one in ask.utterance.of_kind("Option", "Variable", "Gpu") if inside(ask, one)]
    told = f"{plain_text(found.document)} {found.text}".lower()
    missing = [one for one in named if not held(f"{one.value} {one.text}".lower()) & held(told)]
    return OTHER_MATTER.format(", ".join(one.text for one in missing)) if named and len(missing) == len(named) else ""


def held(told: str) -> set[str]:
    """The names in a text, options without their dashes and values."""
    names = {one.strip(".-").partition("=")[0] for one in re.findall(r"[\w./=-]+", told)}
    return names | {part for one in names for part in one.split("_")}


def has_the_words(ask: Ask, told: str) -> bool:
    """Whether what is told explains the very name that was asked for, or speaks of all that a question names."""
    if ask.topic.startswith(OF_PLACES) and ask.topic == ask.clause.asked:
        words = set(content_words(ask.utterance, ask.clause))
        left = words & set(left_over(ask.utterance, ask.clause, ask.clause.label, told))
        return ask.clause.scope == "asked" and bool(words) and not left and is_accounted_for(ask, told)
    return ask.topic == "concept" and is_accounted_for(ask, told)


def inside(ask: Ask, mention: Mention) -> bool:
    return ask.clause.start <= mention.start < max(ask.clause.end, 1)


def find_answer(ask: Ask, context: Context) -> Answered | None:
    """The answer by what the thread, the facts and the pages hold, in that order."""
    ask = as_planned(as_question(ask))
    reason = tell_reason(ask)
    if reason:
        return Answered(reason)
    if ask.script and (place := of_its_disk(ask)):
        return Answered(place, certain=True)
    planned = ask.clause.act == "plan" and (
        ask.clause.by_rule or is_sized(ask.utterance)
    )  # then its sum is asked, and no general text
    placed = ask.report is not None and ask.topic == "log.where"  # in the program that failed, and not anywhere
    chosen = ask.topic in CHOICES and len(ask.utterance.machines()) > 1  # of machines, whatever they are to run
    if not planned and not placed and not chosen and (step := tell_technique(ask)):
        return Answered(step, certain=True)
    if of_size := allows(ask) or tell_own_time(ask) or tell_same_cost(ask):
        return Answered(of_size, certain=True)
    if ask.topic in FACTS_FIRST and (of_each := answerer("resource_machines.tell_of_compared")(ask)):
        return Answered(of_each, certain=True)
    apart = compare_queues(ask) if ask.topic in COMPARING else None
    if apart and ask.machine:
        return from_grounds(AnswerContext(ask.text, ask.machine.id, apart))
    if ask.resources and not ask.bundle and WHY_NOT.search(ask.text) and (why_not := told_against(ask)):
        return Answered(why_not)
    if follows := of_what_follows(ask):
        return Answered(follows, certain=True)
    if (
        ask.report
        and ask.clause.confidence >= AT_LEAST
        and not any(denials(ask.text))
        and (failed := of_this_failure(ask))
    ):
        return Answered(failed, certain=True)
    common = None if ask.clause.by_rule else common_grounds(ask, context)  # its own numbers before what holds for all
    if common:
        return from_grounds(common)
    if ask.report and IS_IT.match(ask.text) and not ask.topic.startswith("log.") and not in_words_of(ask):
        return of_the_failure(ask)
    told = by_topic(ask)
    # A topic that is a guess is told only where it accounts for all words.
    decided = is_decided(ask.clause)
    sure = told is not None and (decided or sets_apart(ask) or has_the_words(ask, plain_text(told)))
    if told and sure and ask.topic not in FACTS_FIRST:
        return Answered(told)
    part = None if sure else of_the_script(ask)
    if part and part.parts:
        return Answered(part)
    found = grounds(ask, context)
    if found.fact and (decided or is_accounted_for(ask, found.fact.text)):
        return from_grounds(found)
    if told and sure:
        return Answered(told)
    begun = how_to_begin(ask)
    if begun:
        return Answered(begun)
    # A document of one's own that speaks of the very words tells more than what holds everywhere.
    read_in = is_near(found) and found.passages[0].kind == "doc"
    general = without_machine(ask) if ask.clause.confidence >= CLEAR and not read_in else None
    if general:
        return general
    if ask.report and ask.report.cause not in UNDECIDED and (tells(ask) or IS_IT.match(ask.text)):
        return of_the_failure(ask)
    if is_near(found) or (
        ask.clause.act == "diagnose" and found.passages and found.passages[0].score >= TELLS_FAILURES
    ):
        return from_grounds(found)
    return of_the_failure(ask) or without_machine(ask)


def told_against(ask: Ask) -> Document | None:
    """Why not the other way, where a plan was told before."""
    from graph.answering.planning_answers import tell_why_not

    return tell_why_not(ask)


def in_words_of(ask: Ask) -> bool:
    """Whether something else than the failure is named: a machine, a model, an option."""
    return bool(ask.utterance.of_kind("Machine", "Model", "Option", "Variable", "LineNumber"))


def tells(ask: Ask) -> bool:
    """Whether the words only tell something, and ask nothing."""
    return "?" not in ask.text and ask.clause.scope != "asked"


def as_question(ask: Ask) -> Ask:
    """A job's wait without what its scheduler prints, a review of no script and a plan of no model: by their likeliest
    topic."""
    clause = ask.clause
    unsized = clause.act == "plan" and not (
        ask.utterance.of_kind("Model") or ask.resources or ask.plan or is_sized(ask.utterance)
    )
    of_topic = unsized and bool(clause.topics) and clause.topics[0][1] >= UNSIZED
    open_to_it = clause.act == "pending" or (clause.act == "review" and ask.script is None) or of_topic
    return with_topic(ask, ask.clause.asked) if open_to_it else ask


def with_topic(ask: Ask, topic: str) -> Ask:
    return replace(ask, clause=replace(ask.clause, act="ask", topic=topic))


def tell_reason(ask: Ask) -> Document | None:
    """A bare `why?`: the reason behind what was answered last; after a diagnosis, its cause."""
    if not WHY.fullmatch(ask.text):
        return None
    if ask.report and (not ask.last_topic or ask.last_topic.startswith("log.")):
        return tell_cause(ask)
    if summed := next((one for one in ask.statements[:NEWEST] if one.text.startswith(SUM)), None):
        return write_document(summed.text)
    text = topic_texts().get(ask.last_topic or ask.last_act)
    if text and text.why:
        return write_document(text.why)
    return None


def of_what_follows(ask: Ask) -> Document | None:
    """That what the words blame, or deny to be the cause, only follows from the failure that is spoken of."""
    if ask.report is None or ask.topic not in ("log.cause", "log.fault"):
        return None
    from graph.answering.failure import only_follows

    return only_follows(ask, ask.report)


def of_this_failure(ask: Ask) -> Document | None:
    """What the failure that is spoken of answers."""
    from graph.answering.failure import by_failure

    return by_failure(ask)


def by_topic(ask: Ask) -> Document | None:
    """What the failure that is spoken of answers, else what the topic's function says; None where it says nothing."""
    if ask.report:
        from graph.answering.failure import by_failure

        if failed := by_failure(ask):
            return failed
    told = of_the_server(ask) or answer_topic(ask.topic or ask.clause.act, ask)
    return told if told and told.parts else None


def of_the_server(ask: Ask) -> Document | None:
    """How to reach what the script in hand serves; None where it serves nothing, or a notebook is meant."""
    if ask.plan is None or ask.topic not in REACHED or NOTEBOOK.search(ask.text):
        return None
    return write_document(*(note for note in ask.plan.notes if note.startswith(SERVES))) if ask.plan.notes else None


def how_to_begin(ask: Ask) -> Document | None:
    """The path of somebody who asks, in any clause, what to do: no passage about the machine is an answer to that."""
    asks = any(one.topic in BEGINNINGS and one.confidence >= BEGINS for one in ask.utterance.clauses)
    return by_topic(with_topic(ask, "next")) if asks else None


def of_the_failure(ask: Ask) -> Answered | None:
    """After a diagnosis, words to which nothing near is known belong to it."""
    if ask.report is None or ask.report.cause in UNDECIDED:
        return None
    if IS_IT.match(ask.text) and (cause := tell_cause(ask)):
        return Answered(cause)
    from graph.answering.failure import of_steps, told_facts

    told = told_facts(ask, ask.report) or of_steps(ask, ask.report)
    return Answered(told, sure=False) if told else None


def of_its_disk(ask: Ask) -> Document | None:
    """What a folder that the script and the question name is, where it lies on the nodes' own disks."""
    from graph.answering.script_checks import tell_place

    return tell_place(ask)


def of_the_script(ask: Ask) -> Document | None:
    """What the script in hand says to an option, a variable or a line number that stands in the question."""
    if not ask.bundle:
        return None
    from graph.answering.options import names_options
    from graph.answering.script import explain_part

    pointed = names_options(ask) or any(one.kind == "LineNumber" for one in ask.utterance.mentions)
    return explain_part(ask) if pointed else None


def plain_text(document: Document) -> str:
    texts = (getattr(part, "text", "") for part in document.parts)
    steps = (f"{one.text} {one.command}" for part in document.parts if isinstance(part, Steps) for one in part.items)
    return " ".join((*texts, *steps))


def without_machine(ask: Ask) -> Answered | None:
    """What holds everywhere for the likeliest topic, and that its machine's own command wants its name."""
    topic = ask.clause.asked
    known = topic_texts().get(topic)
    if ask.machine is not None or known is None or not known.general:
        return None
    if ask.clause.confidence < CLEAR and not is_accounted_for(with_topic(ask, topic), known.general):
        return None
    return Answered(write_document(known.general, f"Name the machine, as in *{EXAMPLE}*, and I give its own commands."))


def sets_apart(ask: Ask) -> bool:
    """Whether machines are set against each other: no fact of one of them is an answer to that."""
    return ask.topic.startswith("machine.") and len(ask.utterance.machines()) > 1


def from_grounds(found: AnswerContext) -> Answered:
    text = answer_text(found, date.today())
    return Answered(Document((Paragraph(text),)), found, text)
