"""Where commands run: on this computer, or on a login node through the person's own `ssh`.

Commands are argument vectors. For ssh, whose far side is always a shell, each word is quoted once, here.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from knowledge.errors import InputError, UnavailableError
from knowledge.types import SideFile
from templates.quoting import shell_word

HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@%:-]*")
# Seconds for one command. Logging in may take a person a minute: password, one-time code.
PATIENCE = 300
SSH_FAILED = 255


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command left: its exit code, and what it wrote."""

    code: int
    output: bytes
    errors: str


@dataclass(frozen=True, slots=True)
class Reach:
    """Runs commands in the trial's folder. host None: this computer. A leading $SCRATCH or ~ of folder is expanded.

    Raises InputError on a name that is no host's, such as one that ssh would take for an option.
    """

    folder: str
    host: str | None = None
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.host is not None and not HOST.fullmatch(self.host):
            raise InputError(f"'{self.host[:60]}' is no host name; write it as you would for ssh")

    def words(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The command as it is really run; here it runs inside the folder."""
        if self.host is None:
            return tuple(argv)
        return self.over_ssh(f"cd {shell_word(self.folder)} && {shlex.join(argv)}")

    def shown(self, argv: Sequence[str]) -> str:
        """The same as a line that a person can type."""
        if self.host is None:
            return f"cd {shell_word(self.folder)} && {shlex.join(argv)}"
        return shlex.join(["ssh", self.host, self.words(argv)[-1]])

    @property
    def sending(self) -> str:
        """How the files get there, for a person to read."""
        if self.host is None:
            return f"written to the new folder {self.folder} on this computer"
        return f"tar -cf - FILES | {shlex.join(['ssh', self.host, at_login(self.receiving())])}"

    def run(self, argv: Sequence[str]) -> CommandResult:
        """Raises UnavailableError where the command or the host is not there."""
        return finished(self.words(argv), self.host, here(self.folder) if self.host is None else None)

    def send(self, files: Sequence[SideFile]) -> None:
        """Make the folder, which must be new, and write the files into it."""
        if self.host is None:
            write_here(here(self.folder), files)
            return
        done = finished(self.over_ssh(self.receiving()), self.host, None, packed(files))
        if done.code:
            raise UnavailableError(f"{self.host} does not take the files: {last_line(done.errors)}; try --folder")

    def receiving(self) -> str:
        """The far side's command that unpacks what is sent; only the last folder must be new."""
        above, _, _ = self.folder.rpartition("/")
        make = f"mkdir -p {shell_word(above)} && " if above else ""
        place = shell_word(self.folder)
        return f"{make}mkdir {place} && cd {place} && tar -xf -"

    def over_ssh(self, command: str) -> tuple[str, ...]:
        return ("ssh", *self.options, "--", self.host or "", at_login(command))


def at_login(command: str) -> str:
    """The command in a login shell: sites put sbatch, qsub and $SCRATCH there. It also makes every far shell bash."""
    return f"bash -lc {shlex.quote(command)}"


def here(folder: str) -> Path:
    """The folder on this computer, its variables and ~ expanded. Raises InputError on an unset variable."""
    path = os.path.expandvars(Path(folder).expanduser())
    if "$" in path:
        raise InputError(f"{path} holds a variable that is not set; give --folder another path")
    return Path(path)


def write_here(folder: Path, files: Sequence[SideFile]) -> None:
    try:
        folder.mkdir(parents=True)
        for file in files:
            (folder / file.name).write_text(file.text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write to {folder} ({error.strerror}); give --folder another path") from error


def packed(files: Sequence[SideFile]) -> bytes:
    """The files as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in files:
            data = file.text.encode()
            entry = tarfile.TarInfo(file.name)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def finished(words: Sequence[str], host: str | None, folder: Path | None, given: bytes = b"") -> CommandResult:
    """Run a command to its end.

    stderr goes to a file: a connection that ssh leaves in the background holds it open, and a pipe would not end.
    """
    try:
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(
                words, cwd=folder, input=given, stdout=subprocess.PIPE, stderr=said, timeout=PATIENCE, check=False
            )
            said.seek(0)
            errors = said.read().decode("utf-8", "replace")
    except FileNotFoundError as error:
        if folder is not None and not folder.is_dir():
            raise UnavailableError(f"the folder {folder} is gone; submit again") from error
        what = "a login node with --host" if host is None else "the machine's login node itself"
        raise UnavailableError(f"there is no {words[0]} on this computer; use {what}") from error
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{words[0]} gave no answer within {PATIENCE} s; try again") from error
    if host is not None and done.returncode == SSH_FAILED:
        raise UnavailableError(f"ssh {host} fails: {last_line(errors)}; try `ssh {host}` by hand")
    return CommandResult(done.returncode, done.stdout, errors)


def last_line(text: str) -> str:
    """The last words of a command, fit for a terminal."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "".join(c if c.isprintable() else " " for c in lines[-1])[:300] if lines else "no words"


@contextmanager
def reaching(host: str | None, folder: str) -> Iterator[Reach]:
    """A way to the machine. Over ssh one login serves all commands, by the person's own settings or else by ours."""
    plain = Reach(folder, host)
    if host is None or shares_connection(host):
        yield plain
        return
    with tempfile.TemporaryDirectory(prefix="maple-ssh-") as place:
        options = ("-o", "ControlMaster=auto", "-o", "ControlPersist=900", "-o", f"ControlPath={place}/%C")
        try:
            yield Reach(folder, host, options)
        finally:
            finished(("ssh", *options, "-O", "exit", "--", host), None, None)


def shares_connection(host: str) -> bool:
    """Whether the person's ssh settings share one connection to that host already."""
    settings = finished(("ssh", "-G", "--", host), None, None).output.decode("utf-8", "replace").lower()
    path = re.search(r"^controlpath (?!none$)", settings, re.M)
    return bool(path and re.search(r"^controlmaster (auto|yes|true|ask)", settings, re.M))
