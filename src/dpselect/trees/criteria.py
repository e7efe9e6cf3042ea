r"""What a split is worth: one score per column, from its table of values by classes.

With :math:`\tau_j` records of value :math:`j`, :math:`\tau_{jc}` of them of class :math:`c`:

====================  ================================================  ==================
criterion             score                                             global sensitivity
====================  ================================================  ==================
``information-gain``  :math:`-\sum_{jc} \tau_{jc} \log_2(\tau_j/\tau_{jc})`  :math:`f(N-1)`
``gini``              :math:`-\sum_j (\tau_j - \sum_c \tau_{jc}^2/\tau_j)`   :math:`2 - 2/N`
``majority``          :math:`\sum_j \max_c \tau_{jc}`                   1
====================  ================================================  ==================

The sum is weighted by counts, as in private trees since Friedman and Schuster: what does not
depend on the column is left out, and no private count is divided by. Each is monotone under
add/remove. A substitution is one removal and one addition, which move a score in opposite
directions, so the same bounds hold.

Source: Friedman and Schuster, KDD 2010, section 4; Farias et al., VLDB J. 2023, section 7.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity, Sensitivity
from dpselect.trees import records
from dpselect.trees.information import InformationGainSensitivity, records_per_step
from dpselect.trees.patterns import compress
from dpselect.trees.records import Domains, Labels, Table
from dpselect.typing import Indices

Criterion: TypeAlias = Literal["information-gain", "gini", "majority"]
"""How a split is scored."""


def objective_of(
    criterion: Criterion,
    tables: Sequence[Indices],
    candidates: Sequence[Hashable],
    *,
    max_records: int,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
) -> Objective:
    """Return a criterion over columns whose tables are counted already.

    Args:
        criterion: Its name.
        tables: Shape ``(values, classes)`` for each column; private.
        candidates: The columns. Public.
        max_records: Public bound on the number of records; >= 2.
        neighbours: ``ADD_REMOVE`` or ``SUBSTITUTE``.
    """
    score, sensitivity = CRITERIA[criterion]
    return Objective(
        [score(table) for table in tables],
        sensitivity(tables, max_records, neighbours),
        candidates,
        monotone=records_per_step(neighbours) == 1,
    )


def information_gain(
    x: Table,
    y: Labels,
    *,
    domains: Domains,
    classes: Sequence[Hashable],
    max_records: int,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
) -> Objective:
    """Return the information gain of splitting on each column, up to a common constant.

    Guarantee:
        The sensitivity equals the element local sensitivity at every distance, cut at the
        global bound. Public: domains, classes, ``max_records``.

    Args:
        x: A frame, or an array of shape ``(n, columns)``. Private.
        y: Labels, shape ``(n,)``. Private.
        domains: Public values of each column: a mapping from names to
            :class:`~dpselect.trees.Categories`, :class:`~dpselect.trees.Bins` or lists; or
            one domain for all columns. Only columns that have one are candidates.
        classes: The labels that can occur; at least two. Public.
        max_records: Bound on the number of records; >= 2. Public.
        neighbours: ``ADD_REMOVE`` or ``SUBSTITUTE``.

    Raises:
        ParameterError: A public argument is missing or out of range.
        ColumnError: A column is missing, or of another type than its domain.
        PublicClaimError: There are more records than ``max_records``.

    Examples:
        >>> from dpselect import trees
        >>> x = [["a", "s"], ["a", "t"], ["b", "s"], ["b", "t"]]
        >>> domains = {"x0": ["a", "b"], "x1": ["s", "t"]}
        >>> gain = trees.information_gain(
        ...     x, [0, 0, 1, 1], domains=domains, classes=[0, 1], max_records=10
        ... )
        >>> gain.scores
        array([ 0., -4.])
    """
    return _of_table("information-gain", x, y, domains, classes, max_records, neighbours)


def gini(
    x: Table,
    y: Labels,
    *,
    domains: Domains,
    classes: Sequence[Hashable],
    max_records: int,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
) -> Objective:
    """Return minus the count-weighted Gini impurity left after splitting on each column.

    Arguments and errors are those of :func:`information_gain`.
    """
    return _of_table("gini", x, y, domains, classes, max_records, neighbours)


def majority(
    x: Table,
    y: Labels,
    *,
    domains: Domains,
    classes: Sequence[Hashable],
    max_records: int,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
) -> Objective:
    """Return how many records the majority classes of each column's values get right.

    Arguments and errors are those of :func:`information_gain`.
    """
    return _of_table("majority", x, y, domains, classes, max_records, neighbours)


def _of_table(
    criterion: Criterion,
    x: Table,
    y: Labels,
    domains: Domains,
    classes: Sequence[Hashable],
    max_records: int,
    neighbours: Neighbours,
) -> Objective:
    records_per_step(neighbours)
    columns = records.read(x)
    public = records.schema(domains, classes, columns.names)
    labels, kind = records.labels(y, columns.rows)
    most = records.check_size(columns.rows, max_records)
    patterns = compress(
        records.codes(columns, public),
        records.label_codes(labels, kind, public),
        public.sizes,
        len(public.classes),
    )
    return objective_of(
        criterion,
        patterns.tables(np.arange(len(patterns.codes)), public.sizes),
        public.names,
        max_records=most,
        neighbours=neighbours,
    )


def _entropy(table: Indices) -> float:
    return float(_x_log_x(table).sum() - _x_log_x(table.sum(axis=1)).sum())


def _x_log_x(x: Indices) -> Any:  # noqa: ANN401 -- an array of x's shape
    return x * np.log2(np.maximum(x, 1))


def _impurity(table: Indices) -> float:
    totals = table.sum(axis=1)
    pure = (table**2).sum(axis=1) / np.maximum(totals, 1)
    return float((pure - totals).sum())


def _majority(table: Indices) -> float:
    return float(table.max(axis=1).sum())


def _gini_bound(_: object, max_records: int, neighbours: Neighbours) -> Sensitivity:
    return GlobalSensitivity(2 - 2 / max_records, neighbours, horizon=max_records)


def _majority_bound(_: object, max_records: int, neighbours: Neighbours) -> Sensitivity:
    return GlobalSensitivity(1, neighbours, horizon=max_records)


_Make: TypeAlias = Callable[[Sequence[Indices], int, Neighbours], Sensitivity]
CRITERIA: Mapping[str, tuple[Callable[[Indices], float], _Make]] = {
    "information-gain": (_entropy, InformationGainSensitivity),
    "gini": (_impurity, _gini_bound),
    "majority": (_majority, _majority_bound),
}
"""Score of a table and sensitivity of all, by name."""
