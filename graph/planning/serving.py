"""A server of a model: its name on the hub, what has to be there before it starts, and how it is reached.

How a server is told things, and what models are called, stands in knowledge/served_models.yaml.
"""

from __future__ import annotations

import re
from dataclasses import replace

from graph.planning.programs import edited, place
from graph.planning.served_room import kept_as, sized_model, value_of, with_room
from knowledge.cluster import Cluster, NodeType
from knowledge.job_parts import ArgumentEdit, Program
from knowledge.served_models import (
    KEY_FILE,
    SERVED_ENTRY,
    ServingEngine,
    family_of,
    full_name,
    likely_names,
    served_models,
    server_of,
)
from knowledge.site import site_of
from knowledge.types import Assumption, JobRequest, LaunchPlan, Refusal, Variable

MODEL_PLACEHOLDER = "YOUR_MODEL"
# ORGANISATION/NAME, which is no file.
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(?<!\.py)(?<!\.sh)")
# Weights by their folder: its last part is no file, and named as models are (`Llama-3.1-8B`).
MODEL_FOLDER = re.compile(r"[$/~][^\s]*/[\w.]*-[\w.-]*(?<!\.py)(?<!\.sh)/?")
MOST_WAYS = 3
# A program behind a server, which never ends by itself, is one that asks it.
ASKS = re.compile(r"(?:python3? (?:-u )?)?[^\s;&|<>`]+\.(?:py|sh)\b[^;&|<>`\n]*")
# Below what Ray and the rendezvous of a job take, and beside Ray's dashboard (8265).
OWN_PORT = "$((8300 + SLURM_JOB_ID % 1600))"
# Where a program of the job was told to find the server.
LOCAL_URL = re.compile(r"(?:(?:localhost|127\.0\.0\.1):|--port[= ])(?P<port>\d{2,5})\b")
SMALL_GB = 10.0
BYTES = {"bf16": 2.0, "fp8": 1.0, "int8": 1.0, "int4": 0.56}
WRITTEN_OUT = "what the hub calls {}"
PUT_NAME = "put its name on the hub, ORGANISATION/NAME, or its folder here"
NAMED = re.compile(r"(?i)llm|sglang|tgi|inference")
NOT_NAMED = "no server was named; {} is the usual one"
LIGHTER = " awq"
NO_LIGHTER = "no AWQ version of {} is known here by its name; look for one on the hub, and {}"
LIKELY = "{}; likely {} (say *use {}*)"
GATED = (
    "{0} is given out only to those who accepted its licence (https://huggingface.co/{0}): accept it there, then "
    "`hf auth login` on a login node keeps your token; or have HF_TOKEN set where you submit, never in the script."
)
FETCH = "Fetch the weights ({}) on a login node first: `{}hf download {}`."
# A host without a remark beside it: what is called a jump host may reach no compute node.
PLAIN_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")
REACH = (
    "The server listens on the job's first node, port {0}; once its log says that it is up, from your laptop: "
    "`ssh -L {0}:NODE:{0} YOU@{1}`, with the node that {2} names, then http://localhost:{0}/v1."
)
REACH_LOCAL = (
    "The server listens to its own node alone, port {0}; from your laptop, where the site lets you log in to your "
    "job's node ({2} names it): `ssh -J YOU@{1} -L {0}:localhost:{0} YOU@NODE`, then http://localhost:{0}/v1."
)
OPEN = "Whoever reaches that node can use the server: *add an api key* asks for one."
OF_KEY = (
    "The key is read from {0}, which nobody else may read: `(umask 077; openssl rand -hex 32 > {0})`, once. Clients "
    "send it as their API key."
)
NOT_ALL = " vLLM asks for it under /v1 and some more, not everywhere (https://docs.vllm.ai/en/stable/usage/security/)."
CLIENT = (
    "What asks the server ({0}) starts once that answers at /health, and finds it by OPENAI_BASE_URL, which OpenAI's "
    "client reads by itself; another client is given $OPENAI_BASE_URL as its own option wants it. The server ends "
    "behind it, and the job fails where either does."
)
HOME = (
    "Its {:.0f} GB of weights go to $HOME/.cache/huggingface: set HF_HOME to a folder on scratch{}, here and where you "
    "download."
)
IN_PROGRAM = "Your program makes the engine itself: `{}`, with as many GPUs as the job has."

SIZE = re.compile(r"(?i)\d+(?:\.\d+)?\s?[bm]n?")  # `serve a 70B`: a size is no name


def engine_of(framework: str | None) -> ServingEngine | None:
    """How that server is told things; None where it is none."""
    return served_models().engines.get(framework or "")


