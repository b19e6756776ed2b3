"""What names people and projects in listings of jobs and files, and at hubs outside. Read by masking.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from knowledge.masking_names import ACCOUNT, is_account, is_name, is_node
from knowledge.masking_rule import MaskingRule

# Owners of models and sources that everybody knows, in lower case: what they publish says nothing of a person.
OWNERS = """
    01-ai ai21labs albert allenai amd answerdotai apple argonne-lcf baai baichuan-inc bigcode bigscience
    black-forest-labs bytedance cerebras codellama conda-forge dao-ailab databricks deepmind deepseek-ai deepspeedai
    distilbert easybuilders eleutherai facebook facebookai facebookresearch ggml-org google google-bert google-research
    google-t5 hpcaitech huggingface huggingfacefw huggingfaceh4 huggingfacetb huggyllama ibm-granite intel intfloat
    internlm karpathy laion lightning-ai llava-hf lmsys meta-llama microsoft mistral-community mistralai moonshotai
    mosaicml nersc nousresearch nvidia olcf openai openai-community openbmb openmmlab pytorch pytorch-lightning qwen
    rocm runwayml salesforce sentence-transformers spack stabilityai stanford-crfm state-spaces tencent thudm tiiuae
    timm tinyllama togethercomputer unsloth upstage volcengine wikitext zai-org
