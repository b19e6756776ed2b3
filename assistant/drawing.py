"""Events as Markdown: what the chat, the line mode and `ask` show is made here, once."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from assistant.events import Asked, Chip, Diagnosed, Error, Event, Known, Refused, Report, Script, Text
from assistant.saving import files as files
from knowledge.types import Assumption, Diagnosis, LogEvidence, Made, Question, Refusal

MOST_NUMBERED = 9
MOST_EVIDENCE = 5


def markdown(event: Event, *, whole_script: bool = True) -> str:
    """One event in Markdown; empty for those that are not words. whole_script: False where a pane shows the script."""
    match event:
        case Text(text):
            return text
        case Error(text):
            return f"**Problem.** {text}"
        case Asked(question):
            return asked(question)
        case Script(made):
            return script(made, whole_script)
        case Diagnosed(diagnosis):
            return diagnosed(diagnosis)
        case Refused(refusal):
            return refused(refusal)
        case Report(text):
            return fenced("", text, "text")
        case _:
            return ""


def asked(question: Question) -> str:
    """The question; few choices as a numbered list, many in one line."""
    options = question.options
    if len(options) > MOST_NUMBERED:
        return f"**{question.text}**\n\n{', '.join(options)}"
    return "\n\n".join(filter(None, (f"**{question.text}**", numbered(options))))


def numbered(options: Iterable[str]) -> str:
    return "\n".join(f"{place}. {option}" for place, option in enumerate(options, 1))


def script(made: Made, whole: bool) -> str:
    """The placeholder account first; then what changed, the script, how to submit, what was assumed, and the notes."""
    account = placeholder(made)
    parts = [reminder(account), headline(made)]
    if made.changes:
        parts.append("Changed: " + "; ".join(made.changes) + ".")
    if whole:
        parts += [
            fenced(file_name, text, "bash" if file_name == made.bundle.name else "")
            for file_name, text in files(made.bundle)
        ]
    if made.diff:
        parts.append(fenced("", made.diff, "diff"))
    parts.append(f"Submit: `{made.bundle.submit}`")
    rest = [a for a in made.assumptions if a is not account]
    if rest:
        parts.append("Assumed (say otherwise to change):\n\n" + "\n".join(f"- {assumed(a)}" for a in rest))
    parts += [f"Note: {note}" for note in made.notes]
    return "\n\n".join(part for part in parts if part)


def headline(made: Made) -> str:
    beside = ", ".join(file.name for file in made.bundle.files)
    return f"**{made.bundle.name}** for {made.title}" + (f", with {beside} beside it." if beside else ".")


def placeholder(made: Made) -> Assumption | None:
    """The account that nobody named."""
    return next((a for a in made.assumptions if a.field == "account" and a.value.startswith("YOUR_")), None)


def reminder(account: Assumption | None) -> str:
    if account is None:
        return ""
    return f"**Before you submit:** replace `{account.value}` by your account, or tell me: *account NAME*."


def fenced(name: str, text: str, language: str) -> str:
    """A block of code, its name above it; the fence is longer than any inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    title = f"`{name}`\n\n" if name else ""
    return f"{title}{fence}{language}\n{text.rstrip()}\n{fence}"


def assumed(assumption: Assumption) -> str:
    return f"{assumption.field}: `{assumption.value}`, {assumption.why}{cited(assumption.source)}"


def cited(source: str | None) -> str:
    """A source in brackets: a link under its host's name, so that long addresses do not fill the screen."""
    if source is None:
        return ""
    host = urlsplit(source).hostname
    return f" ([{host}]({source}))" if host and " " not in source else f" ({source})"


def refused(refusal: Refusal) -> str:
    parts = [f"**{refusal.says}** {refusal.why}{cited(refusal.source)}"]
    if refusal.instead:
        parts += ["What can be done instead (say its number):", numbered(way.says for way in refusal.instead)]
    return "\n\n".join(parts)


def diagnosed(diagnosis: Diagnosis) -> str:
    """The cause, the lines that show it, the fix; below the threshold, what to send next."""
    sure = f" ({diagnosis.cause}, {diagnosis.confidence:.0%} sure)"
    parts = [f"**{diagnosis.says}**{sure}"]
    if diagnosis.evidence:
        parts.append("\n".join(f"- {evidence(line)}" for line in diagnosis.evidence[:MOST_EVIDENCE]))
    if diagnosis.fix:
        parts.append("Fix:\n\n" + numbered(diagnosis.fix))
    if diagnosis.considered:
        others = "\n".join(f"- {other.cause}: {other.why_not}" for other in diagnosis.considered)
        parts.append(f"Also looked at:\n\n{others}")
    if diagnosis.send_next:
        parts.append("Send next:\n\n" + "\n".join(f"- {item}" for item in diagnosis.send_next))
    if diagnosis.sources:
        parts.append("Sources: " + ", ".join(diagnosis.sources))
    return "\n\n".join(parts)


def evidence(line: LogEvidence) -> str:
    rank = f" rank {line.rank}" if line.rank is not None else ""
    times = f"  ({line.count} times)" if line.count > 1 else ""
    place = f"{line.file}:" if line.file else ""
    return f"{place}{line.line}{rank}: {code(line.text)}{times}"


def code(text: str) -> str:
    """Text as it is, in a line that may wrap; the ticks around it are more than any inside."""
    ticks = "`"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{text}{ticks}" if len(ticks) == 1 else f"{ticks} {text} {ticks}"


def so_far(known: Known) -> str:
    """The request in one line: `perlmutter · pytorch · fsdp · nodes ?`."""
    return " · ".join(chip_text(chip) for chip in known.chips)


def chip_text(chip: Chip) -> str:
    mark = {"known": "", "assumed": "~", "missing": "?"}[chip.state]
    if chip.state == "missing":
        return f"{chip.field} ?"
    short = {"machine": "", "framework": "", "strategy": ""}.get(chip.field, f"{chip.field.replace('_', ' ')} ")
    return f"{short}{mark}{chip.value}"
