"""What a script insists on finding before it goes on: tests for files whose failure ends it.

Files of the site are not here. A test that the script survives is left to run as it is; where it would end the script,
what is looked for is stood in for, and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from tree_sitter import Node

from graph.extraction.script import ReadScript
from graph.extraction.shell_tree import descendants, if_parts, parse, text_of
from graph.extraction.shell_words import plain
from knowledge.word_lists import word_set

ENDING = re.compile(r"exit|return|die|fail|abort|usage|error(?:_exit)?")
TEST = re.compile(
    r"(!\s+)?(?:\[\[?\s+|\btest\s+|&&\s+|\|\|\s+)?(!\s+)?-([defrsxLh])\s+(\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|\]]+)"
)
COMMAND = re.compile(r"(!\s+)?\b(?:command\s+-v|which|hash|type(?:\s+-[pPt])?)\s+([A-Za-z][\w.+-]*)")
COUNT = re.compile(r"\$\{?#\}?[\"']?\s*(?:-(lt|ne|eq)|(<|!=|==))\s*(\d)")
LOOKED_FOR = re.compile(
    r"\$\{?#|-[zn]\s+[\"']?\$\{?[1-9@*]|\$\{[1-9]:?[-+]|\bshift\b|\bgetopts?\b|\$\{?[1-9]\}?[\"']?\s*(==?|!=)"
)
OPTION = re.compile(r"(--[\w-]+)\)\s*\n?\s*([A-Za-z_]\w*)=[\"']?\$\{?2")
NUMBERED = re.compile(r"num|count|size|port|seed|epoch|batch|step|gpus|tasks|ranks|procs|nproc|layers|lr$|^-np?$")
PATH_START = re.compile(r"(?:^|[\s\"'=:(])\$\{?([A-Za-z_]\w*)\}?/", re.M)
READ = re.compile(r"\b(?:read(?:\s+-\w+)*|for|mapfile|readarray|getopts\s+\S+)\s+(\w+)")
GIVEN = re.compile(
    r"(SLURM|PBS|LSB|LS|FLUX|COBALT|OMPI|PMIX?|PALS|MPI|JSM|MV2|BASH|MAPLE)_?\w*|\w*PATH"
    r"|HOME|USER|PWD|OLDPWD|TMPDIR|SHELL|HOSTNAME|LOGNAME|LANG|CONDA_PREFIX|VIRTUAL_ENV"
)
EMPTY, NEEDED = re.compile(r"-z\s+[\"']?\$\{?([1-9])\b"), re.compile(r"\$\{([1-9]):?\?")
# Tools that read a file line by line, a loop's or a substitution's input, and what such a file is called.
READERS = word_set("sed awk head tail cut sort wc grep cat")
READ_BY = re.compile(
    r"(?:done|\$\()\s*<\s*\"?([\w./-]+)|\$\((?:sed|awk|head|tail|cut|sort|wc|cat)\s[^()|]*?\s([\w./-]+)\s*[|)]"
)
TEXT_FILE = re.compile(r"(?!/)[\w-][\w./-]*\.(txt|csv|tsv|list|lst|dat|in|inp|conf|cfg)")
RUNS_SOMETHING = re.compile(r"\$\(|`|[<>]\(")


def guards(script: str) -> tuple[str, ...]:
    """`-OPERATOR WORD` of each such test, the word as the script has it; words that run a command are left out."""
    found = [
        f"-{operator} {word}"
        for condition, plain in endings(script)
        for outer, inner, operator, word in TEST.findall(condition)
        if (not outer and not inner) == plain and not RUNS_SOMETHING.search(word)
    ]
    return tuple(dict.fromkeys(found))


def commands_wanted(script: str) -> tuple[str, ...]:
    """Commands without which the script ends: `command -v X || exit`."""
    found = [name for text, plain in endings(script) for no, name in COMMAND.findall(text) if (not no) == plain]
    return tuple(dict.fromkeys(found))


def arguments_wanted(script: str, nodes: int = 2) -> tuple[str, ...]:
    """Words in the place of the arguments that the script takes and does not look for first.

    A number where the script counts with it (the nodes of the job where it counts these); `--name word` for options
    without which it ends. None where it chooses by what an argument says.
    """
    if re.search(r"\bcase\s+[\"']?\$", script):
        return options_wanted(script)
    negated = [text for text, plain in endings(script) if not plain]
    wanted = [int(one) for one in NEEDED.findall(script)]
    for text in negated:
        wanted += [int(number) + (word == "eq" or sign == "==") for word, sign, number in COUNT.findall(text)]
        wanted += [int(number) for number in EMPTY.findall(text)]
    code = "\n".join(line for line in script.splitlines() if not line.lstrip().startswith("#"))
    if not LOOKED_FOR.search(code):
        wanted += [
            int(text_of(one).strip("${}")) for one in taken(script) if re.fullmatch(r"\$\{?[1-9]\}?", text_of(one))
        ]
    if not wanted and re.search(r"(?m)^[^\S\n]*(exec\s+)?\"?\$[@*]\"?", code):
        return ("python", "train.py")
    return tuple(stand_in_word(number, code, nodes) for number in range(1, max(wanted, default=0) + 1))


def options_wanted(script: str) -> tuple[str, ...]:
    """`--model word` for each variable that an option sets and without which the script ends."""
    options = {name: option for option, name in OPTION.findall(script)}
    ended = " ".join(text for text, plain in endings(script) if not plain)
    names = [name for name in re.findall(r"-z\s+[\"']?\$\{?([A-Za-z_]\w*)", ended) if name in options]
    return tuple(word for name in dict.fromkeys(names) for word in (options[name], f"argument-{name.lower()}"))


def taken(script: str) -> Iterator[Node]:
    """The expansions outside functions, whose arguments are their own."""
    for kind in ("simple_expansion", "expansion"):
        for node in descendants(parse(script).root_node, kind):
            above: Node | None = node
            while above is not None and above.type != "function_definition":
                above = above.parent
            if above is None:
                yield node


def stand_in_word(number: int, code: str, nodes: int) -> str:
    """A word for the argument of that number, by what it is used for."""
    use = re.search(rf"([\w-]*)[= ]+[\"']?\$\{{?{number}\b", code)
    name = (use[1] if use else "").lower()
    if re.search(r"nodes|nnodes|machines|^-?n$", name):
        return str(nodes)
    counted = re.search(rf"\(\([^)]*\$\{{?{number}\b", code) or NUMBERED.search(name)
    return "1" if counted else f"argument-{number}"


def outside(script: ReadScript) -> tuple[str, ...]:
    """Variables that the script never sets, and that begin a path or name an image: a site's or a person's folders.

    One that the script looks for first, or nearly sets (a slip of the pen), is not among them.
    """
    own = {one.name for one in script.assignments} | set(READ.findall(script.text))
    code = "\n".join(line for line in script.text.splitlines() if not line.lstrip().startswith("#"))
    images = (plain(layer.operand) for one in script.commands for layer in one.chain.layers if layer.operand)
    named = [found[1] for text in images if (found := re.fullmatch(r"\$\{?(\w+)\}?", text))]
    named += [name for name in PATH_START.findall(code) if re.search(r"[A-Z]", name)]
    return tuple(
        name
        for name in dict.fromkeys(named)
        if name not in own
        and not GIVEN.fullmatch(name)
        and not re.search(rf"\$\{{{name}:?[-+=?]|-[zn]\s+[\"']?\$\{{?{name}\b|-v\s+{name}\b", code)
        and not get_close_matches(name, own, 1, 0.88)
    )


def files_read(script: ReadScript) -> tuple[str, ...]:
    """Text files of the script's own folder that the shell, or a tool of its, reads, and that nothing above writes."""
    written = {one.name for one in script.documents}
    found: list[str] = []
    for command in script.commands:
        redirects = " ".join(command.redirects)
        written |= set(re.findall(r">>?\|?\s*([\w./-]+)", redirects))
        named = re.findall(r"(?<![<\d])<\s*([\w./-]+)", redirects)
        named += command.argv[-1:] if command.name in READERS and len(command.argv) > 1 else []
        found += [name for name in named if name not in written]
    code = "\n".join(line for line in script.text.splitlines() if not line.lstrip().startswith("#"))
    found += [name for both in READ_BY.findall(code) for name in both if name and name not in written]
    return tuple(name for name in dict.fromkeys(found) if TEXT_FILE.fullmatch(name) and ".." not in name)


def endings(script: str) -> Iterator[tuple[str, bool]]:
    """(condition, plain): the script ends where what it says fails (plain), or where it holds."""
    root = parse(script).root_node
    for node in descendants(root, "list"):  # `[ -d X ] || exit` and `[ ! -d X ] && exit`
        if len(node.children) == 3 and ends([node.children[2]]):
            yield text_of(node.children[0]), text_of(node.children[1]) == "||"
    for node in descendants(root, "if_statement"):  # `if [ ! -d X ]; then exit; fi`, and an else that ends the script
        before: list[Node] = []
        for condition, body in if_parts(node):
            if ends(body):
                yield from ((text_of(one), not condition) for one in (condition or before))
            before += condition


def ends(nodes: list[Node]) -> bool:
    return any(ENDING.fullmatch(text_of(name)) for node in nodes for name in names(node))


def names(node: Node) -> Iterator[Node]:
    """The names of the commands in a node."""
    if node.type == "command_name":
        yield node
    yield from descendants(node, "command_name")
