"""`maple-chat report` as a support team uses it: folders and accounting in, a page and a table out."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import main
from assistant.settings import read_settings
from assistant.storage.database import open_database
from assistant.storage.diagnoses import Diagnoses
from bench.job_logs import make

JOBS, FEW = 600, 130


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A month of a made-up cluster."""
    folder = tmp_path_factory.mktemp("month")
    make(folder, JOBS, seed=3)
    return folder


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fewer jobs, for what does not depend on their number."""
    folder = tmp_path_factory.mktemp("few")
    make(folder, FEW, seed=2)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One data folder for the module: what was read once is kept."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAPLE_CHAT_DATA", str(folder))
        yield folder


@pytest.fixture(scope="module")
def written(month: Path, data: Path) -> Path:
    """The page of the month, with the table beside it."""
    page = month / "page.html"
    command = ["report", str(month / "logs"), "--accounting", str(month / "accounting.txt"), "-o", str(page)]
    assert main([*command, "--table", str(month / "all.csv")]) == 0
    return page


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_each_planted_cause_is_found_and_the_new_one_named(month: Path, written: Path, capsys: Any) -> None:
    truth = json.loads((month / "truth.json").read_text())
    found = {row["job"]: row["cause"] for row in rows(month / "all.csv")}
    assert found == truth["causes"]
    page = str(written.with_name("again.html"))
    command = ["report", str(month / "logs"), "--accounting", str(month / "accounting.txt"), "-o", page, "--json"]
    assert main(command) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["jobs"] == JOBS and told["failed"] == sum(cause != "no-failure" for cause in found.values())
    assert [row[0] for row in told["tables"]["new"]["rows"]] == [truth["new_cause"]]
    assert {row[0] for row in told["tables"]["nodes"]["rows"]} <= set(truth["bad"])
    unknown = [row[0].split()[0].partition("[")[0].rstrip(":") for row in told["tables"]["unknown"]["rows"]]
    assert sorted(unknown) == ["flurb", "palisade"]
    assert any(row[0] == "directive-unknown-option" for row in told["tables"]["checks"]["rows"])


def test_people_are_named_only_where_it_is_asked(few: Path, data: Path) -> None:
    users = {path.name for path in (few / "logs").iterdir()}
    command = ["report", str(few / "logs"), "--accounting", str(few / "accounting.txt")]
    assert main([*command, "-o", str(few / "hidden.html"), "--table", str(few / "hidden.csv")]) == 0
    assert main([*command, "-o", str(few / "named.html"), "--table", str(few / "named.csv"), "--names"]) == 0
    texts = (few / "hidden.html").read_text() + (few / "hidden.csv").read_text()
    assert users and not [user for user in users if user in texts]
    hidden, named = rows(few / "hidden.csv"), rows(few / "named.csv")
    assert {row["user"] for row in named} == users
    assert len({(a["user"], b["user"]) for a, b in zip(hidden, named, strict=True)}) == len(users)


def test_what_did_not_change_is_not_read_again(
    month: Path, written: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from graph.usecases import report_failures

    read: list[str] = []
    real = report_failures.read_jobs
    monkeypatch.setattr(
        report_failures, "read_jobs", lambda jobs, how: read.extend(j.name for j in jobs) or real(jobs, how)
    )
    command = ["report", str(month / "logs"), "--accounting", str(month / "accounting.txt"), "--dask", "no"]
    changed = sorted((month / "logs").rglob("*.out"))[5]
    before = changed.read_bytes()
    main([*command, "-o", str(tmp_path / "same.html")])
    assert read == []
    assert (tmp_path / "same.html").read_text() == written.read_text()
    changed.write_bytes(before + b"one line more\n")
    main([*command, "-o", str(tmp_path / "changed.html")])
    assert read == [changed.stem.removeprefix("slurm-")]
    changed.write_bytes(before)


def test_a_stopped_report_goes_on(few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from graph.usecases import report_failures

    monkeypatch.setenv("MAPLE_CHAT_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    real, read = report_failures.read_jobs, []

    def stops(jobs: Any, how: Any) -> Any:
        if len(read) > 40:
            raise KeyboardInterrupt
        read.extend(jobs)
        return real(jobs, how)

    command = ["report", str(few / "logs"), "-o", str(tmp_path / "p.html"), "--dask", "no"]
    monkeypatch.setattr(report_failures, "read_jobs", stops)
    assert main(command) == 130
    kept, read = len(read), []
    monkeypatch.setattr(report_failures, "read_jobs", lambda jobs, how: read.extend(jobs) or real(jobs, how))
    assert main(command) == 0
    assert kept > 40 and len(read) == FEW - kept


def test_folders_alone_tell_nodes_times_and_owner_where_the_logs_do(tmp_path: Path, data: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    text = (
        "SLURM_JOB_NODELIST=gpu[01-02]\nSLURM_JOB_PARTITION=long\nSLURM_JOB_USER=hopper\nworld_size: 8\n"
        "2026-11-20 10:00:00 start\n2026-11-20 12:00:00 step 1\n"
        'Traceback (most recent call last):\n  File "/home/hopper/train.py", line 3, in <module>\n    import flash\n'
        "ModuleNotFoundError: No module named 'flash'\n"
    )
    (logs / "slurm-5501.out").write_text(text)
    (logs / "slurm-5502.out").write_text("2026-11-20 10:00:00 start\nTraining complete.\n")
    assert main(["report", str(logs), "-o", str(tmp_path / "p.html"), "--table", str(tmp_path / "t.csv")]) == 0
    failed = next(row for row in rows(tmp_path / "t.csv") if row["job"] == "5501")
    assert (failed["nodes"], failed["queue"], failed["gpus"], failed["gpu_hours"]) == (
        "gpu01 gpu02",
        "long",
        "8",
        "16.0",
    )
    assert failed["cause"] == "env-python-package" and failed["module"] == "flash"
    assert "hopper" not in (tmp_path / "t.csv").read_text() + (tmp_path / "p.html").read_text()


def test_hostile_logs_neither_run_in_the_page_nor_in_a_spreadsheet(tmp_path: Path, data: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    evil = "=cmd|' /C calc'!A0 Error: </script><script>document.title='owned'</script><img src=x onerror=alert(1)>\n"
    (logs / "slurm-6601.out").write_text("line\n" * 5 + evil)
    (logs / "slurm-6602.out").write_text("Training complete.\n")
    (logs / "slurm-6603.out").symlink_to("/dev/zero")
    os.mkfifo(logs / "slurm-6604.out")
    rows_text = "JobID|User|State|NodeList\n6601|=x|FAILED|n[0-99999999999]\n6602|y|COMPLETED|n1\n"
    (tmp_path / "acc").write_text(rows_text)
    page, table = tmp_path / "p.html", tmp_path / "t.csv"
    command = ["report", str(logs), "--accounting", str(tmp_path / "acc"), "--names", "-o", str(page)]
    assert main([*command, "--table", str(table)]) == 0
    assert page.read_text().count("<script") == 2 and "<img" not in page.read_text()
    csv.field_size_limit(1_000_000)
    assert not [cell for row in csv.reader(table.open()) for cell in row if cell.startswith("=")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["/no/such/folder"], "no such file"),
        (["{logs}", "--since", "lastweek"], "give 12h, 7d, 4w or a date"),
        (["{logs}", "--since", "2030-01-01"], "no job is in what was given"),
        (["{logs}", "--accounting", "{logs}/user001"], "give what `sacct -P` printed"),
        (["{logs}", "-o", "/no/such/place/p.html"], "give another -o"),
        (["{logs}", "--dask", "tcp://127.0.0.1:1"], "check the address"),
        (["--since", "1d"], "no scheduler is here to ask"),
    ],
)
def test_what_cannot_be_done_is_one_line_with_what_to_do(
    month: Path, data: Path, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, words: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("graph.reporting.dask_workers.CONNECT_S", 1)
    if words[0] == "--since":
        monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["report", *(word.replace("{logs}", str(month / "logs")) for word in words)]) == 2
    told = [line for line in capsys.readouterr().err.splitlines() if "with Dask" not in line]
    assert says in told[-1] and len([line for line in told if line.startswith("maple-chat:")]) == 1


def test_parquet_holds_what_the_page_counts(few: Path, data: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow (extra report)")
    command = [
        "report",
        str(few / "logs"),
        "--accounting",
        str(few / "accounting.txt"),
        "-o",
        str(tmp_path / "p.html"),
    ]
    assert main(command) == 0
    table = parquet.read_table(tmp_path / "p.parquet").to_pylist()
    truth = json.loads((few / "truth.json").read_text())["causes"]
    assert Counter(row["cause"] for row in table) == Counter(truth.values())


def test_it_works_without_the_extra(
    few: Path, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    import importlib.util

    real = importlib.util.find_spec
    gone = ("distributed", "pyarrow", "dask_jobqueue", "PIL")
    for module in ("graph.reporting.table_file", "graph.reporting.dask_workers"):
        monkeypatch.setattr(f"{module}.find_spec", lambda name: None if name in gone else real(name))
    assert main(["report", str(few / "logs"), "-o", str(tmp_path / "p.html")]) == 0
    assert (tmp_path / "p.csv").exists()
    assert main(["report", str(few / "logs"), "-o", str(tmp_path / "p.html"), "--dask", "local"]) == 2
    assert "maple-chat[report]" in capsys.readouterr().err


def test_only_what_ended_since_is_counted(month: Path, written: Path, tmp_path: Path, data: Path, capsys: Any) -> None:
    command = ["report", str(month / "logs"), "--accounting", str(month / "accounting.txt"), "--json"]
    assert main([*command, "--since", "2026-11-14", "-o", str(tmp_path / "p.html")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert 0 < told["jobs"] < JOBS / 2
    # The month that was read before is known all the same: what is new is judged against it.
    assert [row[0] for row in told["tables"]["new"]["rows"]] == ["env-shared-library"]


def test_failures_go_into_the_table_of_diagnoses_once(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAPLE_CHAT_DATA", str(tmp_path / "data"))
    command = ["report", str(few / "logs"), "--accounting", str(few / "accounting.txt"), "--keep"]
    for _ in range(2):
        assert main([*command, "-o", str(tmp_path / "p.html"), "--table", str(tmp_path / "t.csv")]) == 0
    failed = [row for row in rows(tmp_path / "t.csv") if row["failed"] == "True"]
    assert Diagnoses(open_database(read_settings())).counts() == {"job": len(failed)}


def test_what_was_typed_at_sbatch_tells_the_output_and_what_check_would_have_said(tmp_path: Path, data: Path) -> None:
    """Where the scheduler keeps neither the script nor the path of the output, as is usual."""
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/bash\n#SBATCH --gpu-per-nodes=4\n#SBATCH --output=own-%j.txt\nsrun python train.py\n")
    os.utime(script, (1_700_000_000, 1_700_000_000))
    (tmp_path / "typed-7.txt").write_text("ModuleNotFoundError: No module named 'flash_attn'\n")
    (tmp_path / "own-8.txt").write_text("step 3\nKeyError: 'labels'\n")
    head = "JobID|User|Account|Partition|State|ExitCode|Submit|Start|End|NNodes|NodeList|WorkDir|SubmitLine"
    at = "2026-11-20T10:00:00|2026-11-20T10:01:00|2026-11-20T11:00:00|1|n1"
    typed = {"7": "sbatch -o typed-%j.txt run.sh", "8": "sbatch run.sh", "9": "sbatch gone.sh"}
    told = [f"{job}|u1|p|gpu|FAILED|1:0|{at}|{tmp_path}|{line}" for job, line in typed.items()]
    (tmp_path / "week.txt").write_text("\n".join([head, *told]) + "\n")
    command = ["report", "--accounting", str(tmp_path / "week.txt"), "-o", str(tmp_path / "p.html")]
    assert main([*command, "--table", str(tmp_path / "t.csv")]) == 0
    found = {row["job"]: (row["cause"], row["source"], row["checks"]) for row in rows(tmp_path / "t.csv")}
    assert found == {
        "7": ("env-python-package", "typed-7.txt", "directive-unknown-option"),
        "8": ("user-code", "own-8.txt", "directive-unknown-option"),
        "9": ("unknown", "", ""),
    }
