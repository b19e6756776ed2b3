"""The window that asks what was wrong with an answer: the right cause, from the list, and a word."""

from __future__ import annotations

from typing import Any

from assistant.slack.blocks import plain_text
from knowledge.signatures.loader import library

VIEW = "maple_feedback_why"
OTHER = "other"
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
    words = {"type": "plain_text_input", "action_id": "comment", "multiline": True, "max_length": LONGEST_COMMENT}
    return {
        "type": "modal",
        "callback_id": VIEW,
        "private_metadata": key[:LONGEST_KEY],
        "title": plain_text("What was it?"),
        "submit": plain_text("Send"),
        "close": plain_text("Skip"),
        "blocks": [
            asked("expected", "The cause, as you know it", select),
            asked("comment", "What was wrong with the answer?", words),
            {"type": "context", "elements": [{"type": "mrkdwn", "text": KEPT}]},
        ],
    }


def asked(name: str, label: str, element: dict[str, Any]) -> dict[str, Any]:
    return {"type": "input", "block_id": name, "optional": True, "label": plain_text(label), "element": element}


def comment_of(view: dict[str, Any]) -> tuple[str, str, str]:
    """The answer's key, the cause chosen (empty: none) and the words."""
    values = view["state"]["values"]
    chosen = (values.get("expected", {}).get("expected", {}).get("selected_option") or {}).get("value") or ""
    comment = values.get("comment", {}).get("comment", {}).get("value") or ""
    return view["private_metadata"], str(chosen), str(comment)[:LONGEST_COMMENT]
