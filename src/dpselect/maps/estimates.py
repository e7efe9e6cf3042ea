"""Estimated numbers of points in areas of a released map, as a table and in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import validation
from dpselect._optional import needed
from dpselect.errors import ParameterError, no_column
from dpselect.maps.box import Box
from dpselect.release import for_csv
from dpselect.typing import Values

if TYPE_CHECKING:
    import geopandas
    import polars as pl

LEVEL = 0.95
"""The level of the intervals in tables and files."""

FORMATS = (".csv", ".parquet", ".geoparquet", ".gpkg", ".geojson")
"""Suffixes of the files that estimates are written to; all but CSV hold the areas too."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimates:
    """Estimated numbers of points in areas; post-processing of a release.

    They are estimates of the counted points: with ``max_per_user``, further points of a person
    are not included. ``docs/persons.md`` explains what shares of counted points estimate.

    Attributes:
        values: Estimated numbers of points in the parts of the areas that are on the map, shape
            ``(m,)``; NaN, as all errors, for an area that is off it.
        noise_errors: Standard deviation of the noise in each, shape ``(m,)``; it is known, and
            post-processing makes it smaller.
        non_uniformity_errors: Standard error of the assumption that points lie evenly in cells,
            shape ``(m,)``; estimated from the released counts, by how uneven cells are one by
            one (``non_uniformity``) and along the sides of an area. 0 for areas that cut no
            cell. It is not a bound.
        inside: The share of each area that is on the map, 0 to 1, shape ``(m,)``.
        names: Names of the areas.
        shapes: The areas as they were given, in the map's reference system: rectangles, shape
            ``(m, 4)``, or polygons, shape ``(m,)``.
        box: The box of the map.
    """

    values: Values
    noise_errors: Values
    non_uniformity_errors: Values
    inside: Values
    names: tuple[str, ...]
    shapes: Any
    box: Box

    @property
    def standard_errors(self) -> Values:
        """Standard errors of noise and non-uniformity together, shape ``(m,)``."""
        return np.hypot(self.noise_errors, self.non_uniformity_errors)

    def intervals(self, level: float = LEVEL) -> tuple[Values, Values]:
        """Return the ends of intervals for the numbers of points, each of shape ``(m,)``.

        With a limit per person they are of the points that are counted. Both errors are
        assumed to be normal. The coverage is ``level`` if the error of non-uniformity is
        estimated well; ``docs/report/measurements.md`` has measured coverages.

        Args:
            level: Above 0 and below 1.

        Raises:
            ParameterError: ``level`` is out of its range.
        """
        quantile = NormalDist().inv_cdf((1 + validation.share("level", level)) / 2)
        reach = quantile * self.standard_errors
        return np.maximum(self.values - reach, 0), np.maximum(self.values + reach, 0)

    def table(self) -> dict[str, list[Any]]:
        """Return the estimates as columns, with intervals of level 0.95; None off the map."""
        low, high = self.intervals()
        numbers = {
            "count": self.values,
            "low": low,
            "high": high,
            "standard_error": self.standard_errors,
            "noise_error": self.noise_errors,
            "non_uniformity_error": self.non_uniformity_errors,
            "inside": self.inside,
        }
        return {"area": list(self.names)} | {
            name: [None if isnan(one) else one for one in column.tolist()]
            for name, column in numbers.items()
        }

    def __len__(self) -> int:
        return self.values.size

    def __repr__(self) -> str:
        return f"Estimates({len(self)} areas)"

    def to_frame(self) -> pl.DataFrame:
        """Return ``table`` as a polars frame, one row for each area."""
        needed("polars", extra="standard")
        import polars as pl

        return pl.DataFrame(self.table())

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """Return ``table`` with the areas as geometries; needs ``dpselect[geo]``."""
        geopandas = needed("geopandas", extra="geo")
        shapes = self.shapes
        if shapes.ndim == 2:
            shapes = needed("shapely", extra="geo").box(*shapes.T)
        return geopandas.GeoDataFrame(self.table(), geometry=shapes, crs=self.box.crs)

    def to_file(self, path: str | Path) -> None:
        """Write the estimates in the format that the suffix of the path names.

        ``.csv``; or with the areas ``.parquet`` (GeoParquet), ``.gpkg`` and ``.geojson``, which
        need ``dpselect[geo]``.

        Raises:
            ParameterError: The suffix is not one of these.
            MissingDependencyError: The package that writes the format is not installed.
        """
        suffix = check_suffix(path)
        if suffix == ".csv":
            for_csv(self.to_frame()).write_csv(path)
        elif suffix in {".parquet", ".geoparquet"}:
            self.to_geopandas().to_parquet(path)
        else:
            self.to_geopandas().to_file(path)


def names_of(areas: Any, count: int, names: str | Sequence[object] | None) -> Sequence[object]:  # noqa: ANN401
    """Return what areas are called; they are public, and so are their columns.

    Args:
        areas: Polygons of any kind; a GeoDataFrame has columns and an index.
        count: How many there are.
        names: As for ``MapRelease.estimate``.

    Raises:
        ColumnError: ``names`` is a column that they do not have.
    """
    columns = [] if getattr(areas, "columns", None) is None else list(areas.columns)
    if isinstance(names, str):
        if names not in columns:
            raise no_column(names, map(str, columns))
        return list(areas[names])
    if names is not None:
        return names
    if not hasattr(areas, "index") or isinstance(areas, list | tuple):
        return range(count)
    index = list(areas.index)
    texts = [one for one in (list(areas[name]) for name in columns) if _are_texts(one)]
    return texts[0] if len(texts) == 1 and not _are_texts(index) else index


def _are_texts(values: list[object]) -> bool:
    """Return whether these are texts, each another one."""
    return all(isinstance(one, str) for one in values) and len({*values}) == len(values)


def check_suffix(path: str | Path) -> str:
    """Return the suffix of a path; raise if estimates cannot be written so.

    Raises:
        ParameterError: It is none of ``FORMATS``.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ParameterError(
            f"cannot write {path}: the suffix must be one of {', '.join(FORMATS)}"
        )
    return suffix
