"""About the assistant itself, what it stands on and keeps; and what it does not do, with the proper way."""

from __future__ import annotations

import re

from graph.answering.ask import Ask
from graph.answering.model_size import named_kinds
from graph.answering.situation import cite, write_document
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster, NodeType
from knowledge.document import Document

CAN = (
    "I write, change, check and carry over launch scripts for deep learning, tell why a job failed or does not start, "
    "and "
    "answer questions about {count} machines. Try *train.py with FSDP on Perlmutter, 4 nodes*, or paste a script or a "
    "log."
)
# Words of a message -> no, and the proper way. The first that fits is said.
DECLINED: tuple[tuple[str, str], ...] = (
    (
        r"\b(?:min(?:e|ing)\b.{0,30}(?:crypto|coin|monero|bitcoin|ether\w*)|monero|bitcoin|crypto ?min)",
        "No: mining is forbidden on research machines and costs the account. If idle GPUs are the idea: preemptible or "
        "overrun queues run real training cheaply, and a benchmark (nccl-tests, a GEMM) is fine; I write either.",
    ),
    (
        r"\b(?:friend|colleague|someone|somebody|other|another|his|her|their)\w*'?s? (?:\w+ )?"
        r"(?:login|account|password|token|key)",
        "No: logins are personal, and sharing one costs both their access. The proper ways: pack several runs into "
        "one job, "
        "an array with a throttle (`--array=0-11%4`), or ask support to raise your limit.",
    ),
    (
        r"\blog[- ]?in[- ]?nodes?\b.{0,120}\b(?:days?|night|hours?|nohup|queue|thread|process\w*|admin\w*|train\w*)\b"
        r"|\b(?:train\w*|run\w*|start|process\w*|threads?)\b.{0,80}\blog[- ]?in[- ]?nodes?\b",
        "No: login nodes are shared by everybody, long or heavy runs there are ended and the account may be locked. "
        "Quick instead: the debug or interactive queue starts in minutes, and short jobs fill gaps (backfill). I write "
        "either.",
    ),
    (
        r"\b(?:fake|dummy|sleep\w*|empty)\b.{0,30}\b(?:jobs?|load)\b|\b(?:flood|ddos|overload)\w*|\bfills? the queue\b",
        "No: jobs that only hold or flood nodes take them from others, and sites find and end them. What starts"
        " sooner: "
        "fewer nodes, a shorter time limit (backfill), the debug queue, or a reservation that support grants.",
    ),
    (
        r"\b(?:crack|brute[- ]?force|hashcat)\w*|\bport ?scan\w*|\bopen ports\b",
        "No: cracking passwords or scanning hosts is forbidden on research machines, and ends accounts.",
    ),
    (
        r"\b(?:cancel|kill|stop|delete|scancel|hold)\b.{0,25}"
        r"\b(?:his|her|their|someone|others?'?|another user\w*|somebody)\b",
        "No, and an ordinary user cannot: only the owner and the staff end a job. If somebody misuses the machine, "
        "tell "
        "support the job's number. Who goes first is decided by priority: `sprio -l` and `sshare` show your own share.",
    ),
    (
        r"\b(?:files?|folders?|home|data|script|code|checkpoints?)\b.{0,40}\b(?:another|other) users?\b"
        r"|\b(?:another|other) user(?:'?s'?)? (?:files?|folders?|home|data|jobs?)",
        "I do not help to read other people's files; ask them, or their PI. What everybody may see is the use: "
        "`squeue -u NAME`, and `sshare` for shares. If it looks like misuse, tell support.",
    ),
    (
        r"\b(?:give|send|share|type|enter|post|asks?|wants?|tell)\b.{0,30}"
        r"\b(?:password|passcode|token code|one[- ]time code|otp|2fa code|private key)\b",
        "Never give a password, token code or private key to anybody, not here either: no support asks for them. If a "
        "mail "
        "asks, do not follow its links; write to the help desk by the address on the site's own page.",
    ),
    (
        r"\b(?:api[- ]?keys?|secrets?|system prompt|your (?:config\w*|rules|instructions|settings)"
        r"|ignore (?:all|your|previous))\b"
        r"|\bi am the admin\b",
        "I print no secrets and no settings, whoever asks. Who runs me finds the settings with `maple-chat doctor` on "
        "their "
        "own machine; what I know of clusters is public: `maple-chat clusters`.",
    ),
    (
        r"\brm -rf?\b|\bdelete (?:all|every\w*)\b",
        "Careful: an `rm -rf` on `$SCRATCH/*` takes the data of all your jobs, and an empty variable makes it `/`. "
        "Use a "
        'folder of the job\'s own: `W="${SCRATCH:?}/job_$SLURM_JOB_ID"; mkdir -p "$W"; trap \'rm -rf "$W"\' EXIT` '
        "(in PBS `${PBS_JOBID}`).",
    ),
)
FRIENDLY = "That is not my field. {can}"


