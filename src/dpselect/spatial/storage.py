"""Maps as Parquet files: one row for each cell, and the release beside them as metadata."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect.errors import DataError
from dpselect.neighbours import Neighbours
from dpselect.spatial.box import Box
from dpselect.spatial.coarse import Coarse
from dpselect.spatial.export import to_frame
from dpselect.spatial.partition import Partition
from dpselect.spatial.shares import Shares

if TYPE_CHECKING:
    from dpselect.spatial.histogram import SpatialHistogram

KEY = "dpselect.spatial"
FORMAT = 1


def write(histogram: SpatialHistogram, path: str | Path) -> None:
    """Write a map to a Parquet file."""
    coarse = histogram.coarse
    release = {
        "format": FORMAT,
        "box": asdict(histogram.box),
        "label": histogram.chosen,
        "base": histogram.partition.base,
        "regions": histogram.partition.regions.tolist(),
        "scale": histogram.scale,
        "epsilon": histogram.epsilon,
        "shares": asdict(histogram.shares),
        "neighbours": str(histogram.neighbours),
        "points_per_user": histogram.points_per_user,
        "candidates": histogram.candidates,
        "coarse": coarse and {"counts": coarse.counts.tolist(), "scale": coarse.scale},
        "processing": histogram.processing,
        "version": histogram.version,
    }
    to_frame(histogram).write_parquet(path, metadata={KEY: json.dumps(release)})


def read(path: str | Path) -> SpatialHistogram:
    """Read a map that :func:`write` wrote.

    Raises:
        DataError: There is no such file, or it is no map.
    """
    import polars as pl

    if not Path(path).is_file():
        raise DataError(f"there is no file {path}")
    try:
        release = json.loads(pl.read_parquet_metadata(path)[KEY])
        counts = pl.read_parquet(path, columns=["count"])["count"].to_numpy()
        return _histogram(release, counts)
    except (pl.exceptions.PolarsError, KeyError, TypeError, ValueError):
        raise DataError(f"{path} is not a map that to_parquet wrote") from None


def _histogram(release: dict[str, Any], counts: np.ndarray[Any, Any]) -> SpatialHistogram:
    from dpselect.spatial.histogram import SpatialHistogram

    if release["format"] != FORMAT:
        raise ValueError("another format")
    coarse = release["coarse"]
    partition = Partition(
        release["label"], release["base"], np.array(release["regions"], dtype=np.int64)
    )
    if counts.shape != (partition.cells,):
        raise ValueError("another number of cells")
    return SpatialHistogram(
        box=Box(**release["box"]),
        partition=partition,
        counts=np.asarray(counts, dtype=np.float64),
        scale=release["scale"],
        epsilon=release["epsilon"],
        shares=Shares(**release["shares"]),
        neighbours=Neighbours(release["neighbours"]),
        points_per_user=release["points_per_user"],
        candidates=tuple(release["candidates"]),
        coarse=coarse and Coarse(np.array(coarse["counts"]), coarse["scale"]),
        processing=tuple(release["processing"]),
        version=release["version"],
    )
