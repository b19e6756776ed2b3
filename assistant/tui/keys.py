"""The keys of the chat, as the help shows them."""

from __future__ import annotations

KEYS: tuple[tuple[str, str], ...] = (
    ("Enter", "send"),
    ("Ctrl+J", "new line (also \\ then Enter; Shift+Enter where the terminal tells it apart)"),
    ("↑ ↓", "messages sent before"),
    ("/  @", "commands, and files to attach; Tab completes"),
    ("PgUp PgDn", "scroll what is in sight"),
    ("F2", "the conversation"),
    ("F3", "the script, then the files beside it"),
    ("F4", "the log: n next sign, p previous, t telling line, r one rank"),
    ("F5", "what is known: ← → choose, Enter picks another value"),
    ("F6", "what the last revision changed"),
    ("F7 F8", "previous and next sign in the log"),
    ("Ctrl+S", "save the script here"),
    ("Ctrl+O", "copy the script"),
    ("Ctrl+P", "all commands"),
    ("Esc", "stop what runs, else back to the box"),
    ("Ctrl+Q", "leave; the conversation is kept"),
)
