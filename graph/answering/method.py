"""Which way to train: the strategy, the precision, the framework, checkpoints, and what scaling to hope for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from graph.answering.ask import Ask
from graph.answering.fact_answer import as_sentence
from graph.answering.model_size import QUANTIZED, CountedGpu, billions_of, devices_of, is_lora
from graph.answering.situation import cite, gpu_tool, list_steps, write_document
from graph.planning.gpus import SHARE, SOURCE, STATE_BYTES, fewest_ranks, fits
from graph.planning.queues import plural
from graph.reading.defining import find_terms
from knowledge.cluster import VENDORS, Cluster
from knowledge.document import Document, Part
from knowledge.general_facts import FrameworkBuilds
from knowledge.glossary import difference
from knowledge.site import site_of

# How the script hears of the end beforehand, and the page that says so.
WAYS = {
    "slurm": (
        "`B:` means the batch script: there `trap 'touch SAVE' USR1` catches the signal and leaves a file for your "
        "program to see, with the launcher in the background (`srun ... &`) and `wait` behind it, as bash runs a trap "
        "only once the command in front returns. Without `B:` the signal goes to the ranks, for a handler of your "
        "program",
        "https://slurm.schedmd.com/sbatch.html",
    ),
    "pbs": (
        "I know of no warning by PBS minutes before the end: let the program watch the clock and save some "
        "minutes before",
        "",
    ),
    "lsf": ("`#BSUB -wa USR1 -wt 5` sends USR1 5 minutes before the end", ""),
    "flux": ("`--signal=SIGUSR1@300s` sends SIGUSR1 5 minutes before the end", ""),
}
SAVED = (
    "At that moment save model, optimizer, scheduler and step, and now and then before; the next job loads the newest "
    "checkpoint as it starts"
)
YOUNG = "https://doi.org/10.1145/361147.361115"
FP8 = re.compile(r"H100|H200|GH200|B200|GB200|MI300|MI325|L40S", re.I)
NO_BF16 = re.compile(r"V100|P100|T4|K80|2080", re.I)
# What bf16 is set against.
FP16, OTHERS = (
    re.compile(r"(?i)\b(?:fp|float)16\b"),
    re.compile(r"(?i)\b(?:fp|float)(?:16|32)\b|\btf32\b|\b(?:full|single)[- ]precision"),
)
GPU_NAME = re.compile(r"\b(?:[vahpbl]\d{2,3}s?|gh200|gb200|mi\d{3}x?|t4|max 1550|pvc)\b", re.I)
# A framework as people name it: what it is for, and whether we would take it.
FRAMEWORKS: dict[str, str] = {
    r"lightning": "Lightning writes the training loop for you and passes devices, nodes and strategy on; good where "
    "the code is its style already. Its numbers must match the job's (`devices`, `num_nodes`).",
    r"accelerate|hugging ?face|hf trainer|\btrainer\b": "Accelerate (and the Hugging Face Trainer on top of it) adds "
    "DDP, FSDP or DeepSpeed to a loop with few changes; the natural choice for Hugging Face models.",
    r"deepspeed|zero": "DeepSpeed gives ZeRO in three stages and offload to CPU memory; take it where offload is "
    "needed or the code has it. Else FSDP does the same without another package.",
    r"megatron": "Megatron-LM splits layers (tensor and pipeline parallel); it pays from some 10 B parameters trained "
    "from scratch over many nodes, and wants its own model code.",
    r"torchtitan": "torchtitan is PyTorch's own, with FSDP2, tensor and pipeline parallel in one TOML file; for "
    "pretraining of Llama-like models.",
    r"horovod": "Horovod's last release is of 2023, so for new work no: PyTorch's DDP does the same over NCCL or RCCL "
    "with a few changed lines (init_process_group, DistributedDataParallel, DistributedSampler).",
    r"\bjax\b|flax": "JAX runs one process a GPU or a node and finds the others by itself under Slurm "
    "(`jax.distributed.initialize()`); no torchrun.",
    r"tensorflow|keras": "TensorFlow spreads by `tf.distribute.MultiWorkerMirroredStrategy`, with a TF_CONFIG for each "
    "worker.",
    r"pytorch|torch|\bddp\b|plain|vanilla": "Plain PyTorch (torchrun with DDP or FSDP) is the least to go wrong: take "
    "it unless the code already stands on another.",
}


def choose_strategy(ask: Ask) -> Document | None:
    """One recommendation with its sum; without a size the rule, and what to say to have it worked out."""
    billions, devices = billions_of(ask), devices_of(ask)
    if not devices:
        return None
    if billions is None:
        return rule_of_strategies(ask, devices)
    if is_lora(ask):
        return of_adapters(ask, billions, devices)
    state = billions * STATE_BYTES
    sum_of = f"{size(billions)} x {STATE_BYTES} bytes = {state:,.3g} GB of states (weights, gradients, Adam)"
    told = [verdict(billions, one) for one in devices]
    best = "DDP" if fits(billions, devices[-1].gb) and fits(billions, devices[0].gb) else "FSDP (or ZeRO-3)"
    best = f"{best} on the smaller card, DDP on the larger" if mixed(billions, devices) else best
    return write_document(
        f"**{best}.** {sum_of}; activations come on top.",
        set_apart(ask),
        *told,
        beyond(billions),
        cite([SOURCE, *(one.source for one in devices)], devices[0].as_of),
    )


def set_apart(ask: Ask) -> str:
    """What sets the strategies of the question apart, where that is asked."""
    terms = find_terms(ask.text) if re.search(r"\bdiffer|\bunterschied|\bdiff[eé]ren", ask.text, re.I) else ()
    pairs = ((one, other) for at, one in enumerate(terms) for other in terms[at + 1 :])
    return next((text for one, other in pairs if (text := difference(one, other))), "")


def size(billions: float) -> str:
    return f"{billions:g} B" if billions >= 1 else f"{billions * 1000:.0f} M"


def mixed(billions: float, devices: Sequence[CountedGpu]) -> bool:
    return not fits(billions, devices[0].gb) and fits(billions, devices[-1].gb)


def verdict(billions: float, one: CountedGpu) -> str:
    """What one kind of GPU makes of that size."""
    if fits(billions, one.gb):
        return f"A {one.name} holds that with room to spare, and DDP is the simplest and fastest: nothing is sharded."
    least = fewest_ranks(billions, one.gb)
    tight = "holds it with little room for activations" if billions * STATE_BYTES < 0.9 * one.gb else "cannot hold it"
    nodes = f" ({plural(-(-least // one.per_node), 'node')})" if one.per_node else ""
    return f"A {one.name} {tight}; FSDP or ZeRO-3 spread it, from about {plural(least, 'GPU')}{nodes} on."


def beyond(billions: float) -> str:
    """What comes on top for large models."""
    if billions < 30:
        return ""
    return (
        "At that size tensor parallelism inside a node (Megatron, torchtitan) is worth a look; start with FSDP and "
        "activation checkpointing, which need no other model code."
    )


def of_adapters(ask: Ask, billions: float, devices: Sequence[CountedGpu]) -> Document:
    """LoRA keeps the weights frozen: 2 bytes a parameter, or half a byte in 4 bit."""
    quantized = QUANTIZED.search(ask.utterance.text) is not None
    each = 0.5 if quantized else 2
    gb = billions * each
    kind = "QLoRA" if quantized else "LoRA"
    told = []
    for one in devices:
        number = max(1, -int(-gb // (SHARE * one.gb)))
        few = "one is enough" if number == 1 else f"it takes {number} of them (FSDP, or the model split over them)"
        told.append(f"With a {one.name} {few}.")
    held = f"{size(billions)} x {each:g} bytes = {gb:.3g} GB of frozen weights; adapters and activations come on top"
    more = "More GPUs only make it faster: DDP, one copy on each." if gb <= SHARE * devices[0].gb else ""
    pages = cite([one.source for one in devices], devices[0].as_of)
    return write_document(f"**{kind} needs little:** {held}.", *told, more, pages)


def rule_of_strategies(ask: Ask, devices: Sequence[CountedGpu]) -> Document:
    """The rule in one sentence, with this machine's numbers."""
    most = "; ".join(f"about {SHARE * one.gb / STATE_BYTES:.1f} B parameters on a {one.name}" for one in devices)
    return write_document(
        f"DDP as long as the model's states ({STATE_BYTES} bytes a parameter with Adam in mixed precision) fit on one "
        f"GPU with a third left for activations: up to {most}. Above that FSDP, or ZeRO-3 where DeepSpeed is in use or "
        "parts must go to CPU memory. ZeRO-1 and ZeRO-2 lie between: they shard the optimizer, then the gradients.",
        "How many parameters has the model, and on which machine? Then I work it out. *You choose* takes DDP.",
        cite([SOURCE], ""),
    )


