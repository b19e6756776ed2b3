# ruff: noqa: E501
"""Do variables reach those who need them? Exports, order, what launchers hand over, the world size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from graph.extraction.launch_shape import LaunchShape, text_of
from graph.verification.checks import sources
from graph.verification.checks.rank_rules import RANK_NAMES
from graph.verification.checks.rule import Edit, Hit, Rule, launch_rule
from graph.verification.checks.subject import Subject, number_of
from graph.verification.checks.tasks import are_alone, in_tasks, root_with_launcher, task_text, variables
from knowledge.data_file import parse_json

# Read by libraries from the environment: setting them without export does nothing. Not here: what a scheduler or a
# login shell may have exported before (CUDA_VISIBLE_DEVICES, PYTHONPATH), which a plain assignment then changes.
FOR_LIBRARIES = re.compile(
    r"(NCCL|RCCL|CCL|FI|UCX|MIOPEN|HSA|MPICH|OMPI_MCA|I_MPI|GLOO|TORCH|PYTORCH|TRANSFORMERS|HF|WANDB|ACCELERATE|FSDP|DEEPSPEED|MV2)_\w+"
    r"|OMP_NUM_THREADS|ZE_AFFINITY_MASK|ZE_FLAT_DEVICE_HIERARCHY|CUDA_DEVICE_MAX_CONNECTIONS|TOKENIZERS_PARALLELISM|https?_proxy|no_proxy"
)  # fmt: skip
# Words that scripts use for their own purposes: a dry switch, a folder.
OWN_USE = re.compile(
    r"(HF_MODEL|HF_REPO|WANDB_ARGS|TORCH_ARGS|ACCELERATE_ARGS|TORCH_LAUNCH\w*|\w*_(ARGS|CMD|FLAGS|OPTS|LAUNCHER|CONFIG|DIR|FILE|SCRIPT|VERSION|IMAGE|ROOT|PREFIX|HOME|BIN|ENV))"
)


def not_exported(s: Subject) -> Iterator[Hit]:
    """Set and never exported: the tasks do not see it."""
    if re.search(r"(?m)^[^\S\n]*set\s+(-\w*a|-o allexport)", s.script.text) or not s.is_shell or s.script.jobs:
        return
    needed = {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE"} if ranks(s) else set()
    used = {one.name for one in variables(s) if not one.early}
    own = set(in_tasks(s, frozenset(used | needed)))
    passed = passed_on(s)
    told: set[str] = set()
    for one in s.script.assignments:
        if s.launch is None or one.line > s.launch.line or one.inside or one.name in s.exported | told | own | passed:
            continue
        library = FOR_LIBRARIES.fullmatch(one.name) and not OWN_USE.fullmatch(one.name) and not read_here(s, one.name)
        wanted = one.name in needed or (one.name in used and not set_by_tasks(s, one.name))
        if not (wanted or library) or kept_back(s, one.line, one.name):
            continue
        told.add(one.name)
        made = re.sub(rf"(^|[;&]\s*|\s){one.name}=", rf"\1export {one.name}=", s.line(one.line), count=1)
        says = f"{one.name} is set and not exported: programs that the script starts do not see it"
        yield Hit(one.line, says, severity=None if wanted else "warning", edit=Edit(one.line, one.line, (made,)))


def ranks(s: Subject) -> bool:
    """Whether the launcher's tasks are the ranks themselves, with env:// in sight."""
    launch = s.launch
    return (
        launch is not None
        and launch.parallel is not None
        and launch.spawner is None
        and "RANK" in in_tasks(s, RANK_NAMES)
    )


def set_by_tasks(s: Subject, name: str) -> bool:
    """Whether a loop or a `read` of the tasks' own text gives it a value."""
    return bool(re.search(rf"\bfor {name}\b|\bread\b[^;\n]*\b{name}\b", task_text(s)))


def kept_back(s: Subject, line: int, name: str) -> bool:
    """A function's local, or an array, which worker scripts are given by `declare -p`: neither can be exported."""
    local = re.search(rf"(local|declare|readonly|typeset)\s.*{name}=|\b{name}\+?=\(", s.line(line))
    return bool(local) or bool(re.search(rf"\b{name}\+?=\(|declare -p {name}\b", s.script.text))


def read_here(s: Subject, name: str) -> bool:
    """Whether the script itself reads it: then it may be a variable of its own."""
    return len(re.findall(rf"\$\{{?{name}\b", s.script.text)) > 0


