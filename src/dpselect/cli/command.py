"""Commands made of queries: their options are the query's fields.

The name of an option is that of the field, its type and default are the field's, and its help
is the first sentence of the field's documentation. So the words of the library and of the
command line are the same. A command adds how texts become values where a type does not say it,
and what is shown beside an answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import date, timedelta
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    get_args,
    get_origin,
    get_type_hints,
)

import typer
from rich.markup import escape

from dpselect.cli import guide, options, output
from dpselect.errors import ParameterError
from dpselect.mechanisms import MECHANISMS
from dpselect.requests.fields import documented

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.budget import Budget
    from dpselect.query import Query
    from dpselect.release import Release
    from dpselect.tables import Source

NEEDED, DATA, QUESTION, PRIVACY = "Needed", "Data", "Question", "Privacy"
OUTPUT, ENGINE, EXPERT = "Output", "Engine", "Expert"

PANELS = {
    **dict.fromkeys(("column", "label", "x", "y", "crs", "source", "target", "by"), DATA),
    **dict.fromkeys(("groups", "minus", "positive", "period"), DATA),
    **dict.fromkeys(("epsilon", "delta", "neighbours", "user", "max_per_user"), PRIVACY),
    **dict.fromkeys(("assumed_people", "assumed_records", "max_records"), PRIVACY),
    **dict.fromkeys(("mechanism", "method", "rate_bound", "accountant", "scaling"), EXPERT),
    "on_invalid": EXPERT,
}
"""The part of the help that a field stands in, if not the question."""

COLUMNS = ("column", "minus", "by", "label", "period", "source", "target", "user")
"""Fields that name a column whose values are compared or ordered."""

SCALARS = (bool, int, float, str, Path)

PROTECTED = (
    "add-remove hides whether any one is in the data; substitute hides its values, and the "
    "number is public."
)
"""What the help says of the two relations of tables."""


class Given(NamedTuple):
    """Arguments of a command."""

    source: str | Source
    table: object
    """As the engine holds it."""

    options: Mapping[str, Any]
    """By field, or by the name of another option; None if not given."""

    numeric: Sequence[str] = ()
    """Columns of numbers."""

    def remark(self, query: object) -> dict[str, str]:
        """Return how the fields of a text file are read, by name; public, and no rows tell.

        Args:
            query: The query, whose range says whether its column is of moments.
        """
        from dpselect.tables import Source

        source = Source.of(self.source)
        if not source.is_csv:
            return {}
        ends = (getattr(query, name, None) for name in ("lower", "upper", "step"))
        of_moments = any(isinstance(one, date | timedelta) for one in ends)
        kinds = dict.fromkeys(self.numeric, "number")
        for field_, columns in ((one, self.options.get(one)) for one in COLUMNS):
            kind = "date" if of_moments and field_ in {"column", "minus"} else "text"
            for name in [columns] if isinstance(columns, str) else columns or ():
                kinds.setdefault(name, kind)
        for one in source.comparisons:
            kinds.setdefault(one.column, "text" if isinstance(one.literal, str) else "number")
        # Commands of networks take the ends of edges by their usual names.
        found = {source.column_type.get(name, kind) for name, kind in kinds.items()} or {"text"}
        read, cures = [], []
        if found & {"number", "integer"}:
            read.append(f"numbers as 1200{source.decimal}5")
            cures += [] if source.thousands else ["1,200.50: --thousands ,"]
            cures += [] if source.decimal == "," else ["3,5: --decimal ','"]
        if found & {"date", "time"}:
            form = source.date_format
            read.append(f"dates as {form}" if form else "dates as 2026-01-31")
            read += [] if form else [f"times as 2026-01-31T12:00{'Z' * bool(source.time_zone)}"]
            cures += [] if form else ["31/01/2026: --date-format"]
            cures += [] if source.time_zone or form else ["with Z: --time-zone"]
        said = [f"{', '.join(read)}; other fields are missing"] if read else []
        if "text" in found:
            said.append("texts are compared exactly: 1 is not 1.0")
            said[-1] += "" if source.missing else ", and NA is a value (--missing NA)"
            said += [f"characters are {source.encoding.upper()} (--encoding)"]
        aside = f" ({'; '.join(cures)})" if cures else ""
        said[:1] = [one + aside for one in said[:1]]
        return {"text file": "; ".join(said)} if said else {}


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of a field whose type does not say how it is written.

    Attributes:
        read: Returns the value of the field from the text and the other options.
        help: In place of the first sentence of the field's documentation.
        kind: What is typed: a type that typer knows.
        default: What is used where the option is not given; None is left to the query.
    """

    read: Callable[[Any, Given], Any] = lambda value, _given: value
    help: str = ""
    kind: Any = str
    default: Any = None


