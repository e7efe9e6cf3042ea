"""The pages of two books as plain Markdown: links, tables, formulas, examples, notebooks.

The *guide* has the pages of ``docs`` and of the packages, the *technical report* those of
``docs/report`` and the results of the papers. Each book has a search and a navigation of its
own; links lead from one to the other.
"""

from __future__ import annotations

import html
import posixpath
import re
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

import dpselect_planner as planner
from site_build import examples, mathml, notebooks, tables

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "docs" / "report"

CODE = re.compile(
    r"^(?P<fence>[ ]*`{3,})[^\n]*\n.*?^(?P=fence)[ ]*$|`(?P<span>[^`]+)`",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(
    r"^(?P<fence>[ ]*`{3,})[^\n]*\n.*?^(?P=fence)[ ]*$|`[^`]+`"
    r"|\]\((?P<file>[^)\s:#]+\.(?:md|ipynb))(?P<place>#[^)\s]*)?\)",
    re.DOTALL | re.MULTILINE,
)
PROSE = re.compile(r"[*\w]")
MARKUP = re.compile(r"[*`$\\\\\"']|\]\([^)]*\)|\[")
PAGES = {".md", ".ipynb"}
INDEX = {"index", "README"}
DATA = {".json", ".toml"}
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


@dataclass(frozen=True, kw_only=True)
class Book:
    """One book of the site.

    Attributes:
        settings: Those of the builder.
        place: Where it is in the site.
        folders: Those of its pages, and where each is in the book.
    """

    settings: str
    place: str
    folders: dict[Path, str]

    @property
    def built(self) -> Path:
        """The folder of the pages that the builder reads."""
        said = tomllib.loads((ROOT / self.settings).read_text("utf-8"))["project"]
        return ROOT / said["docs_dir"]

    def files(self) -> dict[Path, str]:
        """Return all files, and where each is in the book."""
        return {
            path: posixpath.normpath(posixpath.join(place, path.relative_to(folder).as_posix()))
            for folder, place in self.folders.items()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and (folder == REPORT or REPORT not in path.parents)
        }


def books() -> list[Book]:
    """Return the guide and the report."""
    packages = dict.fromkeys(sorted(ROOT.glob("packages/*/docs")), "")
    return [
        Book(settings="zensical.toml", place="", folders={ROOT / "docs": "", **packages}),
        Book(
            settings="report.toml",
            place="report",
            folders={REPORT: "", ROOT / "studies" / "results": "papers"},
        ),
    ]


def write() -> dict[str, int]:
    """Write the pages of all books; return the number of formulas of each, by its address."""
    addresses = {
        path: posixpath.normpath(posixpath.join(book.place, _address(name)))
        for book in books()
        for path, name in book.files().items()
        if path.suffix in PAGES
    }
    counts = {}
    for book in books():
        shutil.rmtree(book.built, ignore_errors=True)
        for path, name in book.files().items():
            target = book.built / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix in PAGES:
                target = target.with_name(f"{target.stem.replace('README', 'index')}.md")
                counts[addresses[path]] = _page(_text(path, target), path, target, addresses)
            elif path.suffix not in DATA:
                shutil.copyfile(path, target)
    guide, report = books()
    (guide.built / "planner-page.html").write_text(planner.page(), "utf-8")
    for name in ("site.css", "logo.svg"):
        shutil.copyfile(ROOT / "docs" / name, report.built / name)
    counts["report/print"] = _page(
        whole_report(), REPORT / "print.md", report.built / "print.md", addresses
    )
    return counts


def whole_report() -> str:
    """Return all chapters of the report as one page, to print."""
    nav = tomllib.loads((ROOT / "report.toml").read_text("utf-8"))["project"]["nav"]
    names = [name for entry in nav for name in entry.values()]
    chapters = [name for name in names if (REPORT / name).is_file()]
    text = "\n\n".join(
        f'<a id="{Path(name).stem}"></a>\n\n{(REPORT / name).read_text("utf-8")}'
        for name in chapters
    )
    for name in chapters:
        text = text.replace(f"]({name}#", "](#").replace(f"]({name})", f"](#{Path(name).stem})")
    return text.replace("](print.md)", "](#index)")


def with_links(page: str, source: Path, addresses: dict[Path, str]) -> str:
    """Return a page of which links to the sources of pages lead to these pages.

    They are relative to the folder of the source: the builder knows that a page is a folder.
    """
    here = addresses.get(source, "report/print")
    if source.stem not in INDEX:
        here = posixpath.dirname(here)

    def to_page(found: re.Match[str]) -> str:
        if found["file"] is None:
            return found[0]
        there = addresses.get((source.parent / found["file"]).resolve())
        if there is None:
            return found[0]
        return f"]({posixpath.relpath(there, here or '.')}/{found['place'] or ''})"

    return LINK.sub(to_page, page)


def _address(name: str) -> str:
    folder, file = posixpath.split(posixpath.splitext(name)[0])
    return folder if file in INDEX else posixpath.join(folder, file)


def _text(source: Path, target: Path) -> str:
    text = source.read_text("utf-8")
    return notebooks.as_page(text, target) if source.suffix == ".ipynb" else text


def _page(text: str, source: Path, target: Path, addresses: dict[Path, str]) -> int:
    text = tables.with_tables(text)
    page = FIGURE.sub(r"[\g<0>](\g<file>)", with_links(text, source, addresses))
    page = mathml.with_mathml(examples.without_prompts(page))
    page = with_tables_stacked(with_long_code_marked(page))
    head = f'---\ndescription: "{description(text)}"\n---\n\n'
    target.write_text(head + page, "utf-8")
    return mathml.count(text)


def description(page: str) -> str:
    """Return the title of a page, and the sentence below it, as plain text on one line."""
    title, _, more = page.lstrip("# ").partition("\n\n")
    below = " ".join(more.partition("\n\n")[0].split())
    first = re.split(r"(?<=[.?]) (?=[A-Z])", below)[0] if PROSE.match(below) else ""
    return MARKUP.sub("", f"{title}. {first}").strip()


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