def with_served_model(request: JobRequest) -> JobRequest:
    """What a server is given: a model by its name on the hub; `Llama 70B` is none that it finds a model by."""
    started = SERVED_ENTRY.fullmatch(request.entry or "")
    model = started["model"].strip() if started else request.entry or request.model or ""
    kind = server_of(request.entry) if started else request.framework
    engine = engine_of(kind)
    named = HUB_NAME.fullmatch(model) or MODEL_FOLDER.fullmatch(model) or (full_name(model) if model else "")
    if engine is not None and request.entry is None and not named:  # a server of a model that nobody named
        return replace(request, entry=engine.command.format(model=MODEL_PLACEHOLDER))
    if engine is None or not (started or named):
        own = server_of(request.entry)
        strategy = None if request.framework != own else request.strategy
        return replace(request, framework=own, strategy=strategy) if own else request
    name = (named if isinstance(named, str) else model) or (
        MODEL_PLACEHOLDER if " " in model or likely_names(model) or SIZE.fullmatch(model) else model
    )
    behind = tuple(line for line in request.after if ASKS.fullmatch(line))
    return replace(
        request,
        entry=engine.command.format(model=name),
        model=model,
        framework=kind,
        then=(*request.then, *(Program(line) for line in behind)),
        after=tuple(line for line in request.after if line not in behind),
    )


def on_model(request: JobRequest, entry: str) -> tuple[Assumption, ...]:
    """What was taken for the model's name, where it was written in another way."""
    said = request.model or ""
    if entry.endswith(MODEL_PLACEHOLDER) and said.endswith(LIGHTER):
        return (Assumption("model", MODEL_PLACEHOLDER, NO_LIGHTER.format(said.removesuffix(LIGHTER), PUT_NAME)),)
    if entry.endswith(MODEL_PLACEHOLDER):
        likely = likely_names(said)[:MOST_WAYS]
        why = LIKELY.format(PUT_NAME, ", ".join(f"`{one}`" for one in likely), likely[0]) if likely else PUT_NAME
        return (Assumption("model", MODEL_PLACEHOLDER, why, served_models().source if likely else None),)
    name = full_name(said)
    if engine_of(request.framework) is None or not name or "/" in said or not entry.endswith(name):
        return ()
    family = family_of(name)
    return (Assumption("model", name, WRITTEN_OUT.format(said), family.source if family else None),)


def even_sizes(ranks: int, model: str | None) -> tuple[int, int]:
    """Tensor and pipeline size inside a node: the heads of a known model must divide by the tensor size."""
    sized = sized_model(model or "")
    heads = sized.shape.heads if sized and sized.exact else ranks
    tensor = next(size for size in range(ranks, 0, -1) if ranks % size == 0 and heads % size == 0)
    return tensor, ranks // tensor


def model_of(decided: LaunchPlan, request: JobRequest) -> str:
    """The model that is served, as it is known; empty where none is named."""
    at = place(decided.args, "--model-path") if decided.serves_model else None
    words = decided.args[at + 1 : at + 2] if at is not None else decided.args[1:2] if decided.serves_model else ()
    named = next((word for word in words if word != MODEL_PLACEHOLDER and not word.startswith("-")), "")
    named = named or request.model or ""
    return named if "/" in named else full_name(named) or named


def with_serving(decided: LaunchPlan, request: JobRequest, cluster: Cluster, node: NodeType) -> LaunchPlan | Refusal:
    """The plan of a server with the room for its model weighed, and what has to be there before it starts."""
    engine = engine_of(decided.framework)
    if engine is None or not decided.on_gpus:
        return decided
    name = model_of(decided, request)
    held = with_room(decided, request, cluster, node, engine, name)
    if isinstance(held, Refusal):
        return held
    made = with_weights(held, request, cluster, name)
    told = [text for model, text in engine.too_old.items() if model in node.gpus.model]
    if not made.serves_model:
        tensor = made.tensor_parallel
        call = engine.offline.format(model=name or MODEL_PLACEHOLDER, tensor=tensor)
        return replace(made, notes=(*made.notes, *(f"{one}." for one in told), IN_PROGRAM.format(call)))
    made = with_port(made, request, engine)
    if any(one.field == "framework" and not NAMED.search(one.words) for one in request.heard):
        taken = Assumption("framework", decided.framework, NOT_NAMED.format(engine.title), engine.source)
        made = replace(made, assumptions=(*made.assumptions, taken))
    return replace(
        made, notes=(*made.notes, *(f"{one}." for one in told), *on_reaching(made, request, cluster, engine))
    )


