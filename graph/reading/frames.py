"""Wishes for parts of a job, in any order of words: what a sentence speaks of, and the values of the right kind in it.

"start only when job 4411 has ended", "job 4411 has to end before it runs" and "make it depend on 4411" are one frame:
words of waiting, and a job's id. A frame takes the words it was read from; what is left goes to the other readers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.extraction.sentences.intents import is_question, sentences
from graph.reading import frames_job as job
from graph.reading import frames_program as program
from graph.reading.edits import Edit, apply_edits
from graph.reading.frame import Frame, blanked
from graph.reading.parts import find_parts
from graph.reading.scope import obeyed
from graph.reading.wishes.taking import take_wishes
from knowledge.types import JobRequest

LONGEST, MOST_LINES = 600, 4  # a longer text is no wish but a paste
# A noun alone, as an answer to nobody: `my conda env vit`, `uv project $HOME/p`.
NOUN = re.compile(
    r"\W*(?:my |in |the |with )*(?:conda|mamba|venv|virtual ?env\w*|uv)(?: (?:env\w*|project))* \S+\W*", re.I
)
# `when training went well run eval.py` names a moment, and asks for none.
WHEN = re.compile(r"\W*(?:when|once|wenn|sobald|quand|cuando|quando)\b", re.I)
TOLD = re.compile(
    r"\b(?:why|yesterday|last (?:time|night|week)|was|were|broke|broken|crashed|didn'?t|doesn'?t)\b"
    # `it copies the data first` tells what is; `it should copy`, `it needs to` wish.
    r"|^\W*(?:it|the (?:job|script|program|code|run)|my (?:job|script|program|code|run)|\S+\.(?:py|sh))\s+"
    r"(?:already |currently |now |also |always )*"
    r"(?!(?:should|must|has|needs|shall|can|may|is|goes|depends|takes|waits|starts|runs)\b)[a-z]+s\b",
    re.I,
)
FRAMES: tuple[Frame, ...] = (
    job.directives,
    job.array,
    job.waiting,
    job.signal,
    job.not_again,
    job.mail,
    job.alone,
    job.argument_gone,
    program.output_folder,
    program.deepspeed_file,
    program.staging,
    program.programs,
    program.environment,
    program.binds,
    program.image,
    program.modules,
    program.nccl_talks,
    program.first_run,
)


@dataclass(frozen=True, slots=True)
class Framed:
    """edits in the order of the frames; rest: the text without their words."""

    edits: tuple[Edit, ...]
    rest: str


def find_frames(text: str, request: JobRequest) -> Framed:
    """The edits that the wishes in a text make to a job that stands."""
    if len(text) > LONGEST or text.count("\n") > MOST_LINES:
        return Framed((), text)
    edits: list[Edit] = []
    for start, end in [*sentences(text)] or [(0, len(text))]:
        if not is_wish(text[start:end]):
            continue
        for frame in FRAMES:
            got = frame(text[start:end], request)
            if got is None or not got.edits:
                continue
            allowed = obeyed(text[start:end], got.edits, got.spans, request)
            request = apply_edits(request, tuple(allowed)).request
            edits += allowed
            text = text[:start] + blanked(text[start:end], got.spans) + text[end:]
    return Framed(tuple(edits), text)


def is_wish(sentence: str) -> bool:
    """Whether a sentence may want something: it neither asks nor tells of what is or was."""
    if NOUN.fullmatch(sentence):
        return True
    if TOLD.search(sentence):
        return False
    return not is_question(sentence) or (WHEN.match(sentence) is not None and "?" not in sentence)


def wishes_a_part(sentence: str) -> bool:
    """Whether a sentence is a wish for a part of a job, by the tagger of wishes, a frame, or the table of parts."""
    stands = JobRequest(nodes=1, entry="train.py")
    return is_wish(sentence) and bool(
        find_frames(sentence, stands).edits
        or find_parts(sentence, stands, True)[0]
        or take_wishes(sentence, stands).edits
    )
