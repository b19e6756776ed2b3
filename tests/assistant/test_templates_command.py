"""`maple-chat templates` and `maple-chat doctor`, from the command line inwards."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from assistant import health, stores
from assistant.cli import main
from assistant.settings import Settings
from knowledge.errors import InputError, UnavailableError
from knowledge.retrieval import Index
from knowledge.store import ChromaServer, server_at

SCRIPT = "#!/bin/bash\n#SBATCH --nodes=4\nsrun python train.py\n"
CELL = ["--machine", "perlmutter", "--framework", "pytorch", "--strategy", "fsdp"]


@pytest.fixture(autouse=True)
def alone(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder of its own, and no Chroma server."""
    monkeypatch.delenv("MAPLE_CHAT_CHROMA", raising=False)
    stores.open_library.cache_clear()


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(["templates", *words]) == code
    return capsys.readouterr().out


def add(capsys: pytest.CaptureFixture[str], tmp_path: Path, *more: str) -> str:
    (tmp_path / "job.sh").write_text(SCRIPT)
    return answer(capsys, "add", str(tmp_path / "job.sh"), *CELL, "--who", "anna", *more).strip()


def test_a_saved_script_competes_and_goes_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    added = add(capsys, tmp_path, "--evidence", "ran on 4 nodes")
    found = json.loads(answer(capsys, "search", *CELL, "--json"))
    assert found[0]["template"]["id"] == added
    assert found[0]["why"].endswith("ran on 4 nodes")
    assert found[1]["template"]["provenance"]["kind"] == "shipped"
    assert answer(capsys, "show", added, "--script") == SCRIPT
    assert "anna" in answer(capsys, "show", added)
    assert added in answer(capsys, "list", "--saved")
    assert answer(capsys, "remove", added) == f"removed {added}\n"
    assert answer(capsys, "list", "--saved", code=1) == ""


def test_add_reads_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SCRIPT.encode())))
    added = json.loads(answer(capsys, "add", "-", *CELL, "--json"))
    assert added["scheduler"] == "slurm"
    assert added["launcher"] == "srun"
    assert "script" not in added


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"x" * 1_000_001])
def test_what_is_no_script_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes) -> None:
    (tmp_path / "job.sh").write_bytes(data)
    assert main(["templates", "add", str(tmp_path / "job.sh"), *CELL]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["templates", "add", str(tmp_path / "none.sh"), *CELL]) == 2
    assert capsys.readouterr().err.startswith("maple-chat: cannot read ")


def test_without_evidence_it_says_what_that_means(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_text(SCRIPT)
    main(["templates", "add", str(tmp_path / "job.sh"), *CELL])
    assert "ranks below" in capsys.readouterr().err


def test_an_undescribed_machine_gets_questions(capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, "search", "--machine", "hal", "--scheduler", "slurm", "--gpu", "H100", *CELL[2:])
    assert "unverified: nobody described hal" in told
    assert "To make it certain:" in told


def test_show_of_a_shipped_one_tells_how_to_write_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["templates", "show", "aurora/aurora/pytorch/ddp"]) == 0
    shown = capsys.readouterr()
    assert "mpiexec" in shown.out
    assert "maple-chat script --machine aurora" in shown.err


def test_search_and_list_say_when_nothing_fits(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "list", "--machine", "no such machine", code=1) == ""
    assert answer(capsys, "search", "--gpu", "MI9999", code=1) == ""


@pytest.mark.parametrize(
    ("address", "server"),
    [
        ("http://chroma.local:8000", ChromaServer("chroma.local", 8000)),
        ("https://chroma.local", ChromaServer("chroma.local", 443, True)),
        ("chroma.local:9000", ChromaServer("chroma.local", 9000)),
        ("chroma.local", ChromaServer("chroma.local", 8000)),
    ],
)
def test_address_of_a_chroma_server(address: str, server: ChromaServer) -> None:
    assert server_at(address) == server


@pytest.mark.parametrize("address", ["ftp://x", "http://", "http://x:port", "http://x/path"])
def test_no_address_of_a_chroma_server(address: str) -> None:
    with pytest.raises(InputError, match="HOST:PORT"):
        server_at(address)


def doctor(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    capsys.readouterr()
    code = main(["doctor", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert code == (0 if told["works"] else 1)
    return {check["name"]: check for check in told["checks"]}


def test_doctor_finds_this_machine_well(capsys: pytest.CaptureFixture[str]) -> None:
    checks = doctor(capsys)
    assert [name for name, check in checks.items() if check["needed"] and check["state"] != "ok"] == []
    assert all(check["do"] for check in checks.values() if check["state"] == "missing")
    assert main(["doctor"]) == 0
    assert "Scripts can be written here." in capsys.readouterr().out


def test_doctor_sees_a_package_that_shadows_ours(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = health.spec_folder("assistant")
    monkeypatch.setattr(health, "spec_folder", lambda name: tmp_path if name == "templates" else ours)
    found = doctor(capsys)["packages"]
    assert found["state"] == "wrong"
    assert f"templates from {tmp_path}" in str(found["says"])


def test_doctor_names_a_wrong_site_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from knowledge.catalogue import catalogue

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "maple-chat" / "clusters").mkdir(parents=True)
    (tmp_path / "maple-chat" / "clusters" / "mine.yaml").write_text("id: mine\n")
    catalogue.cache_clear()
    try:
        found = doctor(capsys)["machines"]
    finally:
        catalogue.cache_clear()
    assert found["state"] == "wrong"
    assert "mine.yaml" in str(found["says"])


def test_doctor_without_weights(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Path:
        raise UnavailableError("not installed")

    monkeypatch.setattr(health.embedding, "weights_file", missing)
    found = doctor(capsys)["MiniLM"]
    assert found["state"] == "missing"
    assert not found["needed"]


def test_doctor_names_an_old_sqlite(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 26, 0))
    main(["doctor"])
    assert "Chroma needs 3.35" in capsys.readouterr().out


def test_doctor_tells_of_servers_that_do_not_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAPLE_CHAT_CHROMA", "127.0.0.1:9")
    monkeypatch.setenv("MAPLE_CHAT_DATABASE", "mysql://x")
    checks = doctor(capsys)
    assert checks["Chroma"]["state"] == checks["database"]["state"] == "wrong"
    assert "MAPLE_CHAT_CHROMA" in str(checks["Chroma"]["do"])


def test_doctor_sees_an_index_others_may_write_and_one_set_aside(
    capsys: pytest.CaptureFixture[str], settings: Settings
) -> None:
    place = settings.data / "index" / "templates"
    place.mkdir(parents=True)
    place.chmod(0o777)
    assert "chmod go-w" in str(doctor(capsys)["index"]["says"])
    place.chmod(0o700)
    assert doctor(capsys)["index"]["state"] == "ok"
    (place / ".set-aside-x").mkdir()
    assert "rm -r" in str(doctor(capsys)["index"]["do"])


def test_a_setting_puts_the_vectors_on_a_server(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setenv("MAPLE_CHAT_CHROMA", "https://chroma.local:1")
    monkeypatch.setenv("MAPLE_CHAT_CHROMA_TOKEN", "abc")
    index = stores.open_library(settings.data).index
    assert isinstance(index, Index)
    assert index._server == ChromaServer("chroma.local", 1, True, "abc")
