"""Tickets: columns found by name, and nobody's name in the store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from knowledge.documents import Documents
from knowledge.errors import InputError
from knowledge.ingest.adding import AddingReport
from knowledge.ingest.persons import common
from knowledge.ingest.tickets import Export, sync
from knowledge.public import vocabulary

BODY = """Dear support team,

my name is Jane Doerfler, my job 4711 fails on node nid001234 with account m1234_g:

RuntimeError: NCCL error, unhandled system error
second line of the log

I run /home/jdoerfler/train.py with HF_TOKEN=hf_abcdefghijklmnopqrst.
Mail me at jane.doerfler@uni.example or call 0613139262300.

Best regards,
Jane Doerfler
Tel. 06131 39 26300
"""
ANSWER = "Hi Jane,\n\nplease ask Prof. Ludwig Miller, and set FI_CXI_RX_MATCH_MODE=hybrid.\n\nCheers,\nMax Mustermann\n"
PRIVATE = ("Jane", "Doerfler", "jdoerfler", "uni.example", "hf_abc", "26300", "0613139262300")
PRIVATE += ("Ludwig", "Miller", "Mustermann", "Kowalski", "Piotr")
FACTS = ("NCCL error, unhandled system error\nsecond line of the log", "FI_CXI_RX_MATCH_MODE=hybrid")


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return Documents(tmp_path / "documents.sqlite")


def write(path: Path, *rows: dict[str, object]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows))
        return path
    import csv

    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";" if "semi" in path.name else ",")
        writer.writeheader()
        writer.writerows(rows)
    return path


def row(number: int, **more: object) -> dict[str, object]:
    return {
        "Number": f"INC{number}",
        "Short_Description": "Job of Jane fails",
        "Description": BODY,
        "Close_Notes": ANSWER,
        "Requester": "Jane Doerfler",
        "Assigned_to": "Piotr Kowalski",
        "Updated": "2025-03-02 10:00:00",
        **more,
    }


@pytest.mark.parametrize("name", ["t.csv", "semi.csv", "t.jsonl"])
def test_nobody_is_named(documents: Documents, tmp_path: Path, name: str) -> None:
    report: AddingReport = sync(documents, Export(write(tmp_path / name, row(1, Description=BODY + "Thanks, Piotr."))))
    assert report.read == 1
    stored = "\n".join(f"{p.title}\n{p.text}\n{p.source}" for p in documents.passages())
    assert not [private for private in PRIVATE if private in stored]
    assert all(fact in stored for fact in FACTS)
    raw = documents.path.read_bytes()
    assert not [private for private in PRIVATE if private.encode() in raw]
    first = documents.passages()[0]
    assert (first.kind, first.date, first.path) == ("ticket", "2025-03-02", ("Answer",)) or first.path == ("Problem",)
    assert first.source == f"ticket INC1 ({name})"


def test_only_changes_are_read_and_what_is_gone_is_removed(documents: Documents, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", row(1), row(2), row(3))
    assert sync(documents, Export(path)).read == 3
    write(path, row(1), row(3, Close_Notes="Use the debug queue."))
    report = sync(documents, Export(path))
    assert (report.read, report.unchanged, report.removed) == (1, 1, 1)


def test_columns_by_hand_and_lists_of_comments(documents: Documents, tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", {"Betreff": "Queue", "Frage": "Which queue?", "Verlauf": [{"a": "Use debug."}]})
    with pytest.raises(InputError, match=r"--columns body=NAME.*Betreff"):
        sync(documents, Export(path))
    sync(documents, Export(path, {"title": "Betreff", "body": "frage", "answer": "Verlauf"}))
    assert [(p.title, p.path, p.text) for p in documents.passages()] == [
        ("Queue", ("Problem",), "Which queue?"),
        ("Queue", ("Answer",), "Use debug."),
    ]


@pytest.mark.parametrize(
    ("text", "columns", "says"),
    [
        ("", {}, "no ticket"),
        ("number,body\n", {}, "no ticket"),
        ("number,body\n1,x y\n", {"answer": "reply"}, "no column 'reply'"),
        ("number,body\n1,x y\n", {"nonsense": "body"}, "knows no 'nonsense'"),
    ],
)
def test_what_is_wrong_is_one_line(
    documents: Documents, tmp_path: Path, text: str, columns: dict[str, str], says: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        sync(documents, Export(path, columns))
    with pytest.raises(InputError, match="cannot read"):
        sync(documents, Export(tmp_path / "none.csv"))


def test_html_and_broken_json(documents: Documents, tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", {"id": 1, "body": "<p>It hangs.</p><p>Really.</p>", "machine": "Aurora"})
    sync(documents, Export(path))
    assert (documents.passages()[0].text, documents.passages()[0].machine) == ("It hangs.\n\nReally.", "aurora")
    path.write_text('{"id": 1}\n{broken')
    with pytest.raises(InputError, match="line 2"):
        sync(documents, Export(path))


def stored(documents: Documents, tmp_path: Path, **ticket: object) -> str:
    """All that is kept of one ticket."""
    sync(documents, Export(write(tmp_path / "one.jsonl", {"id": 1, **ticket})))
    return "\n".join(f"{p.title}\n{p.text}" for p in documents.passages())


@pytest.mark.parametrize(
    ("text", "private", "kept"),
    [
        ("It worked until Thomas Brandeis changed the module.", "Thomas Brandeis", "changed the module"),
        ("We asked Priya Venkataraghavan and she said so.", "Priya Venkataraghavan", "and she said so"),
        ("The run of Xiaoming Zhang and Łukasz Wiśniewski hangs.", "Xiaoming Zhang Łukasz Wiśniewski", "hangs"),
        ("I met Bocheng Qiu-Abe there,\nand Ninad\nPrabhukhan too.", "Bocheng Qiu Abe Ninad Prabhukhan", "there,"),
        ("My colleague Oyelaran Bamgbose has the same error.", "Oyelaran Bamgbose", "has the same error"),
        ("On Monday Quirin Zauner wrote: it hangs again", "Quirin Zauner", "it hangs again"),
        ("From: Zauner, Quirin\nThe queue is full", "Zauner Quirin", "The queue is full"),
        ("see the mail of Quirin Zauner (q.zauner@uni.example) on it", "Quirin Zauner uni.example", "on it"),
    ],
)
def test_names_in_sentences(documents: Documents, tmp_path: Path, text: str, private: str, kept: str) -> None:
    found = stored(documents, tmp_path, body=text)
    assert not [name for name in private.split() if name in found] and kept in found


@pytest.mark.parametrize(
    "text",
    [
        "Grace Hopper nodes hang, Ada and Max cards work; Julia and Ray too.",
        "PyTorch Lightning under Slurm: Adam with NCCL on Perlmutter and Frontier in March",
        "The student account of the project ended. Our engineer said Slurm wrote: Invalid Account",
        "We use Red Hat, Oak Ridge and Quantum Espresso in New York on Fri Nov 20, and Visual Studio Code.",
        "Monte Carlo and Lennard-Jones on Jean Zay, Sophia and Graham; EPYC Milan. Das ist alles.",
        "Intel MPI, Open MPI and Cray MPICH; ask the Help Desk. Use LOCAL_RANK. Der Job steht.",
    ],
)
def test_what_is_no_person_stays(documents: Documents, tmp_path: Path, text: str) -> None:
    assert text in stored(documents, tmp_path, body=text)


def test_names_of_all_alphabets_and_forms(documents: Documents, tmp_path: Path) -> None:
    """Names that a column tells: with an accent first, with an apostrophe, of two letters."""
    text = "Özgür and OZGUR ask; Ødegård, O'Hanlon's run, Ng and Wu too. No, go on."
    found = stored(documents, tmp_path, body=text, requester="Özgür Ødegård", owner="O'Hanlon Ng", agent="Wu")
    assert not [name for name in ("Özgür", "Ødegård", "Hanlon", "Ng", "Wu") if name in found]
    assert "run" in found and "No, go on." in found


def test_markup_hides_no_name_and_swallows_no_placeholder(documents: Documents, tmp_path: Path) -> None:
    body = "<p>Dear&nbsp;M&uuml;<b>ller</b>,</p><p>jane&#64;lab.example uses node <b>nid001234</b> there.</p>"
    found = stored(documents, tmp_path, body=body, answer="```\nsrun -w nid001234\n```\nnid001234 is <down>")
    assert not [private for private in ("ller", "jane", "lab.example") if private in found]
    assert found.count("nid001234") == 3 and "<PERSON_1>" in found


def test_what_one_part_tells_is_masked_in_all(documents: Documents, tmp_path: Path) -> None:
    found = stored(documents, tmp_path, title="jdoerf again", body="user=jdoerf fails", answer="jdoerf was added")
    assert "jdoerf" not in found and "was added" in found


def test_a_machine_is_called_as_the_catalogue_does(documents: Documents, tmp_path: Path) -> None:
    rows = [{"id": n, "body": "It hangs.", "cluster": name} for n, name in enumerate(("JUWELS Booster", "Our Box"))]
    sync(documents, Export(write(tmp_path / "t.jsonl", *rows)))
    assert [p.machine for p in documents.passages()] == ["juwels-booster", "our box"]


def test_a_line_of_json_may_hold_other_line_ends(documents: Documents, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"id": 1, "body": "one\u2028two\x85three"}, ensure_ascii=False), encoding="utf-8")
    assert sync(documents, Export(path)).read == 1


def test_common_names_are_no_public_words() -> None:
    """A name that is a word of the field would be masked everywhere, and could pass into a web search."""
    assert len(common()) > 1500
    assert not common() & vocabulary()
