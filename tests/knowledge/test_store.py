"""The index on disk and the search over it, with the real Chroma and the real MiniLM."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from knowledge import building, generations, rows
from knowledge.embedding import Embedder
from knowledge.errors import UnavailableError
from knowledge.generations import ForeignIndexError, Generations
from knowledge.minilm import shipped as shipped_vectors
from knowledge.retrieval import Entry, Index, fuse
from knowledge.store import ChromaServer, open_folder
from knowledge.words import tokens

TEXTS = (
    "Slurm batch script, torchrun on every node, data parallel training",
    "PBS job for a machine with Intel graphics cards, mpiexec starts every rank",
    "Sharding parameters, gradients and optimizer state to fit a large model in memory",
    "The option --gres=gpu:4 is rejected by the submit filter",
    "A recipe for tomato soup with basil",
)
ENTRIES = tuple(Entry(f"e{number}", text, {"kind": "test"}) for number, text in enumerate(TEXTS))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = Index("test", folder=tmp_path)
    yield made
    made.refresh(())


def best(index: Index, words: str, among: list[int] | None = None) -> str:
    return ENTRIES[index.search(words, 3, among)[0].position].id


def folders(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "test").iterdir() if path.is_dir())


def test_finds_by_meaning_where_no_word_is_shared(index: Index) -> None:
    index.refresh(ENTRIES)
    assert best(index, "cooking vegetables") == "e4"
    assert best(index, "submission denied") == "e3"
    assert index.notices == []


@pytest.mark.parametrize("refuses", [True, False], ids=["an older SQLite", "not installed"])
def test_without_chroma_words_alone_and_it_says_so(
    index: Index, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, refuses: bool
) -> None:
    (tmp_path / "stand-in").mkdir()
    (tmp_path / "stand-in" / "chromadb.py").write_text("raise RuntimeError('\\033[91mno')" if refuses else "import nil")
    monkeypatch.syspath_prepend(tmp_path / "stand-in")
    for name in [name for name in sys.modules if name.partition(".")[0] == "chromadb"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(Embedder, "embed", lambda *_: pytest.fail("minutes were spent on vectors"))
    index.refresh(ENTRIES)
    assert best(index, "--gres=gpu:4") == "e3"
    (notice,) = index.notices
    assert notice.startswith("searching by words alone: Chroma ") and notice.isprintable()
    assert ("SQLite" in notice) is refuses


OPENS = """
import sys, pathlib
from knowledge.errors import UnavailableError
from knowledge.store import open_folder
try:
    vectors = open_folder(pathlib.Path(sys.argv[1]))
    print("opened", vectors._client.get_settings().chroma_otel_collection_endpoint)
except UnavailableError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("CHROMA_OTEL_COLLECTION_ENDPOINT=http://127.0.0.1:9", "opened \n"),
        ("CHROMA_SYSDB_IMPL=no.such.class", "opened \n"),
        (
            "CHROMA_SERVER_HTTP_PORT=abc",
            "Chroma cannot be loaded: its settings in the environment, or in the file .env",
        ),
    ],
)
def test_the_folder_one_works_in_sets_nothing(tmp_path: Path, line: str, says: str) -> None:
    """Chroma reads a file .env in the current folder, which may be a stranger's checkout."""
    (tmp_path / ".env").write_text(line)
    path = {"PYTHONPATH": str(Path(building.__file__).parent.parent)}
    command = [sys.executable, "-c", OPENS, str(tmp_path / "vectors")]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | path, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith(says), done.stderr


def test_finds_flags_to_the_letter(index: Index) -> None:
    index.refresh(ENTRIES)
    assert best(index, "--gres=gpu:4") == "e3"


def test_among_leaves_out_everything_else(index: Index) -> None:
    index.refresh(ENTRIES)
    assert {hit.position for hit in index.search("cooking vegetables", 5, [0, 3])} == {0, 3}
    assert index.search("cooking vegetables", 5, []) == []


def test_a_pasted_log_as_words_is_cut(index: Index) -> None:
    index.refresh(ENTRIES)
    assert best(index, "tomato " * 1_500_000) == "e4"


