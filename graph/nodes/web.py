"""Search the web where nothing here answers: the query is shown and a person says yes, unless a setting says so.

The offer is a question of its own. Only a yes to it searches; a no or another subject lets it fall.
"""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import State
from knowledge.errors import InputError, UnavailableError
from knowledge.public import public_query, public_question
from knowledge.types import Diagnosis, OfferChoice, OfferEdit, OfferSearch, Passage, Question, Said, Say, Working
from knowledge.web import Web

OFFER = "Shall I search the web for: `{}`?"
OPTIONS = ("yes", "no")
LEFT = "Then I leave the web alone."
NOTHING = "The web has nothing on `{}` that I could read."
NOT_ALLOWED = "The web is switched off here (MAPLE_CHAT_WEB=never), so I do not search it."
MOST_EXCERPT = 400
EVIDENCE = 2


def web(state: State, runtime: Runtime[Context]) -> State:
    query, known = state["searching"], runtime.context.web
    if query is not None:
        said = Say(LEFT) if not query else found(query, known, runtime) if known else Say(NOT_ALLOWED)
        return State(said=(*state["said"], said), pending=None)
    wanted = query_of(state, runtime.context) if known else ""
    stands = isinstance(state.get("pending"), OfferEdit | OfferChoice)  # a yes is for what was offered before
    if known is None or not wanted or stands:
        return State()
    if known.policy == "always":
        return State(said=(*state["said"], found(wanted, known, runtime)))
    offer = Question("web", OFFER.format(wanted), OPTIONS)
    return State(said=(*state["said"], offer), pending=OfferSearch(wanted))


def query_of(state: State, context: Context) -> str:
    """The public words of what was not answered: the telling lines of a log, or the question."""
    request, outcome, text = state["request"], state["outcome"], state["words"]
    if not isinstance(outcome, Diagnosis):
        machines = (
            (context.catalogue.find(name) for name in utterance.machines()) if (utterance := state["utterance"]) else ()
        )
        return public_question(text, tuple(one.title for one in machines if one) or ("",))
    lines = " ".join(line.text for line in outcome.evidence[:EVIDENCE]) or text
    cluster = context.cluster(request)
    return public_query(lines, (request.framework or "", cluster.scheduler if cluster else ""))


def found(query: str, web: Web, runtime: Runtime[Context]) -> Said:
    """What the web says, with addresses; or one line on why it says nothing."""
    try:
        passages = web.search(query, progress=lambda *facts: runtime.context.tell(Working(*facts)))
    except (InputError, UnavailableError) as error:
        reason = str(error)
        return Say(f"{reason[:1].upper()}{reason[1:]}. Everything else works.")
    if not passages:
        return Say(NOTHING.format(query))
    listed = "\n\n".join(entry(number, one) for number, one in enumerate(passages, 1))
    return Say(f"Found on the web for `{query}`; nobody checked it:\n\n{listed}")


def entry(number: int, passage: Passage) -> str:
    """One page: its title, the beginning of its best piece, its date and its address."""
    text = " ".join(passage.text.replace("`", "'").split())
    short = text if len(text) <= MOST_EXCERPT else text[:MOST_EXCERPT].rsplit(" ", 1)[0] + " ..."
    dated = f" ({passage.date})" if passage.date else ""
    return f"{number}. **{passage.title.replace('*', '')}**{dated}: {short}\n   {passage.source}"
