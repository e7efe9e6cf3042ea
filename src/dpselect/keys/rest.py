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
from dpselect.draws.exact.noisy_counts import check_scale, discrete_laplace, scale_for
from dpselect.errors import ParameterError
from dpselect.plan import Spend

SHARE = 0.1
"""Share of epsilon for the rest."""


@dataclass(frozen=True)
class Rest:
    """What the rests cost, and their noise; false if no rest is counted; public.

    Attributes:
        epsilon: Epsilon of all rests together; 0 for none.
        changed: How much of what is counted one neighbour step changes.
    """

    epsilon: float = 0.0
    changed: int = 1

    def __bool__(self) -> bool:
        return self.epsilon > 0

    @classmethod
    def of(cls, asked: Any, epsilon: float, changed: int) -> Rest:  # noqa: ANN401
        """Return the rest of a query, an empty one if it does not ask for it.

        Args:
            asked: The query: ``Keys`` or ``TopKeys``.
            epsilon: Epsilon of the query.
            changed: How much one neighbour step changes.

        Raises:
            ParameterError: A field is out of its range, or does not go with another.
        """
        if not asked.other:
            if asked.other_share is not None:
                raise ParameterError("`other_share` goes with `other`: leave it out")
            return cls()
        if asked.missing_keys == "key":
            raise ParameterError(
                "`other` shows the rest as a row without a key, and `missing_keys`='key' has "
                "such a key: give one of the two"
            )
        share = SHARE if asked.other_share is None else asked.other_share
        rest = cls(epsilon * validation.share("other_share", share), changed)
        check_scale(rest.scale, "other_share")
        return rest

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return scale_for(self.epsilon, self.changed)

    @property
    def spends(self) -> tuple[Spend, ...]:
        """The price, if there is one."""
        if not self:
            return ()
        what = f"noise of scale {self.scale:.4g} on the number of all other rows"
        return (Spend(what, self.epsilon),)

    def noisy(self, rests: Sequence[int]) -> list[int]:
        """Return rests with noise: a release."""
        noisy = discrete_laplace(np.array(rests, dtype=np.int64), self.scale)
        return [int(one) for one in noisy]
