"""200 people at once paste a 200-line log each: how soon each has the first answer, and whether all have exactly one.

    .venv/bin/python bench/slack_load.py [--threads 200] [--workers 2]
    .venv/bin/python bench/slack_load.py --http --workers 3 --kill --database postgresql://postgres@127.0.0.1/test

The stand-in of Slack (tests/assistant/slack/standin) runs in this process, the bot's workers in others, as
`maple-chat slack` starts them. --kill ends one worker with SIGKILL while answers are on their way; the balancer sends
what it had not answered to the others, as Slack does. --rounds tells whether memory is flat: the workers' resident
memory is printed after each. Prints percentiles of the time from the event to the first answer, lost and double ones.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.assistant.slack.standin.people import escaped  # noqa: E402
from tests.assistant.slack.standin.server import Slack  # noqa: E402
from tests.assistant.slack.standin.workspace import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, Channel, Message  # noqa: E402

RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from assistant.cli import main; sys.exit(main(sys.argv[1:]))"
CHANNELS, FIRST_PORT, PATH = 50, 23_000, "/slack/events"
Program = asyncio.subprocess.Process


def log_of(lines: int) -> str:
    """A training log that ends in an error which is found."""
    steps = [f"[rank{n % 8}]: step {n} loss {9 / (n + 1):.4f} tokens/s {12_000 + n % 97}" for n in range(lines - 3)]
    end = [
        "[rank3]: Traceback (most recent call last):",
        "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "srun: error: nid001234: task 3: Exited with exit code 1",
    ]
    return "\n".join([*steps, *end])


@asynccontextmanager
async def workers(slack: Slack, options: argparse.Namespace, data: Path) -> AsyncIterator[list[Program]]:
    """The workers, each a process, connected and warm; they end with the measurement, however that ends."""
    programs: list[Program] = []
    try:
        async for program in started(slack, options, data):
            programs.append(program)
            if not await asyncio.wait_for(program.stdout.readline(), 180):
                raise SystemExit("a worker did not start")
        yield programs
    finally:
        for program in programs:
            with suppress(ProcessLookupError):
                program.terminate()
        await asyncio.gather(*(program.wait() for program in programs))


async def started(slack: Slack, options: argparse.Namespace, data: Path) -> AsyncIterator[Program]:
    """Each worker, as `maple-chat slack` starts it, and its address for the balancer."""
    environment = os.environ | {
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "MAPLE_CHAT_SLACK_API": slack.api,
        "MAPLE_CHAT_DATA": str(data),
        "MAPLE_CHAT_DATABASE": options.database,
    }
    for number in range(options.workers):
        port = FIRST_PORT + number
        way = ["--http", str(port), "--host", "127.0.0.1"] if options.http else []
        words = [sys.executable, "-c", RUN, str(ROOT), "slack", *way]
        yield await asyncio.create_subprocess_exec(*words, env=environment, stdout=asyncio.subprocess.PIPE)
        if options.http:
            slack.delivery.targets.append(f"http://127.0.0.1:{port}{PATH}")


async def ask(slack: Slack, channel: Channel, text: str, asked: list[tuple[Channel, Message, float]]) -> None:
    message = slack.say(channel, f"<@U0BOT0001> why did it fail?\n```\n{text}\n```")
    asked.append((channel, message, time.monotonic()))
    await slack.tell_app(slack.event(channel, message, type="app_mention"))


async def one_round(slack: Slack, options: argparse.Namespace, programs: list[Program], kill: bool) -> list[float]:
    """All at once; the seconds to each first answer."""
    text = escaped(log_of(options.lines))
    channels = [slack.channel(f"support{n}") for n in range(CHANNELS)]
    asked: list[tuple[Channel, Message, float]] = []
    asking = asyncio.gather(*(ask(slack, channels[n % CHANNELS], text, asked) for n in range(options.threads)))
    with noting_answers(slack) as answered_at:
        if kill:
            await slack.until(lambda: len(answered_at) > options.threads // 5, 60)
            victim = programs.pop(random.randrange(len(programs)))
            os.kill(victim.pid, signal.SIGKILL)
            print(f"killed a worker after {len(answered_at)} answers")
        await asking
        threads = {message["ts"] for _, message, _ in asked}
        await slack.until(lambda: threads <= answered_at.keys(), 90)
        await asyncio.sleep(2)
    counts = [len(slack.replies(channel.id, message["ts"])) for channel, message, _ in asked]
    print(
        f"lost {sum(c == 0 for c in counts)}, twice {sum(c > 1 for c in counts)}, "
        f"undelivered {len(slack.delivery.undelivered)}, refused by Slack {dict(slack.errors())}"
    )
    return [answered_at[message["ts"]] - at for _, message, at in asked]


@contextmanager
def noting_answers(slack: Slack) -> Iterator[dict[str, float]]:
    """Thread -> when its first answer stood there."""
    at: dict[str, float] = {}
    add = slack.add

    def noting(channel: Channel, **fields: object) -> Message:
        if fields.get("bot_id"):
            at.setdefault(str(fields.get("thread_ts")), time.monotonic())
        return add(channel, **fields)

    slack.add = noting  # type: ignore[method-assign]
    yield at
    slack.add = add  # type: ignore[method-assign]


def memory(program: Program) -> float:
    """Resident memory in MB."""
    lines = Path(f"/proc/{program.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def processor(program: Program) -> float:
    """Processor time in seconds."""
    fields = Path(f"/proc/{program.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        async with Slack() as slack, workers(slack, options, Path(folder)) as programs:
            slack.post_burst = 8
            for number in range(options.rounds):
                before = sum(map(processor, programs))
                kill = options.kill and number == options.rounds - 1
                took = sorted(await one_round(slack, options, programs, kill))
                cut = statistics.quantiles(took, n=100, method="inclusive")
                spent = 0.0 if kill else sum(map(processor, programs)) - before
                used = ", ".join(f"{memory(program):.0f}" for program in programs)
                print(
                    f"round {number + 1}: first answer p50 {cut[49]:.2f} s, p95 {cut[94]:.2f} s, slowest {took[-1]:.2f}"
                    f" s; processor {spent:.1f} s; memory {used} MB; load {os.getloadavg()[0]:.1f}"
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=200)
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--database", default="")
    parser.add_argument("--folder", default=None, help="where the data folder is made")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    asyncio.run(run(parser.parse_args()))
