"""Answers of a request as files: JSON, CSV, Parquet, and a report to print and sign."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect._optional import needed
from dpselect.budget import Budget, report
from dpselect.errors import DataError
from dpselect.release import Release, for_csv
from dpselect.requests.request import Request

if TYPE_CHECKING:
    import polars as pl

STYLE = "<style>section.request {break-after: page}</style>"


def check_folder(folder: Path) -> None:
    """Make a folder for answers; before anything is spent.

    Raises:
        DataError: It has files, or cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        has_files = any(folder.iterdir())
    except OSError:
        raise DataError(f"cannot make the folder {folder}") from None
    if has_files:
        raise DataError(f"{folder} has files: give a new folder for the answers")


def save(
    request: Request, answers: Mapping[str, Release[Any]], budget: Budget, folder: Path
) -> None:
    """Write ``answers.json``, a CSV and a Parquet file for each answer, and ``report.html``.

    Raises:
        MissingDependencyError: polars is not installed.
    """
    for name, release in answers.items():
        frame = _flat(release.to_frame())
        for_csv(frame).write_csv(folder / f"{name}.csv")
        frame.write_parquet(folder / f"{name}.parquet")
    (folder / "answers.json").write_text(to_json(request, answers), encoding="utf-8")
    (folder / "report.html").write_text(html(request, budget), encoding="utf-8")


def to_json(request: Request, answers: Mapping[str, Release[Any]]) -> str:
    """Return all answers with their plans as one JSON object."""
    path = request.document.path
    content = {
        "request": None if path is None else path.name,
        "sha256": request.sha256,
        "source": str(request.source),
        "answers": {name: release.to_dict() for name, release in answers.items()},
    }
    return json.dumps(content, default=str, indent=2)


def html(request: Request, budget: Budget) -> str:
    """Return the report of a budget, after a page with the file and its SHA-256."""
    path = request.document.path
    name = "request" if path is None else path.name
    first = [
        STYLE,
        f'<section class="request"><h1>Request: {escape(name)}</h1>',
        f"<small>SHA-256 of the file: {request.sha256}</small>",
        f"<pre>{escape(request.document.text)}</pre></section>",
    ]
    ledger = budget.path.name if budget.path is not None else name
    return report.html(budget, name=ledger, first="\n".join(first))


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with values that are lists or objects as JSON."""
    needed("polars", extra="standard")
    import polars as pl

    nested = [
        name for name, kind in frame.schema.items() if kind.is_nested() or kind == pl.Object
    ]
    return frame.with_columns(
        pl.Series(name, [json.dumps(one, default=str) for one in frame[name].to_list()])
        for name in nested
    )
