"""Pages are read apart: what is made to be slow, large or broken is named and left out, and the next file is read."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.ingest.html import closed
from knowledge.ingest.page import NoTextError, UnreadableError
from knowledge.ingest.parser import Parser
from knowledge.ingest.parser_process import MOST_MEMORY
from knowledge.ingest.reading import read

# For what can be read, however busy this computer is; for what never ends, so little that nobody waits.
PLENTY_S, LITTLE_S = 600.0, 4.0
PAGE = b"# Queues\n\nThe debug queue takes 30 minutes.\n\n```\nsbatch job.sh\n```\n"


@pytest.fixture
def parser() -> Iterator[Parser]:
    made = Parser(patience_s=PLENTY_S)
    yield made
    made.stop()


def shared_stream_pdf(pages: int, size: int) -> bytes:
    """A small file whose pages all show one stream that unpacks to `size` bytes of text."""
    words = b"BT /F1 9 Tf " + b"(word) Tj " * (size // 10) + b"ET"
    stream = zlib.compress(words, 9)
    kids = b" ".join(b"%d 0 R" % (5 + n) for n in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages),
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *[b"<< /Type /Page /Parent 2 0 R /Contents 3 0 R /Resources << /Font << /F1 4 0 R >> >> >>"] * pages,
    ]
    text, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(text))
        text += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    return (
        text
        + head
        + table
        + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (
            len(objects) + 1,
            len(text),
        )
    )


def test_a_page_comes_back_as_it_is_read_here(parser: Parser) -> None:
    assert parser.read(PAGE, "markdown", "queues.md") == read(PAGE, "markdown", "queues.md")
    assert parser.read("# Fila\n\nsó".encode(), "markdown", "ü.md").blocks[1].text == "só"


@pytest.mark.broke("no time limit")
def test_what_cannot_be_read_says_why_and_the_next_is_read(parser: Parser) -> None:
    with pytest.raises(UnreadableError, match="pypdf"):
        parser.read(b"no pdf", "pdf", "a.pdf")
    with pytest.raises(NoTextError):
        parser.read(b"", "markdown", "a.md")
    assert parser.read(PAGE, "markdown", "q.md").title == "Queues"


@pytest.mark.broke("shared stream", "no time limit")
def test_a_small_file_that_never_ends_is_left_out(parser: Parser) -> None:
    data = shared_stream_pdf(300, 3_000_000)
    assert len(data) < 60_000
    parser.patience_s = LITTLE_S
    with pytest.raises(UnreadableError):
        parser.read(data, "pdf", "a.pdf")
    parser.patience_s = PLENTY_S
    assert parser.read(PAGE, "markdown", "q.md").title == "Queues"


def calls_of(text: str) -> int:
    """How many functions, ours and Python's, are called to read a page: its cost, whatever else runs here."""
    counted = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal counted
        counted += event.endswith("call")

    sys.setprofile(count)
    try:
        with contextlib.suppress(NoTextError):
            read(text.encode(), "html", "a.html")
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize(
    "piece",
    ["<table><tr><td>", "<a ", "<!--", "<span>", "<li>x", "<p>x</p>", "<b>x</b>", "</i><b>", "<dl><dt>x", "&amp;<i>"],
)
@pytest.mark.parametrize("end", ["x", ">"])
@pytest.mark.broke("nested HTML")
def test_html_costs_no_more_than_its_length(piece: str, end: str) -> None:
    """Four times the page, four times the calls; in none of them is the rest of the page looked through again."""
    short, long = (f"some words{piece * count}{end}" for count in (2000, 8000))
    assert calls_of(long) < 4.4 * calls_of(short) + 1000


def test_marks_that_are_never_closed_are_words() -> None:
    """For each, Python's parser would look through all that follows."""
    assert "<!--" not in closed("<!--" * 9 + "words > words") and "<" not in closed("words" + "<a " * 9)
    assert closed("<p><!-- kept --> x") == "<p><!-- kept --> x"


@pytest.mark.broke("no time limit")
def test_the_process_reaches_no_network_and_starts_no_program() -> None:
    """The filter is the kernel's: asked of the same calls that main() makes, in a process of its own."""
    code = """
import os, socket, subprocess
from knowledge.ingest.parser_process import close_the_network, set_limits
set_limits(); close_the_network()
for attempt in (socket.socket, lambda: os.execv("/bin/true", ["true"]), lambda: os.kill(os.getppid(), 0)):
    try:
        attempt(); print("done")
    except OSError as error:
        print(error.strerror)
print(open("/proc/self/comm").read().strip() != "")
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split("\n")
    assert said[:4] == ["Operation not permitted"] * 3 + ["True"]


@pytest.mark.broke("no time limit")
def test_the_process_that_reads_is_the_one_that_is_confined(parser: Parser) -> None:
    """Asked of the kernel, about the very process that has read a page."""
    parser.read(PAGE, "markdown", "q.md")
    assert parser._process
    about = Path(f"/proc/{parser._process.pid}")
    status, limits = (about / "status").read_text(), (about / "limits").read_text().split("\n")
    assert "Seccomp:\t2" in status and "NoNewPrivs:\t1" in status
    limited = {line[:26].strip(): line[26:46].strip() for line in limits}
    assert limited["Max address space"] == str(MOST_MEMORY) and limited["Max file size"] == "0"
    assert limited["Max cpu time"] != "unlimited"


def test_settings_are_read_apart_too(parser: Parser) -> None:
    assert parser.settings(b"site_url: https://x.org\nuse_directory_urls: false\nnav: [1]\nx: !!python/name:a.b\n") == {
        "site_url": "https://x.org",
        "use_directory_urls": "False",
    }
    assert parser.settings(b"[" * 100_000) == {}
    assert parser.settings(b"\xff") == parser.settings(b"- 1") == {}
