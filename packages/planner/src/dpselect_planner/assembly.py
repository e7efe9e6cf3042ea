"""Assembly of the planner's page from its modules into one file.

Every module becomes a function of its own that returns what it exports, so that the page has
one script and needs no loader, which a browser refuses for local files.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from dpselect import __version__

SOURCES = Path(__file__).parent / "page"
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\./|\.\./)([\w./]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:const|function\*?|class) (\w+))", re.MULTILINE)


def modules(*roots: str) -> dict[str, str]:
    """Return modules and all that they import as functions, each after those that it imports.

    Args:
        roots: Names of modules below the folder of the page, such as ``"laws/keys.js"``.
    """
    ordered: dict[str, str] = {}
    for root in roots:
        _collect(root, ordered)
    return ordered


def script(*roots: str) -> str:
    """Return modules and all that they import as one script."""
    return "\n".join(modules(*roots).values())


def _collect(name: str, ordered: dict[str, str]) -> None:
    if name in ordered:
        return
    text = _read(name)
    for found in IMPORT.finditer(text):
        _collect(resolved(name, found[2] + found[3]), ordered)
    ordered[name] = as_function(text)


def resolved(importing: str, relative: str) -> str:
    """Return the name of a module that another one imports."""
    folder = (SOURCES / importing).parent
    return (folder / relative).resolve().relative_to(SOURCES.resolve()).as_posix()


def as_function(text: str) -> str:
    """Return a module as ``const { exported } = (() => { ... })();``."""
    names = ", ".join(EXPORT.findall(text))
    body = EXPORT.sub("", IMPORT.sub("", text)).rstrip("\n")
    return f"const {{ {names} }} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();"


@cache
def _read(name: str) -> str:
    return (SOURCES / name).read_text(encoding="utf-8")


@cache
def page() -> str:
    """Return the planner as one HTML document, which makes no request.

    Its content security policy allows the one style and the one script that it has, by their
    hashes, and nothing else.
    """
    style, program = _read("style.css"), script("main.js")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash_of(program)}",
            f"style-src {_hash_of(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    document = _read("index.html")
    parts = {
        "policy": policy,
        "style": style,
        "script": program,
        "version": __version__,
    }
    for name, text in parts.items():
        document = document.replace(f"{{{{{name}}}}}", text)
    return document


def _hash_of(text: str) -> str:
    digest = sha256(text.encode("utf-8")).digest()
    return f"'sha256-{b64encode(digest).decode('ascii')}'"
