"""Errors of percentiles in the user's units, if the data are of an assumed size."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any, get_args

from dpselect import _numbers

if TYPE_CHECKING:
    from dpselect.plan import Plan
    from dpselect.typing import Values

MOST_RECORDS = 100_000
"""Of more records the error in ranks is the same, and that in units no larger."""

MOST_POINTS = 10_001
"""Different numbers of the assumed data."""

DRAWS = 100
"""Releases from assumed data of each shape."""


def percentile_error(plan: Plan, asked: Mapping[str, Any], mechanism: str | None) -> str:
    """Return how far values are from their percentiles 19 times in 20, in words.

    By releases from public data of three shapes, of which the worst counts.

    Args:
        plan: The plan of the release.
        asked: Its arguments, with ``assumed_records``.
        mechanism: The mechanism, if one was named.
    """
    import numpy as np

    from dpselect.percentiles.choosing import chosen
    from dpselect.percentiles.methods import checked_percents
    from dpselect.percentiles.reading import Source
    from dpselect.planner.shapes import Shape

    records, points = asked["assumed_records"], asked["candidates"]
    percents = np.atleast_1d(np.asarray(plan.arguments["p"], dtype=np.float64))
    drawn = chosen(
        percents=checked_percents(percents.tolist()),
        points=points,
        method=plan.arguments["method"],  # type: ignore[arg-type]
        per_user=asked["max_per_user"] or 1,
        assumed_records=records,
        epsilon=plan.epsilon,
        neighbours=plan.neighbours,
        mechanism=mechanism,
    )
    places = np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(np.int64))
    values = np.array([points[int(place)] for place in places], dtype=np.float64)
    worst = 0.0
    for shape in get_args(Shape):
        numbers = _numbers_of(values, shape, min(records, MOST_RECORDS))
        right = [numbers[ceil(p / 100 * numbers.size) - 1] for p in percents.tolist()]
        draw = drawn.prepared(Source(numbers, None, None, plan.neighbours, "repair"))
        far = np.abs(np.array([draw() for _ in range(DRAWS)], dtype=np.float64) - right)
        worst = max(worst, float(np.quantile(far, 0.95, axis=0, method="higher").max()))
    within = f"within about {_numbers.shown(worst)}" if worst else "none"
    each = "each " if percents.size > 1 and worst else ""
    return (
        f"{each}{within}, 19 times in 20, if there are about {records:,} records (even, "
        "bell-shaped or falling)"
    )


def _numbers_of(values: Values, shape: Any, records: int) -> Values:  # noqa: ANN401 -- a literal
    """Return so many ascending numbers of a shape."""
    import numpy as np

    from dpselect.planner import spread

    upto = np.cumsum(spread(values, shape, 1.0))
    shares = (np.arange(records) + 0.5) / records
    return values[np.minimum(np.searchsorted(upto, shares), values.size - 1)]
