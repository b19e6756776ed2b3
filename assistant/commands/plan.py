"""`maple-chat plan`: does a model fit, on which machine, how long, what it needs; with the sum and a range."""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from assistant.errors import InputError
from assistant.printing.plain import print_plain
from graph.answering.resources import plan_with_hours
from graph.planning.resources.device import devices as device_kinds
from graph.planning.resources.options import ResourceOption, amount, known_devices, named_devices
from graph.planning.resources.parameters import read_config
from graph.planning.resources.serving import estimate_serving, fewest_gpus_to_serve
from graph.planning.resources.speed import Range
from graph.planning.strategies import with_usual_framework
from graph.usecases.plan_resources import ResourcePlan, plan_model, plan_resources
from knowledge.catalogue import catalogue
from knowledge.opening import LARGEST_SCRIPT, read_plain
from knowledge.resource_question import ResourceQuestion, Task
from knowledge.types import JobRequest, Refusal

TASKS: dict[str, Task] = {"pretrain": "train", "finetune": "train", "lora": "lora", "qlora": "qlora", "serve": "serve"}
PRECISIONS = ("bf16", "fp16", "fp32", "pure", "fp8", "int8", "int4")
# Those of weights that nothing is learned by.
SERVED = ("int8", "int4")
SCALE = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Does a model fit, on which machine, how long: options with the sum behind each and an honest range. "
        "Exit: 0 something surely fits, 1 nothing does, 2 bad input."
    )
    parser.add_argument("--model", metavar="NAME", help="a name (Llama-3-8B, ViT-L, ResNet-50) or a size (7B, 300M)")
    parser.add_argument("--config", metavar="FILE", help="a Hugging Face config.json instead of a name")
    parser.add_argument("--machine", metavar="M", action="append", help="a machine; repeat it to compare several")
    parser.add_argument(
        "--machines",
        metavar="A,B",
        help="the machines that you have: compared and kept for later plans; all: forget them",
    )
    parser.add_argument(
        "--gpu",
        metavar="GPU",
        help="a card (A100, A100-80, H100), a kind of node or a queue of the machine; without a machine: of none",
    )
    parser.add_argument("--gpu-memory", metavar="GB", type=positive, help="its memory in GB")
    parser.add_argument("--nodes", metavar="N", type=positive)
    parser.add_argument("--gpus", metavar="N", type=positive, help="GPUs in all, where not whole nodes")
    parser.add_argument("--strategy", choices=("ddp", "fsdp", "zero1", "zero2", "zero3", "tp", "pp", "3d"))
    parser.add_argument("--tensor", metavar="N", type=positive, help="tensor parallel degree")
    parser.add_argument("--pipeline", metavar="N", type=positive, help="pipeline parallel degree")
    parser.add_argument("--task", choices=TASKS, default="pretrain")
    parser.add_argument("--precision", choices=PRECISIONS, help="pure: weights and states in 16 bit; fp8, int4: served")
    parser.add_argument("--tokens", metavar="N", type=number, help="tokens to train on: 26B, 1.5T")
    parser.add_argument("--sequence", metavar="N", type=positive, help="tokens of a sequence (4096)")
    parser.add_argument("--micro-batch", metavar="N", type=positive, help="sequences a GPU works on at once (1)")
    parser.add_argument("--hours", metavar="H", type=float, help="hours that the job may take")
    parser.add_argument(
        "--script", metavar="N", type=positive, nargs="?", const=1, help="the script of the Nth option (the first)"
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="with --script: write it and the files beside it there")
    parser.add_argument("--force", action="store_true", help="with -o: overwrite files")
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def positive(text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is no whole number above zero")
    return int(text)


def number(text: str) -> float:
    """`26B`, `1.5T`, `3e9`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\d{1,2})?)\s?([kmbt]?)", text.strip().lower())
    if not found or float(found[1]) <= 0:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is no number: write 26B, 1.5T or 3e9")
    return float(found[1]) * SCALE[found[2]]


def run(options: argparse.Namespace) -> int:
    question = over_own(question_of(options), options.machines)
    plan = plan_of(options, question)
    if plan.model is None:
        raise InputError(f"the size of '{(options.model or '')[:40]}' is not known; write --model 7B, or give --config")
    if options.script:
        return write(plan, options)
    if question.task == "serve":
        return serve(plan, options.json)
    print(
        json.dumps(as_json(plan), indent=2, ensure_ascii=False) if options.json else print_plain(plan_with_hours(plan))
    )
    return 0 if plan.fits and in_time(plan, question) else 1


def write(plan: ResourcePlan, options: argparse.Namespace) -> int:
    """The script of an option, with its sizes in it. Raises InputError where there is no such option on a machine."""
    from assistant.commands.script import hand_over, refuse, tell, tell_findings
    from graph.usecases.write_script import Open, write_script

    changes = [change for option in plan.options if (change := plan.change(option))]
    if options.script > len(changes):
        most = f"there are {len(changes)}" if changes else "none holds it on a machine; name one with --machine"
        raise InputError(f"--script {options.script}: {most}")
    request = with_usual_framework(JobRequest(**dict(changes[options.script - 1])))
    made = write_script(request, catalogue().named(request.machine)) if request.machine else None
    if made is None or isinstance(made, Open):
        raise InputError("that option leaves the script open; `maple-chat ask` asks you instead")
    if isinstance(made, Refusal):
        return refuse(made, options.json)
    hand_over(made.bundle, {"bundle": asdict(made.bundle), "plan": asdict(made.plan)}, options)
    tell_findings(made.findings)
    tell(made.plan, made.bundle, options.output)
    return 0


def question_of(options: argparse.Namespace) -> ResourceQuestion:
    """The question of the command line. Raises InputError on a machine that is not known."""
    machines = [catalogue().named(name) for name in options.machine or ()]
    if options.precision not in (None, *PRECISIONS):
        raise InputError(f"precision '{options.precision[:20]}': write one of {', '.join(PRECISIONS)}")
    served, task = options.precision in SERVED, TASKS[options.task]
    if (served and task not in ("serve", "qlora")) or (options.precision == "pure" and task == "serve"):
        fits = "--task serve or qlora" if served else "a training"
        raise InputError(f"--precision {options.precision} is for {fits}, not for --task {options.task}")
    card = named_devices(options.gpu, machines) if options.gpu else {}
    if options.gpu and not card:
        there = [one.node_type for cluster in machines for one in device_kinds(cluster)]
        raise InputError(
            f"--gpu '{options.gpu[:30]}': write a card (A100, H100-80){' or ' + ', '.join(there) if there else ''}"
        )
    memory = {"gpu_gb": float(options.gpu_memory)} if options.gpu_memory else {}
    return ResourceQuestion(
        model=options.model or (Path(options.config).stem if options.config else None),
        task=task,
        machines=tuple(machine.id for machine in machines),
        nodes=options.nodes,
        gpus=options.gpus,
        strategy=options.strategy,
        tensor=options.tensor,
        pipeline=options.pipeline,
        tokens=options.tokens,
        sequence=options.sequence,
        micro_batch=options.micro_batch,
        precision=options.precision,
        hours=options.hours,
        **{**card, **memory},  # type: ignore[arg-type]
    )


def over_own(question: ResourceQuestion, machines: str | None = None) -> ResourceQuestion:
    """The question over the person's machines where it names none. machines: those to keep; `all`: none, all are
    weighed. Raises InputError on a name that is not known."""
    if machines is None and (question.machines or question.gpu):
        return question
    from assistant.settings import read_settings
    from assistant.storage.database import open_database
    from assistant.storage.own_machines import OwnMachines, machines_of

    settings = read_settings()
    own = OwnMachines(settings, database := open_database(settings))
    if machines is None:
        return question.over(own.read())
    every = machines.strip().lower() == "all"
    kept = () if every else machines_of(machines, "--machines")
    with database.transaction() as talk:
        own.keep(talk, kept)
    return replace(question, machines=tuple(catalogue().clusters)) if every else question.over(kept)


def plan_of(options: argparse.Namespace, question: ResourceQuestion) -> ResourcePlan:
    """The plan, of a config.json where one is given. Raises InputError where that cannot be read."""
    if not options.model and not options.config:
        raise InputError("which model? --model Llama-3-8B, --model 7B, or --config config.json")
    if not options.config:
        return plan_resources(question)
    try:
        text = read_plain(options.config, LARGEST_SCRIPT).decode("utf-8")
        return plan_model(question, read_config(text, options.model or Path(options.config).stem))
    except (OSError, ValueError) as error:
        raise InputError(f"{options.config}: {error}; give a transformer's config.json") from error


def in_time(plan: ResourcePlan, question: ResourceQuestion) -> bool:
    """Whether one that fits ends within the hours that were said; True where none were, or no amount of work."""
    timed = [o.hours.usual for o in plan.options if o.hours and o.fit.verdict == "fits"]
    return not question.hours or not timed or min(timed) <= question.hours


def as_json(plan: ResourcePlan) -> dict[str, Any]:
    """model and options; memory in GiB for one GPU, ranges as low, usual, best."""
    model = plan.model
    return {
        "model": {"name": model.name, "parameters": model.parameters, "exact": model.exact} if model else None,
        "fits": plan.fits,
        "amount": amount(plan.question, model) if model else None,
        "options": [
            option_json(plan.running(option)) | {"request": dict(plan.change(option))} for option in plan.options
        ],
    }


def option_json(option: ResourceOption) -> dict[str, Any]:
    fit, layout = option.fit, option.fit.layout

    def spread(found: Range | None) -> dict[str, float] | None:
        return {name: round(value, 3) for name, value in asdict(found).items()} if found else None

    return {
        "machine": option.cluster.id if option.cluster else None,
        "gpu": fit.device.name,
        "nodes": fit.nodes,
        "gpus": layout.gpus,
        "strategy": layout.spread,
        "tensor": layout.tensor,
        "pipeline": layout.pipeline,
        "micro_batch": layout.micro_batch,
        "sequence": layout.sequence,
        "activation_checkpointing": layout.recompute == "full",
        "verdict": fit.verdict,
        "memory_gib": {part.name: round(part.gib, 2) for part in fit.memory.parts},
        "memory_total_gib": {"expected": round(fit.memory.gib, 1), "worst": round(fit.memory.most, 1)},
        "rate": spread(option.rate),
        "hours": spread(option.hours),
        "node_hours": spread(option.node_hours),
        "queue": option.chain.queue.id if option.chain else None,
        "queue_limit_hours": option.chain.limit_h if option.chain else None,
        "jobs": option.chain.jobs if option.chain else None,
    }


def serve(plan: ResourcePlan, as_data: bool) -> int:
    """The fewest GPUs of each kind that serve the model."""
    question = plan.question
    model = plan.model if plan.model and plan.model.shape.kind != "other" else None
    length, weights = question.sequence or 8192, question.precision or "bf16"
    rows: list[dict[str, Any]] = []
    for device in dict.fromkeys(device for device, _ in known_devices(question)):
        gpus = question.gpus or (fewest_gpus_to_serve(model, device.gb, length, weights) if model else None)
        found = estimate_serving(model, device.gb, gpus, length, weights) if model and gpus else None
        rows.append({"gpu": device.name, "gpus": gpus, **(asdict(found) if found else {})})
    print(json.dumps(rows, indent=2) if as_data else print_plain(plan.document))
    return 0 if any(row.get("sequences") for row in rows) else 1
