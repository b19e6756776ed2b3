"""What the commands of PBS, LSF and Flux print, after their documented forms; every machine is invented."""

from __future__ import annotations

import json

NODE = {
    "Mom": "x1",
    "ntype": "PBS",
    "state": "free",
    "pcpus": 64,
    "sharing": "default_shared",
}


def pbs_node(name: str, gpus: int, kind: str, mem: str = "527672492kb", **more: object) -> dict[str, object]:
    have = {"arch": "linux", "host": name, "mem": mem, "ncpus": 64, "ngpus": gpus, "gpu_model": kind, "vnode": name}
    return {**NODE, "Mom": name, "resources_available": {**have, **more}}


PBS_NODES = {
    "timestamp": 1795341600,
    "pbs_version": "2022.1.1",
    "pbs_server": "pbs01",
    "nodes": {
        **{f"g{n:02}": pbs_node(f"g{n:02}", 4, "a100", Qlist="main") for n in range(1, 7)},
        **{f"h{n:02}": pbs_node(f"h{n:02}", 8, "h100", Qlist="big") for n in range(1, 3)},
        "l01": {**pbs_node("l01", 2, "l40s"), "queue": "viz"},
    },
}
PBS_QUEUES = {
    "Queue": {
        "main": {"queue_type": "Route", "enabled": "True", "started": "True", "route_destinations": "small,large"},
        "small": {
            "queue_type": "Execution",
            "from_route_only": "True",
            "resources_max": {"nodect": 2, "walltime": "06:00:00"},
            "resources_min": {"nodect": 1},
            "default_chunk": {"Qlist": "main", "ncpus": 1},
            "enabled": "True",
            "started": "True",
        },
        "large": {
            "queue_type": "Execution",
            "from_route_only": "True",
            "resources_max": {"nodect": 6, "walltime": "24:00:00"},
            "resources_min": {"nodect": 3},
            "default_chunk": {"Qlist": "main", "ncpus": 1},
            "enabled": "True",
            "started": "True",
        },
        "big": {
            "queue_type": "Execution",
            "resources_max": {"walltime": "48:00:00"},
            "default_chunk": {"Qlist": "big"},
            "enabled": "True",
            "started": "False",
        },
        "viz": {"queue_type": "Execution", "enabled": "True", "started": "True"},
        "R7712": {"queue_type": "Execution", "enabled": "True", "started": "True"},
    }
}
PBS_SERVER = "Server: pbs01.example.org\n    server_state = Active\n    default_queue = main\n"


def as_text(value: dict[str, dict[str, object]], head: str, indent: str) -> str:
    """The text form of the same, as an older PBS prints it."""
    lines: list[str] = []
    for name, given in value.items():
        lines.append(f"{head}{name}")
        for key, one in given.items():
            parts = one.items() if isinstance(one, dict) else [("", one)]
            lines += [f"{indent}{key}{'.' if inner else ''}{inner} = {text}" for inner, text in parts]
        lines.append("")
    return "\n".join(lines)


PBS = {
    "pbsnodes -a -F json": json.dumps(PBS_NODES),
    "qstat -Qf -F json": json.dumps(PBS_QUEUES),
    "qstat -Bf": PBS_SERVER,
}
OLD_PBS = {
    "pbsnodes -a": as_text(PBS_NODES["nodes"], "", "     "),  # type: ignore[arg-type]
    "qstat -Qf": as_text(PBS_QUEUES["Queue"], "Queue: ", "    "),  # type: ignore[arg-type]
    "qstat -Bf": PBS_SERVER,
}

