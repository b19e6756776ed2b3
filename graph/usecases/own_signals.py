"""The signal before the limit in a person's own Slurm script: what our own scripts do around their launch.

The launch runs in the background, so that the shell hears the signal; a handler hands it to the program, and puts the
job back where it is to be started again. Only a launch that is known is wrapped so: one plain srun of the program or of
torchrun.
"""

from __future__ import annotations

import re
from dataclasses import replace

from graph.extraction.script import ReadScript, read_script
from graph.extraction.shell_tree import parse
from graph.planning.directives import PREFIX, Word
from graph.usecases.edit_script import RESUMES, SILENT, Edited, with_directive
from knowledge.errors import InputError
from knowledge.job_parts import LimitSignal
from templates.render import around_launch

HELD = re.compile(r"(?:B:)?(?P<name>[A-Z]+\d?)@(?P<seconds>\d+)")
TORCHRUN = re.compile(r"(?<=\s)(?:\S*/)?(?:torchrun|python3?\s+-m\s+torch\.distributed\.(?:run|launch))(?=\s)")
# The launcher of the ranks would die of the signal: its shell hands it on (templates/launch/worker.j2).
HANDS_ON = """bash -c '
    # The signal reaches this shell alone; it goes on to the ranks, which torchrun started.
    tell() {{ for pid in $(pgrep -P "$1"); do kill -{0} "$pid"; tell "$pid"; done; }}
    (trap "" {0}; exec "$@") &
    trap "tell $!" {0}
    while wait $!; kill -0 $! 2>/dev/null; do :; done
    wait $!' worker \\
    """
UNKNOWN = (
    "the launch is no plain `srun PROGRAM` or `srun torchrun`, so the handler is left to a patch: "
    "trap 'kill -{0} $PID' {0} before it; the launch with &; PID=$!; wait $PID twice{1}"
)
REQUEUES = "; then `scontrol requeue $SLURM_JOB_ID` where it saved, and --open-mode=append"
APPENDS = Word("--open-mode=", "append")


def held_signal(text: str) -> LimitSignal | None:
    """The signal that the script asks Slurm for."""
    asked = read_script(text).active.get("signal")
    found = HELD.fullmatch(asked.value) if asked else None
    return LimitSignal(found["name"], int(found["seconds"])) if found else None


def requeues(text: str) -> bool:
    """Whether the script asks to be started again."""
    return "requeue" in read_script(text).active


def with_handler(now: Edited, signal: LimitSignal) -> Edited:
    """The script with all that its signal needs. Raises InputError where its launch is none that is known."""
    again = requeues(now.text)
    first, last = statement(now.text)
    launch, names = now.text[first:last], [one.name for one in read_script(now.text).layers if one.name not in SILENT]
    starters = list(TORCHRUN.finditer(launch))
    if names[:1] != ["srun"] or len(starters) != len(names) - 1 or len(names) > 2:
        raise InputError(UNKNOWN.format(signal.name, REQUEUES if again else ""))
    for one in starters:
        launch = f"{launch[: one.start()]}{HANDS_ON.format(signal.name)}{launch[one.start() :]}"
    before, after = around_launch(signal, again)
    text = f"{now.text[:first]}{before}{launch} &\n{after}{now.text[last:].removeprefix(chr(10))}"
    for word in (Word("--signal=", f"B:{signal.name}@{signal.seconds}"), APPENDS):
        text = with_directive(text, word, PREFIX["slurm"])
    then = ", and puts the job back once that has saved" if again else ""
    told = f"B:{signal.name}@{signal.seconds} set: a handler hands it to the program{then}"
    earlier = (one.replace(RESUMES, "") for one in now.says if not one.startswith("--signal="))
    return replace(now, text=text, says=(*earlier, told, "--open-mode=append set"))


def without_handler(now: Edited) -> Edited:
    """The script without what with_handler put into it."""
    signal = held_signal(now.text)
    for again in (True, False) if signal else ():
        before, after = around_launch(signal, again)  # type: ignore[arg-type]
        if before in now.text and f" &\n{after}" in now.text:
            text = now.text.replace(before, "", 1).replace(f" &\n{after}", "\n", 1)
            text = text.replace(HANDS_ON.format(signal.name), "", 1)  # type: ignore[union-attr]
            text = text.replace(f"{PREFIX['slurm']} {APPENDS.text}\n", "", 1)
            return replace(now, text=text)
    return now


def statement(text: str) -> tuple[int, int]:
    """Where the one statement of the launch stands, alone in its lines. Raises InputError where it is no plain one."""
    script: ReadScript = read_script(text)
    row = script.training.line - 1 if script.training and script.language == "bash" and not script.jobs else -1
    data = text.encode()
    for node in parse(text).root_node.children:
        if node.start_point[0] <= row <= node.end_point[0] and node.type in ("command", "redirected_statement"):
            first, last = len(data[: node.start_byte].decode()), len(data[: node.end_byte].decode())
            body = node.children[0] if node.type == "redirected_statement" else node
            alone = not text[:first].rpartition("\n")[2].strip() and text[last : last + 1] in ("", "\n")
            if alone and body.type == "command" and "<<" not in text[first:last]:
                return first, last
    raise InputError(UNKNOWN.format("USR1", REQUEUES))
