"""What engines do where narwhals does not say it, or each says something else.

``Engine`` is polars, and frames in memory; a subclass overrides what another engine does
otherwise.

Rows of Sail, a server of Spark Connect without Java, are read as they are stored. Where all
numbers of a column of a file are one number, Sail takes every row for it, by statistics that do
not see NaN; and it declares unsigned integers as signed ones, and ends a query that meets one
which is not.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import date
from importlib import import_module
from typing import Any, ClassVar, TypeAlias, cast
from weakref import WeakKeyDictionary, WeakSet

from dpselect._optional import needed, np, nw, pl
from dpselect.errors import ColumnError, DataError
from dpselect.passes import query, replaced
from dpselect.tables.kinds import DAY, DIGITS, Kind, Moment, numbers_alone
from dpselect.tables.values import as_kind, places_among
from dpselect.typing import Array, Indices, Values

Frame: TypeAlias = "nw.LazyFrame[Any]"
Edges: TypeAlias = Mapping[str, Sequence[float] | Indices | Values]
Column: TypeAlias = Array

LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Python loggers of PySpark that print the message of a failed query."""

FLOAT = "CAST({0} AS DOUBLE)"
NOT_NAN = f"CASE WHEN NOT isnan(exp({FLOAT})) THEN {FLOAT} END"
"""SQL of a number as float64, and null for NaN; of the exponential see ``numbers_alone``."""

BINARY = "UTF8_BINARY"
"""The collation that is none."""

STATISTICS = "SET datafusion.execution.collect_statistics = false"
"""Lets Sail read files without statistics; to Spark it is a setting that it does not know."""

BATCHES = "SET datafusion.execution.batch_size = 65536"
"""Lets Sail compute and send eight times as many rows at once: it takes up to a fifth less."""

FILES = {"", "parquet", "csv", "json", "text"}
"""Formats that Sail then reads as they are; a Delta table has statistics of its own."""

_SIGNED: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
"""What ``as_stored`` replaces in a frame: asking costs as much as a small query."""

_SAIL: WeakSet[Any] = WeakSet()
"""Sessions of Sail whose rows were read."""

MANY = 1000
"""Values among which rows of Java are looked for by a join."""

LOCAL = {"local_relation", "cached_local_relation", "range"}

INTEGERS = {"tinyint", "smallint", "int", "bigint"}
LARGE, UNSIGNED = "unsigned bigint", "unsigned"


