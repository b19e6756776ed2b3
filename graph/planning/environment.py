"""The person's own environment: which kind it is, and how the site's lines make room for it.

A conda environment, a virtual environment, a uv project, modules, a container image, an EDF or a uenv are told apart by
what was said, else by their shape; where a path tells nothing, the script looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from graph.planning.fields import check_module
from graph.planning.server_software import server_environment
from knowledge.cluster import Cluster, ContainerFact, NodeType, Software
from knowledge.job_parts import ContainerRuntime, EnvironmentKind
from knowledge.types import Alternative, Assumption, Directive, JobRequest, Launch, Refusal, SideFile, Variable
from knowledge.word_lists import in_order
from templates.quoting import shell_word

ENVIRONMENT, IMAGE = "ENVIRONMENT", "IMAGE"
EXAMPLE_IMAGE = "ghcr.io#eth-cscs/alps-extended-images/ngc-pytorch:TAG-alps6"
IMAGE_FILE = re.compile(r"\.(sif|simg|sqsh|sqfs|img)$", re.I)
IMAGE_NAME = re.compile(r"^(docker|oras|library)://|^[\w.-]+(?:[/#][\w.-]+)*:[\w][\w.-]*$")
ACTIVATION = re.compile(r"""^(source|\.|conda activate|source activate)\s+"?\$\{?(\w+)\}?(/bin/activate)?"?$""")
LOADS = re.compile(r"^(?:module|ml) (?:load|add)\s+(.*)$")
FROM_REGISTRIES = ("shifter", "podman-hpc")
GPU_FLAG = {"nvidia": "--nv ", "amd": "--rocm ", "intel": ""}
HANDED_ON = {"slurm": "sbatch hands it on, unless `--export=NONE` is set", "pbs": "`#PBS -V` hands it on"}
HOOK = 'eval "$(conda shell.bash hook)"'
CONDA_UNKNOWN = (
    "Which module brings conda is not known here for {}: submit from a shell that finds conda, or say its module."
)
READ_AS_VENV = "{0} is read as a virtual environment in {1}; for one of conda say *my conda environment {0}*."
NO_CONTAINER = (
    "Your conda environment runs without {}'s container: make it on a compute node there, with your own conda, and "
    "give its NCCL the network's plugin (aws-ofi-nccl), which the container brings; without it NCCL falls back to TCP."
)
INSIDE = in_order("RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT NNODES RANKS_PER_NODE")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around the program: settings at the top, lines of setup, the wrapper, and what goes with them."""

    software: Software
    settings: tuple[Variable, ...]
    lines: tuple[str, ...]
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    directives: tuple[Directive, ...] = ()
    options: tuple[str, ...] = ()
    files: tuple[SideFile, ...] = ()


def kind_of(name: str, said: EnvironmentKind | None) -> EnvironmentKind | None:
    """The kind that was said, else by shape; None for a path that may be a virtual or a conda environment."""
    if said is not None:
        return said
    if name.endswith(".toml"):
        return "edf"
    if IMAGE_FILE.search(name) or IMAGE_NAME.search(name):
        return "container"
    return None if "/" in name or name.startswith("~") else "conda"


# `--environment=ngc`: a name of ~/.edf, not an image's reference.
EDF_NAME = re.compile(r"(?!.*\.(?:sif|sqsh|simg|img)$)[A-Za-z0-9][\w.-]*")


def has_edf(software: Software) -> bool:
    """Whether the site names containers by environment definition files."""
    return any(fact.name == "EDF" for fact in software.settings)


def surroundings(request: JobRequest, cluster: Cluster, node: NodeType, software: Software) -> Surroundings | Refusal:
    """The site's software with the person's own in its place. Raises InputError on a module's bad name."""
    own = server_environment(request, cluster, node, software)
    made = all_surroundings(own.request, cluster, node, own.software)
    if isinstance(made, Refusal):
        return made
    made = replace(made, assumptions=(*made.assumptions, *own.assumptions), notes=(*made.notes, *own.notes))
    return without_unused(made, software)


