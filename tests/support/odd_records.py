"""Tables of every container and odd records of every kind, to see what one record moves.

A record may decide what it is itself, and nothing about any other: for every table x and every
record r, what is read of x is the same without r and with it, wherever it stands.
"""

import csv
import tempfile
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import inf, nan
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import settings, strategies as st

from support.engines import duckdb_session

LARGE = 2**53 + 1
"""An integer that no float is equal to."""

examples = settings(max_examples=60 if settings.default.derandomize else 1500)

VALUES = {
    "integer": [0, 1, 2, 3, -1, LARGE - 1, LARGE, 2**63 - 1, -(2**63)],
    "unsigned": [0, 1, 2, 3, LARGE - 1, LARGE, 2**63, 2**64 - 1],
    "number": [0.0, 0.5, 1.0, 2.0, 3.0, -1.0, 1e19, 1e308, -1e308, inf, -inf, nan],
    "text": ["a", "b", "1", "2", "n/a", "", " a ", "é", "1e400", "nan", "None"],
}


def raises(*_):
    raise RuntimeError("secret")


def hostile(**methods):
    """Return a value that does not do what all others do."""
    return type("Odd", (), methods)()


ODDEST = [
    10**400, -(10**400), [1], (1, 2), {"a": 1}, b"a", True, 1j, np.complex64(1), Decimal("0.5"),
    Decimal("NaN"), Decimal("sNaN"), np.int64(1), np.array([1]), np.array([1, 2]),
    np.datetime64("2020-01-01"), np.datetime64("NaT", "s"), pd.NA, pd.NaT, object,
    "\ud800", ["\ud800"], "a\0", 10**5000, datetime(1, 1, 1), hostile(__str__=raises),  # noqa: DTZ001
    hostile(__eq__=raises, __hash__=None),
]  # fmt: skip
ROWS = [None, 1, "ab", (), (1,), [0, 1, 2, 3, 4], {"a": 1, "b": 2}, nan]
"""Records of a list that are no rows of the right length."""

POLARS = {"integer": pl.Int64, "unsigned": pl.UInt64, "number": pl.Float64, "text": pl.String}
PANDAS = {"integer": "Int64", "unsigned": "UInt64", "number": "float64", "text": "str"}
NUMPY = {"integer": "int64", "unsigned": "uint64", "number": "float64", "text": "U6"}

UNTYPED = ["rows", "tuples", "objects", "pandas objects", "csv"]
LAZY = ["polars lazy", "duckdb"]
TYPED = ["polars", "pandas", "pyarrow", "parquet", *LAZY]
NAMED = ["pandas objects", "csv", *TYPED]
EVERY = [*UNTYPED, "array", *TYPED]


@dataclass
class OddTable:
    """Rows, an odd record and where it stands among them, and the container of both."""

    container: str
    names: tuple
    types: tuple
    rows: list
    odd: object
    place: int

    @property
    def is_lazy(self):
        return self.container in LAZY

    @property
    def has_names(self):
        return self.container not in {"rows", "tuples", "objects", "array"}

    def without(self):
        """Return the table without the odd record."""
        return held_by(self.container, self.names, self.types, self.rows)

    def with_it(self):
        """Return the table with it."""
        rows = [*self.rows[: self.place], self.odd, *self.rows[self.place :]]
        return held_by(self.container, self.names, self.types, rows)


@st.composite
def odd_tables(draw, names, *types, containers=EVERY):
    """A table of at most six rows whose columns have one of these combinations of types."""
    container, kinds = draw(st.sampled_from(containers)), draw(st.sampled_from(types))
    if container == "array":
        kinds = (draw(st.sampled_from([k for k in kinds if k != "text"] or ["number"])),) * len(
            kinds
        )
    row = st.tuples(*(_values(container, kind) for kind in kinds))
    odd = row
    if container in {"rows", "tuples"}:
        odd = row | st.sampled_from(ROWS)
    rows = draw(st.lists(row, max_size=6))
    place = draw(st.integers(0, len(rows)))
    return OddTable(container, tuple(names), kinds, rows, draw(odd), place)


def held_by(container, names, types, rows):
    """Return rows as a container holds them."""
    if container in UNTYPED:
        return _csv(names, rows) if container == "csv" else _untyped(container, names, rows)
    if container == "array":
        return np.array(rows, dtype=NUMPY[types[0]]).reshape(len(rows), len(names))
    columns = {name: [row[j] for row in rows] for j, name in enumerate(names)}
    if container == "pandas":
        kinds = (PANDAS[kind] for kind in types)
        typed = zip(columns.items(), kinds, strict=True)
        return pd.DataFrame({name: pd.Series(v, dtype=kind) for (name, v), kind in typed})
    schema = {name: POLARS[kind] for name, kind in zip(names, types, strict=True)}
    return FRAMES[container](pl.DataFrame(columns, schema=schema))


def _parquet(frame):
    path = Path(tempfile.mkdtemp()) / "rows.parquet"
    frame.write_parquet(path)
    return path


FRAMES = {
    "polars": lambda frame: frame,
    "pyarrow": pl.DataFrame.to_arrow,
    "parquet": _parquet,
    "polars lazy": pl.DataFrame.lazy,
    "duckdb": lambda frame: duckdb_session().from_arrow(frame.to_arrow()),
}


def _values(container, kind):
    if container == "csv":
        return st.sampled_from([str(v) for v in [*VALUES["integer"], *VALUES["text"], 1e19]])
    if container in UNTYPED:
        every = [value for values in VALUES.values() for value in values]
        # pandas would make one column of objects out of nested rows.
        return st.sampled_from(VALUES[kind]) | st.sampled_from([None, *every, *ODDEST])
    values = VALUES[kind]
    if container == "array":
        return st.sampled_from(values)
    return st.sampled_from([None, *values])


def _untyped(container, names, rows):
    if container == "rows":
        return [list(row) if type(row) is tuple else row for row in rows]
    if container == "tuples":
        return rows
    columns = [_objects([row[j] for row in rows]) for j in range(len(names))]
    if container == "objects":
        table = np.empty((len(rows), len(names)), dtype=object)
        for j, column in enumerate(columns):
            table[:, j] = column
        return table
    return pd.DataFrame(dict(zip(names, columns, strict=True)), dtype=object)


def _objects(values):
    return np.fromiter(values, dtype=object, count=len(values))


def _csv(names, rows):
    path = Path(tempfile.mkdtemp()) / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)
    return path
