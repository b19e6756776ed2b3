"""Command lines in a person's sentence: `python3 -m pkg.train --config x.yaml`, `VAR=1 torchrun t.py a.b=2`, `./bin/x`.

A command begins at an interpreter, a launcher or a program's path, and ends where the sentence goes on. What it starts
is settled by the reader of launch scripts (graph/extraction/launchers), so a launcher's own options never become the
program's.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from graph.extraction.launchers import read_chain
from graph.extraction.sentences.flags import fields
from graph.extraction.shell_words import literal, plain
from graph.extraction.training import ASIDE, TRAINS
from graph.reading.frame import SMALL_WORD
from knowledge.data_file import read_data
from knowledge.types import Variable


@cache
def spoken_words(name: str) -> frozenset[str]:
    """A list of commands.yaml."""
    data: dict[str, str] = read_data(Path(__file__).parent / "commands.yaml")
    return frozenset(data[name].split())


WORD = re.compile(r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'`]|[\"'](?=\S))+")
ASSIGNS = re.compile(r"[A-Za-z_]\w*=\S*")
# What starts a command: an interpreter or launcher, a path that is run, a program's file.
STARTER = re.compile(
    r"(?:python[\d.]*|torchrun|torchrun_jsc|deepspeed|accelerate|srun|mpirun|mpiexec|jsrun|horovodrun|julia|Rscript"
    r"|bash|sh|uv|vllm|trtllm-serve|nohup|apptainer|singularity)$"
)
# The word that has to follow one of these, so that "deepspeed zero3" or "use vllm" is no command.
FOLLOWED = {
    "accelerate": re.compile(r"launch$"),
    "vllm": re.compile(r"serve$"),
    "uv": re.compile(r"run$"),
    "apptainer": re.compile(r"(?:exec|run)$"),
    "singularity": re.compile(r"(?:exec|run)$"),
}
PROGRAM = re.compile(
    r"(?:[~.$\w{}/+-]*/)?[\w.$+-]*\w\.(?:py|sh|jl|R|bash)$|\.{1,2}/[\w./-]*\w$|(?:~|\$\w+)?/[\w./-]*/s?bin/[\w.-]+$"
)
FILE = re.compile(
    r"[~$\w{}.-]*/[\w./${}:@+-]*\w$|[\w-]+\.(?:ya?ml|json|toml|cfg|conf|ini|env|gin|py|txt|jsonl|csv|pt|ckpt|npz|h5|tar)$"
)
PAIR = re.compile(r"\+{0,2}[A-Za-z_][\w./]*=\S+$")
OPTION = re.compile(r"--?[A-Za-z][\w.-]*(?:=.*)?$")
NUMBER = re.compile(r"[+-]?\d[\d.,_]*(?:e[+-]?\d+)?$", re.I)
# Where the sentence goes on: no value of an option, no word of the program.
GOES_ON = spoken_words("goes_on")
WISHES_FOR = re.compile(r"(?:also|now|needs?|wants?)", re.I)
UNIT = re.compile(
    r"(?:nodes?|gpus?|gcds?|hours?|hrs?|h|min(?:ute)?s?|days?|ranks?|tasks?|cards?|noeuds?|knoten|nodos?|nodi)\b", re.I
)
# Where a sentence of Japanese or Korean goes on behind a command: `train.py --amp でお願いします`.
PARTICLE = re.compile(r"[\u3040-\u309f]|(?:으?로|[을를이가은는도])$")
INTERPRETERS = {".jl": "julia", ".R": "Rscript"}
# A field of the job written like an argument: none of the program's.
OF_JOB = re.compile(
    r"(?:machine|framework|strategy|nodes|gpus_per_node|total_gpus|walltime|time|queue|partition|qos|account)="
)


@dataclass(frozen=True, slots=True)
class SpokenCommand:
    """One command: where it stands in the text, where its program does, and what it starts.

    entry is as a request takes it (`-m pkg.train` for a module, `vllm serve MODEL`); launched: a launcher starts it;
    dropped: the launcher's own words, which a new script writes in its own way.
    """

    start: int
    entry_at: int
    end: int
    entry: str
    args: str
    variables: tuple[Variable, ...] = ()
    launched: bool = False
    dropped: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The program's name alone."""
        return self.entry.removeprefix("-m ")


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    last: bool


