"""Events as Markdown: what the chat, the line mode and `ask` show is made here, once."""

from __future__ import annotations

from urllib.parse import urlsplit

from assistant.events import Answer, Asked, Chip, Diagnosed, Error, Event, Known, Refused, Report, Script, Text
from assistant.printing.documents import diagnosis_document
from assistant.printing.markdown import fenced as fenced
from assistant.printing.markdown import numbered as numbered
from assistant.printing.markdown import print_markdown
from assistant.saving import files as files
from knowledge.script_keys import keys_from_shell, without_old_keys
from knowledge.types import Assumption, Made, Question, Refusal

MOST_NUMBERED = 9


def markdown(event: Event, *, whole_script: bool = True) -> str:
    """One event in Markdown; empty for those that are not words. whole_script: False where a pane shows the script."""
    match event:
        case Text(text):
            return text
        case Error(text):
            return f"**Problem.** {text}"
        case Answer(document):
            return print_markdown(document)
        case Asked(question):
            return asked(question)
        case Script(made):
            return script(made, whole_script)
        case Diagnosed(diagnosis):
            return print_markdown(diagnosis_document(diagnosis))
        case Refused(refusal):
            return refused(refusal)
        case Report(text):
            return fenced("", text, "text")
        case _:
            return ""


def asked(question: Question) -> str:
    """The question; few choices as a numbered list, many in one line."""
    options = question.options
    listed = ", ".join(options) if len(options) > MOST_NUMBERED else numbered(options)
    return "\n\n".join(filter(None, (f"**{question.text}**", listed, question.help)))


def script(made: Made, whole: bool) -> str:
    """The placeholder account first; then what changed, the script, how to submit, what was assumed, and the notes."""
    account = placeholder(made)
    parts = [reminder(account, made), headline(made)]
    if made.changes:
        parts.append("Changed: " + "; ".join(one.rstrip(".") for one in made.changes) + ".")
    if whole and not made.diff:
        for name, text in files(made.bundle):
            shown, keys = keys_from_shell(text)
            parts += [fenced(name, shown, "bash" if name == made.bundle.name else ""), *keys]
    if made.diff:
        parts.append(fenced("", without_old_keys(made.diff), "diff"))
        parts += ["All else stays; *show the script* prints it whole."] * (whole and not made.submit_told)
    parts.append(handed_in(made))
    rest = [a for a in made.assumptions if a is not account]
    if rest:
        parts.append("Assumed (say otherwise to change):\n\n" + "\n".join(f"- {assumed(a)}" for a in rest))
    parts += [f"Note: {note}" for note in made.notes]
    return "\n\n".join(part for part in parts if part)


def handed_in(made: Made) -> str:
    """How the script is saved and submitted, as far as nothing else tells it."""
    if made.submit_told or made.bundle.is_excerpt:
        return ""
    saved = "" if made.diff else f"Save it as `{made.bundle.name}`, then submit it: "
    return f"{saved or 'Submit: '}`{made.bundle.submit}`"


def headline(made: Made) -> str:
    beside = ", ".join(file.name for file in made.bundle.files)
    return f"**{made.bundle.name}** for {made.title}" + (f", with {beside} beside it." if beside else ".")


def placeholder(made: Made) -> Assumption | None:
    """The account that nobody named."""
    return next((a for a in made.assumptions if a.field == "account" and a.value.startswith("YOUR_")), None)


def reminder(account: Assumption | None, made: Made) -> str:
    """What has to be put in before the script can be submitted."""
    of_account = f"replace `{account.value}` by your account, or tell me: *account NAME*." if account else ""
    model = next((a for a in made.assumptions if a.field == "model" and a.value.startswith("YOUR_")), None)
    of_model = f"replace `{model.value}` by the model's name, or tell me: *use ORGANISATION/NAME*." if model else ""
    told = " ".join(filter(None, (of_account, f"R{of_model[1:]}" if of_account and of_model else of_model)))
    return f"**Before you submit:** {told}" if told else ""


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


def so_far(known: Known) -> str:
    """The request in one line: `perlmutter · pytorch · fsdp · nodes ?`."""
    return " · ".join(chip_text(chip) for chip in known.chips)


def chip_text(chip: Chip) -> str:
    mark = {"known": "", "assumed": "~", "missing": "?"}[chip.state]
    if chip.state == "missing":
        return f"{chip.field} ?"
    short = {"machine": "", "framework": "", "strategy": ""}.get(chip.field, f"{chip.field.replace('_', ' ')} ")
    return f"{short}{mark}{chip.value}"
