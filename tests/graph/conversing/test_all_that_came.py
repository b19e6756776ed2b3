"""Every script and file that a person sends is seen by the model, by a name, in this turn and the next ones."""

from __future__ import annotations

import pytest
from player import Player, Thread, call, first_script

from graph.modelling.model import ModelError

TRAIN = "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -t 8:00:00\nsrun python train.py --bs 8\n"
EVAL = "#!/bin/bash\n#SBATCH -N 1\n#SBATCH -t 1:00:00\nsrun python eval.py --shots 5\n"
PREP = "#!/bin/bash\n#SBATCH -N 1\n#SBATCH -t 2:00:00\nsrun python prep.py --shards 9\n"
TOML = (
    'image = "/capstor/x/ngc.sqsh"\nmounts = ["/capstor:/capstor"]\n\n[annotations]\ncom.hooks.cxi.enabled = "true"\n'
)
JSON = '{\n  "train_micro_batch_size_per_gpu": 4,\n  "zero_optimization": {"stage": 3}\n}\n'
HOSTS = "node01 slots=4\nnode02 slots=4\n"


def brief(thread: Thread) -> str:
    return f"\n{thread.player.asked[-1][1].text}"


def later(thread: Thread, says: str = "and now?") -> str:
    """What the model is told one message later."""
    thread.player.moves = ["Yes."]
    thread.say(says)
    return brief(thread)


@pytest.mark.parametrize(
    "sent",
    [
        "train.sh:\n```bash\n{}```\neval.sh:\n```bash\n{}```\n",
        "train.sh:\n{}\neval.sh:\n{}",
        "my two jobs, train.sh first, then eval.sh\n{}\n{}",
        "```\n{}\n{}```",
    ],
)
def test_two_scripts_of_a_message_are_both_there_and_changed_by_name(sent: str) -> None:
    thread = Thread(Player("Read."))
    thread.say(f"is that right?\n{sent.format(TRAIN, EVAL)}")
    assert "--bs 8" in brief(thread) and "--shots 5" in brief(thread)
    told = later(thread)
    assert "--bs 8" in told and "--shots 5" in told
    name = next(row for row in told.splitlines() if row.startswith("PARKED JOB 1. ")).split(". ", 1)[1]
    moves = [call("edit_script", file=name, patch=[{"old": "--shots 5", "new": "--shots 0"}], purpose="order"), "Done."]
    thread.player.moves = moves
    thread.say("zero shots in the second one please")
    assert "--shots 0" in thread.script and "--bs 8" in later(thread)


def test_scripts_beside_an_answer_of_the_rules_are_kept() -> None:
    thread = Thread(Player("It takes 16 node hours.\n\n[[rules]]"))
    thread.say(f"check this\n```bash\n{TRAIN}```\n```bash\n{EVAL}```")
    told = later(thread)
    assert "--bs 8" in told.partition("SCRIPT IN HAND")[2] and "--shots 5" in told.partition("PARKED JOB")[2]


def test_scripts_are_kept_where_the_model_fails() -> None:
    thread = Thread(Player(ModelError("gone")))
    thread.say(f"what waits longer?\n```bash\n{TRAIN}```\n```bash\n{EVAL}```")
    thread.models.breakers.clear()
    told = later(thread)
    assert "--bs 8" in told and "--shots 5" in told


def test_a_script_that_comes_with_an_answer_to_what_was_open_is_in_hand() -> None:
    thread = Thread(Player("Which machine?\n\n[[rules]]"))
    thread.say("pytorch ddp, train.py, 2 nodes")
    thread.player.moves = ["Noted.\n\n[[rules]]"]
    thread.say(f"perlmutter\n```bash\n{EVAL}```")
    assert "--shots 5" in later(thread)


def test_our_script_is_parked_where_a_person_sends_another() -> None:
    thread = Thread(Player("Read."), first_script())
    thread.say(f"and this one?\n```bash\n{PREP}```")
    told = later(thread)
    assert "--shards 9" in told.partition("SCRIPT IN HAND")[2]
    assert "PROGRAM=(train.py --bs 8)" in told.partition("PARKED JOB 1. perlmutter-pytorch-fsdp.sh")[2]


