"""The query of the columns that say most about the labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpselect import validation
from dpselect.mechanisms import Mechanism, MechanismLike
from dpselect.plan import Plan, Spend
from dpselect.query import query
from dpselect.release import Release
from dpselect.trees.base import Claims, Sampler, _RecordsQuery
from dpselect.trees.counts import Counts, level_passes
from dpselect.trees.criteria import CRITERIA, Criterion, objective_of
from dpselect.trees.id3 import drawn_by


@query
class BestColumns(_RecordsQuery[Release[str]]):
    """The k columns with the most information about the labels.

    A column is scored by its table of values by classes: the gain of a decision tree's first
    split. Columns are drawn without replacement; no score is released. The answer has the
    names in the order drawn.

    Attributes:
        k: Number of columns; at most the number of columns with a domain.
        criterion: How a column is scored: ``"gini"``, ``"information-gain"`` or ``"majority"``.
            See ``dpselect.trees.criteria``.
        mechanism: How columns are drawn. A short name (``dpselect.mechanisms.MECHANISMS``), or
            a function of ``epsilon=``. Permute-and-flip by default.

    Examples:
        >>> import dpselect as dp
        >>> weather = [["rain", "red"], ["sun", "red"]] * 500
        >>> best = dp.BestColumns(
        ...     domains={"x0": ["rain", "sun"], "x1": ["red", "blue"]},
        ...     classes=["in", "out"], max_records=2000, k=1, epsilon=2.0,
        ...     neighbours="add-remove",
        ... )
        >>> best.release((weather, ["in", "out"] * 500)).answer
        ('x0',)
    """

    k: int
    criterion: Criterion = "gini"
    mechanism: MechanismLike | None = None

    def heads(self) -> tuple[str, str]:
        return "column", ""

    def _training(self, claims: Claims) -> _Choice:
        criterion = validation.one_of("criterion", self.criterion, CRITERIA)
        k = validation.some_of("k", self.k, len(claims.schema.names), "columns with a domain")
        drawn = drawn_by(self.mechanism, claims.epsilon, criterion, claims.max_records)
        return _Choice(claims, k, criterion, drawn)


@dataclass(frozen=True)
class _Choice:
    """Public parameters of the draws, and the draws."""

    claims: Claims
    k: int
    criterion: Criterion
    priced: Mechanism
    """The mechanism of all draws, by its price for an individual of ``steps`` records."""

    error = None
    """No bound holds on all data."""

    @property
    def label(self) -> str:
        """Mechanism that draws columns."""
        return f"{self.priced.label} by {self.criterion}"

    @property
    def passes(self) -> int:
        """The most queries that counting takes in an engine."""
        return level_passes(self.claims.schema, 1)

    def spends(self) -> tuple[Spend, ...]:
        """Return the price of the draws."""
        return (self.priced.spend(self.priced.purpose, self.k),)

    def draw(self, counts: Counts, sampler: Sampler, plan: Plan) -> Release[str]:
        """Draw columns, and return their names."""
        [tables] = counts.tables(0, 1)
        names, most = self.claims.schema.names, self.claims.max_records
        objective = objective_of(self.criterion, tables, names, max_records=most)
        of_a_record = replace(self.priced, epsilon=self.priced.epsilon / self.claims.steps)
        drawn = sampler.choose(of_a_record, objective, self.k)
        return Release(tuple(names[place] for place in drawn), plan)
