"""Docstrings as plain text: what ``help`` shows of public names.

In the source, formulas are TeX and names are roles, which the reference shows as formulas and
code. A terminal shows neither.
"""

from __future__ import annotations

import re
import sys
from functools import cached_property
from types import FunctionType
from typing import Any

OURS = "dpselect"
_SYMBOLS = {
    **{name: chr(code) for name, code in {
        "alpha": 0x3B1, "beta": 0x3B2, "gamma": 0x3B3, "delta": 0x3B4, "varepsilon": 0x3B5,
        "epsilon": 0x3B5, "eta": 0x3B7, "theta": 0x3B8, "kappa": 0x3BA, "lambda": 0x3BB,
        "mu": 0x3BC, "nu": 0x3BD, "pi": 0x3C0, "rho": 0x3C1, "sigma": 0x3C3, "tau": 0x3C4,
        "psi": 0x3C8, "Delta": 0x394, "Lambda": 0x39B, "sum": 0x2211, "prod": 0x220F,
        "int": 0x222B, "le": 0x2264, "ge": 0x2265, "ne": 0x2260, "in": 0x2208, "cap": 0x2229,
        "cup": 0x222A, "pm": 0xB1, "mp": 0x2213, "times": 0xD7, "cdot": 0xB7, "to": 0x2192,
        "infty": 0x221E, "sqrt": 0x221A, "propto": 0x221D, "sim": 0x223C, "ell": 0x2113,
        "lfloor": 0x230A, "rfloor": 0x230B, "lceil": 0x2308, "rceil": 0x2309,
        "circ": 0x2218, "lVert": 0x2016, "rVert": 0x2016, "dots": 0x2026, "approx": 0x2248,
    }.items()},
    "bmod": "mod", "quad": " ", "qquad": " ", ",": " ", ";": " ", "!": "", "{": "{", "}": "}",
    "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "", "displaystyle": "",
    "text": "", "mathrm": "", "operatorname": "", "texttt": "", "\\": "\n",
}  # fmt: skip
_FRACTION = re.compile(r"\\[td]?frac\{([^{}]*)\}\{([^{}]*)\}")
_COMMAND = re.compile(r"\\([A-Za-z]+|[,;!{}\\])")
_SCRIPT = re.compile(r"([_^])\{([^{}]*)\}")
_FORMULA = re.compile(r":math:`([^`]+)`")
_DISPLAYED = re.compile(
    r"^(?P<indent> *)\.\. math::(?P<tex>[^\n]*(?:\n(?:[ ]*\n)?(?P=indent)[ ]+\S[^\n]*)*)",
    re.MULTILINE,
)
_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`(~?)([^`]+)`")


def plain(text: str) -> str:
    """Return a docstring without roles and TeX."""
    text = _FORMULA.sub(lambda found: in_letters(found[1]), text)
    text = _DISPLAYED.sub(lambda found: found["indent"] + in_letters(found["tex"]), text)
    return _ROLE.sub(lambda found: f"``{_short(found)}``", text)


def in_letters(tex: str) -> str:
    """Return a formula as one would write it in a mail."""
    tex = _FRACTION.sub(r"(\1)/(\2)", tex)
    tex = _COMMAND.sub(lambda found: _SYMBOLS.get(found[1], found[1]), tex)
    tex = _SCRIPT.sub(lambda found: found[1] + _grouped(found[2]), tex)
    return tex.replace("{", "").replace("}", "")


def clean_room(name: str) -> None:
    """Rewrite the docstrings of what a module offers that imports its names at once."""
    room = sys.modules[name]
    for public in room.__all__:
        clean(vars(room)[public])


def clean(value: Any) -> None:  # noqa: ANN401 -- any public name
    """Rewrite the docstrings of a function, or of a class with its methods."""
    if isinstance(value, FunctionType):
        _clean_one(value)
    elif isinstance(value, type):
        for kind in value.__mro__:
            if kind.__module__.startswith(OURS):
                _clean_one(kind)
                for one in vars(kind).values():
                    _clean_one(getattr(one, "__func__", one))


def _clean_one(value: Any) -> None:  # noqa: ANN401 -- whatever has a docstring
    if not isinstance(value, FunctionType | property | cached_property | type):
        return
    text = value.__doc__
    if text and (":`" in text or ".. math::" in text):
        value.__doc__ = plain(text)


def _short(found: re.Match[str]) -> str:
    path = found[2]
    return path.rsplit(".", 1)[-1] if found[1] else path


def _grouped(script: str) -> str:
    return script if len(script) == 1 else f"({script})"
