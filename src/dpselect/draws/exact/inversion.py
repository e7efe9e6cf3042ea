"""Exact draws by inversion, from bits that are drawn as far as they decide.

Outcome ``i`` has probability ``w_i / ∑_j w_j``, so that it takes the part of [0, 1) between two
running sums over the whole sum. Weights may be any real numbers: a distribution gives integer
bounds of them, as close as needed (``Weights``). A uniform number is known by its first bits.
If whatever bits follow, and whatever the weights are within their bounds, it lies in the part
of one outcome, that one is drawn; if not, more bits are drawn, and the bounds are made closer.
Nothing is rounded: the distribution is the stated one.

Source: Flajolet and Saheb 1986, and Karney 2016, arXiv:1303.6257, for exact draws from bits as
they are needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate

from dpselect.draws.exact import bits as source


@dataclass(frozen=True, slots=True)
class Weights:
    """Bounds of the weights of consecutive outcomes, as running sums; 0 comes first.

    Attributes:
        least: Sums of lower bounds.
        most: Sums of upper bounds, with that of all weights before.
        first: The first outcome.
        beyond: Upper bound of the sum of all weights after these; the lower one is 0.
    """

    least: list[int]
    most: list[int]
    first: int = 0
    beyond: int = 0

    @classmethod
    def of(
        cls,
        bounds: Iterable[tuple[int, int]],
        *,
        first: int = 0,
        before: int = 0,
        beyond: int = 0,
    ) -> Weights:
        """Return the running sums of lower and upper bounds.

        Args:
            bounds: Lower and upper bound of each weight, >= 0.
            first: The first outcome.
            before: Upper bound of the sum of all weights before these.
            beyond: Upper bound of the sum of all weights after these.
        """
        lows, highs = zip(*bounds, strict=True)
        return cls(
            list(accumulate(lows, initial=0)),
            list(accumulate(highs, initial=before)),
            first,
            beyond,
        )


def resolve(weights: Weights, uniform: int, bits: int) -> int | None:
    """Return the outcome that every real number beginning with these bits is drawn to.

    With ``S`` the sum of the weights up to a point and ``W`` that of the rest, the point is at
    ``S / (S + W)``, which increases in ``S`` and decreases in ``W``: at most there with the
    upper bound of ``S`` and the lower one of ``W``, at least with the others. If an outcome is
    decided, it is so for the lower bounds as weights, too.

    Args:
        weights: Bounds of the weights.
        uniform: The first ``bits`` bits of a number in [0, 1).
        bits: How many.

    Returns:
        ``None`` if more bits are needed, or closer bounds.
    """
    least, most = weights.least, weights.most
    at = min(bisect_right(least, (uniform * least[-1]) >> bits), len(least) - 1) - 1
    start = most[at]
    begins = uniform * (start + least[-1] - least[at]) >= start << bits
    end, rest = least[at + 1], most[-1] - most[at + 1] + weights.beyond
    ends = (uniform + 1) * (end + rest) <= end << bits
    return weights.first + at if begins and ends else None


def draw(weights: Callable[[int], Weights], bits: int) -> int:
    """Draw an outcome.

    Args:
        weights: Returns bounds of the weights that are close enough for so many bits to
            decide nearly always.
        bits: How many are drawn at first.
    """
    return resume(weights, source.randbits(bits), bits)


def resume(weights: Callable[[int], Weights], uniform: int, bits: int) -> int:
    """Draw an outcome, the first bits of the uniform number being drawn already."""
    while True:
        outcome = resolve(weights(bits), uniform, bits)
        if outcome is not None:
            return outcome
        uniform, bits = uniform << bits | source.randbits(bits), 2 * bits
