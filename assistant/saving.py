"""A script and the files beside it, written to a folder; nothing that is there is overwritten unasked."""

from __future__ import annotations

from pathlib import Path

from assistant.errors import InputError
from knowledge.opening import read_plain
from knowledge.types import LaunchBundle


def files(bundle: LaunchBundle) -> tuple[tuple[str, str], ...]:
    """The script and the files beside it, by name."""
    return ((bundle.name, bundle.script), *((file.name, file.text) for file in bundle.files))


def in_the_way(bundle: LaunchBundle, folder: Path) -> tuple[Path, ...]:
    """The files that saving would overwrite with something else."""
    return tuple(folder / name for name, text in files(bundle) if differs(folder / name, text))


def differs(path: Path, text: str) -> bool:
    try:
        return read_plain(path, len(text.encode())) != text.encode()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def save(bundle: LaunchBundle, folder: Path, *, overwrite: bool = False) -> tuple[Path, ...]:
    """Write the files; the script may be run. Raises InputError where something is in the way or cannot be written."""
    taken = () if overwrite else in_the_way(bundle, folder)
    if taken:
        raise InputError(f"{taken[0]} is there already and differs; save into another folder or overwrite it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files(bundle):
            (folder / name).write_text(text, encoding="utf-8")
        (folder / bundle.name).chmod(0o755)
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {error.strerror}; choose another folder") from error
    return tuple(folder / name for name, _ in files(bundle))
