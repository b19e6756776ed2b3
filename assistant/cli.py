"""The command line: one table of commands, each a module loaded only when it is called.

Importing LangGraph takes 1.7 s and Chroma 1.3 s on a login node; `--help` and the light commands pay for neither.
"""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import io
import os
import sys
from typing import Protocol

from assistant.errors import MapleError
from assistant.printing.terminal import printable_streams


class CommandModule(Protocol):
    """What each module of assistant/commands offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace) -> int: ...


# name -> what it does. The module is assistant/commands/NAME.py, imported when the command is called.
COMMANDS: dict[str, str] = {
    "chat": "the chat in the terminal, as with no command; --plain: line by line",
    "ask": "one turn of the conversation; the thread goes on next time",
    "extract": "the fields read from a request or a script",
    "script": "the launch script, with no conversation",
    "rehearse": "run a script on a stand-in cluster, here",
    "check": "findings on any script",
    "verify": "prove on the machine that such a job starts: a small job, asked first",
    "why": "why a job failed: root cause, telling line, fix",
    "pending": "why a job is not starting: what holds it, whether it starts by itself, what helps",
    "plan": "does a model fit, on which machine, how long; with the sum behind it",
    "clusters": "what is known about a machine, with sources and date; compare: side by side",
    "watch": "follow a running job: pace, loss, its end against the limit, the first sign of trouble",
    "report": "the failures of many jobs: by cause, node, day and cost, as a page and a table",
    "models": "which language models are set and recommended; `models test` measures one",
    "templates": "list, search and add templates",
    "knowledge": "read in docs, issues and tickets; search them, and the web",
    "signatures": "check the failure signatures; review those that corrections propose",
    "serve": "the chat in a browser, on this computer",
    "mcp": "the same tools for an agent in your editor; --config prints the entry to paste",
    "slack": "the Slack bot, its check and its manifest",
    "eval": "how often it is right: labelled cases of yours or ours, with intervals, misses and comparisons",
    "feedback": "what people said of answers, as labelled cases; correct one",
    "doctor": "what is installed, configured, reachable",
}
EXIT_FINE, EXIT_NO, EXIT_USAGE = 0, 1, 2
# Objects made before the garbage collector looks: with 700 it walks what is loaded again and again, a tenth of a start.
# One turn with all that it loads makes fewer.
YOUNG = 300_000


def help_text() -> str:
    rows = "\n".join(f"  {name:<11} {says}" for name, says in COMMANDS.items())
    return (
        "usage: maple-chat [COMMAND] [OPTIONS]\n\n"
        "Writes deep-learning launch scripts for HPC clusters and tells why a job failed.\n"
        "With no command it opens the chat.\n\n"
        f"commands:\n{rows}\n\n"
        "`maple-chat COMMAND --help` tells the rest. Exit: 0 fine, 1 the answer is no, 2 bad usage or input."
    )


def main(arguments: list[str] | None = None) -> int:
    open_missing_streams()
    set_streams()
    with printable_streams():
        if arguments is not None:
            return run(arguments)
        try:
            return run(sys.argv[1:])
        finally:
            gc.freeze()  # the process ends: nothing is left to be looked for among a million objects


def run(words: list[str]) -> int:
    if words and words[0] in ("-h", "--help", "help"):
        print(help_text())
        return EXIT_FINE
    if words and words[0] in ("-V", "--version"):
        from importlib.metadata import version

        print(f"maple-chat {version('maple-chat')}")
        return EXIT_FINE
    if not words or words[0].startswith("-"):
        return run_command("chat", words)
    name = words[0]
    if name not in COMMANDS:
        print(f"maple-chat: no command '{name[:40]}'; `maple-chat --help` lists them", file=sys.stderr)
        return EXIT_USAGE
    return run_command(name, words[1:])


def open_missing_streams() -> None:
    """A stream that was closed by who started us (`>&-`) is nothing to read or write, and no error; left closed, its
    number would become the next file's that is opened.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
            setattr(sys, name, open(number, "w" if number else "r", closefd=False, encoding="utf-8"))  # noqa: SIM115


def set_streams() -> None:
    """UTF-8 whatever the locale says, and bytes that are none as they are: scripts and logs hold any."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")


def run_command(name: str, words: list[str]) -> int:
    """Run one command. Errors become one line on stderr and exit code 2."""
    gc.set_threshold(YOUNG)
    try:
        command: CommandModule = importlib.import_module(f"assistant.commands.{name}")
        parser = argparse.ArgumentParser(prog=f"maple-chat {name}", description=COMMANDS[name])
        command.add_arguments(parser)
        return command.run(parser.parse_args(words))
    except MapleError as error:
        print(f"maple-chat: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        sys.stderr.close()
        return EXIT_FINE
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.ENAMETOOLONG):
            print(f"maple-chat: {error.strerror}; nothing more was done", file=sys.stderr)
            return EXIT_USAGE
        from assistant.trouble import unforeseen
        from assistant.tui.memory import data_folder

        told = unforeseen(error, data_folder() / "maple-chat.log", f"maple-chat {name}")
        print(f"maple-chat: {told}; please report it", file=sys.stderr)
        return EXIT_USAGE
