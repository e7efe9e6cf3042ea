"""Long lists of a question, an answer or a release: once in a ledger, by their hash.

A board that signs for a ledger can read what was declared public, and a release with long
lists, such as a map, can be made again. A list of more than ``LONGEST`` characters stands in an
entry of the ledger as its count, its first and last value and the SHA-256 of its JSON; that
JSON is a row of a table of lists, once for all entries that have it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

LONGEST = 2_000
"""Characters of a list as JSON; a longer one is folded."""

LONGEST_END = 200
"""Characters of its first or last value as JSON; of a longer one these are shown."""

FOLDED = {"count", "first", "last", "sha256"}


def folded(value: Any, lists: dict[str, str], *, most: int = 0) -> Any:  # noqa: ANN401 -- JSON
    """Return a plain value with long lists folded, and add their JSON to ``lists``, by hash.

    Args:
        value: Any value of JSON.
        lists: Where the lists are put.
        most: How many values a list may have, with those of lists in it, that is not folded
            whatever its length.
    """
    if isinstance(value, Mapping):
        return {name: folded(one, lists, most=most) for name, one in value.items()}
    if not isinstance(value, list) or _values_in(value) <= most:
        return value
    text = json.dumps(value)
    if len(text) <= LONGEST:
        return value
    digest = _hash(text)
    lists[digest] = text
    first, last = (_end(value[end]) for end in (0, -1))
    return {"count": len(value), "first": first, "last": last, "sha256": digest}


def unfolded(
    value: Any,  # noqa: ANN401 -- any JSON value
    read: Callable[[str], str | None],
) -> Any:  # noqa: ANN401
    """Return a plain value with the lists that ``folded`` took out of it.

    Args:
        value: What ``folded`` returned.
        read: Returns the JSON of a list by its hash. One that it does not return, or of which
            it returns another, stays folded.
    """
    if is_folded(value):
        text = read(value["sha256"])
        return json.loads(text) if text and _hash(text) == value["sha256"] else value
    if isinstance(value, Mapping):
        return {name: unfolded(one, read) for name, one in value.items()}
    return value


def is_folded(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a value stands for a long list.

    A mapping of somebody's own with the same names is none, unless it names a hash, too.
    """
    if not isinstance(value, Mapping) or set(value) != FOLDED:
        return False
    return re.fullmatch("[0-9a-f]{64}", str(value["sha256"])) is not None


def is_whole(value: object) -> bool:
    """Return whether no list of a value is folded."""
    inner = value.values() if isinstance(value, Mapping) else ()
    return not is_folded(value) and all(map(is_whole, inner))


def _values_in(value: object) -> int:
    return sum(map(_values_in, value)) if isinstance(value, list) else 1


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _end(value: object) -> object:
    text = json.dumps(value)
    return value if len(text) <= LONGEST_END else f"{text[:LONGEST_END]} ..."
