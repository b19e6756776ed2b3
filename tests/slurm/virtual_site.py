"""What a site's login shell gives a job, for the virtual Slurms; and machines with fewer GPUs."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from knowledge.cluster import Cluster

# The site's commands, as its login shell would define them, and the places that scripts name.
SITE = """\
module() { echo "module $*" >> "$SITE_LOG"; }
conda() { echo "conda $*" >> "$SITE_LOG"; }
export -f module conda
"""


def with_gpus(cluster: Cluster, count: int) -> Cluster:
    """The machine with that many GPUs a node."""
    nodes = tuple(replace(node, gpus=replace(node.gpus, per_node=count)) for node in cluster.node_types)
    return replace(cluster, node_types=nodes)


def environment(folder: Path, devices: int) -> dict[str, str]:
    """What the person's login shell on that machine would hold; Python with torch comes by PATH.

    Writes the site's commands and an empty Python environment into the folder.
    """
    (folder / "site.sh").write_text(SITE)
    (folder / "venvs" / "train" / "bin").mkdir(parents=True)
    (folder / "venvs" / "train" / "bin" / "activate").touch()
    own = {"BASH_ENV": str(folder / "site.sh"), "SITE_LOG": str(folder / "site.log"), "OMP_NUM_THREADS": "1"}
    own |= dict.fromkeys(("WORK", "PROJECT", "SCRATCH", "HOME"), str(folder))
    return own | {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), "/usr/local/bin:/usr/bin:/bin")),
        "GLOO_SOCKET_IFNAME": "lo",
        "MAPLE_REHEARSAL_DEVICES": ",".join(str(number) for number in range(devices)),
    }
