"""Pages are read apart: what is made to be slow, large or broken is named and left out, and the next file is read."""

from __future__ import annotations

import subprocess
import sys
import time
import zlib
from collections.abc import Iterator

import pytest

from knowledge.ingest.page import NoTextError, UnreadableError
from knowledge.ingest.parser import Parser
from knowledge.ingest.reading import read

PAGE = b"# Queues\n\nThe debug queue takes 30 minutes.\n\n```\nsbatch job.sh\n```\n"


@pytest.fixture
def parser() -> Iterator[Parser]:
    made = Parser(patience_s=6)
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


def test_what_cannot_be_read_says_why_and_the_next_is_read(parser: Parser) -> None:
    with pytest.raises(UnreadableError, match="pypdf"):
        parser.read(b"no pdf", "pdf", "a.pdf")
    with pytest.raises(NoTextError):
        parser.read(b"", "markdown", "a.md")
    assert parser.read(PAGE, "markdown", "q.md").title == "Queues"


def test_a_small_file_that_never_ends_is_left_out(parser: Parser) -> None:
    data = shared_stream_pdf(300, 3_000_000)
    assert len(data) < 60_000
    with pytest.raises(UnreadableError):
        parser.read(data, "pdf", "a.pdf")
    assert parser.read(PAGE, "markdown", "q.md").title == "Queues"


@pytest.mark.parametrize(
    "text",
    [
        "<table><tr><td>" * 4000 + "x",
        "some words" + "<a " * 20_000,
        "some words" + "<!--" * 15_000 + ">",
        "<span>" * 200 + "<b>x</b>" * 4000 + "<p>y",
    ],
    ids=["nested tables", "tags never closed", "comments never closed", "deep before blocks"],
)
def test_html_costs_no_more_than_its_length(text: str) -> None:
    began = time.process_time()
    read(text.encode(), "html", "a.html")
    assert time.process_time() - began < 2


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


def test_settings_are_read_apart_too(parser: Parser) -> None:
    assert parser.settings(b"site_url: https://x.org\nuse_directory_urls: false\nnav: [1]\nx: !!python/name:a.b\n") == {
        "site_url": "https://x.org",
        "use_directory_urls": "False",
    }
    assert parser.settings(b"[" * 100_000) == {}
    assert parser.settings(b"\xff") == parser.settings(b"- 1") == {}
