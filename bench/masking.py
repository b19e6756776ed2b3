"""How long masking takes: seconds of a quiet processor for a megabyte, by kinds of text and at two lengths.

`python -m bench.masking [KIND ...]`. Ordinary logs, and what is dense with secrets: nothing may take over 2 s a MB.
"""

from __future__ import annotations

import base64
import json
import random
import resource
import string
import sys
import time
from collections.abc import Callable
from pathlib import Path

from knowledge.masking import hide, mask
from tests.fuzz import YARD_S, yardstick

SIZE = 1_000_000
dice = random.Random(7)


def drawn(size: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(dice.choice(letters) for _ in range(size))


def token() -> str:
    return f"{drawn(12)}7a"


def blob() -> str:
    return base64.b64encode(dice.randbytes(54)).decode()


def record() -> dict[str, str]:
    return {"user": drawn(5), "password": token(), "api_key": drawn(32), "host": f"db{dice.randrange(99)}"}


def sentence() -> str:
    asked = (
        "my password is {}, why is it denied?",
        "der Token {} geht nicht",
        "login as ada with {} fails",
        "{} is my key",
    )
    return dice.choice(asked).format(token())


LINES: dict[str, Callable[[], str]] = {
    "password: x": lambda: f"password: {token()}\n",
    "password: two words": lambda: f"password: {dice.choice(('tiger', 'lamp'))} {drawn(3)}\n",
    "the same line": lambda: "password: x\n",
    "export TOKEN": lambda: f"export {drawn(6).upper()}_TOKEN={drawn(24)}\n",
    "JSON of credentials": lambda: json.dumps(record()) + "\n",
    "JSON, indented": lambda: json.dumps(record(), indent=2) + "\n",
    "JSON, escaped": lambda: json.dumps(json.dumps(record())) + "\n",
    "JSON, one line": lambda: json.dumps(record()) + ", ",
    "JSON, escaped, one line": lambda: json.dumps(json.dumps(record())) + ", ",
    "addresses": lambda: f"GET https://ada:{token()}@db{dice.randrange(99)}.lab/x?token={drawn(20)}&user=ada\n",
    "base64": lambda: blob() + "\n",
    "base64, one line": blob,
    "hexadecimal": lambda: drawn(40, "0123456789abcdef") + "\n",
    "sentences": lambda: sentence() + "\n",
    "sentences, one line": lambda: sentence() + " ",
    "table": lambda: f"| {drawn(6)} | {token()} | gpu{dice.randrange(99)} |\n",
    "options": lambda: f"tool --user ada --password {token()} -p {token()} --api-key={drawn(20)} run.py\n",
    "YAML": lambda: f"- name: DB_PASSWORD\n  value: {token()}\n  token: |\n    {drawn(30)}\n",
    "asked": lambda: f"Enter your password:\n{token()}\nlogin:\n",
    "colours": lambda: f"\x1b[31mtoken\x1b[0m=\x1b[1m{drawn(20)}\x1b[0m\n",
    "percent signs": lambda: f"q=%22password%22%3D%22{token()}%22%26user%3Dada\n",
    "code": lambda: f"client = login(user='ada', pw='{token()}', key=os.environ['API_KEY'] or \"{drawn(16)}\")\n",
    "metrics": lambda: (
        f"step {dice.randrange(9999)}: loss {dice.random():.4f}, {dice.randrange(9999)} tokens/s, max_tokens=4096\n"
    ),
    "signs": lambda: f"{drawn(9, '!#$%&*?abcXYZ012')} {drawn(7, '=:@/|<>abc')}\n",
    "one word": lambda: drawn(40),
    "key key key": lambda: "key ",
    "empty lines": lambda: "\n",
}


def logs() -> str:
    paths = sorted((Path(__file__).parent.parent / "tests/logs").rglob("*.log"))
    return "".join(path.read_text(errors="replace") for path in paths)


def text_of(kind: str, size: int) -> str:
    if kind == "logs":
        whole = logs()
        return (whole * (size // len(whole) + 1))[:size]
    parts, length = [], 0
    while length < size:
        parts.append(LINES[kind]())
        length += len(parts[-1])
    return "".join(parts)[:size]


def main() -> None:
    print("| text | hide, s a MB | of half the length | mask, s a MB | grown, MB |\n|---|---|---|---|---|")
    hide(mask("password: tiger77").text)
    for kind in sys.argv[1:] or ("logs", *LINES):
        whole, took = text_of(kind, SIZE), []
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for function, text in ((hide, whole), (hide, whole[: SIZE // 2]), (mask, whole)):
            pace, started = yardstick(), time.process_time()
            function(text)
            spent = time.process_time() - started
            shared = max(1.0, (pace + yardstick()) / 2 / YARD_S)
            took.append(spent / shared * 1_000_000 / len(text))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
        print(f"| {kind} | {' | '.join(f'{one:.2f}' for one in took)} | {grown} |", flush=True)


if __name__ == "__main__":
    main()