def choose_precision(ask: Ask) -> Document | None:
    """What the machine's GPUs compute in, and what to take."""
    models = gpu_models(ask)
    if not models:
        return write_document(
            "bf16 on every GPU since 2020 (A100, H100, MI200 and later, Intel Max): the range of fp32, no loss "
            "scaling. "
            "fp16 with a gradient scaler on V100 and older. fp8 only with Transformer Engine on H100 and later, MI300."
        )
    where, old = " and ".join(models), [m for m in models if NO_BF16.search(m)]
    page = cite([kind.source or "" for kind in ask.machine.node_types][:1], ask.machine.as_of) if ask.machine else None
    if re.search(r"\bfp8\b|\bfloat8\b", ask.text, re.I):
        from graph.answering.resource_languages import spoken

        return write_document(spoken(ask.text, "take", what="bf16"), about_fp8(models, where), page)
    if re.search(r"\btf32\b", ask.text, re.I):
        can = "No" if old or any("MI" in m for m in models) else "Yes"
        return write_document(
            f"{can}: TF32 is of NVIDIA's GPUs since A100; `torch.set_float32_matmul_precision('high')` turns it on for "
            "what stays in fp32. With bf16 autocast it matters little.",
            page,
        )
    if old and len(old) == len(models):
        return write_document(
            f"No bf16 on {where}: it would be emulated and slow. Take fp16 with `torch.amp.GradScaler`, or fp32 where "
            f"the "
            "loss turns nan.",
            page,
        )
    old_ones = f" Not on {', '.join(old)}: fp16 with a gradient scaler there." if old else ""
    from graph.answering.resource_languages import spoken

    return write_document(
        spoken(ask.text, "take", what="bf16"),
        f"{'**bf16**: it' if OTHERS.search(ask.text) else 'Yes, bf16'} is native on "
        f"{', '.join(m for m in models if m not in old)}{', as fast as fp16' if FP16.search(ask.text) else ''}. It has "
        f"the range of fp32, so no loss scaling is needed; the optimizer keeps its weights in fp32.{old_ones}",
        "In the program: `torch.autocast('cuda', dtype=torch.bfloat16)`, or its option (`--bf16`, "
        "`precision=bf16-mixed`).",
        page,
    )


