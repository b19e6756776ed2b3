"""An edit of which no reader is sure is done by no door on the side: not with a cure, not beside a diagnosis."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from graph.conversation import cure, trial
from graph.usecases.edit_script import Edited
from knowledge.types import OfferEdit, Paste, Say

OWN = Paste("job.sh", "#!/bin/bash\n#SBATCH --nodes=2\nsrun python train.py\n")


def turn_with(words: str) -> Any:
    utterance = SimpleNamespace(of_kind=lambda *_: ())
    message = SimpleNamespace(scripts=(), logs=())
    return SimpleNamespace(words=words, state={"own": OWN}, script=OWN, message=message, utterance=utterance)


@pytest.mark.parametrize(
    ("edited", "told"),
    [
        (None, "call it big"),
        (Edited(OWN.text.replace("=2", "=4"), ("nodes",), doubtful=True), "call it big"),
        (Edited(OWN.text, (), told=("Not done: big.",)), "Not done: big."),
    ],
)
def test_what_is_not_sure_goes_with_no_cure(monkeypatch: pytest.MonkeyPatch, edited: Edited | None, told: str) -> None:
    monkeypatch.setattr("graph.usecases.edit_script.edit_script", lambda *_: edited)
    monkeypatch.setattr(cure, "with_words", lambda turn, _: turn)
    monkeypatch.setattr(cure, "machine_for", lambda *_: None)
    monkeypatch.setattr(cure, "replace", lambda turn, **_: turn)
    done = cure.beside(turn_with(""), {"said": (Say("cured"),), "own": OWN}, "call it big")
    first, last = done["said"]
    assert first == Say("cured") and isinstance(last, Say) and told in last.text
    assert done["own"] == OWN


def test_a_trial_tells_what_has_no_place_and_offers_nothing_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "machine_for", lambda *_: None)
    monkeypatch.setattr(trial, "faults_of_change", lambda *_: [])
    none = Edited(OWN.text, (), told=("Not done: big.",))
    monkeypatch.setattr("graph.usecases.edit_script.edit_script", lambda *_: none)
    state = trial.by_trial(turn_with("what if I called it big?"))
    assert state is not None and state["said"] == (Say("Not done: big."),) and "pending" not in state
    some = Edited(OWN.text.replace("=2", "=4"), ("nodes",), told=("Not done: big.",))
    monkeypatch.setattr("graph.usecases.edit_script.edit_script", lambda *_: some)
    state = trial.by_trial(turn_with("what if I called it big?"))
    assert state is not None and isinstance(state["pending"], OfferEdit) and state["said"][-1] == Say("Not done: big.")
