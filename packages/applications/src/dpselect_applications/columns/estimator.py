"""The estimator of scikit-learn's shape that selects columns."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from dpselect import Release
from dpselect.extend import Criterion, PrivateEstimator
from dpselect.mechanisms import MechanismLike
from dpselect_applications.columns.columns import BestColumns


@dataclass(eq=False, repr=False)
class PrivateSelectKBest(SelectorMixin, PrivateEstimator):  # type: ignore[misc]
    """Select ``k`` columns privately by their information about the labels.

    Its query is ``BestColumns``, which documents its parameters and the guarantee. ``domains``
    may also be one domain for all columns or a sequence of one for each; ``budget`` is charged
    ``epsilon`` by every fit. ``transform`` copies columns of its data without any protection.

    Attributes:
        selected_: Names of the columns, in the order drawn.

    Examples:
        >>> from dpselect.trees import PrivateSelectKBest
        >>> x = [["rain", "red"], ["sun", "red"]] * 500
        >>> y = ["in", "out"] * 500
        >>> best = PrivateSelectKBest(
        ...     epsilon=2.0, k=1, domains=[["rain", "sun"], ["red", "blue"]],
        ...     classes=["in", "out"], max_records=2000,
        ... ).fit(x, y)
        >>> best.transform(x[:2]).tolist()
        [['rain'], ['sun']]
    """

    _: KW_ONLY
    k: int = 10
    criterion: Criterion = "gini"
    mechanism: MechanismLike | None = None
    _kind = BestColumns

    def _keep(self, release: Release[str]) -> None:
        self.selected_ = release.answer

    def transform(self, X: Any) -> Any:  # noqa: ANN401, N803 -- scikit-learn's name
        import narwhals as nw
        import polars as pl

        made, given = (
            super().transform(X),
            nw.from_native(X, eager_only=True, pass_through=True),
        )
        if not isinstance(made, pl.DataFrame) or not isinstance(given, nw.DataFrame):
            return made
        # scikit-learn makes a frame of polars of an array, whose columns have no types.
        return given.select(made.columns).to_polars()

    def _get_support_mask(self) -> Any:  # noqa: ANN401 -- an array, for scikit-learn
        check_is_fitted(self)
        numbered = [f"x{place}" for place in range(self.n_features_in_)]
        return np.isin(getattr(self, "feature_names_in_", numbered), self.selected_)
