"""Fits what each sign of a secret is worth, and writes knowledge/masking_weights.json.

`python -m tests.knowledge.fit_secrets` takes the corpus beside it, bench/accuracy/development/secrets.jsonl, the
sentences of secret_frames.yaml with made-up values in them, and, as texts without any secret, golden scripts, logs,
our pages and Python's own library. With --blind it fits on four fifths of the shapes, for each fifth in turn, and
prints how many secrets of the other are found, and how many of its texts without any are touched.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import sys
import sysconfig
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import re2
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from knowledge.data_file import read_data
from knowledge.masking import CREDENTIALS, by_rules
from knowledge.masking_public import public_parts
from knowledge.masking_scorer import WEIGHTS, looks, seen_in
from tests.knowledge.secrets import CORPUS, HARD, read

ROOT = Path(__file__).parents[2]
# What people ask for: machines, accounts, models and programs beside words like `account`; none holds a secret.
ASKED = (
    "tests/graph/extraction/requests.jsonl",
    "bench/accuracy/blind/requests.jsonl",
    "bench/accuracy/blind/sentences.jsonl",
)
# What people wrote in conversations: none holds a secret but where its words speak of one.
TALKS = ROOT / "bench/accuracy/development/talks.jsonl"
SPEAKS_OF_ONE = re.compile(
    r"(?i)pass|\bpw\b|token|secret|\bkey|hf_|clave|contrase|kennwort|senha|hasło|密码|パスワード|\bcode\b"
)
DEVELOPMENT = ROOT / "bench/accuracy/development/secrets.jsonl"
FRAMES = Path(__file__).with_name("secret_frames.yaml")
CLEAN = (
    *("tests/logs/*/*", "tests/ports/sources/*", "tests/golden/*/*", "tests/graph/debugging/harmless.txt"),
    *("docs/*.md", "*.md", "knowledge/guides/*", "knowledge/cards/*", "knowledge/common_questions/*"),
    *("knowledge/clusters/*", "knowledge/sites/*", "knowledge/schedulers/**/*.yaml", "knowledge/signatures/*.yaml"),
    *("knowledge/causes.yaml", "knowledge/network_env.yaml", "graph/**/*.py", "assistant/**/*.py"),
)
# Drawn for each sentence, and other values put into each labelled text.
DRAWS, OTHERS = 6, 2
# A text of people's own counts so often as one of a program's; what is seen less often than this is left out.
SHARE, OF_FRAMES, OF_HARD, RAREST = 4.0, 2.0, 1.5, 4
STRENGTH, MOST_LINE = 3.0, 2000
TRIGGER = re2.compile(f"(?i){looks()}")
# What the odds must pass: a key that shows is worse than a word that is hidden, but seldom.
BAR = -0.4
MADE_ELSEWHERE = re.compile(r"sk-|hf_|gh[pousr]_|glpat|xox|AKIA|eyJ|-----|AIza|\$\d|npm_|pypi|nvapi")
OF_WORDS = """
    lantern copper meadow osprey velvet thunder birke maison girasol kiwi falcon turnip acorn walnut schnee
    fenetre pomelo harbour cactus juniper willow tiger dandelion gherkin azalea heron larkspur summer winter dragon
    monkey sunshine letmein qwerty welcome shadow orange banana hello master silver purple coffee chocolate guitar
    mountain river ocean forest autumn sommer hiver verano inverno zima leto biblioteka passwort1 secret1 geheim
    schmetterling tournesol mariposa farfalla vlinder motyl perhonen trout nutmeg milkweed bistort harebell selfheal
    sneezewort orpine stonechat snowdrop gooseberry fennel walnut daisy tundra hedgehog gardengate admin changeme
    batman football baseball princess flower cheese butter pepper ginger cookie garlic basil thyme parsley clover
    harborrocket bluebird redfox blackcat whitewolf greenapple oldtown newmoon highhill lowtide drybread wetpaint
