"""Requests: queries of one table, written down before any is answered."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeAlias

from dpselect import validation, writing
from dpselect.budget import Budget
from dpselect.budget.entry import source_name
from dpselect.errors import ColumnError, LedgerError, NeighboursError, ParameterError
from dpselect.percentiles.candidates import typed
from dpselect.plan import Plan, sequential_plan
from dpselect.query import Query, run
from dpselect.release import Release
from dpselect.requests import contradictions
from dpselect.requests.document import (
    READING,
    Document,
    Form,
    check_keys,
    fields_of,
    place_of,
    query_of,
)
from dpselect.requests.policy import Policy, columns_of
from dpselect.tables import Source
from dpselect.tables.opening import checked_engine, held

PolicyLike: TypeAlias = Policy | str | Path | None
"""A policy, its file, or none."""

MOST_QUERIES = 500
"""Queries of a request; each takes up to ten milliseconds to plan and to check."""

_NAME = re.compile(r"[\w-]{1,60}")


@dataclass(frozen=True, kw_only=True)
class Request(Form):
    """Queries of one table, with its path and the ledger that they are charged to; public.

    A request is read from a file in TOML, or made of the same tables by a program:

        ledger = "clinic.budget"

        [data]
        path = "stays.parquet"
        where = ["year = 2025"]

        [unit]
        neighbours = "add-remove"
        user = "patient"
        max_per_user = 3

        [[queries]]
        query = "TopKeys"
        column = "ward"
        k = 1
        candidates = ["heart", "lung", "skin"]
        epsilon = 0.5

    ``[unit]`` states what all queries protect, and fills in these fields where they are left
    out. Paths are relative to the file.

    Guarantee:
        That of ``dpselect.run``.

    Attributes:
        queries: By the names of their answers.
        source: The table, and the selection of its rows.
        engine: Engine that holds the rows: ``"memory"``, ``"polars"``, ``"duckdb"`` or
            ``"spark"``.
        master: Address of the Spark master.
        ledger: Ledger to charge; None if nothing is recorded.
        version: Version of the table.
        note: A note, kept in the ledger.
        analyst: Name of the analyst.
        policy: Policy that limits the request; None without one.
        document: The file.

    Raises:
        ParameterError: There is no query, or a name is not valid.
        NeighboursError: The queries protect several relations or units.

    Examples:
        >>> import dpselect as dp
        >>> asked = dp.Request.from_dict({
        ...     "data": {"path": "stays.parquet"},
        ...     "unit": {"neighbours": "add-remove"},
        ...     "queries": [
        ...         {"query": "Percentiles", "column": "days", "p": 50, "upper": 60, "step": 1,
        ...          "epsilon": 0.5},
        ...         {"query": "TopKeys", "column": "ward", "k": 1,
        ...          "candidates": ["heart", "lung"], "epsilon": 0.25},
        ...     ],
        ... })
        >>> asked.plan.epsilon, list(asked.queries)
        (0.75, ['Percentiles', 'TopKeys'])
    """

    queries: Mapping[str, Query[Any]]
    note: str = ""
    analyst: str = ""
    policy: Policy | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        for at, name in enumerate(self.queries):
            _check_name(name, [*self.queries][:at])
        checked_engine(self.engine, self.master)
        validation.keep_checked(self, source=Source.of(self.source))
        _ = self.plan  # all queries are of one unit
        for query in self.queries.values():
            query.check_where(self.source.where)

    @classmethod
    def read(cls, path: str | Path, *, policy: PolicyLike = None) -> Self:
        """Return the request of a file.

        Args:
            path: The file.
            policy: Policy to keep to; by default the one that the file names.

        Raises:
            DataError: There is no such file.
            ParameterError: It is not TOML, a key is unknown, a value is of a wrong type or out
                of its range, or a claim is missing; the message has the line of the key.
            PolicyError: It goes beyond the policy; the message has the clause.
            NeighboursError: As for the class.
        """
        return cls._of(Document.read(path), policy)

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any], *, policy: PolicyLike = None) -> Self:
        """Return the request of the tables of such a file.

        Raises:
            ParameterError, PolicyError, NeighboursError: As for ``read``.
        """
        return cls._of(Document(tables), policy)

    @classmethod
    def _of(cls, document: Document, policy: PolicyLike) -> Self:
        check_keys(document, "a request")
        with document.naming():
            limits = _policy(document, policy)
        values = document.values if limits is None else limits.filled(document)
        unit = values.get("unit", {})
        queries: dict[str, Query[Any]] = {}
        most = writing.MOST_VALUES if limits is None else limits.most_values
        with document.naming("queries"):
            asked = values.get("queries", ())
            validation.at_least("queries", len(asked), 1, MOST_QUERIES)
            writing.check_size(asked, most)
        for at, table in enumerate(asked):
            with document.naming("queries", at):
                query = _query(table, unit, most)
                _check_unit(query, unit)
                name = table.get("name") or _free_name(type(query).__name__, queries)
                _check_name(name, queries)
                queries[name] = query
        with document.naming("data"):
            request = cls(queries=queries, policy=limits, **document.read_as(values))
        if limits is not None:
            limits.check(request)
        return request

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file, in hexadecimal; without a file that of an empty text."""
        return hashlib.sha256(self.document.text.encode()).hexdigest()

    @cached_property
    def plan(self) -> Plan:
        """The plan of all queries together."""
        with self.document.naming("queries"):
            return sequential_plan([query.plan for query in self.queries.values()])

    def table(self) -> object:
        """Return the table as its engine holds it; no row is read.

        Raises:
            DataError: It cannot be opened.
        """
        with self.document.naming("data"), self._reading():
            return held(self.source, self.engine, master=self.master)

    def budget(self) -> Budget:
        """Return the budget to charge: the ledger, or one of the request's own price.

        Raises:
            LedgerError: There is no ledger at that path, or its totals are not those of the
                policy.
        """
        name, source, plan = self.document.name, str(self.source), self.plan
        file = "" if name is None else f"{name}, SHA-256 {self.sha256}"
        own, asked = self.policy, self.document
        named = asked if own is None or "ledger" in asked.values else own.document
        with named.naming("ledger"):
            if self.ledger is None:
                whom: dict[str, Any] = {"neighbours": plan.neighbours, "protects": plan.user}
                budget = Budget(plan.epsilon, plan.delta, composition="sum", **whom)
            elif own is None or "person" not in own.document.values:
                budget = Budget.open(self.ledger)
            elif self.ledger.exists():
                budget = own.budget()  # which raises where the ledger grants something else
            else:
                raise LedgerError(
                    f"the ledger {self.ledger} is not made yet: Policy.read(FILE).budget() of "
                    "dpselect makes it, with what [person] grants"
                )
        return budget.for_request(
            note=self.note or file,
            source=source if self.ledger is None else source_name(source, self.ledger),
            version=self.version,
            analyst=self.analyst,
            arguments=self.source.stated_rows,
        )

    def check(self) -> None:
        """Check that all queries can be read, by the table's schema alone.

        Raises:
            ColumnError: A column is missing, or not of its type.
            DataError: The table cannot be opened.
            PublicClaimError: The table contradicts a claim.
        """
        table = self.table()
        for at, query in enumerate(self.queries.values()):
            with self.document.naming("queries", at), self._reading(query):
                query.check(table)

    def release(self, *, budget: Budget | None = None) -> dict[str, Release[Any]]:
        """Draw all answers, by the names of their queries; see ``dpselect.run``.

        Args:
            budget: By default the one that ``budget`` returns.

        Raises:
            InsufficientBudgetError: The budget does not allow the sum; nothing was drawn.
            ColumnError, DataError, PublicClaimError: As for each query.
        """
        charged, queries = budget or self.budget(), list(self.queries.values())
        table = self.table()
        with self.document.naming("queries"), self._reading(*queries):
            found = run(queries, table, budget=charged)
        return dict(zip(self.queries, found, strict=True))

    @contextmanager
    def _reading(self, *queries: Query[Any]) -> Iterator[None]:
        """Keep to what a policy makes public in a block that reads data.

        A claim of the policy that the data contradict is written down, and none is told. Where
        a column is missing, the columns of the policy alone are named.
        """
        if self.policy is None:
            yield
            return
        claims = self.policy.resting(*queries)
        if self.policy.ledger is not None and self.source.is_csv:
            claims |= {name: writing.readable(getattr(self.source, name)) for name in READING}
        asked = {"analyst": self.analyst, "query": ", ".join(one.plan.name for one in queries)}
        with contradictions.kept(self.policy.ledger, claims, **asked):
            try:
                yield
            except ColumnError as raised:
                if raised.missing is None:
                    raise
                name = raised.missing
            else:
                return
            known = ", ".join(self.policy.columns or ())
            said = f"; the policy's are: {known}" if known else ""
            raise ColumnError(f"the table has no column {name!r}{said}")


