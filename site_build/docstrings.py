"""Docstrings as the reference shows them: tables as Markdown, examples without prompts."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import getdoc, ismodule
from typing import Any

import griffe

from site_build.examples import fenced

TABLE = re.compile(
    r"^(?P<rule>[ ]*=+(?:[ ]+=+)+)\n(?P<head>.*)\n(?P=rule)\n"
    r"(?P<rows>(?:(?!(?P=rule)).*\n)+)(?P=rule)$",
    re.MULTILINE,
)
SOURCE = re.compile(r"^Source: .+(?:\n[ ]+\S.*)+", re.MULTILINE)


class Markdown(griffe.Extension):
    """Rewrites every docstring before it is parsed, and drops what no room offers."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value + _of_private_bases(obj))

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        """Drop the classes, functions and constants of one module that are not public."""
        for name, member in list(mod.members.items()):
            if member.is_alias or not (member.is_class or member.is_function or name.isupper()):
                continue
            if not offered(mod.path, name):
                mod.del_member(name)


def offered(path: str, name: str) -> bool:
    """Return whether the room of a module offers a name, or the package does, or its door."""
    package, _, inside = path.partition(".")
    room = getattr(import_module(package), inside.partition(".")[0], None)
    names = getattr(room, "__all__", []) if ismodule(room) else []
    door = import_module("dpselect.extend").__all__ if package == "dpselect" else []
    return name in {*names, *import_module(package).__all__, *door}


def _of_private_bases(obj: griffe.Object) -> str:
    """Return what the bases of a class say that have no place of their own, without titles."""
    if not obj.is_class or not offered(obj.module.path, obj.name):
        return ""
    kind = getattr(import_module(obj.module.path), obj.name)
    bases = (getdoc(base) or "" for base in kind.__bases__ if base.__name__.startswith("_"))
    return "".join("\n\n" + text.partition("\n\n")[2] for text in bases)


def as_markdown(text: str) -> str:
    """Return a docstring with tables of Markdown, bare examples and sources as sentences.

    With its later lines indented, a source would be taken for a section whose title is its
    first line.
    """
    sentences = SOURCE.sub(lambda found: re.sub(r"\n[ ]+", "\n", found[0]), text)
    return TABLE.sub(_table, fenced(sentences))


def _table(found: re.Match[str]) -> str:
    """Return a table of reStructuredText as one of Markdown."""
    starts = [run.start() for run in re.finditer("=+", found["rule"])]
    ends = [*starts[1:], None]
    rows: list[list[str]] = []
    for line in (found["head"], *found["rows"].splitlines()):
        cells = [line[a:b].strip() for a, b in zip(starts, ends, strict=True)]
        if cells[0] or not rows:
            rows.append(cells)
        else:  # it goes on with the row before
            pairs = zip(rows[-1], cells, strict=True)
            rows[-1] = [f"{one} {more}".strip() for one, more in pairs]
    rows.insert(1, ["---"] * len(starts))
    indent = " " * starts[0]
    return "\n".join(f"{indent}| {' | '.join(cells)} |" for cells in rows)