def without_unused(made: Surroundings, site: Software) -> Surroundings:
    """Without the settings that only the site's wrapper needed (a folder that it binds), where there is another."""

    def is_used(one: Variable) -> bool:
        texts = (made.software.wrapper or "", *made.lines, *(other.value for other in made.settings), *made.options)
        name = re.compile(rf"\$\{{?{one.name}\b")
        return not name.search(site.wrapper or "") or any(name.search(text) for text in texts)

    left = {one.name for one in made.settings if not is_used(one)}
    settings = tuple(one for one in made.settings if one.name not in left)
    return replace(made, settings=settings, assumptions=tuple(one for one in made.assumptions if one.field not in left))


def all_surroundings(
    request: JobRequest, cluster: Cluster, node: NodeType, software: Software
) -> Surroundings | Refusal:
    """The site's software with the person's own, with all that the site sets."""
    image = request.container
    name, kind = request.environment, None
    if name:
        kind = kind_of(name, request.environment_kind)
        if kind == "container" and image is None:
            image, name = name, None
    if image and (image.endswith(".toml") or (EDF_NAME.fullmatch(image) and has_edf(software))):
        image, name, kind = None, image, "edf"
    base = modules_changed(software, request)
    if image:
        return in_container(image, name, request, cluster, node, base)
    if request.environment_kind == "active":
        return handed_on(name, request, cluster, base)
    if name and kind == "uenv":
        return with_uenv(name, base, cluster)
    if name and kind == "edf" and not has_edf(base):
        return no_edf(name, cluster)
    if name and kind == "module":
        return own_modules(name, base)
    if request.environment_kind == "module":
        return from_modules(base)
    if name and kind == "uv":
        name = project_of(name)
    if name and kind == "conda" and request.environment_kind is None:
        return by_its_name(name, cluster, base)
    return with_environment(name, kind, cluster, base)


def by_its_name(name: str, cluster: Cluster, base: Software) -> Surroundings:
    """A name without a path: conda's, but a virtual environment's where the site's example is one and nothing there
    knows conda."""
    folder = venvs_of(base, cluster)
    if not folder:
        return with_environment(name, "conda", cluster, base)
    made = with_environment(f"{folder}/{name}", "venv", cluster, base)
    return replace(made, notes=(*made.notes, READ_AS_VENV.format(name, folder)))


def venvs_of(software: Software, cluster: Cluster) -> str:
    """The folder of the virtual environments of the site's example, where nothing there knows conda; else empty."""
    knows = any("conda" in text or "forge" in text for text in (*software.lines, *cluster.conda, software.create or ""))
    fact = next((one for one in software.settings if one.environment), None)
    entered = fact and any(f'"${fact.name}/bin/activate"' in line for line in software.lines)
    return fact.value.rpartition("/")[0] if fact and entered and not knows else ""


def settings_of(base: Software, name: str | None, *, replaces: bool) -> tuple[list[Variable], list[Assumption]]:
    """The site's settings, and which of them are taken as they are. replaces: its environment's is the person's."""
    own = [one for one in base.settings if not (one.environment and name)]
    theirs = {one.name for one in base.settings if one not in own}
    settings = [
        Variable(one.name, name, "your environment")
        if name and one.name in theirs
        else Variable(one.name, one.value, one.why, expand=True)
        for one in base.settings
        if replaces or one.name not in theirs
    ]
    return settings, [Assumption(one.name, one.value, one.why or "the site's example", base.source) for one in own]


def with_environment(name: str | None, kind: EnvironmentKind | None, cluster: Cluster, base: Software) -> Surroundings:
    """A conda or virtual environment, in the place of the site's example where there is one."""
    if name and kind != "edf" and has_edf(base):
        return beside_edf(name, kind, cluster, base)
    fact = next((one for one in base.settings if one.environment), None)
    replaces = fact is not None and name is not None and not image_setting(base)
    settings, taken = settings_of(base, name, replaces=replaces or kind == "edf")
    if name is None and cluster.id == "alps-clariden":
        return with_example_edf(base, tuple(settings), tuple(taken))
    if name is None or kind == "edf":
        return Surroundings(base, tuple(settings), base.lines, tuple(taken))
    variable = fact.name if fact and replaces else ENVIRONMENT
    if not replaces:
        settings.append(Variable(ENVIRONMENT, name, "your Python environment"))
        base = replace(base, wrapper=None, python="python") if image_setting(base) else base
    lines = (*without_activation(base.lines, kind, cluster), activation(variable, kind))
    if "/envs/" in name:  # its own conda lies two folders above
        lines = tuple(own_hook(variable) if line == HOOK else line for line in lines)
    told = (CONDA_UNKNOWN.format(cluster.title),) if HOOK in lines else ()
    return Surroundings(base, tuple(settings), lines, tuple(taken), (*uv_note(kind, name), *told))


