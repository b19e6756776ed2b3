"""Small texts that stand for more than fits: each is refused or cut, in time and in memory by its own length."""

from __future__ import annotations

import ast
import pickle
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graph.debugging.flight_recorder import read_dump
from graph.extraction.directives import MOST_DIRECTIVES
from graph.extraction.shell_tree import parse_affordable
from graph.planning.programs import take_apart
from graph.usecases.explain_pending import explain_pending
from graph.verification.checks import check
from graph.verification.checks.run import UNREAD
from knowledge.data_file import parse_yaml
from knowledge.errors import FactsError, InputError
from knowledge.schedulers.outputs import scheduler_output

SECONDS = 5.0
NAMES = "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))
MERGED = "".join(f"a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 9))
SIZES: list[Any] = [1]
for _ in range(30):
    SIZES = [SIZES, SIZES]


@pytest.fixture(autouse=True)
def in_time() -> Any:
    began = time.process_time()
    yield
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("grow", ['A=("${A[@]}" "${A[@]}")', 'A+=("${A[@]}" "${A[@]}")'])
def test_an_array_that_takes_itself_in_stays_small(grow: str) -> None:
    check("#!/bin/bash\nA=(a b c d)\n" + f"{grow}\n" * 40 + "srun python train.py ${A[@]}\n", None)


@pytest.mark.parametrize("piece", ["| a | b |\n|---|---|\n\n", "<b>x</b>\n", "Traceback (most recent call last):\n\n"])
def test_what_is_no_shell_is_parsed_as_far_as_time_allows(piece: str) -> None:
    text = "#!/bin/bash\n#SBATCH --nodes=2\n" + piece * (300_000 // len(piece))
    _, lines = parse_affordable(text)
    assert 0 < lines < text.count("\n")
    assert any(one.rule == UNREAD for one in check(text, None))


@pytest.mark.parametrize("text", ["<b>x</b>#!/bin/bash", "#!bash -x "])
def test_a_line_of_shebangs_is_checked_in_time(text: str) -> None:
    began = time.process_time()
    assert "rule-failed" not in {one.rule for one in check(text * 1_500 + "\nconda activate a\n", None)}
    assert time.process_time() - began < 2 * SECONDS


def test_a_long_script_is_parsed_to_its_end() -> None:
    text = "#!/bin/bash\n" + "if [ -n x ]; then\n  export A=1\nfi\n" * 3_000
    assert parse_affordable(text)[1] == text.count("\n") + 1


@pytest.mark.parametrize("option", ["nodes={}", "time={}", "mem={}G", "gpus-per-node={}", "array=0-{}"])
def test_a_number_of_thousands_of_digits_fails_no_rule(option: str) -> None:
    number = "9" * 5_000
    script = f"#!/bin/bash\n#SBATCH --{option.format(number)}\nsrun -n {number} torchrun --nnodes={number} train.py\n"
    assert not [one for one in check(script, None) if one.rule == "rule-failed"]


@pytest.mark.parametrize("number", ["9" * 5_000, "9" * 400, "1e999", "NaN", "[]", '{"a": 1}', '"x"', "-1"])
@pytest.mark.parametrize(
    "output",
    [
        '{"jobs":[{"job_id":N,"job_state":["PENDING"],"state_reason":"Priority","time_limit":{"set":true,"number":N},'
        '"start_time":{"number":N,"set":true},"submit_time":N,"node_count":N}]}',
        '{"jobs":[{"id":N,"t_submit":N,"nnodes":N,"state":"SCHED","annotations":N,"duration":N,"urgency":N}]}',
        '{"Jobs":{"1.pbs":{"job_state":"Q","comment":N,"Resource_List":{"nodect":N,"walltime":N}}}}',
        "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\nN p n u PD N N (Priority)\n",
        "JobId=1 JobName=x\n   JobState=PENDING Reason=Priority NumNodes=N TimeLimit=N-00:00:00 TRES=cpu=N,mem=NP\n",
    ],
)
def test_a_scheduler_says_no_such_number(output: str, number: str) -> None:
    text = re.sub(r"\bN\b", lambda _: number, output)
    explain_pending(text, outputs=scheduler_output(text))


@pytest.mark.parametrize("text", [f"a0: &a0 [x]\n{NAMES}", f"a0: &a0 {{k: 1}}\n{MERGED}", "&a [*a]", "a: &a {<<: *a}"])
def test_names_of_names_in_yaml_are_not_spelt_out(text: str) -> None:
    with pytest.raises(FactsError, match="stand for more"):
        parse_yaml(text)


def test_a_value_named_twice_in_yaml_is_read() -> None:
    assert parse_yaml("a: &a {k: [1, 2]}\nb: {<<: *a}\nc: *a\n") == {
        "a": {"k": [1, 2]},
        "b": {"k": [1, 2]},
        "c": {"k": [1, 2]},
    }


@pytest.mark.parametrize(
    "dump",
    [
        b"\x80\x02]r\x00\x00\x00\x7f.",  # a memo of two thousand million places
        b"\x80\x02})" + b"2\x86" * 60 + b"Ns.",  # a key whose hash takes for ever
        pickle.dumps({"entries": [{"collective_seq_id": 1, "input_sizes": SIZES}], "pg_config": {}}, 2),
        b"\x80\x02" + b"]" * 1_000_000 + b"a" * 999_999 + b".",
    ],
)
def test_a_pickle_that_stands_for_gigabytes_is_no_dump(tmp_path: Path, dump: bytes) -> None:
    path = tmp_path / "dump_0"
    path.write_bytes(dump)
    assert read_dump(path) is None


@pytest.mark.parametrize("group", [5, "x", None, {"a": 1}])
def test_a_dump_of_another_form_fails_nothing(tmp_path: Path, group: object) -> None:
    path = tmp_path / "dump_0"
    entry = {"collective_seq_id": 1, "process_group": group, "input_sizes": group}
    path.write_bytes(pickle.dumps({"entries": [entry], "pg_config": {"a": {"ranks": "9" * 5_000}}}, 2))
    assert read_dump(path) is not None


@pytest.mark.parametrize(
    "line", ["", "\u202e\n", "[", "</", "#SBATCH --nodes=#!/bin/bash", "<<EOF", "while read a; do ssh b"]
)
def test_a_script_of_one_line_again_and_again_is_checked_in_time(line: str) -> None:
    told = check("x" + f"{line}\n" * (140_000 // (len(line) + 1)), None)
    assert UNREAD in {one.rule for one in told}
    assert len(told) < 5_000


def test_loops_in_loops_are_checked_in_time() -> None:
    began = time.process_time()
    told = check("while read a; do ssh b\n" * 1_000 + "done\n" * 1_000, None)
    assert UNREAD in {one.rule for one in told}
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize("word", ["\ud800", "${why ", "{)", "\\\u5bc6"])
def test_a_script_of_one_long_line_is_checked_in_time(word: str) -> None:
    check("#SBATCH --nodes=" + word * (140_000 // len(word)), None)


@pytest.mark.parametrize("entry, args", [("\U00094473" * 149_000, None), ("train.py", "x" * 149_000)])
def test_a_command_line_of_one_long_word_is_refused(entry: str, args: str | None) -> None:
    with pytest.raises(InputError, match="more than 20,000"):
        take_apart(entry, args)


def test_of_directives_without_end_the_first_are_read_and_the_rest_is_told() -> None:
    script = "#!/bin/bash\n" + "#SBATCH --nodes=2\n" * 5_000
    told = [one for one in check(script, None) if one.rule == UNREAD]
    assert [one.line for one in told] == [MOST_DIRECTIVES + 2]
    long = check(f"#!/bin/bash\n#SBATCH --comment={'x' * 5_000}\n#SBATCH --nodes=2\nsrun python a.py\n", None)
    assert [one.line for one in long if one.rule == UNREAD] == [2]


def searches(path: Path) -> Iterator[str]:
    """Patterns of a module that are looked for at the begin of each line."""
    text = path.read_text()
    if not re.search(r"\bre\.\w+\(", text):
        return
    for node in ast.walk(ast.parse(text)):
        called = node.func if isinstance(node, ast.Call) else None
        if (
            isinstance(node, ast.Call)
            and isinstance(called, ast.Attribute)
            and isinstance(called.value, ast.Name)
            and called.value.id == "re"
        ):
            flags = " ".join(ast.unparse(one) for one in (*node.args[1:], *(word.value for word in node.keywords)))
            pattern = ast.unparse(node.args[0]) if node.args else ""
            if re.search(r"\bre\.M\b|MULTILINE", flags) or re.search(r"\(\?[a-z]*m[a-z]*[):]", pattern):
                yield pattern


def test_no_search_from_each_line_takes_in_the_lines_behind_it() -> None:
    r"""`(?m)^\s*` reads empty lines to their end from each of them: `^[^\S\n]*` finds the same."""
    root = Path(__file__).parent.parent
    files = [path for part in ("assistant", "graph", "knowledge", "templates") for path in (root / part).rglob("*.py")]
    found = [(path.name, one) for path in files for one in searches(path) if re.search(r"(?<!\[)\^\(?\\+s[*+]", one)]
    assert not found
