"""Discrete Laplace noise by its definition: masses that fall by a factor to both sides of 0."""

import numpy as np


def laplace(scale, reach):
    """Return the masses of the noise from -reach to reach."""
    alpha = np.exp(-1 / scale)
    return (1 - alpha) / (1 + alpha) * alpha ** np.abs(np.arange(-reach, reach + 1))


def at_least(z, scale):
    """Return the probability of noise of at least an integer."""
    alpha = np.exp(-1 / scale)
    tail = alpha ** max(z, 1 - z) / (1 + alpha)
    return tail if z >= 1 else 1 - tail