def with_weights(decided: LaunchPlan, request: JobRequest, cluster: Cluster, name: str) -> LaunchPlan:
    """The plan with the place of the weights, how they come there, and whose licence they have."""
    if not HUB_NAME.fullmatch(name):
        return decided
    own = {one.name: one.value for one in (*decided.variables, *decided.user_variables)}
    scratch = scratch_variable(cluster)
    home = () if "HF_HOME" in own or not scratch else (
        Variable("HF_HOME", f"{scratch}/huggingface", "the weights are more than most home folders take", expand=True),
    )  # fmt: skip
    offline = cluster.internet.access == "no" or bool(request.offline)
    quiet = () if not offline or "HF_HUB_OFFLINE" in own else (
        Variable("HF_HUB_OFFLINE", "1", "no network: the model comes from the cache"),
    )  # fmt: skip
    family, model = family_of(name), sized_model(name)
    gb = model.parameters * BYTES[kept_as(decided, name)] / 1e9 if model else 0.0
    gated = family is not None and family.gated and name.startswith(f"{family.organisation}/")
    notes = [GATED.format(name)] if gated else []
    if offline or cluster.internet.access == "unknown":
        size = f"about {gb:.0f} GB" if gb else "many GB"
        folder = own.get("HF_HOME") or (home[0].value if home else "")
        notes.append(cluster.internet.as_there(FETCH.format(size, f"HF_HOME={folder} " if folder else "", name)))
    kept = tuple(note.replace("`hf download MODEL` and ", "") for note in decided.notes)  # said exactly below
    if not home and "HF_HOME" not in own and gb > SMALL_GB:
        place = cluster.filesystems.get("scratch", "")
        notes.append(HOME.format(gb, f" ({place})" if place else ""))
    return replace(decided, variables=(*decided.variables, *home, *quiet), notes=(*kept, *notes))


def scratch_variable(cluster: Cluster) -> str:
    """The variable that names the scratch folder there; empty where the facts give none."""
    found = re.match(r"\$(?:SCRATCH|WORK|PSCRATCH)\b", cluster.filesystems.get("scratch", ""))
    return found[0] if found else ""


def port_of(decided: LaunchPlan, request: JobRequest, engine: ServingEngine) -> str:
    return value_of(decided.args, engine.options["port"]) or str(request.port or engine.port)


def with_port(decided: LaunchPlan, request: JobRequest, engine: ServingEngine) -> LaunchPlan:
    """The plan with the address that the server listens on: its own node's where only programs of the job ask it, and a
    port of the job's own there, since others on the node may have a server too."""
    host, port = engine.options["host"], engine.options["port"]
    edits, variables = [], []
    if decided.then:
        asked = LOCAL_URL.search(" ".join(word for one in decided.then for word in one.args))
        told = value_of(decided.args, port) or (asked["port"] if asked else "")
        number = told or (OWN_PORT if decided.scheduler == "slurm" else str(engine.port))
        variables = [Variable("PORT", number, "the server's, of this job alone", expand=True)]
        edits = [ArgumentEdit("set", port, '"$PORT"')]
        if place(decided.args, host) is None:
            edits.append(ArgumentEdit("set", host, "127.0.0.1"))
    elif not engine.listens_to_all and place(decided.args, host) is None:
        edits = [ArgumentEdit("set", host, "0.0.0.0")]
    return replace(decided, args=edited(decided.args, edits), user_variables=(*decided.user_variables, *variables))


def login_host(cluster: Cluster) -> str:
    """The machine's first login node by name, where one is known to reach its nodes; else a word for it."""
    site = site_of(cluster.id)
    first = next(iter(site.login.hosts), "") if site and site.login else ""
    return first if PLAIN_HOST.fullmatch(first) else "LOGIN_NODE"


def on_reaching(decided: LaunchPlan, request: JobRequest, cluster: Cluster, engine: ServingEngine) -> tuple[str, ...]:
    """How the server is asked: by the job's own programs, or from outside."""
    key = any(one.name in ("VLLM_API_KEY", "API_KEY") for one in decided.user_variables)
    own_key = place(decided.args, "--api-key") is not None
    of_key = OF_KEY.format(KEY_FILE) + (NOT_ALL if decided.framework == "vllm" else "")
    if decided.then:
        names = ", ".join(one.entry for one in decided.then)
        return (CLIENT.format(names), *((of_key,) if key else ()))
    lists = "`squeue --me`" if cluster.scheduler == "slurm" else "the scheduler's job list"
    told = (port_of(decided, request, engine), login_host(cluster), lists)
    local = value_of(decided.args, engine.options["host"]) in ("127.0.0.1", "localhost")
    reach = (REACH_LOCAL if local else REACH).format(*told)
    return (reach, *(() if local else (of_key,) if key else () if own_key else (OPEN,)))
