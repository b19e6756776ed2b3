"""What is shipped: every file fits its schema, every text stands alone with source and date, nothing is there twice."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
import yaml

from knowledge.cards import GUIDES, Card, Guide, card_passage, guide_passages
from knowledge.catalogue import catalogue
from knowledge.checked_file import read_checked
from knowledge.common_questions import FILES, CommonQuestion, is_common
from knowledge.errors import FactsError
from knowledge.finding import Knowledge, PassageEntry
from knowledge.minilm import shipped as vectors
from knowledge.network import FILE, NetworkFacts, network_passages
from knowledge.shipped import CAUSES, cards, cluster_passages, files, shipped

KNOWN = cards()
DAY = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


def test_at_least_a_hundred_known_issues_each_once() -> None:
    assert len(KNOWN) >= 100
    assert len({card.id for card in KNOWN}) == len(KNOWN)
    assert len({card.address for card in KNOWN}) == len(KNOWN)


@pytest.mark.parametrize("card", KNOWN, ids=lambda card: card.id)
def test_a_card_is_short_dated_and_about_known_things(card: Card) -> None:
    causes = yaml.safe_load(CAUSES.read_text(encoding="utf-8"))
    assert set(card.causes) <= set(causes)
    assert card.machine in ("", *catalogue().clusters)
    assert date(2026, 1, 1) <= date.fromisoformat(card.checked) <= date.today()
    assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+", card.address)
    assert 40 <= len(card.what) <= 500
    assert 5 <= len(card.way_round) <= 400
    assert card.title not in card.what


def test_a_card_says_whose_advice_it_is() -> None:
    ours, theirs = (next(card for card in KNOWN if card.ours is value) for value in (True, False))
    assert "Our advice: " in card_passage(ours).text
    assert "Way round: " in card_passage(theirs).text


def test_guides_are_unique_and_have_paragraphs() -> None:
    guides = [guide for path in GUIDES.glob("*.yaml") for guide in read_checked(path, tuple[Guide, ...])]
    assert len({guide.id for guide in guides}) == len(guides) >= 15
    assert all(100 < len(passage.text) < 1200 for guide in guides for passage in guide_passages(guide))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("address: http://example.org/1", "address"),
        ("checked: yesterday", "checked"),
        ("state: gone", "state"),
        ("colour: blue", "colour"),
        ("id: Not An Id", "id"),
    ],
)
def test_a_wrong_card_is_refused_with_its_key(tmp_path: Path, change: str, says: str) -> None:
    fields = {
        "id": "a-card",
        "title": "A title",
        "what": "What happens",
        "way_round": "The way round",
        "address": "https://github.com/a/b/issues/1",
        "checked": "2026-11-21",
        "state": "open",
    } | yaml.safe_load(change)
    path = tmp_path / "cards.yaml"
    path.write_text(yaml.safe_dump([fields]), encoding="utf-8")
    with pytest.raises(FactsError, match=says):
        read_checked(path, tuple[Card, ...])


def test_network_file_is_read_strictly_and_every_variable_is_told() -> None:
    facts = read_checked(FILE, NetworkFacts)
    titles = {passage.title for passage in network_passages(facts)}
    assert {one.name for group in facts.groups for one in group.variables} <= titles
    assert len(facts.launchers) >= 10
    assert all(one.source.startswith("http") for group in facts.groups for one in group.variables if one.source)


def test_what_is_kept_of_the_passages_is_made_anew_for_other_signatures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cause tells the lines that show it: those of a site's own signatures too."""
    own = tmp_path / "maple-chat" / "signatures" / "ours.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert {own, CAUSES.parent / "signatures" / "batch.yaml", CAUSES} <= set(files())


def test_every_passage_can_stand_alone() -> None:
    for passage in shipped().passages:
        assert 15 < len(passage.text) < 2500, passage.title
        assert passage.title
        assert passage.source or passage.path[0] in ("Network variables", "Device visibility")
        assert DAY.fullmatch(passage.date), passage.title
        assert "{" not in passage.title
        assert "  " not in passage.text.partition("\n\n")[0]


@pytest.mark.parametrize("name", sorted(catalogue().clusters))
def test_a_machine_tells_all_its_queues_variables_and_proxy(name: str) -> None:
    cluster = catalogue().clusters[name]
    passages = list(cluster_passages(cluster))
    texts = "\n".join(passage.text for passage in passages)
    for queue in cluster.queues:
        assert any(passage.title.endswith(f"queue {queue.id}") for passage in passages)
        assert (queue.max_walltime or "not known") in texts
    assert all(f"{fact.name}={fact.value.split()[0]}" in texts for fact in cluster.environment if fact.value)
    assert all(value.split()[0] in texts for value in cluster.internet.proxy.values())
    assert {passage.machine for passage in passages} == {name}


def test_the_vectors_of_what_is_shipped_come_along() -> None:
    """`python -m knowledge.minilm.shipped` makes them again; some may be missing after a change of facts."""
    known = vectors.read()
    missing = [passage.title for passage in shipped().passages if PassageEntry(passage).key not in known]
    assert len(missing) <= 0.05 * len(shipped().passages), missing[:5]


def test_damaged_vectors_are_as_if_there_were_none(tmp_path: Path) -> None:
    whole = vectors.FILE.read_bytes()
    path = tmp_path / "vectors.npz"
    torn = whole[: len(whole) // 2], whole[:2000] + b"\xff" * 2000 + whole[4000:]
    for damaged in (b"", b"PK\x03\x04", b"no archive", *torn):
        path.write_bytes(damaged)
        assert vectors.read(path) == {}


def test_a_common_question_is_known_again_in_other_words_and_told_for_the_scheduler() -> None:
    found = Knowledge(None).search("make the time limit of a waiting job shorter", scheduler="pbs", limit=5)
    told = [one for one in found if is_common(one)]
    assert told and all(one.scheduler in ("", "pbs") for one in told)
    assert any("qalter" in one.text for one in told)


def test_common_questions_differ_and_name_a_scheduler_s_commands_in_pairs() -> None:
    questions = [one for path in FILES.glob("*.yaml") for one in read_checked(path, tuple[CommonQuestion, ...])]
    ways = [way.lower() for one in questions for way in one.asks]
    assert len({one.id for one in questions}) == len(questions) and len(set(ways)) == len(ways)
    assert min(len(one.asks) for one in questions) >= 8
