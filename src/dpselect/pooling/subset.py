"""Private subset retrieval: who tested positive, give or take a few swaps."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect import _validate
from dpselect.errors import DataError, ParameterError, PublicClaimError
from dpselect.neighbours import Neighbours
from dpselect.pooling import classes
from dpselect.pooling.classes import DistanceLaw, Part

Scheme: TypeAlias = Literal["optimal", "ball", "union", "distance"]

LARGEST_EPSILON = 1000.0
"""Beyond it every probability that epsilon would allow is below the smallest float."""


class SpendsWithDelta(Protocol):
    """What a release asks of a budget."""

    def spend(
        self, epsilon: float, *, neighbours: Neighbours, delta: float, mechanism: str
    ) -> object:
        """Record a spend, or raise and record nothing."""


@dataclass(frozen=True, slots=True)
class SubsetRelease:
    """Who was released as a member, with the guarantee; may be published.

    Attributes:
        members: Positions of people, ascending.
        mechanism: The mechanism with its public parameters.
        epsilon: In nats.
        delta: The exact one, rounded up.
        neighbours: The relation that both are stated for.
        version: The version of dpselect that drew it.
    """

    members: tuple[int, ...]
    mechanism: str
    epsilon: float
    delta: float
    neighbours: Neighbours = Neighbours.SWAP
    version: str = version("dpselect")

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain Python values."""
        return {
            "members": list(self.members),
            "mechanism": self.mechanism,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": str(self.neighbours),
            "exact": True,
            "version": self.version,
        }

    def to_json(self) -> str:
        """Return the release as one JSON object."""
        return json.dumps(self.to_dict())


