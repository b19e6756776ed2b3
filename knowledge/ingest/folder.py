"""The files of a folder or a checkout that can be read, and the public address of each.

In a git checkout, what is tracked; elsewhere all, less what is plainly no documentation. git runs with none of the
checkout's own hooks and helpers: its configuration may be a stranger's.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import quote, urlsplit

from knowledge.errors import InputError
from knowledge.ingest.page import UnreadableError, iso_date
from knowledge.ingest.parser import parser
from knowledge.ingest.reading import form_of
from knowledge.opening import read_plain

SKIPPED_FOLDERS = frozenset(
    {"node_modules", "site-packages", "vendor", "third_party", "third-party", "_vendor", "__pycache__", "venv"}
    | {"_build", "_site", "overrides", "_templates", "_themes"}
)
SKIPPED_FILES = re.compile(
    r"(?i)(?:licen[cs]e|copying|notice|code_of_conduct|requirements[\w.-]*|cmakelists|robots|humans|llms[\w-]*)\.\w+"
)
# protocol.allow: a partial clone would fetch what is missing, by a program that its configuration names.
GIT_SAFE = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never", "log.showSignature=false")
GIT = ("git", "--no-pager", *(word for setting in GIT_SAFE for word in ("-c", setting)))
GIT_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
GIT_ELSEWHERE = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"})
GIT_S = 60
LARGEST_SETTINGS = 1_000_000
INDEX = frozenset({"index", "readme"})


@dataclass(frozen=True, slots=True)
class FolderFile:
    """One file to read: its path, its form, the address to cite, the day it last changed (may be empty), and the folder
    that it was found in, which no link may leave."""

    path: Path
    form: str
    source: str
    date: str = ""
    inside: Path | None = None


@dataclass(frozen=True, slots=True)
class Addresses:
    """How a checkout's files are called in public. site and repository end with /; empty where nobody knows."""

    root: Path
    repository: str = ""
    site: str = ""
    style: Literal["mkdocs", "sphinx"] = "mkdocs"
    docs: PurePosixPath = field(default_factory=PurePosixPath)
    suffix: str = ""

    def of(self, path: Path) -> str:
        """The page's public address, or else its path."""
        inside = PurePosixPath(path.relative_to(self.root).as_posix())
        if self.site and inside.is_relative_to(self.docs):
            return self.site + quote(os.fsencode(self.page(inside.relative_to(self.docs))))
        return self.repository + quote(bytes(inside)) if self.repository else named(path)

    def page(self, inside: PurePosixPath) -> str:
        """A page's address on a site: MkDocs makes folders, Sphinx makes .html files."""
        if self.style == "sphinx":
            return str(inside.with_suffix(self.suffix))
        above = "" if str(inside.parent) == "." else f"{inside.parent}/"
        if inside.suffix.lower() not in (".md", ".markdown"):
            return str(inside)
        if inside.stem.lower() in INDEX:
            return above
        return f"{above}{inside.stem}/" if self.suffix == "/" else f"{above}{inside.stem}.html"


def files(given: Path, site: str = "") -> tuple[list[FolderFile], dict[Path, str]]:
    """What is to be read under a path, in order, and the folders that may not be looked into, with the reason.

    site: its public address. Raises InputError where there is nothing.
    """
    path = existing(given)
    closed: dict[Path, str] = {}
    top = checkout(path)
    addresses = addresses_of(top or (path if path.is_dir() else path.parent), site)
    dates = git_dates(top) if top else {}
    inside = None
    if not path.is_dir():
        found = [path]
        if not path.is_file():
            raise InputError(
                f"cannot read {given}: it is no plain file but a pipe or a device; give a file or a folder"
            )
        if not form_of(path.name):
            raise InputError(f"cannot read {path.name}: Markdown, reStructuredText, HTML, PDF and text can be read")
    else:
        inside = path
        found = [one for one in (tracked(top, path, closed) if top else below(path, closed)) if fits(one, path)]
    if not found:
        why = "; ".join(f"{folder}: {said}" for folder, said in closed.items())
        why = why or "no Markdown, reStructuredText, HTML, PDF or text file"
        raise InputError(f"nothing to read in {given}: {why}")
    return [
        FolderFile(one, form_of(one.name), addresses.of(one), dates.get(one) or "", inside) for one in found
    ], closed


def existing(given: Path) -> Path:
    """The path, absolute. Raises InputError."""
    try:
        path = given.expanduser().resolve()
        path.stat()
    except FileNotFoundError as error:
        said = f"there is no {given}; give a file, a folder, or an address that starts with https://"
        raise InputError(said) from error
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"cannot read {given}: {getattr(error, 'strerror', None) or error}") from error
    return path


