"""The jail proves itself before a script starts, says what it could not close, and bounds what a script takes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from graph.extraction.script import read_script
from graph.verification.rehearsal.rehearsing import refuse_unproved
from graph.verification.simulator import isolation as isolations
from graph.verification.simulator import records, stage
from graph.verification.simulator.allocation import allocation
from graph.verification.simulator.config import TOO_MUCH, UNPROVED
from graph.verification.simulator.isolation import WAYS_OUT, Isolation
from graph.verification.simulator.jail import attempts, limits, seccomp
from graph.verification.simulator.jail.kernel import landlock_version
from graph.verification.simulator.running import Ran, folder, run
from knowledge.catalogue import catalogue
from knowledge.errors import UnavailableError, UnprovenJailError

ATTEMPTS = Path(attempts.__file__)
HEAD = "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -C gpu\n#SBATCH --gpus-per-node=4\n"
JAILS = ("namespaces", "landlock 7", "landlock 6", "landlock 5", "landlock 4", "landlock 3")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are jails on Linux alone")


def jailed(jail: str, body: str, accepted: tuple[str, ...] = (), timeout: float = 30) -> Ran:
    """A script of two nodes in that jail, with nothing to train."""
    isolation: Isolation = "namespaces" if jail == "namespaces" else "landlock"
    abi = int(jail.split()[1]) if isolation == "landlock" else None
    if isolation == "namespaces" and isolations.available() != "namespaces":
        pytest.skip("no namespaces on this computer")
    if abi and (landlock_version() < abi or not seccomp.known()):
        pytest.skip(f"no Landlock {abi} on this computer")
    cluster = catalogue().find("perlmutter")
    assert cluster
    script = read_script(HEAD + body)
    job = allocation(script, cluster)
    facts = stage.stand_in(cluster, script, job, "pytorch", "ddp", 2, None, isolation, (), frozenset())
    with folder() as place:
        inside = stage.IN_NAMESPACES if isolation == "namespaces" else str(place)
        stage.fill(place, inside, HEAD + body, "job.sh", (), replace(facts, preload=(), max_processes=150))
        return run(place, isolation, timeout, lambda _: None, accepted=accepted, abi=abi)


def test_without_a_jail_every_attempt_gets_through(tmp_path: Path) -> None:
    """What is held in a jail is held by the jail."""
    reading, writing = os.pipe()
    with isolations.targets(writing) as targets:
        done = subprocess.run(
            [sys.executable, "-IS", str(ATTEMPTS), json.dumps(targets)],
            capture_output=True, check=True, pass_fds=[writing], cwd=tmp_path, start_new_session=True,
        )  # fmt: skip
    os.close(reading)
    os.close(writing)
    # Where the tests themselves run in a container, parts of it may be closed already; files never are.
    found = set(json.loads(done.stdout)["open"])
    assert {"write-outside", "read-outside", "path-socket", "network", "signals", "other-processes"} <= found
    assert set(attempts.ATTEMPTS) | {"unknown"} == set(WAYS_OUT)


@pytest.mark.parametrize("jail", JAILS)
@pytest.mark.broke("path socket", "prlimit", "signals", "System V")
def test_every_way_out_is_tried_and_closed(jail: str) -> None:
    ran = jailed(jail, "exit 7\n")
    (proved,) = [one for one in ran.records if one["kind"] == "proved"]
    assert (proved["open"], set(proved["held"])) == ([], set(attempts.ATTEMPTS))
    assert ran.code == 7


@pytest.mark.broke("not named")
def test_landlock_too_old_or_absent_is_no_jail() -> None:
    for version in (0, 1, 2):
        with pytest.raises(UnavailableError, match="3 is needed"):
            isolations.landlock(version)


OPENED = """
import sys
sys.path.insert(0, sys.argv[1])
sys.argv = ["jail.py", *sys.argv[1:]]
from graph.verification.simulator.jail import jail, seccomp
seccomp.install = lambda landlocked, asked: -1
jail.can_be_asked = lambda: False
sys.exit(jail.main())
"""


@pytest.mark.broke("not named")
def test_a_jail_with_holes_names_them_and_asks_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Landlock without its filter: what is open is found, and the script starts only where all of it was accepted."""
    if landlock_version() < 3:
        pytest.skip("no Landlock")
    program = tmp_path / "open_jail.py"
    program.write_text(OPENED)
    monkeypatch.setattr("graph.verification.simulator.running.JAIL", program)
    ran = jailed("landlock 5", "touch started\necho STARTED\n")
    (proved,) = [one for one in ran.records if one["kind"] == "proved"]
    assert {"path-socket", "network", "signals"} <= set(proved["open"])
    assert (ran.code, "STARTED" in ran.output) == (UNPROVED, False)
    with pytest.raises(UnprovenJailError, match=r"docker, tmux.*--accept") as refused:
        refuse_unproved(ran)
    assert refused.value.ways == tuple(proved["open"])
    assert "STARTED" not in jailed("landlock 5", "echo STARTED\n", refused.value.ways[1:]).output
    agreed = jailed("landlock 5", "echo STARTED\n", refused.value.ways)
    assert "STARTED" in agreed.output
    refuse_unproved(agreed)


