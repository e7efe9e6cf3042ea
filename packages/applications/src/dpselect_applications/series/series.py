"""The most common values so far, released again after every period for one price."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpselect import ErrorBound, Plan, Query, Spend
from dpselect.budget import Budget
from dpselect.errors import ParameterError
from dpselect.extend import (
    Design,
    DiscreteLaplace,
    Indices,
    KeyRows,
    NeighboursLike,
    Receipt,
    SupportsSpend,
    changed_rows,
    check_scale,
    laplace_rho,
    largest,
    query,
    rho_for,
    stated_rows,
    validation,
)
from dpselect_applications.series import file
from dpselect_applications.series.factors import Factors
from dpselect_applications.series.release import SeriesRelease

MOST_PERIODS = 1000

PROBABILITY = 0.95
"""Probability of the bound on the error."""


@query
class Series(Query[SeriesRelease]):
    """The k keys that most people have had so far, after each of several periods.

    ``release_through`` releases the counts up to one period, and keeps them in a file: the
    first release pays for all periods, later ones cost nothing. ``release`` releases all
    periods at once, after the last one. Both have the same distribution: each period gets fresh
    noise, and all running counts are computed from what was released so far
    (``dpselect_applications.series.factors``).

    A person's key counts once, in the first period in which the person has it. Without a
    ``user`` every row counts. Rows of other periods or with other values are dropped, before a
    person's keys are limited.

    Guarantee:
        ``(epsilon, delta)``-DP under ``neighbours`` for all periods together, of one row, or
        with ``user`` of all rows of one person in all periods. All fields are public. It holds
        for ``release_through`` if rows of a period that was released stay as they are: rows
        that come late, or are corrected, belong to a later period. Which keys of a person are
        counted up to a period depends on that person's rows up to that period alone
        (``dpselect.tables.people``).

    Attributes:
        column: The column of the key.
        period: The column of the period.
        periods: All periods, the earliest first. Not derived from the data.
        k: Number of keys released after each period.
        candidates: The public keys. Not derived from the data.
        user: The column of the person that a row belongs to. Text, integers or dates; rows
            without a person are dropped.
        max_per_user: Maximal number of different keys counted per person, over all periods.
            Those of the earliest periods are counted; within one period they are selected at
            random.
        epsilon: Price of all periods together, in nats; finite, > 0.
        delta: Delta of the guarantee, if Gaussian noise may be used. Without it the noise is
            Laplace; with it, the noise with the smaller error is used, and ``delta`` is spent
            only if that is Gaussian.
        neighbours: ``"add-remove"`` or ``"substitute"``, of a row or of a person.

    Source: Dwork, Naor, Pitassi and Rothblum, STOC 2010, and Chan, Shi and Song 2011 (counting
        under continual observation); ``dpselect_applications.series.factors``.

    Examples:
        >>> import dpselect as dp, polars as pl
        >>> visits = pl.DataFrame({"month": [1, 1, 2, 3], "code": ["a", "b", "b", "b"]})
        >>> series = dp.Series(
        ...     column="code", period="month", periods=[1, 2, 3], k=1, candidates=["a", "b"],
        ...     epsilon=50.0, neighbours="add-remove",
        ... )
        >>> series.release(visits).running.tolist()
        [[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]]
    """

    column: str
    period: str
    periods: Iterable[Hashable]
    k: int
    candidates: Iterable[Hashable]
    user: str | None = None
    max_per_user: int | None = None
    epsilon: float
    delta: float = 0.0
    neighbours: NeighboursLike

    @property
    def made(self) -> SeriesDesign:
        """The design: everything that is decided before data are read."""
        return self._designed  # type: ignore[return-value] # that of design()

    def design(self) -> SeriesDesign:
        validation.instance("column", self.column, str)
        validation.instance("period", self.period, str)
        periods = validation.listed("periods", self.periods) or ()
        can_be_told = all(isinstance(one, Hashable) for one in periods)
        if not 1 <= len(periods) <= MOST_PERIODS or not can_be_told:
            raise ParameterError(f"`periods` must be 1 to {MOST_PERIODS} values of `period`")
        if len(set(periods)) < len(periods):
            raise ParameterError("`periods` must be different values")
        rows = KeyRows.of(self, by=self.period, groups=periods)
        candidates = rows.candidates or ()
        k = validation.some_of("k", self.k, len(candidates))
        relation = validation.table_neighbours(self.neighbours)
        epsilon = validation.positive("epsilon", self.epsilon)
        delta = validation.within("delta", self.delta, 0, 1)
        changed = changed_rows(rows.max_per_user, relation)
        factors = Factors.with_laplace(len(periods), changed, epsilon)
        moved = changed * int(factors.weights.sum(axis=0).max())
        rho, spent = laplace_rho(epsilon, 1 / moved), 0.0
        if delta > 0 and (of_gaussian := rho_for(epsilon, delta)) > 0:
            other = Factors.with_gaussian(len(periods), changed, of_gaussian)
            if other.standard_errors.max() < factors.standard_errors.max():
                factors, rho, spent = other, of_gaussian, delta
        check_scale(factors.noise.scale)
        errors = factors.standard_errors
        made = "Laplace" if isinstance(factors.noise, DiscreteLaplace) else "Gaussian"
        return SeriesDesign(
            plan=Plan(
                mechanism=(
                    f"discrete {made} noise on sums of the counts of {len(periods)} periods; "
                    f"standard error of a running count {errors[0]:.6g} after the first, "
                    f"{errors.max():.6g} at most"
                ),
                spends=(Spend("noise in all periods", epsilon, delta=spent, rho=rho),),
                epsilon=epsilon,
                delta=spent,
                neighbours=relation,
                public=("the candidates", "the periods", "k"),
                composition="one mechanism for all periods",
                error=ErrorBound(
                    factors.error_bound(PROBABILITY),
                    "people in a running count after the last period",
                    PROBABILITY,
                ),
                passes=1,
            ),
            rows=replace(rows, in_turn=True),
            factors=factors,
            k=k,
        )

    # Whether NumPy warns of an overflow depends on private numbers, so it never does.
    @np.errstate(all="ignore")
    def release_through(
        self,
        data: Any,  # noqa: ANN401 -- any table
        through: Hashable,
        *,
        path: str | Path,
        budget: SupportsSpend | None = None,
    ) -> SeriesRelease:
        """Draw up to one period, exactly, and keep what was drawn in a file.

        Periods that are in the file are not drawn again, and cost nothing: a period that was
        released is answered from the file. Earlier periods that were left out are drawn
        together with this one. A crash leaves the file as it was, or with the answer in it. A
        query that differs in ``k`` alone shares it. The file knows its rows and who paid: those
        of another source, another version of it or another ``where`` are refused, and so is a
        budget that was not charged.

        Args:
            data: The rows of at least all periods so far; those of later ones are not read.
                Private. Not needed for a period that is in the file.
            through: The last period to release, one of ``periods``.
            path: The file, which is made for the first period. It is public, and must be kept:
                without it the series starts anew and pays again. Never put back an older copy.
            budget: Where to record the price, for the first period.

        Raises:
            ParameterError: ``through`` is not one of ``periods``, or ``where`` selects rows
                under substitution.
            ColumnError: A column is missing, or not of its type.
            DataError: The data cannot be read.
            InsufficientBudgetError: The budget does not allow it; nothing was drawn.
            NeighboursError: The budget is kept for another neighbour relation.
            LedgerError: The file is of another series or of other rows, or was paid for by
                another budget, or cannot be used.
        """
        number = self.made.number_of(through)
        self.check_where(stated_rows(data).get("where"))
        where = Path(path).absolute()
        if isinstance(budget, Budget):
            budget = budget.for_rows_of(data)
        if not where.exists():
            # A refusal leaves no file.
            self.plan.reserve(budget)
            self.check(data)
        receipt, rows = Receipt(), file.rows_of(data, budget, where)
        with file.opened(where, replace(self, k=1).to_json(), rows) as kept:
            kept.check_payer(budget)
            sums = kept.sums() if kept.is_paid else []
            if len(sums) < number:
                charge = None if kept.is_paid else self.plan.reserve(budget)
                counts = self.made.counts(data, number)
                if charge is not None:
                    receipt = charge()
                    kept.pay(receipt.entry)
                    sums = kept.sums()  # the lock was given up for a moment
                new = self.made.noisy(counts, first=len(sums))
                kept.add(len(sums), new)
                sums += new
            entry = kept.entry
        made = replace(self.made.released(self.plan, sums[:number]), entry=entry)
        return made.recorded(receipt) if receipt.entry is not None else made


@dataclass(frozen=True, kw_only=True)
class SeriesDesign(Design[SeriesRelease]):
    """The public inputs of all draws.

    Attributes:
        rows: What is read of the rows; its groups are the periods.
        factors: What is released of each period.
        k: How many keys.
    """

    rows: KeyRows
    factors: Factors
    k: int

    @property
    def periods(self) -> tuple[Hashable, ...]:
        """All periods."""
        return self.rows.groups

    @property
    def candidates(self) -> tuple[Hashable, ...]:
        """The public keys."""
        return self.rows.candidates or ()

    def number_of(self, period: Hashable) -> int:
        """Return how many periods there are up to one.

        Raises:
            ParameterError: It is none of them.
        """
        if period not in self.periods:
            raise ParameterError(
                f"`through` must be one of the {len(self.periods)} `periods`, of which the "
                f"last is {self.periods[-1]!r}"
            )
        return self.periods.index(period) + 1

    def check(self, data: object) -> None:
        self.rows.check(data)

    def prepare(self, data: object) -> Callable[[Plan], SeriesRelease]:
        counts = self.counts(data, len(self.periods))
        return lambda plan: self.released(plan, self.noisy(counts, first=0))

    def counts(self, data: object, number: int) -> Indices:
        """Return the counts of the first periods: shape ``(t, n)``; private."""
        people = replace(self.rows, groups=self.periods[:number]).read(data)
        return np.stack(people.of(self.candidates, range(number)))

    def noisy(self, counts: Indices, *, first: int) -> list[tuple[int, ...]]:
        """Return the noisy sums of the periods from a number on."""
        weights = self.factors.weights[first : len(counts), : len(counts)]
        drawn = self.factors.noise.sample(weights @ counts)
        return [tuple(one) for one in drawn.tolist()]

    def released(self, plan: Plan, sums: list[tuple[int, ...]]) -> SeriesRelease:
        """Return the release of the noisy sums of the first periods."""
        last = self.factors.running(np.array(sums))[-1]
        best = largest(last, self.k)
        return SeriesRelease(
            answer=tuple(self.candidates[one] for one in best),
            plan=plan,
            noisy_scores=tuple(last[best].tolist()),
            sums=tuple(sums),
        )
