"""The window that asks what was wrong with an answer: the right cause, from the list, and a word."""

from __future__ import annotations

from typing import Any

from assistant.slack.blocks import plain_text
from assistant.slack.feedback import OTHER, Correction
from knowledge.signatures.loader import library

VIEW = "maple_feedback_why"
MOST_OPTIONS, LONGEST_KEY, LONGEST_COMMENT = 99, 2_000, 2_000
KEPT = (
    "What you send is stored with the question and the log, names and keys masked. "
    "From direct messages only the causes are stored."
)


def modal(key: str) -> dict[str, Any]:
    """The window. Its private field carries the answer's key."""
    causes = [*sorted(library().causes)[:MOST_OPTIONS], OTHER]
    options = [{"text": plain_text(cause), "value": cause} for cause in causes]
    select = {"type": "static_select", "action_id": "expected", "placeholder": plain_text("Choose"), "options": options}
    words, fix, line = (
        {"type": "plain_text_input", "action_id": name, "multiline": name != "line", "max_length": LONGEST_COMMENT}
        for name in ("comment", "fix", "line")
    )
    return {
        "type": "modal",
        "callback_id": VIEW,
        "private_metadata": key[:LONGEST_KEY],
        "title": plain_text("What was it?"),
        "submit": plain_text("Send"),
        "close": plain_text("Skip"),
        "blocks": [
            asked("expected", "The cause, as you know it", select),
            asked("fix", "What cured it?", fix),
            asked("line", "The line of the log that shows it", line),
            asked("comment", "What was wrong with the answer?", words),
            {"type": "context", "elements": [{"type": "mrkdwn", "text": KEPT}]},
        ],
    }


def asked(name: str, label: str, element: dict[str, Any]) -> dict[str, Any]:
    return {"type": "input", "block_id": name, "optional": True, "label": plain_text(label), "element": element}


def comment_of(view: dict[str, Any]) -> tuple[str, Correction]:
    """The answer's key, and what was chosen and written (empty: nothing)."""
    values = view["state"]["values"]
    chosen = (values.get("expected", {}).get("expected", {}).get("selected_option") or {}).get("value") or ""
    fix, line, comment = (
        str(values.get(name, {}).get(name, {}).get("value") or "")[:LONGEST_COMMENT]
        for name in ("fix", "line", "comment")
    )
    return view["private_metadata"], Correction(str(chosen), fix, line, comment)
