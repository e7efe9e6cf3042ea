"""Long lists of a question or a release: beside the ledger, in files named by their hash.

A board that signs for a ledger can read what was declared public, and a release with long
lists, such as a map, can be made again. A list of more than
``LONGEST`` characters stands in the entry as its count, its first and last value and the
SHA-256 of its JSON; that JSON is a file of the folder ``<ledger>.lists``.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TypeGuard

from dpselect.errors import LedgerError

LONGEST = 2_000
"""Characters of a list as JSON; a longer one is folded."""

LONGEST_END = 200
"""Characters of its first or last value as JSON; of a longer one these are shown."""

FOLDED = {"count", "first", "last", "sha256"}


def folded(value: Any, files: dict[str, str]) -> Any:  # noqa: ANN401 -- any JSON value
    """Return a plain value with long lists folded, and add their JSON to ``files``, by hash."""
    if isinstance(value, Mapping):
        return {name: folded(one, files) for name, one in value.items()}
    if not isinstance(value, list):
        return value
    text = json.dumps(value)
    if len(text) <= LONGEST:
        return value
    digest = hashlib.sha256(text.encode()).hexdigest()
    files[digest] = text
    return {
        "count": len(value),
        "first": _end(value[0]),
        "last": _end(value[-1]),
        "sha256": digest,
    }


def keep(folder: Path, files: Mapping[str, str]) -> None:
    """Write files that are not there, each whole or not at all.

    Raises:
        LedgerError: One cannot be written.
    """
    try:
        for digest, text in files.items():
            if not _file(folder, digest).exists():
                if not folder.exists():
                    folder.mkdir(exist_ok=True)
                    share_rights(folder.with_suffix(""), folder)
                with NamedTemporaryFile("w", dir=folder, suffix=".part", delete=False) as new:
                    new.write(text)
                    new.flush()
                    os.fsync(new.fileno())
                share_rights(folder.with_suffix(""), Path(new.name))
                Path(new.name).replace(_file(folder, digest))
    except OSError as error:
        raise LedgerError(f"cannot write a list into {folder}: {error.strerror}") from None


def share_rights(ledger: Path, path: Path) -> None:
    """Let those who may read and write a ledger do so with what is beside it.

    Whoever cannot read a list of an answer would pay for the same answer again.
    """
    with suppress(OSError):  # where it is somebody else's, they did so
        rights = ledger.stat()
        mode = rights.st_mode & 0o666
        if path.is_dir():  # who may read a folder may enter it
            mode |= (mode & 0o444) >> 2
        path.chmod(mode)
        if hasattr(os, "chown"):
            os.chown(path, -1, rights.st_gid)


def whole(value: Mapping[str, Any], folder: Path | None) -> list[Any] | None:
    """Return the list that a folded one stands for; None if its file is gone or another."""
    if folder is None:
        return None
    try:
        text = _file(folder, str(value["sha256"])).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    same = hashlib.sha256(text.encode()).hexdigest() == value["sha256"]
    return list(json.loads(text)) if same else None


def unfolded(value: Any, folder: Path | None) -> Any:  # noqa: ANN401 -- any JSON value
    """Return a plain value with the lists that ``folded`` took out of it.

    Raises:
        LookupError: The file of one is gone, or another.
    """
    if is_folded(value):
        found = whole(value, folder)
        if found is None:
            raise LookupError(value["sha256"])
        return found
    if isinstance(value, Mapping):
        return {name: unfolded(one, folder) for name, one in value.items()}
    return value


def is_folded(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a value of a question stands for a long list."""
    return isinstance(value, Mapping) and set(value) == FOLDED


def _file(folder: Path, digest: str) -> Path:
    return folder / f"{digest}.json"


def _end(value: object) -> object:
    text = json.dumps(value)
    return value if len(text) <= LONGEST_END else f"{text[:LONGEST_END]} ..."