def beside_edf(name: str, kind: EnvironmentKind | None, cluster: Cluster, base: Software) -> Surroundings:
    """A Python environment where the site's setting names a container: one with a path is entered inside the image, a
    conda environment by its name outside of it."""
    if kind == "conda" and "/" not in name:
        bare = replace(base, python="python", lines=without_activation(base.lines, kind, cluster))
        lines = (*bare.lines, activation(ENVIRONMENT, kind))
        setting = Variable(ENVIRONMENT, name, "your conda environment")
        return Surroundings(bare, (setting,), lines, (), (NO_CONTAINER.format(cluster.title),))
    settings = tuple(Variable(one.name, one.value, one.why, expand=True) for one in base.settings)
    taken = tuple(Assumption(one.name, one.value, one.why, base.source) for one in base.settings)
    inner = f"{project_of(name)}/.venv" if kind == "uv" else name
    return inside(with_example_edf(base, settings, taken), inner)


def handed_on(name: str | None, request: JobRequest, cluster: Cluster, base: Software) -> Surroundings:
    """What is active where the job is submitted goes into it: the script loads and enters nothing of its own."""
    lines = (f"module load {' '.join(request.modules)}",) if request.modules else ()
    which = f" {name}" if name else ""
    how = HANDED_ON.get(cluster.scheduler, "the scheduler hands it on")
    note = f"Submit from the shell in which your environment{which} is active: {how}."
    directives = (Directive("-V"),) if cluster.scheduler == "pbs" else ()
    return Surroundings(replace(base, wrapper=None, python="python", lines=lines), (), lines, (), (note,), directives)


def with_example_edf(base: Software, settings: tuple[Variable, ...], taken: tuple[Assumption, ...]) -> Surroundings:
    """CSCS' container by an EDF file, which is written beside the script: only the image's tag is left to choose."""
    file = SideFile("pytorch.toml", edf(EXAMPLE_IMAGE, ()))
    note = (
        "pytorch.toml names the image with a TAG to fill in: https://docs.cscs.ch/software/ml/pytorch/ lists today's."
    )
    return Surroundings(base, settings, base.lines, taken, (note,), files=(file,))


def image_setting(software: Software) -> bool:
    """Whether the site's software is a container image that a setting names."""
    return bool(software.wrapper) and any(one.environment for one in software.settings)


def conda_sourced(around: Surroundings, files: Sequence[str]) -> tuple[Surroundings, tuple[str, ...]]:
    """The software with conda set up by the person's own file (`.../etc/profile.d/conda.sh`) in the place of what would
    look for it on the path, and the files that are left to source behind the software."""
    ours = [path for path in files if path.endswith("/conda.sh")]
    if not ours or HOOK not in around.lines:
        return around, tuple(files)
    lines = tuple(f"source {shell_word(ours[0])}" if line == HOOK else line for line in around.lines)
    notes = tuple(note for note in around.notes if not note.startswith(CONDA_UNKNOWN.partition("{")[0]))
    return replace(around, lines=lines, notes=notes), tuple(path for path in files if path != ours[0])


def activation(variable: str, kind: EnvironmentKind | None) -> str:
    """The line that enters an environment; where nothing tells its kind, the script looks."""
    if kind == "conda":
        return f'conda activate "${variable}"'
    if kind == "uv":
        return f'source "${variable}/.venv/bin/activate"  # made by `uv sync` there'
    enter = f'source "${variable}/bin/activate"'
    if kind == "venv":
        return enter
    return (
        f'if [ -d "${variable}/conda-meta" ]; then {own_hook(variable)}; conda activate "${variable}"; else {enter}; fi'
    )


