# ruff: noqa: E501
"""Will the shell read the script as it is meant? bash -n, line ends, continuations, characters of word processors."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache

from graph.extraction.launch_shape import LaunchShape
from graph.extraction.launchers import base_name, is_python
from graph.verification.checks import sources
from graph.verification.checks.rule import Edit, Hit, Rule, launch_rule
from graph.verification.checks.subject import Subject
from knowledge.launcher_options import launcher_table

QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
TYPOGRAPHIC = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00ab": '"', "\u00bb": '"'}
DASHES = {"\u2013": "--", "\u2014": "--", "\u2212": "-", "\u2010": "-", "\u2011": "-"}
BLANKS = ("\u00a0", "\u202f", "\u2007", "\u200b", "\u3000")
SECONDS = 3.0


def line_ends(s: Subject) -> Iterator[Hit]:
    if "\r\n" in s.original:
        first = s.original[: s.original.index("\r\n")].count("\n") + 1
        lines = s.original.replace("\r\n", "\n").split("\n")
        yield Hit(first, "the lines end as on Windows (CR LF)", edit=Edit(1, len(lines), tuple(lines)))


def no_shebang(s: Subject) -> Iterator[Hit]:
    text = s.original
    if text.startswith("#!") or not s.job.asked or s.script.jobs or s.script.language not in ("bash", "csh"):
        return
    strict = s.scheduler in ("slurm", "flux")
    if text.startswith("\ufeff#!"):
        says = "an invisible mark (BOM) stands before #!"
        why = "the first two characters of the file must be #!"
        yield Hit(1, says, why, edit=Edit(1, 1, (s.line(1).lstrip("\ufeff"),)))
    elif s.script.shebang and strict:
        number = next((n for n, line in enumerate(s.lines, 1) if line.startswith("#!")), 1)
        kept = tuple(line for n, line in enumerate(s.lines[:number], 1) if n != number)
        yield Hit(number, "the line with #! is not the first one", "sbatch reads it only there: 'This does not look like a batch script'",
                  sources.SBATCH, edit=Edit(1, number, (s.line(number), *kept)))  # fmt: skip
    elif strict:
        says = "the first line is no #! line"
        why = "the script is refused: 'This does not look like a batch script'"
        yield Hit(1, says, why, sources.SBATCH, edit=Edit(1, 0, ("#!/bin/bash",)))
    elif not s.script.shebang:
        says = "the first line is no #! line"
        why = "the job runs in your login shell, whichever that is"
        yield Hit(1, says, why, severity="info", edit=Edit(1, 0, ("#!/bin/bash",)))


@cache
def bash() -> str | None:
    return shutil.which("bash")


def syntax(s: Subject) -> Iterator[Hit]:
    """bash reads the script and runs nothing of it."""
    program = bash()
    if program is None or not s.is_shell or re.search(r"\b(zsh|ksh|dash)\b", s.script.shebang):
        return
    try:
        done = subprocess.run([program, "--norc", "-n"], input=s.script.text.encode("utf-8", "replace"), capture_output=True,
                              timeout=SECONDS, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return
    for line in done.stderr.decode("utf-8", "replace").splitlines():
        found = re.search(r"line (\d+): (.*)", line)
        opened = re.search(r"here-document at line (\d+) delimited by end-of-file \(wanted `(.*)'\)", line)
        if opened:
            why = "everything to the end of the file is taken for its text"
            yield Hit(
                int(opened[1]),
                f"the here-document that begins here has no closing '{opened[2]}'",
                why,
                severity="warning",
            )
        elif (found and "syntax error" in found[2] + line and done.returncode) or (found and "unexpected EOF" in line):
            number = min(int(found[1]), len(s.lines))
            hole = re.search(r"<[A-Za-z][\w .:/-]*>", s.line(number))
            says = (
                f"the placeholder {hole[0]} is still to be filled in"
                if hole
                else f"bash cannot read this: {found[2].strip()}"
            )
            why = "bash takes < and > for redirections and stops there" if hole else "the shell stops there"
            yield Hit(number, says, why, severity="warning" if hole else None)
            return


def broken_continuation(s: Subject) -> Iterator[Hit]:
    for number, line in s.code_lines:
        if re.search(r"\\[ \t]+$", line) and number not in heredoc_lines(s):
            says = "blanks follow the backslash: the command ends here"
            yield Hit(number, says, edit=Edit(number, number, (line.rstrip(),)))


def option_as_command(s: Subject) -> Iterator[Hit]:
    """A line that begins with an option: the line above lacks its backslash."""
    for command in s.script.commands:
        if (
            re.match(r"--?[A-Za-z]", command.written[0])
            and not command.inside
            and s.line(command.line).lstrip().startswith(command.written[0])
        ):
            above = s.line(command.line - 1)
            says = (
                f"'{command.written[0][:40]}' begins a command of its own: the line above does not end in a backslash"
            )
            edit = (
                Edit(command.line - 1, command.line - 1, (above.rstrip() + " \\",))
                if above.strip() and not above.lstrip().startswith("#") and not above.rstrip().endswith("\\")
                else None
            )
            yield Hit(command.line, says, edit=edit)


def blanks_around_equals(s: Subject) -> Iterator[Hit]:
    for command in s.script.commands:
        words = command.written
        if (
            len(words) > 1
            and re.fullmatch(r"[A-Za-z_]\w*", words[0])
            and (words[1] == "=" or (words[1].startswith("=") and not words[1].startswith("==")))
            and not command.inside
        ):
            line = s.line(command.line)
            fixed = re.sub(rf"(\b{words[0]})\s*=\s*", r"\1=", line, count=1)
            says = f"blanks stand around the = after {words[0]}"
            why = f"the shell looks for a program called {words[0]}"
            yield Hit(command.line, says, why, edit=Edit(command.line, command.line, (fixed,)))


def dollar_zero(s: Subject) -> Iterator[Hit]:
    """`bash -c '... "$@"' python train.py`: the first word behind the text is $0, not $1."""
    launch = s.launch
    command = launch.root if launch else None
    if command is None:
        return
    text = command.chain.shell_text
    words = command.chain.positional
    body = "".join(piece.text for piece in text) if text else ""
    if (
        words
        and re.search(r"\$[@*1]|\$\{[@*1]", body)
        and "$0" not in body
        and (is_python(words[0]) or base_name(words[0]) in launcher_table().by_name)
    ):
        yield Hit(command.line, f"'{base_name(words[0])}' becomes the name of the shell ($0) and is not run")


# What bash, ksh and zsh have, and a plain sh has not.
NO_PLAIN = re.compile(r"^[^\S\n]*(?:export\s+|local\s+)?\w+\+?=\(|[<>]\([^)]|\$\{\w+\[[@*\d]", re.M)


def plain_shell(s: Subject) -> Iterator[Hit]:
    """`#!/bin/sh` above arrays and `<(...)`: some systems' sh is no bash."""
    if not re.fullmatch(r"(/usr)?/bin/(env\s+)?(sh|dash)(\s.*)?", s.script.shebang.removeprefix("#!").strip()):
        return
    skipped = heredoc_lines(s)
    for number, line in s.code_lines:
        if number not in skipped and NO_PLAIN.search(QUOTED.sub("", line) if "${" not in line else line):
            says = "this is bash's, and the first line names /bin/sh"
            yield Hit(number, says, severity="info" if s.cluster else None, edit=Edit(1, 1, ("#!/bin/bash",)))
            return


