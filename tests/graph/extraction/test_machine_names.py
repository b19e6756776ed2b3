"""Names of machines that are also everyday words or first names: meant only where the sentence points at a machine."""

from __future__ import annotations

import pytest

from graph.extraction.sentences.names import find_names


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("run it on fir please", "fir"),
        ("Fir: ddp on 2 nodes", "fir"),
        ("Fir で エラーが出ます", "fir"),
        ("the fir tree dataset, on narval", "narval"),
        ("the fir tree dataset", None),
        ("which of the fir trees", None),
        ("train on rorqual", "rorqual"),
        ("nibi, 8 GPUs", "nibi"),
        ("Alex told me to use ddp", None),
        ("a script for alex", "alex"),
        ("open a jupiter notebook", None),
        ("on jupiter with 4 nodes", "jupiter"),
        ("can I surf the web from a node", None),
        ("Jean-Zay", "jean-zay"),
        ("ddp on snellius", "snellius"),
        ("naval ships dataset", None),
    ],
)
def test_an_everyday_word_is_a_machine_only_where_one_is_meant(text: str, machine: str | None) -> None:
    assert {one.value for one in find_names(text) if one.kind == "machine"} == ({machine} if machine else set())
