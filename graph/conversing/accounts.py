"""Whether an account was named by the person, whom alone it is known to, or by what the machine printed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.conversation.option_choice import AGREED
from graph.conversing.ground import stands
from graph.conversing.hand import Hand
from graph.conversing.said import OF_ACCOUNT, ONES, plain
from graph.planning.plan import CLASS
from graph.undescribed import is_stand_in
from graph.usecases.diagnose_job import machine_of
from knowledge.cluster import Cluster
from knowledge.types import Grounds, JobRequest, Paste

AGREES = re.compile(rf"\W*(?:{AGREED})\b", re.I)
DIGIT_WORDS = re.compile(rf"\b(?:{'|'.join(ONES[:10])})\b", re.I)
# What is left of an account without the site's own parts has to tell something.
LEAST = 3


def is_account_said(hand: Hand, request: JobRequest, account: str) -> bool:
    """Whether the account stands in what the person said (letters and digits one by one too, in any turn), in their own
    script of that site, in what the machine printed for them, or in the answer that they just agreed to; with or
    without what the site adds to it."""
    theirs = "\n".join((hand.words, *(hand.began.get("grounds") or Grounds()).words))
    said = plain(DIGIT_WORDS.sub(lambda found: str(ONES.index(found[0].lower())), theirs))
    cluster = hand.context.cluster(request)
    pasted = [one.text for one in (*hand.turn.message.outputs, *scripts_of_site(hand, cluster))]
    # Words beside a log may have been read as lines of it: `proyecto ehpc214`.
    rows = (row for log in hand.turn.message.logs for row in log.text.splitlines() if OF_ACCOUNT.search(row))
    printed = "\n".join([*pasted, *rows, hand.state.get("output", "")]).lower()
    talk = hand.began.get("talk", ())
    asked = talk[-1].answered.lower() if talk and AGREES.match(hand.turn.words) else ""
    return any(
        plain(one) in plain(theirs) or plain(one) in said or stands(one, printed) or stands(one, asked)
        for one in (account, *without_site_parts(cluster, account))
    )


def scripts_of_site(hand: Hand, cluster: Cluster | None) -> Iterator[Paste]:
    """The person's own scripts, but those that show by their marks that they are another site's: an account is known
    there alone."""
    own = hand.began.get("own") or hand.state.get("own")
    for one in (*hand.turn.message.scripts, *([own] if own else [])):
        theirs = machine_of(one.text)
        if theirs is None or cluster is None or theirs.site == cluster.site:
            yield one


def without_site_parts(cluster: Cluster | None, account: str) -> Iterator[str]:
    """The account without the prefix and suffix that the machine's site gives to every one; where nobody knows the
    site's, without what sites usually add for a class of nodes."""
    if cluster is None or is_stand_in(cluster):
        bare = CLASS.sub("", account)
        if bare != account and len(plain(bare)) >= LEAST:
            yield bare
        return
    known = cluster.account
    for suffix in {known.suffix or "", known.cpu_suffix or "", *known.suffix_by_node_type.values()}:
        bare = account.removeprefix(known.prefix).removesuffix(suffix)
        if bare != account and len(plain(bare)) >= LEAST:
            yield bare
