"""``dpselect subset``: who tested positive, from a table of results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    pass


class Positives(QueryCommand):
    """Release who tested positive, with a few errors: private subset retrieval.

    --scheme ball is its Algorithm A1 as proved, union A2, optimal the least delta of all.

    The table has one row per person. The people, their order, their number and what --where
    keeps them by are public; the statuses are private. With --label the answer has the names of
    that column, otherwise row numbers from 0. The number of positives is private and costs a
    share of epsilon, unless --d declares it public; neighbours then differ in one positive who
    is exchanged for another person (swap).

    $ dpselect subset results.csv --column result --positive positive --label sample
    --epsilon 6

    $ dpselect subset results.csv --column ct --positive '< 38' --where "ward = 'A'"
    --label sample --epsilon 6

    $ dpselect subset results.csv --column result --positive positive --d 20
    --scheme optimal --beta 8 --epsilon 2 --dry-run

    The pure scheme needs no delta. Naming individuals needs a large epsilon: look at the error
    of a dry run first.

    Args:
        positive: Status of a positive; may be repeated. Or a bound of numbers, as '< 38'.
    """

    name, query, left_out = "subset", "Subset", ("n",)
    leaving = "The statuses and the labels"
    options = {"positive": Option(kind=list[str])}

    def declared(self, given: Given) -> Mapping[str, Any]:
        """Return the number of people: that of the rows, which is public."""
        from dpselect import tables

        column = given.options["column"]
        if column is None:
            raise ParameterError("give `column`, in which the statuses are")
        return {"n": tables.count_records(given.table, plain=[column])}