@pytest.mark.broke("not named")
def test_a_jail_that_cannot_be_tried_counts_as_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "mute.py"
    broken.write_text(
        OPENED.replace(
            "seccomp.install =", "jail.attempt = lambda *_: {'held': [], 'open': ['unknown'], 'tried': 0}\n#"
        )
    )
    monkeypatch.setattr("graph.verification.simulator.running.JAIL", broken)
    assert jailed("namespaces", "echo STARTED\n").code == UNPROVED


@pytest.mark.parametrize("jail", ["namespaces", "landlock 4"])
def test_what_scripts_do_among_themselves_still_works(jail: str) -> None:
    """Signals to one's own, a server of one's own, sockets by a path and pairs: the warden lets them through."""
    body = """
trap 'echo GOT TERM' TERM
kill -TERM $$
sleep 100 & server=$!
kill -0 $server && kill $server; wait $server; echo "ended $?"
(trap '' TERM; setsid sleep 100 & echo $! > group; wait) & while [ ! -s group ]; do sleep 0.1; done
kill -9 -- -$(cat group) && echo KILLED GROUP
/usr/bin/python3 - <<'END'
import os, signal, socket, threading
with socket.create_server(("127.0.0.1", 0)) as server:
    client = socket.create_connection(server.getsockname())
    server.accept()[0].send(b"tcp")
    print(client.recv(9))
path = socket.socket(socket.AF_UNIX); path.bind("own"); path.listen()
other = socket.socket(socket.AF_UNIX); other.connect("own"); path.accept()[0].send(b"path"); print(other.recv(9))
one, two = socket.socketpair(); one.send(b"pair"); print(two.recv(9))
signal.signal(signal.SIGUSR1, lambda *_: print("USR1", flush=True)); signal.raise_signal(signal.SIGUSR1)
signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
os.abort()
END
echo "aborted $?"
"""
    output = jailed(jail, body).output
    for said in ("GOT TERM", "ended 143", "KILLED GROUP", "b'tcp'", "b'path'", "b'pair'", "USR1\nUSR1", "aborted 134"):
        assert said in output, output


HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x9b31m\u202eevil\u2066"


@pytest.mark.parametrize("jail", ["namespaces", "landlock 5"])
@pytest.mark.broke("forged records", "terminal codes")
def test_the_script_cannot_write_records(jail: str) -> None:
    body = f"""
for folder in . .. "$MAPLE_REHEARSAL_BIN/.." /stand-in; do echo '{{"kind": "rank"}}' >> "$folder/records.jsonl"; done
/usr/bin/python3 - <<'END'
import glob, os
for place in glob.glob("/proc/[0-9]*/fd/*"):
    try:
        opened = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
        os.write(opened, b'{{"kind": "crashed", "name": "forged", "says": "x"}}')
    except OSError:
        pass
END
printf '%b' '{HOSTILE.encode("unicode_escape").decode().replace("x9b", "u009b")}'
module load "$(printf '\\033]52;c;ZXZpbA==\\007gcc')"
"""
    ran = jailed(jail, body)
    assert not any(one.get("name") == "forged" or one["kind"] == "rank" for one in ran.records)
    assert [one["words"] for one in ran.records if one["kind"] == "shell"] == [["load", "gcc"]]
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", json.dumps(ran.records) + ran.output
    )


@pytest.mark.parametrize(
    "message",
    [
        b"", b"{", b"[1]", b'"end"', b'{"kind": "end"}', b'{"kind": "end", "code": "1"}', b'{"kind": ["end"]}',
        b'{"kind": "launch", "launcher": 1}', b'{"kind": "nothing"}', b"[" * 100_000, b'{"kind": "end", "code": 1e999}',
        b'{"kind": "shell", "what": "x", "words": [["deep"]]}', b'{"kind": "end", "code": true}', b"\xff\xfe",
        b'{"kind": "lost", "says": "' + b"x" * 70_000 + b'"}',
    ],
)  # fmt: skip
@pytest.mark.broke("odd records")
def test_a_record_of_another_form_is_left_out(message: bytes) -> None:
    assert records.received(message) is None


