# ruff: noqa: E501
"""The programs that start other programs, as a table: their options, what these mean, where their program stands.

One row a tool. `values` take one word, `pairs` two words; every other option is judged by what follows it.
`roles` says what an option tells about the job. `before` counts the words between the options and the program
(a container's image, a host name).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["parallel", "spawner", "container", "wrapper", "shell", "remote", "submit", "python"]


@dataclass(frozen=True, slots=True)
class LauncherTool:
    name: str
    kind: Kind
    values: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    pairs: frozenset[str] = frozenset()
    roles: dict[str, str] = field(default_factory=dict)
    before: int = 0
    subcommands: frozenset[str] = frozenset()
    underscores: bool = False


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def roles(text: str) -> dict[str, str]:
    """`nodes:-N,--nodes tasks:-n` -> option -> role."""
    found: dict[str, str] = {}
    for part in text.split():
        role, _, names = part.partition(":")
        found |= dict.fromkeys(names.split(","), role)
    return found


def tool(
    name: str, kind: Kind, *, means: str = "", values: str = "", flags: str = "", pairs: str = "", **rest: object
) -> LauncherTool:
    """A row of the table. An option with a meaning takes a value."""
    meaning = roles(means)
    given = {"before": 0, "subcommands": frozenset(), "underscores": False} | rest
    return LauncherTool(
        name,
        kind,
        words(values) | frozenset(meaning),
        words(flags),
        words(pairs),
        meaning,
        int(str(given["before"])),
        frozenset(str(given["subcommands"]).split()) if rest.get("subcommands") else frozenset(),
        bool(given["underscores"]),
    )


SRUN_MEANS = (
    "nodes:-N,--nodes tasks:-n,--ntasks per_node:--ntasks-per-node,--tasks-per-node gpus_per_node:--gpus-per-node "
    "gpus_per_task:--gpus-per-task gpus:-G,--gpus gres:--gres time:-t,--time account:-A,--account queue:-p,--partition "
    "qos:-q,--qos container:--container-image,--image,--environment hosts:-w,--nodelist"
)
SRUN_VALUES = (
    "-c --cpus-per-task -J --job-name -o --output -e --error -i --input -C --constraint -D --chdir -d --dependency -m "
    "--distribution -x --exclude -F --nodefile --mem --mem-per-cpu --mem-per-gpu --cpu-bind --cpu_bind --gpu-bind "
    "--gpus-per-socket --mpi --jobid --export --network --threads-per-core --ntasks-per-core --ntasks-per-gpu --hint "
    "--signal --comment --reservation --container-mounts --container-workdir --container-name --container-env --accel-bind "
    "--cpus-per-gpu --mem-bind --task-prolog --task-epilog --prolog --epilog --open-mode -W --wait --uenv --view --volume "
    "--module --bcast --propagate --profile --tmp --cores-per-socket --sockets-per-node --het-group --licenses -L --cpu-freq"
)
SRUN_FLAGS = (
    "-l --label -u --unbuffered --exclusive --pty --overlap -K --kill-on-bad-exit -Q --quiet -v --verbose -s "
    "--oversubscribe -O --overcommit --exact --no-kill -k --whole --no-container-mount-home --container-remap-root "
    "--container-writable --no-container-entrypoint --container-entrypoint --contiguous --spread-job --multi-prog -I "
    "--immediate --no-container-remap-root --no-allocate -Z --interactive"
)
MPI_MEANS = (
    "tasks:-n,-np,--np,--n,-c "
    "per_node:-ppn,--ppn,-npernode,--npernode,-N,--ntasks-per-node,-perhost,--perhost,--ranks-per-node "
    "hostfile:-hostfile,--hostfile,-machinefile,--machinefile,-f,-default-hostfile,--default-hostfile,-configfile "
    "hosts:-H,-host,--host,-hosts,--hosts map:-map-by,--map-by"
)
MPI_VALUES = (
    "-x --depth -d --cpu-bind --cpu-bind-method -bind-to --bind-to -rank-by --rank-by -bootstrap -launcher -iface -am -wdir --wdir "
    "-cpus-per-proc --cpus-per-proc --cpus-per-rank -output-filename --output-filename -rf --rankfile --env -env -p "
    "--pmi --mem-bind --gpu-bind --oversubscribe-value -tune --tune -mapby -cpu-set --cpu-set -rr-file --launcher "
    "--label-format -outfile-pattern -errfile-pattern --line-buffer-size --rmk -rmk --envlist -envlist -genvlist --genvlist "
    "--timeout -prefix --prefix --launch-agent -l-file --gpus-per-proc --host-list --hostlist"
)
MPI_FLAGS = (
    "-v --verbose --envall -envall -genvall --genvall -genvnone --allow-run-as-root -allow-run-as-root --no-vni "
    "--line-buffer -l --label -prepend-rank --tag-output -tag-output --report-bindings -report-bindings --oversubscribe "
    "-oversubscribe --display-map -display-map --nooversubscribe --use-hwthread-cpus -q --quiet --no-transfer --rr -rr "
    "--envnone --enable-recovery -print-rank-map --debug --abort-signal-off --leave-session-attached --display-allocation"
)
MPI_PAIRS = "-mca --mca -gmca --gmca -genv --genv"
TORCHRUN_MEANS = "nodes:--nnodes per_node:--nproc-per-node hosts:--master-addr,--rdzv-endpoint module:-m,--module"
TORCHRUN_VALUES = (
    "--nnodes --nproc-per-node --rdzv-backend --rdzv-endpoint --rdzv-id --rdzv-conf --max-restarts --monitor-interval "
    "--start-method --role --log-dir --redirects --tee --node-rank --master-addr --master-port --local-addr -r -t "
    "--logs-specs --local-ranks-filter --log-line-prefix-template --numa-binding --duplicate-stdout-filters --bind --signals-to-handle"
)
ACCELERATE_MEANS = (
    "nodes:--num-machines tasks:--num-processes config:--config-file module:-m,--module strategy:--fsdp-sharding-strategy "
    "stage:--zero-stage dsconfig:--deepspeed-config-file"
)
ACCELERATE_FLAGS = (
    "--multi-gpu --cpu --tpu --ipex --use-deepspeed --use-fsdp --use-megatron-lm --use-xpu --same-network --debug -q "
    "--quiet --no-python --use-parallelism-config --dynamo-use-fullgraph --dynamo-use-dynamic --tpu-cluster "
    "--enable-cpu-affinity --use-cpu --standalone --use-tp"
)
DEEPSPEED_MEANS = (
    "nodes:--num-nodes per_node:--num-gpus hostfile:-H,--hostfile hosts:-i,--include,--master-addr,-e,--exclude"
)
DEEPSPEED_VALUES = "--master-port --launcher --launcher-args --node-rank --elastic-training --min-elastic-nodes --max-elastic-nodes --autotuning --bind-core-list --ssh-port --module-path --venv-script --log-level --save-pid"
DEEPSPEED_FLAGS = "--no-ssh --no-ssh-check --no-local-rank --no-python --force-multi --enable-each-rank-log --bind-cores-to-rank --save-pid"
CONTAINER_VALUES = (
    "-B --bind --mount -W --workdir --pwd --cwd --env --env-file -H --home --overlay --security --network --app --scratch -S "
    "--add-caps --drop-caps --nvccli-conf -o --dns --hostname --pem-path --shell --apply-cgroups"
)
CONTAINER_FLAGS = (
    "--nv --rocm -e --cleanenv -c --contain -C --containall --fakeroot -f --writable -w --writable-tmpfs --no-home -p --pid "
    "-i --ipc -n --net -u --userns --nvccli --no-mount --no-privs --keep-privs --compat --unsquash --no-init -s --silent -q "
    "--quiet --debug -d --verbose -v --no-eval --no-umask --allow-setuid --uts --intel-hpu --sharens"
)
DOCKER_VALUES = (
    "-v --volume -w --workdir -e --env --env-file --gpus --ipc --shm-size --name --network --net --device --entrypoint -u "
    "--user --ulimit -p --publish --mount --runtime --cap-add --security-opt --group-add --hostname -h --add-host --cpus "
    "--memory -m --platform --pids-limit --userns --cgroupns --restart --label -l --pull --log-driver --cpuset-cpus --annotation --tmpfs"
)
DOCKER_FLAGS = "--rm -it -i -t -ti -d --detach --privileged --init --gpu --nccl --mpi --cuda-mpi --openmpi-pmi2 --read-only --tty --interactive -dit --shared-run --cvmfs --cray-mpich --scratch"

TOOLS: tuple[tuple[str, LauncherTool], ...] = (
    ("srun", tool("srun", "parallel", means=SRUN_MEANS, values=SRUN_VALUES, flags=SRUN_FLAGS)),
    ("salloc", tool("salloc", "parallel", means=SRUN_MEANS, values=SRUN_VALUES, flags=SRUN_FLAGS + " --no-shell")),
    ("mpirun mpirun.mpich orterun prun", tool("mpirun", "parallel", means=MPI_MEANS, values=MPI_VALUES, flags=MPI_FLAGS, pairs=MPI_PAIRS)),
    ("mpiexec mpiexec.hydra mpiexec_mpt", tool("mpiexec", "parallel", means=MPI_MEANS, values=MPI_VALUES, flags=MPI_FLAGS, pairs=MPI_PAIRS)),
    ("ibrun", tool("ibrun", "parallel", means="tasks:-n,-np", values="-o", flags="-c")),
    ("jsrun", tool("jsrun", "parallel", means="sets:-n,--nrs sets_per_node:-r,--rs_per_host set_tasks:-a,--tasks_per_rs set_gpus:-g,--gpu_per_rs total_tasks:-p,--np", values="-c --cpu_per_rs -b --bind -d --launch_distribution -l --latency_priority -E --env -h --chdir -X --exit_on_error -o --stdio_stdout -k --stdio_stderr -e --stdio_mode -t --stdio_input -m --memory_per_rs -M --smpiargs --erf_input -U -D --env_eval -F --env_eval", flags="-V --immediate -i")),
    ("lrun", tool("lrun", "parallel", means="nodes:-N tasks:-n per_node:-T", values="-c -g --bind --nolbind -X", flags="--pack -1 -M")),
    ("flux", tool("flux", "parallel", means="nodes:-N,--nodes tasks:-n,--ntasks gpus_per_task:-g,--gpus-per-task per_node:--tasks-per-node gpus_per_node:--gpus-per-node time:-t,--time-limit queue:-q,--queue account:-B,--bank slots:--slots", values="-c --cores-per-task -o --setopt -S --setattr --requires --output --error --input --env -O --job-name --dependency --cwd --begin-time --cores-per-slot --gpus-per-slot --cores --urgency --signal --flags --cc --bcc --log --time --add-file --wait-event --env-remove --env-file --rlimit --taskmap --dir", flags="-x --exclusive -u --unbuffered -v -l --label-io --wrap --watch --quiet --dry-run", subcommands="run submit mini batch alloc bulksubmit start proxy")),
    ("aprun", tool("aprun", "parallel", means="tasks:-n per_node:-N", values="-d -j -cc -S -e -p", flags="-b -q")),
    ("prterun palsrun", tool("mpiexec", "parallel", means=MPI_MEANS, values=MPI_VALUES, flags=MPI_FLAGS, pairs=MPI_PAIRS)),
    ("torchrun torchrun_jsc", tool("torchrun", "spawner", means=TORCHRUN_MEANS, values=TORCHRUN_VALUES, flags="--standalone --no-python --run-path --use-env --enable-numa --virtual-local-rank", underscores=True)),
    ("torchrun-hpc", tool("torchrun-hpc", "spawner", means="nodes:-N,--nodes per_node:-n,--procs-per-node time:-t,--time-limit queue:-q,--queue account:-A,--account hosts:--rdv", values="-l --launcher --job-name --nodelist -x -o --color-stderr --reservation --launchdir --dir -g --gpu-memory-fraction -u --link --xargs", flags="--local --bg --save-hostlist -v -c --unswap-rocr-hip-vis-dev")),
    ("accelerate accelerate-launch", tool("accelerate", "spawner", means=ACCELERATE_MEANS, flags=ACCELERATE_FLAGS, subcommands="launch", underscores=True)),
    ("deepspeed deepspeed.pt ds", tool("deepspeed", "spawner", means=DEEPSPEED_MEANS, values=DEEPSPEED_VALUES, flags=DEEPSPEED_FLAGS + " --module -m", underscores=True)),
    ("horovodrun", tool("horovodrun", "spawner", means="tasks:-np,--num-proc hosts:-H,--hosts hostfile:-hostfile,--hostfile", values="-p --ssh-port --fusion-threshold-mb --cycle-time-ms --timeline-filename --min-np --max-np --host-discovery-script --start-timeout --network-interface --output-filename --log-level --gpus-per-slot", flags="--gloo --mpi --verbose --autotune --use-gloo --use-mpi --jsrun")),
    ("fabric", tool("lightning", "spawner", means="per_node:--devices nodes:--num-nodes strategy:--strategy", values="--accelerator --precision --node-rank --main-address --main-port", subcommands="run model", underscores=True)),
    ("composer", tool("composer", "spawner", means="per_node:-n,--nproc tasks:--world-size", values="--base-rank --node-rank --master-addr --master-port --stdout --stderr --run-name", flags="-v --verbose", underscores=True)),
    ("colossalai", tool("colossalai", "spawner", means="per_node:--nproc-per-node nodes:--num-nodes hostfile:--hostfile hosts:-H,--host", values="--master-addr --master-port --include --exclude --extra-launch-args --ssh-port", subcommands="run", underscores=True)),
    ("ray", tool("ray", "spawner", values="--address --runtime-env --runtime-env-json --working-dir --submission-id --metadata-json --headers --log-style --log-color --verify --entrypoint-num-cpus --entrypoint-num-gpus --entrypoint-memory --entrypoint-resources", flags="--no-wait --verbose", subcommands="job submit")),
    ("tune", tool("tune", "spawner", means=TORCHRUN_MEANS, values=TORCHRUN_VALUES, flags="--standalone", subcommands="run", underscores=True)),
    ("singularity apptainer", tool("apptainer", "container", values=CONTAINER_VALUES, flags=CONTAINER_FLAGS, before=1, subcommands="exec run shell")),
    ("shifter", tool("shifter", "container", means="container:--image,-i", values="-V --volume --module -m --env -e --env-file --workdir -w --entrypoint", flags="--clearenv --entrypoint")),
    ("docker nvidia-docker podman podman-hpc nerdctl", tool("docker", "container", values=DOCKER_VALUES, flags=DOCKER_FLAGS, before=1, subcommands="run exec shared-run container")),
    ("enroot", tool("enroot", "container", values="-m --mount -e --env -c --conf -r", flags="-w --rw --root", before=1, subcommands="start exec")),
    ("ch-run", tool("charliecloud", "container", values="-b --bind -c --cd -g --join-ct --set-env --unset-env", flags="-w --write --no-home --no-passwd --join -v", before=1)),
    ("sarus", tool("sarus", "container", values="--mount --workdir -w --env -e --entrypoint", flags="--mpi --tty -t --init --ssh --centralized-repository", before=1, subcommands="run")),
    ("env", tool("env", "wrapper", values="-u --unset -C --chdir -S")),
    ("time /usr/bin/time", tool("time", "wrapper", values="-f -o --format --output", flags="-p -v -a")),
    ("nohup exec command builtin setsid sudo eatmydata", tool("wrapper", "wrapper", values="-a")),
    ("nice ionice chrt", tool("nice", "wrapper", values="-n -c")),
    ("numactl", tool("numactl", "wrapper", values="-N -m -C -i -p")),
    ("numawrap numa_wrapper", tool("wrapper", "wrapper")),
    ("stdbuf", tool("stdbuf", "wrapper", values="-i -o -e")),
    ("timeout", tool("timeout", "wrapper", values="-k -s --signal --kill-after", flags="--foreground --preserve-status -v", before=1)),
    ("taskset", tool("taskset", "wrapper", flags="-c -a", before=1)),
    ("nsys", tool("nsys", "wrapper", values="-o --output -t --trace -s --sample -f --force-overwrite -c --capture-range -w -x -y -d", subcommands="profile launch")),
    ("ncu nv-nsight-cu-cli rocprof rocprofv3 omnitrace vtune advixe-cl dlprof nvprof", tool("profiler", "wrapper", values="-o -i --output -k --kernel-name -d --section -collect -r")),
    ("gdb valgrind strace catchsegv unbuffer script compute-sanitizer", tool("wrapper", "wrapper", values="-o -e")),
    ("micromamba mamba conda", tool("conda", "wrapper", values="-n --name -p --prefix --cwd", flags="--no-capture-output --live-stream", subcommands="run")),
    ("uv poetry pixi pdm hatch pipenv rye", tool("uv", "wrapper", values="--with --python --extra --group --project --directory -e --env-file --manifest-path", flags="--no-sync --active --frozen --isolated", subcommands="run")),
    ("bash sh zsh dash ksh", tool("bash", "shell", values="-o +o --rcfile --init-file -O", flags="-l --login -e -x -u -i --norc --noprofile -ex -eu -eux")),
    ("csh tcsh fish", tool("csh", "shell", flags="-f -e -x")),
    ("ssh", tool("ssh", "remote", values="-o -i -p -l -F -J -L -R -D", flags="-n -f -q -t -tt -T -A -X -Y -v", before=1)),
    ("pdsh clush dsh parallel-ssh pssh", tool("pdsh", "remote", values="-w -f -x -R -l -u -t -b -h -H -p -g --hosts -S", flags="-S -N -i -L -B")),
    ("pbsdsh", tool("pbsdsh", "remote", values="-n -c -h", flags="-v -o -u -s")),
    ("blaunch", tool("blaunch", "remote", values="-z -u -w", flags="-n -no-shell -use-login-shell")),
    ("xargs", tool("xargs", "wrapper", values="-I -n -P -L -d -a -s -E", flags="-0 -r -t")),
    ("parallel", tool("parallel", "wrapper", values="-j --jobs --delay --colsep -a --arg-file --joblog -S --sshloginfile --tmpdir -N --halt --results --retries --timeout --load --memfree --env --wd --workdir", flags="--eta --bar --line-buffer --lb -k --keep-order --ungroup -u --progress --resume --resume-failed --will-cite --no-notice --dry-run --verbose --link -X -m -0")),
    ("sbatch", tool("sbatch", "submit", means=SRUN_MEANS, values=SRUN_VALUES + " --wrap -a --array -b --begin", flags="--parsable --requeue --test-only -H --hold -W --exclusive")),
    ("qsub bsub msub", tool("qsub", "submit", values="-A -P -q -N -l -o -e -j -k -m -M -S -v -W -r -J -t -n -R -gpu -nnodes -G", flags="-V -I -X")),
)  # fmt: skip

BY_NAME: dict[str, LauncherTool] = {name: row for names, row in TOOLS for name in names.split()}

# Programs that print, copy or set up; what follows them is not a program of theirs.
HOUSEKEEPING = words(
    "true false echo printf which type module ml pip pip3 kill pkill killall log note say die cat grep sed awk cp mv rm "
    "mkdir ls touch ln tar rsync scp wget curl git chmod chown find export alias ps test [ [[ read cd pushd "
    "popd hostname date sleep wait trap set unset shift source . nvidia-smi rocm-smi free df du sort uniq head "
    "tail tee wc cut tr scontrol squeue scancel sacct sinfo qstat qdel bjobs jutil ulimit umask make cmake "
    "ninja gcc nvcc conda mamba micromamba gdown aria2c unzip zip getent nslookup ibstat lscpu numastat uname "
    "whoami id tmux screen huggingface-cli aws gsutil azcopy sbcast conda-unpack dcgmi nccl-tests "
    "all_reduce_perf ray wandb dvc apt apt-get yum dos2unix pgrep jq seq mktemp realpath dirname basename"
)

# `python -m MODULE` that is a launcher in itself.
MODULES: dict[str, str] = {
    "torch.distributed.launch": "torchrun",
    "torch.distributed.run": "torchrun",
    "torch.distributed.elastic.run": "torchrun",
    "torchrun": "torchrun",
    "accelerate.commands.launch": "accelerate",
    "accelerate.commands.accelerate_cli": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
    "deepspeed.launcher.launch": "deepspeed",
    "deepspeed": "deepspeed",
    "lightning.fabric.cli": "fabric",
    "lightning_fabric.cli": "fabric",
    "lightning.fabric": "fabric",
    "composer.cli.launcher": "composer",
    "horovod.runner": "horovodrun",
    "horovod.runner.launch": "horovodrun",
}
# `python -m MODULE other-program`: the module only stands in front.
TRANSPARENT_MODULES = frozenset(
    {"mpi4py", "cProfile", "pdb", "trace", "coverage", "scalene", "memory_profiler", "debugpy", "viztracer"}
)
PYTHON_VALUES = frozenset({"-W", "-X", "-Q", "--check-hash-based-pycs"})
