"""The configuration of a virtual Slurm, made from a cluster's facts: nodes, GPUs, partitions, QOS and their limits.

Not made: accounts (any is taken), limits on the GPUs of a whole job, fair share. A QOS is judged by a job_submit.lua,
which needs no database and answers with Slurm's own error numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from knowledge.cluster import Cluster, NodeType, Queue, walltime_seconds

UNNAMED_PARTITION = "all"
PARTITION = re.compile(r"(?:--partition[= ]|-p ?)(\S+)")
QOS = re.compile(r"(?:--qos[= ]|-q ?)(\S+)")
CONSTRAINT = re.compile(r"(?:--constraint[= ]|-C ?)(\S+)")
# How long a claim may be where the facts are silent.
USUAL_CPUS, USUAL_MEMORY_GB = 64, 256

HEAD = """\
ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/run/munge.socket
CredType=cred/munge
SlurmctldPort={port}
FirstJobId={first_job}
SlurmctldPidFile={folder}/run/slurmctld.pid
StateSaveLocation={folder}/state
SlurmdPidFile={folder}/run/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout={patience}
MessageTimeout=10
KillWait=2
InactiveLimit=0
MinJobAge=300
TCPTimeout=3
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=2,batch_sched_delay=0
EnforcePartLimits=ALL
GresTypes=gpu
JobCompType=jobcomp/none
JobSubmitPlugins=lua
AccountingStorageType=accounting_storage/none
"""


@dataclass(frozen=True, slots=True)
class Place:
    """What a job names to get into a queue. qos is empty where the partition alone does it."""

    queue: Queue
    partition: str
    qos: str


def places(cluster: Cluster) -> tuple[Place, ...]:
    """Read from the directives that a job in each queue carries. One that names no partition is in the usual one."""
    found = []
    for queue in sorted(cluster.queues, key=lambda one: not one.default):
        texts = [one.text for one in cluster.directives if not one.queues or queue.id in one.queues]
        texts += queue.directives
        usual = found[0].partition if found else UNNAMED_PARTITION
        found.append(Place(queue, named(PARTITION, texts, queue) or usual, named(QOS, texts, queue)))
    return tuple(sorted(found, key=lambda one: cluster.queues.index(one.queue)))


def named(pattern: re.Pattern[str], texts: list[str], queue: Queue) -> str:
    hit = next((match for text in texts if (match := pattern.match(text))), None)
    return hit[1].replace("{queue}", queue.id) if hit else ""


def features(cluster: Cluster, node: NodeType) -> set[str]:
    """The names that the site's own constraints use for nodes of this type."""
    hits = [CONSTRAINT.match(one.text) for one in cluster.directives if not one.node_types or node.id in one.node_types]
    return {word for hit in hits if hit for word in re.split(r"[&|]", hit[1])}


def gpus(node: NodeType) -> tuple[str, int]:
    """The scheduler's name of the GPU, and how many it counts on a node (0: not known)."""
    count = node.gpus.per_node or 0
    if node.gpus.scheduler_counts == "tiles":
        count *= node.gpus.tiles_per_gpu
    return node.gpu_type or re.split(r"[^a-z0-9]", node.gpus.model.lower())[0], count


def hardware(cluster: Cluster, node: NodeType) -> str:
    """CPUs, memory, features and GPUs as a NodeName line has them."""
    cpus = node.cpu.schedulable or node.cpu.cores or USUAL_CPUS
    threads = node.cpu.threads_per_core or 1
    threads = threads if cpus == (node.cpu.cores or 0) * threads else 1
    memory = int((node.job_memory_gb or node.memory_gb or USUAL_MEMORY_GB) * 1024)
    words = [f"Sockets=1 CoresPerSocket={cpus // threads} ThreadsPerCore={threads} RealMemory={memory}"]
    if names := features(cluster, node):
        words.append("Feature=" + ",".join(sorted(names)))
    model, count = gpus(node)
    if count:
        words.append(f"Gres=gpu:{model}:{count}")
    return " ".join(words)


def partitions(cluster: Cluster, hosts: dict[str, str]) -> list[str]:
    """One line a partition. Its limits are the widest of its queues; the narrower ones are the Lua table's."""
    lines = []
    all_places = places(cluster)
    usual = next(place.partition for place in all_places if place.queue.default)
    for name in dict.fromkeys(place.partition for place in all_places):
        queues = [place.queue for place in all_places if place.partition == name]
        nodes = [hosts[t] for t in dict.fromkeys(t for q in queues for t in q.node_types) if t in hosts]
        if nodes:
            default = "YES" if name == usual else "NO"
            limits = f"MaxTime={widest_time(queues)} MinNodes={min(q.min_nodes for q in queues)}"
            most = [q.max_nodes for q in queues]
            limits += "" if None in most else f" MaxNodes={max(n for n in most if n)}"
            lines.append(f"PartitionName={name} Nodes={','.join(nodes)} {limits} Default={default} State=UP")
    return lines