def gpu_models(ask: Ask) -> list[str]:
    """The GPUs named in the clause, else the machine's."""
    named = [m.group(0).upper() for m in GPU_NAME.finditer(ask.text)]
    if named or ask.machine is None:
        return list(dict.fromkeys(named))
    kinds = [kind for kind in ask.machine.node_types if kind.id == ask.request.node_type] or [*ask.machine.node_types]
    return list(dict.fromkeys(kind.gpus.model for kind in kinds if kind.gpus.per_node))


def about_fp8(models: Sequence[str], where: str) -> str:
    if not any(FP8.search(model) for model in models):
        return f"No: {where} has no fp8 arithmetic. **bf16** is the right choice there."
    can = [model for model in models if FP8.search(model)]
    others = f" ({', '.join(one for one in models if one not in can)} not)" if len(can) < len(models) else ""
    return (
        f"**bf16 first.** {' and '.join(can)} can{others}, but start with bf16. fp8 speeds up large matrix products "
        "only, needs Transformer Engine or torchao in the program (an option alone does nothing), and the loss must be "
        "watched. Worth a try for models of some billions once bf16 runs well; compare a few hundred steps of both."
    )


# How long before the end a save's own length asks for the warning.
WARNED = re.compile(r"USR1@(\d+)")


def plan_checkpoints(ask: Ask, often: str = "") -> Document:
    """How often, before the limit, and going on; with the machine's way of a warning and its place for the files.

    often: how often for the training at hand, where its size is known.
    """
    scheduler = ask.machine.scheduler if ask.machine else "slurm"
    way, page = WAYS[scheduler]
    told = WARNED.search(often)
    lead = int(told[1]) if told else 300
    signal = f"`#SBATCH --signal=B:USR1@{lead}` warns the script {lead // 60} minutes before the end; "
    warn = signal if scheduler == "slurm" else ""
    site = site_of(ask.machine.id) if ask.machine else None
    cleaned = site.purge.scratch if site and site.purge else ""
    purge = f"On {ask.machine.title} scratch is cleaned: {cleaned}." if cleaned and ask.machine else ""
    return write_document(
        often
        or "Every 15 to 30 minutes is a good start, and once before the time limit. More exactly: the square root of 2 "
        "x the time a save takes x the time between failures; 2 minutes and one failure a day give about 75 minutes.",
        f"Before the limit: {warn}{way}.",
        as_sentence(SAVED),
        "Sharded checkpoints (`torch.distributed.checkpoint`) let each rank write its part: quicker, and loadable on "
        "another number of GPUs. Keep the last two or three; write to a new name, then rename.",
        purge,
        cite([YOUNG, page, *(site.purge.sources if site and site.purge else ())], site.as_of if site else ""),
    )


