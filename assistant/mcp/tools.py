"""The tools: each calls the use case that the command of the same matter calls, and answers in plain values.

Imports stand inside the functions: a client waits for the server's start, and a tool pays for its own use case alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated, BinaryIO, Literal

from pydantic import Field

from assistant.errors import InputError
from assistant.mcp.answers import (
    FROM_SCRIPT,
    CheckAnswer,
    Comparison,
    LogAnswer,
    MachineFacts,
    MachineListing,
    MachineSummary,
    MendAnswer,
    NextStep,
    OpenField,
    PassageAnswer,
    PlanAnswer,
    RehearsalAnswer,
    ScriptAnswer,
    SearchAnswer,
    WaitAnswer,
)
from assistant.mcp.facts import About, facts_about
from assistant.mcp.making import (
    FINDINGS_A_PART,
    known,
    log_answer,
    mend_answer,
    plan_answer,
    refused,
    with_more,
    written,
)
from assistant.mcp.shaping import cut, left_out, part_of_list, part_of_text
from knowledge.types import Framework, SideFile, Strategy

Machine = Annotated[str, Field(description="a machine, by any of its names", max_length=100)]
OptionalMachine = Annotated[
    str, Field(description="a machine by any of its names; empty: what the script's own marks tell", max_length=100)
]
ScriptText = Annotated[str, Field(description="the job script's whole text", min_length=1, max_length=1_000_000)]
PastedText = Annotated[str, Field(max_length=2_000_000)]
Cursor = Annotated[str, Field(description="`more` of the answer before, with all else the same", max_length=12)]
Word = Annotated[str | None, Field(max_length=500)]
Count = Annotated[int | None, Field(ge=1, le=100_000)]
MoreFields = Annotated[
    dict[str, str],
    Field(
        description="further fields, as `maple-chat script --set FIELD=VALUE` takes them: environment, container, "
        "modules, variables, array, mail and more"
    ),
]
MACHINES_A_PART, PASSAGES_A_PART, MOST_PASSAGES, NOTES_GIVEN = 40, 4, 12, 40


def list_clusters(cursor: Cursor = "") -> MachineListing:
    """The machines that are known, with their scheduler, their GPUs and the date of the facts."""
    from assistant.cluster_text import all_gpus, is_old
    from knowledge.catalogue import catalogue

    today = date.today()
    part, more = part_of_list(list(catalogue().clusters.values()), cursor, MACHINES_A_PART)
    rows = (MachineSummary(c.id, c.title, c.as_of, is_old(c.as_of, today), c.scheduler, all_gpus(c)) for c in part)
    return MachineListing(tuple(rows), more)


def cluster_facts(
    machine: Machine,
    about: Annotated[tuple[About, ...], Field(description="which facts; empty: all of the machine's file")] = (),
    cursor: Cursor = "",
) -> MachineFacts:
    """What is known of a machine, with sources and date: limits, modules, launch, quota, login, accounts and more."""
    from assistant.cluster_text import describe, is_old
    from knowledge.catalogue import catalogue

    cluster, today = known(machine), date.today()
    whole = facts_about(cluster, about, today) if about else describe(cluster, catalogue().files[cluster.id], today)
    text, more = part_of_text(whole, cursor)
    return MachineFacts(cluster.id, cluster.title, cluster.as_of, is_old(cluster.as_of, today), text, more)


def compare_clusters(
    machines: Annotated[tuple[str, ...], Field(description="empty: all that are known", max_length=40)] = (),
) -> Comparison:
    """Machines side by side: GPUs, memory, peak, network, longest job, scheduler, internet."""
    from graph.answering.machine_compare import machine_rows, table_text
    from knowledge.catalogue import catalogue

    chosen = [known(name) for name in machines] or list(catalogue().clusters.values())
    return Comparison(tuple(one.id for one in chosen), table_text(machine_rows(chosen)))


def write_script(
    machine: Machine,
    framework: Framework | None = None,
    strategy: Strategy | None = None,
    nodes: Count = None,
    gpus_per_node: Annotated[int | None, Field(description="0: a job without GPUs", ge=0, le=100_000)] = None,
    account: Word = None,
    queue: Word = None,
    walltime: Annotated[str | None, Field(description="HH:MM:SS", max_length=20)] = None,
    entry: Annotated[str | None, Field(description="train.py, or '-m package.module'", max_length=500)] = None,
    args: Annotated[str | None, Field(description="the program's arguments", max_length=4000)] = None,
    more_fields: MoreFields | None = None,
) -> ScriptAnswer:
    """Write a launch script for a deep-learning job, proved against the machine's facts; nothing is submitted.

    Where something is missing, `missing` holds the questions for the person; what was assumed is told with its reason.
    """
    from graph.usecases.write_script import Open, write_script
    from knowledge.types import JobRequest, Refusal

    cluster = known(machine)
    asked = JobRequest(
        machine=cluster.id,
        framework=framework,
        strategy=strategy,
        nodes=nodes,
        gpus_per_node=gpus_per_node,
        account=account,
        queue=queue,
        walltime=walltime,
        entry=entry,
        args=args,
    )
    request = with_more(asked, more_fields)
    made = write_script(request, cluster)
    if isinstance(made, Open):
        missing = tuple(OpenField(one.field, one.text, tuple(one.options)) for one in made.questions)
        return ScriptAnswer(False, missing=missing)
    return refused(made) if isinstance(made, Refusal) else written(made.plan, made.bundle, findings=made.findings)


def port_script(
    script: ScriptText,
    machine: Machine,
    framework: Framework | None = None,
    strategy: Strategy | None = None,
    nodes: Count = None,
    gpus_per_node: Count = None,
    account: Word = None,
    queue: Word = None,
    walltime: Annotated[str | None, Field(description="HH:MM:SS", max_length=20)] = None,
    more_fields: MoreFields | None = None,
    cursor: Cursor = "",
) -> ScriptAnswer:
    """Bring a job script that works on one machine to another; each statement is carried, replaced or named."""
    from graph.porting.account import counts
    from graph.usecases.port_script import port_script as carry
    from knowledge.types import JobRequest, Refusal

    cluster = known(machine)
    changes = JobRequest(
        machine=cluster.id,
        framework=framework,
        strategy=strategy,
        account=account,
        queue=queue,
        walltime=walltime,
        nodes=nodes,
        gpus_per_node=gpus_per_node,
    )
    made = carry(script, cluster, with_more(changes, more_fields))
    if isinstance(made, Refusal):
        return refused(made)
    ported = made.ported
    look = [f"look at{f' line {note.line}' if note.line else ''}: {note.says}" for note in ported.notes[:NOTES_GIVEN]]
    rest = left_out(ported.notes, NOTES_GIVEN, "note", "`maple-chat script --from FILE` prints all")
    notes = (*look, *rest, f"statements of the old script: {counts(ported.account)}")
    whole = written(ported.plan, ported.bundle, notes, made.findings)
    part, more = part_of_text(whole.script, cursor)
    return replace(whole, script=part, more=more, notice=FROM_SCRIPT)


def check_script(script: ScriptText, machine: OptionalMachine = "", cursor: Cursor = "") -> CheckAnswer:
    """Findings on any job script: directives, launch arithmetic, rendezvous, variables, shell; the machine's rules too.

    machine: empty takes what the script's marks tell; `any` checks without a machine.
    """
    from assistant.commands.check import judge
    from assistant.commands.check import machine as machine_for
    from graph.verification.checks.report import ordered, unseen

    chosen = machine_for(machine or None, script)
    found = ordered(judge(script, "-", chosen.cluster))
    part, more = part_of_list(found, cursor, FINDINGS_A_PART)
    errors = sum(one.severity == "error" for one in found)
    name = chosen.cluster.id if chosen.cluster else ""
    return CheckAnswer(name, chosen.says, errors, part, tuple(unseen(script)), more)


def mend_script(
    script: ScriptText,
    machine: OptionalMachine = "",
    log: Annotated[PastedText, Field(description="what the failed job printed, if there is such")] = "",
) -> MendAnswer:
    """Cure a job script: what its checks find, or what its log shows, by the smallest change that is safe.

    What costs more (nodes, hours, another queue) is offered with its price and not done.
    """
    from assistant.commands.check import machine as machine_for
    from graph.debugging.diagnosis import diagnose
    from graph.debugging.log import from_text
    from graph.usecases.mend_script import mend_script as mend
    from knowledge.types import NO_CAUSE

    cluster = machine_for(machine or None, script).cluster
    trouble = diagnose([from_text(log)]) if log.strip() else None
    if trouble and trouble.cause in NO_CAUSE:
        return MendAnswer(False, f"the log shows no cause to cure ({trouble.cause}): {trouble.says}", "", "")
    return mend_answer(mend(script, trouble, cluster), script)


def rehearse(
    script: str,
    machine: str,
    files: Sequence[SideFile],
    nodes: int,
    gpus_per_node: int | None,
    progress: Callable[[str], None],
    still_wanted: Callable[[], object],
) -> RehearsalAnswer:
    """Run the script on a stand-in cluster on this computer, kept in a folder, with no network and no cluster."""
    from assistant.commands.rehearse import machine_of
    from graph.verification.rehearsal import rehearse as run_here
    from graph.verification.rehearsal.report import text_of

    if any("/" in file.name or file.name in ("", ".", "..") or "\0" in file.name for file in files):
        raise InputError("a file beside the script has a plain name, without folders")
    cluster = machine_of(machine or None, script, gpus_per_node)
    outcome = run_here(
        script,
        tuple(files),
        cluster,
        nodes=nodes,
        gpus_per_node=gpus_per_node,
        progress=progress,
        still_wanted=still_wanted,
    )
    report = cut(text_of(outcome), "`maple-chat rehearse FILE` prints all")
    return RehearsalAnswer(outcome.passed, cluster.id, outcome.findings, report, outcome.unseen)


def diagnose_stream(log: BinaryIO, script: str, machine: str) -> LogAnswer:
    """Why the job of that log failed; with its script, the script without the trouble."""
    from graph.debugging.diagnosis import diagnose
    from graph.debugging.log import LogSource
    from graph.usecases.diagnose_job import report_of

    found = diagnose([LogSource(None, stream=log)])
    report = report_of(found, script, known(machine) if machine else None)
    mended = mend_answer(report.mended, script) if report.mended else None
    return log_answer(report.diagnosis, mended)


def explain_pending(
    output: Annotated[
        PastedText,
        Field(description="what squeue, scontrol show job, sprio, qstat -f, bjobs -l or flux printed", min_length=1),
    ],
    machine: Annotated[str, Field(description="the machine it waits on, where known", max_length=100)] = "",
    script: Annotated[str, Field(description="the job's script, for a change in it", max_length=1_000_000)] = "",
) -> WaitAnswer:
    """Why a job does not start, whether it starts by itself, and what helps; read from the scheduler's own output."""
    from assistant.printing.plain import print_plain
    from graph.usecases.explain_pending import explain_pending as explain

    told = explain(output, machine=known(machine) if machine else None, script=script)
    return WaitAnswer(
        told.job,
        told.kind,
        told.starts or "",
        told.reason,
        told.says,
        tuple(step.command for step in told.look),
        tuple(NextStep(step.text, step.command) for step in told.change),
        cut(print_plain(told.document), "`maple-chat pending FILE` prints all"),
    )


