"""Paths that people name: plain files are read, to a limit; nothing waits, and nothing is read without end."""

from __future__ import annotations

import ast
import contextlib
import gzip
import os
import sys
from pathlib import Path
from types import FrameType

import pytest

from assistant.cli import main
from graph.answering.log import rows
from graph.reading.message import read_head
from knowledge.opening import NotPlainFileError, TooLargeError, measure_unpacked, open_plain, read_plain
from knowledge.types import Attachment, Paste
from tests.openers import opens

ROOT = Path(__file__).parent.parent.parent
# Who opens paths without open_plain, and why that is right: no person, message or fetched folder names them.
DATABASE, SHIPPED = "a database of ours, which SQLite opens", "weights that ship, or in an installed package"
MADE, METHOD = "a cache or an index that we made ourselves", "a method of ours, no file"
OPEN = "a file that is open already, or bytes in memory"
OWN = {
    "assistant/cli.py::open_missing_streams": "/dev/null",
    "assistant/commands/report.py::pseudonym_key": "a key in our data folder, which we made",
    "assistant/health.py::": DATABASE,
    "assistant/slack/database.py::_connect": DATABASE,
    "assistant/storage/sqlite.py::_connected": DATABASE,
    "assistant/tui/actions/": METHOD,
    "assistant/tui/screens/chat.py::action_log": METHOD,
    "assistant/tui/widgets/log_pane.py::": METHOD,
    "assistant/tui/work/child.py::pipes": "/dev/null, and our own pipes",
    "graph/checkpoints.py::__init__": DATABASE,
    "graph/answering/logistic.py::read_weights": SHIPPED,
    "graph/debugging/log.py::_read": OPEN,
    "graph/reading/classifier.py::load_model": SHIPPED,
    "knowledge/meaning.py::meaning_model": SHIPPED,
    "graph/reading/train.py::read_file": "a checkout's training sentences",
    "graph/reading/wishes/corpus.py::": "a checkout's training sentences",
    "graph/reading/wishes/tagger.py::": SHIPPED,
    "graph/reporting/kept.py::__init__": DATABASE,
    "graph/verification/simulator/": "inside of the jail, and what the jail's folder holds",
    "knowledge/building.py::make": MADE,
    "knowledge/documents.py::_open": DATABASE,
    "knowledge/embedding.py::": SHIPPED,
    "knowledge/ingest/pdf.py::read_pdf": OPEN,
    "knowledge/kept.py::kept": f"{MADE}; its owner is looked at before it is read",
    "knowledge/minilm/": SHIPPED,
    "knowledge/opening.py::open_plain": "this is the opener",
    "knowledge/public.py::": "our own data files",
    "knowledge/rows.py::": MADE,
    "knowledge/signatures/loader.py::_from_cache": f"{MADE}, named by a digest",
    "knowledge/building.py::rows": MADE,
    "templates/bytecode.py::load_bytecode": f"{MADE}; its owner is looked at before it is read",
    "templates/render.py::": "the templates' own folder",
}


@pytest.mark.parametrize("path", ["/dev/zero", "/proc/kmsg", "/proc/self/environ", "/", "fifo", "link to /dev/zero"])
@pytest.mark.broke("endless paths")
def test_what_is_no_plain_file_is_refused_at_once(path: str, tmp_path: Path) -> None:
    if path == "fifo":
        os.mkfifo(tmp_path / "fifo")
        path = str(tmp_path / "fifo")
    if path.startswith("link"):
        (tmp_path / "mkdocs.yml").symlink_to("/dev/zero")
        path = str(tmp_path / "mkdocs.yml")
    with pytest.raises(OSError) as caught:
        open_plain(path)
    assert isinstance(caught.value, NotPlainFileError | PermissionError)


def test_a_file_is_read_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_plain(tmp_path / "a", 5) == b"12345"
    with pytest.raises(TooLargeError):
        read_plain(tmp_path / "a", 4)


