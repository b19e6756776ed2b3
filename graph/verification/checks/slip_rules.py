# ruff: noqa: E501
"""Slips of the hand that the shell or the scheduler takes as they stand, and that mean something else to them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.extraction.launch_shape import LaunchShape, number
from graph.extraction.shell_tree import parse, text_of
from graph.extraction.shell_words import plain
from graph.verification.checks import sources
from graph.verification.checks.rule import Hit, Rule, launch_rule
from graph.verification.checks.shell_nodes import found
from graph.verification.checks.subject import Subject

GLOBAL_RANK = (
    r"\$\{?(SLURM_PROCID|FLUX_TASK_RANK|PMI_RANK|PMIX_RANK|OMPI_COMM_WORLD_RANK|PALS_RANKID|JSM_NAMESPACE_RANK)\}?"
)
DEVICES = re.compile(
    rf"\b(CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|ZE_AFFINITY_MASK)=[\"']?{GLOBAL_RANK}[\"']?(?=[\s;\"']|$)"
)
TAKES_PATHS = frozenset(
    ("cp", "mv", "cd", "rm", "mkdir", "rsync", "ls", "tar", "source", ".", "python", "python3", "cat")
)
SETS_UP = re.compile(
    r"(^|/)[\w.-]*(set_?up[\w-]*env|env[\w-]*|activate|load_?modules?|modules|init_?env)[\w-]*\.(sh|bash|env)$", re.I
)
NAME = re.compile(r"\$\{?([A-Za-z_]\w*)")
SERVES = re.compile(
    r"(ollama serve|vllm serve|mlflow (server|ui)|tritonserver|redis-server|tensorboard --|jupyter[- ](lab|notebook))"
)
SERVERS = frozenset(
    ("ollama", "vllm", "mlflow", "tritonserver", "redis-server", "tensorboard", "jupyter", "jupyter-lab")
)
IDLE = frozenset(("wait", "echo", "kill", "sleep", "exit"))
QUOTED = re.compile(r"'[^'\n]*'")


def single_step(s: Subject) -> Iterator[Hit]:
    """`--array=0-23:24`: a step where a limit was meant."""
    for name in ("array", "J"):
        one = s.job.asked.get(name)
        told = re.fullmatch(r"(\d+)-(\d+):(\d+)", one.value) if one is not None else None
        if one is not None and told and int(told[2]) > int(told[1]) and int(told[3]) > int(told[2]) - int(told[1]):
            says = f"the array {one.value} has the one task {told[1]}: `:` gives a step"
            yield Hit(one.line, says, f"a limit of tasks at one time is %{told[3]}")


def waits_in_loop(s: Subject) -> Iterator[Hit]:
    """A `wait` inside the loop that starts a part of one launch on each node."""
    for loop in found(parse(s.script.text).root_node, "for_statement", "c_style_for_statement", "while_statement"):
        body = loop.child_by_field_name("body")
        text = text_of(body) if body is not None else ""
        parts = re.search(r"--(node|machine)[-_]rank|(?<!\S)-w[ =]|--nodelist", text) and re.search(r"&\s*\n", text)
        waits = (
            next((one for one in body.named_children if text_of(one).split("#")[0].strip() == "wait"), None)
            if body is not None
            else None
        )
        if parts and waits is not None and "if " not in text:
            says = "each node is waited for before the next one is started, and they wait for each other"
            yield Hit(waits.start_point[0] + 1, says, "put `wait` behind the loop")


def brace_range(s: Subject) -> Iterator[Hit]:
    for line, text in s.code_lines:
        for one in re.finditer(r"\{(\$?\{?\w+\}?)\.\.(\$[^}\s]*\}?\)*|\w+)\}", QUOTED.sub("''", text)):
            if "$" in one[0][1:]:
                yield Hit(line, f"{one[0][:40]} is no range: braces are expanded before variables are")


def own_arguments(s: Subject) -> Iterator[Hit]:
    """`awk "{print $2}"`: the shell's own second argument."""
    for line, text in s.code_lines:
        if re.search(r"\bawk\s+(-F\s*\S+\s+)?\"[^\"]*\{[^\"]*(?<!\\)\$\d", text):
            yield Hit(
                line,
                "the shell puts its own arguments in place of $1, $2, ... in double quotes: awk never sees them",
                "single quotes around the program",
            )