def tell_what(ask: Ask) -> Document:
    """What the assistant is and can do."""
    return write_document(f"A program for launch scripts on supercomputers, no person. {can()}")


def can() -> str:
    return CAN.format(count=len(catalogue().clusters))


def tell_privacy(ask: Ask) -> Document:
    """What is kept and sent."""
    return write_document(
        "The conversation and what you paste are kept in the data folder of whoever runs me: your own computer on the "
        "command line, the server in Slack; `ask --new` and /new begin afresh. Nothing goes to a language model "
        "unless one "
        "was set up (`ask --show-prompt TEXT` prints what would be sent), and nothing is searched on the web without "
        "your "
        "yes. Leave passwords and keys out of what you paste."
    )


def tell_sources(ask: Ask) -> Document:
    """Where the facts come from; of the machine that is spoken of, which pages, of which date, with its nodes."""
    machine = ask.machine
    if machine is None:
        return write_document(
            "Facts about machines come from the sites' own pages, each with its address and date; failures from public "
            "issue threads and the libraries' sources; where a fact is second-hand I say so. `maple-chat clusters "
            "MACHINE` "
            "prints all of a machine with its pages."
        )
    kinds = named_kinds(ask, machine) or machine.node_types
    nodes = "; ".join(node_in_words(kind) for kind in kinds[:4])
    from knowledge.site import site_of

    site = site_of(machine.id)
    pages = [
        *(kind.source or "" for kind in kinds),
        *(queue.source or "" for queue in machine.queues),
        *machine.sources,
    ]
    more = f" {site.read_from}" if site and site.read_from else ""
    return write_document(
        f"From the pages below, as of {machine.as_of}. Nodes of {machine.title} by them: {nodes}.{more}",
        cite([*dict.fromkeys(page for page in pages if page)][:4], machine.as_of),
    )


def node_in_words(kind: NodeType) -> str:
    gpus = kind.gpus
    count = f"{kind.count} nodes with " if kind.count else ""
    memory = f" {gpus.memory_gb:g} GB" if gpus.memory_gb else ""
    return f"{count}{gpus.per_node} x {gpus.model}{memory} ({kind.id})" if gpus.per_node else f"{kind.id}"


def decline(text: str, machine: Cluster | None = None) -> Document:
    """What is not done here: no, and the proper way; what is not our field: one friendly line and what we do."""
    from knowledge.site import site_of

    for pattern, answer in DECLINED:
        if re.search(pattern, text, re.I | re.S):
            support = site_of(machine.id) if machine else None
            return write_document(answer, f"Support: {support.support.text}" if support else "")
    return write_document(FRIENDLY.format(can=can()))


def is_declined(text: str) -> bool:
    """Whether it is something that is refused for a reason, rather than only not our field."""
    return any(re.search(pattern, text, re.I | re.S) for pattern, _ in DECLINED)