def own_hook(variable: str) -> str:
    """What sets conda up where it is not on the path: that of the environment's own installation."""
    return f'eval "$("$(command -v conda || echo "${{{variable}%/envs/*}}/bin/conda")" shell.bash hook)"'


def without_activation(lines: Iterable[str], kind: EnvironmentKind | None, cluster: Cluster) -> tuple[str, ...]:
    """The site's lines without the one that enters its example; conda's own lines where a conda environment comes."""
    kept = tuple(line for line in lines if not ACTIVATION.match(line) and line != "conda activate")
    if kind != "conda" or any("conda" in line or "forge" in line for line in kept):
        return kept
    if not cluster.conda:
        return (*kept, HOOK)
    return cluster.conda


def uv_note(kind: EnvironmentKind | None, name: str) -> tuple[str, ...]:
    if kind != "uv":
        return ()
    return (f"Make the environment once on a login node: `cd {name} && uv sync`; the job only enters it.",)


def own_modules(name: str, base: Software) -> Surroundings:
    """A module that brings Python itself, in the place of the site's."""
    for word in name.split():
        check_module(word)
    kept = tuple(Variable(one.name, one.value, one.why, expand=True) for one in base.settings if not one.environment)
    lines = tuple(
        line for line in base.lines if line.startswith("module use") or line in ("module reset", "module purge")
    )
    return Surroundings(replace(base, wrapper=None, python="python"), kept, (*lines, f"module load {name}"))


def from_modules(base: Software) -> Surroundings:
    """Python from the modules that are loaded: the site's lines without the example of an environment."""
    gone = {one.name for one in base.settings if one.environment}
    uses = re.compile(rf"\$\{{?(?:{'|'.join(map(re.escape, gone))})\b") if gone else None
    lines = tuple(line for line in base.lines if not ACTIVATION.match(line) and not (uses and uses.search(line)))
    kept = tuple(Variable(one.name, one.value, one.why, expand=True) for one in base.settings if not one.environment)
    return Surroundings(replace(base, wrapper=None, python="python", lines=lines), kept, lines)


def project_of(name: str) -> str:
    """A uv project's folder, where that of the environment inside it was given."""
    folder, slash, last = name.rstrip("/").rpartition("/")
    return (folder or slash or ".") if last == ".venv" else name


# What makes the other modules of a hierarchy visible, and is loaded before them: JSC's stages
# (https://apps.fz-juelich.de/jsc/hps/juwels/software-modules.html), the Alliance's standard environments
# (https://docs.alliancecan.ca/wiki/Standard_software_environments), LUMI's stacks
# (https://docs.lumi-supercomputer.eu/runjobs/lumi_env/softwarestacks/), Anvil's trees, PDC's and SURF's years.
OPENS_OTHERS = re.compile(r"(?:Stages|StdEnv|LUMI|CrayEnv|modtree|PDC)(?:/|$)|20\d\d[ab]?$")
BEFORE_LOADS = re.compile(r"module (?:use|reset|(?:--force )?purge)\b")


def opens_others(name: str) -> bool:
    """Whether other modules are only there once this one is loaded."""
    return OPENS_OTHERS.match(name) is not None


def modules_changed(software: Software, request: JobRequest) -> Software:
    """The site's module lines with modules swapped, removed and added in their order."""
    for word in (*request.modules, *request.modules_removed):
        check_module(word)
    if not (request.modules or request.modules_removed):
        return software
    added = list(request.modules)
    lines: list[str] = []
    for line in software.lines:
        loads = LOADS.match(line)
        if loads is None:
            lines.append(line)
            continue
        words = [] if request.modules_only else changed_modules(loads[1].split(), added, request.modules_removed)
        lines += [f"module load {' '.join(words)}"] if words else []
    if first := [one for one in added if opens_others(one)]:
        at = next((n for n, line in enumerate(lines) if not BEFORE_LOADS.match(line)), len(lines))
        lines.insert(at, f"module load {' '.join(first)}")
    if added := [one for one in added if one not in first]:
        at = next((n for n, line in enumerate(lines) if ACTIVATION.match(line)), len(lines))
        lines.insert(at, f"module load {' '.join(added)}")
    return replace(software, lines=tuple(lines))


