"""An order is carried out whole: with the queue that its size needs, in all options of the queue, on the script's own
machine, whatever else the message names."""

from __future__ import annotations

from typing import Any

from player import Player, Thread, call, first_script

from graph.reading.message import take_apart
from knowledge.masking import Masker

SNELLIUS = """#!/bin/bash
#SBATCH --job-name=segm
#SBATCH --partition=gpu_a100
#SBATCH --gpus=1
#SBATCH --time=08:00:00
module load 2023
python train.py \\
    --data "$TMPDIR/tiles" \\
    --seed 0 \\
    --epochs 60
"""
LEONARDO = """#!/bin/bash
#SBATCH --account=IscrC_ABC
#SBATCH --partition=boost_usr_prod
#SBATCH --nodes=2
#SBATCH --gres=gpu:4
#SBATCH --time=24:00:00
module load python/3.11
srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv-backend=c10d --rdzv-endpoint=$(hostname):29500 train.py \\
    --gradient_accumulation_steps 2 --per_device_train_batch_size 8
"""
FRONTIER = """#!/bin/bash
#SBATCH -A csc642
#SBATCH -N 16
#SBATCH -t 06:00:00
#SBATCH -p batch
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=56
module load PrgEnv-gnu/8.7.0 rocm/7.1.1
export MASTER_ADDR=$(hostname -i) MASTER_PORT=3442
srun -N 16 -n 16 -c 56 --gpus-per-node=4 torchrun --nnodes=16 --nproc_per_node=4 \\
    --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT train.py --config moe.yaml
"""
FRONTIER_NEW = """#!/bin/bash
#SBATCH -A csc642
#SBATCH -N 32
#SBATCH -t 06:00:00
#SBATCH -p extended
module load PrgEnv-gnu/8.7.0 rocm/7.1.1
export MASTER_ADDR=$(hostname -i) MASTER_PORT=3442
srun -N 32 -n 256 -c 7 --gpus-per-task=1 --gpu-bind=closest \\
    bash -c 'RANK=$SLURM_PROCID LOCAL_RANK=0 WORLD_SIZE=$SLURM_NTASKS python -u train.py --config moe.yaml'
"""


def ordered(script: str, machine: str, words: str, *calls: Any) -> tuple[Thread, str]:
    """A script of the person's own in hand, then an order. Returns the thread and what the last call answered."""
    thread = Thread(Player("Read.", *calls, "Done."))
    thread.say(f"my script for {machine}:\n```bash\n{script}```\nlook at it")
    thread.say(words)
    return thread, thread.player.asked[-1][-1].text


def test_a_queue_is_ordered_by_the_cards_of_its_nodes() -> None:
    edit = call("edit_script", fields={"queue": "gpu_h100", "array": "seed=0,1,2,3,4%2"})
    thread, told = ordered(SNELLIUS, "snellius", "an array of 5 seeds, two at once, and move it to the H100s", edit)
    assert "#SBATCH --partition=gpu_h100" in thread.script and "offered" not in told
    assert '    --seed "${SEED_VALUES[TASK]}" \\\n    --epochs 60' in thread.script
    thread, told = ordered(SNELLIUS, "snellius", "an array of 5 seeds, two at once", edit)
    assert "gpu_a100" in thread.script and "offered" in told


def test_a_queue_that_is_a_quality_of_service_is_asked_for_as_one() -> None:
    edit = call("edit_script", fields={"queue": "boost_qos_lprod", "walltime": "48:00:00"}, purpose="order")
    thread, _ = ordered(LEONARDO, "leonardo", "put it into boost_qos_lprod with 48 hours", edit)
    assert "#SBATCH --partition=boost_usr_prod" in thread.script and "#SBATCH --qos=boost_qos_lprod" in thread.script
    back = call("edit_script", fields={"queue": "boost_usr_prod"}, purpose="order")
    long = LEONARDO.replace("boost_usr_prod\n", "boost_usr_prod\n#SBATCH --qos=boost_qos_dbg\n")
    thread, _ = ordered(long, "leonardo", "put it into boost_usr_prod", back)
    assert "--qos" not in thread.script and "--partition=boost_usr_prod" in thread.script


