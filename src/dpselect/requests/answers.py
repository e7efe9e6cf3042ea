"""Answers of a request as files: JSON, CSV, Parquet, and a report to print and sign."""

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

    suffix, shown, frame = path.suffix.lower(), release.shown(), release.to_frame()
    for name, kind in frame.schema.items():
        if kind == pl.Object or (suffix == ".csv" and kind.is_nested()):
            texts = [json.dumps(one, default=str) for one in frame[name].to_list()]
            frame = frame.with_columns(pl.Series(name, texts))
    if suffix == ".xlsx":
        pl.DataFrame(shown, strict=False).write_excel(path)
    elif suffix == ".tex":
        rows = zip(*([name, *values] for name, values in shown.items()), strict=True)
        head, *lines = [" & ".join(map(_for_tex, row)) + r" \\" for row in rows]
        begin, end = rf"\begin{{tabular}}{{{'l' * len(shown)}}}", r"\end{tabular}"
        whole = [begin, r"\toprule", head, r"\midrule", *lines, r"\bottomrule", end, ""]
        path.write_text("\n".join(whole), encoding="utf-8")
    elif suffix == ".csv":
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

    The report is that of the budget, after a page with the file and its SHA-256.

    Raises:
        MissingDependencyError: polars is not installed.
    """
    for name, release in answers.items():
        for suffix in (".csv", ".parquet"):
            write(release, folder / f"{name}{suffix}")
    content = json.dumps(to_dict(request, answers), default=str, indent=2)
    (folder / "answers.json").write_text(content, encoding="utf-8")
    name = request.document.name or "request"
    first = [
        f'<section class="request"><h1>Request: {escape(name)}</h1>',
        f"<small>SHA-256 of the file: {request.sha256}</small>",
        f"<pre>{escape(request.document.text)}</pre></section>",
    ]
    ledger = name if budget.path is None else budget.path.name
    files = {one.entry: f"{name}.csv" for name, one in answers.items() if one.entry}
    page = words.html(budget, name=ledger, first="\n".join(first), whole=files)
    (folder / "report.html").write_text(page, encoding="utf-8")


def to_dict(request: Request, answers: Mapping[str, Release[Any]]) -> dict[str, Any]:
    """Return all answers with their plans as values that JSON can hold, or texts."""
    return {
        "request": request.document.name,
        "sha256": request.sha256,
        "source": str(request.source),
        "answers": {name: release.to_dict() for name, release in answers.items()},
    }
