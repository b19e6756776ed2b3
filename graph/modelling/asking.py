"""Asking a model safely: masked, within its context, never twice while it is down, and never raising.

Whatever goes wrong, the caller has the rules' answer; `trouble` is the one line that says why there is no other.
"""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Lock
from typing import Any, Literal

from graph.modelling.model import (
    LETTERS_PER_TOKEN,
    BadAnswerError,
    Completion,
    Model,
    ModelError,
    ModelMessage,
    NoToolsError,
    Role,
    Schema,
    Tool,
    ToolCall,
)
from knowledge.data_file import parse_json
from knowledge.masking import Masker
from knowledge.masking_public import site_names
from knowledge.public import is_shipped

# How long a model that failed is left alone: doubled each time, up to the longest.
FIRST_REST_S, LONGEST_REST_S = 30.0, 600.0
# What a failed answer costs the person: said once, then not again while the model rests.
SAID = "The language model did not help here ({}); this is by the rules alone."
MOST_BAD_ANSWERS = 3
REMEMBERED = 200
LONGEST_PLACEHOLDER = 48
HALF = re.compile(r"(?:\\?<|&(?:lt?)?;?|\\|%3?C?|[\w@/=\"'`-])[^<>\s]*$|\\?<[^<>\n]*$")
TEMPLATE_MARKS = re.compile(
    r"<[|\uff5c]([^|\uff5c<>\n]{1,40})[|\uff5c]>|<(/?s|(?:start|end)_of_turn|/?think)>|\[(/?(?:INST|SYSTEM_PROMPT|TOOL\w*))\]|<<(/?SYS)>>"
)
# Tokens that chat templates put around messages.
OVERHEAD = 100
# Letters a token in logs, which are full of numbers and signs, for a model with the usual vocabulary.
LOG_LETTERS = 2.0


