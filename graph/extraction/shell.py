"""Reads a shell script the way a shell would run it, without running it.

tree-sitter-bash parses; this module walks the tree with an environment of values: assignments, defaults, arrays,
functions, loops, branches, heredocs, and text handed to other shells (`bash -c`, `ssh`, `eval`, `sbatch <<EOF`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tree_sitter import Node

from graph.extraction import shell_commands
from graph.extraction.commands import Assignment, Command, InnerJob, Place, WrittenFile, mark_exported
from graph.extraction.conditions import decide, matches, settled
from graph.extraction.expansion import Environment
from graph.extraction.shell_merging import array_value, bounded, bounded_value, merge, merged_value
from graph.extraction.shell_tree import adjacent_words, descendants, faulty, if_parts, parse_affordable, text_of
from graph.extraction.shell_values import AssociativeArray, BranchValue, Scalar, Value
from graph.extraction.shell_words import Field, Piece, is_known, literal, plain

# What is read of a script, its functions' calls and its written files; honest ones have hundreds.
MOST_COMMANDS, MOST_WORDS = 4_000, 15_000
DEEPEST = 12


@dataclass(slots=True)
class ShellReader:
    """Collects what a script does."""

    commands: list[Command] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    documents: dict[str, WrittenFile] = field(default_factory=dict)
    jobs: list[InnerJob] = field(default_factory=list)
    sourced: list[tuple[int, str]] = field(default_factory=list)
    errors: list[tuple[int, str]] = field(default_factory=list)
    functions: dict[str, tuple[Node, int]] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    group_target: str = ""
    calls_left: int = 2_000
    depth: int = 0
    words_left: int = MOST_WORDS
    # The line from which on nothing was read, as there was too much; 0 where all was read.
    unread_from: int = 0
    stopped: bool = False

    def read(self, text: str, env: Environment, place: Place) -> None:
        """Walk a whole text. Text nested deeper than any honest script nests is left alone."""
        if self.depth >= DEEPEST:
            return
        self.depth += 1
        tree, lines = parse_affordable(text)
        if tree.root_node.has_error and self.depth == 1:
            self.errors += [(place.first_line + n.start_point[0], n.type) for n in faulty(tree.root_node)]
        try:
            self.block(tree.root_node.children, env, place)
        except RecursionError:
            self.errors.append((place.first_line, "nested too deeply to follow"))
        if lines <= text.count("\n"):
            self.unread_from = self.unread_from or place.first_line + lines
        self.depth -= 1

    def block(self, nodes: Iterable[Node], env: Environment, place: Place, background: bool = False) -> None:
        listed = list(nodes)
        for number, node in enumerate(listed):
            if self.stopped:
                return
            following = listed[number + 1].type if number + 1 < len(listed) else ""
            self.statement(node, env, place, background or following == "&")

    def afforded(self, parts: list[Node], line: int) -> list[Node]:
        """The parts of a statement that are still read; the first that is not ends the reading, and is remembered."""
        taken = parts[: max(self.words_left, 0)]
        self.words_left -= len(parts)
        if self.words_left < 0 or len(self.commands) >= MOST_COMMANDS:
            self.unread_from = self.unread_from or line
        return taken

    def statement(self, node: Node, env: Environment, place: Place, background: bool = False) -> None:
        """One statement, by its kind in the tree; what is none is passed over."""
        if self.unread_from:
            return
        match node.type:
            case "command":
                shell_commands.simple(self, node, env, place, background=background)
            case "declaration_command" | "variable_assignment" | "variable_assignments" | "unset_command":
                self.declare(node, env, place)
            case "redirected_statement":
                self.redirected(node, env, place, background)
            case "list":
                self.and_or(node, env, place, background)
            case "pipeline":
                for part in node.named_children:
                    self.statement(part, env, place, background)
            case "if_statement":
                self.branches(list(if_parts(node)), env, place)
            case "case_statement":
                self.case(node, env, place)
            case "for_statement" | "c_style_for_statement":
                self.loop(node, env, place)
            case "while_statement":
                self.while_loop(node, env, place)
            case "function_definition":
                self.define(node, place)
            case "subshell" | "compound_statement" | "do_group" | "ERROR" | "negated_command" | "program":
                self.block(node.children, env if node.type != "subshell" else env.copy(), place, background)
            case _:
                pass

    # -- values -------------------------------------------------------------------------------------------------

    def declare(self, node: Node, env: Environment, place: Place) -> None:
        """export, declare, local, readonly, or bare assignments."""
        if node.type == "variable_assignment":
            self.assign(node, env, place)
            return
        line = place.first_line + node.start_point[0]
        words = adjacent_words(self.afforded([c for c in node.children if c.type != "comment"], line), node)
        if node.type == "unset_command":
            for word in words[1:]:
                env.values.pop(word, None)
            return
        exported = words[:1] == ["export"] or "-x" in words
        arrays = [c for c in node.named_children if shell_commands.ARRAY.match(text_of(c))]
        for child in arrays:
            self.assign(child, env, place, exported, table="-A" in words)
        for word in words:
            if shell_commands.ASSIGNMENT.match(word) and not shell_commands.ARRAY.match(word):
                self.assign_text(word, line, env, place, exported)
            elif exported:
                mark_exported(self.assignments, word)

    def assign(self, node: Node, env: Environment, place: Place, exported: bool = False, table: bool = False) -> None:
        """An assignment as the tree has it: arrays here, all else by its text."""
        line = place.first_line + node.start_point[0]
        value_node = node.child_by_field_name("value")
        if value_node is None or value_node.type != "array":
            self.assign_text(text_of(node), line, env, place, exported)
            return
        name_text, _, written = text_of(node).partition("=")
        name = name_text.rstrip("+").partition("[")[0]
        value = array_value(value_node, env, table or isinstance(env.values.get(name), AssociativeArray))
        env.values[name] = bounded_value(merged_value(env.values.get(name), value, "", name_text.endswith("+")), name)
        self.assignments.append(Assignment(line, name, "", written, exported, True, place.inside))

    def assign_text(self, text: str, line: int, env: Environment, place: Place, exported: bool = False) -> None:
        """An assignment of one word: `NAME=value`, `NAME+=value`, `NAME[index]=value`."""
        name_text, _, written = text.partition("=")
        more = name_text.endswith("+")
        name, _, index = name_text.rstrip("+").partition("[")
        value: Value = Scalar(bounded(env.resolved().expand_whole(written), name))
        env.values[name] = value = bounded_value(
            merged_value(env.values.get(name), value, index.rstrip("]"), more), name
        )
        shown = value.field if isinstance(value, Scalar) else ()
        if env.kept and shown and not more:
            shown = bounded(env.expand_whole(written), name)
        self.assignments.append(Assignment(line, name, plain(shown), written, exported, is_known(shown), place.inside))

    # -- control flow ---------------------------------------------------------------------------------------------

    def and_or(self, node: Node, env: Environment, place: Place, background: bool) -> None:
        """`a && b`, `a || b`: the right side of a test that the text decides false is not run."""
        left, right = node.named_children[0], node.named_children[-1]
        sign = next((c.type for c in node.children if c.type in ("&&", "||")), "&&")
        truth = decide(text_of(left), env) if left.type in ("test_command", "compound_statement") else None
        self.statement(left, env, place, background)
        if left == right or (truth is not None and truth is (sign == "||")):
            return
        if sign == "||":
            self.branch(lambda e, p: self.statement(right, e, p, background), env, place, "on failure")
        elif left.type == "test_command" and truth is None:
            self.branch(lambda e, p: self.statement(right, e, p, background), env, place, "branch")
        elif left.type == "test_command":
            # A script that would always end here is run by nobody: what the test asks for is given from outside.
            self.guarded(lambda e, p: self.statement(right, e, p, background), env, place)
        else:
            self.statement(right, env, place, background)

    def branch(self, run: shell_commands.Run, env: Environment, place: Place, what: str) -> None:
        """One side that may or may not run: its values become choices, unless it ends the script."""
        taken = env.copy()
        ended = self.guarded(run, taken, place.within(what))
        if not ended and what != "on failure":
            merge(env, [taken, env.copy()])

    def guarded(self, run: shell_commands.Run, env: Environment, place: Place) -> bool:
        """Run one branch; whether it ended with exit or return."""
        run(env, place)
        ended, self.stopped = self.stopped, False
        return ended

    def branches(self, parts: list[tuple[list[Node], list[Node]]], env: Environment, place: Place) -> None:
        """if/elif/else: decided branches alone, else all of them with their values merged."""
        outcomes: list[Environment] = []
        complete = False
        for condition, body in parts:
            truth = self.condition(condition, env, place) if condition else True
            if truth is False:
                continue
            taken = env.copy()
            sure = truth is True and not outcomes
            here = place if sure else place.within("branch")
            if not self.guarded(lambda e, p, b=body: self.block(b, e, p), taken, here):  # type: ignore[misc]
                outcomes.append(taken)
            if truth is True:
                complete = True
                break
        if not complete or not outcomes:
            outcomes.append(env.copy())
        merge(env, outcomes)

    def condition(self, nodes: list[Node], env: Environment, place: Place) -> bool | None:
        listed = [n for n in nodes if n.is_named]
        self.block([n for n in listed if n.type != "test_command"], env, place.within("condition"))
        self.stopped = False
        return truth_of(listed[0], env) if len(listed) == 1 else None

    def case(self, node: Node, env: Environment, place: Place) -> None:
        """The first item that is known to fit; where that is open, all that may fit, their values merged."""
        subject_node = node.child_by_field_name("value")
        word = text_of(subject_node) if subject_node is not None else ""
        known = settled(word, env)
        subject = literal(known) if known is not None else env.expand_whole(word)
        outcomes: list[Environment] = []
        for item in node.named_children:
            if item.type != "case_item":
                continue
            patterns = item.children_by_field_name("value")
            truth = matches(subject, [text_of(p) for p in patterns], env)
            if truth is False:
                continue
            taken = env.copy()
            body = [c for c in item.children if c not in patterns]
            here = place if truth else place.within("branch")
            if not self.guarded(lambda e, p, b=body: self.block(b, e, p), taken, here):  # type: ignore[misc]
                outcomes.append(taken)
            if truth:
                break
        merge(env, outcomes or [env.copy()])

    def loop(self, node: Node, env: Environment, place: Place) -> None:
        """The body once: one value is that value, several are a choice, anything else is open."""
        variable = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        if variable is not None:
            words = [text_of(n) for n in node.children_by_field_name("value")]
            fields = env.expand_words(words)
            name = text_of(variable)
            if len(fields) == 1 and is_known(fields[0]):
                env.values[name] = Scalar(fields[0])
            elif fields and all(is_known(f) for f in fields):
                env.values[name] = BranchValue(tuple(fields), loop=True)
            else:
                env.values[name] = BranchValue(((Piece(f"${name}", True),),), loop=True)
        else:
            for part in node.named_children:
                if part != body and "=" in text_of(part):
                    name = text_of(part).partition("=")[0].strip()
                    env.values[name] = BranchValue(((Piece(f"${name}", True),),), loop=True)
        if body is not None:
            self.statement(body, env, place.within("loop"))
            self.stopped = False

    def while_loop(self, node: Node, env: Environment, place: Place) -> None:
        """The body once; a loop over the script's own arguments is not run: none are known."""
        body = node.child_by_field_name("body")
        head = " ".join(text_of(c) for c in node.named_children if c != body)
        if "$#" in head or "getopts" in head or '"$1"' in head or "$1 " in head or "${1" in head:
            self.leave_open(body, env)
            return
        self.block([c for c in node.children if c != body], env, place.within("condition"))
        if body is not None:
            self.statement(body, env, place.within("loop"))
            self.stopped = False

    def leave_open(self, body: Node | None, env: Environment) -> None:
        """What the script's own arguments would set is open where it has no default."""
        for node in descendants(body, "variable_assignment") if body is not None else ():
            name = text_of(node).partition("=")[0].rstrip("+")
            value = env.values.get(name)
            if value is None or (isinstance(value, Scalar) and not plain(value.field)):
                env.values[name] = BranchValue(((Piece(f"${name}", True),),), loop=True)

    def define(self, node: Node, place: Place) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[text_of(name)] = (body, place.first_line)

    def call(self, name: str, arguments: tuple[Field, ...], env: Environment, place: Place) -> None:
        """Run a function of the script. Recursion is cut."""
        self.calls_left -= 1
        if name in self.calls or len(self.calls) > DEEPEST or self.calls_left < 0:
            return
        body, first_line = self.functions[name]
        self.called.add(name)
        self.calls.append(name)
        saved, env.positional = env.positional, arguments
        self.block([body], env, Place((*place.inside, f"function {name}"), place.outer, first_line))
        env.positional, self.stopped = saved, False
        self.calls.pop()

    # -- redirections -----------------------------------------------------------------------------------------------

    def redirected(self, node: Node, env: Environment, place: Place, background: bool) -> None:
        body = node.child_by_field_name("body")
        redirects = [n for n in node.children if n.type.endswith("_redirect")]
        shell_commands.redirected(self, body, redirects, env, place, background)


def truth_of(node: Node, env: Environment) -> bool | None:
    if node.type == "negated_command" and node.named_children:
        inner = truth_of(node.named_children[0], env)
        return None if inner is None else not inner
    return decide(text_of(node), env) if node.type in ("test_command", "compound_statement", "command") else None
