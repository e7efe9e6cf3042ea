"""Plans and releases of the most common keys, of a public set or of whatever there are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpselect import _validate
from dpselect.categories.asked import Missing, asked_question, changed_keys, checked_delta
from dpselect.categories.columns import checked_names
from dpselect.categories.counts import PeoplePerKey, people_in
from dpselect.categories.objectives import STOP, by_count, of_most_common, offset_of_stop
from dpselect.categories.release import KeyRelease
from dpselect.errors import ParameterError
from dpselect.mechanisms import ExponentialMechanism, Mechanism, MechanismFactory, by_name
from dpselect.neighbours import NeighboursLike
from dpselect.objective import Objective
from dpselect.plan import Plan, Spend, SupportsSpend

LEAST_LIMIT = 1000
"""Candidates of an unknown domain, if not given: the more, the lower the stop."""


@dataclass(frozen=True, slots=True)
class _Design:
    """All that is decided before the data are read."""

    plan: Plan
    k: int
    candidates: tuple[Hashable, ...] | None
    limit: int
    groups: tuple[Hashable, ...]
    draw: Mechanism
    offset: float
    count_scale: float | None

    def objectives(self, people: PeoplePerKey) -> list[Objective]:
        """Return one objective for each group, or one."""
        relation = self.plan.neighbours
        if self.candidates is not None:
            return [
                by_count(counts, self.candidates, relation)
                for counts in people.of(self.candidates, self.groups)
            ]
        return [
            of_most_common(counted, limit=self.limit, offset=self.offset, neighbours=relation)
            for counted in people.largest(self.limit + 1, self.groups)
        ]


def plan_top(  # noqa: PLR0913 -- keyword-only, each one a public claim
    *,
    column: str | Sequence[str] | None = None,
    k: int,
    candidates: Iterable[Hashable] | None = None,
    limit: int | None = None,
    group: str | None = None,
    groups: Iterable[Hashable] | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    counts_share: float = 0.0,
    missing: Missing = "drop",
    epsilon: float,
    delta: float = 0.0,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
) -> Plan:
    """Return what :func:`release_top` will spend; needs no data.

    Args:
        column: As for the release, and so are the others.
        k: How many keys, of each group.
        candidates: The public keys.
        limit: Without candidates: how many of the most common keys are candidates.
        group: The column of groups.
        groups: The public groups.
        user: The column of the person that a row belongs to.
        max_per_user: How many different keys of a person are counted.
        counts_share: Share of epsilon for noisy counts of the chosen keys.
        missing: Whether missing values are dropped or a key.
        epsilon: What the whole release costs, in nats.
        delta: What it costs besides, where the candidates are not public.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: Draws among public candidates.

    Raises:
        ParameterError: An argument is out of range, or does not go with another.
        NeighboursError: Another relation.
    """
    return _design(
        column=column,
        k=k,
        candidates=candidates,
        limit=limit,
        group=group,
        groups=groups,
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
    k: int,
    candidates: Iterable[Hashable] | None = None,
    limit: int | None = None,
    group: str | None = None,
    groups: Iterable[Hashable] | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    counts_share: float = 0.0,
    missing: Missing = "drop",
    epsilon: float,
    delta: float = 0.0,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
    budget: SupportsSpend | None = None,
) -> KeyRelease:
    r"""Release the keys that most people have.

    With ``candidates`` the keys are drawn from these. Without, they are drawn from the
    ``limit`` keys that most people have, until one draw falls on the stop, so fewer than
    ``k`` may be released; this needs ``delta``.

    Guarantee:
        ``epsilon``-DP with candidates, else ``(epsilon, delta)``-DP, under ``neighbours``: one
        row, or with ``user`` all rows of one person. All arguments but ``data`` are public.
        Which ``max_per_user`` keys of a person are counted hangs on that person's rows alone
        (:mod:`~dpselect.categories.reading`).

    Args:
        data: A frame, the path of a Parquet or CSV file, or an array, list or Series. Of a
            lazy frame (polars, DuckDB, PySpark) only the counts of the candidates leave the
            engine, or the ``limit + 1`` largest counts with their keys.
        column: The column of the key; or several, for keys that are tuples.
        k: How many keys, of each group; at most the number of candidates or ``limit``.
        candidates: The keys that may be released. Other values are dropped before a person's
            keys are limited. Not to be read off the data.
        limit: Without candidates: how many of the most common keys may be released; by
            default ``10 k`` and at least 1000.
        group: A column by which the most common keys are released for each of ``groups``.
        groups: The public groups; other rows are dropped.
        user: The column of the person that a row belongs to: text, integers or dates. Rows
            without a person are dropped.
        max_per_user: How many different keys of a person are counted, over all groups.
        counts_share: Share of epsilon for noisy counts of the chosen keys, in [0, 1).
        missing: ``"drop"`` rows without a key, or make a missing value a ``"key"``, None.
        epsilon: What the whole release costs, in nats; finite, > 0.
        delta: What it costs besides; in (0, 1), far below one over the number of people.
            Only without candidates.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name (:data:`dpselect.mechanisms.MECHANISMS`), or a function of
            ``epsilon=``; permute-and-flip by default, which is never worse than the
            exponential mechanism. Without candidates it is the exponential mechanism.
        budget: Where to record the spend, once, before anything is drawn.

    Returns:
        The keys in the order drawn; with groups, pairs of a group and a key.

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
    listed = None if candidates is None else tuple(candidates)
    named = None if groups is None else tuple(groups)
    design = _design(
        column=column,
        k=k,
        candidates=listed,
        limit=limit,
        group=group,
        groups=named,
        user=user,
        max_per_user=max_per_user,
        counts_share=counts_share,
        missing=missing,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        mechanism=mechanism,
    )
    question = asked_question(
        column=column,
        user=user,
        max_per_user=max_per_user,
        missing=missing,
        candidates=listed,
        group=group,
        groups=named,
    )
    objectives = design.objectives(people_in(data, question))
    receipt = design.plan.charge(budget)
    return _drawn(objectives, design).recorded(receipt)


