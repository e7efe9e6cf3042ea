"""Facts about each data set, read from ``catalogue.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """One data set.

    Attributes:
        name: Its name.
        rows: The number of rows.
        columns: The columns, or a range of them.
        publisher: Who published the data.
        source: The public repository and path that the Parquet file was made from.
        terms: Licence or terms, as far as stated.
        differs: How it differs from what a paper used.
        sha256: Of the Parquet file.
        url: Where the publisher's file is, if it can be fetched and checked.
        known_hash: ``sha256:`` of the publisher's file, where that is known.
        format: Format of the publisher's file, see ``dpselect_studies.datasets.formats``.
        fingerprint: Of the converted table.
    """

    name: str
    rows: str
    columns: str
    publisher: str
    source: str
    terms: str
    differs: str
    sha256: str
    url: str | None = None
    known_hash: str | None = None
    format: str = ""
    fingerprint: str = ""

    @property
    def file(self) -> str:
        """The name of the Parquet file."""
        return f"{self.name}.parquet"


@cache
def catalogue() -> dict[str, DataSet]:
    """Return all data sets by name, in alphabetical order."""
    text = (
        files("dpselect_studies.datasets")
        .joinpath("catalogue.toml")
        .read_text(encoding="utf-8")
    )
    records = tomllib.loads(text)
    return {name: DataSet(name=name, **records[name]) for name in sorted(records)}