def test_a_link_is_followed_only_where_it_may_be(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").symlink_to("a")
    assert read_plain(tmp_path / "b", 9) == b"1"
    with pytest.raises(OSError):
        read_plain(tmp_path / "b", 9, follow=False)


def test_a_name_with_a_nul_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        open_plain("a\0b")


def test_packed_text_counts_unpacked_and_only_to_the_limit(tmp_path: Path) -> None:
    bomb = tmp_path / "log.gz"
    bomb.write_bytes(gzip.compress(b"\0" * 50_000_000))
    assert bomb.stat().st_size < 100_000
    assert 5_000_000 < measure_unpacked(bomb, 5_000_000) < 8_000_000
    assert measure_unpacked(bomb, 60_000_000) == 50_000_000
    bomb.write_bytes(bomb.read_bytes()[:20_000])
    assert 0 < measure_unpacked(bomb, 60_000_000) < 50_000_000


@pytest.mark.broke("openers")
def test_nothing_else_opens_a_path_that_a_person_may_have_named() -> None:
    """graph/, assistant/ and the rest read paths by open_plain and read_plain alone."""
    found, used = [], set()
    for package in ("assistant", "graph", "knowledge", "templates"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for function, source in opens(ast.parse(path.read_text())):
                place = f"{path.relative_to(ROOT)}::{function}"
                own = next((one for one in OWN if place.startswith(one)), None)
                used.add(own)
                found += [] if own else [f"{place}: {source}"]
    assert found == []
    assert used - {None} == set(OWN), "no longer needed"


SNEAKED = """
open(name) | io.open(name) | Path(name).open() | name.open("rt") | name.open(mode="r") | name.open("r+b")
name.read_text(encoding="utf-8") | Path.read_bytes(name) | pathlib.Path.read_text(name)
getattr(name, "read_text")() | operator.methodcaller("read_bytes")(name) | from io import open as view
import os as system | from os import open | map(open, names) | partial(open, name)
asyncio.to_thread(name.read_text) | os.fdopen(os.open(name, 0)) | os.popen(name) | gzip.open(name)
gzip.GzipFile(name) | bz2.BZ2File(name) | zipfile.ZipFile(name) | tarfile.open(name) | tarfile.TarFile(name)
np.load(name) | np.fromfile(name) | np.loadtxt(name) | np.memmap(name) | sqlite3.connect(name)
yaml.safe_load(name.open()) | tokenize.open(name) | linecache.getlines(name) | fileinput.input(name)
configparser.ConfigParser().read(name) | runpy.run_path(name) | shutil.copy(name, other)
shutil.copytree(name, other) | PdfReader(name) | lxml.etree.parse(name) | jinja2.FileSystemLoader(name)
open(SCRIPT_NAMED_BY_THEM) | NAMED.read_text() | open_code(name) | open(name, "w+")
"""


@pytest.mark.parametrize("source", [one.strip() for line in SNEAKED.strip().splitlines() for one in line.split("|")])
@pytest.mark.broke("openers")
def test_no_way_to_open_a_path_goes_unseen(source: str) -> None:
    assert opens(ast.parse(f"async def read(name):\n    {source}"))


@pytest.mark.parametrize(
    "source",
    [
        *("open_plain(name)", "read_plain(name, 5)", "name.open('w')", "gzip.GzipFile(fileobj=file)", "piece.open"),
        *("HERE = Path(__file__).parent\nHERE.joinpath('a').read_text()", "Path('/proc/meminfo').read_text()"),
    ],
)
def test_what_came_with_the_code_and_what_is_written_may_be_opened(source: str) -> None:
    assert opens(ast.parse(source)) == []


@pytest.mark.broke("endless paths")
def test_no_link_leads_out_of_the_folder_also_not_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "a.md").write_bytes(b"1")
    (tmp_path / "docs/b.md").write_bytes(b"2")
    (tmp_path / "docs/out").symlink_to(tmp_path)
    (tmp_path / "docs/in.md").symlink_to("b.md")
    inside = (tmp_path / "docs").resolve()
    with pytest.raises(OSError, match="leads out of the folder"):
        open_plain(inside / "out/a.md", inside=inside)
    open_plain(inside / "in.md", inside=inside).close()


COMMANDS = (
    ("why", "{}"),
    ("why", "--script", "{}", "/dev/null"),
    ("why", "--jsonl", "{}"),
    ("check", "{}", "--machine", "perlmutter"),
    ("script", "--from", "{}", "--machine", "polaris"),
    ("extract", "--script", "{}"),
    ("rehearse", "{}", "--machine", "perlmutter"),
    ("pending", "{}"),
    ("watch", "{}"),
    ("ask", "--attach", "{}", "hello"),
    ("knowledge", "add", "{}"),
    ("signatures", "check", "{}"),
    ("templates", "add", "{}", "--machine", "polaris", "--framework", "pytorch", "--strategy", "ddp"),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
@pytest.mark.broke("endless paths")
def test_no_command_waits_for_what_has_no_end(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The real commands, told to read a pipe, a device and the kernel's log: exit 2, and one line that names it."""
    monkeypatch.setenv("MAPLE_CHAT_DATA", str(tmp_path / "data"))
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name in (str(tmp_path / "fifo"), str(tmp_path / "link"), "/dev/zero", "/proc/kmsg"):
        assert main([word.format(name) for word in words]) == 2
        said = capsys.readouterr().err.strip()
        assert "\n" not in said and Path(name).name in said, said


@pytest.mark.broke("openers")
def test_an_attachment_that_became_something_else_is_read_no_more(tmp_path: Path) -> None:
    """It was a plain file when it was given, and its path is opened again at each later turn."""
    (tmp_path / "a.log").symlink_to("/proc/self/environ")
    assert read_head(Attachment("a.log", str(tmp_path / "a.log"), 1)) == ""
    assert list(rows(Paste("a.log", "", str(tmp_path / "a.log")))) == []


OPENED: list[tuple[str, bool]] = []
"""While it is watched: each path that Python opens for reading, and whether the opener did."""
WATCHED: list[str] = []


def look_at(event: str, given: tuple[object, ...]) -> None:
    if event != "open" or not WATCHED or given[0] != WATCHED[0]:
        return
    frame: FrameType | None = sys._getframe(1)
    files = []
    while frame:
        files.append(frame.f_code.co_filename)
        frame = frame.f_back
    OPENED.append((str(given[0]), any(file.endswith("knowledge/opening.py") for file in files)))


# `watch` would follow the file until it is told to stop.
@pytest.mark.parametrize("words", [one for one in COMMANDS if one[0] != "watch"], ids=lambda words: " ".join(words[:2]))
@pytest.mark.broke("openers")
def test_each_command_opens_a_file_by_the_opener(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Python itself sees it, whatever library asked for the file."""
    if not OPENED and not WATCHED:
        sys.addaudithook(look_at)
    monkeypatch.setenv("MAPLE_CHAT_DATA", str(tmp_path / "data"))
    given = tmp_path / "given.md"
    given.write_text("#!/bin/bash\n#SBATCH --nodes=2\nsrun python train.py\n")
    OPENED.clear()
    WATCHED[:] = [str(given)]
    with contextlib.suppress(SystemExit):
        main([word.format(given) for word in words])
    WATCHED.clear()
    assert OPENED and all(by_opener for _, by_opener in OPENED)
