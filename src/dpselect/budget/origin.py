"""Analyst and source of a request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from glob import has_magic
from os.path import relpath
from pathlib import Path
from typing import Any

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.writing import strict

LONGEST = 10_000
"""Characters of a text that an entry keeps: nobody fills the disk of a ledger by a note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Analyst and source that entries state.

    The fields are the arguments of ``dpselect.Budget.for_request``.

    Raises:
        ParameterError: A text is none.
    """

    note: str = ""
    source: str = ""
    version: str = ""
    analyst: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    user: str | None = None
    again: bool = False

    def __post_init__(self) -> None:
        for name in ("note", "source", "version", "analyst"):
            text(name, getattr(self, name))
        object.__setattr__(self, "arguments", strict(self.arguments))

    def key(self, question: object) -> str:
        """Return what two entries of one question of one source share; empty without one."""
        if not self.source:
            return ""
        same = [question, self.source, self.version, self.arguments, self.user]
        return hashlib.sha256(json.dumps(same).encode()).hexdigest()

    def stated(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return a question with what the request asks beside it."""
        if self.arguments:
            question["arguments"] = {**question.get("arguments", {}), **self.arguments}
        if self.user is not None:
            claim = f"each {self.user} has one record of the source"
            question["public"] = [*question.get("public", []), claim]
        return question


def source_name(source: str, ledger: Path) -> str:
    """Return a file by its way from the ledger, one name wherever it is asked from.

    Two files of one name in two folders are two sources, and so are the tables in them
    (``clinic.duckdb::stays``). What is no file keeps its name.
    """
    file, mark, table = source.partition("::")
    if not Path(file).exists() and not has_magic(file):
        return source
    where = Path(file).resolve()
    try:
        return Path(relpath(where, ledger.resolve().parent)).as_posix() + mark + table
    except ValueError:  # on another drive
        return where.as_posix() + mark + table


def text(name: str, value: object) -> str:
    """Return a text that a ledger can hold.

    Raises:
        ParameterError: It is none.
    """
    given = validation.instance(name, value, str)
    if name != "mechanism" and len(given) > LONGEST:
        raise ParameterError(f"`{name}` must have at most {LONGEST:,} characters")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"`{name}` must be text that UTF-8 can encode") from None
    return given
