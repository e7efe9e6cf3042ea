"""Compensated sums, whose rounding error does not grow with the number of terms.

Unit scores are built from sums over thousands of distances, and every rounding error in them
is part of the sensitivity of a release (see ``dpselect.draws.grid``).

Source: Neumaier, ZAMM 54 (1974); the error of a sum of n terms is 2^-53 relative to the
result plus n^2 2^-106 relative to the sum of magnitudes.
"""

from dpselect._optional import np
from dpselect._twofold import Twofold, exact_sum
from dpselect.typing import Indices, Values


class RunningSum:
    """A sum of floats or of equal-shaped arrays of non-negative numbers."""

    def __init__(self) -> None:
        self._sum: Values = np.asarray(0.0)
        self._lost: Values = np.asarray(0.0)

    @property
    def total(self) -> Values:
        """The sum so far."""
        return self._sum + self._lost

    def at(self, positions: Indices) -> Twofold:
        """Return some of the sums so far, with the digits that ``total`` rounds away."""
        return exact_sum(self._sum[positions], self._lost[positions])

    def add(self, term: Values) -> None:
        """Add a term."""
        raised = self._sum + term
        larger = np.maximum(self._sum, term)
        smaller = np.minimum(self._sum, term)
        self._lost = self._lost + ((larger - raised) + smaller)
        self._sum = raised


def prefix_sums(terms: Values) -> Values:
    """Return ``[0, t_0, t_0 + t_1, ...]``, shape ``(n + 1,)``, for terms >= 0."""
    sums = np.concatenate([[0.0], np.cumsum(terms)])
    raised, before = sums[1:], sums[:-1]
    lost = (np.maximum(before, terms) - raised) + np.minimum(before, terms)
    sums[1:] += np.cumsum(lost)
    return sums