def choose_framework(ask: Ask) -> Document:
    """What each framework named is for, what the machine says of it; without a name, plain PyTorch."""
    told = [text for name, text in FRAMEWORKS.items() if re.search(name, ask.text, re.I)]
    told = told or [FRAMEWORKS[r"pytorch|torch|\bddp\b|plain|vanilla"]]
    return write_document(*told[:3], *on_machine(ask))


def tell_runs(ask: Ask) -> Document | None:
    """Which build of a framework or package the machine's GPUs want, what is known of it there, how it gets there."""
    from graph.answering.machine_compare import build_verdict, named_builds

    machine, builds = ask.machine, named_builds(ask.text)
    if builds and len(several := machines_meant(ask)) > 1:
        return tell_runs_on_each(builds, several)
    if machine is None:
        return None
    if not builds:
        return tell_stack(machine) if OWN_STACK.search(ask.text) else None
    build = builds[0]
    title, kind = build.title, machine.node_types[0]
    verdict = build_verdict(build, kind)
    arm = any("grace" in (kind.cpu.model or "").lower() for kind in machine.node_types)
    site = site_of(machine.id)
    own = [text for text in (*machine.gotchas, *machine.notes) if re.search(rf"\b(?:{build.names})\b", text, re.I)][:2]
    return write_document(
        f"{verdict} {machine.title} has {VENDORS[kind.gpus.vendor]}'s {kind.gpus.model}.",
        *map(as_sentence, own),
        f"Its processors are Arm: take the aarch64 build of {title}, or a container made for Arm." if arm else "",
        f"**How it gets there:** {site.software.own_env}" if site and site.software.own_env else "",
        f"**Containers:** {site.software.containers}" if site and site.software.containers else "",
        "" if own else f"Whether somebody tried {title} there is not in what I know.",
        cite([*filter(None, [build.source]), *(site.software.sources[:2] if site else ())], site.as_of if site else ""),
    )


# Of machines that were just compared: each of them.
EACH = re.compile(
    r"(?i)\b(?:both|each|either|all (?:of them|three|two)|them|beiden?|jede\w*"
    r"|les deux|chacun\w*|ambos|ambas|los dos|entrambi|ambedue)\b"
)


def machines_meant(ask: Ask) -> list[Cluster]:
    """The machines that a question names; those just compared, where it asks of each of them."""
    from knowledge.catalogue import catalogue

    compared = ask.resources.machines if ask.resources and EACH.search(ask.text) else ()
    return [one for name in ask.utterance.machines() or compared if (one := catalogue().find(name))]


