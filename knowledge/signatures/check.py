"""Verifies signatures: names, patterns, causes, examples, and that no other signature takes an example away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from knowledge.errors import FactsError, InputError
from knowledge.opening import LARGEST_SCRIPT, read_plain
from knowledge.signatures.loader import CAUSES_FILE, Cause, load, read_signatures, signature_files
from knowledge.signatures.matcher import Matcher, compiled, plain_quotes
from knowledge.signatures.model import Signature, strongest

# Lines of an ordinary run. A signature whose fixed words stand in them would slow the scan down to their number.
ORDINARY = Path(__file__).with_name("ordinary.txt")


def check(extra: Sequence[Path] = ()) -> tuple[list[str], int]:
    """All problems in words, and how many signatures were looked at. extra: files that are not installed yet."""
    try:
        texts = {path: read_plain(path, LARGEST_SCRIPT) for path in [CAUSES_FILE, *signature_files()]}
        loaded = load(texts)
        installed = {path.resolve() for path in texts}
        signatures = list(loaded.signatures)
        for path in extra:
            if path.resolve() not in installed:
                signatures += read_signatures(path, read_plain(path, LARGEST_SCRIPT))
    except FactsError as error:
        return [str(error)], 0
    except OSError as error:
        raise InputError(f"cannot read {error.filename}: {error.strerror}; give a YAML file of signatures") from error
    return problems(signatures, loaded.causes), len(signatures)


def problems(signatures: Sequence[Signature], causes: Mapping[str, Cause]) -> list[str]:
    """What is wrong with these signatures; an empty list means fine."""
    found = [f"{name}: the id is used {n} times" for name, n in Counter(s.id for s in signatures).items() if n > 1]
    found += [f"{s.id}: no cause '{s.cause}' in causes.yaml" for s in signatures if s.cause and s.cause not in causes]
    found += [f"{s.id}: {why}" for s in signatures if (why := _uncompiled(s.pattern))]
    ids = {s.id for s in signatures}
    found += [f"{s.id}: ends '{name}', which is no signature" for s in signatures for name in s.ends if name not in ids]
    if found:
        return found
    use = Matcher(signatures)
    found += [f"fixed word too common: '{word}'" for word in use.sought_in(ORDINARY.read_bytes())]
    for s in signatures:
        found += [f"{s.id}: {why}: {line[:80]}" for line in s.example if (why := _example(s, line, use))]
        found += [f"{s.id}: matches what it must leave alone: {line[:80]}" for line in s.unlike if _matches(s, line)]
    return found


def _uncompiled(pattern: str) -> str:
    try:
        compiled(pattern)
    except FactsError as error:
        return str(error)
    return ""


def _matches(signature: Signature, line: str) -> bool:
    return bool(compiled(signature.pattern).search(plain_quotes(line.encode())))


def _example(signature: Signature, text: str, use: Matcher) -> str:
    """Why an example does not lead to its signature, or empty."""
    if signature.kind == "frame":
        frame = use.frame(text)
        return "" if frame and frame.id == signature.id else "the example is not decided by it"
    if not _matches(signature, text):
        return "the example does not match the pattern"
    matched = use.match(text.encode())
    harmless = next((s.id for s in matched if s.kind == "harmless"), "")
    if signature.kind == "harmless":
        return ""
    if harmless:
        return f"the example is taken for harmless by {harmless}"
    best = strongest(matched)
    if best.id == signature.id or (best.cause == signature.cause and best.kind == signature.kind):
        return ""
    return f"the example is taken by {best.id} ({best.cause or best.kind})"
