"""The --model option of the light commands: by the rules alone, unless a person asks for the model that is set."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assistant.errors import InputError

if TYPE_CHECKING:
    from graph.modelling.asking import Models


def add_model_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", action="store_true", help="let the language model that is set help the rules")


def wanted_models(options: argparse.Namespace) -> Models | None:
    """The models that are set, where --model was given. Raises InputError where none is set."""
    if not options.model:
        return None
    from assistant.models.table import open_models
    from assistant.settings import read_settings

    models = open_models(read_settings())
    if models is None:
        raise InputError("no language model is set; set MAPLE_CHAT_MODEL_SMALL (`maple-chat models` tells how)")
    return models