def changed_modules(words: list[str], added: list[str], removed: tuple[str, ...]) -> list[str]:
    """One load line: a module of the same name takes the old one's place (and leaves `added`)."""
    kept = []
    for word in words:
        stem = word.strip('"').split("/")[0]
        new = next((one for one in added if one.split("/")[0] == stem), None)
        if new is not None:
            added.remove(new)
            kept.append(new)
        elif word not in removed and stem not in removed:
            kept.append(word)
    return kept


def with_uenv(name: str, base: Software, cluster: Cluster) -> Surroundings | Refusal:
    if cluster.id != "alps-clariden":
        return Refusal(
            f"{cluster.title} has no uenv.",
            "It is CSCS' way of mounting software on Alps.",
            "https://docs.cscs.ch/software/ml/pytorch/",
            (Alternative("the site's own software", (("environment", None), ("environment_kind", None))),),
        )
    directives = (Directive(f"--uenv={name}"), Directive("--view=default"))
    note = ("The uenv is entered by the job; --environment (a container) is left out: the two exclude each other.",)
    return Surroundings(replace(base, wrapper=None), (), (), (), note, directives)


def no_edf(name: str, cluster: Cluster) -> Refusal:
    return Refusal(
        f"{cluster.title} has no environment definition files, so {name} cannot be entered there.",
        "EDF files are CSCS' way of naming a container.",
        "https://docs.cscs.ch/software/container-engine/",
        (
            Alternative(
                "the image that it names, as the container", (("environment", None), ("environment_kind", None))
            ),
        ),
    )


def in_container(
    image: str, name: str | None, request: JobRequest, cluster: Cluster, node: NodeType, base: Software
) -> Surroundings | Refusal:
    """The program inside an image, by the runtime that was named or the machine's first."""
    fact = runtime_of(request.container_runtime, cluster)
    if isinstance(fact, Refusal):
        return fact
    if IMAGE_FILE.search(image) and fact.runtime in FROM_REGISTRIES:
        return Refusal(
            f"{fact.runtime} on {cluster.title} takes an image by its name in a registry, not the file {image}.",
            "A .sif or .sqsh file is read by apptainer or enroot.",
            fact.source or cluster.docs,
            (Alternative("the site's own software", (("container", None), ("container_runtime", None))),),
        )
    if IMAGE_NAME.search(image) and "://" not in image and fact.runtime in ("apptainer", "singularity"):
        image = f"docker://{image}"
    binds = (*fact.binds, *request.binds)
    if image_setting(base) and base.wrapper and fact.runtime in ("singularity", "apptainer"):
        setting = next(one for one in base.settings if one.environment)
        wrapper = with_binds(base.wrapper, request.binds)
        settings = tuple(
            Variable(one.name, image if one is setting else one.value, one.why, expand=one is not setting)
            for one in base.settings
        )
        made = Surroundings(replace(base, wrapper=wrapper), settings, base.lines)
    else:
        made = by_runtime(image, fact, binds, node, base)
    return made if name is None else inside(made, name)


def runtime_of(said: ContainerRuntime | None, cluster: Cluster) -> ContainerFact | Refusal:
    same = {"singularity": "apptainer", "enroot": "pyxis"}
    for fact in cluster.container_runtimes:
        if said is None or said == fact.runtime or same.get(said, said) == same.get(fact.runtime, fact.runtime):
            return fact
    there = ", ".join(fact.runtime for fact in cluster.container_runtimes)
    ways = [Alternative(f"the same in {there}", (("container_runtime", None),))] if there else []
    ways.append(Alternative("the site's own software", (("container", None), ("container_runtime", None))))
    what = said or "a container"
    why = f"Known there: {there or 'none'} (facts of {cluster.as_of})."
    return Refusal(f"How {what} runs on {cluster.title} is not known here.", why, cluster.docs, tuple(ways))


