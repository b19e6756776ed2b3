"""What leaves for the web, and what comes back."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from ddgs.engines import ENGINES
from ddgs.exceptions import RatelimitException, TimeoutException
from ddgs.results import TextResult

from knowledge.errors import InputError, UnavailableError
from knowledge.fetching import Fetcher, Response, pause_of, place_of
from knowledge.public import public_part, public_query, public_question, vocabulary, without_private
from knowledge.web import BACKEND, DuckDuckGo, Searx, WebHit, search, to_send

PRIVATE = [
    "hf_abcdefghijklmnopqrst",
    "ghp_abcdefghijklmnopqrst",
    "/home/jdoe",
    "/lustre/orion/abc123/scratch",
    "jdoe",
    "smithlab",
    "jane.doe@uni.example",
    "nid001234",
    "login01.cluster.uni.edu",
    "10.12.13.14",
    "m1234_g",
    "Apollo",
    "hunter2secret",
]


@pytest.mark.parametrize("private", PRIVATE)
@pytest.mark.parametrize(
    "line",
    [
        "torch.distributed.DistBackendError: NCCL error on {} unhandled system error",
        "RuntimeError: {}: CUDA out of memory",
        "slurmstepd: error: {} exceeded memory limit",
        "why does torchrun hang for {} at init_process_group?",
        "FileNotFoundError: [Errno 2] No such file or directory: '{}'",
        "user={} password={} token: {} NCCL error",
    ],
)
def test_only_public_words_make_a_query(line: str, private: str) -> None:
    query = public_query(line.replace("{}", private), ("pytorch", "slurm"))
    assert private.lower() not in query.lower()
    assert not {"jdoe", "uni", "orion"} & set(query.lower().replace("/", " ").replace(".", " ").split())
    assert len(query.split()) >= 3


def test_the_telling_words_stay() -> None:
    query = public_query(
        "torch.distributed.DistBackendError: NCCL error in: x.cpp:1970, unhandled system error", ("slurm",)
    )
    assert {"torch.distributed.DistBackendError", "NCCL", "unhandled", "system", "slurm"} <= set(query.split())
    assert public_query("ModuleNotFoundError: No module named 'flash_attn'").endswith("named flash_attn")
    assert "137" in public_query("the process ended with exit code 137").split()
    assert public_query("ModuleNotFoundError: No module named 'torchtune'").endswith("named torchtune")
    assert "--gpus-per-node" in public_query("sbatch: error: invalid option --gpus-per-node").split()


@pytest.mark.parametrize(
    ("question", "names", "query"),
    [
        ("how much is a node hour on lumi?", ("LUMI",), "LUMI node hour"),
        ("how do I use wandb offline with lightning?", (), "wandb offline lightning"),
        ("best restaurant near NERSC", ("Perlmutter",), ""),
        ("what is the best one to use?", (), ""),
    ],
)
def test_a_question_sends_its_subject_and_no_filler(question: str, names: tuple[str, ...], query: str) -> None:
    assert public_question(question, names) == query


def test_what_is_all_private_makes_no_query() -> None:
    assert public_query("/home/jdoe/x jdoe@login01 m1234") == ""
    with pytest.raises(InputError, match="all private"):
        to_send("/home/jdoe/run.sh")


def test_the_facts_of_clusters_are_not_public_words() -> None:
    assert len(vocabulary()) > 3000
    assert not {"perlmutter", "nersc", "jdoe", "gmail"} & vocabulary()


@pytest.mark.parametrize("private", [p for p in PRIVATE if p not in ("jdoe", "smithlab", "Apollo", "hunter2secret")])
def test_a_query_of_a_person_is_masked(private: str) -> None:
    assert private not in without_private(f"torchrun hangs with {private} account={private} on Slurm")


def test_own_names_never_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "xquser")
    monkeypatch.setenv("SLURM_JOB_ACCOUNT", "xqaccount")
    assert without_private("why does xquser of xqaccount wait") == "why does of wait"


@pytest.mark.parametrize(
    "path",
    ["$HOME/thesis/x.py", "${SCRATCH}/thesis", "./thesis/x.py", "../thesis", "~/thesis", "--out=$WORK/thesis/x"],
)
def test_no_folder_leaves_however_it_is_written(path: str) -> None:
    sent = without_private(f"torchrun cannot read {path} under srun and/or mpiexec")
    assert "thesis" not in sent and sent.endswith("under srun and/or mpiexec")


PAGE = """<html><head><title>NCCL unhandled system error - Forum</title><meta name="date" content="2025-05-01"></head>
<body><nav>Home Login</nav><main><h1>NCCL unhandled system error</h1><p>Weather is fine today.</p>
<h2>Answer</h2><p>Set NCCL_SOCKET_IFNAME to the interface that all nodes
share; then the unhandled system error goes.</p>
</main></body></html>"""


def results(*addresses: str) -> str:
    rows = [{"url": address, "title": "A page", "content": "an excerpt"} for address in addresses]
    return json.dumps({"results": rows})


def test_results_are_read_and_cited(stand_in: Any) -> None:
    stand_in.say("/search", results(f"{stand_in.address}/a.html", f"{stand_in.address}/gone"))
    stand_in.say("/a.html", PAGE, content_type="text/html")
    found = search("NCCL unhandled system error", Searx(stand_in.address))
    assert found[0].kind == "web" and found[0].source == f"{stand_in.address}/a.html"
    assert "NCCL_SOCKET_IFNAME" in found[0].text and "Login" not in found[0].text
    assert (found[0].title, found[0].date, found[0].path) == ("NCCL unhandled system error", "2025-05-01", ("Answer",))
    assert found[1].text == "an excerpt"


def test_nothing_private_reaches_the_server(stand_in: Any) -> None:
    stand_in.say("/search", results())
    search(f"torchrun hangs {' '.join(PRIVATE[:4])} jane.doe@uni.example account=m1234_g", Searx(stand_in.address))
    sent = stand_in.asked[0]
    assert sent.query["q"].startswith("torchrun hangs")
    for private in ("hf_", "ghp_", "jdoe", "home", "lustre", "abc123", "jane", "uni.example", "m1234"):
        assert private not in sent.raw


def test_a_search_engine_of_the_internet_may_not_lead_inside(stand_in: Any) -> None:
    stand_in.say("/secret.html", PAGE, content_type="text/html")

    class Public:
        private = False

        def find(self, query: str, limit: int) -> list[WebHit]:
            return [WebHit(f"{stand_in.address}/secret.html", "t", "only the excerpt")]

    assert [p.text for p in search("NCCL error", Public())] == ["only the excerpt"]
    assert not stand_in.asked


def test_an_engine_that_is_not_there_is_one_line() -> None:
    with pytest.raises(UnavailableError, match="cannot reach the web"):
        search("NCCL error", Searx("http://127.0.0.1:9"))


class Fixed:
    """An engine that finds what it is given."""

    private = False

    def __init__(self, *hits: WebHit) -> None:
        self.hits = hits

    def find(self, query: str, limit: int) -> list[WebHit]:
        return list(self.hits)


def named(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Every name has these addresses, one after the other, the last one for ever. Returns the names looked up."""
    left, looked, real = list(answers), list[str](), socket.getaddrinfo

    def getaddrinfo(host: str, port: object, *_: object, **__: object) -> list[Any]:
        if host[:1].isdigit():
            return real(host, port, type=socket.SOCK_STREAM)  # type: ignore[arg-type]
        looked.append(host)
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port or 0))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return looked


