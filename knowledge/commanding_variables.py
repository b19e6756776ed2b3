"""Variables that change which programs a job runs, not how they run: setting one is never passed over in silence."""

from __future__ import annotations

import re

FIRST_LOADED = "every program of the job loads it first: set it only to a library that you know"
FIRST_RUN = "every shell of the job runs that file first: set it only to a file that you know"
COMMANDING = {
    "LD_PRELOAD": FIRST_LOADED,
    "LD_AUDIT": FIRST_LOADED,
    "BASH_ENV": FIRST_RUN,
    "ENV": FIRST_RUN,
}
SEARCHED = {
    "PATH": "the commands of the system and of your modules are not found any more; keep them with `PATH=NEW:$PATH`",
}
"""Lists of folders: a value that leaves out the old one replaces it."""


def consequence(name: str, value: str) -> str:
    """What setting that variable to that value does to the job's programs; empty for all others."""
    if name in SEARCHED:
        return "" if re.search(rf"\$\{{?{name}\b", value) else SEARCHED[name]
    return COMMANDING.get(name, "") if value else ""
