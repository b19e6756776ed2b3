"""The rehearsal's folder: the commands that are first on PATH, the script, its files, the job's environment."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import string
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from graph.extraction.script import ReadScript, read_script
from graph.verification.simulator import config
from graph.verification.simulator.allocation import Allocation, host_suffixes, node_names
from graph.verification.simulator.cluster import commands, variables
from graph.verification.simulator.cluster.batch import batch_variables, of_array
from graph.verification.simulator.cluster.hostlist import compress
from graph.verification.simulator.guards import arguments_wanted, commands_wanted, files_read, guards, outside
from knowledge.cluster import Cluster
from knowledge.slurm_options import slurm_options
from knowledge.types import SideFile
from knowledge.word_lists import in_order

PROJECT = Path(__file__).parents[3]
CLUSTER = Path(__file__).parent / "cluster"
MINIAPP = PROJECT / "templates" / "miniapp" / "preflight.py"
IN_NAMESPACES = "/stand-in"
FOLDER_NAMES = "SCRATCH PSCRATCH CSCRATCH WORK PROJECT STORE FAST CFS DATA STORAGE LOCAL_SCRATCH"
"""Variables of sites that name a person's or a project's folder."""
PROGRAM_PATH = re.compile(r"\S*/(python[\d.]*|torchrun|accelerate|deepspeed)")
SYSTEM_PATH = re.compile(r"/(usr|bin|sbin|lib\w*|dev|proc|etc|tmp)/")
LINES = "1 1 1\n2 2 2\n"
"""What stands in a list of the script's that is not here: two lines, so that a loop has a second turn."""
PRELOAD = {
    "always": ("torch", "torch.distributed", "torch.distributed.run", "torch.distributed.fsdp", "torch._dynamo"),
    "deepspeed": in_order(
        "deepspeed deepspeed.launcher.runner deepspeed.launcher.launch functorch.compile "
        "deepspeed.runtime.superoffload.superoffload_stage3 deepspeed.module_inject.auto_ep_layer"
    ),
    "accelerate": ("accelerate", "accelerate.commands.launch"),
}


def stand_in(
    cluster: Cluster, script: ReadScript, job: Allocation, framework: str, strategy: str, running: int,
    sampled: int | None, isolation: str, side_files: tuple[SideFile, ...], tools: frozenset[str],
) -> config.StandIn:  # fmt: skip
    """The facts that the programs in the jail work from."""
    shared = isolation == "landlock"
    names = tuple(config.address(n, False) for n in range(job.nodes)) if shared else node_names(cluster, job.nodes)
    # Only where jobs start by jsrun does LSF run the script on a launch node, which stands first in every list.
    by_jsrun = any(form.launcher == "jsrun" for forms in cluster.launch.values() for form in forms)
    launch_node = f"{cluster.id}-batch1" if cluster.scheduler == "lsf" and by_jsrun and not shared else None
    node = job.node_type
    # A machine that nobody described has at least the CPUs that the job's directives take of a node.
    asked = (job.tasks_per_node or 1) * (job.cpus_per_task or 1)
    threads = (node.cpu.cores or max(64, asked)) * (node.cpu.threads_per_core or 1)
    # PALS counts hardware threads: 4 ranks of depth 16 fill Polaris's 32 cores
    # (https://docs.alcf.anl.gov/polaris/running-jobs/#binding-mpi-ranks-to-gpus).
    cpus = threads if mpi_of(cluster) == "pals" else node.cpu.schedulable or threads
    if cluster.scheduler == "lsf":  # jsrun hands out cores; what LLNL's own launcher leaves free binds it alone
        cpus = node.cpu.cores or cpus
    return config.StandIn(
        cluster=cluster.id, scheduler=cluster.scheduler, nodes=names, running=running, sampled=sampled,
        launch_node=launch_node, job_name=job.job_name, account=job.account, queue=job.queue, ntasks=job.ntasks,
        tasks_per_node=job.tasks_per_node, cpus_per_task=job.cpus_per_task, cpus_per_node=cpus,
        gpus_per_node=job.gpus_per_node, gpus_per_task=job.gpus_per_task, gpu_option=job.gpu_option,
        gpu_bind=job.gpu_bind, vendor=node.gpus.vendor, one_device=cluster.id == "juwels-booster",
        mpi=mpi_of(cluster), interface=interface_of(node.nics.interface), suffixes=host_suffixes(cluster),
        python=sys.executable, project=str(PROJECT), miniapp=str(MINIAPP), framework=framework, strategy=strategy,
        preload=tuple(module for name in ("always", *sorted(tools)) for module in PRELOAD[name]),
        side_files=tuple(file.name for file in side_files), places=places(isolation),
        bound=bound_paths(), packages=package_folders(),
        known_modules=modules_of(cluster), programs=programs_by_path(script, places(isolation)),
        real_options=tuple(f"--{name}" for name in (*slurm_options().of("srun"), *slurm_options().plugins)),
    )  # fmt: skip


