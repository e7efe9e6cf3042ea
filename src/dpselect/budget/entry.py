"""Entries: the guarantee of a release, and what was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from dpselect import validation
from dpselect.budget import zcdp
from dpselect.budget.amount import exact, floor
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours


class Question(Mapping[str, object]):
    """What an entry says was asked or answered, written down or read when it is needed.

    Args:
        write: Returns it; called at most once.
    """

    def __init__(self, write: Callable[[], Mapping[str, object]]) -> None:
        self._write = write

    @cached_property
    def _written(self) -> Mapping[str, object]:
        return self._write()

    def __getitem__(self, name: str) -> object:
        return self._written[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)

    def __repr__(self) -> str:
        return repr(self._written)

    def __reduce__(self) -> tuple[object, ...]:
        return dict, (dict(self),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One spend: the guarantee of a release, and what was asked; public.

    It is ``(epsilon, delta)``-DP and, if ``delta`` is 0, ``rho``-zCDP. Outside an event of
    probability ``delta`` it is both ``epsilon``-DP and ``rho``-zCDP (``filter``). With an
    epsilon of 0 it does not depend on anybody's record but in that event: delta is all that it
    costs.

    Attributes:
        epsilon: In nats; finite, > 0, or 0 beside a delta > 0.
        delta: In [0, 1).
        rho: Finite, >= 0, and never more than what ``epsilon`` implies; that beside a delta.
        laplace_rounds: The number of adaptive rounds at ``epsilon / laplace_rounds`` each, if
            the Laplace mechanism of that epsilon dominates each of them; else 0.
        steps: How many neighbour steps of the release one of the budget's is: the rows of a
            person, where the release protects a row; all amounts are for so many.
        refunded: What was given back of ``epsilon`` when the outcome was known, in nats.
        sequence: 1 for the first spend of the budget, 2 for the second, ...; 0 of one that is
            not recorded.
        time: When it was recorded: UTC, ISO 8601.
        neighbours: The relation that the guarantee is stated for.
        mechanism: The function and the mechanism, as ``Plan.reserve`` states them.
        note: Free text of the caller.
        version: The version of dpselect that recorded it.
        source: The file or table that was read, as the caller named it.
        source_version: Version of the source, as the caller named it.
        analyst: Name of the analyst, as the caller gave it.
        share: The share of the budget that paid: an analyst's, or empty.
        period: The period of the budget that paid, such as ``"2026-07"``; empty without.
        question: Query, its written form, steps and public claims of the plan; plain values.
        key: SHA-256 of question, source, version and unit, all public; empty if the answer
            cannot be returned again.
        answer: The released answer as plain values; None if the process ended before it was
            recorded, or if only the spend was.
        release: The fields from which the release can be made again; None if it cannot.
        token: Tells it from entries of other budgets with the same number.
    """

    epsilon: float
    delta: float
    rho: float
    neighbours: Neighbours
    laplace_rounds: int = 0
    steps: int = 1
    refunded: float = 0.0
    sequence: int = 0
    time: str = ""
    mechanism: str = ""
    note: str = ""
    version: str = ""
    source: str = ""
    source_version: str = ""
    analyst: str = ""
    share: str = ""
    period: str = ""
    question: Mapping[str, object] = field(default_factory=dict, hash=False)
    key: str = ""
    answer: Mapping[str, object] | None = field(default=None, hash=False)
    release: Mapping[str, object] | None = field(default=None, hash=False)
    token: str = field(default="", compare=False, repr=False)

    def is_record_of(self, entry: Entry) -> bool:
        """Return whether it is what a store keeps of an entry."""
        kept, given = (
            (one.sequence, one.token, one.time, one.mechanism) for one in (self, entry)
        )
        return kept == given

    def given_back(self, epsilon: float) -> float:
        """Return what a refund of the release gives back of the whole.

        Raises:
            ParameterError: It is more than was spent.
        """
        given = floor(self.steps * exact(epsilon))
        if given > self.epsilon:
            raise ParameterError(f"a refund is at most the {self.epsilon!r} that was spent")
        return given


def priced(
    epsilon: object,
    delta: object,
    rho: object,
    laplace_rounds: object = 0,
    *,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
) -> Entry:
    """Return an entry that states the checked guarantee of a release.

    ``rho=None`` means what epsilon implies. Beside a delta it always does: a better one may
    need another event than epsilon.

    Raises:
        ParameterError: An amount is not a number or out of its range, or epsilon and delta
            are both 0: that would be no spend.
    """
    failure = validation.probability("delta", delta)
    check = validation.non_negative if failure > 0 else validation.positive
    pure = check("epsilon", epsilon)
    implied = zcdp.rho_of_pure(pure)
    given = implied if rho is None else validation.positive("rho", rho)
    return Entry(
        epsilon=pure,
        delta=failure,
        rho=implied if failure > 0 else min(implied, given),
        neighbours=neighbours,
        laplace_rounds=validation.at_least("laplace_rounds", laplace_rounds, 0),
    )