def widest_time(queues: list[Queue]) -> str:
    times = [queue.max_walltime for queue in queues]
    return max((t for t in times if t), key=walltime_seconds) if None not in times else "UNLIMITED"


LUA = """\
local BAD_QOS, POLICY = 2066, 2050  -- slurm_errno.h
local has_qos, usual = {has_qos}, "{usual}"
local queues = {{
{rows}
}}
local function refuse(reason)
  slurm.log_user(reason)
  return POLICY
end
function slurm_job_submit(job, parts, uid)
  local partition, qos, known = job.partition or usual, job.qos or "", {{}}
  for _, q in ipairs(queues) do known[q.qos] = true end
  if has_qos and qos ~= "" and not known[qos] then return BAD_QOS end
  local nodes = job.min_nodes == slurm.NO_VAL and 1 or job.min_nodes
  for _, q in ipairs(queues) do
    if q.partition == partition and q.qos == qos then
      if q.most and nodes > q.most then return refuse("QOSMaxNodePerJobLimit") end
      for _, step in ipairs(q.steps) do
        if nodes >= step[1] and nodes <= step[2] and job.time_limit ~= slurm.NO_VAL and job.time_limit > step[3] then
          return refuse("QOSMaxWallDurationPerJobLimit")
        end
      end
    end
  end
  return slurm.SUCCESS
end
function slurm_job_modify(job, record, parts, uid) return slurm.SUCCESS end
return slurm.SUCCESS
"""
NO_END = 1 << 20


def lua(cluster: Cluster) -> str:
    """The limits that a partition line cannot hold: those of a QOS, and walltimes that depend on the node count."""
    found = places(cluster)
    usual = next(place.partition for place in found if place.queue.default)
    has_qos = "true" if any(place.qos for place in found) else "false"
    return LUA.format(has_qos=has_qos, usual=usual, rows=",\n".join(lua_row(place) for place in found))


def lua_row(place: Place) -> str:
    queue = place.queue
    steps = [(limit.min_nodes, limit.max_nodes or NO_END, limit.max_walltime) for limit in queue.limits]
    if not steps and queue.max_walltime and place.qos:
        steps = [(1, NO_END, queue.max_walltime)]
    table = ", ".join(f"{{{low}, {high}, {walltime_seconds(most) // 60}}}" for low, high, most in steps)
    most = queue.max_nodes if place.qos and queue.max_nodes else "nil"
    return f'  {{partition="{place.partition}", qos="{place.qos}", most={most}, steps={{{table}}}}}'


def write_whole(cluster: Cluster, folder: Path, head: str, port: int) -> None:
    """A machine of its real size, for limits only: nodes that are powered down in a cloud, no slurmd."""
    hosts, lines, gres = {}, ["PrivateData=cloud"], ["AutoDetect=off"]
    for node in cluster.node_types:
        hosts[node.id] = f"{node.id}-[0001-{node.count or 64:04d}]"
        where = f"NodeAddr=127.0.0.1 Port={port}"
        lines.append(f"NodeName={hosts[node.id]} {where} {hardware(cluster, node)} State=CLOUD")
        model, count = gpus(node)
        if count:
            gres.append(f"NodeName={hosts[node.id]} Name=gpu Type={model} Count={count}")
    write(cluster, folder, [head, *lines, *partitions(cluster, hosts)], gres)


def write_small(cluster: Cluster, folder: Path, head: str, ports: list[int], names: list[str], host: str) -> None:
    """A few nodes of the usual queue's type that really run jobs; their GPUs are links to /dev/null."""
    node = cluster.node_type(cluster.default_queue.node_types[0])
    model, count = gpus(node)
    lines, gres = [], ["AutoDetect=off"]
    for name, port in zip(names, ports, strict=True):
        where = f"NodeAddr={name} NodeHostname={host} Port={port}"
        lines.append(f"NodeName={name} {where} {hardware(cluster, node)} State=UNKNOWN")
        devices = folder / "dev" / name
        devices.mkdir(parents=True)
        for number in range(count):
            (devices / f"nvidia{number}").symlink_to("/dev/null")
        if count:
            gres.append(f"NodeName={name} Name=gpu Type={model} File={devices}/nvidia[0-{count - 1}]")
    write(cluster, folder, [head, *lines, *partitions(cluster, {node.id: ",".join(names)})], gres)


def write(cluster: Cluster, folder: Path, lines: list[str], gres: list[str]) -> None:
    texts = {"slurm.conf": "\n".join(lines), "gres.conf": "\n".join(gres), "cgroup.conf": "CgroupPlugin=cgroup/v1"}
    for name, text in {**texts, "job_submit.lua": lua(cluster)}.items():
        (folder / "etc" / name).write_text(text + "\n")