def test_a_queue_goes_with_a_size_that_only_it_takes_though_it_was_wrong_before() -> None:
    edit = call("edit_script", text=FRONTIER_NEW, purpose="order")
    words = "ok, fix it. i want the full 6h so whatever partition allows that. and 32 nodes"
    thread, told = ordered(FRONTIER, "frontier", words, edit)
    assert "-p extended" in thread.script and "-N 32" in thread.script and "offered" not in told


def test_what_becomes_of_a_batch_is_not_told_of_the_numbers_before() -> None:
    swap = {"old": "--gradient_accumulation_steps 2", "new": "--gradient_accumulation_steps 1"}
    edit = call("edit_script", fields={"nodes": "4"}, patch=[swap], purpose="order")
    _, told = ordered(LEONARDO, "leonardo", "4 nodes and accumulation 1", edit)
    assert "nodes 2 → 4" in told and "global batch" not in told


def test_a_script_stays_on_its_machine_whatever_others_are_named() -> None:
    copy = call("edit_script", fields={"walltime": "00:30:00"}, file="smoke.sh", purpose="order")
    thread = Thread(Player(call("port_script", machine="lumi", fields={"account": "project_465000001"}), "Done.", copy))
    ours = LEONARDO.replace("#SBATCH --account=IscrC_ABC\n#SBATCH --partition=boost_usr_prod", "#SBATCH -p booster")
    thread.say(f"port this from JUWELS Booster to LUMI, account project_465000001\n```bash\n{ours}```")
    thread.player.moves = [copy, "Here."]
    thread.say("for a first test a copy smoke.sh with 30 minutes. in juwels we had develbooster for that")
    assert "smoke.sh, for LUMI" in thread.player.asked[-1][-1].text
    assert thread.state["request"].machine == "lumi"  # type: ignore[union-attr]
    assert thread.player.asked[-1][1].text.startswith("MACHINE lumi")


def test_one_machine_that_nobody_described_takes_the_others_not_with_it() -> None:
    compared = call("compare_clusters", machines=["lumi", "meluxina"])
    planned = call("plan_resources", model="7B", machines=["lumi", "vega"])
    thread = Thread(Player([compared, planned], "LUMI."))
    thread.say("lumi, meluxina or vega for a 7B?")
    first, second = (one.text for one in thread.player.asked[-1][-2:])
    assert "nobody described meluxina" in first and "MI250X" in first
    assert "nobody described vega" in second and "lumi" in second.lower()


def test_what_submits_others_is_run() -> None:
    wrapper = "#!/bin/bash\nfor s in 1 2 3; do\n  sbatch --export=ALL,S=$s run.sbatch\ndone\n"
    edit = call("edit_script", patch=[{"old": "1 2 3", "new": "1 2 3 4"}])
    _, told = ordered(wrapper, "delta", "add seed 4", edit)
    assert "submit: bash job.sh" in told


def test_what_a_model_wrote_itself_is_nobodys_name() -> None:
    masker = Masker(coined=("DATA=/scratch/project_465001733/slimpajama; rsync LUMI_USER@lumi.csc.fi: x",))
    for text in ("DATA=/scratch/project_465001733/slimpajama", "rsync LUMI_USER@lumi.csc.fi:/scratch/x ."):
        assert masker.mask(text).text == text
    assert "jdoe" not in masker.mask("/scratch/project_465001733/jdoe/x").text
    told = Masker(known={"jdoe": "USER"}, coined=("cd /home/jdoe",))
    assert "jdoe" not in told.mask("cd /home/jdoe").text


LSF_REPORT = """TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.
Exited with exit code 137.

Resource usage summary:

    CPU time :                                   61022.10 sec.
    Max Memory :                                 24000 MB
    Delta Memory :                               0.00 MB
"""


