"""Messages about the resources of a training that are read as one question: whole ones, and fragments that go on from
the question before (`and with LoRA?`, `on LUMI?`, `in fp32?`)."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from graph.answering.planned import without_interval
from graph.conversation.followup import (
    BESIDE,
    GOES_ON,
    JOINING,
    LEANING,
    LONGEST,
    MARKS,
    OR,
    OWN,
    answers_what_is_open,
)
from graph.conversation.turn import LEADING, SURE, WANTING, TurnContext, asks_by_form, view_of
from graph.extraction.sentences.intents import is_question
from graph.planning.resources.parameters import find_model
from graph.planning.resources.patterns import pattern
from graph.planning.resources.reading import (
    bare_number,
    bare_queue,
    blanked,
    read_followup,
    read_question,
    residue,
    scaled,
    scaled_words,
)
from graph.reading.defining import find_terms
from graph.reading.own_machines import asks_where
from graph.reading.reader import read_as_one
from graph.reading.utterance import Clause
from graph.usecases.plan_resources import UNPUBLISHED
from knowledge.resource_question import ResourceQuestion
from knowledge.types import OfferRows

# From this probability on a message of several clauses, taken together, plans a training.
TOGETHER = 0.6
OF_PLANS = ("method.", "machine.")
OF_SUMS = ("script", "method.", "machine.")
# Topics with an answer of their own, that the sum of the question before is none to.
OF_THEIR_OWN = ("method.scaling", "method.precision", "method.strategy", "machine.compare", "machine.runs",
                "site.charging")  # fmt: skip
# What a sum is of: without one of them, here or before, there is nothing to reckon.
SUMMED = ("model", "flops", "tokens", "hours", "pace_s", "measured_gb", "mtbf_h", "save_gb", "node_hours", "gpu_hours",
          "site_units", "disk_gb", "speed")  # fmt: skip
NO_MODEL = ("largest", "network", "saves", "fastest", "cheapest", "machine")
# Those that are asked beside a sum; `the GPUs have 80 GB there, right?` is part of it.
BESIDE_A_SUM = ("site.storage", "site.internet", "site.transfer", "site.login", "site.account", "site.modules",
                "site.environment", "machine.runs")  # fmt: skip
# `What is tensor parallel?`
MEANS = re.compile(
    r"(?i)\W*(?:(?:and|so|ok|but)\W+)*(?:what(?:'?s| is| are| does)|was (?:ist|sind|hei(?:ß|ss)t|bedeutet)"
    r"|qu'?est[- ]ce que?|c'est quoi|qu[eé] (?:es|significa)|cos'?[eè]|che cos|什么是)(?!\w)"
)
OTHER_ACTS = ("ask", "diagnose", "pending", "mend", "port")
# `Do I need FSDP or is DDP ok?`, and what may be said beside it.
NEEDED = re.compile(
    r"(?i)\b(?:needs?|needed|necessary|enough|ok(?:ay)?|fine|suffic\w+|should|better|brauch\w*|reicht|n[öo]tig|besser|besoin|suffit|mieux"
    r"|necesito|basta|mejor|preciso|chega|melhor|serve|meglio)\b"
)
OF_WAYS = frozenset(("strategy", "model", "machines", "mine", "gpu", "gpu_gb", "gpus", "nodes", "aim", "task"))
# `How many GPU hours does that take?`
HOURS_OF_IT = re.compile(
    r"(?i)\b(?:how (?:many|much)|wie ?viele?|combien|cu[aá]nt[ao]s?|quant[aeio]s?)\b[^.?!\n]{0,25}?"
    r"\b(?:(?:gpu|node|core|knoten|kern)[- ]?(?:hours?|hrs|h|stunden|std)"
    r"|heures?[- ](?:de )?(?:gpu|n[oœ]e?uds?|c[oœ]e?urs?)"
    r"|hor?as?[- ](?:de )?(?:gpu|nodos?|n[oó]s?|n[uú]cleos?)|ore[- ](?:di )?(?:gpu|nod[oi]|core))\b"
)
# What is left of a budget, or was used, is no price.
OF_BUDGET = re.compile(
    r"(?i)\b(?:left|remain\w*|have|had|got|used|spent|budget|balance|allocations?|quota|per (?:month|year|week)"
    r"|[üu]brig|verbraucht|habe\w*|kontingent"
    r"|reste\w*|avons|ai|utilis[ée]\w*|quedan?|tengo|tenemos|gastad\w*|restam?|tenho|temos|rimangono|ho|abbiamo)\b"
)
# What asks for a script, and no sum; words that do so only where no work is said (`what do I write for node hours?`).
WANTS_SCRIPT = re.compile(r"(?i)\b(?:scripts?|sbatch|qsub|bsub|(?:job|batch|submission) files?|port|convert)\b")
WANTS_WRITING = re.compile(
    r"(?i)(?<!\bbefore i )(?<!\bbefore we )(?<!\bbefore they )\b(?:write|submit|generate|create)\b"
)
ASKS = re.compile(
    r"(?i)\b(?:which|what|how (?:many|much|long|big|often)|wie ?viele?|combien|cu[aá]nt[oa]s)\b.{1,40}"
    r"\b(?:should|do|does|can|could|must|would|need|brauch\w*|faut)\b"
)
# Whether a job is taken is asked: `may I submit that with 20 h?`.
ALLOWED = re.compile(r"(?i)\b(?:can|may|could|am) (?:i|we)\b[^.?!]{0,30}\b(?:submit|send|queue|hand in)")
RAN_OUT = re.compile(r"(?i)\b(?:oom\w*|out of memory|runs? out of (?:gpu )?memory)\b")
MACHINES = re.compile(r"(?i)\b(?:which|what|any)\b.{0,20}\b(?:machines?|clusters?|systems?|supercomputers?)\b")
# Aims whose words ask of much else, too; how many words beside a plain aim go on from a question.
VAGUE, FEW_LEFT = ("fit", "cost", "machine", "memory"), 4
# Particles of Chinese, Japanese and Korean between values.
SHORT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,4}")


def as_planning(turn: TurnContext) -> TurnContext:
    """The turn with its message as one question of resources, where it is one; else as it is."""
    if turn.message.scripts or turn.message.logs or turn.message.outputs:
        return turn
    read = replace(turn, utterance=without_interval(turn.utterance))
    if goes_on(read) or is_whole(read):
        turn = read
        words = turn.words
        asked = read_followup(turn.utterance, turn.state.get("resources"))
        act, topic = ("ask", "method.checkpoint") if asked.aim == "saves" and not asked.also else ("plan", "")
        if own := own_topic(read):
            act, topic = "ask", own
        beside = asked_beside(read) if act == "plan" else ()
        text = blanked(words, [(one.start, one.end) for one in beside if one.topic.startswith("site.")])
        plan = Clause(0, len(words), text, act, topic, scope="asked", shares=((act, 1.0),))
        return replace(turn, utterance=replace(turn.utterance, clauses=(plan, *beside)))
    if weighs_machines(turn):
        weighed = Clause(
            0, len(turn.words), turn.words, "ask", "machine.compare", scope="asked", shares=(("ask", 1.0),)
        )
        return replace(turn, utterance=replace(turn.utterance, clauses=(weighed,)))
    if charges_script(turn):
        charged = Clause(0, len(turn.words), turn.words, "ask", "script.cost", scope="asked", confidence=1.0,
                         shares=(("ask", 1.0),), by_rule=True)  # fmt: skip
        return replace(turn, utterance=replace(turn.utterance, clauses=(charged,)))
    return turn


def charges_script(turn: TurnContext) -> bool:
    """`How many GPU hours is that?` of the script that stands, where no other work is named."""
    if turn.script is None or turn.utterance.main.topic.startswith("script.cost"):
        return False
    asked = HOURS_OF_IT.search(turn.words) is not None and OF_BUDGET.search(turn.words) is None
    asked = asked and len(turn.words) <= LONGEST
    return asked and read_question(turn.utterance).said().keys() <= {"aim", "hours", "nodes", "job_h"}


def weighs_machines(turn: TurnContext) -> bool:
    """`Frontier vs Perlmutter for our JAX code`: known machines one of which is to be taken, and no script is named."""
    text = turn.utterance.text
    named = [one for one in turn.utterance.of_kind("Machine") if turn.context.catalogue.find(str(one.value))]
    joined = any(OR.search(text[one.end : other.start]) for one, other in pairwise(named))
    other = turn.utterance.main.act in ("write", "port", "newjob", "chat", "reply", "outside")
    scripted = WANTS_SCRIPT.search(text) or WANTS_WRITING.search(text) or turn.script is not None or turn.pending
    return ((joined and other) or asks_where(turn.utterance)) and not scripted


def own_topic(turn: TurnContext) -> str:
    """What a short question asks that no sum answers: which way (`fsdp?`), what a word means; else empty."""
    said, main = read_question(turn.utterance).said(), turn.utterance.main
    before = turn.state.get("resources") or ResourceQuestion()
    chosen = said.keys() == {"precision", "or_precisions"} or said == {"precision": "fp8"}  # no sum is other for fp8
    lets_choose = pattern("quantities", "alternative").search(turn.words) is not None  # `full precision or mixed?`
    chosen = chosen or (said.keys() == {"precision"} and lets_choose)
    if chosen and "serve" not in (before.task, said.get("task")):
        return "method.precision"  # `bf16 or fp16?`: which to take is asked, and no sum
    ways = {str(one.value) for one in turn.utterance.of_kind("Method")}
    if {"ddp", "fsdp"} <= ways and NEEDED.search(turn.words) and said.keys() <= OF_WAYS:
        return "method.strategy"  # `do I need FSDP or is DDP ok?`: which of them, and no hours or memory
    if said.keys() <= {"strategy"} and main.topic == "method.strategy" and main.confidence >= OWN:
        return main.topic
    defined = MEANS.match(turn.words) and not said.keys() & {"machines", "aim", "model", "tokens"}
    return "concept" if defined and find_terms(turn.words) else ""


def asked_beside(turn: TurnContext) -> tuple[Clause, ...]:
    """Questions of a site or a package that stand beside what the sum is of: each has an answer of its own."""
    asked = (one for one in turn.utterance.clauses if one.act == "ask" and asks_by_form(one))
    return tuple(one for one in asked if one.topic.startswith(BESIDE_A_SUM) and one.confidence >= LEADING)


def is_whole(turn: TurnContext) -> bool:
    """Whether a message is a question of resources by itself: it says what is asked and what its sum takes, wants no
    script, and is surely of nothing else."""
    clauses, said = turn.utterance.clauses, read_question(turn.utterance)
    asks = any(one.scope == "asked" or one.text.rstrip().endswith(MARKS) for one in clauses) or asks_inside(turn.words)
    asks = asks or (said.aim in ("hours", "cost", "jobs") and bool(said.pace_s))
    told = bool(said.model and said.task in ("lora", "qlora") and (said.machines or said.gpu)) and is_terse(turn)
    unpublished = UNPUBLISHED.search(said.model or "") is not None and bool(said.machines or said.gpu or said.gpu_gb)
    if (
        not (asks or said.aim or told or unpublished)
        or wants_script(turn, said)
        or (turn.script is not None and turn.act == "edit")
    ):
        return False
    others = [one for one in clauses if one.act in OTHER_ACTS and not one.topic.startswith(OF_SUMS)]
    elsewhere = any(one.confidence >= OWN for one in others)
    place = bool(said.machines or said.gpu or said.gpu_gb)
    if ran_out(turn, said):
        return True
    if asks and (is_sum(said) or (is_rich(said) and turn.script is None)):
        return True
    of_time = said.aim in (None, "hours", "cost", "jobs", "budget") and asks
    if (said.aim == "saves" and said.mtbf_h) or (said.pace_s and (of_time or (asks and (said.epochs or said.steps)))):
        return True
    if not said.model:
        with_gpu = (said.gpu or said.gpu_gb or said.gpus) and not said.machines and MACHINES.search(turn.words)
        alone = (said.aim == "largest" and place) or (said.aim == "network" and said.machines and said.sequence)
        of_limits = (said.machines or said.job_h) and said.hours and not named_work(turn)
        if said.nodes and said.hours and said.node_hours and not named_work(turn):
            return True
        if of_limits and (said.aim == "jobs" or (said.aim in ("fit", None) and said.nodes)):
            return True
        return bool(with_gpu or alone) and (not elsewhere or bool(with_gpu and said.hours))
    if not find_model(said.model):
        return unpublished
    if told or (said.aim and (said.aim not in VAGUE or said.also) and not elsewhere):
        return True
    together = read_as_one(turn.words, view_of(turn.state)).share("plan") >= TOGETHER
    if (together and len(clauses) > 1) or all(one.act == "ask" for one in clauses):
        return together and len(clauses) > 1
    return not elsewhere


def ran_out(turn: TurnContext, said: ResourceQuestion) -> bool:
    """Whether memory ran out of a training that is told in numbers, so that its sum shows what filled it."""
    sized = bool(said.model and find_model(said.model) and (said.sequence or said.micro_batch))
    place = bool((said.gpu or said.gpu_gb or said.machines) and (said.gpus or said.nodes))
    return sized and place and turn.script is None and RAN_OUT.search(turn.words) is not None


def wants_script(turn: TurnContext, said: ResourceQuestion) -> bool:
    """Whether a script is asked for; `3 minutes to write` is a save's time."""
    left = residue(turn.utterance)
    if said.machines and said.nodes and said.hours and ALLOWED.search(turn.words):
        return False
    of_work = said.aim not in (None, *VAGUE) and (said.tokens or said.flops or said.pace_s)
    return bool(WANTS_SCRIPT.search(left) or (WANTS_WRITING.search(left) and not of_work))


