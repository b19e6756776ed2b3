"""Pasted text that no scheduler printed, made to take long or to go too deep: read once, and found to be nothing."""

from __future__ import annotations

import pytest

from knowledge.data_file import parse_json
from knowledge.schedulers import outputs
from knowledge.schedulers.outputs import scheduler_output


@pytest.mark.parametrize("text", ['{"a":' * 100_000, "[" * 100_000, '{"timestamp": ' + "[" * 100_000])
def test_json_without_end_is_no_json(text: str) -> None:
    assert scheduler_output(text) == []
    with pytest.raises(ValueError):
        parse_json(text)


@pytest.mark.parametrize("line", ["PD====", "Foo=bar Baz=1", "some = thing", "a.b = c\n\tgoes on"])
def test_a_block_of_nobodys_is_looked_through_once(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    for name in ("pair_block", "setting_block"):
        real = getattr(outputs, name)

        def counted(lines: list[str], at: int, real: object = real) -> object:
            nonlocal looks
            block = real(lines, at)  # type: ignore[operator]
            looks += len(block.lines) if block else 1
            return block

        monkeypatch.setattr(outputs, name, counted)
    text = f"{line}\n" * 500
    assert scheduler_output(text) == []
    assert looks < 10 * text.count("\n")


def test_a_row_of_more_words_than_any_table_has_is_none() -> None:
    (found,) = scheduler_output(f"JOBID ST TIME\n1 PD 0:00\n{'a ' * 50_000}\n")
    assert len(found.jobs) == 1 and found.last == 1
