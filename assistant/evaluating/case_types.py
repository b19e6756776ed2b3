"""A labelled case of each type, and how its type is told: the format that docs/eval.md describes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

Fields = dict[str, Any]
Words = tuple[str, ...]


class Case(BaseModel):
    """What every case has. Keys that are not of the format (notes, sources) are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    id: str = ""

    @property
    def labelled(self) -> bool:
        return True


class RequestCase(Case):
    """One message. fields: what it says, all else empty; expect: the same, but only what is named is judged.

    alt: other values that are right too. missing: what a careful assistant asks for; missing_soft: of these, what need
    not be asked.
    """

    type: Literal["request"] = "request"
    text: str
    intent: str | None = None
    fields: Fields | None = None
    expect: Fields | None = None
    missing: Words | None = None
    missing_soft: Words = ()
    alt: dict[str, tuple[Any, ...]] = {}

    @property
    def labelled(self) -> bool:
        return not (self.intent is None and self.fields is None and self.expect is None)


class DialogueTurn(RequestCase):
    """A turn. asked: the field that was asked for before it; options: the choices that were offered."""

    asked: str | None = None
    options: Words | None = None


def in_turns(value: Any) -> Any:
    """Lists that run in step with `turns` made into turns."""
    if not (isinstance(value, dict) and any(isinstance(turn, str) for turn in value.get("turns", ()))):
        return value
    columns = ("asked", "options", "intent", "fields", "expect", "missing", "missing_soft", "alt")
    turns = []
    for number, text in enumerate(value["turns"]):
        given = {name: value[name][number] for name in columns if isinstance(value.get(name), list)}
        turns.append({"text": text, **{name: one for name, one in given.items() if one is not None}})
    return {**value, "turns": turns}


class DialogueCase(Case):
    """Turns of one request, the fields carried along."""

    type: Literal["dialogue"] = "dialogue"
    turns: tuple[DialogueTurn, ...] = Field(min_length=1)

    @property
    def labelled(self) -> bool:
        return any(turn.labelled for turn in self.turns)


class SentenceCase(Case):
    """A sentence and what it is for: `act` or `ask/topic` (also: others that are right). thread: what went before."""

    type: Literal["sentence"] = "sentence"
    text: str
    label: str
    also: Words = ()
    thread: dict[str, Any] = {}


class ScriptCase(Case):
    """A launch script and the fields that can be read off it."""

    type: Literal["script"] = "script"
    script: str
    fields: Fields | None = None
    expect: Fields | None = None
    alt: dict[str, tuple[Any, ...]] = {}

    @property
    def labelled(self) -> bool:
        return self.fields is not None or self.expect is not None


class CheckCase(Case):
    """A script and the checks that must speak; none: it is good, and no error or warning may be said."""

    type: Literal["check"] = "check"
    script: str
    rules: Words
    machine: str = "any"


class LogCase(Case):
    """A log and why the job failed. file: in the text's place, below the case's folder. evidence: the telling line."""

    type: Literal["log"] = "log"
    log: str = ""
    cause: str | None = None
    also_accept: Words = ()
    evidence: str = ""

    @property
    def labelled(self) -> bool:
        return bool(self.cause and self.log.strip())


class Expected(BaseModel):
    """What stands in an answer (says), what must not (not), and lines of the script after it (lines)."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    says: Words = ()
    never: Words = Field(default=(), alias="not")
    lines: Words = ()


class PendingCase(Case, Expected):
    """What a scheduler printed, what holds the job, whether it starts by itself, and words of the answer."""

    type: Literal["pending"] = "pending"
    text: str
    kind: str = Field(alias="class")
    also_accept: Words = ()
    starts_by_itself: str | None = None


class QuestionCase(Case, Expected):
    """One message of a new conversation, and its answer."""

    type: Literal["question"] = "question"
    ask: str

    @property
    def labelled(self) -> bool:
        return bool(self.says or self.never or self.lines)


class ConversationTurn(Expected):
    say: str


class ConversationCase(Case):
    """A whole conversation; right where every turn is."""

    type: Literal["conversation"] = "conversation"
    turns: tuple[ConversationTurn, ...] = Field(min_length=1)

    @property
    def labelled(self) -> bool:
        return any(turn.says or turn.never or turn.lines for turn in self.turns)


# The keys that tell the type where a case does not.
TELLING: tuple[tuple[str, str], ...] = (
    ("log", "log"),
    ("cause", "log"),
    ("rules", "check"),
    ("script", "script"),
    ("class", "pending"),
    ("label", "sentence"),
    ("ask", "question"),
    ("text", "request"),
)
TYPES = ("request", "dialogue", "sentence", "script", "check", "log", "pending", "question", "conversation")


def typed(value: Any) -> Any:
    """A case with its type, which its keys tell where it does not say so."""
    if not isinstance(value, dict) or value.get("type") in TYPES:
        return value
    if "turns" in value:
        spoken = any(isinstance(turn, dict) and "say" in turn for turn in value["turns"])
        return {**value, "type": "conversation" if spoken else "dialogue"}
    told = next((name for key, name in TELLING if key in value), None)
    return {**value, "type": told} if told else value


AnyCase = Annotated[
    RequestCase
    | DialogueCase
    | SentenceCase
    | ScriptCase
    | CheckCase
    | LogCase
    | PendingCase
    | QuestionCase
    | ConversationCase,
    Field(discriminator="type"),
]
ADAPTER: TypeAdapter[AnyCase] = TypeAdapter(Annotated[AnyCase, BeforeValidator(in_turns), BeforeValidator(typed)])
