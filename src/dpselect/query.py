"""Queries: releases before their data.

A query is made of public arguments alone. It can be planned, compared, written to a file and
read again, and run on data as often as a budget allows. ``Query.release`` alone puts the steps
of a release in order: check the budget, read and count, charge, draw, record.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache, cached_property, partial
from importlib import import_module
from itertools import repeat
from numbers import Real
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Self,
    TypeAlias,
    TypeVar,
    dataclass_transform,
    final,
    get_args,
    get_origin,
    get_type_hints,
)

from dpselect import validation, writing
from dpselect._optional import silent, stated
from dpselect.errors import ColumnError, ParameterError, nearest, not_installed
from dpselect.neighbours import Neighbours
from dpselect.passes import noting, stated_rows
from dpselect.plan import Plan, Receipt, SupportsSpend, reserve, sequential_plan
from dpselect.release import Release

if TYPE_CHECKING:
    from dpselect.budget.entry import Entry

Out = TypeVar("Out", bound=Release[Any])
Fields = TypeVar("Fields")
T = TypeVar("T")

GROUP = "dpselect.queries"
"""Entry points of classes by their titles: those that ``dpselect`` does not offer itself."""

SCHEMA = 1
"""Version of the written form of queries."""

FLOATS = ("epsilon", "delta")
"""Fields that are kept as floats of Python, so that 1 and 1.0 are one price."""

OF_PRICES = {"epsilon", "delta", "neighbours"}
"""Fields that a plan states of itself."""

NAMING = ("column", "label", "x", "source")
"""Fields of which one names what is read of a table. A query without them reads what it is
given, such as scores: it does not say what it asks of a source."""


class Claim:
    """Mark of a field that declares something public of the data, by ``typing.Annotated``.

    What the data are is for a curator to declare: under a policy such a field has the policy's
    value (``dpselect.Policy``).

    Args:
        nothing: Values that declare nothing; without them every value declares something.
        can_fail: Whether data can contradict it, which an error then tells.
    """

    def __init__(self, *nothing: Hashable, can_fail: bool = True) -> None:
        self.nothing, self.can_fail = nothing, can_fail


@dataclass(frozen=True, slots=True)
class Released:
    """Values of a column that a query may release; public.

    Attributes:
        listed: These values alone.
        low: Numbers, dates, times or durations from this one on.
        high: Those up to this one.
        step: Those that are whole steps above ``low``; any between if None.
        anything: Whatever the column holds. Nothing at all, if neither this nor another
            attribute says more.
    """

    listed: tuple[Hashable, ...] | None = None
    low: Any = None
    high: Any = None
    step: Any = None
    anything: bool = False


NOTHING, ANYTHING = Released(), Released(anything=True)

Columns: TypeAlias = tuple[tuple[str, Released], ...]
"""Every column that a query reads, with what may be released of it."""

Draw = Callable[[Plan], Out]
"""Draws once and returns what may be published, with the plan that was charged."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def query(kind: type[Fields]) -> type[Fields]:
    """Make a class of annotated fields a query: frozen, its fields given by keyword.

    Queries are compared and printed by ``Query`` itself.
    """
    return dataclass(frozen=True, kw_only=True, eq=False, repr=False)(kind)


@dataclass(frozen=True, kw_only=True)
class Design(ABC, Generic[Out]):
    """All that is decided of a release before the data are read, and how to go on from there.

    Attributes:
        plan: What is public of the release; the query adds its name and its arguments.
        exact: Whether the library's own samplers draw.
        rows: How rows are read, with a method that checks their schema; None if there is none.
    """

    plan: Plan
    exact: bool = True
    rows: Any = None

    def check(self, data: Any) -> None:  # noqa: ANN401 -- each design takes its own data
        """Check that data can be read, by their schema alone; by default nothing is checked.

        Raises:
            ColumnError, DataError: As for the release.
        """
        if self.rows is not None:
            self.rows.check(data)

    @abstractmethod
    def prepare(self, data: Any) -> Draw[Out]:  # noqa: ANN401 -- each design takes its own data
        """Read and count, and return the draw; after all that can fail, before the charge."""


_RECEIPT: ContextVar[Receipt | None] = ContextVar("receipt", default=None)
"""That of the draw that is being made."""


def keep(drawn: Release[Any]) -> None:
    """Keep what was drawn, and paid for, before more is worked out that costs nothing.

    Neither an error nor the end of this process loses it then.
    """
    if (receipt := _RECEIPT.get()) is not None:
        receipt.keep(drawn.released(), is_last=False)