class Engine:
    """polars, and frames in memory.

    Attributes:
        table: The rows.
        native: The same as its own library has them.
        is_here: Whether queries of lazy frames are computed in this process, by polars.
        forgets: Whether it computes again what several queries share, though it is in this
            process, or keeps nothing, as Sail.
        is_ordered: Whether rows have an order.
        misread: Names of columns that engines take for something else, and for what.
        refusal: What is said of a query that failed.
        f: Spark's functions of columns, which look values up in arrays; None for others.
    """

    is_here = True
    forgets = False
    is_ordered = True
    misread = re.compile(r"\*|\^.*\$", re.DOTALL), "a pattern: rename it"
    refusal = "its engine refused the query"
    f: Any = None

    def __init__(self, table: Any) -> None:  # noqa: ANN401 -- a frame of narwhals
        self.table = table
        self.native: Any = nw.to_native(table)

    def compared(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the rows with texts that are compared by their bytes; none is read.

        By a collation texts with different letters are one, and which of them stands for all
        depends on the order of the rows. Enumerations of DuckDB become text.

        Raises:
            DataError: The counts of the engine were not compared with those of the others.
        """
        if self.table.implementation.is_polars():
            return self.table
        # In others -0.0 may be less than 0, or the like.
        raise DataError(
            f"{self.table.implementation.value} is no engine whose types were compared: "
            "polars, DuckDB and PySpark are; give a file, or a frame in memory of the columns"
        )

    def without_nan(self, column: str) -> nw.Expr:
        """Return a column as float64, null where there is no number.

        Engines compare NaN differently, so it becomes null here and no other function meets it.
        """
        value = nw.col(column).cast(nw.Float64)
        return nw.when(~value.is_nan()).then(value)

    def grouped(self, by: Sequence[str], name: str) -> nw.LazyFrame[Any]:
        """Return the different rows of some columns, and how many there are of each."""
        return self.table.lazy().group_by(*by).agg(nw.len().alias(name))

    def hashed(self, column: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the table with the integers of the first digits of hashes of texts."""

        def numbers(texts: pl.Series) -> pl.Series:
            from hashlib import md5  # which loads OpenSSL

            each = texts.cast(pl.Binary).to_list()
            digests = b"".join([md5(one, usedforsecurity=False).digest() for one in each])
            hashes = np.frombuffer(digests, dtype=">u8")[::2] >> 64 - 4 * DIGITS
            return pl.Series(hashes.astype(np.int64))

        number = pl.col(column).map_batches(numbers, return_dtype=pl.Int64)
        return nw.from_native(self.native.with_columns(number))

    def read(self, columns: Iterable[str], kind: Kind | Moment) -> Any:  # noqa: ANN401 -- a frame
        """Return the table with columns as numbers of float64, or as integers of a moment.

        Each value of a column that declares no type is read by itself, also as text or a truth
        value; of these, columns of other types are as they are.

        Raises:
            ColumnError: The engine does not count them.
        """
        types = self.native.collect_schema()

        def value(column: str) -> pl.Expr:
            if types[column] == pl.Object:
                return as_kind(column, kind)
            held = pl.col(column)
            times = dict.fromkeys(("local time", "time"), held.dt.timestamp("us"))
            times |= {"day": times["time"] // DAY, "duration": held.dt.total_microseconds()}
            return {**times, "number": held.cast(pl.Float64)}.get(kind, held)

        return nw.from_native(self.native.with_columns(map(value, dict.fromkeys(columns))))

    def placed(self, edges: Edges) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the table with numbers replaced by their positions among ascending edges.

        That is how many edges are at most the number: a binary search, so that a row costs as
        many comparisons as the number of edges has binary digits.

        Args:
            edges: The columns to replace, of float64 or null but not NaN, each with its edges.
                Public, ascending. A null stays null.
        """

        def position(column: str, ascending: Values) -> pl.Expr:
            def positions(numbers: pl.Series) -> pl.Series:
                return pl.Series(places_among(ascending, numbers.to_numpy()))

            # polars computes every branch of a condition, for all rows.
            number = pl.col(column).cast(pl.Float64)
            found = number.map_batches(positions, return_dtype=pl.Int64, is_elementwise=True)
            return pl.when(number.is_not_null()).then(found).alias(column)

        found = [position(column, np.asarray(held, float)) for column, held in edges.items()]
        return nw.from_native(self.native.with_columns(found))

    def with_sql(self, columns: Mapping[str, str]) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the table with columns, new or replaced, by SQL that its engine has."""
        new = {one: pl.sql_expr(sql) for one, sql in columns.items()}
        return nw.from_native(self.native.with_columns(**new))

    def coded(self, goals: Mapping[str, Sequence[Any]]) -> Any:  # noqa: ANN401 -- a frame
        """Return the table with the positions of values among those listed, null for others.

        Args:
            goals: The columns to replace, of floats without NaN, each with its values. Public.
        """
        types = self.table.collect_schema()

        def code(column: str, listed: Sequence[Any]) -> nw.Expr:
            number, dtype = nw.col(column), types[column]
            first: Any = listed[0] if listed else None
            in_a_row = dtype.is_integer() and type(first) is int and 0 <= first < 2**31
            if in_a_row and [*listed] == [*range(first, first + len(listed))]:
                # Whatever an engine computes of numbers beyond, nothing overflows.
                steps = number.clip(first, listed[-1]).cast(nw.Int64) - first
                return nw.when(number.is_between(first, listed[-1])).then(steps).alias(column)
            known = [_comparable(value, dtype) for value in listed]
            return self._position(column, known).alias(column)

        return self.table.with_columns(code(column, listed) for column, listed in goals.items())

    def _position(self, column: str, listed: Sequence[Any]) -> nw.Expr:
        """Return the positions of values among those listed, null for others."""
        values = pl.Series(listed, dtype=self.native.collect_schema()[column], strict=False)
        places = pl.Series(range(len(listed)), dtype=pl.Int64).filter(values.is_not_null())
        known: dict[str, Any] = {"old": values.drop_nulls(), "new": places, "default": None}
        return nw.col(column).replace_strict(**known, return_dtype=nw.Int64)

    def joined(self, name: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the values of all columns as one, from one reading of the rows."""
        return self.table.unpivot(value_name=name).select(name)

    def among(self, column: str, values: Sequence[Any]) -> Any:  # noqa: ANN401 -- a frame
        """Return the rows that have one of some values in a column."""
        return self.table.filter(nw.col(column).is_in(self.literals(values)))

    def literals(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return values as the engine takes them."""
        return values

    def fetched(self, error: Callable[[], DataError]) -> nw.DataFrame[Any]:
        """Run the query, and return all rows in memory; an error where the engine has one."""
        with query(), self._silenced():
            return replaced(self._frame, error)

    def _frame(self) -> nw.DataFrame[Any]:
        how: Any = {"engine": "streaming"} if self.table.implementation.is_polars() else {}
        found: nw.DataFrame[Any] = self.table.collect(**how)
        return found

    def each(
        self, use: Callable[[pl.DataFrame], object], error: Callable[[], DataError]
    ) -> None:
        """Run the query of polars, and use its rows in any order, some at once."""
        with query():
            # What yields them ends in silence, with some of them, where polars panics.
            replaced(lambda: self.native.sink_batches(use, maintain_order=False), error)

    @contextmanager
    def _silenced(self) -> Iterator[None]:
        """Keep an engine from printing why a query fails, which quotes values."""
        yield

    @contextmanager
    def cached(self) -> Iterator[Any]:
        """Keep the rows of a query that are used several times, while the block runs.

        polars finds repeated parts of a query by itself, and DuckDB computes them again.
        """
        yield self.table


class Remote(Engine):
    """Engines that take queries of SQL.

    Attributes:
        mark: What stands around a name.
        hash: Integers of the first digits of hashes of texts.
        counts: Days, points in time and durations as integers.
    """

    is_here = False
    mark: ClassVar[str]
    hash: ClassVar[str]
    counts: ClassVar[Mapping[str, str]]

    def without_nan(self, column: str) -> nw.Expr:
        return numbers_alone(nw.col(column).cast(nw.Float64))

    def hashed(self, column: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        return self._replaced({column: self.hash})

    def read(self, columns: Iterable[str], kind: Kind | Moment) -> Any:  # noqa: ANN401 -- a frame
        sql = {**self.counts, "number": FLOAT}
        if kind == "duration" and kind not in sql:
            raise ColumnError("durations of Spark are read as a difference (`minus`)")
        return self._replaced(dict.fromkeys(columns, sql[kind]) if kind in sql else {})

    def placed(self, edges: Edges) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the positions by one text of SQL, which is made faster than expressions."""
        known = "CASE WHEN {{0}} IS NOT NULL THEN {} END"
        found = {one: _search([*map(float, edges[one])], 0, len(edges[one])) for one in edges}
        return self._replaced({one: known.format(sql) for one, sql in found.items()})

    def _replaced(self, columns: Mapping[str, str]) -> Any:  # noqa: ANN401 -- a frame
        """Return the rows with columns replaced by SQL, which has braces for their names."""
        new = {one: sql.format(self._name(one)) for one, sql in columns.items()}
        return self.with_sql(new) if new else self.table

    def _name(self, column: str) -> str:
        """Return the name of a column in SQL."""
        return f"{self.mark}{column.replace(self.mark, 2 * self.mark)}{self.mark}"

    def _position(self, column: str, listed: Sequence[Any]) -> nw.Expr:
        """Return the positions by their binary digits, counted from 1 on."""
        place: Any = nw.lit(0)
        for digit in range(len(listed).bit_length()):
            ones = [one for at, one in enumerate(listed, start=1) if at >> digit & 1]
            known = self.literals([one for one in ones if one is not None])
            is_one = nw.col(column).is_in(known)
            place += nw.when(is_one).then(nw.lit(2**digit)).otherwise(nw.lit(0))
        return nw.when(place > 0).then(place.cast(nw.Int64) - 1)


STORED = dict.fromkeys(("VARCHAR", "ENUM", "UUID"), 'CAST({} AS VARCHAR) COLLATE "binary"')
STORED["TIMESTAMPTZ_NS"] = "CAST({} AS TIMESTAMPTZ)"
"""How texts of DuckDB are read, and types that narwhals has not."""


class DuckDB(Remote):
    """Relations of DuckDB."""

    forgets = True
    mark = '"'
    hash = f"('0x' || substr(md5({{}}), 1, {DIGITS}))::BIGINT"
    # Of an infinite one there is no number; one with too many microseconds ends a query.
    counts: ClassVar[Mapping[str, str]] = {
        "day": "date_diff('day', DATE '1970-01-01', {})",
        **dict.fromkeys(("local time", "time"), "TRY(epoch_us({}))"),
        "duration": "epoch_us({})",
    }

    def compared(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        # Beside that of a column there may be one of the connection, which no type shows.
        kinds = [str(kind).partition("(")[0] for kind in self.native.types]
        stored = zip(self.native.columns, map(STORED.get, kinds), strict=True)
        return self._replaced({name: sql for name, sql in stored if sql is not None})

    def joined(self, name: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        columns = ", ".join(f'"{one}"' for one in self.native.columns)
        return nw.from_native(self.native.project(f"unnest([{columns}]) AS {name}"))

    def with_sql(self, columns: Mapping[str, str]) -> Any:  # noqa: ANN401 -- a frame of narwhals
        every = {**{one: self._name(one) for one in self.native.columns}, **columns}
        selected = ", ".join(f"{sql} AS {self._name(one)}" for one, sql in every.items())
        return nw.from_native(self.native.project(selected))


class Spark(Remote):
    """Frames of PySpark."""

    is_ordered = False
    mark = "`"
    hash = f"CAST(conv(substring(md5({{}}), 1, {DIGITS}), 16, 10) AS BIGINT)"
    counts: ClassVar[Mapping[str, str]] = {
        "day": "unix_date({})",
        "time": "unix_micros({})",
        # A session's time zone would shift it, and skip hours.
        "local time": (
            f"CAST(unix_date(CAST({{0}} AS DATE)) AS BIGINT) * {DAY}"
            " + CAST((hour({0}) * 60 + minute({0})) * 60 AS BIGINT) * 1000000"
            " + CAST(date_part('SECOND', {0}) * 1000000 AS BIGINT)"
        ),
    }
    misread = (
        re.compile(f"{Engine.misread[0].pattern}|.*[.`].*", re.DOTALL),
        "a pattern, or for a field of another: rename it without dots and backquotes",
    )
    refusal = (
        "Spark stopped the query, as it does for a file that is incomplete, not of the types "
        "it declares or not where its executors look for it, for more rows than "
        "spark.driver.maxResultSize holds, and when executors or its server are lost; their "
        "logs say which"
    )

    def __init__(self, table: Any) -> None:  # noqa: ANN401 -- a frame of narwhals
        super().__init__(table)
        connect = ".connect" if table.implementation.is_pyspark_connect() else ""
        self.f = import_module(f"pyspark.sql{connect}.functions")
        self.forgets = self.native.sparkSession in _SAIL

    def compared(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        if self.table.implementation.is_pyspark_connect():
            return self._replaced(as_stored(self.native, self.f))
        types = {one.name: one.dataType for one in self.native.schema.fields}
        collate = f"collate({{}}, '{BINARY}')"
        is_one = {one: getattr(of, "collation", BINARY) != BINARY for one, of in types.items()}
        return self._replaced({one: collate for one in types if is_one[one]})

    def with_sql(self, columns: Mapping[str, str]) -> Any:  # noqa: ANN401 -- a frame of narwhals
        new = {one: self.f.expr(sql) for one, sql in columns.items()}
        return nw.from_native(self.native.withColumns(new))

    def joined(self, name: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        every = self.f.array(*self.native.columns)
        return nw.from_native(self.native.select(self.f.explode(every).alias(name)))

    def grouped(self, by: Sequence[str], name: str) -> nw.LazyFrame[Any]:
        # narwhals would ask a server for the columns of these rows, and of their groups.
        grouped = self.native.groupBy(*by).agg(self.f.count("*").alias(name))
        return nw.from_native(grouped)

    def among(self, column: str, values: Sequence[Any]) -> Any:  # noqa: ANN401 -- a frame
        # Each literal is a call to Java: 24,000 of them took longer than the query.
        if self.table.implementation.is_pyspark_connect() or len(values) < MANY:
            return super().among(column, values)
        held = import_module("pyarrow").table({column: _of_64_bits(values)})
        rows = self.native.sparkSession.createDataFrame(held)
        return nw.from_native(self.native.join(rows, column, "leftsemi"))

    def literals(self, values: Sequence[Any]) -> Sequence[Any]:
        # It has no other integers, and years without leading zeros are not read by Java.
        days = {one: self.f.lit(f"{one}").cast("date") for one in values if type(one) is date}
        return [days.get(one, one) for one in _of_64_bits(values)]

    def _frame(self) -> nw.DataFrame[Any]:
        needed("pyarrow", extra="spark")
        return nw.from_native(cast("pl.DataFrame", pl.from_arrow(self.native.toArrow())))

    @contextmanager
    def _silenced(self) -> Iterator[None]:
        """Keep Spark from printing why a query fails, which quotes values.

        Its driver and the executors in the same process are silent; those of a cluster write
        logs of their own.
        """
        if not self.table.implementation.is_pyspark():
            yield
            return
        context = self.native.sparkSession.sparkContext
        root = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger()  # noqa: SLF001
        with ExitStack() as restored:
            restored.callback(context.setLogLevel, root.getLevel().toString())
            context.setLogLevel("OFF")
            for logger in map(logging.getLogger, LOGGERS):
                restored.callback(setattr, logger, "disabled", logger.disabled)
                logger.disabled = True
            yield

    @contextmanager
    def cached(self) -> Iterator[Any]:
        """Keep the rows of a query in the cluster, in memory or on disk."""
        rows = self.native.persist()
        try:
            yield nw.from_native(rows)
        finally:
            rows.unpersist()


def _of_64_bits(values: Sequence[Any]) -> list[Any]:
    return [one for one in values if not isinstance(one, int) or -(2**63) <= one < 2**63]


def _comparable(value: Any, dtype: Any) -> Any:  # noqa: ANN401 -- narwhals' types
    """Return a listed value as the type of a column, None if no value there is equal to it."""
    if isinstance(value, str) or dtype == nw.String:
        return value if isinstance(value, str) and dtype == nw.String else None
    if not dtype.is_numeric():
        return value
    number = float if dtype.is_float() else int
    # An engine refuses an integer that no column of the type can hold.
    lowest, end = (0, 2**64) if dtype.is_unsigned_integer() else (-(2**63), 2**63)
    with suppress(OverflowError, TypeError, ValueError):
        here = number is float or lowest <= value < end
        return number(value) if here and number(value) == value else None
    return None


def engine_of(table: Any) -> Engine:  # noqa: ANN401 -- a frame of narwhals
    """Return the engine that holds the rows of a table."""
    kind = table.implementation
    if kind.is_pyspark() or kind.is_pyspark_connect():
        return Spark(table)
    return DuckDB(table) if kind.is_duckdb() else Engine(table)


def distinct(rows: nw.LazyFrame[Any], *names: str) -> nw.LazyFrame[Any]:
    """Return the rows that differ; ``unique`` would sort and number those of an engine.

    Args:
        rows: The rows.
        names: Their columns, for which an engine is not asked.
    """
    return engine_of(rows).grouped(names, f"{max(names)} times").select(*names)


def array_of(f: Any, numbers: Array) -> Any:  # noqa: ANN401 -- a Column
    """Return public numbers as an array of Spark that is the same for all rows.

    It is sent as one text, and made once a query: a literal for each number takes long to
    plan, and a method with all of them is not compiled.
    """
    kind = "double" if numbers.dtype.kind == "f" else "int"
    text = f.lit(",".join(map(str, numbers.tolist())))
    return f.split(text, ",").cast(f"array<{kind}>")


def _search(edges: list[float], first: int, last: int) -> str:
    """Return SQL for how many edges are at most a number, known to be so many to so many.

    Spark in Java does not optimise a method as long as that of hundreds of cases: 10^6 numbers
    among 500 edges take it half as long again as look-ups in an array, which take Sail 37 s.
    """
    if first == last:
        return str(first)
    middle = (first + last) // 2
    above, below = _search(edges, middle + 1, last), _search(edges, first, middle)
    return f"CASE WHEN {{0}} >= {double(edges[middle])} THEN {above} ELSE {below} END"


def double(number: float) -> str:
    """Return SQL for a public number: without a type it may be taken for a decimal one."""
    return f"CAST('{float(number)!r}' AS DOUBLE)"


def as_stored(native: Any, f: Any) -> dict[str, str]:  # noqa: ANN401 -- a frame of Spark
    """Return how columns of Spark Connect are read, none if the server is not Sail.

    Unsigned integers become signed ones of 64 bits, and those of 64 bits decimal numbers, of
    which there are no keys.

    Raises:
        DataError: Sail reads the rows through a name or another format, so that it may have
            looked at statistics.
    """
    if native not in _SIGNED:
        _SIGNED[native] = _signed(native, f)
    return _SIGNED[native]


def _signed(native: Any, f: Any) -> dict[str, str]:  # noqa: ANN401 -- a frame of Spark
    """Return the columns of unsigned integers that Sail has, as signed ones."""
    session = native.sparkSession
    if session.sql(STATISTICS).collect():  # Spark states the setting, and Sail nothing
        return {}
    session.sql(BATCHES).collect()
    _SAIL.add(session)
    plan = native._plan.to_proto(session.client)  # noqa: SLF001 -- PySpark tells nobody
    if not all(map(_is_stored, _leaves(plan))):
        raise DataError(
            "Sail takes NaN for a number in views, tables and queries by name, and in other "
            f"formats than {', '.join(sorted(FILES - {''}))}: give a file by its path"
        )
    names = [name for name, kind in native.dtypes if kind in INTEGERS]
    # A count makes one row of none; a type is the same for all rows.
    types = (f.typeof(f.max("`{}`".format(one.replace("`", "``")))) for one in names)
    [[_, *kinds]] = native.limit(0).agg(f.count(f.lit(1)), *types).collect()
    return {
        name: "CAST({} AS DECIMAL(20, 0))" if kind == LARGE else "CAST({} AS BIGINT)"
        for name, kind in zip(names, kinds, strict=True)
        if kind.startswith(UNSIGNED)
    }


def _is_stored(relation: Any) -> bool:  # noqa: ANN401 -- a message of protobuf
    """Return whether a relation that holds no other is of rows that are read as they are."""
    if (kind := relation.WhichOneof("rel_type")) != "read":
        return kind in LOCAL
    source = relation.read.data_source
    return relation.read.HasField("data_source") and str(source.format).lower() in FILES


def _leaves(message: Any) -> list[Any]:  # noqa: ANN401 -- a message of protobuf
    """Return the relations that a message is made of, which hold no others."""
    held = (one for field, one in message.ListFields() if field.message_type)
    parts = (part for one in held for part in ([one] if hasattr(one, "ListFields") else one))
    inner = [leaf for one in parts if hasattr(one, "ListFields") for leaf in _leaves(one)]
    return inner or [message] * (message.DESCRIPTOR.name == "Relation")
