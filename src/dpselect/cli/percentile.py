"""``dpselect percentile`` and ``dpselect record``: the value or the record at a percentile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.cli.keys import BY

if TYPE_CHECKING:
    from dpselect.release import Release


def _quantities(text: str, _given: Given) -> list[object]:
    from dpselect.percentiles.units import quantity

    return [quantity("candidates", part) for part in text.split(",")]


class Percentile(QueryCommand):
    """Release a public value near a percentile, or several.

    The candidates are --lower, --lower + --step and so on up to --upper. Without --upper they
    have no upper end, and with --lower -inf no lower end.

    $ dpselect percentile stays.parquet --column days --p 90 --upper 60 --step 1
    --neighbours add-remove --epsilon 1

    $ dpselect percentile stays.csv --column days --p 25,50,75,90 --upper 60 --step 1
    --user patient --max-per-user 3 --neighbours add-remove --epsilon 1

    $ dpselect percentile pay.csv --column pay --p 99 --step 0.01
    --neighbours add-remove --epsilon 1

    $ dpselect percentile stays.parquet --column days --p 50,90 --upper 60 --step 1
    --by ward --groups wards.txt --neighbours add-remove --epsilon 1

    With --by every group gets an answer, for one epsilon in total. The groups are public
    (--groups), or those with enough people, which needs --delta.

    $ dpselect percentile stays.csv --column discharged --minus admitted --p 90 --upper 60d
    --step 1d --neighbours add-remove --epsilon 1

    With another --engine than memory only ranks leave it, if there are at most 100,001
    candidates; otherwise the column is read.

    Args:
        p: Percentile, up to 100; or several, as 50,90,99.
        interval: Probability with which an interval around each value contains the percentile,
            by default 0.95; 0 for no intervals.
        candidates: The candidates, instead of a range, as 0,7,14.
        groups: The public groups: a list as a,b,c, or a text file with one per line; with
            several columns repeat it, a list for each column.
    """

    name, query, numeric = "percentile", "Percentiles", ("column",)
    options = {
        "interval": Option(read=lambda given, _given: given or None, kind=float, default=0.95),
        "candidates": Option(read=_quantities),
        "groups": BY["groups"],
    }


class Record(QueryCommand):
    """Release which record holds a percentile, rarely what you want.

    The answer is its row number from 0, or its label. This is PercentileSelection (local
    dampening): --mechanism exponential, permute-and-flip and local-dampening are its EM, PF and
    LD; the default is the shifted form.

    Neighbours differ in the value of one record (substitution); the number of records, their
    order and labels are public. At a small epsilon 'dpselect percentile' is far more accurate.

    $ dpselect record stays.parquet --column days --p 90 --upper 60 --label ward --epsilon 10
    """

    name, query, numeric = "record", "PercentileRecord", ("column",)
    left_out = ("where",)

    def after(self, release: Release[Any], given: Given) -> Mapping[str, object]:
        """Return that an answer says nothing, if it does."""
        said = {} if release.query is None else release.query.predicted()
        return {name: said[name] for name in ("beware",) if name in said}
