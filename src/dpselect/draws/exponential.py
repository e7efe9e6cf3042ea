"""The exponential mechanism's draw: ``P(r) ∝ exp(ε s_r / 2)``.

Source: McSherry and Talwar, FOCS 2007. It is bounded-range: Durfee and Rogers 2019; its
Kullback-Leibler divergence: Dong et al. 2020, arXiv:1909.13830, and Cesar and Rogers 2021,
arXiv:2004.07223; its zCDP: Harrison and Manurangsi 2026, arXiv:2510.25746, and Theorem 8 of
``docs/report``. One round of Gumbel noise and its ``k`` largest equal ``k`` rounds without
replacement: Yellott 1977; Efraimidis and Spirakis 2006.
"""

from __future__ import annotations

from math import exp, expm1, log
from sys import float_info

import numpy as np

from dpselect.budget.zcdp import SLACK
from dpselect.draws.base import Draw
from dpselect.typing import Indices, Probabilities, Scores, Values


class Exponential(Draw):
    """The exponential mechanism on unit scores.

    Guarantee:
        ``epsilon``-DP and ``epsilon``-bounded-range.
    """

    name = "exponential"

    def probabilities(self, scores: Scores, epsilon: float) -> Probabilities:
        weights = np.exp((scores - scores.max()) * (epsilon / 2))
        return weights / weights.sum()

    def log_probabilities(self, scores: Scores, epsilon: float) -> Scores:
        exponents = (scores - scores.max()) * (epsilon / 2)
        return exponents - log(np.exp(exponents).sum())

    def sample(self, scores: Scores, epsilon: float, k: int) -> list[int]:
        from dpselect.draws.exact import selection

        return selection.top_k_gumbel_noise(scores, epsilon, k)

    def rho(self, epsilon: float) -> float:
        """Return ``y - 1 - ln y``, ``y = ε/(e^ε - 1)``."""
        return bounded_range_rho(epsilon)

    def noise(self, shape: tuple[int, int], rng: np.random.Generator) -> Values:
        return -np.log(rng.standard_exponential(shape))

    def _simulate_rounds(
        self, exponents: Values, block: Indices, rng: np.random.Generator
    ) -> None:
        k = block.shape[1]
        noisy = exponents + self.noise((len(block), exponents.size), rng)
        top = np.argpartition(noisy, -k, axis=1)[:, -k:]
        order = np.argsort(-np.take_along_axis(noisy, top, axis=1), axis=1)
        block[:] = np.take_along_axis(top, order, axis=1)


def bounded_range_rho(epsilon: float) -> float:
    """Return ``y - 1 - ln y``, ``y = ε/(e^ε - 1)``.

    The least rho of all mechanisms of bounded range epsilon, at every order (Theorem 8); at
    most ``ε^2/8``.

    Args:
        epsilon: In nats; finite, > 0.

    Returns:
        Finite, > 0, rounded up.
    """
    # y = epsilon e^-epsilon / rest and ln y = ln(epsilon / rest) - epsilon: nothing overflows.
    rest = -expm1(-epsilon)
    terms = (epsilon * exp(-epsilon) / rest, -1.0, epsilon, log(rest / epsilon))
    rho = sum(terms) + 2.0**-49 * sum(map(abs, terms))
    return max(min(rho, epsilon * epsilon / 8 * (1 + SLACK)), float_info.min)
