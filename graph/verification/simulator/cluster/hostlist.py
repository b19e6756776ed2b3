"""Lists of node names in the bracket form of Slurm and Flux."""

from __future__ import annotations

import re


def expand(text: str) -> list[str]:
    """`nid[001-003,007],login1` as a list of names; digits keep their width."""
    names: list[str] = []
    for part in re.findall(r"[^,\[\]]+(?:\[[^\]]*\][^,\[\]]*)?", text):
        match = re.match(r"([^\[]*)\[([^\]]*)\](.*)", part)
        if not match:
            names.append(part)
            continue
        head, inside, tail = match.groups()
        for piece in inside.split(","):
            low, _, high = piece.partition("-")
            names += [f"{head}{n:0{len(low)}d}{tail}" for n in range(int(low), int(high or low) + 1)]
    return names


def compress(names: tuple[str, ...]) -> str:
    """The bracket form of a run of node names, as SLURM_JOB_NODELIST has it."""
    heads = {re.sub(r"\d+$", "", name) for name in names}
    numbers = [re.search(r"\d+$", name) for name in names]
    if len(names) < 2 or len(heads) != 1 or not all(numbers):
        return ",".join(names)
    texts = [match[0] for match in numbers if match]
    values = [int(text) for text in texts]
    if values != list(range(values[0], values[0] + len(values))):
        return ",".join(names)
    return f"{heads.pop()}[{texts[0]}-{texts[-1]}]"