"""
WORDS = OF_WORDS.split()
OF_TERMS = """
    loss rank optimizer gradient scheduler attention encoder batch epoch partition module dataset trainer
    sampler kernel queue buffer linear shard config default online offline basic kerberos munge
"""
TERMS = OF_TERMS.split()
OF_KNOWN = """
    meta-llama/Llama-3.1-8B Qwen/Qwen2.5-72B-Instruct gpt2-medium resnet50 bert-base-uncased ZeRO-3
    SqrtBackward0 int64 fp16 vit_l16 AddmmBackward0 sm_90 KeePassXC bfloat16
"""
KNOWN = OF_KNOWN.split()
OF_FILES = """
    /home/ada/.ssh/id_rsa conf/db.yaml ~/.netrc ckpt_12.pt train.py /scratch/x/model-00001.bin k.pub
"""
FILES = OF_FILES.split()
HEX, ALNUM = "0123456789abcdef", string.ascii_letters + string.digits
dice = random.Random(3)


class Text(NamedTuple):
    """shape: texts of one are never parted into fitted and tried."""

    text: str
    secrets: tuple[str, ...]
    shape: str
    weight: float = 1.0


class Seen(NamedTuple):
    features: tuple[str, ...]
    secret: bool
    number: int


def drawn(letters: str, shortest: int, longest: int) -> str:
    return "".join(dice.choice(letters) for _ in range(dice.randint(shortest, longest)))


def password() -> str:
    word, other, sign = dice.choice(WORDS), dice.choice(WORDS), dice.choice("!#-_.*?%+@&$")
    made = (
        f"{word}{dice.randint(1, 9999)}",
        f"{word.title()}{sign}{dice.randint(1, 999)}",
        f"{word.title()}{sign}{other}{dice.choice(('', '', '7', '42'))}",
        f"{word}{sign}{other.title()}",
        f"{word.title()}{other.title()}{dice.choice(('', '3', '11'))}",
        f"{word.title()}{dice.randint(1, 99)}{dice.choice('!?#*')}",
        f"{word.title()}@{dice.choice((other, ''))}{dice.randint(1, 9999)}",
        drawn(ALNUM, 7, 11) + "7",
        drawn(ALNUM + "!#%*-_+", 8, 14) + "x4",
    )
    return dice.choice(made)


def value(slot: str) -> str:
    """A made-up value for a slot of a frame."""
    term, other = dice.choice(TERMS), dice.choice(TERMS)
    capitals = string.ascii_uppercase + string.digits
    joined = (
        f"{term}_{other}",
        f"{term}-{other}",
        term.title() + other.title(),
        f"{term}.{other}",
        f"{term}{other[:1]}7",
    )
    half = drawn("123456789", 3, 3)
    numbers = (drawn("123456789", 4, 4), drawn("123456789", 6, 6), f"{half} {half[::-1]}", drawn("123456789", 5, 8))
    made = {
        "m": password,
        "r": lambda: (
            str(uuid.UUID(int=dice.getrandbits(128)))
            if dice.random() < 0.1
            else drawn(dice.choice((ALNUM, ALNUM + "_-", "abcdefghi0123456789", HEX)), 16, 42) + "7"
        ),
        "h": lambda: "".join(dice.choice(HEX) for _ in range(dice.choice((24, 32, 40, 64)))),
        "w": lambda: dice.choice((dice.choice(WORDS), dice.choice(WORDS).title(), "".join(dice.sample(WORDS, 2)))),
        "b": lambda: base64.b64encode(password().encode() + b"!" * dice.randint(0, 2)).decode(),
        "U": lambda: str(uuid.UUID(int=dice.getrandbits(128))),
        "K": lambda: drawn(capitals, 16, 20),
        "c": lambda: dice.choice(
            (drawn(capitals, 6, 6), f"{drawn(capitals, 3, 3)}-{drawn(capitals, 3, 4)}", drawn(capitals, 8, 8))
        ),
        "d": lambda: (
            ".".join(dice.sample(WORDS, dice.randint(2, 3)))
            if dice.random() < 0.5
            else ".".join(dice.sample(WORDS, 2)).title()
        ),
        "p": lambda: " ".join(dice.sample(WORDS, dice.randint(2, 4))) + dice.choice(("", "", " 7")),
        "n": lambda: dice.choice(numbers),
        "g": lambda: "-".join(drawn(capitals, 4, 4) for _ in range(dice.randint(2, 5))),
        "k": lambda: "-".join(dice.sample(WORDS, dice.randint(2, 4))) + dice.choice(("", "", "7")),
        "host": lambda: (
            dice.choice(("gpu", "node", "login", "nid", "cn-", "db", "jwb", "frontier", "polaris", "juwels"))
            + dice.choice(("", "0"))
            + drawn("0123456789", 1, 4)
        ),
        "ver": lambda: ".".join(str(dice.randint(0, 24)) for _ in range(dice.choice((2, 3)))),
        "id": lambda: dice.choice(
            ("-".join(drawn(HEX, n, n) for n in (8, 4, 4, 4, 12)), drawn(HEX, 8, 8), drawn("123456789", 6, 8))
        ),
        "hash": lambda: "".join(dice.choice(HEX) for _ in range(dice.choice((7, 12, 32, 40, 64)))),
        "word": lambda: term,
        "int": lambda: str(dice.choice((dice.randint(0, 99), dice.randint(100, 99999), 2 ** dice.randint(3, 20)))),
        "model": lambda: dice.choice(KNOWN),
        "file": lambda: dice.choice(FILES),
        "name": lambda: dice.choice(joined),
    }
    return made[slot]()


SLOT = re.compile(r"\{(m|r|h|w|n|g|k|b|p|U|K|c|d|host|ver|id|hash|word|int|model|file|name)\}")


def filled(frame: str, shape: str, secret: bool) -> Text:
    hidden: list[str] = []

    def put(found: re.Match[str]) -> str:
        made = value(found[1])
        if found[1] == "m" and frame[found.start() - 1] in "\"'" and dice.random() < 0.2:
            made += dice.choice(";,|(& ") + dice.choice(WORDS)
        if len(found[1]) == 1:
            hidden.append(made)
        return made

    return Text(SLOT.sub(put, frame), tuple(hidden) if secret else (), shape, OF_FRAMES)


def with_others(text: Text) -> Iterator[Text]:
    """A labelled text, and the same with other secrets in it."""
    yield text
    for _ in range(OTHERS if text.secrets else 0):
        changed, secrets = text.text, []
        for secret in text.secrets:
            fixed = MADE_ELSEWHERE.match(secret) or len(secret) > 60 or changed.count(secret) != 1
            other = secret if fixed or secret.isdigit() or re.search(r"\s", secret) else password()
            changed = changed.replace(secret, other)
            secrets.append(other)
        if changed != text.text:
            yield Text(changed, tuple(secrets), text.shape, 1.0)


def labelled() -> Iterator[Text]:
    for path, share in ((CORPUS, SHARE), (HARD, OF_HARD)):
        for case in read(path):
            own = (case.secret,) if case.secret else ()
            yield Text(case.text, own, case.shape if own else case.text[:12], share)
    for number, line in enumerate(DEVELOPMENT.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        own = tuple(row.get("secrets", ()))
        yield Text(row["text"], own, f"development {number}", SHARE)


def texts() -> Iterator[Text]:
    for text in labelled():
        yield from with_others(text)
    for kind, frames in read_data(FRAMES).items():
        for number, frame in enumerate(frames):
            yield from (filled(frame, f"{kind} {number}", kind == "secret") for _ in range(DRAWS))
    for pattern in CLEAN:
        for path in sorted(path for path in ROOT.glob(pattern) if path.is_file() and path.name != "security.md"):
            yield Text(path.read_text(errors="replace"), (), str(path), 1.0 if path.suffix == ".py" else SHARE)
    for name in ASKED:
        said = (json.loads(line).get("text", "") for line in (ROOT / name).read_text(encoding="utf-8").splitlines())
        yield from (Text(text, (), name, SHARE) for text in said if "password" not in text.lower())
    for line in TALKS.read_text(encoding="utf-8").splitlines():
        said = (turn["say"] for turn in json.loads(line)["turns"])
        yield from (Text(text, (), "talks", SHARE) for text in said if not SPEAKS_OF_ONE.search(text))
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.glob("**/*.py")):
        if not {"test", "tests", "site-packages", "lib2to3", "ensurepip"} & set(path.parts):
            yield Text(path.read_text(errors="replace"), (), path.name)


def seen_of(text: Text, number: int) -> Iterator[Seen]:
    """Each candidate of a text with its label; none that a rule hides or that is public, nor a part of a secret."""
    whole = text.text
    secret = [found.span() for one in text.secrets for found in re.finditer(re.escape(one), whole)]
    public = list(public_parts(whole, [(0, len(whole))])) if len(whole) < 20_000 else []
    other = [span[:2] for span in by_rules(whole, CREDENTIALS[:-1])] if secret else []
    for one, last, features in seen_in(whole, list(told(whole))):
        over = next(((a, b) for a, b in secret if one < b and a < last), None)
        if over:
            a, b = over
            if (one <= a and last >= b and last - one - (b - a) <= 2) or (
                one >= a and last <= b and last - one >= 0.6 * (b - a)
            ):
                yield Seen(tuple(features), True, number)
            elif one <= a and last >= b:  # the secret with what stands around it
                yield Seen(tuple(features), False, number)
        elif not any(a <= one and last <= b for a, b in public) and not any(a < last and one < b for a, b in other):
            yield Seen(tuple(features), False, number)


def told(text: str) -> Iterator[tuple[int, int]]:
    """The lines of a text that the sum looks at."""
    start = 0
    for line in text.split("\n"):
        if TRIGGER.search(line[:MOST_LINE]):
            yield start, start + min(len(line), MOST_LINE)
        start += len(line) + 1


def matrix(seen: list[Seen]) -> tuple[list[str], csr_matrix]:
    counts = Counter(name for one in seen for name in set(one.features))
    names = sorted(name for name, count in counts.items() if count >= RAREST)
    at = {name: column for column, name in enumerate(names)}
    rows = [sorted({at[name] for name in one.features if name in at}) for one in seen]
    ends = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int32)
    columns = np.array([column for row in rows for column in row], dtype=np.int32)
    return names, csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), len(names)))


def main() -> None:
    every = list(texts())
    seen = [one for number, text in enumerate(every) for one in seen_of(text, number)]
    names, table = matrix(seen)
    labels = np.array([one.secret for one in seen])
    shares = np.array([every[one.number].weight for one in seen])
    model = LogisticRegression(C=STRENGTH, max_iter=500, solver="liblinear")
    if "--blind" in sys.argv:
        odds = np.zeros(len(seen))
        shapes = np.array([every[one.number].shape for one in seen])
        for fitted, tried in GroupKFold(5).split(table, labels, shapes):
            model.fit(table[fitted], labels[fitted], shares[fitted])
            odds[tried] = model.decision_function(table[tried])
        found = odds[labels] > BAR
        print(f"{found.sum()} of {len(found)} secrets found")
        clean = {
            number
            for number, text in enumerate(every)
            if text.weight == SHARE and not text.secrets and text.shape[0] != "/"
        }
        touched = {one.number for one, odd in zip(seen, odds, strict=True) if not one.secret and odd > BAR} & clean
        print(f"{len(touched)} of {len(clean)} texts without any touched")
        return
    model.fit(table, labels, shares)
    weights = {name: round(100 * weight) for name, weight in zip(names, model.coef_[0], strict=True)}
    kept = {name: weight for name, weight in weights.items() if abs(weight) >= 8}
    fitted_model = {"bias": round(100 * (model.intercept_[0] - BAR)), "weights": kept}
    WEIGHTS.write_text(json.dumps(fitted_model, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{len(kept)} weights of {len(seen)} candidates")


if __name__ == "__main__":
    main()
