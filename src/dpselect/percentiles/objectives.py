r"""Objectives of a percentile: the records by their values, public values by their ranks.

Private values that do not fit their public range are repaired record by record. An exception
instead would be an output that depends on one record, outside the guarantee. A repair of each
record by itself maps neighbours to neighbours, so the guarantee holds for the data as given.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import ceil, isfinite
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import tables, validation
from dpselect.errors import ParameterError, PublicClaimError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.percentiles.candidates import exact_decimal
from dpselect.percentiles.reading import Ranks, Records, no_records, rank_bound
from dpselect.percentiles.sensitivity import PercentileSensitivity
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Indices, OnInvalid, Values

RankForm: TypeAlias = Literal["signed", "interpolated"]
"""Whether a candidate that holds the wanted rank scores how far inside of its ranks that is."""


FIRST = Fraction(1, 2)
"""The middle of the ranks that the first of ``n`` records holds: record ``k`` holds those from
``k - 1`` to ``k``. The percentile is at ``FIRST + a(n - 1)``, as for ``numpy.quantile``."""


AROUND = 1 / 64
"""Ranks around those of its records that a candidate holds. So the record at a percentile is
ahead of all that is between records by twice as much, however far away the next one is."""


def percentile(
    values: ArrayLike,
    *,
    p: float,
    upper: float,
    labels: Sequence[Hashable] | None = None,
    horizon: int = 1,
    missing_as: float = 0.0,
    on_invalid: OnInvalid = "repair",
) -> Objective:
    """Return the objective whose best candidates are the records at the percentile.

    The candidates are the records' labels, ``u_r = -|x_(k) - x_r|`` with ``k = ⌈p(n+1)/100⌉``,
    at most ``n``.

    Guarantee:
        For substitution: one record's value is replaced. The number of records, their
        labels, ``p``, ``upper`` and ``horizon`` are public.

    Args:
        values: One number per record, shape ``(n,)``, ``n >= 1``: an array, a list or a
            Series. Private. Repaired record by record: below 0 to 0, above ``upper`` to
            ``upper``, missing to ``missing_as``.
        p: The percentile, in [1, 100].
        upper: The largest value that can occur, Λ; finite, > 0. Not derived from the data.
        labels: Label to release for each record; by default row numbers from 0.
        horizon: From this distance on the sensitivity is taken to be ``upper``. Plain
            dampening looks only at distance 0, and the shifted mechanism is best near 1
            on the histograms of ``docs/report/measurements.md`` and up to twice worse without.
        missing_as: Value that replaces a missing one, in ``[0, upper]``. Public.
        on_invalid: ``"raise"`` instead of repairing, if it is public that nothing needs it.

    Returns:
        Scores in the units of the values; never above 0, which is stated as ``highest``.

    Raises:
        ParameterError: ``p``, ``upper``, ``horizon``, ``missing_as`` or ``labels`` is out of
            range.
        DataError: ``values`` is empty or not numeric.
        PublicClaimError: A value is missing or out of range and ``on_invalid="raise"``.

    Source: Farias et al., VLDB J. 2023, section 5 (there ``k`` can be ``n + 1``).

    Examples:
        >>> from dpselect.percentiles import percentile
        >>> objective = percentile([1, 5, 2], p=50, upper=10, labels=["a", "b", "c"])
        >>> [float(score) for score in objective.scores]
        [-1.0, -3.0, 0.0]
    """
    upper = validation.positive("upper", upper)
    missing_as = validation.within("missing_as", missing_as, 0, upper)
    on_invalid = validation.on_invalid(on_invalid)
    numbers = _clamped(tables.numeric_column(values), upper, missing_as, on_invalid)
    k = rank_of(p, numbers.size)
    if labels is not None and len(labels) != numbers.size:
        raise ParameterError(
            f"`labels` must be {numbers.size}, one a record, not {len(labels)}"
        )
    chosen = np.partition(numbers, k - 1)[k - 1]
    return Objective(
        0.0 - np.abs(chosen - numbers),
        PercentileSensitivity(numbers, k, upper, validation.at_least("horizon", horizon, 0)),
        candidates=labels,
        highest=0.0,
        # On the histograms of docs/report/measurements.md; any direction is admissible.
        direction="non-decreasing",
    )


def percentile_rank(
    data: object,
    *,
    column: str | None = None,
    p: float,
    candidates: ArrayLike,
    form: RankForm = "interpolated",
    neighbours: NeighboursLike,
    on_invalid: OnInvalid = "repair",
) -> Objective:
    """Return the objective whose best candidates have the percentile's rank.

    Every record counts at the candidate that is nearest to it, halfway at the larger one. With
    ``a = p/100``, ``L`` records at candidates below ``c``, ``E`` at it and ``n`` in all, a
    candidate that holds records has their ranks and ``e = 1/64`` around them,
    ``l = L + 1 - e`` to ``h = L + E + e``, and one between two that do, ``x`` and ``y``, has
    ``l = h = L + (c - x)/(y - x)``, from ``L + e`` to ``L + 1 - e``, where the smallest and the
    largest candidate stand in for those that are missing. The wanted rank is that of
    ``numpy.quantile``, ``w = 1 + a(n - 1)``, and

        u(c) = min{h - w, w - l}:

    below 0 the distance of the wanted rank from those of the candidate, above 0 how far inside
    of them it is. ``"interpolated"`` cuts the score at 0.

    Guarantee:
        Add/remove: ``Δ = max(a, 1 - a)``, and the number of records is private. Substitution:
        ``Δ = 1``. Not monotone under either. ``candidates`` and ``p`` are public. Both forms:
        one more record moves ``l`` and ``h`` up by 0 to 1 each and ``w`` by ``a``
        (``docs/report`` has the proof).

    Args:
        data: One number per record: an array, a list or a Series; or a frame, or the path
            of a Parquet or CSV file. Private. A number beyond the candidates counts at their
            end, and a missing one is dropped. Of a lazy frame only ranks leave the engine; the
            objective is the same to the last bit.
        column: The numeric column, if ``data`` is a table.
        p: The percentile, in [1, 100].
        candidates: The values that may be released, finite, at least one. Public: not derived
            from the data.
        form: ``"signed"`` or ``"interpolated"``. Releases by the exponential
            mechanism, permute-and-flip and report noisy max use the signed form, which is never
            less accurate with them; other mechanisms need the highest score.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        on_invalid: ``"raise"`` if it is public that no value is missing.

    Returns:
        Scores in ranks. Unless signed they are never above 0, which is stated as ``highest``.

    Raises:
        ParameterError: ``p``, ``candidates`` or ``form`` is out of range.
        NeighboursError: Another relation.
        ColumnError: The column is missing or not numeric.
        DataError: The data cannot be read or are not numeric; under substitution also if
            there is no record.
        PublicClaimError: A value is missing and ``on_invalid="raise"``.

    Source: Smith, STOC 2011, with ties counted; interpolated as in the piecewise Laplace
        mechanism (Durfee 2025); signed is ours. Compared with each other and with
        ``|(1-a)L - aG|``, which prefers a wrong value where many records share the right one,
        in ``docs/report/measurements.md``.
    """
    p = percent(p)
    relation = validation.table_neighbours(neighbours)
    points = checked_candidates(candidates)
    form = validation.one_of("form", form, get_args(RankForm))
    records = Records(relation, column, on_invalid=on_invalid)
    counts = records.counted(data, np.unique(points))
    return by_rank(counts.ranks(), p=p, points=points, form=form, neighbours=relation)


def by_rank(
    ranks: Ranks,
    *,
    p: float,
    points: Values,
    form: RankForm = "signed",
    neighbours: Neighbours,
    per_user: int = 1,
) -> Objective:
    """Return the objective of ``percentile_rank`` from the ranks of its candidates.

    Args:
        ranks: Ranks of the different candidates, ascending, of one group; missing numbers are
            left out. Private.
        p: The percentile.
        points: The candidates.
        form: The form of the ranks.
        neighbours: Add/remove or substitution of a person.
        per_user: How many records a person has at most.
    """
    ascending, at = np.unique(points, return_inverse=True)
    scores = rank_scores(ranks, p=p, points=ascending)[0, at]
    return Objective(
        scores if form == "signed" else np.minimum(scores, 0.0),
        GlobalSensitivity(per_user * rank_bound(p / 100, neighbours), neighbours),
        candidates=points.tolist(),
        highest=None if form == "signed" else 0.0,
        # One sensitivity for all candidates: both directions hold.
        direction="non-decreasing",
    )


def rank_scores(ranks: Ranks, *, p: float | Values, points: Values) -> Values:
    """Return the signed scores of each group, in the shape of the ranks; private.

    Args:
        ranks: Ranks of the candidates.
        p: The percentile, or that of each group.
        points: The candidates, increasing.
    """
    holds = ranks.upto > ranks.below
    between = share_of_gap(holds, points).clip(AROUND, 1 - AROUND)
    # The integers of both ranks are subtracted first: next to the wanted one no digit is lost,
    # however many records there are.
    whole, part = _wanted(np.asarray(p) / 100, ranks.numbers)
    beyond = (ranks.upto - whole) + (np.where(holds, AROUND, between) - part)
    before = (whole - ranks.below) + (part - np.where(holds, 1 - AROUND, between))
    return np.minimum(beyond, before)


def _wanted(fractions: Values, numbers: Indices) -> tuple[Indices, Values]:
    """Return the wanted rank of so many numbers: integers, and what is left of them."""
    whole, part = [], []
    each = np.broadcast_to(fractions, numbers.shape).tolist()
    for fraction, number in zip(each, numbers.tolist(), strict=True):
        share, of = fraction.as_integer_ratio()
        quotient, rest = divmod(share * (number - 1), of)
        whole.append(1 + quotient)
        part.append(rest / of)
    return np.array(whole)[:, None], np.array(part)[:, None]


def share_of_gap(holds: NDArray[np.bool_], points: Values) -> Values:
    """Return where each empty candidate lies between those that hold numbers, in [0, 1].

    The ends of the candidates, which increase, stand in for the ones that do not.
    """
    low = np.maximum.accumulate(np.where(holds, points, points[0]), axis=-1)
    high = np.where(holds, points, points[-1])[..., ::-1]
    gap = np.minimum.accumulate(high, axis=-1)[..., ::-1] - low
    return np.divide(points - low, gap, out=np.full(gap.shape, 0.5), where=gap > 0)


def rank_of(p: float, n: int) -> int:
    """Return ``k = ⌈p(n+1)/100⌉``, cut to 1 to ``n``.

    Args:
        p: The percentile, in [1, 100].
        n: The number of records, >= 1.

    Raises:
        ParameterError: ``p`` is out of range.
        DataError: There is no record.
    """
    # In floats 0.07 * 100 is above 7.
    fraction = exact_fraction(percent(p))
    if n == 0:
        raise no_records()
    return min(max(ceil(fraction * (n + 1)), 1), n)


def percent(p: object) -> float:
    """Return ``p`` as a float if it is in [1, 100]."""
    given = validation.within("p", validation.positive("p", p), 0, 100)
    if given < 1:
        raise ParameterError(
            f"`p` {given!r} is a percentile below 1: give {100 * given:.6g} for the share "
            f"{given:.6g} of the records"
        )
    return given


def exact_fraction(p: float) -> Fraction:
    """Return ``p / 100`` through the decimal digits of ``p``."""
    return exact_decimal(p) / 100


def checked_candidates(candidates: ArrayLike) -> Values:
    """Return public values as a float64 vector of at least one, all finite."""
    # Of a range no list of integers is made.
    held = (
        np.arange(candidates.start, candidates.stop, candidates.step)
        if isinstance(candidates, range)
        else candidates
    )
    try:
        points = np.array(held, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("`candidates` must be numbers") from None
    if points.ndim != 1 or points.size == 0 or not np.isfinite(points).all():
        raise ParameterError(
            "`candidates` must be at least one finite number, in one dimension"
        )
    if not isfinite(float(points.max()) - float(points.min())):
        raise ParameterError("`candidates` must span less than the largest float")
    large = np.flatnonzero(np.abs(points) > 2.0**53)
    given = np.asarray(held, dtype=object)[large] if large.size else ()
    if any(
        int(points[at]) != one
        for at, one in zip(large, given, strict=True)
        if validation.is_integer(one)
    ):
        raise ParameterError("`candidates` beyond 2**53 must be numbers that a float holds")
    return points


def _clamped(numbers: Values, upper: float, missing_as: float, on_invalid: OnInvalid) -> Values:
    """Return values in ``[0, upper]``, and a public one in place of each that is missing.

    Dropping a missing one would make the number of records private and leave its label
    without a score; under substitution every record keeps its place.
    """
    if on_invalid == "raise" and not ((numbers >= 0) & (numbers <= upper)).all():
        raise PublicClaimError(
            "a value is missing or outside [0, upper], which `on_invalid`='raise' declares "
            "impossible; `on_invalid`='repair' takes it as the nearest end, a missing one as "
            "`missing_as`"
        )
    return np.clip(np.nan_to_num(numbers, nan=missing_as, posinf=upper, neginf=0.0), 0.0, upper)
