"""Reads the signature files and the causes: ours beside this module, a site's in its configuration folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from knowledge.data_file import parse_yaml
from knowledge.errors import FactsError
from knowledge.opening import LARGEST_SCRIPT, read_plain
from knowledge.signatures.model import LISTS, Signature, signature

HERE = Path(__file__).parent
CAUSES_FILE = HERE.parent / "causes.yaml"
# Part of the cache's name: raise it when what is stored changes.
CACHE_FORMAT = "7"


@dataclass(frozen=True, slots=True)
class SpecificStep:
    """A step that counts where the telling line matches `line`, it or the lines round it `near`, and the log `log`, and
    where nothing in the log matches `unless`."""

    step: str
    line: str = ""
    near: str = ""
    log: str = ""
    unless: str = ""


@dataclass(frozen=True, slots=True)
class Cause:
    """What causes.yaml says of one cause. by: extra steps for one scheduler, vendor, tool and so on; change: plan
    field -> value or verb. A specific step counts where all its {names} are known, too.
    """

    id: str
    group: str
    means: str
    says: str
    fix: tuple[str, ...] = ()
    specific: tuple[SpecificStep, ...] = ()
    by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    change: Mapping[str, str] = field(default_factory=dict)
    explains: tuple[str, ...] = ()
    send: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SignatureLibrary:
    """All signatures in the order of their files, and all causes by id."""

    signatures: tuple[Signature, ...]
    causes: Mapping[str, Cause]


def site_folder() -> Path:
    """Where a site or a person keeps signatures of their own."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "maple-chat" / "signatures"


def signature_files() -> list[Path]:
    """Our files, then the site's."""
    site = site_folder()
    return sorted(HERE.glob("*.yaml")) + (sorted(site.glob("*.yaml")) if site.is_dir() else [])


def rules_mark() -> str:
    """Changes when the signatures or causes do: what was judged by others is judged again."""
    return _cache_file({path: read_plain(path, LARGEST_SCRIPT) for path in [CAUSES_FILE, *signature_files()]}).stem


@cache
def library() -> SignatureLibrary:
    """Everything, read once a process. Parsed YAML is kept as JSON under the XDG cache folder (0.2 s against 5 ms)."""
    texts = {path: read_plain(path, LARGEST_SCRIPT) for path in [CAUSES_FILE, *signature_files()]}
    stored = _cache_file(texts)
    raw = _from_cache(stored)
    if raw is None:
        loaded = load(texts)
        _to_cache(stored, loaded)
        return loaded
    signatures = tuple(Signature(**{**s, **{key: tuple(s[key]) for key in LISTS}}) for s in raw["signatures"])
    return SignatureLibrary(signatures, {c["id"]: _cause(c["id"], c) for c in raw["causes"]})


def load(texts: Mapping[Path, bytes]) -> SignatureLibrary:
    """The library from the files' bytes. The causes file must be among them. Raises FactsError."""
    causes = {str(name): _cause(str(name), body) for name, body in _yaml(CAUSES_FILE, texts[CAUSES_FILE]).items()}
    signatures: list[Signature] = []
    for path, data in texts.items():
        if path != CAUSES_FILE:
            signatures += read_signatures(path, data)
    return SignatureLibrary(tuple(signatures), causes)


def read_signatures(path: Path, data: bytes) -> list[Signature]:
    """The signatures of one file. Raises FactsError."""
    body = _yaml(path, data)
    if unknown := set(body) - {"about", "source", "signatures"}:
        raise FactsError(f"{path.name}: unknown key {sorted(unknown)}; known are about, source, signatures")
    entries = body.get("signatures")
    if not isinstance(entries, list):
        raise FactsError(f"{path.name}: 'signatures' must be a list")
    return [signature(entry, path.name, path.stem, str(body.get("source", ""))) for entry in entries]


def _yaml(path: Path, data: bytes) -> dict[str, Any]:
    try:
        body = parse_yaml(data)
    except FactsError as error:
        raise FactsError(f"{path.name}: {error}") from error
    if not isinstance(body, dict):
        raise FactsError(f"{path.name}: a mapping is expected at the top")
    return body


def _cause(name: str, body: Mapping[str, Any]) -> Cause:
    try:
        return Cause(
            id=name,
            group=body["group"],
            means=body["means"],
            says=body["says"],
            fix=tuple(body.get("fix", ())),
            specific=tuple(SpecificStep(**step) for step in body.get("specific", ())),
            by={key: tuple(steps) for key, steps in body.get("by", {}).items()},
            change=dict(body.get("change", {})),
            explains=tuple(body.get("explains", ())),
            send=tuple(body.get("send", ())),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise FactsError(f"causes.yaml: {name}: {error!r}; needs group, means, says") from error


def _cache_file(texts: Mapping[Path, bytes]) -> Path:
    digest = hashlib.blake2b(CACHE_FORMAT.encode(), digest_size=16)
    for path, data in texts.items():
        digest.update(path.name.encode() + b"\0" + data + b"\0")
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "maple-chat" / f"signatures-{digest.hexdigest()}.json"


def _from_cache(path: Path) -> dict[str, Any] | None:
    try:
        raw: dict[str, Any] = json.loads(path.read_bytes())
        return raw if isinstance(raw, dict) and {"signatures", "causes"} <= set(raw) else None
    except (OSError, ValueError):
        return None


def _to_cache(path: Path, loaded: SignatureLibrary) -> None:
    """Write the cache for next time; a folder that cannot be written only costs time."""
    signatures = [asdict(replace(s, example=(), unlike=())) for s in loaded.signatures]
    text = json.dumps({"signatures": signatures, "causes": [asdict(c) for c in loaded.causes.values()]})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_old(path.parent.glob("signatures-*.json"))
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_text(text)
        partial.replace(path)
    except OSError:
        return


def _remove_old(paths: Iterable[Path]) -> None:
    for old in paths:
        old.unlink(missing_ok=True)
