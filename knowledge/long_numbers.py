"""Numbers of others: one of thousands of digits is cut before anything counts with it.

Python refuses to read a number of more than 4,300 digits, and one of more than 308 is no float any more: wherever a
text's number is used, that would be an error of ours.
"""

from __future__ import annotations

import re

# Also the product of a few of these is a float still.
LONG = re.compile(r"\d{61,}")
KEPT = 18


def short_numbers(text: str) -> str:
    """The text with each number of more than 60 digits cut to its first 18; nobody's count of anything is one."""
    return LONG.sub(lambda found: found[0][:KEPT], text)
