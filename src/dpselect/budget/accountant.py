"""Budgets: a total epsilon, the spends recorded against it, and their export."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from dpselect._version import version
from dpselect.budget import filter as stopping
from dpselect.budget.amount import positive
from dpselect.budget.entry import Entry, Totals, cost, kept, plain, same_relation
from dpselect.budget.ledger import Ledger
from dpselect.budget.store import Entries, Memory, Store
from dpselect.budget.sums import Sums
from dpselect.errors import BudgetError, ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike, relation

if TYPE_CHECKING:
    import dp_accounting


@dataclass(frozen=True, slots=True)
class _Request:
    """What entries say about who asked, and of what."""

    note: str = ""
    source: str = ""
    analyst: str = ""
    where: tuple[str, ...] = ()


class Budget:
    """A total epsilon that releases spend from, and a record of what each one cost.

    An amount is the decimal number that its float prints as, and sums are exact: a hundred
    spends of 0.01 fit into 1.0, the next one does not.

    With ``delta=0`` epsilons add up. With ``delta > 0`` the cheaper of that sum and of
    composition by zCDP counts, which after many small spends is far less. When the *first*
    spend has a delta of its own, epsilons and deltas add up; a budget that began with a
    spend without one takes no spend with one. :mod:`dpselect.budget.filter` says why.

    A copy, also one by :func:`copy.deepcopy`, is the same budget, so nothing is spent twice.
    A budget with a ledger can be pickled, one in memory cannot.

    Guarantee:
        All releases together are ``(epsilon, delta)``-DP under ``neighbours`` against an
        analyst who chooses each after seeing the ones before it, provided that each keeps
        the guarantee it was spent for and is drawn after :meth:`spend` returned. Entries
        are public.

    Args:
        epsilon: Total, in nats; finite, > 0.
        delta: Total, in [0, 1).
        neighbours: The one relation that every spend must be stated for.
        path: File of the ledger, shared by all processes that name it. An existing one must
            have the same totals. A budget notices if the file is replaced, emptied or
            restored from a copy while it lives. ``None`` keeps the entries in this process.

    Raises:
        ParameterError: ``epsilon`` or ``delta`` is out of range.
        NeighboursError: ``neighbours`` is not a neighbour relation.
        LedgerError: The file at ``path`` is not a ledger (it is left as it is), is one for
            other totals or of another schema version, or cannot be opened or made.

    Examples:
        >>> budget = Budget(1.0, neighbours=Neighbours.ADD_REMOVE)
        >>> _ = budget.spend(0.3, neighbours=Neighbours.ADD_REMOVE, mechanism="median")
        >>> budget.remaining
        0.7
    """

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        neighbours: NeighboursLike,
        path: str | Path | None = None,
    ) -> None:
        self._totals = Totals(epsilon=epsilon, delta=delta, neighbours=relation(neighbours))
        self._store: Store = (
            Memory() if path is None else Ledger.create_or_open(path, self._totals)
        )
        self._request = _Request()

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open an existing ledger with the totals that it states; never make a file.

        Raises:
            LedgerError: There is no ledger at ``path``, or one of another schema version.
        """
        ledger = Ledger.open(path)
        budget = cls.__new__(cls)
        # Not through __init__, which would make a file if this one vanished just now.
        budget._totals, budget._store = ledger.totals, ledger  # noqa: SLF001 -- its own
        budget._request = _Request()  # noqa: SLF001 -- its own
        return budget

    @property
    def epsilon(self) -> float:
        """Total epsilon, in nats."""
        return self._totals.epsilon

    @property
    def delta(self) -> float:
        """Total delta."""
        return self._totals.delta

    @property
    def neighbours(self) -> Neighbours:
        """The relation that the totals are stated for."""
        return self._totals.neighbours

    @property
    def path(self) -> Path | None:
        """Absolute path of the ledger; ``None`` for a budget in memory."""
        return self._store.path if isinstance(self._store, Ledger) else None

    @property
    def entries(self) -> Entries:
        """All spends, the first one first."""
        return self._store.entries()

    @property
    def composition(self) -> stopping.Composition:
        """How spends add up: ``"pure"``, ``"basic"`` (with deltas) or ``"zcdp"``."""
        return stopping.composition(self._totals, self._store.sums())

    @property
    def spent(self) -> float:
        """Epsilon that all spends together amount to, in nats; at most :attr:`epsilon`."""
        return float(stopping.spent(self._totals, self._store.sums()))

    @property
    def remaining(self) -> float:
        """``epsilon - spent``, in nats, >= 0, rounded down.

        A spend of this much fits when the composition is ``"pure"``. Under ``"zcdp"`` the
        price of a spend depends on the others; see :meth:`remaining_after`.
        """
        return stopping.remaining(self._totals, self._store.sums())

    def spend(
        self,
        epsilon: float,
        *,
        neighbours: NeighboursLike,
        delta: float = 0.0,
        rho: float | None = None,
        mechanism: str = "",
        note: str = "",
        laplace: int = 0,
        asked: Mapping[str, object] | None = None,
    ) -> Entry:
        """Record what a release is about to cost; draw only after this returned.

        Args:
            epsilon: In nats; finite, > 0. With a ``delta > 0`` also 0: a (0, delta)-DP
                release costs delta alone.
            neighbours: The relation that the release is private for.
            delta: In [0, 1).
            rho: The release's own zCDP parameter, finite, > 0, where it is known to be
                better than the ``epsilon * tanh(epsilon / 2)`` of any pure release. A
                larger one is replaced by that.
            mechanism: What is released.
            note: Anything to remember; public, like the rest of the entry. That of
                :meth:`for_request` if empty.
            laplace: Where the release is so many adaptive rounds, each dominated by the
                Laplace mechanism at ``epsilon / laplace``, as permute-and-flip is: their
                number; else 0. :meth:`to_dp_events` makes use of it.
            asked: The function and its public arguments; :meth:`Plan.charge` gives them.

        Returns:
            The entry, which no crash of this process can undo when there is a ledger.

        Raises:
            ParameterError: An amount is not a number or out of its range, epsilon and delta
                are both 0, or a text is not one.
            NeighboursError: ``neighbours`` is not the budget's relation.
            InsufficientBudgetError: The spend does not fit; nothing was recorded.
            LedgerError: The ledger cannot be read or written; do not draw.
        """
        same_relation(self.neighbours, neighbours)
        new = cost(epsilon, delta, rho, laplace)
        mechanism, note = _text("mechanism", mechanism), _text("note", note)
        request = self._request if not note else replace(self._request, note=note)
        arguments = plain({} if asked is None else asked)
        if request.where:
            stated = {**dict(arguments.get("arguments", {})), "where": list(request.where)}
            arguments = {**arguments, "arguments": stated}

        def decide(sums: Sums) -> Entry:
            stopping.admit(self._totals, sums, new)
            return Entry(
                epsilon=new.epsilon,
                delta=new.delta,
                rho=new.rho,
                laplace=new.laplace,
                sequence=sums.number + 1,
                time=datetime.now(UTC).isoformat(timespec="seconds"),
                neighbours=self.neighbours,
                mechanism=mechanism,
                version=version(),
                asked=arguments,
                note=request.note,
                source=request.source,
                analyst=request.analyst,
            )

        return self._store.append(decide)

    def record_answer(self, entry: Entry, answer: Mapping[str, object]) -> None:
        """Keep the released answer of an entry; every release of the library does.

        Args:
            entry: What :meth:`spend` returned.
            answer: Released values alone, by name. Of an answer of more than 20,000
                characters a summary is kept, with the SHA-256 of its JSON.

        Raises:
            LedgerError: It is no entry of this budget, it has an answer already, or the
                ledger cannot be written.
        """
        self._store.answer(entry, kept(answer))

    def for_request(
        self,
        *,
        note: str = "",
        source: str = "",
        analyst: str = "",
        where: Iterable[str] = (),
    ) -> Self:
        """Return the same budget, with what its entries say about who asked, and of what.

        Args:
            note: Anything to remember, such as the number of an application.
            source: The file or table that is read.
            analyst: Who asks.
            where: Which rows of the source are asked for, in public words.

        Raises:
            ParameterError: One is not a text.
        """
        texts = {"note": note, "source": source, "analyst": analyst}
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__)
        checked = {name: _text(name, one) for name, one in texts.items()}
        rows = tuple(_text("where", one) for one in where)
        view._request = _Request(**checked, where=rows)
        return view

    def refund(self, entry: Entry, epsilon: float) -> None:
        """Give back a part of a spend whose outcome cost less; after the last draw of it.

        A spend counts in full until this returned: who dies before loses nothing but epsilon.

        Guarantee:
            That of the budget, if outside an event of probability ``entry.delta`` the outcome
            that was drawn is at most ``exp(entry.epsilon - epsilon)`` times as probable as
            under any neighbour (:mod:`dpselect.budget.filter` has the proof).

        Args:
            entry: What :meth:`spend` returned.
            epsilon: What is given back, in nats; > 0, at most ``entry.epsilon``.

        Raises:
            ParameterError: ``epsilon`` is out of its range.
            LedgerError: It is no entry of this budget, had a refund, or cannot be written.
        """
        given = positive("epsilon", epsilon)
        if given > entry.epsilon:
            raise ParameterError(f"a refund is at most the {entry.epsilon!r} that was spent")
        self._store.refund(entry, given)

    def remaining_after(
        self, epsilon: float, *, delta: float = 0.0, rho: float | None = None
    ) -> float:
        """Return what would remain after a spend, without spending.

        Args:
            epsilon: As in :meth:`spend`.
            delta: As in :meth:`spend`.
            rho: As in :meth:`spend`.

        Returns:
            In nats, >= 0, rounded down.

        Raises:
            ParameterError: An amount is not a number or out of its range.
            InsufficientBudgetError: :meth:`spend` would refuse this now.
        """
        new = cost(epsilon, delta, rho)
        after = stopping.admit(self._totals, self._store.sums(), new)
        return stopping.remaining(self._totals, after)

    def to_json(self) -> str:
        """Return totals, relation, composition, sums and entries as strict JSON."""
        entries = self.entries
        sums = Sums.of(entries)
        document = {
            "epsilon": self._totals.epsilon,
            "delta": self._totals.delta,
            "neighbours": str(self._totals.neighbours),
            "composition": stopping.composition(self._totals, sums),
            "spent": float(stopping.spent(self._totals, sums)),
            "remaining": stopping.remaining(self._totals, sums),
            "entries": [
                asdict(entry) | {"neighbours": str(entry.neighbours)} for entry in entries
            ],
        }
        return json.dumps(document, allow_nan=False, indent=2)

    def to_html(self) -> str:
        """Return a report to print and sign: each question, answer, price and what is left.

        One self-contained page. It holds what the entries hold, released values among them.
        """
        from dpselect.budget import report

        return report.html(self, name="budget" if self.path is None else self.path.name)

    def to_dp_events(self) -> dp_accounting.ComposedDpEvent:
        """Return the spends as an event for an accountant of ``dp_accounting``.

        Every pure release is randomised response with two buckets and the same epsilon,
        followed by steps that do not see the data (Kairouz, Oh & Viswanath 2015,
        arXiv:1311.0776). In a budget with ``delta > 0`` a spend whose entry states rounds
        that the Laplace mechanism dominates is as many ``LaplaceDpEvent``, the exact
        trade-off curve of permute-and-flip; another spend with a better rho than that of
        randomised response is a ``ZCDpEvent``, which only the RDP accountant takes.

        Create the accountant with ``NeighboringRelation.REPLACE_ONE`` whatever
        :attr:`neighbours` is: that pair of the two buckets stands for our neighbours. The
        PLD accountant takes a ``LaplaceDpEvent`` with ``ADD_OR_REMOVE_ONE`` alone, and so
        only a budget in which all spends are such; never use ``REPLACE_SPECIAL``, for which
        randomised response is another pair.

        Raises:
            MissingDependencyError: ``dp_accounting`` is not installed.
            BudgetError: A spend has a delta of its own, for which it has no event.
        """
        from dpselect.budget import events

        return events.composed(self.entries, delta=self.delta)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        if self.path is None:
            raise BudgetError(
                "a budget in memory cannot be pickled: two copies could spend the same "
                "epsilon; give the budget a path="
            )
        return _reopened, (type(self), self.path, self._request)

    def __repr__(self) -> str:
        where = "" if self.path is None else f", path={str(self.path)!r}"
        try:
            left = repr(self.remaining)
        except BudgetError:
            left = "unreadable"
        return (
            f"<Budget epsilon={self.epsilon!r}, delta={self.delta!r}, "
            f"neighbours={self.neighbours}{where}: remaining {left}>"
        )


def _reopened(kind: type[Budget], path: Path, request: _Request) -> Budget:
    return kind.open(path).for_request(**asdict(request))


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ParameterError(f"{name} must be a str, not a {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{name} must be text that UTF-8 can encode") from None
    return value
