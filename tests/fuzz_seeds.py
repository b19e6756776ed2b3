"""What honest programs print and write, for tests/fuzz.py to spoil."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

from assistant.slack.blocks import CHOICE, EVIDENCE, FEEDBACK, NO_INCIDENT, PERSON
from assistant.slack.feedback_view import VIEW
from tests.graph.discovery.recorded import FLUX, LSF, OLD_PBS, PBS

PENDING = Path(__file__).parent.parent / "bench/accuracy/development/pending.jsonl"
OUTPUTS = [
    *(json.loads(line)["text"] for line in PENDING.read_text().splitlines()[::3]),
    '{"jobs":[{"job_id":7,"job_state":["PENDING"],"state_reason":"Priority","time_limit":{"set":true,"number":60},'
    '"start_time":{"set":true,"number":1760000000},"submit_time":1760000000,"node_count":{"number":2}}]}',
    '{"jobs":[{"id":7,"t_submit":1760000000.5,"nnodes":2,"ntasks":8,"state":"SCHED","duration":60,"urgency":16,'
    '"annotations":{"sched":{"t_estimate":1760000000}}}]}',
    '{"Jobs":{"1.pbs":{"job_state":"Q","comment":"Not Running: Insufficient amount of resource: ngpus (R: 8 A: 4 T: 9)"'
    ',"Resource_List":{"nodect":2,"walltime":"01:00:00","select":"2:ncpus=8"},"eligible_time":"00:10:00"}}}',
]
ROWS = [
    "JobID|JobName|User|State|ExitCode|Elapsed|Start|End|NodeList\n7|a|u|FAILED|1:0|00:10:00|2026-01-01T00:00:00|"
    "2026-01-01T00:10:00|n[1-4]\n7.0|a|u|FAILED|1:0|00:10:00|2026-01-01T00:00:00|2026-01-01T00:10:00|n1\n"
]
CONFIGS = [
    '{"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,'
    '"intermediate_size":14336,"vocab_size":128256,"num_local_experts":8,"num_experts_per_tok":2}'
]
DUMP = {
    "version": "2.4",
    "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
    "entries": [
        {
            "collective_seq_id": n,
            "process_group": ("0", "default_pg"),
            "profiling_name": "nccl:all_reduce",
            "state": "x",
            "input_sizes": [[n, 4]],
            "is_p2p": False,
            "time_discovered_completed_ns": None,
        }
        for n in range(3)
    ],
}
COMMANDS = [text for recorded in (PBS, OLD_PBS, LSF, FLUX) for text in recorded.values()]
COMMANDS += [
    "gpu*|4|128|515000|gpu:a100:4|a100,nvlink|2:32:2\ncpu|9|128|257000|(null)|(null)|2:32:2\n",
    "PartitionName=gpu\n   AllocNodes=ALL Default=YES MaxTime=2-00:00:00 MaxNodes=16 MinNodes=1 State=UP\n",
]
NODE_JOBS = [
    "== gpus\nNVIDIA A100-SXM4-40GB, 40960 MiB\n== links\nGPU0\tX\tNV4\n== fabric\nmlx5_0 InfiniBand Rate: 200\n"
    "== interfaces\nib0 up\n== numa\nnode 0 cpus: 0 1\n== internet\nnot reached\n== end\n"
]
# A turn's attachments, an answer, a record of a failure, an incident: what the databases hold as JSON.
ATTACHED, ANSWER = (
    '[{"name":"a.log","path":"/x/a.log","lines":3}]',
    '[{"type":"text","text":"No."},{"type":"done","turn":1}]',
)
RECORD = (
    '{"job":"7","cause":"oom_gpu","confidence":0.9,"line":"CUDA out of memory","nodes":["n1"],"ended":1760000000.0}'
)
INCIDENT = (
    '{"id":"a","source":"ticket","subject":{"kind":"node","name":"n1"},"seen":[{"key":"k","at":1760000000.0,"who":"w",'
    '"cause":"oom_gpu"}],"usual":0.1,"also":[{"kind":"cause","name":"oom_gpu"}],"closed":null,"dismissed":""}'
)
STORED = [ATTACHED, ANSWER, RECORD, INCIDENT]
SLACK: list[dict[str, Any]] = [
    {
        "type": "event_callback",
        "event": {"type": "app_mention", "channel": "C1", "ts": "1.0", "user": "U1", "text": "<@U0> why?"},
    },
    {
        "type": "event_callback",
        "event": {"type": "message", "channel": "D1", "ts": "1.0", "user": "U1", "text": "a", "channel_type": "im"},
    },
    {"type": "event_callback", "event": {"type": "app_home_opened", "tab": "messages", "channel": "D1"}},
    {
        "type": "event_callback",
        "event": {"type": "assistant_thread_started", "assistant_thread": {"channel_id": "D1", "thread_ts": "1.0"}},
    },
    {"command": "/maple", "text": "correct", "user_id": "U1", "channel_id": "C1", "trigger_id": "1"},
    {
        "type": "message_action",
        "callback_id": "why_did_this_fail",
        "message": {"ts": "1.0", "text": "a", "files": []},
        "channel": {"id": "C1"},
        "user": {"id": "U1"},
        "trigger_id": "1",
    },
    *(
        {
            "type": "block_actions",
            "actions": [{"action_id": name, "block_id": "b:k", "value": "wrong", "type": "button"}],
            "container": {"message_ts": "1.0"},
            "channel": {"id": "C1"},
            "user": {"id": "U1"},
            "message": {"blocks": [{"block_id": "b:k"}]},
            "trigger_id": "1",
        }
        for name in (f"{CHOICE}_0", EVIDENCE, PERSON, FEEDBACK, NO_INCIDENT)
    ),
    {
        "type": "view_submission",
        "view": {"callback_id": VIEW, "private_metadata": "k", "state": {"values": {}}, "type": "modal"},
        "user": {"id": "U1"},
    },
]
DUMPS = [pickle.dumps(DUMP, 2), json.dumps(DUMP).encode()]
