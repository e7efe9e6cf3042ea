"""``dpselect levels``: counts of a tree of codes, in the detail that they carry."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect.errors import DataError
from dpselect.extend import Given, Option, QueryCommand, options

if TYPE_CHECKING:
    from dpselect_applications.levels import Levels, LevelsRelease

DROPPED = "values that are no leaf of the tree, such as deeper codes, are dropped"
"""What is said of rows, whatever there are."""


def _tree(path: Path, given: Given) -> dict[str, str]:
    """Return the parent of each code of a file."""
    from dpselect.extend import text_of
    from dpselect_applications.levels import path_tree, prefix_tree

    text = text_of(path, "`tree`, a text file,").splitlines(keepends=True)
    try:
        rows = [[one.strip() for one in row] for row in csv.reader(text)]
    except csv.Error:
        raise DataError(f"`tree` must be a text file; {path} cannot be read") from None
    rows = [row for row in rows if any(row)]
    prefixes = given.options["prefixes"]
    if prefixes is not None:
        return prefix_tree((row[0] for row in rows), options.numbers("prefixes", prefixes, int))
    head, *rows = rows or [[]]
    if {"code", "parent"} <= set(head):
        places = head.index("parent"), head.index("code")
        rows = [[row[place] for place in places] for row in rows if len(row) == len(head)]
    else:
        # What stands right of the codes describes them.
        named = [
            head.index(one) + 1 for one in (given.options["column"], "code") if one in head
        ]
        head = head[: named[0] if named else None]
        rows = [*_filled(row[: len(head)] for row in rows if any(row[: len(head)]))]
    if len(head) < 2:
        raise DataError(
            "`tree` must be a CSV file, separated by commas, with the columns code and parent, "
            "or one column for each level; give `prefixes` for a list of codes"
        )
    return path_tree([one for one in row if one] for row in rows)


def _filled(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield rows with the codes above in place of blanks before the first code."""
    above: list[str] = []
    for row in rows:
        first = next(place for place, code in enumerate(row) if code)
        above = above[:first] + row[first:]
        yield above


class Detail(QueryCommand):
    """Release counts of codes, at the finest useful level of their tree.

    The tree is public: a CSV file with the columns code and parent, or with one column per
    level, coarsest first, up to the one that is named as --column or code; or, with --prefixes,
    a text file with one code per line, whose first characters are the levels above.

    $ dpselect levels visits.csv --column diagnosis --tree icd.csv --epsilon 1 --neighbours
    add-remove

    $ dpselect levels visits.csv --column diagnosis --tree codes.txt --prefixes 1,3 --user
    patient --max-per-user 3 --epsilon 1 --neighbours add-remove --out table.csv

    Every code of the tree is in one cell of the table, or above several. Each cell gets a noisy
    count; the count of a code above is the sum of its cells. Rows whose value is not one of the
    finest codes are dropped. With --engine spark only the counts of these codes leave the
    cluster.

    Args:
        tree: Text file of the tree.
        prefixes: Numbers of characters, 1,3: --tree has one code per line, whose first
            characters are the codes above.
    """

    name, query = "levels", "Levels"
    options = {"tree": Option(read=_tree, kind=Path)}
    more = {"prefixes": str}

    def facts(self, query: Levels, given: Given) -> Mapping[str, object]:
        """Return how much worse than the best level the chosen ones can be."""
        beyond = f"at most {query.excess():.6g} above that of the best level, on average"
        return {"leaves": len(query.hierarchy.values), "sum of errors": beyond, "rows": DROPPED}

    def after(self, release: LevelsRelease, given: Given) -> dict[str, Any]:
        """Return the number of cells, and what of the table is not printed."""
        known: dict[str, Any] = {"cells": len(release.answer), "rows": DROPPED}
        left = len(release.table()["code"]) - len(release.shown()["code"])
        if left and given.options["out"] is None:
            known["not printed"] = f"{left} more rows: --out table.csv writes them all"
        return known
