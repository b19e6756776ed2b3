"""The process that reads pages (parser.py starts it): limits first, then one request after another."""

from __future__ import annotations

import ctypes
import io
import json
import os
import pickle
import resource
import struct
import sys
import time
from typing import Any

import yaml

from knowledge.ingest.page import NoTextError, UnreadableError, scalar
from knowledge.ingest.reading import read

MOST_MEMORY = 2 << 30
RECURSION = 3000
# Text in a dump, by which its pickle may grow: names and places of calls stand in it once.
LARGER = 100
# Calls that no reader needs, by their numbers in the kernel's asm/unistd.h: socket, connect, execve, execveat, kill,
# ptrace, io_uring_setup.
REFUSED = {
    "x86_64": (0xC000003E, (41, 42, 59, 322, 62, 101, 425)),
    "aarch64": (0xC00000B7, (198, 203, 221, 281, 129, 117, 425)),
}
OTHER_ABI = 0x40000000
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050001
NO_NEW_PRIVILEGES, SET_FILTER, BY_FILTER = 38, 22, 2


class ParserFilter(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def close_the_network() -> None:
    """No network, no other program, no signal to another process, for good; where the kernel has no such filter, the
    limits alone hold."""
    architecture, calls = REFUSED.get(os.uname().machine, (0, ()))
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, 0)]
    steps += [(AT_LEAST, len(calls), 0, OTHER_ABI)]
    steps += [(EQUAL, len(calls) - at, 0, number) for at, number in enumerate(calls)]
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    if calls:
        libc = ctypes.CDLL(None)
        libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        libc.prctl(SET_FILTER, BY_FILTER, ctypes.byref(ParserFilter(len(steps), code)), 0, 0)


def allow_seconds(seconds: int) -> None:
    """Of processor time from now on; then the kernel ends this process, whatever it does."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + seconds + 1, resource.RLIM_INFINITY))


def set_limits() -> None:
    """No large memory, no files written, no core dumps, no further processes' worth of open files."""
    for kind, most in (
        (resource.RLIMIT_AS, MOST_MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        _, hard = resource.getrlimit(kind)
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (wanted, wanted))


def answer(request: dict[str, object], shared: int) -> dict[str, object]:
    data = os.pread(shared, int(str(request["size"])), 0)
    allow_seconds(int(str(request["seconds"])))
    try:
        if request["form"] == "settings":
            return {"facts": settings(data)}
        if request["form"] == "pickle":
            return {"value": plain_values(data)}
        page = read(data, str(request["form"]), str(request["name"]))
    except NoTextError as error:
        return {"empty": str(error)}
    except UnreadableError as error:
        return {"unreadable": str(error)}
    except (RecursionError, ValueError) as error:
        return {"unreadable": f"its form is broken ({type(error).__name__})"}
    blocks = [(block.kind, block.text, block.level) for block in page.blocks]
    return {"title": page.title, "date": page.date, "blocks": blocks}


class PlainUnpickler(pickle.Unpickler):
    """Numbers, text, lists and dicts only."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"a dump holds no {module}.{name}")


def plain_values(data: bytes) -> Any:
    """The values of a pickle; None where it holds anything else, or what JSON cannot hold or would spell out longer."""
    try:
        value = PlainUnpickler(io.BytesIO(data)).load()
        return value if len(json.dumps(value)) <= LARGER * len(data) else None
    except (EOFError, pickle.UnpicklingError, LookupError, TypeError, AttributeError):
        return None


class Lenient(yaml.SafeLoader):
    """MkDocs' settings name Python objects; they are of no interest here."""


Lenient.add_multi_constructor("", lambda *_: None)


def settings(data: bytes) -> dict[str, str]:
    """The plain values at the top of some YAML, as text; empty where it is none."""
    try:
        facts = yaml.load(data.decode("utf-8"), Loader=Lenient)
    except (ValueError, OverflowError, RecursionError, yaml.YAMLError):
        return {}
    named = facts.items() if isinstance(facts, dict) else ()
    return {str(name): scalar(value) for name, value in named if isinstance(value, str | bool | int | float)}


def main() -> None:
    set_limits()
    close_the_network()
    sys.setrecursionlimit(RECURSION)
    shared, out = int(sys.argv[1]), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    out.write(b'{"ready": true}\n')
    out.flush()
    for line in sys.stdin.buffer:
        told = json.dumps(answer(json.loads(line), shared)).encode()
        out.write(told + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
