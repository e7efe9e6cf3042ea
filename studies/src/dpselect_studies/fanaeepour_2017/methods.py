"""Methods of the figures: the choice of cells, and the errors of the maps.

All are simulations with NumPy's noise. A function whose name ends in ``_not_private`` reads the
points without spending epsilon; the others cost epsilon in all, under add/remove.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

import dpselect as dp
from dpselect.maps import (
    AdaptiveGrid,
    CoarseGrid,
    CountedCells,
    ErrorMeasure,
    Guideline,
    Partition,
    PartitionRule,
    Quadtree,
    RelativeClipped,
    Weighted,
    guideline_size,
    partition_error,
    uniform_grid,
)
from dpselect.typing import Values
from dpselect_studies.fanaeepour_2017.places import EACH, OTHERS, PLACES, SIDES, Case, case
from dpselect_studies.fanaeepour_2017.published_not_private import (
    PublishedNotPrivate,
    published_not_private,
)
from dpselect_studies.study import Row

CLIP = 10.0
"""Where the repaired form cuts a relative error."""
SHARE_FOR_TOTAL = 0.02
"""Share of epsilon for the number of points, which the guideline needs."""
GUIDELINE = 10.0
"""The constant of Qardaji, Yang and Li."""
RULES: tuple[PartitionRule, ...] = (
    Guideline(GUIDELINE),
    *(AdaptiveGrid(c) for c in (2.5, 5.0, 10.0)),
    *(Quadtree(c) for c in (5.0, 10.0, 20.0)),
)
"""The rules that ``method=["guideline", "adaptive", "quadtree"]`` adds to the candidates."""


def noise(size: int, scale: float, rng: np.random.Generator) -> Values:
    """Return discrete Laplace noise by NumPy: for simulations."""
    stop = -np.expm1(-1 / scale)
    return (rng.geometric(stop, size) - rng.geometric(stop, size)).astype(np.float64)


def map_answers(
    here: Case, partition: Partition, epsilon: float, rng: np.random.Generator
) -> Values:
    """Return the answers of one map to the measured queries; exact counts if infinite."""
    counts = here.points.in_cells(partition)
    if np.isfinite(epsilon):
        counts = counts + noise(partition.cells, 1 / epsilon, rng)
    return CountedCells(partition, counts).answers(here.measured)


def relative_errors(answers: Values, exact: Values) -> Values:
    """Return the errors of answers over the exact ones; not a number where these are 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(exact > 0, np.abs(answers - exact) / exact, np.nan)


Chooser: TypeAlias = Callable[
    [Case, float, float, np.random.Generator], tuple[Partition, float]
]
"""Case, epsilon, share for tuning, generator -> cells, epsilon left for their counts; infinite
for exact counts."""


def heuristic_not_private(
    here: Case, epsilon: float, _share: float, _rng: np.random.Generator
) -> tuple[Partition, float]:
    """Take Qardaji's guideline with the exact number of points."""
    return uniform_grid(guideline_size(here.size, epsilon=epsilon, c=GUIDELINE)), epsilon


