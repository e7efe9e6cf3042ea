"""The stored full runs, the page that shows them, and the comparison with the papers."""

import json
from dataclasses import replace
from math import hypot, sqrt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import dpselect_studies as studies
from dpselect_studies.command import commands
from dpselect_studies.comparison import AGREES, CODE, DIFFERS, IN_CODE, NULL_TOO
from dpselect_studies.farias_2023 import peers
from dpselect_studies.report import COUNTS, MISSING, Stored, filled, page
from dpselect_studies.study import Null, Printed, Reason, Spread, of_parts, of_shares

RESULTS = Path(__file__).parents[1] / "results"
STORED = Stored(RESULTS)
PICTURE = studies.load("farias-2023/figure-7")
"""A study of which only the comparison is used."""


@pytest.mark.parametrize("name", studies.STUDIES)
def test_a_full_run_is_stored_and_has_every_row_that_is_printed(name):
    study = studies.load(name)

    beside = studies.compare(study, STORED.run(name))

    assert beside.height == len(study.printed)
    assert beside["ours"].is_finite().all()
    assert beside.filter(pl.col("null").is_not_null())["null_value"].is_not_null().all()
    assert (study.code is None) == (STORED.run(f"{name}{CODE}") is None)


@pytest.mark.parametrize("name", studies.STUDIES)
def test_the_stored_run_that_a_reason_names_bears_it_out(name):
    beside = STORED.beside(name).to_dicts()
    for number, row in zip(studies.load(name).printed, beside, strict=True):
        reason = number.reason
        if row["verdict"] != DIFFERS or row["why"] == IN_CODE or reason is None:
            continue
        frame = STORED.claims(reason.run)

        assert reason.at_least > -np.inf or reason.at_most < np.inf
        assert reason.holds(frame), (number.where, reason.shown_by(frame))


def test_a_reason_that_its_run_does_not_show_is_rejected():
    frame = pl.DataFrame({"method": ["a", "b"], "recall": [0.2, 0.8]})
    true = Reason("b finds more", "a study", {"method": "b"}, "recall", at_least=0.5)

    assert true.holds(frame)
    assert not replace(true, at_least=0.9).holds(frame)
    assert not replace(true, where={"method": "c"}).holds(frame)
    assert not replace(true, column="precision").holds(frame)


def test_the_page_shows_what_is_stored():
    shown = (RESULTS / "README.md").read_text(encoding="utf-8")

    assert page(shown, RESULTS) == shown
    assert MISSING not in shown
    assert all(f"### {studies.load(name).title}\n" in shown for name in studies.STUDIES)


def test_a_number_in_a_text_is_that_of_the_stored_run(tmp_path):
    for name, factor in (("figure-7", 1), ("figure-7-code", 2)):
        path = tmp_path / "farias-2023" / f"{name}.parquet"
        path.parent.mkdir(exist_ok=True)
        rows = {"what": ["a", "a", "b"], "epsilon": [0.5, 1.0, 1.0], "x": [0.2, -0.4, 1234.5]}
        pl.DataFrame(rows).with_columns(pl.col("x") * factor).write_parquet(path)

    def shown(text):
        return filled(text, "farias-2023/figure-7", Stored(tmp_path))

    assert shown("at .5 {x: a | epsilon=0.5 | .1}, least {min x:\na}") == "at .5 .2, least -.40"
    assert shown("{code x: a | 1.0} and {max x: 1.0 | .1}") == "-.80 and 1,234.5"
    assert shown("{x: a}, {no number}") == "-.10, {no number}"
    assert shown("{x: c} {y: a}") == f"{MISSING} {MISSING}"


BY_CHANCE = Null("a choice by chance", {"what": "chance"})
NUMBER = Printed({"what": "ours"}, "x", 0.5, 0.1, "Table 1")


def judged(ours, *, deviation=0.0, chance=None, code=None, **more):
    """Return the row of one number, beside what we have, what chance has and what code has."""
    number = replace(NUMBER, **more)
    study = replace(PICTURE, printed=[number], spread=lambda *_: Spread(deviation, 100.0))

    def frame(x, of):
        rows = [{"what": "ours", "x": x, "of": of}, {"what": "chance", "x": chance, "of": of}]
        return pl.DataFrame(rows)

    in_code = None if code is None else frame(code, "code")
    return studies.compare(study, frame(ours, "text"), code=in_code).row(0, named=True)


def test_the_tolerance_is_the_digit_and_twice_the_errors_of_both_sides():
    asked = {"deviation": 0.2, "digit": 0.005, "runs": 25}
    found = judged(0.5, **asked)

    assert found["their_error"] == pytest.approx(0.2 / 5)
    assert found["our_error"] == pytest.approx(0.2 / 10)
    assert found["tolerance"] == pytest.approx(0.005 + 2 * hypot(0.04, 0.02))
    edge = found["tolerance"]
    for off, verdict in ((0.99, AGREES), (1.01, DIFFERS), (-0.99, AGREES), (-1.01, DIFFERS)):
        assert judged(0.5 + off * edge, **asked)["verdict"] == verdict


