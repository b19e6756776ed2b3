"""The glossary reads strictly, and each name leads to one term."""

from collections import Counter

from knowledge.data_file import read_facts
from knowledge.glossary import GLOSSARY, Term, difference, glossary, term_names


def test_each_name_belongs_to_one_term() -> None:
    names = Counter(name for term in glossary().values() for name in (*term.names, *term.common))
    assert [name for name, count in names.items() if count > 1] == []
    assert term_names()["partition"] == "queue"


def test_each_id_stands_once() -> None:
    """A second entry of one id would take the first one's place in silence."""
    ids = Counter(term.id for term in read_facts(GLOSSARY, tuple[Term, ...]))
    assert [one for one, count in ids.items() if count > 1] == []


def test_neighbours_are_terms_themselves() -> None:
    assert {other for term in glossary().values() for other in term.apart} <= glossary().keys()


def test_a_difference_is_told_in_either_order() -> None:
    assert difference("ddp", "fsdp") == difference("fsdp", "ddp") != ""
    assert difference("tmux", "jax") == ""
