"""The report of many jobs: its counts as tables, each row with the jobs behind it. Every door prints these."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rapidfuzz import fuzz, process

from graph.reporting.bad_nodes import NodeVerdict, worst_nodes
from graph.reporting.new_causes import WEEK, Rise, risen
from knowledge.job_record import JobRecord
from knowledge.signatures.loader import library

# Failures that no cause explains, put together by how alike their telling lines are.


# Two lines above this share most of their words (0 to 100).
ALIKE = 75.0
# More different lines than this are compared with the largest groups only.
MOST_LEADERS = 2_000


@dataclass(frozen=True, slots=True)
class Likes:
    """Jobs whose lines are alike; the first one is the example."""

    jobs: tuple[JobRecord, ...]


def alike(records: Iterable[JobRecord]) -> list[Likes]:
    """The groups, the largest first. The commonest line leads a group; others join the leader most like them."""
    same: dict[str, list[JobRecord]] = defaultdict(list)
    for one in records:
        same[one.mark].append(one)
    leaders: list[str] = []
    groups: dict[str, list[JobRecord]] = {}
    for mark, jobs in sorted(same.items(), key=lambda item: (-len(item[1]), item[0])):
        near = process.extractOne(mark, leaders, scorer=fuzz.token_set_ratio, score_cutoff=ALIKE) if mark else None
        if near:
            groups[near[0]] += jobs
        else:
            groups[mark] = list(jobs)
            leaders = [*leaders, mark][:MOST_LEADERS] if mark else leaders
    return sorted((Likes(tuple(jobs)) for jobs in groups.values()), key=lambda group: -len(group.jobs))


Cell = str | int | float
LENGTHS = (
    ("under 1 min", 60.0),
    ("1 to 10 min", 600.0),
    ("10 to 60 min", 3600.0),
    ("1 to 6 h", 6 * 3600.0),
    ("6 to 24 h", 24 * 3600.0),
    ("over 24 h", float("inf")),
)
NOT_TOLD = "not told"
BLAMED = "more than chance"
SILENT = "(the log says nothing of a failure)"
# Rows of the tables that could be as long as the cluster is large; what is left out is counted in the last row.
MOST_ROWS = 40
MOST_LIKES = 60


@dataclass(frozen=True, slots=True)
class TableRow:
    """Values under the table's columns, and the failed jobs that they count, as numbers in Report.failed."""

    cells: tuple[Cell, ...]
    jobs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """id: its name in links and files; says: what the numbers mean, in a sentence."""

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    says: str = ""


@dataclass(frozen=True, slots=True)
class FailureReport:
    """first, last: when the earliest and the latest job ended (None: no time is known)."""

    jobs: int
    cancelled: int
    failed: tuple[JobRecord, ...]
    gpu_hours: float
    """Of all jobs."""
    gpu_hours_lost: float
    """Of those that failed: the whole run, as nobody here knows what they had saved."""
    first: float | None
    last: float | None
    tables: tuple[Table, ...]
    findings: tuple[tuple[str, str], ...]
    """What stands out: a sentence, and the id of the table that shows it."""
    notes: tuple[str, ...]
    """What could not be seen."""

    def table(self, name: str) -> Table:
        return next(table for table in self.tables if table.id == name)


def make_report(records: Sequence[JobRecord], earlier: Iterable[JobRecord] = ()) -> FailureReport:
    """The report of these jobs; `earlier` are known from reports before, for what is new only."""
    earlier = list(earlier)
    ended = [one.ended for one in records if one.ended is not None]
    # The clock of the logs, not of this computer: a folder of last year's logs has a last week too.
    last = max(ended, default=None)
    failed = tuple(sorted((one for one in records if one.failed), key=lambda one: (one.ended or 0.0, one.job)))
    counts = TableMaker(failed, {id(one): number for number, one in enumerate(failed)}, records)
    nodes, rises = worst_nodes(records), risen([*earlier, *records], last) if last else []
    tables = (
        counts.by("causes", "Failures by cause", "Cause", lambda one: one.cause),
        counts.by_day(),
        counts.lengths(),
        counts.nodes(nodes),
        counts.rises(rises),
        counts.unknowns(),
        counts.checks(),
        counts.by("by_node", "By node", "Node", lambda one: one.nodes),
        counts.by("queues", "By partition or queue", "Queue", lambda one: one.queue),
        counts.by("frameworks", "By framework", "Framework", lambda one: one.framework),
        counts.by("groups", "By account (user group)", "Account", lambda one: one.account),
        counts.by("users", "By user", "User", lambda one: one.user),
    )
    return FailureReport(
        jobs=len(records),
        cancelled=sum(1 for one in records if one.cause == "sched-cancelled"),
        failed=failed,
        gpu_hours=sum(one.gpu_hours for one in records),
        gpu_hours_lost=sum(one.gpu_hours for one in failed),
        first=min(ended, default=None),
        last=last,
        tables=tuple(table for table in tables if table.rows),
        findings=tuple(findings(nodes, rises, tables)),
        notes=tuple(notes(records, any(_before([*earlier, *records], last)))),
    )


