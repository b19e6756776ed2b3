"""No field of a request can add a command to a script: words arrive as they were given, or are refused."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.planning.plan import plan
from knowledge.catalogue import SHIPPED
from knowledge.cluster_file import read_cluster
from knowledge.errors import InputError
from knowledge.types import JobRequest, LaunchPlan
from templates.quoting import shell_word
from templates.render import render

CLUSTERS = {path.stem: read_cluster(path) for path in SHIPPED.glob("*.yaml")}
# A launcher that tells what it was given, and nothing more. Everything else on PATH is a stand-in that does nothing.
TELL = "#!/bin/sh\nprintf '\\0TOLD\\0'\nprintf '%s\\0' \"$@\"\n"
QUIET = "#!/bin/sh\nexit 0\n"
HOSTILE = [
    "train.py; touch PWNED",
    "$(touch PWNED)",
    "`touch PWNED`",
    "a' ; touch PWNED ; '",
    'a" ; touch PWNED ; "',
    "a\\",
    "&& touch PWNED",
    "| touch PWNED",
    "> PWNED",
    "${X:-$(touch PWNED)}",
    "$((PWNED=1))",
    "!touch PWNED",
    "*",
    "{a,b}",
    "~root",
    "$",
    "${",
    "$'\\x41'",
    "a b",
    "#x",
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stage")
    binaries = folder / "bin"
    binaries.mkdir()
    for name, text in {"srun": TELL, "module": QUIET, "scontrol": QUIET}.items():
        (binaries / name).write_text(text)
        (binaries / name).chmod(0o755)
    return folder


def told(script: str, stage: Path) -> list[str]:
    """Run the script with the stand-ins; the words that srun was given."""
    env = {"PATH": f"{stage / 'bin'}:{os.environ['PATH']}", "HOME": str(stage)}
    env |= {"SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_NODELIST": "a,b", "SLURM_JOB_ID": "7", "SCRATCH": "/scratch/me"}
    done = subprocess.run(["bash"], input=script.encode(), capture_output=True, cwd=stage, env=env, timeout=20)
    parts = done.stdout.decode().split("\0TOLD\0")
    assert len(parts) == 2, done.stderr.decode()
    assert not (stage / "PWNED").exists()
    return parts[1].split("\0")[:-1]


def script_for(entry: str, args: str) -> str:
    request = JobRequest(framework="pytorch", strategy="ddp", nodes=2, entry=entry, args=args, account="m1")
    decided = plan(request, CLUSTERS["perlmutter"])
    assert isinstance(decided, LaunchPlan)
    return render(decided).script


def expanded(word: str, stage: Path) -> str:
    """What a person means: plain variables are expanded, ~/ is home; nothing else happens."""
    word = f"$HOME/{word[2:]}" if word.startswith("~/") else word
    for name, value in {"SCRATCH": "/scratch/me", "HOME": str(stage)}.items():
        word = word.replace(f"${{{name}}}", value).replace(f"${name}", value)
    return word


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_arguments_arrive_as_words(text: str, stage: Path) -> None:
    words = told(script_for("train.py", shlex.quote(text)), stage)
    assert words[words.index("train.py") :] == ["train.py", text]


@pytest.mark.parametrize("text", [h for h in HOSTILE if "$" not in h or h.startswith("$(")])
def test_a_hostile_program_is_one_word(text: str, stage: Path) -> None:
    words = told(script_for(shlex.quote(text + ".py"), ""), stage)
    assert words[-1] == text + ".py"


def test_a_command_line_becomes_its_words_and_nothing_runs(stage: Path) -> None:
    words = told(script_for("train.py; touch PWNED", ""), stage)
    assert words[-3:] == ["train.py;", "touch", "PWNED"]


WORD = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=30)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORD.filter(lambda w: "$" not in w), max_size=4))
def test_any_words_arrive_as_they_are(stage: Path, arguments: list[str]) -> None:
    words = told(script_for("train.py", shlex.join(arguments)), stage)
    assert words[words.index("train.py") + 1 :] == [expanded(word, stage) for word in arguments]


def test_plain_variables_are_expanded(stage: Path) -> None:
    words = told(script_for("~/code/train.py", "--data $SCRATCH/in --out '${SCRATCH}/a b' --price 5$"), stage)
    home = f"{stage}/code/train.py"
    assert words[words.index(home) :] == [home, "--data", "/scratch/me/in", "--out", "/scratch/me/a b", "--price", "5$"]


@settings(max_examples=300, deadline=None)
@given(WORD)
def test_a_word_never_breaks_out_of_its_quotes(text: str) -> None:
    done = subprocess.run(["bash", "-c", f"printf %s {shell_word(text)}"], capture_output=True, env={"HOME": "/h"})
    assert done.stderr == b""


@pytest.mark.parametrize("field", ["account", "queue"])
@pytest.mark.parametrize("text", ["$(id)", "a b", "a\n#SBATCH -N 99", "-x", "", "a;b", "é", "a" * 200])
def test_a_directive_takes_plain_words_only(field: str, text: str) -> None:
    request = JobRequest(framework="pytorch", strategy="ddp", nodes=2, **{field: text})  # type: ignore[arg-type]
    with pytest.raises(InputError) as caught:
        plan(request, CLUSTERS["perlmutter"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["entry", "args", "environment"])
@pytest.mark.parametrize("text", ["a\nb", "a\0b", "a\x1b[2Jb", "x" * 10_000_000, "a\u2028b"])
def test_control_characters_and_endless_text_are_refused(field: str, text: str) -> None:
    request = JobRequest(framework="pytorch", strategy="ddp", nodes=2, **{field: text})  # type: ignore[arg-type]
    with pytest.raises(InputError) as caught:
        plan(request, CLUSTERS["perlmutter"])
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("entry", ["-c 'import os'", "-m os; rm", " -x", "", "-"])
def test_the_program_cannot_be_an_option_of_python(entry: str) -> None:
    with pytest.raises(InputError):
        plan(JobRequest(framework="pytorch", strategy="ddp", nodes=2, entry=entry), CLUSTERS["perlmutter"])


@pytest.mark.parametrize("cluster", sorted(CLUSTERS))
def test_hostile_words_stay_quoted_on_every_machine(cluster: str, tmp_path: Path) -> None:
    """The program's array, as each machine's own script builds it, holds the words as they are."""
    request = JobRequest(framework="pytorch", strategy="ddp", nodes=2, entry="x.py", args=shlex.join(HOSTILE))
    decided = plan(request, CLUSTERS[cluster])
    assert isinstance(decided, LaunchPlan)
    script = render(decided).script
    array = script[script.index("\nPROGRAM=(") : script.index("\nset -u\n")]
    done = subprocess.run(
        ["bash", "-c", array + "\nprintf '%s\\0' \"${PROGRAM[@]}\""], capture_output=True, cwd=tmp_path
    )
    assert done.stdout.decode().split("\0")[:-1] == ["x.py", *HOSTILE]
