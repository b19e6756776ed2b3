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
        ("ein jobscript für alex", "alex"),
        ("script para fir", "fir"),
        ("ok helma, give me a script then", "helma"),
        ("thanks alex, that works on lumi", "lumi"),
        ("I'm Alex. script for lumi", "lumi"),
        ("should I take helma", "helma"),
        ("does pscratch delete stuff", "perlmutter"),
        ("leonardo and normal nodes", "leonardo"),
    ],
)
def test_an_everyday_word_is_a_machine_only_where_one_is_meant(text: str, machine: str | None) -> None:
    assert {one.value for one in find_names(text) if one.kind == "machine"} == ({machine} if machine else set())


@pytest.mark.parametrize(
    ("text", "machines"),
    [
        ("alex a100 vs helma for a 2B model", {"alex", "helma"}),
        ("is fir or narval better", {"fir", "narval"}),
        ("helma h100 or alex a40", {"alex", "helma"}),
        ("alex says hi and perlmutter is fine", {"perlmutter"}),
    ],
)
def test_a_persons_name_beside_a_machine_or_its_gpus_is_a_machine(text: str, machines: set[str]) -> None:
    assert {one.value for one in find_names(text) if one.kind == "machine"} == machines