@dataclass(frozen=True, slots=True)
class Use:
    """What one question to a model took, in which led turn (0: none). For people: `/context`, `maple-chat models`."""

    purpose: str
    role: Role
    model: str
    tokens_in: int
    tokens_out: int
    context: int
    seconds: float
    reused: int
    went_well: bool
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent, as it is sent: masked where it leaves the process."""

    purpose: str
    role: Role
    model: str
    leaves: bool
    messages: tuple[ModelMessage, ...]
    schema: Schema | None = None
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """text, value (parsed JSON) or calls where the model answered; else the trouble, empty where there is nothing to
    say. tokens: what went in and came out; is_cut: there was no room for the end of the text."""

    text: str = ""
    value: Mapping[str, Any] | None = None
    trouble: str = ""
    calls: tuple[ToolCall, ...] = ()
    tokens: int = 0
    is_cut: bool = False


@dataclass(slots=True)
class Breaker:
    """Leaves a model alone for a while after it failed; after a bad answer only when that goes on."""

    rest_s: float = FIRST_REST_S
    until: float = 0.0
    bad_answers: int = 0

    def is_open(self) -> bool:
        return time.monotonic() < self.until

    def failed(self, error: ModelError) -> None:
        self.bad_answers += 1
        if isinstance(error, BadAnswerError) and self.bad_answers < MOST_BAD_ANSWERS:
            return
        self.until = time.monotonic() + self.rest_s
        self.rest_s = min(2 * self.rest_s, LONGEST_REST_S)

    def worked(self) -> None:
        self.rest_s, self.until, self.bad_answers = FIRST_REST_S, 0.0, 0


def never() -> bool:
    return False


Loader = Callable[[], Model]
Trust = Literal["leads", "reads", "off"]


@dataclass(slots=True)
class Models:
    """The models of a process, loaded at the first question. One question at a time goes to each.

    known: names that are masked without being found, value -> kind. dry: only collect the prompts, ask nobody.
    trust: what was measured of each model: it leads a conversation, it reads beside the rules, or it is off.
    """

    loaders: Mapping[Role, Loader]
    timeout_s: float = 60.0
    known: Mapping[str, str] = field(default_factory=dict)
    dry: bool = False
    trust: Mapping[Role, Trust] = field(default_factory=dict)
    uses: deque[Use] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    prompts: deque[Prompt] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    loaded: dict[Role, Model] = field(default_factory=dict)
    breakers: dict[Role, Breaker] = field(default_factory=dict)
    loading: Lock = field(default_factory=Lock)
    turns: Iterator[int] = field(default_factory=lambda: count(1))

    def __bool__(self) -> bool:
        return bool(self.loaders)

    def leads(self) -> bool:
        """Whether the model that answers was seen to lead a conversation."""
        return self.trust.get("large", "reads") == "leads" and "large" in self.loaders

    def ready(self, role: Role) -> Model | None:
        """The model, loaded; None where there is none, or it rests."""
        model = self._model(role)
        return None if isinstance(model, str) else model

    def room(self, role: Role, fixed: str, answer: int) -> int:
        """How many letters of a log still fit beside the fixed text and an answer of so many tokens; 0: no model."""
        model = self._model(role)
        if isinstance(model, str):
            return 0
        taken = model.tokens(fixed)
        letters = LOG_LETTERS * min(1.0, len(fixed) / max(1, taken) / LETTERS_PER_TOKEN)
        return max(0, int((model.context - answer - OVERHEAD - taken) * letters))

    def ask(
        self,
        purpose: str,
        role: Role,
        messages: Sequence[ModelMessage],
        *,
        schema: Schema | None = None,
        tools: Sequence[Tool] = (),
        max_tokens: int = 256,
        timeout: float | None = None,
        on_text: Callable[[str], bool] | None = None,
        turn: int = 0,
        stopped: Callable[[], bool] = never,
        names: dict[str, str] | None = None,
        coined: list[str] | None = None,
        ours: Iterable[str] = (),
    ) -> Reply:
        """One question. Never raises for what a model does, but NoToolsError where tools were handed to one that takes
        none. timeout: at most so many seconds; stopped: the person wants no answer any more; names: placeholders of
        earlier questions on the thread, which stay, and new ones are added; coined: likewise what models
        wrote on it; ours: texts of our own facts, which hold nothing private."""
        model = self._model(role)
        if isinstance(model, str):
            return Reply(trouble=model)
        rows = frozenset(row.strip() for text in ours for row in text.splitlines())
        masker = Masker(self.known, is_public_name, tuple(coined or ()), rows).go_on((names or {}).items())
        sent = tuple(map(plain, all_masked(messages, masker) if model.leaves else messages))
        if names is not None:
            names.update(masker.kept())
        self.prompts.append(Prompt(purpose, role, model.name, model.leaves, sent, schema, tuple(tools)))
        if self.dry:
            return Reply()
        if sum(model.tokens(m.text) for m in sent) + max_tokens + OVERHEAD > model.context:
            return Reply(trouble=SAID.format(f"the text is too long for {model.name}"))
        started, done, failure = time.monotonic(), Completion("", 0, 0, "end"), None
        reply = Reply()
        try:
            hearing = Hearing(on_text, masker, stopped)
            done = model.complete(
                sent,
                schema=schema,
                tools=tools,
                max_tokens=max_tokens,
                timeout=min(self.timeout_s, timeout or self.timeout_s),
                on_text=hearing.hear,
            )
            hearing.end()
            reply = Reply() if stopped() else read(done, schema)
            if coined is not None and model.leaves and (said := said_in(reply).strip()):
                coined.append(said[:MOST_COINED])
        except NoToolsError:
            raise
        except ModelError as error:
            failure = error
        except Exception as error:  # a back end's own errors are many: none may end a turn
            failure = ModelError(f"{model.name}: {type(error).__name__}")
        self._note(purpose, role, model, done, time.monotonic() - started, failure, turn)
        return Reply(trouble=SAID.format(failure)) if failure else restored(reply, masker.restore)

    def _model(self, role: Role) -> Model | str:
        """The model of a role, or why there is none: empty where none is set or it rests."""
        loader = self.loaders.get(role)
        breaker = self.breakers.setdefault(role, Breaker())
        if loader is None or breaker.is_open():
            return ""
        with self.loading:
            if role not in self.loaded:
                try:
                    self.loaded[role] = loader()
                except ModelError as error:
                    breaker.failed(error)
                    return SAID.format(error)
        return self.loaded[role]

    def _note(
        self,
        purpose: str,
        role: Role,
        model: Model,
        done: Completion,
        seconds: float,
        failure: ModelError | None,
        turn: int,
    ) -> None:
        breaker = self.breakers[role]
        if failure:
            breaker.failed(failure)
        else:
            breaker.worked()
        counted = done.tokens_in, done.tokens_out, model.context
        self.uses.append(Use(purpose, role, model.name, *counted, seconds, done.reused, failure is None, turn))


# Characters that are kept of a model's answer.
MOST_COINED = 6000


def is_public_name(value: str, kind: str) -> bool:
    """Whether what looks private is nobody's: a machine's own word, an address of our pages."""
    if kind == "KEY":
        return len(value.split()) > 1 and is_shipped(" ".join(value.split()))
    ours = kind in ("HOST", "MAIL", "PHONE", "IP") or (kind == "USER" and not value.isalpha())
    return value.lower().strip(".") in site_names() or (ours and is_shipped(value))


@dataclass(slots=True)
class Hearing:
    """Hands on streamed text with its names put back, until somebody has enough; a half placeholder is waited for."""

    on_text: Callable[[str], bool] | None
    masker: Masker
    stopped: Callable[[], bool]
    waiting: str = ""

    def hear(self, piece: str) -> bool:
        if self.stopped() or self.on_text is None:
            return not self.stopped()
        text = self.waiting + piece
        # Also one without signs, whose number or suffix may go on.
        half = HALF.search(text, max(0, len(text) - LONGEST_PLACEHOLDER))
        whole = half.start() if half else len(text)
        self.waiting = text[whole:]
        return self.on_text(self.masker.restore(text[:whole])) if whole else True

    def end(self) -> None:
        """What looked like the start of a placeholder and was none."""
        if self.waiting and self.on_text and not self.stopped():
            self.on_text(self.masker.restore(self.waiting))


def all_masked(messages: Sequence[ModelMessage], masker: Masker) -> list[ModelMessage]:
    """The messages masked alike: what only a later one tells to be a name (`user=`) is one in the first too."""

    heard: list[str] = []

    def learned(text: str) -> str:
        masker.learn(text)
        heard.append(text)
        return text

    def learned_of_told(text: str) -> str:
        masker.learn(text, "\n".join(heard))
        return text

    for message in sorted(messages, key=lambda one: one.role == "assistant"):
        if message.role != "system":
            rewritten(message, learned_of_told if message.role == "assistant" else learned)
    told = [message if message.role == "assistant" else masked(message, masker) for message in messages]
    return [masked(message, masker) if message.role == "assistant" else message for message in told]


def masked(message: ModelMessage, masker: Masker) -> ModelMessage:
    """What a person, a log or an earlier call says, masked; our own instructions hold nothing private, and a model's
    words no names but those that it was told."""
    own = message.role == "assistant"
    return message if message.role == "system" else rewritten(message, lambda text: masker.mask(text, own).text)


def plain(message: ModelMessage) -> ModelMessage:
    """The message without marks that a chat template would take for the start of another one."""
    return message if message.role == "system" else rewritten(message, lambda t: TEMPLATE_MARKS.sub(_in_brackets, t))


def rewritten(message: ModelMessage, change: Callable[[str], str]) -> ModelMessage:
    """The message with every text in it changed so, those in the arguments of its calls too."""
    calls = tuple(replace(one, arguments=deep(one.arguments, change)) for one in message.calls)
    return replace(message, text=change(message.text), calls=calls)


def deep(value: Any, change: Callable[[str], str], name: str = "") -> Any:
    """The JSON value with every text in it changed so, behind its name, which may tell what it is: `user=ada`."""
    if isinstance(value, str):
        told = change(f"{name}={value}") if name else ""
        return told.removeprefix(f"{name}=") if told.startswith(f"{name}=") else change(value)
    if isinstance(value, list | tuple):
        return [deep(one, change, name) for one in value]
    return {key: deep(one, change, str(key)) for key, one in value.items()} if isinstance(value, Mapping) else value


def _in_brackets(mark: re.Match[str]) -> str:
    return f"({next(filter(None, mark.groups()), '')})"


def read(done: Completion, schema: Schema | None) -> Reply:
    """The completion as text or as JSON. Raises ModelError where it is neither."""
    tokens = done.tokens_in + done.tokens_out
    if done.stopped == "time":
        raise ModelError("it took too long")
    if done.calls:
        return Reply(text=done.text, calls=done.calls, tokens=tokens)
    if schema is None:
        if not done.text.strip():
            raise BadAnswerError("it answered nothing")
        return Reply(text=done.text, tokens=tokens, is_cut=done.stopped == "length")
    if done.stopped == "length":
        raise BadAnswerError("its answer did not end")
    try:
        value = parse_json(inner(done.text))
    except ValueError as error:
        raise BadAnswerError("its answer was no JSON") from error
    if not isinstance(value, dict):
        raise BadAnswerError("its answer was no JSON object")
    return Reply(text=done.text, value=value, tokens=tokens)


def inner(text: str) -> str:
    """The JSON in an answer that has words, thoughts or a fence around it."""
    text = text.rpartition("</think>")[2]
    first, last = text.find("{"), text.rfind("}")
    return text[first : last + 1] if 0 <= first < last else text


def said_in(reply: Reply) -> str:
    """All that a model wrote, the arguments of its calls too, as it came."""
    parts = [reply.text, *(json.dumps(one.arguments, ensure_ascii=False) for one in reply.calls)]
    return "\n".join([*parts, json.dumps(reply.value, ensure_ascii=False) if reply.value else ""])


def restored(reply: Reply, back: Callable[[str], str]) -> Reply:
    """The reply with the names put back."""
    calls = tuple(replace(one, arguments=deep(one.arguments, back)) for one in reply.calls)
    return replace(reply, text=back(reply.text), value=deep(reply.value, back), calls=calls)


def as_text(prompt: Prompt) -> str:
    """A prompt as a person reads it: exactly what is sent."""
    where = "leaves this computer's process, masked" if prompt.leaves else "stays in this process"
    head = f"--- {prompt.purpose}: {prompt.model} ({prompt.role}); {where}"
    body = "\n".join(f"[{m.role}]\n{m.text}" for m in prompt.messages)
    if prompt.tools:
        offered = [{"name": t.name, "description": t.says, "parameters": t.parameters} for t in prompt.tools]
        body += f"\n[tools]\n{json.dumps(offered)}"
    schema = f"\n[schema]\n{json.dumps(prompt.schema)}" if prompt.schema else ""
    return f"{head}\n{body}{schema}"
