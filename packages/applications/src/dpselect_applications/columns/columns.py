"""Columns with the most information about labels: a choice among contingency tables.

A column is scored by its table of values by classes, as the first split of a tree is; the
scores and their sensitivities are those of ``dpselect.trees.criteria``. A record is in one cell
of each table, so ``k`` draws without replacement are ``k`` rounds of one mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from dpselect import Plan, Release, Spend
from dpselect.extend import (
    Counts,
    Criterion,
    RecordsQuery,
    Sampler,
    Training,
    drawn_by,
    level_passes,
    objective_of,
    query,
    validation,
)
from dpselect.mechanisms import Mechanism, MechanismLike


@dataclass(frozen=True, kw_only=True)
class _Choice(Training[Release[str]]):
    """The draws of columns."""

    asked: BestColumns

    def __post_init__(self) -> None:
        validation.some_of("k", self.asked.k, len(self.schema.names), "columns with a domain")
        super().__post_init__()

    @cached_property
    def priced(self) -> Mechanism:
        """The mechanism of all draws, by its price for an individual of ``steps`` records."""
        asked = self.asked
        return drawn_by(asked.mechanism, asked.epsilon, asked.criterion, asked.max_records)

    @property
    def label(self) -> str:
        return f"{self.priced.label} by {self.asked.criterion}"

    @property
    def passes(self) -> int:
        return level_passes(self.schema, 1)

    def spends(self) -> tuple[Spend, ...]:
        return (self.priced.spend(self.priced.purpose, self.asked.k),)

    def draw(self, counts: Counts, sampler: Sampler, plan: Plan) -> Release[str]:
        [tables] = counts.tables(0, 1)
        names, most = self.schema.names, self.asked.max_records
        objective = objective_of(self.asked.criterion, tables, names, max_records=most)
        of_a_record = replace(self.priced, epsilon=self.asked.epsilon / self.steps)
        drawn = sampler.choose(of_a_record, objective, self.asked.k)
        return Release(tuple(names[place] for place in drawn), plan)


@query
class BestColumns(RecordsQuery[Release[str]]):
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

    training = _Choice

    def heads(self) -> tuple[str, str]:
        return "column", ""
