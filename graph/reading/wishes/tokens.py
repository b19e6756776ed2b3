"""A text in tokens with their places: names, paths, options, addresses and times whole, numbers apart from units."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST = 400  # tokens of a text that are read; what is longer is a paste
TOKEN = re.compile(
    r"(?P<address>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<link>[a-z]{2,12}://[^\s,;)\"']*[^\s,;.)\"':!?])"
    r"|(?P<option>(?<![\w/.=-])--?[A-Za-z][\w-]*(?:\.[\w-]+)*)"
    r"|(?P<time>\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?|\d+-\d\d?:\d\d(?::\d\d)?|\d+:\d\d(?::\d\d)?)"
    r"|(?P<path>(?:~|\.{1,2}|\$\{?\w+\}?)?/(?=[\w.$@{}~])[\w.$@{}~/+%*?=-]*[\w}*/]"
    r"|(?<![\w.-])[A-Za-z_$][\w.$@{}~+%*-]*/[\w.$@{}~/+%*-]*[\w}*/]|\$\{?\w+\}?)"
    r"|(?P<cjk>[\u3040-\u30ff\u3400-\u9fff])"
    r"|(?P<number>\d+(?:\.\d+)?e[+-]?\d+|\d{1,3}(?:,\d{3})+(?![\d,])|\d+(?:\.\d+)*)"
    r"|(?P<unit>(?<=\d)[^\W\d_]+)"
    r"|(?P<name>[^\W\d](?:(?![\u3040-\u30ff\u3400-\u9fff])\w)*(?:[.+%-]+(?:(?![\u3040-\u30ff\u3400-\u9fff])\w)+)*)"
    r"|(?P<sign>\S)"
)


@dataclass(frozen=True, slots=True)
class WishToken:
    """start, end: characters of the text; kind: the name of its shape."""

    start: int
    end: int
    text: str
    kind: str


def find_tokens(text: str) -> list[WishToken]:
    """The tokens of a text in their order, the first MOST of them."""
    out = []
    for match in TOKEN.finditer(text):
        out.append(WishToken(match.start(), match.end(), match[0], match.lastgroup or "sign"))
        if len(out) == MOST:
            break
    return out
