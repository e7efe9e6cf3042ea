"""Budgets: a total epsilon, the spends recorded against it, and their export."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeAlias, Unpack

from dpselect import validation, writing
from dpselect._numbers import exact
from dpselect._optional import version
from dpselect.budget import words
from dpselect.budget.entry import Entry, Kept, Origin, Question, grouped, priced, text
from dpselect.budget.ledger import Ledger
from dpselect.budget.store import Entries, Memory, State
from dpselect.budget.totals import Composition, Period, Persons, Pot, Sums, Totals, part
from dpselect.errors import BudgetError, InsufficientBudgetError
from dpselect.neighbours import RECORDS, Neighbours, NeighboursLike
from dpselect.passes import stated_rows

Decision: TypeAlias = tuple[str, Sums, list[tuple[Entry, Sums]]]
"""Period and sums of a share before spends, and their entries with the sums after each."""


class Budget(writing.Card):
    """A total epsilon that releases spend from, and a record of what each one cost.

    An amount is the decimal number that its float prints as, and sums are exact: a hundred
    spends of 0.01 fit into 1.0, the next one does not.

    With ``delta=0`` epsilons add up. With ``delta > 0`` the cheaper of that sum and of
    composition by zCDP counts, which after many small spends is far less; half of delta is for
    the deltas of spends and half for zCDP, unless ``composition`` says otherwise. The order of
    spends does not matter. ``dpselect.budget.totals`` says why.

    A copy, also one by ``copy.deepcopy``, is the same budget, so nothing is spent twice. A
    budget with a ledger can be pickled, one in memory cannot.

    Guarantee:
        All releases together are ``(epsilon, delta)``-DP under ``neighbours`` of one unit
        (``protects``), against an analyst who chooses each after seeing the ones before it,
        provided that each keeps the guarantee it was spent for and is drawn after ``spend``
        returned. Entries are public. With a ``period`` that is the guarantee of each
        (``Period``).

    Args:
        epsilon: Total, in nats; finite, > 0.
        delta: Total, in [0, 1).
        neighbours: The one relation that every spend must be stated for.
        protects: The column that names persons, or ``Persons``, which may say how many rows one
            has at most. If not given, or ``"row"``, one record: a row, an edge or a member.
        composition: ``"sum"`` (all of delta for the deltas of spends), ``"zcdp"`` (none) or
            ``"either"``.
        shares: The epsilon of each analyst who has a share of it, by name. They get the same
            part of delta; all others together what is left.
        period: How the totals renew, and what makes that honest.
        path: File of the ledger, shared by all processes that name it. An existing one must
            have the same totals. A budget notices if the file is replaced, emptied or
            restored from a copy while it lives. ``None`` keeps the entries in this process.

    Attributes:
        totals: All that is granted, with its terms.
        origin: Analyst and source that entries state (``for_request``).

    Raises:
        ParameterError: An amount is out of range, or a term is not one of those above.
        NeighboursError: ``neighbours`` is not a neighbour relation, or does not suit persons.
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
        protects: str | Persons | None = None,
        composition: Composition = "either",
        shares: Mapping[str, float] | None = None,
        period: Period | None = None,
        path: str | Path | None = None,
    ) -> None:
        granted = validation.neighbours(neighbours)
        if protects is not None and not isinstance(protects, Persons):
            protects = None if protects == RECORDS[granted] else Persons(protects)
        self.totals = Totals(
            epsilon=epsilon,
            delta=delta,
            neighbours=granted,
            persons=protects,
            composition=composition,
            shares=tuple((shares or {}).items()),
            period=period,
        )
        self._store: Memory | Ledger = (
            Memory() if path is None else Ledger.create_or_open(path, self.totals)
        )
        self.origin = Origin()

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open an existing ledger with the totals that it states; never make a file.

        Raises:
            LedgerError: There is no ledger at ``path``, or one of another schema version.
        """
        ledger = Ledger(path)
        budget = cls.__new__(cls)
        # Not through __init__, which would make a file if this one vanished just now.
        vars(budget).update(totals=ledger.totals, _store=ledger, origin=Origin())
        return budget

    @property
    def epsilon(self) -> float:
        """Total epsilon, in nats."""
        return self.totals.epsilon

    @property
    def delta(self) -> float:
        """Total delta."""
        return self.totals.delta

    @property
    def neighbours(self) -> Neighbours:
        """The relation that the totals are stated for."""
        return self.totals.neighbours

    @property
    def path(self) -> Path | None:
        """Absolute path of the ledger; ``None`` for a budget in memory."""
        return self._store.path if isinstance(self._store, Ledger) else None

    @property
    def entries(self) -> Entries:
        """All spends, the first one first."""
        return self._store.entries()

    @property
    def pots(self) -> tuple[Pot, ...]:
        """Amounts of each share in the current period; the whole budget, without shares."""
        names = [name for name, _ in self.totals.shares]
        if self.totals.left > 0:
            names.append("")
        return self._store.look(lambda state: tuple(self._pot(state, name) for name in names))

    @property
    def spent(self) -> float:
        """Epsilon of all spends of the current period together, in nats.

        At most ``epsilon``.
        """
        return float(sum(exact(pot.spent) for pot in self.pots))

    @property
    def remaining(self) -> float:
        """Remaining epsilon for the current analyst, in nats, >= 0, rounded down.

        A spend of this much fits. Where zCDP counts, the price of a spend depends on the
        others: see ``remaining_after``.
        """
        share = self.totals.share_of(self.origin.analyst)
        if not share and self.totals.left == 0:
            return 0.0
        return self._store.look(lambda state: self._pot(state, share).remaining)

    def spend(
        self,
        epsilon: float,
        *,
        neighbours: NeighboursLike,
        delta: float = 0.0,
        rho: float | None = None,
        user: str | None = None,
        mechanism: str = "",
        note: str = "",
    ) -> Entry:
        """Record what a release is about to cost; draw only after this returned.

        Args:
            epsilon: In nats; finite, > 0. With a ``delta > 0`` also 0: a (0, delta)-DP
                release costs delta alone.
            neighbours: The relation that the release is private for.
            delta: In [0, 1).
            rho: The zCDP parameter of a release without a delta, finite, > 0, where it is
                known to be better than the ``epsilon * tanh(epsilon / 2)`` of any pure
                release. A larger one is replaced by that.
            user: The column of the persons that it protects; None if it protects a record.
                In a budget of persons that states how many rows one has, a release by rows
                is charged for so many.
            mechanism: What is released.
            note: Anything to remember; public, like the rest of the entry. That of
                ``for_request`` if empty.

        Returns:
            The entry, which no crash of this process can undo when there is a ledger.

        Raises:
            ParameterError: An amount is not a number or out of its range, epsilon and delta
                are both 0, or a text is not one.
            NeighboursError: ``neighbours`` or ``user`` is not what the budget protects.
            InsufficientBudgetError: The spend does not fit; nothing was recorded.
            LedgerError: The ledger cannot be read or written; do not draw.
        """
        spend = {name: one for name, one in locals().items() if name != "self"}
        return self.reserve([spend])()[0]

    def reserve(self, spends: Sequence[Mapping[str, Any]]) -> Callable[[], Entries]:
        """Decide on several spends, all of them or none; return the function that records them.

        Call it once, before anything is drawn. It decides again only if something else was
        spent in between.

        Args:
            spends: The arguments of ``spend``, by name; and as ``question`` a function that
                returns the query and its plan, and as ``repeatable`` whether they say all that
                is asked of a source: ``Plan.reserve`` gives them.

        Returns:
            Records them, with no other spend in between, and returns their entries in the same
            order; raises what this does.

        Raises:
            InsufficientBudgetError: They do not fit together now.
            ParameterError, NeighboursError, LedgerError: As for ``spend``.
        """
        made = [self._entry(**one) for one in spends]
        known = self._store.look(lambda state: self._decided(made, state))
        return lambda: self._store.append(lambda state: self._decided(made, state, known)[-1])

    def _entry(
        self,
        *,
        neighbours: NeighboursLike,
        user: str | None = None,
        mechanism: str = "",
        note: str = "",
        question: Callable[[], Mapping[str, object]] = dict,
        repeatable: bool = False,
        **amounts: Any,  # noqa: ANN401 -- those of ``priced``
    ) -> Entry:
        """Return the entry of a spend, whether it fits or not.

        Nothing of the question is written down before somebody reads it.
        """
        totals, origin = self.totals, self.origin
        steps = totals.steps(neighbours, origin.user if user is None else user)
        whole = Question(lambda: origin.stated(writing.readable(question())))
        alone = priced(
            **amounts,
            neighbours=totals.neighbours,
            mechanism=text("mechanism", mechanism),
            question=whole,
            note=text("note", note) or origin.note,
            source=origin.source,
            source_version=origin.version,
            analyst=origin.analyst,
            share=totals.share_of(origin.analyst),
            key=origin.key(whole.get("written")) if repeatable and origin.source else "",
            version=version(),
        )
        return grouped(alone, steps)

    def _decided(
        self, spends: Sequence[Entry], state: State, known: Decision | None = None
    ) -> Decision:
        """Admit spends in the state of the store.

        Args:
            spends: The entries of the current analyst, not yet recorded.
            state: What was spent before.
            known: An earlier decision on them, which stands if nothing was spent in between.

        Raises:
            InsufficientBudgetError: They do not fit together.
        """
        time, share = now(), self.totals.share_of(self.origin.analyst)
        period = self.totals.period_at(time, state.period)
        before = sums = state.sums(period, share)
        if known is not None and known[:2] == (period, before):
            return known
        granted, made = part(self.totals, share), []
        for new in spends:
            try:
                sums = granted.admit(sums, new)
            except InsufficientBudgetError as error:
                raise error.adding(self._whose(share, period)) from None
            made.append((replace(new, time=time, period=period), sums))
        return period, before, made

    def _whose(self, share: str, period: str) -> str:
        """Return whose totals did not suffice, where they are not those of all."""
        whose = f"the share of {share}" if share else "what is in nobody's share"
        terms = [whose if self.totals.shares else "", f"in {period}" if period else ""]
        return f" ({' '.join(filter(None, terms))})" if any(terms) else ""

    def answered(self, question: Mapping[str, object]) -> Entry | None:
        """Return the entry that answers a question of the same source once more, if one does.

        It is the last one in this period with the same written form of the query, the same
        source and version, and the same arguments of the request, if the release can be made
        of it again. There is none without a source, or where the request says ``again``.

        Args:
            question: The written form of a query that says all that is asked of a source.
        """
        if self.origin.again or not (key := self.origin.key(question)):
            return None
        return self._store.find(key, self._store.look(self._period))

    def _period(self, state: State) -> str:
        return self.totals.period_at(now(), state.period)

    def _pot(self, state: State, share: str) -> Pot:
        return Pot.of(self.totals, share, state.sums(self._period(state), share))

    def record_answer(
        self, entry: Entry, answer: Mapping[str, object], **kept: Unpack[Kept]
    ) -> None:
        """Keep the released answer of an entry; every release of the library does.

        What was drawn of an answer may be kept before more is worked out that costs nothing, by
        ``is_last=False``: it is the answer if this process ends before the last one.

        Args:
            entry: What ``spend`` returned.
            answer: Released values alone, by name.
            kept: ``release`` and ``shown``, as ``Entry`` has them; ``is_last``.

        Raises:
            LedgerError: It is not an entry of this budget, it has an answer already, or the
                ledger cannot be written.
        """
        self._store.answer(entry, answer, **kept)

    def for_request(
        self,
        *,
        note: str = "",
        source: str = "",
        version: str = "",
        analyst: str = "",
        arguments: Mapping[str, object] | None = None,
        user: str | None = None,
        again: bool = False,
    ) -> Self:
        """Return the same budget, whose entries state the analyst, the source and a note.

        With a ``source``, a query that was answered for the same source and version, with the
        same ``arguments``, is answered by that entry (``answered``): nothing is drawn and
        nothing is spent.

        Args:
            note: Anything to remember, such as the number of an application.
            source: The file or table that is read.
            version: Version of the source, such as a date; another version is another source.
                Never a hash of the data, which would reveal that a record changed.
            analyst: Name of the analyst.
            arguments: Arguments besides the query's own fields, such as the rows of the source;
                public.
            user: The column of persons of whom the source has one record each, declared
                public: releases by records then protect them.
            again: Draw anew, and pay, where an entry would have answered.

        Raises:
            ParameterError: An argument is not a text.
        """
        stated = {name: one for name, one in locals().items() if name != "self"}
        return self._view(Origin(**{**stated, "arguments": arguments or {}}))

    def for_rows_of(self, data: object) -> Self:
        """Return the same budget for the selected rows of a source."""
        if not (rows := stated_rows(data)):
            return self
        arguments = {**self.origin.arguments, **rows}
        return self._view(replace(self.origin, arguments=arguments))

    def _view(self, origin: Origin) -> Self:
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__)
        view.origin = origin
        return view

    def refund(self, entry: Entry, epsilon: float) -> None:
        """Give back a part of a spend whose outcome cost less; after the last draw of it.

        A spend counts in full until this returned: a process that dies before loses only
        epsilon.

        Guarantee:
            That of the budget, if outside an event of probability ``delta`` of the release the
            outcome that was drawn is at most ``exp(c)`` times as probable as under any
            neighbour of the release, with c its epsilon less the refund
            (``dpselect.budget.totals`` has the proof).

        Args:
            entry: What ``spend`` returned.
            epsilon: What is given back, in nats; > 0. For an entry of ``steps`` rows it is
                multiplied by ``steps``; at most ``entry.epsilon`` in all.

        Raises:
            ParameterError: ``epsilon`` is out of its range.
            LedgerError: It is not an entry of this budget, had a refund, or cannot be written.
        """
        self._store.refund(entry, validation.positive("epsilon", epsilon))

    def remaining_after(self, spends: Sequence[Mapping[str, Any]]) -> float:
        """Return what would remain after several spends, without spending.

        Args:
            spends: As for ``reserve``.

        Returns:
            In nats, >= 0, rounded down.

        Raises:
            InsufficientBudgetError: ``reserve`` would refuse them now.
            ParameterError, NeighboursError: As for ``spend``.
        """
        made = [self._entry(**one) for one in spends]
        if not made:
            return self.remaining
        *_, (last, sums) = self._store.look(lambda state: self._decided(made, state)[-1])
        return Pot.of(self.totals, last.share, sums).remaining

    def to_json(self) -> str:
        """Return totals and their terms, what is left of each share and entries as strict JSON.

        What a release is made of again (``Entry.release``) and how it was printed are left out:
        its answer is there. So is what tells entries of several budgets apart.
        """
        totals, pots = self.totals, self.pots
        left_out = {"release", "shown", "token"}
        shown = [one.name for one in fields(Entry) if one.name not in left_out]
        made = {
            "epsilon": totals.epsilon,
            "delta": totals.delta,
            "neighbours": str(totals.neighbours),
            **totals.terms(),
            "spent": float(sum(exact(pot.spent) for pot in pots)),
            "pots": [asdict(pot) for pot in pots],
            "entries": [
                {name: writing.readable(getattr(entry, name)) for name in shown}
                for entry in self.entries
            ],
        }
        return json.dumps(made, allow_nan=False, indent=2)

    def to_html(self) -> str:
        """Return a report to print and sign: each question, answer, price and what is left.

        One self-contained page. It holds what the entries hold, released values among them.
        """
        return words.html(self, name="budget" if self.path is None else self.path.name)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        if isinstance(self._store, Memory):
            return self._store.__reduce__()
        return _reopened, (type(self), self._store.path, self.origin)

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

    def __str__(self) -> str:
        shown = writing.lines(words.listed(self.entries)) if self.entries else []
        return "\n".join([*shown, *writing.stated(words.facts(self.totals, self.pots))])


def _reopened(kind: type[Budget], path: Path, origin: Origin) -> Budget:
    return kind.open(path).for_request(**asdict(origin))


def now() -> str:
    """Return the time, as entries have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
