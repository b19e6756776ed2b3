"""Masking in listings of jobs and files, at hubs and in remotes, and what is alike. All names here are made up."""

from __future__ import annotations

import pytest

from knowledge.masking import mask

SQUEUE = """\
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
           1234567 regular_g    train   mvarga  R       1:02      4 nid[001234-001237]
           1234568 regular_g     eval  zeynep7 PD       0:00      1 (Priority)
"""
SACCTMGR = """\
   Account       User  Partition     Share
---------- ---------- ---------- ---------
  labx9999                               1
  labx9999     mvarga      batch         1
"""
PARSABLE = "Account|User|Partition|Share|\nlabx9999|mvarga|batch|1|\nroot||normal|1|\n"
QSTAT = """\
Job id            Name             User              Time Use S Queue
----------------  ---------------- ----------------  -------- - -----
123456.polaris-p  train.sh         mvarga            10:20:11 R prod
"""
PS = """\
USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
mvarga    12345 99.0  1.2 123456  1234 ?        Rl   10:00   0:01 python train.py
root          1  0.0  0.0 168000 11000 ?        Ss   09:00   0:01 /sbin/init
"""


@pytest.mark.parametrize(
    "table", [SQUEUE, SACCTMGR, PARSABLE, QSTAT, PS], ids=["squeue", "sacctmgr", "-P", "qstat", "ps"]
)
def test_people_and_projects_in_tables(table: str) -> None:
    masked = mask(table)
    assert not any(name in masked.text for name in ("mvarga", "zeynep7"))
    assert masked.restore(masked.text) == table
    assert all(
        word in masked.text
        for word in ("root", "labx9999", "nid[", "regular_g", "batch", "train.sh", "python")
        if word in table
    )


def test_a_sentence_is_no_head_of_a_table() -> None:
    text = "User Account Project\nsee text below and read the manual\n"
    assert mask(text).text == text


CASES = {
    "query of a user": ("squeue --me; squeue -u mvarga -t R", "mvarga"),
    "long option": ("sacct --user=mvarga -S today", "mvarga"),
    "row of squeue": ("  1234567 gpu train.sh mvarga PD 0:00 4 (Resources)", "mvarga"),
    "row of qstat": ("123456.pbs-01 train.sh mvarga 10:20:11 R prod", "mvarga"),
    "owner of a file": ("drwxr-x--- 2 mvarga labx 4096 Jan 1 10:00 run", "mvarga"),
    "author": ("Author: mvarga <someone@some-uni.edu>", "mvarga"),
    "own words": ("my username is mvarga and it fails", "mvarga"),
    "own name": ("Hello, my name is Mara Varga", "Mara Varga"),
    "below a letter": ("Kind regards, Mara Varga", "Mara Varga"),
    "remote with a token": (
        "https://oauth2:glpat-abcdefghijkl1234@gitlab.some-uni.edu/x/y.git",
        "glpat-abcdefghijkl1234",
    ),
    "cookie": ("Cookie: sessionid=ab12cd34ef56; csrftoken=zz99", "ab12cd34ef56"),
    "set cookie": ("Set-Cookie: jupyterhub-session-id=0123456789abcdef; Path=/", "0123456789abcdef"),
    "session": ("sessionid=ab12cd34ef56", "ab12cd34ef56"),
    "home below another root": ("/ccs/home/mvarga/x.py", "mvarga"),
    "node's own disk": ("/raid/mvarga/x", "mvarga"),
    "user below his letter": ("cd /pscratch/sd/m/mvarga; mvarga was told", "mvarga"),
}


@pytest.mark.parametrize(("text", "private"), CASES.values(), ids=CASES)
def test_what_is_private_outside_is_masked(text: str, private: str) -> None:
    assert private not in mask(text).text


@pytest.mark.parametrize(
    "text",
    [
        "https://huggingface.co/meta-llama/Llama-3.1-8B/resolve/main/config.json",
        'AutoModel.from_pretrained("Qwen/Qwen3-8B")',
        "git clone https://github.com/pytorch/pytorch.git",
        "OSError: mistralai/Mistral-7B-v0.1 is not a local folder",
        "finished at 10:00:12 after 01:02:03",
        "session = requests.Session(); cookie jar is empty",
        "squeue -u $USER; sacct -j 1234567; top -b",
        "username is invalid; my username was refused",
        "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |",
        "PARTITION AVAIL  TIMELIMIT  NODES  STATE\ngpu*         up 1-00:00:00      2   idle\n",
        "Epoch  Loss  Project\n1  0.2  0.1\n",
        "/raid/ and /tmp/ray/session_latest",
    ],
)
def test_what_is_public_stays(text: str) -> None:
    assert mask(text).text == text
