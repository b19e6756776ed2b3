"""Conversations about plans, as a person has them: measured amounts, laws of arithmetic, premises, and what goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from assistant.drawing import markdown
from assistant.events import Known
from assistant.session import Session
from assistant.settings import Settings


async def _said(session: Session, words: str) -> str:
    return "\n".join(
        markdown(event) for event in [e async for e in session.send(words)] if not isinstance(event, Known)
    )


def talk(data: Path, *turns: str) -> list[str]:
    """The answers to these turns of one conversation."""
    (data / "pasted").mkdir(parents=True)
    session = Session(Settings(data=data), "default")
    return [asyncio.run(_said(session, words)) for words in turns]


@pytest.mark.parametrize(
    ("turns", "last"),
    [
        # A measured pace before any theory, and the queue that takes the place of the one before.
        (
            ("0.9 s per step on 2 nodes of Delta gpuA100x4, 160000 steps. Cost?", "what if i use preempt?"),
            ("40 h", "charge factor 0.5", "160 units", "--requeue"),
        ),
        (
            ("0.9 s per step on 2 nodes of Delta gpuA100x4, 160000 steps. Cost?", "and on gpuA40x4?"),
            ("does not hold on A40",),
        ),
        # Two paces are compared, not reckoned with.
        (
            ("I see 2 s/step on 4 GPUs, so 0.5 s/step on 16 GPUs?",),
            ("only if the global batch stays", "same batch on each"),
        ),
        (("20 min per epoch on one node of Leonardo, 12 min on two. ok?",), ("1.7 times as fast", "83% of")),
        # The line through two points.
        (("batch 8 takes 31 GB, batch 12 takes 42 GB, the A40 has 48 GB. Will 16 run?",), ("**No: 16 take", "53.0")),
        (("my A100 eats 1200 images a second, a worker delivers 80 per second, num_workers=4. ok?",), ("15 work",)),
        # One value replaced in the question before.
        (("global batch 256, micro batch 2, 16 GPUs: how many accumulation steps?", "only 24 gpus now"), ("5.33",)),
        (("it fails every 20 hours, a save takes 4 minutes. how often to save?", "and if it only blocks for 15 s?"),
         ("Every 24 min",)),
        (("serve Llama-3-8B on one A100 40GB with 8k context, how many users?", "most chats are 2k really"), ("2048",)),
        # Failures of all of them are those of the job, and more often on more of them.
        (("a failure every 8 h on 512 GPUs, saving takes 2 minutes. how often?", "on 1024 GPUs?"), ("Every 30 min",)),
        (("each of my 64 nodes fails once a month, a save takes 3 minutes. how often?",), ("730 h / 64",)),
        (("How many SU is a 10 hour job on 2 A40 nodes of Delta?",), ("8 x 10 h x 0.5 = 40",)),
        # A start is no walltime, and the save in its sentence no save.
        (("40 hours on 16 Polaris nodes, each start plus the save costs me 12 min. how many jobs in prod?",),
         ("15 of 3 h", "688 node hours")),
        (("we need 1e21 FLOP: LUMI or Leonardo, how many node hours?",), ("LUMI: about 570 node", "Leonardo: ")),
        (("70B, 20k steps, a checkpoint every 500 steps, all kept in $WORK on Leonardo. how much space?",),
         ("40 x 980 GB", "39.2 TB", "1 TB a project")),
        # What is served is bound by reading the weights.
        (("how many tokens per second does one user get from Llama-3-70B on a DeltaAI node?", "and fp8?"), ("110 to",)),
        # Premises that the facts deny.
        (("TP=4 inside the node, FSDP across on Vista, 13B full finetune, 4 nodes?",), ("A node of Vista has 1 GPU",)),
        (("1.3B with DDP on Lassen V100 16 GB in bf16, ok?",), ("Lassen is gone", "no bf16", "Nothing that")),
        (("why can't I use DDP for a 3B on Expanse's V100s? it is only 6 GB",), ("V100 32 GB", "does not fit")),
        (("70B needs only 140 GB, so 4 x 40 GB do for full finetuning?",), ("does not fit", "1,120 GB")),
    ],
)  # fmt: skip
def test_a_talk_ends_in_its_sum(tmp_path: Path, turns: tuple[str, ...], last: tuple[str, ...]) -> None:
    told = talk(tmp_path / "data", *turns)[-1]
    assert not [words for words in last if words not in told], told


def test_a_script_is_still_written_after_a_plan(tmp_path: Path) -> None:
    told = talk(
        tmp_path / "data", "does 7B full finetune fit on one node of Delta?", "train.py with fsdp on 2 nodes of Delta"
    )
    assert "#SBATCH --nodes=2" in told[-1]


def test_another_question_after_a_plan_is_none_of_it(tmp_path: Path) -> None:
    told = talk(tmp_path / "data", "does 7B full finetune fit on one node of Delta?", "what modules do I load there?")
    assert "module" in told[-1] and "GiB" not in told[-1]
