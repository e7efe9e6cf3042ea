r"""Scores of caps on the keys of a person: the expected number of keys that are released.

At the cap :math:`m` a key that :math:`c` people have is released with the probability
:math:`\pi_m(c)`. A person who comes adds one to at most :math:`m` counts, and a key that gets
one person more is released with a probability that is larger by at most :math:`s_m = \max_c
\pi_m(c + 1) - \pi_m(c)`. So the sum over keys moves by at most :math:`m s_m`, also where one
person replaces another, who takes away at most as much. Under add/remove all scores move in one
direction. The sum is of probabilities that are rounded down to multiples of :math:`2^{-30}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from dpselect.keys.laws import KeyLaw
from dpselect.typing import Indices, Values

STEPS = 2**30
"""Steps of a probability, to which it is rounded down."""

MARGIN = 1e-9
"""Relative, far above the rounding of a law."""

NEAR = 3
"""Steps from one half on either side that are looked at."""


@dataclass(frozen=True)
class ExpectedKeys:
    """Scores of caps by the expected number of keys that are released.

    Attributes:
        laws: The law at each cap.
        caps: The caps.
    """

    laws: Sequence[KeyLaw]
    caps: Sequence[int]

    @cached_property
    def bound(self) -> int:
        """What one person moves a score by, at most, in steps of a probability."""
        return max(
            cap * (ceil(STEPS * largest_step(law) * (1 + MARGIN)) + 1)
            for law, cap in zip(self.laws, self.caps, strict=True)
        )

    def of(self, counted: Sequence[float]) -> list[int]:
        """Return the score of each cap, which is counted as it is."""
        return [int(one) for one in counted]


def expected_keys(law: KeyLaw, people: Indices) -> int:
    """Return the expected number of keys that are released, in steps of a probability.

    Args:
        law: The law of a key.
        people: How many people have each key, shape ``(n,)``. Private.
    """
    different, keys = np.unique(people, return_counts=True)
    steps = np.floor(STEPS * law.probabilities(different)).astype(np.int64)
    return sum(int(one) * int(times) for one, times in zip(steps, keys, strict=True))


def kth_largest(counts: Indices | Values, k: int) -> float:
    """Return the ``k``-th largest count, 0 if there are fewer; private.

    One person who moves each count by at most 1 moves it by at most 1.
    """
    return float(np.partition(counts, -k)[-k]) if counts.size >= k else 0.0


def largest_step(law: KeyLaw) -> float:
    r"""Return the most that one person adds to the probability of a key.

    From the first person on, steps of noise past a threshold grow up to one half and fall then:
    the law of the noise has one peak. So do those of :class:`~.laws.OptimalLaw`, of which a
    step is :math:`\pi (e^{\varepsilon} - 1) + \delta` below and
    :math:`(1 - \pi)(1 - e^{-\varepsilon}) + e^{-\varepsilon} \delta` above.
    """
    near = np.arange(max(law.half - NEAR, 1), law.half + NEAR + 1)
    steps = np.diff(law.probabilities(near))
    return max(float(steps.max()), float(law.probabilities(np.array([1]))[0]))
