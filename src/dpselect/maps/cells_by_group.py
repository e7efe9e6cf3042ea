"""The densest cells of each group: those of one group, drawn for each from one reading.

The points of all groups are grouped by their group and cell, and every group is answered by the
same mechanism, for single points that come or go (``dpselect.keys.grouping``).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.keys.grouping import Grouping, grouping_of
from dpselect.maps.points import PointRows
from dpselect.mechanisms.base import Drawn
from dpselect.plan import Plan
from dpselect.query import Design
from dpselect.typing import Values

if TYPE_CHECKING:
    from dpselect.maps.heavy_cells import CellRelease, CellsDesign, HeavyCells


@dataclass(frozen=True, kw_only=True)
class GroupedCells(Design["CellRelease"]):
    """The cells of one group, and how points are grouped.

    Attributes:
        each: The design of one group, for single points that come or go.
        grouping: How rows are grouped.
        rows: How they are read as points.
    """

    each: CellsDesign
    grouping: Grouping
    rows: PointRows

    def check(self, data: object) -> None:
        self.rows.check(data)
        self.grouping.check(data)

    def prepare(self, data: object) -> Callable[[Plan], CellRelease]:
        if self.grouping.first is not None:
            # The rows of released groups are read after the charge.
            self.check(data)
        nothing: list[Drawn] = []
        draw = self.grouping.prepare(data, partial(self._of_groups, data), nothing)

        def drawn(plan: Plan) -> CellRelease:
            found = draw(plan)
            pairs = list(zip(found.groups, found.answers, strict=True))
            release = self.each.release_of([one for _, one in pairs], plan)
            of_each = [group for group, one in pairs for _ in one.positions]
            return replace(
                release,
                answer=tuple(zip(of_each, release.answer, strict=True)),
                groups=found.groups,
            )

        return drawn

    def _of_groups(
        self, data: object, groups: tuple[Hashable, ...]
    ) -> Callable[[], list[Drawn]]:
        """Count the points of groups, and return the draw of their cells."""
        each = self.each
        draws = [
            each.draw.prepare_positions(each.objective(one))
            for one in self._counts(data, groups)
        ]
        return lambda: [draw() for draw in draws]

    def _counts(self, data: object, groups: tuple[Hashable, ...]) -> list[Values]:
        """Return the number of points in each cell, for each group."""
        # narwhals takes as long to import as all of this room.
        from dpselect.maps import engine

        placed = partial(engine.inside, box=self.rows.box, outside=self.rows.outside)
        numeric = {"x": str(self.rows.x), "y": str(self.rows.y)}
        points = self.grouping.rows(data, numeric, groups, placed=placed)
        shape = self.each.grid.shape or (1, 1)
        return engine.in_cells_of_groups(points, self.rows.box, shape, len(groups))


def grouped(asked: HeavyCells) -> GroupedCells:
    """Return the design of the densest cells of groups.

    Raises:
        ParameterError: A field is out of its range, or does not go with another.
    """
    rows = PointRows.of(asked)
    if rows.x is None:
        raise ParameterError("`by` needs `x` and `y`, the names of the columns of coordinates")
    by = validation.instance("by", asked.by, str)
    named = [rows.x, rows.y, by, *([] if asked.user is None else [asked.user])]
    if len(set(named)) < len(named):
        raise ParameterError("`x`, `y`, `by` and `user` must be different columns")
    grouping = grouping_of(asked)
    each: Any = replace(asked, **grouping.in_each).design()
    return GroupedCells(
        plan=grouping.plan(each.plan),
        exact=each.exact,
        each=each,
        grouping=grouping,
        rows=rows,
    )
