# ruff: noqa: E501
"""Where do the ranks meet? Address, port, the node's number, and the kind of rendezvous."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.extraction.launch_chain import Layer
from graph.extraction.shell_words import plain
from graph.verification.checks import sources
from graph.verification.checks.count_rules import node_spawner
from graph.verification.checks.launch import Launch, text_of
from graph.verification.checks.rank_rules import RANK_NAMES
from graph.verification.checks.rule import Hit, Rule
from graph.verification.checks.subject import Subject
from graph.verification.checks.tasks import in_tasks, root_with_launcher

LOCAL = re.compile(r"localhost|127(\.\d+){3}|::1|0\.0\.0\.0")
ADDRESS_OPTIONS = ("--master-addr", "--rdzv-endpoint", "--main-process-ip")
NODE_LIST = re.compile(r"hostnames?\b|NODEFILE|NODELIST|hostlist|MCPU_HOSTS|LSB_HOSTS|DJOB_HOSTFILE")


def addresses(s: Subject) -> Iterator[tuple[int, str, str, bool]]:
    """(line, where, value as written, inside the tasks) for every address of the launch."""
    for one in s.script.assignments:
        if one.name in ("MASTER_ADDR", "MASTER_IP", "MAIN_PROCESS_IP"):
            nested = any(" -c" in where or "heredoc" in where for where in one.inside)
            yield one.line, one.name, one.written, nested
    launch = s.launch
    if launch is not None and launch.spawner is not None:
        for option in ADDRESS_OPTIONS:
            value = text_of(launch.spawner, option)
            if value is not None and "$MASTER_ADDR" not in value and "${MASTER_ADDR" not in value:
                yield launch.line, option.replace("-", "_").replace("__", "--"), value, launch.command.outer is not None


def several(s: Subject) -> bool:
    """Whether one process group spans nodes: the launch may use fewer than the job has."""
    launch = s.launch
    return s.several_nodes and launch is not None and (launch.nodes or 2) > 1 and launch.tasks != 1


def last_set(s: Subject) -> Iterator[tuple[int, str, str, bool]]:
    """The addresses that count: of several assignments at the top the last one."""
    found = list(addresses(s))
    top = [one for one in found if not one[3] and one[1].isupper()]
    yield from (one for one in found if one not in top[:-1])


def localhost(s: Subject) -> Iterator[Hit]:
    if not several(s):
        return
    for line, where, value, _ in last_set(s):
        host = value.strip("'\"").rsplit(":", 1)[0] if value.count(":") == 1 else value.strip("'\"")
        if LOCAL.fullmatch(host):
            yield Hit(line, f"{where} is {host} on {s.job.nodes} nodes", "every node then waits for a rank 0 of its own: name the first node of the job",
                      s.cluster.rendezvous.source if s.cluster else sources.TORCH_DISTRIBUTED)  # fmt: skip


def missing(s: Subject) -> Iterator[Hit]:
    launch = s.launch
    if launch is None or not several(s) or launch.open or launch.remote:
        return
    layer = node_spawner(launch)
    if layer is None:
        yield from missing_for_ranks(s, launch)
    elif launch.parallel is not None and layer.role("config") is None and not any(text_of(layer, option) for option in ADDRESS_OPTIONS):
        if layer.name in ("torchrun", "accelerate", "tune") and layer.role("nodes") is not None and not any(n.startswith("PET_") for n in s.exported):
            wanted = "--main_process_ip" if layer.name == "accelerate" else "--rdzv-endpoint (or --master-addr)"
            yield Hit(launch.line, f"{layer.name} on {launch.tasks or 'several'} nodes is given no {wanted}",
                      "it does not read MASTER_ADDR, and looks for the others on its own node",
                      sources.ACCELERATE if layer.name == "accelerate" else sources.TORCHRUN)  # fmt: skip


def missing_for_ranks(s: Subject, launch: Launch) -> Iterator[Hit]:
    """Tasks that are told RANK (so env:// is used) and no MASTER_ADDR or MASTER_PORT."""
    if launch.parallel is None or launch.spawner is not None or (s.script.sourced and not activates_only(s)):
        return
    own = in_tasks(s, RANK_NAMES | {"MASTER_ADDR", "MASTER_PORT"})
    names = {one.name for one in s.script.assignments} | s.exported | set(own)
    in_text = s.script.text
    for name in ("MASTER_ADDR", "MASTER_PORT"):
        if "RANK" in own and name not in names and f"{name}=" not in in_text and not re.search(rf"-genv {name}|--env[ =]{name}|init[-_]method", in_text):
            yield Hit(own["RANK"][0], f"the tasks are told RANK, and nothing sets {name}", "PyTorch's env:// needs all four variables",
                      sources.TORCH_DISTRIBUTED)  # fmt: skip


def activates_only(s: Subject) -> bool:
    return all(re.search(r"activate|profile|modules|bashrc|conda\.sh|setvars|setup-env", name) for _, name in s.script.sourced)


def wrong_host(s: Subject) -> Iterator[Hit]:
    if not several(s):
        return
    launch = s.launch
    layer = node_spawner(launch)
    elastic = layer is not None and (text_of(layer, "--rdzv-backend") or "") == "c10d"
    for line, where, value, nested in last_set(s):
        hostname = re.search(r"\$\(\s*hostname\b|`\s*hostname\b|\$\{?HOSTNAME\b|SLURMD_NODENAME", value)
        looked_up = re.search(r"srun|ssh|jsrun|NODELIST|NODEFILE", value)
        if hostname and not looked_up and nested and "\\" not in value[:1] and is_late(s, line, value):
            yield Hit(line, f"{where} is the name of whichever node the task runs on", "each node then waits for itself: take the address in the batch script and hand it over",
                      sources.TORCH_DISTRIBUTED)  # fmt: skip
        elif hostname and not looked_up and s.scheduler == "lsf" and launch is not None and launch.parallel is not None and launch.parallel.name in ("jsrun", "lrun"):
            yield Hit(line, f"{where} is the launch node, where no rank runs", "LSF runs the batch script on a launch node: take the first compute node of LSB_MCPU_HOSTS",
                      s.cluster.rendezvous.source if s.cluster else sources.BSUB)  # fmt: skip
        elif launches_from_lsf(s, value):
            yield Hit(line, f"{where} is the first entry of LSF's host list: the launch node", "no rank runs there; the first compute node is the next entry",
                      s.cluster.rendezvous.source if s.cluster else sources.BSUB)  # fmt: skip
        elif re.search(r"SUBMIT_HOST|PBS_O_HOST|LSB_SUB_HOST", value):
            yield Hit(line, f"{where} is the host that the job was submitted from", "rank 0 runs on the first node of the job", sources.TORCH_DISTRIBUTED)
        elif NODE_LIST.search(value) and last_node(value) and not elastic:
            yield Hit(line, f"{where} is the last node of the job; rank 0 runs on the first", "the others look for rank 0 where it is not", sources.TORCH_DISTRIBUTED)
        elif all_names(value):
            yield Hit(line, f"{where} holds the names of all nodes", "a rendezvous has one address: take the first (`| head -n 1`)", sources.TORCH_DISTRIBUTED)
        elif re.fullmatch(r"[\"']?\$\{?SLURM_(JOB_)?NODELIST\}?[\"']?", value):
            yield Hit(line, f"{where} is the whole node list in Slurm's short form", "that is no host name: take the first of `scontrol show hostnames`", sources.SRUN)


def is_late(s: Subject, line: int, value: str) -> bool:
    """Whether the text stands so that a task expands it: single quotes, a quoted heredoc, or escaped."""
    command = root_with_launcher(s.launch) if s.launch else None
    if command is None:
        return False
    double = any(word.startswith('"') and value.strip("'\"")[:12] in word for word in command.written)
    return not double


def launches_from_lsf(s: Subject, value: str) -> bool:
    if s.scheduler != "lsf" or not re.search(r"LSB_MCPU_HOSTS|LSB_HOSTS|DJOB_HOSTFILE|LSB_DJOB", value):
        return False
    return bool(re.search(r"-f\s*1\b|\{\s*print \$1\s*\}|head\s+-(n\s*)?1\b", value)) and not re.search(r"tail|uniq|batch|NR|grep|sed", value)


def all_names(value: str) -> bool:
    """Whether a command prints every host of the job and nothing picks one."""
    printed = re.fullmatch(r"[\"']?(?:\$\(|`)\s*(scontrol show hostnames?\b[^|]*|cat \S*NODEFILE\S*|flux hostlist local)\s*(?:\)|`)[\"']?", value)
    return bool(printed) and "-n" not in value


def last_node(value: str) -> bool:
    return bool(re.search(r"\btail\b", value)) and not re.search(r"\bhead\b|sed -n|NR ?==|nslookup|getent|tail -n \+", value)


def site_name(s: Subject) -> Iterator[Hit]:
    """Machines whose plain node name leads to the slow network: the name takes an ending there."""
    if s.cluster is None or not several(s):
        return
    host = " ".join([s.cluster.rendezvous.host, *s.cluster.rendezvous.lines])
    ends = re.findall(r"\)\"?(\.[a-z0-9.-]+[a-z])", host) + re.findall(r"[)}](i|-hsn\d|-ib)\b", host)
    found = [one for one in last_set(s) if not one[3]]
    for line, where, value, _ in found:
        plain_name = re.search(r"hostname\b(?! *(-i|-I|--ip))|hostnames", value) and not re.search(r"nslookup|getent|dig |srun|awk|ip addr", value)
        if ends and plain_name and not any(re.search(rf"[)}}\"`]{re.escape(end)}\b|{re.escape(end)}", value) if end[0] == "." else re.search(rf"[)}}\"`]{end}\b", value) for end in ends):
            if not appended(s, where, ends[0], line):
                yield Hit(line, f"{where} is the plain name of the node; on {s.cluster.title} it takes the ending '{ends[0]}'",
                          s.cluster.rendezvous.note or "the plain name leads to the management network", s.cluster.rendezvous.source)  # fmt: skip


def appended(s: Subject, name: str, end: str, line: int) -> bool:
    """Whether a later line puts the ending on."""
    return any(one.name == name and one.line != line and end in one.written for one in s.script.assignments) or f"{{{name}}}{end}" in s.script.text or f"${name}{end}" in s.script.text


def port(s: Subject) -> Iterator[Hit]:
    launch = s.launch
    found = [(one.line, one.name, one.value, bool(one.inside)) for one in s.script.assignments if one.name == "MASTER_PORT"][-1:]
    if launch is not None and launch.spawner is not None:
        value = text_of(launch.spawner, "--master-port", "--main-process-port") or ""
        endpoint = re.search(r":(\d+)$", text_of(launch.spawner, "--rdzv-endpoint") or "")
        for text in (value, endpoint[1] if endpoint else ""):
            if text and not any(text == one[2] for one in found):
                found.append((launch.line, "the port", text, False))
    for line, name, text, nested in found:
        number = s.facts.get("MASTER_PORT") if name == "MASTER_PORT" and not text.isdigit() else int(text) if text.isdigit() and len(text) < 9 else None
        if number is not None and (number > 65535 or 0 < number < 1024):
            yield Hit(line, f"{name} is {number}: a port lies between 1024 and 65535", "lower ones belong to the system, higher ones do not exist", sources.TORCH_DISTRIBUTED)
        elif re.fullmatch(r"[A-Za-z][\w.-]*", text):
            yield Hit(line, f"{name} is '{text}', not a number", "the rendezvous needs a port number", sources.TORCH_DISTRIBUTED)
        elif re.fullmatch(r"[\"']?\$\{?(SLURM_JOB_?ID|PBS_JOBID|LSB_JOBID)\}?[\"']?", text):
            yield Hit(line, f"{name} is the number of the job, which may be above 65535", "keep it in range: $((10000 + number % 50000))", sources.TORCH_DISTRIBUTED)
        elif nested and re.search(r"RANDOM|shuf|randint|free_port|\(0\)", text) and launch is not None and launch.parallel is not None and launch.tasks != 1:
            yield Hit(line, f"{name} is drawn by every task for itself", "all ranks need the same port: draw it in the batch script and export it", sources.TORCH_DISTRIBUTED)


def shared_port(s: Subject) -> Iterator[Hit]:
    """A fixed port on a node that others use too."""
    if s.cluster is None or s.cluster.whole_nodes or s.job.exclusive or s.launch is None or not s.devices or not s.node_devices:
        return
    layer = s.launch.spawner
    values = [one.value for one in s.set_to("MASTER_PORT")] + ([text_of(layer, "--master-port", "--main-process-port") or ""] if layer else [])
    if s.devices < s.node_devices and any(re.fullmatch(r"\d{4,5}", value) for value in values) and not (layer is not None and layer.has("--standalone")):
        line = next((one.line for one in reversed(s.set_to("MASTER_PORT"))), s.launch.line)
        yield Hit(line, "the port is fixed, and other jobs may share the node", "a second job with the same port fails: 'address already in use'; derive it from the job's number",
                  sources.TORCH_DISTRIBUTED)  # fmt: skip


def node_rank(s: Subject) -> Iterator[Hit]:
    """A static rendezvous needs each node's own number."""
    launch, layer = s.launch, node_spawner(s.launch)
    if launch is None or layer is None or launch.parallel is None or launch.remote or not several(s) or launch.per_node not in (1, None):
        return
    word = "--machine_rank" if layer.name == "accelerate" else "--node_rank"
    value = text_of(layer, "--machine-rank", "--node-rank")
    elastic = (text_of(layer, "--rdzv-backend") or "static") != "static" or layer.has("--standalone")
    page = sources.ACCELERATE if layer.name == "accelerate" else sources.TORCHRUN
    if value is not None and value.strip("'\"").isdigit() and not elastic:
        yield Hit(launch.line, f"{word} is {value} on every node", "each node needs its own number, or all claim to be the first", page)
    elif value is None and not elastic and not launch.open and static_told(layer) and layer.role("nodes") is not None:
        variable = {"srun": "$SLURM_NODEID", "flux": "$FLUX_TASK_RANK"}.get(launch.parallel.name, "the launcher's rank variable")
        yield Hit(launch.line, f"{layer.name} has no {word}: every node claims to be number 0",
                  f"with one task a node it is {variable}, inside bash -c '...'; or --rdzv-backend=c10d, which numbers the nodes itself", page)  # fmt: skip


def static_told(layer: Layer) -> bool:
    if layer.name == "accelerate":
        return text_of(layer, "--main-process-ip") is not None
    return layer.name in ("torchrun", "tune") and any(text_of(layer, option) for option in ("--master-addr", "--rdzv-endpoint"))


def backend_mismatch(s: Subject) -> Iterator[Hit]:
    """--master-addr with c10d is not read; --rdzv-backend that torchrun does not have."""
    launch = s.launch
    layer = launch.spawner if launch else None
    if launch is None or layer is None or layer.name not in ("torchrun", "tune"):
        return
    backend = text_of(layer, "--rdzv-backend")
    if backend == "c10d" and text_of(layer, "--rdzv-endpoint") is None and text_of(layer, "--master-addr") is not None and several(s):
        yield Hit(launch.line, "with --rdzv-backend=c10d the address is --rdzv-endpoint; --master-addr is not read", "each node looks for the meeting point on itself", sources.TORCHRUN)
    if backend is not None and "$" not in backend and backend not in ("c10d", "static", "etcd", "etcd-v2", "zeus-adapter", "mast-tcpstore"):
        yield Hit(launch.line, f"torchrun has no rendezvous backend '{backend}'", "c10d, static, etcd and etcd-v2 are there; nccl and gloo belong to the program", sources.RENDEZVOUS)
    drawn = plain(next((value for name, value in reversed(layer.options) if name == "--rdzv-id"), ()))
    if launch.command.outer is not None and re.search(r"RANDOM|date|uuidgen", drawn) and several(s) and f'"{drawn}' not in s.script.text:
        quoted = any(word.startswith("'") and drawn in word for word in launch.root.written)
        if quoted:
            yield Hit(launch.line, "--rdzv-id is drawn by every node for itself", "nodes with different ids never meet", sources.TORCHRUN)


RULES = (
    Rule("rendezvous-localhost", "rendezvous", "error", "localhost as the meeting point of several nodes", localhost),
    Rule("rendezvous-missing", "rendezvous", "error", "no address or port where several nodes must meet", missing),
    Rule("rendezvous-host", "rendezvous", "error", "an address of the wrong host: of each task, of the launch node, of the last node", wrong_host),
    Rule("rendezvous-site-name", "rendezvous", "warning", "a plain node name where the machine's network wants an ending", site_name),
    Rule("rendezvous-port", "rendezvous", "error", "a port that is none, or that every task draws for itself", port),
    Rule("rendezvous-shared-port", "rendezvous", "info", "a fixed port on a shared node", shared_port),
    Rule("rendezvous-node-rank", "rendezvous", "error", "a static rendezvous without each node's own number", node_rank),
    Rule("rendezvous-backend", "rendezvous", "error", "rendezvous options that do not go together", backend_mismatch),
)  # fmt: skip