class Query(ABC, Generic[Out]):
    """A release before its data; subclasses define what is chosen and document their fields.

    All fields are checked when a query is made: by their annotations, where ``Literal`` states
    texts and ``Annotated`` a check such as ``validation.positive``, and by ``design``. A None
    that is a default needs no check. Lists and arrays among them become tuples of Python's
    numbers, names of relations become ``Neighbours``, and mechanisms given by their
    class their short name, so queries can be compared and written down.

    Raises:
        ParameterError: A field is out of its range, or does not go with another.
        NeighboursError: The relation does not fit.

    Examples:
        >>> import dpselect as dp
        >>> top = dp.TopKeys(
        ...     column="fruit", k=1, candidates=["fig", "pear"], epsilon=1.0,
        ...     neighbours="add-remove",
        ... )
        >>> print(top.plan)
        TopKeys: PermuteAndFlip(epsilon=1.0)
        epsilon 1 (add-remove neighbours)
          1 x 1  one candidate, without replacement
        composition: sequential: the prices of all steps add up
        error: at most 3.689 people below the best with probability 0.95, on any data
        declared public: the candidates, k
        >>> dp.Query.from_json(top.to_json()) == top
        True
    """

    kinds: ClassVar[dict[str, type[Query[Any]]]] = {}
    """Every class of queries that was imported, by its name."""

    def __new__(cls, *args: object, **given: object) -> Self:
        """Check that fields are given by name, those that it has and all that it needs."""
        known, title = _defaults(cls), validation.one(cls.__name__)
        if args:
            raise ParameterError(f"{title} takes its fields by name")
        for name in sorted(given.keys() - known.keys()):
            own = "; its plan states a relation of its own" if name == "neighbours" else ""
            meant = nearest(name, known).replace("'", "`")
            raise ParameterError(f"{title} has no field `{name}`{own or meant}")
        missing = [one for one in known if known[one] is MISSING and one not in given]
        if missing:
            said = writing.documented(cls)
            named = "; ".join(f"`{one}` ({said.get(one, '').rstrip('.')})" for one in missing)
            raise ParameterError(f"{title} needs {named}")
        return super().__new__(cls)

    def __init_subclass__(cls) -> None:
        if not cls.__name__.startswith("_"):
            Query.kinds[cls.__name__] = cls

    @final
    def __post_init__(self) -> None:
        for name, given in self._values().items():
            if type(given) in writing.KEPT and name not in OF_PRICES:
                continue  # as it is
            keeping = validation.neighbours if name == "neighbours" else writing.frozen
            try:
                kept = keeping(given)
            except RecursionError:
                raise ParameterError(f"`{name}` is nested too deeply") from None
            if name in FLOATS and type(kept) not in {float, bool} and isinstance(kept, Real):
                with suppress(OverflowError):  # of a larger number a check says so
                    kept = float(kept)
            object.__setattr__(self, name, kept)
        validation.checked(self)
        _ = self.plan

    @abstractmethod
    def design(self) -> Design[Out]:
        """Check all fields and decide on everything that is public; reads no data."""

    @cached_property
    def _designed(self) -> Design[Out]:
        try:
            return self.design()
        except ArithmeticError:
            given = [name for name in self._given if isinstance(getattr(self, name), Real)]
            raise ParameterError(
                f"{self._title} cannot be computed with such numbers: one of "
                f"{', '.join(f'`{name}`' for name in given)} is too small or too large"
            ) from None

    @property
    def _title(self) -> str:
        return validation.one(type(self).__name__)

    @cached_property
    def plan(self) -> Plan:
        """The steps of a release with their prices, and a bound on its error; public."""
        name, user = type(self).__name__, getattr(self, "user", None)
        # The fields that were given, for people.
        given = {one: getattr(self, one) for one in self._given if one not in OF_PRICES}
        # A range stays one, which may have a million values.
        arguments = {
            one: value if isinstance(value, range) else writing.readable(value)
            for one, value in given.items()
        }
        return replace(
            self._designed.plan, name=name, arguments=arguments, user=user, query=self
        )

    def reads(self) -> Columns:
        """Return the columns of a table that it reads, but those of groups and of persons.

        Raises:
            ParameterError: It is no query of a table; by default none is.
            ColumnError: It does not name a column.
        """
        raise ParameterError(f"{self._title} is no question of a table")

    def column_named(self, field: str = "column") -> Any:  # noqa: ANN401 -- a name, or several
        """Return the column that a field names, or several.

        Raises:
            ColumnError: It names none.
        """
        column = getattr(self, field)
        if column is None:
            raise ColumnError(f"{self._title} of a table needs `{field}`")
        return column

    @property
    def counts_what_it_scores(self) -> bool:
        """Whether scores are counts, so that a score of 0 says that nothing is there."""
        return False

    def heads(self) -> tuple[str, str]:
        """Return what a candidate is, and its noisy score, as heads of a table."""
        return "answer", "score, noisy"

    def predicted(self) -> dict[str, object]:
        """Return what is known of an answer beside the plan, by name; public, in words.

        Such as its distance from the truth in units of a column. By default nothing.
        """
        return {}

    @cached_property
    def written_form(self) -> dict[str, Any]:
        """``to_dict``; where a field holds a function, its name stands for it."""
        return self._written(lambda _name, value: writing.label(value))

    @cached_property
    def is_repeatable(self) -> bool:
        """Whether ``to_dict`` says all that is asked of a source.

        It has a written form without functions and names what it reads.
        """
        if all(getattr(self, one, None) is None for one in NAMING):
            return False
        functions: list[str] = []
        self._written(lambda name, _value: functions.append(name))
        return not functions

    def check_where(self, where: object) -> None:
        """Refuse to keep some rows under substitution.

        Of a row that is replaced ``where`` can keep one version and drop the other. Then there
        is one less, which no guarantee for a replaced row has to cover.

        Args:
            where: Comparisons; any if there are some.

        Raises:
            ParameterError: Some rows are kept, and the number of rows is public.
        """
        if where and self.plan.neighbours is Neighbours.SUBSTITUTE:
            raise ParameterError(
                "`where` goes with `neighbours`=add-remove: of a row that is replaced it can "
                "keep one version and drop the other, which changes how many rows there are"
            )

    @final
    def check(self, data: Any) -> None:  # noqa: ANN401 -- each query takes its own data
        """Check that data can be read, by their schema alone: no private value is looked at.

        Raises:
            ColumnError: A column is missing, or not of its type.
            DataError: The data cannot be opened.
        """
        self._naming_columns(self._designed.check, data)

    @final
    def release(self, data: Any, *, budget: SupportsSpend | None = None) -> Out:  # noqa: ANN401
        """Draw from data, exactly; the returned release may be published.

        The budget is checked before any row is read. It is charged once, after everything that
        can fail and before anything is drawn. The part of the price that an outcome did not
        need is refunded. A budget that knows the source and has the answer to the same query of
        it returns that answer at no cost (``dpselect.Budget.for_request``); ``repeated`` is
        then True.

        Args:
            data: The data to choose from. Private.
            budget: Where to record the spend, such as a ``Budget``.

        Raises:
            ColumnError: A column is missing, or not of its type.
            DataError: The data cannot be read.
            PublicClaimError: The data contradict what a field declares public.
            InsufficientBudgetError: The budget does not allow it; nothing was drawn.
            NeighboursError: The budget is kept for another neighbour relation.
        """
        return _released([self], data, budget)[0]

    @final
    def prepare(self, data: Any) -> Draw[Out]:  # noqa: ANN401 -- each query takes its own data
        """Read and count, and return the draw, which charges nothing.

        Raises:
            ColumnError, DataError, PublicClaimError: As for ``release``.
        """
        return self._naming_columns(self._designed.prepare, data)

    def to_dict(self) -> dict[str, Any]:
        """Return the query as plain values that JSON can hold; None is left out by default.

        Raises:
            ParameterError: A field holds a function, which cannot be written down.
        """
        return self._written(writing.refused)

    def to_json(self) -> str:
        """Return ``to_dict`` as one line of JSON; equal queries have equal text."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_dict(
        cls, fields_: Mapping[str, Any], *, most_values: int = writing.MOST_VALUES
    ) -> Self:
        """Return the query that ``to_dict`` wrote.

        Args:
            fields_: The fields by name.
            most_values: How many values the fields may hold, with those of ranges.

        Raises:
            ParameterError: It is not a query of this class, it is of another version of the
                schema, it holds too many values, or a field is missing, unknown or out of its
                range.
        """
        writing.check_size(fields_, most_values)
        if fields_.get("dpselect", SCHEMA) != SCHEMA:
            raise ParameterError(f"a query must be of schema {SCHEMA}: `dpselect`={SCHEMA}")
        kind = kind_of(fields_.get("query"))
        if not issubclass(kind, cls):
            found, asked = validation.one(kind.__name__), validation.one(cls.__name__)
            raise ParameterError(f"the query is {found}, not {asked}")
        head = {"dpselect", "query"}
        given = {name: one for name, one in fields_.items() if name not in head}
        return kind(**{name: writing.from_json(name, one) for name, one in given.items()})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the query that ``to_json`` wrote.

        Raises:
            ParameterError: As for ``from_dict``, or it is not a JSON object.
        """
        try:
            found = json.loads(text, object_pairs_hook=writing.once)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ParameterError("a query must be one JSON object")
        return cls.from_dict(found)

    def _naming_columns(self, read: Callable[[Any], T], data: Any) -> T:  # noqa: ANN401
        """Add to the error of a missing column which field names it, if none was given."""
        try:
            return read(data)
        except ColumnError as error:
            for name, value in self._values().items():
                named = value if isinstance(value, tuple) else (value,)
                if name not in self._given and error.missing in named and error.missing:
                    raise error.adding(f"; name yours by `{name}`") from None
            raise

    def _values(self) -> dict[str, Any]:
        held = vars(self)
        return {name: held[name] for name in _defaults(type(self))}

    def _written(self, otherwise: Callable[[str, object], object]) -> dict[str, Any]:
        defaults = _defaults(type(self))
        written = {
            name: writing.to_json(value, partial(otherwise, name))
            for name, value in self._values().items()
            if value is not None or defaults[name] not in (MISSING, None)
        }
        return {"dpselect": SCHEMA, "query": _title(type(self)), **written}

    @cached_property
    def _given(self) -> list[str]:
        """The fields that are not at their defaults."""
        defaults = _defaults(type(self))
        return [
            name
            for name, value in self._values().items()
            if value is not (usual := defaults[name])
            and not (type(value) is type(usual) and value == usual)
        ]

    def _text(self) -> str:
        """Return a text that equal queries share; a function is equal to itself alone."""
        return json.dumps(self._written(lambda _name, value: {"object": id(value)}))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Query) or type(other) is not type(self):
            return NotImplemented
        return self._text() == other._text()

    def __hash__(self) -> int:
        return hash(self._text())

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), **self._values()), ()

    def __repr__(self) -> str:
        shown = (f"{name}={writing.summary(getattr(self, name))!r}" for name in self._given)
        return f"{type(self).__name__}({', '.join(shown)})"


