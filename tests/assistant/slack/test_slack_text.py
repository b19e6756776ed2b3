"""Slack's text in and out: nothing from a log is live, and nothing is longer than Slack takes."""

from __future__ import annotations

import pytest

from assistant.events import Asked, Diagnosed, Event, Refused, Script, Text
from assistant.slack.blocks import answer_parts, evidence_parts, in_words
from assistant.slack.text import cut, mrkdwn, plain, sections, without_blocks
from assistant.slack.types import thread_name
from knowledge.types import Alternative, Assumption, Considered, Diagnosis, LaunchBundle, LogEvidence, Made, Question
from knowledge.types import Refusal as No
from tests.assistant.slack.standin.limits import message_error, notified, shown, walk

HOSTILE = "<!here> <!channel> <@U0ALICE01> <!subteam^S0TEAM> @here *bold* `tick` ``` & <http://x|y>"
KEY = "T0MAPLE01:C000SUPPOR:1795297231.025687"


def hostile(count: int, length: int) -> Diagnosis:
    lines = tuple(LogEvidence(n, f"{HOSTILE} {'x' * length}", rank=n, file=HOSTILE) for n in range(count))
    other = Considered("other", HOSTILE, lines[0])
    return Diagnosis(
        "gpu-oom",
        HOSTILE,
        0.5,
        lines,
        fix=(HOSTILE,) * count,
        considered=(other,) * count,
        send_next=(HOSTILE,),
        sources=("https://docs.example/a?b=1&c=2", HOSTILE),
        captured=((HOSTILE, HOSTILE),),
    )


def made(length: int) -> Made:
    bundle = LaunchBundle("run.sh", "#!/bin/bash\n", (), "sbatch run.sh")
    assumed = tuple(Assumption(f"field{n}", HOSTILE, "because " + "y" * length, None) for n in range(9))
    return Made(bundle, HOSTILE, assumed, (HOSTILE,) * 3, diff="- a\n+ b\n")


EVENTS: list[Event] = [
    Text(HOSTILE),
    Text("word " * 9000),
    Text("<" * 9000),
    Text("```\n" + "log line\n" * 3000 + "```"),
    Text("`" + "code " * 2000 + "`"),
    Text("```\n" + "\x01" * 9000 + "\n```"),
    Diagnosed(hostile(40, 2000)),
    Script(made(4000)),
    Refused(No(HOSTILE, HOSTILE, HOSTILE, tuple(Alternative(HOSTILE * 9) for _ in range(30)))),
    Asked(Question("machine", HOSTILE, tuple(f"machine-{n}" for n in range(60)))),
    Asked(Question("machine", HOSTILE, tuple("long" * 40 for _ in range(3)))),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: type(e).__name__)
def test_every_answer_is_taken_by_slack_and_calls_nobody(event: Event) -> None:
    parts = answer_parts([event, event] if not isinstance(event, Asked | Refused) else [event], KEY, [HOSTILE])
    if isinstance(event, Diagnosed):
        parts += evidence_parts(event.diagnosis)
    posts = [part for part in parts if part.do == "post"]
    assert posts
    for part in posts:
        message = {"text": part.text, "blocks": list(part.blocks)}
        assert message_error(message) is None
        assert notified(message) == notified({"text": part.text}) == []
        assert notified({"text": in_words(part.blocks, 3000)}) == []


def test_the_buttons_stand_once_and_last() -> None:
    parts = answer_parts([Text("word " * 9000)], KEY)
    assert len(parts) > 1
    kinds = [[b["type"] for b in part.blocks] for part in parts]
    assert kinds[-1][-2:] == ["actions", "context_actions"]
    assert all("actions" not in k for k in kinds[:-1])


def test_slack_makes_nothing_live_of_its_own() -> None:
    """Unless a text is verbatim, Slack parses plain @names and #channels in it."""
    parts = [part for event in EVENTS for part in answer_parts([event], KEY, [HOSTILE])]
    texts = [text for part in parts for text in walk(list(part.blocks)) if text.get("type") == "mrkdwn"]
    assert texts and all(text["verbatim"] for text in texts)


def test_a_key_in_a_line_of_evidence_is_not_repeated_to_the_channel() -> None:
    line = LogEvidence(1, "RuntimeError: 401 for HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz1234567890")
    found = Diagnosis("gpu-oom", "It failed.", 0.9, (line,), considered=(Considered("other", "no", line),))
    told = answer_parts([Diagnosed(found)], KEY) + evidence_parts(found)
    assert "401 for" in str(told) and "hf_abc" not in str(told)


