"""The document of a led turn: one, put together from the state behind the turn; nothing that contradicts the words."""

from __future__ import annotations

from typing import Any

import pytest
from player import Player, Thread, call, first_script

from graph.conversing.sources import Numbered


def led(*moves: Any, say: str = "go on") -> tuple[Thread, str]:
    thread = Thread(Player(*moves), first_script())
    return thread, thread.say(say)


def test_a_change_is_shown_once_whatever_marks_name_it() -> None:
    edit = call("edit_script", fields={"nodes": "3"})
    for words in (
        "Three nodes:\n\n[[script]]\n\nThat is all.\n\n[[script]]",
        "Three nodes.\n\n[[rules]]\n\n[[script]]",
    ):
        thread, told = led(edit, words, say="3 nodes")
        assert told.count("#SBATCH --nodes=3") == 1 and thread.script.rstrip() in told and "```diff" not in told
    thread, told = led(edit, "Three nodes.", say="3 nodes")
    assert told.count("+#SBATCH --nodes=3") == 1 and told.count("```") == 2


def test_a_script_that_the_model_types_is_the_one_in_hand() -> None:
    thread, _ = led("Fine.")
    typed = thread.script.replace("train.py --bs 8", "train.py --bs 9")
    thread.player.moves = [f"Here:\n\n```bash\n{typed}\n```"]
    told = thread.say("send me the script back please")
    assert "--bs 9" not in told and thread.script.rstrip() in told and told.count("#SBATCH --nodes=2") == 1


def test_a_proposal_beside_the_script_in_hand_is_shown_as_it_was_typed() -> None:
    thread, _ = led("Fine.")
    typed = thread.script.replace("#SBATCH --nodes=2", "#SBATCH --nodes=4").replace("--mem=0", "--mem=200G")
    thread.player.moves = [f"For four nodes the head would be:\n\n```bash\n{typed}\n```"]
    told = thread.say("what would the head look like with 4 nodes, do not change mine")
    assert "#SBATCH --nodes=4" in told and "#SBATCH --nodes=2" in thread.script


def test_a_whole_script_in_the_words_of_an_answer_is_kept_and_the_answer_is_shown() -> None:
    head = "#!/bin/bash\n#SBATCH -A abc123\n#SBATCH -J seed\n#SBATCH -p batch\n#SBATCH -N 1\n#SBATCH -t 00:30:00\n"
    script = f"{head}\nmodule load rocm\nsrun -n8 python train.py"
    thread = Thread(Player(f"Yes, fill it once:\n\n```bash\n{script}\n```\n\nThen copy it.", "Fine."))
    told = thread.say("my job on frontier is slow to start, the cache is empty each time. what can i do?")
    assert "fill it once" in told and script in told and "Then copy it." in told
    assert thread.state["talk"][-1].answered and thread.script.strip() == script


def test_a_copy_in_a_command_that_writes_the_file_is_the_one_in_hand_too() -> None:
    thread, _ = led("Fine.")
    name = thread.state["bundle"].name
    typed = thread.script.replace("train.py --bs 8", "train.py --bs 9")
    thread.player.moves = [f"Here:\n\n```bash\ncat > {name} <<'EOF'\n{typed}\nEOF\n```"]
    assert "--bs 9" not in thread.say("send me the script back please")


@pytest.mark.parametrize(
    "answer",
    [
        "Paste this:\n\n```bash\ncat > debug.sh <<'EOF'\n{}\nEOF\nsbatch debug.sh\n```",
        "Paste this:\n\n```bash\ntee jobs/debug.sh <<'EOF'\n{}\nEOF\n```",
        "Beside it, as `debug.sh`:\n\n```bash\n{}\n```",
        "A smaller one:\n\n```bash\n{}\n#SBATCH --nice=1\n#SBATCH --exclusive\n```",
    ],
)
def test_another_file_that_the_model_types_stays(answer: str) -> None:
    thread, _ = led("Fine.")
    other = thread.script.replace("#SBATCH --nodes=2", "#SBATCH --nodes=1").rstrip()
    thread.player.moves = [answer.format(other)]
    told = thread.say("give me the text of a debug version beside it, i paste it myself")
    assert other in told and "#SBATCH --nodes=2" not in told


@pytest.mark.parametrize(
    ("words", "is_told"),
    [
        ("Three.\n\n```bash\nsbatch --dependency=afterany:12 {}\n```", True),
        ("Three: `mkdir -p logs && sbatch --open-mode=append \\\n  {} 7`", True),
        ("Three; do not `sbatch {}` before the data is there.", True),
        ("Three. Do not submit it before the data is there.", True),
        ("Three nodes.", False),
        ("Three, where `{}` had two; see `man sbatch`.", False),
        ("Three.\n\n```bash\nsbatch other-{}\n```", False),
    ],
)
def test_how_it_is_submitted_is_told_once(words: str, is_told: bool) -> None:
    thread, _ = led("Fine.")
    name = thread.state["bundle"].name
    thread.player.moves = [call("edit_script", fields={"nodes": "3"}), words.replace("{}", name)]
    assert (f"Submit: `sbatch {name}`" not in thread.say("3 nodes")) is is_told