def is_sum(said: ResourceQuestion) -> bool:
    """Whether its amounts alone make a sum: paces or memory seen twice, a batch to divide, arithmetic on a machine."""
    batch = said.global_batch and said.micro_batch and (said.gpus or said.nodes)
    seen = len(said.paces) > 1 or said.points or (said.worker_rate and said.pace_s) or (said.flops and said.machines)
    return bool(seen or (batch and said.aim == "accumulation"))


def is_rich(said: ResourceQuestion) -> bool:
    """Whether a model's size, where it is to run, and what is asked of it or how much it works through are said."""
    place = bool(said.machines or said.gpu or said.gpu_gb or said.gpus)
    asked = (
        said.aim in ("ways", "hybrid", "card", "recompute", "speed", "batch", "checkpoint", "why_not", "cheapest")
        or said.tokens
        or said.flops
        or said.or_gpus
        or (said.aim and (said.task or said.strategy or said.micro_batch or said.sequence))
    )
    nowhere = ("card", "recompute", "checkpoint")  # the same wherever it runs
    return bool(said.model and find_model(said.model) and asked and (place or said.aim in nowhere))


def is_terse(turn: TurnContext) -> bool:
    """`LoRA 70B on 1 node of DeltaAI`: values alone, with no verb and no program, which ask whether that will do."""
    words_left = set(re.findall(r"[^\W\d_][\w']*", residue(turn.utterance).lower()))
    return not turn.pending and words_left <= JOINING and not named_program(turn)


