"""Every study in its small setting: it runs, repeats itself and can be looked at."""

import polars as pl
import pytest

import dpselect_studies as studies
from dpselect.errors import ParameterError
from dpselect_studies.report import Provenance, page, store
from support.real_data import or_skip

ON_GRAPHS = {
    *(f"farias-2023/{one}" for one in ("figure-8", "figure-9", "figure-10", "table-1")),
    *(f"farias-2024/{one}" for one in ("table-2", "figure-3")),
}

every_study = pytest.mark.parametrize(
    "name",
    [
        # Studies of graphs share one process, which compiles the kernels and scores once.
        pytest.param(name, marks=[pytest.mark.xdist_group("graphs")] * (name in ON_GRAPHS))
        for name in studies.STUDIES
    ],
)


def small(name, folder, **how):
    return or_skip(studies.run, name, folder=folder, **how)


@every_study
def test_a_small_run_repeats_itself_and_is_stored(name, tmp_path):
    first = small(name, tmp_path / "first")
    again = small(name, tmp_path / "again")

    path = store(name, first, Provenance("again", first.seconds, 2, "0"), tmp_path)

    assert first.frame.height > 0
    assert first.frame.equals(again.frame)
    assert pl.read_parquet(path).equals(first.frame)
    assert path.with_suffix(".png").stat().st_size > 1000
    assert studies.load(name).title in page(tmp_path)


@every_study
def test_a_study_says_what_to_make_of_it_and_names_rows_that_exist(name):
    study = studies.load(name)

    assert len(study.discussion) > 100
    assert len(study.cells(study.full)) >= len(study.cells(study.small))
    assert len({repr(cell) for cell in study.cells(study.full)}) == len(study.cells(study.full))


def test_an_unknown_study_is_refused():
    with pytest.raises(ParameterError, match="no study 'table-9'; the names are "):
        studies.load("table-9")


def test_a_run_that_was_cut_short_is_resumed_by_two_processes(tmp_path):
    name = studies.STUDIES[0]
    whole = small(name, tmp_path)
    kept = sorted((tmp_path / ".cells").rglob("*.json"))
    stamps = {path: path.stat().st_mtime_ns for path in kept[1:]}
    kept[0].unlink()

    resumed = studies.run(name, folder=tmp_path, jobs=2)

    assert resumed.frame.equals(whole.frame)
    assert kept[0].exists()
    assert {path: path.stat().st_mtime_ns for path in kept[1:]} == stamps


@pytest.mark.xdist_group("graphs")
def test_another_seed_gives_other_numbers_in_other_files(tmp_path):
    name = "farias-2023/figure-8"
    first = small(name, tmp_path)

    second = studies.run(name, folder=tmp_path, seed=1)

    assert not second.frame.equals(first.frame)
    assert studies.run(name, folder=tmp_path).frame.equals(first.frame)
