"""The account of a message: what is said is placed, or named."""

import pytest

from graph.extraction.request import understand
from knowledge.types import JobRequest

STANDS = understand("perlmutter ddp 2 nodes train.py --lr 1e-3 m1234_g 4h", None, None, None).request
ALL_PLACED = [
    "perlmutter fsdp 4 nodes train.py --lr 1e-3 m1234_g 6h, mail a@b.example at the end, array of 5, requeue",
    "delta a100 ddp 1 node t.py bbka-delta-gpu 2h, conda env pt25, load cuda/12.4, set wandb offline, exclude gpua042",
    "my last run used 4 nodes and 12 hours; now I want 2 nodes and 3 hours. perlmutter, ddp, train.py, m1234_g",
    "perlmutter, not 4 nodes but 2, zero3, ft.py --deepspeed ds.json, m1234_g",
    "lumi 64 GCDs in total fsdp llm.py project_465000111 standard-g 12h",
    "écris un script pour leonardo, 2 noeuds avec 4 gpu chacun, fsdp, train.py --lr 1e-4, compte IscrB_AB1, 6 heures",
    "frontier ddp 4 nodes t.py csc599 2h, copy data.tar to nvme first, signal USR1 10 minutes before end, chain 3",
]
NAMED = {
    "perlmutter ddp 2 nodes train.py m1234_g 4h with python 3.11": "python 3.11",
    "perlmutter ray tune 2 nodes tune.py m1234_g 3h, dashboard on port 8265": "dashboard on port 8265",
    "polaris ddp 2 nodes train.py project Foo 1h, checkpoint dir /eagle/ck": "checkpoint dir /eagle/ck",
    "delta ddp 2 nodes t.py bbka-delta-gpu 2h, pin the processes to cores": "pin the processes to cores",
    "delta ddp 2 nodes t.py bbka-delta-gpu 2h and start nvidia-smi in the background": "nvidia-smi",
    "delta: torchrun a.py or torchrun --rdzv-conf x.yaml b.py, 2 nodes, ddp, bbka-delta-gpu": "x.yaml",
}
EDITS = {
    "use 4 nodes and profile rank 0 with nsight": "nsight",
    "8 hours, and copy the results to cfs at the end": "copy the results to cfs",
    "lr 3e-4 and tensorboard on port 6006": "6006",
}


@pytest.mark.parametrize("words", ALL_PLACED)
def test_nothing_is_named_where_all_is_placed(words: str) -> None:
    assert understand(words, None, None, None).left == ()


@pytest.mark.parametrize("words", NAMED)
def test_what_no_field_holds_is_named(words: str) -> None:
    assert NAMED[words] in " | ".join(understand(words, None, None, None).left)


@pytest.mark.parametrize("words", EDITS)
def test_a_wish_beside_another_is_done_or_named(words: str) -> None:
    heard = understand(words, STANDS, None, None)
    assert EDITS[words] in " | ".join(heard.left)
    assert heard.request != STANDS


def test_a_question_is_no_wish() -> None:
    assert understand("4 nodes. what does port 6006 do?", STANDS, None, None).left == ()


def test_a_name_that_stands_alone_is_taken_for_the_account_and_said() -> None:
    heard = understand("frontier ddp 4 nodes t.py CSC599 2h", None, None, None)
    assert heard.request.account == "CSC599"
    assert "CSC599" in heard.notes[0] if heard.notes else True
    other = understand("vista 1 node ddp t.py, AST1, 2h", None, None, None)
    assert other.request.account == "AST1" and "AST1" in other.notes[0]


def test_a_data_set_is_no_account() -> None:
    assert understand("delta ddp 2 nodes t.py, cifar10, 2h", None, None, None).request.account is None


@pytest.mark.parametrize(
    "words", ["batch 32 per gpu", "accumulate 4 steps", "gradient accumulation 8", "dashboard 8265"]
)
def test_a_number_with_a_name_is_no_size_of_the_job(words: str) -> None:
    request: JobRequest = understand(words, STANDS, None, None).request
    assert (request.nodes, request.walltime, request.gpus_per_node) == (2, "04:00:00", None)


@pytest.mark.parametrize(
    ("words", "account"),
    [
        ("konto ist jetzt hclim2", "hclim2"),
        ("the account is now m_ocean", "m_ocean"),
        ("le compte est maintenant abc12", "abc12"),
        ("the account is now empty", None),
        ("is the account now full?", None),
    ],
)
def test_an_account_that_is_another_one_now(words: str, account: str | None) -> None:
    assert understand(words, None, None, None).request.account == account
