"""Texts of an engine as their bytes, whatever collation a column or a connection has.

By a collation texts with different letters are one, and which of them stands for all depends on
the order of the rows. Text that is compared by bytes is the same in every engine.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import narwhals as nw

from dpselect.errors import ColumnError, DataError
from dpselect.tables.kinds import declared

ALIKE = ("A", "ä", "a ")
"""Texts that a collation may take for ``a``."""


def by_bytes(table: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return the rows with texts that are compared by their bytes; none is read.

    Enumerations of DuckDB become text, as they do wherever they are grouped.

    Raises:
        ColumnError: A text of Ibis has a collation that cannot be set aside.
        DataError: The counts of the engine were not compared with those of the others.
    """
    kind = table.implementation
    if kind.is_polars():
        return table
    if kind.is_duckdb():
        return _of_duckdb(table)
    if kind.is_pyspark() or kind.is_pyspark_connect():
        return _of_spark(table)
    engine = kind.value
    if kind.is_ibis():
        name = nw.to_native(table).get_backend().name
        if name in OF_IBIS:
            return OF_IBIS[name](table)
        engine = f"Ibis over {name}"
    # Elsewhere -0.0 may be less than 0, or one date stop the query.
    raise DataError(
        f"{engine} is no engine whose types were compared: polars, DuckDB, PySpark and Ibis "
        "over DuckDB or SQLite are; give a file, or a frame in memory of the columns"
    )


def _of_duckdb(table: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    # Beside that of a column there may be one of the connection, which no type shows.
    names = ['"{}"'.format(name.replace('"', '""')) for name in _texts(table)]
    plain = (f'CAST({name} AS VARCHAR) COLLATE "binary" AS {name}' for name in names)
    replaced = f"* REPLACE ({', '.join(plain)})"
    return nw.from_native(nw.to_native(table).project(replaced)) if names else table


def _of_spark(table: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    from dpselect.tables.sail import as_stored
    from dpselect.tables.spark import functions

    if table.implementation.is_pyspark_connect():
        table = as_stored(table)
    native, f = nw.to_native(table), functions(table)
    collated = [
        field.name
        for field in native.schema.fields
        if getattr(field.dataType, "collation", BINARY) != BINARY
    ]
    plain = {name: f.collate(f.col(f"`{name}`"), BINARY) for name in collated}
    return nw.from_native(native.withColumns(plain)) if plain else table


BINARY = "UTF8_BINARY"
"""The collation of Spark that is none."""


def _of_sqlite(table: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return each value that is of the type of its column; a row may hold any there."""
    native, types = nw.to_native(table), table.collect_schema()
    alone: dict[str, Any] = {}
    for name, dtype in types.items():
        value = native[name]
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
    return nw.from_native(native.mutate(**alone)) if alone else table


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


def _of_duckdb_in_ibis(table: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    native, names = nw.to_native(table), tuple(_texts(table))
    for name, alike in zip(names, _alike(native.op(), names), strict=True):
        if alike:
            raise ColumnError(
                f"column {name!r} has a collation: texts with different letters are one there; "
                "give it the binary one, or leave it out"
            )
    return table


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


def _texts(table: nw.LazyFrame[Any]) -> list[str]:
    kinds = (nw.String, nw.Categorical, nw.Enum)
    return [
        name
        for name, dtype in table.collect_schema().items()
        if any(dtype == one for one in kinds)
    ]


def whole(table: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Collect a table whose integers stay what they are beside a null.

    Ibis collects SQLite through pandas, which makes floats of integers where one is missing:
    ids beyond 2^53 would be one for a null more. What is missing leaves the engine apart.
    """
    types = table.collect_schema()
    integers = [name for name, dtype in types.items() if dtype.is_integer()]
    if not table.implementation.is_ibis() or not integers:
        return table.collect()
    apart = {f"missing {name}": nw.col(name).is_null() for name in integers}
    found = table.with_columns(**apart).with_columns(nw.col(*integers).fill_null(0)).collect()
    there = {
        name: nw.when(~nw.col(f"missing {name}").cast(nw.Boolean)).then(nw.col(name))
        for name in integers
    }
    return found.with_columns(**there).select(*types)


OF_IBIS = {"duckdb": _of_duckdb_in_ibis, "sqlite": _of_sqlite}
"""Engines below Ibis, by its name of them."""
