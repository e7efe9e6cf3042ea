"""What embedded engines do, where narwhals does not say it or each says something else.

``Engine`` is narwhals' way, which holds for polars and frames in memory; a subclass overrides
what is otherwise in another engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import md5
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np

from dpselect._optional import needed
from dpselect.errors import DataError
from dpselect.tables.kinds import DAY, DIGITS, Moment, unit_of
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    import polars as pl

    from dpselect.tables.dialect import Dialect, FieldType

Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"
Edges: TypeAlias = Mapping[str, Sequence[float] | Indices | Values]
Column: TypeAlias = np.ndarray[Any, Any]

CLOCK = re.compile("%[-_0]?[HIMSTRpPrXfs]")
"""Parts of a form that say a time of day."""

NESTED = 64
"""Conditions in each other, at most: of hundreds, Python's own calls are too deep."""


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
            DataError: The counts of the engine were not compared with those of the others.
        """
        if isinstance(self.table, nw.DataFrame) or self.table.implementation.is_polars():
            return self.table
        # In others -0.0 may be less than 0, or the like.
        raise DataError(
            f"{self.table.implementation.value} is no engine whose types were compared: "
            "polars, DuckDB and PySpark are; give a file, or a frame in memory of the columns"
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
        """Return the table with the integers of the first digits of hashes of texts."""
        needed("polars", extra="standard")
        import polars as pl

        def numbers(texts: pl.Series) -> pl.Series:
            each = texts.unique()
            hashes = [
                int(md5(one.encode(), usedforsecurity=False).hexdigest()[:DIGITS], 16)
                for one in each
            ]
            return texts.replace_strict(each, hashes, return_dtype=pl.Int64)

        number = pl.col(column).map_batches(numbers, return_dtype=pl.Int64)
        return nw.from_native(self.native.with_columns(number))

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
        return nw.from_native(self.native.collect(engine="streaming" if streaming else "auto"))

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


class DuckDB(Engine):
    """Relations of DuckDB."""

    is_remote = True

    def compared(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        # Beside that of a column there may be one of the connection, which no type shows.
        held = zip(self.native.columns, self.native.types, strict=True)
        texts = {*self.texts(), *(name for name, kind in held if str(kind) == "UUID")}
        names = ['"{}"'.format(name.replace('"', '""')) for name in texts]
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


def is_text(kind: nw.dtypes.DType) -> bool:
    """Return whether a type is that of text or of categories."""
    return any(kind == one for one in (nw.String, nw.Categorical, nw.Enum))


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