def test_a_cause_that_is_not_known_has_no_share_of_certainty() -> None:
    (part,) = answer_parts([Diagnosed(Diagnosis("unknown", "The log is empty.", 1.0, (), send_next=("stderr",)))], KEY)
    text = shown({"blocks": list(part.blocks)})
    assert "sure" not in text.replace("To be sure", "") and "stderr" in text
    assert "Show more evidence" not in text, "there is none"


def test_a_source_says_which_page_it_is() -> None:
    diagnosis = Diagnosis("gpu-oom", "No memory.", 0.9, (), sources=("https://docs.example/a/b/policy.html",))
    (part,) = answer_parts([Diagnosed(diagnosis)], KEY)
    assert "<https://docs.example/a/b/policy.html|docs.example/…/policy.html>" in shown({"blocks": list(part.blocks)})


def test_a_log_line_is_shown_as_it_is() -> None:
    line = LogEvidence(7, "if (a < b && c) *p = `x`; <!here>", rank=3)
    (part,) = answer_parts([Diagnosed(Diagnosis("gpu-oom", "No memory.", 0.9, (line,)))], KEY)
    assert "line 7, rank 3: if (a < b && c) *p = `x`; <!here>" in shown({"blocks": list(part.blocks)})


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**strong** and *soft*", "*strong* and _soft_"),
        ("# Head\n- one\n* two", "*Head*\n• one\n• two"),
        ("[site](https://a.example/?x=1&y=2)", "<https://a.example/?x=1&amp;y=2|site>"),
        ("`a < b & **c**`", "`a &lt; b &amp; **c**`"),
        ("`` a`b ``", "`a'b`"),
        ("2 * 3 * 4 <!here>", "2 * 3 * 4 &lt;!here&gt;"),
        ("[x](https://a.example|<!here>)", "[x](<https://a.example>|&lt;!here&gt;)"),
        (
            "see <https://a.example/x?b=1&c=2>, (https://b.example/).",
            "see &lt;<https://a.example/x?b=1&amp;c=2>&gt;, (<https://b.example/>).",
        ),
    ],
)
def test_markdown_becomes_slacks_marks(markdown: str, expected: str) -> None:
    assert mrkdwn(markdown) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<@UBOT> why?", "why?"),
        ("<@U1|bob> &lt;rank 3&gt; a &amp;&amp; b", "@bob <rank 3> a && b"),
        (
            "see <http://nid01.example|nid01.example> and <https://a.example/x|the page>",
            "see nid01.example and https://a.example/x",
        ),
        (
            "<#C1|support> <!here> <!subteam^S1|@team> <mailto:a@b.example|a@b.example>",
            "#support @here @team a@b.example",
        ),
        ("&amp;lt;", "&lt;"),
    ],
)
def test_a_message_is_read_as_it_was_typed(text: str, expected: str) -> None:
    assert plain(text, "UBOT") == expected


def test_pasted_blocks_are_files_and_short_ones_are_words() -> None:
    words, blocks = without_blocks("why?\n```\na\nb\nc\nd\n```\nand ```one line``` too")
    assert (words, blocks) == ("why?\n\nand ```one line``` too", ("a\nb\nc\nd",))


def test_long_text_is_cut_between_paragraphs_lines_and_words() -> None:
    assert cut("aaaa bbbb\n\ncccc dddd", 12) == ["aaaa bbbb", "cccc dddd"]
    assert cut("aaaa bbbb cccc", 10) == ["aaaa bbbb", "cccc"]
    assert "".join(cut("x" * 95, 10)) == "x" * 95
    assert all(len(part) <= 50 and part.count("`") % 2 == 0 for part in sections("`" + "code & more " * 30 + "`", 50))


def test_a_thread_has_a_name_that_a_session_takes() -> None:
    assert thread_name("T1", "C1", "1.2") == "slack-T1-C1-1.2"
    assert len(thread_name("T" * 40, "C" * 40, "1795297231.025687")) <= 64


def test_a_script_is_uploaded_without_its_keys_and_says_where_they_come_from() -> None:
    key = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456"
    script = f"#!/bin/bash\n#SBATCH -N 2\nexport HF_TOKEN={key}\npython train.py\n"
    diff = f"--- a\n+++ b\n@@ -1,3 +1,3 @@\n-#SBATCH -N 1\n+#SBATCH -N 2\n export HF_TOKEN={key}\n"
    made = Made(LaunchBundle("job.sh", script, (), "sbatch job.sh"), "Delta", diff=diff)
    parts = list(answer_parts([Script(made)], KEY))
    files = [one for part in parts for one in part.files]
    assert len(files) == 2 and key not in repr(parts)
    assert ': "${HF_TOKEN:?' in files[0].content and "export HF_TOKEN=..." in repr(parts)
