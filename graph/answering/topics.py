"""The table of topics: name, the words that ask for it (any of the patterns), the function that answers.

Order matters: the first topic with an answer wins, so the narrow ones come first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from graph.answering import checkpoints, directives, hardware, launching, limits, methods, surroundings
from graph.answering.asking import Ask
from graph.answering.fact_answer import FactAnswer
from graph.answering.passages import matching


class Topic(NamedTuple):
    name: str
    patterns: tuple[str, ...]
    answer: Callable[[Ask], FactAnswer | None]


LAUNCHERS = r"(?:torchrun|accelerate launch|deepspeed launcher|srun|mpiexec|mpirun|ibrun|jsrun|flux run)"

SAVES = r"\b(?:checkpoint\w*|sav(?:e|es|ing))\b"
ENDS = (
    r"(?:time ?limit|wall ?-?time|time ?out|time (?:is up|runs out)|before .{0,30}\b(?:ends?|killed|stop(?:s|ped)?)\b)"
)

TABLE: tuple[Topic, ...] = (
    Topic("checkpoint at the end", (rf"{SAVES}.*{ENDS}|{ENDS}.*{SAVES}",), checkpoints.before_the_end),
    Topic(
        "failure",
        (
            r"\b(?:errors?|fail(?:s|ed|ing|ure)?|crash\w*|hangs?|hung|hanging|killed|slow|stuck|refused|rejected)\b",
            r"\b(?:wrong|warning|not found|denied|undefined|invalid|times? out|timeout)\b",
        ),
        matching,
    ),
    Topic("queues compared", (r"\bdiffer\w*|\bcompare|\bversus\b|\bvs\b|\bor\b|\bbetter\b",), limits.compare),
    Topic("variable", (r"[a-z]+_[a-z0-9_]+",), surroundings.variable),
    Topic("architecture", (r"x86|\barm\b|aarch64|ppc64|architecture",), hardware.cpus),
    Topic("cost", (r"\bsus?\b|\bcosts?\b|charge factor|\bprice|expensive|cheap",), matching),
    Topic("internet named", (r"\binternet\b|\bwandb\b|weights (?:and|&) biases",), surroundings.internet),
    Topic("option", (r"(?<![\w-])--[a-z]|\bfilesystems\b",), directives.option),
    Topic("fits", (r"\b(?:can|could|may|will|does|allowed|fit|possible|take)\b.*\bnodes?\b",), limits.fits),
    Topic(
        "nodes of a job",
        (
            r"how many nodes (?:can|may|could|am i|are allowed|at most|max|in\b|for\b|per job|do i get)",
            r"how many nodes does .{0,30}(?:allow|take)",
            r"(?:max(?:imum|imal)?|min(?:imum)?)(?: number of| num)? nodes|(?:most|fewest) nodes|node (?:limit|cap)",
            r"limit (?:on|of) nodes|(?:largest|biggest|smallest) job|max(?:imum)? job size",
            r"how (?:big|large) (?:can|may)",
            r"nodes? .{0,20}at (?:most|least)|wie viele knoten (?:kann|darf)|combien de n(?:oe|œ)uds (?:puis|peut)",
        ),
        limits.how_many_nodes,
    ),
    Topic(
        "walltime",
        (
            r"wall[ -]?time|wall ?clock|(?:run ?)?time limit|longest|how long|how many (?:hours|days)",
            r"max(?:imum|imal)? (?:(?:job |run ?)?time|(?:job )?(?:duration|length|runtime))|(?:run|train|last) for",
            r"laufzeit|wie lange|temps (?:max|limite)|combien de temps|tiempo m[aá]ximo|tempo massimo|最长|多长时间",
        ),
        limits.how_long,
    ),
    Topic(
        "node count",
        (r"how many (?:\w+ ){0,2}nodes (?:does|are|has|is)\b|number of (?:\w+ )?nodes|how (?:big|large) is",),
        hardware.node_count,
    ),
    Topic(
        "part of a node",
        (
            r"(?:part|half|share|fraction) (?:of )?(?:a |the )?nodes?|(?:only|just) (?:one|1|a single|two|2) gpus?",
            r"(?:single|one|1)[ -]gpu|nodes? (?:be )?shared|whole nodes?|exclusive nodes?|fewer gpus",
        ),
        directives.whole_nodes,
    ),
    Topic(
        "memory of a node",
        (
            r"(?<!gpu )(?<!hbm )\b(?:memory|ram)\b(?:(?!\b(?:gpus?(?! nodes?)|cards?|gcds?)\b).){0,40}\bnodes?\b",
            r"\bnodes?\b(?:(?!\b(?:gpus?|cards?|gcds?|hbm)\b).){0,30}\b(?:memory|ram)\b(?!.{0,15}\b(?:gpus?|cards?|gcds?)\b)",
        ),
        hardware.memory,
    ),
    Topic(
        "GPUs",
        (
            r"gpus?\b.{0,30}\b(?:nodes?|knoten|n(?:oe|œ)uds?|nodos?|nodi)\b|nodes?\b.{0,30}\bgpus?\b",
            r"(?:how many|what|which|(?:kind|type|model) of) .{0,12}(?:gpus?|accelerators?|cards|gcds?|tiles|apus?)\b",
            r"(?:how many|number of) (?!(?:cpu )?(?:cores|cpus|threads|jobs|users|hours))"
            r".{0,25}(?:per|a|in each|in a|on a|in one) node\b",
            r"gpu (?:memory|model|type|ram)|vram|hbm|memory .{0,15}gpu|gpus? have",
            r"(?:ranks|gcds?|tiles|processes|apus?|devices|cards) (?:per|a|on each|on a|in a) (?:node|gpu|card)",
        ),
        hardware.gpus,
    ),
    Topic(
        "queues",
        (r"\b(?:queues?|partitions?|qos|limits?|warteschlangen?|files? d'attente|colas?|code di attesa|队列|分区)\b",),
        limits.which_queues,
    ),
    Topic(
        "account",
        (r"\baccounts?\b|suffix|project (?:name|id|code)|\bbank\b|\bcharge|billing|\bbudget|allocation (?:name|flag)",),
        directives.account,
    ),
    Topic(
        "internet",
        (
            r"prox(?:y|ies)|outside world|\boffline\b|external network|network access",
            r"(?:reach|access|connect to|download).{0,30}(?:web|hub|hugging ?face|w&b|github|outside|compute node)",
            r"pip install .{0,20}(?:on|from|in) (?:a |the )?(?:compute|job)",
        ),
        surroundings.internet,
    ),
    Topic(
        "container",
        (r"containers?\b|singularity|apptainer|\bdocker|podman|shifter|enroot|pyxis|\bsif\b|\bngc\b",),
        surroundings.containers,
    ),
    Topic(
        "method",
        (
            rf"\b(?:can|could|may|might|do|does|will|would|is|are|should|possible|supports?|works?|run)\b.*{methods.WORDS}",
        ),
        methods.method,
    ),
    Topic(
        "launcher",
        (
            rf"(?<![\w-]){LAUNCHERS}(?![\w-])|\blaunchers?\b|launch (?:command|line)",
            r"how .{0,25}(?:launch|start) (?:ranks|processes|workers|training|distributed|multi|a |my |pytorch|it)",
            r"(?:launch|start|run) (?:deepspeed|accelerate|ddp|fsdp|pytorch|distributed)",
        ),
        launching.launcher,
    ),
    Topic(
        "software",
        (
            r"modul(?:es?|os?|i)?\b|which (?:pytorch|python|conda|cuda|rocm)|\bload\b|conda|venv|virtual ?env",
            r"python environment|environment (?:for|with) (?:python|pytorch)|install|software stack|get pytorch",
            r"pytorch version|(?:pytorch|torch|deepspeed) (?:available|installed|preinstalled)",
        ),
        surroundings.software,
    ),
    Topic("short option", (r"(?<![\w-])-[a-z]|\b(?:gres|mem|constraint)\b",), directives.option),
    Topic(
        "directives",
        (
            r"directives?|\bflags?\b|#(?:sbatch|pbs|bsub)|(?:sbatch|qsub|bsub) (?:options|lines|header)|header",
            r"mandatory|required|must .{0,40}(?:give|have|write|contain|specify)|script need",
        ),
        directives.directives,
    ),
    Topic(
        "rendezvous",
        (r"master[ _]?(?:addr|port|address|node)|rendez-?vous|rdzv|rank (?:0|zero)|head node",),
        surroundings.rendezvous,
    ),
    Topic(
        "variables",
        (r"env(?:ironment)? ?var|variables|nccl (?:settings|options|tuning|config)|tuning .{0,10}nccl|\bexports?\b",),
        surroundings.variables,
    ),
    Topic("binding", (r"\bbind(?:ing)?\b|\bmasks?\b|affinity|pinning",), launching.binding),
    Topic("plugin", (r"plug-?in|libfabric|\bofi\b",), matching),
    Topic(
        "network",
        (r"network|interconnect|infiniband|slingshot|\bnics?\b|interface|ethernet|fabric|omni-?path",),
        hardware.network,
    ),
    Topic(
        "local disk",
        (r"local (?:disk|ssd|storage|scratch)|node-?local|nvme|/tmp\b|\bssds?\b",),
        hardware.local_disk,
    ),
    Topic(
        "file systems",
        (
            r"scratch|\bhome\b|file ?systems?|quota|purge|storage|lustre|gpfs|project (?:space|folder|directory)",
            r"where .{0,25}(?:data|checkpoint|dataset|files|put|store|save)",
        ),
        surroundings.filesystems,
    ),
    Topic(
        "CPUs",
        (r"\bcpus?\b|\bcores?\b|power9|threads|processor",),
        hardware.cpus,
    ),
    Topic("memory", (r"memory|\bram\b",), hardware.memory),
    Topic(
        "scheduler",
        (r"scheduler|batch system|\bsubmit|slurm|\bpbs\b|\blsf\b|\bflux\b|(?:workload|job) manager",),
        surroundings.scheduler,
    ),
    Topic(
        "documentation",
        (r"\bdocs?\b|documentation|user guide|manual|web ?page|website|link",),
        surroundings.documentation,
    ),
    Topic("queue named", (r".",), limits.queue_named),
    Topic("GPU named", (r".",), hardware.gpus_named),
    Topic(
        "site",
        (
            r"where is|who (?:runs|operates|owns)|which (?:site|centre|center|lab)|retired|decommissioned|shut down",
            r"still (?:running|exist|in service)|programmes?|programs? (?:give|for) access",
        ),
        surroundings.site,
    ),
)