def with_binds(wrapper: str, binds: tuple[str, ...]) -> str:
    """The site's own wrapper with folders bound in, before the image."""
    if not binds:
        return wrapper
    head, _, image = wrapper.rpartition(" ")
    return f"{head} --bind {quoted_list(binds)} {image}"


def quoted_list(binds: tuple[str, ...]) -> str:
    return '"' + ",".join(binds) + '"'


def by_runtime(image: str, fact: ContainerFact, binds: tuple[str, ...], node: NodeType, base: Software) -> Surroundings:
    """Settings, lines, wrapper and launcher options of one runtime. The site's own modules stay out of it."""
    bare = replace(base, wrapper=None, python="python", settings=())
    setting = (Variable(IMAGE, image, "the container image"),)
    if fact.runtime == "shifter":
        directives = (Directive(f"--image={image}"), *(Directive(text) for text in fact.directives))
        volumes = (Directive("--volume=" + '"' + ";".join(pair(bind) for bind in binds) + '"'),) if binds else ()
        return Surroundings(replace(bare, wrapper="shifter"), (), (), directives=(*directives, *volumes))
    if fact.runtime in ("pyxis", "enroot"):
        mounts = (
            f"--container-mounts={quoted_list(tuple(pair(b) for b in (*binds, '$PWD')))}",
            '--container-workdir="$PWD"',
        )
        return Surroundings(bare, setting, fact.lines, options=(f'--container-image="${IMAGE}"', *mounts))
    if fact.runtime == "edf":
        file = SideFile("container.toml", edf(image, binds))
        edf_setting = (
            Variable("EDF", "$PWD/container.toml", "environment definition file: names the container image", True),
        )
        return Surroundings(bare, edf_setting, (), files=(file,))
    if fact.runtime == "podman-hpc":
        volumes_here = "".join(f'-v "{pair(bind)}" ' for bind in (*binds, "$PWD"))
        names = "".join(f"-e {one} " for one in INSIDE)
        wrapper = f'podman-hpc run --rm {" ".join(fact.options)} {names}{volumes_here}-w "$PWD" "${IMAGE}"'
    else:
        options = "".join(f"{one} " for one in fact.options)
        bound = f"--bind {quoted_list(binds)} " if binds else ""
        gpu_flag = GPU_FLAG[node.gpus.vendor] if node.gpus.model else ""
        wrapper = f'{fact.runtime} exec {gpu_flag}{options}{bound}"${IMAGE}"'
    return Surroundings(replace(bare, wrapper=wrapper), setting, fact.lines)


def pair(bind: str) -> str:
    """SRC:DST; a folder alone is bound to its own place."""
    return bind if ":" in bind else f"{bind}:{bind}"


def edf(image: str, binds: tuple[str, ...]) -> str:
    mounts = ", ".join(f'"{one}"' for one in dict.fromkeys((*binds, "/capstor", "/iopsstor")))
    return (
        f'image = "{image}"\nmounts = [{mounts}, "${{PWD}}"]\nworkdir = "${{PWD}}"\n\n[annotations]\n'
        'com.hooks.aws_ofi_nccl.enabled = "true"\ncom.hooks.aws_ofi_nccl.variant = "cuda-dl"\n'
    )


def inside(made: Surroundings, name: str) -> Surroundings:
    """A virtual environment made inside the image: its own Python is called by path, nothing is activated."""
    setting = Variable(ENVIRONMENT, name, "your virtual environment, made inside the image")
    software = replace(made.software, python=f'"${ENVIRONMENT}/bin/python"')
    return replace(made, software=software, settings=(*made.settings, setting))


def launched(launch: Launch, made: Surroundings) -> Launch:
    """The launch with the wrapper, the interpreter and the options of these surroundings; without the site's options
    that name a setting which these do not have."""
    own = made.software.python.startswith('"$')
    gone = {one.name for one in made.software.settings} - {one.name for one in made.settings}
    kept = tuple(one for one in launch.options if not any(re.search(rf"\$\{{?{name}\b", one) for name in gone))
    return replace(
        launch,
        wrapper=made.software.wrapper or "",
        python=made.software.python,
        torchrun=f"{made.software.python} -m torch.distributed.run" if own else launch.torchrun,
        options=(*kept, *made.options),
    )
