"""The number of all that is counted and not released, of each group.

Once keys are released, everything that is counted has one place: a released key, or the rest
of its group, or, where groups without a released key are not public either, the rest of all
these groups. One neighbour step moves at most ``m`` of what is counted, so it moves all rests
together by at most ``m``, whatever was released. Discrete Laplace noise of scale ``m/ε_2`` on
the rests costs ``ε_2``, and the prices of both steps add up.

The noisy total less the ``k`` released noisy counts has their noise besides its own, a variance
of ``2 (m/ε_2)^2 + 2 k (m/ε_1)^2`` in place of ``2 (m/ε_2)^2``. So the rest is counted once the
keys are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpselect import validation
from dpselect.draws.exact.noisy_counts import LARGEST_SCALE, scale_for
from dpselect.errors import ParameterError
from dpselect.plan import Spend

SHARE = 0.1
"""Of epsilon, for the rest."""


@dataclass(frozen=True)
class Rest:
    """What the rests cost, and their noise; public.

    Attributes:
        epsilon: Of all rests together.
        changed: How much of what is counted one neighbour step changes.
    """

    epsilon: float
    changed: int

    @classmethod
    def of(cls, asked: Any, epsilon: float, changed: int) -> Rest | None:  # noqa: ANN401
        """Return the rest of a query, if it asks for it.

        Args:
            asked: The query: ``Keys`` or ``TopKeys``.
            epsilon: Of the query.
            changed: How much one neighbour step changes.

        Raises:
            ParameterError: A field is out of its range, or does not go with another.
        """
        if not asked.other:
            if asked.other_share is not None:
                raise ParameterError("`other_share` goes with `other`: leave it out")
            return None
        if asked.missing_keys == "key":
            raise ParameterError(
                "`other` shows the rest as a row without a key, and `missing_keys`='key' has "
                "such a key: give one of the two"
            )
        share = SHARE if asked.other_share is None else asked.other_share
        if not 0 < validation.finite("other_share", share) < 1:
            raise ParameterError("`other_share` must be above 0 and below 1")
        rest = cls(epsilon * share, changed)
        if not rest.scale <= LARGEST_SCALE:
            raise ParameterError(
                "`other_share` is too small: the rest would have an epsilon below 2**-50"
            )
        return rest

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return scale_for(self.epsilon, self.changed)

    @property
    def spend(self) -> Spend:
        """The price."""
        what = f"noise of scale {self.scale:.4g} on the number of all other rows"
        return Spend(what, self.epsilon)

    def noisy(self, rests: Sequence[int]) -> list[int]:
        """Return rests with noise: a release."""
        from dpselect.draws.exact.noisy_counts import discrete_laplace

        found: list[int] = discrete_laplace(
            np.array(rests, dtype=np.int64), self.scale
        ).tolist()
        return found


def without(epsilon: float, rest: Rest | None) -> float:
    """Return what is left of epsilon for the keys."""
    return epsilon if rest is None else epsilon - rest.epsilon


def price_of(rest: Rest | None) -> tuple[Spend, ...]:
    """Return the price of the rest, if it is released."""
    return () if rest is None else (rest.spend,)
