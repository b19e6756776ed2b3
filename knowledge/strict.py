"""What the models of our files of facts stand on: unknown keys are refused, and a field may have a check of its own.

The classes are dataclasses that pydantic validates when a file is read (checked_file.py): importing pydantic and
building its models takes 0.2 s, which a process that reads validated facts back (kept.py) need not pay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}


def check_positive(number: int) -> int:
    if number <= 0:
        raise ValueError(f"{number} is not above zero")
    return number


def check_filled(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise ValueError("needs at least one entry")
    return values


def matching(pattern: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"'{text}' does not match {pattern}")
        return text

    return check


@dataclass(frozen=True, slots=True)
class Checked:
    """Marks a field's type with a check that pydantic runs after its own."""

    check: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core.core_schema import no_info_after_validator_function

        return no_info_after_validator_function(self.check, handler(source))


Positive = Annotated[int, Checked(check_positive)]
