"""What stands together in one fence, or in one line, goes where each part belongs."""

from __future__ import annotations

from graph.reading.message import take_apart

BOTH = """this dies, how many node hours did it burn
```
+ srun -N 4 torchrun --nnodes 4 --nproc_per_node 4 lora.py
  File "/home/me/venv/lib/python3.11/site-packages/huggingface_hub/utils/_http.py", line 409, in raise_for_status
    raise _format(GatedRepoError, message, response) from e
huggingface_hub.errors.GatedRepoError: 403 Client Error.
Access to model meta-llama/Llama-3.1-70B is restricted and you are not in the authorized list.
srun: error: nid010212: task 2: Exited with exit code 1

$ sacct -j 884211 -X -o jobid,state,elapsed,nnodes
JobID             State    Elapsed   NNodes
------------ ---------- ---------- --------
884211           FAILED   00:36:20        4
```"""


def test_a_fence_with_a_log_and_a_schedulers_table_is_both() -> None:
    message = take_apart(BOTH)
    assert "GatedRepoError" in message.logs[0].text and "sacct" not in message.logs[0].text
    assert "884211           FAILED" in message.outputs[0].text and "Gated" not in message.outputs[0].text


def test_a_fence_with_the_table_alone_stays_one() -> None:
    table = BOTH.partition("```\n")[2].partition("\n\n")[2]
    message = take_apart(f"why\n```\n{table}")
    assert not message.logs and len(message.outputs) == 1


def test_a_line_that_begins_with_a_node_and_a_time_is_a_log_whole() -> None:
    line = "frontier04411: 2025-03-18 02:11:47 RCCL WARN NET/OFI Request completed with error. RC: 5. Error: Input"
    message = take_apart(f"16 nodes fine. at 128:\n{line}\n")
    assert message.logs[0].text == line and message.words == "16 nodes fine. at 128:"
