"""TeX as MathML in the text of a page, before a builder of sites reads it.

Pages then need no script, no network and no extension of Markdown, whichever program builds
them.
"""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

FORMULA = re.compile(
    r"^(?P<fence>[ ]*(?:`{3,}|~{3,}))[^\n]*\n.*?^(?P=fence)[ ]*$"  # blocks of code ...
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"  # ... and spans of it stay as they are
    r"|\$\$(?P<display>.+?)\$\$"
    r"|(?<![\\$])\$(?P<inline>[^\s$](?:[^$\n]|\n(?![ ]*\n))*?)(?<=[^\s\\])\$",
    re.DOTALL | re.MULTILINE,
)
TEXT = re.compile(r">([^<]+)<")


def with_mathml(page: str) -> str:
    """Return Markdown with MathML in place of ``$...$`` and ``$$...$$`` outside of code."""
    return FORMULA.sub(_replaced, page)


def count(page: str) -> int:
    """Return the number of formulas of a page."""
    return sum(_tex(found) is not None for found in FORMULA.finditer(page))


def mathml(tex: str, *, display: bool) -> str:
    """Return one formula as MathML on one line, of which Markdown reads no character.

    The span keeps a formula at the beginning of a line in its paragraph, since Markdown takes
    ``math`` for a block.
    """
    formula = convert(" ".join(tex.split()), display="block" if display else "inline")
    inert = TEXT.sub(lambda found: f">{_entities(found[1])}<", formula)
    return f'<span class="formula">{inert}</span>'


def _replaced(found: re.Match[str]) -> str:
    tex = _tex(found)
    if tex is None:
        return found[0]
    return mathml(tex, display=found["display"] is not None)


def _tex(found: re.Match[str]) -> str | None:
    return found["display"] or found["inline"]


def _entities(text: str) -> str:
    plain = html.unescape(text).replace("\u29f5", "\u2216")  # which more fonts have
    return "".join(one if one.isalnum() else f"&#{ord(one)};" for one in plain)
