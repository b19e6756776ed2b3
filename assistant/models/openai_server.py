"""A model behind any OpenAI-compatible address: a site's vLLM, llama.cpp's own server, a vendor.

The client library takes 2 s to import: it is loaded with the first question.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assistant.settings import Settings
from graph.modelling.model import (
    BadAnswerError,
    Completion,
    ModelError,
    ModelMessage,
    NoToolsError,
    Schema,
    Stopped,
    Tool,
    ToolCall,
    guessed,
)
from knowledge.data_file import parse_json

if TYPE_CHECKING:
    from openai import OpenAI

# Tokens that prompt and answer share at a server, where nothing is set: what is served has more.
USUAL_CONTEXT = 32_768
# An answer longer than this many letters a token is endless.
MOST_LETTERS_PER_TOKEN = 12
# How JSON is asked for, best first; what a server refuses is not asked for again. GRAMMAR is llama.cpp's own way.
STRICT, GRAMMAR, LOOSE, PLAIN = "json_schema", "json_object with schema", "json_object", "text"
FORMATS = (STRICT, GRAMMAR, LOOSE, PLAIN)
# What is asked for beside it, given up from the front: no thinking aloud (vLLM, llama.cpp), counted tokens, and the
# names that vendors' newest models do not take any more.
THINKING, USAGE, CLASSIC = "chat_template_kwargs", "stream_options", "max_tokens"
EXTRAS = (THINKING, USAGE, CLASSIC)
# Statuses that mean "not in this form". llama-cpp-python's server answers 500 to a form that it does not know.
NOT_SO = frozenset({400, 404, 415, 422, 500, 501})


def load(name: str, settings: Settings) -> ModelServer:
    """The server's model of that name. Nothing is asked yet. Raises ModelError."""
    try:
        import openai
    except ImportError as error:
        raise ModelError("the client library is missing; install maple-chat[openai]") from error
    if not settings.openai_base_url:
        raise ModelError("no address is set; set OPENAI_BASE_URL to the server's, ending in /v1")
    client = openai.OpenAI(
        base_url=settings.openai_base_url,
        api_key=settings.openai_api_key.get_secret_value() or "none",
        max_retries=0,
    )
    said = "model_context" in settings.model_fields_set
    return ModelServer(name, client, settings.model_context if said else USUAL_CONTEXT)


