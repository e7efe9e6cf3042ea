"""Private subset retrieval: a subset of people near a private one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import nextafter
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from dpselect import validation
from dpselect._optional import replaced
from dpselect.draws.exact.exp_bounds import LARGEST_EPSILON
from dpselect.draws.subset_distance import DistanceLaw
from dpselect.errors import DataError, ParameterError, PublicClaimError
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan, Spend
from dpselect.query import Design, Query, query
from dpselect.release import Release
from dpselect.subsets.laws import Retrieval, Scheme
from dpselect.typing import Values

MOST_PEOPLE = 2**31 - 1
"""Draws go through all people."""

PEOPLE = "the people and their order"

SMALLEST_SIZE_EPSILON = 2.0**-49
"""Down to here the noise of the size stays within 64-bit integers."""


@query
class Subset(Query[Release[int]]):
    r"""A subset of people near a private one.

    Data are the positions of the members, each once, and the answer those of the released
    members, ascending. Errors are counted in swaps: one member exchanged for somebody else.

    ===========  ===========================================================================
    scheme       output
    ===========  ===========================================================================
    ``pure``     each subset with :math:`P \propto e^{-\varepsilon\,\text{swaps}}`; pure
                 epsilon-DP. The normaliser is the same for all subsets, so the exponent needs
                 no factor 1/2
    ``optimal``  the law of least :math:`\delta` for ``epsilon``, ``beta`` and ``failure``
    ``ball``     uniform among the subsets within ``beta`` swaps: Algorithm A1 as its proof has
                 it. As the paper states it, with exactly ``beta`` swaps, its delta is larger
                 than Theorem 1 claims
    ``union``    the subset and ``beta`` of all people, drawn uniformly: Algorithm A2. It never
                 misses a member
    ===========  ===========================================================================

    A private number of members gets noise first, and the subset is brought to the noisy size
    at random. If one status changes, the subsets brought to a common size can be coupled to be
    at most one swap apart: a person more or less among those drawn from changes at most one of
    those drawn. So the guarantee of the retrieval holds, and the epsilons add up. A noisy size
    for which ``beta`` costs more than ``delta`` is retrieved by the pure scheme.

    Guarantee:
        ``(epsilon, delta)``-DP, with the delta of the plan. With ``d`` under ``SWAP``: one
        member exchanged for somebody else; that delta is exact, the least for which it is
        true. Without ``d`` under ``SUBSTITUTE``: one person's status changes. All fields and
        the people's order are public.

    Attributes:
        n: Number of people, at least 1.
        d: Number of members, 0 to ``n``. Leave it out where it is private.
        beta: Errors that are allowed for, in swaps, by all schemes but the pure one. At most
            ``min(d, n - d)``: no two subsets are further apart. For ``union`` the people
            drawn, 0 to ``n``, of whom at most ``beta`` are strangers.
        failure: Probability of more than ``beta`` swaps, in [0, 1), with the optimal scheme.
        size_share: Share of ``epsilon`` for the number of members, where ``d`` is left out.
        scheme: ``"pure"``, ``"optimal"``, ``"ball"`` or ``"union"``. A private size needs one
            of the first two.
        epsilon: What the release costs, in nats; 0 to 1000.
        delta: What it costs besides, with the optimal scheme where ``d`` is left out. In
            [0, 1).

    Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278; ``optimal`` and ``pure`` are
        ours.

    Examples:
        >>> import dpselect as dp
        >>> optimal = dp.Subset(n=100, d=10, beta=5, epsilon=0.5, scheme="optimal")
        >>> round(optimal.plan.delta, 4), optimal.accuracy(5)
        (0.4359, 1.0)
        >>> len(optimal.release(range(10)).answer)
        10
    """

    n: int
    d: int | None = None
    beta: int | None = None
    failure: float = 0.0
    size_share: float = 0.2
    scheme: Scheme = "pure"
    epsilon: float
    delta: float | None = None

    def design(self) -> Design[Release[int]]:
        validation.one_of("scheme", self.scheme, get_args(Scheme))
        validation.at_least("n", self.n, 1, MOST_PEOPLE)
        pure, optimal = self.scheme == "pure", self.scheme == "optimal"
        if (self.beta is None) != pure:
            has = "has no" if pure else "needs a"
            raise ParameterError(f"`scheme` {self.scheme!r} {has} `beta`")
        if self.beta is not None:
            validation.at_least("beta", self.beta, 0)
        if validation.within("failure", self.failure, 0, 1) == 1:
            raise ParameterError("`failure` must be below 1")
        if self.failure > 0 and not optimal:
            raise ParameterError(f"`failure` goes with `scheme` 'optimal', not {self.scheme!r}")
        if (self.delta is not None) != (self.d is None and optimal):
            raise ParameterError(
                "give `delta` with `scheme` 'optimal' and without `d`, and not otherwise"
            )
        return self._of_public_size() if self.d is not None else self._of_private_size()

    def _of_public_size(self) -> _Retrieval:
        found = self.retrieval()
        validation.at_least("d", found.d, 0, self.n)
        union = self.scheme == "union"
        most = self.n if union else min(found.d, self.n - found.d)
        if found.beta > most:
            of = "`n`" if union else "min(`d`, `n` - `d`)"
            raise ParameterError(f"`beta` must be at most {of} = {most}, got {found.beta}")
        epsilon = validation.within("epsilon", self.epsilon, 0, LARGEST_EPSILON)
        delta = found.price()
        return _Retrieval(
            mechanism=self._label,
            spends=(Spend("the subset", epsilon, delta=delta),),
            epsilon=epsilon,
            delta=delta,
            neighbours=Neighbours.SWAP,
            public=(PEOPLE, "the number of members"),
            error=found.error(),
            found=found,
        )

    def _of_private_size(self) -> _NoisySize:
        if self.scheme not in {"pure", "optimal"}:
            raise ParameterError(f"`scheme` {self.scheme!r} needs a public `d`")
        epsilon = validation.positive("epsilon", self.epsilon)
        delta = validation.within("delta", self.delta or 0.0, 0, 1)
        if delta == 1:
            raise ParameterError("`delta` must be below 1")
        part = epsilon * validation.within("size_share", self.size_share, 0, 1)
        rest = epsilon - part
        if Fraction(rest) + Fraction(part) > Fraction(epsilon):
            rest = nextafter(rest, 0.0)
        if part < SMALLEST_SIZE_EPSILON:
            raise ParameterError("`size_share` of `epsilon` must be at least 2^-49")
        if rest > LARGEST_EPSILON:
            raise ParameterError(f"`epsilon` for the subset must be at most {LARGEST_EPSILON}")
        return _NoisySize(
            mechanism=f"{self._label} at a noisy size",
            spends=(
                Spend("the number of members", part),
                Spend("the subset", rest, delta=delta),
            ),
            epsilon=epsilon,
            delta=delta,
            neighbours=Neighbours.SUBSTITUTE,
            public=(PEOPLE,),
            scheme=self.scheme,
            n=self.n,
            beta=self.beta or 0,
            failure=self.failure,
        )

    @property
    def _label(self) -> str:
        given = {"beta": self.beta, "failure": self.failure or None}
        shown = ", ".join(f"{name}={one!r}" for name, one in given.items() if one is not None)
        return f"{self.scheme}({shown})" if shown else self.scheme

    def retrieval(self) -> Retrieval:
        """Return the scheme.

        Raises:
            ParameterError: The number of members is private; so for all that follow.
        """
        if self.d is None:
            raise ParameterError("laws are of a public number of members: give `d`")
        return Retrieval(
            self.scheme, self.n, self.d, self.epsilon, self.beta or 0, self.failure
        )

    def delta_at(self, epsilon: float | None = None) -> float:
        """Return the least delta for ``epsilon``, by default the query's; O(min(d, n - d)).

        The relative error is at most 1e-7 up to a million people (1e-11 up to a thousand).
        """
        at = self.epsilon if epsilon is None else epsilon
        return self.retrieval().delta(validation.within("epsilon", at, 0, np.inf))

    def accuracy(self, beta: int | None = None) -> float:
        """Return P[at most ``beta`` swaps], or for ``union`` P[at most ``beta`` strangers]."""
        most = validation.at_least("beta", self.beta if beta is None else beta, 0)
        return min(1.0, float(self.masses()[: most + 1].sum()))

    def masses(self) -> Values:
        """Return P[a errors] for a = 0, 1, ...; the same for every subset, hence public."""
        return self.retrieval().masses()

    def law(self) -> DistanceLaw:
        """Return the law of the swaps.

        Raises:
            ParameterError: The scheme is ``union``, whose output is larger.
        """
        return self.retrieval().law()

    def simulate(
        self, members: Iterable[int], *, size: int, rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Repeat the draw with NumPy: for experiments, never for publication.

        Returns:
            Shape ``(size, n)``: whether each person is in each output. As private as
            ``members``.
        """
        inside = np.array(counted_members(members, self.retrieval()), dtype=np.int64)
        size = validation.at_least("size", size, 1)
        validation.instance("rng", rng, np.random.Generator)
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


