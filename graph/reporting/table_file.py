"""Every job's record as a file for further counting: Parquet (extra `report`), or CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from knowledge.job_record import JobRecord

COLUMNS = (*(field.name for field in fields(JobRecord)), "failed", "gpu_hours")
# What a spreadsheet would take for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_table(records: Sequence[JobRecord], path: Path) -> None:
    """By the path's ending. Raises OSError, ImportError for Parquet without pyarrow."""
    if path.suffix == ".parquet":
        import pyarrow
        from pyarrow import parquet

        columns = {name: [_value(one, name) for one in records] for name in COLUMNS}
        parquet.write_table(pyarrow.table(columns), path, compression="zstd")
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        rows.writerows([_plain(_value(one, name)) for name in COLUMNS] for one in records)


def usual_ending() -> str:
    return ".parquet" if find_spec("pyarrow") else ".csv"


def _value(record: JobRecord, name: str) -> Any:
    value = getattr(record, name)
    return list(value) if isinstance(value, tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        value = " ".join(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
