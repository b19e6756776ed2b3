"""docs/architecture.svg from the import graph: every package of ours, and who imports whom.

    uv run python bench/architecture.py > docs/architecture.svg

Read from the syntax tree, lazy imports included. An arrow stands where a package imports another one; the rows are the
four top-level packages, and tests/test_imports.py holds that arrows between them only point downwards.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROWS = ("assistant", "graph", "templates", "knowledge")
COLORS = {"assistant": "#dbe9fb", "graph": "#dff3e3", "templates": "#fdf0d5", "knowledge": "#f3e1f1"}
BOX, GAP, HIGH, MOST = (150, 44), 14, 96, 7
# Fewer imports than this draw no arrow: the picture shows the structure, not every line.
FEWEST = 8


def package_of(module: str) -> str:
    """`graph.reading.parts` -> `graph.reading`; a module of the top folder stands for that folder."""
    parts = module.split(".")
    folder = ROOT.joinpath(*parts[:2])
    return ".".join(parts[:2]) if folder.is_dir() else parts[0]


def import_graph() -> tuple[list[str], Counter[tuple[str, str]]]:
    """The packages, and how often one imports another."""
    packages: dict[str, None] = {}
    imports: Counter[tuple[str, str]] = Counter()
    for row in ROWS:
        for path in sorted((ROOT / row).rglob("*.py")):
            own = package_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
            packages[own] = None
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                named = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
                named += [one.name for one in node.names] if isinstance(node, ast.Import) else []
                for other in {package_of(name) for name in named if name.partition(".")[0] in ROWS} - {own}:
                    imports[own, other] += 1
    return list(packages), imports


def places(packages: list[str]) -> dict[str, tuple[int, int]]:
    """The upper left corner of each package's box; a row wraps after MOST boxes."""
    at: dict[str, tuple[int, int]] = {}
    down = 0
    for row in ROWS:
        names = sorted((name for name in packages if name.partition(".")[0] == row), key=lambda n: (n.count("."), n))
        for number, name in enumerate(names):
            at[name] = (20 + number % MOST * (BOX[0] + GAP), 20 + (down + number // MOST) * HIGH)
        down += -(-len(names) // MOST)
    return at


def draw() -> str:
    """The picture as SVG, the same for the same code."""
    packages, imports = import_graph()
    at = places(packages)
    width = 40 + MOST * (BOX[0] + GAP)
    height = max(y for _, y in at.values()) + HIGH
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        '<defs><marker id="a" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
        '<path d="M0,0 L7,3 L0,6 z" fill="#666"/></marker></defs>',
    ]
    for (one, other), count in sorted(imports.items()):
        if count < FEWEST:
            continue
        (x, y), (u, v) = at[one], at[other]
        begin = (x + BOX[0] // 2, y + (BOX[1] if v > y else 0))
        end = (u + BOX[0] // 2, v + (0 if v > y else BOX[1]))
        parts.append(
            f'<line x1="{begin[0]}" y1="{begin[1]}" x2="{end[0]}" y2="{end[1]}" stroke="#666" stroke-opacity="0.35" '
            f'marker-end="url(#a)"><title>{one} imports {other}</title></line>'
        )
    for name, (x, y) in at.items():
        row, _, folder = name.partition(".")
        parts.append(
            f'<rect x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="6" fill="{COLORS[row]}" stroke="#888"/>'
            f'<text x="{x + BOX[0] // 2}" y="{y + 27}" text-anchor="middle">{row}/{folder}</text>'
        )
    return "\n".join([*parts, "</svg>"])


if __name__ == "__main__":
    print(draw())