def passed_on(s: Subject) -> set[str]:
    """Names that the launcher hands over with a value (`-x NAME=v`, `-genv NAME v`, `--export=ALL,NAME=v`)."""
    launch = s.launch
    if launch is None:
        return set()
    text = " ".join(" ".join(command.written) for command in (launch.root, launch.command))
    found = set(re.findall(r"(?:-x|--env|-env|--export[= ]\S*?)[= ,]([A-Za-z_]\w*)=", text)) | set(
        re.findall(r"-g?env\s+([A-Za-z_]\w*)\s", text)
    )
    return found | set(re.findall(r",([A-Za-z_]\w*)=", text))


def not_forwarded(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """Open MPI's mpirun that forwards some variables by -x and forgets one of the rendezvous."""
    layer = launch.parallel
    if layer is None or layer.name not in ("mpirun", "mpiexec") or not s.several_nodes or not ranks(s):
        return
    forwarded = {"".join(piece.text for piece in value).split("=")[0] for name, value in layer.options if name == "-x"}
    if not forwarded:
        return
    for name in ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE"):
        if name in s.exported and name not in forwarded and name not in in_tasks(s, frozenset({name})):
            yield Hit(launch.line, f"{name} is not among the variables that mpirun forwards with -x")


def export_none(s: Subject) -> Iterator[Hit]:
    """`--export=NONE`: steps of srun inherit it and start without the script's own variables."""
    one = s.job.asked.get("export")
    layer = s.launch.parallel if s.launch else None
    if one is None or one.value.upper() != "NONE" or layer is None or layer.name != "srun":
        return
    if text_of(layer, "--export") is None and not re.search(r"SLURM_EXPORT_ENV", s.script.text):
        yield Hit(one.line, "--export=NONE holds for srun too: tasks start without what this script exports")


def export_only(s: Subject) -> Iterator[Hit]:
    """srun --export=A,B without ALL."""
    layer = s.launch.parallel if s.launch else None
    value = text_of(layer, "--export") if layer is not None and layer.name == "srun" else None
    if value and "$" not in value and "ALL" not in value.upper().split(",") and s.launch is not None:
        what = (
            "nothing but Slurm's own variables"
            if value.upper() == "NONE"
            else f"only {value.split(',')[0].split('=')[0]} and what else is named"
        )
        yield Hit(s.launch.line, f"srun --export={value[:40]} without ALL: the tasks get {what}")


def set_too_late(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A variable of the launch line that is set only below it."""
    command = root_with_launcher(launch)
    if command is None or command.inside:
        return
    names = {one.name for one in variables(s)} | ({"MASTER_ADDR", "MASTER_PORT"} if ranks(s) else set())
    last_line = command.line + sum(word.count("\n") for word in command.written)
    for name in sorted(names):
        places = [one.line for one in s.set_to(name)]
        if (
            places
            and min(places) > max(last_line, command.line)
            and not re.search(rf"\$\{{{name}:?[-=+]", s.script.text)
            and min(places) > max(word_lines(s, command.line))
        ):
            yield Hit(min(places), f"{name} is set here, below the launch on line {command.line} that needs it")


def word_lines(s: Subject, line: int) -> list[int]:
    """The lines of a command with its continuations."""
    lines = [line]
    while s.line(lines[-1]).endswith("\\") and lines[-1] < len(s.lines):
        lines.append(lines[-1] + 1)
    return lines


def world_size(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """WORLD_SIZE against the ranks that are started."""
    if launch.parallel is None or launch.spawner is not None or not launch.tasks or not ranks(s) or are_alone(s):
        return
    before = [one for one in s.set_to("WORLD_SIZE") if one.line <= launch.line]
    found = [one for one in before if "branch" not in " ".join(one.inside)]
    if not found:
        return
    size = number_of(found[-1].written, s.facts) if not found[-1].inside else number_of(found[-1].value, s.facts)
    if size is not None and size != launch.tasks:
        yield Hit(found[-1].line, f"WORLD_SIZE is {size}; {launch.parallel.name} starts {launch.tasks} ranks")


def misspelt_own(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A variable of the launch that nothing sets, and that is nearly one which the script sets."""
    if s.script.sourced and not s.script.assignments:
        return
    given = s.names
    names = sorted(name for name in given if len(name) > 4)
    for used in list(variables(s)):
        if used.name in given or len(used.name) < 5 or not re.fullmatch(r"[A-Z][A-Z0-9_]+", used.name):
            continue
        near = get_close_matches(used.name, names, 1, 0.88)
        if (
            near
            and not re.search(r"\d$", used.name)
            and not re.search(rf"\b{used.name}=|\bread\b.*{used.name}|\$\{{{used.name}:", s.script.text)
            and len(near[0]) - len(used.name) in (-1, 0, 1)
        ):
            strict = re.search(r"(?m)^[^\S\n]*set\s+(-\w*u|-o nounset)", s.script.text)
            says = f"{used.name} is set nowhere; the script sets {near[0]}"
            edit = Edit(used.line, used.line, (re.sub(rf"\b{used.name}\b", near[0], s.line(used.line)),))
            yield Hit(used.line, says, severity=None if strict else "warning", edit=edit)


def one_connection(s: Subject) -> Iterator[Hit]:
    """Megatron's tensor or context parallelism on NVIDIA's GPUs before Blackwell and on AMD's: it stops without this
    variable."""
    kinds = [kind.gpus for kind in s.cluster.node_types if kind.gpus] if s.cluster else []
    older = any(one.vendor != "intel" and not (one.arch or "").startswith(("sm_10", "sm_12")) for one in kinds)
    code = "\n".join(text for _, text in s.code_lines)
    if s.launch is None or not older or "CUDA_DEVICE_MAX_CONNECTIONS" in code or not splits_tensors(code):
        return
    line = s.launch.root.line
    made = ("export CUDA_DEVICE_MAX_CONNECTIONS=1", s.line(line))
    says = "Megatron splits tensors here, and CUDA_DEVICE_MAX_CONNECTIONS is not 1"
    yield Hit(line, says, edit=Edit(line, line, made))


def splits_tensors(code: str) -> bool:
    """Whether a tensor or context parallel size above 1 is handed to the program."""
    for found in re.finditer(r"--(?:tensor-model|context)-parallel-size[= ]+[\"']?\$?\{?(\w+)", code):
        value = found[1] if found[1].isdigit() else next(iter(re.findall(rf"\b{found[1]}=[\"']?(\d+)", code)), "")
        if value.isdigit() and int(value) > 1:
            return True
    return False


def kv_settings(s: Subject) -> Iterator[Hit]:
    """vLLM's connector that is no JSON, and LMCache's settings said in two ways."""
    for number, line in s.code_lines:
        told = re.search(r"--kv-transfer-config[= ]+(?P<q>['\"]?)(?P<v>\{.*?\})(?P=q)(?=\s|$|\))", line)
        if told and told["q"] != '"' and "$" not in told["v"] and not is_json(told["v"]):
            says = "--kv-transfer-config is no JSON: names and values need double quotes"
            why = "vLLM reads it as JSON; single quotes around the whole keep the shell off it"
            yield Hit(number, says, why, "https://docs.vllm.ai/en/latest/features/disagg_prefill.html")
    names = {one.name: one.line for one in s.script.assignments if one.name.startswith("LMCACHE_")}
    file = names.pop("LMCACHE_CONFIG_FILE", None)
    if file and (others := sorted(set(names) - {"LMCACHE_USE_EXPERIMENTAL"})):
        yield Hit(file, f"LMCACHE_CONFIG_FILE and {others[0]} are both set: one of them is void",
                  "LMCache takes a file or variables; which wins differs between its versions", "https://docs.lmcache.ai", "warning")  # fmt: skip


def is_json(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


RULES = (
    Rule("serve-kv-settings", "environment", "error", "a `--kv-transfer-config` that is no JSON; LMCache's settings in a file and in variables", kv_settings),
    Rule("variable-megatron-connections", "environment", "warning", "Megatron's tensor parallelism without CUDA_DEVICE_MAX_CONNECTIONS=1", one_connection, "https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/training/arguments.py",
         why="before Blackwell, and on AMD, it asserts that, so that communication is queued before compute"),
    Rule("variable-not-exported", "environment", "error", "a variable that tasks or libraries need, set without export", not_exported, sources.BASH + "#Bourne-Shell-Builtins",
         why="a shell keeps variables to itself until `export`"),
    launch_rule("variable-not-forwarded", "environment", "warning", "mpirun -x that leaves out a variable of the rendezvous", not_forwarded, sources.OPEN_MPI,
                why="on nodes reached over ssh the tasks do not see it"),
    Rule("variable-export-none", "environment", "warning", "--export=NONE in the directives, which srun inherits", export_none, sources.SBATCH,
         why="add `unset SLURM_EXPORT_ENV`, or srun --export=ALL"),
    Rule("variable-export-only", "environment", "error", "srun --export without ALL", export_only, sources.SRUN,
         why="PATH, modules and the rendezvous are not handed over"),
    launch_rule("variable-too-late", "environment", "error", "a variable set below the launch that needs it", set_too_late,
                why="a script runs from top to bottom: move the launch to the end"),
    launch_rule("variable-unset", "environment", "error", "a misspelt variable of the launch: set nowhere", misspelt_own,
                why="an unset variable is empty, or ends the script under set -u"),
    launch_rule("rank-world-size", "launch", "error", "WORLD_SIZE differs from the ranks that are started", world_size, sources.TORCH_DISTRIBUTED,
                why="the group waits for ranks that never come, or turns some away"),
)  # fmt: skip