def test_beside_a_difference_stands_no_list_of_some_of_its_fields() -> None:
    fields = {"nodes": "3", "mail": "a@b.example:fail", "output": "logs/%j.out", "array": "3"}
    thread, told = led(
        call("edit_script", fields=fields), "Done.", say="3 nodes, 3 of them, mail a@b.example, logs/%j.out"
    )
    assert "+#SBATCH --array=0-2" in told and "Changed:" not in told
    assert "nodes: 2" in thread.state["talk"][-1].answered, "the model still has it in its next turn"


def test_the_model_is_told_when_few_calls_are_left() -> None:
    facts = [
        call("cluster_facts", machine="perlmutter", about=[one]) for one in ("queues", "nodes", "software", "account")
    ]
    thread, _ = led(*facts, call("history", action="undo"), call("history", action="redo"), "Done.")
    results = [one.text for one in thread.player.asked[-1] if one.role == "tool"]
    assert ["(calls left in this turn: 3)" in one for one in results] == [False] * 4 + [True, False]
    assert "(calls left in this turn: 2)" in results[-1]


def test_a_script_that_comes_back_is_shown() -> None:
    thread, _ = led(call("edit_script", fields={"nodes": "3"}), "Three.", say="3 nodes")
    thread.player.moves = [call("history", action="undo"), "Two nodes again."]
    assert "+#SBATCH --nodes=2" in thread.say("hm, rather take that step back please, all of it")


def test_files_beside_the_script_come_with_it() -> None:
    asked = "perlmutter, accelerate fsdp, train.py, 2 nodes, 2 hours, account m1234_g"
    thread = Thread(Player("Here:\n\n[[rules]]", "Again:\n\n[[script]]"))
    thread.say(asked)
    assert "fsdp_config" in thread.say("show all the files once more")


def test_what_is_left_to_do_is_told_by_the_state_behind_the_turn_and_once() -> None:
    asked = "perlmutter, pytorch ddp, train.py, 1 node, 1 hour"
    thread = Thread(Player("Below.\n\n[[rules]]"))
    assert "replace `YOUR_ACCOUNT_g`" in thread.say(asked)
    thread = Thread(Player("Put your project for `YOUR_ACCOUNT`.\n\n[[rules]]"))
    assert "Before you submit" not in thread.say(asked)
    thread.player.moves = [call("edit_script", fields={"account": "m99_g"}), "Set."]
    told = thread.say("my account is m99_g")
    assert "m99_g" in thread.script and "Before you submit" not in told and "Assumed" not in told


def test_what_the_rules_know_is_told_to_the_model_and_not_behind_its_words() -> None:
    asked = "leonardo, pytorch ddp, train.py, 1 node, 1 hour, account abc_1"
    alone = Thread(Player("[[rules]]"))
    whole = alone.say(asked)
    thread = Thread(Player("One node with four GPUs, for an hour.\n\n[[rules]]"))
    told = thread.say(asked)
    assert "Note:" in whole and "Note:" not in told and thread.script == alone.script
    note = whole.partition("Note: ")[2][:60]
    assert "internet" in whole and note in thread.player.asked[-1][1].text


def test_a_price_is_told_once() -> None:
    edit = call("edit_script", fields={"nodes": "4"})
    assert "What that costs: up to 16 node hours" in led(edit, "Four nodes.", say="4 nodes")[1]
    assert "What that costs" not in led(edit, "4 Knoten: 4 x 4 h = 16 Knotenstunden.", say="4 nodes")[1]


def test_a_price_in_the_sites_own_unit_is_told_once() -> None:
    lumi = Thread(Player("Here it is.\n\n[[rules]]"))
    lumi.say("lumi, pytorch ddp, 2 nodes, train.py, account project_465000001, 24 hours, standard-g")
    lumi.player.moves = [call("edit_script", fields={"nodes": "4"}), "4 nodes x 4 x 24 h = 384 GPU-hours."]
    assert "What that costs" not in lumi.say("4 nodes")


def test_a_module_that_is_in_the_script_anyhow_is_not_told_as_left_out() -> None:
    order = call("edit_script", fields={"modules": "pytorch"})
    thread, _ = led(order, "It is loaded.", say="please load the pytorch module")
    assert "not done" not in thread.player.asked[-1][-1].text


