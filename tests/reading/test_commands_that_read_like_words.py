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


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        ("should I put --environment in #SBATCH or in srun?", 0),
        ("wo kommt #PBS -q hin?", 0),
        ("my script: #SBATCH -N 2, #SBATCH -q debug and srun python t.py what is wrong?", 1),
        ("my script #SBATCH -N 2", 1),
    ],
)
def test_a_directive_that_is_spoken_of_is_no_script(text: str, scripts: int) -> None:
    told = take_apart(text)
    assert len(told.scripts) == scripts and (scripts or told.words == text)


@pytest.mark.parametrize("line", ["nvidia-smi", "sleep 5", "date", "myprep data out"])
@pytest.mark.parametrize("gap", ["", "\n"])
def test_a_command_that_nobody_knows_does_not_end_a_script(line: str, gap: str) -> None:
    rest = 'for n in "${nodes[@]}"; do\n  ssh $n ./go\ndone\npython t.py --lr 1'
    message = take_apart(
        f"why is this slow?\n\n{SCRIPT}module load cuda\n{gap}{line}\n{rest}\n\nit takes 20 min to start"
    )
    assert message.scripts[0].text.endswith(f"{line}\n{rest}")
    assert message.words.split() == ["why", "is", "this", "slow?", "it", "takes", "20", "min", "to", "start"]


def test_two_scripts_with_words_between_stay_two() -> None:
    message = take_apart(f"{SCRIPT}srun python a.py\n\nsecond one\n\n{SCRIPT}srun python b.py")
    assert "second one" in message.words


@pytest.mark.parametrize(
    "words", ["isambard ai. leave out --gradient_checkpointing, lr to 2e-6", "on lumi, add --seed 3 and take off --amp"]
)
def test_an_order_with_options_below_a_script_is_none_of_its_lines(words: str) -> None:
    script = "#!/bin/bash\n#SBATCH -N 1\nmodule load x\n\nsrun python train.py --lr 1e-5 \\\n    --max_steps 20000"
    message = take_apart(f"{script}\n\n{words}")
    assert (message.words, message.scripts[0].text.strip()) == (words, script)