@dataclass(frozen=True, kw_only=True)
class QueryCommand:
    """A command that plans and releases a query of one table.

    Attributes:
        name: The name of the command.
        query: The class of its queries: its name in ``dpselect``, or what returns it.
        help: Paragraphs and examples.
        options: By field, where its type does not say how it is written.
        more: Options that are not fields, by name.
        left_out: Fields that have no option, and ``where`` if a row that is replaced matters.
        needed: Fields that a question of a file hardly does without, though they have defaults.
        declared: Fields that a file states which an option names, by what was given.
        numeric: Fields that name columns of numbers; or such columns, by what was given.
        facts: What a dry run shows beside the plan, by name.
        before: Checks what else was given, before anything is spent.
        release: Makes the release, charged to a budget, if there is one.
        after: Writes files, and returns what is shown beside the answer, by name.
        plot: Draws the picture of ``--plot``, of the query and of the release, if one was made.
        leaving: What leaves an engine, as the help of ``--engine`` says it.
    """

    name: str
    query: str | Callable[[], type[Query[Any]]]
    help: str
    options: Mapping[str, Option] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    left_out: Sequence[str] = ()
    needed: Sequence[str] = ("column",)
    declared: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda _options: {}
    numeric: Sequence[str] | Callable[[Mapping[str, Any]], Sequence[str]] = ()
    facts: Callable[[Any, Given], Mapping[str, object]] = lambda _query, _given: {}
    before: Callable[[Any, Given], None] = lambda _query, _given: None
    release: Callable[[Any, Given, Budget | None], Release[Any]] = lambda query, given, paid: (
        query.release(given.table, budget=paid)
    )
    after: Callable[[Any, Given], Mapping[str, object]] = lambda _release, _given: {}
    plot: Callable[[Any, Any, Given], Axes] | None = None
    leaving: str = "Only counts"

    @property
    def kind(self) -> type[Query[Any]]:
        """The class of its queries, imported."""
        if not isinstance(self.query, str):
            return self.query()
        kind: type[Query[Any]] = getattr(import_module("dpselect"), self.query)
        return kind

    def register(self, app: typer.Typer) -> None:
        """Add the command."""

        def run(**given: Any) -> None:  # noqa: ANN401 -- the options
            self.run(given)

        parameters = [*self._parameters(self.kind)]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        app.command(self.name, help=self.help)(run)

    def _parameters(self, kind: type[Query[Any]]) -> list[inspect.Parameter]:
        types, said = get_type_hints(kind), self._said(kind)
        reading = (name for name in ROWS if name not in self.left_out)
        every = [_parameter("data", options.Data)]
        for one in fields(kind):  # type: ignore[arg-type] # queries are dataclasses
            if one.name in self.left_out:
                continue
            stated, shown = self.options.get(one.name), said[one.name]
            if stated is None:
                shown += _choices(one.name, types[one.name], shown)
            if one.name == "neighbours" and stated is None:
                shown += f" {PROTECTED}"
            default = False if _plain_type(types[one.name]) is bool else None
            annotated: Any = Annotated[
                _typed(types[one.name]) if stated is None else stated.kind | None,
                typer.Option(
                    flag(one.name),
                    help=escape(shown) + _usual(one.default),
                    rich_help_panel=self._panel(one),
                    show_default=False,
                ),
            ]
            every.append(_parameter(one.name, annotated, default))
        every += [_parameter(name, kind, None) for name, kind in self.more.items()]
        every += map(_shared, reading)
        drawn = ("out",) * self._has_out + ("plot",) * (self.plot is not None)
        engine = _parameter("engine", options.engine(self.leaving), "memory")
        return [*every, engine, *map(_shared, (*AFTER, *drawn))]

    def _panel(self, one: Field[Any]) -> str:
        """Return the panel of a field: those that must be given, or should be, come first."""
        if one.default is MISSING or one.name in self.needed:
            return NEEDED
        usual = EXPERT if one.name.endswith("_share") else QUESTION
        return PANELS.get(one.name, usual)

    @property
    def _has_out(self) -> bool:
        """Whether ``--out`` writes the table of the answer."""
        return not {"out", "save"} & set(self.more)

    def _said(self, kind: type[Query[Any]]) -> dict[str, str]:
        """Return the help of each field."""
        stated = {name: one.help for name, one in self.options.items() if one.help}
        return {**documented(kind, flag), "epsilon": options.EPSILON, **stated}

    def run(self, options_given: dict[str, Any]) -> None:
        """Run the command."""
        query, given = self._made(options_given)
        shared = given.options
        budget = options.open_ledger(
            shared["ledger"],
            source=given.source,
            note=shared["note"],
            analyst=shared["analyst"],
            version=shared["source_version"],
            again=shared["again"],
        )
        as_json = shared["as_json"]
        query.check_where(options.stated(given.source))
        output.check_outputs(shared, given.source)
        self.before(query, given)
        if self._has_out:
            output.check_table(shared["out"])
        release, remark = None, given.remark(query)
        if as_json:
            output.print_notes(remark)
            remark = {}
        if shared["dry_run"]:
            query.check(given.table)
            output.print_plan(
                query.plan,
                budget,
                source=given.source,
                as_json=as_json,
                more={**self.facts(query, given), **remark},
                engine=shared["engine"],
            )
        else:
            with options.working("counting and choosing"):
                release = self.release(query, given, budget)
                beside = self.after(release, given)
                if self._has_out:
                    beside = {**output.table_facts(release, shared["out"]), **beside}
            output.print_release(
                release,
                budget,
                source=given.source,
                as_json=as_json,
                more={**beside, **remark},
            )
        if self.plot is not None and shared["plot"] is not None:
            output.save(self.plot(query, release, given), shared["plot"])

    def _made(self, given: dict[str, Any]) -> tuple[Query[Any], Given]:
        """Return the query, and the table without a row being read."""
        source = options.rows_of(given["data"], **reading(given))
        kind = self.kind
        missing = [
            one.name
            for one in fields(kind)  # type: ignore[arg-type]
            if one.default is MISSING and given.get(one.name, one.default) is None
        ]
        table = options.opened(source, given["engine"], given["master"])
        if missing:
            raise self._incomplete(missing, source, table, given)
        given = {**given, **self.declared(given)}
        known = [one for one in fields(kind) if one.name in given]  # type: ignore[arg-type]
        numeric = self.numeric
        if callable(numeric):
            numeric = numeric(given)
        else:
            numeric = [given[name] for name in numeric if given[name] is not None]
        held = Given(source, table, given, numeric)
        stated = {one.name: self._read(one.name, held) for one in known}
        stated = {name: value for name, value in stated.items() if value is not None}
        return kind(**stated), held

    def _incomplete(
        self,
        missing: Sequence[str],
        source: str | Source,
        table: object,
        given: Mapping[str, Any],
    ) -> ParameterError:
        """Return the error of a question that is not whole, with the next line to type."""
        *most, last = (f"`{name}`" for name in missing)
        error = ParameterError(f"give {' and '.join(filter(None, (', '.join(most), last)))}")
        flags = {one.name: flag(one.name) for one in fields(self.kind)}  # type: ignore[arg-type]
        numeric = callable(self.numeric) or "column" in self.numeric
        known = guide.typed(given, flags)
        for note in guide.notes(self.help, source, table, known, numeric=numeric):
            error.add_note(note)
        return error

    def _read(self, name: str, given: Given) -> Any:  # noqa: ANN401 -- of any field
        value, option = given.options[name], self.options.get(name)
        if isinstance(value, list):
            value = None if not value else value[0] if len(value) == 1 else tuple(value)
        if option is None:
            return value
        return option.default if value is None else option.read(value, given)