def plan_resources(
    model: Annotated[str, Field(description="Llama-3-8B, ViT-L, ResNet-50, or a size: 7B, 300M", max_length=100)],
    machines: Annotated[
        tuple[str, ...], Field(description="empty: the person's own, or usual GPUs", max_length=20)
    ] = (),
    task: Literal["pretrain", "finetune", "lora", "qlora", "serve"] = "pretrain",
    gpu: Annotated[str | None, Field(description="a card (A100-80), node type or queue", max_length=40)] = None,
    gpu_memory_gb: Annotated[int | None, Field(ge=1, le=10_000)] = None,
    nodes: Count = None,
    gpus: Count = None,
    strategy: Literal["ddp", "fsdp", "zero1", "zero2", "zero3", "tp", "pp", "3d"] | None = None,
    tokens: Annotated[float | None, Field(description="tokens to train on", gt=0, le=1e18)] = None,
    sequence: Count = None,
    micro_batch: Count = None,
    precision: Annotated[str | None, Field(description="bf16, fp32, pure; to serve fp8, int8", max_length=10)] = None,
    hours: Annotated[float | None, Field(description="hours that the job may take", gt=0, le=1e6)] = None,
    cursor: Cursor = "",
) -> PlanAnswer:
    """Does a model fit, on which machine, how long: options with the sum behind them and an honest range."""
    from argparse import Namespace

    options = Namespace(
        model=model,
        machine=machines,
        task=task,
        gpu=gpu,
        gpu_memory=gpu_memory_gb,
        nodes=nodes,
        gpus=gpus,
        strategy=strategy,
        tokens=tokens,
        sequence=sequence,
        micro_batch=micro_batch,
        precision=precision,
        hours=hours,
        config=None,
        tensor=None,
        pipeline=None,
    )
    return plan_answer(options, cursor)


