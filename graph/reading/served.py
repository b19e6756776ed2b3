"""What people ask of a server of a model once its script stands: its context, lighter weights, a key, its address.

The patterns stand in parts.yaml; how each server is told, in knowledge/served_models.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.planning.resources.parameters import find_model
from graph.reading.edits import Add, Edit, Remove, Set
from knowledge.job_parts import ArgumentEdit
from knowledge.served_models import KEY_FILE, SERVED_ENTRY, full_name, lighter_name, served_models, server_of
from knowledge.types import SERVERS, JobRequest, Variable

LONGEST, KILO = 2_000_000, 1024
KEY_WHY = "the server's key; nobody else may read that file"


def server(request: JobRequest) -> str:
    """Which server the request starts; empty where it starts none."""
    named = next((one for one in SERVERS if one == request.framework), "")
    return server_of(request.entry) or named


def context(match: re.Match[str], request: JobRequest) -> Sequence[Edit]:
    """The longest sequence of a server; 32k is 32,768 tokens, as models are made."""
    found = match.groupdict()
    number = int((found.get("v") or found.get("w") or "0").replace(",", ""))
    tokens = number * (KILO if found.get("k") or found.get("m") else 1)
    if not server(request) or not 0 < tokens <= LONGEST:
        return ()
    return (Set("sequence_length", tokens, match[0].strip()),)


def model(match: re.Match[str], request: JobRequest) -> Sequence[Edit]:
    """Another model for the server, by its name on the hub."""
    started = SERVED_ENTRY.fullmatch(request.entry or "")
    if started is None or not (full_name(match["v"]) or find_model(match["v"])):
        return ()
    return (Set("entry", f"{started[1]} serve {match['v']}", match[0].strip()), Set("model", match["v"]))


def lighter(match: re.Match[str], request: JobRequest) -> Sequence[Edit]:
    """The same model in 4 bits: by the name that is known to be there, else its name is left open."""
    started = SERVED_ENTRY.fullmatch(request.entry or "")
    if started is None:
        return ()
    name = lighter_name(started[2], "awq") or f"{started[2]} awq"
    return (Set("entry", f"{started[1]} serve {name}", match[0].strip()), Set("model", name))


def key(match: re.Match[str], request: JobRequest) -> Sequence[Edit]:
    """A key that clients have to send: read from a file, since a script is read by others."""
    name = server(request)
    if not name:
        return ()
    told, words = served_models().engines[name].key, match[0].strip()
    variable = "API_KEY" if told.startswith("-") else told
    old = [Remove("variables", one) for one in request.variables if one.name == variable]
    new = Add("variables", Variable(variable, f"$(cat {KEY_FILE})", KEY_WHY, expand=True), words)
    option = [Add("argument_edits", ArgumentEdit("set", told, f'"${variable}"'), words)] if told.startswith("-") else []
    return (*old, new, *option)


def share(match: re.Match[str], request: JobRequest) -> Sequence[Edit]:
    """How much of each GPU's memory the server takes."""
    name = server(request)
    if not name:
        return ()
    option = served_models().engines[name].options["share"]
    return (Add("argument_edits", ArgumentEdit("set", option, match["v"]), match[0].strip()),)


def host(match: re.Match[str], request: JobRequest) -> Sequence[Edit]:
    """Which addresses the server listens on: all of its node's, or the node's own alone."""
    name = server(request)
    if not name:
        return ()
    said = match.groupdict()
    alone = bool(said.get("w")) or (said.get("v") or "").lower() in ("localhost", "127.0.0.1")
    option = served_models().engines[name].options["host"]
    return (Add("argument_edits", ArgumentEdit("set", option, "127.0.0.1" if alone else "0.0.0.0"), match[0].strip()),)
