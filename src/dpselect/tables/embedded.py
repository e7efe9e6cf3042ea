"""What engines do where narwhals does not say it, or each says something else.

``Engine`` is that of polars and of frames in memory; a subclass overrides what is otherwise in
another one, ``dpselect.tables.spark_engine`` in Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import md5
from typing import Any, TypeAlias

import numpy as np

from dpselect._optional import needed, nw, pl
from dpselect.errors import DataError
from dpselect.tables.kinds import DAY, DIGITS, Moment, declared, unit_of
from dpselect.typing import Indices, Values

Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"
Edges: TypeAlias = Mapping[str, Sequence[float] | Indices | Values]
Column: TypeAlias = np.ndarray[Any, Any]


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
        return [
            name
            for name, kind in self.table.collect_schema().items()
            if declared(kind) == "text"
        ]

    def distinct(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the rows that differ; narwhals would sort and number those of an engine."""
        return self.table.unique()

    def stacked(self, name: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the values of all columns as one column."""
        columns = self.table.collect_schema().names()
        return nw.concat([self.table.select(nw.col(one).alias(name)) for one in columns])

    def hashed(self, column: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the table with the integers of the first digits of hashes of texts."""

        def numbers(texts: pl.Series) -> pl.Series:
            each = texts.unique(maintain_order=True)
            digests = b"".join(
                md5(one.encode(), usedforsecurity=False).digest()[:8] for one in each
            )
            hashes = (np.frombuffer(digests, dtype=">u8") >> 64 - 4 * DIGITS).astype(np.int64)
            if len(each) == len(texts):
                return pl.Series(hashes)
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
        # polars computes every branch of a condition, for all rows.
        found = [_searched(column, ascending) for column, ascending in edges.items()]
        return nw.from_native(self.native.with_columns(found))

    def coded(self, goals: Mapping[str, Sequence[Any]]) -> Any:  # noqa: ANN401 -- a frame
        """Return the table with the positions of values among those listed, null for others."""
        types = self.native.collect_schema()

        def code(column: str, listed: Sequence[Any]) -> pl.Expr:
            values = pl.Series(listed, dtype=types[column], strict=False)
            places = pl.Series(range(len(listed)), dtype=pl.Int64).filter(values.is_not_null())
            if not places.len():
                return pl.lit(None, pl.Int64)
            how: Any = {"default": None, "return_dtype": pl.Int64}
            return pl.col(column).replace_strict(values.drop_nulls(), places, **how)

        codes = {column: code(column, listed) for column, listed in goals.items()}
        return nw.from_native(self.native.with_columns(**codes))

    def literals(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return values as the engine takes them."""
        return values

    def columns(self) -> dict[str, Column]:
        """Return the columns of a small result."""
        frame = self.frame(streaming=True)
        return {name: _of_series(frame.get_column(name)) for name in frame.columns}

    def frame(self, *, streaming: bool = False) -> nw.DataFrame[Any]:
        """Return all rows in memory."""
        is_polars = self.table.implementation.is_polars()
        how: Any = {"engine": "streaming"} if streaming and is_polars else {}
        found: nw.DataFrame[Any] = self.table.collect(**how)
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


class Remote(Engine):
    """Engines that take queries of SQL."""

    is_remote = True

    def distinct(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        return nw.from_native(self.native.distinct())

    def coded(self, goals: Mapping[str, Sequence[Any]]) -> Any:  # noqa: ANN401 -- a frame
        """Return the positions by their binary digits, counted from 1 on."""

        def code(column: str, listed: Sequence[Any]) -> nw.Expr:
            place: Any = nw.lit(0)
            for digit in range(len(listed).bit_length()):
                ones = [one for at, one in enumerate(listed, start=1) if at >> digit & 1]
                known = self.literals([one for one in ones if one is not None])
                is_one = nw.col(column).is_in(known)
                place += nw.when(is_one).then(nw.lit(2**digit)).otherwise(nw.lit(0))
            return nw.when(place > 0).then(place.cast(nw.Int64) - 1).alias(column)

        return self.table.with_columns(code(column, listed) for column, listed in goals.items())


class DuckDB(Remote):
    """Relations of DuckDB."""

    def compared(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        # Beside that of a column there may be one of the connection, which no type shows.
        held = zip(self.native.columns, self.native.types, strict=True)
        texts = {*self.texts(), *(name for name, kind in held if str(kind) == "UUID")}
        names = ['"{}"'.format(name.replace('"', '""')) for name in texts]
        plain = (f'CAST({name} AS VARCHAR) COLLATE "binary" AS {name}' for name in names)
        replaced = f"* REPLACE ({', '.join(plain)})"
        return nw.from_native(self.native.project(replaced)) if names else self.table

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

    def placed(self, edges: Edges) -> Any:  # noqa: ANN401 -- a frame of narwhals
        return self.table.with_columns(
            _position(nw.col(column), ascending).alias(column)
            for column, ascending in edges.items()
        )


def _position(value: nw.Expr, edges: Sequence[float] | Indices | Values) -> nw.Expr:
    ascending = [float(edge) for edge in edges]
    return nw.when(~value.is_null()).then(_search(value, ascending, 0, len(ascending)))


def _searched(column: str, edges: Sequence[float] | Indices | Values) -> Any:  # noqa: ANN401
    """Return the positions of numbers among edges, as an expression of polars."""
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
