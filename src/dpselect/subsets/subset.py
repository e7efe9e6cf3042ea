"""A subset of people near a private one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from dpselect import validation
from dpselect._numbers import exact, floor
from dpselect.draws.exact.inversion import LARGEST_EPSILON
from dpselect.draws.exact.noisy_counts import discrete_laplace, scale_for
from dpselect.errors import ParameterError, PublicClaimError
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan, Spend
from dpselect.query import ANYTHING, NOTHING, Claim, Columns, Design, Query, query
from dpselect.release import Release
from dpselect.subsets import schemes
from dpselect.subsets.reading import Members, bound, word

MOST_PEOPLE = 2**31 - 1
"""Draws go through all people."""

PEOPLE = "the people and their order"

MANY = 1 / 4
"""Part of the released names that are wrong, in the mean, from which on it is a warning."""

MORE = "about {:.0%} of the names are noise: ask with a larger epsilon"

SMALLEST_SIZE_EPSILON = 2.0**-49
"""Down to here the noise of the size stays within 64-bit integers."""


@dataclass(frozen=True, repr=False)
class SubsetRelease(Release[Any]):
    """A subset, with the expected numbers of wrong and of missing names."""

    @property
    def errors(self) -> schemes.Errors:
        """Expected numbers of released names that are wrong, and of members who are missing.

        They depend on public fields alone, and on the released number of names where that of
        members is private: each number that it may stem from is taken to be as probable.
        """
        asked: Any = self.query
        return asked.errors_given(len(self.answer))

    def released(self) -> dict[str, Any]:
        """Return all that was released, as plain Python values by name."""
        wrong, missing = map(three, self.errors)
        return {**super().released(), "expected_wrong": wrong, "expected_missing": missing}

    @property
    def facts(self) -> dict[str, object]:
        """What is said of the release beside its answer, by name."""
        wrong, missing = map(three, self.errors)
        said = (
            f"about {wrong:g} of the {len(self.answer)} names are wrong, and about {missing:g} "
            "members are missing, in the mean"
        )
        return {"expected": said, **super().facts}

    @property
    def _doubt(self) -> str | None:
        wrong = self.errors.wrong / max(len(self.answer), 1)
        return None if wrong < MANY else MORE.format(wrong)


@query
class Subset(Query[SubsetRelease]):
    """A subset of people near a private one.

    Data are the positions of the members, each once, and the answer those of the released
    members, ascending. With ``column`` data are a table instead, a frame or the path of a
    Parquet or CSV file, with one row for each person; with ``label`` the answer has names in
    place of row numbers. Errors are counted in swaps: one member exchanged for another person.

    ===========  ==============================================================================
    scheme       output
    ===========  ==============================================================================
    ``pure``     each subset with ``P ∝ e^(-ε swaps)``; pure epsilon-DP. The normaliser is the
                 same for all subsets, so the exponent needs no factor 1/2
    ``optimal``  the least δ for ``epsilon``, ``beta`` and ``failure``
    ``ball``     uniform among the subsets within ``beta`` swaps: Algorithm A1 as its proof has
                 it. As the paper states it, with exactly ``beta`` swaps, its delta is larger
                 than Theorem 1 claims
    ``union``    the subset and ``beta`` of all people, drawn uniformly: Algorithm A2. It never
                 misses a member
    ===========  ==============================================================================

    A private number of members gets noise first, and the subset is brought to the noisy size at
    random. If one status changes, the subsets brought to a common size can be coupled to be at
    most one swap apart: one person more or less in the set drawn from changes at most one of
    the persons drawn. So the guarantee of the retrieval, which is pure, holds, and the epsilons
    add up.

    Guarantee:
        With ``d`` ``(epsilon, delta)``-DP under ``SWAP``, with the delta of the plan: one
        member is exchanged for another person; that delta is exact, the smallest for which the
        guarantee holds. Without ``d`` ``epsilon``-DP under ``SUBSTITUTE``: one person's status
        changes. All fields, the people, their labels and their order are public.

    Attributes:
        column: The column of the statuses, in a table with a row for each person. Without it
            data are the positions of the members.
        positive: The status that makes a person a member, or several. Compared in small
            letters, without spaces around; 1, 1.0 and true are one status, and so are 0, 0.0
            and false. Other statuses and missing ones do not. Or a bound for a column of
            numbers, as ``"< 38"``.
        label: The column that names the people, in place of row numbers. Public; each name
            once.
        n: Number of people, at least 1.
        d: Number of members, 0 to ``n``. Leave it out if it is private.
        beta: Allowed errors, in swaps, for all schemes except the pure one. At most
            ``min(d, n - d)``: no two subsets are further apart. For ``union`` the people
            drawn, 0 to ``n``, of whom at most ``beta`` are strangers.
        failure: Probability of more than ``beta`` swaps, in [0, 1), with the optimal scheme.
        size_share: Share of ``epsilon`` for the number of members, where ``d`` is left out. The
            default is the best for 5 to 200 members among ``n`` (``dpselect.subsets.schemes``).
        scheme: ``"pure"``, ``"optimal"``, ``"ball"`` or ``"union"``. A private size needs the
            first.
        epsilon: Price of the release, in nats; 0 to 1000.

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

    column: str | None = None
    positive: Annotated[Hashable | Sequence[Hashable], Claim()] = None
    label: Annotated[str | None, Claim()] = None
    n: Annotated[int, Claim(), validation.integers(1, MOST_PEOPLE)]
    d: Annotated[int | None, Claim(None)] = None
    beta: Annotated[int | None, validation.integers(0)] = None
    failure: Annotated[float, validation.probability] = 0.0
    size_share: Annotated[float | None, validation.numbers(0, 1)] = None
    scheme: schemes.Scheme = "pure"
    epsilon: float

    def check_where(self, where: object) -> None:
        """Accept any: of a person only the status changes, by which no row is kept."""

    def heads(self) -> tuple[str, str]:
        return ("row" if self.label is None else self.label), ""

    def reads(self) -> Columns:
        label = () if self.label is None else ((self.label, ANYTHING),)
        return ((self.column_named(), NOTHING), *label)

    def design(self) -> SubsetDesign:
        pure = self.scheme == "pure"
        if (self.beta is None) != pure:
            has = "has no" if pure else "needs a"
            raise ParameterError(f"`scheme` {self.scheme!r} {has} `beta`")
        if self.failure > 0 and self.scheme != "optimal":
            raise ParameterError(f"`failure` goes with `scheme` 'optimal', not {self.scheme!r}")
        plan, retrieval = self._noisy_size() if self.d is None else self._public_size(self.d)
        return SubsetDesign(plan=plan, rows=self._members(), retrieval=retrieval)

    def _members(self) -> Members:
        validation.different_columns(column=self.column, label=self.label)
        if self.column is None:
            if self.label is not None or self.positive is not None:
                raise ParameterError(
                    "`label` and `positive` are for tables: name the `column` of the statuses"
                )
            return Members(self.n)
        if (within := bound(self.positive)) is not None:
            return Members(self.n, self.column, label=self.label, bound=within)
        given = self.positive if isinstance(self.positive, tuple) else (self.positive,)
        words = frozenset(map(word, given))
        if None in words or not words:
            raise ParameterError(
                "`column` needs `positive`, the statuses of members: texts, numbers or booleans"
            )
        return Members(self.n, self.column, frozenset(map(str, words)), self.label)

    def _public_size(self, d: int) -> tuple[Plan, schemes.Retrieval]:
        validation.at_least("d", d, 0, self.n)
        union = self.scheme == "union"
        most = self.n if union else min(d, self.n - d)
        if (self.beta or 0) > most:
            of = "`n`" if union else "min(`d`, `n` - `d`)"
            raise ParameterError(f"`beta` must be at most {of} = {most}, got {self.beta}")
        epsilon = validation.within("epsilon", self.epsilon, 0, LARGEST_EPSILON)
        found = schemes.Retrieval(self.scheme, self.n, d, epsilon, self.beta or 0, self.failure)
        delta = found.delta(epsilon, schemes.RELATIVE_ERROR)
        plan = Plan(
            mechanism=self._label,
            spends=(Spend("the subset", epsilon, delta=delta),),
            epsilon=epsilon,
            delta=delta,
            neighbours=Neighbours.SWAP,
            public=(PEOPLE, "the number of members"),
            error=found.error(),
        )
        return plan, found

    def _noisy_size(self) -> tuple[Plan, schemes.Retrieval]:
        if self.scheme != "pure":
            raise ParameterError(f"`scheme` {self.scheme!r} needs a public `d`")
        epsilon = validation.positive("epsilon", self.epsilon)
        share = (
            schemes.best_share(self.n, epsilon) if self.size_share is None else self.size_share
        )
        part = epsilon * share
        rest = floor(exact(epsilon) - exact(part))
        if part < SMALLEST_SIZE_EPSILON:
            raise ParameterError("`size_share` of `epsilon` must be at least 2^-49")
        if rest > LARGEST_EPSILON:
            raise ParameterError(f"`epsilon` for the subset must be at most {LARGEST_EPSILON}")
        plan = Plan(
            mechanism="pure at a noisy size",
            spends=(Spend("the number of members", part), Spend("the subset", rest)),
            epsilon=epsilon,
            neighbours=Neighbours.SUBSTITUTE,
            public=(PEOPLE,),
        )
        return plan, schemes.Retrieval("pure", self.n, 0, rest, scale=scale_for(part))

    @property
    def _label(self) -> str:
        given = {"beta": self.beta, "failure": self.failure or None}
        shown = ", ".join(f"{name}={one!r}" for name, one in given.items() if one is not None)
        return f"{self.scheme}({shown})" if shown else self.scheme

    def retrieval(self) -> schemes.Retrieval:
        """Return the scheme.

        Raises:
            ParameterError: The number of members is private. This holds for all methods below.
        """
        if self.d is None:
            raise ParameterError("the distribution depends on the number of members: give `d`")
        return self._drawn

    def delta_at(self, epsilon: float | None = None) -> float:
        """Return the least delta for ``epsilon``, by default the query's; O(min(d, n - d)).

        The relative error is at most 1e-7 up to a million people (1e-11 up to a thousand).
        """
        at = self.epsilon if epsilon is None else epsilon
        return self.retrieval().delta(validation.within("epsilon", at, 0, np.inf))

    def accuracy(self, beta: int | None = None) -> float:
        """Return P[at most ``beta`` swaps], or for ``union`` P[at most ``beta`` strangers]."""
        most = validation.at_least("beta", self.beta if beta is None else beta, 0)
        return min(1.0, float(self.retrieval().masses()[: most + 1].sum()))

    def predicted(self) -> dict[str, object]:
        """Return how many names are expected to be wrong and missing, by numbers of members."""
        if self.d is None:
            tried = [d for d in schemes.POSITIVES if d <= self.n]
            said = [f"of {d} positives: {self.errors(d)}" for d in tried]
        else:
            said = [f"{self.errors()}, of {self.d}"]
        return {"people": f"{self.n:,}", "expected": "\n".join(said)}

    def errors(self, d: int | None = None) -> schemes.Errors:
        """Return the expected numbers of wrong and of missing names; public.

        Args:
            d: Number of members, where it is private: a guess.

        Raises:
            ParameterError: It is not given, or given where the number is public.
        """
        if self.d is None:
            return self._drawn.of(validation.at_least("d", d, 0, self.n))
        if d is not None:
            raise ParameterError("`d` is for a private number of members: leave it out")
        return self.retrieval().errors()

    def errors_given(self, size: int) -> schemes.Errors:
        """Return the same of a release of so many names."""
        return self.errors() if self.d is not None else self._drawn.given(size)

    @property
    def _drawn(self) -> schemes.Retrieval:
        designed: Any = self._designed
        return designed.retrieval


def three(number: float) -> float:
    """Return a number with three digits, none behind the second one after the point."""
    return round(number, 2) if number < 1 else float(f"{number:.3g}")


@dataclass(frozen=True, kw_only=True)
class SubsetDesign(Design[SubsetRelease]):
    """How a subset is drawn.

    Attributes:
        rows: How the members are read.
        retrieval: The scheme, of the number of members if it is public.
    """

    rows: Members
    retrieval: schemes.Retrieval

    def prepare(self, data: object) -> Callable[[Plan], SubsetRelease]:
        members, names = self.rows.read(data)
        scale = self.retrieval.scale
        if scale is None and len(members) != self.retrieval.d:
            raise PublicClaimError(
                "there are not as many members as the `d` that was declared public; if their "
                "number is private, leave `d` out"
            )

        def draw(plan: Plan) -> SubsetRelease:
            retrieval = self.retrieval
            if scale is not None:
                [noisy] = discrete_laplace(np.array([len(members)]), scale)
                retrieval = replace(retrieval, d=min(max(int(noisy), 0), self.rows.n))
            return SubsetRelease(tuple(names[one] for one in retrieval.draw(members)), plan)

        return draw
