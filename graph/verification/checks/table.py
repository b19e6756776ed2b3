"""All rules, in one table. A new rule is one function and its row in a family's file."""

from __future__ import annotations

from graph.verification.checks import (
    call_rules,
    count_rules,
    directive_rules,
    directive_values,
    environment_rules,
    flow_rules,
    limit_rules,
    meeting_rules,
    network_rules,
    rank_rules,
    rank_value_rules,
    rendezvous_rules,
    shell_rules,
    site_rules,
    slurm_values,
    start_rules,
    step_rules,
    template_rules,
    variable_rules,
)
from graph.verification.checks.rule import Rule

RULES: tuple[Rule, ...] = (
    *template_rules.RULES,
    *directive_rules.RULES,
    *directive_values.RULES,
    *slurm_values.RULES,
    *site_rules.RULES,
    *limit_rules.RULES,
    *count_rules.RULES,
    *call_rules.RULES,
    *start_rules.RULES,
    *step_rules.RULES,
    *rank_rules.RULES,
    *rank_value_rules.RULES,
    *rendezvous_rules.RULES,
    *meeting_rules.RULES,
    *environment_rules.RULES,
    *network_rules.RULES,
    *variable_rules.RULES,
    *shell_rules.RULES,
    *flow_rules.RULES,
)