def sorted_as_text(s: Subject) -> Iterator[Hit]:
    for line, text in s.code_lines:
        piped = re.search(
            r"\b(ls|find)\b[^|]*(checkpoint|ckpt|step|epoch|iter)?[^\n]*\|\s*sort\s*\|\s*tail\s+-(n\s*)?1\b", text
        )
        if piped and re.search(r"checkpoint|ckpt|step|epoch|iter", text, re.I):
            yield Hit(
                line,
                "sorted as text, checkpoint-9900 comes after checkpoint-10000: this is not the newest",
                "`sort -V` sorts numbers in names",
            )


def minutes_of_pbs(s: Subject) -> Iterator[Hit]:
    one = s.job.asked.get("walltime")
    told = re.fullmatch(r"(\d{1,2}):(\d\d)", one.value) if one is not None and s.scheduler == "pbs" else None
    if one is not None and told:
        yield Hit(
            one.line,
            f"walltime={one.value} is {int(told[1])} minutes",
            f"PBS reads M:S: {int(told[1])} hours are {told[1]}:{told[2]}:00",
            severity="warning",
        )


def device_of_rank(s: Subject) -> Iterator[Hit]:
    """A device chosen by the rank among all nodes."""
    if not s.several_nodes:
        return
    for line, text in s.code_lines:
        if chosen := DEVICES.search(text):
            says = f"{chosen[1]} is set to {chosen[2]}, which counts over all nodes: from the second node on there is no such device"
            yield Hit(
                line,
                says,
                "the number within the node chooses (SLURM_LOCALID, FLUX_TASK_LOCAL_ID, PMI_LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK)",
            )


def written_anew(s: Subject) -> Iterator[Hit]:
    """`echo $node > hosts` in a loop: only the last one stays."""
    for loop in found(parse(s.script.text).root_node, "for_statement"):
        variable, body = loop.child_by_field_name("variable"), loop.child_by_field_name("body")
        name, text = text_of(variable) if variable is not None else "", text_of(body) if body is not None else ""
        for node in found(body, "redirected_statement") if name and body is not None else ():
            command, whole = node.child_by_field_name("body"), text_of(node)
            target = re.search(r"(?<![>&\d])>(?!>)\s*(\S+)\s*$", whole)
            reads = command is not None and re.search(rf"\$\{{?{name}\b", text_of(command))
            if not target or not reads or re.search(rf"\$\{{?{name}\b|\$\(|^/dev/|^&|`", target[1]):
                continue
            # A name that the loop itself makes anew, or a file that the round reads up, is another one each time.
            made = any(re.search(rf"\b{one}=|\b(for|read)\b[^\n]*\b{one}\b", text) for one in NAME.findall(target[1]))
            again = text.count(target[1].strip("\"'")) > 1
            first = command is not None and re.match(r"(echo|printf|srun|mpirun|mpiexec|python)", text_of(command))
            if first and not made and not again:
                yield Hit(
                    node.start_point[0] + 1,
                    f"each round writes {target[1][:40]} anew: only the last one stays",
                    "`>>` adds a line",
                )


def disabled_fabric(s: Subject) -> Iterator[Hit]:
    off = next((one for one in reversed(s.set_to("NCCL_IB_DISABLE")) if one.value.strip("\"'") == "1"), None)
    hca = s.set_to("NCCL_IB_HCA")
    if off is not None and hca and s.several_nodes:
        yield Hit(
            off.line,
            f"NCCL_IB_DISABLE=1 turns InfiniBand off, and line {hca[-1].line} names its devices",
            "NCCL goes over TCP sockets: take one of the two out",
            severity="warning",
        )


