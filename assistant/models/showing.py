"""What a person may see of the models: the prompts of a message before anything is sent, and what was used."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assistant.errors import InputError
from assistant.models.table import open_models
from assistant.settings import Settings
from knowledge.types import Attachment

if TYPE_CHECKING:
    from graph.modelling.asking import Models, Prompt

NO_MODEL = "No language model is set; everything is by the rules. `maple-chat models` tells how to set one."
NOT_ASKED = "No language model was asked yet: the rules sufficed."


def prompts(settings: Settings, thread: str, text: str, attachments: Sequence[Attachment] = ()) -> list[Prompt]:
    """What this message would send, as it would be sent. Nothing is sent and nothing of the turn is kept.

    A later question of the same turn may depend on a model's answer to an earlier one: then the first is shown.
    Raises InputError where no model is set.
    """
    models = open_models(settings)
    if models is None:
        raise InputError("no language model is set, so nothing would be sent; `maple-chat models` tells how to set one")
    models.dry = True
    from assistant.running import load_engine
    from assistant.storage.database import open_database
    from graph.state import new_turn

    engine = load_engine(settings)
    with open_database(settings).alone(thread, settings.wait_s) as hold:
        config: Any = {"configurable": {"thread_id": thread}}
        before = engine.on(hold.saver()).get_state(config).values
    entry = {**before, **new_turn(int(before.get("turn", 0)) + 1, text, tuple(attachments))}
    try:
        engine.on(None).invoke(entry, context=replace(engine.context, model=models))  # type: ignore[call-overload]
    except Exception as error:  # a step that asks a person needs a stored turn; what came before it is shown
        logging.getLogger("maple-chat").debug("the turn was not finished: %r", error)
    return list(models.prompts)


def used(models: Models | None) -> str:
    """Tokens and context use, in Markdown: what `/context` shows."""
    if models is None:
        return NO_MODEL
    if not models.uses:
        return NOT_ASKED
    uses = list(models.uses)  # other conversations go on asking while this is counted
    last, count = uses[-1], len(uses)
    sent, back = sum(use.tokens_in for use in uses), sum(use.tokens_out for use in uses)
    reused, failed = sum(use.reused for use in uses), sum(not use.went_well for use in uses)
    share = 100 * (last.tokens_in + last.tokens_out) / last.context
    lines = [
        f"Last: {last.purpose} by {last.model} ({last.role}), {last.tokens_in} tokens in, {last.tokens_out} out, "
        f"{share:.0f} % of a context of {last.context}, {last.seconds:.1f} s.",
        f"Since the start: {count} question{'s' * (count != 1)}, {sent} tokens in ({reused} of them reused), {back} out"
        + (f"; {failed} without a usable answer." if failed else "."),
    ]
    turn = [use for use in uses if use.turn and use.turn == last.turn]
    if turn:
        counted = f"{sum(use.tokens_in for use in turn)} tokens in, {sum(use.tokens_out for use in turn)} out"
        lines.insert(0, f"Last turn: {len(turn)} calls, {counted}, {sum(use.seconds for use in turn):.1f} s.")
    return "\n\n".join(lines)