def hours(jobs: Iterable[JobRecord]) -> float:
    return round(sum(one.gpu_hours for one in jobs), 1)


def day_of(record: JobRecord) -> str:
    """The day that it ended, by the clock of this place; `not told` where no time is known."""
    return NOT_TOLD if record.ended is None else datetime.fromtimestamp(record.ended).strftime("%Y-%m-%d")


@dataclass(frozen=True, slots=True)
class TableMaker:
    """Makes the tables. numbers: of each failed record by its identity."""

    failed: tuple[JobRecord, ...]
    numbers: dict[int, int]
    records: Sequence[JobRecord]

    def row(self, jobs: Iterable[JobRecord], *cells: Cell) -> TableRow:
        return TableRow(cells, tuple(sorted(self.numbers[id(one)] for one in jobs if id(one) in self.numbers)))

    def by(self, name: str, title: str, head: str, key: Callable[[JobRecord], str | tuple[str, ...]]) -> Table:
        """Failed jobs, their share of all, GPU hours and the median time to failure, by one property.

        A job with several values, as its nodes are, counts under each.
        """
        every = Counter(value for one in self.records for value in values_of(key(one)))
        groups: dict[str, list[JobRecord]] = defaultdict(list)
        for one in self.failed:
            for value in values_of(key(one)):
                groups[value].append(one)
        if not set(groups) - {NOT_TOLD}:
            return Table(name, title, (), ())
        whole = name == "causes"
        rows = tuple(
            self.row(
                jobs,
                value,
                len(jobs),
                round(100 * len(jobs) / (len(self.failed) if whole else every[value]), 1) if value in every else "",
                hours(jobs),
                median_hours(jobs),
            )
            for value, jobs in largest(groups)
        )
        share = "% of failures" if whole else "% of its jobs"
        return Table(name, title, (head, "Failed jobs", share, "GPU hours lost", "Median h to failure"), rows)

    def by_day(self) -> Table:
        """A row for each day and cause, days in order."""
        groups: dict[tuple[str, str], list[JobRecord]] = defaultdict(list)
        for one in self.failed:
            groups[day_of(one), one.cause].append(one)
        rows = tuple(self.row(jobs, *key, len(jobs), hours(jobs)) for key, jobs in sorted(groups.items()))
        return Table("days", "Failures by day and cause", ("Day", "Cause", "Failed jobs", "GPU hours lost"), rows)

    def lengths(self) -> Table:
        groups: dict[str, list[JobRecord]] = {name: [] for name in (*(name for name, _ in LENGTHS), NOT_TOLD)}
        for one in self.failed:
            name = next((name for name, most in LENGTHS if (one.seconds or 0.0) < most), NOT_TOLD)
            groups[name if one.seconds is not None else NOT_TOLD].append(one)
        rows = tuple(self.row(jobs, name, len(jobs), hours(jobs)) for name, jobs in groups.items() if jobs)
        return Table("lengths", "Time to failure", ("Ran for", "Failed jobs", "GPU hours lost"), rows)

    def nodes(self, found: Sequence[NodeVerdict]) -> Table:
        """Nodes that chance does not explain; those that one user alone saw are told apart."""
        rows = tuple(
            self.row(
                one.failures,
                one.node,
                len(one.failures),
                one.jobs,
                one.episodes,
                round(one.expected, 2),
                f"{one.chance:.1e}",
                one.users,
                ", ".join(name for name, _ in Counter(job.cause for job in one.failures).most_common(3)),
                BLAMED if one.blamed else "one user only: may be that user's jobs",
            )
            for one in found
        )
        says = (
            "Failures that a node can cause, against the other jobs of the same users. An episode is one user's "
            "failures of one cause on one day. Chance: of so many episodes by luck, corrected for all nodes here."
        )
        columns = ("Node", "Failed jobs", "Jobs", "Episodes", "Expected", "Chance", "Users", "Causes", "Verdict")
        return Table("nodes", "Nodes with more failures than chance", columns, rows, says)

    def rises(self, found: Sequence[Rise]) -> Table:
        rows = tuple(
            self.row(
                one.jobs,
                one.cause,
                one.mark or "(the whole cause)",
                "new" if one.new else "more than before",
                len(one.jobs),
                one.before,
                one.users,
                f"{one.chance:.1e}",
                datetime.fromtimestamp(one.first).strftime("%Y-%m-%d %H:%M"),
            )
            for one in found
        )
        columns = ("Cause", "Line", "What", "Last 7 days", "Before", "Users", "Chance", "First")
        says = "Against all that is known of the time before. Chance: of such a week at the rate of before."
        return Table("new", "New and rising since last week", columns, rows, says)

    def unknowns(self) -> Table:
        groups = [list(group.jobs) for group in alike(one for one in self.failed if one.cause == "unknown")]
        kept, rest = groups[:MOST_LIKES], [one for group in groups[MOST_LIKES:] for one in group]
        rows = [
            self.row(jobs, jobs[0].line or SILENT, len(jobs), hours(jobs), len({one.user for one in jobs}), jobs[0].job)
            for jobs in kept
        ]
        if rest:
            rows.append(self.row(rest, f"{len(groups) - MOST_LIKES} other groups", len(rest), hours(rest), "", ""))
        columns = ("Example line", "Failed jobs", "GPU hours lost", "Users", "Example job")
        says = "Failures that no known cause explains, put together by how alike their telling lines are."
        return Table("unknown", "Unknown failures, by likeness", columns, tuple(rows), says)

    def checks(self) -> Table:
        """By rule of `check`; a job whose script breaks two rules stands in both rows."""
        groups: dict[str, list[JobRecord]] = defaultdict(list)
        for one in self.failed:
            for rule in one.checks:
                groups[rule].append(one)
        rows = tuple(
            self.row(
                jobs,
                rule,
                len(jobs),
                hours(jobs),
                ", ".join(name for name, _ in Counter(job.cause for job in jobs).most_common(3)),
            )
            for rule, jobs in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        )
        says = (
            "Failed jobs whose script has an error that `maple-chat check` names before it is submitted. That the "
            "error is why the job failed is likely where rule and cause speak of the same, and not proved."
        )
        columns = ("Rule of check", "Failed jobs", "GPU hours lost", "What they failed of")
        return Table("checks", "Known before submission", columns, rows, says)


