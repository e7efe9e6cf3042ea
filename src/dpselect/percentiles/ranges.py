"""Equally spaced candidates that are never listed, and the pieces of them between records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, lcm

import numpy as np

from dpselect import _validate
from dpselect.draws.pieces import Pieces
from dpselect.errors import ParameterError
from dpselect.percentiles.objectives import percent
from dpselect.typing import Values

MOST = 2**52
"""Candidates beyond which floats could not tell neighbouring ones apart."""

OPEN = 10**15
"""Steps from 0, or from the other end, to an end that is not given."""


@dataclass(frozen=True, slots=True)
class Range:
    """The candidates ``low``, ``low + step``, ... up to ``high``; public.

    A release from a range takes time and memory for the records, not for the candidates, and
    draws by the exponential mechanism: pieces of candidates between two records hold the same
    ranks, so a piece is drawn and then one of its candidates.

    Where the largest value is not known, ``high=None`` ends the range ``10**15`` steps above
    ``low``; ``low=None`` begins it as far below ``high``. Without both it goes from ``-10**15``
    to ``10**15`` steps.

    Attributes:
        low: The smallest candidate; finite.
        high: The end, above ``low``; a candidate if it is a whole number of steps away.
        step: Distance of two candidates; > 0, at most ``2**52`` of them in all.

    Raises:
        ParameterError: An argument is out of range.

    Examples:
        >>> from dpselect.percentiles import Range
        >>> len(Range(0, 3_000_000, step=0.01))
        300000001
    """

    low: float
    high: float
    step: float

    def __init__(self, low: float | None, high: float | None, step: float) -> None:
        step = _validate.positive("step", step)
        reach = OPEN * self._exact(step)
        first = None if low is None else _validate.finite("low", low)
        last = None if high is None else _validate.finite("high", high)
        if first is None:
            first = float((0 if last is None else self._exact(last)) - reach)
        if last is None:
            last = float((0 if low is None else self._exact(first)) + reach)
        if not first < last or not isfinite(last - first):
            raise ParameterError(
                f"high must be finite and above low, got {first!r} to {last!r}"
            )
        if (last - first) / step >= MOST:
            raise ParameterError(f"a range has at most 2**52 candidates; step={step!r} is less")
        object.__setattr__(self, "low", first)
        object.__setattr__(self, "high", last)
        object.__setattr__(self, "step", step)

    def __len__(self) -> int:
        return self._last + 1

    def __getitem__(self, position: int) -> float:
        if not 0 <= position <= self._last:
            raise IndexError(position)
        return float(self.at([position])[0])

    def at(self, positions: Sequence[int]) -> Values:
        """Return the candidates at positions, the floats nearest to their decimal digits."""
        low, step = self._exact(self.low), self._exact(self.step)
        parts = lcm(low.denominator, step.denominator)
        first, each = int(low * parts), int(step * parts)
        return np.array([(first + position * each) / parts for position in positions])

    @property
    def _last(self) -> int:
        # Through the decimal digits: in floats 0.3 / 0.1 is below 3.
        return int((self._exact(self.high) - self._exact(self.low)) // self._exact(self.step))

    def _exact(self, number: float) -> Fraction:
        return Fraction(repr(float(number)))

    def sides(self, values: Values) -> Values:
        """Return ``2 i + 1`` for a number at candidate ``i``, ``2 i`` for one just before it.

        Every number is placed by itself, with the rounding of a float division: a number
        within a billionth of a step of a candidate, or within two roundings, is at it.
        """
        last = self._last
        steps = np.clip((values - self.low) / self.step, -1.0, last + 1.0)
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
        wanted = exact_fraction(p) * (values.size + 1)
        return Pieces(ends[kept], low[kept], high[kept], wanted)


def exact_fraction(p: float) -> Fraction:
    """Return ``p / 100`` through the decimal digits of ``p``."""
    return Fraction(repr(percent(p))) / 100
