"""`knowledge add`: a file, a folder, a checkout or a site becomes documents.

By content: what did not change is not read again, what is gone is removed. Stored every second and whenever it stops,
so that the same command goes on where it was.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from knowledge.documents import Collection, Documents, KnownDocument, SourceDocument
from knowledge.errors import InputError, UnavailableError
from knowledge.fetching import Fetcher, Pause, Response, UnreachableError, pause_of
from knowledge.ingest.chunking import chunks
from knowledge.ingest.folder import FolderFile, files, named
from knowledge.ingest.page import NoTextError, Page, UnreadableError, iso_date, visible
from knowledge.ingest.parser import parser
from knowledge.ingest.reading import CONTENT_TYPES, MOST_BYTES, MOST_PDF_BYTES, form_of
from knowledge.ingest.site import Listed, site, tidy
from knowledge.opening import open_plain

# Counted up when the same bytes would give other passages: everything is read again then.
READER = 2
STORE_EVERY_S = 1.0
BUSY = 429
BUSY_S = 10.0
GIVES_UP_AFTER = 5
GONE = frozenset({404, 410})
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class About:
    """What holds for all documents of an origin. site: their public address, where a checkout does not say it."""

    collection: Collection = "docs"
    machine: str = ""
    scheduler: str = ""
    framework: str = ""
    site: str = ""

    def options(self) -> dict[str, str]:
        """What is remembered of it, to read the same way again."""
        facts = {"machine": self.machine, "scheduler": self.scheduler, "framework": self.framework, "site": self.site}
        return {name: value for name, value in facts.items() if value}


@dataclass(slots=True)
class AddingReport:
    """What came of it: how many documents were read, had not changed, held no text, are gone; and what went wrong."""

    origin: str
    read: int = 0
    unchanged: int = 0
    empty: int = 0
    removed: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether the passages are others than before."""
        return bool(self.read or self.removed)

    @property
    def fruitful(self) -> bool:
        """Whether anything is there now."""
        return bool(self.read or self.unchanged)

    def problem(self, name: str, error: object) -> None:
        self.problems.append(visible(f"{name}: {error}"))


def quiet(what: str, done: int, total: int) -> None:
    """No progress."""


class Keeping:
    """Puts documents into the store in handfuls: at once would wait for the disk each time."""

    def __init__(self, documents: Documents, origin: str) -> None:
        self.documents = documents
        self.origin = origin
        self.held: list[SourceDocument] = []
        self.cursor: dict[str, str] | None = None
        self.stored = time.monotonic()

    def put(self, document: SourceDocument) -> None:
        self.held.append(document)
        if time.monotonic() - self.stored >= STORE_EVERY_S:
            self.flush()

    def flush(self) -> None:
        if self.held or self.cursor is not None:
            self.documents.put(self.origin, self.held, self.cursor)
        self.held, self.cursor, self.stored = [], None, time.monotonic()


@contextmanager
def keeping(documents: Documents, origin: str) -> Iterator[Keeping]:
    """Whatever stops the reading, what was read is stored."""
    keep = Keeping(documents, origin)
    try:
        yield keep
    finally:
        keep.flush()


def add(
    documents: Documents, given: str, about: About, progress: Progress = quiet, pause: Pause = time.sleep
) -> AddingReport:
    """Read what a path or an address holds. Raises InputError, UnavailableError; one bad page stops nothing."""
    if given.startswith(("http://", "https://")):
        return add_site(documents, address_of(given), about, progress, pause)
    return add_folder(documents, Path(given), about, progress)


def add_folder(documents: Documents, given: Path, about: About, progress: Progress = quiet) -> AddingReport:
    """A file, a folder or a checkout."""
    found, closed = files(given, about.site)
    origin = named(given.expanduser().resolve())
    known = documents.known(origin)
    documents.begin(origin, "folder", about.collection, about.options())
    report = AddingReport(origin)
    for folder, why in closed.items():
        report.problem(str(folder), f"{why}; what was read there before is kept")
        known = {key: one for key, one in known.items() if not key.startswith(f"{named(folder)}/")}
    with keeping(documents, origin) as keep:
        for at, file in enumerate(found):
            progress("reading", at, len(found))
            take_file(keep, file, about, known.pop(named(file.path), None), report)
    progress("reading", len(found), len(found))
    report.removed += documents.remove(known)
    documents.finish(origin)
    return report


def take_file(
    keep: Keeping, file: FolderFile, about: About, before: KnownDocument | None, report: AddingReport
) -> None:
    """One file into the store, if it changed."""
    try:
        # One byte more than may be: reading says that it is too large.
        with open_plain(file.path, inside=file.inside) as opened:
            data = opened.read((MOST_PDF_BYTES if file.form == "pdf" else MOST_BYTES) + 1)
        mark = mark_of(data, about, file.source)
        if before and before.hash == mark:
            report.unchanged += 1
            return
        page = parser().read(data, file.form, file.path.name)
        keep.put(document(named(file.path), file.source, page, about, mark, file.date))
        report.read += 1
    except NoTextError:
        report.empty += 1
        report.removed += keep.documents.remove([named(file.path)])
    except UnreadableError as error:
        report.problem(str(file.path), error)
    except OSError as error:
        report.problem(str(file.path), error.strerror or error)