def find_commands(text: str) -> list[SpokenCommand]:
    """The commands of a text, in its order."""
    words = [_word(match) for match in WORD.finditer(text)]
    found: list[SpokenCommand] = []
    at = 0
    while at < len(words):
        end = _end(words, at)
        command = _read(words[at:end]) if end > at else None
        found += [command] if command else []
        at = end if command else at + 1
    return found


def _word(match: re.Match[str]) -> _Word:
    """A word without the sentence's own signs behind it, and whether such a sign ends the command there."""
    text = match[0]
    odd = any(text.count(sign) % 2 for sign in "\"'`")
    opening = len(text) - len(text.lstrip("\"'`")) if odd else 0
    opening += text[opening:].startswith("(") and text.count("(") > text.count(")")
    bare = text[opening:].rstrip(",;:!?`")
    while bare.endswith(")") and bare.count(")") > bare.count("("):
        bare = bare[:-1].rstrip(",;:!?`")
    bare = bare[:-1] if bare.endswith(".") and len(bare) > 1 and bare != ".." else bare
    start = match.start() + opening
    return _Word(bare, start, start + len(bare), len(bare) < len(text) - opening)


def _end(words: Sequence[_Word], at: int) -> int:
    """Behind the last word of the command that begins here; `at` where none does."""
    start, assigned = at, False
    while at < len(words) and ASSIGNS.fullmatch(words[at].text) and not words[at].last:
        assigned, at = True, at + 1
    if at >= len(words):
        return start
    first = words[at].text
    if STARTER.match(first) and not words[at].last:
        following = words[at + 1].text if at + 1 < len(words) else ""
        wanted = FOLLOWED.get(first)
        if (wanted and not wanted.match(following)) or not _runs(words, at + 1):
            return start
    elif not PROGRAM.match(first) or (first.endswith((".sh", ".bash")) and not _called(words, at)):
        return start
    elif not first.endswith((".jl", ".R")) and not _has_arguments(words, at):
        return at + 1 if assigned else start
    elif not _has_arguments(words, at):
        return at + 1
    while at < len(words):
        if words[at].last:
            return at + 1
        if not _goes_on(words, at + 1):
            return at + 1
        at += 1
    return at


def _runs(words: Sequence[_Word], at: int) -> bool:
    """Whether what follows an interpreter or launcher is a program with what stands before it, and no sentence."""
    for word in words[at : at + 12]:
        if PROGRAM.match(word.text) or word.text == "-m" or word.text in ("serve", "launch", "run", "exec"):
            return True
        if not (
            OPTION.match(word.text) or NUMBER.match(word.text) or FILE.match(word.text) or STARTER.match(word.text)
        ):
            return False
        if word.last:
            return False
    return False


def _called(words: Sequence[_Word], at: int) -> bool:
    before = " ".join(word.text.lower() for word in words[max(0, at - 3) : at])
    return bool(
        re.search(r"\b(?:run|launch|start|execute|script is|program is|entry(?: point)?(?: is)?|bash|sh)$", before)
    )


def _has_arguments(words: Sequence[_Word], at: int) -> bool:
    return not words[at].last and at + 1 < len(words) and _goes_on(words, at + 1)


def _goes_on(words: Sequence[_Word], at: int) -> bool:
    """Whether a word still belongs to the command that stands before it."""
    if at >= len(words):
        return False
    text, before = words[at].text, words[at - 1].text
    behind = words[at + 1].text if at + 1 < len(words) else ""
    if text in ("|", "&&", ">", "2>&1", "and", "then") or text.startswith(("#", "|", "&")) or OF_JOB.match(text):
        return False
    if PARTICLE.match(text):
        return False
    if text.endswith(".py") and before.endswith(".py"):
        return False  # a list of programs
    if OPTION.match(text) or PAIR.match(text) or (FILE.match(text) and text.lower() not in GOES_ON):
        return fields().get(text.split("=")[0], ("", ""))[1] not in (
            "account",
            "queue",
            "qos",
            "walltime",
            "nodes",
        ) or (len(text) > 2 and text.startswith("--") and _before_program(words, at))
    if NUMBER.match(text):
        if UNIT.match(behind):
            return False
        if OPTION.match(before) or NUMBER.match(before):
            return True
        ends = words[at].last or not behind or behind.lower() in GOES_ON or OPTION.match(behind) or NUMBER.match(behind)
        return bool(ends) and _is_started(words, at - 1)
    if OPTION.match(before) and "=" not in before:
        return text.lower() not in GOES_ON and not UNIT.match(text)
    if STARTER.match(before) or before in ("launch", "serve", "exec") or before == "-m":
        return True
    if WISHES_FOR.fullmatch(text):
        return False  # `train.py needs --seed 1`: the program gets one more
    is_word = re.fullmatch(r"[a-z][\w-]*", text) and text.lower() not in GOES_ON
    further = bool(OPTION.match(behind) or PAIR.match(behind)) and not words[at].last
    return bool(is_word and further) or text[:1] in "\"'$"


