"""The pages as plain Markdown: formulas as MathML, examples without prompts, notebooks."""

from __future__ import annotations

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
    target.write_text(with_long_code_marked(page), "utf-8")
    return mathml.count(text)


def with_long_code_marked(page: str) -> str:
    """Return Markdown in which code of a sentence has a class where it may be broken."""
    return CODE.sub(
        lambda found: found[0] + "{.long}" * (len(found["span"] or "") > LINE), page
    )