def programs_by_path(script: ReadScript, where: Mapping[str, str]) -> tuple[str, ...]:
    """Absolute paths by which the script calls Python or a launcher, as far as they can be worked out."""
    known = {"HOME": where["home"], "USER": "user", **dict.fromkeys(FOLDER_NAMES.split(), where["scratch"])}
    words = [word for command in script.commands for word in command.argv if PROGRAM_PATH.fullmatch(word)]
    words += [
        c.argv[0] for c in script.commands if c.argv and c.argv[0].startswith(("/", "$", "~")) and "/" in c.argv[0]
    ]
    paths = [string.Template(word).safe_substitute(known) for word in words]
    plain = (path for path in paths if re.fullmatch(r"/[\w./+@%-]+", path) and ".." not in path and path[-1] != "/")
    return tuple(dict.fromkeys(path for path in plain if not SYSTEM_PATH.match(path)))


def mpi_of(cluster: Cluster) -> str:
    """Whose mpiexec, mpirun and ibrun a machine has: PALS (Cray, PBS), Intel's by its rank variables, or Open MPI."""
    forms = [form for several in cluster.launch.values() for form in several]
    if any(form.launcher == "mpiexec" for form in forms):
        return "pals"
    pmi = any("PMI_" in form.rank_variables.rank for form in forms if form.rank_variables)
    return "impi" if pmi else "openmpi"


def modules_of(cluster: Cluster) -> tuple[str, ...]:
    """The modules that the facts name, versions off."""
    lines = [line for software in cluster.software.values() for line in software.lines]
    loads = [line.split()[2:] for line in lines if line.split()[:2] == ["module", "load"]]
    return tuple(sorted({word.strip('"').split("/")[0] for words in loads for word in words}))


def interface_of(listed: str | None) -> str:
    """One whole name: facts may list several, or the part that they have in common (`hsn`)."""
    name = (listed or "eth0").split(",")[0].strip()
    return name if name[-1:].isdigit() else name + "0"


def places(isolation: str) -> dict[str, str]:
    """The private folders, by name; relative ones lie in the stage."""
    names = ("home", "scratch", "work")
    if isolation == "namespaces":
        return {name: f"/rehearsal/{name}" for name in names} | {"tmp": "/tmp"}
    return {name: name for name in (*names, "tmp")}


def package_folders() -> tuple[str, ...]:
    """Where torch and its friends lie: a person's own site-packages, too, which an isolated Python leaves out."""
    found = [importlib.util.find_spec(name) for name in ("torch", "accelerate", "deepspeed", "numpy")]
    return tuple(dict.fromkeys(str(Path(one.origin).parents[1]) for one in found if one and one.origin))


def bound_paths() -> tuple[str, ...]:
    """Folders of Python and of this project that the jail must show, read-only."""
    executable = Path(sys.executable)
    wanted = [
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        sysconfig.get_paths()["stdlib"],
        sysconfig.get_paths()["purelib"],
    ]
    while executable.is_symlink():
        executable = Path(os.path.normpath(executable.parent / executable.readlink()))
        prefix = executable.parent.parent
        wanted += [str(prefix)] if any((prefix / "lib").glob("python3*")) else []
    wanted += [
        *package_folders(),
        str(PROJECT / "graph"),
        str(PROJECT / "templates"),
        str(Path(sys.base_prefix).resolve()),
    ]
    kept: list[str] = []
    for path in sorted(dict.fromkeys(wanted), key=len):
        inside = any(path == k or path.startswith(k + "/") for k in (*kept, "/usr", "/bin", "/lib"))
        if not inside and path != "/":
            kept.append(path)
    return tuple(kept)


def fill(stage: Path, inside: str, script: str, name: str, files: tuple[SideFile, ...], facts: config.StandIn) -> None:
    """Write everything. inside is the stage's path as the jail sees it."""
    for folder in ("bin", "run", "steps", "work", "home", "scratch", "tmp", "elsewhere"):
        (stage / folder).mkdir()
    config.write(stage, facts)
    make_commands(stage / "bin", inside)
    shutil.copy(CLUSTER / "shell.sh", stage / "shell.sh")
    for file in (SideFile(name, script), *files):
        path = stage / "work" / Path(file.name).name
        path.write_bytes(file.text.encode(errors="surrogateescape"))
        path.chmod(0o755)
    for program in relative_programs(script):
        own = stage / "work" / program
        if not own.exists():
            own.parent.mkdir(parents=True, exist_ok=True)
            own.write_text(f'#!/bin/sh\nexec {shlex.quote(inside)}/bin/.missing ./{shlex.quote(program)} "$@"\n')
            own.chmod(0o755)
    for wanted in commands_wanted(script):
        own = stage / "bin" / wanted
        if not own.exists() and shutil.which(wanted) is None:
            own.write_text(f'#!/bin/sh\nexec {shlex.quote(inside)}/bin/.missing {shlex.quote(wanted)} "$@"\n')
            own.chmod(0o755)
    for folder in output_folders(script):
        (stage / "work" / folder).mkdir(parents=True, exist_ok=True)
    for name_read in files_read(read_script(script)):
        own = stage / "work" / name_read
        if not own.exists():
            own.parent.mkdir(parents=True, exist_ok=True)
            own.write_text(LINES)
    (stage / "guards").write_text("".join(f"{one}\n" for one in guards(script)), errors="surrogateescape")
    (stage / "home" / ".bash_profile").write_text('. "$BASH_ENV"\n')
    write_host_files(stage, facts)
    write_batch(stage, inside, script, name, facts)


