"""Comparison of a run with what the paper prints, by the standard errors of both sides.

A number agrees if it is within its tolerance of the printed one: what the last printed digit
leaves open, and twice the standard error of the difference. The paper's standard error is that
of its own number of repetitions, at the spread that ours have. One in twenty true numbers
differs by more.

What a null predictor would meet as well, such as a choice by chance, shows nothing: it is not
counted as agreement. Formulas, and words that we put as numbers, are counted apart.
"""

from __future__ import annotations

from collections.abc import Callable
from math import hypot, isnan, sqrt
from typing import Any

import polars as pl

from dpselect_studies.study import Null, Printed, Row, Spread, Study, mean_of

WIDTH = 2.0
"""Standard errors of the difference within which numbers agree."""

AGREES, NULL_TOO, DIFFERS = "agrees", "as the null", "differs"
IN_CODE = "the settings of the authors' published code, where it agrees"
"""The reason why a number differs at the settings of the text."""
CODE = "-code"
"""What the name of a run at these settings ends in."""
VERDICTS = (AGREES, NULL_TOO, DIFFERS)

SCHEMA = {
    "where": pl.String,
    "kind": pl.String,
    "printed": pl.Float64,
    "ours": pl.Float64,
    "their_error": pl.Float64,
    "our_error": pl.Float64,
    "tolerance": pl.Float64,
    "null": pl.String,
    "null_value": pl.Float64,
    "null_agrees": pl.Boolean,
    "verdict": pl.String,
    "source": pl.String,
    "why": pl.String,
    "run": pl.String,
    "at": pl.String,
    "shown": pl.Float64,
    "in_code": pl.Float64,
    "code_verdict": pl.String,
}


def compare(
    study: Study[Any, Any],
    frame: pl.DataFrame | None,
    stored: Callable[[str], pl.DataFrame | None] = lambda _name: None,
    code: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Return the paper's numbers beside ours.

    Args:
        study: The study with its printed numbers.
        frame: The frame of a run, None if there is none. Numbers of rows that are not in it
            are left out: a small run does not measure everything.
        stored: Returns the stored run of a study, for what reasons point to.
        code: The frame of a run at the settings of the authors' code, if there is one.

    Returns:
        Columns ``where``; ``kind``: a number, a formula or words; ``printed``, ``ours``;
        ``their_error`` and ``our_error``, standard errors; ``tolerance``; ``null``, the name
        of the null predictor, ``null_value`` and ``null_agrees``; ``verdict``: one of
        ``agrees``, ``as the null`` and ``differs``; ``source``; ``why``, the reason where they
        differ, ``run``, the study whose stored run shows it, ``at``, its rows and column, and
        ``shown``, what it has there; ``in_code`` and ``code_verdict``: ours and the verdict at
        the settings of the authors' code. Where it agrees with them, that is the reason.
    """
    claimed, in_code = (
        pl.DataFrame() if one is None else study.with_claims(one) for one in (frame, code)
    )
    rows = []
    for number in study.printed:
        if row := _row(study, number, claimed):
            theirs = _row(study, number.as_in_code(), in_code)
            reason = _reason(number, stored)
            if theirs and theirs["verdict"] != DIFFERS:
                shown = {"at": theirs["where"], "shown": theirs["ours"]}
                reason = {"why": IN_CODE, "run": IN_CODE, **shown}
            found = {"in_code": theirs.get("ours"), "code_verdict": theirs.get("verdict")}
            rows.append(row | reason | found)
    beside = pl.DataFrame(rows, schema=SCHEMA)
    differs = pl.col("verdict") == DIFFERS
    return beside.with_columns(
        pl.when(differs).then("why").otherwise(pl.lit("")).alias("why"),
        pl.when(differs).then("run").otherwise(pl.lit("")).alias("run"),
        pl.when(differs).then("at").otherwise(pl.lit("")).alias("at"),
        pl.when(differs).then("shown").alias("shown"),
    )


def _row(study: Study[Any, Any], number: Printed, frame: pl.DataFrame) -> dict[str, Any]:
    """Return a number beside ours; nothing if the frame does not have it."""
    ours = mean_of(frame, number.where, number.column)
    if isnan(ours):
        return {}
    spread = _spread(study, number, frame)
    our_error = spread.deviation / sqrt(spread.runs)
    their_error = spread.deviation / sqrt(number.runs) if number.runs else 0.0
    tolerance = number.digit + WIDTH * hypot(our_error, their_error)
    null_value = None if number.null is None else _null(number.null, number.column, frame)
    null_agrees = None if null_value is None else number.agrees(null_value, tolerance)
    verdict = DIFFERS
    if number.agrees(ours, tolerance):
        verdict = NULL_TOO if null_agrees else AGREES
    return {
        "where": ", ".join(map(str, number.where.values())),
        "kind": number.kind,
        "printed": number.value,
        "ours": ours,
        "their_error": their_error,
        "our_error": our_error,
        "tolerance": tolerance,
        "null": None if number.null is None else number.null.name,
        "null_value": null_value,
        "null_agrees": null_agrees,
        "verdict": verdict,
        "source": number.source,
    }


def _reason(
    number: Printed, stored: Callable[[str], pl.DataFrame | None]
) -> dict[str, str | float | None]:
    reason = number.reason
    if reason is None:
        return {"why": "", "run": "", "at": "", "shown": None}
    frame = stored(reason.run)
    shown = float("nan") if frame is None else reason.shown_by(frame)
    return {
        "why": reason.text,
        "run": reason.run,
        "at": f"{', '.join(map(str, reason.where.values()))}: {reason.column}",
        "shown": None if isnan(shown) else shown,
    }


def _spread(study: Study[Any, Any], number: Printed, frame: pl.DataFrame) -> Spread:
    found = frame.filter(**number.where)
    return study.spread(found.filter(pl.col(number.column).is_not_null()), number)


def _null(null: Null, column: str, frame: pl.DataFrame) -> float | None:
    if not null.where:
        return null.value
    found = mean_of(frame, null.where, column)
    return None if isnan(found) else found


def counted(study: Study[Any, Any], beside: pl.DataFrame) -> Row:
    """Return how many printed numbers there are, and what a run makes of them.

    Args:
        study: The study.
        beside: What ``compare`` returns of its full run; empty if there is none.

    Returns:
        ``title``; ``printed``, the numbers in print; of them ``agree``, ``as_null`` and
        ``differ``, of the last ``in_code``, which agree at the settings of the authors' code,
        and ``unexplained``; ``apart``, the formulas and words, and ``hold``, how many of them
        hold.
    """
    numbers = [one for one in study.printed if one.kind == "number"]
    row: Row = {"title": study.title, "printed": len(numbers)}
    row |= {"apart": len(study.printed) - len(numbers)}
    of_print = beside.filter(kind="number")
    found = of_print["verdict"].to_list()
    row |= {
        name: found.count(one)
        for name, one in zip(("agree", "as_null", "differ"), VERDICTS, strict=True)
    }
    differ = of_print.filter(verdict=DIFFERS)
    row["in_code"] = differ.filter(why=IN_CODE).height
    row["unexplained"] = differ.filter(run="").height
    row["hold"] = beside.filter(pl.col("kind") != "number", verdict=AGREES).height
    return row
