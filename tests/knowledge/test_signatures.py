"""The signatures: shipped ones verified, files of a site, the fixed words that the scan looks for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.errors import FactsError
from knowledge.signatures.check import check, problems
from knowledge.signatures.literals import literals
from knowledge.signatures.loader import library, read_signatures, site_folder
from knowledge.signatures.matcher import Matcher, matcher
from knowledge.signatures.model import Signature, signature

ENTRY = "signatures:\n- {id: tidal-1, pattern: 'tidal wave \\d+', cause: env-disk, example: 'tidal wave 7'}\n"


def made(**parts: object) -> Signature:
    given = {"id": "a", "pattern": "tidal wave", "cause": "env-disk", "example": "tidal wave", **parts}
    return signature(given, "site.yaml", "site", "")


def test_the_shipped_signatures_are_fine() -> None:
    found, count = check()
    assert found == []
    assert count > 400


def test_every_cause_but_the_two_without_failure_has_a_signature() -> None:
    shown = {s.cause for s in library().signatures if s.kind in ("cause", "error", "fallback", "verdict", "effect")}
    assert set(library().causes) - shown <= {"no-failure", "unknown"}


def test_a_site_adds_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    site_folder().mkdir(parents=True)
    (site_folder() / "ours.yaml").write_text(ENTRY)
    found, count = check()
    assert found == [] and count == len(library().signatures) + 1


@pytest.mark.parametrize(
    ("parts", "word"),
    [
        ({"cause": "sea-state"}, "no cause"),
        ({"pattern": "tidal (?=wave)"}, "compile"),
        ({"example": "calm sea"}, "does not match"),
        ({"unlike": "tidal wave"}, "leave alone"),
        ({"pattern": "No space left on device", "example": "No space left on device", "cause": "gpu-oom"}, "taken by"),
    ],
)
def test_check_tells_what_is_wrong(parts: dict[str, object], word: str) -> None:
    found = problems([*library().signatures, made(**parts)], library().causes)
    assert any(word in line for line in found), found


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("signatures: 3", "list"),
        ("signatures:\n- {id: a}", "missing pattern"),
        ("signatures:\n- {id: a, pattern: x, wrong: 1}", "unknown key"),
        ("signatures:\n- {id: a, pattern: 'loss', cause: env-disk, example: loss}", "fixed, telling word"),
        ("signatures:\n- {id: a, pattern: '(', cause: env-disk, example: x}", "compile"),
        ("signatures:\n- {id: a, kind: odd, pattern: abcd, cause: env-disk, example: abcd}", "kind"),
        ("[", "YAML"),
    ],
)
def test_a_wrong_file_is_refused_in_words(text: str, word: str) -> None:
    with pytest.raises(FactsError, match=word):
        read_signatures(Path("site.yaml"), text.encode())


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("foo(?:bar)?baz", {"foobarbaz", "foobaz"}),
        ("ab(?:cd|ef)gh.*x", {"abcdgh", "abefgh"}),
        ("(?i)Disk Full", {"(?i)disk full"}),
        (r"\w+ (?:left|right) turn", {" left turn", " right turn"}),
        (r"^step \d+$", set()),
        ("^ERROR: (.*)", {"ERROR: "}),
        ("^(?:ERROR|WARNING): ", set()),
    ],
)
def test_the_words_of_a_pattern(pattern: str, words: set[str]) -> None:
    assert set(literals(pattern)) == words


def test_an_example_holds_one_of_its_words() -> None:
    """The scan must not lose what the pattern would match."""
    _, _ = check()
    for s in library().signatures:
        assert s.kind == "frame" or s.literals, s.id


@settings(suppress_health_check=[HealthCheck.too_slow])  # a long pattern's first text takes a second
@given(st.sampled_from([s for s in library().signatures if s.kind != "frame"]), st.data())
def test_what_a_pattern_matches_the_scan_finds(s: Signature, data: st.DataObject) -> None:
    try:
        text = data.draw(st.from_regex(re.compile(s.pattern, re.ASCII)))
    except re.error:  # syntax that RE2 alone has
        return
    line = text.replace("\n", " ").encode("ascii", "replace")
    use = Matcher([s])
    if use.match(line) and s.kind != "harmless":
        assert use.union.search(line)


def test_the_words_of_ordinary_output_stop_nothing() -> None:
    assert (
        matcher().sought_in(b"step 12 loss 2.31 lr 1e-4 grad_norm 0.3 tokens/s 4711 epoch 3 time 0.3 error 0.1") == []
    )


def test_names_captured_lose_their_numbers() -> None:
    s = made(pattern="wave of (?P<path>/a)|wave at (?P<path2>/b)")
    assert Matcher([s]).captured(s, b"wave at /b") == {"path": "/b"}


FRONT = re.compile(r"https?://(?:(?:github|gitlab)\.com/[^/]+/[^/]+|[^/]+)/?(?:tree/[^/]+/?)?$")


def test_a_source_is_a_page_or_a_line_never_a_front_page() -> None:
    assert FRONT.match("https://github.com/a/b") and FRONT.match("https://docs.example.org/")
    assert not FRONT.match("https://github.com/a/b/blob/main/c.py#L9")
    assert [(s.id, s.source) for s in library().signatures if FRONT.match(s.source)] == []
