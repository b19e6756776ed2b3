"""The files that a log asks of the Hugging Face hub: their name, their folder, and whether they reached the job."""

from __future__ import annotations

import re
from collections.abc import Iterable

from graph.answering.log import after_failure
from knowledge.types import Diagnosis

# What a program asks of the hub, as its client prints it: the address, else the name that it gives.
OF_HUB = (
    re.compile(r"\burl: /(?P<data>datasets/)?(?P<id>[\w.-]+(?:/[\w.-]+)?)/resolve/"),
    re.compile(r"huggingface\.co/(?:api/(?:models/)?)?(?P<data>datasets/)?(?P<id>[\w.-]+(?:/[\w.-]+)?)/resolve/"),
    re.compile(r"\b(?:(?P<data>load_dataset)|from_pretrained)\(\s*[\"'](?P<id>[\w.-]+(?:/[\w.-]+)?)[\"']"),
)
HOME = re.compile(r"\bHF_HOME=[\"']?([^\s\"';]+)")


def asked_of_hub(lines: Iterable[str]) -> tuple[str, bool]:
    """(the name on the hub that these lines ask for, whether it is a data set); empty where they tell none."""
    told = list(lines)
    found = next((one for pattern in OF_HUB for line in told if (one := pattern.search(line))), None)
    return (found["id"], bool(found["data"])) if found else ("", False)


def folder_of(script: str, lines: Iterable[str]) -> str:
    """The HF_HOME that the script or the log sets."""
    return next((one[1] for text in (script, *lines) if (one := HOME.search(text))), "")


def as_in_log(place: str, lines: Iterable[str]) -> str:
    """A machine's place with the project that the log's own paths have there."""
    pattern = re.compile(re.sub(r"<[^>]*>", r"([\\w.-]+)", re.escape(place.split("/$")[0])))
    found = next((one for line in lines if (one := pattern.search(line))), None) if "<" in place else None
    return place.replace(place.split("/$")[0], found[0]) if found else place


def reached_checks(report: Diagnosis) -> str:
    """What shows whether a cure that is right reached the job; empty for causes where nothing is known to."""
    telling = after_failure()["reached"].get(report.cause)
    name, is_data = asked_of_hub(one.text for one in report.evidence)
    if telling is None or not name:
        return ""
    steps = (one.format(kept=kept_in(name, is_data)) if "{kept}" in one else one for one in telling["steps"])
    return "\n".join((telling["says"], "", *(f"{at}. {one}" for at, one in enumerate(steps, 1))))


def kept_in(name: str, is_data: bool) -> str:
    """The folder of a model or data set in the hub's cache."""
    return f"{'datasets' if is_data else 'models'}--{name.replace('/', '--')}"
