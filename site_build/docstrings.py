"""Docstrings as the reference shows them: roles as Markdown, formulas as MathML."""

from __future__ import annotations

import re
from typing import Any

import griffe

from site_build.mathml import mathml

FORMULA = re.compile(r":math:`(?P<tex>[^`]+)`")
DISPLAYED = re.compile(
    r"^(?P<indent>[ ]*)\.\. math::(?P<tex>[^\n]*(?:\n(?:[ ]*\n)?(?P=indent)[ ]+\S[^\n]*)*)",
    re.MULTILINE,
)
REFERENCE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`(?P<short>~?)(?P<path>[^`]+)`")


class Roles(griffe.Extension):
    """Rewrites every docstring before it is parsed, and drops constants that no room offers."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        """Drop the constants of one module."""
        for name, member in list(mod.members.items()):
            if name.isupper() and not member.is_alias and name not in (mod.exports or ()):
                mod.del_member(name)


def as_markdown(text: str) -> str:
    """Return a docstring with MathML for formulas and names in code spans."""
    text = DISPLAYED.sub(_displayed, text)
    text = FORMULA.sub(lambda found: mathml(found["tex"], display=False), text)
    return REFERENCE.sub(_name, text)


def _displayed(found: re.Match[str]) -> str:
    return found["indent"] + mathml(found["tex"], display=True)


def _name(found: re.Match[str]) -> str:
    path = found["path"]
    return f"`{path.rsplit('.', 1)[-1] if found['short'] else path}`"