def test_scripts_of_one_name_have_two_names() -> None:
    thread = Thread(Player("Read."))
    for one in (TRAIN, PREP):
        thread.say(f"and this?\n```bash\n{one}```")
    told = later(thread)
    assert "PARKED JOB 1. job.sh#1" in told
    edit = call("edit_script", file="job.sh#1", patch=[{"old": "--bs 8", "new": "--bs 4"}], purpose="order")
    thread.player.moves = [edit, "Done."]
    thread.say("batch 4 in the first one")
    assert "--bs 4" in thread.script


def test_a_newer_text_of_a_parked_file_takes_its_place() -> None:
    thread = Thread(Player("Read."))
    thread.say(f"train.sh:\n```bash\n{TRAIN}```\neval.sh:\n```bash\n{EVAL}```")
    thread.say(f"now eval.sh:\n```bash\n{EVAL.replace('5', '25')}```")
    told = later(thread)
    assert "--shots 25" in told.partition("SCRIPT IN HAND")[2] and "--shots 5" not in told
    assert told.count("PARKED JOB") == 1 and "--bs 8" in told


def test_a_line_of_a_script_is_left_in_the_message() -> None:
    thread = Thread(Player("Read."), first_script())
    thread.say("is this line better?\n```bash\nsrun python other.py --fast\n```")
    assert "--fast" in brief(thread).partition("\nMESSAGE\n")[2]


def test_a_log_stays_with_the_scripts_that_came_with_it() -> None:
    thread = Thread(Player("Read."))
    log = "slurmstepd: error: Detected 1 oom_kill event in StepId=12.0"
    thread.say(f"which one?\n```bash\n{TRAIN}```\n```bash\n{EVAL}```\n```\n{log}\n```")
    assert log in brief(thread).partition("\nLOG ")[2] and thread.state["logs"]


def test_a_command_that_goes_on_below_leads_to_no_file() -> None:
    thread = Thread(Player("Read."))
    thread.say(
        f"Please change.\n{TRAIN.rstrip()} \\\n  trainer.devices=1 \\\n  model.batch=4 \\\n  exp.dir=$SCRATCH/b\n"
    )
    assert "FILE " not in brief(thread) and "exp.dir=$SCRATCH/b" in thread.state["own"].text
    thread = Thread(Player("Read."))
    job = TRAIN.partition("train.py")[0] + "train.py \\\n"
    thread.say(f"Please change.\n{job}  trainer.devices=1 \\\n  model.batch=4 \\\n  exp.dir=$SCRATCH/b\n")
    assert "FILE " not in brief(thread) and "exp.dir=$SCRATCH/b" in thread.state["own"].text


@pytest.mark.parametrize(("name", "text"), [("ngc.toml", TOML), ("ds_config.json", JSON), ("hostfile", HOSTS)])
@pytest.mark.parametrize("fence", ["```\n{}```", "{}"])
def test_a_file_beside_the_script_is_told_in_every_turn(name: str, text: str, fence: str) -> None:
    thread = Thread(Player("Read."))
    thread.say(f"my job\n```bash\n{TRAIN}```\nand my {name}:\n{fence.format(text)}\nwhy does it fail?")
    row = text.splitlines()[1]
    assert not thread.state.get("logs"), "it is no log"
    for told in (brief(thread), later(thread), later(thread, "thanks")):
        assert row in told.partition(f"\nFILE {name}")[2]
    assert "why does it fail?" in thread.state["talk"][0].said


def test_a_file_that_comes_again_takes_the_place_of_the_first_and_a_long_one_is_cut() -> None:
    thread = Thread(Player("Read."))
    thread.say(f"ds.json:\n{JSON}\nfine?")
    thread.say("now ds.json:\n" + JSON.replace("4,", "2,\n" + '  "steps": 1,\n' * 300) + "\nbetter?")
    told = later(thread)
    assert told.count("FILE ds.json") == 1 and '_gpu": 2' in told and '_gpu": 4' not in told
    assert "letters left out" in told.partition("FILE ds.json")[2]


