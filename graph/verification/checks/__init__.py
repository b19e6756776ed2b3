"""Rules over a script's text: what would be refused, what would not start, and why."""

from graph.verification.checks.run import check, checked

__all__ = ["check", "checked"]