def test_empty_words_and_empty_index(index: Index) -> None:
    assert index.search("anything") == []
    index.refresh(ENTRIES)
    assert index.search("  ") == []
    index.refresh(())
    assert index.search("anything") == []


def test_a_second_start_builds_nothing(tmp_path: Path, index: Index) -> None:
    index.refresh(ENTRIES)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("keys.json")}
    again = Index("test", folder=tmp_path)
    again.refresh(tuple(ENTRIES))
    assert best(again, "cooking vegetables") == "e4"
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("keys.json")} == before


class Counting:
    """The real model, and how many texts it was given."""

    def __init__(self, model: Embedder) -> None:
        self.model, self.texts = model, 0

    def embed(self, texts: list[str]):  # type: ignore[no-untyped-def]
        self.texts += len(texts)
        return self.model.embed(texts)


def test_a_change_embeds_only_what_is_new(tmp_path: Path) -> None:
    from knowledge.embedding import embedder

    model = Counting(embedder())
    index = Index("test", folder=tmp_path, embedder=lambda: model)  # type: ignore[arg-type,return-value]
    index.refresh(ENTRIES)
    assert model.texts == len(ENTRIES)
    changed = (*ENTRIES[:4], Entry("e4", "A recipe for pumpkin soup"), Entry("e5", "Bake bread at 230 degrees"))
    index.refresh(changed)
    assert model.texts == len(ENTRIES) + 2
    assert [changed[hit.position].id for hit in index.search("oven loaf", 1)] == ["e5"]
    newest = max((tmp_path / "test").glob("*/chroma"), key=lambda path: path.stat().st_ctime_ns)
    assert open_folder(newest).missing([ENTRIES[4].key]) == [ENTRIES[4].key], "the old text's vector is gone"


def test_an_outlier_among_near_duplicates_is_found(index: Index) -> None:
    alike = tuple(Entry(f"a{n}", f"machine {n}: torchrun with {n % 7} tasks on every node") for n in range(300))
    entries = (*alike, Entry("odd", "weather forecasting"))
    index.refresh(entries)
    assert entries[index.search("meteorology", 1)[0].position].id == "odd"


def test_a_sketch_of_many_rows_finds_what_the_whole_rows_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "SKETCHED", 1000)
    monkeypatch.setattr(rows, "FIRST", 300)
    chance, shipped = np.random.default_rng(1), np.stack([*shipped_vectors.read().values()])
    many = shipped[chance.integers(0, len(shipped), 6000)] + chance.normal(0, 0.03, (6000, 384)).astype(np.float32)
    many /= np.linalg.norm(many, axis=1, keepdims=True)
    rows.write_sketch(tmp_path, many)
    sketch = rows.open_sketch(tmp_path, 6000)
    assert sketch is not None and sketch.short.shape == (6000, rows.SHORT)
    some = np.flatnonzero(chance.random(6000) < 0.5)
    for question in shipped[:40]:
        for among in (None, some, some[:50]):
            assert rows.nearest(many, sketch, among, question, 20) == rows.nearest(many, None, among, question, 20)


def test_few_rows_have_no_sketch(tmp_path: Path) -> None:
    rows.write_sketch(tmp_path, np.ones((10, 384), dtype=np.float32))
    assert rows.open_sketch(tmp_path, 10) is None and not list(tmp_path.iterdir())


def test_a_large_index_goes_by_its_sketch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "SKETCHED", 2)
    monkeypatch.setattr(rows, "FIRST", 3)
    index = Index("test", folder=tmp_path)
    index.refresh(ENTRIES)
    assert list(tmp_path.rglob(rows.SKETCH))
    assert best(index, "cooking vegetables") == "e4"
    assert {hit.position for hit in index.search("cooking vegetables", 5, [0, 3])} == {0, 3}
    for path in tmp_path.rglob(rows.SKETCH):
        path.write_bytes(b"damaged")
    again = Index("test", folder=tmp_path)
    again.refresh(ENTRIES)
    assert best(again, "cooking vegetables") == "e4" and "set aside" in " ".join(again.notices)