def _is_started(words: Sequence[_Word], at: int) -> bool:
    """Whether a word is the program that an interpreter or launcher starts: a number behind it is the program's."""
    if at and words[at - 1].text == "-m":
        return True
    started = any(STARTER.match(word.text) for word in words[max(0, at - 8) : at])
    return started and PROGRAM.match(words[at].text) is not None


def _before_program(words: Sequence[_Word], at: int) -> bool:
    return any(STARTER.match(word.text) for word in words[max(0, at - 8) : at]) and not any(
        PROGRAM.match(word.text) for word in words[max(0, at - 8) : at]
    )


def _read(words: Sequence[_Word]) -> SpokenCommand | None:
    """What the words start, by the reader of launch lines; None where that is nothing."""
    variables, at = [], 0
    while at < len(words) and (found := re.fullmatch(r"([A-Za-z_]\w*)=(.*)", words[at].text)):
        variables.append(Variable(found[1], found[2].strip("'\""), "as you said"))
        at += 1
    command = words[at:]
    if not command:
        return None
    if command[0].text == "vllm":
        return _served(words, command, tuple(variables))
    chain = read_chain([literal(word.text) for word in command])
    program = chain.program
    if program is None or not plain(program.entry) or program.kind == "inline":
        return None
    entry = plain(program.entry)
    place = next((i for i in range(len(command) - 1, -1, -1) if command[i].text == entry), None)
    is_path = program.kind == "module" or PROGRAM.match(entry) or FILE.match(entry)
    if place is None or "://" in entry or not is_path:
        return None
    spoken = next((i for i, word in enumerate(command) if i > place and PARTICLE.match(word.text)), None)
    behind = [word.text for word in command[place + 1 : spoken] if word.text]
    # `run.py takes --seed` tells of the program, and is no command.
    args = "" if behind and re.fullmatch(SMALL_WORD, behind[0], re.I) else " ".join(behind)
    written = f"-m {entry}" if program.kind == "module" else entry
    foreign = next((name for ending, name in INTERPRETERS.items() if entry.endswith(ending)), "")
    written = f"{foreign} {entry}" if foreign else written
    own = [word.text for word in command[:place] if word.text not in ("-u", "-m", "uv", "run", "launch")]
    dropped = tuple(text for text in own if not STARTER.match(text))
    return SpokenCommand(
        words[0].start,
        command[place].start,
        words[-1].end,
        written,
        args if _splits(args) else "",
        tuple(variables),
        any(layer.kind in ("spawner", "parallel") for layer in chain.layers),
        dropped,
    )


def _served(words: Sequence[_Word], command: Sequence[_Word], variables: tuple[Variable, ...]) -> SpokenCommand | None:
    if len(command) < 3:
        return None
    args = " ".join(word.text for word in command[3:])
    return SpokenCommand(
        words[0].start, command[2].start, words[-1].end, f"vllm serve {command[2].text}", args, variables, True
    )


def _splits(text: str) -> bool:
    try:
        shlex.split(text)
    except ValueError:
        return False
    return True


def choose_main(commands: Sequence[SpokenCommand]) -> SpokenCommand | None:
    """The one that trains: what a launcher starts, else what its name calls training, else the first."""
    return max(commands, key=_weight, default=None)


def _weight(command: SpokenCommand) -> int:
    name = command.name.rsplit("/", 1)[-1]
    return 2 * command.launched + bool(TRAINS.search(name)) - bool(ASIDE.search(name))