@pytest.fixture
def without_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.usefixtures("without_proxy")
def test_the_connection_goes_to_the_address_that_was_checked(stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is public when it is checked and this computer when it is connected to (DNS rebinding)."""
    stand_in.say("/secret.html", PAGE, content_type="text/html")
    port = stand_in.address.rsplit(":", 1)[1]
    asked = named(monkeypatch, "192.0.0.9", "127.0.0.1")  # an anycast address of the IANA: public, nobody answers here
    monkeypatch.setattr("knowledge.fetching.CONNECT_S", 0.2)
    hit = WebHit(f"http://rebinds.example:{port}/secret.html", "t", "only the excerpt")
    assert [one.text for one in search("NCCL error", Fixed(hit))] == ["only the excerpt"]
    assert asked.count("rebinds.example") == 1 and not stand_in.asked


@pytest.mark.usefixtures("without_proxy")
def test_a_checked_page_is_asked_for_by_its_name(stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in.say("/a.html", PAGE, content_type="text/html")
    monkeypatch.setattr("knowledge.fetching.is_global", lambda address: True)
    named(monkeypatch, "127.0.0.1")
    port = stand_in.address.rsplit(":", 1)[1]
    (found,) = search("NCCL unhandled system error", Fixed(WebHit(f"http://forum.example:{port}/a.html", "t", "x")))
    assert found.source == f"http://forum.example:{port}/a.html" and "NCCL_SOCKET_IFNAME" in found.text
    assert stand_in.asked[0].headers["host"] == f"forum.example:{port}"


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "[::1]", "[::ffff:10.0.0.1]", "169.254.169.254"])
def test_no_spelling_of_an_inner_address_is_asked(host: str) -> None:
    with Fetcher(public_only=True, tries=1) as fetcher, pytest.raises(UnavailableError, match="no public address"):
        fetcher.get(f"http://{host}/latest/meta-data")


def test_a_token_goes_nowhere_without_encryption() -> None:
    assert place_of("https://api.example") != place_of("http://api.example")
    assert place_of("https://api.example:443/x") == place_of("HTTPS://API.example/y")


@pytest.mark.parametrize(("said", "seconds"), [("7", 7.0), ("99999", 30.0), ("soon", 2.0), ("\xb2", 2.0)])
def test_a_server_may_ask_for_a_pause_in_reason(said: str, seconds: float) -> None:
    assert pause_of(Response(503, "https://a.example", {"retry-after": said}, b""), 2.0) == seconds


def test_a_page_of_the_web_says_nothing_to_a_terminal(stand_in: Any) -> None:
    stand_in.say("/search", json.dumps({"results": [{"url": f"{stand_in.address}/p.txt", "title": "a\x1b[2Jb"}]}))
    stand_in.say("/p.txt", "NCCL error\x1b]52;c;words\x07 of \x9b2J many", content_type="text/plain")
    (found,) = search("NCCL error", Searx(stand_in.address))
    assert "NCCL" in found.text and (found.text + found.title + found.source).isprintable()


def test_a_word_without_end_costs_no_time() -> None:
    assert public_query("NCCL error " + "x" * 2_000_000).split() == ["NCCL", "error"]


class TestDuckDuckGo:
    """Our call against the installed ddgs: its own front, an engine of ours behind it, no network."""

    @pytest.fixture
    def engine(self, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        asked: list[Any] = []

        class Stand:
            name = provider = "duckduckgo"
            priority = 1
            answer: Any = ()

            def __init__(self, proxy: Any = None, timeout: Any = None, verify: Any = True) -> None:
                asked.append((proxy, timeout))

            def search(self, query: str, **options: Any) -> Any:
                asked.append((query, options))
                if isinstance(Stand.answer, Exception):
                    raise Stand.answer
                return list(Stand.answer)

        asked.append(Stand)
        monkeypatch.setitem(ENGINES["text"], BACKEND, Stand)
        return asked

    def test_results(self, engine: list[Any]) -> None:
        row = TextResult()
        row.title, row.href, row.body = "A title", "https://x.example/a", "NCCL error, an excerpt"
        engine[0].answer = [row]
        assert DuckDuckGo().find("NCCL error", 3) == [
            WebHit("https://x.example/a", "A title", "NCCL error, an excerpt")
        ]
        assert [query for query, _ in engine[2:]] == ["NCCL error"] and engine[1][1] == 10

    @pytest.mark.parametrize(
        ("fault", "says"),
        [
            (RatelimitException("202 Ratelimit"), "cannot reach the web|wants a pause"),
            (TimeoutException("timed out"), "cannot reach the web"),
            (OSError("tunnel"), "cannot reach the web"),
        ],
    )
    def test_faults(self, engine: list[Any], fault: Exception, says: str) -> None:
        engine[0].answer = fault
        with pytest.raises(UnavailableError, match=says):
            DuckDuckGo().find("NCCL error", 3)

    def test_nothing_found(self, engine: list[Any]) -> None:
        assert DuckDuckGo().find("NCCL error", 3) == []

    def test_a_ddgs_without_it_asks_nobody_else(self, engine: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(ENGINES["text"], BACKEND)
        for name in list(ENGINES["text"]):
            monkeypatch.setitem(ENGINES["text"], name, engine[0])
        with pytest.raises(UnavailableError, match="has no DuckDuckGo"):
            DuckDuckGo().find("NCCL error", 3)
        assert len(engine) == 1


def test_a_query_keeps_its_key_words_and_tells_what_it_leaves_out() -> None:
    assert public_part("Perlmutter maintenance on H200")[0] == "Perlmutter maintenance on H200"
    query, left = public_part("install apex for user mvarga77 in /home/mvarga77/qzabfold with qzabword")
    assert query == "install apex for user in with" and left == ("qzabword",)
