"""``dpselect variants``: the variants most associated with a disease."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpselect.extend import Given, Option, QueryCommand


class Variants(QueryCommand):
    """Release the k variants that are most associated with a disease.

    The table has one row per variant, with four counts of people: cases with one copy and with
    two copies of an allele, and controls with one and with two. Neighbours differ in the
    genotypes of one person at all variants. The list of variants, and who is a case, are
    public.

    $ dpselect variants counts.csv --cases 5000 --controls 5000 --k 10 --epsilon 1

    A variant's score is the number of people whose genotypes must change to move it across
    --significance.

    Args:
        counts: The four columns of counts, as case_one,case_two,control_one,control_two.
    """

    name, query, left_out = "variants", "TopVariants", ("variants", "where")
    leaving = "All rows, which are counts of the variants,"
    options = {"counts": Option(read=lambda text, _given: text.split(","))}

    def declared(self, given: Given) -> Mapping[str, Any]:
        """Return the number of variants: that of the rows, which is public."""
        from dpselect import tables

        return {"variants": tables.count_records(given.table)}