def leaky_not_private(
    here: Case, epsilon: float, _share: float, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Take the grid whose noisy map is nearest to the data on the tuning queries."""
    exact = here.points.in_rectangles(here.tuned)
    tried = []
    for partition in here.partitions:
        counts = here.points.in_cells(partition) + noise(partition.cells, 1 / epsilon, rng)
        answers = CountedCells(partition, counts).answers(here.tuned)
        tried.append(np.mean(np.abs(answers - exact) / np.maximum(exact, here.floor)))
    return here.partitions[int(np.argmin(tried))], epsilon


def largest_grid_not_private(
    here: Case, _epsilon: float, _share: float, _rng: np.random.Generator
) -> tuple[Partition, float]:
    """Take the largest grid, with exact counts."""
    return here.partitions[-1], np.inf


def published_choice_not_private(
    here: Case, epsilon: float, share: float, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Draw by the published distribution."""
    left = (1 - share) * epsilon
    law = _published(here, left).probabilities(share * epsilon)
    return here.partitions[int(rng.choice(law.size, p=law))], left


def _published(here: Case, epsilon: float) -> PublishedNotPrivate:
    return published_not_private(
        here.points,
        here.partitions,
        here.tuned,
        scale=1 / epsilon,
        size=here.size,
        delta=here.delta,
    )


def repaired(
    here: Case, epsilon: float, share: float, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Draw as published, but with the error cut at a public number over a public floor.

    The floor is a power of ten, as somebody who knows the order of magnitude would declare.
    """
    left = (1 - share) * epsilon
    measure = RelativeClipped(
        neighbours=dp.Neighbours.ADD_REMOVE,
        floor=public_floor(here.floor),
        largest=CLIP,
        norm="l1",
    )
    choice = dp.ExponentialMechanism(epsilon=share * epsilon)
    return _drawn(here, here.partitions, left, measure, choice, rng), left


def public_floor(floor: float) -> float:
    """Return the power of ten that is nearest to a floor, in logarithms."""
    return float(10.0 ** np.round(np.log10(floor)))


def tuned_by_default(*rules: PartitionRule) -> Chooser:
    """Return the choice of ``dpselect.Map``, among the grids and what rules propose."""

    def choose(
        here: Case, epsilon: float, share: float, rng: np.random.Generator
    ) -> tuple[Partition, float]:
        half, left = share * epsilon / 2, (1 - share) * epsilon
        coarse = coarse_counts(here, half, rng)
        parts = [*here.partitions, *(rule.partition(coarse, left) for rule in rules)]
        measure = Weighted.relative(
            coarse,
            here.tuned,
            least=here.delta * coarse.total,
            neighbours=dp.Neighbours.ADD_REMOVE,
        )
        return _drawn(here, parts, left, measure, dp.PermuteAndFlip(epsilon=half), rng), left

    return choose


def guideline(
    here: Case, epsilon: float, _share: float, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Take Qardaji's guideline with a noisy number of points, for a fiftieth of epsilon."""
    left = (1 - SHARE_FOR_TOTAL) * epsilon
    total = here.size + noise(1, 1 / (SHARE_FOR_TOTAL * epsilon), rng)[0]
    return uniform_grid(guideline_size(total, epsilon=left, c=GUIDELINE)), left


def by_rule(rule: PartitionRule) -> Chooser:
    """Return the choice of a rule, from a coarse grid that gets all the share for tuning."""

    def choose(
        here: Case, epsilon: float, share: float, rng: np.random.Generator
    ) -> tuple[Partition, float]:
        left = (1 - share) * epsilon
        return rule.partition(coarse_counts(here, share * epsilon, rng), left), left

    return choose


def coarse_counts(here: Case, epsilon: float, rng: np.random.Generator) -> CoarseGrid:
    """Return the coarse noisy grid, released at epsilon."""
    exact = here.points.in_cells(CoarseGrid.cells())
    return CoarseGrid(exact + noise(exact.size, 1 / epsilon, rng), 1 / epsilon)


def _drawn(
    here: Case,
    parts: Sequence[Partition],
    left: float,
    measure: ErrorMeasure,
    choice: dp.Mechanism,
    rng: np.random.Generator,
) -> Partition:
    error = partition_error(
        here.points, partitions=parts, queries=here.tuned, scale=1 / left, measure=measure
    )
    return parts[int(choice.simulate(error, size=1, rng=rng)[0])]


PAPERS: dict[str, Chooser] = {
    "E2EPriv as published (not private)": published_choice_not_private,
    "Heuristic (not private)": heuristic_not_private,
    "Leaky (not private)": leaky_not_private,
    "BestNonPriv (not private)": largest_grid_not_private,
}
"""The paper's four methods."""

OURS: dict[str, Chooser] = {
    "repaired form": repaired,
    "default, grids": tuned_by_default(),
    "default, grids and rules": tuned_by_default(*RULES),
    "guideline, noisy N": guideline,
    "adaptive grid": by_rule(AdaptiveGrid(5.0)),
    "quadtree": by_rule(Quadtree(10.0)),
}
"""What is private."""

METHODS = PAPERS | OURS


@dataclass(frozen=True)
class Cell:
    """Maps of one method for one point set.

    Attributes:
        place: A key of ``PLACES``.
        method: A key of ``METHODS``.
        epsilon: For the whole map, nats.
        share: Of it, for the tuning.
        runs: How many maps.
        sides: Of the queries, over sides of the box.
    """

    place: str
    method: str
    epsilon: float
    share: float
    runs: int
    sides: tuple[float, ...] = SIDES


@dataclass(frozen=True)
class OtherCell(Cell):
    """The same with queries at other random positions.

    Attributes:
        positions: Their seed.
    """

    positions: int = 1


def simulated(cell: Cell, rng: np.random.Generator) -> Values:
    """Return the relative errors of maps, shape ``(runs, sides, EACH)``: by size of query.

    Not a number for a query without points.
    """
    here = case(cell.place, cell.sides, positions_of(cell))
    choose = METHODS[cell.method]
    exact = here.points.in_rectangles(here.measured)
    maps = []
    for _ in range(cell.runs):
        partition, left = choose(here, cell.epsilon, cell.share, rng)
        maps.append(relative_errors(map_answers(here, partition, left, rng), exact))
    return np.array(maps).reshape(cell.runs, len(cell.sides), EACH)


def positions_of(cell: Cell) -> int:
    """Return the seed of the positions."""
    return cell.positions if isinstance(cell, OtherCell) else 0


def summary(errors: Values) -> Row:
    """Return the median over queries, the mean over maps, and its standard error.

    ``error`` is of the queries that hold a point, ``error_of_all`` of all of them, where the
    relative error of a query without points is infinite.

    Args:
        errors: Shape ``(runs, queries)``; at least two runs; not a number where a query holds
            no point, which is the same for all runs.
    """
    medians = np.nanmedian(errors, axis=1)
    with_empty = np.median(np.where(np.isnan(errors), np.inf, errors), axis=1)
    return {
        "error": float(medians.mean()),
        "error_of_all": float(with_empty.mean()),
        "standard_error": float(np.std(medians, ddof=1) / np.sqrt(medians.size)),
        "without_points": float(np.isnan(errors[0]).mean()),
    }


def by_size(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the summary for each size of query."""
    found = simulated(cell, rng)
    return [
        {
            "points": (PLACES | OTHERS)[cell.place].title,
            "method": cell.method,
            "epsilon": cell.epsilon,
            "share": cell.share,
            "area": round(100 * side**2, 6),
            "positions": positions_of(cell),
            **summary(found[:, column]),
        }
        for column, side in enumerate(cell.sides)
    ]
