"""Worksheets: whole or not there, and secret where they must be."""

import csv
import os
import stat

import numpy as np
import pytest

from dpselect.errors import DataError
from dpselect_pooling import Worksheet, array_2d, doubly_balanced, worksheet
from dpselect_pooling.plates import read_places

SAMPLES = [f"S{i}" for i in range(12)]
DESIGN = array_2d(12, rows=3, columns=4)


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_collectors_file_is_the_design(tmp_path):
    collector, lab, *_ = Worksheet(SAMPLES, DESIGN).write(tmp_path / "run")

    assert len(rows(collector)) == DESIGN.sum()
    assert list(rows(collector)[0]) == [
        *("sample", "plate", "well", "pool", "pool_plate", "pool_well")
    ]
    assert [*rows(collector)[0].values()] == ["S0", "1", "A01", "P0001", "1", "A01"]
    assert list(rows(lab)[0]) == ["pool", "pool_plate", "pool_well", "result"]
    samples, design = worksheet.read_collector(collector)
    assert samples == SAMPLES
    assert (design == DESIGN).all()


def test_the_secret_is_in_one_file_that_only_its_owner_reads(tmp_path):
    *shared, secret = Worksheet(SAMPLES, DESIGN, replaced=(2, 7)).write(tmp_path)

    assert "SECRET" in secret.name
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert {stat.S_IMODE(path.stat().st_mode) for path in shared} == {0o644}
    assert [row["sample"] for row in rows(secret)] == ["S2", "S7"]
    without = [p.read_bytes() for p in Worksheet(SAMPLES, DESIGN).write(tmp_path / "other")]
    assert [path.read_bytes() for path in shared] == without


def test_every_sample_has_a_well_of_its_own(tmp_path):
    many = [f"S{i}" for i in range(500)]
    design = doubly_balanced(500, 60, weight=2, rng=np.random.default_rng(0))
    collector, *_ = Worksheet(many, design, wells=384).write(tmp_path)
    wells = {row["sample"]: (row["plate"], row["well"]) for row in rows(collector)}

    assert len(wells) == len(set(wells.values())) == 500
    # Along rows, of 24 wells, and then on the next plate.
    at = {0: ("1", "A01"), 24: ("1", "B01"), 383: ("1", "P24"), 384: ("2", "A01")}
    assert {one: wells[f"S{one}"] for one in at} == at


def places(tmp_path, *columns, wells=96):
    path = tmp_path / "samples.csv"
    path.write_text("\n".join(columns), encoding="utf-8")
    return read_places(str(path), worksheet.read_samples(path), wells)


def test_a_sample_stays_where_its_file_says_that_it_is(tmp_path):
    found = places(tmp_path, "sample,plate,well", "S0,7,B2", "S1,K-9,h012", "S2,7,A1")
    design = np.array([[True, True, True], [True, False, False]])
    sheet = Worksheet(SAMPLES[:3], design, replaced=(1,), places=found)
    collector, _, picks, view, secret = sheet.write(tmp_path / "run")

    assert [(one.plate, one.well) for one in found] == [(7, "B02"), ("K-9", "H12"), (7, "A01")]
    for path in (collector, secret):
        at = {row["sample"]: (row["plate"], row["well"]) for row in rows(path)}
        assert at["S1"] == ("K-9", "H12")
    assert [tuple(row.values()) for row in rows(picks)] == [
        ("7", "A01", "1", "A01", "S2", "P0001"),
        ("7", "B02", "1", "A01", "S0", "P0001"),
        ("7", "B02", "1", "A02", "S0", "P0002"),
        ("K-9", "H12", "1", "A01", "S1", "P0001"),
    ]
    page = view.read_text(encoding="utf-8")
    assert page.count("<table>") == 3
    for text in ("Samples, plate K-9", "Pools, plate 1", "<td>S2</td>"):
        assert text in page


@pytest.mark.parametrize(
    "lines",
    [
        ("sample,plate", "S0,1"),
        ("sample,well", "S0,A1"),
        ("sample,plate,well", "S0,1,A1", "S1,1,A01"),
        ("sample,plate,well", "S0,1,I1"),
        ("sample,plate,well", "S0,1,A13"),
        ("sample,plate,well", "S0,,A1"),
    ],
)
def test_a_place_that_cannot_be_is_refused(tmp_path, lines):
    with pytest.raises(DataError):
        places(tmp_path, *lines)


def test_places_are_assigned_where_none_are_stated(tmp_path):
    assert places(tmp_path, "sample", "S0") is None


def test_nothing_is_overwritten(tmp_path):
    Worksheet(SAMPLES, DESIGN).write(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    with pytest.raises(DataError):
        Worksheet(SAMPLES, DESIGN, replaced=(1,)).write(tmp_path)
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
        Worksheet(SAMPLES, DESIGN, replaced=(1,)).write(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    ["sample,well\na,A01\n", "sample,pool\n", "sample,pool\na,\n", "sample,pool\na,Q1\n"],
)
def test_a_file_that_is_no_collectors_is_refused(tmp_path, text):
    path = tmp_path / "c.csv"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(DataError):
        worksheet.read_collector(path)


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00sample")
    for name in ("none.csv", "x.csv"):
        with pytest.raises(DataError):
            worksheet.read_samples(tmp_path / name)
