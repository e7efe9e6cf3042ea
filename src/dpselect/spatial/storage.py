"""Released maps as Parquet files: a row for each cell, all other facts as JSON metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dpselect.errors import DataError
from dpselect.neighbours import Neighbours
from dpselect.plan import ErrorBound, Plan, Spend
from dpselect.spatial.box import Box
from dpselect.spatial.export import BoxCounts, to_frame
from dpselect.spatial.partition import Partition
from dpselect.spatial.rules import CoarseGrid

KEY = "dpselect.spatial"
FORMAT = 2


def write(
    cells: BoxCounts,
    path: str | Path,
    *,
    plan: Plan,
    coarse: CoarseGrid | None,
    facts: Mapping[str, object],
) -> None:
    """Write a map to a Parquet file.

    Args:
        cells: Box, partition and counts.
        path: Where to.
        plan: Of the release.
        coarse: The coarse grid, if there is one.
        facts: All other attributes, as plain values.
    """
    metadata = {
        "format": FORMAT,
        "box": asdict(cells.box),
        "partition": {
            "label": cells.partition.label,
            "base": cells.partition.base,
            "regions": cells.partition.regions.tolist(),
        },
        "plan": {**asdict(plan), "neighbours": str(plan.neighbours)},
        "coarse": coarse and {"counts": coarse.counts.tolist(), "scale": coarse.scale},
        **facts,
    }
    to_frame(cells).write_parquet(path, metadata={KEY: json.dumps(metadata)})


def read(path: str | Path) -> dict[str, Any]:
    """Return the attributes of a map that :func:`write` wrote, by name.

    Raises:
        DataError: There is no such file, or it is not a map.
    """
    import polars as pl

    if not Path(path).is_file():
        raise DataError(f"there is no file {path}")
    try:
        metadata = json.loads(pl.read_parquet_metadata(path)[KEY])
        counts = pl.read_parquet(path, columns=["count"])["count"].to_numpy()
        return _attributes(metadata, counts)
    except (pl.exceptions.PolarsError, KeyError, TypeError, ValueError):
        raise DataError(f"{path} is not a map that to_parquet wrote") from None


def _attributes(metadata: dict[str, Any], counts: np.ndarray[Any, Any]) -> dict[str, Any]:
    if metadata.pop("format") != FORMAT:
        raise ValueError("another format")
    stored, coarse = metadata.pop("partition"), metadata.pop("coarse")
    regions = np.array(stored["regions"], dtype=np.int64)
    partition = Partition(stored["label"], stored["base"], regions)
    if counts.shape != (partition.cells,):
        raise ValueError("another number of cells")
    return {
        "box": Box(**metadata.pop("box")),
        "partition": partition,
        "counts": np.asarray(counts, dtype=np.float64),
        "plan": _plan(metadata.pop("plan")),
        "coarse": coarse and CoarseGrid(np.array(coarse["counts"]), coarse["scale"]),
        "scale": metadata["scale"],
        "points_per_user": metadata["points_per_user"],
        "candidates": tuple(metadata["candidates"]),
        "processing": tuple(metadata["processing"]),
        "version": metadata["version"],
    }


def _plan(stored: dict[str, Any]) -> Plan:
    error = stored["error"]
    return Plan(
        **{
            **stored,
            "spends": tuple(Spend(**spend) for spend in stored["spends"]),
            "neighbours": Neighbours(stored["neighbours"]),
            "public": tuple(stored["public"]),
            "error": error and ErrorBound(**error),
        }
    )
