"""Worksheets out, whole and secret where they must be; results in, reports out."""

import csv
import os
import stat

import numpy as np
import pytest

import dpselect_pooling as pooling
from dpselect.errors import DataError

DESIGN = pooling.array_2d(12, rows=3, columns=4)
SAMPLES = [f"S{i}" for i in range(12)]
ONE = np.arange(12) == 5


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_collectors_file_is_the_design(tmp_path):
    collector, *_ = pooling.Worksheet(SAMPLES, DESIGN).write(tmp_path / "run")
    samples, design = pooling.worksheet.read_collector(collector)

    assert samples == SAMPLES
    assert (design == DESIGN).all()


def test_the_secret_is_in_one_file_that_only_its_owner_reads(tmp_path):
    sheet = pooling.Worksheet(SAMPLES, DESIGN, replaced=(2, 7), states=(2, 2, 2, 0, 2, 1, 2))
    *shared, secret, pools = sheet.write(tmp_path)

    for one in (secret, pools):
        assert "SECRET" in one.name
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
    assert {stat.S_IMODE(path.stat().st_mode) for path in shared} == {0o644}
    assert [row["sample"] for row in rows(secret)] == ["S2", "S7"]
    assert [row["pool"] for row in rows(pools)] == ["P0004", "P0006"]
    without = [
        p.read_bytes() for p in pooling.Worksheet(SAMPLES, DESIGN).write(tmp_path / "other")
    ]
    assert [path.read_bytes() for path in shared] == without


def test_every_sample_has_a_well_of_its_own(tmp_path):
    many = [f"S{i}" for i in range(500)]
    design = pooling.doubly_balanced(500, 60, weight=2, rng=np.random.default_rng(0))
    collector, *_ = pooling.Worksheet(many, design, wells=384).write(tmp_path)
    wells = {row["sample"]: (row["plate"], row["well"]) for row in rows(collector)}

    assert len(wells) == len(set(wells.values())) == 500
    # Along rows, of 24 wells, and then on the next plate.
    at = {0: ("1", "A01"), 24: ("1", "B01"), 383: ("1", "P24"), 384: ("2", "A01")}
    assert {one: wells[f"S{one}"] for one in at} == at


def written(tmp_path, text):
    path = tmp_path / "some.csv"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return path


def test_nothing_is_overwritten(tmp_path):
    pooling.Worksheet(SAMPLES, DESIGN).write(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    with pytest.raises(DataError):
        pooling.Worksheet(SAMPLES, DESIGN, replaced=(1,)).write(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_what_cannot_be_written_whole_is_not_there_at_all(tmp_path, monkeypatch, failing):
    link, calls = os.link, []

    def full(source, target):
        calls.append(target)
        if len(calls) == failing:
            raise OSError(28, "No space left on device")
        link(source, target)

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(DataError):
        pooling.Worksheet(SAMPLES, DESIGN, replaced=(1,)).write(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_text_is_refused(tmp_path):
    with pytest.raises(DataError):
        pooling.worksheet.read_samples(written(tmp_path, "\udcff\udcfe\0sample"))


def results_of(status, invalid=()):
    valid = ~np.isin(np.arange(len(DESIGN)), invalid)
    return pooling.Results(pooling.outcomes(DESIGN, status) & valid, valid)


def test_a_results_file_is_read_with_missing_and_invalid_pools(tmp_path):
    path = written(
        tmp_path, "pool,result,ct\nP0003,Positive,31\nP0001, neg ,\nP0002,invalid,\n"
    )
    found = pooling.read_results(path, 4)

    assert found.positive.tolist() == [False, False, True, False]
    assert found.valid.tolist() == [True, False, True, False]


METHODS = ["comp", "dd", "scomp", "integer-program", "belief-propagation"]


@pytest.mark.parametrize("method", METHODS)
def test_one_positive_in_an_array_is_found_and_certain(method):
    report = pooling.decode(SAMPLES, DESIGN, results_of(ONE), method=method, prevalence=0.05)
    row = report.rows()[5]

    assert (report.positive == ONE).all()
    assert not report.retest.any()
    assert (row["sample"], row["status"]) == ("S5", "positive")
    assert report.converged
    assert row["posterior"] is None if method in METHODS[:4] else row["posterior"] > 0.99


@pytest.mark.parametrize("method", ["comp", "scomp", "integer-program", "belief-propagation"])
def test_who_has_no_valid_pool_is_to_be_tested_again(method):
    without = results_of(ONE, [0, 3])

    assert pooling.decode(SAMPLES, DESIGN, without, method=method, prevalence=0.05).retest[0]


def test_whose_vial_was_replaced_is_to_be_tested_again():
    report = pooling.decode(SAMPLES, DESIGN, results_of(ONE), replaced=["S5"])

    assert np.flatnonzero(report.retest).tolist() == [5]


def test_a_report_is_a_new_file_of_its_owners(tmp_path):
    path = tmp_path / "report.csv"
    pooling.decode(SAMPLES, DESIGN, results_of(ONE)).write(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="utf-8").splitlines()[6] == "S5,positive,"
    with pytest.raises(DataError):
        pooling.decode(SAMPLES, DESIGN, results_of(ONE)).write(path)


def test_everybody_of_a_pool_that_nothing_explains_is_in_doubt():
    positive = np.zeros(7, dtype=bool)
    positive[0] = True
    report = pooling.decode(SAMPLES, DESIGN, pooling.Results(positive, np.ones(7, dtype=bool)))

    assert np.flatnonzero(report.retest).tolist() == [0, 1, 2, 3]


def test_an_assay_that_errs_is_taken_into_account():
    design = pooling.kautz_singleton(12, d=2)
    positive = pooling.outcomes(design, ONE)
    positive[np.flatnonzero(positive)[0]] = False
    results = pooling.Results(positive, np.ones(len(design), dtype=bool))
    asked = {"assay": pooling.Assay(sensitivity=0.9, specificity=0.999), "prevalence": 0.05}
    for method in ("integer-program", "belief-propagation"):
        assert pooling.decode(SAMPLES, design, results, method=method, **asked).positive[5]
