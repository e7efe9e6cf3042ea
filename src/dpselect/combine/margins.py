r"""The margin: by how much each candidate is beaten in all objectives at once.

A Pareto score counts *how many* candidates are better in every objective, and one individual
can change that for all of them at once. The margin measures by *how much* the worst rival is
better in every objective at once, which is as stable as the objectives themselves.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled, each_stride
from dpselect._twofold import difference
from dpselect.combine.score_range import aligned
from dpselect.draws.grid import LIMIT
from dpselect.neighbours import Neighbours
from dpselect.objective import Facts, Objective
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Indices, Values


def margin(objectives: Sequence[Objective]) -> Objective:
    """Return the margin by which each candidate is not beaten in all objectives at once.

        s_r = -max_(r' ≠ r) min_i (u_i(r') - u_i(r))/(Δ_i(r) + Δ_i(r'))

    The difference in the numerator moves by at most the denominator; if objective ``i`` is
    monotone, both its scores move in the same direction, the difference by at most the
    larger of the two sensitivities, and that replaces the sum. Every ratio thus moves by at
    most 1, and so do their minimum and maximum.

    Utility:
        A candidate on the Pareto front has ``s_r ≥ 0``. So, with probability at least
        ``1 - β``, a draw with ``ExponentialMechanism`` or ``PermuteAndFlip`` has
        ``s_r ≥ -(2/ε) ln(n/β)``: no candidate is better by more than ``(4Δ_i/ε) ln(n/β)`` in
        every objective ``i`` at once (half of that in a monotone one).

    Guarantee:
        What the mechanism states, under the objectives' neighbour relation, from the global
        bounds alone. Public: the candidates and the bounds.

    Args:
        objectives: At least one, for the same candidates in the same order.

    Returns:
        Unit scores with a global sensitivity of 1, so that either ``direction`` holds; a single
        candidate scores 0. The lead over the others is not bounded, so ``highest`` is not
        stated. For up to two objectives whose bounds are the same for all candidates in O(n log
        n), else in O(m n^2), in memory of a few numbers per candidate.

    Raises:
        ParameterError: No objective, or different candidates.
        NeighboursError: Different neighbour relations.

    Source: ours. The ratio with one sensitivity per candidate is that of Raskhodnikova and
        Smith, arXiv:1504.07912; the minimum over objectives is the additive
        epsilon-indicator of Zitzler et al., IEEE TEVC 7 (2003).

    Examples:
        >>> import dpselect as dp
        >>> one = dp.GlobalSensitivity(1, dp.Neighbours.EDGE)
        >>> dp.margin([dp.Objective([5, 9, 1], one), dp.Objective([7, 2, 1], one)]).scores
        array([ 2.5,  2. , -2. ])
    """
    parts = aligned(objectives)
    flat = all(part.sensitivity.bounds.ndim == 0 for part in parts)
    if len(parts[0]) == 1:
        beaten_by = np.zeros(1)
    elif flat and len(parts) <= 2:
        beaten_by = _by_sweep(parts)
    else:
        beaten_by = _by_pairs(parts)
    # A lead beyond what a draw tells from any other would round the differences.
    scores = np.clip(0 - beaten_by, -LIMIT, LIMIT)
    return margin_facts(scores.size, parts[0].neighbours).of(scores, parts[0].candidates)


def margin_facts(candidates: int, neighbours: Neighbours) -> Facts:
    """Return what is public of every margin."""
    return Facts(
        candidates=candidates,
        sensitivity=GlobalSensitivity(1, neighbours),
        direction="non-decreasing",
    )


def _by_sweep(parts: Sequence[Objective]) -> Values:
    """Return the largest lead of a rival, for one or two objectives with flat bounds.

    With rivals in descending order of the first objective and ``M_j`` the best second score
    among the first ``j``, the lead over ``r`` is ``max_j min(v_1(j) - v_1(r), M_j - v_2(r))``.
    The first term falls with ``j``, the second rises: the largest minimum is where they cross,
    found by bisection.
    """
    first, second = parts[0], parts[-1]
    order = np.lexsort((-first.low_order, -first.scores))
    by_rank = np.lexsort((second.low_order, second.scores))
    best, owner, runner_up = _running_best(np.argsort(by_rank)[order])
    place = np.argsort(order)

    def leads(at: Indices) -> tuple[Values, Values]:
        rank = np.where(owner[at] == place, runner_up[at], best[at])
        # -1: only the candidate itself is ahead so far.
        behind = np.where(rank < 0, -np.inf, _leads(second, by_rank[rank]))
        return _leads(first, order[at]), behind

    low = np.zeros(order.shape, dtype=np.int64)
    high = np.full(order.shape, order.size)
    while (low < high).any():
        middle = (low + high) // 2
        falling, rising = leads(np.minimum(middle, order.size - 1))
        crossed = rising >= falling
        inner = low < high
        low, high = (
            np.where(inner & ~crossed, middle + 1, low),
            np.where(inner & crossed, middle, high),
        )
    around = (np.maximum(low - 1, 0), np.minimum(low, order.size - 1))
    return np.maximum(*(np.minimum(*leads(at)) for at in around))


def _leads(part: Objective, rivals: Indices) -> Values:
    """Return the lead of one rival over each, in units of its largest change by one step.

    Differences come first: quotients of large scores would have lost them.
    """
    gaps = difference(part.scores_twofold.at(rivals), part.scores_twofold)
    return gaps / ((1.0 if part.monotone else 2.0) * part.sensitivity.bound)


def _running_best(values: Indices) -> tuple[Indices, Indices, Indices]:
    """Return for every prefix its largest value, where that is, and the second or -1."""
    best = np.maximum.accumulate(values)
    before = np.concatenate([[-1], best[:-1]])
    places = np.arange(values.size)
    owner = np.maximum.accumulate(np.where(values > before, places, 0))
    # What is pushed from the first place, or never reached it, competes for the second.
    runner_up = np.maximum.accumulate(np.minimum(values, before))
    return best, owner, runner_up


def _by_pairs(parts: Sequence[Objective]) -> Values:
    worst = np.full(len(parts[0]), -np.inf)
    scores, rests = (
        np.stack(digits) for digits in zip(*(p.scores_twofold for p in parts), strict=True)
    )
    widths = [np.broadcast_to(part.sensitivity.bounds, worst.shape) for part in parts]
    monotone = np.array([part.monotone for part in parts])
    each_stride(partial(_margins, scores, rests, np.stack(widths), monotone, worst), worst.size)
    return worst


@compiled
def _margins(
    scores: Values,
    rests: Values,
    widths: Values,
    monotone: NDArray[np.bool_],
    worst: Values,
    first: int,
    step: int,
) -> None:
    """Find the largest, over rivals, of the least lead in any objective over widths.

    Args:
        scores: Shape ``(m, n)``, ``n >= 2``.
        rests: What the scores as floats lack, shape ``(m, n)``.
        widths: Sensitivity of each objective and candidate, shape ``(m, n)``.
        monotone: Shape ``(m,)``: the larger width of a pair instead of the sum.
        worst: Minus infinity, shape ``(n,)``; the leads are written here.
        first: The first candidate to do.
        step: From each candidate to the next.
    """
    m, n = scores.shape
    for candidate in range(first, n, step):
        for rival in range(n):
            if rival == candidate:
                continue
            least = np.inf
            for i in range(m):
                one, other = widths[i, candidate], widths[i, rival]
                width = max(one, other) if monotone[i] else one + other
                lead = scores[i, rival] - scores[i, candidate]
                lead += rests[i, rival] - rests[i, candidate]
                least = min(least, lead / width)
                if least <= worst[candidate]:
                    break
            worst[candidate] = max(worst[candidate], least)
