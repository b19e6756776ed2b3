"""Past tickets that are like a new one: read with few questions, as the database may be a round trip away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from assistant.storage.database import Transaction
from graph.incidents.likeness import bands, likeness, text_id, words_of
from graph.usecases.seen_before import PastTicket, SeenBefore
from knowledge.checked_file import read_stored
from knowledge.job_record import JobRecord

if TYPE_CHECKING:
    from assistant.storage.diagnoses import KeptFailure, Sees

# What decides whether a row is shown. What is shown of it, which is long, is read for those only.
JUDGED = "key, thread, at, who, place, private, said, asked, cause, signature, rating, cure"
# How many rows are looked at, newest first: of a text, of a band, of texts that are nearly the same. Rows that nobody
# rated are looked at only for the texts most alike: of them one is shown at most.
OF_TEXT, OF_BAND, NEAR_TEXTS, NEAREST = 20, 200, 12, 3
# Under this two texts are not alike. A question is put in more ways than a log's line.
LIKE_LINE, LIKE_QUESTION = 0.5, 0.6
# What each likeness is worth: the same line, a line like it, the same signature, a question like it.
SAME_LINE, NEAR_LINE, SAME_SIGNATURE, NEAR_QUESTION = 1.0, 0.8, 0.4, 0.6
RATED, CURED, OTHER_CAUSE = 0.2, 0.3, -0.5
AKIN, LEAST = 0.3, 0.4
COUNTED = 1_000


def past_cases(talk: Transaction, ticket: KeptFailure, sees: Sees, limit: int) -> SeenBefore:
    """Those that the asker may see, the most telling first, and how often the same line was seen."""
    line, question = words_of(ticket.record.mark), words_of(ticket.question)
    times, last = count(talk, text_id(line), ticket.thread) if line else (0, 0.0)
    near_to, words = near(talk, line, question)
    found = scored(talk, rated(talk, near_to, ticket.record.signature), words, ticket, sees)
    if sum(row[10] != "wrong" for _, row in found) < limit:
        found += scored(talk, unrated(talk, near_to), words, ticket, sees)
    best = list(islice(apart(sorted(found, key=lambda one: (-one[0], -one[1][2]))), limit))
    whole = whole_of(talk, [row[0] for _, row in best])
    cases = tuple(past_of(row, whole[row[0]], ticket, score) for score, row in best if row[0] in whole)
    return SeenBefore(times, last, cases, COUNTED)


Steps = tuple[str, ...]
Scored = tuple[float, tuple[Any, ...]]


def apart(found: Sequence[Scored]) -> Iterator[Scored]:
    """One case of each thread."""
    threads: set[str] = set()
    for score, row in found:
        if row[1] not in threads:
            threads.add(row[1])
            yield score, row


def count(talk: Transaction, said: int, thread: str) -> tuple[int, float]:
    """How often the same line was seen on other threads, and when last. Answered by the index, but for one's own."""
    newest = f"SELECT at FROM diagnoses WHERE said = ? ORDER BY at DESC LIMIT {COUNTED + OF_TEXT}"
    own = "SELECT at, 1 AS own FROM diagnoses WHERE thread = ? AND said = ?"
    query = f"SELECT at, 0 AS own FROM ({newest}) AS newest UNION ALL {own}"
    others: Counter[float] = Counter()
    for at, is_own in talk.execute(query, (said, thread, said)).fetchall():
        others[at] += -1 if is_own else 1
    others = +others
    return min(COUNTED, others.total()), float(max(others, default=0.0))


Near = Sequence[tuple[str, Sequence[int]]]
"""Column (said or asked), and the ids of texts that are like the ticket's, the most alike first."""


def rated(talk: Transaction, near_to: Near, signature: str) -> list[tuple[Any, ...]]:
    """Of each text, and of the signature, the newest rows of which somebody said how good the answer was."""
    wanted = [(column, text) for column, texts in near_to for text in texts]
    return newest_of(talk, [*wanted, *([("signature", signature)] if signature else [])], " AND rating <> ''")


def unrated(talk: Transaction, near_to: Near) -> list[tuple[Any, ...]]:
    return newest_of(
        talk, [(column, text) for column, texts in near_to for text in texts[:NEAREST]], " AND rating = ''"
    )


def newest_of(talk: Transaction, wanted: Sequence[tuple[str, int | str]], which: str) -> list[tuple[Any, ...]]:
    """The newest rows that have a value in a column, of each pair, at one question: a server is a round trip away."""
    if not wanted:
        return []
    each = (
        f"SELECT {JUDGED} FROM (SELECT {JUDGED} FROM diagnoses WHERE {column} = ?{which} "
        f"ORDER BY at DESC LIMIT {OF_TEXT}) AS r{n}"
        for n, (column, _) in enumerate(wanted)
    )
    rows = talk.execute(" UNION ALL ".join(each), [value for _, value in wanted]).fetchall()
    return list({row[0]: row for row in rows}.values())


