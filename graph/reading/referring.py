"""Orders that have no content of their own and point at what was told before: `fix it`, `ok put that in`, `behebe das`.

Such an order is known by its words being of closed classes: a word of doing, and besides it only fillers, pronouns, and
names of the thing that was told of. What a message says beside it stands for itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from knowledge.word_lists import word_set
from knowledge.wording import stems

DOING = word_set(
    "fix mend repair correct cure patch solve resolve apply do make implement put add include insert incorporate use "
    "take update change adapt adjust edit behebe beheb repariere reparier korrigiere korrigier mach übernimm setz füg "
    "füge ändere ändre corrige corrigez corriger répare applique appliquez appliquer fais faites mets change modifie "
    "arregla arréglalo arreglalo corrígelo corrigelo aplica aplícalo aplicalo hazlo haz pon ponlo cambia modifica "
    "correggi correggilo aggiusta sistema sistemalo applica applicalo fallo metti mettilo"
)
FILLERS = word_set(
    "ok okay yes yep yeah sure please pls then now just so also too again well great good thanks thank you can could "
    "would will i me us we i'd like want to go ahead for the a an of my our your in into on with here there and back "
    "mal bitte ja dann jetzt doch auch gut das den die der im ins mir uns mein meine meinem kannst könntest du ihr "
    "oui alors maintenant le la les l ce cela ça ceci mon ma mes dans s'il te vous plaît plait peux pouvez tu d'accord "
    "sí si por favor entonces ahora lo eso esto esta mi en el al puedes bien va bene adesso ora per favore il lo nel"
)
THINGS = word_set(
    "it that this them these script job file error errors problem issue failure fault bug cause fix cure change "
    "changes mend correction corrections solution suggestion suggestions advice step steps line lines both all "
    "command python srun torchrun launch call "
    "everything work works run runs start starts pass es dies skript fehler problem lösung vorschlag änderung erreur "
    "problème version solution changement correction error problema solución cambio arreglo corrección errore "
    "soluzione modifica"
)
# `Give me the corrected script`: both belong to it, for `that fixed it` is none.
GIVES, MENDED = (
    word_set("give send show print post write"),
    word_set("corrected fixed mended repaired cured updated working"),
)
CHINESE = re.compile(
    r"(?:请|帮我|把|将|它|脚本|问题|错误|这个|那个?|就|好的?|吧|了|一下|修复|修改|修正|修好?|改好?|应用|照做|这样)+"
)
CHINESE_DOING = re.compile(r"修|改|应用|照做")
POLITE = word_set("can could would will kannst könntest peux pouvez puedes puoi")
PIECES = re.compile(
    r"\s*(?:[,;.!\uff0c\u3002\uff01]+(?!\S)|(?<!\w)(?:and|und|et|y|e|but|aber|mais|pero|then|plus)(?!\w))\s*", re.I
)
# What stands in no order of this kind: a number, an option, a path.
OTHER = re.compile(r"\d|[^\s\w'\u2019?\uff1f-]")
# Words that want their object: alone they say nothing.
ALONE = word_set("make do put add use take set change edit include insert mach fais haz pon fallo")
WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class Referring:
    """The order's own words, and what the message says beside it (empty: nothing)."""

    words: str
    rest: str


def referring_order(words: str, told: Collection[str] = ()) -> Referring | None:
    """The order that points at what was told before; None where there is none.

    told: stems of what was told, whose words name it as well (`fix the time`).
    """
    pieces = [piece.strip() for piece in PIECES.split(words) if piece.strip()]
    orders = [piece for piece in pieces if is_referring(piece, told)]
    if not orders:
        return None
    rest = [piece for piece in pieces if piece not in orders and not is_filler(piece)]
    return Referring(" ".join(orders), ", ".join(rest))


def is_referring(piece: str, told: Collection[str]) -> bool:
    bare = piece.strip(" ?\uff1f")
    if CHINESE.fullmatch(bare):
        return CHINESE_DOING.search(bare) is not None and bare == piece
    found = [word.lower().replace("\u2019", "'") for word in WORD.findall(bare)]
    gives = bool(GIVES & set(found) and MENDED & set(found))
    if not found or OTHER.search(piece) or not (gives or DOING & set(found)):
        return False
    if bare != piece and not POLITE & set(found):
        return False  # a question, not an order
    closed = DOING | FILLERS | THINGS | (GIVES | MENDED if gives else set())
    pointing = len(found) > 1 or found[0] not in ALONE
    return pointing and all(word in closed or stems(word) & set(told) for word in found)


def is_filler(piece: str) -> bool:
    return all(word.lower() in FILLERS for word in WORD.findall(piece)) and not OTHER.search(piece)


def says_nothing(piece: str) -> bool:
    """Whether words are only of closed classes and things in hand: `into the script then`."""
    words = [word.lower() for word in WORD.findall(piece)]
    return bool(words) and not OTHER.search(piece) and all(word in FILLERS or word in THINGS for word in words)