def named(path: Path) -> str:
    """A path as a key: a name of bytes that are no UTF-8 is spelled out."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def fits(path: Path, root: Path) -> bool:
    """Whether it is documentation by its name and place; what kind of file it is, its opening tells."""
    if not path.is_relative_to(root) or not form_of(path.name) or SKIPPED_FILES.fullmatch(path.name):
        return False
    parts = path.relative_to(root).parts
    if any(part in SKIPPED_FOLDERS or (part.startswith(".") and part != ".") for part in parts[:-1]):
        return False
    return os.path.lexists(path) and not path.is_dir()


def below(root: Path, closed: dict[Path, str]) -> Iterator[Path]:
    """All files under a folder, in order. closed: gets the folders that may not be looked into, with the reason."""

    def note(error: OSError) -> None:
        closed[Path(str(error.filename))] = error.strerror or str(error)

    for folder, names, found in os.walk(root, onerror=note):
        names[:] = sorted(name for name in names if name not in SKIPPED_FOLDERS and not name.startswith("."))
        yield from (Path(folder) / name for name in sorted(found) if not name.startswith("."))


def git(folder: Path, *arguments: str) -> str:
    """What git says; empty where there is no git, no checkout, or it belongs to somebody else."""
    try:
        done = subprocess.run(
            [*GIT, "-C", str(folder), *arguments],
            capture_output=True,
            timeout=GIT_S,
            check=True,
            env={name: value for name, value in os.environ.items() if name not in GIT_ELSEWHERE} | GIT_QUIET,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "surrogateescape")


def checkout(path: Path) -> Path | None:
    """The top of the git checkout that a path lies in, if it does."""
    top = git(path if path.is_dir() else path.parent, "rev-parse", "--show-toplevel").strip()
    return Path(top).resolve() if top else None


def tracked(top: Path, folder: Path, closed: dict[Path, str]) -> Iterator[Path]:
    """What git tracks under a folder, in order; all files where it tracks none of them."""
    names = git(top, "ls-files", "-z", "--", str(folder)).split("\0")
    found = sorted(top / name for name in names if name)
    yield from found or below(folder, closed)


def git_dates(top: Path) -> dict[Path, str]:
    """The day of the newest commit of each file, in one walk through the history."""
    log = git(top, "log", "--format=%x01%cI", "--name-only", "-z", "--no-renames")
    dates: dict[Path, str] = {}
    day = ""
    for word in log.replace("\n", "\0").split("\0"):
        if word.startswith("\1"):
            day = iso_date(word)
        elif word:
            dates.setdefault(top / word, day)
    return dates


def addresses_of(root: Path, site: str = "") -> Addresses:
    """Where a checkout's pages are in public. site: given by a person, goes before what the checkout says."""
    base = repository(root)
    for name in ("mkdocs.yml", "mkdocs.yaml"):
        facts = settings(root / name)
        found = site or facts.get("site_url", "")
        if facts and found.startswith("http"):
            folders = "/" if facts.get("use_directory_urls", "true").lower() != "false" else ""
            docs = PurePosixPath(facts.get("docs_dir") or "docs")
            return Addresses(root, base, found.rstrip("/") + "/", "mkdocs", docs, folders)
    for place in ("conf.py", "docs/conf.py", "doc/conf.py", "source/conf.py", "docs/source/conf.py"):
        found = (site if (root / place).is_file() else "") or sphinx_base(root / place)
        if found:
            return Addresses(root, base, found.rstrip("/") + "/", "sphinx", PurePosixPath(place).parent, ".html")
    return Addresses(root, base, site.rstrip("/") + "/" if site else "", suffix="/")


def settings(path: Path) -> dict[str, str]:
    """The plain values of a MkDocs file, read apart from this process; empty where it cannot be read."""
    try:
        return parser().settings(read_plain(path, LARGEST_SETTINGS, follow=False))
    except (OSError, UnreadableError):
        return {}


def sphinx_base(path: Path) -> str:
    """html_baseurl of a conf.py, read and never run."""
    try:
        text = read_plain(path, LARGEST_SETTINGS, follow=False).decode("utf-8")
    except (OSError, ValueError):
        return ""
    found = re.search(r"^html_baseurl\s*=\s*[\"'](https?://[^\"'\s]+)", text, re.MULTILINE)
    return found[1] if found else ""


def repository(top: Path) -> str:
    """The address of the files in the repository that was cloned; never with a password in it."""
    remote = git(top, "remote", "get-url", "origin").strip()
    ssh = re.fullmatch(r"(?:ssh://)?git@([\w.-]+)(?::\d+)?[:/](.+)", remote)
    parts = urlsplit(f"https://{ssh[1]}/{ssh[2]}" if ssh else remote)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    branch = git(top, "rev-parse", "--abbrev-ref", "HEAD").strip()
    between = "-/blob" if "gitlab" in parts.hostname else "blob"
    host = parts.hostname + (f":{parts.port}" if parts.port else "")
    place = parts.path.strip("/").removesuffix(".git")
    return f"https://{host}/{place}/{between}/{quote(branch or 'HEAD')}/"