def quoted_tilde(s: Subject) -> Iterator[Hit]:
    for command in s.script.commands:
        if command.outer is not None or command.name not in TAKES_PATHS:
            continue
        for word in command.written:
            if re.match(r"[\"']~/", word):
                yield Hit(
                    command.line,
                    f"{word[:40]} is a folder called ~: in quotes the shell does not replace it",
                    'write "$HOME/..."',
                )


def commas_between(s: Subject) -> Iterator[Hit]:
    for one in found(parse(s.script.text).root_node, "array"):
        words = [text_of(word) for word in one.named_children if word.type != "comment"]
        if len(words) > 1 and all(word.endswith(",") for word in words[:-1]) and not any("{" in word for word in words):
            yield Hit(
                one.start_point[0] + 1,
                f"`{words[0][:30]}` keeps its comma: a list's elements stand apart by blanks alone",
            )


def blank_before_mark(s: Subject) -> Iterator[Hit]:
    """A job script written by the script whose `#!` is not its first line."""
    for line in range(1, len(s.lines) - 1):
        begins = re.search(r"<<-?\s*[\"']?(\w+)", s.line(line))
        if (
            begins
            and "cat" in s.line(line)
            and not s.line(line + 1).strip()
            and s.line(line + 2).startswith("#!")
            and re.search(r"\bsbatch\b", s.script.text)
        ):
            says = "the file that is written begins with an empty line: sbatch reads `#!` only on the first one"
            yield Hit(line + 1, says, "'This does not look like a batch script'")


def octal(s: Subject) -> Iterator[Hit]:
    """A number with a leading zero in arithmetic."""
    padded = {
        one.name for one in s.script.assignments if re.search(r"printf\s+(-v\s+\w+\s+)?[\"']?%0\d+[du]", one.written)
    }
    padded |= set(re.findall(r"\bfor\s+(\w+)\s+in\s+(?:\$\(|`)seq\s+-w\b", s.script.text))
    padded |= set(re.findall(r"printf\s+-v\s+(\w+)\s+[\"']?%0\d+[du]", s.script.text))
    for line, text in s.code_lines:
        for name in padded:
            sums = re.findall(r"\$\(\((.*?)\)\)", text)
            if any(re.search(rf"(?<![#\w${{]){name}\b|(?<!#)\$\{{?{name}\b", one) for one in sums):
                yield Hit(
                    line,
                    f"{name} has a leading zero, and bash reads it as octal: 08 and 09 are errors",
                    f"write $((10#${name} + ...))",
                )


def redirected_test(s: Subject) -> Iterator[Hit]:
    for line, text in s.code_lines:
        bare = re.sub(r"\"[^\"]*\"", "x", QUOTED.sub("x", text))
        if told := re.search(r"(?<!\[)\[ [^\[\]]*?[\w}x] ([<>])\s*[\w$][^\[\]]*\](?!\])", bare):
            says = f"`{told[1]}` in [ ] is a redirection: " + (
                "the test is always true, and a file is made" if told[1] == ">" else "a file is read"
            )
            yield Hit(line, says, f"numbers: -{'gt' if told[1] == '>' else 'lt'}")


def allocator(s: Subject) -> Iterator[Hit]:
    for line, text in s.code_lines:
        if told := re.search(r"\bPYTORCH_(?:CUDA_|HIP_)?ALLOC_CONF=[\"']?([\w,.:\[\]]*\b(\w+)=(\w+))", text):
            yield Hit(
                line,
                f"PyTorch reads {told[2]}:{told[3]}, with a colon",
                "it stops at the first use of a GPU: unrecognized option",
            )


