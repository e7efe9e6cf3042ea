"""The pages as plain Markdown: formulas as MathML, examples without prompts, notebooks."""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path

import dpselect_planner as planner
from site_build import examples, mathml, notebooks

CODE = re.compile(
    r"^(?P<fence>[ ]*`{3,})[^\n]*\n.*?^(?P=fence)[ ]*$|`(?P<span>[^`]+)`",
    re.DOTALL | re.MULTILINE,
)
LINE = 34
"""Characters of code that fit on a line of a telephone, also in a list."""
TABLE = re.compile(
    r"^(?P<fence>[ ]*`{3,})[^\n]*\n.*?^(?P=fence)[ ]*$"
    r"|^(?P<head>\|[^\n]*\|)\n(?P<rule>\|[-| ]+\|)\n(?P<rows>(?:\|[^\n]*\|\n)+)",
    re.DOTALL | re.MULTILINE,
)
CELL = re.compile(r"(?<!\\)\|")
TAG = re.compile(r"<[^>]+>")
SENTENCE = 36
"""Characters of a cell from which on its table is one of sentences."""
FIGURE = re.compile(r"(?<!\[)!\[[^\]]*\]\((?P<file>[^)\s]+)\)")


def write(sources: Path, folder: Path) -> dict[str, int]:
    """Write all pages; return the number of formulas of each, by its path without a suffix."""
    shutil.rmtree(folder, ignore_errors=True)
    counts = {}
    for source in sorted(sources.rglob("*")):
        target = folder / source.relative_to(sources)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix in {".md", ".ipynb"}:
            name = target.relative_to(folder).with_suffix("").as_posix()
            counts[name] = _page(source, target.with_suffix(".md"))
        elif source.is_file():
            shutil.copyfile(source, target)
    (folder / "planner-page.html").write_text(planner.page(), "utf-8")
    return counts


def _page(source: Path, target: Path) -> int:
    text = source.read_text("utf-8")
    if source.suffix == ".ipynb":
        text = notebooks.as_page(text, target)
    page = FIGURE.sub(r"[\g<0>](\g<file>)", text.replace(".ipynb)", ".md)"))
    page = mathml.with_mathml(examples.without_prompts(page))
    target.write_text(with_tables_stacked(with_long_code_marked(page)), "utf-8")
    return mathml.count(text)


def with_long_code_marked(page: str) -> str:
    """Return Markdown in which code of a sentence has a class where it may be broken."""
    return CODE.sub(
        lambda found: found[0] + "{.long}" * (len(found["span"] or "") > LINE), page
    )


def with_tables_stacked(page: str) -> str:
    """Return Markdown in which narrow screens show tables of sentences as lists.

    These have three columns or more, none aligned, and long cells. The styles show the head of
    a column before each of its cells.
    """
    return TABLE.sub(_stacked, page)


def _stacked(found: re.Match[str]) -> str:
    if found["head"] is None:
        return found[0]
    heads, *rows = (
        [cell.strip() for cell in CELL.split(line)[1:-1]]
        for line in (found["head"], *found["rows"].splitlines())
    )
    longest = max(len(TAG.sub("", cell)) for row in rows for cell in row)
    if len(heads) < 3 or longest < SENTENCE:
        return found[0]
    names = [html.escape(TAG.sub("", head).replace("`", "")) for head in heads]
    lines = [found["head"], found["rule"]]
    for first, *others in rows:
        labelled = [
            f'<i data-column="{name}"></i>{cell}' if name and cell else cell
            for name, cell in zip(names[1:], others, strict=True)
        ]
        lines.append(f"| {' | '.join([first, *labelled])} |")
    return '<div class="stacked" markdown>\n\n' + "\n".join(lines) + "\n\n</div>\n"
