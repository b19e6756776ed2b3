"""How long masking takes: 100 kB of log lines, in milliseconds of this process's own time.

`python bench/masking.py`. Measured on a core shared with other work: mask 30, hide 11 ms.
"""

from __future__ import annotations

import time
from pathlib import Path

from knowledge.masking import hide, mask

SIZE = 100_000
ROUNDS = 10


def main() -> None:
    logs = sorted((Path(__file__).parent.parent / "tests/logs").rglob("*.log"))
    whole = "".join(path.read_text(errors="replace") for path in logs)
    text = (whole * (SIZE // len(whole) + 1))[:SIZE]
    for name, function in (("mask", mask), ("hide", hide)):
        function(text)
        started = time.process_time()
        for _ in range(ROUNDS):
            function(text)
        print(f"{name}: {1000 * (time.process_time() - started) / ROUNDS:.1f} ms for {SIZE // 1000} kB")


if __name__ == "__main__":
    main()
