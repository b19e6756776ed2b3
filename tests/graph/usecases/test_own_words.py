"""Orders in several languages that the person's own script explains: that change, and no other line."""

from __future__ import annotations

import re

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.build import build
from graph.checkpoints import Serializer
from graph.context import Context
from graph.state import State, new_turn
from graph.usecases.edit_script import Edited, edit_script, left_open
from graph.usecases.own_words import sent_in_a_row
from knowledge.catalogue import catalogue

OWN = """#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=80
#SBATCH --gres=gpu:4
#SBATCH --mem=400G
#SBATCH --time=08:00:00
#SBATCH --output=seg-%j.out
#SBATCH --error=seg-%j.err

module load cuda/12.1 gcc/13.2
source $WORK/venvs/seg/bin/activate
export FUSED_BYTES=33554432
OUT=/scratch/me/runs
srun apptainer exec --nv --bind $WORK/code:/code docker://me/seg:1.4 \\
    torchrun --standalone --nproc_per_node=4 /code/seg.py --wide --lang fr --seed 0 --lr 1e-3 --out $OUT
"""


def edited(words: str, machine: str = "", text: str = OWN) -> Edited:
    found = edit_script(text, words, catalogue().clusters[machine] if machine else None)
    assert found is not None
    return found


def new(words: str, machine: str = "") -> list[str]:
    """The lines that are new after the words."""
    return [row.strip() for row in edited(words, machine).text.splitlines() if row not in OWN.splitlines()]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("nimm das Image me/seg:1.5", "docker://me/seg:1.5"),
        ("image me/seg:1.5 please", "docker://me/seg:1.5"),
        ("cuda muss jetzt 12.4 sein", "module load cuda/12.4 gcc/13.2"),
        ("cuda 12.4 にしてください", "module load cuda/12.4 gcc/13.2"),
        ("el entorno ahora es $WORK/venvs/seg2", "source $WORK/venvs/seg2/bin/activate"),
        ("env moved to $HOME/x... sorry no, $WORK/venvs/seg2", "source $WORK/venvs/seg2/bin/activate"),
        ("lr на 2e-4", "--lr 2e-4"),
        ("把 lr 改成 2e-4", "--lr 2e-4"),
        ("FUSED_BYTES auf 64 MB", "export FUSED_BYTES=67108864"),
        ("monte $WORK/data em /data, somente leitura", "--bind $WORK/data:/data:ro"),
        ("$WORK/data を /data に bind して", "--bind $WORK/data:/data"),
    ],
)
def test_the_script_tells_what_a_word_is(words: str, part: str) -> None:
    assert any(part in row for row in new(words)), new(words)


def test_an_option_goes_in_other_tongues() -> None:
    assert "--wide" not in edited("убери --wide").text
    assert "--wide" not in edited("remove-me? no: usuń --wide").text
    assert "--lr" in edited("убери --wide").text


def test_small_words_and_odd_shapes_are_no_values() -> None:
    for words in ("dodaj --small przez seg.py", "add --small too", "--small も追加してください"):
        assert re.search(r"--small$", edited(words).text.rstrip()), words
    found = edit_script(OWN, "write --out local and --wide too", None)
    assert found is None or "--out $OUT" in found.text
    assert "'" not in edited("bind $WORK/d に して /d にも bind してください。--fast を追加").text


def test_cores_follow_the_gpus_by_the_machines_share() -> None:
    assert "#SBATCH --cpus-per-task=40" in new("2 GPUs", "marenostrum5")
    assert "#SBATCH --mem=200G" in new("2 GPUs, y la memoria en proporción", "marenostrum5")
    told = edited("2 GPUs", "jean-zay")
    assert "--cpus-per-task" in " ".join((*told.says, *told.told))


def test_all_pairs_become_an_array_with_their_own_logs() -> None:
    rows = new("un array sobre lang = fr, de, it y seed = 0, 1, como máximo 2 a la vez")
    assert "#SBATCH --array=0-5%2" in rows and "LANG_VALUES=(fr de it)" in rows and "SEED_VALUES=(0 1)" in rows
    assert "#SBATCH --output=seg-%A_%a.out" in rows


def test_output_and_errors_share_a_file() -> None:
    text = edited("stdout et stderr dans le même fichier dans logs/").text
    assert "--error" not in text and "#SBATCH --output=logs/%x-%j.out" in text


def test_a_file_is_sourced_before_everything() -> None:
    rows = edited("source ~/keys.env ganz am Anfang").text.splitlines()
    assert rows.index('source "$HOME/keys.env"') == rows.index("#SBATCH --error=seg-%j.err") + 1


@pytest.mark.parametrize(
    ("words", "events"),
    [
        ("mail to a@b.org when it starts", "BEGIN"),
        ("mail an a@b.org wenn er scheitert", "FAIL"),
        ("mail to a@b.org only when it fails or reaches 80 % of the time", "FAIL,TIME_LIMIT_80"),
    ],
)
def test_mail_tells_of_what_its_sentence_names(words: str, events: str) -> None:
    assert f"#SBATCH --mail-type={events}" in new(words)


def test_no_mail_is_promised_where_none_is_sent() -> None:
    found = edited("Mail an a@b.org wenn er fertig ist", "lumi")
    assert found.text == OWN and "sends no mail" in found.told[0]