@pytest.mark.broke("odd records")
def test_a_long_record_is_cut_and_not_lost() -> None:
    import socket

    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with one, other:
        records.send(one.fileno(), "program", {"program": "train.py", "words": ["w" * 5000] * 1000})
        found = records.received(other.recv(1 << 20))
    assert found and found["program"] == "train.py" and found["words"]


@pytest.mark.parametrize("jail", ["namespaces", "landlock 6"])
@pytest.mark.broke("odd records")
def test_a_flood_of_records_is_bounded(jail: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_RECORDS", 20)
    ran = jailed(jail, "for i in $(seq 20); do curl $i; done\n")
    assert len(ran.records) == 20
    assert ran.left_out > 0


@pytest.mark.parametrize("jail", ["namespaces", "landlock 6"])
@pytest.mark.broke("disk")
def test_the_disk_is_not_filled(jail: str) -> None:
    """400 MB at a time, in every folder that can be written; also in files that have no name any more."""
    before = os.statvfs("/tmp").f_bavail * os.statvfs("/tmp").f_frsize
    body = "for f in . .. ../.. $HOME $SCRATCH $TMPDIR /tmp /dev/shm /stand-in; do\n"
    body += "dd if=/dev/zero of=$f/big$RANDOM bs=1M count=200; done\n"
    ran = jailed(jail, body + body + "exec 9>hidden; rm hidden; yes >&9; sleep 5\n")
    if jail == "namespaces":
        assert "No space left on device" in ran.output
    else:
        assert (ran.code, [one["what"] for one in ran.records if one["kind"] == "limit"]) == (TOO_MUCH, ["disk"])
    after = os.statvfs("/tmp").f_bavail * os.statvfs("/tmp").f_frsize
    assert before - after < 3 * limits.MOST_DISK


@pytest.mark.parametrize("jail", ["namespaces", "landlock 6"])
@pytest.mark.broke("memory")
def test_memory_is_not_filled(jail: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "most_memory", lambda: 300 << 20)
    one = "/usr/bin/python3 -c 'import time; kept = bytearray(b\"x\") * (120 << 20); time.sleep(9)' &\n"
    ran = jailed(jail, one * 4 + "wait\necho ALL HELD\n")
    assert (ran.code, "ALL HELD" in ran.output) == (TOO_MUCH, False)
    assert [one["what"] for one in ran.records if one["kind"] == "limit"] == ["memory"]
    alone = jailed(jail, "/usr/bin/python3 -c 'bytearray(400 << 20)'\n")
    assert "MemoryError" in alone.output


SHARED = """/usr/bin/python3 - <<'END'
import mmap, os, time
{make}
time.sleep(9)
print("ALL HELD")
END
"""


@pytest.mark.parametrize("jail", ["namespaces", "landlock 6"])
@pytest.mark.parametrize(
    "make",
    [
        "kept = mmap.mmap(-1, 400 << 20); [kept.__setitem__(n, 1) for n in range(0, len(kept), 4096)]",
        "kept = [os.memfd_create(str(n)) for n in range(4)]; [os.write(one, b'x' * (150 << 20)) for one in kept]",
    ],
)
@pytest.mark.broke("memory")
def test_memory_that_is_shared_or_a_file_counts_too(jail: str, make: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "most_memory", lambda: 300 << 20)
    ran = jailed(jail, SHARED.format(make=make))
    assert (ran.code, "ALL HELD" in ran.output) == (TOO_MUCH, False)


STARTED = """
import sys, json
sys.path[:0] = json.loads(sys.argv[1])
import importlib.util
spec = importlib.util.spec_from_file_location("jail_tests", sys.argv[2])
tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tests)
tests.jailed(sys.argv[3], f"sleep {sys.argv[4]} & setsid sleep {sys.argv[4]} & sleep {sys.argv[4]}\\n")
"""


@pytest.mark.parametrize("jail", ["namespaces", "landlock 5"])
def test_nothing_lives_on_where_the_program_is_killed(jail: str) -> None:
    mark = str(90_000 + os.getpid())
    paths = [str(stage.PROJECT), *(path for path in sys.path if path)]
    words = [sys.executable, "-c", STARTED, json.dumps(paths), __file__, jail, mark]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as program:
        assert eventually(lambda: running(mark) == 3 or program.poll() is not None)
        program.kill()
    assert eventually(lambda: running(mark) == 0)


def running(mark: str) -> int:
    """How many processes sleep for that many seconds."""
    found = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            found += entry.name.isdigit() and (entry / "cmdline").read_bytes() == f"sleep\0{mark}\0".encode()
    return found


def eventually(holds: Callable[[], bool], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)
    return holds()


def test_the_filter_has_the_kernels_numbers() -> None:
    header = Path("/usr/include/asm-generic/unistd.h")  # the numbers of AArch64
    if not header.is_file():
        pytest.skip("no kernel headers here")
    listed = dict(re.findall(r"#define __NR_?(?:3264_)?(\w+)\s+(\d+)", header.read_text()))
    for name, number in seccomp.NUMBERS["aarch64"].items():
        assert listed[name] == str(number), name


AS_ANOTHER = """
import ctypes, json, os, struct, sys
sys.path[:0] = json.loads(sys.argv[1])
from pathlib import Path
from graph.verification.simulator.jail import kernel
# What lies in a folder of root's (its Python, say) is shown to the other user, in a view of the files of our own.
kernel.unshare(kernel.CLONE_NEWNS)
kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
shown = {path: os.open(path, os.O_PATH) for path in map(os.path.realpath, json.loads(sys.argv[2]))}
closed = {next(str(one) for one in reversed(Path(path).parents) if not one.stat().st_mode & 1) for path in shown}
for path in closed:
    kernel.mount("tmpfs", path, "tmpfs", data="mode=755")
for path, place in shown.items():
    os.makedirs(path, exist_ok=True)
    kernel.mount(f"/proc/self/fd/{place}", path, flags=kernel.MS_BIND)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
kernel.no_new_privileges()
# As where user namespaces are off: unshare(2) and clone with CLONE_NEWUSER fail.
from graph.verification.simulator.jail import seccomp as s
unshare = {"x86_64": 272, "aarch64": 97}[os.uname().machine]
code = b"".join([s.step(s.LOAD, 0), *s.one_of([unshare], s.give(s.REFUSE)), *s.give(s.ALLOW)])
program = s.FilterProgram(len(code) // 8, code)
assert ctypes.CDLL(None).prctl(22, 2, ctypes.byref(program), 0, 0) == 0
import tempfile
from graph.verification.simulator import isolation, running
assert isolation.available() == "landlock", isolation.available()
import importlib.util
spec = importlib.util.spec_from_file_location("jail_tests", sys.argv[3])
tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tests)
for abi in (6, 5, 4, 3):
    ran = tests.jailed(f"landlock {abi}", "id -u; exit 7\\n")
    proved = [one for one in ran.records if one["kind"] == "proved"]
    print(json.dumps([abi, os.getuid(), ran.code, proved, ran.output[-300:]]))
# As where Landlock is off, too: landlock_create_ruleset fails.
code = b"".join([s.step(s.LOAD, 0), *s.one_of([444], s.give(s.REFUSE)), *s.give(s.ALLOW)])
program = s.FilterProgram(len(code) // 8, code)
assert ctypes.CDLL(None).prctl(22, 2, ctypes.byref(program), 0, 0) == 0
from knowledge.errors import UnavailableError
for ask in (isolation.required, lambda: tests.jailed("landlock 4", "echo STARTED")):
    try:
        print(json.dumps(["none", "started", str(ask())]))
    except UnavailableError as error:
        print(json.dumps(["none", os.getuid(), 0, str(error)]))
    except BaseException as error:
        print(json.dumps(["none", os.getuid(), type(error).__name__, str(error)]))
"""


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can become another user")
@pytest.mark.broke("another user")
def test_another_user_without_user_namespaces(tmp_path: Path) -> None:
    """At ABI 6, 5, 4 and 3, by a user who owns nothing here: every promise is kept. Without Landlock nothing runs."""
    if landlock_version() < 3:
        pytest.skip("no Landlock")
    paths = [str(stage.PROJECT), *(path for path in sys.path if path)]
    shown = [path for path in (*paths, *stage.bound_paths()) if Path(path).exists() and not readable_by_all(Path(path))]
    done = subprocess.run(
        [sys.executable, "-c", AS_ANOTHER, json.dumps(paths), json.dumps(shown), __file__],
        capture_output=True, text=True, check=False, cwd="/", env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
    )  # fmt: skip
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    *jails, none, skipped = rows
    assert [row[:3] for row in jails] == [[abi, 65534, 7] for abi in (6, 5, 4, 3)], done.stdout + done.stderr
    assert none[:3] == ["none", 65534, 0] and "could keep the script in its folder" in none[3]
    assert skipped[:3] == ["none", 65534, "Skipped"]
    for _, _, _, (proved,), _ in jails:
        assert (proved["open"], set(proved["held"])) == ([], set(attempts.ATTEMPTS))


def readable_by_all(path: Path) -> bool:
    return all(one.stat().st_mode & 0o1 for one in (path.resolve(), *path.resolve().parents))
