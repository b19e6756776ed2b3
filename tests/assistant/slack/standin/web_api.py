"""The Web API: one function for each method, one table. Shapes and error names are Slack's (docs.slack.dev)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from tests.assistant.slack.standin.limits import message_error, notified, view_error
from tests.assistant.slack.standin.workspace import (
    APP,
    BOT_ID,
    BOT_USER,
    TEAM,
    Channel,
    Message,
    StoredFile,
    Workspace,
)

Answer = dict[str, Any]
FINE: Answer = {"ok": True}


def wrong(error: str, **more: Any) -> Answer:
    return {"ok": False, "error": error, **more}


def auth_test(space: Workspace, args: Answer) -> Answer:
    return {
        "ok": True,
        "url": "https://standin.slack.com/",
        "team": "Stand-in",
        "user": "maple",
        "team_id": TEAM,
        "user_id": BOT_USER,
        "bot_id": BOT_ID,
        "app_id": APP,
        "is_enterprise_install": False,
    }


def place_of(space: Workspace, args: Answer) -> Channel | Answer:
    """The channel that a call names, if the bot may write there."""
    channel = space.channels.get(args.get("channel") or args.get("channel_id") or "")
    if channel is None:
        return wrong("channel_not_found")
    return channel if BOT_USER in channel.members else wrong("not_in_channel")


def post_message(space: Workspace, args: Answer) -> Answer:
    channel = place_of(space, args)
    if isinstance(channel, dict):
        return channel
    if refused := message_error(args):
        return refused
    if args.get("thread_ts") and space.find(channel.id, args["thread_ts"]) is None:
        return wrong("thread_not_found")
    message = space.add(channel, **from_bot(args))
    message["_notifies"] = notified(message)
    return {"ok": True, "channel": channel.id, "ts": message["ts"], "message": message}


def from_bot(args: Answer) -> Message:
    kept = {k: args[k] for k in ("text", "blocks", "thread_ts", "metadata") if args.get(k)}
    return {"user": BOT_USER, "bot_id": BOT_ID, "app_id": APP, **kept}


def post_ephemeral(space: Workspace, args: Answer) -> Answer:
    channel = place_of(space, args)
    if isinstance(channel, dict):
        return channel
    if refused := message_error(args):
        return refused
    if args.get("user") not in channel.members:
        return wrong("user_not_in_channel")
    space.ephemeral.append(args)
    return {"ok": True, "message_ts": space.now_ts()}


def update(space: Workspace, args: Answer) -> Answer:
    message = space.find(args.get("channel", ""), args.get("ts", ""))
    if message is None:
        return wrong("message_not_found")
    if message.get("bot_id") != BOT_ID:
        return wrong("cant_update_message")
    if message.get("_streaming"):
        return wrong("streaming_state_conflict")
    if refused := message_error(args):
        return refused
    message.update({k: args[k] for k in ("text", "blocks", "metadata") if k in args}, edited=True)
    message["_notifies"] = notified(message)
    return {"ok": True, "channel": args["channel"], "ts": message["ts"], "text": message.get("text", "")}


def delete(space: Workspace, args: Answer) -> Answer:
    message = space.find(args.get("channel", ""), args.get("ts", ""))
    if message is None or message.get("bot_id") != BOT_ID:
        return wrong("message_not_found" if message is None else "cant_delete_message")
    space.channels[args["channel"]].messages.remove(message)
    return {"ok": True, "channel": args["channel"], "ts": args["ts"]}


def start_stream(space: Workspace, args: Answer) -> Answer:
    channel = place_of(space, args)
    if isinstance(channel, dict):
        return channel
    if not space.streaming_allowed:
        return wrong("feature_not_enabled")
    if not args.get("thread_ts"):
        return wrong("invalid_arguments")
    if not channel.is_im and not (args.get("recipient_user_id") and args.get("recipient_team_id")):
        return wrong("missing_recipient_user_id")
    text = streamed_text(args)
    if len(text) > 12_000:
        return wrong("msg_too_long")
    message = space.add(channel, **from_bot({"thread_ts": args["thread_ts"], "text": text}), _streaming=True)
    return {"ok": True, "channel": channel.id, "ts": message["ts"]}


def streamed_text(args: Answer) -> str:
    chunks = args.get("chunks") or []
    words = "".join(c.get("text", "") for c in chunks if c.get("type") == "markdown_text")
    return (args.get("markdown_text") or "") + words


def append_stream(space: Workspace, args: Answer) -> Answer:
    message = space.find(args.get("channel", ""), args.get("ts", ""))
    if message is None or not message.get("_streaming"):
        return wrong("message_not_found" if message is None else "message_not_in_streaming_state")
    if len(streamed_text(args)) > 12_000:
        return wrong("msg_too_long")
    message["text"] += streamed_text(args)
    space.tell()
    return {"ok": True, "channel": args["channel"], "ts": message["ts"]}


def stop_stream(space: Workspace, args: Answer) -> Answer:
    answer = append_stream(space, args)
    if not answer["ok"]:
        return answer
    message = space.find(args["channel"], args["ts"])
    assert message is not None
    if args.get("blocks") and (refused := message_error(args)):
        return refused
    message.update({"blocks": args.get("blocks") or [], "_streaming": False})
    message["_notifies"] = notified(message)
    return {**answer, "message": message}


def upload_url(space: Workspace, args: Answer) -> Answer:
    if not args.get("filename") or not int(args.get("length") or 0):
        return wrong("invalid_arguments")
    stored = StoredFile(f"F{len(space.files):08d}", args["filename"], None, BOT_USER, int(args["length"]))
    space.files[stored.id] = stored
    return {"ok": True, "file_id": stored.id, "upload_url": f"{args['_base']}/upload/v1/{stored.id}"}


def complete_upload(space: Workspace, args: Answer) -> Answer:
    wanted = [space.files.get(f.get("id", "")) for f in args.get("files") or []]
    if not wanted or any(f is None or f.content is None for f in wanted):
        return wrong("file_not_found")
    files = [file_object(f, args["_base"]) for f in wanted if f]
    if args.get("channel_id"):
        channel = place_of(space, args)
        if isinstance(channel, dict):
            return channel
        posted = from_bot({"thread_ts": args.get("thread_ts"), "text": args.get("initial_comment") or ""})
        space.add(channel, **posted, subtype="file_share", files=files, _notifies=[])
    return {"ok": True, "files": [{"id": f["id"], "title": f["name"]} for f in files]}


def file_object(stored: StoredFile, base: str) -> dict[str, Any]:
    """A file as events and files.info show it; a Slack Connect file shows nothing until files.info is asked."""
    address = f"{base}/files-pri/{TEAM}-{stored.id}/download/{stored.name}"
    if stored.check_info:
        return {"id": stored.id, "file_access": "check_file_info", "mode": "file_access"}
    return {
        "id": stored.id,
        "name": stored.name,
        "title": stored.name,
        "mimetype": "text/plain",
        "mode": stored.mode,
        "is_external": stored.mode == "external",
        "size": stored.length,
        "user": stored.user,
        "url_private": address,
        "url_private_download": address,
    }


def files_info(space: Workspace, args: Answer) -> Answer:
    stored = space.files.get(args.get("file", ""))
    if stored is None:
        return wrong("file_not_found")
    plain = StoredFile(stored.id, stored.name, stored.content, stored.user, stored.length, stored.mode)
    return {"ok": True, "file": file_object(plain, args["_base"])}


def conversations_info(space: Workspace, args: Answer) -> Answer:
    channel = space.channels.get(args.get("channel", ""))
    if channel is None:
        return wrong("channel_not_found")
    shape = {"id": channel.id, "name": channel.name, "is_im": channel.is_im, "is_member": BOT_USER in channel.members}
    return {"ok": True, "channel": shape}


def conversations_replies(space: Workspace, args: Answer) -> Answer:
    channel = space.channels.get(args.get("channel", ""))
    if channel is None:
        return wrong("channel_not_found")
    needed = "im:history" if channel.is_im else "channels:history"
    if needed not in space.scopes:
        return wrong("missing_scope", needed=needed, provided=",".join(sorted(space.scopes)))
    thread = args.get("ts", "")
    if space.find(channel.id, thread) is None:
        return wrong("thread_not_found")
    found = [m for m in channel.messages if m["ts"] == thread or m.get("thread_ts") == thread]
    return {"ok": True, "messages": found, "has_more": False, "response_metadata": {"next_cursor": ""}}


def users_info(space: Workspace, args: Answer) -> Answer:
    user = args.get("user", "")
    return {"ok": True, "user": {"id": user, "team_id": TEAM, "name": user.lower(), "is_bot": user == BOT_USER}}


def set_status(space: Workspace, args: Answer) -> Answer:
    channel = place_of(space, args)
    if isinstance(channel, dict):
        return channel
    space.statuses.append(args)
    return FINE


def set_prompts(space: Workspace, args: Answer) -> Answer:
    """In the newer view a thread_ts makes the call fail without an error: nothing is shown."""
    if len(args.get("prompts") or []) > 4:
        return wrong("invalid_arguments")
    if space.view_kind == "assistant_view" or not args.get("thread_ts"):
        space.prompts.append(args)
    return FINE


def views_open(space: Workspace, args: Answer) -> Answer:
    given = space.triggers.pop(args.get("trigger_id", ""), None)
    if given is None:
        return wrong("invalid_trigger_id")
    if time.monotonic() - given > 3:
        return wrong("expired_trigger_id")
    if error := view_error(args.get("view") or {}):
        return wrong(error)
    space.views.append({**args["view"], "id": f"V{len(space.views):08d}"})
    return {"ok": True, "view": space.views[-1]}


def fine(space: Workspace, args: Answer) -> Answer:
    return FINE


# Method -> (the scopes of which one is needed, function). apps.connections.open is in server.py: it needs the socket.
METHODS: dict[str, tuple[tuple[str, ...], Callable[[Workspace, Answer], Answer]]] = {
    "auth.test": ((), auth_test),
    "chat.postMessage": (("chat:write",), post_message),
    "chat.postEphemeral": (("chat:write",), post_ephemeral),
    "chat.update": (("chat:write",), update),
    "chat.delete": (("chat:write",), delete),
    "chat.startStream": (("chat:write",), start_stream),
    "chat.appendStream": (("chat:write",), append_stream),
    "chat.stopStream": (("chat:write",), stop_stream),
    "files.getUploadURLExternal": (("files:write",), upload_url),
    "files.completeUploadExternal": (("files:write",), complete_upload),
    "files.info": (("files:read",), files_info),
    "conversations.info": (("channels:read", "groups:read", "im:read"), conversations_info),
    "conversations.replies": (("channels:history", "groups:history", "im:history"), conversations_replies),
    "users.info": (("users:read",), users_info),
    "assistant.threads.setStatus": (("chat:write", "assistant:write"), set_status),
    "assistant.threads.setSuggestedPrompts": (("assistant:write",), set_prompts),
    "assistant.threads.setTitle": (("assistant:write",), fine),
    "views.open": ((), views_open),
    "reactions.add": (("reactions:write",), fine),
}


def decoded(args: dict[str, Any]) -> dict[str, Any]:
    """Form fields may carry JSON, as Slack's clients send blocks, files and chunks."""
    for name in ("blocks", "files", "chunks", "prompts", "view", "metadata"):
        if isinstance(args.get(name), str):
            args[name] = json.loads(args[name])
    return args
