"""The ranks of candidates in any order, as by definition."""

import numpy as np

from dpselect.percentiles.reading import Ranks, counts_in


def ranks_in(data, points, column=None, users=None):
    """Return the ranks of one group, and how many records have no number."""
    ascending, at = np.unique(points, return_inverse=True)
    counts = counts_in(data, ascending, column, users)
    ranks = counts.ranks()
    return Ranks(ranks.below[:, at], ranks.upto[:, at], ranks.numbers), counts.missing
