"""Domains files: the public claims about a table, written down once.

A JSON object with the label's column, its classes, a bound on the number of records and a
domain for every column that may be split on::

    {"label": "income", "classes": ["<=50K", ">50K"], "max_records": 50000,
     "columns": {"age": {"low": 17, "high": 90, "bins": 8},
                 "sex": {"values": ["Female", "Male"], "other": "not said"}}}
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw

from dpselect import tables
from dpselect._optional import needed
from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.trees.domains import Bins, Categories, Domain, from_dict

MOST_CATEGORIES = 20
"""A column of integers with more values than this is proposed in bins."""


@dataclass(frozen=True)
class Declaration:
    """Public claims about a table.

    Attributes:
        label: The column of the classes.
        classes: The labels that can occur.
        max_records: Bound on the number of records.
        columns: A domain for each column that may be split on.
    """

    label: str
    classes: tuple[Hashable, ...]
    max_records: int
    columns: Mapping[str, Domain]

    @classmethod
    def from_file(cls, path: str | Path) -> Declaration:
        """Read a domains file.

        Raises:
            DataError: There is no such file, it is no JSON object, or a part is missing.
            ParameterError: A domain is not one.
        """
        try:
            given = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise DataError(f"{path} must be a domains file: a JSON object") from None
        parts = {"label": str, "classes": list, "max_records": int, "columns": dict}
        for name, kind in parts.items():
            if not isinstance(given, dict) or not isinstance(given.get(name), kind):
                raise DataError(
                    f"{path} must give {name!r} ({kind.__name__}); see 'dpselect domains'"
                )
        columns = {}
        for name, domain in given["columns"].items():
            if not isinstance(domain, dict):
                raise ParameterError(f"the domain of {name!r} must be a JSON object")
            columns[name] = from_dict(name, domain)
        return cls(given["label"], tuple(given["classes"]), given["max_records"], columns)

    def read(self, data: object, *, user: str | None = None) -> tuple[Any, Any]:
        """Return the declared columns and the labels of a table; private.

        Args:
            data: A path of a Parquet or CSV file, or any frame. The fields of a CSV file are
                text: each is read as the declared value that it writes, so that ``1``,
                ``1.0`` and ``True`` are all in the domain ``[0, 1]``.
            user: The column of persons, returned with the declared ones as it is.

        Raises:
            ColumnError: A column is missing, or is not of the type of its bins.
            DataError: The table cannot be read.
        """
        domains = {**self.columns, self.label: Categories(self.classes)}
        users = [] if user is None or user in domains else [user]
        if tables.is_csv(data):
            table = _of_text(data, domains, users)
        else:
            table = tables.read_columns(data, numeric=[], plain=[*domains, *users])
        return table.select(*self.columns, *users), table.get_column(self.label)


def _of_text(
    path: object, domains: Mapping[str, Domain], others: list[str]
) -> nw.DataFrame[Any]:
    """Return the columns of a CSV file, each field as the declared value that it writes."""
    needed("polars", extra="standard")
    import polars as pl

    kinds = {name: d for name, d in domains.items() if isinstance(d, Categories)}
    numbers = [name for name in domains if name not in kinds]
    table = tables.read_columns(path, numeric=numbers, plain=[*kinds, *others])
    # Object, because one column may hold numbers, truth values and text.
    declared = [
        pl.Series(name, domain.of_text(table.get_column(name).to_list()), dtype=pl.Object)
        for name, domain in kinds.items()
    ]
    return nw.from_native(nw.to_native(table).with_columns(declared))


def domains_template(data: object, label: str) -> dict[str, Any]:
    """Return a domains file to fill in, from column names and types; no value is read.

    Args:
        data: A path or any frame.
        label: The column of the classes.

    Returns:
        Null where a person has to say what is public.

    Raises:
        ColumnError: There is no column ``label``.
    """
    types = tables.open_table(data).collect_schema()
    if label not in types:
        raise ColumnError(f"there is no column {label!r}; the table has {list(types)}")
    numbers: dict[str, Any] = {"low": None, "high": None, "bins": 8}
    texts: dict[str, Any] = {"values": [], "other": "other"}
    return {
        "label": label,
        "classes": [],
        "max_records": None,
        "columns": {
            name: dict(numbers if kind.is_numeric() else texts)
            for name, kind in types.items()
            if name != label
        },
    }


def domains_of_public_data(data: object, label: str) -> dict[str, Any]:
    """Return a complete domains file from the values of a table that is public.

    Bounds, categories, classes and the number of records are read off the values, which no
    epsilon protects: only for public or synthetic data. A column of a CSV file holds numbers
    if all of its fields do.

    Raises:
        ColumnError: There is no column ``label``.
    """
    types = tables.open_table(data).collect_schema()
    if label not in types:
        raise ColumnError(f"there is no column {label!r}; the table has {list(types)}")
    table = tables.read_columns(data, numeric=[], plain=list(types))
    if tables.is_csv(data):
        table = _with_numbers(table)
    columns = {
        name: _of_values(table.get_column(name)).to_dict() for name in types if name != label
    }
    return {
        "label": label,
        "classes": _distinct(table.get_column(label)),
        "max_records": max(len(table), 2),
        "columns": columns,
    }


def _with_numbers(table: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Return a table of text, a column of numbers where all of its fields are numbers."""
    needed("polars", extra="standard")
    import polars as pl

    typed = []
    for text in nw.to_native(table):
        casts = [
            text.str.strip_chars().cast(kind, strict=False) for kind in (pl.Int64, pl.Float64)
        ]
        whole = [cast for cast in casts if cast.null_count() == text.null_count()]
        typed.append(whole[0] if whole else text)
    return nw.from_native(pl.DataFrame(typed))


def _of_values(column: Any) -> Domain:  # noqa: ANN401 -- a narwhals series
    if column.dtype.is_numeric():
        low, high = column.min(), column.max()
        few = column.dtype.is_integer() and column.n_unique() <= MOST_CATEGORIES
        if low is not None and low < high and not few:
            return Bins(float(low), float(high))
    return Categories(_distinct(column) or ["none"])


def _distinct(column: Any) -> list[Any]:  # noqa: ANN401 -- a narwhals series
    values = column.drop_nulls().unique().to_list()
    return sorted(values, key=lambda value: (str(type(value)), value))
