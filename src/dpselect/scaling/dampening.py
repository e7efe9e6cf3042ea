"""Local dampening: scores measured in accumulated sensitivities.

With ``b_i = ∑_(j<i) δ(x, j, r)``, the dampened score is the piecewise linear function with
``D(±b_i) = ±i``: by the sensitivity function, the least number of neighbour steps to a database
with score 0. A score of 0 that no step changes within ``m`` steps has ``b_0 = ... = b_m = 0``,
and ``D = m``: it leads by them.

Plain dampening compares every score with 0 and is most precise near 0, while a draw needs
precision among the *best* candidates. Anchored dampening is that of the distances to a public
anchor, at or above the best possible score.

Shifted dampening is that of ``u - s`` for ``s → ∞`` (Definition 15). Beyond the horizon ``T^*``
every sensitivity is Δ, so for any shift beyond it

    D(u_r - s) = (u_r - ∑_(t<T^*)(Δ - δ_r(t)))/Δ + const,

with the same constant for all candidates. ``u + s`` (Definition 16) changes the sign of the
sum. No score that is shifted so far is 0, and so none has a lead.
"""

from dpselect import validation
from dpselect._optional import np, silent
from dpselect._twofold import Twofold, difference, largest
from dpselect.errors import ParameterError
from dpselect.objective import Objective
from dpselect.scaling.dividing import by_global, cut
from dpselect.sensitivity import Sensitivity
from dpselect.typing import Direction, Scores, Values

FAR = 2.0**29
"""Half of what the grid of the draws holds."""

LONGEST_LEAD = 2**12
"""Largest lead of a score of 0. A public number: cut at it, a lead still moves by at most 1. No
draw needs more, unless epsilon is below 0.01."""

LONGEST_HORIZON = 2**30
"""Sums over so many distances err by less than 2^-20 of the bound."""


@silent
def dampened(objective: Objective) -> Scores:
    """Return the dampened scores ``D_(u,δ)(x, r)``.

    They move by at most 1 under one neighbour step if the sensitivity is admissible, for scores
    of either sign (Lemma 4). With ``δ = Δ`` they are ``u/Δ``.

    A score of 0 is dampened to the number of distances at which, from 0 on, its sensitivity is
    0. It jumps there: a score that is 0, or a sensitivity, must be 0 as a number, and not
    1e-17. ``dpselect.audit.check_admissible`` sees where one is not.

    Returns:
        Shape ``(n,)``, of the scores' signs, less a common translation where the best one is
        further than 2^29 from 0. As private as the scores.

    Source: Farias et al., VLDB J. 2023, Definition 12.
    """
    return cut(dampen_near(objective.scores_twofold, objective))


@silent
def anchored(objective: Objective, anchor: float) -> Scores:
    """Return ``D(u - A)`` for a public anchor ``A``: the paper's shift by a finite number.

    ``u - A`` has the sensitivity of ``u``, so Lemma 4 holds for any anchor, even one below some
    scores; the error is smallest with an anchor just above the best score that can occur. The
    default is the ``highest`` of the objective. A score that is the anchor leads by the
    distances at which its sensitivity is 0, as a score of 0 does in ``dampened``.

    Args:
        objective: Scores with an admissible sensitivity.
        anchor: Score units, finite. Public.

    Returns:
        Shape ``(n,)``, less a common translation where the best one is further than 2^29 from
        0. As private as the scores.

    Source: Farias et al., VLDB J. 2023, Definition 12 and section 4.2.
    """
    highest = Twofold(np.array([validation.finite("anchor", anchor)]), np.zeros(1))
    return cut(dampen_near(objective.less(highest), objective))


@silent
def shifted(objective: Objective, direction: Direction) -> Scores:
    """Return the limit of the dampened scores under a large shift, without its constant.

    With a flat sensitivity the sum is the same for all candidates and the result is that of
    ``by_global``, doubled for a monotone objective: the exponential mechanism.

    Args:
        objective: Scores with an admissible sensitivity and a public horizon.
        direction: ``"non-decreasing"`` if candidates with larger scores have larger
            sensitivities (Definition 15), else ``"non-increasing"`` (16). Public.

    Returns:
        Shape ``(n,)``. As private as the scores.

    Raises:
        ParameterError: ``direction`` is neither, or the horizon is above 2^30.

    Source: Farias et al., VLDB J. 2023, Definitions 15 and 16, Lemma 5. Lemma 6 states
        the order of Definition 15 the wrong way round.
    """
    direction = validation.one_of("direction", direction, Direction)
    if objective.sensitivity.flat:
        return by_global(objective)
    check_horizon(objective.sensitivity.horizon)
    sign = -1 if direction == "non-decreasing" else 1
    gaps = objective.gaps().high + sign * objective.sensitivity.shortfall()
    return cut((gaps - gaps.max()) / objective.sensitivity.bound)


def check_horizon(horizon: int) -> None:
    """Refuse a public horizon up to which sums cannot be held.

    Raises:
        ParameterError: It is above 2^30.
    """
    if horizon > LONGEST_HORIZON:
        raise ParameterError(
            "shifted local dampening adds up sensitivities to the horizon, which can be "
            f"at most {LONGEST_HORIZON}; see dpselect.sensitivity.jump_to_bound"
        )


def dampen_near(values: Twofold, objective: Objective) -> Values:
    """Dampen scores or their distances to an anchor, far from 0 by the distance to the best.

    Distances of scores are taken of the scores: an anchor can be so far that it has no digit
    of theirs. Beyond the horizon ``T`` the sums grow by the bound, so that two dampened values
    ``±(T + (|v| - b_T)/Δ)`` differ by what does not lose digits with their distance from 0. The
    best one is set to its nearest number within ``±2^29``, which moves by at most 1 as it does:
    a translation of all.
    """
    sensitivity, scores = objective.sensitivity, objective.scores_twofold
    steps, beyond = dampen(values.high, sensitivity), sensitivity.horizon
    best = steps.max()
    if abs(best) <= FAR or beyond > FAR / 2:
        return steps
    # The largest value is dampened to a number within T of the best one.
    one, sign = largest(scores), np.sign(values.high)
    sums = np.broadcast_to(sensitivity.cumulative(beyond), steps.shape)
    same = (sign == sign[one]) & (np.abs(values.high) >= sums)
    gaps = difference(scores, scores.at(one)) - sign * (sums - sums[one])
    behind = np.where(same, gaps / sensitivity.bound, steps - best)
    return behind - behind.max() + np.copysign(FAR, best)


def dampen(values: Values, sensitivity: Sensitivity) -> Values:
    """Dampen any values that one neighbour step moves as the sensitivity says.

    Args:
        values: Shape ``(n,)``, finite.
        sensitivity: For ``n`` candidates, or flat.
    """
    heights = np.abs(values)
    at = sensitivity.locate(heights)
    # A zero width means a zero height: nothing else ends on a flat stretch of the sums.
    width = np.where(at.width > 0, at.width, 1.0)
    steps = np.sign(values) * (at.steps + (heights - at.start) / width)
    zeros = np.flatnonzero(heights == 0)
    # From above: 0 is in the interval from b_m on, and in none that ends at -b_m.
    steps[zeros] = sensitivity.leading_zeros(zeros, LONGEST_LEAD)
    return steps
