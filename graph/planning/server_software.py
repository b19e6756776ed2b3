"""The software of a server of models, where nobody said which: the site's PyTorch has none, so it gets a fresh one.

vLLM and SGLang bring a torch of their own, and their pages ask for an environment without another beside it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from knowledge.cluster import Cluster, NodeType, Software
from knowledge.served_models import served_models
from knowledge.types import Assumption, JobRequest

FOLDER = "$HOME/envs/{}"
# What loads or enters a Python of the site: a second one beside the server's own torch is what its pages warn of.
SITE_PYTHON = re.compile(r"^(?:#|(?:module|ml) load \S*(?:pytorch|conda|forge|frameworks)\S*\s*$|conda activate\s*$)")
MADE = "{} is not in the site's PyTorch; make this environment once, on a login node: `{}`"
WANTS = "{}; it needs {}"
VENV = "pip install --user uv && uv venv --python 3.12 --seed {0} && source {0}/bin/activate && {1}"
CONDA = "conda create -y -p {0} python=3.12 && conda activate {0} && pip install uv && {1}"
OWN_WHEELS = "virtualenv --no-download {0} && source {0}/bin/activate && pip install --no-index {1}"
NO_WHEEL = (
    "The software lines are the site's: no wheel of {0} for these GPUs is known here, so look whether they have it: "
    "`{1}`."
)
OTHER_IMAGE = (
    "The image is the site's for PyTorch: look whether it has {0} (`{1}` inside it); else another has it: "
    "*container {2}*."
)


@dataclass(frozen=True, slots=True)
class ServerSoftware:
    """The request with the environment that was chosen, the site's software for it, and what is said of both."""

    request: JobRequest
    software: Software
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()


def server_environment(request: JobRequest, cluster: Cluster, node: NodeType, software: Software) -> ServerSoftware:
    """A fresh environment for the server in the place of the site's PyTorch; all as it was where one was named."""
    engine = served_models().engines.get(request.framework or "")
    named = request.environment or request.container or request.modules or request.environment_kind
    if engine is None or named or request.framework in cluster.software or not node.gpus.model:
        return ServerSoftware(request, software)
    name = str(request.framework)
    fact = next((one for one in software.settings if one.environment), None)
    probe = f"{software.python} -c 'import {name}'"
    if software.wrapper or (fact is not None and fact.name == "EDF"):
        return ServerSoftware(
            request,
            software,
            notes=(OTHER_IMAGE.format(engine.title, probe, engine.images.get(node.gpus.backend, "IMAGE")),),
        )
    install = engine.install.get(node.gpus.backend)
    if install and name == "vllm" and (request.nodes or 1) > 1:
        install += " 'ray[cgraph]'"  # Ray carries it over the nodes
    if install is None:
        return ServerSoftware(request, software, notes=(NO_WHEEL.format(engine.title, probe),))
    folder = f"{fact.value.rpartition('/')[0]}/{name}" if fact and "/" in fact.value else FOLDER.format(name)
    conda = fact is not None and any("conda activate" in line for line in software.lines)
    own = re.compile(rf"\$\{{?{fact.name}\b") if fact else SITE_PYTHON
    lines = tuple(line for line in software.lines if not own.search(line))
    how = MADE.format(engine.title, made_by(folder, name, install, software, conda=conda))
    needs = engine.needs.get(node.gpus.backend)
    if needs and "--no-index" not in (software.create or ""):  # a site's own wheels fit its system
        how = WANTS.format(how, needs)
    taken = Assumption(
        fact.name if fact else "environment",
        folder,
        cluster.internet.as_there(how),
        engine.install_source,
    )
    made = replace(request, environment=folder, environment_kind="conda" if conda else "venv")
    return ServerSoftware(made, replace(software, lines=lines), (taken,))


def made_by(folder: str, name: str, install: str, software: Software, *, conda: bool) -> str:
    """The commands that make the environment there."""
    if "--no-index" in (software.create or ""):
        return OWN_WHEELS.format(folder, name)
    return (CONDA if conda else VENV).format(folder, install)
