"""What the built site must hold: formulas as MathML, code without prompts, targets of links.

A builder that does not know a syntax drops it without a word, so this reads the site alone.
"""

from __future__ import annotations

import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

UNSEEN = {"code", "pre", "script", "style", "annotation"}
TEX = ("\\varepsilon", "\\frac", "\\sum", "\\le", "\\cdot", "$$", ":math:")
POWER = re.compile(r"\^[\w-]+\^")  # which the builder should have raised
TORN = re.compile(r"[\s(]")  # which is in no power: two carets of one line were taken for one
PROMPT = re.compile(r"^(?:>>>|\$) ", re.MULTILINE)  # a copy of the code would have it too
LINK = re.compile(r"^\[[^\]\n]+\]\([^)\n]+\)", re.MULTILINE)  # indented too far
MEMBER = re.compile(r"#dpselect\S*\.[a-z_]\w*$")
LOADED = {"img": "src", "script": "src", "link": "href"}


class Page(HTMLParser):
    """One page: formulas, anchors, links, what it loads, its code and the text around."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.formulas = 0
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.text: list[str] = []
        self.code: list[str] = []
        self.powers: list[str] = []
        self._unseen = 0
        self._code = 0
        self._power = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one element offers or points to."""
        self.formulas += tag == "math"
        self._unseen += tag in UNSEEN
        self._code += tag == "pre"
        self._power = tag == "sup"
        for name, value in attrs:
            if value and LOADED.get(tag) == name and dict(attrs).get("rel") != "canonical":
                self.loaded.append(value)
            if name == "id" and value:
                self.anchors.add(value)
            if name in {"href", "src"} and value:
                self.links.append(value)

    def handle_endtag(self, tag: str) -> None:
        """Note the end of code."""
        self._unseen -= tag in UNSEEN
        self._code -= tag == "pre"
        self._power = False
        if tag == "pre":
            self.code.append("\n")

    def handle_data(self, data: str) -> None:
        """Note what a reader sees."""
        if self._power:
            self.powers.append(data)
        if self._code:
            self.code.append(data)
        if not self._unseen:
            self.text.append(data)


def problems(site: Path, formulas: dict[str, int]) -> list[str]:
    """Return what is missing in a built site, given the number of formulas of each source."""
    pages = {path: Page(path.read_text("utf-8")) for path in site.rglob("index.html")}
    wrong = []
    for name, expected in formulas.items():
        path = site / name.removesuffix("index") / "index.html"
        if path not in pages:
            wrong.append(f"{name}: was not built")
        elif "reference" not in name and pages[path].formulas != expected:
            wrong.append(f"{name}: {pages[path].formulas} formulas of {expected} were built")
    for path, page in pages.items():
        seen = " ".join(page.text)
        wrong += [f"{path.parent.name}: {tex} is no formula" for tex in TEX if tex in seen]
        wrong += [f"{path.parent.name}: {power} is no power" for power in POWER.findall(seen)]
        wrong += [f"{path.parent.name}: {p} is no power" for p in page.powers if TORN.search(p)]
        code = "".join(page.code)
        if PROMPT.search(code):
            wrong.append(f"{path.parent.name}: its code has prompts")
        wrong += [f"{path.parent.name}: {link} is no code" for link in LINK.findall(code)]
        wrong += [
            f"{path.parent.name}: {link} leads nowhere"
            for link in page.links
            if not _leads(site, path, link, pages)
        ]
    return wrong


def hide_members(site: Path) -> None:
    """Leave of the reference classes alone in the search: their pages show the rest."""
    index = site / "search.json"
    found = json.loads(index.read_text("utf-8"))
    found["items"] = [one for one in found["items"] if not MEMBER.search(one["location"])]
    index.write_text(json.dumps(found, ensure_ascii=False), "utf-8")


def bytes_of(path: Path) -> int:
    """Return the size of a built page with all that it loads, compressed as servers do."""
    text = path.read_text("utf-8")
    local = {link for link in Page(text).loaded if not urlsplit(link).scheme}
    files = {(path.parent / urlsplit(link).path).resolve() for link in local}
    contents = [text.encode(), *(file.read_bytes() for file in files if file.is_file())]
    return sum(len(gzip.compress(content)) for content in contents)


def _leads(site: Path, page: Path, link: str, pages: dict[Path, Page]) -> bool:
    where = urlsplit(link)
    if where.scheme or where.netloc:
        return True
    target = page if not where.path else page.parent / unquote(where.path)
    if where.path.startswith("/"):
        target = site / where.path.lstrip("/")
    if target.is_dir() or where.path.endswith("/"):
        target /= "index.html"
    target = target.resolve()
    if not where.fragment or target not in pages:
        return target.is_file()
    return unquote(where.fragment) in pages[target].anchors | {"__tabbed_1", "__search"}
