"""All rules, in one table. A new rule is one function and its row in a family's file."""

from __future__ import annotations

from graph.verification.checks import (
    array_rules,
    call_rules,
    count_rules,
    directive_rules,
    directive_values,
    ending_rules,
    environment_rules,
    flow_rules,
    hazard_rules,
    input_rules,
    limit_rules,
    meeting_rules,
    network_rules,
    rank_rules,
    rank_value_rules,
    rendezvous_rules,
    shell_rules,
    site_rules,
    slip_rules,
    slurm_values,
    start_rules,
    status_rules,
    step_rules,
    submit_rules,
    template_rules,
    variable_rules,
)
from graph.verification.checks.rule import Rule

FAMILIES = (
    template_rules, directive_rules, directive_values, slurm_values, site_rules, limit_rules, count_rules, call_rules,
    start_rules, step_rules, rank_rules, rank_value_rules, rendezvous_rules, meeting_rules, environment_rules,
    network_rules, variable_rules, shell_rules, flow_rules, hazard_rules, slip_rules, array_rules, input_rules,
    ending_rules, status_rules, submit_rules,
)  # fmt: skip
RULES: tuple[Rule, ...] = tuple(rule for family in FAMILIES for rule in family.RULES)
