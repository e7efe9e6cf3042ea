"""Conversion of publishers' files into the columns of our Parquet files."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl

ADULT = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
]
ADULT_NUMBERS = [
    "age",
    "fnlwgt",
    "education_num",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
]


def convert(path: Path, format_: str) -> pl.DataFrame:
    """Return the table in a publisher's file.

    Args:
        path: The file as fetched.
        format_: ``"snap edges"`` (gzipped text, tabs), ``"musae edges"`` (a zip with a CSV),
            ``"uci adult"`` (a zip with two texts), ``"1-D histogram"`` or
            ``"2-D histogram"`` (a NumPy array).
    """
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        "snap edges": _snap_edges,
        "musae edges": _musae_edges,
        "uci adult": _adult,
        "1-D histogram": _histogram,
        "2-D histogram": _histogram_2d,
    }
    return readers[format_](path)


def fingerprint(table: pl.DataFrame) -> str:
    """Return the sha256 of a table's columns, names and values, whatever holds them."""
    digest = sha256()
    for column in table:
        digest.update(f"\n{column.name}\n".encode())
        if column.dtype.is_integer():
            digest.update(column.cast(pl.Int64).to_numpy().astype("<i8").tobytes())
        else:
            digest.update("\n".join(column.cast(pl.String)).encode())
    return digest.hexdigest()


def _snap_edges(path: Path) -> pl.DataFrame:
    edges = pl.read_csv(
        path, separator="\t", comment_prefix="#", has_header=False, new_columns=["a", "b"]
    )
    return _undirected(edges)


def _musae_edges(path: Path) -> pl.DataFrame:
    with zipfile.ZipFile(path) as archive:
        (member,) = (one for one in archive.namelist() if one.endswith("musae_git_edges.csv"))
        return _undirected(pl.read_csv(archive.read(member), new_columns=["a", "b"]))


def _undirected(edges: pl.DataFrame) -> pl.DataFrame:
    """Return each edge once, the smaller end first, sorted, without self loops."""
    return (
        edges.select(
            src=pl.min_horizontal("a", "b").cast(pl.Int32),
            dst=pl.max_horizontal("a", "b").cast(pl.Int32),
        )
        .filter(pl.col("src") < pl.col("dst"))
        .unique()
        .sort("src", "dst")
    )


def _adult(path: Path) -> pl.DataFrame:
    with zipfile.ZipFile(path) as archive:
        parts = [
            _adult_part(archive.read(f"adult.{end}"), split)
            for end, split in (("data", "train"), ("test", "test"))
        ]
    return pl.concat(parts)


def _adult_part(content: bytes, split: str) -> pl.DataFrame:
    # The test part starts with a line that is no record and ends every label with a dot.
    table = pl.read_csv(
        content, has_header=False, new_columns=ADULT, comment_prefix="|", infer_schema=False
    )
    return (
        table.select(pl.all().str.strip_chars().str.strip_chars_end("."))
        .filter(pl.all_horizontal(pl.all().is_not_null() & (pl.all() != "?")))
        .with_columns(pl.col(ADULT_NUMBERS).cast(pl.Int32), split=pl.lit(split))
    )


def _histogram(path: Path) -> pl.DataFrame:
    return pl.DataFrame({"count": np.load(path).ravel().astype(np.int64)})


def _histogram_2d(path: Path) -> pl.DataFrame:
    counts = np.load(path)
    i, j = np.nonzero(counts)
    return pl.DataFrame(
        {
            "i": i.astype(np.int16),
            "j": j.astype(np.int16),
            "count": counts[i, j].astype(np.int64),
        }
    )
