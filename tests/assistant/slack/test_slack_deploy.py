"""The service and the container name what is there: files, extras, settings, exit codes, times."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from assistant.commands.slack import EXIT_USAGE, LEAVING_S
from assistant.slack.settings import SlackSettings

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
UNIT = dict(re.findall(r"^(\w+)=(.*)$", (DEPLOY / "maple-chat-slack.service").read_text(), re.M))
GUIDE = (ROOT / "docs" / "slack.md").read_text()


def test_the_container_takes_all_that_is_installed_and_extras_that_exist() -> None:
    recipe = (DEPLOY / "Containerfile").read_text()
    copied = {name for line in re.findall(r"^COPY (?!--)(.*)$", recipe, re.M) for name in line.split()[:-1]}
    wanted = {*PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]}
    wanted |= {"pyproject.toml", PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]}
    assert copied == wanted and all((ROOT / name).exists() for name in copied)
    (extras,) = re.findall(r"\.\[([\w,]+)\]", recipe)
    assert set(extras.split(",")) <= PROJECT["project"]["optional-dependencies"].keys()
    (entry,) = re.findall(r'^ENTRYPOINT \["(.*)/bin/(.*)"\]$', recipe, re.M)
    assert f"venv {entry[0]} " in recipe and entry[1] in PROJECT["project"]["scripts"]


def test_the_service_runs_what_the_guide_installs_and_lets_it_finish() -> None:
    program = UNIT["ExecStart"].partition(" ")[0]
    assert f"{Path(program).parent}/pip install" in GUIDE
    assert UNIT["EnvironmentFile"] in GUIDE and UNIT["RestartPreventExitStatus"] == str(EXIT_USAGE)
    assert float(UNIT["TimeoutStopSec"]) >= SlackSettings.model_fields["drain_s"].default + LEAVING_S


def test_the_example_names_settings_that_exist() -> None:
    named = re.findall(r"^#?([A-Z_]+)=", (DEPLOY / "slack.env.example").read_text(), re.M)
    known = {f"MAPLE_CHAT_SLACK_{name.upper()}" for name in SlackSettings.model_fields}
    known |= {"SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "MAPLE_CHAT_DATABASE"}
    assert named and set(named) <= known


def test_the_guide_names_all_settings() -> None:
    rows = set(re.findall(r"^\| `([A-Z_]+)` \|", GUIDE, re.M))
    tokens = {"BOT_TOKEN", "APP_TOKEN", "SIGNING_SECRET"}
    assert rows == {name.upper() for name in SlackSettings.model_fields} - tokens
