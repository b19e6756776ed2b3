"""Everything that reads what others wrote, given what nobody would write.

`python -m tests.fuzz [--write] [CASES] [READER ...]`: so many cases over all readers (20,000 unless told), a table of
what held, and with --write its rows in docs/security.md. With readers named, the share of those alone: a run can be
done in pieces. A case is real text that was cut, doubled and mixed, marks that mean something to some reader, any
text, any bytes, or one piece a few thousand times over. A reader may refuse with an error of ours; it may not fail
otherwise, take more than two seconds a megabyte, or let its process grow beyond 300 MB over where it began.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from knowledge.errors import MapleError
from tests import security_page as page
from tests.fuzz_seeds import COMMANDS, CONFIGS, DUMPS, NODE_JOBS, OUTPUTS, ROWS, SLACK, STORED

TESTS = Path(__file__).parent
CASES = 20_000
SECONDS_A_MB, SMALLEST_MB, MOST_MB = 2.0, 0.5, 300
# Then a case is given up, so that a hang is told and not waited for; regular expressions heed it, too.
HANGS_S = 60
# What yardstick() takes where nobody else shares the processor, seconds; measured times are set against it.
YARD_S = 0.00125
ASSIGNED = re.compile(r"(\w+)=(\w+)")
MAKER, HELD = "tests/fuzz.py", "held"
HEAD = "| reader | cases | refused | slowest, s a MB | grown, MB | | on |\n|---|---|---|---|---|---|---|"
# For such words vectors are loaded, once in a process: no part of a case's time.
UNKNOWN_WORDS = (
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nQuorumLost: the herd is not willing\n'
)
# A piece again and again: what is quadratic shows. The longest are beyond SMALLEST_MB, so that each second counts; the
# long ones are just below what the reader of scripts refuses.
REPEATED, LONG, LONGEST = 60_000, 149_000, 600_000
SEEDS = [
    path.read_text(errors="replace")[:6000]
    for pattern in ("golden/*/*.sh", "logs/*/*.log", "ports/sources/*.sh")
    for path in sorted(TESTS.glob(pattern))[::4]
]
FACTS = [path.read_text()[:20_000] for path in sorted(TESTS.parent.glob("knowledge/clusters/*.yaml"))[::5]]
RULES = [path.read_text()[:6000] for path in sorted(TESTS.parent.glob("knowledge/signatures/*.yaml"))[::5]]
MARKS = [
    *("#!/bin/bash\n", "#SBATCH --nodes=", "#PBS -l select=", "srun ", "torchrun --nnodes=$((", "<<EOF\n", "$("),
    *("Traceback (most recent call last):\n", '  File "a.py", line 1\n', "[rank0]: ", "srun: error: ", "\r", "\x00"),
    *("JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n", "JobId=1 ", "Job Id: 1.pbs\n", "\t", "PD", "${"),
    *("password=", "token: ", "eyJ", "-----BEGIN PRIVATE KEY-----\n", "%3D", "\\", "\u200b", "\u202e", "\ud800", "'"),
    *("```\n", "# ", "| a | b |\n|---|---|\n", "<table><tr><td>", "</", "<!--", "[x](", "* ", "> ", "&#x", "====\n"),
    *("<b>x</b>", "<p>", "<ul><li>x", "</td>", "<pre><code>", "<a href=", "<script>", "<![CDATA[", "<!DOCTYPE "),
    *("{", "}", "[", "]", ")", ": ", "- ", "&a ", "*a ", "!!python/object:", "a: &a [*a]\n", "1e999", "nan"),
    *("9" * 20, "9" * 400, "9" * 5000, "Infinity", "null", '"'),
    *("train ViT with FSDP on Perlmutter, 4 nodes", "why did it fail?", "\n\n", "\u0661", "\u5bc6\u7801", "\x1b["),
]  # fmt: skip


def spoilt(texts: list[str]) -> st.SearchStrategy[str]:
    """A real text of which a part was replaced by a mark."""
    places = st.tuples(st.sampled_from(texts), st.integers(0, 20_000), st.integers(0, 40), st.sampled_from(MARKS))
    return places.map(lambda p: p[0][: (at := p[1] % (len(p[0]) + 1))] + p[3] + p[0][at + p[2] :])


def spoilt_bytes(files: list[bytes]) -> st.SearchStrategy[bytes]:
    """A real file of which a few bytes were replaced by others."""
    places = st.tuples(st.sampled_from(files), st.integers(0, 2_000), st.integers(0, 8), st.binary(max_size=8))
    return places.map(lambda p: p[0][: (at := p[1] % (len(p[0]) + 1))] + p[3] + p[0][at + p[2] :])


PARTS = st.one_of(
    st.sampled_from(MARKS),
    st.sampled_from(SEEDS),
    st.sampled_from(SEEDS).flatmap(
        lambda seed: st.tuples(st.integers(0, len(seed)), st.integers(0, 600)).map(lambda at: seed[at[0] : sum(at)])
    ),
    st.text(max_size=20),
)
PIECES = st.one_of(
    st.sampled_from(MARKS),
    st.text(min_size=1, max_size=6),
    st.tuples(st.sampled_from(MARKS), st.sampled_from(MARKS)).map("".join),
)
TEXTS = st.one_of(
    spoilt(SEEDS),
    st.lists(PARTS, max_size=12).map("".join),
    st.tuples(PIECES, st.integers(2, 3000)).map(lambda one: (one[0] * one[1])[:REPEATED]),
)

LONG_TEXTS = st.tuples(PIECES, PIECES, PIECES, st.sampled_from([LONG, LONGEST])).map(
    lambda few: (few[0] + few[1] * (few[3] // len(few[1])))[: few[3]] + few[2]
)


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


BYTES = st.one_of(TEXTS.map(encoded), st.binary(max_size=2000))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=30), st.sampled_from(MARKS)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["text", "files", "blocks", "attachments", "type", "id"]), inner, max_size=5)
    ),
    max_leaves=20,
)
NAMES = TEXTS | st.from_regex(r"[A-Za-z0-9._-]{1,70}\s?", fullmatch=True)
EVENTS = st.dictionaries(st.sampled_from(["text", "files", "blocks", "attachments", "ts", "subtype"]), JSON, max_size=6)


def read_message(text: str) -> None:
    from graph.reading.message import take_apart

    take_apart(text)


def read_request(text: str) -> None:
    from graph.extraction.request import understand
    from graph.reading.reader import read_as_one
    from graph.reading.utterance import ThreadView

    understand(text, None, None, None)
    read_as_one(text, ThreadView())


def read_log(data: bytes) -> None:
    from assistant.printing.plain import as_text
    from graph.debugging.diagnosis import diagnose

    as_text(diagnose(data))


def read_script(text: str) -> None:
    from graph.extraction.script_record import understand_script

    understand_script(text)


def check_script(text: str) -> None:
    from graph.verification.checks import check

    assert not [one for one in check(text, None) if one.rule == "rule-failed"]


def port_script(text: str) -> None:
    from graph.porting.port import port
    from knowledge.catalogue import catalogue

    port(text, catalogue().clusters["polaris"])


def read_size(text: str) -> None:
    from graph.planning.resources.parameters import read_config

    with contextlib.suppress(ValueError):  # the command line says it in words
        read_config(text)


def read_dumps(data: bytes) -> None:
    from graph.debugging.flight_recorder import find_hang, read_dump

    path = Path(tempfile.gettempdir()) / "fuzzed-dump_0"
    path.write_bytes(data)
    if dump := read_dump(path):
        find_hang([dump, replace(dump, rank=1, collectives=dump.collectives[1:])])


def read_rows(text: str) -> None:
    from knowledge.schedulers.accounting import read_accounting

    read_accounting(text)


def read_answer(text: str) -> None:
    from assistant.models.openai_server import read_arguments
    from graph.modelling.asking import read
    from graph.modelling.model import Completion

    read_arguments(text)
    read(Completion(text, 1, 1, "end"), {"type": "object"})


def read_settings(data: bytes) -> None:
    from knowledge.ingest.parser_process import settings as plain_settings

    plain_settings(data)


def read_record(data: bytes) -> None:
    from graph.verification.simulator.records import received

    received(data)


def read_output(text: str) -> None:
    from graph.usecases.explain_pending import explain_pending
    from knowledge.schedulers.outputs import scheduler_output

    explain_pending(text, outputs=scheduler_output(text))


def mask_secrets(text: str) -> None:
    from knowledge.masking import mask

    masked = mask(text)
    masked.restore(masked.text)


def hide_secrets(text: str) -> None:
    from knowledge.masking import hide

    hide(text)


def read_machine(data: bytes) -> None:
    from knowledge.cluster_file import read_cluster

    path = Path(tempfile.gettempdir()) / "fuzzed-machine.yaml"
    path.write_bytes(data)
    read_cluster(path)


def read_signatures(data: bytes) -> None:
    from knowledge.signatures import loader

    loader.read_signatures(Path("a.yaml"), data)


def call_tools(text: str) -> None:
    from assistant.mcp import tools

    calls = (
        lambda: tools.list_clusters(cursor=text),
        lambda: tools.cluster_facts(text),
        lambda: tools.check_script(text, machine="lumi"),
        lambda: tools.port_script(text, "frontier"),
        lambda: tools.explain_pending(text),
    )
    calls[len(text) % len(calls)]()


def read_event(event: dict[str, Any]) -> None:
    from assistant.slack.text import cut, files_of, mrkdwn, plain, sections, text_of, without_blocks

    event = json.loads(json.dumps(event, ensure_ascii=True))
    text = plain(text_of(event), "U0BOT")
    files_of(event)
    without_blocks(text)
    cut(mrkdwn(text), 3000)
    sections(text, 3000)


def changed(value: Any, at: int, other: Any) -> tuple[Any, int]:
    """JSON in which the part that is counted at-th is another, and how many more are to be counted."""
    if at == 0:
        return other, -1
    parts = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    at -= 1
    for name, part in parts:
        made, at = changed(part, at, other)
        if at < 0:
            whole = dict(value) if isinstance(value, dict) else list(value)
            whole[name] = made
            return whole, at
    return value, at


DELIVERIES = st.tuples(st.sampled_from(SLACK), st.integers(0, 20), JSON).map(lambda p: changed(p[0], p[1], p[2])[0])


def read_delivery(body: Any) -> None:
    """What came with a good signature goes to the listeners; where it is of another form, Slack is told so."""
    from slack_bolt.async_app import AsyncBoltRequest

    from assistant.settings import read_settings
    from assistant.slack.app import ODD, Bot
    from assistant.slack.settings import SlackSettings
    from assistant.slack.types import Incoming, incoming_of

    async def take(incoming: Incoming, *_: object) -> None:
        assert incoming_of(incoming.to_json()).thread

    door = AsyncMock(
        team="T1", allowed=Mock(return_value=True), take=take, metrics=Mock(), inbox=Mock(asker=Mock(return_value="U1"))
    )
    for said in (door.correct, door.stats, door.report, door.ask_in_channel):
        said.return_value = ""
    bot = Bot(read_settings(), SlackSettings(bot_token="xoxb-1", signing_secret="s"))
    bot.door = door
    try:
        delivery = AsyncBoltRequest(body=json.loads(json.dumps(body)), mode="socket_mode")
    except ODD as error:
        raise MapleError("refused before it is read") from error
    told = asyncio.run(bot._bolt({"team_id": "T1", "user_id": "U0"}).async_dispatch(delivery))
    assert told.status in (200, 400, 404), told.status


def read_report(data: bytes) -> None:
    from graph.reporting.inputs import from_folders
    from graph.reporting.reading import Reading, read_jobs
    from graph.reporting.report import make_report

    with tempfile.TemporaryDirectory() as folder:
        for name in ("train-7.out", "train-7.err", "train-8.out"):
            (Path(folder) / name).write_bytes(data)
        make_report(read_jobs(from_folders([Path(folder)]), Reading(b"secret")))


def discover(text: str) -> None:
    from graph.discovery.cluster_yaml import cluster_yaml
    from graph.discovery.found import MachineFound
    from graph.discovery.machine_here import MACHINES, machine_here
    from graph.discovery.node_job import read_node
    from knowledge.schedulers.asking import Printed

    told = read_node(text)
    for scheduler in MACHINES:
        found = machine_here(scheduler, lambda words: Printed(text))
        if isinstance(found, MachineFound):
            kinds = [kind for queue in found.queues for kind, _ in queue.kinds if kind.gpus]
            cluster_yaml(found, "2026-11-23", (told, kinds[0]) if kinds else None)


def read_threads(text: str) -> None:
    """A database whose rows hold anything: conversations, past failures and incidents are listed all the same."""
    from assistant.storage.diagnoses import Diagnoses, KeptFailure
    from assistant.storage.incidents import Incidents
    from assistant.storage.sqlite import Sqlite
    from assistant.turns import Turns
    from graph.incidents.incident import Rules
    from knowledge.job_record import JobRecord

    text = text.encode("utf-8", "replace").decode()
    with tempfile.TemporaryDirectory() as folder:
        database = Sqlite(Path(folder) / "a.sqlite3")
        with database.transaction() as talk:
            talk.execute("INSERT INTO turns VALUES (?, 1, ?, ?, ?, ?, 0)", ("t", text[:40], text, text, text))
            talk.execute("INSERT INTO turns VALUES (?, 2, '2026-11-23T00:00:00+00:00', ?, '[]', NULL, 0)", (text, text))
            row = ("k", "t", 1.76e9, "ticket", "w", "", 0, 0, 0, text[:40], "s", text, text, text)
            talk.execute(f"INSERT INTO diagnoses VALUES ({', '.join('?' * len(row))}, 'helpful', ?, 0)", (*row, text))
            talk.execute("INSERT INTO incidents VALUES ('i', 'open', 1.76e9, 1, 0, '', ?)", (text,))
        turns, incidents = Turns(database), Incidents(database, Rules())
        turns.history("t"), turns.threads(), turns.threads("why"), turns.history(text)
        like = KeptFailure(
            "n", "u", "ticket", JobRecord("7", "oom_gpu", signature="s", line=text[:200], mark=text[:200])
        )
        Diagnoses(database).like(like, "all")
        incidents.look(1.76e9)
        incidents.untold(), incidents.open()
        database._close()


def read_kept(text: str) -> None:
    from graph.reporting.kept import KeptRecords
    from graph.reporting.report import make_report

    with tempfile.TemporaryDirectory() as folder:
        kept = KeptRecords(Path(folder) / "a.sqlite3")
        kept._database.execute("insert into read values ('k', 's', 1.0, ?)", (encoded(text).decode(),))
        make_report([record for _, record in kept.known({"k": "s"})], kept.earlier({}, 2.0))
        kept.close()


def name_thread(text: str) -> None:
    """A name is taken only where it is one of letters, digits and . _ -; in a list it steers no terminal."""
    from assistant.session import THREAD_NAME, Session
    from assistant.settings import read_settings
    from assistant.slack.types import thread_name

    assert THREAD_NAME.fullmatch(thread_name(text, "C1", text))
    with tempfile.TemporaryDirectory() as folder:
        Session(read_settings().model_copy(update={"data": Path(folder)}), text)
    assert THREAD_NAME.fullmatch(text)
    assert "\n" not in text


def take_program(text: str) -> None:
    from graph.extraction.request import understand
    from graph.planning.programs import take_apart

    take_apart(text)
    take_apart("train.ipynb", text)
    understand(f"run {text}.ipynb on Perlmutter", None, None, None)


def read_page(form: str) -> Callable[[bytes], None]:
    def read_it(data: bytes) -> None:
        from knowledge.ingest.chunking import chunks
        from knowledge.ingest.page import NoTextError, UnreadableError
        from knowledge.ingest.reading import read

        # What the process that reads pages says of these two is in parser_process.py.
        with contextlib.suppress(NoTextError, UnreadableError, RecursionError, ValueError):
            chunks(read(data, form, f"a.{form}"))

    return read_it


def read_tickets(text: str) -> None:
    from knowledge.ingest.tickets import csv_rows, json_rows

    for rows in (csv_rows(text), json_rows(text, Path("a.jsonl"))):
        with contextlib.suppress(MapleError):
            list(rows)


@dataclass(slots=True)
class Reader:
    """What is fed, and how it went: cases, refusals, the slowest in seconds a megabyte, growth in MB."""

    read: Callable[[Any], None]
    cases: st.SearchStrategy[Any]
    tried: int = 0
    refused: int = 0
    slowest: float = 0.0
    grown: float = 0.0
    # The slowest case, its beginning and its end.
    worst: str = ""
    failures: list[str] = field(default_factory=list)
    # The cases are texts, though not TEXTS alone.
    mixed: bool = False

    @property
    def is_text(self) -> bool:
        return self.mixed or self.cases is TEXTS


READERS: dict[str, Callable[[], Reader]] = {
    "message": lambda: Reader(read_message, TEXTS),
    "request": lambda: Reader(read_request, TEXTS),
    "log": lambda: Reader(read_log, BYTES),
    "script": lambda: Reader(read_script, TEXTS),
    "check": lambda: Reader(check_script, TEXTS),
    "port": lambda: Reader(port_script, TEXTS),
    "scheduler output": lambda: Reader(read_output, TEXTS | spoilt(OUTPUTS), mixed=True),
    "accounting": lambda: Reader(read_rows, TEXTS | spoilt(ROWS), mixed=True),
    "model's config.json": lambda: Reader(read_size, TEXTS | spoilt(CONFIGS), mixed=True),
    "model's answer": lambda: Reader(read_answer, TEXTS | spoilt(CONFIGS), mixed=True),
    "flight recorder": lambda: Reader(read_dumps, BYTES | spoilt_bytes(DUMPS)),
    "rehearsal record": lambda: Reader(read_record, BYTES | spoilt(CONFIGS).map(encoded)),
    "page settings": lambda: Reader(read_settings, BYTES | spoilt(FACTS).map(encoded)),
    "secrets, masked": lambda: Reader(mask_secrets, TEXTS),
    "secrets, hidden": lambda: Reader(hide_secrets, TEXTS),
    "machine": lambda: Reader(read_machine, BYTES | spoilt(FACTS).map(encoded)),
    "signatures": lambda: Reader(read_signatures, BYTES | spoilt(RULES).map(encoded)),
    "MCP": lambda: Reader(call_tools, TEXTS),
    "Slack event": lambda: Reader(read_event, EVENTS),
    "Slack delivery": lambda: Reader(read_delivery, DELIVERIES),
    "report": lambda: Reader(read_report, BYTES),
    "discovery": lambda: Reader(discover, TEXTS | spoilt(COMMANDS + NODE_JOBS), mixed=True),
    "threads, failures, incidents": lambda: Reader(read_threads, TEXTS | spoilt(STORED), mixed=True),
    "kept records": lambda: Reader(read_kept, TEXTS | spoilt(STORED), mixed=True),
    "thread's name": lambda: Reader(name_thread, NAMES, mixed=True),
    "program or notebook": lambda: Reader(take_program, TEXTS),
    "tickets": lambda: Reader(read_tickets, TEXTS),
    "page: Markdown": lambda: Reader(read_page("markdown"), BYTES),
    "page: reStructuredText": lambda: Reader(read_page("restructured"), BYTES),
    "page: HTML": lambda: Reader(read_page("html"), BYTES),
    "page: PDF": lambda: Reader(read_page("pdf"), BYTES),
    "page: text": lambda: Reader(read_page("text"), BYTES),
}


def shown(case: Any) -> str:
    """A case by its beginning and its end."""
    text = repr(case)
    return text if len(text) < 200 else f"{text[:100]} ... {text[-60:]}"


def size_of(case: Any) -> int:
    return len(case) if isinstance(case, str | bytes) else len(json.dumps(case))


def memory() -> float:
    """The most that this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def yardstick() -> float:
    """Seconds of the processor for a fixed piece of work: a processor that others share counts more for the same."""
    began, entries = time.process_time(), {}
    for number in range(1500):
        found = ASSIGNED.fullmatch(f"key{number}=value{number}")
        entries[number] = "".join(found[2].split("e")) if found else ""
    return time.process_time() - began


