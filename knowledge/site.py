"""Daily life on a machine: login, account, quota, transfer, interactive work, watching jobs; each told with its pages.

What decides a script (queues, limits, modules) is in the machine's cluster file; this is what people ask around it.
Words in <angle brackets> stand for what is the reader's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

from knowledge.data_file import read_facts
from knowledge.errors import FactsError
from knowledge.strict import Checked, Facts, matching

SITES = Path(__file__).parent / "sites"

Month = Annotated[str, Checked(matching(r"^\d{4}-\d{2}(-\d{2})?$"))]


SENDS_NONE = re.compile(r"(?i)\W*(?:none\b|no (?:e-?)?mails?\b)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Login(Facts):
    """How one gets in. hosts: names to `ssh` to, with a word on each where it needs one."""

    hosts: tuple[str, ...]
    how: str
    trouble: str = ""
    errors: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLife(Facts):
    """What is charged. find_mine and balance: a command, or a page; form: the directive that names the account."""

    what_it_is: str
    find_mine: str
    balance: str = ""
    form: str
    apply: str = ""
    errors: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota(Facts):
    """Space: the command that shows it, the limits by kind of file system, and what happens above them."""

    command: str = ""
    limits: Mapping[str, str]
    over: str = ""
    increase: str = ""
    errors: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge(Facts):
    """What is deleted by age, and what is not."""

    scratch: str
    exempt: str = ""
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(Facts):
    """How a few files get there, and how terabytes do."""

    small: str
    large: str
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interactive(Facts):
    """A shell on a GPU node: the command, another way, and its limits."""

    gpu: str
    also: str = ""
    limits: str
    errors: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Jupyter(Facts):
    """How notebooks run there."""

    how: str
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareLife(Facts):
    """Finding modules, conda, an environment of one's own, containers."""

    find: str = ""
    conda: str = ""
    own_env: str = ""
    containers: str = ""
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch(Facts):
    """A job from submission to its end: commands of that machine. alter: what takes the place of PBS's `qalter` there,
    `off` where users may not call it."""

    queue: str
    start_estimate: str = ""
    output: str
    cancel: str
    hold: str = ""
    alter: str = ""
    efficiency: str = ""
    errors: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueWait(Facts):
    """What orders the queue, limits of jobs at once, and what is charged. reasons: a word and its sense."""

    tool: str = ""
    priority: str = ""
    limits: str = ""
    charge: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFact(Facts):
    """One thing, and the pages that say so."""

    text: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired(Facts):
    """The machine is gone: since when, and what took its place."""

    date: str
    what: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Site(Facts):
    """All of it, for one machine; id is the cluster's. pages: addresses by what they tell. None: not known."""

    id: str
    as_of: Month
    retired: Retired | None = None
    read_from: str = ""
    login: Login
    account: AccountLife
    quota: Quota
    purge: Purge | None = None
    transfer: Transfer
    interactive: Interactive
    jupyter: Jupyter | None = None
    software: SoftwareLife
    watch: Watch
    queue_wait: QueueWait | None = None
    compile_on: SiteFact | None = None
    login_node_rules: SiteFact | None = None
    email_notices: SiteFact | None = None
    status: SiteFact | None = None
    support: SiteFact
    backup: SiteFact | None = None
    web: SiteFact | None = None
    pages: Mapping[str, str]
    changes: tuple[SiteFact, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def sends_no_mail(self) -> bool:
        """Whether options for mail are taken there and nothing comes of them."""
        return self.email_notices is not None and SENDS_NONE.match(self.email_notices.text) is not None


@cache
def as_there(command: str, cluster_id: str) -> str:
    """A command that changes a waiting job as that machine wants it; empty where it takes none."""
    site = site_of(cluster_id) if command.startswith("qalter ") else None
    alter = site.watch.alter if site else ""
    return "" if alter == "off" else command.replace("qalter", alter, 1) if alter else command


def site_of(cluster_id: str) -> Site | None:
    """Daily life on that machine (a cluster's id), or None: nobody wrote it down. Raises FactsError on a wrong file."""
    path = SITES / f"{cluster_id}.yaml"
    if not path.is_file():
        return None
    site = read_facts(path, Site)
    if site.id != cluster_id:
        raise FactsError(f"{path}: id: is '{site.id}'; name the file {site.id}.yaml")
    return site
