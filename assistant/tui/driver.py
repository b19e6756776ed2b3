"""Textual's terminal driver, with long pastes taken out of the stream before its parser."""

from __future__ import annotations

import os
import selectors
from codecs import getincrementaldecoder
from pathlib import Path

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from assistant.tui.pasting import Growing, Pastes, Spooled

READ = 1 << 16
PAUSE_S = 0.1


class Pasting(Message):
    """A long paste is coming in."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size


class Pasted(Message):
    """A long paste lies in a file."""

    def __init__(self, spooled: Spooled) -> None:
        super().__init__()
        self.spooled = spooled


class PasteDriver(LinuxDriver):
    """`pasted`, the folder for long pastes, is set by the app before the driver starts."""

    pasted = Path()

    def run_input_thread(self) -> None:
        """What LinuxDriver does, with a larger read, and bytes that are no UTF-8 shown as a mark, not as an end."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        pastes = Pastes(self.pasted)
        selector = selectors.DefaultSelector()
        selector.register(self.fileno, selectors.EVENT_READ)
        with selector:
            while not self.exit_event.is_set():
                read = os.read(self.fileno, READ) if selector.select(PAUSE_S) else b""
                for part in pastes.feed(read) if read else (pastes.rest(),):
                    if isinstance(part, Growing):
                        self.send_message(Pasting(part.size))
                    elif isinstance(part, Spooled):
                        self.send_message(Pasted(part))
                    elif text := decode(part):
                        for message in parser.feed(text):
                            self.process_message(message)
                for message in parser.tick():
                    self.process_message(message)