def _drawn(objectives: list[Objective], design: _Design) -> KeyRelease:
    """Draw everything; the plan has been charged."""
    answer: list[Hashable] = []
    people: list[int] = []
    for place, objective in enumerate(objectives):
        for position in design.draw.choose(objective, design.k):
            key = objective.candidates[position]
            if key is STOP:
                break
            answer.append((design.groups[place], key) if design.groups else key)
            people.append(int(objective.scores[position]))
    counts = None
    if design.count_scale is not None:
        from dpselect.draws.opendp import discrete_laplace

        exact = np.array(people, dtype=np.int64)
        counts = tuple(discrete_laplace(exact, design.count_scale).tolist())
    return KeyRelease(
        answer=tuple(answer),
        plan=design.plan,
        exact=True,
        counts=counts,
        scale=design.count_scale,
    )


def _design(  # noqa: PLR0913 -- the public arguments
    *,
    column: str | Sequence[str] | None,
    k: int,
    candidates: Iterable[Hashable] | None,
    limit: int | None,
    group: str | None,
    groups: Iterable[Hashable] | None,
    user: str | None,
    max_per_user: int | None,
    counts_share: float,
    missing: Missing,
    epsilon: float,
    delta: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None,
) -> _Design:
    listed = None if candidates is None else tuple(candidates)
    named = None if groups is None else tuple(groups)
    question = asked_question(
        column=column,
        user=user,
        max_per_user=max_per_user,
        missing=missing,
        candidates=listed,
        group=group,
        groups=named,
    )
    relation = _validate.table_neighbours(neighbours)
    epsilon = _validate.positive("epsilon", epsilon)
    k, width = _sizes(k, listed, limit)
    if not 0 <= _validate.finite("counts_share", counts_share) < 1:
        raise ParameterError("counts_share must be at least 0 and below 1")
    changed = changed_keys(question.max_per_user, relation)
    of_groups = max(1, len(question.groups))
    # A person has keys in at most so many groups; on the others' draws she has no influence.
    times = min(changed, of_groups)
    of_choice = epsilon * (1 - counts_share)
    each, offset = of_choice / times, 0.0
    if listed is None:
        share = checked_delta(delta) / times
        if mechanism not in {None, ExponentialMechanism.name}:
            raise ParameterError("without candidates the mechanism is 'exponential'")
        draw: Mechanism = ExponentialMechanism(epsilon=each)
        offset = offset_of_stop(
            k=k,
            limit=width,
            per_user=question.max_per_user,
            epsilon=each,
            delta=share,
            neighbours=relation,
        )
        spends = [Spend(f"up to {k} keys, or the stop", each, times=times, delta=share)]
    else:
        if delta != 0:
            raise ParameterError("with candidates the release is epsilon-DP: leave out delta")
        example = by_count(np.zeros(width, dtype=np.int64), listed, relation)
        draw = by_name(mechanism or "permute-and-flip", each).for_objective(example)
        spend = draw.spend("one key, without replacement", k)
        spends = [replace(spend, times=times * k)]
    count_scale = None
    if counts_share > 0:
        from dpselect.draws.opendp import scale_for

        of_counts = epsilon - of_choice
        count_scale = scale_for(of_counts, min(changed, k * of_groups))
        spends.append(Spend("noise on the counts of the chosen keys", of_counts))
    plan = Plan(
        function="release_top",
        arguments={
            "column": list(checked_names(column)) or None,
            "k": k,
            "candidates": None if listed is None else list(listed),
            "limit": width if listed is None else None,
            "group": group,
            "groups": None if named is None else list(named),
            "user": user,
            "max_per_user": max_per_user,
            "counts_share": counts_share,
            "missing": missing,
        },
        mechanism=_label(draw, offset, listed is None),
        spends=tuple(spends),
        epsilon=epsilon,
        delta=float(delta),
        neighbours=relation,
        public=_public(listed is not None, bool(named)),
    )
    return _Design(plan, k, listed, width, question.groups, draw, offset, count_scale)


def _label(draw: Mechanism, offset: float, unknown: bool) -> str:  # noqa: FBT001 -- private
    if not unknown:
        return repr(draw)
    return f"LimitedDomain(epsilon={draw.epsilon:g}, stop={offset:.6g} above)"


def _public(known: bool, grouped: bool) -> tuple[str, ...]:  # noqa: FBT001 -- private
    listed = ["the candidates"] if known else []
    listed += ["the groups"] if grouped else []
    return (*listed, "k")


def _sizes(k: int, listed: tuple[Hashable, ...] | None, limit: int | None) -> tuple[int, int]:
    """Return ``k`` and the number of candidates besides the stop."""
    k = _validate.at_least("k", k, 1)
    if listed is None:
        width = max(10 * k, LEAST_LIMIT) if limit is None else limit
        width = _validate.at_least("limit", width, 1)
    elif limit is not None:
        raise ParameterError("limit is for a release without candidates: leave it out")
    else:
        width = len(listed)
    if k > width:
        what = "limit" if listed is None else "the number of candidates"
        raise ParameterError(f"k must be at most {what}, {width}, not {k}")
    return k, width