LSF_QUEUES = """\

QUEUE: gpuq
  -- For GPU jobs.  This is the default queue.

PARAMETERS/STATISTICS
PRIO NICE STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN SSUSP USUSP  RSV PJOBS
 30    0  Open:Active       -    -    -    -    96    32    64     0     0    0     3
Interval for a host to accept two jobs is 0 seconds

DEFAULT LIMITS:
 RUNLIMIT
 60.0 min

MAXIMUM LIMITS:
 RUNLIMIT
 1440.0 min

 TASKLIMIT
 1 16 128

SCHEDULING PARAMETERS
           r15s   r1m  r15m   ut      pg    io   ls    it    tmp    swp    mem
 loadSched   -     -     -     -       -     -    -     -     -      -      -
 loadStop    -     -     -     -       -     -    -     -     -      -      -

SCHEDULING POLICIES:  FAIRSHARE EXCLUSIVE

USERS: all
HOSTS:  a100hosts/ v01+2
ADMINISTRATORS:  lsfadmin

-------------------------------------------------------------------------------

QUEUE: short
  -- Tests

PARAMETERS/STATISTICS
PRIO NICE STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN SSUSP USUSP  RSV PJOBS
 50    0  Open:Inact        -    -    -    -     0     0     0     0     0    0     0

 RUNLIMIT
 30.0 min of c01

USERS: all
HOSTS:  all ~v01

-------------------------------------------------------------------------------

QUEUE: cpuq
  -- No GPUs

PARAMETERS/STATISTICS
PRIO NICE STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN SSUSP USUSP  RSV
 20    0  Open:Active       -    -    -    -     0     0     0     0     0    0

USERS: all
HOSTS:  c01
"""
LSF = {
    "bqueues -l": LSF_QUEUES,
    "bhosts -w": (
        "HOST_NAME          STATUS          JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV\n"
        "a01                ok                 -     32      0      0      0      0      0\n"
        "a02                closed_Full        -     32     32     32      0      0      0\n"
        "v01                unavail            -     40      0      0      0      0      0\n"
        "c01                ok                 -     64      0      0      0      0      0\n"
    ),
    "lshosts -w": (
        "HOST_NAME                       type       model  cpuf ncpus maxmem maxswp server RESOURCES\n"
        "a01                           X86_64    Intel_EM64T 60.0    32 503.4G     4G    Yes (mg)\n"
        "a02                           X86_64    Intel_EM64T 60.0    32 503.4G     4G    Yes ()\n"
        "v01                           X86_64    Intel_EM64T 60.0    40 376.2G     4G    Yes ()\n"
        "c01                           X86_64    Intel_EM64T 60.0    64 251.0G     4G    Yes ()\n"
    ),
    "lshosts -gpu -w": (
        "HOST_NAME gpu_id gpu_model             gpu_driver  gpu_factor numa_id vendor\n"
        "a01            0 NVIDIAA100_SXM4_40GB  535.104.05  8.0        0       Nvidia\n"
        "               1 NVIDIAA100_SXM4_40GB  535.104.05  8.0        1       Nvidia\n"
        "a02            0 NVIDIAA100_SXM4_40GB  535.104.05  8.0        0       Nvidia\n"
        "               1 NVIDIAA100_SXM4_40GB  535.104.05  8.0        1       Nvidia\n"
        "v01            0 TeslaV100_SXM2_16GB   535.104.05  7.0        0       Nvidia\n"
    ),
    "bmgroup -w": "GROUP_NAME    HOSTS\na100hosts     a01 a02\n",
    "lsid": "IBM Spectrum LSF Standard 10.1.0.13, Jun 15 2022\n\nMy cluster name is heron\nMy master name is login1\n",
}

FLUX = {
    "flux queue list -n -o": (
        "pbatch*|enabled|started|86400.0|1|64\npdebug|enabled|started|3600|0|16\npall|disabled|stopped|inf|0|inf\n"
    ),
    "flux resource list -n -s all -o": (
        "pbatch,pall|mi300a|100|9600|400|wren[101-200]\npdebug,pall|mi300a|16|1536|64|wren[1-16]\n|login|2|64|0|wren[0,201]\n"
    ),
    "flux config get sched-fluxion-resource.match-policy": '"lonodex"\n',
}
