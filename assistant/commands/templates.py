"""`maple-chat templates`: list, search, show, add and remove templates."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Sequence
from datetime import date
from typing import Any

from assistant.errors import InputError
from assistant.printing.terminal import overwrite
from assistant.settings import read_settings
from assistant.stores import open_library
from knowledge.opening import LARGEST_SCRIPT, read_plain
from knowledge.types import FRAMEWORKS, SCHEDULERS, STRATEGIES
from templates import saved
from templates.library import Library, Match
from templates.records import Saved, Template


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|search|show|add|remove")
    listing = actions.add_parser("list", help="all templates, or those of a machine, framework or strategy")
    search = actions.add_parser("search", help="the templates that fit words and facts best")
    search.add_argument("text", metavar="TEXT", nargs="?", default="", help="in your own words")
    for one in (listing, search):
        one.add_argument("--machine")
        one.add_argument("--framework", choices=FRAMEWORKS)
        one.add_argument("--strategy", choices=STRATEGIES)
        one.add_argument("--scheduler", choices=SCHEDULERS)
        one.add_argument("--gpu", metavar="NAME", help="vendor or model, such as A100 or amd")
    listing.add_argument("--saved", action="store_true", help="only what people saved")
    search.add_argument("--limit", type=int, default=5)
    show = actions.add_parser("show", help="one template: its facts, and its script when it was saved")
    show.add_argument("id", metavar="ID")
    show.add_argument("--script", action="store_true", help="the saved script alone")
    add = actions.add_parser("add", help="save a script that worked; it then competes")
    add_add_arguments(add)
    remove = actions.add_parser("remove", help="remove a saved template")
    remove.add_argument("id", metavar="ID")
    for one in (listing, search, show, add, remove):
        one.add_argument("--json", action="store_true")


def add_add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the job script; - reads standard input")
    parser.add_argument("--machine", required=True, help="a machine of `maple-chat clusters`, or another's name")
    parser.add_argument("--framework", required=True, choices=FRAMEWORKS)
    parser.add_argument("--strategy", required=True, choices=STRATEGIES)
    parser.add_argument("--evidence", default="", help="what shows that it works, such as 'ran on 4 nodes, job 1234'")
    parser.add_argument("--who", default="", help="who vouches for it; default: you")
    parser.add_argument("--words", default="", help="what it is good for, in your own words")
    parser.add_argument("--node-type", help="as `maple-chat clusters NAME` lists them")
    parser.add_argument("--scheduler", choices=SCHEDULERS, help="where neither machine nor script tells it")


def run(options: argparse.Namespace) -> int:
    library = open_library(read_settings().data)
    if sys.stderr.isatty():
        library.index.progress = tell
    actions = {"list": list_, "search": search, "show": show, "add": add, "remove": remove}
    code = actions[options.action](library, options)
    for notice in library.notices:
        print(f"note: {notice}", file=sys.stderr)
    return code


def list_(library: Library, options: argparse.Namespace) -> int:
    chosen = library.choose(
        cluster=options.machine,
        framework=options.framework,
        strategy=options.strategy,
        scheduler=options.scheduler,
        gpu=options.gpu,
        saved_only=options.saved,
    )
    if options.json:
        print(json.dumps([as_json(one) for one in chosen], ensure_ascii=False))
    elif chosen:
        print(listing(chosen))
    else:
        print("maple-chat: no template has all of these; leave one out", file=sys.stderr)
    return 0 if chosen else 1


def search(library: Library, options: argparse.Namespace) -> int:
    take_facts(options)
    matches = library.find(
        cluster=options.machine,
        framework=options.framework,
        strategy=options.strategy,
        scheduler=options.scheduler,
        gpu=options.gpu,
        words=options.text,
        limit=max(1, options.limit),
    )
    if options.json:
        print(json.dumps([match_json(match) for match in matches], ensure_ascii=False))
    elif matches:
        print(found(matches))
    else:
        print("maple-chat: nothing fits; use other words or fewer facts", file=sys.stderr)
    return 0 if matches else 1


def tell(done: int, total: int) -> None:
    """One line that counts up while the index is built, and goes away."""
    overwrite(f"making the search index, once: {done} of {total}" if done < total else "")


def take_facts(options: argparse.Namespace) -> None:
    """Machine, framework and strategy that the words name become exact facts, where no option gives them."""
    if not options.text:
        return
    from graph.extraction.request import understand  # only a search needs the rules

    heard = understand(options.text, None, None, None).request
    for field in ("machine", "framework", "strategy"):
        value = getattr(heard, field)
        fits = field == "machine" or value in (FRAMEWORKS if field == "framework" else STRATEGIES)
        if value and fits and getattr(options, field) is None:
            setattr(options, field, value)
            print(f"taken from your words: {field} {value}", file=sys.stderr)


def show(library: Library, options: argparse.Namespace) -> int:
    template = library.get(options.id)
    script = library.script(template)
    if options.json:
        print(json.dumps({**as_json(template), "script": script}, ensure_ascii=False))
    elif script is None:
        print(facts(template))
        print(f"write it: {how_to_write(template)}", file=sys.stderr)
    else:
        print(script if options.script else f"{facts(template)}\n\n{script}", end="")
    return 0


def add(library: Library, options: argparse.Namespace) -> int:
    script = saved.checked(read(options.file), "standard input" if options.file == "-" else options.file)
    wish = saved.SavingWish(
        machine=options.machine,
        framework=options.framework,
        strategy=options.strategy,
        who=options.who or getpass.getuser(),
        when=date.today(),
        evidence=options.evidence,
        words=options.words,
        node_type=options.node_type,
        scheduler=options.scheduler,
    )
    added = library.add(wish, script)
    print(json.dumps(as_json(added), ensure_ascii=False) if options.json else added.id)
    if not options.evidence:
        print("note: saved without evidence, it ranks below what is shipped; --evidence lifts it", file=sys.stderr)
    return 0


def read(name: str) -> bytes:
    """The bytes of a file, or of standard input for "-". Raises InputError."""
    try:
        return sys.stdin.buffer.read() if name == "-" else read_plain(name, LARGEST_SCRIPT)
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from error


def remove(library: Library, options: argparse.Namespace) -> int:
    removed = library.remove(options.id)
    print(json.dumps(as_json(removed), ensure_ascii=False) if options.json else f"removed {removed.id}")
    return 0


# Templates as people read them, and as JSON.


def listing(templates: Sequence[Template]) -> str:
    """A table: id, launcher, GPU, and where each comes from."""
    rows = [("id", "launcher", "GPU", "from")]
    rows += [(one.id, one.launcher or "?", one.gpu_model or "?", origin(one)) for one in templates]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        "  ".join([*(f"{text:<{width}}" for text, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    )


def origin(template: Template) -> str:
    """Where it comes from, in a few words."""
    if isinstance(template.provenance, Saved):
        saved = template.provenance
        return f"{saved.who}, {saved.when}: {saved.evidence or 'no evidence'}"
    return f"facts of {template.provenance.as_of}" + ("" if template.provenance.documented else ", our reading")


def found(matches: Sequence[Match]) -> str:
    """Best first: id, why it is offered, and, for a machine that nobody described, what to find out."""
    lines = [f"{match.template.id}\n    {match.why}" for match in matches]
    if matches and matches[0].questions:
        lines.append("\nTo make it certain:")
        for question in matches[0].questions:
            choices = f" ({' / '.join(question.options)})" if question.options else ""
            lines.append(f"  - {question.text}{choices}")
    return "\n".join(lines)


def facts(template: Template) -> str:
    """All that is known of one template."""
    gpus = f"{template.gpus_per_node or '?'} x {template.gpu_model or '?'} a node"
    lines = [
        f"id         {template.id}",
        f"machine    {template.cluster}" + (f", node type {template.node_type}" if template.node_type else ""),
        f"runs       {template.framework} {template.strategy}",
        f"scheduler  {template.scheduler}",
        f"launcher   {template.launcher or 'not seen in the script'}",
        f"GPUs       {gpus}",
        f"from       {origin(template)}",
    ]
    if isinstance(template.provenance, Saved):
        return "\n".join([*lines, f"file       {template.provenance.path}"])
    return "\n".join([*lines, *(f"source     {source}" for source in template.provenance.sources)])


def how_to_write(template: Template) -> str:
    """The command that writes a shipped template's script."""
    return (
        f"maple-chat script --machine {template.cluster} --framework {template.framework} "
        f"--strategy {template.strategy} --nodes 2"
    )


def as_json(template: Template) -> dict[str, Any]:
    kind = "saved" if isinstance(template.provenance, Saved) else "shipped"
    names = [name for name in Template.__slots__ if name != "provenance"]
    origin_names = type(template.provenance).__slots__
    provenance = {name: getattr(template.provenance, name) for name in origin_names}
    return {
        **{name: getattr(template, name) for name in names},
        "provenance": {"kind": kind, **provenance, **({"path": str(provenance["path"])} if kind == "saved" else {})},
    }


def match_json(match: Match) -> dict[str, Any]:
    asked = [{"field": q.field, "text": q.text, "options": list(q.options)} for q in match.questions]
    return {
        "template": as_json(match.template),
        "exact": match.exact,
        "verified": match.verified,
        "score": match.score,
        "why": match.why,
        "questions": asked,
    }
