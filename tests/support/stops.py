"""The law of AboveThreshold, as a sum over the noise of the threshold."""

from math import ceil, expm1

import numpy as np

from dpselect.draws.base import NEGLIGIBLE

HELD = 2**20
"""Numbers held at a time."""

LEAST = 2.0**-100
"""Probabilities that no sum of them shows."""


def stop_probabilities(queries, threshold, threshold_scale, query_scale, stops):
    """Return the probability that stop ``j`` is at query ``i``, and in the last column at none.

    Exact up to what is beyond ``NEGLIGIBLE`` scales; the arguments are those of
    ``first_above``.
    """
    law = np.zeros((stops, queries.size + 1))
    near = np.flatnonzero(queries >= threshold - NEGLIGIBLE * query_scale)
    for noise, mass in noise_of(threshold_scale):
        waiting = np.zeros((stops, mass.size))
        waiting[0] = mass
        for place in near.tolist():
            over = np.maximum(threshold + noise - int(queries[place]), 0)
            stopping = waiting * np.exp(-over / query_scale)
            law[:, place] += stopping.sum(axis=1)
            waiting -= stopping
            waiting[1:] += stopping[:-1]
            if waiting.max() < LEAST:
                break
    law[:, -1] = 1 - law[:, :-1].sum(axis=1)
    return law


def noise_of(scale):
    """Yield the noise of the threshold and its probabilities, so many at a time."""
    values = np.arange(ceil(NEGLIGIBLE * scale) + 1)
    masses = -expm1(-1 / scale) * np.exp(-values / scale)
    for start in range(0, values.size, HELD):
        yield values[start : start + HELD], masses[start : start + HELD]
