"""Paths that people name: plain files are read, to a limit; nothing waits, and nothing is read without end."""

from __future__ import annotations

import ast
import gzip
import os
import re
from pathlib import Path

import pytest

from assistant.cli import main
from knowledge.opening import NotPlainFileError, TooLargeError, measure_unpacked, open_plain, read_plain

ROOT = Path(__file__).parent.parent.parent
# Who opens paths without open_plain, and why that is right: no person, message or fetched folder names them.
OWN = {
    "assistant/models/loading.py": "the kernel's own /proc/meminfo and /sys/fs/cgroup",
    "assistant/commands/report.py": "a key in our data folder, which we made",
    "assistant/tui/work/child.py": "/dev/null",
    "knowledge/building.py": "an index that we built, copied beside itself",
    "knowledge/kept.py": "a cache of ours; its owner is looked at before it is read",
    "knowledge/embedding.py": "weights in an installed package, and a note in our cache folder",
    "knowledge/minilm/": "the same weights",
    "knowledge/public.py": "our own data files",
    "knowledge/opening.py": "this is the opener",
    "knowledge/signatures/loader.py": "a cache of ours, named by a digest",
    "graph/reading/": "weights that ship, and a checkout's training sentences",
    "templates/bytecode.py": "a cache of ours; its owner is looked at before it is read",
    "graph/verification/": "inside of the jail, and what the jail's folder holds",
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


OPENERS = {
    "open",
    "io.open",
    "os.open",
    "codecs.open",
    "gzip.open",
    "bz2.open",
    "lzma.open",
    "np.load",
    "np.memmap",
} | {
    *(
        "tarfile.open",
        "zipfile.ZipFile",
        "shutil.copy",
        "shutil.copy2",
        "shutil.copyfile",
        "shutil.copytree",
        "mmap.mmap",
    )
}


def opens(tree: ast.AST) -> list[str]:
    """The calls that open a path other than one beside the code (a CONSTANT, or made from __file__)."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        reads, path = ast.unparse(node.func) in OPENERS, ast.unparse(node.args[0]) if node.args else ""
        if isinstance(node.func, ast.Attribute) and not reads:
            modes = {a.value for a in node.args if isinstance(a, ast.Constant)}
            reads = node.func.attr in ("read_text", "read_bytes") or (
                node.func.attr == "open"
                and bool(modes & {"r", "rb"} or (not node.args and not node.keywords and "path" in path.lower()))
            )
            path = ast.unparse(node.func.value)
        if reads and "__file__" not in path and not re.search(r"\b[A-Z_]{4,}\b", path):
            found.append(f"{node.lineno}: {ast.unparse(node)[:80]}")
    return found


@pytest.mark.broke("openers")
def test_nothing_else_opens_a_path_that_a_person_may_have_named() -> None:
    """graph/, assistant/ and the rest read paths by open_plain and read_plain alone."""
    found, used = {}, set()
    for package in ("assistant", "graph", "knowledge", "templates"):
        for path in (ROOT / package).rglob("*.py"):
            name = str(path.relative_to(ROOT))
            if calls := opens(ast.parse(path.read_text())):
                own = next((place for place in OWN if name.startswith(place)), "")
                used.add(own)
                if not own:
                    found[name] = calls
    assert found == {}
    assert used - {""} == set(OWN), "no longer needed"


def test_the_opener_of_the_tree_is_seen() -> None:
    assert (
        opens(ast.parse("open(name)")) and opens(ast.parse("Path(x).read_text()")) and opens(ast.parse("gzip.open(p)"))
    )
    assert not opens(ast.parse("open_plain(name); HERE.read_text(); path.open('w')"))


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
