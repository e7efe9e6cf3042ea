"""``dpselect series``: the most common values so far, again after every period."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect.errors import ParameterError
from dpselect.extend import Given, QueryCommand, values_of

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect_applications.series import Series, SeriesRelease

SHOWN = 31
"""Periods of which a dry run lists the errors, at most."""

RULE = "rows of no period are left out; the day 2026-01-05 is not the month 2026-01"


class Periods(QueryCommand):
    """Release the k values that most people have had so far, every period.

    All periods together have one price. With --through and --file the counts up to one period
    are released: the first time pays for all periods, and later ones cost nothing. Without them
    all periods are released at once.

    $ dpselect series visits.csv --column diagnosis --candidates codes.txt --period month
    --periods 1,2,3,4,5,6,7,8,9,10,11,12 --k 10 --user patient --max-per-user 3 --epsilon 1
    --neighbours add-remove --through 3 --file diagnoses.series

    A person's value counts once, in the first period in which the person has it. The file is
    public. Keep it, and never put back an older copy: the noise of a period must be drawn once.
    Rows of a period that was released must stay as they are. Another table, another --where,
    another --source-version and another --ledger are refused.

    Args:
        candidates: Public values: a list as a,b,c, or a text file with one per line.
        periods: Public values: a list as a,b,c, or a text file with one per line.
        through: The last period to release now; the table has all rows up to it.
        file: With --through: keeps what was released of each period; made if missing.
    """

    name, query = "series", "Series"
    options = {
        "candidates": values_of("candidates", "column"),
        "periods": values_of("periods", "period"),
    }
    more = {"through": str, "file": Path}

    def check(self, query: Series, given: Given) -> None:
        """Check that a period and a file go together."""
        if (given.options["through"] is None) != (given.options["file"] is None):
            raise ParameterError("`through` and `file` go together: give both, or none")

    def release(self, query: Series, given: Given, budget: Budget | None) -> SeriesRelease:
        """Release all periods, or those up to one."""
        through = given.options["through"]
        if through is None:
            return query.release(given.table, budget=budget)
        from dpselect.extend import kind_in

        period = kind_in(given.table, query.period).decode(through)
        file = given.options["file"]
        return query.release_through(given.table, period, path=file, budget=budget)

    def facts(self, query: Series, given: Given) -> Mapping[str, object]:
        """Return the standard error of each period."""
        errors = query.made.factors.standard_errors
        if len(errors) > SHOWN:
            return {"periods": RULE}
        stated = zip(query.made.periods, errors.tolist(), strict=True)
        shown = {str(period): f"{error:.6g}" for period, error in stated}
        return {"standard error": shown, "periods": RULE}

    def after(self, release: SeriesRelease, given: Given) -> dict[str, Any]:
        """Return what was kept."""
        if given.options["file"] is None:
            return {"periods": RULE}
        periods = len(release.arguments["periods"])  # type: ignore[arg-type] # as many as listed
        kept = f"{len(release.sums)} of {periods} periods; one price for all of them"
        return {"kept in": f"{given.options['file']}: {kept}", "periods": RULE}