def largest(groups: Mapping[str, list[JobRecord]]) -> list[tuple[str, list[JobRecord]]]:
    """The groups with most jobs, and all the others as one."""
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    if len(ordered) <= MOST_ROWS:
        return ordered
    rest = list({id(one): one for _, jobs in ordered[MOST_ROWS:] for one in jobs}.values())
    return [*ordered[:MOST_ROWS], (f"{len(ordered) - MOST_ROWS} others", rest)]


def values_of(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value or NOT_TOLD,) if isinstance(value, str) else value or (NOT_TOLD,)


def median_hours(jobs: Sequence[JobRecord]) -> Cell:
    lengths = sorted(one.seconds for one in jobs if one.seconds is not None)
    return round(lengths[len(lengths) // 2] / 3600, 2) if lengths else ""


def findings(nodes: Sequence[NodeVerdict], rises: Sequence[Rise], tables: Sequence[Table]) -> Iterable[tuple[str, str]]:
    """What a team should look at first, in sentences."""
    by_name = {table.id: table for table in tables}
    if blamed := [one for one in nodes if one.blamed]:
        few = ", ".join(one.node for one in blamed[:6]) + (f" and {len(blamed) - 6} more" if len(blamed) > 6 else "")
        yield f"{_are(len(blamed), 'node')} failing more often than chance gives: {few}.", "nodes"
    causes = library().causes
    for rise in rises[:3]:
        means = causes[rise.cause].means if rise.cause in causes else ""
        since = datetime.fromtimestamp(rise.first).strftime("%d %b %H:%M")
        kind = "New" if rise.new else "Rising"
        says = f"`{rise.mark}`" if rise.mark else means
        yield (
            f"{kind} since {since}: {rise.cause} ({says}), {counted(len(rise.jobs))} of {counted(rise.users, 'user')}.",
            "new",
        )
    rows = by_name["causes"].rows
    if rows and (costly := max(rows, key=lambda row: float(row.cells[3]))).cells[3]:
        yield f"Most GPU hours went to {costly.cells[0]}: {costly.cells[3]:,} in {counted(costly.cells[1])}.", "causes"
    elif rows:
        yield f"Most failed of {rows[0].cells[0]}: {counted(rows[0].cells[1])}.", "causes"
    if rows := by_name["checks"].rows:
        jobs = {number for row in rows for number in row.jobs}
        yield f"{counted(len(jobs), 'failed job')} had an error in the script that `check` names beforehand.", "checks"
    if by_name["by_node"].rows and not blamed:
        yield "No node fails more often than chance gives; of a node with few jobs that says little.", "by_node"


def counted(count: Cell, noun: str = "job") -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}" if isinstance(count, int) else f"{count} {noun}s"


def _are(count: int, noun: str) -> str:
    return f"{count} {noun}{'s are' if count > 1 else ' is'}"


def notes(records: Sequence[JobRecord], has_before: bool) -> Iterable[str]:
    """What could not be seen, with how many jobs it concerns."""
    lacks = (
        ("nodes", "worst nodes are judged by the others", lambda one: not one.nodes),
        ("times", "they stand under no day and no length", lambda one: one.seconds is None),
        ("GPUs", "their GPU hours count as 0", lambda one: one.gpus is None),
        ("users", "they are compared by account or queue", lambda one: not one.user),
    )
    for what, so, lack in lacks:
        if count := sum(map(lack, records)):
            yield f"Of {count:,} of {len(records):,} jobs the {what} are not known; {so}."
    if unread := sum(1 for one in records if one.mark == "not read"):
        yield f"{unread:,} jobs could not be read; they stand under unknown."
    if not has_before:
        yield "Nothing is known of the time before the last 7 days, so nothing can be called new."


def _before(records: Iterable[JobRecord], last: float | None) -> Iterable[JobRecord]:
    return (one for one in records if last and one.ended and one.ended <= last - WEEK)
