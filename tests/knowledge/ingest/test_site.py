"""A site by its sitemap: what is asked for, how politely, and what comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knowledge.documents import Documents
from knowledge.errors import InputError, UnavailableError
from knowledge.ingest.adding import About, AddingReport, add


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return Documents(tmp_path / "documents.sqlite")


def page(name: str) -> str:
    main = f"<main><h1>{name}</h1><p>Words of {name}.</p></main>"
    return f"<html><title>{name}</title><body><nav>Menu</nav>{main}</body></html>"


def sitemap(stand_in: Any, *addresses: str) -> str:
    entries = "".join(
        f"<url><loc>{a if a.startswith('http') else stand_in.address + a}</loc><lastmod>2025-06-07</lastmod></url>"
        for a in addresses
    )
    return f'<?xml version="1.0"?><urlset xmlns="x">{entries}</urlset>'


@pytest.fixture
def site(stand_in: Any) -> Any:
    names = [f"/docs/p{number}/" for number in range(6)]
    stand_in.say(
        "/sitemap.xml", sitemap(stand_in, *names, "/blog/news/", "/docs/logo.png", "https://other.example/docs/x/")
    )
    for name in (*names, "/blog/news/"):
        stand_in.say(name, page(name), content_type="text/html; charset=utf-8", ETag=f'"{name}"')
    return stand_in


def read(documents: Documents, stand_in: Any, path: str = "/docs/") -> AddingReport:
    return add(documents, stand_in.address + path, About(), pause=lambda seconds: None)


def test_pages_below_the_address_on_this_host(documents: Documents, site: Any) -> None:
    report = read(documents, site)
    assert report.read == 6 and not report.problems
    found = documents.passages()
    assert [p.source for p in found] == [f"{site.address}/docs/p{n}/" for n in range(6)]
    assert {p.date for p in found} == {"2025-06-07"} and "Menu" not in found[0].text
    assert not {"/blog/news/", "/docs/logo.png"} & set(site.paths())


def test_a_site_of_too_many_pages_says_so(documents: Documents, site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.ingest.site.MOST_PAGES", 4)
    report = read(documents, site)
    assert report.read == 4 and report.problems == [
        f"{site.address}/docs/: 2 more pages than are read at once; give a longer address"
    ]


def test_robots_and_an_index_of_sitemaps(documents: Documents, site: Any) -> None:
    site.say(
        "/robots.txt",
        f"User-agent: *\nDisallow: /docs/p3/\nSitemap: {site.address}/maps.xml\n",
        content_type="text/plain",
    )
    site.say("/maps.xml", f"<sitemapindex><sitemap><loc>{site.address}/sitemap.xml</loc></sitemap></sitemapindex>")
    assert read(documents, site).read == 5
    assert "/docs/p3/" not in site.paths() and "/maps.xml" in site.paths()


def test_the_second_time_the_server_says_not_changed(documents: Documents, site: Any) -> None:
    read(documents, site)
    site.asked.clear()
    for name in [path for path in site.pages if path.startswith("/docs/p")]:
        site.pages[name] = lambda asked, name=name: site.make(
            b"" if asked.headers.get("if-none-match") == f'"{name}"' else page(name),
            304 if asked.headers.get("if-none-match") == f'"{name}"' else 200,
        )
    before = documents.version()
    report = read(documents, site)
    assert (report.read, report.unchanged) == (0, 6) and documents.version() == before


def test_what_is_gone_is_removed_and_a_bad_page_stops_nothing(documents: Documents, site: Any) -> None:
    read(documents, site)
    site.say("/docs/p1/", "gone", 404)
    site.say("/docs/p2/", "%PDF broken", content_type="application/pdf")
    site.say("/docs/p4/", "zip", content_type="application/zip")
    site.say("/sitemap.xml", sitemap(site, *(f"/docs/p{n}/" for n in range(5))))
    report = read(documents, site)
    assert report.removed == 2 and len(report.problems) == 3
    assert "not there (404)" in report.problems[0] and "application/zip" in report.problems[2]
    assert len(documents.passages()) == 4


def test_a_cut_connection_is_tried_again(documents: Documents, site: Any) -> None:
    tries = iter([site.make("part", 200, cut=True), site.make("", 503)])
    whole = site.pages["/docs/p1/"]
    site.pages["/docs/p1/"] = lambda asked: next(tries, whole)
    assert read(documents, site).read == 6


def test_a_server_that_dies_is_gone_on_with_later(documents: Documents, site: Any) -> None:
    good = dict(site.pages)
    for number in range(2, 6):
        site.pages[f"/docs/p{number}/"] = site.make("x", 200, cut=True)
    site.say("/sitemap.xml", sitemap(site, *(f"/docs/p{n}/" for n in range(6)), "/docs/p5/?a", "/docs/p5/?b"))
    with pytest.raises(UnavailableError, match="goes on from there"):
        read(documents, site)
    assert len(documents.passages()) == 2
    site.pages.update(good)
    site.asked.clear()
    read(documents, site)
    assert len(documents.passages()) == 6
    assert not {"/docs/p0/", "/docs/p1/"} & set(site.paths())


def test_a_redirect_to_another_host_is_not_followed(documents: Documents, site: Any) -> None:
    site.say("/docs/p1/", "", 302, Location="http://127.0.0.2:9/x")
    report = read(documents, site)
    assert report.read == 5 and "leads away" in report.problems[0]


def test_one_page_needs_no_sitemap(documents: Documents, site: Any) -> None:
    site.say("/guide.html", page("Guide"), content_type="text/html")
    assert read(documents, site, "/guide.html").read == 1


def test_no_sitemap_no_server_nothing_allowed(documents: Documents, stand_in: Any) -> None:
    with pytest.raises(InputError, match="no sitemap"):
        read(documents, stand_in)
    with pytest.raises(UnavailableError, match="cannot reach"):
        add(documents, "http://127.0.0.1:9/docs/", About(), pause=lambda seconds: None)
    stand_in.say("/sitemap.xml", sitemap(stand_in, "/docs/a/"))
    stand_in.say("/robots.txt", "User-agent: *\nDisallow: /\n")
    with pytest.raises(InputError, match="robots"):
        read(documents, stand_in)
    assert documents.origins() == []


def test_pauses_between_pages_of_other_computers(
    documents: Documents, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("knowledge.ingest.site.is_loopback", lambda address: False)
    site.say("/robots.txt", "User-agent: *\nCrawl-delay: 3\n")
    add(documents, site.address + "/docs/", About(), pause=pauses.append)
    assert pauses == [3.0] * 6


def test_a_busy_server_is_waited_for(documents: Documents, site: Any) -> None:
    path = "/docs/p2/"
    whole, busy = site.pages[path], [site.make(b"", 429, Retry_After="7"), site.make(b"", 429)]
    site.pages[path] = lambda asked: busy.pop() if busy else whole
    pauses: list[float] = []
    report = add(documents, f"{site.address}/docs/", About(), pause=pauses.append)
    assert not report.problems and {7.0, 10.0} <= set(pauses)


@pytest.mark.parametrize("status", [429, 503])
def test_a_sitemap_that_cannot_be_had_removes_nothing(documents: Documents, site: Any, status: int) -> None:
    maps = f"<sitemap><loc>{site.address}/sitemap.xml</loc></sitemap><sitemap><loc>{site.address}/b.xml</loc></sitemap>"
    site.say("/docs/sitemap.xml", f"<sitemapindex>{maps}</sitemapindex>")
    site.say("/b.xml", sitemap(site, "/docs/b/"))
    site.say("/docs/b/", page("b"), content_type="text/html")
    assert read(documents, site).read == 7
    site.say("/b.xml", "", status)
    with pytest.raises(UnavailableError, match=str(status)):
        read(documents, site)
    assert len(documents.passages()) == 7


@pytest.mark.parametrize("address", ["http://[x/", "https://", "https://jane:secret@docs.example/x", "http://jane@h/"])
def test_an_address_that_is_none_or_holds_a_password(documents: Documents, address: str) -> None:
    with pytest.raises(InputError) as error:
        add(documents, address, About())
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("text", ["<url>" * 200_000, "<url><loc>" + " " * 200_000, "<url" * 200_000, "<loc>" * 200_000])
def test_a_sitemap_made_to_cost_hours_costs_none(documents: Documents, site: Any, text: str) -> None:
    site.say("/docs/sitemap.xml", text + "</url><url><loc>http://[x</loc></url>")
    add(documents, f"{site.address}/docs/a.html", About())
    with pytest.raises(InputError):
        add(documents, f"{site.address}/docs/sitemap.xml", About())
