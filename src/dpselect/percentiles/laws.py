"""Exact laws of the release of percentiles, and comparisons of methods by them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.accuracy import Comparison, Row
from dpselect.draws.chains import marginals
from dpselect.errors import ParameterError
from dpselect.mechanisms import MechanismFactory, by_name
from dpselect.neighbours import NeighboursLike
from dpselect.percentiles import halves, methods
from dpselect.percentiles.choosing import chosen
from dpselect.percentiles.joint import Joint
from dpselect.percentiles.objectives import checked_candidates
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Source
from dpselect.percentiles.release import plan_percentiles
from dpselect.typing import Probabilities, Values

MAY_NOT_FIT: tuple[methods.Method, ...] = ("recursive", "joint")
"""Methods that some candidates do not suit."""

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

    Of several percentiles by the recursion every place and share that can be drawn is
    followed: in O((66 n)^L) for ``n`` candidates and ``L`` levels, 2 of up to 3 percentiles.

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


def compare_percentiles(
    data: object,
    *,
    column: str | None = None,
    p: methods.Percents,
    candidates: ArrayLike,
    assumed_records: int | None = None,
    epsilons: Iterable[float],
    neighbours: NeighboursLike,
) -> Comparison:
    """Compare all methods for percentiles by their exact laws.

    The error is the distance of a wanted rank ``a(n + 1)`` from those that the released value
    holds, in the mean over the percentiles. A method that does not fit the candidates is left
    out. The recursion is followed as for :func:`percentile_laws`: give up to 3 percentiles, and
    some dozens of candidates.

    Args:
        data: Public or synthetic numbers, as for :func:`percentile_laws`; the result is as
            private as they are.
        column: The numeric column, if ``data`` is a table.
        p: The percentile, or several.
        candidates: The values that may be released.
        assumed_records: As for the release.
        epsilons: Compare at each of these, in nats.
        neighbours: ``"add-remove"`` or ``"substitute"``.

    Returns:
        A row for each method and epsilon, and a uniform choice; ``P(best)`` is the probability
        that no candidate is nearer, in the mean over the percentiles.

    Raises:
        ParameterError, NeighboursError, ColumnError, DataError: As for the release.

    Examples:
        >>> from dpselect.percentiles import compare_percentiles
        >>> print(compare_percentiles(
        ...     range(100), p=[25, 50, 75], candidates=range(0, 100, 20), epsilons=[1.0],
        ...     neighbours="add-remove",
        ... ))
        mechanism        epsilon  expected error  P(best)    rho
        one-by-one             1           6.389    0.965   0.15
        above-threshold        1            7.59    0.910  0.165
        recursive              1           6.379    0.964  0.213
        joint                  1           7.932    0.816  0.123
        uniform choice                     29.57    0.267
    """
    points, relation = checked_candidates(candidates), _validate.table_neighbours(neighbours)
    percents = methods.checked_percents(p)
    ranks = Source(data, column, None, relation, "repair").ranks(points)
    wanted = np.array(percents)[:, None] / 100 * (ranks.numbers + 1)
    far = np.maximum(0, np.maximum(ranks.below - wanted, wanted - ranks.upto))
    best = far == far.min(axis=1, keepdims=True)
    rows = []
    for method in get_args(methods.Method):
        for epsilon in epsilons:
            asked: dict[str, Any] = {
                "column": column, "p": p, "candidates": points, "method": method,
                "assumed_records": assumed_records, "epsilon": epsilon,
                "neighbours": relation,
            }  # fmt: skip
            try:
                rho = plan_percentiles(**asked).rho
            except ParameterError:
                if method not in MAY_NOT_FIT:
                    raise
                continue
            laws = percentile_laws(data, **asked)
            error, right = (float((laws * one).sum()) / len(percents) for one in (far, best))
            rows.append(Row(method, epsilon, error, right, rho, right))
    uniform = Row("uniform choice", 0.0, float(far.mean()), float(best.mean()), 0.0, 0.0)
    return Comparison(tuple(rows), uniform=uniform)


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
    _follow(drawn, drawn.tree, halves.Branch.of_all(ranks), 1.0, laws)
    return laws


def _follow(
    drawn: methods.Recursive,
    half: halves.Half,
    branch: halves.Branch,
    chance: float,
    laws: Values,
) -> None:
    """Add the laws of a half that is reached with some probability."""
    candidates = drawn.points.size
    parts = halves.parts_of(candidates)
    objective = branch.objective(half, parts, drawn.neighbours)
    price = halves.price_of_draw(half, drawn.neighbours)
    law = by_name(drawn.factory, price).probabilities(objective).reshape(-1, parts + 1)
    np.add.at(laws[half.position], branch.released(parts, candidates), chance * law)
    if half.below is None and half.above is None:
        return
    # Shares of no record are one outcome.
    empty = branch.weights == 0
    law[empty, 0] = law[empty].sum(axis=1)
    law[empty, 1:] = 0
    for place, part in np.argwhere(chance * law > CUT).tolist():
        sides = branch.split(place, part / parts)
        for following, side in zip((half.below, half.above), sides, strict=True):
            if following is not None:
                _follow(drawn, following, side, chance * float(law[place, part]), laws)
