"""A command whose values are small words stays in its script; a sentence below a script stays the person's."""

from __future__ import annotations

import pytest

from graph.reading.message import take_apart

SCRIPT = "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --time=01:00:00\n"


@pytest.mark.parametrize(
    "line",
    [
        "srun python eval.py --langs en de it el no is",
        "python eval.py --split a --mode all",
        "torchrun --nproc-per-node 4 eval.py --only an a",
    ],
)
def test_a_command_with_small_words_for_values_is_of_the_script(line: str) -> None:
    message = take_apart(f"{SCRIPT}{line}")
    assert line in message.scripts[0].text
    assert not message.words


@pytest.mark.parametrize(
    "line",
    [
        "set the nodes to 8 with --exclusive",
        "srun --exclusive is not what I want, drop it",
        "python is not in the container",
    ],
)
def test_a_sentence_below_a_script_is_the_persons(line: str) -> None:
    assert take_apart(f"{SCRIPT}srun python t.py\n{line}").words == line
