"""Every command of the chat's table is done by the function of its name, in both doors."""

from __future__ import annotations

import pytest

from assistant import plain_commands
from assistant.chat_commands import CHAT_COMMANDS
from assistant.tui import commands

# Names that a function cannot have, or that another function has.
NAMED = {"open": "open_thread", "help": "show_help", "attach": "attach_file", "quit": "leave"}


@pytest.mark.parametrize("name", [one.name for one in CHAT_COMMANDS])
def test_a_command_is_done_by_the_function_of_its_name(name: str) -> None:
    assert commands.COMMANDS[name].run.__name__ == NAMED.get(name, name)
    if name in plain_commands.COMMANDS:
        assert plain_commands.COMMANDS[name][2].__name__ == NAMED.get(name, name)


def test_each_command_has_a_function_and_no_other_is_left() -> None:
    assert set(commands.DEEDS) == {one.name for one in CHAT_COMMANDS}
    assert set(plain_commands.DEEDS) == {one.name for one in CHAT_COMMANDS if one.line}


def test_the_line_mode_promises_what_it_does() -> None:
    assert "rename" not in plain_commands.COMMANDS["sessions"][1]
