"""What is secret in a text: credentials of many makers.

One line a kind. Each rule has a loose pattern, too, which RE2 looks for in all lines at once: only where it stands is
the exact one tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Rule:
    """kind: the placeholder's word. The group `v` of the pattern is what is hidden, where it `holds`.

    looks is in RE2's syntax, over a line in lower case ASCII; it must match wherever the pattern may.
    """

    kind: str
    looks: str
    written: str
    holds: Callable[[str], bool] | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """The exact pattern, compiled when first needed: all of them at once cost a cold start 35 ms."""
        return compiled(self.written)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """One exact pattern; more of them than Python itself keeps."""
    return re.compile(pattern)


# Prefix of a token -> what follows it. Lengths are lower bounds: a cut token is still one.
TOKENS = {
    "hf_": r"[A-Za-z0-9]{8,}",
    "api_org_": r"[A-Za-z0-9]{20,}",
    "sk-": r"[\w-]{12,}",
    "sk_live_": r"\w{12,}",
    "rk_live_": r"\w{12,}",
    "gsk_": r"\w{12,}",
    "xai-": r"\w{20,}",
    "pplx-": r"\w{20,}",
    "nvapi-": r"[\w-]{12,}",
    "r8_": r"\w{20,}",
    "ghp_": r"\w{12,}",
    "gho_": r"\w{12,}",
    "ghu_": r"\w{12,}",
    "ghs_": r"\w{12,}",
    "ghr_": r"\w{12,}",
    "github_pat_": r"\w{12,}",
    "glpat-": r"[\w-]{12,}",
    "gldt-": r"[\w-]{12,}",
    "glrt-": r"[\w-]{12,}",
    "glc_": r"[\w+/=]{20,}",
    "glsa_": r"\w{20,}",
    "xoxa-": r"[\w-]{10,}",
    "xoxb-": r"[\w-]{10,}",
    "xoxe-": r"[\w-]{10,}",
    "xoxe.xoxp-": r"[\w-]{10,}",
    "xoxp-": r"[\w-]{10,}",
    "xoxr-": r"[\w-]{10,}",
    "xoxs-": r"[\w-]{10,}",
    "xapp-": r"[\w-]{10,}",
    "AKIA": r"[A-Z0-9]{12,}",
    "ASIA": r"[A-Z0-9]{12,}",
    "AIza": r"[\w-]{20,}",
    "ya29.": r"[\w-]{20,}",
    "1//0": r"[\w-]{30,}",
    "pypi-": r"[\w-]{16,}",
    "npm_": r"[A-Za-z0-9]{20,}",
    "dckr_pat_": r"[\w-]{16,}",
    "hvs.": r"[\w-]{20,}",
    "dop_v1_": r"[0-9a-f]{20,}",
    "dapi": r"[0-9a-f]{32}",
    "SG.": r"[\w-]{16,}\.[\w-]{16,}",
    "ATATT3": r"[\w=-]{20,}",
    "tskey-": r"[\w-]{16,}",
    "lin_api_": r"\w{20,}",
    "pul-": r"[0-9a-f]{32,}",
    "shpat_": r"[0-9a-f]{20,}",
    "figd_": r"[\w-]{20,}",
    "PMAK-": r"[\w-]{20,}",
    "sntrys_": r"[\w+/=]{20,}",
    "dp.pt.": r"\w{20,}",
    "AGE-SECRET-KEY-1": r"[A-Z0-9]{20,}",
    "eyJ": r"[\w-]{10,}(?:\.[\w-]{8,}){1,4}",
}
NO_SECRET = re.compile(
    r"(?i)[\d.,]+|none|null|true|false|str|int|bool|string|optional\S*|required|invalid|missing|expired|incorrect"
    r"|<[^>]*>|\$\{?\w+\}?|\$\(.*|\*+|%\w|\{\w*\}?|[a-z_]+\.[a-z_.]+|(?:self|args|config|os)\.\S*"
)


def is_secret(value: str) -> bool:
    """Not plainly something else: a number (max_tokens: 4096), a type, a variable, a word that speaks of one."""
    return not NO_SECRET.fullmatch(value)


PRIVATE_KEY = re.compile(
    r"(?s)-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:.{0,8000}?(?:-----END [A-Z ]{0,40}-----|\Z|\n\n)|.{8000})"
)
SECRET_NAMES = (
    "password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|credential"
    "|auth[_-]?key|license[_-]?key"
)
CREDENTIALS: tuple[Rule, ...] = (
    *(
        Rule("KEY", re.escape(p.lower()), rf"(?P<v>{re.escape(p)}(?<![A-Za-z0-9_]{re.escape(p)}){tail})")
        for p, tail in TOKENS.items()
    ),
    Rule(
        "KEY", r"://[^/@]*:[^/@]*@", r"\b(?i:[a-z][a-z0-9+.-]{1,20})://(?P<v>[^\s/@:'\"<>]{0,80}:[^\s/@'\"<>]{1,200})@"
    ),
    Rule(
        "KEY",
        r"bearer|authorization",
        r"(?i)\b(?:authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)|bearer)\s+(?P<v>[\w.~+/=-]{8,})",
    ),
    Rule("KEY", r"wandb.*[0-9a-f]{40}", r"(?i)wandb[^\n]{0,60}?\b(?P<v>[0-9a-f]{40})\b"),
    Rule("KEY", r"cookie[\"']?:", r"(?i)\b(?:set-)?cookie[\"']?:\s{0,3}(?P<v>[^\n]{6,})"),
    Rule(
        "KEY",
        r"(?:session|csrf|xsrf).*=",
        r"(?i)\b_?(?:[a-z]{1,20}[_-])?(?:session[_-]?id|session|csrf_?token|xsrf)=[\"']?(?P<v>(?=[\w%.|-]{0,80}\d)[\w%.|-]{10,})",
    ),
    Rule("KEY", r"hooks\.slack\.com", r"https://hooks\.slack\.com/(?:services|workflows)/(?P<v>[\w/]{12,})"),
    Rule("KEY", r"/api/webhooks/", r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/(?P<v>[\w/-]{12,})"),
    Rule(
        "KEY",
        r"[?&](?:sig|signature|x-amz-\w+|x-amz-\w+-token|access_token|token|key|code|apikey)=",
        r"(?i)[?&](?:sig|signature|x-amz-signature|x-amz-security-token|access_token|token|key|code|apikey)=(?P<v>[\w%+/=.~-]{8,})",
    ),
    Rule(
        "KEY",
        r"accountkey=|sharedaccess",
        r"(?i)\b(?:accountkey|sharedaccesskey|sharedaccesssignature)=(?P<v>[\w+/=%&-]{16,})",
    ),
    Rule("KEY", r"\$[\w]+\$", r"(?<![\w$])(?P<v>\$(?:1|2[abxy]|5|6|y|argon2id?)\$[^\s:'\"]{12,})"),
    Rule("KEY", r"aaaa", r"(?i)\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-nistp\d{3})\s+(?P<v>AAAA[\w+/=]{20,})"),
    Rule("KEY", r"sha256:", r"\bSHA256:(?P<v>[A-Za-z0-9+/]{40,44})"),
    Rule("KEY", r"\d:aa", r"\b(?P<v>\d{8,10}:AA[\w-]{30,36})\b"),
    Rule("KEY", r"[0-9a-f]-us\d", r"\b(?P<v>[0-9a-f]{32}-us\d{1,2})\b"),
    Rule("KEY", r"login.*password", r"(?i)\bmachine\s+\S{1,80}\s+login\s+\S{1,60}\s+password\s+(?P<v>\S{3,})"),
    Rule(
        "KEY",
        r"sshpass|curl.*-u",
        r"\b(?:sshpass\s+-p\s?|curl\s[^\n]{0,200}?-u\s+[\w.-]{1,40}:)[\"']?(?P<v>[^\s'\"]{3,})",
    ),
    Rule(
        "KEY",
        r"(?:otp|code|password).*\d{6}",
        r"(?i)\b(?:otp|one-time (?:code|password)|verification code|passcode|2fa code)\s{0,3}(?:is|[:=])?\s{0,3}"
        r"(?P<v>\d{6,8})\b",
    ),
    Rule(
        "KEY",
        rf"(?:{SECRET_NAMES})s?\b.*[^\s]{{6}}",
        rf"(?i)\b[\w-]{{0,60}}(?:{SECRET_NAMES})s?\b[\"']?\s{{0,3}}"
        r"(?:=|:\s|:(?=[\"'])|\s(?=[\"']?[A-Za-z0-9+/_-]{20,}))\s{0,3}[\"']?"
        r"(?:(?:bearer|basic)\s+)?(?P<v>[^\s\"',;&)}\]<]{6,})",
        is_secret,
    ),
)
