"""What embedded engines do, where narwhals does not say it or each says something else.

``Engine`` is narwhals' way, which holds for polars and frames in memory; a subclass overrides
what is otherwise in another engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np

from dpselect._optional import needed
from dpselect.errors import ColumnError, DataError
from dpselect.tables.kinds import DAY, DIGITS, Moment, declared, unit_of
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    import polars as pl

    from dpselect.tables.dialect import Dialect, FieldType

Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"
Edges: TypeAlias = Mapping[str, Sequence[float] | Indices | Values]
Column: TypeAlias = np.ndarray[Any, Any]

CLOCK = re.compile("%[-_0]?[HIMSTRpPrXfs]")
"""Parts of a form that say a time of day."""

STEP: ContextVar[Any] = ContextVar("step", default=None)
"""The step that asks for what is collected, together with others."""

ALIKE = ("A", "ä", "a ")
"""Texts that a collation may take for ``a``."""

NESTED = 64
"""Conditions in each other, at most: of hundreds, Python's own calls are too deep."""

_NUMBERS = count()
"""Numbers of the tables that are kept, of which a connection has its own."""


class Engine:
    """polars, and frames in memory.

    Attributes:
        table: The rows.
        native: The same as its own library has them.
        is_spark: Whether the rows are Spark's, in a session of Java or of Spark Connect.
        is_remote: Whether literals are read in the time zone of a session.
    """

    is_spark = False
    is_remote = False

    def __init__(self, table: Frame) -> None:
        self.table: Any = table
        self.native: Any = nw.to_native(table)

    def compared(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the rows with texts that are compared by their bytes; none is read.

        By a collation texts with different letters are one, and which of them stands for all
        depends on the order of the rows. Enumerations of DuckDB become text.

        Raises:
            ColumnError: A text of Ibis has a collation that cannot be set aside.
            DataError: The counts of the engine were not compared with those of the others.
        """
        if isinstance(self.table, nw.DataFrame) or self.table.implementation.is_polars():
            return self.table
        raise self.not_compared(self.table.implementation.value)

    def not_compared(self, engine: str) -> DataError:
        """Return the error of an engine in which -0.0 may be less than 0, or the like."""
        return DataError(
            f"{engine} is no engine whose types were compared: polars, DuckDB, PySpark and "
            "Ibis over DuckDB or SQLite are; give a file, or a frame in memory of the columns"
        )

    def texts(self) -> list[str]:
        """Return the columns of text."""
        return [name for name, kind in self.table.collect_schema().items() if is_text(kind)]

    def distinct(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the rows that differ; narwhals would sort and number those of an engine."""
        return self.table.unique()

    def stacked(self, name: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the values of all columns as one column."""
        columns = self.table.collect_schema().names()
        return nw.concat([self.table.select(nw.col(one).alias(name)) for one in columns])

    def hashed(self, column: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the table with the integers of the hashes of texts, in an engine."""
        raise self.not_compared(f"{self.table.implementation.value}, of {column!r},")

    def counted(self, column: str, moment: Moment) -> Any:  # noqa: ANN401 -- a frame
        """Return the table with days, points in time or durations of a column as integers.

        Raises:
            ColumnError: The engine does not count them.
        """
        value = nw.col(column)
        number = value.dt.total_microseconds() if moment == "duration" else None
        if number is None:
            number = value.dt.timestamp("us") // (DAY if moment == "day" else 1)
        return self.table.with_columns(number.alias(column))

    def placed(self, edges: Edges) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the table with the positions of numbers among ascending edges."""
        if self.table.implementation.is_polars():
            # polars computes every branch of a condition, for all rows.
            found = [_searched(column, ascending) for column, ascending in edges.items()]
            return nw.from_native(self.native.with_columns(found))
        return self.table.with_columns(
            _position(nw.col(column), ascending).alias(column)
            for column, ascending in edges.items()
        )

    def coded(self, goals: Mapping[str, list[Any]]) -> Any:  # noqa: ANN401 -- a frame
        """Return the table with the positions of values among those listed, null for others."""
        return self.table.with_columns(_code(c, listed).alias(c) for c, listed in goals.items())

    def parsed(self, kinds: Mapping[str, FieldType], dialect: Dialect) -> Any:  # noqa: ANN401
        """Return the table with columns of plain text as their types, null for what is none."""
        fields = [_of_polars(column, kind, dialect) for column, kind in kinds.items()]
        return nw.from_native(self.native.with_columns(fields))

    def literals(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return values as the engine takes them."""
        return values

    def columns(self, most: int) -> dict[str, Column]:
        """Return the columns of a small result, at most so many rows."""
        del most
        frame = self.frame(streaming=True)
        return {name: _of_series(frame.get_column(name)) for name in frame.columns}

    def frame(self, *, streaming: bool = False) -> nw.DataFrame[Any]:
        """Return all rows in memory."""
        if not self.table.implementation.is_polars():
            return self.whole()
        return nw.from_native(collected(self.native, streaming=streaming))

    def whole(self) -> nw.DataFrame[Any]:
        """Return all rows in memory, as narwhals collects them."""
        found: nw.DataFrame[Any] = self.table.collect()
        return found

    @contextmanager
    def silenced(self) -> Iterator[None]:
        """Keep an engine from printing why a query fails, which quotes values."""
        yield

    @contextmanager
    def cached(self) -> Iterator[Any]:
        """Keep the rows of a query that are used several times, while the block runs.

        polars finds repeated parts of a query by itself, and DuckDB computes them again.
        """
        yield self.table

    @contextmanager
    def kept(self) -> Iterator[Any]:
        """Keep rows that several releases read, as a frame of its library, likewise."""
        with self.cached() as rows:
            yield nw.to_native(rows)


class DuckDB(Engine):
    """Relations of DuckDB."""

    is_remote = True

    def compared(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        # Beside that of a column there may be one of the connection, which no type shows.
        names = ['"{}"'.format(name.replace('"', '""')) for name in self.texts()]
        plain = (f'CAST({name} AS VARCHAR) COLLATE "binary" AS {name}' for name in names)
        replaced = f"* REPLACE ({', '.join(plain)})"
        return nw.from_native(self.native.project(replaced)) if names else self.table

    def distinct(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        return nw.from_native(self.native.distinct())

    def hashed(self, column: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        needed("duckdb", extra="duckdb")
        import duckdb

        hashed = f"('0x' || substr(md5(\"{column}\"), 1, {DIGITS}))::BIGINT"
        every = duckdb.StarExpression(exclude=[column])
        number = duckdb.SQLExpression(hashed).alias(column)
        return nw.from_native(self.native.select(every, number))

    def counted(self, column: str, moment: Moment) -> Any:  # noqa: ANN401 -- a frame
        if moment == "duration":
            return super().counted(column, moment)
        needed("duckdb", extra="duckdb")
        from duckdb import ColumnExpression, ConstantExpression, FunctionExpression

        # A subtraction refuses all rows where one is infinite.
        since = map(ConstantExpression, unit_of(moment))
        number = FunctionExpression("date_diff", *since, ColumnExpression(column))
        others = [ColumnExpression(one) for one in self.table.collect_schema() if one != column]
        return nw.from_native(self.native.select(*others, number.alias(column)))

    @contextmanager
    def kept(self) -> Iterator[Any]:
        name, relation = f"dpselect_{next(_NUMBERS)}", self.native
        relation.query(name, f"create temp table {name}_kept as from {name}")
        try:
            yield relation.query(name, f"from {name}_kept")
        finally:
            relation.query(name, f"drop table {name}_kept")


class Ibis(Engine):
    """Tables of Ibis, over DuckDB or SQLite."""

    is_remote = True

    def compared(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        backend = self.native.get_backend().name
        if backend == "sqlite":
            return self._of_sqlite()
        if backend != "duckdb":
            raise self.not_compared(f"Ibis over {backend}")
        names = tuple(self.texts())
        for name, alike in zip(names, _alike(self.native.op(), names), strict=True):
            if alike:
                raise ColumnError(
                    f"column {name!r} has a collation: texts with different letters are one "
                    "there; give it the binary one, or leave it out"
                )
        return self.table

    def _of_sqlite(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return each value that is of the type of its column; a row may hold any there."""
        alone: dict[str, Any] = {}
        for name, dtype in self.table.collect_schema().items():
            value = self.native[name]
            stored = value.typeof()
            if declared(dtype) == "text":
                # A column has a collation there, and what is made of it has none.
                digits, is_utf8 = _of_texts()
                text = (stored == "text").ifelse(value.concat(""), None)
                alone[name] = is_utf8(digits(text)).ifelse(text, None)
            elif dtype == nw.Boolean:
                truth = (stored == "integer") & value.cast("int64").isin([0, 1])
                alone[name] = truth.ifelse(value, None)
            elif dtype.is_numeric():
                kinds = ["integer"] if dtype.is_integer() else ["integer", "real"]
                alone[name] = stored.isin(kinds).ifelse(value, None)
        return nw.from_native(self.native.mutate(**alone)) if alone else self.table

    def distinct(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        return nw.from_native(self.native.distinct())

    def hashed(self, column: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        ibis = import_module("ibis")
        text, number = self.native[column].hexdigest("md5"), ibis.literal(0, "int64")
        for place in range(DIGITS):
            digit = ibis.literal("0123456789abcdef").find(text.substr(place, 1))
            number = number * 16 + digit
        return nw.from_native(self.native.mutate(**{column: number}))

    def counted(self, column: str, moment: Moment) -> Any:  # noqa: ANN401 -- a frame
        if moment == "duration" or self.native.get_backend().name != "duckdb":
            raise ColumnError(
                f"column {column!r}: of Ibis, dates and times are read over DuckDB alone, and "
                "durations as a difference"
            )
        unit, origin = unit_of(moment)
        number = self.native[column].delta(origin, unit=unit)
        return nw.from_native(self.native.mutate(**{column: number}))

    def whole(self) -> nw.DataFrame[Any]:
        """Return all rows, with integers that stay what they are beside a null.

        Ibis collects SQLite through pandas, which makes floats of integers where one is
        missing: ids beyond 2^53 would be one for a null more. What is missing leaves apart.
        """
        types = self.table.collect_schema()
        integers = [name for name, dtype in types.items() if dtype.is_integer()]
        if not integers or self.native.get_backend().name != "sqlite":
            return super().whole()
        apart = {f"missing {name}": nw.col(name).is_null() for name in integers}
        filled = self.table.with_columns(**apart).with_columns(nw.col(*integers).fill_null(0))
        there = {
            name: nw.when(~nw.col(f"missing {name}").cast(nw.Boolean)).then(nw.col(name))
            for name in integers
        }
        found: nw.DataFrame[Any] = filled.collect().with_columns(**there).select(*types)
        return found

    def literals(self, values: Sequence[Any]) -> Sequence[Any]:
        # It finds no type for all of some unsigned integers.
        if any(isinstance(one, int) and one >= 2**63 for one in values):
            return [np.uint64(one) for one in values if one >= 0]
        return values


def is_text(kind: nw.dtypes.DType) -> bool:
    """Return whether a type is that of text or of categories."""
    return any(kind == one for one in (nw.String, nw.Categorical, nw.Enum))


@cache
def _of_texts() -> tuple[Any, Any]:
    """Return SQLite's digits of a text, and whether these are of UTF-8.

    SQLite stores any bytes as text, and Python takes UTF-8 alone from it.
    """

    def hex(text: str) -> str:  # noqa: A001 -- SQLite's name of its own function
        raise NotImplementedError

    def dpselect_is_utf8(digits: str) -> bool:
        try:
            return bytes.fromhex(digits).decode() is not None
        except UnicodeDecodeError:
            return False

    scalar = import_module("ibis").udf.scalar
    return scalar.builtin(hex), scalar.python(dpselect_is_utf8)


@lru_cache(maxsize=8)
def _alike(table: Any, names: tuple[str, ...]) -> tuple[bool, ...]:  # noqa: ANN401 -- Ibis has no types
    """Ask an engine whether it takes public texts for one, by a query of no rows."""
    if not names:
        return ()
    none = nw.from_native(table.to_expr()).head(0)
    text = (
        nw.when(nw.col(name).count() > 0)
        .then(nw.col(name).cast(nw.String).max())
        .otherwise(nw.lit("a"))
        for name in names
    )
    asked = {f"text{place}": one.is_in(ALIKE) for place, one in enumerate(text)}
    [answer] = none.select(**asked).collect().rows()
    return tuple(map(bool, answer))


def _code(column: str, goals: Sequence[Any]) -> nw.Expr:
    none = nw.lit(None, nw.Int64)
    known = [(code, goal) for code, goal in enumerate(goals) if goal is not None]
    parts = []
    for start in range(0, len(known), NESTED):
        chosen = none
        for code, goal in known[start : start + NESTED]:
            found = nw.col(column) == goal
            chosen = nw.when(found).then(nw.lit(code, nw.Int64)).otherwise(chosen)
        parts.append(chosen)
    return nw.max_horizontal(none, *parts)


def _position(value: nw.Expr, edges: Sequence[float] | Indices | Values) -> nw.Expr:
    ascending = [float(edge) for edge in edges]
    return nw.when(~value.is_null()).then(_search(value, ascending, 0, len(ascending)))


def _searched(column: str, edges: Sequence[float] | Indices | Values) -> Any:  # noqa: ANN401
    """Return the positions of numbers among edges, as an expression of polars."""
    needed("polars", extra="standard")
    import polars as pl

    ascending = np.asarray(edges, dtype=np.float64)

    def positions(numbers: pl.Series) -> pl.Series:
        return pl.Series(ascending.searchsorted(numbers.to_numpy(), side="right"))

    number = pl.col(column).cast(pl.Float64)
    found = number.map_batches(positions, return_dtype=pl.Int64, is_elementwise=True)
    return pl.when(number.is_not_null()).then(found).alias(column)


def _search(value: nw.Expr, edges: list[float], first: int, last: int) -> nw.Expr:
    """Return how many edges are at most a number, known to be ``first`` to ``last``."""
    if first == last:
        return nw.lit(first)
    middle = (first + last) // 2
    return (
        nw.when(value >= edges[middle])
        .then(_search(value, edges, middle + 1, last))
        .otherwise(_search(value, edges, first, middle))
    )


def _of_series(series: nw.Series[Any]) -> Column:
    if series.dtype.is_numeric() and series.null_count() == 0:
        return series.to_numpy()
    return plain_column(series.to_list())


def plain_column(values: list[Any]) -> Column:
    """Return values as an array of objects."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _of_polars(column: str, kind: FieldType, dialect: Dialect) -> Any:  # noqa: ANN401 -- of polars
    """Return what fields of text are as values of a type."""
    needed("polars", extra="standard")
    import polars as pl

    field = pl.col(column)
    if kind in {"number", "integer"}:
        return field.cast(pl.Float64 if kind == "number" else pl.Int64, strict=False)
    form = dialect.date_format
    if form is not None:
        times = _by_form(field, form, dialect)
        return times.cast(pl.Date) if kind == "date" else times
    if kind == "date":
        return field.str.to_date("%Y-%m-%d", strict=False)
    spaced = field.str.replace("T", " ", literal=True)
    if dialect.time_zone is not None:
        spaced = spaced.str.replace("Z$", "+00:00")
        return pl.coalesce(
            _by_form(spaced, form, dialect)
            for form in ("%Y-%m-%d %H:%M:%S%.f%z", "%Y-%m-%d %H:%M%z")
        )
    times = [
        spaced.str.to_datetime(form, time_unit="us", strict=False)
        for form in ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M")
    ]
    days = spaced.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us"))
    return pl.coalesce(*times, days)


def _by_form(field: Any, form: str, dialect: Dialect) -> Any:  # noqa: ANN401 -- of polars
    """Return the local times that fields of one form stand for."""
    needed("polars", extra="standard")
    import polars as pl

    if not CLOCK.search(form):
        return field.str.to_date(form, strict=False).cast(pl.Datetime("us"))
    if "%z" not in form:
        return field.str.to_datetime(form, time_unit="us", strict=False)
    moments = field.str.replace("Z$", "+0000").str.to_datetime(
        form, time_unit="us", time_zone="UTC", strict=False
    )
    zone = dialect.time_zone or "UTC"
    return moments.dt.convert_time_zone(zone).dt.replace_time_zone(None)


def collected(query: pl.LazyFrame, *, streaming: bool) -> pl.DataFrame:
    """Return the rows of a query of polars, which other steps' queries are read along with."""
    step = STEP.get()
    if step is not None:
        found: pl.DataFrame = step.ask(query)
        return found
    return query.collect(engine="streaming" if streaming else "auto")
