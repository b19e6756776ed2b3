"""The limits of Slack on messages and views, as documented on docs.slack.dev/reference/block-kit, and who is notified.

`msg_blocks_too_long` is not documented; apps meet it at about 13,200 characters of blocks (slackapi/bolt-js#2509).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

MOST_BLOCKS, MOST_TEXT, MOST_IN_BLOCKS, MOST_MARKDOWN = 50, 40_000, 13_000, 12_000
# Block or object -> (field, most characters).
LONGEST = {
    "section": 3_000,
    "header": 150,
    "context": 3_000,
    "button": 75,
    "option": 75,
    "modal title": 24,
    "placeholder": 150,
}
NOTIFYING = re.compile(r"<(!here|!channel|!everyone|!subteam\^[A-Z0-9]+|@[UW][A-Z0-9]+)(?:\|[^>]*)?>")
KNOWN = {"section", "header", "context", "actions", "context_actions", "divider", "markdown", "rich_text", "input"}


def faults(blocks: list[dict[str, Any]]) -> list[str]:
    """What Slack would refuse, in its way of saying it; empty: nothing."""
    found = []
    if len(blocks) > MOST_BLOCKS:
        found.append(f"no more than {MOST_BLOCKS} items allowed [json-pointer:/blocks]")
    names = [b["block_id"] for b in blocks if b.get("block_id")]
    if len(names) != len(set(names)) or any(len(name) > 255 for name in names):
        found.append("block_id must be unique and at most 255 characters")
    for place, block in enumerate(blocks):
        found += [f"{fault} [json-pointer:/blocks/{place}]" for fault in of_block(block)]
    if sum(len(b.get("text", "")) for b in blocks if b.get("type") == "markdown") > MOST_MARKDOWN:
        found.append("markdown blocks hold at most 12000 characters together")
    return found


def of_block(block: dict[str, Any]) -> Iterator[str]:
    kind = block.get("type")
    if kind not in KNOWN:
        yield f"unsupported type: {kind}"
    if kind in ("section", "header"):
        texts = [block.get("text")] if "text" in block else block.get("fields", [])
        yield from (f for text in texts for f in of_text(text, LONGEST[kind]))
        if not texts:
            yield "section needs text or fields"
    if kind == "context":
        if not 1 <= len(block.get("elements", [])) <= 10:
            yield "context has 1 to 10 elements"
        yield from (f for e in block["elements"] for f in of_text(e, LONGEST["context"]))
    if kind in ("actions", "context_actions"):
        most = 25 if kind == "actions" else 5
        if not 1 <= len(block.get("elements", [])) <= most:
            yield f"{kind} has 1 to {most} elements"
        ids = [e.get("action_id") for e in block.get("elements", [])]
        if len(ids) != len(set(ids)):
            yield "action_id must be unique in its block"
        yield from (f for e in block.get("elements", []) for f in of_element(e))
    if kind == "input":
        yield from of_text(block.get("label"), 2_000)
        yield from of_element(block.get("element", {}))
    if kind == "rich_text" and not block.get("elements"):
        yield "rich_text needs elements"


def of_text(text: Any, most: int) -> Iterator[str]:
    if not isinstance(text, dict) or text.get("type") not in ("mrkdwn", "plain_text"):
        yield "text must be a text object"
    elif not 1 <= len(text.get("text", "")) <= most:
        yield f"must be more than 0 and less than {most + 1} characters"


def of_element(element: dict[str, Any]) -> Iterator[str]:
    kind = element.get("type")
    if kind == "button":
        yield from of_text(element.get("text"), LONGEST["button"])
        if len(element.get("value", "")) > 2_000:
            yield "value is at most 2000 characters"
        if confirm := element.get("confirm"):
            yield from of_text(confirm.get("title"), 100)
            yield from of_text(confirm.get("text"), 300)
            yield from of_text(confirm.get("confirm"), 30)
            yield from of_text(confirm.get("deny"), 30)
    elif kind == "static_select":
        options = element.get("options", [])
        if not 1 <= len(options) <= 100:
            yield "a select has 1 to 100 options"
        for option in options:
            yield from of_text(option.get("text"), LONGEST["option"])
            if not 1 <= len(option.get("value", "")) <= 150:
                yield "an option's value has 1 to 150 characters"
    elif kind == "feedback_buttons":
        for name in ("positive_button", "negative_button"):
            yield from of_text(element.get(name, {}).get("text"), LONGEST["button"])
            if not element.get(name, {}).get("value"):
                yield f"{name} needs a value"
    elif kind not in ("plain_text_input", "icon_button", "checkboxes"):
        yield f"unsupported element: {kind}"


def message_error(args: dict[str, Any]) -> dict[str, Any] | None:
    """The answer that refuses a message, or None: it may be posted."""
    blocks, text = args.get("blocks") or [], args.get("text") or ""
    if not blocks and not text and not args.get("markdown_text"):
        return {"ok": False, "error": "no_text"}
    if len(text) > MOST_TEXT:
        return {"ok": False, "error": "msg_too_long"}
    if len(args.get("markdown_text") or "") > MOST_MARKDOWN:
        return {"ok": False, "error": "msg_too_long"}
    if wrong := faults(blocks):
        return {"ok": False, "error": "invalid_blocks", "response_metadata": {"messages": wrong}}
    if len(json.dumps(blocks, ensure_ascii=False)) > MOST_IN_BLOCKS:
        return {"ok": False, "error": "msg_blocks_too_long"}
    return None


def view_error(view: dict[str, Any]) -> str | None:
    title = view.get("title", {}).get("text", "")
    wrong = faults(view.get("blocks", []))
    if view.get("type") != "modal" or not 1 <= len(title) <= LONGEST["modal title"] or wrong:
        return f"invalid_arguments {wrong}"
    return "invalid_arguments" if len(view.get("private_metadata", "")) > 3_000 else None


def notified(message: dict[str, Any]) -> list[str]:
    """Whom a message would notify: what stands in its text and blocks as a live mention."""
    found = [] if message.get("blocks") else NOTIFYING.findall(message.get("text") or "")
    for part in walk(message.get("blocks") or []):
        if part.get("type") in ("mrkdwn", "markdown"):
            found += NOTIFYING.findall(part.get("text", ""))
        elif part.get("type") == "user":
            found.append(f"@{part['user_id']}")
        elif part.get("type") == "usergroup":
            found.append(f"!subteam^{part['usergroup_id']}")
        elif part.get("type") == "broadcast":
            found.append(f"!{part['range']}")
    return found


def walk(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
        for value in part.values():
            yield from walk(value)
    elif isinstance(part, list):
        for value in part:
            yield from walk(value)


def shown(message: dict[str, Any]) -> str:
    """All that a person reads in a message, as plain text."""
    parts = [message.get("text") or ""] if not message.get("blocks") else []
    for part in walk(message.get("blocks") or []):
        if part.get("type") in ("mrkdwn", "plain_text", "text", "markdown") and isinstance(part.get("text"), str):
            parts.append(part["text"])
        elif part.get("type") == "link":
            parts.append(part.get("text") or part["url"])
    for name, sign in (("lt", "<"), ("gt", ">"), ("amp", "&")):
        parts = [part.replace(f"&{name};", sign) for part in parts]
    return "\n".join(parts)
