"""What a node's process becomes: the mini-app in the training program's place, a real inner launcher, code.

This part runs under the Python that has torch. It imports nothing of it by name: the jail preloads what is needed.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import runpy
import socket
import sys
from dataclasses import asdict
from types import ModuleType
from typing import Any

from graph.verification.simulator.cluster import own_ranks
from graph.verification.simulator.config import StandIn
from graph.verification.simulator.site import SimulatedSite

MINIAPP = "maple_preflight"


def settle(stand_in: StandIn) -> None:
    """Once, before the nodes fork: load the mini-app and keep torch to one thread. With nothing preloaded: nothing."""
    if not stand_in.preload:
        return
    specification = importlib.util.spec_from_file_location(MINIAPP, stand_in.miniapp)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    sys.modules[MINIAPP] = module
    specification.loader.exec_module(module)
    sys.modules["torch"].set_num_threads(1)
    shared_memory = sys.modules.get("deepspeed.comm.torch")
    if shared_memory is not None:  # else DeepSpeed compiles C++ for 40 s, to be faster on one CPU node
        shared_memory.build_shm_op = lambda: None  # type: ignore[attr-defined]
    accelerator: Any = sys.modules.get("deepspeed.accelerator")
    if accelerator is not None:  # on a CPU, DeepSpeed counts NUMA nodes by a program that need not be here
        accelerator.get_accelerator().device_count = lambda: stand_in.gpus_per_node or 1
    gc.collect()
    gc.freeze()


def run_miniapp(site: SimulatedSite) -> int:
    """The mini-app with the environment that the training program would have had."""
    job = site.job
    if not site.networked:
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    os.environ["MAPLE_REHEARSAL_DEVICES"] = ",".join(str(n) for n in range(job.gpus_per_node))
    os.environ["MAPLE_REHEARSAL_NODE"] = site.node
    os.environ["ACCELERATE_USE_CPU"] = "true"
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["MAPLE_REHEARSAL_GROUP"] = own_ranks.group_of(os.environ)
    adopt(site)
    cut_world(site)
    site.record("seen", node=site.node, variables=watched(), group=os.environ["MAPLE_REHEARSAL_GROUP"])
    words = ["--framework", job.framework, "--strategy", job.strategy, "--timeout", join_seconds(job)]
    miniapp: Any = sys.modules[MINIAPP]
    miniapp.say = lambda report, out: tell(site, report)
    code: int = miniapp.main(words)
    return code


def tell(site: SimulatedSite, report: Any) -> None:
    facts = asdict(report)
    site.record("rank", **facts | {"seconds": facts["seconds"].get("all", 0.0)})


def adopt(site: SimulatedSite) -> None:
    """Fill in what the program would find out by itself, and note that it must. Frameworks keep their own way."""
    job = site.job
    if job.strategy == "accelerate" or (job.framework in ("lightning", "deepspeed") and told_by_launcher()):
        return
    in_step = "MAPLE_REHEARSAL_STEP" in os.environ
    found = own_ranks.own_ranks(os.environ, job, in_step)
    if found:
        os.environ.update(found)
        site.record("adopted", names=sorted(found), group=os.environ["MAPLE_REHEARSAL_GROUP"], step=in_step)


def told_by_launcher() -> bool:
    return "MASTER_ADDR" in os.environ and bool(own_ranks.told(os.environ))


def join_seconds(job: StandIn) -> str:
    """How long a rank waits for the others: they start together, but on few cores of this computer."""
    here = min(job.gpus_per_node, job.sampled or job.gpus_per_node)
    return str(15 + job.running * here)


def cut_world(site: SimulatedSite) -> None:
    """Where the step is larger than what runs here: number the ranks that run, and make the world that large."""
    step = os.environ.get("MAPLE_REHEARSAL_STEP", "")
    if not step.isdigit() or "TORCHELASTIC_RUN_ID" in os.environ or not os.environ.get("RANK", "").isdigit():
        return
    facts = json.loads((site.stage / "steps" / step).read_text())
    ranks, size = facts["ranks"], facts["size"]
    if len(ranks) < size and os.environ.get("WORLD_SIZE") == str(size) and int(os.environ["RANK"]) in ranks:
        os.environ["RANK"] = str(ranks.index(int(os.environ["RANK"])))
        os.environ["WORLD_SIZE"] = str(len(ranks))


WATCHED_NAMES = """
    NCCL_ RCCL_ FI_ CCL_ GLOO_ MASTER_ CUDA_VIS ROCR_VIS HIP_VIS ZE_ OMP_ TORCH_ RANK LOCAL_RANK WORLD_SIZE
"""
WATCHED = tuple(WATCHED_NAMES.split())


def watched() -> dict[str, str]:
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(WATCHED)}


def run_inner(site: SimulatedSite, name: str, words: list[str]) -> int:
    """The real torchrun, accelerate or deepspeed; its children are the stand-in python."""
    if "MAPLE_REHEARSAL_STEP" not in os.environ:
        os.environ.setdefault("MAPLE_REHEARSAL_GROUP", f"launcher {os.getpid()}")
    python = str(site.stage / "bin" / "python")
    sys.executable = python
    os.environ["PYTHON_EXEC"] = python
    socket.gethostname = lambda: site.node
    socket.getfqdn = lambda name="": name or site.node
    show_devices(site.job)
    sys.argv = [name, *words]
    main = getattr(importlib.import_module(name), "main", None)
    try:
        result = main() if main else runpy.run_module(name, run_name="__main__")
    except SystemExit as error:
        if error.code == 2:
            site.record("inner_failed", program=name, says="its options are wrong, see the last words")
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        site.record("inner_failed", program=name, says=f"{type(error).__name__}: {error}"[:400])
        return 1
    return result if isinstance(result, int) else 0


def show_devices(stand_in: StandIn) -> None:
    """Let torch and DeepSpeed count the stand-in node's devices in this process."""
    torch: Any = sys.modules["torch"]
    shown = os.environ.get("CUDA_VISIBLE_DEVICES", os.environ.get("ROCR_VISIBLE_DEVICES"))
    count = len([n for n in shown.split(",") if n not in ("", "-1")]) if shown is not None else stand_in.gpus_per_node
    count = min(count, stand_in.sampled or count)
    part: ModuleType = torch.xpu if stand_in.vendor == "intel" else torch.cuda
    part.is_available = lambda: count > 0  # type: ignore[attr-defined]
    part.device_count = lambda: count  # type: ignore[attr-defined]
    deepspeed = sys.modules.get("deepspeed.accelerator")
    if deepspeed is not None:
        deepspeed.get_accelerator().device_count = lambda: count


def run_code(site: SimulatedSite, code: str, words: list[str]) -> int:
    """`python -c`, or a program on standard input: from here on this process is the script's."""
    site.stop_recording()
    if site.job.preload:
        show_devices(site.job)
    sys.argv = ["-c", *words]
    try:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    return 0