@dataclass(frozen=True, slots=True)
class Told:
    """How a case went: the seconds of a quiet processor, whether it was refused, MB grown, and what it failed with."""

    took: float = 0.0
    refused: bool = False
    grown: float = 0.0
    failed: str = ""


def serve(name: str, asked: Connection) -> None:
    """The reader's process: reads each case that comes, and tells how it went."""
    reader = READERS[name]()
    of_slack = reader.cases in (EVENTS, DELIVERIES)
    for first in (SLACK[0],) if of_slack else (SEEDS[0], UNKNOWN_WORDS):
        with contextlib.suppress(Exception):
            reader.read(first if of_slack or reader.is_text else first.encode())
    before = memory()
    signal.signal(signal.SIGVTALRM, give_up)
    while True:
        case = asked.recv()
        pace, began, refused, failed = yardstick(), time.process_time(), False, ""
        signal.setitimer(signal.ITIMER_VIRTUAL, HANGS_S)
        try:
            reader.read(case)
        except MapleError:
            refused = True
        except Exception as error:
            failed = "".join(traceback.format_exception(error))
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        took = time.process_time() - began
        if took > YARD_S:
            took /= max(1.0, (pace + yardstick()) / 2 / YARD_S)
        asked.send(Told(took, refused, memory() - before, failed))


