"""A launcher call, from its words to its exit code: parse, lay out, start the tasks on their nodes, wait."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from pathlib import Path

from graph.verification.simulator.cluster import layout, options, variables, wire
from graph.verification.simulator.config import StandIn
from graph.verification.simulator.site import SimulatedSite

GRACE_SECONDS = 4.0
"""How long the other tasks may go on once one has failed; then the launcher ends the step."""
CYCLIC = {"distribution": "cyclic", "map": "node", "rank_by": "node"}


def run(launcher: str, words: list[str], site: SimulatedSite) -> int:
    """Be that launcher. Gives its exit code."""
    job = site.job
    program = launcher.split()[0]
    try:
        real = job.real_options if program == "srun" else ()
        parsed = options.parse(program, options.LAUNCHERS[launcher], words, real)
        if not parsed.command:
            raise options.LayoutRefusedError("fatal: No command given to execute.")
        if ":" in parsed.command:
            raise options.LayoutRefusedError("error: several programs in one call are not rehearsed")
        for option in parsed.not_modelled:
            site.record("not_modelled", launcher=launcher, option=option)
        plan = layout.LAYOUTS[launcher](parsed, job, os.environ)
    except options.LayoutRefusedError as refusal:
        text = str(refusal)
        site.record("refused", launcher=launcher, words=words, says=text)
        print(text if text.startswith(program) or "\n" in text else f"{program}: {text}", file=sys.stderr)
        return 1
    for warning in plan.warnings:
        print(f"{program}: {warning}", file=sys.stderr)
    return start(launcher, parsed, plan, job, site)


def start(launcher: str, parsed: options.Parsed, plan: layout.TaskLayout, job: StandIn, site: SimulatedSite) -> int:
    """Start the tasks of a layout that have processes here, and wait. Gives the exit code."""
    cyclic = any((parsed.last(name) or "").startswith(word) for name, word in CYCLIC.items())
    everyone = variables.seats(plan, cyclic)
    here = [s for s in everyone if s.name in job.running_nodes and s.local < (job.sampled or 10**6)]
    step = new_step(site, plan, [seat.rank for seat in here])
    site.record(
        "launch", launcher=launcher, ntasks=plan.ntasks, nodes=plan.nodes, counts=plan.counts,
        command=parsed.command, warnings=plan.warnings,
    )  # fmt: skip
    folder = parsed.last("folder") or str(Path.cwd())
    tasks: dict[str, list[wire.Task]] = {}
    for seat in here:
        given = environment(launcher, parsed, plan, seat, job, site, step)
        tasks.setdefault(seat.name, []).append(wire.Task(seat.rank, parsed.command, given, folder))
    return wait(launcher, tasks, {seat.rank: seat.name for seat in here}, site)


def new_step(site: SimulatedSite, plan: layout.TaskLayout, ranks: list[int]) -> int:
    """Number the step and note which of its ranks have processes here."""
    number = 0
    while True:
        try:
            path = (site.stage / "steps" / str(number)).open("x")
        except FileExistsError:
            number += 1
            continue
        with path:
            json.dump({"size": plan.ntasks, "ranks": ranks, "per_node": max(plan.counts)}, path)
        return number


def environment(
    launcher: str,
    parsed: options.Parsed,
    plan: layout.TaskLayout,
    seat: variables.Seat,
    job: StandIn,
    site: SimulatedSite,
    step: int,
) -> dict[str, str]:
    """All variables of one task: what travels from the caller, what the launcher sets, what we need to find our way."""
    given = travelling(launcher, parsed, seat, job, site)
    given.update(variables.of_task(launcher, seat, plan, job, step))
    shown = variables.of_devices(launcher, seat, plan, job)
    chosen_by_site = launcher == "srun" and job.one_device and not {"gpu_bind", "gpus_per_task"} & set(parsed.options)
    given = shown | given if chosen_by_site else given | shown  # a site's default yields to what the script exports
    if launcher == "mpiexec" and parsed.last("pmi") == "pmix":
        given = {name: value for name, value in given.items() if not name.startswith("PMI_")}
        given["PMIX_RANK"] = str(seat.rank)
    if launcher == "srun" and parsed.last("cpus"):
        given["SLURM_CPUS_PER_TASK"] = parsed.last("cpus") or ""
    for setting in parsed.options.get("set", []) + parsed.options.get("genv", []):
        name, equals, value = setting.partition("=")
        if equals or name in os.environ:
            given[name] = value if equals else os.environ[name]
    return given | {"MAPLE_REHEARSAL_NODE": seat.name, "MAPLE_REHEARSAL_STEP": str(step)}


def travelling(
    launcher: str, parsed: options.Parsed, seat: variables.Seat, job: StandIn, site: SimulatedSite
) -> dict[str, str]:
    """The part of the caller's environment that reaches the task."""
    everything = dict(os.environ)
    login = login_environment(site)
    export = parsed.last("export")
    if launcher == "srun" and export and not export.upper().startswith("ALL"):
        slurm = {name: value for name, value in everything.items() if name.startswith("SLURM")}
        return login | slurm | ({} if export.upper() in ("NONE", "NIL") else exported(export, everything))
    if launcher == "srun" and export:
        return everything | exported(export.partition(",")[2], everything)
    remote = job.scheduler != "slurm" and seat.name != site.node
    if launcher == "mpirun" and remote:  # Open MPI: other nodes get what -x names
        return login | {name: value for name, value in everything.items() if name.startswith("PBS_")}
    if launcher == "mpiexec" and {"envnone", "genvnone"} & set(parsed.options):
        return login
    return everything


