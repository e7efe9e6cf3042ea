"""Base class of the draws from unit scores."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dpselect._optional import np
from dpselect.typing import Indices, Probabilities, Scores, Values

CHUNK = 2**22
"""Noise values held at a time by a simulation."""

NEGLIGIBLE = 45.0
"""exp(-45) is below 2^-64: what is cut off there no float can show."""


@dataclass(unsafe_hash=True)
class Draw(ABC):
    """A choice among candidates, given their unit scores; the base of a draw of your own.

    Derive from it, name it, and define ``probabilities``, ``sample``, ``rho`` and ``noise``.
    A mechanism that draws by it says that its releases are not ``exact``, since nothing is
    known of its sampler; ``dpselect.audit.check_private`` checks its distribution.

    A draw of ``k`` candidates is ``k`` rounds without replacement at ``epsilon / k`` each, so
    that ``epsilon`` is the price of the whole draw.
    """

    name: ClassVar[str]

    @abstractmethod
    def probabilities(self, scores: Scores, epsilon: float) -> Probabilities:
        """Return the probability of each candidate in a draw of one.

        Args:
            scores: Unit scores, shape ``(n,)``, finite.
            epsilon: Nats, > 0.

        Returns:
            Shape ``(n,)``; sums to 1. As private as the scores.
        """

    def log_probabilities(self, scores: Scores, epsilon: float) -> Scores:
        """Return the natural logarithms of ``probabilities``.

        The draws of the library override it, so that no probability is too small for it.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities(scores, epsilon))

    @abstractmethod
    def sample(self, scores: Scores, epsilon: float, k: int) -> list[int]:
        """Draw ``k`` positions by an exact sampler, best first."""

    @abstractmethod
    def rho(self, epsilon: float) -> float:
        """Return the zCDP of one round at ``epsilon``, which is at most epsilon^2 / 2."""

    @abstractmethod
    def noise(self, shape: tuple[int, int], rng: "np.random.Generator") -> Values:
        """Return noise whose largest sum with ``epsilon / 2`` times the scores is the draw.

        For simulations of several rounds alone.

        Args:
            shape: Rows and candidates.
            rng: A generator of NumPy.
        """

    def simulate(
        self, scores: Scores, epsilon: float, *, k: int, size: int, rng: "np.random.Generator"
    ) -> Indices:
        """Draw ``size`` times with a NumPy generator: for experiments, never to publish.

        Returns:
            Shape ``(size, k)``, each row in the order drawn.
        """
        if k == 1:
            # The distribution costs one pass; then every draw is a search in its running sum.
            steps = np.cumsum(self.probabilities(scores, epsilon))
            uniform = rng.random(size) * steps[-1]
            return np.searchsorted(steps, uniform, side="right")[:, None]
        chosen = np.empty((size, k), dtype=np.int64)
        rows = max(1, CHUNK // scores.size)
        for first in range(0, size, rows):
            exponents = scores * (epsilon / (2 * k))
            self._simulate_rounds(exponents, chosen[first : first + rows], rng)
        return chosen

    def _simulate_rounds(
        self, exponents: Values, block: Indices, rng: "np.random.Generator"
    ) -> None:
        """Draw each row of a block by fresh noise in every round: O(n k) for a row."""
        left = np.repeat(exponents[None, :], len(block), axis=0)
        for round_ in range(block.shape[1]):
            noisy = left + self.noise(left.shape, rng)
            block[:, round_] = noisy.argmax(axis=1)
            left[np.arange(len(block)), block[:, round_]] = -np.inf
