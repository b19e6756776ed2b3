"""How something is trained or served, as words say it: the method, the precision, the optimizer, what is recomputed,
what lies on the CPU, and the models kept beside the one in training."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrainingWord:
    """field: of a ResourceQuestion; value: what it says of it; start, end: where it stands, in characters."""

    field: str
    value: str
    start: int
    end: int
    text: str


# field, value, how it is written. Of one field the first row that a text holds counts.
WORDS: tuple[tuple[str, str, str], ...] = (
    ("task", "qlora", r"q[- ]?lora|(?:4[- ]?bit|nf4)\b.{0,30}\b(?:fine[- ]?tun\w*|adapters?|lora)"),
    ("task", "lora", r"(?:do|l)?ora(?<=lora)|adapters?|peft"),
    ("task", "serve", r"serv(?:e|es|ing|ir|ire)|servier\w*|h[eé]berger|推理|部署|推論|inference|infer|vllm"
     r"|deploy\w*|host it|kv[- ]?cache|sglang|chat(?:ting|bot)?"),
    ("task", "train", r"full(?:y|[- ]param\w*)?[- ]?(?:fine\w*|ft|param\w*)|full(?= again|\W*$)"
     r"|(?:all|tous les|alle) param\w*|from scratch|pre-?train\w*|full ft"
     r"|voll\w* (?:fein|fine)\w*|fine-?tuning complet\w*|ajuste completo"
     r"|全参数?(?:微调|训练)?|全量微调?|フルファインチューニング|全パラメータ"),
    ("precision", "pure", r"pure (?:bf16|fp16)|(?:bf16|fp16)[- ](?:only|true)|(?:all|weights) in (?:bf16|fp16)"),
    ("precision", "bf16", r"bf16|bfloat16|mixed precision|amp"),
    ("precision", "fp16", r"fp16|float16|half precision"),
    ("precision", "fp32", r"fp32|float32|single precision|full precision|tf32"),
    ("precision", "fp8", r"fp8|float8|8[- ]?bit weights"),
    ("precision", "int8", r"int8|w8a8|8[- ]?bit(?!\W+(?:adam|optim))"),
    ("precision", "int4", r"int4|4[- ]?bit|awq|gptq|nf4|q4\w*"),
    ("optimizer", "adam8bit", r"(?:8[- ]?bit|int8|bnb|paged)[- ]*(?:adamw?|optimi[sz]ers?)|adamw?[-_ ]?8[- ]?bit"),
    ("optimizer", "adafactor", r"adafactor"),
    ("optimizer", "sgd", r"sgd|lion|muon"),
    ("optimizer", "adam", r"adamw?"),
    ("recompute", "none", r"(?:without|no|disabled?|turn(?:ed)? off)\s+(?:any\s+)?(?:{AC}|checkpointing)"
     r"|(?:ohne|sans|sin|senza|sem)\s+(?:{AC}|checkpointing)|(?:{AC}|checkpointing)\s+(?:is\s+|turned\s+)?off"),
    ("recompute", "full", r"{AC}|recomput\w+|(?:with|and|mit|avec|con)\s+checkpointing"),
    ("offload", "parameters", r"(?:param\w*|weights?)[- ]offload\w*|offload\w*\W+(?:\w+\W+){0,2}(?:param\w*|weights)"),
    ("offload", "optimizer", r"(?:cpu[- ])?offload\w*|optimi[sz]er (?:on|to) (?:the )?cpu"),
    ("strategy", "zero1", r"(?:--use-)?distributed[- ]optimi[sz]er|sharded optimi[sz]er"),
    ("beside", "reference", r"dpo|kto|ipo|orpo|distill\w*"),
    ("beside", "several", r"ppo|grpo|rlhf|rloo"),
    ("beside", "ema", r"ema"),
    ("loss", "fused", r"liger|fused (?:loss|cross[- ]entropy)|cut cross[- ]entropy|chunked (?:loss|cross[- ]entropy)"),
)  # fmt: skip
AC = r"(?:(?:activation|gradient)[- ]checkpoint\w*|recomput\w+|(?<!\w)ac(?!\w))"
PATTERNS = tuple(
    (field, value, re.compile(rf"(?<![\w])(?:{words.replace('{AC}', AC)})(?!\w)", re.I | re.A))
    for field, value, words in WORDS
)


def every_training_word(text: str) -> Iterator[TrainingWord]:
    """All of them at all their places, but those inside another of the same field: `gradient checkpointing` of `no
    gradient checkpointing`."""
    found = [
        TrainingWord(field, value, match.start(), match.end(), match[0])
        for field, value, pattern in PATTERNS
        for match in pattern.finditer(text)
    ]
    inside = [(one.field, one.start, one.end) for one in found]
    for one in found:
        if not any(
            field == one.field and start <= one.start and one.end <= end and end - start > one.end - one.start
            for field, start, end in inside
        ):
            yield one


def find_training_words(text: str) -> Iterator[TrainingWord]:
    """One word for each field that the text says something of; of the precision each."""
    said: set[str] = set()
    for field, value, pattern in PATTERNS:
        found = pattern.search(text)
        if found and (field not in said or field == "precision"):
            said.add(field)
            yield TrainingWord(field, value, found.start(), found.end(), found[0])
