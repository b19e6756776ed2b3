"""Credentials in what is shown become <hidden>. The patterns are those of knowledge/masking.py."""

from __future__ import annotations

from knowledge.masking import hide


def masked(text: str) -> str:
    """The text with keys, tokens and passwords replaced by <hidden>."""
    return hide(text)
