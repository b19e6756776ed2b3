"""The options of each launcher, as data.

Names in the tables are ours; the words after them are what the real program accepts (its manual page, 2025/26).
"""

from __future__ import annotations

from graph.verification.simulator.cluster.options import Accepts

SRUN = Accepts(
    values={
        "ntasks": "-n --ntasks", "nodes": "-N --nodes", "tasks_per_node": "--ntasks-per-node",
        "cpus": "-c --cpus-per-task", "gpus": "-G --gpus", "gpus_per_node": "--gpus-per-node", "gres": "--gres",
        "gpus_per_task": "--gpus-per-task", "tasks_per_gpu": "--ntasks-per-gpu", "gpu_bind": "--gpu-bind",
        "cpu_bind": "--cpu-bind --cpu_bind", "mem_bind": "--mem-bind", "hosts": "-w --nodelist",
        "exclude": "-x --exclude", "export": "--export", "folder": "-D --chdir", "distribution": "-m --distribution",
        "relative": "-r --relative", "mpi": "--mpi", "output": "-o --output", "error": "-e --error",
        "input": "-i --input", "time": "-t --time", "job_name": "-J --job-name", "account": "-A --account",
        "partition": "-p --partition", "qos": "-q --qos", "constraint": "-C --constraint", "mem": "--mem",
        "mem_per_cpu": "--mem-per-cpu", "mem_per_gpu": "--mem-per-gpu", "cpus_per_gpu": "--cpus-per-gpu",
        "threads_per_core": "--threads-per-core", "hint": "--hint", "jobid": "--jobid", "wait": "-W --wait",
        "network": "--network", "environment": "--environment", "container_image": "--container-image",
        "container_mounts": "--container-mounts", "container_workdir": "--container-workdir",
        "container_name": "--container-name", "container_env": "--container-env", "image": "--image",
        "module": "--module", "reservation": "--reservation", "signal": "--signal", "sockets": "--sockets-per-node",
        "cores": "--cores-per-socket", "ntasks_per_socket": "--ntasks-per-socket",
        "ntasks_per_core": "--ntasks-per-core",
        "prolog": "--prolog", "epilog": "--epilog", "task_prolog": "--task-prolog", "het_group": "--het-group",
        "dependency": "-d --dependency", "uenv": "--uenv", "view": "--view", "switches": "--switches",
        "acctg_freq": "--acctg-freq", "licenses": "-L --licenses", "open_mode": "--open-mode", "comment": "--comment",
        "extra_node_info": "-B --extra-node-info", "cpu_freq": "--cpu-freq",
    },
    flags="-l --label -u --unbuffered -O --overcommit -s --oversubscribe --overlap --exact --pty -v --verbose "
    "-Q --quiet -E --preserve-env -Z --no-allocate --multi-prog -H --hold --container-writable --container-readonly "
    "-k --no-kill --container-mount-home --no-container-mount-home --container-remap-root --no-container-remap-root -X "
    "--disable-status --spread-job --use-min-nodes --no-container-entrypoint",
    optional={"kill": "-K --kill-on-bad-exit", "exclusive": "--exclusive", "immediate": "-I --immediate",
              "propagate": "--propagate", "whole": "--whole"},
)  # fmt: skip

PALS = Accepts(
    values={
        "ntasks": "-n -np --np", "per_node": "-ppn --ppn", "cpus": "-d -depth --depth",
        "hostfile": "-f -hostfile --hostfile",
        "hosts": "-host -hosts --host --hosts", "cpu_bind": "-cpu-bind --cpu-bind", "mem_bind": "-mem-bind --mem-bind",
        "gpu_bind": "-gpu-bind --gpu-bind", "set": "-env --env", "genv": "-genv --genv", "pmi": "-pmi --pmi",
        "folder": "-wdir --wdir -wd", "exclude": "-exclude-hosts --exclude-hosts", "tmpdir": "--tmpdir",
        "envlist": "-envlist --envlist", "genvlist": "-genvlist --genvlist", "line_buffer_size": "--line-buffer-size",
        "rlimits": "--rlimits", "timeout": "--timeout", "shepherd": "--ping-period", "core": "--cores",
        "configfile": "-configfile --configfile", "umask": "-umask --umask", "gpu_opts": "--gpu-opts",
        "sstartup": "--sstartup-file", "stdin": "-stdin --stdin",
    },
    flags="-envall --envall -genvall --genvall -envnone --envnone -genvnone --genvnone -l -label --label -v -verbose "
    "--verbose --line-buffer -line-buffer --no-vni --exclusive -exclusive --no-transfer --transfer "
    "--no-abort-on-failure --abort-on-failure --vni --gpu --no-stdin --noninteractive",
    long_with_one_dash=True,
)  # fmt: skip

