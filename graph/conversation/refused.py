"""What is not done for anybody, whatever else a message asks; and keys, which never get into a script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from graph.answering.situation import write_document
from graph.conversation.turn import RATHER, TurnContext, orders_as_whole
from graph.reading.scope import denials
from graph.reading.utterance import Clause, Utterance
from graph.state import State
from knowledge.job_parts import ArgumentEdit
from knowledge.types import JobRequest, Said, Say, Variable

# From this probability of misuse on a message is refused; from the lower one where its words are on the list too.
LIKELY, POSSIBLE = 0.5, 0.25
MOST_WORDS = 20
# `NAME=<hidden>` and `--key <hidden>` are read with the rest of a request.
GIVEN = re.compile(r"\w=<hidden>|--?[\w-]+[= ]<hidden>")
SERVICES = (
    (r"hugging ?face|\bhf\b", "HF_TOKEN"),
    (r"wandb|weights", "WANDB_API_KEY"),
    (r"openai", "OPENAI_API_KEY"),
    (r"github|\bgh\b", "GITHUB_TOKEN"),
    (r"comet", "COMET_API_KEY"),
    (r"neptune", "NEPTUNE_API_TOKEN"),
)
REFUSED = (
    "No, I do not help with that: it harms others or breaks the rules that everybody signed for the machine,"
    " and it can "
    "cost the account. If there is an honest job behind it, say what it computes and I write that."
)
KEPT = (
    "A key belongs in no script, and I keep none. The job reads {names} from {files}: write each there once, readable "
    "by you alone (`umask 077; cat > {first}`, paste, Ctrl+D). What was typed into a chat is best revoked and"
    " made anew."
)
LEFT_OUT = (
    "I left the key behind `{name}` out of the script: let the program read it from the environment or from a file."
)
JUST_TYPED = (
    "That looks like a key or a password: I do not use it and log in nowhere; change or revoke it now, as it stands in "
    "this chat. A job reads a key from a file that you alone can read: say *HF_TOKEN from a file* (or its variable)."
)
OF_A_KEY = tuple(one[:12] for one in (KEPT, LEFT_OUT, JUST_TYPED))
# Where a part of a message ends, and how many bytes beside a key are a matter of their own.
PART, ENOUGH_BESIDE = re.compile(r"[.,;!?\n\u3002\uff0c\uff1b\uff01\uff1f]+|\b(?:and|und|et|y)\b"), 20


def by_misuse(turn: TurnContext) -> State | None:
    """A no with its reason and the proper way, and nothing written."""
    if not turn.words.strip():
        return None
    from graph.answering.us import is_declined

    listed = is_declined(without_denied(turn.words))
    denied = not listed and is_declined(turn.words)  # `of course not his login`: who says so does not want it
    # What others are told to say of the person is no wish of theirs.
    own = (one for one in turn.utterance.clauses if listed or one.scope != "others")
    own = (one for one in own if not (denied and is_declined(one.text)))
    likely = max((one.share("misuse") for one in own), default=0.0)
    orders = orders_as_whole(turn.utterance, RATHER)  # then a word such as *secret* is rather part of a name
    if likely < (POSSIBLE if listed and not orders else LIKELY):
        return None
    if turn.message.scripts and not listed:
        return None  # who wrote it, and whose paths it holds, is told
    if turn.message.outputs and not listed:  # another's job in a listing is no misuse: what is asked of it is answered
        return None
    if listed:
        from graph.answering.us import decline

        return State(said=(decline(turn.words, turn.cluster),), act="misuse")
    from knowledge.site import site_of

    site = site_of(turn.cluster.id) if turn.cluster else None
    support = f"Support: {site.support.text}" if site and site.support else ""
    return State(said=(write_document(REFUSED, support),), act="misuse")


def without_denied(words: str) -> str:
    """The words without what they say is not had, or not wanted."""
    for one in denials(words):
        words = words.replace(one.text, " ") if one.text.strip() else words
    return words


def by_key(turn: TurnContext) -> State | None:
    """A key that is typed alone, for a script: it reads the key from a file; without one it is only warned of."""
    words, warned = turn.words, warn_of_key(turn.words)
    if not warned or len(words.split()) > MOST_WORDS:
        return None
    from knowledge.masking_table import HIDDEN

    name = next((name for pattern, name in SERVICES if re.search(pattern, words, re.I)), "")
    if not name or turn.state.get("bundle") is None or turn.state.get("own"):
        came = turn.message
        beside = "".join(part for part in PART.split(words) if HIDDEN not in part)
        more = came.scripts or came.logs or came.outputs or len(beside.encode()) >= ENOUGH_BESIDE
        return None if more else State(said=warned)
    kept = tuple(one for one in turn.request.variables if one.name != name)
    request, said = without_keys(replace(turn.request, variables=(*kept, Variable(name, HIDDEN))))
    utterance = Utterance(words, (), (Clause(0, len(words), words, "edit"),))
    return State(way="write", request=request, said=said, act="edit", utterance=utterance)


def warn_of_key(words: str, said: Sequence[Said] = ()) -> tuple[Say, ...]:
    """What is said of a key or password that was typed; nothing where that is said already."""
    from knowledge.masking_table import HIDDEN

    told = any(isinstance(one, Say) and one.text.startswith(OF_A_KEY) for one in said)
    return () if told or HIDDEN not in words or GIVEN.search(words) else (Say(JUST_TYPED),)


def without_keys(request: JobRequest) -> tuple[JobRequest, tuple[Say, ...]]:
    """The request with keys read from files, where its variables held them, and what is to be said of it."""
    from knowledge.masking_table import HIDDEN

    keyed = [one.name for one in request.variables if HIDDEN in one.value]
    left = [one.name for one in request.argument_edits if HIDDEN in (one.value or "")]
    said: list[Say] = []
    if keyed:
        variables = tuple(from_file(one) if one.name in keyed else one for one in request.variables)
        request = replace(request, variables=variables)
        names, files = (", ".join(f"`{form(name)}`" for name in keyed) for form in (str, key_file))
        said.append(Say(KEPT.format(names=names, files=files, first=key_file(keyed[0]))))
    if left:
        kept: tuple[ArgumentEdit, ...] = tuple(one for one in request.argument_edits if one.name not in left)
        request = replace(request, argument_edits=kept)
        said += [Say(LEFT_OUT.format(name=name)) for name in left]
    if request.args and HIDDEN in request.args:
        words = request.args.split()
        at = next(i for i, word in enumerate(words) if HIDDEN in word)
        first = at - 1 if words[at] == HIDDEN and at and words[at - 1].startswith("-") else at
        request = replace(request, args=" ".join([*words[:first], *words[at + 1 :]]) or None)
        said.append(Say(LEFT_OUT.format(name=words[first].split("=")[0])))
    return request, tuple(said)


def key_file(name: str) -> str:
    return f"$HOME/.{name.lower()}"


def from_file(variable: Variable) -> Variable:
    """The variable, its value read from a file when the job starts."""
    return Variable(variable.name, f"$(cat {key_file(variable.name)})", "a key is in no script", expand=True)
