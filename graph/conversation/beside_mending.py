"""What an order to mend a script wants beside that: done where it can be, answered where it is known, else named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graph.answering.ask import Ask
from graph.conversation.turn import RATHER, WANTING, TurnContext, with_words
from graph.reading.utterance import Clause
from graph.usecases.edit_script import edit_script
from graph.usecases.mend_script import Wanted
from graph.usecases.own_words import clauses
from graph.verification.checks.run import CheckedFinding
from knowledge.cluster import Cluster
from knowledge.document import Document
from knowledge.errors import InputError
from knowledge.program_settings import settings_of
from knowledge.types import Finding, Paste
from knowledge.word_lists import word_set

# What is to be mended, where the words name no more than all of it.
ALL_OF_IT = re.compile(
    r"(?i)\b(?:fix|mend|repair|correct|cure|patch|solve|sort|reparier\w*|korrigier\w*|behebe?n?|corri[gj]\w+|r[ée]par\w+"
    r"|arregl\w+|aggiusta\w*|sistema\w*|conserta\w*)\b(?P<what>(?:\W+(?:it|this|that|them|these|those|all|every\w*|both"
    r"|the|my|her|his|your|its?|of|script|file|job|lines?|errors?|problems?|issues?|mistakes?|faults?|things?|points?|up"
    r"|out|bitte|das|es|alles?|fehler|ça|le|la|les|tout\w*|erreurs?|lo|los|las|todo|errores|tutto|errori)\b)*)"
)
SETS = re.compile(r"(?i)\w \d|=|\b(?:to|auf|at|as) \S")  # a value, however few the words
FEW = 3  # words of a piece that says nothing of its own (`so it runs`)
# Topics of what a job is to do by itself, told as a wish (`it shall go on after the limit`).
OF_WISHES = ("job.resubmit", "job.dependency", "job.notify", "job.longer", "method.checkpoint", "site.internet")
GOING_ON = ("job.resubmit", "job.dependency", "job.longer", "method.checkpoint")
LIKELY = 0.4
GOES_ON = "`{}` goes on from its newest checkpoint by `{}`{}."
PUT_IN = "`{}` added, by which `{}` goes on from its newest checkpoint{}"


@dataclass(frozen=True, slots=True)
class BesideMending:
    """The text with what could be done; what was done and told; answers; and the pieces that found no place."""

    text: str
    says: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    answers: tuple[Document, ...] = ()
    left: tuple[str, ...] = ()


# What a person calls a thing otherwise than the check does.
CALLED = {"time": "walltime", "walltime": "walltime", "hours": "walltime", "zeit": "walltime", "limit": "walltime",
          "gpu": "gpu", "gpus": "gpu", "memory": "mem", "ram": "mem", "tasks": "task", "ranks": "rank",
          "network": "nccl", "env": "environment"}  # fmt: skip
KEEPS = re.compile(
    r"(?i)\b(?:leave|keep|don'?t (?:touch|change)|do not (?:touch|change)|not|except|but|lass)\b(?P<what>[^,.;]*)"
)
OF_NO_THING = word_set(
    "the a an my her his this that these those it them all thing things part bit line lines just only please pls then"
    " and with in of for to up also one ones stuff problem issue error errors what which you found find listed said"
    " told was were are wrong above everything else now whole script file job me can could would"
)


def named_to_mend(words: str) -> set[str] | None:
    """What an order to mend names, as the check calls it; empty: all of it; None: the words order no mending."""
    rest = KEEPS.sub(" ", words)
    verb = ALL_OF_IT.search(rest)
    if verb is None:
        return None
    return names_in(re.split(r"[,.;!?\n]|\b(?:and|then|so|und|et|y|e)\b", rest[verb.end() :])[0])


def mends_script(words: str, findings: Sequence[Finding]) -> bool:
    """Whether the words order the script to be mended: all of it, or what a finding speaks of; not a value to be set
    (`fix the seed at 3`)."""
    named = named_to_mend(words)
    return named is not None and (not named or any(speaks_of(one, named) for one in findings))


def wanted_of(words: str, findings: Sequence[Finding]) -> Wanted:
    """Which findings an order to mend means: those that it names where it names some, none that it keeps as it is."""
    kept = {name for one in KEEPS.finditer(words) for name in names_in(one["what"])}
    named = named_to_mend(words) or set()
    named = named if any(speaks_of(one, named) for one in findings) else set()

    def wants(one: CheckedFinding, text: str) -> bool:
        edit, lines = one.edit, text.split("\n")
        gone = [row for row in lines[edit.first - 1 : edit.last] if row not in edit.lines] if edit else []
        stays = speaks_of(one.finding, kept) or any(name in row.lower() for row in gone for name in kept)
        return not stays and (not named or speaks_of(one.finding, named))

    return wants


def speaks_of(finding: Finding, names: set[str]) -> bool:
    told = f"{finding.rule} {finding.says}".lower()
    return any(one in told for one in names)


PER_NODE = re.compile(r"\b(?:per|a|each|pro|par|por) (?:node|gpu|task|rank|knoten|n[oœ]e?ud|nodo)s?\b")
# What may stand before the verb of an order: `i do not know how to fix it` is none.
BEGINS = re.compile(
    r"(?i)\W*(?:(?:ok\w*|k|th(?:x|anks?)|great|good|fine|well|yes|yeah|no|please|pls|kindly|then|now|just|so|and|also|can"
    r"|could|would|will|you|u|go|ahead|let'?s|bitte|dann|und|kannst|könntest|du|mal|alors|peux|tu|pouvez|vous|s'il|te|plaît"
    r"|entonces|puedes|por|favor|allora|puoi|per|favore)\W+)*"
)


def orders_mending(words: str) -> bool:
    """Whether a clause of the words begins with an order to mend, politely or not."""
    for start, end in clauses(words):
        begins = BEGINS.match(words, start, end)
        if begins and ALL_OF_IT.match(words, begins.end(), end):
            return True
    return False


def names_in(text: str) -> set[str]:
    """The things that words name, as the check calls them."""
    words = re.findall(r"[a-z][\w-]{2,}", PER_NODE.sub(" ", text.lower()))
    return {CALLED.get(one, one) for one in words if one not in OF_NO_THING}


def pieces(words: str) -> Iterator[str]:
    """The clauses of a message behind or before its order to mend."""
    for start, end in clauses(words):
        text = words[start:end].strip(" ,.;:!\n")
        if found := ALL_OF_IT.search(text):
            text = text[found.end() :].strip() if found.start() < FEW * 8 else ""
        if KEEPS.match(re.sub(r"^(?:no|nein|but|and)\W+", "", text)):
            continue
        if len(text.split()) > FEW or SETS.search(text):
            yield text


def with_wishes(turn: TurnContext, own: Paste, cluster: Cluster | None) -> BesideMending:
    """The mended script with what else the message wants of it."""
    done = BesideMending(own.text)
    for piece in pieces(turn.words):
        done = one_wish(turn, replace(own, text=done.text), piece, cluster, done)
    return done


def one_wish(turn: TurnContext, own: Paste, piece: str, cluster: Cluster | None, done: BesideMending) -> BesideMending:
    after = with_words(turn, piece)
    main = after.utterance.main
    if main.asked in OF_WISHES and main.share("ask") >= LIKELY and "?" not in piece:
        return wished(after, own, cluster, done)
    if main.share(*WANTING) < RATHER or "?" in piece:  # what is asked is answered behind the script
        return done
    try:
        edited = edit_script(own.text, piece, cluster)
    except InputError:
        edited = None
    if edited is None or edited.doubtful or (edited.text == own.text and not edited.told):
        from graph.conversation.scripts import held_already

        if held_already(piece, own):  # `one node is enough`, and it has one
            return done
        if main.asked in OF_WISHES and "?" not in piece and topic_share(main) >= RATHER:
            return wished(after, own, cluster, done)
        return replace(done, left=(*done.left, piece))
    return replace(done, text=edited.text, says=(*done.says, *edited.says), told=(*done.told, *edited.told))


def topic_share(clause: Clause) -> float:
    """How likely its first topic is among all, were it a question."""
    return clause.topics[0][1] if clause.topics else 0.0


def wished(turn: TurnContext, own: Paste, cluster: Cluster | None, done: BesideMending) -> BesideMending:
    """A wish that is answered: how jobs go on, with the program's option for it, put in where that is safe."""
    from graph.answering.table import answer_topic

    main = turn.utterance.main
    ask = Ask(replace(main, act="ask", topic=main.asked), turn.utterance, cluster, script=own)
    answer = answer_topic(main.asked, ask)
    if answer is None or not answer.parts:
        return replace(done, left=(*done.left, turn.words))
    done = replace(done, answers=(*done.answers, answer))
    known = settings_of(own.text)
    if known is None or not known.resume or main.asked not in GOING_ON:
        return done
    name, option, note = known.names[0], known.resume, f" ({known.note})" if known.note else ""
    text = known.with_option(own.text, option) if known.resumes_anew and not known.has(own.text, (option,)) else None
    if text is None:
        return replace(done, told=(*done.told, GOES_ON.format(name, option, note)))
    return replace(done, text=text, says=(*done.says, PUT_IN.format(option, name, note)))