def tell_runs_on_each(builds: Sequence[FrameworkBuilds], machines: Sequence[Cluster]) -> Document:
    """Whether packages run on each of several machines, which decides between them, and how they get there."""
    from graph.answering.machine_compare import build_verdict, is_arm

    kinds = {one.title: one.node_type(one.default_queue.node_types[0]) for one in machines}
    says = {title: [build_verdict(one, kind) for one in builds] for title, kind in kinds.items()}
    lines = []
    for title, kind in kinds.items():
        arm = " Its processors are Arm: the aarch64 build, or a container made for Arm." if is_arm(kind) else ""
        lines.append(f"**{title}** ({VENDORS[kind.gpus.vendor]} {kind.gpus.model}): {' '.join(says[title])}{arm}")
    status = [as_sentence(f"{one.title}: {one.status}") for one in machines if one.status]
    pages = [page for page in (*(one.source for one in builds), *(kind.source for kind in kinds.values())) if page]
    lead = " and ".join(one.title for one in builds) + runs_where(says)
    return write_document(f"**{lead}.**", *lines, *status, cite(pages, min(one.as_of for one in machines)))


def runs_where(says: Mapping[str, Sequence[str]]) -> str:
    """On which of the machines all is a yes, and on which one is a no; by what is said of each."""
    ready = [title for title, each in says.items() if all(one.startswith("Yes") for one in each)]
    refused = [title for title, each in says.items() if any(one.startswith("No") for one in each)]
    if not ready:
        return ": on none of them by the usual wheel"
    return f": yes on {' and '.join(ready)}" + (f", no on {' and '.join(refused)}" if refused else "")


# An environment or code of one's own, by what it is made of.
OWN_STACK = re.compile(
    r"(?i)\b(?:conda|mamba|venv|virtualenv|wheels?|containers?|docker|images?|sif|kernels?|extensions?|compiled|binar\w+"
    r"|aarch64|arm(?:64)?|x86(?:_64)?|stack|environment|rocm|hip|sycl|oneapi)\b"
)
BY_VENDOR = {
    "nvidia": "CUDA code and CUDA wheels run, own kernels built for {arch}",
    "amd": "ROCm, no CUDA: PyTorch by its ROCm build, own CUDA kernels through HIP, CUDA-only wheels not at all",
    "intel": "oneAPI/SYCL, no CUDA: PyTorch by its XPU build (the device is `xpu`), own CUDA kernels rewritten",
}


# Processors by name, and what asks whether something that there is already runs.
PROCESSORS = re.compile(r"(?i)\b(?:arm(?:64)?|aarch64|x86(?:[_-]64)?|grace)\b")


def tell_move(ask: Ask) -> Document | None:
    """Whether an environment or a container runs on the machine, where processors are named or it comes from a machine
    that has others; None else."""
    from graph.answering.machine_compare import is_arm
    from knowledge.catalogue import catalogue

    named = [one for name in ask.utterance.machines() if (one := catalogue().find(name))]
    differ = len({is_arm(one.node_types[0]) for one in named}) > 1
    return tell_stack(ask.machine) if ask.machine and (differ or PROCESSORS.search(ask.text)) else None


def tell_stack(machine: Cluster) -> Document:
    """What an environment, a container or compiled code has to be built for on a machine, and how to find out."""
    kind, site = machine.node_type(machine.default_queue.node_types[0]), site_of(machine.id)
    from graph.answering.machine_compare import is_arm

    arm = is_arm(kind)
    vendor = BY_VENDOR[kind.gpus.vendor].format(arch=kind.gpus.arch or "its architecture")
    taken = (
        "**Not as it is: its processors are Arm (aarch64)**, so an x86 conda environment or container cannot be copied "
        "there and is made anew. Pure Python comes along; what has a wheel for aarch64 is taken from it, and all else "
        "is compiled there."
        if arm
        else "**Its processors are x86**: the usual wheels, conda packages and containers run as far as the CPU goes."
    )
    test = "`pip download --no-deps --only-binary=:all: --platform manylinux2014_aarch64 PACKAGE` tells which have one."
    return write_document(
        f"{taken} {test if arm else ''}".strip(),
        f"**GPUs: {machine.title} has {VENDORS[kind.gpus.vendor]}'s {kind.gpus.model}**: {vendor}.",
        f"**An environment there:** {site.software.own_env}" if site and site.software.own_env else "",
        f"**Containers:** {site.software.containers}" if site and site.software.containers else "",
        cite([*(site.software.sources[:2] if site else ()), kind.source or ""], machine.as_of),
    )


