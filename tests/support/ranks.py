"""The ranks of candidates in any order, as by definition, and laws of one percentile."""

import numpy as np

from dpselect.draws import PermuteAndFlip
from dpselect.draws.above_threshold import log_probability
from dpselect.neighbours import Neighbours
from dpselect.percentiles.choice import LARGEST, size_of
from dpselect.percentiles.methods import ByRank
from dpselect.percentiles.reading import Records
from support.noise import laplace


def ranks_in(data, points, column=None, users=None):
    """Return how many numbers are below each, and up to it, of how many, and the missing."""
    ascending, at = np.unique(points, return_inverse=True)
    counts = Records(Neighbours.ADD_REMOVE, column, users).counted(data, ascending)
    below, upto = (counts.before(np.arange(ascending.size) + i)[0, at].tolist() for i in (0, 1))
    return below, upto, counts.numbers[0], counts.missing


def log_law_of_stops(queries, threshold, scales):
    """Return the logarithms of the probabilities of every first stop, the last of none."""
    drawn = (np.array(queries), threshold, *scales, 1)
    return np.array(
        [log_probability(*drawn, (i,)) for i in range(len(queries))]
        + [log_probability(*drawn, ())]
    )


def law_by_rank(single, counts):
    """Return the distribution of one percentile over its candidates, by rank."""
    [scores] = np.asarray(single.scores(counts))
    return PermuteAndFlip().probabilities(scores, single.epsilon)


def law_of(single, counts):
    """Return the distribution of one percentile over its candidates, by rank or a threshold."""
    if isinstance(single, ByRank):
        return law_by_rank(single, counts)
    [queries] = np.asarray(single.queries(counts))
    stops = np.exp(log_law_of_stops(queries, single.threshold, single.scales))
    stops[-2] += stops[-1]
    return stops[:-1] if single.upwards else stops[-2::-1]


def law_of_sizes(records, scale):
    """Return the probabilities of the sizes of noisy numbers."""
    found = np.zeros(LARGEST + 1)
    np.add.at(found, size_of(records + np.arange(-2000, 2001)), laplace(scale, 2000))
    return found


def law_after_count(method, counts, sizes=25):
    """Return the distribution of a size of the noisy number and one percentile together."""
    singles = [method.of_size(size).singles for size in range(sizes)]
    values = np.array([law_of(single, counts) for [single] in singles])
    return values * law_of_sizes(int(counts.numbers[0]), method.scale)[:sizes, None]
