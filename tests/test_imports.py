"""Who may import whom. Read from the syntax tree, so a lazy import inside a function counts too."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = {"assistant", "graph", "knowledge", "templates"}
MAY_IMPORT = {
    "knowledge": {"knowledge"},
    "templates": {"templates", "knowledge"},
    "graph": {"graph", "knowledge", "templates"},
    "assistant": OURS,
}
# A foreign package and the only places (path prefixes) that may know it.
HOME = {
    "textual": ("assistant/tui/",),
    "chromadb": ("knowledge/store.py",),
    "bm25s": ("knowledge/words.py",),
    "filelock": ("knowledge/generations.py", "assistant/storage/sqlite.py"),
    "onnx": (),
    "onnxruntime": ("knowledge/embedding.py",),
    "tokenizers": ("knowledge/embedding.py",),
    "pydantic_settings": ("assistant/settings.py", "assistant/slack/settings.py"),
    "mcp": ("assistant/mcp/",),
    "anyio": ("assistant/mcp/",),
    "uvicorn": ("assistant/mcp/",),
    "slack_bolt": ("assistant/slack/",),
    "slack_sdk": ("assistant/slack/",),
    "aiohttp": ("assistant/slack/", "assistant/serving.py"),
    "aiohttp_jinja2": ("assistant/serving.py",),
    "textual_serve": ("assistant/serving.py",),
    "prometheus_client": ("assistant/slack/",),
    "langgraph": ("graph/", "assistant/storage/database.py"),
    "psycopg": ("assistant/storage/postgres.py", "graph/postgres_checkpoints.py"),
    "psycopg_pool": ("assistant/storage/postgres.py",),
    "httpx": ("knowledge/fetching.py", "knowledge/store.py"),
    "ddgs": ("knowledge/web.py",),
    "docutils": ("knowledge/ingest/restructured.py",),
    "markdown_it": ("knowledge/ingest/markdown.py",),
    "pypdf": ("knowledge/ingest/pdf.py",),
    "rich": ("assistant/progress.py", "assistant/tui/"),
    "jinja2": ("templates/",),
    "dask": ("graph/reporting/dask_workers.py",),
    "distributed": ("graph/reporting/dask_workers.py",),
    "dask_jobqueue": ("graph/reporting/dask_workers.py",),
    "pyarrow": ("graph/reporting/table_file.py",),
    "PIL": ("assistant/printing/figures.py",),
    "rapidfuzz": ("graph/", "knowledge/"),
    "llama_cpp": ("assistant/models/",),
    "openai": ("assistant/models/",),
    "re2": (
        "knowledge/signatures/",
        "knowledge/masking",
        "graph/debugging/",
        "graph/modelling/",
        "graph/reporting/",
    ),
    "tree_sitter": ("graph/extraction/", "graph/verification/"),
    "tree_sitter_bash": ("graph/extraction/", "graph/verification/"),
    "scipy": ("graph/reading/train.py", "graph/reading/wishes/train.py"),
    "sklearn": ("graph/reading/train.py", "graph/reading/wishes/train.py"),
    "torch": ("templates/miniapp/",),
    "deepspeed": ("templates/miniapp/",),
    "accelerate": ("templates/miniapp/",),
}
FILES = sorted(p for name in OURS for p in (ROOT / name).rglob("*.py"))


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_the_right_way(path: Path) -> None:
    place = str(path.relative_to(ROOT))
    names = imported(path)
    assert (names & OURS) <= MAY_IMPORT[place.split("/")[0]]
    for foreign, homes in HOME.items():
        if foreign in names:
            assert place.startswith(homes), f"{foreign} belongs in {homes}"


def test_a_class_name_stands_for_one_thing() -> None:
    """Classes at the top of modules: one name, one meaning, in the whole product."""
    found: dict[str, list[str]] = {}
    for path in sorted(path for folder in OURS for path in (ROOT / folder).rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}
