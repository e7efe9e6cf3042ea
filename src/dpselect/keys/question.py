"""What is read of the rows of a release of keys, from its public arguments."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias, get_args

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.tables.groups import changed_rows, listed_groups
from dpselect.tables.key_columns import check_parts, checked_names
from dpselect.tables.kinds import is_missing
from dpselect.tables.people import PeopleCap, people_cap

Missing: TypeAlias = Literal["drop", "key"]
"""Whether a row without a key is dropped, or a missing value is a key of its own."""

LEAST_DELTA = 1e-290
"""Parts of it can still be told from 0."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is read of the rows; public.

    Attributes:
        columns: The columns of the key; empty where the data are the values themselves.
        cap: The column of the person that a row belongs to, and how many different keys of a
            person are counted; each row is a person of its own if not given.
        by: The columns of groups, if there are any; a person's keys are then pairs of a group
            and a key.
        groups: The public groups; empty where they are to be released.
        candidates: The public keys; any if not given.
        missing: Whether a missing value is a key, a part of one or a group of its own.
        in_turn: Whether groups are numbered in the order of ``groups``, and a person's key
            counts in the first of them alone; of too many keys those of the first groups count.
    """

    columns: tuple[str, ...]
    cap: PeopleCap | None = None
    by: tuple[str, ...] = ()
    groups: tuple[Hashable, ...] = ()
    candidates: tuple[Hashable, ...] | None = None
    missing: bool = False
    in_turn: bool = False

    @property
    def max_per_user(self) -> int:
        """How many keys of a person are counted at most."""
        return 1 if self.cap is None else self.cap.most

    @property
    def hides_groups(self) -> bool:
        """Whether there are groups that are not public."""
        return bool(self.by) and not self.groups

    def moved(self, neighbours: Neighbours) -> int:
        """Return by how much one neighbour step moves the counts of all pairs together."""
        changed = changed_rows(self.max_per_user, neighbours)
        if self.candidates is None:
            return changed
        return min(changed, len(self.candidates) * max(1, len(self.groups)))


def question_of(
    *,
    column: str | Sequence[str] | None,
    user: str | None,
    max_per_user: int | None,
    missing: Missing,
    candidates: tuple[Hashable, ...] | None = None,
    by: str | Sequence[str] | None = None,
    groups: object = None,
) -> Question:
    """Return what is read, from public arguments.

    Raises:
        ParameterError: An argument is out of range, or does not go with another.
    """
    columns = checked_names(column)
    missing = validation.one_of("missing_keys", missing, get_args(Missing))
    cap = people_cap(user, max_per_user)
    of_groups = checked_names(by, "by")
    listed = listed_groups(of_groups, groups)
    if not columns and (user is not None or of_groups):
        raise validation.needs("by" if user is None else "user", "column", of="keys")
    _check_columns((*columns, *of_groups), user)
    _check_columns(columns, *of_groups)
    _check_listed(missing, candidates=candidates, groups=listed)
    check_parts("candidates", candidates or (), columns)
    return Question(
        columns=columns,
        cap=cap,
        by=of_groups,
        groups=listed or (),
        candidates=candidates,
        missing=missing == "key",
    )


def question_for(asked: Any) -> Question:  # noqa: ANN401 -- a query
    """Return what is read for ``Keys`` or ``TopKeys``, from its fields."""
    return question_of(
        column=asked.column,
        user=asked.user,
        max_per_user=asked.max_per_user,
        missing=asked.missing_keys,
        candidates=validation.listed("candidates", getattr(asked, "candidates", None)),
        by=asked.by,
        groups=asked.groups,
    )


def _check_columns(key: tuple[str, ...], *others: str | None) -> None:
    for name in others:
        if name is not None and validation.instance("user or by", name, str) in key:
            raise ParameterError(f"column {name!r} cannot be a part of the key as well")


def _check_listed(missing: Missing, **values: tuple[Hashable, ...] | None) -> None:
    for name, listed in values.items():
        if listed is None:
            continue
        validation.different(name, listed)
        parts = chain.from_iterable(one if isinstance(one, tuple) else (one,) for one in listed)
        if missing == "drop" and any(map(is_missing, parts)):
            raise ParameterError(
                f"`{name}` has a missing value: give `missing_keys`='key' as well"
            )


def check_people(delta: float, assumed_people: int | None) -> None:
    """Refuse a delta that releases all rows of some person among so many.

    Raises:
        ParameterError: It is at least one over their number.
    """
    if assumed_people is None:
        return
    most = 1 / validation.at_least("assumed_people", assumed_people, 1)
    if validation.finite("delta", delta) >= most:
        raise ParameterError(
            f"`delta` must be below one over the assumed people, {most:g}: a "
            "larger one would allow publishing everything about one person"
        )


def checked_delta(delta: float) -> float:
    """Return a delta that a release of keys which are not public can have.

    Raises:
        ParameterError: It is not above 0 and below 1, or too small for any key.
    """
    if validation.finite("delta", delta) <= 0 or not validation.positive("delta", delta) < 1:
        raise ParameterError(
            "values that are not listed as public, by `candidates` or `groups`, need a `delta` "
            "above 0 and below 1, far below one over the number of people"
        )
    if delta < LEAST_DELTA:
        raise ParameterError(
            f"`delta` is too small: nothing would be released; give one from {LEAST_DELTA:g} on"
        )
    return float(delta)
