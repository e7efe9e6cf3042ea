"""Every study: its small setting runs and repeats itself, its table is what it computes."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import dpselect_studies as studies
from dpselect.errors import ParameterError
from dpselect_studies import running
from dpselect_studies.catalogue import module_of
from dpselect_studies.comparison import CODE
from dpselect_studies.report import Provenance, Stored, page, store
from dpselect_studies.running import source_digest
from support.real_data import or_skip

RESULTS = Path(__file__).parents[1] / "results"
ON_GRAPHS = {
    *(f"farias-2023/{one}" for one in ("figure-8", "figure-10", "table-1")),
    *(f"farias-2024/{one}" for one in ("table-2", "figure-3")),
}

USED = [
    "dpselect_studies.farias_2023.figure_10",
    "dpselect_studies.graphs",
    "dpselect_studies.datasets",
    "dpselect_studies.datasets.catalogue",
    "dpselect_studies.panels",
    "dpselect_studies.study",
]

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


@pytest.mark.slow
@every_study
def test_a_small_run_repeats_itself_and_is_stored(name, tmp_path):
    first = small(name, tmp_path)
    lost, *kept = sorted((tmp_path / ".cells").rglob("*.json"))
    stamps = [path.stat().st_mtime_ns for path in kept]
    lost.unlink()  # one cell is measured anew: each has a stream of its own
    again = small(name, tmp_path, jobs=2 if name == studies.STUDIES[0] else 1)

    path = store(name, first, Provenance("again", first.seconds, 2, "0"), tmp_path)

    assert first.frame.height > 0
    assert first.frame.equals(again.frame)
    assert lost.exists()
    assert [path.stat().st_mtime_ns for path in kept] == stamps
    assert pl.read_parquet(path).equals(first.frame)
    assert path.with_suffix(".png").stat().st_size > 1000
    mark = f"<!-- results {name.partition('/')[0]} -->\n"
    assert studies.load(name).title in page(mark, tmp_path)


@every_study
def test_a_study_says_what_to_make_of_it_and_names_rows_that_exist(name):
    study = studies.load(name)

    assert len(study.discussion) > 100
    assert len(study.cells(study.full)) >= len(study.cells(study.small))
    assert len({repr(cell) for cell in study.cells(study.full)}) == len(study.cells(study.full))


def test_an_unknown_study_is_refused():
    with pytest.raises(ParameterError):
        studies.load("table-9")


def test_a_cell_is_known_by_the_source_of_all_that_its_study_uses(monkeypatch):
    module = module_of("farias-2023/figure-10")
    before = source_digest(module)
    texts = {name: running._text_of(name) for name in USED}
    found = set()
    for name in USED:
        changed = texts | {name: "x = 1\n" + texts[name]}
        monkeypatch.setattr(running, "_text_of", lambda one, known=changed: known.get(one))
        found.add(source_digest(module))
    monkeypatch.setattr(running, "_text_of", texts.get)

    assert len(found) == len(USED)
    assert before not in found
    assert source_digest(module) not in found


APART = {"farias-2023/figure-11", "farias-2024/figure-2", "farias-2024/table-1"}
"""Studies of which a single cell takes longer than all the others together."""
APART |= {"farias-2023/figure-8"}  # nodes of one betweenness may be in another order


@pytest.mark.slow
@pytest.mark.parametrize("code", [False, True])
@pytest.mark.parametrize("name", sorted({*studies.STUDIES} - APART))
def test_a_stored_table_is_what_its_study_computes(name, code):
    """The first cell, which has a stream of its own; to the digits that are shown."""
    study, stored = studies.load(name), Stored(RESULTS).run(f"{name}{CODE}" if code else name)
    if stored is None:
        return
    cell = study.cells(study.code if code else study.full)[0]
    rows = or_skip(running._measure, running._Job(name, cell, 0, ""))["rows"]
    found = pl.DataFrame(rows, infer_schema_length=None)
    wanted = stored.head(found.height).select(found.columns)
    assert_frame_equal(found, wanted, rel_tol=1e-2, abs_tol=1e-2)
