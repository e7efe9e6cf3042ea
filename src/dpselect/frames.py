"""Queries as methods of frames: ``frame.dpselect.percentiles(...)`` of polars and pandas.

Import this module once, and every frame and lazy frame of polars and every data frame of pandas
has them. Each query of a table is a method of its name in small letters, which takes the fields
of the query and a budget:

    import dpselect.frames

    pl.scan_parquet("stays.parquet").dpselect.top_keys(
        column="ward", k=3, candidates=wards, epsilon=0.5, neighbours="add-remove"
    )
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from dpselect._optional import needed
from dpselect.plan import SupportsSpend
from dpselect.release import Release
from dpselect.requests.reading import READERS

NAME = "dpselect"
"""That of the namespace."""

_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

METHODS = {_BOUNDARY.sub("_", name).lower(): name for name in sorted(READERS)}
"""The class of queries of each method, such as ``top_keys``."""


class Selections:
    """Releases of one frame; the methods are those of ``METHODS``."""

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 -- of polars or pandas
        self._frame = frame

    def __getattr__(self, name: str) -> Callable[..., Release[Any]]:
        if name not in METHODS:
            raise AttributeError(f"there is no query {name!r}: {', '.join(METHODS)}")
        kind, frame = getattr(import_module("dpselect"), METHODS[name]), self._frame

        def release(*, budget: SupportsSpend | None = None, **fields: Any) -> Release[Any]:  # noqa: ANN401 -- of any query
            released: Release[Any] = kind(**fields).release(frame, budget=budget)
            return released

        release.__name__, release.__doc__ = name, kind.__doc__
        return release

    def __dir__(self) -> list[str]:
        return sorted(METHODS)


def _register() -> None:
    if find_spec("polars") is not None:
        needed("polars", extra="standard")
        import polars as pl

        pl.api.register_dataframe_namespace(NAME)(Selections)
        pl.api.register_lazyframe_namespace(NAME)(Selections)
    if find_spec("pandas") is not None:
        import_module("pandas").api.extensions.register_dataframe_accessor(NAME)(Selections)


_register()
