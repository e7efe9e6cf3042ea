"""ID3 with private splits, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.trees import drawing, levels
from dpselect.trees.criteria import CRITERIA, Criterion
from dpselect.trees.engine import EngineRecords
from dpselect.trees.estimator import OnInvalid, PrivateTreeClassifier, relation_of, report
from dpselect.trees.growth import MECHANISMS, Growth, MechanismName
from dpselect.trees.patterns import Patterns
from dpselect.trees.records import Domains, Schema, Table
from dpselect.trees.report import path_epsilon
from dpselect.trees.sampling import Sampler
from dpselect.trees.structure import Tree
from dpselect.typing import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.budget import Budget

COMPOSITION = (
    "a record is in one node of each level, so nodes of a level cost once (parallel "
    "composition) and levels add up"
)


class ID3Classifier(PrivateTreeClassifier):
    """A decision tree with one branch for every value of the column it asks for.

    Guarantee:
        ``epsilon``-DP under ``neighbours`` for everything that :meth:`fit` sets. Public:
        all arguments, the columns of ``X`` and their types; under substitution also the
        number of records. Values outside of what was declared are repaired record by
        record: numbers clamped, missing and unknown values sent to the domain's ``other``
        or their record dropped, records with a label outside of ``classes`` dropped.

    Args:
        epsilon: Total, in nats; finite, > 0.
        max_depth: Questions on a path, at most; >= 0.
        criterion: ``"information-gain"``, ``"gini"`` or ``"majority"``.
        mechanism: ``"shifted"``, ``"permute-and-flip"``, ``"exponential"`` or
            ``"local-dampening"``. Shifted was the most accurate with information gain on
            the papers' data; the other criteria have only a global sensitivity, and
            permute-and-flip is best for them.
        domains: Public values of each column: a mapping from names to
            :class:`~dpselect.trees.Categories`, :class:`~dpselect.trees.Bins` or lists; or
            one domain for all columns. Required. Columns without a domain are not used.
        classes: The labels that can occur; at least two. Required.
        max_records: Bound on the number of records; >= 2. Required.
        neighbours: ``"add-remove"`` or ``"substitute"``, or the relation itself; for the
            latter every cost doubles.
        on_invalid: ``"repair"``; or ``"raise"``, for curators who declare that nothing is
            outside: then whether it raises is part of what is public.
        budget: Where ``epsilon`` is spent before anything is drawn.

    Attributes:
        tree_: The released :class:`~dpselect.trees.Tree`.
        classes_: The declared classes, shape ``(classes,)``.
        privacy_report_: What was spent where.
        n_features_in_: The number of columns of ``X``.
        feature_names_in_: Their names, if ``X`` was a frame.

    Source: Farias et al., VLDB J. 2023, Algorithm 4 (DiffPID3); our leaves also get what
        their paths did not spend.

    Examples:
        >>> from dpselect.trees import ID3Classifier
        >>> x = [["rain"], ["sun"]] * 500
        >>> y = ["in", "out"] * 500
        >>> tree = ID3Classifier(
        ...     epsilon=10.0, max_depth=1, domains=[["rain", "sun"]], classes=["in", "out"],
        ...     max_records=2000,
        ... ).fit(x, y)
        >>> tree.predict([["sun"], ["rain"]])
        array(['out', 'in'], dtype='<U3')
    """

    composition: ClassVar[str] = COMPOSITION

    def __init__(  # noqa: PLR0913 -- each is one public claim
        self,
        epsilon: float = 1.0,
        *,
        max_depth: int = 5,
        criterion: Criterion = "information-gain",
        mechanism: MechanismName = "shifted",
        domains: Domains = None,
        classes: Sequence[Hashable] | None = None,
        max_records: int | None = None,
        neighbours: Neighbours | str = "add-remove",
        on_invalid: OnInvalid = "repair",
        budget: Budget | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.criterion = criterion
        self.mechanism = mechanism
        self.domains = domains
        self.classes = classes
        self.max_records = max_records
        self.neighbours = neighbours
        self.on_invalid = on_invalid
        self.budget = budget

    def _plan(self, public: Schema, max_records: int) -> Growth:
        for name, value, known in (
            ("criterion", self.criterion, CRITERIA),
            ("mechanism", self.mechanism, MECHANISMS),
        ):
            if value not in known:
                raise ParameterError(f"{name} must be one of {', '.join(known)}")
        return Growth(
            schema=public,
            epsilon=path_epsilon(self.epsilon, relation_of(self)),
            max_depth=_validate.at_least("max_depth", self.max_depth, 0),
            criterion=self.criterion,
            mechanism=self.mechanism,
            max_records=max_records,
        )

    def _fit(self, plan: Growth, patterns: Patterns | EngineRecords, sampler: Sampler) -> None:
        if isinstance(patterns, EngineRecords):
            root = levels.grow(plan, patterns, sampler)
        else:
            root = plan.grow(patterns, sampler)
        self.tree_ = Tree(plan.schema, root)
        self.privacy_report_ = report(plan, self)

    def predict_proba(self, X: Table) -> Values:  # noqa: N803 -- scikit-learn's name
        """Return released class shares at each record's leaf, shape ``(n, classes)``.

        A record with a value outside of its domain gets the shares of the node where it
        cannot go on.
        """
        codes = self._codes(X)
        return self.tree_.probabilities(codes)

    def predict(self, X: Table) -> Any:  # noqa: ANN401, N803 -- scikit-learn's signature
        """Return the class of the largest released share for each record, shape ``(n,)``."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the released tree."""
        return drawing.plot(self.tree_, ax)

    def __str__(self) -> str:
        return self.tree_.to_text() if hasattr(self, "tree_") else repr(self)
