"""Plans and releases of the most common keys, of a public set or of whatever there are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from dpselect.categories.asked import Missing, check_people
from dpselect.categories.counts import people_in
from dpselect.categories.grouped_design import design_release
from dpselect.categories.release import KeyRelease
from dpselect.mechanisms import MechanismFactory
from dpselect.neighbours import NeighboursLike
from dpselect.plan import Plan, SupportsSpend


def plan_top(  # noqa: PLR0913 -- keyword-only, each one a public claim
    *,
    column: str | Sequence[str] | None = None,
    k: int | None = None,
    above: float | None = None,
    candidates: Iterable[Hashable] | None = None,
    limit: int | None = None,
    group: str | None = None,
    groups: Iterable[Hashable] | None = None,
    groups_share: float | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    counts_share: float = 0.0,
    missing: Missing = "drop",
    assumed_people: int | None = None,
    epsilon: float,
    delta: float = 0.0,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
) -> Plan:
    """Return what :func:`release_top` will spend; needs no data.

    Args:
        column: As for the release, and so are the others.
        k: How many keys, of each group.
        above: Or: all keys of so many noisy people.
        candidates: The public keys.
        limit: Without candidates: how many of the most common keys are candidates.
        group: The column of groups.
        groups: The public groups; released first if not given.
        groups_share: Share of epsilon for the release of groups.
        user: The column of the person that a row belongs to.
        max_per_user: How many different keys of a person are counted.
        counts_share: Share of epsilon for noisy counts of the chosen keys.
        missing: Whether missing values are dropped or a key.
        assumed_people: How many people there are, about.
        epsilon: What the whole release costs, in nats.
        delta: What it costs besides, where the candidates are not public.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: Draws among public candidates.

    Raises:
        ParameterError: An argument is out of range, or does not go with another.
        NeighboursError: Another relation.
    """
    check_people(delta, assumed_people)
    return design_release(
        column=column,
        k=k,
        above=above,
        candidates=candidates,
        limit=limit,
        group=group,
        groups=groups,
        groups_share=groups_share,
        user=user,
        max_per_user=max_per_user,
        counts_share=counts_share,
        missing=missing,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        mechanism=mechanism,
    ).plan


def release_top(  # noqa: PLR0913 -- keyword-only, each one a public claim
    data: object,
    *,
    column: str | Sequence[str] | None = None,
    k: int | None = None,
    above: float | None = None,
    candidates: Iterable[Hashable] | None = None,
    limit: int | None = None,
    group: str | None = None,
    groups: Iterable[Hashable] | None = None,
    groups_share: float | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    counts_share: float = 0.0,
    missing: Missing = "drop",
    assumed_people: int | None = None,
    epsilon: float,
    delta: float = 0.0,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
    budget: SupportsSpend | None = None,
) -> KeyRelease:
    r"""Release the keys that most people have.

    With ``candidates`` the keys are drawn from these: one by one by permute-and-flip, or read
    off one noisy sequence of all counts (:class:`~dpselect.NoisySequence`), whichever resolves
    more for ``k``, ``max_per_user`` and the number of candidates. The sequence releases the
    noisy counts of its keys at the same price. Without candidates, they are drawn from the
    ``limit`` keys that most people have, until one draw falls on the stop, so fewer than
    ``k`` may be released; this needs ``delta``. Draws that were not made are refunded to the
    budget, that of the stop is paid.

    Guarantee:
        ``epsilon``-DP with candidates and public groups or none, else
        ``(epsilon, delta)``-DP, under ``neighbours``: one row, or with ``user`` all rows of
        one person. All arguments but ``data`` are public.
        Which ``max_per_user`` keys of a person are counted hangs on that person's rows alone
        (:mod:`~dpselect.categories.reading`).

    Args:
        data: A frame, the path of a Parquet or CSV file, or an array, list or Series. Of a
            lazy frame (polars, DuckDB, PySpark) only the counts of the candidates leave the
            engine, or the ``limit + 1`` largest counts with their keys.
        column: The column of the key; or several, for keys that are tuples.
        k: How many keys, of each group; at most the number of candidates or ``limit``.
        above: In place of ``k``, with candidates: all keys whose noisy number of people is at
            least this, the largest first. Not to be read off the data.
        candidates: The keys that may be released. Other values are dropped before a person's
            keys are limited. Not to be read off the data.
        limit: Without candidates: how many of the most common keys may be released; by
            default ``10 k`` and at least 1000.
        group: A column by which the most common keys are released for each of ``groups``.
        groups: The public groups; other rows are dropped. If not given, the groups are
            released first, as by :func:`~dpselect.categories.release_keys`, with a part of
            epsilon and of ``delta``, and rows of all others are dropped then.
        groups_share: Share of epsilon for the release of groups, in (0, 1); by default 0.2.
        user: The column of the person that a row belongs to: text, integers or dates. Rows
            without a person are dropped.
        max_per_user: How many different keys of a person are counted, over all groups; and,
            where groups are released first, how many groups.
        counts_share: Share of epsilon for noisy counts of the chosen keys, in [0, 1). Not
            split off for a noisy sequence, which has them.
        missing: ``"drop"`` rows without a key, or make a missing value a ``"key"``, None.
        assumed_people: How many people there are, about; a ``delta`` of one over it or more
            is refused. Not to be read off the data.
        epsilon: What the whole release costs, in nats; finite, > 0.
        delta: What it costs besides; in (0, 1), far below one over the number of people.
            Without candidates, or where groups are released first.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name (:data:`dpselect.mechanisms.MECHANISMS`), or a function of
            ``epsilon=``; by default permute-and-flip or the noisy sequence, as above. Without
            candidates it is the exponential mechanism.
        budget: Where to record the spend, once, before anything is drawn, and afterwards the
            refund.

    Returns:
        The keys in the order drawn; with groups, pairs of a group and a key. The groups that
        were released are its ``groups``.

    Raises:
        ParameterError: An argument is out of range, or does not go with another.
        NeighboursError: Another relation than the two, or than the budget's.
        ColumnError: A column is missing, or of a type that keys cannot have.
        DataError: The data cannot be read.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Source: McKenna and Sheldon 2020, arXiv:2010.12603; without candidates Durfee and Rogers
        2019, arXiv:1905.04273.

    Examples:
        >>> from dpselect.categories import release_top
        >>> fruit = ["apple"] * 300 + ["pear"] * 200 + ["fig"] * 10
        >>> release_top(
        ...     fruit, k=2, epsilon=2.0, delta=1e-6, neighbours="add-remove"
        ... ).answer
        ('apple', 'pear')
    """
    check_people(delta, assumed_people)
    design = design_release(
        column=column,
        k=k,
        above=above,
        candidates=candidates,
        limit=limit,
        group=group,
        groups=groups,
        groups_share=groups_share,
        user=user,
        max_per_user=max_per_user,
        counts_share=counts_share,
        missing=missing,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        mechanism=mechanism,
    )
    design.plan.check(budget)
    draw = design.drawing(people_in(data, design.question))
    receipt = design.plan.charge(budget)
    release = draw()
    return release.recorded(receipt, refund=release.refunded)
