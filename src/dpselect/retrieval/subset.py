"""Private subset retrieval for a public number of members."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect import _validate
from dpselect._replacing import replaced
from dpselect.draws.exp_bounds import LARGEST_EPSILON
from dpselect.draws.swaps import DistanceLaw, Part
from dpselect.errors import DataError, ParameterError, PublicClaimError
from dpselect.neighbours import Neighbours
from dpselect.plan import ErrorBound, Plan, Spend, SupportsSpend
from dpselect.release import Release
from dpselect.retrieval import laws
from dpselect.typing import Values

Scheme: TypeAlias = Literal["optimal", "ball", "union", "distance"]

MOST_PEOPLE = 2**31 - 1
"""Draws go through all people."""

SHOWN_PROBABILITY = 0.95
"""Of the error bound of a scheme whose number of errors has no limit below all."""


@dataclass(frozen=True, kw_only=True)
class SubsetRetrieval:
    r"""Release a subset close to a private one of public size.

    ============  ==========================================================================
    scheme        output
    ============  ==========================================================================
    ``optimal``   the law of least :math:`\delta` for ``epsilon``, ``beta`` and ``failure``
    ``ball``      uniform among the subsets within ``beta`` swaps: Algorithm A1 as its proof
                  has it. As the paper states it, with exactly ``beta`` swaps, its delta is
                  larger than Theorem 1 claims
    ``union``     the subset and ``beta`` of all people, drawn uniformly: Algorithm A2. It
                  never misses a member
    ``distance``  each subset with :math:`P \propto e^{-\varepsilon\,\text{swaps}}`; pure
                  epsilon-DP. The normaliser is the same for all subsets, so the exponent
                  needs no factor 1/2
    ============  ==========================================================================

    Guarantee:
        ``(epsilon, delta(epsilon))``-DP under ``SWAP``: one member exchanged for somebody
        else. ``n``, ``d`` and the people's order are public. Every delta is exact: the
        least for which it is true.

    Attributes:
        n: Number of people, at least 1.
        d: Number of members, 0 to ``n``. If it is not public, see
            :func:`~dpselect.retrieval.release_subset`.
        beta: Errors that are allowed for, in swaps, 0 to ``min(d, n - d)``: no two subsets
            are further apart. For ``union`` the people drawn, 0 to ``n``, of whom at most
            ``beta`` are strangers. ``distance`` ignores it.
        epsilon: What a release costs under ``SWAP``, in nats; 0 to 1000.
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
        known = {"optimal", "ball", "union", "distance"}
        if _validate.instance("scheme", self.scheme, str) not in known:
            raise ParameterError("scheme must be 'optimal', 'ball', 'union' or 'distance'")
        n = _validate.at_least("n", self.n, 1, MOST_PEOPLE)
        d = _validate.at_least("d", self.d, 0)
        if d > n:
            raise ParameterError(f"d must be at most n = {n}, got {d}")
        most, name = min(d, n - d), "min(d, n - d)"
        if self.scheme == "union":
            most, name = n, "n"
        beta = _validate.at_least("beta", self.beta, 0)
        if beta > most:
            raise ParameterError(f"beta must be at most {name} = {most}, got {beta}")
        for field, value in (("n", n), ("d", d), ("beta", beta)):
            object.__setattr__(self, field, value)
        epsilon = _validate.within("epsilon", self.epsilon, 0, LARGEST_EPSILON)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "failure", _validate.within("failure", self.failure, 0, 1))
        if self.failure == 1:
            raise ParameterError("failure must be below 1")
        if self.failure > 0 and self.scheme != "optimal":
            raise ParameterError(f"failure goes with scheme 'optimal', not {self.scheme!r}")

    def delta(self, epsilon: float | None = None) -> float:
        """Return the least delta for ``epsilon``, by default the scheme's; O(min(d, n - d)).

        The relative error is at most 1e-7 up to a million people (1e-11 up to a thousand).
        """
        at = self.epsilon if epsilon is None else epsilon
        at = _validate.within("epsilon", at, 0, np.inf)
        if self.scheme == "union":
            # Under the neighbour every output contains the person swapped in; outputs without
            # them have probability 0.
            return 1 - self.beta / self.n if 0 < self.d < self.n else 0.0
        return laws.delta_of(self.law(), at)

    def delta_rounded_up(self) -> float:
        """Return the delta that a release costs: no rounding made it too small."""
        if self.scheme == "union":
            return laws.rounded_up(self.delta())
        return laws.delta_rounded_up(self.law(), self.epsilon)

    def accuracy(self, beta: int | None = None) -> float:
        """Return P[at most ``beta`` swaps], or for ``union`` P[at most ``beta`` strangers]."""
        most = _validate.at_least("beta", self.beta if beta is None else beta, 0)
        return min(1.0, float(self.masses()[: most + 1].sum()))

    def masses(self) -> Values:
        """Return P[a errors] for a = 0, 1, ...; the same for every subset, hence public."""
        if self.scheme == "union":
            return laws.union_masses(self.n, self.d, self.beta)
        return self.law().masses()

    def law(self) -> DistanceLaw:
        """Return the law of the swaps.

        Raises:
            ParameterError: The scheme is ``union``, whose output is larger.
        """
        if self.scheme == "union":
            raise ParameterError("the union scheme does not swap; use masses()")
        if self.scheme == "optimal":
            return laws.optimal_law(self.n, self.d, self.beta, self.epsilon, self.failure)
        most = min(self.d, self.n - self.d)
        whole = Part(0, self.beta, 1.0, 0.0)
        if self.scheme == "distance":
            whole = Part(0, most, 1.0, float(self.epsilon))
        return DistanceLaw(self.n, self.d, (whole,))

    def plan(self) -> Plan:
        """Return what a release costs; public."""
        delta = self.delta_rounded_up()
        parameters = "" if self.scheme == "distance" else f"beta={self.beta}"
        if self.scheme == "optimal":
            parameters += f", failure={self.failure!r}"
        return Plan(
            function="SubsetRetrieval",
            arguments=asdict(self),
            mechanism=f"{self.scheme}({parameters})",
            spends=(Spend("the subset", float(self.epsilon), delta=delta),),
            epsilon=float(self.epsilon),
            delta=delta,
            neighbours=Neighbours.SWAP,
            public=("the people and their order", "the number of members"),
            error=self._error(),
        )

    def _error(self) -> ErrorBound:
        unit = "strangers added" if self.scheme == "union" else "swaps"
        if self.scheme == "union":
            return ErrorBound(float(min(self.beta, self.n - self.d)), unit, 1.0)
        if self.scheme != "distance":
            return ErrorBound(float(self.beta), unit, 1 - self.failure)
        enough = np.cumsum(self.masses()) >= SHOWN_PROBABILITY
        # Rounding may leave the sum of all masses below 1, never below 0.95.
        return ErrorBound(float(np.argmax(enough)), unit, SHOWN_PROBABILITY)

    def release(self, members: Iterable[int], budget: SupportsSpend | None = None) -> Release:
        """Draw a subset, exactly; safe to publish.

        Args:
            members: Positions of the members, 0 to ``n - 1``, each once. Private.
            budget: Charged with epsilon and delta before anything is drawn. A release that
                costs neither, one that ignores the subset, is not recorded.

        Returns:
            The positions of the released members, ascending, as ``answer``.

        Raises:
            DataError: ``members`` names somebody twice or somebody who is not there.
            PublicClaimError: There are not ``d`` members.
            ParameterError: There is a budget and delta is 1, which no budget allows.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
            NeighboursError: The budget is kept for another relation than ``SWAP``.
        """
        plan = self.plan()
        checked = self._checked(members)
        receipt = plan.charge(budget)
        drawn = Release(answer=tuple(self.choose(checked)), plan=plan, exact=True)
        return drawn.recorded(receipt)

    def choose(self, members: list[int]) -> list[int]:
        """Draw exactly from checked, sorted members, without spending.

        For functions that charged a plan which has the price of :meth:`plan` in it. Where
        there are not ``d`` members, some are left out or strangers added, uniformly.
        """
        from dpselect.draws import subsets

        if self.scheme == "union":
            return subsets.joined(members, self.n, self.beta)
        return subsets.swapped(members, self.law())

    def simulate(
        self, members: Iterable[int], *, size: int, rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Repeat the draw with NumPy: for experiments, never for publication.

        Returns:
            Shape ``(size, n)``: whether each person is in each output. As private as
            ``members``.
        """
        inside = np.array(self._checked(members), dtype=np.int64)
        size = _validate.at_least("size", size, 1)
        _validate.instance("rng", rng, np.random.Generator)
        drawn = np.zeros((size, self.n), dtype=np.bool_)
        drawn[:, inside] = True
        others = np.setdiff1d(np.arange(self.n), inside)
        masses = self.masses()
        swaps = rng.choice(masses.size, size=size, p=masses / masses.sum())
        for row, a in zip(drawn, swaps, strict=True):
            row[rng.choice(others, a, replace=False)] = True
            if self.scheme != "union":
                row[rng.choice(inside, a, replace=False)] = False
        return drawn

    def _checked(self, members: Iterable[int]) -> list[int]:
        checked = checked_members(members, self.n)
        if len(checked) != self.d:
            raise PublicClaimError(
                "there are not as many members as the size d that was declared public; if the "
                "size is private, use release_subset"
            )
        return checked


def checked_members(members: Iterable[int], n: int) -> list[int]:
    """Return the members in ascending order, without naming one in an error."""
    given = replaced(
        lambda: np.asarray(list(members)),
        # NumPy's own message would say how many there are.
        lambda: DataError("members must hold positions of people, each an integer"),
    )
    if given.size == 0:
        return []
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise DataError("members must hold positions of people: integers from 0 to n - 1")
    distinct = np.unique(given)
    if distinct.size != given.size:
        raise DataError("members names somebody twice")
    if distinct[0] < 0 or distinct[-1] >= n:
        raise DataError(
            f"members names somebody who is not there; positions go from 0 to {n - 1}"
        )
    return [int(person) for person in distinct]
