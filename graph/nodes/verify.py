"""Say of the script that was just written what its checks proved, and what they could not."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.answering.fact_answer import as_sentence
from graph.context import Context
from graph.state import State
from graph.undescribed import is_stand_in
from knowledge.types import Finding

NOT_PROVED = (
    "your account and quota, the queue's state, modules and environments, the program itself. "
    "A rehearsal runs the script on your own computer, on a stand-in cluster: `/rehearse` in the terminal's chat, "
    "`maple-chat rehearse FILE` in a shell."
)


def verify(state: State, runtime: Runtime[Context]) -> State:
    cluster = runtime.context.cluster(state["request"])
    if state["draft"] is None or cluster is None:
        return State(findings=())
    findings = state["findings"]
    if is_stand_in(cluster):
        return State(proof=tuple(worded(finding) for finding in findings if finding.severity == "error"))
    found = [worded(finding) for finding in findings] or [f"Checked against {cluster.title}'s facts: nothing found."]
    proof = f"{found.pop(0) if not findings else 'Checked, with the findings above.'} Not proved: {NOT_PROVED}"
    return State(proof=(*found, proof))


def worded(finding: Finding) -> str:
    place = f"line {finding.line}: " if finding.line else ""
    return f"Check, {place}{as_sentence(finding.says)} {as_sentence(finding.why)}"