def run(
    queries: Sequence[Query[Out]],
    data: Any,  # noqa: ANN401 -- each query takes its own data
    *,
    budget: SupportsSpend | None = None,
) -> tuple[Out, ...]:
    """Release several queries of the same data; the budget is charged for all or none.

    The sum of all prices is checked before any row is read. All queries are counted, then all
    prices are charged in one step, each as an entry of its own, and then all are drawn. If
    drawing fails after the charge, the charge is not undone. Queries that the budget has
    answered before cost nothing, as in ``Query.release``.

    Guarantee:
        That of ``dpselect.sequential_plan`` of the plans, against an analyst who chose all
        queries before the first answer.

    Args:
        queries: What is released, for one neighbour relation.
        data: What to choose from. Private.
        budget: Where to record the spends, such as a ``Budget``.

    Returns:
        The releases, in the order of the queries.

    Raises:
        ParameterError: There is no query.
        NeighboursError: The queries, or the budget, are for several neighbour relations.
        InsufficientBudgetError: The budget does not allow the sum; nothing was drawn.
        ColumnError, DataError, PublicClaimError: As for ``Query.release``.

    Examples:
        >>> import dpselect as dp
        >>> wards = dict(column=None, candidates=["heart", "lung"], neighbours="add-remove")
        >>> first, both = dp.run(
        ...     [dp.TopKeys(k=1, epsilon=9.0, **wards), dp.TopKeys(k=2, epsilon=1.0, **wards)],
        ...     ["heart"] * 9 + ["lung"] * 2,
        ...     budget=dp.Budget(10.0, neighbours="add-remove"),
        ... )
        >>> first.answer, sorted(both.answer), both.entry
        (('heart',), ['heart', 'lung'], 2)
    """
    asked = [validation.instance("queries", one, Query) for one in queries]
    sequential_plan([one.plan for one in asked])  # raises what does not go together
    return _released(asked, data, budget)


