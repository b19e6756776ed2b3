"""A constraint that no node meets, beside what the nodes of the paste have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from graph.waiting.amounts import amount, on_one_node, size, spoken_amount
from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.nodes_seen import in_queue
from graph.waiting.spoken import listed

CONSTRAINT = re.compile(
    r"(?:#SBATCH|\b(?:sbatch|srun|salloc))\b(?:[^\n]{0,200}?)\s(?:-C|--constraint)[ =]*[\"']?([\w.|&*,\[\]()-]+)"
)


def missing_feature(case: WaitCase) -> WaitingNote | None:
    """The constraint that no node meets."""
    if case.found.reason.word == "resource requirements" and (wanted := case.job.printed("Requested Resources")):
        return WaitingNote(f'It asks for `-R "{wanted}"`.')
    said = CONSTRAINT.search(case.text)
    asked = case.job.printed("Features") or (said[1] if said else "")
    if asked and case.found.reason.word == "BadConstraints" and (missing := not_on_nodes(case, asked)):
        rows = own_rows(case)
        facts = (Fact("no-node-has", asked), Fact("nodes-have", features_with_nodes(rows).replace(" and ", ", ")))
        return WaitingNote(missing, fill={"FEATURE": like_it(case, asked) or "<FEATURE>"}, facts=facts)
    if case.found.reason.word != "BadConstraints" or asked in ("", "(null)"):
        return None
    partition = f" of {case.job.queue}" if case.job.queue else " of the partition"
    if lacking := not_together(case, asked):
        return lacking
    return WaitingNote(
        f"It asks for `{asked}` (Features): no node{partition} has that, or not together with the rest of the request.",
        fill={"FEATURE": "<FEATURE>"},
        facts=(Fact("no-node-has", asked),),
    )


def gpu_type(case: WaitCase) -> str:
    """The GPU type that the job asks for by name."""
    found = re.search(r"gpu:([A-Za-z][\w.-]*)", " ".join(value for _, value in case.job.fields))
    return found[1] if found else ""


def lacking(case: WaitCase, words: Sequence[str], row: Mapping[str, str]) -> list[str]:
    """What nodes of a row of sinfo do not have of the request: words of the constraint, its GPU type, memory, cores."""
    kind, need, has = gpu_type(case), on_one_node(case), row["AVAIL_FEATURES"].split(",")
    lacks = [f"`{word}`" for word in words if word not in has]
    lacks += [f"a GPU of type {kind}"] if kind and kind not in row.get("GRES", kind) else []
    sizes = {"mem": size(row.get("MEMORY", "")), "cpu": amount("cpu", row.get("CPUS", "").rstrip("+"))}
    return [*lacks, *(spoken_amount(of, need[of]) for of, most in sizes.items() if most and need.get(of, 0) > most)]


def not_together(case: WaitCase, asked: str) -> WaitingNote | None:
    """Where each word of the constraint is on some node: what each kind of node lacks of the whole request."""
    rows = [row for row in own_rows(case) if row.get("AVAIL_FEATURES")]
    words = re.findall(r"[A-Za-z_][\w.-]*", asked)
    lacks = [lacking(case, words, row) for row in rows]
    if not rows or "|" in asked or not all(lacks):
        return None
    told = []
    for row, without in zip(rows, lacks, strict=True):
        what = ", ".join(filter(None, (row.get("GRES", "").replace("(null)", ""), row["AVAIL_FEATURES"])))
        told.append(f"{row.get('NODELIST') or row.get('HOSTNAMES') or 'some'} ({what}) lack {listed(without)}")
    kind = gpu_type(case)
    says = f"It asks for `{asked}`{f' and a GPU of type {kind}' if kind else ''}, and no node has all of it: "
    fill = {"FEATURE": word_of_gpu(rows, kind) or "<FEATURE>"}
    facts = (Fact("no-node-has", asked + (f", gpu:{kind}" if kind else "")),)
    return WaitingNote(f"{says}{'; '.join(told)}.", fill=fill, facts=facts)


def word_of_gpu(rows: Sequence[Mapping[str, str]], kind: str) -> str:
    """The one word that only nodes with that GPU have; empty where it is none or several."""
    here, elsewhere = set[str](), set[str]()
    for row in rows:
        (here if kind and kind in row.get("GRES", "") else elsewhere).update(row["AVAIL_FEATURES"].split(","))
    own = here - elsewhere
    return next(iter(own)) if len(own) == 1 else ""


def own_rows(case: WaitCase) -> list[Mapping[str, str]]:
    """The rows of sinfo that are of its partition, or may be where that is not told."""
    return [row for row in case.rows("sinfo") if in_queue(row.get("PARTITION", case.job.queue), case)]


def bare_word(word: str) -> str:
    """The word without the marks between its parts, which are easily taken for each other."""
    return re.sub(r"[\W_]", "", word).lower()


def like_it(case: WaitCase, asked: str) -> str:
    """The word that nodes have and that is nearest: one that begins alike, else their one GPU name; empty: several."""
    from graph.waiting.elsewhere import GPU_NAME

    rows, plain = own_rows(case), bare_word(asked)
    have = {word for row in rows for word in row.get("AVAIL_FEATURES", "").split(",") if word}
    same = {word for word in have if bare_word(word).startswith(plain) or plain.startswith(bare_word(word))}
    # `a100_80gb` is `a100-80g` sooner than `a100`: of several beginnings the longest.
    near = (
        {max(same, key=len)}
        if len(same) == len({len(word) for word in same}) > 1 and max(map(len, same)) <= len(asked)
        else same
    )
    gpus = {word for word in have if GPU_NAME.search(word)} if GPU_NAME.fullmatch(asked) else set()
    return next(iter(near)) if len(near) == 1 else next(iter(gpus)) if not near and len(gpus) == 1 else ""


def features_with_nodes(rows: Sequence[Mapping[str, str]]) -> str:
    """Which nodes have which words, with their state where it was printed: `a100 (g01 idle, g02 mix)`."""
    found: dict[str, list[str]] = {}
    for row in rows:
        name = " ".join(filter(None, (row.get("NODELIST") or row.get("HOSTNAMES"), row.get("STATE"))))
        for word in row.get("AVAIL_FEATURES", "").split(","):
            if word not in ("", "(null)"):
                found.setdefault(word, []).append(name)
    return listed([f"{word}{f' ({listed(names)})' if all(names) else ''}" for word, names in sorted(found.items())], 8)


def not_on_nodes(case: WaitCase, asked: str) -> str:
    """The words of its constraint that no node of its partition has, where sinfo printed what they have."""
    rows = own_rows(case)
    have = {word for row in rows for word in row.get("AVAIL_FEATURES", "").split(",") if word not in ("", "(null)")}
    lacks = [word for word in re.findall(r"[A-Za-z_][\w.-]*", asked) if word not in have]
    if not have or not lacks:
        return ""
    no_node = f"{listed(lacks)} {'is' if len(lacks) == 1 else 'are'} on no node shown"
    return f"It asks for `{asked}`: {no_node}; they have {features_with_nodes(rows)}."
