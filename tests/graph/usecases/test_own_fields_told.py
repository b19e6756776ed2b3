"""A size that a script has no sure place for is told, whatever the value is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.usecases import own_fields
from graph.usecases.edit_script import Edited
from graph.usecases.own_fields import put_read
from knowledge.types import JobRequest, Understood

SCRIPT = "#!/bin/bash\n#SBATCH --nodes=2\nsrun python train.py\n"


@pytest.mark.parametrize(("name", "value"), [("memory_gb", 64), ("cpus_per_task", 8)])
def test_a_size_without_a_place_is_told(monkeypatch: pytest.MonkeyPatch, name: str, value: object) -> None:
    def read(words: str, before: JobRequest, *_: object, weighed: bool) -> Understood:
        return Understood("generate", replace(before, **{name: value}))  # type: ignore[arg-type]

    monkeypatch.setattr(own_fields, "understand", read)
    monkeypatch.setattr(own_fields, "put_field", lambda now, *_: now)
    now = put_read(Edited(SCRIPT, ()), "as said", None)
    assert now.text == SCRIPT and len(now.told) == 1
    assert str(value) in now.told[0] and name.replace("_", " ") in now.told[0]
