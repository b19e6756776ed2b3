"""Files that the launch names and that lie beside the script: are they there?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from graph.extraction.shell_words import is_known, plain
from graph.verification.checks.subject import Subject, read_subject
from knowledge.errors import InputError
from knowledge.types import Finding

OPTIONS = re.compile(r"--?(deepspeed[_-]config(_file)?|ds[_-]config|config[_-]file|hostfile|deepspeed)(=.*)?")
# Folders that are the one the job was submitted from: there the script lies, as a rule.
HERE = re.compile(r"^cd\s+[\"']?(\$\{?(PBS_O_WORKDIR|SLURM_SUBMIT_DIR|LS_SUBCWD)\}?|\$\(dirname .*|\.)[\"']?\s*$")


def missing_files(text: str, folder: Path) -> list[Finding]:
    """A finding for each side file that is named and not there. None where the script goes to another folder."""
    try:
        subject = read_subject(text, None)
    except InputError:
        return []
    if "chdir" in subject.job.asked or any(
        re.match(r"\s*(cd|pushd)\s", line) and not HERE.match(line.strip()) for _, line in subject.code_lines
    ):
        return []
    # Of a script that was copied from elsewhere whole folders are missing, unless it goes to its own.
    at_home = any(HERE.match(line.strip()) for _, line in subject.code_lines)
    written = {document.name for document in subject.script.documents}
    return [
        Finding(
            "side-file-missing",
            "warning" if at_home or (folder / name).parent.exists() else "info",
            line,
            f"'{name}' is not beside the script",
            "the program looks for it in the folder that the job starts in",
        )
        for line, name in dict.fromkeys(named(subject))
        if name not in written and f"./{name}" not in written and not (folder / name).exists()
    ]


def named(subject: Subject) -> Iterator[tuple[int, str]]:
    """(line, name) of every relative file among the options that take one."""
    launch = subject.launch
    if launch is None:
        return
    words = [
        word
        for layer in launch.layers
        for name, value in layer.options
        for word in (((), value) if not name else (value,))
    ]
    args = list(launch.program.args)
    for number, word in enumerate(args):
        option = OPTIONS.fullmatch(plain(word))
        if option and "=" in plain(word):
            yield from relative(launch.line, plain(word).partition("=")[2], is_known(word))
        elif option and number + 1 < len(args):
            yield from relative(launch.line, plain(args[number + 1]), is_known(args[number + 1]))
    for layer in launch.layers:
        for name, value in layer.options:
            if OPTIONS.fullmatch(name) and value and words:
                yield from relative(launch.line, plain(value), is_known(value))


def relative(line: int, name: str, known: bool) -> Iterator[tuple[int, str]]:
    if known and re.fullmatch(r"(\./)?[\w.+-]+(/[\w.+-]+)*\.(json|ya?ml|txt|toml|hosts?)", name):
        yield line, name
