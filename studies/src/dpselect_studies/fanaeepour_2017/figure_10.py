"""Figure 10: median relative error of tuned maps, against the size of the queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect_studies.fanaeepour_2017.methods import (
    METHODS,
    PAPERS,
    Cell,
    OtherCell,
    by_size,
)
from dpselect_studies.fanaeepour_2017.places import OTHERS, PLACES, SCALED
from dpselect_studies.panels import panels
from dpselect_studies.study import Null, Printed, Row, Spread, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Setting:
    """Point sets and methods, at epsilons and one share for tuning, and how many maps.

    The paper's two methods are also measured at ``sets`` other sets of positions, on ``maps``
    maps each.
    """

    places: tuple[str, ...]
    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    share: float
    runs: int
    sets: int = 0
    maps: int = 10


E2EPRIV, HEURISTIC, *_ = PAPERS
FULL = Setting(
    tuple(PLACES), tuple(METHODS), epsilons=(1.0,), share=0.2, runs=100, sets=25, maps=10
)
SMALL = Setting(("markets",), tuple(METHODS), epsilons=(1.0,), share=0.2, runs=3)


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every point set with every method, and other positions."""
    first = [
        Cell(place, method, epsilon, setting.share, setting.runs)
        for place, method, epsilon in product(setting.places, setting.methods, setting.epsilons)
    ]
    others = product(
        range(1, setting.sets + 1),
        [*setting.places, *(OTHERS if setting.sets else ())],
        (E2EPRIV, HEURISTIC),
        setting.epsilons,
    )
    return first + [
        OtherCell(place, method, epsilon, setting.share, setting.maps, positions=positions)
        for positions, place, method, epsilon in others
    ]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the errors of each size of query, the means of all maps."""
    return by_size(cell, rng)


def plot(frame: pl.DataFrame) -> Figure:
    """Draw errors against sizes, a panel for each point set."""
    return panels(
        frame.filter(positions=0),
        x="area",
        y="error",
        line="method",
        panel="points",
        x_label="area of queries, % of the box",
        y_label="median relative error",
        log="xy",
        marks=pl.DataFrame(
            [
                {
                    "points": PLACES[place.partition(",")[0]].title,
                    "method": method,
                    "area": 1.0,
                    "error": value,
                }
                for place, (_, method, value) in CLAIMS.items()
            ]
        ),
    )


OVER_SETS = ", over sets of positions"
CLAIMS = {
    "markets": (PLACES["markets"].title, E2EPRIV, 0.13),
    "markets, Heuristic": (PLACES["markets"].title, HEURISTIC, 0.19),
    "highways": (PLACES["highways"].title, E2EPRIV, 0.02),
    "gowalla": (OTHERS[SCALED].title, E2EPRIV, 0.05),
}
"""What the text states of queries of 1 %: points, method and error."""


def with_sets(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the median over sets of positions, for queries of 1 %.

    Half of the range that two thirds of the sets are in stands for the deviation of one: the
    errors of some sets are infinite.
    """
    if "positions" not in frame.columns:
        return frame
    found = frame.filter(pl.col("positions") > 0, area=1.0)
    rows: list[Row] = []
    for (points, method), part in found.group_by("points", "method", maintain_order=True):
        # Queries without a point count as infinite where they are few.
        few = part["without_points"].max() < 0.5  # type: ignore[operator]
        errors = part["error_of_all" if few else "error"].to_numpy()
        low, middle, high = np.quantile(errors, (1 / 6, 1 / 2, 5 / 6))
        rows.append({
            "points": str(points),
            "method": f"{method}{OVER_SETS}",
            "median": float(middle),
            "deviation": float(high - low) / 2,
            "sets": part.height,
        })  # fmt: skip
    added = pl.DataFrame(rows) if rows else pl.DataFrame(schema={"median": pl.Float64})
    return pl.concat([frame, added], how="diagonal_relaxed")


MEDIAN = float(np.sqrt(np.pi / 2))
"""The standard error of a median over that of a mean, of a normal distribution."""


def spread(found: pl.DataFrame, _number: Printed) -> Spread:
    """Return the spread over sets of positions, of which the paper has one."""
    sets = float(found["sets"][0])
    return Spread(float(found["deviation"][0]), sets / MEDIAN**2)


def _printed(title: str, method: str, value: float) -> Printed:
    other = HEURISTIC if method == E2EPRIV else E2EPRIV
    return Printed(
        {"points": title, "method": f"{method}{OVER_SETS}"},
        "median",
        value,
        0.005,
        "section 8.4",
        runs=1,
        at_most=value == CLAIMS["highways"][2],
        null=Null("the other method", {"points": title, "method": f"{other}{OVER_SETS}"}),
    )


STUDY = Study(
    title="Figure 10: relative error against the size of queries",
    small=SMALL,
    full=FULL,
    seconds=60,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=[_printed(*claim) for claim in CLAIMS.values()],
    with_claims=with_sets,
    spread=spread,
    discussion="""
Epsilon 1, a fifth of it for tuning, delta .1, .01 and .001 by data set, 100 random queries of
six sizes, 100 maps. All three point sets are **substitutes**.

**How a query without points counts decides the smallest size**, and the paper does not say. Of
the queries of 1 % of the area a share of {without_points: farmers' markets (for Storage) |
area=1.0 | positions=0} contain no point on markets, {without_points: US highways (for
Landmark) | area=1.0 | positions=0} on highways and {without_points: check-ins of 5,628 users
(for Gowalla) | area=1.0 | positions=0} on check-ins. The picture leaves them out; the
comparison counts them as infinite on the first two point sets.

**One set of 100 positions, as in the paper, says little.** Over 25 sets, of queries of 1 %,
the published form has a median of {median: farmers' markets (for Storage) | E2EPriv as
published (not private), over sets of positions | .3} on markets (printed: .13), and Heuristic
{median: farmers' markets (for Storage) | Heuristic (not private), over sets of positions | .3}
(printed: .19, beyond what positions explain). On highways it is {median: US highways (for
Landmark) | E2EPriv as published (not private), over sets of positions | .3}, within the
printed .02. On check-ins it is {median: check-ins of 5,628 users (for Gowalla) | E2EPriv as
published (not private), over sets of positions}; with each check-in counted 10.4 times, as
many as the paper has, {median: check-ins counted 10.4 times (for Gowalla) | E2EPriv as
published (not private), over sets of positions | .3} for the printed .05. Where the published
form agrees Heuristic would too.

**Ours**: the repaired form, with a public floor, loses nothing on the first two sets, and is
better than the published form on check-ins (.64 for .88). The adaptive grid and the quadtree,
untuned, are the best private maps for small queries on markets and check-ins.
""",
)
