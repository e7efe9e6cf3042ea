r"""The exponential mechanism's draw: :math:`P(r) \propto \exp(\varepsilon s_r / 2)`.

Source: McSherry and Talwar, FOCS 2007. It is bounded-range: Durfee and Rogers 2019; its
Kullback-Leibler divergence: Dong et al. 2020, arXiv:1909.13830, and Cesar and Rogers 2021,
arXiv:2004.07223; its zCDP: Harrison and Manurangsi 2026, arXiv:2510.25746, and Theorem 6 of
``docs/theory.md``. One round of Gumbel noise and its ``k`` largest equal ``k`` rounds without
replacement: Yellott 1977.
"""

from __future__ import annotations

from math import log

import numpy as np

from dpselect.draws import zcdp
from dpselect.draws.base import CHUNK, Draw
from dpselect.typing import Indices, Probabilities, Scores, Values


class Exponential(Draw):
    """The exponential mechanism on unit scores.

    Guarantee:
        ``epsilon``-DP and ``epsilon``-bounded-range.
    """

    name = "exponential"

    def law(self, scores: Scores, epsilon: float) -> Probabilities:
        weights = np.exp((scores - scores.max()) * (epsilon / 2))
        return weights / weights.sum()

    def log_law(self, scores: Scores, epsilon: float) -> Scores:
        exponents = (scores - scores.max()) * (epsilon / 2)
        return exponents - log(np.exp(exponents).sum())

    def sample(self, scores: Scores, epsilon: float, k: int) -> list[int]:
        from dpselect.draws import selection

        return selection.top_k_gumbel_noise(scores, epsilon, k)

    def rho(self, epsilon: float) -> float:
        r"""Return :math:`y - 1 - \ln y`, :math:`y = \varepsilon/(e^\varepsilon - 1)`."""
        return zcdp.of_bounded_range(epsilon)

    def _noise(self, shape: tuple[int, int], rng: np.random.Generator) -> Values:
        return -np.log(rng.standard_exponential(shape))

    def _simulate_rounds(
        self, exponents: Values, k: int, size: int, rng: np.random.Generator
    ) -> Indices:
        chosen = np.empty((size, k), dtype=np.int64)
        rows = max(1, CHUNK // exponents.size)
        for first in range(0, size, rows):
            block = chosen[first : first + rows]
            noisy = exponents + self._noise((len(block), exponents.size), rng)
            top = np.argpartition(noisy, -k, axis=1)[:, -k:]
            order = np.argsort(-np.take_along_axis(noisy, top, axis=1), axis=1)
            block[:] = np.take_along_axis(top, order, axis=1)
        return chosen
