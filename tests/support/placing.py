"""The candidate that a number counts at, by its definition in fractions."""

from fractions import Fraction
from math import isinf


def decimal(number):
    """Return a number through its decimal digits."""
    return Fraction(repr(float(number)))


def nearest(number, points):
    """Return the position of the nearest of ascending candidates, halfway the larger one's."""
    if isinf(number):
        return len(points) - 1 if number > 0 else 0
    apart = [(abs(decimal(number) - decimal(point)), -at) for at, point in enumerate(points)]
    return -min(apart)[1]


def placed(numbers, points):
    """Return the candidate that each number counts at, of candidates in any order."""
    ascending = sorted(set(points))
    return [ascending[nearest(number, ascending)] for number in numbers]


def signed_scores(places, p, points):
    """Return how far inside of each candidate's ranks that of a percentile is.

    Args:
        places: Of numbers, as an array; -1 and ``len(points)`` are beyond all candidates.
        p: The percentile.
        points: Ascending candidates.
    """
    wanted, scores = 1 + p / 100 * (places.size - 1), []
    for place, point in enumerate(points):
        below, at = (places < place).sum(), (places == place).sum()
        first, last = below + 1 - 1 / 64, below + at + 1 / 64
        if not at:
            before = points[places[(places < place) & (places >= 0)]].max(initial=points[0])
            after = points[places[(places > place) & (places < points.size)]]
            gap = after.min(initial=points[-1]) - before
            between = (point - before) / gap if gap > 0 else 0.5
            first = last = below + min(max(between, 1 / 64), 63 / 64)
        scores.append(float(min(last - wanted, wanted - first)))
    return scores