SHARED: dict[str, tuple[Any, Any]] = {
    "where": (options.Where, None),
    **{name: (kind, None) for name, kind in options.DIALECT.items()},
    "master": (options.Master, None),
    "ledger": (options.Ledger, None),
    "note": (options.Note, ""),
    "analyst": (options.Analyst, ""),
    "source_version": (options.SourceVersion, ""),
    "again": (options.Again, False),
    "dry_run": (options.DryRun, False),
    "as_json": (options.Json, False),
    "plot": (options.Plot, None),
    "out": (options.Out, None),
}
"""Options of every query, with their defaults."""


ROWS = ("where", *options.DIALECT)
"""Options that say which rows are read and how, as ``options.rows_of`` takes them."""

AFTER = (
    *("master", "ledger", "note", "analyst", "source_version", "again"),
    *("dry_run", "as_json"),
)
"""Those that every command has, after those of its question."""


def reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the options of a command that say which rows are read and how."""
    return {name: given[name] for name in ROWS if given.get(name) is not None}


def _shared(name: str) -> inspect.Parameter:
    return _parameter(name, *SHARED[name])


def flag(name: str) -> str:
    """Return the option of a field."""
    return f"--{name.replace('_', '-')}"


def extra(kind: Any, name: str, panel: str, said: str) -> Any:  # noqa: ANN401 -- types
    """Return the type of an option that is no field, whose default is None."""
    option = typer.Option(flag(name), help=said, rich_help_panel=panel, show_default=False)
    return Annotated[kind | None, option]


def _parameter(
    name: str,
    annotation: Any,  # noqa: ANN401
    default: Any = inspect.Parameter.empty,  # noqa: ANN401
) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def _plain_type(annotation: Any) -> Any:  # noqa: ANN401 -- a type
    """Return the one type that a command line can hold, of those that a field can have."""
    options_ = [one for one in get_args(annotation) if one is not NoneType] or [annotation]
    for one in options_:
        with suppress(TypeError):
            if issubclass(one, SCALARS):
                return one
    return str


def _choices(name: str, annotation: Any, said: str) -> str:  # noqa: ANN401 -- a type
    """Return the words that a field takes, unless its help has named them; else nothing."""
    if name == "neighbours":  # its sentence names those that the query has
        return ""
    names = list(MECHANISMS) if name == "mechanism" else _words(annotation)
    return (
        "" if not names or all(one in said for one in names) else f" One of {', '.join(names)}."
    )


def _words(annotation: Any) -> list[str]:  # noqa: ANN401 -- a type
    """Return the texts of the literals in an annotation."""
    if get_origin(annotation) is Literal:
        return [one for one in get_args(annotation) if isinstance(one, str)]
    return [word for one in get_args(annotation) for word in _words(one)]


def _typed(annotation: Any) -> Any:  # noqa: ANN401 -- a type
    found = _plain_type(annotation)
    several = any("Sequence" in str(one) for one in get_args(annotation))
    if several and found is str:
        return list[str] | None
    return found if found is bool else found | None


def _usual(value: object) -> str:
    """Return what the help says of a default."""
    unsaid = any(value is one for one in (None, MISSING, False)) or value == ()
    if isinstance(value, tuple):
        value = ",".join(f"{one:g}" if isinstance(one, float) else str(one) for one in value)
    return "" if unsaid else rf" [dim]\[default: {value}][/]"