"""
KNOWN_OWNERS = frozenset(OWNERS.split())
# The word at the head of a column -> what stands below it.
COLUMNS = {
    "user": "USER",
    "username": "USER",
    "owner": "USER",
    "account": "ACCOUNT",
    "acct": "ACCOUNT",
    "project": "ACCOUNT",
    "nodelist": "HOST",
    "nodelist(reason)": "HOST",
    "hostnames": "HOST",
    "hostname": "HOST",
    "exec_host": "HOST",
}
HOLDS: dict[str, Callable[[str], bool]] = {"USER": is_name, "ACCOUNT": is_account, "HOST": is_node}
# A head: three words or more that each begin with a capital and stand apart, or any above a line of dashes.
HEAD = re.compile(
    r"(?m)^[ |]*(?=[^\n]{0,300}\b(?i:user(?:name)?|owner|account|acct|project|nodelist|hostnames?|exec_host)\b)"
    r"(?:[A-Z%][\w%()/#.]{0,30}(?:(?: +|\|)[A-Z%][\w%()/#.]{0,30}){2,30}[ |]*$|[A-Z][\w%()/# .|]{10,300}\n[ |]*---)"
)
GAP = re.compile(r" {2,}|\|")
CELL = re.compile(r"[^\s|]+")
VALUE = re.compile(r"[A-Za-z0-9][\w.\[\],-]{1,60}")
MOST_ROWS, MOST_LETTERS = 500, 100_000


def is_foreign(value: str) -> bool:
    """A repository of somebody whom not everybody knows."""
    return value.partition("/")[0].lower() not in KNOWN_OWNERS


def columns(text: str) -> Iterator[tuple[int, int, str]]:
    """The users, accounts and hosts in tables with a head, as squeue, sacct, sacctmgr, qstat and ps print them."""
    end = 0
    for head in HEAD.finditer(text):
        if head.start() < end:
            continue
        line = head[0].partition("\n")[0]
        if "\n" not in head[0] and len(GAP.findall(line)) < 2:
            continue
        end = start = head.start() + len(line) + 1
        for row in text[start : start + MOST_LETTERS].split("\n")[:MOST_ROWS]:
            if not row.strip():
                break
            for at, value, kind in cells(line, row):
                if HOLDS[kind](value):
                    yield end + at, end + at + len(value), kind
            end += len(row) + 1


def cells(head: str, row: str) -> Iterator[tuple[int, str, str]]:
    """Where in a row what stands below the telling heads: by place, or by number where bars part the columns."""
    if "|" in head:
        starts = [0, *(match.end() for match in re.finditer(r"\|", row))]
        named = zip(head.split("|"), row.split("|"), starts, strict=False)
        found = [(word.strip(), cell.strip(), start + len(cell) - len(cell.lstrip())) for word, cell, start in named]
    else:
        over, below = list(CELL.finditer(head)), list(CELL.finditer(row))
        found = [(o[0], b[0], b.start()) for o in over for b in below if b.start() < o.end() and o.start() < b.end()]
    for word, cell, start in found:
        kind, value = COLUMNS.get(word.lower()), VALUE.match(cell)
        if kind and value:
            yield start, value[0], kind


QUEUES = (
    r"(?:squeue|qstat|sacct|scancel|sprio|sshare|bjobs|bkill|pkill|qselect|qdel|flux jobs|htop|top|quota|lfs quota)"
)
REPOSITORY = r"(?P<v>[\w.-]{2,60}/[\w.-]{1,90}?)"
OUTSIDE: tuple[MaskingRule, ...] = (
    MaskingRule(
        "USER",
        r"\s(?:-u|--users?)",
        rf"\b{QUEUES}\b[^\n]{{0,120}}?\s(?:-u|--users?)[= ]?(?P<v>[A-Za-z][\w.-]{{1,40}})",
        is_name,
    ),
    MaskingRule(
        "USER",
        r"[r-][w-][xs-][r-].*\s\d+\s",
        r"(?<!\S)[dlbcps-](?:[rwxsStT-]{9})[.+@]?\s+\d+\s+(?P<v>[A-Za-z][\w.-]{1,40})\s",
        is_name,
    ),
    MaskingRule(
        "ACCOUNT",
        r"[r-][w-][xs-][r-].*\s\d+\s",
        r"(?<!\S)[dlbcps-](?:[rwxsStT-]{9})[.+@]?\s+\d+\s+[\w.-]+\s+(?P<v>[A-Za-z][\w.-]{1,40})\s+\d",
        is_name,
    ),
    # One row of squeue or qstat without its head.
    MaskingRule(
        "USER",
        r"^\s*\d[\d_+\[\]-]*\s+\S+\s+\S.*\s[a-z]{1,2}\s+[\d:-]+\s",
        r"^\s*\d{3,12}[\d_+\[\]-]*\s+\S+\s+\S{1,60}\s+(?P<v>[A-Za-z][\w.-]{1,40})\s+(?:R|PD|CG|CD|CF|F|TO|S|CA|NF|OOM|PR)\s+[\d:-]+\s",
        is_name,
    ),
    MaskingRule(
        "USER",
        r"^\d+(?:\[\])?\.[\w.-]+\s",
        r"^\d{2,12}(?:\[\])?\.[\w.-]+\s+\S{1,60}\s+(?P<v>[A-Za-z][\w.-]{1,40})\s+[\d:]+\s+[QRHEFBSCMTUWX]\s",
        is_name,
    ),
    MaskingRule(
        "USER", r"\b(?:author|committer):\s+[\w.-]+ <", r"\b(?:Author|Committer):\s+(?P<v>[\w.-]{2,40}) <", is_name
    ),
    MaskingRule(
        "USER",
        r"\bmy (?:user ?name|user ?id|login|account name)",
        r"(?i)\bmy (?:user ?name|user ?id|login|account name)(?: is|:)\s+[\"'`]?(?P<v>[A-Za-z][\w.-]{1,40}\b)",
        is_name,
    ),
    MaskingRule("PERSON", r"\bmy name is ", r"(?i:\bmy name is) (?P<v>[A-Z][\w'-]{1,30}(?: [A-Z][\w.'-]{0,30}){0,3})"),
    MaskingRule(
        "PERSON",
        r"(?:regards|wishes|cheers|sincerely),? ",
        r"\b(?i:regards|wishes|cheers|sincerely),? (?P<v>[A-Z][\w'-]{1,30}(?: [A-Z][\w.'-]{0,30}){0,2})(?=[\s.]*$)",
    ),
    MaskingRule(
        "ACCOUNT",
        r"(?:account|allocation|project|bank) (?:is )?(?:called|named)",
        rf"(?i)\b(?:account|allocation|project|bank) (?:is )?(?:called|named) [\"'`]?(?P<v>{ACCOUNT})",
        is_account,
    ),
    MaskingRule("ACCOUNT", r"^\s+project = ", rf"^\s+project = (?P<v>{ACCOUNT})", is_account),
    MaskingRule("ACCOUNT", r"logged in as", r"(?i)\blogged in as:?\s+[\w.-]+ \((?P<v>[\w.-]{2,60})\)", is_name),
    MaskingRule(
        "PROJECT",
        r"wandb.*project",
        r"(?i)\bwandb(?:\.init\([^\n]{0,200}?|_|[^\n]{0,60}?--)"
        r"project(?:_name)?[\"']?\s?[= :]\s?[\"']?(?P<v>[A-Za-z0-9][\w.-]{1,80})",
        is_name,
    ),
    # DeepSpeed hands the names of all nodes on in base64.
    MaskingRule("HOST", r"world_info=", r"\bworld_info=(?P<v>[\w+/=-]{8,})"),
    MaskingRule(
        "DEVICE",
        r"gu?id\W{1,3}0x|serial",
        r"(?i)\b(?:(?:guid|gid)\W{1,3}(?=0x)|serial(?: number)?\s{0,20}[:=]\s{0,3})(?P<v>(?=\w{0,6}\d)[\w:-]{8,40})",
    ),
    MaskingRule(
        "REPO",
        r"huggingface\.co/|hf\.co/",
        rf"\b(?:huggingface|hf)\.co/(?:datasets/|spaces/)?(?!docs/|api/|models?\b|settings/|blog/|join\b){REPOSITORY}(?=[\s/'\"):,?]|\.?$)",
        is_foreign,
    ),
    MaskingRule(
        "REPO",
        r"repo_?id|from_pretrained|model_name_or_path|load_dataset",
        rf"\b(?:repo_?id|(?:from_pretrained|load_dataset)\(|model_name_or_path)"
        rf"[\"']?\s?[=: ]?\s?[\"']{REPOSITORY}[\"']",
        is_foreign,
    ),
    MaskingRule(
        "REPO",
        r"is not a local folder|repository .*not found|gated repo",
        rf"(?<![\w/.]){REPOSITORY} is not a local folder",
        is_foreign,
    ),
    MaskingRule("REPO", r"git@[\w.-]+[:/]", rf"\bgit@[\w.-]+[:/]{REPOSITORY}(?:\.git)?(?=[\s'\")]|$)", is_foreign),
    MaskingRule(
        "REPO",
        r"(?:clone|remote|origin|repository|fatal).*https?://",
        rf"(?:clone|remote|origin|[Rr]epository|fatal)\b[^\n]{{0,80}}?https?://(?:[^\s/@]{{1,200}}@)?[\w.-]+/{REPOSITORY}(?:\.git)?/?(?=[\s'\")]|$)",
        is_foreign,
    ),
)
