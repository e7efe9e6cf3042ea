"""The query of a tree with one branch for every value of a column."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, get_args

from dpselect import validation
from dpselect.errors import DataError
from dpselect.mechanisms import MechanismLike
from dpselect.plan import Plan
from dpselect.query import query
from dpselect.release import Release
from dpselect.trees.base import Claims, _RecordsQuery
from dpselect.trees.counts import Counts
from dpselect.trees.criteria import CRITERIA, Criterion
from dpselect.trees.growth import Growth, Splits
from dpselect.trees.samplers import Sampler
from dpselect.trees.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class TreeRelease(Release[Tree]):
    """A release of one tree."""

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self.candidate

    def _made_of(self) -> dict[str, Any] | None:
        text = self.tree.to_json()
        with suppress(DataError):  # of values that JSON does not hold
            if Tree.from_json(text) == self.tree:
                return {"tree": text, "exact": self.exact, "refunded": self.refunded}
        return None

    @classmethod
    def remade(cls, kept: Mapping[str, Any], **more: Any) -> Self:  # noqa: ANN401
        """Return a release of the tree that a ledger keeps."""
        tree = Tree.from_json(kept["tree"])
        return cls((tree,), exact=kept["exact"], refunded=kept["refunded"], **more)

    def released(self) -> dict[str, Any]:
        """Return the tree as text."""
        return {"tree": self.tree.to_text()}

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain Python values, the tree by ``Tree.to_dict``."""
        return {**super().to_dict(), "tree": self.tree.to_dict()}

    def table(self) -> dict[str, list[Any]]:
        """Return the lines of the tree as short as it can be said."""
        return {"tree": self.tree.summary()}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree on at most one page, with its price as the title.

        Args:
            ax: Axes to draw into; a new figure if not given.
        """
        price = f"ε = {self.epsilon:g} ({self.neighbours} neighbours)"
        return self.tree.plot(ax, title=f"{self.plan.name}, {price}; class (noisy counts)")


@query
class ID3Tree(_RecordsQuery[TreeRelease]):
    """A decision tree whose splits are drawn privately.

    With ``splits="values"`` it is DiffPID3, whose leaves also get the epsilon that their paths
    have left: its global, local and shifted forms draw by ``"exponential"``,
    ``"local-dampening"`` and ``"shifted"``, by information gain.

    Attributes:
        max_depth: Maximal number of splits on a path; >= 0. Chosen from ``max_records``,
            ``epsilon``, the classes and the domains if not given.
        criterion: How a split is scored: ``"gini"``, ``"information-gain"`` or ``"majority"``.
            See ``dpselect.trees.criteria``.
        mechanism: How a split is drawn. A short name (``dpselect.mechanisms.MECHANISMS``), or a
            function of ``epsilon=``. By default as for ``BestColumns``.
        splits: Branches of a split. ``"thresholds"``: numbers have two, at an edge of their
            bins, and a column can be split again below; categories have one for each.
            ``"values"``: one for every value of a domain, among nodes with enough records by a
            noisy count.

    Source: Farias et al., VLDB J. 2023, Algorithm 4 (DiffPID3); our leaves also get
        the epsilon that their paths have left.

    Examples:
        >>> import dpselect as dp
        >>> weather = [["rain"], ["sun"]] * 500
        >>> plans = ["in", "out"] * 500
        >>> tree = dp.ID3Tree(
        ...     domains={"x0": ["rain", "sun"]}, classes=["in", "out"], max_records=2000,
        ...     max_depth=1, epsilon=10.0, neighbours="add-remove",
        ... ).release((weather, plans)).tree
        >>> tree.depth, tree.leaves
        (1, 2)
    """

    max_depth: int | None = None
    criterion: Criterion = "gini"
    mechanism: MechanismLike | None = None
    splits: Splits = "thresholds"

    composition = (
        "a record is in one node of each level: the levels' prices add up, nodes of one level "
        "are parallel"
    )

    def _training(self, claims: Claims) -> Growth:
        depth = self.max_depth
        if depth is not None:
            depth = validation.at_least("max_depth", depth, 0)
        return Growth(
            schema=claims.schema,
            epsilon=claims.epsilon,
            max_depth=depth,
            criterion=validation.one_of("criterion", self.criterion, CRITERIA),
            mechanism=self.mechanism,
            max_records=claims.max_records,
            splits=validation.one_of("splits", self.splits, get_args(Splits)),
            steps=claims.steps,
        )

    def _drawn(
        self, training: Growth, counts: Counts, sampler: Sampler, plan: Plan
    ) -> TreeRelease:
        return TreeRelease((Tree(training.schema, training.grow(counts, sampler)),), plan)
