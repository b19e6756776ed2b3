"""What a person gets of an answer: jobs without GPUs, served folders, all that was said, no silent cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from player import Player, Thread, call

from graph.modelling.model import Completion, ModelMessage

R = """#!/bin/bash
#SBATCH --account=m3421
#SBATCH --constraint=cpu
#SBATCH --qos=shared
#SBATCH --nodes=1
#SBATCH --cpus-per-task=64
#SBATCH --time=06:00:00
module load R
srun Rscript analysis.R
"""
SERVED = "$DSDIR/HuggingFace_Models/meta-llama/Llama-3.1-70B-Instruct"


@pytest.mark.parametrize("machine", ["perlmutter", "Titania"])
def test_a_job_without_gpus_has_no_gpu_line(machine: str) -> None:
    fields = {"cpu_only": "yes", "cpus_per_task": "16"}
    write = call("write_script", machine=machine, entry="prep.py", nodes=1, walltime="02:00:00", more_fields=fields)
    thread = Thread(Player(write, "Below."))
    thread.say(f"python prep.py, no GPU, 16 cores, 2 hours on {machine}, our slurm cluster")
    does = "\n".join(row for row in thread.script.splitlines() if not row.startswith("# "))
    assert "prep.py" in does and "gpu" not in does and "torchrun" not in does


def test_a_folder_of_weights_is_served_and_a_program_is_started() -> None:
    given: dict[str, Any] = {"framework": "vllm", "nodes": 1, "gpus_per_node": 4, "account": "abc@h100"}
    calls = [call("write_script", machine="jean-zay", entry=one, **given) for one in (SERVED, "./bin/infer.py")]
    player = Player(calls[0], "Served.", calls[1], "Started.")
    thread = Thread(player)
    thread.say(f"serve {SERVED} with vLLM on Jean Zay, 4 H100, abc@h100, 5 hours")
    assert f'vllm serve "{SERVED}"' in thread.script
    thread.say("and now a job of ./bin/infer.py on the same")
    assert "vllm serve" not in thread.script and "infer.py" in thread.script


def test_what_was_chosen_is_told_once() -> None:
    edit = call("edit_script", fields={"job_name": "r20"})
    player = Player(call("write_script", machine="perlmutter", text=R), "It runs in `shared`.", edit, "Named.")
    thread = Thread(player)
    thread.say("analysis.R on Perlmutter, 32 cores, 6 hours, m3421, one node")
    assert "chosen for you" not in thread.say("call it r20") and "--job-name=r20" in thread.script


def test_a_folder_in_the_place_of_a_name_is_no_conda_environment_by_name() -> None:
    kind = {"environment": "myenv", "environment_kind": "conda"}
    write = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=1, entry="a.py",
                 more_fields=kind)  # fmt: skip
    thread = Thread(Player(write, "Below.", call("edit_script", fields={"environment": "/u/me/venvs/a"}), "Done."))
    thread.say("a.py with ddp on one node of Delta, conda env myenv")
    thread.say("the environment is /u/me/venvs/a, a venv")
    assert '/bin/activate"; fi' in thread.script


class Cut(Player):
    """Has no room for the end of its answer."""

    def complete(self, messages: Sequence[ModelMessage], **more: Any) -> Completion:
        done = super().complete(messages, **more)
        return Completion(done.text, done.tokens_in, done.tokens_out, "length")


def test_an_answer_without_its_end_says_so() -> None:
    assert "say *go on* for the rest" in Thread(Cut("First, log in. Then")).say("how do I begin on Delta?")


def test_a_port_has_the_account_that_was_said_beside_it() -> None:
    own = "#!/bin/bash\n#SBATCH -p gpuA100x4\n#SBATCH -N 1\n#SBATCH --gpus-per-node=4\nsrun python a.py\n"
    thread = Thread(Player(call("port_script", machine="lumi"), "Ported."))
    thread.say(f"port this to LUMI, my project there is project_465000123\n```\n{own}```")
    assert "--account=project_465000123" in thread.script


def test_each_machine_that_is_weighed_is_told_and_what_is_cut_of_it() -> None:
    thread = Thread(Player("Delta."))
    thread.say("Perlmutter, Delta or LUMI for a 13B model with zero3?")
    brief = thread.player.asked[0][1].text
    assert all(f"MACHINE {one}" in brief for one in ("perlmutter", "delta", "lumi"))
    assert "cut for room, cluster_facts has it" in brief and "queues" not in brief.partition("cut for room")[2][:60]
