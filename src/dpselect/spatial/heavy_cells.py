r"""Release of the cells of a map that hold most points, and its plan.

The cells are those of one public grid. An individual of at most :math:`m` counted points moves
the count of one cell by at most :math:`m` and all counts together by at most :math:`m`
(:math:`2m` under substitution), so one noisy sequence of all cells is made for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.accuracy import error_bound
from dpselect.errors import ParameterError
from dpselect.mechanisms import (
    Mechanism,
    MechanismFactory,
    NoisySequence,
    PermuteAndFlip,
    by_name,
)
from dpselect.mechanisms.crossing import rounds_or_sequence
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.passes import Pass
from dpselect.plan import Plan, SupportsSpend
from dpselect.release import Release
from dpselect.sensitivity import GlobalSensitivity
from dpselect.spatial import geo
from dpselect.spatial.box import Box, Outside, checked_outside
from dpselect.spatial.counting import largest_change
from dpselect.spatial.partition import Partition, uniform_grid
from dpselect.spatial.passes import BYTES_A_CELL
from dpselect.spatial.plan import points_per_individual
from dpselect.typing import Values

Cell = tuple[float, float, float, float]
"""West, south, east and north of a cell, in coordinates."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cells(Sequence[Cell]):
    """The cells of a grid in the order of its counts; public.

    Attributes:
        box: The box.
        across: Cells from west to east.
        along: Cells from south to north.
    """

    box: Box
    across: int
    along: int

    def __len__(self) -> int:
        return self.across * self.along

    @overload
    def __getitem__(self, position: int) -> Cell: ...
    @overload
    def __getitem__(self, position: slice) -> list[Cell]: ...
    def __getitem__(self, position: int | slice) -> Cell | list[Cell]:
        if isinstance(position, slice):
            return [self[one] for one in range(*position.indices(len(self)))]
        if not -len(self) <= position < len(self):
            raise IndexError("there is no such cell")
        a, b = divmod(position % len(self), self.along)
        shares = np.array([a, a + 1]) / self.across, np.array([b, b + 1]) / self.along
        west, east = self.box.coordinates(shares[0], 0).tolist()
        south, north = self.box.coordinates(shares[1], 1).tolist()
        return west, south, east, north


@dataclass(frozen=True, slots=True)
class _Design:
    plan: Plan
    mechanism: Mechanism
    box: Box
    grid: Partition
    points_per_user: int

    def objective(self, counts: Values) -> Objective:
        return cell_counts(
            counts,
            box=self.box,
            grid=self.grid,
            points_per_user=self.points_per_user,
            neighbours=self.plan.neighbours,
        )


def cell_counts(
    counts: Values,
    *,
    box: Box,
    grid: Partition,
    points_per_user: int = 1,
    neighbours: NeighboursLike,
) -> Objective:
    """Return the objective of the counts of the cells of a uniform grid.

    Guarantee:
        One neighbour step moves a count by at most ``points_per_user`` and all of them
        together by at most that, twice that under substitution; monotone under add/remove.

    Args:
        counts: Points in every cell, shape ``(cells,)``. Private.
        box: The public box.
        grid: A uniform grid.
        points_per_user: How many points of one individual are counted. Public.
        neighbours: ``"add-remove"`` or ``"substitute"``.

    Raises:
        ParameterError: The grid is not uniform.
    """
    if grid.shape is None:
        raise ParameterError("grid must be a uniform grid")
    relation = _validate.table_neighbours(neighbours)
    moved = largest_change(relation, points_per_user)
    return Objective(
        counts,
        GlobalSensitivity(points_per_user, relation, l1=moved),
        Cells(box, *grid.shape),
        monotone=relation is Neighbours.ADD_REMOVE,
        step=1,
    )


def plan_heavy_cells(  # noqa: PLR0913 -- keyword-only, each one a public claim
    k: int | None = None,
    *,
    above: float | None = None,
    x: str | None = None,
    y: str | None = None,
    user: str | None = None,
    bounds: Box | ArrayLike,
    grid: int | tuple[int, int],
    max_points_per_user: int | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
    outside: Outside = "drop",
) -> Plan:
    """Return what :func:`release_heavy_cells` will spend; needs no data.

    Args:
        k: As for the release, and so are the others.
        above: Or a threshold.
        x: Column of the coordinate from west to east.
        y: Column of the coordinate from south to north.
        user: Column of the individual.
        bounds: The public box.
        grid: The public grid.
        max_points_per_user: How many points of one individual are counted.
        epsilon: What the release costs, in nats.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: How cells are drawn.
        outside: What happens to points outside the box.

    Raises:
        ParameterError: An argument is out of its range, or does not go with another.
        NeighboursError: Another relation.
    """
    return _design(
        k,
        above=above,
        x=x,
        y=y,
        user=user,
        bounds=bounds,
        grid=grid,
        max_points_per_user=max_points_per_user,
        epsilon=epsilon,
        neighbours=neighbours,
        mechanism=mechanism,
        outside=outside,
    ).plan


