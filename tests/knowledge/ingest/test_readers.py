"""Each form of document, read: what must be there, and what must not."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.documents import Chunk
from knowledge.ingest.chunking import MOST, MOST_CODE, chunks, tokens
from knowledge.ingest.page import NoTextError, UnreadableError
from knowledge.ingest.reading import form_of, is_noise, read

MARKDOWN = """---
title: Running jobs
date: 2025-03-04
---
# Ignored where the front matter has a title

Intro with [a link](https://x.example) and `code`.

!!! warning "Mind the queue"
    Debug jobs run *one hour*.

    ```bash
    sbatch -q debug job.sh
    ```

=== "PyTorch"

    Load the module first.

## Queues { #queues .wide }

| Queue | Limit |
|-------|-------|
| debug | 1 h   |
| batch | 48 h  |

- first item
- second item
    - inner item

<!-- hidden comment -->
--8<-- "snippet.md"

```{note}
:class: dropdown
A MyST note.
```

```{toctree}
other
```
"""
RST = """
Running jobs
============

.. toctree::
   :maxdepth: 2

   other

Intro with :ref:`a link <target>` and ``code``, :unknown:role:`kept words`.

.. some-unknown-directive:: An argument
   :option: 3

   Its body is *read*.

.. code-block:: bash
   :linenos:
   :emphasize-lines: 2

   sbatch -q debug job.sh

.. tab-set::

   .. tab-item:: CUDA

      Load the module first.

Queues
------

.. list-table::
   :header-rows: 1

   * - Queue
     - Limit
   * - debug
     - 1 h

.. include:: /etc/passwd
.. csv-table:: x
   :url: http://127.0.0.1:9/x.csv
.. raw:: html

   <b>raw</b>

|undefined| and `broken
"""
HTML = """<!doctype html><html><head><title>Running jobs | Site docs</title>
<meta property="article:modified_time" content="2025-03-04T10:00:00Z"><script>var hidden = 1</script></head>
<body><header>Logo</header><nav><a href="/">Home</a></nav>
<div class="wrap"><main><h1>Running jobs<a class="headerlink" href="#x">¶</a></h1><p>Intro with <code>code</code>.</p>
<pre>sbatch -q debug job.sh
  second line</pre>
<h2>Queues</h2><table><tr><th>Queue</th><th>Limit</th></tr><tr><td>debug</td><td>1 h</td></tr></table>
<ul><li>first item<ul><li>inner item</li></ul></li></ul></main></div>
<aside>Sidebar words</aside><footer>Imprint</footer></body></html>"""
TEXT = "Running jobs\n============\n\nIntro with code.\n\n  sbatch -q debug job.sh\n\nQueues\n------\n\ndebug: 1 h.\n"
FORMS = [(MARKDOWN, "markdown"), (RST, "restructured"), (HTML, "html"), (TEXT, "text")]


def pieces(text: str | bytes, form: str) -> tuple[Chunk, ...]:
    return chunks(read(text.encode() if isinstance(text, str) else text, form, "page.x"))


def everything(found: Sequence[Chunk]) -> str:
    return "\n".join(chunk.text for chunk in found)


@pytest.mark.parametrize(("text", "form"), FORMS)
def test_code_and_headings_survive_in_every_form(text: str, form: str) -> None:
    page, found = read(text.encode(), form, "page.x"), pieces(text, form)
    assert page.title == "Running jobs"
    assert "sbatch -q debug job.sh" in everything(found)
    assert [chunk.path[-1:] for chunk in found][-1] == ("Queues",)
    assert "Intro with" in found[0].text


@pytest.mark.parametrize(("text", "form"), [(MARKDOWN, "markdown"), (RST, "restructured"), (HTML, "html")])
def test_a_table_keeps_its_rows(text: str, form: str) -> None:
    assert "Queue | Limit\ndebug | 1 h" in everything(pieces(text, form))


@pytest.mark.parametrize(("text", "form"), [(MARKDOWN, "markdown"), (HTML, "html")])
def test_the_date_that_a_page_says(text: str, form: str) -> None:
    assert read(text.encode(), form, "x").date == "2025-03-04"


def test_markdown_of_documentation_tools() -> None:
    text = everything(pieces(MARKDOWN, "markdown"))
    for kept in ("Mind the queue", "Debug jobs run one hour.", "PyTorch", "Load the module first.", "A MyST note."):
        assert kept in text
    for gone in ("hidden comment", "8<", "toctree", "!!!", "===", "#queues", "x.example", "dropdown"):
        assert gone not in text
    assert "```\nsbatch -q debug job.sh\n```" in text and "  - inner item" in text


def test_restructured_text_of_sphinx(capfd: pytest.CaptureFixture[str]) -> None:
    text = everything(pieces(RST, "restructured"))
    for kept in ("a link", "kept words", "An argument", "Its body is read.", "CUDA", "Load the module first."):
        assert kept in text
    for gone in ("toctree", "maxdepth", "root:", "<b>", "Unknown", "<target>", "linenos"):
        assert gone not in text
    assert capfd.readouterr().err == ""


def test_html_without_what_surrounds_it() -> None:
    text = everything(pieces(HTML, "html"))
    for gone in ("Logo", "Home", "Sidebar", "Imprint", "hidden", "¶"):
        assert gone not in text
    assert "sbatch -q debug job.sh\n  second line" in text and "`code`" in text


def test_code_is_not_torn_and_sizes_are_bounded() -> None:
    code = "\n".join(f"export VARIABLE_{n}=value" for n in range(40))
    prose = " ".join(f"Sentence number {n} says something of the queue." for n in range(300))
    rows = "\n".join(f"| queue{n} | {n} h |" for n in range(200))
    text = f"# T\n\nRun this:\n\n```\n{code}\n```\n\n{prose}\n\n| Queue | Limit |\n|--|--|\n{rows}\n"
    found = pieces(text, "markdown")
    assert any(chunk.text.startswith("Run this:") and code in chunk.text for chunk in found)
    assert all(tokens(chunk.text) <= MOST + 60 for chunk in found if "```" not in chunk.text)
    assert all("Queue | Limit" in chunk.text for chunk in found if "queue150" in chunk.text)
    assert everything(found).count("Sentence number 150 ") == 1


def test_a_listing_without_end_is_torn_between_lines() -> None:
    found = pieces("# T\n\n```\n" + "".join(f"echo one two three {n}\n" for n in range(2000)) + "```\n", "markdown")
    assert len(found) > 5 and all(tokens(chunk.text) <= MOST_CODE + 20 for chunk in found)
    assert sum(chunk.text.count("echo") for chunk in found) == 2000


def test_small_sections_under_one_heading_are_one_piece() -> None:
    options = "\n".join(f"### --option-{n}\n\nDoes thing number {n}.\n" for n in range(5))
    found = pieces(f"# Tool\n\n## Options\n\n{options}", "markdown")
    assert len(found) == 1 and found[0].path == ("Options",)
    assert "--option-3:" in found[0].text and "Does thing number 4." in found[0].text


def pdf(*pages: str) -> bytes:
    """A PDF with a line of text for each line of each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for page in pages:
        lines = " ".join(f"({line}) Tj 0 -14 Td" for line in page.split("\n"))
        stream = f"BT /F1 12 Tf 50 700 Td {lines} ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R /Resources {font} >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    tail = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode() + tail.encode()


def test_pdf_by_pages_without_its_running_lines() -> None:
    words = ("queues", "modules", "storage", "accounts", "login", "billing")
    pages = [f"User guide of the cluster\nPage text about {word}.\n{n}" for n, word in enumerate(words, 1)]
    found = pieces(pdf(*pages), "pdf")
    assert [chunk.path for chunk in found][:2] == [("page 1",), ("page 2",)]
    assert "Page text about storage." in everything(found)
    assert "User guide of the cluster" not in everything(found)


def test_pdf_with_a_password_is_one_line() -> None:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("Secret text"))))
    writer.encrypt("word", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    with pytest.raises(UnreadableError, match="password"):
        read(out.getvalue(), "pdf", "x.pdf")


@pytest.mark.parametrize(
    ("data", "form", "says"),
    [
        (b"%PDF-1.4 broken", "pdf", "no PDF"),
        (pdf(""), "pdf", "pictures"),
        (b"\x00\x01binary", "text", "binary"),
        (b"x" * 20_000_001, "markdown", "too large"),
        (b"# Only a heading", "markdown", "no text"),
        (b"", "html", "no text"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, form: str, says: str) -> None:
    with pytest.raises(UnreadableError, match=says):
        read(data, form, "x")


def test_a_table_of_contents_is_no_fault() -> None:
    with pytest.raises(NoTextError):
        read(b"Title\n=====\n\n.. toctree::\n\n   a\n   b\n", "restructured", "index.rst")


def test_other_encodings() -> None:
    assert "Größe" in everything(pieces("# T\n\nDie Größe zählt.".encode("latin-1"), "markdown"))
    assert "Größe" in everything(pieces("# T\n\nDie Größe zählt.".encode("utf-16"), "markdown"))
    assert form_of("A.MD") == "markdown" and form_of("x.tar") == ""


@pytest.mark.parametrize("form", ["markdown", "restructured", "html", "text"])
@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from("ab :`*_|#-=.\n\t<>!'\"{}[]()0123\u00e9"), max_size=300))
def test_no_text_breaks_a_reader(form: str, text: str) -> None:
    try:
        found = pieces(text, form)
    except UnreadableError:
        return
    assert all(chunk.text.strip() for chunk in found)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_deep_nesting_is_read(form: str) -> None:
    text = "> " * 3000 + "deep words" if form == "markdown" else "<div>" * 3000 + "deep words" + "</div>" * 3000
    try:
        assert "deep words" in everything(pieces(text, form))
    except UnreadableError as error:
        assert "no text" in str(error)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_what_the_parser_of_html_refuses_is_text(form: str) -> None:
    text = "<table><tr><td>before</td></tr></table>\n<p>a <![CDAT[ b</p>\n\nafter"
    assert all(word in everything(pieces(text.encode(), form)) for word in ("before", "after"))


MANY = 200_000
NAMES = "abcdefgh", "bcdefghi"
REPEATS = "\n".join(f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in zip(*NAMES, strict=True))
TRAPS = {
    "comments": "<!--" * MANY,
    "an attribute": "{" + " " * MANY,
    "empty lines": "\n" * MANY + "x",
    "a box": "!!! " + "a" * MANY + '"x"y',
    "a fence of colons": ":::" + " " * MANY + "{",
    "front matter in lists": "---\na: " + "[" * 20_000 + "\n---\nwords here",
    "front matter that repeats itself": f"---\na: &a [x, x]\n{REPEATS}\ntitle: *i\ndate: *i\n---\nwords here",
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_text_made_to_cost_hours_costs_none(trap: str) -> None:
    """A pattern that goes back over its text, or a fact that is written out, would not end here."""
    try:
        page = read(TRAPS[trap].encode(), "markdown", "trap.md")
    except NoTextError:
        return
    assert len(page.title) <= 300


def test_roles_without_end() -> None:
    assert read((":a" * MANY + " words").encode(), "restructured", "trap.rst").blocks


@pytest.mark.parametrize("form", ["markdown", "restructured", "html", "text"])
def test_a_terminal_obeys_nothing_of_what_was_read(form: str) -> None:
    heading = {"html": "<h1>{}</h1><p>{}</p>", "markdown": "# {}\n\n{}"}.get(form, "{}\n==============\n\n{}")
    said = "safe\x1b]0;words\x07\x9b2Jhere\u202eright"
    page = read(heading.format(said, said).encode(), form, "x")
    shown = page.title + "".join(block.text for block in page.blocks)
    assert "safe" in shown and shown.replace("\n", "").isprintable()


def test_the_same_piece_counts_once_in_a_page() -> None:
    text = "# A\n\n## B\n\nLoad the module.\n\n# A\n\n## B\n\nLoad the module.\n\n## C\n\nLoad the module.\n"
    made = chunks(read(text.encode(), "markdown", "x"))
    assert len(made) == len(set(made))


@pytest.mark.broke("nested HTML")
@pytest.mark.parametrize("piece", ["[", "| a | b |\n|---|---|\n", "====\n\n", "[x](", "- a\n", "a_"])
def test_a_long_page_of_marks_is_read_by_its_words(piece: str) -> None:
    """As Markdown, a megabyte of it would take ten seconds."""
    marks = piece * (60_000 // len(piece))
    assert is_noise(marks) and not is_noise("a line | of words\n" * 10_000) and not is_noise(piece)
    page = read(f"# Queues\n\nThe debug queue takes 30 minutes.\n\n{marks}".encode(), "markdown", "a.md")
    assert page.blocks[1].text == "The debug queue takes 30 minutes."
