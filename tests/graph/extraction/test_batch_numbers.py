"""The numbers of the global batch: found where they stand, made smaller with the whole kept where that is known."""

from __future__ import annotations

import pytest

from graph.extraction.batch_numbers import samples_of, shrink_batch

HF = "--per_device_train_batch_size"


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (f"torchrun t.py {HF} 8 --bf16", f"torchrun t.py {HF} 4 --gradient_accumulation_steps 2 --bf16", True),
        (f"torchrun t.py {HF}=9 --bf16", f"torchrun t.py {HF}=3 --gradient_accumulation_steps=3 --bf16", True),
        (
            f"BS=8\nGA=2\ntorchrun t.py {HF} $BS --gradient_accumulation_steps ${{GA}}\n",
            f"BS=4\nGA=4\ntorchrun t.py {HF} $BS --gradient_accumulation_steps ${{GA}}\n",
            True,
        ),
        (
            f'#BS=64\nexport BS="${{BS:-16}}"  # samples\ntorchrun t.py \\\n    {HF} "$BS" \\\n    --bf16\n',
            '#BS=64\nexport BS="${BS:-8}"  # samples\ntorchrun t.py \\\n'
            f'    {HF} "$BS" --gradient_accumulation_steps 2 \\\n    --bf16\n',
            True,
        ),
        ("BS=8\nBS=4\npython t.py --batch-size $BS", "BS=8\nBS=2\npython t.py --batch-size $BS", False),
        (
            "x --micro-batch-size 4 --global-batch-size 512",
            "x --micro-batch-size 2 --global-batch-size 512",
            True,
        ),
        (
            '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 3}',
            '{"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 6}',
            True,
        ),
    ],
)
def test_the_number_is_changed_where_it_stands(before: str, after: str, kept: bool) -> None:
    found = shrink_batch(before)
    assert found is not None
    assert found[0] == after
    assert ("the same global batch" in found[1]) is kept


@pytest.mark.parametrize(
    "text",
    ["python t.py --lr 3", "python t.py --batch_size 1", "#python t.py --bs 8", "python t.py --bs $(cat n)", "BS=8"],
)
def test_what_is_not_to_be_seen_stays(text: str) -> None:
    assert shrink_batch(text) is None


def test_a_rank_s_samples_come_before_a_number_of_unclear_meaning() -> None:
    assert samples_of("--batch_size 512 --micro_batch_size 4") == 4
    assert samples_of(None) == samples_of("--epochs 3") == 0