class Apart:
    """A reader in a process of its own, begun anew where it ended, hung or swelled."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.begin()

    def begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.ours, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(self.name, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.ours.close()

    def read(self, case: Any) -> Told:
        """How it went. Raises TimeoutError where not even the clock of the processor ends it."""
        self.ours.send(case)
        try:
            if not self.ours.poll(3 * HANGS_S):
                raise TimeoutError(f"no answer after {3 * HANGS_S} s")
            told: Told = self.ours.recv()
        except (EOFError, TimeoutError, ConnectionError) as error:
            self.end()
            how = f"its process ended with {self.process.exitcode}" if not isinstance(error, TimeoutError) else ""
            self.begin()
            return Told(failed=how or str(error))
        if told.grown > MOST_MB:
            self.end()
            self.begin()
        return told


def give_up(*_: object) -> None:
    raise TimeoutError(f"no end after {HANGS_S} s of the processor")


def with_long(reader: Reader) -> st.SearchStrategy[Any]:
    """The cases, and about one in forty long."""
    cases = reader.cases
    if cases in (EVENTS, DELIVERIES):
        return cases
    return st.integers(0, 39).flatmap(
        lambda at: cases if at else LONG_TEXTS if reader.is_text else LONG_TEXTS.map(encoded)
    )


def feed(name: str, cases: int, long: bool = False) -> Reader:
    """Give a reader so many cases, and tell how it went; the smallest case that failed is among its failures."""
    reader, apart = READERS[name](), Apart(name)

    @settings(
        max_examples=cases,
        deadline=None,
        database=None,
        derandomize=True,
        # To make a long case smaller takes minutes; its beginning and its end tell as much.
        phases=[Phase.generate] if long else [Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(with_long(reader) if long else reader.cases)
    def one(case: Any) -> None:
        reader.tried += 1
        told = apart.read(case)
        reader.refused += told.refused
        megabytes, took = max(size_of(case) / 1e6, SMALLEST_MB), told.took
        for _ in range(2):  # again: what was only loaded now, or a neighbour's load, is no hang
            if not told.failed and took > SECONDS_A_MB * megabytes:
                took = min(took, apart.read(case).took)
        if took / megabytes > reader.slowest:
            reader.slowest, reader.worst = took / megabytes, shown(case)
        reader.grown = max(reader.grown, told.grown)
        assert not told.failed, told.failed
        assert took < SECONDS_A_MB * megabytes, f"{took:.1f} s"
        assert told.grown < MOST_MB, f"{told.grown:.0f} MB"

    try:
        one()
    except Exception as error:
        reader.failures = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
    finally:
        apart.end()
    return reader


def row(name: str, cases: int) -> list[str]:
    """The reader's row of the table."""
    reader = feed(name, cases, long=True)
    for line in (*reader.failures, reader.worst) if reader.failures else ():
        print(f"{name}: {line[:2000]}", file=sys.stderr)
    how = " ".join(reader.failures[0].split())[-300:].replace("|", "/") if reader.failures else HELD
    figures = [f"{reader.tried:,}", f"{reader.refused:,}", f"{reader.slowest:.2f}", f"{reader.grown:.0f}"]
    return [name, *figures, how, date.today().isoformat()]


def write(made: dict[str, list[str]]) -> None:
    """Put rows into the page's table, those of other readers stay."""
    told = {cells[0]: cells for cells in page.rows(MAKER)} | made
    page.put(MAKER, "\n".join([HEAD, *(as_row(told[name]) for name in READERS if name in told)]))


def as_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="put the rows into docs/security.md")
    parser.add_argument("cases", nargs="?", default=str(CASES))
    parser.add_argument("readers", nargs="*")
    told = parser.parse_args()
    if not told.cases.isdigit():
        told.cases, told.readers = str(CASES), [told.cases, *told.readers]
    made, share = {}, -(-int(told.cases) // len(READERS))
    print(HEAD)
    for name in told.readers or READERS:
        made[name] = row(name, share)
        print(as_row(made[name]), flush=True)
    if told.write:
        write(made)
    return sum(cells[5] != HELD for cells in made.values())


if __name__ == "__main__":
    sys.exit(main())
