"""Where a source file opens a path that did not come with the code: what tests/knowledge/test_opening.py looks for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# What opens a path that it is given, by the last word of its name, whatever it is taken from.
OPENERS = frozenset(
    [
        *("open", "open_code", "fdopen", "popen", "read_text", "read_bytes", "fromfile", "loadtxt", "genfromtxt"),
        *("memmap", "mmap", "GzipFile", "BZ2File", "LZMAFile", "ZipFile", "TarFile", "unpack_archive", "sendfile"),
        *("copy2", "copyfile", "copyfileobj", "copytree", "getline", "getlines", "run_path", "SourceFileLoader"),
        *("spec_from_file_location", "PdfReader", "read_csv", "read_json", "ConfigParser", "FileSystemLoader"),
        *("load_dotenv", "dotenv_values", "InferenceSession", "from_file", "from_pretrained", "FileHandler", "mbox"),
    ]
)
# The same where the last word alone says too little.
WHOLE = (
    *("shutil.copy", "shutil.move", "np.load", "numpy.load", "etree.parse", "ElementTree.parse", "sqlite3.connect"),
    *("fileinput.input", "parse_file"),
)
MODULES = frozenset(
    [
        *("io", "os", "codecs", "gzip", "bz2", "lzma", "tarfile", "zipfile", "tokenize", "shutil", "mmap", "sqlite3"),
        *("linecache", "fileinput", "builtins"),
    ]
)
BY_NAME = ("getattr", "attrgetter", "methodcaller")


def opens(tree: ast.Module) -> list[tuple[str, str]]:
    """(function, source) of each; also where an opener is only named, imported or looked up by its name."""
    return list(Looking(tree).found_in(tree, ""))


def own_names(tree: ast.Module) -> tuple[frozenset[str], frozenset[str]]:
    """The module's names for what lies beside the code (made from __file__ as it is loaded, or imported constants of
    ours), and those of functions of ours that are called like an opener.
    """
    places, functions = {"__file__"}, set()
    for node in tree.body:
        one = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        if one and (value := getattr(node, "value", None)) and beside(value, places):
            places |= {target.id for target in one if isinstance(target, ast.Name)}
        if isinstance(node, ast.ImportFrom) and is_ours(node):
            places |= {alias.name for alias in node.names if alias.name.isupper()}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            functions.add(node.name)
        if isinstance(node, ast.ImportFrom) and is_ours(node):
            functions |= {alias.asname or alias.name for alias in node.names}
    return frozenset(places), frozenset(functions - {"open"})


def is_ours(node: ast.ImportFrom) -> bool:
    return (node.module or "").split(".")[0] in ("knowledge", "graph", "assistant", "templates")


def beside(node: ast.AST, places: set[str] | frozenset[str]) -> bool:
    """Whether a path is made from the place of the code, or written out in it."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "Path" and isinstance(node.args[0], ast.Constant):
        return True
    names = (one.id for one in ast.walk(node) if isinstance(one, ast.Name))
    return isinstance(node, ast.Constant) or not places.isdisjoint(names)


class Looking:
    """One walk through a file."""

    def __init__(self, tree: ast.Module) -> None:
        self.places, self.functions = own_names(tree)

    def found_in(self, node: ast.AST, function: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            inner = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
            if self.is_open(child, node):
                yield inner, ast.unparse(child)[:90]
            else:
                yield from self.found_in(child, inner)

    def is_open(self, node: ast.AST, around: ast.AST) -> bool:
        if isinstance(node, ast.ImportFrom):
            return not is_ours(node) and any(alias.name in OPENERS for alias in node.names)
        if isinstance(node, ast.Import):
            return any(alias.asname and alias.name in MODULES for alias in node.names)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            # Named without a call, to be called elsewhere; `open` is a common name of a field, too.
            called = isinstance(around, ast.Call) and around.func is node
            field = isinstance(node, ast.Attribute) and node.attr == "open" and ast.unparse(node.value) not in MODULES
            return self.names_opener(node) and not called and not field
        if not isinstance(node, ast.Call):
            return False
        if ast.unparse(node.func).split(".")[-1] in BY_NAME:
            return any(isinstance(one, ast.Constant) and one.value in OPENERS for one in node.args)
        return self.names_opener(node.func) and not self.is_harmless(node)

    def names_opener(self, node: ast.expr) -> bool:
        name = ast.unparse(node)
        own = name in self.functions or name == "self.open"
        return not own and (name.split(".")[-1] in OPENERS or name.endswith(WHOLE))

    def is_harmless(self, call: ast.Call) -> bool:
        """It writes, is given a file that is open, or reads what lies beside the code."""
        given = [*call.args[:2], *(one.value for one in call.keywords if one.arg == "mode")]
        modes = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if any(set(one) & set("wax") and set(one) <= set("waxbt") for one in modes):
            return True
        if any(one.arg == "fileobj" for one in call.keywords):
            return True
        function = ast.unparse(call.func)
        of_path = (
            function.split(".")[-1] in ("open", "read_text", "read_bytes") and function.split(".")[0] not in MODULES
        )
        path = call.func.value if of_path and isinstance(call.func, ast.Attribute) else next(iter(call.args), None)
        return path is not None and beside(path, self.places)