def test_a_schedulers_report_of_a_job_is_its_log() -> None:
    came = take_apart(f"my job on our lsf box died\n{LSF_REPORT}\nwhat now?", ())
    assert came.words == "my job on our lsf box died\nwhat now?" and "Delta Memory" in came.logs[0].text


def test_a_step_of_a_job_is_no_scripts_name() -> None:
    log = "slurmstepd: error: Detected 1 oom_kill event in StepId=34871120.batch."
    came = take_apart(f"{log}\n#!/bin/bash\n#SBATCH -N 1\npython t.py", ())
    assert came.scripts[0].name == "job.sh"


def test_a_line_typed_at_a_prompt_is_no_line_of_the_script() -> None:
    came = take_apart("#!/bin/bash\n#SBATCH -N 1\nsrun python a.py\n[jdoe@login04 run]$ sbatch job.sh\nand now?", ())
    assert came.scripts[0].text == "#!/bin/bash\n#SBATCH -N 1\nsrun python a.py"


def test_the_own_lines_of_a_port_take_the_place_of_the_templates() -> None:
    text = (
        "#!/bin/bash\n#SBATCH -A project_465000001\n#SBATCH -p standard-g\n#SBATCH -N 2\n#SBATCH --gpus-per-node=8\n"
        "#SBATCH --ntasks-per-node=8\n#SBATCH --cpus-per-task=7\n#SBATCH -t 24:00:00\nsrun python train.py --my own\n"
    )
    ours = LEONARDO.replace("#SBATCH --account=IscrC_ABC\n#SBATCH --partition=boost_usr_prod", "#SBATCH -p booster")
    port = call("port_script", machine="lumi", fields={"account": "project_465000001"})
    thread = Thread(Player(port, call("port_script", machine="lumi", text=text), "Done. [[no notes]]"))
    told = thread.say(f"port this from JUWELS Booster to LUMI, account project_465000001\n```bash\n{ours}```")
    assert thread.script.rstrip() == text.rstrip() and told.count("#!/bin/bash") == 1


def test_a_whole_node_is_ordered_in_words() -> None:
    script = (
        "#!/bin/bash\n#SBATCH -A bbka-delta-gpu\n#SBATCH -p gpuA100x4\n#SBATCH -N 1\n#SBATCH --gpus-per-node=1\n"
        "#SBATCH --mem=50G\n#SBATCH -t 2:00:00\nsource ~/venv/bin/activate\npython train.py --bs 8\n"
    )
    edit = call("edit_script", fields={"gpus_per_node": "4"}, purpose="order")
    for words, done in (("make it one whole node", True), ("1 noeud complet svp", True), ("make it faster", False)):
        thread, told = ordered(script, "delta", words, edit)
        assert ("#SBATCH --gpus-per-node=4" in thread.script) is done, (words, told)


def test_a_whole_text_of_another_launch_is_not_laid_over_ours() -> None:
    text = (
        "#!/bin/bash\n#SBATCH -J tune\n#SBATCH -A m1234_g\n#SBATCH -q regular\n#SBATCH -C gpu\n#SBATCH -N 2\n"
        "#SBATCH -t 04:00:00\n#SBATCH --gpus-per-node=4\nmodule load pytorch\nsource args.sh\n"
        "srun -N 2 -n 8 -c 32 python -u tune_seg.py $GPT_ARGS\necho done\n"
    )
    thread = Thread(Player(call("edit_script", text=text, purpose="order"), "Done."), first_script())
    told = thread.say("use my own launch with args.sh instead")
    assert thread.script.rstrip() == text.rstrip() and told.count("srun") == 1


def test_an_array_of_a_persons_own_script_has_the_price_of_all_its_tasks() -> None:
    edit = call("edit_script", fields={"array": "seed=0,1,2,3,4"})
    _, told = ordered(SNELLIUS, "snellius", "an array of 5 seeds", edit)
    assert "5 tasks, up to 40 GPU hours in all (5,120 SBU)" in told