def test_two_runs_share_the_node() -> None:
    rows = new("run seed 1 and seed 2 at the same time in this job, two gpus each", "")
    assert not rows  # in a container it is told
    plain = OWN.replace("apptainer exec --nv --bind $WORK/code:/code docker://me/seg:1.4 \\\n    ", "")
    text = edited("run seed 1 and seed 2 at the same time in this job, two gpus each", "", plain).text
    assert "CUDA_VISIBLE_DEVICES=2,3 torchrun --standalone --nproc_per_node=2" in text and "\nwait\n" in text
    assert "--seed 2" in text and "#SBATCH --gres=gpu:4" in text


def test_what_is_to_go_and_stays_is_named() -> None:
    words = "quita el bind de /code y usa --precision 16"
    assert "quita el bind de /code" in left_open(OWN, edited(words), words)


@pytest.mark.parametrize(
    ("directive", "words", "sent"),
    [
        ("#SBATCH -N 1", "five times in a row, only if it ended without error", "--dependency=afterok:$JOB job.sh"),
        (
            "#PBS -l select=1",
            "dreimal? nein, 3 mal hintereinander, egal wie er endet",
            "-W depend=afterany:$JOB job.sh",
        ),
        ("#BSUB -nnodes 1", "3 veces seguidas", '-w "ended($JOB)" < job.sh'),
        ("# flux: -N 1", "3 volte in fila", "--dependency=afterany:$JOB job.sh"),
    ],
)
def test_a_chain_is_told_and_the_script_stays(directive: str, words: str, sent: str) -> None:
    told = sent_in_a_row(f"#!/bin/bash\n{directive}\npython t.py --resume latest\n", words, "job.sh")
    assert sent in told and "--resume latest" in told
    assert not sent_in_a_row(f"#!/bin/bash\n{directive}\npython t.py\n", "3 nodes and 5 hours", "job.sh")


DELTA = """#!/bin/bash
#SBATCH --account=bdxx-delta-gpu
#SBATCH --partition=gpuA100x4
#SBATCH --nodes=1
#SBATCH --gpus-per-node=4
#SBATCH --time=10:00:00
module load cudatoolkit/12.8
srun torchrun --standalone --nproc_per_node=4 t.py --epochs 10
"""


def talked(*texts: str) -> State:
    """Where a conversation on the real graph stands after these messages."""
    graph, state = build(InMemorySaver(serde=Serializer())), State()
    for number, text in enumerate(texts, 1):
        config = {"configurable": {"thread_id": "t"}}
        state = graph.invoke(new_turn(number, text), config, context=Context())  # type: ignore[call-overload]
    return state


def told(state: State) -> str:
    return "\n".join(str(one) for one in state["said"])


def test_words_around_a_script_are_carried_out() -> None:
    for text in (f"Kannst du epochs auf 12 setzen?\n\n{DELTA}", f"{DELTA}\n把 epochs 改成 12"):
        own = talked(text)["own"]
        assert own and "--epochs 12" in own.text, text


def test_what_no_queue_takes_is_refused_and_the_rest_is_done() -> None:
    state = talked(DELTA, "cudatoolkit 12.9 and 500 hours please")
    assert state["own"] and "cudatoolkit/12.9" in state["own"].text and "--time=10:00:00" in state["own"].text
    assert "Not done" in told(state) and "1 node for 48:00:00" in told(state)


def test_an_order_that_nobody_reads_is_named_and_no_script_takes_its_place() -> None:
    words = "delta: stage the tarball /work/nvme/x.tar to the local disk of each node before it starts"
    for texts in ((f"{words}\n\n{DELTA}",), (DELTA, words)):
        state = talked(*texts)
        assert state["own"] and state["own"].text.strip() == DELTA.strip()
        assert "/work/nvme/x.tar" in told(state) and "Not done" in told(state), texts


@pytest.mark.parametrize(
    ("words", "stays"),
    [
        ("do not remove wide, set lr 2e-4", "--wide"),
        ("n'enlève pas --wide, mets lr 2e-4", "--wide"),
        ("don't put output and errors in the same file, lr 2e-4", "--error=seg-%j.err"),
        ("put all metrics in one file and set seed 3", "--error=seg-%j.err"),
        ("the image me/seg:1.3 was broken, set lr 2e-4", "docker://me/seg:1.4"),
        ("keep gcc 13.2, lr 2e-4", "gcc/13.2"),
        ("gcc and cuda 12.4 please", "gcc/13.2"),
        ("fix the error of cuda and set lr 2e-4", "cuda/12.1"),
        ("seed 20, 2 GPUs each please", "--time=08:00:00"),
    ],
)
def test_what_is_forbidden_told_or_said_of_another_thing_stays(words: str, stays: str) -> None:
    assert stays in edited(words).text and "--array" not in edited(words).text


def test_two_values_that_nothing_joins_are_no_two_runs() -> None:
    plain = OWN.replace("srun apptainer exec --nv --bind $WORK/code:/code docker://me/seg:1.4 \\\n    ", "")
    found = edit_script(plain, "seed 1 was bad, use seed 2, the readers run in parallel", None)
    assert found is None or "wait" not in found.text.splitlines()


@pytest.mark.parametrize(
    ("words", "binds"),
    [
        ("bind /w/x on /x and /w/y on /y, /w/y read only", ["/w/x:/x ", "/w/y:/y:ro"]),
        ("bind /w/x on /x and /w/y on /y, x read only", ["/w/x:/x ", "/w/y:/y "]),
        ("bind /w/x:/x:ro", ["/w/x:/x:ro"]),
    ],
)
def test_only_what_is_said_so_is_read_only(words: str, binds: list[str]) -> None:
    assert all(one in edited(words).text for one in binds)
