"""The halves of the records that a recursion draws from, by their definition in fractions."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from support.placing import nearest


def ranks_of_shares(before, weight, parts):
    """Return the first and the last rank of each share of a place, in fractions."""
    halfway = [Fraction(2 * j + 1, 2 * parts) for j in range(parts)]
    edges = [before + weight * part for part in (Fraction(0), *halfway, Fraction(1))]
    return list(pairwise(edges))


def distance(rank, first, last):
    """Return how far a rank is from those of an interval."""
    return first - rank if rank < first else max(rank - last, Fraction(0))


@dataclass(frozen=True)
class Half:
    """Weights of the records at candidates, and the first and the last candidate."""

    weights: tuple[Fraction, ...]
    first: int
    last: int

    @classmethod
    def of_all(cls, values, points):
        places = np.array([nearest(x, points) for x in values], dtype=int)
        counts = np.bincount(places, minlength=len(points)).tolist()
        return cls(tuple(map(Fraction, counts)), 0, len(points) - 1)

    def scores(self, node, parts):
        """Return minus the distances of the wanted rank from those of all shares.

        A share stands for the ranks that are nearer to it than to another share of its place.
        Places are outermost.
        """
        before, after = map(Fraction, node.beyond)
        total = sum(self.weights)
        wanted = before + Fraction(node.fraction) * (total - before - after)
        return [
            -distance(wanted, *ends)
            for at in range(self.first, self.last + 1)
            for ends in ranks_of_shares(sum(self.weights[:at]), self.weights[at], parts)
        ]

    def split(self, place, share):
        """Return the records below and above; those at the place are in both."""
        here = self.weights[place]
        none = Fraction(0)
        below = [*self.weights[:place], here * share]
        above = [here * (1 - share), *self.weights[place + 1 :]]
        pad = len(self.weights) - place - 1
        return (
            type(self)((*below, *[none] * pad), self.first, place),
            type(self)((*[none] * place, *above), place, self.last),
        )