def test_progress_is_told(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(building, "STEP", 2)
    index.progress = lambda done, total: told.append((done, total))
    index.refresh(ENTRIES)
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_old_generations_are_removed(tmp_path: Path, index: Index) -> None:
    for size in range(1, 6):
        index.refresh(ENTRIES[:size])
    assert len(folders(tmp_path)) == generations.KEPT


@pytest.mark.parametrize("damage", ["rows.npy", "index.npy", "keys.json", generations.MARKER])
def test_a_damaged_index_is_built_again(tmp_path: Path, damage: str) -> None:
    first = Index("test", folder=tmp_path)
    first.refresh(ENTRIES)
    first.refresh(())
    for path in tmp_path.rglob(f"*{damage}"):
        path.write_bytes(b"damaged" * 500)
    second = Index("test", folder=tmp_path)
    second.refresh(ENTRIES)
    assert best(second, "cooking vegetables") == "e4"
    if damage in ("rows.npy", "index.npy"):
        assert "set aside" in " ".join(second.notices)
        assert any(name.startswith(".set-aside-") for name in folders(tmp_path))


def test_a_damaged_collection_is_set_aside_at_the_next_change(tmp_path: Path) -> None:
    first = Index("test", folder=tmp_path)
    first.refresh(ENTRIES[:4])
    first.refresh(())
    for path in tmp_path.rglob("chroma.sqlite3"):
        path.write_bytes(b"x" * 100)
    second = Index("test", folder=tmp_path)
    second.refresh(ENTRIES)
    assert best(second, "cooking vegetables") == "e4"
    assert "set aside" in " ".join(second.notices)


def test_a_failed_build_leaves_the_last_one_in_place(tmp_path: Path, index: Index) -> None:
    index.refresh(ENTRIES)
    kept = folders(tmp_path)

    def fail(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise RuntimeError("killed")

    place = Generations(tmp_path / "test")
    with place.locked(), pytest.raises(RuntimeError):
        place.build("other", "", fail)
    assert folders(tmp_path) == kept


def test_an_interrupted_build_is_tried_again(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(building, "write_sketch", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            index.refresh(ENTRIES)
    index.refresh(ENTRIES)
    assert best(index, "cooking vegetables") == "e4"


def test_left_overs_of_a_killed_build_are_removed(tmp_path: Path, index: Index) -> None:
    left = tmp_path / "test" / ".building-1"
    left.mkdir(parents=True)
    index.refresh(ENTRIES)
    assert not left.exists()


def test_an_index_that_others_may_write_is_not_opened(tmp_path: Path, index: Index) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test").chmod(0o777)
    with pytest.raises(ForeignIndexError, match="chmod"), Generations(tmp_path / "test").locked():
        pass
    index.refresh(ENTRIES)
    assert best(index, "tomato") == "e4"
    assert "chmod" in " ".join(index.notices)


def no_weights() -> Embedder:
    raise UnavailableError("the weights are not installed")


def test_without_weights_words_alone_and_it_says_so(tmp_path: Path) -> None:
    index = Index("test", folder=tmp_path, embedder=no_weights)
    index.refresh(ENTRIES)
    assert best(index, "tomato") == "e4"
    assert index.search("cooking vegetables") == []
    assert index.notices == ["searching by words alone: the weights are not installed"]
    assert not list(tmp_path.rglob("chroma.sqlite3"))


def test_a_damaged_chroma_is_seen_when_the_next_index_is_made_from_it(tmp_path: Path) -> None:
    first = Index("test", folder=tmp_path)
    first.refresh(ENTRIES[:4])
    first.refresh(())
    for path in tmp_path.rglob("chroma.sqlite3"):
        path.write_bytes(b"damaged" * 500)
    second = Index("test", folder=tmp_path)
    second.refresh(ENTRIES)
    assert best(second, "cooking vegetables") == "e4"
    assert "set aside" in " ".join(second.notices)


def test_a_small_index_that_is_there_needs_no_chroma(tmp_path: Path) -> None:
    Index("test", folder=tmp_path).refresh(ENTRIES)
    command = [sys.executable, "-c", f"{SEARCH}\nprint('chromadb' in sys.modules)", str(tmp_path), json.dumps(TEXTS)]
    root = Path(__file__).parent.parent.parent
    facts = tuple(Entry(f"e{n}", text) for n, text in enumerate(TEXTS))
    Index("test", folder=tmp_path).refresh(facts)
    told = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=True).stdout
    assert told.split() == ["4", "[]", "False"]


def test_candidates_say_what_each_ranking_says(index: Index) -> None:
    index.refresh(ENTRIES)
    found = {one.position: one for one in index.candidates("tomato sauce")}
    assert found[4].words > 0
    assert found[4].cosine is not None
    assert found[4].cosine > max(one.cosine or 0 for at, one in found.items() if at != 4)
    assert all(one.words == 0 for at, one in found.items() if at != 4)


def test_a_server_that_does_not_answer_costs_the_meaning_only(tmp_path: Path) -> None:
    index = Index("test", folder=tmp_path, server=ChromaServer("127.0.0.1", 9))
    index.refresh(ENTRIES)
    assert best(index, "tomato") == "e4"
    assert "127.0.0.1:9" in index.notices[0]
    assert "\n" not in index.notices[0]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChromaServer]:
    """A real Chroma server on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = str(Path(sys.executable).with_name("chroma"))
    command = [program, "run", "--path", str(tmp_path / "served"), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(300):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield ChromaServer("127.0.0.1", port)
        finally:
            process.kill()


def test_a_server_holds_the_vectors_and_readers_of_other_data_share_it(tmp_path: Path, server: ChromaServer) -> None:
    first = Index("test", folder=tmp_path / "one", server=server)
    second = Index("test", folder=tmp_path / "two", server=server)
    first.refresh(ENTRIES)
    second.refresh(ENTRIES[:4])
    assert best(first, "cooking vegetables") == "e4"
    assert {hit.position for hit in second.search("cooking vegetables", 9)} <= {0, 1, 2, 3}
    assert first.notices == second.notices == []
    assert not list(tmp_path.glob("one/**/chroma.sqlite3"))


def test_a_folder_that_cannot_be_made_costs_nothing_but_time(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    index = Index("test", folder=blocked)
    index.refresh(ENTRIES)
    assert best(index, "tomato") == "e4"
    assert index.notices


SEARCH = """
import json, sys
from pathlib import Path
from knowledge.retrieval import Entry, Index
index = Index("test", folder=Path(sys.argv[1]))
index.refresh(tuple(Entry(f"e{n}", text) for n, text in enumerate(json.loads(sys.argv[2]))))
print(index.search("cooking vegetables", 1)[0].position, index.notices)
"""


def test_processes_at_once_build_one_index(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SEARCH, str(tmp_path), json.dumps(TEXTS)]
    root = Path(__file__).parent.parent.parent
    started = [subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=120)[0].strip() for process in started] == ["4 []"] * 3
    assert len(folders(tmp_path)) == 1


def test_a_generation_that_was_pruned_meanwhile_is_built_again(tmp_path: Path, index: Index) -> None:
    index.refresh(ENTRIES)
    shutil.rmtree(tmp_path / "test")
    again = Index("test", folder=tmp_path)
    again.refresh(ENTRIES)
    assert best(again, "cooking vegetables") == "e4"


def test_index_folder_is_private(tmp_path: Path, index: Index) -> None:
    index.refresh(ENTRIES)
    assert (tmp_path / "test").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("text", ["it is this", "!!!", ""])
def test_texts_without_a_telling_word_are_borne(index: Index, text: str) -> None:
    index.refresh((Entry("a", text), Entry("b", text)))
    assert index.by_words("this it is") == [] and index.by_words("torchrun") == []
    index.refresh((*ENTRIES, Entry("a", text)))
    assert best(index, "--gres=gpu:4") == "e3"


def test_tokens_keep_flags_and_take_names_apart() -> None:
    assert tokens("ZeRO-3 NCCL_IB_HCA") == [
        *("zero-3", "zero", "3", "zero3"),
        *("nccl_ib_hca", "nccl", "ib", "hca", "ncclibhca"),
    ]


def test_fusion_prefers_what_both_rankings_like() -> None:
    hits = fuse([[1, 2, 3], [2, 4, 1]], 4)
    assert [hit.position for hit in hits] == [2, 1, 4, 3]
    assert fuse([[7], [7]], 1)[0].score == 1.0
    assert fuse([], 3) == []
