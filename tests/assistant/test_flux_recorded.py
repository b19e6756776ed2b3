"""What Flux's own commands printed (tests/knowledge/schedulers/flux-0.88.0.json), met by the commands that ask them.

Recorded on 2026-11-22 from flux-core 0.88.0, built from source, an instance of two ranks with jobs made for this. The
`flux` on the path here prints the same again; a command that was not recorded fails as one that Flux does not know.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from assistant.cli import main
from assistant.drawing import markdown
from assistant.session import Session
from assistant.settings import Settings
from graph.planning.plan import plan
from graph.verification.checks.run import check
from knowledge.cluster_file import read_cluster
from knowledge.types import JobRequest, LaunchPlan
from templates.render import render

RECORDED = Path(__file__).parents[1] / "knowledge" / "schedulers" / "flux-0.88.0.json"
HELD, LATER, RUNS, NEXT, AFTER = "ƒyTweWj", "ƒ2BwRc31", "ƒ3HaQA1RR", "ƒ3J5ffq6F", "ƒ3J99J9R9"
BIG, FAILED, CANCELLED, UNKNOWN = "ƒ2QkBQDm", "ƒ2Hznfpj", "f588DAJs", "ƒ2BwRc32"
FLUX = """\
#!{python}
import json, sys
told = json.load(open({told!r}))
command = " ".join(["flux", *sys.argv[1:]])
one = told.get(command) or {{"rc": 1, "out": "", "err": f"flux: no such command: {{command}}"}}
print(one["out"])
print(one["err"], file=sys.stderr)
raise SystemExit(one["rc"])
"""


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recorded commands, in the folder of the jobs; `flux` is the only command on the path."""
    recorded = tmp_path / "told.json"
    recorded.write_text(RECORDED.read_text().replace("/scratch/run", str(tmp_path)))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "flux").write_text(FLUX.format(python=sys.executable, told=str(recorded)))
    (tmp_path / "bin" / "flux").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYTHONPATH", "")
    return recorded


def without(recorded: Path, part: str) -> None:
    """A version of Flux that does not know a command."""
    kept = {name: one for name, one in json.loads(recorded.read_text()).items() if part not in name}
    recorded.write_text(json.dumps(kept))


SAID = [
    (HELD, 1, ("It does not start until it is released.", f"flux job urgency {HELD} default")),
    (LATER, 0, ("it waits for its own start time", "Its earliest start is")),
    (NEXT, 0, ("It starts by itself.", "That is an estimate")),
    (AFTER, 0, (f"It waits for {NEXT} to end with success",)),
    (RUNS, 0, ("it is running", "does not wait")),
    (BIG, 1, ("can ever satisfy it", "It never starts by itself as it is.")),
    (CANCELLED, 0, ("it was cancelled", f"flux job eventlog -H {CANCELLED}")),
]


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize(("job", "code", "says"), SAID)
def test_what_holds_a_job_is_told_once_and_by_its_own_id(
    told: Path, job: str, code: int, says: tuple[str, ...], as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if not as_json:
        without(told, "--json")
    main(["pending", job])
    out = capsys.readouterr().out
    assert out[1:].startswith(f"{job[1:]} (")
    assert all(words.replace("ƒ", "f") in out.replace("ƒ", "f") for words in says), out
    assert out.count("It starts by itself") + out.count("It does not start until") <= 1, out


def test_a_queue_whose_scheduling_is_stopped_starts_nothing_and_a_hold_stays_a_hold(
    told: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = json.loads(told.read_text())
    recorded["flux queue status"] = recorded["stopped: flux queue status"]
    told.write_text(json.dumps(recorded))
    main(["pending", NEXT])
    assert "staff stopped the scheduling (disk repair)" in capsys.readouterr().out.replace("`", "")
    main(["pending", HELD])
    assert "It does not start until it is released." in capsys.readouterr().out


def test_a_job_that_flux_does_not_know_is_no_failure_to_ask(told: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pending", UNKNOWN]) == 2
    assert f"knows no job {UNKNOWN}" in capsys.readouterr().err


def test_why_reads_the_output_file_and_the_script_that_flux_keeps(
    told: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / f"bad-{FAILED}.out").write_text("ModuleNotFoundError: No module named 'nosuchpackage'\n")
    assert main(["why", FAILED]) == 1
    out = capsys.readouterr().out
    assert "cause: env-python-package" in out
    assert f"bad-{FAILED}.out; its script as the scheduler keeps it" in out


def test_why_of_a_request_that_no_node_can_meet_names_it(told: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", BIG]) == 1
    assert "can ever satisfy it" in capsys.readouterr().out


def test_why_of_a_job_that_runs_and_whose_output_flux_keeps_is_no_failure(
    told: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", RUNS]) == 0
    out = capsys.readouterr().out
    assert "it is running" in out and "cause:" not in out and "flux job attach" in out


def test_a_machine_is_discovered_by_what_flux_prints(told: Path, tmp_path: Path) -> None:
    """Recorded on four ranks with made-up resources (`flux R encode`) in two queues with limits."""
    assert main(["clusters", "discover", "-o", str(tmp_path / "tuo.yaml")]) == 0
    found = read_cluster(tmp_path / "tuo.yaml")
    assert [(q.id, q.max_walltime, q.max_nodes, q.default) for q in found.queues] == [
        ("pbatch", "24:00:00", 3, True),
        ("pdebug", "01:00:00", None, False),
    ]
    (kind,) = found.node_types
    assert (kind.gpus.per_node, kind.gpu_type, kind.cpu.cores, kind.count) == (4, "mi300a", 64, 3)
    request = JobRequest(machine="tuo", framework="pytorch", strategy="ddp", nodes=2, walltime="01:00:00", entry="a.py")
    decided = plan(request, found)
    assert isinstance(decided, LaunchPlan)
    assert [one for one in check(render(decided).script, found) if one.severity == "error"] == []


def test_the_chat_asks_flux_and_cancels_nothing(told: Path, settings: Settings) -> None:
    session = Session(settings, "jobs")

    async def turn(words: str) -> str:
        return "\n".join([markdown(event) async for event in session.send(words)])

    assert "It does not start until it is released." in asyncio.run(turn("why is my job pending?"))
    assert "which is running" in asyncio.run(turn(f"is {RUNS} still running well?"))
    assert f"`flux cancel {RUNS}`" in asyncio.run(turn("cancel it"))
