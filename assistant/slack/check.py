"""`maple-chat slack --check`: whether tokens and scopes are right, and what to do about what is not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from assistant.slack.manifest import Way, scopes
from assistant.slack.settings import SlackSettings

# Variable -> where to find its value.
WHERE = {
    "SLACK_BOT_TOKEN": "api.slack.com/apps, your app, Install App: Bot User OAuth Token (xoxb-...)",
    "SLACK_APP_TOKEN": "api.slack.com/apps, your app, Basic Information, App-Level Tokens, scope connections:write "
    "(xapp-...)",
    "SLACK_SIGNING_SECRET": "api.slack.com/apps, your app, Basic Information, Signing Secret",
}
# Slack's word -> what to do.
REASONS = {
    "invalid_auth": "copy it again; it may have been revoked",
    "account_inactive": "the app was uninstalled; install it again",
    "token_revoked": "install the app again and copy the new token",
    "not_allowed_token_type": "that is another kind of token; see where it is found",
}


@dataclass(frozen=True, slots=True)
class FindingLine:
    """One finding."""

    fine: bool
    says: str


async def findings(settings: SlackSettings, way: Way) -> AsyncIterator[FindingLine]:
    """Everything that is checked, in the order in which one sets it up."""
    client = AsyncWebClient(token=settings.bot_token.get_secret_value(), base_url=settings.api, timeout=10)
    try:
        async for line in of_bot(client, settings, way):
            yield line
        if way.address:
            yield given("SLACK_SIGNING_SECRET", settings.signing_secret.get_secret_value())
        else:
            yield await of_app(client, settings)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        yield FindingLine(False, f"{settings.api} does not answer ({error}); check the network or proxy (HTTPS_PROXY)")
        return
    group = settings.support_group
    yield FindingLine(
        True,
        f"'Ask a person' mentions {group}"
        if group
        else "'Ask a person' mentions nobody: MAPLE_CHAT_SLACK_SUPPORT_GROUP=S... names a user group",
    )
    where = ", ".join(settings.channels) or "every channel it is invited to"
    yield FindingLine(True, f"answers in {where}; direct messages {'too' if settings.direct else 'not'}")


async def of_bot(client: AsyncWebClient, settings: SlackSettings, way: Way) -> AsyncIterator[FindingLine]:
    """The bot's token, and its scopes by the header that Slack sends with each answer."""
    variable = "SLACK_BOT_TOKEN"
    if not settings.bot_token.get_secret_value():
        yield given(variable, "")
        return
    try:
        answer = await client.auth_test()
    except SlackApiError as error:
        yield refused(variable, str(error.response.get("error")))
        return
    yield FindingLine(True, f"{variable}: {answer['user']} in {answer['team']} ({answer['team_id']})")
    had = {scope.strip() for scope in answer.headers.get("x-oauth-scopes", "").split(",") if scope.strip()}
    for scope in scopes(way):
        if scope not in had:
            yield FindingLine(False, f"scope {scope} is missing: OAuth & Permissions, add it, then reinstall the app")
    extra = sorted(had - set(scopes(way)))
    if had >= set(scopes(way)):
        yield FindingLine(
            True, f"scopes: all {len(scopes(way))}" + (f"; not needed: {', '.join(extra)}" if extra else "")
        )


async def of_app(client: AsyncWebClient, settings: SlackSettings) -> FindingLine:
    """The token of Socket Mode."""
    variable, token = "SLACK_APP_TOKEN", settings.app_token.get_secret_value()
    if not token:
        return given(variable, "")
    try:
        await client.apps_connections_open(app_token=token)
    except SlackApiError as error:
        return refused(variable, str(error.response.get("error")))
    return FindingLine(True, f"{variable}: Socket Mode opens")


def given(variable: str, value: str) -> FindingLine:
    return FindingLine(bool(value), f"{variable} is set" if value else f"{variable} is not set: {WHERE[variable]}")


def refused(variable: str, word: str) -> FindingLine:
    todo = REASONS.get(word, "see what Slack says of it")
    return FindingLine(False, f"Slack refuses {variable} ({word}): {todo}. It is at {WHERE[variable]}")