@silent
def _released(
    queries: Sequence[Query[Out]],
    data: Any,  # noqa: ANN401 -- each query takes its own data
    budget: SupportsSpend | None,
) -> tuple[Out, ...]:
    """Return releases of the same data, all or nothing as to the budget."""
    where = stated_rows(data).get("where")
    for one in queries if where else ():
        one.check_where(where)
    if budget is not None and hasattr(budget, "for_rows_of"):
        budget = budget.for_rows_of(data)
    entries = [(one, one.plan.answered(budget)) for one in queries]
    new = [one for one, entry in entries if entry is None]
    charge = reserve([one.plan for one in new], budget)
    if len(new) > 1:
        data = list(data) if isinstance(data, Iterator) else data
        for one in new:
            one.check(data)
    with noting() as read:
        draws = [one.prepare(data) for one in new]
        drawn = map(_drawn, new, draws, charge(), repeat(read))
        # A list first: its loop needs no generator.
        made = [
            next(drawn) if entry is None else _repeated(one, entry) for one, entry in entries
        ]
    return (*made,)


def _drawn(query: Query[Out], draw: Draw[Out], receipt: Receipt, read: list[str]) -> Out:
    """Draw what was charged, and keep it with what was noted of reading."""
    before = _RECEIPT.set(receipt)
    try:
        made = draw(query.plan)
    finally:
        _RECEIPT.reset(before)
    more = {
        "exact": made.exact and query._designed.exact,  # noqa: SLF001 -- its own
        "read": "; ".join(read),
        # What is certain of the counted rows is not certain of all.
        "certain": None if query.plan.counted else made.certain,
    }
    repeatable = type(made) is _kind_of_release(type(query))
    return made.recorded(receipt, repeatable=repeatable, **more)


