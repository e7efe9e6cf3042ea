"""Entries: the guarantee of a release with its price, and what was asked.

A release by rows protects a person with several rows by group privacy. Let it be (ε, δ)-DP for
one row more or less, and let x and y differ in one person, who has at most m rows.
Then there are ``x = z_0, z_1, ..., z_m = y``, each a neighbour of the one before. With ``P_i``
the distribution on ``z_i``,

    P_0 - e^(mε) P_m = ∑_(i<m) e^(iε) (P_i - e^ε P_(i+1)),
    ∑_o [P_0 - e^(mε) P_m]_+ ≤ δ ∑_(i<m) e^(iε) = δ (e^(mε) - 1)/(e^ε - 1).

So it is ``(mε, δ')``-DP for a person with that δ', which some releases attain. Where the price
is that of the outcome, ``c(o) ≤ ε``, the same sum with ``e^(c(o))`` for ``e^ε`` shows
``m c(o)`` and the same δ': m times what is given back is given back. A ρ-zCDP release is
``m^2 ρ``-zCDP (Bun & Steinke 2016, arXiv:1605.02065, Proposition 27).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from glob import has_magic
from math import expm1, inf
from os.path import relpath
from pathlib import Path
from typing import Annotated, Any, TypedDict

from dpselect import validation
from dpselect._numbers import LARGEST_EXPONENT, ceiling, exact, floor
from dpselect.budget import zcdp
from dpselect.errors import InsufficientBudgetError, ParameterError
from dpselect.neighbours import Neighbours
from dpselect.writing import readable

LONGEST = 10_000
"""Characters of a text that an entry keeps: nobody fills the disk of a ledger by a note."""


def text(name: str, value: object) -> str:
    """Return a text that a ledger can hold.

    Raises:
        ParameterError: It is none.
    """
    given = validation.instance(name, value, str)
    if name != "mechanism" and len(given) > LONGEST:
        raise ParameterError(f"`{name}` must have at most {LONGEST:,} characters")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"`{name}` must be text that UTF-8 can encode") from None
    return given


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Analyst and source that entries state.

    The fields are the arguments of ``dpselect.Budget.for_request``.

    Raises:
        ParameterError: A text is none.
    """

    note: Annotated[str, text] = ""
    source: Annotated[str, text] = ""
    version: Annotated[str, text] = ""
    analyst: Annotated[str, text] = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    user: str | None = None
    again: bool = False

    def __post_init__(self) -> None:
        validation.keep_checked(self, arguments=readable(self.arguments))

    def key(self, question: object) -> str:
        """Return what two entries of one question of one source share; empty without one."""
        if not self.source:
            return ""
        import hashlib  # which loads OpenSSL: a tenth of what `dpselect --help` takes

        same = [question, self.source, self.version, self.arguments, self.user]
        return hashlib.sha256(json.dumps(same).encode()).hexdigest()

    def stated(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return a question with what the request asks beside it."""
        if self.arguments:
            question["arguments"] = {**question.get("arguments", {}), **self.arguments}
        if self.user is not None:
            claim = f"each {self.user} has one record of the source"
            question["public"] = [*question.get("public", []), claim]
        return question


def source_name(source: str, ledger: Path) -> str:
    """Return a file by its way from the ledger, one name wherever it is asked from.

    Two files of one name in two folders are two sources, and so are the tables in them
    (``clinic.duckdb::stays``). What is no file keeps its name.
    """
    file, mark, table = source.partition("::")
    if not Path(file).exists() and not has_magic(file):
        return source
    where = Path(file).resolve()
    try:
        return Path(relpath(where, ledger.resolve().parent)).as_posix() + mark + table
    except ValueError:  # on another drive
        return where.as_posix() + mark + table


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


class Kept(TypedDict, total=False):
    """What an entry keeps beside a released answer; None of what it cannot."""

    is_last: bool
    """Whether the answer is whole; one that is not is replaced by the next."""

    release: Mapping[str, object] | None
    """The fields from which the release can be made again, as JSON has them."""

    shown: Mapping[str, Any] | None
    """The table of the answer as it was printed, by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One spend: the guarantee of a release, and what was asked; public.

    It is ``(epsilon, delta)``-DP and, if ``delta`` is 0, ``rho``-zCDP. Outside an event of
    probability ``delta`` it is both ``epsilon``-DP and ``rho``-zCDP (``totals``). With an
    epsilon of 0 it does not depend on anybody's record but in that event: delta is all that it
    costs.

    Attributes:
        epsilon: In nats; finite, > 0, or 0 beside a delta > 0.
        delta: In [0, 1).
        rho: Finite, >= 0, and never more than what ``epsilon`` implies; that beside a delta.
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
        shown: The table of the answer as it was printed, by column; None as for ``answer``.
        release: The fields from which the release can be made again; None if it cannot.
        token: Tells it from entries of other budgets with the same number.
    """

    epsilon: float
    delta: float
    rho: float
    neighbours: Neighbours
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
    shown: Mapping[str, Any] | None = field(default=None, hash=False)
    release: Mapping[str, object] | None = field(default=None, hash=False)
    token: str = field(default="", compare=False, repr=False)

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
    delta: object = 0.0,
    rho: object = None,
    *,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    **said: Any,  # noqa: ANN401 -- other fields
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
        **said,
    )


def grouped(cost: Entry, rows: int) -> Entry:
    """Return the price of a release by rows for a person with at most so many rows.

    A delta of 1 or more is returned as 1, which no budget allows.

    Raises:
        InsufficientBudgetError: Its epsilon is more than any float.
    """
    if rows == 1:
        return cost
    try:
        epsilon = ceiling(rows * exact(cost.epsilon))
    except OverflowError:
        raise InsufficientBudgetError(
            f"epsilon does not suffice for {rows} rows of a person"
        ) from None
    rho = zcdp.rho_of_pure(epsilon)
    if cost.delta == 0:
        rho = min(rho, rows**2 * cost.rho * (1 + zcdp.SLACK))
        return replace(cost, epsilon=epsilon, rho=rho, steps=rows)
    times = float(rows)
    if cost.epsilon > 0:
        times = expm1(epsilon) / expm1(cost.epsilon) if epsilon < LARGEST_EXPONENT else inf
    delta = min(1.0, cost.delta * times * (1 + zcdp.SLACK))
    return replace(cost, epsilon=epsilon, delta=delta, rho=rho, steps=rows)
