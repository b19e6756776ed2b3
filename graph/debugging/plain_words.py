"""The cause that an English message names by the thing it speaks of: a library, a GPU, a host, a package, a file.

Programs in all programming languages say in much the same words that such a thing is not there. Only messages that are
errors already are read so, and only where no signature and no frame tells more.
"""

from __future__ import annotations

import re
from functools import cache

# So much of a message is read.
LONGEST = 400
# What R puts in front: the call, which is the program's and no part of what it says.
CALL = re.compile(r"^Error in .{1,200}? : ?")
NOT = r"(?:can ?not|can't|could(?: not|n't)|(?:was |is )?unable to|fail(?:ed|s|ure)? to|did(?: not|n't)|not)"
# What a message says of a thing that is there, and of servers that are no ranks.
OTHERWISE = re.compile(
    r"(?i)\b(?:permission|denied|busy|locked|corrupt\w*|columns?|header|format|schema|version|too many|i/o|input/output"
    r"|quota|space|read-only|licen[cs]es?|display|database|sql\w*|redis|mongo\w*)\b"
)
GONE = (
    r"(?:(?:is|are|was|were|be|has|could|can) (?:been )?)?(?:not (?:be |yet )?(?:found|located|opened|loaded|installed"
    r"|present|available|visible|detected|there)|missing|unavailable|do(?:es)?(?: not|n't) exist)\b"
)
FIND = r"(?:find|locate|open|load|access|see|stat|detect|import)"
CONNECT = r"(?:connect\w*|reach|contact|resolve|find|join|register)"
LIBRARY = (
    r"(?:[\w./+-]{0,80}\blib(?!rar)[a-z][\w+-]{0,60}(?:\.so[\d.]*|\.dylib|\b(?![./\w-]))|\S{1,80}\.so\b[\d.]*"
    r"|(?:shared|dynamic|runtime|native) (?:library|object)|library [\"'`]\w+)"
)
DEVICE = r"(?:(?:GPU|accelerator|CUDA|HIP|ROCm|OpenCL|SYCL|graphics)s?(?: (?:device|card|adapter)s?)?)"
PACKAGE = r"(?:packages?|crate|(?:Python|R|Perl|Lua|Julia|Java) (?:module|class))"
HOST = (
    r"(?:hosts?\b|hostname|scheduler|coordinator|master|controller|peer|(?:head|first) node|tcp://\S"
    r"|\d{1,3}(?:\.\d{1,3}){3}\b)"
)
FILE = r"(?:files?\b|director(?:y|ies)|folder|data ?set|script\b|namelist|[\w.~-]{0,80}/[\w./-]{2,})"
MEMORY = (
    r"(?:out of|not enough|insufficient) (?:\S+ ){0,2}memory\b(?! [a-z]+ (?:is|are|was|were)\b)"
    r"|memory allocation\b.{0,60}\bfailed"
    rf"|{NOT} allocate\b.{{0,60}}(?:\bmemory\b|\d ?(?:bytes|[KMGT]i?B)\b)"
)
SHARED_MEMORY = re.compile(r"(?i)shared memory|/dev/shm")
OF_DEVICE = re.compile(r"(?i)\b(?:GPU|device|CUDA|HIP|ROCm|HBM|VRAM|accelerator)\b")
OUTSIDE = re.compile(r"(?i)https?://|\b(?!java\.)[\w-]+\.(?:com|org|io|net|ai|edu|gov)\b(?!\.\w)")
AWAY = (
    rf"{NOT} {CONNECT}\b(?: \S+){{0,5}}? [\"'`]?{HOST}|\btime(?:d |-)?out\b.{{0,60}}\bconnect.{{0,80}}{HOST}"
    rf"|\bconnect(?:ion|ing)? .{{0,40}}{HOST}.{{0,60}}\b(?:timed out|time-?out|refused|failed)"
    r"|unknown ?host(?:exception\b|[:\"'` ]{1,3}[\w-]*[\d.][\w.-]*|\W*$)|name or service not known|no route to host"
    r"|host (?:is )?unreachable|failure in name resolution"
)


def cause_by_words(message: str) -> str:
    """The cause that the words name, or an empty text."""
    said = CALL.sub("", message[:LONGEST])
    cause = next((cause for cause, words in _read() if words.search(said)), "")
    if cause != "sched-host-oom" and OTHERWISE.search(said):
        return ""
    if cause == "sched-host-oom":
        return "" if SHARED_MEMORY.search(said) else "gpu-oom" if OF_DEVICE.search(said) else cause
    return "env-no-internet" if cause == "comm-rendezvous" and OUTSIDE.search(said) else cause


@cache
def _read() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each cause with its words, in the order they are tried: a library is a file too."""
    things = (
        ("env-shared-library", LIBRARY),
        ("gpu-not-visible", DEVICE),
        ("env-python-package", PACKAGE),
        ("env-file-missing", FILE),
    )
    absent = ((cause, re.compile(f"(?i){_absent(thing)}")) for cause, thing in things)
    return (
        ("sched-host-oom", re.compile(f"(?i){MEMORY}")),
        ("comm-rendezvous", re.compile(f"(?i){AWAY}")),
        *absent,
    )


def _absent(thing: str) -> str:
    """The ways to say that a thing is not there: no X, cannot find X, X was not found."""
    return (
        rf"\bno (?:such )?(?:[\w-]+ ){{0,3}}?{thing}\b"
        r"(?=\W*$|\s*[,:;.(]| (?:(?:is|was|are|were) )?(?:in|at|on|found|named|available|present|visible|for)\b)"
        rf"|\b{NOT} {FIND}(?:,? \S+){{0,4}}? [\"'`]?{thing}"
        rf"|\b{thing}[\"'`]?(?: \S+){{0,3}}?:? {GONE}"
    )
