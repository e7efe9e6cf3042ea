"""The cells of a grid that hold most points.

The cells are those of one public grid. An individual of at most ``m`` counted points moves the
count of one cell by at most ``m`` and all counts together by at most ``m`` (``2m`` under
substitution), so one noisy sequence of all cells is made for that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpselect import (
    Facts,
    GlobalSensitivity,
    Neighbours,
    Objective,
    PermuteAndFlip,
    Plan,
    Query,
)
from dpselect.extend import (
    LIFTED,
    Box,
    Columns,
    Design,
    Drawn,
    GroupedDesign,
    Groups,
    NeighboursLike,
    Outside,
    PointRows,
    ReleaseByGroup,
    changed_rows,
    columns_of_points,
    groups_first,
    in_cells_of_groups,
    inside,
    query,
    validation,
)
from dpselect.maps import Partition, uniform_grid
from dpselect.mechanisms import MechanismLike, TopK

SIDES = ("west", "south", "east", "north")


def cell_counts(
    counts: ArrayLike,
    *,
    bounds: ArrayLike,
    grid: int | tuple[int, int],
    max_per_user: int = 1,
    neighbours: NeighboursLike,
) -> Objective:
    """Return the objective of the counts of the cells of a uniform grid.

    Guarantee:
        One neighbour step moves a count by at most ``max_per_user`` and all of them
        together by at most that, twice that under substitution; monotone under add/remove.

    Args:
        counts: Points in every cell, those of one column of cells together, shape
            ``(cells,)``. Private.
        bounds: ``(west, south, east, north)``.
        grid: Cells along both axes, or ``(along x, along y)``.
        max_per_user: Maximal number of points counted per individual. Public.
        neighbours: ``"add-remove"`` or ``"substitute"``.

    Raises:
        ParameterError: The grid is not valid, or has another number of cells.
    """
    cells = uniform_grid(grid)
    facts = _facts(cells, neighbours, max_per_user)
    return facts.of(counts, list(map(tuple, cells.in_box(Box.of(bounds)).tolist())))


def _facts(grid: Partition, neighbours: NeighboursLike, max_per_user: int) -> Facts:
    relation = validation.table_neighbours(neighbours)
    moved = changed_rows(max_per_user, relation)
    return Facts(
        candidates=grid.cells,
        sensitivity=GlobalSensitivity(max_per_user, relation, l1=moved),
        monotone=relation is Neighbours.ADD_REMOVE,
        step=1,
    )


@dataclass(frozen=True, repr=False)
class CellRelease(ReleaseByGroup):
    """A release of cells, most points first, with noisy counts if the mechanism releases them.

    With groups it has pairs of a group and a cell, and the group None is all others.
    """

    @property
    def _columns(self) -> tuple[list[str], str, Sequence[float] | None]:
        return list(SIDES), "points", self.noisy_scores

    @property
    def facts(self) -> dict[str, object]:
        """What is said of the release beside its answer, by name."""
        known = {} if self.noisy_scores is None else {"counts": LIFTED}
        return {**known, **super().facts}

    def shown(self) -> dict[str, list[Any]]:
        """Return the table with coordinates of as many digits as are read."""
        found = super().shown()
        for side in SIDES:
            # The word for a rest has no digits.
            found[side] = [
                float(f"{x:.8g}") if isinstance(x, float) else x for x in found[side]
            ]
        return found


@query
class HeavyCells(Query[CellRelease]):
    """The cells of a grid that hold most points.

    Without a ``mechanism`` they are drawn by rounds of permute-and-flip or read off one noisy
    sequence of all counts, whichever is more accurate; the sequence is taken from ``k = 2`` on
    (add-remove), and releases the noisy counts at the same price. The answer has cells as
    ``(west, south, east, north)``, most points first.

    With ``by`` the answer has the cells of each group, as pairs of a group and a cell. The
    epsilon is for all groups together, since a point is in one group and ``max_per_user`` is
    over all groups.

    Guarantee:
        ``epsilon``-DP, or ``(epsilon, delta)``-DP where groups are released first, under
        ``neighbours``: one point, or with ``user`` all points of one person, of which
        ``max_per_user`` are counted. All fields are public.

    Attributes:
        x: Column of the coordinate from west to east, such as lon.
        y: Column of the coordinate from south to north, such as lat.
        bounds: West, south, east and north of the map. A cell holds its west and south edges;
            the last ones hold the edges of the map.
        crs: Reference system of the coordinates, such as ``"EPSG:4326"`` for longitudes and
            latitudes.
        grid: Cells along both axes, or along x and along y.
        k: How many cells; 1 to their number.
        above: All cells with at least this noisy count, in place of ``k``. Not derived from the
            data.
        by: Column of groups, or several, for groups that are tuples; the cells of each are
            released.
        groups: The public groups, or a list of values for each column of ``by``, of which all
            combinations are groups. Each gets an answer; other rows are dropped. If not given,
            the groups with enough people are released first, for a part of epsilon and all of
            ``delta``.
        groups_share: Share of epsilon for groups that are released first; in (0, 1), by
            default 0.2.
        other: Whether to answer for all other rows together, as a group named None. Those
            without a group are among them.
        user: Column of the person that a point belongs to.
        max_per_user: How many points of a person are counted, chosen at random. With ``by``,
            over all groups.
        outside: ``"drop"`` points outside the bounds, or ``"clip"`` them to the nearest cell.
        interval: Probability that the intervals of all noisy counts hold at once. As 0.95,
            for the counts of these points. It costs nothing, and says which cells are certainly
            among those with most points; it needs a noisy sequence. With ``user`` the intervals
            are of the counted points alone, and no cell is sure.
        epsilon: Price of the release, in nats; finite, > 0.
        delta: Delta of the guarantee, if groups are released first; in (0, 1).
        neighbours: ``"add-remove"`` or ``"substitute"``, of a point or of a person.
        mechanism: How cells are drawn. A short name (``dpselect.mechanisms.MECHANISMS``), or a
            function of ``epsilon=``.

    Examples:
        >>> import dpselect as dp
        >>> market = [[0.1, 0.1]] * 500 + [[0.6, 0.9]] * 300 + [[0.9, 0.1]] * 5
        >>> heavy = dp.HeavyCells(
        ...     bounds=(0, 0, 1, 1), grid=2, k=2, epsilon=2.0, neighbours="add-remove"
        ... )
        >>> heavy.release(market).answer
        ((0.0, 0.0, 0.5, 0.5), (0.5, 0.5, 1.0, 1.0))
    """

    x: str | None = None
    y: str | None = None
    bounds: Sequence[float]
    crs: str | None = None
    grid: int | tuple[int, int]
    k: int | None = None
    above: float | None = None
    by: str | Sequence[str] | None = None
    groups: Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None = None
    groups_share: float | None = None
    other: bool = False
    user: str | None = None
    max_per_user: int | None = None
    outside: Outside = "drop"
    interval: float | None = None
    epsilon: float
    delta: float = 0.0
    neighbours: NeighboursLike
    mechanism: MechanismLike | None = None

    counts_what_it_scores = True

    def reads(self) -> Columns:
        return columns_of_points(self, self.bounds)

    def design(self) -> CellsDesign | GroupedCells:
        if self.by is not None:
            return _grouped(self)
        why = "goes with groups: name their column with `by`"
        validation.left_out(self, "groups", "groups_share", "other", "delta", why=why)
        rows = PointRows.of(self)
        grid = uniform_grid(self.grid)
        facts = _facts(grid, self.neighbours, rows.max_per_user)
        draw = TopK.choose(
            facts,
            k=self.k,
            above=self.above,
            mechanism=self.mechanism,
            rounds=PermuteAndFlip(epsilon=self.epsilon),
            of="cells",
            interval=self.interval,
        )
        return CellsDesign(
            plan=draw.plan(facts, "points", public=("the bounds", "the grid"), passes=1),
            exact=draw.mechanism.exact,
            rows=rows,
            grid=grid,
            facts=facts,
            draw=draw,
        )


@dataclass(frozen=True, kw_only=True)
class CellsDesign(Design[CellRelease]):
    """The public inputs of the draw of cells of one grid.

    Attributes:
        rows: How rows are read as points.
        grid: The grid.
        facts: What is public of the counts of its cells.
        draw: How cells are drawn.
    """

    rows: PointRows
    grid: Partition
    facts: Facts
    draw: TopK

    def prepare(self, data: object) -> Callable[[Plan], CellRelease]:
        counts = self.rows.read(data).in_cells(self.grid)
        draw = self.draw.prepare_positions(self.facts.of(counts))
        return lambda plan: self.release_of([draw()], plan)

    def release_of(self, drawn: Sequence[Drawn], plan: Plan) -> CellRelease:
        """Return the cells of one draw after the other."""
        positions = [position for one in drawn for position in one.positions]
        cells = self.grid.in_box(self.rows.box, np.array(positions, dtype=np.int64))
        return CellRelease(
            tuple(map(tuple, cells.tolist())),
            plan,
            noisy_scores=_together(drawn, "noisy_scores"),
            interval=_together(drawn, "interval") if self.draw.interval else None,
            certain=_together(drawn, "certain") if self.draw.interval else None,
        )


@dataclass(frozen=True, kw_only=True)
class GroupedCells(GroupedDesign[CellRelease, Drawn]):
    """The cells of one group, drawn for each from one reading, and how points are grouped.

    The points of all groups are counted by their group and cell, and every group is answered by
    the same mechanism, for single points that come or go (``dpselect.tables.groups``).
    """

    each: CellsDesign

    def check(self, data: object) -> None:
        self.each.rows.check(data)
        self.grouping.check(data)

    def released(
        self, groups: tuple[Hashable, ...], answers: list[Drawn], plan: Plan
    ) -> CellRelease:
        release = self.each.release_of(answers, plan)
        pairs = zip(groups, answers, strict=True)
        of_each = [group for group, one in pairs for _ in one.positions]
        answer = tuple(zip(of_each, release.answer, strict=True))
        return replace(release, answer=answer, groups=groups)

    def answers(self, data: object, groups: tuple[Hashable, ...]) -> Callable[[], list[Drawn]]:
        each, rows = self.each, self.each.rows.held_by(data)
        placed = partial(inside, box=rows.box, outside=rows.outside)
        numeric = {"x": str(rows.x), "y": str(rows.y)}
        points = self.grouping.rows(data, numeric, groups, placed=placed)
        held = in_cells_of_groups(points, rows.box, each.grid, len(groups))
        draws = [
            each.draw.prepare_positions(each.facts.of(one), draws=len(held)) for one in held
        ]
        return lambda: [draw() for draw in draws]


def _grouped(asked: HeavyCells) -> GroupedCells:
    """Return the design of the densest cells of groups.

    Raises:
        ParameterError: A field is out of its range, or does not go with another.
    """
    if asked.x is None:
        raise validation.needs("by", "x", "y", of="coordinates")
    PointRows.of(asked)
    grouping = Groups.of(asked, groups_first)
    for name in grouping.by:
        validation.different_columns(x=asked.x, y=asked.y, by=name)
    each: Any = replace(asked, **grouping.in_each).design()
    return GroupedCells(
        plan=grouping.plan(each.plan), exact=each.exact, each=each, grouping=grouping
    )


def _together(drawn: Sequence[Drawn], name: str) -> tuple[Any, ...] | None:
    """Return what all draws have as one; None if they have none."""
    found = [getattr(one, name) for one in drawn]
    return None if None in found else tuple(chain.from_iterable(found))