@pytest.mark.parametrize(
    "said", ["can the 4 hours be 6?", "kann ich 6 Stunden nehmen?", "Hi! Could the 4 h be 6? Thanks"]
)
def test_a_question_about_a_change_changes_nothing_until_it_is_ordered(said: str) -> None:
    edit = call("edit_script", fields={"walltime": "6h"})
    thread, _ = led(edit, "Yes, regular takes 48 hours. Say so and I set it.", say=said)
    assert "--time=04:00:00" in thread.script and "not done" in thread.player.asked[-1][-1].text.lower()
    thread.player.moves = [edit, "Six."]
    thread.say("yes, do that")
    assert "--time=06:00:00" in thread.script
    assert "--time=06:00:00" in led(edit, "Six.", say="can you make it 6 hours?")[0].script


def test_the_points_of_an_earlier_answer_stay_known() -> None:
    points = "\n".join(f"{letter}) way {letter}: {'and then some more of it ' * 30}" for letter in "abcde")
    thread, _ = led(f"Five ways:\n\n{points}", "Fine.", say="what can I do?")
    thread.say("I see")
    thread.say("and then")
    assert all(f"{letter}) way {letter}" in thread.player.asked[-1][1].text for letter in "abcde")


def test_sources_behind_a_fact_are_numbered() -> None:
    pages = Numbered()
    fact = "  - It is cut. https://a.example/x and, for the rest,\n    https://b.example/y\n  - See `git clone https://c.example/z`."
    told = pages.numbered(fact)
    assert "cut. [1] [2]\n" in told and "`git clone https://c.example/z`" in told and len(pages.pages) == 2
    assert pages.cited("So it is [7].") == "So it is."


def test_every_file_of_a_message_reaches_the_model_and_stays_known() -> None:
    own = "#!/bin/bash\n#SBATCH -A m1_g\n#SBATCH -C gpu\n#SBATCH -N 2\n#SBATCH -t 1:00:00\nsrun -n 8 ./run.sh"
    beside = "#!/bin/bash\nexport RANK=$SLURM_PROCID\npython train.py --lr 7e-5"
    thread = Thread(Player("Ranks come from Slurm."))
    thread.say(f"why is it slow?\n\nsubmit.sh:\n```bash\n{own}\n```\nrun.sh:\n```bash\n{beside}\n```\nthanks")
    first = thread.player.asked[0][1].text
    assert "run.sh:" in first and "--lr 7e-5" in first and first.count("srun -n 8 ./run.sh") == 1
    thread.say("and what does it set?")
    assert "--lr 7e-5" in thread.player.asked[-1][1].text


def test_a_page_has_one_number_all_through_a_thread() -> None:
    first = Numbered()
    two = "48 h [1].\n[1] https://a.example/limits\n\nAnd 8 weeks [1], 40 GB [2].\n[1] https://b.example/purge\n"
    two += "[2] https://a.example/limits\n"
    assert first.numbered(two) == "48 h [1].\n\nAnd 8 weeks [2], 40 GB [1].\n"
    assert first.numbered("Half price [1].\n[1] https://c.example/price").startswith("Half price [3].")
    assert first.cited("So 8 weeks [2], not [9].") == "So 8 weeks [2], not."
    assert first.listed() == "Sources:\n[2] https://b.example/purge"
    later = Numbered(first.kept())
    assert later.numbered("New [1].\n[1] https://d.example/new").startswith("New [4].") and len(later.pages) == 4


def test_an_index_is_no_citation_in_words_either() -> None:
    pages = Numbered([(1, "https://a.example/x"), (2, "https://b.example/y")])
    said = "Take sys.argv[2] and x[0][1], GPU [0]; `a[1]`.\n\n```python\nrows[[i]] = y[3]\n```\n\nIt is so [1][2]."
    assert pages.cited(said) == said and sorted(pages.named) == [1, 2]


def test_double_brackets_in_code_are_no_mark() -> None:
    said = "Like this:\n\n```python\nrows = table[[key]]\nfirst = sys.argv[1]\n```\n\nThat is all."
    assert led(said)[1].strip() == said


def test_what_the_words_or_the_person_settle_is_not_left_to_do() -> None:
    asked = "perlmutter, pytorch ddp, train.py, 1 node, 1 hour"
    for says, said, left in (
        ("Below.\n\n[[rules]]", asked, True),
        ("Only your project's account is still to fill in.\n\n[[rules]]", asked, False),
        ("Nur Ihr Konto fehlt noch.\n\n[[rules]]", asked, False),
        ("Below.\n\n[[rules]]", f"{asked}; I fill in the account myself", False),
    ):
        told = Thread(Player(says)).say(said)
        assert ("Before you submit" in told) is left and "Still to fill in" not in told, says