def exported(text: str, everything: dict[str, str]) -> dict[str, str]:
    found = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if equals or name in everything:
            found[name] = value if equals else everything[name]
    return found


def login_environment(site: SimulatedSite) -> dict[str, str]:
    """What a fresh shell on a node has."""
    login: dict[str, str] = json.loads((site.stage / "batch.json").read_text())["login"]
    return login


def wait(launcher: str, tasks: dict[str, list[wire.Task]], names: dict[int, str], site: SimulatedSite) -> int:
    """Start the tasks and wait for them. One failure ends the others after a moment of grace."""
    wires = [wire.ask(site.stage, node, "exec", of_node, (0, 1, 2)) for node, of_node in tasks.items()]
    left, worst, deadline = set(names), 0, None
    buffers = dict.fromkeys(wires, b"")
    while left and buffers and (deadline is None or time.monotonic() < deadline):
        readable, _, _ = select.select(list(buffers), [], [], 0.2)
        for connection in readable:
            data = connection.recv(4096)
            if not data:
                del buffers[connection]
                continue
            *lines, buffers[connection] = (buffers[connection] + data).split(b"\n")
            for line in lines:
                rank, code = json.loads(line)
                left.discard(rank)
                if code:
                    worst = max(worst, code if code > 0 else 128 - code)
                    deadline = deadline or time.monotonic() + GRACE_SECONDS
                    print(failure_words(launcher, names[rank], rank, code), file=sys.stderr, flush=True)
    for connection in wires:
        connection.close()
    return worst or (1 if left else 0)


def failure_words(launcher: str, node: str, rank: int, code: int) -> str:
    how = f"Exited with exit code {code}" if code > 0 else f"Killed by signal {-code}"
    if launcher == "srun":
        return f"srun: error: {node}: task {rank}: {how}"
    if launcher == "flux run":
        return f"flux-job: task(s) exited with exit code {abs(code)}"
    return f"{launcher}: rank {rank} on {node}: {how}"


def on_node(site: SimulatedSite, node: str, words: tuple[str, ...], given: dict[str, str], folder: str) -> int:
    """Run one command on a node, as ssh does. Gives its exit code; 255 when the node does not answer."""
    try:
        connection = wire.ask(site.stage, node, "exec", [wire.Task(0, words, given, folder)], (0, 1, 2))
    except OSError:
        print(f"ssh: connect to host {node} port 22: No route to host", file=sys.stderr)
        return 255
    return next((code if code >= 0 else 128 - code for _, code in wire.answers(connection)), 255)