def scored(
    talk: Transaction,
    rows: Sequence[tuple[Any, ...]],
    words: dict[int, frozenset[str]],
    ticket: KeptFailure,
    sees: Sees,
) -> list[Scored]:
    """Of other threads the rows that the asker may see and that tell enough, with how much. words: known already."""
    rows = [row for row in rows if row[1] != ticket.thread and may_see(row, ticket, sees)]
    # A question that is like this one is among the known ones; of lines those of a signature may be less alike.
    words |= words_by_id(talk, {row[6] for row in rows} - words.keys())
    line, question = words_of(ticket.record.mark), words_of(ticket.question)
    found = []
    for row in rows:
        said, asked = likeness(line, words.get(row[6], ())), likeness(question, words.get(row[7], ()))
        found.append((score_of(row, ticket, said, asked), row))
    return [one for one in found if one[0] > LEAST]


def whole_of(talk: Transaction, keys: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Key -> record, answer and steps, as they are stored."""
    if not keys:
        return {}
    query = f"SELECT key, record, says, fix FROM diagnoses WHERE key IN ({', '.join('?' * len(keys))})"
    return {key: (record, says, fix) for key, record, says, fix in talk.execute(query, keys).fetchall()}


def near(talk: Transaction, line: frozenset[str], question: frozenset[str]) -> tuple[Near, dict[int, frozenset[str]]]:
    """Kept texts like the line and like the question, and the words of every text that was met on the way."""
    numbers, known = [*bands(line), *bands(question)], dict[int, frozenset[str]]()
    if numbers:
        each = (
            f"SELECT text FROM (SELECT text FROM text_bands WHERE band = ? LIMIT {OF_BAND}) AS b{n}"
            for n in range(len(numbers))
        )
        query = f"SELECT text FROM ({' UNION ALL '.join(each)}) AS met GROUP BY text ORDER BY count(*) DESC"
        met = [text for (text,) in talk.execute(f"{query} LIMIT {2 * OF_BAND}", numbers).fetchall()]
        known = words_by_id(talk, [*met, text_id(line), text_id(question)])
    found = []
    for column, words, least in (("said", line, LIKE_LINE), ("asked", question, LIKE_QUESTION)):
        alike = {text: likeness(words, other) for text, other in known.items()}
        found.append((column, sorted((text for text in alike if alike[text] >= least), key=lambda text: -alike[text])))
    return [(column, texts[:NEAR_TEXTS]) for column, texts in found], known


def words_by_id(talk: Transaction, ids: Iterable[int]) -> dict[int, frozenset[str]]:
    """The words of texts, of those that are kept."""
    wanted, found = sorted(set(ids) - {0}), dict[int, frozenset[str]]()
    for start in range(0, len(wanted), 500):
        some = wanted[start : start + 500]
        rows = talk.execute(f"SELECT id, words FROM texts WHERE id IN ({', '.join('?' * len(some))})", some).fetchall()
        found |= {number: frozenset(words.split()) for number, words in rows}
    return found


def may_see(row: tuple[Any, ...], ticket: KeptFailure, sees: Sees) -> bool:
    """One's own always; of others never what is private."""
    who, place, private = row[3:6]
    if who == ticket.record.user:
        return True
    return not private and (sees == "all" or (sees == "place" and place == ticket.place))


def score_of(row: tuple[Any, ...], ticket: KeptFailure, line: float, question: float) -> float:
    """How much a past ticket tells of this one."""
    score = SAME_LINE if line == 1.0 else NEAR_LINE * line if line >= LIKE_LINE else 0.0
    score = max(score, NEAR_QUESTION * question if question >= LIKE_QUESTION else 0.0)
    # A signature may be as wide as `any Python exception`: without words in common it tells nothing.
    score += SAME_SIGNATURE if row[9] and row[9] == ticket.record.signature and line >= AKIN else 0.0
    if not score:
        return 0.0
    score += OTHER_CAUSE if row[8] != ticket.record.cause and ticket.record.cause != "unknown" else 0.0
    rating, cure = row[10], row[11]
    return score + RATED * {"helpful": 1, "wrong": -1}.get(rating, 0) + (CURED if cure else 0.0)


def past_of(row: tuple[Any, ...], whole: tuple[str, str, str], ticket: KeptFailure, score: float) -> PastTicket:
    thread, at, who, cause, rating, cure = row[1], row[2], row[3], row[8], row[10], row[11]
    record, says, fix = whole
    kept, steps = read_stored(record, JobRecord), read_stored(fix, Steps) or ()
    link = kept.source if kept else ""
    return PastTicket(thread, at, cause, says, steps, link, rating, cure, score, who == ticket.record.user)
