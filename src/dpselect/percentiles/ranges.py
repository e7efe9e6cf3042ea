"""Equally spaced candidates that are never listed, and the pieces of them between records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from math import inf, isfinite, lcm

import numpy as np

from dpselect import validation
from dpselect.draws.range_exponential import Pieces
from dpselect.errors import ParameterError
from dpselect.percentiles.placing import Float, exact_decimal, least_above
from dpselect.typing import Indices, Values

MOST = 2**52
"""Candidates beyond which floats could not tell neighbouring ones apart."""

MOST_SUM = 2**62
"""Integers below which sums are computed in 64 bits."""

OPEN = 10**15
"""Steps from 0, or from the other end, to an end that is not given."""


@dataclass(frozen=True, slots=True)
class Range:
    """The candidates ``lower``, ``lower + step``, ... up to ``upper``; public.

    A release from a range takes time and memory for the records, not for the candidates, and
    draws by the exponential mechanism: pieces of candidates between two records hold the same
    ranks, so a piece is drawn and then one of its candidates.

    An end that is not known, None or infinite, is ``10**15`` steps from the other one; without
    both, the candidates go from ``-10**15`` to ``10**15`` steps.

    Attributes:
        lower: The smallest candidate; finite.
        upper: The end, above ``lower``; a candidate if it is a whole number of steps away.
        step: Distance of two candidates; > 0, at most ``2**52`` of them in all.

    Raises:
        ParameterError: An argument is out of range.

    Examples:
        >>> len(Range(0, 3_000_000, step=0.01))
        300000001
    """

    lower: float
    upper: float
    step: float
    _first: int
    _each: int
    _parts: int
    _last: int

    def __init__(self, lower: float | None, upper: float | None, step: float) -> None:
        step = validation.positive("step", step)
        reach = OPEN * exact_decimal(step)
        # Where both ends are not known, they are as far from 0.
        no_lower, no_upper = _is_open(lower, -inf), _is_open(upper, inf)
        first = 0.0 if no_lower else validation.finite("lower", lower)
        last = (
            float(exact_decimal(first) + reach)
            if no_upper
            else validation.finite("upper", upper)
        )
        if no_lower:
            first = float((0 if no_upper else exact_decimal(last)) - reach)
        if first == last and lower != upper:
            raise ParameterError(
                "`lower` and `upper` are one float: beyond 2**53 floats are more than 1 apart; "
                "subtract a public number from the column"
            )
        if not first < last or not isfinite(last - first):
            raise ParameterError(
                f"`upper` must be finite and above `lower`, got {first!r} to {last!r}"
            )
        if (last - first) / step >= MOST:
            raise ParameterError(
                f"a range has at most 2**52 candidates: `step`={step!r} is too small"
            )
        # Through the decimal digits: in floats 0.3 / 0.1 is below 3.
        low, each = exact_decimal(first), exact_decimal(step)
        parts = lcm(low.denominator, each.denominator)
        steps = int((exact_decimal(last) - low) // each)
        self._set(first, last, step, int(low * parts), int(each * parts), parts, steps)
        if (far := self.unclear(np.float64)) is not None:
            raise ParameterError(
                f"`step`={step!r} is too small: floats next to {far!r} are further apart"
            )

    def _set(self, *facts: float) -> None:
        for one, fact in zip(fields(self), facts, strict=True):
            object.__setattr__(self, one.name, fact)

    def __len__(self) -> int:
        return self._last + 1

    def __getitem__(self, position: int) -> float:
        if not 0 <= position <= self._last:
            raise IndexError(position)
        return float(self.at([position])[0])

    def at(self, positions: Sequence[int] | Indices) -> Values:
        """Return the candidates at positions, the floats nearest to their decimal digits."""
        return self._at_halves(2 * np.asarray(positions, dtype=np.int64))

    def _at_halves(self, halves: Indices) -> Values:
        """Return the floats nearest to ``lower`` and so many halves of a step."""
        first, parts = 2 * self._first, 2 * self._parts
        if parts > validation.EXACT or abs(first) + 2 * len(self) * self._each >= MOST_SUM:
            return ((first + halves.astype(object) * self._each) / parts).astype(np.float64)
        sums = first + halves * self._each
        found = sums / float(parts)
        # Where a sum is no float, the quotient of the integers is rounded once.
        far = np.flatnonzero(np.abs(sums) > validation.EXACT)
        found[far] = [one / parts for one in sums[far].tolist()]
        return found

    def places(self, numbers: Values, kind: Float = np.float64) -> Indices:
        """Return the positions of the candidates that numbers count at (``placing``).

        Args:
            numbers: None missing. Private.
            kind: The type of floats that they are of.
        """
        inside = np.clip(numbers, self.lower, self.upper)
        at = np.rint((inside - self.lower) / self.step).astype(np.int64)
        at = at.clip(0, self._last)
        # The division is rounded, and may be off by a step or two. Each record is put right by
        # itself, so that one record takes no time of others.
        left = np.arange(at.size)
        while left.size:
            here, some = at[left], numbers[left]
            up = (here < self._last) & (some >= self._starts(here + 1, kind))
            down = (here > 0) & (some < self._starts(here, kind))
            at[left] += up.astype(np.int64) - down
            left = left[up | down]
        return at

    def _starts(self, positions: Indices, kind: Float) -> Values:
        """Return the least number that counts at each candidate, but for those at the ends."""
        at = positions.clip(1, max(self._last, 1))
        return least_above(self._at_halves(2 * at - 1), self._at_halves(2 * at - 2), kind)

    def unclear(self, kind: Float) -> float | None:
        """Return a candidate that a type of floats may not tell from the next, if one is."""
        far = max(self.lower, self[self._last], key=abs)
        if abs(far) > np.finfo(kind).max:
            return far
        apart = Fraction(float(np.spacing(np.nextafter(kind(abs(far)), kind(0)))))
        step, low = (Fraction(one, self._parts) for one in (self._each, self._first))
        # Steps of just this size are told apart if all candidates are floats.
        return far if step < apart or (step == apart and low % apart) else None

    def pieces(self, places: Indices, wanted: Fraction) -> Pieces:
        """Return the pieces of candidates that hold the same ranks, with the wanted rank.

        Args:
            places: The positions that numbers count at. Private.
            wanted: The rank.
        """
        held, counts = np.unique(places, return_counts=True)
        upto = np.cumsum(counts)
        below = upto - counts
        ends = np.concatenate([np.stack([held, held + 1], axis=1).ravel(), [len(self)]])
        low = np.concatenate([np.stack([below, below], axis=1).ravel(), [places.size]])
        high = np.concatenate([np.stack([below, upto], axis=1).ravel(), [places.size]])
        kept = np.diff(ends, prepend=0) > 0
        return Pieces(ends[kept], low[kept], high[kept], wanted)


def _is_open(end: object, infinite: float) -> bool:
    return end is None or (isinstance(end, float) and end == infinite)
