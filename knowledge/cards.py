"""Short texts of our own, from files: cards about known issues, and guides to launchers and strategies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from knowledge.strict import Checked, Facts, matching
from knowledge.types import Framework, Passage, Scheduler

CARDS = Path(__file__).parent / "cards"
GUIDES = Path(__file__).parent / "guides"

Id = Annotated[str, Checked(matching(r"^[a-z0-9][a-z0-9-]*$"))]
Address = Annotated[str, Checked(matching(r"^https://\S+$"))]
Day = Annotated[str, Checked(matching(r"^\d{4}-\d{2}(-\d{2})?$"))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(Facts):
    """A known issue: what happens, with which versions, and the way round. state is the thread's, when it was read.

    ours: the way round is our advice; the thread names none, or another.
    """

    id: Id
    title: str
    what: str
    versions: str = ""
    way_round: str
    address: Address
    checked: Day
    ours: bool = False
    state: Literal["open", "closed", "merged"]
    causes: tuple[str, ...] = ()
    machine: str = ""
    scheduler: Scheduler | Literal[""] = ""
    framework: Framework | Literal[""] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardParagraph(Facts):
    """One thing told, the page that says so, and when that was read. ours: advice that no page bears."""

    text: str
    source: Address
    as_of: Day
    ours: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide(Facts):
    """A short text on one subject."""

    id: Id
    title: str
    paragraphs: tuple[CardParagraph, ...]
    scheduler: Scheduler | Literal[""] = ""
    framework: Framework | Literal[""] = ""


def card_passage(card: Card) -> Passage:
    """The card as it is found and shown."""
    versions = f" Versions: {card.versions}." if card.versions else ""
    way = "Our advice" if card.ours else "Way round"
    return Passage(
        text=f"{card.what.strip()}{versions} {way}: {card.way_round.strip()}",
        title=card.title,
        source=card.address,
        date=card.checked,
        path=("Known issues",),
        kind="card",
        machine=card.machine,
        scheduler=card.scheduler,
        framework=card.framework,
    )


def guide_passages(guide: Guide) -> Iterator[Passage]:
    """Each paragraph of a guide on its own: it answers one thing, from one page."""
    for one in guide.paragraphs:
        ours = f" Our advice: {one.ours}" if one.ours else ""
        yield Passage(
            text=" ".join(f"{one.text}{ours}".split()),
            title=guide.title,
            source=one.source,
            date=one.as_of,
            path=("Guides",),
            kind="fact",
            scheduler=guide.scheduler,
            framework=guide.framework,
        )
