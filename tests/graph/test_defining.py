"""What a word means is asked by a form; the same words in other questions define nothing."""

import pytest

from graph.answering.situation import Situation
from graph.answering.terms import explain_terms
from graph.reading.defining import find_terms, words_asked
from graph.reading.reader import read_utterance
from graph.reading.utterance import ThreadView


@pytest.mark.parametrize(
    ("words", "terms"),
    [
        ("what even is a task", ("task",)),
        ("was ist ein Thread", ("thread",)),
        ("process vs thread?", ("process", "thread")),
        ("im new to slurm, what is a port?", ("port",)),
        ("what's a rank in DDP training", ("rank",)),
        ("c'est quoi la RAM", ("ram",)),
        ("什么是线程", ("thread",)),
        ("节点和GPU有什么区别", ("node", "gpu")),
        ("account vs username, what's the difference?", ("account", "login-name")),
        ("what is a core, a socket and a thread", ("core", "socket", "thread")),
    ],
)
def test_a_word_is_asked_for(words: str, terms: tuple[str, ...]) -> None:
    assert words_asked(words) == terms
    assert read_utterance(words, ThreadView()).main.label == "ask/concept"


@pytest.mark.parametrize(
    "words",
    [
        "how many tasks per node does my script start",
        "which port is free",
        "what is the queue",
        "what is my job id",
        "what process uses my GPU",
        "lightning vs accelerate",  # a choice, of which no difference is written
        "节点数是什么",
        "\N{REPLACEMENT CHARACTER} what is a node \N{REPLACEMENT CHARACTER} here and there",
        "what is a node " * 30,
    ],
)
def test_other_questions_ask_for_no_word(words: str) -> None:
    assert words_asked(words) == ()


def test_an_everyday_word_is_a_term_only_where_it_is_asked_for() -> None:
    assert find_terms("which port is free for my process") == ()
    assert find_terms("what is a port on which nobody listens") == ("port",)


def test_which_way_to_take_is_no_question_of_words() -> None:
    assert read_utterance("ddp vs fsdp", ThreadView()).main.label == "ask/method.strategy"


def test_a_number_in_a_meaning_names_its_page() -> None:
    told = explain_terms(Situation("what is a watchdog"))
    assert told and any("110947" in str(part) for part in told.parts)
    told = explain_terms(Situation("what is a node"))
    assert told and "http" not in str(told)
