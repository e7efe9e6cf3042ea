"""Answers of a request as files: JSON, CSV, Parquet, and a report to print and sign."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from dpselect import writing
from dpselect._optional import needed
from dpselect.budget import Budget, words
from dpselect.errors import DataError, ParameterError
from dpselect.release import Release, for_csv
from dpselect.requests.request import Request

SUFFIXES = (".csv", ".parquet", ".xlsx", ".tex")
"""Suffixes of files that the table of an answer is written to.

The first two are for programs, with a row for each value; the others for people, as printed.
"""

TEX = str.maketrans({
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{one: rf"\{one}" for one in "&%$#_{}"},
})  # fmt: skip
"""Characters that LaTeX would obey, as it shows them."""


def check_suffix(path: Path) -> None:
    """Raise if a table cannot be written to a file of that name.

    Raises:
        ParameterError: It has another suffix.
        MissingDependencyError: The library that writes such files is not installed.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"`out` must end with {', '.join(SUFFIXES)}")
    if path.suffix.lower() == ".xlsx":
        needed("xlsxwriter", extra="standard")


def write(release: Release[Any], path: Path) -> None:
    """Write the table of an answer in the format that the suffix of a path names.

    What a format has no type for is written as JSON.

    Raises:
        MissingDependencyError: polars is not installed.
    """
    needed("polars", extra="standard")
    import polars as pl

    suffix, shown = path.suffix.lower(), release.shown()
    if suffix == ".xlsx":
        pl.DataFrame(shown, strict=False).write_excel(path)
        return
    if suffix == ".tex":
        rows = zip(*([name, *values] for name, values in shown.items()), strict=True)
        head, *lines = [" & ".join(map(_for_tex, row)) + r" \\" for row in rows]
        begin, end = rf"\begin{{tabular}}{{{'l' * len(shown)}}}", r"\end{tabular}"
        whole = [begin, r"\toprule", head, r"\midrule", *lines, r"\bottomrule", end, ""]
        path.write_text("\n".join(whole), encoding="utf-8")
        return
    frame = release.to_frame()
    odd = [
        name
        for name, kind in frame.schema.items()
        if kind == pl.Object or (suffix == ".csv" and kind.is_nested())
    ]
    frame = frame.with_columns(
        pl.Series(name, [json.dumps(one, default=str) for one in frame[name].to_list()])
        for name in odd
    )
    if suffix == ".csv":
        for_csv(frame).write_csv(path)
    else:
        frame.write_parquet(path)


def _for_tex(value: object) -> str:
    return writing.in_a_cell("" if value is None else str(value)).translate(TEX)


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
        for suffix in (".csv", ".parquet"):
            write(release, folder / f"{name}{suffix}")
    (folder / "answers.json").write_text(to_json(request, answers), encoding="utf-8")
    files = {one.entry: f"{name}.csv" for name, one in answers.items() if one.entry}
    page = html(request, budget, files)
    (folder / "report.html").write_text(page, encoding="utf-8")


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


def html(request: Request, budget: Budget, files: Mapping[int, str]) -> str:
    """Return the report of a budget, after a page with the file and its SHA-256.

    Args:
        request: The request.
        budget: What it was charged to.
        files: Files with the whole answer, by the number of the entry.
    """
    path = request.document.path
    name = "request" if path is None else path.name
    first = [
        f'<section class="request"><h1>Request: {escape(name)}</h1>',
        f"<small>SHA-256 of the file: {request.sha256}</small>",
        f"<pre>{escape(request.document.text)}</pre></section>",
    ]
    ledger = budget.path.name if budget.path is not None else name
    return words.html(budget, name=ledger, first="\n".join(first), whole=files)
