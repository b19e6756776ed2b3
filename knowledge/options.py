"""What flags, directives and variables mean: schedulers', launchers' and libraries', for people who meet them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

from knowledge.data_file import read_facts
from knowledge.strict import Checked, Facts, check_filled, matching

OPTIONS = Path(__file__).parent / "options.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionFact(Facts):
    """One option. names: as written; of: where it is written; trap: what goes wrong with it; apart: by other ids."""

    id: Annotated[str, Checked(matching(r"^[a-z0-9-]+$"))]
    names: Annotated[tuple[str, ...], Checked(check_filled)]
    of: Annotated[tuple[str, ...], Checked(check_filled)]
    says: str
    trap: str = ""
    apart: Mapping[str, str] = field(default_factory=dict)


@cache
def options() -> Mapping[str, OptionFact]:
    """All of them by id. Raises FactsError on a wrong file."""
    found: tuple[OptionFact, ...] = read_facts(OPTIONS, tuple[OptionFact, ...])
    return {one.id: one for one in found}


@cache
def _by_name() -> Mapping[str, tuple[OptionFact, ...]]:
    found: dict[str, tuple[OptionFact, ...]] = {}
    for one in options().values():
        for name in one.names:
            found[name] = (*found.get(name, ()), one)
    return found


def options_named(name: str, where: Sequence[str] = ()) -> tuple[OptionFact, ...]:
    """The options written so; where: contexts (`slurm`, `srun`, ...) that narrow it as soon as one of them knows it."""
    bare = name.strip("`'\"$").split("=")[0].rstrip(".,:;?!")
    found = _by_name().get(bare) or _by_name().get(bare.replace("_", "-"), ())
    return tuple(one for one in found if set(where) & set(one.of)) or found


def difference_of(one: OptionFact, other: OptionFact) -> str:
    """What sets two options apart, in either order; empty where nobody wrote it down."""
    return one.apart.get(other.id) or other.apart.get(one.id) or ""
