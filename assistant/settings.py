"""What a person or a site sets, read once and handed down. Each is an environment variable MAPLE_CHAT_NAME."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from platformdirs import user_data_path
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from assistant.errors import InputError, UnavailableError


class Settings(BaseSettings):
    """data: the folder of conversations and pasted logs. wait_s: how long to wait for another turn on the thread.

    database: postgresql://USER@HOST/NAME; empty for SQLite in the data folder. It may hold a password, so it never
    shows. own_disk: the data folder is on a disk of this computer, so SQLite may write ahead (five times as fast;
    on a network's file system it breaks); the Slack bot sets it. workers: how many turns of this process run at
    once; more of them wait in line.

    machines: those that the person has, with commas between; what is said in a conversation goes before it.

    jobs: whether the chat may ask this computer's scheduler about the person's own jobs.
    web: whether the web may be searched; None: each door's own default. search_url: a SearxNG in DuckDuckGo's place.

    model_*: the language models, off by default (docs/models.md). model_small and model_large name a GGUF file or a
    model of the server at openai_base_url; one alone serves both roles. model_leads: whether it leads the conversation;
    auto: where `maple-chat models test` found that it can.
    """

    model_config = SettingsConfigDict(
        env_prefix="MAPLE_CHAT_", frozen=True, extra="ignore", protected_namespaces=(), populate_by_name=True
    )

    data: Path = Field(default_factory=lambda: user_data_path("maple-chat"))
    wait_s: float = Field(default=60.0, gt=0)
    database: SecretStr = SecretStr("")
    own_disk: bool = False
    workers: int = Field(default=8, ge=1)
    machines: str = ""
    web: Literal["ask", "always", "never"] | None = None
    jobs: bool = True
    search_url: str = ""
    model_backend: Literal["auto", "none", "llama_cpp", "openai"] = "auto"
    model_small: str = ""
    model_large: str = ""
    model_leads: Literal["auto", "always", "never"] = "auto"
    model_context: int = Field(default=8192, ge=256)
    model_threads: int = Field(default=0, ge=0)
    model_gpu_layers: int = Field(default=0, ge=-1)
    model_kv: Literal["f16", "q8_0", "q4_0"] = "f16"
    model_timeout_s: float = Field(default=60.0, gt=0)
    openai_base_url: str = Field(
        default="", validation_alias=AliasChoices("MAPLE_CHAT_OPENAI_BASE_URL", "OPENAI_BASE_URL")
    )
    openai_api_key: SecretStr = Field(
        default=SecretStr(""), validation_alias=AliasChoices("MAPLE_CHAT_OPENAI_API_KEY", "OPENAI_API_KEY")
    )

    @property
    def conversations(self) -> Path:
        return self.data / "conversations.sqlite"

    @property
    def pasted(self) -> Path:
        return self.data / "pasted"

    @property
    def models(self) -> Path:
        """What is kept of models: which files were seen to load, states of prompts."""
        return self.data / "models"

    @property
    def log(self) -> Path:
        return self.data / "maple-chat.log"


def read_settings() -> Settings:
    """The settings, with the data folder made. Raises InputError, UnavailableError with what to do."""
    try:
        settings = Settings()
    except ValidationError as error:
        fault = error.errors()[0]
        name = "_".join(str(part) for part in fault["loc"]).upper()
        raise InputError(f"MAPLE_CHAT_{name}: {fault['msg']}; correct or unset it") from error
    try:
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        settings.pasted.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise UnavailableError(
            f"cannot write to {settings.data} ({error.strerror}); set MAPLE_CHAT_DATA to a folder of yours"
        ) from error
    return settings