def search_knowledge(
    question: Annotated[str, Field(min_length=2, max_length=2000)],
    machine: Annotated[str, Field(description="only what holds for this machine", max_length=100)] = "",
    scheduler: Literal["slurm", "pbs", "lsf", "flux"] | None = None,
    framework: Framework | None = None,
    cursor: Cursor = "",
) -> SearchAnswer:
    """Passages of what is shipped and of the documents that the person read in; nothing is looked up on the network."""
    from assistant.commands.knowledge import machine_id
    from assistant.settings import read_settings
    from assistant.stores import open_knowledge
    from graph.answering.telling import source_of

    found = open_knowledge(read_settings().data).search(
        question, machine=machine_id(machine) or None, scheduler=scheduler, framework=framework, limit=MOST_PASSAGES
    )
    part, more = part_of_list(found, cursor, PASSAGES_A_PART)
    rows = (
        PassageAnswer(
            " > ".join((one.title, *one.path)),
            source_of(one, date.today()),
            one.date,
            cut(one.text, "`maple-chat knowledge search` prints all"),
            one.kind,
        )
        for one in part
    )
    return SearchAnswer(tuple(rows), more)


# What a conversation's model is handed too (graph/conversing); the server adds those that read the client's files.
TABLE: tuple[Callable[..., object], ...] = (
    list_clusters,
    cluster_facts,
    compare_clusters,
    write_script,
    check_script,
    mend_script,
    port_script,
    explain_pending,
    plan_resources,
    search_knowledge,
)
