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
from knowledge.types import JobRequest

LONGEST, MOST_LINES = 600, 4  # a longer text is no wish but a paste
# How an order begins, and what makes a wish of a sentence that tells.
VERBS = (
    r"use|take|load|run|add|set|make|start|put|stage|copy|send|mail|notify|alert|e-?mail|switch|change|swap|turn|export"
    r"|source|submit|wait|give|pass|drop|remove|call|name|requeue|chain|(?:don'?t|do not|never|please|only|also|then"
    r"|now|first|and|ok|okay|so|but|just|no)|let|stick|bind|mount|activate|write|log|test|limit|keep|avoid|exclude|sweep"
    r"|launch|depend|begin|with|before|after|stop|disable|enable|have|(?:an? )?(?:job )?array|insert|can you|could you"
    r"|tell|untar|unpack|extract|move|quick|short|afterwards|finally|in (?:the|my|an?) (?:container|image)"
)
WISH = re.compile(
    rf"\W*(?:{VERBS})\b|[,;]\s*(?:and |so |then |please )?(?:use|make|set|add|put|run|load|start|mail|turn|keep)\b"
    r"|\b(?:i|we)(?:'d| would)?\s+(?:want|need|like|use|have)\b|\b(?:should|must|please|has to|have to"
    r"|let'?s|use that|goes? to|go to|my env\w* is|it'?s the|it is the)\b",
    re.I,
)
# A noun alone, as an answer to nobody: `my conda env vit`, `uv project $HOME/p`.
NOUN = re.compile(
    r"\W*(?:my |in |the |with )*(?:conda|mamba|venv|virtual ?env\w*|uv)(?: (?:env\w*|project))* \S+\W*", re.I
)
TOLD = re.compile(
    r"\b(?:why|yesterday|last (?:time|night|week)|was|were|broke|broken|crashed|didn'?t|doesn'?t)\b", re.I
)
FRAMES: tuple[Frame, ...] = (
    job.directives,
    job.array,
    job.waiting,
    job.signal,
    job.not_again,
    job.mail,
    job.alone,
    program.output_folder,
    program.log_folder,
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
            request = apply_edits(request, tuple(got.edits)).request
            edits += got.edits
            text = text[:start] + blanked(text[start:end], got.spans) + text[end:]
    return Framed(tuple(edits), text)


def is_wish(sentence: str) -> bool:
    """Whether a sentence wants something, and neither asks nor tells of a run."""
    if NOUN.fullmatch(sentence):
        return True
    return WISH.search(sentence) is not None and not TOLD.search(sentence) and not is_question(sentence)


def wishes_a_part(sentence: str) -> bool:
    """Whether a sentence is a wish for a part of a job, by a frame or by the table of parts."""
    stands = JobRequest(nodes=1, entry="train.py")
    return is_wish(sentence) and bool(find_frames(sentence, stands).edits or find_parts(sentence, stands, True)[0])
