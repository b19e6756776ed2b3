"""The numbers of the global batch: found where they stand, made smaller with the whole kept where that is known."""

from __future__ import annotations

import pytest

from graph.extraction.batch_numbers import Counts, counts, on_other_ranks, samples_of, shrink_batch

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


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("rank", "--batch-per-rank --batch-size-per-gpu --samples_per_gpu --mbs trainer.local_batch_size MICRO_BATCH"),
        ("whole", "--global-batch-size --total_batch gbs GLOBAL_BATCH SOLVER.IMS_PER_BATCH"),
        ("unclear", "--batch_size -b data.batch_size --batchSize BS --batch-size-per-node"),
        ("steps", "--accum-iter --gas --grad-acc --update-freq trainer.accumulate_grad_batches GRADIENT_ACCUMULATION"),
        (None, "--per_device_eval_batch_size --batch-norm --num-batches --acc --batch-update --lr --world-size"),
    ],
)
def test_a_number_of_the_batch_is_known_by_the_words_of_its_name(what: Counts | None, names: str) -> None:
    assert {name: counts(name) for name in names.split()} == dict.fromkeys(names.split(), what)


def test_what_is_exported_to_the_program_is_a_number_of_the_batch() -> None:
    found = shrink_batch("export BATCH_PER_GPU=8\npython t.py trainer.lr=1")
    assert found is not None and found[0].startswith("export BATCH_PER_GPU=4")


def test_a_number_of_thousands_of_digits_counts_nothing() -> None:
    assert samples_of(f"--batch_size {'9' * 5000}") == samples_of(f"BS={'9' * 5000}\n--batch_size $BS") == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--micro-batch-size 2", "the global batch 16 becomes 32 (--micro-batch-size 2 on 16 ranks)"),
        ("--micro-batch-size 2 --tensor-model-parallel-size 4", "16 ranks, 4 to a model)"),
        ("--micro-batch-size 2 --tensor-model-parallel-size 4", "global batch 4 becomes 8 "),
        ("--local_batch_size 2 --parallelism.tensor_parallel_degree 2 --pp 2", "global batch 4 becomes 8 "),
        ("--micro-batch-size 2 --tp 3", ""),
        ("--micro-batch-size 2 --tensor-log 4", "global batch 16 becomes 32 "),
    ],
)
def test_the_global_batch_counts_a_model_over_several_ranks_once(options: str, told: str) -> None:
    found = on_other_ranks(f"srun python t.py {options}\n", 8, 16)
    assert told in found and bool(told) == bool(found)