def test_a_value_that_is_in_the_script_is_not_told_as_left_out() -> None:
    write = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=1, entry="a.py",
                 more_fields={"queue": "gpuH200x8"})  # fmt: skip
    thread = Thread(Player(write, "One node of the H200 partition."))
    told = thread.say("a.py with ddp on one h200 node of delta, 8 gpus")
    assert "--partition=gpuH200x8" in thread.script and "Not in the script" not in told


def test_what_was_chosen_is_told_once_with_what_it_counts() -> None:
    write = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=3, entry="a.py")
    said = "a.py with ddp on delta"
    assert "chosen for you" in Thread(Player(write, "Below.")).say(said)
    assert "chosen for you" not in Thread(Player(write, "I took 3 nodes, say so if you want others.")).say(said)
    assert "chosen for you" not in Thread(Player(write, "Ich habe drei Knoten genommen.")).say(said)


def test_what_comes_back_of_an_own_script_has_its_machines_name() -> None:
    own = "#!/bin/bash\n#SBATCH -A m1_g\n#SBATCH -C gpu\n#SBATCH -q regular\n#SBATCH -N 2\n#SBATCH -t 1:00:00\nsrun ./a"
    thread = Thread(Player("It runs on Perlmutter.", call("edit_script", fields={"walltime": "2:00:00"}), "Two hours."))
    thread.say(f"perlmutter: what does this do?\n```bash\n{own}\n```")
    assert "for Perlmutter" in thread.say("make it 2 hours")
    told = thread.say("undo")
    assert "for Perlmutter" in told and "your machine" not in told and "1:00:00" in told


def test_a_difference_repeats_no_key_that_it_takes_out() -> None:
    key = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456"
    own = f"#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gpus=1\nexport HF_TOKEN={key}\npython train.py\n"
    swap = {"line": 4, "old": "export HF_TOKEN=<hidden>", "new": 'export HF_TOKEN="$(cat "$HOME/.hf")"'}
    thread = Thread(Player("A token stands in it.", call("edit_script", patch=[swap]), "Out."))
    thread.say(f"check this\n```bash\n{own}```")
    told = thread.say("take the token out")
    assert 'HF_TOKEN="$(cat' in told and key not in told and key not in thread.script


def test_a_script_in_their_own_lines_takes_its_keys_from_the_shell() -> None:
    key = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456"
    own = (
        "#!/bin/bash\n#SBATCH -A m123_g\n#SBATCH -q regular\n#SBATCH -C gpu\n#SBATCH -t 1:00:00\n#SBATCH -N 1\n"
        f"#SBATCH --gpus-per-node=4\nexport HF_TOKEN={key}\nexport KEY_DIM=64\nsrun python train.py\n"
    )
    new = own.replace("-A m123_g", "-A a123").replace("-q regular", "-p normal").replace("#SBATCH -C gpu\n", "")
    port = call("port_script", machine="alps-clariden", text=new.replace(key, "<hidden>"))
    thread = Thread(Player(port, "Ported. [[no notes]]"))
    told = thread.say(f"port this from perlmutter to clariden, account a123\n```bash\n{own}```")
    assert ': "${HF_TOKEN:?' in thread.script and "KEY_DIM=64" in thread.script
    assert key not in told and "export HF_TOKEN=..." in told
    shown = Thread(Player("[[script]]"))
    told = shown.say(f"check this for perlmutter\n```bash\n{own}```")
    assert ': "${HF_TOKEN:?' in told and key not in told and "KEY_DIM=64" in told and "export HF_TOKEN=..." in told
    assert key in shown.script, "the script in hand stays as it is"


def test_a_step_that_begins_with_an_address_is_no_note() -> None:
    pages = Numbered()
    told = pages.numbered(
        "1. Make a key.\n2. https://portal.example > Keys: paste it.\n3. Log in, as told in 2026. https://c.example/x"
    )
    assert "2. https://portal.example > Keys" in told and told.endswith("in 2026. [1]")


def test_a_draft_that_the_words_put_aside_is_not_shown() -> None:
    draft = call("write_script", machine="lumi", framework="pytorch", strategy="ddp", nodes=1, entry="draft.py")
    head = "#!/bin/bash\n#SBATCH -A project_465000001\n#SBATCH -p small-g\n"
    text = f"{head}#SBATCH -t 1:00:00\n#SBATCH --gpus-per-node=1\nsrun ./tune\n"
    other = call("write_script", machine="lumi", text=text, file="tune.sh")
    for words, shown in (
        ("`tune.sh` is yours. Ignore the draft `{}`.", False),
        ("Two scripts: `{}` and `tune.sh`.", True),
    ):
        thread = Thread(Player(draft, other, words.format("lumi-pytorch-ddp.sh")))
        told = thread.say("lumi, project_465000001: 1 node, 1 hour; my own text please")
        assert ("sbatch lumi-pytorch-ddp.sh" in told) is shown and "./tune" in told
