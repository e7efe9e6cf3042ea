"""Plans and releases of the set of keys that there are."""

from __future__ import annotations

from collections.abc import Sequence

from dpselect import _validate
from dpselect.categories.asked import (
    MOST_PER_USER,
    Missing,
    changed_keys,
    check_people,
    checked_delta,
)
from dpselect.categories.counts import people_in
from dpselect.categories.keys_design import MOST_PEOPLE, above_least, design_keys
from dpselect.categories.laws import KeyMethod, law_of
from dpselect.categories.release import KeyRelease
from dpselect.neighbours import NeighboursLike
from dpselect.plan import Plan, SupportsSpend
from dpselect.typing import Indices, Probabilities


def key_probabilities(
    people: Indices,
    *,
    max_per_user: int = 1,
    method: KeyMethod | None = None,
    min_people: int = 1,
    epsilon: float,
    delta: float,
    neighbours: NeighboursLike,
) -> Probabilities:
    """Return the exact probability that :func:`release_keys` releases a key.

    It depends on the number of people who have the key alone, and keys are drawn
    independently: this is the whole law of the release. For ``"weighted"`` and ``"rounds"`` it
    is the least probability, that of people with ``max_per_user`` keys each.

    Args:
        people: Numbers of people, any shape; >= 0.
        max_per_user: As for the release, and so are the others.
        method: The method.
        min_people: The least number of people.
        epsilon: What the release costs, in nats.
        delta: What it costs besides.
        neighbours: ``"add-remove"`` or ``"substitute"``.

    Examples:
        >>> import numpy as np
        >>> from dpselect.categories import key_probabilities
        >>> key_probabilities(
        ...     np.array([1, 85, 86]), epsilon=0.1, delta=1e-5, neighbours="add-remove"
        ... ).round(3)
        array([0.   , 0.467, 0.516])
    """
    relation = _validate.table_neighbours(neighbours)
    per_user = _validate.at_least("max_per_user", max_per_user, 1, MOST_PER_USER)
    changed = changed_keys(per_user, relation)
    law = law_of(
        method,
        _validate.positive("epsilon", epsilon),
        checked_delta(delta),
        changed,
        persons=changed // per_user,
    )
    return law.probabilities(
        above_least(people, _validate.at_least("min_people", min_people, 1, MOST_PEOPLE))
    )


def plan_keys(  # noqa: PLR0913 -- keyword-only, each one a public claim
    *,
    column: str | Sequence[str] | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    method: KeyMethod | None = None,
    min_people: int = 1,
    missing: Missing = "drop",
    assumed_people: int | None = None,
    epsilon: float,
    delta: float,
    neighbours: NeighboursLike,
) -> Plan:
    """Return what :func:`release_keys` will spend; needs no data.

    Args:
        column: As for the release, and so are the others.
        user: The column of the person that a row belongs to.
        max_per_user: How many different keys of a person are counted.
        method: The method.
        min_people: The least number of people of a key that may be released.
        missing: Whether missing values are dropped or a key.
        assumed_people: How many people there are, about.
        epsilon: What the release costs, in nats.
        delta: What it costs besides.
        neighbours: ``"add-remove"`` or ``"substitute"``.

    Raises:
        ParameterError: An argument is out of range, or does not go with another.
        NeighboursError: Another relation.
    """
    check_people(delta, assumed_people)
    return design_keys(
        column=column,
        user=user,
        max_per_user=max_per_user,
        method=method,
        min_people=min_people,
        missing=missing,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
    ).plan


def release_keys(  # noqa: PLR0913 -- keyword-only, each one a public claim
    data: object,
    *,
    column: str | Sequence[str] | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    method: KeyMethod | None = None,
    min_people: int = 1,
    missing: Missing = "drop",
    assumed_people: int | None = None,
    epsilon: float,
    delta: float,
    neighbours: NeighboursLike,
    budget: SupportsSpend | None = None,
) -> KeyRelease:
    """Release which keys there are: as many as can be, each with enough people.

    Guarantee:
        ``(epsilon, delta)``-DP under ``neighbours``: one row, or with ``user`` all rows of one
        person. All arguments but ``data`` are public. Which ``max_per_user`` keys of a person
        are counted hangs on that person's rows alone (:mod:`~dpselect.categories.reading`).

    Args:
        data: A frame, the path of a Parquet or CSV file, or an array, list or Series. Of a
            lazy frame (polars, DuckDB, PySpark) only keys of at least ``min_people`` leave
            the engine, with their counts.
        column: The column of the key; or several, for keys that are tuples.
        user: The column of the person that a row belongs to: text, integers or dates. Rows
            without a person are dropped.
        max_per_user: How many different keys of a person are counted.
        method: ``"optimal"`` releases every key with the largest probability that its part of
            epsilon and delta allows. ``"laplace"`` and ``"gaussian"`` release keys whose noisy
            count passes a threshold, and these counts with them. ``"weighted"`` gives the
            keys of a person with few more weight, and ``"rounds"`` does it twice, the second
            time without the keys that are released: for persons of whom some have many keys
            (:mod:`dpselect.categories.weighted`). By default one of the first three, which
            releases a key of the fewest people with probability 1/2: ``"optimal"`` for up to
            a few keys a person, ``"gaussian"`` for many.
        min_people: A key of fewer people is never released, whatever is drawn.
        missing: ``"drop"`` rows without a key, or make a missing value a ``"key"``, None.
        assumed_people: How many people there are, about; a ``delta`` of one over it or more
            is refused. Not to be read off the data.
        epsilon: What the release costs, in nats; finite, > 0.
        delta: What it costs besides; in (0, 1), far below one over the number of people.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        budget: Where to record the spend, once, before anything is drawn.

    Returns:
        The keys in the order of their text, and noisy counts with the thresholds.

    Raises:
        ParameterError: An argument is out of range, or does not go with another.
        NeighboursError: Another relation than the two, or than the budget's.
        ColumnError: A column is missing, or of a type that keys cannot have.
        DataError: The data cannot be read.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Source: Desfontaines, Voss, Gipson and Mandayam 2022, arXiv:2006.03684; for weights Gopi,
        Gulhane, Kulkarni, Shen, Shokouhi and Yekhanin 2020, arXiv:2002.09745.

    Examples:
        >>> from dpselect.categories import release_keys
        >>> pages = ["home"] * 500 + ["help"] * 300 + ["secret"]
        >>> release_keys(pages, epsilon=1.0, delta=1e-9, neighbours="add-remove").answer
        ('help', 'home')
    """
    check_people(delta, assumed_people)
    design = design_keys(
        column=column,
        user=user,
        max_per_user=max_per_user,
        method=method,
        min_people=min_people,
        missing=missing,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
    )
    design.plan.check(budget)
    draw = design.drawing(people_in(data, design.question))
    receipt = design.plan.charge(budget)
    return draw().recorded(receipt)