# Commands without which nothing starts.
NEEDED = ("module", "srun", "mpiexec", "mpirun", "ibrun", "jsrun", "torchrun", "accelerate", "deepspeed", "python", "python3", "conda", "source",
          "export", "singularity", "apptainer", "shifter", "scontrol")  # fmt: skip


def misspelt_command(s: Subject) -> Iterator[Hit]:
    told: set[str] = set()
    for command in s.script.commands:
        name = command.argv[0]
        if (
            name in told
            or not re.fullmatch(r"[a-z][a-z]{3,}", name)
            or name in launcher_table().by_name
            or name in launcher_table().housekeeping
            or name in NEEDED
        ):
            continue
        near = get_close_matches(name, NEEDED, 1, 0.72 if len(name) < 6 else 0.8)
        close = near and name[0] == near[0][0] and abs(len(name) - len(near[0])) < 2
        if (
            close
            and not re.search(rf"\b{name}\s*\(\)|function {name}\b|alias {name}=", s.script.text)
            and len(set(near[0]) ^ set(name)) < 3
        ):
            told.add(name)
            says = f"'{name}' is no command that is known here; '{near[0]}' is nearly the same"
            edit = Edit(command.line, command.line, (re.sub(rf"\b{name}\b", near[0], s.line(command.line), count=1),))
            yield Hit(command.line, says, edit=edit)