@dataclass(slots=True)
class ModelServer:
    """One model of a server. Text leaves this process."""

    name: str
    client: OpenAI
    context: int
    leaves: bool = True
    takes_tools: bool = True
    formats: list[str] = field(default_factory=lambda: list(FORMATS))
    asked_for: list[str] = field(default_factory=lambda: list(EXTRAS))
    # Whether an answer came in JSON, one in words, one to tools: each way of asking is proved by itself.
    proved: set[str] = field(default_factory=set)

    def tokens(self, text: str) -> int:
        return guessed(text)

    def complete(
        self,
        messages: Sequence[ModelMessage],
        *,
        schema: Schema | None = None,
        tools: Sequence[Tool] = (),
        max_tokens: int = 256,
        timeout: float = 60.0,
        on_text: Callable[[str], bool] | None = None,
    ) -> Completion:
        """One streamed answer; the time is counted over all tries. Raises ModelError."""
        import openai

        end = time.monotonic() + timeout
        way = "tools" if tools else "json" if schema is not None else "words"
        while True:
            try:
                done = self._answer(messages, schema, tools, max_tokens, end, on_text)
                self.proved.add(way)
                return done
            except openai.APITimeoutError as error:
                raise ModelError(f"{self.name} did not answer within {timeout:g} s") from error
            except openai.APIConnectionError as error:
                raise ModelError(f"{self.client.base_url} does not answer") from error
            except openai.APIStatusError as error:
                unproved = error.status_code in NOT_SO and way not in self.proved
                if unproved and self._give_way(schema):
                    continue
                if unproved:  # it was not the form
                    self.formats, self.asked_for = list(FORMATS), list(EXTRAS)
                if unproved and tools:
                    self.takes_tools = False
                    raise NoToolsError(f"{self.name} takes no tool calls") from error
                raise ModelError(f"{self.name}: HTTP {error.status_code} from {self.client.base_url}") from error
            except Exception as error:
                if time.monotonic() > end:
                    raise ModelError(f"{self.name} did not answer within {timeout:g} s") from error
                raise BadAnswerError(f"{self.name} answered something that is no chat completion") from error

    def _give_way(self, schema: Schema | None) -> bool:
        """Ask for less the next time; False where there is nothing left to leave out."""
        if schema is not None and len(self.formats) > 1:
            self.formats.pop(0)
            return True
        if not self.asked_for:
            return False
        self.asked_for.pop(0)
        self.formats = list(FORMATS)
        return True

    def _answer(
        self,
        messages: Sequence[ModelMessage],
        schema: Schema | None,
        tools: Sequence[Tool],
        max_tokens: int,
        end: float,
        on_text: Callable[[str], bool] | None,
    ) -> Completion:
        started = time.monotonic()
        extra: dict[str, Any] = {"tools": [tool_sent(one) for one in tools]} if tools else {}
        sent: Any = [as_sent(m) for m in messages]
        stream: Any = self.client.chat.completions.create(
            model=self.name,
            messages=sent,
            stream=True,
            timeout=max(0.1, end - started),
            **self._format(schema, max_tokens),
            **extra,
        )
        # A server that keeps the line open with nothing but comments is cut off at the end of the time.
        clock = threading.Timer(max(0.1, end - time.monotonic()), stream.close)
        clock.daemon = True
        clock.start()
        try:
            return self._heard(stream, messages, max_tokens, started, end, on_text)
        finally:
            clock.cancel()
            with suppress(Exception):
                stream.close()

    def _format(self, schema: Schema | None, max_tokens: int) -> dict[str, Any]:
        asked: dict[str, Any] = {"max_completion_tokens": max_tokens}
        if CLASSIC in self.asked_for:
            asked = {"max_tokens": max_tokens, "temperature": 0}
        if USAGE in self.asked_for:
            asked["stream_options"] = {"include_usage": True}
        if THINKING in self.asked_for:
            asked["extra_body"] = {THINKING: {"enable_thinking": False}}
        if schema is not None and self.formats[0] == STRICT:
            described = {"name": "answer", "schema": dict(schema), "strict": True}
            asked["response_format"] = {"type": STRICT, "json_schema": described}
        elif schema is not None and self.formats[0] == GRAMMAR:
            asked["response_format"] = {"type": LOOSE, "schema": dict(schema)}
        elif schema is not None and self.formats[0] == LOOSE:
            asked["response_format"] = {"type": LOOSE}
        return asked

    def _heard(
        self,
        stream: Any,
        messages: Sequence[ModelMessage],
        max_tokens: int,
        started: float,
        end: float,
        on_text: Callable[[str], bool] | None,
    ) -> Completion:
        parts: list[str] = []
        called: dict[int, list[str]] = {}
        letters, first, usage, stopped = 0, 0.0, None, ""
        for chunk in stream:
            usage = getattr(chunk, "usage", None) or usage
            choice = chunk.choices[0] if chunk.choices else None
            piece = (choice.delta.content or "") if choice and choice.delta else ""
            letters += hear_calls(choice.delta if choice else None, called)
            stopped = (choice.finish_reason if choice else None) or stopped
            if piece:
                first = first or time.monotonic() - started
                parts.append(piece)
                letters += len(piece)
                if on_text and not on_text(piece):
                    stopped = "stop_asked"
                    break
            if letters > MOST_LETTERS_PER_TOKEN * max_tokens or time.monotonic() > end:
                break
        text = "".join(parts)
        if time.monotonic() > end:
            raise ModelError(f"{self.name} did not finish in time")
        endless = letters > MOST_LETTERS_PER_TOKEN * max_tokens
        why: Stopped = "length" if endless or stopped == "length" else "stop" if stopped == "stop_asked" else "end"
        seconds = time.monotonic() - started
        counted = (usage.prompt_tokens, usage.completion_tokens) if usage else (None, None)
        sent = counted[0] if counted[0] is not None else sum(guessed(m.text) for m in messages)
        back = counted[1] if counted[1] is not None else guessed(text)
        calls = tuple(ToolCall(name, read_arguments(given), id_) for id_, name, given in called.values())
        if calls and why == "length":
            raise BadAnswerError(f"{self.name}'s call of a tool did not end")
        return Completion(text, sent, back, why, seconds, first, reused(usage), calls)


def as_sent(message: ModelMessage) -> dict[str, Any]:
    """A message as the protocol has it."""
    sent: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        sent["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments or {})}}
            for c in message.calls
        ]
    if message.role == "tool":
        sent["tool_call_id"] = message.call_id
    return sent


def tool_sent(tool: Tool) -> dict[str, Any]:
    described = {"name": tool.name, "description": tool.says, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": described}


def hear_calls(delta: Any, called: dict[int, list[str]]) -> int:
    """Add a piece of streamed tool calls to [id, name, arguments] of each; gives how many letters came."""
    letters = 0
    for piece in getattr(delta, "tool_calls", None) or ():
        one = called.setdefault(piece.index if piece.index is not None else len(called), ["", "", ""])
        function = piece.function
        one[0] = piece.id or one[0]
        one[1] = (function.name if function else "") or one[1]
        one[2] += (function.arguments if function else "") or ""
        letters += len((function.arguments if function else "") or "")
    return letters


def read_arguments(text: str) -> dict[str, Any] | None:
    """The arguments of a call; None where they are no JSON object."""
    try:
        value = parse_json(text or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def reused(usage: Any) -> int:
    """The tokens of the prompt that the server had evaluated before, where it tells."""
    details = getattr(usage, "prompt_tokens_details", None)
    return int(getattr(details, "cached_tokens", 0) or 0)
