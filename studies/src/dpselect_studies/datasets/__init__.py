"""The public data sets of the papers, by name.

They come from the folder that the environment variable ``DPSELECT_DATA`` names, as Parquet
files whose sha256 is checked; or, without it, from the publisher, once, into a cache. What a
publisher sends is converted to the same columns, and it is the *converted table* that is
checked: a file packed anew with the same records passes, another record does not.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from dpselect.errors import DataError, ParameterError
from dpselect_studies.datasets.catalogue import DataSet, catalogue

if TYPE_CHECKING:
    import polars as pl

FOLDER = "DPSELECT_DATA"


__all__ = ["DataSet", "about", "load", "names"]


def names() -> list[str]:
    """Return the names of all data sets, sorted."""
    return sorted(catalogue())


def about(name: str) -> DataSet:
    """Return where a data set comes from, its terms and how it differs from the papers'.

    Raises:
        ParameterError: There is none of that name.
    """
    known = catalogue()
    if name not in known:
        raise ParameterError(f"there is no data set {name!r}; the names are {', '.join(known)}")
    return known[name]


def load(name: str) -> pl.DataFrame:
    """Return a data set as a polars frame; public data.

    Raises:
        ParameterError: There is none of that name.
        DataError: Its file is missing, is another file, or cannot be had; the message says
            what to do.

    Examples:
        >>> load("median")
        Traceback (most recent call last):
        dpselect.errors.ParameterError: there is no data set 'median'; the names are acs, ...
    """
    found = about(name)
    folder = os.environ.get(FOLDER)
    if folder:
        return _from_folder(found, Path(folder))
    if found.url is None:
        raise DataError(
            f"the publisher of {name!r} offers no file that can be fetched and checked: put "
            f"{found.file} (sha256 {found.sha256}) into a folder and name that in {FOLDER}; "
            f"it was made from {found.source}"
        )
    return _from_publisher(found)


def _from_folder(found: DataSet, folder: Path) -> pl.DataFrame:
    import polars as pl
    import pooch

    path = folder / found.file
    if not path.is_file():
        raise DataError(f"{FOLDER} names {folder}, which has no file {found.file}")
    if pooch.file_hash(str(path)) != found.sha256:
        raise DataError(f"{path} is another file: its sha256 is not {found.sha256}")
    return pl.read_parquet(path)


def _from_publisher(found: DataSet) -> pl.DataFrame:
    import pooch

    from dpselect_studies.datasets import formats

    try:
        path = pooch.retrieve(found.url, found.known_hash, path=pooch.os_cache("dpselect"))
    except Exception as error:
        raise DataError(
            f"{found.url} cannot be fetched, or is another file now: put {found.file} (sha256 "
            f"{found.sha256}) into a folder and name that in {FOLDER}"
        ) from error
    table = formats.convert(Path(path), found.format)
    if formats.fingerprint(table) != found.fingerprint:
        raise DataError(f"{path}, fetched from {found.url}, holds other records than expected")
    return table