def _repeated(query: Query[Out], entry: Entry) -> Out:
    """Return the release that an entry keeps."""
    of = f"version {entry.source_version}" if entry.source_version else "no version"
    more = {
        "entry": entry.sequence,
        "version": entry.version,
        "repeated": True,
        "answered": f"at {entry.time[:16]} UTC, of {of} of the data",
    }
    kind = _kind_of_release(type(query))
    made: Out = kind.remade(entry.release or {}, plan=query.plan, **more)
    return made


@cache
def _kind_of_release(kind: type[Query[Any]]) -> type[Any]:
    """Return what a class of queries releases: the argument of its base."""
    for base in kind.__mro__:
        for parent in getattr(base, "__orig_bases__", ()):
            for named in get_args(parent):
                found = get_origin(named) or named
                if isinstance(found, type) and issubclass(found, Release):
                    return found
    return Release


@cache
def claims_of(kind: type[Query[Any]]) -> Mapping[str, Claim]:
    """Return the fields of a class that declare something public of the data."""
    hints = get_type_hints(kind, include_extras=True).items()
    return {
        name: one for name, hint in hints for one in get_args(hint) if isinstance(one, Claim)
    }


@cache
def _defaults(kind: type[Query[Any]]) -> dict[str, object]:
    """Return the default of each field by its name; ``MISSING`` where one must be given."""
    # The decorator makes each class a dataclass.
    return {one.name: one.default for one in fields(kind)}  # type: ignore[arg-type]


def _title(kind: type[Query[Any]]) -> str:
    """Return the name of a class, which stands alone where ``dpselect`` offers it."""
    package, name = kind.__module__.partition(".")[0], kind.__name__
    alone = package == "dpselect" or getattr(import_module("dpselect"), name, None) is kind
    return name if alone else f"{package}.{name}"


def kind_of(title: object) -> type[Query[Any]]:
    """Return the class of a title; one that was not imported is looked up."""
    if not isinstance(title, str):
        raise ParameterError("a query must name its class, such as `query`='TopKeys'")
    package, _, name = title.rpartition(".")
    if name not in Query.kinds:
        if not package and name in (dpselect := import_module("dpselect")).__all__:
            getattr(dpselect, name)  # which says what to install
        elif title in (entries := stated(GROUP)):
            entries[title].load()
        elif package.startswith("dpselect_"):
            try:
                getattr(import_module(package), name, None)
            except ModuleNotFoundError:
                raise not_installed(f"the query {title}", package) from None
    found = Query.kinds.get(name)
    if found is None or _title(found) != title:
        meant = nearest(title, map(_title, Query.kinds.values()))
        raise ParameterError(f"there is no query {title!r}{meant}")
    return found