OPEN_MPI = Accepts(
    values={
        "ntasks": "-n -np --np --n -c", "per_node": "-npernode --npernode -N --N", "map_by": "-map-by --map-by",
        "rank_by": "-rank-by --rank-by", "bind_to": "-bind-to --bind-to",
        "hostfile": "-hostfile --hostfile -machinefile "
        "--machinefile --default-hostfile", "hosts": "-H -host --host", "set": "-x", "folder": "-wdir --wdir -wd --wd",
        "prefix": "-prefix --prefix", "output": "--output -output-filename --output-filename",
        "pmixmca": "--runtime-options",
        "timeout": "--timeout", "stdin": "-stdin --stdin", "rankfile": "-rf --rankfile", "path": "-path --path",
    },
    flags="-oversubscribe --oversubscribe -nooversubscribe --nooversubscribe --allow-run-as-root -allow-run-as-root "
    "-tag-output --tag-output -bind-to-core --bind-to-core -bynode --bynode -byslot --byslot -bycore --bycore -q -v "
    "-verbose --verbose --report-bindings -report-bindings -display-map --display-map --bind-to-none -bind-to-none "
    "-pernode --pernode --use-hwthread-cpus --do-not-launch --nolocal -nolocal --display-allocation --forward-signals",
    pairs={"mca": "-mca --mca -gmca --gmca -pmca --pmca --prtemca --pmixmca"},
    long_with_one_dash=True,
    refusal="{program}: Error: unknown option \"{word}\"\nType '{program} --help' for usage.",
)  # fmt: skip

IBRUN = Accepts(
    values={"ntasks": "-n -np", "offset": "-o", "per_node": "-ppn"},
    flags="-v --verbose --dryrun --debug",
    long_with_one_dash=True,
    refusal="TACC:  ERROR: unknown option {word}",
)

JSRUN = Accepts(
    values={
        "sets": "-n --nrs", "sets_per_host": "-r --rs_per_host", "tasks_per_set": "-a --tasks_per_rs",
        "cpus_per_set": "-c --cpu_per_rs", "gpus_per_set": "-g --gpu_per_rs", "ntasks": "-p --np",
        "memory": "-m --memory_per_rs", "distribution": "-d --launch_distribution", "bind": "-b --bind",
        "smpiargs": "-M --smpiargs", "set": "-E --env", "folder": "-h --chdir", "output": "-o --stdio_stdout",
        "error": "-k --stdio_stderr", "input": "-t --stdio_input", "mode": "-e --stdio_mode",
        "unset": "-D --env_no_propagate",
        "latency": "-l --latency_priority", "exit": "-X --exit_on_error", "erf": "-U --erf_input",
        "launch_node": "-L --use_spindle",
        "progress": "-P --pre_post_exec", "appfile": "-f --appfile", "set_file": "-A --allocate_only",
    },
    flags="-i --immediate -V --version -v --verbose -H --launch_node_task -S --save_resources",
    refusal="Error: unrecognized option: {word}",
)  # fmt: skip

LRUN = Accepts(
    values={"ntasks": "-n", "nodes": "-N", "per_node": "-T", "smpiargs": "-M", "gpus_per_task": "-g", "cpus": "-c",
            "threads": "--threads", "smt": "--smt", "mode": "--mode", "set": "-E --env", "mpibind": "--mpibind"},
    flags="-1 --pack --nolbind -v --verbose -vvv --gpubind=off",
    optional={"gpubind": "--gpubind", "bind": "--bind"},
)  # fmt: skip

FLUX_RUN = Accepts(
    values={
        "ntasks": "-n --ntasks", "nodes": "-N --nodes", "cpus": "-c --cores-per-task",
        "gpus_per_task": "-g --gpus-per-task",
        "tasks_per_node": "--tasks-per-node", "gpus_per_node": "--gpus-per-node", "cores": "--cores",
        "tasks_per_core": "--tasks-per-core", "cores_per_slot": "--cores-per-slot", "option": "-o --setopt",
        "set": "--env", "env_remove": "--env-remove", "env_file": "--env-file", "attribute": "-S --setattr",
        "time": "-t --time-limit", "queue": "-q --queue", "bank": "-B --bank", "output": "--output", "error": "--error",
        "input": "--input", "folder": "--cwd", "job_name": "--job-name", "label_format": "--log",
        "requires": "--requires",
        "urgency": "--urgency", "rlimit": "--rlimit", "flags": "--flags", "signal": "--signal",
        "dependency": "--dependency",
        "add_file": "--add-file", "conf": "--config", "nslots": "--nslots",
    },
    flags="-x --exclusive -l --label-io -u --unbuffered -v -vv -vvv --verbose --quiet --dry-run --debug --wait-event",
    refusal="flux-run: ERROR: unrecognized arguments: {word}",
)  # fmt: skip

LAUNCHERS: dict[str, Accepts] = {
    "srun": SRUN, "mpiexec": PALS, "mpirun": OPEN_MPI, "ibrun": IBRUN, "jsrun": JSRUN, "lrun": LRUN,
    "flux run": FLUX_RUN,
}  # fmt: skip