def local_meeting(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A file of the node's own that all nodes are to meet by."""
    if not s.several_nodes:
        return
    for word in launch.program.args:
        if told := re.search(r"file://(/tmp|/var/tmp|/dev/shm|/local\w*)/", plain(word)):
            yield Hit(
                launch.line,
                f"the ranks meet by a file in {told[1]}, which every node has for itself",
                "put it on the shared file system, or meet by tcp://",
            )


def child_shell(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """`bash setup_env.sh`: what it sets ends with it."""
    for one in s.script.commands:
        runs = one.name in ("bash", "sh") and len(one.argv) == 2 and SETS_UP.search(one.argv[1])
        others = any(
            c.name in ("conda", "module", "ml", "source", ".", "mamba") for c in s.script.commands if c.outer is None
        )
        if (
            runs
            and one.line < launch.line
            and one.outer is None
            and not others
            and not any(la.kind == "container" for la in launch.layers)
        ):
            yield Hit(
                one.line,
                f"{one.argv[1]} runs in a shell of its own: what it loads and sets is gone behind it",
                f"source {one.argv[1]}",
            )


def ray_ends(s: Subject) -> Iterator[Hit]:
    for one in s.script.commands:
        program = one.chain.program
        words = [plain(word) for word in program.args] if program else []
        starts = program is not None and plain(program.entry).rsplit("/", 1)[-1] == "ray" and words[:1] == ["start"]
        by_srun = any(layer.name == "srun" for layer in one.chain.layers) or (
            one.outer is not None and one.outer.name == "srun"
        )
        if (
            starts
            and by_srun
            and "--block" not in words
            and not any("sleep" in text for text in (s.line(one.line), s.line(one.line + 1)) if "bash -c" in text)
        ):
            yield Hit(
                one.line, "`ray start` returns at once without --block: the step ends, and Slurm stops what it started"
            )


def log_lost(s: Subject) -> Iterator[Hit]:
    asked = s.job.asked
    named = asked.get("output")
    if s.scheduler == "slurm" and "requeue" in asked and "open-mode" not in asked and named is not None:
        yield Hit(
            asked["requeue"].line,
            "a requeued job writes its output file anew: what the first run printed is lost",
            "#SBATCH --open-mode=append",
        )


def batch_of_ranks(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """Megatron's global batch is a multiple of micro-batch and data parallel ranks."""
    told = dict[str, int]()
    words = [plain(word) for word in launch.program.args]
    for at, word in enumerate(words):
        value = number(launch.program.args[at + 1], s.facts) if at + 1 < len(words) else None
        if word.startswith("--") and value:
            told[word.replace("_", "-")] = value
    whole, micro = told.get("--global-batch-size"), told.get("--micro-batch-size")
    sizes = [told.get(f"--{one}-parallel-size", 1) for one in ("tensor-model", "pipeline-model", "context")]
    ranks = (launch.tasks or 0) * (launch.procs or 1) if launch.spawner is not None else launch.tasks
    model = sizes[0] * sizes[1] * sizes[2]
    if not whole or not micro or not ranks or "--tensor-model-parallel-size" not in told or ranks % model:
        return
    copies = ranks // model
    if whole % (micro * copies):
        says = f"a global batch of {whole} is no multiple of micro-batch {micro} x {copies} data parallel ranks ({ranks} / {model})"
        yield Hit(launch.line, says, "Megatron stops with an assertion")


def cut_by_comment(s: Subject) -> Iterator[Hit]:
    """A remark between the lines of one command: the command ends there."""
    for line in sorted(s.comment_lines):
        above, below = s.line(line - 1), s.line(line + 1)
        goes_on = re.match(r"\s*([\w.+~]+=\S+\s*\\$|[\w.]+\s*\\$)", below)
        if (
            above.rstrip().endswith("\\")
            and not above.lstrip().startswith("#")
            and s.line(line).lstrip().startswith("#")
            and goes_on
        ):
            yield Hit(
                line,
                "the command above ends at this remark: the lines below it are no arguments of it",
                "take the line out",
            )


def more_than_asked(s: Subject) -> Iterator[Hit]:
    """A step of Slurm with more tasks or nodes than the job has."""
    if s.scheduler != "slurm" or s.job.mixed:
        return
    training = s.launch.root if s.launch else None
    for one in s.script.commands:
        for layer in one.chain.layers:
            if (
                layer.name != "srun"
                or one is training
                or (s.launch and one is s.launch.command)
                or layer.has("--overcommit")
                or layer.has("-O")
            ):
                continue
            tasks, nodes = number(layer.role("tasks"), s.facts), number(layer.role("nodes"), s.facts)
            if tasks and s.job.tasks and tasks > s.job.tasks and {"ntasks", "ntasks-per-node"} & set(s.job.asked):
                yield Hit(
                    one.line,
                    f"srun asks for {tasks} tasks; the job has {s.job.tasks}",
                    "'More processors requested than permitted'",
                )
            elif nodes and s.job.nodes and nodes > s.job.nodes:
                yield Hit(one.line, f"srun asks for {nodes} nodes; the job has {s.job.nodes}", "the step is refused")


def another_environment(s: Subject) -> Iterator[Hit]:
    """An environment made in one place and entered in another beside it."""
    made = dict[str, int]()
    for one in s.script.commands:
        words = [plain(word) for word in one.fields]
        if (
            (one.name == "virtualenv" or words[1:3] == ["-m", "venv"])
            and len(words) > 1
            and not words[-1].startswith("-")
        ):
            made[words[-1].rstrip("/")] = one.line
        elif (
            words[:1] in (["source"], ["."])
            and len(words) > 1
            and (place := re.fullmatch(r"(.+)/bin/activate", words[1]))
        ):
            beside = [
                path
                for path, line in made.items()
                if path.rpartition("/")[0] == place[1].rpartition("/")[0] and "/" in path
            ]
            if beside and place[1] not in made and not re.search(rf"-[de] [\"']?{re.escape(place[1])}", s.script.text):
                yield Hit(
                    one.line,
                    f"the environment was made as {beside[-1]} (line {made[beside[-1]]}), and {place[1]} is entered",
                )


def blocks_the_script(s: Subject) -> Iterator[Hit]:
    """A server in the foreground: what stands below it is never reached."""
    for one in s.script.commands:
        entry = plain(one.chain.program.entry).rsplit("/", 1)[-1] if one.chain.program else ""
        served = SERVES.search(" ".join(one.argv)) if entry in SERVERS else None
        if served is None or one.background or one.outer is not None or one.inside:
            continue
        later = (other for other in s.script.commands if other.line > one.line and other.outer is None)
        work = next((other for other in later if other.chain.program is not None and other.name not in IDLE), None)
        if work is not None:
            yield Hit(
                one.line,
                f"`{served[1]}` does not end: line {work.line} and what follows are never reached",
                "put & behind it",
            )


def split_mounts(s: Subject) -> Iterator[Hit]:
    """A blank behind a comma in an option's list."""
    for line, text in s.code_lines:
        told = re.search(
            r"--(container-mounts|bind|container-env|exclude|nodelist|mail-type|gpu_ids)[= ]\S+,\s+[\w/$]", text
        )
        if told and not re.search(rf"--{told[1]}[= ][\"'][^\"']*,\s", text):
            yield Hit(
                line,
                f"a blank stands in the list of --{told[1]}: what is behind it is a word of its own",
                "leave the blank out",
            )


BASH = sources.BASH
RULES = (
    Rule(
        "array-one-task",
        "directives",
        "warning",
        "an array whose step leaves one task",
        single_step,
        sources.SBATCH + "#OPT_array",
    ),
    Rule(
        "launch-waits-in-loop",
        "launch",
        "error",
        "`wait` inside the loop that starts a launch's parts",
        waits_in_loop,
        BASH + "#Job-Control-Builtins",
    ),
    Rule(
        "shell-brace-range",
        "shell",
        "error",
        "a range in braces with a variable in it",
        brace_range,
        BASH + "#Brace-Expansion",
        why="the loop runs once, over these letters: write $(seq 0 $N) or for ((i=0; i<=N; i++))",
    ),
    Rule(
        "shell-awk-quotes",
        "shell",
        "warning",
        "an awk program in double quotes",
        own_arguments,
        BASH + "#Double-Quotes",
    ),
    Rule(
        "shell-sorted-text",
        "shell",
        "warning",
        "the newest checkpoint by a sort of letters",
        sorted_as_text,
        "https://www.gnu.org/software/coreutils/manual/html_node/sort-invocation.html",
    ),
    Rule(
        "directive-walltime-minutes",
        "directives",
        "warning",
        "a PBS walltime of minutes that looks like hours",
        minutes_of_pbs,
        sources.PBS,
    ),
    Rule("rank-device-global", "rendezvous", "error", "a device chosen by the rank among all nodes", device_of_rank),
    Rule(
        "shell-written-anew",
        "shell",
        "warning",
        "a file that a loop writes anew each time",
        written_anew,
        BASH + "#Redirecting-Output",
    ),
    Rule(
        "network-turned-off",
        "environment",
        "warning",
        "InfiniBand turned off beside a list of its devices",
        disabled_fabric,
        sources.NCCL,
    ),
    Rule("shell-quoted-tilde", "shell", "error", "a tilde in quotes", quoted_tilde, BASH + "#Tilde-Expansion"),
    Rule(
        "shell-list-commas", "shell", "error", "commas between the elements of a list", commas_between, BASH + "#Arrays"
    ),
    Rule(
        "submit-empty-line",
        "shell",
        "error",
        "an empty line before the `#!` of a job script that is written",
        blank_before_mark,
        sources.SBATCH,
    ),
    Rule("shell-octal", "shell", "error", "arithmetic with a leading zero", octal, BASH + "#Shell-Arithmetic"),
    Rule(
        "shell-test-redirects",
        "shell",
        "error",
        "`>` or `<` as a comparison in [ ]",
        redirected_test,
        BASH + "#Bash-Conditional-Expressions",
    ),
    Rule(
        "environment-allocator",
        "environment",
        "error",
        "PYTORCH_CUDA_ALLOC_CONF with =",
        allocator,
        "https://docs.pytorch.org/docs/stable/notes/cuda.html",
    ),
    launch_rule(
        "rendezvous-local-file",
        "rendezvous",
        "error",
        "a rendezvous file on the node's own disk",
        local_meeting,
        "https://docs.pytorch.org/docs/stable/distributed.html",
    ),
    launch_rule(
        "environment-child-shell",
        "environment",
        "warning",
        "an environment set up in a shell of its own",
        child_shell,
        BASH + "#Bourne-Shell-Builtins",
    ),
    Rule(
        "launch-ray-returns",
        "launch",
        "error",
        "`ray start` under srun without --block",
        ray_ends,
        "https://docs.ray.io/en/latest/cluster/vms/user-guides/community/slurm.html",
    ),
    Rule(
        "directive-log-lost",
        "directives",
        "info",
        "--requeue without --open-mode=append",
        log_lost,
        sources.SBATCH + "#OPT_open-mode",
    ),
    launch_rule(
        "launch-global-batch",
        "launch",
        "error",
        "a global batch that the ranks do not divide",
        batch_of_ranks,
        "https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/core/num_microbatches_calculator.py",
    ),
    Rule(
        "shell-remark-in-command",
        "shell",
        "error",
        "a remark between the lines of one command",
        cut_by_comment,
        BASH + "#Comments",
    ),
    Rule(
        "launch-more-than-asked",
        "launch",
        "error",
        "a step with more tasks or nodes than the job",
        more_than_asked,
        sources.SRUN,
    ),
    Rule(
        "environment-elsewhere",
        "environment",
        "error",
        "an environment made in one place and entered in another",
        another_environment,
        "https://docs.python.org/3/library/venv.html",
    ),
    Rule(
        "launch-server-blocks",
        "launch",
        "error",
        "a server in the foreground above other work",
        blocks_the_script,
        BASH + "#Lists",
    ),
    Rule("call-blank-in-list", "shell", "error", "a blank in an option's list", split_mounts, BASH + "#Word-Splitting"),
)
