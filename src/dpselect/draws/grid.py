"""Scores on integer grids, with all floating-point error added to the sensitivity.

Draws are exact for the numbers that they are given; the guarantee is about those numbers. Let
``s`` be unit scores and ``ŝ`` the computed ones. Unit scores are first clamped to ``±2^30``, a
public constant, which keeps them unit scores. What remains is off by at most
``2^-49 (|s_r| + 1)``, or 2^-20 where a scaling adds up to that many distances: at most
``2^-19`` either way, 2 steps of a grid of ``2^-20``. Rounding to the grid adds at most 1 step
to the distance of any two numbers, and the errors of both databases 4. On the grid a neighbour
step thus moves a score by at most ``2^20 + 5`` steps, and that is the sensitivity that the
noise is made for: it costs five millionths of epsilon.

Scalings keep that error as follows; the tests compare all of them with fractions.

- Scores are floats, or integers of up to 106 bits, and as they are. Differences of two come
  before any rounding (``gaps``), so that they are right relative to themselves, not to the
  scores.
- Bounds are from 1e-200 to 1e200, and quotients by them do not overflow within the clamp.
- Sums of sensitivities are compensated, and right relative to themselves. A dampened score
  divides by the last term, which is the largest.
- Horizons of the shifted scaling, and penalties of the generalized one, are limited.
- Ratios of pairs are of differences of pairs of floats, each of the two candidates' own.

What rounds *before* the scores, in an objective, is part of them, and of their sensitivity.
Objectives of the library round what a step changes by less than 2^-20 of it: counts are
integers; quotients of counts, ranks and weighted sums are pairs of floats; margins are cut
where a draw tells no more; entropies of more than 2^24 records have 40 digits.

Noise on all scores at once is made for what a step changes of them *together* (``to_steps``),
so the rounding of each of the ``n`` scores counts. Scores that are multiples of a public step
are integers in that unit and exact. Others are rounded to multiples of the least power of two
that is at least ``l_1/(2^11 N)``, ``N = 2^(⌈log_2 n⌉)``, by which floats are divided without an
error. The rounding adds at most 1 step for each score, together ``N`` steps, and another ``N``
are for what rounded before, up to half a step of each score. That costs two thousandths of
``l_1``, at any ``n``. No score is cut, as the noisy scores are released: integers beyond 64
bits are Python's. (Beyond 1e300 steps none is told from another; multiples of a step that is no
power of two are cut at 2^50 of them, up to where a float tells which multiple it is.)
"""

from functools import cache
from math import ceil, floor, frexp, log2
from typing import Any, NamedTuple

from dpselect._optional import np
from dpselect.typing import Indices, Scores

STEPS_PER_UNIT = 2**20
LIMIT = 2.0**30

ROUNDING_STEPS = 5
"""Error of rounding and floating point in the distance of two scores, in grid steps."""

SENSITIVITY = STEPS_PER_UNIT + ROUNDING_STEPS
"""Largest change of a score on the grid by one neighbour step, in grid steps."""


def to_grid(scores: Scores) -> Indices:
    """Return unit scores in grid steps, as int64.

    NaN, which no scaling of the library returns, is taken as the least score: an error that
    depends on one would tell of it.
    """
    least, most, steps = _arrays()
    return np.rint(np.fmin(np.fmax(scores, least), most) * steps).astype(np.int64)


@cache
def _arrays() -> list[Scores]:
    """Return the limits and the steps as arrays, with which arithmetic of arrays is faster."""
    return [np.array(one) for one in (-LIMIT, LIMIT, float(STEPS_PER_UNIT))]


LARGEST_COUNT = 2.0**50
"""Multiples of a step that is no power of two are clamped to it.

Up to there a score and its quotient by the step are rounded by an eighth of a step each, at
most, so that the nearest integer is the right one.
"""

LARGEST_WHOLE = 1e300
"""Integers are clamped to it, and their products with a step are floats."""

INT64 = 2.0**61
"""Up to here an integer and its noise are held in 64 bits."""


class Steps(NamedTuple):
    """Scores as integers, with what one neighbour step changes of them together."""

    counts: Indices
    """Shape ``(n,)``, int64, or Python's integers where one has more bits; as private as the
    scores."""

    l1: int
    """In steps, >= 1; public."""

    unit: float
    """One step in score units; public."""


def to_steps(
    scores: Scores, l1: float, step: float | None, low_order: Scores | float = 0.0
) -> Steps:
    """Return scores as integers for noise that is made for ``l1``.

    Args:
        scores: Shape ``(n,)``, finite.
        l1: Largest change of all scores together by one neighbour step, > 0. Public.
        step: A number that all scores are integer multiples of on every database, or None.
        low_order: What the scores round away.
    """
    public = steps_for(scores.size, l1, step)
    if step is None or frexp(step)[0] == 0.5:
        return public._replace(counts=_whole(scores, low_order, public.unit))
    with np.errstate(over="ignore"):
        scores = np.rint(np.clip(scores / step, -LARGEST_COUNT, LARGEST_COUNT))
    return public._replace(counts=scores.astype(np.int64))


def steps_for(size: int, l1: float, step: float | None) -> Steps:
    """Return what ``to_steps`` does of so many scores, without these; public."""
    none: Any = ()
    if step is None:
        size = 2 ** (size - 1).bit_length()
        unit = 2.0 ** ceil(log2(l1 / (2**11 * size)))
        return Steps(none, floor(l1 / unit) + 2 * size, unit)
    # The sum of changes is an integer at most l1 / step, a quotient that rounding may have
    # made smaller.
    return Steps(none, max(1, floor(l1 / step * (1 + 2.0**-40))), step)


def _whole(scores: Scores, low_order: Scores | float, unit: float) -> Indices:
    """Return scores in units of a power of two, rounded once to integers."""
    most = LARGEST_WHOLE
    with np.errstate(over="ignore"):
        exact = np.clip(scores / unit, -most, most)
        rest = np.clip(low_order / unit, -most, most)
    near = np.rint(exact)
    more = np.rint((exact - near) + rest)
    if (np.abs(near) <= INT64).all():
        return near.astype(np.int64) + more.astype(np.int64)
    pairs = zip(near.tolist(), np.broadcast_to(more, near.shape).tolist(), strict=True)
    return np.array([int(high) + int(low) for high, low in pairs], dtype=object)
