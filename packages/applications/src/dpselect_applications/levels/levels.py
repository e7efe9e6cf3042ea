"""The detail of a table of codes, chosen privately, with noisy counts at this detail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import exp, expm1, inf
from typing import Literal

import numpy as np

from dpselect import ErrorBound, Plan, Query, Spend
from dpselect.draws import Exponential
from dpselect.errors import ParameterError
from dpselect.extend import (
    LARGEST_SCALE,
    Columns,
    Design,
    Indices,
    KeyRows,
    NeighboursLike,
    Released,
    changed_rows,
    check_scale,
    discrete_laplace,
    query,
    scale_for,
    validation,
)
from dpselect_applications.levels.cut_exponential import Cuts, draw_cut, excess
from dpselect_applications.levels.hierarchy import Hierarchy
from dpselect_applications.levels.release import LevelsRelease
from dpselect_applications.levels.unevenness import STEPS, largest_step, unevenness

Inner = Literal["drop", "own"]
"""Whether rows of an inner code are dropped, or have a leaf below it."""


@query
class Levels(Query[LevelsRelease]):
    """Counts of a tree of codes, at the finest useful level.

    The tree is public, such as that of a classification of diseases, trades or places. Every
    leaf is below exactly one cell of the table. The cells are one level of the tree, or finer
    where rows are many and uneven, and coarser elsewhere. The exponential mechanism selects
    them among all such tables, by the sum of the errors of all leaves when the noisy count of
    each cell is divided equally among its leaves. Then noise is added to the counts of the
    cells. The count of a code above is the sum of its cells, so all numbers add up.

    Data are a frame, the path of a Parquet or CSV file, or an array, list or Series of codes.
    From a lazy frame (polars, DuckDB, PySpark) only the counts of the leaves leave the engine.
    Values that are not a leaf of the tree are dropped, before the rows of a person are limited.

    Guarantee:
        ``epsilon``-DP under ``neighbours`` that differ in one row, or with ``user`` in all rows
        of one person. All fields are public. Which ``max_per_user`` codes of a person are
        counted depends on that person's rows alone (``dpselect.tables.people``).

    Attributes:
        column: Column of the code.
        tree: The parent of each code; ``path_tree`` and ``prefix_tree`` make it. Codes without
            a parent are the top level. Not derived from the data.
        inner: Whether rows with a code that has others below it are dropped, or counted. With
            ``"own"`` they are counted in a leaf below it, named after it with ``" *"``.
        user: Column of the person that a row belongs to. Text, integers or dates; rows
            without a person are dropped.
        max_per_user: Maximal number of different codes counted per person. They are selected at
            random; with 1 each person counts once.
        tuning_share: Share of epsilon for the selection of the cells; in (0, 1).
        epsilon: Price of the release, in nats; finite, > 0.
        neighbours: ``"add-remove"`` or ``"substitute"``, of a row or of a person.

    Source: the question is that of SafeTab-P (2025, arXiv:2505.01472), which compares noisy
        totals with public thresholds; the choice among all cuts is ours.

    Examples:
        >>> import dpselect as dp
        >>> tree = {"Leeds": "north", "York": "north", "Bath": "south", "Exeter": "south"}
        >>> places = ["Leeds"] * 500 + ["York"] * 10 + ["Bath"] * 40 + ["Exeter"] * 41
        >>> levels = dp.Levels(tree=tree, epsilon=5.0, neighbours="add-remove")
        >>> sorted(levels.release(places).leaves())
        ['Bath', 'Exeter', 'Leeds', 'York']
    """

    column: str | None = None
    tree: Mapping[str, str]
    inner: Inner = "drop"
    user: str | None = None
    max_per_user: int | None = None
    tuning_share: float = 0.05
    epsilon: float
    neighbours: NeighboursLike

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The tree with the positions of its codes."""
        own = validation.one_of("inner", self.inner, Inner) == "own"
        return Hierarchy.of(validation.instance("tree", self.tree, Mapping), own=own)

    def excess(self) -> float:
        """Return a bound on the expected error beyond that of the best level, in rows.

        It is the sum over all leaves; that of a level is its unevenness, and the mean noise of
        its cells at the epsilon of the counts. The bound holds on any data.
        """
        design = self.design()
        return excess(design.hierarchy.height, float(design.decay) * STEPS)

    def reads(self) -> Columns:
        return ((self.column_named(), Released(listed=self.hierarchy.values)),)

    def design(self) -> LevelsDesign:
        hierarchy = self.hierarchy
        relation = validation.table_neighbours(self.neighbours)
        if self.column is not None:
            validation.instance("column", self.column, str)
        rows = KeyRows.of(self, candidates=hierarchy.values)
        epsilon = validation.positive("epsilon", self.epsilon)
        of_cells = epsilon * validation.share("tuning_share", self.tuning_share)
        changed = changed_rows(rows.max_per_user, relation)
        scale = scale_for(epsilon - of_cells, changed) if 0 < of_cells < epsilon else inf
        check_scale(scale, most=LARGEST_SCALE / STEPS)
        many = len(hierarchy.values)
        rho = Exponential().rho(of_cells)
        return LevelsDesign(
            plan=Plan(
                mechanism=(
                    f"discrete Laplace noise of scale {scale:.6g} on cells chosen among all "
                    f"cuts of a tree of {many} leaves"
                ),
                spends=(
                    Spend("which cells, in one draw", of_cells, rho=rho),
                    Spend("noise on the counts of the cells", epsilon - of_cells),
                ),
                epsilon=epsilon,
                neighbours=relation,
                public=("the tree",),
                error=ErrorBound.of_count(scale, "people in the count of one cell"),
                passes=1,
            ),
            hierarchy=hierarchy,
            rows=rows,
            decay=Fraction(of_cells) / (changed * largest_step(hierarchy.shape)),
            scale=scale,
        )


