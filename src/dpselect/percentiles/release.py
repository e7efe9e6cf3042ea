"""Plans and releases of percentiles as public values.

Several percentiles are drawn by the recursion of halves, where a record pays once for every
level of a binary tree, or one by one, where it pays once for every percentile.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from dpselect import _validate, tables
from dpselect.mechanisms import MechanismFactory
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.percentiles import methods, ranks
from dpselect.percentiles.choosing import chosen
from dpselect.percentiles.objectives import checked_candidates, no_records
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.reading import Source
from dpselect.percentiles.users import user_cap
from dpselect.plan import Plan, SupportsSpend
from dpselect.release import Release
from dpselect.tables.users import UserCap
from dpselect.typing import OnInvalid


def plan_percentiles(  # noqa: PLR0913 -- keyword-only, each one a public claim
    *,
    column: str | None = None,
    user: str | None = None,
    p: methods.Percents,
    candidates: ArrayLike | Range,
    max_per_user: int | None = None,
    assumed_records: int | None = None,
    method: methods.Method | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
    on_invalid: OnInvalid = "repair",
) -> Plan:
    r"""Return what :func:`release_percentiles` will spend; needs no data.

    Args:
        column: As for the release, and so are the others.
        user: The column of persons.
        p: The percentile, or several.
        candidates: The values that may be released.
        max_per_user: How many records of a person are counted.
        assumed_records: A guess of the number of records.
        method: ``"recursive"``, ``"one-by-one"``, ``"above-threshold"`` or ``"joint"``.
        epsilon: What the whole release costs, in nats.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name, or a function of ``epsilon=``.
        on_invalid: What happens to a record without a value.

    Returns:
        The plan, with one spend per percentile one by one, and one per level of the
        recursion: of the levels on the path with the largest rho, since a record is in one
        half of a level, or in several with weights that sum to 1. One by one it has an error
        bound in ranks, on the distance of a released value's ranks from the percentile's,
        less that of the candidate that is best for it; of several percentiles on the largest
        distance, less the largest of their best candidates. By AboveThreshold the bound is on
        the distance of the percentile's rank from those between the released candidate and
        the one visited before it.

    Raises:
        ParameterError: An argument is out of range, or the mechanism is unknown.
        NeighboursError: Another relation.
    """
    users, relation = user_cap(column, user, max_per_user), _relation(neighbours)
    drawn = _drawn(p, candidates, users, assumed_records, method, epsilon, relation, mechanism)
    public = ["the candidates", "p"]
    if relation is Neighbours.SUBSTITUTE:
        public.append("the number of records" if users is None else "the number of persons")
    points = drawn.points
    return Plan(
        function="release_percentiles",
        arguments={
            "column": column,
            "p": list(drawn.percents) if len(drawn.percents) > 1 else drawn.percents[0],
            "candidates": str(points) if isinstance(points, Range) else points.tolist(),
            "method": drawn.name,
            "on_invalid": _validate.on_invalid(on_invalid),
            **({} if users is None else {"user": user, "max_per_user": users.most}),
            **({} if assumed_records is None else {"assumed_records": assumed_records}),
        },
        mechanism=drawn.mechanism,
        spends=drawn.spends,
        epsilon=float(epsilon),
        neighbours=relation,
        public=tuple(public),
        composition=drawn.composition,
        error=drawn.error,
        passes=ranks.passes(drawn.asked),
    )


def release_percentiles(  # noqa: PLR0913 -- keyword-only, each one a public claim
    data: object,
    *,
    column: str | None = None,
    user: str | None = None,
    p: methods.Percents,
    candidates: ArrayLike | Range,
    max_per_user: int | None = None,
    assumed_records: int | None = None,
    method: methods.Method | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
    budget: SupportsSpend | None = None,
    on_invalid: OnInvalid = "repair",
) -> Release:
    """Release public values whose ranks are near those of one or several percentiles.

    A larger percentile never has a smaller value. One by one, each of ``m`` percentiles is
    drawn with ``epsilon / m``, by :func:`percentile_rank` or by AboveThreshold, and the values
    are sorted. The recursion draws the middle one with an equal part of
    ``ceil(log2(m + 1))``, splits records and candidates at it and goes on in both halves.

    Guarantee:
        ``epsilon``-DP under ``neighbours``; under add/remove the number of records is
        private. All arguments but ``data`` are public. With ``user`` a neighbour has all
        records of one person more, fewer or others. Which of a person's records are counted
        depends on that person's records alone (``dpselect.tables.users``).

    Args:
        data: A frame, the path of a Parquet or CSV file, or an array, list or Series. Of a
            lazy frame (polars, DuckDB, PySpark) only ranks of candidates leave the engine.
        column: The numeric column, if ``data`` is a table.
        user: The column of the person that a record belongs to: text, integers, booleans or
            dates. Each record is a person of its own if not given; a record without a person
            is dropped.
        p: The percentile, in (0, 100]; or several that increase.
        candidates: The values that may be released, finite; not to be read off the data. A
            :class:`Range` may have up to ``2**52``, and its largest one may be left open: its
            column is read into memory, and a piece of candidates between two records is drawn
            and then one of its candidates.
        max_per_user: How many records of a person are counted; goes with ``user``.
        assumed_records: A guess of the number of records, to choose the method by; the
            guarantee does not depend on it. It must not be read off the data.
        method: ``"one-by-one"``, ``"above-threshold"`` (one by one, each by AboveThreshold over
            candidates that grow away from 0), ``"recursive"`` or ``"joint"`` (all in one draw
            from a few hundred candidates that increase). If not given, the recursion
            from 3 percentiles on, where it has fewer steps to pay for, if the candidates and
            the mechanism allow it; else one by one, and where few of the assumed records lie
            beyond a percentile, or the range is open and no number is assumed, by
            AboveThreshold. The recursion needs candidates that increase, and the exponential
            mechanism, permute-and-flip or report noisy max.
        epsilon: What the whole release costs, in nats; finite, > 0.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name (:data:`dpselect.mechanisms.MECHANISMS`), or a function of
            ``epsilon=``. The default is permute-and-flip, which has never a larger expected
            rank error than the exponential mechanism; and the exponential mechanism for a
            range, whose pieces only it can weigh.
        budget: Where to record the spend, once, before anything is drawn.
        on_invalid: ``"raise"`` if it is public that no value is missing; else a missing one
            is dropped under add/remove or with ``user``, and 0 under substitution.

    Returns:
        One value per percentile, ascending.

    Raises:
        ParameterError: An argument is out of range, or the mechanism is unknown.
        NeighboursError: Another relation than the two, or than the budget's.
        ColumnError: A column is missing or not of its type.
        DataError: The data cannot be read; under substitution without ``user`` also if there
            is no record.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Source: Smith, STOC 2011; Kaplan, Schnapp and Stemmer, ICML 2022; Durfee, NeurIPS 2023.

    Examples:
        >>> from dpselect.percentiles import release_percentiles
        >>> release = release_percentiles(
        ...     range(1000), p=[25, 75], candidates=[0, 250, 500, 750], epsilon=20.0,
        ...     neighbours="add-remove",
        ... )
        >>> release.answer
        (250.0, 750.0)
    """
    users, relation = user_cap(column, user, max_per_user), _relation(neighbours)
    drawn = _drawn(p, candidates, users, assumed_records, method, epsilon, relation, mechanism)
    plan = plan_percentiles(
        column=column,
        user=user,
        p=p,
        candidates=candidates,
        max_per_user=max_per_user,
        assumed_records=assumed_records,
        method=method,
        epsilon=epsilon,
        neighbours=relation,
        mechanism=mechanism,
        on_invalid=on_invalid,
    )
    plan.check(budget)
    draw = drawn.prepared(Source(data, column, users, relation, on_invalid))
    receipt = plan.charge(budget)
    return Release(answer=draw(), plan=plan, exact=drawn.exact).recorded(receipt)


def check_table(
    data: object, column: str, neighbours: NeighboursLike, users: UserCap | None = None
) -> None:
    """Make the checks of :func:`release_percentiles` on a table that read no private value.

    Raises:
        NeighboursError, ColumnError, DataError: As for the release.
    """
    tables.check_columns(data, numeric=[column])
    if users is not None:
        users.check(data)
        return
    substitute = _relation(neighbours) is Neighbours.SUBSTITUTE
    if substitute and tables.count_records(data, numeric=[column]) == 0:
        raise no_records()


def _relation(neighbours: NeighboursLike) -> Neighbours:
    return _validate.table_neighbours(neighbours)


def _drawn(
    p: methods.Percents,
    candidates: ArrayLike | Range,
    users: UserCap | None,
    assumed_records: int | None,
    method: methods.Method | None,
    epsilon: float,
    neighbours: Neighbours,
    mechanism: str | MechanismFactory | None,
) -> methods.Percentiles:
    return chosen(
        percents=methods.checked_percents(p),
        points=candidates if isinstance(candidates, Range) else checked_candidates(candidates),
        method=method,
        per_user=1 if users is None else users.most,
        assumed_records=assumed_records,
        epsilon=epsilon,
        neighbours=neighbours,
        mechanism=mechanism,
    )