@pytest.mark.parametrize(
    "printed",
    [
        "epoch 3 loss: 0.5\nepoch 4 loss: nan",
        "Traceback (most recent call last):\n  File \"train.py\", line 3\nKeyError: 'x'",
    ],
)
def test_what_a_program_printed_is_no_file(printed: str) -> None:
    thread = Thread(Player("Read."))
    thread.say(f"this comes from train.py\n```\n{printed}\n```\nwhy?")
    assert "FILE " not in brief(thread) and "\nLOG " in brief(thread)


def test_what_was_offered_is_told_and_done_to_the_script_that_it_was_offered_for() -> None:
    trial = call("edit_script", fields={"nodes": "8"}, purpose="trial")
    thread = Thread(Player(trial, "8 nodes: up to 32 node hours instead of 8. Say *yes*."), first_script())
    thread.say("would 8 nodes help?")
    thread.player.moves = [call("take_offer", number=1), "Both are there."]
    thread.say(f"yes. and is that one right?\n```bash\n{PREP}```")
    assert "OPEN FROM LAST ANSWER offered: 1. 8 nodes" in brief(thread)
    assert "#SBATCH --nodes=8" in thread.script and thread.state["bundle"].name == "perlmutter-pytorch-fsdp.sh"
    assert "--shards 9" in later(thread).partition("PARKED JOB")[2]


WRITTEN = """#!/bin/bash
#SBATCH --partition=mlgpu
#SBATCH --gres=gpu:1
#SBATCH --time=1-00:00:00
set -e
source /sw/conda/etc/profile.d/conda.sh
conda activate cellnet
python -u seg.py --fold 0
"""


def test_a_script_that_the_model_wrote_in_its_words_is_in_hand() -> None:
    edit = call("edit_script", patch=[{"old": "--fold 0", "new": "--fold 3"}])
    thread = Thread(Player(f"Save it as `seg.sh`:\n\n```bash\n{WRITTEN}```\n\nThen `sbatch seg.sh`.", edit, "Fold 3."))
    thread.say("how would a job script for one gpu look on a slurm box? partition mlgpu, conda env cellnet, seg.py")
    thread.say("change it to fold 3 please")
    own = thread.state["own"]
    assert own and (own.name, own.text) == ("seg.sh", WRITTEN.replace("--fold 0", "--fold 3"))
    assert "seg.sh" in thread.player.asked[1][1].text


def test_code_of_an_answer_that_is_no_script_in_hand_is_told_again() -> None:
    other = WRITTEN.replace("seg.py --fold 0", "other.py").replace("mlgpu", "big").replace("cellnet", "x")
    helper = other.replace("conda", "module").replace("#SBATCH --gres=gpu:1", "#SBATCH --gres=gpu:4")
    thread = Thread(Player(f"Two ways:\n\n```bash\n{WRITTEN}```\n\n```bash\n{helper}```", "Yes."))
    thread.say("how would a job script look on a slurm box?")
    thread.say("and the second?")
    assert "#SBATCH --gres=gpu:4" in thread.player.asked[1][1].text


def test_a_quoted_error_inside_a_sentence_is_told_once() -> None:
    error = "`requests.exceptions.ConnectionError: huggingface.co: Network is unreachable`"
    thread = Thread(Player("No internet there."))
    thread.say(f"Two questions on JUWELS Booster:\n(a) are 36 h possible?\n(b) each job ends with {error}, why?")
    message = thread.player.asked[-1][1].text.rpartition("\nMESSAGE\n")[2]
    assert message.count("(b) each job ends with") == 1 and "Network is unreachable" in message


def test_words_about_a_waiting_job_are_no_output_of_a_scheduler() -> None:
    thread = Thread(Player("It waits."))
    thread.say("mi trabajo en marenostrum esta PD (QOSGrpNodeLimit), q hago?")
    thread.say("y cuantos puedo tener en cola?")
    assert not any("SCHEDULER OUTPUT" in asked[1].text for asked in thread.player.asked)


def test_the_words_above_a_log_say_where_it_ran() -> None:
    log = (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=8802214.0. Some of the step tasks have been OOM Killed."
    )
    thread = Thread(Player("Host memory."))
    thread.say(f"job died on delta (1 a100, --mem=32G):\n{log}\nwhat happend")
    assert thread.player.asked[-1][1].text.startswith("MACHINE delta")
