"""The ranks of candidates in any order, as by definition."""

import numpy as np

from dpselect.percentiles.reading import counts_in


def ranks_in(data, points, column=None, users=None):
    """Return how many numbers are below each, and up to it, of how many, and the missing."""
    ascending, at = np.unique(points, return_inverse=True)
    counts = counts_in(data, ascending, column, users)
    below, upto = (counts.before(np.arange(ascending.size) + i)[0, at].tolist() for i in (0, 1))
    return below, upto, counts.numbers[0], counts.missing
