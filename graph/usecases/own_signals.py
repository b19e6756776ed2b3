"""The signal before the limit in a person's own Slurm script: what our own scripts do around their launch.

The launch runs in the background, so that the shell hears the signal; a handler hands it to the program, and puts the
job back where it is to be started again. Only a launch that is known is wrapped so: one plain srun of the program or of
torchrun.
"""

from __future__ import annotations

import re
from dataclasses import replace

from graph.extraction.commands import Command
from graph.extraction.script import ReadScript, read_script
from graph.extraction.shell_tree import parse, text_of
from graph.extraction.training import layers_of, weigh
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
    "{0}, so the handler is left to a patch: "
    "trap 'kill -{1} $PID' {1} before it; the launch with &; PID=$!; wait $PID twice{2}"
)
NO_PLAIN = "the launch is no plain `srun PROGRAM` or `srun torchrun`, alone in its lines"
NOT_LAST = "`{}` stands behind it with srun too, and would run once the launch was told to save"
SHOWN = 60
REMARK = re.compile(r"[ \t]*(?:[ \t]#[^\n]*)?(?=\n|\Z)")
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
    again, script = requeues(now.text), read_script(now.text)
    first, last = statement(script)
    launch, names = now.text[first:last], [one.name for one in script.layers if one.name not in SILENT]
    starters = list(TORCHRUN.finditer(launch))
    plain = launch and names[:1] == ["srun"] and len(starters) == len(names) - 1 < 2
    later = [one for one in launches(script) if script.training and one.line > script.training.line]
    if later or not plain:
        why = NOT_LAST.format(" ".join(later[0].written)[:SHOWN]) if plain else NO_PLAIN
        raise InputError(UNKNOWN.format(why, signal.name, REQUEUES if again else ""))
    for one in starters:
        launch = f"{launch[: one.start()]}{HANDS_ON.format(signal.name)}{launch[one.start() :]}"
    before, after = around_launch(signal, again)
    remark, _, below = now.text[last:].partition("\n")
    text = f"{now.text[:first]}{before}{launch} &{remark.rstrip()}\n{after}{below}"
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
        behind = re.search(rf" &(?P<remark>(?:[ \t]+#[^\n]*)?\n){re.escape(after)}", now.text)
        if before in now.text and behind:
            text = f"{now.text[: behind.start()]}{behind['remark']}{now.text[behind.end() :]}".replace(before, "", 1)
            text = text.replace(HANDS_ON.format(signal.name), "", 1)  # type: ignore[union-attr]
            text = text.replace(f"{PREFIX['slurm']} {APPENDS.text}\n", "", 1)
            return replace(now, text=text)
    return now


def launches(script: ReadScript) -> list[Command]:
    """The commands that start a program with srun."""
    return [one for one in script.commands if weigh(one) and any(layer.name == "srun" for layer in layers_of(one))]


def statement(script: ReadScript) -> tuple[int, int]:
    """Where the one statement of the launch stands, alone in its lines but for a remark behind it; nowhere (0, 0) where
    it is no plain one."""
    row = script.training.line - 1 if script.training and script.language == "bash" and not script.jobs else -1
    lines = script.text.split("\n")
    for node in parse(script.text).root_node.children:
        if node.start_point[0] <= row <= node.end_point[0] and node.type in ("command", "redirected_statement"):
            above, line, launch = lines[: node.start_point[0]], lines[node.start_point[0]], text_of(node)
            first = sum(len(one) + 1 for one in above) + len(line) - len(line.lstrip())
            last = first + len(launch)
            body = node.children[0] if node.type == "redirected_statement" else node
            alone = script.text[first:last] == launch and REMARK.match(script.text, last)
            if alone and body.type == "command" and "<<" not in launch:
                return first, last
    return 0, 0
