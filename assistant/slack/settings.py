"""What a site sets for the bot, read once. Tokens under Slack's own names, the rest as MAPLE_CHAT_SLACK_NAME."""

from __future__ import annotations

from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from assistant.errors import InputError

Names = Annotated[tuple[str, ...], NoDecode]
SLACK_API = "https://slack.com/api/"
LOOPBACK = "127.0.0.1"
DAY_S = 86_400.0


class SlackSettings(BaseSettings):
    """The bot's settings.

    teams: workspaces whose people are answered (none: only the one it is installed in). channels: where it answers
    (none: wherever it is invited). direct: whether it answers direct messages. admins: who may see the counts.
    support_group: the user group (S...) or person (U...) that "ask a person" mentions; support_channel: where the
    summary of a direct message goes. largest_file_mb: the largest file that is read. keep_days: how long logs and
    requests are kept. at_once: turns worked on at the same time;
    turn_s: seconds that one may take. watch: whether threads may have jobs followed by their ids, with the output that
    the bot's own account can read. metrics_port: 0 is off; metrics_host: the address on
    which it listens, this computer's own unless a site says otherwise.
    """

    model_config = SettingsConfigDict(env_prefix="MAPLE_CHAT_SLACK_", frozen=True, extra="ignore")

    bot_token: SecretStr = Field(SecretStr(""), validation_alias=AliasChoices("SLACK_BOT_TOKEN"))
    app_token: SecretStr = Field(SecretStr(""), validation_alias=AliasChoices("SLACK_APP_TOKEN"))
    signing_secret: SecretStr = Field(SecretStr(""), validation_alias=AliasChoices("SLACK_SIGNING_SECRET"))
    api: str = SLACK_API
    teams: Names = ()
    channels: Names = ()
    admins: Names = ()
    direct: bool = True
    support_group: str = Field("", pattern=r"^([SUW][A-Z0-9]{2,})?$")
    support_channel: str = Field("", pattern=r"^([CG][A-Z0-9]{2,})?$")
    largest_file_mb: int = Field(200, ge=1, le=10_000)
    most_files: int = Field(10, ge=1, le=50)
    keep_days: int = Field(30, ge=1)
    at_once: int = Field(4, ge=1, le=64)
    turn_s: float = Field(120.0, gt=0)
    drain_s: float = Field(25.0, gt=0)
    metrics_port: int = Field(0, ge=0, le=65_535)
    metrics_host: str = LOOPBACK
    past: Literal["off", "channel", "workspace"] = "channel"
    incident_channel: str = Field("", pattern=r"^([CG][A-Z0-9]{2,})?$")
    incident_people: int = Field(3, ge=2, le=1_000)
    incident_chance: float = Field(0.003, gt=0, le=1)
    incident_over_h: float = Field(2.0, gt=0, le=48)
    incident_quiet: str = Field("", pattern=r"^(([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)?$")
    incident_zone: str = "UTC"
    watch: bool = False

    @field_validator("teams", "channels", "admins", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        """`T1, T2` or `T1 T2`."""
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value

    @field_validator("incident_zone")
    @classmethod
    def _zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError("must be a time zone such as Europe/Berlin") from error
        return value

    @field_validator("api")
    @classmethod
    def _address(cls, value: str) -> str:
        if not value.startswith(("https://", "http://127.0.0.1", "http://localhost")):
            raise ValueError("must be https, or this computer")
        return value.rstrip("/") + "/"


def read_slack_settings() -> SlackSettings:
    """The settings. Raises InputError with the variable to correct."""
    try:
        return SlackSettings()
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0]).upper()
        variable = name if name.startswith("SLACK_") else f"MAPLE_CHAT_SLACK_{name}"
        raise InputError(f"{variable}: {fault['msg']}; correct or unset it") from error
