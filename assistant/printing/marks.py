"""What is strong or stressed in a line of Markdown, after CommonMark's rule of flanking: the words inside touch their
marks. A mark beside a sign of a path or an operator is none, so that `logs/* old/*` and `2**3` stay as they are.
https://spec.commonmark.org/0.31.2/#emphasis-and-strong-emphasis
"""

from __future__ import annotations

import re

BEFORE, AFTER = r"(?<![\w*/\\.\])}$~-])", r"(?![\w*/\\])"
STRONG = re.compile(rf"{BEFORE}\*\*(?=[^\s*])(.+?)(?<=[^\s*])\*\*{AFTER}", re.S)
EMPHASIS = re.compile(rf"{BEFORE}\*(?=[\w`\"'(<\[$-])([^*\n]+?)(?<=[^\s/])\*{AFTER}")
