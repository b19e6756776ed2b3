"""A plan's verdict in the language of the question: one line before the sums, which stay in English."""

from __future__ import annotations

from pathlib import Path

from graph.usecases.plan_resources import ResourcePlan
from graph.waiting.languages import language_of
from knowledge.data_file import read_data

PATH = Path(__file__).parent / "resource_languages.yaml"


def spoken(words: str, key: str, **values: str) -> str:
    """A row of the table, filled in, in the language of the words: `Recomendación: bf16.`; empty for English."""
    told: dict[str, str] | None = read_data(PATH).get(language_of(words))
    return told[key].format(**values) if told else ""


def verdict_line(words: str, plan: ResourcePlan) -> str:
    """`Llama-3-8B passt auf 4 x A100 64 GB (Leonardo).`; empty for English, or where nothing was weighed."""
    told: dict[str, str] | None = read_data(PATH).get(language_of(words))
    if told is None or not plan.options or plan.model is None:
        return ""
    best = plan.options[0]
    if plan.model.unsure and best.fit.verdict == "tight":
        return ""  # what is not known of it is told below
    if not best.accepted:
        return told["refused"]
    where = f" ({best.cluster.title})" if best.cluster else ""
    place = f"{best.fit.layout.gpus} x {best.fit.device.name}{where}"
    return told[best.fit.verdict].format(model=plan.model.name, place=place)