def tell_speed(ask: Ask) -> Document:
    """What to look at first when a training is slow, in the order in which it mostly is the reason."""
    look = gpu_tool(ask.machine)
    return write_document(
        "First find what it waits for; change one thing at a time, and compare steps a second after 50 of warm-up.",
        list_steps(
            (
                "GPU use on the node while it runs: below 80 % it waits for data or for other ranks",
                f"srun --jobid=JOBID --overlap -N1 -n1 {look}",
            ),
            (
                "data: more loader workers (CPUs of the task), `pin_memory`, data on the node's disk or in large files",
                "",
            ),
            ("precision: bf16 in place of fp32 (no bf16 on V100)", ""),
            ("a larger batch a GPU, as far as memory goes; then `torch.compile`", ""),
            ("several nodes slower than one: the network; look for `NET/` in the lines of", "export NCCL_DEBUG=INFO"),
        ),
        "Tell me which it is (GPU use, nodes, batch), or paste the first lines of the log with NCCL_DEBUG=INFO.",
    )


def on_machine(ask: Ask) -> list[Part | str]:
    """What the machine refuses of it, with its reason."""
    machine: Cluster | None = ask.machine
    if machine is None:
        return []
    found = [one for one in machine.refusals if one.framework and one.framework in ask.text.lower()]
    told = [f"On {machine.title}: {one.says} {as_sentence(one.why)} Instead: {one.instead}." for one in found[:1]]
    vendor = machine.node_types[0].gpus.vendor
    if not found and re.search(r"horovod|megatron|apex|flash", ask.text, re.I) and vendor != "nvidia":
        told.append(f"{machine.title} has {vendor.upper()} GPUs: it needs a build for them, which is work.")
    return [*told, cite([one.source for one in found[:1]], machine.as_of)]


# How many times as fast a question hopes for: `4x faster`, `twice as fast`.
HOPED = re.compile(
    r"(?i)(?<![\w.])(?P<times>\d{1,3}(?:[.,]\d)?)\s?(?:x|\u00d7|times|mal|fois|veces|倍)(?![\w-]*\s*(?:a|h|v|mi|gh)\d)"
    r"|\b(?:twice|double|doppelt|deux fois|dos veces|dobl\w+|il doppio)\b"
)


def hoped_for(text: str) -> str:
    """What of so many times the speed remains; empty where no such number is named."""
    found = HOPED.search(text)
    times = float((found["times"] or "2").replace(",", ".")) if found else 0.0
    told = (
        f"**Not quite: {0.85 * times:.3g} to {0.95 * times:.3g} times as fast is usual** (85 to 95 %), with the same "
    )
    return f"{told}batch a GPU and data loading that keeps up. Measure both for some minutes." if times > 1 else ""


def expect_scaling(ask: Ask) -> Document:
    """What speed-up to hope for, what is bad, and how to measure it."""
    return write_document(
        hoped_for(ask.text),
        "Efficiency = time of one node / (time of N nodes x N) for the same work. Rules of thumb: 90 % and more up to "
        "a few "
        "nodes is good, below 80 % at 32 nodes something is wrong for a model with enough work a step, below 60 % more "
        "nodes are wasted. Twice the nodes is never quite twice as fast: the all-reduce stays, and what each GPU does "
        "between two of them shrinks unless the global batch grows.",
        "What to look at: whether NCCL took the fast network (`NCCL_DEBUG=INFO`, the lines with NET/), data loading "
        "(GPU busy below 90 %), a batch too small a GPU.",
        "To measure: 1, 2, 4, 8 ... nodes with the same batch a GPU, 300 steps after 50 of warm-up, 10 to 15 minutes "
        "each; "
        "up to 32 nodes that is 63 nodes x 0.25 h = 16 node hours.",
    )
