"""Peak, published utilisation and links of GPU models: what time and communication are worked out from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from knowledge.data_file import read_facts
from knowledge.strict import Facts

FILE = Path(__file__).parent / "gpu_facts.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuFacts(Facts):
    """One GPU model, per device as a framework counts it.

    tflops: dense peak in 16 bit; hbm: TB/s of its memory;
    mfu: model FLOPs utilisation of published trainings (low, usual, best); link_gbytes:
    GB/s one way to a neighbour; bus_gbytes: GB/s that an all-reduce inside a node reaches; gb: memory that
    it is sold with; host_gb: GB of its memory that the operating system takes, where CPU and GPU share it; assumed:
    nobody published one, the range is ours.
    """

    model: str
    form: str = ""
    tflops: float
    hbm: float
    mfu: tuple[float, float, float]
    link_gbytes: float
    bus_gbytes: float
    gb: tuple[float, ...] = ()
    bf16: bool = True
    host_gb: float = 0.0
    assumed: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTable(Facts):
    source: str
    as_of: str
    gpus: tuple[GpuFacts, ...]
    unknown: tuple[str, ...] = ()


@cache
def gpu_table() -> GpuTable:
    """The GPU models. Raises FactsError on a wrong file."""
    return read_facts(FILE, GpuTable)


def unknown_gpus() -> tuple[str, ...]:
    """GPUs by names that people use, of which nothing is known here."""
    return gpu_table().unknown


def find_gpu(model: str, form: str = "") -> GpuFacts | None:
    """The facts of the model that a name holds (`A100 (custom)`); form tells a PCIe card from the others."""
    wanted = model.lower()
    return next(
        (g for g in gpu_table().gpus if g.model.lower() in wanted and (not g.form or g.form.lower() in form.lower())),
        None,
    )
