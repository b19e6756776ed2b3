"""A Slack to try a bot against, with nothing installed and no account: `python -m tests.assistant.slack.standin`.

It prints the settings that a bot needs, then reads lines: what you type is a mention of the bot in #support, `dm TEXT`
is a direct message, `file PATH TEXT` uploads a log, `/maple-chat TEXT` the command, `wrong` presses *Not helpful* under
the newest answer, and `fill CAUSE | WHAT CURED IT | LINE` sends the window that is open. Each message of the bot is
printed as a person would read it.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.workspace import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, Channel, Message

PORT = 8065


async def main(port: int) -> None:
    async with Slack(port) as slack:
        print(f"export SLACK_BOT_TOKEN={BOT_TOKEN} SLACK_APP_TOKEN={APP_TOKEN}")
        print(f"export SLACK_SIGNING_SECRET={SIGNING_SECRET} MAPLE_CHAT_SLACK_API={slack.api}")
        print("# start the bot with these; then type a question, `dm TEXT`, `file PATH TEXT` or `help`", flush=True)
        add = slack.add

        def showing(channel: Channel, **fields: object) -> Message:
            message = add(channel, **fields)
            if fields.get("bot_id"):
                names = [file["name"] for file in message.get("files", [])]
                print(f"\n#{channel.name}: {shown(message)}{' '.join(names)}", flush=True)
            return message

        slack.add = showing  # type: ignore[method-assign]
        while line := await asyncio.to_thread(sys.stdin.readline):
            if line.strip():
                await say(slack, line.strip())


async def say(slack: Slack, line: str) -> None:
    word, _, rest = line.partition(" ")
    support = slack.channel("support")
    if word == "help":
        print(" ".join((__doc__ or "").split()), flush=True)
    elif word == "dm":
        await slack.direct_message(rest)
    elif word.startswith("/"):
        before = len(slack.views)
        print(await slack.command(support, rest, name=word) or "", flush=True)
        opened(slack.views[before:])
    elif word == "wrong":
        before = len(slack.views)
        answers = [one for one in support.messages if one.get("bot_id") and "maple_feedback" in str(one.get("blocks"))]
        if not answers:
            print("there is no answer yet", flush=True)
            return
        await slack.press(support, answers[-1], "maple_feedback", value="wrong")
        opened(await slack.until(lambda: slack.views[before:]))
    elif word == "fill" and slack.views:
        cause, cure, told = (part.strip() for part in (rest + "||").split("|")[:3])
        values = {"fix": {"fix": {"value": cure}}, "line": {"line": {"value": told}}}
        values["expected"] = {"expected": {"selected_option": {"value": cause}}}
        print(await slack.submit(slack.views[-1], values) or "sent", flush=True)
    elif word == "file":
        path, _, text = rest.partition(" ")
        try:
            stored = slack.upload(Path(path).name, Path(path).read_bytes())
        except OSError as error:
            print(f"{path} cannot be read: {error.strerror}", flush=True)
            return
        await slack.mention(support, text, files=(stored,))
    else:
        await slack.mention(support, line)


def opened(views: list[dict[str, Any]]) -> None:
    """The windows, by the labels of their fields."""
    for view in views:
        labels = [block["label"]["text"] for block in view["blocks"] if block["type"] == "input"]
        print(f"a window opens: {', '.join(labels)}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else PORT))