def named_work(turn: TurnContext) -> bool:
    """Whether a program or a way to run one is named: such a message may want a script."""
    return bool(turn.utterance.of_kind("Path", "Method", "Framework", "Model"))


def asks_inside(words: str) -> bool:
    """Whether words ask without a question mark: `..., which gpu type should i ask`."""
    return is_question(words) or ASKS.search(words) is not None


def goes_on(turn: TurnContext) -> bool:
    """Whether, after an answer about resources, the words ask of it again: they name values of such a question or what
    is asked, and little else."""
    state, words = turn.state, turn.words.strip()
    before = state.get("resources") or ResourceQuestion()
    of_plans = state.get("last_act") == "plan" or state.get("last_topic", "").startswith(OF_PLANS)
    of_plans = of_plans or isinstance(turn.pending, OfferRows)  # the plan was told beside another answer
    said = read_question(turn.utterance)
    if not of_plans or len(words) > 2 * LONGEST or wants_script(turn, said):
        return False
    if (said.epochs_done and before.epochs and before.pace_s) or (said.accumulation and before.compute_s):
        return True
    named = [one for one in turn.utterance.mentions if one.kind != "Rank"]
    asks = words.endswith(MARKS) or GOES_ON.match(words) is not None or said.aim is not None
    ordered = turn.utterance.main.share(*WANTING) >= SURE and not words.endswith(MARKS)
    if turn.script is not None and ordered:
        return False  # `ok and make it 4 nodes`, of the script
    rows = isinstance(turn.pending, OfferRows) and said.said()  # a value is asked about, a number alone takes a row
    if (turn.script is not None and not asks) or (
        turn.pending and not rows and answers_what_is_open(turn, asks, named)
    ):
        return False
    if sums_nothing(turn, said, before):
        return False
    queue = bare_queue(turn.utterance.text, before.machines)
    if not said.said() and not queue and not scaled(turn.utterance, before) and not bare_number(turn.utterance, before):
        return False
    left = {
        word for word in re.findall(r"[^\W\d_][\w']*", residue(turn.utterance).lower()) if not SHORT.fullmatch(word)
    }
    left -= JOINING | LEANING | BESIDE
    left -= {queue[0].lower()} if queue else set()
    if times := scaled_words(words):
        left -= set(times.split())
    main = turn.utterance.main
    few_said = len(said.said()) < 2  # `what if I use 16 nodes, scaling 70%?` has a sum to it
    sure_of_it = few_said and main.act == "ask" and main.topic in OF_THEIR_OWN and main.confidence >= SURE
    of_machines = main.topic != "machine.compare" or (said.machines and not said.gpu)  # `A40 or A100 on Alex?` is a sum
    if sure_of_it and of_machines and (left or main.topic != "method.precision"):  # `in fp32?` alone is a value
        return False
    if not left:
        return said.aim != "memory" or not said.machines
    elsewhere = main.act not in ("plan", "chat") and main.confidence >= OWN and not main.topic.startswith(OF_PLANS)
    if said.aim and said.aim not in VAGUE and (turn.script is not None or len(left) <= FEW_LEFT):
        return len(left) <= FEW_LEFT
    if turn.script is None and not named_program(turn) and before.said() and not turn.utterance.of_kind("Option"):
        # With no script in hand only the question can change.
        few = len(said.said().keys() - {"aim", "machines", "also"}) < 2
        other = (
            elsewhere and few and main.act not in ("write", "edit", "reply") and not main.topic.startswith("script.")
        )
        return not other and (asks or not ordered or len(left) <= FEW_LEFT)
    return len(left) == 1 and not elsewhere and bool(said.said())


def sums_nothing(turn: TurnContext, said: ResourceQuestion, before: ResourceQuestion) -> bool:
    """Whether a question of another matter names only a machine, and nothing was said that a sum could be of."""
    main = turn.utterance.main
    given = any(getattr(one, name) for one in (said, before) for name in SUMMED)
    open_to_it = given or said.aim in NO_MODEL or before.aim in NO_MODEL[:3]
    return not open_to_it and main.act == "ask" and bool(main.topic) and main.confidence >= OWN


def named_program(turn: TurnContext) -> bool:
    return bool(turn.utterance.of_kind("Path", "Framework", "Account"))
