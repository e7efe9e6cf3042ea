"""The exponential mechanism over sets: all ``k`` candidates in one draw.

A set ``S`` of ``k`` of ``n`` candidates with integer scores has the weight

    exp(η (min_(r ∈ S) s_r - max_(r ∉ S) s_r)).

With scores in falling order let ``o`` be the place of the best that is left out and ``t`` that
of the last one that is in the set. Either the set is the ``k`` best, or ``o ≤ k < t``: all
before ``o`` are in it, ``t`` is, and any ``k - o`` of those between. A weight depends on the
scores at ``o`` and ``t`` alone, and is a product of two powers. So ``o`` is drawn first, by
sums over the different scores at ``t``, then such a score, then ``t`` by the numbers of sets,
and at last the others uniformly.

The draw needs no floats: ``o`` and the score are drawn by inversion, with powers of ``e`` that
integers enclose (``dpselect.draws.exact.inversion``), and the rest by uniform integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, inf, lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.exact import bits as source, inversion
from dpselect.draws.exact.exp_bounds import Powers
from dpselect.draws.exact.inversion import Weights
from dpselect.draws.exact.samplers import sampler
from dpselect.typing import Indices, Values

FIRST_BITS = 128


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranked:
    """Scores in falling order, and what the weights are made of; private.

    Attributes:
        scores: Shape ``(n,)``.
        k: Below ``n``. Public.
        stops: Place after the last one of each score from place ``k`` on, counted from 0.
        behind: By how much those scores are below that at place ``k``.
        ahead: By how much the scores before place ``k`` are above the last of them, and twice
            the lead of that one over the next: so much a set falls behind the best one.
    """

    scores: Indices
    k: int
    stops: Indices
    behind: Indices
    ahead: Indices

    @classmethod
    def of(cls, scores: Indices, k: int) -> Ranked:
        """Return what the weights of the sets of ``k`` are made of."""
        lower, starts = np.unique(-scores[k:], return_index=True)
        lead = scores[k - 1] - scores[k]
        return cls(
            scores,
            k,
            np.append(starts[1:] + k, scores.size),
            lower + scores[k],
            scores[:k] - scores[k - 1] + 2 * lead,
        )

    def before(self, out: int) -> list[int]:
        """Return how many sets have their last place before each of the stops, 0 first."""
        return [0, *(comb(stop - out - 1, self.k - out) for stop in self.stops.tolist())]

    def ways(self) -> Iterator[NDArray[Any]]:
        """Yield the numbers of sets with each last score, for each place that is left out."""
        stops = self.stops.astype(object)
        before = np.array(self.before(0)[1:], dtype=object)
        for out in range(self.k):
            yield np.diff(before, prepend=0)
            before = before * (self.k - out) // (stops - out - 1)

    def log_ways(self, out: int) -> Values:
        """Return the logarithms of the numbers of sets with each last score."""
        most = np.append(-inf, _log_comb(self.stops - out - 1, self.k - out))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(most[1:] + np.log(-np.expm1(most[:-1] - most[1:])))

    def log_weights(self, out: int, decay: float) -> Values:
        """Return the logarithms of the weights of all sets with each last score."""
        return self.log_ways(out) - decay * (self.behind + self.ahead[out])

    def log_sums(self, decay: float) -> Values:
        """Return those of all sets for each place that is left out; of the best set at last."""
        rows = [np.logaddexp.reduce(self.log_weights(out, decay)) for out in range(self.k)]
        return np.array([*rows, 0.0])


@sampler
def draw_set(steps: Indices, k: int, decay: Fraction) -> list[int]:
    """Draw a set, exactly.

    Args:
        steps: Scores as integers, shape ``(n,)``. Private; their number is public.
        k: 1 to ``n``. Public.
        decay: η > 0, in nats a step. Public.

    Returns:
        ``k`` positions in ascending order, which tells of the set alone; a release.
    """
    order = np.argsort(-steps, kind="stable")
    if k == steps.size:
        return list(range(k))
    ranked = Ranked.of(steps[order], k)
    digits = FIRST_BITS + comb(steps.size, k).bit_length() + steps.size.bit_length()

    @cache
    def powers(bits: int) -> Powers:
        return Powers(decay, bits + digits)

    out = inversion.draw(lambda bits: _sums(ranked, powers(bits)), FIRST_BITS)
    if out == k:
        return sorted(order[:k].tolist())
    before = ranked.before(out)
    ways = np.diff(np.array(before, dtype=object))
    at = inversion.draw(lambda bits: _row(ranked, ways, powers(bits)), FIRST_BITS)
    start = int(ranked.stops[at - 1]) if at else k
    last = _last(out, start, int(ranked.stops[at]), k)
    between = source.system.sample(range(out + 1, last), k - out - 1)
    return sorted(order[[*range(out), *between, last]].tolist())


def log_probability(steps: Indices, k: int, decay: float, positions: Sequence[int]) -> float:
    """Return the natural logarithm of the probability of a set."""
    if k == steps.size:
        return 0.0
    inside = np.zeros(steps.size, dtype=bool)
    inside[list(positions)] = True
    ranked = Ranked.of(-np.sort(-steps), k)
    best = int(ranked.scores[k - 1] - ranked.scores[k])
    cost = best - int(steps[inside].min() - steps[~inside].max())
    return -decay * cost - float(np.logaddexp.reduce(ranked.log_sums(decay)))


def simulated(
    scores: Indices, k: int, decay: float, size: int, rng: np.random.Generator
) -> Indices:
    """Return places of simulated sets, shape ``(size, k)``, ascending in each row.

    Args:
        scores: In falling order.
        k: 1 to their number.
        decay: In nats a step.
        size: How many.
        rng: The generator.
    """
    places = np.repeat(np.arange(k)[None, :], size, axis=0)
    if k == scores.size:
        return places
    ranked = Ranked.of(scores, k)
    for row, out in zip(places, _drawn(ranked.log_sums(decay), size, rng), strict=True):
        if out == k:
            continue
        [at] = _drawn(ranked.log_weights(out, decay), 1, rng)
        start = int(ranked.stops[at - 1]) if at else k
        lasts = np.arange(start, ranked.stops[at])
        last = int(lasts[_drawn(_log_comb(lasts - out - 1, k - out - 1), 1, rng)[0]])
        between = out + 1 + rng.choice(last - out - 1, k - out - 1, replace=False)
        row[out:] = [*np.sort(between), last]
    return places


def _sums(ranked: Ranked, powers: Powers) -> Weights:
    """Return bounds of the weights of all sets for each place that is left out."""
    low, high = powers.of(ranked.behind)
    lows, highs = powers.of(ranked.ahead)
    bounds = []
    for out, ways in enumerate(ranked.ways()):
        least, most = int((ways * low).sum()), int((ways * high).sum())
        bounds.append((least * lows[out] >> powers.bits, -(-most * highs[out] >> powers.bits)))
    return Weights.of([*bounds, (1 << powers.bits, 1 << powers.bits)])


def _row(ranked: Ranked, ways: NDArray[Any], powers: Powers) -> Weights:
    """Return bounds of the weights of all sets with each last score, but for a factor."""
    low, high = powers.of(ranked.behind)
    return Weights.of(zip((ways * low).tolist(), (ways * high).tolist(), strict=True))


def _last(out: int, start: int, stop: int, k: int) -> int:
    """Draw the last place of a set: so many sets have theirs before a place."""
    before = comb(start - out - 1, k - out)
    at = before + source.randbelow(comb(stop - out - 1, k - out) - before)
    while stop - start > 1:
        middle = (start + stop) // 2
        if at < comb(middle - out - 1, k - out):
            stop = middle
        else:
            start = middle
    return start


def _drawn(logs: Values, size: int, rng: np.random.Generator) -> Indices:
    law = np.exp(logs - logs.max())
    return rng.choice(logs.size, size, p=law / law.sum())


def _log_comb(n: Indices, k: int) -> Values:
    """Return the logarithms of binomial coefficients, of numbers of at least ``k``."""
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1) - lgamma(k + 1) - gammaln(n - k + 1))
