# ruff: noqa: E501
"""Where do the ranks meet? Address, port, the node's number, and the kind of rendezvous."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.extraction.launch_chain import Layer
from graph.extraction.launch_shape import LaunchShape, text_of
from graph.verification.checks import sources
from graph.verification.checks.count_rules import node_spawner, one_node_meant
from graph.verification.checks.rank_rules import RANK_NAMES
from graph.verification.checks.rule import Edit, Hit, Rule, launch_rule
from graph.verification.checks.subject import Subject
from graph.verification.checks.tasks import are_alone, in_task, in_tasks, root_with_launcher

LOCAL = re.compile(r"localhost|127(\.\d+){3}|::1|0\.0\.0\.0")
ADDRESS_OPTIONS = ("--master-addr", "--rdzv-endpoint", "--main-process-ip")
HOSTNAME = re.compile(r"\$\(\s*hostname\b|`\s*hostname\b|\$\{?HOSTNAME\b|SLURMD_NODENAME")
LOOKED_UP = re.compile(r"srun|ssh|jsrun|NODELIST|NODEFILE")
NODE_LIST = re.compile(r"hostnames?\b|NODEFILE|NODELIST|hostlist|MCPU_HOSTS|LSB_HOSTS|DJOB_HOSTFILE")


def addresses(s: Subject) -> Iterator[tuple[int, str, str, bool]]:
    """(line, where, value as written, inside the tasks) for every address of the launch."""
    for one in s.script.assignments:
        if one.name in ("MASTER_ADDR", "MASTER_IP", "MAIN_PROCESS_IP"):
            yield one.line, one.name, one.written, in_task(s, one.inside)
    launch = s.launch
    if launch is not None and launch.spawner is not None:
        for option in ADDRESS_OPTIONS:
            value = text_of(launch.spawner, option)
            if value is not None and "$MASTER_ADDR" not in value and "${MASTER_ADDR" not in value:
                yield launch.line, option.replace("-", "_").replace("__", "--"), value, launch.command.outer is not None


def several(s: Subject) -> bool:
    """Whether one process group spans nodes: the launch may use fewer than the job has."""
    launch = s.launch
    return (
        s.several_nodes
        and launch is not None
        and (launch.nodes or 2) > 1
        and launch.tasks != 1
        and not (one_node_meant(launch) or are_alone(s))
    )


def last_set(s: Subject) -> Iterator[tuple[int, str, str, bool]]:
    """The addresses that count: of several assignments at the top the last one."""
    found = [(line, where, behind(s, value), nested) for line, where, value, nested in addresses(s)]
    top = [one for one in found if not one[3] and one[1].isupper()]
    yield from (one for one in found if one not in top[:-1])


def behind(s: Subject, value: str) -> str:
    """What a plain variable was set to (`MASTER_ADDR=$head`), where that is said once at the top."""
    name = re.fullmatch(r"[\"']?\$\{?([A-Za-z_]\w*)\}?[\"']?", value)
    sets = s.set_to(name[1]) if name else []
    return sets[0].written if len(sets) == 1 and not sets[0].inside else value


def localhost(s: Subject) -> Iterator[Hit]:
    layer = node_spawner(s.launch) if s.launch and not s.job.asked else None
    told = s.launch.number(layer, "nodes") if s.launch and layer else None
    if not several(s) and (told or 1) < 2:
        return
    for line, where, value, _ in last_set(s):
        host = value.strip("'\"").rsplit(":", 1)[0] if value.count(":") == 1 else value.strip("'\"")
        if LOCAL.fullmatch(host):
            says = f"{where} is {host} on {s.job.nodes or told} nodes"
            yield Hit(line, says, source=s.cluster.rendezvous.source if s.cluster else sources.TORCH_DISTRIBUTED)


def missing(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    if not several(s) or launch.open or launch.remote:
        return
    layer = node_spawner(launch)
    if layer is None:
        yield from missing_for_ranks(s, launch)
    elif launch.parallel is not None and layer.role("nodes") is not None and not told_where(s, layer):
        wanted = "--main_process_ip" if layer.name == "accelerate" else "--rdzv-endpoint (or --master-addr)"
        says = f"{layer.name} on {launch.tasks or 'several'} nodes is given no {wanted}"
        page = sources.ACCELERATE if layer.name == "accelerate" else sources.TORCHRUN
        yield Hit(launch.line, says, source=page, edit=met_at(s, launch))


FIRST_NODE = '$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'
MEETING = ' --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:{port}"'


def met_at(s: Subject, launch: LaunchShape) -> Edit | None:
    """Where torchrun's nodes meet: the machine's own first host, else Slurm's, in MASTER_ADDR where nothing sets it.
    None on a machine with a torchrun of its own, in quotes, and where any of it is said already."""
    layer, line = launch.spawner, s.line(launch.line)
    forms = s.cluster.launch.get("pytorch", ()) if s.cluster else ()
    special = any(form.workers == "torchrun" and form.torchrun.startswith("torchrun_") for form in forms)
    plain_call = re.search(r"(?<![\w./'\"-])torchrun(?=\s)", line)
    if layer is None or layer.name != "torchrun" or s.scheduler != "slurm" or special or not plain_call:
        return None
    if "rdzv" in line or "master" in line.lower() or "'" in line:
        return None
    ports = s.set_to("MASTER_PORT")
    options = MEETING.format(port="$MASTER_PORT" if ports else "29500")
    made = f"{line[: plain_call.end()]}{options}{line[plain_call.end() :]}"
    host = s.cluster.rendezvous.host if s.cluster else FIRST_NODE
    above = () if s.set_to("MASTER_ADDR") else (f"export MASTER_ADDR={host}",)
    return Edit(launch.line, launch.line, (*above, made))


def unset_address(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A spawner's address made of a variable that nothing sets."""
    layer = node_spawner(launch)
    if layer is None or not s.job.asked or layer.has("--standalone") or (s.script.sourced and not activates_only(s)):
        return
    for option in ADDRESS_OPTIONS:
        for name in re.findall(r"\$\{?([A-Za-z_]\w*)(?!\w|:?[-+=?])", text_of(layer, option) or ""):
            of_system = re.match(r"(SLURM|PBS|LSB|FLUX|COBALT|HOSTNAME)", name)
            if not of_system and not re.search(
                rf"\b{name}=|\b(for|read|mapfile|local)\b[^\n;]*\b{name}\b", s.script.text
            ):
                says = f"{option} is made of {name}, which nothing in the script sets"
                yield Hit(launch.line, says, "no batch system sets it: the address is empty", severity="warning")
                return


