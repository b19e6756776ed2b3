"""Numbers in shell text: arithmetic, and counts that only the scheduler knows, kept as arithmetic over its facts.

`$((NN * PER))` with NN=$SLURM_NNODES and PER=8 becomes `(SLURM_NNODES)*(8)`: it can be worked out as soon as the
directives have told the node count.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping

JOB_NODES, NODE_GPUS = "JOB_NODES", "NODE_GPUS"
# Lines of PBS's node file, in which a node stands once for each of its mpiprocs.
NODE_LINES = "NODE_LINES"
# Zero, and never known while expanding: keeps a loop's largest number out of the text.
LOOP = "LOOP"
# Facts that stand for a number when the job runs; every other name is unknown.
FACTS = frozenset(
    {
        JOB_NODES, NODE_GPUS, NODE_LINES, "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "SLURM_NTASKS", "SLURM_NPROCS",
        "SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE", "SLURM_GPUS",
        "PBS_NGPUS", "PBS_NUM_NODES", "PBS_NP", "LSB_DJOB_NUMPROC", "FLUX_JOB_NNODES", "FLUX_JOB_SIZE",
        "SLURM_CPUS_PER_TASK",
    }
)  # fmt: skip
HOST_LIST = r"NODEFILE|HOSTFILE|MCPU_HOSTS|LSB_HOSTS|NODELIST|hostnames?\b|hostlist|jobnodes|num_nodes"
OPERATIONS: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
COMPARISONS: dict[type[ast.AST], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def arithmetic(expression: str, facts: Mapping[str, int]) -> int | None:
    """The value of a shell arithmetic expression over the facts; None where a name is unknown or it is too odd."""
    text = re.sub(r"\b\d+#", "", expression.strip())
    text = text.replace("&&", " and ").replace("||", " or ")
    if not text or len(text) > 500:
        return None
    try:
        return evaluate(ast.parse(text, mode="eval").body, facts)
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def evaluate(node: ast.expr, facts: Mapping[str, int]) -> int:
    """One node of the tree. Raises KeyError for an unknown name, ValueError for all but whole-number arithmetic."""
    match node:
        case ast.Constant(value=bool()):
            raise ValueError
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return facts[name]
        case ast.BinOp(left=left, op=op, right=right):
            a, b = evaluate(left, facts), evaluate(right, facts)
            if isinstance(op, ast.Pow | ast.LShift) and (b > 64 or abs(a) > 10**6):
                raise ValueError
            return a**b if isinstance(op, ast.Pow) else OPERATIONS[type(op)](a, b)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -evaluate(operand, facts)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return int(COMPARISONS[type(op)](evaluate(left, facts), evaluate(right, facts)))
        case ast.BoolOp(op=op, values=values):
            found = [bool(evaluate(v, facts)) for v in values]
            return int(all(found) if isinstance(op, ast.And) else any(found))
        case _:
            raise ValueError


def amount_of_name(name: str) -> str:
    return name if name in FACTS else ""


def amount_of_command(command: str) -> str:
    """The fact behind a command substitution that counts hosts or GPUs; empty where it counts neither."""
    if re.search(r"nvidia-smi|rocm-smi|rocminfo|device_count|xpu-smi|/dev/nvidia", command):
        return NODE_GPUS if re.search(r"\bwc\b|device_count|grep -c|-c\b", command) else ""
    if re.search(r"\bwc\b|grep -c|num_nodes|-ct?\b", command) and re.search(HOST_LIST, command):
        repeated = "PBS_NODEFILE" in command and not re.search(r"\buniq\b|\bsort\b.*-\w*u", command)
        return NODE_LINES if repeated else JOB_NODES
    named = re.search(r"\$\{?(HOSTS|NODES|HOST_?FILE|NODE_?FILE|NODE_?LIST)\b", command, re.I)
    return JOB_NODES if named and re.search(r"\bwc\b", command) else ""


def lists_hosts(command: str) -> bool:
    """Whether a command prints the job's host names, one for each node."""
    return bool(re.search(HOST_LIST, command)) and not re.search(r"\bhead\b|sed -n|\bwc\b|NR==", command)