@pytest.mark.parametrize(
    ("ours", "chance", "null", "verdict"),
    [
        (0.45, 0.2, BY_CHANCE, AGREES),
        (0.45, 0.59, BY_CHANCE, NULL_TOO),
        (0.65, 0.5, BY_CHANCE, DIFFERS),
        (0.45, 0.42, Null("a constant", value=0.42), NULL_TOO),
    ],
)
def test_what_the_null_predictor_meets_too_is_no_agreement(ours, chance, null, verdict):
    found = judged(ours, chance=chance, null=null)

    assert (found["verdict"], found["null_value"]) == (verdict, chance)


@pytest.mark.parametrize(
    ("text", "code", "found"),
    [
        (0.7, 0.55, {"verdict": DIFFERS, "why": IN_CODE, "in_code": 0.55, "shown": 0.55}),
        (0.7, 0.75, {"why": ""}),
        (0.5, 0.75, {"verdict": AGREES, "code_verdict": DIFFERS}),
    ],
)
def test_a_number_that_differs_may_agree_at_the_settings_of_the_code(text, code, found):
    where, at = {"what": "ours", "of": "text"}, {"of": "code"}

    assert (
        found.items()
        <= judged(text, code=code, chance=0.0, where=where, in_code=at, null=BY_CHANCE).items()
    )


def test_an_upper_bound_agrees_with_all_that_is_below_it():
    bound = Printed({}, "x", 0.5, 0.0, "a theorem", at_most=True)

    assert [bound.agrees(value, 0.0) for value in (0.1, 0.5, 0.6)] == [True, True, False]


def test_what_a_run_did_not_measure_is_left_out():
    study = replace(PICTURE, printed=[replace(NUMBER, where={"what": "theirs"})])

    assert studies.compare(study, pl.DataFrame({"what": ["ours"], "x": [0.5]})).is_empty()


def test_spreads_are_those_of_one_repetition():
    shares = pl.DataFrame({"x": [0.3], "runs": [400]})
    number = Printed({}, "x", 0.1, 0.0, "Table 1")
    parts = pl.DataFrame({"standard_error": [0.02, 0.02], "runs": [100, 100]})

    # Of shares 0.3 and 0.1 the largest spread is that of a coin of 0.2.
    assert of_shares(shares, number) == pytest.approx((sqrt(0.2 * 0.8), 400))
    assert of_parts(parts, number) == pytest.approx((0.2, 200))


def test_the_list_holds_every_number_and_what_was_made_of_it():
    told = CliRunner().invoke(commands, ["list", "--folder", str(RESULTS), "--json"])
    rows = {row["name"]: row for row in json.loads(told.output)}
    nothing = studies.listed(RESULTS.parent)

    assert list(rows) == list(studies.STUDIES)
    for row in rows.values():
        assert row["agree"] + row["as_null"] + row["differ"] == row["printed"]
        assert len(row["rows"]) == row["printed"] + row["apart"]
        for one in row["rows"]:
            assert {"printed", "ours", "their_error", "our_error", "verdict"} <= one.keys()
            assert len({one["why"] == "", one["run"] == "", one["at"] == ""}) == 1
            assert (one["run"] == "") == (one["shown"] is None)
    assert {name: rows["farias-2023/examples"][name] for name in COUNTS} == {
        "printed": 29, "agree": 22, "as_null": 0, "differ": 7, "in_code": 0, "unexplained": 0,
        "apart": 0, "hold": 0,
    }  # fmt: skip
    assert all(row["agree"] == 0 and not row["rows"] for row in nothing)


def test_a_run_that_is_not_the_papers_says_so_in_place_of_a_verdict(tmp_path):
    def ran(name, *more):
        return CliRunner().invoke(commands, ["run", name, "--folder", str(tmp_path), *more])

    small = ran("gonen-2025/theorem-3").output
    full = ran("fanaeepour-2017/figure-11c", "--full")

    assert "This is not the paper's setting" in small
    assert AGREES not in small
    assert max(map(len, small.splitlines()[1:])) <= 80
    assert AGREES in full.output
    assert "figure-11c: under a minute" in full.stderr
    assert "prints no number" in ran("farias-2023/figure-7").output


def test_accuracies_of_other_libraries_are_those_that_were_measured():
    stored = pl.read_csv(RESULTS.parents[1] / "benchmarks/results/trees_peers.csv")

    for method, name, depth, epsilon, accuracy in stored.select(
        "method", "data", "depth", "epsilon", "accuracy"
    ).iter_rows():
        assert peers.accuracy(method, name, depth or 5, epsilon) == accuracy
    assert set(stored["method"]) == set(peers.METHODS)
