"""Which back ends there are: name -> module, loaded at the first question. No model (None) is the default."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from assistant.errors import InputError
from assistant.settings import Settings
from graph.modelling.model import ROLES, Model, Role

if TYPE_CHECKING:
    from graph.modelling.asking import Loader, Models

NONE = "none"
BACKENDS: Mapping[str, str] = {
    "llama_cpp": "assistant.models.llama_cpp",
    "openai": "assistant.models.openai_server",
}


class Backend(Protocol):
    """What each module of the table offers."""

    def load(self, name: str, settings: Settings) -> Model:
        """The model of that name (a path, or a name at the server). Raises ModelError."""
        ...


def names(settings: Settings) -> Mapping[Role, str]:
    """The model of each role that has one; one that is set alone serves both."""
    small, large = settings.model_small or settings.model_large, settings.model_large or settings.model_small
    return {role: name for role, name in zip(ROLES, (small, large), strict=True) if name}


def backend(name: str, settings: Settings) -> str:
    """The back end of a model: as set, else llama_cpp for a GGUF file and a server for any other name."""
    if settings.model_backend != "auto":
        return settings.model_backend
    return "llama_cpp" if name.endswith(".gguf") or Path(name).expanduser().is_file() else "openai"


def open_models(settings: Settings, *, tested: bool = False) -> Models | None:
    """The models that are set, not loaded yet; None where there are none. Raises InputError for a wrong back end.

    One that its test found to do harm is left out, but for another test.
    """
    chosen = {role: (name, backend(name, settings)) for role, name in names(settings).items()}
    chosen = {role: pair for role, pair in chosen.items() if pair[1] != NONE}
    if not chosen:
        return None

    from assistant.models.trust import trust_of
    from graph.modelling.asking import Models

    trust = {role: trust_of(*pair, settings) for role, pair in chosen.items()}
    chosen = {role: pair for role, pair in chosen.items() if tested or trust[role] != "off"}
    if not chosen:
        return None
    loaded: dict[tuple[str, str], Model] = {}

    def loader(pair: tuple[str, str]) -> Loader:
        def load() -> Model:
            if pair not in loaded:
                loaded[pair] = module(pair[1]).load(pair[0], settings)
            return loaded[pair]

        return load

    loaders = {role: loader(pair) for role, pair in chosen.items()}
    return Models(loaders, timeout_s=settings.model_timeout_s, known=own(), trust=trust)


def module(name: str) -> Backend:
    if name not in BACKENDS:
        raise InputError(
            f"MAPLE_CHAT_MODEL_BACKEND: no back end '{name[:40]}'; there are {', '.join([NONE, *BACKENDS])}"
        )
    found: Backend = importlib.import_module(BACKENDS[name])
    return found


def own() -> Mapping[str, str]:
    """This person's and this computer's name, masked wherever they stand."""
    import getpass
    import socket

    found: dict[str, str] = {}
    with suppress(OSError, KeyError, ImportError):
        found[getpass.getuser()] = "USER"
    found[socket.gethostname()] = "HOST"
    return {name: kind for name, kind in found.items() if len(name) > 2 and name not in ("root", "localhost")}
