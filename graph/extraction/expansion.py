"""Expands shell words in an environment of values, as the shell would, as far as the text alone allows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from graph.extraction.amounts import JOB_NODES, amount_of_command, amount_of_name, arithmetic, lists_hosts
from graph.extraction.shell_values import (
    Array,
    AssociativeArray,
    BranchValue,
    FieldBuilder,
    Scalar,
    Value,
    chosen,
    edited,
    field_amount,
)
from graph.extraction.shell_words import (
    PLAIN_RUN,
    Atom,
    Field,
    Piece,
    atoms,
    is_computed,
    is_known,
    join_fields,
    literal,
    plain,
    split_words,
)

# Set by the scheduler or the site before the script runs: a default beside them is not what happens.
GIVEN = re.compile(
    r"(SLURM|SLURMD|PBS|LSB|LS|FLUX|OMPI|PMI|PMIX|COBALT|MPI|PALS|NERSC)_\w+|HOME|USER|LOGNAME|PWD|HOSTNAME|SCRATCH|PSCRATCH"
    r"|TMPDIR|WORK|PROJECT|RANDOM|UID|SECONDS|PATH|LD_LIBRARY_PATH|PYTHONPATH"
)
PARAMETER = re.compile(
    r"(?P<mark>[#!]?)(?P<name>[A-Za-z_]\w*|[0-9]+|[@*#?$!-])"
    r"(?:\[(?P<index>(?:[^][]|\[[^]]*\])*)\])?(?P<rest>.*)",
    re.S,
)
OPERATOR = re.compile(r"(:?[-=+?]|##?|%%?|//?|\^\^?|,,?|:)(.*)", re.S)


@dataclass(slots=True)
class Environment:
    """The variables at one point of the script. positional is None for the script's own, unknown arguments.

    kept names stay as written in words, so that a script can be written anew with them; conditions see their values.
    """

    values: dict[str, Value] = field(default_factory=dict)
    positional: tuple[Field, ...] | None = None
    kept: frozenset[str] = frozenset()

    def copy(self) -> Environment:
        return Environment(dict(self.values), self.positional, self.kept)

    def resolved(self) -> Environment:
        """The same variables, none of them kept as a name."""
        return Environment(self.values, self.positional) if self.kept else self

    def expand(self, text: str) -> list[Field]:
        """The fields that one raw word becomes: none, one, or several."""
        if text and PLAIN_RUN.fullmatch(text):
            return [literal(text)]
        builder = FieldBuilder()
        for atom in atoms(text):
            if atom.kind == "text":
                builder.text(atom.text, atom.quoted)
            else:
                builder.fields(self.expand_atom(atom), atom.quoted)
        return builder.done()

    def expand_words(self, words: list[str]) -> list[Field]:
        return [made for word in words for made in self.expand(word)]

    def expand_whole(self, text: str, heredoc: bool = False) -> Field:
        """The text with its expansions done and no splitting: an assignment's right side, or a heredoc's body."""
        pieces: list[Piece] = []
        parts = list(atoms(text, heredoc))
        filled = [atom for atom in parts if atom.text or atom.kind != "text"]
        if len(filled) == 1 and filled[0].kind == "command":
            return self.printed(filled[0])
        for atom in parts:
            if atom.kind == "text":
                pieces.append(Piece(atom.text, quoted=True))
            else:
                pieces += join_fields(self.expand_atom(atom))
        return tuple(piece for piece in pieces if piece.text)

    def expand_atom(self, atom: Atom) -> list[Field]:
        if atom.kind == "parameter":
            return self.parameter(atom)
        if atom.kind == "command":
            return [self.command(atom)]
        return [self.arithmetic(atom)]

    def arithmetic(self, atom: Atom) -> Field:
        amount = self.amount(atom.text)
        known = arithmetic(amount, {})
        if known is not None:
            return literal(str(known), True)
        return (Piece(atom.written, True, atom.quoted, amount),)

    def amount(self, expression: str) -> str:
        """The arithmetic with every name replaced by its number or its fact; empty where one is unknown."""
        out: list[str] = []
        for atom in atoms(expression):
            if atom.kind == "text":
                out.append(re.sub(r"[A-Za-z_]\w*", lambda m: self.amount_of(m[0]) or "UNKNOWN", atom.text))
            else:
                out.append(field_amount(join_fields(self.expand_atom(atom))) or "UNKNOWN")
        text = "".join(out)
        return "" if "UNKNOWN" in text else text

    def amount_of(self, name: str) -> str:
        value = self.values.get(name)
        if value is None:
            return amount_of_name(name)
        return field_amount(self.shown(value, Piece(f"${name}", True)))

    def command(self, atom: Atom) -> Field:
        """What a command substitution prints, for the few commands whose output the text tells."""
        text = atom.text.strip()
        found = re.fullmatch(r"(?:which|command -v|type -p)\s+([\w.-]+)(?:\s*2>\s*/dev/null)?", text)
        if found:
            return literal(found[1])
        document = re.match(r"cat\s*<<(-?)\s*(['\"]?)(\w+)\2[^\n]*\n(.*?)\n?[\t ]*\3\s*$", text, re.S)
        if document:
            body = re.sub(r"(?m)^\t+", "", document[4]) if document[1] else document[4]
            return literal(body, True) if document[2] else self.expand_whole(body, heredoc=True)
        counted = re.fullmatch(r"(?:expr\s+(.+)|echo\s+\"?([^|\"]+)\"?\s*\|\s*bc(?:\s+-l)?)", text)
        if counted:
            amount = self.amount((counted[1] or counted[2]).replace("\\", ""))
            known = arithmetic(amount, {})
            return literal(str(known)) if known is not None else (Piece(atom.written, True, atom.quoted, amount),)
        return (Piece(atom.written, True, atom.quoted, amount_of_command(text)),)

    def printed(self, atom: Atom) -> Field:
        """A value that is one command substitution and nothing else: there `echo` is followed too."""
        echoed = re.fullmatch(r"echo\s+([^|;&<>()`\\]+)", atom.text.strip())
        return join_fields(self.expand_words(split_words(echoed[1]))) if echoed else self.command(atom)

    def parameter(self, atom: Atom) -> list[Field]:
        """What `$NAME` or `${NAME...}` becomes; as written where the script does not tell."""
        found = PARAMETER.fullmatch(atom.text)
        as_written = Piece(atom.written, True, atom.quoted)
        if not found:
            return [(as_written,)]
        name, index, rest = found["name"], found["index"], found["rest"]
        if name in self.kept and name in self.values and not (found["mark"] or index or rest):
            return [(as_written,)]
        if found["mark"] == "#" and not rest:
            return [self.length(name, index, as_written)]
        if found["mark"] == "!":
            pointed = self.values.get(name)
            if not isinstance(pointed, Scalar) or not is_known(pointed.field):
                return [(as_written,)]
            name = plain(pointed.field)
        base = self.looked_up(name, index, as_written)
        return self.operated(name, base, rest, as_written) if rest else (base if base is not None else [(as_written,)])

    def length(self, name: str, index: str | None, as_written: Piece) -> Field:
        value = self.values.get(name)
        if isinstance(value, Array) and index in ("@", "*"):
            if all(is_known(f) for f in value.fields):
                return literal(str(len(value.fields)))
            if any(lists_hosts(plain(f)) for f in value.fields):
                return (Piece(as_written.text, True, as_written.quoted, JOB_NODES),)
        if isinstance(value, Scalar) and is_known(value.field):
            return literal(str(len(plain(value.field))))
        return (as_written,)

    def looked_up(self, name: str, index: str | None, as_written: Piece) -> list[Field] | None:
        """The fields of a name; None where the script never gave it a value."""
        if name in "@*" or name.isdigit():
            return self.argument(name)
        value = self.values.get(name)
        if value is None:
            amount = amount_of_name(name)
            return [(Piece(as_written.text, True, as_written.quoted, amount),)] if GIVEN.fullmatch(name) else None
        if isinstance(value, Array) and index in ("@", "*"):
            return list(value.fields)
        if isinstance(value, Array):
            at = arithmetic(self.amount(index or "0"), {})
            if at is None or not all(is_known(f) for f in value.fields):
                return [(as_written,)]
            return [value.fields[at]] if -len(value.fields) <= at < len(value.fields) else [()]
        if isinstance(value, AssociativeArray):
            key = plain(self.expand_whole(index or ""))
            return [dict(value.entries).get(key, (as_written,))]
        return [self.shown(value, as_written)]

    def argument(self, name: str) -> list[Field] | None:
        if self.positional is None:
            return None
        if name in "@*":
            return list(self.positional[1:])
        return [self.positional[int(name)]] if int(name) < len(self.positional) else [()]

    def shown(self, value: Value, as_written: Piece) -> Field:
        """A value as it appears in a word: its text, or the name as written where the run decides it."""
        if isinstance(value, BranchValue):
            return chosen(value, as_written)
        if isinstance(value, Array):
            return value.fields[0] if value.fields else ()
        if isinstance(value, AssociativeArray):
            return (as_written,)
        if not is_computed(value.field) or re.search(r"\S\s+\S", plain(value.field, "X")):
            return value.field
        return (Piece(as_written.text, True, as_written.quoted, field_amount(value.field)),)

    def operated(self, name: str, base: list[Field] | None, rest: str, as_written: Piece) -> list[Field]:
        """The value after an operator such as `:-default`, `%suffix` or `/a/b`."""
        found = OPERATOR.fullmatch(rest)
        if not found:
            return [(as_written,)]
        sign, word = found[1], found[2]
        missing = base is None or (sign.startswith(":") and base == [()])
        if sign in (":-", "-", ":=", "=", ":+", "+", ":?", "?"):
            if sign[-1] == "+":
                known = base is not None and base != [()] and all(is_known(f) for f in base)
                return [self.expand_whole(word)] if known else [(as_written,)]
            if missing and sign[-1] in "-=":
                default = self.expand_whole(word)
                if sign[-1] == "=":
                    self.values[name] = Scalar(default)
                return [default]
            return base if base is not None and not missing else [(as_written,)]
        if sign == "%" and base and len(base) == 1 and base[0] and not base[0][-1].open and not is_known(base[0]):
            end = edited(base[0][-1].text, sign, plain(self.expand_whole(word)))
            return [(*base[0][:-1], *(Piece(p.text, quoted=base[0][-1].quoted) for p in end))]
        if base is None or not all(is_known(f) for f in base):
            return [(as_written,)]
        return [edited(plain(f), sign, plain(self.expand_whole(word))) for f in base] if base else []
