"""The ranks of candidates in any order, as by definition."""

from types import SimpleNamespace

import numpy as np

from dpselect.percentiles.reading import counts_in


def ranks_in(data, points, column=None, users=None):
    """Return the ranks of one group, and how many records have no number."""
    ascending, at = np.unique(points, return_inverse=True)
    counts = counts_in(data, ascending, column, users)
    below, upto = counts.below[:, at], counts.upto[:, at]
    return SimpleNamespace(below=below, upto=upto, numbers=counts.numbers), counts.missing
