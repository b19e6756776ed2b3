"""A Slack to try a bot against, with nothing installed and no account: `python -m tests.assistant.slack.standin`.

It prints the settings that a bot needs, then reads lines: what you type is a mention of the bot in #support, `dm TEXT`
is a direct message, `file PATH TEXT` uploads a log. Each message of the bot is printed as a person would read it.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.workspace import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, Channel, Message

PORT = 8065


async def main(port: int) -> None:
    async with Slack(port) as slack:
        print(f"export SLACK_BOT_TOKEN={BOT_TOKEN} SLACK_APP_TOKEN={APP_TOKEN}")
        print(f"export SLACK_SIGNING_SECRET={SIGNING_SECRET} MAPLE_CHAT_SLACK_API={slack.api}")
        print("# start the bot with these; then type a question, `dm TEXT` or `file PATH TEXT`", flush=True)
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
    if word == "dm":
        await slack.direct_message(rest)
    elif word == "file":
        path, _, text = rest.partition(" ")
        try:
            stored = slack.upload(Path(path).name, Path(path).read_bytes())
        except OSError as error:
            print(f"{path} cannot be read: {error.strerror}", flush=True)
            return
        await slack.mention(slack.channel("support"), text, files=(stored,))
    else:
        await slack.mention(slack.channel("support"), line)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else PORT))