@dataclass(frozen=True, kw_only=True)
class LevelsDesign(Design[LevelsRelease]):
    """The public inputs of the draw of the cells and of their noise.

    Attributes:
        hierarchy: The tree.
        rows: What is read of the rows.
        decay: Nats of the draw for each step of a cut's error.
        scale: Scale of the noise on the counts.
    """

    hierarchy: Hierarchy
    rows: KeyRows
    decay: Fraction
    scale: float

    def check(self, data: object) -> None:
        self._rows(data).check(data)

    def prepare(self, data: object) -> Callable[[Plan], LevelsRelease]:
        counts, shape = self.counts(data), self.hierarchy.shape
        cuts = self.cuts(counts)

        def draw(plan: Plan) -> LevelsRelease:
            cells = draw_cut(cuts, self.decay)
            held = [counts[shape.first[one] : shape.last[one]].sum() for one in cells]
            noisy = discrete_laplace(np.array(held, dtype=np.int64), self.scale)
            return LevelsRelease(
                tuple(self.hierarchy.codes[one] for one in cells),
                plan,
                counts=tuple(noisy.tolist()),
                scale=self.scale,
            )

        return draw

    def counts(self, data: object) -> Indices:
        """Return the count of each leaf; private."""
        rows = self._rows(data)
        [counts] = rows.read(data).of(rows.candidates or ())
        return counts

    def cuts(self, counts: Indices) -> Cuts:
        """Return the tree with the error of each node as a cell, in steps; private."""
        # The mean of the absolute noise of one cell.
        q = exp(-1 / self.scale)
        noise = round(STEPS * 2 * q / -expm1(-2 / self.scale))
        shape = self.hierarchy.shape
        return Cuts(shape.children, unevenness(shape, counts) + noise)

    def _rows(self, data: object) -> KeyRows:
        """Return what is read, with the leaves as values of the column's kind."""
        from dpselect.extend import kind_in

        column = self.rows.columns[0] if self.rows.columns else None
        kind = kind_in(data, column)
        values = tuple(kind.decode(one) for one in self.hierarchy.values)
        if len(set(values)) < len(values):
            raise ParameterError(
                f"`tree` has codes that are one value of a column of {kind} values"
            )
        return replace(self.rows, candidates=values)
