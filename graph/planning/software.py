"""What stands around the program in a script: settings at its top, the environment, and exported variables."""

from __future__ import annotations

from graph.planning.counting import Count
from graph.planning.launching import LaunchChoice
from graph.planning.strategies import Style
from knowledge.cluster import Cluster, NodeType, Software
from knowledge.types import Assumption, JobRequest, Variable

ENVIRONMENT = "ENVIRONMENT"


def top_settings(request: JobRequest, software: Software) -> tuple[tuple[Variable, ...], tuple[Assumption, ...]]:
    """The lines at the top of the script; the user's own environment takes the place of the facts' example."""
    settings, taken = [], []
    for fact in software.settings:
        own = request.environment if fact.environment else None
        settings.append(Variable(fact.name, own or fact.value, fact.why, expand=own is None))
        if own is None:
            taken.append(Assumption(fact.name, fact.value, fact.why or "the site's example", software.source))
    if request.environment and not settings_take_environment(software):
        settings.append(Variable(ENVIRONMENT, request.environment, "your Python environment"))
    return tuple(settings), tuple(taken)


def settings_take_environment(software: Software) -> bool:
    return any(fact.environment for fact in software.settings)


def own_environment(request: JobRequest, software: Software) -> tuple[str, ...]:
    """The line that enters the user's own environment, where the site's modules leave no place for it."""
    if not request.environment or settings_take_environment(software):
        return ()
    if "/" in request.environment:
        return (f'source "${ENVIRONMENT}/bin/activate"',)
    return (f'conda activate "${ENVIRONMENT}"',)


def variables(
    cluster: Cluster, node: NodeType, style: Style, counted: Count, choice: LaunchChoice
) -> tuple[Variable, ...]:
    """The variables that jobs like this one need there. Advice is left to `maple-chat clusters NAME`."""
    when = {"always", "multi_node"} if counted.nodes > 1 else {"always"}
    return tuple(
        Variable(fact.name, fact.value, fact.why, fact.expand)
        for fact in cluster.environment
        if fact.apply in when
        and (not fact.workers or choice.form.workers in fact.workers)
        and (not fact.node_types or node.id in fact.node_types)
        and (not fact.frameworks or style.framework in fact.frameworks)
    ) + proxies(cluster)


def proxies(cluster: Cluster) -> tuple[Variable, ...]:
    if cluster.internet.access != "proxy":
        return ()
    return tuple(
        Variable(name, value, "the way out of a compute node") for name, value in cluster.internet.proxy.items()
    )
