"""What leaves for the web, and what comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from knowledge.errors import InputError, UnavailableError
from knowledge.public import public_query, vocabulary, without_private
from knowledge.web import Hit, Searx, search, to_send

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
    assert "--gpus-per-node" in public_query("sbatch: error: invalid option --gpus-per-node").split()


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

        def find(self, query: str, limit: int) -> list[Hit]:
            return [Hit(f"{stand_in.address}/secret.html", "t", "only the excerpt")]

    assert [p.text for p in search("NCCL error", Public())] == ["only the excerpt"]
    assert not stand_in.asked


def test_an_engine_that_is_not_there_is_one_line() -> None:
    with pytest.raises(UnavailableError, match="cannot reach the web"):
        search("NCCL error", Searx("http://127.0.0.1:9"))
