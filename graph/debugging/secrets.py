"""Masks credentials in what is shown. One place, for every way out."""

from __future__ import annotations

import re

MASK = "<hidden>"
KNOWN = re.compile(
    r"\bhf_[A-Za-z0-9]{8,}|\bsk-[A-Za-z0-9_-]{12,}|\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{12,}|\bgithub_pat_\w{12,}"
    r"|\bglpat-[\w-]{12,}|\bxox[abeprs]-[\w-]{10,}|\bxapp-[\w-]{10,}|\bAKIA[A-Z0-9]{12,}|\bASIA[A-Z0-9]{12,}"
    r"|\bAIza[\w-]{20,}|\bnvapi-[\w-]{12,}|\bpypi-[\w-]{16,}|\beyJ[\w-]{10,}\.[\w-]{8,}\.[\w-]{4,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*"
)
NAMED = re.compile(
    r"(?i)(?P<name>\b[\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)s?\b"
    r"[\"']?\s*(?:=|:\s|:(?=[\"'])|\s(?=[\"']?[A-Za-z0-9+/_-]{20,}))\s*[\"']?)(?P<value>(?:(?:bearer|basic)\s+)?[^\s\"',;&)}\]]{6,})"
)
BEARER = re.compile(r"(?i)\b(authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)|bearer)\s+[\w.~+/=-]{8,}")
ADDRESS = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]{1,20}://)[^\s/@:'\"]{0,80}:[^\s/@'\"]{1,200}@")
WANDB = re.compile(r"(?i)(wandb[^\n]{0,60}?)\b[0-9a-f]{40}\b")


def masked(text: str) -> str:
    """The text with keys, tokens and passwords replaced by <hidden>."""
    text = KNOWN.sub(MASK, text)
    text = ADDRESS.sub(rf"\g<scheme>{MASK}@", text)
    text = BEARER.sub(rf"\1 {MASK}", text)
    text = WANDB.sub(rf"\1{MASK}", text)
    return NAMED.sub(_hide, text)


def _hide(found: re.Match[str]) -> str:
    """Hide the value, unless it is plainly none: a number (max_tokens: 4096), a type, None."""
    value = found["value"]
    if re.fullmatch(r"(?i)[\d.,]+|none|null|true|false|<hidden>|str|int|<[^>]*>|\$\{?\w+\}?", value):
        return found[0]
    return found["name"] + MASK