def release_heavy_cells(  # noqa: PLR0913 -- each argument is one public claim
    points: object,
    k: int | None = None,
    *,
    above: float | None = None,
    x: str | None = None,
    y: str | None = None,
    user: str | None = None,
    bounds: Box | ArrayLike,
    grid: int | tuple[int, int],
    max_points_per_user: int | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
    budget: SupportsSpend | None = None,
    outside: Outside = "drop",
) -> Release:
    """Release the cells of a grid that hold most points.

    Without a ``mechanism`` they are drawn by rounds of permute-and-flip or read off one noisy
    sequence of all counts, whichever resolves more; the sequence is taken from ``k = 2`` on
    (add-remove), and releases the noisy counts at the same price.

    Guarantee:
        ``epsilon``-DP under ``neighbours``: one point, or with ``user`` all points of one
        individual, of which ``max_points_per_user`` are counted. All arguments but the points
        are public. The budget is charged before anything is drawn.

    Args:
        points: As for :func:`~dpselect.spatial.release_histogram`.
        k: How many cells; 1 to their number.
        above: In place of ``k``: all cells of at least so many noisy points. Not to be read
            off the data.
        x: Column of the coordinate from west to east; for frames and files.
        y: Column of the coordinate from south to north.
        user: Column of the individual that a point belongs to.
        bounds: ``(west, south, east, north)``, or a :class:`Box`; half-open, like every cell.
        grid: Cells along both axes, or ``(along x, along y)``.
        max_points_per_user: How many points of one individual are counted.
        epsilon: What the release costs, in nats; finite, > 0.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name, or a callable that takes ``epsilon=`` and returns the
            mechanism.
        budget: Where to record the spend.
        outside: Points outside the bounds are dropped, or with ``"clip"`` moved to the
            nearest cell.

    Returns:
        The cells as ``(west, south, east, north)``, most points first.

    Raises:
        ParameterError: An argument is out of its range, or does not go with another.
        NeighboursError: Another relation than the two, or than the budget's.
        ColumnError: A column is missing, not named or not numeric.
        DataError: The points cannot be read.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Examples:
        >>> from dpselect.spatial import release_heavy_cells
        >>> market = [[0.1, 0.1]] * 500 + [[0.6, 0.9]] * 300 + [[0.9, 0.1]] * 5
        >>> release_heavy_cells(
        ...     market, 2, bounds=(0, 0, 1, 1), grid=2, epsilon=2.0, neighbours="add-remove"
        ... ).answer
        ((0.0, 0.0, 0.5, 0.5), (0.5, 0.5, 1.0, 1.0))
    """
    design = _design(
        k,
        above=above,
        x=x,
        y=y,
        user=user,
        bounds=bounds,
        grid=grid,
        max_points_per_user=max_points_per_user,
        epsilon=epsilon,
        neighbours=neighbours,
        mechanism=mechanism,
        outside=outside,
    )
    design.plan.check(budget)
    # narwhals takes as long to import as all of this room.
    from dpselect.spatial import reading

    held = reading.read_counts(
        points,
        x=x,
        y=y,
        user=user,
        box=design.box,
        max_points_per_user=design.points_per_user,
        outside=outside,
    )
    objective = design.objective(held.in_cells(design.grid))
    if isinstance(design.mechanism, NoisySequence) and above is not None:
        return design.mechanism.release_above(objective, above, budget, plan=design.plan)
    return design.mechanism.release(objective, k or 1, budget, plan=design.plan)


def _design(  # noqa: PLR0913 -- the public arguments
    k: int | None,
    *,
    above: float | None,
    x: str | None,
    y: str | None,
    user: str | None,
    bounds: Box | ArrayLike,
    grid: int | tuple[int, int],
    max_points_per_user: int | None,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None,
    outside: Outside,
) -> _Design:
    if (k is None) == (above is None):
        raise ParameterError("give k or above, one of them")
    box, cells = Box.of(bounds), uniform_grid(grid)
    geo.warn_if_swapped(box.crs, box.bounds, x=x, y=y)
    checked_outside(outside)
    most = points_per_individual(user, max_points_per_user)
    empty = cell_counts(
        np.zeros(cells.cells), box=box, grid=cells, points_per_user=most, neighbours=neighbours
    )
    chosen = _chosen(mechanism, empty, k, above, epsilon)
    given = {
        "k": k,
        "above": above,
        "x": x,
        "y": y,
        "user": user,
        "bounds": box.bounds,
        "crs": box.crs,
        "grid": cells.shape,
        "max_points_per_user": max_points_per_user,
        "outside": outside,
    }
    plan = chosen.plan(
        1 if k is None else k,
        neighbours=empty.neighbours,
        function="release_heavy_cells",
        arguments={name: value for name, value in given.items() if value is not None},
        public=("the bounds", "the grid"),
        error=error_bound(
            chosen.of_one_round(1 if k is None else k),
            candidates=len(empty),
            bound=empty.sensitivity.bound,
            unit="points" if k == 1 else "points in each draw",
        ),
        passes=(Pass(cells.cells, bytes_a_row=BYTES_A_CELL),),
    )
    return _Design(plan, chosen, box, cells, most)


def _chosen(
    mechanism: str | MechanismFactory | None,
    empty: Objective,
    k: int | None,
    above: float | None,
    epsilon: float,
) -> Mechanism:
    """Return the mechanism with the public facts of the counts filled in."""
    if k is not None and _validate.at_least("k", k, 1) > len(empty):
        raise ParameterError(f"k must be at most the number of cells, {len(empty)}, not {k}")
    with_scores = partial(NoisySequence, with_scores=True)
    if above is not None:
        _validate.finite("above", above)
        drawn = by_name(mechanism or with_scores, epsilon)
        if not isinstance(drawn, NoisySequence):
            raise ParameterError("above needs a noisy sequence: leave out mechanism")
    elif mechanism is not None:
        drawn = by_name(mechanism, epsilon)
    else:
        drawn = rounds_or_sequence(PermuteAndFlip(epsilon=epsilon), empty, k or 1)
        if isinstance(drawn, NoisySequence):
            drawn = replace(drawn, with_scores=True)
    return drawn.for_objective(empty)
