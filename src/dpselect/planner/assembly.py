"""Assembly of the planner's page from its modules into one file.

Every module becomes a function of its own that returns what it exports, so that the page has
one script and needs no loader, which a browser refuses for local files.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parent / "page"
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\./|\.\./)([\w./]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:const|function\*?|class) (\w+))", re.MULTILINE)


def script(*roots: str) -> str:
    """Return modules and all that they import, each after those that it imports.

    Args:
        roots: Names of modules below the folder of the page, such as ``"laws/keys.js"``.
    """
    ordered: dict[str, str] = {}
    for root in roots:
        _collect(root, ordered)
    return "\n".join(ordered.values())


def laws() -> str:
    """Return the script of all laws."""
    return script(*sorted(f"laws/{path.name}" for path in (SOURCES / "laws").glob("*.js")))


def _collect(name: str, ordered: dict[str, str]) -> None:
    if name in ordered:
        return
    text = _read(name)
    for found in IMPORT.finditer(text):
        _collect(_resolved(name, found[2] + found[3]), ordered)
    ordered[name] = _as_function(text)


def _resolved(importing: str, relative: str) -> str:
    folder = (SOURCES / importing).parent
    return (folder / relative).resolve().relative_to(SOURCES.resolve()).as_posix()


def _as_function(text: str) -> str:
    """Return a module as ``const { exported } = (() => { ... })();``."""
    names = ", ".join(EXPORT.findall(text))
    body = EXPORT.sub("", IMPORT.sub("", text)).rstrip("\n")
    return f"const {{ {names} }} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();"


@cache
def _read(name: str) -> str:
    return (SOURCES / name).read_text(encoding="utf-8")
