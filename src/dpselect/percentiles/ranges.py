"""Equally spaced candidates that are never listed, and the pieces of them between records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, lcm

import numpy as np

from dpselect import validation
from dpselect.draws.range_exponential import Pieces
from dpselect.errors import ParameterError
from dpselect.percentiles.objectives import FIRST, exact_decimal, exact_fraction
from dpselect.typing import Indices, Values

MOST = 2**52
"""Candidates beyond which floats could not tell neighbouring ones apart."""

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
        if not first < last or not isfinite(last - first):
            raise ParameterError(
                f"`upper` must be finite and above `lower`, got {first!r} to {last!r}"
            )
        if (last - first) / step >= MOST:
            raise ParameterError(
                f"a range has at most 2**52 candidates: `step`={step!r} is too small"
            )
        object.__setattr__(self, "lower", first)
        object.__setattr__(self, "upper", last)
        object.__setattr__(self, "step", step)

    def __len__(self) -> int:
        return self._last + 1

    def __getitem__(self, position: int) -> float:
        if not 0 <= position <= self._last:
            raise IndexError(position)
        return float(self.at([position])[0])

    def at(self, positions: Sequence[int]) -> Values:
        """Return the candidates at positions, the floats nearest to their decimal digits."""
        lower, step = exact_decimal(self.lower), exact_decimal(self.step)
        parts = lcm(lower.denominator, step.denominator)
        first, each = int(lower * parts), int(step * parts)
        return np.array([(first + position * each) / parts for position in positions])

    def between(self, first: int, last: int) -> Range:
        """Return the range of the candidates from one position to a later one."""
        return Range(self[first], self[last], self.step)

    @property
    def _last(self) -> int:
        # Through the decimal digits: in floats 0.3 / 0.1 is below 3.
        span = exact_decimal(self.upper) - exact_decimal(self.lower)
        return int(span // exact_decimal(self.step))

    def sides(self, values: Values) -> Indices:
        """Return ``2 i + 1`` for a number at candidate ``i``, ``2 i`` for one just before it.

        Every number is placed by itself, with the rounding of a float division: a number
        within a billionth of a step of a candidate, or within two roundings, is at it.
        """
        last = self._last
        steps = np.clip((values - self.lower) / self.step, -1.0, last + 1.0)
        nearest = np.rint(steps)
        at = np.abs(steps - nearest) <= np.maximum(1e-9, 4e-16 * np.abs(nearest))
        sides = np.where(at, 2 * nearest + 1, 2 * np.ceil(steps))
        return np.clip(sides, 0, 2 * (last + 1)).astype(np.int64)

    def pieces(self, values: Values, *, p: float) -> Pieces:
        """Return the pieces of candidates that hold the same ranks, with the wanted rank.

        Args:
            values: The numbers, none missing.
            p: The percentile, in (0, 100].
        """
        sides, counts = np.unique(self.sides(values), return_counts=True)
        upto = np.cumsum(counts)
        below = upto - counts
        # Candidates before each side, and before or at it.
        before, through = sides // 2, (sides + 1) // 2
        ends = np.concatenate([np.stack([before, through], axis=1).ravel(), [len(self)]])
        low = np.concatenate([np.stack([below, below], axis=1).ravel(), [values.size]])
        high = np.concatenate([np.stack([below, upto], axis=1).ravel(), [values.size]])
        kept = np.diff(ends, prepend=0) > 0
        wanted = FIRST + exact_fraction(p) * (values.size - 1)
        return Pieces(ends[kept], low[kept], high[kept], wanted)


def _is_open(end: object, infinite: float) -> bool:
    return end is None or (isinstance(end, float) and end == infinite)