@dataclass(frozen=True, kw_only=True)
class _Retrieval(Design[Release[int]]):
    found: Retrieval

    def prepare(self, data: Iterable[int]) -> Callable[[Plan], Release[int]]:
        members = counted_members(data, self.found)
        return lambda plan: Release(self.found.draw(members), plan)


@dataclass(frozen=True, kw_only=True)
class _NoisySize(Design[Release[int]]):
    scheme: Scheme
    n: int
    beta: int
    failure: float

    def prepare(self, data: Iterable[int]) -> Callable[[Plan], Release[int]]:
        from dpselect.draws.exact import noisy_counts

        members = checked_members(data, self.n)
        scale = noisy_counts.scale_for(self.spends[0].epsilon)

        def draw(plan: Plan) -> Release[int]:
            [noisy] = noisy_counts.discrete_laplace(np.array([len(members)]), scale)
            size = min(max(int(noisy), 0), self.n)
            return Release(self.retrieval(size).draw(members), plan)

        return draw

    def retrieval(self, d: int) -> Retrieval:
        """Return the scheme for a size, the pure one where the optimal one costs more."""
        pure = Retrieval("pure", self.n, d, self.spends[1].epsilon)
        beta = min(self.beta, d, self.n - d)
        wanted = replace(pure, scheme=self.scheme, beta=beta, failure=self.failure)
        return wanted if wanted.price() <= self.delta else pure


def counted_members(members: Iterable[int], of: Retrieval) -> list[int]:
    """Return the members in ascending order, if there are as many as was declared."""
    checked = checked_members(members, of.n)
    if len(checked) != of.d:
        raise PublicClaimError(
            "there are not as many members as the `d` that was declared public; if their "
            "number is private, leave `d` out"
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
