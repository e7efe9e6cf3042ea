"""Exact laws of the release of percentiles."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.draws.chains import marginals
from dpselect.mechanisms import MechanismFactory, by_name
from dpselect.neighbours import NeighboursLike
from dpselect.percentiles import halves, methods
from dpselect.percentiles.choosing import chosen
from dpselect.percentiles.joint import Joint
from dpselect.percentiles.objectives import checked_candidates
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Source
from dpselect.typing import Probabilities, Values

CUT = 1e-17
"""Outcomes of one draw of the recursion that are less likely are not followed."""


def percentile_laws(  # noqa: PLR0913 -- the public arguments of the release
    data: object,
    *,
    column: str | None = None,
    p: methods.Percents,
    candidates: ArrayLike,
    assumed_records: int | None = None,
    method: methods.Method | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
) -> Probabilities:
    """Return the exact laws of what ``release_percentiles`` releases, one for each percentile.

    Of several percentiles by the recursion every value and share that can be drawn is
    followed: in O(m (33 n)^2) for ``m`` percentiles and ``n`` candidates.

    Args:
        data: One number per record, as for the release. The laws are as private as they are.
        column: The numeric column, if ``data`` is a table.
        p: The percentile, or several.
        candidates: The values that may be released; not a range by pieces.
        assumed_records: As for the release.
        method: As for the release.
        epsilon: What the whole release costs, in nats.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name, or a function of ``epsilon=``.

    Returns:
        Shape ``(m, n)``; each row sums to 1.

    Raises:
        ParameterError: An argument is out of range, or the mechanism is unknown.
        NeighboursError: Another relation.
        ColumnError, DataError: As for the release.

    Examples:
        >>> from dpselect.percentiles import percentile_laws
        >>> percentile_laws(
        ...     range(100), p=[25, 50], candidates=[0, 25, 50, 75], epsilon=0.1,
        ...     neighbours="add-remove",
        ... ).round(3)
        array([[0.206, 0.589, 0.197, 0.009],
               [0.006, 0.115, 0.692, 0.187]])
    """
    points, relation = checked_candidates(candidates), _validate.table_neighbours(neighbours)
    drawn = chosen(
        percents=methods.checked_percents(p),
        points=points,
        method=method,
        per_user=1,
        assumed_records=assumed_records,
        epsilon=epsilon,
        neighbours=relation,
        mechanism=mechanism,
    )
    source = Source(data, column, None, relation, "repair")
    if isinstance(drawn, methods.Recursive):
        return laws_of_halves(drawn, source.ranks(points))
    if isinstance(drawn, Joint):
        return marginals(drawn.chain(source), float(drawn.decay))
    assert isinstance(drawn, methods.OneByOne)  # noqa: S101 -- for type checkers
    return sorted_laws(points, [one.law(source) for one in drawn.singles])


def sorted_laws(points: Values, laws: list[Probabilities]) -> Probabilities:
    """Return the laws of the order statistics of independent draws.

    At least ``i`` values are at or below a candidate: a Poisson binomial probability.
    """
    order = np.argsort(points, kind="stable")
    counts = np.zeros((len(laws) + 1, points.size))
    counts[0] = 1
    for law in laws:
        below = np.cumsum(law[order])
        counts[1:] = counts[1:] * (1 - below) + counts[:-1] * below
        counts[0] *= 1 - below
    upto = np.cumsum(counts[:0:-1], axis=0)[::-1]
    found = np.empty_like(upto)
    found[:, order] = np.diff(upto, axis=1, prepend=0.0)
    return found


def laws_of_halves(drawn: methods.Recursive, ranks: Ranks) -> Probabilities:
    """Return the laws of the recursion, from the ranks of its candidates."""
    laws = np.zeros((len(drawn.percents), drawn.points.size))
    branch = halves.Branch.of_all(ranks)
    _follow(drawn, drawn.tree, branch, 1.0, laws)
    return laws


def _follow(
    drawn: methods.Recursive,
    half: halves.Half,
    branch: halves.Branch,
    chance: float,
    laws: Values,
) -> None:
    """Add the laws of a half that is reached with some probability."""
    parts = halves.parts_of(drawn.points.size)
    objective = branch.objective(half, parts, drawn.neighbours)
    price = halves.price_of_draw(half, drawn.neighbours)
    law = by_name(drawn.factory, price).probabilities(objective).reshape(-1, parts + 1)
    here = slice(branch.first, branch.first + branch.candidates)
    laws[half.position, here] += chance * law.sum(axis=1)
    if half.below is None and half.above is None:
        return
    # Shares of no record are one outcome.
    held = branch.weights[1::2] > 0
    law[~held, 0] = law[~held].sum(axis=1)
    law[~held, 1:] = 0
    for candidate, part in np.argwhere(chance * law > CUT).tolist():
        sides = branch.split(candidate, part / parts)
        for following, side in zip((half.below, half.above), sides, strict=True):
            if following is not None:
                _follow(drawn, following, side, chance * float(law[candidate, part]), laws)
