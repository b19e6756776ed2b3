"""Check the script that was just written, by its text; what was proved and what was not goes with it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.answering.fact_answer import as_sentence
from graph.context import Context
from graph.planning.plan import ACCOUNT_PLACEHOLDER
from graph.state import State
from graph.verification.checks import check
from knowledge.types import Finding, LaunchBundle

NOT_PROVED = (
    "your account and quota, the queue's state, modules and environments, the program itself. "
    "A rehearsal runs the script on your own computer, on a stand-in cluster: `/rehearse` in the terminal's chat, "
    "`maple-chat rehearse FILE` in a shell."
)


def verify(state: State, runtime: Runtime[Context]) -> State:
    draft, cluster = state["draft"], runtime.context.cluster(state["request"])
    if draft is None or cluster is None:
        return State(findings=())
    findings = tuple(f for f in check(draft.script, cluster) if f.severity != "info" and not is_told(f, draft))
    found = [worded(finding) for finding in findings] or [f"Checked against {cluster.title}'s facts: nothing found."]
    proof = f"{found.pop(0) if not findings else 'Checked, with the findings above.'} Not proved: {NOT_PROVED}"
    return State(findings=findings, proof=(*found, proof))


def is_told(finding: Finding, draft: LaunchBundle) -> bool:
    """The placeholder account is pointed out before everything else."""
    line = draft.script.splitlines()[finding.line - 1] if finding.line else ""
    return ACCOUNT_PLACEHOLDER in line


def worded(finding: Finding) -> str:
    place = f"line {finding.line}: " if finding.line else ""
    return f"Check, {place}{as_sentence(finding.says)} {as_sentence(finding.why)}"
