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
