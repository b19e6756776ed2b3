"""Incidents in the team's channel: one message each, written anew as it grows, and closed when it is over.

Looked for in the kept diagnoses by every worker, one at a time; told by the list of requests like any answer, so that
each message is sent once, whichever worker sends it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from assistant.slack.blocks import context, dismissal, mrkdwn_text, posts, preformatted, words
from assistant.slack.inbox import Inbox
from assistant.slack.settings import SlackSettings
from assistant.slack.types import Block, Incoming, SlackPart
from assistant.storage.database import Database
from assistant.storage.incidents import Incidents, ToldIncident
from graph.incidents.incident import Incident, Rules
from graph.incidents.subjects import titled
from graph.incidents.usual import HOUR_S

MOST_LINES, MOST_LINKS, MOST_ALSO = 3, 15, 4
WAY = "incident"


class TeamChannel:
    """What the team's channel is told. team: the workspace."""

    def __init__(self, database: Database, inbox: Inbox, settings: SlackSettings, team: str) -> None:
        rules = Rules(settings.incident_people, settings.incident_chance, settings.incident_over_h * HOUR_S)
        self.incidents = Incidents(database, rules)
        self.inbox = inbox
        self.settings = settings
        self.team = team

    def look(self, now: float | None = None) -> bool:
        """Take in what was diagnosed, and have told what changed. Whether there is something to tell.

        In quiet hours it waits; what began and ended in them is told at their end, once.
        """
        now = time.time() if now is None else now
        self.incidents.look(now)
        if not self.settings.incident_channel or is_quiet(now, self.settings):
            return False
        return sum(self._tell(told) for told in self.incidents.untold()) > 0

    def dismiss(self, name: str, who: str, now: float | None = None) -> bool:
        """Somebody of the team says that it is no incident. Shown at once, also in quiet hours: it is they who ask."""
        done = self.incidents.dismiss(name, who, time.time() if now is None else now)
        told = self.incidents.find(name)
        return done and told is not None and self._tell(told)

    def _tell(self, told: ToldIncident) -> bool:
        name, channel = told.incident.id, self.settings.incident_channel
        incoming = Incoming(
            key=f"{self.team}:{name}:{told.version}",
            kind="incident",
            team=self.team,
            channel=channel,
            thread_ts=name,
            ts=f"{told.version:012}",
            user="",
            about=name,
            more={"version": told.version},
        )
        return self.inbox.put(incoming, WAY)

    def parts(self, incoming: Incoming) -> list[SlackPart]:
        """The message as the incident is now: a new one, or the one that is there written anew."""
        told = self.incidents.find(incoming.about)
        if told is None or told.shown >= incoming.more["version"]:
            return []
        message = posts(list(self._blocks(told.incident)), headline(told.incident))[0]
        if told.ts:
            return [SlackPart("update", text=message.text, blocks=message.blocks, ts=told.ts)]
        return [SlackPart("post", text=message.text, blocks=message.blocks, channel=incoming.channel)]

    def shown(self, incoming: Incoming, ts: str) -> None:
        """It stands in the channel, at ts (empty: nothing was sent)."""
        if ts:
            self.incidents.shown(incoming.about, incoming.more["version"], ts)

    def _blocks(self, incident: Incident) -> Iterator[Block]:
        zone = ZoneInfo(self.settings.incident_zone)
        yield from words(f"**{state_of(incident)}:** {titled(incident.subject)}")
        yield from words(numbers(incident, zone))
        if incident.dismissed:
            yield {"type": "context", "elements": [mrkdwn_text(f"Said by <@{incident.dismissed}>")]}
        found = self.incidents.records(incident, most=MOST_LINKS)
        jobs = incident.source == "job"
        lines = dict.fromkeys(record.line for _, private, record in found if record.line and (jobs or not private))
        if lines:
            yield from preformatted("\n".join([*lines][:MOST_LINES]))
        links = [
            f"[{clock(one.at, zone)}]({record.source})"
            for one, private, record in found
            if record.source and not private
        ]
        if links:
            older = f", the newest of {len(incident.seen)}" if len(incident.seen) > len(found) else ""
            yield from words(f"Tickets{older}: {', '.join(links)}")
        if not jobs and (alone := sum(private for _, private, _ in found)):
            yield context(f"{alone} of them in direct messages")
        if incident.also:
            yield context("Also: " + ", ".join(titled(one) for one in incident.also[:MOST_ALSO]))
        if not incident.closed:
            yield dismissal(incident.id)


def numbers(incident: Incident, zone: tzinfo) -> str:
    """How many people, since when, and how many are usual."""
    spell = f"{clock(incident.since, zone)} to {clock(incident.last, zone)}"
    times = spell if incident.closed else f"since {clock(incident.since, zone)}, last {clock(incident.last, zone)}"
    what = "jobs" if incident.source == "job" else "tickets"
    return f"{incident.people} people, {len(incident.seen)} {what}, {times}. Usual: {often(incident.usual)}."


def often(an_hour: float) -> str:
    """How often that is, in words that a person can weigh."""
    if an_hour >= 1:
        return f"{an_hour:.0f} people an hour"
    if an_hour * 24 >= 1:
        return f"{an_hour * 24:.0f} people a day"
    return "less than one person a day"


def state_of(incident: Incident) -> str:
    if incident.dismissed:
        return "No incident"
    return "Over" if incident.closed else "More often than usual"


def headline(incident: Incident) -> str:
    return f"{state_of(incident)}: {titled(incident.subject)} ({incident.people} people)"


def clock(at: float, zone: tzinfo) -> str:
    found = datetime.fromtimestamp(at, zone)
    return f"{found:%H:%M} {found.tzname() or 'UTC'}"


def is_quiet(at: float, settings: SlackSettings) -> bool:
    """Whether the team's channel is to be left alone at that time."""
    if not settings.incident_quiet:
        return False
    begins, ends = settings.incident_quiet.split("-")
    now = f"{datetime.fromtimestamp(at, UTC).astimezone(ZoneInfo(settings.incident_zone)):%H:%M}"
    return begins <= now < ends if begins <= ends else now >= begins or now < ends
