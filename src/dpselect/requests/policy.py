"""Policies: what requests of a data set must stay within."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Annotated, Any, Self, TypeGuard

from dpselect import validation, writing
from dpselect._numbers import exact
from dpselect.budget import Budget
from dpselect.budget.totals import Period
from dpselect.errors import ParameterError, PolicyError
from dpselect.neighbours import NeighboursLike
from dpselect.percentiles.candidates import ENDS, Quantity, Unit, typed
from dpselect.query import ANYTHING, NOTHING, Claim, Columns, Query, Released, claims_of
from dpselect.requests.document import (
    READING,
    Document,
    Form,
    anywhere,
    check_keys,
    claims_known,
    fields_of,
    query_of,
    titles,
)
from dpselect.tables.groups import listed_groups
from dpselect.tables.kinds import checked_names
from dpselect.tables.lists import lines_of

NEEDED = (("unit", "neighbours"), ("release", "epsilon"))
"""Keys of every policy, beside the path of its table."""


def _asked(name: str, given: Any) -> tuple[str, ...]:  # noqa: ANN401 -- checked here
    return tuple(validation.one_of(name, one, titles()) for one in given)


@dataclass(frozen=True, kw_only=True)
class Policy(Form):
    """Limits of the requests of one data set; public.

    A policy is read from a file in TOML:

        ledger = "clinic.budget"

        [data]
        path = "stays.parquet"

        [unit]
        neighbours = "add-remove"
        user = "patient"
        max_per_user = 5

        [release]                              # at most, of one query
        queries = ["TopKeys", "Percentiles"]
        epsilon = 1.0

        [person]                               # at most, of all releases
        epsilon = 10.0
        period = "year"
        period_unit = "each-period"
        shares = { alice = 4.0 }

        [columns.days]
        lower = 0
        upper = 60
        step = 1

        [columns.ward]
        candidates = ["heart", "lung", "skin"]     # or a file of one per line: "wards.txt"

        [claims]                               # what is declared public of the data
        assumed_people = 20_000

    ``path``, ``neighbours`` and the ``epsilon`` of a release are needed. A request may ask for
    fewer rows of the table (``where``), count fewer rows of a person and release fewer values.
    What a request leaves out is filled in: the table, the ledger, the unit, and bounds and
    candidates of the columns, and claims. With ``[columns]`` no other column is read but the
    ``user``, of whom no value is released.

    What queries declare public of the data has the value of ``[claims]``, by the name of their
    field: ``n``, ``d``, ``records``, ``max_records``, ``max_degree``, ``positive``, ``label``
    (``""`` for row numbers, whose order is then public), ``on_invalid`` and ``measure``; a
    query that rests on another value, or on one that is not stated, is refused.
    ``assumed_people`` and ``assumed_records``, which no data contradict, are free without
    ``[claims]``. A claim that the data contradict stops what rests on it
    (``dpselect.requests.contradictions``).

    Attributes:
        source: The table, how it is written if it is a text file, and comparisons that all
            rows must pass.
        engine: Engine that holds the rows where a request names no other.
        master: Address of the Spark master.
        version: Version of the table.
        ledger: The ledger that requests are charged to.
        user: The column of persons that requests protect; if None, any column or none.
        max_per_user: Largest number of rows counted per person.
        queries: The classes of queries that may be asked.
        columns: The values of each column that may be released; None if there is no such limit.
        claims: What is declared public of the data, by the fields of queries; None if there is
            no limit of what no data contradict.
        epsilon: Largest price of a release, in nats.
        delta: The same; 0 if not given.
        most_values: Values that the queries of a request may hold, with those of ranges.
        neighbours: The relation that all releases are stated for.
        document: The file.

    Raises:
        ParameterError: A value is out of its range, or a query does not exist.
        NeighboursError: There is no such relation.
    """

    user: str | None = None
    max_per_user: int | None = None
    queries: Annotated[tuple[str, ...], _asked] = field(default_factory=lambda: tuple(titles()))
    columns: Mapping[str, Released] | None = None
    claims: Mapping[str, Any] | None = None
    epsilon: Annotated[float, validation.positive]
    delta: Annotated[float, validation.numbers(0, 1)] = 0.0
    most_values: Annotated[int, validation.integers(1)] = writing.MOST_VALUES
    neighbours: NeighboursLike

    def __post_init__(self) -> None:
        validation.keep_checked(self, neighbours=validation.neighbours(self.neighbours))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return the policy of a file.

        Raises:
            DataError: There is no such file.
            ParameterError: It is not TOML, a key is unknown, or a value is of a wrong type or
                out of its range; the message has the line of the key.
            NeighboursError: There is no such relation.
        """
        return cls._of(Document.read(path))

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> Self:
        """Return the policy of the tables of such a file.

        Raises:
            ParameterError, NeighboursError: As for ``read``.
        """
        return cls._of(Document(tables))

    @classmethod
    def _of(cls, document: Document) -> Self:
        check_keys(document, "a policy")
        values = document.values
        for table, key in NEEDED:
            if key not in document.table(table):
                with document.naming(table):
                    raise ParameterError(f"a policy needs `{key}` in [{table}]")
        with document.naming("data"):
            given = {**document.table("unit"), **values["release"], **document.read_as(values)}
        if "columns" in values:
            columns = values["columns"].items()
            given["columns"] = {name: _column(document, name, one) for name, one in columns}
        if "claims" in values:
            given["claims"] = _claims(document)
        with document.naming("unit"):
            given["neighbours"] = validation.neighbours(given["neighbours"])
            if "max_per_user" in given:
                validation.at_least("max_per_user", given["max_per_user"], 1)
        with document.naming("release"):
            made = cls(**given)
        if "person" in values:
            with document.naming("person"):
                made._granted()
        return made

    def _granted(self, path: Path | None = None) -> Budget:
        """Return a budget of what ``[person]`` grants.

        Raises:
            ParameterError: There is no ``ledger`` or ``epsilon``, or it grants what cannot be.
            LedgerError: The ledger at ``path`` has other totals.
        """
        whom = {"neighbours": self.neighbours, "protects": self.user}
        person: dict[str, Any] = {**self.document.table("person"), **whom}
        for name, is_there in (("ledger", self.ledger), ("epsilon", "epsilon" in person)):
            if not is_there:
                raise ParameterError(f"[person] needs `{name}`: else it limits nothing")
        length, unit = person.pop("period", None), person.pop("period_unit", None)
        period = None if length is None and unit is None else Period(length, unit)
        return Budget(**person, period=period, path=path)

    def budget(self) -> Budget:
        """Return the ledger of the policy, with what ``[person]`` grants; made if not there.

        Raises:
            ParameterError: There is no ``ledger``, or no ``[person]``.
            LedgerError: The ledger has other totals.
        """
        with self.document.naming("person"):
            return self._granted(self.ledger)

    def filled(self, document: Document) -> dict[str, Any]:
        """Return the tables of a request, with what they leave out.

        Args:
            document: The request, whose keys are known and of their types.
        """
        asked, rows = dict(document.values), document.table("data")
        data = {**self.document.table("data"), **rows}
        engine = data.get("engine", "memory")
        path = document.located(data["path"], engine) if "path" in rows else str(self.source)
        # What is compared with the policy is what is read: a pattern with `..` could be both.
        data["path"] = anywhere(path, engine)
        data["where"] = tuple(dict.fromkeys((*self.source.where, *data.get("where", ()))))
        if self.ledger is not None:
            asked.setdefault("ledger", anywhere(str(self.ledger)))
        unit = {**self.document.table("unit"), **document.table("unit")}
        queries = []
        for at, table in enumerate(asked.get("queries", ())):
            with document.naming("queries", at):
                queries.append(self._filled(table))
        return {**asked, "data": data, "unit": unit, "queries": queries}

    def _filled(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """Return the table of a query with the bounds and candidates of its columns."""
        limits, column, kind = (
            self.columns or {},
            table.get("column"),
            query_of(table.get("query")),
        )
        held, claimed = fields_of(kind), claims_of(kind)
        more: dict[str, Any] = {}
        if isinstance(column, str):
            self._check_known(column)  # before what could not be filled in is missed
            known = limits.get(column, Released())
            if "candidates" in held and not {*ENDS} & {*table}:
                more["candidates"] = known.listed
            is_text = "step" in held and any(isinstance(one, str) for one in known.listed or ())
            said = f"column {column!r} is of text, which has no percentiles"
            self._must(not is_text, said, f"[columns.{column}]")
            if "step" in held and not {"candidates"} & {*table, *filter(more.get, more)}:
                more |= {"lower": known.low, "upper": known.high, "step": known.step}
        by: Any = table.get("by")
        names = [by] if isinstance(by, str) else by if isinstance(by, list) else []
        lists = {one: limits[one].listed for one in map(str, names) if one in limits}
        if names and len(lists) == len(names) and None not in lists.values():
            more["groups"] = lists[by] if isinstance(by, str) else lists
        axes = [limits.get(str(table.get(axis)), Released()) for axis in ("x", "y")]
        ends = [one.low for one in axes] + [one.high for one in axes]
        if "bounds" in held and None not in ends:
            more["bounds"] = ends
        more |= {one: value for one, value in (self.claims or {}).items() if one in claimed}
        if "max_degree" in more and not _takes_max_degree(table.get("metric")):
            del more["max_degree"]
        filled = {**{key: one for key, one in more.items() if one is not None}, **table}
        self._check_claims(claimed, filled)
        return filled

    def check(self, request: Any) -> None:  # noqa: ANN401 -- one whose module reads policies
        """Raise unless a request stays within the policy.

        Raises:
            PolicyError: It does not; the message has the clause.
        """
        source, given, must = request.source, request.document.naming, self._must
        with given("data"):
            same = anywhere(str(source)) == anywhere(str(self.source))
            must(same, f"`path` must be '{self.source}'", "[data] path")
            for name in READING:  # lines to skip, say, would make a person's record the header
                same = getattr(source, name) == getattr(self.source, name)
                same &= name not in request.document.table("data")
                must(same, f"`{name}` is the policy's to state", f"[data] {name}")
            same = request.master == self.master
            must(same, "`master` is the policy's to state", "[data] master")
            for one in self.source.where:
                must(one in source.where, f"`where` must have {one!r}", "[data] where")
            for compared in source.comparisons:
                self._check_known(compared.column)
        with given():
            ledgers = [one and anywhere(str(one)) for one in (self.ledger, request.ledger)]
            same = ledgers[0] in {None, ledgers[1]}
            must(same, f"`ledger` must be '{self.ledger}'", "ledger")
        for at, query in enumerate(request.queries.values()):
            with given("queries", at):
                self._check_query(query)

    def _check_query(self, query: Query[Any]) -> None:
        plan, must, known = query.plan, self._must, type(query).__name__ in self.queries
        must(known, f"`query` must be one of {', '.join(self.queries)}", "[release] queries")
        for price in ("epsilon", "delta"):
            most, asked = getattr(self, price), getattr(plan, price)
            said = f"`{price}` {asked:g} is more than {most:g}"
            must(asked <= most, said, f"[release] {price}")
        same = plan.neighbours is self.neighbours
        must(same, f"`neighbours` must be {self.neighbours}", "[unit] neighbours")
        must(self.user in {None, plan.user}, f"`user` must be {self.user!r}", "[unit] user")
        most, rows = self.max_per_user, getattr(query, "max_per_user", None)
        within = most is None or rows is None or rows <= most
        must(within, f"`max_per_user` {rows} is more than {most}", "[unit] max_per_user")
        claimed = claims_of(type(query))
        self._check_claims(claimed, {name: getattr(query, name) for name in claimed})
        for column, released in columns_of(query):
            if column == self.user and released == NOTHING:
                continue  # whom it protects; a column that is listed may be released
            self._check_known(column)
            said = _wider(column, released, (self.columns or {}).get(column))
            must(not said, said, f"[columns.{column}]")

    def _check_claims(self, claims: Mapping[str, Claim], stated: Mapping[str, Any]) -> None:
        """Refuse another claim than that of the policy.

        An error that depends on private values costs nothing and can be asked for again, of
        the rows of one person: what makes one is for the curator to declare.
        """
        known = self.claims or {}
        for name, claim in claims.items():
            asked = writing.frozen(stated.get(name, next(iter(claim.nothing), None)))
            if asked in claim.nothing or (self.claims is None and not claim.can_fail):
                continue
            unknown = "be stated here" if claim.can_fail else "not be said"
            self._must(name in known, f"`{name}` must {unknown}", f"[claims] {name}")
            right = "be left out" if known[name] is None else f"be {known[name]!r}"
            said = f"`{name}` must {right}, not {writing.summary(asked)!r}"
            self._must(asked == known[name], said, f"[claims] {name}")

    def stated(self, kind: type[Query[Any]]) -> set[str]:
        """Return the fields of a query that are the policy's alone to state."""
        claims = claims_of(kind).items()
        return {name for name, one in claims if one.can_fail or self.claims is not None}

    def resting(self, *queries: Query[Any]) -> dict[str, Any]:
        """Return the claims that queries rest on and data can contradict, as plain values."""
        return {
            name: writing.readable(value)
            for query in queries
            for name, claim in claims_of(type(query)).items()
            if claim.can_fail and (value := getattr(query, name)) not in claim.nothing
        }

    def _check_known(self, column: str) -> None:
        said = f"column {column!r} is not one of {', '.join(self.columns or ())}"
        self._must(self.columns is None or column in self.columns, said, "[columns]")

    def _must(self, is_within: object, said: str, clause: str) -> None:
        """Raise unless a request stays within a clause.

        Raises:
            PolicyError: It does not.
        """
        if not is_within:
            where = ", ".join(filter(None, [clause, self.document.name]))
            raise PolicyError(f"{said} (policy {where})")


def columns_of(query: Query[Any]) -> Columns:
    """Return what a query reads, with the columns of groups and of persons.

    Raises:
        ParameterError: It is no query of a table.
        ColumnError: It does not name a column.
    """
    by, groups, user = (getattr(query, field, None) for field in ("by", "groups", "user"))
    names = checked_names(by, "by")
    listed: Any = listed_groups(names, groups)
    parts = zip(*([one] if len(names) == 1 else one for one in listed or ()), strict=True)
    of_parts = [Released(listed=tuple(dict.fromkeys(part))) for part in parts]
    more = zip(names, of_parts or [ANYTHING] * len(names), strict=True)
    return (*query.reads(), *more, *([] if user is None else [(user, NOTHING)]))


def _takes_max_degree(metric: object) -> bool:
    from dpselect.networks.metrics import METRICS

    named = metric if isinstance(metric, list | tuple) else (metric,)
    return any(one.takes_max_degree for name, one in METRICS.items() if name in named)


def _claims(document: Document) -> dict[str, Any]:
    """Return what the table [claims] declares public of the data."""
    stated: dict[str, Any] = writing.frozen(document.values["claims"])
    with document.naming("claims"):
        for name, value in stated.items():
            kind, claim = claims_known()[name]
            if kind is int:
                validation.at_least(name, value, 0)
            if claim.can_fail and "ledger" not in document.values:
                raise ParameterError(
                    f"`{name}` needs `ledger`, beside which it is written down if the data "
                    "contradict it"
                )
    return {name: None if one == "" else one for name, one in stated.items()}


def _column(document: Document, name: str, table: Mapping[str, Any]) -> Released:
    """Return what a table of [columns] allows to release."""
    with document.naming("columns", name):
        listed = table.get("candidates")
        if isinstance(listed, str):
            listed = lines_of(document.located(listed), "a list of one value per line")
        ends: dict[str, Any] = typed({one: table.get(one) for one in ENDS})
        for end, value in ends.items():
            if value is not None and not _is_quantity(value):
                said = "must be a number, a date, a time, or a duration such as 1d"
                raise ParameterError(f"`{end}` {said}")
        low, high, step = ends.values()
        if listed is not None and not isinstance(listed, list | tuple):
            raise ParameterError("`candidates` must be a list, or a file of one per line")
        if listed is not None and len(table) > 1:
            raise validation.candidates_and_range()
        span = Unit.of([one for one in (low, high) if one is not None], step).span(step)
        if span is not None and not (span > 0 and low is not None and low not in {inf, -inf}):
            raise ParameterError("`step` must be above 0, and goes with a finite `lower`")
        values = None if listed is None else writing.from_json("candidates", listed)
        if any(isinstance(one, Mapping | tuple) for one in values or ()):
            raise ParameterError("`candidates` must be texts, numbers, days or truth values")
        return Released(listed=values, low=low, high=high, step=step, anything=not table)


def _is_quantity(value: object) -> TypeGuard[Quantity]:
    return isinstance(value, int | Quantity) and not isinstance(value, bool)


def _wider(column: str, asked: Released, limit: Released | None) -> str:
    """Return what of a column may be released beyond a limit, in words; nothing if none is."""
    if limit is None or limit.anything or asked == NOTHING:
        return ""
    if asked.anything:
        return f"any value of {column!r} could be released: give `candidates`"
    if limit.listed is not None:
        if asked.listed is None:
            return f"the values of {column!r} are listed: give `candidates`"
        # True and 1 are equal.
        allowed = {(isinstance(one, bool), one) for one in limit.listed}
        beyond = [one for one in asked.listed if (isinstance(one, bool), one) not in allowed]
        return f"{beyond[0]!r} is no candidate of {column!r}" if beyond else ""
    values: Any = (asked.low, asked.high) if asked.listed is None else asked.listed
    if all(map(_is_quantity, values)):
        return _outside(column, asked, limit, values)
    return f"{column!r} has numbers, and not all that may be released are some"


def _outside(column: str, asked: Released, limit: Released, numbers: Sequence[Quantity]) -> str:
    """Return which number may be released that is out of bounds or no step, in words."""
    ends = [one for one in (limit.low, limit.high) if one is not None]
    try:
        unit = Unit.of([*ends, *numbers], limit.step)
    except (ParameterError, TypeError):
        return f"{column!r} is limited in another unit"
    low = -inf if limit.low is None else unit.coded(limit.low)
    high = inf if limit.high is None else unit.coded(limit.high)
    for one in numbers:
        if not low <= unit.coded(one) <= high:
            return f"{writing.as_text(one)} is outside of the bounds of {column!r}"
    if limit.step is None:
        return ""
    distances = [exact(unit.coded(one)) - exact(low) for one in numbers]
    if asked.listed is None:
        # What is binned has no step, and no number of it is released.
        distances = [distances[0], exact(unit.span(asked.step))] if asked.step else []
    if any(distance % exact(unit.span(limit.step)) != 0 for distance in distances):
        step, first = writing.as_text(limit.step), writing.as_text(limit.low)
        return f"numbers of {column!r} must be whole steps of {step} from {first}"
    return ""
