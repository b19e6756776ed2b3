"""Templates as Jinja compiled them, kept between processes beside what else is kept (knowledge/kept.py)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from jinja2.bccache import Bucket, BytecodeCache

from knowledge.kept import folder, only_mine, replacing


class KeptTemplates(BytecodeCache):
    """One file a template; Jinja compares its source and version. What others could have written is not run."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError), _file(bucket).open("rb") as file:
            if only_mine(os.fstat(file.fileno())):
                bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Where it cannot be written (quotas!), it is done without."""
        with suppress(OSError):
            folder().mkdir(mode=0o700, parents=True, exist_ok=True)
            with replacing(_file(bucket)) as file:
                file.write(bucket.bytecode_to_string())


def _file(bucket: Bucket) -> Path:
    return folder() / f"{bucket.key}.template"