def _check_name(name: object, others: Iterable[str]) -> None:
    """Raise unless a query can have a name, which differs from others by more than case."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParameterError(
            "a `name` has at most 60 letters, digits, - and _, since it names files; this is "
            f"{writing.summary(name)!r:.80}"
        )
    if name.casefold() in map(str.casefold, others):
        raise ParameterError(f"`name` {name!r} of `queries` is that of another query too")


def _query(table: Mapping[str, Any], unit: Mapping[str, Any], most: int) -> Query[Any]:
    kind = query_of(table.get("query"))
    known = fields_of(kind)
    given = {name: value for name, value in unit.items() if name in known}
    given |= {name: value for name, value in table.items() if name not in {"query", "name"}}
    for name in given:
        if name not in known and (place := place_of(name, "a request", in_query=True)):
            title = validation.one(kind.__name__)
            raise ParameterError(f"`{name}` is no field of {title}{place}")
    if kind.__name__ == "Percentiles":  # TOML has days and times, and no durations
        given = typed(given)
    query: Query[Any] = Query.from_dict({"query": table["query"], **given}, most_values=most)
    columns_of(query)
    return query


def _check_unit(query: Query[Any], unit: Mapping[str, Any]) -> None:
    """Raise unless a query protects what all are said to."""
    plan, stated = query.plan, unit.get("neighbours")
    same = stated is None or plan.neighbours is validation.neighbours(stated)
    if not same or (unit and plan.user != unit.get("user")):
        title = validation.one(plan.name)
        raise NeighboursError(
            f"{title} protects one {plan.user or 'record'} ({plan.neighbours}), and "
            f"[unit] says one {unit.get('user') or 'record'} ({stated or plan.neighbours})"
        )


def _policy(document: Document, given: PolicyLike) -> Policy | None:
    """Return the policy of a request: that which was given, or which the file names."""
    named = document.values.get("policy")
    path = None if named is None else Path(document.located(named))
    wanted = path if given is None else given
    policy = Policy.read(wanted) if isinstance(wanted, str | Path) else wanted
    if path and policy and path.resolve() != (policy.document.path or Path()).resolve():
        raise ParameterError("`policy` is another one than that which was given")
    return policy


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    """Return a name for an answer that was given none."""
    folded = {*map(str.casefold, taken)}
    numbered = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    return next(one for one in (name, *numbered) if one.casefold() not in folded)
