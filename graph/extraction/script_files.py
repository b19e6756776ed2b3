"""Files that a script writes and then hands to a launcher: configurations and host files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.extraction.launch_chain import Layer
from graph.extraction.script import ReadScript
from graph.extraction.shell_words import plain
from knowledge.data_file import parse_yaml
from knowledge.errors import FactsError


def configured(script: ReadScript, layer: Layer) -> Iterator[tuple[str, str]]:
    """The entries of an accelerate config that the script itself writes."""
    config = layer.role("config")
    text = document_text(script, plain(config)) if config is not None else None
    if not text:
        return
    try:
        data = parse_yaml(re.sub(r"\$[({]+[^\n]*", "unknown", text))
    except FactsError:
        return
    if isinstance(data, dict):
        yield from ((str(key), str(value)) for key, value in data.items())


def document_text(script: ReadScript, name: str) -> str | None:
    """The text of a file that the script writes, whether named with its path or by the variables around it."""
    for one in script.documents:
        if name and (one.name == name or one.name.rsplit("/", 1)[-1] == name.rsplit("/", 1)[-1]):
            return one.text
    return None


def host_lines(script: ReadScript, layer: Layer) -> list[str]:
    """The lines of a host file that the script writes; one made in a loop has one line with a variable in it."""
    file = layer.role("hostfile")
    text = document_text(script, plain(file)) if file is not None else None
    return [line for line in (text or "").splitlines() if line.strip()]
