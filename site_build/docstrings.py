"""Reads the roles of our docstrings as Markdown: formulas and references to other names."""

from __future__ import annotations

import re
from typing import Any

import griffe

FORMULA = re.compile(r":math:`(?P<tex>[^`]+)`")
DISPLAYED = re.compile(
    r"^(?P<indent>[ ]*)\.\. math::(?P<tex>[^\n]*(?:\n(?:[ ]*\n)?(?P=indent)[ ]+\S[^\n]*)*)",
    re.MULTILINE,
)
REFERENCE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`(?P<short>~?)(?P<path>[^`]+)`")


class Roles(griffe.Extension):
    """Rewrites every docstring before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring with ``$`` around formulas and names in code spans."""
    text = DISPLAYED.sub(_displayed, text)
    text = FORMULA.sub(lambda found: f"${found['tex']}$", text)
    return REFERENCE.sub(_name, text)


def _displayed(found: re.Match[str]) -> str:
    indent = found["indent"]
    tex = " ".join(found["tex"].split())
    return f"{indent}$$ {tex} $$"


def _name(found: re.Match[str]) -> str:
    path = found["path"]
    return f"`{path.rsplit('.', 1)[-1] if found['short'] else path}`"
