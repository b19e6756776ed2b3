"""The app's manifest for a way of running it: which view, Socket Mode or HTTP, follow-ups or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from knowledge.data_file import read_data

BASE = Path(__file__).parent / "manifest.yaml"
View = Literal["assistant", "agent", "none"]
DESCRIPTION = "Paste or upload the log of a job that failed, or say what to run and where."
# The events of each view; "agent" is the newer one: docs.slack.dev/ai/migrating-to-agent-messaging
EVENTS_OF: dict[View, tuple[str, ...]] = {
    "assistant": ("assistant_thread_started", "assistant_thread_context_changed"),
    "agent": ("app_home_opened",),
    "none": (),
}
# Only where follow-ups in channels are to be heard without a mention.
FOLLOW_UPS = (("channels:history", "message.channels"), ("groups:history", "message.groups"))


@dataclass(frozen=True, slots=True)
class Way:
    """How the bot is run. address: the public https address of HTTP mode; empty: Socket Mode."""

    view: View = "assistant"
    follow_ups: bool = False
    address: str = ""


def manifest(way: Way) -> dict[str, Any]:
    """The manifest as Slack takes it."""
    made: dict[str, Any] = read_data(BASE)
    features, settings = made["features"], made["settings"]
    events, scopes = settings["event_subscriptions"]["bot_events"], made["oauth_config"]["scopes"]["bot"]
    if way.view != "none":
        features[f"{way.view}_view"] = {f"{way.view}_description": DESCRIPTION}
        scopes.append("assistant:write")
        events += EVENTS_OF[way.view]
    if way.follow_ups:
        scopes += [scope for scope, _ in FOLLOW_UPS]
        events += [event for _, event in FOLLOW_UPS]
    if way.address:
        settings["socket_mode_enabled"] = False
        settings["event_subscriptions"]["request_url"] = way.address
        settings["interactivity"]["request_url"] = way.address
        for command in features["slash_commands"]:
            command["url"] = way.address
    scopes.sort()
    return made


def scopes(way: Way) -> Sequence[str]:
    """The scopes that the bot's token needs."""
    return tuple(manifest(way)["oauth_config"]["scopes"]["bot"])


def as_yaml(way: Way) -> str:
    return yaml.safe_dump(manifest(way), sort_keys=False, allow_unicode=True)