def document(key: str, source: str, page: Page, about: About, mark: str, date: str, etag: str = "") -> SourceDocument:
    """A page as a document. Its own date goes before the one given."""
    return SourceDocument(
        key=key,
        source=source,
        collection=about.collection,
        title=page.title,
        chunks=chunks(page),
        hash=mark,
        date=page.date or date,
        machine=about.machine,
        scheduler=about.scheduler,
        framework=about.framework,
        etag=etag,
    )


def mark_of(data: bytes, about: About, *more: str) -> str:
    """A mark that changes with the content, with how it is read, and with what is said of it."""
    facts = (str(READER), about.collection, about.machine, about.scheduler, about.framework, *more)
    return hashlib.sha256("\0".join(facts).encode() + b"\0" + data).hexdigest()


def add_site(
    documents: Documents, address: str, about: About, progress: Progress = quiet, pause: Pause = time.sleep
) -> AddingReport:
    """The pages of a site, or one page."""
    before = documents.origin(address)
    since = before.started if before and not before.finished else ""
    report = AddingReport(address)
    with Fetcher(pause=pause) as fetcher, keeping(documents, address) as keep:
        found = site(address, fetcher)
        known = documents.known(address)
        documents.begin(address, "site", about.collection, about.options())
        if found.left_out:
            report.problem(address, f"{found.left_out} more pages than are read at once; give a longer address")
        misses = 0
        for at, page in enumerate(found.pages):
            progress("reading", at, len(found.pages))
            seen = known.pop(page.address, None)
            if seen and since and seen.read >= since:
                report.unchanged += 1
                continue
            answered = take_page(keep, page, about, seen, report, fetcher)
            misses = 0 if answered else misses + 1
            if misses == GIVES_UP_AFTER:
                raise UnavailableError(f"{report.problems[-1]}; what came is kept, the same command goes on from there")
            pause(found.between_s)
    progress("reading", len(found.pages), len(found.pages))
    report.removed += documents.remove(known)
    documents.finish(address)
    return report


def take_page(
    keep: Keeping, page: Listed, about: About, before: KnownDocument | None, report: AddingReport, fetcher: Fetcher
) -> bool:
    """One page of a site into the store, if it changed. Returns whether the server answered."""
    try:
        answer = asked(fetcher, page, before)
        if answer.status == 304 and before:
            keep.documents.touch(page.address, before.etag)
            report.unchanged += 1
        elif answer.status in GONE:
            report.removed += keep.documents.remove([page.address])
            report.problem(page.address, f"not there ({answer.status})")
        elif answer.status != 200:
            report.problem(page.address, f"the server answers {answer.status}")
        else:
            take_answer(keep, page, answer, about, before, report)
    except NoTextError:
        report.empty += 1
        report.removed += keep.documents.remove([page.address])
    except (UnavailableError, InputError) as error:
        report.problem(page.address, error)
        return not isinstance(error, UnreachableError)
    return True


def asked(fetcher: Fetcher, page: Listed, before: KnownDocument | None) -> Response:
    """A page, after the pauses that a busy server asks for."""
    answer = fetcher.get(page.address, headers=conditions(before))
    for _ in range(fetcher.tries - 1):
        if answer.status != BUSY:
            break
        fetcher.pause(pause_of(answer, BUSY_S))
        answer = fetcher.get(page.address, headers=conditions(before))
    return answer


def address_of(given: str) -> str:
    """An address, tidy. Raises InputError for one that is none, or that holds a password: each answer would cite it."""
    try:
        parts = urlsplit(given)
        if parts.hostname and not (parts.username or parts.password):
            return tidy(given)
    except ValueError as error:
        raise InputError(f"'{visible(given)[:80]}' is no address") from error
    if not parts.hostname:
        raise InputError(f"'{visible(given)[:80]}' names no host")
    raise InputError("an address with a name or a password in it is not taken: answers would cite it; leave them out")


def conditions(before: KnownDocument | None) -> dict[str, str]:
    """What makes a server answer `not changed`: its own tag of last time, or its date."""
    if not before or not before.etag:
        return {}
    kind, _, value = before.etag.partition(" ")
    return {"If-None-Match" if kind == "etag" else "If-Modified-Since": value}


def take_answer(
    keep: Keeping, page: Listed, answer: Response, about: About, before: KnownDocument | None, report: AddingReport
) -> None:
    form = CONTENT_TYPES.get(answer.content_type, "")
    if form == "text":
        form = form_of(urlsplit(page.address).path) or form
    if not form:
        raise UnreadableError(f"{answer.content_type or 'no content type'} cannot be read")
    etag, changed = answer.headers.get("etag", ""), answer.headers.get("last-modified", "")
    tag = f"etag {etag}" if etag else f"date {changed}" if changed else ""
    mark = mark_of(answer.body, about)
    if before and before.hash == mark:
        keep.documents.touch(page.address, tag)
        report.unchanged += 1
        return
    made = parser().read(answer.body, form, urlsplit(page.address).path.rstrip("/") or page.address)
    keep.put(document(page.address, page.address, made, about, mark, page.date or iso_date(changed), tag))
    report.read += 1


def again(documents: Documents) -> list[tuple[str, About]]:
    """What was added before from a path or a site, with what was said of it, to be read again."""
    return [
        (one.origin, About(collection=one.collection, **one.options))  # type: ignore[arg-type]
        for one in documents.origins()
        if one.kind in ("folder", "site")
    ]
