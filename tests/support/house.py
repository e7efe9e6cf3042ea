"""The size of the house: code lines of each room, and the words of the site.

``python tests/support/house.py [FOLDER ...]`` prints the table of one or several checkouts,
``--budget`` what stands in ``pyproject.toml`` where every room has just what it needs.
"""

import ast
import sys
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[2]
OTHERS = ("packages", "studies", "tests", "benchmarks")


def statements(node):
    """Yield all statements; no statement is inside of an expression."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


def code_lines(text):
    """Return how many lines are code: no blanks, comments, nor strings that stand alone."""
    bare = {
        line
        for node in statements(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    return sum(
        number not in bare and bool(line.strip()) and not line.lstrip().startswith("#")
        for number, line in enumerate(text.splitlines(), 1)
    )


def sizes(root=ROOT):
    """Return the code lines and the modules of each room, and of each other folder."""
    found = {}
    source = root / "src" / "dpselect"
    for folder in ("src/dpselect", *OTHERS):
        for path in sorted((root / folder).rglob("*.py")):
            room = folder
            if folder == "src/dpselect":
                inside = path.relative_to(source).parts
                room = inside[0] if len(inside) > 1 else "top"
            lines, modules = found.get(room, (0, 0))
            found[room] = lines + code_lines(path.read_text("utf-8")), modules + 1
    return found


def pages(root=ROOT):
    """Return the files of the site's pages that are Markdown, by their place in it."""
    folders = [root / "docs", *sorted(root.glob("packages/*/docs"))]
    return {
        page.relative_to(folder).as_posix(): page
        for folder in folders
        for page in sorted(folder.rglob("*.md"))
    }


def site_words(root=ROOT):
    """Return how many words the pages of the site have."""
    return sum(len(page.read_text("utf-8").split()) for page in pages(root).values())


def budget(root=ROOT):
    """Return the most lines of each room, and the most words, by ``pyproject.toml``."""
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["house"]


def table(*roots):
    """Return the lines and modules of each room as a table of Markdown."""
    every = [sizes(root) for root in roots]
    # A room that one checkout lacks has no lines there.
    rooms = [room for room in dict.fromkeys(chain(*every)) if room not in OTHERS]
    for found in every:
        inside = [found.get(room, (0, 0)) for room in rooms]
        found["**src**"] = tuple(sum(size[at] for size in inside) for at in (0, 1))
    rows = [
        [room, *("{:,} / {}".format(*found.get(room, (0, 0))) for found in every)]
        for room in [*rooms, "**src**", *OTHERS]
    ]
    rows.append(["words of the site", *(f"{site_words(root):,}" for root in roots)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def needed(root=ROOT):
    """Return the budget that is just enough, as a table of TOML."""
    found = {
        **{room: lines for room, (lines, _) in sizes(root).items()},
        "words": site_words(root),
    }
    return "\n".join(["[tool.house]", *(f"{room} = {lines}" for room, lines in found.items())])


if __name__ == "__main__":
    roots = [Path(one) for one in sys.argv[1:] if one != "--budget"] or [ROOT]
    shown = needed(*roots) if "--budget" in sys.argv else table(*roots)
    sys.stdout.write(shown + "\n")
