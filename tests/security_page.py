"""The parts of docs/security.md that commands make: each lies between two marks that name its maker."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "security.md"


def marks(maker: str) -> tuple[str, str]:
    return f"<!-- made by {maker} -->", f"<!-- end of what {maker} makes -->"


def part(maker: str) -> str:
    """What stands on the page between the maker's marks. Raises ValueError where there are none."""
    begin, end = marks(maker)
    page = PAGE.read_text()
    return page[page.index(begin) + len(begin) : page.index(end)].strip("\n")


def put(maker: str, text: str) -> None:
    """Replace the maker's part of the page. Raises ValueError where the page has none."""
    part(maker)
    page, (begin, end) = PAGE.read_text(), marks(maker)
    before, _, rest = page.partition(begin)
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}")


def rows(maker: str) -> list[list[str]]:
    """The cells of the tables in a part, line by line, without their heads."""
    lines = part(maker).split("\n")
    heads = {at - 1 for at, line in enumerate(lines) if line.startswith("|---")}
    bodies = (line for at, line in enumerate(lines) if line.startswith("| ") and at not in heads)
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in bodies]