def odd_characters(s: Subject) -> Iterator[Hit]:
    """Quotes, dashes and blanks of a word processor, outside strings."""
    skipped = heredoc_lines(s)
    for number, line in enumerate(s.lines, 1):
        directive = line.startswith(("#!", "#SBATCH", "#PBS", "#BSUB", "#FLUX:", "#flux:"))
        if line.isascii() or number in skipped or (not directive and line.lstrip().startswith("#")):
            continue
        code = re.sub(r"\s#.*", "", line if directive else QUOTED.sub("", line)).rstrip("".join(BLANKS) + " \t")
        found = [char for char in code if char in TYPOGRAPHIC or char in BLANKS] + re.findall(
            r"(?:(?<=\s)|^)[\u2010-\u2014\u2212](?=[A-Za-z\u2010-\u2014\u2212-])", code
        )
        if found and balanced(code):
            name = (
                "a typographic quote"
                if found[0] in TYPOGRAPHIC
                else "a typographic dash"
                if found[0] in DASHES
                else "an invisible or non-breaking blank"
            )
            fixed = re.sub(r"[\u2010-\u2014\u2212](?=\w\b)", "-", line)
            for char, plain in (TYPOGRAPHIC | DASHES | dict.fromkeys(BLANKS, " ")).items():
                fixed = fixed.replace(char, plain)
            harmless = re.match(r"\s*(echo|printf)\s|#\w+:?\s+(-J|-o|-e|--(job-name|output|error|comment))", line)
            says = f"{name} stands in the code (U+{ord(found[0]):04X})"
            yield Hit(number, says, severity="warning" if harmless else None, edit=Edit(number, number, (fixed,)))


def balanced(code: str) -> bool:
    """Whether no quote is left open on the line: else the character may stand inside a longer string."""
    return code.count('"') % 2 == 0 and code.count("'") % 2 == 0


def heredoc_lines(s: Subject) -> frozenset[int]:
    lines: set[int] = set()
    for document in s.script.documents:
        lines |= set(range(document.line, document.line + document.text.count("\n") + 1))
    return frozenset(lines)


def foreign_launcher(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """srun on PBS, jsrun on Slurm, ibrun away from TACC."""
    if launch.parallel is None or launch.remote:
        return
    name = launch.parallel.name
    tool = launcher_table().by_name.get(name)
    if tool is None or not tool.of or s.scheduler == "none":
        return
    forms = {form.launcher for listed in s.cluster.launch.values() for form in listed} if s.cluster else set()
    if s.scheduler != tool.of and name not in forms:
        best = next((form.launcher for form in s.cluster.launch["pytorch"]), "") if s.cluster else ""
        there = f" on {s.cluster.title}" if s.cluster else ""
        says = (
            f"{name} is {tool.whose}; this job runs under {s.scheduler.upper() if len(s.scheduler) == 3 else s.scheduler.title()}{there}"
            + (f", which starts ranks by {best}" if best else "")
        )
        why = "the command is not there, or finds no allocation"
        yield Hit(launch.line, says, why, s.cluster.launch["pytorch"][0].source if s.cluster else None)
    elif name == "ibrun" and s.cluster and "ibrun" not in forms and "TACC" not in s.cluster.site:
        yield Hit(
            launch.line,
            f"ibrun is TACC's; {s.cluster.title} does not have it",
            "the command is not there",
            s.cluster.launch["pytorch"][0].source,
        )


RULES = (
    Rule("shell-line-ends", "shell", "error", "Windows line ends", line_ends, sources.SBATCH,
         why="sbatch refuses them, and bash takes the CR for a part of each last word"),
    Rule("shell-shebang", "shell", "error", "no #! on the first line", no_shebang),
    Rule("shell-syntax", "shell", "error", "what `bash -n` cannot read, and here-documents without an end", syntax, sources.BASH),
    Rule("shell-continuation", "shell", "error", "blanks behind a backslash", broken_continuation, sources.BASH,
         why="only a backslash at the very end of a line continues it"),
    Rule("shell-option-as-command", "shell", "error", "a line of options above which the backslash is missing", option_as_command, sources.BASH,
         why="options below it are lost: 'command not found'"),
    Rule("shell-assignment", "shell", "error", "blanks around the = of an assignment", blanks_around_equals, sources.BASH),
    Rule("shell-dollar-zero", "shell", "error", "the program in the place of the shell's own name behind `bash -c`", dollar_zero, sources.BASH,
         why="put a word before it: bash -c '... \"$@\"' worker PROGRAM"),
    Rule("command-misspelt", "shell", "warning", "a command whose name is nearly one that a launch needs", misspelt_command, sources.BASH,
         why="'command not found', and the script goes on or stops there"),
    Rule("shell-characters", "shell", "error", "typographic quotes and dashes, non-breaking blanks", odd_characters,
         why="a word processor or a web page put it there; the shell takes it for a letter"),
    Rule("shell-plain", "shell", "warning", "arrays and `<(...)` under `#!/bin/sh`", plain_shell,
         why="where sh is dash (Debian, Ubuntu) the script ends here with a syntax error; where it is bash (RHEL, SLES) it runs: write #!/bin/bash"),
    launch_rule("launcher-foreign", "launch", "error", "a launcher of another batch system", foreign_launcher),
)  # fmt: skip
