"""Requests filled in as a form: rows of a key and a value, in whatever layout, said again as a sentence says them.

`nodes......: 4`, `N -> 16 ; t -> 7h`, `| GPUs/node | 4 |`, columns parted by tabs, a header with one row below it: each
row that forms.yaml has a field for becomes the field's own words (`4 nodes`); the readers of sentences do the rest.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from graph.extraction.sentences.lexicon import fold, lexicon, read_yaml

LONGEST = 2000  # characters; a longer text is a paste
FEWEST = 2  # rows that make a form
COLUMNS = 3  # of a header; two columns are rows of a key and a value
SHARE = 0.4  # of the lines of a form are rows that a field is known for
LONGEST_KEY = 30
# A key and its value: `: = -> =>`, a tab, or a row of dots before a colon.
JOINT = r"(?:[ ]*\.{2,}[ ]*:?|[ ]\.(?=[ ])|[ ]*(?:-+>|=>|\u2192|:(?!//)=?|=(?![=>])|\t))[ \t]*"
MARK = r"(?:[-*+>\u2022][ ]+|\(?\d{1,2}[.)][ ]+|\d{1,2}[ ]+-+[ ]+|\(?[a-z]\)[ ]+)?"
ROW = re.compile(
    rf"[ \t]*{MARK}(?P<key>[^\W\d_][^:=\t\n>]{{0,{LONGEST_KEY}}}?|#[ ]?\w{{1,8}}){JOINT}(?P<value>\S.*?)[ \t]*"
)
# Rows that stand in one line.
BESIDE = re.compile(rf"[ ]*;[ ]*|,[ ]+(?=[^\W\d_][\w /()-]{{0,{LONGEST_KEY}}}{JOINT}\S)|(?<=\S)[ ]+\|[ ]+(?=\S)")
NUMBERED = re.compile(r"[ \t]*\(?(\d{1,2})(?:[.)][ ]+|[ ]+-+[ ]+)")
RULER = re.compile(r"[ \t|:=+-]*-{2,}[ \t|:=+-]*")
# A pasted script, or a call in a program: no form.
CODE = re.compile(r"(?m)^[^\S\n]*(?:#!|#SBATCH|#PBS|#BSUB|#flux|export\s|module\s|srun\s)|\w\([^()\n]*=")
PARTED = ("\t", "|", ";", ",")


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = read_yaml("forms.yaml")
    return data


@cache
def _keys() -> Mapping[str, str]:
    return {key: field for field, entry in _data()["fields"].items() for key in entry["keys"]}


def _field(key: str) -> str | None:
    """The field that a key names."""
    plain = re.sub(r"[\s_.*#\"'`-]+", " ", fold(key)).strip()
    return _keys().get(plain) or _keys().get(re.sub(r"\s*/\s*", "/", plain))


def _said(key: str, value: str) -> str | None:
    """A row in the words of a sentence; None where the key is none of ours or the value has not its shape."""
    field = _field(key)
    if field is None:
        return None
    entry = _data()["fields"][field]
    match = re.fullmatch(_data()["values"][entry["value"]], value.strip(" *"))
    if match is None or (entry["value"] == "count" and not _counts(match["v"])):
        return None
    return str(entry["says"]).format(v=match["v"]) + match["rest"]


def _counts(word: str) -> bool:
    found = lexicon().match([fold(word)], [fold(word)], 0)
    return word.isdigit() or (found is not None and found[0].isdigit())


def spoken_form(text: str) -> str:
    """The text with the rows of a form as sentences say them; the text itself where it holds no form."""
    if len(text) > LONGEST or CODE.search(text):
        return text
    text = _without_numbers(text)
    lines = [line for line in text.split("\n") if not ("-" in line and RULER.fullmatch(line))]
    known, rows = _with_header(lines) or _row_by_row(lines)
    enough = known >= FEWEST and known >= SHARE * sum(bool(line.strip()) for line in lines)
    return "\n".join(rows) if enough else text


def _without_numbers(text: str) -> str:
    """The text without the numbers of a list: `1) FSDP`, `2 - 16 nodes` on lines of their own."""
    marks = [NUMBERED.match(line) for line in text.split("\n")]
    numbers = [int(mark[1]) for mark in marks if mark]
    if len(numbers) < FEWEST or numbers != list(range(numbers[0], numbers[0] + len(numbers))) or numbers[0] > 1:
        return text
    return "\n".join(line[mark.end() :] if mark else line for line, mark in zip(text.split("\n"), marks, strict=True))


def _row_by_row(lines: Sequence[str]) -> tuple[int, list[str]]:
    known, out = 0, []
    for line in lines:
        pieces = [_piece(piece) for piece in _pieces(line)]
        known += sum(ours for _, ours in pieces)
        out.append("; ".join(said for said, _ in pieces))
    return known, out


def _pieces(line: str) -> list[str]:
    cells = _cells(line, "|") if line.strip().startswith("|") else []
    return ["\t".join(cells)] if len(cells) == COLUMNS - 1 else BESIDE.split(line)


def _piece(piece: str) -> tuple[str, bool]:
    """One row in words, and whether a field is known for it; other rows as `key: value`."""
    row = ROW.fullmatch(piece)
    if row is None:
        return piece, False
    said = _said(row["key"], row["value"])
    return (said, True) if said else (piece.replace("\t", ": "), False)


def _cells(line: str, sign: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split(sign)]


def _with_header(lines: Sequence[str]) -> tuple[int, list[str]] | None:
    """A header whose cells are keys, with one row of values below it."""
    filled = [(i, line) for i, line in enumerate(lines) if line.strip()]
    for (at, header), (below, values) in itertools.pairwise(filled):
        for keys, cells in _columns(header, values):
            ours = [_said(key, cell) for key, cell in zip(keys, cells, strict=True)]
            if len(keys) >= COLUMNS and sum(map(bool, ours)) > len(keys) / 2:
                said = [one or f"{key}: {cell}" for one, key, cell in zip(ours, keys, cells, strict=True)]
                return len(lines), [*lines[:at], "; ".join(said), *lines[below + 1 :]]
    return None


def _columns(header: str, values: str) -> Iterator[tuple[list[str], list[str]]]:
    for sign in PARTED:
        keys, cells = _cells(header, sign), _cells(values, sign)
        if len(keys) == len(cells):
            yield keys, cells
    keys, cells = re.split(r"\s{2,}", header.strip()), re.split(r"\s{2,}", values.strip())
    if len(keys) == len(cells):
        yield keys, cells