@dataclass(frozen=True, kw_only=True)
class SubsetRetrieval:
    r"""Release a subset close to a private one of public size.

    ============  ==========================================================================
    scheme        output
    ============  ==========================================================================
    ``optimal``   the law of least :math:`\delta` for ``epsilon``, ``beta`` and ``failure``
    ``ball``      uniform among the subsets within ``beta`` swaps: Algorithm A1. As printed,
                  exactly ``beta`` swaps, it has a larger delta than Theorem 1 claims
    ``union``     the subset and ``beta`` of all people, drawn uniformly: Algorithm A2. It
                  never misses a member
    ``distance``  each subset with :math:`P \propto e^{-\varepsilon\,\text{swaps}}`; pure
                  epsilon-DP. The normaliser is the same for all subsets, so that there is
                  no factor 2
    ============  ==========================================================================

    Guarantee:
        ``(epsilon, delta(epsilon))``-DP under ``SWAP``: one member exchanged for somebody
        else. ``n``, ``d`` and the people's order are public. Every delta is exact: the
        least for which it is true.

    Attributes:
        n: People, at least 1.
        d: Members, 0 to ``n``. If it is not public, see
            :func:`~dpselect.pooling.retrieve_of_unknown_size`.
        beta: Errors that are allowed for, in swaps (``union``: in people too many); 0 to
            ``min(d, n - d)``. ``distance`` ignores it.
        epsilon: In nats, 0 to 1000.
        failure: Probability of more than ``beta`` swaps, [0, 1); ``optimal`` only.
        scheme: Which law.

    Raises:
        ParameterError: An argument is out of range.

    Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278; ``optimal`` and
    ``distance`` are ours.

    Examples:
        >>> optimal = SubsetRetrieval(n=100, d=10, beta=5, epsilon=0.5)
        >>> round(optimal.delta(0.5), 4), optimal.accuracy(5)
        (0.4359, 1.0)
    """

    n: int
    d: int
    beta: int
    epsilon: float
    failure: float = 0.0
    scheme: Scheme = "optimal"

    def __post_init__(self) -> None:
        n = _validate.at_least("n", self.n, 1)
        d = _validate.at_least("d", self.d, 0)
        if d > n:
            raise ParameterError(f"d must be at most n = {n}, got {d}")
        most = min(d, n - d)
        if _validate.at_least("beta", self.beta, 0) > most:
            raise ParameterError(
                f"beta must be at most min(d, n - d) = {most}, got {self.beta}; there it is "
                "as private as any law can be"
            )
        _validate.within("epsilon", self.epsilon, 0, LARGEST_EPSILON)
        if _validate.within("failure", self.failure, 0, 1) == 1:
            raise ParameterError("failure must be below 1")
        if self.scheme not in {"optimal", "ball", "union", "distance"}:
            raise ParameterError("scheme must be 'optimal', 'ball', 'union' or 'distance'")
        if self.failure > 0 and self.scheme != "optimal":
            raise ParameterError(f"failure goes with scheme 'optimal', not {self.scheme!r}")

    def delta(self, epsilon: float | None = None) -> float:
        """Return the least delta for ``epsilon``, by default the scheme's; O(min(d, n - d)).

        Right to one part in 10^7 up to a million people (to 10^11 for a thousand).
        """
        at = self.epsilon if epsilon is None else epsilon
        at = _validate.within("epsilon", at, 0, np.inf)
        if self.scheme == "union":
            # An output that leaves out the person swapped in is impossible on the other side.
            return 1 - self.beta / self.n if 0 < self.d < self.n else 0.0
        return self.law().delta(at)

    def delta_rounded_up(self) -> float:
        """Return the delta that a release spends: no rounding made it too small."""
        if self.scheme == "union":
            return classes.rounded_up(self.delta())
        return self.law().delta_rounded_up(self.epsilon)

    def accuracy(self, beta: int | None = None) -> float:
        """Return P[at most ``beta`` swaps], or for ``union`` P[at most ``beta`` too many]."""
        most = _validate.at_least("beta", self.beta if beta is None else beta, 0)
        return min(1.0, float(self.masses()[: most + 1].sum()))

    def masses(self) -> NDArray[np.float64]:
        """Return P[a errors] for a = 0, 1, ...; the same for every subset, hence public."""
        if self.scheme == "union":
            return classes.union_masses(self.n, self.d, self.beta)
        return self.law().masses()

    def law(self) -> DistanceLaw:
        """Return the law of the swaps.

        Raises:
            ParameterError: The scheme is ``union``, whose output is larger.
        """
        if self.scheme == "union":
            raise ParameterError("the union scheme does not swap; ask masses()")
        if self.scheme == "optimal":
            return classes.optimal_law(self.n, self.d, self.beta, self.epsilon, self.failure)
        most = min(self.d, self.n - self.d)
        whole = Part(0, self.beta, 1.0, 0.0)
        if self.scheme == "distance":
            whole = Part(0, most, 1.0, float(self.epsilon))
        return DistanceLaw(self.n, self.d, (whole,))

    def release(
        self, subset: Iterable[int], budget: SpendsWithDelta | None = None
    ) -> SubsetRelease:
        """Draw a subset, exactly; safe to publish.

        Args:
            subset: Positions of the members, 0 to ``n - 1``, each once. Private.
            budget: Where to record the spend of ``epsilon`` and delta, before the draw. A
                release that costs neither, one that ignores the subset, is not recorded.

        Raises:
            DataError: ``subset`` names somebody twice or somebody who is not there.
            PublicClaimError: ``subset`` is not of size ``d``.
            ParameterError: There is a budget and delta is 1: no budget pays for that.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        """
        members = self._checked(subset)
        delta = self.delta_rounded_up()
        if budget is not None and (self.epsilon > 0 or delta > 0):
            budget.spend(
                float(self.epsilon),
                neighbours=Neighbours.SWAP,
                delta=delta,
                mechanism=repr(self),
            )
        return SubsetRelease(
            members=tuple(self.draw(members)),
            mechanism=repr(self),
            epsilon=float(self.epsilon),
            delta=delta,
        )

    def draw(self, members: list[int]) -> list[int]:
        """Draw exactly from checked, sorted members; spends nothing. See :meth:`release`."""
        from dpselect.pooling import exact

        if self.scheme == "union":
            extra = exact.SYSTEM.sample(range(self.n), self.beta)
            return sorted({*members, *extra})
        inside = set(members)
        others = [person for person in range(self.n) if person not in inside]
        return exact.draw_subset_at(exact.draw_distance(self.law()), members, others)

    def simulate(
        self, subset: Iterable[int], *, size: int, rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Repeat the draw with NumPy: for experiments, never for publication.

        Returns:
            Shape ``(size, n)``: whether each person is in each output. As private as
            ``subset``.
        """
        members = np.array(self._checked(subset), dtype=np.int64)
        size = _validate.at_least("size", size, 1)
        _validate.instance("rng", rng, np.random.Generator)
        drawn = np.zeros((size, self.n), dtype=np.bool_)
        drawn[:, members] = True
        others = np.setdiff1d(np.arange(self.n), members)
        masses = self.masses()
        swaps = rng.choice(masses.size, size=size, p=masses / masses.sum())
        for row, a in zip(drawn, swaps, strict=True):
            row[rng.choice(others, a, replace=False)] = True
            if self.scheme != "union":
                row[rng.choice(members, a, replace=False)] = False
        return drawn

    def _checked(self, subset: Iterable[int]) -> list[int]:
        members = checked_members(subset, self.n)
        if len(members) != self.d:
            raise PublicClaimError(
                "the subset is not of the size d that was declared public; if the size is "
                "private, use retrieve_of_unknown_size"
            )
        return members


def checked_members(subset: Iterable[int], n: int) -> list[int]:
    """Return the members in ascending order, without naming one in an error."""
    try:
        given = np.asarray(list(subset))
    except (TypeError, ValueError):
        # NumPy's own message would say how many there are.
        raise DataError("subset must hold positions of people, each a whole number") from None
    if given.size == 0:
        return []
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise DataError("subset must hold positions of people: whole numbers from 0 to n - 1")
    members = np.unique(given)
    if members.size != given.size:
        raise DataError("subset names somebody twice")
    if members[0] < 0 or members[-1] >= n:
        raise DataError(
            f"subset names somebody who is not there; positions go from 0 to {n - 1}"
        )
    return [int(person) for person in members]
