#!/bin/bash
# Flux has no job arrays: submits tuolumne-pytorch-ddp.sh once for each task, which reads ARRAY_TASK.
# At most 2 run at a time: each waits for the one 2 before it.
set -euo pipefail
jobs=()
for ((task = 0; task <= 2; task++)); do
    waits=()
    [ "$task" -lt 2 ] || waits=(--dependency="afterany:${jobs[task - 2]}")
    jobs+=("$(flux batch ${waits[@]+"${waits[@]}"} --env=ARRAY_TASK="$task" tuolumne-pytorch-ddp.sh)")
    echo "task $task: ${jobs[task]}"
done
