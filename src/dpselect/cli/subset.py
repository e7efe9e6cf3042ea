"""``dpselect subset``: who tested positive, from a table of results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpselect.cli import options
from dpselect.cli.command import Given, Option, QueryCommand, reading
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.subsets import Subset

HELP = """Release who tested positive, with a few errors: private subset retrieval.

--scheme ball is its Algorithm A1 as proved, union A2, optimal the least delta of all.

The table has one row per person. The people, their order, their number and what --where keeps
them by are public; the statuses are private. With --label the answer has the names of that
column, otherwise row numbers from 0. The number of positives is private and costs a share of
epsilon, unless --d declares it public; neighbours then differ in one positive who is exchanged
for another person (swap).

[bold]dpselect subset results.csv --column result --positive positive --label sample \
--epsilon 6[/bold]

[bold]dpselect subset results.csv --column ct --positive '< 38' --where "ward = 'A'" \
--label sample --epsilon 6[/bold]

[bold]dpselect subset results.csv --column result --positive positive --d 20 \
--scheme optimal --beta 8 --epsilon 2 --dry-run[/bold]

The pure scheme needs no delta. Naming individuals needs a large epsilon: look at the error of a
dry run first.
"""


def _declared(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the number of people: that of the rows, which is public."""
    from dpselect import tables

    column = given["column"]
    if column is None:
        raise ParameterError("give `column`, in which the statuses are")
    source = options.rows_of(given["data"], **reading(given))
    table = options.opened(source, given["engine"], given["master"])
    return {"n": tables.count_records(table, plain=[column])}


def _facts(query: Subset, _given: Given) -> Mapping[str, object]:
    facts: dict[str, object] = {"people": f"{query.n:,}"}
    if query.d is not None:
        wrong, missing = query.errors()
        facts["expected"] = f"{wrong:.3g} names wrong and {missing:.3g} missing, of {query.d}"
        return facts
    from dpselect.subsets.errors import POSITIVES

    named = []
    for d in (one for one in POSITIVES if one <= query.n):
        wrong, missing = query.errors(d)
        named.append(f"of {d} positives: {wrong:.3g} names wrong, {missing:.3g} missing")
    return {**facts, "expected": "\n".join(named)}


SUBSET = QueryCommand(
    name="subset",
    query="Subset",
    help=HELP,
    options={
        "positive": Option(
            kind=list[str],
            help="Status of a positive; may be repeated. Or a bound of numbers, as '< 38'.",
        ),
        "d": Option(kind=int, help="Number of positives, if it is public."),
    },
    left_out=("n",),
    declared=_declared,
    facts=_facts,
    leaving="The statuses and the labels",
)
