"""The loss of the last noise of a release alone, with all draws before it frozen."""

import numpy as np

from dpselect.draws.exact.noisy_counts import discrete_laplace
from dpselect.draws.exact.samplers import intercepted, name_of


def loss_of_last_noise(release, x, y):
    """Return the loss of the Laplace noise that a release adds last, on two databases.

    Args:
        release: Called with a database.
        x: A database, on which all draws are made.
        y: One on which the draws before the last have the same outputs.
    """
    outputs, given = [], []

    def first(_name, draw, args, _kwargs):
        outputs.append(draw())
        given.append(args)
        return outputs[-1]

    with intercepted(first):
        release(x)
    here, left = given[-1], iter(outputs)

    def again(name, _draw, args, _kwargs):
        given[:] = [name, args]
        return next(left)

    with intercepted(again):
        release(y)
    name, there = given
    assert name == name_of(discrete_laplace)
    assert here[1] == there[1]
    return float(np.abs(np.subtract(here[0], there[0])).sum() / here[1])
