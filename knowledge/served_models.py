"""Models by their names on the hub, and how the servers of models are told things."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from knowledge.data_file import read_facts
from knowledge.strict import Facts, Positive
from knowledge.types import SERVERS, Framework

FILE = Path(__file__).parent / "served_models.yaml"
# How a request tells that a model is served, whatever the server's own command is.
SERVED_ENTRY = re.compile(rf"(?P<engine>{'|'.join(SERVERS)}) serve (?P<model>.+)")
# A server that is started by its module, as a person wrote it.
MODULES: Mapping[str, Framework] = {"vllm.entrypoints": "vllm", "sglang.launch_server": "sglang"}
# Where a server's key is kept: a script, and a command line, are read by others.
KEY_FILE = "$HOME/.serving-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFamily(Facts):
    """names as the hub writes them, chat models first. gated: a licence is accepted before the files are given out;
    context: tokens that the models are made for; billions: parameters, where the name tells none; weights: how they
    are kept, where not in 16 bits."""

    organisation: str
    source: str
    gated: bool = False
    context: Positive | None = None
    billions: float | None = None
    weights: str = "bf16"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingEngine(Facts):
    """options: part of a job -> option of the server; key: the variable or option of its key; install: what brings it,
    by the GPUs' backend; needs: what that asks of the system; images: those that hold it, likewise; too_old: what is
    said of a GPU without one."""

    title: str
    source: str
    command: str
    port: Positive
    listens_to_all: bool
    options: Mapping[str, str]
    key: str
    offline: str
    install: Mapping[str, str]
    install_source: str
    images: Mapping[str, str]
    needs: Mapping[str, str] = field(default_factory=dict)
    too_old: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModels(Facts):
    source: str
    as_of: str
    families: tuple[ModelFamily, ...]
    quantised: Mapping[str, Mapping[str, str]]
    weights_by_name: Mapping[str, str]
    engines: Mapping[str, ServingEngine]


@cache
def served_models() -> ServedModels:
    """The table shipped with us. Raises FactsError on a wrong file."""
    return read_facts(FILE, ServedModels)


def server_of(entry: str | None) -> Framework | None:
    """Which server a program is, by the words that start it; None where it is none."""
    if started := SERVED_ENTRY.fullmatch(entry or ""):
        return next(one for one in SERVERS if one == started["engine"])
    return next((name for module, name in MODULES.items() if (entry or "").startswith(f"-m {module}")), None)


def plain_name(name: str) -> str:
    """A model's name without its organisation, as names are compared: `Meta-Llama-3.1-8B` is `llama-3.1-8b`."""
    return re.sub(r"[\s_-]+", "-", name.rsplit("/", 1)[-1].strip().lower()).removeprefix("meta-")


@cache
def by_name() -> Mapping[str, tuple[ModelFamily, str]]:
    """Each name of the table, as names are compared: its family and how the hub writes it."""
    return {plain_name(name): (one, name) for one in served_models().families for name in one.names}


def family_of(name: str) -> ModelFamily | None:
    """The family of a model that the table knows; one in fewer bits has that of the model it was made from."""
    found = by_name().get(plain_name(name))
    if found is None:
        quantised = served_models().quantised.values()
        made_from = next((old for table in quantised for old, new in table.items() if new == name), "")
        found = by_name().get(plain_name(made_from))
    return found[0] if found else None


def full_name(name: str) -> str:
    """ORGANISATION/NAME of a name that the table has exactly so, or of whose words only one has all; else empty."""
    if found := by_name().get(plain_name(name)) if "-" in name or " " not in name.strip() else None:
        return f"{found[0].organisation}/{found[1]}"
    likely = likely_names(name)
    return likely[0] if len(likely) == 1 else ""


def words_of(name: str) -> list[str]:
    """A model's name in words: `Qwen2.5 7B` is qwen, 2.5, 7b."""
    apart = re.sub(r"(?<=[a-z]{2})(?=\d)", " ", plain_name(name))
    return [word for word in re.split(r"[\s-]+", apart) if word]


def likely_names(name: str) -> tuple[str, ...]:
    """What the hub has under these words, chat models first: `mistral 7b` has several."""
    words = words_of(name)
    if len(words) < 2:
        return ()
    return tuple(
        f"{family.organisation}/{written}"
        for plain, (family, written) in by_name().items()
        if (has := words_of(plain))[0] == words[0] and set(words) <= set(has)
    )


def weights_of(name: str) -> str:
    """How the weights of a model are kept, by its family or by what its name tells; 16 bits where neither does."""
    plain = name.rsplit("/", 1)[-1]
    for kind, pattern in served_models().weights_by_name.items():
        if re.search(pattern, plain):
            return kind
    family = family_of(name)
    return family.weights if family else "bf16"


def lighter_name(name: str, kind: str) -> str:
    """The same model with its weights in that form (`awq`), by a name that is known to be there; else empty."""
    plain = name.rsplit("/", 1)[-1]
    found = by_name().get(f"{plain_name(plain)}-{kind}")
    if found:
        return f"{found[0].organisation}/{found[1]}"
    known = served_models().quantised.get(kind, {})
    return next((made for of, made in known.items() if plain_name(of) == plain_name(plain)), "")
