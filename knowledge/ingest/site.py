"""The pages of a site by its sitemap: the same host only, what robots.txt allows, slowly."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import PurePosixPath
from urllib.parse import urldefrag, urljoin, urlsplit, urlunsplit
from urllib.robotparser import RobotFileParser

from knowledge.errors import InputError
from knowledge.fetching import Fetcher, UnreachableError, host_of, is_loopback
from knowledge.ingest.page import iso_date
from knowledge.ingest.reading import form_of

AGENT = "maple-chat"
BETWEEN_S = 0.5
LONGEST_BETWEEN_S = 10.0
MOST_PAGES = 20_000
MOST_SITEMAPS = 200
MOST_SITEMAP_BYTES = 60_000_000
DYNAMIC = frozenset({"", ".php", ".asp", ".aspx", ".jsp", ".cgi"})
# Each of them reads a text once, whatever is in it: a sitemap is a stranger's.
ENTRY_ENDS = re.compile(r"</(?:url|sitemap)>")
LOC = re.compile(r"<loc>(?:\s*+<!\[CDATA\[)?([^<\]]*)")
LASTMOD = re.compile(r"<lastmod>([^<]*)")
MOST_ROBOTS_BYTES = 500_000


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of a site, and the day that its sitemap gives."""

    address: str
    date: str = ""


@dataclass(frozen=True, slots=True)
class CrawledSite:
    """The pages to read, the seconds to leave between two, and how many more there are than are read."""

    pages: tuple[Listed, ...]
    between_s: float
    left_out: int = 0


def site(address: str, fetcher: Fetcher) -> CrawledSite:
    """What is to be read at an address: a page, or the pages below it in the sitemap. Raises InputError."""
    robots = robots_of(address, fetcher)
    between = 0.0 if is_loopback(address) else min(float(robots.crawl_delay(AGENT) or BETWEEN_S), LONGEST_BETWEEN_S)
    one = form_of(urlsplit(address).path)
    found = [Listed(address)] if one else list(listed(address, robots, fetcher))
    allowed = tuple(page for page in found if robots.can_fetch(AGENT, page.address))
    if found and not allowed:
        raise InputError(f"{host_of(address)} asks programs not to read these pages (robots.txt)")
    return CrawledSite(allowed[:MOST_PAGES], between, len(allowed[MOST_PAGES:]))


def robots_of(address: str, fetcher: Fetcher) -> RobotFileParser:
    """What the host allows: all of it where there is no robots.txt. Raises UnreachableError at 5xx (RFC 9309, 2.3)."""
    robots = RobotFileParser()
    answer = fetcher.get(urljoin(address, "/robots.txt"))
    if answer.status >= 500:
        raise UnreachableError(f"{host_of(address)} answers {answer.status} for its robots.txt; try again later")
    text = answer.body[:MOST_ROBOTS_BYTES].decode("utf-8", "replace")
    robots.parse(text.splitlines() if answer.status == 200 else [])
    return robots


def listed(address: str, robots: RobotFileParser, fetcher: Fetcher) -> Iterator[Listed]:
    """The pages of the first sitemap found that lie below the address. Raises InputError where there is none."""
    tried = []
    for place in sitemaps(address, robots):
        found = list(dict.fromkeys(entries(place, fetcher)))
        if found:
            below = [page for page in found if is_below(page.address, address)]
            if not below:
                raise InputError(f"the sitemap {place} lists nothing below {address}; give a shorter address")
            yield from below
            return
        tried.append(urlsplit(place).path)
    raise InputError(
        f"no sitemap at {host_of(address)} ({', '.join(tried)}); give one page's address, or clone its source "
        "and add that folder"
    )


def sitemaps(address: str, robots: RobotFileParser) -> list[str]:
    """Where a sitemap may be, the nearest first."""
    if urlsplit(address).path.endswith((".xml", ".xml.gz")):
        return [address]
    folder = address if address.endswith("/") else address + "/"
    places = [urljoin(folder, "sitemap.xml"), *(robots.site_maps() or ()), urljoin(address, "/sitemap.xml")]
    return [place for place in dict.fromkeys(places) if host_of(place) == host_of(address)]


def entries(place: str, fetcher: Fetcher) -> Iterator[Listed]:
    """The pages of a sitemap, and of the sitemaps it lists; those of other hosts are left out."""
    waiting, seen = [place], {place}
    while waiting and len(seen) <= MOST_SITEMAPS:
        text = sitemap_text(waiting.pop(0), fetcher)
        index = "<sitemapindex" in text
        for entry in ENTRY_ENDS.split(text)[:-1]:
            loc, day = LOC.search(entry), LASTMOD.search(entry)
            address = page_address(place, loc[1]) if loc else ""
            if not address or host_of(address) != host_of(place):
                continue
            if index:
                waiting += [address] if address not in seen else []
                seen.add(address)
            elif is_page(address):
                yield Listed(address, iso_date(day[1]) if day else "")


def page_address(place: str, loc: str) -> str:
    """The address of an entry; empty for one that is none."""
    try:
        return tidy(urljoin(place, unescape(loc.strip())))
    except ValueError:
        return ""


def sitemap_text(place: str, fetcher: Fetcher) -> str:
    """A sitemap, empty where there is none. Raises UnreachableError: what a busy server hides is not gone."""
    answer = fetcher.get(place)
    if answer.status >= 500 or answer.status == 429:
        raise UnreachableError(f"{host_of(place)} answers {answer.status} for its sitemap {place}; try again later")
    if answer.status != 200:
        return ""
    body = answer.body
    if body[:2] == b"\x1f\x8b":
        try:
            body = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, MOST_SITEMAP_BYTES)
        except (zlib.error, gzip.BadGzipFile):
            return ""
    return body[:MOST_SITEMAP_BYTES].decode("utf-8", "replace")


def is_page(address: str) -> bool:
    """Whether it may be a page by its name: no picture, archive or program."""
    suffix = PurePosixPath(urlsplit(address).path).suffix.lower()
    return suffix in DYNAMIC or bool(form_of(suffix)) or not re.fullmatch(r"\.[a-z][a-z0-9]{1,4}", suffix)


def is_below(page: str, address: str) -> bool:
    """Whether a page lies in the folder that an address names; a sitemap's own address names its folder."""
    path = urlsplit(address).path
    folder = path if path.endswith("/") else path + "/"
    if path.endswith((".xml", ".xml.gz")):
        folder = path.rsplit("/", 1)[0] + "/"
    return (urlsplit(page).path + "/").startswith(folder)


def tidy(address: str) -> str:
    """An address without its fragment, its host in lower case: one key for one page."""
    parts = urlsplit(urldefrag(address).url)
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", parts.query, ""))
