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
from dpselect.spatial import (
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
from dpselect_studies.fanaeepour_2017.places import DELTA, EACH, SIDES, Case, case
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


def map_errors(
    here: Case, partition: Partition, epsilon: float, rng: np.random.Generator
) -> Values:
    """Return the relative error of every measured query, for one map."""
    counts = here.points.in_cells(partition) + noise(partition.cells, 1 / epsilon, rng)
    answers = CountedCells(partition, counts).answers(here.measured)
    return relative_errors(answers, here.points.in_rectangles(here.measured), here.floor)


def relative_errors(answers: Values, exact: Values, floor: float) -> Values:
    """Return the errors of answers over the exact ones, or over ``floor`` where larger."""
    return np.abs(answers - exact) / np.maximum(exact, floor)


Chooser: TypeAlias = Callable[
    [Case, float, float, np.random.Generator], tuple[Partition, float]
]
"""Case, epsilon, share for tuning, generator -> cells, epsilon left for their counts."""


def heuristic_not_private(
    here: Case, epsilon: float, _share: float, _rng: np.random.Generator
) -> tuple[Partition, float]:
    """Take Qardaji's guideline with the exact number of points."""
    return uniform_grid(guideline_size(here.size, epsilon=epsilon, c=GUIDELINE)), epsilon


def leaky_not_private(
    here: Case, epsilon: float, _share: float, _rng: np.random.Generator
) -> tuple[Partition, float]:
    """Take the grid of the least published error."""
    errors = _published(here, epsilon).errors
    return here.partitions[int(np.argmin(errors))], epsilon


def best_in_hindsight_not_private(
    here: Case, epsilon: float, _share: float, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Take the grid whose trial map has the least median error on the measured queries."""
    tried = [np.median(map_errors(here, part, epsilon, rng)) for part in here.partitions]
    return here.partitions[int(np.argmin(tried))], epsilon


def published_choice_not_private(
    here: Case, epsilon: float, share: float, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Draw by the published law."""
    left = (1 - share) * epsilon
    law = _published(here, left).law(share * epsilon)
    return here.partitions[int(rng.choice(law.size, p=law))], left


def _published(here: Case, epsilon: float) -> PublishedNotPrivate:
    return published_not_private(
        here.points,
        here.partitions,
        here.tuned,
        scale=1 / epsilon,
        size=here.size,
        delta=DELTA,
    )


def repaired(
    here: Case, epsilon: float, share: float, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Draw as published, but with the error cut at a public number over a public floor.

    The floor is a power of ten, as somebody who knows the order of magnitude would declare.
    """
    left = (1 - share) * epsilon
    measure = RelativeClipped(floor=public_floor(here.floor), clip=CLIP, norm="l1")
    choice = dp.ExponentialMechanism(epsilon=share * epsilon)
    return _drawn(here, here.partitions, left, measure, choice, rng), left


def public_floor(floor: float) -> float:
    """Return the power of ten that is nearest to a floor, in logarithms."""
    return float(10.0 ** np.round(np.log10(floor)))


def tuned_by_default(*rules: PartitionRule) -> Chooser:
    """Return the choice of ``release_histogram``, among the grids and what rules propose."""

    def choose(
        here: Case, epsilon: float, share: float, rng: np.random.Generator
    ) -> tuple[Partition, float]:
        half, left = share * epsilon / 2, (1 - share) * epsilon
        coarse = coarse_counts(here, half, rng)
        parts = [*here.partitions, *(rule.partition(coarse, left) for rule in rules)]
        weights = coarse.weights(here.tuned, DELTA)
        measure = Weighted(neighbours=dp.Neighbours.ADD_REMOVE, weights=weights)
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
    return parts[int(choice.simulate(error, size=1, rng=rng).indices[0])]


METHODS: dict[str, Chooser] = {
    "Heuristic (not private)": heuristic_not_private,
    "Leaky (not private)": leaky_not_private,
    "BestNonPriv (not private)": best_in_hindsight_not_private,
    "published form (not private)": published_choice_not_private,
    "repaired form": repaired,
    "default, grids": tuned_by_default(),
    "default, grids and rules": tuned_by_default(*RULES),
    "guideline, noisy N": guideline,
    "adaptive grid": by_rule(AdaptiveGrid()),
    "quadtree": by_rule(Quadtree()),
}


@dataclass(frozen=True)
class Cell:
    """Maps of one method for one point set.

    Attributes:
        place: A key of ``PLACES``.
        method: A key of ``METHODS``.
        epsilon: For the whole map, nats.
        share: Of it, for the tuning.
        runs: How many maps.
    """

    place: str
    method: str
    epsilon: float
    share: float
    runs: int


def simulated(cell: Cell, rng: np.random.Generator) -> Values:
    """Return the relative errors of maps, shape ``(runs, 6, EACH)``: by size of query."""
    here, choose = case(cell.place), METHODS[cell.method]
    maps = []
    for _ in range(cell.runs):
        partition, left = choose(here, cell.epsilon, cell.share, rng)
        maps.append(map_errors(here, partition, left, rng))
    return np.array(maps).reshape(cell.runs, len(SIDES), EACH)


def summary(errors: Values) -> Row:
    """Return the median over queries, the mean over maps, with its standard error.

    Args:
        errors: Shape ``(runs, queries)``; at least two runs.
    """
    medians = np.median(errors, axis=1)
    return {
        "error": float(medians.mean()),
        "standard_error": float(np.std(medians, ddof=1) / np.sqrt(medians.size)),
        "mean_error": float(errors.mean()),
    }
