"""``dpselect variants``: the variants most associated with a disease."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpselect.cli import options
from dpselect.cli.command import Option, QueryCommand, reading

if TYPE_CHECKING:
    pass

HELP = """Release the k variants that are most associated with a disease.

The table has one row per variant, with four counts of people: cases with one copy and with two
copies of an allele, and controls with one and with two. Neighbours differ in the genotypes of
one person at all variants. The list of variants, and who is a case, are public.

[bold]dpselect variants counts.csv --cases 5000 --controls 5000 --k 10 --epsilon 1[/bold]

A variant's score is the number of people whose genotypes must change to move it across
--significance.
"""


def _columns(given: Mapping[str, Any]) -> list[str]:
    from dpselect.variants.top import COUNTS

    return [*(COUNTS if given["counts"] is None else given["counts"].split(","))]


def _declared(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the number of variants: that of the rows, which is public."""
    from dpselect import tables

    source = options.rows_of(given["data"], **reading(given))
    table = options.opened(source, given["engine"], given["master"])
    return {"variants": tables.count_records(table)}


VARIANTS = QueryCommand(
    name="variants",
    query="TopVariants",
    help=HELP,
    options={
        "counts": Option(
            read=lambda text, _given: text.split(","),
            help="The four columns of counts, as case_one,case_two,control_one,control_two.",
        ),
    },
    left_out=("variants", "where"),
    declared=_declared,
    numeric=_columns,
    leaving="All rows, which are counts of the variants,",
)