def told_where(s: Subject, layer: Layer) -> bool:
    """Whether a spawner has an address, from its options, its config file or torchrun's own variables."""
    options = any(text_of(layer, option) for option in ADDRESS_OPTIONS)
    unheard = layer.name not in ("torchrun", "accelerate", "tune")
    return options or unheard or layer.role("config") is not None or any(n.startswith("PET_") for n in s.exported)


def missing_for_ranks(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """Tasks that are told RANK (so env:// is used) and no MASTER_ADDR or MASTER_PORT."""
    if launch.parallel is None or launch.spawner is not None or (s.script.sourced and not activates_only(s)):
        return
    if s.on_processors:
        return
    own = in_tasks(s, RANK_NAMES | {"MASTER_ADDR", "MASTER_PORT"})
    names = s.names | set(own)
    in_text = s.script.text
    for name in ("MASTER_ADDR", "MASTER_PORT"):
        # A program that is told nothing but its rank finds the rest by itself: env:// takes all four variables.
        if (
            "RANK" in own
            and names & {"WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}
            and name not in names
            and f"{name}=" not in in_text
            and not re.search(rf"-genv {name}|--env[ =]{name}|init[-_]method", in_text)
        ):
            says = f"the tasks are told RANK, and nothing sets {name}"
            yield Hit(own["RANK"][0], says, "PyTorch's env:// needs all four variables", sources.TORCH_DISTRIBUTED)


def activates_only(s: Subject) -> bool:
    return all(
        re.search(r"activate|profile|modules|bashrc|conda\.sh|setvars|setup-env", name) for _, name in s.script.sourced
    )


def wrong_host(s: Subject) -> Iterator[Hit]:
    if not several(s):
        return
    for line, where, value, nested in last_set(s):
        found = of_batch_host(s, value) or of_list(s, value)
        if HOSTNAME.search(value) and not LOOKED_UP.search(value) and nested and is_late(s, value):
            found = (
                "is the name of whichever node the task runs on",
                "each node then waits for itself: take the address in the batch script and hand it over",
            )
        if found:
            lsf = s.scheduler == "lsf"
            page = (
                s.cluster.rendezvous.source if s.cluster and lsf else sources.BSUB if lsf else sources.TORCH_DISTRIBUTED
            )
            yield Hit(line, f"{where} {found[0]}", found[1], page)


def of_batch_host(s: Subject, value: str) -> tuple[str, str] | None:
    """(what it is, why that is wrong) for the host of the batch script or of the submission."""
    launch = s.launch
    jsrun = launch is not None and launch.parallel is not None and launch.parallel.name in ("jsrun", "lrun")
    if HOSTNAME.search(value) and not LOOKED_UP.search(value) and s.scheduler == "lsf" and jsrun:
        why = "LSF runs the batch script on a launch node: take the first compute node of LSB_MCPU_HOSTS"
        return "is the launch node, where no rank runs", why
    if (jsrun or launch is None) and launches_from_lsf(s, value):  # elsewhere LSF runs the script on the first node
        return (
            "is the first entry of LSF's host list: the launch node",
            "no rank runs there; the first compute node is the next entry",
        )
    if re.search(r"SUBMIT_HOST|PBS_O_HOST|LSB_SUB_HOST", value):
        return "is the host that the job was submitted from", "rank 0 runs on the first node of the job"
    return None


def of_list(s: Subject, value: str) -> tuple[str, str] | None:
    """The same for what is taken out of the job's list of nodes."""
    layer = node_spawner(s.launch)
    elastic = layer is not None and (text_of(layer, "--rdzv-backend") or "") == "c10d"
    if NODE_LIST.search(value) and last_node(value) and not elastic:
        return "is the last node of the job; rank 0 runs on the first", "the others look for rank 0 where it is not"
    if all_names(value):
        return "holds the names of all nodes", "a rendezvous has one address: take the first (`| head -n 1`)"
    if re.fullmatch(r"[\"']?\$\{?SLURM_(JOB_)?NODELIST\}?[\"']?", value):
        return (
            "is the whole node list in Slurm's short form",
            "that is no host name: take the first of `scontrol show hostnames`",
        )
    return None


def is_late(s: Subject, value: str) -> bool:
    """Whether the text stands so that a task expands it: single quotes, a quoted heredoc, or escaped."""
    command = root_with_launcher(s.launch) if s.launch else None
    if command is None:
        return False
    double = any(word.startswith('"') and value.strip("'\"")[:12] in word for word in command.written)
    return not double


def launches_from_lsf(s: Subject, value: str) -> bool:
    if s.scheduler != "lsf" or not re.search(r"LSB_MCPU_HOSTS|LSB_HOSTS|DJOB_HOSTFILE|LSB_DJOB", value):
        return False
    return bool(re.search(r"-f\s*1\b|\{\s*print \$1\s*\}|head\s+-(n\s*)?1\b", value)) and not re.search(
        r"tail|uniq|batch|NR|grep|sed", value
    )


def all_names(value: str) -> bool:
    """Whether a command prints every host of the job and nothing picks one."""
    printed = re.fullmatch(
        r"[\"']?(?:\$\(|`)\s*(scontrol show hostnames?\b[^|]*|cat \S*NODEFILE\S*|flux hostlist local)\s*(?:\)|`)[\"']?",
        value,
    )
    return bool(printed) and "-n" not in value


def last_node(value: str) -> bool:
    """Whether the last of several names is taken: of one task's own name there is only one."""
    return bool(re.search(r"\btail\b", value)) and not re.search(
        r"\bhead\b|sed -n|NR ?==|nslookup|getent|tail -n \+|srun\b[^|]*(-n ?1|--ntasks[= ]1|-N ?1|--nodes[= ]1)\b",
        value,
    )


def site_name(s: Subject) -> Iterator[Hit]:
    """Machines whose plain node name leads to the slow network: the name takes an ending there."""
    if s.cluster is None or not several(s):
        return
    host = " ".join([s.cluster.rendezvous.host, *s.cluster.rendezvous.lines])
    ends = re.findall(r"\)\"?(\.[a-z0-9.-]+[a-z])", host) + re.findall(r"[)}](i|-hsn\d|-ib)\b", host)
    found = [one for one in last_set(s) if not one[3]]
    for line, where, value, _ in found:
        named = re.search(r"hostname\b(?! *(-i|-I|--ip))|hostnames", value)
        looked_up = re.search(r"nslookup|getent|dig |srun|awk|ip addr", value)
        ended = any(end in value if end[0] == "." else re.search(rf"[)}}\"`]{end}\b", value) for end in ends)
        if ends and named and not looked_up and not ended and not appended(s, where, ends[0], line):
            yield Hit(line, f"{where} is the plain name of the node; on {s.cluster.title} it takes the ending '{ends[0]}'",
                      s.cluster.rendezvous.note or "the plain name leads to the management network", s.cluster.rendezvous.source)  # fmt: skip


def appended(s: Subject, name: str, end: str, line: int) -> bool:
    """Whether a later line puts the ending on."""
    return (
        any(one.name == name and one.line != line and end in one.written for one in s.script.assignments)
        or f"{{{name}}}{end}" in s.script.text
        or f"${name}{end}" in s.script.text
    )


RULES = (
    Rule("rendezvous-localhost", "rendezvous", "error", "localhost as the meeting point of several nodes", localhost,
         why="every node then waits for a rank 0 of its own: name the first node of the job"),
    launch_rule("rendezvous-missing", "rendezvous", "error", "no address or port where several nodes must meet", missing,
                why="it does not read MASTER_ADDR, and looks for the others on its own node"),
    launch_rule("rendezvous-unset", "rendezvous", "warning", "an address made of a variable that nothing sets", unset_address, sources.TORCHRUN),
    Rule("rendezvous-host", "rendezvous", "error", "an address of the wrong host: of each task, of the launch node, of the last node", wrong_host),
    Rule("rendezvous-site-name", "rendezvous", "warning", "a plain node name where the machine's network wants an ending", site_name),
)  # fmt: skip
