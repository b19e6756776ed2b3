"""What a traceback's last line says: the type, whether it did any harm, and whose it is."""

from __future__ import annotations

from graph.debugging.diagnosis import diagnose

URLLIB = "/usr/lib/python3.11/urllib/request.py"


def traceback(*files: str, ends: str) -> str:
    frames = "".join(f'  File "{file}", line 9, in f\n    call()\n' for file in files)
    return f"Traceback (most recent call last):\n{frames}{ends}\n"


def test_a_host_that_a_download_cannot_resolve_is_no_master() -> None:
    ends = "socket.gaierror: [Errno -3] Temporary failure in name resolution"
    socket = "/usr/lib/python3.11/socket.py"
    assert diagnose(traceback("/home/ada/get.py", URLLIB, socket, ends=ends)).cause == "env-no-internet"
    assert diagnose(traceback("/home/ada/get.py", socket, ends=ends)).cause == "comm-rendezvous"