def output_folders(script: str) -> tuple[str, ...]:
    """Folders of the job's own output, which must be there before the job starts."""
    named = [one.value for one in read_script(script).directives if one.active and one.option in ("output", "error")]
    folders = [one.strip("\"'").rpartition("/")[0] for one in named]
    return tuple(one for one in folders if re.fullmatch(r"[\w.-][\w./-]*", one) and ".." not in one)


def relative_programs(script: str) -> tuple[str, ...]:
    """Programs that the script starts from its own folder (`./bind.sh python train.py`), as far as they are plain."""
    found = re.findall(r"(?m)(?<!-[a-zL])(?:^|[\s;&|(])\./((?:[\w.-]+/)*[\w.-]+)(?=\s|$)", script)
    return tuple(dict.fromkeys(path for path in found if ".." not in path))


def make_commands(folder: Path, inside: str) -> None:
    one = folder / ".stand-in"
    program = shlex.join([sys.executable, "-IS", str(CLUSTER / "client.py"), inside])
    one.write_text(f'#!/bin/sh\nexec {program} "${{0##*/}}" "$@"\n')
    one.chmod(0o755)
    for name in (*commands.names(), ".missing"):
        (folder / name).symlink_to(".stand-in")


def write_host_files(stage: Path, facts: config.StandIn) -> None:
    """PBS's and LSF's host files: PBS repeats a node once for each of its MPI processes."""
    times = facts.tasks_per_node or 1 if facts.scheduler == "pbs" else 1
    (stage / "nodefile").write_text("".join(f"{name}\n" * times for name in facts.nodes))
    launch = [facts.launch_node] if facts.launch_node else []
    rows = [*launch, *(name for name in facts.nodes for _ in range(facts.gpus_per_node or 1))]
    (stage / "hostfile").write_text("".join(f"{name}\n" for name in rows))


def write_batch(stage: Path, inside: str, script: str, name: str, facts: config.StandIn) -> None:
    """What is started on the first node: the script by its own shebang, with the scheduler's variables."""
    where = {key: path if path.startswith("/") else f"{inside}/{path}" for key, path in facts.places.items()}
    login = login_variables(inside, where, facts)
    shebang = script.split("\n", 1)[0]
    interpreter = shlex.split(shebang[2:]) if shebang.startswith("#!") else ["/bin/bash"]
    shell = interpreter[-1] if interpreter[0].endswith("/env") else interpreter[0]
    if interpreter[0] == "/bin/sh" or (re.search(r"/?(zsh|ksh)$", shell) and shutil.which(shell) is None):
        # sh is bash on the systems of clusters (RHEL, SLES), and not on every computer; zsh and ksh are nearly bash.
        interpreter = ["/bin/bash"]
    starts_at_home = facts.scheduler == "pbs"
    first = facts.hosts[0]
    given = dict.fromkeys(outside(read_script(script)), where["scratch"])
    of_job = batch_variables(facts, inside, where, compress(facts.nodes)) | first_node(facts, first)
    asked = read_script(script).active.get("job-name" if facts.scheduler == "lsf" else "array")
    of_job |= of_array(facts, asked.value if asked else "")
    batch = {
        "words": [*interpreter, f"{where['work']}/{name}", *arguments_wanted(script, len(facts.nodes))],
        "variables": given | login | of_job,
        "folder": where["home"] if starts_at_home else where["work"],
        "login": login,
    }
    (stage / "batch.json").write_text(json.dumps(batch))


def first_node(facts: config.StandIn, name: str) -> dict[str, str]:
    shown = {"MAPLE_REHEARSAL_NODE": name}
    if facts.scheduler == "slurm" and facts.gpu_option and facts.gpus_per_node and not facts.one_device:
        shown[variables.DEVICE_VARIABLE[facts.vendor]] = ",".join(str(n) for n in range(facts.gpus_per_node))
    return shown


def login_variables(inside: str, where: Mapping[str, str], facts: config.StandIn) -> dict[str, str]:
    """A fresh shell on a node: private folders, our commands first, nothing of the person's environment."""
    return {
        "PATH": f"{inside}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": where["home"], "USER": "user",
        "LOGNAME": "user", "SHELL": "/bin/bash", "LANG": "C.UTF-8", "TMPDIR": where["tmp"],
        "BASH_ENV": f"{inside}/shell.sh",
        "MAPLE_REHEARSAL_BIN": f"{inside}/bin",
        "MAPLE_REHEARSAL_ELSEWHERE": "" if where["home"].startswith("/rehearsal") else f"{inside}/elsewhere",
        "SYS_TYPE": "stand_in", "LD_LIBRARY_PATH": "", "CRAY_LD_LIBRARY_PATH": "", "TERM": "dumb",
        **dict.fromkeys(FOLDER_NAMES.split(), where["scratch"]),
    }  # fmt: skip
