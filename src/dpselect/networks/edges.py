"""Edge lists of any kind as positions of two ends, and those as compressed rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from dpselect import _validate
from dpselect.errors import DataError, ParameterError, PublicClaimError
from dpselect.typing import Indices

Rule: TypeAlias = Literal["refuse", "drop"]
"""What happens to a record that is no edge of the graph: an error, or nothing."""

Nodes: TypeAlias = int | Iterable[Hashable]
"""The public nodes: ``n`` for ids ``0`` to ``n - 1``, or all ids or labels."""

UNKNOWN = -1
"""The position of an end that is not among the nodes."""


class Ends(NamedTuple):
    """Two ends for each record, by position among the nodes or ``UNKNOWN``; int32."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]


def checked_nodes(nodes: Nodes) -> Sequence[Hashable]:
    """Return the ids or labels of all nodes, at least one, none twice."""
    if isinstance(nodes, (str, bytes)):
        raise ParameterError("nodes must be a number of nodes, or all their ids or labels")
    if not isinstance(nodes, Iterable):
        return range(_validate.at_least("nodes", nodes, 1))
    # Arrays and series give up their own scalars, which are neither hashable nor plain.
    labels = tuple(nodes.tolist() if hasattr(nodes, "tolist") else nodes)
    if not labels:
        raise ParameterError("nodes must name at least one node")
    if labels == tuple(range(len(labels))):
        return range(len(labels))
    try:
        repeated = len(set(labels)) != len(labels)
    except TypeError:
        raise ParameterError("nodes must be ids or labels that can be hashed") from None
    if repeated:
        raise ParameterError("nodes must not name any node twice")
    return labels


def kept(ends: Ends, self_loops: Rule, unknown: Rule) -> Ends:
    """Apply the rules for records that are no edge."""
    known = (ends.source != UNKNOWN) & (ends.target != UNKNOWN)
    proper = (ends.source != ends.target) | ~known
    check_rules(self_loops, unknown, loops=not proper.all(), strangers=not known.all())
    keep = known & proper
    return ends if keep.all() else Ends(ends.source[keep], ends.target[keep])


def check_rules(self_loops: Rule, unknown: Rule, *, loops: bool, strangers: bool) -> None:
    """Refuse records that are no edge, if that is the rule for them."""
    rules = (
        (
            "unknown",
            unknown,
            strangers,
            "an edge names a node that is not among nodes, or none",
        ),
        ("self_loops", self_loops, loops, "an edge joins a node to itself"),
    )
    for name, rule, _, _ in rules:
        if rule not in get_args(Rule):
            raise ParameterError(f"{name} must be 'refuse' or 'drop', not {rule!r}")
    for name, rule, some, complaint in rules:
        if rule == "refuse" and some:
            raise PublicClaimError(f"{complaint}; {name}='drop' leaves such edges out")


def rows(ends: Ends, n: int) -> tuple[Indices, NDArray[np.int32]]:
    """Return sorted rows of both directions, every edge once in each.

    Returns:
        Where the row of each node begins, shape ``(n + 1,)``, and the rows.
    """
    from scipy import sparse

    both = (
        np.concatenate([ends.source, ends.target]),
        np.concatenate([ends.target, ends.source]),
    )
    matrix = sparse.coo_array(
        (np.ones(both[0].size, dtype=np.bool_), both), shape=(n, n)
    ).tocsr()
    matrix.sort_indices()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)


def of_matrix(matrix: Any, n: int) -> Ends:  # noqa: ANN401 -- any sparse class of SciPy
    """Return the ends of all non-zero entries of an ``(n, n)`` sparse matrix."""
    from scipy import sparse as sp

    is_sparse = sp.issparse(matrix)
    if not is_sparse:
        raise DataError("matrix must be a SciPy sparse array or matrix")
    entries = sp.coo_array(matrix)
    if entries.shape != (n, n):
        raise DataError(f"matrix must have a row and a column for each of the {n} nodes")
    present = entries.data != 0
    source, target = (place[present] for place in entries.coords)
    return Ends(source.astype(np.int32), target.astype(np.int32))


def of_pairs(pairs: Iterable[tuple[Hashable, Hashable]], nodes: Sequence[Hashable]) -> Ends:
    """Return the ends of pairs of ids or labels."""
    position = {label: index for index, label in enumerate(nodes)}
    flat = (position.get(end, UNKNOWN) for pair in pairs for end in pair)
    return of_array(np.fromiter(flat, dtype=np.int32).reshape(-1, 2))


def of_array(pairs: NDArray[np.integer]) -> Ends:
    """Return the ends of pairs of positions, shape ``(m, 2)``."""
    source, target = np.ascontiguousarray(pairs.T, dtype=np.int32)
    return Ends(source, target)
